/* redisbloom_bloom.c - RedisBloom's scaling Bloom filter.
 *
 * A chain of links (Almeida, Baquero, Preguica and Hutchison, "Scalable Bloom Filters", 2007). A
 * key is in the chain when all of its bits are set in one of the links, and it is put into the
 * newest. Errors that halve from link to link add up to less than twice the first one's, which is
 * why a chain that scales begins with half of what was asked.
 *
 *   a = MurmurHash64A(key, seed 0xc6a4a7935bd1e995),  b = MurmurHash64A(key, seed a)
 *   place i = (a + i * b mod 2^64) mod bits
 *
 * A chain without the option for 64 bits, older than RedisBloom 2.0, has the 32-bit MurmurHash2
 * instead, seeds 0x9747b28c and a, in the same formula. Links that are added to an old chain have
 * its hash function, but sizes that are not powers of two.
 *
 * In a batch, the first two probes of a link are fetched for a group of keys before any is tested:
 * in a link half full three strangers in four end there. The rest is fetched for those that are
 * left. A small link is in the cache anyway.
 */
#include "formats/redisbloom_bloom.h"

#include "core/hash_murmur.h"
#include "core/memory.h"
#include <string.h>

enum {
    GROUP = 32,          /* keys of a batch that are on their way at a time */
    SMALL_LINK = 1 << 15 /* bytes up to which nothing is fetched ahead */
};

/* ---- life ------------------------------------------------------------------------------------ */

bly_status blyi_rb_bloom_make(uint64_t options, uint64_t growth, const bly_allocator *a,
                              bly_rb_bloom **out) {
    bly_allocator alloc;
    bly_rb_bloom *f = *out = blyi_rb_object(a, sizeof *f, &alloc);
    if (!f)
        return BLY_ENOMEM;
    f->chain = (blyi_rb_chain){.alloc = alloc, .stride = sizeof(blyi_rb_link)};
    f->options = (uint32_t)options;
    f->growth = (uint32_t)growth;
    return BLY_OK;
}

bly_status bly_rb_bloom_create(const bly_rb_bloom_spec *spec, const bly_allocator *a,
                               bly_rb_bloom **out) {
    blyi_rb_link first;
    *out = NULL;
    if (!(spec->error > 0 && spec->error < 1))
        return BLY_ERATE;
    if (spec->capacity == 0)
        return BLY_ECOUNT;
    if (!spec->nonscaling && spec->growth == 0)
        return BLY_EINVAL;
    bly_status status =
        blyi_rb_link_plan(spec->capacity, spec->nonscaling ? spec->error : spec->error / 2, &first);
    if (status)
        return status;
    uint32_t options = BLY_RB_NO_ROUNDING | BLY_RB_HASH_64;
    if (spec->nonscaling)
        options |= BLY_RB_NONSCALING;
    status = blyi_rb_bloom_make(options, spec->growth, a, out);
    if (status == BLY_OK && !blyi_rb_push(&(*out)->chain, &first.part)) {
        bly_rb_bloom_destroy(*out);
        *out = NULL;
        status = BLY_ENOMEM;
    }
    return status;
}

void bly_rb_bloom_destroy(bly_rb_bloom *f) {
    if (!f)
        return;
    bly_allocator alloc = f->chain.alloc;
    blyi_rb_free(&f->chain);
    alloc.free(alloc.ctx, f);
}

bly_status bly_rb_bloom_clone(const bly_rb_bloom *f, const bly_allocator *a, bly_rb_bloom **out) {
    bly_status status = blyi_rb_bloom_make(f->options, f->growth, a, out);
    if (status)
        return status;
    (*out)->items = f->items;
    if (blyi_rb_copy(&f->chain, &(*out)->chain))
        return BLY_OK;
    bly_rb_bloom_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}

static bool same_link(const blyi_rb_link *l, const blyi_rb_link *m) {
    return l->capacity == m->capacity && l->bits == m->bits && l->items == m->items &&
           l->error == m->error && l->bpe == m->bpe && l->hashes == m->hashes && l->n2 == m->n2;
}

bool bly_rb_bloom_equal(const bly_rb_bloom *f, const bly_rb_bloom *g) {
    if (f->items != g->items || f->options != g->options || f->growth != g->growth ||
        f->chain.n != g->chain.n)
        return false;
    for (uint64_t i = 0; i < f->chain.n; i++)
        if (!same_link(blyi_rb_link_at(f, i), blyi_rb_link_at(g, i)))
            return false;
    return blyi_rb_same(&f->chain, &g->chain);
}

/* ---- use ------------------------------------------------------------------------------------- */

