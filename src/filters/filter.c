/* The generic handle: the table of kinds, the life of a filter, and the edge where keys become
 * hashes. */
#include "../core/memory.h"
#include "batch.h"
#include "once.h"
#include "ops.h"
#include "stream.h"

#include <string.h>

static const blyi_ops *const rows[] = {
    &blyi_classic_ops, &blyi_partitioned_ops, &blyi_sbbf_ops, &blyi_split512_ops, &blyi_bb2x512_ops,
};

const blyi_ops *blyi_ops_of(bly_kind kind) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i]->kind == kind)
            return rows[i];
    return NULL;
}

uint32_t bly_kind_capabilities(bly_kind kind) {
    const blyi_ops *ops = blyi_ops_of(kind);
    return ops ? ops->capabilities : 0;
}

/* ---- life ----------------------------------------------------------------------------------- */

static bly_status check_shape(const blyi_shape *shape, const blyi_ops *ops) {
    bly_status status = bly_plan_check(&shape->geometry);
    if (status)
        return status;
    if (!ops)
        return BLY_EKIND;
    if (shape->sharing > BLY_SHARED_ONCE)
        return BLY_EINVAL;
    if (shape->sharing != BLY_EXCLUSIVE && !(ops->capabilities & BLY_CAN_SHARE))
        return BLY_EUNSUPPORTED;
    return BLY_OK;
}

bly_status blyi_filter_make(const blyi_shape *shape, const bly_allocator *a,
                            const uint8_t *borrowed, bly_filter **out) {
    const blyi_ops *ops = blyi_ops_of(shape->geometry.kind);
    *out = NULL;
    bly_status status = check_shape(shape, ops);
    if (status)
        return status;
    bly_allocator alloc = blyi_allocator_or_default(a);
    bly_filter *f = alloc.alloc(alloc.ctx, sizeof *f);
    if (!f)
        return BLY_ENOMEM;
    f->ops = ops;
    f->kernels = blyi_kernels_best();
    f->geometry = shape->geometry;
    f->hasher = shape->hasher;
    f->capacity = shape->capacity;
    f->fpr = shape->fpr;
    f->items = shape->items;
    f->sharing = shape->sharing;
    f->approximate = shape->approximate;
    f->keyless = shape->keyless;
    f->alloc = alloc;
    f->ask = blyi_ask_for(&f->hasher, ops->block_shift);
    if (ops->block_shift) {
        f->stream = blyi_stream_for(&f->hasher, ops->block_shift);
        ops->choose(f);
    }
    f->body_bytes = bly_plan_bytes(&shape->geometry);
    f->body = (uint8_t *)(uintptr_t)borrowed;
    if (!borrowed)
        f->body = blyi_alloc_array(&alloc, f->body_bytes, &f->body_block);
    if (f->sharing != BLY_EXCLUSIVE)
        f->stripes = blyi_alloc_array(&alloc, BLYI_STRIPES * sizeof *f->stripes, &f->stripes_block);
    if (!f->body || (f->sharing != BLY_EXCLUSIVE && !f->stripes)) {
        bly_filter_destroy(f);
        return BLY_ENOMEM;
    }
    *out = f;
    return BLY_OK;
}

static blyi_shape shape_of(const bly_filter *f) {
    return (blyi_shape){
        .geometry = f->geometry,
        .hasher = f->hasher,
        .capacity = f->capacity,
        .items = blyi_filter_items(f),
        .fpr = f->fpr,
        .approximate = f->approximate,
        .keyless = f->keyless,
        .sharing = f->sharing,
    };
}

bly_status bly_filter_clone(const bly_filter *f, const bly_allocator *a, bly_filter **out) {
    blyi_shape shape = shape_of(f);
    bly_status status = blyi_filter_make(&shape, a, NULL, out);
    if (status == BLY_OK)
        memcpy((*out)->body, f->body, (size_t)f->body_bytes);
    return status;
}

bly_status bly_filter_fold(const bly_filter *f, uint64_t divisor, const bly_allocator *a,
                           bly_filter **out) {
    blyi_shape shape = shape_of(f);
    *out = NULL;
    if (!f->ops->fold)
        return BLY_EUNSUPPORTED;
    if (divisor == 0 || f->geometry.size % divisor)
        return BLY_EGEOMETRY;
    shape.geometry.size /= divisor;
    if (bly_plan_check(&shape.geometry))
        return BLY_EGEOMETRY;
    uint64_t capacity = bly_plan_capacity(&shape.geometry, shape.fpr, shape.hasher.bits);
    shape.capacity = capacity ? capacity : 1;
    bly_status status = blyi_filter_make(&shape, a, NULL, out);
    if (status == BLY_OK)
        f->ops->fold(f, divisor, *out);
    return status;
}

void bly_filter_destroy(bly_filter *f) {
    if (!f)
        return;
    bly_allocator alloc = f->alloc;
    blyi_free_array(&alloc, f->body_block);
    blyi_free_array(&alloc, f->stripes_block);
    alloc.free(alloc.ctx, f);
}

