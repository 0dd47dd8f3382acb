/* batch.h - many keys at once: hashing, fetching and testing overlapped. Internal. */
#ifndef BLYI_FILTERS_BATCH_H
#define BLYI_FILTERS_BATCH_H

#include "ops.h"

/* Of every batch. */
enum {
    BLYI_WINDOW = 64, /* keys under way */
    BLYI_GROUP = 16,  /* keys hashed, or tested, at a time */
};

blyi_stream_fn blyi_batch_keys;

/* The same for hashes. */
size_t blyi_batch_hashes(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                         uint8_t *out);

#endif
