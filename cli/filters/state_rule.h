/* key_state.h - whether keys made from records by the options of a run belong into a state that is
 * there: dedup, distinct and count ask it. A state is good for one rule. */
#ifndef BLOOMERY_CLI_KEY_STATE_H
#define BLOOMERY_CLI_KEY_STATE_H

#include <bloomery/filter.h>

typedef enum key_state {
    KEY_STATE_REFUSED, /* it has keys of another kind; reported */
    KEY_STATE_FITS,    /* the rule of this run is, or becomes, what the state records */
    KEY_STATE_OLD      /* it records nothing, and so is used by the old rule: a carriage return at
                          the end of a line is part of the key */
} key_state;

/* `there` is what the state at `path` records, `asked` what this run does; `empty`: it has no keys,
 * and may record anything. */
key_state key_state_of(const char *path, bly_key_rule there, bly_key_rule asked, bool empty);

/* Says once that a line ended in a carriage return, in a run on an old state. */
void key_state_warn(const char *path, bool *warned);

#endif
