/* RedisBloom's scaling Bloom filter (BF.*).
 *
 * It is a sequence of layers (Almeida, Baquero, Preguica and Hutchison, "Scalable Bloom Filters",
 * 2007). A key is a member if all of its bits are set in one of the layers, and it is added to the
 * newest. The error rate halves from layer to layer, so all rates add up to less than twice the
 * first one. That is why a scaling filter begins with half of the requested rate.
 *
 *   a = MurmurHash64A(key, seed 0xc6a4a7935bd1e995),  b = MurmurHash64A(key, seed a)
 *   position i = (a + i * b mod 2^64) mod bits
 *
 * A filter without the option BLY_RB_HASH_64, made before RedisBloom 2.0, uses the 32-bit
 * MurmurHash2 instead, with seeds 0x9747b28c and a, in the same formula. Layers that are added to
 * such a filter use its hash function, but their sizes are not powers of two.
 *
 * The size of a layer for n keys and an error p:  bpe = -ln p / ln(2)^2,  hashes = ceil(ln(2) *
 * bpe), and floor(n * bpe) bits, rounded up to whole 64-bit words. The two constants are rounded as
 * in RedisBloom, since bpe is stored and compared.
 *
 * A layer that is loaded must obey the same formulas, with two exceptions for older versions: the
 * size may be a power of two (with up to twice as many bits as the keys need), or not a multiple of
 * 8 (encoding 0). The checks guarantee memory safety, because every position of a key is inside the
 * array. They also limit the time per key: there are at most 1075 hashes, as many as an error rate
 * of the smallest positive double needs.
 *
 * In a batch, the first two probes of a layer are prefetched for a group of keys before any probe
 * is tested. In a half-full layer, these two probes reject three of four non-members. The other
 * probes are prefetched only for the keys that are left. Small layers are in the cache anyway, so
 * they are not prefetched.
 */
#include "formats/redisbloom_bloom.h"

#include "base/memory.h"
#include "hash/hash_murmur.h"
#include <math.h>
#include <string.h>

enum {
    RB_BLOOM_GROUP = 32,      /* keys of a batch that are in flight at a time */
    RB_SMALL_LAYER = 1 << 15, /* a layer of up to this many bytes is not prefetched */
    RB_FIRST_PROBES = 2       /* probes that a batch tests first */
};

/* ---- one layer ------------------------------------------------------------------------------- */

static const double RB_LN2 = 0.693147180559945, RB_LN2_SQUARED = 0.480453013918201;

#define RB_MAX_BITS (8 * BLYI_RB_MAX_BYTES)

static double rb_bits_per_key(double error) {
    return -(log(error) / RB_LN2_SQUARED);
}

static void rb_set_modulus(blyi_rb_bloom_layer *l) {
    l->modulus = l->n2 ? (uint64_t)1 << l->n2 : l->bits;
    l->inverse = UINT64_MAX / l->modulus;
}

/* Plans a new layer, without allocating its bits. Returns BLY_OK, or BLY_ETOOBIG if the layer would
 * need more than 2^48 bits or `error` is 0. */
static bly_status rb_bloom_layer_plan(uint64_t capacity, double error, blyi_rb_bloom_layer *out) {
    if (!(error > 0))
        return BLY_ETOOBIG;
    double bpe = rb_bits_per_key(error), wanted = (double)capacity * bpe;
    if (capacity > RB_MAX_BITS || wanted > (double)(RB_MAX_BITS - 64))
        return BLY_ETOOBIG;
    uint64_t words = ((uint64_t)wanted + 63) / 64;
    *out = (blyi_rb_bloom_layer){.capacity = capacity, .error = error, .bpe = bpe};
    out->bits = 64 * (words ? words : 1);
    out->base.bytes = out->bits / 8;
    out->hashes = (uint32_t)ceil(RB_LN2 * bpe);
    rb_set_modulus(out);
    return BLY_OK;
}

/* Whether x and y are equal except for rounding. */
static bool rb_nearly_equal(double x, double y) {
    return fabs(x - y) <= 1e-9 * y;
}

/* Whether bpe gives that number of hashes. If the exact value is close to an integer, rounding may
 * give either of two numbers. */
static bool rb_hashes_match(uint64_t hashes, double bpe) {
    double exact = RB_LN2 * bpe;
    return (double)hashes >= ceil(exact * (1 - 1e-9)) && (double)hashes <= ceil(exact * (1 + 1e-9));
}

