/* filter.h - filters: one handle for every kind.
 *
 *     bly_filter *seen;
 *     bly_status status = bly_filter_new(1000000, 0.001, &seen); // a million keys, 0.1%
 *     if (status == BLY_OK)
 *         status = bly_filter_add(seen, "key", 3, NULL);
 *     bool maybe = status == BLY_OK && bly_filter_contains(seen, "key", 3);
 *     bly_filter_destroy(seen);
 *
 * A lookup answers "no", which is always right, or "maybe", which is wrong at the false-positive
 * rate (FPR) chosen at creation. (A window forgets old keys, and an overlay may miss a few:
 * docs/kinds/README.md.)
 *
 * Threads. A filter has one of three modes (bly_sharing). In the shared modes any number of threads
 * may add keys, look keys up, and call bly_filter_count and bly_filter_get_info, whose results are
 * then approximate. During any other call, such as clear, destroy, save or union, no other thread
 * may change the filters that it uses. */
#ifndef BLOOMERY_FILTER_H
#define BLOOMERY_FILTER_H

#include "base.h"
#include "hash.h"
#include "kinds.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many threads may use a filter at the same time.
 *
 * - BLY_EXCLUSIVE: either one thread that changes the filter, or any number of threads that only
 *   read it.
 * - BLY_SHARED: adds are lock-free, lookups wait-free. A lookup finds every key whose add happened
 *   before it (ordered by a lock, a join or a release/acquire pair). If several threads add the
 *   same new key at the same time, one or more of them are told that it is new.
 * - BLY_SHARED_ONCE: as BLY_SHARED, but exactly one of these threads is told that the key is new.
 *   An add takes one of 4096 locks, chosen by the key. */
typedef enum bly_sharing { BLY_EXCLUSIVE = 0, BLY_SHARED = 1, BLY_SHARED_ONCE = 2 } bly_sharing;

/* ---- create --------------------------------------------------------------------------------- */

/* Creates a filter for `capacity` distinct keys at the false-positive rate `fpr`: a blocked Bloom
 * filter (bly_plan_kind) with the default options. Keys cannot be removed from it. If you need to
 * remove keys, create a BLY_CUCKOO filter (bly_filter_create). The caller destroys *out with
 * bly_filter_destroy.
 * Errors: BLY_ECOUNT, BLY_ERATE, BLY_ETOOBIG, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_new(uint64_t capacity, double fpr, bly_filter **out);

/* All parameters of a new filter. Start from bly_spec_for, then change what you need. */
typedef struct bly_spec {
    size_t struct_size;
    bly_geometry geometry; /* kind must be set. size and hashes are both 0 (planned from capacity
                              and fpr), or both set (an exact geometry) */
    uint64_t capacity;     /* expected number of distinct keys; may be 0 with an exact geometry */
    double fpr;            /* requested false-positive rate; may be 0 with an exact geometry */
    uint64_t seed;         /* of the default hasher */
    bly_hasher hasher;     /* id BLY_HASH_NONE: bly_hasher_default(capacity, fpr, seed) */
    bly_sharing sharing;
    bool allow_weak_hash; /* true: accept a hash with too few bits for the requested rate (else
                             BLY_EWEAKHASH); bly_filter_get_info reports the resulting rate */
    const bly_allocator *allocator;
    /* Options that only some kinds have (kinds.h). 0: the default. */
    bly_scalable_options scalable; /* scalable, scalable-cuckoo */
    bly_cuckoo_options cuckoo;     /* growable-cuckoo */
    bly_window_options window;
    bly_counting_options counting;
    bly_overlay_options overlay;
} bly_spec;

/* Returns a spec with this kind, capacity and false-positive rate; every other member has its
 * default. */
static inline bly_spec bly_spec_for(bly_kind kind, uint64_t capacity, double fpr) {
    bly_spec spec;
    BLY_INIT(spec);
    spec.geometry.kind = kind;
    spec.capacity = capacity;
    spec.fpr = fpr;
    return spec;
}

