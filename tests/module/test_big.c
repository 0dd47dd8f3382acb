/* test_big.c - runs the tests of the other files on values of big blocks. When the module frees
 * such a block, it detaches its pages (runtime/page_release.h), if the system supports that. */
#include "load/redisbloom_chunks.h"
#include "load/staged_file.h"
#include "types_support.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/redisbloom.h>

/* ---- bloomery1 ------------------------------------------------------------------------------- */

/* A filter that is larger than one piece of a saved file. */
static void test_filter(void **state) {
    (void)state;
    bm_value *value = made(bly_spec_for(BLY_SPLIT512, 3000000, 0.01), 1000);
    assert_true(value->account.bytes > 3 << 20);
    check_round_trip(value);
    check_truncated(value);
    check_copy(value);
    check_defrag(value);
    check_aof(value);
    check_numbers(value);
    bm_value_free(value);
}

/* A stream with a valid header that announces a huge body, but with few bytes after it. */
static void test_promises(void **state) {
    (void)state;
    bly_spec spec = bly_spec_for(BLY_SPLIT512, 400000000, 0.01);
    bm_value *value = made(spec, 1);
    uint8_t header[BLY_FILE_HEADER];
    bly_chunks *image;
    assert_ok(bly_chunks_open(value->as.filter, NULL, &image));
    assert_int_equal(bly_chunks_read(image, 0, header, sizeof header), sizeof header);
    uint64_t total = bly_chunks_size(image);
    bly_chunks_close(image);
    bm_value_free(value);
    assert_true(total > 300 << 20);
    rm_io *io = begun(1);
    rm.SaveUnsigned(io, total);
    rm.SaveStringBuffer(io, (const char *)header, sizeof header);
    for (int i = 0; i < 100; i++)
        rm.SaveStringBuffer(io, (const char *)header, sizeof header);
    check_refused(io);
}

/* ---- staged files ---------------------------------------------------------------------------- */

static void test_staged_file(void **state) {
    (void)state;
    check_staged_file(bly_spec_for(BLY_SPLIT512, 1500000, 0.01), 63);
}

/* An append that fails changes nothing, and may be repeated. */
static void test_staged_file_fails(void **state) {
    (void)state;
    size_t heap = heap_now();
    bm_value *value = made(bly_spec_for(BLY_SPLIT512, 1500000, 0.01), 3000);
    blyt_buffer im = blyt_write(value->as.filter);
    bm_account account = {0};
    bm_staged_file *s;
    bly_filter *f;
    bool keyless;
    assert_int_equal(bm_staged_file_begin(&account, im.size, im.data, 63, &(bm_traits){0}, &s),
                     BLY_EINVAL);
    assert_int_equal(bm_staged_file_begin(&account, im.size + 1, im.data, 64, &(bm_traits){0}, &s),
                     BLY_ECORRUPT);
    assert_ok(bm_staged_file_begin(&account, im.size, im.data, 1000, &(bm_traits){0}, &s));
    for (size_t i = 1; i < 8; i++) {
        fake_heap_reset();
        fake_heap.fail_at = i;
        assert_int_equal(bm_staged_file_append(s, im.data + 1000, im.size - 1000), BLY_ENOMEM);
        assert_int_equal(account.refusal, BM_REFUSED_SYSTEM);
        assert_int_equal(bm_staged_file_received(s), 1000);
    }
    fake_heap_reset();
    assert_int_equal(fake_config_set("max-total-memory", "1000000"), RM_OK);
    assert_int_equal(bm_staged_file_append(s, im.data + 1000, im.size - 1000), BLY_ENOMEM);
    assert_int_equal(account.refusal, BM_REFUSED_TOTAL);
    assert_int_equal(fake_config_set("max-total-memory", "0"), RM_OK);
    assert_ok(bm_staged_file_append(s, im.data + 1000, im.size - 1001));
    uint8_t wrong = im.data[im.size - 1] ^ 1;
    assert_ok(bm_staged_file_append(s, &wrong, 1));
    assert_int_equal(bm_staged_file_finish(s, &f, &keyless), BLY_ECORRUPT);
    assert_null(f);
    assert_int_equal(account.bytes, 0);
    assert_ok(bm_staged_file_begin(&account, im.size, im.data, 1000, &(bm_traits){0}, &s));
    assert_int_equal(bm_staged_file_finish(s, &f, &keyless), BLY_EINVAL);
    free(im.data);
    bm_value_free(value);
    assert_int_equal(heap_now(), heap);
}

