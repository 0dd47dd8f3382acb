/* The filter object: how it is created and destroyed, and the public calls, in which keys are
 * hashed. */
#include "filter/filter.h"
#include "base/bits.h"
#include "base/memory.h"
#include "filter/batch.h"
#include "filter/levels.h"
#include "hash/hash_custom.h"

#include <bloomery/host/describe.h>
#include <string.h>

/* ---- creation and destruction --------------------------------------------------------------- */

static bly_status check_shape(const blyi_shape *shape, const blyi_ops *ops) {
    bly_status status = BLY_OK;
    if (!ops->level_rules)
        status = bly_plan_check(&shape->geometry);
    if (status)
        return status;
    if (shape->sharing > BLY_SHARED_ONCE)
        return BLY_EINVAL;
    if (shape->sharing != BLY_EXCLUSIVE && !(ops->capabilities & BLY_CAN_SHARE))
        return BLY_EUNSUPPORTED;
    return BLY_OK;
}

/* Allocates the body, or the list of levels. */
static bool allocate_body(bly_filter *f, const uint8_t *borrowed) {
    if (f->ops->level_rules) {
        f->levels = f->alloc.alloc(f->alloc.ctx, sizeof *f->levels);
        if (f->levels)
            blyi_levels_truncate(f, 0);
        return f->levels != NULL;
    }
    f->body_bytes = bly_plan_bytes(&f->geometry);
    f->body = (uint8_t *)(uintptr_t)borrowed;
    if (!borrowed)
        f->body = blyi_alloc_array(&f->alloc, f->body_bytes, &f->body_allocation);
    return f->body != NULL;
}

/* bly_filter_contains for filters that hash by xxh3, of kinds without a kernel that hashes and
 * probes. */
static bool contains_xxh3(const blyi_kernel_view *view, const void *key, size_t len) {
    const bly_filter *f = (const void *)view;
    bly_hash h = blyi_hash_from_strong64(blyi_xxh3(&f->secret, key, len));
    blyi_block_probe p = blyi_block_probe_of(h, f->geometry.size, f->ops->block_shift);
    return f->contains_block(f->body + p.at, p.bits, f->geometry.hashes);
}

/* bly_filter_contains for any kind and hasher. */
static blyi_contains_key_fn contains_any;

/* Sets the function pointers that depend on the hasher (filter.h). */
static void select_paths(bly_filter *f) {
    bool is_xxh3 = f->hasher.id == BLY_HASH_XXH3;
    f->contains_key = !is_xxh3 || !f->ops->block_shift ? contains_any
                      : f->contains_key_xxh3           ? f->contains_key_xxh3
                                                       : contains_xxh3;
    f->add_key = is_xxh3 ? f->add_key_xxh3 : NULL;
    if (f->ops->block_shift)
        f->batch_keys = blyi_block_batch_for(&f->hasher);
    if (is_xxh3)
        blyi_xxh3_secret_init(&f->secret, f->hasher.seed);
}

void blyi_filter_switch_ops(bly_filter *f, const blyi_ops *ops) {
    f->ops = ops;
    f->contains_block = NULL;
    f->add_block = NULL;
    f->contains_blocks = NULL;
    f->add_blocks = NULL;
    f->contains_key_xxh3 = NULL;
    f->add_key_xxh3 = NULL;
    f->contains_keys_xxh3 = f->add_keys_xxh3 = NULL;
    ops->select_kernels(f);
    select_paths(f);
}