/* Whether the numbers of a layer agree with each other. The comparisons are written so that NaN
 * fails them. */
static bool rb_numbers_valid(const bly_rb_link *t) {
    if (!(t->error > 0 && t->error < 1) || !rb_nearly_equal(t->bpe, rb_bits_per_key(t->error)) ||
        !rb_hashes_match(t->hashes, t->bpe))
        return false;
    if (t->capacity == 0 || t->capacity > RB_MAX_BITS || t->bits == 0 || t->bits > RB_MAX_BITS)
        return false;
    double wanted = (double)t->capacity * t->bpe, bits = (double)t->bits;
    return wanted < bits + 64 && bits <= 2 * wanted + 64;
}

bly_status blyi_rb_bloom_layer_check(const bly_rb_link *t, uint64_t bytes,
                                     blyi_rb_bloom_layer *out) {
    if (bytes == 0 || bytes > BLYI_RB_MAX_BYTES || !rb_numbers_valid(t))
        return BLY_ECORRUPT;
    bool filled = t->bits <= 8 * bytes && 8 * bytes - t->bits < 64;
    bool rounded = t->n2 <= 48 && ((uint64_t)1 << t->n2 == t->bits || (t->bits == 64 && t->n2 < 6));
    if (!filled || (t->n2 > 0 && !rounded) || t->items > t->bits)
        return BLY_ECORRUPT;
    *out = (blyi_rb_bloom_layer){.base.bytes = bytes,
                                 .capacity = t->capacity,
                                 .bits = t->bits,
                                 .items = t->items,
                                 .error = t->error,
                                 .bpe = t->bpe,
                                 .hashes = (uint32_t)t->hashes,
                                 .n2 = (uint32_t)t->n2};
    rb_set_modulus(out);
    return BLY_OK;
}

/* A key's two hash words: its positions are a, a + b, a + 2b and so on. */
typedef struct rb_bloom_hash {
    uint64_t a, b;
} rb_bloom_hash;

/* Whether the bits of the probes from `from` up to `to` are all set. */
static inline bool rb_bloom_layer_contains(const blyi_rb_bloom_layer *l, rb_bloom_hash h,
                                           uint32_t from, uint32_t to) {
    uint64_t x = h.a + from * h.b;
    for (uint32_t i = from; i < to; i++, x += h.b) {
        uint64_t at = blyi_rb_bloom_position(l, x);
        if (!(l->base.data[at >> 3] >> (at & 7) & 1))
            return false;
    }
    return true;
}

/* Whether the bits of the first two probes are set. With only one hash, the second probe is the
 * same as the first. */
static inline bool rb_bloom_layer_first_probes(const blyi_rb_bloom_layer *l, rb_bloom_hash h) {
    uint64_t one = blyi_rb_bloom_position(l, h.a);
    uint64_t two = blyi_rb_bloom_position(l, l->hashes > 1 ? h.a + h.b : h.a);
    return l->base.data[one >> 3] >> (one & 7) & l->base.data[two >> 3] >> (two & 7) & 1;
}

/* Sets all bits of the key. Returns true if at least one was clear. */
static inline bool rb_bloom_layer_add(blyi_rb_bloom_layer *l, rb_bloom_hash h) {
    uint64_t x = h.a;
    bool changed = false;
    for (uint32_t i = 0; i < l->hashes; i++, x += h.b) {
        uint64_t at = blyi_rb_bloom_position(l, x);
        uint8_t mask = (uint8_t)(1u << (at & 7));
        changed |= !(l->base.data[at >> 3] & mask);
        l->base.data[at >> 3] |= mask;
    }
    return changed;
}

/* Prefetches the probes from `from` up to `to`. */
static inline void rb_bloom_layer_prefetch(const blyi_rb_bloom_layer *l, rb_bloom_hash h,
                                           uint32_t from, uint32_t to) {
    uint64_t x = h.a + from * h.b;
    for (uint32_t i = from; i < to; i++, x += h.b)
        blyi_prefetch_to_read(l->base.data + (blyi_rb_bloom_position(l, x) >> 3));
}

/* ---- creating and destroying ----------------------------------------------------------------- */

bly_status blyi_rb_bloom_alloc(uint64_t options, uint64_t growth, const bly_allocator *a,
                               bly_rb_bloom **out) {
    bly_allocator alloc;
    bly_rb_bloom *f = *out = blyi_rb_alloc_object(a, sizeof *f, &alloc);
    if (!f)
        return BLY_ENOMEM;
    f->layers = (blyi_rb_layers){.alloc = alloc, .stride = sizeof(blyi_rb_bloom_layer)};
    f->options = (uint32_t)options;
    f->growth = (uint32_t)growth;
    return BLY_OK;
}

