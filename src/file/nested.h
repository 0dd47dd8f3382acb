/* nested.h - the containers of a file: one for the whole filter, and those nested in it. Internal.
 *
 * A container is a header and a body. The body of a filter with levels is a sequence of containers,
 * and one of these may have levels itself: an overlay's base may be a scalable filter. Each kind
 * decides which kinds it may contain (blyi_level_rules), and none allows deeper nesting. All
 * headers are read and checked before anything is allocated. After that, bodies are read in
 * different ways, from memory, a map or a source. Most files have only one container.
 */
#ifndef BLYI_FILE_NESTED_H
#define BLYI_FILE_NESTED_H

#include "file/header.h"
#include "filter/levels.h"
#include <bloomery/host/chunks.h>

enum {
    BLYI_MAX_CONTAINERS = 1 + BLYI_MAX_LEVELS + 3
}; /* the outermost one, an overlay's three parts, and the base's levels */

typedef struct blyi_container {
    uint8_t raw[BLYI_HEADER_BYTES]; /* the header as it is in the file */
    blyi_header header;             /* the same, decoded */
    uint64_t body;                  /* offset of the body in the file */
    unsigned next;                  /* index of the next container that is not nested in this one */
    bly_filter *filter;             /* set when the filter is created */
} blyi_container;

/* The containers in file order: the outermost first, and each before those nested in it. */
typedef struct blyi_containers {
    unsigned n;
    blyi_container in[BLYI_MAX_CONTAINERS];
} blyi_containers;

/* Reads the outermost header, by the source's `peek`, and compares the length that it states with
 * the source's size. Returns the statuses of blyi_header_decode and of the source. */
bly_status blyi_containers_read_first(const bly_chunk_source *source, blyi_containers *out);

/* Reads all headers, and binds the caller's hasher to the first. Of the hashers of the others only
 * id, bits and seed are set. Returns the statuses of blyi_containers_read_first and
 * blyi_header_bind. */
bly_status blyi_containers_read(const bly_chunk_source *source, const bly_open_options *options,
                                blyi_containers *out);

/* Checks the body of every container of a file in memory. Returns BLY_OK or BLY_ECORRUPT. */
bly_status blyi_containers_check(const blyi_containers *all, const uint8_t *file);

/* Creates the filter and those nested in it, and sets `filter` in each container. If `borrowed` is
 * not NULL, the bodies are in the file at that address, which must outlive the filter; else they
 * are allocated, with all bytes 0. */
bly_status blyi_containers_make(blyi_containers *all, const bly_allocator *a,
                                const uint8_t *borrowed, bly_filter **out);

/* Whether the body of a container is data and not other containers. */
static inline bool blyi_container_is_flat(const blyi_container *c) {
    return !blyi_kind_has_levels(c->header.shape.geometry.kind);
}

/* Like bly_filter_write, but detects if another thread breaks the rule and changes the filter
 * during the call. Every chunk is copied to `chunk`, which has BLYI_MAX_CHUNK bytes, before it is
 * passed to the sink, and the checksums of the copied bytes are compared with those in the headers.
 * Returns BLY_ECHANGED if the filter changed; then the bytes passed to the sink cannot be loaded.
 */
enum { BLYI_MAX_CHUNK = 1 << 20 }; /* bytes passed to a sink, or requested of a source, at once */
bly_status blyi_filter_write_checked(const bly_filter *f, bly_sink sink, void *ctx, uint8_t *chunk);

/* Returns a source that reads a file in memory. */
bly_chunk_source blyi_source_memory(const void *file, uint64_t size);

#endif
