/* filter.h - the filters: one handle for every kind.
 *
 * A filter answers "no" (always right; of a window, see window.h) or "maybe"
 * (wrong at a rate chosen at creation). What one kind promises beyond that stands in its own
 * header: bloom.h, blocked.h, scalable.h, cuckoo.h, scalable_cuckoo.h, window.h; for
 * those that count how often a key was added, counting.h, multilayer.h, layered.h, hybrid.h,
 * sketch.h; overlay.h; and, for those that are built from all their keys (build.h), fuse.h and
 * ribbon.h.
 *
 * Threads. A filter is created for one of three ways of sharing it (bly_sharing):
 *
 * - exclusive: one writer, or many readers.
 *
 * - shared: any number of threads add and query at once. Adds are lock-free, queries wait-free. A
 *   key whose add has returned (and is known to have: through a lock, a join, a release/acquire
 *   pair) is never missed. When several threads add the same new key at once, at least one is told
 *   "new", perhaps several.
 *
 * - shared-once: as shared, but exactly one of them is told "new". Adds of keys that fall to the
 *   same one of 4096 locks wait for each other.
 *
 * Only adds, queries, count and statistics (then approximate) may run beside adds. Everything that
 * takes a filter as a whole (clear, destroy, clone, write, save, fold, equal, overlap, and union
 * and intersect for both filters) needs it to hold still.
 */
#ifndef BLOOMERY_FILTER_H
#define BLOOMERY_FILTER_H

#include "base.h"
#include "hash.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bly_filter bly_filter;

typedef enum bly_sharing { BLY_EXCLUSIVE = 0, BLY_SHARED = 1, BLY_SHARED_ONCE = 2 } bly_sharing;

/* ---- create --------------------------------------------------------------------------------- */

/* What to create. Start from bly_spec_for, then change what you need. */
typedef struct bly_spec {
    bly_geometry geometry; /* kind always; size and hashes 0: planned from capacity and fpr; else
                              exact, and hashes too must be set */
    uint64_t capacity;     /* distinct keys expected; with an exact geometry it may be 0 */
    double fpr;            /* rate wanted; with an exact geometry it may be 0 */
    uint64_t seed;         /* of the default hasher */
    bly_hasher hasher;     /* id BLY_HASH_NONE: bly_hasher_default(capacity, fpr, seed) */
    bly_sharing sharing;
    bool allow_weak_hash;  /* accept a hash whose floor spoils the rate; stats tell the truth */
    double first_share;    /* scalable and scalable-cuckoo, see scalable.h; 0: the default */
    uint32_t growth;       /* scalable and scalable-cuckoo, see scalable.h; 0: 2 */
    uint64_t horizon;      /* growable-cuckoo only, see cuckoo.h; 0: the default */
    uint32_t generations;  /* window only, see window.h; 0: the default */
    uint64_t span;         /* window only, see window.h; 0: a window by number of arrivals */
    uint32_t counter_bits; /* counting, see counting.h; 0: 4 */
    uint64_t changes;      /* overlay only, see overlay.h; 0: the default */
    bly_kind marker;       /* overlay only, see overlay.h; BLY_KIND_NONE: the default */
    const bly_allocator *allocator;
} bly_spec;

BLY_API bly_spec bly_spec_for(bly_kind kind, uint64_t capacity, double fpr);

/* With an exact geometry and no capacity, the capacity becomes what the geometry holds at fpr
 * (or, when fpr too is 0, at half fill, and fpr the rate there). The caller owns *out until
 * bly_filter_destroy. All of bly_plan's and bly_plan_check's statuses, BLY_EIMPOSSIBLE (an exact
 * geometry too small for its capacity), BLY_EUNSUPPORTED (sharing a kind that cannot be),
 * BLY_EINVAL, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_filter_create(const bly_spec *spec, bly_filter **out);

/* An independent copy, in the same or another allocator (NULL: the default one). BLY_ENOMEM;
 * BLY_ECORRUPT: of a map that was not verified, and is damaged in a way that matters. */
