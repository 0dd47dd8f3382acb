/* loadchunk.c - SCANDUMP and LOADCHUNK of BF.* and CF.*.
 *
 * For filters of RedisBloom's types, the chunks are those of RedisBloom, byte for byte. The chunks
 * of other filters are described in native_chunks.h.
 *
 * A filter that is being loaded is a staged load in a bloomery1 value (redisbloom_chunks.h for
 * RedisBloom's chunks, staged_file.h for native ones). The key has no filter until all chunks have
 * been received. If the key has a staged load, another header starts the load again, so that an
 * interrupted script can be run again.
 *
 * Every accepted chunk is replicated verbatim. Exception: if a chunk completes a damaged filter,
 * the staged load is dropped, and the deletion of the key is replicated instead.
 */
#include "command_table.h"
#include "commands/bf_cf_common.h"
#include "commands/command_args.h"
#include "commands/command_reply.h"
#include "load/native_chunks.h"
#include "load/redisbloom_chunks.h"
#include "load/staged_file.h"
#include "runtime/server_state.h"
#include "runtime/window_timer.h"

#include <bloomery/host/redisbloom.h>
#include <string.h>

/* ---- SCANDUMP -------------------------------------------------------------------------------- */

/* Replies with [next, data]; with [next, null] if `data` is NULL. */
static int reply_chunk(rm_ctx *ctx, long long next, const void *data, size_t size) {
    rm.ReplyWithArray(ctx, 2);
    rm.ReplyWithLongLong(ctx, next);
    return data ? rm.ReplyWithStringBuffer(ctx, data, size) : rm.ReplyWithNull(ctx);
}

static int bf_reply_header(rm_ctx *ctx, const bly_rb_bloom *f) {
    size_t size = bly_rb_bloom_header_size(f);
    uint8_t *header = rm.TryAlloc(size);
    if (!header)
        return bm_status_error(ctx, BLY_ENOMEM);
    bly_rb_bloom_header(f, header);
    reply_chunk(ctx, 1, header, size);
    rm.Free(header);
    return RM_OK;
}

static int bf_scandump(rm_ctx *ctx, bm_value *value, long long iter) {
    if (iter < 0)
        return reply_chunk(ctx, 0, "", 0);
    if (value->type == BM_FILTER)
        return bm_native_scandump(ctx, value, (uint64_t)iter, false);
    if (iter == 0)
        return bf_reply_header(ctx, value->as.bloom);
    bly_bytes data = bly_rb_bloom_read(value->as.bloom, (uint64_t)iter - 1, BLY_RB_CHUNK);
    if (data.size == 0)
        return reply_chunk(ctx, 0, "", 0);
    return reply_chunk(ctx, iter + (long long)data.size, data.data, data.size);
}

int bm_bf_scandump(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_key key;
    long long iter;
    if (bm_open_for_read(ctx, argv[1], bm_bf_accepts, &key)) {
        if (!bm_integer(argv[2], &iter))
            rm.ReplyWithError(ctx, "Second argument must be numeric");
        else
            bf_scandump(ctx, key.value, iter);
    }
    bm_key_close(&key);
    return RM_OK;
}

/* Replies with a chunk of a cuckoo filter. A filter without keys has no chunks, as in
 * RedisBloom. */
static int cf_scandump(rm_ctx *ctx, bm_value *value, long long pos) {
    if (value->type == BM_FILTER)
        return bm_native_scandump(ctx, value, (uint64_t)pos, true);
    const bly_rb_cuckoo *f = value->as.cuckoo;
    if (bly_rb_cuckoo_get_info(f).items == 0)
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
    if (bm_open_for_read(ctx, argv[1], bm_cf_accepts, &key)) {
        if (!bm_integer(argv[2], &pos) || pos < 0)
            rm.ReplyWithError(ctx, "Invalid position");
        else
            cf_scandump(ctx, key.value, pos);
    }
    bm_key_close(&key);
    return RM_OK;
}

/* ---- LOADCHUNK: what differs between BF.* and CF.* ------------------------------------------- */

