/* plan.h - sizing: pure functions, no allocation. (What they compute on the way is remembered, so
 * that the next plan is quick; any number of threads may plan at once.)
 *
 * A geometry is what fixes a filter's shape and therefore its rate. `size` counts
 *   classic       bits                      (64 .. 2^48)
 *   partitioned   bits in each of k slices  (a multiple of 64)
 *   sbbf          blocks of 256 bits        k = 8
 *   split512      blocks of 512 bits        k = 8, 12 or 16
 *   bb2x512       blocks of 512 bits        k even, 2 .. 16, half of them in each of two blocks
 *   scalable      bytes, its levels' headers included (a multiple of 64)   k = levels, 1 .. 48
 *                 detail = factor between the capacities of levels, 0 standing for 2 (scalable.h)
 *   window        lines of 512 bits in each of its parts, which are k / 3 (k / 2 where detail > 9)
 *                 and at most 16; detail = generations that are kept, 1 .. 32, beside the one being
 *                 filled. With BLY_WINDOW_SMALL added to the detail: columns of a bit for each
 *                 generation, 128 or more, in a body of 4 KiB at most; k = columns of a key,
 *                 1 .. 64
 *   cuckoo        buckets of four slots     k = bits of a remainder, 6 .. 55
 *   fuse          slots, of all shards      k = bits of a fingerprint, 1 .. 28
 *                 detail = 32 * (shards - 1) + log2 of a segment's slots
 *   ribbon        groups of 8 slots, of all shards      k = 64 + columns of a narrow slot, 1 .. 40
 *                 detail = 4096 * seed + 256 * log2(shards) + 256ths of the slots that have one
 *                 column more; of earlier files blocks of 128 slots, k without the 64, and
 *                 detail = 256 * (shards - 1) + 256ths
 *   growable-cuckoo  as cuckoo              detail = bits of a remainder when fully grown
 *   counting      counters                  detail = bits of a counter: 2, 4, 8 or 16
 *   multilayer    blocks of 512 bits        detail = step of the room for overflow (multilayer.h)
 *   layered       blocks of 256 counters    k = 8; a front of sbbf's blocks, and planes of counts
 *   overlay       bytes, its parts' headers included (a multiple of 64)    k = parts, 2 or 3
 *                 detail = 1 when it was cleared over a base that is not its own, else 0
 *   hybrid        buckets of four slots     k = bits of a remainder
 *                 detail = step of the room for large counts (hybrid.h)
 *   counts        lines of 64 counters      k = 4; detail: how counters grow (sketch.h)
 *   hll           registers, 2^k of them    k = 4 .. 18
 *   scalable-cuckoo  as scalable            detail as scalable's, a power of two
 *
 * A scalable filter grows, and so do a scalable-cuckoo one and an overlay, so they have no geometry
 * to plan: bly_plan answers BLY_EKIND, the rest of this header can check the geometry they have at
 * the moment (bly_plan_check, _bits, _bytes) but not say what rate that gives (bly_plan_fpr is 1,
 * _capacity and _fill 0, _keys INFINITY). scalable.h, scalable_cuckoo.h, overlay.h and
 * bly_filter_stats can.
 *
 * bly_plan_keys is for the kinds of plain bits, from classic to bb2x512: INFINITY for the others,
 * whose filters know how many keys they have.
 *
 * The rates are expectations over the hash, corrected for the variance of how full an array or
 * a block gets (Bose et al. 2008 show that the textbook formula is only a lower bound), and they
 * include the hash's own floor n / 2^E. A filter made by bly_plan therefore has the rate asked,
 * not roughly the rate asked.
 */
#ifndef BLOOMERY_PLAN_H
#define BLOOMERY_PLAN_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* These are the codes in files; they never change. Codes of kinds to come are listed in
 * docs/format.md. The codes 8 and 20 are reserved and never used again: they were the kinds
 * "stable" and "blocked-counting", which versions before 0.2 wrote. Opening a file of such a kind
 * returns BLY_EUNSUPPORTED. "window" replaces the one, "layered" the other. */
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

/* NULL for a code this version does not know. */
BLY_API const char *bly_kind_name(bly_kind kind);
/* BLY_EKIND when there is no such name, *out untouched. */
BLY_CHECKED bly_status bly_kind_by_name(const char *name, bly_kind *out);
/* The kinds of this version, in the order of their codes: the one after `kind`. Starts after
 * BLY_KIND_NONE, and ends with it. */
BLY_API bly_kind bly_kind_next(bly_kind kind);

/* What a kind is, in words that are not to be freed. BLY_EKIND. */
typedef struct bly_kind_info {
    const char *name;
    const char *article; /* of the name: "a" or "an" */
    const char *meaning; /* one line without a full stop: how the kind works */
    const char *hashes;  /* what bly_geometry.hashes is: "bits per key" */
} bly_kind_info;
BLY_CHECKED bly_status bly_kind_get_info(bly_kind kind, bly_kind_info *out);

/* Kinds of earlier versions. Their files are refused with BLY_EUNSUPPORTED. NULL: there was no such
 * kind. */
typedef struct bly_removed_kind {
    uint32_t code; /* in files */
    const char *name;
    const char *replacement; /* the name of the kind to use instead */
} bly_removed_kind;
BLY_API const bly_removed_kind *bly_kind_removed(uint32_t code);
BLY_API const bly_removed_kind *bly_kind_removed_by_name(const char *name);

