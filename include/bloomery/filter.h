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
 * may add, look up, and call bly_filter_count and bly_filter_get_info, whose results are then
 * approximate. Every other call (clear, destroy, save, union, for example) needs its filters to be
 * unchanged meanwhile. */
#ifndef BLOOMERY_FILTER_H
#define BLOOMERY_FILTER_H

#include "base.h"
#include "hash.h"
#include "kinds.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which threads may use a filter at once.
 *
 * - BLY_EXCLUSIVE: one writer, or many readers.
 * - BLY_SHARED: adds are lock-free, lookups wait-free. A lookup finds every key whose add is known
 *   to have finished (by a lock, a join or a release/acquire pair). If several threads add the same
 *   new key at once, one or more of them are told that it is new.
 * - BLY_SHARED_ONCE: as BLY_SHARED, but exactly one of them is told so. An add takes one of 4096
 *   locks, chosen by the key.
 */
typedef enum bly_sharing { BLY_EXCLUSIVE = 0, BLY_SHARED = 1, BLY_SHARED_ONCE = 2 } bly_sharing;

/* ---- create --------------------------------------------------------------------------------- */

/* Creates a filter for `capacity` distinct keys at the false-positive rate `fpr`: a blocked Bloom
 * filter (bly_plan_kind) with every default. Keys cannot be removed from it; for that create a
 * BLY_CUCKOO filter. The caller destroys *out with bly_filter_destroy.
 * Errors: BLY_ECOUNT, BLY_ERATE, BLY_ETOOBIG, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_new(uint64_t capacity, double fpr, bly_filter **out);

/* All parameters of a new filter. Start from bly_spec_for, then change what you need. */
typedef struct bly_spec {
    size_t struct_size;
    bly_geometry geometry; /* kind: always. size and hashes: 0, planned from capacity and fpr; or
                              both set, an exact geometry */
    uint64_t capacity;     /* expected distinct keys; may be 0 with an exact geometry */
    double fpr;            /* requested rate; may be 0 with an exact geometry */
    uint64_t seed;         /* of the default hasher */
    bly_hasher hasher;     /* id BLY_HASH_NONE: bly_hasher_default(capacity, fpr, seed) */
    bly_sharing sharing;
    bool allow_weak_hash; /* accept a hash with too few bits for the rate; bly_filter_get_info
                             reports the resulting rate */
    const bly_allocator *allocator;
    /* Options of single kinds (kinds.h). 0: the default. */
    bly_scalable_options scalable; /* scalable, scalable-cuckoo */
    bly_cuckoo_options cuckoo;     /* growable-cuckoo */
    bly_window_options window;
    bly_counting_options counting;
    bly_overlay_options overlay;
} bly_spec;

/* Returns a spec with a kind, a capacity and a rate; every other member has its default. */
static inline bly_spec bly_spec_for(bly_kind kind, uint64_t capacity, double fpr) {
    bly_spec spec;
    BLY_INIT(spec);
    spec.geometry.kind = kind;
    spec.capacity = capacity;
    spec.fpr = fpr;
    return spec;
}

/* Stores the spec of the filter that bly_advise recommended, for bly_filter_create or, if the kind
 * has BLY_CAN_BUILD, for bly_builder_create. If advice->keyed or needs.hash_bits was set, the
 * caller must still set the hasher.
 * Errors: BLY_EINVAL (struct_size), BLY_EKIND (there was no advice). */
BLY_CHECKED bly_status bly_advice_get_spec(const bly_advice *advice, bly_spec *out);

/* Creates a filter from a spec. With an exact geometry and no capacity, the capacity is what the
 * geometry holds at `fpr`; if `fpr` is 0 too, it is what the geometry holds at half fill, and `fpr`
 * is the rate there. The caller destroys *out with bly_filter_destroy.
 * Errors: those of bly_plan and bly_plan_check; BLY_EIMPOSSIBLE (an exact geometry too small for
 * its capacity), BLY_EUNSUPPORTED (a sharing mode that the kind lacks, or a kind with
 * BLY_CAN_BUILD), BLY_EHASHER (a hasher that was not filled in), BLY_EINVAL (struct_size, an option
 * of another kind), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_create(const bly_spec *spec, bly_filter **out);

/* Makes an independent copy, in the same or another allocator (NULL: the default one).
 * Errors: BLY_ENOMEM, BLY_ECORRUPT (f is an unverified map, and damaged in a way that matters). */