bly_status bly_rb_bloom_create(const bly_rb_bloom_spec *spec, const bly_allocator *a,
                               bly_rb_bloom **out) {
    blyi_rb_bloom_layer first;
    *out = NULL;
    if (!(spec->error > 0 && spec->error < 1))
        return BLY_ERATE;
    if (spec->capacity == 0)
        return BLY_ECOUNT;
    if (!spec->nonscaling && spec->growth == 0)
        return BLY_EINVAL;
    bly_status status = rb_bloom_layer_plan(
        spec->capacity, spec->nonscaling ? spec->error : spec->error / 2, &first);
    if (status)
        return status;
    uint32_t options = BLY_RB_NO_ROUNDING | BLY_RB_HASH_64;
    if (spec->nonscaling)
        options |= BLY_RB_NONSCALING;
    status = blyi_rb_bloom_alloc(options, spec->growth, a, out);
    if (status == BLY_OK && !blyi_rb_layers_push(&(*out)->layers, &first.base)) {
        bly_rb_bloom_destroy(*out);
        *out = NULL;
        status = BLY_ENOMEM;
    }
    return status;
}

void bly_rb_bloom_destroy(bly_rb_bloom *f) {
    if (!f)
        return;
    bly_allocator alloc = f->layers.alloc;
    blyi_rb_layers_free(&f->layers);
    alloc.free(alloc.ctx, f);
}

bly_status bly_rb_bloom_clone(const bly_rb_bloom *f, const bly_allocator *a, bly_rb_bloom **out) {
    bly_status status = blyi_rb_bloom_alloc(f->options, f->growth, a, out);
    if (status)
        return status;
    (*out)->items = f->items;
    if (blyi_rb_layers_copy(&f->layers, &(*out)->layers))
        return BLY_OK;
    bly_rb_bloom_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}

static bool rb_bloom_layer_equal(const blyi_rb_bloom_layer *l, const blyi_rb_bloom_layer *m) {
    return l->capacity == m->capacity && l->bits == m->bits && l->items == m->items &&
           l->error == m->error && l->bpe == m->bpe && l->hashes == m->hashes && l->n2 == m->n2;
}

bool bly_rb_bloom_equal(const bly_rb_bloom *f, const bly_rb_bloom *g) {
    if (f->items != g->items || f->options != g->options || f->growth != g->growth ||
        f->layers.n != g->layers.n)
        return false;
    for (uint64_t i = 0; i < f->layers.n; i++)
        if (!rb_bloom_layer_equal(blyi_rb_bloom_layer_at(f, i), blyi_rb_bloom_layer_at(g, i)))
            return false;
    return blyi_rb_layers_equal(&f->layers, &g->layers);
}

/* ---- add and contains ------------------------------------------------------------------------ */

static rb_bloom_hash rb_bloom_hash_key(const bly_rb_bloom *f, const void *key, size_t len) {
    if (f->options & BLY_RB_HASH_64) {
        uint64_t a = blyi_murmur64a(key, len, 0xc6a4a7935bd1e995);
        return (rb_bloom_hash){a, blyi_murmur64a(key, len, a)};
    }
    uint32_t a = blyi_murmur2(key, len, 0x9747b28c);
    return (rb_bloom_hash){a, blyi_murmur2(key, len, a)};
}

/* Whether one of the first n layers contains the key. */
static bool rb_bloom_any_contains(const bly_rb_bloom *f, uint64_t n, rb_bloom_hash h) {
    while (n-- > 0) {
        const blyi_rb_bloom_layer *l = blyi_rb_bloom_layer_at(f, n);
        if (rb_bloom_layer_contains(l, h, 0, l->hashes))
            return true;
    }
    return false;
}

static bly_status rb_bloom_grow(bly_rb_bloom *f) {
    const blyi_rb_bloom_layer *last = blyi_rb_bloom_layer_at(f, f->layers.n - 1);
    blyi_rb_bloom_layer next;
    if (f->options & BLY_RB_NONSCALING || f->growth == 0)
        return BLY_EFULL;
    if (f->layers.n == BLY_RB_MAX_PARTS || last->capacity > BLYI_RB_MAX_BYTES * 8 / f->growth)
        return BLY_ETOOBIG;
    bly_status status = rb_bloom_layer_plan(last->capacity * f->growth, last->error / 2, &next);
    if (status == BLY_OK)
        status = blyi_rb_layers_may_grow(&f->layers, f->layers.bytes, next.base.bytes);
    if (status)
        return status;
    return blyi_rb_layers_push(&f->layers, &next.base) ? BLY_OK : BLY_ENOMEM;
}

