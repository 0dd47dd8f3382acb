/* batch.h - many keys at once: hashing, prefetching and probing overlap. Internal. */
#ifndef BLYI_FILTER_BATCH_H
#define BLYI_FILTER_BATCH_H

#include "filter/filter.h"

/* Sizes that apply to every batch. */
enum {
    BLYI_BATCH_WINDOW = 64, /* keys whose lines are being loaded */
    BLYI_BATCH_GROUP = 16,  /* keys hashed, or tested, at a time */
    BLYI_PREFETCH_DISTANCE =
        32, /* keys between the one that is hashed and the one whose bytes are prefetched */
};

static inline size_t blyi_min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Hashes n keys. The results are those of the filter's hasher. With xxh3, this function is
 * faster. */
void blyi_batch_hash(const bly_filter *f, const bly_bytes *keys, size_t n, bly_hash *out);
/* Hashes n keys by xxh3, which must be the filter's hash. Sets only the first word of each hash;
 * blyi_hash_from_strong64 makes both words from it. */
void blyi_batch_hash_first(const bly_filter *f, const bly_bytes *keys, size_t n, bly_hash *out);

/* Adds keys to `writer`, or looks them up in `f` if writer is NULL. `out` is set as by
 * blyi_block_batch_fn. sum->done grows by the number of keys processed; sum->changed grows by the
 * number of new keys (add) or of possible members (lookup). Only adds can fail. */
bly_status blyi_batch_keys(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                           uint8_t *out, bly_batch_result *sum);

/* As blyi_batch_keys, with hashes instead of keys. */
bly_status blyi_batch_hashes(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                             uint8_t *out, bly_batch_result *sum);

/* Returns the batch function for this hasher, for kinds with one block per key. For xxh3 that
 * function reads the filter's `secret`. */
blyi_block_batch_fn *blyi_block_batch_for(const bly_hasher *hasher);

/* As ops->add_many_shared, for BLY_SHARED_ONCE: of several threads that add the same new key,
 * exactly one is told that it was new. */
size_t blyi_add_with_key_locks(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);

/* Prefetches the locks that blyi_add_with_key_locks will take for these hashes. */
void blyi_key_locks_prefetch(const bly_filter *f, const bly_hash *h, size_t n);

#endif
