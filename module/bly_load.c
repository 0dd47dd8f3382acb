/* bly_load.c - BLY.LOAD: a file that comes in chunks, and is a filter when the last one is there.
 *
 * Until then the key holds what has come, beside the filter that it will replace, if there is one.
 * Every chunk that was taken is replicated as it came, so a replica that takes over goes on where
 * the master was. The last chunk may turn out to complete a damaged file; then all of it is dropped
 * here, and the replicas are told to drop what they have.
 */
#include "args.h"
#include "bly.h"
#include "clock.h"
#include "commands.h"
#include "reply.h"
#include "staging.h"

#include <inttypes.h>

typedef struct chunk {
    uint64_t total, offset;
    bly_bytes data;
    bool replace;
    bm_traits traits;
} chunk;

/* NULL, or what is wrong. */
static const char *read_words(rm_string **argv, int argc, chunk *c) {
    *c = (chunk){.data = bm_bytes(argv[4])};
    if (!bm_unsigned(argv[2], &c->total) || !bm_unsigned(argv[3], &c->offset))
        return "ERR total and offset must be whole numbers, 0 or more";
    for (int i = 5; i < argc; i++) {
        if (bm_is(argv[i], "REPLACE")) {
            c->replace = true;
        } else if (bm_is(argv[i], "META") && i + 1 < argc) {
            bly_bytes meta = bm_bytes(argv[++i]);
            if (!bm_traits_decode(meta.data, meta.size, &c->traits))
                return "ERR META is not followed by what this module writes there";
        } else {
            return "ERR the options are REPLACE and META followed by a value";
        }
    }
    return NULL;
}

static void reply_failure(rm_ctx *ctx, const bm_account *account, bly_status status) {
    if (status == BLY_ENOMEM)
        rm.ReplyWithError(ctx,
                          bm_refusal_text(account->refusal == BM_REFUSED_NOT ? BM_REFUSED_SYSTEM
                                                                             : account->refusal));
    else
        bm_status_error(ctx, status);
}

/* ---- the first chunk ------------------------------------------------------------------------- */

/* CF.* rely on keys that can be removed. */
static bool face_fits(const chunk *c) {
    bly_file_info info;
    if (c->traits.face != BM_FACE_CF || c->data.size < BLY_FILE_HEADER ||
        bly_file_info_parse(c->data.data, BLY_FILE_HEADER, &info) != BLY_OK)
        return true;
    return bly_kind_capabilities(info.geometry.kind) & BLY_CAN_REMOVE;
}

static const char *why_not_begin(const bm_key *key, const chunk *c) {
    if (key->value && key->value->arrival)
        return "ERR filter is being loaded";
    if (key->value && key->value->as.filter && !c->replace)
        return "ERR item exists: say REPLACE with the first chunk to replace it by the last";
    if (c->data.size < BLY_FILE_HEADER && c->data.size < c->total)
        return "ERR the first chunk must hold the header, 64 bytes, or more";
    if (c->data.size > c->total)
        return "ERR there are more bytes than were announced";
    if (!face_fits(c))
        return "ERR a filter from which no keys can be removed cannot be one of CF.*";
    return NULL;
}

/* False: an error was replied and nothing has changed. What had come before is given up. */
static bool begin(rm_ctx *ctx, bm_key *key, const chunk *c) {
    const char *error = why_not_begin(key, c);
    if (error) {
        rm.ReplyWithError(ctx, error);
        return false;
    }
    bm_value *value = key->value ? key->value : bm_value_new(BM_FILTER);
    if (!value) {
        rm.ReplyWithError(ctx, bm_refusal_text(BM_REFUSED_SYSTEM));
        return false;
    }
    if (!key->value)
        value->account.unlimited = bm_is_replayed(ctx);
    bm_staging *staging;
    bly_status status = bm_staging_begin(&value->account, c->total, c->data.data, c->data.size,
                                         &c->traits, &staging);
    if (status == BLY_OK) {
        bm_staging_free(value->staging);
        value->staging = staging;
        if (!key->value) {
            bm_key_set(key, value);
            (void)rm.SignalModifiedKey(ctx, key->name);
        }
        return true;
    }
    if (status == BLY_ECORRUPT)
        rm.ReplyWithError(ctx, "ERR the header is damaged, or not that of a Bloomery filter, or "
                               "tells of another size than the total");
    else
        reply_failure(ctx, &value->account, status);
    if (!key->value)
        bm_value_free(value);
    return false;
}

