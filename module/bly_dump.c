/* bly_dump.c - BLY.DUMP: a filter's file, piece by piece.
 *
 * The file's headers and sums are worked out at the first piece and kept until the filter changes;
 * the stamp in the reply tells whether it has. A client that sees another stamp begins anew, or
 * dumps a COPY of the key, which stays as it is.
 */
#include "args.h"
#include "bly.h"
#include "commands.h"
#include "reply.h"

enum { DEFAULT_BYTES = 1 << 20, MOST_BYTES = 64 << 20 };

const bly_image *bm_bly_image(bm_value *value) {
    if (value->image && value->image_stamp == value->stamp)
        return value->image;
    bly_image_close(value->image);
    value->image = NULL;
    value->image_account.apart = true;
    bly_allocator a = bm_allocator(&value->image_account);
    bly_status status = bly_image_open(value->as.filter, &a, &value->image);
    value->image_stamp = value->stamp;
    return status == BLY_OK ? value->image : NULL;
}

static void reply_piece(rm_ctx *ctx, bm_value *value, uint64_t offset, size_t most) {
    const bly_image *image = bm_bly_image(value);
    uint64_t total = image ? bly_image_size(image) : 0;
    uint64_t left = offset < total ? total - offset : 0;
    if (most > left)
        most = (size_t)left;
    char *data = rm.TryAlloc(most ? most : 1);
    if (!image || !data) {
        bm_status_error(ctx, BLY_ENOMEM);
    } else {
        size_t size = bly_image_copy(image, offset, data, most);
        rm.ReplyWithArray(ctx, 3);
        rm.ReplyWithLongLong(ctx, (long long)total);
        rm.ReplyWithLongLong(ctx, (long long)value->stamp);
        rm.ReplyWithStringBuffer(ctx, data, size);
    }
    if (data)
        rm.Free(data);
}

int bm_bly_dump(rm_ctx *ctx, rm_string **argv, int argc) {
    uint64_t offset, most = DEFAULT_BYTES;
    bm_key key;
    if (argc != 3 && argc != 5)
        return rm.WrongArity(ctx);
    if (!bm_unsigned(argv[2], &offset))
        return rm.ReplyWithError(ctx, "ERR the offset must be a whole number, 0 or more");
    if (argc == 5 && !bm_is(argv[3], "COUNT"))
        return rm.ReplyWithError(ctx, "ERR the only option is COUNT bytes");
    if (argc == 5 && (!bm_unsigned(argv[4], &most) || most < 1 || most > MOST_BYTES))
        return bm_error(ctx, "ERR COUNT must be a whole number from 1 to %d", MOST_BYTES);
    if (!bm_bly_open(ctx, argv[1], RM_READ, &key))
        return RM_OK;
    if (key.what == BM_FILTER)
        reply_piece(ctx, key.value, offset, (size_t)most);
    else
        bm_error(ctx, "ERR this filter is in RedisBloom's layout: dump it with %s.SCANDUMP",
                 key.what == BM_RB_BLOOM ? "BF" : "CF");
    bm_key_close(&key);
    return RM_OK;
}
