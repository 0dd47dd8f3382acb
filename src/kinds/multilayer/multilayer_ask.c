/* Asking a multilayer filter: a query reads the base of one block, and nothing else. So batches go
 * through stream.c like those of a blocked Bloom filter.
 *
 * All probes of a key are tested before the answer is looked at: a branch for each would be
 * mispredicted for a good part of the strangers. The loop over the probes is unrolled for the
 * numbers of them that plans have for rates down to 0.001%.
 */
#include "kinds/multilayer/multilayer.h"

#define INLINE static inline __attribute__((always_inline))

INLINE bool has(const void *block, uint64_t bits, unsigned k) {
    const uint64_t *base = block;
    uint64_t all = 1, w = bits;
    for (unsigned j = 0; j < k; j++) {
        if (j > 0 && j % 4 == 0)
            w = blyi_ml_next(w);
        unsigned x = blyi_ml_probe(w, j % 4);
        all &= blyi_le64(base[x >> 16]) >> (x >> 10 & 63);
    }
    return all & 1;
}

INLINE size_t probe(const void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                    uint8_t *out) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = has((const uint8_t *)blocks + s[i].at, s[i].bits, k);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

bool blyi_ml_has(const void *block, uint64_t bits, unsigned k) {
    return has(block, bits, k);
}

static bool has_4(const void *block, uint64_t bits, unsigned k) {
    (void)k;
    return has(block, bits, 4);
}

static size_t probe_any(const void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                        uint8_t *out) {
    switch (k) {
    case 4:
        return probe(blocks, s, n, 4, out);
    case 5:
        return probe(blocks, s, n, 5, out);
    case 6:
        return probe(blocks, s, n, 6, out);
    case 7:
        return probe(blocks, s, n, 7, out);
    case 8:
        return probe(blocks, s, n, 8, out);
    case 9:
        return probe(blocks, s, n, 9, out);
    default:
        return probe(blocks, s, n, k, out);
    }
}

void blyi_ml_choose(bly_filter *f) {
    f->contains_block = f->geometry.hashes == 4 ? has_4 : blyi_ml_has;
    f->contains_blocks = probe_any;
}

void blyi_ml_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++)
        blyi_prefetch_to_read(f->body + blyi_block_probe_of(h[i], f->geometry.size, 6).at);
}
