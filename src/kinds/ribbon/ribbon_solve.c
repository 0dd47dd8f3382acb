/* Solves a ribbon filter: elimination in a band matrix, then back substitution.
 *
 * There is a row for each slot. It is empty, or has an equation whose first coefficient is that
 * slot's. A key's equation is put into the row of its first slot. If that row is in use, the two
 * equations are added, which clears the first coefficient, and the sum is put into the row of its
 * next coefficient. If the sum is zero, the equation followed from others and can be dropped: all
 * right sides are zero, so there can be no contradiction. Keys are sorted by their windows, so all
 * of this happens in a few cache lines that move along. Keys are processed in ascending order: then
 * every row that a key meets belongs to a window that began no later, ends within the key's own 128
 * slots, and is met once. (In descending order keys find their rows free more often, but where many
 * windows overlap, each key is carried through all rows of the others: the time grows with the
 * square of their number.)
 *
 * Then, from the last slot to the first, a slot with a row gets the value that the row requires,
 * given the 127 values after it. A slot without a row can have any value, and gets random bits.
 * (The homogeneous system also has the solution 0, with which every non-member would pass; random
 * free slots make it a filter.) Each column is a solution of its own, with the same rows and other
 * random bits. A shard with wide blocks is solved for their extra column throughout, since the
 * slots after a wide block determine its values; narrow blocks just do not store it.
 *
 * Before the substitution, the rows show whether too many windows overlap somewhere, so that nearly
 * every non-member would pass there (ribbon_plan.c). If that matters in a filter of this size, the
 * builder tries the next seed, under which keys have other windows. Hashes whose lo are all equal
 * would overlap under every seed, so the result under the last one is accepted as it is: a filter
 * can always be built, and with a good hash it has the requested rate.
 *
 * The random bits come from a counter, so the same keys give the same bytes.
 */
#include "base/memory.h"
#include "kinds/ribbon/ribbon_layout.h"

#include <math.h>
#include <string.h>

/* ---- elimination ----------------------------------------------------------------------------- */

static inline bool band_is_zero(blyi_ribbon_band b) {
    return (b.w[0] | b.w[1]) == 0;
}

/* Returns `word` shifted right by `by` bits (0 to 63), filled up with the lowest bits of
 * `above`. */
static inline uint64_t band_shift_word(uint64_t word, uint64_t above, unsigned by) {
    return word >> by | (above << 1) << (63 - by);
}

/* Converts from the order of a key to that of a row. */
static inline blyi_ribbon_band band_from_key_order(blyi_ribbon_band b, uint64_t start) {
    unsigned by = start % 64;
    uint64_t low = b.w[start / 64 % 2], high = b.w[(start / 64 + 1) % 2];
    return (blyi_ribbon_band){{band_shift_word(low, high, by) | 1, band_shift_word(high, low, by)}};
}

/* Shifts the first coefficient that is not 0 to bit 0. Returns the number of bits shifted. */
static inline unsigned band_advance(blyi_ribbon_band *b) {
    unsigned whole = 0;
    if (b->w[0] == 0) {
        *b = (blyi_ribbon_band){{b->w[1], 0}};
        whole = 64;
    }
    unsigned by = (unsigned)__builtin_ctzll(b->w[0]);
    *b = (blyi_ribbon_band){{band_shift_word(b->w[0], b->w[1], by), b->w[1] >> by}};
    return whole + by;
}

/* The window starts of keys whose equations followed from others, in ascending order. n is their
 * number, of which at most MAX_IDLE_KEYS are recorded. */
enum { MAX_IDLE_KEYS = 64 };
typedef struct idle_keys {
    size_t n;
    uint64_t start[MAX_IDLE_KEYS];
} idle_keys;

