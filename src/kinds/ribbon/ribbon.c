/* Homogeneous ribbon: the smallest kind here.
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
 * m the slots of a shard, 128 or more, the window of a key is
 *
 *     shard = mulhi(lo, shards)     place = lo * shards, mixed with the seed unless that is 0
 *                                   start = mulhi(place, m - 127)
 *
 * and of the 128 slots from there on, slot i counts if it is the first, or if bit i % 128 is set in
 *
 *     hi | fmix64(hi + GOLD) << 64
 *
 * With fewer than 128 slots, every window is all of them. The seed is 0, but for a few filters
 * whose keys crowd together somewhere (plan_ribbon.c).
 *
 * Body. The shards, one after the other; of each its blocks of 128 slots; of each block its columns
 * of 16 bytes, slot i of the block being bit i of the column. The first slots of a shard are wide,
 * they have r+1 columns, and the others have r. A window is tested in all the columns that its
 * slots have in common. So the number of wide slots chooses a rate between 2^-r and 2^-(r+1).
 *
 * Edges. Several shards are whole blocks, wide or narrow. A single one is cut to groups of 8 slots,
 * and so are its wide ones: its last block may be short, with columns of so many bytes as there are
 * groups, and one block may be wide in its first slots alone. The bytes of that one's last column
 * come after all blocks. Few windows reach into either; for those, the block is written out in
 * full, once in a call.
 *
 * Queries. Slot i of a shard has bit i % 128 of the coefficients, and of its block, so nothing is
 * shifted: a mask splits the coefficients at the window's start, and a column is two ANDs of 128
 * bits, one XOR and a parity. Four columns are tested at a time; three strangers in fifty need
 * more.
 *
 * Bits per key at 1% / 0.1% / 0.01%: 7.1 / 10.5 / 14.2 from a thousand keys on; the bound is
 * log2(1/p) = 6.64 / 9.97 / 13.29.
 */
#include "kinds/ribbon/ribbon_band.h"

#include <bloomery/build.h>
#include <bloomery/ribbon.h>

#include <stdio.h>
#include <string.h>

enum { CHUNK = 16 }; /* sights at a time */

/* A block written out in full, or none yet. */
typedef struct edge {
    bool is_ready;
    _Alignas(16) uint64_t words[2 * (BLYI_RIBBON_COLUMNS + 1)];
} edge;

/* What a call needs of a filter. */
typedef struct view {
    const uint8_t *body;
    blyi_ribbon r;
    uint64_t shard_bytes;
    uint64_t short_block, split_block; /* the edges, if there are such blocks */
    edge last, split;
} view;

static inline void view_of(const bly_filter *f, view *v) {
    v->body = f->body;
    v->r = blyi_ribbon_of(&f->geometry);
    v->shard_bytes = blyi_ribbon_bytes(&v->r);
    v->short_block = v->r.slots / BLYI_RIBBON_SLOTS;
    v->split_block = v->r.wide / BLYI_RIBBON_SLOTS;
    v->last.is_ready = v->split.is_ready = false;
}

/* Where a block of a shard begins, in bytes. */
static inline uint64_t block_offset(const view *v, uint64_t block) {
    uint64_t wide = block < v->split_block ? block : v->split_block;
    return BLYI_RIBBON_SLOTS / 8 * (block * v->r.columns + wide);
}

/* Writes a block of the only shard out, with what there is of its last column if it is split. */
static const uint64_t *write_out(const view *v, uint64_t block, bool split, edge *e) {
    if (e->is_ready)
        return e->words;
    uint64_t left = v->r.slots - block * BLYI_RIBBON_SLOTS;
    size_t bytes = (size_t)(left < BLYI_RIBBON_SLOTS ? left : BLYI_RIBBON_SLOTS) / 8;
    const uint8_t *from = v->body + block_offset(v, block);
    memset(e->words, 0, sizeof e->words);
    for (unsigned j = 0; j < v->r.columns; j++)
        memcpy(e->words + 2 * j, from + j * bytes, bytes);
    if (split) {
        size_t more = v->r.wide % BLYI_RIBBON_SLOTS / 8;
        memcpy(e->words + 2 * v->r.columns, v->body + v->shard_bytes - more, more);
    }
    e->is_ready = true;
    return e->words;
}

/* Where a window lies. */
typedef struct span {
    uint64_t start, block, last; /* blocks, the same when it starts where one does */
    const uint64_t *first, *second;
    bool wide;
} span;

