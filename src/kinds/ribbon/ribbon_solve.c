/* Solving a ribbon: elimination in a band, then substitution from its end.
 *
 * A row stands for each slot: an equation whose first coefficient is that slot's, or none. A key's
 * equation goes to the row of its first slot. If that is taken, the two are added, which clears the
 * first coefficient, and what is left goes on to the row of its next one; or nothing is left,
 * because the equation followed from others, and it can be forgotten: right sides are all zero, so
 * nothing can contradict. Keys come in order of their windows, so all of this happens in a few
 * cache lines that move along. And the first come first: then every row that a key meets belongs to
 * a window that began no later, ends within the key's own 128 slots, and is met once. (The other
 * way round keys find their rows free more often, but where they crowd each is led through all that
 * crowd before it: the time grows with its square.)
 *
 * Then, from the last slot to the first, a slot with a row gets the value that the row demands,
 * given the 127 values behind it; a slot without one can have any, and gets random bits. (The
 * homogeneous system also has the solution 0, which would let every stranger pass; random free
 * slots are what makes it a filter.) Each column is a solution of its own, with the same rows and
 * other random bits. A shard with wide blocks is solved for their extra column all along, since
 * what lies behind a wide block decides what is in it; narrow blocks just do not keep it.
 *
 * Before that, the rows tell whether too many keys met in some place, so that nearly every stranger
 * will pass there (plan_ribbon.c). If that counts in a filter of this size, the builder is asked to
 * try the next seed, under which keys have other windows. Hashes whose lo are all alike would meet
 * under every seed, so the last one is taken as it comes: a filter can always be built, and of a
 * good hash it has its rate.
 *
 * The random bits come from a counter, so the same keys give the same bytes.
 */
#include "kinds/ribbon/ribbon_band.h"

#include "base/memory.h"
#include "kinds/builder/sort.h"

#include <math.h>
#include <string.h>

/* ---- elimination ----------------------------------------------------------------------------- */

static inline bool is_zero(blyi_band b) {
    return (b.w[0] | b.w[1]) == 0;
}

/* Moves bit `by` (0 to 63) to the front; the bits of `above` follow. */
static inline uint64_t shift_down(uint64_t word, uint64_t above, unsigned by) {
    return word >> by | (above << 1) << (63 - by);
}

/* From a key's order to that of a row. */
static inline blyi_band in_order(blyi_band b, uint64_t start) {
    unsigned by = start % 64;
    uint64_t low = b.w[start / 64 % 2], high = b.w[(start / 64 + 1) % 2];
    return (blyi_band){{shift_down(low, high, by) | 1, shift_down(high, low, by)}};
}

/* Moves the first coefficient that is not 0 to the front. Returns how far that was. */
static inline unsigned advance(blyi_band *b) {
    unsigned whole = 0;
    if (b->w[0] == 0) {
        *b = (blyi_band){{b->w[1], 0}};
        whole = 64;
    }
    unsigned by = (unsigned)__builtin_ctzll(b->w[0]);
    *b = (blyi_band){{shift_down(b->w[0], b->w[1], by), b->w[1] >> by}};
    return whole + by;
}

/* Where the windows of keys began whose equations followed from others: n of them, the first slot
 * first, as far as there is place. */
enum { IDLE = 64 };
typedef struct idle_keys {
    size_t n;
    uint64_t start[IDLE];
} idle_keys;

/* So many bits of a word, all of them at most. */
static inline uint64_t first_bits(uint64_t n) {
    return n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

/* From here on, the lo of a hash is its place. */
static void eliminate(const blyi_ribbon *r, const bly_hash *h, size_t n, blyi_band *rows,
                      idle_keys *idle) {
    const blyi_band window = {
        {first_bits(r->slots), first_bits(r->slots < 64 ? 0 : r->slots - 64)}};
    idle->n = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t start = blyi_band_start(r, h[i].lo);
        blyi_band b = in_order(blyi_band_of(h[i]), start), *row = rows + start;
        b.w[0] &= window.w[0];
        b.w[1] &= window.w[1];
        while (!is_zero(*row)) {
            b.w[0] ^= row->w[0];
            b.w[1] ^= row->w[1];
            if (is_zero(b))
                break;
            row += advance(&b);
        }
        if (!is_zero(b))
            *row = b;
        else if (idle->n++ < IDLE)
            idle->start[idle->n - 1] = start;
    }
}

/* In how many slots, at most, a stranger's equation follows from those of the keys. At a slot, the
 * equations that began at it or before and have their row behind it lie in the 127 slots to come,
 * or as many as there are: a random equation is among their sums with chance 2^(waiting - 127).
 * Every equation that begins in a stretch of rows without a gap is led on through the rest of it,
 * so the chances of its slots add up, and are those of all of it. (The mean is twice what a count
 * of the equations that are spanned gives.) */
