/* command_args.h - parsing the arguments of a command. */
#ifndef BLOOMERY_MODULE_COMMAND_ARGS_H
#define BLOOMERY_MODULE_COMMAND_ARGS_H

#include "engine_api.h"

#include <bloomery/base.h>
#include <stdbool.h>

/* Whether the argument is that word, ignoring case. `word` is written in capitals. */
bool bm_is(const rm_string *arg, const char *word);

/* Whether the argument starts with these letters, ignoring case: how RedisBloom recognises
 * options. */
bool bm_starts(const rm_string *arg, const char *letters);

/* Each parses the whole argument: no spaces, no trailing bytes. */
bool bm_integer(const rm_string *arg, long long *out);
bool bm_unsigned(const rm_string *arg, uint64_t *out);
bool bm_double(const rm_string *arg, double *out); /* finite */

static inline bly_bytes bm_bytes(const rm_string *arg) {
    bly_bytes bytes;
    bytes.data = rm.StringPtrLen(arg, &bytes.size);
    return bytes;
}

/* The value of a hexadecimal digit, or -1. */
int bm_digit(char c);

/* The index among argv[from], argv[from + step], ... of the word; 0: it is not there. */
int bm_find_word(rm_string **argv, int argc, int from, int step, const char *word);

/* Replies with an error that names the word. Returns RM_OK. */
int bm_unknown_word(rm_ctx *ctx, const rm_string *word);

/* Items as the library's batch calls need them: up to 128 on the stack, more from the engine's
 * allocator. */
typedef struct bm_items {
    size_t n;
    bly_bytes *keys;
    uint8_t *answers; /* n bytes, zeroed */
    bly_bytes few[128];
    uint8_t few_answers[128];
    void *block;
} bm_items;

/* false: no memory. */
bool bm_items_init(bm_items *items, rm_string **argv, int argc);
void bm_items_free(bm_items *items);

#endif
