/* rule_marks.h - a mark is an extra key in a state of dedup or count, next to the keys of its
 * lines. It names the options by which keys were made from lines (key_options_words). The header
 * records these options too, but old headers do not, and for --field and --ignore-case the header
 * only records that at least one of them was given. */
#ifndef BLOOMERY_CLI_RULE_MARKS_H
#define BLOOMERY_CLI_RULE_MARKS_H

#include "io/key.h"
#include "io/list_lines.h"

/* Writes the mark of a state of `command` ("dedup" or "count") whose rule is `rule` in words, which
 * has less than KEY_OPTIONS_WORDS bytes. Returns its length. */
enum { RULE_MARK = 160 };
size_t rule_mark_text(const char *command, const char *rule, char out[RULE_MARK]);

/* The marks found in a list whose header records nothing. A mark that was added is always found. A
 * mark that was not added may be found as a false positive. So `lines`, `url` and `crawl` may only
 * add a form in which a line is looked up or added. */
typedef struct rule_marks {
    bool lines;      /* keys are whole lines */
    bool url, crawl; /* url: keys were made with --url; crawl: with --url=crawl */
    bool other; /* keys were made with --field or --ignore-case, and none of the marks above was
                   found; the probability that this is a false positive is below 10^-6 */
} rule_marks;

/* Looks up the marks; with `fields`, also the many ones of --field. Returns BLY_OK, or the status
 * of a lookup that failed. */
bly_status rule_marks_read(const bly_list_source *list, bool fields, rule_marks *out);

/* Whether any mark was found. If so, blank lines may be keys. */
static inline bool rule_marks_any(const rule_marks *m) {
    return m->lines || m->url || m->crawl || m->other;
}

/* Whether the marks of two states that record BLY_KEYS_OTHER show that their options differ. */
bool rule_marks_differ(const bly_filter *a, const bly_filter *b);

#endif
