/* redisbloom_bloom.h - the struct of RedisBloom's scaling Bloom filter, for the files that
 * implement it. Internal.
 */
#ifndef BLYI_FORMATS_REDISBLOOM_BLOOM_H
#define BLYI_FORMATS_REDISBLOOM_BLOOM_H

#include "base/bits.h"
#include "formats/redisbloom_layers.h"

/* One layer, which redisbloom.h and RedisBloom call a link. */
typedef struct blyi_rb_bloom_layer {
    blyi_rb_layer base; /* the bits: bit x is bit x & 7 of byte x >> 3 */
    uint64_t capacity, bits, items;
    double error, bpe;
    uint32_t hashes;
    uint32_t n2;
    uint64_t modulus; /* 2^n2, or `bits` if n2 is 0; at most 8 * base.bytes */
    uint64_t inverse; /* floor((2^64 - 1) / modulus) */
} blyi_rb_bloom_layer;

struct bly_rb_bloom {
    blyi_rb_layers layers; /* of blyi_rb_bloom_layer */
    uint64_t items;        /* of all layers */
    uint32_t options, growth;
    /* While the filter is being loaded: */
    uint32_t encoding;
    uint64_t links, max_bytes;
};

static inline blyi_rb_bloom_layer *blyi_rb_bloom_layer_at(const bly_rb_bloom *f, uint64_t i) {
    return (blyi_rb_bloom_layer *)(void *)blyi_rb_layer_at(&f->layers, i);
}

/* Returns x modulo the layer's modulus m. With i = floor((2^64 - 1) / m), mulhi(x, i) is the
 * quotient or one less, so one subtraction corrects the remainder. A division would cost several
 * times as much. */
static inline uint64_t blyi_rb_bloom_position(const blyi_rb_bloom_layer *l, uint64_t x) {
    uint64_t rest = x - blyi_mulhi(x, l->inverse) * l->modulus;
    return rest >= l->modulus ? rest - l->modulus : rest;
}

/* Allocates a filter without layers. */
bly_status blyi_rb_bloom_alloc(uint64_t options, uint64_t growth, const bly_allocator *a,
                               bly_rb_bloom **out);

/* Checks the fields of a loaded layer whose bits take `bytes` bytes, and fills in *out. Returns
 * BLY_OK, or BLY_ECORRUPT if such a layer cannot exist. */
bly_status blyi_rb_bloom_layer_check(const bly_rb_link *fields, uint64_t bytes,
                                     blyi_rb_bloom_layer *out);

#endif
