/* Measures false-positive rates: lookups of non-members in a filter filled to its capacity. */
#include "bench.h"

#include <math.h>

/* Returns a full filter, which was filled by adds or built. */
static bly_filter *filled(bly_kind kind, double requested, const keyset *set) {
    bool built = bly_kind_capabilities(kind) & BLY_CAN_BUILD;
    bly_spec spec = bly_spec_for(kind, RATE_KEYS, requested);
    bly_filter *f = NULL;
    bly_builder *b = NULL;
    must((built ? bly_builder_create(&spec, NULL, &b) : bly_filter_create(&spec, &f)) == BLY_OK,
         "creating a filter");
    for (uint64_t at = 0; at < RATE_KEYS; at += BATCH) {
        size_t n = RATE_KEYS - at < BATCH ? (size_t)(RATE_KEYS - at) : BATCH;
        keys_make(set, at, n);
        must((built ? bly_builder_add(b, set->keys, n)
                    : bly_filter_add_many(f, set->keys, n, NULL, NULL)) == BLY_OK,
             "a batched add");
    }
    must(!built || bly_builder_finish(b, &f) == BLY_OK, "building a filter");
    bly_builder_destroy(b);
    return f;
}

rate rate_measure(bly_kind kind, double requested, double expected_hits) {
    uint8_t answers[BATCH];
    keyset set = keys_open(16);
    bly_filter *f = filled(kind, requested, &set);
    uint64_t lookups = 0, hits = 0;
    while ((double)lookups * requested < expected_hits) {
        keys_make(&set, MISS_KEYS + lookups, BATCH);
        hits += bly_filter_contains_many(f, set.keys, BATCH, answers);
        lookups += BATCH;
    }
    fold(hits);
    bly_geometry g = bly_filter_geometry(f);
    rate r = {kind, requested, (double)hits / (double)lookups, 0, 0};
    r.error = sqrt((double)hits) / (double)lookups / requested;
    r.bits_per_key = (double)bly_plan_bits(&g) / RATE_KEYS;
    bly_filter_destroy(f);
    keys_close(&set);
    return r;
}
