/* Writes a filter as the bytes of a file: to a sink in chunks, or any requested range of bytes.
 *
 * A file is a sequence of headers and bodies, and bodies are in memory as they are in the file. So
 * only the headers are made, in file order, each with its offset. Any byte of the file is then
 * either in one of these headers or in a filter. The checksum of a filter with levels covers the
 * headers of its levels, so inner headers are encoded before outer ones.
 */
#include "file/nested.h"

#include "base/memory.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MAX_CONTAINER_DEPTH = 3 }; /* a filter, its levels, and their levels */

typedef struct image_part {
    uint64_t at; /* offset of the header in the file; if the filter is flat, its body follows */
    const bly_filter *filter;
    uint8_t header[BLYI_HEADER_BYTES];
} image_part;

struct bly_chunks {
    bly_allocator alloc;
    uint64_t size;
    unsigned n;
    image_part parts[BLYI_MAX_CONTAINERS];
};

/* Returns the size of a part's body, or 0 if the body consists of other parts. */
static uint64_t image_part_bytes(const image_part *p) {
    return p->filter->levels ? 0 : p->filter->body_bytes;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Returns the checksum of the body that consists of the parts from index `from` on. */
static uint64_t image_sum(const bly_chunks *image, unsigned from) {
    XXH64_state_t sum;
    (void)XXH64_reset(&sum, 0);
    for (const image_part *p = image->parts + from; p < image->parts + image->n; p++) {
        (void)XXH64_update(&sum, p->header, sizeof p->header);
        if (image_part_bytes(p))
            (void)XXH64_update(&sum, p->filter->body, (size_t)image_part_bytes(p));
    }
    return XXH64_digest(&sum);
}

/* All parts get the key rule of the whole filter, although a borrowed base may have another rule or
 * none. */
static void image_encode_header(const bly_filter *f, bly_key_rule rule, uint64_t sum,
                                uint8_t out[BLYI_HEADER_BYTES]) {
    blyi_shape shape = blyi_filter_shape(f);
    shape.key_rule = rule;
    blyi_header_encode(&shape, sum, out);
}

static void image_append(bly_chunks *image, const bly_filter *f, bly_key_rule rule) {
    image_part *p = &image->parts[image->n++];
    p->at = image->size;
    p->filter = f;
    image->size += BLYI_HEADER_BYTES + image_part_bytes(p);
    unsigned inside = image->n;
    for (unsigned i = 0; f->levels && i < f->levels->n; i++)
        image_append(image, f->levels->at[i], rule);
    uint64_t sum = f->levels ? image_sum(image, inside) : blyi_body_sum(f->body, f->body_bytes);
    image_encode_header(f, rule, sum, p->header);
}

static void image_compose(bly_chunks *image, const bly_filter *f) {
    image->n = 0;
    image->size = 0;
    image_append(image, f, f->key_rule);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Returns the address of the byte at offset `at`, which must be before the end. Sets *run to the
 * number of consecutive bytes from there on. */
static const uint8_t *image_find(const bly_chunks *image, uint64_t at, uint64_t *run) {
    unsigned i = image->n - 1;
    while (image->parts[i].at > at)
        i--;
    const image_part *p = &image->parts[i];
    uint64_t in = at - p->at;
    if (in < BLYI_HEADER_BYTES) {
        *run = BLYI_HEADER_BYTES - in;
        return p->header + in;
    }
    *run = BLYI_HEADER_BYTES + image_part_bytes(p) - in;
    return p->filter->body + (in - BLYI_HEADER_BYTES);
}

bly_status bly_chunks_open(const bly_filter *f, const bly_allocator *a, bly_chunks **out) {
    bly_allocator alloc = blyi_allocator_or_default(a);
    *out = alloc.alloc(alloc.ctx, sizeof **out);
    if (!*out)
        return BLY_ENOMEM;
    (*out)->alloc = alloc;
    image_compose(*out, f);
    return BLY_OK;
}

uint64_t bly_chunks_size(const bly_chunks *image) {
    return image->size;
}

size_t bly_chunks_read(const bly_chunks *image, uint64_t offset, void *to, size_t size) {
    size_t done = 0;
    while (done < size && offset < image->size) {
        uint64_t run;
        const uint8_t *from = image_find(image, offset, &run);
        size_t n = run < size - done ? (size_t)run : size - done;
        memcpy((uint8_t *)to + done, from, n);
        done += n;
        offset += n;
    }
    return done;
}

void bly_chunks_close(bly_chunks *image) {
    if (!image)
        return;
    bly_allocator alloc = image->alloc;
    alloc.free(alloc.ctx, image);
}

uint64_t bly_filter_file_size(const bly_filter *f) {
    return BLYI_HEADER_BYTES + f->body_bytes;
}

bly_status bly_filter_write(const bly_filter *f, bly_sink sink, void *ctx) {
    bly_chunks image;
    bly_status status = BLY_OK;
    image_compose(&image, f);
    for (uint64_t at = 0, n; status == BLY_OK && at < image.size; at += n) {
        const uint8_t *from = image_find(&image, at, &n);
        n = n < BLYI_MAX_CHUNK ? n : BLYI_MAX_CHUNK;
        status = sink(ctx, from, (size_t)n);
    }
    return status;
}

/* ---- writing a filter that may change meanwhile ---------------------------------------------- */

/* A container that has been written in part. */
typedef struct open_container {
    uint64_t end, expected_sum;
    XXH64_state_t sum;
} open_container;

typedef struct checked_write {
    open_container open[MAX_CONTAINER_DEPTH]; /* each nested in the one before */
    unsigned n;
} checked_write;

static bool checked_write_begin(checked_write *w, uint64_t at,
                                const uint8_t header[BLYI_HEADER_BYTES]) {
    blyi_header h;
    if (w->n == MAX_CONTAINER_DEPTH || blyi_header_decode(header, &h) != BLY_OK)
        return false;
    open_container *c = &w->open[w->n++];
    c->end = at + BLYI_HEADER_BYTES + h.body_bytes;
    c->expected_sum = h.body_sum;
    (void)XXH64_reset(&c->sum, 0);
    return true;
}

/* Adds n bytes at offset `at` to the checksums. Returns false if a container ends after these bytes
 * and its checksum differs from that in its header. */
static bool checked_write_bytes(checked_write *w, uint64_t at, const uint8_t *data, size_t n,
                                bool header) {
    bool ok = true;
    for (unsigned i = 0; i < w->n; i++)
        (void)XXH64_update(&w->open[i].sum, data, n);
    if (header)
        ok = checked_write_begin(w, at, data);
    while (ok && w->n > 0 && w->open[w->n - 1].end == at + n)
        ok = XXH64_digest(&w->open[w->n - 1].sum) == w->open[w->n - 1].expected_sum && w->n-- > 0;
    return ok;
}

static bool image_has_header_at(const bly_chunks *image, uint64_t at) {
    const image_part *p = image->parts;
    while (p < image->parts + image->n && p->at != at)
        p++;
    return p < image->parts + image->n;
}

/* Whether the filters still match the headers that were written. Some kinds reject a body that does
 * not match the count in the header. */
static bool image_headers_match(const bly_chunks *image) {
    uint8_t now[BLYI_HEADER_BYTES];
    blyi_header h;
    bool ok = true;
    for (const image_part *p = image->parts; ok && p < image->parts + image->n; p++) {
        ok = blyi_header_decode(p->header, &h) == BLY_OK;
        if (ok) {
            image_encode_header(p->filter, image->parts->filter->key_rule, h.body_sum, now);
            ok = memcmp(now, p->header, sizeof now) == 0;
        }
    }
    return ok;
}

bly_status blyi_filter_write_checked(const bly_filter *f, bly_sink sink, void *ctx,
                                     uint8_t *chunk) {
    bly_chunks image;
    checked_write w = {.n = 0};
    image_compose(&image, f);
    for (uint64_t at = 0, n; at < image.size; at += n) {
        const uint8_t *from = image_find(&image, at, &n);
        n = n < BLYI_MAX_CHUNK ? n : BLYI_MAX_CHUNK;
        memcpy(chunk, from, (size_t)n); /* so that the checksum is of the bytes that are written */
        if (!checked_write_bytes(&w, at, chunk, (size_t)n, image_has_header_at(&image, at)))
            return BLY_ECHANGED;
        bly_status status = sink(ctx, chunk, (size_t)n);
        if (status != BLY_OK)
            return status;
    }
    return image_headers_match(&image) ? BLY_OK : BLY_ECHANGED;
}
