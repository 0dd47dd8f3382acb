/* Lists of a type: what contains a key is tried, and a filter knows what it holds. */
#include "support.h"

#include "keytype.h"

#include <limits.h>

/* ---- containment ----------------------------------------------------------------------------- */

static void assert_tries(keytype type, const char *line, const keytype_levels *present,
                         const char *wanted) {
    keytype_reader r = {.type = type};
    keytype_key key;
    keytype_tries *tries = malloc(sizeof *tries);
    char seen[4096] = "", room[KEYTYPE_TEXT];
    assert_int_equal(keytype_read(&r, blyt_text(line), &key), KEYTYPE_KEY);
    keytype_widen(type, &key, present, tries);
    for (size_t i = 0; i < tries->count; i++) {
        bly_bytes words = keytype_words(type, tries->keys[i], room);
        (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%.*s", i ? " " : "",
                       (int)words.size, (const char *)words.data);
    }
    assert_string_equal(seen, wanted);
    free(tries);
    keytype_reader_free(&r);
}

static void what_contains_a_key_is_tried(void **state) {
    keytype_levels two = {{0}}, blocks = {{0}}, none = {{0}}, all = keytype_levels_all();
    (void)state;
    keytype_levels_add(&two, 2);
    keytype_levels_add(&two, 3);
    assert_tries(KEYTYPE_DOMAIN, "a.b.example.com", &two, "b.example.com example.com");
    assert_tries(KEYTYPE_DOMAIN, "example.com", &two, "example.com");
    assert_tries(KEYTYPE_DOMAIN, "com", &two, "");
    assert_tries(KEYTYPE_DOMAIN, "a.example.com", &all, "a.example.com example.com com");
    assert_tries(KEYTYPE_DOMAIN, "a.example.com", &none, "");
    keytype_levels_add(&blocks, 0);
    keytype_levels_add(&blocks, 9);
    keytype_levels_add(&blocks, 32);
    keytype_levels_add(&blocks, KEYTYPE_V6 + 29);
    keytype_levels_add(&blocks, KEYTYPE_V6 + 128);
    assert_tries(KEYTYPE_IP, "10.255.0.1", &blocks, "10.255.0.1 10.128.0.0/9 0.0.0.0/0");
    assert_tries(KEYTYPE_IP, "10.255.0.0/16", &blocks, "10.128.0.0/9 0.0.0.0/0");
    assert_tries(KEYTYPE_IP, "10.0.0.0/8", &blocks, "0.0.0.0/0");
    assert_tries(KEYTYPE_IP, "2001:dbf::1", &blocks, "2001:dbf::1 2001:db8::/29");
    assert_tries(KEYTYPE_IP, "::ffff:10.0.0.1", &blocks, "10.0.0.1 10.0.0.0/9 0.0.0.0/0");
    assert_tries(KEYTYPE_PHONE, "+49 30 1234", &none, "+49301234");
    assert_tries(KEYTYPE_EMAIL, "bob@www.example.com", &two, "bob@www.example.com");
    assert_int_equal(keytype_most_tries(KEYTYPE_DOMAIN, &two), 2);
    assert_int_equal(keytype_most_tries(KEYTYPE_DOMAIN, &none), 1);
    assert_int_equal(keytype_most_tries(KEYTYPE_IP, &blocks), 3);
    assert_int_equal(keytype_most_tries(KEYTYPE_URL, &two), 1);
}

