/* Binary fuse filters with three slots per key (Graf and Lemire, "Binary Fuse Filters: Fast and
 * Smaller Than Xor Filters", 2022).
 *
 * The idea. A key has a fingerprint of r bits and three slots. The filter contains it if the
 * exclusive or of its slots equals the fingerprint. For a non-member this happens with probability
 * 2^-r exactly. The values of the slots are found by peeling: a slot that only one key has can be
 * reserved for that key, which is then removed from its other slots. These may then have only one
 * key. When no key is left, the slots are set in the opposite order: the last key peeled sets its
 * slot first, so that every slot is set before a key that was peeled earlier relies on it. The
 * slots of a key lie in three consecutive segments out of many. That makes the ends of the array
 * sparse, peeling begins there and continues through all of it, and 1.125 slots per key are enough,
 * where three arbitrary slots need 1.23.
 *
 * Which slots. With m = S + 2 segments of L = 2^l slots in a shard:
 *
 *     shard = the leading k bits of lo, of 2^k shards     s = the shard's seed
 *     y     = ((hi ^ s) + lo) * LCG mod 2^64              x = y ^ (y >> 32)
 *     h0    = mulhi(lo * 2^k mod 2^64, S * L)
 *     h1    = (h0 + L) ^ (x >> 42 mod L)
 *     h2    = (h0 + 2L) ^ (x >> 28 mod L)                 fingerprint = x mod 2^r
 *
 * With a good hash, hi could be used instead of x. The product is there so that seeds make a
 * difference, and for hashes whose hi contains little information. A seed changes only x. So hashes
 * sorted by lo are sorted by h0 under every seed, and filling and peeling go through a shard's
 * memory in order, with a few segments of it in the cache. From x, one slot of a key, and which of
 * its three slots that is, the other two follow. So peeling needs only a few numbers for each slot:
 * how many keys it has, the exclusive or of their x, and that of which of their slots it is.
 *
 * A chain of segments must be long to work well. A filter for few keys has another form, called
 * small: three segments of any length L, with h1 = L + (14 bits of x) * L / 2^14, and h2 likewise.
 * It cannot be peeled completely, but its equations can be solved, and so can those that are left
 * of a chain when peeling stops (fuse_core.c). If a set of keys cannot be solved (two keys have the
 * same slots, or too many keys are left by peeling), other seeds are tried. If several fail, the
 * builder plans more slots. If the same key was added twice, neither copy is ever peeled. The keys
 * that peeling leaves are sorted, so repeats are noticed then, and need not be searched for in
 * advance.
 *
 * Shards of about half a million keys are large enough for 1.135 slots per key, and small enough
 * for the caches.
 *
 * Body: docs/format.md and fuse_layout.h. The positions that a lookup reads follow from the
 * geometry and the hash and are in range whatever the seeds, so no untrusted body can make it read
 * elsewhere.
 *
 * Measured with r = 7 and ten million keys on one thread: docs/benchmarks.md has 35 ns per key for
 * building, and 1.8 times sbbf's time for a batched lookup, on Zen 5. Earlier measurements on
 * another machine gave 53 to 60 ns, in memory that the system had to clear first, and 2.1 to 2.2
 * times.
 */
#include "base/little_endian.h"
#include "filter/batch.h"
#include "kinds/fuse/fuse_layout.h"

#include <bloomery/build.h>
#include <bloomery/filter.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- lookup ---------------------------------------------------------------------------------- */

enum {
    FUSE_WINDOW = 48,    /* keys whose lines are being loaded, three lines for each key */
    FUSE_COMMON_BITS = 7 /* bits of a fingerprint at 1% */
};

/* A batch of keys (`hashes` is NULL) or of hashes (`keys` is NULL). */
typedef struct fuse_query {
    const bly_bytes *keys;
    const bly_hash *hashes;
    size_t n;
    uint8_t *found; /* or NULL */
} fuse_query;

static __attribute__((noinline)) blyi_fuse_layout fuse_lookup_layout(const bly_filter *f) {
    blyi_fuse_layout s = blyi_fuse_layout_of(&f->geometry);
    if (blyi_fuse_is_small(&f->geometry))
        s.seed = blyi_fuse_seed(f->body[s.shard_bits / 8 - 1]);
    return s;
}

/* The positions in the body, in bits, of a key's three slots; and x, whose lowest bits are the
 * key's fingerprint. */
typedef struct fuse_probe {
    uint64_t a, b, c, x;
} fuse_probe;

/* Computes a key's probe and prefetches its lines. Writes each number to `out` separately: a copy
 * of a struct that is built elsewhere, two numbers at a time, would have to wait for its parts.
 * With a compiler that made such copies, a lookup spent half its time waiting. */
