/* header.h - the 64 bytes before a filter's body, and every check that both must pass. Internal.
 *
 * docs/format.md is the specification. A file is accepted in four steps. Each may rely on those
 * before it, and none allocates: decode the header, compare the length, bind the caller's hasher,
 * check the body. For a mapped file the last step is skipped. When the body consists of containers,
 * their headers are read and checked first (nested.h).
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

/* Writes the header of a filter of that shape. Of its hasher only id and seed matter. body_sum is
 * blyi_body_sum of its body. */
void blyi_header_encode(const blyi_shape *s, uint64_t body_sum, uint8_t out[BLYI_HEADER_BYTES]);

/* Reads a header. On success the geometry passes bly_plan_check, and body_bytes is the size of its
 * body. Of the hasher only id, bits and seed are set. Returns BLY_OK, BLY_ECORRUPT, BLY_EVERSION,
 * BLY_EKIND, BLY_EUNSUPPORTED (a kind that was removed) or BLY_EHASHER. */
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

uint64_t blyi_body_sum(const uint8_t *body, uint64_t bytes);

/* Returns BLY_ECORRUPT if a bit after the last one in use is set, or if the kind rejects the
 * body. */
bly_status blyi_body_check_content(const blyi_header *h, const uint8_t *body);

/* The same, but also returns BLY_ECORRUPT if the body's checksum differs from that in the
 * header. */
bly_status blyi_body_check(const blyi_header *h, const uint8_t *body);

#endif