/* Stores the spec of the filter that bly_advise recommended, for bly_filter_create or, if the kind
 * has BLY_CAN_BUILD, for bly_builder_create. If advice->keyed is true, or needs.hash_bits was not
 * 0, the caller must still set out->hasher.
 * Errors: BLY_EINVAL (struct_size), BLY_EKIND (bly_advise did not succeed). */
BLY_CHECKED bly_status bly_advice_get_spec(const bly_advice *advice, bly_spec *out);

/* Creates a filter from a spec. With an exact geometry and capacity 0, the capacity is the number
 * of keys that the geometry holds at the rate `fpr`. If `fpr` is 0 too, the capacity is the number
 * of keys at which half of the bits are set, and `fpr` is the rate with that many keys. The caller
 * destroys *out with bly_filter_destroy.
 * Errors: those of bly_plan and bly_plan_check; BLY_EIMPOSSIBLE (an exact geometry too small for
 * its capacity), BLY_EUNSUPPORTED (a sharing mode that the kind lacks, or a kind with
 * BLY_CAN_BUILD), BLY_EHASHER (a hasher that was not filled in), BLY_EINVAL (struct_size, an option
 * of another kind), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_create(const bly_spec *spec, bly_filter **out);

/* Makes an independent copy, in the same or another allocator (NULL: the default one).
 * Errors: BLY_ENOMEM, BLY_ECORRUPT (f is a map that was not verified, and damage in it prevents the
 * copy). */
BLY_CHECKED bly_status bly_filter_clone(const bly_filter *f, const bly_allocator *a,
                                        bly_filter **out);
/* Destroys a filter. NULL does nothing. */
BLY_API void bly_filter_destroy(bly_filter *f);

/* Sets the hasher of a filter that was opened without its key or custom hash function
 * (BLY_OPEN_WITHOUT_KEY). Does nothing if the filter has a hasher already. Errors: BLY_EKEY (wrong
 * hasher). */
BLY_CHECKED bly_status bly_filter_set_hasher(bly_filter *f, const bly_hasher *hasher);

/* ---- use ------------------------------------------------------------------------------------ */

/* Adds a key. *added (may be NULL) becomes true if the key seemed to be absent before.
 *
 * For most kinds BLY_EKEY is the only error. In a kind that grows, adding a new key may fail; in
 * cuckoo, multilayer and hybrid filters, adding any key may fail (docs/kinds/README.md).
 * Errors: BLY_EKEY (f was opened without its key), BLY_ENOMEM, BLY_ETOOBIG, BLY_EFULL, BLY_EGROWTH
 * (f was loaded; see bly_filter_limit_growth), BLY_EUNSUPPORTED (a kind without BLY_CAN_ADD). */
BLY_CHECKED bly_status bly_filter_add(bly_filter *f, const void *key, size_t len, bool *added);

/* Looks a key up. Returns true for every member, and for a non-member at the false-positive rate;
 * false if the key was certainly never added, or was removed or forgotten. If the filter was opened
 * without its secret key, the result is true for every key. */
BLY_API bool bly_filter_contains(const bly_filter *f, const void *key, size_t len);

/* The outcome of a batch of adds or removes. */
typedef struct bly_batch_result {
    size_t done;    /* keys processed; the first key that failed is keys[done] */
    size_t changed; /* how many of the processed keys were new; in bly_filter_remove_many, how many
                       were removed */
} bly_batch_result;

/* Adds a batch of keys, several times faster than bly_filter_add for each key in order, and with
 * the same answers. `added` receives one byte per key: 1 if it was new, else 0. `added` and
 * `result` may be NULL. Errors: those of bly_filter_add. After an error, the keys before
 * keys[result->done] have been added. */
BLY_CHECKED bly_status bly_filter_add_many(bly_filter *f, const bly_bytes *keys, size_t n,
                                           uint8_t *added, bly_batch_result *result);

/* Looks a batch of keys up, several times faster than bly_filter_contains for each of them. `found`
 * (may be NULL) receives one 0/1 byte per key. Returns the number of keys that were found. */