BLYI_FUSE_INLINE void fuse_find_probe(const uint8_t *body, const blyi_fuse_layout *s, bly_hash h,
                                      bool small, fuse_probe *out) {
    uint64_t shard = 0, position = small ? h.lo : blyi_mul(h.lo, s->shards, &shard);
    uint64_t x = blyi_fuse_mix(h, small ? s->seed : blyi_load64le(body + 8 * shard));
    uint64_t first = blyi_mulhi(position, s->span), base = s->heading_bits + shard * s->shard_bits;
    blyi_fuse_key_slots t = small ? blyi_fuse_small_slots(first, x, s->segment)
                                  : blyi_fuse_chain_slots(first, x, s->segment);
    uint64_t a = base + t.a * s->bits, b = base + t.b * s->bits, c = base + t.c * s->bits;
    blyi_prefetch_to_read(body + (a >> 3));
    blyi_prefetch_to_read(body + (b >> 3));
    blyi_prefetch_to_read(body + (c >> 3));
    out->a = a;
    out->b = b;
    out->c = c;
    out->x = x;
}

/* Loads only the bytes that a slot can occupy: a wider load may cross into the next cache line, and
 * cause a needless cache miss. */
BLYI_FUSE_INLINE uint64_t fuse_load_slot(const uint8_t *body, uint64_t bit, unsigned bytes) {
    const uint8_t *from = body + (bit >> 3);
    uint64_t word = bytes == 2   ? (uint64_t)(from[0] | from[1] << 8)
                    : bytes == 4 ? blyi_load32le(from)
                                 : blyi_load64le(from);
    return word >> (bit & 7);
}

BLYI_FUSE_INLINE bool fuse_probe_matches(const uint8_t *body, uint64_t mask, const fuse_probe *p,
                                         unsigned bytes) {
    uint64_t all = fuse_load_slot(body, p->a, bytes) ^ fuse_load_slot(body, p->b, bytes) ^
                   fuse_load_slot(body, p->c, bytes);
    return ((all ^ p->x) & mask) == 0;
}

/* The constants of a compiled variant of the loop: the bytes that a slot can occupy, the bits of a
 * fingerprint (0: any), and whether the filter is small. */
typedef struct fuse_variant {
    unsigned bytes, bits;
    bool small;
} fuse_variant;

/* Computes the probes of n <= BLYI_BATCH_GROUP keys, from key `at` of the batch on. Before entry i
 * of `probes` is overwritten, the older key in that entry is looked up, and the result written to
 * answers[i], unless `answers` is NULL. One loop does both, as in simd/hash_probe.h. Hashing has a
 * separate loop: it takes as long as the rest, and would fill the processor's reorder window with
 * the hashes of one or two keys. */
BLYI_FUSE_INLINE void fuse_lookup_group(const bly_filter *f, const blyi_fuse_layout *s,
                                        const fuse_query *q, size_t at, size_t n,
                                        fuse_probe *probes, uint8_t *answers,
                                        fuse_variant variant) {
    bly_hash group_hashes[BLYI_BATCH_GROUP];
    const bly_hash *h = q->keys ? group_hashes : q->hashes + at;
    const uint8_t *body = f->body;
    if (q->keys)
        blyi_batch_hash(f, q->keys + at, n, group_hashes);
    for (size_t i = 0; i < n; i++) {
        if (answers)
            answers[i] = fuse_probe_matches(body, s->mask, probes + i, variant.bytes);
        fuse_find_probe(body, s, h[i], variant.small, probes + i);
    }
}

/* The pipeline of filter/batch.c, with a window of probes instead of hashes: computing a probe is
 * most of the work, and would otherwise be done twice. */
BLYI_FUSE_INLINE size_t fuse_lookup_variant(const bly_filter *f, const blyi_fuse_layout *layout,
                                            const fuse_query *query, fuse_variant variant) {
    blyi_fuse_layout s = *layout;
    const fuse_query q = *query;
    fuse_probe ring[FUSE_WINDOW];
    uint8_t unused[BLYI_BATCH_GROUP];
    size_t hits = 0, head = 0, tail = 0, some;
    if (variant.bits) {
        s.bits = variant.bits;
        s.mask = ((uint64_t)1 << variant.bits) - 1;
    }
    for (; head < blyi_min_size(q.n, FUSE_WINDOW); head += some) {
        some = blyi_min_size(q.n - head, BLYI_BATCH_GROUP);
        fuse_lookup_group(f, &s, &q, head, some, ring + head, NULL, variant);
    }
    for (; tail < q.n; tail += some) {
        uint8_t *answers = q.found ? q.found + tail : unused;
        fuse_probe *probes = ring + tail % FUSE_WINDOW;
        size_t next = blyi_min_size(q.n - head, BLYI_BATCH_GROUP);
        some = blyi_min_size(q.n - tail, BLYI_BATCH_GROUP);
        fuse_lookup_group(f, &s, &q, head, next, probes, answers, variant);
        head += next;
        for (size_t i = next; i < some; i++)
            answers[i] = fuse_probe_matches(f->body, s.mask, probes + i, variant.bytes);
        for (size_t i = 0; i < some; i++)
            hits += answers[i];
    }
    return hits;
}