BLY_CHECKED bly_status bly_filter_clone(const bly_filter *f, const bly_allocator *a,
                                        bly_filter **out);
/* Destroys a filter. NULL does nothing. */
BLY_API void bly_filter_destroy(bly_filter *f);

/* Sets the hasher of a filter that was opened without its key or custom hash function
 * (BLY_OPEN_WITHOUT_KEY). A filter that has its hasher is not changed.
 * Errors: BLY_EKEY (wrong hasher). */
BLY_CHECKED bly_status bly_filter_set_hasher(bly_filter *f, const bly_hasher *hasher);

/* ---- use ------------------------------------------------------------------------------------ */

/* Adds a key. *added (may be NULL) tells whether the key was absent before.
 *
 * Most kinds fail only with BLY_EKEY. A kind that grows may fail for a new key; cuckoo, multilayer
 * and hybrid may fail for any key (docs/kinds/README.md).
 * Errors: BLY_EKEY (f was opened without its key), BLY_ENOMEM, BLY_ETOOBIG, BLY_EFULL, BLY_EGROWTH
 * (f was loaded; see bly_filter_limit_growth), BLY_EUNSUPPORTED (a kind without BLY_CAN_ADD). */
BLY_CHECKED bly_status bly_filter_add(bly_filter *f, const void *key, size_t len, bool *added);

/* Looks a key up. Returns false if the key was never added, or was removed or forgotten; else true,
 * for some non-members too. A filter that was opened without its key returns true for every key. */
BLY_API bool bly_filter_contains(const bly_filter *f, const void *key, size_t len);

/* The outcome of a batch. */
typedef struct bly_batch_result {
    size_t done;    /* keys processed; the first key that failed is keys[done] */
    size_t changed; /* of these, the new ones, or in bly_filter_remove_many the removed ones */
} bly_batch_result;

/* Adds a batch of keys: the same answers as bly_filter_add for each key in order, several times
 * faster. `added` receives one 0/1 byte per key. `added` and `result` may be NULL.
 * Errors: those of bly_filter_add. The keys before keys[result->done] have been added. */
BLY_CHECKED bly_status bly_filter_add_many(bly_filter *f, const bly_bytes *keys, size_t n,
                                           uint8_t *added, bly_batch_result *result);

/* Looks a batch of keys up, several times faster than bly_filter_contains for each of them. `found`
 * (may be NULL) receives one 0/1 byte per key. Returns the number of keys that were found. */
BLY_API size_t bly_filter_contains_many(const bly_filter *f, const bly_bytes *keys, size_t n,
                                        uint8_t *found);

/* Add or look up keys that the caller has hashed with this filter's hasher, so that one hash serves
 * many filters. Unlike those for keys they also work on a filter that was opened without its
 * hasher. Errors: those of bly_filter_add. */
BLY_CHECKED bly_status bly_filter_add_hash(bly_filter *f, bly_hash h, bool *added);
BLY_API bool bly_filter_contains_hash(const bly_filter *f, bly_hash h);
BLY_CHECKED bly_status bly_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n,
                                             uint8_t *added, bly_batch_result *result);
BLY_API size_t bly_filter_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                          uint8_t *found);

/* Remove a key, in kinds with BLY_CAN_REMOVE. *removed (may be NULL) tells whether the key was in
 * the filter.
 *
 * In these kinds every add stores a copy of the key, and a remove removes one copy. Remove only
 * keys that were added: a false positive shares its copy with a member, which would then be missed.
 * For the same reason add a key even if it seems to be present. An overlay is a set, and different
 * (docs/kinds/overlay.md). Errors: BLY_EUNSUPPORTED (another kind), BLY_EKEY (f was opened without
 * its key), BLY_ENOMEM, BLY_EFULL (some kinds). */
