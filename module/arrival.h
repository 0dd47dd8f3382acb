/* arrival.h - a filter of RedisBloom's that arrives by BF.LOADCHUNK or CF.LOADCHUNK: which bytes of
 * it are there. Until all are, it is not shown as a filter: a half of one would deny keys that it
 * has.
 */
#ifndef BLOOMERY_MODULE_ARRIVAL_H
#define BLOOMERY_MODULE_ARRIVAL_H

#include "value.h"

typedef struct bm_arrival bm_arrival;

/* From SCANDUMP's header. BLY_ECORRUPT, BLY_ENOMEM, BLY_ETOOBIG. What arrives is on an account of
 * its own, with limits if `account` has; of BLY_ENOMEM account->refusal tells the reason. */
bly_status bm_arrival_begin_bloom(bm_account *account, const void *header, size_t size,
                                  bm_arrival **out);
bly_status bm_arrival_begin_cuckoo(bm_account *account, const void *header, size_t size,
                                   bm_arrival **out);
bm_what bm_arrival_what(const bm_arrival *a);   /* BM_RB_BLOOM or BM_RB_CUCKOO */
uint64_t bm_arrival_bytes(const bm_arrival *a); /* of memory */
/* Bytes for that offset of the filter's data, in any order, again if need be. As
 * bly_rb_bloom_write, BLY_ENOMEM, and BLY_EFULL: there would be too many gaps. */
bly_status bm_arrival_put(bm_arrival *a, uint64_t offset, const void *data, size_t size);
bool bm_arrival_complete(const bm_arrival *a);
/* What has arrived becomes a value of RedisBloom's type; the arrival is used up. Never NULL. */
bm_value *bm_arrival_finish(bm_arrival *a);
void bm_arrival_free(bm_arrival *a); /* NULL does nothing */

/* RDB: written and read by the type's own methods. NULL when what is read is wrong. */
void bm_arrival_save(rm_io *io, const bm_arrival *a);
bm_arrival *bm_arrival_load(rm_io *io);
/* AOF: the LOADCHUNK commands that bring it to where it is. */
void bm_arrival_emit(rm_io *io, rm_string *key, const bm_arrival *a);
void bm_arrival_digest(rm_digest *digest, const bm_arrival *a);
/* NULL: no memory. */
bm_arrival *bm_arrival_clone(const bm_arrival *a, bool unlimited);

#endif
