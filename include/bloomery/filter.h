/* filter.h - filters: one handle for every kind.
 *
 *     bly_filter *seen;
 *     bool added;
 *     bly_status status = bly_filter_new(1000000, 0.001, &seen);     a million keys, 0.1%
 *     if (status == BLY_OK) {
 *         status = bly_filter_add(seen, "key", 3, &added);
 *         bool maybe = bly_filter_contains(seen, "key", 3);
 *         bly_filter_destroy(seen);
 *     }
 *
 * A filter answers "no", which is always right (for a window and an overlay see docs/kinds/), or
 * "maybe", which is wrong at the false-positive rate chosen at creation. kinds.h has the calls that
 * only one kind has.
 *
 * Threads. A filter is created for one of three modes (bly_sharing):
 *
 * - exclusive: one writer, or many readers.
 *
 * - shared: any number of threads add and query at once. Adds are lock-free, queries wait-free. A
 *   key whose add has finished, and is known to have finished (through a lock, a join, a
 *   release/acquire pair), is never missed. When several threads add the same new key at once, at
 *   least one of them, perhaps several, get "new".
 *
 * - shared-once: as shared, but exactly one of them gets "new". Adds of keys that map to the same
 *   one of 4096 locks wait for each other.
 *
 * Only adds, queries, count and get_info (whose results are then approximate) may run beside adds.
 * Calls for a whole filter (clear, destroy, clone, write, save, fold, equal, overlap, and union and
 * intersect for both filters) need it to be unchanged meanwhile.
 */
#ifndef BLOOMERY_FILTER_H
#define BLOOMERY_FILTER_H

#include "base.h"
#include "hash.h"
#include "kinds.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bly_sharing { BLY_EXCLUSIVE = 0, BLY_SHARED = 1, BLY_SHARED_ONCE = 2 } bly_sharing;

/* ---- create --------------------------------------------------------------------------------- */

/* The filter for `capacity` distinct keys at false-positive rate `fpr` that most programs need: a
 * blocked Bloom filter (bly_plan_kind), with every default. Keys cannot be removed from it; to
 * remove keys create a BLY_CUCKOO filter. The caller owns *out until bly_filter_destroy.
 * BLY_ECOUNT, BLY_ERATE, BLY_ETOOBIG, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_new(uint64_t capacity, double fpr, bly_filter **out);

/* Everything that can be chosen. Start from bly_spec_for, then change what you need. */
typedef struct bly_spec {
    size_t struct_size;
    bly_geometry geometry; /* kind: always. size and hashes 0: planned from capacity and fpr; else
                              exact, and both must be set */
    uint64_t capacity;     /* expected distinct keys; may be 0 with an exact geometry */
    double fpr;            /* requested rate; may be 0 with an exact geometry */
    uint64_t seed;         /* of the default hasher */
    bly_hasher hasher;     /* id BLY_HASH_NONE: bly_hasher_default(capacity, fpr, seed) */
    bly_sharing sharing;
    bool allow_weak_hash; /* accept a hash with too few bits for the rate; bly_filter_get_info
                             reports the rate that results */
    const bly_allocator *allocator;
    /* Options of single kinds (kinds.h). 0: the default. */
    bly_scalable_options scalable; /* scalable, scalable-cuckoo */
    bly_cuckoo_options cuckoo;     /* growable-cuckoo */
    bly_window_options window;
    bly_counting_options counting;
    bly_overlay_options overlay;
} bly_spec;

static inline bly_spec bly_spec_for(bly_kind kind, uint64_t capacity, double fpr) {
    bly_spec spec;
    BLY_INIT(spec);
    spec.geometry.kind = kind;
    spec.capacity = capacity;
    spec.fpr = fpr;
    return spec;
}

/* What bly_advise recommends, for bly_filter_create or, for a kind with BLY_CAN_BUILD, for
 * bly_builder_create. If advice->keyed, or needs.hash_bits was set, the caller must still set the
 * hasher. BLY_EINVAL (struct_size), BLY_EKIND (there was no advice). */