BLY_CHECKED bly_status bly_filter_clone(const bly_filter *f, const bly_allocator *a,
                                        bly_filter **out);

BLY_API void bly_filter_destroy(bly_filter *f); /* NULL does nothing */

/* A filter that was opened without its key, or its maker's own hash function
 * (BLY_OPEN_WITHOUT_KEY), gets it, and can then be used like any other. One that has it stays as it
 * is. BLY_EKEY: not the right one. */
BLY_CHECKED bly_status bly_filter_give_key(bly_filter *f, const bly_hasher *hasher);

/* ---- use ------------------------------------------------------------------------------------ */

/* *added (may be NULL): the key was not in the filter before. A filter opened without its key
 * (BLY_OPEN_WITHOUT_KEY) answers BLY_EKEY. A kind that grows may answer BLY_ENOMEM, BLY_ETOOBIG,
 * BLY_EFULL or, if it was loaded, BLY_EGROWTH (bly_filter_limit_growth) to a new key, here and in
 * the calls below, cuckoo, multilayer and hybrid filters to any (their headers say when), and a
 * kind that is built BLY_EUNSUPPORTED to all; the others never fail. */
BLY_CHECKED bly_status bly_filter_add(bly_filter *f, const void *key, size_t len, bool *added);

/* false: the key was surely never added, or was removed, or, of a kind that forgets, is forgotten.
 * (A filter opened without its key cannot know, and so always says true.) */
BLY_API bool bly_filter_contains(const bly_filter *f, const void *key, size_t len);

/* Batches: the same answers as single calls in order, several times faster: hashing, fetching
 * and testing overlap. `added` / `found` receive one 0/1 byte per key, or are NULL. */
typedef struct bly_tally {
    size_t done;  /* keys dealt with; the first key that failed is keys[done] */
    size_t fresh; /* how many of them were new */
} bly_tally;
BLY_CHECKED bly_status bly_filter_add_many(bly_filter *f, const bly_bytes *keys, size_t n,
                                           uint8_t *added, bly_tally *tally /* may be NULL */);
/* Returns how many answers are 1. */
BLY_API size_t bly_filter_contains_many(const bly_filter *f, const bly_bytes *keys, size_t n,
                                        uint8_t *found);

/* The same for keys already hashed with this filter's hasher (one hash can serve many filters).
 * That they were is the caller's word: these work on a filter opened without its hasher too. */
BLY_CHECKED bly_status bly_filter_add_hash(bly_filter *f, bly_hash h, bool *added);
BLY_API bool bly_filter_contains_hash(const bly_filter *f, bly_hash h);
BLY_CHECKED bly_status bly_filter_add_hashes(bly_filter *f, const bly_hash *h, size_t n,
                                             uint8_t *added, bly_tally *tally);
BLY_API size_t bly_filter_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                          uint8_t *found);

/* Takes a key out again. *removed (may be NULL): it was there. For the kinds that can
 * (BLY_CAN_REMOVE); the others answer BLY_EUNSUPPORTED. BLY_EKEY for a filter opened without its
 * key.
 *
 * In such a kind every add stores a copy of the key, whether or not it was there, and a remove
 * takes one copy out. Only remove what was added: a key that never was looks present at the
 * filter's rate, and taking it out then takes out another one's copy, which will be missed. For the
 * same reason do not skip an add because the key seems to be there. (An overlay is different in all
 * of this: overlay.h.) BLY_ENOMEM, BLY_EFULL of some kinds: nothing has changed. */
BLY_CHECKED bly_status bly_filter_remove(bly_filter *f, const void *key, size_t len, bool *removed);
BLY_CHECKED bly_status bly_filter_remove_hash(bly_filter *f, bly_hash h, bool *removed);
/* A batch, in order; removed[i] (when not NULL) = 1 if keys[i] was there. */
BLY_CHECKED bly_status bly_filter_remove_many(bly_filter *f, const bly_bytes *keys, size_t n,
                                              uint8_t *removed, bly_tally *tally);

