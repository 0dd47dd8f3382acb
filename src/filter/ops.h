/* ops.h - what a filter is made of, and what a kind must supply. Internal.
 *
 * A filter is a handle over one array, its body: little-endian words, 64-byte aligned, a multiple
 * of 64 bytes long, and at every moment byte for byte what a file holds. So saving copies nothing,
 * a mapped file is a filter as it lies, and a big-endian host swaps words as it touches them. Or it
 * is a handle over a list of such filters, its levels (levels.h), and has no body of its own.
 *
 * A kind is one row of functions over (geometry, body). It is given hashes, n at a time, or keys to
 * hash; the kinds with one spot per key have shorter ways besides. All functions here may assume a
 * geometry that passed bly_plan_check and a body of bly_plan_bytes bytes, and must be memory-safe
 * for any contents.
 */
#ifndef BLYI_FILTER_OPS_H
#define BLYI_FILTER_OPS_H

#include "simd/kernels.h"
#include <bloomery/filter.h>

/* Counts of new keys in a shared filter, spread over cache lines so that threads adding at once
 * do not fight for one. */
enum { BLYI_STRIPES = 16 };
typedef struct blyi_stripe {
    uint64_t fresh;
    uint8_t pad[56];
} blyi_stripe;

/* Adds keys to `writer`, or queries `f` when writer is NULL (else the two are the same filter).
 * Results and return value as blyi_ops.add_many and .contains. */
typedef size_t blyi_block_batch_fn(const bly_filter *f, bly_filter *writer, const bly_bytes *keys,
                                   size_t n, uint8_t *out);

typedef struct blyi_shape blyi_shape;

typedef struct blyi_ops {
    bly_kind kind;
    uint32_t capabilities; /* BLY_CAN_* */
    /* For the kinds all of whose work is one spot per key (sbbf, split512): the size of a block as
     * a power of two, else 0; and what chooses f->contains_block, put, probe and set, and, where
     * there are kernels for it, f->contains_key_xxh3, add_key_xxh3, contains_keys_xxh3 and
     * add_keys_xxh3. Batches of these kinds take a shorter way (stream.c). A kind that is so only
     * to queries leaves f->add_block and f->add_blocks NULL; its adds go through `put` below. */
    unsigned block_shift;
    void (*select_kernels)(bly_filter *f);
    /* Makes a filter of a kind that bly_plan cannot; else NULL. */
    bly_status (*create)(const bly_spec *spec, bly_filter **out);
    /* For a kind made of levels (levels.h), else NULL. The functions below that look at bodies are
     * then NULL, and `clear`, `stats`, `compatible`, `equal` and, where the kind can, `unite` not;
     * `any_size` is true. */
    const struct blyi_level_rules *level_rules;
    /* For such a kind, or NULL: the one level that a batch of n keys to add, or of any number to
     * query when n is 0, may be handed to as it is; NULL when others have a say, or when it has no
     * room for n keys more. */
    bly_filter *(*single_level)(const bly_filter *f, size_t n);
    /* Start the loads that add or contains of these hashes will need. */
    void (*prefetch)(const bly_filter *f, const bly_hash *h, size_t n);
    /* The same for contains alone, where that needs less; else NULL. */
    void (*prefetch_contains)(const bly_filter *f, const bly_hash *h, size_t n);
    /* The same for add_shared; NULL for a kind without. */
    void (*prefetch_add_shared)(const bly_filter *f, const bly_hash *h, size_t n);
    /* added[i] (when not NULL) = 1 if h[i] was new. Returns how many were. */
    size_t (*add_many)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);
    /* For a kind whose adds can fail, instead of the one above: blyi_filter_add_hashes. */
    bly_status (*try_add_many)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                               bly_tally *sum);
    /* The same, while other threads do so too. */
    size_t (*add_many_shared)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);
    /* found[i] (when not NULL) = 1 if h[i] may be present. Returns how many may. */
    size_t (*contains_many)(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);
    /* The same for a batch of keys, where a kind has a shorter way than prefetch and contains; else
     * NULL. */
    size_t (*contains_keys_pipelined)(const bly_filter *f, const bly_bytes *keys, size_t n,
                                      uint8_t *found);
    /* And for a batch of hashes. */
    size_t (*contains_hashes_pipelined)(const bly_filter *f, const bly_hash *h, size_t n,
                                        uint8_t *found);
    /* The rate of the bits as they stand, without the hash's floor. */
    double (*current_fpr)(const bly_filter *f);
    /* Fill `to`, empty and `divisor` times smaller, from `from`. */
    void (*fold)(const bly_filter *from, uint64_t divisor, bly_filter *to);
    /* The rest may be NULL, and then means what bits would do, or that the kind cannot.
     *
     * Takes one copy of a key out, and counts. *removed is set. */
    bly_status (*remove_one)(bly_filter *f, bly_hash h, bool *removed);
    /* Copies of a key. */
    uint64_t (*count_copies)(const bly_filter *f, bly_hash h);
    /* How many keys, of a kind whose body alone tells; NULL: f->items. */
    uint64_t (*count_keys)(const bly_filter *f);
    /* Back to an empty filter; NULL: all bytes 0, no items. */
    void (*clear)(bly_filter *f);
    /* Whether a body whose sum is right, and whose padding is 0, is one that a filter of that shape
     * can have. */
    bool (*body_is_valid)(const blyi_shape *shape, const uint8_t *body);
    /* Corrects what bly_filter_stats worked out as if every bit of the body were a Bloom filter's:
     * set_bits, fill, expected_fill, estimated_keys, predicted_fpr; current_fpr holds only the
     * hash's floor until then. Of a kind made of levels: fills all of it. */
    void (*fill_stats)(const bly_filter *f, bly_stats *out);
    /* dst := dst and src, both compatible, dst unchanged on failure. */
    bly_status (*union_with)(bly_filter *dst, const bly_filter *src);
    bly_status (*intersect_with)(bly_filter *dst, const bly_filter *src);
    bly_status (*subtract_from)(bly_filter *dst, const bly_filter *src);
    bly_status (*estimate_overlap)(const bly_filter *a, const bly_filter *b, bly_overlap *out);
    /* What two filters of equal kind, hash, seed, size, k, options and detail must have in common
     * besides. With `any_size`, size and k may differ, with `any_detail` the detail, and this says
     * whether they fit. */
    bool (*is_compatible)(const bly_filter *a, const bly_filter *b);
    bool any_size, any_detail;
    /* Whether two compatible filters hold the same, where that is not that all bytes are equal. */
    bool (*is_equal)(const bly_filter *a, const bly_filter *b);
    /* Why two filters of this kind cannot be combined in any way; NULL: in some they can. */
    const char *never_combined;
    /* How a kind that is built from all its keys is (built/solver.h). */
    const struct blyi_solver *solver;
} blyi_ops;

