/* bly_reserve.c - BLY.RESERVE: a filter of any kind, with all that can be said of it. */
#include "bly.h"
#include "commands.h"
#include "lost.h"
#include "recipe.h"
#include "reply.h"

static const char *why_not(const bm_key *key) {
    if (key->what == BM_MISSING)
        return NULL;
    if (key->what == BM_FOREIGN)
        return BM_WRONGTYPE;
    return bm_is_lost(key->value) ? bm_lost_text(key->value) : "ERR item exists";
}

static int reserve(rm_ctx *ctx, bm_key *key, bm_recipe *recipe) {
    const char *error = why_not(key);
    if (error)
        return rm.ReplyWithError(ctx, error);
    if (bm_recipe_create(ctx, key, recipe, "bly.reserve"))
        rm.ReplyWithSimpleString(ctx, "OK");
    return RM_OK;
}

/* The filter beneath is copied, so it may change or go afterwards. */
static int reserve_over(rm_ctx *ctx, bm_key *key, bm_recipe *recipe) {
    bm_key base = bm_key_open(ctx, recipe->base_name, RM_READ);
    const char *error = bm_bly_why_not(&base, true);
    if (!error && base.what != BM_FILTER)
        error = "ERR an overlay cannot lie over a filter in RedisBloom's layout";
    if (!error) {
        recipe->base = base.value->as.filter;
        reserve(ctx, key, recipe);
    } else if (!bm_lose(ctx, key, "what it was to lie over is not there, or not whole")) {
        rm.ReplyWithError(ctx, error);
    }
    bm_key_close(&base);
    return RM_OK;
}

int bm_bly_reserve(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_recipe recipe;
    if (argc < 4)
        return rm.WrongArity(ctx);
    bool good = bm_recipe_parse(ctx, argv + 2, argc - 2, &recipe);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    bool lost = key.value && bm_is_lost(key.value);
    if (!good)
        (void)bm_lose_quietly(ctx, &key, "it was reserved with words that are not known here");
    else if (!lost || !bm_lose(ctx, &key, BM_LOST))
        recipe.base_name ? reserve_over(ctx, &key, &recipe) : reserve(ctx, &key, &recipe);
    bm_key_close(&key);
    return RM_OK;
}
