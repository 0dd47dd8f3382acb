#include "card.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static struct bm_pair *next(bm_card *card, const char *name) {
    assert(card->n < BM_CARD_ROOM);
    struct bm_pair *pair = &card->pairs[card->n++];
    pair->name = name;
    pair->type = BM_PAIR_NULL;
    return pair;
}

void bm_card_null(bm_card *card, const char *name) {
    (void)next(card, name);
}

void bm_card_text(bm_card *card, const char *name, const char *text) {
    struct bm_pair *pair = next(card, name);
    pair->type = BM_PAIR_TEXT;
    snprintf(pair->as.text, sizeof pair->as.text, "%s", text);
}

void bm_card_number(bm_card *card, const char *name, uint64_t number) {
    struct bm_pair *pair = next(card, name);
    pair->type = BM_PAIR_NUMBER;
    pair->as.number = number > INT64_MAX ? INT64_MAX : (long long)number;
}

void bm_card_double(bm_card *card, const char *name, double number) {
    struct bm_pair *pair = next(card, name);
    if (isnan(number))
        return;
    pair->type = BM_PAIR_DOUBLE;
    pair->as.real = number;
}

void bm_card_bool(bm_card *card, const char *name, bool yes) {
    struct bm_pair *pair = next(card, name);
    pair->type = BM_PAIR_BOOL;
    pair->as.yes = yes;
}

int bm_card_reply(rm_ctx *ctx, const bm_card *card) {
    rm.ReplyWithMap(ctx, (long)card->n);
    for (size_t i = 0; i < card->n; i++) {
        const struct bm_pair *pair = &card->pairs[i];
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
