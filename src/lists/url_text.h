/* url_text.h - shared by the files that canonicalise URLs: which byte is allowed where, the normal
 * form of percent-encoding, and the parts of a canonical URL. Internal. */
#ifndef BLYI_LISTS_URL_TEXT_H
#define BLYI_LISTS_URL_TEXT_H

#include <bloomery/list.h>

/* Classes of bytes; blyi_url_class has the classes of each byte. */
enum {
    BLYI_URL_UNRESERVED = 1 << 0, /* never needs to be percent-encoded: letters, digits, - . _ ~ */
    BLYI_URL_SEGMENT = 1 << 1,    /* may stand in a segment of a path */
    BLYI_URL_PATH = 1 << 2,       /* SEGMENT or a slash, but not a dot: the fast path skips it */
    BLYI_URL_QUERY = 1 << 3,      /* may stand in a query */
    BLYI_URL_NET_QUERY = 1 << 4,  /* may stand in a query of a special scheme */
    BLYI_URL_USER = 1 << 5,       /* may stand in a user's name or password */
    BLYI_URL_DOMAIN = 1 << 6,     /* may stand in the host of a special scheme */
    BLYI_URL_NAME = 1 << 7,       /* in a host: lower-case letters, digits, - . _ */
    BLYI_URL_SCHEME = 1 << 8,     /* may stand in a scheme */
    BLYI_URL_HEX = 1 << 9,        /* a hexadecimal digit */
    BLYI_URL_DROPPED = 1 << 10,   /* tab, line feed, carriage return: removed */
    BLYI_URL_NO_HOST = 1 << 11    /* may not stand in the host of a scheme that is not special */
};

extern const uint16_t blyi_url_class[256];

static inline bool blyi_url_is(char c, unsigned set) {
    return (blyi_url_class[(unsigned char)c] & set) != 0;
}

static inline bool blyi_url_is_letter(char c) {
    return (unsigned)((c | 32) - 'a') < 26;
}

static inline bool blyi_url_is_digit(char c) {
    return (unsigned)(c - '0') < 10;
}

static inline char blyi_url_lower(char c) {
    return (char)((unsigned)(c - 'A') < 26 ? c | 32 : c);
}

/* The value of a hexadecimal digit. */
static inline unsigned blyi_url_hex(char c) {
    return (unsigned)(blyi_url_is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
}

/* Whether a percent sign and two hexadecimal digits stand at `at`. */
static inline bool blyi_url_is_triplet(const char *at, const char *end) {
    return end - at >= 3 && at[0] == '%' && blyi_url_is(at[1], BLYI_URL_HEX) &&
           blyi_url_is(at[2], BLYI_URL_HEX);
}

/* The byte that a triplet stands for. */
static inline char blyi_url_decoded(const char *triplet) {
    return (char)(blyi_url_hex(triplet[1]) << 4 | blyi_url_hex(triplet[2]));
}

/* Whether text[0..size), in any case, is `word`, which has lower-case letters. */
bool blyi_url_equals(const char *text, size_t size, const char *word);

/* Writes [at, end) at `out` in the normal form of percent-encoding, and returns the end of what was
 * written, at most three times as long. Bytes in `allowed` stand for themselves. It reads the two
 * bytes before `out`, which must have been written. */
char *blyi_url_write(char *out, const char *at, const char *end, unsigned allowed);

/* The same for the one byte or triplet at *at, which is not in an allowed set. Moves *at. */
char *blyi_url_write_odd(char *out, const char **at, const char *end);

/* Writes a byte as a triplet. */
char *blyi_url_write_triplet(char *out, char byte);

/* Grows the buffer to at least `room` bytes. false: no memory. */
bool blyi_url_reserve(bly_url_buffer *b, size_t room);

/* Offsets of the parts of a canonical URL. */
typedef struct blyi_url_parts {
    size_t size;
    bool network;    /* http, https, ws, wss or ftp; the next three are set only then */
    size_t host_end; /* where the port would begin */
    size_t path;
    size_t query; /* its question mark, or `size` */
} blyi_url_parts;

/* Leaves out the blanks and control characters at both ends. */
static inline void blyi_url_trim(const char **at, const char **end) {
    while (*at < *end && (unsigned char)**at <= ' ')
        ++*at;
    while (*at < *end && (unsigned char)(*end)[-1] <= ' ')
        --*end;
}

/* A canonical URL has at most 3 * size + BLYI_URL_SLACK bytes, where `size` is that of its text. */
enum { BLYI_URL_SLACK = 512 };

/* Writes the canonical form, at the standard level, of a text without fragment and without bytes of
 * BLYI_URL_DROPPED; `out` has room for 3 * size + BLYI_URL_SLACK. */
bly_status blyi_url_rewrite(char *out, const char *text, size_t size, blyi_url_parts *parts);

/* Writes a host at *out and moves it. Never longer than three times the text and 300 bytes. */
bly_status blyi_url_write_host(char **out, const char *at, const char *end, bool special);
/* The same for a host of a special scheme that is not an IPv6 address. With `decode` triplets are
 * decoded, without it they are refused. */
bly_status blyi_url_write_domain(char **out, const char *at, const char *end, bool decode);

/* Writes the canonical form of an IPv6 address, with brackets; [at, end) has none. false: it is not
 * an address. */
bool blyi_url_write_ipv6(char **out, const char *at, const char *end);

typedef enum blyi_url_ipv4 {
    BLYI_URL_IPV4_NONE,
    BLYI_URL_IPV4_BAD,
    BLYI_URL_IPV4_OK
} blyi_url_ipv4;
/* Parses a host as an IPv4 address. NONE: its last label is not a number. BAD: it is a number, but
 * the host is not an address. OK: *address is set. */
blyi_url_ipv4 blyi_url_parse_ipv4(const char *at, const char *end, uint32_t *address);
char *blyi_url_write_ipv4(char *out, uint32_t address);

/* The crawl-level form of a canonical URL. `url` may be the start of the buffer. */
bly_status blyi_url_crawl(bly_url_buffer *b, const char *url, const blyi_url_parts *parts,
                          bly_bytes *out);

/* The canonical form of a host alone, as lists of domains have it. Blanks around it are dropped,
 * ASCII letters become lower case, other letters ASCII (idn.h). An IPv4 address becomes four
 * decimal numbers, an IPv6 address, with or without brackets, the shortest form in brackets. One
 * dot at the end is dropped. Percent signs are not decoded: they make it BLY_EINVAL, as do spaces,
 * a port and a path, and more than 1024 bytes unless they are canonical. Otherwise as
 * bly_url_canonical. */
bly_status blyi_url_host(bly_url_buffer *b, const char *text, size_t size, bly_bytes *out);

#endif
