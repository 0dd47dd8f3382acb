/* keytype_text.c - phone numbers, e-mail addresses, domains and URLs as keys. keytype.c has the
 * rules. */
#include "keytype_each.h"

#include <string.h>

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* ---- phone numbers --------------------------------------------------------------------------- */

enum { FEWEST_DIGITS = 3, MOST_DIGITS = 15, DIGITS_ROOM = MOST_DIGITS + 3 };

/* The digits of a number, and whether a "+" stood before them. */
typedef struct digits {
    char text[DIGITS_ROOM]; /* no more than fit */
    size_t count;
    bool international;
} digits;

static bool begins_with_zeros(const digits *d) {
    return d->count >= 2 && d->text[0] == '0' && d->text[1] == '0';
}

/* The "(0)" of +44 (0)20: dialled inside the country only. */
static bool is_trunk_zero(const digits *d, const char *at, size_t left) {
    bool abroad = d->international || begins_with_zeros(d);
    return abroad && d->count > 0 && left >= 3 && memcmp(at, "(0)", 3) == 0;
}

static bool take_digits(bly_bytes text, digits *d) {
    const char *at = text.data;
    for (size_t i = 0; i < text.size; i++) {
        if (at[i] >= '0' && at[i] <= '9') {
            if (d->count < DIGITS_ROOM)
                d->text[d->count] = at[i];
            d->count++;
        } else if (at[i] == '+' && d->count == 0 && !d->international) {
            d->international = true;
        } else if (is_trunk_zero(d, at + i, text.size - i)) {
            i += 2;
        } else if (!strchr(" -.()/", at[i]) || !at[i]) {
            return false;
        }
    }
    return true;
}

keytype_result keytype_read_phone(keytype_reader *r, bly_bytes text, keytype_key *out) {
    digits d = {{0}, 0, false};
    if (!take_digits(keytype_without(text, "tel:"), &d))
        return keytype_refuse(r, "not a phone number");
    size_t skip = !d.international && begins_with_zeros(&d) ? 2 : 0;
    size_t count = d.count - skip, used = 0;
    if (count < FEWEST_DIGITS)
        return keytype_refuse(r, "too few digits for a phone number");
    if (count > MOST_DIGITS)
        return keytype_refuse(r, "too many digits for a phone number");
    if (d.international || skip)
        r->text[used++] = '+';
    memcpy(r->text + used, d.text + skip, count);
    *out = (keytype_key){{r->text, used + count}, 0};
    return KEYTYPE_KEY;
}

/* ---- domains --------------------------------------------------------------------------------- */

enum { LONGEST_DOMAIN = 253, LONGEST_LABEL = 63 };

static bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* The number of labels, 0 if it is no domain. A name whose last label is a number is none: that is
 * an address, or nothing. */
static unsigned count_labels(const char *at, size_t size) {
    unsigned labels = 0;
    size_t length = 0;
    bool number = true;
    if (size == 0 || size > LONGEST_DOMAIN)
        return 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && at[i] != '.') {
            if (!is_name_byte(at[i]) || ++length > LONGEST_LABEL)
                return 0;
            number = number && at[i] >= '0' && at[i] <= '9';
            continue;
        }
        if (length == 0)
            return 0;
        labels++;
        length = 0;
        if (i < size)
            number = true;
    }
    return number ? 0 : labels;
}

/* Into *out; KEYTYPE_MALFORMED leaves the words to the caller. */
static keytype_result read_host(keytype_reader *r, bly_bytes text, keytype_key *out) {
    bly_bytes host;
    switch (url_host(&r->buffer, text.data, text.size, &host)) {
    case URL_NOMEM:
        return KEYTYPE_NOMEM;
    case URL_NOT:
        return KEYTYPE_MALFORMED;
    case URL_OK:
        break;
    }
    const char *at = host.data;
    if (host.size > 1 && at[host.size - 1] == '.') /* other full stops have become dots */
        host.size--;
    unsigned labels = count_labels(at, host.size);
    *out = (keytype_key){host, labels};
    return labels ? KEYTYPE_KEY : KEYTYPE_MALFORMED;
}

