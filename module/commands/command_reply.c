/* command_reply.c - sends errors, counts and maps as replies to a client. */
#include "commands/command_reply.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

bool bm_resp3(rm_ctx *ctx) {
    return (rm.GetContextFlags(ctx) & RM_CTX_RESP3) != 0;
}

int bm_error(rm_ctx *ctx, const char *fmt, ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    rm.ReplyWithError(ctx, text);
    return RM_OK;
}

void bm_reply_count(rm_ctx *ctx, uint64_t count) {
    rm.ReplyWithLongLong(ctx, count > INT64_MAX ? INT64_MAX : (long long)count);
}

int bm_status_error(rm_ctx *ctx, bly_status status) {
    return bm_error(ctx, "ERR %s", bly_strerror(status));
}

/* ---- maps ------------------------------------------------------------------------------------ */

static struct bm_pair *add_pair(bm_reply_map *map, const char *name) {
    assert(map->n < BM_MAP_MAX_PAIRS);
    struct bm_pair *pair = &map->pairs[map->n++];
    pair->name = name;
    pair->type = BM_PAIR_NULL;
    return pair;
}

void bm_map_null(bm_reply_map *map, const char *name) {
    (void)add_pair(map, name);
}

void bm_map_text(bm_reply_map *map, const char *name, const char *text) {
    struct bm_pair *pair = add_pair(map, name);
    pair->type = BM_PAIR_TEXT;
    snprintf(pair->as.text, sizeof pair->as.text, "%s", text);
}

void bm_map_number(bm_reply_map *map, const char *name, uint64_t number) {
    struct bm_pair *pair = add_pair(map, name);
    pair->type = BM_PAIR_NUMBER;
    pair->as.number = number > INT64_MAX ? INT64_MAX : (long long)number;
}

void bm_map_double(bm_reply_map *map, const char *name, double number) {
    struct bm_pair *pair = add_pair(map, name);
    if (isnan(number))
        return;
    pair->type = BM_PAIR_DOUBLE;
    pair->as.real = number;
}

void bm_map_bool(bm_reply_map *map, const char *name, bool yes) {
    struct bm_pair *pair = add_pair(map, name);
    pair->type = BM_PAIR_BOOL;
    pair->as.yes = yes;
}

int bm_map_reply(rm_ctx *ctx, const bm_reply_map *map) {
    rm.ReplyWithMap(ctx, (long)map->n);
    for (size_t i = 0; i < map->n; i++) {
        const struct bm_pair *pair = &map->pairs[i];
        rm.ReplyWithSimpleString(ctx, pair->name);
        switch (pair->type) {
        case BM_PAIR_NULL:
            rm.ReplyWithNull(ctx);
            break;
        case BM_PAIR_TEXT:
            rm.ReplyWithCString(ctx, pair->as.text);
            break;
        case BM_PAIR_NUMBER:
            rm.ReplyWithLongLong(ctx, pair->as.number);
            break;
        case BM_PAIR_DOUBLE:
            rm.ReplyWithDouble(ctx, pair->as.real);
            break;
        case BM_PAIR_BOOL:
            rm.ReplyWithBool(ctx, pair->as.yes);
            break;
        }
    }
    return RM_OK;
}
