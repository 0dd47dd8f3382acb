/* stream.h - batches of keys for the kinds with one spot per key. Internal. */
#ifndef BLYI_FILTERS_STREAM_H
#define BLYI_FILTERS_STREAM_H

#include "ops.h"

/* The stream for this hasher and for blocks of 2^shift bytes, shift 5 or 6. */
blyi_stream_fn *blyi_stream_for(const bly_hasher *hasher, unsigned shift);

/* The same for single queries, and for any kind: blyi_filter_ask where nothing is quicker. */
blyi_ask_fn *blyi_ask_for(const bly_hasher *hasher, unsigned shift);

#endif
