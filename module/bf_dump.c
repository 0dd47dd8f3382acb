/* bf_dump.c - BF.SCANDUMP and BF.LOADCHUNK. Of RedisBloom's type the chunks are RedisBloom's, byte
 * for byte; of ours see own_dump.h.
 */
#include "args.h"
#include "chunks.h"
#include "commands.h"
#include "family.h"
#include "own_dump.h"
#include "reply.h"

static int reply_header(rm_ctx *ctx, const bly_rb_bloom *f) {
    size_t size = bly_rb_bloom_header_size(f);
    uint8_t *header = rm.TryAlloc(size);
    if (!header)
        return bm_status_error(ctx, BLY_ENOMEM);
    bly_rb_bloom_header(f, header);
    rm.ReplyWithArray(ctx, 2);
    rm.ReplyWithLongLong(ctx, 1);
    rm.ReplyWithStringBuffer(ctx, (const char *)header, size);
    rm.Free(header);
    return RM_OK;
}

static int reply_end(rm_ctx *ctx) {
    rm.ReplyWithArray(ctx, 2);
    rm.ReplyWithLongLong(ctx, 0);
    return rm.ReplyWithStringBuffer(ctx, "", 0);
}

static int scandump(rm_ctx *ctx, bm_value *value, long long iter) {
    if (iter < 0)
        return reply_end(ctx);
    if (value->what == BM_FILTER)
        return bm_own_scandump(ctx, value, (uint64_t)iter, false);
    if (iter == 0)
        return reply_header(ctx, value->as.bloom);
    bly_bytes data = bly_rb_bloom_read(value->as.bloom, (uint64_t)iter - 1, BLY_RB_CHUNK);
    if (data.size == 0)
        return reply_end(ctx);
    rm.ReplyWithArray(ctx, 2);
    rm.ReplyWithLongLong(ctx, iter + (long long)data.size);
    return rm.ReplyWithStringBuffer(ctx, data.data, data.size);
}

int bm_bf_scandump(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_key key;
    long long iter;
    if (bm_family_look(ctx, argv[1], bm_bf_takes, &key)) {
        if (!bm_integer(argv[2], &iter))
            rm.ReplyWithError(ctx, "Second argument must be numeric");
        else
            scandump(ctx, key.value, iter);
    }
    bm_key_close(&key);
    return RM_OK;
}

/* ---- LOADCHUNK ------------------------------------------------------------------------------- */

static bly_bytes read_chunk(const bm_value *value, uint64_t offset, size_t most) {
    return bly_rb_bloom_read(value->as.bloom, offset, most);
}

static bly_status write_chunk(bm_value *value, uint64_t offset, const void *data, size_t size) {
    return bly_rb_bloom_write(value->as.bloom, offset, data, size);
}

static const char *header_error(bly_status status) {
    (void)status;
    return "ERR received bad data";
}

static const char *chunk_error(bly_status status) {
    switch (status) {
    case BLY_EINVAL:
        return "ERR invalid offset - no link found";
    case BLY_ETOOBIG:
        return "ERR invalid chunk - Too big for current filter";
    default:
        return "ERR received bad data";
    }
}

int bm_bf_loadchunk(rm_ctx *ctx, rm_string **argv, int argc) {
    static const bm_chunks family = {.face = BM_FACE_BF,
                                     .event = "bloom.load",
                                     .takes = bm_bf_takes,
                                     .begin = bm_arrival_begin_bloom,
                                     .read = read_chunk,
                                     .write = write_chunk,
                                     .header_error = header_error,
                                     .chunk_error = chunk_error};
    long long iter;
    if (argc != 4)
        return rm.WrongArity(ctx);
    if (!bm_integer(argv[2], &iter))
        return rm.ReplyWithError(ctx, "ERR Second argument must be numeric");
    return bm_loadchunk(ctx, argv, iter, &family);
}