/* Options of a geometry; they are part of the filter's identity and stored in its file. */
enum {
    /* classic only: probe (h1 + i*h2) mod m, h2 odd, as the textbooks and most libraries do,
     * instead of Bloomery's own sequence. Slower, and worse for small filters: the plan makes up
     * for it with space, and the rates computed for it are upper bounds. A custom hash function
     * is not mixed (hash.h). */
    BLY_TEXTBOOK = 1u << 0,
    /* Round the size up (by 3.2% at most) to an odd number under 64 times a power of two, so
     * that the filter can later be folded to a half, a quarter, and so on. */
    BLY_FOLDABLE = 1u << 1
};

/* Added to the generations in the detail of a small window. */
#define BLY_WINDOW_SMALL 64u

typedef struct bly_geometry {
    bly_kind kind;
    uint32_t hashes;  /* k */
    uint64_t size;    /* see above */
    uint32_t options; /* BLY_TEXTBOOK, BLY_FOLDABLE */
    uint32_t detail;  /* see above; 0 for the kinds that have none */
} bly_geometry;

/* A geometry in words: its size ("4,096 blocks", "3 levels"), or all of it ("4,096 blocks, 8 bits
 * per key, foldable"). As snprintf: the length, of which at most size - 1 bytes are written. */
BLY_API size_t bly_geometry_format_size(const bly_geometry *g, char *buf, size_t size);
BLY_API size_t bly_geometry_format(const bly_geometry *g, char *buf, size_t size);

/* How many counters keys share in a filter of this geometry; 0 for a kind without. */
BLY_API uint64_t bly_geometry_counters(const bly_geometry *g);

/* The smallest geometry of that kind that holds `keys` distinct keys at rate `fpr` or better
 * under a hash of `hash_bits` bits (32 .. 128). BLY_ECOUNT, BLY_ERATE, BLY_ETOOBIG,
 * BLY_EWEAKHASH (keys / 2^hash_bits > fpr / 10), BLY_EKIND (scalable too), BLY_EINVAL (unknown
 * options, BLY_TEXTBOOK for another kind than classic, other hash_bits). */
BLY_CHECKED bly_status bly_plan(bly_kind kind, uint64_t keys, double fpr, uint32_t options,
                                unsigned hash_bits, bly_geometry *out);

/* The blocked layout that suits a rate: sbbf down to 0.4%, split512 down to 0.1%, bb2x512
 * below. */
BLY_API bly_kind bly_plan_layout(double fpr);

/* BLY_OK when a filter can have this geometry; else BLY_EKIND, BLY_EGEOMETRY, BLY_ETOOBIG. */
BLY_CHECKED bly_status bly_plan_check(const bly_geometry *g);

/* For a geometry that passes bly_plan_check (the answers mean nothing for another): */
BLY_API uint64_t bly_plan_bits(const bly_geometry *g); /* bits in all */
BLY_API uint64_t
bly_plan_bytes(const bly_geometry *g); /* of memory and of a file's body: rounded up to 64 */

/* The expected false-positive rate after `keys` distinct keys; hash_bits as in bly_plan. */
BLY_API double bly_plan_fpr(const bly_geometry *g, uint64_t keys, unsigned hash_bits);

/* The most distinct keys at which the rate is still `fpr` or better; 0 when one is too many. */
BLY_API uint64_t bly_plan_capacity(const bly_geometry *g, double fpr, unsigned hash_bits);

/* The share of bits expected to be set after `keys` distinct keys, and its inverse: the number
 * of distinct keys most likely to have set `set_bits` bits (INFINITY when all are set). */
BLY_API double bly_plan_fill(const bly_geometry *g, double keys);
BLY_API double bly_plan_keys(const bly_geometry *g, uint64_t set_bits);

/* --- the textbook's formulas, uncorrected, as the literature and other libraries use them ---- */

/* Any three of n (keys), m (bits), k (hashes) and p (rate) give the fourth: leave exactly one at
 * zero. The relation is p = (1 - e^(-kn/m))^k.
 *   m missing  the smallest m that reaches p        n missing  the largest n that keeps p
 *   p missing  the rate                             k missing  the smallest k that reaches p
 * BLY_EINVAL unless exactly one is missing; BLY_ERATE; BLY_EIMPOSSIBLE when no value of the
 * missing one will do; BLY_ETOOBIG. On failure *t is unchanged. */
typedef struct bly_textbook {
    uint64_t keys, bits;
    uint32_t hashes;
    double fpr;
} bly_textbook;
BLY_CHECKED bly_status bly_textbook_solve(bly_textbook *t);

/* k = ceil(log2(1/p)); 0 for a rate outside (0, 1). */
BLY_API uint32_t bly_textbook_hashes(double fpr);
/* m = ceil(n |ln p| / (ln f ln(1-f))) for a chosen fill f (0.5 gives n |ln p| / ln^2 2).
 * BLY_ECOUNT, BLY_ERATE, BLY_EINVAL (fill outside (0,1)), BLY_ETOOBIG. */
BLY_CHECKED bly_status bly_textbook_bits(uint64_t keys, double fpr, double fill, uint64_t *out);
/* s = ceil(m/k), the size of a slice; 0 when hashes is 0. */
BLY_API uint64_t bly_textbook_slice(uint64_t bits, uint32_t hashes);
/* The best k for m bits and n keys, (m/n) ln 2 rounded up, at least 1; 0 when keys is 0. */
BLY_API uint32_t bly_textbook_best_hashes(uint64_t bits, uint64_t keys);
/* (1 - e^(-kn/m))^k */
BLY_API double bly_textbook_fpr(uint64_t bits, uint32_t hashes, uint64_t keys);

#ifdef __cplusplus
}
#endif
#endif
