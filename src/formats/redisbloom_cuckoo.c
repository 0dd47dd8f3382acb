/* RedisBloom's cuckoo filter (CF.*).
 *
 * It is a sequence of sub-filters, each a cuckoo filter (Fan, Andersen, Kaminsky and Mitzenmacher,
 * 2014) with fingerprints of one byte.
 *
 *   h = MurmurHash64A(key, seed 0),  fingerprint = h mod 255 + 1
 *   buckets: h mod n, and (h ^ fingerprint * 0x5bd1e995) mod n
 *
 * The number of buckets n is a power of two. So a bucket and a fingerprint determine the other
 * bucket, and a bucket of a sub-filter determines the one in any smaller sub-filter.
 *
 * An add uses the first empty slot that it finds: it searches the newest sub-filter first, and in
 * each the key's first bucket first. If all slots are full, it evicts fingerprints in the newest
 * sub-filter, starting with the first bucket: the key's fingerprint replaces another, which goes to
 * its other bucket, and so on, until one finds an empty slot. The slot whose fingerprint is evicted
 * is slot 0 in the first step, slot 1 in the next, and so on, modulo the size of a bucket. If no
 * empty slot is found in max_iterations steps, all steps are undone in reverse order. That needs no
 * record: the last fingerprint and its bucket determine the bucket it came from, and the number of
 * the step determines the slot. Then another sub-filter is added.
 *
 * A lookup probes every sub-filter, and each adds its own false positives. So after removes the
 * newest sub-filter is compacted: its fingerprints are moved to empty slots of older sub-filters,
 * the oldest first, into the buckets that they would have there. If that empties it, it is freed,
 * and the next one is compacted.
 */
#include "formats/redisbloom_cuckoo.h"

#include "base/bits.h"
#include "base/memory.h"
#include "hash/hash_murmur.h"
#include <string.h>

enum {
    RB_CUCKOO_GROUP = 32,    /* keys of a batch that are in flight at a time */
    RB_SMALL_TABLE = 1 << 15 /* a sub-filter of up to this many bytes is not prefetched */
};

/* Returns the other bucket of a fingerprint, given either of its two buckets. */
static inline uint64_t rb_other_bucket(uint64_t bucket, uint8_t print) {
    return bucket ^ print * UINT64_C(0x5bd1e995);
}

/* Returns the first slot with that content in a bucket, or NULL if no slot has it. `bucket` is
 * taken modulo the number of buckets. */
static inline uint8_t *rb_bucket_find(const bly_rb_cuckoo *f, const blyi_rb_cuckoo_layer *sub,
                                      uint64_t bucket, uint8_t content) {
    uint8_t *slot = sub->base.data + (bucket & sub->mask) * f->bucket_size;
    for (uint32_t i = 0; i < f->bucket_size; i++)
        if (slot[i] == content)
            return slot + i;
    return NULL;
}

/* ---- creating and destroying ----------------------------------------------------------------- */

bly_status blyi_rb_cuckoo_alloc(const bly_rb_cuckoo_fields *fields, const bly_allocator *a,
                                bly_rb_cuckoo **out) {
    bly_allocator alloc;
    bly_rb_cuckoo *f = *out = blyi_rb_alloc_object(a, sizeof *f, &alloc);
    if (!f)
        return BLY_ENOMEM;
    f->layers = (blyi_rb_layers){.alloc = alloc, .stride = sizeof(blyi_rb_cuckoo_layer)};
    f->items = fields->items;
    f->deletes = fields->deletes;
    f->buckets = fields->buckets;
    f->bucket_size = (uint32_t)fields->bucket_size;
    f->max_iterations = (uint32_t)fields->max_iterations;
    f->expansion = (uint32_t)fields->expansion;
    return BLY_OK;
}

bly_status blyi_rb_cuckoo_layer_plan(const bly_rb_cuckoo *f, blyi_rb_cuckoo_layer *out) {
    uint64_t most = BLYI_RB_MAX_BYTES / f->bucket_size, buckets = f->buckets;
    if (f->layers.n > 0) {
        uint64_t last = blyi_rb_cuckoo_layer_at(f, f->layers.n - 1)->mask + 1;
        if (f->expansion == 0 || last > most / f->expansion)
            return BLY_ETOOBIG;
        buckets = last * f->expansion;
    }
    if (buckets > most)
        return BLY_ETOOBIG;
    *out = (blyi_rb_cuckoo_layer){.base.bytes = buckets * f->bucket_size, .mask = buckets - 1};
    return BLY_OK;
}

