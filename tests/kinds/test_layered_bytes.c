/* Layered filters: set operations cell by cell, files, damage, and failed allocations. */
#include "layered_support.h"

#include <unistd.h>

/* ---- two filters ----------------------------------------------------------------------------- */

/* Keys of a: 0..5999; 0..2999 have three copies. Keys of b: 2000..8999; 2500..4999 have two copies,
 * and 2000..2499 have seven. */
static void make_two(bly_filter **a, bly_filter **b, uint64_t blocks) {
    *a = layered_of(blocks);
    *b = layered_of(blocks);
    add_hashes(*a, 1, 0, 6000);
    for (int i = 0; i < 2; i++)
        add_hashes(*a, 1, 0, 3000);
    add_hashes(*b, 1, 2000, 9000);
    add_hashes(*b, 1, 2000, 5000);
    for (int i = 0; i < 5; i++)
        add_hashes(*b, 1, 2000, 2500);
}

static void union_adds_counts(void **state) {
    bly_filter *a, *b, *again, *other, *sum;
    (void)state;
    for (uint64_t blocks = 399; blocks < 1200; blocks += 400) {
        make_two(&a, &b, blocks);
        make_two(&again, &other, blocks);
        sum = layered_of(blocks);
        add_hashes(sum, 1, 0, 6000);
        add_hashes(sum, 1, 0, 3000);
        add_hashes(sum, 1, 0, 3000);
        add_hashes(sum, 1, 2000, 9000);
        add_hashes(sum, 1, 2000, 5000);
        for (int i = 0; i < 5; i++)
            add_hashes(sum, 1, 2000, 2500);
        assert_ok(bly_filter_union(a, b));
        assert_memory_equal(a->body, sum->body, (size_t)a->body_bytes);
        assert_true(bly_filter_equal(a, sum) && bly_filter_count(a) == bly_filter_count(sum));
        assert_true(bly_filter_equal(b, other));
        assert_ok(bly_filter_union(again, again));
        for (uint64_t i = 0; i < 3000; i++)
            assert_true(bly_filter_copies_hash(again, hash_at(1, i)) >= 6);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(again);
        bly_filter_destroy(other);
        bly_filter_destroy(sum);
    }
}

/* Every cell of an intersection has the smaller count; every common key has at least the smaller
 * number of copies, and these can be removed. */
