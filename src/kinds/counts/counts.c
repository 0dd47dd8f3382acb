/* Counts: estimates how often each key was added, in one or a few bytes per key.
 *
 * It combines three known ideas, each of which makes the others more useful.
 *
 * - Count-Min (Cormode and Muthukrishnan 2005): a key has four cells among many, shared with other
 *   keys, so each counts too much, never too little. The smallest of the four is the closest.
 *
 * - Conservative update (Estan and Varghese 2002): an add raises only those of the four that equal
 *   the smallest. The others are higher because of other keys, and need not be raised yet.
 *
 * - Logarithmic counters (Morris 1978; in such sketches Pitel and Fouquier 2015): a cell is a byte,
 *   a code. Code c stands for value[c], 0 1 2 .. 27 29 31 and so on with growing steps, and an add
 *   raises it with probability 1 / (value[c+1] - value[c]): so its value grows by one on average at
 *   each add, and is right on average. With the default, steps of 1 + (value - 16) / 11, a byte
 *   reaches 7.1 billion, exactly up to 27, and from there with a standard error that rises to 21%
 *   (sqrt(1 / (2 * 11)); 17% at 100, 20.4% at 500: computed from the chain of codes). With detail 1
 *   the divisor is 24 instead of 11: a byte reaches 244,011, exactly up to 40, and the standard
 *   error rises to 14%.
 *
 * So the four cells of a key take as much memory as one cell of 32 bits in other sketches. Measured
 * with 20 million adds of 749 thousand keys by Zipf's law with exponent 1.1, and sketches of 1 and
 * 4 MB, one and four bytes for each of a million keys: the mean relative error is 1.07 and 0.043.
 * With 32-bit cells, the same update and the same memory it is 9.9 and 0.96.
 *
 * One line. All four cells are in one line of 64 bytes, one cache miss for each key, which costs
 * accuracy: spread over the whole sketch they would give 0.97 and 0.031 in the same experiment. The
 * cells are any four different ones of the 64, by Floyd's rule for a random subset. One in each
 * quarter of the line would be simpler, and a little worse (1.10 and 0.049).
 *
 * Randomness. Whether an add counts is decided by a hash of the key's hash and the number of adds
 * before it, which is in the file's header as `items`. The same keys in the same order give the
 * same bytes, however they are batched, and a filter that is loaded from a file goes on as if it
 * had never been saved.
 *
 * Body: the lines, one byte per cell. A key has line mulhi(lo, lines). Its cells are chosen in four
 * steps j = 0 .. 3, each from the next 16 bits of hi, the lowest first: x = slice * (61 + j) >> 16,
 * or 60 + j if x was chosen before.
 *
 * Rounding. When two sketches are added, or one is halved, the new value v of a cell need not be
 * the value of a code. It is then replaced by one of the two codes c and c+1 whose values are next
 * to it. The upper one is chosen with probability (v - value[c]) / (value[c+1] - value[c]), which
 * keeps v right on average. One random number is used for a whole line. So a larger v never gets a
 * smaller code than a smaller one, and the smallest of a key's cells afterwards comes from the
 * smallest before: if every cell were rounded separately, the smallest of four would come out too
 * low. The random number is a hash of the line and of the adds that have been counted: the same
 * sketches give the same bytes.
 */
#include "base/bits.h"
#include "filter/rate.h"
#include "filter/set_operations.h"
#include "hash/mix.h"
#include "kinds/counts/counts_layout.h"

#include <bloomery/filter.h>
#include <math.h>

#define COUNTS_INLINE static inline __attribute__((always_inline))

/* ---- codes ----------------------------------------------------------------------------------- */

/* value[0] = 0, and value[c+1] = value[c] + step, where
 *     step = 1 + max(0, value[c] - 16) / d,      rounded down, d = 11 or 24.
 * The table is written out so that every machine has the same values. test_counts.c recomputes
 * them. */
