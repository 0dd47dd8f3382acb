/* The layered filter: a plain sbbf filter in front, its counters behind.
 *
 * The idea is that of the first counting filter (Fan, Cao, Almeida and Broder 2000, "Summary
 * Cache"): whoever adds and removes needs counters, whoever only asks needs bits. There the owner
 * of a cache kept four bits per cell and sent the bits to its peers. Usually both are then kept, or
 * the bits are worked out from the counters each time. Here the bits are a layer of the counters:
 * a count c is stored as "is it 0?" and, elsewhere, c - 1. The first layers of all cells are an
 * sbbf filter, bit for bit. It answers queries with sbbf's own kernels and batches (blocked.c,
 * stream.c), at sbbf's speed, and can be read, saved and mapped by itself; the counters are touched
 * by adds and removes alone, and may lie in slower memory.
 *
 * Counting. c - 1 is kept in three bit planes. A key owns one cell in each of eight lanes of a
 * block, never the same one twice, and its cells change all at once by operations on whole words
 * (simd/cells.h), without a branch:
 *
 *   add     the cells that are used count one up, the others become used
 *   remove  only when all eight are used; those at 1 become free, the others count one down
 *
 * Three planes, so a cell counts to 8, which means "8 or more" and is final: whoever has lost count
 * must not count down. With distinct keys that hardly happens (plan_layered.c has the odds; at 1%
 * 1.4 cells in a million). With copies it does: each key that ever has eight at a time leaves
 * eight stuck cells behind. A fourth plane would take the limit to 16 for a quarter more memory.
 *
 * Three cache lines for an add or a remove, of which one is the front's: a block's planes are 96
 * bytes from a multiple of 32, so always in two lines. One line for a query.
 *
 * Body: the body of an sbbf filter of `size` blocks, the 32 bytes of padding included that it has
 * when size is odd; then for each block its planes 0, 1 and 2, 32 bytes each, laid out as the block
 * is. Bit i of plane p, block b: bit p of (count - 1) of cell i.
 *
 * Measured on one core of an AMD EPYC (Zen 3) that others were using too, 8-byte keys in batches
 * at 1%, medians. Ten million keys: a query takes sbbf's time, present or absent, within the 7%
 * that measurements differed by; an add 56 ns and a remove 64 where sbbf adds in 10, because sbbf's
 * 13 MB fit the cache there and these 53 do not. Ten thousand keys, all in the cache: an add 13 ns,
 * a remove 16, where sbbf adds in 5. The AVX2 kernels are 1.5 and 1.8 times as fast as the scalar
 * ones with ten million keys, 2.2 and 2.4 times in the cache.
 */
#include "filter/set_operations.h"
#include "kinds/layered/layered_body.h"

#include "simd/masks.h"
#include <bloomery/layered.h>
#include <math.h>

/* ---- queries: sbbf's, on the front ----------------------------------------------------------- */

static void choose(bly_filter *f) {
    f->contains_block = f->kernels->sbbf_contains_block;
    f->contains_key_xxh3 = f->kernels->sbbf_contains_key;
    f->contains_blocks = f->kernels->sbbf_contains_blocks;
    f->contains_keys_xxh3 = f->kernels->sbbf_contains_keys;
}

static void prefetch_front(const bly_filter *f, const bly_hash *h, size_t n) {
    blyi_ops_of(BLY_SBBF)->prefetch(f, h, n);
}

static double current_fpr(const bly_filter *f) {
    return blyi_ops_of(BLY_SBBF)->current_fpr(f);
}

/* ---- changes --------------------------------------------------------------------------------- */

typedef struct block {
    uint64_t *front, *planes;
} block;

static inline block block_of(const bly_filter *f, bly_hash h) {
    uint64_t b = blyi_mulhi(h.lo, f->geometry.size);
    return (block){blyi_words(f) + b * BLYI_COUNTER_WORDS, blyi_layered_planes(f, b)};
}

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++) {
        block b = block_of(f, h[i]);
        blyi_prefetch_to_read(b.front);
        blyi_prefetch_to_read(b.planes);
        blyi_prefetch_to_read(b.planes + 8);
    }
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    for (size_t i = 0; i < n; i++) {
        block b = block_of(f, h[i]);
        bool is_new = f->kernels->counters_add(b.front, b.planes, h[i].hi);
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    f->items = blyi_sum(f->items, n);
    sum->done += n;
    return BLY_OK;
}

static bly_status take(bly_filter *f, bly_hash h, bool *removed) {
    block b = block_of(f, h);
    *removed = f->kernels->counters_remove(b.front, b.planes, h.hi);
    /* Strangers whose cells are stuck can be removed without end. */
    if (*removed)
        blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

/* The lowest count of a key's cells, from the highest plane down: while one of those still in
 * question has a 0 there, the lowest is among those that have. */
static uint64_t copies(const bly_filter *f, bly_hash h) {
    block b = block_of(f, h);
    uint64_t asked[BLYI_COUNTER_WORDS], free = 0, least = 0;
    blyi_sbbf_mask(h.hi, asked);
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
        asked[i] = blyi_le64(asked[i]);
        free |= asked[i] & ~b.front[i];
    }
    for (unsigned p = BLYI_COUNTER_PLANES; p-- > 0;) {
        uint64_t low[BLYI_COUNTER_WORDS], any = 0;
        for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++)
            any |= low[i] = asked[i] & ~b.planes[p * BLYI_COUNTER_WORDS + i];
        least = 2 * least + (any == 0);
        for (unsigned i = 0; any && i < BLYI_COUNTER_WORDS; i++)
            asked[i] = low[i];
    }
    return free ? 0 : least + 1;
}