/* A mask of the first n bits of a word, or of all 64. */
static inline uint64_t band_first_bits(uint64_t n) {
    return n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

/* Computes the rows for n hashes, sorted by lo. Here and below, lo has been replaced by the
 * position (ribbon_set_positions). */
static void ribbon_eliminate(const blyi_ribbon_layout *r, const bly_hash *h, size_t n,
                             blyi_ribbon_band *rows, idle_keys *idle) {
    const blyi_ribbon_band window = {
        {band_first_bits(r->slots), band_first_bits(r->slots < 64 ? 0 : r->slots - 64)}};
    idle->n = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t start = blyi_ribbon_start(r, h[i].lo);
        blyi_ribbon_band b = band_from_key_order(blyi_ribbon_band_of(h[i]), start),
                         *row = rows + start;
        b.w[0] &= window.w[0];
        b.w[1] &= window.w[1];
        while (!band_is_zero(*row)) {
            b.w[0] ^= row->w[0];
            b.w[1] ^= row->w[1];
            if (band_is_zero(b))
                break;
            row += band_advance(&b);
        }
        if (!band_is_zero(b))
            *row = b;
        else if (idle->n++ < MAX_IDLE_KEYS)
            idle->start[idle->n - 1] = start;
    }
}

/* An upper bound of the number of slots at which the equation of a window follows from those of the
 * keys, so that a non-member with this window passes. An equation is waiting at a slot if its key's
 * window begins at or before that slot, and its row is after it. The waiting equations lie in the
 * next 127 slots, or in those that are left, so a random equation is among their sums with
 * probability 2^(waiting - 127). Every equation that begins in a sequence of rows without a gap is
 * carried through the rest of it, so the probabilities of its slots add up, and apply to all of
 * them. (On average the bound is twice the number of spanned equations.) */
static double ribbon_spanned_slots(const blyi_ribbon_layout *r, const bly_hash *h, size_t n,
                                   const blyi_ribbon_band *rows, const idle_keys *idle) {
    double sum = 0, chance = 0;
    int waiting = 0;
    size_t i = 0, next = 0;
    uint64_t gap = 0, end = r->slots;
    const int behind = (int)(end < BLYI_RIBBON_SLOTS ? end : BLYI_RIBBON_SLOTS) - 1;
    if (idle->n > MAX_IDLE_KEYS)
        return (double)end;
    for (uint64_t slot = 0; slot < end; slot++) {
        for (; i < n && blyi_ribbon_start(r, h[i].lo) <= slot; i++)
            waiting++;
        for (; next < idle->n && idle->start[next] <= slot; next++)
            waiting--;
        if (waiting > behind - 64) /* otherwise the probability is negligible */
            chance += ldexp(1, waiting - behind);
        bool is_gap = band_is_zero(rows[slot]);
        waiting -= !is_gap;
        if (is_gap || slot + 1 == end) {
            sum += (double)(slot + 1 - gap) * fmin(1, chance);
            gap = slot + 1;
            chance = 0;
        }
    }
    return sum;
}

/* ---- substitution ---------------------------------------------------------------------------- */

/* The values of 128 slots in every column, as far as they are known. Slot i is bit i % 64 of `low`
 * or `high`. */
typedef struct ribbon_columns {
    uint64_t low[BLYI_RIBBON_MAX_COLUMNS + 1], high[BLYI_RIBBON_MAX_COLUMNS + 1];
} ribbon_columns;

/* Shifts the values by one slot and prepends a new one: the value that `row` requires or, for a
 * slot without a row, the bits of `random`, one for each column. */
static inline void ribbon_prepend(ribbon_columns *c, unsigned n, blyi_ribbon_band row,
                                  uint64_t random) {
    for (unsigned j = 0; j < n; j++) {
        uint64_t high = c->high[j] << 1 | c->low[j] >> 63, low = c->low[j] << 1;
        uint64_t bit = (uint64_t)__builtin_parityll((row.w[0] & low) ^ (row.w[1] & high));
        c->high[j] = high;
        c->low[j] = low | (bit ^ (random >> j & 1));
    }
}

/* Writes the first `slots` values of a column, which are whole bytes. */
static void ribbon_store_column(const ribbon_columns *c, unsigned column, uint64_t slots,
                                uint8_t *to) {
    uint64_t words[2] = {blyi_le64(c->low[column]), blyi_le64(c->high[column])};
    memcpy(to, words, (size_t)slots / 8);
}

