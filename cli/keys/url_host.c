/* url_host.c - the host of a URL.
 *
 * Of the special schemes it is a domain or an address, and all its spellings are one: it is
 * percent-decoded, made ASCII (idn.h), made small, and read as an IPv4 address if it ends in a
 * number. A host in ASCII is not looked at more closely: whether "xn--..." decodes to a name that
 * could be registered is not asked. Without libidn2 other letters stay the bytes they are.
 *
 * Of all other schemes it is opaque, and only its percent-encoding is normalised: it may be a name,
 * but also an identifier whose capitals count.
 */
#include <string.h>

#include "idn.h"
#include "url_text.h"

/* Decodes and lowers [at, end) to *out. False where a byte may stand in no domain. */
static bool put_bytes(char **out, const char *at, const char *end, bool decode, bool *ascii) {
    char *o = *out;
    *ascii = true;
    while (at < end) {
        char c = *at;
        if (decode && url_is_triplet(at, end)) {
            c = url_decoded(at);
            at += 2;
        }
        at++;
        if ((unsigned char)c >= 0x80)
            *ascii = false;
        else if (!url_is(c, URL_DOMAIN))
            return false;
        *o++ = url_lower(c);
    }
    *out = o;
    return true;
}

/* Replaces the letters of start[0..*end) that are not ASCII. */
static url_result make_ascii(char *start, char **end) {
    char ascii[IDN_ROOM];
    **end = 0;
    switch (idn_to_ascii(start, ascii)) {
    case IDN_ABSENT:
        return URL_OK;
    case IDN_NOMEM:
        return URL_NOMEM;
    case IDN_REFUSED:
        return URL_NOT;
    case IDN_OK:
        break;
    }
    bool still;
    *end = start;
    /* Other letters may turn into bytes that separate: U+2100 is "a/c". */
    return put_bytes(end, ascii, ascii + strlen(ascii), false, &still) ? URL_OK : URL_NOT;
}

url_result url_put_domain(char **out, const char *at, const char *end, bool decode) {
    char *start = *out, *o = start;
    uint32_t address;
    bool ascii;
    if (!put_bytes(&o, at, end, decode, &ascii))
        return URL_NOT;
    if (!ascii) {
        url_result result = make_ascii(start, &o);
        if (result != URL_OK)
            return result;
    }
    if (o == start)
        return URL_NOT;
    switch (url_parse_ipv4(start, o, &address)) {
    case URL_IPV4_BAD:
        return URL_NOT;
    case URL_IPV4_OK:
        o = url_put_ipv4(start, address);
        break;
    case URL_IPV4_NONE:
        break;
    }
    *out = o;
    return URL_OK;
}

url_result url_put_host(char **out, const char *at, const char *end, bool special) {
    if (at < end && *at == '[') {
        bool closed = end[-1] == ']' && end - at >= 2;
        return closed && url_put_ipv6(out, at + 1, end - 1) ? URL_OK : URL_NOT;
    }
    if (special)
        return url_put_domain(out, at, end, true);
    for (const char *c = at; c < end; c++) {
        if (url_is(*c, URL_NO_HOST))
            return URL_NOT;
    }
    *out = url_put(*out, at, end, URL_SEGMENT);
    return URL_OK;
}

/* ---- a host alone --------------------------------------------------------------------------- */

/* Whether a host is its own canonical form, as most are. */
static bool is_canonical(const char *at, const char *end) {
    const char *label = at;
    for (; at < end && url_is(*at, URL_NAME); at++) {
        if (*at == '.')
            label = at + 1;
    }
    return at == end && label < end && !url_is_digit(*label);
}

/* The end of a host without the dot that may stand there. Of several dots none goes. */
static const char *before_dot(const char *at, const char *end) {
    return end - at > 1 && end[-1] == '.' && end[-2] != '.' ? end - 1 : end;
}

/* An IPv6 address has colons, and no domain has any. */
static bool is_bare_ipv6(const char *at, const char *end) {
    return at < end && *at != '[' && memchr(at, ':', (size_t)(end - at)) != NULL;
}

url_result url_host(url_buffer *b, const char *text, size_t size, bly_bytes *out) {
    *out = (bly_bytes){text, size};
    if (size == 0)
        return URL_NOT;
    const char *at = text, *end = text + size;
    url_trim(&at, &end);
    if (is_canonical(at, before_dot(at, end))) {
        *out = (bly_bytes){at, (size_t)(before_dot(at, end) - at)};
        return URL_OK;
    }
    if (size > (SIZE_MAX - URL_SLACK) / 3 || !url_reserve(b, 3 * size + URL_SLACK))
        return URL_NOMEM;
    char *o = b->data;
    url_result result;
    if (is_bare_ipv6(at, end))
        result = url_put_ipv6(&o, at, end) ? URL_OK : URL_NOT;
    else if (at < end && *at == '[')
        result = url_put_host(&o, at, end, true);
    else
        result = url_put_domain(&o, at, end, false);
    if (result == URL_OK)
        *out = (bly_bytes){b->data, (size_t)(before_dot(b->data, o) - b->data)};
    return result;
}
