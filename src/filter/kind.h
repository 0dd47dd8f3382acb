/* kind.h - what a kind of filter must supply: its descriptor. Internal.
 *
 * A kind lives in a folder of src/kinds/ and reaches the rest of the library through one blyi_kind:
 * its description, how it is sized (blyi_planner), what a lookup costs, and its operations
 * (blyi_ops). The table of kinds (kind_table.c) names the descriptors. Everything else asks them:
 * planning, advice, cost, files, statistics and, through public functions, the command line.
 *
 * Operations work on (geometry, body). They are given hashes, n at a time, or keys to hash. Kinds
 * whose keys have one block each have faster paths besides (block_batch.c). All functions may
 * assume a geometry that passed bly_plan_check and a body of bly_plan_bytes bytes, and must be
 * memory-safe for any contents of the body.
 */
#ifndef BLYI_FILTER_KIND_H
#define BLYI_FILTER_KIND_H

#include <bloomery/filter.h>

typedef struct blyi_shape blyi_shape; /* filter.h */

/* ---- sizing ---------------------------------------------------------------------------------- */

/* A rate may be exceeded by this share of it. Otherwise a kind whose rates are powers of two would
 * need 9 bits for 1/256, because of the hash's own collisions. */
#define BLYI_RATE_TOLERANCE 0x1p-20

/* More keys than any filter is made for. */
#define BLYI_UNLIMITED_KEYS ((uint64_t)1 << 56)

/* Checks a request for a plan of any kind: BLY_OK, BLY_EINVAL (hash_bits), BLY_ERATE, BLY_ECOUNT or
 * BLY_EWEAKHASH. In plan.c. */
bly_status blyi_check_request(uint64_t keys, double fpr, unsigned hash_bits);

/* How a kind of plain bits is sized: plan.c does it for all of them from these numbers. */
typedef struct blyi_bit_layout {
    uint32_t unit_bits; /* bits that one more step of `size` adds; 0: one for each hash */
    uint32_t step;      /* sizes are multiples of this */
    uint32_t min_size;  /* the smallest size that a plan proposes: a cache line */
    uint32_t min_valid; /* the smallest size that a geometry may have */
    uint32_t size_unit; /* the size of a valid geometry is a multiple of this */
    uint32_t min_k, max_k, k_step;
    uint32_t options;      /* permitted ones: BLY_FOLDABLE, BLY_TEXTBOOK */
    bool best_k_is_simple; /* the best k is near log2(1/p), so that others need not be tried */
    /* ln(1 - q), where q is the probability that one key sets one given bit: (1 - q)^n of the bits
     * are expected to be clear after n keys. */
    double (*log_miss)(const bly_geometry *g);
} blyi_bit_layout;

/* All functions are pure. Except for `check` and `plan` they may assume a geometry that passed
 * `check`. A kind of plain bits gives `layout` and `rate` alone. */
typedef struct blyi_planner {
    const blyi_bit_layout *layout;
    /* BLY_OK, BLY_EGEOMETRY or BLY_ETOOBIG. Must keep `bits` (and every product in it) below
     * BLYI_MAX_BITS without overflow, for hostile numbers too. `detail` is below 65536; options are
     * 0. */
    bly_status (*check)(const bly_geometry *g);
    /* Bits of the body that are used. */
    uint64_t (*bits)(const bly_geometry *g);
    /* Bits per cell, which the file's header stores in a byte. */
    unsigned (*width)(const bly_geometry *g);
    /* The smallest geometry for `keys` (at least 1) at `fpr` (2^-40 .. 1), from which the hash's
     * own collisions have been subtracted. Returns BLY_OK, BLY_ETOOBIG, or BLY_ERATE if the kind
     * cannot reach so low a rate. NULL for a kind whose size cannot be planned, because it follows
     * from the keys that are added. */
    bly_status (*plan)(uint64_t keys, double fpr, bly_geometry *out);
    /* bly_plan_counting, for a kind with a choice of counter widths; else NULL. */
    bly_status (*plan_counters)(uint64_t keys, double fpr, uint32_t counter_bits,
                                unsigned hash_bits, bly_geometry *out);
    /* The expected FPR after n > 0 keys; and the largest number of keys that fit at any rate.
     * BLYI_UNLIMITED_KEYS means that any number fits. */
    double (*rate)(const bly_geometry *g, double n);
    uint64_t (*max_keys)(const bly_geometry *g);
    /* The share of the cells in use after n keys. */
    double (*fill)(const bly_geometry *g, double n);
    /* For a kind that doubles when it is full, else NULL: how often a filter of geometry g can
     * still double; how many keys it must be able to grow to, for needs whose defaults are filled
     * in; and its geometry when it has grown to `keys`. */
    unsigned (*doublings_left)(const bly_geometry *g);
    uint64_t (*horizon)(const bly_needs *needs);
    bly_status (*plan_grown)(const bly_needs *needs, uint64_t keys, bly_geometry *out);
    /* Cache lines that a lookup of a member reads: a number; or, where that is 0, a function; or,
     * where that is NULL, one line for each hash. */
    unsigned lookup_lines;
    unsigned (*count_lookup_lines)(const bly_geometry *g);
    /* The number of counters that keys share; NULL if the kind has no such counters. */
    uint64_t (*counters)(const bly_geometry *g);
} blyi_planner;

