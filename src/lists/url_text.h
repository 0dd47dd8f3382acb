/* url_text.h - shared by the files that canonicalise URLs: which byte is allowed where, the normal
 * form of percent-encoding, and the parts of a canonical URL. Internal. */
#ifndef BLYI_LISTS_URL_TEXT_H
#define BLYI_LISTS_URL_TEXT_H

#include <bloomery/list.h>

/* Classes of bytes; blyi_url_class has the classes of each byte. */
enum {
    BLYI_URL_UNRESERVED = 1 << 0, /* never percent-encoded: letters, digits, - . _ ~ */
    BLYI_URL_SEGMENT = 1 << 1,    /* allowed in a segment of a path */
    BLYI_URL_PATH = 1 << 2,       /* SEGMENT or a slash, but not a dot; the fast path skips these */
    BLYI_URL_QUERY = 1 << 3,      /* allowed in a query */
    BLYI_URL_NET_QUERY = 1 << 4,  /* allowed in a query of a special scheme */
    BLYI_URL_USER = 1 << 5,       /* allowed in a user's name or password */
    BLYI_URL_DOMAIN = 1 << 6,     /* allowed in the host of a special scheme */
    BLYI_URL_NAME = 1 << 7,       /* in canonical domains: lower-case letters, digits, - . _ */
    BLYI_URL_SCHEME = 1 << 8,     /* allowed in a scheme */
    BLYI_URL_HEX = 1 << 9,        /* a hexadecimal digit */
    BLYI_URL_DROPPED = 1 << 10,   /* tab, line feed, carriage return: removed from URLs */
    BLYI_URL_NO_HOST = 1 << 11    /* not allowed in the host of a scheme that is not special */
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

/* Returns the value of a hexadecimal digit. */
static inline unsigned blyi_url_hex(char c) {
    return (unsigned)(blyi_url_is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
}

/* Whether there is a triplet at `at`: a percent sign and two hexadecimal digits. */
static inline bool blyi_url_is_triplet(const char *at, const char *end) {
    return end - at >= 3 && at[0] == '%' && blyi_url_is(at[1], BLYI_URL_HEX) &&
           blyi_url_is(at[2], BLYI_URL_HEX);
}

/* Returns the byte that a triplet stands for. */
static inline char blyi_url_decoded(const char *triplet) {
    return (char)(blyi_url_hex(triplet[1]) << 4 | blyi_url_hex(triplet[2]));
}

/* Whether the text is `word`, ignoring case. `word` must be in lower case. */
bool blyi_url_equals(const char *text, size_t size, const char *word);

/* Writes [at, end) at `out` in the normal form of percent-encoding, and returns the end of what was
 * written, which is at most three times as long. Bytes of the classes `allowed` are written as they
 * are. It also reads the two bytes before `out`, so these must have been written. */
char *blyi_url_write(char *out, const char *at, const char *end, unsigned allowed);

/* As blyi_url_write, for the one byte or triplet at *at, which is not an allowed byte. Moves *at
 * past it. */
char *blyi_url_write_odd(char *out, const char **at, const char *end);

/* Writes a byte as a triplet. Returns the position after it. */
char *blyi_url_write_triplet(char *out, char byte);

/* Grows the buffer to at least `room` bytes. Returns false if memory runs out. */
bool blyi_url_reserve(bly_url_buffer *b, size_t room);

/* Offsets of the parts of a canonical URL. */
typedef struct blyi_url_parts {
    size_t size;
    bool network; /* the scheme is http, https, ws, wss or ftp; only then the next three are set */
    size_t host_end; /* where the port would begin */
    size_t path;
    size_t query; /* of the question mark; `size` if there is no query */
} blyi_url_parts;

/* Moves *at and *end past blanks and control characters at both ends of a text. */
static inline void blyi_url_trim(const char **at, const char **end) {
    while (*at < *end && (unsigned char)**at <= ' ')
        ++*at;
    while (*at < *end && (unsigned char)(*end)[-1] <= ' ')
        --*end;
}

/* The canonical form of a text of `size` bytes has at most 3 * size + BLYI_URL_SLACK bytes. */
enum { BLYI_URL_SLACK = 512 };

/* Writes the canonical form, at the standard level, of a text without fragment and without bytes of
 * class BLYI_URL_DROPPED. `out` must have room for 3 * size + BLYI_URL_SLACK bytes. */
bly_status blyi_url_rewrite(char *out, const char *text, size_t size, blyi_url_parts *parts);

/* Writes the canonical form of the host [at, end) at *out, and moves *out past it. The result is at
 * most 300 bytes longer than three times the text. `special`: whether the scheme is special. */
bly_status blyi_url_write_host(char **out, const char *at, const char *end, bool special);
/* As blyi_url_write_host, for a host of a special scheme that is not an IPv6 address. If `decode`
 * is true, triplets are decoded; else they are refused. */
bly_status blyi_url_write_domain(char **out, const char *at, const char *end, bool decode);

/* Writes the canonical form of the IPv6 address [at, end), which has no brackets, in brackets at
 * *out, and moves *out past it. Returns false if it is not an address. */
bool blyi_url_write_ipv6(char **out, const char *at, const char *end);

typedef enum blyi_url_ipv4 {
    BLYI_URL_IPV4_NONE,
    BLYI_URL_IPV4_BAD,
    BLYI_URL_IPV4_OK
} blyi_url_ipv4;
/* Parses a host as an IPv4 address. Returns BLYI_URL_IPV4_OK and sets *address; or
 * BLYI_URL_IPV4_NONE if the last label is not a number; or BLYI_URL_IPV4_BAD if it is a number, but
 * the host is not an address. */
blyi_url_ipv4 blyi_url_parse_ipv4(const char *at, const char *end, uint32_t *address);
/* Writes an IPv4 address as four decimal numbers. Returns the position after it. */
char *blyi_url_write_ipv4(char *out, uint32_t address);

/* Sets *out to the crawl-level form of a canonical URL: the URL itself, or bytes in the buffer.
 * `url` may be the start of the buffer. Returns BLY_OK or BLY_ENOMEM. */
bly_status blyi_url_crawl(bly_url_buffer *b, const char *url, const blyi_url_parts *parts,
                          bly_bytes *out);

/* Sets *out to the canonical form of a host alone, as in lists of domains. Blanks around it are
 * dropped, ASCII letters become lower case, other letters are converted to ASCII (idn.h). An IPv4
 * address becomes four decimal numbers; an IPv6 address, with or without brackets, gets the
 * shortest form in brackets. One dot at the end is dropped. Triplets are not decoded. Returns
 * BLY_EINVAL for percent signs, spaces, a port or a path, and for more than 1024 bytes unless the
 * host is canonical already. Otherwise as bly_url_canonical. */
bly_status blyi_url_host(bly_url_buffer *b, const char *text, size_t size, bly_bytes *out);

#endif