typedef struct family {
    bm_face face;
    const char *event;
    bool (*accepts)(const bm_key *key);
    /* Begins a staged load with RedisBloom's header. */
    bly_status (*begin)(bm_account *account, const void *header, size_t size,
                        bm_staged_chunks **out);
    /* Read and overwrite the data of a complete filter of RedisBloom's type, as bly_rb_bloom_read
     * and bly_rb_bloom_write do. */
    bly_bytes (*read)(const bm_value *value, uint64_t offset, size_t max);
    bly_status (*write)(bm_value *value, uint64_t offset, const void *data, size_t size);
    /* Return the texts of errors other than lack of memory. For a header, BLY_EINVAL means a wrong
     * length, and BLY_EFULL that the key already has a filter. For a chunk, BLY_ECORRUPT means that
     * its iterator is not possible. */
    const char *(*header_error)(bly_status status);
    const char *(*chunk_error)(bly_status status);
} family;

static bly_bytes bf_read(const bm_value *value, uint64_t offset, size_t max) {
    return bly_rb_bloom_read(value->as.bloom, offset, max);
}

static bly_status bf_write(bm_value *value, uint64_t offset, const void *data, size_t size) {
    return bly_rb_bloom_write(value->as.bloom, offset, data, size);
}

static const char *bf_header_error(bly_status status) {
    (void)status;
    return "ERR received bad data";
}

static const char *bf_chunk_error(bly_status status) {
    switch (status) {
    case BLY_EINVAL:
        return "ERR invalid offset - no link found";
    case BLY_ETOOBIG:
        return "ERR invalid chunk - Too big for current filter";
    default:
        return "ERR received bad data";
    }
}

static const family bf = {.face = BM_FACE_BF,
                          .event = "bloom.load",
                          .accepts = bm_bf_accepts,
                          .begin = bm_staged_chunks_begin_bloom,
                          .read = bf_read,
                          .write = bf_write,
                          .header_error = bf_header_error,
                          .chunk_error = bf_chunk_error};

static bly_status cf_begin(bm_account *account, const void *header, size_t size,
                           bm_staged_chunks **out) {
    *out = NULL;
    if (size != BLY_RB_CUCKOO_HEADER)
        return BLY_EINVAL;
    return bm_staged_chunks_begin_cuckoo(account, header, size, out);
}

static bly_bytes cf_read(const bm_value *value, uint64_t offset, size_t max) {
    return bly_rb_cuckoo_read(value->as.cuckoo, offset, max);
}

static bly_status cf_write(bm_value *value, uint64_t offset, const void *data, size_t size) {
    return bly_rb_cuckoo_write(value->as.cuckoo, offset, data, size);
}

static const char *cf_header_error(bly_status status) {
    switch (status) {
    case BLY_EFULL:
        return "ERR item exists";
    case BLY_EINVAL:
        return "Invalid header";
    default:
        return "Couldn't create filter!";
    }
}

static const char *cf_chunk_error(bly_status status) {
    (void)status;
    return "Couldn't load chunk!";
}

static const family cf = {.face = BM_FACE_CF,
                          .event = "cuckoo.load",
                          .accepts = bm_cf_accepts,
                          .begin = cf_begin,
                          .read = cf_read,
                          .write = cf_write,
                          .header_error = cf_header_error,
                          .chunk_error = cf_chunk_error};

/* ---- LOADCHUNK: replies ---------------------------------------------------------------------- */

/* Replies to a chunk that was not accepted. If the chunk was replayed, the master had accepted it,
 * so the key becomes a tombstone. */
static int reply_error(rm_ctx *ctx, bm_key *key, bly_status status, bm_refusal refusal,
                       const char *(*text)(bly_status)) {
    if (bm_tombstone_if_replayed(ctx, key, bly_strerror(status)))
        return RM_OK;
    return rm.ReplyWithError(ctx, status == BLY_ENOMEM ? bm_refusal_text(refusal) : text(status));
}

/* Replies to a chunk that was accepted, and after which more must follow. Keyspace listeners are
 * notified only of the last chunk. */
