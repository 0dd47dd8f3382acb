/* idn.h - host names in other letters than ASCII. */
#ifndef BLOOMERY_CLI_IDN_H
#define BLOOMERY_CLI_IDN_H

#include <stddef.h>

enum { IDN_ROOM = 256 }; /* the longest name the domain name system knows, and its end */

typedef enum idn_result {
    IDN_OK,
    IDN_REFUSED, /* no name: not UTF-8, or letters that may not stand in names */
    IDN_ABSENT,  /* built without libidn2 */
    IDN_NOMEM
} idn_result;

/* The ASCII form ("xn--...") of a host in UTF-8. Both strings end in a zero byte. */
idn_result idn_to_ascii(const char *host, char out[IDN_ROOM]);

#endif
