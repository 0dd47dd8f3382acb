/* Calls that connect to a server accept structs of other versions of the library. There is no
 * server: if a struct is accepted, the call fails to connect. */
#include "struct_size_support.h"

#include <bloomery/redis/filter.h>

static bly_redis_url nowhere;

static int set_up(void **state) {
    (void)state;
    return bly_redis_url_parse("unix:///nonexistent/socket?key=k", NULL, &nowhere);
}

static int tear_down(void **state) {
    (void)state;
    bly_redis_url_free(&nowhere);
    return 0;
}

static bly_status call_open(void *options) {
    bly_redis *r = (bly_redis *)(void *)&nowhere;
    const bly_status status = bly_redis_open(&nowhere, options, NULL, &r);
    assert_null(r);
    return status;
}

static bly_status call_filter_open(void *options) {
    bly_redis_filter *f = (bly_redis_filter *)(void *)&nowhere;
    const bly_status status = bly_redis_filter_open(&nowhere, NULL, options, NULL, &f);
    assert_null(f);
    return status;
}

static bly_status call_filter_gozero(void *options) {
    bly_redis_filter *f = (bly_redis_filter *)(void *)&nowhere;
    const bly_status status = bly_redis_filter_gozero(&nowhere, 1000, options, NULL, &f);
    assert_null(f);
    return status;
}

static bly_status create_filter(const bly_bitmap_spec *spec,
                                const bly_redis_filter_options *options) {
    bly_redis_filter *f = (bly_redis_filter *)(void *)&nowhere;
    const bly_status status = bly_redis_filter_create(&nowhere, spec, options, NULL, &f);
    assert_null(f);
    return status;
}

static bly_status call_filter_create(void *options) {
    const bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 100, .fpr = 0.01};
    return create_filter(&spec, options);
}

static bly_status call_filter_create_spec(void *spec) {
    const bly_redis_filter_options options = {.struct_size = sizeof options, .retry_ms = 1};
    return create_filter(spec, &options);
}

static bly_status push(const bly_bitmap_spec *spec, const bly_redis_filter_options *options) {
    bly_redis_filter *f = (bly_redis_filter *)(void *)&nowhere;
    bly_filter *from;
    assert_ok(blyt_new(BLY_SBBF, 100, 0.01, &from));
    const bly_status status =
        bly_redis_filter_push(from, &nowhere, spec, false, options, NULL, NULL, NULL, &f);
    assert_null(f);
    bly_filter_destroy(from);
    return status;
}

static bly_status call_push(void *options) {
    return push(NULL, options);
}

static bly_status call_push_spec(void *spec) {
    const bly_redis_filter_options options = {.struct_size = sizeof options, .retry_ms = 1};
    return push(spec, &options);
}

static void options_of_newer_programs_are_read(void **state) {
    const bly_redis_options connection = {.struct_size = sizeof connection};
    const bly_redis_filter_options options = {.struct_size = sizeof options, .retry_ms = 1};
    const bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 100, .fpr = 0.01};
    (void)state;
    check_parameter(call_open, &connection, sizeof connection);
    check_parameter(call_filter_open, &options, sizeof options);
    check_parameter(call_filter_gozero, &options, sizeof options);
    check_parameter(call_filter_create, &options, sizeof options);
    check_parameter(call_filter_create_spec, &spec, sizeof spec);
    check_parameter(call_push, &options, sizeof options);
    check_parameter(call_push_spec, &spec, sizeof spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(options_of_newer_programs_are_read)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
