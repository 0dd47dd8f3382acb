/* Windows: the latest keys are always found, older keys are found only at the requested rate, and
 * no add does more than its share of the work. With BLOOMERY_LONG in the environment, streams have
 * ten million keys, and the slowest add is timed. */
#include "window_support.h"

#include <time.h>

/* ---- the guarantee ----------------------------------------------------------------------------
 */

static void one_stream(uint64_t keys, uint32_t s, double p, uint64_t n) {
    bly_filter *f = window(keys, p, s, 0, s);
    uint64_t quota = (keys + s - 1) / s, limit = (s + 1) * quota, rng = keys, fresh = 0;
    double old_hits = 0, old_expected = 0, old_asked = 0;
    for (uint64_t i = 0; i < n; i++) {
        fresh += add(f, key(s, i));
        uint64_t first = i + 1 > keys ? i + 1 - keys : 0;
        assert_true(bly_filter_contains_hash(f, key(s, i)));
        assert_true(bly_filter_contains_hash(f, key(s, first)));
        assert_true(bly_filter_contains_hash(f, key(s, first + blyt_next(&rng) % (i + 1 - first))));
        if (i % (n / 40) == n / 40 - 1) {
            assert_int_equal(count_found(f, s, first, i + 1), i + 1 - first);
            if (i < limit)
                continue;
            /* These keys are too old: some just, others by far. */
            uint64_t from = i + 1 > limit + 5000 ? i + 1 - limit - 5000 : 0, to = i + 1 - limit;
            bly_filter_info now = stats_of(f);
            old_hits += (double)count_found(f, s, from, to);
            old_expected += (double)(to - from) * now.current_fpr;
            old_asked += (double)(to - from) * p;
            assert_true(now.count > s * quota && now.count <= limit + 1);
            assert_true(keys < 1000 || fabs(now.estimated_keys / (double)now.count - 1) < 0.05);
        }
    }
    assert_near_rate((uint64_t)old_hits, old_expected / p, p);
    assert_true(old_hits <= old_asked + 5 * sqrt(old_asked) + 4);
    /* The rate must not be much lower than requested either, because a window is nearly full most
     * of the time, unless it has only one or two lines. */
    assert_true(keys < 1000 || old_hits >= old_asked / 2 - 5 * sqrt(old_asked));
    assert_true((double)fresh > (double)n * (1 - p) - 5 * sqrt((double)n * p) - 4);
    assert_sound(f);
    bly_filter_destroy(f);
}

static void the_latest_are_there(void **state) {
    static const uint32_t generations[] = {1, 2, 3, 8, 9, 10, 16, 32};
    uint64_t n = 300000 / BLYT_SLOW;
    (void)state;
    /* Each number of generations in one form, large (3001 keys) or small (701 keys); in
     * kinds_window_large in both. */
    for (size_t i = 0; i < COUNT_OF(generations); i++) {
        if (blyt_large() || i % 2 == 0 || generations[i] == 8)
            one_stream(3001, generations[i], 0.01, n / (generations[i] == 8 ? 1 : 4));
        if (blyt_large() || i % 2 == 1)
            one_stream(701, generations[i], 0.01, n / 8);
    }
    one_stream(1000, 8, 0.0005, n / 4);
    one_stream(3000, 8, 0.0005, n / 4);
    one_stream(1, 8, 0.01, n / 20);
    one_stream(7, 3, 0.2, n / 20);
    if (blyt_long())
        one_stream(1000000, 8, 0.01, 10000000);
}

/* In this stream of many repeats, keys return after any time, many of them immediately. */
static void repeats_refresh(void **state) {
    enum { KEYS = 2000, UNIVERSE = 6000 };
    const uint64_t n = 200000 / BLYT_SLOW;
    bly_filter *f = window(KEYS, 0.001, 8, 0, 7);
    uint64_t *log = calloc(n, sizeof *log), rng = 3, known = 0, again = 0;
    (void)state;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = blyt_next(&rng);
        bool at_once = i > 0 && blyt_next(&rng) % 4 == 0;
        log[i] = r % 3 ? blyt_next(&rng) % UNIVERSE : blyt_next(&rng) % 50;
        if (at_once)
            log[i] = log[i - 1];
        bool before = bly_filter_contains_hash(f, key(1, log[i]));
        assert_int_equal(add(f, key(1, log[i])), !before);
        known += before;
        again += at_once && before;
        uint64_t first = i + 1 > KEYS ? i + 1 - KEYS : 0;
        assert_true(bly_filter_contains_hash(f, key(1, log[first])));
        for (uint64_t j = first; i % 5000 == 0 && j <= i; j++)
            assert_true(bly_filter_contains_hash(f, key(1, log[j])));
    }
    assert_true(known > n / 4 && again > n / 5);
    assert_sound(f);
    free(log);
    bly_filter_destroy(f);
}

