/* state_rule.c - compares the key rule of a run with the rule that its state records. */
#include "filters/state_rule.h"

#include "io/list_lines.h"
#include "text/message.h"

/* The options of a rule. */
static const char *options_of(bly_key_rule rule) {
    return rule == BLY_KEYS_RECORD_URL     ? "with --url"
           : rule == BLY_KEYS_RECORD_CRAWL ? "with --url=crawl"
           : rule == BLY_KEYS_OTHER        ? "with --field or --ignore-case"
                                           : "without --url, --field and --ignore-case";
}

state_rule state_rule_of(const char *path, bly_key_rule recorded, bly_key_rule requested,
                         bool empty) {
    const bool typed = bly_list_is_typed(bly_list_type_of_rule(recorded));
    if (recorded == requested || empty)
        return STATE_RULE_FITS;
    if (recorded == BLY_KEYS_UNRECORDED)
        return STATE_RULE_OLD;
    if (recorded == BLY_KEYS_LINE && requested == BLY_KEYS_RECORD)
        return STATE_RULE_FITS;
    if (typed)
        (void)message_error("%s: is a list of type %s, which cannot be used as a state; use "
                            "another file. To print the lines that are not in the list, use "
                            "bloomery check -v; to add lines to it, use bloomery add",
                            path, line_type_words(bly_list_type_of_rule(recorded)));
    else
        (void)message_error("%s: was created %s, but this run is %s, so keys would not match; use "
                            "the same options, or name another file",
                            path, options_of(recorded), options_of(requested));
    return STATE_RULE_REFUSED;
}
