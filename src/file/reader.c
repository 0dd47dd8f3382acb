/* Reads filters from bytes: from memory or from a source that delivers them in chunks.
 *
 * First all headers are read, the outermost and those nested in it. They determine how much memory
 * is needed, and no more than that is allocated. Bytes in memory can then be checked completely
 * before anything is allocated. Bytes from a source go straight to their address in the filter.
 * Each chunk is added to the checksums while it is still in the cache: to the checksum of the
 * container that the chunk is part of, and to those of the containers around it.
 */
#include "file/nested.h"

#include <errno.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert((int)BLY_FILE_HEADER == (int)BLYI_HEADER_BYTES, "one header, two names");

/* ---- from a source --------------------------------------------------------------------------- */

/* The checksum of a body so far, linked to those of the bodies around it. */
typedef struct body_sum_state {
    XXH64_state_t state;
    struct body_sum_state *outer;
} body_sum_state;

static bly_status source_take(const bly_chunk_source *source, uint64_t at, void *to, size_t n,
                              body_sum_state *sums) {
    bly_status status = source->read(source->ctx, at, to, n);
    for (; status == BLY_OK && sums; sums = sums->outer)
        (void)XXH64_update(&sums->state, to, n);
    return status;
}

/* Reads a header again, for the checksums. It must still have the bytes that were checked. */
static bly_status source_take_header(const bly_chunk_source *source, const blyi_container *c,
                                     body_sum_state *sums) {
    uint8_t raw[BLYI_HEADER_BYTES];
    bly_status status = source_take(source, c->body - sizeof raw, raw, sizeof raw, sums);
    if (status)
        return status;
    return memcmp(raw, c->raw, sizeof raw) == 0 ? BLY_OK : BLY_ECORRUPT;
}

static bly_status source_take_body(const bly_chunk_source *source, const blyi_container *c,
                                   body_sum_state *sums) {
    uint64_t bytes = c->header.body_bytes;
    bly_status status = BLY_OK;
    for (uint64_t at = 0, n; status == BLY_OK && at < bytes; at += n) {
        n = bytes - at < BLYI_MAX_CHUNK ? bytes - at : BLYI_MAX_CHUNK;
        status = source_take(source, c->body + at, c->filter->body + at, (size_t)n, sums);
    }
    return status;
}

/* Reads the bodies of container i and of those nested in it into their filters, which exist and are
 * empty. */
static bly_status source_take_container(const bly_chunk_source *source, const blyi_containers *all,
                                        unsigned i, body_sum_state *outer) {
    const blyi_container *c = &all->in[i];
    bool flat = blyi_container_is_flat(c);
    body_sum_state own = {.outer = outer};
    (void)XXH64_reset(&own.state, 0);
    bly_status status = source_take_header(source, c, outer);
    if (status == BLY_OK && flat)
        status = source_take_body(source, c, &own);
    for (unsigned j = i + 1; status == BLY_OK && j < c->next; j = all->in[j].next)
        status = source_take_container(source, all, j, &own);
    if (status)
        return status;
    if (XXH64_digest(&own.state) != c->header.body_sum)
        return BLY_ECORRUPT;
    return flat ? blyi_body_check_content(&c->header, c->filter->body) : BLY_OK;
}

bly_status bly_filter_read_chunks(const bly_chunk_source *source, const bly_open_options *options,
                                  bly_filter **out) {
    blyi_containers all;
    bly_open_options own;
    bly_filter *f = NULL;
    *out = NULL;
    if (!blyi_open_options_read(options, &own))
        return BLY_EINVAL;
    bly_status status = blyi_containers_read(source, &own, &all);
    if (status == BLY_OK)
        status = blyi_containers_make(&all, own.allocator, NULL, &f);
    if (status == BLY_OK)
        status = source_take_container(source, &all, 0, NULL);
    if (status == BLY_OK) {
        *out = f;
        return BLY_OK;
    }
    int saved = errno; /* the caller's allocator may change it */
    bly_filter_destroy(f);
    errno = saved;
    return status;
}

/* ---- from memory ----------------------------------------------------------------------------- */

bly_status bly_filter_parse(const void *data, size_t size, const bly_open_options *options,
                            bly_filter **out) {
    const bly_chunk_source source = blyi_source_memory(data, size);
    const uint8_t *file = data;
    blyi_containers all;
    bly_open_options own;
    *out = NULL;
    if (!blyi_open_options_read(options, &own))
        return BLY_EINVAL;
    bly_status status = blyi_containers_read(&source, &own, &all);
    if (status == BLY_OK)
        status = blyi_containers_check(&all, file);
    if (status == BLY_OK)
        status = blyi_containers_make(&all, own.allocator, NULL, out);
    for (unsigned i = 0; status == BLY_OK && i < all.n; i++) {
        const blyi_container *c = &all.in[i];
        if (blyi_container_is_flat(c))
            memcpy(c->filter->body, file + c->body, (size_t)c->header.body_bytes);
    }
    return status;
}