static void ribbon_substitute(const blyi_ribbon_layout *r, unsigned shard,
                              const blyi_ribbon_band *rows, uint8_t *to) {
    const unsigned n = r->columns + (r->wide != 0);
    const uint64_t split = r->wide % BLYI_RIBBON_SLOTS, seed = blyi_fmix64(shard + 1);
    ribbon_columns c = {{0}, {0}};
    uint8_t *at = to + blyi_ribbon_shard_bytes(r) - split / 8;
    for (uint64_t slot = r->slots; slot > 0;) {
        uint64_t first = (slot - 1) / BLYI_RIBBON_SLOTS * BLYI_RIBBON_SLOTS, slots = slot - first;
        while (slot-- > first) {
            bool is_free = band_is_zero(rows[slot]);
            ribbon_prepend(&c, n, rows[slot], is_free ? blyi_fmix64(seed + slot * BLYI_GOLD) : 0);
        }
        slot = first;
        unsigned whole = r->columns + (first + BLYI_RIBBON_SLOTS <= r->wide);
        at -= whole * slots / 8;
        for (unsigned j = 0; j < whole; j++)
            ribbon_store_column(&c, j, slots, at + j * slots / 8);
        if (split && first == r->wide - split)
            ribbon_store_column(&c, r->columns, split, to + blyi_ribbon_shard_bytes(r) - split / 8);
    }
}

/* ---- the solver ------------------------------------------------------------------------------ */

/* Whether the rate grows by more than a 32nd if every non-member passes at this number of slots.
 */
static bool ribbon_is_crowded(double slots, const blyi_ribbon_layout *r, const bly_geometry *g) {
    return slots / ((double)r->slots * r->shards) > bly_plan_fpr(g, 1, 128) / 32;
}

/* Replaces lo by the key's position in each hash, sorts the hashes, and returns how many are
 * distinct. The rows serve as scratch memory, and are zero again afterwards. */
static size_t ribbon_set_positions(const blyi_ribbon_layout *r, bly_hash *h, size_t n, void *rows) {
    for (size_t i = 0; i < n; i++)
        h[i].lo = blyi_ribbon_position(r, h[i]);
    if (r->seed == 0) /* sorted already */
        return n;
    size_t left = blyi_sort_unique(h, n, rows, 0);
    memset(rows, 0, n * sizeof *h);
    return left;
}

/* blyi_solver.solve. Returns BLY_EFULL if too many windows overlap, but never for the last seed. */
static bly_status ribbon_solve_shard(bly_filter *f, unsigned shard, bly_hash *h, size_t n,
                                     const bly_allocator *a) {
    blyi_ribbon_layout r = blyi_ribbon_layout_of(&f->geometry);
    void *block;
    blyi_ribbon_band *rows = blyi_alloc_array(a, r.slots * sizeof *rows, &block);
    if (!rows)
        return BLY_ENOMEM;
    idle_keys idle;
    n = ribbon_set_positions(&r, h, n, rows);
    ribbon_eliminate(&r, h, n, rows, &idle);
    bool again = r.seed < BLYI_RIBBON_LAST_SEED &&
                 ribbon_is_crowded(ribbon_spanned_slots(&r, h, n, rows, &idle), &r, &f->geometry);
    if (!again)
        ribbon_substitute(&r, shard, rows, f->body + shard * blyi_ribbon_shard_bytes(&r));
    blyi_free_array(a, block);
    return again ? BLY_EFULL : BLY_OK;
}

/* Returns an upper bound of the memory for the rows: there are at most 7/6 as many slots as keys,
 * plus a few blocks. */
static uint64_t ribbon_scratch_bytes(uint64_t n) {
    return (n + n / 6 + 4 * BLYI_RIBBON_SLOTS) * sizeof(blyi_ribbon_band);
}

const blyi_solver blyi_ribbon_solver = {
    .shard_keys = BLYI_RIBBON_SHARD_KEYS,
    .max_shards = BLYI_RIBBON_MAX_SHARDS,
    .plan = blyi_ribbon_plan,
    .solve = ribbon_solve_shard,
    .scratch_bytes = ribbon_scratch_bytes,
};
