/* hybrid_support.h - shared by the tests of hybrid filters: adding and removing several copies of a
 * key. */
#ifndef BLYT_HYBRID_SUPPORT_H
#define BLYT_HYBRID_SUPPORT_H

#include "table_support.h"

#include "kinds/hybrid/hybrid_layout.h"
#include <bloomery/filter.h>

static const double hybrid_rates[] = {0.01, 0.001, 0.0001};

static inline bly_filter *hybrid(uint64_t keys, double p) {
    bly_filter *f = NULL;
    assert_ok(blyt_new(BLY_HYBRID, keys, p, &f));
    return f;
}

static inline uint64_t copies_of(const bly_filter *f, uint64_t stream, uint64_t i) {
    return bly_filter_copies_hash(f, hash_at(stream, i));
}

static inline void add_copies(bly_filter *f, uint64_t stream, uint64_t i, uint64_t n) {
    while (n-- > 0)
        assert_ok(bly_filter_add_hash(f, hash_at(stream, i), NULL));
}

static inline void remove_copies(bly_filter *f, uint64_t stream, uint64_t i, uint64_t n) {
    while (n-- > 0)
        remove_hashes(f, stream, i, i + 1);
}

static inline bool is_sound(const bly_filter *f) {
    blyi_shape shape = blyi_filter_shape(f);
    return f->ops->body_is_valid(&shape, f->body);
}

#endif