BLY_CHECKED bly_status bly_advice_get_spec(const bly_advice *advice, bly_spec *out);

/* With an exact geometry and no capacity, the capacity becomes what the geometry has room for at
 * fpr (or, if fpr is 0 too, at half fill, and fpr the rate there). The caller owns *out until
 * bly_filter_destroy. The statuses of bly_plan and bly_plan_check; BLY_EIMPOSSIBLE (an exact
 * geometry too small for its capacity), BLY_EUNSUPPORTED (a sharing mode that the kind does not
 * have, or a kind with BLY_CAN_BUILD), BLY_EINVAL (struct_size, an option of another kind),
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_create(const bly_spec *spec, bly_filter **out);

/* An independent copy, in the same or another allocator (NULL: the default one). BLY_ENOMEM;
 * BLY_ECORRUPT: f is an unverified map, and damaged in a way that matters. */
BLY_CHECKED bly_status bly_filter_clone(const bly_filter *f, const bly_allocator *a,
                                        bly_filter **out);

BLY_API void bly_filter_destroy(bly_filter *f); /* NULL does nothing */

/* Gives a filter that was opened without its key or custom hash function (BLY_OPEN_WITHOUT_KEY) its
 * hasher; it can then be used like any other. A filter that has its hasher is not changed.
 * BLY_EKEY: wrong hasher. */
BLY_CHECKED bly_status bly_filter_set_hasher(bly_filter *f, const bly_hasher *hasher);

/* ---- use ------------------------------------------------------------------------------------ */

/* *added (may be NULL): the key was not in the filter before. BLY_EKEY: f was opened without its
 * key. A kind that grows may return BLY_ENOMEM, BLY_ETOOBIG, BLY_EFULL or, if it was loaded,
 * BLY_EGROWTH (bly_filter_limit_growth) for a new key, here and below; cuckoo, multilayer and
 * hybrid may for any key (docs/kinds/ says when). A kind that is built returns
 * BLY_EUNSUPPORTED. The other kinds never fail. */
BLY_CHECKED bly_status bly_filter_add(bly_filter *f, const void *key, size_t len, bool *added);

/* false: the key was never added, or it was removed or, by a kind that forgets, forgotten. (A
 * filter opened without its key always returns true.) */
BLY_API bool bly_filter_contains(const bly_filter *f, const void *key, size_t len);

/* Batches give the same answers as single calls in order, several times faster: hashing, fetching
 * and testing overlap. `added` / `found` receive one 0/1 byte per key, or are NULL. */
typedef struct bly_batch_result {
    size_t done;    /* keys processed; the first key that failed is keys[done] */
    size_t changed; /* how many of these were new, or, in bly_filter_remove_many, removed */
} bly_batch_result;
BLY_CHECKED bly_status bly_filter_add_many(bly_filter *f, const bly_bytes *keys, size_t n,
                                           uint8_t *added,
                                           bly_batch_result *result /* may be NULL */);
/* Returns how many answers are 1. */
BLY_API size_t bly_filter_contains_many(const bly_filter *f, const bly_bytes *keys, size_t n,
                                        uint8_t *found);

/* The same for keys that the caller has hashed with this filter's hasher: one hash can serve many
 * filters. They work on a filter opened without its hasher too. */
BLY_CHECKED bly_status bly_filter_add_hash(bly_filter *f, bly_hash h, bool *added);
BLY_API bool bly_filter_contains_hash(const bly_filter *f, bly_hash h);
BLY_CHECKED bly_status bly_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n,
                                             uint8_t *added, bly_batch_result *result);
BLY_API size_t bly_filter_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                          uint8_t *found);

