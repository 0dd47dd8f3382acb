/* rule_marks.h - a mark is an extra key in a state of dedup or count, next to the keys of its
 * lines. It names the options by which keys were made from lines (key_options_words). The header
 * records these options too, but old headers do not, and of --field and --ignore-case the header
 * only records that they were given. */
#ifndef BLOOMERY_CLI_RULE_MARKS_H
#define BLOOMERY_CLI_RULE_MARKS_H

#include "io/key.h"
#include "io/list_lines.h"

/* The mark of a state of `command`, "dedup" or "count". Returns its length; `rule` is shorter than
 * KEY_OPTIONS_WORDS. */
enum { RULE_MARK = 160 };
size_t rule_mark_text(const char *command, const char *rule, char out[RULE_MARK]);

/* The marks found in a list whose header records nothing. A mark that was added is always found.
 * Others may be found as false positives. So `lines`, `url` and `crawl` may only add a form in
 * which a line is looked up or added. */
typedef struct rule_marks {
    bool lines;      /* keys are whole lines */
    bool url, crawl; /* made with --url, with --url=crawl */
    bool other;      /* made only with --field or --ignore-case; the chance that this is a false
                        positive is below 10^-6 */
} rule_marks;

/* `fields`: also looks up the marks of --field, which are many. Returns a status of the list. */
bly_status rule_marks_read(const bly_list_source *list, bool fields, rule_marks *out);

/* Whether any mark was found. If so, blank lines may be keys. */
static inline bool rule_marks_any(const rule_marks *m) {
    return m->lines || m->url || m->crawl || m->other;
}

/* Whether the marks of two states that record BLY_KEYS_OTHER show that their options differ. */
bool rule_marks_differ(const bly_filter *a, const bly_filter *b);

#endif
