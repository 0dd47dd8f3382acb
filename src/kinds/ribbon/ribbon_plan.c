/* Sizing of ribbon filters. ribbon.c explains how they work.
 *
 * The rate. A non-member passes r columns by chance with probability 2^-r. A share of the slots,
 * the first ones of a shard, has one column more, and a window that lies only in those is tested
 * against r+1 columns. So the rate can be anything between 2^-r and 2^-(r+1), and is known exactly.
 *
 * The slots. A non-member also passes when its equation happens to follow from those of the keys.
 * No stored bit can reject it then, so there must be enough slots to make that rare compared with
 * 2^-r. Think of a queue: from left to right, the keys whose windows start at a slot arrive there,
 * and each slot takes one equation. At most 128 equations can wait. Where the queue gets long, the
 * equations of many possible windows follow from those of the keys: the windows are spanned. Where
 * it overflows, all windows are spanned for a few thousand slots.
 *
 * The solver finds such places in the rows of its matrix (ribbon_solve.c). A filter in which they
 * would add more than a 32nd to the rate is discarded, and built again under another seed, and
 * therefore with other windows. So it is enough that most filters succeed with the planned slots. A
 * filter for few keys needs only few extra slots, because there are few places where the queue
 * could get long. For n keys in total, and r columns (those of the wide slots where there are any),
 * a shard of k keys has
 *
 *     k + r + 12 + k (log2(n) + r/5 - 4) / 320     slots
 *
 * The r + 12 is all that a single block needs, in which every window is the same: k equations span
 * another with probability 2^(k - slots). The rest keeps the queue short. It is fitted to a
 * simulation of the queue (10^2 to 10^6 keys, 30 to 4000 filters each): one filter in 20 to one in
 * 100 is built again.
 *
 * In a large filter the queue may overflow now and then, since the rate is a mean over all of it.
 * For k keys in k(1+e) slots, the estimate from the queue is twice the result of elimination (5 *
 * 10^7 slots at each e from 2% to 4%), so the probability of being spanned is
 *
 *     e             3%      4%      5%      6%      7%      8%     10%     12%     16%
 *     probability 2^-8.3 2^-11.3 2^-14.5 2^-17.6 2^-20.8  2^-24   2^-30   2^-36   2^-48
 *
 * and e = (9 + r) / 320 keeps it below 2^-(r+7), a 128th of the rate, for every r up to 30 (at
 * r = 40 it is 2^-(r+6.4)). The common choice e = (4 + r/4) / 128 would add 2% to the rate at
 * r = 7, 10% at r = 14 and half of it at r = 20. So (9 + r) / 320 is the maximum of e. The plan
 * aims for 128/129 of the requested rate and leaves the rest to this probability.
 *
 * Sizes. A single shard consists of whole groups of 8 slots. Each of several shards consists of
 * whole blocks of 128, which are small compared with two million slots. (Files of earlier versions
 * have whole blocks, and no seed: their `hashes` is below 64.)
 */
#include "filter/rate.h"
#include "kinds/ribbon/ribbon_layout.h"

#include <math.h>

/* log2, interpolated linearly between powers of two, so that it is the same on every platform. */
static double ribbon_log2(double x) {
    int exponent;
    double half = frexp(x, &exponent);
    return exponent - 2 + 2 * half;
}

/* The number of slots in a shard, for `keys` keys in each of `shards` shards. */
static double ribbon_slots_for(uint64_t keys, unsigned shards, unsigned columns) {
    double queue = ribbon_log2((double)keys * shards) + columns / 5.0 - 4;
    double load = fmin(9 + columns, fmax(0, queue)) / 320;
    return (double)keys + columns + 12 + ceil((double)keys * load);
}

