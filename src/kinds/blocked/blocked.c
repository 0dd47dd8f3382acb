/* Blocked Bloom filters: sbbf, split512, bb2x512.
 *
 * The idea (Putze, Sanders and Singler 2007): hash each key to one block the size of a cache line
 * and set all of its bits there, so that a lookup costs one cache miss instead of k. Blocks fill
 * unevenly, which costs some space. The layouts trade space for speed:
 *
 *   sbbf      the "split block" of Impala and Parquet: eight 32-bit lanes, one bit in each. One
 *             vector multiply, shift and test per key.
 *   split512  eight 64-bit lanes. Each of the eight 6-bit indices is a slice of the hash itself:
 *             no multiplication. k = 8, 12 or 16.
 *   bb2x512   two blocks of 512 bits per key, k/2 bits anywhere in each. Two blocks average
 *             out the uneven filling: hardly more space than a classic filter at usual rates,
 *             for two cache misses.
 *
 * Block = mulhi(lo, blocks); the bits come from hi (masks.h has the exact rule). For bb2x512 the
 * second block is mulhi(lo * LCG + (hi|1), blocks), and its bits come from (hi * GOLD) ^ (hi>>29).
 * The block index is 64 bits wide: a 32-bit one is not uniform enough from tens of gigabytes on.
 *
 * Body: the blocks one after the other, 32 or 64 bytes each, lanes as little-endian words.
 *
 * Bits per key: docs/choosing.md. (Parquet's published formula ignores the uneven filling, and its
 * filters have 1.5 / 2.1 / 3.2 times the requested FPR at 1% / 0.1% / 0.01%. blocked_plan.c has the
 * formulas used here.)
 */
#include "base/bits.h"
#include "filter/filter.h"
#include "hash/mix.h"
#include "kinds/blocked/blocked_layout.h"
#include "simd/masks.h"

#include <bloomery/filter.h>

/* ---- sbbf and split512: one block per key, tested and set by kernels ------------------------- */

enum { BLOCKED_CHUNK = 32 }; /* block probes computed at a time */

static inline void blocked_prefetch_lines(const bly_filter *f, const bly_hash *h, size_t n,
                                          bool to_write) {
    const uint64_t blocks = f->geometry.size;
    const unsigned shift = f->ops->block_shift;
    for (size_t i = 0; i < n; i++)
        blyi_prefetch(f->body + blyi_block_probe_of(h[i], blocks, shift).at, to_write);
}

static void blocked_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    blocked_prefetch_lines(f, h, n, false);
}

static void blocked_prefetch_add_shared(const bly_filter *f, const bly_hash *h, size_t n) {
    blocked_prefetch_lines(f, h, n, true);
}

/* Serves exclusive and shared filters: f->add_blocks was selected for the sharing mode. */
static size_t blocked_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    const uint64_t blocks = f->geometry.size;
    const unsigned shift = f->ops->block_shift;
    size_t fresh = 0;
    for (size_t done = 0; done < n; done += BLOCKED_CHUNK) {
        size_t some = n - done < BLOCKED_CHUNK ? n - done : BLOCKED_CHUNK;
        blyi_block_probe probes[BLOCKED_CHUNK];
        for (size_t i = 0; i < some; i++)
            probes[i] = blyi_block_probe_of(h[done + i], blocks, shift);
        fresh +=
            f->add_blocks(f->body, probes, some, f->geometry.hashes, added ? added + done : NULL);
    }
    return fresh;
}

static bool blocked_set_words_shared(uint64_t *w, const uint64_t *mask, unsigned n) {
    bool fresh = false;
    for (unsigned j = 0; j < n; j++)
        fresh |= blyi_word_set_shared(w + j, mask[j]);
    return fresh;
}

static bool sbbf_add_block_shared(void *block, uint64_t bits, unsigned k) {
    uint64_t mask[4];
    (void)k;
    blyi_sbbf_mask(bits, mask);
    return blocked_set_words_shared(block, mask, 4);
}

