/* redisbloom_bloom.h - the chain of links, as the files that make it see it. Internal. */
#ifndef BLYI_FORMATS_REDISBLOOM_BLOOM_H
#define BLYI_FORMATS_REDISBLOOM_BLOOM_H

#include "formats/redisbloom_link.h"

struct bly_rb_bloom {
    blyi_rb_chain chain; /* of blyi_rb_link */
    uint64_t items;      /* of all links */
    uint32_t options, growth;
    /* Of one that is being loaded. */
    uint32_t encoding;
    uint64_t links, max_bytes;
};

static inline blyi_rb_link *blyi_rb_link_at(const bly_rb_bloom *f, uint64_t i) {
    return (blyi_rb_link *)(void *)blyi_rb_at(&f->chain, i);
}

/* A chain without links. */
bly_status blyi_rb_bloom_make(uint64_t options, uint64_t growth, const bly_allocator *a,
                              bly_rb_bloom **out);

#endif
