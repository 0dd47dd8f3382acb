/* list_text.c - makes keys from phone numbers, e-mail addresses, domains and URLs. docs/lists.md
 * has the rules. */
#include "lists/list_reader.h"

#include <string.h>

/* ---- phone numbers --------------------------------------------------------------------------- */

enum { MIN_DIGITS = 3, MAX_DIGITS = 15, DIGITS_ROOM = MAX_DIGITS + 3 };

/* The digits of a phone number, and whether a "+" precedes them. */
typedef struct phone_digits {
    char text[DIGITS_ROOM]; /* the first DIGITS_ROOM digits; `count` may be larger */
    size_t count;
    bool international;
} phone_digits;

static bool phone_begins_with_zeros(const phone_digits *d) {
    return d->count >= 2 && d->text[0] == '0' && d->text[1] == '0';
}

/* Whether the text at `at` is a "(0)" as in +44 (0)20, a zero that is dialled only inside the
 * country. */
static bool phone_is_trunk_zero(const phone_digits *d, const char *at, size_t left) {
    bool abroad = d->international || phone_begins_with_zeros(d);
    return abroad && d->count > 0 && left >= 3 && memcmp(at, "(0)", 3) == 0;
}

static bool phone_take_digits(bly_bytes text, phone_digits *d) {
    const char *at = text.data;
    for (size_t i = 0; i < text.size; i++) {
        if (at[i] >= '0' && at[i] <= '9') {
            if (d->count < DIGITS_ROOM)
                d->text[d->count] = at[i];
            d->count++;
        } else if (at[i] == '+' && d->count == 0 && !d->international) {
            d->international = true;
        } else if (phone_is_trunk_zero(d, at + i, text.size - i)) {
            i += 2;
        } else if (!strchr(" -.()/", at[i]) || !at[i]) {
            return false;
        }
    }
    return true;
}

bly_status blyi_list_read_phone(bly_list_reader *r, bly_bytes text, bly_list_key *out) {
    phone_digits d = {{0}, 0, false};
    if (!phone_take_digits(blyi_list_without(text, "tel:"), &d))
        return blyi_list_refuse(r, "not a phone number");
    size_t skip = !d.international && phone_begins_with_zeros(&d) ? 2 : 0;
    size_t count = d.count - skip, used = 0;
    if (count < MIN_DIGITS)
        return blyi_list_refuse(r, "too few digits for a phone number");
    if (count > MAX_DIGITS)
        return blyi_list_refuse(r, "too many digits for a phone number");
    if (d.international || skip)
        r->text[used++] = '+';
    memcpy(r->text + used, d.text + skip, count);
    *out = (bly_list_key){{r->text, used + count}, 0, false};
    return BLY_OK;
}

/* ---- domains --------------------------------------------------------------------------------- */

enum { MAX_DOMAIN = 253, MAX_LABEL = 63 };

static bool domain_is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Returns the number of labels, or 0 if the text is not a domain. A name whose last label is a
 * number is not a domain: it is an address or malformed. */