struct bly_filter {
    /* What kernels for xxh3 see of it, and the same by the names it has elsewhere. */
    union {
        blyi_kernel_view kernel_view;
        struct {
            uint8_t *body; /* never written through when borrowed: a mapped filter is const */
            uint64_t block_bytes;    /* of all blocks, for kinds with a block_shift */
            blyi_xxh3_secret secret; /* of a filter whose hasher is xxh3 */
        };
    };
    const blyi_ops *ops;
    const blyi_kernels *kernels;
    blyi_contains_key_fn *contains_key; /* bly_filter_contains */
    blyi_add_key_fn *add_key; /* bly_filter_add, but for counting; NULL: by the key's hash */
    /* The same where the hasher is xxh3, by kernels; or NULL. */
    blyi_contains_key_fn *contains_key_xxh3;
    blyi_add_key_fn *add_key_xxh3;
    /* For kinds with a block_shift: keys in batches, one spot, spots in batches. */
    blyi_block_batch_fn *batch_keys;
    blyi_contains_block_fn contains_block;
    blyi_add_block_fn add_block;
    blyi_contains_blocks_fn contains_blocks;
    blyi_add_blocks_fn add_blocks;
    blyi_hash_probe_fn contains_keys_xxh3, add_keys_xxh3; /* NULL: through `probe` and `set` */
    struct blyi_levels *levels;                           /* of a kind made of levels, else NULL */
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
    bly_key_rule key_rule; /* what its keys are made from, as far as it is recorded */
    bly_allocator alloc;
    uint64_t growth_limit; /* blyi_growth_limit; 0: none */
    void *body_allocation; /* what to free for the body; NULL when borrowed */
    void *stripes_allocation;
};

_Static_assert(offsetof(struct bly_filter, secret) == offsetof(blyi_kernel_view, secret) &&
                   offsetof(struct bly_filter, block_bytes) == offsetof(blyi_kernel_view, bytes),
               "a filter begins with its field");

/* What a filter is apart from its bits: the fields of a file's header. */
struct blyi_shape {
    bly_geometry geometry;
    bly_hasher hasher; /* id, bits and seed are set even when keyless */
    uint64_t capacity;
    uint64_t items;
    double fpr;
    bool approximate;
    bool keyless;
    bly_sharing sharing;
    uint64_t growth_limit; /* as a filter's */
    bly_key_rule key_rule;
};