static uint64_t rb_next_power(uint64_t x) {
    uint64_t power = 1;
    while (power < x)
        power <<= 1;
    return power;
}

bly_status bly_rb_cuckoo_create(const bly_rb_cuckoo_spec *spec, const bly_allocator *a,
                                bly_rb_cuckoo **out) {
    *out = NULL;
    if (spec->capacity == 0)
        return BLY_ECOUNT;
    if (spec->bucket_size < 1 || spec->bucket_size > 255 || spec->max_iterations < 1 ||
        spec->max_iterations > 65535 || spec->expansion > BLY_RB_MAX_EXPANSION)
        return BLY_EINVAL;
    if (spec->capacity > BLYI_RB_MAX_BYTES)
        return BLY_ETOOBIG;
    bly_rb_cuckoo_fields fields = {.buckets = rb_next_power(spec->capacity / spec->bucket_size),
                                   .bucket_size = spec->bucket_size,
                                   .max_iterations = spec->max_iterations,
                                   .expansion =
                                       spec->expansion ? rb_next_power(spec->expansion) : 0};
    blyi_rb_cuckoo_layer first;
    bly_status status = blyi_rb_cuckoo_alloc(&fields, a, out);
    if (status)
        return status;
    status = blyi_rb_cuckoo_layer_plan(*out, &first);
    if (status == BLY_OK && !blyi_rb_layers_push(&(*out)->layers, &first.base))
        status = BLY_ENOMEM;
    if (status) {
        bly_rb_cuckoo_destroy(*out);
        *out = NULL;
    }
    return status;
}

void bly_rb_cuckoo_destroy(bly_rb_cuckoo *f) {
    if (!f)
        return;
    bly_allocator alloc = f->layers.alloc;
    blyi_rb_layers_free(&f->layers);
    alloc.free(alloc.ctx, f);
}

bly_status bly_rb_cuckoo_clone(const bly_rb_cuckoo *f, const bly_allocator *a,
                               bly_rb_cuckoo **out) {
    bly_rb_cuckoo_fields fields = {.items = f->items,
                                   .deletes = f->deletes,
                                   .buckets = f->buckets,
                                   .bucket_size = f->bucket_size,
                                   .max_iterations = f->max_iterations,
                                   .expansion = f->expansion};
    bly_status status = blyi_rb_cuckoo_alloc(&fields, a, out);
    if (status || blyi_rb_layers_copy(&f->layers, &(*out)->layers))
        return status;
    bly_rb_cuckoo_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}

bool bly_rb_cuckoo_equal(const bly_rb_cuckoo *f, const bly_rb_cuckoo *g) {
    return f->items == g->items && f->deletes == g->deletes && f->buckets == g->buckets &&
           f->bucket_size == g->bucket_size && f->max_iterations == g->max_iterations &&
           f->expansion == g->expansion && blyi_rb_layers_equal(&f->layers, &g->layers);
}

/* ---- add, contains, remove ------------------------------------------------------------------- */

/* The buckets and the fingerprint of a key. */
typedef struct rb_cuckoo_key {
    uint64_t first, second; /* buckets, not yet modulo their number */
    uint8_t print;
} rb_cuckoo_key;

static rb_cuckoo_key rb_cuckoo_key_of(const void *key, size_t len) {
    uint64_t h = blyi_murmur64a(key, len, 0);
    uint8_t print = (uint8_t)(h % 255 + 1);
    return (rb_cuckoo_key){h, rb_other_bucket(h, print), print};
}

/* Returns a slot with that content in one of the key's two buckets of a sub-filter, or NULL. */
static uint8_t *rb_cuckoo_find_in(const bly_rb_cuckoo *f, const blyi_rb_cuckoo_layer *sub,
                                  const rb_cuckoo_key *t, uint8_t content) {
    uint8_t *slot = rb_bucket_find(f, sub, t->first, content);
    return slot ? slot : rb_bucket_find(f, sub, t->second, content);
}

/* Returns such a slot in any sub-filter, or NULL. Searches the newest sub-filter first. */
static uint8_t *rb_cuckoo_find(const bly_rb_cuckoo *f, const rb_cuckoo_key *t, uint8_t content) {
    for (uint64_t i = f->layers.n; i-- > 0;) {
        uint8_t *slot = rb_cuckoo_find_in(f, blyi_rb_cuckoo_layer_at(f, i), t, content);
        if (slot)
            return slot;
    }
    return NULL;
}

