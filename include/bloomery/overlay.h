/* overlay.h - any filter, and what was removed from and added to it since.
 */
#ifndef BLOOMERY_OVERLAY_H
#define BLOOMERY_OVERLAY_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Over `base`, which is lent: it must outlive the overlay, and is never changed. `spec` may be
 * NULL; of it only changes, marker and allocator count. */
BLY_CHECKED bly_status bly_overlay_over(const bly_filter *base, const bly_spec *spec,
                                        bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
