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
 * whose hi says little. A seed changes x alone. So hashes sorted by lo are sorted by h0, under
 * every seed, and filling and peeling run through a shard's memory in order, with a few segments'
 * worth of it in the cache. And from x and any one of the slots, and which of the three it is, the
 * other two follow: so the exclusive or of x, and the number of keys, are all that peeling needs to
 * keep of a slot.
 *
 * A set that cannot be peeled (two keys with the same slots; a knot that is too dense) is tried
 * under other seeds, and if several are of no use the builder comes back with more slots. Shards of
 * about a million keys are large enough for 1.125 slots per key, and small enough for the caches.
 *
 * Body: docs/format.md, and core/plan_fuse.h. Where a query looks follows from the geometry and the
 * hash, whatever the seeds: no body can lead it astray.
 *
 * Measured (r = 7, one thread; docs/benchmarks.md): ten million keys are built in 77 to 86 ns each,
 * and up to twice that where the system has to clear new memory first; asked in batches they take
 * 2.0 to 2.3 times as long as in a filter of kind sbbf.
 */
#include "../../core/bytes.h"
#include "../../core/memory.h"
#include "../../core/mix.h"
#include "../../core/plan_fuse.h"
#include "../batch.h"
#include "solver.h"

#include <bloomery/build.h>
#include <bloomery/fuse.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    WINDOW = BLYI_WINDOW / 2, /* keys under way: each has three lines to load */
    TRIES = 8,                /* seeds for one size */
    BLOCK = 16,               /* segments looked at before what was found is followed up */
    PEEL_BYTES = 12,          /* of memory for a slot while it is peeled */
};

/* A filter's shape, worked out once for many keys. */
typedef struct shape {
    uint64_t heading, shard; /* their bits */
    uint64_t span;           /* S * L */
    uint64_t segment;        /* L */
    uint64_t mask;           /* of a fingerprint */
    unsigned bits;           /* r */
    unsigned shard_log;
} shape;

static inline shape shape_of(const bly_geometry *g) {
    uint64_t segment = (uint64_t)1 << blyi_fuse_segment_log(g);
    return (shape){
        .heading = 8 * blyi_fuse_heading_bytes(blyi_fuse_shards(g)),
        .shard = 8 * blyi_fuse_shard_bytes(g),
        .span = blyi_fuse_slots(g) - 2 * segment,
        .segment = segment,
        .mask = ((uint64_t)1 << g->hashes) - 1,
        .bits = g->hashes,
        .shard_log = blyi_fuse_shard_log(g),
    };
}

/* x: see above. */
INLINE uint64_t mixed(bly_hash h, uint64_t seed) {
    uint64_t x = ((h.hi ^ seed) + h.lo) * BLYI_LCG;
    return x ^ x >> 32;
}

/* blyi_shard_of and blyi_shard_place, for a power of two. */
INLINE uint64_t shard_of(bly_hash h, const shape *s) {
    return h.lo >> 1 >> (63 - s->shard_log);
}

INLINE uint64_t first_of(bly_hash h, const shape *s) {
    return blyi_mulhi(h.lo << s->shard_log, s->span);
}

/* A key's slots. */
typedef struct trio {
    uint64_t at[3];
} trio;

INLINE trio trio_of(uint64_t first, uint64_t x, uint64_t segment) {
    return (trio){{first, (first + segment) ^ (x >> 42 & (segment - 1)),
                   (first + 2 * segment) ^ (x >> 28 & (segment - 1))}};
}

/* ---- ask ------------------------------------------------------------------------------------- */

/* The bits of the body where a key's slots begin, and its fingerprint. */
typedef struct spot {
    uint64_t at[3];
    uint64_t want;
} spot;

INLINE spot spot_of(const uint8_t *body, const shape *s, bly_hash h) {
    uint64_t shard = shard_of(h, s), base = s->heading + shard * s->shard;
    uint64_t x = mixed(h, blyi_load64le(body + 8 * shard));
    trio t = trio_of(first_of(h, s), x, s->segment);
    return (spot){{base + t.at[0] * s->bits, base + t.at[1] * s->bits, base + t.at[2] * s->bits},
                  x & s->mask};
}