static int reply_accepted(rm_ctx *ctx, bm_key *key) {
    bm_value_changed(key->value);
    rm.SignalModifiedKey(ctx, key->name);
    rm.ReplicateVerbatim(ctx);
    return rm.ReplyWithSimpleString(ctx, "OK");
}

static int reply_complete(rm_ctx *ctx, bm_key *key, const family *f) {
    bm_key_changed(ctx, key, f->event);
    rm.ReplicateVerbatim(ctx);
    return rm.ReplyWithSimpleString(ctx, "OK");
}

/* ---- LOADCHUNK: RedisBloom's chunks ---------------------------------------------------------- */

static bm_value *begin_redisbloom(bly_bytes header, bool unlimited, const family *f,
                                  bly_status *status, bm_refusal *refusal) {
    *status = BLY_ENOMEM;
    *refusal = BM_REFUSED_SYSTEM;
    bm_value *value = bm_value_new(BM_FILTER);
    if (!value)
        return NULL;
    value->account.unlimited = unlimited;
    value->traits.face = (uint8_t)f->face;
    *status = f->begin(&value->account, header.data, header.size, &value->staged_chunks);
    if (*status == BLY_OK)
        return value;
    *refusal = value->account.refusal;
    bm_value_free(value);
    return NULL;
}

static int load_redisbloom(rm_ctx *ctx, bm_key *key, uint64_t offset, bly_bytes chunk,
                           const family *f) {
    bm_value *value = key->value;
    bly_status status =
        bm_staged_chunks_write(value->staged_chunks, offset, chunk.data, chunk.size);
    if (status == BLY_EFULL)
        return bm_error(ctx, "ERR too many gaps between the received chunks; send them in "
                             "order");
    if (status != BLY_OK)
        return reply_error(ctx, key, status, BM_REFUSED_SYSTEM, f->chunk_error);
    if (!bm_staged_chunks_complete(value->staged_chunks))
        return reply_accepted(ctx, key);
    bm_value *whole = bm_staged_chunks_finish(value->staged_chunks);
    value->staged_chunks = NULL;
    bm_key_set(key, whole);
    return reply_complete(ctx, key, f);
}

/* Handles a chunk for a filter that is already complete. Keys may have been added to the filter
 * since. RedisBloom overwrites the filter, and loses these keys. Here a chunk is accepted without
 * effect if the filter has the same bytes, because the client may send it again after losing the
 * reply. Other bytes are refused, unless the command is replayed or `compat` is on. */
static int load_over(rm_ctx *ctx, bm_key *key, uint64_t offset, bly_bytes chunk, const family *f) {
    bly_bytes present = f->read(key->value, offset, chunk.size);
    bool fits = chunk.size && present.size == chunk.size;
    if (fits && memcmp(present.data, chunk.data, chunk.size) == 0)
        return rm.ReplyWithSimpleString(ctx, "OK");
    if (fits && !bm_lax_options(ctx))
        return bm_error(ctx, "ERR the filter is complete, and has other bytes there; DEL the key "
                             "to load another, or set bf.compat yes to overwrite it");
    bly_status status = f->write(key->value, offset, chunk.data, chunk.size);
    if (status != BLY_OK)
        return reply_error(ctx, key, status, BM_REFUSED_SYSTEM, f->chunk_error);
    return reply_complete(ctx, key, f);
}

/* ---- LOADCHUNK: native chunks ---------------------------------------------------------------- */

static int finish_native(rm_ctx *ctx, bm_key *key, const family *f) {
    bm_value *value = key->value;
    value->traits = *bm_staged_file_traits(value->staged_file);
    bly_status status =
        bm_staged_file_finish(value->staged_file, &value->as.filter, &value->keyless);
    value->staged_file = NULL;
    if (status == BLY_OK) {
        bm_window_timer_add(ctx, key);
        return reply_complete(ctx, key, f);
    }
    if (bm_tombstone_if_replayed(ctx, key, bly_strerror(status)))
        return RM_OK;
    rm.DeleteKey(key->key);
    key->value = NULL;
    rm.SignalModifiedKey(ctx, key->name);
    rm.Replicate(ctx, "DEL", "s", key->name);
    return bm_error(ctx, "ERR the filter could not be loaded, and its chunks were dropped: %s",
                    bly_strerror(status));
}

