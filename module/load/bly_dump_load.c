/* bly_dump_load.c - BLY.DUMP and BLY.LOAD: a filter's file, returned and loaded in chunks.
 *
 * DUMP computes the headers and checksums of the file at the first chunk, and keeps them until the
 * filter changes. Each reply contains a stamp, which is different after a change of the filter. A
 * client that receives another stamp than before must start again; or it can dump a COPY of the
 * key, which does not change.
 *
 * LOAD stores the received chunks with the key as a staged load, beside the filter that they will
 * replace, if there is one. Every accepted chunk is replicated verbatim, so a replica that becomes
 * the master can continue the load. If the last chunk completes a damaged file, all chunks are
 * dropped, and a replicated command makes the replicas drop them too. A replicated chunk that
 * cannot be applied leaves a tombstone (runtime/tombstone.h).
 *
 * A LOAD without bytes, but with the META of a tombstone, makes the key a tombstone. Tombstones are
 * written to the AOF as such a command.
 */
#include "command_table.h"
#include "commands/bf_cf_common.h"
#include "commands/bly.h"
#include "commands/command_args.h"
#include "commands/command_reply.h"
#include "load/staged_file.h"
#include "runtime/server_state.h"
#include "runtime/window_timer.h"
#include "types/type_methods.h"

#include <bloomery/host/chunks.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- DUMP ------------------------------------------------------------------------------------ */

enum { DEFAULT_BYTES = 1 << 20, MAX_BYTES = 64 << 20 };

const bly_chunks *bm_bly_image(bm_value *value) {
    if (value->image && value->image_stamp == value->stamp)
        return value->image;
    bly_chunks_close(value->image);
    value->image = NULL;
    value->image_account.untracked = true;
    bly_allocator a = bm_allocator(&value->image_account);
    bly_status status = bly_chunks_open(value->as.filter, &a, &value->image);
    value->image_stamp = value->stamp;
    return status == BLY_OK ? value->image : NULL;
}

static void reply_bytes(rm_ctx *ctx, bm_value *value, uint64_t offset, size_t max) {
    const bly_chunks *image = bm_bly_image(value);
    uint64_t total = image ? bly_chunks_size(image) : 0;
    uint64_t left = offset < total ? total - offset : 0;
    if (max > left)
        max = (size_t)left;
    char *data = rm.TryAlloc(max ? max : 1);
    if (!image || !data) {
        bm_status_error(ctx, BLY_ENOMEM);
    } else {
        size_t size = bly_chunks_read(image, offset, data, max);
        rm.ReplyWithArray(ctx, 3);
        rm.ReplyWithLongLong(ctx, (long long)total);
        rm.ReplyWithLongLong(ctx, (long long)value->stamp);
        rm.ReplyWithStringBuffer(ctx, data, size);
    }
    if (data)
        rm.Free(data);
}

int bm_bly_dump(rm_ctx *ctx, rm_string **argv, int argc) {
    uint64_t offset, count = DEFAULT_BYTES;
    bm_key key;
    if (argc != 3 && argc != 5)
        return rm.WrongArity(ctx);
    if (!bm_unsigned(argv[2], &offset))
        return rm.ReplyWithError(ctx, "ERR the offset must be a whole number, 0 or more");
    if (argc == 5 && !bm_is(argv[3], "COUNT"))
        return rm.ReplyWithError(ctx, "ERR the only option is COUNT bytes");
    if (argc == 5 && (!bm_unsigned(argv[4], &count) || count < 1 || count > MAX_BYTES))
        return bm_error(ctx, "ERR COUNT must be a whole number from 1 to %d", MAX_BYTES);
    if (!bm_bly_open(ctx, argv[1], RM_READ, &key))
        return RM_OK;
    if (key.type == BM_FILTER)
        reply_bytes(ctx, key.value, offset, (size_t)count);
    else
        bm_error(ctx, "ERR this filter is in RedisBloom's layout: dump it with %s.SCANDUMP",
                 key.type == BM_RB_BLOOM ? "BF" : "CF");
    bm_key_close(&key);
    return RM_OK;
}

/* ---- LOAD: arguments and errors -------------------------------------------------------------- */

typedef struct chunk {
    uint64_t total, offset;
    bly_bytes data;
    bool replace;
    bm_traits traits;
} chunk;

static bool is_empty(const chunk *c) {
    return c->total == 0 && c->offset == 0 && c->data.size == 0;
}

