/* Asking a window about many keys says what asking about one says, whatever is asked together. */
#include "window_support.h"

#include "filters/window/window_walk.h"

#include <stdio.h>
#include <stdlib.h>

enum { STRANGERS = 1000000, ASKED = 700 };

typedef struct question {
    char text[24];
    bly_bytes key;
    bly_hash hash;
    bool expected;
} question;

/* Key number i; those below STRANGERS may be added, the latest last. */
static void set_key(question *q, uint64_t i) {
    int n = snprintf(q->text, sizeof q->text, "%0*u", i % 3 == 0 ? 20 : 11, (unsigned)i);
    q->key = (bly_bytes){q->text, (size_t)n};
}

static void add_up_to(bly_filter *f, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        question q;
        set_key(&q, i);
        assert_ok(bly_filter_add(f, q.key.data, q.key.size, NULL));
    }
}

/* Mixtures of keys that are there and strangers: none, all, every other, a few, most, long runs. */
static uint64_t pick(unsigned mixture, size_t i, uint64_t newest, uint64_t *rng) {
    uint64_t r = blyt_next(rng),
             known = newest ? newest - 1 - r % (newest < 2000 ? newest : 2000) : 0;
    const bool there[] = {false, true, i % 2, r >> 60 == 0, r >> 60 != 0, i / 100 % 2};
    return there[mixture] && newest ? known : STRANGERS + r % 1000000;
}

static void compare(const bly_filter *f, question *q, size_t n) {
    bly_bytes keys[ASKED];
    bly_hash hashes[ASKED];
    uint8_t found[ASKED + 1];
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        keys[i] = q[i].key;
        hashes[i] = q[i].hash;
        sum += q[i].expected;
    }
    for (int how = 0; how < 2; how++) {
        memset(found, 0xa5, sizeof found);
        size_t hits = how ? bly_filter_contains_hashes(f, hashes, n, found)
                          : bly_filter_contains_many(f, keys, n, found);
        assert_int_equal(hits, sum);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(found[i], q[i].expected);
        assert_int_equal(found[n], 0xa5);
    }
    assert_int_equal(bly_filter_contains_many(f, keys, n, NULL), sum);
    assert_int_equal(bly_filter_contains_hashes(f, hashes, n, NULL), sum);
}

static void ask_all(const bly_filter *f, uint64_t newest) {
    static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 128, 500, ASKED};
    static question q[ASKED];
    const bly_hasher *hasher = bly_filter_hasher(f);
    uint64_t rng = newest + 1;
    for (unsigned mixture = 0; mixture < 6; mixture++) {
        size_t there = 0;
        for (size_t i = 0; i < ASKED; i++) {
            set_key(q + i, pick(mixture, i, newest, &rng));
            q[i].hash = hasher->one(hasher, q[i].key.data, q[i].key.size);
            q[i].expected = bly_filter_contains(f, q[i].key.data, q[i].key.size);
            there += q[i].expected;
        }
        assert_true(mixture != 1 || newest == 0 || there == ASKED);
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            compare(f, q + (ASKED - sizes[i]) / 2, sizes[i]);
    }
}

/* At every stage: empty, with few keys, where the active slot has just become so and little of it
 * is swept, and where all is. */
static void one_window(uint32_t generations, double p, bly_hash_id hash, uint64_t seed) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, 3000, p);
    const uint64_t quota = (3000 + generations - 1) / generations;
    const uint64_t stages[] = {0, 10, quota, quota + 1, 3 * quota + 2, 3000, 4000, 6000};
    spec.generations = generations;
    assert_ok(bly_hasher_init(&spec.hasher, hash, seed));
    for (size_t i = 0; i < COUNT_OF(stages); i++) {
        bly_filter *f;
        assert_ok(bly_filter_create(&spec, &f));
        add_up_to(f, stages[i]);
        ask_all(f, stages[i]);
        bly_filter_destroy(f);
    }
}

static void many_say_what_one_says(void **state) {
    static const uint32_t generations[] = {1, 3, 8, 9, 10, 16, 32};
    static const double rates[] = {0.3, 0.05, 0.01, 0.001, 1e-6};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(generations); i++)
        for (size_t j = 0; j < COUNT_OF(rates); j++)
            one_window(generations[i], rates[j], BLY_HASH_XXH3, i);
}

static void by_any_hash(void **state) {
    (void)state;
    one_window(8, 0.01, BLY_HASH_XXH3, 7);
    one_window(8, 0.01, BLY_HASH_XXH3_128, 0);
    one_window(8, 0.001, BLY_HASH_MURMUR3, 3);
}

/* The places of a line's lanes found together are those found one by one. */
static void places_agree(void **state) {
    uint64_t rng = 1;
    (void)state;
    for (unsigned slots = 2; slots <= BLYI_WIN_MOST_SLOTS; slots++) {
        const blyi_places p = places_of(slots);
        for (int i = 0; i < 1000; i++) {
            uint64_t y = i == 0 ? 0 : i == 1 ? UINT64_MAX : blyt_next(&rng), z = blyt_next(&rng);
            uint16_t two[2 * BLYI_SIDES], one[BLYI_SIDES];
            blyi_places_of_two(&p, y, z, two);
            blyi_places_of_one(&p, y, one);
            for (unsigned lane = 0; lane < p.lanes; lane++) {
                unsigned side = BLYI_SIDES - 1 - lane, first = blyi_window_lane(slots, lane);
                assert_int_equal(one[side], blyi_place_of(&p, y, lane));
                assert_int_equal(two[side], blyi_place_of(&p, y, lane));
                assert_int_equal(two[BLYI_SIDES + side], blyi_place_of(&p, z, lane));
                assert_in_range(one[side], first, blyi_window_lane(slots, lane + 1) - 1);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_say_what_one_says),
        cmocka_unit_test(by_any_hash),
        cmocka_unit_test(places_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
