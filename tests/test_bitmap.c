/* test_bitmap.c - a filter as strings of a plain server: shape, keys, scripts, commands. */
#include "bitmap_support.h"

#include "redis/slots.h"

/* ---- planning -------------------------------------------------------------------------------- */

/* Shards are there to be counted by hand: sums, limits, and no more of them than are needed. */
static void check_cut(const bly_bitmap *b, uint64_t most_bytes) {
    const uint64_t block = b->geometry.kind == BLY_SBBF ? 32 : 64;
    uint64_t blocks = 0, bytes = 0;
    for (uint32_t s = 0; s < b->shards; s++) {
        const uint64_t mine = bly_bitmap_shard_blocks(b, s);
        assert_true(s + 1 == b->shards || mine == bly_bitmap_shard_blocks(b, 0));
        assert_true(mine <= bly_bitmap_shard_blocks(b, 0));
        assert_int_equal(bly_bitmap_shard_bytes(b, s), 128 + mine * block);
        assert_true(bly_bitmap_shard_bytes(b, s) <= most_bytes);
        blocks += mine;
        bytes += bly_bitmap_shard_bytes(b, s);
    }
    assert_int_equal(blocks, b->geometry.size);
    assert_int_equal(bytes, bly_bitmap_bytes(b));
    assert_int_equal(bly_bitmap_shard_blocks(b, b->shards), 0);
    assert_int_equal(bly_bitmap_shard_bytes(b, b->shards), 0);
}

static void test_ten_billion_keys(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.capacity = UINT64_C(10000000000), .fpr = 0.01};
    const uint64_t room = ((uint64_t)1 << 29) - 128;
    bly_geometry g;
    const bly_bitmap b = blyt_bitmap_plan(&spec);
    assert_ok(bly_plan(BLY_SBBF, spec.capacity, spec.fpr, 0, 64, &g));
    assert_int_equal(b.geometry.kind, BLY_SBBF);
    assert_int_equal(b.geometry.size, g.size);
    assert_int_equal(b.shards, (bly_plan_bits(&g) / 8 + room - 1) / room);
    assert_int_equal(b.shards, 25);
    check_cut(&b, BLY_BITMAP_MOST_BYTES);
}

static void test_three_shards_of_more_than_a_billion_bits(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.capacity = 114000000, .fpr = 0.01, .shards = 3};
    const bly_bitmap b = blyt_bitmap_plan(&spec);
    assert_true(bly_plan_bits(&b.geometry) >= 1200000000);
    assert_int_equal(b.shards, 3);
    check_cut(&b, BLY_BITMAP_MOST_BYTES);
}

static void test_cuts(void **state) {
    (void)state;
    uint64_t seed = 1;
    unsigned uneven = 0;
    for (unsigned i = 0; i < 500; i++) {
        bly_bitmap_spec spec = {.capacity = 3000 + blyt_next(&seed) % 100000, .fpr = 0.01};
        spec.kind = i % 2 ? BLY_SBBF : BLY_SPLIT512;
        spec.shard_bytes = 4096 + blyt_next(&seed) % 100000;
        const bly_bitmap few = blyt_bitmap_plan(&spec);
        check_cut(&few, spec.shard_bytes);
        uneven += bly_bitmap_shard_blocks(&few, few.shards - 1) != bly_bitmap_shard_blocks(&few, 0);
        /* One fewer would be too few. */
        spec.shards = few.shards - 1;
        bly_bitmap none;
        if (spec.shards)
            assert_int_equal(bly_bitmap_plan(&spec, &none), BLY_ETOOBIG);
        spec.shards = few.shards + 1 + i % 5;
        const bly_bitmap more = blyt_bitmap_plan(&spec);
        assert_int_equal(more.shards, spec.shards);
        check_cut(&more, spec.shard_bytes);
    }
    assert_true(uneven > 100);
}

