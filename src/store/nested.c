#include "nested.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert((int)BLYI_LEVEL_HEADER == (int)BLYI_HEADER_BYTES, "a level has a header");

/* ---- reading --------------------------------------------------------------------------------- */

bly_status blyi_fetch_memory(void *ctx, uint64_t at, void *to, size_t size) {
    memcpy(to, (const uint8_t *)ctx + at, size);
    return BLY_OK;
}

/* Where headers come from. */
typedef struct source {
    blyi_fetch *fetch;
    void *ctx;
} source;

/* Reads the header at `at`, level i of `whole`, whose body ends at `end`. */
static bly_status read_one(const blyi_header *whole, unsigned i, uint64_t at, uint64_t end,
                           source from, blyi_inner *out) {
    const blyi_shape *all = &whole->shape, *level = &out->header.shape;
    if (end - at < BLYI_HEADER_BYTES)
        return BLY_ECORRUPT;
    bly_status status = from.fetch(from.ctx, at, out->raw, BLYI_HEADER_BYTES);
    if (status == BLY_OK)
        status = blyi_header_decode(out->raw, &out->header);
    if (status)
        return status;
    out->at = at + BLYI_HEADER_BYTES;
    bool belongs = level->hasher.id == all->hasher.id && level->hasher.seed == all->hasher.seed &&
                   out->header.body_bytes <= end - out->at &&
                   blyi_ops_of(all->geometry.kind)->whole->admits(all, i, level);
    return belongs ? BLY_OK : BLY_ECORRUPT;
}

/* Calls itself for a level that is made of levels: once, since those admit no more such. */
static bly_status read_levels(const blyi_header *whole, uint64_t at, source from, blyi_nest *out) {
    const blyi_shape *levels[BLYI_MAX_LEVELS];
    uint64_t end = at + whole->body_bytes;
    unsigned n = whole->shape.geometry.hashes;
    for (unsigned i = 0; i < n; i++) {
        if (out->n == BLYI_MAX_NESTED)
            return BLY_ECORRUPT;
        blyi_inner *in = &out->in[out->n++];
        bly_status status = read_one(whole, i, at, end, from, in);
        if (status == BLY_OK && blyi_kind_has_levels(in->header.shape.geometry.kind))
            status = read_levels(&in->header, in->at, from, out);
        if (status)
            return status;
        levels[i] = &in->header.shape;
        in->next = out->n;
        at = in->at + in->header.body_bytes;
    }
    const blyi_whole *rule = blyi_ops_of(whole->shape.geometry.kind)->whole;
    return at == end && rule->adds_up(&whole->shape, levels, n) ? BLY_OK : BLY_ECORRUPT;
}

bly_status blyi_nest_read(const blyi_header *outer, blyi_fetch *fetch, void *ctx, blyi_nest *out) {
    out->n = 0;
    return read_levels(outer, 0, (source){fetch, ctx}, out);
}

bly_status blyi_nest_check(const blyi_header *outer, const blyi_nest *nest, const uint8_t *body) {
    bly_status status = blyi_body_check(outer, body);
    for (unsigned i = 0; status == BLY_OK && i < nest->n; i++)
        status = blyi_body_check(&nest->in[i].header, body + nest->in[i].at);
    return status;
}

/* Gives `f` its levels, those from `from` up to `to`. */
static bly_status make_levels(bly_filter *f, blyi_nest *nest, unsigned from, unsigned to,
                              const uint8_t *borrowed) {
    for (unsigned i = from; i < to; i = nest->in[i].next) {
        blyi_inner *in = &nest->in[i];
        blyi_shape shape = in->header.shape;
        shape.hasher = f->hasher;
        shape.keyless = f->keyless;
        bly_status status =
            blyi_filter_make(&shape, &f->alloc, borrowed ? borrowed + in->at : NULL, &in->filter);
        if (status == BLY_OK && in->filter->levels)
            status = make_levels(in->filter, nest, i + 1, in->next, borrowed);
        if (status) {
            bly_filter_destroy(in->filter);
            return status;
        }
        blyi_levels_push(f, in->filter);
    }
    return BLY_OK;
}

bly_status blyi_nest_make(const blyi_header *outer, blyi_nest *nest, const bly_allocator *a,
                          const uint8_t *borrowed, bly_filter **out) {
    bly_status status = blyi_filter_make(&outer->shape, a, NULL, out);
    if (status == BLY_OK)
        status = make_levels(*out, nest, 0, nest->n, borrowed);
    if (status != BLY_OK) {
        bly_filter_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

uint64_t blyi_nest_sum(const blyi_nest *nest, unsigned from, unsigned to) {
    XXH64_state_t sum;
    (void)XXH64_reset(&sum, 0);
    for (unsigned i = from; i < to; i++) {
        const blyi_inner *in = &nest->in[i];
        (void)XXH64_update(&sum, in->raw, sizeof in->raw);
        if (blyi_inner_is_flat(in))
            (void)XXH64_update(&sum, in->filter->body, (size_t)in->filter->body_bytes);
    }
    return XXH64_digest(&sum);
}

/* What f is made of, with headers. */
static void gather(const bly_filter *f, blyi_nest *out) {
    for (unsigned i = 0; i < f->levels->n; i++) {
        unsigned here = out->n++;
        blyi_inner *in = &out->in[here];
        in->filter = f->levels->at[i];
        if (!blyi_inner_is_flat(in))
            gather(in->filter, out);
        in->next = out->n;
        uint64_t sum = blyi_inner_is_flat(in)
                           ? blyi_body_sum(in->filter->body, in->filter->body_bytes)
                           : blyi_nest_sum(out, here + 1, in->next);
        blyi_header_encode(in->filter, sum, in->raw);
    }
}

bly_status blyi_nest_write(const bly_filter *f, bly_sink sink, void *ctx) {
    uint8_t header[BLYI_HEADER_BYTES];
    blyi_nest nest;
    nest.n = 0;
    gather(f, &nest);
    blyi_header_encode(f, blyi_nest_sum(&nest, 0, nest.n), header);
    bly_status status = sink(ctx, header, sizeof header);
    for (unsigned i = 0; status == BLY_OK && i < nest.n; i++) {
        const blyi_inner *in = &nest.in[i];
        status = blyi_inner_is_flat(in) ? blyi_write_parts(in->filter, in->raw, sink, ctx)
                                        : sink(ctx, in->raw, sizeof in->raw);
    }
    return status;
}