bly_status blyi_filter_make(const blyi_shape *shape, const bly_allocator *a,
                            const uint8_t *borrowed, bly_filter **out) {
    const blyi_kind *kind = blyi_kind_of(shape->geometry.kind);
    *out = NULL;
    if (!kind)
        return BLY_EKIND;
    const blyi_ops *ops = kind->ops;
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
    f->growth_limit = shape->growth_limit;
    f->key_rule = shape->key_rule;
    f->alloc = alloc;
    if (ops->block_shift) {
        f->block_bytes = f->geometry.size << ops->block_shift;
        ops->select_kernels(f);
    }
    select_paths(f);
    bool made = allocate_body(f, borrowed);
    if (f->sharing != BLY_EXCLUSIVE)
        f->stripes =
            blyi_alloc_array(&alloc, BLYI_STRIPES * sizeof *f->stripes, &f->stripes_allocation);
    if (!made || (f->sharing != BLY_EXCLUSIVE && !f->stripes)) {
        bly_filter_destroy(f);
        return BLY_ENOMEM;
    }
    *out = f;
    return BLY_OK;
}

void blyi_filter_replace_body(bly_filter *f, const bly_geometry *g, uint8_t *body, void *block) {
    blyi_free_array(&f->alloc, f->body_allocation);
    f->body = body;
    f->body_allocation = block;
    f->body_bytes = bly_plan_bytes(g);
    f->block_bytes = g->size << f->ops->block_shift;
    f->geometry = *g;
}

void blyi_filter_trim(bly_filter *f) {
    uint64_t used = bly_plan_bits(&f->geometry), word = used / 64;
    if (used % 64)
        blyi_words(f)[word++] &= blyi_le64(((uint64_t)1 << used % 64) - 1);
    for (; word < blyi_word_count(f); word++)
        blyi_words(f)[word] = 0;
}

blyi_shape blyi_filter_shape(const bly_filter *f) {
    return (blyi_shape){
        .geometry = f->geometry,
        .hasher = f->hasher,
        .capacity = f->capacity,
        .items = blyi_filter_items(f),
        .fpr = f->fpr,
        .approximate = f->approximate,
        .keyless = f->keyless,
        .sharing = f->sharing,
        .growth_limit = f->growth_limit,
        .key_rule = f->key_rule,
    };
}

bly_status blyi_filter_may_grow(const bly_filter *f, uint64_t bytes) {
    uint64_t block = blyi_array_block_bytes(&f->alloc, bytes);
    if (block < bytes) /* if the sum exceeds a size_t */
        block = bytes;
    return blyi_growth_fits(f->growth_limit, f->body_bytes, block) ? BLY_OK : BLY_EGROWTH;
}

/* A borrowed level never grows, so its limit is not changed. */
void bly_filter_limit_growth(bly_filter *f, uint64_t max_bytes) {
    f->growth_limit = blyi_growth_limit(max_bytes);
    for (unsigned i = f->levels ? f->levels->borrowed : 0; f->levels && i < f->levels->n; i++)
        bly_filter_limit_growth(f->levels->at[i], max_bytes);
}

