/* Typed lists: a lookup of a key also tries the blocks or parent domains that contain it, and marks
 * in the filter record the list's type and levels. */
#include "support.h"

#include <bloomery/host/lists.h>

#include <limits.h>

/* Reads a key. The first call creates the reader. */
static void read_key(bly_list_reader **r, bly_list_type type, const char *line, bly_list_key *out) {
    if (!*r)
        assert_ok(bly_list_reader_create(r));
    assert_ok(bly_list_read(*r, type, 0, line, strlen(line), out));
    assert_false(out->blank);
}

/* ---- containment ----------------------------------------------------------------------------- */

static void assert_tries(bly_list_type type, const char *line, const bly_list_levels *present,
                         const char *wanted) {
    bly_list_reader *r = NULL;
    bly_list_key key;
    bly_list_entries *tries = malloc(sizeof *tries);
    char seen[4096] = "", room[BLY_LIST_WORDS];
    read_key(&r, type, line, &key);
    bly_list_widen(type, &key, present, tries);
    for (size_t i = 0; i < tries->count; i++) {
        bly_bytes words = bly_list_words(type, tries->keys[i], room);
        (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%.*s", i ? " " : "",
                       (int)words.size, (const char *)words.data);
    }
    assert_string_equal(seen, wanted);
    free(tries);
    bly_list_reader_destroy(r);
}

static void what_contains_a_key_is_tried(void **state) {
    bly_list_levels two = {{0}}, blocks = {{0}}, none = {{0}}, all = bly_list_levels_all();
    (void)state;
    bly_list_levels_add(&two, 2);
    bly_list_levels_add(&two, 3);
    assert_tries(BLY_LIST_DOMAIN, "a.b.example.com", &two, "b.example.com example.com");
    assert_tries(BLY_LIST_DOMAIN, "example.com", &two, "example.com");
    assert_tries(BLY_LIST_DOMAIN, "com", &two, "");
    assert_tries(BLY_LIST_DOMAIN, "a.example.com", &all, "a.example.com example.com com");
    assert_tries(BLY_LIST_DOMAIN, "a.example.com", &none, "");
    bly_list_levels_add(&blocks, 0);
    bly_list_levels_add(&blocks, 9);
    bly_list_levels_add(&blocks, 32);
    bly_list_levels_add(&blocks, BLY_LIST_V6 + 29);
    bly_list_levels_add(&blocks, BLY_LIST_V6 + 128);
    assert_tries(BLY_LIST_IP, "10.255.0.1", &blocks, "10.255.0.1 10.128.0.0/9 0.0.0.0/0");
    assert_tries(BLY_LIST_IP, "10.255.0.0/16", &blocks, "10.128.0.0/9 0.0.0.0/0");
    assert_tries(BLY_LIST_IP, "10.0.0.0/8", &blocks, "0.0.0.0/0");
    assert_tries(BLY_LIST_IP, "2001:dbf::1", &blocks, "2001:dbf::1 2001:db8::/29");
    assert_tries(BLY_LIST_IP, "::ffff:10.0.0.1", &blocks, "10.0.0.1 10.0.0.0/9 0.0.0.0/0");
    assert_tries(BLY_LIST_PHONE, "+49 30 1234", &none, "+49301234");
    assert_tries(BLY_LIST_EMAIL, "bob@www.example.com", &two, "bob@www.example.com");
    assert_int_equal(bly_list_max_lookups(BLY_LIST_DOMAIN, &two), 2);
    assert_int_equal(bly_list_max_lookups(BLY_LIST_DOMAIN, &none), 1);
    assert_int_equal(bly_list_max_lookups(BLY_LIST_IP, &blocks), 3);
    assert_int_equal(bly_list_max_lookups(BLY_LIST_URL, &two), 1);
}

