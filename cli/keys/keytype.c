/* keytype.c - one thing, one key, however it is spelled.
 *
 * A list is useful only if the spelling in a log does not matter. So a line is brought into one
 * form before it is hashed, by `build` and by `check` in the same way:
 *
 *   ip       The bytes of the address in network order: 4 or 16. A block (CIDR) has a further byte,
 *            its prefix length; /32 and /128 are addresses. IPv4 inside IPv6 (::ffff:192.0.2.1) is
 *            the IPv4 address. Brackets around an IPv6 address go. Bits after the prefix are an
 *            error, since nobody can tell which of the two numbers was meant.
 *   phone    Digits, after a "+" if the number is international. "00" in front is "+"; the "(0)"
 *            in +44 (0)20 goes, and so do spaces and - . ( ) / and "tel:". 3 to 15 digits (E.164).
 *            A national number stays national: 030 1234 is not +49 30 1234.
 *   email    Small letters on both sides of the last "@" (mail servers may tell Bob from bob; those
 *            in use do not), the host as in `domain`. "<...>" and "mailto:" go. Dots and "+tag"
 *            stay: what they mean differs from provider to provider.
 *   domain   Small letters, other letters than ASCII as "xn--", no dot at the end. "*." or "." in
 *            front goes, since a domain in a list stands for everything below it.
 *   url      As url.h writes it at the standard level.
 *   line     The bytes of the line.
 *
 * Blanks around a line go, and a byte order mark before it (some editors begin a file with one),
 * except in a `line`, where only one carriage return at its end does (key.h). A line of blanks is
 * no key; but the states of `dedup` and `count` have such keys, and are asked for them.
 * Text keys are the canonical text itself, so that a program can ask the same filter through the
 * library.
 *
 * Containment. An address is in a list when a block around it is, a domain when a parent is. One
 * question then becomes several, each with the filter's chance of a wrong yes, so only those are
 * asked that can have an answer: a list knows the levels of its keys, which are prefix lengths or
 * numbers of labels. A list of names like example.com and example.co.uk has the levels 2 and 3, and
 * costs two questions for a name however long. A top-level domain is tried only if the list has
 * one. `build` divides the rate asked by the most questions that one line can cost, so that the
 * rate holds for lines, and records that number. A filter with a high rate seems to have levels
 * that it has not, and then lines cost more questions; so `build` makes no list of such a type for
 * more than KEYTYPE_MOST_RATE per question.
 *
 * How a list knows: its header records the type (docs/format.md, section 1). Its levels it knows
 * by keys that no line can be, added to the filter like any others (keytype_marks.c).
 */
#include "keytype_each.h"

#include "key.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {NULL,
                                    "ip",
                                    "phone",
                                    "email",
                                    "domain",
                                    "url",
                                    "line",
                                    "line",
                                    "dedup --url",
                                    "dedup --url=crawl",
                                    "dedup --field/--ignore-case"};

