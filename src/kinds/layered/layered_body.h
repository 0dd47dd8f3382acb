/* layered_body.h - where a layered filter has its front and its planes. Internal.
 *
 * First the body of an sbbf filter of as many blocks, its padding included; then for each block its
 * planes 0, 1 and 2, of four words each (simd/cells.h).
 */
#ifndef BLYI_KINDS_LAYERED_LAYERED_BODY_H
#define BLYI_KINDS_LAYERED_LAYERED_BODY_H

#include "filter/filter.h"
#include "filter/kind.h"
#include "simd/counter_kernel.h"

static inline uint64_t blyi_layered_front_bytes(const bly_geometry *g) {
    return (g->size + 1) / 2 * 64;
}

/* The planes of a block: 96 bytes in two lines. */
static inline uint64_t *blyi_layered_planes(const bly_filter *f, uint64_t block) {
    return blyi_words(f) + blyi_layered_front_bytes(&f->geometry) / 8 +
           block * BLYI_COUNTER_PLANES * BLYI_COUNTER_WORDS;
}

/* The front as an sbbf filter, to be looked at while f holds still. */
bly_filter blyi_layered_front(const bly_filter *f);

/* The distinct keys that its bits tell of; INFINITY when all are set. */
double blyi_layered_keys(const bly_filter *f);

bly_status blyi_layered_unite(bly_filter *dst, const bly_filter *src);
bly_status blyi_layered_intersect(bly_filter *dst, const bly_filter *src);
bly_status blyi_layered_subtract(bly_filter *dst, const bly_filter *src);
bly_status blyi_layered_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out);

extern const blyi_planner blyi_layered_planner;

#endif