/* More shards than ceil(z / S) blocks each leave some at the end without any. */
static void test_shards_without_blocks(void **state) {
    (void)state;
    bly_bitmap_spec spec = {.capacity = 200, .fpr = 0.01};
    const uint64_t blocks = blyt_bitmap_plan(&spec).geometry.size;
    assert_true(blocks > 6 && blocks < 20);
    for (uint32_t shards = 1; shards <= blocks; shards++) {
        spec.shards = shards;
        const bly_bitmap b = blyt_bitmap_plan(&spec);
        uint64_t sum = 0;
        for (uint32_t s = 0; s < shards; s++)
            sum += bly_bitmap_shard_blocks(&b, s);
        assert_int_equal(sum, blocks);
    }
    bly_bitmap b;
    spec.shards = (uint32_t)blocks + 1;
    assert_int_equal(bly_bitmap_plan(&spec, &b), BLY_ETOOBIG);
}

static bly_hash own_hash(void *user, const void *key, size_t len) {
    (void)user;
    (void)key;
    return (bly_hash){len, len};
}

static void test_refused_plans(void **state) {
    (void)state;
    bly_hasher custom, weak, hollow;
    assert_ok(bly_hasher_custom(&custom, own_hash, NULL, 128, 7));
    assert_ok(bly_hasher_init(&weak, BLY_HASH_FNV1A_32, 0));
    assert_ok(bly_hasher_init(&hollow, BLY_HASH_XXH64, 0));
    hollow.many = NULL;
    const struct {
        bly_bitmap_spec spec;
        bly_status status;
    } bad[] = {
        {{.capacity = 0, .fpr = 0.01}, BLY_ECOUNT},
        {{.capacity = 10, .fpr = 0}, BLY_ERATE},
        {{.capacity = 10, .fpr = 1}, BLY_ERATE},
        {{.capacity = 10, .fpr = (double)NAN}, BLY_ERATE},
        {{.capacity = 10, .fpr = 0.01, .kind = BLY_CLASSIC}, BLY_EKIND},
        {{.capacity = 10, .fpr = 0.01, .kind = BLY_BB2X512}, BLY_EKIND},
        {{.capacity = 10, .fpr = 0.01, .kind = BLY_SCALABLE}, BLY_EKIND},
        {{.capacity = 10, .fpr = 0.01, .kind = (bly_kind)77}, BLY_EKIND},
        {{.capacity = 10, .fpr = 0.01, .hasher = custom}, BLY_EINVAL},
        {{.capacity = 10, .fpr = 0.01, .hasher = hollow}, BLY_EINVAL},
        {{.capacity = 1000000000, .fpr = 0.01, .hasher = weak}, BLY_EWEAKHASH},
        {{.capacity = 10, .fpr = 0.01, .shard_bytes = 159}, BLY_EINVAL},
        {{.capacity = 10, .fpr = 0.001, .shard_bytes = 191}, BLY_EINVAL},
        {{.capacity = 10, .fpr = 0.01, .shard_bytes = BLY_BITMAP_MOST_BYTES + 1}, BLY_EINVAL},
        {{.capacity = 1000000000, .fpr = 0.01, .shards = 1}, BLY_ETOOBIG},
        {{.capacity = 1000000000, .fpr = 0.01, .shards = 4097}, BLY_ETOOBIG},
        {{.capacity = 1000000000, .fpr = 0.01, .shard_bytes = 160}, BLY_ETOOBIG},
        {{.capacity = (uint64_t)1 << 46, .fpr = 0.01}, BLY_ETOOBIG},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        bly_bitmap b = {.shards = 99};
        assert_int_equal(bly_bitmap_plan(&bad[i].spec, &b), bad[i].status);
        assert_int_equal(b.shards, 99);
    }
    const bly_bitmap_spec least[] = {
        {.capacity = 1, .fpr = 0.01, .shard_bytes = 160},
        {.capacity = 1, .fpr = 0.001, .shard_bytes = 192},
        {.capacity = 1000000000, .fpr = 0.01, .shards = 4096},
    };
    for (size_t i = 0; i < COUNT_OF(least); i++)
        (void)blyt_bitmap_plan(&least[i]);
}