static bool split512_add_block_shared(void *block, uint64_t bits, unsigned k) {
    uint64_t mask[8];
    blyi_split_mask(bits, k, mask);
    return blocked_set_words_shared(block, mask, 8);
}

static inline size_t blocked_add_blocks_shared(uint8_t *body, const blyi_block_probe *s, size_t n,
                                               unsigned k, uint8_t *added, blyi_add_block_fn add) {
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = add(body + s[i].at, s[i].bits, k);
        fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return fresh;
}

static size_t sbbf_add_blocks_shared(void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                                     uint8_t *added) {
    return blocked_add_blocks_shared(blocks, s, n, k, added, sbbf_add_block_shared);
}

static size_t split512_add_blocks_shared(void *blocks, const blyi_block_probe *s, size_t n,
                                         unsigned k, uint8_t *added) {
    return blocked_add_blocks_shared(blocks, s, n, k, added, split512_add_block_shared);
}

static void sbbf_select_kernels(bly_filter *f) {
    bool is_exclusive = f->sharing == BLY_EXCLUSIVE;
    f->contains_block = f->kernels->sbbf_contains_block;
    f->contains_key_xxh3 = f->kernels->sbbf_contains_key;
    f->add_key_xxh3 = is_exclusive ? f->kernels->sbbf_add_key : NULL;
    f->contains_blocks = f->kernels->sbbf_contains_blocks;
    f->add_block = is_exclusive ? f->kernels->sbbf_add_block : sbbf_add_block_shared;
    f->add_blocks = is_exclusive ? f->kernels->sbbf_add_blocks : sbbf_add_blocks_shared;
    f->contains_keys_xxh3 = f->kernels->sbbf_contains_keys;
    f->add_keys_xxh3 = is_exclusive ? f->kernels->sbbf_add_keys : NULL;
}

static void split512_select_kernels(bly_filter *f) {
    bool is_exclusive = f->sharing == BLY_EXCLUSIVE;
    f->contains_block = f->kernels->split_contains_block;
    f->contains_blocks = f->kernels->split_contains_blocks;
    f->add_block = is_exclusive ? f->kernels->split_add_block : split512_add_block_shared;
    f->add_blocks = is_exclusive ? f->kernels->split_add_blocks : split512_add_blocks_shared;
    unsigned row = f->geometry.hashes / 4 - 2; /* 0, 1, 2 for k = 8, 12, 16 */
    f->contains_key_xxh3 = f->kernels->split_contains_key[row];
    f->add_key_xxh3 = is_exclusive ? f->kernels->split_add_key[row] : NULL;
    f->contains_keys_xxh3 = f->kernels->split_contains_keys[row];
    f->add_keys_xxh3 = is_exclusive ? f->kernels->split_add_keys[row] : NULL;
}

/* ---- bb2x512: two blocks per key ------------------------------------------------------------- */

static inline blyi_block_probe bb2x512_first_probe(const bly_filter *f, bly_hash h) {
    return blyi_block_probe_of(h, f->geometry.size, 6);
}

static inline blyi_block_probe bb2x512_second_probe(const bly_filter *f, bly_hash h) {
    bly_hash other = {h.lo * BLYI_LCG + (h.hi | 1), (h.hi * BLYI_GOLD) ^ h.hi >> 29};
    return blyi_block_probe_of(other, f->geometry.size, 6);
}

static inline void bb2x512_prefetch_lines(const bly_filter *f, const bly_hash *h, size_t n,
                                          bool to_write) {
    for (size_t i = 0; i < n; i++) {
        blyi_prefetch(f->body + bb2x512_first_probe(f, h[i]).at, to_write);
        blyi_prefetch(f->body + bb2x512_second_probe(f, h[i]).at, to_write);
    }
}

static void bb2x512_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    bb2x512_prefetch_lines(f, h, n, false);
}