BLY_API size_t bly_filter_contains_many(const bly_filter *f, const bly_bytes *keys, size_t n,
                                        uint8_t *found);

/* Adds a key by its hash, which the caller has computed with this filter's hasher; so one hash can
 * be used for many filters. Unlike bly_filter_add it also works on a filter that was opened without
 * its hasher. Errors: those of bly_filter_add. */
BLY_CHECKED bly_status bly_filter_add_hash(bly_filter *f, bly_hash h, bool *added);
/* Looks a key up by its hash, also in a filter that was opened without its hasher. */
BLY_API bool bly_filter_contains_hash(const bly_filter *f, bly_hash h);
/* Adds a batch of keys by their hashes, as bly_filter_add_many does.
 * Errors: those of bly_filter_add_hash. */
BLY_CHECKED bly_status bly_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n,
                                             uint8_t *added, bly_batch_result *result);
/* Looks a batch of keys up by their hashes, as bly_filter_contains_many does. */
BLY_API size_t bly_filter_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                          uint8_t *found);

/* Removes a key, in kinds with BLY_CAN_REMOVE. *removed (may be NULL) becomes true if the key
 * seemed to be in the filter.
 *
 * In these kinds every add stores a copy of the key, and a remove removes one copy. Remove only
 * keys that were added: removing a false positive removes the copy of a member, which is then
 * missed. For the same reason, add a key even if it seems to be present. An overlay does not store
 * copies: it is a set, with other rules (docs/kinds/overlay.md). Errors: BLY_EUNSUPPORTED (another
 * kind), BLY_EKEY (f was opened without its key), BLY_ENOMEM, BLY_EFULL (some kinds). */
BLY_CHECKED bly_status bly_filter_remove(bly_filter *f, const void *key, size_t len, bool *removed);
/* Removes a key by its hash, as bly_filter_remove does.
 * Errors: those of bly_filter_remove, except BLY_EKEY. */
BLY_CHECKED bly_status bly_filter_remove_hash(bly_filter *f, bly_hash h, bool *removed);

/* Removes a batch of keys. `removed` receives 1 for each key that was in the filter, else 0.
 * `removed` and `result` may be NULL. After an error, the keys before keys[result->done] have been
 * processed. Errors: those of bly_filter_remove. */
BLY_CHECKED bly_status bly_filter_remove_many(bly_filter *f, const bly_bytes *keys, size_t n,
                                              uint8_t *removed, bly_batch_result *result);

/* Returns how many copies of a key the filter contains: how often the key was added and not
 * removed. False positives can make the result larger. If a counter has reached its limit, the
 * result is the limit. A filter of kind `counts` returns an estimate (docs/kinds/sketches.md). A
 * kind without BLY_CAN_COUNT returns 0 or 1. A filter that was opened without its key returns 1. */
BLY_API uint64_t bly_filter_copies(const bly_filter *f, const void *key, size_t len);
/* Returns how many copies of a key the filter contains, by the key's hash. */
BLY_API uint64_t bly_filter_copies_hash(const bly_filter *f, bly_hash h);

/* Removes every key. The geometry, the hasher and the requested rate do not change, except that a
 * scalable or scalable-cuckoo filter shrinks to its first level. growable-cuckoo, multilayer and
 * hybrid keep the memory by which they have grown, and a window keeps its clock. A filter that was
 * built is empty afterwards, and still accepts no adds. For an overlay see docs/kinds/overlay.md.
 */
BLY_API void bly_filter_clear(bly_filter *f);

/* ---- describe ------------------------------------------------------------------------------- */

/* Returns the geometry of a filter, which changes when the filter grows. */
BLY_API bly_geometry bly_filter_geometry(const bly_filter *f);
/* Returns the hasher, borrowed; NULL if f was opened without it (BLY_OPEN_WITHOUT_KEY). */
BLY_API const bly_hasher *bly_filter_hasher(const bly_filter *f);
/* Returns the sharing mode. */
BLY_API bly_sharing bly_filter_sharing(const bly_filter *f);

