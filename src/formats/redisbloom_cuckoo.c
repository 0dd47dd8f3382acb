/* redisbloom_cuckoo.c - RedisBloom's cuckoo filter.
 *
 * A chain of cuckoo filters (Fan, Andersen, Kaminsky and Mitzenmacher, 2014) with fingerprints of
 * one byte.
 *
 *   h = MurmurHash64A(key, seed 0),  fingerprint = h mod 255 + 1
 *   buckets: h mod n, and (h ^ fingerprint * 0x5bd1e995) mod n
 *
 * The number of buckets n is a power of two, so that a bucket and a fingerprint give the other
 * bucket, and a bucket of a sub-filter gives the one in any smaller sub-filter.
 *
 * An add takes the first empty slot that it finds: newest sub-filter first, first bucket first. If
 * there is none it pushes fingerprints around in the newest, from the first bucket on: the key's
 * takes the place of another, which goes to its other bucket, and so on, until one finds an empty
 * slot. Which slot of a bucket gives way rotates from step to step, from slot 0 on. After
 * max_iterations steps all of them are taken back, in reverse, which needs no record: the last
 * fingerprint and its bucket tell the bucket it came from, and the step the slot. Then a larger
 * sub-filter is opened.
 */
#include "formats/redisbloom_cuckoo.h"

#include "core/bits.h"
#include "core/hash_murmur.h"
#include "core/memory.h"
#include <string.h>

enum {
    GROUP = 32,           /* keys of a batch that are on their way at a time */
    SMALL_TABLE = 1 << 15 /* bytes up to which nothing is fetched ahead */
};

/* ---- life ------------------------------------------------------------------------------------ */

bly_status blyi_rb_cuckoo_make(const bly_rb_cuckoo_fields *fields, const bly_allocator *a,
                               bly_rb_cuckoo **out) {
    bly_allocator alloc;
    bly_rb_cuckoo *f = *out = blyi_rb_object(a, sizeof *f, &alloc);
    if (!f)
        return BLY_ENOMEM;
    f->chain = (blyi_rb_chain){.alloc = alloc, .stride = sizeof(blyi_rb_sub)};
    f->items = fields->items;
    f->deletes = fields->deletes;
    f->buckets = fields->buckets;
    f->bucket_size = (uint32_t)fields->bucket_size;
    f->max_iterations = (uint32_t)fields->max_iterations;
    f->expansion = (uint32_t)fields->expansion;
    return BLY_OK;
}

bly_status blyi_rb_sub_plan(const bly_rb_cuckoo *f, blyi_rb_sub *out) {
    uint64_t most = BLYI_RB_MAX_BYTES / f->bucket_size, buckets = f->buckets;
    if (f->chain.n > 0) {
        uint64_t last = blyi_rb_sub_at(f, f->chain.n - 1)->mask + 1;
        if (f->expansion == 0 || last > most / f->expansion)
            return BLY_ETOOBIG;
        buckets = last * f->expansion;
    }
    if (buckets > most)
        return BLY_ETOOBIG;
    *out = (blyi_rb_sub){.part.bytes = buckets * f->bucket_size, .mask = buckets - 1};
    return BLY_OK;
}

static uint64_t next_power(uint64_t x) {
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
    bly_rb_cuckoo_fields fields = {.buckets = next_power(spec->capacity / spec->bucket_size),
                                   .bucket_size = spec->bucket_size,
                                   .max_iterations = spec->max_iterations,
                                   .expansion = spec->expansion ? next_power(spec->expansion) : 0};
    blyi_rb_sub first;
    bly_status status = blyi_rb_cuckoo_make(&fields, a, out);
    if (status)
        return status;
    status = blyi_rb_sub_plan(*out, &first);
    if (status == BLY_OK && !blyi_rb_push(&(*out)->chain, &first.part))
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
    bly_allocator alloc = f->chain.alloc;
    blyi_rb_free(&f->chain);
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
    bly_status status = blyi_rb_cuckoo_make(&fields, a, out);
    if (status || blyi_rb_copy(&f->chain, &(*out)->chain))
        return status;
    bly_rb_cuckoo_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}

bool bly_rb_cuckoo_equal(const bly_rb_cuckoo *f, const bly_rb_cuckoo *g) {
    return f->items == g->items && f->deletes == g->deletes && f->buckets == g->buckets &&
           f->bucket_size == g->bucket_size && f->max_iterations == g->max_iterations &&
           f->expansion == g->expansion && blyi_rb_same(&f->chain, &g->chain);
}

/* ---- use ------------------------------------------------------------------------------------- */

/* What the filter sees of a key. */
typedef struct trace {
    uint64_t first, second; /* buckets, before the modulus */
    uint8_t print;
} trace;

static trace trace_of(const void *key, size_t len) {
    uint64_t h = blyi_murmur64a(key, len, 0);
    uint8_t print = (uint8_t)(h % 255 + 1);
    return (trace){h, blyi_rb_other(h, print), print};
}

