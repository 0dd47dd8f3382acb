/* follow.h - a list in a file, opened for questions, and opened again when the file is replaced. */
#ifndef BLOOMERY_CLI_FOLLOW_H
#define BLOOMERY_CLI_FOLLOW_H

#include "keytype.h"
#include "open.h"

#include <sys/stat.h>

typedef struct follow {
    const char *path;
    const bly_hasher *key; /* NULL: the list is not keyed */
    keytype asked;         /* KEYTYPE_NONE: as the list says */
    opened file;
    keytype type;
    keytype_levels levels;
    struct stat known; /* the file that was last looked at, whether it was any good or not */
    double looked;     /* when, in seconds */
} follow;

/* false: reported. `verify` reads the whole file first and checks its sums. */
bool follow_open(follow *f, const char *path, const bly_hasher *key, keytype asked, bool verify);

/* Looks, a few times a second at most, whether the path leads to another file; if so, and if that
 * is whole, it becomes the list. If it is not, the old one stays. Either is told once. */
void follow_refresh(follow *f);

void follow_close(follow *f);

#endif