/* Returns the capacity: the planned number of distinct keys; scalable: the sum of its levels. */
BLY_API uint64_t bly_filter_capacity(const bly_filter *f);
/* Returns the requested false-positive rate. */
BLY_API double bly_filter_fpr(const bly_filter *f);

/* Returns, for a kind with BLY_HAS_SLOTS, the number of distinct keys that are certain to find a
 * slot when the filter has grown as far as it can; UINT64_MAX if there is no limit. */
BLY_API uint64_t bly_filter_max_keys(const bly_filter *f);

/* Returns the number of levels of a scalable or scalable-cuckoo filter; 1 for any other kind. */
BLY_API size_t bly_filter_level_count(const bly_filter *f);
/* Returns level i, where 0 is the oldest; NULL if there is no such level. Level 0 of a filter
 * without levels is the filter itself. The level is borrowed until the filter grows, shrinks or is
 * destroyed. */
BLY_API const bly_filter *bly_filter_level(const bly_filter *f, size_t i);

/* The rule by which a program made the keys of a filter from its input. The rule is only noted in
 * the file's header (docs/format.md, section 1), for programs that turn lines or records into keys.
 * It has no effect on the filter, which accepts any bytes as a key. A file with an unknown code is
 * refused. */
typedef enum bly_key_rule {
    BLY_KEYS_UNRECORDED = 0, /* nothing is recorded: older files, and programs that do not set it */
    BLY_KEYS_LINE = 2,       /* lines that are not blank, without one carriage return at the end */
    BLY_KEYS_IP = 3, /* IP addresses and blocks. This and the next four are typed lists (list.h) */
    BLY_KEYS_DOMAIN = 4, /* domain names */
    BLY_KEYS_EMAIL = 5,  /* e-mail addresses */
    BLY_KEYS_URL = 6,    /* URLs */
    BLY_KEYS_PHONE = 7,  /* phone numbers */
    BLY_KEYS_RECORD = 9, /* lines, including blank ones (`bloomery dedup --state`); with -0, whole
                            NUL-terminated records */
    BLY_KEYS_RECORD_URL = 10,   /* as BLY_KEYS_RECORD, but URLs are in canonical form (--url) */
    BLY_KEYS_RECORD_CRAWL = 11, /* as BLY_KEYS_RECORD_URL, but at the level of --url=crawl */
    BLY_KEYS_OTHER = 12 /* parts of records, or changed records, for which there is no code */
} bly_key_rule;

/* Returns the rule of the keys. A clone, a fold and an overlay have the rule of the filter that
 * they were made from. A union or intersection of two filters that contain keys has the rule of
 * both if they agree, else BLY_KEYS_UNRECORDED. */
BLY_API bly_key_rule bly_filter_key_rule(const bly_filter *f);
/* Sets the rule of the keys, which is only a note: the keys are not changed. Errors: BLY_EINVAL (no
 * such rule). */
BLY_CHECKED bly_status bly_filter_set_key_rule(bly_filter *f, bly_key_rule rule);

/* Returns the number of keys that were new when they were added. This is the number of distinct
 * keys without the few that were false positives when added (a share of at most the false-positive
 * rate). After a union or an intersection it is an estimate. Some kinds return another number:
 * kinds with BLY_CAN_REMOVE the number of copies stored, counts the number of all adds, hll its
 * estimate, window the number of keys in its generations, kinds with BLY_CAN_BUILD the exact number
 * of distinct keys. */
BLY_API uint64_t bly_filter_count(const bly_filter *f);

/* The state of a filter, as bly_filter_get_info measures it. For a filter with levels, numbers are
 * sums over its levels, and rates are those of all levels together. */