/* How many copies of the key there seem to be: never fewer than were added and not removed, but for
 * counters that have a limit (counting.h, layered.h, multilayer.h: it then means so many or more)
 * and those that are estimates (sketch.h). 0 or 1 for a kind without BLY_TELLS_COPIES; 1 from a
 * filter opened without its key, which cannot know. */
BLY_API uint64_t bly_filter_copies(const bly_filter *f, const void *key, size_t len);
BLY_API uint64_t bly_filter_copies_hash(const bly_filter *f, bly_hash h);

/* Forgets every key; shape, hash and rate stay. A scalable or scalable-cuckoo filter that has grown
 * shrinks to its first level; growable-cuckoo, multilayer and hybrid keep the room they have come
 * to, and a window its clock. A filter that was built becomes an empty one. Of an overlay see
 * overlay.h. */
BLY_API void bly_filter_clear(bly_filter *f);

/* ---- look ----------------------------------------------------------------------------------- */

/* What a kind can do. */
enum {
    BLY_CAN_ADD = 1u << 0,
    BLY_CAN_SHARE = 1u << 1, /* bly_sharing other than exclusive */
    BLY_CAN_UNION = 1u << 2,
    BLY_CAN_INTERSECT = 1u << 3, /* result is marked approximate */
    BLY_CAN_FOLD = 1u << 4,
    BLY_CAN_OVERLAP = 1u << 5, /* cardinality and Jaccard estimates */
    BLY_CAN_MAP = 1u << 6,
    BLY_CAN_REMOVE = 1u << 7,
    BLY_CAN_SUBTRACT = 1u << 8,
    BLY_CAN_BUILD = 1u << 9,      /* made from all its keys at once: build.h; adds nothing later */
    BLY_FORGETS = 1u << 10,       /* keys leave by themselves */
    BLY_TELLS_COPIES = 1u << 12,  /* bly_filter_copies tells more than whether a key is there */
    BLY_ONLY_COUNTS = 1u << 13,   /* made to tell how many keys there are, not which: it answers
                                     "maybe" for many non-members */
    BLY_HAS_LEVELS = 1u << 14,    /* grows by opening one more level */
    BLY_HAS_SLOTS = 1u << 15,     /* every key takes a slot of its own: the filter can be full */
    BLY_LIMITS_COPIES = 1u << 16, /* has room for BLY_MAX_COPIES copies of a key */
    BLY_DETAIL_GROWS = 1u << 17   /* the detail of its geometry grows as counts outgrow their place:
                                     filters that were created alike may differ in it */
};
#define BLY_MAX_COPIES 8u
BLY_API uint32_t bly_kind_capabilities(bly_kind kind); /* 0 for an unknown kind */

BLY_API bly_geometry bly_filter_geometry(const bly_filter *f);
/* NULL for a filter opened without its hasher (BLY_OPEN_WITHOUT_KEY). */
BLY_API const bly_hasher *bly_filter_hasher(const bly_filter *f);
BLY_API bly_sharing bly_filter_sharing(const bly_filter *f);
BLY_API uint64_t bly_filter_capacity(const bly_filter *f); /* scalable: of its levels together */
BLY_API double bly_filter_fpr(const bly_filter *f);        /* the rate asked */
/* How many distinct keys a kind with BLY_HAS_SLOTS is sure to have room for, once it has grown as
 * far as it can; UINT64_MAX: there is no limit. */
BLY_API uint64_t bly_filter_max_keys(const bly_filter *f);

/* The filters that a scalable or scalable-cuckoo filter is made of, oldest first, lent to be looked
 * at. Any other filter is its own only level. NULL past the last; void once the filter grows,
 * shrinks or dies. */
BLY_API size_t bly_filter_levels(const bly_filter *f);
BLY_API const bly_filter *bly_filter_level(const bly_filter *f, size_t i);

/* What the keys of a filter are made from: a note in its header (docs/format.md, section 1) for the
 * programs that turn lines or records into keys. The filter itself takes any bytes as keys,
 * whatever the note says. Codes that are not listed do not exist, and a file that has one is
 * refused. */
