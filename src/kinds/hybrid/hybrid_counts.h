/* hybrid_counts.h - a hybrid filter as classes with counts. Internal. hybrid.c explains it. */
#ifndef BLYI_KINDS_HYBRID_HYBRID_COUNTS_H
#define BLYI_KINDS_HYBRID_HYBRID_COUNTS_H

#include "kinds/hybrid/hybrid_spill.h"

static inline blyi_table blyi_hybrid_table_over(const bly_geometry *g, uint8_t *body) {
    blyi_table t = blyi_table_over(g, body);
    t.counts = body + blyi_hybrid_counts_at(g);
    return t;
}

static inline blyi_table blyi_hybrid_table(const bly_filter *f) {
    return blyi_hybrid_table_over(&f->geometry, f->body);
}

/* Copies of the class c, whose entry is in that slot of f's table t: at least 1, whatever a damaged
 * map says. */
uint64_t blyi_hybrid_count(const bly_filter *f, const blyi_table *t, uint64_t slot, blyi_class c);

/* Copies of a class: 0 when it has no entry. */
uint64_t blyi_hybrid_copies(const bly_filter *f, blyi_class c);

/* Adds n copies, at least 1, and counts them. *is_new: there were none. BLY_EFULL, BLY_ENOMEM: when
 * n is 1, no byte has changed; else the filter is of no further use. */
bly_status blyi_hybrid_add(bly_filter *f, blyi_class c, uint64_t n, bool *is_new);

/* Lets the class in that slot have `left` copies, fewer than it has, and counts. */
void blyi_hybrid_lower(bly_filter *f, blyi_table *t, uint64_t slot, blyi_class c, uint64_t left);

/* The hooks of blyi_ops by these names. */
bool blyi_hybrid_sound(const blyi_shape *shape, const uint8_t *body);
void blyi_hybrid_stats(const bly_filter *f, bly_stats *out);
bly_status blyi_hybrid_unite(bly_filter *dst, const bly_filter *src);
bly_status blyi_hybrid_intersect(bly_filter *dst, const bly_filter *src);
bly_status blyi_hybrid_subtract(bly_filter *dst, const bly_filter *src);
bly_status blyi_hybrid_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out);
bool blyi_hybrid_equal(const bly_filter *a, const bly_filter *b);

#endif
