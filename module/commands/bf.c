/* bf.c - BF.RESERVE, ADD, MADD, INSERT, EXISTS, MEXISTS and CARD.
 *
 * Replication. bm_create_filter replicates the creation of a filter. A command that added something
 * is replicated verbatim if it had no options and every item was processed; otherwise it is
 * replicated as a BF.MADD of the processed items. Options are left out, because they have no effect
 * once the filter exists, and a replica with other settings might refuse them. Items that the
 * master refused are left out, because a replica has no memory limits for replicated writes and
 * would add them.
 *
 * Replay. If a replayed BF.* command (from a master or from the AOF) creates a filter, it was
 * written by RedisBloom, because this module replicates creations as BLY.RESERVE. So the filter is
 * created in RedisBloom's layout, and all later commands have the same effect on this server as on
 * RedisBloom.
 */
#include "command_table.h"
#include "commands/bf_cf_common.h"
#include "commands/command_args.h"
#include "commands/command_reply.h"
#include "commands/create_params.h"
#include "commands/value_query.h"
#include "config.h"
#include "runtime/prefetch_cache.h"
#include "runtime/server_state.h"

#include <bloomery/host/redisbloom.h>

/* ---- adding ---------------------------------------------------------------------------------- */

static bly_status add_items(rm_ctx *ctx, bm_value *value, bm_items *items,
                            bly_batch_result *tally) {
    if (value->type == BM_RB_BLOOM)
        return bly_rb_bloom_add_many(value->as.bloom, items->keys, items->n, items->answers, tally);
    if (bm_is_capped(ctx, value, items->n))
        return bm_add_many_capped(value->as.filter, items->keys, items->n, items->answers, tally);
    return bly_filter_add_many(value->as.filter, items->keys, items->n, items->answers, tally);
}

static bly_status add_one(rm_ctx *ctx, bm_value *value, const bm_prefetch *prefetch, bool *added) {
    if (value->type == BM_RB_BLOOM)
        return bly_rb_bloom_add(value->as.bloom, prefetch->item.data, prefetch->item.size, added);
    if (bm_is_capped(ctx, value, 1)) {
        *added = false;
        return bm_prefetch_contains(prefetch, value->as.filter) ? BLY_OK : BLY_EFULL;
    }
    return bm_prefetch_add(prefetch, value->as.filter, added);
}

/* ---- replies --------------------------------------------------------------------------------- */

static bool is_full(const bm_value *value, bly_status status) {
    return status == BLY_EFULL && (value->type == BM_RB_BLOOM || value->traits.nonscaling);
}

static void reply_failure(rm_ctx *ctx, const bm_value *value, bly_status status) {
    bm_refusal refusal = value->account.refusal;
    if (is_full(value, status))
        rm.ReplyWithError(ctx, "ERR non scaling filter is full");
    else if (status == BLY_ENOMEM && refusal != BM_REFUSED_NOT && refusal != BM_REFUSED_SYSTEM)
        rm.ReplyWithError(ctx, bm_refusal_text(refusal));
    else if (status == BLY_ENOMEM || status == BLY_ETOOBIG || status == BLY_EFULL)
        rm.ReplyWithError(ctx, "ERR problem inserting into filter");
    else
        bm_status_error(ctx, status);
}

/* Replies with an array. If the filter is full, the array ends with that error, after the answers
 * of the items that were processed. If the filter could not grow, each remaining item has an answer
 * if the filter contains it, and an error otherwise. Remaining items are not added even if they
 * would fit, so that a batch always adds a prefix of its items. */
static void reply_added(rm_ctx *ctx, const bm_value *value, const bm_items *items, size_t done,
                        bly_status status) {
    bool full = is_full(value, status);
    rm.ReplyWithArray(ctx, (long)(full ? done + 1 : items->n));
    for (size_t i = 0; i < done; i++)
        rm.ReplyWithBool(ctx, items->answers[i]);
    if (full) {
        reply_failure(ctx, value, status);
        return;
    }
    for (size_t i = done; i < items->n; i++) {
        if (i > done && bm_value_contains(value, items->keys[i]))
            rm.ReplyWithBool(ctx, 0);
        else
            reply_failure(ctx, value, status);
    }
}

/* ---- ADD, MADD, INSERT ----------------------------------------------------------------------- */

/* The options for creating a filter. */
typedef struct bf_options {
    double error;
    long long capacity, expansion;
    bool nonscaling, capacity_known, nocreate;
} bf_options;

static bf_options default_options(void) {
    return (bf_options){.error = bm_configs.bf_error_rate,
                        .capacity = bm_configs.bf_initial_size,
                        .expansion = bm_configs.bf_expansion};
}

static bool create_bf(rm_ctx *ctx, bm_key *key, const bf_options *options) {
    bool fixed = options->nonscaling || options->expansion == 0;
    bool replayed = bm_is_replayed(ctx);
    double error = bm_clamp_rate(options->error, bm_configs.compat || replayed);
    bm_create_params params = bm_create_params_bf(error, (uint64_t)options->capacity,
                                                  fixed ? 0 : (uint32_t)options->expansion, fixed,
                                                  options->capacity_known);
    if (replayed)
        params.layout = BM_LAYOUT_RB_BLOOM;
    return bm_create_filter(ctx, key, &params, "bloom.reserve");
}

