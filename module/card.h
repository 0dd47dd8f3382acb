/* card.h - a reply that is a map: its pairs are collected first, since their number comes first on
 * the wire.
 */
#ifndef BLOOMERY_MODULE_CARD_H
#define BLOOMERY_MODULE_CARD_H

#include "api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BM_CARD_ROOM = 48 };

typedef struct bm_card {
    size_t n;
    struct bm_pair {
        const char *name;
        enum { BM_PAIR_NULL, BM_PAIR_TEXT, BM_PAIR_NUMBER, BM_PAIR_DOUBLE, BM_PAIR_BOOL } type;
        union {
            char text[200];
            long long number;
            double real;
            bool yes;
        } as;
    } pairs[BM_CARD_ROOM];
} bm_card;

/* Names are not copied, texts are. More pairs than there is room for are a defect. */
void bm_card_null(bm_card *card, const char *name);
void bm_card_text(bm_card *card, const char *name, const char *text);
void bm_card_number(bm_card *card, const char *name, uint64_t number);
void bm_card_double(bm_card *card, const char *name, double number); /* NAN: null */
void bm_card_bool(bm_card *card, const char *name, bool yes);

/* A map in RESP3, an array of names and values in RESP2. Returns RM_OK. */
int bm_card_reply(rm_ctx *ctx, const bm_card *card);

#endif
