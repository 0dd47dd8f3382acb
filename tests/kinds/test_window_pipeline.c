/* A batch of lookups in a window gives the answers of single lookups, for any mixture of keys. */
#include "window_support.h"

#include "kinds/window/window_layout.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ABSENT = 1000000, LOOKUPS = 700, MIXTURES = 7 };

typedef struct question {
    char text[32];
    bly_bytes key;
    bly_hash hash;
    bool expected;
} question;

/* Makes key number i. Those below FIRST_ABSENT may be added, in this order. Most have 9 to 16
 * bytes, and others any length. */
static void set_key(question *q, uint64_t i) {
    int width = i % 7 == 3 ? (int)(i % 29) + 1 : 11;
    int n = snprintf(q->text, sizeof q->text, "%0*x", width, (unsigned)i);
    q->key = i == FIRST_ABSENT ? (bly_bytes){NULL, 0} : (bly_bytes){q->text, (size_t)n};
}

static void add_up_to(bly_filter *f, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        question q;
        set_key(&q, i);
        assert_ok(bly_filter_add(f, q.key.data, q.key.size, NULL));
    }
}

/* Chooses a key for a mixture of members and non-members: no members, only members, every other
 * key, a few, most, or in long runs. The last mixture has keys that were added at any time and may
 * have been dropped. */
static uint64_t pick(unsigned mixture, size_t i, uint64_t newest, uint64_t *rng) {
    uint64_t r = blyt_next(rng),
             known = newest ? newest - 1 - r % (newest < 2000 ? newest : 2000) : 0;
    const bool there[] = {false, true, i % 2, r >> 60 == 0, r >> 60 != 0, i / 100 % 2, true};
    if (mixture == MIXTURES - 1 && newest)
        return r % newest;
    return there[mixture] && newest ? known : FIRST_ABSENT + (r % 50 ? r % 1000000 : 0);
}

static void compare(const bly_filter *f, question *q, size_t n) {
    bly_bytes keys[LOOKUPS];
    bly_hash hashes[LOOKUPS];
    uint8_t found[LOOKUPS + 1];
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
    static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 128, 500, LOOKUPS};
    static question q[LOOKUPS];
    const bly_hasher *hasher = bly_filter_hasher(f);
    uint64_t rng = newest + 1;
    for (unsigned mixture = 0; mixture < MIXTURES; mixture++) {
        size_t there = 0;
        for (size_t i = 0; i < LOOKUPS; i++) {
            set_key(q + i, pick(mixture, i, newest, &rng));
            q[i].hash = hasher->one(hasher, q[i].key.data, q[i].key.size);
            q[i].expected = bly_filter_contains(f, q[i].key.data, q[i].key.size);
            there += q[i].expected;
        }
        assert_true(mixture != 1 || newest == 0 || there == LOOKUPS);
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            compare(f, q + (LOOKUPS - sizes[i]) / 2, sizes[i]);
    }
}

/* Tests every stage of a window: empty, with few keys, just after a turn, when few lines are swept,
 * and when all are. */
static void at_every_stage(const bly_spec *spec) {
    const uint64_t quota =
        (spec->capacity + spec->window.generations - 1) / spec->window.generations;
    const uint64_t full = (spec->window.generations + 1) * quota;
    const uint64_t stages[] = {0, 10, quota, quota + 1, 3000, full, full + 1, full + 60, 6000};
    for (size_t i = 0; i < COUNT_OF(stages); i++) {
        bly_filter *f;
        assert_ok(bly_filter_create(spec, &f));
        assert_false(blyi_window_is_small(&f->geometry));
        add_up_to(f, stages[i]);
        ask_all(f, stages[i]);
        bly_filter_destroy(f);
    }
}

static bly_spec spec_of(uint32_t generations, double p, bly_hash_id hash, uint64_t seed) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, 3000, p);
    spec.window.generations = generations;
    assert_ok(bly_hasher_init(&spec.hasher, hash, seed));
    return spec;
}

