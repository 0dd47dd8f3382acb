/* url_text.h - what the files of the URL canonicaliser share: which byte may stand where, the
 * normal form of percent-encoding, and the parts of a canonical URL. */
#ifndef BLOOMERY_CLI_URL_TEXT_H
#define BLOOMERY_CLI_URL_TEXT_H

#include <stdint.h>

#include "url.h"

/* Classes of bytes; url_class has the set of each byte. */
enum {
    URL_UNRESERVED = 1 << 0, /* never needs to be percent-encoded: letters, digits, - . _ ~ */
    URL_SEGMENT = 1 << 1,    /* may stand in a segment of a path */
    URL_PATH = 1 << 2,       /* the same, or a slash, but no dot: nothing to look at twice */
    URL_QUERY = 1 << 3,      /* may stand in a query */
    URL_NET_QUERY = 1 << 4,  /* may stand in a query of a special scheme */
    URL_USER = 1 << 5,       /* may stand in a user's name or password */
    URL_DOMAIN = 1 << 6,     /* may stand in the host of a special scheme */
    URL_NAME = 1 << 7,       /* in a host: small letters, digits, - . _ */
    URL_SCHEME = 1 << 8,     /* may stand in a scheme */
    URL_HEX = 1 << 9,        /* a hexadecimal digit */
    URL_DROPPED = 1 << 10,   /* tab, line feed, carriage return: not there at all */
    URL_NO_HOST = 1 << 11    /* may not stand in the host of any other scheme */
};

extern const uint16_t url_class[256];

static inline bool url_is(char c, unsigned set) {
    return (url_class[(unsigned char)c] & set) != 0;
}

static inline bool url_is_letter(char c) {
    return (unsigned)((c | 32) - 'a') < 26;
}

static inline bool url_is_digit(char c) {
    return (unsigned)(c - '0') < 10;
}

static inline char url_lower(char c) {
    return (char)((unsigned)(c - 'A') < 26 ? c | 32 : c);
}

/* The value of a hexadecimal digit. */
static inline unsigned url_hex(char c) {
    return (unsigned)(url_is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
}

/* Whether a percent sign and two hexadecimal digits stand at `at`. */
static inline bool url_is_triplet(const char *at, const char *end) {
    return end - at >= 3 && at[0] == '%' && url_is(at[1], URL_HEX) && url_is(at[2], URL_HEX);
}

/* The byte that a triplet stands for. */
static inline char url_decoded(const char *triplet) {
    return (char)(url_hex(triplet[1]) << 4 | url_hex(triplet[2]));
}

/* Whether text[0..size), in any case, is `word`, which has small letters. */
bool url_equals(const char *text, size_t size, const char *word);

/* Writes [at, end) at `out` in the normal form of percent-encoding, and returns the end of what was
 * written, at most three times as long. Bytes in `allowed` stand for themselves. Two bytes must
 * have been written before. */
char *url_put(char *out, const char *at, const char *end, unsigned allowed);

/* The same for the one byte or triplet at *at, which is not in an allowed set. Moves *at. */
char *url_put_odd(char *out, const char **at, const char *end);

/* Writes a byte as a triplet. */
char *url_put_triplet(char *out, char byte);

/* Grows the buffer to at least `room` bytes. */
bool url_reserve(url_buffer *b, size_t room);

/* Where the parts of a canonical URL begin and end, counted from its start. */
typedef struct url_parts {
    size_t size;
    bool network;    /* http, https, ws, wss or ftp; the next three are set only then */
    size_t host_end; /* where the port would begin */
    size_t path;
    size_t query; /* its question mark, or `size` */
} url_parts;

/* Leaves out the blanks and control characters at both ends. */
static inline void url_trim(const char **at, const char **end) {
    while (*at < *end && (unsigned char)**at <= ' ')
        ++*at;
    while (*at < *end && (unsigned char)(*end)[-1] <= ' ')
        --*end;
}

/* What a canonical URL may be longer than three times its text. */
enum { URL_SLACK = 512 };

/* Writes the canonical form, at the standard level, of a text without fragment and without bytes of
 * URL_DROPPED; `out` has room for 3 * size + URL_SLACK. */
url_result url_rewrite(char *out, const char *text, size_t size, url_parts *parts);

/* Writes a host at *out and moves it. Never longer than three times the text and 300 bytes. */
url_result url_put_host(char **out, const char *at, const char *end, bool special);
/* One of a special scheme that is no IPv6 address. Triplets are decoded or else refused. */
url_result url_put_domain(char **out, const char *at, const char *end, bool decode);

/* Writes an IPv6 address given without its brackets, with them; false if it is none. */
bool url_put_ipv6(char **out, const char *at, const char *end);

typedef enum url_ipv4 { URL_IPV4_NONE, URL_IPV4_BAD, URL_IPV4_OK } url_ipv4;
/* Whether a host ends in a number, so that it must be an IPv4 address; and that address. */
url_ipv4 url_parse_ipv4(const char *at, const char *end, uint32_t *address);
char *url_put_ipv4(char *out, uint32_t address);

/* The crawl level of a canonical URL, which may lie at the start of the buffer. */
url_result url_crawl(url_buffer *b, const char *url, const url_parts *parts, bly_bytes *out);

#endif
