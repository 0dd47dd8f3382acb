/* test_dedup_window.c - dedup's window by time, under a clock that the test sets. Within the window
 * a key is always known; one generation later it is forgotten. This holds after a pause, across
 * runs, and when the clock is set back. */
#include "store_support.h"

#include "dedup/state_filter.h"

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

static const state_request minute = {
    .window_span = SPAN, .keys = KEYS, .rate = 1e-9, .seed = 1, .rule = "a rule"};

static dedup_state *opened(const state_request *request) {
    dedup_state *s = state_open(request);
    assert_non_null(s);
    return s;
}

static state_facts facts_of(dedup_state *s) {
    state_facts facts;
    state_get_facts(s, &facts);
    return facts;
}

/* Whether an add of the key at that time reports it as new. */
static bool fresh_at(dedup_state *s, uint64_t time, unsigned key) {
    char text[16];
    uint8_t fresh = 2;
    const int size = snprintf(text, sizeof text, "%u", key);
    now = time;
    assert_true(state_add(s, &(bly_bytes){text, (size_t)size}, 1, &fresh));
    assert_true(fresh <= 1);
    return fresh;
}

/* ---- how long a key is known ----------------------------------------------------------------- */

/* Adds keys at many moments of a generation, in half of the cases with other keys in between. */
static void test_edges(void **state) {
    (void)state;
    dedup_state *s = opened(&minute);
    uint64_t time = UINT64_C(1700000000000);
    unsigned other = 1000000;
    for (unsigned i = 0; i < 200; i++, time += 3 * SPAN + 977 * i) {
        assert_true(fresh_at(s, time, i));
        for (unsigned step = 1; i % 2 && step < 20; step++)
            assert_true(fresh_at(s, time + step * SPAN / 20, other++));
        assert_false(fresh_at(s, time + SPAN, i)); /* this lookup renews the key */
        assert_false(fresh_at(s, time + 2 * SPAN, i));
        assert_true(fresh_at(s, time + 3 * SPAN + SLICE + 1, i));
        time += SPAN;
    }
    state_close(s);
}

/* The clock stands still, advances, or is set back by a little or a lot. */
static void test_clock_back(void **state) {
    (void)state;
    const uint64_t begin = UINT64_C(1700000000000);
    now = begin;
    dedup_state *s = opened(&minute);
    assert_true(fresh_at(s, begin, 1));
    assert_false(fresh_at(s, begin - 1000000, 1));
    assert_true(fresh_at(s, begin - 900000, 2));
    /* A key may be remembered for too long, but never too briefly. */
    assert_false(fresh_at(s, begin + SPAN, 2));
    assert_true(fresh_at(s, begin + 3 * SPAN, 1));
    state_close(s);
}

/* ---- a state --------------------------------------------------------------------------------- */

static state_request kept(void) {
    state_request request = minute;
    request.file = at("state");
    return request;
}

static void test_runs(void **state) {
    (void)state;
    const state_request request = kept();
    const uint64_t begin = UINT64_C(1700000000000);
    char text[RULE_MARK];
    const bly_bytes mark = {text, rule_mark_text("dedup", request.rule, text)};
    bool known = false;
    for (unsigned run = 0; run < 40; run++) {
        now = begin + run * (SPAN / 3);
        dedup_state *s = opened(&request);
        /* The mark of the key rule is never forgotten, however many runs there have been. */
        assert_true(s->ops->add_mark(s, mark, &known) && known);
        assert_true(fresh_at(s, now, run));
        assert_true(run < 3 || !fresh_at(s, now, run - 3)); /* added a minute ago */
        assert_true(run < 8 || fresh_at(s, now, 10000 + run));
        assert_true(state_save(s));
        state_close(s);
    }
    now += 2 * SPAN;
    dedup_state *s = opened(&request);
    assert_true(fresh_at(s, now, 39));
    state_close(s);
}

/* ---- the rate -------------------------------------------------------------------------------- */

/* If all keys of a window come at once, the false-positive rate does not exceed the requested rate.
 * With twice as many keys it does, and the state reports that. */
static void test_bursts(void **state) {
    (void)state;
    state_request request = minute;
    request.keys = 20000;
    request.rate = 0.01;
    now = UINT64_C(1700000000000);
    dedup_state *s = opened(&request);
    const filter_state *f = (const filter_state *)s;
    unsigned dropped = 0, key = 0;
    for (; key < 20000; key++)
        dropped += !fresh_at(s, now, key);
    assert_true(f->worst <= 0.0101 && f->worst > 0.009);
    assert_true(fabs(dropped - f->expected) < 5 * sqrt(f->expected + 1));
    assert_true(fabs(facts_of(s).requested - 0.01) < 1e-9);
    for (; key < 40000; key++)
        dropped += !fresh_at(s, now, key);
    assert_true(f->worst > 0.05);
    assert_true(fabs(dropped - f->expected) < 5 * sqrt(f->expected) + 0.05 * f->expected);
    now += 3 * SPAN;
    assert_true(state_add(s, NULL, 0, NULL)); /* reads the clock */
    assert_true(facts_of(s).rate < 1e-9);
    state_close(s);
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
