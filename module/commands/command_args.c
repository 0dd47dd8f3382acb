/* command_args.c - parses the arguments of a command: words, numbers and lists of items. */
#include "commands/command_args.h"

#include "commands/command_reply.h"

#include <math.h>
#include <string.h>

static char upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool same(const char *text, const char *word, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (upper(text[i]) != upper(word[i]))
            return false;
    return true;
}

bool bm_is(const rm_string *arg, const char *word) {
    size_t size;
    const char *text = rm.StringPtrLen(arg, &size);
    return size == strlen(word) && same(text, word, size);
}

bool bm_starts(const rm_string *arg, const char *letters) {
    size_t size, n = strlen(letters);
    const char *text = rm.StringPtrLen(arg, &size);
    return size >= n && same(text, letters, n);
}

bool bm_integer(const rm_string *arg, long long *out) {
    return rm.StringToLongLong(arg, out) == RM_OK;
}

/* Does not use the engine's parser: in numbers above 2^63 it ignores everything after a zero
 * byte. */
bool bm_unsigned(const rm_string *arg, uint64_t *out) {
    size_t size;
    const char *text = rm.StringPtrLen(arg, &size);
    uint64_t value = 0;
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool bm_double(const rm_string *arg, double *out) {
    double value;
    if (rm.StringToDouble(arg, &value) != RM_OK || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool bm_items_init(bm_items *items, rm_string **argv, int argc) {
    size_t n = argc > 0 ? (size_t)argc : 0;
    items->n = n;
    items->keys = items->few;
    items->answers = items->few_answers;
    items->block = NULL;
    if (n > sizeof items->few / sizeof *items->few) {
        items->block = rm.TryAlloc(n * (sizeof *items->keys + 1));
        if (!items->block)
            return false;
        items->keys = items->block;
        items->answers = (uint8_t *)(items->keys + n);
    }
    for (size_t i = 0; i < n; i++)
        items->keys[i] = bm_bytes(argv[i]);
    memset(items->answers, 0, n);
    return true;
}

void bm_items_free(bm_items *items) {
    if (items->block)
        rm.Free(items->block);
    items->block = NULL;
}

int bm_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int bm_find_word(rm_string **argv, int argc, int from, int step, const char *word) {
    for (int i = from; i < argc; i += step)
        if (bm_is(argv[i], word))
            return i;
    return 0;
}

int bm_unknown_word(rm_ctx *ctx, const rm_string *word) {
    bly_bytes bytes = bm_bytes(word);
    int shown = bytes.size < 64 ? (int)bytes.size : 63;
    return bm_error(ctx, "ERR unknown argument '%.*s'", shown, (const char *)bytes.data);
}