/* Prepares an add: creates the filter if the key does not exist. `options` may be NULL for the
 * defaults. Returns false after replying with an error. The caller closes the key in either
 * case. */
static bool prepare_add(rm_ctx *ctx, const bf_options *options, bm_key *key) {
    if (key->type == BM_MISSING) {
        if (options && options->nocreate) {
            rm.ReplyWithError(ctx, "ERR not found");
            return false;
        }
        bf_options defaults = default_options();
        return create_bf(ctx, key, options ? options : &defaults);
    }
    if (!bm_bf_accepts(key)) {
        rm.ReplyWithError(ctx, BM_WRONGTYPE);
        return false;
    }
    return bm_may_write(ctx, key);
}

/* Adds argv[first] and all arguments after it. */
static int add_many(rm_ctx *ctx, rm_string **argv, int argc, int first, const bf_options *options) {
    bm_items items;
    if (!bm_items_init(&items, argv + first, argc - first))
        return bm_status_error(ctx, BLY_ENOMEM);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (prepare_add(ctx, options, &key)) {
        bly_batch_result tally = {0};
        bly_status status = add_items(ctx, key.value, &items, &tally);
        bool tombstone = bm_write_failed(ctx, &key, status);
        if (tombstone)
            tally = (bly_batch_result){0};
        if (tally.changed || (tally.done && bm_add_always_changes(key.value))) {
            bool plain = !options || bm_is(argv[2], "ITEMS");
            if (status == BLY_OK && plain)
                rm.ReplicateVerbatim(ctx);
            else
                rm.Replicate(ctx, "BF.MADD", "sv", argv[1], argv + first, tally.done);
            bm_key_changed(ctx, &key, "bloom.add");
        }
        if (!tombstone)
            reply_added(ctx, key.value, &items, tally.done, status);
    }
    bm_key_close(&key);
    bm_items_free(&items);
    return RM_OK;
}

int bm_bf_madd(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc < 3)
        return rm.WrongArity(ctx);
    return add_many(ctx, argv, argc, 2, NULL);
}

int bm_bf_add(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_prefetch prefetch;
    bm_prefetch_begin(&prefetch, argv[1], bm_bytes(argv[2]));
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (prepare_add(ctx, NULL, &key)) {
        bool added = false;
        bly_status status = add_one(ctx, key.value, &prefetch, &added);
        if (status == BLY_OK && (added || bm_add_always_changes(key.value))) {
            rm.ReplicateVerbatim(ctx);
            bm_key_changed(ctx, &key, "bloom.add");
        }
        if (status == BLY_OK)
            rm.ReplyWithBool(ctx, added);
        else if (!bm_write_failed(ctx, &key, status))
            reply_failure(ctx, key.value, status);
    }
    bm_key_close(&key);
    return RM_OK;
}

/* The options of BF.INSERT. */
typedef enum option {
    OPTION_UNKNOWN,
    OPTION_ITEMS,
    OPTION_ERROR,
    OPTION_EXPANSION,
    OPTION_CAPACITY,
    OPTION_NOCREATE,
    OPTION_NONSCALING
} option;

/* Recognises an option by its first letters only, as RedisBloom does. */
static option guess_option(const rm_string *word) {
    if (bm_starts(word, "I"))
        return OPTION_ITEMS;
    if (bm_starts(word, "ER"))
        return OPTION_ERROR;
    if (bm_starts(word, "E"))
        return OPTION_EXPANSION;
    if (bm_starts(word, "C"))
        return OPTION_CAPACITY;
    if (!bm_starts(word, "N"))
        return OPTION_UNKNOWN;
    bly_bytes bytes = bm_bytes(word);
    const char *letters = bytes.data;
    return bytes.size > 2 && (letters[2] == 'c' || letters[2] == 'C') ? OPTION_NOCREATE
                                                                      : OPTION_NONSCALING;
}

static option parse_option(rm_ctx *ctx, const rm_string *word) {
    static const struct {
        const char *word;
        option option;
    } known[] = {{"ITEMS", OPTION_ITEMS},         {"ERROR", OPTION_ERROR},
                 {"EXPANSION", OPTION_EXPANSION}, {"CAPACITY", OPTION_CAPACITY},
                 {"NOCREATE", OPTION_NOCREATE},   {"NONSCALING", OPTION_NONSCALING}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bm_is(word, known[i].word))
            return known[i].option;
    return bm_lax_options(ctx) ? guess_option(word) : OPTION_UNKNOWN;
}

/* Parses the value of an option. Returns NULL, or the text of an error. */
static const char *parse_value(option o, const rm_string *value, bf_options *options) {
    if (o == OPTION_ERROR) {
        if (!bm_parse_rate(value, &options->error) || !(options->error > 0 && options->error < 1))
            return "Bad error rate";
    } else if (o == OPTION_CAPACITY) {
        if (!bm_integer(value, &options->capacity) || options->capacity < 1 ||
            options->capacity > bm_max_capacity())
            return "Bad capacity";
        options->capacity_known = true;
    } else if (!bm_integer(value, &options->expansion) || options->expansion < 0 ||
               options->expansion > BLY_RB_MAX_EXPANSION) {
        return "Bad expansion";
    }
    return NULL;
}