/* A window and the keys to look up. The windows have from a few to many parts, and more or fewer of
 * the keys are members. */
typedef struct batch_case {
    uint32_t s;
    double p;
    uint64_t keys, universe;
} batch_case;

/* Asserts that a batch of all keys, with and without an array for the answers, agrees with single
 * lookups. */
static void compare_questions(const bly_filter *a, const bly_filter *b, const blyt_list *l) {
    uint8_t *found = malloc(l->n + 1);
    size_t hits = 0, sum = bly_filter_contains_many(b, l->keys, l->n, found);
    for (size_t i = 0; i < l->n; i++) {
        bool one = bly_filter_contains(a, l->keys[i].data, l->keys[i].size);
        assert_int_equal(one, found[i]);
        hits += one;
    }
    assert_true(sum == hits && bly_filter_contains_many(b, l->keys, l->n, NULL) == hits);
    free(found);
}

static void compare_adds(bly_filter *a, bly_filter *b, const blyt_list *l) {
    uint8_t *added = malloc(l->n + 1);
    bly_batch_result tally;
    size_t fresh = 0;
    assert_ok(bly_filter_add_many(b, l->keys, l->n, added, &tally));
    for (size_t i = 0; i < l->n; i++) {
        bool one;
        assert_ok(bly_filter_add(a, l->keys[i].data, l->keys[i].size, &one));
        assert_int_equal(one, added[i]);
        fresh += one;
    }
    assert_true(tally.done == l->n && tally.changed == fresh && bly_filter_equal(a, b));
    free(added);
}

/* Batches in whose middle the window turns have the same effect as single calls, byte for byte. */
static void batches_are_single_calls(void **state) {
    static const batch_case cases[] = {
        {8, 0.02, 70, 2000},   {3, 0.02, 70, 2000},   {12, 0.02, 70, 2000},  {8, 0.9, 70, 2000},
        {8, 0.3, 300, 500},    {8, 0.01, 1000, 1500}, {8, 0.001, 1000, 500}, {8, 1e-9, 300, 400},
        {30, 1e-6, 90, 200},   {1, 0.01, 2000, 3000}, {8, 0.9, 40000, 9000}, {8, 0.3, 9000, 9000},
        {8, 0.01, 3000, 4000}, {8, 1e-9, 1000, 900},  {30, 1e-6, 400, 500},
    };
    uint64_t parts = 0;
    (void)state;
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        const batch_case *k = &cases[c];
        bly_filter *a = window(k->keys, k->p, k->s, 0, 0), *b = window(k->keys, k->p, k->s, 0, 0);
        uint64_t rng = 11, most = k->keys < 100 ? 90 : 700;
        if (!blyi_window_is_small(&a->geometry))
            parts |= (uint64_t)1 << blyi_window_parts(&a->geometry);
        for (int turn = 0; turn < (blyt_large() ? 300 : 120) / BLYT_SLOW; turn++) {
            uint64_t first = blyt_next(&rng) % k->universe, n = blyt_next(&rng) % most;
            blyt_list l = blyt_list_of(KEYS_RANDOM, first, n);
            compare_adds(a, b, &l);
            blyt_list_free(&l);
            l = blyt_list_of(KEYS_RANDOM, blyt_next(&rng) % k->universe, blyt_next(&rng) % most);
            compare_questions(a, b, &l);
            blyt_list_free(&l);
        }
        assert_int_equal(bly_filter_count(a), bly_filter_count(b));
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
    /* There were windows with fewer parts than are prefetched at a time, with as many, with one
     * more, and with many more. */
    assert_true(parts & 2 && parts & 4 && parts & 8 && parts >> 6);
}