/* A filter that cannot be cut so says why, and what can be had. */
static void test_reasons_of_cuts(void **state) {
    (void)state;
    const struct {
        bly_bitmap_spec spec;
        const char *words;
    } rows[] = {
        {{.capacity = 1, .fpr = 0.01, .shards = 4096}, "4096 shards are too many"},
        {{.capacity = 1000000, .fpr = 0.01, .shards = 4097}, "at most 4096"},
        {{.capacity = 1000000000, .fpr = 0.01, .shards = 1}, "it takes 3"},
        {{.capacity = 1000000000, .fpr = 0.01, .shard_bytes = 160}, "of at most 160 bytes"},
        {{.capacity = 10, .fpr = 0.01, .shard_bytes = 159}, "from 160 to 536870912 bytes"},
        {{.capacity = (uint64_t)1 << 46, .fpr = 0.01}, "2^48 bits"},
        {{.capacity = 10, .fpr = 2}, "rate"},
        {{.capacity = 10, .fpr = 0.01, .kind = BLY_CLASSIC}, "sbbf and split512"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bly_redis_reason why = {""};
        bly_bitmap b;
        const bly_status status = blyi_bitmap_plan(&rows[i].spec, &b, &why);
        assert_int_not_equal(status, BLY_OK);
        assert_int_equal(status, bly_bitmap_plan(&rows[i].spec, &b));
        if (!strstr(why.text, rows[i].words))
            fail_msg("no '%s' in '%s'", rows[i].words, why.text);
    }
    const bly_bitmap_spec many = {.shards = 4096};
    bly_spec spec = bly_spec_for(BLY_SBBF, 100, 0.01);
    bly_redis_reason why = {""};
    bly_filter *f;
    bly_bitmap b;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(blyi_bitmap_of(f, &many, &b, &why), BLY_ETOOBIG);
    assert_non_null(strstr(why.text, "too many"));
    bly_filter_destroy(f);
}

static void test_layout_and_hash_follow_from_the_rate(void **state) {
    (void)state;
    const struct {
        uint64_t keys;
        double rate;
        bly_kind kind;
        bly_hash_id hash;
    } rows[] = {
        {1000, 0.2, BLY_SBBF, BLY_HASH_XXH3},
        {1000, 0.004, BLY_SBBF, BLY_HASH_XXH3},
        {1000, 0.0039, BLY_SPLIT512, BLY_HASH_XXH3},
        {1000, 1e-5, BLY_SPLIT512, BLY_HASH_XXH3},
        {UINT64_C(10000000000), 1e-9, BLY_SPLIT512, BLY_HASH_XXH3_128},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bly_bitmap_spec spec = {.capacity = rows[i].keys, .fpr = rows[i].rate, .seed = 7};
        const bly_bitmap b = blyt_bitmap_plan(&spec);
        assert_int_equal(b.geometry.kind, rows[i].kind);
        assert_int_equal(b.hasher.id, rows[i].hash);
        assert_int_equal(b.hasher.seed, 7);
        assert_int_equal(b.capacity, spec.capacity);
        assert_true(b.fpr == spec.fpr);
        assert_true(bly_plan_fpr(&b.geometry, b.capacity, b.hasher.bits) <= b.fpr);
    }
}

static void test_alike(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.capacity = 1000, .fpr = 0.01, .shards = 2};
    const bly_bitmap a = blyt_bitmap_plan(&spec), b = blyt_bitmap_plan(&spec);
    assert_true(a.stamp != b.stamp);
    assert_true(bly_bitmap_alike(&a, &b));
    bly_bitmap other[9];
    for (size_t i = 0; i < COUNT_OF(other); i++)
        other[i] = b;
    other[0].form = BLY_BITMAP_GOZERO;
    other[1].geometry.kind = BLY_SPLIT512;
    other[2].geometry.size++;
    other[3].geometry.hashes++;
    other[4].capacity++;
    other[5].fpr = 0.011;
    other[6].hasher.seed++;
    other[7].hasher.id = BLY_HASH_XXH64;
    other[8].shards++;
    for (size_t i = 0; i < COUNT_OF(other); i++)
        assert_false(bly_bitmap_alike(&a, &other[i]));
    other[0] = b;
    other[0].approximate = true;
    assert_true(bly_bitmap_alike(&a, &other[0]));
}

