/* The bytes of windows: saved during a sweep, mapped, damaged, united, and assembled by hand. */
#include "window_support.h"

#include <unistd.h>

/* ---- bytes -------------------------------------------------------------------------------------
 */

static bly_filter *through_bytes(const bly_filter *f) {
    blyt_buffer b = blyt_write(f);
    bly_filter *out = NULL;
    assert_ok(bly_filter_parse(b.data, b.size, NULL, &out));
    free(b.data);
    return out;
}

/* A window that was saved and loaded at any time, also in the middle of a sweep, behaves like the
 * original. */
static void files_go_on(void **state) {
    (void)state;
    for (int form = 0; form < 4; form++) {
        int timed = form % 2, small = form / 2;
        bly_filter *a = any_window(small, 900, 8, timed ? 5000 : 0), *b;
        bool in_the_middle = false;
        for (uint64_t i = 0; i < 6000; i++) {
            if (timed)
                assert_ok(bly_window_advance(a, 7 * i));
            (void)add(a, key(1, i));
            if (i % 37 != 36)
                continue;
            uint64_t cursor = blyi_window_get_field(a, BLYI_WIN_CURSOR);
            in_the_middle |= cursor > 0 && cursor < blyi_window_lines(&a->geometry);
            b = through_bytes(a);
            assert_true(bly_filter_equal(a, b) && bly_filter_count(a) == bly_filter_count(b));
            for (uint64_t j = i + 1; j < i + 150; j++) {
                if (timed)
                    assert_ok(bly_window_advance(a, 7 * j));
                if (timed)
                    assert_ok(bly_window_advance(b, 7 * j));
                assert_int_equal(add(a, key(1, j)), add(b, key(1, j)));
            }
            i += 149;
            assert_true(bly_filter_equal(a, b) && bly_filter_count(a) == bly_filter_count(b));
            bly_filter_destroy(b);
        }
        assert_true(small || in_the_middle);
        bly_filter_destroy(a);
    }
}

static void map_answers(bool small) {
    char path[] = "/tmp/bloomery-window-XXXXXX";
    int fd = mkstemp(path);
    bly_filter *f = any_window(small, small ? 1000 : 2000, 8, 900);
    bly_map *map = NULL;
    assert_true(fd >= 0);
    for (uint64_t i = 0; i < 3000; i++) {
        assert_ok(bly_window_advance(f, i));
        (void)add(f, key(1, i));
    }
    assert_ok(bly_filter_save(f, path));
    assert_ok(bly_map_open(path, NULL, &map));
    const bly_filter *m = bly_map_filter(map);
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t a, b;
        assert_int_equal(bly_filter_contains_hash(f, key(1, i)),
                         bly_filter_contains_hash(m, key(1, i)));
        assert_ok(bly_window_age_hash(f, key(1, i), &a));
        assert_ok(bly_window_age_hash(m, key(1, i), &b));
        assert_true(a == b);
    }
    assert_true(stats_of(f).current_fpr == stats_of(m).current_fpr && info_of(m).now == 2999);
    bly_map_close(map);
    bly_filter_destroy(f);
    (void)close(fd);
    assert_int_equal(unlink(path), 0);
}

static void maps_answer(void **state) {
    (void)state;
    map_answers(false);
    map_answers(true);
}

/* Whether a word of the heading, the first part of a window's body, may be changed from `old` to
 * `wrong` without making the body invalid. */
static bool is_harmless(const bly_filter *f, size_t word, uint64_t old, uint64_t wrong) {
    bool timed = blyi_window_get_field(f, BLYI_WIN_SPAN) != 0;
    /* The span or the time may be another. */
    if (timed && (word == BLYI_WIN_SPAN || word == BLYI_WIN_NOW) && (old ^ wrong) < 100)
        return true;
    /* There may be another number of repeats, within the quota. */
    if (!timed && word == BLYI_WIN_REPEATS) {
        uint64_t keys = info_of(f).active_keys;
        return keys != 0 && wrong <= info_of(f).generation_keys - keys;
    }
    /* In a small window by number, all ordinals may be higher or lower by a multiple of 256. */
    if (!timed && blyi_window_is_small(&f->geometry) && word == BLYI_WIN_ORDINAL &&
        (old ^ wrong) % 256 == 0)
        return true;
    /* The cursor may be lower, because then lines are only swept again. It may also be higher, if
     * adds have swept the lines in between. */
    if (word != BLYI_WIN_CURSOR || wrong > blyi_window_lines(&f->geometry))
        return false;
    for (; old < wrong; old++)
        if (!blyi_window_is_swept(f, blyi_window_first_line(f) + 64 * old))
            return false;
    return true;
}

