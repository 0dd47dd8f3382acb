/* A filter that arrives is a value of our own type which holds what has come (arrival.h, for
 * RedisBloom's chunks; staging.h, for ours); no filter is shown before it is whole. A header for a
 * key whose filter is still arriving begins anew, so that a script which was interrupted can be run
 * again.
 *
 * Every chunk is replicated as it came. One that shows the whole to be damaged is not: what had
 * come is dropped, and that is replicated.
 */
#include "chunks.h"

#include "args.h"
#include "clock.h"
#include "family.h"
#include "own_dump.h"
#include "reply.h"
#include "staging.h"

#include <string.h>

/* A chunk that was not taken. One that a master took must not be missing here in silence. */
static int reply_error(rm_ctx *ctx, bm_key *key, bly_status status, bm_refusal refusal,
                       const char *(*text)(bly_status)) {
    if (bm_lose(ctx, key, bly_strerror(status)))
        return RM_OK;
    return rm.ReplyWithError(ctx, status == BLY_ENOMEM ? bm_refusal_text(refusal) : text(status));
}

/* One more chunk is there; more are to come. Listeners are told when all are. */
static int taken(rm_ctx *ctx, bm_key *key) {
    bm_value_changed(key->value);
    rm.SignalModifiedKey(ctx, key->name);
    rm.ReplicateVerbatim(ctx);
    return rm.ReplyWithSimpleString(ctx, "OK");
}

/* All are there. */
static int complete(rm_ctx *ctx, bm_key *key, const bm_chunks *family) {
    bm_key_changed(ctx, key, family->event);
    rm.ReplicateVerbatim(ctx);
    return rm.ReplyWithSimpleString(ctx, "OK");
}

/* ---- RedisBloom's ---------------------------------------------------------------------------- */

static bm_value *begin_arrival(bly_bytes header, bool unlimited, const bm_chunks *family,
                               bly_status *status, bm_refusal *refusal) {
    *status = BLY_ENOMEM;
    *refusal = BM_REFUSED_SYSTEM;
    bm_value *value = bm_value_new(BM_FILTER);
    if (!value)
        return NULL;
    value->account.unlimited = unlimited;
    value->traits.face = (uint8_t)family->face;
    *status = family->begin(&value->account, header.data, header.size, &value->arrival);
    if (*status == BLY_OK)
        return value;
    *refusal = value->account.refusal;
    bm_value_free(value);
    return NULL;
}

static int load_arriving(rm_ctx *ctx, bm_key *key, uint64_t offset, bly_bytes chunk,
                         const bm_chunks *family) {
    bm_value *value = key->value;
    bly_status status = bm_arrival_put(value->arrival, offset, chunk.data, chunk.size);
    if (status == BLY_EFULL)
        return bm_error(ctx, "ERR too many gaps between the chunks that have come; send them in "
                             "order");
    if (status != BLY_OK)
        return reply_error(ctx, key, status, BM_REFUSED_SYSTEM, family->chunk_error);
    if (!bm_arrival_complete(value->arrival))
        return taken(ctx, key);
    bm_value *whole = bm_arrival_finish(value->arrival);
    value->arrival = NULL;
    bm_key_set(key, whole);
    return complete(ctx, key, family);
}

/* For a filter that is complete, and may have been added to since: RedisBloom writes the chunk over
 * it, and the keys that came later are gone. A chunk that is there already, since the client did
 * not hear that it had been taken, is good; what differs is refused, unless a master did it. */
static int load_over(rm_ctx *ctx, bm_key *key, uint64_t offset, bly_bytes chunk,
                     const bm_chunks *family) {
    bly_bytes there = family->read(key->value, offset, chunk.size);
    bool fits = chunk.size && there.size == chunk.size;
    if (fits && memcmp(there.data, chunk.data, chunk.size) == 0)
        return rm.ReplyWithSimpleString(ctx, "OK");
    if (fits && !bm_family_lax(ctx))
        return bm_error(ctx, "ERR the filter is complete, and has other bytes there; delete the "
                             "key to load another, or set bf.compat yes to write over it");
    bly_status status = family->write(key->value, offset, chunk.data, chunk.size);
    if (status != BLY_OK)
        return reply_error(ctx, key, status, BM_REFUSED_SYSTEM, family->chunk_error);
    return complete(ctx, key, family);
}