static void test_shape_of_a_filter(void **state) {
    (void)state;
    const bly_kind kinds[] = {BLY_SBBF, BLY_SPLIT512};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const bly_bitmap_spec cut = {.shards = 3};
        bly_spec spec = bly_spec_for(kinds[i], 5000, 0.002);
        bly_filter *f;
        bly_bitmap b, again;
        spec.seed = 11;
        assert_ok(bly_filter_create(&spec, &f));
        assert_ok(bly_bitmap_of(f, &cut, &b));
        assert_ok(bly_bitmap_of(f, NULL, &again));
        const bly_geometry g = bly_filter_geometry(f);
        assert_memory_equal(&b.geometry, &g, sizeof g);
        assert_int_equal(b.capacity, 5000);
        assert_true(b.fpr == 0.002);
        assert_int_equal(b.hasher.seed, 11);
        assert_int_equal(b.shards, 3);
        assert_int_equal(again.shards, 1);
        assert_true(b.stamp != again.stamp);
        check_cut(&b, BLY_BITMAP_MOST_BYTES);
        bly_filter_destroy(f);
    }
}

/* The same filter, opened without its hasher. */
static bly_filter *without_key(const bly_filter *f) {
    const bly_open_options options = {.flags = BLY_OPEN_WITHOUT_KEY};
    const size_t size = (size_t)bly_filter_file_size(f);
    uint8_t *bytes = malloc(size);
    bly_image *image;
    bly_filter *out;
    assert_non_null(bytes);
    assert_ok(bly_image_open(f, NULL, &image));
    assert_int_equal(bly_image_copy(image, 0, bytes, size), size);
    assert_ok(bly_filter_parse(bytes, size, &options, &out));
    bly_image_close(image);
    free(bytes);
    return out;
}

static void test_filters_that_cannot(void **state) {
    (void)state;
    bly_filter *f, *keyless;
    bly_bitmap b;
    assert_ok(bly_scalable_create(100, 0.01, &f));
    assert_int_equal(bly_bitmap_of(f, NULL, &b), BLY_EKIND);
    bly_filter_destroy(f);
    bly_spec spec = bly_spec_for(BLY_SBBF, 100, 0.01);
    assert_ok(bly_hasher_custom(&spec.hasher, own_hash, NULL, 128, 7));
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_bitmap_of(f, NULL, &b), BLY_EINVAL);
    keyless = without_key(f);
    assert_int_equal(bly_bitmap_of(keyless, NULL, &b), BLY_EKEY);
    bly_filter_destroy(keyless);
    bly_filter_destroy(f);
}

/* ---- slots and keys -------------------------------------------------------------------------- */

/* CRC-16/XMODEM, a bit at a time. */
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

/* As the servers' specification has it: the first '{', the first '}' after it, not at once. */
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

/* Why a search for a name must end: six digits lead to every CRC there is. */
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

/* The number t of "name:{j.t}". */
static unsigned number_in(const char *key, size_t name, unsigned shard) {
    unsigned j, t;
    char end;
    assert_int_equal(sscanf(key + name, ":{%u.%u%c", &j, &t, &end), 3);
    assert_int_equal(end, '}');
    assert_int_equal(j, shard);
    return t;
}

/* Whether the key with another number would be near the shard's point on the circle. */
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
                blyi_bitmap_arrival_key(&b, blyt_text(name), s, arrival, sizeof arrival);
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

/* Three nodes with a third of the slots each have a shard each, but for names whose points lie at
 * the very rim of these: fewer than one in ten. */
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

/* The largest number of shards: slots of their own still. */
static void test_most_shards(void **state) {
    (void)state;
    static uint8_t used[16384];
    const bly_bitmap b = {.form = BLY_BITMAP_NATIVE, .shards = BLY_BITMAP_MOST_SHARDS};
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
            (void)blyi_bitmap_arrival_key(&b, blyt_text(tagged[i]), s, arrival, sizeof arrival);
            assert_int_equal(bly_redis_slot(blyt_text(key)), bly_redis_slot(blyt_text(tagged[i])));
            assert_int_equal(bly_redis_slot(blyt_text(arrival)),
                             bly_redis_slot(blyt_text(tagged[i])));
        }
}

