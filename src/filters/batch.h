/* batch.h - many keys at once: hashing, fetching and testing overlapped. Internal. */
#ifndef BLYI_FILTERS_BATCH_H
#define BLYI_FILTERS_BATCH_H

#include "ops.h"

/* Adds to `writer`, or queries `f` when writer is NULL (else the two are the same filter). Results
 * and return value as ops->add and ops->contains. */
size_t blyi_batch_keys(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                       uint8_t *out);
size_t blyi_batch_hashes(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                         uint8_t *out);

#endif
