/* Binary fuse filters, of three slots a key (Graf and Lemire, "Binary Fuse Filters: Fast and
 * Smaller Than Xor Filters", 2022).
 *
 * The idea. A key has a fingerprint of r bits and three slots; it is present when the exclusive or
 * of the slots is the fingerprint. A stranger's is so with probability 2^-r, exactly. To find the
 * slots' contents, peel: a slot that only one key has can be left to that key, which is taken out
 * of its other slots; these may then have one key only. When no key is left, go back: the last key
 * peeled sets its slot first, so that every slot is set before a key that was peeled earlier relies
 * on it. Slots of a key lie in three consecutive segments out of many. That makes the ends of the
 * array thin, peeling begins there and runs through, and 1.125 slots per key are enough where three
 * arbitrary slots take 1.23.
 *
 * Which slots. With m = S + 2 segments of L = 2^l slots in a shard:
 *
 *     shard = the leading k bits of lo, of 2^k shards     s = the shard's seed
 *     y     = ((hi ^ s) + lo) * LCG mod 2^64              x = y ^ (y >> 32)
 *     h0    = mulhi(lo * 2^k mod 2^64, S * L)
 *     h1    = (h0 + L) ^ (x >> 42 mod L)
 *     h2    = (h0 + 2L) ^ (x >> 28 mod L)                 fingerprint = x mod 2^r
 *
 * A good hash needs no x, only hi; the product is for seeds to make a difference, and for a hash
 * whose hi says little. A seed changes x alone. So hashes in the order of lo are in the order of
 * h0, under every seed, and filling and peeling run through a shard's memory in order, with a few
 * segments' worth of it in the cache. And from x and any one of the slots, and which of the three
 * it is, the other two follow: so the exclusive or of x, and the number of keys, are all that
 * peeling needs to keep of a slot.
 *
 * A chain of segments must be long to be good. A filter of few keys is a small one instead: three
 * segments of any length L, with h1 = L + (14 bits of x) * L / 2^14, h2 likewise. It cannot be
 * peeled, but solved, and so can be what is left of a chain where peeling comes to a halt
 * (fuse_core.c). A set of keys that cannot be solved (two keys with the same slots; a knot that is
 * too dense) is tried under other seeds, and if several are of no use the builder comes back with
 * more slots. What is solved has no repeats: two equal keys are never peeled, and those left over
 * are sorted. So nobody needs to look for repeats before.
 *
 * Shards of about half a million keys are large enough for 1.135 slots per key, and small enough
 * for the caches.
 *
 * Body: docs/format.md, and core/plan_fuse.h. Where a query looks follows from the geometry and the
 * hash, whatever the seeds: no body can lead it astray.
 *
 * Measured (r = 7, one thread; docs/benchmarks.md): ten million keys are built in 53 to 60 ns each,
 * in memory that the system has to clear first; asked in batches they take 2.1 to 2.2 times as long
 * as in a filter of kind sbbf.
 */
#include "base/bytes.h"
#include "filter/batch.h"
#include "kinds/fuse/fuse_shape.h"

#include <bloomery/build.h>
#include <bloomery/fuse.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define INLINE BLYI_FUSE_INLINE

/* ---- ask ------------------------------------------------------------------------------------- */

enum {
    SPOTS = 48,    /* keys under way: they have three lines each */
    USUAL_BITS = 7 /* of a fingerprint, at 1% */
};

/* What a query is of: keys, or else their hashes. */
typedef struct query {
    const bly_bytes *keys;
    const bly_hash *hashes;
    size_t n;
    uint8_t *found; /* or NULL */
} query;

static __attribute__((noinline)) blyi_fuse_shape shape_to_ask(const bly_filter *f) {
    blyi_fuse_shape s = blyi_fuse_shape_of(&f->geometry);
    if (blyi_fuse_is_small(&f->geometry))
        s.seed = blyi_fuse_seed(f->body[s.shard / 8 - 1]);
    return s;
}

/* The bits of the body where a key's slots begin, and x, whose lowest bits are its fingerprint. */
typedef struct spot {
    uint64_t a, b, c, x;
} spot;

/* Finds a key's spot, and starts loading its lines. (Each number goes to the ring by itself: a
 * struct that is made elsewhere and copied, two numbers at a time, has to wait for its parts. Half
 * the time of a query went there, where the compiler did not see it.) */