const uint64_t blyi_counts_values[BLYI_COUNTS_GROWTHS][BLYI_COUNTS_CODES] = {
    {0,          1,          2,          3,          4,          5,          6,
     7,          8,          9,          10,         11,         12,         13,
     14,         15,         16,         17,         18,         19,         20,
     21,         22,         23,         24,         25,         26,         27,
     29,         31,         33,         35,         37,         39,         42,
     45,         48,         51,         55,         59,         63,         68,
     73,         79,         85,         92,         99,         107,        116,
     126,        137,        149,        162,        176,        191,        207,
     225,        245,        266,        289,        314,        342,        372,
     405,        441,        480,        523,        570,        621,        677,
     738,        804,        876,        955,        1041,       1135,       1237,
     1349,       1471,       1604,       1749,       1907,       2079,       2267,
     2472,       2696,       2940,       3206,       3497,       3814,       4160,
     4537,       4949,       5398,       5888,       6422,       7005,       7641,
     8335,       9092,       9918,       10819,      11802,      12874,      14043,
     15319,      16711,      18229,      19885,      21692,      23663,      25813,
     28159,      30718,      33510,      36555,      39877,      43501,      47455,
     51768,      56473,      61606,      67206,      73315,      79979,      87249,
     95180,      103832,     113270,     123566,     134798,     147051,     160418,
     175001,     190909,     208263,     227195,     247848,     270379,     294958,
     321771,     351022,     382932,     417743,     455719,     497147,     542341,
     591644,     645429,     704103,     768111,     837938,     914113,     997213,
     1087868,    1186764,    1294651,    1412346,    1540740,    1680806,    1833606,
     2000297,    2182141,    2380517,    2596927,    2833010,    3090555,    3371514,
     3678014,    4012378,    4377139,    4775060,    5209155,    5682714,    6199323,
     6762897,    7377705,    8048405,    8780077,    9578265,    10449015,   11398925,
     12435190,   13565661,   14798902,   16144256,   17611915,   19212997,   20959632,
     22865052,   24943692,   27211299,   29685053,   32383693,   35327664,   38539269,
     42042838,   45864913,   50034450,   54583035,   59545128,   64958321,   70863622,
     77305769,   84333565,   92000252,   100363910,  109487901,  119441346,  130299649,
     142145071,  155067349,  169164380,  184542959,  201319591,  219621371,  239586949,
     261367580,  285128268,  311049019,  339326202,  370174038,  403826222,  440537696,
     480586577,  524276265,  571937743,  623932082,  680653179,  742530740,  810033534,
     883672945,  964006848,  1051643833, 1147247817, 1251543072, 1365319714, 1489439687,
     1624843294, 1772556320, 1933697803, 2109488511, 2301260193, 2510465664, 2738689814,
     2987661614, 3259267214, 3555564233, 3878797344, 4231415283, 4616089399, 5035733889,
     5493527878, 5992939502, 6537752183, 7132093290},
    {0,      1,      2,      3,      4,      5,      6,      7,      8,      9,      10,     11,
     12,     13,     14,     15,     16,     17,     18,     19,     20,     21,     22,     23,
     24,     25,     26,     27,     28,     29,     30,     31,     32,     33,     34,     35,
     36,     37,     38,     39,     40,     42,     44,     46,     48,     50,     52,     54,
     56,     58,     60,     62,     64,     67,     70,     73,     76,     79,     82,     85,
     88,     92,     96,     100,    104,    108,    112,    117,    122,    127,    132,    137,
     143,    149,    155,    161,    168,    175,    182,    189,    197,    205,    213,    222,
     231,    240,    250,    260,    271,    282,    294,    306,    319,    332,    346,    360,
     375,    390,    406,    423,    440,    458,    477,    497,    518,    539,    561,    584,
     608,    633,    659,    686,    714,    744,    775,    807,    840,    875,    911,    949,
     988,    1029,   1072,   1117,   1163,   1211,   1261,   1313,   1368,   1425,   1484,   1546,
     1610,   1677,   1747,   1820,   1896,   1975,   2057,   2143,   2232,   2325,   2422,   2523,
     2628,   2737,   2851,   2970,   3094,   3223,   3357,   3497,   3643,   3795,   3953,   4118,
     4289,   4468,   4654,   4848,   5050,   5260,   5479,   5707,   5945,   6193,   6451,   6720,
     7000,   7292,   7596,   7912,   8242,   8585,   8943,   9315,   9703,   10107,  10528,  10967,
     11424,  11900,  12396,  12912,  13450,  14010,  14594,  15202,  15835,  16495,  17182,  17898,
     18644,  19421,  20230,  21073,  21951,  22865,  23818,  24810,  25844,  26921,  28043,  29211,
     30428,  31696,  33017,  34393,  35826,  37319,  38874,  40494,  42181,  43938,  45769,  47676,
     49662,  51731,  53886,  56131,  58470,  60906,  63444,  66087,  68840,  71708,  74696,  77808,
     81050,  84427,  87945,  91609,  95426,  99402,  103544, 107858, 112352, 117033, 121909, 126988,
     132279, 137790, 143531, 149511, 155740, 162229, 168988, 176029, 183363, 191003, 198961, 207251,
     215886, 224881, 234251, 244011},
};

