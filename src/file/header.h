/* container.h - the 64 bytes before a filter's body, and every check the two must pass. Internal.
 *
 * docs/format.md is the specification. A file is taken in four steps, each of which may assume
 * the ones before it, and none of which allocates: decode (what the header alone can tell),
 * compare the length, bind (the caller's hasher), check the body. A mapped file skips the last.
 * When the body is made of containers, their headers are read and checked before it (nested.h).
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

/* The header of a filter of that shape (of its hasher, id and seed count); body_sum is
 * blyi_body_sum of its body. */
void blyi_header_encode(const blyi_shape *s, uint64_t body_sum, uint8_t out[BLYI_HEADER_BYTES]);

/* The geometry is then one that passes bly_plan_check, and body_bytes what it needs. Of the
 * hasher only id, bits and seed are set. BLY_ECORRUPT, BLY_EVERSION, BLY_EKIND, BLY_EUNSUPPORTED (a
 * kind that was removed), BLY_EHASHER. */
bly_status blyi_header_decode(const uint8_t in[BLYI_HEADER_BYTES], blyi_header *out);

/* Whether `file_size` bytes are exactly a header and its body. */
bool blyi_header_fits(const blyi_header *h, uint64_t file_size);

/* Completes shape.hasher (or sets shape.keyless), shape.sharing and shape.growth_limit as the
 * options, which may be NULL, say. BLY_EHASHER, BLY_EKEY, BLY_EINVAL (unknown flags). */
bly_status blyi_header_bind(blyi_header *h, const bly_open_options *options);

bly_file_info blyi_header_info(const blyi_header *h);

uint64_t blyi_body_sum(const uint8_t *body, uint64_t bytes);

/* BLY_ECORRUPT when a bit is set that belongs to no key, or the kind finds that no filter of its
 * own has such a body. */
bly_status blyi_body_sound(const blyi_header *h, const uint8_t *body);

/* The same, and when the sum is another. */
bly_status blyi_body_check(const blyi_header *h, const uint8_t *body);

#endif
