/* redisbloom_chunks.h - staged loads of filters in RedisBloom's layout, by BF.LOADCHUNK or
 * CF.LOADCHUNK. A staged load records which bytes have been received. Until all bytes have been
 * received, the key has no filter, because lookups in a partial filter would miss members.
 */
#ifndef BLOOMERY_MODULE_REDISBLOOM_CHUNKS_H
#define BLOOMERY_MODULE_REDISBLOOM_CHUNKS_H

#include "types/value.h"

typedef struct bm_staged_chunks bm_staged_chunks;

/* These two begin a staged load with a header of SCANDUMP. The data is charged to an account of the
 * staged load, which has limits if `account` has limits. Return BLY_ECORRUPT or BLY_ETOOBIG if the
 * header is not valid; BLY_ENOMEM with the reason in account->refusal. */
bly_status bm_staged_chunks_begin_bloom(bm_account *account, const void *header, size_t size,
                                        bm_staged_chunks **out);
bly_status bm_staged_chunks_begin_cuckoo(bm_account *account, const void *header, size_t size,
                                         bm_staged_chunks **out);
uint64_t bm_staged_chunks_bytes(const bm_staged_chunks *s); /* bytes of memory */
/* Writes bytes at an offset of the filter's data. Bytes may be written in any order, and
 * repeatedly. Returns BLY_EFULL if there would be too many gaps between received bytes, BLY_ENOMEM,
 * or an error of bly_rb_bloom_write. */
bly_status bm_staged_chunks_write(bm_staged_chunks *s, uint64_t offset, const void *data,
                                  size_t size);
bool bm_staged_chunks_complete(const bm_staged_chunks *s);
/* Returns the loaded filter as a value of RedisBloom's type, and frees the staged load. Never
 * returns NULL. */
bm_value *bm_staged_chunks_finish(bm_staged_chunks *s);
void bm_staged_chunks_free(bm_staged_chunks *s); /* NULL does nothing */

/* Save and load a staged load, for the RDB methods of the type. Loading returns NULL if the stream
 * is not valid. */
void bm_staged_chunks_save(rm_io *io, const bm_staged_chunks *s);
bm_staged_chunks *bm_staged_chunks_load(rm_io *io);
/* Writes the LOADCHUNK commands that restore a staged load to the AOF. */
void bm_staged_chunks_emit(rm_io *io, rm_string *key, const bm_staged_chunks *s);
void bm_staged_chunks_digest(rm_digest *digest, const bm_staged_chunks *s);
/* Returns a copy; NULL if there is no memory. */
bm_staged_chunks *bm_staged_chunks_clone(const bm_staged_chunks *s, bool unlimited);

#endif