/* A slot of one of its two buckets with that content, or NULL. */
static uint8_t *find_in(const bly_rb_cuckoo *f, const blyi_rb_sub *sub, const trace *t,
                        uint8_t content) {
    uint8_t *slot = blyi_rb_find(f, sub, t->first, content);
    return slot ? slot : blyi_rb_find(f, sub, t->second, content);
}

/* The same in any sub-filter, newest first. */
static uint8_t *find(const bly_rb_cuckoo *f, const trace *t, uint8_t content) {
    for (uint64_t i = f->chain.n; i-- > 0;) {
        uint8_t *slot = find_in(f, blyi_rb_sub_at(f, i), t, content);
        if (slot)
            return slot;
    }
    return NULL;
}

/* Exchanges a fingerprint for the one in slot `step` of the bucket, counted round. */
static uint8_t exchange(const bly_rb_cuckoo *f, const blyi_rb_sub *sub, uint64_t bucket,
                        uint32_t step, uint8_t print) {
    uint8_t *slot = sub->part.data + (bucket & sub->mask) * f->bucket_size + step % f->bucket_size;
    uint8_t out = *slot;
    *slot = print;
    return out;
}

/* Makes room in the newest sub-filter, both of the key's buckets being full there. false: nothing
 * has changed. */
static bool evict(bly_rb_cuckoo *f, const trace *t) {
    const blyi_rb_sub *sub = blyi_rb_sub_at(f, f->chain.n - 1);
    uint64_t bucket = t->first;
    uint8_t print = t->print;
    uint32_t step = 0;
    for (; step < f->max_iterations; step++) {
        print = exchange(f, sub, bucket, step, print);
        bucket = blyi_rb_other(bucket, print);
        uint8_t *slot = blyi_rb_find(f, sub, bucket, 0);
        if (slot) {
            *slot = print;
            return true;
        }
    }
    while (step-- > 0) {
        bucket = blyi_rb_other(bucket, print);
        print = exchange(f, sub, bucket, step, print);
    }
    return false;
}

/* A few copies of one key fill two buckets, and another sub-filter is opened. So its slots may only
 * be compared with what was loaded, and with the keys that were really added. */
static bly_status grow(bly_rb_cuckoo *f, uint64_t max_filters) {
    uint64_t held = f->items > f->chain.loaded ? f->items : f->chain.loaded;
    blyi_rb_sub next;
    if (f->expansion == 0 || f->chain.n >= max_filters)
        return BLY_EFULL;
    bly_status status = blyi_rb_sub_plan(f, &next);
    if (status == BLY_OK)
        status = blyi_rb_may_grow(&f->chain, held, next.part.bytes);
    if (status)
        return status;
    return blyi_rb_push(&f->chain, &next.part) ? BLY_OK : BLY_ENOMEM;
}

static bly_status add(bly_rb_cuckoo *f, const trace *t, const bly_rb_cuckoo_how *how, bool *added) {
    *added = false;
    if (how->absent && find(f, t, t->print))
        return BLY_OK;
    uint8_t *slot = find(f, t, 0);
    if (!slot && !evict(f, t)) {
        bly_status status = grow(f, how->max_filters);
        if (status)
            return status;
        slot = find(f, t, 0);
    }
    if (slot)
        *slot = t->print;
    f->items += f->items < f->chain.bytes; /* a header may have said that there are more */
    *added = true;
    return BLY_OK;
}

/* With every default filled in. */
static bly_rb_cuckoo_how manner(const bly_rb_cuckoo_how *how) {
    bly_rb_cuckoo_how m = how ? *how : (bly_rb_cuckoo_how){false, 0};
    if (m.max_filters == 0 || m.max_filters > BLY_RB_MAX_PARTS)
        m.max_filters = BLY_RB_MAX_PARTS;
    return m;
}

bly_status bly_rb_cuckoo_add(bly_rb_cuckoo *f, const void *key, size_t len,
                             const bly_rb_cuckoo_how *how, bool *added) {
    trace t = trace_of(key, len);
    bly_rb_cuckoo_how m = manner(how);
    bool fresh;
    bly_status status = add(f, &t, &m, &fresh);
    if (status == BLY_OK && added)
        *added = fresh;
    return status;
}

bool bly_rb_cuckoo_contains(const bly_rb_cuckoo *f, const void *key, size_t len) {
    trace t = trace_of(key, len);
    return find(f, &t, t.print) != NULL;
}

static uint64_t copies_in(const bly_rb_cuckoo *f, const blyi_rb_sub *sub, uint64_t bucket,
                          uint8_t print) {
    const uint8_t *slot = sub->part.data + (bucket & sub->mask) * f->bucket_size;
    uint64_t copies = 0;
    for (uint32_t i = 0; i < f->bucket_size; i++)
        copies += slot[i] == print;
    return copies;
}

uint64_t bly_rb_cuckoo_copies(const bly_rb_cuckoo *f, const void *key, size_t len) {
    trace t = trace_of(key, len);
    uint64_t copies = 0;
    for (uint64_t i = 0; i < f->chain.n; i++) {
        const blyi_rb_sub *sub = blyi_rb_sub_at(f, i);
        copies += copies_in(f, sub, t.first, t.print);
        if ((t.first & sub->mask) != (t.second & sub->mask))
            copies += copies_in(f, sub, t.second, t.print);
    }
    return copies;
}

