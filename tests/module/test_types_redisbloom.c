/* test_types_redisbloom.c - the data types MBbloom-- and MBbloomCF: values that RedisBloom saved,
 * in every encoding, are loaded, and saved as RedisBloom would save them. test_big.c tests big
 * values. */
#include "golden.h"
#include "types_support.h"

#include <bloomery/host/redisbloom.h>
#include <dirent.h>

static size_t header_of(const bm_value *value, uint8_t *to) {
    if (value->type == BM_RB_CUCKOO) {
        bly_rb_cuckoo_header(value->as.cuckoo, to);
        return BLY_RB_CUCKOO_HEADER;
    }
    bly_rb_bloom_header(value->as.bloom, to);
    return bly_rb_bloom_header_size(value->as.bloom);
}

static void check_golden(const char *name) {
    golden g = read_golden(name);
    if (getenv("BLYT_VERBOSE"))
        print_message("           %s\n", name);
    bm_value *value = g.type->methods.rdb_load(g.io, g.encoding);
    assert_non_null(value);
    assert_int_equal(g.io->at, g.io->size);
    uint8_t header[4096];
    if (g.header_size) {
        assert_int_equal(header_of(value, header), g.header_size);
        assert_memory_equal(header, g.header, g.header_size);
    }
    rm_io *again = saved(value);
    if (g.encoding == BLY_RB_ENCODING) {
        assert_int_equal(again->size, g.io->size);
        assert_memory_equal(again->data, g.io->data, g.io->size);
    }
    check_value(value);
    /* streams of older encodings are truncated, too */
    size_t heap = heap_now(), whole = g.io->size;
    for (size_t i = 0; i < g.io->n_fields; i++) {
        g.io->size = g.io->fields[i];
        fake_io_rewind(g.io);
        assert_null(g.type->methods.rdb_load(g.io, g.encoding));
    }
    g.io->size = whole;
    fake_io_rewind(g.io);
    assert_null(g.type->methods.rdb_load(g.io, BLY_RB_ENCODING + 1));
    assert_int_equal(heap_now(), heap);
    bm_value_free(value);
    fake_io_free(again);
    fake_io_free(g.io);
}

static void test_golden(void **state) {
    (void)state;
    size_t heap = heap_now();
    DIR *folder = opendir(BLYT_RB_GOLDEN);
    assert_non_null(folder);
    size_t seen = 0;
    for (const struct dirent *e; (e = readdir(folder));)
        if (strstr(e->d_name, ".txt")) {
            check_golden(e->d_name);
            seen++;
        }
    closedir(folder);
    assert_true(seen > 10);
    assert_true(heap_now() <= heap + 4096); /* texts of changed settings stay allocated */
    assert_int_equal(bm_memory_total(), 0);
}

/* A short stream that announces a large value is refused without much memory. */
static void test_promises(void **state) {
    (void)state;
    const uint64_t many[] = {0, 32769, 1ull << 32, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(many); i++)
        for (int cuckoo = 0; cuckoo < 2; cuckoo++) {
            rm_io *io = fake_io_new();
            rm.SaveUnsigned(io, cuckoo ? many[i] : 10);
            rm.SaveUnsigned(io, cuckoo ? 1ull << 40 : many[i]);
            for (int j = 0; j < 20; j++)
                rm.SaveUnsigned(io, 2);
            fake_heap_reset();
            assert_null(loaded(io, fake_type(cuckoo ? "MBbloomCF" : "MBbloom--")));
            assert_true(atomic_load(&fake_heap.largest) < 4 << 20);
            fake_io_free(io);
        }
}

int main(void) {
    if (fake_host_start(NULL) != RM_OK)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden),
                                       cmocka_unit_test(test_promises)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
