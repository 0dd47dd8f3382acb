/* bly.c - BLY.ADD, CHECK, DEL, COUNT, CARD, AGE, CLEAR, TICK, NOOP and KEYRING.
 *
 * Replication. Adds and removes that changed something are replicated: verbatim if all items were
 * processed, otherwise with only the processed items. Items that the master refused are left out,
 * because a replica has no memory limits for replicated writes and would add them.
 */
#include "commands/bly.h"

#include "command_table.h"
#include "commands/bf_cf_common.h"
#include "commands/command_args.h"
#include "commands/command_reply.h"
#include "commands/value_query.h"
#include "runtime/keyring.h"
#include "runtime/server_state.h"
#include "runtime/window_timer.h"

#include <bloomery/filter.h>
#include <bloomery/host/redisbloom.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- keys and their filters ------------------------------------------------------------------ */

const char *bm_bly_key_error(const bm_key *key, bool items) {
    if (key->type == BM_MISSING)
        return "ERR not found: no filter at this key; create one with BLY.RESERVE";
    if (key->type == BM_FOREIGN)
        return BM_WRONGTYPE;
    if (bm_has_no_filter(key->value))
        return bm_no_filter_error(key->value);
    return items && key->value->keyless ? BM_KEYLESS_ERROR : NULL;
}

static bool open_for(rm_ctx *ctx, rm_string *name, int mode, bool items, bm_key *key) {
    *key = bm_key_open(ctx, name, mode);
    const char *error = bm_bly_key_error(key, items);
    if (!error)
        return true;
    if (!(mode & RM_WRITE && bm_tombstone_if_replayed(ctx, key, error)))
        rm.ReplyWithError(ctx, error);
    bm_key_close(key);
    return false;
}

bool bm_bly_open(rm_ctx *ctx, rm_string *name, int mode, bm_key *key) {
    return open_for(ctx, name, mode, false, key);
}

/* Opens the key of a command on items, which also needs the filter's secret key. */
static bool open_items(rm_ctx *ctx, rm_string *name, int mode, bm_key *key) {
    return open_for(ctx, name, mode, true, key);
}

const char *bm_bly_layout(const bm_value *value) {
    return value->type == BM_FILTER     ? "bloomery"
           : value->type == BM_RB_BLOOM ? "redisbloom"
                                        : "redisbloom-cuckoo";
}

const char *bm_bly_kind(const bm_value *value) {
    return value->type == BM_FILTER ? bly_kind_name(bm_kind(value)) : bm_bly_layout(value);
}

double bm_bly_rate(const bm_value *value) {
    if (value->type == BM_FILTER)
        return bly_filter_fpr(value->as.filter);
    if (value->type == BM_RB_CUCKOO)
        return NAN;
    bool fixed = bly_rb_bloom_get_info(value->as.bloom).options & BLY_RB_NONSCALING;
    double first = bly_rb_bloom_link(value->as.bloom, 0).error;
    return fixed ? first : 2 * first;
}

/* ---- ADD ------------------------------------------------------------------------------------- */

/* The memory limits were set by bm_key_open (replayed writes have no limits). */
static bly_status add_items(rm_ctx *ctx, bm_value *value, bm_items *items,
                            bly_batch_result *tally) {
    const bly_bytes *keys = items->keys;
    *tally = (bly_batch_result){0};
    if (value->type == BM_RB_BLOOM)
        return bly_rb_bloom_add_many(value->as.bloom, keys, items->n, items->answers, tally);
    if (value->type == BM_RB_CUCKOO) {
        bly_rb_cuckoo_how how = {.max_filters = bm_max_rb_filters(ctx)};
        return bly_rb_cuckoo_add_many(value->as.cuckoo, keys, items->n, &how, items->answers,
                                      tally);
    }
    if (bm_is_capped(ctx, value, items->n))
        return bm_add_many_capped(value->as.filter, keys, items->n, items->answers, tally);
    return bly_filter_add_many(value->as.filter, keys, items->n, items->answers, tally);
}

static void reply_full(rm_ctx *ctx, const bm_value *value, bly_bytes item) {
    uint64_t copies = bm_value_max_copies(value, item);
    if (copies)
        bm_error(ctx,
                 "ERR no room for another copy of the item: the filter has %" PRIu64
                 ", and a larger %s would not help; remove copies with BLY.DEL, or %s",
                 copies, value->type == BM_FILTER ? "filter" : "CAPACITY",
                 value->type == BM_FILTER ? "use KIND hybrid, which counts them"
                                          : "reserve a filter with a larger BUCKETSIZE");
    else
        rm.ReplyWithError(ctx, "ERR filter is full: the item was not added; reserve a larger "
                               "filter, or a kind that grows");
}