INLINE void fetch(const uint8_t *body, const spot *p) {
    for (unsigned j = 0; j < 3; j++)
        __builtin_prefetch(body + (p->at[j] >> 3));
}

/* Loads no more bytes than a slot can be in (2, 4 or 8): a load that runs into the next cache line
 * for nothing is a miss for nothing. */
INLINE uint64_t load_at(const uint8_t *body, uint64_t bit, unsigned bytes) {
    const uint8_t *from = body + (bit >> 3);
    uint64_t word = bytes == 2   ? (uint64_t)(from[0] | from[1] << 8)
                    : bytes == 4 ? blyi_load32le(from)
                                 : blyi_load64le(from);
    return word >> (bit & 7);
}

INLINE bool has(const uint8_t *body, const shape *s, const spot *p, unsigned bytes) {
    uint64_t all = load_at(body, p->at[0], bytes) ^ load_at(body, p->at[1], bytes) ^
                   load_at(body, p->at[2], bytes);
    return (all & s->mask) == p->want;
}

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const shape s = shape_of(&f->geometry);
    for (size_t i = 0; i < n; i++) {
        spot p = spot_of(f->body, &s, h[i]);
        fetch(f->body, &p);
    }
}

INLINE size_t contains_in(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found,
                          unsigned bytes) {
    const shape s = shape_of(&f->geometry);
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        spot p = spot_of(f->body, &s, h[i]);
        bool hit = has(f->body, &s, &p, bytes);
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

/* Finds n spots, and starts loading their lines. */
INLINE void locate(const bly_filter *f, const shape *s, const bly_bytes *keys, size_t n,
                   spot *out) {
    bly_hash h[BLYI_GROUP];
    f->hasher.many(&f->hasher, keys, n, h);
    for (size_t i = 0; i < n; i++) {
        spot p = spot_of(f->body, s, h[i]);
        fetch(f->body, &p);
        out[i] = p;
    }
}

INLINE size_t probe(const bly_filter *f, const shape *s, const spot *p, size_t n, uint8_t *found,
                    unsigned bytes) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = has(f->body, s, p + i, bytes);
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

/* A batch of keys: as in batch.c, but the window is one of spots. Finding them is most of the work,
 * and would be done twice. */
INLINE size_t ask_in(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found,
                     unsigned bytes) {
    const shape s = shape_of(&f->geometry);
    spot ring[WINDOW];
    size_t hits = 0;
    for (size_t head = 0, tail = 0, some; tail < n; tail += some) {
        for (; head < n && head - tail < WINDOW; head += some) {
            some = n - head < BLYI_GROUP ? n - head : BLYI_GROUP;
            locate(f, &s, keys + head, some, ring + head % WINDOW);
        }
        some = n - tail < BLYI_GROUP ? n - tail : BLYI_GROUP;
        hits += probe(f, &s, ring + tail % WINDOW, some, found ? found + tail : NULL, bytes);
    }
    return hits;
}

/* Of an empty filter there is nothing to ask. */
static size_t none(size_t n, uint8_t *found) {
    if (found)
        memset(found, 0, n);
    return 0;
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    unsigned r = f->geometry.hashes;
    if (f->items == 0)
        return none(n, found);
    if (r <= 9)
        return contains_in(f, h, n, found, 2);
    return r <= 25 ? contains_in(f, h, n, found, 4) : contains_in(f, h, n, found, 8);
}

static size_t ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found) {
    unsigned r = f->geometry.hashes;
    if (f->items == 0)
        return none(n, found);
    if (r <= 9)
        return ask_in(f, keys, n, found, 2);
    return r <= 25 ? ask_in(f, keys, n, found, 4) : ask_in(f, keys, n, found, 8);
}

/* ---- solve ----------------------------------------------------------------------------------- */