bool bly_rb_cuckoo_remove(bly_rb_cuckoo *f, const void *key, size_t len) {
    trace t = trace_of(key, len);
    uint8_t *slot = find(f, &t, t.print);
    if (!slot)
        return false;
    *slot = 0;
    f->items -= f->items > 0;              /* a header may have said that there are none */
    f->deletes += f->deletes < UINT64_MAX; /* a header may have said any number */
    if (f->chain.n > 1 && f->deletes > f->items / 10)
        bly_rb_cuckoo_compact(f);
    return true;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void fetch(const bly_rb_cuckoo *f, const trace *t, size_t n) {
    for (uint64_t i = f->chain.n; i-- > 0;) {
        const blyi_rb_sub *sub = blyi_rb_sub_at(f, i);
        for (size_t k = 0; k < n && sub->part.bytes > SMALL_TABLE; k++) {
            blyi_prefetch_to_read(sub->part.data + (t[k].first & sub->mask) * f->bucket_size);
            blyi_prefetch_to_read(sub->part.data + (t[k].second & sub->mask) * f->bucket_size);
        }
    }
}

/* Hashes and fetches some of the keys that are left; returns how many. */
static size_t trace_group(const bly_rb_cuckoo *f, const bly_bytes *keys, size_t left, trace *t) {
    size_t n = left < GROUP ? left : GROUP;
    for (size_t i = 0; i < n; i++)
        t[i] = trace_of(keys[i].data, keys[i].size);
    fetch(f, t, n);
    return n;
}

bly_status bly_rb_cuckoo_add_many(bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                  const bly_rb_cuckoo_how *how, uint8_t *added, bly_tally *tally) {
    bly_rb_cuckoo_how m = manner(how);
    bly_tally none, *sum = tally ? tally : &none;
    *sum = (bly_tally){0, 0};
    while (sum->done < n) {
        trace t[GROUP];
        size_t some = trace_group(f, keys + sum->done, n - sum->done, t);
        for (size_t i = 0; i < some; i++) {
            bool fresh;
            bly_status status = add(f, &t[i], &m, &fresh);
            if (status)
                return status;
            if (added)
                added[sum->done] = fresh;
            sum->fresh += fresh;
            sum->done++;
        }
    }
    return BLY_OK;
}

size_t bly_rb_cuckoo_contains_many(const bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                   uint8_t *found) {
    size_t total = 0;
    for (size_t at = 0, some; at < n; at += some) {
        trace t[GROUP];
        some = trace_group(f, keys + at, n - at, t);
        for (size_t i = 0; i < some; i++) {
            bool there = find(f, &t[i], t[i].print) != NULL;
            if (found)
                found[at + i] = there;
            total += there;
        }
    }
    return total;
}

void bly_rb_cuckoo_limit_growth(bly_rb_cuckoo *f, uint64_t max_bytes) {
    f->chain.growth_limit = blyi_growth_limit(max_bytes);
}

/* ---- look ------------------------------------------------------------------------------------ */

bly_rb_cuckoo_info bly_rb_cuckoo_look(const bly_rb_cuckoo *f) {
    return (bly_rb_cuckoo_info){.items = f->items,
                                .deletes = f->deletes,
                                .buckets = f->buckets,
                                .filters = f->chain.n,
                                .bucket_size = f->bucket_size,
                                .max_iterations = f->max_iterations,
                                .expansion = f->expansion,
                                .size = 40 + 16 * f->chain.n + f->chain.bytes,
                                .memory = sizeof *f + blyi_rb_memory(&f->chain),
                                .data_bytes = f->chain.bytes};
}

bly_rb_sub bly_rb_cuckoo_sub(const bly_rb_cuckoo *f, uint64_t i) {
    const blyi_rb_sub *sub = blyi_rb_sub_at(f, i);
    return (bly_rb_sub){sub->mask + 1, {sub->part.data, (size_t)sub->part.bytes}};
}

bly_bytes bly_rb_cuckoo_read(const bly_rb_cuckoo *f, uint64_t offset, size_t most) {
    return blyi_rb_read(&f->chain, offset, most);
}

bly_status bly_rb_cuckoo_write(bly_rb_cuckoo *f, uint64_t offset, const void *data, size_t size) {
    return blyi_rb_write(&f->chain, offset, data, size);
}

size_t bly_rb_cuckoo_move(bly_rb_cuckoo *f, size_t from, size_t most, bly_mover move, void *ctx) {
    return blyi_rb_move(&f->chain, from, most, move, ctx);
}

bly_rb_cuckoo *bly_rb_cuckoo_move_handle(bly_rb_cuckoo *f, bly_mover move, void *ctx) {
    bly_rb_cuckoo *moved = move(ctx, f, sizeof *f);
    return moved ? moved : f;
}
