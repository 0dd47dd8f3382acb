/* kinds.h - the kinds of filter: their names, what each can do, the options that a single kind has
 * (members of bly_spec, filter.h), and the calls that a single kind has. docs/kinds/ describes
 * every kind in full: what it guarantees, what it costs, when to choose it.
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

/* These are the codes in files; they never change. Codes of kinds to come are listed in
 * docs/format.md. The codes 8 and 20 are reserved and never used again: they were the kinds
 * "stable" and "blocked-counting", which versions before 0.2 wrote. Opening a file of such a kind
 * returns BLY_EUNSUPPORTED. "window" replaces the first, "layered" the second. */
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

/* NULL for a code that this version does not know. */
BLY_API const char *bly_kind_name(bly_kind kind);
/* BLY_EKIND when there is no such name. */
BLY_CHECKED bly_status bly_kind_by_name(const char *name, bly_kind *out);
/* The kinds of this version, in the order of their codes: returns the kind after `kind`. Starts
 * after BLY_KIND_NONE and ends with it. */
BLY_API bly_kind bly_kind_next(bly_kind kind);

/* What a kind can do. */
enum {
    BLY_CAN_ADD = 1u << 0,
    BLY_CAN_SHARE = 1u << 1, /* bly_sharing other than exclusive */
    BLY_CAN_UNION = 1u << 2,
    BLY_CAN_INTERSECT = 1u << 3, /* the result is marked approximate */
    BLY_CAN_FOLD = 1u << 4,
    BLY_CAN_OVERLAP = 1u << 5, /* estimates of cardinality and Jaccard index */
    BLY_CAN_MAP = 1u << 6,
    BLY_CAN_REMOVE = 1u << 7,
    BLY_CAN_SUBTRACT = 1u << 8,
    BLY_CAN_BUILD = 1u << 9,         /* built from all keys at once (build.h); no adds later */
    BLY_FORGETS = 1u << 10,          /* old keys are removed automatically */
    BLY_CAN_COUNT = 1u << 12,        /* bly_filter_copies may return more than 1 */
    BLY_CARDINALITY_ONLY = 1u << 13, /* for the number of distinct keys: answers "maybe" for most
                                        non-members */
    BLY_HAS_LEVELS = 1u << 14,       /* grows by opening one more level */
    BLY_HAS_SLOTS = 1u << 15,        /* every key occupies a slot: the filter can be full */
    BLY_LIMITS_COPIES = 1u << 16,    /* stores at most BLY_MAX_COPIES copies of a key */
    BLY_DETAIL_GROWS = 1u << 17      /* bly_geometry.detail grows with the counts: filters that were
                                        created alike may differ in it */
};
#define BLY_MAX_COPIES 8u
BLY_API uint32_t bly_kind_capabilities(bly_kind kind); /* 0 for an unknown kind */

/* A kind in words, which are static strings. */
typedef struct bly_kind_info {
    size_t struct_size;
    const char *name;
    const char *article; /* of the name: "a" or "an" */
    const char *meaning; /* one line without a full stop: how the kind works */
    const char *hashes;  /* what bly_geometry.hashes means for it: "bits per key" */
    uint32_t capabilities;
} bly_kind_info;
/* BLY_EKIND, BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_kind_get_info(bly_kind kind, bly_kind_info *out);

/* ---- options of single kinds, in bly_spec ---------------------------------------------------- */

/* scalable, scalable-cuckoo: docs/kinds/scalable.md */
typedef struct bly_scalable_options {
    double first_share; /* share of the rate that the first level gets, above 0 and below 1. 0:
                           0.15, for a capacity that is likely to be exceeded by far; 0.8 suits one
                           that is known */
    uint32_t growth;    /* capacity of a new level, as a multiple of the last one's; 0: 2, at most
                           32768. scalable-cuckoo rounds it up to a power of two */
} bly_scalable_options;

/* growable-cuckoo: docs/kinds/cuckoo.md */
typedef struct bly_cuckoo_options {
    uint64_t horizon; /* maximum number of keys that it may grow to: from the capacity to 2^24
                         times that; 0: 1024 times, or less where that is not possible */
} bly_cuckoo_options;

/* window: docs/kinds/window.md */
typedef struct bly_window_options {
    uint64_t span;        /* ticks that a key is remembered for (bly_window_advance); 0: the window
                             is measured in adds, and contains the last `capacity` of them */
    uint32_t generations; /* 1 .. 32; 0: 8. More forget more precisely */
} bly_window_options;

