/* The kernels of every instruction set give exactly the results of the scalar kernels. Fixed
 * vectors test the scalar kernels, too, so that a wrong order of lanes fails on the first machine
 * that has it. */
#include "support.h"

#include "simd/kernels.h"
#include "simd/masks.h"
#include <limits.h>

enum { BLOCKS = 64, PROBES = 1000 };

typedef struct arena {
    uint64_t *words; /* BLOCKS blocks of 64 bytes, aligned */
    void *raw;
} arena;

static arena arena_of(uint64_t seed, int density) {
    arena a = {NULL, malloc(BLOCKS * 64 + 64)};
    assert_non_null(a.raw);
    a.words = (uint64_t *)(((uintptr_t)a.raw + 63) & ~(uintptr_t)63);
    for (size_t i = 0; i < BLOCKS * 8; i++) {
        a.words[i] = density > 0 ? UINT64_MAX : 0;
        for (int d = 0; d < density; d++)
            a.words[i] &= blyt_next(&seed) | blyt_next(&seed) | blyt_next(&seed);
    }
    return a;
}

static void random_probes(uint64_t seed, size_t block_bytes, blyi_block_probe *s) {
    for (size_t i = 0; i < PROBES; i++) {
        uint64_t block = blyt_next(&seed) % (BLOCKS * 64 / block_bytes);
        s[i] = (blyi_block_probe){block * block_bytes, blyt_next(&seed)};
    }
    s[0].bits = 0;
    s[1].bits = UINT64_MAX;
    s[2].bits = (uint64_t)1 << 63;
}

static void compare_probe(const arena *a, const blyi_block_probe *s, unsigned k,
                          blyi_contains_blocks_fn want_fn, blyi_contains_blocks_fn got_fn) {
    uint8_t want[PROBES], got[PROBES];
    for (size_t n = 0; n <= PROBES; n = n < 40 ? n + 1 : n + 320) {
        size_t hits = want_fn(a->words, s, n, k, want);
        assert_int_equal(got_fn(a->words, s, n, k, got), hits);
        assert_int_equal(got_fn(a->words, s, n, k, NULL), hits);
        assert_memory_equal(want, got, n);
    }
}

static void compare_has(const arena *a, const blyi_block_probe *s, unsigned k,
                        blyi_contains_block_fn want, blyi_contains_block_fn got) {
    for (size_t i = 0; i < PROBES; i++) {
        const uint8_t *block = (const uint8_t *)a->words + s[i].at;
        assert_int_equal(want(block, s[i].bits, k), got(block, s[i].bits, k));
    }
}

static void compare_set(uint64_t seed, const blyi_block_probe *s, unsigned k,
                        blyi_add_blocks_fn want_fn, blyi_add_blocks_fn got_fn) {
    arena a = arena_of(seed, 0), b = arena_of(seed, 0);
    uint8_t want[PROBES], got[PROBES];
    assert_int_equal(want_fn(a.words, s, PROBES, k, want), got_fn(b.words, s, PROBES, k, got));
    assert_memory_equal(want, got, PROBES);
    assert_memory_equal(a.words, b.words, BLOCKS * 64);
    assert_int_equal(got_fn(b.words, s, PROBES, k, NULL), 0); /* all keys are present now */
    assert_memory_equal(a.words, b.words, BLOCKS * 64);
    free(a.raw);
    free(b.raw);
}

/* Adding one key at a time gives the same bits and answers as a batch. */
static void compare_put(uint64_t seed, const blyi_block_probe *s, unsigned k,
                        blyi_add_blocks_fn set, blyi_add_block_fn put) {
    arena a = arena_of(seed, 0), b = arena_of(seed, 0);
    uint8_t want[PROBES];
    assert_true(set(a.words, s, PROBES, k, want) > 0);
    for (size_t i = 0; i < PROBES; i++)
        assert_int_equal(put((uint8_t *)b.words + s[i].at, s[i].bits, k), want[i]);
    assert_memory_equal(a.words, b.words, BLOCKS * 64);
    free(a.raw);
    free(b.raw);
}

