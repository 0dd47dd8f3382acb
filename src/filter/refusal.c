/* Why two filters cannot be combined, in words. */
#include "filter/ops.h"

/* Why a sketch does not take keys out. */
static const char *only_counts(bly_operation op, bly_kind kind) {
    if (kind == BLY_HLL)
        return "registers tell how many keys there are, not which; the overlap of two can be "
               "estimated";
    return op == BLY_OP_SUBTRACT ? "counters that were raised by chance cannot be lowered again"
                                 : "what other keys have added to a counter cannot be told from it";
}

static const char *cannot(bly_operation op, const bly_filter *f) {
    uint32_t can = f->ops->capabilities;
    if (f->ops->solver && op == BLY_OP_OVERLAP)
        return "a filter built from all its keys does not tell which they are";
    if (f->ops->solver)
        return "a filter built from all its keys cannot be changed; build a new one from the keys "
               "of both, or ask both";
    if (f->ops->never_combined)
        return f->ops->never_combined;
    bool view = f->ops != blyi_ops_of(f->geometry.kind); /* of another filter's memory */
    if (view && (op == BLY_OP_UNION || op == BLY_OP_INTERSECT))
        return "it lies in another filter's memory and can only be read; clone it first";
    bool sketch = f->geometry.kind == BLY_HLL || f->geometry.kind == BLY_COUNTS;
    if (sketch && (op == BLY_OP_INTERSECT || op == BLY_OP_SUBTRACT))
        return only_counts(op, f->geometry.kind);
    switch (op) {
    case BLY_OP_UNION:
        return can & BLY_CAN_UNION ? NULL : "which keys are the newest is not known of the union";
    case BLY_OP_INTERSECT:
        if (can & BLY_CAN_INTERSECT)
            return NULL;
        return f->levels ? "a key may be in different levels of the two, and would be lost"
                         : "keys that both have may be of different age, and would be lost";
    case BLY_OP_SUBTRACT:
        if (f->geometry.kind == BLY_SCALABLE_CUCKOO)
            return "what a key leaves in one level does not tell which entry of a newer one is its "
                   "own; remove the keys themselves";
        return can & BLY_CAN_SUBTRACT ? NULL
                                      : "keys share bits in this kind, so taking some out would "
                                        "lose others";
    case BLY_OP_OVERLAP:
        return can & BLY_CAN_OVERLAP ? NULL
                                     : "the bits of this kind do not tell how many keys two "
                                       "filters share";
    }
    return "there is no such operation";
}

static const char *differ(const bly_filter *a, const bly_filter *b) {
    if (a->geometry.kind != b->geometry.kind)
        return "they are of different kinds";
    if (a->hasher.id != b->hasher.id)
        return "they use different hash functions";
    if (a->hasher.seed != b->hasher.seed)
        return a->hasher.id == BLY_HASH_SIPHASH ? "their secret keys differ" : "their seeds differ";
    if (a->levels)
        return "their levels, their growth, or their rates, differ";
    if (a->geometry.size != b->geometry.size || a->geometry.hashes != b->geometry.hashes ||
        a->geometry.detail != b->geometry.detail)
        return "they are of different size or shape";
    if (a->geometry.options != b->geometry.options)
        return "their keys own different bits";
    return "their clocks are not the same";
}

const char *bly_filter_why_not(bly_operation op, const bly_filter *a, const bly_filter *b) {
    const char *reason = cannot(op, a);
    if (!reason && bly_filter_compatible(a, b) != BLY_OK)
        reason = differ(a, b);
    return reason;
}