static size_t fuse_lookup(const bly_filter *f, const fuse_query *q) {
    const bool small = blyi_fuse_is_small(&f->geometry);
    const blyi_fuse_layout s = fuse_lookup_layout(f);
    if (f->items == 0) { /* no keys: the body was never solved */
        if (q->found)
            memset(q->found, 0, q->n);
        return 0;
    }
    if (!small && s.bits == FUSE_COMMON_BITS)
        return fuse_lookup_variant(f, &s, q, (fuse_variant){2, FUSE_COMMON_BITS, false});
    switch (blyi_fuse_load_bytes(f->geometry.hashes)) {
    case 2:
        return small ? fuse_lookup_variant(f, &s, q, (fuse_variant){2, 0, true})
                     : fuse_lookup_variant(f, &s, q, (fuse_variant){2, 0, false});
    case 4:
        return small ? fuse_lookup_variant(f, &s, q, (fuse_variant){4, 0, true})
                     : fuse_lookup_variant(f, &s, q, (fuse_variant){4, 0, false});
    default:
        return small ? fuse_lookup_variant(f, &s, q, (fuse_variant){8, 0, true})
                     : fuse_lookup_variant(f, &s, q, (fuse_variant){8, 0, false});
    }
}

static size_t fuse_contains_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    return fuse_lookup(f, &(fuse_query){.hashes = h, .n = n, .found = found});
}

static size_t fuse_contains_keys(const bly_filter *f, const bly_bytes *keys, size_t n,
                                 uint8_t *found) {
    return fuse_lookup(f, &(fuse_query){.keys = keys, .n = n, .found = found});
}

/* blyi_ops.prefetch, for callers that look up keys in several filters at once: fuse_contains_many
 * does its own prefetching.
 */
static void fuse_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const bool small = blyi_fuse_is_small(&f->geometry);
    blyi_fuse_layout s = fuse_lookup_layout(f);
    fuse_probe unused;
    for (size_t i = 0; i < n; i++)
        fuse_find_probe(f->body, &s, h[i], small, &unused);
}

/* ---- statistics and validity ----------------------------------------------------------------- */

/* A filter that was built from at least one key counts as full. */
static void fuse_fill_stats(const bly_filter *f, bly_filter_info *out) {
    bool any = out->count != 0;
    out->set_bits = any ? out->bits : 0;
    out->fill = any;
    out->expected_fill = any;
    out->estimated_keys = (double)out->count;
    if (any)
        out->current_fpr = fmin(1, out->current_fpr + ldexp(1, -(int)f->geometry.hashes));
    out->expected_fpr = out->current_fpr;
}

/* Bits that belong to neither a seed nor a slot must be 0. */
static bool fuse_body_is_valid(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    const blyi_fuse_layout s = blyi_fuse_layout_of(g);
    uint64_t used = blyi_fuse_shard_slots(g) * s.bits,
             end = s.shard_bits / 8 - blyi_fuse_is_small(g);
    unsigned stray = 0;
    uint64_t shards = blyi_fuse_shards(g);
    for (uint64_t i = 8 * shards; i < s.heading_bits / 8; i++)
        stray |= body[i];
    for (uint64_t shard = 0; shard < shards; shard++) {
        const uint8_t *slots = body + (s.heading_bits + shard * s.shard_bits) / 8;
        stray |= used % 8 ? (unsigned)slots[used / 8] >> used % 8 : 0;
        for (uint64_t i = (used + 7) / 8; i < end; i++)
            stray |= slots[i];
    }
    return stray == 0;
}

static const blyi_ops fuse_ops = {
    .capabilities = BLY_CAN_MAP | BLY_CAN_BUILD,
    .prefetch = fuse_prefetch,
    .contains_many = fuse_contains_many,
    .contains_keys_pipelined = fuse_contains_keys,
    .contains_hashes_pipelined = fuse_contains_many,
    .fill_stats = fuse_fill_stats,
    .body_is_valid = fuse_body_is_valid,
    .solver = &blyi_fuse_solver,
};

/* ---- descriptor ------------------------------------------------------------------------------ */

static void fuse_describe_rest(const bly_geometry *g, char *out, size_t room) {
    int n = snprintf(out, room, ", fingerprints of %u bit%s", (unsigned)g->hashes,
                     g->hashes == 1 ? "" : "s");
    if (blyi_fuse_shards(g) > 1 && n > 0 && (size_t)n < room)
        snprintf(out + n, room - (size_t)n, ", in %u shards", (unsigned)blyi_fuse_shards(g));
}

const blyi_kind blyi_kind_fuse = {
    .code = BLY_FUSE,
    .name = "fuse",
    .meaning = "built from all keys at once; small and fast, never changes",
    .reason = "built from all keys at once; small, and a lookup reads three cache lines",
    .hashes_name = "bits of a fingerprint",
    .size_unit = "slot",
    .describe_rest = fuse_describe_rest,
    .requires = BLY_NEED_STATIC,
    .planner = &blyi_fuse_planner,
    .ops = &fuse_ops,
};
