/* Sizing binary fuse filters: the slots that Graf and Lemire (2022) measured to suffice for three
 * slots a key,
 *
 *     n * max(1.125, 0.875 + 0.25 ln 10^6 / ln n)  in segments of  2^floor(ln n / ln 3.33 + 2.25)
 *
 * rounded up to whole segments. (Segments are of 2^14 slots at most, so that what is known of a
 * slot fits a word while a filter is built: shards have fewer keys than would need more, below 2^32
 * keys in all.) Few sets of keys do not fit; for these, `again` adds a sixteenth and a segment each
 * time.
 */
#include "plan_fuse.h"
#include "planner.h"
#include "rate.h"

#include <math.h>

/* A shard's slots are numbered in 32 bits. */
static const double most_slots = 4294967295.0;

static double slots_for(double keys) {
    double n = fmax(keys, 2);
    return n * fmax(1.125, 0.875 + 0.25 * log(1e6) / log(n));
}

static unsigned segment_log_for(double keys) {
    double wanted = floor(log(keys) / log(3.33) + 2.25);
    return (unsigned)fmin(fmax(wanted, BLYI_FUSE_LEAST_LOG), BLYI_FUSE_MOST_LOG);
}

static uint64_t bits(const bly_geometry *g) {
    unsigned shards = blyi_fuse_shards(g);
    return 8 * (blyi_fuse_heading_bytes(shards) + shards * blyi_fuse_shard_bytes(g));
}

static bly_status check(const bly_geometry *g) {
    unsigned shards = blyi_fuse_shards(g), log2_segment = blyi_fuse_segment_log(g);
    uint64_t slots = blyi_fuse_slots(g);
    if (shards & (shards - 1))
        return BLY_EGEOMETRY;
    if (g->hashes < 1 || g->hashes > BLYI_FUSE_MOST_BITS)
        return BLY_EGEOMETRY;
    if (log2_segment < BLYI_FUSE_LEAST_LOG || log2_segment > BLYI_FUSE_MOST_LOG)
        return BLY_EGEOMETRY;
    if (g->size % shards || slots % ((uint64_t)1 << log2_segment) || slots >> log2_segment < 3)
        return BLY_EGEOMETRY;
    if (g->size > BLYI_MAX_BITS / g->hashes || bits(g) > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    return BLY_OK;
}

bly_status blyi_fuse_plan(uint64_t most, unsigned shards, double fpr, unsigned again,
                          bly_geometry *out) {
    /* A hair is no reason for a bit more: 1/256 less the hash's floor still means 8. */
    double r = fmax(1, ceil(-log2(fpr) - BLYI_HAIR));
    if (!(r <= BLYI_FUSE_MOST_BITS))
        return BLY_ERATE;
    unsigned log2_segment = segment_log_for((double)most);
    double wanted = slots_for((double)most) * (1 + again / 16.0);
    double segments = fmax(3, ceil(ldexp(wanted, -(int)log2_segment))) + again;
    double slots = ldexp(segments, (int)log2_segment);
    if (slots > most_slots)
        return BLY_ETOOBIG;
    bly_geometry g = {
        .kind = BLY_FUSE,
        .hashes = (uint32_t)r,
        .size = (uint64_t)slots * shards,
        .detail = 32 * (shards - 1) + log2_segment,
    };
    bly_status status = check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

static unsigned width(const bly_geometry *g) {
    return g->hashes;
}

/* As the builder would for keys spread evenly: the fullest of the shards has some more than the
 * others. */
static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    double n = (double)keys;
    unsigned shards = 1;
    while (shards < BLYI_FUSE_MOST_SHARDS && n / BLYI_FUSE_SHARD_KEYS > shards * sqrt(2))
        shards *= 2;
    double each = n / shards;
    if (shards > 1)
        each += sqrt(2 * log(shards) * each);
    return each < most_slots ? blyi_fuse_plan((uint64_t)ceil(each), shards, fpr, 0, out)
                             : BLY_ETOOBIG;
}

static double rate(const bly_geometry *g, double n) {
    (void)n;
    return ldexp(1, -(int)g->hashes);
}

static uint64_t most(const bly_geometry *g) {
    double slots = (double)blyi_fuse_slots(g);
    uint64_t low = 1, high = blyi_fuse_slots(g); /* low fits, high does not */
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (slots_for((double)mid) <= slots)
            low = mid;
        else
            high = mid;
    }
    return low * blyi_fuse_shards(g);
}

static double fill(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 1;
}

const blyi_planner blyi_plan_fuse = {
    .kind = BLY_FUSE,
    .name = "fuse",
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .most = most,
    .fill = fill,
};