/* ---- rate and space ----------------------------------------------------------------------------
 */

static void rates(void **state) {
    static const double asked[] = {0.01, 0.001, 0.0001};
    static const uint32_t others[] = {1, 4, 9, 10, 16, 32};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        rate_when_full(1000, asked[i], 8, 60 / (BLYT_SLOW > 1 ? 3 : 1));
        rate_when_full(100000, asked[i], 8, BLYT_SLOW > 1 ? 1 : 3);
        if (blyt_long())
            rate_when_full(10000000, asked[i], 8, 1);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        rate_when_full(2000, 0.01, others[i], 30 / (BLYT_SLOW > 1 ? 3 : 1));
}

static void bits_per_key(void **state) {
    static const struct { double p, bits; } table[] = {{0.01, 17.2}, {0.001, 24.4}, {0.0001, 33}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        for (uint64_t keys = 100000; keys <= 10000000; keys *= 100) {
            bly_geometry g;
            assert_ok(bly_plan(BLY_WINDOW, keys, table[i].p, 0, 64, &g));
            assert_true((double)bly_plan_bits(&g) / (double)keys <= 1.02 * table[i].bits);
            g.size--; /* one line less must not be enough */
            assert_true(bly_plan_fpr(&g, keys, 64) > table[i].p);
        }
}

/* ---- work --------------------------------------------------------------------------------------
 */

/* Returns the number of lines that were cleared since the last call: those whose mark has
 * changed. */
static uint64_t lines_cleaned(const bly_filter *f, uint8_t *marks) {
    uint64_t changed = 0;
    const uint8_t *line = blyi_window_first_line(f);
    for (uint64_t i = 0; i < blyi_window_lines(&f->geometry); i++, line += 64) {
        changed += marks[i] != line[63] >> 7;
        marks[i] = line[63] >> 7;
    }
    return changed;
}

/* An add clears at most the lines of its own key and its share of the others, and when a generation
 * is full, all lines are cleared. This also holds if each key is added several times, or if only
 * one key is. */
static void no_add_does_more_than_its_share(void **state) {
    static const uint32_t generations[] = {8, 2, 20, 8, 8};
    static const uint64_t times[] = {1, 1, 1, 5, UINT64_MAX};
    (void)state;
    for (size_t c = 0; c < COUNT_OF(generations); c++) {
        bly_filter *f = window(2500, 0.001, generations[c], 0, 0);
        uint64_t lines = blyi_window_lines(&f->geometry);
        uint64_t most = blyi_window_parts(&f->geometry) + blyi_window_get_field(f, BLYI_WIN_STEP);
        uint8_t *marks = calloc(lines, 1);
        uint64_t ordinal = 0, turns = 0, cleaned = 0;
        for (uint64_t i = 0; i < 20000; i++) {
            bool swept = blyi_window_get_field(f, BLYI_WIN_CURSOR) == lines;
            (void)add(f, key(5, i / times[c]));
            uint64_t now = lines_cleaned(f, marks);
            cleaned += now;
            assert_true(now <= most);
            if (info_of(f).ordinal == ordinal)
                continue;
            assert_true(swept);
            ordinal = info_of(f).ordinal;
            turns++;
        }
        assert_true(turns > 5 && cleaned >= (turns - 1) * lines && cleaned <= turns * lines);
        free(marks);
        bly_filter_destroy(f);
    }
}

static uint64_t nanoseconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Repeats the same adds several times and takes the shortest time of each add, so that long times
 * are caused by the window, and not by the machine. */
static void no_add_takes_long(void **state) {
    enum { N = 400000, REPEATS = 9 };
    bly_filter *full = window(1000000, 0.01, 8, 0, 0);
    uint32_t *best = malloc(N * sizeof *best);
    (void)state;
    for (uint64_t i = 0; i < 1250000; i++)
        (void)add(full, key(6, i));
    memset(best, 0xff, N * sizeof *best);
    uint64_t turn = info_of(full).ordinal;
    for (int r = 0; r < REPEATS; r++) {
        bly_filter *f = NULL;
        assert_ok(bly_filter_clone(full, NULL, &f));
        for (uint64_t i = 0; i < N; i++) {
            bly_hash h = key(6, 1250000 + i);
            uint64_t before = nanoseconds();
            assert_ok(bly_filter_add_hash(f, h, NULL));
            uint64_t took = nanoseconds() - before;
            best[i] = took < best[i] ? (uint32_t)took : best[i];
        }
        assert_true(info_of(f).ordinal >= turn + 3);
        bly_filter_destroy(f);
    }
    qsort(best, N, sizeof *best, by_size);
    print_message("           an add takes %u ns (median), %u (99.99%%), %u at most\n", best[N / 2],
                  best[N - N / 10000], best[N - 1]);
    assert_true(best[N - 1] <= 100 * best[N / 2]);
    free(best);
    bly_filter_destroy(full);
}

/* ---- time --------------------------------------------------------------------------------------
 */

typedef struct event {
    uint64_t at, key;
} event;

/* Returns how far the clock moves at the next step of a test. */
static uint64_t clock_step(int style, uint64_t *rng, uint64_t span) {
    uint64_t r = blyt_next(rng);
    if (style == 0)
        return r % 3;
    if (style == 1) /* bursts, and gaps of up to twice the span */
        return r % 200 ? 0 : blyt_next(rng) % (2 * span);
    return r % 50 ? r % 4 : r % 7 * span / 3;
}

static void one_timed_stream(int style, uint64_t span, uint32_t s, uint64_t n) {
    bly_filter *f = window(3000, 0.005, s, span, 1);
    event *log = calloc(n, sizeof *log);
    uint64_t rng = span, now = 1700000000, slice = info_of(f).slice, first = 0, old = 0;
    double found = 0, expected = 0;
    assert_int_equal(slice, (span + s - 1) / s);
    for (uint64_t i = 0; i < n; i++) {
        now += clock_step(style, &rng, span);
        assert_ok(bly_window_advance(f, now));
        log[i] = (event){now, i % 3 ? i : blyt_next(&rng) % (i + 1)};
        (void)add(f, key(2, log[i].key));
        while (now - log[first].at > span)
            first++;
        while (now - log[old].at > (s + 1) * slice)
            old++;
        assert_true(bly_filter_contains_hash(f, key(2, log[first].key)));
        for (uint64_t j = first; i % 1009 == 0 && j <= i; j++)
            assert_true(bly_filter_contains_hash(f, key(2, log[j].key)));
        if (i % 1009 == 0) {
            double rate = stats_of(f).current_fpr;
            found += (double)count_found(f, 3, i, i + 2000);
            expected += 2000 * rate;
        }
    }
    assert_near_rate((uint64_t)found, expected / 0.5, 0.5);
    /* Keys that are too old, and were not added again, are absent, except for false positives. */
    uint64_t gone = 0, still = 0;
    for (uint64_t j = 0; j < old; j++) {
        bool again = false;
        for (uint64_t l = old; l < n && !again; l++)
            again = log[l].key == log[j].key;
        gone += !again;
        still += !again && bly_filter_contains_hash(f, key(2, log[j].key));
        j += old / 500;
    }
    double rate = stats_of(f).current_fpr;
    assert_true(gone == 0 ||
                (double)still <= (double)gone * rate + 5 * sqrt((double)gone * rate) + 4);
    assert_sound(f);
    free(log);
    bly_filter_destroy(f);
}

static void timed_windows(void **state) {
    (void)state;
    for (int style = 0; style < 3; style++) {
        one_timed_stream(style, 1000, 8, 30000 / BLYT_SLOW);
        one_timed_stream(style, 3601, 5, 30000 / BLYT_SLOW);
        one_timed_stream(style, 7, 10, 20000 / BLYT_SLOW);
    }
}

/* With more keys than expected, no key is lost, and the reported rate is the real one. */
static void a_burst_costs_rate_not_keys(void **state) {
    enum { BURST = 1000 }; /* 250 are expected in a slice */
    bly_filter *f = window(2000, 0.001, 8, 800, 0);
    (void)state;
    assert_ok(bly_window_advance(f, 10000));
    assert_true(add(f, key(1, 0)));
    for (uint64_t i = 0; i < BURST; i++)
        (void)add(f, key(1, i));
    assert_int_equal(count_found(f, 1, 0, BURST), BURST);
    bly_filter_info s = stats_of(f);
    assert_true(s.current_fpr > 0.005 && s.current_fpr < 1);
    assert_true(fabs(s.expected_fpr / s.current_fpr - 1) < 0.05);
    assert_near_rate(count_found(f, 9, 0, 100000), 100000, s.current_fpr);
    for (uint64_t t = 10000; t <= 10800; t += 50) {
        assert_ok(bly_window_advance(f, t));
        assert_int_equal(count_found(f, 1, 0, BURST), BURST);
    }
    assert_ok(bly_window_advance(f, 10000 + 899));
    assert_int_equal(count_found(f, 1, 0, BURST), BURST);
    assert_ok(bly_window_advance(f, 10000 + 900));
    assert_true(count_found(f, 1, 0, BURST) == 0 && bly_filter_count(f) == 0);
    assert_true(stats_of(f).current_fpr == 0 && stats_of(f).estimated_keys == 0);
    bly_filter_destroy(f);
}

static void the_clock(void **state) {
    bly_filter *f = window(100, 0.01, 4, 400, 0), *copy = NULL, *plain = NULL;
    uint64_t age;
    (void)state;
    /* Keys that are added before the clock is first set have the age 0 when it is set. */
    for (uint64_t i = 0; i < 50; i++)
        (void)add(f, key(1, i));
    assert_ok(bly_window_age_hash(f, key(1, 0), &age));
    assert_int_equal(age, 0);
    assert_sound(f);
    assert_ok(bly_window_advance(f, UINT64_MAX - 1000));
    assert_int_equal(count_found(f, 1, 0, 50), 50);
    assert_ok(bly_window_advance(f, UINT64_MAX - 1000 + 400));
    assert_int_equal(count_found(f, 1, 0, 50), 50);
    assert_sound(f);
    /* The clock cannot be set back, and the attempt changes nothing. */
    assert_ok(bly_filter_clone(f, NULL, &copy));
    assert_int_equal(bly_window_advance(f, UINT64_MAX - 1000 + 399), BLY_EINVAL);
    assert_true(bly_filter_equal(f, copy));
    assert_ok(bly_window_advance(f, UINT64_MAX));
    assert_int_equal(bly_filter_count(f), 0);
    assert_int_equal(info_of(f).now, UINT64_MAX);
    /* Clearing does not change the clock. */
    (void)add(f, key(1, 1));
    bly_filter_clear(f);
    assert_true(info_of(f).now == UINT64_MAX && info_of(f).span == 400 && bly_filter_count(f) == 0);
    assert_false(bly_filter_contains_hash(f, key(1, 1)));
    assert_sound(f);
    bly_filter_destroy(f);
    /* Windows by number of keys, and other kinds, have no clock. */
    f = window(100, 0.01, 4, 0, 0);
    assert_int_equal(bly_window_advance(f, 1), BLY_EUNSUPPORTED);
    assert_ok(blyt_new(BLY_CLASSIC, 10, 0.1, &plain));
    bly_window_info info = {.struct_size = sizeof info};
    assert_int_equal(bly_window_advance(plain, 1), BLY_EKIND);
    assert_int_equal(bly_window_get_info(plain, &info), BLY_EKIND);
    assert_int_equal(bly_window_age(plain, "x", 1, &age), BLY_EKIND);
    assert_int_equal(bly_window_age_hash(plain, key(1, 1), &age), BLY_EKIND);
    bly_filter_destroy(plain);
    bly_filter_destroy(copy);
    bly_filter_destroy(f);
}

/* Frequent calls share the work of clearing lines. After a long idle time there is little work,
 * too. */
static void advancing_is_spread(void **state) {
    bly_filter *f = window(20000, 0.01, 8, 8000, 0);
    uint64_t lines = blyi_window_lines(&f->geometry), worst = 0, cleaned = 0;
    uint8_t *marks = calloc(lines, 1);
    (void)state;
    for (uint64_t now = 0; now < 40000; now++) {
        assert_ok(bly_window_advance(f, now));
        uint64_t work = lines_cleaned(f, marks);
        worst = work > worst ? work : worst;
        cleaned += work;
        if (now % 7 == 0) /* a third of the expected keys */
            (void)add(f, key(1, now));
        (void)lines_cleaned(f, marks);
    }
    assert_true(worst <= lines / 1000 + 2 && cleaned > lines);
    assert_ok(bly_window_advance(f, 1000000));
    assert_true(lines_cleaned(f, marks) <= lines && bly_filter_count(f) == 0);
    for (uint64_t now = 1000000; now < 100000000; now += 999999) {
        assert_ok(bly_window_advance(f, now));
        assert_true(lines_cleaned(f, marks) <= lines); /* at first the remaining lines, then none */
    }
    assert_int_equal(info_of(f).active_keys, 0);
    assert_sound(f);
    free(marks);
    bly_filter_destroy(f);
}

/* ---- age ---------------------------------------------------------------------------------------
 */

static void ages(void **state) {
    enum { KEYS = 4000, N = 12345 };
    bly_filter *f = window(KEYS, 0.01, 8, 0, 0);
    uint64_t quota = info_of(f).generation_keys, younger = 0, age;
    (void)state;
    for (uint64_t i = 0; i < N; i++)
        (void)add(f, key(1, i));
    for (uint64_t back = 1; back <= KEYS; back++) {
        assert_ok(bly_window_age_hash(f, key(1, N - back), &age));
        assert_true(age <= back + quota - 1);
        younger += age < back;
    }
    assert_true((double)younger <= KEYS * 0.01 + 5 * sqrt(KEYS * 0.01));
    uint64_t absent = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        assert_ok(bly_window_age_hash(f, key(2, i), &age));
        assert_int_equal(age == BLY_WINDOW_ABSENT, !bly_filter_contains_hash(f, key(2, i)));
        absent += age == BLY_WINDOW_ABSENT;
    }
    assert_true(absent > 950);
    /* Adding a key again resets its age. */
    (void)add(f, key(1, N - KEYS));
    assert_ok(bly_window_age_hash(f, key(1, N - KEYS), &age));
    assert_true(age >= 1 && age <= quota);
    bly_filter_destroy(f);

    f = window(KEYS, 0.01, 8, 1600, 0);
    younger = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        assert_ok(bly_window_advance(f, 5000 + i));
        (void)add(f, key(1, i));
    }
    for (uint64_t back = 0; back <= 1600; back++) {
        assert_ok(bly_window_age_hash(f, key(1, 2999 - back), &age));
        assert_true(age < back + 200);
        younger += age < back;
    }
    assert_true(younger <= 16 + 20);
    assert_ok(bly_filter_add(f, "a key", 5, NULL));
    assert_ok(bly_window_age(f, "a key", 5, &age));
    assert_true(age < 200);
    bly_filter_destroy(f);
}

