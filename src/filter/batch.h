/* batch.h - many keys at once: hashing, prefetching and probing overlap. Internal. */
#ifndef BLYI_FILTER_BATCH_H
#define BLYI_FILTER_BATCH_H

#include "filter/filter.h"

/* Of every batch. */
enum {
    BLYI_BATCH_WINDOW = 64, /* keys under way */
    BLYI_BATCH_GROUP = 16,  /* keys hashed, or tested, at a time */
    BLYI_PREFETCH_DISTANCE =
        32, /* keys between the one that is hashed and the one whose bytes are requested */
};

static inline size_t blyi_min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The hashes of n keys. The filter's hasher gives the same ones, but more slowly if it is xxh3.
 * Then a kind may also ask for their first words alone (blyi_hash_from_strong64 has the others). */
void blyi_batch_hash(const bly_filter *f, const bly_bytes *keys, size_t n, bly_hash *out);
void blyi_batch_hash_first(const bly_filter *f, const bly_bytes *keys, size_t n, bly_hash *out);

/* Adds to `writer`, or queries `f` when that is NULL, as a blyi_block_batch_fn. *sum grows by the
 * keys dealt with, and by those that were new or may be present. Only adds can fail. */
bly_status blyi_batch_keys(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                           uint8_t *out, bly_batch_result *sum);

/* The same for hashes. */
bly_status blyi_batch_hashes(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                             uint8_t *out, bly_batch_result *sum);

/* The batch function of the kinds with one block per key, for this hasher. A filter whose hasher is
 * xxh3 has its secret. */
blyi_block_batch_fn *blyi_block_batch_for(const bly_hasher *hasher);

/* As ops->add_many_shared, for BLY_SHARED_ONCE: of several threads that add the same new key,
 * exactly one is told that it was new. */
size_t blyi_add_with_key_locks(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);

/* Starts loading what that needs besides ops->prefetch_add_shared. */
void blyi_key_locks_prefetch(const bly_filter *f, const bly_hash *h, size_t n);

#endif
