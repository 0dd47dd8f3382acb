/* Generates keys. The bytes of key number i are computed from i, so a hundred million keys need
 * only the memory of one chunk. Keys are adjacent in memory, like the lines of a file. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* The finaliser of MurmurHash3. It is a bijection, so different numbers result in different
 * keys. */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 33)) * UINT64_C(0xFF51AFD7ED558CCD);
    x = (x ^ (x >> 33)) * UINT64_C(0xC4CEB9FE1A85EC53);
    return x ^ (x >> 33);
}

keyset keys_open(size_t len) {
    keyset set = {len, malloc(len * CHUNK), malloc(CHUNK * sizeof *set.keys)};
    must(set.bytes != NULL && set.keys != NULL, "memory for the keys");
    for (size_t i = 0; i < CHUNK; i++)
        set.keys[i] = (bly_bytes){set.bytes + i * len, len};
    return set;
}

void keys_make(const keyset *set, uint64_t first, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint8_t *to = set->bytes + i * set->len;
        uint64_t word = mix(first + i);
        for (size_t at = 0; at < set->len; at += sizeof word) {
            size_t rest = set->len - at;
            memcpy(to + at, &word, rest < sizeof word ? rest : sizeof word);
            word = (word ^ (word >> 29)) * UINT64_C(0x9E3779B97F4A7C15);
        }
    }
}

void keys_cut(bly_bytes *keys, size_t len, size_t n) {
    for (size_t i = 0; i < n; i++)
        keys[i].size = len;
}

double keys_spend(const keyset *set, uint64_t first, uint64_t n, keys_fn *work, void *context,
                  uint64_t *sum) {
    double took = 0;
    for (uint64_t at = 0; at < n; at += BATCH) {
        size_t some = n - at < BATCH ? (size_t)(n - at) : BATCH;
        keys_make(set, first + at, some);
        double start = seconds_now();
        *sum += work(context, set->keys, some);
        took += seconds_now() - start;
    }
    return took;
}

void keys_close(keyset *set) {
    free(set->bytes);
    free(set->keys);
    *set = (keyset){0};
}
