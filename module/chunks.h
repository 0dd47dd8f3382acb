/* chunks.h - LOADCHUNK, of BF.* and CF.*: the way is the same, the words differ. */
#ifndef BLOOMERY_MODULE_CHUNKS_H
#define BLOOMERY_MODULE_CHUNKS_H

#include "arrival.h"

typedef struct bm_chunks {
    bm_face face;
    const char *event;
    bool (*takes)(const bm_key *key);
    /* RedisBloom's header. */
    bly_status (*begin)(bm_account *account, const void *header, size_t size, bm_arrival **out);
    /* Of a filter of RedisBloom's type that is complete: what is there, as bly_rb_bloom_read, and
     * putting a chunk in its place. */
    bly_bytes (*read)(const bm_value *value, uint64_t offset, size_t most);
    bly_status (*write)(bm_value *value, uint64_t offset, const void *data, size_t size);
    /* The error texts, but for a lack of memory. Of a header BLY_EINVAL means its length, and
     * BLY_EFULL that the key has a filter already; of a chunk BLY_ECORRUPT that its iterator cannot
     * be right. */
    const char *(*header_error)(bly_status status);
    const char *(*chunk_error)(bly_status status);
} bm_chunks;

/* LOADCHUNK key iter data, with iter as read. */
int bm_loadchunk(rm_ctx *ctx, rm_string **argv, long long iter, const bm_chunks *family);

#endif
