/* state_file.h - the states of dedup, distinct and count: a filter that is saved in the file of
 * --state from one run to the next, and the rule by which its keys are made.
 *
 * The file is locked: a second run with the same state is refused.
 */
#ifndef BLOOMERY_CLI_STATE_FILE_H
#define BLOOMERY_CLI_STATE_FILE_H

#include "io/autosave.h"
#include "io/lock.h"
#include <bloomery/bloomery.h>

typedef struct state_file {
    const char *path;   /* NULL: the filter is not saved */
    bly_filter *filter; /* NULL: the file has no filter yet, and the caller creates one */
    bool loaded;        /* the filter was loaded from the file */
    lock lock;
    autosave autosave;
} state_file;

/* Locks the file, and loads the filter if there is one. path and key may be NULL. On failure,
 * reports the error and returns false. Close *s in any case. */
bool state_file_open(state_file *s, const char *path, const bly_hasher *key);

/* Replaces the file; does nothing if path is NULL. On failure, reports the error and returns false.
 */
bool state_file_save(state_file *s);
/* The same, if the last save was long enough ago (io/autosave.h). */
bool state_file_save_now_and_then(state_file *s);

void state_file_close(state_file *s);

/* Whether there is a state at `path`. An empty file, as made by mktemp, is not one yet. */
bool state_file_begun(const char *path);

/* ---- the rule --------------------------------------------------------------------------------
 * A state records the rule by which its keys were made from lines, and all runs must use the same
 * rule. */

typedef enum state_rule {
    STATE_RULE_REFUSED, /* the keys were made by another rule, which was reported */
    STATE_RULE_FITS,    /* the state records the rule of this run, or may record it */
    STATE_RULE_OLD      /* it records no rule, so the old rule is used: a carriage return at the
                          end of a line is part of the key */
} state_rule;

/* `recorded` is the rule of the state at `path`, `requested` that of this run. An `empty` state has
 * no keys, so it fits every rule. */
state_rule state_rule_of(const char *path, bly_key_rule recorded, bly_key_rule requested,
                         bool empty);
/* The same for a state file; a new state, and one that fits, then record the requested rule. */
state_rule state_file_settle_rule(state_file *s, bly_key_rule requested, bool empty);

#endif
