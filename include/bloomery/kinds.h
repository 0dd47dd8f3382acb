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

/* The kinds of filter, with their names. The values are the codes in files; they never change.
 * Codes 8 and 20 are reserved: they were the kinds "stable" and "blocked-counting" of versions
 * before 0.2, whose files are refused with BLY_EUNSUPPORTED (use "window" and "layered"). */
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

/* Returns the kind with the next higher code: an iteration over all kinds starts after
 * BLY_KIND_NONE and ends with it. */
BLY_API bly_kind bly_kind_next(bly_kind kind);

/* What a kind can do: the bits of bly_kind_capabilities. */
enum {
    BLY_CAN_ADD = 1u << 0,           /* add keys one by one */
    BLY_CAN_SHARE = 1u << 1,         /* bly_sharing other than exclusive */
    BLY_CAN_UNION = 1u << 2,         /* bly_filter_union */
    BLY_CAN_INTERSECT = 1u << 3,     /* bly_filter_intersect; the result is marked approximate */
    BLY_CAN_FOLD = 1u << 4,          /* bly_filter_fold */
    BLY_CAN_OVERLAP = 1u << 5,       /* bly_filter_overlap */
    BLY_CAN_MAP = 1u << 6,           /* bly_map_open */
    BLY_CAN_REMOVE = 1u << 7,        /* bly_filter_remove */
    BLY_CAN_SUBTRACT = 1u << 8,      /* bly_filter_subtract */
    BLY_CAN_BUILD = 1u << 9,         /* built from all keys at once (build.h); no adds later */
    BLY_FORGETS = 1u << 10,          /* old keys are removed automatically */
    BLY_CAN_COUNT = 1u << 12,        /* bly_filter_copies may return more than 1 */
    BLY_CARDINALITY_ONLY = 1u << 13, /* only the number of distinct keys is useful: lookups
                                        answer "maybe" for most non-members */
    BLY_HAS_LEVELS = 1u << 14,       /* grows by adding a level */
    BLY_HAS_SLOTS = 1u << 15,        /* every key occupies a slot: the filter can be full */
    BLY_LIMITS_COPIES = 1u << 16,    /* stores at most BLY_MAX_COPIES copies of a key */
    BLY_DETAIL_GROWS = 1u << 17      /* bly_geometry.detail grows with the counts: filters that were
                                        created alike may differ in it */
};

/* The number of copies of a key that a kind with BLY_LIMITS_COPIES stores at most. */
#define BLY_MAX_COPIES 8u

/* Returns what a kind can do, as a set of the bits above; 0 for an unknown kind. */
BLY_API uint32_t bly_kind_capabilities(bly_kind kind);

/* A description of a kind, in static strings. */
typedef struct bly_kind_info {
    size_t struct_size;
    const char *name;
    const char *article; /* of the name: "a" or "an" */
    const char *meaning; /* one line without a full stop: how the kind works */
    const char *hashes;  /* what bly_geometry.hashes means for it: "bits per key" */
    uint32_t capabilities;
} bly_kind_info;

/* Describes a kind. Errors: BLY_EKIND, BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_kind_get_info(bly_kind kind, bly_kind_info *out);

/* ---- options of single kinds, in bly_spec --------------------------------------------------- */

/* Options of scalable and scalable-cuckoo (docs/kinds/scalable.md). */
typedef struct bly_scalable_options {
    double first_share; /* share of the rate that the first level gets, above 0 and below 1. 0:
                           0.15, for a capacity that may be exceeded by far; 0.8 suits a known
                           number of keys */
    uint32_t growth;    /* capacity of a new level as a multiple of the last one's, at most 32768.
                           0: 2. scalable-cuckoo rounds it up to a power of two */
} bly_scalable_options;

/* Options of growable-cuckoo (docs/kinds/cuckoo.md). */
typedef struct bly_cuckoo_options {
    uint64_t horizon; /* the number of keys that it may grow to: 1 to 2^24 times the capacity.
                         0: 1024 times, or less where that is not possible */
} bly_cuckoo_options;

/* Options of window (docs/kinds/window.md). */
typedef struct bly_window_options {
    uint64_t span;        /* ticks for which a key is remembered (bly_window_advance). 0: the window
                             is measured in adds, and contains the last `capacity` of them */
    uint32_t generations; /* 1 .. 32; 0: 8. With more, keys are forgotten more precisely */
} bly_window_options;

