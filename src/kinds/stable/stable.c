/* The stable Bloom filter (Deng and Rafiei 2006): old keys wear away under new ones.
 *
 * m cells of d bits. An add lowers P neighbouring cells by one, from a random one on, those that
 * are 0 excepted, and then raises the K cells of its key to the top, 2^d - 1. A key is found if
 * none of its cells is 0. Every cell is lowered as often as any other, so what has been raised
 * wears off at an even pace; and as lowering and raising balance, the share of cells in use comes
 * to rest where the rate is the one asked. plan_stable.c has the formulas.
 *
 * The paper lowers P cells drawn one by one, or a run: the chance for one cell is the same, and a
 * run of neighbours costs one random place in memory instead of P. A word of cells is lowered at
 * once: with the cells' lowest bits in `low`, those not 0 are (x | x >> 1 | x >> 2) & low, and
 * subtracting that from x lowers just these, with nothing to borrow.
 *
 * The start of the run of the i-th add is mulhi(fmix64((i + 1) * GOLD), m), i being counted in the
 * body. Where the runs fall is thus no secret and no matter of chance: copies that are fed the same
 * keys stay the same, byte for byte, and a filter from a file goes on as if it had never been away.
 *
 * Body: a heading of 64 bytes, whose first word is the number of adds, the rest 0; then the cells,
 * 64, 32 or 21 to a 64-bit little-endian word for d = 1, 2, 3, from its lowest bit on. The cells of
 * a key are those of a classic filter: x = lo, then for each cell mulhi(x, m), x = x * LCG +
 * (hi|1).
 */
#include "base/bytes.h"
#include "filter/ops.h"
#include "filter/planner.h"
#include "hash/mix.h"
#include "kinds/stable/stable_plan.h"

#include <bloomery/stable.h>
#include <math.h>

#define INLINE static inline __attribute__((always_inline))

/* How many adds ahead the run is fetched. */
enum { AHEAD = 32 };

/* ---- cells ----------------------------------------------------------------------------------- */

static uint64_t *cells_of(const bly_filter *f) {
    return blyi_words(f) + BLYI_STABLE_HEADING / 8;
}

/* The lowest bits of all cells of a word. */
INLINE uint64_t low_bits(unsigned width) {
    return width == 1   ? UINT64_MAX
           : width == 2 ? UINT64_C(0x5555555555555555)
                        : UINT64_C(0x1249249249249249);
}

/* The lowest bits of those cells that are not 0. */
INLINE uint64_t in_use(uint64_t x, unsigned width) {
    if (width > 1)
        x |= x >> 1 | (width > 2 ? x >> 2 : 0);
    return x & low_bits(width);
}

typedef struct cell {
    uint64_t word;
    unsigned shift;
} cell;

INLINE cell cell_at(uint64_t index, unsigned width) {
    const unsigned per = blyi_stable_per_word(width);
    return (cell){index / per, (unsigned)(index % per) * width};
}

INLINE void lower_word(uint64_t *word, uint64_t which, unsigned width) {
    uint64_t x = blyi_le64(*word);
    *word = blyi_le64(x - (in_use(x, width) & which));
}

/* Lowers the cells from `from` up to, not including, `to`. */
INLINE void lower(uint64_t *cells, uint64_t from, uint64_t to, unsigned width) {
    cell first = cell_at(from, width), end = cell_at(to, width);
    uint64_t which = UINT64_MAX << first.shift;
    for (; first.word < end.word; first.word++, which = UINT64_MAX)
        lower_word(cells + first.word, which, width);
    if (end.shift > 0)
        lower_word(cells + end.word, which & ~(UINT64_MAX << end.shift), width);
}

/* Where the run of an add begins. */
INLINE uint64_t run_start(uint64_t turn, uint64_t m) {
    return blyi_mulhi(blyi_fmix64((turn + 1) * BLYI_GOLD), m);
}

/* ---- use ------------------------------------------------------------------------------------- */

INLINE void prefetch_by(const bly_filter *f, const bly_hash *h, size_t n, unsigned width) {
    const uint64_t *cells = cells_of(f);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = h[i].lo;
        for (unsigned j = 0; j < f->geometry.hashes; j++, x = x * BLYI_LCG + (h[i].hi | 1))
            blyi_prefetch_to_read(cells + cell_at(blyi_mulhi(x, f->geometry.size), width).word);
    }
}

/* All cells are read before the answer is looked at: a branch for each would cost more. */
INLINE bool has(const bly_filter *f, bly_hash h, unsigned width) {
    const uint64_t *cells = cells_of(f);
    bool all = true;
    uint64_t x = h.lo, top = ((uint64_t)1 << width) - 1;
    for (unsigned j = 0; j < f->geometry.hashes; j++, x = x * BLYI_LCG + (h.hi | 1)) {
        cell c = cell_at(blyi_mulhi(x, f->geometry.size), width);
        all &= (blyi_le64(cells[c.word]) >> c.shift & top) != 0;
    }
    return all;
}

INLINE size_t contains_by(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found,
                          unsigned width) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = has(f, h[i], width);
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