/* counting: docs/kinds/counting.md */
typedef struct bly_counting_options {
    uint32_t counter_bits; /* 2, 4, 8 or 16; 0: 4 */
} bly_counting_options;

/* overlay: docs/kinds/overlay.md */
typedef struct bly_overlay_options {
    uint64_t changes; /* keys that are expected to be removed, and as many to be added; 0: a
                         twentieth of the base's capacity, at least 64 */
    bly_kind marker;  /* how removed keys are kept. BLY_KIND_NONE, BLY_CUCKOO: as fingerprints.
                         BLY_CLASSIC: in a Bloom filter, smaller, but 0.1% of the other keys are
                         missed */
} bly_overlay_options;

/* ---- counting -------------------------------------------------------------------------------- */

/* Creates a classic filter of the same keys: one bit for every counter that is not 0. It equals,
 * bit for bit, a classic filter of the same size and k to which the keys were added. (A stuck
 * counter counts as a key.) Its bly_filter_count is estimated from the bits. f may be mapped, `a`
 * NULL. BLY_EUNSUPPORTED (f is of another kind), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_counting_bits(const bly_filter *f, const bly_allocator *a,
                                         bly_filter **out);

/* ---- layered --------------------------------------------------------------------------------- */

/* The front of a layered filter as an sbbf filter in f's own memory: it shows at once what is added
 * to f and removed from it. f may be mapped. Destroy it with bly_filter_destroy, before f.
 * BLY_EUNSUPPORTED (f is of another kind), BLY_ENOMEM.
 *
 * It is read-only: add, union and intersect return BLY_EUNSUPPORTED, and clear does nothing. It can
 * be queried, written, saved, folded, compared, and be the source of a union. A clone is an
 * ordinary sbbf filter. Its bly_filter_count is an estimate of the distinct keys, made when this
 * function was called (one pass over the front). Call it again before each save, so that the file
 * has the current count.
 *
 * Threads: any number of threads may query the front while one thread adds to f and removes from
 * it. Queries take no lock and never wait. A key that is in f during the whole query, and whose add
 * the reader knows to have finished (filter.h, "shared"), is found. Everything else needs f to be
 * unchanged meanwhile: saving, writing, cloning, folding and get_info of the front, and clear,
 * union, intersect, subtract and destroy of f. */
BLY_CHECKED bly_status bly_layered_front(const bly_filter *f, bly_filter **out);

/* ---- scalable-cuckoo ------------------------------------------------------------------------- */

/* Moves entries of the newest level into free slots of older ones if all of them fit, frees the
 * level, and continues with the next. For filters from which many keys were removed: fewer levels,
 * less memory, faster lookups; the rate stays within the requested one.
 *
 * Visits at most `slots` slots (0: all), so that it can be done in steps between other calls.
 * *cursor is 0 at first, and 0 again when nothing is left to do. *moved (may be NULL) is the number
 * of entries moved by this call. BLY_EUNSUPPORTED (f is of another kind). */
BLY_CHECKED bly_status bly_scalable_cuckoo_compact(bly_filter *f, uint64_t slots, uint64_t *cursor,
                                                   uint64_t *moved);

/* ---- window ---------------------------------------------------------------------------------- */

/* Sets the clock of a window with a span to `now`: keys that are too old by then are forgotten. The
 * library reads no clock; a tick is whatever the caller counts. Generations begin at multiples of
 * their length, so windows of the same span drop theirs together. The first call sets the clock,
 * and keys added before it count as added then.
 *
 * A `now` before the clock is BLY_EINVAL and changes nothing. (If the caller's clock can be set
 * back, ignoring that status keeps keys until the clock has caught up.) BLY_EUNSUPPORTED (a window
 * measured in adds), BLY_EKIND (f is of another kind, here and below).
 *
 * Cost: each call clears a small part of the next generation's space, in proportion to the time
 * that has passed. A call after the end of a slice clears what is left of it: at most one pass over
 * the filter, however many slices have passed, and nothing if nothing was added in it. */
BLY_CHECKED bly_status bly_window_advance(bly_filter *f, uint64_t now);

/* An upper bound of the age of a key's last add: in adds (the key is among the last *age of them)
 * or in ticks. BLY_WINDOW_ABSENT when it is not in the window. A false positive in a newer
 * generation makes a key look younger, at the window's false-positive rate. BLY_EKEY (opened
 * without its key). */
