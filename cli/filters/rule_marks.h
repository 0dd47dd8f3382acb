/* rule_marks.h - the key that a state of dedup or count has besides those of its lines. It says in
 * words (key_options_words) by which options keys were made from lines. The header records that,
 * too, but not in states from before headers did, and of --field and --ignore-case only that they
 * were given. */
#ifndef BLOOMERY_CLI_RULE_MARKS_H
#define BLOOMERY_CLI_RULE_MARKS_H

#include "io/key.h"
#include "io/list_lines.h"

/* The mark of a state of `command`, "dedup" or "count". Returns its length; `rule` is shorter than
 * KEY_OPTIONS_WORDS. */
enum { RULE_MARK = 160 };
size_t rule_mark_text(const char *command, const char *rule, char out[RULE_MARK]);

/* Which marks a list seems to have whose header records nothing. A mark that was added is always
 * found. One that was not may seem to be there, as any key: so `lines`, `url` and `crawl` may only
 * add a form in which a line is looked up or added. */
typedef struct rule_marks {
    bool lines;      /* of keys that are lines as they stand */
    bool url, crawl; /* of --url, of --url=crawl */
    bool other;      /* of --field or --ignore-case, and of nothing else; the chance that it seems
                        so by accident is below 10^-6 */
} rule_marks;

/* `fields`: those of --field are looked up, too, which are many. The statuses are those of the
 * list. */
bly_status rule_marks_read(const bly_list_source *list, bool fields, rule_marks *out);

/* Whether any state of dedup or count has such marks: blank lines may be keys then. */
static inline bool rule_marks_any(const rule_marks *m) {
    return m->lines || m->url || m->crawl || m->other;
}

/* Of two states that record BLY_KEYS_OTHER: whether their marks tell that the options differ. */
bool rule_marks_differ(const bly_filter *a, const bly_filter *b);

#endif
