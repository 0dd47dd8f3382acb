/* list_read.c - turns a line into the key of a typed list.
 *
 * A list is useful only if the spelling in a log does not matter. So a line is converted to a
 * canonical form before it is hashed, in the same way when a list is built and when it is checked.
 * docs/lists.md defines the form of each type. The forms must not change, because existing lists
 * contain them. Text keys are the canonical text itself, so that a program can look them up with
 * bly_filter_contains.
 *
 * Containment. An address is in a list if a block around it is, a domain if a parent is. One line
 * then needs several lookups, each with the filter's false-positive rate. So only lookups that can
 * succeed are made: a list records the levels of its keys, which are prefix lengths or numbers of
 * labels. A builder divides the requested rate by the largest number of lookups that one line can
 * need, and records that number.
 *
 * The header of a list records the type (docs/format.md, section 1). The levels are recorded by
 * marks: keys that no line can have, which are added to the filter like any others (list_marks.c).
 */
#include "lists/list_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const list_type_names[] = {
    [BLY_LIST_NONE] = NULL,
    [BLY_LIST_IP] = "ip",
    [BLY_LIST_PHONE] = "phone",
    [BLY_LIST_EMAIL] = "email",
    [BLY_LIST_DOMAIN] = "domain",
    [BLY_LIST_URL] = "url",
    [BLY_LIST_LINE] = "line",
    [BLY_LIST_RECORD] = "record",
    [BLY_LIST_RECORD_URL] = "record-url",
    [BLY_LIST_RECORD_CRAWL] = "record-crawl",
    [BLY_LIST_OTHER] = "other",
};
enum { LIST_TYPES = sizeof list_type_names / sizeof *list_type_names };

const char *bly_list_type_name(bly_list_type type) {
    return (unsigned)type < LIST_TYPES ? list_type_names[type] : NULL;
}

bly_list_type bly_list_type_by_name(const char *name) {
    for (int type = BLY_LIST_IP; type < LIST_TYPES; type++)
        if (strcmp(name, list_type_names[type]) == 0)
            return (bly_list_type)type;
    return BLY_LIST_NONE;
}

static const bly_key_rule list_rules[] = {
    [BLY_LIST_NONE] = BLY_KEYS_UNRECORDED,
    [BLY_LIST_IP] = BLY_KEYS_IP,
    [BLY_LIST_PHONE] = BLY_KEYS_PHONE,
    [BLY_LIST_EMAIL] = BLY_KEYS_EMAIL,
    [BLY_LIST_DOMAIN] = BLY_KEYS_DOMAIN,
    [BLY_LIST_URL] = BLY_KEYS_URL,
    [BLY_LIST_LINE] = BLY_KEYS_LINE,
    [BLY_LIST_RECORD] = BLY_KEYS_RECORD,
    [BLY_LIST_RECORD_URL] = BLY_KEYS_RECORD_URL,
    [BLY_LIST_RECORD_CRAWL] = BLY_KEYS_RECORD_CRAWL,
    [BLY_LIST_OTHER] = BLY_KEYS_OTHER,
};

bly_list_type bly_list_type_of_rule(bly_key_rule rule) {
    for (int type = BLY_LIST_NONE; type < LIST_TYPES; type++)
        if (list_rules[type] == rule)
            return (bly_list_type)type;
    return BLY_LIST_NONE;
}

bly_key_rule bly_list_key_rule(bly_list_type type) {
    return (unsigned)type < LIST_TYPES ? list_rules[type] : BLY_KEYS_UNRECORDED;
}

/* ---- the reader ------------------------------------------------------------------------------ */

bly_status bly_list_reader_create(bly_list_reader **out) {
    *out = calloc(1, sizeof **out);
    return *out ? BLY_OK : BLY_ENOMEM;
}

void bly_list_reader_destroy(bly_list_reader *r) {
    if (!r)
        return;
    bly_url_buffer_free(&r->buffer);
    free(r);
}

const char *bly_list_reader_reason(const bly_list_reader *r) {
    return r->reason;
}

bly_status blyi_list_refuse(bly_list_reader *r, const char *reason) {
    (void)snprintf(r->reason, sizeof r->reason, "%s", reason);
    return BLY_EINVAL;
}

bly_status blyi_list_refuse_non_ascii(bly_list_reader *r) {
    return blyi_list_refuse(r, "non-ASCII host name; this build has no libidn2: write it in ASCII "
                               "(xn--...)");
}