static void bb2x512_prefetch_add_shared(const bly_filter *f, const bly_hash *h, size_t n) {
    bb2x512_prefetch_lines(f, h, n, true);
}

/* All bits are tested before the result is used: a branch per bit would cost more. */
static bool bb2x512_block_contains(const bly_filter *f, blyi_block_probe s) {
    const uint64_t *words = blyi_words(f) + s.at / 8;
    uint64_t all = 1, w = s.bits;
    unsigned left = 7;
    for (unsigned j = 0; j < f->geometry.hashes / 2; j++) {
        unsigned at = blyi_pair_next(&w, &left);
        all &= blyi_word_get(words + (at >> 6)) >> (at & 63);
    }
    return all & 1;
}

static inline bool bb2x512_block_add(bly_filter *f, blyi_block_probe s,
                                     bool (*set)(uint64_t *, uint64_t)) {
    uint64_t *words = blyi_words(f) + s.at / 8, w = s.bits;
    unsigned left = 7;
    bool fresh = false;
    for (unsigned j = 0; j < f->geometry.hashes / 2; j++) {
        unsigned at = blyi_pair_next(&w, &left);
        fresh |= set(words + (at >> 6), (uint64_t)1 << (at & 63));
    }
    return fresh;
}

static size_t bb2x512_contains_many(const bly_filter *f, const bly_hash *h, size_t n,
                                    uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = bb2x512_block_contains(f, bb2x512_first_probe(f, h[i])) &&
                   bb2x512_block_contains(f, bb2x512_second_probe(f, h[i]));
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

static inline size_t bb2x512_add_in(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                    bool (*set)(uint64_t *, uint64_t)) {
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = bb2x512_block_add(f, bb2x512_first_probe(f, h[i]), set);
        is_new |= bb2x512_block_add(f, bb2x512_second_probe(f, h[i]), set);
        fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return fresh;
}

static size_t bb2x512_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    return bb2x512_add_in(f, h, n, added, blyi_word_set);
}

static size_t bb2x512_add_many_shared(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    return bb2x512_add_in(f, h, n, added, blyi_word_set_shared);
}

/* ---- the FPR that follows from the bits: the mean over blocks -------------------------------- */

static double sbbf_current_fpr(const bly_filter *f) {
    const uint64_t *w = blyi_words(f);
    double sum = 0;
    for (uint64_t b = 0; b < f->geometry.size; b++) {
        double rate = 1;
        for (unsigned j = 0; j < 4; j++, w++) {
            uint64_t x = blyi_word_get(w);
            rate *= blyi_popcount64(x << 32) / 32.0 * (blyi_popcount64(x >> 32) / 32.0);
        }
        sum += rate;
    }
    return sum / (double)f->geometry.size;
}

static double split512_current_fpr(const bly_filter *f) {
    const uint64_t *w = blyi_words(f);
    double sum = 0;
    for (uint64_t b = 0; b < f->geometry.size; b++) {
        double low = 1, high = 1;
        for (unsigned j = 0; j < 4; j++, w++) {
            low *= blyi_popcount64(blyi_word_get(w)) / 64.0;
            high *= blyi_popcount64(blyi_word_get(w + 4)) / 64.0;
        }
        w += 4;
        double once = low * high;
        /* With k = 12 half of all keys probe each lower lane twice, the others each upper lane. */
        double more = f->geometry.hashes == 16   ? once
                      : f->geometry.hashes == 12 ? (low + high) / 2
                                                 : 1;
        sum += once * more;
    }
    return sum / (double)f->geometry.size;
}

static double bb2x512_current_fpr(const bly_filter *f) {
    const uint64_t *w = blyi_words(f);
    double sum = 0;
    for (uint64_t b = 0; b < f->geometry.size; b++) {
        unsigned set = 0;
        for (unsigned j = 0; j < 8; j++, w++)
            set += blyi_popcount64(blyi_word_get(w));
        double rate = 1;
        for (unsigned j = 0; j < f->geometry.hashes / 2; j++)
            rate *= set / 512.0;
        sum += rate;
    }
    double mean = sum / (double)f->geometry.size;
    return mean * mean;
}

