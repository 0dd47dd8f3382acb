/* url_canonical.c - the canonical form of a URL, and a fast test for canonical URLs.
 *
 * The standard level. Two spellings that every browser treats as the same address give the same
 * bytes. A URL is parsed by the WHATWG URL standard, without a base URL, and written in the normal
 * form of RFC 3986, section 6.2.2, which the WHATWG standard does not apply. In this order:
 *
 *  1. Blanks and control characters at both ends are dropped, and all tabs and line ends.
 *  2. The fragment is dropped. It never reaches a server.
 *  3. The scheme becomes lower case. http, https, ws, wss, ftp and file are special: for them a
 *     backslash is a slash, and the number of slashes before the host does not matter.
 *  4. User and password are kept, unless they are empty. The host is decoded, made lower case and
 *     ASCII. IPv4 addresses become four decimal numbers, IPv6 addresses the shortest form
 *     (url_host.c, url_ip.c). The scheme's default port and leading zeros of ports are dropped.
 *  5. "." and ".." segments of the path, percent-encoded or not, are resolved. A special scheme has
 *     a path: at least a slash.
 *  6. In path, query, user and password percent-encoding takes its normal form (url_text.c).
 *
 * Intended differences from the URL standard, with the letters that tests/lists/url/cases.tsv uses
 * for them:
 *
 *  P  Percent-encoding is normalised: "%7euser" is "~user". Servers have to treat the two alike.
 *  R  Characters that RFC 3986 does not allow unencoded in path and query are percent-encoded:
 *     " < > [ \ ] ^ ` { | } and the space. The URL standard leaves some of them unencoded.
 *  X  It is not checked that "xn--" labels of an ASCII host can be decoded.
 *  I  libidn2 decides which non-ASCII hosts are valid. It refuses some that browsers accept, such
 *     as those with a label of more than 63 bytes. Without libidn2 all are refused.
 *  U  A byte that is not UTF-8 becomes the triplet of that byte, not of U+FFFD, so that two
 *     different broken lines do not become equal.
 *
 * URLs of other schemes follow the standard: the case of the host matters, there is no default
 * port, and the text after "mailto:" is only normalised as in 6.
 *
 * The crawl level, for http, https, ws, wss and ftp, is described in url_crawl.c.
 *
 * A canonical URL is its own canonical form, at either level. The tests and the fuzzer check this
 * first.
 *
 * Speed. Nearly all lines of a crawl are canonical already, apart from a fragment. So one scan,
 * which uses a table and writes nothing, looks for the first byte that may have to change. If no
 * byte has to change, the text itself is the result. Otherwise url_rewrite.c writes the canonical
 * form, starting from the beginning.
 */
#include "lists/url_text.h"

#include <stdlib.h>
#include <string.h>

void bly_url_buffer_free(bly_url_buffer *b) {
    free(b->data);
    *b = (bly_url_buffer){NULL, 0};
}

bool blyi_url_reserve(bly_url_buffer *b, size_t room) {
    if (room <= b->room)
        return true;
    if (room < SIZE_MAX / 2)
        room += room / 2;
    char *data = realloc(b->data, room);
    if (data == NULL)
        return false;
    *b = (bly_url_buffer){data, room};
    return true;
}

/* ---- the fast path -------------------------------------------------------------------------- */

/* Returns the position after "http://" or "https://", or NULL if the text begins with neither. */
static const char *url_after_http(const char *at, const char *end) {
    if (end - at < 9 || memcmp(at, "http", 4) != 0)
        return NULL;
    at += at[4] == 's' ? 5 : 4;
    return memcmp(at, "://", 3) == 0 ? at + 3 : NULL;
}

/* Returns the end of the host at `at` if it is certainly canonical, else NULL. Returns NULL also if
 * the last label is empty or begins with a digit, because the host may then be an address. */
static const char *url_scan_host(const char *at, const char *end) {
    const char *start = at;
    while (at < end && blyi_url_is(*at, BLYI_URL_NAME))
        at++;
    const char *label = at;
    while (label > start && label[-1] != '.')
        label--;
    return label == at || blyi_url_is_digit(*label) ? NULL : at;
}

/* Returns the end of the port after the colon at `at`, or NULL if the port is not canonical:
 * missing, too large, the default, or with a leading zero. */
static const char *url_scan_port(const char *at, const char *end, bool tls) {
    unsigned port = 0;
    if (++at == end || *at == '0')
        return NULL;
    for (; at < end && blyi_url_is_digit(*at) && port <= 65535; at++)
        port = port * 10 + (unsigned)(*at - '0');
    return port == 0 || port > 65535 || port == (tls ? 443 : 80) ? NULL : at;
}

