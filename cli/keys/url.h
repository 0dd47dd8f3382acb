/* url.h - URLs in the form in which they are compared, and URLs in running text. url.c tells which
 * rules are followed and where they were chosen. Nothing here keeps state: a buffer belongs to one
 * thread at a time. */
#ifndef BLOOMERY_CLI_URL_H
#define BLOOMERY_CLI_URL_H

#include <bloomery/base.h>

/* How far two spellings may lie apart and still be one URL. */
typedef enum url_level {
    URL_STANDARD, /* "standard": the same resource by the URL standard and by RFC 3986 */
    URL_CRAWL     /* "crawl": also without tracking parameters and sessions, parameters sorted */
} url_level;

/* Room to write in: begins as {NULL, 0}, grows as needed and is used again for the next URL. */
typedef struct url_buffer {
    char *data;
    size_t room;
} url_buffer;

typedef enum url_result {
    URL_OK,
    URL_NOT,  /* no absolute URL: no scheme, a bad host, a bad port */
    URL_NOMEM /* the buffer could not grow */
} url_result;

void url_buffer_free(url_buffer *b);

/* The canonical form of text[0..size) in *out. It points into the text when a piece of the text is
 * its own canonical form, else into the buffer, where it stays valid until the buffer's next use.
 * On URL_NOT and URL_NOMEM *out is the text as it stands. The text must not lie in the buffer. */
url_result url_canonical(url_buffer *b, url_level level, const char *text, size_t size,
                         bly_bytes *out);

/* The same for a host alone, as lists of domains have it: blanks around it go, ASCII letters become
 * small, other letters ASCII (idn.h), an IPv4 address becomes four decimal numbers, an IPv6
 * address, with or without brackets, the shortest form in brackets, and one dot at the end goes.
 * Percent signs are not decoded: they make it URL_NOT, as do spaces, a port and a path. */
url_result url_host(url_buffer *b, const char *text, size_t size, bly_bytes *out);

/* The next http or https URL in [*at, end), which moves *at behind it. URL_NOT: there is none left.
 * The URL is as it was written, not canonical; it points into the text, or into the buffer when
 * "&amp;" or "\/" had to be undone. url_canonical then wants another buffer. On URL_NOMEM *at is
 * behind the URL all the same. url_find.c tells where a URL ends. */
url_result url_find(url_buffer *b, const char **at, const char *end, bly_bytes *out);

#endif
