/* nested.h - what a file is made of: a container, and the containers inside it. Internal.
 *
 * The body of a filter made of levels is one container after the other, and one of these may be
 * made so itself: an overlay's base may be a scalable filter. Which kinds may be in which is the
 * kinds' own affair (blyi_level_rules), and none of them allows more than these two layers. All
 * headers are read and checked before anything is allocated; what is done with the bodies then
 * depends on where they are. A file of one container is a nest of one.
 */
#ifndef BLYI_FILE_NESTED_H
#define BLYI_FILE_NESTED_H

#include "file/header.h"
#include "filter/levels.h"
#include <bloomery/pieces.h>

enum {
    BLYI_MAX_NESTED = 1 + BLYI_MAX_LEVELS + 3
}; /* the whole; an overlay's three parts, and the base's levels */

typedef struct blyi_part {
    uint8_t raw[BLYI_HEADER_BYTES]; /* its header as it is in the file, */
    blyi_header header;             /* and what that says */
    uint64_t body;                  /* where its body begins in the file */
    unsigned next;                  /* the one after it and after those inside it */
    bly_filter *filter;             /* once it is made */
} blyi_part;

/* In the order in which they lie: the whole first, and any that is made of others before them. */
typedef struct blyi_nest {
    unsigned n;
    blyi_part in[BLYI_MAX_NESTED];
} blyi_nest;

/* Reads the header of the whole, by peeking, and compares the length. The statuses of
 * blyi_header_decode and of the source. */
bly_status blyi_nest_head(const bly_source *source, blyi_nest *out);

/* Reads all headers, and binds the first; of the hashers of the others only id, bits and seed are
 * set. The statuses of blyi_header_bind, too. */
bly_status blyi_nest_read(const bly_source *source, const bly_open_options *options,
                          blyi_nest *out);

/* Every sum, the outer one and the inner ones, and stray bits, of a file in memory. BLY_ECORRUPT.
 */
bly_status blyi_nest_check(const blyi_nest *nest, const uint8_t *file);

/* The filter, over a file in memory that is `borrowed`, or, when that is NULL, with empty bodies.
 * Sets the filters of the parts, too. */
bly_status blyi_nest_make(blyi_nest *nest, const bly_allocator *a, const uint8_t *borrowed,
                          bly_filter **out);

/* Whether a part has a body of its own, and is not made of those that follow it. */
static inline bool blyi_part_is_flat(const blyi_part *part) {
    return !blyi_kind_has_levels(part->header.shape.geometry.kind);
}

/* bly_filter_write of a filter that may, against the rules, be changed meanwhile. Every piece is
 * copied to `piece`, of BLYI_PIECE bytes, before it goes to the sink, and the sums of the pieces
 * are compared with the headers. BLY_ECHANGED: what the sink was given is no filter that could be
 * loaded. */
enum { BLYI_PIECE = 1 << 20 }; /* the most that a sink is given at once */
bly_status blyi_filter_write_checked(const bly_filter *f, bly_sink sink, void *ctx, uint8_t *piece);

/* A source over a file in memory. */
bly_source blyi_source_memory(const void *file, uint64_t size);

#endif
