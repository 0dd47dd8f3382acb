/* rule_marks.c - finds the mark of a key rule by looking up the marks of all likely rules: all
 * rules without --field, then the first fields with common delimiters. */
#include "filters/rule_marks.h"

#include <bloomery/redis/bitmap.h>
#include <stdio.h>

enum { COMMANDS = 2, FIELDS = 16, PLAIN = 12, RULES = PLAIN + FIELDS * 6 * 6, BATCH = 64 };

/* Marks are trusted if the chance of a false positive among them is below this. */
static const double max_error = 1e-6;

size_t rule_mark_text(const char *command, const char *rule, char out[RULE_MARK]) {
    const int size = snprintf(out, RULE_MARK, "%cbloomery%c%s%c%s", 0, 0, command, 0, rule);
    return (size_t)size;
}

/* Returns the i-th rule whose mark is looked up. */
static key_options rule_at(unsigned i) {
    static const char delimiters[] = "\t ,;:|";
    if (i < PLAIN)
        return (key_options){.url = i / 4, .ignore_case = i & 1, .extract = (i & 2) != 0};
    i -= PLAIN;
    return (key_options){.url = i % 3,
                         .ignore_case = i / 3 % 2,
                         .delimiter = {.given = true, .value = delimiters[i / 6 % 6]},
                         .field = 1 + i / 36};
}

/* Sets present[k] for each rule k from `i` to `end` - 1 whose mark is in the list. */
static bly_status look_up(const bly_list_source *list, unsigned i, unsigned end, bool *present) {
    static const char *const commands[COMMANDS] = {"dedup", "count"};
    char texts[BATCH * COMMANDS][RULE_MARK], words[KEY_OPTIONS_WORDS];
    bly_bytes keys[BATCH * COMMANDS];
    uint8_t found[BATCH * COMMANDS];
    while (i < end) {
        const unsigned first = i;
        size_t n = 0;
        for (; i < end && i < first + BATCH; i++) {
            const key_options rule = rule_at(i);
            (void)key_options_words(&rule, words);
            for (unsigned c = 0; c < COMMANDS; c++, n++)
                keys[n] = (bly_bytes){texts[n], rule_mark_text(commands[c], words, texts[n])};
        }
        const bly_status status = list->contains(list->ctx, keys, n, found);
        if (status != BLY_OK)
            return status;
        for (size_t k = 0; k < n; k++)
            present[first + k / COMMANDS] |= found[k] == BLY_YES;
    }
    return BLY_OK;
}

/* Whether marks that are found can be trusted. */
static bly_status are_trusted(const bly_list_source *list, bool *out) {
    double rate = 0;
    const bly_status status = list->rate(list->ctx, &rate);
    *out = status == BLY_OK && COMMANDS * RULES * rate < max_error;
    return status;
}

bly_status rule_marks_read(const bly_list_source *list, bool fields, rule_marks *out) {
    bool present[RULES] = {false}, other = false;
    *out = (rule_marks){0};
    bly_status status = look_up(list, 0, PLAIN, present);
    if (status != BLY_OK)
        return status;
    for (unsigned i = 0; i < PLAIN; i++) {
        const key_options rule = rule_at(i);
        const bly_key_rule code = key_options_code(&rule);
        out->lines |= present[i] && code == BLY_KEYS_RECORD;
        out->url |= present[i] && code == BLY_KEYS_RECORD_URL;
        out->crawl |= present[i] && code == BLY_KEYS_RECORD_CRAWL;
        other |= present[i] && code == BLY_KEYS_OTHER;
    }
    if (rule_marks_any(out))
        return BLY_OK;
    if (fields && !other)
        status = look_up(list, PLAIN, RULES, present);
    if (status != BLY_OK)
        return status;
    for (unsigned i = PLAIN; i < RULES; i++)
        other |= present[i];
    return other ? are_trusted(list, &out->other) : BLY_OK;
}

/* ---- filters in memory ----------------------------------------------------------------------- */

/* Whether keys can be looked up. Without its key, a filter answers "maybe" for every mark. */
static bool supports_lookups(const bly_filter *f) {
    return bly_filter_hasher(f) &&
           !(bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_CARDINALITY_ONLY);
}

/* Finds the rules whose marks a state contains. Returns false if the state is too full to trust
 * them. */
static bool rules_of(const bly_filter *f, bool present[RULES]) {
    const bly_list_source list = bly_list_source_of(f);
    bool trusted = false;
    return look_up(&list, 0, RULES, present) == BLY_OK && are_trusted(&list, &trusted) == BLY_OK &&
           trusted;
}

bool rule_marks_differ(const bly_filter *a, const bly_filter *b) {
    bool in_a[RULES] = {false}, in_b[RULES] = {false}, any = false, common = false;
    if (!supports_lookups(a) || !supports_lookups(b) || !rules_of(a, in_a) || !rules_of(b, in_b))
        return false;
    for (unsigned i = 0; i < RULES; i++) {
        any |= in_a[i] || in_b[i];
        common |= in_a[i] && in_b[i];
    }
    return any && !common;
}
