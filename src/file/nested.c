#include "file/nested.h"

#include <string.h>

_Static_assert((int)BLYI_LEVEL_HEADER == (int)BLYI_HEADER_BYTES, "a level has a header");

static bly_status copy_memory(void *ctx, uint64_t at, void *to, size_t n) {
    memcpy(to, (const uint8_t *)ctx + at, n);
    return BLY_OK;
}

bly_source blyi_source_memory(const void *file, uint64_t size) {
    return (bly_source){size, copy_memory, copy_memory, (void *)(uintptr_t)file};
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The header at `at`. */
static bly_status read_header(const bly_source *source, uint64_t at, blyi_part *out) {
    bly_status status = source->peek(source->ctx, at, out->raw, BLYI_HEADER_BYTES);
    out->body = at + BLYI_HEADER_BYTES;
    return status ? status : blyi_header_decode(out->raw, &out->header);
}

/* Reads the header at `at`, level i of `whole`, whose body ends at `end`. */
static bly_status read_level(const bly_source *source, const blyi_shape *whole, unsigned i,
                             uint64_t at, uint64_t end, blyi_part *out) {
    const blyi_shape *level = &out->header.shape;
    if (end - at < BLYI_HEADER_BYTES)
        return BLY_ECORRUPT;
    bly_status status = read_header(source, at, out);
    if (status)
        return status;
    bool belongs = level->hasher.id == whole->hasher.id &&
                   level->hasher.seed == whole->hasher.seed && level->key_rule == whole->key_rule &&
                   out->header.body_bytes <= end - out->body &&
                   blyi_ops_of(whole->geometry.kind)->level_rules->accepts_level(whole, i, level);
    return belongs ? BLY_OK : BLY_ECORRUPT;
}

/* Reads what is inside the part read last. Calls itself for a level that is made of levels: once,
 * since those admit no more such. */
static bly_status read_inside(const bly_source *source, blyi_nest *out) {
    const blyi_shape *levels[BLYI_MAX_LEVELS];
    blyi_part *outer = &out->in[out->n - 1];
    const blyi_shape *whole = &outer->header.shape;
    uint64_t at = outer->body, end = at + outer->header.body_bytes;
    unsigned n = blyi_part_is_flat(outer) ? 0 : whole->geometry.hashes;
    for (unsigned i = 0; i < n; i++) {
        if (out->n == BLYI_MAX_NESTED)
            return BLY_ECORRUPT;
        blyi_part *level = &out->in[out->n++];
        bly_status status = read_level(source, whole, i, at, end, level);
        if (status == BLY_OK)
            status = read_inside(source, out);
        if (status)
            return status;
        levels[i] = &level->header.shape;
        at = level->body + level->header.body_bytes;
    }
    outer->next = out->n;
    if (blyi_part_is_flat(outer))
        return BLY_OK;
    const blyi_level_rules *rule = blyi_ops_of(whole->geometry.kind)->level_rules;
    return at == end && rule->levels_are_consistent(whole, levels, n) ? BLY_OK : BLY_ECORRUPT;
}

bly_status blyi_nest_head(const bly_source *source, blyi_nest *out) {
    out->n = 1;
    if (source->size < BLYI_HEADER_BYTES)
        return BLY_ECORRUPT;
    bly_status status = read_header(source, 0, out->in);
    if (status == BLY_OK && !blyi_header_fits(&out->in->header, source->size))
        status = BLY_ECORRUPT;
    return status;
}

bly_status blyi_nest_read(const bly_source *source, const bly_open_options *options,
                          blyi_nest *out) {
    bly_status status = blyi_nest_head(source, out);
    if (status == BLY_OK)
        status = blyi_header_bind(&out->in->header, options);
    return status ? status : read_inside(source, out);
}

bly_status blyi_nest_check(const blyi_nest *nest, const uint8_t *file) {
    bly_status status = BLY_OK;
    for (unsigned i = 0; status == BLY_OK && i < nest->n; i++)
        status = blyi_body_check(&nest->in[i].header, file + nest->in[i].body);
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Makes part i, of that shape and with what is inside it. */
static bly_status make_part(blyi_nest *nest, unsigned i, const blyi_shape *shape,
                            const bly_allocator *a, const uint8_t *borrowed) {
    blyi_part *part = &nest->in[i];
    bly_status status =
        blyi_filter_make(shape, a, borrowed ? borrowed + part->body : NULL, &part->filter);
    for (unsigned j = i + 1; status == BLY_OK && j < part->next; j = nest->in[j].next) {
        blyi_shape inner = nest->in[j].header.shape;
        inner.hasher = part->filter->hasher;
        inner.keyless = part->filter->keyless;
        inner.growth_limit = part->filter->growth_limit;
        status = make_part(nest, j, &inner, a, borrowed);
        if (status == BLY_OK)
            blyi_levels_push(part->filter, nest->in[j].filter);
    }
    if (status) {
        bly_filter_destroy(part->filter);
        part->filter = NULL;
    }
    return status;
}

bly_status blyi_nest_make(blyi_nest *nest, const bly_allocator *a, const uint8_t *borrowed,
                          bly_filter **out) {
    bly_status status = make_part(nest, 0, &nest->in->header.shape, a, borrowed);
    *out = nest->in->filter;
    return status;
}