static blyi_rb_hash hash_key(const bly_rb_bloom *f, const void *key, size_t len) {
    if (f->options & BLY_RB_HASH_64) {
        uint64_t a = blyi_murmur64a(key, len, 0xc6a4a7935bd1e995);
        return (blyi_rb_hash){a, blyi_murmur64a(key, len, a)};
    }
    uint32_t a = blyi_murmur2(key, len, 0x9747b28c);
    return (blyi_rb_hash){a, blyi_murmur2(key, len, a)};
}

/* Whether one of the first n links has it. */
static bool among(const bly_rb_bloom *f, uint64_t n, blyi_rb_hash h) {
    while (n-- > 0) {
        const blyi_rb_link *l = blyi_rb_link_at(f, n);
        if (blyi_rb_link_has(l, h, 0, l->hashes))
            return true;
    }
    return false;
}

static bly_status grow(bly_rb_bloom *f) {
    const blyi_rb_link *last = blyi_rb_link_at(f, f->chain.n - 1);
    blyi_rb_link next;
    if (f->options & BLY_RB_NONSCALING || f->growth == 0)
        return BLY_EFULL;
    if (f->chain.n == BLY_RB_MAX_PARTS || last->capacity > BLYI_RB_MAX_BYTES * 8 / f->growth)
        return BLY_ETOOBIG;
    bly_status status = blyi_rb_link_plan(last->capacity * f->growth, last->error / 2, &next);
    if (status == BLY_OK)
        status = blyi_rb_may_grow(&f->chain, f->chain.bytes, next.part.bytes);
    if (status)
        return status;
    return blyi_rb_push(&f->chain, &next.part) ? BLY_OK : BLY_ENOMEM;
}

static bly_status add(bly_rb_bloom *f, blyi_rb_hash h, bool *added) {
    blyi_rb_link *last = blyi_rb_link_at(f, f->chain.n - 1);
    bool full = last->items >= last->capacity;
    *added = false;
    if (among(f, full ? f->chain.n : f->chain.n - 1, h))
        return BLY_OK;
    if (full) {
        bly_status status = grow(f);
        if (status)
            return status;
        last = blyi_rb_link_at(f, f->chain.n - 1);
    }
    *added = blyi_rb_link_set(last, h);
    if (last->items < last->bits) { /* unless a header said that there were more than now */
        last->items += *added;
        f->items += *added;
    }
    return BLY_OK;
}

bly_status bly_rb_bloom_add(bly_rb_bloom *f, const void *key, size_t len, bool *added) {
    bool fresh;
    bly_status status = add(f, hash_key(f, key, len), &fresh);
    if (status == BLY_OK && added)
        *added = fresh;
    return status;
}

bool bly_rb_bloom_contains(const bly_rb_bloom *f, const void *key, size_t len) {
    return among(f, f->chain.n, hash_key(f, key, len));
}

/* ---- batches --------------------------------------------------------------------------------- */

static size_t hash_group(const bly_rb_bloom *f, const bly_bytes *keys, size_t left,
                         blyi_rb_hash *h) {
    size_t n = left < GROUP ? left : GROUP;
    for (size_t i = 0; i < n; i++)
        h[i] = hash_key(f, keys[i].data, keys[i].size);
    return n;
}

/* The first probes, or all, of n keys in a link that is not small. */
static void fetch(const blyi_rb_link *l, const blyi_rb_hash *h, size_t n, bool all) {
    uint32_t to = all || l->hashes < BLYI_RB_HEAD ? l->hashes : BLYI_RB_HEAD;
    if (l->part.bytes > SMALL_LINK)
        for (size_t i = 0; i < n; i++)
            blyi_rb_link_fetch(l, h[i], 0, to);
}

bly_status bly_rb_bloom_add_many(bly_rb_bloom *f, const bly_bytes *keys, size_t n, uint8_t *added,
                                 bly_tally *tally) {
    bly_tally none, *t = tally ? tally : &none;
    *t = (bly_tally){0, 0};
    while (t->done < n) {
        blyi_rb_hash h[GROUP];
        size_t some = hash_group(f, keys + t->done, n - t->done, h);
        for (uint64_t i = f->chain.n; i-- > 0;)
            fetch(blyi_rb_link_at(f, i), h, some, i + 1 == f->chain.n);
        for (size_t i = 0; i < some; i++) {
            bool fresh;
            bly_status status = add(f, h[i], &fresh);
            if (status)
                return status;
            if (added)
                added[t->done] = fresh;
            t->fresh += fresh;
            t->done++;
        }
    }
    return BLY_OK;
}

