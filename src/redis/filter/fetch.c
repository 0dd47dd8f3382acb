/* A copy in memory of a filter on servers.
 *
 * Every piece is read together with a look at the shard's identity, so that the copy cannot be made
 * of two filters. Bits are only ever set: what is added meanwhile may be in it or not, and nothing
 * that was there before is missing. Memory is taken only when the servers have said that all the
 * strings are there, as long as they should be.
 */
#include "redis/filter/move.h"

#include "filters/ops.h"

#include <inttypes.h>
#include <string.h>

static bly_status read_shard_facts(bly_redis_filter *f, void *ctx, uint64_t shard,
                                   const bly_redis_value *value, bool repeated) {
    uint64_t *count = ctx;
    blyi_shard_facts facts;
    (void)repeated;
    const bly_status status = blyi_remote_read_facts(f, value, &facts);
    if (status)
        return status;
    const uint64_t bytes = bly_bitmap_shard_bytes(&f->bitmap, (uint32_t)shard);
    if (facts.bytes != bytes)
        return blyi_remote_fail(f, BLY_ECORRUPT,
                                "%s has %" PRIu64 " bytes instead of %" PRIu64
                                ": it is damaged; delete it, and make the filter anew",
                                blyi_remote_it(f, (uint32_t)shard).text, facts.bytes, bytes);
    *count = blyi_sum(*count, facts.count);
    return BLY_OK;
}

static bly_status ask_piece(bly_redis_filter *f, void *ctx, uint64_t i, bly_bitmap_command **out) {
    const blyi_piece *piece = &((const blyi_move *)ctx)->round[i];
    return blyi_bitmap_read(&f->bitmap, f->name, piece->shard, piece->at, piece->bytes, out);
}

static bly_status read_piece(bly_redis_filter *f, void *ctx, uint64_t i,
                             const bly_redis_value *value, bool repeated) {
    const blyi_piece *piece = &((const blyi_move *)ctx)->round[i];
    (void)repeated;
    if (value->type != BLY_REDIS_TEXT || value->text.size != piece->bytes)
        return blyi_remote_nonsense(f);
    memcpy(piece->here, value->text.data, piece->bytes);
    return BLY_OK;
}

static bly_status make_copy(bly_redis_filter *f, uint64_t count, bly_filter **out) {
    const blyi_shape shape = {
        .geometry = f->bitmap.geometry,
        .hasher = f->bitmap.hasher,
        .capacity = f->bitmap.capacity,
        .items = count,
        .fpr = f->bitmap.fpr,
        .approximate = f->bitmap.approximate,
        .keyless = f->keyless,
        .key_rule = f->bitmap.key_rule,
    };
    const bly_status status = blyi_filter_make(&shape, NULL, NULL, out);
    return status ? blyi_remote_fail(f, status, "%s", bly_strerror(status)) : BLY_OK;
}

bly_status bly_redis_filter_fetch(bly_redis_filter *f, bly_redis_progress progress, void *ctx,
                                  bly_filter **out) {
    static const blyi_errand facts = {.make = blyi_remote_ask_facts, .read = read_shard_facts},
                             pieces = {.make = ask_piece, .read = read_piece};
    bly_filter *copy = NULL;
    uint64_t count = 0;
    *out = NULL;
    if (f->bitmap.form != BLY_BITMAP_NATIVE)
        return blyi_remote_fail(
            f, BLY_EUNSUPPORTED,
            "a filter of go-zero's has no form in memory; it stays where it is");
    bly_status status = blyi_remote_run(f, &facts, &count, 0, f->bitmap.shards);
    if (status == BLY_OK)
        status = make_copy(f, count, &copy);
    if (status)
        return status;
    blyi_move move = {.body = copy->body, .progress = progress, .ctx = ctx};
    status = blyi_move_all(f, &move, &pieces);
    if (status == BLY_OK)
        *out = copy;
    else
        bly_filter_destroy(copy);
    return status;
}
