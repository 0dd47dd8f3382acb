/* kind.h - what a kind of filter must supply: its descriptor. Internal.
 *
 * A kind lives in a folder of src/kinds/ and reaches the rest of the library through one blyi_kind:
 * its description, how it is sized (blyi_planner), what a lookup costs, and its operations
 * (blyi_ops). The table of kinds (kind_table.c) names the descriptors. All other code uses the
 * descriptors: planning, advice, cost, files, statistics and, through public functions, the command
 * line.
 *
 * Operations work on (geometry, body). They get n hashes at a time, or keys that they hash. Kinds
 * whose keys have one block each also have faster paths (block_batch.c). All functions may assume a
 * geometry that passed bly_plan_check and a body of bly_plan_bytes bytes, and must be memory-safe
 * for any contents of the body.
 */
#ifndef BLYI_FILTER_KIND_H
#define BLYI_FILTER_KIND_H

#include <bloomery/filter.h>

typedef struct blyi_shape blyi_shape; /* filter.h */

/* ---- sizing ---------------------------------------------------------------------------------- */

/* A requested rate may be exceeded by this share of it. Otherwise a kind whose rates are powers of
 * two would need 9 bits for 1/256 instead of 8, because the hash's own collisions add to the
 * rate. */
#define BLYI_RATE_TOLERANCE 0x1p-20

/* More keys than any filter is made for. */
#define BLYI_UNLIMITED_KEYS ((uint64_t)1 << 56)

/* Checks a request for a plan of any kind. Returns BLY_OK, BLY_EINVAL (hash_bits is not in 32 to
 * 128), BLY_ERATE, BLY_ECOUNT or BLY_EWEAKHASH. In plan.c. */
bly_status blyi_check_request(uint64_t keys, double fpr, unsigned hash_bits);

/* How a kind of plain bits is sized. plan.c sizes all these kinds from the following numbers. */
typedef struct blyi_bit_layout {
    uint32_t unit_bits; /* bits that each unit of `size` adds; 0: one for each hash */
    uint32_t step;      /* a plan proposes only multiples of this size */
    uint32_t min_size;  /* the smallest size that a plan proposes: a cache line */
    uint32_t min_valid; /* the smallest size that a geometry may have */
    uint32_t size_unit; /* the size of a valid geometry is a multiple of this */
    uint32_t min_k, max_k, k_step;
    uint32_t options;      /* those permitted, of BLY_FOLDABLE and BLY_TEXTBOOK */
    bool best_k_is_simple; /* the best k is near log2(1/p), so no other need be tried */
    /* ln(1 - q), where q is the probability that one key sets one given bit: after n keys, the
     * share (1 - q)^n of the bits is expected to be clear. */
    double (*log_miss)(const bly_geometry *g);
} blyi_bit_layout;

/* All functions are pure. Except for `check` and `plan` they may assume a geometry that passed
 * `check`. A kind of plain bits sets only `layout`, `rate` and, if it is not one line for each
 * hash, `lookup_lines`. */
typedef struct blyi_planner {
    const blyi_bit_layout *layout;
    /* Returns BLY_OK, BLY_EGEOMETRY or BLY_ETOOBIG. Must accept only geometries for which `bits`,
     * and every product in it, is at most BLYI_MAX_BITS. Must not overflow, whatever numbers an
     * attacker chooses. `detail` is below 65536; options are 0. */
    bly_status (*check)(const bly_geometry *g);
    /* Returns the number of bits of the body that are used. */
    uint64_t (*bits)(const bly_geometry *g);
    /* Returns the number of bits per cell, which the file's header stores in a byte. */
    unsigned (*width)(const bly_geometry *g);
    /* Finds the smallest geometry for `keys` (at least 1) at `fpr` (2^-40 .. 1). The rate of the
     * hash's own collisions has been subtracted from `fpr`. Returns BLY_OK, BLY_ETOOBIG, or
     * BLY_ERATE if the kind cannot reach so low a rate. `plan` is NULL for a kind whose size cannot
     * be planned, because the size follows from the keys that are added. */
    bly_status (*plan)(uint64_t keys, double fpr, bly_geometry *out);
    /* Implements bly_plan_counting for a kind with a choice of counter widths; else NULL. */
    bly_status (*plan_counters)(uint64_t keys, double fpr, uint32_t counter_bits,
                                unsigned hash_bits, bly_geometry *out);
    /* Returns the expected FPR after n > 0 keys. */
    double (*rate)(const bly_geometry *g, double n);
    /* Returns the largest number of keys that fit at any rate, or BLYI_UNLIMITED_KEYS if any number
     * fits. */
    uint64_t (*max_keys)(const bly_geometry *g);
    /* Returns the share of the cells in use after n keys. */
    double (*fill)(const bly_geometry *g, double n);
    /* The next three are for a kind that doubles when it is full, else NULL.
     * Returns how often a filter of geometry g can still double. */
    unsigned (*doublings_left)(const bly_geometry *g);
    /* Returns the number of keys to which a filter must be able to grow, for needs whose defaults
     * are filled in. */
    uint64_t (*horizon)(const bly_needs *needs);
    /* Computes the geometry of a filter that has grown to `keys`. */
    bly_status (*plan_grown)(const bly_needs *needs, uint64_t keys, bly_geometry *out);
    /* The number of cache lines that a lookup of a member reads. If `lookup_lines` is 0, the
     * function below returns it; if that is NULL, it is one line for each hash. */
    unsigned lookup_lines;
    unsigned (*count_lookup_lines)(const bly_geometry *g);
    /* Returns the number of counters that keys share. NULL if the kind has no such counters. */
    uint64_t (*counters)(const bly_geometry *g);
} blyi_planner;