/* What was found once is found at once, and is the same. */
static void test_keys_again(void **state) {
    (void)state;
    const uint32_t counts[] = {1, 2, 25, 300, BLY_BITMAP_MOST_SHARDS};
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
                    assert_int_equal(blyi_bitmap_key_again(&b, name, s, &tag, again, sizeof again),
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
    assert_int_equal(blyi_bitmap_arrival_key(&b, blyt_text("crawl"), 3, key, sizeof key), 0);
    assert_string_equal(key, "#");
}

/* docs/format.md, section 22. */
/* Against adding one key after the other, each lost at the rate that the filter then has. */
static void test_keys_behind_a_count(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.capacity = 1000, .fpr = 0.01};
    bly_bitmap b;
    assert_ok(bly_bitmap_plan(&spec, &b));
    double fresh = 0;
    assert_true(bly_bitmap_keys(&b, 0) == 0);
    for (unsigned keys = 0; keys < 5000; keys++) {
        if (keys % 500 == 499) {
            const double found = bly_bitmap_keys(&b, (uint64_t)fresh);
            assert_true(found > 0.98 * keys && found < 1.02 * keys);
        }
        fresh += 1 - bly_plan_fpr(&b.geometry, keys, b.hasher.bits);
    }
    assert_true(bly_bitmap_keys(&b, UINT64_MAX) >= 1000 * 1000.0);
}

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
        (void)blyi_bitmap_arrival_key(&b, blyt_text(rows[i].name), rows[i].shard, key, sizeof key);
        assert_string_equal(key, rows[i].arrival);
    }
}

/* ---- scripts and commands -------------------------------------------------------------------- */

static void test_digests(void **state) {
    (void)state;
    bly_hasher sha1;
    for (size_t i = 0; i < BLYI_SCRIPTS; i++) {
        const char *script = blyi_scripts[i].text;
        assert_int_equal(strlen(blyi_scripts[i].digest), 40);
        for (const char *c = script; *c; c++)
            assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
    }
    if (bly_hasher_init(&sha1, BLY_HASH_SHA1, 0) != BLY_OK)
        skip();
    for (size_t i = 0; i < BLYI_SCRIPTS; i++) {
        uint8_t digest[20];
        char hex[41] = "";
        assert_int_equal(
            bly_hash_digest(&sha1, blyi_scripts[i].text, strlen(blyi_scripts[i].text), digest), 20);
        for (size_t j = 0; j < sizeof digest; j++)
            (void)snprintf(hex + 2 * j, 3, "%02x", digest[j]);
        assert_string_equal(blyi_scripts[i].digest, hex);
    }
}

static void assert_arg(const bly_bitmap_command *c, size_t i, const char *wanted) {
    assert_true(i < c->count);
    assert_int_equal(c->args[i].size, strlen(wanted));
    assert_memory_equal(c->args[i].data, wanted, strlen(wanted));
}

/* EVALSHA of that script, with so many keys, the first (or second) of which is the command's. */
static void assert_script(const bly_bitmap_command *c, blyi_script_id id, unsigned keys,
                          bool writes, size_t count) {
    assert_int_equal(c->count, count);
    assert_arg(c, 0, "EVALSHA");
    assert_arg(c, 1, blyi_scripts[id].digest);
    assert_arg(c, 2, keys == 1 ? "1" : keys == 2 ? "2" : "3");
    assert_int_equal(c->script.size, strlen(blyi_scripts[id].text));
    assert_memory_equal(c->script.data, blyi_scripts[id].text, c->script.size);
    const bly_bytes key = c->args[keys == 1 ? 3 : 4];
    assert_int_equal(c->key.size, key.size);
    assert_memory_equal(c->key.data, key.data, key.size);
    assert_int_equal(c->writes, writes);
    for (unsigned k = 1; k < keys; k++)
        assert_int_equal(bly_redis_slot(c->args[3]), bly_redis_slot(c->args[3 + k]));
}

static void assert_identity(const bly_bitmap_command *c, size_t i, const bly_bitmap *b,
                            uint32_t shard) {
    uint8_t head[BLY_BITMAP_HEAD];
    blyi_bitmap_head_encode(b, shard, false, head);
    assert_int_equal(c->args[i].size, BLYI_BITMAP_IDENTITY);
    assert_memory_equal(c->args[i].data, head, BLYI_BITMAP_IDENTITY);
}