static void many_say_what_one_says(void **state) {
    static const uint32_t generations[] = {1, 3, 8, 9, 10, 15, 16, 32};
    static const double rates[] = {0.05, 0.01, 0.001, 1e-6};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(generations); i++)
        for (size_t j = blyt_large() ? 0 : i % 2; j < COUNT_OF(rates); j += blyt_large() ? 1 : 2) {
            bly_spec spec = spec_of(generations[i], rates[j], BLY_HASH_XXH3, i);
            at_every_stage(&spec);
        }
}

/* Tests windows with one part up to the maximum number of parts. */
static void of_any_parts(void **state) {
    (void)state;
    for (unsigned parts = 1; parts <= BLYI_WIN_MAX_PARTS; parts += parts < 4 ? 1 : 6)
        for (uint32_t generations = 8; generations <= 16; generations += 8) {
            bly_spec spec = spec_of(generations, 0.01, BLY_HASH_XXH3, parts);
            unsigned lanes = blyi_window_lane_count(generations + 1);
            spec.geometry = (bly_geometry){BLY_WINDOW, lanes * parts, 400, 0, generations};
            at_every_stage(&spec);
        }
}

static void by_any_hash(void **state) {
    const bly_spec specs[] = {spec_of(8, 0.01, BLY_HASH_XXH3, 7),
                              spec_of(8, 0.01, BLY_HASH_XXH3_128, 0),
                              spec_of(8, 0.001, BLY_HASH_MURMUR3, 3)};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++)
        at_every_stage(&specs[i]);
}

/* With a heading that names slots that do not exist, as in a damaged map, batches give the answers
 * of single lookups. */
static void of_slots_there_are_not(void **state) {
    (void)state;
    for (uint32_t generations = 3; generations <= 15; generations += 4) {
        bly_spec spec = spec_of(generations, 0.01, BLY_HASH_XXH3, 0);
        bly_filter *f;
        assert_ok(bly_filter_create(&spec, &f));
        add_up_to(f, 3000);
        blyi_window_set_field(f, BLYI_WIN_LIVE, UINT64_MAX);
        ask_all(f, 3000);
        bly_filter_destroy(f);
    }
}

static void of_no_keys(void **state) {
    bly_spec spec = spec_of(8, 0.01, BLY_HASH_XXH3, 0);
    bly_filter *f;
    (void)state;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_contains_many(f, NULL, 0, NULL), 0);
    assert_int_equal(bly_filter_contains_hashes(f, NULL, 0, NULL), 0);
    bly_filter_destroy(f);
}

/* Computing all probe positions of a line together gives the same result as computing them one by
 * one. */
static void places_agree(void **state) {
    uint64_t rng = 1;
    (void)state;
    for (unsigned slots = 2; slots <= BLYI_WIN_MAX_SLOTS; slots++) {
        const blyi_window_places p = blyi_window_places_of(slots);
        for (int i = 0; i < 1000; i++) {
            uint64_t y = i == 0 ? 0 : i == 1 ? UINT64_MAX : blyt_next(&rng), z = blyt_next(&rng);
            blyi_window_u16x8 got = blyi_window_place_pair(&p, y, z),
                              plain = blyi_window_place_pair_plain(&p, y, z);
            assert_memory_equal(&got, &plain, sizeof got);
            for (unsigned lane = 0; lane < p.lanes; lane++) {
                unsigned side = blyi_window_quarter_of(lane),
                         last = blyi_window_lane_start(slots, lane + 1) - 1;
                assert_int_equal(got[side], blyi_window_place_of(&p, y, lane));
                assert_int_equal(got[BLYI_WIN_QUARTERS + side], blyi_window_place_of(&p, z, lane));
                assert_in_range(got[side], blyi_window_lane_start(slots, lane), last);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_say_what_one_says),
        cmocka_unit_test(of_any_parts),
        cmocka_unit_test(by_any_hash),
        cmocka_unit_test(of_slots_there_are_not),
        cmocka_unit_test(of_no_keys),
        cmocka_unit_test(places_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
