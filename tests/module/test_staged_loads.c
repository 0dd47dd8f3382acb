/* test_staged_loads.c - filters that are loaded in chunks: files by BLY.LOAD, and RedisBloom's
 * chunks. test_big.c has big ones. */
#include "load/redisbloom_chunks.h"
#include "load/staged_file.h"
#include "types_support.h"

/* ---- staged files ---------------------------------------------------------------------------- */

/* Returns a value with `part` tenths of a file received, and with or without a filter that is in
 * use. */
static bm_value *staged_value(size_t part, bool serving) {
    bm_value *whole = made(bly_spec_for(BLY_SCALABLE, 100, 0.01), 5000);
    blyt_buffer im = blyt_write(whole->as.filter);
    bm_value *value = serving ? of_kind(BLY_CUCKOO, KEYS) : bm_value_new(BM_FILTER);
    const bm_traits traits = {.face = BM_FACE_BF, .expansion = 3};
    assert_ok(
        bm_staged_file_begin(&value->account, im.size, im.data, 64, &traits, &value->staged_file));
    for (size_t at = 64, n; at < part * im.size / 10; at += n) {
        n = part * im.size / 10 - at < 777 ? part * im.size / 10 - at : 777;
        assert_ok(bm_staged_file_append(value->staged_file, im.data + at, n));
    }
    free(im.data);
    bm_value_free(whole);
    return value;
}

static void test_staged_values(void **state) {
    (void)state;
    size_t heap = heap_now();
    bm_totals totals;
    for (size_t part = 0; part < 10; part += 3)
        for (int serving = 0; serving < 2; serving++) {
            bm_value *value = staged_value(part, serving);
            bm_totals_get(&totals);
            assert_int_equal(totals.staged, 1);
            check_value(value);
            bm_value_free(value);
        }
    bm_totals_get(&totals);
    assert_int_equal(totals.staged, 0);
    assert_int_equal(totals.filters, 0);
    assert_int_equal(heap_now(), heap);
}

static void test_staged_file(void **state) {
    (void)state;
    check_staged_file(bly_spec_for(BLY_SCALABLE, 100, 0.01), 1);
}

/* A filter may be replaced by one of the same size, even if both together exceed the limit for one
 * filter. */
static void test_staged_file_limits(void **state) {
    (void)state;
    bm_value *value = of_kind(BLY_CLASSIC, 100000);
    blyt_buffer im = blyt_write(value->as.filter);
    char limit[32];
    bly_filter *f;
    bool keyless;
    snprintf(limit, sizeof limit, "%zu", im.size + 1000);
    assert_int_equal(fake_config_set("max-filter-memory", limit), RM_OK);
    assert_ok(bm_staged_file_begin(&value->account, im.size, im.data, 64, &(bm_traits){0},
                                   &value->staged_file));
    assert_ok(bm_staged_file_append(value->staged_file, im.data + 64, im.size - 64));
    assert_int_equal(bm_memory_would_refuse(&value->account, 100), BM_REFUSED_NOT);
    assert_ok(bm_staged_file_finish(value->staged_file, &f, &keyless));
    value->staged_file = NULL;
    assert_false(value->account.unlimited);
    bly_filter_destroy(value->as.filter);
    value->as.filter = f;
    snprintf(limit, sizeof limit, "%zu", im.size - 1);
    assert_int_equal(fake_config_set("max-filter-memory", limit), RM_OK);
    assert_int_equal(bm_staged_file_begin(&value->account, im.size, im.data, 64, &(bm_traits){0},
                                          &value->staged_file),
                     BLY_ENOMEM);
    assert_int_equal(value->account.refusal, BM_REFUSED_FILTER);
    assert_int_equal(fake_config_set("max-filter-memory", "0"), RM_OK);
    free(im.data);
    bm_value_free(value);
}

/* ---- RedisBloom's chunks --------------------------------------------------------------------- */

static void test_rb_staged(void **state) {
    (void)state;
    size_t heap = heap_now();
    for (size_t parts = 0; parts < 5; parts += 2) {
        bm_value *bloom = rb_staged(BM_RB_BLOOM, parts);
        bm_value *cuckoo = rb_staged(BM_RB_CUCKOO, parts);
        check_value(bloom);
        check_value(cuckoo);
        bm_value_free(bloom);
        bm_value_free(cuckoo);
    }
    assert_int_equal(heap_now(), heap);
}

/* In a saved staged load, the received ranges must be in order, separate, and within the 144 bytes
 * of data. */
static void test_stretches(void **state) {
    (void)state;
    static const struct {
        uint64_t n, at[4];
        bool good;
    } rows[] = {{0, {0}, true},
                {1, {0, 144}, true},
                {2, {0, 10, 11, 20}, true},
                {1, {0, 145}, false},
                {1, {5, 5}, false},
                {1, {9, 3}, false},
                {2, {0, 10, 10, 20}, false},
                {2, {50, 60, 10, 20}, false},
                {2, {0, 10, 5, 20}, false},
                {1, {1, UINT64_MAX}, false}};
    bm_value *value = rb_staged(BM_RB_BLOOM, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        rm_io *io = saved(value);
        io->size = io->fields[io->n_fields - 1]; /* the number of ranges */
        rm.SaveUnsigned(io, rows[i].n);
        for (size_t j = 0; j < 2 * rows[i].n; j++)
            rm.SaveUnsigned(io, rows[i].at[j]);
        bm_value *back = loaded(io, fake_type("bloomery1"));
        assert_int_equal(back != NULL, rows[i].good);
        if (back)
            assert_int_equal(bm_staged_chunks_complete(back->staged_chunks), i == 1);
        bm_value_free(back);
        fake_io_free(io);
    }
    bm_value_free(value);
}

/* Chunks may come in any order and overlap. The load is complete when every byte has been received,
 * and not before. */
static void test_staged_chunks_order(void **state) {
    (void)state;
    uint64_t rng = 7;
    for (int round = 0; round < 200; round++) {
        bm_value *value = rb_staged(BM_RB_BLOOM, 0);
        enum { DATA = 144 };
        bool there[DATA] = {false};
        size_t missing = DATA;
        while (missing) {
            assert_false(bm_staged_chunks_complete(value->staged_chunks));
            size_t from = blyt_next(&rng) % DATA, n = blyt_next(&rng) % 20;
            n = n > DATA - from ? DATA - from : n;
            uint8_t bytes[20] = {0};
            assert_ok(bm_staged_chunks_write(value->staged_chunks, from, bytes, n));
            for (size_t i = from; i < from + n; i++) {
                missing -= !there[i];
                there[i] = true;
            }
        }
        assert_true(bm_staged_chunks_complete(value->staged_chunks));
        assert_int_not_equal(bm_staged_chunks_write(value->staged_chunks, DATA, "x", 1), BLY_OK);
        bm_value *whole = bm_staged_chunks_finish(value->staged_chunks);
        value->staged_chunks = NULL;
        assert_int_equal(whole->type, BM_RB_BLOOM);
        bm_value_free(whole);
        bm_value_free(value);
    }
    bm_totals totals;
    bm_totals_get(&totals);
    assert_int_equal(totals.rb_blooms + totals.rb_cuckoos + totals.staged + totals.filters, 0);
}

int main(void) {
    if (fake_host_start(NULL) != RM_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_staged_values),      cmocka_unit_test(test_staged_file),
        cmocka_unit_test(test_staged_file_limits), cmocka_unit_test(test_rb_staged),
        cmocka_unit_test(test_stretches),          cmocka_unit_test(test_staged_chunks_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