/* ---- ours ------------------------------------------------------------------------------------ */

static int finish_own(rm_ctx *ctx, bm_key *key, const bm_chunks *family) {
    bm_value *value = key->value;
    value->traits = *bm_staging_traits(value->staging);
    bly_status status = bm_staging_finish(value->staging, &value->as.filter, &value->keyless);
    value->staging = NULL;
    if (status == BLY_OK) {
        bm_clock_enter(ctx, key);
        return complete(ctx, key, family);
    }
    if (bm_lose(ctx, key, bly_strerror(status)))
        return RM_OK;
    rm.DeleteKey(key->key);
    key->value = NULL;
    rm.SignalModifiedKey(ctx, key->name);
    rm.Replicate(ctx, "DEL", "s", key->name);
    return bm_error(ctx,
                    "ERR the filter could not be loaded, and what had come of it is dropped: "
                    "%s",
                    bly_strerror(status));
}

static int load_own(rm_ctx *ctx, bm_key *key, uint64_t iter, bly_bytes chunk,
                    const bm_chunks *family) {
    bm_value *value = key->value;
    bly_status status = bm_own_append(value, iter, chunk);
    if (status == BLY_EMISMATCH && !bm_is_replayed(ctx))
        return bm_error(ctx, "ERR expected the chunk that SCANDUMP gives at %llu",
                        (unsigned long long)bm_own_expected(value));
    if (status != BLY_OK)
        return reply_error(ctx, key, status, value->account.refusal, family->chunk_error);
    return bm_own_complete(value) ? finish_own(ctx, key, family) : taken(ctx, key);
}

/* ---- both ------------------------------------------------------------------------------------ */

static int load_header(rm_ctx *ctx, bm_key *key, bly_bytes header, const bm_chunks *family) {
    if (key->what != BM_MISSING && !bm_is_hollow(key->value))
        return rm.ReplyWithError(ctx, family->header_error(BLY_EFULL));
    if (key->value && bm_is_lost(key->value) && !bm_is_replayed(ctx))
        return rm.ReplyWithError(ctx, bm_lost_text(key->value));
    bly_status status;
    bm_refusal refusal;
    bool unlimited = bm_is_replayed(ctx);
    bm_value *value = bm_own_is_header(header.data, header.size)
                          ? bm_own_begin(header, family->face, unlimited, &status, &refusal)
                          : begin_arrival(header, unlimited, family, &status, &refusal);
    if (!value)
        return reply_error(ctx, key, status, refusal, family->header_error);
    bm_key_set(key, value);
    return taken(ctx, key);
}

static int load(rm_ctx *ctx, bm_key *key, long long iter, bly_bytes chunk,
                const bm_chunks *family) {
    bool missing = key->what == BM_MISSING;
    if (!missing && !family->takes(key))
        return rm.ReplyWithError(ctx, BM_WRONGTYPE);
    if (iter == 1)
        return load_header(ctx, key, chunk, family);
    if (missing)
        return rm.ReplyWithError(ctx, "ERR not found");
    if (bm_is_lost(key->value))
        return bm_lose(ctx, key, "a chunk came for it")
                   ? RM_OK
                   : rm.ReplyWithError(ctx, bm_lost_text(key->value));
    if (iter < 1 || (uint64_t)iter - 1 < chunk.size)
        return rm.ReplyWithError(ctx, family->chunk_error(BLY_ECORRUPT));
    uint64_t offset = (uint64_t)iter - 1 - chunk.size;
    bm_value *value = key->value;
    if (value->what != BM_FILTER)
        return load_over(ctx, key, offset, chunk, family);
    if (value->as.filter)
        return bm_error(ctx, "ERR the filter is complete; delete the key to load another");
    if (value->arrival)
        return load_arriving(ctx, key, offset, chunk, family);
    return load_own(ctx, key, (uint64_t)iter, chunk, family);
}

int bm_loadchunk(rm_ctx *ctx, rm_string **argv, long long iter, const bm_chunks *family) {
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    load(ctx, &key, iter, bm_bytes(argv[3]), family);
    bm_key_close(&key);
    return RM_OK;
}