typedef struct bly_filter_info {
    size_t struct_size;
    bly_kind kind;
    uint32_t hashes; /* as in bly_geometry; for a scalable filter, the number of levels */
    uint64_t size;   /* as in bly_geometry */
    uint64_t capacity;
    uint64_t count;    /* bly_filter_count */
    uint64_t bits;     /* total number of bits */
    uint64_t set_bits; /* number of bits that are set */
    uint64_t bytes;    /* bytes of memory, without those of the handle */
    double fill; /* set_bits / bits; for kinds that do not consist of plain bits, the share of their
                    cells (slots or counters) that are in use */
    double expected_fill;  /* `fill` by formula, for the estimated number of distinct keys among the
                              `count` keys */
    double estimated_keys; /* number of distinct keys, estimated from the bits; INFINITY if all bits
                              are set */
    double requested_fpr;
    double expected_fpr; /* rate by formula, for estimated_keys keys */
    double current_fpr;  /* rate computed from the present bits, if hashes are well mixed */
    double miss_bound;   /* overlay: upper bound of the probability that a member is missed */
    uint64_t stuck; /* number of counters that have reached their limit; they never change again */
    uint64_t spilled; /* hybrid: number of keys whose count does not fit into its four bits;
                         multilayer: number of lines (cache lines of counters) that have
                         overflowed */
    bool approximate; /* true after bly_filter_intersect: the filter may contain more than the true
                         intersection */
    const char *hash_name; /* as bly_hash_name */
} bly_filter_info;

/* Measures a filter in one pass over its bits. If struct_size is set correctly, the call cannot
 * fail, so the status may be ignored.
 * Errors: BLY_EINVAL (struct_size). */
BLY_API bly_status bly_filter_get_info(const bly_filter *f, bly_filter_info *out);

/* ---- combine -------------------------------------------------------------------------------- */

/* Returns BLY_OK if two filters can be combined: they have the same kind, geometry, hasher, and
 * seed or key. The memory that growable-cuckoo, multilayer and hybrid filters have gained by
 * growing may differ. Scalable and scalable-cuckoo filters need the same rate and growth, and the
 * levels that both have must match. Errors: BLY_EMISMATCH (they cannot be combined). */
BLY_CHECKED bly_status bly_filter_compatible(const bly_filter *a, const bly_filter *b);

/* Returns true if two filters are compatible and have the same bits. Scalable filters must also
 * have the same number of levels. For cuckoo, multilayer and hybrid filters the contents are
 * compared, not how they are arranged in memory. */
BLY_API bool bly_filter_equal(const bly_filter *a, const bly_filter *b);

/* Adds the keys of src to dst. The bits of dst become those of a filter to which the keys of both
 * were added. In kinds that remove or count keys, dst contains the copies of both. If the filters
 * have levels, corresponding levels are united, or the levels of src are appended to dst; a level
 * may then exceed its capacity, and bly_filter_get_info reports the resulting rate. Windows need
 * equal clocks.
 * Errors: BLY_EMISMATCH, BLY_EUNSUPPORTED, BLY_ENOMEM, BLY_EFULL and BLY_ETOOBIG (kinds with levels
 * or slots), BLY_ECORRUPT (scalable-cuckoo: src is a map that was not verified, and it is
 * damaged). */
BLY_CHECKED bly_status bly_filter_union(bly_filter *dst, const bly_filter *src);

/* Keeps in dst the keys that both filters have, and perhaps others. dst then has at most as many
 * false positives as either filter had, but more than a filter built from the true intersection.
 * dst is marked approximate (bly_filter_info.approximate).
 * Errors: BLY_EMISMATCH, BLY_EUNSUPPORTED, BLY_ENOMEM (multilayer). */
BLY_CHECKED bly_status bly_filter_intersect(bly_filter *dst, const bly_filter *src);

/* Removes one copy of every key of src from dst, in kinds with BLY_CAN_SUBTRACT. Every key of src
 * must be in dst, as for bly_filter_remove. Keys that are certainly not in dst are skipped, except
 * in a `counting` filter (docs/kinds/counting.md). Errors: BLY_EUNSUPPORTED (another kind),
 * BLY_EMISMATCH, BLY_ENOMEM (multilayer). */
