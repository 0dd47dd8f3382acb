/* url_text.c - bytes of URLs, one by one.
 *
 * The normal form of percent-encoding (RFC 3986, section 6.2.2): hexadecimal digits are capital; a
 * triplet that stands for an unreserved byte is that byte; a byte that may not stand for itself is
 * a triplet. Bytes from 0x80 up each become a triplet, whether they are UTF-8 or not, so that
 * nothing is lost.
 *
 * A percent sign without two digits after it stays. Decoding may not complete it: of "%%34%31" the
 * first triplet would become "%4", the second "%41", and that is an A the next time. Hence a
 * triplet stays one when it stands for a hexadecimal digit and such a percent sign is in reach.
 */
#include "url_text.h"

/* What letters and the characters that are used alike have in common. */
#define PLAIN (URL_SEGMENT | URL_PATH | URL_QUERY | URL_NET_QUERY | URL_USER | URL_DOMAIN)

enum {
    NO = 0,
    DR = URL_DROPPED | URL_NO_HOST,
    NH = URL_NO_HOST,                                     /* space # < > [ \ ] ^ | */
    DO = URL_DOMAIN,                                      /* " ` { } */
    CC = PLAIN,                                           /* ! $ & ( ) * , */
    PL = PLAIN | URL_SCHEME,                              /* + */
    AP = PLAIN & ~URL_NET_QUERY,                          /* ' */
    SE = PLAIN & ~URL_USER,                               /* ; = */
    CA = (PLAIN & ~URL_USER & ~URL_DOMAIN) | URL_NO_HOST, /* : @ */
    SL = URL_PATH | URL_QUERY | URL_NET_QUERY | URL_NO_HOST,
    QU = URL_QUERY | URL_NET_QUERY | URL_NO_HOST,
    TI = PLAIN | URL_UNRESERVED, /* ~ */
    UN = TI | URL_NAME,          /* _ */
    UP = TI | URL_SCHEME,        /* capitals */
    UX = UP | URL_HEX,
    LO = UP | URL_NAME, /* small letters, - */
    LX = LO | URL_HEX,  /* digits, a to f */
    DT = LO & ~URL_PATH /* . */
};

/* clang-format off */
const uint16_t url_class[256] = {
    NH, NO, NO, NO, NO, NO, NO, NO, NO, DR, DR, NO, NO, DR, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
/*      !   "   #   $   %   &   '   (   )   *   +   ,   -   .   /   */
    NH, CC, DO, NH, CC, NO, CC, AP, CC, CC, CC, PL, CC, LO, DT, SL,
    LX, LX, LX, LX, LX, LX, LX, LX, LX, LX, CA, SE, NH, SE, NH, QU,
    CA, UX, UX, UX, UX, UX, UX, UP, UP, UP, UP, UP, UP, UP, UP, UP,
    UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, NH, NH, NH, NH, UN,
    DO, LX, LX, LX, LX, LX, LX, LO, LO, LO, LO, LO, LO, LO, LO, LO,
    LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, DO, NH, DO, TI, NO,
};
/* clang-format on */

bool url_equals(const char *text, size_t size, const char *word) {
    for (size_t i = 0; i < size; i++) {
        if (word[i] == 0 || url_lower(text[i]) != word[i])
            return false;
    }
    return word[size] == 0;
}

char *url_put_triplet(char *out, char byte) {
    static const char digits[] = "0123456789ABCDEF";
    *out++ = '%';
    *out++ = digits[(unsigned char)byte >> 4];
    *out++ = digits[(unsigned char)byte & 15];
    return out;
}

/* Whether a hexadecimal digit written at `out` could become part of a triplet. */
static bool completes(const char *out) {
    return out[-1] == '%' || (out[-2] == '%' && url_is(out[-1], URL_HEX));
}

char *url_put_odd(char *out, const char **at, const char *end) {
    const char *from = *at;
    if (!url_is_triplet(from, end)) {
        *at = from + 1;
        if (*from != '%')
            return url_put_triplet(out, *from);
        *out++ = '%';
        return out;
    }
    char byte = url_decoded(from);
    *at = from + 3;
    if (!url_is(byte, URL_UNRESERVED) || (url_is(byte, URL_HEX) && completes(out)))
        return url_put_triplet(out, byte);
    *out++ = byte;
    return out;
}

char *url_put(char *out, const char *at, const char *end, unsigned allowed) {
    while (at < end) {
        if (url_is(*at, allowed))
            *out++ = *at++;
        else
            out = url_put_odd(out, &at, end);
    }
    return out;
}