/* ---- operations ------------------------------------------------------------------------------ */

typedef struct blyi_ops {
    /* BLY_CAN_* and the other flags of filter.h. They belong to the operations, because a read-only
     * view of a filter's memory has another ops table, with fewer of these flags. */
    uint32_t capabilities;
    /* For kinds whose operations touch one block per key (such as sbbf and split512): log2 of the
     * size of a block in bytes; else 0. Batches of these kinds take a faster path (block_batch.c).
     * If only the lookups of a kind touch one block, the kind leaves f->add_block and f->add_blocks
     * NULL, and its adds go through `try_add_many`. */
    unsigned block_shift;
    /* Sets the filter's kernel pointers (filter.h). For kinds with a block_shift. */
    void (*select_kernels)(bly_filter *f);
    /* Creates a filter of a kind that bly_plan cannot size; else NULL. */
    bly_status (*create)(const bly_spec *spec, bly_filter **out);
    /* For a kind made of levels (levels.h), else NULL. Such a kind leaves the functions below that
     * read bodies NULL. It supplies `clear`, `fill_stats`, `is_compatible`, `is_equal` and, if it
     * supports unions, `union_with`; and it sets `any_size`. */
    const struct blyi_level_rules *level_rules;
    /* For a kind made of levels; may be NULL. Returns the one level that can process a whole batch:
     * n keys to add or, if n is 0, any number to look up. Returns NULL if other levels matter, or
     * if that level has no room for n more keys. */
    bly_filter *(*single_level)(const bly_filter *f, size_t n);
    /* Prefetches the lines that adding or looking up these hashes will touch. */
    void (*prefetch)(const bly_filter *f, const bly_hash *h, size_t n);
    /* Prefetches the lines that lookups of these hashes touch, if these are fewer; else NULL. */
    void (*prefetch_contains)(const bly_filter *f, const bly_hash *h, size_t n);
    /* Prefetches the lines that add_many_shared touches. NULL for a kind without
     * add_many_shared. */
    void (*prefetch_add_shared)(const bly_filter *f, const bly_hash *h, size_t n);
    /* Adds n hashes. If `added` is not NULL, added[i] becomes 1 if h[i] was new, else 0. Returns
     * the number of new ones. */
    size_t (*add_many)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);
    /* Used instead of add_many by a kind whose adds can fail. As blyi_filter_add_hashes. */
    bly_status (*try_add_many)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                               bly_batch_result *sum);
    /* As add_many, but other threads may add at the same time. */
    size_t (*add_many_shared)(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);
    /* Looks up n hashes. If `found` is not NULL, found[i] becomes 1 if h[i] may be a member, else
     * 0. Returns the number of possible members. */
    size_t (*contains_many)(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);
    /* As contains_many, for a whole batch of keys, or of hashes. For a kind with a special prefetch
     * pipeline that is faster than calls of prefetch and contains_many; else NULL. */
    size_t (*contains_keys_pipelined)(const bly_filter *f, const bly_bytes *keys, size_t n,
                                      uint8_t *found);
    size_t (*contains_hashes_pipelined)(const bly_filter *f, const bly_hash *h, size_t n,
                                        uint8_t *found);
    /* Returns the FPR that follows from the bits as they are, without the hash's collisions. */
    double (*current_fpr)(const bly_filter *f);
    /* Fills `to`, which is empty and `divisor` times smaller, from `from`. */
    void (*fold)(const bly_filter *from, uint64_t divisor, bly_filter *to);
    /* All functions below may be NULL. Then the operation is done as for plain bits, or the kind
     * does not support it. */
    /* Removes one copy of a key, updates the count, and sets *removed. */
    bly_status (*remove_one)(bly_filter *f, bly_hash h, bool *removed);
    /* Returns how many copies of a key there are. */
    uint64_t (*count_copies)(const bly_filter *f, bly_hash h);
    /* Returns the number of keys, for a kind that reads it from its body. NULL: it is f->items. */
    uint64_t (*count_keys)(const bly_filter *f);
    /* Empties the filter. NULL: all bytes of the body and `items` become 0. */
    void (*clear)(bly_filter *f);
    /* Whether a filter of that shape can have this body. The checksum is right and the padding is
     * 0. */
    bool (*body_is_valid)(const blyi_shape *shape, const uint8_t *body);
    /* Corrects the members that bly_filter_get_info computed as if the body were the bits of a
     * Bloom filter: set_bits, fill, expected_fill, estimated_keys, expected_fpr. On entry
     * current_fpr holds only the share of the hash's collisions. For a kind made of levels: fills
     * in all members. */
    void (*fill_stats)(const bly_filter *f, bly_filter_info *out);
    /* The union, intersection or difference of two compatible filters. dst becomes the result; on
     * failure it is unchanged. */
    bly_status (*union_with)(bly_filter *dst, const bly_filter *src);
    bly_status (*intersect_with)(bly_filter *dst, const bly_filter *src);
    bly_status (*subtract_from)(bly_filter *dst, const bly_filter *src);
    /* Estimates the overlap of two compatible filters. */
    bly_status (*estimate_overlap)(const bly_filter *a, const bly_filter *b, bly_overlap *out);
    /* Whether two filters of equal kind, hash, seed, size, k, options and detail are compatible. If
     * `any_size` is true, it is also called for filters of different size and k; if `any_detail` is
     * true, also for different details. */
    bool (*is_compatible)(const bly_filter *a, const bly_filter *b);
    bool any_size, any_detail;
    /* Whether two compatible filters have the same contents. If this is NULL, the bytes of the two
     * bodies are compared. */
    bool (*is_equal)(const bly_filter *a, const bly_filter *b);
    /* How a filter is built from all its keys at once (kinds/builder/builder.h). NULL for kinds to
     * which keys can be added one by one. */
    const struct blyi_solver *solver;
    /* True if `prefetch` reads only ops, geometry and the address of the body, and no byte of the
     * body. Then it can run while another thread may be using the filter (prefetch_hints.c). */
    bool prefetch_reads_no_body;
} blyi_ops;

