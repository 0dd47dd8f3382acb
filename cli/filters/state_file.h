/* state_file.h - a filter that is saved in the file of --state from one run to the next.
 *
 * The file is locked: a second run with the same state is refused.
 */
#ifndef BLOOMERY_CLI_STATE_FILE_H
#define BLOOMERY_CLI_STATE_FILE_H

#include "filters/state_rule.h"
#include "io/autosave.h"
#include "io/lock.h"
#include <bloomery/bloomery.h>

typedef struct state_file {
    const char *path;   /* NULL: the filter is not saved */
    bly_filter *filter; /* NULL: there is none yet, and the caller creates one */
    bool loaded;        /* the filter was loaded from the file */
    lock lock;
    autosave autosave;
} state_file;

/* Locks the file, and loads the filter if there is one. path and key may be NULL. false: reported.
 * Close *s in any case. */
bool state_file_open(state_file *s, const char *path, const bly_hasher *key);

/* Compares the key rule of this run with that of a loaded filter (see state_rule.h; `empty`: it has
 * no keys), and records it unless the old rule is used. */
state_rule state_file_settle_rule(state_file *s, bly_key_rule rule, bool empty);

/* Replaces the file; does nothing if path is NULL. false: reported. */
bool state_file_save(state_file *s);
/* The same, if the last time was long enough ago (io/autosave.h). */
bool state_file_save_now_and_then(state_file *s);

void state_file_close(state_file *s);

/* Whether there is a state at `path`. An empty file, as made by mktemp, is not one yet. */
bool state_file_begun(const char *path);

#endif
