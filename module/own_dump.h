/* own_dump.h - SCANDUMP and LOADCHUNK of a filter in a layout that RedisBloom's chunks cannot hold.
 *
 * Scripts that save filters with SCANDUMP and bring them back with LOADCHUNK work on all filters.
 * The first chunk is a header of 104 bytes:
 *
 *   8   "BLYDUMP1"
 *   8   bytes of the filter's file, little-endian
 *   24  traits (bm_traits_encode)
 *   64  the first bytes of the file, its header: what comes can be judged at once
 *
 * and those that follow are the rest of the file. Iterators are RedisBloom's: 1 after the header,
 * then one more than the bytes that were given, 0 at the end. The chunks must come in order, and
 * the filter is there when the last has come and its sums were found right. A filter that changes
 * between two chunks cannot be dumped further: the next call says so.
 */
#ifndef BLOOMERY_MODULE_OWN_DUMP_H
#define BLOOMERY_MODULE_OWN_DUMP_H

#include "value.h"

/* The reply to SCANDUMP of a value that has a filter of the library; iter is not negative. At the
 * end [0, null] if `null_end`, else [0, ""]. */
int bm_own_scandump(rm_ctx *ctx, bm_value *value, uint64_t iter, bool null_end);

/* Whether the bytes of a first chunk are such a header. */
bool bm_own_is_header(const void *data, size_t size);

/* A value that waits for the chunks which the header announces; its account has limits unless
 * `unlimited`. NULL: *status says why, and of BLY_ENOMEM *refusal. BLY_ECORRUPT: not such a header,
 * or the filter in it is not one for that face (BM_FACE_BF, BM_FACE_CF). */
bm_value *bm_own_begin(bly_bytes header, bm_face face, bool unlimited, bly_status *status,
                       bm_refusal *refusal);

/* The chunk that LOADCHUNK has with that iterator, for a value that waits. One that has come before
 * is taken as read. BLY_EMISMATCH: it is not the next one, bm_own_expected; BLY_EINVAL: it does not
 * belong to this filter; BLY_ENOMEM, with the account's refusal. */
bly_status bm_own_append(bm_value *value, uint64_t iter, bly_bytes chunk);
/* Where the next chunk begins, as SCANDUMP's iterator. */
uint64_t bm_own_expected(const bm_value *value);
/* Whether all has come. */
bool bm_own_complete(const bm_value *value);

#endif
