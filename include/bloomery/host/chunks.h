/* chunks.h - a filter's file in chunks, for hosts that store filters for others. A server, for
 * example, sends a filter in chunks and receives one in chunks. Nothing here keeps a second copy of
 * a filter. The bytes are those of a file (docs/format.md).
 */
#ifndef BLOOMERY_HOST_CHUNKS_H
#define BLOOMERY_HOST_CHUNKS_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the header that a file begins with. bly_file_parse_info reads from it how many follow:
 * body_bytes. */
enum { BLY_FILE_HEADER = 64 };

/* ---- reading a filter's bytes ---------------------------------------------------------------- */

/* The file of a filter as it is now, readable at any offset. Headers and checksums are computed
 * when it is opened, in one pass over the filter (two or three for one that consists of others).
 * The rest is read from the filter itself: when the filter changes or is destroyed, this may only
 * be closed. Several threads may read at once. */
typedef struct bly_chunks bly_chunks;
BLY_CHECKED bly_status bly_chunks_open(const bly_filter *f,
                                       const bly_allocator *a, /* may be NULL */
                                       bly_chunks **out);
BLY_API uint64_t bly_chunks_size(const bly_chunks *chunks); /* bly_filter_file_size */
/* Copies at most `size` bytes of the file from `offset` on. Returns how many: fewer only at the
 * end, 0 past it. */
BLY_API size_t bly_chunks_read(const bly_chunks *chunks, uint64_t offset, void *to, size_t size);
BLY_API void bly_chunks_close(bly_chunks *chunks); /* NULL does nothing */

/* ---- creating a filter from bytes ------------------------------------------------------------ */

/* Where the bytes come from. Both functions copy `n` bytes from offset `at` on, and are never asked
 * for any past `size`. A status other than BLY_OK ends the reading, which returns it.
 *
 * `peek` is called for headers, in any order, perhaps twice, for at most BLY_FILE_HEADER bytes at a
 * time. When all headers are valid, and the memory for the filter is allocated, `read` is called
 * for every byte, once, from the first to the last, at most 1 MiB at a time: bytes that were read
 * may be freed. */
typedef struct bly_chunk_source {
    uint64_t size; /* of the file */
    bly_status (*peek)(void *ctx, uint64_t at, void *to, size_t n);
    bly_status (*read)(void *ctx, uint64_t at, void *to, size_t n);
    void *ctx;
} bly_chunk_source;

/* The statuses of bly_filter_parse. Checksums are compared when the filter is complete. */
BLY_CHECKED bly_status bly_filter_read_chunks(const bly_chunk_source *source,
                                              const bly_open_options *options, /* may be NULL */
                                              bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