/* Parses the arguments of LOAD. Returns NULL, or the text of an error. */
static const char *parse_chunk(rm_string **argv, int argc, chunk *c) {
    *c = (chunk){.data = bm_bytes(argv[4])};
    if (!bm_unsigned(argv[2], &c->total) || !bm_unsigned(argv[3], &c->offset))
        return "ERR total and offset must be whole numbers, 0 or more";
    for (int i = 5; i < argc; i++) {
        if (bm_is(argv[i], "REPLACE")) {
            c->replace = true;
        } else if (bm_is(argv[i], "META") && i + 1 < argc) {
            bly_bytes meta = bm_bytes(argv[++i]);
            if (!bm_traits_decode(meta.data, meta.size, &c->traits))
                return "ERR META is not followed by bytes that this module wrote";
        } else {
            return "ERR the options are REPLACE and META bytes";
        }
    }
    return NULL;
}

/* Refuses a chunk: replies with an error that is formatted as by printf or, for a replayed command,
 * leaves a tombstone. */
static void __attribute__((format(printf, 3, 4)))
refuse(rm_ctx *ctx, bm_key *key, const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!bm_tombstone_if_replayed(ctx, key, text))
        rm.ReplyWithError(ctx, text);
}

static void refuse_for(rm_ctx *ctx, bm_key *key, bly_status status, bm_refusal refusal) {
    switch (status) {
    case BLY_ENOMEM:
        refuse(ctx, key, "%s",
               bm_refusal_text(refusal == BM_REFUSED_NOT ? BM_REFUSED_SYSTEM : refusal));
        return;
    case BLY_ECORRUPT:
        refuse(ctx, key,
               "ERR the header is damaged, is not that of a Bloomery filter, or does not "
               "match the total");
        return;
    case BLY_EMISMATCH:
        refuse(ctx, key, "ERR META does not fit a filter of this kind");
        return;
    case BLY_EINVAL:
        refuse(ctx, key, "ERR there are more bytes than the total");
        return;
    default:
        refuse(ctx, key, "ERR %s", bly_strerror(status));
    }
}

/* ---- LOAD: the first chunk ------------------------------------------------------------------- */

static const char *begin_error(const bm_key *key, const chunk *c) {
    if (key->value && key->value->staged_chunks)
        return BM_LOADING_ERROR;
    if (key->value && bm_is_tombstone(key->value) && !c->replace)
        return bm_tombstone_error(key->value);
    if (key->value && key->value->as.filter && !c->replace)
        return "ERR item exists; send REPLACE with the first chunk to replace it";
    if (c->data.size < BLY_FILE_HEADER && c->data.size < c->total)
        return "ERR the first chunk must contain the header: at least 64 bytes";
    if (c->data.size > c->total)
        return "ERR there are more bytes than the total";
    return NULL;
}

/* Begins a staged load. If the key has an unfinished one, it is dropped. Returns false after
 * refusing the chunk; nothing has changed then. */
static bool begin_load(rm_ctx *ctx, bm_key *key, const chunk *c) {
    const char *error = begin_error(key, c);
    if (error) {
        refuse(ctx, key, "%s", error);
        return false;
    }
    bm_value *value = key->value ? key->value : bm_value_new(BM_FILTER);
    if (!value) {
        refuse_for(ctx, key, BLY_ENOMEM, BM_REFUSED_SYSTEM);
        return false;
    }
    if (!key->value)
        value->account.unlimited = bm_is_replayed(ctx);
    bm_staged_file *staged;
    bly_status status = bm_staged_file_begin(&value->account, c->total, c->data.data, c->data.size,
                                             &c->traits, &staged);
    if (status == BLY_OK) {
        bm_staged_file_free(value->staged_file);
        value->staged_file = staged;
        if (!key->value) {
            bm_key_set(key, value);
            (void)rm.SignalModifiedKey(ctx, key->name);
        }
        return true;
    }
    bm_refusal refusal = value->account.refusal;
    if (!key->value)
        bm_value_free(value);
    const char *removed = bm_removed_text(bm_removed_kind(c->data.data, c->data.size));
    if (status == BLY_EUNSUPPORTED && removed)
        refuse(ctx, key, "%s", removed);
    else
        refuse_for(ctx, key, status, refusal);
    return false;
}

/* ---- LOAD: the chunks that follow ------------------------------------------------------------ */

static bool continue_load(rm_ctx *ctx, bm_key *key, const chunk *c) {
    bm_value *value = key->value;
    uint64_t received =
        value && value->staged_file ? bm_staged_file_received(value->staged_file) : 0;
    if (c->offset != received) {
        refuse(ctx, key, "ERR expected offset %" PRIu64, received);
        return false;
    }
    if (c->total != bm_staged_file_total(value->staged_file)) {
        refuse(ctx, key, "ERR expected total %" PRIu64, bm_staged_file_total(value->staged_file));
        return false;
    }
    bly_status status = bm_staged_file_append(value->staged_file, c->data.data, c->data.size);
    if (status != BLY_OK)
        refuse_for(ctx, key, status, value->account.refusal);
    return status == BLY_OK;
}

