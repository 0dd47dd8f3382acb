/* Rates: a filter filled to its capacity, asked for keys that were never added. */
#include "bench.h"

#include <math.h>

/* By adding, or by building. */
static bly_filter *filled(bly_kind kind, double asked, const keyset *set) {
    bool built = bly_kind_capabilities(kind) & BLY_CAN_BUILD;
    bly_spec spec = bly_spec_for(kind, RATE_KEYS, asked);
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

rate rate_measure(bly_kind kind, double asked, double expected_hits) {
    uint8_t answers[BATCH];
    keyset set = keys_open(16);
    bly_filter *f = filled(kind, asked, &set);
    uint64_t queries = 0, hits = 0;
    while ((double)queries * asked < expected_hits) {
        keys_make(&set, MISS_KEYS + queries, BATCH);
        hits += bly_filter_contains_many(f, set.keys, BATCH, answers);
        queries += BATCH;
    }
    fold(hits);
    bly_geometry g = bly_filter_geometry(f);
    rate r = {kind, asked, (double)hits / (double)queries, 0, 0};
    r.error = sqrt((double)hits) / (double)queries / asked;
    r.bits_per_key = (double)bly_plan_bits(&g) / RATE_KEYS;
    bly_filter_destroy(f);
    keys_close(&set);
    return r;
}