/* Stores `print` in slot `step`, modulo the bucket size, of a bucket. Returns the fingerprint that
 * was there. */
static uint8_t rb_cuckoo_swap(const bly_rb_cuckoo *f, const blyi_rb_cuckoo_layer *sub,
                              uint64_t bucket, uint32_t step, uint8_t print) {
    uint8_t *slot = sub->base.data + (bucket & sub->mask) * f->bucket_size + step % f->bucket_size;
    uint8_t out = *slot;
    *slot = print;
    return out;
}

/* Adds the key to the newest sub-filter, where both of its buckets are full, by evicting other
 * fingerprints. Returns false if that fails; then nothing has changed. */
static bool rb_cuckoo_evict(bly_rb_cuckoo *f, const rb_cuckoo_key *t) {
    const blyi_rb_cuckoo_layer *sub = blyi_rb_cuckoo_layer_at(f, f->layers.n - 1);
    uint64_t bucket = t->first;
    uint8_t print = t->print;
    uint32_t step = 0;
    for (; step < f->max_iterations; step++) {
        print = rb_cuckoo_swap(f, sub, bucket, step, print);
        bucket = rb_other_bucket(bucket, print);
        uint8_t *slot = rb_bucket_find(f, sub, bucket, 0);
        if (slot) {
            *slot = print;
            return true;
        }
    }
    while (step-- > 0) {
        bucket = rb_other_bucket(bucket, print);
        print = rb_cuckoo_swap(f, sub, bucket, step, print);
    }
    return false;
}

/* A few copies of one key fill its two buckets, and then another sub-filter is added, although
 * almost all slots are empty. So the growth limit compares the new sub-filter not with the present
 * size, but with the bytes that were loaded or with the number of items, whichever is larger. */
static bly_status rb_cuckoo_grow(bly_rb_cuckoo *f, uint64_t max_filters) {
    uint64_t held = f->items > f->layers.loaded ? f->items : f->layers.loaded;
    blyi_rb_cuckoo_layer next;
    if (f->expansion == 0 || f->layers.n >= max_filters)
        return BLY_EFULL;
    bly_status status = blyi_rb_cuckoo_layer_plan(f, &next);
    if (status == BLY_OK)
        status = blyi_rb_layers_may_grow(&f->layers, held, next.base.bytes);
    if (status)
        return status;
    return blyi_rb_layers_push(&f->layers, &next.base) ? BLY_OK : BLY_ENOMEM;
}

static bly_status rb_cuckoo_add_key(bly_rb_cuckoo *f, const rb_cuckoo_key *t,
                                    const bly_rb_cuckoo_how *how, bool *added) {
    *added = false;
    if (how->absent && rb_cuckoo_find(f, t, t->print))
        return BLY_OK;
    uint8_t *slot = rb_cuckoo_find(f, t, 0);
    if (!slot && !rb_cuckoo_evict(f, t)) {
        bly_status status = rb_cuckoo_grow(f, how->max_filters);
        if (status)
            return status;
        slot = rb_cuckoo_find(f, t, 0);
    }
    if (slot)
        *slot = t->print;
    f->items += f->items < f->layers.bytes; /* a loaded header may state any number */
    *added = true;
    return BLY_OK;
}

/* Returns *how with every default filled in. */
static bly_rb_cuckoo_how rb_cuckoo_defaults(const bly_rb_cuckoo_how *how) {
    bly_rb_cuckoo_how m = how ? *how : (bly_rb_cuckoo_how){false, 0};
    if (m.max_filters == 0 || m.max_filters > BLY_RB_MAX_PARTS)
        m.max_filters = BLY_RB_MAX_PARTS;
    return m;
}

bly_status bly_rb_cuckoo_add(bly_rb_cuckoo *f, const void *key, size_t len,
                             const bly_rb_cuckoo_how *how, bool *added) {
    rb_cuckoo_key t = rb_cuckoo_key_of(key, len);
    bly_rb_cuckoo_how m = rb_cuckoo_defaults(how);
    bool fresh;
    bly_status status = rb_cuckoo_add_key(f, &t, &m, &fresh);
    if (status == BLY_OK && added)
        *added = fresh;
    return status;
}