BLY_CHECKED bly_status bly_filter_remove(bly_filter *f, const void *key, size_t len, bool *removed);
BLY_CHECKED bly_status bly_filter_remove_hash(bly_filter *f, bly_hash h, bool *removed);

/* Removes a batch of keys. `removed` receives 1 for each key that was in the filter, else 0.
 * `removed` and `result` may be NULL. Errors: those of bly_filter_remove. */
BLY_CHECKED bly_status bly_filter_remove_many(bly_filter *f, const bly_bytes *keys, size_t n,
                                              uint8_t *removed, bly_batch_result *result);

/* Count the copies of a key: how often it was added and not removed.
 * Returns that number or more, since false positives raise it. A counter at its limit returns the
 * limit, and `counts` returns an estimate (docs/kinds/sketches.md). A kind without BLY_CAN_COUNT
 * returns 0 or 1, a filter that was opened without its key 1. */
BLY_API uint64_t bly_filter_copies(const bly_filter *f, const void *key, size_t len);
BLY_API uint64_t bly_filter_copies_hash(const bly_filter *f, bly_hash h);

/* Removes every key. Shape, hash and rate stay. A scalable or scalable-cuckoo filter shrinks to its
 * first level; growable-cuckoo, multilayer and hybrid keep their memory, and a window keeps its
 * clock. A filter that was built becomes an empty one. For an overlay see docs/kinds/overlay.md. */
BLY_API void bly_filter_clear(bly_filter *f);

/* ---- describe ------------------------------------------------------------------------------- */

/* Returns the shape of a filter, which changes when the filter grows. */
BLY_API bly_geometry bly_filter_geometry(const bly_filter *f);
/* Returns the hasher, borrowed; NULL if f was opened without it (BLY_OPEN_WITHOUT_KEY). */
BLY_API const bly_hasher *bly_filter_hasher(const bly_filter *f);
/* Returns the sharing mode. */
BLY_API bly_sharing bly_filter_sharing(const bly_filter *f);

/* Returns the capacity: the planned number of distinct keys; scalable: the sum of its levels. */
BLY_API uint64_t bly_filter_capacity(const bly_filter *f);
/* Returns the requested false-positive rate. */
BLY_API double bly_filter_fpr(const bly_filter *f);

/* Returns, for a kind with BLY_HAS_SLOTS, how many distinct keys are certain to find a slot after
 * the filter has grown as far as it can; UINT64_MAX if there is no limit. */
BLY_API uint64_t bly_filter_max_keys(const bly_filter *f);

/* Give the levels of a scalable or scalable-cuckoo filter, oldest first. Any other filter is its
 * own only level. A level is borrowed, until the filter grows, shrinks or is destroyed; past the
 * last one it is NULL. */
BLY_API size_t bly_filter_level_count(const bly_filter *f);
BLY_API const bly_filter *bly_filter_level(const bly_filter *f, size_t i);

/* What the keys of a filter are made from: a note in the file's header (docs/format.md, section 1)
 * for programs that turn lines or records into keys. It has no effect on the filter, which accepts
 * any bytes. A file with an unknown code is refused. */
typedef enum bly_key_rule {
    BLY_KEYS_UNRECORDED = 0, /* nothing is recorded: older files, and programs that do not set it */
    BLY_KEYS_LINE = 2,       /* lines that are not blank, without one carriage return at the end */
    BLY_KEYS_IP = 3,         /* IP addresses and blocks: a typed list (list.h), as the next four */
    BLY_KEYS_DOMAIN = 4,     /* domain names */
    BLY_KEYS_EMAIL = 5,      /* e-mail addresses */
    BLY_KEYS_URL = 6,        /* URLs */
    BLY_KEYS_PHONE = 7,      /* phone numbers */
    BLY_KEYS_RECORD = 9,     /* lines, blank ones included (`bloomery dedup --state`); with -0 whole
                                records */
    BLY_KEYS_RECORD_URL = 10,   /* the same, URLs in canonical form (--url) */
    BLY_KEYS_RECORD_CRAWL = 11, /* the same, at the level of --url=crawl */
    BLY_KEYS_OTHER = 12         /* parts or forms of records that no code describes */
} bly_key_rule;