/* The most there can be. */
static void the_longest_rows_of_tries_fit(void **state) {
    keytype_levels all = keytype_levels_all();
    keytype_reader r = {.type = KEYTYPE_IP};
    keytype_tries *tries = malloc(sizeof *tries);
    keytype_key key;
    char name[254] = "";
    (void)state;
    assert_int_equal(keytype_read(&r, blyt_text("2001:db8::1"), &key), KEYTYPE_KEY);
    keytype_widen(KEYTYPE_IP, &key, &all, tries);
    assert_int_equal(tries->count, KEYTYPE_TRIES);
    for (size_t i = 0; i < 253; i++)
        name[i] = i % 2 ? '.' : 'a';
    r.type = KEYTYPE_DOMAIN;
    assert_int_equal(keytype_read(&r, blyt_text(name), &key), KEYTYPE_KEY);
    assert_int_equal(key.level, 127);
    keytype_widen(KEYTYPE_DOMAIN, &key, &all, tries);
    assert_int_equal(tries->count, 127);
    free(tries);
    keytype_reader_free(&r);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static bly_filter *filter_for(uint64_t keys) {
    bly_filter *f;
    assert_ok(bly_filter_new(keys, 0.01, &f));
    return f;
}

static void lists_know_themselves(void **state) {
    (void)state;
    for (int type = KEYTYPE_IP; type <= KEYTYPE_LINE; type++) {
        keytype_levels levels = {{0}}, seen;
        bly_filter *f = filter_for(2000);
        keytype_levels_add(&levels, 2);
        keytype_levels_add(&levels, 24);
        if (type == KEYTYPE_IP)
            keytype_levels_add(&levels, KEYTYPE_V6 + 48);
        assert_ok(keytype_mark(f, (keytype)type, &levels));
        assert_true(bly_filter_count(f) <= keytype_mark_count((keytype)type, &levels));
        assert_true(bly_filter_count(f) + 1 >= keytype_mark_count((keytype)type, &levels));
        for (int i = 0; i < 1000; i++)
            assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
        assert_int_equal(keytype_recognise(f, &seen), type);
        bool leveled = type == KEYTYPE_IP || type == KEYTYPE_DOMAIN;
        keytype_levels wanted = leveled ? levels : (keytype_levels){{0}};
        assert_memory_equal(&seen, &wanted, sizeof seen);
        bly_filter_destroy(f);
    }
}

/* More than any list may need: all levels at once. */
static void all_levels_are_remembered(void **state) {
    keytype_levels all = {{0}}, seen;
    bly_filter *f = filter_for(4000);
    (void)state;
    for (unsigned i = 0; i <= 32; i++)
        keytype_levels_add(&all, i);
    for (unsigned i = 0; i <= 128; i++)
        keytype_levels_add(&all, KEYTYPE_V6 + i);
    assert_int_equal(keytype_mark_count(KEYTYPE_IP, &all), 16 + 4 * (33 + 129));
    assert_ok(keytype_mark(f, KEYTYPE_IP, &all));
    assert_int_equal(keytype_recognise(f, &seen), KEYTYPE_IP);
    for (unsigned i = 0; i <= 128; i++)
        assert_true(keytype_levels_have(&seen, KEYTYPE_V6 + i) &&
                    (i > 32 || keytype_levels_have(&seen, i)));
    bly_filter_destroy(f);
}

static void two_types_are_none(void **state) {
    keytype_levels levels = {{0}}, seen;
    bly_filter *f = filter_for(100);
    (void)state;
    keytype_levels_add(&levels, 2);
    assert_ok(keytype_mark(f, KEYTYPE_DOMAIN, &levels));
    assert_ok(keytype_mark(f, KEYTYPE_EMAIL, &levels));
    assert_int_equal(keytype_recognise(f, &seen), KEYTYPE_NONE);
    assert_int_equal(keytype_marks_in(f), 0);
    seen = keytype_recognise_levels(f, KEYTYPE_DOMAIN);
    assert_true(keytype_levels_have(&seen, 2) && !keytype_levels_have(&seen, 3));
    seen = keytype_recognise_levels(f, KEYTYPE_IP); /* none is marked: all are tried */
    assert_true(keytype_levels_have(&seen, 32) && keytype_levels_have(&seen, KEYTYPE_V6));
    bly_filter_destroy(f);
}

/* A list far away: questions come together, and may go without an answer. */
typedef struct far_list {
    bly_filter *filter;
    unsigned calls, answered;
} far_list;

static bool ask_far(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    far_list *list = ctx;
    if (list->calls++ == list->answered)
        return false;
    (void)bly_filter_contains_many(list->filter, keys, n, found);
    return true;
}

static bool rate_far(void *ctx, double *rate) {
    far_list *list = ctx;
    bly_filter_info stats = {.struct_size = sizeof stats};
    if (list->calls++ == list->answered)
        return false;
    bly_filter_get_info(list->filter, &stats);
    *rate = stats.current_fpr;
    return true;
}

static void lists_far_away_are_recognised(void **state) {
    keytype_levels levels = {{0}}, seen;
    keytype type;
    (void)state;
    far_list list = {filter_for(2000), 0, UINT_MAX};
    keytype_levels_add(&levels, 24);
    keytype_levels_add(&levels, KEYTYPE_V6 + 128);
    assert_ok(keytype_mark(list.filter, KEYTYPE_IP, &levels));
    keytype_list far = {ask_far, rate_far, &list, BLY_KEYS_UNRECORDED};
    assert_true(keytype_recognise_by(&far, &type, &seen));
    assert_int_equal(type, KEYTYPE_IP);
    assert_memory_equal(&seen, &levels, sizeof seen);
    const unsigned calls = list.calls;
    assert_true(calls <= 6);
    for (unsigned i = 0; i < calls; i++) {
        list.calls = 0;
        list.answered = i;
        assert_false(keytype_recognise_by(&far, &type, &seen));
    }
    list.calls = list.answered = 0;
    assert_false(keytype_recognise_levels_by(&far, KEYTYPE_IP, &seen));
    /* What the header records need not be asked for. */
    far.rule = BLY_KEYS_PHONE;
    assert_true(keytype_recognise_by(&far, &type, &seen));
    assert_int_equal(type, KEYTYPE_PHONE);
    bly_filter_destroy(list.filter);
}

/* ---- what the header records ----------------------------------------------------------------- */

/* What the rate was requested for is not changed by later keys of other levels. */
static void lookups_of_the_request_are_remembered(void **state) {
    keytype_levels levels = {{0}}, more = {{0}}, seen;
    bly_filter *f = filter_for(100);
    (void)state;
    keytype_levels_add(&levels, 32);
    keytype_record_lookups(KEYTYPE_IP, &levels);
    assert_int_equal(keytype_mark_count(KEYTYPE_IP, &levels), 24);
    assert_ok(keytype_mark(f, KEYTYPE_IP, &levels));
    assert_int_equal(keytype_recognise(f, &seen), KEYTYPE_IP);
    keytype_levels_add(&more, 24);
    keytype_levels_add(&more, 16);
    assert_ok(keytype_mark_more(f, KEYTYPE_IP, &seen, &more));
    keytype_facts facts = keytype_examine(f);
    assert_int_equal(facts.lookups, 3);
    assert_int_equal(facts.requested, 1);
    assert_int_equal(facts.marks, 32);
    assert_false(facts.by_chance);
    /* Lists of different requests were merged. */
    keytype_levels_add(&levels, KEYTYPE_LEVELS + 2);
    assert_ok(keytype_mark(f, KEYTYPE_IP, &levels));
    facts = keytype_examine(f);
    assert_int_equal(facts.requested, 3);
    assert_int_equal(facts.marks, 36);
    bly_filter_destroy(f);
}

/* Types whose keys have no levels record nothing. */
static void lists_without_levels_record_no_lookups(void **state) {
    keytype_levels levels = {{0}};
    bly_filter *f = filter_for(100);
    (void)state;
    keytype_record_lookups(KEYTYPE_URL, &levels);
    assert_ok(keytype_mark(f, KEYTYPE_URL, &levels));
    const keytype_facts facts = keytype_examine(f);
    assert_int_equal(facts.marks, 16);
    assert_int_equal(facts.lookups, 1);
    assert_int_equal(facts.requested, 1);
    bly_filter_destroy(f);
}

static bly_filter *overfull(uint64_t keys) {
    bly_filter *f = filter_for(keys);
    for (uint64_t i = 0; i < 200 * keys; i++)
        assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
    return f;
}

/* A filter that says "maybe" to everything has all marks. They mean nothing then. */
static void overfull_lists_have_no_type_by_chance(void **state) {
    keytype_levels levels;
    bly_filter *f = overfull(100);
    (void)state;
    assert_int_equal(keytype_recognise(f, &levels), KEYTYPE_NONE);
    for (int type = KEYTYPE_IP; type <= KEYTYPE_OTHER; type++) {
        assert_ok(bly_filter_set_key_rule(f, keytype_rule((keytype)type)));
        assert_int_equal(keytype_recognise(f, &levels), type);
        assert_int_equal(keytype_of_rule(keytype_rule((keytype)type)), type);
    }
    bly_filter_destroy(f);
}

/* Marks are believed up to a rate of a quarter, and above that no type is told. */
static void marks_are_believed_far_from_full(void **state) {
    const struct {
        double rate;
        keytype type;
    } cases[] = {{0.01, KEYTYPE_URL},
                 {0.2, KEYTYPE_URL},
                 {0.24, KEYTYPE_URL},
                 {0.26, KEYTYPE_NONE},
                 {0.9, KEYTYPE_NONE}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        keytype_levels levels = {{0}};
        bly_filter *f = filter_for(100);
        bly_filter_info stats = {.struct_size = sizeof stats};
        assert_ok(keytype_mark(f, KEYTYPE_URL, &levels));
        for (uint64_t key = 0; stats.current_fpr < cases[i].rate; key++) {
            assert_int_equal(keytype_recognise(f, &levels),
                             stats.current_fpr < 0.2476 ? KEYTYPE_URL : KEYTYPE_NONE);
            assert_ok(bly_filter_add(f, &key, sizeof key, NULL));
            bly_filter_get_info(f, &stats);
        }
        assert_int_equal(keytype_recognise(f, &levels), cases[i].type);
        bly_filter_destroy(f);
    }
}

/* Levels that are not there may seem to be, but one that is there is never missed. */
static void overfull_typed_lists_answer_every_member(void **state) {
    bly_filter *f = overfull(50);
    keytype_levels levels = {{0}}, seen;
    keytype_reader r = {.type = KEYTYPE_IP};
    keytype_tries *tries = malloc(sizeof *tries);
    keytype_key key;
    (void)state;
    assert_non_null(tries);
    assert_ok(bly_filter_set_key_rule(f, BLY_KEYS_IP));
    assert_int_equal(keytype_read(&r, blyt_text("192.0.2.0/24"), &key), KEYTYPE_KEY);
    keytype_levels_add(&levels, key.level);
    assert_ok(bly_filter_add(f, key.bytes.data, key.bytes.size, NULL));
    assert_ok(keytype_mark(f, KEYTYPE_IP, &levels));
    assert_int_equal(keytype_recognise(f, &seen), KEYTYPE_IP);
    assert_true(keytype_levels_have(&seen, 24));
    const keytype_facts facts = keytype_examine(f);
    assert_true(facts.by_chance);
    assert_int_equal(facts.marks, 16);
    assert_int_equal(facts.lookups, KEYTYPE_TRIES);
    assert_int_equal(facts.requested, 0);
    assert_int_equal(keytype_read(&r, blyt_text("192.0.2.77"), &key), KEYTYPE_KEY);
    keytype_widen(KEYTYPE_IP, &key, &seen, tries);
    size_t found = 0;
    for (size_t i = 0; i < tries->count; i++)
        found += bly_filter_contains(f, tries->keys[i].data, tries->keys[i].size);
    assert_true(found > 0);
    free(tries);
    keytype_reader_free(&r);
    bly_filter_destroy(f);
}

/* A program may record a type and know nothing of marks. */
static void all_levels_are_tried_where_none_is_marked(void **state) {
    keytype_levels none = {{0}}, levels;
    (void)state;
    levels = keytype_levels_recorded(KEYTYPE_DOMAIN, &none);
    assert_true(keytype_levels_have(&levels, 2) && keytype_levels_have(&levels, 7));
    levels = keytype_levels_recorded(KEYTYPE_URL, &none);
    assert_memory_equal(&levels, &none, sizeof levels);
    keytype_levels_add(&none, 3);
    levels = keytype_levels_recorded(KEYTYPE_DOMAIN, &none);
    assert_memory_equal(&levels, &none, sizeof levels);
}

/* Published in the documentation: they never change. */
static void marks_are_these_keys(void **state) {
    static const char type[] = "\0bloomery\0type\0domain\0a";
    static const char level[] = "\0bloomery\0level\0labels/2\0d";
    keytype_levels levels = {{0}};
    bly_filter *f = filter_for(1000);
    (void)state;
    keytype_levels_add(&levels, 2);
    assert_ok(keytype_mark(f, KEYTYPE_DOMAIN, &levels));
    assert_int_equal(bly_filter_count(f), 20);
    assert_int_equal(keytype_marks_in(f), 20);
    assert_true(bly_filter_contains(f, type, sizeof type - 1));
    assert_true(bly_filter_contains(f, level, sizeof level - 1));
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_contains_a_key_is_tried),
        cmocka_unit_test(the_longest_rows_of_tries_fit),
        cmocka_unit_test(overfull_lists_have_no_type_by_chance),
        cmocka_unit_test(marks_are_believed_far_from_full),
        cmocka_unit_test(overfull_typed_lists_answer_every_member),
        cmocka_unit_test(all_levels_are_tried_where_none_is_marked),
        cmocka_unit_test(lists_know_themselves),
        cmocka_unit_test(all_levels_are_remembered),
        cmocka_unit_test(two_types_are_none),
        cmocka_unit_test(lookups_of_the_request_are_remembered),
        cmocka_unit_test(lists_without_levels_record_no_lookups),
        cmocka_unit_test(lists_far_away_are_recognised),
        cmocka_unit_test(marks_are_these_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