bly_bytes blyi_list_without(bly_bytes text, const char *prefix) {
    const char *at = text.data;
    size_t i = 0;
    for (; prefix[i]; i++)
        if (i == text.size || blyi_url_lower(at[i]) != prefix[i])
            return text;
    return (bly_bytes){at + i, text.size - i};
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool list_is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bly_bytes list_trimmed(bly_bytes text) {
    const char *at = text.data;
    size_t size = text.size;
    while (size > 0 && list_is_blank(at[size - 1]))
        size--;
    while (size > 0 && list_is_blank(*at)) {
        at++;
        size--;
    }
    return (bly_bytes){at, size};
}

/* Returns the text without its comment, which begins with "#" or ";" at the start or after a
 * blank. */
static bly_bytes list_uncommented(bly_bytes text) {
    const char *at = text.data;
    for (size_t i = 0; i < text.size; i++)
        if ((at[i] == '#' || at[i] == ';') && (i == 0 || list_is_blank(at[i - 1])))
            return (bly_bytes){at, i};
    return text;
}

static void list_read_line(uint32_t flags, bly_bytes line, bly_list_key *out) {
    const char *at = line.data;
    const bool records = (flags & BLY_LIST_RECORDS) != 0;
    *out = (bly_list_key){line, 0, true};
    if ((flags & BLY_LIST_COMMENTS) && line.size > 0 && *at == '#')
        return;
    if (!(flags & (BLY_LIST_RECORDS | BLY_LIST_KEEP_RETURN)))
        line = bly_list_without_return(line);
    /* A blank line begins with a blank, so most lines are not scanned. */
    const bool blank =
        line.size == 0 || (!records && list_is_blank(*at) && list_trimmed(line).size == 0);
    *out = (bly_list_key){line, 0, blank && !(flags & BLY_LIST_BLANK_KEYS)};
}

/* Makes the same key as `dedup --url`: the canonical URL, or the text itself if it is not a URL. */
static bly_status list_read_record_url(bly_list_reader *r, bly_list_type type, bly_list_key *key) {
    const bly_url_level level = type == BLY_LIST_RECORD_CRAWL ? BLY_URL_CRAWL : BLY_URL_STANDARD;
    const bly_bytes text = key->bytes;
    if (key->blank)
        return BLY_OK;
    return bly_url_canonical(&r->buffer, level, text.data, text.size, &key->bytes) == BLY_ENOMEM
               ? BLY_ENOMEM
               : BLY_OK;
}

static bly_status list_read_typed(bly_list_reader *r, bly_list_type type, bly_bytes text,
                                  bly_list_key *out) {
    switch (type) {
    case BLY_LIST_IP:
        return blyi_list_read_ip(r, text, out);
    case BLY_LIST_PHONE:
        return blyi_list_read_phone(r, text, out);
    case BLY_LIST_EMAIL:
        return blyi_list_read_email(r, text, out);
    case BLY_LIST_DOMAIN:
        return blyi_list_read_domain(r, text, out);
    case BLY_LIST_URL:
        return blyi_list_read_url(r, text, out);
    default:
        return BLY_EINVAL; /* bly_list_read handles the others */
    }
}

bly_status bly_list_read(bly_list_reader *r, bly_list_type type, uint32_t flags, const void *line,
                         size_t len, bly_list_key *out) {
    const uint32_t known =
        BLY_LIST_COMMENTS | BLY_LIST_RECORDS | BLY_LIST_KEEP_RETURN | BLY_LIST_BLANK_KEYS;
    bly_bytes text = {line, len};
    if (type <= BLY_LIST_NONE || type >= BLY_LIST_OTHER || flags & ~known)
        return blyi_list_refuse(r, "unknown type or flag");
    if (bly_list_is_lines(type)) {
        list_read_line(flags, text, out);
        return BLY_OK;
    }
    if (type == BLY_LIST_RECORD_URL || type == BLY_LIST_RECORD_CRAWL) {
        list_read_line(flags, text, out);
        return list_read_record_url(r, type, out);
    }
    text = blyi_list_without(text, "\xEF\xBB\xBF");
    text = list_trimmed(flags & BLY_LIST_COMMENTS ? list_uncommented(text) : text);
    *out = (bly_list_key){text, 0, text.size == 0};
    return out->blank ? BLY_OK : list_read_typed(r, type, text, out);
}

/* ---- words ----------------------------------------------------------------------------------- */

bly_bytes bly_list_words(bly_list_type type, bly_bytes key, char room[BLY_LIST_WORDS]) {
    return type == BLY_LIST_IP ? blyi_list_words_ip(key, room) : key;
}

/* ---- containment ----------------------------------------------------------------------------- */

bly_list_levels bly_list_levels_all(void) {
    bly_list_levels all = {{0}};
    memset(all.bits, 0xFF, BLY_LIST_LEVELS / 8);
    return all;
}

bly_list_levels bly_list_levels_common(const bly_list_levels *a, const bly_list_levels *b) {
    bly_list_levels both;
    for (size_t i = 0; i < sizeof both.bits / sizeof *both.bits; i++)
        both.bits[i] = a->bits[i] & b->bits[i];
    return both;
}

void bly_list_widen(bly_list_type type, const bly_list_key *key, const bly_list_levels *present,
                    bly_list_entries *out) {
    out->count = 0;
    if (type == BLY_LIST_IP)
        blyi_list_widen_ip(key, present, out);
    else if (type == BLY_LIST_DOMAIN)
        blyi_list_widen_domain(key, present, out);
    else
        out->keys[out->count++] = key->bytes;
}

unsigned bly_list_max_lookups(bly_list_type type, const bly_list_levels *present) {
    unsigned low = 0, high = 0;
    for (unsigned level = 0; level < BLY_LIST_LEVELS; level++) {
        unsigned one = bly_list_levels_contain(present, level);
        if (level < BLY_LIST_V6)
            low += one;
        else
            high += one;
    }
    if (!bly_list_has_levels(type) || low + high == 0)
        return 1;
    const unsigned most = type == BLY_LIST_DOMAIN ? low + high : low > high ? low : high;
    return most < BLY_LIST_MAX_LOOKUPS ? most : BLY_LIST_MAX_LOOKUPS;
}
