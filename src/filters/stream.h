/* stream.h - batches of keys for the kinds with one spot per key. Internal. */
#ifndef BLYI_FILTERS_STREAM_H
#define BLYI_FILTERS_STREAM_H

#include "ops.h"

/* The stream for this hasher. A filter whose hasher is xxh3 has its pad. */
blyi_stream_fn *blyi_stream_for(const bly_hasher *hasher);

/* The same for single queries, and for any kind, in blocks of 2^shift bytes (0: it has none):
 * blyi_filter_ask where nothing is quicker. */
blyi_ask_fn *blyi_ask_for(const bly_hasher *hasher, unsigned shift);

#endif