/* Of each slot of a shard, in one word: the exclusive or of its keys' x, as far as it is used (56
 * bits); above it that of which of the key's slots it is, 0, 1 or 2; and above that the number of
 * keys. And the slots found to have one key: a queue, at whose beginning the slots peeled so far
 * are kept, in order. A slot gets there once. */
typedef struct peeling {
    uint64_t *word;
    uint32_t *queue;
    uint64_t slots;
} peeling;

enum { X_BITS = 56, COUNT_AT = 58 };

static const uint64_t one_key = (uint64_t)1 << COUNT_AT;

INLINE uint64_t tagged(uint64_t x, unsigned which) {
    return (x & (((uint64_t)1 << X_BITS) - 1)) | (uint64_t)which << X_BITS;
}

INLINE unsigned which_of(uint64_t word) {
    return (unsigned)(word >> X_BITS & 3);
}

/* The other two slots of the only key of a slot. */
typedef struct others {
    uint64_t at[2];
    unsigned which[2];
} others;

INLINE others others_of(uint64_t at, uint64_t word, uint64_t segment) {
    unsigned which = which_of(word);
    uint64_t shift = which == 0 ? 0 : which == 1 ? word >> 42 : word >> 28;
    trio t = trio_of((at ^ (shift & (segment - 1))) - which * segment, word, segment);
    return (others){{which == 0 ? t.at[1] : t.at[0], which == 2 ? t.at[1] : t.at[2]},
                    {which == 0, which == 2 ? 1 : 2}};
}

/* False when a slot has more than 63 keys. */
static bool fill_slots(const peeling *p, const shape *s, const bly_hash *h, size_t n,
                       uint64_t seed) {
    const shape own = *s;
    uint64_t *word = p->word;
    bool wrapped = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = mixed(h[i], seed);
        trio t = trio_of(first_of(h[i], &own), x, own.segment);
        for (unsigned j = 0; j < 3; j++) {
            uint64_t now = (word[t.at[j]] ^ tagged(x, j)) + one_key;
            word[t.at[j]] = now;
            wrapped |= now < one_key;
        }
    }
    return !wrapped;
}

/* Takes a key out of a slot, and appends the slot to the queue if it is left with one key. Returns
 * the queue's new end. Whether it is so is as good as random: hence no branch. */
INLINE uint64_t take_out(const peeling *p, uint64_t at, uint64_t key, uint64_t end) {
    uint64_t now = (p->word[at] - one_key) ^ key;
    p->word[at] = now;
    p->queue[end] = (uint32_t)at;
    return end + (now >> COUNT_AT == 1);
}

/* Returns how many keys could be peeled: the slots are in p->queue. Goes through the slots in
 * blocks, and each time through all that follows from what it has found. Large blocks keep the
 * queue long, so that there are always several keys to work on at once; still it stays near the
 * segments at hand. (Small blocks, and a single one, took half as long again.) */
static uint64_t peel(const peeling *all, const shape *s) {
    const peeling p = *all;
    const uint64_t segment = s->segment, block = BLOCK * segment;
    uint64_t peeled = 0, begin = 0, end = 0;
    for (uint64_t from = 0; from < p.slots; from += block) {
        uint64_t to = p.slots - from < block ? p.slots : from + block;
        for (uint64_t at = from; at < to; at++) {
            p.queue[end] = (uint32_t)at;
            end += p.word[at] >> COUNT_AT == 1;
        }
        while (begin < end) {
            uint32_t at = p.queue[begin++];
            uint64_t word = p.word[at];
            if (word >> COUNT_AT != 1)
                continue; /* its key has left through another slot */
            others o = others_of(at, word, segment);
            p.queue[peeled++] = at;
            p.word[at] = word - one_key; /* x, and which it is, stay for later */
            end = take_out(&p, o.at[0], tagged(word, o.which[0]), end);
            end = take_out(&p, o.at[1], tagged(word, o.which[1]), end);
        }
    }
    return peeled;
}

