/* test_growth.c - the growth limit of filters from files: the first add to a filter from a small
 * file cannot allocate gigabytes. */
#include "store_support.h"

#include "formats/redisbloom_support.h"

#include <bloomery/host/redisbloom.h>

enum { MEBI = 1 << 20 };

/* An allocator that refuses blocks above 96 MiB, and records the largest requested size. */
static void *small_alloc(void *ctx, size_t size) {
    size_t *largest = ctx;
    if (size > *largest)
        *largest = size;
    return size > 96 * (size_t)MEBI ? NULL : calloc(1, size);
}

static void small_free(void *ctx, void *block) {
    (void)ctx;
    free(block);
}

static bly_allocator small_allocator(size_t *largest) {
    return (bly_allocator){small_alloc, small_free, largest};
}

static void assert_unchanged(const bly_filter *f, blyt_buffer was) {
    blyt_buffer now = blyt_write(f);
    assert_int_equal(now.size, was.size);
    assert_memory_equal(now.data, was.data, was.size);
    free(now.data);
}

/* Takes a full filter that would grow by gigabytes. Asserts that, until the limit is raised, no
 * kind of add allocates more than 64 MiB, or changes the filter. */
static void assert_limited(bly_filter *f, blyt_buffer was, size_t *largest) {
    bly_bytes key = blyt_text("new");
    bly_hash h = bly_hash_key(bly_filter_hasher(f), key.data, key.size);
    bly_batch_result tally;
    bool added = true;
    assert_int_equal(bly_filter_add(f, key.data, key.size, &added), BLY_EGROWTH);
    assert_int_equal(bly_filter_add_many(f, &key, 1, NULL, &tally), BLY_EGROWTH);
    assert_int_equal(tally.done, 0);
    assert_int_equal(bly_filter_add_hash(f, h, NULL), BLY_EGROWTH);
    assert_int_equal(bly_filter_add_hashes(f, &h, 1, NULL, NULL), BLY_EGROWTH);
    assert_true(*largest <= 64 * MEBI);
    assert_unchanged(f, was);
    bly_filter_limit_growth(f, (uint64_t)1 << 30);
    assert_int_equal(bly_filter_add_hash(f, h, NULL), BLY_EGROWTH);
    assert_true(*largest <= 64 * MEBI);
    bly_filter_limit_growth(f, UINT64_MAX);
    assert_int_equal(bly_filter_add_hash(f, h, NULL), BLY_ENOMEM); /* the memory is requested now */
    assert_true(*largest > 1u << 30);
    assert_unchanged(f, was);
    bly_filter_limit_growth(f, 0);
    assert_int_equal(bly_filter_add_hash(f, h, NULL), BLY_EGROWTH);
    bly_filter_destroy(f);
    *largest = 0;
}

/* The next level of this file of 768 bytes would take 2 GB. It is opened in every way. */
static void test_amplify(void **state) {
    (void)state;
    blyt_buffer im = slurp(BLYT_GOLDEN_DIR "/../regressions/amplify-768B.bly");
    size_t largest = 0;
    const bly_allocator a = small_allocator(&largest);
    const bly_open_options o = {.struct_size = sizeof o, .allocator = &a};
    bly_filter *f = NULL, *copy = NULL;
    bly_map *map = NULL;
    assert_ok(bly_filter_parse(im.data, im.size, &o, &f));
    assert_limited(f, im, &largest);
    spill(at("amplify.bly"), im.data, im.size);
    assert_ok(bly_filter_load(at("amplify.bly"), &o, &f));
    assert_ok(bly_filter_clone(f, &a, &copy));
    assert_limited(copy, im, &largest);
    assert_limited(f, im, &largest);
    assert_ok(bly_map_open(at("amplify.bly"), &o, &map));
    assert_ok(bly_filter_clone(bly_map_filter(map), &a, &f));
    assert_limited(f, im, &largest);
    bly_map_close(map);
    const bly_open_options raised = {
        .struct_size = sizeof raised, .allocator = &a, .max_growth = UINT64_MAX};
    assert_ok(bly_filter_parse(im.data, im.size, &raised, &f));
    assert_int_equal(bly_filter_add(f, "new", 3, NULL), BLY_ENOMEM);
    bly_filter_destroy(f);
    free(im.data);
}