/* Returns whether the key was not found before. */
INLINE bool put(bly_filter *f, bly_hash h, uint64_t turn, unsigned width) {
    uint64_t *cells = cells_of(f), m = f->geometry.size;
    bool is_new = !has(f, h, width);
    __builtin_prefetch(cells + cell_at(run_start(turn + AHEAD, m), width).word, 1);
    uint64_t from = run_start(turn, m), to = from + blyi_stable_run(&f->geometry);
    lower(cells, from, to < m ? to : m, width);
    if (to > m)
        lower(cells, 0, to - m, width);
    uint64_t x = h.lo, top = ((uint64_t)1 << width) - 1;
    for (unsigned j = 0; j < f->geometry.hashes; j++, x = x * BLYI_LCG + (h.hi | 1)) {
        cell c = cell_at(blyi_mulhi(x, m), width);
        (void)blyi_word_set(cells + c.word, top << c.shift);
    }
    return is_new;
}

INLINE size_t add_by(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, unsigned width) {
    uint64_t turn = blyi_le64(blyi_words(f)[0]);
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = put(f, h[i], turn++, width);
        fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    blyi_words(f)[0] = blyi_le64(turn);
    return fresh;
}

/* One copy of each for each width: a division by 64, 32 or 21 is then none. */
static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    switch (blyi_stable_width(&f->geometry)) {
    case 1:
        prefetch_by(f, h, n, 1);
        break;
    case 2:
        prefetch_by(f, h, n, 2);
        break;
    default:
        prefetch_by(f, h, n, 3);
    }
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    unsigned width = blyi_stable_width(&f->geometry);
    if (width == 1)
        return contains_by(f, h, n, found, 1);
    return width == 2 ? contains_by(f, h, n, found, 2) : contains_by(f, h, n, found, 3);
}

static size_t add(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    unsigned width = blyi_stable_width(&f->geometry);
    if (width == 1)
        return add_by(f, h, n, added, 1);
    return width == 2 ? add_by(f, h, n, added, 2) : add_by(f, h, n, added, 3);
}

/* ---- look ------------------------------------------------------------------------------------ */

/* No bit is set that belongs to no cell: at the top of a word of threes, or after the last cell. */
static bool sound(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    const uint8_t *cells = body + BLYI_STABLE_HEADING; /* at any address */
    unsigned width = blyi_stable_width(g), per = blyi_stable_per_word(width);
    uint64_t n = blyi_stable_words(g), stray = 0;
    for (unsigned i = 1; i < BLYI_STABLE_HEADING / 8; i++)
        stray |= blyi_load64le(body + 8 * i);
    for (uint64_t i = 0; width == 3 && i < n; i++)
        stray |= blyi_load64le(cells + 8 * i) >> 63;
    if (g->size % per)
        stray |= blyi_load64le(cells + 8 * (n - 1)) >> g->size % per * width;
    return stray == 0;
}

static void stats(const bly_filter *f, bly_stats *out) {
    const bly_geometry *g = &f->geometry;
    const uint64_t *cells = cells_of(f);
    double m = (double)g->size, adds = (double)blyi_le64(blyi_words(f)[0]);
    double floor = out->current_fpr;
    uint64_t used = 0;
    for (uint64_t i = 0; i < blyi_stable_words(g); i++)
        used += blyi_popcount64(in_use(blyi_le64(cells[i]), blyi_stable_width(g)));
    if (used > g->size) /* stray bits of a damaged map */
        used = g->size;
    out->set_bits = used * blyi_stable_width(g);
    out->fill = (double)used / m;
    out->expected_fill = bly_plan_fill(g, adds);
    out->estimated_keys =
        used < g->size ? log1p(-out->fill) / (g->hashes * log1p(-1 / m)) : (double)INFINITY;
    out->predicted_fpr = adds > 0 ? fmin(1, blyi_plan_stable.rate(g, adds) + floor) : 0;
    out->current_fpr = fmin(1, pow(out->fill, g->hashes) + floor);
}

const blyi_ops blyi_stable_ops = {
    .kind = BLY_STABLE,
    .capabilities = BLY_CAN_ADD | BLY_CAN_MAP | BLY_FORGETS | BLY_IS_LOSSY,
    .prefetch = prefetch,
    .add_many = add,
    .contains_many = contains,
    .body_is_valid = sound,
    .fill_stats = stats,
};

bly_status bly_stable_create(uint64_t bytes, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_STABLE, 0, fpr);
    *out = NULL;
    if (!(fpr >= 0x1p-40 && fpr < 1))
        return BLY_ERATE;
    bly_status status = blyi_stable_fit(bytes, fpr, &spec.geometry);
    if (status)
        return status;
    spec.capacity = blyi_plan_stable.max_keys(&spec.geometry);
    return bly_filter_create(&spec, out);
}

bly_status bly_stable_create_keys(uint64_t keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_STABLE, keys, fpr);
    return bly_filter_create(&spec, out);
}

bly_status bly_stable_recall(const bly_filter *f, uint64_t later, double *out) {
    if (f->geometry.kind != BLY_STABLE)
        return BLY_EKIND;
    *out = blyi_stable_recall(&f->geometry, (double)later);
    return BLY_OK;
}