BLY_CHECKED bly_status bly_filter_subtract(bly_filter *dst, const bly_filter *src);

/* An operation on two filters, for bly_filter_why_not. */
typedef enum bly_operation {
    BLY_OP_UNION,
    BLY_OP_INTERSECT,
    BLY_OP_SUBTRACT,
    BLY_OP_OVERLAP
} bly_operation;

/* Returns why an operation on a and b would be refused, as a static text such as "the seeds
 * differ"; NULL if it would not be refused. */
BLY_API const char *bly_filter_why_not(bly_operation op, const bly_filter *a, const bly_filter *b);

/* How much two filters have in common, estimated from their bits. */
typedef struct bly_overlap {
    double a, b, both,
        either;     /* number of distinct keys in a, in b, in the intersection, in the union */
    double jaccard; /* both / either; 1 for two empty filters. If every bit is set in a or in b,
                       `either` is INFINITY, and `both` and `jaccard` are only guesses */
} bly_overlap;

/* Estimates the overlap of two filters.
 * Errors: BLY_EMISMATCH, BLY_EUNSUPPORTED (a kind without BLY_CAN_OVERLAP). */
BLY_CHECKED bly_status bly_filter_overlap(const bly_filter *a, const bly_filter *b,
                                          bly_overlap *out);

/* Creates a filter that is `divisor` times smaller. It has the same bits as a filter that was
 * created with that size and to which the same keys were added. Its capacity is the number of keys
 * that the smaller size holds at the requested rate. `a` may be NULL.
 * Errors: BLY_EGEOMETRY (the size is not divisible: create the filter with BLY_FOLDABLE; or the
 * result would be too small), BLY_EUNSUPPORTED (a kind without BLY_CAN_FOLD), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_fold(const bly_filter *f, uint64_t divisor,
                                       const bly_allocator *a, bly_filter **out);

/* Returns the largest power of two by which f can be folded so that, with its present keys, the
 * rate is at most `fpr`; 1 if it cannot be folded. */
BLY_API uint64_t bly_filter_best_fold(const bly_filter *f, double fpr);

/* ---- bytes and files: docs/format.md -------------------------------------------------------- */

/* Flags of bly_open_options. */
enum {
    BLY_OPEN_WITHOUT_KEY = 1u << 0, /* open a keyed or custom-hashed filter without its hasher, to
                                       inspect or combine it; lookups of keys return true */
    BLY_OPEN_VERIFY = 1u << 1       /* bly_map_open: read and check the whole body too */
};

/* How to open a filter. */
typedef struct bly_open_options {
    size_t struct_size;
    uint32_t flags;           /* BLY_OPEN_* */
    bly_sharing sharing;      /* used by bly_filter_load and bly_filter_parse; a map is read-only */
    const bly_hasher *hasher; /* for keyed and custom hashes; NULL for others */
    const bly_allocator *allocator; /* NULL: the default one */
    uint64_t max_growth;            /* max_bytes of bly_filter_limit_growth; 0: the default */
} bly_open_options;

/* Limits the bytes that a filter may allocate in one step of growth: for its next level, or for a
 * larger table. An add that needs more returns BLY_EGROWTH and changes nothing. max_bytes 0 means
 * 64 times the present size, but at least 64 MiB; UINT64_MAX means no limit.
 *
 * A filter that was loaded or mapped has the limit of its bly_open_options, a clone has the limit
 * of the filter that was cloned, and a filter that was created has none. Without a limit, a file of
 * a kilobyte could make the first add allocate gigabytes. Raise the limit for files that you trust.
 * The default limit never refuses a new level if bly_scalable_options.growth is at most 32 and
 * first_share has its default. */
BLY_API void bly_filter_limit_growth(bly_filter *f, uint64_t max_bytes);

/* Receives the bytes of a file in order, at most 1 MiB per call. If it returns another status than
 * BLY_OK, writing ends with that status. */