bly_status bly_filter_clone(const bly_filter *f, const bly_allocator *a, bly_filter **out) {
    blyi_shape shape = blyi_filter_shape(f);
    *out = NULL;
    /* Lookups in a mapped file are safe for any body. But a clone can be changed, and for that its
     * body must be valid. */
    if (!f->body_allocation && f->ops->body_is_valid && !f->ops->body_is_valid(&shape, f->body))
        return BLY_ECORRUPT;
    bly_status status = blyi_filter_make(&shape, a, NULL, out);
    if (status)
        return status;
    if (!f->levels) {
        memcpy((*out)->body, f->body, (size_t)f->body_bytes);
        blyi_filter_trim(*out);
        return BLY_OK;
    }
    status = blyi_levels_copy(*out, f, 0);
    if (status) {
        bly_filter_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* A borrowed level keeps its own hasher: lookups in it pass hashes, not keys. */
void blyi_filter_set_hasher(bly_filter *f, const bly_hasher *hasher, bool keyless) {
    f->hasher = *hasher;
    f->keyless = keyless;
    select_paths(f);
    for (unsigned i = f->levels ? f->levels->borrowed : 0; f->levels && i < f->levels->n; i++)
        blyi_filter_set_hasher(f->levels->at[i], hasher, keyless);
}

bly_status bly_filter_set_hasher(bly_filter *f, const bly_hasher *hasher) {
    if (!f->keyless)
        return BLY_OK;
    bly_hasher own;
    if (blyi_hasher_is_empty(hasher) ||
        !blyi_hasher_match(hasher, f->hasher.id, f->hasher.seed, &own))
        return BLY_EKEY;
    blyi_filter_set_hasher(f, &own, false);
    return BLY_OK;
}

bly_status bly_filter_fold(const bly_filter *f, uint64_t divisor, const bly_allocator *a,
                           bly_filter **out) {
    blyi_shape shape = blyi_filter_shape(f);
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
    if (f->levels) {
        blyi_levels_truncate(f, 0);
        alloc.free(alloc.ctx, f->levels);
    }
    blyi_free_array(&alloc, f->body_allocation);
    blyi_free_array(&alloc, f->stripes_allocation);
    alloc.free(alloc.ctx, f);
}

/* ---- the count of keys ---------------------------------------------------------------------- */

uint64_t blyi_filter_items(const bly_filter *f) {
    if (f->ops->count_keys)
        return f->ops->count_keys(f);
    uint64_t total = f->items;
    for (unsigned i = 0; f->stripes && i < BLYI_STRIPES; i++)
        total = blyi_sum(total, __atomic_load_n(&f->stripes[i].fresh, __ATOMIC_RELAXED));
    return total;
}

void blyi_filter_set_items(bly_filter *f, uint64_t items) {
    if (f->stripes)
        memset(f->stripes, 0, BLYI_STRIPES * sizeof *f->stripes);
    f->items = items;
}

static size_t add_many_concurrent(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    size_t fresh = f->sharing == BLY_SHARED ? f->ops->add_many_shared(f, h, n, added)
                                            : blyi_add_with_key_locks(f, h, n, added);
    blyi_filter_count_new(f, fresh, n ? h[0].hi : 0);
    return fresh;
}

bly_status blyi_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bly_batch_result *sum) {
    if (f->ops->try_add_many)
        return f->ops->try_add_many(f, h, n, added, sum);
    if (!(f->ops->capabilities & BLY_CAN_ADD))
        return BLY_EUNSUPPORTED;
    size_t fresh = 0;
    if (f->sharing == BLY_EXCLUSIVE) {
        fresh = f->ops->add_many(f, h, n, added);
        f->items = blyi_sum(f->items, fresh);
    } else
        fresh = add_many_concurrent(f, h, n, added);
    sum->done += n;
    sum->changed += fresh;
    return BLY_OK;
}

/* ---- adds, lookups and removes -------------------------------------------------------------- */

static inline blyi_block_probe block_probe_in(const bly_filter *f, bly_hash h) {
    return blyi_block_probe_of(h, f->geometry.size, f->ops->block_shift);
}

static inline bool contains_one(const bly_filter *f, bly_hash h) {
    if (!f->ops->block_shift)
        return f->ops->contains_many(f, &h, 1, NULL) != 0;
    blyi_block_probe probe = block_probe_in(f, h);
    return f->contains_block(f->body + probe.at, probe.bits, f->geometry.hashes);
}

static inline bly_status add_one(bly_filter *f, bly_hash h, bool *added) {
    bool is_new;
    if (!f->add_block || f->sharing == BLY_SHARED_ONCE) {
        bly_batch_result sum = {0, 0};
        bly_status status = blyi_filter_add_hashes(f, &h, 1, NULL, &sum);
        if (status)
            return status;
        is_new = sum.changed != 0;
    } else {
        blyi_block_probe probe = block_probe_in(f, h);
        is_new = f->add_block(f->body + probe.at, probe.bits, f->geometry.hashes);
        blyi_filter_count_new(f, is_new, h.hi);
    }
    if (added)
        *added = is_new;
    return BLY_OK;
}

bly_status bly_filter_add_hash(bly_filter *f, bly_hash h, bool *added) {
    return add_one(f, h, added);
}

bool bly_filter_contains_hash(const bly_filter *f, bly_hash h) {
    return contains_one(f, h);
}

/* Not inlined: otherwise bly_filter_add would save registers that only this slower path needs. */
static __attribute__((noinline)) bly_status add_by_hash(bly_filter *f, const void *key, size_t len,
                                                        bool *added) {
    if (f->keyless)
        return BLY_EKEY;
    return add_one(f, f->hasher.one(&f->hasher, key, len), added);
}

bly_status bly_filter_add(bly_filter *f, const void *key, size_t len, bool *added) {
    if (!f->add_key)
        return add_by_hash(f, key, len, added);
    bool is_new = f->add_key(&f->kernel_view, key, len);
    f->items = blyi_sum(f->items, is_new);
    if (added)
        *added = is_new;
    return BLY_OK;
}

bly_status bly_filter_remove_hash(bly_filter *f, bly_hash h, bool *removed) {
    bool was_there = false;
    if (!f->ops->remove_one)
        return BLY_EUNSUPPORTED;
    bly_status status = f->ops->remove_one(f, h, &was_there);
    if (status == BLY_OK && removed)
        *removed = was_there;
    return status;
}

bly_status bly_filter_remove(bly_filter *f, const void *key, size_t len, bool *removed) {
    if (f->keyless)
        return BLY_EKEY;
    if (!f->ops->remove_one)
        return BLY_EUNSUPPORTED;
    return bly_filter_remove_hash(f, f->hasher.one(&f->hasher, key, len), removed);
}

/* Each remove depends on the earlier ones, so only hashing and prefetching are done for a group at
 * a time. */
static bly_status remove_many(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *removed,
                              bly_batch_result *sum) {
    bly_hash h[BLYI_BATCH_GROUP];
    bly_status status = BLY_OK;
    for (size_t done = 0; status == BLY_OK && done < n; done += BLYI_BATCH_GROUP) {
        size_t some = n - done < BLYI_BATCH_GROUP ? n - done : BLYI_BATCH_GROUP;
        blyi_batch_hash(f, keys + done, some, h);
        f->ops->prefetch(f, h, some);
        for (size_t i = 0; status == BLY_OK && i < some; i++) {
            bool was_there = false;
            status = f->ops->remove_one(f, h[i], &was_there);
            if (status)
                break;
            sum->done++;
            sum->changed += was_there;
            if (removed)
                removed[done + i] = was_there;
        }
    }
    return status;
}

bly_status bly_filter_remove_many(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *removed,
                                  bly_batch_result *result) {
    bly_batch_result sum = {0, 0};
    bly_status status = f->keyless ? BLY_EKEY : BLY_EUNSUPPORTED;
    if (!f->keyless && f->ops->remove_one)
        status = remove_many(f, keys, n, removed, &sum);
    if (result)
        *result = sum;
    return status;
}

uint64_t bly_filter_copies_hash(const bly_filter *f, bly_hash h) {
    return f->ops->count_copies ? f->ops->count_copies(f, h) : bly_filter_contains_hash(f, h);
}

uint64_t bly_filter_copies(const bly_filter *f, const void *key, size_t len) {
    if (f->keyless)
        return 1; /* "maybe a member", as in bly_filter_contains */
    return bly_filter_copies_hash(f, f->hasher.one(&f->hasher, key, len));
}

static bool contains_any(const blyi_kernel_view *view, const void *key, size_t len) {
    const bly_filter *f = (const void *)view; /* a filter begins with its view */
    return f->keyless || contains_one(f, f->hasher.one(&f->hasher, key, len));
}

bool bly_filter_contains(const bly_filter *f, const void *key, size_t len) {
    return f->contains_key(&f->kernel_view, key, len);
}

bly_status bly_filter_add_many(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                               bly_batch_result *result) {
    bly_batch_result sum = {0, 0};
    bly_status status = f->keyless ? BLY_EKEY : blyi_batch_keys(f, f, keys, n, added, &sum);
    if (result)
        *result = sum;
    return status;
}

size_t bly_filter_contains_many(const bly_filter *f, const bly_bytes *keys, size_t n,
                                uint8_t *found) {
    bly_batch_result sum = {0, 0};
    if (f->keyless) {
        if (found)
            memset(found, 1, n);
        return n;
    }
    (void)blyi_batch_keys(f, NULL, keys, n, found, &sum); /* only adds can fail */
    return sum.changed;
}

bly_status bly_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                 bly_batch_result *result) {
    bly_batch_result sum = {0, 0};
    bly_status status = blyi_batch_hashes(f, f, h, n, added, &sum);
    if (result)
        *result = sum;
    return status;
}

