/* Sketches of kind BLY_COUNTS have the bytes that docs/format.md defines, survive saving and
 * loading, and are harmless with any body. */
#include "counts_support.h"
#include "store_support.h"

/* ---- recorded values ------------------------------------------------------------------------- */

/* Computes the four cells of a key as docs/format.md does. */
static void cells_by_hand(bly_hash h, unsigned out[4]) {
    for (unsigned j = 0; j < 4; j++) {
        unsigned slice = (unsigned)(h.hi >> 16 * j) & 65535;
        out[j] = slice * (61 + j) / 65536;
        for (unsigned i = 0; i < j; i++)
            if (out[i] == out[j]) {
                out[j] = 60 + j;
                break;
            }
    }
}

/* Adds a key to a body of `n` lines as docs/format.md does; `turn` is the number of adds before.
 * Returns the key's count before this add. */
static uint64_t add_by_hand(uint8_t *body, uint64_t n, unsigned detail, bly_hash h, uint64_t turn) {
    const uint64_t *value = blyi_counts_values[detail];
    unsigned at[4], code = 255;
    uint8_t *line = body + blyi_mulhi(h.lo, n) * 64;
    cells_by_hand(h, at);
    for (unsigned j = 0; j < 4; j++)
        code = line[at[j]] < code ? line[at[j]] : code;
    uint64_t dice = blyi_fmix64((h.lo ^ (h.hi << 32 | h.hi >> 32)) + turn * BLYI_GOLD);
    bool counts = code < 255 && blyi_mulhi(dice, value[code + 1] - value[code]) == 0;
    for (unsigned j = 0; counts && j < 4; j++)
        if (line[at[j]] == code)
            line[at[j]]++;
    return value[code];
}

static void bytes_are_as_in_the_format(void **state) {
    enum { KEYS = 3000, ADDS = 200000 };
    (void)state;
    for (unsigned detail = 0; detail < 2; detail++) {
        bly_filter *one = lines(37, detail), *many = lines(37, detail);
        uint8_t *body = calloc(37, 64);
        bly_hash h[100];
        uint8_t added[100];
        uint64_t seed = 5;
        assert_non_null(body);
        for (unsigned i = 0; i < ADDS / BLYT_SLOW; i += 100) {
            for (unsigned j = 0; j < 100; j++) {
                uint64_t x = blyt_next(&seed);
                h[j] = hash_at(11, (uint64_t)(KEYS * pow((double)(x >> 11) * 0x1p-53, 4)));
            }
            assert_ok(bly_filter_add_hashes(many, h, 100, added, NULL));
            for (unsigned j = 0; j < 100; j++) {
                bool is_new;
                uint64_t count = bly_filter_copies_hash(one, h[j]);
                assert_true(bly_filter_contains_hash(one, h[j]) == (count > 0));
                assert_ok(bly_filter_add_hash(one, h[j], &is_new));
                assert_int_equal(add_by_hand(body, 37, detail, h[j], i + j), count);
                assert_true(is_new == (count == 0) && added[j] == is_new);
            }
            assert_memory_equal(one->body, body, 37 * 64);
            assert_true(bly_filter_equal(one, many));
            assert_int_equal(bly_filter_count(many), i + 100);
        }
        free(body);
        bly_filter_destroy(one);
        bly_filter_destroy(many);
    }
}

static void keys_have_four_cells(void **state) {
    bly_filter *f = lines(1, 0);
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        unsigned used = 0;
        bly_hash h = i < 4 ? (bly_hash){i, i % 2 ? UINT64_MAX : 0} : hash_at(2, i);
        bly_filter_clear(f);
        assert_ok(bly_filter_add_hash(f, h, NULL));
        for (unsigned j = 0; j < 64; j++)
            used += f->body[j] == 1;
        assert_int_equal(used, 4);
    }
    bly_filter_destroy(f);
}

/* ---- saving and loading ---------------------------------------------------------------------- */

static void files_go_on_as_if_never_away(void **state) {
    (void)state;
    for (unsigned detail = 0; detail < 2; detail++) {
        bly_filter *f = lines(10, detail), *back = NULL, *copy = NULL;
        bly_map *map = NULL;
        for (unsigned i = 0; i < 100; i++)
            add_hashes(f, 4, 0, 300);
        assert_ok(bly_filter_save(f, at("c.bly")));
        assert_ok(bly_filter_load(at("c.bly"), NULL, &back));
        assert_ok(bly_map_open(at("c.bly"), NULL, &map));
        assert_same(f, back);
        assert_same(f, bly_map_filter(map));
        for (unsigned i = 0; i < 300; i++)
            assert_int_equal(bly_filter_copies_hash(f, hash_at(4, i)),
                             bly_filter_copies_hash(bly_map_filter(map), hash_at(4, i)));
        assert_ok(bly_filter_clone(bly_map_filter(map), NULL, &copy));
        for (unsigned i = 0; i < 100; i++) {
            add_hashes(f, 4, 0, 300);
            add_hashes(back, 4, 0, 300);
            add_hashes(copy, 4, 0, 300);
        }
        assert_same(f, back);
        assert_same(f, copy);
        bly_map_close(map);
        bly_filter_destroy(f);
        bly_filter_destroy(back);
        bly_filter_destroy(copy);
    }
}

/* Any byte is a valid counter, so that any body is accepted; but the header must be correct. */
static void any_body_is_harmless(void **state) {
    bly_filter *f = lines(5, 1), *back = NULL;
    uint64_t seed = 9;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    blyt_buffer im = blyt_write(f);
    for (unsigned i = HEADER; i < im.size; i++)
        im.data[i] = (uint8_t)blyt_next(&seed);
    fix_sums(im);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &back));
    for (uint64_t i = 0; i < 10000; i++) {
        bly_hash h = hash_at(3, i);
        h.lo = i % 7 ? h.lo : UINT64_MAX;
        h.hi = i % 5 ? h.hi : i % 2 ? UINT64_MAX : 0;
        assert_true(bly_filter_copies_hash(back, h) <= ends[1]);
        assert_ok(bly_filter_add_hash(back, h, NULL));
    }
    bly_filter_get_info(back, &s);
    assert_true(s.fill <= 1 && s.set_bits <= s.bits && s.current_fpr <= 1 && s.stuck <= 320);
    bly_filter_destroy(back);
    static const lie lies[] = {{8, 1, 3, BLY_ECORRUPT},
                               {9, 1, 4, BLY_ECORRUPT},
                               {10, 2, 2, BLY_ECORRUPT},
                               {16, 8, 6, BLY_ECORRUPT},
                               {16, 8, UINT64_MAX, BLY_ECORRUPT}};
    for (size_t i = 0; i < COUNT_OF(lies); i++) {
        uint64_t was = load(im.data + lies[i].offset, lies[i].width);
        store(im.data + lies[i].offset, lies[i].value, lies[i].width);
        fix_header_sum(im.data);
        assert_refused(im, NULL, lies[i].status);
        store(im.data + lies[i].offset, was, lies[i].width);
    }
    free(im.data);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_in_the_format),
        cmocka_unit_test(keys_have_four_cells),
        IN_SCRATCH(files_go_on_as_if_never_away),
        IN_SCRATCH(any_body_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