/* *removed (may be NULL): the key was in the filter. For kinds with BLY_CAN_REMOVE; others return
 * BLY_EUNSUPPORTED. BLY_EKEY: f was opened without its key. BLY_ENOMEM, BLY_EFULL for some kinds:
 * nothing has changed.
 *
 * In such a kind every add stores a copy of the key, whether or not it was there, and a remove
 * removes one copy. Only remove keys that were added. A non-member that is a false positive shares
 * its copy with a member, which would then be missed. For the same reason do not skip an add
 * because the key seems to be present. (An overlay is a set, and different: docs/kinds/overlay.md.)
 */
BLY_CHECKED bly_status bly_filter_remove(bly_filter *f, const void *key, size_t len, bool *removed);
BLY_CHECKED bly_status bly_filter_remove_hash(bly_filter *f, bly_hash h, bool *removed);
/* removed[i] (unless NULL): 1 if keys[i] was in the filter. */
BLY_CHECKED bly_status bly_filter_remove_many(bly_filter *f, const bly_bytes *keys, size_t n,
                                              uint8_t *removed, bly_batch_result *result);

/* How often the key was added and not removed, or more: false positives can only raise it. Counters
 * with a limit return the limit from there on, and `counts` returns an estimate (docs/kinds/). 0 or
 * 1 for a kind without BLY_CAN_COUNT; 1 for a filter opened without its key. */
BLY_API uint64_t bly_filter_copies(const bly_filter *f, const void *key, size_t len);
BLY_API uint64_t bly_filter_copies_hash(const bly_filter *f, bly_hash h);

/* Removes every key. Shape, hash and rate stay. A scalable or scalable-cuckoo filter shrinks to its
 * first level; growable-cuckoo, multilayer and hybrid keep their memory, and a window its clock. A
 * filter that was built becomes an empty one. For an overlay see docs/kinds/overlay.md. */
BLY_API void bly_filter_clear(bly_filter *f);

/* ---- describe ------------------------------------------------------------------------------- */

BLY_API bly_geometry bly_filter_geometry(const bly_filter *f);
/* NULL for a filter opened without its hasher (BLY_OPEN_WITHOUT_KEY). */
BLY_API const bly_hasher *bly_filter_hasher(const bly_filter *f);
BLY_API bly_sharing bly_filter_sharing(const bly_filter *f);
BLY_API uint64_t bly_filter_capacity(const bly_filter *f); /* scalable: the sum of its levels */
BLY_API double bly_filter_fpr(const bly_filter *f);        /* the requested rate */
/* For a kind with BLY_HAS_SLOTS: how many distinct keys certainly find a slot once the filter has
 * grown as far as it can. UINT64_MAX: no limit. */
BLY_API uint64_t bly_filter_max_keys(const bly_filter *f);

/* The filters that a scalable or scalable-cuckoo filter consists of, oldest first, borrowed. Any
 * other filter is its own only level. NULL past the last. They are valid until the filter grows,
 * shrinks or is destroyed. */
BLY_API size_t bly_filter_level_count(const bly_filter *f);
BLY_API const bly_filter *bly_filter_level(const bly_filter *f, size_t i);

/* What the keys of a filter are made from: a note in its header (docs/format.md, section 1) for
 * programs that turn lines or records into keys. The filter itself accepts any bytes as keys.
 * A file with a code that is not listed is refused. */
typedef enum bly_key_rule {
    BLY_KEYS_UNRECORDED = 0, /* nothing is recorded: files written before this note existed, and
                                those of programs that do not set it */
    BLY_KEYS_LINE = 2,       /* lines that are not blank, without one carriage return at the end */
    BLY_KEYS_IP = 3,         /* this and the next four: typed lists (`bloomery build --type`) */
    BLY_KEYS_DOMAIN = 4,
    BLY_KEYS_EMAIL = 5,
    BLY_KEYS_URL = 6,
    BLY_KEYS_PHONE = 7,
    BLY_KEYS_RECORD = 9, /* lines, blank ones included: `bloomery dedup --state`; with -0 records
                            with everything that is in them */
    BLY_KEYS_RECORD_URL = 10,   /* the same, URLs in canonical form: --url */
    BLY_KEYS_RECORD_CRAWL = 11, /* --url=crawl */
    BLY_KEYS_OTHER = 12         /* parts or forms of records that no code describes */
} bly_key_rule;

