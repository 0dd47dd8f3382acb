/* chunks.h - sending and receiving a filter's file in chunks, without a second copy of the filter.
 * For servers and other hosts that store filters. The bytes are those of a file (docs/format.md).
 */
#ifndef BLOOMERY_HOST_CHUNKS_H
#define BLOOMERY_HOST_CHUNKS_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of the header at the beginning of a file. bly_file_parse_info reads from it how many
 * follow (body_bytes). */
enum { BLY_FILE_HEADER = 64 };

/* ---- reading a filter's bytes --------------------------------------------------------------- */

/* The file of a filter, readable at any offset. Its bytes are read from the filter itself: after
 * the filter changes or is destroyed, it may only be closed. Several threads may read at once. */
typedef struct bly_chunks bly_chunks;

/* Opens the file of a filter. Headers and checksums are computed now, in one pass over the filter
 * (two or three if it consists of others). `a` may be NULL. The caller closes *out with
 * bly_chunks_close. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_chunks_open(const bly_filter *f, const bly_allocator *a,
                                       bly_chunks **out);
/* Returns the size of the file in bytes, as bly_filter_file_size does. */
BLY_API uint64_t bly_chunks_size(const bly_chunks *chunks);

/* Copies at most `size` bytes of the file from `offset` on.
 * Returns the number of bytes copied: fewer than `size` only at the end, 0 past it. */
BLY_API size_t bly_chunks_read(const bly_chunks *chunks, uint64_t offset, void *to, size_t size);
/* Closes the file. NULL does nothing. */
BLY_API void bly_chunks_close(bly_chunks *chunks);

/* ---- creating a filter from bytes ----------------------------------------------------------- */

/* A source of a file's bytes. Both functions copy `n` bytes from offset `at` on, never past `size`.
 * A status other than BLY_OK ends the reading, which returns it.
 *
 * `peek` is called for headers, at most BLY_FILE_HEADER bytes at a time, in any order, perhaps
 * twice. When all headers are valid and the memory for the filter is allocated, `read` is called
 * for every byte once, in order, at most 1 MiB at a time: bytes that were read may be freed. */
typedef struct bly_chunk_source {
    uint64_t size; /* of the file */
    bly_status (*peek)(void *ctx, uint64_t at, void *to, size_t n);
    bly_status (*read)(void *ctx, uint64_t at, void *to, size_t n);
    void *ctx;
} bly_chunk_source;

/* Creates a filter from a source. Checksums are compared when all bytes are read. `options` may be
 * NULL. Errors: those of bly_filter_parse, and those of the source. */
BLY_CHECKED bly_status bly_filter_read_chunks(const bly_chunk_source *source,
                                              const bly_open_options *options, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
