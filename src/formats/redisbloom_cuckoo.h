/* redisbloom_cuckoo.h - the struct of RedisBloom's cuckoo filter, for the files that implement it.
 * Internal.
 */
#ifndef BLYI_FORMATS_REDISBLOOM_CUCKOO_H
#define BLYI_FORMATS_REDISBLOOM_CUCKOO_H

#include "formats/redisbloom_layers.h"

/* One layer, which redisbloom.h and RedisBloom call a sub-filter. */
typedef struct blyi_rb_cuckoo_layer {
    blyi_rb_layer base; /* buckets of bucket_size slots; a slot is a fingerprint, or 0 */
    uint64_t mask;      /* the number of buckets, which is a power of two, minus 1 */
} blyi_rb_cuckoo_layer;

struct bly_rb_cuckoo {
    blyi_rb_layers layers; /* of blyi_rb_cuckoo_layer */
    uint64_t items, deletes;
    uint64_t buckets; /* of the first sub-filter */
    uint32_t bucket_size, max_iterations, expansion;
    /* While the filter is being loaded: */
    uint32_t encoding;
    uint64_t filters, max_bytes;
};

static inline blyi_rb_cuckoo_layer *blyi_rb_cuckoo_layer_at(const bly_rb_cuckoo *f, uint64_t i) {
    return (blyi_rb_cuckoo_layer *)(void *)blyi_rb_layer_at(&f->layers, i);
}

/* Allocates a filter without sub-filters. The fields must have been checked. */
bly_status blyi_rb_cuckoo_alloc(const bly_rb_cuckoo_fields *fields, const bly_allocator *a,
                                bly_rb_cuckoo **out);

/* Plans the next sub-filter, without allocating its slots. Returns BLY_OK, or BLY_ETOOBIG if it
 * would be too large or if the filter may not grow (expansion 0). */
bly_status blyi_rb_cuckoo_layer_plan(const bly_rb_cuckoo *f, blyi_rb_cuckoo_layer *out);

#endif
