/* layered.h - a plain filter in front, its counters behind.
 */
#ifndef BLOOMERY_LAYERED_H
#define BLOOMERY_LAYERED_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` distinct keys. bly_filter_create's statuses. */
BLY_CHECKED bly_status bly_layered_create(uint64_t keys, double fpr, bly_filter **out);

/* The front as an sbbf filter that shares f's memory: read-only, alive as long as f. Free with
 * bly_filter_destroy. BLY_EUNSUPPORTED, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_layered_front(const bly_filter *f, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