/* ---- counting ------------------------------------------------------------------------------- */

uint64_t blyi_filter_items(const bly_filter *f) {
    uint64_t total = f->items;
    for (unsigned i = 0; f->stripes && i < BLYI_STRIPES; i++)
        total += __atomic_load_n(&f->stripes[i].fresh, __ATOMIC_RELAXED);
    return total;
}

void blyi_filter_set_items(bly_filter *f, uint64_t items) {
    if (f->stripes)
        memset(f->stripes, 0, BLYI_STRIPES * sizeof *f->stripes);
    f->items = items;
}

static size_t put_shared(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    size_t fresh = f->sharing == BLY_SHARED ? f->ops->add_shared(f, h, n, added)
                                            : blyi_add_once(f, h, n, added);
    blyi_filter_count_fresh(f, fresh, n ? h[0].hi : 0);
    return fresh;
}

size_t blyi_filter_put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    if (f->sharing != BLY_EXCLUSIVE)
        return put_shared(f, h, n, added);
    size_t fresh = f->ops->add(f, h, n, added);
    f->items += fresh;
    return fresh;
}

/* ---- use ------------------------------------------------------------------------------------ */

static inline blyi_spot spot_of(const bly_filter *f, bly_hash h) {
    return blyi_spot_of(h, f->geometry.size, f->ops->block_shift);
}

static inline bool has_hash(const bly_filter *f, bly_hash h) {
    if (!f->ops->block_shift)
        return f->ops->contains(f, &h, 1, NULL) != 0;
    blyi_spot spot = spot_of(f, h);
    return f->has(f->body + spot.at, spot.bits, f->geometry.hashes);
}

static inline bool put_hash(bly_filter *f, bly_hash h) {
    if (!f->ops->block_shift || f->sharing == BLY_SHARED_ONCE)
        return blyi_filter_put(f, &h, 1, NULL) != 0;
    blyi_spot spot = spot_of(f, h);
    bool is_new = f->put(f->body + spot.at, spot.bits, f->geometry.hashes);
    blyi_filter_count_fresh(f, is_new, h.hi);
    return is_new;
}

bly_status bly_filter_add_hash(bly_filter *f, bly_hash h, bool *added) {
    bool is_new = put_hash(f, h);
    if (added)
        *added = is_new;
    return BLY_OK;
}

bool bly_filter_contains_hash(const bly_filter *f, bly_hash h) {
    return has_hash(f, h);
}

bly_status bly_filter_add(bly_filter *f, const void *key, size_t len, bool *added) {
    if (f->keyless)
        return BLY_EKEY;
    bool is_new = put_hash(f, f->hasher.one(&f->hasher, key, len));
    if (added)
        *added = is_new;
    return BLY_OK;
}

bool blyi_filter_ask(const bly_filter *f, const void *key, size_t len) {
    return f->keyless || has_hash(f, f->hasher.one(&f->hasher, key, len));
}

bool bly_filter_contains(const bly_filter *f, const void *key, size_t len) {
    return f->ask(f, key, len);
}

static void tell(bly_tally *tally, size_t done, size_t fresh) {
    if (tally)
        *tally = (bly_tally){done, fresh};
}

bly_status bly_filter_add_many(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                               bly_tally *tally) {
    tell(tally, 0, 0);
    if (f->keyless)
        return BLY_EKEY;
    tell(tally, n, blyi_batch_keys(f, f, keys, n, added));
    return BLY_OK;
}

size_t bly_filter_contains_many(const bly_filter *f, const bly_bytes *keys, size_t n,
                                uint8_t *found) {
    if (!f->keyless)
        return blyi_batch_keys(f, NULL, keys, n, found);
    if (found)
        memset(found, 1, n);
    return n;
}

bly_status bly_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                 bly_tally *tally) {
    tell(tally, n, blyi_batch_hashes(f, f, h, n, added));
    return BLY_OK;
}

size_t bly_filter_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                  uint8_t *found) {
    return blyi_batch_hashes(f, NULL, h, n, found);
}

void bly_filter_clear(bly_filter *f) {
    memset(f->body, 0, (size_t)f->body_bytes);
    blyi_filter_set_items(f, 0);
    f->approximate = false;
}

/* ---- look ----------------------------------------------------------------------------------- */

bly_geometry bly_filter_geometry(const bly_filter *f) {
    return f->geometry;
}

const bly_hasher *bly_filter_hasher(const bly_filter *f) {
    return f->keyless ? NULL : &f->hasher;
}

bly_sharing bly_filter_sharing(const bly_filter *f) {
    return f->sharing;
}

uint64_t bly_filter_capacity(const bly_filter *f) {
    return f->capacity;
}

uint64_t bly_filter_count(const bly_filter *f) {
    return blyi_filter_items(f);
}
