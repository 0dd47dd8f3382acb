/* overlay_layout.h - the parts of an overlay, and what its files share. Internal. overlay.c
 * explains the idea.
 */
#ifndef BLYI_KINDS_OVERLAY_LAYOUT_H
#define BLYI_KINDS_OVERLAY_LAYOUT_H

#include "filter/levels.h"
#include "hash/mix.h"

/* The parts, in this order. */
enum {
    BLYI_OVERLAY_BASE,
    BLYI_OVERLAY_DELETED,
    BLYI_OVERLAY_ADDED, /* created when first needed */
    BLYI_OVERLAY_PARTS
};

/* The `detail` of an overlay over a borrowed base after the overlay was cleared: the base is
 * ignored. Otherwise `detail` is 0. */
enum { BLYI_OVERLAY_HIDDEN = 1 };

/* The bits of a remainder in the tables of deleted and of added keys: when new, and when fully
 * grown. */
enum {
    BLYI_CHANGES_REMAINDER_BITS = 38,
    BLYI_CHANGES_MIN_REMAINDER_BITS = 32,
};

/* The FPR for which these tables are made, 1e-9: the probability that a key shares a class with
 * some key of a fully grown table. The rate in a file must equal it, so it is written out bit for
 * bit. A decimal constant would have more bits where doubles are computed in wider registers (x87),
 * and would not equal any double. */
#define BLYI_CHANGES_RATE 0x1.12e0be826d695p-30

/* The FPR of a Bloom filter of deleted keys: 1e-3. */
#define BLYI_BLOOM_MARKER_RATE 0x1.0624dd2f1a9fcp-10

static inline bly_filter *blyi_overlay_base(const bly_filter *f) {
    return f->levels->at[BLYI_OVERLAY_BASE];
}

static inline bly_filter *blyi_overlay_deleted(const bly_filter *f) {
    return f->levels->at[BLYI_OVERLAY_DELETED];
}

/* The table of added keys; NULL until it is first needed. */
static inline bly_filter *blyi_overlay_added(const bly_filter *f) {
    return f->levels->n > BLYI_OVERLAY_ADDED ? f->levels->at[BLYI_OVERLAY_ADDED] : NULL;
}

/* The hash under which deleted and added keys are stored. It is unrelated to a key's positions in
 * the base. The mapping is a bijection, so different hashes stay different. */
static inline bly_hash blyi_overlay_mix(bly_hash h) {
    return (bly_hash){blyi_fmix64(h.lo ^ BLYI_LCG), blyi_fmix64(h.hi ^ BLYI_LCG)};
}

/* Creates f's empty table of added keys. Returns BLY_OK, BLY_ENOMEM, BLY_ETOOBIG or BLY_EGROWTH. */
bly_status blyi_overlay_create_added(bly_filter *f);

/* blyi_ops.create and .level_rules. */
bly_status blyi_overlay_create(const bly_spec *spec, bly_filter **out);
extern const blyi_level_rules blyi_overlay_level_rules;

#endif
