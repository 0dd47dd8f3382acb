/* bly_load.c - BLY.LOAD: a file that comes in chunks, and is a filter when the last one is there.
 *
 * Until then the key holds what has come, beside the filter that it will replace, if there is one.
 * Every chunk that was taken is replicated as it came, so a replica that takes over goes on where
 * the master was. The last chunk may turn out to complete a damaged file; then all of it is dropped
 * here, and the replicas are told to drop what they have. A chunk that was replicated and cannot be
 * taken means that the filter is lost (lost.h).
 *
 * Without a byte, and with META that says so, it makes a key's filter lost: how that is written
 * to the AOF.
 */
#include "args.h"
#include "bly.h"
#include "clock.h"
#include "commands.h"
#include "family.h"
#include "reply.h"
#include "staging.h"
#include "types.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct chunk {
    uint64_t total, offset;
    bly_bytes data;
    bool replace;
    bm_traits traits;
} chunk;

static bool is_empty(const chunk *c) {
    return c->total == 0 && c->offset == 0 && c->data.size == 0;
}

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

/* The error of a chunk that is not taken; made as by printf. */
static void __attribute__((format(printf, 3, 4)))
refuse(rm_ctx *ctx, bm_key *key, const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!bm_lose(ctx, key, text))
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
               "ERR the header is damaged, or not that of a Bloomery filter, or tells of "
               "another size than the total");
        return;
    case BLY_EMISMATCH:
        refuse(ctx, key, "ERR META is not that of a filter of this kind");
        return;
    case BLY_EINVAL:
        refuse(ctx, key, "ERR there are more bytes than were announced");
        return;
    default:
        refuse(ctx, key, "ERR %s", bly_strerror(status));
    }
}

/* ---- the first chunk ------------------------------------------------------------------------- */

static const char *why_not_begin(const bm_key *key, const chunk *c) {
    if (key->value && key->value->arrival)
        return BM_ARRIVING;
    if (key->value && bm_is_lost(key->value) && !c->replace)
        return bm_lost_text(key->value);
    if (key->value && key->value->as.filter && !c->replace)
        return "ERR item exists: say REPLACE with the first chunk to replace it by the last";
    if (c->data.size < BLY_FILE_HEADER && c->data.size < c->total)
        return "ERR the first chunk must hold the header, 64 bytes, or more";
    if (c->data.size > c->total)
        return "ERR there are more bytes than were announced";
    return NULL;
}

/* False: it was replied to, and nothing has changed. What had come before is given up. */
static bool begin(rm_ctx *ctx, bm_key *key, const chunk *c) {
    const char *error = why_not_begin(key, c);
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

/* ---- those that follow ----------------------------------------------------------------------- */

static bool go_on(rm_ctx *ctx, bm_key *key, const chunk *c) {
    bm_value *value = key->value;
    uint64_t received = value && value->staging ? bm_staging_received(value->staging) : 0;
    if (c->offset != received) {
        refuse(ctx, key, "ERR expected offset %" PRIu64, received);
        return false;
    }
    if (c->total != bm_staging_total(value->staging)) {
        refuse(ctx, key, "ERR expected total %" PRIu64, bm_staging_total(value->staging));
        return false;
    }
    bly_status status = bm_staging_append(value->staging, c->data.data, c->data.size);
    if (status != BLY_OK)
        refuse_for(ctx, key, status, value->account.refusal);
    return status == BLY_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The key is left with what it holds besides, or goes. */
static void drop_arrived(rm_ctx *ctx, bm_key *key) {
    bm_staging_free(key->value->staging);
    key->value->staging = NULL;
    if (key->value->as.filter || bm_is_lost(key->value))
        return;
    rm.DeleteKey(key->key);
    key->value = NULL;
    key->what = BM_MISSING;
    (void)rm.SignalModifiedKey(ctx, key->name);
    (void)rm.NotifyKeyspaceEvent(ctx, RM_NOTIFY_GENERIC, "del", key->name);
}

/* What had come is no filter that can be taken: it goes, here and on the replicas. */
static void give_up(rm_ctx *ctx, bm_key *key, const char *why) {
    if (bm_lose(ctx, key, why))
        return;
    bm_error(ctx, "ERR %s; all that had arrived was dropped", why);
    drop_arrived(ctx, key);
    rm.Replicate(ctx, "BLY.LOAD", "sccc", key->name, "0", "0", "");
}

static void finish(rm_ctx *ctx, bm_key *key, uint64_t total) {
    bm_value *value = key->value;
    bm_traits traits = *bm_staging_traits(value->staging);
    bly_filter *filter;
    bool keyless;
    bly_status status = bm_staging_finish(value->staging, &filter, &keyless);
    value->staging = NULL;
    if (status != BLY_OK) {
        give_up(ctx, key, bm_load_failure(value, status));
        return;
    }
    if (bm_clock_least_span(filter) && !bm_is_replayed(ctx)) {
        bly_filter_destroy(filter);
        give_up(ctx, key, "a window of that size would be turned all the time with its short span");
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

/* The mark of a filter that is lost, where none is, or what is there is to be replaced. */
static void mark(rm_ctx *ctx, bm_key *key, const chunk *c) {
    if (key->value && !c->replace) {
        rm.ReplyWithError(ctx, "ERR item exists: say REPLACE to give it up");
    } else if (!bm_lost_mark(ctx, key)) {
        rm.ReplyWithError(ctx, bm_refusal_text(BM_REFUSED_SYSTEM));
    } else {
        key->value->traits = c->traits;
        rm.ReplicateVerbatim(ctx);
        rm.ReplyWithLongLong(ctx, 0);
    }
}

static void load(rm_ctx *ctx, bm_key *key, const chunk *c) {
    if (is_empty(c)) {
        drop(ctx, key);
        return;
    }
    if (!(c->offset == 0 ? begin(ctx, key, c) : go_on(ctx, key, c)))
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
    c.replace = c.replace || bm_is_replayed(ctx); /* the master has seen to that */
    if (key.what == BM_FOREIGN)
        rm.ReplyWithError(ctx, BM_WRONGTYPE);
    else if (is_empty(&c) && c.traits.lost)
        mark(ctx, &key, &c);
    else if (key.what == BM_RB_BLOOM || key.what == BM_RB_CUCKOO)
        rm.ReplyWithError(ctx, "ERR the key holds a filter in RedisBloom's layout: load under "
                               "another name, then RENAME");
    else
        load(ctx, &key, &c);
    bm_key_close(&key);
    return RM_OK;
}
