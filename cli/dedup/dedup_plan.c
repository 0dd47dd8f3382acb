/* dedup_plan.c - chooses the filter for dedup.
 *
 *   -n                       a blocked filter for N keys at the requested rate
 *   --memory                 with a known or estimated number of keys, the layout with the lowest
 *                            rate in that memory; if the number is unknown, a split-block filter as
 *                            large as allowed, whose rate depends on the input
 *   a file                   a growing filter. Its first level has room for the estimated number of
 *                            lines, but at most for dedup_max_estimate, because lines may be
 *                            repeats. One level is usually enough, so it gets 0.8 of the rate
 *   a pipe                   a growing filter, at first for two million keys: five megabytes
 */
#include "dedup/dedup_plan.h"

#include "text/message.h"
#include "text/numbers.h"

static const double hinted_share = 0.8;
static const uint64_t first_keys = 2000000, min_keys = 65536;

/* ---- with --memory --------------------------------------------------------------------------- */

/* The shapes that touch one or two cache lines per key. */
static const struct {
    bly_kind kind;
    uint32_t hashes, block_bytes;
} shapes[] = {
    {BLY_SBBF, 8, 32},     {BLY_SPLIT512, 8, 64}, {BLY_SPLIT512, 12, 64}, {BLY_SPLIT512, 16, 64},
    {BLY_BB2X512, 10, 64}, {BLY_BB2X512, 12, 64}, {BLY_BB2X512, 14, 64},  {BLY_BB2X512, 16, 64},
};

static bly_geometry shape_of(size_t i, uint64_t bytes) {
    return (bly_geometry){
        .kind = shapes[i].kind, .hashes = shapes[i].hashes, .size = bytes / shapes[i].block_bytes};
}

static bly_geometry best_shape(uint64_t bytes, uint64_t keys, double *rate) {
    bly_geometry best = {.kind = BLY_SPLIT512, .hashes = 8, .size = bytes / 64};
    *rate = keys ? bly_plan_fpr(&best, keys, 64) : 0;
    for (size_t i = 0; keys && i < sizeof shapes / sizeof *shapes; i++) {
        bly_geometry g = shape_of(i, bytes);
        double r = bly_plan_fpr(&g, keys, 64);
        if (r < *rate) {
            best = g;
            *rate = r;
        }
    }
    return best;
}

static const double hopeless = 0.5;

static bool within_memory(const state_request *r, bly_spec *out) {
    char size[NUMBER_TEXT], keys[NUMBER_TEXT], percent[NUMBER_TEXT];
    const uint64_t least = r->overhead + (1u << 20);
    uint64_t n = r->keys ? r->keys : r->estimate;
    double rate;
    if (r->memory < least)
        return message_fail("--memory must be at least %s", number_bytes(least, size));
    bly_geometry g = best_shape(r->memory - r->overhead, n, &rate);
    if (n && rate > hopeless && r->keys)
        return message_fail("--memory is too small: with %s keys, %s of all new lines would be "
                            "mistaken for repeats and dropped; give a larger one",
                            number_grouped(n, keys), number_percent(rate, percent));
    if (!n || rate > hopeless) { /* no usable number: plan for the keys that the rate allows */
        rate = r->rate != 0 ? r->rate : state_default_rate;
        n = bly_plan_capacity(&g, rate, 64);
    }
    *out = (bly_spec){.struct_size = sizeof(bly_spec),
                      .geometry = g,
                      .capacity = n,
                      .fpr = rate > state_min_rate ? rate : state_min_rate};
    return true;
}

void dedup_plan_note(const state_request *r, const bly_filter *f) {
    char size[NUMBER_TEXT], keys[NUMBER_TEXT], percent[NUMBER_TEXT];
    bly_geometry g = bly_filter_geometry(f);
    uint64_t n = bly_filter_capacity(f);
    double rate = bly_plan_fpr(&g, n, 64);
    static const double high = 0.05;
    (rate > high ? message_warn : message_note)("the filter uses %s (%s); at %s keys, %s of all "
                                                "new lines are mistaken for repeats and dropped",
                                                number_bytes(bly_plan_bytes(&g), size),
                                                bly_kind_name(g.kind), number_grouped(n, keys),
                                                number_percent(rate, percent));
    if (r->rate != 0 && rate > r->rate * 1.001)
        message_warn("--memory is too small for the requested false-positive rate of %g; give a "
                     "larger one, or a higher -p",
                     r->rate);
}

/* Whether a filter for -n and -p fits, so that not all of the memory is needed. */
static bool fits_memory(const state_request *r, double rate) {
    bly_geometry g;
    return r->keys && r->rate != 0 &&
           bly_plan(bly_plan_kind(rate), r->keys, rate, 0, 64, &g) == BLY_OK &&
           bly_plan_bytes(&g) + r->overhead <= r->memory;
}

uint64_t dedup_decoder_memory(uint64_t memory) {
    static const uint64_t least = 3u << 20;
    return memory / 8 > least ? memory / 8 : least;
}

/* ---- all cases ------------------------------------------------------------------------------- */

bool dedup_plan(const state_request *r, bly_spec *out) {
    double rate = r->rate != 0 ? r->rate : state_default_rate;
    /* Rates below state_min_rate are refused when the filter is created. */
    if (r->memory && rate >= state_min_rate && !fits_memory(r, rate))
        return within_memory(r, out);
    if (r->keys) {
        *out = bly_spec_for(bly_plan_kind(rate), r->keys, rate);
        return true;
    }
    uint64_t hint = r->estimate ? r->estimate : first_keys;
    if (hint > dedup_max_estimate)
        hint = dedup_max_estimate;
    *out = bly_spec_for(BLY_SCALABLE, hint < min_keys ? min_keys : hint, rate);
    if (r->estimate)
        out->scalable.first_share = hinted_share;
    return true;
}
