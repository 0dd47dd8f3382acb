/* How often keys were seen, against an array that knows; and keys that are there several times. */
#include "support.h"

#include "build_keys.h"
#include "tally.h"

enum { KEYS = 3000 };

static tally counts; /* large */

/* The key of a number, in `room`. */
static bly_bytes key_of_number(unsigned number, char room[16]) {
    const int size = snprintf(room, 16, "key %u", number);
    return (bly_bytes){room, (size_t)size};
}

/* Often the same few. */
static unsigned any_number(uint64_t *random) {
    const uint64_t r = blyt_next(random);
    return (unsigned)(r % 3 ? (r >> 8) % 10 : (r >> 8) % KEYS);
}

/* 50,000 keys in batches, and what each was told. */
static void run(const tally_wish *wish, uint64_t truth[KEYS], uint64_t last[KEYS]) {
    static char rooms[64][16];
    uint64_t random = 7;
    assert_true(tally_open(&counts, wish));
    for (unsigned done = 0; done < 50000; done += 64) {
        bly_bytes keys[64];
        unsigned numbers[64];
        uint64_t times[64];
        for (unsigned i = 0; i < 64; i++) {
            numbers[i] = any_number(&random);
            keys[i] = key_of_number(numbers[i], rooms[i]);
        }
        assert_int_equal(tally_take(&counts, keys, 64, times), 64);
        for (unsigned i = 0; i < 64; i++) {
            truth[numbers[i]]++;
            last[numbers[i]] = times[i];
            if (wish->exact || truth[numbers[i]] <= 15)
                assert_int_equal(times[i], truth[numbers[i]]);
        }
    }
}

/* Exact at once; a sketch with room to spare up to 15, and above to a few tenths. */
static void test_counts(void **state) {
    uint64_t truth[KEYS], last[KEYS], different;
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        memset(truth, 0, sizeof truth);
        memset(last, 0, sizeof last);
        const tally_wish wish = {.keys = exact ? KEYS : 200000, .rate = 1e-6, .exact = exact};
        run(&wish, truth, last);
        different = 0;
        for (unsigned i = 0; i < KEYS; i++) {
            different += truth[i] > 0;
            if (truth[i] > 15)
                assert_true(fabs((double)last[i] / (double)truth[i] - 1) < (exact ? 1e-9 : 0.9));
        }
        assert_int_equal(counts.fresh, different);
        tally_close(&counts);
    }
}

/* As large as allowed, and no larger. */
static void test_memory(void **state) {
    (void)state;
    for (uint64_t bytes = 1 << 12; bytes <= 1 << 24; bytes *= 4)
        for (int exact = 0; exact < 2; exact++) {
            const tally_wish wish = {.memory = bytes, .exact = exact};
            assert_true(tally_open(&counts, &wish));
            assert_in_range(tally_bytes(&counts), bytes - bytes / 16, bytes);
            tally_close(&counts);
        }
}

/* What a table has no room for is refused, and all before it is dealt with. */
static void test_full(void **state) {
    const tally_wish wish = {.keys = 100, .exact = true};
    char room[16];
    uint64_t times = 0;
    unsigned taken = 0;
    (void)state;
    assert_true(tally_open(&counts, &wish));
    for (; taken < 10000; taken++) {
        const bly_bytes key = key_of_number(taken, room);
        if (tally_take(&counts, &key, 1, &times) == 0)
            break;
        assert_int_equal(times, 1);
    }
    assert_in_range(taken, 100, 200);
    const bly_bytes key = key_of_number(3, room);
    assert_int_equal(tally_take(&counts, &key, 1, &times), 1);
    assert_int_equal(times, 2);
    tally_close(&counts);
}

/* ---- gathered keys --------------------------------------------------------------------------- */

static void gather(build_keys *k, const char *letters) {
    bly_hasher hasher;
    assert_ok(bly_hasher_init(&hasher, BLY_HASH_XXH3, 0));
    for (; *letters; letters++)
        assert_true(build_keys_add(k, (bly_bytes){letters, 1}, bly_hash_key(&hasher, letters, 1)));
}

static void test_copies(void **state) {
    bly_hasher other;
    (void)state;
    assert_ok(bly_hasher_init(&other, BLY_HASH_XXH3, 9));
    for (int copies = 0; copies < 2; copies++) {
        build_keys k = {.keep = true, .copies = copies};
        gather(&k, "abracadabra");
        assert_int_equal(build_keys_settle(&k), 6);
        assert_int_equal(k.distinct, 5);
        assert_int_equal(k.count, copies ? 11 : 5);
        for (size_t i = 0; i < k.count; i++)
            assert_true(build_keys_have(&k, k.hashes[i]));
        build_keys_rehash(&k, &other);
        assert_int_equal(k.distinct, 5);
        assert_int_equal(k.count, copies ? 11 : 5);
        assert_true(build_keys_have(&k, bly_hash_key(&other, "c", 1)));
        assert_false(build_keys_have(&k, bly_hash_key(&other, "x", 1)));
        build_keys_free(&k);
        assert_int_equal(build_keys_settle(&k), 0);
        assert_int_equal(k.distinct, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