/* The keys that a group's queries are still about: their hashes and their numbers in it. */
typedef struct open_keys {
    size_t n;
    blyi_rb_hash h[GROUP];
    uint8_t key[GROUP];
} open_keys;

/* Forgets those that are found. */
static void close_found(open_keys *open, const uint8_t *found) {
    size_t kept = 0;
    for (size_t i = 0; i < open->n; i++) {
        open->h[kept] = open->h[i];
        open->key[kept] = open->key[i];
        kept += !found[open->key[i]];
    }
    open->n = kept;
}

/* Says 1 in `found` of the keys that the link has, and keeps the others. Their first probes have
 * been fetched; the processor cannot guess what these say, so nothing branches on it. */
static void ask_link(const blyi_rb_link *l, open_keys *open, uint8_t *found) {
    size_t maybe[GROUP], left = 0, before = open->n;
    for (size_t i = 0; i < open->n; i++) {
        maybe[left] = i;
        left += blyi_rb_link_head(l, open->h[i]);
    }
    if (l->part.bytes > SMALL_LINK)
        for (size_t i = 0; i < left; i++)
            blyi_rb_link_fetch(l, open->h[maybe[i]], BLYI_RB_HEAD, l->hashes);
    for (size_t i = 0; i < left; i++) {
        if (blyi_rb_link_has(l, open->h[maybe[i]], BLYI_RB_HEAD, l->hashes)) {
            found[open->key[maybe[i]]] = 1;
            before--;
        }
    }
    if (before < open->n)
        close_found(open, found);
}

size_t bly_rb_bloom_contains_many(const bly_rb_bloom *f, const bly_bytes *keys, size_t n,
                                  uint8_t *found) {
    size_t total = 0;
    for (size_t at = 0; at < n;) {
        open_keys open;
        uint8_t answers[GROUP] = {0};
        size_t some = open.n = hash_group(f, keys + at, n - at, open.h);
        for (size_t i = 0; i < some; i++)
            open.key[i] = (uint8_t)i;
        fetch(blyi_rb_link_at(f, f->chain.n - 1), open.h, some, false);
        for (uint64_t i = f->chain.n; i-- > 0 && open.n > 0;) {
            if (i > 0)
                fetch(blyi_rb_link_at(f, i - 1), open.h, open.n, false);
            ask_link(blyi_rb_link_at(f, i), &open, answers);
        }
        total += some - open.n;
        if (found)
            memcpy(found + at, answers, some);
        at += some;
    }
    return total;
}

void bly_rb_bloom_limit_growth(bly_rb_bloom *f, uint64_t max_bytes) {
    f->chain.growth_limit = blyi_growth_limit(max_bytes);
}

/* ---- look ------------------------------------------------------------------------------------ */

bly_rb_bloom_info bly_rb_bloom_look(const bly_rb_bloom *f) {
    bly_rb_bloom_info info = {.items = f->items,
                              .links = f->chain.n,
                              .growth = f->growth,
                              .options = f->options,
                              .size = 32 + 64 * f->chain.n + f->chain.bytes,
                              .memory = sizeof *f + blyi_rb_memory(&f->chain),
                              .data_bytes = f->chain.bytes};
    for (uint64_t i = 0; i < f->chain.n; i++)
        info.capacity += blyi_rb_link_at(f, i)->capacity;
    return info;
}

bly_rb_link bly_rb_bloom_link(const bly_rb_bloom *f, uint64_t i) {
    const blyi_rb_link *l = blyi_rb_link_at(f, i);
    return (bly_rb_link){.capacity = l->capacity,
                         .error = l->error,
                         .hashes = l->hashes,
                         .bpe = l->bpe,
                         .bits = l->bits,
                         .n2 = l->n2,
                         .bitmap = {l->part.data, (size_t)l->part.bytes},
                         .items = l->items};
}

bly_bytes bly_rb_bloom_read(const bly_rb_bloom *f, uint64_t offset, size_t most) {
    return blyi_rb_read(&f->chain, offset, most);
}

bly_status bly_rb_bloom_write(bly_rb_bloom *f, uint64_t offset, const void *data, size_t size) {
    return blyi_rb_write(&f->chain, offset, data, size);
}

size_t bly_rb_bloom_move(bly_rb_bloom *f, size_t from, size_t most, bly_mover move, void *ctx) {
    return blyi_rb_move(&f->chain, from, most, move, ctx);
}

bly_rb_bloom *bly_rb_bloom_move_handle(bly_rb_bloom *f, bly_mover move, void *ctx) {
    bly_rb_bloom *moved = move(ctx, f, sizeof *f);
    return moved ? moved : f;
}
