/* state_file.h - a filter that a file stores from one run to the next: what --state names, where
 * the state is a filter alone.
 *
 * One run at a time: a second one with the same state is refused.
 */
#ifndef BLOOMERY_CLI_STATE_FILE_H
#define BLOOMERY_CLI_STATE_FILE_H

#include "io/autosave.h"
#include "io/lock.h"
#include <bloomery/bloomery.h>

typedef struct state_file {
    const char *path;   /* NULL: it is not kept */
    bly_filter *filter; /* NULL: there is none yet, and the caller makes one */
    bool loaded;        /* it was there before */
    lock lock;
    autosave autosave;
} state_file;

/* Takes up the filter where there is one. path and key may be NULL. On failure, which is reported,
 * *k is to be closed all the same. */
bool state_file_open(state_file *k, const char *path, const bly_hasher *key);

/* Replaces the file; nothing if there is none. false: reported. */
bool state_file_save(state_file *k);
/* The same, if it is time. */
bool state_file_save_now_and_then(state_file *k);

void state_file_close(state_file *k);

/* Whether a state has begun: an empty file, as mktemp makes it, is one that has yet to. */
bool state_file_begun(const char *path);

#endif