INLINE void spot_of(const uint8_t *body, const blyi_fuse_shape *s, bly_hash h, bool small,
                    spot *out) {
    uint64_t shard = 0, place = small ? h.lo : blyi_mul(h.lo, s->shards, &shard);
    uint64_t x = blyi_fuse_mixed(h, small ? s->seed : blyi_load64le(body + 8 * shard));
    uint64_t first = blyi_mulhi(place, s->span), base = s->heading + shard * s->shard;
    blyi_fuse_trio t = small ? blyi_fuse_small_trio(first, x, s->segment)
                             : blyi_fuse_trio_of(first, x, s->segment);
    uint64_t a = base + t.a * s->bits, b = base + t.b * s->bits, c = base + t.c * s->bits;
    blyi_prefetch_to_read(body + (a >> 3));
    blyi_prefetch_to_read(body + (b >> 3));
    blyi_prefetch_to_read(body + (c >> 3));
    out->a = a;
    out->b = b;
    out->c = c;
    out->x = x;
}

/* Loads no more bytes than a slot can be in: a load that runs into the next cache line for nothing
 * is a miss for nothing. */
INLINE uint64_t load_at(const uint8_t *body, uint64_t bit, unsigned bytes) {
    const uint8_t *from = body + (bit >> 3);
    uint64_t word = bytes == 2   ? (uint64_t)(from[0] | from[1] << 8)
                    : bytes == 4 ? blyi_load32le(from)
                                 : blyi_load64le(from);
    return word >> (bit & 7);
}

INLINE bool has(const uint8_t *body, uint64_t mask, const spot *p, unsigned bytes) {
    uint64_t all =
        load_at(body, p->a, bytes) ^ load_at(body, p->b, bytes) ^ load_at(body, p->c, bytes);
    return ((all ^ p->x) & mask) == 0;
}

/* What is known when the loop is compiled: the bytes that a slot can be in, the bits of a
 * fingerprint (0: any), and whether the filter is small. */
typedef struct form {
    unsigned bytes, bits;
    bool small;
} form;

/* For each of n keys from `at` on, n <= BLYI_BATCH_GROUP: an answer for the spot there is, if
 * `answers` is not NULL, and then the key's own spot in its place. Both are in one loop, as in
 * simd/turn.h, but hashing is not: it is as long as the rest, and what a processor looks ahead
 * would be the hash of a key or two. */
INLINE void turn(const bly_filter *f, const blyi_fuse_shape *s, const query *q, size_t at, size_t n,
                 spot *spots, uint8_t *answers, form how) {
    bly_hash own[BLYI_BATCH_GROUP];
    const bly_hash *h = q->keys ? own : q->hashes + at;
    const uint8_t *body = f->body;
    if (q->keys)
        blyi_batch_hash(f, q->keys + at, n, own);
    for (size_t i = 0; i < n; i++) {
        if (answers)
            answers[i] = has(body, s->mask, spots + i, how.bytes);
        spot_of(body, s, h[i], how.small, spots + i);
    }
}

/* As in batch.c, but the window is one of spots. Finding them is most of the work, and would be
 * done twice. */
INLINE size_t ask_as(const bly_filter *f, const blyi_fuse_shape *shape, const query *asked,
                     form how) {
    blyi_fuse_shape s = *shape;
    const query q = *asked;
    spot ring[SPOTS];
    uint8_t unseen[BLYI_BATCH_GROUP];
    size_t hits = 0, head = 0, tail = 0, some;
    if (how.bits) {
        s.bits = how.bits;
        s.mask = ((uint64_t)1 << how.bits) - 1;
    }
    for (; head < blyi_min_size(q.n, SPOTS); head += some) {
        some = blyi_min_size(q.n - head, BLYI_BATCH_GROUP);
        turn(f, &s, &q, head, some, ring + head, NULL, how);
    }
    for (; tail < q.n; tail += some) {
        uint8_t *answers = q.found ? q.found + tail : unseen;
        spot *spots = ring + tail % SPOTS;
        size_t next = blyi_min_size(q.n - head, BLYI_BATCH_GROUP);
        some = blyi_min_size(q.n - tail, BLYI_BATCH_GROUP);
        turn(f, &s, &q, head, next, spots, answers, how);
        head += next;
        for (size_t i = next; i < some; i++)
            answers[i] = has(f->body, s.mask, spots + i, how.bytes);
        for (size_t i = 0; i < some; i++)
            hits += answers[i];
    }
    return hits;
}

