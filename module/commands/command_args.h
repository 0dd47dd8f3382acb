/* command_args.h - parsing the arguments of a command. */
#ifndef BLOOMERY_MODULE_COMMAND_ARGS_H
#define BLOOMERY_MODULE_COMMAND_ARGS_H

#include "engine_api.h"

#include <bloomery/base.h>
#include <stdbool.h>

/* Whether the argument is this word, ignoring case. `word` must be in capitals. */
bool bm_is(const rm_string *arg, const char *word);

/* Whether the argument starts with these letters, ignoring case: how RedisBloom recognises
 * options. */
bool bm_starts(const rm_string *arg, const char *letters);

/* These three parse a number and return true, or return false if the whole argument, without spaces
 * or other bytes, is not such a number. */
bool bm_integer(const rm_string *arg, long long *out);
bool bm_unsigned(const rm_string *arg, uint64_t *out);
bool bm_double(const rm_string *arg, double *out); /* false for infinity and NaN */

static inline bly_bytes bm_bytes(const rm_string *arg) {
    bly_bytes bytes;
    bytes.data = rm.StringPtrLen(arg, &bytes.size);
    return bytes;
}

/* Returns the value of a hexadecimal digit; -1 for any other character. */
int bm_digit(char c);

/* Searches argv[from], argv[from + step], and so on for a word. Returns its index; 0 if it is not
 * among them. */
int bm_find_word(rm_string **argv, int argc, int from, int step, const char *word);

/* Replies with an error that names the word. Returns RM_OK. */
int bm_unknown_word(rm_ctx *ctx, const rm_string *word);

/* The items of a command, as arrays for the library's batch calls: in the struct itself up to 128
 * items, in a block of the engine's allocator if there are more. */
typedef struct bm_items {
    size_t n;
    bly_bytes *keys;
    uint8_t *answers; /* n bytes, all 0 at first */
    bly_bytes few[128];
    uint8_t few_answers[128];
    void *block;
} bm_items;

/* Returns false if there is no memory. */
bool bm_items_init(bm_items *items, rm_string **argv, int argc);
void bm_items_free(bm_items *items);

#endif
