/* staging.h - a container that arrives in chunks (BLY.LOAD, or an RDB file), kept beside the filter
 * it will replace until it is complete and has been checked.
 *
 * What has arrived is kept on an account of the staging's own, so that it does not take room from
 * the filter that is still serving. Memory grows with the bytes that have come, never with what was
 * announced.
 */
#ifndef BLOOMERY_MODULE_STAGING_H
#define BLOOMERY_MODULE_STAGING_H

#include "value.h"

typedef struct bm_staging bm_staging;

/* Begins: `total` bytes are to come, and `first` are the first of them, at least BLY_FILE_HEADER
 * (fewer: BLY_EINVAL). The header is checked, and that the traits fit its kind (BLY_EMISMATCH), and
 * the limits are: BLY_ENOMEM, and account->refusal says which. The filter will be on `account`,
 * which is not used before bm_staging_finish. */
bly_status bm_staging_begin(bm_account *account, uint64_t total, const void *first, size_t size,
                            const bm_traits *traits, bm_staging **out);
uint64_t bm_staging_total(const bm_staging *s);
uint64_t bm_staging_received(const bm_staging *s);
uint64_t bm_staging_bytes(const bm_staging *s); /* of memory */
const bm_traits *bm_staging_traits(const bm_staging *s);

/* The next bytes, in order. BLY_EINVAL: more than were announced; BLY_ENOMEM, with the account's
 * refusal. */
bly_status bm_staging_append(bm_staging *s, const void *data, size_t size);
/* The same with a block of the engine's, which now belongs to the staging, also on failure. */
bly_status bm_staging_adopt(bm_staging *s, void *block, size_t size);

/* All has come: the filter, on the account; the chunks are released as it is filled. The staging is
 * used up, also on failure. *keyless: its secret key is not in the ring. The limits have been
 * checked when it began: here only the system can refuse. */
bly_status bm_staging_finish(bm_staging *s, bly_filter **out, bool *keyless);
void bm_staging_free(bm_staging *s); /* NULL does nothing */

/* Walks over what has arrived, chunk by chunk: for RDB and AOF. */
typedef void (*bm_chunk_fn)(void *ctx, uint64_t at, const void *data, size_t size);
void bm_staging_walk(const bm_staging *s, bm_chunk_fn fn, void *ctx);
/* The same bytes always give the same, however they came. */
void bm_staging_digest(rm_digest *digest, const bm_staging *s);
/* BLY_ENOMEM. */
bly_status bm_staging_clone(const bm_staging *s, bm_account *account, bm_staging **out);

#endif
