/* redisbloom_cuckoo.h - the chain of sub-filters, as the files that make it see it. Internal. */
#ifndef BLYI_FORMATS_REDISBLOOM_CUCKOO_H
#define BLYI_FORMATS_REDISBLOOM_CUCKOO_H

#include "formats/redisbloom_layers.h"

typedef struct blyi_rb_sub {
    blyi_rb_part part; /* buckets of bucket_size slots; a slot is a fingerprint, or 0 */
    uint64_t mask;     /* the number of buckets, a power of two, less 1 */
} blyi_rb_sub;

struct bly_rb_cuckoo {
    blyi_rb_chain chain; /* of blyi_rb_sub */
    uint64_t items, deletes;
    uint64_t buckets; /* of the first sub-filter */
    uint32_t bucket_size, max_iterations, expansion;
    /* Of one that is being loaded. */
    uint32_t encoding;
    uint64_t filters, max_bytes;
};

static inline blyi_rb_sub *blyi_rb_sub_at(const bly_rb_cuckoo *f, uint64_t i) {
    return (blyi_rb_sub *)(void *)blyi_rb_at(&f->chain, i);
}

static inline bool blyi_is_power(uint64_t x) {
    return x > 0 && (x & (x - 1)) == 0;
}

/* The other bucket of a fingerprint; from either of the two to the other. */
static inline uint64_t blyi_rb_other(uint64_t bucket, uint8_t print) {
    return bucket ^ print * UINT64_C(0x5bd1e995);
}

/* The first slot of a bucket, given by its number modulo the buckets, with that content; NULL when
 * there is none. */
static inline uint8_t *blyi_rb_find(const bly_rb_cuckoo *f, const blyi_rb_sub *sub, uint64_t bucket,
                                    uint8_t content) {
    uint8_t *slot = sub->part.data + (bucket & sub->mask) * f->bucket_size;
    for (uint32_t i = 0; i < f->bucket_size; i++)
        if (slot[i] == content)
            return slot + i;
    return NULL;
}

/* A filter with these numbers and no sub-filters; the numbers are checked. */
bly_status blyi_rb_cuckoo_make(const bly_rb_cuckoo_fields *fields, const bly_allocator *a,
                               bly_rb_cuckoo **out);

/* The shape of the sub-filter that comes next; there are no slots yet. BLY_ETOOBIG, also when it
 * would have none. */
bly_status blyi_rb_sub_plan(const bly_rb_cuckoo *f, blyi_rb_sub *out);

#endif