/* Filters that were created, not loaded, grow without a limit, also as the base of an overlay. */
static void test_created_is_free(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_HAS_LEVELS))
            continue;
        size_t largest = 0;
        const bly_allocator a = small_allocator(&largest);
        bly_spec spec = bly_spec_for(c->kind, 100000, 0.01);
        bly_filter *f = NULL;
        spec.scalable.growth = 16384;
        spec.allocator = &a;
        assert_ok(bly_filter_create(&spec, &f));
        bly_status status = BLY_OK;
        char key[32];
        for (int n = 0; status == BLY_OK; n++) {
            int len = key_text(key, "store", n);
            status = bly_filter_add(f, key, (size_t)len, NULL);
        }
        assert_int_equal(status, BLY_ENOMEM);
        blyt_buffer im = blyt_write(f);
        const bly_open_options o = {.struct_size = sizeof o, .allocator = &a};
        bly_filter_destroy(f);
        largest = 0;
        assert_ok(bly_filter_parse(im.data, im.size, &o, &f));
        assert_limited(f, im, &largest);
        free(im.data);
    }
}

/* Steps come in groups of four: two adds of a key, an add of another key, and a remove of the
 * first. A step that the filter does not support, or has no room for, counts as done. */
static bly_status do_step(bly_filter *f, int i) {
    char key[32];
    size_t len = (size_t)key_text(key, "grow", i / 4);
    bly_status status = i % 4 < 2    ? bly_filter_add(f, key, len, NULL)
                        : i % 4 == 2 ? bly_filter_add(f, "copy", 4, NULL)
                                     : bly_filter_remove(f, key, len, NULL);
    return status == BLY_EFULL || status == BLY_EUNSUPPORTED ? BLY_OK : status;
}

/* Does n steps, or those before the first that fails. Returns how many were done. */
static int do_steps(bly_filter *f, int n) {
    int i = 0;
    while (i < n && do_step(f, i) == BLY_OK)
        i++;
    return i;
}

/* Whether adds may need more memory: for keys, for larger counts, or for keys beside a base. */
static bool grows(bly_kind kind) {
    return blyt_grows(kind) || bly_kind_capabilities(kind) & BLY_DETAIL_GROWS ||
           kind == BLY_OVERLAY;
}

/* Every kind that grows obeys a limit, is unchanged when it has reached it, and continues when the
 * limit is removed. The default limit does not affect filters of a few keys. */
static void test_limit_of_kinds(void **state) {
    (void)state;
    enum { STEPS = 2000 };  /* shapes that reach the limit do so within 800 steps */
    bool met[64] = {false}; /* indexed by kind; some shapes have room for all these keys */
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30), *loaded = NULL;
        blyt_buffer im = blyt_write(f);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &loaded));
        bly_filter_limit_growth(loaded, 1);
        int failed = do_steps(loaded, STEPS);
        if (failed < STEPS) {
            met[shape_at(i).kind] = true;
            blyt_buffer before = blyt_write(loaded);
            assert_int_equal(do_step(loaded, failed), BLY_EGROWTH);
            assert_unchanged(loaded, before);
            bly_filter_limit_growth(loaded, UINT64_MAX);
            assert_ok(do_step(loaded, failed));
            free(before.data);
        }
        bly_filter_destroy(loaded);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &loaded));
        assert_int_equal(do_steps(loaded, STEPS), STEPS);
        bly_filter_destroy(loaded);
        bly_filter_destroy(f);
        free(im.data);
    }
    for (size_t i = 0; i < shape_count(); i++)
        assert_int_equal(met[shape_at(i).kind], grows(shape_at(i).kind));
}

/* Adds keys to a small loaded filter: with the default limit, it can grow to any size step by
 * step. */
static void grow_honestly(bly_kind kind, uint32_t growth, const blyt_list *l) {
    bly_spec spec = bly_spec_for(kind, 100, 0.001);
    spec.scalable.growth = growth;
    spec.cuckoo.horizon = kind == BLY_GROWABLE_CUCKOO ? (uint64_t)1 << 21 : 0;
    bly_filter *f = NULL, *back = NULL;
    assert_ok(bly_filter_create(&spec, &f));
    blyt_buffer im = blyt_write(f);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &back));
    blyt_add_all(back, l);
    assert_true(bly_filter_count(back) > l->n / 100 * 99);
    free(im.data);
    bly_filter_destroy(f);
    bly_filter_destroy(back);
}

static void test_honest_growth(void **state) {
    (void)state;
    blyt_list l = list_keys("store", 1000000 / BLYT_SLOW);
    for (uint32_t growth = 2; growth <= 32; growth *= 4) {
        grow_honestly(BLY_SCALABLE, growth, &l);
        grow_honestly(BLY_SCALABLE_CUCKOO, growth, &l);
    }
    grow_honestly(BLY_GROWABLE_CUCKOO, 0, &l);
    blyt_list_free(&l);
}

/* By default, a step may allocate 64 times the present size of the filter, not 64 times the size of
 * the loaded file. */
