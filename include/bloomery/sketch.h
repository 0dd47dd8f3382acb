/* sketch.h - how often, and how many: counts and cardinality.
 */
#ifndef BLOOMERY_SKETCH_H
#define BLOOMERY_SKETCH_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- counts: how often was each key added, roughly ------------------------------------------ */

BLY_CHECKED bly_status bly_counts_create(uint64_t keys, double fpr, bly_filter **out);
/* In at most so many bytes. */
BLY_CHECKED bly_status bly_counts_create_in(uint64_t bytes, bly_filter **out);
/* Halves every count. BLY_EUNSUPPORTED of another kind. */
BLY_CHECKED bly_status bly_counts_age(bly_filter *f);

/* ---- top: the keys that came most often ------------------------------------------------------ */

typedef struct bly_top bly_top;
typedef struct bly_top_entry {
    bly_bytes key; /* lent */
    uint64_t count;
} bly_top_entry;
BLY_CHECKED bly_status bly_top_create(size_t n, const bly_allocator *a, bly_top **out);
BLY_API void bly_top_destroy(bly_top *t);
/* The key has now been seen `count` times. BLY_ENOMEM. */
BLY_CHECKED bly_status bly_top_offer(bly_top *t, const void *key, size_t len, uint64_t count);
/* The entries, most frequent first (ties: by key bytes); returns how many. Valid until the next
 * offer. */
BLY_API size_t bly_top_list(bly_top *t, const bly_top_entry **out);

/* ---- hll: how many distinct keys --------------------------------------------------------------
 */

/* 2^precision registers, 4 .. 18; 14: 12 KiB, 0.81%. */
BLY_CHECKED bly_status bly_hll_create(uint32_t precision, bly_filter **out);
BLY_API double bly_hll_estimate(const bly_filter *f); /* NAN of another kind */
BLY_API double bly_hll_error(const bly_filter *f);    /* standard error, relative */

/* From now on every key added to `f` is added to `sketch` too, which is lent; NULL ends that. */
BLY_CHECKED bly_status bly_filter_attach(bly_filter *f, bly_filter *sketch);

#ifdef __cplusplus
}
#endif
#endif
