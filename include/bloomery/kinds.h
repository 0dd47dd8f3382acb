/* kinds.h - the kinds of filter: their names, what they can do, and the options and functions of
 * single kinds. docs/kinds/README.md describes every kind: what it guarantees, what it costs, when
 * to choose it.
 *
 *   sbbf, split512, bb2x512   blocked Bloom filters: one or two cache lines per key. bly_filter_new
 *                             creates one of these.
 *   classic, partitioned      Bloom filters of any size in bits
 *   scalable                  grows while keys are added
 *   cuckoo, growable-cuckoo, scalable-cuckoo        keys can be removed; the last two grow
 *   counting, multilayer, layered, hybrid           keys can be removed, and copies are counted
 *   window                    contains the last N keys, or those of the last T ticks
 *   fuse, ribbon              built from all keys at once (build.h); the smallest
 *   overlay                   changes to a filter that cannot be changed itself
 *   counts, hll               sketches: how often each key was added; how many distinct keys
 */
#ifndef BLOOMERY_KINDS_H
#define BLOOMERY_KINDS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of filter, and their names in quotes. The values are the codes in files; they never
 * change. Codes 8 and 20 are reserved: they were the kinds "stable" and "blocked-counting" of
 * versions before 0.2, whose files are refused with BLY_EUNSUPPORTED (use "window" and
 * "layered"). */
typedef enum bly_kind {
    BLY_KIND_NONE = 0,
    BLY_CLASSIC = 1,          /* "classic" */
    BLY_PARTITIONED = 2,      /* "partitioned" */
    BLY_SBBF = 3,             /* "sbbf" */
    BLY_SPLIT512 = 4,         /* "split512" */
    BLY_BB2X512 = 5,          /* "bb2x512" */
    BLY_SCALABLE = 6,         /* "scalable" */
    BLY_WINDOW = 7,           /* "window" */
    BLY_COUNTING = 9,         /* "counting" */
    BLY_MULTILAYER = 10,      /* "multilayer" */
    BLY_LAYERED = 11,         /* "layered" */
    BLY_OVERLAY = 12,         /* "overlay" */
    BLY_HYBRID = 13,          /* "hybrid" */
    BLY_CUCKOO = 14,          /* "cuckoo" */
    BLY_FUSE = 15,            /* "fuse" */
    BLY_RIBBON = 16,          /* "ribbon" */
    BLY_COUNTS = 17,          /* "counts" */
    BLY_HLL = 18,             /* "hll" */
    BLY_GROWABLE_CUCKOO = 19, /* "growable-cuckoo" */
    BLY_SCALABLE_CUCKOO = 21  /* "scalable-cuckoo" */
} bly_kind;

/* Returns the name of a kind, or NULL for an unknown code. */
BLY_API const char *bly_kind_name(bly_kind kind);
/* Finds a kind by its name. Errors: BLY_EKIND (no such name). */
BLY_CHECKED bly_status bly_kind_by_name(const char *name, bly_kind *out);

/* Returns the kind with the next higher code; BLY_KIND_NONE after the last one. BLY_KIND_NONE as
 * the argument gives the first kind. */
BLY_API bly_kind bly_kind_next(bly_kind kind);

/* What a kind can do: the bits of bly_kind_capabilities. */
enum {
    BLY_CAN_ADD = 1u << 0,           /* supports bly_filter_add: keys can be added one by one */
    BLY_CAN_SHARE = 1u << 1,         /* supports BLY_SHARED and BLY_SHARED_ONCE */
    BLY_CAN_UNION = 1u << 2,         /* supports bly_filter_union */
    BLY_CAN_INTERSECT = 1u << 3,     /* supports bly_filter_intersect */
    BLY_CAN_FOLD = 1u << 4,          /* supports bly_filter_fold */
    BLY_CAN_OVERLAP = 1u << 5,       /* supports bly_filter_overlap */
    BLY_CAN_MAP = 1u << 6,           /* supports bly_map_open */
    BLY_CAN_REMOVE = 1u << 7,        /* supports bly_filter_remove */
    BLY_CAN_SUBTRACT = 1u << 8,      /* supports bly_filter_subtract */
    BLY_CAN_BUILD = 1u << 9,         /* built from all keys at once (build.h); no adds later */
    BLY_FORGETS = 1u << 10,          /* removes old keys automatically */
    BLY_CAN_COUNT = 1u << 12,        /* bly_filter_copies may return more than 1 */
    BLY_CARDINALITY_ONLY = 1u << 13, /* only the number of distinct keys is useful: lookups
                                        answer "maybe" for most non-members */
    BLY_HAS_LEVELS = 1u << 14,       /* consists of levels, and grows by adding one */
    BLY_HAS_SLOTS = 1u << 15,     /* stores every key in a slot, and is full when no slot is free */
    BLY_LIMITS_COPIES = 1u << 16, /* stores at most BLY_MAX_COPIES copies of a key
                                     (scalable-cuckoo: in each level) */
    BLY_DETAIL_GROWS = 1u << 17   /* bly_geometry.detail changes when counts grow: it may differ
                                     between filters that were created with the same spec */
};

