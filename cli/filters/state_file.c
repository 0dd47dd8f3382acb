/* state_file.c - loads a filter at the start of a run, and saves it: see state_file.h. */
#include "filters/state_file.h"

#include "cli.h"
#include "filters/filter_file.h"
#include "io/list_lines.h"
#include "io/output.h"
#include "text/message.h"

#include <errno.h>
#include <sys/stat.h>

bool state_file_begun(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0)
        return errno != ENOENT;
    return !S_ISREG(st.st_mode) || st.st_size > 0;
}

bool state_file_open(state_file *s, const char *path, const bly_hasher *key) {
    *s = (state_file){.path = path, .autosave = autosave_start()};
    if (!path)
        return true;
    if (!output_may_replace(path, true) || !lock_take(&s->lock, path, false))
        return false;
    if (!state_file_begun(path))
        return true;
    s->filter = open_load(path, key, 0);
    s->loaded = s->filter != NULL;
    return s->loaded;
}

bool state_file_save(state_file *s) {
    if (!s->path)
        return true;
    autosave_begin(&s->autosave);
    const bly_status status = bly_filter_save(s->filter, s->path);
    autosave_end(&s->autosave);
    return status == BLY_OK || message_status(s->path, status) == CLI_OK;
}

bool state_file_save_now_and_then(state_file *s) {
    return !s->path || !autosave_due(&s->autosave) || state_file_save(s);
}

void state_file_close(state_file *s) {
    bly_filter_destroy(s->filter);
    lock_release(&s->lock);
    s->filter = NULL;
}

/* ---- the rule -------------------------------------------------------------------------------- */

/* The options that stand for a rule, for messages. */
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
        (void)message_error(
            "%s: is a list of type %s, not a state, so lines would not match its keys; name "
            "another file, or look lines up in the list with bloomery check",
            path, line_type_words(bly_list_type_of_rule(recorded)));
    else
        (void)message_error("%s: was created %s, but this run is %s, so keys would not match; use "
                            "the same options, or another state",
                            path, options_of(recorded), options_of(requested));
    return STATE_RULE_REFUSED;
}

state_rule state_file_settle_rule(state_file *s, bly_key_rule requested, bool empty) {
    const state_rule fit =
        s->loaded ? state_rule_of(s->path, bly_filter_key_rule(s->filter), requested, empty)
                  : STATE_RULE_FITS;
    return fit != STATE_RULE_FITS || bly_filter_set_key_rule(s->filter, requested) == BLY_OK
               ? fit
               : STATE_RULE_REFUSED;
}
