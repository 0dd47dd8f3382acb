/* Rates: a filter filled to its capacity, asked for keys that were never added. */
#include "bench.h"

#include <math.h>

rate rate_measure(bly_kind kind, double asked, double expected_hits) {
    uint8_t answers[BATCH];
    bly_spec spec = bly_spec_for(kind, RATE_KEYS, asked);
    bly_filter *f;
    must(bly_filter_create(&spec, &f) == BLY_OK, "creating a filter");
    keyset set = keys_open(16);
    for (uint64_t at = 0; at < RATE_KEYS; at += BATCH) {
        size_t n = RATE_KEYS - at < BATCH ? (size_t)(RATE_KEYS - at) : BATCH;
        keys_make(&set, at, n);
        must(bly_filter_add_many(f, set.keys, n, answers, NULL) == BLY_OK, "a batched add");
    }
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