/* The maximum number of copies of a key that a kind with BLY_LIMITS_COPIES stores. */
#define BLY_MAX_COPIES 8u

/* Returns what a kind can do, as a set of the bits above; 0 for an unknown kind. */
BLY_API uint32_t bly_kind_capabilities(bly_kind kind);

/* A description of a kind, in static strings. */
typedef struct bly_kind_info {
    size_t struct_size;
    const char *name;
    const char *article; /* the indefinite article of the name: "a" or "an" */
    const char *meaning; /* how the kind works: one line without a full stop */
    const char *hashes;  /* unit of bly_geometry.hashes, such as "bits per key" */
    uint32_t capabilities;
} bly_kind_info;

/* Describes a kind. Errors: BLY_EKIND, BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_kind_get_info(bly_kind kind, bly_kind_info *out);

/* ---- options of single kinds, in bly_spec --------------------------------------------------- */

/* Options of scalable and scalable-cuckoo (docs/kinds/scalable.md). */
typedef struct bly_scalable_options {
    double first_share; /* share of the false-positive rate that the first level gets, above 0 and
                           below 1. 0 selects 0.15, which suits filters that may grow far beyond
                           their capacity. Use 0.8 if the number of keys is known */
    uint32_t growth; /* capacity of a new level, as a multiple of the previous one's, at most 32768.
                        0 selects 2. scalable-cuckoo rounds it up to a power of two */
} bly_scalable_options;

/* Options of growable-cuckoo (docs/kinds/cuckoo.md). */
typedef struct bly_cuckoo_options {
    uint64_t horizon; /* maximum number of keys that the filter can grow to: 1 to 2^24 times the
                         capacity. 0 selects 1024 times the capacity, or the largest factor below
                         that is possible */
} bly_cuckoo_options;

/* Options of window (docs/kinds/window.md). */
typedef struct bly_window_options {
    uint64_t span; /* time for which a key is remembered, in ticks of bly_window_advance. 0: the
                      window is measured in adds, and contains the keys of the last `capacity`
                      adds */
    uint32_t generations; /* 1 to 32; 0 selects 8. With more generations, keys are forgotten closer
                             to the exact time */
} bly_window_options;

/* Options of counting (docs/kinds/counting.md). */
typedef struct bly_counting_options {
    uint32_t counter_bits; /* width of a counter: 2, 4, 8 or 16; 0 selects 4 */
} bly_counting_options;

/* Options of overlay (docs/kinds/overlay.md). */
typedef struct bly_overlay_options {
    uint64_t changes; /* expected number of removed keys, and also of added keys. 0 selects a
                         twentieth of the base's capacity, but at least 64 */
    bly_kind marker;  /* how removed keys are stored. BLY_KIND_NONE or BLY_CUCKOO: as fingerprints.
                         BLY_CLASSIC: in a Bloom filter, which is smaller; but its false positives,
                         0.1% of the members that were not removed, are missed */
} bly_overlay_options;

/* ---- counting ------------------------------------------------------------------------------- */