typedef enum bly_key_rule {
    BLY_KEYS_UNRECORDED = 0, /* nothing is recorded: files written before there was a note, and
                                those of programs that do not set it */
    BLY_KEYS_LINE = 2,       /* lines that are not blank, without one carriage return at the end */
    BLY_KEYS_IP = 3,         /* of a list with a type: the forms of `bloomery build --type` */
    BLY_KEYS_DOMAIN = 4,
    BLY_KEYS_EMAIL = 5,
    BLY_KEYS_URL = 6,
    BLY_KEYS_PHONE = 7,
    BLY_KEYS_RECORD = 9,      /* as BLY_KEYS_LINE, blank lines included: `bloomery dedup --state` */
    BLY_KEYS_RECORD_URL = 10, /* the same in canonical form where it is a URL: --url */
    BLY_KEYS_RECORD_CRAWL = 11, /* --url=crawl */
    BLY_KEYS_OTHER = 12         /* parts or forms of records that no code describes */
} bly_key_rule;

/* A copy, a fold and an overlay over a filter have its rule. A union of two filters with keys has
 * the rule that both have, or, where they differ, none; so has an intersection. Setting it changes
 * no key. BLY_EINVAL: no such rule. */
BLY_API bly_key_rule bly_filter_key_rule(const bly_filter *f);
BLY_CHECKED bly_status bly_filter_set_key_rule(bly_filter *f, bly_key_rule rule);
BLY_API bool bly_key_rule_known(unsigned code); /* whether a code is one of the above */

/* Keys that were new when added: the distinct keys less the few (at most the rate) that looked
 * present. After a union or intersection, an estimate. Where keys can be removed, the copies there
 * are; of counts, all adds; of an hll, its estimate; of a window, the keys of its generations; of a
 * filter that was built, its distinct keys. */
BLY_API uint64_t bly_filter_count(const bly_filter *f);

/* Of a scalable filter: sums over its levels, and the rates of all of them together. */
typedef struct bly_stats {
    bly_kind kind;
    uint32_t hashes; /* scalable: levels */
    uint64_t size;   /* as in bly_geometry */
    uint64_t capacity;
    uint64_t count; /* bly_filter_count */
    uint64_t bits;  /* in all */
    uint64_t set_bits;
    uint64_t bytes;        /* of memory, without the handle itself */
    double fill;           /* set_bits / bits; of kinds that are more than bits, the share of
                              cells in use */
    double expected_fill;  /* after `count` keys, distinct ones, as estimated, where copies are
                              stored */
    double estimated_keys; /* distinct keys, judged by the bits; INFINITY when all are set */
    double target_fpr;     /* what was asked */
    double predicted_fpr;  /* by formula, for estimated_keys */
    double current_fpr;    /* of the bits as they stand */
    bool approximate;      /* an intersection: may hold more than the true intersection */
    uint64_t stuck;        /* counters that have reached their limit, and stay there */
    double miss_bound; /* of an overlay: the chance, at most, that a key that is in it is missed */
    const char *hash_name; /* as bly_hash_name */
} bly_stats;

/* One pass over the filter. */
BLY_API void bly_filter_stats(const bly_filter *f, bly_stats *out);

/* Several lines of text, as snprintf would write them: at most size-1 characters and a NUL, and
 * the length the whole text has. */
BLY_API size_t bly_stats_format(const bly_stats *s, char *buf, size_t size);

/* Same kind, geometry, hasher and seed or key: what union and the like demand. (Room that a filter
 * has grown by itself, of growable-cuckoo, multilayer and hybrid, may differ.) Scalable and
 * scalable-cuckoo: the same rate and growth, and as many levels as both have alike. */
BLY_CHECKED bly_status bly_filter_compatible(const bly_filter *a, const bly_filter *b);

/* Compatible, and the same bits (scalable: in the same number of levels; where the same keys may
 * lie in different places, as in cuckoo, multilayer and hybrid: the same contents). */
