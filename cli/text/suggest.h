/* suggest.h - which of the known names a mistyped word was probably meant to be. */
#ifndef BLOOMERY_CLI_SUGGEST_H
#define BLOOMERY_CLI_SUGGEST_H

#include <stddef.h>

enum { SUGGEST_NAME = 64 };

typedef struct suggestion {
    const char *typed;
    size_t length;
    char best[SUGGEST_NAME]; /* the nearest name so far, or "" if none is near */
    unsigned cost;           /* the number of mistakes that separate it from the typed word */
} suggestion;

/* typed[0..length) is what the user wrote. */
suggestion suggest_for(const char *typed, size_t length);
/* Call this for each known name; of several that are equally near, the first one wins. */
void suggest_consider(suggestion *s, const char *name);

#endif
