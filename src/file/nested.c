/* Reads the headers of nested containers, checks how they fit together, and creates the filters. */
#include "file/nested.h"

#include <string.h>

_Static_assert((int)BLYI_LEVEL_HEADER == (int)BLYI_HEADER_BYTES, "a level has a header");

static bly_status memory_source_copy(void *ctx, uint64_t at, void *to, size_t n) {
    memcpy(to, (const uint8_t *)ctx + at, n);
    return BLY_OK;
}

bly_chunk_source blyi_source_memory(const void *file, uint64_t size) {
    return (bly_chunk_source){size, memory_source_copy, memory_source_copy,
                              (void *)(uintptr_t)file};
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads the header at offset `at`. */
static bly_status container_read_header(const bly_chunk_source *source, uint64_t at,
                                        blyi_container *out) {
    bly_status status = source->peek(source->ctx, at, out->raw, BLYI_HEADER_BYTES);
    out->body = at + BLYI_HEADER_BYTES;
    return status ? status : blyi_header_decode(out->raw, &out->header);
}

/* Reads the header of level i of `whole`, which begins at offset `at`. The body of `whole` ends at
 * `end`. */
static bly_status container_read_level(const bly_chunk_source *source, const blyi_shape *whole,
                                       unsigned i, uint64_t at, uint64_t end, blyi_container *out) {
    const blyi_shape *level = &out->header.shape;
    if (end - at < BLYI_HEADER_BYTES)
        return BLY_ECORRUPT;
    bly_status status = container_read_header(source, at, out);
    if (status)
        return status;
    bool belongs = level->hasher.id == whole->hasher.id &&
                   level->hasher.seed == whole->hasher.seed && level->key_rule == whole->key_rule &&
                   out->header.body_bytes <= end - out->body &&
                   blyi_ops_of(whole->geometry.kind)->level_rules->accepts_level(whole, i, level);
    return belongs ? BLY_OK : BLY_ECORRUPT;
}

/* Reads the headers nested in the container that was read last. Calls itself for each level, at
 * most two deep: a level may itself have levels, but these are flat. */
static bly_status container_read_nested(const bly_chunk_source *source, blyi_containers *out) {
    const blyi_shape *levels[BLYI_MAX_LEVELS];
    blyi_container *outer = &out->in[out->n - 1];
    const blyi_shape *whole = &outer->header.shape;
    uint64_t at = outer->body, end = at + outer->header.body_bytes;
    unsigned n = blyi_container_is_flat(outer) ? 0 : whole->geometry.hashes;
    for (unsigned i = 0; i < n; i++) {
        if (out->n == BLYI_MAX_CONTAINERS)
            return BLY_ECORRUPT;
        blyi_container *level = &out->in[out->n++];
        bly_status status = container_read_level(source, whole, i, at, end, level);
        if (status == BLY_OK)
            status = container_read_nested(source, out);
        if (status)
            return status;
        levels[i] = &level->header.shape;
        at = level->body + level->header.body_bytes;
    }
    outer->next = out->n;
    if (blyi_container_is_flat(outer))
        return BLY_OK;
    const blyi_level_rules *rule = blyi_ops_of(whole->geometry.kind)->level_rules;
    return at == end && rule->levels_are_consistent(whole, levels, n) ? BLY_OK : BLY_ECORRUPT;
}

bly_status blyi_containers_read_first(const bly_chunk_source *source, blyi_containers *out) {
    out->n = 1;
    if (source->size < BLYI_HEADER_BYTES)
        return BLY_ECORRUPT;
    bly_status status = container_read_header(source, 0, out->in);
    if (status == BLY_OK && !blyi_header_fits(&out->in->header, source->size))
        status = BLY_ECORRUPT;
    return status;
}

bly_status blyi_containers_read(const bly_chunk_source *source, const bly_open_options *options,
                                blyi_containers *out) {
    bly_status status = blyi_containers_read_first(source, out);
    if (status == BLY_OK)
        status = blyi_header_bind(&out->in->header, options);
    return status ? status : container_read_nested(source, out);
}

bly_status blyi_containers_check(const blyi_containers *all, const uint8_t *file) {
    bly_status status = BLY_OK;
    for (unsigned i = 0; status == BLY_OK && i < all->n; i++)
        status = blyi_body_check(&all->in[i].header, file + all->in[i].body);
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Creates the filter of container i, with that shape, and the filters nested in it. */
static bly_status container_make(blyi_containers *all, unsigned i, const blyi_shape *shape,
                                 const bly_allocator *a, const uint8_t *borrowed) {
    blyi_container *c = &all->in[i];
    bly_status status =
        blyi_filter_make(shape, a, borrowed ? borrowed + c->body : NULL, &c->filter);
    for (unsigned j = i + 1; status == BLY_OK && j < c->next; j = all->in[j].next) {
        blyi_shape inner = all->in[j].header.shape;
        inner.hasher = c->filter->hasher;
        inner.keyless = c->filter->keyless;
        inner.growth_limit = c->filter->growth_limit;
        status = container_make(all, j, &inner, a, borrowed);
        if (status == BLY_OK)
            blyi_levels_push(c->filter, all->in[j].filter);
    }
    if (status) {
        bly_filter_destroy(c->filter);
        c->filter = NULL;
    }
    return status;
}

bly_status blyi_containers_make(blyi_containers *all, const bly_allocator *a,
                                const uint8_t *borrowed, bly_filter **out) {
    bly_status status = container_make(all, 0, &all->in->header.shape, a, borrowed);
    *out = all->in->filter;
    return status;
}
