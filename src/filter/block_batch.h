/* stream.h - batches of keys for the kinds with one spot per key. Internal. */
#ifndef BLYI_FILTER_BLOCK_BATCH_H
#define BLYI_FILTER_BLOCK_BATCH_H

#include "filter/filter.h"

/* The stream for this hasher. A filter whose hasher is xxh3 has its pad. */
blyi_block_batch_fn *blyi_block_batch_for(const bly_hasher *hasher);

#endif