static size_t ask_any(const bly_filter *f, const query *q) {
    const bool small = blyi_fuse_is_small(&f->geometry);
    const blyi_fuse_shape s = shape_to_ask(f);
    if (f->items == 0) { /* there is nothing to ask */
        if (q->found)
            memset(q->found, 0, q->n);
        return 0;
    }
    if (!small && s.bits == USUAL_BITS)
        return ask_as(f, &s, q, (form){2, USUAL_BITS, false});
    switch (blyi_fuse_load_bytes(f->geometry.hashes)) {
    case 2:
        return small ? ask_as(f, &s, q, (form){2, 0, true}) : ask_as(f, &s, q, (form){2, 0, false});
    case 4:
        return small ? ask_as(f, &s, q, (form){4, 0, true}) : ask_as(f, &s, q, (form){4, 0, false});
    default:
        return small ? ask_as(f, &s, q, (form){8, 0, true}) : ask_as(f, &s, q, (form){8, 0, false});
    }
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    return ask_any(f, &(query){.hashes = h, .n = n, .found = found});
}

static size_t ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found) {
    return ask_any(f, &(query){.keys = keys, .n = n, .found = found});
}

/* `contains` fetches for itself; this is for those who ask several filters at once. */
static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const bool small = blyi_fuse_is_small(&f->geometry);
    blyi_fuse_shape s = shape_to_ask(f);
    spot unused;
    for (size_t i = 0; i < n; i++)
        spot_of(f->body, &s, h[i], small, &unused);
}

/* ---- look ------------------------------------------------------------------------------------ */

/* A filter that was built is full, by its nature. */
static void stats(const bly_filter *f, bly_stats *out) {
    bool any = out->count != 0;
    out->set_bits = any ? out->bits : 0;
    out->fill = any;
    out->expected_fill = any;
    out->estimated_keys = (double)out->count;
    if (any)
        out->current_fpr = fmin(1, out->current_fpr + ldexp(1, -(int)f->geometry.hashes));
    out->predicted_fpr = out->current_fpr;
}

/* What is neither a seed nor a slot is 0. */
static bool sound(const blyi_shape *whole, const uint8_t *body) {
    const bly_geometry *g = &whole->geometry;
    const blyi_fuse_shape s = blyi_fuse_shape_of(g);
    uint64_t used = blyi_fuse_slots(g) * s.bits, end = s.shard / 8 - blyi_fuse_is_small(g);
    unsigned stray = 0;
    uint64_t shards = blyi_fuse_shards(g);
    for (uint64_t i = 8 * shards; i < s.heading / 8; i++)
        stray |= body[i];
    for (uint64_t shard = 0; shard < shards; shard++) {
        const uint8_t *slots = body + (s.heading + shard * s.shard) / 8;
        stray |= used % 8 ? (unsigned)slots[used / 8] >> used % 8 : 0;
        for (uint64_t i = (used + 7) / 8; i < end; i++)
            stray |= slots[i];
    }
    return stray == 0;
}

static const blyi_ops fuse_ops = {
    .capabilities = BLY_CAN_MAP | BLY_CAN_BUILD,
    .prefetch = prefetch,
    .contains_many = contains,
    .contains_keys_pipelined = ask,
    .contains_hashes_pipelined = contains,
    .fill_stats = stats,
    .body_is_valid = sound,
    .solver = &blyi_fuse_solver,
};

bly_status bly_fuse_build(const bly_bytes *keys, size_t n, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_FUSE, 0, fpr);
    return bly_filter_build(&spec, keys, n, out);
}

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
    .reason = "built from all keys at once; three cache lines, and small",
    .hashes_name = "bits of a fingerprint",
    .size_unit = "slot",
    .describe_rest = fuse_describe_rest,
    .requires = BLY_NEED_STATIC,
    .planner = &blyi_fuse_planner,
    .ops = &fuse_ops,
};