static bly_status rb_bloom_add_hash(bly_rb_bloom *f, rb_bloom_hash h, bool *added) {
    blyi_rb_bloom_layer *last = blyi_rb_bloom_layer_at(f, f->layers.n - 1);
    bool full = last->items >= last->capacity;
    *added = false;
    if (rb_bloom_any_contains(f, full ? f->layers.n : f->layers.n - 1, h))
        return BLY_OK;
    if (full) {
        bly_status status = rb_bloom_grow(f);
        if (status)
            return status;
        last = blyi_rb_bloom_layer_at(f, f->layers.n - 1);
    }
    *added = rb_bloom_layer_add(last, h);
    if (last->items < last->bits) { /* not above this: a loaded header may state any number */
        last->items += *added;
        f->items += *added;
    }
    return BLY_OK;
}

bly_status bly_rb_bloom_add(bly_rb_bloom *f, const void *key, size_t len, bool *added) {
    bool fresh;
    bly_status status = rb_bloom_add_hash(f, rb_bloom_hash_key(f, key, len), &fresh);
    if (status == BLY_OK && added)
        *added = fresh;
    return status;
}

bool bly_rb_bloom_contains(const bly_rb_bloom *f, const void *key, size_t len) {
    return rb_bloom_any_contains(f, f->layers.n, rb_bloom_hash_key(f, key, len));
}

/* ---- batches --------------------------------------------------------------------------------- */

static size_t rb_bloom_hash_group(const bly_rb_bloom *f, const bly_bytes *keys, size_t left,
                                  rb_bloom_hash *h) {
    size_t n = left < RB_BLOOM_GROUP ? left : RB_BLOOM_GROUP;
    for (size_t i = 0; i < n; i++)
        h[i] = rb_bloom_hash_key(f, keys[i].data, keys[i].size);
    return n;
}

/* Prefetches the first probes of n keys, or all of them if `all` is true. Does nothing for a small
 * layer. */
static void rb_bloom_prefetch_group(const blyi_rb_bloom_layer *l, const rb_bloom_hash *h, size_t n,
                                    bool all) {
    uint32_t to = all || l->hashes < RB_FIRST_PROBES ? l->hashes : RB_FIRST_PROBES;
    if (l->base.bytes > RB_SMALL_LAYER)
        for (size_t i = 0; i < n; i++)
            rb_bloom_layer_prefetch(l, h[i], 0, to);
}

bly_status bly_rb_bloom_add_many(bly_rb_bloom *f, const bly_bytes *keys, size_t n, uint8_t *added,
                                 bly_batch_result *result) {
    bly_batch_result none, *t = result ? result : &none;
    *t = (bly_batch_result){0, 0};
    while (t->done < n) {
        rb_bloom_hash h[RB_BLOOM_GROUP];
        size_t some = rb_bloom_hash_group(f, keys + t->done, n - t->done, h);
        for (uint64_t i = f->layers.n; i-- > 0;)
            rb_bloom_prefetch_group(blyi_rb_bloom_layer_at(f, i), h, some, i + 1 == f->layers.n);
        for (size_t i = 0; i < some; i++) {
            bool fresh;
            bly_status status = rb_bloom_add_hash(f, h[i], &fresh);
            if (status)
                return status;
            if (added)
                added[t->done] = fresh;
            t->changed += fresh;
            t->done++;
        }
    }
    return BLY_OK;
}

/* The keys of a group that have not been found yet: their hashes, and their indices in the
 * group. */
typedef struct rb_open_keys {
    size_t n;
    rb_bloom_hash h[RB_BLOOM_GROUP];
    uint8_t key[RB_BLOOM_GROUP];
} rb_open_keys;

/* Removes the keys that were found from `open`. */
static void rb_drop_found(rb_open_keys *open, const uint8_t *found) {
    size_t kept = 0;
    for (size_t i = 0; i < open->n; i++) {
        open->h[kept] = open->h[i];
        open->key[kept] = open->key[i];
        kept += !found[open->key[i]];
    }
    open->n = kept;
}