/* Creates a classic filter with one bit for every counter that is not 0. It has the same bits as a
 * classic filter of the same size and k to which the same keys were added. (The bit of a counter
 * that is stuck at its limit is set.) bly_filter_count of the result is estimated from its bits. f
 * may be mapped; `a` may be NULL.
 * Errors: BLY_EUNSUPPORTED (f is of another kind), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_counting_bits(const bly_filter *f, const bly_allocator *a,
                                         bly_filter **out);

/* ---- layered -------------------------------------------------------------------------------- */

/* Creates a view of the front of a layered filter, that is, of its sbbf part. The view uses f's
 * memory, so keys that are added to f or removed from it appear or disappear in the view at once. f
 * may be mapped. Destroy the view with bly_filter_destroy before you destroy f.
 *
 * The view cannot be changed. It can be saved, folded, compared, cloned (to an ordinary sbbf
 * filter), and be the source of a union. Its bly_filter_count is an estimate that this call makes
 * once: create a new view before each save.
 *
 * Any number of threads may look keys up in the view while one thread adds to f and removes from
 * it. docs/kinds/counting.md says more.
 * Errors: BLY_EUNSUPPORTED (f is of another kind), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_layered_front(const bly_filter *f, bly_filter **out);

/* ---- scalable-cuckoo ------------------------------------------------------------------------ */

/* Shrinks a filter from which many keys were removed. If all entries of the newest level fit into
 * free slots of older levels, they are moved there, and the level is freed. Then the same is tried
 * with the next newest level (docs/kinds/cuckoo.md).
 *
 * A call visits at most `slots` slots (0: all). Set *cursor to 0 before the first call, and repeat
 * the call until *cursor is 0 again: then nothing is left to do. *moved (may be NULL) becomes the
 * number of entries that this call has moved.
 * Errors: BLY_EUNSUPPORTED (f is of another kind). */
BLY_CHECKED bly_status bly_scalable_cuckoo_compact(bly_filter *f, uint64_t slots, uint64_t *cursor,
                                                   uint64_t *moved);

/* ---- window --------------------------------------------------------------------------------- */

/* Sets the clock of a window with a span to `now`, and removes keys that are then too old. The
 * caller chooses what a tick is; the library reads no clock. Keys that were added before the first
 * call count as added at the time of that call. Windows with the same span drop their generations
 * at the same ticks. docs/kinds/window.md says what a call costs. Errors: BLY_EINVAL (`now` is
 * before the window's clock: nothing changes; ignore this error if your clock may be set back),
 * BLY_EUNSUPPORTED (a window measured in adds), BLY_EKIND (f is of another kind). */
BLY_CHECKED bly_status bly_window_advance(bly_filter *f, uint64_t now);

/* The age that bly_window_age stores for a key that is not in the window. */
#define BLY_WINDOW_ABSENT UINT64_MAX

/* Finds how long ago a key was last added. *age is an upper bound, in adds (the key is among the
 * last *age of them) or in ticks; BLY_WINDOW_ABSENT if the key is not in the window. A false
 * positive in a newer generation makes a key look younger, at the window's false-positive rate.
 * Errors: BLY_EKEY (f was opened without its key), BLY_EKIND (f is of another kind). */
BLY_CHECKED bly_status bly_window_age(const bly_filter *f, const void *key, size_t len,
                                      uint64_t *age);
/* Finds how long ago a key was last added, by the key's hash.
 * Errors: BLY_EKIND (f is of another kind). */
BLY_CHECKED bly_status bly_window_age_hash(const bly_filter *f, bly_hash h, uint64_t *age);

/* The state of a window. */
typedef struct bly_window_info {
    size_t struct_size;
    uint32_t generations; /* number of generations that are kept, besides the one being filled */
    uint64_t generation_keys; /* capacity of a generation; in a window measured in adds, the number
                                 of adds per generation */
    uint64_t active_keys;     /* number of keys in the generation being filled */
    uint64_t ordinal; /* serial number of the generation being filled; in a window with a span, of
                         its slice of time */
    uint64_t span;    /* in ticks. In a window measured in adds, span, slice and now are 0 */
    uint64_t slice;   /* number of ticks that a generation covers */
    uint64_t now;     /* the clock; 0 until it is first set */
    uint64_t active_arrivals; /* number of adds in the generation being filled; 0 in a window with a
                                 span */
    uint64_t arrivals;        /* number of adds in all generations; 0 in a window with a span */
} bly_window_info;

