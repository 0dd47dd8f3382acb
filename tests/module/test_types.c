/* test_types.c - the data type bloomery1: every kind of filter, invalid streams, missing secret
 * keys, and tombstones. test_staged_loads.c tests staged loads, test_big.c big values. */
#include "load/redisbloom_chunks.h"
#include "load/staged_file.h"
#include "runtime/keyring.h"
#include "types_support.h"

#include <bloomery/filter.h>
#include <unistd.h>

static void test_every_kind(void **state) {
    (void)state;
    size_t heap = heap_now();
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k; k = bly_kind_next(k)) {
        if (getenv("BLYT_VERBOSE"))
            print_message("           %s\n", bly_kind_name(k));
        bm_value *value = of_kind(k, KEYS);
        uint8_t face = k == BLY_SCALABLE ? BM_FACE_BF : BM_FACE_BLY;
        value->traits = (bm_traits){.face = face, .expansion = 7, .deletes = 1ull << 40};
        check_value(value);
        bm_value_free(value);
    }
    assert_int_equal(heap_now(), heap);
    assert_int_equal(bm_memory_total(), 0);
}

/* A filter with several levels, and a timed window. */
static void test_levels_and_clock(void **state) {
    (void)state;
    bm_value *value = made(bly_spec_for(BLY_SCALABLE, 100, 0.01), 20000);
    assert_true(bly_filter_level_count(value->as.filter) > 4);
    check_value(value);
    bm_value_free(value);
    bly_spec spec = bly_spec_for(BLY_WINDOW, 1000, 0.01);
    spec.window.span = 60000;
    value = made(spec, 500);
    assert_ok(bly_window_advance(value->as.filter, 123456789));
    use_up(copied(value)); /* makes the timer allocate memory, which it keeps */
    check_value(value);
    bm_value_free(value);
}

/* ---- traits ---------------------------------------------------------------------------------- */

static void test_traits(void **state) {
    (void)state;
    const bm_traits traits = {BM_FACE_CF, true, 65535, 12345, 0x89ABCDEF, 0x0123456789ABCDEF};
    uint8_t bytes[BM_TRAITS_BYTES];
    bm_traits back;
    bm_traits_encode(&traits, bytes);
    assert_true(bm_traits_decode(bytes, sizeof bytes, &back));
    assert_true(back.face == traits.face && back.nonscaling && back.bucket_size == 65535 &&
                back.max_iterations == 12345 && back.expansion == 0x89ABCDEF &&
                back.deletes == traits.deletes);
    assert_false(bm_traits_decode(bytes, sizeof bytes - 1, &back));
    assert_false(bm_traits_decode(NULL, 0, &back));
    const size_t strict[] = {0, 1, 2, 3, 12, 15};
    for (size_t i = 0; i < COUNT_OF(strict); i++) {
        uint8_t kept = bytes[strict[i]];
        bytes[strict[i]] = 77;
        assert_false(bm_traits_decode(bytes, sizeof bytes, &back));
        bytes[strict[i]] = kept;
    }
}

/* ---- invalid streams ------------------------------------------------------------------------- */

static void test_hostile(void **state) {
    (void)state;
    bm_value *value = of_kind(BLY_CLASSIC, KEYS);
    blyt_buffer im = blyt_write(value->as.filter);
    const char *data = (const char *)im.data;
    const uint64_t totals[] = {0, 1, 63, 64, im.size - 1, im.size + 1, 1ull << 40, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(totals); i++) {
        rm_io *io = begun(1);
        rm.SaveUnsigned(io, totals[i]);
        rm.SaveStringBuffer(io, data, im.size);
        check_refused(io);
        io = begun(2); /* the same stream, but with a staged file */
        rm.SaveStringBuffer(io, "", 0);
        check_refused(io);
    }
    rm_io *io = begun(1); /* empty pieces */
    rm.SaveUnsigned(io, im.size);
    rm.SaveStringBuffer(io, data, 64);
    for (int i = 0; i < 10; i++)
        rm.SaveStringBuffer(io, "", 0);
    check_refused(io);
    io = begun(1); /* a header in two pieces */
    rm.SaveUnsigned(io, im.size);
    rm.SaveStringBuffer(io, data, 63);
    rm.SaveStringBuffer(io, data + 63, im.size - 63);
    check_refused(io);
    check_refused(begun(8));
    check_refused(begun(UINT64_MAX));
    io = begun(4);
    rm.SaveUnsigned(io, BM_FILTER);
    check_refused(io);
    free(im.data);
    bm_value_free(value);
}

