/* Filters from bytes.
 *
 * First all headers are read, the whole's and those of the containers inside it: they say how large
 * everything is, and no more than that much is allocated. Bytes in memory can then be checked whole
 * before anything is allocated at all. Bytes that must be fetched go straight to their place in the
 * filter, and are summed up on their way, in a piece that the cache still holds: once for the
 * container they lie in, and once for each that this one lies in.
 */
#include "file/nested.h"

#include <errno.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PIECE = 1 << 20 }; /* the most that is taken at once */

_Static_assert((int)BLY_FILE_HEADER == (int)BLYI_HEADER_BYTES, "one header, two names");

/* ---- taking ---------------------------------------------------------------------------------- */

/* The sum of a body so far, and of those it is a part of. */
typedef struct sum {
    XXH64_state_t state;
    struct sum *outer;
} sum;

static bly_status take(const bly_source *source, uint64_t at, void *to, size_t n, sum *sums) {
    bly_status status = source->take(source->ctx, at, to, n);
    for (; status == BLY_OK && sums; sums = sums->outer)
        (void)XXH64_update(&sums->state, to, n);
    return status;
}

/* A header must still be what was found right. */
static bly_status take_header(const bly_source *source, const blyi_part *part, sum *sums) {
    uint8_t raw[BLYI_HEADER_BYTES];
    bly_status status = take(source, part->body - sizeof raw, raw, sizeof raw, sums);
    if (status)
        return status;
    return memcmp(raw, part->raw, sizeof raw) == 0 ? BLY_OK : BLY_ECORRUPT;
}

static bly_status take_body(const bly_source *source, const blyi_part *part, sum *sums) {
    uint64_t bytes = part->header.body_bytes;
    bly_status status = BLY_OK;
    for (uint64_t at = 0, n; status == BLY_OK && at < bytes; at += n) {
        n = bytes - at < PIECE ? bytes - at : PIECE;
        status = take(source, part->body + at, part->filter->body + at, (size_t)n, sums);
    }
    return status;
}

/* Fills part i, which is made and empty, and what is inside it. */
static bly_status take_part(const bly_source *source, const blyi_nest *nest, unsigned i,
                            sum *outer) {
    const blyi_part *part = &nest->in[i];
    bool flat = blyi_part_is_flat(part);
    sum own = {.outer = outer};
    (void)XXH64_reset(&own.state, 0);
    bly_status status = take_header(source, part, outer);
    if (status == BLY_OK && flat)
        status = take_body(source, part, &own);
    for (unsigned j = i + 1; status == BLY_OK && j < part->next; j = nest->in[j].next)
        status = take_part(source, nest, j, &own);
    if (status)
        return status;
    if (XXH64_digest(&own.state) != part->header.body_sum)
        return BLY_ECORRUPT;
    return flat ? blyi_body_sound(&part->header, part->filter->body) : BLY_OK;
}

bly_status bly_filter_read(const bly_source *source, const bly_open_options *options,
                           bly_filter **out) {
    blyi_nest nest;
    bly_filter *f = NULL;
    *out = NULL;
    bly_status status = blyi_nest_read(source, options, &nest);
    if (status == BLY_OK)
        status = blyi_nest_make(&nest, options ? options->allocator : NULL, NULL, &f);
    if (status == BLY_OK)
        status = take_part(source, &nest, 0, NULL);
    if (status == BLY_OK) {
        *out = f;
        return BLY_OK;
    }
    int saved = errno; /* a caller's allocator may change it */
    bly_filter_destroy(f);
    errno = saved;
    return status;
}

/* ---- from memory ----------------------------------------------------------------------------- */

bly_status bly_filter_parse(const void *data, size_t size, const bly_open_options *options,
                            bly_filter **out) {
    const bly_source source = blyi_source_memory(data, size);
    const uint8_t *file = data;
    blyi_nest nest;
    *out = NULL;
    bly_status status = blyi_nest_read(&source, options, &nest);
    if (status == BLY_OK)
        status = blyi_nest_check(&nest, file);
    if (status == BLY_OK)
        status = blyi_nest_make(&nest, options ? options->allocator : NULL, NULL, out);
    for (unsigned i = 0; status == BLY_OK && i < nest.n; i++) {
        const blyi_part *part = &nest.in[i];
        if (blyi_part_is_flat(part))
            memcpy(part->filter->body, file + part->body, (size_t)part->header.body_bytes);
    }
    return status;
}
