/* Files and unions of scalable cuckoo filters: a loaded filter equals the original and can grow,
 * files with levels that would lose keys are refused, and a union has the copies of both
 * filters. */
#include "levels_support.h"

#include "filter/levels.h"

/* ---- files ----------------------------------------------------------------------------------- */

/* Pairs of levels, and whether a file with them is valid. */
static void test_levels_must_refine(void **state) {
    static const struct {
        uint64_t size[2];
        uint32_t rest[2];
        bool good;
    } table[] = {
        {{20, 40}, {10, 10}, true},  {{20, 40}, {10, 9}, false},  {{20, 40}, {10, 8}, false},
        {{20, 20}, {10, 11}, true},  {{20, 20}, {10, 10}, true}, /* as after a union */
        {{20, 20}, {10, 9}, false},  {{20, 60}, {10, 12}, false}, {{20, 50}, {10, 12}, false},
        {{40, 20}, {10, 12}, false}, {{20, 160}, {10, 8}, true},  {{20, 160}, {10, 7}, false},
        {{21, 42}, {10, 10}, true},  {{21, 40}, {10, 12}, false}, {{32, 64}, {50, 50}, false},
        {{32, 64}, {51, 51}, true}, /* both are wide */
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        blyt_buffer parts[MAX_PARTS];
        for (int j = 0; j < 2; j++)
            parts[j] = part((bly_geometry){BLY_CUCKOO, table[i].rest[j], table[i].size[j], 0, 0},
                            30, 0.004, 20 * j, 20);
        blyt_buffer im = assemble(BLY_SCALABLE_CUCKOO, parts, 2, 0.01);
        bly_filter *f;
        if (!table[i].good) {
            assert_refused_by_header(im, BLY_ECORRUPT);
        } else {
            assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
            assert_true(contains_keys(f, "store", 0, 40) && bly_filter_level_count(f) == 2);
            for (int k = 0; k < 40; k++) {
                char key[32];
                bool removed = false;
                size_t len = (size_t)key_text(key, "store", k);
                assert_ok(bly_filter_remove(f, key, len, &removed));
                assert_true(removed);
            }
            assert_int_equal(bly_filter_count(f), 0);
            bly_filter_destroy(f);
        }
        free(im.data);
    }
}

/* Fields of a level's header, and invalid values for them. */
static const struct {
    size_t offset;
    uint64_t value;
    size_t width;
} level_lies[] = {
    {7, 2, 1},   {8, 1, 1},      {8, 3, 1},   {8, 49, 1},
    {9, 2, 1},   {10, 1, 2},     {10, 2, 2},  {10, 3, 2},
    {10, 6, 2},  {10, 65535, 2}, {24, 10, 8}, {24, UINT64_MAX, 8},
    {32, 39, 8}, {32, 0, 8},     {40, 7, 8},  {48, UINT64_C(0x3f70000000000000), 8},
};

/* Levels of other kinds, capacities that the table cannot have, rates that do not add up, and wrong
 * counts are refused. */
static void test_what_else_levels_must_be(void **state) {
    const bly_geometry first = {BLY_CUCKOO, 10, 20, 0, 0}, second = {BLY_CUCKOO, 10, 40, 0, 0};
    const bly_geometry bits = {BLY_SPLIT512, 8, 2, 0, 0};
    (void)state;
    blyt_buffer parts[] = {part(first, 30, 0.004, 0, 20), part(bits, 30, 0.004, 20, 20)};
    blyt_buffer im = assemble(BLY_SCALABLE_CUCKOO, parts, 2, 0.01);
    assert_refused_by_header(im, BLY_ECORRUPT);
    free(im.data);
    for (uint64_t capacity = 80; capacity <= 81; capacity++) { /* the level has 80 slots */
        parts[0] = part(first, 30, 0.004, 0, 20);
        store(parts[0].data + 24, capacity, 8);
        fix_header_sum(parts[0].data);
        im = assemble(BLY_SCALABLE_CUCKOO, parts, 1, 0.01);
        bly_filter *f = NULL;
        if (capacity == 81)
            assert_refused_by_header(im, BLY_ECORRUPT);
        else
            assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
        bly_filter_destroy(f);
        free(im.data);
    }
    parts[0] = part(first, 30, 0.006, 0, 20);
    parts[1] = part(second, 60, 0.006, 20, 20);
    im = assemble(BLY_SCALABLE_CUCKOO, parts, 2, 0.01);
    assert_refused_by_header(im, BLY_ECORRUPT);
    free(im.data);
    parts[0] = part(first, 30, 0.004, 0, 20);
    parts[1] = part(second, 60, 0.004, 20, 20);
    im = assemble(BLY_SCALABLE_CUCKOO, parts, 2, 0.01);
    for (size_t i = 0; i < COUNT_OF(level_lies); i++) {
        uint8_t right[HEADER];
        memcpy(right, im.data, HEADER);
        store(im.data + level_lies[i].offset, level_lies[i].value, (int)level_lies[i].width);
        fix_header_sum(im.data);
        assert_refused_by_header(im, BLY_ECORRUPT);
        memcpy(im.data, right, HEADER);
    }
    im.data[HEADER + HEADER + 3] ^= 1; /* adds or removes an entry, but not in the count */
    fix_all_sums(im);
    assert_refused(im, NULL, BLY_ECORRUPT);
    free(im.data);
}