static void reply_failure(rm_ctx *ctx, const bm_value *value, bly_bytes item, bly_status status) {
    if (status == BLY_ENOMEM)
        rm.ReplyWithError(ctx, bm_refusal_text(value->account.refusal == BM_REFUSED_NOT
                                                   ? BM_REFUSED_SYSTEM
                                                   : value->account.refusal));
    else if (status == BLY_EFULL)
        reply_full(ctx, value, item);
    else
        bm_status_error(ctx, status);
}

/* Replies with one answer for each item that was processed, and with the error of the first item
 * that was not. */
static void reply_answers(rm_ctx *ctx, const bm_value *value, const bm_items *items, size_t done,
                          bly_status status) {
    rm.ReplyWithArray(ctx, (long)(status == BLY_OK ? items->n : done + 1));
    for (size_t i = 0; i < done; i++)
        rm.ReplyWithBool(ctx, items->answers[i]);
    if (status != BLY_OK)
        reply_failure(ctx, value, items->keys[done], status);
}

/* The name of a command that changes a filter, and of its keyspace event. */
typedef struct write_command {
    const char *command, *event;
} write_command;
static const write_command add_change = {"BLY.ADD", "bly.add"}, del_change = {"BLY.DEL", "bly.del"};

/* Sends the reply. If `change` is not NULL, also replicates the change and notifies keyspace
 * listeners. */
static void end_write(rm_ctx *ctx, rm_string **argv, bm_key *key, const bm_items *items,
                      const bly_batch_result *tally, bly_status status,
                      const write_command *change) {
    if (change && status == BLY_OK)
        rm.ReplicateVerbatim(ctx);
    else if (change)
        rm.Replicate(ctx, change->command, "sv", argv[1], argv + 2, tally->done);
    if (change)
        bm_key_changed(ctx, key, change->event);
    reply_answers(ctx, key->value, items, tally->done, status);
}

int bm_bly_add(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_items items;
    bm_key key;
    if (argc < 3)
        return rm.WrongArity(ctx);
    if (!bm_items_init(&items, argv + 2, argc - 2))
        return bm_status_error(ctx, BLY_ENOMEM);
    if (open_items(ctx, argv[1], RM_READ | RM_WRITE, &key)) {
        if (bm_can_add(ctx, key.value)) {
            bly_batch_result tally;
            bm_window_advance(ctx, &key);
            bly_status status = add_items(ctx, key.value, &items, &tally);
            bool changed = tally.changed || (tally.done && bm_add_always_changes(key.value));
            if (!bm_write_failed(ctx, &key, status))
                end_write(ctx, argv, &key, &items, &tally, status, changed ? &add_change : NULL);
        }
        bm_key_close(&key);
    }
    bm_items_free(&items);
    return RM_OK;
}

/* ---- DEL ------------------------------------------------------------------------------------- */

static bool may_remove(rm_ctx *ctx, const bm_value *value) {
    if (value->type == BM_RB_CUCKOO)
        return true;
    uint32_t can = value->type == BM_FILTER ? bly_kind_capabilities(bm_kind(value)) : 0;
    if (can & BLY_CAN_REMOVE)
        return true;
    const char *kind = bm_bly_kind(value);
    if (can & BLY_CAN_BUILD)
        bm_error(ctx,
                 "ERR nothing can be removed from a %s filter: build a new one, or put an overlay "
                 "over it (BLY.RESERVE new-key KIND overlay BASE this-key)",
                 kind);
    else if (can & BLY_FORGETS)
        bm_error(ctx, "ERR keys of a %s filter expire, and cannot be removed before", kind);
    else if (can & (BLY_CARDINALITY_ONLY | BLY_CAN_COUNT))
        bm_error(ctx, "ERR keys cannot be removed from a sketch (%s); create a new one", kind);
    else
        bm_error(ctx,
                 "ERR keys share bits in a %s filter, so removing one would remove others; use "
                 "the kind scalable-cuckoo, cuckoo, hybrid, counting or overlay",
                 kind);
    return false;
}

