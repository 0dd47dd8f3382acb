/* cf_dump.c - CF.SCANDUMP and CF.LOADCHUNK. Of RedisBloom's type the chunks are RedisBloom's, byte
 * for byte; of ours see own_dump.h.
 */
#include "args.h"
#include "chunks.h"
#include "commands.h"
#include "family.h"
#include "own_dump.h"
#include "reply.h"

static int reply_chunk(rm_ctx *ctx, long long next, const void *data, size_t size) {
    rm.ReplyWithArray(ctx, 2);
    rm.ReplyWithLongLong(ctx, next);
    return data ? rm.ReplyWithStringBuffer(ctx, data, size) : rm.ReplyWithNull(ctx);
}

/* RedisBloom gives nothing of a filter without keys. */
static int scandump(rm_ctx *ctx, bm_value *value, long long pos) {
    if (value->what == BM_FILTER)
        return bm_own_scandump(ctx, value, (uint64_t)pos, true);
    const bly_rb_cuckoo *f = value->as.cuckoo;
    if (bly_rb_cuckoo_look(f).items == 0)
        return reply_chunk(ctx, 0, NULL, 0);
    if (pos == 0) {
        uint8_t header[BLY_RB_CUCKOO_HEADER];
        bly_rb_cuckoo_header(f, header);
        return reply_chunk(ctx, 1, header, sizeof header);
    }
    bly_bytes data = bly_rb_cuckoo_read(f, (uint64_t)pos - 1, BLY_RB_CHUNK);
    if (data.size == 0)
        return reply_chunk(ctx, 0, NULL, 0);
    return reply_chunk(ctx, pos + (long long)data.size, data.data, data.size);
}

int bm_cf_scandump(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_key key;
    long long pos;
    if (bm_family_look(ctx, argv[1], bm_cf_takes, &key)) {
        if (!bm_integer(argv[2], &pos) || pos < 0)
            rm.ReplyWithError(ctx, "Invalid position");
        else
            scandump(ctx, key.value, pos);
    }
    bm_key_close(&key);
    return RM_OK;
}

/* ---- LOADCHUNK ------------------------------------------------------------------------------- */

static bly_status begin(bm_account *account, const void *header, size_t size, bm_arrival **out) {
    *out = NULL;
    if (size != BLY_RB_CUCKOO_HEADER)
        return BLY_EINVAL;
    return bm_arrival_begin_cuckoo(account, header, size, out);
}

static bly_bytes read_chunk(const bm_value *value, uint64_t offset, size_t most) {
    return bly_rb_cuckoo_read(value->as.cuckoo, offset, most);
}

static bly_status write_chunk(bm_value *value, uint64_t offset, const void *data, size_t size) {
    return bly_rb_cuckoo_write(value->as.cuckoo, offset, data, size);
}

static const char *header_error(bly_status status) {
    switch (status) {
    case BLY_EFULL:
        return "ERR item exists";
    case BLY_EINVAL:
        return "Invalid header";
    default:
        return "Couldn't create filter!";
    }
}

static const char *chunk_error(bly_status status) {
    (void)status;
    return "Couldn't load chunk!";
}

int bm_cf_loadchunk(rm_ctx *ctx, rm_string **argv, int argc) {
    static const bm_chunks family = {.face = BM_FACE_CF,
                                     .event = "cuckoo.load",
                                     .takes = bm_cf_takes,
                                     .begin = begin,
                                     .read = read_chunk,
                                     .write = write_chunk,
                                     .header_error = header_error,
                                     .chunk_error = chunk_error};
    long long pos;
    if (argc != 4)
        return rm.WrongArity(ctx);
    if (!bm_integer(argv[2], &pos) || pos <= 0)
        return rm.ReplyWithError(ctx, "Invalid position");
    return bm_loadchunk(ctx, argv, pos, &family);
}