/* No cell counts without being used, and the padding between the front and the planes is 0. How
 * many items there are cannot be told from the cells, once one of them is stuck. */
static bool sound(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    const size_t bytes =
        sizeof(uint64_t) * BLYI_COUNTER_WORDS; /* of a block, or of a plane of it */
    const uint8_t *front = body, *planes = body + blyi_layered_front_bytes(g);
    unsigned stray = 0;
    for (const uint8_t *pad = front + g->size * bytes; pad < planes; pad++)
        stray |= *pad;
    for (uint64_t b = 0; b < g->size; b++) {
        for (size_t i = 0; i < bytes; i++) /* not words: bytes to be parsed may lie anywhere */
            stray |= (unsigned)(planes[i] | planes[i + bytes] | planes[i + 2 * bytes]) &
                     ~(unsigned)front[i];
        front += bytes;
        planes += bytes * BLYI_COUNTER_PLANES;
    }
    return stray == 0;
}

bly_filter blyi_layered_front(const bly_filter *f) {
    bly_filter front = *f;
    front.ops = blyi_ops_of(BLY_SBBF);
    front.geometry.kind = BLY_SBBF;
    front.body_bytes = blyi_layered_front_bytes(&f->geometry);
    return front;
}

double blyi_layered_keys(const bly_filter *f) {
    const bly_filter front = blyi_layered_front(f);
    return bly_plan_keys(&front.geometry,
                         f->kernels->popcount(blyi_words(&front), blyi_word_count(&front)));
}

/* Keys and rates are the front's; a cell counts as its four bits. */
static void stats(const bly_filter *f, bly_stats *out) {
    const bly_filter front = blyi_layered_front(f);
    bly_stats s;
    bly_filter_stats(&front, &s);
    out->set_bits = s.set_bits * (BLYI_COUNTER_PLANES + 1);
    out->fill = s.fill;
    out->estimated_keys = s.estimated_keys;
    out->expected_fill = blyi_copies_fill(f, blyi_layered_keys(f));
    out->predicted_fpr = s.predicted_fpr;
    out->current_fpr = s.current_fpr;
    const uint64_t *at = blyi_words(f);
    for (uint64_t b = 0; b < f->geometry.size; b++, at += BLYI_COUNTER_WORDS)
        for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
            blyi_counters64 c = blyi_counters64_get(at, blyi_layered_planes(f, b), i);
            out->stuck += blyi_popcount64(blyi_counters64_stuck(&c));
        }
}

static const blyi_ops layered_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_OVERLAP |
                    BLY_CAN_MAP | BLY_CAN_REMOVE | BLY_CAN_SUBTRACT | BLY_TELLS_COPIES,
    .block_shift = 5,
    .select_kernels = choose,
    .prefetch = prefetch,
    .prefetch_contains = prefetch_front,
    .try_add_many = put,
    .contains_many = blyi_blocks_contain_many,
    .current_fpr = current_fpr,
    .remove_one = take,
    .count_copies = copies,
    .body_is_valid = sound,
    .fill_stats = stats,
    .union_with = blyi_layered_unite,
    .intersect_with = blyi_layered_intersect,
    .subtract_from = blyi_layered_subtract,
    .estimate_overlap = blyi_layered_overlap,
};

/* ---- the front as a filter of its own -------------------------------------------------------- */

static bly_status refuse_put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                             bly_tally *sum) {
    (void)f, (void)h, (void)n, (void)added, (void)sum;
    return BLY_EUNSUPPORTED;
}

static void refuse_clear(bly_filter *f) {
    (void)f;
}

static void fold(const bly_filter *from, uint64_t divisor, bly_filter *to) {
    blyi_ops_of(BLY_SBBF)->fold(from, divisor, to);
}

/* sbbf's row, without what would change the bits behind the owner's back. */
static const blyi_ops front_ops = {
    .capabilities = BLY_CAN_OVERLAP | BLY_CAN_FOLD | BLY_CAN_MAP,
    .block_shift = 5,
    .select_kernels = choose,
    .prefetch = prefetch_front,
    .try_add_many = refuse_put,
    .contains_many = blyi_blocks_contain_many,
    .current_fpr = current_fpr,
    .fold = fold,
    .clear = refuse_clear,
};

/* Distinct keys as the bits tell, but not more than there are copies. */
static uint64_t distinct(const bly_filter *f) {
    double keys = blyi_layered_keys(f);
    return keys < (double)f->items ? (uint64_t)llround(keys) : f->items;
}

bly_status bly_layered_front(const bly_filter *f, bly_filter **out) {
    *out = NULL;
    if (f->geometry.kind != BLY_LAYERED)
        return BLY_EUNSUPPORTED;
    blyi_shape shape = blyi_filter_shape(f);
    shape.geometry.kind = BLY_SBBF;
    shape.items = distinct(f);
    bly_status status = blyi_filter_make(&shape, &f->alloc, f->body, out);
    if (status == BLY_OK)
        blyi_filter_switch_ops(*out, &front_ops);
    return status;
}

bly_status bly_layered_create(uint64_t keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_LAYERED, keys, fpr);
    return bly_filter_create(&spec, out);
}

/* ---- descriptor ------------------------------------------------------------------------------ */

const blyi_kind blyi_kind_layered = {
    .code = BLY_LAYERED,
    .name = "layered",
    .meaning = "sbbf in front, counters behind; keys can be removed, the front can be shared",
    .reason = "keys can be removed, and a query is sbbf's; its front can be handed out as a filter "
              "of that kind",
    .hashes_name = "counters per key",
    .describe_rest = blyi_describe_counters,
    .planner = &blyi_layered_planner,
    .ops = &layered_ops,
};