typedef bly_status (*bly_sink)(void *ctx, const void *data, size_t size);
/* Passes the bytes of the filter's file to a sink. Errors: the status that the sink returned,
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_write(const bly_filter *f, bly_sink sink, void *ctx);
/* Returns the size of the filter's file in bytes. */
BLY_API uint64_t bly_filter_file_size(const bly_filter *f);

/* Creates a filter from the `size` bytes of a file in memory, and copies them. All fields and
 * checksums are checked. No allocation is larger than the data, rounded up to pages. `options` may
 * be NULL. Errors: BLY_ECORRUPT, BLY_EVERSION, BLY_EKIND, BLY_EUNSUPPORTED (a kind that was
 * removed, or a sharing mode that the kind lacks), BLY_EHASHER (a hash that this build lacks, or a
 * custom one without its function), BLY_EKEY (wrong or missing key, another custom function),
 * BLY_ENOMEM, BLY_EINVAL (unknown flags, struct_size). */
BLY_CHECKED bly_status bly_filter_parse(const void *data, size_t size,
                                        const bly_open_options *options, bly_filter **out);

/* Saves a filter to a file atomically: a temporary file beside it, fsync, rename. After a crash at
 * any moment the path has either the complete old file or the complete new one. host/files.h has
 * the rules about links, owners, permissions and temporary files that are left behind. The filter
 * must not change during the call. Errors: BLY_ECHANGED (the filter changed; the old file is kept),
 * BLY_ENOMEM, BLY_EIO (see errno; if only flushing the directory failed, the new file is in
 * place). */
BLY_CHECKED bly_status bly_filter_save(const bly_filter *f, const char *path);

/* Reads a regular file, and creates a filter from its bytes as bly_filter_parse does. `options` may
 * be NULL. Errors: those of bly_filter_parse, and BLY_EIO (see errno). */
BLY_CHECKED bly_status bly_filter_load(const char *path, const bly_open_options *options,
                                       bly_filter **out);
/* A file used in place: read-only, and shared between the processes that map it. */
typedef struct bly_map bly_map;

/* Maps a file. This takes microseconds whatever its size. Any number of threads may look keys up in
 * the map. The header is always checked; the body is checked only with BLY_OPEN_VERIFY. Lookups in
 * a damaged body may give wrong answers, but are otherwise safe. The file must not be shortened
 * while it is mapped. bly_filter_save may replace it: the map continues to use the old file.
 * `options` may be NULL. The caller closes *out with bly_map_close.
 * Errors: those of bly_filter_load; BLY_EUNSUPPORTED also for a kind without BLY_CAN_MAP. */
BLY_CHECKED bly_status bly_map_open(const char *path, const bly_open_options *options,
                                    bly_map **out);
/* Returns the filter of a map, borrowed until bly_map_close. */
BLY_API const bly_filter *bly_map_filter(const bly_map *map);
/* Closes a map. NULL does nothing. */
BLY_API void bly_map_close(bly_map *map);

/* The fields of a file's header. */
typedef struct bly_file_info {
    size_t struct_size;
    bly_geometry geometry;
    uint64_t capacity, count;
    double fpr; /* requested false-positive rate */
    bly_hash_id hash;
    bool keyed;
    bool approximate;
    uint64_t seed; /* the seed; for a keyed hash the id of its key, for a custom one its tag */
    uint64_t body_bytes;
    bly_key_rule key_rule;
} bly_file_info;

/* Reads and checks the header of a file: the first 64 bytes of `data`.
 * Errors: BLY_ECORRUPT, BLY_EVERSION, BLY_EKIND, BLY_EUNSUPPORTED (a kind that was removed),
 * BLY_EHASHER (an unknown hash), BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_file_parse_info(const void *data, size_t size, bly_file_info *out);

/* Reads and checks the header of a regular file, and checks the length of the file.
 * Errors: those of bly_file_parse_info, and BLY_EIO (see errno). */
BLY_CHECKED bly_status bly_file_get_info(const char *path, bly_file_info *out);

#ifdef __cplusplus
}
#endif
#endif