/* Compares the counters of layered filters. Blocks of 32 bytes (the front) are followed by blocks
 * of counters of 96 bytes. Few keys get many copies, so that counts reach both limits. */
static void compare_cells(uint64_t seed, const blyi_kernels *want, const blyi_kernels *got) {
    enum { CELL_BLOCKS = 5, KEYS = 60 };
    arena a = arena_of(seed, 0), b = arena_of(seed, 0);
    uint64_t stuck = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t r = blyt_next(&seed), key = (r >> 8) % KEYS, bits = key * UINT64_C(0x123456789ab);
        size_t front = key % CELL_BLOCKS * 4, planes = 64 + key % CELL_BLOCKS * 12;
        bool adds = r % 64 < (i / 1000 % 2 ? 20 : 40);
        blyi_counters_fn first = adds ? want->counters_add : want->counters_remove;
        blyi_counters_fn second = adds ? got->counters_add : got->counters_remove;
        assert_int_equal(first(a.words + front, a.words + planes, bits),
                         second(b.words + front, b.words + planes, bits));
        assert_memory_equal(a.words, b.words, 1024);
        stuck |= a.words[planes] & a.words[planes + 4] & a.words[planes + 8];
    }
    assert_true(stuck != 0);
    free(a.raw);
    free(b.raw);
}

static void tables_agree(void **state) {
    static const unsigned ks[] = {8, 12, 16};
    const blyi_kernels *scalar = &blyi_kernels_scalar;
    (void)state;
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++) {
        print_message("           %s\n", (*t)->name);
        for (uint64_t seed = 1; seed <= 8; seed++) {
            arena a = arena_of(seed, (int)seed % 4);
            blyi_block_probe s[PROBES];
            random_probes(seed, 32, s);
            compare_probe(&a, s, 8, scalar->sbbf_contains_blocks, (*t)->sbbf_contains_blocks);
            compare_has(&a, s, 8, scalar->sbbf_contains_block, (*t)->sbbf_contains_block);
            compare_set(seed, s, 8, scalar->sbbf_add_blocks, (*t)->sbbf_add_blocks);
            compare_put(seed, s, 8, scalar->sbbf_add_blocks, (*t)->sbbf_add_block);
            compare_cells(seed, scalar, *t);
            random_probes(seed, 64, s);
            for (size_t i = 0; i < COUNT_OF(ks); i++) {
                compare_probe(&a, s, ks[i], scalar->split_contains_blocks,
                              (*t)->split_contains_blocks);
                compare_has(&a, s, ks[i], scalar->split_contains_block, (*t)->split_contains_block);
                compare_set(seed, s, ks[i], scalar->split_add_blocks, (*t)->split_add_blocks);
                compare_put(seed, s, ks[i], scalar->split_add_blocks, (*t)->split_add_block);
            }
            arena b = arena_of(seed + 100, 1);
            for (size_t n = 0; n <= BLOCKS * 8; n += 8) {
                assert_int_equal((*t)->popcount(a.words, n), scalar->popcount(a.words, n));
                assert_int_equal((*t)->popcount_or(a.words, b.words, n),
                                 scalar->popcount_or(a.words, b.words, n));
            }
            free(a.raw);
            free(b.raw);
        }
    }
}

/* Asserts that adding a key to an empty block gives these bytes (in hexadecimal digits). */
static void expect_bytes(blyi_add_blocks_fn set, uint64_t bits, unsigned k, size_t bytes,
                         const char *hex) {
    arena a = arena_of(1, 0);
    char text[129];
    blyi_block_probe s = {0, bits};
    assert_int_equal(set(a.words, &s, 1, k, NULL), 1);
    for (size_t i = 0; i < bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)a.words)[i]);
    assert_string_equal(text, hex);
    free(a.raw);
}