/* ---- fold: OR `divisor` neighbouring blocks -------------------------------------------------- */

static void blocked_fold(const bly_filter *from, uint64_t divisor, bly_filter *to) {
    size_t lanes = from->geometry.kind == BLY_SBBF ? 4 : 8;
    const uint64_t *source = blyi_words(from);
    uint64_t *target = blyi_words(to);
    for (uint64_t b = 0; b < from->geometry.size; b++)
        for (size_t j = 0; j < lanes; j++)
            target[b / divisor * lanes + j] |= source[b * lanes + j];
}

bly_status bly_filter_new(uint64_t capacity, double fpr, bly_filter **out) {
    const bly_spec spec = bly_spec_for(bly_plan_kind(fpr), capacity, fpr);
    return bly_filter_create(&spec, out);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

enum {
    BLOCKED_CAPABILITIES = BLY_CAN_ADD | BLY_CAN_SHARE | BLY_CAN_UNION | BLY_CAN_INTERSECT |
                           BLY_CAN_FOLD | BLY_CAN_OVERLAP | BLY_CAN_MAP
};

static const blyi_ops sbbf_ops = {
    .capabilities = BLOCKED_CAPABILITIES,
    .block_shift = 5,
    .select_kernels = sbbf_select_kernels,
    .prefetch = blocked_prefetch,
    .prefetch_add_shared = blocked_prefetch_add_shared,
    .add_many = blocked_add_many,
    .add_many_shared = blocked_add_many,
    .contains_many = blyi_blocks_contain_many,
    .current_fpr = sbbf_current_fpr,
    .fold = blocked_fold,
    .prefetch_reads_no_body = true,
};

static const blyi_ops split512_ops = {
    .capabilities = BLOCKED_CAPABILITIES,
    .block_shift = 6,
    .select_kernels = split512_select_kernels,
    .prefetch = blocked_prefetch,
    .prefetch_add_shared = blocked_prefetch_add_shared,
    .add_many = blocked_add_many,
    .add_many_shared = blocked_add_many,
    .contains_many = blyi_blocks_contain_many,
    .current_fpr = split512_current_fpr,
    .fold = blocked_fold,
    .prefetch_reads_no_body = true,
};

static const blyi_ops bb2x512_ops = {
    .capabilities = BLOCKED_CAPABILITIES,
    .prefetch = bb2x512_prefetch,
    .prefetch_add_shared = bb2x512_prefetch_add_shared,
    .add_many = bb2x512_add_many,
    .add_many_shared = bb2x512_add_many_shared,
    .contains_many = bb2x512_contains_many,
    .current_fpr = bb2x512_current_fpr,
    .fold = blocked_fold,
    .prefetch_reads_no_body = true,
};

const blyi_kind blyi_kind_sbbf = {
    .code = BLY_SBBF,
    .name = "sbbf",
    .article = "an",
    .meaning = "eight bits in one block of 32 bytes; the fastest",
    .reason =
        "the fastest: a lookup reads half a cache line and tests it with one vector instruction",
    .planner = &blyi_sbbf_planner,
    .ops = &sbbf_ops,
};

const blyi_kind blyi_kind_split512 = {
    .code = BLY_SPLIT512,
    .name = "split512",
    .meaning = "all bits in one block of 64 bytes; fast",
    .reason = "the smallest of the kinds whose lookups read one cache line",
    .planner = &blyi_split512_planner,
    .ops = &split512_ops,
};

const blyi_kind blyi_kind_bb2x512 = {
    .code = BLY_BB2X512,
    .name = "bb2x512",
    .meaning = "half the bits in each of two blocks of 64 bytes; fast and small",
    .reason = "a lookup reads two cache lines; hardly larger than classic at rates down to 0.01%",
    .planner = &blyi_bb2x512_planner,
    .ops = &bb2x512_ops,
};
