/* state_window.c - a state that is a window: a filter that forgets keys older than a number of
 * lines, or than a time.
 *
 * Time is the system's clock in milliseconds, so a state also ages between two runs. The clock is
 * read once per batch of lines, before they are added. If the clock is set back, the window stands
 * still until the clock has caught up. Lines are then remembered for too long, never too short.
 *
 * The current rate. A false positive of any generation is one of the window. bly_plan_fpr gives the
 * rate p of a window of s generations. The rate of one generation with x keys is
 * 1 - (1 - p)^(1/(s+1)), where p is the rate for s x keys. In a window by number, the number of
 * keys of a generation is recorded when it is full. In a window by time, the older generations may
 * have any number of keys. Their rate is computed from the bits when a new generation begins, and
 * also whenever the newest one has more keys than planned, because mistaken keys are not counted.
 *
 * The mark, which stores the rule (state.c), would be forgotten like any key. So it is added again
 * when it has reached the older half of the window.
 *
 * In a window by number, a mark is an arrival like any line, and the window has room for some
 * marks: it is made for N + 4 arrivals, so its 8 generations have q = ceil((N + 4) / 8) arrivals
 * each, and the last 8 q arrivals are found. A mark in the newest generation is not added again:
 * its age is at most q, which is at most N/2 (at most 1 if N is 1). So there is at least one line
 * between two marks, however many runs have no input. There are N/2 + 1 - q lines or more between
 * two marks, so at most four marks are among the last N lines. If N is 5 there may be five, and the
 * last 16 arrivals are found.
 */
#include "dedup/state_filter.h"

#include "filters/filter_file.h"
#include "filters/line_window.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* The most generations that a window can have beside the one being filled. */
enum { MAX_GENERATIONS = 32 };

typedef struct window_state {
    filter_state core;
    bool timed;           /* a window by time */
    bool warned_of_clock; /* that the clock was set back */
    bly_hash mark;
    uint64_t slice; /* the generation that was current when the next two fields were computed */
    double older;   /* window by time: the false-positive rate of all generations but the newest */
    double full_keys[MAX_GENERATIONS]; /* window by number: the keys of each full generation, newest
                                          first */
    uint64_t rate_added;               /* keys added when the rate was computed from the bits */
} window_state;

static bly_window_info window_of(const window_state *s) {
    bly_window_info w = {.struct_size = sizeof w};
    const bly_status status = bly_window_get_info(s->core.filter, &w);
    (void)status; /* cannot fail, because the filter is a window */
    return w;
}

/* ---- a state --------------------------------------------------------------------------------- */

static line_window requested(const state_request *r) {
    return (line_window){.lines = r->window_lines,
                         .span = r->window_span,
                         .keys = r->keys,
                         .rate = r->rate != 0 ? r->rate : state_default_rate};
}

static bool is_requested(const window_state *s, const line_window *is) {
    const line_window wanted = requested(&s->core.base.request);
    const uint64_t keys = bly_filter_capacity(s->core.filter);
    const char *name = s->core.base.name;
    char have[NUMBER_TEXT], want[NUMBER_TEXT];
    if (is->span == wanted.span && is->lines == wanted.lines)
        return true;
    if (!is->span && keys == wanted.lines)
        return message_fail("%s: is a window of %s keys, of which dedup needs %u for its own "
                            "marks; give --window %s, or name another file",
                            name, number_grouped(keys, want), (unsigned)LINE_WINDOW_SPARE,
                            line_window_text(is, have));
    return message_fail(
        "%s: was created with --window %s, not %s; give the same window, or name another file",
        name, line_window_text(is, have), line_window_text(&wanted, want));
}

