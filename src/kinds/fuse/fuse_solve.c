/* Solves a fuse filter: computes the slots of a shard by peeling. fuse.c describes the algorithm.
 *
 * Speed. Hashes are read part by part. No key of a part has its first slot before that of a key of
 * an earlier part; within a part the order is arbitrary. So adding the keys of a part to their
 * slots touches only the slots of that part and of two more segments, and peeling touches only a
 * few segments at a time. These fit the second-level cache. Peeling needs one word per slot and
 * reads no key again: if a slot has one key left, its word contains that key's x and which of the
 * key's slots this is, and the other two slots follow from that. A thread uses the same memory for
 * all of its shards. (None of this matters much for a small filter, which fuse_core.c solves.)
 */
#include "base/little_endian.h"
#include "base/memory.h"
#include "kinds/fuse/fuse_layout.h"

#include <errno.h>
#include <string.h>

enum {
    FUSE_SEEDS = 8,        /* seeds tried per size */
    FUSE_SMALL_SEEDS = 32, /* the same for a small filter */
    PEEL_BLOCK = 16,       /* segments scanned before the queue is processed */
    PEEL_BYTES = 12,       /* bytes of memory per slot while peeling */
};

typedef struct fuse_peeling {
    bly_filter *f;
    unsigned shard;
    const blyi_shard_reader *reader;
    const bly_allocator *alloc;
    blyi_fuse_layout layout;
    uint64_t seed;
    /* One word per slot of the shard. Bits 0 to 55: the exclusive or of the x of the slot's keys.
     * Bits 56 and 57: the exclusive or, over these keys, of which of the key's three slots this is
     * (0, 1 or 2). Bits 58 to 63: the number of keys. */
    uint64_t *word;
    /* The slots that were found to have exactly one key, in the order in which they were found. No
     * slot is entered twice. While the queue is processed, its beginning is overwritten by the
     * slots from which a key was peeled, in the order of peeling. */
    uint32_t *queue;
    uint64_t slots;
} fuse_peeling;

enum { PEEL_X_BITS = 56, PEEL_COUNT_SHIFT = 58 };

static const uint64_t peel_one_key = (uint64_t)1 << PEEL_COUNT_SHIFT;

BLYI_FUSE_INLINE uint64_t peel_tag(uint64_t x, unsigned which) {
    return (x & (((uint64_t)1 << PEEL_X_BITS) - 1)) | (uint64_t)which << PEEL_X_BITS;
}

BLYI_FUSE_INLINE unsigned peel_which(uint64_t word) {
    return (unsigned)(word >> PEEL_X_BITS & 3);
}

/* For a slot with one key: the key's other two slots, and which of its three slots each of them
 * is. */
typedef struct other_slots {
    uint64_t a, b;
    unsigned which_a, which_b;
} other_slots;

BLYI_FUSE_INLINE other_slots other_slots_of(uint64_t at, uint64_t word, uint64_t segment) {
    unsigned which = peel_which(word);
    uint64_t shift = which == 0 ? 0 : which == 1 ? word >> 42 : word >> 28;
    blyi_fuse_key_slots t =
        blyi_fuse_chain_slots((at ^ (shift & (segment - 1))) - which * segment, word, segment);
    return (other_slots){
        .a = which == 0 ? t.b : t.a,
        .b = which == 2 ? t.b : t.c,
        .which_a = which == 0,
        .which_b = which == 2 ? 1 : 2,
    };
}

/* Adds a key to a slot. Returns false if the slot now has more than 63 keys. */
BLYI_FUSE_INLINE bool peel_add_key(uint64_t *word, uint64_t key) {
    uint64_t now = (*word ^ key) + peel_one_key;
    *word = now;
    return now >= peel_one_key;
}

/* Adds n keys to their slots. Returns false if a slot now has more than 63 keys. */
static bool peel_add_hashes(const fuse_peeling *p, const bly_hash *h, size_t n) {
    const blyi_fuse_layout own = p->layout;
    const uint64_t seed = p->seed;
    uint64_t *word = p->word;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = blyi_fuse_mix(h[i], seed);
        blyi_fuse_key_slots t =
            blyi_fuse_chain_slots(blyi_fuse_first_slot(h[i], &own), x, own.segment);
        good &= peel_add_key(word + t.a, peel_tag(x, 0));
        good &= peel_add_key(word + t.b, peel_tag(x, 1));
        good &= peel_add_key(word + t.c, peel_tag(x, 2));
    }
    return good;
}

/* Adds all keys of the shard to their slots. Sets *good to whether every slot has at most 63
 * keys. */
static bly_status peel_add_all(const fuse_peeling *p, bool *good) {
    bly_status status = BLY_OK;
    *good = true;
    memset(p->word, 0, (size_t)p->slots * sizeof *p->word);
    for (uint64_t i = 0; status == BLY_OK && i < p->reader->parts; i++) {
        size_t n;
        status = blyi_shard_reader_part(p->reader, i, &n);
        if (status == BLY_OK)
            *good &= peel_add_hashes(p, p->reader->buffer, n);
    }
    return status;
}

/* ---- peel ------------------------------------------------------------------------------------ */

