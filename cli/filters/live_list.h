/* live_list.h - a list that is looked up in while others may replace it, add to it, or stop its
 * server.
 *
 * Lookups go through a filter handle (handle.h). Here is what only a list needs: which form its
 * entries have, a new list that takes the place of the old one, and what to do while there is no
 * answer. Functions that fail have reported why.
 */
#ifndef BLOOMERY_CLI_LIVE_LIST_H
#define BLOOMERY_CLI_LIVE_LIST_H

#include "filters/handle.h"
#include "io/list_lines.h"

#include <sys/stat.h>

/* What to do about a lookup without an answer. In the order of LIVE_FALLBACK_CHOICES. */
typedef enum live_fallback {
    LIVE_UNSET, /* as LIVE_STOP */
    LIVE_STOP,  /* it is an error */
    LIVE_YES,   /* the line counts as one that is in the list */
    LIVE_NO     /* or as one that is not */
} live_fallback;
#define LIVE_FALLBACK_CHOICES "stop|yes|no"

typedef struct live_list_options {
    bly_list_type type;    /* BLY_LIST_NONE: what the list records */
    const bly_hasher *key; /* NULL: it is not keyed */
    bool key_is_shared;    /* the key is for several lists, of which some are not keyed */
    bool follow;           /* a new list is used when it takes the place of the old one */
    bool verify;
    live_fallback fallback;
    uint64_t gozero;    /* as in handle.h */
    bool allow_replica; /* the same */
} live_list_options;

typedef struct live_list {
    filter_handle handle;
    const live_list_options *options;
    bool may_fail; /* others change it, and a lookup may get no answer */
    bly_list_type type;
    bly_list_levels levels;
    bool has_blanks; /* of type LINE: blank lines may be keys all the same */
    /* Of a list of lines that records no rule: */
    bool keeps_return; /* a line that ends in a carriage return may be there with it */
    bool urls[2];      /* by bly_url_level: a URL may be there in canonical form */
    /* For live_list.c alone: */
    struct stat known; /* the file that was last examined, whether it was sound or not */
    double checked_at; /* when that was, by progress_clock */
    bool away;         /* there is no answer, and options->fallback applies */
    double retry_at;   /* when it is looked up in again */
} live_list;

typedef enum live_result {
    LIVE_ANSWERED,
    LIVE_RENEWED, /* it is another list now, perhaps of another type: repeat the lookup */
    LIVE_FAILED
} live_result;

/* `name` and `options` must outlive it. While a file is mapped (without `follow`), shortening it
 * ends the process, with a message and the status of an error. */
bool live_list_open(live_list *l, const char *name, const live_list_options *options);
void live_list_close(live_list *l);

/* Whether keys may be in the list: BLY_YES, BLY_NO or, where there is no answer, BLY_UNKNOWN. */
live_result live_list_contains(live_list *l, const bly_bytes *keys, size_t n, uint8_t *answers);

/* For a list that is followed: looks, a few times a second at most, whether its name leads to
 * another file or to other bytes. If these are sound they become the list, else the old one stays;
 * either is reported once. A list on a server may have got entries of other types or levels. */
void live_list_refresh(live_list *l);

#endif
