/* Working out the slots of a fuse filter: the algorithm is described in fuse.c.
 *
 * Speed. Hashes come in parts, in the order of their first slots but in none within a part. So
 * filling stays within the slots of a part and two segments more, and peeling within a few
 * segments: all of it in the second cache. Of what is known of a slot there is one word; x, a slot
 * and which of the three it is tell the other two, so no key is looked up again. The memory is the
 * same for all shards. (For a small filter all that matters little: it is left to fuse_core.c.)
 */
#include "base/bytes.h"
#include "base/memory.h"
#include "kinds/builder/sort.h"
#include "kinds/fuse/fuse_core.h"
#include "kinds/fuse/fuse_shape.h"

#include <errno.h>
#include <string.h>

#define INLINE BLYI_FUSE_INLINE

enum {
    TRIES = 8,        /* seeds for one size */
    SMALL_TRIES = 32, /* of a small filter */
    BLOCK = 16,       /* segments looked at before what was found is followed up */
    PEEL_BYTES = 12,  /* of memory for a slot while it is peeled */
};

typedef struct peeling {
    bly_filter *f;
    unsigned shard;
    const blyi_feed *feed;
    const bly_allocator *alloc;
    blyi_fuse_shape shape;
    uint64_t seed;
    /* Of each slot of the shard, in one word: the exclusive or of its keys' x, as far as it is used
     * (56 bits); above it that of which of the key's slots it is, 0, 1 or 2; and above that the
     * number of keys. */
    uint64_t *word;
    /* The slots found to have one key: a queue, at whose beginning the slots peeled so far are
     * kept, in order. A slot gets there once. */
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

/* The other two slots of the only key of a slot, and which they are. */
typedef struct others {
    uint64_t a, b;
    unsigned which_a, which_b;
} others;

INLINE others others_of(uint64_t at, uint64_t word, uint64_t segment) {
    unsigned which = which_of(word);
    uint64_t shift = which == 0 ? 0 : which == 1 ? word >> 42 : word >> 28;
    blyi_fuse_trio t =
        blyi_fuse_trio_of((at ^ (shift & (segment - 1))) - which * segment, word, segment);
    return (others){
        .a = which == 0 ? t.b : t.a,
        .b = which == 2 ? t.b : t.c,
        .which_a = which == 0,
        .which_b = which == 2 ? 1 : 2,
    };
}

/* Adds a key to a slot; false when it has more than 63 now. */
INLINE bool put_in(uint64_t *word, uint64_t key) {
    uint64_t now = (*word ^ key) + one_key;
    *word = now;
    return now >= one_key;
}

/* False when a slot has more than 63 keys. */
static bool fill_slots(const peeling *p, const bly_hash *h, size_t n) {
    const blyi_fuse_shape own = p->shape;
    const uint64_t seed = p->seed;
    uint64_t *word = p->word;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = blyi_fuse_mixed(h[i], seed);
        blyi_fuse_trio t = blyi_fuse_trio_of(blyi_fuse_first(h[i], &own), x, own.segment);
        good &= put_in(word + t.a, tagged(x, 0));
        good &= put_in(word + t.b, tagged(x, 1));
        good &= put_in(word + t.c, tagged(x, 2));
    }
    return good;
}

/* *good: whether no slot has more than 63 keys. */
static bly_status fill_all(const peeling *p, bool *good) {
    bly_status status = BLY_OK;
    *good = true;
    memset(p->word, 0, (size_t)p->slots * sizeof *p->word);
    for (uint64_t i = 0; status == BLY_OK && i < p->feed->parts; i++) {
        size_t n;
        status = blyi_feed_part(p->feed, i, &n);
        if (status == BLY_OK)
            *good &= fill_slots(p, p->feed->room, n);
    }
    return status;
}