/* Returns the rule of the keys. A clone, a fold and an overlay have the rule of their original. A
 * union or intersection of two filters with keys has the rule that both have, or none. */
BLY_API bly_key_rule bly_filter_key_rule(const bly_filter *f);
/* Sets the rule of the keys. No key changes. Errors: BLY_EINVAL (no such rule). */
BLY_CHECKED bly_status bly_filter_set_key_rule(bly_filter *f, bly_key_rule rule);

/* Returns the number of keys that were new when added: the distinct keys without the few (at most
 * the false-positive rate) that looked present. After a union or an intersection it is an estimate.
 * Kinds that remove: the number of copies; counts: all adds; hll: its estimate; window: the keys of
 * its generations; kinds that are built: the distinct keys. */
BLY_API uint64_t bly_filter_count(const bly_filter *f);

/* The state of a filter, as bly_filter_get_info measures it. For a scalable filter these are sums
 * over its levels, and the rates of all levels together. */
typedef struct bly_filter_info {
    size_t struct_size;
    bly_kind kind;
    uint32_t hashes; /* as in bly_geometry; scalable: levels */
    uint64_t size;   /* as in bly_geometry */
    uint64_t capacity;
    uint64_t count;        /* bly_filter_count */
    uint64_t bits;         /* in all */
    uint64_t set_bits;     /* of these, the bits that are set */
    uint64_t bytes;        /* of memory, without the handle */
    double fill;           /* set_bits / bits; for kinds that are not plain bits, the share of cells
                              in use */
    double expected_fill;  /* by formula, for `count` keys (distinct ones, as estimated) */
    double estimated_keys; /* distinct keys, estimated from the bits; INFINITY if all are set */
    double requested_fpr;
    double expected_fpr;   /* by formula, for estimated_keys */
    double current_fpr;    /* computed from the current bits, for well-mixed hashes */
    double miss_bound;     /* overlay: upper bound of the probability that a member is missed */
    uint64_t stuck;        /* counters that have reached their limit, and stay there */
    uint64_t spilled;      /* hybrid: keys whose count needs more than its four bits; multilayer:
                              lines that have overflowed */
    bool approximate;      /* an intersection: may contain more than the true intersection */
    const char *hash_name; /* as bly_hash_name */
} bly_filter_info;

/* Measures a filter in one pass over it. The status may be ignored if struct_size is set.
 * Errors: BLY_EINVAL (struct_size). */
BLY_API bly_status bly_filter_get_info(const bly_filter *f, bly_filter_info *out);

/* ---- combine -------------------------------------------------------------------------------- */

/* Tells whether two filters can be combined: they have the same kind, geometry, hasher, and seed or
 * key. Memory by which a growable-cuckoo, multilayer or hybrid filter has grown may differ.
 * Scalable and scalable-cuckoo filters need the same rate and growth, and the levels that both have
 * must be alike. Errors: BLY_EMISMATCH (they cannot be combined). */
BLY_CHECKED bly_status bly_filter_compatible(const bly_filter *a, const bly_filter *b);

/* Returns true if two filters are compatible and have the same bits. Scalable filters must also
 * have the same number of levels. Cuckoo, multilayer and hybrid filters need equal contents. */
BLY_API bool bly_filter_equal(const bly_filter *a, const bly_filter *b);

/* Adds the keys of src to dst: the bits are those of one filter to which both sets were added.
 * Kinds that remove or count keep the copies of both. Filters with levels are united level by
 * level, or gain the levels of src, and a level may then exceed its capacity: bly_filter_get_info
 * reports the resulting rate. Windows need equal clocks.
 * Errors: BLY_EMISMATCH, BLY_EUNSUPPORTED, BLY_ENOMEM, BLY_EFULL and BLY_ETOOBIG (kinds with levels
 * or slots), BLY_ECORRUPT (scalable-cuckoo: src is an unverified, damaged map). */
BLY_CHECKED bly_status bly_filter_union(bly_filter *dst, const bly_filter *src);

