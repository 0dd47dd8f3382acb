/* build.h - filters built from all their keys at once: fuse and ribbon, the smallest kinds.
 *
 * A builder collects keys, in any order and with repeats, and then computes the filter
 * (docs/kinds/static.md has an example). bly_filter_build does this in one call.
 *
 * The filter accepts no adds. It can be looked up, saved, loaded, mapped, and read by any number of
 * threads. It depends, to the last byte, on the set of keys and on the spec alone. Building never
 * fails by chance.
 *
 * A builder keeps 8 bytes per key, or 16 if the hash is not the default of 64 bits. Beyond
 * options.memory it moves them to an unnamed file and reads them back in parts. */
#ifndef BLOOMERY_BUILD_H
#define BLOOMERY_BUILD_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collects keys for a filter. For one thread at a time. */
typedef struct bly_builder bly_builder;

/* How to build. */
typedef struct bly_build_options {
    size_t struct_size;
    unsigned threads;   /* 0: one per processor, at most 8. At most 64 are used, and no more than
                           fit into `memory` */
    uint64_t memory;    /* bytes to use besides the filter, approximately, at least 64 MiB; 0: as
                           many as needed, 8 or 16 per key and those of the threads */
    const char *folder; /* of the unnamed file, 8 or 16 bytes per key; NULL: /tmp */
} bly_build_options;

/* Creates a builder. Of the spec, kind, fpr, seed or hasher, and allocator are used; capacity may
 * be 0, else the default hash is chosen for it. One thread at a time calls the allocator. `options`
 * may be NULL. Errors: BLY_EUNSUPPORTED (a kind that is not built), BLY_EKIND, BLY_EINVAL (an exact
 * geometry, geometry options or a sharing mode, which these kinds do not have; struct_size),
 * BLY_ERATE, BLY_EHASHER, BLY_EWEAKHASH, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_builder_create(const bly_spec *spec, const bly_build_options *options,
                                          bly_builder **out);

/* Add keys, which may repeat.
 * Errors: BLY_ENOMEM, BLY_EIO (see errno), BLY_EINVAL (after bly_builder_finish). */
BLY_CHECKED bly_status bly_builder_add(bly_builder *b, const bly_bytes *keys, size_t n);
BLY_CHECKED bly_status bly_builder_add_hashes(bly_builder *b, const bly_hash *h, size_t n);
/* Returns the number of keys added so far, repeats included. */
BLY_API uint64_t bly_builder_count(const bly_builder *b);

/* Computes the filter of the keys added so far; without keys it answers "no" for every key. Its
 * count and capacity are the number of distinct keys. Afterwards, also after a failure, the builder
 * can only be destroyed. Errors: BLY_ENOMEM, BLY_EIO, BLY_ETOOBIG, BLY_EWEAKHASH (too many keys for
 * the hash at this rate, unless spec.allow_weak_hash; or a custom hash so poor that no filter can
 * be built with it), BLY_EINVAL (it has finished before). */
BLY_CHECKED bly_status bly_builder_finish(bly_builder *b, bly_filter **out);
/* Destroys a builder. NULL does nothing. */
BLY_API void bly_builder_destroy(bly_builder *b);

/* Builds a filter from n keys, with the default options. A capacity of 0 means n.
 * Errors: those of bly_builder_create, bly_builder_add and bly_builder_finish. */
BLY_CHECKED bly_status bly_filter_build(const bly_spec *spec, const bly_bytes *keys, size_t n,
                                        bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
