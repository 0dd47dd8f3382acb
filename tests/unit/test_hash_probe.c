/* The loops that hash a batch of keys and test another one at the same time. For keys of all
 * lengths, the hash is xxh3, and the answers are those of the scalar kernels. */
#include "support.h"

#include "simd/kernels.h"

enum { BYTES = 64 * 64, FAR = 5 << 20, MAX = 300, WINDOW = 70, LENGTHS = 5 };

static const uint64_t seeds[] = {0, 1, UINT64_C(0x9E3779B97F4A7C15), UINT64_MAX};

static bly_hasher hasher_of(uint64_t seed) {
    bly_hasher h;
    assert_int_equal(bly_hasher_init(&h, BLY_HASH_XXH3, seed), BLY_OK);
    return h;
}

/* Keys of each length, at each of eight alignments. */
static void hash_is_xxh3(void **state) {
    uint8_t bytes[MAX + 8];
    uint64_t random = 7;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)blyt_next(&random);
    for (size_t s = 0; s < COUNT_OF(seeds); s++) {
        bly_hasher hasher = hasher_of(seeds[s]);
        blyi_xxh3_secret pad;
        blyi_xxh3_secret_init(&pad, seeds[s]);
        for (size_t len = 0; len <= MAX; len++)
            for (size_t at = 0; at < 8; at++) {
                uint64_t want = bly_hash_key(&hasher, bytes + at, len).lo;
                assert_true(blyi_xxh3(&pad, bytes + at, len) == want);
            }
    }
}

static void short_is_9_to_16(void **state) {
    (void)state;
    for (size_t a = 0; a < 40; a++) {
        bool is_short = a >= 9 && a <= 16;
        assert_int_equal(blyi_xxh3_is_short(a), is_short);
        assert_int_equal(blyi_xxh3_is_brief(a), a >= 4 && a <= 8);
        for (size_t b = 0; b < 40; b++)
            assert_int_equal(blyi_xxh3_are_short(a, b), is_short && b >= 9 && b <= 16);
    }
}

typedef struct layout {
    unsigned shift, k;
    blyi_contains_blocks_fn contains_blocks;
    blyi_add_blocks_fn add_blocks;
    blyi_hash_probe_fn contains_keys, add_keys;
    blyi_contains_key_fn *contains_key;
    blyi_add_key_fn *add_key;
} layout;

/* The loops of a kernel table, and the scalar kernels to compare them with. */
static void layouts_of(const blyi_kernels *t, layout out[4]) {
    const blyi_kernels *s = &blyi_kernels_scalar;
    out[0] = (layout){5,
                      8,
                      s->sbbf_contains_blocks,
                      s->sbbf_add_blocks,
                      t->sbbf_contains_keys,
                      t->sbbf_add_keys,
                      t->sbbf_contains_key,
                      t->sbbf_add_key};
    for (unsigned i = 0; i < 3; i++)
        out[i + 1] = (layout){6,
                              8 + 4 * i,
                              s->split_contains_blocks,
                              s->split_add_blocks,
                              t->split_contains_keys[i],
                              t->split_add_keys[i],
                              t->split_contains_key[i],
                              t->split_add_key[i]};
}

static size_t length_of(size_t set, uint64_t random) {
    switch (set) {
    case 0:
        return 9 + random % 8;
    case 1:
        return 17 + random % 112;
    case 2:
        return random % 9;
    case 3:
        return random % MAX;
    default: /* mostly short keys */
        return random % 16 ? 16 : 60;
    }
}

typedef struct scene {
    uint8_t blocks[2][BYTES] __attribute__((aligned(64)));
    uint8_t bytes[WINDOW][MAX];
    bly_bytes keys[WINDOW];
    blyi_block_probe now[WINDOW], next[WINDOW]; /* probes of the window; of the keys after it */
} scene;