/* ---- operations ------------------------------------------------------------------------------ */

typedef struct blyi_ops {
    /* BLY_CAN_* and the other flags of filter.h. They belong to the operations: a read-only view of
     * a filter's memory has an ops table of its own, with fewer of them. */
    uint32_t capabilities;
    /* For kinds whose operations touch one block per key (such as sbbf and split512): log2 of the
     * size of a block, else 0; and the function that sets the filter's kernel pointers (filter.h).
     * Batches of these kinds take a faster path (block_batch.c). A kind for which this is true only
     * of lookups leaves f->add_block and f->add_blocks NULL; its adds go through `try_add_many`. */
    unsigned block_shift;
    void (*select_kernels)(bly_filter *f);
    /* Creates a filter of a kind that bly_plan cannot size; else NULL. */
    bly_status (*create)(const bly_spec *spec, bly_filter **out);
    /* For a kind made of levels (levels.h), else NULL. The functions below that read bodies are
     * then NULL, and `clear`, `fill_stats`, `is_compatible`, `is_equal` and, where the kind can,
     * `union_with` are not; `any_size` is true. */
    const struct blyi_level_rules *level_rules;
    /* For a kind made of levels; may be NULL. Returns the one level that can process a whole batch:
     * n keys to add or, if n is 0, any number to look up. Returns NULL if other levels matter, or
     * if that level has no room for n more keys. */
    bly_filter *(*single_level)(const bly_filter *f, size_t n);
    /* Prefetches the lines that adding or looking up these hashes will touch. */
    void (*prefetch)(const bly_filter *f, const bly_hash *h, size_t n);
    /* The same for lookups alone, where they need less; else NULL. */
    void (*prefetch_contains)(const bly_filter *f, const bly_hash *h, size_t n);
    /* The same for add_many_shared; NULL for a kind without it. */
    void (*prefetch_add_shared)(const bly_filter *f, const bly_hash *h, size_t n);
    /* added[i] (when not NULL) = 1 if h[i] was new. Returns how many were. */
    size_t (*add_many)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);
    /* For a kind whose adds can fail, instead of the one above: as blyi_filter_add_hashes. */
    bly_status (*try_add_many)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                               bly_batch_result *sum);
    /* As add_many, while other threads may add at the same time. */
    size_t (*add_many_shared)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);
    /* found[i] (when not NULL) = 1 if h[i] may be present. Returns how many may. */
    size_t (*contains_many)(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);
    /* The same for a whole batch of keys or of hashes, where a kind has a prefetch pipeline of its
     * own that is faster than prefetch and contains_many; else NULL. */
    size_t (*contains_keys_pipelined)(const bly_filter *f, const bly_bytes *keys, size_t n,
                                      uint8_t *found);
    size_t (*contains_hashes_pipelined)(const bly_filter *f, const bly_hash *h, size_t n,
                                        uint8_t *found);
    /* The FPR that follows from the bits as they are, without the hash's collisions. */
    double (*current_fpr)(const bly_filter *f);
    /* Fills `to`, which is empty and `divisor` times smaller, from `from`. */
    void (*fold)(const bly_filter *from, uint64_t divisor, bly_filter *to);
    /* All functions below may be NULL. Then the operation is the one for plain bits, or the kind
     * does not have it.
     *
     * Removes one copy of a key, updates the count, and sets *removed. */
    bly_status (*remove_one)(bly_filter *f, bly_hash h, bool *removed);
    /* How many copies of a key there are. */
    uint64_t (*count_copies)(const bly_filter *f, bly_hash h);
    /* The number of keys, for a kind that reads it from its body; NULL: f->items. */
    uint64_t (*count_keys)(const bly_filter *f);
    /* Empties the filter; NULL: all bytes become 0, and items too. */
    void (*clear)(bly_filter *f);
    /* Whether a filter of that shape can have this body, whose checksum is right and whose padding
     * is 0. */
    bool (*body_is_valid)(const blyi_shape *shape, const uint8_t *body);
    /* Corrects what bly_filter_get_info computed as if every bit of the body were a Bloom filter's:
     * set_bits, fill, expected_fill, estimated_keys, expected_fpr. On entry current_fpr holds only
     * the share of the hash's collisions. For a kind made of levels: fills in all members. */
    void (*fill_stats)(const bly_filter *f, bly_filter_info *out);
    /* dst becomes the result, for compatible filters. On failure dst is unchanged. */
    bly_status (*union_with)(bly_filter *dst, const bly_filter *src);
    bly_status (*intersect_with)(bly_filter *dst, const bly_filter *src);
    bly_status (*subtract_from)(bly_filter *dst, const bly_filter *src);
    bly_status (*estimate_overlap)(const bly_filter *a, const bly_filter *b, bly_overlap *out);
    /* Whether two filters of equal kind, hash, seed, size, k, options and detail are compatible. If
     * `any_size` is true, size and k may differ, and if `any_detail` is true, the detail; then this
     * function decides. */
    bool (*is_compatible)(const bly_filter *a, const bly_filter *b);
    bool any_size, any_detail;
    /* Whether two compatible filters have the same contents; NULL: when all bytes are equal. */
    bool (*is_equal)(const bly_filter *a, const bly_filter *b);
    /* How a filter is built from all its keys (kinds/builder/builder.h); NULL for kinds to which
     * keys are added. */
    const struct blyi_solver *solver;
    /* `prefetch` reads ops, geometry and the address of the body alone, and no byte of the body. So
     * it can run for a filter that another thread may be using (prefetch_hints.c). */
    bool prefetch_reads_no_body;
} blyi_ops;