/* Levels of the same geometry must also have the same capacity and rate. */
static void test_twins_are_alike(void **state) {
    const bly_geometry g = {BLY_CUCKOO, 10, 20, 0, 0};
    (void)state;
    for (int other = 0; other < 3; other++) {
        blyt_buffer parts[] = {part(g, 30, 0.004, 0, 20),
                               part(g, other == 1 ? 31 : 30, other == 2 ? 0.003 : 0.004, 20, 20)};
        blyt_buffer im = assemble(BLY_SCALABLE_CUCKOO, parts, 2, 0.01);
        bly_filter *f = NULL;
        if (other)
            assert_refused_by_header(im, BLY_ECORRUPT);
        else
            assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
        bly_filter_destroy(f);
        free(im.data);
    }
}

static bly_filter *chain(uint64_t first, uint32_t growth, uint64_t seed) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE_CUCKOO, first, 0.01);
    bly_filter *f = NULL;
    spec.scalable.growth = growth;
    spec.seed = seed;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

/* The growth factor, rounded up to a power of two, is stored in the file, so that a loaded filter
 * grows like the original. */
static void test_growth_survives(void **state) {
    static const uint32_t asked[] = {0, 1, 2, 3, 4, 5, 100, 32768},
                          detail[] = {0, 0, 0, 4, 4, 8, 128, 32768};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        bly_filter *f = chain(10, asked[i], 0x5eed), *g, *copy;
        bly_map *map;
        uint64_t factor = detail[i] ? detail[i] : 2;
        assert_int_equal(bly_filter_geometry(f).detail, detail[i]);
        add_keys(f, "store", 0, 8);
        assert_ok(bly_filter_save(f, at("chain.bly")));
        assert_ok(bly_filter_load(at("chain.bly"), NULL, &g));
        assert_ok(bly_map_open(at("chain.bly"), NULL, &map));
        assert_same(f, bly_map_filter(map));
        assert_ok(bly_filter_clone(bly_map_filter(map), NULL, &copy));
        bly_map_close(map);
        add_keys(f, "store", 8, 12);
        add_keys(g, "store", 8, 12);
        add_keys(copy, "store", 8, 12);
        assert_same(f, g);
        assert_same(f, copy);
        assert_int_equal(bly_filter_level_count(f), 2);
        assert_int_equal(bly_filter_capacity(bly_filter_level(g, 1)), 10 * factor);
        bly_filter_destroy(f);
        bly_filter_destroy(g);
        bly_filter_destroy(copy);
    }
    bly_spec spec = bly_spec_for(BLY_SCALABLE_CUCKOO, 10, 0.01);
    bly_filter *none;
    spec.scalable.growth = 32769;
    assert_int_equal(bly_filter_create(&spec, &none), BLY_EINVAL);
}

/* ---- union ----------------------------------------------------------------------------------- */

static void remove_keys(bly_filter *f, const char *prefix, int from, int count) {
    char key[32];
    for (int i = from; i < from + count; i++) {
        bool removed = false;
        assert_ok(bly_filter_remove(f, key, (size_t)key_text(key, prefix, i), &removed));
        assert_true(removed);
    }
}

/* A union has the keys of both filters, in separate or in common levels, and all of them can be
 * removed. */
