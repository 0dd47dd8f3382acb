/* build_allow.c - lines that must not match: read once, and looked up both in the keys and in the
 * filter. */
#include "build/build_allow.h"

#include "io/list_lines.h"
#include "text/message.h"
#include "text/numbers.h"

#include <string.h>

enum {
    NAMED = 10,    /* lines named, before they are only counted */
    PATIENCE = 20, /* searches through all keys, before a hash is proof enough */
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct place {
    uint64_t number;
    unsigned level;
} place;

static bool put_line(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key) {
    build_allow *a = ctx;
    const place p = {number, key->level};
    a->count++;
    return byte_strings_put(&a->lines, (bly_bytes){&p, sizeof p}) &&
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

/* The next line, and the keys by which it may be in a list. */
static bool next_line(const build_allow *a, const bly_list_levels *levels, size_t *at,
                      uint64_t *number, bly_bytes *line, bly_list_entries *tries) {
    bly_bytes where;
    place p;
    bly_list_key key = {.blank = false};
    if (!byte_strings_next(&a->lines, at, &where))
        return false;
    (void)byte_strings_next(&a->lines, at, line);
    (void)byte_strings_next(&a->lines, at, &key.bytes);
    memcpy(&p, where.data, sizeof p);
    *number = p.number;
    key.level = p.level;
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

/* The first of the tries that is really a key of the list; tries->count: none. The hash alone is
 * nearly always proof. *patience is how often the key itself may still be searched, which reads all
 * keys. */
static size_t find(const bly_list_entries *tries, const bly_hasher *hasher,
                   const gathered_keys *keys, unsigned *patience) {
    size_t i = 0;
    for (; i < tries->count; i++) {
        bly_bytes key = tries->keys[i];
        if (!gathered_keys_have(keys, bly_hash_key(hasher, key.data, key.size)))
            continue;
        if (*patience == 0 || (--*patience, gathered_keys_hold(keys, key)))
            break;
    }
    return i;
}

uint64_t build_allow_in_list(const build_allow *a, const bly_list_levels *levels,
                             const bly_hasher *hasher, const gathered_keys *keys) {
    char more[NUMBER_TEXT];
    uint64_t number, found = 0;
    unsigned patience = PATIENCE;
    bly_list_entries tries;
    bly_bytes line;
    for (size_t at = 0; next_line(a, levels, &at, &number, &line, &tries);) {
        size_t i = find(&tries, hasher, keys, &patience);
        if (i < tries.count && found++ < NAMED)
            name(a, number, line, tries.keys[i]);
    }
    if (found > NAMED)
        (void)message_error("%s: %s more lines are in the list", a->path,
                            number_grouped(found - NAMED, more));
    return found;
}

uint64_t build_allow_ask(const build_allow *a, const bly_list_levels *levels, const bly_filter *f) {
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