static void test_life_of_a_shard(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes name = blyt_text("crawl:seen");
    for (uint32_t s = 0; s < b.shards; s++) {
        char key[64];
        uint8_t head[BLY_BITMAP_HEAD];
        bly_bitmap_command *c;
        (void)bly_bitmap_key(&b, name, s, key, sizeof key);
        assert_ok(bly_bitmap_create(&b, name, s, 1700000000000, &c));
        assert_script(c, BLYI_SCRIPT_CREATE, 1, true, 8);
        assert_arg(c, 3, key);
        blyi_bitmap_head_encode(&b, s, false, head);
        assert_int_equal(head[BLYI_BITMAP_STATE_AT], s > 0);
        assert_int_equal(c->args[4].size, sizeof head);
        assert_memory_equal(c->args[4].data, head, sizeof head);
        assert_arg(c, 5, s < 2 ? "10816" : "10752"); /* 334 or 332 blocks of 32 bytes, and 128 */
        assert_arg(c, 6, "1700000000000");
        assert_arg(c, 7, s == 0 ? "32384" : s == 1 ? "10816" : "10752"); /* the first: of all */
        bly_bitmap_command_free(c);

        assert_ok(bly_bitmap_expire(&b, name, s, UINT64_MAX, &c));
        assert_script(c, BLYI_SCRIPT_EXPIRE, 1, true, 6);
        assert_identity(c, 4, &b, s);
        assert_arg(c, 5, "9223372036854775807");
        bly_bitmap_command_free(c);

        assert_ok(bly_bitmap_drop(&b, name, s, &c));
        assert_script(c, BLYI_SCRIPT_DROP, 1, true, 5);
        assert_identity(c, 4, &b, s);
        bly_bitmap_command_free(c);

        assert_ok(blyi_bitmap_facts(&b, name, s, &c));
        assert_script(c, BLYI_SCRIPT_FACTS, 1, false, 5);
        assert_identity(c, 4, &b, s);
        bly_bitmap_command_free(c);
    }
    bly_bitmap_command *c;
    assert_ok(bly_bitmap_complete(&b, name, &c));
    assert_script(c, BLYI_SCRIPT_COMPLETE, 1, true, 5);
    assert_identity(c, 4, &b, 0);
    bly_bitmap_command_free(c);
    assert_ok(blyi_bitmap_drop_unfinished(&b, name, &c));
    assert_script(c, BLYI_SCRIPT_DROP, 1, true, 6);
    assert_identity(c, 4, &b, 0);
    assert_int_equal(c->args[5].size, 1);
    assert_memory_equal(c->args[5].data, "", 1);
    bly_bitmap_command_free(c);
    assert_ok(bly_bitmap_look(name, &c));
    assert_int_equal(c->count, 4);
    assert_arg(c, 0, "GETRANGE");
    assert_arg(c, 1, "crawl:seen");
    assert_arg(c, 2, "0");
    assert_arg(c, 3, "127");
    assert_int_equal(c->script.size, 0);
    assert_false(c->writes);
    bly_bitmap_command_free(c);
    bly_bitmap_command_free(NULL);
}

/* A filter of one shard is complete as soon as it is made. */
static void test_alone_is_complete(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.capacity = 100, .fpr = 0.01};
    const bly_bitmap b = blyt_bitmap_plan(&spec);
    bly_bitmap_command *c;
    assert_ok(bly_bitmap_create(&b, blyt_text("n"), 0, 0, &c));
    assert_int_equal(((const uint8_t *)c->args[4].data)[BLYI_BITMAP_STATE_AT], 1);
    assert_arg(c, 6, "0");
    bly_bitmap_command_free(c);
}

