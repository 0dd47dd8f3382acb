/* native_chunks.c - SCANDUMP and LOADCHUNK of filters in the library's own layouts. */
#include "load/native_chunks.h"

#include "commands/bly.h"
#include "commands/command_reply.h"
#include "load/staged_file.h"

#include <bloomery/host/chunks.h>
#include <string.h>

static const char MAGIC[8] = {'B', 'L', 'Y', 'D', 'U', 'M', 'P', '1'};
enum {
    TOTAL_AT = sizeof MAGIC,
    TRAITS_AT = TOTAL_AT + 8,
    FILE_AT = TRAITS_AT + BM_TRAITS_BYTES,
    HEADER = FILE_AT + BLY_FILE_HEADER,
    CHUNK = 4 << 20 /* maximum bytes of a chunk, which take a millisecond or two to copy */
};

/* ---- SCANDUMP -------------------------------------------------------------------------------- */

static int reply_chunk(rm_ctx *ctx, uint64_t next, const void *data, size_t size) {
    rm.ReplyWithArray(ctx, 2);
    rm.ReplyWithLongLong(ctx, (long long)next);
    return rm.ReplyWithStringBuffer(ctx, data, size);
}

static int reply_end(rm_ctx *ctx, bool null_end) {
    if (!null_end)
        return reply_chunk(ctx, 0, "", 0);
    rm.ReplyWithArray(ctx, 2);
    rm.ReplyWithLongLong(ctx, 0);
    return rm.ReplyWithNull(ctx);
}

static int reply_header(rm_ctx *ctx, bm_value *value) {
    const bly_chunks *image = bm_bly_image(value);
    if (!image)
        return bm_status_error(ctx, BLY_ENOMEM);
    uint8_t header[HEADER];
    uint64_t total = bly_chunks_size(image);
    memcpy(header, MAGIC, sizeof MAGIC);
    for (int i = 0; i < 8; i++)
        header[TOTAL_AT + i] = (uint8_t)(total >> 8 * i);
    bm_traits_encode(&value->traits, header + TRAITS_AT);
    bly_chunks_read(image, 0, header + FILE_AT, BLY_FILE_HEADER);
    return reply_chunk(ctx, 1, header, sizeof header);
}

int bm_native_scandump(rm_ctx *ctx, bm_value *value, uint64_t iter, bool null_end) {
    if (iter == 0)
        return reply_header(ctx, value);
    if (value->image_stamp == 0) /* no dump has been started */
        return bm_error(ctx, "ERR no dump of this filter was started; start at 0");
    if (value->image_stamp != value->stamp)
        return bm_error(ctx,
                        "ERR the filter changed during the dump; start again at 0, or dump a COPY");
    /* Defragmentation may have closed the image. Since the filter has not changed, a new image has
     * the same bytes. */
    const bly_chunks *image = bm_bly_image(value);
    if (!image)
        return bm_status_error(ctx, BLY_ENOMEM);
    uint64_t at = iter - 1 + BLY_FILE_HEADER;
    uint64_t total = bly_chunks_size(image);
    if (at >= total)
        return reply_end(ctx, null_end);
    size_t size = total - at < CHUNK ? (size_t)(total - at) : CHUNK;
    void *buffer = rm.TryAlloc(size);
    if (!buffer)
        return bm_status_error(ctx, BLY_ENOMEM);
    size = bly_chunks_read(image, at, buffer, size);
    reply_chunk(ctx, iter + size, buffer, size);
    rm.Free(buffer);
    return RM_OK;
}

/* ---- LOADCHUNK ------------------------------------------------------------------------------- */

bool bm_native_is_header(const void *data, size_t size) {
    return size == HEADER && memcmp(data, MAGIC, sizeof MAGIC) == 0;
}

/* Whether the commands of this face (BF.* or CF.*) accept the filter that the header announces. */
static bool face_accepts(bm_face face, const bm_traits *traits, const uint8_t *file) {
    bly_file_info info = {.struct_size = sizeof info};
    if (bly_file_parse_info(file, BLY_FILE_HEADER, &info) != BLY_OK)
        return false;
    if (face == BM_FACE_BF)
        return traits->face != BM_FACE_CF;
    return traits->face != BM_FACE_BF && bly_kind_capabilities(info.geometry.kind) & BLY_CAN_REMOVE;
}

bm_value *bm_native_begin(bly_bytes header, bm_face face, bool unlimited, bly_status *status,
                          bm_refusal *refusal) {
    const uint8_t *bytes = header.data;
    bm_traits traits;
    *refusal = BM_REFUSED_SYSTEM;
    *status = BLY_ECORRUPT;
    if (!bm_native_is_header(bytes, header.size) ||
        !bm_traits_decode(bytes + TRAITS_AT, BM_TRAITS_BYTES, &traits) ||
        !face_accepts(face, &traits, bytes + FILE_AT))
        return NULL;
    *status = BLY_ENOMEM;
    bm_value *value = bm_value_new(BM_FILTER);
    if (!value)
        return NULL;
    uint64_t total = 0;
    for (int i = 0; i < 8; i++)
        total |= (uint64_t)bytes[TOTAL_AT + i] << 8 * i;
    value->account.unlimited = unlimited;
    value->traits = traits;
    *status = bm_staged_file_begin(&value->account, total, bytes + FILE_AT, BLY_FILE_HEADER,
                                   &traits, &value->staged_file);
    if (*status == BLY_OK)
        return value;
    *refusal = value->account.refusal;
    bm_value_free(value);
    return NULL;
}

bly_status bm_native_append(bm_value *value, uint64_t iter, bly_bytes chunk) {
    if (iter < 1 || iter - 1 < chunk.size)
        return BLY_EINVAL;
    uint64_t at = iter - 1 - chunk.size + BLY_FILE_HEADER;
    uint64_t received = bm_staged_file_received(value->staged_file);
    if (at + chunk.size <= received)
        return BLY_OK;
    if (at != received)
        return BLY_EMISMATCH;
    return bm_staged_file_append(value->staged_file, chunk.data, chunk.size);
}

uint64_t bm_native_expected(const bm_value *value) {
    return bm_staged_file_received(value->staged_file) - BLY_FILE_HEADER + 1;
}

bool bm_native_complete(const bm_value *value) {
    return bm_staged_file_received(value->staged_file) == bm_staged_file_total(value->staged_file);
}