/* Asserts that a wrong value in each field of the heading is refused. */
static void refuse_headings(bly_filter *f) {
    static const uint64_t changes[] = {1, 2, 4, 256, (uint64_t)1 << 57, UINT64_MAX};
    blyi_shape shape = blyi_filter_shape(f);
    size_t words = (size_t)blyi_window_heading_bytes(&f->geometry) / 8;
    assert_true(blyi_window_body_is_valid(&shape, f->body));
    for (size_t w = 0; w < words; w++)
        for (size_t c = 0; c < COUNT_OF(changes); c++) {
            uint64_t old = blyi_words(f)[w], wrong = old ^ blyi_le64(changes[c]);
            if (is_harmless(f, w, blyi_le64(old), blyi_le64(wrong)))
                continue;
            blyi_words(f)[w] = wrong;
            if (blyi_window_body_is_valid(&shape, f->body))
                print_message("word %zu, change %zu\n", w, c);
            assert_false(blyi_window_body_is_valid(&shape, f->body));
            blyi_words(f)[w] = old;
        }
    shape.items++;
    assert_false(blyi_window_body_is_valid(&shape, f->body));
}

static void refuse_lines(bly_filter *f) {
    blyi_shape shape = blyi_filter_shape(f);
    uint8_t *line = blyi_window_first_line(f);
    line[63] ^= 0x80; /* the mark of a line that the cursor has passed */
    assert_false(blyi_window_body_is_valid(&shape, f->body));
    line[63] ^= 0xc0; /* a bit that belongs to no slot */
    assert_false(blyi_window_body_is_valid(&shape, f->body));
    line[63] ^= 0x40;
    assert_true(blyi_window_body_is_valid(&shape, f->body));
    shape.capacity /= 50;
    assert_false(blyi_window_body_is_valid(&shape, f->body));
}

/* Asserts that bits in the next slot, which must be empty, are refused. */
static void refuse_leftovers(bly_filter *f) {
    blyi_shape shape;
    uint8_t *table = f->body + blyi_window_heading_bytes(&f->geometry);
    bly_filter_clear(f);
    shape = blyi_filter_shape(f);
    assert_true(blyi_window_body_is_valid(&shape, f->body));
    table[0] |= 1;
    assert_false(blyi_window_body_is_valid(&shape, f->body));
    table[0] ^= 3; /* a bit of a slot that is not in use */
    assert_true(blyi_window_body_is_valid(&shape, f->body));
}

static void wrong_headings_are_refused(void **state) {
    (void)state;
    for (int form = 0; form < 4; form++) {
        int timed = form % 2, small = form / 2;
        bly_filter *f = any_window(small, 800, 8, timed ? 1000 : 0);
        for (uint64_t i = 0; i < 2050; i++) {
            if (timed)
                assert_ok(bly_window_advance(f, i));
            (void)add(f, key(1, i));
        }
        refuse_headings(f);
        if (small)
            refuse_leftovers(f);
        else
            refuse_lines(f);
        bly_filter_destroy(f);
    }
}

/* Lookups in any body, as a mapped file may have it, are safe: they return some answer. */
static void any_body_is_safe(void **state) {
    uint64_t rng = 1;
    (void)state;
    for (int turn = 0; turn < 300 / BLYT_SLOW + 10; turn++) {
        uint32_t s = (uint32_t)(blyt_next(&rng) % 32 + 1);
        bly_filter *model =
            any_window(turn % 7 < 3, 50 + blyt_next(&rng) % 300, s, turn % 2 ? 1000 : 0);
        bly_filter *f = NULL, *into = NULL;
        blyi_shape shape = blyi_filter_shape(model);
        uint64_t *body = aligned_alloc(64, (size_t)model->body_bytes);
        size_t words = (size_t)model->body_bytes / 8, spared = turn % 3 ? 0 : 8;
        memcpy(body, model->body, (size_t)model->body_bytes);
        for (size_t i = spared; i < words; i++)
            body[i] = turn % 5 ? blyt_next(&rng) : UINT64_MAX;
        assert_ok(blyi_filter_make(&shape, NULL, (const uint8_t *)body, &f));
        bly_filter_info stats = {.struct_size = sizeof stats};
        bly_filter_get_info(f, &stats);
        assert_true(stats.current_fpr >= 0 && stats.current_fpr <= 1 &&
                    info_of(f).generations == s);
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 100);
        (void)bly_filter_contains_many(f, l.keys, l.n, NULL);
        for (uint64_t i = 0; i < 100; i++) {
            uint64_t age;
            (void)bly_filter_contains_hash(f, key(1, i));
            assert_ok(bly_window_age_hash(f, key(1, i), &age));
        }
        assert_ok(bly_filter_clone(model, NULL, &into));
        (void)!bly_filter_union(into, f);
        assert_ok(blyi_window_union(into, f));
        for (uint64_t i = 0; i < 1000; i++)
            (void)add(into, key(1, i));
        blyt_list_free(&l);
        bly_filter_destroy(into);
        bly_filter_destroy(f);
        bly_filter_destroy(model);
        free(body);
    }
}

