/* Sizing of the ribbon kind (filters/built/ribbon.c says how it works).
 *
 * The rate. A stranger passes r columns by chance with probability 2^-r. A share of the blocks, the
 * first ones of a shard, has one column more, and a window that lies in those alone is tested
 * against r+1: so the rate is anything between 2^-r and 2^-(r+1), and known exactly.
 *
 * The slots. A stranger also passes when its equation happens to follow from those of the keys.
 * Nothing stored can tell it then, so there must be slots enough to make that rare beside 2^-r.
 * Left to right, keys arrive one slot's load at a time, and each slot takes one equation; those
 * that wait are a queue that can hold 128. It overflows now and then, and where it does, the keys'
 * equations span whole windows for a few thousand slots. So the chance to be spanned is that of
 * a queue's busy period to reach 128. For n keys in n(1+e) slots the queue's equations give twice
 * what elimination does (5 * 10^7 slots at each e from 2% to 4%), which makes the chance
 *
 *     e           3%      4%      5%      6%      7%      8%     10%     12%     16%
 *     chance   2^-8.3 2^-11.3 2^-14.5 2^-17.6 2^-20.8   2^-24   2^-30   2^-36   2^-48
 *
 * and e = (9 + r) / 320 keeps it below 2^-(r+7), a 128th of the rate, for every r up to 30 (at
 * r = 40 it is 2^-(r+6.4)). The e = (4 + r/4) / 128 that is often seen would add 2% to the rate at
 * r = 7, 10% at r = 14 and half of it at r = 20. The plan aims for 128/129 of the rate asked and
 * leaves the rest to this chance.
 *
 * That is an average over filters. One overflow spans some two thousand slots, which means nothing
 * to a large filter, but in one of a million keys adds 0.2% to the rate. The solver notices; where
 * it matters, in one filter of five at most, it asks for another plan, with 2% more slots, in which
 * an overflow is 80 times as rare.
 *
 * Few keys. Windows of 128 slots have 127 fewer places to start than there are slots, which makes
 * the load higher by as much, but the queue starts empty and takes a while to get long. The two
 * make up for each other from 2 blocks to 256 (elimination, 10^6 to 10^7 slots each), up to the
 * last eight keys. In a single block, every key's window is the same, and n equations span a
 * random one with chance 2^(n-128): hence the second limit below. A filter takes at least one
 * block, 16 bytes for each column, however few its keys.
 */
#include "plan_ribbon.h"
#include "planner.h"
#include "rate.h"

#include <math.h>

/* The most keys for that many blocks. */
static uint64_t room(uint64_t blocks, unsigned columns, unsigned parts) {
    uint64_t slots = blocks * BLYI_RIBBON_SLOTS, scale = 329 * 256 + 256 * columns + parts;
    /* slots * 320 * 256 / scale, in two steps that do not overflow */
    uint64_t by_load = slots / scale * (320 * 256) + slots % scale * (320 * 256) / scale - 8;
    uint64_t by_edge = slots - 12 - columns - (parts != 0);
    return by_load < by_edge ? by_load : by_edge;
}

static bly_status check(const bly_geometry *g) {
    unsigned shards = g->detail / 256 + 1;
    if (g->hashes < 1 || g->hashes > BLYI_RIBBON_COLUMNS || g->size == 0 || g->size % shards)
        return BLY_EGEOMETRY;
    uint64_t widest = BLYI_RIBBON_SLOTS * ((uint64_t)g->hashes + 1);
    return g->size > BLYI_MAX_BITS / widest ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t bits(const bly_geometry *g) {
    blyi_ribbon r = blyi_ribbon_of(g);
    return r.words * 64 * r.shards;
}

static unsigned width(const bly_geometry *g) {
    (void)g;
    return 1;
}

/* How many of a shard's windows lie in wide blocks alone. */
static double wide_windows(uint64_t wide) {
    return wide ? (double)(wide * BLYI_RIBBON_SLOTS - (BLYI_RIBBON_SLOTS - 1)) : 0;
}

static double rate(const bly_geometry *g, double n) {
    blyi_ribbon r = blyi_ribbon_of(g);
    (void)n;
    return ldexp(1 - wide_windows(r.wide) / (double)r.starts / 2, -(int)r.columns);
}

uint64_t blyi_ribbon_room(const bly_geometry *g) {
    return room(blyi_ribbon_of(g).blocks, g->hashes, g->detail % 256);
}

static uint64_t most(const bly_geometry *g) {
    return blyi_ribbon_of(g).shards * blyi_ribbon_room(g);
}

static double fill(const bly_geometry *g, double n) {
    (void)g;
    return n > 0 ? 1 : 0;
}

/* The smallest number of 256ths that makes the windows of `share` of all starts wide; 256 when it
 * takes all blocks. */
static unsigned parts_for(uint64_t blocks, double share) {
    if (!(share > 0))
        return 0;
    double starts = (double)(blocks * BLYI_RIBBON_SLOTS - (BLYI_RIBBON_SLOTS - 1));
    double wide = ceil((share * starts + BLYI_RIBBON_SLOTS - 1) / BLYI_RIBBON_SLOTS);
    double parts = ceil(wide * 256 / (double)blocks);
    return parts < 256 ? (unsigned)parts : 256;
}

bly_status blyi_ribbon_plan(uint64_t most_keys, unsigned shards, double fpr, unsigned again,
                            bly_geometry *out) {
    double p = fmax(fpr * 128 / 129, 0x1p-40);
    unsigned columns = p < 0.5 ? (unsigned)-ilogb(p) : 1, parts = 0;
    if (ldexp(p, (int)columns) > 1 && columns > 1)
        columns--;
    double share = 2 * (1 - ldexp(p, (int)columns));
    if (most_keys > BLYI_MAX_BITS / columns / shards)
        return BLY_ETOOBIG;
    uint64_t keys = again ? blyi_ribbon_eased(most_keys) : most_keys;
    /* Nearly there at once: the load decides for all but the smallest. */
    uint64_t blocks = keys / BLYI_RIBBON_SLOTS + 1;
    for (;; blocks++) {
        unsigned c = columns;
        parts = parts_for(blocks, share);
        if (parts == 256) {
            parts = 0;
            c++;
        }
        uint64_t holds = room(blocks, c, parts);
        if (holds >= keys) {
            columns = c;
            break;
        }
        blocks += (keys - holds) / BLYI_RIBBON_SLOTS;
    }
    bly_geometry g = {
        .kind = BLY_RIBBON,
        .hashes = columns,
        .size = blocks * shards,
        .detail = 256 * (shards - 1) + parts,
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

const blyi_planner blyi_plan_ribbon = {
    .kind = BLY_RIBBON,
    .name = "ribbon",
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .most = most,
    .fill = fill,
};
