/* Sizing of binary fuse filters.
 *
 * Equations of three slots each can be solved with 1.09 slots per key (fuse_core.c). Peeling alone,
 * which is faster, needs a little more than 1.12 in a long chain of segments. The number of slots
 * planned for n keys in a shard is:
 *
 * - Up to 12,288 keys, in a small filter, about 1.125 n. The filter's size is a multiple of 64
 *   bytes: the nearest to that of 1.125 n slots, but large enough for 1.09 n + 5. It has as many
 *   slots as fit into this size. At n = 1000, nine sets of ten can be solved with 1.11 n, and more
 *   than half of all sets with 1.095 n.
 * - Otherwise min(1.145 n, 1.1192 n + 2L), in segments of L slots, rounded to whole segments. With
 *   1.1192, nineteen of twenty shards can be peeled when L = 4096 (measured for n = 300,000 to
 *   1,250,000: n / 0.8935 slots, and the two segments at the end, in which no key has its first
 *   slot). Shorter segments need more slots for peeling (n / 0.872 at 1024), but have fewer slots
 *   in the last two segments. About 64 segments, of at most 4096 slots, are best for the space and
 *   for the cache. If that would take more than 1.145 n slots, the number of slots is 1.145 n, and
 *   a few dozen keys may have to be deferred (fuse_core.c).
 *
 * Segments have at most 2^14 slots, so that the state of a slot fits a word while a filter is
 * built. If a set of keys cannot be solved, other seeds are tried. If all of these fail, each
 * further `attempt` adds a 32nd of the slots and a segment, or in a small filter 64 bytes.
 */
#include "filter/rate.h"
#include "kinds/fuse/fuse_layout.h"

#include <math.h>

/* The maximum number of slots in a shard, because slot numbers have 32 bits. */
static const double fuse_max_slots = 4294967295.0;

/* The maximum number of keys of a small filter. */
static const double fuse_max_small_keys = 12288;

/* Slots per key: in a small filter, before rounding; and at most in a chain of segments. */
static const double fuse_small_factor = 1.125, fuse_chain_factor = 1.145;

static double fuse_chain_slots_for(double keys, double segment) {
    return fmin(fuse_chain_factor * keys, 1.1192 * keys + 2 * segment);
}

static unsigned fuse_segment_log_for(double keys) {
    double wanted = fmax(fmin(floor(log2(keys / 64)), 12), floor(log2(keys / 256)));
    return (unsigned)fmin(fmax(wanted, BLYI_FUSE_MIN_SEGMENT_LOG), BLYI_FUSE_MAX_SEGMENT_LOG);
}

static double fuse_segments_for(double keys, unsigned log2_segment, unsigned attempt) {
    double slots = fuse_chain_slots_for(keys, ldexp(1, (int)log2_segment)) * (1 + attempt / 32.0);
    return fmax(3, floor(ldexp(slots, -(int)log2_segment) + 0.5)) + attempt;
}

/* The number of slots in a small filter of `lines` times 64 bytes. */
static double fuse_small_slots_in(double lines, unsigned r) {
    return 3 * floor((512 * lines - blyi_fuse_small_tail(r)) / (3 * r));
}

static double fuse_small_lines_for(double keys, unsigned r, unsigned attempt) {
    double lines = fmax(1, floor(fuse_small_factor * keys * r / 512 + 0.5));
    return (fuse_small_slots_in(lines, r) < 1.09 * keys + 5 ? lines + 1 : lines) + attempt;
}

static uint64_t fuse_bits(const bly_geometry *g) {
    unsigned shards = blyi_fuse_shards(g);
    return 8 * (blyi_fuse_heading_bytes(g) + shards * blyi_fuse_shard_bytes(g));
}

