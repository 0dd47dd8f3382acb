/* header.h - the header, 64 bytes before a filter's body, and the checks that header and body must
 * pass. Internal.
 *
 * docs/format.md is the specification. A file is accepted in four steps: decode the header, compare
 * the length, bind the caller's hasher, check the body. Each step may rely on the earlier ones, and
 * none allocates memory. For a mapped file the last step is skipped unless the caller requests it
 * (BLY_OPEN_VERIFY). When the body consists of containers, their headers are read and checked first
 * (nested.h).
 */
#ifndef BLYI_FILE_HEADER_H
#define BLYI_FILE_HEADER_H

#include "filter/filter.h"

enum { BLYI_HEADER_BYTES = 64 };

typedef struct blyi_header {
    blyi_shape shape;
    uint64_t body_bytes;
    uint64_t body_sum;
} blyi_header;

/* Writes the header of a filter of that shape. Of the shape's hasher only `id` and `seed` matter.
 * body_sum is blyi_body_sum of the filter's body. */
void blyi_header_encode(const blyi_shape *s, uint64_t body_sum, uint8_t out[BLYI_HEADER_BYTES]);

/* Reads a header. On success the geometry passes bly_plan_check, and body_bytes is the size of its
 * body. Of the hasher only id, bits and seed are set. Returns BLY_OK; BLY_EVERSION for a later
 * version of the format; BLY_EKIND or BLY_EHASHER for a kind or hash that this version does not
 * know; BLY_EUNSUPPORTED for a kind that was removed; else BLY_ECORRUPT. */
bly_status blyi_header_decode(const uint8_t in[BLYI_HEADER_BYTES], blyi_header *out);

/* Whether `file_size` bytes are exactly a header and its body. */
bool blyi_header_fits(const blyi_header *h, uint64_t file_size);

/* Completes shape.hasher (or sets shape.keyless), shape.sharing and shape.growth_limit from the
 * options. Returns BLY_OK, BLY_EHASHER, BLY_EKEY, or BLY_EINVAL for unknown flags. */
bly_status blyi_header_bind(blyi_header *h, const bly_open_options *o);

/* Copies the caller's options to *out, or the defaults if `options` is NULL. Returns false if their
 * size is impossible. */
bool blyi_open_options_read(const bly_open_options *options, bly_open_options *out);

/* Fills in *out, whose struct size must have been checked. */
void blyi_header_get_info(const blyi_header *h, bly_file_info *out);

/* Returns the checksum of a body. */
uint64_t blyi_body_sum(const uint8_t *body, uint64_t bytes);

/* Checks a body without its checksum. Returns BLY_OK, or BLY_ECORRUPT if a bit after the last one
 * in use is set or if the kind rejects the body. */
bly_status blyi_body_check_content(const blyi_header *h, const uint8_t *body);

/* As blyi_body_check_content, but also returns BLY_ECORRUPT if the body's checksum differs from
 * that in the header. */
bly_status blyi_body_check(const blyi_header *h, const uint8_t *body);

#endif
