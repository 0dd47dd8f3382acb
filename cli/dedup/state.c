/* state.c - what all states have in common: selecting one, and checking the rule by which its keys
 * were made.
 *
 * A state that is saved records its rule (bly_key_rule). Rules that have no code of their own are
 * also stored as a key, the mark, which is the rule in words. If the mark is found, that may be a
 * false positive. If it is not found, the state has another rule, or another program made the
 * filter.
 */
#include "dedup/state.h"

#include "filters/state_file.h"
#include "text/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening --------------------------------------------------------------------------------- */

static const state_ops *ops_for(const state_request *r) {
    return r->address                          ? &state_redis_ops
           : r->confirm                        ? &state_confirm_ops
           : r->exact                          ? &state_exact_ops
           : r->window_lines || r->window_span ? &state_window_ops
                                               : &state_filter_ops;
}

bool state_opens_first(const state_request *r) {
    return ops_for(r)->opens_first;
}

bool state_outlives(const state_request *r) {
    return r->file || r->confirm || (r->address && !r->only_lookups);
}

bool state_random_seed(uint64_t *out) {
    uint8_t key[16];
    const bly_status status = bly_random_key(key);
    memcpy(out, key, sizeof *out);
    return status == BLY_OK ||
           message_fail(
               "cannot choose a random seed, because the system provides no random numbers");
}

static void warn_of_rule(const dedup_state *s) {
    if (s->keeps_return && s->request.key_rule == BLY_KEYS_RECORD)
        message_warn(
            "%s: does not record how its keys were made from lines; this run compares whole lines",
            s->name);
    else
        message_warn("%s: was created with other options (--url, --field, --ignore-case, "
                     "--extract-urls): lines that it contains may be printed again",
                     s->name);
}

static bool add_mark(dedup_state *s, bly_bytes mark, bool *known) {
    uint8_t fresh = 0;
    if (s->ops->add_mark)
        return s->ops->add_mark(s, mark, known);
    const bool good = s->ops->add(s, &mark, 1, &fresh);
    *known = !fresh;
    s->unique = 0;
    return good;
}

/* Checks that the key rule of the state is that of this run. An empty state takes the rule of this
 * run. */
static bool agree_on_rule(dedup_state *s, const char *words) {
    char text[RULE_MARK];
    const bly_bytes mark = {text, rule_mark_text("dedup", words, text)};
    bly_key_rule there;
    uint64_t keys;
    bool known = false;
    if (!s->ops->get_rule(s, &there, &keys))
        return false;
    const state_rule fit =
        state_rule_of(s->name, there, s->request.key_rule, s->ops->records_rule && keys == 0);
    if (fit == STATE_RULE_REFUSED || (fit == STATE_RULE_FITS && s->ops->records_rule &&
                                      !s->ops->set_rule(s, s->request.key_rule)))
        return false;
    s->keeps_return = fit == STATE_RULE_OLD;
    if (!add_mark(s, mark, &known))
        return false;
    if (!known && keys > 0 && (s->keeps_return || s->request.key_rule == BLY_KEYS_OTHER))
        warn_of_rule(s);
    return true;
}

dedup_state *state_open(const state_request *r) {
    const state_ops *ops = ops_for(r);
    dedup_state *s = calloc(1, ops->size);
    if (!s) {
        (void)message_error("out of memory");
        return NULL;
    }
    s->ops = ops;
    s->request = *r;
    s->request.rule = NULL;
    s->name = r->file ? r->file : r->confirm;
    s->autosave = autosave_start();
    if (ops->open(s) && (!s->name || agree_on_rule(s, r->rule)))
        return s;
    state_close(s);
    return NULL;
}

void state_close(dedup_state *s) {
    if (s)
        s->ops->close(s);
    free(s);
}

/* ---- use ------------------------------------------------------------------------------------- */

bool state_add(dedup_state *s, const bly_bytes *keys, size_t n, uint8_t *fresh) {
    if (!s->ops->add(s, keys, n, fresh))
        return false;
    s->records += n;
    return true;
}

bool state_is_shared(const dedup_state *s) {
    return s->ops->shared && !s->request.only_lookups;
}

bool state_printed(dedup_state *s, const state_lines *lines, bool printed) {
    return s->ops->printed ? s->ops->printed(s, lines, printed) : printed;
}

bool state_save_due(const dedup_state *s) {
    if (!s->name || !s->ops->save)
        return false;
    return (s->ops->save_due && s->ops->save_due(s)) || autosave_due(&s->autosave);
}

bool state_save(dedup_state *s) {
    if (!s->name || !s->ops->save)
        return true;
    autosave_begin(&s->autosave);
    const bool good = s->ops->save(s);
    autosave_end(&s->autosave);
    return good;
}

/* ---- at the end ------------------------------------------------------------------------------ */

void state_get_facts(dedup_state *s, state_facts *out) {
    *out = (state_facts){.worst = -1, .dropped_scope = ""};
    s->ops->get_facts(s, out);
}

bool state_is_overfull(const state_facts *facts) {
    return facts->rate > 1.1 * facts->requested;
}

char *state_dropped_text(double dropped, char out[NUMBER_TEXT]) {
    char number[NUMBER_TEXT];
    if (isnan(dropped))
        (void)snprintf(out, NUMBER_TEXT, "most");
    else
        (void)snprintf(out, NUMBER_TEXT, "about %.24s", number_estimate(dropped, number));
    return out;
}

bool state_judge(const dedup_state *s, const state_facts *facts) {
    return !s->ops->judge || s->ops->judge(s, facts);
}
