/* test_shard_keys.c - the slots of a cluster, and how the keys of shards are chosen so that they
 * are spread over the slots. */
#include "redis/bitmap_support.h"

#include "redis/bitmap/shard_keys.h"

#include <bloomery/redis/bitmap.h>

/* CRC-16/XMODEM, bit by bit. */
static unsigned plain_crc(const void *data, size_t n) {
    const uint8_t *p = data;
    unsigned crc = 0;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned)p[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
    }
    return crc;
}

/* The slot of a key by the servers' specification: if the text between the first '{' and the first
 * '}' after it is not empty, only that text is hashed. */
static unsigned plain_slot(const char *key, size_t n) {
    size_t open = 0, close;
    while (open < n && key[open] != '{')
        open++;
    for (close = open + 1; close < n && key[close] != '}';)
        close++;
    if (open >= n || close >= n || close == open + 1)
        return plain_crc(key, n) % 16384;
    return plain_crc(key + open + 1, close - open - 1) % 16384;
}

static void test_slots(void **state) {
    (void)state;
    const struct {
        const char *key;
        unsigned slot;
    } known[] = {
        {"123456789", 0x31C3},   {"foo", 12182},
        {"bar", 5061},           {"hello", 866},
        {"foo{bar}{zap}", 5061}, {"{user1000}.following", 3443},
        {"{user1000}x", 3443},   {"", 0},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        assert_int_equal(bly_redis_slot(blyt_text(known[i].key)), known[i].slot);
    assert_int_equal(bly_redis_slot(blyt_text("foo{}{bar}")), plain_crc("foo{}{bar}", 10) % 16384);
    assert_int_equal(bly_redis_slot(blyt_text("foo{{bar}}zap")), plain_crc("{bar", 4) % 16384);
    uint64_t seed = 2;
    for (unsigned i = 0; i < 20000; i++) {
        char key[12];
        const size_t n = blyt_next(&seed) % sizeof key;
        for (size_t j = 0; j < n; j++)
            key[j] = "{}ab\0\xff"[blyt_next(&seed) % 6];
        assert_int_equal(bly_redis_slot((bly_bytes){key, n}), plain_slot(key, n));
    }
}

/* The key of a shard ends in a number that is searched for. The search always ends, because the
 * numbers of six digits reach every CRC. */
static void test_six_digits_reach_every_slot(void **state) {
    (void)state;
    static bool reached[65536];
    unsigned count = 0;
    for (unsigned t = 100000; t < 1000000; t++) {
        char digits[8];
        (void)snprintf(digits, sizeof digits, "%u", t);
        const unsigned crc = plain_crc(digits, 6);
        count += !reached[crc];
        reached[crc] = true;
    }
    assert_int_equal(count, 65536);
}

static const char *const names[] = {"crawl:seen", "",   "a{b", "a{}b", "a}b",  "{",
                                    "}",          "{}", "a{",  "a}{b", "{}{c}"};

/* Returns the number t of a key "name:{j.t}". */
static unsigned number_in(const char *key, size_t name, unsigned shard) {
    unsigned j, t;
    char end;
    assert_int_equal(sscanf(key + name, ":{%u.%u%c", &j, &t, &end), 3);
    assert_int_equal(end, '}');
    assert_int_equal(j, shard);
    return t;
}

/* Whether the key with the number t falls near the shard's point. The points of all shards are
 * evenly spaced on the circle of 16384 slots. */
static bool leads_there(const char *name, unsigned shard, unsigned shards, unsigned t) {
    char key[64];
    const int n = snprintf(key, sizeof key, "%s:{%u.%u}", name, shard, t);
    const unsigned step = 16384 / shards, few = step < 64 ? step : 64;
    const unsigned width = step / 16 > few ? step / 16 : few;
    const unsigned point = plain_slot(name, strlen(name)) + shard * 16384 / shards;
    return (plain_slot(key, (size_t)n) + 2 * 16384 - point + width / 2) % 16384 < width;
}

static void check_spread(const char *name, uint32_t shards) {
    static uint8_t used[16384];
    const bly_bitmap b = {.form = BLY_BITMAP_NATIVE, .shards = shards};
    memset(used, 0, sizeof used);
    for (uint32_t s = 0; s < shards; s++) {
        char key[64], arrival[64], parked[64];
        const size_t size = bly_bitmap_key(&b, blyt_text(name), s, key, sizeof key);
        assert_int_equal(size, strlen(key));
        const unsigned slot = plain_slot(key, size);
        assert_int_equal(used[slot]++, 0);
        if (shards < 20) {
            const size_t n =
                blyi_bitmap_staging_key(&b, blyt_text(name), s, arrival, sizeof arrival);
            assert_int_equal(n, strlen(arrival));
            assert_int_equal(plain_slot(arrival, n), slot);
            assert_string_not_equal(key, arrival);
            const size_t p = blyi_bitmap_parking_key(&b, blyt_text(name), s, parked, sizeof parked);
            assert_int_equal(p, strlen(parked));
            assert_int_equal(plain_slot(parked, p), slot);
            assert_string_not_equal(key, parked);
            assert_string_not_equal(arrival, parked);
        }
        assert_memory_equal(key, name, strlen(name));
        if (s == 0) {
            assert_string_equal(key, name);
            continue;
        }
        const unsigned t = number_in(key, strlen(name), s);
        assert_true(leads_there(name, s, shards, t));
        for (unsigned less = 0; less < t && (shards < 50 || s % 16 == 1); less++)
            assert_false(leads_there(name, s, shards, less));
    }
}

static void test_shards_are_spread_evenly(void **state) {
    (void)state;
    for (uint32_t shards = 2; shards <= 200; shards += BLYT_SLOW)
        check_spread(names[shards % COUNT_OF(names)], shards);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        check_spread(names[i], 13);
}

/* If three nodes have a third of the slots each, every node gets one of three shards, except for
 * names whose points are close to the border between nodes: fewer than one in ten. */
static void test_nodes_get_equal_shares(void **state) {
    (void)state;
    const bly_bitmap b = {.form = BLY_BITMAP_NATIVE, .shards = 3};
    int uneven = 0;
    for (int i = 0; i < 1000; i++) {
        char name[24], key[64];
        unsigned has = 0;
        (void)snprintf(name, sizeof name, "name-%d", i);
        for (uint32_t s = 0; s < 3; s++) {
            const size_t size = bly_bitmap_key(&b, blyt_text(name), s, key, sizeof key);
            has |= 1U << plain_slot(key, size) * 3 / 16384;
        }
        uneven += has != 7;
    }
    assert_in_range(uneven, 0, 99);
}

/* Even with the largest number of shards, no two shards have the same slot. */
static void test_most_shards(void **state) {
    (void)state;
    static uint8_t used[16384];
    const bly_bitmap b = {.form = BLY_BITMAP_NATIVE, .shards = BLY_BITMAP_MAX_SHARDS};
    memset(used, 0, sizeof used);
    for (uint32_t s = 0; s < b.shards; s += 5 * BLYT_SLOW) {
        char key[64];
        const size_t size = bly_bitmap_key(&b, blyt_text("crawl"), s, key, sizeof key);
        assert_int_equal(used[plain_slot(key, size)]++, 0);
    }
}

static void test_a_tag_of_the_name_keeps_shards_together(void **state) {
    (void)state;
    const char *const tagged[] = {"{user}:seen", "a{b}c", "a{b}{", "x{{y}"};
    const bly_bitmap b = {.form = BLY_BITMAP_NATIVE, .shards = 20};
    for (size_t i = 0; i < COUNT_OF(tagged); i++)
        for (uint32_t s = 0; s < b.shards; s++) {
            char key[64], wanted[64], arrival[64];
            (void)snprintf(wanted, sizeof wanted, s ? "%s:%u" : "%s", tagged[i], (unsigned)s);
            (void)bly_bitmap_key(&b, blyt_text(tagged[i]), s, key, sizeof key);
            assert_string_equal(key, wanted);
            (void)blyi_bitmap_staging_key(&b, blyt_text(tagged[i]), s, arrival, sizeof arrival);
            assert_int_equal(bly_redis_slot(blyt_text(key)), bly_redis_slot(blyt_text(tagged[i])));
            assert_int_equal(bly_redis_slot(blyt_text(arrival)),
                             bly_redis_slot(blyt_text(tagged[i])));
        }
}

/* blyi_bitmap_key_cached gives the same key as the search, and remembers its number. */
static void test_keys_again(void **state) {
    (void)state;
    const uint32_t counts[] = {1, 2, 25, 300, BLY_BITMAP_MAX_SHARDS};
    for (size_t i = 0; i < COUNT_OF(names) + 1; i++)
        for (size_t j = 0; j < COUNT_OF(counts); j++) {
            const bly_bytes name = blyt_text(i < COUNT_OF(names) ? names[i] : "{tag}name");
            const bly_bitmap b = {.form = BLY_BITMAP_NATIVE, .shards = counts[j]};
            for (uint32_t s = 0; s < b.shards; s += 1 + b.shards / 10) {
                char key[64], again[64];
                uint32_t tag = 0;
                const size_t size = bly_bitmap_key(&b, name, s, key, sizeof key);
                for (unsigned turn = 0; turn < 3; turn++) {
                    const uint32_t before = tag;
                    assert_int_equal(blyi_bitmap_key_cached(&b, name, s, &tag, again, sizeof again),
                                     size);
                    assert_string_equal(again, key);
                    assert_true(tag > 0 && (turn == 0 || tag == before));
                }
            }
        }
}

static void test_room_for_a_key(void **state) {
    (void)state;
    const bly_bitmap b = {.form = BLY_BITMAP_NATIVE, .shards = 3};
    for (uint32_t s = 0; s < b.shards; s++) {
        char whole[64];
        const size_t size = bly_bitmap_key(&b, blyt_text("crawl"), s, whole, sizeof whole);
        for (size_t room = 0; room < size + 3; room++) {
            char key[64];
            memset(key, '#', sizeof key);
            assert_int_equal(bly_bitmap_key(&b, blyt_text("crawl"), s, key, room), size);
            if (room > size)
                assert_string_equal(key, whole);
            else
                assert_int_equal(key[0], '#');
            assert_int_equal(key[size + 1], '#');
        }
    }
    char key[8] = "#";
    assert_int_equal(bly_bitmap_key(&b, blyt_text("crawl"), 3, key, sizeof key), 0);
    assert_int_equal(blyi_bitmap_staging_key(&b, blyt_text("crawl"), 3, key, sizeof key), 0);
    assert_string_equal(key, "#");
}

/* The test vectors of docs/format.md, section 22. */
static void test_golden_keys(void **state) {
    (void)state;
    const struct {
        const char *name;
        uint32_t shard, shards;
        const char *key, *arrival;
    } rows[] = {
        {"crawl:seen", 0, 3, "crawl:seen", "crawl:seen:{924}:arriving"},
        {"crawl:seen", 1, 3, "crawl:seen:{1.27}", "crawl:seen:{1.27}:arriving"},
        {"crawl:seen", 2, 3, "crawl:seen:{2.0}", "crawl:seen:{2.0}:arriving"},
        {"crawl:seen", 24, 25, "crawl:seen:{24.158}", "crawl:seen:{24.158}:arriving"},
        {"{user}:seen", 2, 3, "{user}:seen:2", "{user}:seen:2:arriving"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bly_bitmap b = {.form = BLY_BITMAP_NATIVE, .shards = rows[i].shards};
        char key[64];
        (void)bly_bitmap_key(&b, blyt_text(rows[i].name), rows[i].shard, key, sizeof key);
        assert_string_equal(key, rows[i].key);
        (void)blyi_bitmap_staging_key(&b, blyt_text(rows[i].name), rows[i].shard, key, sizeof key);
        assert_string_equal(key, rows[i].arrival);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_six_digits_reach_every_slot),
        cmocka_unit_test(test_shards_are_spread_evenly),
        cmocka_unit_test(test_nodes_get_equal_shares),
        cmocka_unit_test(test_most_shards),
        cmocka_unit_test(test_a_tag_of_the_name_keeps_shards_together),
        cmocka_unit_test(test_keys_again),
        cmocka_unit_test(test_room_for_a_key),
        cmocka_unit_test(test_golden_keys),
    };
    return cmocka_run_group_tests_name("bitmap keys", tests, NULL, NULL);
}