/* Tells what was taken for a domain, if it is one of the other types. */
static keytype_result refuse_domain(keytype_reader *r, bly_bytes text) {
    keytype_key key;
    if (memchr(text.data, '/', text.size) && keytype_read_ip(r, text, &key) != KEYTYPE_KEY)
        return keytype_refuse(r, "a URL or path, not a domain (--type url takes URLs)");
    if (memchr(text.data, '@', text.size))
        return keytype_refuse(r, "an e-mail address, not a domain (--type email takes those)");
    if (keytype_read_ip(r, text, &key) == KEYTYPE_KEY)
        return keytype_refuse(r, "an IP address, not a domain (--type ip takes those)");
    return keytype_refuse(r, "not a domain");
}

keytype_result keytype_read_domain(keytype_reader *r, bly_bytes text, keytype_key *out) {
    bly_bytes name = keytype_without(text, "*.");
    if (name.size == text.size)
        name = keytype_without(text, ".");
    keytype_result result = read_host(r, name, out);
    return result == KEYTYPE_MALFORMED ? refuse_domain(r, text) : result;
}

void keytype_widen_domain(const keytype_key *key, const keytype_levels *present,
                          keytype_tries *out) {
    const char *at = key->bytes.data, *end = at + key->bytes.size;
    for (unsigned labels = key->level; labels > 0; labels--) {
        if (keytype_levels_have(present, labels))
            out->keys[out->count++] = (bly_bytes){at, (size_t)(end - at)};
        const char *dot = memchr(at, '.', (size_t)(end - at));
        at = dot ? dot + 1 : end;
    }
}

/* ---- e-mail addresses ------------------------------------------------------------------------ */

enum { LONGEST_LOCAL = 64 };

static const char *last_at_sign(bly_bytes text) {
    const char *at = text.data;
    for (size_t i = text.size; i-- > 0;)
        if (at[i] == '@')
            return at + i;
    return NULL;
}

/* Bytes before the "@": any in quotes, no blanks and none of RFC 5322's specials without. */
static bool is_local(const char *at, size_t size) {
    bool quoted = size > 2 && at[0] == '"' && at[size - 1] == '"';
    if (size == 0 || size > LONGEST_LOCAL)
        return false;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c < 0x20 || c == 0x7F || (!quoted && strchr(" ()<>[]:;@\\,\"", c)))
            return false;
    }
    return true;
}

keytype_result keytype_read_email(keytype_reader *r, bly_bytes text, keytype_key *out) {
    const char *from = text.data;
    keytype_key host;
    if (text.size > 2 && from[0] == '<' && from[text.size - 1] == '>')
        text = (bly_bytes){from + 1, text.size - 2};
    text = keytype_without(text, "mailto:");
    const char *local = text.data, *sign = last_at_sign(text);
    if (!sign)
        return keytype_refuse(r, "not an e-mail address");
    size_t size = (size_t)(sign - local);
    if (!is_local(local, size))
        return keytype_refuse(r, "not an e-mail address");
    keytype_result result = read_host(r, (bly_bytes){sign + 1, text.size - size - 1}, &host);
    if (result == KEYTYPE_MALFORMED)
        return keytype_refuse(r, "no domain after the @ of an e-mail address");
    if (result != KEYTYPE_KEY)
        return result;
    for (size_t i = 0; i < size; i++)
        r->text[i] = lower(local[i]);
    r->text[size] = '@';
    memcpy(r->text + size + 1, host.bytes.data, host.bytes.size);
    *out = (keytype_key){{r->text, size + 1 + host.bytes.size}, 0};
    return KEYTYPE_KEY;
}

/* ---- URLs ------------------------------------------------------------------------------------ */

keytype_result keytype_read_url(keytype_reader *r, bly_bytes text, keytype_key *out) {
    *out = (keytype_key){{NULL, 0}, 0};
    switch (url_canonical(&r->buffer, URL_STANDARD, text.data, text.size, &out->bytes)) {
    case URL_NOMEM:
        return KEYTYPE_NOMEM;
    case URL_NOT:
        return keytype_refuse(r, "not a URL");
    case URL_OK:
        break;
    }
    return KEYTYPE_KEY;
}
