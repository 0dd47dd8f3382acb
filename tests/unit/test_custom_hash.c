/* test_custom_hash.c - custom hash functions: the two forms of a hasher, and the mixing of results
 * that docs/format.md specifies. */
#include "support.h"

#include "hash/hash_custom.h"
#include "hash/mix.h"

static bly_hash count_calls(void *user, const void *key, size_t len) {
    const uint8_t *p = key;
    return (bly_hash){.lo = ++*(uint64_t *)user, .hi = len == 0 ? 0 : p[len - 1]};
}

static void assert_hash(bly_hash got, bly_hash want) {
    assert_true(got.lo == want.lo && got.hi == want.hi);
}

typedef bly_status init_fn(bly_hasher *out, bly_hash_fn fn, void *user, unsigned bits,
                           uint64_t tag);

static void check_init(init_fn *init, bly_hash_id id) {
    bly_hasher before, h;
    uint64_t calls = 0;
    memset(&before, 0x5a, sizeof before);
    memcpy(&h, &before, sizeof h);
    assert_int_equal(init(&h, NULL, &calls, 64, 1), BLY_EINVAL);
    assert_int_equal(init(&h, count_calls, &calls, 31, 1), BLY_EINVAL);
    assert_int_equal(init(&h, count_calls, &calls, 129, 1), BLY_EINVAL);
    assert_memory_equal(&h, &before, sizeof h);
    assert_ok(init(&h, count_calls, &calls, 32, 1));
    assert_int_equal(h.bits, 32);
    assert_ok(init(&h, count_calls, &calls, 128, 1));
    assert_ok(init(&h, count_calls, &calls, 100, 0xfeed));
    assert_true(h.id == id && h.bits == 100 && h.seed == 0xfeed);
    assert_true(calls == 0);
}

/* A key has the same words alone and in a batch, and the function is called once per key. */
static void both_forms_of_a_hasher(void **state) {
    (void)state;
    check_init(bly_hasher_custom, BLY_HASH_CUSTOM);
    check_init(bly_hasher_custom_raw, BLY_HASH_CUSTOM_RAW);
    for (int raw = 0; raw < 2; raw++) {
        const bly_bytes keys[] = {{"a", 1}, {NULL, 0}, {"bc", 2}};
        const bly_hash words[] = {{2, 'a'}, {3, 0}, {4, 'c'}};
        bly_hash out[3], first = {1, 'y'};
        uint64_t calls = 0;
        uint8_t digest[20];
        bly_hasher h;
        assert_ok(
            (raw ? bly_hasher_custom_raw : bly_hasher_custom)(&h, count_calls, &calls, 64, 7));
        assert_hash(bly_hash_key(&h, "xy", 2), raw ? first : blyi_hash_mix128(first));
        bly_hash_keys(&h, keys, 3, out);
        for (int i = 0; i < 3; i++)
            assert_hash(out[i], raw ? words[i] : blyi_hash_mix128(words[i]));
        assert_int_equal(bly_hash_digest(&h, "a", 1, digest), 0);
        assert_true(calls == 4);
    }
}

static void names_of_custom_hashes(void **state) {
    (void)state;
    const struct {
        bly_hash_id id;
        const char *name;
    } both[] = {{BLY_HASH_CUSTOM, "custom"}, {BLY_HASH_CUSTOM_RAW, "custom-raw"}};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        bly_hash_id found = BLY_HASH_MD5;
        assert_string_equal(bly_hash_name(both[i].id), both[i].name);
        assert_int_equal(bly_hash_bits(both[i].id), 0);
        assert_false(bly_hash_available(both[i].id));
        assert_true(bly_hash_is_custom(both[i].id));
        /* A hasher cannot be made from the name alone. */
        assert_int_equal(bly_hash_by_name(both[i].name, &found), BLY_EHASHER);
        assert_int_equal(found, BLY_HASH_MD5);
    }
    for (int id = 0; id < BLY_HASH_CUSTOM; id++)
        assert_false(bly_hash_is_custom((bly_hash_id)id));
}

/* Compares member by member, because padding bytes are undefined. */
static void assert_hasher(const bly_hasher *a, const bly_hasher *b) {
    assert_true(a->one == b->one && a->many == b->many && a->custom == b->custom);
    assert_ptr_equal(a->user, b->user);
    assert_int_equal(a->seed, b->seed);
    assert_memory_equal(a->key, b->key, sizeof a->key);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->bits, b->bits);
}

/* A custom hasher matches filters of its own form and of the other form if the tag is the same, and
 * no other filters. */