/* Removes a key from a slot, and appends the slot to the queue if one key is left. Returns the
 * queue's new end. Has no branch, because whether one key is left is unpredictable. */
BLYI_FUSE_INLINE uint64_t peel_remove_key(const fuse_peeling *p, uint64_t at, uint64_t key,
                                          uint64_t end) {
    uint64_t now = (p->word[at] - peel_one_key) ^ key;
    p->word[at] = now;
    p->queue[end] = (uint32_t)at;
    return end + (now >> PEEL_COUNT_SHIFT == 1);
}

/* Peels as many keys as possible. Returns their number; the slots from which they were peeled are
 * at the beginning of the queue. Scans the slots in blocks, and after each block processes the
 * queue until it is empty. Large blocks keep the queue long, so that the processor always has
 * several keys to work on at once. The work still stays near the segments of the block. (Peeling
 * took 1.5 times as long with small blocks, and also with one block for the whole shard.) */
static uint64_t peel_shard(const fuse_peeling *all) {
    const fuse_peeling p = *all;
    const uint64_t segment = p.layout.segment, block = PEEL_BLOCK * segment;
    uint64_t peeled = 0, begin = 0, end = 0;
    for (uint64_t from = 0; from < p.slots; from += block) {
        uint64_t to = p.slots - from < block ? p.slots : from + block;
        for (uint64_t at = from; at < to; at++) {
            p.queue[end] = (uint32_t)at;
            end += p.word[at] >> PEEL_COUNT_SHIFT == 1;
        }
        while (begin < end) {
            uint32_t at = p.queue[begin++];
            uint64_t word = p.word[at];
            if (word >> PEEL_COUNT_SHIFT != 1)
                continue; /* its key was peeled from another slot */
            other_slots o = other_slots_of(at, word, segment);
            p.queue[peeled++] = at;
            p.word[at] = word - peel_one_key; /* peel_set_slots needs the other bits */
            end = peel_remove_key(&p, o.a, peel_tag(word, o.which_a), end);
            end = peel_remove_key(&p, o.b, peel_tag(word, o.which_b), end);
        }
    }
    return peeled;
}

/* Sets the slots from which keys were peeled, from the last key to the first. The value of a slot
 * replaces its word, which is no longer needed. All other slots have their values already. */
static void peel_set_slots(const fuse_peeling *all, uint64_t peeled) {
    const fuse_peeling p = *all;
    const uint64_t segment = p.layout.segment, mask = p.layout.mask;
    while (peeled > 0) {
        uint64_t at = p.queue[--peeled], word = p.word[at];
        other_slots o = other_slots_of(at, word, segment);
        p.word[at] = (word ^ p.word[o.a] ^ p.word[o.b]) & mask;
    }
}

/* Writes the slots one after the other, r bits each. */
static void fuse_pack_slots(const fuse_peeling *p, uint8_t *to) {
    const unsigned width = (unsigned)p->layout.bits;
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
    for (; used > 0; used = used < 8 ? 0 : used - 8) { /* fewer than 4 bytes may be left */
        *to++ = (uint8_t)bits;
        bits >>= 8;
    }
}

/* ---- keys that peeling leaves ---------------------------------------------------------------- */

/* Whether a key has not been peeled. A key that was peeled has a slot without keys, so the key is
 * left if all of its slots have keys. */
static bool peel_is_left(const fuse_peeling *p, bly_hash h) {
    uint64_t x = blyi_fuse_mix(h, p->seed);
    blyi_fuse_key_slots t =
        blyi_fuse_chain_slots(blyi_fuse_first_slot(h, &p->layout), x, p->layout.segment);
    return p->word[t.a] >> PEEL_COUNT_SHIFT && p->word[t.b] >> PEEL_COUNT_SHIFT &&
           p->word[t.c] >> PEEL_COUNT_SHIFT;
}

/* Copies the hashes of the keys that were not peeled to h, or every hash if `all` is true. */
static bly_status peel_gather(const fuse_peeling *p, bool all, bly_hash *h) {
    bly_status status = BLY_OK;
    for (uint64_t i = 0; status == BLY_OK && i < p->reader->parts; i++) {
        size_t n;
        status = blyi_shard_reader_part(p->reader, i, &n);
        for (size_t j = 0; status == BLY_OK && j < n; j++)
            if (all || peel_is_left(p, p->reader->buffer[j]))
                *h++ = p->reader->buffer[j];
    }
    return status;
}

/* Does what peel_gather does, for `left` hashes, and sorts them, so that their order does not
 * depend on the order in which they were added. Returns BLY_EEXISTS if some are equal. */
static bly_status peel_gather_sorted(const fuse_peeling *p, bool all, uint64_t left, bly_hash *h) {
    const unsigned common = blyi_fuse_shard_log(&p->f->geometry);
    void *block;
    bly_hash *other = blyi_alloc_small_pages(p->alloc, left * sizeof *h, &block);
    if (!other)
        return BLY_ENOMEM;
    bly_status status = peel_gather(p, all, h);
    if (status == BLY_OK && blyi_sort_unique(h, (size_t)left, other, common) < left)
        status = BLY_EEXISTS;
    int saved = errno;
    blyi_free_array(p->alloc, block);
    errno = saved;
    return status;
}

