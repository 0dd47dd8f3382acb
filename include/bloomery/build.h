/* build.h - filters made from all their keys at once: fuse and ribbon, the smallest kinds.
 *
 * A builder collects keys, in any order and as often as they come, and then works out the filter:
 *
 *     bly_spec spec = bly_spec_for(BLY_FUSE, 0, 0.01);
 *     bly_builder *b;
 *     bly_filter *f;
 *     if (bly_builder_create(&spec, NULL, &b) == BLY_OK) {
 *         ... bly_builder_add(b, keys, n) ...
 *         bly_status status = bly_builder_finish(b, &f);
 *         bly_builder_destroy(b);
 *     }
 *
 * The result cannot be added to (BLY_EUNSUPPORTED); it can be asked, saved, loaded, mapped, shared
 * by any number of threads. Building never fails for want of luck: see fuse.h and ribbon.h.
 *
 * The filter depends on the set of keys and on the spec alone, to the last byte: not on the order
 * in which the keys came, on how often they did, or on the options.
 *
 * Keys are kept as hashes of 8 bytes, or of 16 where the hash is another than the default of 64
 * bits. Past options.memory they are put into an unnamed file and come back in pieces, so that any
 * number of keys can be built into a filter that fits memory.
 */
#ifndef BLOOMERY_BUILD_H
#define BLOOMERY_BUILD_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bly_builder bly_builder;

typedef struct bly_build_options {
    unsigned threads;   /* that work at once; 0: as many as there are processors, at most 8. More
                           than 64, or than fit the memory, are not used. */
    uint64_t memory;    /* bytes to use besides the filter itself, about; 0: as many as it takes,
                           which is 8 or 16 per key and what the threads need. No less than 64
                           MiB. */
    const char *folder; /* for the unnamed file, which takes as much per key; NULL: /tmp */
} bly_build_options;

/* spec: kind, fpr, seed or hasher, allocator; capacity may be 0, and else is what the default hash
 * is chosen for. The allocator is called by one thread at a time. options may be NULL.
 * BLY_EUNSUPPORTED (a kind that is not built so), BLY_EKIND, BLY_EINVAL (an exact geometry,
 * options, sharing: not for these kinds), BLY_ERATE, BLY_EHASHER, BLY_EWEAKHASH, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_builder_create(const bly_spec *spec, const bly_build_options *options,
                                          bly_builder **out);

/* Keys may repeat. BLY_ENOMEM, BLY_EIO (errno says why): the builder is as before the call.
 * BLY_EINVAL once it has finished. */
BLY_CHECKED bly_status bly_builder_add(bly_builder *b, const bly_bytes *keys, size_t n);
BLY_CHECKED bly_status bly_builder_add_hashes(bly_builder *b, const bly_hash *h, size_t n);

/* How many were added, repeats included. */
BLY_API uint64_t bly_builder_count(const bly_builder *b);

/* The filter of the keys so far: of none, one that says no to everything. After a success or a
 * failure the builder can only be destroyed. The filter's count and capacity are that of the
 * distinct keys. BLY_ENOMEM, BLY_EIO, BLY_ETOOBIG, BLY_EWEAKHASH (more keys than the hash is good
 * for at this rate, unless spec.allow_weak_hash; or a hash of the caller's own so poor that no
 * filter can be made of it). */
BLY_CHECKED bly_status bly_builder_finish(bly_builder *b, bly_filter **out);

BLY_API void bly_builder_destroy(bly_builder *b); /* NULL does nothing */

/* All of it in one call, with the default options; capacity 0 means n. */
BLY_CHECKED bly_status bly_filter_build(const bly_spec *spec, const bly_bytes *keys, size_t n,
                                        bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
