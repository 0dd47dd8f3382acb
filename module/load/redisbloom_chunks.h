/* redisbloom_chunks.h - a staged load of a filter in RedisBloom's layout, by BF.LOADCHUNK or
 * CF.LOADCHUNK: which bytes of it have been received. Until all have been, the key shows no filter,
 * because a partial one would deny keys that it contains.
 */
#ifndef BLOOMERY_MODULE_REDISBLOOM_CHUNKS_H
#define BLOOMERY_MODULE_REDISBLOOM_CHUNKS_H

#include "types/value.h"

typedef struct bm_staged_chunks bm_staged_chunks;

/* Begins with the header of SCANDUMP. BLY_ECORRUPT, BLY_ENOMEM, BLY_ETOOBIG. The data is on its own
 * account, with limits if `account` has limits. With BLY_ENOMEM account->refusal is the reason. */
bly_status bm_staged_chunks_begin_bloom(bm_account *account, const void *header, size_t size,
                                        bm_staged_chunks **out);
bly_status bm_staged_chunks_begin_cuckoo(bm_account *account, const void *header, size_t size,
                                         bm_staged_chunks **out);
uint64_t bm_staged_chunks_bytes(const bm_staged_chunks *s); /* of memory */
/* Writes bytes at that offset of the filter's data, in any order, and repeatedly if need be. Errors
 * as of bly_rb_bloom_write, BLY_ENOMEM, and BLY_EFULL: there would be too many gaps. */
bly_status bm_staged_chunks_write(bm_staged_chunks *s, uint64_t offset, const void *data,
                                  size_t size);
bool bm_staged_chunks_complete(const bm_staged_chunks *s);
/* Returns the data as a value of RedisBloom's type, never NULL, and frees the rest. */
bm_value *bm_staged_chunks_finish(bm_staged_chunks *s);
void bm_staged_chunks_free(bm_staged_chunks *s); /* NULL does nothing */

/* RDB: called by the type's methods. Loading returns NULL when the stream is not valid. */
void bm_staged_chunks_save(rm_io *io, const bm_staged_chunks *s);
bm_staged_chunks *bm_staged_chunks_load(rm_io *io);
/* AOF: the LOADCHUNK commands that restore it. */
void bm_staged_chunks_emit(rm_io *io, rm_string *key, const bm_staged_chunks *s);
void bm_staged_chunks_digest(rm_digest *digest, const bm_staged_chunks *s);
/* NULL: no memory. */
bm_staged_chunks *bm_staged_chunks_clone(const bm_staged_chunks *s, bool unlimited);

#endif