/* Returns the index of the first item; 0 if there are no items, or if *error is set. */
static int parse_options(rm_ctx *ctx, rm_string **argv, int argc, bf_options *options,
                         const char **error) {
    for (int i = 2; i < argc && !*error; i++) {
        option o = parse_option(ctx, argv[i]);
        switch (o) {
        case OPTION_UNKNOWN:
            *error = "Unknown argument received";
            break;
        case OPTION_ITEMS:
            return i + 1 < argc ? i + 1 : 0;
        case OPTION_NOCREATE:
            options->nocreate = true;
            break;
        case OPTION_NONSCALING:
            options->nonscaling = true;
            break;
        default:
            if (++i == argc)
                return 0;
            *error = parse_value(o, argv[i], options);
        }
    }
    return 0;
}

int bm_bf_insert(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc < 4)
        return rm.WrongArity(ctx);
    bf_options options = default_options();
    const char *error = NULL;
    int first = parse_options(ctx, argv, argc, &options, &error);
    if (error)
        return rm.ReplyWithError(ctx, error);
    if (!first)
        return rm.WrongArity(ctx);
    return add_many(ctx, argv, argc, first, &options);
}

/* ---- RESERVE --------------------------------------------------------------------------------- */

/* Parses EXPANSION n and NONSCALING, which may stand anywhere after the capacity. Returns false
 * after replying with an error. */
static bool reserve_options(rm_ctx *ctx, rm_string **argv, int argc, bf_options *options) {
    options->nonscaling = bm_find_word(argv, argc, 4, 1, "NONSCALING") != 0;
    int at = bm_find_word(argv, argc, 4, 1, "EXPANSION");
    if (at) {
        const char *error = NULL;
        if (at + 1 == argc)
            error = "ERR no expansion";
        else if (!bm_integer(argv[at + 1], &options->expansion))
            error = "ERR bad expansion";
        else if (options->expansion < 0 || options->expansion > BLY_RB_MAX_EXPANSION)
            error = "ERR expansion must be in the range [0, 32768]";
        else if (options->nonscaling && options->expansion > 0)
            error = "Nonscaling filters cannot expand";
        if (error) {
            rm.ReplyWithError(ctx, error);
            return false;
        }
    }
    for (int i = 4; i < argc; i++) {
        if ((at && (i == at || i == at + 1)) || bm_is(argv[i], "NONSCALING") || bm_lax_options(ctx))
            continue;
        bm_unknown_word(ctx, argv[i]);
        return false;
    }
    return true;
}

static int reserve_bf(rm_ctx *ctx, rm_string *name, const bf_options *options) {
    bm_key key = bm_key_open(ctx, name, RM_READ | RM_WRITE);
    if (key.type != BM_MISSING)
        rm.ReplyWithError(ctx, bm_bf_accepts(&key) ? "ERR item exists" : BM_WRONGTYPE);
    else if (create_bf(ctx, &key, options))
        rm.ReplyWithSimpleString(ctx, "OK");
    bm_key_close(&key);
    return RM_OK;
}

int bm_bf_reserve(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc < 4 || argc > 7)
        return rm.WrongArity(ctx);
    bf_options options = default_options();
    options.capacity_known = true;
    if (!bm_parse_rate(argv[2], &options.error))
        return rm.ReplyWithError(ctx, "ERR bad error rate");
    if (!(options.error > 0 && options.error < 1))
        return rm.ReplyWithError(ctx, "ERR error rate must be in the range (0.000000, 1.000000)");
    if (!bm_integer(argv[3], &options.capacity))
        return rm.ReplyWithError(ctx, "ERR bad capacity");
    if (options.capacity < 1 || options.capacity > bm_max_capacity())
        return bm_error(ctx, "ERR capacity must be in the range [1, %lld]", bm_max_capacity());
    if (!reserve_options(ctx, argv, argc, &options))
        return RM_OK;
    return reserve_bf(ctx, argv[1], &options);
}

/* ---- EXISTS, MEXISTS, CARD ------------------------------------------------------------------- */

int bm_bf_exists(rm_ctx *ctx, rm_string **argv, int argc) {
    return bm_exists(ctx, argv, argc, bm_bf_accepts);
}

int bm_bf_mexists(rm_ctx *ctx, rm_string **argv, int argc) {
    return bm_mexists(ctx, argv, argc, bm_bf_accepts);
}

int bm_bf_cardinality(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    if (key.type == BM_MISSING)
        rm.ReplyWithLongLong(ctx, 0);
    else if (!bm_bf_accepts(&key))
        rm.ReplyWithError(ctx, BM_WRONGTYPE);
    else if (bm_has_no_filter(key.value))
        rm.ReplyWithError(ctx, bm_no_filter_error(key.value));
    else
        bm_reply_count(ctx, bm_value_count(key.value));
    bm_key_close(&key);
    return RM_OK;
}
