/* bly_reserve.c - BLY.RESERVE: a filter of any kind, with all that can be said of it. */
#include "bly.h"
#include "commands.h"
#include "recipe.h"
#include "reply.h"

static int reserve(rm_ctx *ctx, rm_string *name, bm_recipe *recipe) {
    bm_key key = bm_key_open(ctx, name, RM_READ | RM_WRITE);
    if (key.what != BM_MISSING)
        rm.ReplyWithError(ctx, key.what == BM_FOREIGN ? BM_WRONGTYPE : "ERR item exists");
    else if (bm_recipe_create(ctx, &key, recipe, "bly.reserve"))
        rm.ReplyWithSimpleString(ctx, "OK");
    bm_key_close(&key);
    return RM_OK;
}

/* The filter beneath is copied, so it may change or go afterwards. */
static int reserve_over(rm_ctx *ctx, rm_string *name, bm_recipe *recipe) {
    bm_key base;
    if (!bm_bly_open_items(ctx, recipe->base_name, RM_READ, &base))
        return RM_OK;
    if (base.what != BM_FILTER) {
        rm.ReplyWithError(ctx, "ERR an overlay cannot lie over a filter in RedisBloom's layout");
    } else {
        recipe->base = base.value->as.filter;
        reserve(ctx, name, recipe);
    }
    bm_key_close(&base);
    return RM_OK;
}

int bm_bly_reserve(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_recipe recipe;
    if (argc < 4)
        return rm.WrongArity(ctx);
    if (!bm_recipe_parse(ctx, argv + 2, argc - 2, &recipe))
        return RM_OK;
    return recipe.base_name ? reserve_over(ctx, argv[1], &recipe) : reserve(ctx, argv[1], &recipe);
}