/* A clone, a fold and an overlay have the rule of their original. A union of two filters with keys
 * has the rule that both have, or, if they differ, none; so has an intersection. Setting it changes
 * no key. BLY_EINVAL: no such rule. */
BLY_API bly_key_rule bly_filter_key_rule(const bly_filter *f);
BLY_CHECKED bly_status bly_filter_set_key_rule(bly_filter *f, bly_key_rule rule);

/* The number of keys that were new when added: the distinct keys, without the few (at most the
 * false-positive rate) that looked present. After a union or intersection, an estimate. For kinds
 * that remove, the number of copies; counts: all adds; hll: its estimate; window: the keys of its
 * generations; kinds that are built: their distinct keys. */
BLY_API uint64_t bly_filter_count(const bly_filter *f);

/* For a scalable filter: sums over its levels, and the rates of all of them together. */
typedef struct bly_filter_info {
    size_t struct_size;
    bly_kind kind;
    uint32_t hashes; /* scalable: levels */
    uint64_t size;   /* as in bly_geometry */
    uint64_t capacity;
    uint64_t count; /* bly_filter_count */
    uint64_t bits;  /* in all */
    uint64_t set_bits;
    uint64_t bytes;        /* of memory, without the handle */
    double fill;           /* set_bits / bits; for kinds that are not plain bits, the share of cells
                              in use */
    double expected_fill;  /* by formula, after `count` keys (distinct ones, as estimated, where
                              copies are stored) */
    double estimated_keys; /* distinct keys, estimated from the bits; INFINITY if all are set */
    double requested_fpr;
    double expected_fpr; /* by formula, for estimated_keys */
    double current_fpr;  /* of the bits as they are now, for well-mixed hashes */
    double miss_bound;   /* overlay: upper bound of the probability that a member is missed */
    uint64_t stuck;      /* counters that have reached their limit, and stay there */
    uint64_t spilled; /* hybrid: keys whose count needs more than its four bits; multilayer: lines
                         that have overflowed */
    bool approximate; /* an intersection: may contain more than the true intersection */
    const char *hash_name; /* as bly_hash_name */
} bly_filter_info;

/* One pass over the filter. BLY_EINVAL (struct_size). */
BLY_API bly_status bly_filter_get_info(const bly_filter *f, bly_filter_info *out);

/* ---- combine -------------------------------------------------------------------------------- */

/* BLY_OK if kind, geometry, hasher and seed or key are the same, as union and the other operations
 * require. (Memory that growable-cuckoo, multilayer and hybrid filters have grown by may differ.)
 * Scalable and scalable-cuckoo: the same rate and growth, and the levels that both have are alike.
 * BLY_EMISMATCH. */
BLY_CHECKED bly_status bly_filter_compatible(const bly_filter *a, const bly_filter *b);

/* Compatible, and the same bits. (Scalable: in the same number of levels. Cuckoo, multilayer and
 * hybrid, where the same keys may lie in different slots: the same contents.) */
BLY_API bool bly_filter_equal(const bly_filter *a, const bly_filter *b);

/* dst becomes the filter of both sets of keys, bit for bit. Scalable: level by level, and with the
 * levels that only src has; a level may then contain more keys than its capacity, and get_info
 * reports the resulting rate. Kinds that remove or count: with the copies of both. Window:
 * generation by generation, if both clocks are equal. Scalable-cuckoo: the levels of both.
 * BLY_EMISMATCH, BLY_EUNSUPPORTED, BLY_ENOMEM (scalable, cuckoo, multilayer, hybrid), BLY_EFULL
 * (cuckoo, hybrid), BLY_ECORRUPT (scalable-cuckoo: src is an unverified, damaged map): dst has not
 * changed. */
