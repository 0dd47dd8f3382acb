/* Counts: how often was each key added, roughly, in a byte or a few for each key.
 *
 * Three ideas, none of them new, each of which makes the others pay.
 *
 * - Count-Min (Cormode and Muthukrishnan 2005): a key has four cells among many, shared with other
 *   keys, so each tells too much, never too little; the least of the four tells least too much.
 *
 * - Conservative update (Estan and Varghese 2002): an add raises only those of the four that equal
 *   the least. The others stand higher because of other keys, and lose nothing by waiting.
 *
 * - Logarithmic counters (Morris 1978; in such sketches Pitel and Fouquier 2015): a cell is a byte,
 *   a code. Code c stands for value[c], 0 1 2 .. 27 29 31 and so on with growing steps, and an add
 *   raises it with probability 1 / (value[c+1] - value[c]): so its value grows by one on average at
 *   each add, and is right on average. With the default, steps of 1 + (value - 16) / 11, a byte
 *   reaches 7.1 billion, exactly up to 27, and from there with a standard error that rises to 21%
 *   (sqrt(1 / (2 * 11)); 17% at 100, 20.4% at 500: computed from the chain of codes). With detail 1
 *   the 11 is 24: up to 244,011, exactly up to 40, 14%.
 *
 * Four cells of a byte where others have one of 32 bits, then. Zipf 1.1, 20 million adds of 749
 * thousand keys, 1 and 4 bytes of sketch for each of a million keys: the mean relative error
 * is 1.07 and 0.043, that of four 32-bit cells with the same update in the same memory 9.9 and
 * 0.96.
 *
 * One line. All four cells are in one line of 64 bytes, one miss for each key, which costs
 * accuracy: spread over the whole sketch they come to 0.97 and 0.031 in the same trial. Any four
 * different cells of the 64, by Floyd's rule for a random subset; one in each quarter of the line
 * would be simpler, and a little worse (1.10 and 0.049).
 *
 * Chance. Whether an add counts is decided by a hash of the key's hash and the number of adds
 * before it, which is in the header as `items`. The same keys in the same order give the same
 * bytes, by any batches, and a file goes on as if it had never been away.
 *
 * Body: the lines, a byte to a cell. Line mulhi(lo, lines). For the cells, in four steps from the
 * lowest 16 bits of hi up, x = slice * (61 + j) >> 16, j = 0 .. 3, or 60 + j if x was taken before.
 */
#include "kinds/counts/counts.h"

#include "base/bits.h"
#include "filter/rate.h"
#include "filter/set_operations.h"
#include <bloomery/sketch.h>
#include <math.h>

#define INLINE static inline __attribute__((always_inline))

/* ---- cells ----------------------------------------------------------------------------------- */

typedef struct cells {
    uint8_t *line;
    uint8_t at[BLYI_COUNTS_HASHES];
} cells;

INLINE uint8_t *line_of(uint8_t *body, uint64_t lines, bly_hash h) {
    return body + blyi_mulhi(h.lo, lines) * BLYI_COUNTS_LINE;
}

/* Step j of Floyd's rule, before it is known what was taken. */
INLINE unsigned draw(uint64_t hi, unsigned j) {
    return (unsigned)((hi >> 16 * j & 0xffff) * (BLYI_COUNTS_LINE - 3 + j) >> 16);
}

/* `x`, or `instead` if it was taken, without a branch: every tenth key has such a draw. */
INLINE unsigned unless(unsigned x, unsigned taken, unsigned instead) {
    return x ^ ((x ^ instead) & (0 - taken));
}

INLINE cells cells_of(uint8_t *body, uint64_t lines, bly_hash h) {
    const unsigned last = BLYI_COUNTS_LINE - 1;
    unsigned a = draw(h.hi, 0), b = draw(h.hi, 1), c = draw(h.hi, 2), d = draw(h.hi, 3);
    b = unless(b, b == a, last - 2);
    c = unless(c, (unsigned)(c == a) | (unsigned)(c == b), last - 1);
    d = unless(d, (unsigned)(d == a) | (unsigned)(d == b) | (unsigned)(d == c), last);
    return (cells){line_of(body, lines, h), {(uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d}};
}

INLINE unsigned least(const cells *c) {
    const uint8_t *line = c->line;
    unsigned x = line[c->at[0]], y = line[c->at[1]], z = line[c->at[2]], w = line[c->at[3]];
    x = x < y ? x : y;
    z = z < w ? z : w;
    return x < z ? x : z;
}

/* ---- use ------------------------------------------------------------------------------------- */

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++)
        blyi_prefetch_to_read(line_of(f->body, f->geometry.size, h[i]));
}

/* The turn-th add. Returns the code that the key had. Without a branch: whether an add counts is
 * anyone's guess. */