static bly_status remove_items(bm_value *value, bm_items *items, bly_batch_result *tally) {
    *tally = (bly_batch_result){0};
    if (value->type == BM_FILTER)
        return bly_filter_remove_many(value->as.filter, items->keys, items->n, items->answers,
                                      tally);
    for (; tally->done < items->n; tally->done++) {
        const bly_bytes *key = &items->keys[tally->done];
        bool removed = bly_rb_cuckoo_remove(value->as.cuckoo, key->data, key->size);
        items->answers[tally->done] = removed;
        tally->changed += removed;
    }
    return BLY_OK;
}

/* Stops at the maximum, because the number of deletes of a loaded filter is untrusted. */
static void count_deletes(bm_traits *traits, uint64_t more) {
    uint64_t max = UINT64_MAX - traits->deletes;
    traits->deletes += more < max ? more : max;
}

int bm_bly_del(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_items items;
    bm_key key;
    if (argc < 3)
        return rm.WrongArity(ctx);
    if (!bm_items_init(&items, argv + 2, argc - 2))
        return bm_status_error(ctx, BLY_ENOMEM);
    if (open_items(ctx, argv[1], RM_READ | RM_WRITE, &key)) {
        if (may_remove(ctx, key.value)) {
            bly_batch_result tally;
            bly_status status = remove_items(key.value, &items, &tally);
            if (key.type == BM_FILTER)
                count_deletes(&key.value->traits, tally.changed);
            if (!bm_write_failed(ctx, &key, status))
                end_write(ctx, argv, &key, &items, &tally, status,
                          tally.changed ? &del_change : NULL);
        }
        bm_key_close(&key);
    }
    bm_items_free(&items);
    return RM_OK;
}

/* ---- CHECK ----------------------------------------------------------------------------------- */

/* Whether lookups in the key can be answered by yes or no, not only by "unknown". */
static bool can_answer(rm_ctx *ctx, const bm_key *key) {
    return !bm_bly_key_error(key, true) && bm_is_ready(ctx);
}

int bm_bly_check(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_items items;
    if (argc < 3)
        return rm.WrongArity(ctx);
    if (!bm_items_init(&items, argv + 2, argc - 2))
        return bm_status_error(ctx, BLY_ENOMEM);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    if (key.type == BM_FOREIGN) {
        rm.ReplyWithError(ctx, BM_WRONGTYPE);
    } else {
        bool known = can_answer(ctx, &key);
        if (known)
            bm_value_contains_many(key.value, &items);
        rm.ReplyWithArray(ctx, (long)items.n);
        for (size_t i = 0; i < items.n; i++) {
            if (known)
                rm.ReplyWithBool(ctx, items.answers[i]);
            else
                rm.ReplyWithNull(ctx);
        }
    }
    bm_key_close(&key);
    bm_items_free(&items);
    return RM_OK;
}

/* ---- COUNT, CARD, AGE ------------------------------------------------------------------------ */

int bm_bly_count(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_key key;
    if (argc < 3)
        return rm.WrongArity(ctx);
    if (!open_items(ctx, argv[1], RM_READ, &key))
        return RM_OK;
    rm.ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++)
        bm_reply_count(ctx, bm_value_copies(key.value, bm_bytes(argv[i])));
    bm_key_close(&key);
    return RM_OK;
}

int bm_bly_cardinality(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    const char *error = bm_bly_key_error(&key, false);
    if (key.type == BM_MISSING)
        rm.ReplyWithNull(ctx);
    else if (error)
        rm.ReplyWithError(ctx, error);
    else
        bm_reply_count(ctx, bm_value_count(key.value));
    bm_key_close(&key);
    return RM_OK;
}

/* Returns by how many milliseconds the window's clock, from which the library computes ages, is
 * behind the present time. */
static uint64_t clock_delay(const bly_filter *f) {
    bly_window_info info = {.struct_size = sizeof info};
    uint64_t now = (uint64_t)rm.Milliseconds();
    if (bly_window_get_info(f, &info) != BLY_OK || info.span == 0 || info.now == 0 ||
        now < info.now)
        return 0;
    return now - info.now;
}