/* Sets found[] to 1 for those open keys that the layer contains, and removes them from `open`. The
 * first probes of all open keys have been prefetched. They are tested without a branch, because the
 * processor could not predict it. */
static void rb_bloom_layer_contains_group(const blyi_rb_bloom_layer *l, rb_open_keys *open,
                                          uint8_t *found) {
    size_t maybe[RB_BLOOM_GROUP], left = 0, before = open->n;
    for (size_t i = 0; i < open->n; i++) {
        maybe[left] = i;
        left += rb_bloom_layer_first_probes(l, open->h[i]);
    }
    if (l->base.bytes > RB_SMALL_LAYER)
        for (size_t i = 0; i < left; i++)
            rb_bloom_layer_prefetch(l, open->h[maybe[i]], RB_FIRST_PROBES, l->hashes);
    for (size_t i = 0; i < left; i++) {
        if (rb_bloom_layer_contains(l, open->h[maybe[i]], RB_FIRST_PROBES, l->hashes)) {
            found[open->key[maybe[i]]] = 1;
            before--;
        }
    }
    if (before < open->n)
        rb_drop_found(open, found);
}

size_t bly_rb_bloom_contains_many(const bly_rb_bloom *f, const bly_bytes *keys, size_t n,
                                  uint8_t *found) {
    size_t total = 0;
    for (size_t at = 0; at < n;) {
        rb_open_keys open;
        uint8_t answers[RB_BLOOM_GROUP] = {0};
        size_t some = open.n = rb_bloom_hash_group(f, keys + at, n - at, open.h);
        for (size_t i = 0; i < some; i++)
            open.key[i] = (uint8_t)i;
        rb_bloom_prefetch_group(blyi_rb_bloom_layer_at(f, f->layers.n - 1), open.h, some, false);
        for (uint64_t i = f->layers.n; i-- > 0 && open.n > 0;) {
            if (i > 0)
                rb_bloom_prefetch_group(blyi_rb_bloom_layer_at(f, i - 1), open.h, open.n, false);
            rb_bloom_layer_contains_group(blyi_rb_bloom_layer_at(f, i), &open, answers);
        }
        total += some - open.n;
        if (found)
            memcpy(found + at, answers, some);
        at += some;
    }
    return total;
}

void bly_rb_bloom_limit_growth(bly_rb_bloom *f, uint64_t max_bytes) {
    f->layers.growth_limit = blyi_growth_limit(max_bytes);
}

/* ---- information and raw bytes --------------------------------------------------------------- */

bly_rb_bloom_info bly_rb_bloom_get_info(const bly_rb_bloom *f) {
    bly_rb_bloom_info info = {.items = f->items,
                              .links = f->layers.n,
                              .growth = f->growth,
                              .options = f->options,
                              .size = 32 + 64 * f->layers.n + f->layers.bytes,
                              .memory = sizeof *f + blyi_rb_layers_memory(&f->layers),
                              .data_bytes = f->layers.bytes};
    for (uint64_t i = 0; i < f->layers.n; i++)
        info.capacity += blyi_rb_bloom_layer_at(f, i)->capacity;
    return info;
}

bly_rb_link bly_rb_bloom_link(const bly_rb_bloom *f, uint64_t i) {
    const blyi_rb_bloom_layer *l = blyi_rb_bloom_layer_at(f, i);
    return (bly_rb_link){.capacity = l->capacity,
                         .error = l->error,
                         .hashes = l->hashes,
                         .bpe = l->bpe,
                         .bits = l->bits,
                         .n2 = l->n2,
                         .bitmap = {l->base.data, (size_t)l->base.bytes},
                         .items = l->items};
}

bly_bytes bly_rb_bloom_read(const bly_rb_bloom *f, uint64_t offset, size_t most) {
    return blyi_rb_layers_read(&f->layers, offset, most);
}

bly_status bly_rb_bloom_write(bly_rb_bloom *f, uint64_t offset, const void *data, size_t size) {
    return blyi_rb_layers_write(&f->layers, offset, data, size);
}

size_t bly_rb_bloom_defrag(bly_rb_bloom *f, size_t from, size_t most, bly_defrag_move move,
                           void *ctx) {
    return blyi_rb_layers_move(&f->layers, from, most, move, ctx);
}

bly_rb_bloom *bly_rb_bloom_defrag_handle(bly_rb_bloom *f, bly_defrag_move move, void *ctx) {
    bly_rb_bloom *moved = move(ctx, f, sizeof *f);
    return moved ? moved : f;
}