INLINE unsigned put_one(const cells *c, const uint64_t *value, bly_hash h, uint64_t turn) {
    unsigned code = least(c);
    uint64_t step = value[(code + 1) % BLYI_COUNTS_CODES] - value[code];
    uint64_t dice = blyi_fmix64((h.lo ^ blyi_rotl64(h.hi, 32)) + turn * BLYI_GOLD);
    unsigned counts = (code != BLYI_COUNTS_TOP) & (blyi_mulhi(dice, step) == 0);
    for (unsigned j = 0; j < BLYI_COUNTS_HASHES; j++) {
        unsigned old = c->line[c->at[j]];
        c->line[c->at[j]] = (uint8_t)(old + (counts & (old == code)));
    }
    return code;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    const uint64_t *value = blyi_counts_values_of(f), lines = f->geometry.size, turn = f->items;
    uint8_t *body = f->body;
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        cells c = cells_of(body, lines, h[i]);
        bool is_new = put_one(&c, value, h[i], blyi_sum(turn, i)) == 0;
        fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    f->items = blyi_sum(f->items, n);
    sum->fresh += fresh;
    sum->done += n;
    return BLY_OK;
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        cells c = cells_of(f->body, f->geometry.size, h[i]);
        bool hit = least(&c) != 0;
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

static uint64_t copies(const bly_filter *f, bly_hash h) {
    cells c = cells_of(f->body, f->geometry.size, h);
    return blyi_counts_values_of(f)[least(&c)];
}

/* ---- look ------------------------------------------------------------------------------------ */

/* The chance that four random cells of a line are all in use, when `used` of them are. */
static double line_rate(unsigned used) {
    double rate = 1;
    for (unsigned j = 0; j < BLYI_COUNTS_HASHES; j++)
        rate *= used > j ? (double)(used - j) / (BLYI_COUNTS_LINE - j) : 0;
    return rate;
}

/* The keys most likely to have left that share of the cells in use. */
static double keys_for(const bly_filter *f, double fill) {
    double hit = (double)BLYI_COUNTS_HASHES / BLYI_COUNTS_LINE / (double)f->geometry.size;
    return fill < 1 ? log1p(-fill) / log1p(-hit) : (double)INFINITY;
}

static void stats(const bly_filter *f, bly_stats *out) {
    const bly_geometry *g = &f->geometry;
    double rate = 0, lines = (double)g->size;
    uint64_t all = 0;
    for (uint64_t i = 0; i < g->size; i++) {
        const uint8_t *line = f->body + i * BLYI_COUNTS_LINE;
        unsigned used = 0;
        for (unsigned j = 0; j < BLYI_COUNTS_LINE; j++) {
            used += line[j] != 0;
            out->stuck += line[j] == BLYI_COUNTS_TOP;
        }
        all += used;
        rate += line_rate(used);
    }
    out->set_bits = 8 * all;
    out->fill = (double)all / (lines * BLYI_COUNTS_LINE);
    double keys = out->estimated_keys = keys_for(f, out->fill);
    double floor = isfinite(keys) ? blyi_hash_floor(keys, f->hasher.bits) : 0;
    out->expected_fill = isfinite(keys) ? bly_plan_fill(g, keys) : 1;
    out->predicted_fpr = isfinite(keys) ? fmin(1, blyi_rate(g, keys) + floor) : 1;
    out->current_fpr = fmin(1, rate / lines + floor);
}

static bly_status overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    uint64_t in_a = 0, in_b = 0, in_both = 0;
    double all = (double)a->body_bytes;
    for (uint64_t i = 0; i < a->body_bytes; i++) {
        in_a += a->body[i] != 0;
        in_b += b->body[i] != 0;
        in_both += a->body[i] != 0 && b->body[i] != 0;
    }
    *out = blyi_overlap_of(keys_for(a, (double)in_a / all), keys_for(a, (double)in_b / all),
                           keys_for(a, (double)(in_a + in_b - in_both) / all),
                           keys_for(a, (double)in_both / all));
    return BLY_OK;
}

static const blyi_ops counts_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_OVERLAP | BLY_CAN_MAP | BLY_TELLS_COPIES,
    .prefetch = prefetch,
    .try_add_many = put,
    .contains_many = contains,
    .count_copies = copies,
    .fill_stats = stats,
    .union_with = blyi_counts_unite,
    .estimate_overlap = overlap,
};

/* ---- create ---------------------------------------------------------------------------------- */

bly_status bly_counts_create(uint64_t keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_COUNTS, keys, fpr);
    return bly_filter_create(&spec, out);
}

bly_status bly_counts_create_in(uint64_t bytes, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_COUNTS, 0, 0);
    *out = NULL;
    if (bytes < BLYI_COUNTS_LINE)
        return BLY_EIMPOSSIBLE;
    spec.geometry.hashes = BLYI_COUNTS_HASHES;
    spec.geometry.size = bytes / BLYI_COUNTS_LINE;
    return bly_filter_create(&spec, out);
}

/* ---- descriptor ------------------------------------------------------------------------------ */

const blyi_kind blyi_kind_counts = {
    .code = BLY_COUNTS,
    .name = "counts",
    .meaning = "how often each key came, exact while it is seldom, then an estimate",
    .reason = "how often a key came, roughly; goes on counting however many keys come",
    .hashes_name = "counters per key",
    .size_unit = "line",
    .describe_rest = blyi_describe_counters,
    .meets = BLY_NEED_COUNTS,
    .requires = BLY_NEED_COUNTS,
    .refusals = {[BLY_OP_INTERSECT] =
                     "what other keys have added to a counter cannot be told from it",
                 [BLY_OP_SUBTRACT] = "counters that were raised by chance cannot be lowered again"},
    .planner = &blyi_counts_planner,
    .ops = &counts_ops,
};