/* The second block of a window in one alone is the first again, under a mask of 0. */
static inline span span_of(const view *v, bly_hash h) {
    uint64_t start = blyi_band_start(&v->r, blyi_band_place(&v->r, h));
    uint64_t block = start / BLYI_RIBBON_SLOTS, next = start % BLYI_RIBBON_SLOTS != 0;
    uint64_t shard = v->r.shards == 1 ? 0 : blyi_shard_of(h, v->r.shards) * v->shard_bytes;
    const uint8_t *at = v->body + shard + block_offset(v, block);
    unsigned columns = v->r.columns + (block < v->split_block);
    span s = {.start = start,
              .block = block,
              .last = block + next,
              .first = (const uint64_t *)(const void *)at,
              .wide = start + BLYI_RIBBON_SLOTS <= v->r.wide};
    s.second = s.first + (next ? 2 * columns : 0);
    return s;
}

static inline blyi_ribbon_lookup look(view *v, bly_hash h) {
    span p = span_of(v, h);
    unsigned at = p.start % BLYI_RIBBON_SLOTS;
    if (p.last == v->split_block && p.wide)
        p.second = write_out(v, p.last, true, &v->split);
    else if (p.last == v->short_block)
        p.second = write_out(v, p.last, false, &v->last);
    if (p.block == v->short_block)
        p.first = p.second;
    blyi_ribbon_lookup s = {.first = p.first, .second = p.second, .columns = v->r.columns + p.wide};
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
    view v;
    view_of(f, &v);
    for (size_t i = 0; i < n; i++) {
        span s = span_of(&v, h[i]);
        blyi_prefetch_to_read(s.first);
        blyi_prefetch_to_read(s.first + 7);
        blyi_prefetch_to_read(s.second);
        blyi_prefetch_to_read(s.second + 7);
    }
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    size_t hits = 0;
    view v;
    if (f->items == 0) { /* nothing was solved for */
        if (found)
            memset(found, 0, n);
        return 0;
    }
    view_of(f, &v);
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        blyi_ribbon_lookup sights[CHUNK];
        for (size_t i = 0; i < some; i++)
            sights[i] = look(&v, h[done + i]);
        hits += f->kernels->ribbon_contains_many(sights, some, found ? found + done : NULL);
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

static const blyi_ops ribbon_ops = {
    .capabilities = BLY_CAN_MAP | BLY_CAN_BUILD,
    .prefetch = prefetch,
    .contains_many = contains,
    .fill_stats = stats,
    .solver = &blyi_ribbon_solver,
};

bly_status bly_ribbon_build(const bly_bytes *keys, size_t n, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_RIBBON, 0, fpr);
    return bly_filter_build(&spec, keys, n, out);
}

/* ---- descriptor ------------------------------------------------------------------------------ */

static bool is_cut_to_groups(const bly_geometry *g) {
    return g->hashes >= BLYI_RIBBON_CUT;
}

static void ribbon_describe_size(const bly_geometry *g, const char *grouped, char *out,
                                 size_t room) {
    snprintf(out, room, "%s %s%s", grouped, is_cut_to_groups(g) ? "group" : "block",
             g->size == 1 ? "" : "s");
}

static void ribbon_describe_rest(const bly_geometry *g, char *out, size_t room) {
    const bool cut = is_cut_to_groups(g);
    unsigned shards = cut ? 1U << g->detail / 256 % 16 : 1 + g->detail / 256;
    int n = snprintf(out, room, " of %u slots, %.3g columns", cut ? 8 : 128,
                     g->hashes % BLYI_RIBBON_CUT + (g->detail % 256) / 256.0);
    if (shards > 1 && n > 0 && (size_t)n < room)
        snprintf(out + n, room - (size_t)n, ", in %u shards", shards);
}

const blyi_kind blyi_kind_ribbon = {
    .code = BLY_RIBBON,
    .name = "ribbon",
    .meaning = "built from all keys at once; the smallest, never changes",
    .reason = "built from all keys at once; for many keys the smallest kind here, 6 to 9% above "
              "the lower bound",
    .hashes_name = "columns",
    .describe_size = ribbon_describe_size,
    .describe_rest = ribbon_describe_rest,
    .requires = BLY_NEED_STATIC,
    .planner = &blyi_ribbon_planner,
    .ops = &ribbon_ops,
};
