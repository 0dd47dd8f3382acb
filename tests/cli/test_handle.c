/* test_handle.c - a handle gives the same facts about a filter, however the filter was opened. */
#include "support.h"

#include "filters/handle.h"

#include <unistd.h>

/* Facts that need no pass over the bits are those of the file's header. If the filter is in memory
 * and locked, they come from the filter, and are the same. */
static void test_facts_of_header(void **state) {
    static const handle_access ways[] = {HANDLE_HEADER, HANDLE_MAPPED, HANDLE_COPIED,
                                         HANDLE_CHANGED};
    char path[] = "/tmp/blyt_handle_XXXXXX";
    const bly_spec spec = bly_spec_for(BLY_SPLIT512, 1000, 0.01);
    bly_filter *f;
    (void)state;
    assert_int_equal(close(mkstemp(path)), 0);
    assert_ok(bly_filter_create(&spec, &f));
    assert_ok(bly_filter_add(f, "key", 3, NULL));
    assert_ok(bly_filter_save(f, path));
    bly_filter_destroy(f);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const handle_options options = {.access = ways[i]};
        filter_handle h;
        handle_facts facts;
        assert_true(handle_open(&h, path, &options));
        assert_ok(handle_get_facts(&h, &facts, false));
        assert_int_equal(facts.info.kind, BLY_SPLIT512);
        assert_int_equal(facts.info.count, 1);
        assert_int_equal(facts.info.capacity, 1000);
        assert_true(facts.info.requested_fpr == 0.01);
        assert_false(facts.has_bits);
        handle_close(&h);
    }
    assert_int_equal(unlink(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts_of_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