#define BLY_WINDOW_ABSENT UINT64_MAX
BLY_CHECKED bly_status bly_window_age(const bly_filter *f, const void *key, size_t len,
                                      uint64_t *age);
BLY_CHECKED bly_status bly_window_age_hash(const bly_filter *f, bly_hash h, uint64_t *age);

typedef struct bly_window_info {
    size_t struct_size;
    uint32_t generations;     /* kept besides the one being filled */
    uint64_t generation_keys; /* capacity of one; in a window measured in adds, its adds */
    uint64_t active_keys;     /* keys in the one being filled */
    uint64_t ordinal;         /* number of that generation; with a span, of its slice */
    uint64_t span;            /* ticks; 0 for a window measured in adds, as are slice and now */
    uint64_t slice;           /* ticks of a generation */
    uint64_t now;             /* the clock; 0 until it is first set */
    uint64_t active_arrivals; /* adds in the generation being filled; 0 with a span */
    uint64_t arrivals;        /* adds in all generations; 0 with a span */
} bly_window_info;
/* BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_window_get_info(const bly_filter *f, bly_window_info *out);

/* ---- overlay --------------------------------------------------------------------------------- */

/* Creates an overlay over `base`, which is borrowed: it must outlive the overlay, and neither the
 * overlay nor anybody else changes it meanwhile. `options` (NULL: the defaults) and `a` (NULL: the
 * default allocator) are copied. BLY_EKIND (a base that is an overlay or an hll), BLY_EINVAL
 * (marker), BLY_ETOOBIG, BLY_ENOMEM. bly_filter_create creates an overlay that owns its base. */
BLY_CHECKED bly_status bly_overlay_over(const bly_filter *base, const bly_overlay_options *options,
                                        const bly_allocator *a, bly_filter **out);

typedef struct bly_overlay_info {
    size_t struct_size;
    uint64_t deleted;  /* keys recorded as removed */
    uint64_t added;    /* keys stored beside the base. Build a new base when deleted and added are
                          together more than a fifth of bly_filter_count */
    double miss_bound; /* upper bound of the probability that a member is missed */
} bly_overlay_info;
/* With a Bloom marker this reads the whole marker filter. BLY_EKIND (f is of another kind),
 * BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_overlay_get_info(const bly_filter *f, bly_overlay_info *out);

/* The base, borrowed; NULL for a filter of another kind. */
BLY_API const bly_filter *bly_overlay_base(const bly_filter *f);

/* ---- counts, and the most frequent keys ------------------------------------------------------ */

/* Halves every count in one pass over the sketch (bly_filter_count grows by one), so that keys
 * which were frequent in the past make room for those that are frequent now. Exact counts are
 * rounded down: a key that was added once is forgotten, and may be answered "no". Other counts are
 * halved on average. BLY_EUNSUPPORTED (f is of another kind). */
BLY_CHECKED bly_status bly_counts_age(bly_filter *f);

/* The n keys with the highest counts among those that were offered. It copies their bytes. */
typedef struct bly_top bly_top;

typedef struct bly_top_entry {
    bly_bytes key; /* borrowed */
    uint64_t count;
} bly_top_entry;

/* BLY_EINVAL (n is 0), BLY_ENOMEM (also for more than 2^28). Entries are found by a hash without a
 * secret: an attacker who chooses the keys can make an offer take time in proportion to n. */
BLY_CHECKED bly_status bly_top_create(size_t n, const bly_allocator *a, bly_top **out);
BLY_API void bly_top_destroy(bly_top *t); /* NULL does nothing */

/* The key has now been added `count` times, as bly_filter_copies of a sketch returns it. A key in
 * the list gets that count, whether higher or (after bly_counts_age) lower; 0 removes it. Another
 * key is added if there is room, or replaces the key with the lowest count if its own is higher.
 * BLY_ENOMEM: nothing has changed. */
BLY_CHECKED bly_status bly_top_offer(bly_top *t, const void *key, size_t len, uint64_t count);

/* The entries, highest count first, those with equal counts in the order of their bytes. Returns
 * how many. Valid until the next offer, list or destroy. */
BLY_API size_t bly_top_list(bly_top *t, const bly_top_entry **out);

/* ---- hll ------------------------------------------------------------------------------------- */

/* The number of distinct keys, and the relative standard error of that number. NAN for another
 * kind. (INFINITY only for a damaged map in which all registers have their maximum.) */
BLY_API double bly_hll_estimate(const bly_filter *f);
BLY_API double bly_hll_error(const bly_filter *f);

#ifdef __cplusplus
}
#endif
#endif
