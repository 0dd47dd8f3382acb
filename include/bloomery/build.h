/* build.h - filters built from all their keys at once: fuse and ribbon, the smallest kinds.
 *
 * A builder collects keys, in any order and with repeats, and then computes the filter
 * (docs/kinds/static.md has an example). bly_filter_build does this in one call.
 *
 * The filter accepts no adds later. It can be saved, loaded and mapped, and any number of threads
 * may look keys up in it. Its bytes depend only on the set of keys and on the spec. Building never
 * fails by chance.
 *
 * A builder stores 8 bytes per key, or 16 if the hash is not the default one of 64 bits. If they
 * would exceed options.memory, it writes them to an unnamed temporary file and reads them back in
 * parts. */
#ifndef BLOOMERY_BUILD_H
#define BLOOMERY_BUILD_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collects keys for a filter. A builder may be used by one thread at a time. */
typedef struct bly_builder bly_builder;

/* How to build. */
typedef struct bly_build_options {
    size_t struct_size;
    unsigned threads; /* 0: one per processor, but at most 8. Larger values are reduced to 64, and
                         to what fits into `memory` */
    uint64_t memory; /* approximate limit in bytes, besides the filter. Values below 64 MiB count as
                        64 MiB. 0: no limit; the builder uses 8 or 16 bytes per key, and working
                        memory for each thread */
    const char *folder; /* where the unnamed file of 8 or 16 bytes per key is created; NULL: /tmp */
} bly_build_options;

/* Creates a builder. It uses the kind, the fpr, the seed or hasher, and the allocator of the spec.
 * If the capacity is not 0, the default hash is chosen for that many keys. Only one thread at a
 * time calls the allocator. `options` may be NULL. Errors: BLY_EUNSUPPORTED (a kind that is not
 * built), BLY_EKIND, BLY_EINVAL (struct_size; or an exact geometry, geometry options or a sharing
 * mode, which these kinds do not support), BLY_ERATE, BLY_EHASHER, BLY_EWEAKHASH, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_builder_create(const bly_spec *spec, const bly_build_options *options,
                                          bly_builder **out);

/* Adds n keys, which may repeat.
 * Errors: BLY_ENOMEM, BLY_EIO (see errno), BLY_EINVAL (after bly_builder_finish). */
BLY_CHECKED bly_status bly_builder_add(bly_builder *b, const bly_bytes *keys, size_t n);
/* Adds n keys by their hashes, which the caller has computed with the hasher of the spec.
 * Errors: those of bly_builder_add. */
BLY_CHECKED bly_status bly_builder_add_hashes(bly_builder *b, const bly_hash *h, size_t n);
/* Returns the number of keys added so far, repeats included. */
BLY_API uint64_t bly_builder_count(const bly_builder *b);

/* Computes the filter of the keys added so far. If no key was added, the filter answers "no" for
 * every key. Its count and capacity are the number of distinct keys. Afterwards the builder can
 * only be destroyed, even if this call failed. Errors: BLY_ENOMEM, BLY_EIO, BLY_ETOOBIG,
 * BLY_EWEAKHASH (too many keys for the hash at this rate, unless spec.allow_weak_hash; or a custom
 * hash so poor that no filter can be built with it), BLY_EINVAL (it has finished before). */
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