static void test_encodings(void **state) {
    (void)state;
    bm_value *value = of_kind(BLY_CLASSIC, KEYS);
    rm_io *io = saved(value);
    assert_null(fake_type("bloomery1")->methods.rdb_load(io, 2));
    assert_non_null(strstr(fake_last_log, "newer"));
    fake_io_free(io);
    value->traits.face = BM_FACE_CF; /* no removal, but a face that needs it */
    check_refused(saved(value));
    bm_value_free(value);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void test_limits(void **state) {
    (void)state;
    bm_value *value = of_kind(BLY_CLASSIC, 100000);
    rm_io *io = saved(value);
    assert_int_equal(fake_config_set("max-filter-memory", "100000"), RM_OK);
    assert_null(loaded(io, fake_type("bloomery1")));
    assert_non_null(strstr(fake_last_log, "max-filter-memory"));
    assert_null(copied(value));
    const int flags[] = {RM_CTX_MASTER | RM_CTX_LOADING, 0};
    /* while an RDB file is loaded, and on a replica */
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        fake_flags = flags[i];
        bm_value *back = loaded(io, fake_type("bloomery1")), *copy = copied(value);
        assert_non_null(back);
        assert_non_null(copy);
        assert_false(back->account.unlimited || copy->account.unlimited);
        bm_value_free(back);
        bm_value_free(copy);
    }
    fake_flags = RM_CTX_MASTER;
    assert_int_equal(fake_config_set("max-filter-memory", "0"), RM_OK);
    assert_int_equal(fake_config_set("max-total-memory", "100000"), RM_OK);
    assert_null(loaded(io, fake_type("bloomery1")));
    assert_non_null(strstr(fake_last_log, "max-total-memory"));
    assert_int_equal(fake_config_set("max-total-memory", "0"), RM_OK);
    fake_io_free(io);
    bm_value_free(value);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* A filter whose secret key is missing is kept, and works again when it is loaded together with the
 * key. */
static void test_keyless(void **state) {
    (void)state;
    if (!bly_hash_available(BLY_HASH_SIPHASH))
        return;
    char path[] = "/tmp/bloomery-keys-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "00112233445566778899aabbccddeeff\n", 33), 33);
    close(file);
    assert_int_equal(fake_config_set("key-file", path), RM_OK);
    assert_int_equal(bm_keyring_size(), 1);
    bly_spec spec = bly_spec_for(BLY_CLASSIC, KEYS, 0.01);
    spec.hasher = *bm_keyring_at(0);
    bm_value *value = made(spec, KEYS);
    check_round_trip(value);
    rm_io *io = saved(value);
    assert_int_equal(fake_config_set("key-file", ""), RM_OK);
    assert_int_equal(bm_keyring_size(), 0);
    bm_value *without = loaded(io, fake_type("bloomery1"));
    assert_non_null(without);
    assert_true(without->keyless);
    assert_true(digest_of(without) == digest_of(value));
    check_value(without);
    assert_int_equal(fake_config_set("key-file", path), RM_OK);
    rm_io *again = saved(without);
    bm_value *with = loaded(again, fake_type("bloomery1"));
    assert_non_null(with);
    assert_false(with->keyless);
    assert_true(bly_filter_contains(with->as.filter, "17", 2));
    assert_int_equal(fake_config_set("key-file", ""), RM_OK);
    (void)unlink(path);
    bm_value_free(value);
    bm_value_free(without);
    bm_value_free(with);
    fake_io_free(io);
    fake_io_free(again);
}

/* If a key gets a new value, it keeps its expiry, even if the type changes. */
static void test_key_set(void **state) {
    (void)state;
    rm_ctx *ctx = fake_context();
    rm_string *name = fake_string("k", 1);
    bm_key key = bm_key_open(ctx, name, RM_READ);
    assert_int_equal(key.type, BM_MISSING);
    assert_null(key.value);
    bm_key_close(&key);
    key = bm_key_open(ctx, name, RM_READ | RM_WRITE);
    bm_key_set(&key, of_kind(BLY_CLASSIC, 10));
    bm_key_close(&key);
    fake_expire("k", 1234567);
    key = bm_key_open(ctx, name, RM_READ | RM_WRITE);
    assert_int_equal(key.type, BM_FILTER);
    assert_false(key.value->account.unlimited);
    bm_value *value = rb_staged(BM_RB_CUCKOO, 0);
    bm_value *cuckoo = bm_staged_chunks_finish(value->staged_chunks);
    value->staged_chunks = NULL;
    bm_value_free(value);
    bm_key_set(&key, cuckoo);
    assert_int_equal(key.type, BM_RB_CUCKOO);
    bm_key_close(&key);
    assert_int_equal(fake_expiry("k"), 1234567);
    assert_int_equal(fake_config_set("max-filter-memory", "1000000"), RM_OK);
    const int flags[] = {RM_CTX_REPLICATED, RM_CTX_MASTER, RM_CTX_MASTER | RM_CTX_LOADING};
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        fake_flags = flags[i];
        key = bm_key_open(ctx, name, RM_READ | RM_WRITE);
        assert_int_equal(key.value->account.unlimited, flags[i] != RM_CTX_MASTER);
        bm_key_close(&key);
    }
    fake_flags = RM_CTX_MASTER;
    assert_int_equal(fake_config_set("max-filter-memory", "0"), RM_OK);
    fake_flush();
    fake_string_free(name);
}

