/* Sizing binary fuse filters.
 *
 * Equations of three slots each can be solved with 1.09 slots per key (fuse_core.c), and by peeling
 * alone, which is quicker, with a little more than 1.12 in a long chain of segments. How many are
 * planned, for n keys in a shard:
 *
 * - Up to 12,288 keys, in a small filter, about 1.125 n. Its bytes are a multiple of 64, so that
 * number is rounded, to the nearest; but 1.09 n + 5 is the least, and all bits there are become
 * slots. Nine sets of ten can be solved with 1.11 n, more than half of all with 1.095 n, at n =
 * 1000.
 * - Else min(1.145 n, 1.1192 n + 2L), in segments of L slots, to the nearest whole one. 1.1192 is
 *   what lets nineteen shards of twenty be peeled when L = 4096 (measured, n = 300,000 to
 * 1,250,000: n / 0.8935 slots, and the two segments at the end that no key begins in). The shorter
 * the segments, the more of the slots peeling needs (n / 0.872 at 1024) and the less is lost at the
 *   end; about 64 segments, and no longer ones than 4096 slots, are best for the space and for the
 *   cache. Where that would be more than 1.145 n, some dozen keys may have to be put off.
 *
 * Segments are of 2^14 slots at most, so that what is known of a slot fits a word while a filter is
 * built. A set of keys that does not fit tries other seeds; then `again` adds a 32nd and a
 * segment, or 64 bytes, each time.
 */
#include "kinds/fuse/fuse_plan.h"
#include "filter/kind.h"
#include "filter/rate.h"

#include <math.h>

/* A shard's slots are numbered in 32 bits. */
static const double most_slots = 4294967295.0;

/* Keys in a small filter. */
static const double most_small = 12288;

/* Slots per key, where there is no reason for more or for less. */
static const double small_slots = 1.125, chain_slots = 1.145;

static double slots_for(double keys, double segment) {
    return fmin(chain_slots * keys, 1.1192 * keys + 2 * segment);
}

static unsigned segment_log_for(double keys) {
    double wanted = fmax(fmin(floor(log2(keys / 64)), 12), floor(log2(keys / 256)));
    return (unsigned)fmin(fmax(wanted, BLYI_FUSE_MIN_LOG), BLYI_FUSE_MAX_LOG);
}

static double segments_for(double keys, unsigned log2_segment, unsigned again) {
    double slots = slots_for(keys, ldexp(1, (int)log2_segment)) * (1 + again / 32.0);
    return fmax(3, floor(ldexp(slots, -(int)log2_segment) + 0.5)) + again;
}

/* Slots of a small filter of so many times 64 bytes. */
static double small_in(double lines, unsigned r) {
    return 3 * floor((512 * lines - blyi_fuse_small_tail(r)) / (3 * r));
}

static double small_lines_for(double keys, unsigned r, unsigned again) {
    double lines = fmax(1, floor(small_slots * keys * r / 512 + 0.5));
    return (small_in(lines, r) < 1.09 * keys + 5 ? lines + 1 : lines) + again;
}

static uint64_t bits(const bly_geometry *g) {
    unsigned shards = blyi_fuse_shards(g);
    return 8 * (blyi_fuse_heading_bytes(g) + shards * blyi_fuse_shard_bytes(g));
}

static bly_status check(const bly_geometry *g) {
    unsigned shards = blyi_fuse_shards(g), log2_segment = blyi_fuse_segment_log(g);
    uint64_t slots = blyi_fuse_slots(g);
    if (shards & (shards - 1))
        return BLY_EGEOMETRY;
    if (g->hashes < 1 || g->hashes > BLYI_FUSE_MAX_BITS)
        return BLY_EGEOMETRY;
    if (blyi_fuse_is_small(g))
        return g->size % 3 || g->size < 3 || g->size > BLYI_FUSE_MAX_SMALL ? BLY_EGEOMETRY : BLY_OK;
    if (log2_segment < BLYI_FUSE_MIN_LOG || log2_segment > BLYI_FUSE_MAX_LOG)
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
    double r = fmax(1, ceil(-log2(fpr) - BLYI_RATE_TOLERANCE)), n = (double)most, slots;
    unsigned log2_segment = 0;
    if (!(r <= BLYI_FUSE_MAX_BITS))
        return BLY_ERATE;
    if (shards == 1 && n <= most_small) {
        slots = small_in(small_lines_for(n, (unsigned)r, again), (unsigned)r);
    } else {
        log2_segment = segment_log_for(n);
        slots = ldexp(segments_for(n, log2_segment, again), (int)log2_segment);
    }
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
    while (shards < BLYI_FUSE_MAX_SHARDS && n / BLYI_FUSE_SHARD_KEYS > shards * sqrt(2))
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

/* Whether so many keys in a shard are planned no more than it has. */
static bool fits(const bly_geometry *g, double keys) {
    unsigned r = g->hashes, log2_segment = blyi_fuse_segment_log(g);
    if (blyi_fuse_is_small(g))
        return keys <= most_small && small_in(small_lines_for(keys, r, 0), r) <= (double)g->size;
    return ldexp(segments_for(keys, log2_segment, 0), (int)log2_segment) <=
           (double)blyi_fuse_slots(g);
}

static uint64_t most(const bly_geometry *g) {
    uint64_t low = 1, high = blyi_fuse_slots(g); /* low fits, high does not */
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (fits(g, (double)mid))
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

const blyi_planner blyi_fuse_planner = {
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .max_keys = most,
    .fill = fill,
    .lookup_lines = 3,
};
