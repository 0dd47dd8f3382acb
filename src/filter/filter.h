/* filter.h - the filter object, and functions that every kind shares. Internal.
 *
 * Most filters are a handle and one array, the body: little-endian words, aligned to 64 bytes, a
 * multiple of 64 bytes long, and at every moment the same bytes as in a file. So saving converts
 * nothing, a mapped file can be used as it is, and a big-endian host swaps the bytes of words when
 * it uses them. Other filters have no body, but a list of such filters, their levels (levels.h).
 *
 * Function pointers of a filter. If one is NULL, its caller uses a more general path.
 *
 *   pointer              set by                         called by
 *   ops                  blyi_filter_make: of its kind  everything in src/filter and src/file
 *   contains_block(s),   ops->select_kernels, for the   blyi_blocks_contain_many, block_batch.c,
 *   add_block(s)         kinds with a block_shift       add_hash and contains_hash in filter.c
 *   contains_key_xxh3,   ops->select_kernels, where a   contains_key and add_key, if the hasher
 *   add_key_xxh3         kernel hashes and probes       is xxh3
 *   contains_keys_xxh3,  ops->select_kernels            block_batch.c, if the hasher is xxh3
 *   add_keys_xxh3
 *   contains_key         select_paths in filter.c       bly_filter_contains
 *   add_key              select_paths in filter.c       bly_filter_add (NULL: by the key's hash)
 *   batch_keys           select_paths in filter.c       batch.c, for the kinds with a block_shift
 *
 * ops->select_kernels and select_paths run when a filter is made. select_paths runs again when the
 * filter gets its hasher (bly_filter_set_hasher), and both run again when its ops table changes
 * (blyi_filter_switch_ops).
 */
#ifndef BLYI_FILTER_FILTER_H
#define BLYI_FILTER_FILTER_H

#include "filter/kind.h"
#include "simd/kernels.h"

/* Counts of new keys in a shared filter. They are spread over several cache lines, so that threads
 * that add at the same time seldom write to the same one. */
enum { BLYI_STRIPES = 16 };
typedef struct blyi_stripe {
    uint64_t fresh;
    uint8_t pad[56];
} blyi_stripe;

/* Adds keys to `writer`, or looks them up in `f` if writer is NULL. If writer is not NULL, it is
 * the same filter as f. `out` and the return value are as in blyi_ops.add_many and
 * .contains_many. */
typedef size_t blyi_block_batch_fn(const bly_filter *f, bly_filter *writer, const bly_bytes *keys,
                                   size_t n, uint8_t *out);

struct bly_filter {
    /* The members that the kernels which hash by xxh3 read, and below the same members under the
     * names that are used elsewhere. */
    union {
        blyi_kernel_view kernel_view;
        struct {
            uint8_t *body;           /* not written to if borrowed: a mapped filter is const */
            uint64_t block_bytes;    /* of all blocks, for kinds with a block_shift */
            blyi_xxh3_secret secret; /* of a filter whose hasher is xxh3 */
        };
    };
    const blyi_ops *ops;
    const blyi_kernels *kernels;
    blyi_contains_key_fn *contains_key;
    blyi_add_key_fn *add_key; /* does not update `items` */
    blyi_contains_key_fn *contains_key_xxh3;
    blyi_add_key_fn *add_key_xxh3;
    blyi_block_batch_fn *batch_keys;
    blyi_contains_block_fn contains_block;
    blyi_add_block_fn add_block;
    blyi_contains_blocks_fn contains_blocks;
    blyi_add_blocks_fn add_blocks;
    blyi_hash_probe_fn contains_keys_xxh3, add_keys_xxh3;
    struct blyi_levels *levels; /* of a kind made of levels, else NULL */
    uint64_t body_bytes;
    bly_geometry geometry;
    bly_hasher hasher;
    uint64_t capacity;
    double fpr;
    uint64_t items;       /* see blyi_filter_items */
    blyi_stripe *stripes; /* of a shared filter, else NULL */
    bly_sharing sharing;
    bool approximate;
    bool keyless;          /* opened without its hasher */
    bly_key_rule key_rule; /* what its keys are made from, if recorded */
    bly_allocator alloc;
    uint64_t growth_limit; /* from blyi_growth_limit; 0: no limit */
    void *body_allocation; /* the allocation that contains the body; NULL if borrowed */
    void *stripes_allocation;
};

_Static_assert(offsetof(struct bly_filter, secret) == offsetof(blyi_kernel_view, secret) &&
                   offsetof(struct bly_filter, block_bytes) == offsetof(blyi_kernel_view, bytes),
               "a filter begins with its kernel view");