static void test_overfull(void **state) {
    (void)state;
    bm_totals totals;
    bm_value *value = of_kind(BLY_SPLIT512, 100);
    uint64_t stamp = value->stamp;
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t count = bly_filter_count(value->as.filter);
        bm_value_changed(value);
        assert_true(value->stamp > stamp);
        stamp = value->stamp;
        bm_totals_get(&totals);
        assert_int_equal(totals.overfull, count > 150);
        assert_ok(bly_filter_add(value->as.filter, &i, sizeof i, NULL));
    }
    bly_filter_clear(value->as.filter);
    bm_value_changed(value);
    bm_totals_get(&totals);
    assert_int_equal(totals.overfull, 0);
    for (uint64_t i = 0; i < 400; i++)
        assert_ok(bly_filter_add(value->as.filter, &i, sizeof i, NULL));
    rm_io *io = saved(value);
    bm_value *back = loaded(io, fake_type("bloomery1"));
    bm_totals_get(&totals);
    assert_int_equal(totals.overfull, 1);
    bm_value_free(back);
    bm_totals_get(&totals);
    assert_int_equal(totals.overfull, 0);
    fake_io_free(io);
    bm_value_free(value);
}

/* A tombstone passes the same checks as every other value. */
static void test_tombstone(void **state) {
    (void)state;
    bm_totals totals;
    bm_value *value = bm_value_new(BM_FILTER);
    value->traits.tombstone = true;
    bm_value_changed(value);
    check_value(value);
    bm_totals_get(&totals);
    assert_int_equal(totals.tombstones, 1);
    bm_value_free(value);
    bm_totals_get(&totals);
    assert_int_equal(totals.tombstones, 0);
    value = of_kind(BLY_SCALABLE, KEYS); /* it cannot be a tombstone and have a filter */
    value->traits.tombstone = true;
    check_refused(saved(value));
    bm_value_free(value);
}