static unsigned domain_count_labels(const char *at, size_t size) {
    unsigned labels = 0;
    size_t length = 0;
    bool number = true;
    if (size == 0 || size > MAX_DOMAIN)
        return 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && at[i] != '.') {
            if (!domain_is_name_byte(at[i]) || ++length > MAX_LABEL)
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

/* Reads a domain into *out, without storing a reason on failure. Returns BLY_OK; BLY_EINVAL if the
 * text is not a domain; BLY_EUNSUPPORTED for a non-ASCII name in a library without libidn2; or
 * BLY_ENOMEM. */
static bly_status domain_read_host(bly_list_reader *r, bly_bytes text, bly_list_key *out) {
    bly_bytes host;
    const bly_status status = blyi_url_host(&r->buffer, text.data, text.size, &host);
    if (status != BLY_OK)
        return status;
    const char *at = host.data;
    /* A dot at the end has been dropped, but not a non-ASCII full stop, which is a dot now. */
    if (host.size > 1 && at[host.size - 1] == '.')
        host.size--;
    unsigned labels = domain_count_labels(at, host.size);
    *out = (bly_list_key){host, labels, false};
    return labels ? BLY_OK : BLY_EINVAL;
}

/* Stores the reason why the text is not a domain. If the text is of another type, the reason names
 * that type. */
static bly_status domain_refuse(bly_list_reader *r, bly_bytes text) {
    bly_list_key key;
    if (memchr(text.data, '/', text.size) && blyi_list_read_ip(r, text, &key) != BLY_OK)
        return blyi_list_refuse(r, "a URL or path, not a domain (type url takes URLs)");
    if (memchr(text.data, '@', text.size))
        return blyi_list_refuse(r, "an e-mail address, not a domain (type email takes those)");
    if (blyi_list_read_ip(r, text, &key) == BLY_OK)
        return blyi_list_refuse(r, "an IP address, not a domain (type ip takes those)");
    return blyi_list_refuse(r, "not a domain");
}

bly_status blyi_list_read_domain(bly_list_reader *r, bly_bytes text, bly_list_key *out) {
    bly_bytes name = blyi_list_without(text, "*.");
    if (name.size == text.size)
        name = blyi_list_without(text, ".");
    const bly_status status = domain_read_host(r, name, out);
    if (status == BLY_EUNSUPPORTED)
        return blyi_list_refuse_non_ascii(r);
    return status == BLY_EINVAL ? domain_refuse(r, text) : status;
}

void blyi_list_widen_domain(const bly_list_key *key, const bly_list_levels *present,
                            bly_list_entries *out) {
    const char *at = key->bytes.data, *end = at + key->bytes.size;
    for (unsigned labels = key->level; labels > 0; labels--) {
        if (bly_list_levels_contain(present, labels))
            out->keys[out->count++] = (bly_bytes){at, (size_t)(end - at)};
        const char *dot = memchr(at, '.', (size_t)(end - at));
        at = dot ? dot + 1 : end;
    }
}

/* ---- e-mail addresses ------------------------------------------------------------------------ */

enum { MAX_LOCAL = 64 };

static const char *email_last_at_sign(bly_bytes text) {
    const char *at = text.data;
    for (size_t i = text.size; i-- > 0;)
        if (at[i] == '@')
            return at + i;
    return NULL;
}

/* Whether the text is allowed before the "@": it may not have control characters nor, unless it is
 * in quotes, blanks or any of RFC 5322's specials. */
static bool email_is_local(const char *at, size_t size) {
    bool quoted = size > 2 && at[0] == '"' && at[size - 1] == '"';
    if (size == 0 || size > MAX_LOCAL)
        return false;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c < 0x20 || c == 0x7F || (!quoted && strchr(" ()<>[]:;@\\,\"", c)))
            return false;
    }
    return true;
}

bly_status blyi_list_read_email(bly_list_reader *r, bly_bytes text, bly_list_key *out) {
    const char *from = text.data;
    bly_list_key host;
    if (text.size > 2 && from[0] == '<' && from[text.size - 1] == '>')
        text = (bly_bytes){from + 1, text.size - 2};
    text = blyi_list_without(text, "mailto:");
    const char *local = text.data, *sign = email_last_at_sign(text);
    if (!sign)
        return blyi_list_refuse(r, "not an e-mail address");
    size_t size = (size_t)(sign - local);
    if (!email_is_local(local, size))
        return blyi_list_refuse(r, "not an e-mail address");
    const bly_status status =
        domain_read_host(r, (bly_bytes){sign + 1, text.size - size - 1}, &host);
    if (status == BLY_EUNSUPPORTED)
        return blyi_list_refuse_non_ascii(r);
    if (status == BLY_EINVAL)
        return blyi_list_refuse(r, "no valid domain after the @ of an e-mail address");
    if (status != BLY_OK)
        return status;
    for (size_t i = 0; i < size; i++)
        r->text[i] = blyi_url_lower(local[i]);
    r->text[size] = '@';
    memcpy(r->text + size + 1, host.bytes.data, host.bytes.size);
    *out = (bly_list_key){{r->text, size + 1 + host.bytes.size}, 0, false};
    return BLY_OK;
}

/* ---- URLs ------------------------------------------------------------------------------------ */

bly_status blyi_list_read_url(bly_list_reader *r, bly_bytes text, bly_list_key *out) {
    *out = (bly_list_key){text, 0, false};
    const bly_status status =
        bly_url_canonical(&r->buffer, BLY_URL_STANDARD, text.data, text.size, &out->bytes);
    if (status == BLY_EUNSUPPORTED)
        return blyi_list_refuse_non_ascii(r);
    return status == BLY_EINVAL ? blyi_list_refuse(r, "not a URL") : status;
}
