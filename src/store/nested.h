/* nested.h - the containers inside a container: the levels of a filter that is made of them.
 * Internal.
 *
 * The body of such a file is one container after the other, and one of these may be made so itself:
 * an overlay's base may be a scalable filter. Which kinds may be in which is the kinds' own affair
 * (blyi_whole), and none of them allows more than these two layers. All headers are read and
 * checked before anything is allocated; what is done with the bodies then depends on where they
 * are.
 */
#ifndef BLYI_STORE_NESTED_H
#define BLYI_STORE_NESTED_H

#include "../filters/levels.h"
#include "container.h"

enum {
    BLYI_MAX_NESTED = BLYI_MAX_LEVELS + 3
}; /* an overlay's three parts, and the base's levels */

typedef struct blyi_inner {
    uint8_t raw[BLYI_HEADER_BYTES]; /* its header as it is in the file, */
    blyi_header header;             /* and what that says; only when it was read from one */
    uint64_t at;                    /* where its body begins, from the outer body's start */
    unsigned next;                  /* the one after it and after those inside it */
    bly_filter *filter;
} blyi_inner;

/* In the order in which they lie: one that is made of others comes before them. */
typedef struct blyi_nest {
    unsigned n;
    blyi_inner in[BLYI_MAX_NESTED];
} blyi_nest;

/* Copies `size` bytes from `at`, counted from the start of the outer body. Never asked for bytes
 * beyond its end. */
typedef bly_status blyi_fetch(void *ctx, uint64_t at, void *to, size_t size);

/* The blyi_fetch from memory; ctx is the body. */
blyi_fetch blyi_fetch_memory;

/* Reads the headers inside `outer`, whose length has been compared. Of their hashers only id, bits
 * and seed are set. The statuses of blyi_header_decode and `fetch`. */
bly_status blyi_nest_read(const blyi_header *outer, blyi_fetch *fetch, void *ctx, blyi_nest *out);

/* Every sum, the outer one and the inner ones, and stray bits. BLY_ECORRUPT. */
bly_status blyi_nest_check(const blyi_header *outer, const blyi_nest *nest, const uint8_t *body);

/* The filter, once `outer` is bound: over `borrowed`, or, when that is NULL, with empty bodies.
 * Sets the filters of the nest, too. */
bly_status blyi_nest_make(const blyi_header *outer, blyi_nest *nest, const bly_allocator *a,
                          const uint8_t *borrowed, bly_filter **out);

/* Whether one has a body of its own, and is not made of those that follow it. */
static inline bool blyi_inner_is_flat(const blyi_inner *in) {
    return !in->filter->levels;
}

/* The sum of the body that those from `from` up to `to` make. */
uint64_t blyi_nest_sum(const blyi_nest *nest, unsigned from, unsigned to);

/* As bly_filter_write, for a filter made of levels. */
bly_status blyi_nest_write(const bly_filter *f, bly_sink sink, void *ctx);

#endif