/* These vectors were computed from docs/format.md by a program in another language. If the hash
 * bits are 0, every index is 0. If they are 1, each index is the top five bits of its salt. For k =
 * 12, the top bit determines which words get a second bit. */
static void fixed_vectors(void **state) {
    (void)state;
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++) {
        expect_bytes((*t)->sbbf_add_blocks, 0, 8, 32,
                     "0100000001000000010000000100000001000000010000000100000001000000");
        expect_bytes((*t)->sbbf_add_blocks, 1, 8, 32,
                     "0001000000010000000002000000100000400000200000000000080000080000");
        expect_bytes((*t)->split_add_blocks, UINT64_C(0x0), 8, 64,
                     "0100000000000000010000000000000001000000000000000100000000000000"
                     "0100000000000000010000000000000001000000000000000100000000000000");
        expect_bytes((*t)->split_add_blocks, UINT64_C(0x8123456789abcdef), 8, 64,
                     "0000000000800000000000000000800000000000000000100000000000040000"
                     "0002000000000000000000400000000000004000000000000000020000000000");
        expect_bytes((*t)->split_add_blocks, UINT64_C(0x8123456789abcdef), 12, 64,
                     "0000000000800000000000000000800000000000000000100000000000040000"
                     "0002000001000000000000400100000010004000000000000000420000000000");
        expect_bytes((*t)->split_add_blocks, UINT64_C(0x4091a2b3c4d5e6f7), 12, 64,
                     "0000000008008000000020080000000000000048000000000000000000002200"
                     "1000000000000000008000000000000000000000000800000000000000010000");
        expect_bytes((*t)->split_add_blocks, UINT64_C(0x8123456789abcdef), 16, 64,
                     "0000000001800000000000000100800010000000000000100000400000040000"
                     "0042000000000000000000400010000000004000000000100000022000000000");
    }
}

/* A key's counters are those at its bits in an sbbf block. The three bit planes of the counters
 * hold count - 1. A counter at 8 is stuck: neither adds nor removes change it. */
static void cells_count_to_eight(void **state) {
    static const char own[] = "0001000000010000000002000000100000400000200000000000080000080000";
    uint8_t mask[32];
    (void)state;
    for (size_t i = 0; i < 32; i++) {
        unsigned byte;
        assert_int_equal(sscanf(own + 2 * i, "%2x", &byte), 1);
        mask[i] = (uint8_t)byte;
    }
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++)
        for (unsigned most = 0; most <= 20; most++) {
            arena a = arena_of(1, 0);
            unsigned copies = 0, limit = most < 8 ? most : 8;
            for (; copies < most; copies++)
                assert_int_equal((*t)->counters_add(a.words, a.words + 4, 1), copies == 0);
            for (; copies != UINT_MAX; copies--) {
                unsigned count = limit == 8 ? 8 : copies;
                for (size_t i = 0; i < 128; i++) {
                    bool set = i < 32 ? count > 0 : count > 0 && (count - 1) >> (i / 32 - 1) & 1;
                    assert_int_equal(((uint8_t *)a.words)[i], set ? mask[i % 32] : 0);
                }
                assert_int_equal((*t)->counters_remove(a.words, a.words + 4, 1), count > 0);
            }
            free(a.raw);
        }
}

static void popcount_is_right(void **state) {
    (void)state;
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++) {
        arena a = arena_of(5, 0);
        a.words[0] = 1;
        a.words[9] = UINT64_MAX;
        a.words[BLOCKS * 8 - 1] = (uint64_t)1 << 63;
        assert_int_equal((*t)->popcount(a.words, BLOCKS * 8), 66);
        assert_int_equal((*t)->popcount_or(a.words, a.words + 8, BLOCKS * 8 - 8), 130);
        free(a.raw);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_agree),
        cmocka_unit_test(fixed_vectors),
        cmocka_unit_test(cells_count_to_eight),
        cmocka_unit_test(popcount_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
