/* Sizing of the ribbon kind (filters/built/ribbon.c says how it works).
 *
 * The rate. A stranger passes r columns by chance with probability 2^-r. A share of the slots, the
 * first ones of a shard, has one column more, and a window that lies in those alone is tested
 * against r+1: so the rate is anything between 2^-r and 2^-(r+1), and known exactly.
 *
 * The slots. A stranger also passes when its equation happens to follow from those of the keys.
 * Nothing stored can tell it then, so there must be slots enough to make that rare beside 2^-r.
 * Left to right, keys arrive one slot's load at a time, and each slot takes one equation; those
 * that wait are a queue that can hold 128. Where it gets long, the keys' equations span a good part
 * of all windows, and where it overflows, they span all of them for a few thousand slots.
 *
 * The solver sees that in the rows. A filter in which it would add more than a 32nd to the rate is
 * thrown away, and built again under another seed, which is to say with other windows. So it is
 * enough that most filters get along with their slots, and few keys need only few slots more: the
 * queue must not get long anywhere, and there are not many places. For n keys in all, and r columns
 * (the wide ones' where there are any), a shard of k keys has
 *
 *     k + r + 12 + k (log2(n) + r/5 - 4) / 320     slots
 *
 * What is r + 12 there is all that a single block needs, in which every window is the same: k
 * equations span another with chance 2^(k - slots). The rest keeps the queue short. It is fitted to
 * a queue's simulation (10^2 to 10^6 keys, 30 to 4000 filters each): one filter in 20 to one in 100
 * is built again.
 *
 * A large filter can bear that the queue overflows now and then, since the rate is a mean over all
 * of it. For k keys in k(1+e) slots the queue's equations give twice what elimination does (5 *
 * 10^7 slots at each e from 2% to 4%), which makes the chance to be spanned
 *
 *     e           3%      4%      5%      6%      7%      8%     10%     12%     16%
 *     chance   2^-8.3 2^-11.3 2^-14.5 2^-17.6 2^-20.8   2^-24   2^-30   2^-36   2^-48
 *
 * and e = (9 + r) / 320 keeps it below 2^-(r+7), a 128th of the rate, for every r up to 30 (at
 * r = 40 it is 2^-(r+6.4)). The e = (4 + r/4) / 128 that is often seen would add 2% to the rate at
 * r = 7, 10% at r = 14 and half of it at r = 20. So that is what e is at most. The plan aims for
 * 128/129 of the rate asked and leaves the rest to this chance.
 *
 * Sizes. One shard is cut to groups of 8 slots, several to blocks of 128, a small part of two
 * million. (Files of earlier builds have whole blocks, and no seed: their k is below 64.)
 */
#include "kinds/ribbon/ribbon_plan.h"
#include "filter/kind.h"
#include "filter/rate.h"

#include <math.h>

/* log2, straight between powers of two: the same everywhere. */
static double log_of(double x) {
    int exponent;
    double half = frexp(x, &exponent);
    return exponent - 2 + 2 * half;
}

/* Slots for so many keys in each of so many shards. */
static double slots_for(uint64_t keys, unsigned shards, unsigned columns) {
    double queue = log_of((double)keys * shards) + columns / 5.0 - 4;
    double load = fmin(9 + columns, fmax(0, queue)) / 320;
    return (double)keys + columns + 12 + ceil((double)keys * load);
}

