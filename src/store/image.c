/* The file of a filter, without a file.
 *
 * A file is a row of headers and bodies, and the bodies are in memory as they would lie in it. So
 * only the headers are made, in order, each with the place of what follows it, and any byte of the
 * file is then found either in one of them or in a filter. The sum of a filter made of others runs
 * over the headers of those, so the innermost are made first.
 */
#include "nested.h"

#include "../core/memory.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PIECE = 1 << 20 }; /* the most a sink is given at once */

typedef struct part {
    uint64_t at; /* where its header is in the file; its body, if it has one, follows */
    const bly_filter *filter;
    uint8_t header[BLYI_HEADER_BYTES];
} part;

struct bly_image {
    bly_allocator alloc;
    uint64_t size;
    unsigned n;
    part parts[BLYI_MAX_NESTED];
};

/* What follows the header directly: nothing where that is another header. */
static uint64_t own_bytes(const part *p) {
    return p->filter->levels ? 0 : p->filter->body_bytes;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The sum of the body that the parts from `from` on make. */
static uint64_t sum_of_parts(const bly_image *image, unsigned from) {
    XXH64_state_t sum;
    (void)XXH64_reset(&sum, 0);
    for (const part *p = image->parts + from; p < image->parts + image->n; p++) {
        (void)XXH64_update(&sum, p->header, sizeof p->header);
        if (own_bytes(p))
            (void)XXH64_update(&sum, p->filter->body, (size_t)own_bytes(p));
    }
    return XXH64_digest(&sum);
}

static void append(bly_image *image, const bly_filter *f) {
    part *p = &image->parts[image->n++];
    p->at = image->size;
    p->filter = f;
    image->size += BLYI_HEADER_BYTES + own_bytes(p);
    unsigned inside = image->n;
    for (unsigned i = 0; f->levels && i < f->levels->n; i++)
        append(image, f->levels->at[i]);
    uint64_t sum = f->levels ? sum_of_parts(image, inside) : blyi_body_sum(f->body, f->body_bytes);
    const blyi_shape shape = blyi_filter_shape(f);
    blyi_header_encode(&shape, sum, p->header);
}

static void compose(bly_image *image, const bly_filter *f) {
    image->n = 0;
    image->size = 0;
    append(image, f);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Where the byte at `at` is, which must be before the end, and how many lie there in a row. */
static const uint8_t *find(const bly_image *image, uint64_t at, uint64_t *run) {
    unsigned i = image->n - 1;
    while (image->parts[i].at > at)
        i--;
    const part *p = &image->parts[i];
    uint64_t in = at - p->at;
    if (in < BLYI_HEADER_BYTES) {
        *run = BLYI_HEADER_BYTES - in;
        return p->header + in;
    }
    *run = BLYI_HEADER_BYTES + own_bytes(p) - in;
    return p->filter->body + (in - BLYI_HEADER_BYTES);
}

bly_status bly_image_open(const bly_filter *f, const bly_allocator *a, bly_image **out) {
    bly_allocator alloc = blyi_allocator_or_default(a);
    *out = alloc.alloc(alloc.ctx, sizeof **out);
    if (!*out)
        return BLY_ENOMEM;
    (*out)->alloc = alloc;
    compose(*out, f);
    return BLY_OK;
}

uint64_t bly_image_size(const bly_image *image) {
    return image->size;
}

size_t bly_image_copy(const bly_image *image, uint64_t offset, void *to, size_t size) {
    size_t done = 0;
    while (done < size && offset < image->size) {
        uint64_t run;
        const uint8_t *from = find(image, offset, &run);
        size_t n = run < size - done ? (size_t)run : size - done;
        memcpy((uint8_t *)to + done, from, n);
        done += n;
        offset += n;
    }
    return done;
}

void bly_image_close(bly_image *image) {
    if (!image)
        return;
    bly_allocator alloc = image->alloc;
    alloc.free(alloc.ctx, image);
}

uint64_t bly_filter_file_size(const bly_filter *f) {
    return BLYI_HEADER_BYTES + f->body_bytes;
}

bly_status bly_filter_write(const bly_filter *f, bly_sink sink, void *ctx) {
    bly_image image;
    bly_status status = BLY_OK;
    compose(&image, f);
    for (uint64_t at = 0, n; status == BLY_OK && at < image.size; at += n) {
        const uint8_t *from = find(&image, at, &n);
        n = n < PIECE ? n : PIECE;
        status = sink(ctx, from, (size_t)n);
    }
    return status;
}