static bly_status ribbon_check(const bly_geometry *g) {
    const bool grouped = g->hashes >= BLYI_RIBBON_GROUPED;
    unsigned columns = g->hashes % BLYI_RIBBON_GROUPED, log = g->detail / 256 % 16;
    uint64_t parts = g->detail / 256 + 1, slots = BLYI_RIBBON_SLOTS;
    if (g->hashes >= 2 * BLYI_RIBBON_GROUPED || columns < 1 || columns > BLYI_RIBBON_MAX_COLUMNS ||
        g->detail > UINT16_MAX)
        return BLY_EGEOMETRY;
    if (grouped) {
        slots = BLYI_RIBBON_GROUP;
        parts = log ? (uint64_t)(BLYI_RIBBON_SLOTS / BLYI_RIBBON_GROUP) << log : 1;
        if ((unsigned)1 << log > BLYI_RIBBON_MAX_SHARDS)
            return BLY_EGEOMETRY;
    }
    if (g->size == 0 || g->size % parts)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / (slots * (columns + 1)) ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t ribbon_bits(const bly_geometry *g) {
    blyi_ribbon_layout r = blyi_ribbon_layout_of(g);
    return blyi_ribbon_shard_bytes(&r) * 8 * r.shards;
}

static unsigned ribbon_width(const bly_geometry *g) {
    (void)g;
    return 1;
}

static double ribbon_rate(const bly_geometry *g, double n) {
    blyi_ribbon_layout r = blyi_ribbon_layout_of(g);
    double wide = r.wide < BLYI_RIBBON_SLOTS ? 0 : (double)(r.wide - (BLYI_RIBBON_SLOTS - 1));
    (void)n;
    return ldexp(1 - wide / (double)r.starts / 2, -(int)r.columns);
}

/* The maximum number of keys for which a plan would have at most as many slots as g, found by
 * bisection. */
static uint64_t ribbon_max_keys(const bly_geometry *g) {
    blyi_ribbon_layout r = blyi_ribbon_layout_of(g);
    unsigned columns = r.columns + (r.wide != 0);
    uint64_t fits = 0, too_many = r.slots;
    while (too_many - fits > 1) {
        uint64_t keys = fits + (too_many - fits) / 2;
        if (ribbon_slots_for(keys, r.shards, columns) <= (double)r.slots)
            fits = keys;
        else
            too_many = keys;
    }
    return fits * r.shards;
}

static double ribbon_fill(const bly_geometry *g, double n) {
    (void)g;
    return n > 0 ? 1 : 0;
}

/* The smallest number of 256ths of `units` that must be wide so that at least a share `share` of
 * all windows is wide; 256 if all must be. */
static unsigned ribbon_parts_for(uint64_t units, uint64_t unit, double share) {
    double slots = (double)(units * unit), starts = slots - (BLYI_RIBBON_SLOTS - 1);
    if (!(share > 0))
        return 0;
    if (slots <= BLYI_RIBBON_SLOTS)
        return 256;
    double wide = ceil((share * starts + BLYI_RIBBON_SLOTS - 1) / (double)unit);
    double parts = ceil(wide * 256 / (double)units);
    return parts < 256 ? (unsigned)parts : 256;
}

bly_status blyi_ribbon_plan(uint64_t max_keys, unsigned shards, double fpr, unsigned attempt,
                            bly_geometry *out) {
    enum { SAME_SIZE = 4 }; /* attempts before slots are added, 2% each time */
    double p = fmax(fpr * 128 / 129, 0x1p-40);
    unsigned columns = p < 0.5 ? (unsigned)-ilogb(p) : 1, log = 0;
    if (ldexp(p, (int)columns) > 1 && columns > 1)
        columns--;
    double share = 2 * (1 - ldexp(p, (int)columns));
    if (max_keys > BLYI_MAX_BITS / columns / shards)
        return BLY_ETOOBIG;
    while ((unsigned)1 << log < shards)
        log++;
    const uint64_t unit = log ? BLYI_RIBBON_SLOTS : BLYI_RIBBON_GROUP;
    double slots = ribbon_slots_for(max_keys, shards, columns + (share > 0));
    if (attempt >= SAME_SIZE)
        slots += (double)max_keys / 50 * (attempt - SAME_SIZE + 1);
    uint64_t units = (uint64_t)ceil(slots / (double)unit);
    unsigned parts = ribbon_parts_for(units, unit, share);
    if (parts == 256) {
        parts = 0;
        columns++;
    }
    bly_geometry g = {
        .kind = BLY_RIBBON,
        .hashes = BLYI_RIBBON_GROUPED + columns,
        .size = units * (unit / BLYI_RIBBON_GROUP) << log,
        .detail = attempt * 4096 + log * 256 + parts,
    };
    bly_status status = ribbon_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

/* Chooses the number of shards as the builder does. The builder knows how many keys the fullest
 * shard has. Here they are assumed to be the mean plus four standard deviations. */
static bly_status ribbon_plan(uint64_t keys, double fpr, bly_geometry *out) {
    unsigned shards = 1;
    while (shards < BLYI_RIBBON_MAX_SHARDS &&
           (double)keys / BLYI_RIBBON_SHARD_KEYS > shards * sqrt(2))
        shards *= 2;
    uint64_t mean = keys / shards + (keys % shards != 0);
    uint64_t spread = shards > 1 ? (uint64_t)(4 * sqrt((double)mean)) : 0;
    return blyi_ribbon_plan(mean + spread, shards, fpr, 0, out);
}

/* Returns the maximum number of cache lines that a lookup reads: the columns of two neighbouring
 * blocks, 16 bytes for each column, and one more line, because they may begin inside a line. */
static unsigned ribbon_lookup_lines(const bly_geometry *g) {
    return (2 * (g->hashes % BLYI_RIBBON_GROUPED + 1) + 3) / 4 + 1;
}

const blyi_planner blyi_ribbon_planner = {
    .check = ribbon_check,
    .bits = ribbon_bits,
    .width = ribbon_width,
    .plan = ribbon_plan,
    .rate = ribbon_rate,
    .max_keys = ribbon_max_keys,
    .fill = ribbon_fill,
    .count_lookup_lines = ribbon_lookup_lines,
};
