/* Homogeneous ribbon: the smallest kind there is.
 *
 * The idea (Dillinger and Walzer 2021, "Ribbon filter"; Dillinger, Huebschle-Schneider, Sanders and
 * Walzer 2022, "Fast succinct retrieval and approximate membership using ribbon"): think of a long
 * row of slots, each holding r bits. A key owns a window of 128 slots and says which of them count
 * for it; it is in the filter when the bits of those slots, added without carry, give zero in each
 * of the r columns. Building solves that system of equations for all keys (ribbon_solve.c). Since
 * the right sides are all zero it always has a solution: building cannot fail, wants no luck, and
 * has no seed to search for. A stranger passes with probability 2^-r, and a key costs r bits and
 * a few percent (plan_ribbon.c has how many and why).
 *
 * Where. The keys are spread over shards of about two million, which are solved by themselves. With
 * B the blocks of a shard, the window of a key is
 *
 *     shard = mulhi(lo, shards)     start = mulhi(lo * shards, 128 B - 127)
 *
 * and of the 128 slots from there on, slot i counts if it is the first, or if bit i % 128 is set in
 *
 *     hi | fmix64(hi + GOLD) << 64
 *
 * Body. The shards, one after the other; of each its blocks of 128 slots; of each block its columns
 * of 16 bytes, slot i of the block being bit i of the column. The first W = floor(B e / 256) blocks
 * of a shard are wide, they have r+1 columns, and the others have r. A window lies in one block, or
 * in two neighbours, and is tested in all the columns that they have in common. So e chooses a rate
 * between 2^-r and 2^-(r+1); for it a column is kept in just as many blocks as it takes.
 *
 * Queries. Slot i of a shard has bit i % 128 of the coefficients, and of its block, so nothing is
 * shifted: a mask splits the coefficients at the window's start, and a column is two ANDs of 128
 * bits, one XOR and a parity. Four columns are tested at a time; three strangers in fifty need
 * more.
 *
 * Bits per key at 1% / 0.1% / 0.01%: 7.1 / 10.6 / 14.3; the bound is log2(1/p) = 6.64 / 9.97 /
 * 13.29.
 */
#include "ribbon_band.h"

#include <bloomery/build.h>
#include <bloomery/ribbon.h>

#include <string.h>

enum { CHUNK = 16 }; /* sights at a time */

/* A window that starts where a block does lies in that alone, and it may be the last: the second
 * block is then the first again, under a mask of 0. */
static inline blyi_sight look(const bly_filter *f, const blyi_ribbon *r, bly_hash h) {
    uint64_t start = blyi_band_start(r, h), block = start / BLYI_RIBBON_SLOTS;
    unsigned at = start % BLYI_RIBBON_SLOTS;
    uint64_t wide_before = block < r->wide ? block : r->wide;
    uint64_t word = blyi_shard_of(h, r->shards) * r->words + 2 * (block * r->columns + wide_before);
    unsigned width = r->columns + (block < r->wide);
    blyi_sight s = {.first = blyi_words(f) + word,
                    .columns = r->columns + (block + (at != 0) < r->wide)};
    s.second = s.first + (at ? 2 * width : 0);
    blyi_band b = blyi_band_of(h);
    /* The first block's bits are those from `at` on; bit `at` itself always counts. */
    uint64_t below = (uint64_t)(at / 64) - 1, one = (uint64_t)1 << at % 64;
    uint64_t low = (0 - one) & below, high = (0 - one) | below;
    s.mask[0] = (b.w[0] | one) & low;
    s.mask[1] = (b.w[1] | (one & ~below)) & high;
    s.mask[2] = b.w[0] & ~low;
    s.mask[3] = b.w[1] & ~high;
    return s;
}

/* Of each block the lines of the first four columns: all that most strangers want. */
static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    blyi_ribbon r = blyi_ribbon_of(&f->geometry);
    for (size_t i = 0; i < n; i++) {
        blyi_sight s = look(f, &r, h[i]);
        __builtin_prefetch(s.first);
        __builtin_prefetch(s.first + 7);
        __builtin_prefetch(s.second);
        __builtin_prefetch(s.second + 7);
    }
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    blyi_ribbon r = blyi_ribbon_of(&f->geometry);
    size_t hits = 0;
    if (f->items == 0) { /* nothing was solved for */
        if (found)
            memset(found, 0, n);
        return 0;
    }
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        blyi_sight sights[CHUNK];
        for (size_t i = 0; i < some; i++)
            sights[i] = look(f, &r, h[done + i]);
        hits += f->kernels->ribbon_probe(sights, some, found ? found + done : NULL);
    }
    return hits;
}

/* The body's bits are as good as random: they tell nothing of the keys, and the rate is the same
 * however many there are. */
static void stats(const bly_filter *f, bly_stats *out) {
    bool any = out->count != 0;
    out->set_bits = any ? out->bits : 0;
    out->fill = out->expected_fill = any;
    out->estimated_keys = (double)out->count;
    out->current_fpr = bly_plan_fpr(&f->geometry, out->count, f->hasher.bits);
    out->predicted_fpr = out->current_fpr;
}

const blyi_ops blyi_ribbon_ops = {
    .kind = BLY_RIBBON,
    .capabilities = BLY_CAN_MAP | BLY_CAN_BUILD,
    .prefetch = prefetch,
    .contains = contains,
    .stats = stats,
    .solver = &blyi_ribbon_solver,
};

bly_status bly_ribbon_build(const bly_bytes *keys, size_t n, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_RIBBON, 0, fpr);
    return bly_filter_build(&spec, keys, n, out);
}
