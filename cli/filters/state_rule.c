/* state_rule.c - compares the rule of a run with the one that its state records. */
#include "filters/state_rule.h"

#include "io/list_lines.h"
#include "text/message.h"

/* The options that make such keys. */
static const char *options_of(bly_key_rule rule) {
    return rule == BLY_KEYS_RECORD_URL     ? "with --url"
           : rule == BLY_KEYS_RECORD_CRAWL ? "with --url=crawl"
           : rule == BLY_KEYS_OTHER        ? "with --field or --ignore-case"
                                           : "without --url, --field and --ignore-case";
}

state_rule state_rule_of(const char *path, bly_key_rule there, bly_key_rule asked, bool empty) {
    const bool typed = bly_list_is_typed(bly_list_type_of_rule(there));
    if (there == asked || empty)
        return STATE_RULE_FITS;
    if (there == BLY_KEYS_UNRECORDED)
        return STATE_RULE_OLD;
    if (there == BLY_KEYS_LINE && asked == BLY_KEYS_RECORD)
        return STATE_RULE_FITS;
    if (typed)
        (void)message_error("%s: is a list of type %s: its keys are not lines as they stand. "
                            "bloomery check -v prints the lines that are not in it, and bloomery "
                            "add adds to it; name another state",
                            path, line_type_words(bly_list_type_of_rule(there)));
    else
        (void)message_error("%s: was made %s, and this run is %s: their keys would not match; give "
                            "the same options, or begin a new state",
                            path, options_of(there), options_of(asked));
    return STATE_RULE_REFUSED;
}

void state_rule_warn(const char *path, bool *warned) {
    if (!*warned)
        message_warn("%s: a line ends in a carriage return, which is part of the key in this "
                     "state; the same line without it is a different key. A new state ignores "
                     "carriage returns at the end of lines",
                     path);
    *warned = true;
}
