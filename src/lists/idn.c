/* idn.c - the only file that uses libidn2.
 *
 * UTS #46 converts every letter to its lower-case, composed form; then the label is written in
 * ASCII (RFC 3492). Browsers use non-transitional processing, which keeps the German sharp s. But
 * in that mode libidn2 also applies the rules of registries for new names, and refuses symbols such
 * as U+2615, which browsers accept. Transitional processing accepts them. So a label that is
 * refused for a symbol is converted in that mode, unless it has a character that the two modes
 * treat differently.
 *
 * Each label is converted separately, and ASCII labels stay as they are. So the result for a name
 * always ends in the result for its parent domain, which lists look up.
 */
#include "lists/idn.h"

#ifndef BLYI_WITH_LIBIDN2
#define BLYI_WITH_LIBIDN2 0
#endif

#if BLYI_WITH_LIBIDN2

#include <stdbool.h>
#include <string.h>

#include <idn2.h>

/* Longer hosts are refused: their result would be too long, and the time that libidn2 takes grows
 * faster than their length. */
enum { MAX_HOST = 4 * BLYI_IDN_ROOM };

/* Returns the length of the full stop at `at`, which may be any of IDNA's four, or 0 if another
 * character is there. */
static size_t idn_full_stop(const char *at) {
    static const char *const stops[] = {".", "\xE3\x80\x82", "\xEF\xBC\x8E", "\xEF\xBD\xA1"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (strncmp(at, stops[i], strlen(stops[i])) == 0)
            return strlen(stops[i]);
    return 0;
}

/* Whether the label has a character that transitional processing would replace or drop, which would
 * give another name: sharp s (small or capital), final sigma, zero-width non-joiner or joiner. */
static bool idn_has_deviation(const char *label) {
    static const char *const characters[] = {"\xC3\x9F", "\xE1\xBA\x9E", "\xCF\x82", "\xE2\x80\x8C",
                                             "\xE2\x80\x8D"};
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++)
        if (strstr(label, characters[i]))
            return true;
    return false;
}

static bool idn_is_ascii(const char *label) {
    while (*label && (unsigned char)*label < 0x80)
        label++;
    return !*label;
}

/* Converts a label to ASCII. The caller frees *out with idn2_free; on failure it is NULL. */
static blyi_idn_result idn_convert(const char *label, char **out) {
    *out = NULL;
    int status = idn2_to_ascii_8z(label, out, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (status == IDN2_DISALLOWED && !idn_has_deviation(label))
        status = idn2_to_ascii_8z(label, out, IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
    if (status == IDN2_OK)
        return BLYI_IDN_OK;
    return status == IDN2_MALLOC ? BLYI_IDN_NOMEM : BLYI_IDN_REFUSED;
}

/* Converts a label to ASCII, and appends it to the *used bytes in `out`. */
static blyi_idn_result idn_append(const char *label, char out[BLYI_IDN_ROOM], size_t *used) {
    char *converted = NULL;
    blyi_idn_result result = idn_is_ascii(label) ? BLYI_IDN_OK : idn_convert(label, &converted);
    if (result != BLYI_IDN_OK)
        return result;
    const char *ascii = converted ? converted : label;
    const size_t size = strlen(ascii);
    if (size < BLYI_IDN_ROOM - *used) {
        memcpy(out + *used, ascii, size + 1);
        *used += size;
    } else
        result = BLYI_IDN_REFUSED;
    idn2_free(converted);
    return result;
}

blyi_idn_result blyi_idn_to_ascii(const char *host, char out[BLYI_IDN_ROOM]) {
    char label[MAX_HOST + 1];
    size_t used = 0, stop = 1;
    if (strlen(host) > MAX_HOST)
        return BLYI_IDN_REFUSED;
    while (stop) {
        size_t size = 0;
        while (!(stop = idn_full_stop(host + size)) && host[size])
            size++;
        memcpy(label, host, size);
        label[size] = '\0';
        host += size + stop;
        const blyi_idn_result result = idn_append(label, out, &used);
        if (result != BLYI_IDN_OK)
            return result;
        if (stop && used + 1 < BLYI_IDN_ROOM)
            out[used++] = '.';
        else if (stop)
            return BLYI_IDN_REFUSED;
    }
    return BLYI_IDN_OK;
}

#else

blyi_idn_result blyi_idn_to_ascii(const char *host, char out[BLYI_IDN_ROOM]) {
    (void)host;
    out[0] = 0;
    return BLYI_IDN_ABSENT;
}

#endif