/* ---- LOAD: the end --------------------------------------------------------------------------- */

/* Drops the staged load, and deletes the key if it has no filter and is not a tombstone. */
static void drop_staged(rm_ctx *ctx, bm_key *key) {
    bm_staged_file_free(key->value->staged_file);
    key->value->staged_file = NULL;
    if (key->value->as.filter || bm_is_tombstone(key->value))
        return;
    rm.DeleteKey(key->key);
    key->value = NULL;
    key->type = BM_MISSING;
    (void)rm.SignalModifiedKey(ctx, key->name);
    (void)rm.NotifyKeyspaceEvent(ctx, RM_NOTIFY_GENERIC, "del", key->name);
}

/* Drops a file that is complete but not an acceptable filter, on this server and on its
 * replicas. */
static void abort_load(rm_ctx *ctx, bm_key *key, const char *why) {
    if (bm_tombstone_if_replayed(ctx, key, why))
        return;
    bm_error(ctx, "ERR %s; the received bytes were dropped", why);
    drop_staged(ctx, key);
    rm.Replicate(ctx, "BLY.LOAD", "sccc", key->name, "0", "0", "");
}

static void finish_load(rm_ctx *ctx, bm_key *key, uint64_t total) {
    bm_value *value = key->value;
    bm_traits traits = *bm_staged_file_traits(value->staged_file);
    bly_filter *filter;
    bool keyless;
    bly_status status = bm_staged_file_finish(value->staged_file, &filter, &keyless);
    value->staged_file = NULL;
    if (status != BLY_OK) {
        abort_load(ctx, key, bm_load_failure(value, status));
        return;
    }
    if (bm_window_min_span(filter) && !bm_is_replayed(ctx)) {
        bly_filter_destroy(filter);
        abort_load(ctx, key, "its span is too short for a window of its size");
        return;
    }
    bm_window_timer_remove(value);
    bly_filter_destroy(value->as.filter);
    value->as.filter = filter;
    value->traits = traits;
    value->keyless = keyless;
    bm_window_timer_add(ctx, key);
    rm.ReplicateVerbatim(ctx);
    bm_key_changed(ctx, key, "bly.load");
    rm.ReplyWithLongLong(ctx, (long long)total);
}

static void cancel_load(rm_ctx *ctx, bm_key *key) {
    if (key->value && key->value->staged_file) {
        drop_staged(ctx, key);
        rm.ReplicateVerbatim(ctx);
    }
    rm.ReplyWithLongLong(ctx, 0);
}

/* Makes the key a tombstone, if the key does not exist or may be replaced. */
static void load_tombstone(rm_ctx *ctx, bm_key *key, const chunk *c) {
    if (key->value && !c->replace) {
        rm.ReplyWithError(ctx, "ERR item exists; send REPLACE to replace it");
    } else if (!bm_tombstone_set(ctx, key)) {
        rm.ReplyWithError(ctx, bm_refusal_text(BM_REFUSED_SYSTEM));
    } else {
        key->value->traits = c->traits;
        rm.ReplicateVerbatim(ctx);
        rm.ReplyWithLongLong(ctx, 0);
    }
}

static void load_chunk(rm_ctx *ctx, bm_key *key, const chunk *c) {
    if (is_empty(c)) {
        cancel_load(ctx, key);
        return;
    }
    if (!(c->offset == 0 ? begin_load(ctx, key, c) : continue_load(ctx, key, c)))
        return;
    uint64_t received = bm_staged_file_received(key->value->staged_file);
    if (received == c->total) {
        finish_load(ctx, key, c->total);
        return;
    }
    if (c->data.size)
        rm.ReplicateVerbatim(ctx);
    rm.ReplyWithLongLong(ctx, (long long)received);
}

int bm_bly_load(rm_ctx *ctx, rm_string **argv, int argc) {
    chunk c;
    if (argc < 5)
        return rm.WrongArity(ctx);
    const char *error = parse_chunk(argv, argc, &c);
    if (error)
        return rm.ReplyWithError(ctx, error);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    c.replace = c.replace || bm_is_replayed(ctx); /* for a replayed chunk, the master has checked
                                                     REPLACE */
    if (key.type == BM_FOREIGN)
        rm.ReplyWithError(ctx, BM_WRONGTYPE);
    else if (is_empty(&c) && c.traits.tombstone)
        load_tombstone(ctx, &key, &c);
    else if (key.type == BM_RB_BLOOM || key.type == BM_RB_CUCKOO)
        rm.ReplyWithError(ctx, "ERR the key holds a filter in RedisBloom's layout: load under "
                               "another name, then RENAME");
    else
        load_chunk(ctx, &key, &c);
    bm_key_close(&key);
    return RM_OK;
}