/* From the last key peeled to the first. A slot's word is needed no more once its key has set it,
 * and makes room for what it holds; those that no key was left to are 0. */
static void set_slots(const peeling *all, const shape *s, uint64_t peeled) {
    const peeling p = *all;
    const uint64_t segment = s->segment, mask = s->mask;
    while (peeled > 0) {
        uint64_t at = p.queue[--peeled], word = p.word[at];
        others o = others_of(at, word, segment);
        p.word[at] = (word ^ p.word[o.at[0]] ^ p.word[o.at[1]]) & mask;
    }
}

/* Writes the slots one after the other, r bits each. */
static void pack_slots(const peeling *p, const shape *s, uint8_t *to) {
    uint64_t bits = 0;
    unsigned used = 0;
    for (uint64_t at = 0; at < p->slots; at++) {
        bits |= p->word[at] << used;
        used += s->bits;
        if (used >= 32) {
            blyi_store32le(to, (uint32_t)bits);
            to += 4;
            bits >>= 32;
            used -= 32;
        }
    }
    blyi_store32le(to, (uint32_t)bits);
}

static uint64_t seed_of(unsigned attempt) {
    return blyi_fmix64(attempt * BLYI_GOLD);
}

static bly_status solve(bly_filter *f, unsigned shard, bly_hash *h, size_t n,
                        const bly_allocator *a) {
    const shape s = shape_of(&f->geometry);
    peeling p = {.slots = blyi_fuse_slots(&f->geometry)};
    void *block;
    p.word = blyi_alloc_array(a, (p.slots + 1) * PEEL_BYTES, &block);
    if (!p.word)
        return BLY_ENOMEM;
    p.queue = (uint32_t *)(p.word + p.slots + 1);
    bly_status status = BLY_EFULL;
    for (unsigned attempt = 0; status == BLY_EFULL && attempt < TRIES; attempt++) {
        if (attempt > 0)
            memset(p.word, 0, (size_t)p.slots * sizeof *p.word);
        if (!fill_slots(&p, &s, h, n, seed_of(attempt)) || peel(&p, &s) != n)
            continue;
        blyi_store64le(f->body + 8 * (uint64_t)shard, seed_of(attempt));
        set_slots(&p, &s, n);
        pack_slots(&p, &s, f->body + (s.heading + shard * s.shard) / 8);
        status = BLY_OK;
    }
    blyi_free_array(a, block);
    return status;
}

static uint64_t scratch(uint64_t n) {
    return n * PEEL_BYTES * 6 / 5 + 4096;
}

static const blyi_solver solver = {
    .shard_keys = BLYI_FUSE_SHARD_KEYS,
    .max_shards = BLYI_FUSE_MOST_SHARDS,
    .plan = blyi_fuse_plan,
    .solve = solve,
    .scratch = scratch,
};

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
    const shape s = shape_of(g);
    uint64_t used = blyi_fuse_slots(g) * s.bits;
    unsigned stray = 0;
    uint64_t shards = blyi_fuse_shards(g);
    for (uint64_t i = 8 * shards; i < s.heading / 8; i++)
        stray |= body[i];
    for (uint64_t shard = 0; shard < shards; shard++) {
        const uint8_t *slots = body + (s.heading + shard * s.shard) / 8;
        stray |= used % 8 ? (unsigned)slots[used / 8] >> used % 8 : 0;
        for (uint64_t i = (used + 7) / 8; i < s.shard / 8; i++)
            stray |= slots[i];
    }
    return stray == 0;
}

const blyi_ops blyi_fuse_ops = {
    .kind = BLY_FUSE,
    .capabilities = BLY_CAN_MAP | BLY_CAN_BUILD,
    .prefetch = prefetch,
    .contains = contains,
    .ask = ask,
    .stats = stats,
    .sound = sound,
    .solver = &solver,
};

bly_status bly_fuse_build(const bly_bytes *keys, size_t n, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_FUSE, 0, fpr);
    return bly_filter_build(&spec, keys, n, out);
}
