/* staged_file.h - a staged load of a filter's file (by BLY.LOAD, native LOADCHUNK or an RDB
 * stream), kept beside the filter that it will replace until it is complete and has been checked.
 *
 * The received chunks are on a separate account, so that they do not count against the limit of the
 * filter that is still in use. Memory grows with the bytes received, never with the announced size.
 */
#ifndef BLOOMERY_MODULE_STAGED_FILE_H
#define BLOOMERY_MODULE_STAGED_FILE_H

#include "types/value.h"

typedef struct bm_staged_file bm_staged_file;

/* Begins a file of `total` bytes with its first `size` bytes, at least BLY_FILE_HEADER (fewer:
 * BLY_EINVAL). Checks the header, that the traits fit its kind (BLY_EMISMATCH), and the limits
 * (BLY_ENOMEM, and account->refusal is the reason). The filter will be on `account`, which is not
 * used before bm_staged_file_finish. */
bly_status bm_staged_file_begin(bm_account *account, uint64_t total, const void *first, size_t size,
                                const bm_traits *traits, bm_staged_file **out);
uint64_t bm_staged_file_total(const bm_staged_file *s);
uint64_t bm_staged_file_received(const bm_staged_file *s);
uint64_t bm_staged_file_bytes(const bm_staged_file *s); /* of memory */
const bm_traits *bm_staged_file_traits(const bm_staged_file *s);

/* Appends the next bytes. BLY_EINVAL: more than were announced; BLY_ENOMEM, with the account's
 * refusal. */
bly_status bm_staged_file_append(bm_staged_file *s, const void *data, size_t size);
/* The same with a block of the engine's allocator, which is taken over, also on failure. */
bly_status bm_staged_file_adopt(bm_staged_file *s, void *block, size_t size);

/* Creates the filter on the account, when all bytes have been received. Frees the chunks while the
 * filter is filled. Frees the staged file, also on failure. *keyless: its secret key is not in the
 * ring. */
bly_status bm_staged_file_finish(bm_staged_file *s, bly_filter **out, bool *keyless);
void bm_staged_file_free(bm_staged_file *s); /* NULL does nothing */

/* Calls fn for each received chunk: for RDB and AOF. */
typedef void (*bm_chunk_fn)(void *ctx, uint64_t at, const void *data, size_t size);
void bm_staged_file_each(const bm_staged_file *s, bm_chunk_fn fn, void *ctx);
/* Depends on the received bytes alone, not on how they were divided into chunks. */
void bm_staged_file_digest(rm_digest *digest, const bm_staged_file *s);
/* BLY_ENOMEM. */
bly_status bm_staged_file_clone(const bm_staged_file *s, bm_account *account, bm_staged_file **out);

#endif