static bly_status fuse_check(const bly_geometry *g) {
    unsigned shards = blyi_fuse_shards(g), log2_segment = blyi_fuse_segment_log(g);
    uint64_t slots = blyi_fuse_shard_slots(g);
    if (shards & (shards - 1))
        return BLY_EGEOMETRY;
    if (g->hashes < 1 || g->hashes > BLYI_FUSE_MAX_BITS)
        return BLY_EGEOMETRY;
    if (blyi_fuse_is_small(g))
        return g->size % 3 || g->size < 3 || g->size > BLYI_FUSE_MAX_SMALL_SLOTS ? BLY_EGEOMETRY
                                                                                 : BLY_OK;
    if (log2_segment < BLYI_FUSE_MIN_SEGMENT_LOG || log2_segment > BLYI_FUSE_MAX_SEGMENT_LOG)
        return BLY_EGEOMETRY;
    if (g->size % shards || slots % ((uint64_t)1 << log2_segment) || slots >> log2_segment < 3)
        return BLY_EGEOMETRY;
    if (g->size > BLYI_MAX_BITS / g->hashes || fuse_bits(g) > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    return BLY_OK;
}

bly_status blyi_fuse_plan(uint64_t max_keys, unsigned shards, double fpr, unsigned attempt,
                          bly_geometry *out) {
    /* A negligible difference must not cost a bit: 1/256 minus the rate of hash collisions still
     * means 8 bits. */
    double r = fmax(1, ceil(-log2(fpr) - BLYI_RATE_TOLERANCE)), n = (double)max_keys, slots;
    unsigned log2_segment = 0;
    if (!(r <= BLYI_FUSE_MAX_BITS))
        return BLY_ERATE;
    if (shards == 1 && n <= fuse_max_small_keys) {
        slots = fuse_small_slots_in(fuse_small_lines_for(n, (unsigned)r, attempt), (unsigned)r);
    } else {
        log2_segment = fuse_segment_log_for(n);
        slots = ldexp(fuse_segments_for(n, log2_segment, attempt), (int)log2_segment);
    }
    if (slots > fuse_max_slots)
        return BLY_ETOOBIG;
    bly_geometry g = {
        .kind = BLY_FUSE,
        .hashes = (uint32_t)r,
        .size = (uint64_t)slots * shards,
        .detail = 32 * (shards - 1) + log2_segment,
    };
    bly_status status = fuse_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

static unsigned fuse_width(const bly_geometry *g) {
    return g->hashes;
}

/* Plans as the builder does if the hashes are spread evenly: the fullest shard is expected to have
 * a few more keys than the mean. */
static bly_status fuse_plan(uint64_t keys, double fpr, bly_geometry *out) {
    double n = (double)keys;
    unsigned shards = 1;
    while (shards < BLYI_FUSE_MAX_SHARDS && n / BLYI_FUSE_SHARD_KEYS > shards * sqrt(2))
        shards *= 2;
    double each = n / shards;
    if (shards > 1)
        each += sqrt(2 * log(shards) * each);
    return each < fuse_max_slots ? blyi_fuse_plan((uint64_t)ceil(each), shards, fpr, 0, out)
                                 : BLY_ETOOBIG;
}

static double fuse_rate(const bly_geometry *g, double n) {
    (void)n;
    return ldexp(1, -(int)g->hashes);
}

/* Whether a plan for this number of keys per shard would have at most as many slots as g. */
static bool fuse_fits(const bly_geometry *g, double keys) {
    unsigned r = g->hashes, log2_segment = blyi_fuse_segment_log(g);
    if (blyi_fuse_is_small(g))
        return keys <= fuse_max_small_keys &&
               fuse_small_slots_in(fuse_small_lines_for(keys, r, 0), r) <= (double)g->size;
    return ldexp(fuse_segments_for(keys, log2_segment, 0), (int)log2_segment) <=
           (double)blyi_fuse_shard_slots(g);
}

static uint64_t fuse_max_keys(const bly_geometry *g) {
    uint64_t low = 1, high = blyi_fuse_shard_slots(g); /* low fits, high does not */
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (fuse_fits(g, (double)mid))
            low = mid;
        else
            high = mid;
    }
    return low * blyi_fuse_shards(g);
}

static double fuse_fill(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 1;
}

const blyi_planner blyi_fuse_planner = {
    .check = fuse_check,
    .bits = fuse_bits,
    .width = fuse_width,
    .plan = fuse_plan,
    .rate = fuse_rate,
    .max_keys = fuse_max_keys,
    .fill = fuse_fill,
    .lookup_lines = 3,
};