static int load_native(rm_ctx *ctx, bm_key *key, uint64_t iter, bly_bytes chunk, const family *f) {
    bm_value *value = key->value;
    bly_status status = bm_native_append(value, iter, chunk);
    if (status == BLY_EMISMATCH && !bm_is_replayed(ctx))
        return bm_error(ctx, "ERR expected the chunk that SCANDUMP returns at %llu",
                        (unsigned long long)bm_native_expected(value));
    if (status != BLY_OK)
        return reply_error(ctx, key, status, value->account.refusal, f->chunk_error);
    return bm_native_complete(value) ? finish_native(ctx, key, f) : reply_accepted(ctx, key);
}

/* ---- LOADCHUNK ------------------------------------------------------------------------------- */

static int load_header(rm_ctx *ctx, bm_key *key, bly_bytes header, const family *f) {
    if (key->type != BM_MISSING && !bm_has_no_filter(key->value))
        return rm.ReplyWithError(ctx, f->header_error(BLY_EFULL));
    if (key->value && bm_is_tombstone(key->value) && !bm_is_replayed(ctx))
        return rm.ReplyWithError(ctx, bm_tombstone_error(key->value));
    bly_status status;
    bm_refusal refusal;
    bool unlimited = bm_is_replayed(ctx);
    bm_value *value = bm_native_is_header(header.data, header.size)
                          ? bm_native_begin(header, f->face, unlimited, &status, &refusal)
                          : begin_redisbloom(header, unlimited, f, &status, &refusal);
    if (!value)
        return reply_error(ctx, key, status, refusal, f->header_error);
    bm_key_set(key, value);
    return reply_accepted(ctx, key);
}

static int load_chunk(rm_ctx *ctx, bm_key *key, long long iter, bly_bytes chunk, const family *f) {
    bool missing = key->type == BM_MISSING;
    if (!missing && !f->accepts(key))
        return rm.ReplyWithError(ctx, BM_WRONGTYPE);
    if (iter == 1)
        return load_header(ctx, key, chunk, f);
    if (missing)
        return rm.ReplyWithError(ctx, "ERR not found");
    if (bm_is_tombstone(key->value))
        return bm_tombstone_if_replayed(ctx, key, "a chunk of it was received")
                   ? RM_OK
                   : rm.ReplyWithError(ctx, bm_tombstone_error(key->value));
    if (iter < 1 || (uint64_t)iter - 1 < chunk.size)
        return rm.ReplyWithError(ctx, f->chunk_error(BLY_ECORRUPT));
    uint64_t offset = (uint64_t)iter - 1 - chunk.size;
    bm_value *value = key->value;
    if (value->type != BM_FILTER)
        return load_over(ctx, key, offset, chunk, f);
    if (value->as.filter)
        return bm_error(ctx, "ERR the filter is complete; DEL the key to load another");
    if (value->staged_chunks)
        return load_redisbloom(ctx, key, offset, chunk, f);
    return load_native(ctx, key, (uint64_t)iter, chunk, f);
}

static int loadchunk(rm_ctx *ctx, rm_string **argv, long long iter, const family *f) {
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    load_chunk(ctx, &key, iter, bm_bytes(argv[3]), f);
    bm_key_close(&key);
    return RM_OK;
}

int bm_bf_loadchunk(rm_ctx *ctx, rm_string **argv, int argc) {
    long long iter;
    if (argc != 4)
        return rm.WrongArity(ctx);
    if (!bm_integer(argv[2], &iter))
        return rm.ReplyWithError(ctx, "ERR Second argument must be numeric");
    return loadchunk(ctx, argv, iter, &bf);
}

int bm_cf_loadchunk(rm_ctx *ctx, rm_string **argv, int argc) {
    long long pos;
    if (argc != 4)
        return rm.WrongArity(ctx);
    if (!bm_integer(argv[2], &pos) || pos <= 0)
        return rm.ReplyWithError(ctx, "Invalid position");
    return loadchunk(ctx, argv, pos, &cf);
}