/* Keeps in dst the keys that both filters have, and perhaps others. dst has no more false positives
 * than either filter, but more than a filter of the true intersection. It is marked approximate.
 * Errors: BLY_EMISMATCH, BLY_EUNSUPPORTED, BLY_ENOMEM (multilayer). */
BLY_CHECKED bly_status bly_filter_intersect(bly_filter *dst, const bly_filter *src);

/* Removes one copy of every key of src from dst, in kinds with BLY_CAN_SUBTRACT. Every key of src
 * must be in dst, as for bly_filter_remove. Keys that are certainly not in dst are skipped, except
 * by `counting` (docs/kinds/counting.md). Errors: BLY_EUNSUPPORTED (another kind: its keys share
 * bits), BLY_EMISMATCH, BLY_ENOMEM (multilayer). */
BLY_CHECKED bly_status bly_filter_subtract(bly_filter *dst, const bly_filter *src);

/* An operation on two filters, for bly_filter_why_not. */
typedef enum bly_operation {
    BLY_OP_UNION,
    BLY_OP_INTERSECT,
    BLY_OP_SUBTRACT,
    BLY_OP_OVERLAP
} bly_operation;

/* Returns why an operation would be refused, such as "the seeds differ" (a static text), or NULL.
 */
BLY_API const char *bly_filter_why_not(bly_operation op, const bly_filter *a, const bly_filter *b);

/* How much two filters have in common, estimated from their bits. */
typedef struct bly_overlap {
    double a, b, both, either; /* distinct keys in a, in b, in the intersection, in the union */
    double jaccard; /* both / either; 1 for two empty filters. If every bit is set in one or the
                       other, `either` is INFINITY, and both and jaccard are guesses */
} bly_overlap;

/* Estimates the overlap of two filters.
 * Errors: BLY_EMISMATCH, BLY_EUNSUPPORTED (a kind without BLY_CAN_OVERLAP). */
BLY_CHECKED bly_status bly_filter_overlap(const bly_filter *a, const bly_filter *b,
                                          bly_overlap *out);

/* Creates a filter `divisor` times smaller, which equals, bit for bit, one of that size with the
 * same keys. Its capacity is what the smaller size holds at the requested rate. `a` may be NULL.
 * Errors: BLY_EGEOMETRY (the size is not divisible: create the filter with BLY_FOLDABLE; or the
 * result would be too small), BLY_EUNSUPPORTED (a kind without BLY_CAN_FOLD), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_fold(const bly_filter *f, uint64_t divisor,
                                       const bly_allocator *a, bly_filter **out);

/* Returns the largest power of two by which f can be folded with its present keys at rate `fpr`. */
BLY_API uint64_t bly_filter_best_fold(const bly_filter *f, double fpr);

/* ---- bytes and files: docs/format.md -------------------------------------------------------- */

/* Flags of bly_open_options. */
enum {
    BLY_OPEN_WITHOUT_KEY = 1u << 0, /* open a keyed or custom-hashed filter without its hasher, to
                                       inspect or combine it: every answer is "maybe" */
    BLY_OPEN_VERIFY = 1u << 1       /* map: read and check the whole body too, as load does */
};

/* How to open a filter. */
typedef struct bly_open_options {
    size_t struct_size;
    uint32_t flags;                 /* BLY_OPEN_* */
    bly_sharing sharing;            /* load and parse; a map is read-only */
    const bly_hasher *hasher;       /* for keyed and custom hashes; NULL for others */
    const bly_allocator *allocator; /* NULL: the default one */
    uint64_t max_growth;            /* bly_filter_limit_growth; 0: the default */
} bly_open_options;

/* Limits the bytes that a filter may allocate in one step of growth: for its next level, or for a
 * larger table. An add that needs more returns BLY_EGROWTH and changes nothing. 0: 64 times the
 * present size, at least 64 MiB. UINT64_MAX: no limit.
 *
 * A filter that was loaded or mapped has the limit of its bly_open_options, a clone that of its
 * original, and a filter that was created has none. Without a limit, a file of a kilobyte could
 * make the first add allocate gigabytes. Raise it for files that you trust; the default never
 * refuses growth by a factor of up to 32 with the default first_share. */
