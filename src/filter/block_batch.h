/* stream.h - batches of keys for the kinds with one spot per key. Internal. */
#ifndef BLYI_FILTERS_STREAM_H
#define BLYI_FILTERS_STREAM_H

#include "ops.h"

/* The stream for this hasher. A filter whose hasher is xxh3 has its pad. */
blyi_stream_fn *blyi_stream_for(const bly_hasher *hasher);

#endif