/* ---- union -------------------------------------------------------------------------------------
 */

/* A union does not make a window count too many keys: the last W keys stay, even if the window is
 * united with its own copy repeatedly. */
static void unions_forget_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        bly_filter *f = any_window(seed % 2, 1000, 8, 0);
        for (uint64_t i = 0; i < 5000; i++) {
            (void)add(f, key(seed, i));
            if (i % 60 == 0) {
                bly_filter *copy;
                assert_ok(bly_filter_clone(f, NULL, &copy));
                assert_ok(bly_filter_union(f, copy));
                assert_ok(bly_filter_union(f, f));
                bly_filter_destroy(copy);
            }
            if (i >= 1000)
                assert_true(bly_filter_contains_hash(f, key(seed, i - 999)));
        }
        bly_filter_destroy(f);
    }
}

static void unite_by_number(bool small) {
    bly_filter *a = any_window(small, 800, 8, 0), *b = any_window(small, 800, 8, 0), *copy = NULL;
    uint64_t i;
    for (i = 0; i < 2050; i++) { /* both are in the middle of a sweep */
        (void)add(a, key(1, i));
        (void)add(b, key(2, i));
    }
    assert_ok(bly_filter_compatible(a, b));
    assert_ok(bly_filter_union(a, b));
    assert_sound(a);
    assert_int_equal(count_found(a, 1, i - 800, i) + count_found(a, 2, i - 800, i), 1600);
    assert_true(bly_filter_count(a) >= bly_filter_count(b));
    assert_true(bly_filter_count(a) <= bly_filter_count(b) + 9);
    assert_ok(bly_filter_union(a, a));
    assert_sound(a);
    assert_int_equal(count_found(a, 1, i - 800, i) + count_found(a, 2, i - 800, i), 1600);
    /* Each step now adds two keys, one to each stream: the last 800 of both streams must be
     * found. */
    for (uint64_t j = i; j < i + 3000; j++) {
        (void)add(a, key(1, j));
        uint64_t oldest = j - i < 799 ? i - (799 - (j - i)) / 2 : j - 799;
        assert_true(bly_filter_contains_hash(a, key(1, oldest)));
        assert_true(oldest >= i || bly_filter_contains_hash(a, key(2, oldest)));
    }
    assert_sound(a);
    assert_ok(bly_filter_clone(a, NULL, &copy));
    assert_int_equal(bly_filter_union(a, b), BLY_EMISMATCH);
    assert_string_equal(bly_filter_why_not(BLY_OP_UNION, a, b),
                        "their clocks or generations differ");
    assert_true(bly_filter_equal(a, copy));
    assert_int_equal(bly_filter_intersect(a, a), BLY_EUNSUPPORTED);
    bly_filter_destroy(copy);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

static void unions_by_number(void **state) {
    (void)state;
    unite_by_number(false);
    unite_by_number(true);
}

/* Unites replicas in the same slice that have seen different keys, and of which one has turned more
 * often. */
static void unite_by_time(bool small) {
    bly_filter *a = any_window(small, 800, 8, 800), *b = any_window(small, 800, 8, 800);
    const uint64_t end = 5003;
    uint64_t age;
    for (uint64_t now = 0; now < end; now++) {
        if (now > 1000)
            assert_ok(bly_window_advance(a, now));
        if (now % 250 < 150 && now / 100 != 45 && now < 4900) { /* b gets no keys in some slices */
            assert_ok(bly_window_advance(b, now));
            (void)add(b, key(2, now));
        }
        if (now > 1000)
            (void)add(a, key(1, now));
    }
    assert_int_equal(bly_filter_union(a, b), BLY_EMISMATCH); /* b is in an earlier slice */
    assert_ok(bly_window_advance(b, end - 3));
    bly_filter *both = NULL, *other = NULL;
    assert_ok(bly_filter_clone(a, NULL, &both));
    assert_ok(bly_filter_clone(b, NULL, &other));
    assert_ok(bly_filter_union(both, b));
    assert_ok(bly_filter_union(other, a));
    assert_int_equal(info_of(other).now, end - 1);
    for (int side = 0; side < 2; side++) {
        const bly_filter *u = side ? other : both;
        assert_sound(u);
        assert_int_equal(count_found(u, 1, end - 801, end), 801);
        uint64_t young = 0, seen = 0;
        for (uint64_t t = end - 801; t < 4900; t++) {
            if (t % 250 >= 150 || t / 100 == 45)
                continue;
            assert_ok(bly_window_age_hash(u, key(2, t), &age));
            assert_true(age < end - t + 100);
            young += age < end - 1 - t;
            seen++;
        }
        assert_true(seen > 300 && young < 20 + seen / 25);
    }
    assert_ok(bly_window_advance(both, end + 1000));
    assert_int_equal(bly_filter_count(both), 0);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(both);
    bly_filter_destroy(other);
}

static void unions_by_time(void **state) {
    (void)state;
    unite_by_time(false);
    unite_by_time(true);
}

/* ---- creating windows --------------------------------------------------------------------------
 */

static void refusals(void **state) {
    bly_spec right = bly_spec_for(BLY_WINDOW, 1000, 0.01), spec = right;
    bly_filter *f = NULL;
    (void)state;
    assert_int_equal(bly_kind_capabilities(BLY_WINDOW),
                     BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_MAP | BLY_FORGETS);
    spec.window.generations = 33;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EGEOMETRY);
    spec = right;
    spec.geometry.options = BLY_FOLDABLE;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec = right;
    spec.geometry.detail = 4;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec = right;
    spec.sharing = BLY_SHARED;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EUNSUPPORTED);
    assert_int_equal(blyt_new(BLY_WINDOW, 0, 0.01, &f), BLY_ECOUNT);
    assert_int_equal(blyt_new(BLY_WINDOW, 10, 0, &f), BLY_ERATE);
    assert_int_equal(blyt_new(BLY_WINDOW, 10, NAN, &f), BLY_ERATE);
    assert_int_equal(blyt_new(BLY_WINDOW, 10, 1, &f), BLY_ERATE);
    assert_int_equal(blyt_new(BLY_WINDOW, UINT64_MAX, 0.01, &f), BLY_ETOOBIG);
    assert_null(f);
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    spec.sharing = BLY_EXCLUSIVE;
    spec.capacity = 10000000;
    spec.fpr = 0.0001;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
}

