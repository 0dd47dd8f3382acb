/* nested.h - the containers inside a container: the levels of a filter that is made of them.
 * Internal.
 *
 * The body of such a file is one container after the other. Their headers are all read and checked
 * before anything is allocated; what is done with the bodies then depends on where they are.
 */
#ifndef BLYI_STORE_NESTED_H
#define BLYI_STORE_NESTED_H

#include "../filters/levels.h"
#include "container.h"

typedef struct blyi_raw_header {
    uint8_t bytes[BLYI_HEADER_BYTES];
} blyi_raw_header;

typedef struct blyi_nest {
    unsigned n;
    uint64_t at[BLYI_MAX_LEVELS]; /* where each level's body begins, from the outer body's start */
    blyi_header level[BLYI_MAX_LEVELS];
    blyi_raw_header raw[BLYI_MAX_LEVELS];
} blyi_nest;

/* Copies `size` bytes from `at`, counted from the start of the outer body. Never asked for bytes
 * beyond its end. */
typedef bly_status blyi_fetch(void *ctx, uint64_t at, void *to, size_t size);

/* The blyi_fetch from memory; ctx is the body. */
blyi_fetch blyi_fetch_memory;

/* Reads the level headers of `outer`, whose length has been compared. Of their hashers only id,
 * bits and seed are set. The statuses of blyi_header_decode and `fetch`. */
bly_status blyi_nest_read(const blyi_header *outer, blyi_fetch *fetch, void *ctx, blyi_nest *out);

/* Every sum, the outer one and the levels', and stray bits. BLY_ECORRUPT. */
bly_status blyi_nest_check(const blyi_header *outer, const blyi_nest *nest, const uint8_t *body);

/* The filter, once `outer` is bound: over `borrowed`, or, when that is NULL, with empty levels. */
bly_status blyi_nest_make(const blyi_header *outer, const blyi_nest *nest, const bly_allocator *a,
                          const uint8_t *borrowed, bly_filter **out);

/* The sum of the body that these headers and levels make. */
uint64_t blyi_nest_sum(const blyi_levels *levels, const blyi_raw_header *headers);

/* As bly_filter_write, for a filter made of levels. */
bly_status blyi_nest_write(const bly_filter *f, bly_sink sink, void *ctx);

#endif