bool bly_rb_cuckoo_contains(const bly_rb_cuckoo *f, const void *key, size_t len) {
    rb_cuckoo_key t = rb_cuckoo_key_of(key, len);
    return rb_cuckoo_find(f, &t, t.print) != NULL;
}

static uint64_t rb_cuckoo_copies_in(const bly_rb_cuckoo *f, const blyi_rb_cuckoo_layer *sub,
                                    uint64_t bucket, uint8_t print) {
    const uint8_t *slot = sub->base.data + (bucket & sub->mask) * f->bucket_size;
    uint64_t copies = 0;
    for (uint32_t i = 0; i < f->bucket_size; i++)
        copies += slot[i] == print;
    return copies;
}

uint64_t bly_rb_cuckoo_copies(const bly_rb_cuckoo *f, const void *key, size_t len) {
    rb_cuckoo_key t = rb_cuckoo_key_of(key, len);
    uint64_t copies = 0;
    for (uint64_t i = 0; i < f->layers.n; i++) {
        const blyi_rb_cuckoo_layer *sub = blyi_rb_cuckoo_layer_at(f, i);
        copies += rb_cuckoo_copies_in(f, sub, t.first, t.print);
        if ((t.first & sub->mask) != (t.second & sub->mask))
            copies += rb_cuckoo_copies_in(f, sub, t.second, t.print);
    }
    return copies;
}

bool bly_rb_cuckoo_remove(bly_rb_cuckoo *f, const void *key, size_t len) {
    rb_cuckoo_key t = rb_cuckoo_key_of(key, len);
    uint8_t *slot = rb_cuckoo_find(f, &t, t.print);
    if (!slot)
        return false;
    *slot = 0;
    f->items -= f->items > 0;              /* a loaded header may state 0 */
    f->deletes += f->deletes < UINT64_MAX; /* a loaded header may state any number */
    if (f->layers.n > 1 && f->deletes > f->items / 10)
        bly_rb_cuckoo_compact(f);
    return true;
}

/* ---- compaction ------------------------------------------------------------------------------ */

/* Returns an empty slot for a fingerprint of that bucket in one of the first n sub-filters, or
 * NULL. */
static uint8_t *rb_cuckoo_free_slot_below(const bly_rb_cuckoo *f, uint64_t n, uint64_t bucket,
                                          uint8_t print) {
    for (uint64_t i = 0; i < n; i++) {
        const blyi_rb_cuckoo_layer *sub = blyi_rb_cuckoo_layer_at(f, i);
        uint8_t *slot = rb_bucket_find(f, sub, bucket, 0);
        if (!slot)
            slot = rb_bucket_find(f, sub, rb_other_bucket(bucket, print), 0);
        if (slot)
            return slot;
    }
    return NULL;
}

/* Moves fingerprints from the newest sub-filter to empty slots of older ones, as far as possible.
 * Returns true if the newest one is empty then. */
static bool rb_cuckoo_empty_newest(bly_rb_cuckoo *f) {
    uint64_t older = f->layers.n - 1;
    const blyi_rb_cuckoo_layer *sub = blyi_rb_cuckoo_layer_at(f, older);
    uint8_t *slot = sub->base.data;
    bool empty = true;
    for (uint64_t bucket = 0; bucket <= sub->mask; bucket++) {
        for (uint32_t i = 0; i < f->bucket_size; i++, slot++) {
            if (*slot == 0)
                continue;
            uint8_t *to = rb_cuckoo_free_slot_below(f, older, bucket, *slot);
            if (to) {
                *to = *slot;
                *slot = 0;
            } else {
                empty = false;
            }
        }
    }
    return empty;
}

