/* pieces.h - a filter's bytes, piece by piece: for hosts that keep filters for others.
 *
 * A server, say, sends a filter in chunks, receives one in chunks, and moves memory about to close
 * the holes in it. Nothing here ever holds a filter twice. The bytes are those of a file
 * (docs/format.md).
 */
#ifndef BLOOMERY_PIECES_H
#define BLOOMERY_PIECES_H

#include "base.h"
#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file begins with a header of so many bytes, from which bly_file_info_parse tells how many
 * follow: body_bytes. */
enum { BLY_FILE_HEADER = 64 };

/* ---- out ------------------------------------------------------------------------------------- */

/* The file of a filter as it is now, to be read anywhere. Headers and sums are worked out when it
 * is opened, in one pass over the filter (two or three over one that is made of others); the rest
 * is read from the filter itself. So an image is void once its filter changes or dies, and may then
 * only be closed. Threads may read one at once. */
typedef struct bly_image bly_image;
BLY_CHECKED bly_status bly_image_open(const bly_filter *f, const bly_allocator *a, /* may be NULL */
                                      bly_image **out);
BLY_API uint64_t bly_image_size(const bly_image *image); /* bly_filter_file_size */
/* Copies what the file has at `offset`, at most `size` bytes. Returns how many: fewer only at the
 * end, none past it. */
BLY_API size_t bly_image_copy(const bly_image *image, uint64_t offset, void *to, size_t size);
BLY_API void bly_image_close(bly_image *image); /* NULL does nothing */

/* ---- in -------------------------------------------------------------------------------------- */

/* Bytes that somebody holds, or can get. Both functions copy `n` of them, from `at` on, and are
 * never asked for any past `size`; what they return, if not BLY_OK, ends the reading and is
 * returned by it.
 *
 * `peek` is asked for headers, in any order, perhaps twice, and at most BLY_FILE_HEADER bytes at a
 * time. When all of them are found right, and there is memory for the filter, `take` is asked for
 * every byte there is, once, from the first to the last, at most 1 MiB at a time: what has been
 * taken may be let go. */
typedef struct bly_source {
    uint64_t size; /* of the file */
    bly_status (*peek)(void *ctx, uint64_t at, void *to, size_t n);
    bly_status (*take)(void *ctx, uint64_t at, void *to, size_t n);
    void *ctx;
} bly_source;

/* As bly_filter_parse; but the sums can only be compared when the filter is there. */
BLY_CHECKED bly_status bly_filter_read(const bly_source *source,
                                       const bly_open_options *options, /* may be NULL */
                                       bly_filter **out);

/* ---- about ----------------------------------------------------------------------------------- */

/* Moves a block of memory, if that does any good: returns where its `size` bytes now are, copied,
 * with the old block freed, and the new one such that the filter's allocator can free it; or NULL
 * when it stays. */
typedef void *(*bly_mover)(void *ctx, void *block, size_t size);

/* Offers the blocks of memory of a filter to `move`, `most` of them (at least 1), beginning with
 * number `from`, and goes on with those it gets. Not offered are the handle `f`, what is borrowed
 * (maps, the base of an overlay). Returns the number to go on from, or 0 when
 * there are no more. A filter may change in between: what it gets then is merely missed, or offered
 * twice. Nothing else may use it at the same time. */
BLY_API size_t bly_filter_move(bly_filter *f, size_t from, size_t most, bly_mover move, void *ctx);

/* The same for the handle: returns where it is now. For filters that no other one refers to (as an
 * overlay to its base, a filter to its sketch). */
BLY_API bly_filter *bly_filter_move_handle(bly_filter *f, bly_mover move, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
