#include "nested.h"

#include "../core/planner.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert((int)BLYI_LEVEL_HEADER == (int)BLYI_HEADER_BYTES, "a level has a header");

/* Rates are sums of rounded numbers. */
#define SLACK 1e-9

/* ---- reading --------------------------------------------------------------------------------- */

bly_status blyi_fetch_memory(void *ctx, uint64_t at, void *to, size_t size) {
    memcpy(to, (const uint8_t *)ctx + at, size);
    return BLY_OK;
}

/* A level must be a filter of plain bits under the hash of the whole. How large the next one will
 * be follows from its capacity, so that must be one that its bits can bear. */
static bool belongs(const blyi_shape *level, const blyi_shape *whole) {
    return !blyi_kind_has_levels(level->geometry.kind) && !blyi_planner_of(level->geometry.kind) &&
           !level->approximate && level->capacity <= bly_plan_bits(&level->geometry) &&
           level->hasher.id == whole->hasher.id && level->hasher.seed == whole->hasher.seed;
}

bly_status blyi_nest_read(const blyi_header *outer, blyi_fetch *fetch, void *ctx, blyi_nest *out) {
    const blyi_shape *whole = &outer->shape;
    uint64_t at = 0, items = 0, capacity = 0;
    double rate = 0;
    out->n = whole->geometry.hashes;
    for (unsigned i = 0; i < out->n; i++) {
        blyi_header *h = &out->level[i];
        if (outer->body_bytes - at < BLYI_HEADER_BYTES)
            return BLY_ECORRUPT;
        bly_status status = fetch(ctx, at, out->raw[i].bytes, BLYI_HEADER_BYTES);
        if (status == BLY_OK)
            status = blyi_header_decode(out->raw[i].bytes, h);
        if (status)
            return status;
        at += BLYI_HEADER_BYTES;
        if (!belongs(&h->shape, whole) || outer->body_bytes - at < h->body_bytes)
            return BLY_ECORRUPT;
        out->at[i] = at;
        at += h->body_bytes;
        capacity = blyi_sum(capacity, h->shape.capacity);
        items = blyi_sum(items, h->shape.items);
        rate += h->shape.fpr;
    }
    bool adds_up = at == outer->body_bytes && capacity == whole->capacity &&
                   items == whole->items && rate <= whole->fpr * (1 + SLACK) && !whole->approximate;
    return adds_up ? BLY_OK : BLY_ECORRUPT;
}

bly_status blyi_nest_check(const blyi_header *outer, const blyi_nest *nest, const uint8_t *body) {
    bly_status status = blyi_body_check(outer, body);
    for (unsigned i = 0; status == BLY_OK && i < nest->n; i++)
        status = blyi_body_check(&nest->level[i], body + nest->at[i]);
    return status;
}

bly_status blyi_nest_make(const blyi_header *outer, const blyi_nest *nest, const bly_allocator *a,
                          const uint8_t *borrowed, bly_filter **out) {
    bly_status status = blyi_filter_make(&outer->shape, a, NULL, out);
    for (unsigned i = 0; status == BLY_OK && i < nest->n; i++) {
        blyi_shape shape = nest->level[i].shape;
        bly_filter *level;
        shape.hasher = outer->shape.hasher;
        shape.keyless = outer->shape.keyless;
        status = blyi_filter_make(&shape, &(*out)->alloc, borrowed ? borrowed + nest->at[i] : NULL,
                                  &level);
        if (status == BLY_OK)
            blyi_levels_push(*out, level);
    }
    if (status != BLY_OK) {
        bly_filter_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

uint64_t blyi_nest_sum(const blyi_levels *levels, const blyi_raw_header *headers) {
    XXH64_state_t sum;
    (void)XXH64_reset(&sum, 0);
    for (unsigned i = 0; i < levels->n; i++) {
        (void)XXH64_update(&sum, headers[i].bytes, BLYI_HEADER_BYTES);
        (void)XXH64_update(&sum, levels->at[i]->body, (size_t)levels->at[i]->body_bytes);
    }
    return XXH64_digest(&sum);
}

bly_status blyi_nest_write(const bly_filter *f, bly_sink sink, void *ctx) {
    const blyi_levels *l = f->levels;
    uint8_t header[BLYI_HEADER_BYTES];
    blyi_raw_header inner[BLYI_MAX_LEVELS];
    for (unsigned i = 0; i < l->n; i++)
        blyi_header_encode(l->at[i], blyi_body_sum(l->at[i]->body, l->at[i]->body_bytes),
                           inner[i].bytes);
    blyi_header_encode(f, blyi_nest_sum(l, inner), header);
    bly_status status = sink(ctx, header, sizeof header);
    for (unsigned i = 0; status == BLY_OK && i < l->n; i++)
        status = blyi_write_parts(l->at[i], inner[i].bytes, sink, ctx);
    return status;
}
