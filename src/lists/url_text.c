/* url_text.c - classes of bytes in URLs, and percent-encoding.
 *
 * In the normal form of percent-encoding (RFC 3986, section 6.2.2) hexadecimal digits are capital.
 * A triplet (such as "%41") that stands for an unreserved byte becomes that byte. A byte that is
 * not allowed becomes a triplet. Bytes from 0x80 up each become a triplet, whether they are UTF-8
 * or not, so that nothing is lost.
 *
 * A percent sign without two hexadecimal digits after it stays. Decoding must not complete it to a
 * triplet: "%%34%31" would become "%41", which is an "A" when it is read again. So a triplet that
 * stands for a hexadecimal digit is not decoded if the digit would continue such a percent sign.
 */
#include "lists/url_text.h"

/* The classes of letters, and of characters that are allowed wherever letters are. */
#define URL_PLAIN                                                                                  \
    (BLYI_URL_SEGMENT | BLYI_URL_PATH | BLYI_URL_QUERY | BLYI_URL_NET_QUERY | BLYI_URL_USER |      \
     BLYI_URL_DOMAIN)

enum {
    U_NO = 0,
    U_DR = BLYI_URL_DROPPED | BLYI_URL_NO_HOST,
    U_NH = BLYI_URL_NO_HOST,                /* space # < > [ \ ] ^ | */
    U_DO = BLYI_URL_DOMAIN,                 /* " ` { } */
    U_CC = URL_PLAIN,                       /* ! $ & ( ) * , */
    U_PL = URL_PLAIN | BLYI_URL_SCHEME,     /* + */
    U_AP = URL_PLAIN & ~BLYI_URL_NET_QUERY, /* ' */
    U_SE = URL_PLAIN & ~BLYI_URL_USER,      /* ; = */
    U_CA = (URL_PLAIN & ~BLYI_URL_USER & ~BLYI_URL_DOMAIN) | BLYI_URL_NO_HOST, /* : @ */
    U_SL = BLYI_URL_PATH | BLYI_URL_QUERY | BLYI_URL_NET_QUERY | BLYI_URL_NO_HOST,
    U_QU = BLYI_URL_QUERY | BLYI_URL_NET_QUERY | BLYI_URL_NO_HOST,
    U_TI = URL_PLAIN | BLYI_URL_UNRESERVED, /* ~ */
    U_UN = U_TI | BLYI_URL_NAME,            /* _ */
    U_UP = U_TI | BLYI_URL_SCHEME,          /* capitals */
    U_UX = U_UP | BLYI_URL_HEX,
    U_LO = U_UP | BLYI_URL_NAME, /* small letters, - */
    U_LX = U_LO | BLYI_URL_HEX,  /* digits, a to f */
    U_DT = U_LO & ~BLYI_URL_PATH /* . */
};

/* clang-format off */
const uint16_t blyi_url_class[256] = {
    U_NH, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_DR, U_DR, U_NO, U_NO, U_DR, U_NO, U_NO,
    U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO, U_NO,
/*        !     "     #     $     %     &     '     (     )     *     +     ,     -     .     /   */
    U_NH, U_CC, U_DO, U_NH, U_CC, U_NO, U_CC, U_AP, U_CC, U_CC, U_CC, U_PL, U_CC, U_LO, U_DT, U_SL,
    U_LX, U_LX, U_LX, U_LX, U_LX, U_LX, U_LX, U_LX, U_LX, U_LX, U_CA, U_SE, U_NH, U_SE, U_NH, U_QU,
    U_CA, U_UX, U_UX, U_UX, U_UX, U_UX, U_UX, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP,
    U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_UP, U_NH, U_NH, U_NH, U_NH, U_UN,
    U_DO, U_LX, U_LX, U_LX, U_LX, U_LX, U_LX, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO,
    U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_LO, U_DO, U_NH, U_DO, U_TI, U_NO,
};
/* clang-format on */

bool blyi_url_equals(const char *text, size_t size, const char *word) {
    for (size_t i = 0; i < size; i++) {
        if (word[i] == 0 || blyi_url_lower(text[i]) != word[i])
            return false;
    }
    return word[size] == 0;
}

char *blyi_url_write_triplet(char *out, char byte) {
    static const char digits[] = "0123456789ABCDEF";
    *out++ = '%';
    *out++ = digits[(unsigned char)byte >> 4];
    *out++ = digits[(unsigned char)byte & 15];
    return out;
}

/* Whether a hexadecimal digit written at `out` would continue a percent sign, with or without a
 * first digit, to a triplet. */
static bool url_completes_triplet(const char *out) {
    return out[-1] == '%' || (out[-2] == '%' && blyi_url_is(out[-1], BLYI_URL_HEX));
}

char *blyi_url_write_odd(char *out, const char **at, const char *end) {
    const char *from = *at;
    if (!blyi_url_is_triplet(from, end)) {
        *at = from + 1;
        if (*from != '%')
            return blyi_url_write_triplet(out, *from);
        *out++ = '%';
        return out;
    }
    char byte = blyi_url_decoded(from);
    *at = from + 3;
    if (!blyi_url_is(byte, BLYI_URL_UNRESERVED) ||
        (blyi_url_is(byte, BLYI_URL_HEX) && url_completes_triplet(out)))
        return blyi_url_write_triplet(out, byte);
    *out++ = byte;
    return out;
}

char *blyi_url_write(char *out, const char *at, const char *end, unsigned allowed) {
    while (at < end) {
        if (blyi_url_is(*at, allowed))
            *out++ = *at++;
        else
            out = blyi_url_write_odd(out, &at, end);
    }
    return out;
}
