/* url_host.c - writes the canonical form of the host of a URL.
 *
 * In a URL of a special scheme (url_canonical.c) the host is a domain or an address, and all its
 * spellings become one: it is percent-decoded, converted to ASCII (idn.h) and to lower case, and
 * read as an IPv4 address if it ends in a number. It is not checked that an "xn--..." in an ASCII
 * host decodes to a name that could be registered. Without libidn2, non-ASCII hosts are refused
 * (BLY_EUNSUPPORTED): their keys would differ from those of a library with libidn2.
 *
 * In a URL of any other scheme the host is opaque, and only its percent-encoding is normalised: it
 * may be a name, but also an identifier whose case matters.
 */
#include "lists/idn.h"
#include "lists/url_text.h"

#include <string.h>

/* Writes [at, end) at *out in lower case, with triplets decoded if `decode` is true, and moves
 * *out. Sets *ascii to whether all bytes are ASCII. Returns false if a byte is not allowed in a
 * domain. */
static bool host_write_bytes(char **out, const char *at, const char *end, bool decode,
                             bool *ascii) {
    char *o = *out;
    *ascii = true;
    while (at < end) {
        char c = *at;
        if (decode && blyi_url_is_triplet(at, end)) {
            c = blyi_url_decoded(at);
            at += 2;
        }
        at++;
        if ((unsigned char)c >= 0x80)
            *ascii = false;
        else if (!blyi_url_is(c, BLYI_URL_DOMAIN))
            return false;
        *o++ = blyi_url_lower(c);
    }
    *out = o;
    return true;
}

/* Converts the host in [start, *end) to ASCII in place, and sets *end to its new end. */
static bly_status host_make_ascii(char *start, char **end) {
    char ascii[BLYI_IDN_ROOM];
    **end = 0;
    switch (blyi_idn_to_ascii(start, ascii)) {
    case BLYI_IDN_ABSENT:
        return BLY_EUNSUPPORTED;
    case BLYI_IDN_NOMEM:
        return BLY_ENOMEM;
    case BLYI_IDN_REFUSED:
        return BLY_EINVAL;
    case BLYI_IDN_OK:
        break;
    }
    bool still;
    *end = start;
    /* Checks the bytes again, because the result may contain separators: U+2100 becomes "a/c". */
    return host_write_bytes(end, ascii, ascii + strlen(ascii), false, &still) ? BLY_OK : BLY_EINVAL;
}

bly_status blyi_url_write_domain(char **out, const char *at, const char *end, bool decode) {
    char *start = *out, *o = start;
    uint32_t address;
    bool ascii;
    if (!host_write_bytes(&o, at, end, decode, &ascii))
        return BLY_EINVAL;
    if (!ascii) {
        bly_status result = host_make_ascii(start, &o);
        if (result != BLY_OK)
            return result;
    }
    if (o == start)
        return BLY_EINVAL;
    switch (blyi_url_parse_ipv4(start, o, &address)) {
    case BLYI_URL_IPV4_BAD:
        return BLY_EINVAL;
    case BLYI_URL_IPV4_OK:
        o = blyi_url_write_ipv4(start, address);
        break;
    case BLYI_URL_IPV4_NONE:
        break;
    }
    *out = o;
    return BLY_OK;
}

bly_status blyi_url_write_host(char **out, const char *at, const char *end, bool special) {
    if (at < end && *at == '[') {
        bool closed = end[-1] == ']' && end - at >= 2;
        return closed && blyi_url_write_ipv6(out, at + 1, end - 1) ? BLY_OK : BLY_EINVAL;
    }
    if (special)
        return blyi_url_write_domain(out, at, end, true);
    for (const char *c = at; c < end; c++) {
        if (blyi_url_is(*c, BLYI_URL_NO_HOST))
            return BLY_EINVAL;
    }
    *out = blyi_url_write(*out, at, end, BLYI_URL_SEGMENT);
    return BLY_OK;
}

/* ---- a host alone --------------------------------------------------------------------------- */

/* The longest name has 253 bytes in ASCII. A text of more than four times that is refused before
 * memory is reserved for it. */
enum { HOST_MAX_TEXT = 4 * BLYI_IDN_ROOM };

/* Whether a host is certainly canonical, as most hosts are. */
static bool host_is_canonical(const char *at, const char *end) {
    const char *label = at;
    for (; at < end && blyi_url_is(*at, BLYI_URL_NAME); at++) {
        if (*at == '.')
            label = at + 1;
    }
    return at == end && label < end && !blyi_url_is_digit(*label);
}

/* Returns the end of a host without the dot at its end. If there are several dots, they stay. */
static const char *host_before_dot(const char *at, const char *end) {
    return end - at > 1 && end[-1] == '.' && end[-2] != '.' ? end - 1 : end;
}

/* Whether the host is an IPv6 address without brackets: it has a colon, which no domain has. */
static bool host_is_bare_ipv6(const char *at, const char *end) {
    return at < end && *at != '[' && memchr(at, ':', (size_t)(end - at)) != NULL;
}

bly_status blyi_url_host(bly_url_buffer *b, const char *text, size_t size, bly_bytes *out) {
    *out = (bly_bytes){text, size};
    if (size == 0)
        return BLY_EINVAL;
    const char *at = text, *end = text + size;
    blyi_url_trim(&at, &end);
    if (host_is_canonical(at, host_before_dot(at, end))) {
        *out = (bly_bytes){at, (size_t)(host_before_dot(at, end) - at)};
        return BLY_OK;
    }
    if (end - at > HOST_MAX_TEXT)
        return BLY_EINVAL;
    if (!blyi_url_reserve(b, 3 * (size_t)(end - at) + BLYI_URL_SLACK))
        return BLY_ENOMEM;
    char *o = b->data;
    bly_status result;
    if (host_is_bare_ipv6(at, end))
        result = blyi_url_write_ipv6(&o, at, end) ? BLY_OK : BLY_EINVAL;
    else if (at < end && *at == '[')
        result = blyi_url_write_host(&o, at, end, true);
    else
        result = blyi_url_write_domain(&o, at, end, false);
    if (result == BLY_OK)
        *out = (bly_bytes){b->data, (size_t)(host_before_dot(b->data, o) - b->data)};
    return result;
}
