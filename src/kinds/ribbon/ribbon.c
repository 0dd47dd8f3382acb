/* Homogeneous ribbon filters: the smallest kind of this library.
 *
 * The idea (Dillinger and Walzer 2021, "Ribbon filter"; Dillinger, Huebschle-Schneider, Sanders and
 * Walzer 2022, "Fast succinct retrieval and approximate membership using ribbon"). There is a long
 * row of slots of r bits each. A key has a window of 128 slots and a coefficient, 0 or 1, for each
 * of them. The filter contains it if the sum without carry (XOR) of the slots with coefficient 1 is
 * zero in each of the r columns. Building solves that system of equations for all keys
 * (ribbon_solve.c). Since all right sides are zero it always has a solution. So building cannot
 * fail, and needs no search for a seed under which there is one. A non-member passes with
 * probability 2^-r, and a key costs r bits and a few percent (ribbon_plan.c says how many and why).
 *
 * Windows. The keys are spread over shards of about two million, which are solved independently.
 * With m the slots of a shard, 128 or more, the window of a key is
 *
 *     shard = mulhi(lo, shards)     position = lo * shards, mixed with the seed unless that is 0
 *                                   start    = mulhi(position, m - 127)
 *
 * and of the 128 slots from there on, slot i has coefficient 1 if it is the first, or if bit
 * i % 128 is set in
 *
 *     hi | fmix64(hi + GOLD) << 64
 *
 * With fewer than 128 slots, every window is all of them. The seed is 0, except in a few filters in
 * which too many windows overlap somewhere (ribbon_plan.c).
 *
 * Body. The shards follow one another. A shard is a sequence of blocks of 128 slots, a block is a
 * sequence of columns of 16 bytes, and slot i of the block is bit i of the column. The first slots
 * of a shard are wide: they have r+1 columns. The others have r. A window is tested in all the
 * columns that its slots have in common. So the number of wide slots determines a rate between 2^-r
 * and 2^-(r+1).
 *
 * Incomplete blocks. If there are several shards, all blocks are complete, and each is either wide
 * or narrow. The size of a single shard is a multiple of groups of 8 slots, and so is its wide
 * part: its last block may be short, with one byte per group in each column, and one block may be
 * wide only in its first slots. The bytes of the last column of that split block follow all blocks.
 * Few windows reach into one of these two blocks. For such a window the block is expanded to full
 * size, once per call.
 *
 * Lookups. Slot i of a shard has bit i % 128 of the coefficients, and of its block, so nothing is
 * shifted: a mask splits the coefficients at the window's start, and testing a column takes two
 * ANDs of 128 bits, one XOR and a parity. Four columns are tested at a time; three non-members in
 * fifty need more.
 *
 * Bits per key, and the lower bound log2(1/p): docs/kinds/static.md.
 */
#include "kinds/ribbon/ribbon_layout.h"

#include <bloomery/build.h>
#include <bloomery/filter.h>

#include <stdio.h>
#include <string.h>

enum { RIBBON_CHUNK = 16 }; /* lookups passed to the kernel at a time */

/* An incomplete block, expanded to full size once per call. */
typedef struct ribbon_edge {
    bool is_ready;
    _Alignas(16) uint64_t words[2 * (BLYI_RIBBON_MAX_COLUMNS + 1)];
} ribbon_edge;

/* The facts about a filter that one call computes once and uses for all keys. */
typedef struct ribbon_view {
    const uint8_t *body;
    blyi_ribbon_layout r;
    uint64_t shard_bytes;
    uint64_t short_block, split_block; /* numbers of the incomplete blocks, if there are any */
    ribbon_edge last, split;
} ribbon_view;

static inline void ribbon_view_of(const bly_filter *f, ribbon_view *v) {
    v->body = f->body;
    v->r = blyi_ribbon_layout_of(&f->geometry);
    v->shard_bytes = blyi_ribbon_shard_bytes(&v->r);
    v->short_block = v->r.slots / BLYI_RIBBON_SLOTS;
    v->split_block = v->r.wide / BLYI_RIBBON_SLOTS;
    v->last.is_ready = v->split.is_ready = false;
}

/* The offset of a block in its shard, in bytes. */
static inline uint64_t ribbon_block_offset(const ribbon_view *v, uint64_t block) {
    uint64_t wide = block < v->split_block ? block : v->split_block;
    return BLYI_RIBBON_SLOTS / 8 * (block * v->r.columns + wide);
}

/* Expands an incomplete block of the only shard to full size, and returns it. For a split block
 * this includes the part of its last column that is stored. */