/* Describes the state of a window.
 * Errors: BLY_EINVAL (struct_size), BLY_EKIND (f is of another kind). */
BLY_CHECKED bly_status bly_window_get_info(const bly_filter *f, bly_window_info *out);

/* ---- overlay -------------------------------------------------------------------------------- */

/* Creates an overlay over `base`, which is borrowed: it must outlive the overlay, and must not be
 * changed as long as the overlay exists. (bly_filter_create creates an overlay that owns its base.)
 * `options` and `a` may be NULL. Errors: BLY_EKIND (a base that is an overlay or an hll),
 * BLY_EINVAL (marker), BLY_ETOOBIG, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_overlay_over(const bly_filter *base, const bly_overlay_options *options,
                                        const bly_allocator *a, bly_filter **out);

/* The changes that an overlay stores. */
typedef struct bly_overlay_info {
    size_t struct_size;
    uint64_t deleted; /* number of keys recorded as removed */
    uint64_t added; /* number of added keys, stored beside the base. Build a new base when deleted +
                       added exceeds a fifth of bly_filter_count */
    double miss_bound; /* upper bound of the probability that a member is missed */
} bly_overlay_info;

/* Describes the changes that an overlay stores. If removed keys are stored in a Bloom filter
 * (marker BLY_CLASSIC), the call reads all of it. Errors: BLY_EKIND (f is of another kind),
 * BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_overlay_get_info(const bly_filter *f, bly_overlay_info *out);
/* Returns the base of an overlay, borrowed; NULL for a filter of another kind. */
BLY_API const bly_filter *bly_overlay_base(const bly_filter *f);

/* ---- counts, and the most frequent keys ----------------------------------------------------- */

/* Halves every count in one pass over the sketch, so that the keys that are frequent now get higher
 * counts than those that were frequent earlier. Halves of exact counts are rounded down (a key that
 * was added once is forgotten); other counts are halved on average. bly_filter_count increases by
 * one. Errors: BLY_EUNSUPPORTED (f is of another kind). */
BLY_CHECKED bly_status bly_counts_age(bly_filter *f);

/* A list of the n keys with the highest counts, of those that were offered to it. It copies the
 * bytes of the keys. */
typedef struct bly_top bly_top;

/* An entry of a bly_top. */
typedef struct bly_top_entry {
    bly_bytes key; /* borrowed, valid as long as the entry */
    uint64_t count;
} bly_top_entry;

/* Creates a list of up to n keys. Entries are found by a hash without a secret key: an attacker who
 * chooses the keys can make each offer take time in proportion to n. The caller destroys *out with
 * bly_top_destroy. Errors: BLY_EINVAL (n is 0), BLY_ENOMEM (also for n above 2^28). */
BLY_CHECKED bly_status bly_top_create(size_t n, const bly_allocator *a, bly_top **out);
/* Destroys a list. NULL does nothing. */
BLY_API void bly_top_destroy(bly_top *t);

/* Offers a key to the list. `count` is how often the key has been added so far, for example the
 * result of bly_filter_copies. If the key is in the list, its count becomes `count`, even if that
 * is lower (after bly_counts_age); a count of 0 removes the key. A key that is not in the list is
 * added if there is room, or replaces the key with the lowest count if its own count is higher.
 * Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_top_offer(bly_top *t, const void *key, size_t len, uint64_t count);

/* Stores the address of the entries in *out. They are sorted by count, highest first, and keys with
 * equal counts by their bytes. They are valid until the next call of bly_top_offer, bly_top_list or
 * bly_top_destroy. Returns the number of entries. */
BLY_API size_t bly_top_list(bly_top *t, const bly_top_entry **out);

/* ---- hll ------------------------------------------------------------------------------------ */

/* Returns the estimated number of distinct keys; NAN if f is of another kind; INFINITY if f is a
 * damaged map in which all registers have their maximum. */
BLY_API double bly_hll_estimate(const bly_filter *f);
/* Returns the relative standard error of bly_hll_estimate; NAN for another kind. */
BLY_API double bly_hll_error(const bly_filter *f);

#ifdef __cplusplus
}
#endif
#endif
