/* bf.c - BF.RESERVE, ADD, MADD, INSERT, EXISTS, MEXISTS and CARD.
 *
 * What is replicated. A creation is replicated by bm_recipe_create. Adds are when they changed
 * something; as they came when every item was dealt with and there were no options, else as the
 * BF.MADD of the items that were: options mean nothing any more, and a replica whose settings
 * differ might refuse them. Nor does it refuse for want of memory what its master did not, so it
 * must not be told of what the master refused.
 *
 * What is replayed. A creation by BF.* that comes from a master, or from the AOF, comes from
 * RedisBloom: our own go as BLY.RESERVE. It is followed in RedisBloom's layout, so that everything
 * after it has the same effect there and here.
 */
#include "ask.h"
#include "commands.h"
#include "config.h"
#include "family.h"
#include "hunch.h"
#include "recipe.h"
#include "reply.h"

#include <string.h>

/* ---- adding ---------------------------------------------------------------------------------- */

static bly_status add_items(rm_ctx *ctx, bm_value *value, bm_items *items, bly_tally *tally) {
    if (value->what == BM_RB_BLOOM)
        return bly_rb_bloom_add_many(value->as.bloom, items->keys, items->n, items->answers, tally);
    if (bm_family_capped(ctx, value, items->n))
        return bm_family_add_capped(value->as.filter, items->keys, items->n, items->answers, tally);
    return bly_filter_add_many(value->as.filter, items->keys, items->n, items->answers, tally);
}

static bly_status add_one(rm_ctx *ctx, bm_value *value, const bm_hunch *hunch, bool *added) {
    if (value->what == BM_RB_BLOOM)
        return bly_rb_bloom_add(value->as.bloom, hunch->item.data, hunch->item.size, added);
    if (bm_family_capped(ctx, value, 1)) {
        *added = false;
        return bm_hunch_ask(hunch, value->as.filter) ? BLY_OK : BLY_EFULL;
    }
    return bm_hunch_add(hunch, value->as.filter, added);
}

/* ---- replies --------------------------------------------------------------------------------- */

static bool is_full(const bm_value *value, bly_status status) {
    return status == BLY_EFULL && (value->what == BM_RB_BLOOM || value->traits.nonscaling);
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

/* A filter that is full ends the array with its error. One that could not grow has an error for
 * every item that is not there: none of the rest is tried, so that what a batch adds is always its
 * beginning. */
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
        if (i > done && bm_ask(value, items->keys[i]))
            rm.ReplyWithBool(ctx, 0);
        else
            reply_failure(ctx, value, status);
    }
}

/* ---- ADD, MADD, INSERT ----------------------------------------------------------------------- */

/* What a new filter is to be. */
typedef struct wish {
    double error;
    long long capacity, expansion;
    bool nonscaling, capacity_known, nocreate;
} wish;

static wish wish_default(void) {
    return (wish){.error = bm_configs.bf_error_rate,
                  .capacity = bm_configs.bf_initial_size,
                  .expansion = bm_configs.bf_expansion};
}

static bool create(rm_ctx *ctx, bm_key *key, const wish *w) {
    bool fixed = w->nonscaling || w->expansion == 0;
    bool followed = bm_is_replayed(ctx);
    double error = bm_family_cap(w->error, bm_configs.compat || followed);
    bm_recipe recipe = bm_recipe_bf(error, (uint64_t)w->capacity,
                                    fixed ? 0 : (uint32_t)w->expansion, fixed, w->capacity_known);
    if (followed)
        recipe.layout = BM_LAYOUT_RB_BLOOM;
    return bm_recipe_create(ctx, key, &recipe, "bloom.reserve");
}

/* A key that was opened to be added to; the filter is created if need be. False: an error was
 * replied; close it all the same. `w` NULL: all defaults. */