/* Solves the equations of n hashes, and sets their slots. */
static bly_status fuse_solve_left(const fuse_peeling *p, const bly_hash *h, size_t n) {
    const blyi_fuse_layout *s = &p->layout;
    const bool small = blyi_fuse_is_small(&p->f->geometry);
    void *block;
    blyi_fuse_equation *e =
        blyi_alloc_small_pages(p->alloc, n * sizeof *e + p->slots * sizeof(uint32_t), &block);
    if (!e)
        return BLY_ENOMEM;
    uint32_t *value = (uint32_t *)(e + n);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = blyi_fuse_mix(h[i], p->seed), first = blyi_fuse_first_slot(h[i], s);
        blyi_fuse_key_slots all = small ? blyi_fuse_small_slots(first, x, s->segment)
                                        : blyi_fuse_chain_slots(first, x, s->segment);
        e[i] = (blyi_fuse_equation){{(uint32_t)all.a, (uint32_t)all.b, (uint32_t)all.c},
                                    (uint32_t)(x & s->mask)};
    }
    bly_status status = blyi_fuse_solve_equations(e, n, (size_t)p->slots, value, p->alloc);
    for (uint64_t at = 0; status == BLY_OK && at < p->slots; at++)
        if (small || p->word[at] >> PEEL_COUNT_SHIFT)
            p->word[at] = value[at];
    blyi_free_array(p->alloc, block);
    return status;
}

/* ---- the solver ------------------------------------------------------------------------------ */

static bly_status fuse_solve_chain(fuse_peeling *p) {
    bool good;
    bly_status status = BLY_EFULL;
    for (unsigned i = 0; status == BLY_EFULL && i < FUSE_SEEDS; i++) {
        p->seed = blyi_fuse_seed(i);
        status = peel_add_all(p, &good);
        if (status)
            break;
        uint64_t peeled = good ? peel_shard(p) : 0, left = p->reader->total - peeled;
        if (left > 0) {
            void *block;
            bly_hash *h = blyi_alloc_small_pages(p->alloc, left * sizeof *h, &block);
            status = h ? peel_gather_sorted(p, !good, left, h) : BLY_ENOMEM;
            if (status == BLY_OK)
                status = good ? fuse_solve_left(p, h, (size_t)left) : BLY_EFULL;
            int saved = errno;
            blyi_free_array(p->alloc, block);
            errno = saved;
        }
        if (status == BLY_OK)
            peel_set_slots(p, peeled);
    }
    if (status == BLY_OK)
        blyi_store64le(p->f->body + 8 * (uint64_t)p->shard, p->seed);
    return status;
}

static bly_status fuse_solve_small(fuse_peeling *p) {
    void *block;
    const uint64_t n = p->reader->total;
    bly_hash *h = blyi_alloc_small_pages(p->alloc, n * sizeof *h, &block);
    bly_status status = h ? peel_gather_sorted(p, true, n, h) : BLY_ENOMEM;
    unsigned number = 0;
    if (status == BLY_OK)
        status = BLY_EFULL;
    for (; status == BLY_EFULL && number < FUSE_SMALL_SEEDS; number++) {
        p->seed = blyi_fuse_seed(number);
        status = fuse_solve_left(p, h, (size_t)n);
    }
    if (status == BLY_OK)
        p->f->body[p->layout.shard_bits / 8 - 1] = (uint8_t)(number - 1);
    int saved = errno;
    blyi_free_array(p->alloc, block);
    errno = saved;
    return status;
}

static bly_status fuse_solve_shard(bly_filter *f, unsigned shard, const blyi_shard_reader *reader,
                                   void *work, const bly_allocator *a) {
    fuse_peeling p = {
        .f = f,
        .shard = shard,
        .reader = reader,
        .alloc = a,
        .layout = blyi_fuse_layout_of(&f->geometry),
        .word = work,
        .slots = blyi_fuse_shard_slots(&f->geometry),
    };
    p.queue = (uint32_t *)(p.word + p.slots + 1);
    bly_status status =
        blyi_fuse_is_small(&f->geometry) ? fuse_solve_small(&p) : fuse_solve_chain(&p);
    if (status == BLY_OK)
        fuse_pack_slots(&p, f->body + (p.layout.heading_bits + shard * p.layout.shard_bits) / 8);
    return status;
}

static uint64_t fuse_work_bytes(const bly_geometry *g) {
    return (blyi_fuse_shard_slots(g) + 1) * PEEL_BYTES;
}

static uint64_t fuse_scratch_bytes(uint64_t n) {
    return n * PEEL_BYTES * 6 / 5 + 4096;
}

const blyi_solver blyi_fuse_solver = {
    .shard_keys = BLYI_FUSE_SHARD_KEYS,
    .max_shards = BLYI_FUSE_MAX_SHARDS,
    .plan = blyi_fuse_plan,
    .solve_parts = fuse_solve_shard,
    .work_bytes = fuse_work_bytes,
    .scratch_bytes = fuse_scratch_bytes,
};
