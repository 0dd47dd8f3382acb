/* state_rule.h - whether a run of dedup, distinct or count may continue with a state. The state
 * records the rule by which its keys were made from lines, and all runs must use the same rule. */
#ifndef BLOOMERY_CLI_STATE_RULE_H
#define BLOOMERY_CLI_STATE_RULE_H

#include <bloomery/filter.h>

typedef enum state_rule {
    STATE_RULE_REFUSED, /* its keys were made by another rule; reported */
    STATE_RULE_FITS,    /* the state records the rule of this run, or may record it */
    STATE_RULE_OLD      /* it records no rule, so the old rule is used: a carriage return at the
                          end of a line is part of the key */
} state_rule;

/* `recorded` is the rule of the state at `path`, `requested` that of this run. An `empty` state has
 * no keys, so it fits every rule. */
state_rule state_rule_of(const char *path, bly_key_rule recorded, bly_key_rule requested,
                         bool empty);

#endif
