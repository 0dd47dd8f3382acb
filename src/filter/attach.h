/* attach.h - filters that feed a sketch with the keys they are given. Internal. */
#ifndef BLYI_FILTER_ATTACH_H
#define BLYI_FILTER_ATTACH_H

#include "filter/ops.h"

/* What has been added to `f`, which has a sketch, goes into that too. */
void blyi_attached_feed(bly_filter *f, const bly_hash *h, size_t n);

/* blyi_batch_keys of such a filter, adding, and feeding the sketch with those keys that were added.
 */
bly_status blyi_attached_keys(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                              bly_tally *sum);

/* src has been united with dst: so are their sketches, if that can be; else dst loses its own. */
void blyi_attached_unite(bly_filter *dst, const bly_filter *src);

#endif
