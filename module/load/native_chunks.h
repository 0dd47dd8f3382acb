/* native_chunks.h - SCANDUMP and LOADCHUNK of filters in the library's own layouts, which
 * RedisBloom's chunks cannot represent.
 *
 * So scripts that save filters with SCANDUMP and restore them with LOADCHUNK work on all filters.
 * The first chunk is a header of 104 bytes:
 *
 *   8   "BLYDUMP1"
 *   8   bytes of the filter's file, little-endian
 *   24  traits (bm_traits_encode)
 *   64  the first bytes of the file, its header, so that it can be checked before the rest comes
 *
 * The chunks that follow are the rest of the file. Iterators are RedisBloom's: 1 after the header,
 * then one more than the number of bytes returned so far, 0 at the end. The chunks must come in
 * order. The filter exists when the last one has come and the checksums match. When a filter
 * changes between two calls of SCANDUMP, the dump cannot go on, and the next call replies with an
 * error.
 */
#ifndef BLOOMERY_MODULE_NATIVE_CHUNKS_H
#define BLOOMERY_MODULE_NATIVE_CHUNKS_H

#include "types/value.h"

/* Replies to SCANDUMP of a value that has a filter of the library; iter is not negative. At the end
 * the reply is [0, null] if `null_end`, else [0, ""]. */
int bm_native_scandump(rm_ctx *ctx, bm_value *value, uint64_t iter, bool null_end);

/* Whether the bytes of a first chunk are such a header. */
bool bm_native_is_header(const void *data, size_t size);

/* A new value with a staged load of the file that the header announces. Its account has limits
 * unless `unlimited`. NULL: *status is the reason, and with BLY_ENOMEM *refusal. BLY_ECORRUPT: this
 * is no such header, or that face's commands do not accept the filter (BM_FACE_BF, BM_FACE_CF). */
bm_value *bm_native_begin(bly_bytes header, bm_face face, bool unlimited, bly_status *status,
                          bm_refusal *refusal);

/* Appends the chunk that LOADCHUNK has with that iterator. A chunk that was received before is
 * ignored. BLY_EMISMATCH: it is not the next one, bm_native_expected; BLY_EINVAL: it does not
 * belong to this filter; BLY_ENOMEM, with the account's refusal. */
bly_status bm_native_append(bm_value *value, uint64_t iter, bly_bytes chunk);
/* Where the next chunk begins, as an iterator of SCANDUMP. */
uint64_t bm_native_expected(const bm_value *value);
/* Whether all bytes have been received. */
bool bm_native_complete(const bm_value *value);

#endif