/* Only the last landing replaces in one step; before it, what is there is parked. */
static void test_landing(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes name = blyt_text("crawl:seen");
    bly_bitmap old = b;
    old.stamp = 7;
    old.shards = 2;
    for (uint32_t s = 0; s < b.shards; s++)
        for (unsigned replace = 0; replace < 3; replace++) {
            char key[64], arrival[64], parked[64];
            const blyi_landing how = {.count = 0x0102,
                                      .expire_at = 5,
                                      .replace = replace > 0,
                                      .old = replace > 1 ? &old : NULL};
            const bool parks = s > 0 && replace > 0;
            const size_t at = parks ? 6 : 5;
            bly_bitmap_command *c;
            (void)bly_bitmap_key(&b, name, s, key, sizeof key);
            (void)blyi_bitmap_arrival_key(&b, name, s, arrival, sizeof arrival);
            (void)blyi_bitmap_parking_key(&b, name, s, parked, sizeof parked);
            assert_ok(blyi_bitmap_land(&b, name, s, &how, &c));
            assert_script(c, BLYI_SCRIPT_LAND, parks ? 3 : 2, true, at + 5);
            assert_arg(c, 3, arrival);
            assert_arg(c, 4, key);
            if (parks)
                assert_arg(c, 5, parked);
            assert_identity(c, at, &b, s);
            assert_int_equal(c->args[at + 1].size, 9);
            assert_memory_equal(c->args[at + 1].data, "\2\1\0\0\0\0\0\0\1", 9);
            assert_arg(c, at + 2, "5");
            assert_arg(c, at + 3, replace ? "1" : "0");
            if (replace > 1 && s < old.shards)
                assert_identity(c, at + 4, &old, s);
            else
                assert_arg(c, at + 4, "");
            bly_bitmap_command_free(c);

            assert_ok(blyi_bitmap_return(&b, name, s, replace == 1, &c));
            assert_script(c, BLYI_SCRIPT_RETURN, 2, true, 7);
            assert_arg(c, 3, parked);
            assert_arg(c, 4, key);
            assert_identity(c, 5, &b, s);
            assert_arg(c, 6, replace == 1 ? "1" : "0");
            bly_bitmap_command_free(c);

            assert_ok(blyi_bitmap_forget(&b, name, s, &c));
            assert_int_equal(c->count, 2);
            assert_arg(c, 0, "UNLINK");
            assert_arg(c, 1, parked);
            assert_true(c->writes && c->script.size == 0);
            bly_bitmap_command_free(c);
        }
}

static void test_a_whole_filter_on_its_way(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes name = blyt_text("crawl:seen");
    const char data[] = "0123456789";
    bly_bitmap_command *c;
    for (uint32_t s = 0; s < b.shards; s++) {
        char key[64], arrival[64];
        (void)bly_bitmap_key(&b, name, s, key, sizeof key);
        (void)blyi_bitmap_arrival_key(&b, name, s, arrival, sizeof arrival);
        assert_ok(blyi_bitmap_arrive(&b, name, s, &c));
        assert_script(c, BLYI_SCRIPT_ARRIVE, 1, true, 7);
        assert_arg(c, 3, arrival);
        assert_arg(c, 5, s < 2 ? "10816" : "10752");
        assert_arg(c, 6, s == 0 ? "32384" : s == 1 ? "10816" : "10752");
        bly_bitmap_command_free(c);
        assert_ok(blyi_bitmap_piece(&b, name, s, 1000, blyt_text(data), &c));
        assert_script(c, BLYI_SCRIPT_PIECE, 1, true, 7);
        assert_arg(c, 3, arrival);
        assert_identity(c, 4, &b, s);
        assert_arg(c, 5, "1128");
        assert_arg(c, 6, data);
        assert_ptr_not_equal(c->args[6].data, data);
        bly_bitmap_command_free(c);
        assert_ok(blyi_bitmap_abandon(&b, name, s, &c));
        assert_script(c, BLYI_SCRIPT_DROP, 1, true, 5);
        assert_arg(c, 3, arrival);
        assert_identity(c, 4, &b, s);
        bly_bitmap_command_free(c);
        assert_ok(blyi_bitmap_read(&b, name, s, 32, 64, &c));
        assert_script(c, BLYI_SCRIPT_READ, 1, false, 7);
        assert_arg(c, 3, key);
        assert_identity(c, 4, &b, s);
        assert_arg(c, 5, "160");
        assert_arg(c, 6, "223");
        bly_bitmap_command_free(c);
    }
}