BLY_CHECKED bly_status bly_filter_union(bly_filter *dst, const bly_filter *src);

/* dst keeps every key that is in both, and may keep others: no more false positives than either
 * filter alone, but more than a filter built from the true intersection. dst is marked approximate.
 * BLY_EMISMATCH, BLY_EUNSUPPORTED, BLY_ENOMEM (multilayer). */
BLY_CHECKED bly_status bly_filter_intersect(bly_filter *dst, const bly_filter *src);

/* Removes a copy of every key of src from dst. Every key of src must be in dst, as for
 * bly_filter_remove; keys that are certainly not in dst are skipped, except by `counting`
 * (docs/kinds/counting.md). For kinds with BLY_CAN_SUBTRACT; others return BLY_EUNSUPPORTED,
 * because their keys share bits. BLY_EMISMATCH, BLY_ENOMEM (multilayer). */
BLY_CHECKED bly_status bly_filter_subtract(bly_filter *dst, const bly_filter *src);

/* Why an operation would be refused: "the seeds differ", "keys share bits in this kind, so ...".
 * NULL if it would not. */
typedef enum bly_operation {
    BLY_OP_UNION,
    BLY_OP_INTERSECT,
    BLY_OP_SUBTRACT,
    BLY_OP_OVERLAP
} bly_operation;
BLY_API const char *bly_filter_why_not(bly_operation op, const bly_filter *a, const bly_filter *b);

/* Estimates from the bits of two filters; neither changes. */
typedef struct bly_overlap {
    double a, b, both, either; /* distinct keys in a, in b, in the intersection, in the union */
    double jaccard;            /* both / either; 1 for two empty filters. `either` is INFINITY if
                                  every bit is set in one or the other; both and jaccard are then
                                  guesses from the common bits. */
} bly_overlap;
BLY_CHECKED bly_status bly_filter_overlap(const bly_filter *a, const bly_filter *b,
                                          bly_overlap *out);

/* Creates a filter `divisor` times smaller that equals, bit for bit, one built at that size from
 * the same keys. Its capacity is what the smaller size has room for at the requested rate.
 * BLY_EGEOMETRY: the size is not divisible (create the filter with BLY_FOLDABLE), or the result
 * would be too small. */
BLY_CHECKED bly_status bly_filter_fold(const bly_filter *f, uint64_t divisor,
                                       const bly_allocator *a, bly_filter **out);

/* The largest power-of-two divisor that keeps the rate at `fpr` for the keys that f contains now.
 */
BLY_API uint64_t bly_filter_best_fold(const bly_filter *f, double fpr);

/* ---- bytes and files: docs/format.md -------------------------------------------------------- */

enum {
    BLY_OPEN_WITHOUT_KEY = 1u << 0, /* accept a filter with a keyed or custom hash without its
                                       hasher, or with a wrong one: it can be inspected and
                                       combined, and answers "maybe" for every key */
    BLY_OPEN_VERIFY = 1u << 1       /* map: read and check the whole body too, as load does */
};

typedef struct bly_open_options {
    size_t struct_size;
    uint32_t flags;
    bly_sharing sharing;            /* load and parse; a map is read-only */
    const bly_hasher *hasher;       /* for keyed and custom hashes; NULL for others */
    const bly_allocator *allocator; /* NULL: the default one */
    uint64_t max_growth;            /* bly_filter_limit_growth; 0: the default */
} bly_open_options;