static const uint64_t *ribbon_expand_block(const ribbon_view *v, uint64_t block, bool split,
                                           ribbon_edge *e) {
    if (e->is_ready)
        return e->words;
    uint64_t left = v->r.slots - block * BLYI_RIBBON_SLOTS;
    size_t bytes = (size_t)(left < BLYI_RIBBON_SLOTS ? left : BLYI_RIBBON_SLOTS) / 8;
    const uint8_t *from = v->body + ribbon_block_offset(v, block);
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

/* The position of a window in the body. */
typedef struct ribbon_span {
    uint64_t start, block, last; /* `last` is `block` if the window starts where the block does */
    const uint64_t *first, *second;
    bool wide;
} ribbon_span;

/* Finds a key's window. If the window lies in one block, `second` points to the same block as
 * `first`, and its mask will be 0. */
static inline ribbon_span ribbon_span_of(const ribbon_view *v, bly_hash h) {
    uint64_t start = blyi_ribbon_start(&v->r, blyi_ribbon_position(&v->r, h));
    uint64_t block = start / BLYI_RIBBON_SLOTS, next = start % BLYI_RIBBON_SLOTS != 0;
    uint64_t shard = v->r.shards == 1 ? 0 : blyi_shard_of(h, v->r.shards) * v->shard_bytes;
    const uint8_t *at = v->body + shard + ribbon_block_offset(v, block);
    unsigned columns = v->r.columns + (block < v->split_block);
    ribbon_span s = {.start = start,
                     .block = block,
                     .last = block + next,
                     .first = (const uint64_t *)(const void *)at,
                     .wide = start + BLYI_RIBBON_SLOTS <= v->r.wide};
    s.second = s.first + (next ? 2 * columns : 0);
    return s;
}

static inline blyi_ribbon_lookup ribbon_lookup_of(ribbon_view *v, bly_hash h) {
    ribbon_span p = ribbon_span_of(v, h);
    unsigned at = p.start % BLYI_RIBBON_SLOTS;
    if (p.last == v->split_block && p.wide)
        p.second = ribbon_expand_block(v, p.last, true, &v->split);
    else if (p.last == v->short_block)
        p.second = ribbon_expand_block(v, p.last, false, &v->last);
    if (p.block == v->short_block)
        p.first = p.second;
    blyi_ribbon_lookup s = {.first = p.first, .second = p.second, .columns = v->r.columns + p.wide};
    blyi_ribbon_band b = blyi_ribbon_band_of(h);
    /* The first block's bits are those from `at` on. Bit `at` itself is always set. */
    uint64_t below = (uint64_t)(at / 64) - 1, one = (uint64_t)1 << at % 64;
    uint64_t low = (0 - one) & below, high = (0 - one) | below;
    s.mask[0] = (b.w[0] | one) & low;
    s.mask[1] = (b.w[1] | (one & ~below)) & high;
    s.mask[2] = b.w[0] & ~low;
    s.mask[3] = b.w[1] & ~high;
    return s;
}

/* Prefetches the first four columns of each block, which are enough for most non-members. */
static void ribbon_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    ribbon_view v;
    ribbon_view_of(f, &v);
    for (size_t i = 0; i < n; i++) {
        ribbon_span s = ribbon_span_of(&v, h[i]);
        blyi_prefetch_to_read(s.first);
        blyi_prefetch_to_read(s.first + 7);
        blyi_prefetch_to_read(s.second);
        blyi_prefetch_to_read(s.second + 7);
    }
}

static size_t ribbon_contains_many(const bly_filter *f, const bly_hash *h, size_t n,
                                   uint8_t *found) {
    size_t hits = 0;
    ribbon_view v;
    if (f->items == 0) { /* no keys: the body was never solved */
        if (found)
            memset(found, 0, n);
        return 0;
    }
    ribbon_view_of(f, &v);
    for (size_t done = 0; done < n; done += RIBBON_CHUNK) {
        size_t some = n - done < RIBBON_CHUNK ? n - done : RIBBON_CHUNK;
        blyi_ribbon_lookup lookups[RIBBON_CHUNK];
        for (size_t i = 0; i < some; i++)
            lookups[i] = ribbon_lookup_of(&v, h[done + i]);
        hits += f->kernels->ribbon_contains_many(lookups, some, found ? found + done : NULL);
    }
    return hits;
}

/* The body's bits are as good as random, so they say nothing about the number of keys, and the rate
 * does not depend on that number. */
static void ribbon_fill_stats(const bly_filter *f, bly_filter_info *out) {
    bool any = out->count != 0;
    out->set_bits = any ? out->bits : 0;
    out->fill = out->expected_fill = any;
    out->estimated_keys = (double)out->count;
    out->current_fpr = bly_plan_fpr(&f->geometry, out->count, f->hasher.bits);
    out->expected_fpr = out->current_fpr;
}

static const blyi_ops ribbon_ops = {
    .capabilities = BLY_CAN_MAP | BLY_CAN_BUILD,
    .prefetch = ribbon_prefetch,
    .contains_many = ribbon_contains_many,
    .fill_stats = ribbon_fill_stats,
    .solver = &blyi_ribbon_solver,
};

/* ---- descriptor ------------------------------------------------------------------------------ */

static bool ribbon_is_grouped(const bly_geometry *g) {
    return g->hashes >= BLYI_RIBBON_GROUPED;
}

static void ribbon_describe_size(const bly_geometry *g, const char *grouped, char *out,
                                 size_t room) {
    snprintf(out, room, "%s %s%s", grouped, ribbon_is_grouped(g) ? "group" : "block",
             g->size == 1 ? "" : "s");
}

static void ribbon_describe_rest(const bly_geometry *g, char *out, size_t room) {
    const bool grouped = ribbon_is_grouped(g);
    unsigned shards = grouped ? 1U << g->detail / 256 % 16 : 1 + g->detail / 256;
    int n = snprintf(out, room, " of %u slots, %.3g columns", grouped ? 8 : 128,
                     g->hashes % BLYI_RIBBON_GROUPED + (g->detail % 256) / 256.0);
    if (shards > 1 && n > 0 && (size_t)n < room)
        snprintf(out + n, room - (size_t)n, ", in %u shards", shards);
}

const blyi_kind blyi_kind_ribbon = {
    .code = BLY_RIBBON,
    .name = "ribbon",
    .meaning = "built from all keys at once; the smallest, never changes",
    .reason =
        "built from all keys at once; for many keys the smallest kind: 5 to 7% above the lower "
        "bound for a million",
    .hashes_name = "columns",
    .describe_size = ribbon_describe_size,
    .describe_rest = ribbon_describe_rest,
    .requires = BLY_NEED_STATIC,
    .planner = &blyi_ribbon_planner,
    .ops = &ribbon_ops,
};
