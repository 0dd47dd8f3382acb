/* idn.c - the only file that uses libidn2.
 *
 * UTS #46 gives every letter its lower-case, composed form, then RFC 3492 writes the label in
 * ASCII. Browsers process non-transitionally: the German sharp s stays as it is. But then libidn2
 * also demands what registries demand of new names, and refuses symbols such as U+2615, which
 * browsers accept. Transitional processing accepts them, so a name that was refused for a symbol is
 * tried that way.
 */
#include "lists/idn.h"

#ifndef BLYI_WITH_LIBIDN2
#define BLYI_WITH_LIBIDN2 0
#endif

#if BLYI_WITH_LIBIDN2

#include <string.h>

#include <idn2.h>

/* Names beyond this cannot come out short enough, and libidn2's time grows faster than they do. */
enum { MAX_HOST = 4 * BLYI_IDN_ROOM };

blyi_idn_result blyi_idn_to_ascii(const char *host, char out[BLYI_IDN_ROOM]) {
    char *ascii = NULL;
    if (strlen(host) > MAX_HOST)
        return BLYI_IDN_REFUSED;
    int status = idn2_to_ascii_8z(host, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (status == IDN2_DISALLOWED)
        status = idn2_to_ascii_8z(host, &ascii, IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
    if (status != IDN2_OK)
        return status == IDN2_MALLOC ? BLYI_IDN_NOMEM : BLYI_IDN_REFUSED;
    size_t size = strlen(ascii);
    if (size < BLYI_IDN_ROOM)
        memcpy(out, ascii, size + 1);
    idn2_free(ascii);
    return size < BLYI_IDN_ROOM ? BLYI_IDN_OK : BLYI_IDN_REFUSED;
}

#else

blyi_idn_result blyi_idn_to_ascii(const char *host, char out[BLYI_IDN_ROOM]) {
    (void)host;
    out[0] = 0;
    return BLYI_IDN_ABSENT;
}

#endif
