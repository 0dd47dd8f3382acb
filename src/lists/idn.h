/* idn.h - non-ASCII host names. Internal. */
#ifndef BLYI_LISTS_IDN_H
#define BLYI_LISTS_IDN_H

#include <stddef.h>

enum { BLYI_IDN_ROOM = 256 }; /* the longest name of the DNS, and a zero byte */

typedef enum blyi_idn_result {
    BLYI_IDN_OK,
    BLYI_IDN_REFUSED, /* not a name: not UTF-8, or characters that names may not have */
    BLYI_IDN_ABSENT,  /* built without libidn2 */
    BLYI_IDN_NOMEM
} blyi_idn_result;

/* The ASCII form ("xn--...") of a host in UTF-8. Both strings end in a zero byte. */
blyi_idn_result blyi_idn_to_ascii(const char *host, char out[BLYI_IDN_ROOM]);

#endif