static void test_bytes_that_a_shard_does_not_have(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes name = blyt_text("n");
    const uint64_t all = bly_bitmap_shard_bytes(&b, 2) - BLY_BITMAP_HEAD;
    static const uint8_t data[20000];
    bly_bitmap_command *c;
    const struct {
        uint64_t at;
        size_t size;
        bool good;
    } rows[] = {
        {0, (size_t)all, true}, {0, (size_t)all + 1, false}, {all, 1, false},
        {all - 1, 1, true},     {UINT64_MAX, 2, false},      {1, SIZE_MAX, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bly_status wanted = rows[i].good ? BLY_OK : BLY_EINVAL;
        assert_int_equal(
            blyi_bitmap_piece(&b, name, 2, rows[i].at, (bly_bytes){data, rows[i].size}, &c),
            wanted);
        assert_int_equal(c != NULL, rows[i].good);
        bly_bitmap_command_free(c);
        assert_int_equal(blyi_bitmap_read(&b, name, 2, rows[i].at, rows[i].size, &c), wanted);
        assert_int_equal(c != NULL, rows[i].good);
        bly_bitmap_command_free(c);
    }
    assert_int_equal(blyi_bitmap_read(&b, name, 2, 0, 0, &c), BLY_EINVAL);
}

static void test_commands_that_cannot_be(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    static const char bytes[(1 << 16) + 64];
    const bly_bytes name = blyt_text("n"), huge = {bytes, (1 << 16) + 1}, most = {bytes, 1 << 16};
    const blyi_landing landing = {.replace = true};
    bly_bitmap zero;
    bly_bitmap_command *c;
    assert_ok(bly_bitmap_gozero(1000, &zero));
#define REFUSED(call, status)                                                                      \
    do {                                                                                           \
        c = (bly_bitmap_command *)(void *)&zero;                                                   \
        assert_int_equal(call, status);                                                            \
        assert_null(c);                                                                            \
    } while (0)
    REFUSED(bly_bitmap_create(&b, name, 3, 0, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_expire(&b, name, 3, 0, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_drop(&b, name, UINT32_MAX, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_facts(&b, name, 3, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_arrive(&b, name, 3, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_land(&b, name, 3, &landing, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_return(&b, name, 3, true, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_forget(&b, name, 3, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_abandon(&b, name, 3, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_create(&b, huge, 0, 0, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_complete(&b, huge, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_look(((bly_bytes){bytes, sizeof bytes}), &c), BLY_EINVAL);
    REFUSED(bly_bitmap_create(&zero, name, 0, 0, &c), BLY_EUNSUPPORTED);
    REFUSED(bly_bitmap_complete(&zero, name, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_arrive(&zero, name, 0, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_piece(&zero, name, 0, 0, name, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_land(&zero, name, 0, &landing, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_return(&zero, name, 0, true, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_forget(&zero, name, 0, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_drop_unfinished(&zero, name, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_read(&zero, name, 0, 0, 1, &c), BLY_EUNSUPPORTED);
#undef REFUSED
    for (uint32_t s = 0; s < b.shards; s++) {
        assert_ok(bly_bitmap_create(&b, most, s, 0, &c));
        const bly_bytes key = c->key;
        bly_bitmap_command *look;
        assert_ok(bly_bitmap_look(key, &look));
        bly_bitmap_command_free(look);
        bly_bitmap_command_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_billion_keys),
        cmocka_unit_test(test_three_shards_of_more_than_a_billion_bits),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_shards_without_blocks),
        cmocka_unit_test(test_refused_plans),
        cmocka_unit_test(test_reasons_of_cuts),
        cmocka_unit_test(test_layout_and_hash_follow_from_the_rate),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_shape_of_a_filter),
        cmocka_unit_test(test_filters_that_cannot),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_six_digits_reach_every_slot),
        cmocka_unit_test(test_shards_are_spread_evenly),
        cmocka_unit_test(test_nodes_get_equal_shares),
        cmocka_unit_test(test_most_shards),
        cmocka_unit_test(test_a_tag_of_the_name_keeps_shards_together),
        cmocka_unit_test(test_keys_again),
        cmocka_unit_test(test_room_for_a_key),
        cmocka_unit_test(test_keys_behind_a_count),
        cmocka_unit_test(test_golden_keys),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_life_of_a_shard),
        cmocka_unit_test(test_alone_is_complete),
        cmocka_unit_test(test_landing),
        cmocka_unit_test(test_a_whole_filter_on_its_way),
        cmocka_unit_test(test_bytes_that_a_shard_does_not_have),
        cmocka_unit_test(test_commands_that_cannot_be),
    };
    return cmocka_run_group_tests_name("bitmap", tests, NULL, NULL);
}