BLY_API bool bly_filter_equal(const bly_filter *a, const bly_filter *b);

/* ---- combine -------------------------------------------------------------------------------- */

/* dst becomes the filter of both sets' keys, bit for bit. Scalable: level by level, and with the
 * levels that only src has; a level may then hold more keys than it was made for, and statistics
 * tell the rate that gives. Kinds that remove or count: with the copies of both. Window: generation
 * by generation, when both clocks stand alike. Scalable-cuckoo: the levels of both
 * (scalable_cuckoo.h). BLY_EMISMATCH, BLY_EUNSUPPORTED, BLY_ENOMEM (scalable, cuckoo, multilayer,
 * hybrid), BLY_EFULL (cuckoo, hybrid), BLY_ECORRUPT (scalable-cuckoo: src is a map that was not
 * verified, and is damaged): dst is as it was. */
BLY_CHECKED bly_status bly_filter_union(bly_filter *dst, const bly_filter *src);

/* dst keeps every key that is in both, and may keep others: at most as many as either filter
 * alone would, but more than a filter built from the true intersection. Marked approximate.
 * BLY_EMISMATCH, BLY_EUNSUPPORTED, BLY_ENOMEM (multilayer). */
BLY_CHECKED bly_status bly_filter_intersect(bly_filter *dst, const bly_filter *src);

/* dst loses a copy of every key of src. Sound only where every key of src is in dst (as
 * bly_filter_remove is only for keys that were added); what of src is not found in dst is passed
 * over, where that can be told (not of counting: its header). BLY_ENOMEM (multilayer).
 * BLY_CAN_SUBTRACT; bits cannot be taken out of a filter whose keys share them, so all others
 * answer BLY_EUNSUPPORTED. */
BLY_CHECKED bly_status bly_filter_subtract(bly_filter *dst, const bly_filter *src);

/* The operations above, and why one of them is refused: "the seeds differ", "keys share bits in
 * this kind, so ...". NULL when it is not. */
typedef enum bly_operation {
    BLY_OP_UNION,
    BLY_OP_INTERSECT,
    BLY_OP_SUBTRACT,
    BLY_OP_OVERLAP
} bly_operation;
BLY_API const char *bly_filter_why_not(bly_operation op, const bly_filter *a, const bly_filter *b);

/* Estimates from two filters' bits; neither changes. */
typedef struct bly_overlap {
    double a, b, both, either; /* distinct keys in a, in b, in the intersection, in the union */
    double jaccard;            /* both / either; 1 for two empty filters. `either` is INFINITY when
                                  together they fill every bit; both and jaccard are then guesses
                                  from the bits they share. */
} bly_overlap;
BLY_CHECKED bly_status bly_filter_overlap(const bly_filter *a, const bly_filter *b,
                                          bly_overlap *out);

/* A new filter `divisor` times smaller, equal bit for bit to one built at that size from the same
 * keys. Its capacity is what the smaller size holds at the rate asked. The size must be divisible:
 * ask for BLY_FOLDABLE at creation. BLY_EGEOMETRY when it is not, or when too small a filter would
 * remain. */
BLY_CHECKED bly_status bly_filter_fold(const bly_filter *f, uint64_t divisor,
                                       const bly_allocator *a, bly_filter **out);

/* The largest power-of-two divisor that keeps the rate, for the keys in it now, at `fpr`. */
BLY_API uint64_t bly_filter_best_fold(const bly_filter *f, double fpr);

/* ---- bytes: docs/format.md ------------------------------------------------------------------- */

enum {
    BLY_OPEN_WITHOUT_KEY = 1u << 0, /* accept a keyed or custom filter without its hasher, or with
                                       another: it can
                                       be inspected and combined, and says "maybe" to every key */
    BLY_OPEN_VERIFY = 1u << 1       /* map: read and check the whole body too, as load does */
};

typedef struct bly_open_options {
    uint32_t flags;
    const bly_hasher *hasher;       /* for keyed and custom filters; NULL for the others */
    bly_sharing sharing;            /* load and parse; a map is read-only */
    const bly_allocator *allocator; /* NULL: the default one */
    uint64_t max_growth;            /* bly_filter_limit_growth; 0: the default */
} bly_open_options;

