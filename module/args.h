/* args.h - the words of a command. */
#ifndef BLOOMERY_MODULE_ARGS_H
#define BLOOMERY_MODULE_ARGS_H

#include "api.h"

#include <bloomery/base.h>
#include <stdbool.h>

/* Whether it is that word, in any case. `word` is written in capitals. */
bool bm_is(const rm_string *arg, const char *word);

/* Whether its first letters are these, in any case: RedisBloom's way of telling options. */
bool bm_starts(const rm_string *arg, const char *letters);

/* Whole arguments only: no spaces, no rest. */
bool bm_integer(const rm_string *arg, long long *out);
bool bm_unsigned(const rm_string *arg, uint64_t *out);
bool bm_double(const rm_string *arg, double *out); /* finite */

static inline bly_bytes bm_bytes(const rm_string *arg) {
    bly_bytes bytes;
    bytes.data = rm.StringPtrLen(arg, &bytes.size);
    return bytes;
}

/* What a hexadecimal digit is worth; -1: it is none. */
int bm_digit(char c);

/* Items as the batch calls of the library want them: on the stack up to 128 of them, else from the
 * engine. */
typedef struct bm_items {
    size_t n;
    bly_bytes *keys;
    uint8_t *answers; /* n bytes, zeroed */
    bly_bytes few[128];
    uint8_t few_answers[128];
    void *block;
} bm_items;

/* false: no memory. */
bool bm_items_take(bm_items *items, rm_string **argv, int argc);
void bm_items_free(bm_items *items);

#endif