static bly_status check(const bly_geometry *g) {
    const bool cut = g->hashes >= BLYI_RIBBON_CUT;
    unsigned columns = g->hashes % BLYI_RIBBON_CUT, log = g->detail / 256 % 16;
    uint64_t parts = g->detail / 256 + 1, slots = BLYI_RIBBON_SLOTS;
    if (g->hashes >= 2 * BLYI_RIBBON_CUT || columns < 1 || columns > BLYI_RIBBON_COLUMNS ||
        g->detail > UINT16_MAX)
        return BLY_EGEOMETRY;
    if (cut) {
        slots = BLYI_RIBBON_GROUP;
        parts = log ? (uint64_t)(BLYI_RIBBON_SLOTS / BLYI_RIBBON_GROUP) << log : 1;
        if ((unsigned)1 << log > BLYI_RIBBON_SHARDS)
            return BLY_EGEOMETRY;
    }
    if (g->size == 0 || g->size % parts)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / (slots * (columns + 1)) ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t bits(const bly_geometry *g) {
    blyi_ribbon r = blyi_ribbon_of(g);
    return blyi_ribbon_bytes(&r) * 8 * r.shards;
}

static unsigned width(const bly_geometry *g) {
    (void)g;
    return 1;
}

static double rate(const bly_geometry *g, double n) {
    blyi_ribbon r = blyi_ribbon_of(g);
    double wide = r.wide < BLYI_RIBBON_SLOTS ? 0 : (double)(r.wide - (BLYI_RIBBON_SLOTS - 1));
    (void)n;
    return ldexp(1 - wide / (double)r.starts / 2, -(int)r.columns);
}

/* The most keys for which no more slots would be planned: found by halving. */
static uint64_t most(const bly_geometry *g) {
    blyi_ribbon r = blyi_ribbon_of(g);
    unsigned columns = r.columns + (r.wide != 0);
    uint64_t fits = 0, too_many = r.slots;
    while (too_many - fits > 1) {
        uint64_t keys = fits + (too_many - fits) / 2;
        if (slots_for(keys, r.shards, columns) <= (double)r.slots)
            fits = keys;
        else
            too_many = keys;
    }
    return fits * r.shards;
}

static double fill(const bly_geometry *g, double n) {
    (void)g;
    return n > 0 ? 1 : 0;
}

/* The smallest number of 256ths of `units` that makes the windows of `share` of all starts wide;
 * 256 when it takes all of them. */
static unsigned parts_for(uint64_t units, uint64_t unit, double share) {
    double slots = (double)(units * unit), starts = slots - (BLYI_RIBBON_SLOTS - 1);
    if (!(share > 0))
        return 0;
    if (slots <= BLYI_RIBBON_SLOTS)
        return 256;
    double wide = ceil((share * starts + BLYI_RIBBON_SLOTS - 1) / (double)unit);
    double parts = ceil(wide * 256 / (double)units);
    return parts < 256 ? (unsigned)parts : 256;
}

bly_status blyi_ribbon_plan(uint64_t most_keys, unsigned shards, double fpr, unsigned again,
                            bly_geometry *out) {
    enum { SAME = 4 }; /* seeds before it is more slots too, 2% each time */
    double p = fmax(fpr * 128 / 129, 0x1p-40);
    unsigned columns = p < 0.5 ? (unsigned)-ilogb(p) : 1, log = 0;
    if (ldexp(p, (int)columns) > 1 && columns > 1)
        columns--;
    double share = 2 * (1 - ldexp(p, (int)columns));
    if (most_keys > BLYI_MAX_BITS / columns / shards)
        return BLY_ETOOBIG;
    while ((unsigned)1 << log < shards)
        log++;
    const uint64_t unit = log ? BLYI_RIBBON_SLOTS : BLYI_RIBBON_GROUP;
    double slots = slots_for(most_keys, shards, columns + (share > 0));
    if (again >= SAME)
        slots += (double)most_keys / 50 * (again - SAME + 1);
    uint64_t units = (uint64_t)ceil(slots / (double)unit);
    unsigned parts = parts_for(units, unit, share);
    if (parts == 256) {
        parts = 0;
        columns++;
    }
    bly_geometry g = {
        .kind = BLY_RIBBON,
        .hashes = BLYI_RIBBON_CUT + columns,
        .size = units * (unit / BLYI_RIBBON_GROUP) << log,
        .detail = again * 4096 + log * 256 + parts,
    };
    bly_status status = check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

/* The builder chooses the number of shards like this, and knows how many keys the fullest has. Here
 * that is taken to be four standard deviations more than the mean. */
static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    unsigned shards = 1;
    while (shards < BLYI_RIBBON_SHARDS && (double)keys / BLYI_RIBBON_SHARD_KEYS > shards * sqrt(2))
        shards *= 2;
    uint64_t mean = keys / shards + (keys % shards != 0);
    uint64_t spread = shards > 1 ? (uint64_t)(4 * sqrt((double)mean)) : 0;
    return blyi_ribbon_plan(mean + spread, shards, fpr, 0, out);
}

/* Two blocks' columns of 16 bytes, side by side, beginning anywhere. */
static unsigned ribbon_lookup_lines(const bly_geometry *g) {
    return (2 * (g->hashes % BLYI_RIBBON_CUT + 1) + 3) / 4 + 1;
}

const blyi_planner blyi_ribbon_planner = {
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .max_keys = most,
    .fill = fill,
    .count_lookup_lines = ribbon_lookup_lines,
};
