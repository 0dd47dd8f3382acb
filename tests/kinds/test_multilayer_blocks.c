/* A block of a multilayer filter: its arithmetic against plain counters, its layout, and damage. */
#include "multilayer_support.h"

/* Draws n distinct cells, half of the time from a few, so that counts become large. */
static unsigned draw_cells(uint64_t *state, uint16_t cells[8]) {
    unsigned want = 1 + (unsigned)(blyt_next(state) % 8), n = 0;
    bool few = blyt_next(state) & 1;
    for (unsigned i = 0; i < want; i++) {
        uint16_t cell = (uint16_t)(blyt_next(state) % BLYI_ML_CELLS);
        cell = few ? (uint16_t)(cell % 11 * 29) : cell;
        bool is_new = true;
        for (unsigned j = 0; j < n; j++)
            is_new &= cells[j] != cell;
        cells[n] = cell;
        n += is_new;
    }
    return n;
}

static unsigned least_of(const uint16_t *counts, const uint16_t *cells, unsigned n) {
    unsigned least = UINT16_MAX;
    for (unsigned i = 0; i < n; i++)
        least = counts[cells[i]] < least ? counts[cells[i]] : least;
    return least;
}

static void assert_block_is(const uint64_t *block, const uint16_t *counts, unsigned sum) {
    uint16_t decoded[BLYI_ML_CELLS];
    uint64_t encoded[8];
    blyi_ml_decode(block, decoded);
    assert_memory_equal(decoded, counts, sizeof decoded);
    blyi_ml_encode(counts, encoded);
    assert_memory_equal(encoded, block, sizeof encoded);
    assert_int_equal(blyi_ml_used(block), sum);
    assert_true(blyi_ml_block_sound(block));
}

/* Two million random steps: what the block says is what 320 counters say. */
static void blocks_count_as_counters_do(void **state) {
    uint64_t block[8] = {0}, rng = 1;
    uint16_t counts[BLYI_ML_CELLS] = {0}, cells[8];
    unsigned sum = 0, full = 0;
    (void)state;
    for (unsigned step = 0; step < 2000000 / BLYT_SLOW; step++) {
        unsigned n = draw_cells(&rng, cells), least = least_of(counts, cells, n);
        bool rising = blyt_next(&rng) % 16 < (step >> 10 & 1 ? 4 : 12);
        if (least > 0)
            assert_int_equal(blyi_ml_least(block, cells, n), least);
        full += rising && sum + n > BLYI_ML_LAYERS;
        if (rising && sum + n <= BLYI_ML_LAYERS) {
            blyi_ml_raise(block, cells, n);
            for (unsigned i = 0; i < n; i++)
                counts[cells[i]]++;
            sum += n;
        } else if (!rising && least > 0) {
            blyi_ml_lower(block, cells, n);
            for (unsigned i = 0; i < n; i++)
                counts[cells[i]]--;
            sum -= n;
        } else if (!rising && counts[cells[0]] > 0) {
            blyi_ml_lower(block, cells, 1);
            counts[cells[0]]--;
            sum--;
        }
        if (step % 16 == 0)
            assert_block_is(block, counts, sum);
    }
    assert_true(full > 1000 / BLYT_SLOW);
    for (uint16_t cell = 0; cell < BLYI_ML_CELLS; cell++)
        for (; counts[cell] > 0; counts[cell]--)
            blyi_ml_lower(block, &cell, 1);
    for (unsigned j = 0; j < 8; j++)
        assert_true(block[j] == 0);
}

/* The block of the picture in multilayer_block.c, by its bits. */
static void a_block_is_laid_out_as_described(void **state) {
    uint64_t block[8] = {0};
    const uint16_t added[] = {1, 3, 3, 3, 4, 7, 7};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(added); i++)
        blyi_ml_raise(block, added + i, 1);
    assert_true(blyi_le64(block[0]) == 0x9a); /* cells 1, 3, 4 and 7 */
    /* 0101, then 10, then 0, from bit 0 on. */
    assert_true(blyi_le64(block[5]) == (1U << 1 | 1U << 3 | 1U << 4));
    assert_true(block[6] == 0 && blyi_le64(block[7]) == (uint64_t)7 << 56);
}

/* Every way in which a block can be wrong: with one bit of a sound one turned over, it is sound
 * only if it reads as other counts of the same sum. */
static void damaged_blocks_are_told(void **state) {
    uint64_t rng = 5;
    unsigned refused = 0;
    (void)state;
    for (unsigned turn = 0; turn < 200 / BLYT_SLOW; turn++) {
        uint64_t block[8] = {0};
        uint16_t cells[8], counts[BLYI_ML_CELLS];
        for (unsigned used = 0; used + 8 <= turn % BLYI_ML_LAYERS; used = blyi_ml_used(block))
            blyi_ml_raise(block, cells, draw_cells(&rng, cells));
        for (unsigned bit = 0; bit < 512; bit++) {
            block[bit / 64] ^= blyi_le64((uint64_t)1 << bit % 64);
            if (blyi_ml_block_sound(block)) {
                unsigned sum = 0;
                blyi_ml_decode(block, counts);
                for (unsigned i = 0; i < BLYI_ML_CELLS; i++)
                    sum += counts[i];
                assert_block_is(block, counts, sum);
            } else {
                refused++;
            }
            block[bit / 64] ^= blyi_le64((uint64_t)1 << bit % 64);
        }
        assert_true(blyi_ml_block_sound(block));
    }
    assert_true(refused > 200 / BLYT_SLOW * 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_count_as_counters_do),
        cmocka_unit_test(a_block_is_laid_out_as_described),
        cmocka_unit_test(damaged_blocks_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