static void forms_match_by_tag(void **state) {
    (void)state;
    uint64_t calls = 0;
    bly_hasher mixed, raw, plain, out;
    assert_ok(bly_hasher_custom(&mixed, count_calls, &calls, 40, 7));
    assert_ok(bly_hasher_custom_raw(&raw, count_calls, &calls, 40, 7));
    assert_ok(bly_hasher_init(&plain, BLY_HASH_XXH3, 7));
    const bly_hasher *both[] = {&mixed, &raw};
    for (int i = 0; i < 4; i++) {
        const bly_hasher *given = both[i % 2], *want = both[i / 2];
        assert_true(blyi_hasher_match(given, want->id, 7, &out));
        assert_hasher(&out, want);
        assert_false(blyi_hasher_match(given, want->id, 8, &out));
        assert_false(blyi_hasher_match(given, BLY_HASH_XXH3, 7, &out));
        assert_false(blyi_hasher_match(&plain, want->id, 7, &out));
        out = *given;
        assert_true(blyi_hasher_match(&out, want->id, 7, &out));
        assert_hasher(&out, want);
    }
    assert_false(blyi_hasher_match(NULL, BLY_HASH_CUSTOM, 7, &out));
    /* A filter that was opened without its hasher has one like this. It matches nothing. */
    const bly_hasher empty = {.id = BLY_HASH_CUSTOM, .seed = 7, .bits = 128};
    assert_false(blyi_hasher_match(&empty, BLY_HASH_CUSTOM, 7, &out));
    assert_false(blyi_hasher_match(&empty, BLY_HASH_CUSTOM_RAW, 7, &out));
    /* A hasher that was not made by bly_hasher_custom cannot be converted to the other form. */
    bly_hasher foreign = mixed;
    foreign.custom = NULL;
    assert_true(blyi_hasher_match(&foreign, BLY_HASH_CUSTOM, 7, &out));
    assert_false(blyi_hasher_match(&foreign, BLY_HASH_CUSTOM_RAW, 7, &out));
}

/* The test vectors of docs/format.md, section 8. The last input is FNV-1a and FNV-1 of
 * "bloomery". */
static void mixing_vectors(void **state) {
    (void)state;
    static const bly_hash vectors[][2] = {
        {{0, 0}, {UINT64_C(0x31bf662fbf5bf096), UINT64_C(0x6925492756276b88)}},
        {{1, 0}, {UINT64_C(0x5c22c219c89894ff), UINT64_C(0x984a9fe1a711a211)}},
        {{0, 1}, {UINT64_C(0x06f0a081a92aa92e), UINT64_C(0x2b36824fc6b05ec4)}},
        {{UINT64_C(0x06f30118df692b16), UINT64_C(0xe356a1ec799089e8)},
         {UINT64_C(0x671f0c6061e2da2e), UINT64_C(0xd78363bea515e5cd)}},
    };
    for (size_t i = 0; i < COUNT_OF(vectors); i++)
        assert_hash(blyi_hash_mix128(vectors[i][0]), vectors[i][1]);
}

/* The inverse of the mixing: the same rounds in reverse order. */
static bly_hash unmix(bly_hash h) {
    h.hi ^= blyi_fmix64(h.lo + 3 * BLYI_GOLD);
    h.lo ^= blyi_fmix64(h.hi + 2 * BLYI_GOLD);
    h.hi ^= blyi_fmix64(h.lo + BLYI_GOLD);
    return h;
}

static void mixing_loses_nothing(void **state) {
    (void)state;
    uint64_t random = 1;
    for (uint64_t i = 0; i < 10000; i++) {
        const bly_hash words[] = {
            {i, 0}, {0, i}, {i, i}, {i << 32, ~i}, {blyt_next(&random), blyt_next(&random)}};
        for (size_t j = 0; j < COUNT_OF(words); j++)
            assert_hash(unmix(blyi_hash_mix128(words[j])), words[j]);
    }
}

/* ---- avalanche ------------------------------------------------------------------------------- */

enum { SAMPLES = 4096 };

/* Returns words such as weak functions give. */
static bly_hash weak_words(int set, uint64_t i, uint64_t *random) {
    switch (set) {
    case 0:
        return (bly_hash){blyt_next(random), blyt_next(random)};
    case 1:
        return (bly_hash){i, 0};
    case 2:
        return (bly_hash){0, i << 52};
    default:
        return (bly_hash){i, i};
    }
}

/* Counts how often flipping bit `bit` of the input flips each bit of the output. */
static void count_flips(int set, int bit, unsigned flips[128]) {
    uint64_t random = 99;
    bly_hash flip = {bit < 64 ? UINT64_C(1) << bit : 0, bit < 64 ? 0 : UINT64_C(1) << (bit - 64)};
    memset(flips, 0, 128 * sizeof *flips);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        bly_hash h = weak_words(set, i, &random);
        bly_hash a = blyi_hash_mix128(h);
        bly_hash b = blyi_hash_mix128((bly_hash){h.lo ^ flip.lo, h.hi ^ flip.hi});
        for (int at = 0; at < 64; at++) {
            flips[at] += (unsigned)((a.lo ^ b.lo) >> at & 1);
            flips[64 + at] += (unsigned)((a.hi ^ b.hi) >> at & 1);
        }
    }
}

/* Each bit of the input flips each bit of the output half of the time. Of 4096 samples, 2048 are
 * expected with a standard deviation of 32. Six sigma are accepted, because there are 4 * 128 * 128
 * such counts. */
static void mixing_avalanches(void **state) {
    (void)state;
    unsigned flips[128];
    for (int set = 0; set < 4; set++)
        for (int bit = 0; bit < 128; bit++) {
            count_flips(set, bit, flips);
            for (int at = 0; at < 128; at++)
                assert_in_range(flips[at], SAMPLES / 2 - 6 * 32, SAMPLES / 2 + 6 * 32);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_of_a_hasher), cmocka_unit_test(names_of_custom_hashes),
        cmocka_unit_test(forms_match_by_tag),     cmocka_unit_test(mixing_vectors),
        cmocka_unit_test(mixing_loses_nothing),   cmocka_unit_test(mixing_avalanches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
