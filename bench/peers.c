/* peers - Bloomery's side of scripts/bench-peers.
 *
 * "peers N P" runs one round for each line on standard input: it fills new filters for N keys at
 * the false-positive rate P, looks keys up, and prints the results of the round, separated by
 * blanks. "peers lines FIRST COUNT" prints the keys with the numbers FIRST to FIRST + COUNT - 1 in
 * hexadecimal, one per line.
 *
 * GuavaBench.java does the same with Guava. peers.py runs rounds of the two in turn. Keys are
 * generated outside the timed sections, BATCH at a time, so that both sides have them in a near
 * cache. */
#include "bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PEER_KEY_BYTES = 16 };

typedef struct peer_round {
    double ns[6]; /* nanoseconds per key to add, to look up non-members, to look up members: by
                     single calls, then in batches */
    uint64_t bytes, false_positives;
} peer_round;

static keyset peer_keys;

void must(bool truth, const char *what) {
    if (truth)
        return;
    fprintf(stderr, "peers: %s failed\n", what);
    exit(1);
}

static uint64_t peer_add(void *filter, const bly_bytes *keys, size_t n) {
    uint64_t added_keys = 0;
    for (size_t i = 0; i < n; i++) {
        bool added = false;
        must(bly_filter_add(filter, keys[i].data, keys[i].size, &added) == BLY_OK, "an add");
        added_keys += added;
    }
    return added_keys;
}

static uint64_t peer_add_many(void *filter, const bly_bytes *keys, size_t n) {
    uint8_t added[BATCH];
    bly_batch_result result;
    must(bly_filter_add_many(filter, keys, n, added, &result) == BLY_OK, "a batched add");
    return result.changed;
}

static uint64_t peer_contains(void *filter, const bly_bytes *keys, size_t n) {
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += bly_filter_contains(filter, keys[i].data, keys[i].size);
    return found;
}

static uint64_t peer_contains_many(void *filter, const bly_bytes *keys, size_t n) {
    uint8_t answers[BATCH];
    return bly_filter_contains_many(filter, keys, n, answers);
}

/* Times `work` on n keys. Stores the nanoseconds per key, and returns the sum of the results of
 * `work`. */
static uint64_t timed(keys_fn *work, bly_filter *f, uint64_t first, uint64_t n, double *ns) {
    uint64_t sum = 0;
    *ns = 1e9 * keys_spend(&peer_keys, first, n, work, f, &sum) / (double)n;
    return sum;
}

static bly_filter *touched(const bly_spec *spec) {
    bly_filter *f;
    must(bly_filter_create(spec, &f) == BLY_OK, "creating a filter");
    bly_filter_clear(f);
    return f;
}

static peer_round run_round(const bly_spec *spec, uint64_t n, uint64_t first_miss) {
    peer_round r;
    bly_filter *single = touched(spec), *batched = touched(spec);
    (void)timed(peer_add, single, 0, n, &r.ns[0]);
    r.false_positives = timed(peer_contains, single, first_miss, n, &r.ns[1]);
    must(timed(peer_contains, single, 0, n, &r.ns[2]) == n, "finding every member");
    (void)timed(peer_add_many, batched, 0, n, &r.ns[3]);
    (void)timed(peer_contains_many, batched, first_miss, n, &r.ns[4]);
    must(timed(peer_contains_many, batched, 0, n, &r.ns[5]) == n, "finding every member");
    must(bly_filter_equal(single, batched), "setting the same bits singly and in batches");
    bly_filter_info info = {.struct_size = sizeof info};
    bly_filter_get_info(single, &info);
    r.bytes = info.bytes;
    bly_filter_destroy(batched);
    bly_filter_destroy(single);
    return r;
}

static void print_key(bly_bytes key) {
    const uint8_t *bytes = key.data;
    for (size_t i = 0; i < key.size; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

static void print_lines(uint64_t first, uint64_t count) {
    for (uint64_t at = 0; at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? (size_t)(count - at) : CHUNK;
        keys_make(&peer_keys, first + at, n);
        for (size_t i = 0; i < n; i++)
            print_key(peer_keys.keys[i]);
    }
}

/* The first line of the output is a key, so that peers.py can check that both sides have the same
 * keys. */
static void run_rounds(uint64_t n, double p) {
    char line[64];
    bly_spec spec = bly_spec_for(bly_plan_kind(p), n, p);
    keys_make(&peer_keys, MISS_KEYS, 1);
    print_key(peer_keys.keys[0]);
    fflush(stdout);
    for (uint64_t round = 0; fgets(line, sizeof line, stdin); round++) {
        peer_round r = run_round(&spec, n, MISS_KEYS + round * n);
        for (size_t i = 0; i < sizeof r.ns / sizeof *r.ns; i++)
            printf("%.3f ", r.ns[i]);
        printf("%" PRIu64 " %" PRIu64 "\n", r.bytes, r.false_positives);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    peer_keys = keys_open(PEER_KEY_BYTES);
    if (argc == 4 && strcmp(argv[1], "lines") == 0) {
        print_lines(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    } else if (argc == 3) {
        run_rounds(strtoull(argv[1], NULL, 10), strtod(argv[2], NULL));
    } else {
        fprintf(stderr, "usage: peers N P | peers lines FIRST COUNT\n");
        return 2;
    }
    keys_close(&peer_keys);
    return 0;
}