static void test_union_holds_both(void **state) {
    static const int counts[] = {0, 5, 40, 90, 100, 101, 290, 1000, 5000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        for (size_t j = 0; j < COUNT_OF(counts); j++) {
            bly_filter *a = chain(100, 0, 0), *b = chain(100, 0, 0), *again;
            add_keys(a, "one", 0, counts[i]);
            add_keys(b, "two", 0, counts[j]);
            size_t before = bly_filter_level_count(a) + bly_filter_level_count(b);
            assert_ok(bly_filter_compatible(a, b));
            assert_ok(bly_filter_union(a, b));
            assert_int_equal(bly_filter_count(a), counts[i] + counts[j]);
            assert_true(contains_keys(a, "one", 0, counts[i]) &&
                        contains_keys(a, "two", 0, counts[j]));
            assert_true(bly_filter_level_count(a) < before || counts[i] + counts[j] > 100);
            blyt_buffer im = blyt_write(a);
            assert_ok(bly_filter_parse(im.data, im.size, NULL, &again));
            assert_true(bly_filter_equal(a, again));
            bly_filter_info s = {.struct_size = sizeof s};
            bly_filter_get_info(a, &s);
            assert_true(s.current_fpr <= 0.02);
            add_keys(again, "three", 0, 500); /* it can still grow */
            uint64_t cursor = 0;
            assert_ok(bly_scalable_cuckoo_compact(again, 0, &cursor, NULL));
            remove_keys(again, "one", 0, counts[i]);
            assert_true(contains_keys(again, "two", 0, counts[j]) &&
                        contains_keys(again, "three", 0, 500));
            assert_ok(bly_scalable_cuckoo_compact(again, 0, &cursor, NULL));
            remove_keys(again, "two", 0, counts[j]);
            assert_true(contains_keys(again, "three", 0, 500));
            remove_keys(again, "three", 0, 500);
            assert_int_equal(bly_filter_count(again), 0);
            free(im.data);
            bly_filter_destroy(a);
            bly_filter_destroy(b);
            bly_filter_destroy(again);
        }
}

/* The union of a filter with itself doubles the copies. Repeated unions fail when there would be
 * too many levels, and then nothing changes. */
static void test_union_with_itself(void **state) {
    bly_filter *f = chain(100, 0, 0), *g = NULL, *kept = NULL;
    bly_status status = BLY_OK;
    (void)state;
    add_keys(f, "one", 0, 290);
    assert_ok(bly_filter_clone(f, NULL, &g));
    assert_ok(bly_filter_union(f, f));
    assert_int_equal(bly_filter_count(f), 580);
    for (int i = 0; i < 290; i++) {
        char key[32];
        assert_true(bly_filter_copies(f, key, (size_t)key_text(key, "one", i)) >= 2);
    }
    for (int i = 0; status == BLY_OK && i < 60; i++) {
        bly_filter_destroy(kept);
        assert_ok(bly_filter_clone(f, NULL, &kept));
        status = bly_filter_union(f, g);
    }
    assert_int_equal(status, BLY_EFULL);
    assert_true(bly_filter_equal(f, kept) && bly_filter_level_count(f) > 40);
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    bly_filter_destroy(kept);
}

/* Each allocation fails in turn, and then nothing changes. */
static void test_no_memory_to_unite(void **state) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_filter *from = chain(50, 0, 0), *f = chain(50, 0, 0), *into = NULL;
    (void)state;
    add_keys(from, "one", 0, 700);
    add_keys(f, "two", 0, 300);
    for (size_t fail = 1;; fail++) {
        assert_ok(bly_filter_clone(f, &a, &into));
        heap.fail_at = heap.calls + fail;
        bly_status status = bly_filter_union(into, from);
        heap.fail_at = 0;
        if (status == BLY_OK)
            break;
        assert_int_equal(status, BLY_ENOMEM);
        assert_true(bly_filter_equal(into, f));
        bly_filter_destroy(into);
        assert_int_equal(heap.live, 0);
    }
    assert_true(contains_keys(into, "one", 0, 700) && contains_keys(into, "two", 0, 300));
    bly_filter_destroy(into);
    bly_filter_destroy(f);
    bly_filter_destroy(from);
    assert_int_equal(heap.live, 0);
}

/* Unions of filters that do not match, and unsupported operations, are refused. */
static void test_what_is_refused(void **state) {
    bly_filter *f = chain(100, 0, 0),
               *others[] = {chain(100, 4, 0), chain(101, 0, 0), chain(400, 0, 0), chain(100, 0, 9)};
    bly_overlap o;
    (void)state;
    add_keys(f, "one", 0, 250);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        add_keys(others[i], "two", 0, 250);
        assert_int_equal(bly_filter_union(f, others[i]), BLY_EMISMATCH);
        assert_non_null(bly_filter_why_not(BLY_OP_UNION, f, others[i]));
        bly_filter_destroy(others[i]);
    }
    bly_filter *g = chain(100, 0, 0);
    assert_null(bly_filter_why_not(BLY_OP_UNION, f, g));
    assert_int_equal(bly_filter_intersect(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_subtract(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_overlap(f, g, &o), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_filter_why_not(BLY_OP_SUBTRACT, f, g), "remove the keys"));
    assert_non_null(strstr(bly_filter_why_not(BLY_OP_INTERSECT, f, g), "different levels"));
    bly_filter_destroy(f);
    bly_filter_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_levels_must_refine), IN_SCRATCH(test_what_else_levels_must_be),
        IN_SCRATCH(test_twins_are_alike),    IN_SCRATCH(test_growth_survives),
        IN_SCRATCH(test_union_holds_both),   IN_SCRATCH(test_union_with_itself),
        IN_SCRATCH(test_no_memory_to_unite), IN_SCRATCH(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