/* ---- the descriptor -------------------------------------------------------------------------- */

/* The members of bly_spec that are options of single kinds. */
enum {
    BLYI_SPEC_LEVELS = 1u << 0,   /* scalable */
    BLYI_SPEC_HORIZON = 1u << 1,  /* cuckoo */
    BLYI_SPEC_WINDOW = 1u << 2,   /* window */
    BLYI_SPEC_COUNTERS = 1u << 3, /* counting */
    BLYI_SPEC_OVERLAY = 1u << 4,  /* overlay */
};

enum { BLYI_OPERATIONS = BLY_OP_OVERLAP + 1 };

typedef struct blyi_kind {
    bly_kind code;       /* in files: never reused */
    const char *name;    /* as --kind and BLY.RESERVE spell it */
    const char *article; /* article of its name; NULL: "a" */
    const char *meaning; /* one line without a full stop: how it works */
    const char *reason;  /* what it is good for: bly_advice.reason */
    /* What bly_filter_info_format and the command line call the geometry's `hashes`, and the unit
     * that `size` counts. NULL: "k" and "bits per key", "block". */
    const char *hashes_name, *size_unit;
    /* Write the size of a geometry, given with its digits grouped, or what follows the size in a
     * description, beginning with its own separator. NULL: "4,096 blocks", ", 8 bits per key". */
    void (*describe_size)(const bly_geometry *g, const char *grouped, char *out, size_t room);
    void (*describe_rest)(const bly_geometry *g, char *out, size_t room);
    /* BLY_NEED_* that it meets in addition to those that follow from its capabilities, and those
     * without which it is not advised, because it is for nothing else; why it is never advised, or
     * NULL. */
    uint32_t meets, requires;
    const char *never_advised;
    uint32_t spec_fields;  /* BLYI_SPEC_* */
    bool may_miss_members; /* removed keys are recorded as fingerprints, which may hide members */
    /* Why it lacks an operation, indexed by bly_operation. NULL where the reason follows from its
     * capabilities (set_operations.c). */
    const char *refusals[BLYI_OPERATIONS];
    const blyi_planner *planner;
    const blyi_ops *ops;
} blyi_kind;

/* The descriptor of a kind; NULL for a code that no kind of this version has. */
const blyi_kind *blyi_kind_of(bly_kind kind);

/* The BLYI_SPEC_* of the members of a spec that differ from their default. In create.c. */
uint32_t blyi_spec_fields(const bly_spec *spec);

/* The operations of a kind; NULL for an unknown code. */
static inline const blyi_ops *blyi_ops_of(bly_kind kind) {
    const blyi_kind *k = blyi_kind_of(kind);
    return k ? k->ops : NULL;
}

/* The planner of a kind. For an unknown code it is one that accepts no geometry, so that public
 * functions are memory-safe for any code. */
const blyi_planner *blyi_planner_of(bly_kind kind);

/* blyi_kind.describe_rest of several kinds. The first writes nothing, the second the number of
 * counters in a block and per key. */
void blyi_describe_nothing(const bly_geometry *g, char *out, size_t room);
void blyi_describe_counters(const bly_geometry *g, char *out, size_t room);

/* Whether filters of this kind are plain bits, set and tested by their keys. */
static inline bool blyi_kind_is_bits(bly_kind kind) {
    return blyi_planner_of(kind)->layout != NULL;
}

#endif
