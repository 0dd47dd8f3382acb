/* seen_window.c - the window of `dedup --window`.
 *
 * Time is the system's, in milliseconds: a state goes on growing old between two runs. It is read
 * once for each batch of lines, and a stream that has been silent catches up when its next lines
 * come, before they are asked for. A clock that is set back stops the window until it has caught
 * up: lines are then remembered for too long, never too short.
 *
 * The rate that holds. The window errs when one of its generations does. The rate of one with x
 * keys is what bly_plan_fpr gives for a window of s x keys undone: 1 - (1 - p)^(1/(s+1)). By number
 * of lines, a generation has as many keys as different ones were among its lines: they are noted
 * when it is full. By time it is not known how full the older ones are,
 * so when a new one begins the bits tell; and whenever the one being filled has more keys than it
 * was made for, since then too many are in no count.
 */
#include "dedup/seen_window.h"

#include "filters/line_window.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const uint64_t spare = LINE_WINDOW_SPARE;
static const uint32_t slices = LINE_WINDOW_GENERATIONS;

bool seen_wish_windowed(const seen_wish *wish) {
    return wish->window_keys || wish->window_span;
}

static line_window window_of(const seen_wish *wish) {
    return (line_window){.lines = wish->window_keys,
                         .span = wish->window_span,
                         .keys = wish->keys,
                         .rate = wish->rate != 0 ? wish->rate : seen_default_rate};
}

bly_spec seen_window_spec(const seen_wish *wish) {
    const line_window window = window_of(wish);
    return line_window_spec(&window);
}

static uint64_t keys_of(const seen_wish *wish) {
    const line_window window = window_of(wish);
    return line_window_capacity(&window);
}

double seen_window_promise(const seen *s) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter_get_info(s->filter, &stats);
    bly_window_info w = {.struct_size = sizeof w};
    if (!s->timed || bly_window_get_info(s->filter, &w) != BLY_OK)
        return stats.requested_fpr;
    return line_window_part(stats.requested_fpr, w.generations);
}

/* ---- a state --------------------------------------------------------------------------------- */

/* What --window was, as it is written. */
static char *written(uint64_t span, uint64_t keys, char out[NUMBER_TEXT]) {
    return span ? number_span(span / 1000, out) : number_grouped(keys - spare, out);
}

static bool other_window(const seen *s, const bly_window_info *w, const seen_wish *wish) {
    char is[NUMBER_TEXT], asked[NUMBER_TEXT];
    const uint64_t keys = bly_filter_capacity(s->filter);
    if (w->span == wish->window_span && (w->span || keys == keys_of(wish)))
        return false;
    if (!w->span && keys == wish->window_keys)
        (void)message_error("%s: is a window of %s keys, and dedup keeps %u of them for its own "
                            "marks; give --window %s, or begin a new state",
                            s->state, number_grouped(keys, asked), (unsigned)spare,
                            number_grouped(keys - spare, is));
    else
        (void)message_error("%s: was made with --window %s, not %s; begin a new state", s->state,
                            written(w->span, keys, is),
                            written(wish->window_span, keys_of(wish), asked));
    return true;
}

/* The rate has been through two formulas. */
static bool other_promise(const seen *s, const seen_wish *wish) {
    const double rate = seen_window_promise(s);
    const uint64_t keys = bly_filter_capacity(s->filter) / slices;
    if (wish->rate != 0 && fabs(wish->rate - rate) > 1e-6 * rate)
        (void)message_error("%s: was made for a rate of %g, not %g; leave out -p, or begin a new "
                            "state",
                            s->state, rate, wish->rate);
    else if (wish->keys && wish->keys != keys)
        (void)message_error("%s: was made for %llu keys, not %llu; leave out -n, or begin a new "
                            "state",
                            s->state, (unsigned long long)keys, (unsigned long long)wish->keys);
    else
        return false;
    return true;
}

bool seen_window_fits(seen *s, const seen_wish *wish) {
    bly_window_info w = {.struct_size = sizeof w};
    char is[NUMBER_TEXT];
    const bool windowed = seen_wish_windowed(wish);
    const bool is_window = bly_window_get_info(s->filter, &w) == BLY_OK;
    const uint64_t keys = bly_filter_capacity(s->filter);
    if (!is_window && !windowed)
        return true;
    s->timed = is_window && w.span;
    if (!is_window)
        (void)message_error("%s: was made without --window, and forgets nothing; leave it out, or "
                            "begin a new state",
                            s->state);
    else if (s->timed ? w.generations != slices : keys <= spare)
        (void)message_error("%s: is a window, but not made by dedup; begin a new state", s->state);
    else if (!windowed)
        (void)message_error("%s: was made with --window %s; give it, or begin a new state",
                            s->state, written(w.span, keys, is));
    else
        return !other_window(s, &w, wish) && !other_promise(s, wish);
    return false;
}

/* ---- the clock ------------------------------------------------------------------------------- */

static uint64_t milliseconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void seen_tick(seen *s) {
    bly_window_info w = {.struct_size = sizeof w};
    char behind[NUMBER_TEXT];
    if (!s->timed)
        return;
    const uint64_t now = milliseconds();
    if (bly_window_advance(s->filter, now) == BLY_OK || s->clock_told ||
        bly_window_get_info(s->filter, &w) != BLY_OK)
        return;
    message_warn("the clock is %s behind what it was: until it has caught up nothing is forgotten",
                 number_time((double)(w.now - now) / 1000, behind));
    s->clock_told = true;
}

