/* plan.h - sizing and advice: how large a filter must be, which false-positive rate it has, and
 * which kind suits a program. The functions allocate nothing, and any number of threads may call
 * them at once.
 *
 * A geometry is the shape of a filter: its kind, its size and the numbers that determine its
 * false-positive rate. docs/format.md, section 2, says what `size`, `hashes` (k) and `detail` mean
 * for each kind: for classic, `size` is the number of bits, and k the bits per key.
 *
 * Scalable, scalable-cuckoo and overlay filters change their geometry as they grow, so bly_plan
 * returns BLY_EKIND for them. bly_plan_check, bly_plan_bits and bly_plan_bytes accept the present
 * geometry of such a filter, but its rate cannot be computed from it: bly_plan_fpr returns 1,
 * bly_plan_capacity and bly_plan_fill return 0, and bly_plan_keys returns INFINITY. Use
 * bly_filter_get_info instead.
 *
 * Rates are expected values, averaged over hash functions. They take into account that the number
 * of set bits in an array or a block varies (Bose et al. 2008 show that the textbook formula is
 * only a lower bound). They include the collisions of the hash itself: n / 2^E for n keys and a
 * hash of E bits. */
#ifndef BLOOMERY_PLAN_H
#define BLOOMERY_PLAN_H

#include "base.h"
#include "kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a geometry. They are part of the filter's identity, and stored in its file. */
enum {
    /* classic only: the probe sequence of the textbooks and most libraries, (h1 + i*h2) mod m with
     * h2 odd. It is slower, and has a higher rate in small filters: the plan compensates with a
     * larger size, and computed rates are upper bounds. The results of a custom hash function are
     * not mixed (hash.h). */
    BLY_TEXTBOOK = 1u << 0,
    /* Round the size up, by at most 3.2%, to a power of two times an odd number below 64, so that
     * the filter can be folded to a half, a quarter, and so on. */
    BLY_FOLDABLE = 1u << 1
};

/* The shape of a filter, as the introduction of this header explains. */
typedef struct bly_geometry {
    bly_kind kind;
    uint32_t hashes; /* k */
    uint64_t size;
    uint32_t options; /* BLY_TEXTBOOK, BLY_FOLDABLE */
    uint32_t detail;  /* 0 for kinds that need none */
} bly_geometry;

/* ---- sizes and rates ------------------------------------------------------------------------ */

/* Stores the smallest geometry of a kind for `keys` distinct keys at rate `fpr` or better, with a
 * hash of `hash_bits` bits (32 .. 128). Errors: BLY_ECOUNT, BLY_ERATE, BLY_ETOOBIG, BLY_EWEAKHASH
 * (keys / 2^hash_bits > fpr / 10), BLY_EKIND, BLY_EINVAL (unknown options, BLY_TEXTBOOK for another
 * kind than classic, other hash_bits). */
BLY_CHECKED bly_status bly_plan(bly_kind kind, uint64_t keys, double fpr, uint32_t options,
                                unsigned hash_bits, bly_geometry *out);

/* Plans a counting filter as bly_plan does, with counters of 2, 4, 8 or 16 bits. 0 means 4, the
 * width that bly_plan uses. Errors: those of bly_plan; BLY_EINVAL also for another width. */
BLY_CHECKED bly_status bly_plan_counting(uint64_t keys, double fpr, uint32_t counter_bits,
                                         unsigned hash_bits, bly_geometry *out);

/* Returns the blocked kind that suits a rate: sbbf for rates of 0.4% and more, split512 below that
 * down to 0.1%, and bb2x512 below 0.1%. */
BLY_API bly_kind bly_plan_kind(double fpr);

/* Checks that a filter can have this geometry. The functions below may be called only with a
 * geometry that passes.
 * Errors: BLY_EKIND, BLY_EGEOMETRY, BLY_ETOOBIG. */
BLY_CHECKED bly_status bly_plan_check(const bly_geometry *g);
/* Returns the size of a filter in bits. */
BLY_API uint64_t bly_plan_bits(const bly_geometry *g);
/* Returns the size in bytes of a filter's memory, and of its file's body; it is a multiple of
 * 64. */
BLY_API uint64_t bly_plan_bytes(const bly_geometry *g);
/* Returns the expected false-positive rate after adding `keys` distinct keys. hash_bits is as in
 * bly_plan. */
BLY_API double bly_plan_fpr(const bly_geometry *g, uint64_t keys, unsigned hash_bits);

/* Returns the maximum number of distinct keys at which the false-positive rate is at most `fpr`; 0
 * if it is higher even with one key. */
BLY_API uint64_t bly_plan_capacity(const bly_geometry *g, double fpr, unsigned hash_bits);
/* Returns the expected share of bits that are set after adding `keys` distinct keys. */
BLY_API double bly_plan_fill(const bly_geometry *g, double keys);

/* Returns the most likely number of distinct keys if `set_bits` bits are set, for the kinds of
 * plain bits (classic, partitioned, sbbf, split512, bb2x512); INFINITY if all bits are set, and for
 * other kinds. */