/* Everything that defines a filter except its bits: the fields of a file's header. */
struct blyi_shape {
    bly_geometry geometry;
    bly_hasher hasher; /* `id`, `bits` and `seed` are set even if keyless */
    uint64_t capacity;
    uint64_t items;
    double fpr;
    bool approximate;
    bool keyless;
    bly_sharing sharing;
    uint64_t growth_limit; /* as in bly_filter */
    bly_key_rule key_rule;
};

/* Whether a hasher was never filled in, or comes from a filter that was opened without its key. */
static inline bool blyi_hasher_is_empty(const bly_hasher *h) {
    return h->id != BLY_HASH_NONE && (!h->one || !h->many || h->bits == 0);
}

/* Creates a filter of that shape. Its body is `borrowed`, which must be aligned to 64 bytes, be
 * bly_plan_bytes long and outlive the filter; if `borrowed` is NULL, the body is allocated and
 * zeroed. Checks the geometry first. A kind made of levels gets an empty list of levels, whatever
 * its size, capacity and items say. Returns BLY_OK, BLY_EKIND, BLY_EGEOMETRY, BLY_ETOOBIG or
 * BLY_ENOMEM; BLY_EINVAL for an unknown sharing mode; BLY_EUNSUPPORTED for one that the kind does
 * not support. */
bly_status blyi_filter_make(const blyi_shape *shape, const bly_allocator *a,
                            const uint8_t *borrowed, bly_filter **out);

/* Switches f to another ops table with the same block_shift. Kernel pointers that the new table
 * does not set become NULL. */
void blyi_filter_switch_ops(bly_filter *f, const blyi_ops *ops);

/* Replaces f's body by `body`, which has geometry `g`, and frees the old body. blyi_alloc_array
 * must have returned `body` and set `allocation`. */
void blyi_filter_replace_body(bly_filter *f, const bly_geometry *g, uint8_t *body,
                              void *allocation);

/* Whether `f` may grow by an array of `bytes` bytes: BLY_OK or BLY_EGROWTH. */
bly_status blyi_filter_may_grow(const bly_filter *f, uint64_t bytes);

/* Clears the bits after the last one in use. Some of them may be set in a copy of a damaged mapped
 * file, or in a union with one. */
void blyi_filter_trim(bly_filter *f);

/* Sets the key rule of f and of its levels, except borrowed ones. */
void blyi_filter_set_key_rule(bly_filter *f, bly_key_rule rule);

/* Gives f and its levels, except borrowed ones, a hasher that computes the same hashes. */
void blyi_filter_set_hasher(bly_filter *f, const bly_hasher *hasher, bool keyless);

/* Returns the shape of a filter. */
blyi_shape blyi_filter_shape(const bly_filter *f);

/* Adds hashes in the filter's sharing mode, and updates the count. sum->done grows by the number of
 * keys processed, sum->changed by the number of new ones, also on failure. */
bly_status blyi_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bly_batch_result *sum);

/* Saturating sum of key counts: a file may claim to hold any number of keys. */
static inline uint64_t blyi_sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Subtracts from the count, but not below 0. More copies may be removed than were counted: if
 * counters are saturated, after an intersection, or in a copy of a damaged mapped file. */
static inline void blyi_filter_subtract_count(bly_filter *f, uint64_t copies) {
    f->items -= copies < f->items ? copies : f->items;
}

/* Counts n new keys. `any_hash` selects the stripe, so that threads use different ones. */
static inline void blyi_filter_count_new(bly_filter *f, size_t n, uint64_t any_hash) {
    if (f->sharing == BLY_EXCLUSIVE)
        f->items = blyi_sum(f->items, n);
    else if (n)
        __atomic_fetch_add(&f->stripes[any_hash % BLYI_STRIPES].fresh, n, __ATOMIC_RELAXED);
}

/* blyi_ops.contains_many of every kind with a block_shift. */
size_t blyi_blocks_contain_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);

/* Get and set the number of keys, including those that the stripes count. */
uint64_t blyi_filter_items(const bly_filter *f);
void blyi_filter_set_items(bly_filter *f, uint64_t items);

/* As bly_filter_get_info, but *out has the size of this version's struct. */
void blyi_filter_info(const bly_filter *f, bly_filter_info *out);

/* The body as words, and their number, a multiple of 8. */
static inline uint64_t *blyi_words(const bly_filter *f) {
    return (uint64_t *)(void *)f->body;
}

static inline size_t blyi_word_count(const bly_filter *f) {
    return (size_t)(f->body_bytes / 8);
}

#endif