/* Options of counting (docs/kinds/counting.md). */
typedef struct bly_counting_options {
    uint32_t counter_bits; /* 2, 4, 8 or 16; 0: 4 */
} bly_counting_options;

/* Options of overlay (docs/kinds/overlay.md). */
typedef struct bly_overlay_options {
    uint64_t changes; /* expected number of removed keys, and of added keys. 0: a twentieth of
                         the base's capacity, at least 64 */
    bly_kind marker;  /* how removed keys are stored. BLY_KIND_NONE, BLY_CUCKOO: as fingerprints.
                         BLY_CLASSIC: in a Bloom filter, smaller, but 0.1% of the other keys are
                         missed */
} bly_overlay_options;

/* ---- counting ------------------------------------------------------------------------------- */

/* Creates a classic filter with one bit for every counter that is not 0. It equals, bit for bit, a
 * classic filter of the same size and k to which the same keys were added. A stuck counter counts
 * as a key. Its bly_filter_count is estimated from the bits. f may be mapped; `a` may be NULL.
 * Errors: BLY_EUNSUPPORTED (f is of another kind), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_counting_bits(const bly_filter *f, const bly_allocator *a,
                                         bly_filter **out);

/* ---- layered -------------------------------------------------------------------------------- */

/* Creates a view of the front of a layered filter: an sbbf filter in f's own memory, which shows at
 * once what is added to f and removed from it. f may be mapped. Destroy the view with
 * bly_filter_destroy, before f.
 *
 * It cannot be changed, but saved, folded, compared, cloned (to an ordinary sbbf filter), and be
 * the source of a union. Its bly_filter_count is an estimate made by this call: call again before
 * each save.
 *
 * Any number of threads may look keys up in the view while one thread adds to f and removes from
 * it. docs/kinds/counting.md says more.
 * Errors: BLY_EUNSUPPORTED (f is of another kind), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_layered_front(const bly_filter *f, bly_filter **out);

/* ---- scalable-cuckoo ------------------------------------------------------------------------ */

/* Shrinks a filter from which many keys were removed: moves the entries of the newest level into
 * free slots of older levels if all of them fit, frees the level, and continues with the next
 * (docs/kinds/cuckoo.md).
 *
 * A call visits at most `slots` slots (0: all). *cursor is 0 at first, and 0 again when nothing is
 * left to do. *moved (may be NULL) is the number of entries that this call has moved.
 * Errors: BLY_EUNSUPPORTED (f is of another kind). */
BLY_CHECKED bly_status bly_scalable_cuckoo_compact(bly_filter *f, uint64_t slots, uint64_t *cursor,
                                                   uint64_t *moved);

/* ---- window --------------------------------------------------------------------------------- */

/* Sets the clock of a window with a span to `now`, and forgets keys that are too old by then. A
 * tick is whatever the caller counts; the library reads no clock. The first call sets the clock,
 * and keys added before it count as added then. Windows of the same span drop their generations
 * together. docs/kinds/window.md says what a call costs. Errors: BLY_EINVAL (`now` is before the
 * clock: nothing changes; a caller whose clock may be set back can ignore it), BLY_EUNSUPPORTED (a
 * window measured in adds), BLY_EKIND (f is of another kind). */
BLY_CHECKED bly_status bly_window_advance(bly_filter *f, uint64_t now);

/* The age of a key that is not in the window. */
#define BLY_WINDOW_ABSENT UINT64_MAX

/* Find how long ago a key was last added. *age is an upper bound, in adds (the key is among the
 * last *age of them) or in ticks; BLY_WINDOW_ABSENT if the key is not in the window. A false
 * positive in a newer generation makes a key look younger, at the window's false-positive rate.
 * Errors: BLY_EKEY (f was opened without its key), BLY_EKIND (f is of another kind). */
BLY_CHECKED bly_status bly_window_age(const bly_filter *f, const void *key, size_t len,
                                      uint64_t *age);
BLY_CHECKED bly_status bly_window_age_hash(const bly_filter *f, bly_hash h, uint64_t *age);

