/* key.c - builds a key rule from the options, and makes keys from lines by that rule. */
#include "io/key.h"

#include "text/message.h"
#include "text/numbers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool key_is_record(const key_rule *rule) {
    return rule->field == 0 && !rule->ignore_case && !rule->url;
}

bool key_is_part(const key_rule *rule) {
    return !rule->ignore_case && !rule->url;
}

/* The record without a carriage return at its end, unless that is part of the key. */
static bly_bytes text_of(key_rule *rule, bly_bytes record) {
    const bly_bytes text = bly_list_without_return(record);
    rule->met_return |= rule->exact && text.size < record.size;
    return rule->exact ? record : text;
}

const bly_bytes *key_texts(key_rule *rule, const bly_bytes *records, size_t n, bly_bytes *room) {
    size_t i = 0;
    while (i < n && text_of(rule, records[i]).size == records[i].size)
        i++;
    if (i == n)
        return records;
    memcpy(room, records, i * sizeof *room);
    for (; i < n; i++)
        room[i] = text_of(rule, records[i]);
    return room;
}

void key_rule_free(key_rule *rule) {
    bly_url_buffer_free(&rule->canonical);
    free(rule->lower);
    rule->lower = NULL;
    rule->lower_room = 0;
}

static bool nth_field(bly_bytes record, uint64_t n, char delimiter, bly_bytes *out) {
    const char *at = record.data, *end = at + record.size, *stop;
    while ((stop = memchr(at, delimiter, (size_t)(end - at))) && --n > 0)
        at = stop + 1;
    if (!stop && n > 1)
        return false;
    *out = (bly_bytes){at, (size_t)((stop ? stop : end) - at)};
    return true;
}

static bool to_lower(key_rule *rule, bly_bytes *key) {
    if (key->size > rule->lower_room) {
        const size_t room = key->size + key->size / 2;
        char *lower = realloc(rule->lower, room);
        if (!lower)
            return false;
        rule->lower = lower;
        rule->lower_room = room;
    }
    const char *from = key->data;
    for (size_t i = 0; i < key->size; i++)
        rule->lower[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] | 0x20 : from[i]);
    key->data = rule->lower;
    return true;
}

static void warn_of_host(key_rule *rule) {
    if (!rule->warned)
        message_warn("this build of bloomery has no support for international domain names "
                     "(libidn2), so lines with such a host name are compared byte by byte; write "
                     "the hosts in ASCII (xn--...)");
    rule->warned = true;
}

bool key_of(key_rule *rule, bly_bytes record, bly_bytes *key) {
    *key = text_of(rule, record);
    bool whole = rule->field && !nth_field(*key, rule->field, rule->delimiter, key);
    rule->fieldless += whole;
    bly_status status = BLY_OK;
    if (rule->url && !whole)
        status = bly_url_canonical(&rule->canonical, rule->level, key->data, key->size, key);
    if (status == BLY_EUNSUPPORTED)
        warn_of_host(rule);
    rule->not_urls += status == BLY_EINVAL || status == BLY_EUNSUPPORTED;
    bool good = status != BLY_ENOMEM && (!rule->ignore_case || to_lower(rule, key));
    return good || message_fail("out of memory");
}

void key_rule_print(const key_rule *rule, FILE *to) {
    char text[NUMBER_TEXT];
    if (rule->url)
        (void)fprintf(to, "%-10s %s\n", "not URLs", number_grouped(rule->not_urls, text));
    if (rule->field)
        (void)fprintf(to, "%-10s %s\n", "no field", number_grouped(rule->fieldless, text));
}

void key_rule_json(const key_rule *rule, json *out) {
    if (rule->url)
        json_integer(out, "not_urls", rule->not_urls);
    if (rule->field)
        json_integer(out, "no_field", rule->fieldless);
}

/* ---- options --------------------------------------------------------------------------------- */

const char *key_options_conflict(const key_options *o) {
    if (o->extract && o->field)
        return "--extract-urls and --field cannot be combined: links are extracted from the whole "
               "line";
    if (o->delimiter.given && !o->field)
        return "--delimiter needs --field";
    return NULL;
}

bool key_options_misplaced(const key_options *o, cli_operands operands) {
    for (size_t i = 0; o->url && i < operands.count; i++) {
        const char *name = operands.items[i];
        if ((strcmp(name, "crawl") == 0 || strcmp(name, "standard") == 0) &&
            access(name, F_OK) != 0) {
            (void)message_error("there is no file '%s'; write --url=%s to choose the level", name,
                                name);
            return true;
        }
    }
    return false;
}

key_rule key_options_rule(const key_options *o) {
    return (key_rule){.exact = o->null,
                      .field = o->field,
                      .delimiter = o->delimiter.given ? o->delimiter.value : '\t',
                      .ignore_case = o->ignore_case,
                      .url = o->url != 0,
                      .level = o->url ? (bly_url_level)(o->url - 1) : BLY_URL_STANDARD};
}

/* --extract-urls does not matter here: a link has the same key as a line that consists of that
 * link. */
bly_key_rule key_options_code(const key_options *o) {
    if (o->field || o->ignore_case)
        return BLY_KEYS_OTHER;
    if (o->url)
        return o->url - 1 == BLY_URL_CRAWL ? BLY_KEYS_RECORD_CRAWL : BLY_KEYS_RECORD_URL;
    return BLY_KEYS_RECORD;
}

char *key_options_words(const key_options *o, char out[KEY_OPTIONS_WORDS]) {
    const char delimiter = key_options_rule(o).delimiter;
    (void)snprintf(out, KEY_OPTIONS_WORDS, "url=%u field=%llu delimiter=%d ignore-case=%d links=%d",
                   o->url, (unsigned long long)o->field, o->field ? delimiter : 0, o->ignore_case,
                   o->extract);
    return out;
}