static void intersection_keeps_the_fewer(void **state) {
    bly_filter *a, *b;
    (void)state;
    make_two(&a, &b, 901);
    oracle in_a = oracle_from(a), in_b = oracle_from(b);
    for (uint64_t i = 0; i < 256 * in_a.blocks; i++)
        in_a.count[i] = in_a.count[i] < in_b.count[i] ? in_a.count[i] : in_b.count[i];
    assert_ok(bly_filter_intersect(a, b));
    assert_cells_are(a, &in_a);
    assert_true(a->approximate);
    /* Numbers of copies: 2000..2499 have three, 2500..2999 two, 3000..5999 one. */
    double count = (double)bly_filter_count(a);
    assert_true(fabs(count / (3 * 500 + 2 * 500 + 3000) - 1) < 0.15);
    for (uint64_t i = 2000; i < 6000; i++) {
        unsigned least = i < 2500 ? 3 : i < 3000 ? 2 : 1;
        assert_true(bly_filter_copies_hash(a, hash_at(1, i)) >= least);
        for (unsigned k = 0; k < least; k++)
            remove_hashes(a, 1, i, i + 1);
    }
    uint64_t before = bly_filter_count(b);
    assert_ok(bly_filter_intersect(b, b));
    assert_cells_are(b, &in_b);
    assert_true(bly_filter_count(b) <= before && bly_filter_count(b) > before * 9 / 10);
    bly_filter_clear(a);
    assert_ok(bly_filter_intersect(b, a));
    assert_true(all_zero(b) && bly_filter_count(b) == 0);
    free(in_a.count);
    free(in_b.count);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* If nothing can be subtracted, the count of the filter does not change, although stuck cells stand
 * for unknown numbers. While there are keys, the count is not 0. */
static void subtraction_of_non_members(void **state) {
    bly_filter *a = layered_of(501), *b = layered_of(501);
    (void)state;
    add_hashes(a, 1, 0, 500);
    for (int i = 0; i < 200; i++)
        add_hashes(b, 2, 0, 5);
    assert_ok(bly_filter_subtract(a, b));
    assert_true(bly_filter_count(a) == 500 && contains_hashes(a, 1, 0, 500));
    add_hashes(b, 1, 0, 250);
    assert_ok(bly_filter_subtract(a, b));
    assert_true(contains_hashes(a, 1, 250, 500));
    assert_true(bly_filter_count(a) > 0 && bly_filter_count(a) < 500);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* Statistics with 500 copies of one key. A count near 2^64, which a file may state, stops at the
 * largest number. */
static void counts_and_statistics_of_copies(void **state) {
    bly_filter *f = layered_of(50);
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    for (int i = 0; i < 500; i++)
        add_hashes(f, 1, 0, 1);
    bly_filter_get_info(f, &s);
    assert_true(s.count == 500 && fabs(s.expected_fill / s.fill - 1) < 0.01);
    f->items = UINT64_MAX - 1;
    add_hashes(f, 1, 0, 3);
    assert_true(bly_filter_count(f) == UINT64_MAX);
    bly_filter_destroy(f);
}

static void subtraction_undoes_union(void **state) {
    const uint64_t blocks = 4001;
    bly_filter *a = layered_of(blocks), *b = layered_of(blocks), *copy = NULL;
    (void)state;
    add_hashes(a, 1, 0, 8000);
    add_hashes(b, 2, 0, 6000);
    add_hashes(b, 2, 0, 2000);
    assert_ok(bly_filter_clone(a, NULL, &copy));
    assert_ok(bly_filter_union(a, b));
    assert_ok(bly_filter_subtract(a, b));
    assert_true(bly_filter_equal(a, copy) && bly_filter_count(a) == 8000);
    /* With one key too many in b, the block of that key stays as it is, and all other blocks lose
     * their copies. */
    assert_ok(bly_filter_union(a, b));
    uint64_t block = 2000, absent = 0;
    while (blyi_mulhi(hash_at(3, absent).lo, blocks) != block ||
           bly_filter_contains_hash(a, hash_at(3, absent)))
        absent++;
    add_hashes(b, 3, absent, absent + 1);
    assert_ok(bly_filter_subtract(a, b));
    oracle got = oracle_from(a), want = oracle_from(copy);
    uint64_t left = 0;
    for (uint64_t i = 0; i < 6000; i++)
        if (blyi_mulhi(hash_at(2, i).lo, blocks) == block)
            for (unsigned n = i < 2000 ? 2 : 1; n > 0; n--, left++)
                (void)oracle_add(&want, hash_at(2, i));
    assert_memory_equal(got.count, want.count, (size_t)blocks * 256);
    assert_true(left > 0 && bly_filter_count(a) == 8000 + left);
    /* Subtracting a filter from itself leaves only stuck cells. */
    for (int i = 0; i < 8; i++)
        add_hashes(a, 4, 0, 1);
    assert_ok(bly_filter_subtract(a, a));
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(a, &s);
    assert_true(s.count == 0 && s.stuck >= 8 && s.set_bits == 4 * s.stuck);
    assert_true(bly_filter_contains_hash(a, hash_at(4, 0)));
    free(got.count);
    free(want.count);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(copy);
}

/* The overlap is that of the fronts, so copies do not matter. */
static void overlap_is_that_of_the_fronts(void **state) {
    bly_filter *a, *b;
    bly_overlap got, want;
    (void)state;
    make_two(&a, &b, 901);
    bly_filter *plain_a = plain_of(a), *plain_b = plain_of(b);
    add_hashes(plain_a, 1, 0, 6000);
    add_hashes(plain_b, 1, 2000, 9000);
    assert_ok(bly_filter_overlap(a, b, &got));
    assert_ok(bly_filter_overlap(plain_a, plain_b, &want));
    assert_true(got.a == want.a && got.b == want.b && got.both == want.both);
    assert_true(got.either == want.either && got.jaccard == want.jaccard);
    assert_true(fabs(got.both / 4000 - 1) < 0.1 && fabs(got.either / 9000 - 1) < 0.05);
    bly_filter *other = layered_of(902);
    assert_int_equal(bly_filter_union(a, other), BLY_EMISMATCH);
    assert_int_equal(bly_filter_union(a, plain_a), BLY_EMISMATCH);
    bly_filter_destroy(other);
    bly_filter_destroy(plain_a);
    bly_filter_destroy(plain_b);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void files_come_back(void **state) {
    char path[] = "/tmp/bloomery-layered-XXXXXX";
    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    for (uint64_t blocks = 1300; blocks < 1302; blocks++) {
        bly_filter *f = layered_of(blocks), *g;
        bly_map *map;
        add_hashes(f, 1, 0, 3000);
        add_hashes(f, 1, 0, 1000);
        blyt_buffer im = blyt_write(f);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
        assert_memory_equal(f->body, g->body, (size_t)f->body_bytes);
        assert_true(bly_filter_count(g) == 4000 && contains_hashes(g, 1, 0, 3000));
        remove_hashes(g, 1, 0, 3000);
        remove_hashes(g, 1, 0, 1000);
        assert_true(all_zero(g));
        bly_filter_destroy(g);
        assert_ok(bly_filter_save(f, path));
        assert_ok(bly_filter_load(path, NULL, &g));
        assert_true(bly_filter_equal(f, g));
        bly_filter_destroy(g);
        assert_ok(bly_map_open(path, NULL, &map));
        const bly_filter *mapped = bly_map_filter(map);
        assert_true(bly_filter_equal(f, mapped) && contains_hashes(mapped, 1, 0, 3000));
        assert_true(bly_filter_copies_hash(mapped, hash_at(1, 5)) >= 2);
        assert_ok(bly_filter_clone(mapped, NULL, &g));
        bly_map_close(map);
        remove_hashes(g, 1, 0, 3000);
        assert_true(contains_hashes(g, 1, 0, 1000));
        free(im.data);
        bly_filter_destroy(g);
        bly_filter_destroy(f);
    }
    (void)unlink(path);
}

/* Invalid bodies are refused although their checksums are correct. 41 blocks have 32 bytes of
 * padding after the front, and 32 at the end. */
static void refuses_unsound_bodies(void **state) {
    char path[] = "/tmp/bloomery-layered-XXXXXX";
    const size_t front = 41 * 32, planes = 42 * 32;
    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    for (int damage = 0; damage < 8; damage++) {
        bly_filter *f = layered_of(41), *g = NULL;
        bly_map *map;
        size_t empty = 0, at = 0;
        uint8_t bit = 1;
        add_hashes(f, 1, 0, 300);
        while (f->body[empty] & 1)
            empty++;
        if (damage >= 1 && damage <= 3) /* a count in a cell that is not in use */
            at = planes + empty / 32 * 96 + (size_t)(damage - 1) * 32 + empty % 32;
        else if (damage <= 6) /* padding */
            at = damage == 4 ? front : damage == 5 ? planes - 1 : (size_t)f->body_bytes - 1;
        if (damage == 5)
            bit = 0x80;
        if (damage == 7) { /* the last cell has a count, but is not in use */
            at = (size_t)f->body_bytes - 33;
            bit = 0x80;
            f->body[front - 1] &= 0x7f;
        }
        if (damage)
            f->body[at] |= bit;
        assert_ok(bly_filter_save(f, path));
        assert_int_equal(bly_filter_load(path, NULL, &g), damage ? BLY_ECORRUPT : BLY_OK);
        bly_filter_destroy(g);
        assert_ok(bly_map_open(path, NULL, &map));
        assert_true(damage == 7 || contains_hashes(bly_map_filter(map), 1, 0, 300));
        assert_int_equal(bly_filter_clone(bly_map_filter(map), NULL, &g),
                         damage && damage != 6 ? BLY_ECORRUPT : BLY_OK);
        bly_map_close(map);
        bly_filter_destroy(g);
        bly_filter_destroy(f);
    }
    (void)unlink(path);
}

/* Filters that are combined with a damaged map stay valid. */
static void survives_any_body(void **state) {
    (void)state;
    for (uint64_t blocks = 1; blocks < 300; blocks = blocks * 2 + 1) {
        abuse((bly_geometry){BLY_LAYERED, 8, blocks, 0, 0});
        abuse((bly_geometry){BLY_LAYERED, 8, blocks + 1, 0, 0});
        for (int op = 0; op < 3; op++) {
            bly_filter *f = layered_of(blocks), *bad = layered_of(blocks), *g = NULL;
            uint64_t dice = blocks;
            add_hashes(f, 1, 0, 20 * blocks);
            for (uint64_t i = 0; i < bad->body_bytes; i++)
                bad->body[i] = (uint8_t)blyt_next(&dice);
            assert_ok(op == 0   ? bly_filter_union(f, bad)
                      : op == 1 ? bly_filter_intersect(f, bad)
                                : bly_filter_subtract(f, bad));
            blyt_buffer im = blyt_write(f);
            assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
            free(im.data);
            bly_filter_destroy(g);
            bly_filter_destroy(bad);
            bly_filter_destroy(f);
        }
    }
}

static void memory_may_run_out(void **state) {
    blyt_heap heap = {0};
    bly_allocator alloc = blyt_heap_allocator(&heap);
    bly_spec spec = bly_spec_for(BLY_LAYERED, 1000, 0.01);
    bly_filter *f = NULL, *front = NULL;
    (void)state;
    spec.allocator = &alloc;
    for (heap.fail_at = 1; bly_filter_create(&spec, &f) != BLY_OK; heap.fail_at++) {
        assert_true(f == NULL && heap.live == 0 && heap.fail_at < 10);
        heap.calls = 0;
    }
    assert_int_equal(heap.fail_at, 3);
    size_t live = heap.live;
    heap.fail_at = heap.calls + 1;
    assert_int_equal(bly_layered_front(f, &front), BLY_ENOMEM);
    assert_true(front == NULL && heap.live == live);
    /* No other call allocates memory. */
    heap.fail_at = heap.calls + 1;
    add_hashes(f, 1, 0, 1000);
    remove_hashes(f, 1, 0, 500);
    assert_ok(bly_filter_union(f, f));
    assert_ok(bly_filter_intersect(f, f));
    assert_ok(bly_filter_subtract(f, f));
    assert_int_equal(heap.fail_at, heap.calls + 1);
    bly_filter_destroy(f);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(union_adds_counts),
        cmocka_unit_test(intersection_keeps_the_fewer),
        cmocka_unit_test(subtraction_of_non_members),
        cmocka_unit_test(counts_and_statistics_of_copies),
        cmocka_unit_test(subtraction_undoes_union),
        cmocka_unit_test(overlap_is_that_of_the_fronts),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(refuses_unsound_bodies),
        cmocka_unit_test(survives_any_body),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