/* The state of a window. */
typedef struct bly_window_info {
    size_t struct_size;
    uint32_t generations;     /* kept, besides the one being filled */
    uint64_t generation_keys; /* capacity of a generation; in a window measured in adds, its adds */
    uint64_t active_keys;     /* keys in the one being filled */
    uint64_t ordinal;         /* number of that generation; with a span, of its slice */
    uint64_t span;            /* ticks. In a window measured in adds span, slice and now are 0 */
    uint64_t slice;           /* ticks of a generation */
    uint64_t now;             /* the clock; 0 until it is first set */
    uint64_t active_arrivals; /* adds in the generation being filled; 0 with a span */
    uint64_t arrivals;        /* adds in all generations; 0 with a span */
} bly_window_info;

/* Describes the state of a window.
 * Errors: BLY_EINVAL (struct_size), BLY_EKIND (f is of another kind). */
BLY_CHECKED bly_status bly_window_get_info(const bly_filter *f, bly_window_info *out);

/* ---- overlay -------------------------------------------------------------------------------- */

/* Creates an overlay over `base`, which is borrowed: it must outlive the overlay and must not be
 * changed meanwhile. (bly_filter_create creates an overlay that owns its base.) `options` and `a`
 * may be NULL. Errors: BLY_EKIND (a base that is an overlay or an hll), BLY_EINVAL (marker),
 * BLY_ETOOBIG, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_overlay_over(const bly_filter *base, const bly_overlay_options *options,
                                        const bly_allocator *a, bly_filter **out);

/* The changes that an overlay holds. */
typedef struct bly_overlay_info {
    size_t struct_size;
    uint64_t deleted;  /* keys recorded as removed */
    uint64_t added;    /* keys stored beside the base. Build a new base when deleted + added is more
                          than a fifth of bly_filter_count */
    double miss_bound; /* upper bound of the probability that a member is missed */
} bly_overlay_info;

/* Describes the changes that an overlay holds. With a Bloom marker this reads the whole marker
 * filter. Errors: BLY_EKIND (f is of another kind), BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_overlay_get_info(const bly_filter *f, bly_overlay_info *out);
/* Returns the base of an overlay, borrowed; NULL for a filter of another kind. */
BLY_API const bly_filter *bly_overlay_base(const bly_filter *f);

/* ---- counts, and the most frequent keys ----------------------------------------------------- */

/* Halves every count in one pass over the sketch, so that new frequent keys replace old ones. Exact
 * counts are rounded down (a key that was added once is forgotten), others are halved on average.
 * bly_filter_count grows by one. Errors: BLY_EUNSUPPORTED (f is of another kind). */
BLY_CHECKED bly_status bly_counts_age(bly_filter *f);

/* A list of the n keys with the highest counts among those offered. It copies their bytes. */
typedef struct bly_top bly_top;

/* An entry of a bly_top. */
typedef struct bly_top_entry {
    bly_bytes key; /* borrowed */
    uint64_t count;
} bly_top_entry;

/* Creates a list of up to n keys. Entries are found by a hash without a secret: an attacker who
 * chooses the keys can make an offer take time in proportion to n. The caller destroys *out with
 * bly_top_destroy. Errors: BLY_EINVAL (n is 0), BLY_ENOMEM (also for n above 2^28). */
BLY_CHECKED bly_status bly_top_create(size_t n, const bly_allocator *a, bly_top **out);
/* Destroys a list. NULL does nothing. */
BLY_API void bly_top_destroy(bly_top *t);

/* Offers a key that has been added `count` times by now, as bly_filter_copies of a sketch returns
 * it. A key in the list gets that count, whether higher or (after bly_counts_age) lower; 0 removes
 * it. Another key is added if there is room, or replaces the key with the lowest count if its own
 * is higher. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_top_offer(bly_top *t, const void *key, size_t len, uint64_t count);

/* Stores the address of the entries: highest count first, equal counts in the order of their bytes.
 * They are valid until the next offer, list or destroy. Returns the number of entries. */
BLY_API size_t bly_top_list(bly_top *t, const bly_top_entry **out);

/* ---- hll ------------------------------------------------------------------------------------ */

/* Returns the estimated number of distinct keys; NAN for another kind, INFINITY for a damaged map
 * in which all registers have their maximum. */
BLY_API double bly_hll_estimate(const bly_filter *f);
/* Returns the relative standard error of bly_hll_estimate; NAN for another kind. */
BLY_API double bly_hll_error(const bly_filter *f);

#ifdef __cplusplus
}
#endif
#endif