const char *keytype_name(keytype type) {
    return names[type];
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bly_bytes trimmed(bly_bytes text) {
    const char *at = text.data;
    size_t size = text.size;
    while (size > 0 && is_blank(at[size - 1]))
        size--;
    while (size > 0 && is_blank(*at)) {
        at++;
        size--;
    }
    return (bly_bytes){at, size};
}

/* Without what begins with "#" or ";" at the start or after a blank. */
static bly_bytes uncommented(bly_bytes text) {
    const char *at = text.data;
    for (size_t i = 0; i < text.size; i++)
        if ((at[i] == '#' || at[i] == ';') && (i == 0 || is_blank(at[i - 1])))
            return (bly_bytes){at, i};
    return text;
}

static keytype_result read_line(const keytype_reader *r, bly_bytes line, keytype_key *out) {
    const char *at = line.data;
    if (r->comments && line.size > 0 && *at == '#')
        return KEYTYPE_BLANK;
    if (!r->exact && !r->cut)
        line = key_line(line);
    *out = (keytype_key){line, 0};
    /* Only a line that begins with a blank can be one of blanks alone. */
    bool blank = line.size == 0 || (!r->exact && is_blank(*at) && trimmed(line).size == 0);
    return blank && !r->blanks ? KEYTYPE_BLANK : KEYTYPE_KEY;
}

/* As dedup --url makes its keys: what is no URL is compared as it stands. */
static keytype_result read_record_url(keytype_reader *r, bly_bytes line, keytype_key *out) {
    const url_level level = r->type == KEYTYPE_RECORD_CRAWL ? URL_CRAWL : URL_STANDARD;
    const keytype_result result = read_line(r, line, out);
    if (result != KEYTYPE_KEY)
        return result;
    const bly_bytes text = out->bytes;
    return url_canonical(&r->buffer, level, text.data, text.size, &out->bytes) == URL_NOMEM
               ? KEYTYPE_NOMEM
               : KEYTYPE_KEY;
}

keytype_result keytype_read(keytype_reader *r, bly_bytes line, keytype_key *out) {
    if (keytype_is_lines(r->type))
        return read_line(r, line, out);
    if (r->type == KEYTYPE_RECORD_URL || r->type == KEYTYPE_RECORD_CRAWL)
        return read_record_url(r, line, out);
    bly_bytes text = keytype_without(line, "\xEF\xBB\xBF");
    text = trimmed(r->comments ? uncommented(text) : text);
    if (text.size == 0)
        return KEYTYPE_BLANK;
    switch (r->type) {
    case KEYTYPE_IP:
        return keytype_read_ip(r, text, out);
    case KEYTYPE_PHONE:
        return keytype_read_phone(r, text, out);
    case KEYTYPE_EMAIL:
        return keytype_read_email(r, text, out);
    case KEYTYPE_DOMAIN:
        return keytype_read_domain(r, text, out);
    case KEYTYPE_URL:
        return keytype_read_url(r, text, out);
    default:
        break;
    }
    return keytype_refuse(r, "of no known type");
}

void keytype_reader_free(keytype_reader *r) {
    url_buffer_free(&r->buffer);
}

keytype_result keytype_refuse(keytype_reader *r, const char *why) {
    (void)snprintf(r->why, sizeof r->why, "%s", why);
    return KEYTYPE_MALFORMED;
}

bly_bytes keytype_without(bly_bytes text, const char *prefix) {
    const char *at = text.data;
    size_t i = 0;
    for (; prefix[i]; i++) {
        if (i == text.size)
            return text;
        char c = at[i] >= 'A' && at[i] <= 'Z' ? (char)(at[i] | 32) : at[i];
        if (c != prefix[i])
            return text;
    }
    return (bly_bytes){at + i, text.size - i};
}

/* ---- words ----------------------------------------------------------------------------------- */

bly_bytes keytype_words(keytype type, bly_bytes key, char room[KEYTYPE_TEXT]) {
    return type == KEYTYPE_IP ? keytype_words_ip(key, room) : key;
}

/* The second test is for U+0080 to U+009F, which terminals obey too. */
static bool is_control(const unsigned char *at, size_t left) {
    return *at < 0x20 || *at == 0x7F || (*at == 0xC2 && left > 1 && at[1] >= 0x80 && at[1] < 0xA0);
}

char *keytype_quote(bly_bytes text, char out[KEYTYPE_QUOTE]) {
    enum { LONGEST = 60 };
    const unsigned char *at = text.data;
    size_t used = 0, shown = text.size;
    if (shown > LONGEST) /* not in the middle of a UTF-8 character */
        for (shown = LONGEST; shown > 0 && (at[shown] & 0xC0) == 0x80;)
            shown--;
    for (size_t i = 0; i < shown; i++) {
        if (is_control(at + i, shown - i))
            used += (size_t)snprintf(out + used, KEYTYPE_QUOTE - used, "\\x%02x", at[i]);
        else
            out[used++] = (char)at[i];
    }
    (void)snprintf(out + used, KEYTYPE_QUOTE - used, "%s", shown < text.size ? "..." : "");
    return out;
}

/* ---- containment ----------------------------------------------------------------------------- */

void keytype_levels_add(keytype_levels *set, unsigned level) {
    set->bits[level / 64] |= UINT64_C(1) << (level % 64);
}

bool keytype_levels_have(const keytype_levels *set, unsigned level) {
    return (set->bits[level / 64] >> (level % 64) & 1) != 0;
}

keytype_levels keytype_levels_all(void) {
    keytype_levels all = {{0}};
    memset(all.bits, 0xFF, KEYTYPE_LEVELS / 8);
    return all;
}

keytype_levels keytype_levels_both(const keytype_levels *a, const keytype_levels *b) {
    keytype_levels both;
    for (size_t i = 0; i < sizeof both.bits / sizeof *both.bits; i++)
        both.bits[i] = a->bits[i] & b->bits[i];
    return both;
}

void keytype_widen(keytype type, const keytype_key *key, const keytype_levels *present,
                   keytype_tries *out) {
    out->count = 0;
    if (type == KEYTYPE_IP)
        keytype_widen_ip(key, present, out);
    else if (type == KEYTYPE_DOMAIN)
        keytype_widen_domain(key, present, out);
    else
        out->keys[out->count++] = key->bytes;
}

unsigned keytype_most_tries(keytype type, const keytype_levels *present) {
    unsigned low = 0, high = 0;
    for (unsigned level = 0; level < KEYTYPE_LEVELS; level++) {
        unsigned one = keytype_levels_have(present, level);
        if (level < KEYTYPE_V6)
            low += one;
        else
            high += one;
    }
    if ((type != KEYTYPE_IP && type != KEYTYPE_DOMAIN) || low + high == 0)
        return 1;
    const unsigned most = type == KEYTYPE_DOMAIN ? low + high : low > high ? low : high;
    return most < KEYTYPE_TRIES ? most : KEYTYPE_TRIES;
}
