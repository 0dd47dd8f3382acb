/* hybrid.h - exact counts in fingerprint slots.
 */
#ifndef BLOOMERY_HYBRID_H
#define BLOOMERY_HYBRID_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` distinct keys, each as often as it likes. bly_filter_create's statuses. */
BLY_CHECKED bly_status bly_hybrid_create(uint64_t keys, double fpr, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