static void set_scene(scene *sc, const layout *l, size_t set, uint64_t random,
                      const bly_hasher *hasher) {
    uint64_t blocks = BYTES >> l->shift;
    for (size_t i = 0; i < BYTES; i++)
        sc->blocks[0][i] = sc->blocks[1][i] = (uint8_t)(blyt_next(&random) | blyt_next(&random));
    for (size_t i = 0; i < WINDOW; i++) {
        size_t len = length_of(set, blyt_next(&random));
        for (size_t j = 0; j < len; j++)
            sc->bytes[i][j] = (uint8_t)blyt_next(&random);
        sc->keys[i] = (bly_bytes){len ? sc->bytes[i] : NULL, len};
        sc->next[i] =
            blyi_block_probe_of(bly_hash_key(hasher, sc->bytes[i], len), blocks, l->shift);
        uint64_t block = blyt_next(&random) % blocks;
        sc->now[i] = (blyi_block_probe){block << l->shift, blyt_next(&random)};
    }
    /* Adds one probe, so that not all are absent. */
    l->add_blocks(sc->blocks[0], sc->now + 3, 1, l->k, NULL);
    l->add_blocks(sc->blocks[1], sc->now + 3, 1, l->k, NULL);
}

/* Tests or adds n probes of the window, and computes the probes of the next n keys. */
static void compare(scene *sc, const layout *l, const blyi_xxh3_secret *pad, size_t n, bool adds) {
    blyi_kernel_view in = {sc->blocks[1], BYTES, *pad};
    uint8_t want[WINDOW] = {0}, got[WINDOW] = {0};
    blyi_block_probe s[WINDOW];
    memcpy(s, sc->now, sizeof s);
    if (adds)
        l->add_blocks(sc->blocks[0], sc->now, n, l->k, want);
    else
        l->contains_blocks(sc->blocks[0], sc->now, n, l->k, want);
    /* The third argument has the keys further ahead, which are only prefetched. Here these are keys
     * of other lengths, or none. */
    const bly_bytes none[WINDOW] = {{NULL, 0}};
    (adds ? l->add_keys : l->contains_keys)(&in, sc->keys, n % 2 ? none : sc->keys + WINDOW - n, n,
                                            s, got);
    assert_memory_equal(got, want, WINDOW);
    assert_memory_equal(sc->blocks[0], sc->blocks[1], BYTES);
    assert_memory_equal(s, sc->next, n * sizeof *s);
    assert_memory_equal(s + n, sc->now + n, (WINDOW - n) * sizeof *s);
}

static void every_kernel_answers_as_scalar_blocks_do(void **state) {
    static scene sc;
    (void)state;
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++) {
        layout l[4];
        layouts_of(*t, l);
        print_message("           %s\n", (*t)->name);
        for (size_t i = 0; i < 4 * LENGTHS * COUNT_OF(seeds); i++) {
            uint64_t seed = seeds[i % COUNT_OF(seeds)];
            size_t set = i / COUNT_OF(seeds) % LENGTHS, which = i / COUNT_OF(seeds) / LENGTHS;
            bly_hasher hasher = hasher_of(seed);
            blyi_xxh3_secret pad;
            blyi_xxh3_secret_init(&pad, seed);
            for (size_t n = 0; n <= WINDOW; n += n < 6 ? 1 : 16) {
                set_scene(&sc, &l[which], set, i + n, &hasher);
                compare(&sc, &l[which], &pad, n, false);
                compare(&sc, &l[which], &pad, n, true);
            }
        }
    }
}

/* An array that is too large for the caches uses another loop. Keys are hashed to the right probes,
 * added, and found. */
