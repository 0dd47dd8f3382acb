/* The file of a filter, without a file.
 *
 * A file is a row of headers and bodies, and the bodies are in memory as they would lie in it. So
 * only the headers are made, in order, each with the place of what follows it, and any byte of the
 * file is then found either in one of them or in a filter. The sum of a filter made of others runs
 * over the headers of those, so the innermost are made first.
 */
#include "file/nested.h"

#include "base/memory.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MAX_DEPTH = 3 }; /* a whole, a level of it, and a level of that */

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

/* Parts have the rule of the whole: a base that is borrowed may have another, or none. */
static void encode(const bly_filter *f, bly_key_rule rule, uint64_t sum,
                   uint8_t out[BLYI_HEADER_BYTES]) {
    blyi_shape shape = blyi_filter_shape(f);
    shape.key_rule = rule;
    blyi_header_encode(&shape, sum, out);
}

static void append(bly_image *image, const bly_filter *f, bly_key_rule rule) {
    part *p = &image->parts[image->n++];
    p->at = image->size;
    p->filter = f;
    image->size += BLYI_HEADER_BYTES + own_bytes(p);
    unsigned inside = image->n;
    for (unsigned i = 0; f->levels && i < f->levels->n; i++)
        append(image, f->levels->at[i], rule);
    uint64_t sum = f->levels ? sum_of_parts(image, inside) : blyi_body_sum(f->body, f->body_bytes);
    encode(f, rule, sum, p->header);
}

static void compose(bly_image *image, const bly_filter *f) {
    image->n = 0;
    image->size = 0;
    append(image, f, f->key_rule);
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
        n = n < BLYI_PIECE ? n : BLYI_PIECE;
        status = sink(ctx, from, (size_t)n);
    }
    return status;
}

/* ---- writing what may change meanwhile ------------------------------------------------------- */

/* A container whose bytes are on their way. */
typedef struct running {
    uint64_t end, wanted;
    XXH64_state_t sum;
} running;

typedef struct writing {
    running open[MAX_DEPTH]; /* each one inside the one before */
    unsigned n;
} writing;

static bool begin(writing *w, uint64_t at, const uint8_t header[BLYI_HEADER_BYTES]) {
    blyi_header h;
    if (w->n == MAX_DEPTH || blyi_header_decode(header, &h) != BLY_OK)
        return false;
    running *r = &w->open[w->n++];
    r->end = at + BLYI_HEADER_BYTES + h.body_bytes;
    r->wanted = h.body_sum;
    (void)XXH64_reset(&r->sum, 0);
    return true;
}

/* Takes n bytes, which begin at `at`. false: their sum is not what a header says. */
static bool pass(writing *w, uint64_t at, const uint8_t *data, size_t n, bool header) {
    bool good = true;
    for (unsigned i = 0; i < w->n; i++)
        (void)XXH64_update(&w->open[i].sum, data, n);
    if (header)
        good = begin(w, at, data);
    while (good && w->n > 0 && w->open[w->n - 1].end == at + n)
        good = XXH64_digest(&w->open[w->n - 1].sum) == w->open[w->n - 1].wanted && w->n-- > 0;
    return good;
}

static bool is_header(const bly_image *image, uint64_t at) {
    const part *p = image->parts;
    while (p < image->parts + image->n && p->at != at)
        p++;
    return p < image->parts + image->n;
}

/* Whether the filters are still what their headers say. Of some kinds the body does not load with
 * another count than its own. */
static bool headers_hold(const bly_image *image) {
    uint8_t now[BLYI_HEADER_BYTES];
    blyi_header h;
    bool good = true;
    for (const part *p = image->parts; good && p < image->parts + image->n; p++) {
        good = blyi_header_decode(p->header, &h) == BLY_OK;
        if (good) {
            encode(p->filter, image->parts->filter->key_rule, h.body_sum, now);
            good = memcmp(now, p->header, sizeof now) == 0;
        }
    }
    return good;
}

bly_status blyi_filter_write_checked(const bly_filter *f, bly_sink sink, void *ctx,
                                     uint8_t *piece) {
    bly_image image;
    writing w = {.n = 0};
    compose(&image, f);
    for (uint64_t at = 0, n; at < image.size; at += n) {
        const uint8_t *from = find(&image, at, &n);
        n = n < BLYI_PIECE ? n : BLYI_PIECE;
        memcpy(piece, from, (size_t)n); /* so that what is summed is what is written */
        if (!pass(&w, at, piece, (size_t)n, is_header(&image, at)))
            return BLY_ECHANGED;
        bly_status status = sink(ctx, piece, (size_t)n);
        if (status != BLY_OK)
            return status;
    }
    return headers_hold(&image) ? BLY_OK : BLY_ECHANGED;
}