bool seen_window_begin(seen *s, const seen_wish *wish) {
    bly_window_info w = {.struct_size = sizeof w};
    if (bly_window_get_info(s->filter, &w) != BLY_OK)
        return !seen_wish_windowed(wish);
    s->window = true;
    s->timed = w.span != 0;
    seen_tick(s);
    return true;
}

/* ---- the mark -------------------------------------------------------------------------------- */

bool seen_window_mark(seen *s, bly_hash mark, bool *known) {
    uint64_t age = BLY_WINDOW_ABSENT;
    bly_window_info w = {.struct_size = sizeof w};
    bly_status status = bly_window_get_info(s->filter, &w);
    if (status == BLY_OK)
        status = bly_window_age_hash(s->filter, mark, &age);
    *known = age != BLY_WINDOW_ABSENT;
    const uint64_t half = (s->timed ? w.span : bly_filter_capacity(s->filter) - spare) / 2;
    if (status == BLY_OK && age > (half ? half : 1))
        status = bly_filter_add_hash(s->filter, mark, NULL);
    if (status != BLY_OK)
        (void)message_error("the window: %s", bly_strerror(status));
    return status == BLY_OK;
}

/* ---- the rate -------------------------------------------------------------------------------- */

/* Of one generation with so many keys. */
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

/* By number: brings s->full_keys up to date. What became full since the last time is told by the
 * counts: exactly if it is one generation, and spread evenly if it is several. */
static void follow_generations(seen *s, const bly_window_info *w) {
    const size_t full = (size_t)(w->ordinal < w->generations ? w->ordinal : w->generations);
    const uint64_t turns = s->asked == 0 ? w->ordinal : w->ordinal - s->slice;
    const size_t more = turns < full ? (size_t)turns : full;
    double keys = (double)(bly_filter_count(s->filter) - w->active_keys);
    memmove(s->full_keys + more, s->full_keys, (full - more) * sizeof *s->full_keys);
    for (size_t i = more; i < full; i++)
        keys -= s->full_keys[i];
    for (size_t i = 0; i < more; i++)
        s->full_keys[i] = fmax(0, keys) / (double)more;
    s->slice = w->ordinal;
}

/* Keys of the full generation with that number; of one that is forgotten by now, of the oldest. */
static double keys_of_full(const seen *s, const bly_window_info *w, uint64_t number) {
    const uint64_t age = w->ordinal - 1 - number;
    return s->full_keys[age < w->generations ? age : w->generations - 1];
}

/* By number: so many lines ago, when the generation `number` was being filled. A part of one has
 * keys in proportion to its lines. */
static double rate_by_number(seen *s, const bly_window_info *w, uint64_t ago) {
    const uint64_t lines = w->generation_keys;
    const uint64_t came = w->ordinal * lines + w->active_arrivals;
    const uint64_t then = came > ago ? came - ago : 0;
    const uint64_t number = then / lines < w->ordinal ? then / lines : w->ordinal;
    const double part = (double)(then - number * lines);
    double rate;
    follow_generations(s, w);
    if (number < w->ordinal)
        rate = rate_of_one(s->filter, w, keys_of_full(s, w, number) * part / (double)lines);
    else
        rate = rate_of_one(s->filter, w,
                           (double)w->active_keys * part / fmax(1, (double)w->active_arrivals));
    for (uint64_t i = 1; i <= w->generations && i <= number; i++)
        rate = either(rate, rate_of_one(s->filter, w, keys_of_full(s, w, number - i)));
    return rate;
}

static double rate_by_bits(const bly_filter *f) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter_get_info(f, &stats);
    return stats.current_fpr;
}

/* By time: of the older generations once in each slice. */
static double rate_by_time(seen *s, const bly_window_info *w, uint64_t ago) {
    const double active = rate_of_one(s->filter, w, (double)w->active_keys);
    if (s->asked == 0 || w->ordinal != s->slice) {
        const double all = rate_by_bits(s->filter);
        s->slice = w->ordinal;
        s->rate_asked = s->asked;
        s->older = active < 1 ? fmax(0, (all - active) / (1 - active)) : 1;
    }
    const uint64_t then = w->active_keys > ago ? w->active_keys - ago : 0;
    const double counted = either(s->older, rate_of_one(s->filter, w, (double)then));
    const bly_geometry g = bly_filter_geometry(s->filter);
    if (w->active_keys <= w->generation_keys)
        return counted;
    if (s->asked - s->rate_asked <= bly_plan_bytes(&g) / 64) /* not more often than it may cost */
        return fmax(counted, s->rate);
    s->rate_asked = s->asked;
    return rate_by_bits(s->filter);
}

double seen_window_rate(seen *s, uint64_t ago) {
    bly_window_info w = {.struct_size = sizeof w};
    if (bly_window_get_info(s->filter, &w) != BLY_OK)
        return 1;
    return s->timed ? rate_by_time(s, &w, ago) : rate_by_number(s, &w, ago);
}
