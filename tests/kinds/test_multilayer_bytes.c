/* The body of a multilayer filter: the arithmetic of one block against plain counters, set
 * operations, failed allocations, files, and damage. */
#include "multilayer_support.h"

#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- one block ------------------------------------------------------------------------------- */

/* Draws up to 8 distinct cells, half of the time from a few, so that counts become large. Returns
 * how many. */
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
    assert_true(blyi_ml_block_is_valid(block));
}

/* After each of two million random steps, the counts in a block are those of 320 plain counters. */
static void blocks_count_as_counters_do(void **state) {
    uint64_t block[8] = {0}, rng = 1;
    uint16_t counts[BLYI_ML_CELLS] = {0}, cells[8];
    unsigned sum = 0, full = 0;
    (void)state;
    for (unsigned step = 0; step < 2000000 / BLYT_SLOW; step++) {
        unsigned n = draw_cells(&rng, cells), least = least_of(counts, cells, n);
        bool rising = blyt_next(&rng) % 16 < (step >> 10 & 1 ? 4 : 12);
        if (least > 0)
            assert_int_equal(blyi_ml_min_count(block, cells, n), least);
        full += rising && sum + n > BLYI_ML_LAYER_BITS;
        if (rising && sum + n <= BLYI_ML_LAYER_BITS) {
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

/* Encodes the block that is drawn in multilayer_block.c. */
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

/* Flips each bit of a valid block. The result may be valid only if it decodes to counts whose sum
 * is the one in the block. */
static void damaged_blocks_are_told(void **state) {
    uint64_t rng = 5;
    unsigned refused = 0;
    (void)state;
    for (unsigned turn = 0; turn < 200 / BLYT_SLOW; turn++) {
        uint64_t block[8] = {0};
        uint16_t cells[8], counts[BLYI_ML_CELLS];
        for (unsigned used = 0; used + 8 <= turn % BLYI_ML_LAYER_BITS; used = blyi_ml_used(block))
            blyi_ml_raise(block, cells, draw_cells(&rng, cells));
        for (unsigned bit = 0; bit < 512; bit++) {
            block[bit / 64] ^= blyi_le64((uint64_t)1 << bit % 64);
            if (blyi_ml_block_is_valid(block)) {
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
        assert_true(blyi_ml_block_is_valid(block));
    }
    assert_true(refused > 200 / BLYT_SLOW * 400);
}

/* ---- two filters ----------------------------------------------------------------------------- */

/* Adds that many copies of the keys from .. until - 1, and forty times as many of keys below 50. */
static void add_copies(bly_filter *f, uint64_t from, uint64_t until, unsigned copies) {
    for (unsigned i = 0; i < copies; i++)
        add_hashes(f, 1, from, until);
    for (unsigned i = 0; i < copies * 39 && from < 50; i++)
        add_hashes(f, 1, from, until < 50 ? until : 50);
}

/* A union equals the filter of all keys, and a subtraction undoes it, also with spilled blocks and
 * larger tables. */
static void union_and_difference_are_exact(void **state) {
    bly_filter *a = multilayer(8000, 0.001), *b = multilayer(8000, 0.001);
    bly_filter *both = multilayer(8000, 0.001), *only = multilayer(8000, 0.001);
    (void)state;
    add_copies(a, 0, 5000, 1);
    add_copies(only, 0, 5000, 1);
    add_copies(b, 20, 6000, 2);
    add_copies(both, 20, 6000, 2);
    add_copies(both, 0, 5000, 1);
    assert_true(records_used(a) > 20 && records_used(b) > 20);
    assert_ok(bly_filter_union(a, b));
    assert_true(is_sound(a) && bly_filter_equal(a, both) && bly_filter_equal(both, a));
    assert_false(bly_filter_equal(a, b));
    assert_int_equal(bly_filter_count(a), bly_filter_count(both));
    assert_ok(bly_filter_subtract(a, b));
    assert_true(is_sound(a) && bly_filter_equal(a, only));
    assert_int_equal(bly_filter_count(a), bly_filter_count(only));
    assert_ok(bly_filter_union(a, a));
    assert_int_equal(bly_filter_copies_hash(a, hash_at(1, 10)), 80);
    assert_ok(bly_filter_subtract(a, only));
    assert_true(bly_filter_equal(a, only));
    assert_ok(bly_filter_subtract(a, a));
    assert_true(all_zero(a) && bly_filter_count(a) == 0);
    assert_ok(bly_filter_subtract(a, b)); /* non-members are not subtracted */
    assert_true(all_zero(a) && bly_filter_count(a) == 0);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(both);
    bly_filter_destroy(only);
}

/* Every cell of an intersection has the smaller of the two counts. */
static void intersection_keeps_the_fewer(void **state) {
    bly_filter *a = multilayer(8000, 0.001), *b = multilayer(8000, 0.001), *before = NULL;
    uint16_t x[BLYI_ML_CELLS], y[BLYI_ML_CELLS], z[BLYI_ML_CELLS];
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    add_copies(a, 0, 5000, 1);
    add_copies(b, 20, 6000, 2);
    assert_ok(bly_filter_clone(a, NULL, &before));
    assert_ok(bly_filter_intersect(a, b));
    assert_true(is_sound(a));
    for (uint64_t i = 0; i < a->geometry.size; i++) {
        blyi_ml_counts(a, i, x);
        blyi_ml_counts(before, i, y);
        blyi_ml_counts(b, i, z);
        for (unsigned c = 0; c < BLYI_ML_CELLS; c++)
            assert_int_equal(x[c], y[c] < z[c] ? y[c] : z[c]);
    }
    assert_true(contains_hashes(a, 1, 20, 5000));
    bly_filter_get_info(a, &s);
    assert_true(s.approximate && s.count > 4900 && s.count < 6950);
    assert_ok(bly_filter_intersect(b, b));
    assert_int_equal(bly_filter_count(b), 2 * (5980 + 30 * 39));
    bly_filter_clear(b);
    assert_ok(bly_filter_intersect(a, b));
    assert_true(all_zero(a) && bly_filter_count(a) == 0);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(before);
}

/* The estimates of the number of copies in an intersection, and of the keys that two filters share,
 * are right on average. */
static void estimates_are_not_biased(void **state) {
    static const uint64_t common[] = {0, 1000, 10000, 20000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(common); i++) {
        bly_filter *a = multilayer(20000, 0.01), *b = multilayer(20000, 0.01);
        bly_overlap o;
        double want = (double)common[i];
        add_hashes(a, 1, 0, 20000);
        add_hashes(b, 1, 20000 - common[i], 40000 - common[i]);
        assert_ok(bly_filter_overlap(a, b, &o));
        assert_true(fabs(o.a - 20000) < 300 && fabs(o.b - 20000) < 300);
        assert_true(fabs(o.both - want) < 700 && fabs(o.either - (40000 - want)) < 700);
        assert_true(fabs(o.jaccard - want / (40000 - want)) < 0.03);
        assert_ok(bly_filter_intersect(a, b));
        assert_true(fabs((double)bly_filter_count(a) - want) < 300);
        assert_true(common[i] < 20000 || bly_filter_count(a) == 20000);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
}

/* If the common keys have five copies in both filters, the estimate counts five copies of each. */
static void copies_in_both_are_told(void **state) {
    bly_filter *a = multilayer(1500, 0.01), *b = multilayer(1500, 0.01);
    (void)state;
    for (unsigned copy = 0; copy < 5; copy++) {
        add_hashes(a, 1, 0, 1000);
        add_hashes(b, 1, 500, 1500);
    }
    assert_ok(bly_filter_intersect(a, b));
    assert_true(fabs((double)bly_filter_count(a) - 2500) < 250);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* If a key of b is missing in a, its block stays as it is; all other blocks lose the copies that b
 * has. */
static void subtraction_of_non_members(void **state) {
    bly_filter *a = multilayer(8000, 0.01), *b = multilayer(8000, 0.01), *before;
    uint16_t x[BLYI_ML_CELLS], y[BLYI_ML_CELLS], z[BLYI_ML_CELLS];
    uint64_t passed = 0;
    (void)state;
    add_copies(a, 0, 4000, 2);
    assert_ok(bly_filter_clone(a, NULL, &before));
    add_hashes(b, 1, 0, 2000);
    add_hashes(b, 2, 0, 40);
    assert_ok(bly_filter_subtract(a, b));
    for (uint64_t i = 0; i < a->geometry.size; i++) {
        bool lacks = false;
        blyi_ml_counts(a, i, x);
        blyi_ml_counts(before, i, y);
        blyi_ml_counts(b, i, z);
        for (unsigned c = 0; c < BLYI_ML_CELLS; c++)
            lacks |= y[c] < z[c];
        for (unsigned c = 0; c < BLYI_ML_CELLS; c++)
            assert_int_equal(x[c], lacks ? y[c] : y[c] - z[c]);
        passed += lacks;
    }
    assert_true(is_sound(a) && passed > 20 && passed <= 40);
    double share = (double)passed / (double)a->geometry.size;
    double want = (double)bly_filter_count(before) - 2000 * (1 - share);
    assert_true(fabs((double)bly_filter_count(a) - want) < 150);
    /* If nothing can be subtracted, the count does not change. */
    bly_filter_clear(a);
    bly_filter_clear(b);
    add_hashes(a, 1, 0, 100);
    add_hashes(b, 2, 0, 8000);
    assert_ok(bly_filter_subtract(a, b));
    assert_true(bly_filter_count(a) == 100 && contains_hashes(a, 1, 0, 100));
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(before);
}

static bly_hash short_hash(const bly_hasher *h, const void *key, size_t len) {
    uint64_t x = 0;
    (void)h;
    memcpy(&x, key, len < 4 ? len : 4);
    return hash_at(7, x);
}

static void short_hashes(const bly_hasher *h, const bly_bytes *keys, size_t n, bly_hash *out) {
    for (size_t i = 0; i < n; i++)
        out[i] = short_hash(h, keys[i].data, keys[i].size);
}

/* Copies of a key do not raise the rates: they cause no hash collisions and set no more bits. */
static void statistics_are_of_distinct_keys(void **state) {
    bly_spec spec = bly_spec_for(BLY_MULTILAYER, 1000, 0.05);
    bly_filter *f;
    bly_filter_info once = {.struct_size = sizeof once};
    bly_filter_info often = {.struct_size = sizeof often};
    (void)state;
    spec.hasher = (bly_hasher){.id = BLY_HASH_CUSTOM, .bits = 32, .one = short_hash};
    spec.hasher.many = short_hashes;
    assert_ok(bly_filter_create(&spec, &f));
    assert_ok(bly_filter_add(f, "a", 1, NULL));
    bly_filter_get_info(f, &once);
    for (unsigned i = 1; i < 10000; i++)
        assert_ok(bly_filter_add(f, "a", 1, NULL));
    bly_filter_get_info(f, &often);
    assert_true(often.count == 10000 && often.current_fpr == once.current_fpr);
    assert_true(often.expected_fpr == once.expected_fpr);
    assert_true(fabs(often.expected_fill / often.fill - 1) < 0.01);
    bly_filter_destroy(f);
}

/* Filters with the same counts are equal, whatever was added and removed before, and however large
 * their tables are. */
static void equal_whatever_the_way(void **state) {
    bly_filter *a = multilayer(3000, 0.01), *b = multilayer(3000, 0.01);
    (void)state;
    add_hashes(a, 1, 0, 3000);
    for (unsigned i = 0; i < 50; i++)
        add_hashes(a, 1, 0, 200);
    for (unsigned i = 0; i < 30; i++)
        remove_hashes(a, 1, 0, 200);
    for (uint64_t i = 3000; i-- > 0;)
        for (unsigned copy = 0; copy < (i < 200 ? 21 : 1); copy++)
            add_hashes(b, 1, i, i + 1);
    assert_true(a->geometry.detail != b->geometry.detail || records_used(a) != records_used(b));
    assert_ok(bly_filter_compatible(a, b));
    assert_true(bly_filter_equal(a, b) && bly_filter_equal(b, a));
    remove_hashes(b, 1, 199, 200);
    assert_false(bly_filter_equal(a, b));
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Each allocation fails in turn: nothing changes, and a second attempt succeeds. */
static void failures_change_nothing(void **state) {
    blyt_heap heap = {0};
    bly_allocator alloc = blyt_heap_allocator(&heap);
    bly_filter *f = exact_table((bly_geometry){BLY_MULTILAYER, 4, 40, 0, 0}, &alloc);
    bly_filter *other = exact_table((bly_geometry){BLY_MULTILAYER, 4, 40, 0, 0}, NULL);
    unsigned failed = 0;
    (void)state;
    add_hashes(other, 2, 0, 1500);
    for (unsigned i = 0; i < 3000; i++) {
        bly_hash h[3] = {hash_at(1, i), hash_at(1, i / 2), hash_at(1, i / 3)};
        uint8_t *kept = keep_body(f), added[3];
        bly_geometry g = f->geometry;
        uint64_t count = bly_filter_count(f);
        bly_batch_result t;
        heap.fail_at = heap.calls + 1;
        bly_status status = bly_filter_add_hashes(f, h, 3, added, &t);
        heap.fail_at = 0;
        if (status == BLY_OK || t.done > 0) {
            free(kept);
        } else {
            failed++;
            assert_int_equal(status, BLY_ENOMEM);
            assert_memory_equal(&g, &f->geometry, sizeof g);
            assert_body_is(f, kept);
            assert_int_equal(bly_filter_count(f), count);
        }
        assert_int_equal(bly_filter_count(f), count + t.done);
        assert_ok(bly_filter_add_hashes(f, h + t.done, 3 - t.done, NULL, NULL));
    }
    assert_true(failed > 3 && contains_hashes(f, 1, 0, 3000) && is_sound(f));
    for (int op = 0; op < 3; op++) {
        uint8_t *kept = keep_body(f);
        heap.fail_at = heap.calls + 1;
        assert_int_equal(op == 0   ? bly_filter_union(f, other)
                         : op == 1 ? bly_filter_subtract(f, other)
                                   : bly_filter_intersect(f, other),
                         BLY_ENOMEM);
        heap.fail_at = 0;
        assert_body_is(f, kept);
        assert_int_equal(bly_filter_count(f), 9000);
        assert_true(!f->approximate);
    }
    bly_filter_destroy(f);
    bly_filter_destroy(other);
    assert_int_equal(heap.live, 0);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Returns a filter with spilled blocks, whose table of records still has room. */
static bly_filter *rich(void) {
    bly_filter *f = exact_table((bly_geometry){BLY_MULTILAYER, 4, 20, 0, 0}, NULL);
    add_hashes(f, 1, 0, 300);
    for (uint64_t i = 0; records_used(f) < 9; i++) /* there is room for ten */
        for (unsigned copy = 0; copy < 45; copy++)
            add_hashes(f, 1, i, i + 1);
    assert_true(records_used(f) == 9 && blyi_ml_max_records(&f->geometry) == 10);
    return f;
}

static void saved_loaded_mapped_cloned(void **state) {
    char path[] = "/tmp/bloomery-multilayer-XXXXXX";
    bly_filter *f = rich(), *loaded = NULL, *copy = NULL;
    bly_map *map = NULL;
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0 && close(fd) == 0);
    assert_ok(bly_filter_save(f, path));
    assert_ok(bly_filter_load(path, NULL, &loaded));
    assert_ok(bly_map_open(
        path,
        &(bly_open_options){.struct_size = sizeof(bly_open_options), .flags = BLY_OPEN_VERIFY},
        &map));
    assert_ok(bly_filter_clone(bly_map_filter(map), NULL, &copy));
    assert_true(bly_filter_equal(f, loaded) && bly_filter_equal(f, copy));
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t want = bly_filter_copies_hash(f, hash_at(1, i));
        assert_int_equal(bly_filter_copies_hash(loaded, hash_at(1, i)), want);
        assert_int_equal(bly_filter_copies_hash(bly_map_filter(map), hash_at(1, i)), want);
        assert_int_equal(bly_filter_contains_hash(bly_map_filter(map), hash_at(1, i)), want > 0);
    }
    add_hashes(loaded, 1, 0, 2000);
    remove_hashes(loaded, 1, 0, 2000);
    assert_true(bly_filter_equal(f, loaded));
    bly_map_close(map);
    assert_int_equal(unlink(path), 0);
    bly_filter_destroy(f);
    bly_filter_destroy(loaded);
    bly_filter_destroy(copy);
}

/* Corrects the two checksums of the file. */
static void fix_sums(blyt_buffer b) {
    uint64_t body = XXH64(b.data + 64, b.size - 64, 0);
    for (int i = 0; i < 8; i++)
        b.data[56 + i] = (uint8_t)(body >> 8 * i);
    memset(b.data + 12, 0, 4);
    uint64_t header = XXH64(b.data, 64, 0);
    for (int i = 0; i < 4; i++)
        b.data[12 + i] = (uint8_t)(header >> 8 * i);
}

/* A file in memory may start at any address. */
static void loads_from_any_address(void **state) {
    bly_filter *f = rich(), *g = NULL;
    blyt_buffer b = blyt_write(f);
    uint8_t *moved = malloc(b.size + 8);
    (void)state;
    assert_non_null(moved);
    for (size_t by = 0; by < 8; by++) {
        memcpy(moved + by, b.data, b.size);
        assert_ok(bly_filter_parse(moved + by, b.size, NULL, &g));
        assert_true(bly_filter_equal(f, g));
        bly_filter_destroy(g);
    }
    free(moved);
    free(b.data);
    bly_filter_destroy(f);
}

/* Flips bits of the body and corrects the checksums. The file must be refused, or give a filter
 * that works. Changes behind the blocks, in the list and in the records, must always be refused. */
static void damaged_bodies_are_refused(void **state) {
    bly_filter *f = rich(), *g;
    blyt_buffer b = blyt_write(f);
    size_t blocks = 64 + (size_t)f->geometry.size * 64, accepted = 0;
    (void)state;
    for (size_t at = 64; at < b.size; at += at < blocks + 2000 ? 1 : 7)
        for (unsigned turn = 1; turn < 256; turn *= 2) {
            b.data[at] ^= (uint8_t)turn;
            fix_sums(b);
            bly_status status = bly_filter_parse(b.data, b.size, NULL, &g);
            b.data[at] ^= (uint8_t)turn;
            assert_true(status == BLY_ECORRUPT || (status == BLY_OK && at < blocks));
            if (status)
                continue;
            accepted++;
            assert_true(is_sound(g));
            add_hashes(g, 9, 0, 100);
            remove_hashes(g, 9, 0, 100);
            assert_true(is_sound(g));
            bly_filter_destroy(g);
        }
    assert_true(accepted < blocks / 4);
    free(b.data);
    bly_filter_destroy(f);
}

/* Errors that a single changed byte does not cause: a record that two blocks use, a number that is
 * too high, a wrong sum, and a spilled block that must not be spilled any more. */
static void lies_about_records_are_refused(void **state) {
    bly_filter *f = rich();
    blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t *one = blyi_ml_block(f, blyi_ml_owner(&t, 0));
    uint64_t *two = blyi_ml_block(f, blyi_ml_owner(&t, 1)), kept[8];
    (void)state;
    assert_true(is_sound(f));
    memcpy(kept, one, sizeof kept);
    memcpy(one, two, sizeof kept); /* two blocks, one record */
    assert_false(is_sound(f));
    memcpy(one, kept, sizeof kept);
    one[5] = blyi_le64(t.max_records);
    assert_false(is_sound(f));
    one[5] = UINT64_MAX;
    assert_false(is_sound(f));
    memset(one, 0, sizeof kept); /* a record without a block */
    assert_false(is_sound(f));
    memcpy(one, kept, sizeof kept);
    uint64_t used = records_used(f);
    blyi_store64le(t.list, t.max_records + 1);
    assert_false(is_sound(f));
    blyi_store64le(t.list, UINT64_MAX);
    assert_false(is_sound(f));
    blyi_store64le(t.list, used);
    assert_true(is_sound(f));
    /* The block has a single count: 120 must not be in a record, 121 may be. */
    memset(one, 0, sizeof kept);
    memset(blyi_ml_record(&t, 0), 0, BLYI_ML_RECORD_BYTES);
    one[0] = blyi_le64(1);
    one[6] = blyi_le64(120);
    one[7] = blyi_le64((uint64_t)255 << 56);
    blyi_ml_record(&t, 0)[0] = 120;
    assert_false(is_sound(f));
    one[6] = blyi_le64(121);
    assert_false(is_sound(f));
    blyi_ml_record(&t, 0)[0] = 121;
    assert_true(is_sound(f));
    bly_filter_destroy(f);
}

/* Any body of a mapped file is safe, and filters that are combined with it stay valid. */
static void any_body_is_safe(void **state) {
    (void)state;
    for (unsigned fill = 0; fill < 40; fill++) {
        bly_geometry g = {BLY_MULTILAYER, 1 + fill % 9, 7, 0, fill % 5};
        uint64_t bytes = bly_plan_bytes(&g), rng = fill;
        uint8_t *body = aligned_alloc(64, (size_t)bytes);
        assert_non_null(body);
        for (uint64_t i = 0; i < bytes; i++)
            body[i] = (uint8_t)(fill < 10 ? fill * 51 : blyt_next(&rng));
        for (uint64_t i = 0; i < g.size && fill % 2; i++) { /* spilled blocks, some with records */
            memset(body + 64 * i + 40, 0, 24);
            body[64 * i + 40] = (uint8_t)(blyt_next(&rng) % 9);
            body[64 * i + 63] = 255;
        }
        blyi_shape shape = {.geometry = g, .capacity = 1, .fpr = 0.5, .items = UINT64_MAX};
        bly_filter *f, *other;
        bly_filter_info s = {.struct_size = sizeof s};
        bly_overlap o;
        assert_ok(bly_hasher_init(&shape.hasher, BLY_HASH_XXH3, 0));
        assert_ok(blyi_filter_make(&shape, NULL, body, &f));
        shape.items = 0;
        assert_ok(blyi_filter_make(&shape, NULL, NULL, &other));
        for (uint64_t i = 0; i < 2000; i++) {
            bly_hash h = hash_at(5, i);
            h.lo = i % 7 == 0 ? UINT64_MAX : h.lo;
            h.hi = i % 5 == 0 ? UINT64_MAX : h.hi;
            assert_int_equal(bly_filter_contains_hash(f, h), bly_filter_copies_hash(f, h) > 0);
        }
        bly_filter_get_info(f, &s);
        assert_true(s.fill >= 0 && s.fill <= 1 && s.current_fpr >= 0 && s.current_fpr <= 1);
        assert_true(s.set_bits <= s.bits);
        assert_ok(bly_filter_overlap(f, other, &o));
        (void)bly_filter_equal(f, other);
        for (int op = 0; op < 4; op++) {
            assert_ok(op == 0   ? bly_filter_union(other, f)
                      : op == 1 ? bly_filter_intersect(other, f)
                      : op == 2 ? bly_filter_union(other, f)
                                : bly_filter_subtract(other, f));
            assert_true(is_sound(other));
        }
        bly_filter_destroy(other);
        bly_filter_destroy(f);
        free(body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_count_as_counters_do),
        cmocka_unit_test(a_block_is_laid_out_as_described),
        cmocka_unit_test(damaged_blocks_are_told),
        cmocka_unit_test(union_and_difference_are_exact),
        cmocka_unit_test(intersection_keeps_the_fewer),
        cmocka_unit_test(copies_in_both_are_told),
        cmocka_unit_test(subtraction_of_non_members),
        cmocka_unit_test(statistics_are_of_distinct_keys),
        cmocka_unit_test(estimates_are_not_biased),
        cmocka_unit_test(equal_whatever_the_way),
        cmocka_unit_test(failures_change_nothing),
        cmocka_unit_test(saved_loaded_mapped_cloned),
        cmocka_unit_test(loads_from_any_address),
        cmocka_unit_test(damaged_bodies_are_refused),
        cmocka_unit_test(lies_about_records_are_refused),
        cmocka_unit_test(any_body_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