BLY_API void bly_filter_limit_growth(bly_filter *f, uint64_t max_bytes);

/* Receives the bytes of a file in order, at most 1 MiB at a time. Another status than BLY_OK ends
 * it. */
typedef bly_status (*bly_sink)(void *ctx, const void *data, size_t size);
/* Passes the bytes of the filter's file to a sink. Errors: the status of the sink, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_write(const bly_filter *f, bly_sink sink, void *ctx);
/* Returns the size of the filter's file in bytes. */
BLY_API uint64_t bly_filter_file_size(const bly_filter *f);

/* Creates a filter from `size` bytes of a file in memory, which it copies. Every field and the
 * checksums are checked, and nothing larger than the data (rounded up to pages) is allocated.
 * `options` may be NULL. Errors: BLY_ECORRUPT, BLY_EVERSION, BLY_EKIND, BLY_EUNSUPPORTED (a kind
 * that was removed, or a sharing mode that the kind lacks), BLY_EHASHER (a hash that this build
 * lacks, or a custom one without its function), BLY_EKEY (wrong or missing key, another custom
 * function), BLY_ENOMEM, BLY_EINVAL (unknown flags, struct_size). */
BLY_CHECKED bly_status bly_filter_parse(const void *data, size_t size,
                                        const bly_open_options *options, bly_filter **out);

/* Saves a filter to a file atomically: a temporary file beside it, fsync, rename. After a crash at
 * any moment the path has the old file or the new one, complete. host/files.h has the rules about
 * links, owners, permissions and temporary files that are left behind. The filter must not change
 * meanwhile. Errors: BLY_ECHANGED (it changed; the old file is kept), BLY_ENOMEM, BLY_EIO (see
 * errno; if only flushing the directory failed, the new file is in place). */
BLY_CHECKED bly_status bly_filter_save(const bly_filter *f, const char *path);

/* Creates a filter from a regular file, which it reads and checks as bly_filter_parse does.
 * `options` may be NULL. Errors: those of bly_filter_parse, and BLY_EIO (see errno). */
BLY_CHECKED bly_status bly_filter_load(const char *path, const bly_open_options *options,
                                       bly_filter **out);
/* A file used in place: read-only, and shared between the processes that map it. */
typedef struct bly_map bly_map;

/* Maps a file, in microseconds whatever its size. Any number of threads may look keys up in it. The
 * header is checked. The body is checked only
 * with BLY_OPEN_VERIFY, but no damaged body makes a lookup misbehave. The file must not be
 * shortened while it is mapped; bly_filter_save replaces it without touching the mapped one.
 * `options` may be NULL. The caller closes *out with bly_map_close.
 * Errors: those of bly_filter_load; BLY_EUNSUPPORTED also for a kind without BLY_CAN_MAP. */
BLY_CHECKED bly_status bly_map_open(const char *path, const bly_open_options *options,
                                    bly_map **out);
/* Returns the filter of a map, borrowed until bly_map_close. */
BLY_API const bly_filter *bly_map_filter(const bly_map *map);
/* Closes a map. NULL does nothing. */
BLY_API void bly_map_close(bly_map *map);

/* What the header of a file says. */
typedef struct bly_file_info {
    size_t struct_size;
    bly_geometry geometry;
    uint64_t capacity, count;
    double fpr; /* requested */
    bly_hash_id hash;
    bool keyed;
    bool approximate;
    uint64_t seed; /* or key id, or custom tag */
    uint64_t body_bytes;
    bly_key_rule key_rule;
} bly_file_info;

/* Reads and checks the header of a file: the first 64 bytes of `data`.
 * Errors: BLY_ECORRUPT, BLY_EVERSION, BLY_EKIND, BLY_EUNSUPPORTED (a kind that was removed),
 * BLY_EHASHER (an unknown hash), BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_file_parse_info(const void *data, size_t size, bly_file_info *out);

/* Reads and checks the header of a regular file, whose length must fit too.
 * Errors: those of bly_file_parse_info, and BLY_EIO (see errno). */
BLY_CHECKED bly_status bly_file_get_info(const char *path, bly_file_info *out);

#ifdef __cplusplus
}
#endif
#endif