static double spanned(const blyi_ribbon *r, const bly_hash *h, size_t n, const blyi_band *rows,
                      const idle_keys *idle) {
    double sum = 0, chance = 0;
    int waiting = 0;
    size_t i = 0, next = 0;
    uint64_t gap = 0, end = r->slots;
    const int behind = (int)(end < BLYI_RIBBON_SLOTS ? end : BLYI_RIBBON_SLOTS) - 1;
    if (idle->n > IDLE)
        return (double)end;
    for (uint64_t slot = 0; slot < end; slot++) {
        for (; i < n && blyi_band_start(r, h[i].lo) <= slot; i++)
            waiting++;
        for (; next < idle->n && idle->start[next] <= slot; next++)
            waiting--;
        if (waiting > behind - 64) /* it is next to nothing otherwise */
            chance += ldexp(1, waiting - behind);
        bool is_gap = is_zero(rows[slot]);
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

/* The values of 128 slots in every column, as far as they are known: slot i is bit i&63. */
typedef struct columns {
    uint64_t low[BLYI_RIBBON_COLUMNS + 1], high[BLYI_RIBBON_COLUMNS + 1];
} columns;

/* Moves the values one slot on and puts one before them: what `row` demands, or where there is no
 * row the random bits of `any`, one for each column. */
static inline void prepend(columns *c, unsigned n, blyi_band row, uint64_t any) {
    for (unsigned j = 0; j < n; j++) {
        uint64_t high = c->high[j] << 1 | c->low[j] >> 63, low = c->low[j] << 1;
        uint64_t bit = (uint64_t)__builtin_parityll((row.w[0] & low) ^ (row.w[1] & high));
        c->high[j] = high;
        c->low[j] = low | (bit ^ (any >> j & 1));
    }
}

/* Keeps the first `slots` values of a column, which they fill to whole bytes. */
static void keep(const columns *c, unsigned column, uint64_t slots, uint8_t *to) {
    uint64_t words[2] = {blyi_le64(c->low[column]), blyi_le64(c->high[column])};
    memcpy(to, words, (size_t)slots / 8);
}

static void substitute(const blyi_ribbon *r, unsigned shard, const blyi_band *rows, uint8_t *to) {
    const unsigned n = r->columns + (r->wide != 0);
    const uint64_t split = r->wide % BLYI_RIBBON_SLOTS, seed = blyi_fmix64(shard + 1);
    columns c = {{0}, {0}};
    uint8_t *at = to + blyi_ribbon_bytes(r) - split / 8;
    for (uint64_t slot = r->slots; slot > 0;) {
        uint64_t first = (slot - 1) / BLYI_RIBBON_SLOTS * BLYI_RIBBON_SLOTS, slots = slot - first;
        while (slot-- > first) {
            bool is_free = is_zero(rows[slot]);
            prepend(&c, n, rows[slot], is_free ? blyi_fmix64(seed + slot * BLYI_GOLD) : 0);
        }
        slot = first;
        unsigned whole = r->columns + (first + BLYI_RIBBON_SLOTS <= r->wide);
        at -= whole * slots / 8;
        for (unsigned j = 0; j < whole; j++)
            keep(&c, j, slots, at + j * slots / 8);
        if (split && first == r->wide - split)
            keep(&c, r->columns, split, to + blyi_ribbon_bytes(r) - split / 8);
    }
}

/* ---- the solver ------------------------------------------------------------------------------ */

/* Whether that many slots that tell no stranger add more than a 32nd to the rate. */
static bool matters(double slots, const blyi_ribbon *r, const bly_geometry *g) {
    return slots / ((double)r->slots * r->shards) > bly_plan_fpr(g, 1, 128) / 32;
}

/* Puts places for lo, in order, and returns how many there are. The rows are lent for it, and are
 * zero again afterwards. */
static size_t place(const blyi_ribbon *r, bly_hash *h, size_t n, void *rows) {
    for (size_t i = 0; i < n; i++)
        h[i].lo = blyi_band_place(r, h[i]);
    if (r->seed == 0) /* as they were */
        return n;
    size_t left = blyi_sort_unique(h, n, rows, 0);
    memset(rows, 0, n * sizeof *h);
    return left;
}

/* BLY_EFULL under any seed but the last. */
static bly_status solve(bly_filter *f, unsigned shard, bly_hash *h, size_t n,
                        const bly_allocator *a) {
    blyi_ribbon r = blyi_ribbon_of(&f->geometry);
    void *block;
    blyi_band *rows = blyi_alloc_array(a, r.slots * sizeof *rows, &block);
    if (!rows)
        return BLY_ENOMEM;
    idle_keys idle;
    n = place(&r, h, n, rows);
    eliminate(&r, h, n, rows, &idle);
    bool again =
        r.seed < BLYI_RIBBON_LAST_SEED && matters(spanned(&r, h, n, rows, &idle), &r, &f->geometry);
    if (!again)
        substitute(&r, shard, rows, f->body + shard * blyi_ribbon_bytes(&r));
    blyi_free_array(a, block);
    return again ? BLY_EFULL : BLY_OK;
}

/* The slots are at most a sixth more than the keys, and a few. */
static uint64_t scratch(uint64_t n) {
    return (n + n / 6 + 4 * BLYI_RIBBON_SLOTS) * sizeof(blyi_band);
}

const blyi_solver blyi_ribbon_solver = {
    .shard_keys = BLYI_RIBBON_SHARD_KEYS,
    .max_shards = BLYI_RIBBON_SHARDS,
    .plan = blyi_ribbon_plan,
    .solve = solve,
    .scratch = scratch,
};
