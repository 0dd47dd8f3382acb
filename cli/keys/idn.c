/* idn.c - the only file that knows libidn2.
 *
 * UTS #46 gives every letter its small, composed form, then RFC 3492 writes the label in ASCII.
 * Browsers process non-transitionally: the German sharp s stays itself. libidn2 then also demands
 * what registries demand of new names, and refuses symbols such as U+2615 which browsers accept;
 * transitional processing does not, so what was refused for a symbol's sake is tried that way.
 */
#include "idn.h"

#ifndef BLOOMERY_WITH_IDN2
#define BLOOMERY_WITH_IDN2 0
#endif

#if BLOOMERY_WITH_IDN2

#include <string.h>

#include <idn2.h>

/* Names beyond this cannot come out short enough, and libidn2's time grows faster than they do. */
enum { LONGEST = 4 * IDN_ROOM };

idn_result idn_to_ascii(const char *host, char out[IDN_ROOM]) {
    char *ascii = NULL;
    if (strlen(host) > LONGEST)
        return IDN_REFUSED;
    int status = idn2_to_ascii_8z(host, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (status == IDN2_DISALLOWED)
        status = idn2_to_ascii_8z(host, &ascii, IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
    if (status != IDN2_OK)
        return status == IDN2_MALLOC ? IDN_NOMEM : IDN_REFUSED;
    size_t size = strlen(ascii);
    if (size < IDN_ROOM)
        memcpy(out, ascii, size + 1);
    idn2_free(ascii);
    return size < IDN_ROOM ? IDN_OK : IDN_REFUSED;
}

#else

idn_result idn_to_ascii(const char *host, char out[IDN_ROOM]) {
    (void)host;
    out[0] = 0;
    return IDN_ABSENT;
}

#endif
