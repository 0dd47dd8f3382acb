/* native_chunks.h - SCANDUMP and LOADCHUNK of filters in the library's own layouts, which cannot be
 * represented by RedisBloom's chunks.
 *
 * With these chunks, scripts that save filters by SCANDUMP and restore them by LOADCHUNK work for
 * all filters. The first chunk is a header of 104 bytes:
 *
 *   8   "BLYDUMP1"
 *   8   bytes of the filter's file, little-endian
 *   24  traits (bm_traits_encode)
 *   64  the first bytes of the file, its header, so that it can be checked before the rest comes
 *
 * The chunks that follow are the rest of the file. Iterators are like RedisBloom's: 1 after the
 * header, then 1 plus the number of bytes returned so far (without the header), and 0 at the end.
 * The chunks must be loaded in order. The filter exists after the last chunk was loaded and the
 * checksums match. If a filter changes between two calls of SCANDUMP, the second call replies with
 * an error.
 */
#ifndef BLOOMERY_MODULE_NATIVE_CHUNKS_H
#define BLOOMERY_MODULE_NATIVE_CHUNKS_H

#include "types/value.h"

/* Replies to SCANDUMP of a value that has a filter of the library; iter is not negative. At the end
 * the reply is [0, null] if `null_end`, else [0, ""]. */
int bm_native_scandump(rm_ctx *ctx, bm_value *value, uint64_t iter, bool null_end);

/* Whether the bytes of a first chunk are such a header, not RedisBloom's. */
bool bm_native_is_header(const void *data, size_t size);

/* Returns a new value with a staged load of the file that the header announces. The value's account
 * has limits unless `unlimited` is true. On failure returns NULL and sets *status: BLY_ECORRUPT if
 * this is not such a header, or if the commands of `face` (BM_FACE_BF or BM_FACE_CF) do not accept
 * the filter; BLY_ENOMEM with the reason in *refusal; or another status of bm_staged_file_begin. */
bm_value *bm_native_begin(bly_bytes header, bm_face face, bool unlimited, bly_status *status,
                          bm_refusal *refusal);

/* Appends a chunk; `iter` is the iterator that LOADCHUNK was called with. A chunk that was received
 * before is ignored. Returns BLY_EMISMATCH if it is not the next chunk (see bm_native_expected);
 * BLY_EINVAL if it cannot belong to this filter; BLY_ENOMEM if there is no memory, with the reason
 * in the account's refusal. */
bly_status bm_native_append(bm_value *value, uint64_t iter, bly_bytes chunk);
/* Returns where the next chunk must begin, as an iterator of SCANDUMP. */
uint64_t bm_native_expected(const bm_value *value);
/* Whether all bytes have been received. */
bool bm_native_complete(const bm_value *value);

#endif