/* ---- those that follow ----------------------------------------------------------------------- */

static bool go_on(rm_ctx *ctx, bm_value *value, const chunk *c) {
    if (!value || !value->staging) {
        rm.ReplyWithError(ctx, "ERR expected offset 0");
        return false;
    }
    uint64_t received = bm_staging_received(value->staging);
    if (c->offset != received) {
        bm_error(ctx, "ERR expected offset %" PRIu64, received);
        return false;
    }
    if (c->total != bm_staging_total(value->staging)) {
        bm_error(ctx, "ERR expected total %" PRIu64, bm_staging_total(value->staging));
        return false;
    }
    bly_status status = bm_staging_append(value->staging, c->data.data, c->data.size);
    if (status == BLY_EINVAL)
        rm.ReplyWithError(ctx, "ERR there are more bytes than were announced");
    else if (status != BLY_OK)
        reply_failure(ctx, &value->account, status);
    return status == BLY_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The key is left with what it holds besides, or goes. */
static void drop_arrived(rm_ctx *ctx, bm_key *key) {
    bm_staging_free(key->value->staging);
    key->value->staging = NULL;
    if (key->value->as.filter)
        return;
    rm.DeleteKey(key->key);
    key->value = NULL;
    key->what = BM_MISSING;
    (void)rm.SignalModifiedKey(ctx, key->name);
    (void)rm.NotifyKeyspaceEvent(ctx, RM_NOTIFY_GENERIC, "del", key->name);
}

static void finish(rm_ctx *ctx, bm_key *key, uint64_t total) {
    bm_value *value = key->value;
    bm_traits traits = *bm_staging_traits(value->staging);
    bly_filter *filter;
    bool keyless;
    bly_status status = bm_staging_finish(value->staging, &filter, &keyless);
    value->staging = NULL;
    if (status != BLY_OK) {
        if (status == BLY_ENOMEM)
            rm.ReplyWithError(ctx, bm_refusal_text(BM_REFUSED_SYSTEM));
        else
            bm_error(ctx, "ERR %s; all that had arrived was dropped", bly_strerror(status));
        drop_arrived(ctx, key);
        rm.Replicate(ctx, "BLY.LOAD", "sccc", key->name, "0", "0", "");
        return;
    }
    bm_clock_leave(value);
    bly_filter_destroy(value->as.filter);
    value->as.filter = filter;
    value->traits = traits;
    value->keyless = keyless;
    bm_clock_enter(ctx, key);
    rm.ReplicateVerbatim(ctx);
    bm_key_changed(ctx, key, "bly.load");
    rm.ReplyWithLongLong(ctx, (long long)total);
}

static void drop(rm_ctx *ctx, bm_key *key) {
    if (key->value && key->value->staging) {
        drop_arrived(ctx, key);
        rm.ReplicateVerbatim(ctx);
    }
    rm.ReplyWithLongLong(ctx, 0);
}

static void load(rm_ctx *ctx, bm_key *key, const chunk *c) {
    if (c->total == 0 && c->offset == 0 && c->data.size == 0) {
        drop(ctx, key);
        return;
    }
    if (!(c->offset == 0 ? begin(ctx, key, c) : go_on(ctx, key->value, c)))
        return;
    uint64_t received = bm_staging_received(key->value->staging);
    if (received == c->total) {
        finish(ctx, key, c->total);
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
    const char *error = read_words(argv, argc, &c);
    if (error)
        return rm.ReplyWithError(ctx, error);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (key.what == BM_FOREIGN)
        rm.ReplyWithError(ctx, BM_WRONGTYPE);
    else if (key.what == BM_RB_BLOOM || key.what == BM_RB_CUCKOO)
        rm.ReplyWithError(ctx, "ERR the key holds a filter in RedisBloom's layout: load under "
                               "another name, then RENAME");
    else
        load(ctx, &key, &c);
    bm_key_close(&key);
    return RM_OK;
}
