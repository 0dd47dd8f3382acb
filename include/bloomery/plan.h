/* plan.h - sizing and advice: how large a filter must be, which rate it has, and which kind suits a
 * need. The functions allocate nothing, and any number of threads may call them at once.
 *
 * A geometry is the shape of a filter, and determines its false-positive rate. docs/format.md,
 * section 2, says what `size`, `hashes` (k) and `detail` mean for each kind: for classic, `size` is
 * the number of bits, and k the bits per key.
 *
 * Scalable, scalable-cuckoo and overlay filters change their shape as they grow, so bly_plan
 * returns BLY_EKIND. bly_plan_check, bly_plan_bits and bly_plan_bytes accept their present
 * geometry, but no rate follows from it (bly_plan_fpr is 1, bly_plan_capacity and bly_plan_fill are
 * 0, bly_plan_keys is INFINITY): use bly_filter_get_info.
 *
 * Rates are expectations over the hash, corrected for the variance of how full an array or a block
 * gets (Bose et al. 2008 show that the textbook's formula is only a lower bound). They include the
 * collisions of the hash itself, n / 2^E for n keys and E bits. */
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
     * h2 odd. It is slower, and worse for small filters: the plan compensates with space, and
     * computed rates are upper bounds. A custom hash function is not mixed (hash.h). */
    BLY_TEXTBOOK = 1u << 0,
    /* Round the size up, by at most 3.2%, to an odd number below 64 times a power of two, so that
     * the filter can be folded to a half, a quarter, and so on. */
    BLY_FOLDABLE = 1u << 1
};

/* The shape of a filter: see the top of this header. */
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

/* Returns the blocked kind that suits a rate: sbbf down to 0.4%, split512 to 0.1%, bb2x512 below.
 */
BLY_API bly_kind bly_plan_kind(double fpr);

/* Checks that a filter can have this geometry. The functions below need one that passes.
 * Errors: BLY_EKIND, BLY_EGEOMETRY, BLY_ETOOBIG. */
BLY_CHECKED bly_status bly_plan_check(const bly_geometry *g);
/* Returns the size in bits. */
BLY_API uint64_t bly_plan_bits(const bly_geometry *g);
/* Returns the bytes of memory, and of a file's body: a multiple of 64. */
BLY_API uint64_t bly_plan_bytes(const bly_geometry *g);
/* Returns the expected false-positive rate after `keys` distinct keys; hash_bits as in bly_plan. */
BLY_API double bly_plan_fpr(const bly_geometry *g, uint64_t keys, unsigned hash_bits);

/* Returns the maximum number of distinct keys at which the rate is `fpr` or better; 0 if
 * the rate is higher even with one key. */
BLY_API uint64_t bly_plan_capacity(const bly_geometry *g, double fpr, unsigned hash_bits);
/* Returns the expected share of bits that are set after `keys` distinct keys. */
BLY_API double bly_plan_fill(const bly_geometry *g, double keys);

/* Returns the most likely number of distinct keys if `set_bits` bits are set, for the kinds of
 * plain bits (classic, partitioned, sbbf, split512, bb2x512); INFINITY if all bits are set, and for
 * other kinds. */
BLY_API double bly_plan_keys(const bly_geometry *g, uint64_t set_bits);

/* Returns the probability that a given counter of a counting filter has reached its limit, and is
 * stuck, after `keys` distinct keys, each added once; NAN for another kind. */
BLY_API double bly_plan_counter_overflow(const bly_geometry *g, double keys);

/* ---- advice: which kind --------------------------------------------------------------------- */

/* Flags of bly_needs. */
enum {
    BLY_NEED_REMOVE = 1u << 0, /* keys are removed */
    BLY_NEED_GROW = 1u << 1,   /* more keys may come than expected, and the rate must hold */
    BLY_NEED_STATIC = 1u << 2, /* all keys are known at creation, and none is added or removed
                                  later. Not together with GROW, WINDOW or REMOVE. */
    BLY_NEED_WINDOW = 1u << 3, /* old keys are forgotten automatically */
    BLY_NEED_COUNTS = 1u << 4, /* how often each key was added */
    BLY_NEED_SHARE = 1u << 5,  /* several threads add at once */
    BLY_NEED_SECRET = 1u << 6, /* untrusted keys: a hash with a secret key */
    BLY_NEED_SPACE = 1u << 7   /* the smallest filter, not the fastest */
};

/* What a program needs. Two of keys, fpr and bytes determine the third. */
typedef struct bly_needs {
    uint64_t
        keys;   /* distinct keys, or those of a window; 0: as many as fit into `bytes` at `fpr` */
    double fpr; /* requested rate; 0: the lowest, from 50% down, for `keys` in `bytes` */
    uint64_t bytes; /* maximum memory; 0: as much as needed */
    uint32_t flags; /* BLY_NEED_* */
    /* Bits of the hash, 32 .. 128. 0: those of the default hash, or of siphash with
     * BLY_NEED_SECRET. */
    unsigned hash_bits;
    /* For a kind that grows: its initial capacity, and for a scalable one the first level's share
     * of the rate (bly_scalable_options). 0: with BLY_NEED_GROW a tenth of the keys and 0.15, so
     * that the advice includes the cost of growing; otherwise all keys and 0.8. */
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
    bly_needs needs;       /* with every value that was 0 filled in */
    bly_geometry geometry; /* for a kind that grows: when it contains all keys */
    uint64_t bytes;        /* of memory, as in bly_filter_info */
    double bits_per_key;
    double fpr;           /* expected after needs.keys keys: at most needs.fpr, to six digits */
    unsigned cache_lines; /* at most, in a lookup of a member */
    bool keyed;           /* needs a hasher created by bly_hasher_keyed */
    const char *reason;   /* one or two sentences without the last full stop; a static string */
} bly_advice;

/* Recommends a kind. Errors: BLY_EUNSUPPORTED (no kind meets all needs:
 * bly_advise_why_not(BLY_KIND_NONE, needs) says why), BLY_ECOUNT and BLY_ERATE (keys or rate
 * missing or out of range), BLY_EIMPOSSIBLE (not in that memory), BLY_ETOOBIG, BLY_EWEAKHASH,
 * BLY_EINVAL (unknown flags, contradictory needs, other hash_bits or first_share, struct_size). */
BLY_CHECKED bly_status bly_advise(const bly_needs *needs, bly_advice *out);

/* Sizes one kind for the needs, whether it is recommended or not. `reason` says what the kind is
 * good for. Errors: those of bly_advise; BLY_EUNSUPPORTED (bly_advise_why_not says why), BLY_EKIND
 * (no such kind). */
BLY_CHECKED bly_status bly_advise_kind(bly_kind kind, const bly_needs *needs, bly_advice *out);

/* Returns which of needs->flags a kind cannot meet, such as "it cannot remove keys", or that they
 * contradict each other; NULL if it meets all. For BLY_KIND_NONE: why no kind can. Static. */
BLY_API const char *bly_advise_why_not(bly_kind kind, const bly_needs *needs);

/* Computes the expected false-positive rate after keys[i] keys, which may exceed the capacity. */
BLY_API void bly_advice_expected_fpr(const bly_advice *advice, const uint64_t *keys, size_t n,
                                     double *out);

#ifdef __cplusplus
}
#endif
#endif