/* ---- peel ------------------------------------------------------------------------------------ */

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
static uint64_t peel(const peeling *all) {
    const peeling p = *all;
    const uint64_t segment = p.shape.segment, block = BLOCK * segment;
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
            end = take_out(&p, o.a, tagged(word, o.which_a), end);
            end = take_out(&p, o.b, tagged(word, o.which_b), end);
        }
    }
    return peeled;
}

/* From the last key peeled to the first. A slot's word is needed no more once its key has set it,
 * and makes room for what it holds; those that no key was left to are set already. */
static void set_slots(const peeling *all, uint64_t peeled) {
    const peeling p = *all;
    const uint64_t segment = p.shape.segment, mask = p.shape.mask;
    while (peeled > 0) {
        uint64_t at = p.queue[--peeled], word = p.word[at];
        others o = others_of(at, word, segment);
        p.word[at] = (word ^ p.word[o.a] ^ p.word[o.b]) & mask;
    }
}

/* Writes the slots one after the other, r bits each. */
static void pack_slots(const peeling *p, uint8_t *to) {
    const unsigned width = (unsigned)p->shape.bits;
    uint64_t bits = 0;
    unsigned used = 0;
    for (uint64_t at = 0; at < p->slots; at++) {
        bits |= p->word[at] << used;
        used += width;
        if (used >= 32) {
            blyi_store32le(to, (uint32_t)bits);
            to += 4;
            bits >>= 32;
            used -= 32;
        }
    }
    for (; used > 0; used = used < 8 ? 0 : used - 8) { /* there may be no 4 bytes left */
        *to++ = (uint8_t)bits;
        bits >>= 8;
    }
}

/* ---- what is left over ----------------------------------------------------------------------- */

/* Whether a key has not been peeled: no slot was left to it. */
static bool is_left(const peeling *p, bly_hash h) {
    uint64_t x = blyi_fuse_mixed(h, p->seed);
    blyi_fuse_trio t = blyi_fuse_trio_of(blyi_fuse_first(h, &p->shape), x, p->shape.segment);
    return p->word[t.a] >> COUNT_AT && p->word[t.b] >> COUNT_AT && p->word[t.c] >> COUNT_AT;
}

/* Copies the hashes that are left, or with `all` every one, to h. */
static bly_status gather(const peeling *p, bool all, bly_hash *h) {
    bly_status status = BLY_OK;
    for (uint64_t i = 0; status == BLY_OK && i < p->feed->parts; i++) {
        size_t n;
        status = blyi_feed_part(p->feed, i, &n);
        for (size_t j = 0; status == BLY_OK && j < n; j++)
            if (all || is_left(p, p->feed->room[j]))
                *h++ = p->feed->room[j];
    }
    return status;
}

/* The same, `left` in number, in an order that does not depend on how they came. BLY_EEXISTS: some
 * are equal. */
static bly_status gather_sorted(const peeling *p, bool all, uint64_t left, bly_hash *h) {
    const unsigned common = blyi_fuse_shard_log(&p->f->geometry);
    void *block;
    bly_hash *other = blyi_alloc_small_pages(p->alloc, left * sizeof *h, &block);
    if (!other)
        return BLY_ENOMEM;
    bly_status status = gather(p, all, h);
    if (status == BLY_OK && blyi_sort_unique(h, (size_t)left, other, common) < left)
        status = BLY_EEXISTS;
    int saved = errno;
    blyi_free_array(p->alloc, block);
    errno = saved;
    return status;
}