static inline const uint64_t *counts_values_of(const bly_filter *f) {
    return blyi_counts_values[f->geometry.detail];
}

/* ---- cells ----------------------------------------------------------------------------------- */

typedef struct counts_cells {
    uint8_t *line;
    uint8_t at[BLYI_COUNTS_HASHES];
} counts_cells;

COUNTS_INLINE uint8_t *counts_line_of(uint8_t *body, uint64_t lines, bly_hash h) {
    return body + blyi_mulhi(h.lo, lines) * BLYI_COUNTS_LINE;
}

/* The draw of step j of Floyd's rule, which may be a cell that was chosen already. */
COUNTS_INLINE unsigned counts_draw(uint64_t hi, unsigned j) {
    return (unsigned)((hi >> 16 * j & 0xffff) * (BLYI_COUNTS_LINE - 3 + j) >> 16);
}

/* Returns `instead` if `taken` (x was chosen already), else x. There is no branch, because one key
 * in ten has such a draw. */
COUNTS_INLINE unsigned counts_unless(unsigned x, unsigned taken, unsigned instead) {
    return x ^ ((x ^ instead) & (0 - taken));
}

COUNTS_INLINE counts_cells counts_cells_of(uint8_t *body, uint64_t lines, bly_hash h) {
    const unsigned last = BLYI_COUNTS_LINE - 1;
    unsigned a = counts_draw(h.hi, 0), b = counts_draw(h.hi, 1), c = counts_draw(h.hi, 2),
             d = counts_draw(h.hi, 3);
    b = counts_unless(b, b == a, last - 2);
    c = counts_unless(c, (unsigned)(c == a) | (unsigned)(c == b), last - 1);
    d = counts_unless(d, (unsigned)(d == a) | (unsigned)(d == b) | (unsigned)(d == c), last);
    return (counts_cells){counts_line_of(body, lines, h),
                          {(uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d}};
}

COUNTS_INLINE unsigned counts_min_code(const counts_cells *c) {
    const uint8_t *line = c->line;
    unsigned x = line[c->at[0]], y = line[c->at[1]], z = line[c->at[2]], w = line[c->at[3]];
    x = x < y ? x : y;
    z = z < w ? z : w;
    return x < z ? x : z;
}

/* ---- add and contains ------------------------------------------------------------------------ */

static void counts_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++)
        blyi_prefetch_to_read(counts_line_of(f->body, f->geometry.size, h[i]));
}

/* Adds a key. `number` is the number of adds before this one. Returns the code that the key had
 * before. There is no branch, because whether an add raises the cells is unpredictable. */
COUNTS_INLINE unsigned counts_add_one(const counts_cells *c, const uint64_t *value, bly_hash h,
                                      uint64_t number) {
    unsigned code = counts_min_code(c);
    uint64_t step = value[(code + 1) % BLYI_COUNTS_CODES] - value[code];
    uint64_t random = blyi_fmix64((h.lo ^ blyi_rotl64(h.hi, 32)) + number * BLYI_GOLD);
    unsigned counts = (code != BLYI_COUNTS_MAX_CODE) & (blyi_mulhi(random, step) == 0);
    for (unsigned j = 0; j < BLYI_COUNTS_HASHES; j++) {
        unsigned old = c->line[c->at[j]];
        c->line[c->at[j]] = (uint8_t)(old + (counts & (old == code)));
    }
    return code;
}

