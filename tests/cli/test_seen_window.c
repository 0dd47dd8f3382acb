/* test_seen_window.c - dedup's window by time, under a clock that the test sets: within the window
 * a key is always known, a slice after it never; over silence, over runs, and when the clock goes
 * back.
 */
#include "store_support.h"

#include "dedup/seen.h"
#include "dedup/seen_window.h"

#include <time.h>

static uint64_t now; /* milliseconds */

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t) {
    if (id != CLOCK_REALTIME)
        return __real_clock_gettime(id, t);
    *t = (struct timespec){(time_t)(now / 1000), (long)(now % 1000) * 1000000};
    return 0;
}

enum { SPAN = 60000, SLICE = SPAN / 4, KEYS = 2000 };

static const seen_wish minute = {
    .window_span = SPAN, .keys = KEYS, .rate = 1e-9, .seed = 1, .rule = "a rule"};

static seen *open_seen(const seen_wish *wish) {
    seen *s = malloc(sizeof *s);
    assert_non_null(s);
    assert_true(seen_open(s, wish));
    return s;
}

static void close_seen(seen *s) {
    seen_close(s);
    free(s);
}

/* Whether the key is new at that time. */
static bool fresh_at(seen *s, uint64_t time, unsigned key) {
    char text[16];
    uint8_t fresh = 2;
    const int size = snprintf(text, sizeof text, "%u", key);
    now = time;
    seen_tick(s);
    assert_true(seen_keys(s, &(bly_bytes){text, (size_t)size}, 1, &fresh));
    assert_true(fresh <= 1);
    return fresh;
}

/* ---- how long a key is known ------------------------------------------------------------------
 */

/* From many moments of a slice, and with many or few others between. */
static void test_edges(void **state) {
    (void)state;
    seen *s = open_seen(&minute);
    uint64_t time = UINT64_C(1700000000000);
    unsigned other = 1000000;
    for (unsigned i = 0; i < 200; i++, time += 3 * SPAN + 977 * i) {
        assert_true(fresh_at(s, time, i));
        for (unsigned step = 1; i % 2 && step < 20; step++)
            assert_true(fresh_at(s, time + step * SPAN / 20, other++));
        assert_false(fresh_at(s, time + SPAN, i)); /* and is seen again */
        assert_false(fresh_at(s, time + 2 * SPAN, i));
        assert_true(fresh_at(s, time + 3 * SPAN + SLICE + 1, i));
        time += SPAN;
    }
    close_seen(s);
}

/* A clock that stands still, runs on, or goes back by a little or a lot. */
static void test_clock_back(void **state) {
    (void)state;
    const uint64_t begin = UINT64_C(1700000000000);
    now = begin;
    seen *s = open_seen(&minute);
    assert_true(fresh_at(s, begin, 1));
    assert_false(s->clock_told);
    assert_false(fresh_at(s, begin - 1000000, 1));
    assert_true(s->clock_told);
    assert_true(fresh_at(s, begin - 900000, 2));
    assert_false(fresh_at(s, begin + SPAN, 2)); /* kept too long rather than too short */
    assert_true(fresh_at(s, begin + 3 * SPAN, 1));
    close_seen(s);
}

/* ---- a state -----------------------------------------------------------------------------------
 */

static seen_wish kept(void) {
    seen_wish wish = minute;
    wish.state = at("state");
    return wish;
}

static void test_runs(void **state) {
    (void)state;
    const seen_wish wish = kept();
    const uint64_t begin = UINT64_C(1700000000000);
    bool known = false;
    for (unsigned run = 0; run < 40; run++) {
        now = begin + run * (SPAN / 3);
        seen *s = open_seen(&wish);
        /* The mark is there as long as anything is, however many runs there have been. */
        assert_true(seen_window_mark(s, s->mark, &known) && known);
        assert_true(fresh_at(s, now, run));
        assert_true(run < 3 || !fresh_at(s, now, run - 3)); /* a minute ago */
        assert_true(run < 8 || fresh_at(s, now, 10000 + run));
        assert_true(seen_save(s));
        close_seen(s);
    }
    now += 2 * SPAN;
    seen *s = open_seen(&wish);
    assert_true(fresh_at(s, now, 39));
    close_seen(s);
}

/* ---- the rate ----------------------------------------------------------------------------------
 */

/* All keys at once are no more often wrong than was asked; twice as many are, and it is known. */
static void test_bursts(void **state) {
    (void)state;
    seen_wish wish = minute;
    wish.keys = 20000;
    wish.rate = 0.01;
    now = UINT64_C(1700000000000);
    seen *s = open_seen(&wish);
    unsigned lost = 0, key = 0;
    for (; key < 20000; key++)
        lost += !fresh_at(s, now, key);
    assert_true(s->worst <= 0.0101 && s->worst > 0.009);
    assert_true(fabs(lost - s->expected) < 5 * sqrt(s->expected + 1));
    assert_true(fabs(seen_rate_promised(s) - 0.01) < 1e-9);
    for (; key < 40000; key++)
        lost += !fresh_at(s, now, key);
    assert_true(s->worst > 0.05);
    assert_true(fabs(lost - s->expected) < 5 * sqrt(s->expected) + 0.05 * s->expected);
    now += 3 * SPAN;
    seen_tick(s);
    assert_true(seen_rate_now(s) < 1e-9);
    close_seen(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_clock_back),
        IN_SCRATCH(test_runs),
        cmocka_unit_test(test_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
