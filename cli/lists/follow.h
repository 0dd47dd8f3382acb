/* follow.h - a list in a file, opened for questions, and opened again when the file is replaced. */
#ifndef BLOOMERY_CLI_FOLLOW_H
#define BLOOMERY_CLI_FOLLOW_H

#include "keytype.h"
#include "open.h"

#include <sys/stat.h>

/* How the list is held. */
typedef enum follow_how {
    FOLLOW_MAPPED,   /* used in the file, of which only the header is checked */
    FOLLOW_VERIFIED, /* the same, but the whole file is read first and its sums are checked */
    FOLLOW_COPIED    /* read into memory and checked: whatever happens to the file, it stays */
} follow_how;

typedef struct follow {
    const char *path;
    const bly_hasher *key; /* NULL: the list is not keyed */
    keytype asked;         /* KEYTYPE_NONE: as the list says */
    follow_how how;
    opened file;
    keytype type;
    keytype_levels levels;
    struct stat known; /* the file that was last looked at, whether it was any good or not */
    double looked;     /* when, in seconds */
} follow;

/* false: reported. While a list is mapped, shortening its file ends the process, with a message and
 * the status of an error. */
bool follow_open(follow *f, const char *path, const bly_hasher *key, keytype asked, follow_how how);

/* For a list that is copied. Looks, a few times a second at most, whether the path leads to another
 * file, or to other bytes; if so, and if they are whole, they become the list. If they are not, the
 * old one stays. Either is told once. */
void follow_refresh(follow *f);

void follow_close(follow *f);

#endif