/* The inputs with the most lookups: an IPv6 address, and the longest domain name. */
static void the_longest_rows_of_tries_fit(void **state) {
    bly_list_levels all = bly_list_levels_all();
    bly_list_reader *r = NULL;
    bly_list_entries *tries = malloc(sizeof *tries);
    bly_list_key key;
    char name[254] = "";
    (void)state;
    read_key(&r, BLY_LIST_IP, "2001:db8::1", &key);
    bly_list_widen(BLY_LIST_IP, &key, &all, tries);
    assert_int_equal(tries->count, BLY_LIST_MAX_LOOKUPS);
    for (size_t i = 0; i < 253; i++)
        name[i] = i % 2 ? '.' : 'a';
    read_key(&r, BLY_LIST_DOMAIN, name, &key);
    assert_int_equal(key.level, 127);
    bly_list_widen(BLY_LIST_DOMAIN, &key, &all, tries);
    assert_int_equal(tries->count, 127);
    free(tries);
    bly_list_reader_destroy(r);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static bly_filter *filter_for(uint64_t keys) {
    bly_filter *f;
    assert_ok(bly_filter_new(keys, 0.01, &f));
    return f;
}

static void lists_know_themselves(void **state) {
    (void)state;
    for (int type = BLY_LIST_IP; type <= BLY_LIST_LINE; type++) {
        bly_list_levels levels = {{0}}, seen;
        bly_filter *f = filter_for(2000);
        bly_list_levels_add(&levels, 2);
        bly_list_levels_add(&levels, 24);
        if (type == BLY_LIST_IP)
            bly_list_levels_add(&levels, BLY_LIST_V6 + 48);
        assert_ok(bly_list_add_marks(f, (bly_list_type)type, &levels));
        assert_true(bly_filter_count(f) <= bly_list_mark_count((bly_list_type)type, &levels));
        assert_true(bly_filter_count(f) + 1 >= bly_list_mark_count((bly_list_type)type, &levels));
        for (int i = 0; i < 1000; i++)
            assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
        assert_int_equal(bly_list_recognise(f, &seen), type);
        bool leveled = type == BLY_LIST_IP || type == BLY_LIST_DOMAIN;
        bly_list_levels wanted = leveled ? levels : (bly_list_levels){{0}};
        assert_memory_equal(&seen, &wanted, sizeof seen);
        bly_filter_destroy(f);
    }
}

/* All levels at once, which is more than any list has. */
static void all_levels_are_remembered(void **state) {
    bly_list_levels all = {{0}}, seen;
    bly_filter *f = filter_for(4000);
    (void)state;
    for (unsigned i = 0; i <= 32; i++)
        bly_list_levels_add(&all, i);
    for (unsigned i = 0; i <= 128; i++)
        bly_list_levels_add(&all, BLY_LIST_V6 + i);
    assert_int_equal(bly_list_mark_count(BLY_LIST_IP, &all), 16 + 4 * (33 + 129));
    assert_ok(bly_list_add_marks(f, BLY_LIST_IP, &all));
    assert_int_equal(bly_list_recognise(f, &seen), BLY_LIST_IP);
    for (unsigned i = 0; i <= 128; i++)
        assert_true(bly_list_levels_contain(&seen, BLY_LIST_V6 + i) &&
                    (i > 32 || bly_list_levels_contain(&seen, i)));
    bly_filter_destroy(f);
}

static void two_types_are_none(void **state) {
    bly_list_levels levels = {{0}}, seen;
    bly_filter *f = filter_for(100);
    (void)state;
    bly_list_levels_add(&levels, 2);
    assert_ok(bly_list_add_marks(f, BLY_LIST_DOMAIN, &levels));
    assert_ok(bly_list_add_marks(f, BLY_LIST_EMAIL, &levels));
    assert_int_equal(bly_list_recognise(f, &seen), BLY_LIST_NONE);
    assert_int_equal(bly_list_marks_in(f), 0);
    const bly_list_source source = bly_list_source_of(f);
    assert_ok(bly_list_recognise_levels(&source, BLY_LIST_DOMAIN, &seen));
    assert_true(bly_list_levels_contain(&seen, 2) && !bly_list_levels_contain(&seen, 3));
    /* No level of addresses is marked, so lookups try all of them. */
    assert_ok(bly_list_recognise_levels(&source, BLY_LIST_IP, &seen));
    assert_true(bly_list_levels_contain(&seen, 32) && bly_list_levels_contain(&seen, BLY_LIST_V6));
    bly_filter_destroy(f);
}

/* A list on a server: lookups come in batches. The call after the first `answered` ones fails. */
typedef struct far_list {
    bly_filter *filter;
    unsigned calls, answered;
} far_list;

static bly_status ask_far(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    far_list *list = ctx;
    if (list->calls++ == list->answered)
        return BLY_EIO;
    (void)bly_filter_contains_many(list->filter, keys, n, found);
    return BLY_OK;
}

static bly_status rate_far(void *ctx, double *rate) {
    far_list *list = ctx;
    bly_filter_info stats = {.struct_size = sizeof stats};
    if (list->calls++ == list->answered)
        return BLY_EIO;
    bly_filter_get_info(list->filter, &stats);
    *rate = stats.current_fpr;
    return BLY_OK;
}

static void lists_far_away_are_recognised(void **state) {
    bly_list_levels levels = {{0}}, seen;
    bly_list_type type;
    (void)state;
    far_list list = {filter_for(2000), 0, UINT_MAX};
    bly_list_levels_add(&levels, 24);
    bly_list_levels_add(&levels, BLY_LIST_V6 + 128);
    assert_ok(bly_list_add_marks(list.filter, BLY_LIST_IP, &levels));
    bly_list_source far = {ask_far, rate_far, &list, BLY_KEYS_UNRECORDED};
    assert_ok(bly_list_recognise_source(&far, &type, &seen));
    assert_int_equal(type, BLY_LIST_IP);
    assert_memory_equal(&seen, &levels, sizeof seen);
    const unsigned calls = list.calls;
    assert_true(calls <= 6);
    for (unsigned i = 0; i < calls; i++) {
        list.calls = 0;
        list.answered = i;
        assert_int_equal(bly_list_recognise_source(&far, &type, &seen), BLY_EIO);
    }
    list.calls = list.answered = 0;
    assert_int_equal(bly_list_recognise_levels(&far, BLY_LIST_IP, &seen), BLY_EIO);
    /* Marks are not looked up if the header records the type. */
    far.rule = BLY_KEYS_PHONE;
    assert_ok(bly_list_recognise_source(&far, &type, &seen));
    assert_int_equal(type, BLY_LIST_PHONE);
    bly_filter_destroy(list.filter);
}

/* ---- what the header records ----------------------------------------------------------------- */

/* Keys of other levels that are added later do not change the recorded number of lookups. */
static void lookups_of_the_request_are_remembered(void **state) {
    bly_list_levels levels = {{0}}, more = {{0}}, seen;
    bly_filter *f = filter_for(100);
    (void)state;
    bly_list_levels_add(&levels, 32);
    assert_true(bly_list_record_lookups(BLY_LIST_IP, 0.01, &levels) == 0.01);
    assert_int_equal(bly_list_mark_count(BLY_LIST_IP, &levels), 24);
    assert_ok(bly_list_add_marks(f, BLY_LIST_IP, &levels));
    assert_int_equal(bly_list_recognise(f, &seen), BLY_LIST_IP);
    bly_list_levels_add(&more, 24);
    bly_list_levels_add(&more, 16);
    assert_ok(bly_list_add_new_marks(f, BLY_LIST_IP, &seen, &more));
    bly_list_info facts = {.struct_size = sizeof facts};
    bly_list_examine(f, &facts);
    assert_int_equal(facts.lookups, 3);
    assert_int_equal(facts.requested_lookups, 1);
    assert_int_equal(facts.marks, 32);
    assert_false(facts.chance_levels);
    /* Marks of two different numbers, as in merged lists: neither counts, and the number of lookups
     * follows from the levels (3). */
    bly_list_levels_add(&levels, BLY_LIST_LEVELS + 2);
    assert_ok(bly_list_add_marks(f, BLY_LIST_IP, &levels));
    bly_list_examine(f, &facts);
    assert_int_equal(facts.requested_lookups, 3);
    assert_int_equal(facts.marks, 36);
    bly_filter_destroy(f);
}

/* Types whose keys have no levels record nothing. */
static void lists_without_levels_record_no_lookups(void **state) {
    bly_list_levels levels = {{0}};
    bly_filter *f = filter_for(100);
    (void)state;
    assert_true(bly_list_record_lookups(BLY_LIST_URL, 0.9, &levels) == 0.9);
    assert_ok(bly_list_add_marks(f, BLY_LIST_URL, &levels));
    bly_list_info facts = {.struct_size = sizeof facts};
    bly_list_examine(f, &facts);
    assert_int_equal(facts.marks, 16);
    assert_int_equal(facts.lookups, 1);
    assert_int_equal(facts.requested_lookups, 1);
    bly_filter_destroy(f);
}

static bly_filter *overfull(uint64_t keys) {
    bly_filter *f = filter_for(keys);
    for (uint64_t i = 0; i < 200 * keys; i++)
        assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
    return f;
}

/* An overfull filter answers "maybe" for all marks, so marks must be ignored. A type in the header
 * is still used. */
static void overfull_lists_have_no_type_by_chance(void **state) {
    bly_list_levels levels;
    bly_filter *f = overfull(100);
    (void)state;
    assert_int_equal(bly_list_recognise(f, &levels), BLY_LIST_NONE);
    for (int type = BLY_LIST_IP; type <= BLY_LIST_OTHER; type++) {
        assert_ok(bly_filter_set_key_rule(f, bly_list_key_rule((bly_list_type)type)));
        assert_int_equal(bly_list_recognise(f, &levels), type);
        assert_int_equal(bly_list_type_of_rule(bly_list_key_rule((bly_list_type)type)), type);
    }
    bly_filter_destroy(f);
}

/* A type is reported from marks if the filter's rate is at most about a quarter. Above that, marks
 * may be false positives, and no type is reported. */
static void marks_are_believed_far_from_full(void **state) {
    const struct {
        double rate;
        bly_list_type type;
    } cases[] = {{0.01, BLY_LIST_URL},
                 {0.2, BLY_LIST_URL},
                 {0.24, BLY_LIST_URL},
                 {0.26, BLY_LIST_NONE},
                 {0.9, BLY_LIST_NONE}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bly_list_levels levels = {{0}};
        bly_filter *f = filter_for(100);
        bly_filter_info stats = {.struct_size = sizeof stats};
        assert_ok(bly_list_add_marks(f, BLY_LIST_URL, &levels));
        for (uint64_t key = 0; stats.current_fpr < cases[i].rate; key++) {
            assert_int_equal(bly_list_recognise(f, &levels),
                             stats.current_fpr < 0.2476 ? BLY_LIST_URL : BLY_LIST_NONE);
            assert_ok(bly_filter_add(f, &key, sizeof key, NULL));
            bly_filter_get_info(f, &stats);
        }
        assert_int_equal(bly_list_recognise(f, &levels), cases[i].type);
        bly_filter_destroy(f);
    }
}

/* Marks of levels may be false positives in an overfull list, so it seems to have more levels than
 * it has, but never fewer: all members are found. */
static void overfull_typed_lists_answer_every_member(void **state) {
    bly_filter *f = overfull(50);
    bly_list_levels levels = {{0}}, seen;
    bly_list_reader *r = NULL;
    bly_list_entries *tries = malloc(sizeof *tries);
    bly_list_key key;
    (void)state;
    assert_non_null(tries);
    assert_ok(bly_filter_set_key_rule(f, BLY_KEYS_IP));
    read_key(&r, BLY_LIST_IP, "192.0.2.0/24", &key);
    bly_list_levels_add(&levels, key.level);
    assert_ok(bly_filter_add(f, key.bytes.data, key.bytes.size, NULL));
    assert_ok(bly_list_add_marks(f, BLY_LIST_IP, &levels));
    assert_int_equal(bly_list_recognise(f, &seen), BLY_LIST_IP);
    assert_true(bly_list_levels_contain(&seen, 24));
    bly_list_info facts = {.struct_size = sizeof facts};
    bly_list_examine(f, &facts);
    assert_true(facts.chance_levels);
    assert_int_equal(facts.marks, 16);
    assert_int_equal(facts.lookups, BLY_LIST_MAX_LOOKUPS);
    assert_int_equal(facts.requested_lookups, 0);
    read_key(&r, BLY_LIST_IP, "192.0.2.77", &key);
    bly_list_widen(BLY_LIST_IP, &key, &seen, tries);
    size_t found = 0;
    for (size_t i = 0; i < tries->count; i++)
        found += bly_filter_contains(f, tries->keys[i].data, tries->keys[i].size);
    assert_true(found > 0);
    free(tries);
    bly_list_reader_destroy(r);
    bly_filter_destroy(f);
}

/* If a list records a type but no levels, lookups try all levels. A program may record a type
 * without adding marks. */
static void all_levels_are_tried_where_none_is_marked(void **state) {
    bly_list_levels none = {{0}}, levels;
    (void)state;
    levels = bly_list_levels_recorded(BLY_LIST_DOMAIN, &none);
    assert_true(bly_list_levels_contain(&levels, 2) && bly_list_levels_contain(&levels, 7));
    levels = bly_list_levels_recorded(BLY_LIST_URL, &none);
    assert_memory_equal(&levels, &none, sizeof levels);
    bly_list_levels_add(&none, 3);
    levels = bly_list_levels_recorded(BLY_LIST_DOMAIN, &none);
    assert_memory_equal(&levels, &none, sizeof levels);
}

/* The documentation states the bytes of these marks, so they must not change. */
static void marks_are_these_keys(void **state) {
    static const char type[] = "\0bloomery\0type\0domain\0a";
    static const char level[] = "\0bloomery\0level\0labels/2\0d";
    bly_list_levels levels = {{0}};
    bly_filter *f = filter_for(1000);
    (void)state;
    bly_list_levels_add(&levels, 2);
    assert_ok(bly_list_add_marks(f, BLY_LIST_DOMAIN, &levels));
    assert_int_equal(bly_filter_count(f), 20);
    assert_int_equal(bly_list_marks_in(f), 20);
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
