/* live.h - a list on a plain server, asked while others may be changing it.
 *
 * An error is no answer. What to do about one is the user's choice: to stop, or to go on and take
 * every line for one that is in the list, or for one that is not, until the server answers again.
 * It is tried again every few seconds, with little patience: a pipe that waits is no better than
 * one that stops.
 */
#ifndef BLOOMERY_CLI_LIVE_H
#define BLOOMERY_CLI_LIVE_H

#include "filters/server_filter.h"
#include "io/line_words.h"

/* What a line is when there is no answer. In the order of LIVE_CHOICES. */
typedef enum live_otherwise { LIVE_UNSAID, LIVE_STOP, LIVE_YES, LIVE_NO } live_otherwise;
#define LIVE_CHOICES "stop|yes|no"

typedef struct live_how {
    uint64_t gozero; /* bits of a filter of go-zero's; 0: it is one of ours */
    live_otherwise otherwise;
    bool follow; /* one that takes its place is taken over */
} live_how;

typedef enum live_result {
    LIVE_ANSWERED,
    LIVE_RENEWED, /* it is another list now, perhaps of another type: ask again */
    LIVE_FAILED   /* reported */
} live_result;

typedef struct live {
    remote remote;
    const live_how *how;
    const bly_hasher *key;
    bly_status status; /* of the last question that failed */
    bool away;         /* there is no answer, and how->otherwise says what to think */
    double again;      /* when it is asked again, by progress_clock */
} live;

/* Whether errors of the server are to be lived with. */
bool live_goes_on(const live *l);

/* false: reported, and it is to be closed. It may be away then from the beginning. */
bool live_open(live *l, const char *address, const bly_hasher *key, const live_how *how);
void live_close(live *l);

/* answers[i]: BLY_YES, BLY_NO or, only if it goes on after errors, BLY_UNKNOWN. */
live_result live_ask(live *l, const bly_bytes *keys, size_t n, uint8_t *answers);

/* What it says of itself is found by these. Nothing is reported; l->status says what went wrong. */
bly_status live_ask_marks(void *l, const bly_bytes *keys, size_t n, uint8_t *found);
bly_list_source live_list(live *l);

/* After live_ask_marks failed: as after a question. */
live_result live_fail(live *l);

#endif
