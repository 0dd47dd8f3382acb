/* live_list.h - lookups in a list that others may replace or add to, or whose server may stop.
 *
 * Lookups use a filter handle (handle.h). This file adds what only a list needs: the form of its
 * entries, hot reload, and a fallback while there is no answer. Functions that fail have reported
 * why.
 */
#ifndef BLOOMERY_CLI_LIVE_LIST_H
#define BLOOMERY_CLI_LIVE_LIST_H

#include "filters/handle.h"
#include "io/list_lines.h"

#include <sys/stat.h>

/* The result to assume for a lookup without an answer, in the order of LIVE_FALLBACK_CHOICES. */
typedef enum live_fallback {
    LIVE_UNSET, /* as LIVE_STOP */
    LIVE_STOP,  /* it is an error */
    LIVE_YES,   /* the line counts as in the list */
    LIVE_NO     /* the line counts as not in the list */
} live_fallback;
#define LIVE_FALLBACK_CHOICES "stop|yes|no"

typedef struct live_list_options {
    bly_list_type type;    /* the type of the lines; BLY_LIST_NONE: that which the list records */
    const bly_hasher *key; /* NULL: the list is not keyed */
    bool key_is_shared;    /* the key is for several lists, and some of them may not be keyed */
    bool follow;           /* hot reload: use a new list that replaces the old one */
    bool verify;
    live_fallback fallback;
    uint64_t gozero;    /* see handle.h */
    bool allow_replica; /* see handle.h */
} live_list_options;

typedef struct live_list {
    filter_handle handle;
    const live_list_options *options;
    bool may_fail; /* it is on a server: others may change it, and a lookup may get no answer */
    bly_list_type type;
    bly_list_levels levels;
    bool has_blanks; /* of type LINE: blank lines may be keys */
    /* For a list of lines that records no key rule: */
    bool keeps_return; /* a key may end in the carriage return of its line */
    bool urls[2];      /* by bly_url_level: keys may be URLs in canonical form */
    /* For live_list.c alone: */
    struct stat known; /* the file that was last examined, valid or not */
    double checked_at; /* when that was, by progress_clock */
    bool unavailable;  /* the server gives no answer, and options->fallback applies */
    double retry_at;   /* when the next attempt is made */
} live_list;

typedef enum live_result {
    LIVE_ANSWERED,
    LIVE_RENEWED, /* the list was replaced, and its type may be another: repeat the lookup */
    LIVE_FAILED
} live_result;

/* Opens the list. `name` and `options` must outlive *l. While a file is mapped (without `follow`),
 * shortening it ends the process with a message and CLI_ERROR. */
bool live_list_open(live_list *l, const char *name, const live_list_options *options);
void live_list_close(live_list *l);

/* Whether keys may be in the list: BLY_YES, BLY_NO or, if there is no answer, BLY_UNKNOWN. */
live_result live_list_contains(live_list *l, const bly_bytes *keys, size_t n, uint8_t *answers);

/* Call it before a batch of lines is read. Opens an unavailable list again. With --follow, checks
 * at most a few times a second whether the file was replaced or changed. A valid new file becomes
 * the list, otherwise the old one stays. Both are reported once. For a list on a server, updates
 * the type and the levels, or opens the list that replaced it. On failure, reports the error and
 * returns false; the list can then no longer be used. */
bool live_list_refresh(live_list *l);

#endif