static bool fits_request(const window_state *s) {
    const state_request *r = &s->core.base.request;
    bly_window_info w = {.struct_size = sizeof w};
    line_window is;
    if (bly_window_get_info(s->core.filter, &w) != BLY_OK)
        return message_fail("%s: was created without --window, and forgets nothing; leave out "
                            "--window, or name another file",
                            r->file);
    if (!line_window_of(s->core.filter, &is))
        return message_fail(
            "%s: is a window filter that was not created by bloomery dedup; name another file",
            r->file);
    if (!is_requested(s, &is))
        return false;
    /* Computing the stored rate may have changed its last digits. */
    if (r->rate != 0 && fabs(r->rate - is.rate) > 1e-6 * is.rate)
        return filter_state_refuse_rate(&s->core, is.rate);
    if (r->keys && r->keys != is.keys)
        return filter_state_refuse_keys(&s->core, is.keys);
    return filter_state_fits_seed(&s->core);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static uint64_t milliseconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Forgets keys that are too old. */
static void advance(window_state *s) {
    char behind[NUMBER_TEXT];
    if (!s->timed)
        return;
    const uint64_t now = milliseconds();
    if (bly_window_advance(s->core.filter, now) == BLY_OK || s->warned_of_clock)
        return;
    message_warn("the clock has been set back by %s; nothing is forgotten until it has caught up",
                 number_time((double)(window_of(s).now - now) / 1000, behind));
    s->warned_of_clock = true;
}

static bool open_window(dedup_state *base) {
    window_state *s = (window_state *)base;
    const line_window window = requested(&base->request);
    if (!filter_state_load(&s->core))
        return false;
    if (!(s->core.loaded ? fits_request(s)
                         : filter_state_create(&s->core, line_window_spec(&window))))
        return false;
    s->timed = window.span != 0;
    advance(s);
    return true;
}

/* ---- the mark -------------------------------------------------------------------------------- */

/* Adds the mark again if it is missing or in the older half of the window. */
static bool renew_mark(window_state *s, bool *known) {
    const bly_filter *f = s->core.filter;
    const uint64_t all = s->timed ? window_of(s).span : bly_filter_capacity(f) - LINE_WINDOW_SPARE;
    uint64_t age = BLY_WINDOW_ABSENT;
    bly_status status = bly_window_age_hash(f, s->mark, &age);
    *known = age != BLY_WINDOW_ABSENT;
    if (status == BLY_OK && age > (all / 2 ? all / 2 : 1))
        status = bly_filter_add_hash(s->core.filter, s->mark, NULL);
    return status == BLY_OK || message_fail("cannot add to the window: %s", bly_strerror(status));
}

static bool add_mark(dedup_state *base, bly_bytes mark, bool *known) {
    window_state *s = (window_state *)base;
    s->mark = bly_hash_key(bly_filter_hasher(s->core.filter), mark.data, mark.size);
    return renew_mark(s, known);
}

static bool save(dedup_state *base) {
    bool known;
    return renew_mark((window_state *)base, &known) && filter_state_save(base);
}

/* ---- the rate -------------------------------------------------------------------------------- */

/* The rate of one generation with this number of keys. */
static double rate_of_one(const bly_filter *f, const bly_window_info *w, double keys) {
    const bly_geometry g = bly_filter_geometry(f);
    const double all = fmin(round(keys * w->generations), 0x1p62);
    if (all < 1)
        return 0;
    return line_window_part(bly_plan_fpr(&g, (uint64_t)all, bly_filter_hasher(f)->bits),
                            w->generations);
}

static double either(double a, double b) {
    return a + b - a * b;
}

/* For a window by number: brings s->full_keys up to date. The counts give the number of keys in the
 * generations that became full since the last call; if there are several, each gets an equal share.
 */
static void update_full_keys(window_state *s, const bly_window_info *w) {
    const size_t full = (size_t)(w->ordinal < w->generations ? w->ordinal : w->generations);
    const uint64_t filled = s->core.added == 0 ? w->ordinal : w->ordinal - s->slice;
    const size_t more = filled < full ? (size_t)filled : full;
    double keys = (double)(bly_filter_count(s->core.filter) - w->active_keys);
    memmove(s->full_keys + more, s->full_keys, (full - more) * sizeof *s->full_keys);
    for (size_t i = more; i < full; i++)
        keys -= s->full_keys[i];
    for (size_t i = 0; i < more; i++)
        s->full_keys[i] = fmax(0, keys) / (double)more;
    s->slice = w->ordinal;
}

/* The number of keys in the full generation `number`, or in the oldest one if that is forgotten. */
static double keys_of_full(const window_state *s, const bly_window_info *w, uint64_t number) {
    const uint64_t age = w->ordinal - 1 - number;
    return s->full_keys[age < w->generations ? age : w->generations - 1];
}

/* For a window by number: the rate `ago` lines before the newest one. A part of a generation has
 * keys in proportion to its lines. */
static double rate_by_number(window_state *s, const bly_window_info *w, uint64_t ago) {
    const uint64_t lines = w->generation_keys;
    const uint64_t came = w->ordinal * lines + w->active_arrivals;
    const uint64_t then = came > ago ? came - ago : 0;
    const uint64_t number = then / lines < w->ordinal ? then / lines : w->ordinal;
    const double part = (double)(then - number * lines);
    double rate;
    update_full_keys(s, w);
    if (number < w->ordinal)
        rate = rate_of_one(s->core.filter, w, keys_of_full(s, w, number) * part / (double)lines);
    else
        rate = rate_of_one(s->core.filter, w,
                           (double)w->active_keys * part / fmax(1, (double)w->active_arrivals));
    for (uint64_t i = 1; i <= w->generations && i <= number; i++)
        rate = either(rate, rate_of_one(s->core.filter, w, keys_of_full(s, w, number - i)));
    return rate;
}

/* For a window by time: the rate `ago` keys before the newest one. The rate of the older
 * generations is computed once per generation. */
static double rate_by_time(window_state *s, const bly_window_info *w, uint64_t ago) {
    const double active = rate_of_one(s->core.filter, w, (double)w->active_keys);
    if (s->core.added == 0 || w->ordinal != s->slice) {
        const double all = filter_info(s->core.filter).current_fpr;
        s->slice = w->ordinal;
        s->rate_added = s->core.added;
        s->older = active < 1 ? fmax(0, (all - active) / (1 - active)) : 1;
    }
    const uint64_t then = w->active_keys > ago ? w->active_keys - ago : 0;
    const double counted = either(s->older, rate_of_one(s->core.filter, w, (double)then));
    const bly_geometry g = bly_filter_geometry(s->core.filter);
    if (w->active_keys <= w->generation_keys)
        return counted;
    if (s->core.added - s->rate_added <= bly_plan_bytes(&g) / 64) /* too soon for another pass */
        return fmax(counted, s->core.rate);
    s->rate_added = s->core.added;
    return filter_info(s->core.filter).current_fpr;
}

/* ---- use ------------------------------------------------------------------------------------- */

static bool add(dedup_state *base, const bly_bytes *keys, size_t n, uint8_t *fresh) {
    window_state *s = (window_state *)base;
    size_t unique;
    advance(s);
    if (!filter_state_add(&s->core, keys, n, fresh, &unique))
        return false;
    const bly_window_info w = window_of(s);
    const uint64_t ago = n / 2; /* the middle of the batch */
    s->core.rate = s->timed ? rate_by_time(s, &w, ago) : rate_by_number(s, &w, ago);
    s->core.added += n;
    filter_state_expect(&s->core, n, unique);
    return true;
}

static void get_facts(dedup_state *base, state_facts *out) {
    const window_state *s = (window_state *)base;
    line_window window;
    filter_state_get_facts(&s->core, out);
    out->requested = line_window_of(s->core.filter, &window) ? window.rate : 0;
    out->worst = s->core.worst;
    out->dropped_scope = " of the window";
    out->alternative = "--exact, which forgets no line";
}

/* A window by time may have been overfull for a while. A window by number cannot be, although the
 * rate of a window of few lines may be a third above the average. */
static bool judge(const dedup_state *base, const state_facts *facts) {
    const state_request *r = &base->request;
    const double worst = fmax(facts->worst, facts->rate);
    char dropped[NUMBER_TEXT], rate[NUMBER_TEXT], span[NUMBER_TEXT];
    if (!r->window_span || worst <= 1.1 * facts->requested)
        return true;
    message_warn("the window of %s contained more keys than planned: %s new lines were mistaken "
                 "for repeats and dropped, at a false-positive rate of up to %s; give %sa larger "
                 "-n",
                 number_span(r->window_span / 1000, span),
                 state_dropped_text(facts->dropped, dropped), number_percent(worst, rate),
                 r->file ? "another --state file and " : "");
    return worst <= state_useless_rate;
}

const state_ops state_window_ops = {
    .size = sizeof(window_state),
    .records_rule = true,
    .open = open_window,
    .close = filter_state_close,
    .get_rule = filter_state_get_rule,
    .set_rule = filter_state_set_rule,
    .add_mark = add_mark,
    .add = add,
    .save = save,
    .get_facts = get_facts,
    .judge = judge,
};
