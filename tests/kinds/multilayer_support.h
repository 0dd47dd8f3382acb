/* multilayer_support.h - shared by the tests of multilayer filters: access to their inner state. */
#ifndef BLYT_MULTILAYER_SUPPORT_H
#define BLYT_MULTILAYER_SUPPORT_H

#include "table_support.h"

#include "base/size_class.h"
#include "kinds/multilayer/multilayer_layout.h"

static const double multilayer_rates[] = {0.01, 0.001, 0.0001};

static inline bly_filter *multilayer(uint64_t keys, double p) {
    bly_filter *f = NULL;
    assert_ok(blyt_new(BLY_MULTILAYER, keys, p, &f));
    return f;
}

static inline bool is_sound(const bly_filter *f) {
    blyi_shape shape = blyi_filter_shape(f);
    return f->ops->body_is_valid(&shape, f->body);
}

static inline uint64_t records_used(const bly_filter *f) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    return blyi_ml_records_used(&t);
}

#endif