BLY_API double bly_plan_keys(const bly_geometry *g, uint64_t set_bits);

/* Returns the probability that a given counter of a counting filter is stuck at its limit after
 * adding `keys` distinct keys, each once; NAN for another kind. */
BLY_API double bly_plan_counter_overflow(const bly_geometry *g, double keys);

/* ---- advice: which kind --------------------------------------------------------------------- */

/* Flags of bly_needs. */
enum {
    BLY_NEED_REMOVE = 1u << 0, /* keys can be removed */
    BLY_NEED_GROW = 1u << 1, /* there may be more keys than `keys`, and the requested rate must hold
                                nevertheless */
    BLY_NEED_STATIC = 1u << 2, /* all keys are known when the filter is created, and none is added
                                  or removed later. Excludes GROW, WINDOW and REMOVE */
    BLY_NEED_WINDOW = 1u << 3, /* old keys are forgotten automatically */
    BLY_NEED_COUNTS = 1u << 4, /* the filter must tell how often each key was added */
    BLY_NEED_SHARE = 1u << 5,  /* several threads add keys at the same time */
    BLY_NEED_SECRET = 1u << 6, /* keys are untrusted: the hash must have a secret key */
    BLY_NEED_SPACE = 1u << 7   /* prefer the smallest filter to the fastest */
};

/* What a program needs. Any two of `keys`, `fpr` and `bytes` determine the third. */
typedef struct bly_needs {
    uint64_t keys;  /* number of distinct keys, or of keys in a window; 0: as many as fit into
                       `bytes` at the rate `fpr` */
    double fpr;     /* requested false-positive rate; 0: the lowest that is possible for `keys` in
                       `bytes`, at most 50% */
    uint64_t bytes; /* maximum memory; 0: as much as needed */
    uint32_t flags; /* BLY_NEED_* */
    /* Bits of the hash, 32 to 128. 0: the width of the default hash or, with BLY_NEED_SECRET, of
     * siphash. */
    unsigned hash_bits;
    /* For a kind that grows: its initial capacity (first_keys) and, if it is scalable, the share of
     * the rate that its first level gets (first_share; see bly_scalable_options). 0 selects, with
     * BLY_NEED_GROW, a tenth of `keys` and 0.15, so that the advice includes the cost of growing;
     * otherwise all `keys` and 0.8. */
    uint64_t first_keys;
    double first_share;
} bly_needs;

/* A recommendation:
 *
 *     bly_needs needs = {.keys = 100000000, .fpr = 0.001};
 *     bly_advice advice = {.struct_size = sizeof advice};
 *     if (bly_advise(&needs, &advice) == BLY_OK)
 *         puts(advice.reason);
 */
typedef struct bly_advice {
    size_t struct_size;
    bly_kind kind;
    bly_needs needs;       /* the needs, with values for those that were 0 */
    bly_geometry geometry; /* for a kind that grows: its geometry when it contains all keys */
    uint64_t bytes;        /* bytes of memory, as in bly_filter_info */
    double bits_per_key;
    double fpr; /* expected rate after needs.keys keys: at most needs.fpr, with a precision of six
                   digits */
    unsigned cache_lines; /* maximum number that a lookup of a member reads */
    bool keyed;           /* true: the filter needs a hasher made by bly_hasher_keyed */
    const char *reason;   /* one or two sentences without the last full stop; a static string */
} bly_advice;

/* Recommends a kind. Errors: BLY_EUNSUPPORTED (no kind meets all needs:
 * bly_advise_why_not(BLY_KIND_NONE, needs) says why), BLY_ECOUNT (`keys` missing or out of range),
 * BLY_ERATE (`fpr` missing or out of range), BLY_EIMPOSSIBLE (no filter in that much memory meets
 * the needs), BLY_ETOOBIG, BLY_EWEAKHASH, BLY_EINVAL (unknown flags, contradictory needs, hash_bits
 * or first_share out of range, struct_size). */
BLY_CHECKED bly_status bly_advise(const bly_needs *needs, bly_advice *out);

/* Sizes one kind for the needs, whether it is recommended or not. `reason` says what the kind is
 * good for. Errors: those of bly_advise; BLY_EUNSUPPORTED (bly_advise_why_not says why), BLY_EKIND
 * (no such kind). */
BLY_CHECKED bly_status bly_advise_kind(bly_kind kind, const bly_needs *needs, bly_advice *out);

/* Returns which of needs->flags a kind cannot meet, for example "it cannot remove keys", or that
 * the flags contradict each other; NULL if the kind meets all of them. For BLY_KIND_NONE it returns
 * why no kind can meet them. The text is static. */
BLY_API const char *bly_advise_why_not(bly_kind kind, const bly_needs *needs);

/* Computes the expected false-positive rate after keys[i] keys, which may exceed the capacity. */
BLY_API void bly_advice_expected_fpr(const bly_advice *advice, const uint64_t *keys, size_t n,
                                     double *out);

#ifdef __cplusplus
}
#endif
#endif
