/* build_allow.c - reads the lines that must not match, keeps them, and looks them up in the keys
 * and in the filter. */
#include "build/build_allow.h"

#include "io/list_lines.h"
#include "text/message.h"
#include "text/numbers.h"

#include <string.h>

enum {
    MAX_NAMED = 10,    /* lines that are named in messages; further ones are only counted */
    MAX_SEARCHES = 20, /* searches through all keys; after these, an equal hash counts as proof */
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct line_info {
    uint64_t number;
    unsigned level;
} line_info;

static bool put_line(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key) {
    build_allow *a = ctx;
    const line_info info = {number, key->level};
    a->count++;
    return byte_strings_put(&a->lines, (bly_bytes){&info, sizeof info}) &&
           byte_strings_put(&a->lines, line) && byte_strings_put(&a->lines, key->bytes);
}

bool build_allow_read(build_allow *a, const char *path, const line_rule *rule, bool skip) {
    char *paths[] = {(char *)(uintptr_t)path};
    list_lines lines = {0};
    *a = (build_allow){.path = path, .type = rule->type};
    if (list_lines_read(paths, 1, rule, skip, put_line, a, &lines))
        return true;
    build_allow_free(a);
    return false;
}

void build_allow_free(build_allow *a) {
    byte_strings_free(&a->lines);
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* Gets the next line, and in *tries the entries by which a list would match it. Returns false at
 * the end. */
static bool next_line(const build_allow *a, const bly_list_levels *levels, size_t *at,
                      uint64_t *number, bly_bytes *line, bly_list_entries *tries) {
    bly_bytes stored;
    line_info info;
    bly_list_key key = {.blank = false};
    if (!byte_strings_next(&a->lines, at, &stored))
        return false;
    (void)byte_strings_next(&a->lines, at, line);
    (void)byte_strings_next(&a->lines, at, &key.bytes);
    memcpy(&info, stored.data, sizeof info);
    *number = info.number;
    key.level = info.level;
    bly_list_widen(a->type, &key, levels, tries);
    return true;
}

static void name(const build_allow *a, uint64_t number, bly_bytes line, bly_bytes by) {
    char quoted[LINE_QUOTE], words[BLY_LIST_WORDS], key[LINE_QUOTE];
    (void)line_quote(line, quoted);
    (void)line_quote(bly_list_words(a->type, by, words), key);
    bool other = strcmp(quoted, key) != 0;
    (void)message_error("%s:%llu: must not match, but is in the list: '%s'%s%s%s", a->path,
                        (unsigned long long)number, quoted, other ? " (as " : "", other ? key : "",
                        other ? ")" : "");
}

/* Returns the index of the first of `tries` that is a key of the list, or tries->count if none is.
 * If the hashes are equal, the keys almost certainly are. To be certain, the key itself is searched
 * for; this reads all keys, so *searches_left limits the number of searches. */
static size_t find(const bly_list_entries *tries, const bly_hasher *hasher,
                   const gathered_keys *keys, unsigned *searches_left) {
    size_t i = 0;
    for (; i < tries->count; i++) {
        bly_bytes key = tries->keys[i];
        if (!gathered_keys_contain_hash(keys, bly_hash_key(hasher, key.data, key.size)))
            continue;
        if (*searches_left == 0 || (--*searches_left, gathered_keys_contain(keys, key)))
            break;
    }
    return i;
}

uint64_t build_allow_in_list(const build_allow *a, const bly_list_levels *levels,
                             const bly_hasher *hasher, const gathered_keys *keys) {
    uint64_t number, found = 0;
    unsigned searches_left = MAX_SEARCHES;
    bly_list_entries tries;
    bly_bytes line;
    for (size_t at = 0; next_line(a, levels, &at, &number, &line, &tries);) {
        size_t i = find(&tries, hasher, keys, &searches_left);
        if (i < tries.count && found++ < MAX_NAMED)
            name(a, number, line, tries.keys[i]);
    }
    if (found > MAX_NAMED)
        (void)message_error("%s: %s more lines are also in the list", a->path,
                            NUMBER_GROUPED(found - MAX_NAMED));
    return found;
}

uint64_t build_allow_count_matches(const build_allow *a, const bly_list_levels *levels,
                                   const bly_filter *f) {
    uint64_t number, matches = 0;
    bly_list_entries tries;
    bly_bytes line;
    for (size_t at = 0; next_line(a, levels, &at, &number, &line, &tries);) {
        bool match = false;
        for (size_t i = 0; i < tries.count && !match; i++)
            match = bly_filter_contains(f, tries.keys[i].data, tries.keys[i].size);
        matches += match;
    }
    return matches;
}