/* Limits the bytes that a filter may allocate in one step of growth: for the next level, or for the
 * table that replaces the present one. An add that needs more returns BLY_EGROWTH and changes
 * nothing. 0: 64 times the filter's present size, but at least 64 MiB. UINT64_MAX: no limit.
 *
 * A filter that was loaded or mapped has the limit of its bly_open_options, and a clone that of its
 * original. A filter that was created has none. The file says how much a filter grows in a step, so
 * without a limit a file of a kilobyte could make the first add allocate gigabytes. With the
 * default limit every further step needs keys that were really added, and a filter with the default
 * first_share that grows by a factor of up to 32 per step is never refused. Raise the limit for
 * files that you trust. */
BLY_API void bly_filter_limit_growth(bly_filter *f, uint64_t max_bytes);

/* Passes the bytes of the file, in order, to `sink`, at most 1 MiB at a time. If the sink returns
 * another status than BLY_OK, writing stops and returns that status. */
typedef bly_status (*bly_sink)(void *ctx, const void *data, size_t size);
BLY_CHECKED bly_status bly_filter_write(const bly_filter *f, bly_sink sink, void *ctx);
BLY_API uint64_t bly_filter_file_size(const bly_filter *f); /* the bytes that will be written */

/* From `size` bytes in memory, which are copied. `options` may be NULL in all of these. Every field
 * and the checksums are checked, and nothing larger than the data (rounded up to pages) is
 * allocated. BLY_ECORRUPT, BLY_EVERSION, BLY_EKIND, BLY_EUNSUPPORTED (a kind that was removed),
 * BLY_EHASHER (a hash that this build lacks, or a custom one without its function), BLY_EKEY (wrong
 * or missing key, another custom function), BLY_ENOMEM, BLY_EINVAL (unknown flags, struct_size). */
BLY_CHECKED bly_status bly_filter_parse(const void *data, size_t size,
                                        const bly_open_options *options, bly_filter **out);

/* Saves to a file atomically: a temporary file beside it, fsync, rename. After a crash at any
 * moment the path has the old file or the new one, complete. Symbolic links are followed, except
 * those of other users in a directory like /tmp. Owner, group and permissions of an old file are
 * kept as far as the system allows. Temporary files of killed processes of the same user are
 * removed after ten minutes. host/files.h has these rules in full. The filter must not be changed
 * meanwhile: BLY_ECHANGED, and the old file is kept. BLY_ENOMEM. BLY_EIO; if only flushing the
 * directory failed, the new file is in place nevertheless. */
BLY_CHECKED bly_status bly_filter_save(const bly_filter *f, const char *path);

/* From a regular file. The statuses of bly_filter_parse, and BLY_EIO. */
BLY_CHECKED bly_status bly_filter_load(const char *path, const bly_open_options *options,
                                       bly_filter **out);

/* A file used in place: opened in microseconds whatever its size, shared between processes, and
 * read-only. The header is checked (it has a checksum of its own). The body is checked only with
 * BLY_OPEN_VERIFY, but no damaged body makes a query misbehave. The file must not be shortened
 * while it is mapped: replace it with bly_filter_save, which does not touch the mapped one. */
typedef struct bly_map bly_map;
BLY_CHECKED bly_status bly_map_open(const char *path, const bly_open_options *options,
                                    bly_map **out);
BLY_API const bly_filter *bly_map_filter(const bly_map *map); /* borrowed until close */
BLY_API void bly_map_close(bly_map *map);                     /* NULL does nothing */

/* What a file's header says (64 bytes are read and checked). */
typedef struct bly_file_info {
    size_t struct_size;
    bly_geometry geometry;
    uint64_t capacity, count;
    double fpr;
    bly_hash_id hash;
    bool keyed;
    bool approximate;
    uint64_t seed; /* or key id, or custom tag */
    uint64_t body_bytes;
    bly_key_rule key_rule;
} bly_file_info;
BLY_CHECKED bly_status bly_file_parse_info(const void *data, size_t size, bly_file_info *out);
/* The same from a regular file, whose length must fit too. The statuses of bly_filter_load. */
BLY_CHECKED bly_status bly_file_get_info(const char *path, bly_file_info *out);

#ifdef __cplusplus
}
#endif
#endif