/* ---- the descriptor -------------------------------------------------------------------------- */

/* Flags for the members of bly_spec that are options of only some kinds. */
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
    const char *article; /* "a" or "an", for the name; NULL: "a" */
    const char *meaning; /* one line without a full stop: how it works */
    const char *reason;  /* what it is good for: bly_advice.reason */
    /* hashes_name: what texts call the geometry's `hashes`; NULL: "k" in bly_filter_info_format,
     * and "bits per key" in bly_kind_get_info. size_unit: the unit of `size`, in the singular;
     * NULL: "block". */
    const char *hashes_name, *size_unit;
    /* Writes the size of a geometry. `grouped` is the size in digits, in groups of three. NULL:
     * describes it as in "4,096 blocks". */
    void (*describe_size)(const bly_geometry *g, const char *grouped, char *out, size_t room);
    /* Writes what follows the size in a description, with a separator before it. NULL: describes it
     * as in ", 8 bits per key". */
    void (*describe_rest)(const bly_geometry *g, char *out, size_t room);
    /* meets: the BLY_NEED_* that the kind meets in addition to those that follow from its
     * capabilities. requires: the BLY_NEED_* without which it is not advised, because it is useful
     * only for them. */
    uint32_t meets, requires;
    const char *never_advised; /* why it is never advised; NULL: it may be */
    uint32_t spec_fields;      /* BLYI_SPEC_* */
    bool may_miss_members; /* removed keys are recorded as fingerprints, which members may share */
    /* Why the kind does not support an operation, indexed by bly_operation. NULL if the reason
     * follows from its capabilities (set_operations.c). */
    const char *refusals[BLYI_OPERATIONS];
    const blyi_planner *planner;
    const blyi_ops *ops;
} blyi_kind;

/* Returns the descriptor of a kind, or NULL for a code that no kind of this version has. */
const blyi_kind *blyi_kind_of(bly_kind kind);

/* Returns the BLYI_SPEC_* of those members of a spec that differ from their defaults. In
 * create.c. */
uint32_t blyi_spec_fields(const bly_spec *spec);

/* Returns the operations of a kind, or NULL for an unknown code. */
static inline const blyi_ops *blyi_ops_of(bly_kind kind) {
    const blyi_kind *k = blyi_kind_of(kind);
    return k ? k->ops : NULL;
}

/* Returns the planner of a kind. For an unknown code it returns a planner that accepts no geometry,
 * so that public functions are memory-safe for any code. */
const blyi_planner *blyi_planner_of(bly_kind kind);

/* Writes nothing. For blyi_kind.describe_rest. */
void blyi_describe_nothing(const bly_geometry *g, char *out, size_t room);
/* Writes the number of counters in a block and per key. For blyi_kind.describe_rest. */
void blyi_describe_counters(const bly_geometry *g, char *out, size_t room);

/* Whether a filter of this kind consists of plain bits, which keys set and test. */
static inline bool blyi_kind_is_bits(bly_kind kind) {
    return blyi_planner_of(kind)->layout != NULL;
}

#endif