/* Whether there is a triplet in normal form at `at`. */
static bool url_is_normal_triplet(const char *at, const char *end) {
    return blyi_url_is_triplet(at, end) && at[1] < 'a' && at[2] < 'a' &&
           !blyi_url_is(blyi_url_decoded(at), BLYI_URL_UNRESERVED);
}

/* Whether the dot at `at` begins a segment of one or two dots. */
static bool url_is_dot_segment(const char *at, const char *end) {
    if (at[-1] != '/')
        return false;
    at += end - at > 1 && at[1] == '.' ? 2 : 1;
    return at == end || *at == '/' || *at == '?' || *at == '#';
}

/* Returns the first position in a path that is not canonical, or the end of the path. */
static const char *url_scan_path(const char *at, const char *end) {
    for (;;) {
        while (at < end && blyi_url_is(*at, BLYI_URL_PATH))
            at++;
        if (at == end)
            return at;
        if (*at == '.' && !url_is_dot_segment(at, end))
            at++;
        else if (*at == '%' && url_is_normal_triplet(at, end))
            at += 3;
        else
            return at;
    }
}

static const char *url_scan_query(const char *at, const char *end) {
    for (;;) {
        while (at < end && blyi_url_is(*at, BLYI_URL_NET_QUERY))
            at++;
        if (at == end || *at != '%' || !url_is_normal_triplet(at, end))
            return at;
        at += 3;
    }
}

/* Whether [start, end), without its fragment, is certainly a canonical URL. Returns false for some
 * canonical URLs, too. */
static bool url_scan(const char *start, const char *end, blyi_url_parts *parts) {
    const char *at = url_after_http(start, end);
    if (at == NULL || (at = url_scan_host(at, end)) == NULL)
        return false;
    parts->network = true;
    parts->host_end = (size_t)(at - start);
    if (at < end && *at == ':')
        at = url_scan_port(at, end, start[4] == 's');
    if (at == NULL || at == end || *at != '/')
        return false;
    parts->path = (size_t)(at - start);
    at = url_scan_path(at, end);
    parts->query = (size_t)(at - start);
    if (at < end && *at == '?')
        at = url_scan_query(at, end);
    parts->size = (size_t)(at - start);
    return at == end || *at == '#';
}

/* ---- the slow path -------------------------------------------------------------------------- */

/* Whether the text has a byte of class BLYI_URL_DROPPED. Uses no table and no branch, so that
 * compilers vectorise it. */
static bool url_has_dropped(const char *text, size_t size) {
    unsigned found = 0;
    for (size_t i = 0; i < size; i++)
        found |= (unsigned)(text[i] == '\t') | (text[i] == '\n') | (text[i] == '\r');
    return found != 0;
}

/* Copies the text without bytes of class BLYI_URL_DROPPED. Returns the size of the copy. */
static size_t url_copy_kept(char *out, const char *text, size_t size) {
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        if (!blyi_url_is(text[i], BLYI_URL_DROPPED))
            out[kept++] = text[i];
    }
    return kept;
}

/* Writes the canonical form of [at, end) to the start of the buffer. */
static bly_status url_rewrite_text(bly_url_buffer *b, const char *at, const char *end,
                                   blyi_url_parts *parts) {
    size_t size = (size_t)(end - at);
    const char *fragment = memchr(at, '#', size);
    if (size > (SIZE_MAX - BLYI_URL_SLACK) / 4 || !blyi_url_reserve(b, 4 * size + BLYI_URL_SLACK))
        return BLY_ENOMEM;
    if (fragment != NULL)
        size = (size_t)(fragment - at);
    if (url_has_dropped(at, size)) {
        /* The copy is in the buffer, after the space for the output. */
        char *copy = b->data + 3 * size + BLYI_URL_SLACK;
        size = url_copy_kept(copy, at, size);
        at = copy;
    }
    return blyi_url_rewrite(b->data, at, size, parts);
}

bly_status bly_url_canonical(bly_url_buffer *b, bly_url_level level, const char *text, size_t size,
                             bly_bytes *out) {
    blyi_url_parts parts;
    *out = (bly_bytes){text, size};
    if (size == 0)
        return BLY_EINVAL;
    const char *at = text, *end = text + size;
    blyi_url_trim(&at, &end);
    if (!url_scan(at, end, &parts)) {
        bly_status result = url_rewrite_text(b, at, end, &parts);
        if (result != BLY_OK)
            return result;
        at = b->data;
    }
    bly_bytes standard = {at, parts.size};
    if (level == BLY_URL_CRAWL && parts.network) {
        bly_status result = blyi_url_crawl(b, at, &parts, &standard);
        if (result != BLY_OK)
            return result;
    }
    *out = standard;
    return BLY_OK;
}