static void test_default_follows_size(void **state) {
    (void)state;
    size_t largest = 0;
    const bly_allocator a = small_allocator(&largest);
    const bly_open_options o = {.struct_size = sizeof o, .allocator = &a};
    bly_spec spec = bly_spec_for(BLY_SCALABLE, 1000, 0.01);
    bly_filter *f = NULL, *back = NULL;
    spec.scalable.growth = 128;
    assert_ok(bly_filter_create(&spec, &f));
    blyt_buffer im = blyt_write(f);
    assert_ok(bly_filter_parse(im.data, im.size, &o, &back));
    add_keys(back, "store", 0, 129000);
    assert_int_equal(bly_filter_level_count(back), 2);
    uint64_t size = bly_filter_file_size(back);
    assert_true(largest > 64 * im.size && largest <= 64 * MEBI);
    largest = 0;
    bly_status status = BLY_OK; /* its next level would be about 128 times as large */
    for (int i = 129000; status == BLY_OK && i < 140000; i++) {
        char key[32];
        int len = key_text(key, "store", i);
        status = bly_filter_add(back, key, (size_t)len, NULL);
    }
    assert_true(largest <= 64 * (size > MEBI ? size : MEBI));
    free(im.data);
    bly_filter_destroy(f);
    bly_filter_destroy(back);
}

/* ---- RedisBloom's structures ----------------------------------------------------------------- */

/* Returns a copy that was loaded in parts, as LOADCHUNK does. */
static any again(any f, const bly_allocator *a) {
    blyt_buffer header = any_header(f);
    any back;
    assert_ok(any_parse(f.bloom != NULL, header.data, header.size, UINT64_MAX, a, &back));
    for (uint64_t i = 0, at = 0; i < any_parts(f); i++) {
        bly_bytes part = any_part(f, i);
        assert_ok(any_write(back, at, part.data, part.size));
        at += part.size;
    }
    assert_true(any_equal(f, back));
    free(header.data);
    return back;
}

static void limit(any f, uint64_t max_bytes) {
    if (f.bloom)
        bly_rb_bloom_limit_growth(f.bloom, max_bytes);
    else
        bly_rb_cuckoo_limit_growth(f.cuckoo, max_bytes);
}

/* Adds the same key, or different ones, until an add fails. Returns how many were added. */
static int fill(any f, bool same, bly_status *status) {
    int n = 0;
    for (char key[32]; n < 100000; n++) {
        int len = key_text(key, "rb", same ? 0 : n);
        *status = any_add(f, key, (size_t)len, NULL);
        if (*status)
            break;
    }
    return n;
}

static void test_redisbloom(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t largest = 0;
        const bly_allocator a = small_allocator(&largest);
        any f = i ? any_bloom(0.01, 100, 1000000) : any_cuckoo(4096, 2, 20, 32768), back, copy;
        bly_status status;
        for (int n = 0; n < (i ? 100 : 4); n++) {
            char key[32];
            int len = key_text(key, "full", i ? n : 0);
            assert_ok(any_add(f, key, (size_t)len, NULL));
        }
        back = again(f, &a);
        assert_ok(any_clone(back, &a, &copy));
        int n = fill(back, !i, &status);
        assert_int_equal(status, BLY_EGROWTH);
        assert_true(largest <= 64 * MEBI);
        if (n == 0)
            assert_true(any_equal(f, back));
        assert_int_equal(fill(copy, !i, &status), n);
        assert_int_equal(status, BLY_EGROWTH);
        limit(copy, UINT64_MAX);
        (void)fill(copy, !i, &status);
        assert_int_equal(status, BLY_ENOMEM);
        assert_true(largest > 96 * MEBI);
        any_destroy(f);
        any_destroy(back);
        any_destroy(copy);
    }
}

/* Copies of one key make a filter add one sub-filter after another, but do not raise the limit for
 * the next one. */
static void test_copies_of_one_key(void **state) {
    (void)state;
    size_t largest = 0;
    const bly_allocator a = small_allocator(&largest);
    any f = any_cuckoo(512, 1, 1, 64), back = again(f, &a);
    bly_status status;
    (void)fill(back, true, &status);
    assert_int_equal(status, BLY_EGROWTH);
    assert_true(largest <= 64 * MEBI);
    assert_true(any_memory(back) <= 64 * MEBI);
    any_destroy(f);
    any_destroy(back);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_amplify),
        cmocka_unit_test(test_created_is_free),
        cmocka_unit_test(test_limit_of_kinds),
        cmocka_unit_test(test_honest_growth),
        cmocka_unit_test(test_default_follows_size),
        cmocka_unit_test(test_redisbloom),
        cmocka_unit_test(test_copies_of_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