/* If there is no memory to grow, a client gets an error. A write from a master cannot be refused,
 * so it leaves a tombstone. */
static void test_cannot_follow(void **state) {
    (void)state;
    static const struct {
        const char *kind, *command;
    } writes[] = {{"scalable", "BLY.ADD"},         {"scalable", "BF.ADD"},
                  {"scalable", "BF.MADD"},         {"scalable-cuckoo", "CF.ADD"},
                  {"scalable-cuckoo", "CF.ADDNX"}, {"scalable-cuckoo", "BLY.ADD"}};
    for (size_t i = 0; i < COUNT_OF(writes); i++) {
        const char *command = writes[i].command;
        const char *made =
            fake_run("BLY.RESERVE", "k", "KIND", writes[i].kind, "CAPACITY", "2000", NULL);
        assert_string_equal(made, "OK");
        bool failed = false;
        char item[24];
        fake_heap.max_request = 1024;
        for (int n = 0; n < 4000 && !failed; n++) {
            snprintf(item, sizeof item, "%d", n);
            failed = strstr(fake_run(command, "k", item, NULL), "-ERR") != NULL;
        }
        assert_true(failed);
        rm_type *type;
        assert_false(((bm_value *)fake_get("k", &type))->traits.tombstone);
        fake_flags = RM_CTX_REPLICATED;
        assert_string_equal(fake_run(command, "k", item, NULL), "nil");
        assert_true(((bm_value *)fake_get("k", &type))->traits.tombstone);
        assert_non_null(strstr(fake_last_log, "lost"));
        fake_commands_clear(&fake_replicated);
        assert_string_equal(fake_run(command, "k", item, NULL), "nil");
        assert_int_equal(fake_replicated.n, 0); /* the write is skipped */
        fake_flags = RM_CTX_MASTER;
        assert_non_null(strstr(fake_run(command, "k", item, NULL), "-ERR the filter is lost"));
        fake_heap_reset();
        fake_flush();
    }
}

/* Defragmentation between two chunks of a dump does not change the dump; an add does. */
static void test_dump_and_defrag(void **state) {
    (void)state;
    static const char *const commands[] = {"BF.SCANDUMP", "BLY.DUMP"};
    bm_value *value = of_kind(BLY_SPLIT512, 100);
    fake_set("k", fake_type("bloomery1"), value);
    uint64_t bytes = value->account.bytes;
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        assert_true(fake_run(commands[i], "k", "0", NULL)[0] == '*');
        /* the image that is dumped does not count as memory of the filter */
        assert_int_equal(value->account.bytes, bytes);
        char before[256];
        snprintf(before, sizeof before, "%s", fake_run(commands[i], "k", "1", NULL));
        void *ptr = value;
        rm_defrag defrag = {0};
        assert_int_equal(type_of(value)->methods.defrag(&defrag, NULL, &ptr), 0);
        assert_true(defrag.moves > 0);
        bytes = value->account.bytes;
        assert_memory_equal(fake_run(commands[i], "k", "1", NULL), before, strlen(before));
    }
    (void)fake_run("BF.ADD", "k", "one more", NULL);
    assert_true(strncmp(fake_run("BF.SCANDUMP", "k", "1", NULL), "-ERR the filter changed", 23) ==
                0);
    fake_flush();
}

int main(void) {
    if (fake_host_start(NULL) != RM_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dump_and_defrag),  cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_levels_and_clock), cmocka_unit_test(test_traits),
        cmocka_unit_test(test_hostile),          cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_limits),           cmocka_unit_test(test_keyless),
        cmocka_unit_test(test_key_set),          cmocka_unit_test(test_overfull),
        cmocka_unit_test(test_tombstone),        cmocka_unit_test(test_cannot_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