/* At the end of time, the age of a member still differs from that of a non-member. */
static void ages_at_the_end_of_time(void **state) {
    bly_filter *f = window(100, 0.01, 1, UINT64_MAX - 2, 0);
    uint64_t age;
    (void)state;
    assert_ok(bly_window_advance(f, 0));
    (void)add(f, key(1, 1));
    assert_ok(bly_window_advance(f, UINT64_MAX - 3));
    assert_ok(bly_window_age_hash(f, key(1, 1), &age));
    assert_true(age != BLY_WINDOW_ABSENT);
    (void)add(f, key(1, 2));
    assert_ok(bly_window_advance(f, UINT64_MAX));
    assert_ok(bly_window_age_hash(f, key(1, 2), &age));
    assert_int_equal(age == BLY_WINDOW_ABSENT, !bly_filter_contains_hash(f, key(1, 2)));
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_are_there),
        cmocka_unit_test(repeats_refresh),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(rates),
        cmocka_unit_test(bits_per_key),
        cmocka_unit_test(no_add_does_more_than_its_share),
        cmocka_unit_test(timed_windows),
        cmocka_unit_test(a_burst_costs_rate_not_keys),
        cmocka_unit_test(the_clock),
        cmocka_unit_test(advancing_is_spread),
        cmocka_unit_test(ages),
        cmocka_unit_test(ages_at_the_end_of_time),
    };
    const struct CMUnitTest timing[] = {cmocka_unit_test(no_add_takes_long)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (blyt_long())
        failed += cmocka_run_group_tests(timing, NULL, NULL);
    return failed;
}