/* The most bytes that a filter may allocate at one step of growth: for the next level, or for the
 * table that replaces its own. An add that needs more answers BLY_EGROWTH, and changes nothing. 0:
 * 64 times what the filter takes at that moment, or 64 MiB if that is more; UINT64_MAX: no limit.
 *
 * A filter that was loaded or mapped has the limit of its bly_open_options, and a clone that of its
 * original; one that was created has none. How much a filter grows at a step is said in its file.
 * Without a limit a file of a kilobyte could make the first add allocate gigabytes. With the
 * default every further step needs keys that were really added, and a filter made with the default
 * first_share that grows by a factor of up to 32 at a step is never refused. Raise the limit for
 * files that you trust. */
BLY_API void bly_filter_limit_growth(bly_filter *f, uint64_t max_bytes);

/* Hand the bytes of the container, in order, to `sink`, in pieces of at most 1 MiB. A sink that
 * returns anything but BLY_OK stops the writing; that status is returned. */
typedef bly_status (*bly_sink)(void *ctx, const void *data, size_t size);
BLY_CHECKED bly_status bly_filter_write(const bly_filter *f, bly_sink sink, void *ctx);
BLY_API uint64_t bly_filter_file_size(const bly_filter *f); /* how many bytes that will be */

/* From `size` bytes in memory, copied. options may be NULL in all of these. Every field and the
 * checksums are checked, and nothing larger than the data (rounded up to pages) is allocated.
 * BLY_ECORRUPT, BLY_EVERSION, BLY_EKIND, BLY_EUNSUPPORTED (a kind that was removed, see plan.h),
 * BLY_EHASHER, BLY_EKEY, BLY_ENOMEM, BLY_EINVAL (unknown flags). */
BLY_CHECKED bly_status bly_filter_parse(const void *data, size_t size,
                                        const bly_open_options *options, bly_filter **out);

/* To a file, atomically: a temporary file beside it, fsync, rename. After a crash at any moment
 * the path holds the old file or the new one, whole. Links are followed, but not those of others in
 * a directory like /tmp. The old file's owner, group and permissions are kept as far as the system
 * allows. Temporary files that killed processes of the same user left beside the path are removed
 * after ten minutes. file.h has these rules in full.
 * The filter must not be changed meanwhile. BLY_ECHANGED: it was, and the file is as it was.
 * BLY_ENOMEM. BLY_EIO; when only flushing the directory failed, the new file is in place all the
 * same. */
BLY_CHECKED bly_status bly_filter_save(const bly_filter *f, const char *path);

/* From a regular file. As bly_filter_parse, and BLY_EIO. */
BLY_CHECKED bly_status bly_filter_load(const char *path, const bly_open_options *options,
                                       bly_filter **out);

/* A file used in place: opened in microseconds whatever its size, shared between processes,
 * read-only by type. The header is checked (it has a checksum of its own); the body only with
 * BLY_OPEN_VERIFY, but no body, however damaged, makes a query misbehave. The file must not be
 * shortened while mapped: replace it by bly_filter_save, which leaves the mapped one alone. */
typedef struct bly_map bly_map;
BLY_CHECKED bly_status bly_map_open(const char *path, const bly_open_options *options,
                                    bly_map **out);
BLY_API const bly_filter *bly_map_filter(const bly_map *map); /* borrowed until close */
BLY_API void bly_map_close(bly_map *map);                     /* NULL does nothing */

/* A file's description from its header alone (64 bytes read and checked). */
typedef struct bly_file_info {
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
BLY_CHECKED bly_status bly_file_info_parse(const void *data, size_t size, bly_file_info *out);
/* The same from a regular file, whose length must fit too. As bly_filter_load's statuses. */
BLY_CHECKED bly_status bly_file_info_load(const char *path, bly_file_info *out);

#ifdef __cplusplus
}
#endif
#endif
