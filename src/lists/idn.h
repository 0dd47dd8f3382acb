/* idn.h - converts non-ASCII host names to ASCII. Internal. */
#ifndef BLYI_LISTS_IDN_H
#define BLYI_LISTS_IDN_H

#include <stddef.h>

enum { BLYI_IDN_ROOM = 256 }; /* the longest name that the DNS allows, and a zero byte */

typedef enum blyi_idn_result {
    BLYI_IDN_OK,
    BLYI_IDN_REFUSED, /* not a host name: not UTF-8, or it has characters that are not allowed */
    BLYI_IDN_ABSENT,  /* built without libidn2 */
    BLYI_IDN_NOMEM
} blyi_idn_result;

/* Converts a host in UTF-8 to ASCII ("xn--..."). Both strings end in a zero byte. */
blyi_idn_result blyi_idn_to_ascii(const char *host, char out[BLYI_IDN_ROOM]);

#endif
