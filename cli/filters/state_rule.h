/* state_rule.h - whether a run of dedup, distinct or count may continue with a state file: the
 * file records by which rule its keys were made from lines, and all runs must use that rule. */
#ifndef BLOOMERY_CLI_STATE_RULE_H
#define BLOOMERY_CLI_STATE_RULE_H

#include <bloomery/filter.h>

typedef enum state_rule {
    STATE_RULE_REFUSED, /* it has keys of another kind; reported */
    STATE_RULE_FITS,    /* the rule of this run is, or becomes, what the state records */
    STATE_RULE_OLD      /* it records nothing, and so is used by the old rule: a carriage return at
                          the end of a line is part of the key */
} state_rule;

/* `there` is what the state at `path` records, `asked` what this run does; `empty`: it has no keys,
 * and may record anything. */
state_rule state_rule_of(const char *path, bly_key_rule there, bly_key_rule asked, bool empty);

/* Says once that a line ended in a carriage return, in a run on an old state. */
void state_rule_warn(const char *path, bool *warned);

#endif
