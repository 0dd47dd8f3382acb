/* The keys that a list is built from: they are sorted by hash, lose repeats, and can be hashed
 * again with another hasher. */
#include "support.h"

#include "io/gathered_keys.h"

static int by_value(const void *a, const void *b) {
    const bly_hash *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->hi < y->hi ? -1 : x->hi > y->hi;
}

static void assert_sorted_like(gathered_keys *k, size_t n) {
    bly_hash *wanted = malloc(n * sizeof *wanted);
    size_t distinct = 0;
    memcpy(wanted, k->hashes, n * sizeof *wanted);
    qsort(wanted, n, sizeof *wanted, by_value);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || by_value(&wanted[distinct - 1], &wanted[i]) != 0)
            wanted[distinct++] = wanted[i];
    assert_int_equal(gathered_keys_settle(k), n - distinct);
    assert_int_equal(k->count, distinct);
    assert_memory_equal(k->hashes, wanted, distinct * sizeof *wanted);
    for (size_t i = 0; i < distinct; i++)
        assert_true(gathered_keys_contain_hash(k, wanted[i]));
    free(wanted);
}

/* The masks give hashes with few different values, hashes that differ only in the last byte, and
 * any hashes. */
static void hashes_are_sorted_and_repeats_dropped(void **state) {
    static const uint64_t masks[][2] = {
        {0, 0}, {7, 0}, {0, 0xFF}, {0xFF00, 1}, {~UINT64_C(0), ~UINT64_C(0)}};
    const size_t sizes[] = {1, 2, 31, 32, 33, 1000, 100000 / BLYT_SLOW};
    uint64_t seed = 7;
    (void)state;
    for (size_t m = 0; m < COUNT_OF(masks); m++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            gathered_keys k = {0};
            for (size_t i = 0; i < sizes[s]; i++) {
                bly_hash h = {blyt_next(&seed) & masks[m][0], blyt_next(&seed) & masks[m][1]};
                assert_true(gathered_keys_add(&k, (bly_bytes){NULL, 0}, h));
            }
            assert_sorted_like(&k, sizes[s]);
            gathered_keys_free(&k);
        }
}

static void kept_keys_are_hashed_again(void **state) {
    bly_hasher first, second;
    gathered_keys k = {.keep = true};
    (void)state;
    assert_ok(bly_hasher_init(&first, BLY_HASH_XXH3, 1));
    assert_ok(bly_hasher_init(&second, BLY_HASH_XXH3, 2));
    for (unsigned i = 0; i < 3000; i++) {
        unsigned key = i % 2000;
        bly_bytes bytes = {&key, i % 3 ? sizeof key : 0};
        assert_true(gathered_keys_add(&k, bytes, bly_hash_key(&first, bytes.data, bytes.size)));
    }
    (void)gathered_keys_settle(&k);
    size_t count = k.count;
    gathered_keys_rehash(&k, &second);
    assert_int_equal(k.count, count);
    for (unsigned key = 0; key < 4000; key++) {
        bool there = key < 2000 && (key % 3 || (key < 1000 && (key + 2000) % 3));
        bly_bytes bytes = {&key, sizeof key};
        assert_int_equal(gathered_keys_contain(&k, bytes), there);
        assert_int_equal(gathered_keys_contain_hash(&k, bly_hash_key(&second, &key, sizeof key)),
                         there);
        assert_false(gathered_keys_contain_hash(&k, bly_hash_key(&first, &key, sizeof key)));
    }
    assert_true(gathered_keys_contain(&k, (bly_bytes){"", 0}));
    gathered_keys_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_sorted_and_repeats_dropped),
        cmocka_unit_test(kept_keys_are_hashed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
