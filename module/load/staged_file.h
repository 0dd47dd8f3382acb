/* staged_file.h - staged loads of a filter's file, by BLY.LOAD, native LOADCHUNK or an RDB stream.
 * Until the file is complete and has been checked, it is stored beside the filter that it will
 * replace.
 *
 * The received chunks are charged to a separate account, so that they do not count against the
 * memory limit of the filter that is still in use. The memory grows with the bytes received; it is
 * not allocated for the announced size.
 */
#ifndef BLOOMERY_MODULE_STAGED_FILE_H
#define BLOOMERY_MODULE_STAGED_FILE_H

#include "types/value.h"

typedef struct bm_staged_file bm_staged_file;

/* Begins to load a file of `total` bytes with its first `size` bytes. The filter will be charged to
 * `account`, which is not used before bm_staged_file_finish. Returns BLY_EINVAL if `size` is below
 * BLY_FILE_HEADER or above `total`, BLY_ECORRUPT if `total` is too small for a header or differs
 * from what the header says, an error of bly_file_parse_info if the header is not valid,
 * BLY_EMISMATCH if the traits do not fit the kind, and BLY_ENOMEM, with the reason in
 * account->refusal, if the limits do not allow the file. */
bly_status bm_staged_file_begin(bm_account *account, uint64_t total, const void *first, size_t size,
                                const bm_traits *traits, bm_staged_file **out);
uint64_t bm_staged_file_total(const bm_staged_file *s);
uint64_t bm_staged_file_received(const bm_staged_file *s);
uint64_t bm_staged_file_bytes(const bm_staged_file *s); /* bytes of memory */
const bm_traits *bm_staged_file_traits(const bm_staged_file *s);

/* Appends the next bytes. Returns BLY_EINVAL if these are more bytes than were announced;
 * BLY_ENOMEM with the reason in the account's refusal. */
bly_status bm_staged_file_append(bm_staged_file *s, const void *data, size_t size);
/* Appends the bytes of a block of the engine's allocator, as bm_staged_file_append does, without
 * copying them. The staged file owns the block from then on; if the call fails, the block is
 * freed. */
bly_status bm_staged_file_adopt(bm_staged_file *s, void *block, size_t size);

/* Creates the filter, charged to its account, after all bytes have been received. Frees the chunks
 * while the filter is filled, and then the staged file, even if the call fails. *keyless becomes
 * true if the filter needs a secret key that is not in the ring, or a custom hash function. */
bly_status bm_staged_file_finish(bm_staged_file *s, bly_filter **out, bool *keyless);
void bm_staged_file_free(bm_staged_file *s); /* NULL does nothing */

/* Calls fn for each received chunk, for RDB and AOF. */
typedef void (*bm_chunk_fn)(void *ctx, uint64_t at, const void *data, size_t size);
void bm_staged_file_each(const bm_staged_file *s, bm_chunk_fn fn, void *ctx);
/* Adds the received bytes to a digest. The result does not depend on how the bytes were divided
 * into chunks. */
void bm_staged_file_digest(rm_digest *digest, const bm_staged_file *s);
/* Copies a staged file. Returns BLY_ENOMEM if the limits do not allow the copy, or if there is no
 * memory. */
bly_status bm_staged_file_clone(const bm_staged_file *s, bm_account *account, bm_staged_file **out);

#endif