size_t bly_filter_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                  uint8_t *found) {
    bly_batch_result sum = {0, 0};
    (void)blyi_batch_hashes(f, NULL, h, n, found, &sum); /* only adds can fail */
    return sum.changed;
}

void bly_filter_clear(bly_filter *f) {
    if (f->ops->clear) {
        f->ops->clear(f);
        return;
    }
    memset(f->body, 0, (size_t)f->body_bytes);
    blyi_filter_set_items(f, 0);
    f->approximate = false;
}

/* ---- properties ------------------------------------------------------------------------------ */

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

uint64_t bly_filter_max_keys(const bly_filter *f) {
    const blyi_planner *p = blyi_planner_of(f->geometry.kind);
    unsigned doublings = p->doublings_left ? p->doublings_left(&f->geometry) : 0;
    uint64_t now = f->ops->capabilities & BLY_HAS_LEVELS ? UINT64_MAX : f->capacity;
    return now > UINT64_MAX >> doublings ? UINT64_MAX : now << doublings;
}

double bly_filter_fpr(const bly_filter *f) {
    return f->fpr;
}

uint64_t bly_filter_count(const bly_filter *f) {
    return blyi_filter_items(f);
}

/* ---- the key rule -------------------------------------------------------------------------- */

bool bly_key_rule_known(unsigned code) {
    switch ((bly_key_rule)code) {
    case BLY_KEYS_UNRECORDED:
    case BLY_KEYS_LINE:
    case BLY_KEYS_IP:
    case BLY_KEYS_DOMAIN:
    case BLY_KEYS_EMAIL:
    case BLY_KEYS_URL:
    case BLY_KEYS_PHONE:
    case BLY_KEYS_RECORD:
    case BLY_KEYS_RECORD_URL:
    case BLY_KEYS_RECORD_CRAWL:
    case BLY_KEYS_OTHER:
        return true;
    }
    return false;
}

bly_key_rule bly_filter_key_rule(const bly_filter *f) {
    return f->key_rule;
}

void blyi_filter_set_key_rule(bly_filter *f, bly_key_rule rule) {
    f->key_rule = rule;
    for (unsigned i = f->levels ? f->levels->borrowed : 0; f->levels && i < f->levels->n; i++)
        blyi_filter_set_key_rule(f->levels->at[i], rule);
}

bly_status bly_filter_set_key_rule(bly_filter *f, bly_key_rule rule) {
    if (!bly_key_rule_known((unsigned)rule))
        return BLY_EINVAL;
    blyi_filter_set_key_rule(f, rule);
    return BLY_OK;
}

/* ---- levels ---------------------------------------------------------------------------------- */

size_t bly_filter_level_count(const bly_filter *f) {
    return f->levels && f->ops->level_rules->levels_are_public ? f->levels->n : 1;
}

const bly_filter *bly_filter_level(const bly_filter *f, size_t i) {
    if (i >= bly_filter_level_count(f))
        return NULL;
    return f->levels && f->ops->level_rules->levels_are_public ? f->levels->at[i] : f;
}
