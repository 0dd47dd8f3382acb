/* multilayer.h - counters of variable length, in one cache line.
 */
#ifndef BLOOMERY_MULTILAYER_H
#define BLOOMERY_MULTILAYER_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` distinct keys. bly_filter_create's statuses. */
BLY_CHECKED bly_status bly_multilayer_create(uint64_t keys, double fpr, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
