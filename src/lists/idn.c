/* idn.c - the only file that uses libidn2.
 *
 * UTS #46 gives every letter its lower-case, composed form, then RFC 3492 writes the label in
 * ASCII. Browsers process non-transitionally: the German sharp s stays as it is. But then libidn2
 * also applies the rules that registries have for new names, and refuses symbols such as U+2615,
 * which browsers accept. Transitional processing accepts them, so a label that was refused for a
 * symbol is tried that way, unless it has a character that the two treat differently.
 *
 * Each label is converted separately, and ASCII labels stay as they are. So the form of a name
 * always ends in the form of its parent, which lists look up.
 */
#include "lists/idn.h"

#ifndef BLYI_WITH_LIBIDN2
#define BLYI_WITH_LIBIDN2 0
#endif

#if BLYI_WITH_LIBIDN2

#include <stdbool.h>
#include <string.h>

#include <idn2.h>

/* Longer names cannot give a short enough result, and libidn2's time grows faster than their
 * length. */
enum { MAX_HOST = 4 * BLYI_IDN_ROOM };

/* The length of the full stop at `at`, one of the four of IDNA; 0 if there is another character. */
static size_t idn_full_stop(const char *at) {
    static const char *const stops[] = {".", "\xE3\x80\x82", "\xEF\xBC\x8E", "\xEF\xBD\xA1"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (strncmp(at, stops[i], strlen(stops[i])) == 0)
            return strlen(stops[i]);
    return 0;
}

/* Sharp s, small and capital, final sigma, zero-width non-joiner and joiner: transitional
 * processing would replace or drop them, which gives another name. */
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

/* The caller frees *out with idn2_free; NULL on failure. */
static blyi_idn_result idn_convert(const char *label, char **out) {
    *out = NULL;
    int status = idn2_to_ascii_8z(label, out, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (status == IDN2_DISALLOWED && !idn_has_deviation(label))
        status = idn2_to_ascii_8z(label, out, IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
    if (status == IDN2_OK)
        return BLYI_IDN_OK;
    return status == IDN2_MALLOC ? BLYI_IDN_NOMEM : BLYI_IDN_REFUSED;
}

/* Appends a label in ASCII to out[0..*used). */
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
