/* Counts of keys are compared with an array of the true counts; and gathered keys that occur
 * several times. */
#include "support.h"

#include "count/tally.h"
#include "io/gathered_keys.h"

enum { KEYS = 3000 };

static tally counts; /* too large for the stack */

/* Returns the key of a number, as text in `room`. */
static bly_bytes key_of_number(unsigned number, char room[16]) {
    const int size = snprintf(room, 16, "key %u", number);
    return (bly_bytes){room, (size_t)size};
}

/* Returns a random number; the numbers 0 to 9 are frequent. */
static unsigned any_number(uint64_t *random) {
    const uint64_t r = blyt_next(random);
    return (unsigned)(r % 3 ? (r >> 8) % 10 : (r >> 8) % KEYS);
}

/* Counts 50,000 keys in batches. For each key, `truth` gets the true count, and `last` the count
 * that was reported last. */
static void run(const tally_request *request, uint64_t truth[KEYS], uint64_t last[KEYS]) {
    static char rooms[64][16];
    uint64_t random = 7;
    assert_true(tally_open(&counts, request));
    for (unsigned done = 0; done < 50000; done += 64) {
        bly_bytes keys[64];
        unsigned numbers[64];
        tally_count told[64];
        for (unsigned i = 0; i < 64; i++) {
            numbers[i] = any_number(&random);
            keys[i] = key_of_number(numbers[i], rooms[i]);
        }
        assert_int_equal(tally_take(&counts, keys, 64, told), 64);
        for (unsigned i = 0; i < 64; i++) {
            const uint64_t times = ++truth[numbers[i]];
            last[numbers[i]] = told[i].count;
            assert_true(told[i].count <= times + told[i].error);
            if (!request->sketch || told[i].error == 0)
                assert_int_equal(told[i].count, times);
            if (!request->sketch)
                assert_int_equal(told[i].error, 0);
        }
    }
}

/* Exact counts, in one level or in several. The counts of a large sketch are exact, too, because it
 * tracks all keys from their first occurrence on. */
static void test_counts(void **state) {
    static const tally_request requests[] = {
        {.keys = KEYS}, {.keys = 10}, {.keys = 200000, .rate = 1e-6, .sketch = true}};
    uint64_t truth[KEYS], last[KEYS], different;
    (void)state;
    for (int which = 0; which < 3; which++) {
        memset(truth, 0, sizeof truth);
        memset(last, 0, sizeof last);
        run(&requests[which], truth, last);
        different = 0;
        for (unsigned i = 0; i < KEYS; i++) {
            different += truth[i] > 0;
            assert_int_equal(last[i], truth[i]);
        }
        assert_int_equal(counts.fresh, different);
        assert_int_equal(counts.exact.levels, which == 0 ? 1 : which == 1 ? 2 : 0);
        tally_close(&counts);
    }
}

/* A sketch that is far too small tracks eight keys. Its counts are too high by at most the error
 * that it reports. */
static void test_estimates(void **state) {
    static const tally_request request = {.memory = 1024, .sketch = true};
    uint64_t truth[KEYS] = {0}, last[KEYS] = {0}, estimates = 0;
    char room[16];
    (void)state;
    run(&request, truth, last);
    for (unsigned i = 0; i < KEYS; i++) {
        const uint64_t error = last[i] ? tally_error(&counts, key_of_number(i, room), last[i]) : 0;
        assert_true(last[i] <= truth[i] + error);
        estimates += error > 0;
    }
    assert_true(estimates > KEYS / 2);
    tally_close(&counts);
}

/* A sketch uses the allowed memory (at least 7/8 of it) from the start; exact counts start small.
 * Neither uses more. */
static void test_memory(void **state) {
    (void)state;
    for (uint64_t bytes = 1 << 12; bytes <= 1 << 24; bytes *= 4)
        for (int sketch = 0; sketch < 2; sketch++) {
            const tally_request request = {.memory = bytes, .sketch = sketch};
            assert_true(tally_open(&counts, &request));
            assert_in_range(tally_bytes(&counts), sketch ? bytes - bytes / 8 : 0, bytes);
            tally_close(&counts);
        }
}

/* A key for which there is no memory is refused. All earlier keys have been counted. */
static void test_full(void **state) {
    const tally_request request = {.memory = 1 << 20};
    char room[16];
    tally_count told;
    unsigned taken = 0;
    (void)state;
    assert_true(tally_open(&counts, &request));
    for (; taken < 1000000; taken++) {
        const bly_bytes key = key_of_number(taken, room);
        if (tally_take(&counts, &key, 1, &told) == 0)
            break;
        assert_int_equal(told.count, 1);
    }
    assert_in_range(taken, 100000, 200000);
    assert_true(counts.exact.levels > 1);
    assert_true(tally_bytes(&counts) <= request.memory);
    for (unsigned i = 0; i < taken; i += 97) {
        const bly_bytes key = key_of_number(i, room);
        assert_int_equal(tally_take(&counts, &key, 1, &told), 1);
        assert_int_equal(told.count, 2);
    }
    tally_close(&counts);
}

/* ---- gathered keys --------------------------------------------------------------------------- */

static void gather(gathered_keys *k, const char *letters) {
    bly_hasher hasher;
    assert_ok(bly_hasher_init(&hasher, BLY_HASH_XXH3, 0));
    for (; *letters; letters++)
        assert_true(
            gathered_keys_add(k, (bly_bytes){letters, 1}, bly_hash_key(&hasher, letters, 1)));
}

static void test_copies(void **state) {
    bly_hasher other;
    (void)state;
    assert_ok(bly_hasher_init(&other, BLY_HASH_XXH3, 9));
    for (int copies = 0; copies < 2; copies++) {
        gathered_keys k = {.keep = true, .copies = copies};
        gather(&k, "abracadabra");
        assert_int_equal(gathered_keys_settle(&k), 6);
        assert_int_equal(k.distinct, 5);
        assert_int_equal(k.count, copies ? 11 : 5);
        for (size_t i = 0; i < k.count; i++)
            assert_true(gathered_keys_contain_hash(&k, k.hashes[i]));
        gathered_keys_rehash(&k, &other);
        assert_int_equal(k.distinct, 5);
        assert_int_equal(k.count, copies ? 11 : 5);
        assert_true(gathered_keys_contain_hash(&k, bly_hash_key(&other, "c", 1)));
        assert_false(gathered_keys_contain_hash(&k, bly_hash_key(&other, "x", 1)));
        gathered_keys_free(&k);
        assert_int_equal(gathered_keys_settle(&k), 0);
        assert_int_equal(k.distinct, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts), cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_full),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