static bool may_add(rm_ctx *ctx, const wish *w, bm_key *key) {
    if (key->what == BM_MISSING) {
        if (w && w->nocreate) {
            rm.ReplyWithError(ctx, "ERR not found");
            return false;
        }
        wish defaults = wish_default();
        return create(ctx, key, w ? w : &defaults);
    }
    if (!bm_bf_takes(key)) {
        rm.ReplyWithError(ctx, BM_WRONGTYPE);
        return false;
    }
    return bm_family_may_write(ctx, key);
}

/* Adds argv[first] and those behind it. */
static int add_many(rm_ctx *ctx, rm_string **argv, int argc, int first, const wish *w) {
    bm_items items;
    if (!bm_items_take(&items, argv + first, argc - first))
        return bm_status_error(ctx, BLY_ENOMEM);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (may_add(ctx, w, &key)) {
        bly_tally tally = {0};
        bly_status status = add_items(ctx, key.value, &items, &tally);
        bool lost = bm_family_lose(ctx, &key, status);
        if (lost)
            tally = (bly_tally){0};
        if (tally.fresh || (tally.done && bm_family_adds_always(key.value))) {
            bool plain = !w || bm_is(argv[2], "ITEMS");
            if (status == BLY_OK && plain)
                rm.ReplicateVerbatim(ctx);
            else
                rm.Replicate(ctx, "BF.MADD", "sv", argv[1], argv + first, tally.done);
            bm_key_changed(ctx, &key, "bloom.add");
        }
        if (!lost)
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
    bm_hunch hunch;
    bm_hunch_begin(&hunch, argv[1], bm_bytes(argv[2]));
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (may_add(ctx, NULL, &key)) {
        bool added = false;
        bly_status status = add_one(ctx, key.value, &hunch, &added);
        if (status == BLY_OK && (added || bm_family_adds_always(key.value))) {
            rm.ReplicateVerbatim(ctx);
            bm_key_changed(ctx, &key, "bloom.add");
        }
        if (status == BLY_OK)
            rm.ReplyWithBool(ctx, added);
        else if (!bm_family_lose(ctx, &key, status))
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

/* RedisBloom looks at the first letters alone. */
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

static option read_option(rm_ctx *ctx, const rm_string *word) {
    static const struct {
        const char *word;
        option option;
    } known[] = {{"ITEMS", OPTION_ITEMS},         {"ERROR", OPTION_ERROR},
                 {"EXPANSION", OPTION_EXPANSION}, {"CAPACITY", OPTION_CAPACITY},
                 {"NOCREATE", OPTION_NOCREATE},   {"NONSCALING", OPTION_NONSCALING}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bm_is(word, known[i].word))
            return known[i].option;
    return bm_family_lax(ctx) ? guess_option(word) : OPTION_UNKNOWN;
}

/* One option that has a value. NULL, or the error. */
static const char *read_value(option o, const rm_string *value, wish *w) {
    if (o == OPTION_ERROR) {
        if (!bm_family_rate(value, &w->error) || !(w->error > 0 && w->error < 1))
            return "Bad error rate";
    } else if (o == OPTION_CAPACITY) {
        if (!bm_integer(value, &w->capacity) || w->capacity < 1 || w->capacity > bm_family_most())
            return "Bad capacity";
        w->capacity_known = true;
    } else if (!bm_integer(value, &w->expansion) || w->expansion < 0 ||
               w->expansion > BLY_RB_MAX_EXPANSION) {
        return "Bad expansion";
    }
    return NULL;
}

/* Where the items begin; 0 when there are none, or an error (*error) was found. */
static int read_options(rm_ctx *ctx, rm_string **argv, int argc, wish *w, const char **error) {
    for (int i = 2; i < argc && !*error; i++) {
        option o = read_option(ctx, argv[i]);
        switch (o) {
        case OPTION_UNKNOWN:
            *error = "Unknown argument received";
            break;
        case OPTION_ITEMS:
            return i + 1 < argc ? i + 1 : 0;
        case OPTION_NOCREATE:
            w->nocreate = true;
            break;
        case OPTION_NONSCALING:
            w->nonscaling = true;
            break;
        default:
            if (++i == argc)
                return 0;
            *error = read_value(o, argv[i], w);
        }
    }
    return 0;
}

int bm_bf_insert(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc < 4)
        return rm.WrongArity(ctx);
    wish w = wish_default();
    const char *error = NULL;
    int first = read_options(ctx, argv, argc, &w, &error);
    if (error)
        return rm.ReplyWithError(ctx, error);
    if (!first)
        return rm.WrongArity(ctx);
    return add_many(ctx, argv, argc, first, &w);
}

/* ---- RESERVE --------------------------------------------------------------------------------- */

/* EXPANSION n and NONSCALING, anywhere behind the capacity. False: an error was replied. */
static bool reserve_options(rm_ctx *ctx, rm_string **argv, int argc, wish *w) {
    w->nonscaling = bm_find_word(argv, argc, 4, 1, "NONSCALING") != 0;
    int at = bm_find_word(argv, argc, 4, 1, "EXPANSION");
    if (at) {
        const char *error = NULL;
        if (at + 1 == argc)
            error = "ERR no expansion";
        else if (!bm_integer(argv[at + 1], &w->expansion))
            error = "ERR bad expansion";
        else if (w->expansion < 0 || w->expansion > BLY_RB_MAX_EXPANSION)
            error = "ERR expansion must be in the range [0, 32768]";
        else if (w->nonscaling && w->expansion > 0)
            error = "Nonscaling filters cannot expand";
        if (error) {
            rm.ReplyWithError(ctx, error);
            return false;
        }
    }
    for (int i = 4; i < argc; i++) {
        if ((at && (i == at || i == at + 1)) || bm_is(argv[i], "NONSCALING") || bm_family_lax(ctx))
            continue;
        bm_unknown_word(ctx, argv[i]);
        return false;
    }
    return true;
}

static int reserve(rm_ctx *ctx, rm_string *name, const wish *w) {
    bm_key key = bm_key_open(ctx, name, RM_READ | RM_WRITE);
    if (key.what != BM_MISSING)
        rm.ReplyWithError(ctx, bm_bf_takes(&key) ? "ERR item exists" : BM_WRONGTYPE);
    else if (create(ctx, &key, w))
        rm.ReplyWithSimpleString(ctx, "OK");
    bm_key_close(&key);
    return RM_OK;
}

int bm_bf_reserve(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc < 4 || argc > 7)
        return rm.WrongArity(ctx);
    wish w = wish_default();
    w.capacity_known = true;
    if (!bm_family_rate(argv[2], &w.error))
        return rm.ReplyWithError(ctx, "ERR bad error rate");
    if (!(w.error > 0 && w.error < 1))
        return rm.ReplyWithError(ctx, "ERR error rate must be in the range (0.000000, 1.000000)");
    if (!bm_integer(argv[3], &w.capacity))
        return rm.ReplyWithError(ctx, "ERR bad capacity");
    if (w.capacity < 1 || w.capacity > bm_family_most())
        return bm_error(ctx, "ERR capacity must be in the range [1, %lld]", bm_family_most());
    if (!reserve_options(ctx, argv, argc, &w))
        return RM_OK;
    return reserve(ctx, argv[1], &w);
}

/* ---- EXISTS, MEXISTS, CARD ------------------------------------------------------------------- */

int bm_bf_exists(rm_ctx *ctx, rm_string **argv, int argc) {
    return bm_ask_exists(ctx, argv, argc, bm_bf_takes);
}

int bm_bf_mexists(rm_ctx *ctx, rm_string **argv, int argc) {
    return bm_ask_mexists(ctx, argv, argc, bm_bf_takes);
}

int bm_bf_card(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    if (key.what == BM_MISSING)
        rm.ReplyWithLongLong(ctx, 0);
    else if (!bm_bf_takes(&key))
        rm.ReplyWithError(ctx, BM_WRONGTYPE);
    else if (bm_is_hollow(key.value))
        rm.ReplyWithError(ctx, bm_hollow_text(key.value));
    else
        bm_reply_count(ctx, bm_ask_count(key.value));
    bm_key_close(&key);
    return RM_OK;
}
