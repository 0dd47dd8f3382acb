/* chunks.h - sending and receiving a filter's file in chunks, without a second copy of the filter.
 * For servers and other programs that store filters. The chunks contain the bytes of a file
 * (docs/format.md).
 */
#ifndef BLOOMERY_HOST_CHUNKS_H
#define BLOOMERY_HOST_CHUNKS_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of bytes of the header at the beginning of a file. bly_file_parse_info reads from the
 * header how many bytes follow (body_bytes). */
enum { BLY_FILE_HEADER = 64 };

/* ---- reading a filter's bytes --------------------------------------------------------------- */

/* The file of a filter, which can be read at any offset. Its bytes are read from the filter itself:
 * after the filter is changed or destroyed, the bly_chunks may only be closed. Several threads may
 * read at the same time. */
typedef struct bly_chunks bly_chunks;

/* Opens the file of a filter. This call computes headers and checksums in one pass over the filter
 * (two or three passes if the filter consists of other filters). `a` may be NULL. The caller closes
 * *out with bly_chunks_close. Errors: BLY_ENOMEM. */
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

/* A source of a file's bytes. Both functions copy `n` bytes, starting at offset `at`, to `to`; they
 * are never asked for bytes past `size`. If they return a status other than BLY_OK,
 * bly_filter_read_chunks ends and returns that status.
 *
 * `peek` is called to read headers, in any order, at most BLY_FILE_HEADER bytes at a time, and
 * perhaps more than once for the same bytes. When all headers are valid and the memory for the
 * filter is allocated, `read` is called for all bytes of the file in order, each once, at most 1
 * MiB at a time. So bytes that `read` has copied may be freed. */
typedef struct bly_chunk_source {
    uint64_t size; /* number of bytes of the file */
    bly_status (*peek)(void *ctx, uint64_t at, void *to, size_t n);
    bly_status (*read)(void *ctx, uint64_t at, void *to, size_t n);
    void *ctx;
} bly_chunk_source;

/* Creates a filter from a source. Checksums are compared after all bytes have been read. `options`
 * may be NULL. Errors: those of bly_filter_parse, and those of the source. */
BLY_CHECKED bly_status bly_filter_read_chunks(const bly_chunk_source *source,
                                              const bly_open_options *options, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