int bm_bly_age(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_key key;
    if (argc < 3)
        return rm.WrongArity(ctx);
    if (!open_items(ctx, argv[1], RM_READ, &key))
        return RM_OK;
    if (key.type != BM_FILTER || bm_kind(key.value) != BLY_WINDOW) {
        bm_error(ctx, "ERR BLY.AGE needs a window; this is a %s filter", bm_bly_kind(key.value));
    } else {
        uint64_t more = clock_delay(key.value->as.filter);
        rm.ReplyWithArray(ctx, argc - 2);
        for (int i = 2; i < argc; i++) {
            bly_bytes item = bm_bytes(argv[i]);
            uint64_t age = BLY_WINDOW_ABSENT;
            if (bly_window_age(key.value->as.filter, item.data, item.size, &age) == BLY_OK &&
                age != BLY_WINDOW_ABSENT)
                bm_reply_count(ctx, age < UINT64_MAX - more ? age + more : UINT64_MAX);
            else
                rm.ReplyWithNull(ctx);
        }
    }
    bm_key_close(&key);
    return RM_OK;
}

/* ---- CLEAR, TICK ----------------------------------------------------------------------------- */

int bm_bly_clear(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_key key;
    if (argc != 2)
        return rm.WrongArity(ctx);
    if (!bm_bly_open(ctx, argv[1], RM_READ | RM_WRITE, &key))
        return RM_OK;
    if (key.type != BM_FILTER) {
        rm.ReplyWithError(ctx, "ERR a filter in RedisBloom's layout cannot be cleared; DEL it and "
                               "reserve a new one");
    } else if (bly_kind_capabilities(bm_kind(key.value)) & BLY_CAN_BUILD) {
        bm_error(ctx, "ERR a %s filter cannot be cleared, since nothing can be added to it; DEL it",
                 bm_bly_kind(key.value));
    } else {
        bm_window_advance(ctx, &key);
        bly_filter_clear(key.value->as.filter);
        key.value->traits.deletes = 0;
        rm.ReplicateVerbatim(ctx);
        bm_key_changed(ctx, &key, "bly.clear");
        rm.ReplyWithSimpleString(ctx, "OK");
    }
    bm_key_close(&key);
    return RM_OK;
}

/* If the key does not contain the window that it contains on the master, the command is ignored:
 * other commands in the replication stream, before or after this one, have made or will make the
 * keys equal. */
int bm_bly_tick(rm_ctx *ctx, rm_string **argv, int argc) {
    uint64_t now;
    if (argc != 3)
        return rm.WrongArity(ctx);
    if (!bm_is_replayed(ctx))
        return rm.ReplyWithError(
            ctx, "ERR BLY.TICK is only for replication: a master sends it to its replicas");
    if (!bm_unsigned(argv[2], &now))
        return rm.ReplyWithError(ctx, "ERR the time must be a whole number of milliseconds");
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE | RM_NOTOUCH);
    if (key.type == BM_FILTER && key.value->as.filter &&
        bly_window_advance(key.value->as.filter, now) == BLY_OK) {
        bm_value_changed(key.value);
        (void)rm.SignalModifiedKey(ctx, argv[1]);
        rm.ReplicateVerbatim(ctx);
    }
    bm_key_close(&key);
    return rm.ReplyWithSimpleString(ctx, "OK");
}

/* ---- NOOP, KEYRING --------------------------------------------------------------------------- */

static int noop_one(rm_ctx *ctx, rm_string **argv) {
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    rm.ReplyWithBool(ctx, 0);
    bm_key_close(&key);
    return RM_OK;
}

/* Does everything that a lookup command does except for the lookup itself, so its time is the
 * overhead of the engine. */
int bm_bly_noop(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_items items;
    if (argc < 3)
        return rm.WrongArity(ctx);
    if (argc == 3)
        return noop_one(ctx, argv);
    if (!bm_items_init(&items, argv + 2, argc - 2))
        return bm_status_error(ctx, BLY_ENOMEM);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    rm.ReplyWithArray(ctx, (long)items.n);
    for (size_t i = 0; i < items.n; i++)
        rm.ReplyWithBool(ctx, items.answers[i]);
    bm_key_close(&key);
    bm_items_free(&items);
    return RM_OK;
}

int bm_bly_keyring(rm_ctx *ctx, rm_string **argv, int argc) {
    (void)argv;
    if (argc != 1)
        return rm.WrongArity(ctx);
    rm.ReplyWithArray(ctx, (long)bm_keyring_size());
    for (size_t i = 0; i < bm_keyring_size(); i++) {
        char id[20];
        snprintf(id, sizeof id, "%016" PRIx64, bm_keyring_at(i)->seed);
        rm.ReplyWithCString(ctx, id);
    }
    return RM_OK;
}