static void test_staged_chunks_limits(void **state) {
    (void)state;
    uint8_t header[400];
    bly_rb_bloom *bloom;
    const bly_rb_bloom_spec spec = {.error = 0.01, .capacity = 100000000, .growth = 2};
    assert_ok(bly_rb_bloom_create(&spec, NULL, &bloom));
    bly_rb_bloom_header(bloom, header);
    size_t size = bly_rb_bloom_header_size(bloom);
    bly_rb_bloom_destroy(bloom);
    bm_account account = {0};
    bm_staged_chunks *staged;
    fake_heap_reset();
    assert_int_equal(fake_config_set("max-filter-memory", "1000000"), RM_OK);
    assert_int_equal(bm_staged_chunks_begin_bloom(&account, header, size, &staged), BLY_ENOMEM);
    assert_int_equal(account.refusal, BM_REFUSED_FILTER);
    assert_true(atomic_load(&fake_heap.largest) < 100000);
    assert_int_equal(fake_config_set("max-filter-memory", "0"), RM_OK);
    assert_int_equal(fake_config_set("max-total-memory", "1000000"), RM_OK);
    assert_int_equal(bm_staged_chunks_begin_bloom(&account, header, size, &staged), BLY_ENOMEM);
    assert_int_equal(account.refusal, BM_REFUSED_TOTAL);
    account.unlimited = true;
    assert_ok(bm_staged_chunks_begin_bloom(&account, header, size, &staged));
    bm_staged_chunks_free(staged);
    assert_int_equal(fake_config_set("max-total-memory", "0"), RM_OK);
    fake_heap.max_request = 1 << 20;
    assert_int_equal(bm_staged_chunks_begin_bloom(&account, header, size, &staged), BLY_ENOMEM);
    assert_int_equal(account.refusal, BM_REFUSED_SYSTEM);
    assert_int_equal(bm_staged_chunks_begin_bloom(&account, header, size - 1, &staged),
                     BLY_ECORRUPT);
    fake_heap_reset();
    assert_true(heap_now() < 1 << 20);
}

/* ---- RedisBloom ------------------------------------------------------------------------------ */

static bm_value *large(bm_value_type type) {
    bm_value *value = bm_value_new(type);
    bly_allocator a = bm_allocator(&value->account);
    const bly_rb_bloom_spec spec = {.error = 0.01, .capacity = 3000000, .growth = 2};
    const bly_rb_cuckoo_spec table = {20000000, 4, 20, 1};
    if (type == BM_RB_BLOOM)
        assert_ok(bly_rb_bloom_create(&spec, &a, &value->as.bloom));
    else
        assert_ok(bly_rb_cuckoo_create(&table, &a, &value->as.cuckoo));
    return value;
}

/* Filters that take more than one chunk of LOADCHUNK. */
static void test_redisbloom(void **state) {
    (void)state;
    for (bm_value_type type = BM_RB_BLOOM; type <= BM_RB_CUCKOO; type++) {
        bm_value *value = large(type);
        check_round_trip(value);
        check_copy(value);
        check_defrag(value);
        check_aof(value);
        check_numbers(value);
        rm_io *io = saved(value);
        assert_int_equal(fake_config_set("max-filter-memory", "1000000"), RM_OK);
        assert_null(loaded(io, type_of(value)));
        assert_non_null(strstr(fake_last_log, "max-filter-memory"));
        assert_null(copied(value));
        fake_flags = RM_CTX_MASTER | RM_CTX_LOADING;
        bm_value *back = loaded(io, type_of(value));
        fake_flags = RM_CTX_MASTER;
        assert_non_null(back);
        assert_int_equal(fake_config_set("max-filter-memory", "0"), RM_OK);
        bm_value_free(back);
        fake_io_free(io);
        bm_value_free(value);
    }
}

int main(void) {
    if (fake_host_start(NULL) != RM_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_promises),
        cmocka_unit_test(test_staged_file),
        cmocka_unit_test(test_staged_file_fails),
        cmocka_unit_test(test_staged_chunks_limits),
        cmocka_unit_test(test_redisbloom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