static bly_status counts_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bly_batch_result *sum) {
    const uint64_t *value = counts_values_of(f), lines = f->geometry.size, first = f->items;
    uint8_t *body = f->body;
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        counts_cells c = counts_cells_of(body, lines, h[i]);
        bool is_new = counts_add_one(&c, value, h[i], blyi_sum(first, i)) == 0;
        fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    f->items = blyi_sum(f->items, n);
    sum->changed += fresh;
    sum->done += n;
    return BLY_OK;
}

static size_t counts_contains_many(const bly_filter *f, const bly_hash *h, size_t n,
                                   uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        counts_cells c = counts_cells_of(f->body, f->geometry.size, h[i]);
        bool hit = counts_min_code(&c) != 0;
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

static uint64_t counts_copies(const bly_filter *f, bly_hash h) {
    counts_cells c = counts_cells_of(f->body, f->geometry.size, h);
    return counts_values_of(f)[counts_min_code(&c)];
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The probability that four random cells of a line are all in use, when `used` cells are. */
static double counts_line_fpr(unsigned used) {
    double rate = 1;
    for (unsigned j = 0; j < BLYI_COUNTS_HASHES; j++)
        rate *= used > j ? (double)(used - j) / (BLYI_COUNTS_LINE - j) : 0;
    return rate;
}

/* The most likely number of keys if a share `fill` of the cells is in use. */
static double counts_keys_for(const bly_filter *f, double fill) {
    double hit = (double)BLYI_COUNTS_HASHES / BLYI_COUNTS_LINE / (double)f->geometry.size;
    return fill < 1 ? log1p(-fill) / log1p(-hit) : (double)INFINITY;
}

static void counts_fill_stats(const bly_filter *f, bly_filter_info *out) {
    const bly_geometry *g = &f->geometry;
    double rate = 0, lines = (double)g->size;
    uint64_t all = 0;
    for (uint64_t i = 0; i < g->size; i++) {
        const uint8_t *line = f->body + i * BLYI_COUNTS_LINE;
        unsigned used = 0;
        for (unsigned j = 0; j < BLYI_COUNTS_LINE; j++) {
            used += line[j] != 0;
            out->stuck += line[j] == BLYI_COUNTS_MAX_CODE;
        }
        all += used;
        rate += counts_line_fpr(used);
    }
    out->set_bits = 8 * all;
    out->fill = (double)all / (lines * BLYI_COUNTS_LINE);
    double keys = out->estimated_keys = counts_keys_for(f, out->fill);
    double floor = isfinite(keys) ? blyi_hash_floor(keys, f->hasher.bits) : 0;
    out->expected_fill = isfinite(keys) ? bly_plan_fill(g, keys) : 1;
    out->expected_fpr = isfinite(keys) ? fmin(1, blyi_rate(g, keys) + floor) : 1;
    out->current_fpr = fmin(1, rate / lines + floor);
}

/* ---- union, overlap, halving ----------------------------------------------------------------- */

static uint64_t counts_line_random(uint64_t line, uint64_t items) {
    return blyi_fmix64(blyi_fmix64(items + 1) + line * BLYI_GOLD);
}

/* The code for v, rounded as described above. `from` is a code whose value is at most v, at which
 * the search begins. */
static unsigned counts_round(const uint64_t *value, uint64_t v, unsigned from, uint64_t random) {
    unsigned code = from;
    while (code < BLYI_COUNTS_MAX_CODE && value[code + 1] <= v)
        code++;
    if (code == BLYI_COUNTS_MAX_CODE)
        return code;
    return code + (blyi_mulhi(random, value[code + 1] - value[code]) < v - value[code]);
}

static bly_status counts_union(bly_filter *dst, const bly_filter *src) {
    const uint64_t *value = counts_values_of(dst);
    uint64_t items = blyi_sum(dst->items, src->items);
    for (uint64_t i = 0; i < dst->geometry.size; i++) {
        uint64_t random = counts_line_random(i, items);
        uint8_t *to = dst->body + i * BLYI_COUNTS_LINE;
        const uint8_t *from = src->body + i * BLYI_COUNTS_LINE;
        for (unsigned j = 0; j < BLYI_COUNTS_LINE; j++) {
            if (from[j] == 0)
                continue;
            unsigned more = to[j] > from[j] ? to[j] : from[j];
            to[j] = (uint8_t)counts_round(value, value[to[j]] + value[from[j]], more, random);
        }
    }
    dst->items = items;
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* What a code becomes when counts are halved: `lower`, or one more if mulhi(random, of) < up. */
typedef struct counts_half {
    uint64_t up, of;
    unsigned lower;
} counts_half;

/* An exact count becomes half of it, rounded down, so a key that was added once is forgotten. */
static counts_half counts_half_of(const uint64_t *value, unsigned code) {
    counts_half h = {0, 1, 0};
    while (2 * value[h.lower + 1] <= value[code])
        h.lower++;
    if (value[code] != code) {
        h.up = value[code] - 2 * value[h.lower];
        h.of = 2 * (value[h.lower + 1] - value[h.lower]);
    }
    return h;
}

bly_status bly_counts_age(bly_filter *f) {
    counts_half halves[BLYI_COUNTS_CODES];
    if (f->geometry.kind != BLY_COUNTS)
        return BLY_EUNSUPPORTED;
    for (unsigned code = 0; code < BLYI_COUNTS_CODES; code++)
        halves[code] = counts_half_of(counts_values_of(f), code);
    for (uint64_t i = 0; i < f->geometry.size; i++) {
        uint64_t random = counts_line_random(i, f->items);
        uint8_t *line = f->body + i * BLYI_COUNTS_LINE;
        for (unsigned j = 0; j < BLYI_COUNTS_LINE; j++) {
            const counts_half *h = &halves[line[j]];
            line[j] = (uint8_t)(h->lower + (blyi_mulhi(random, h->of) < h->up));
        }
    }
    /* Halving counts as an add: neither the next halving nor later adds may use the same random
     * numbers again, or errors would add up instead of averaging out. */
    f->items = blyi_sum(f->items, 1);
    return BLY_OK;
}

static bly_status counts_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    uint64_t in_a = 0, in_b = 0, in_both = 0;
    double all = (double)a->body_bytes;
    for (uint64_t i = 0; i < a->body_bytes; i++) {
        in_a += a->body[i] != 0;
        in_b += b->body[i] != 0;
        in_both += a->body[i] != 0 && b->body[i] != 0;
    }
    *out = blyi_overlap_of(counts_keys_for(a, (double)in_a / all),
                           counts_keys_for(a, (double)in_b / all),
                           counts_keys_for(a, (double)(in_a + in_b - in_both) / all),
                           counts_keys_for(a, (double)in_both / all));
    return BLY_OK;
}

/* ---- descriptor ------------------------------------------------------------------------------ */

static const blyi_ops counts_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_OVERLAP | BLY_CAN_MAP | BLY_CAN_COUNT,
    .prefetch = counts_prefetch,
    .try_add_many = counts_add_many,
    .contains_many = counts_contains_many,
    .count_copies = counts_copies,
    .fill_stats = counts_fill_stats,
    .union_with = counts_union,
    .estimate_overlap = counts_overlap,
};

const blyi_kind blyi_kind_counts = {
    .code = BLY_COUNTS,
    .name = "counts",
    .meaning = "how often each key was added: exact for small counts, then estimated",
    .reason = "estimates how often a key was added, for any number of keys",
    .hashes_name = "counters per key",
    .size_unit = "line",
    .describe_rest = blyi_describe_counters,
    .meets = BLY_NEED_COUNTS,
    .requires = BLY_NEED_COUNTS,
    .refusals = {[BLY_OP_INTERSECT] = "a counter does not show which keys have raised it",
                 [BLY_OP_SUBTRACT] = "counters are raised at random, so adds cannot be undone"},
    .planner = &blyi_counts_planner,
    .ops = &counts_ops,
};
