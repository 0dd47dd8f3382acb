/* parts.h - the parts of an overlay, and how its files see them. Internal. overlay.c explains the
 * idea.
 */
#ifndef BLYI_KINDS_OVERLAY_OVERLAY_PARTS_H
#define BLYI_KINDS_OVERLAY_OVERLAY_PARTS_H

#include "filter/levels.h"
#include "hash/mix.h"
#include "kinds/overlay/overlay_plan.h"

/* Tables of deleted and of added keys, when new and when fully grown: bits of a remainder. */
enum {
    BLYI_CHANGES_REST = 38,
    BLYI_CHANGES_MIN_REST = 32,
};

/* What they are made for: the chance that a key shares a class with one of theirs, fully grown:
 * 1e-9. Files are compared with it, so it is written out bit for bit. A decimal constant would have
 * more bits where doubles are computed with in wider registers (x87), and equal no double. */
#define BLYI_CHANGES_RATE 0x1.12e0be826d695p-30

/* The same of a Bloom filter of deleted keys: 1e-3. */
#define BLYI_BLOOM_MARKER_RATE 0x1.0624dd2f1a9fcp-10

static inline bly_filter *blyi_overlay_base(const bly_filter *f) {
    return f->levels->at[BLYI_OVERLAY_BASE];
}

static inline bly_filter *blyi_overlay_deleted(const bly_filter *f) {
    return f->levels->at[BLYI_OVERLAY_DELETED];
}

/* NULL as long as no key had to be put beside the base. */
static inline bly_filter *blyi_overlay_added(const bly_filter *f) {
    return f->levels->n > BLYI_OVERLAY_ADDED ? f->levels->at[BLYI_OVERLAY_ADDED] : NULL;
}

/* What deleted and added keys are known by: bits that tell nothing of where the base has them. A
 * bijection, so that different hashes stay different. */
static inline bly_hash blyi_overlay_mix(bly_hash h) {
    return (bly_hash){blyi_fmix64(h.lo ^ BLYI_LCG), blyi_fmix64(h.hi ^ BLYI_LCG)};
}

/* Whether a filter of that kind can be a base. One that only counts cannot tell what is in it. */
static inline bool blyi_overlay_takes(bly_kind kind) {
    return kind != BLY_OVERLAY && !(blyi_ops_of(kind)->capabilities & BLY_ONLY_COUNTS);
}

/* The number of keys in an overlay of such parts. */
uint64_t blyi_overlay_count(bool hidden, uint64_t base, uint64_t deleted, uint64_t added);

/* Gives `f` its part of added keys, empty. BLY_ENOMEM, BLY_ETOOBIG. */
bly_status blyi_overlay_make_added(bly_filter *f);

/* The hooks of blyi_ops by these names. */
bly_status blyi_overlay_create(const bly_spec *spec, bly_filter **out);
void blyi_overlay_stats(const bly_filter *f, bly_stats *out);
bool blyi_overlay_compatible(const bly_filter *a, const bly_filter *b);
bool blyi_overlay_equal(const bly_filter *a, const bly_filter *b);
extern const blyi_level_rules blyi_overlay_whole;

#endif