void bly_rb_cuckoo_compact(bly_rb_cuckoo *f) {
    while (f->layers.n > 1 && rb_cuckoo_empty_newest(f))
        blyi_rb_layers_pop(&f->layers);
    if (f->items > f->layers.bytes) /* a loaded header may state any number */
        f->items = f->layers.bytes;
    f->deletes = 0;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void rb_cuckoo_prefetch_group(const bly_rb_cuckoo *f, const rb_cuckoo_key *t, size_t n) {
    for (uint64_t i = f->layers.n; i-- > 0;) {
        const blyi_rb_cuckoo_layer *sub = blyi_rb_cuckoo_layer_at(f, i);
        for (size_t k = 0; k < n && sub->base.bytes > RB_SMALL_TABLE; k++) {
            blyi_prefetch_to_read(sub->base.data + (t[k].first & sub->mask) * f->bucket_size);
            blyi_prefetch_to_read(sub->base.data + (t[k].second & sub->mask) * f->bucket_size);
        }
    }
}

/* Hashes and prefetches the next group of keys, of which `left` are left. Returns the size of the
 * group. */
static size_t rb_cuckoo_key_group(const bly_rb_cuckoo *f, const bly_bytes *keys, size_t left,
                                  rb_cuckoo_key *t) {
    size_t n = left < RB_CUCKOO_GROUP ? left : RB_CUCKOO_GROUP;
    for (size_t i = 0; i < n; i++)
        t[i] = rb_cuckoo_key_of(keys[i].data, keys[i].size);
    rb_cuckoo_prefetch_group(f, t, n);
    return n;
}

bly_status bly_rb_cuckoo_add_many(bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                  const bly_rb_cuckoo_how *how, uint8_t *added,
                                  bly_batch_result *result) {
    bly_rb_cuckoo_how m = rb_cuckoo_defaults(how);
    bly_batch_result none, *sum = result ? result : &none;
    *sum = (bly_batch_result){0, 0};
    while (sum->done < n) {
        rb_cuckoo_key t[RB_CUCKOO_GROUP];
        size_t some = rb_cuckoo_key_group(f, keys + sum->done, n - sum->done, t);
        for (size_t i = 0; i < some; i++) {
            bool fresh;
            bly_status status = rb_cuckoo_add_key(f, &t[i], &m, &fresh);
            if (status)
                return status;
            if (added)
                added[sum->done] = fresh;
            sum->changed += fresh;
            sum->done++;
        }
    }
    return BLY_OK;
}

size_t bly_rb_cuckoo_contains_many(const bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                   uint8_t *found) {
    size_t total = 0;
    for (size_t at = 0, some; at < n; at += some) {
        rb_cuckoo_key t[RB_CUCKOO_GROUP];
        some = rb_cuckoo_key_group(f, keys + at, n - at, t);
        for (size_t i = 0; i < some; i++) {
            bool there = rb_cuckoo_find(f, &t[i], t[i].print) != NULL;
            if (found)
                found[at + i] = there;
            total += there;
        }
    }
    return total;
}

void bly_rb_cuckoo_limit_growth(bly_rb_cuckoo *f, uint64_t max_bytes) {
    f->layers.growth_limit = blyi_growth_limit(max_bytes);
}

/* ---- information and raw bytes --------------------------------------------------------------- */

bly_rb_cuckoo_info bly_rb_cuckoo_get_info(const bly_rb_cuckoo *f) {
    return (bly_rb_cuckoo_info){.items = f->items,
                                .deletes = f->deletes,
                                .buckets = f->buckets,
                                .filters = f->layers.n,
                                .bucket_size = f->bucket_size,
                                .max_iterations = f->max_iterations,
                                .expansion = f->expansion,
                                .size = 40 + 16 * f->layers.n + f->layers.bytes,
                                .memory = sizeof *f + blyi_rb_layers_memory(&f->layers),
                                .data_bytes = f->layers.bytes};
}

bly_rb_sub bly_rb_cuckoo_sub(const bly_rb_cuckoo *f, uint64_t i) {
    const blyi_rb_cuckoo_layer *sub = blyi_rb_cuckoo_layer_at(f, i);
    return (bly_rb_sub){sub->mask + 1, {sub->base.data, (size_t)sub->base.bytes}};
}

bly_bytes bly_rb_cuckoo_read(const bly_rb_cuckoo *f, uint64_t offset, size_t most) {
    return blyi_rb_layers_read(&f->layers, offset, most);
}

bly_status bly_rb_cuckoo_write(bly_rb_cuckoo *f, uint64_t offset, const void *data, size_t size) {
    return blyi_rb_layers_write(&f->layers, offset, data, size);
}

size_t bly_rb_cuckoo_defrag(bly_rb_cuckoo *f, size_t from, size_t most, bly_defrag_move move,
                            void *ctx) {
    return blyi_rb_layers_move(&f->layers, from, most, move, ctx);
}

bly_rb_cuckoo *bly_rb_cuckoo_defrag_handle(bly_rb_cuckoo *f, bly_defrag_move move, void *ctx) {
    bly_rb_cuckoo *moved = move(ctx, f, sizeof *f);
    return moved ? moved : f;
}
