/* Measures the build time of the built kinds for several numbers of keys. The time per key should
 * not grow with the number. The time is that of one thread, and includes hashing and collecting the
 * keys. */
#include "bench.h"

static const uint64_t sizes[BUILD_SIZES] = {1000000, 4000000, 10000000, 40000000};
static const bly_kind kinds[BUILD_KINDS] = {BLY_FUSE, BLY_RIBBON};

/* Returns the seconds that building takes, without the time of generating the keys. */
static double build(bly_kind kind, uint64_t keys, const keyset *set) {
    const bly_build_options alone = {.struct_size = sizeof alone, .threads = 1};
    bly_spec spec = bly_spec_for(kind, keys, 0.01);
    bly_builder *b;
    bly_filter *f;
    double seconds = 0;
    must(bly_builder_create(&spec, &alone, &b) == BLY_OK, "a builder");
    for (uint64_t at = 0; at < keys; at += CHUNK) {
        size_t n = keys - at < CHUNK ? (size_t)(keys - at) : CHUNK;
        keys_make(set, at, n);
        double start = seconds_now();
        must(bly_builder_add(b, set->keys, n) == BLY_OK, "collecting keys");
        seconds += seconds_now() - start;
    }
    double start = seconds_now();
    must(bly_builder_finish(b, &f) == BLY_OK, "building a filter");
    seconds += seconds_now() - start;
    fold(bly_filter_count(f));
    bly_filter_destroy(f);
    bly_builder_destroy(b);
    return seconds;
}

void builds_measure(builds *b, const options *opt) {
    keyset set = keys_open(16);
    b->rounds = opt->rounds;
    for (unsigned round = 0; round < b->rounds; round++)
        for (size_t i = 0; i < BUILD_KINDS; i++)
            for (size_t j = 0; j < BUILD_SIZES; j++) {
                b->kinds[i] = kinds[i];
                b->sizes[j] = sizes[j];
                b->ns[i][j][round] = 1e9 * build(kinds[i], sizes[j], &set) / (double)sizes[j];
            }
    keys_close(&set);
}