/* A filter with an exact geometry reports its capacity, and may be used for fewer keys. */
static void exact_shapes(void **state) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, 1000, 0.01);
    bly_filter *f = NULL;
    (void)state;
    spec.geometry = (bly_geometry){BLY_WINDOW, 9, 100, 0, 8};
    spec.capacity = 0;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_capacity(f), bly_plan_capacity(&spec.geometry, 0.01, 64));
    assert_true(bly_plan_fpr(&spec.geometry, bly_filter_capacity(f) + 9, 64) > 0.01);
    bly_filter_destroy(f);
    spec.fpr = 0;
    assert_ok(bly_filter_create(&spec, &f));
    assert_true(stats_of(f).requested_fpr > 0.01 && stats_of(f).requested_fpr < 0.1);
    bly_filter_destroy(f);
    spec.window.generations = 7;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec.window.generations = 0;
    static const bly_geometry bad[] = {
        {BLY_WINDOW, 8, 100, 0, 8},  {BLY_WINDOW, 9, 0, 0, 8},    {BLY_WINDOW, 9, 100, 0, 33},
        {BLY_WINDOW, 51, 100, 0, 8}, {BLY_WINDOW, 9, 100, 0, 12}, {BLY_WINDOW, 0, 100, 0, 8},
        {BLY_WINDOW, 9, 100, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(bly_plan_check(&bad[i]), BLY_EGEOMETRY);
    bly_geometry large = {BLY_WINDOW, 48, UINT64_MAX / 2, 0, 8};
    assert_int_equal(bly_plan_check(&large), BLY_ETOOBIG);
}

/* A cleared window equals a new one. A creation that fails leaks nothing. */
static void clearing_and_failing(void **state) {
    bly_filter *f = NULL;
    (void)state;
    bly_filter *a = window(300, 0.01, 8, 0, 0), *b = window(300, 0.01, 8, 0, 0);
    for (uint64_t i = 0; i < 1000; i++)
        (void)add(a, key(1, i));
    bly_filter_clear(a);
    assert_true(bly_filter_equal(a, b) && bly_filter_count(a) == 0);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    for (size_t fail = 1; fail <= 2; fail++) {
        blyt_heap heap = {.fail_at = fail};
        bly_allocator alloc = blyt_heap_allocator(&heap);
        bly_spec spec = bly_spec_for(BLY_WINDOW, 1000, 0.01);
        spec.allocator = &alloc;
        assert_int_equal(bly_filter_create(&spec, &f), BLY_ENOMEM);
        assert_true(f == NULL && heap.live == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_go_on),
        cmocka_unit_test(maps_answer),
        cmocka_unit_test(wrong_headings_are_refused),
        cmocka_unit_test(any_body_is_safe),
        cmocka_unit_test(unions_forget_nothing),
        cmocka_unit_test(unions_by_number),
        cmocka_unit_test(unions_by_time),
        cmocka_unit_test(refusals),
        cmocka_unit_test(exact_shapes),
        cmocka_unit_test(clearing_and_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