/* Solves for n hashes, and sets the slots that they have. */
static bly_status solve_left(const peeling *p, const bly_hash *h, size_t n) {
    const blyi_fuse_shape *s = &p->shape;
    const bool small = blyi_fuse_is_small(&p->f->geometry);
    void *block;
    blyi_triple *t =
        blyi_alloc_small_pages(p->alloc, n * sizeof *t + p->slots * sizeof(uint32_t), &block);
    if (!t)
        return BLY_ENOMEM;
    uint32_t *value = (uint32_t *)(t + n);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = blyi_fuse_mixed(h[i], p->seed), first = blyi_fuse_first(h[i], s);
        blyi_fuse_trio all = small ? blyi_fuse_small_trio(first, x, s->segment)
                                   : blyi_fuse_trio_of(first, x, s->segment);
        t[i] = (blyi_triple){{(uint32_t)all.a, (uint32_t)all.b, (uint32_t)all.c},
                             (uint32_t)(x & s->mask)};
    }
    bly_status status = blyi_core_solve(t, n, (size_t)p->slots, value, p->alloc);
    for (uint64_t at = 0; status == BLY_OK && at < p->slots; at++)
        if (small || p->word[at] >> COUNT_AT)
            p->word[at] = value[at];
    blyi_free_array(p->alloc, block);
    return status;
}

/* ---- the solver ------------------------------------------------------------------------------ */

static bly_status solve_chain(peeling *p) {
    bool good;
    bly_status status = BLY_EFULL;
    for (unsigned i = 0; status == BLY_EFULL && i < TRIES; i++) {
        p->seed = blyi_fuse_seed(i);
        status = fill_all(p, &good);
        if (status)
            break;
        uint64_t peeled = good ? peel(p) : 0, left = p->feed->total - peeled;
        if (left > 0) {
            void *block;
            bly_hash *h = blyi_alloc_small_pages(p->alloc, left * sizeof *h, &block);
            status = h ? gather_sorted(p, !good, left, h) : BLY_ENOMEM;
            if (status == BLY_OK)
                status = good ? solve_left(p, h, (size_t)left) : BLY_EFULL;
            int saved = errno;
            blyi_free_array(p->alloc, block);
            errno = saved;
        }
        if (status == BLY_OK)
            set_slots(p, peeled);
    }
    if (status == BLY_OK)
        blyi_store64le(p->f->body + 8 * (uint64_t)p->shard, p->seed);
    return status;
}

static bly_status solve_small(peeling *p) {
    void *block;
    const uint64_t n = p->feed->total;
    bly_hash *h = blyi_alloc_small_pages(p->alloc, n * sizeof *h, &block);
    bly_status status = h ? gather_sorted(p, true, n, h) : BLY_ENOMEM;
    unsigned number = 0;
    if (status == BLY_OK)
        status = BLY_EFULL;
    for (; status == BLY_EFULL && number < SMALL_TRIES; number++) {
        p->seed = blyi_fuse_seed(number);
        status = solve_left(p, h, (size_t)n);
    }
    if (status == BLY_OK)
        p->f->body[p->shape.shard / 8 - 1] = (uint8_t)(number - 1);
    int saved = errno;
    blyi_free_array(p->alloc, block);
    errno = saved;
    return status;
}

static bly_status solve(bly_filter *f, unsigned shard, const blyi_feed *feed, void *work,
                        const bly_allocator *a) {
    peeling p = {
        .f = f,
        .shard = shard,
        .feed = feed,
        .alloc = a,
        .shape = blyi_fuse_shape_of(&f->geometry),
        .word = work,
        .slots = blyi_fuse_slots(&f->geometry),
    };
    p.queue = (uint32_t *)(p.word + p.slots + 1);
    bly_status status = blyi_fuse_is_small(&f->geometry) ? solve_small(&p) : solve_chain(&p);
    if (status == BLY_OK)
        pack_slots(&p, f->body + (p.shape.heading + shard * p.shape.shard) / 8);
    return status;
}

static uint64_t work(const bly_geometry *g) {
    return (blyi_fuse_slots(g) + 1) * PEEL_BYTES;
}

static uint64_t scratch(uint64_t n) {
    return n * PEEL_BYTES * 6 / 5 + 4096;
}

const blyi_solver blyi_fuse_solver = {
    .shard_keys = BLYI_FUSE_SHARD_KEYS,
    .max_shards = BLYI_FUSE_MAX_SHARDS,
    .plan = blyi_fuse_plan,
    .solve_parts = solve,
    .work = work,
    .scratch = scratch,
};
