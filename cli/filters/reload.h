/* follow.h - a list, opened for questions, and opened again when it is replaced: in a file, or on a
 * plain server (live.h). */
#ifndef BLOOMERY_CLI_FOLLOW_H
#define BLOOMERY_CLI_FOLLOW_H

#include "filters/filter_file.h"
#include "filters/live_list.h"
#include "io/line_words.h"

#include <sys/stat.h>

/* How the list is held. */
typedef enum follow_how {
    FOLLOW_MAPPED,   /* used in the file, of which only the header is checked */
    FOLLOW_VERIFIED, /* the same, but the whole file is read first and its sums are checked */
    FOLLOW_COPIED    /* read into memory and checked: whatever happens to the file, it stays */
} follow_how;

typedef struct follow {
    const char *path;      /* of a list on a server its address, without the password */
    const bly_hasher *key; /* NULL: the list is not keyed */
    bly_list_type asked;   /* BLY_LIST_NONE: as the list says */
    follow_how how;
    opened file;
    live *live; /* not NULL: it is on a server, and there is no file */
    bly_list_type type;
    bly_list_levels levels;
    bool has_blanks; /* of type LINE: blank lines may be keys all the same */
    /* Of a list of lines that records no rule: */
    bool keeps_return; /* a line that ends in a carriage return may be there with it */
    bool urls[2];      /* by bly_url_level: a URL may be there in canonical form */
    struct stat known; /* the file that was last looked at, whether it was any good or not */
    double looked;     /* when, in seconds */
} follow;

/* false: reported. While a list is mapped, shortening its file ends the process, with a message and
 * the status of an error. */
bool follow_open(follow *f, const char *path, const bly_hasher *key, bly_list_type asked,
                 follow_how how);
/* The same for one on a server; `address` and `how` must outlive it. */
bool follow_open_live(follow *f, const char *address, const bly_hasher *key, bly_list_type asked,
                      const live_how *how);

/* For a list that is copied. Looks, a few times a second at most, whether the path leads to another
 * file, or to other bytes; if so, and if they are whole, they become the list. If they are not, the
 * old one stays. Either is told once. Of a list on a server, whether it says something else of
 * itself by now. */
void follow_refresh(follow *f);

/* Whether keys may be in the list: BLY_YES, BLY_NO or, of one on a server, BLY_UNKNOWN. */
live_result follow_ask(follow *f, const bly_bytes *keys, size_t n, uint8_t *answers);

void follow_close(follow *f);

#endif
