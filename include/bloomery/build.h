/* build.h - filters built from all their keys at once: fuse and ribbon, the smallest kinds.
 *
 * A builder collects keys, in any order and with repeats, and then computes the filter:
 *
 *     bly_spec spec = bly_spec_for(BLY_FUSE, 0, 0.01);
 *     bly_builder *b;
 *     bly_filter *f;
 *     bly_status status = bly_builder_create(&spec, NULL, &b);
 *     if (status == BLY_OK) {
 *         status = bly_builder_add(b, keys, n);                       as often as needed
 *         if (status == BLY_OK)
 *             status = bly_builder_finish(b, &f);
 *         bly_builder_destroy(b);
 *     }
 *
 * The result accepts no adds (BLY_EUNSUPPORTED). It can be queried, saved, loaded, mapped, and
 * shared by any number of threads. Building never fails by chance (docs/kinds/static.md).
 *
 * The filter depends on the set of keys and on the spec alone, to the last byte: not on the order
 * of the keys, on repeats, or on the options.
 *
 * A builder keeps 8 bytes per key, or 16 if the hash is not the default of 64 bits. Beyond
 * options.memory it moves them to an unnamed file and reads them back in parts, so that any number
 * of keys can be built into a filter that fits into memory.
 */
#ifndef BLOOMERY_BUILD_H
#define BLOOMERY_BUILD_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bly_builder bly_builder;

typedef struct bly_build_options {
    size_t struct_size;
    unsigned threads;   /* 0: as many as there are processors, at most 8. No more than 64 are used,
                           and no more than fit into the memory. */
    uint64_t memory;    /* bytes to use besides the filter itself, approximately, at least 64 MiB;
                           0: as many as needed, which is 8 or 16 per key and the threads' own */
    const char *folder; /* for the unnamed file, which needs as much per key; NULL: /tmp */
} bly_build_options;

/* spec: kind, fpr, seed or hasher, allocator. capacity may be 0; otherwise the default hash is
 * chosen for it. The allocator is called by one thread at a time. options may be NULL.
 * BLY_EUNSUPPORTED (a kind that is not built), BLY_EKIND, BLY_EINVAL (an exact geometry, geometry
 * options, sharing: not for these kinds; struct_size), BLY_ERATE, BLY_EHASHER, BLY_EWEAKHASH,
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_builder_create(const bly_spec *spec, const bly_build_options *options,
                                          bly_builder **out);

/* Keys may repeat. BLY_ENOMEM, BLY_EIO (errno says why): the builder has not changed. BLY_EINVAL
 * after bly_builder_finish. */
BLY_CHECKED bly_status bly_builder_add(bly_builder *b, const bly_bytes *keys, size_t n);
BLY_CHECKED bly_status bly_builder_add_hashes(bly_builder *b, const bly_hash *h, size_t n);

/* The number of keys added so far, repeats included. */
BLY_API uint64_t bly_builder_count(const bly_builder *b);

/* The filter of the keys added so far; without keys, one that answers "no" for every key.
 * Afterwards, also after a failure, the builder can only be destroyed. The filter's count and
 * capacity are the number of distinct keys. BLY_ENOMEM, BLY_EIO, BLY_ETOOBIG, BLY_EWEAKHASH (too
 * many keys for the hash at this rate, unless spec.allow_weak_hash; or a custom hash so poor that
 * no filter can be built with it). */
BLY_CHECKED bly_status bly_builder_finish(bly_builder *b, bly_filter **out);

BLY_API void bly_builder_destroy(bly_builder *b); /* NULL does nothing */

/* All of this in one call, with the default options; capacity 0 means n. */
BLY_CHECKED bly_status bly_filter_build(const bly_spec *spec, const bly_bytes *keys, size_t n,
                                        bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