/* A hasher that was never filled in, or that a filter opened without its key had. */
static inline bool blyi_hasher_is_empty(const bly_hasher *h) {
    return h->id != BLY_HASH_NONE && (!h->one || !h->many || h->bits == 0);
}

/* The row of a kind, or NULL. */
const blyi_ops *blyi_ops_of(bly_kind kind);

/* A filter of that shape over `borrowed` (64-byte aligned, bly_plan_bytes long, outliving the
 * filter), or, when that is NULL, over a zeroed body of its own. The geometry is checked first. A
 * kind made of levels gets an empty list of them, whatever its size, capacity and items say.
 * BLY_EKIND, BLY_EGEOMETRY, BLY_ETOOBIG, BLY_EUNSUPPORTED (sharing), BLY_ENOMEM. */
bly_status blyi_filter_make(const blyi_shape *shape, const bly_allocator *a,
                            const uint8_t *borrowed, bly_filter **out);

/* f, made with the row of a kind that has a block_shift, goes on by another row with the same: what
 * that row's `choose` does not set, f has no longer. */
void blyi_filter_switch_ops(bly_filter *f, const blyi_ops *ops);

/* f's body becomes that of geometry `g`, as blyi_alloc_array gave it with its block; the old one is
 * freed. */
void blyi_filter_replace_body(bly_filter *f, const bly_geometry *g, uint8_t *body, void *block);

/* Whether `f` may grow by an array of so many bytes: BLY_OK or BLY_EGROWTH. */
bly_status blyi_filter_may_grow(const bly_filter *f, uint64_t bytes);

/* Zeroes the bits past the last that is used: of a damaged map that was copied or united, say. */
void blyi_filter_trim(bly_filter *f);

/* Sets the rule of f and of its levels, but for those that are borrowed. */
void blyi_filter_set_key_rule(bly_filter *f, bly_key_rule rule);

/* What a filter is, its bits aside. */
blyi_shape blyi_filter_shape(const bly_filter *f);

/* Adds hashes in whatever mode the filter is shared, and counts. *sum grows by those dealt with
 * and those that were new, when it fails too. */
bly_status blyi_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bly_tally *sum);

/* Sums of keys stay at the largest number instead of starting again from zero: a file may say that
 * it holds any number of them. */
static inline uint64_t blyi_sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* So many copies less. A filter may have more of them than it counts: where cells are stuck, after
 * an intersection, or as the copy of a damaged map. */
static inline void blyi_filter_subtract_count(bly_filter *f, uint64_t copies) {
    f->items -= copies < f->items ? copies : f->items;
}

/* Counts n new keys; `any_hash` spreads threads over the stripes. */
static inline void blyi_filter_count_new(bly_filter *f, size_t n, uint64_t any_hash) {
    if (f->sharing == BLY_EXCLUSIVE)
        f->items = blyi_sum(f->items, n);
    else if (n)
        __atomic_fetch_add(&f->stripes[any_hash % BLYI_STRIPES].fresh, n, __ATOMIC_RELAXED);
}

/* blyi_ops.contains_many of every kind with a block_shift. */
size_t blyi_blocks_contain_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);

/* bly_filter_contains for any kind and hash. */
blyi_contains_key_fn blyi_filter_contains_key;

/* The count of new keys, stripes included; and the same set anew. */
uint64_t blyi_filter_items(const bly_filter *f);
void blyi_filter_set_items(bly_filter *f, uint64_t items);

/* The body as words, and their number, a multiple of 8. */
static inline uint64_t *blyi_words(const bly_filter *f) {
    return (uint64_t *)(void *)f->body;
}

static inline size_t blyi_word_count(const bly_filter *f) {
    return (size_t)(f->body_bytes / 8);
}

extern const blyi_ops blyi_classic_ops, blyi_partitioned_ops;
extern const blyi_ops blyi_sbbf_ops, blyi_split512_ops, blyi_bb2x512_ops;
extern const blyi_ops blyi_scalable_ops;
extern const blyi_ops blyi_window_ops;
extern const blyi_ops blyi_cuckoo_ops, blyi_growable_ops, blyi_scalable_cuckoo_ops;
extern const blyi_ops blyi_fuse_ops, blyi_ribbon_ops;
extern const blyi_ops blyi_counting_ops;
extern const blyi_ops blyi_multilayer_ops, blyi_layered_ops, blyi_hybrid_ops;
extern const blyi_ops blyi_overlay_ops;
extern const blyi_ops blyi_counts_ops, blyi_hll_ops;

#endif
