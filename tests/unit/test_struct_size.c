/* Every call with an extensible struct refuses impossible struct sizes, and accepts the structs of
 * newer programs. redis/test_redis_options.c tests the calls that need hiredis. */
#include "struct_size_support.h"

#include "base/struct_size.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/lists.h>
#include <bloomery/redis/bitmap.h>

#include <unistd.h>

static bly_filter *sample; /* an sbbf filter */
static bly_filter *window, *overlay;
static unsigned char file[8192];
static size_t file_size;
static char path[] = "struct_size_XXXXXX";

static bly_status append(void *ctx, const void *data, size_t size) {
    (void)ctx;
    assert_true(file_size + size <= sizeof file);
    memcpy(file + file_size, data, size);
    file_size += size;
    return BLY_OK;
}

static int set_up(void **state) {
    (void)state;
    assert_ok(blyt_new(BLY_SBBF, 100, 0.01, &sample));
    assert_ok(blyt_new(BLY_WINDOW, 100, 0.01, &window));
    assert_ok(blyt_new(BLY_OVERLAY, 100, 0.01, &overlay));
    assert_ok(bly_filter_write(sample, append, NULL));
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file, file_size), file_size);
    return close(fd);
}

static int tear_down(void **state) {
    (void)state;
    bly_filter_destroy(sample);
    bly_filter_destroy(window);
    bly_filter_destroy(overlay);
    return unlink(path);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static bly_status made(bly_status status, bly_filter *f) {
    assert_true((status == BLY_OK) == (f != NULL));
    bly_filter_destroy(f);
    return status;
}

static bly_status made_builder(bly_status status, bly_builder *b) {
    assert_true((status == BLY_OK) == (b != NULL));
    bly_builder_destroy(b);
    return status;
}

static bly_status call_create(void *spec) {
    bly_filter *f = sample;
    const bly_status status = bly_filter_create(spec, &f);
    return made(status, f);
}

static bly_status call_build(void *spec) {
    bly_filter *f = sample;
    const bly_status status = bly_filter_build(spec, NULL, 0, &f);
    return made(status, f);
}

static bly_status call_builder_spec(void *spec) {
    bly_builder *b = (bly_builder *)(void *)sample;
    const bly_status status = bly_builder_create(spec, NULL, &b);
    return made_builder(status, b);
}

static bly_status call_builder_options(void *options) {
    const bly_spec spec = bly_spec_for(BLY_FUSE, 0, 0.01);
    bly_builder *b = (bly_builder *)(void *)sample;
    const bly_status status = bly_builder_create(&spec, options, &b);
    return made_builder(status, b);
}

static bly_status call_parse(void *options) {
    bly_filter *f = sample;
    const bly_status status = bly_filter_parse(file, file_size, options, &f);
    return made(status, f);
}

static bly_status call_load(void *options) {
    bly_filter *f = sample;
    const bly_status status = bly_filter_load(path, options, &f);
    return made(status, f);
}

static bly_status call_map(void *options) {
    bly_map *map = (bly_map *)(void *)sample;
    const bly_status status = bly_map_open(path, options, &map);
    assert_true((status == BLY_OK) == (map != NULL));
    bly_map_close(map);
    return status;
}

static bly_status read_file(void *ctx, uint64_t at, void *to, size_t n) {
    (void)ctx;
    memcpy(to, file + at, n);
    return BLY_OK;
}

static bly_status call_read_chunks(void *options) {
    const bly_chunk_source source = {file_size, read_file, read_file, NULL};
    bly_filter *f = sample;
    const bly_status status = bly_filter_read_chunks(&source, options, &f);
    return made(status, f);
}

static bly_status call_bitmap_plan(void *spec) {
    bly_bitmap bitmap;
    return bly_bitmap_plan(spec, &bitmap);
}

static bly_status call_bitmap_from_filter(void *spec) {
    bly_bitmap bitmap;
    return bly_bitmap_from_filter(sample, spec, &bitmap);
}

static bly_status call_list_open(void *options) {
    bly_list *list = (bly_list *)(void *)sample;
    const bly_status status = bly_list_open(path, options, &list);
    assert_true((status == BLY_OK) == (list != NULL));
    bly_list_close(list);
    return status;
}

static bly_status call_list_builder(void *options) {
    bly_list_builder *b = (bly_list_builder *)(void *)sample;
    const bly_status status = bly_list_builder_create(BLY_LIST_LINE, 0.01, options, &b);
    assert_true((status == BLY_OK) == (b != NULL));
    bly_list_builder_destroy(b);
    return status;
}

static bly_status fill_list(const bly_list_contents *contents, const bly_spec *spec) {
    bly_filter *f = sample;
    const bly_status status = bly_list_fill(contents, spec, &f);
    return made(status, f);
}

static bly_list_contents one_line(void) {
    static const bly_hash hash = {1, 2};
    bly_list_contents contents;
    BLY_INIT(contents);
    contents.type = BLY_LIST_LINE;
    contents.hashes = &hash;
    contents.count = contents.distinct = 1;
    return contents;
}

static bly_status call_list_fill(void *contents) {
    bly_spec spec = bly_spec_for(BLY_SBBF, 0, 0.01);
    spec.hasher = *bly_filter_hasher(sample);
    return fill_list(contents, &spec);
}

static bly_status call_list_fill_spec(void *spec) {
    const bly_list_contents contents = one_line();
    return fill_list(&contents, spec);
}

static void parameters_of_newer_programs_are_read(void **state) {
    const bly_spec spec = bly_spec_for(BLY_SBBF, 100, 0.01),
                   built = bly_spec_for(BLY_FUSE, 0, 0.01);
    bly_build_options build;
    bly_open_options open;
    bly_bitmap_spec bitmap;
    bly_list_build_options list;
    const bly_list_contents contents = one_line();
    bly_spec line = bly_spec_for(BLY_SBBF, 0, 0.01);
    (void)state;
    line.hasher = *bly_filter_hasher(sample);
    BLY_INIT(list);
    BLY_INIT(build);
    BLY_INIT(open);
    BLY_INIT(bitmap);
    bitmap.capacity = 100;
    bitmap.fpr = 0.01;
    check_parameter(call_create, &spec, sizeof spec);
    check_parameter(call_build, &built, sizeof built);
    check_parameter(call_builder_spec, &built, sizeof built);
    check_parameter(call_builder_options, &build, sizeof build);
    check_parameter(call_parse, &open, sizeof open);
    check_parameter(call_load, &open, sizeof open);
    check_parameter(call_map, &open, sizeof open);
    check_parameter(call_read_chunks, &open, sizeof open);
    check_parameter(call_bitmap_plan, &bitmap, sizeof bitmap);
    check_parameter(call_bitmap_from_filter, &bitmap, sizeof bitmap);
    check_parameter(call_list_open, &open, sizeof open);
    check_parameter(call_list_builder, &list, sizeof list);
    check_parameter(call_list_fill, &contents, sizeof contents);
    check_parameter(call_list_fill_spec, &line, sizeof line);
}

/* ---- results --------------------------------------------------------------------------------- */

static bly_status call_filter_info(void *out) {
    return bly_filter_get_info(sample, out);
}

static bly_status call_kind_info(void *out) {
    return bly_kind_get_info(BLY_SBBF, out);
}

static bly_status call_window_info(void *out) {
    return bly_window_get_info(window, out);
}

static bly_status call_overlay_info(void *out) {
    return bly_overlay_get_info(overlay, out);
}

static bly_status call_parse_info(void *out) {
    return bly_file_parse_info(file, file_size, out);
}

static bly_status call_file_info(void *out) {
    return bly_file_get_info(path, out);
}

static const bly_needs needs = {.keys = 100, .fpr = 0.01};

static bly_status call_advise(void *out) {
    return bly_advise(&needs, out);
}

static bly_status call_advise_kind(void *out) {
    return bly_advise_kind(BLY_SBBF, &needs, out);
}

static bly_status call_advice_spec(void *out) {
    bly_advice advice = {.struct_size = sizeof advice};
    assert_ok(bly_advise(&needs, &advice));
    return bly_advice_get_spec(&advice, out);
}

static bly_status call_list_info(void *out) {
    bly_list *list;
    assert_ok(bly_list_from_filter(sample, BLY_LIST_LINE, &list));
    const bly_status status = bly_list_get_info(list, out);
    bly_list_close(list);
    return status;
}

static bly_status call_list_examine(void *out) {
    return bly_list_examine(sample, out);
}

static bly_status call_list_examine_source(void *out) {
    const bly_list_source source = bly_list_source_of(sample);
    return bly_list_examine_source(&source, out);
}

static void results_fit_newer_programs(void **state) {
    (void)state;
    check_result(call_filter_info, sizeof(bly_filter_info));
    check_result(call_kind_info, sizeof(bly_kind_info));
    check_result(call_window_info, sizeof(bly_window_info));
    check_result(call_overlay_info, sizeof(bly_overlay_info));
    check_result(call_parse_info, sizeof(bly_file_info));
    check_result(call_file_info, sizeof(bly_file_info));
    check_result(call_advise, sizeof(bly_advice));
    check_result(call_advise_kind, sizeof(bly_advice));
    check_result(call_advice_spec, sizeof(bly_spec));
    check_result(call_list_info, sizeof(bly_list_info));
    check_result(call_list_examine, sizeof(bly_list_info));
    check_result(call_list_examine_source, sizeof(bly_list_info));
}

/* ---- older programs: the functions that all calls use ---------------------------------------- */

typedef struct old_struct {
    size_t struct_size;
    uint64_t a;
} old_struct;
typedef struct new_struct {
    size_t struct_size;
    uint64_t a, b;
} new_struct;

static void structs_of_older_programs_are_shorter(void **state) {
    const size_t size = sizeof(new_struct), least = sizeof(old_struct);
    old_struct old[2] = {{sizeof *old, 1}, {99, 99}};
    new_struct inside = {0, 98, 98};
    (void)state;
    assert_true(blyi_read_struct(&inside, size, least, old));
    assert_true(inside.struct_size == size && inside.a == 1 && inside.b == 0);
    assert_true(blyi_can_write_struct(old, least));
    inside = (new_struct){size, 2, 3};
    blyi_write_struct(old, &inside, size);
    assert_true(old[0].struct_size == sizeof *old && old[0].a == 2);
    assert_true(old[1].struct_size == 99 && old[1].a == 99);
    old[0].struct_size--;
    assert_false(blyi_read_struct(&inside, size, least, old));
    assert_false(blyi_can_write_struct(old, least));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_of_newer_programs_are_read),
        cmocka_unit_test(results_fit_newer_programs),
        cmocka_unit_test(structs_of_older_programs_are_shorter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