static void compare_far(const layout *l, size_t set, uint8_t *blocks[2], scene *sc) {
    const bly_hasher hasher = hasher_of(5);
    blyi_kernel_view in = {.blocks = blocks[1], .bytes = FAR};
    uint8_t want[WINDOW], got[WINDOW];
    blyi_block_probe located[WINDOW], s[WINDOW];
    blyi_xxh3_secret_init(&in.secret, 5);
    set_scene(sc, l, set, set, &hasher);
    for (size_t i = 0; i < WINDOW; i++) {
        bly_hash h = bly_hash_key(&hasher, sc->keys[i].data, sc->keys[i].size);
        located[i] = blyi_block_probe_of(h, FAR >> l->shift, l->shift);
        s[i] = (blyi_block_probe){0, 0};
    }
    l->contains_keys(&in, sc->keys, sc->keys, WINDOW, s, got);
    assert_memory_equal(s, located, sizeof s);
    l->add_blocks(blocks[0], located, WINDOW, l->k, want);
    l->add_keys(&in, sc->keys, sc->keys, WINDOW, s, got);
    assert_memory_equal(got, want, WINDOW);
    assert_memory_equal(s, located, sizeof s);
    for (size_t i = 0; i < WINDOW; i++)
        assert_memory_equal(blocks[0] + s[i].at, blocks[1] + s[i].at, (size_t)1 << l->shift);
    l->contains_keys(&in, sc->keys, sc->keys, WINDOW, s, got);
    memset(want, 1, WINDOW);
    assert_memory_equal(got, want, WINDOW);
}

static void a_large_array_gives_the_same_answers(void **state) {
    static scene sc;
    (void)state;
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++) {
        layout l[4];
        layouts_of(*t, l);
        for (size_t i = 0; i < 4 * LENGTHS; i++) {
            uint8_t *blocks[2] = {aligned_alloc(64, FAR), aligned_alloc(64, FAR)};
            assert_true(blocks[0] && blocks[1]);
            memset(blocks[0], 0, FAR);
            memset(blocks[1], 0, FAR);
            compare_far(&l[i / LENGTHS], i % LENGTHS, blocks, &sc);
            free(blocks[0]);
            free(blocks[1]);
        }
    }
}

/* Looks up a key of each length before and after it is added. The key is at the end of an array,
 * which gives every alignment, and in a separate block, so that the sanitizer reports reads outside
 * of it. */
static void compare_asks(scene *sc, const layout *l, uint64_t seed) {
    const bly_hasher hasher = hasher_of(seed);
    blyi_kernel_view in = {.blocks = sc->blocks[0], .bytes = BYTES};
    uint8_t bytes[MAX];
    size_t absent = 0;
    uint64_t random = seed + l->k;
    blyi_xxh3_secret_init(&in.secret, seed);
    memset(sc->blocks[0], 0, BYTES);
    memset(sc->blocks[1], 0, BYTES);
    for (size_t len = 0; len <= MAX; len++) {
        uint8_t *key = bytes + MAX - len, *alone = malloc(len ? len : 1);
        assert_non_null(alone);
        for (size_t i = 0; i < len; i++)
            alone[i] = key[i] = (uint8_t)blyt_next(&random);
        blyi_block_probe s =
            blyi_block_probe_of(bly_hash_key(&hasher, key, len), BYTES >> l->shift, l->shift);
        bool there = l->contains_blocks(in.blocks, &s, 1, l->k, NULL) != 0;
        assert_int_equal(l->contains_key(&in, key, len), there);
        assert_int_equal(l->contains_key(&in, alone, len), there);
        absent += !there;
        assert_int_equal(l->add_key(&in, key, len), !there);
        assert_true(l->contains_key(&in, key, len));
        assert_false(l->add_key(&in, alone, len));
        free(alone);
        l->add_blocks(sc->blocks[1], &s, 1, l->k, NULL);
        assert_memory_equal(sc->blocks[0], sc->blocks[1], BYTES);
    }
    assert_true(absent > MAX / 2);
}

static void asks_are_tests(void **state) {
    static scene sc;
    (void)state;
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++) {
        layout l[4];
        layouts_of(*t, l);
        for (size_t i = 0; i < 4; i++)
            for (size_t s = 0; s < COUNT_OF(seeds); s++)
                compare_asks(&sc, &l[i], seeds[s]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_xxh3),
        cmocka_unit_test(short_is_9_to_16),
        cmocka_unit_test(every_kernel_answers_as_scalar_blocks_do),
        cmocka_unit_test(a_large_array_gives_the_same_answers),
        cmocka_unit_test(asks_are_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
