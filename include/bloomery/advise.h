/* advise.h - which kind of filter suits what is needed, and what each kind would cost. Pure
 * functions: nothing is allocated, no filter is made.
 *
 *     bly_needs needs = {.keys = 100000000, .fpr = 0.001};
 *     bly_advice advice;
 *     bly_spec spec;
 *     if (bly_advise(&needs, &advice) == BLY_OK) {
 *         puts(advice.reason);
 *         spec = bly_advice_spec(&advice);
 *     }
 *
 * Of the number of keys, the rate and the memory any two give the third.
 */
#ifndef BLOOMERY_ADVISE_H
#define BLOOMERY_ADVISE_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is wanted of a filter beyond adding and asking. */
enum {
    BLY_NEED_REMOVE = 1u << 0, /* keys are taken out again */
    BLY_NEED_GROW = 1u << 1,   /* more keys may come than expected, and the rate must hold */
    BLY_NEED_STATIC = 1u << 2, /* all keys are known beforehand and none is added or removed later;
                                  not together with GROW, WINDOW or REMOVE. Every kind can do this,
                                  and the kinds that are built can do nothing else. */
    BLY_NEED_WINDOW = 1u << 3, /* old keys are forgotten by themselves */
    BLY_NEED_COUNTS = 1u << 4, /* how often a key was added */
    BLY_NEED_SHARE = 1u << 5,  /* several threads add at once */
    BLY_NEED_SECRET = 1u << 6, /* strangers choose the keys: a secret key for the hash */
    BLY_NEED_SPACE = 1u << 7   /* the smallest filter, not the fastest */
};

typedef struct bly_needs {
    uint64_t keys;  /* distinct keys, or those of a window; 0: as many as `bytes` hold at `fpr` */
    double fpr;     /* the rate; 0: the best, from 50% down, for `keys` in `bytes` */
    uint64_t bytes; /* of memory, at most; 0: as many as it takes */
    uint32_t flags; /* BLY_NEED_* */
    /* Of the hash, 32 .. 128. 0: of the default hash, or with BLY_NEED_SECRET of siphash. */
    unsigned hash_bits;
    /* Of a kind that grows: the keys that it is first made for, and, of a scalable one, its first
     * level's share of the rate (bly_spec). 0: with BLY_NEED_GROW a tenth of the keys and 0.15, as
     * if their number had been guessed ten times too low, so that the advice tells what growing
     * costs; else all of them and 0.8. */
    uint64_t first_keys;
    double first_share;
} bly_needs;

typedef struct bly_advice {
    bly_kind kind;
    bly_needs needs;       /* with everything filled in that was left to be found */
    bly_geometry geometry; /* of a kind that grows: once it holds all keys */
    uint64_t bytes;        /* of memory, as bly_stats counts them */
    double bits_per_key;
    double fpr;           /* predicted, after needs.keys keys: at most needs.fpr, to six digits */
    unsigned cache_lines; /* that a query for a key that is there touches, at most */
    bool keyed;           /* wants a hasher made by bly_hasher_keyed */
    const char *reason;   /* a sentence or two without the last full stop; not to be freed */
} bly_advice;

/* The kind to take. BLY_EUNSUPPORTED: no kind of this version does all of that
 * (bly_advise_why_not(BLY_KIND_NONE, needs) says what); BLY_ECOUNT, BLY_ERATE: keys or rate missing
 * or out of range; BLY_EIMPOSSIBLE: not in that memory; BLY_ETOOBIG; BLY_EWEAKHASH; BLY_EINVAL:
 * unknown flags, needs that contradict each other, other hash_bits or first_share. */
BLY_CHECKED bly_status bly_advise(const bly_needs *needs, bly_advice *out);

/* The same for one kind, whether or not it would be chosen; `reason` tells what it is good for.
 * BLY_EUNSUPPORTED: see bly_advise_why_not. BLY_EKIND: there is no such kind. */
BLY_CHECKED bly_status bly_advise_kind(bly_kind kind, const bly_needs *needs, bly_advice *out);

/* What of needs->flags the kind cannot do, as "it cannot remove keys"; NULL when it can do all of
 * it. For BLY_KIND_NONE, why no kind can: "no kind of this version removes keys". */
BLY_API const char *bly_advise_why_not(bly_kind kind, const bly_needs *needs);

/* The rates predicted for the filter advised after keys[i] keys: more than it was planned for, too.
 */
BLY_API void bly_advice_rates(const bly_advice *advice, const uint64_t *keys, size_t n,
                              double *rates);

/* What to give to bly_filter_create, or, for a kind with BLY_CAN_BUILD, to bly_builder_create. When
 * advice->keyed, or needs.hash_bits was given, the caller still has to put in the hasher. */
BLY_API bly_spec bly_advice_spec(const bly_advice *advice);

#ifdef __cplusplus
}
#endif
#endif
