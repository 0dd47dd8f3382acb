/* test_redisbloom.c - RedisBloom's filters behave as in RedisBloom. After the same calls they have
 * exactly the bytes that redisbloom_reader.py computes, a program that was written only from the
 * description of the layout. test_redisbloom_dump.c tests untrusted input. */
#include "formats/redisbloom_support.h"

#include "formats/redisbloom_bloom.h"
#include "hash/hash_murmur.h"

#include <bloomery/host/redisbloom.h>

/* ---- the files ------------------------------------------------------------------------------- */

static void assert_bytes(any f, const blyt_buffer *header, const blyt_buffer *data) {
    blyt_buffer h = any_header(f);
    assert_int_equal(h.size, header->size);
    assert_memory_equal(h.data, header->data, h.size);
    free(h.data);
    assert_int_equal(any_data_bytes(f), data->size);
    for (uint64_t at = 0; at < data->size;) {
        bly_bytes chunk = any_read(f, at, BLY_RB_CHUNK);
        assert_true(chunk.size > 0 && chunk.size <= data->size - at);
        assert_memory_equal(chunk.data, data->data + at, chunk.size);
        at += chunk.size;
    }
}

static void run_step(const golden *g, any f, const step *s) {
    const bly_rb_cuckoo_how absent = {.absent = true};
    for (unsigned i = s->from; i < s->to; i++) {
        char key[BLYT_KEY_MAX * 2];
        size_t len = golden_key(g, i, key, sizeof key);
        if (strcmp(s->op, "add") == 0) {
            assert_ok(any_add(f, key, len, NULL));
        } else if (strcmp(s->op, "try") == 0) {
            bly_status status = any_add(f, key, len, NULL);
            assert_true(status == BLY_OK || status == BLY_EFULL);
        } else if (strcmp(s->op, "absent") == 0) {
            bool there = any_contains(f, key, len), added;
            assert_ok(bly_rb_cuckoo_add(f.cuckoo, key, len, &absent, &added));
            assert_int_equal(added, !there);
        } else if (strcmp(s->op, "del") == 0) {
            assert_true(bly_rb_cuckoo_remove(f.cuckoo, key, len));
        } else {
            assert_string_equal(s->op, "compact");
            bly_rb_cuckoo_compact(f.cuckoo);
        }
    }
}

static void run(const golden *g, any f, const program *p) {
    for (size_t i = 0; i < p->n; i++)
        run_step(g, f, &p->steps[i]);
}

/* Asserts that the filter contains every key that the program added and did not remove. */
static void assert_holds(const golden *g, any f, const program *p) {
    for (size_t i = 0; i < p->n; i++) {
        const step *s = &p->steps[i];
        for (unsigned k = s->from; k < s->to && strcmp(s->op, "add") == 0; k++) {
            char key[BLYT_KEY_MAX * 2];
            size_t len = golden_key(g, k, key, sizeof key);
            bool removed = false;
            for (size_t j = i + 1; j < p->n; j++)
                removed |= strcmp(p->steps[j].op, "del") == 0 && k >= p->steps[j].from &&
                           k < p->steps[j].to;
            assert_true(removed || any_contains(f, key, len));
        }
    }
}

static any create(const golden *g) {
    double error;
    unsigned n[4];
    any f = {NULL, NULL};
    if (g->bloom) {
        assert_int_equal(sscanf(g->create, "%lf %u %u %u", &error, &n[0], &n[1], &n[2]), 4);
        bly_rb_bloom_spec spec = {error, n[0], n[1], n[2] != 0};
        assert_ok(bly_rb_bloom_create(&spec, NULL, &f.bloom));
        return f;
    }
    assert_int_equal(sscanf(g->create, "%u %u %u %u", &n[0], &n[1], &n[2], &n[3]), 4);
    return any_cuckoo(n[0], n[1], n[2], n[3]);
}

/* Asserts that saving gives the fields that were loaded. */
static void assert_fields(const golden *g, any f) {
    const field *at = g->fields + (g->bloom ? 4 : 7);
    for (uint64_t i = 0; i < any_parts(f) && g->encoding == 4; i++) {
        bly_rb_link l = {0};
        if (g->bloom) {
            l = bly_rb_bloom_link(f.bloom, i);
            assert_int_equal(l.capacity, at[0].number);
            assert_true(l.error == golden_double(&at[1]) && l.bpe == golden_double(&at[3]));
            assert_int_equal(l.hashes, at[2].number);
            assert_int_equal(l.bits, at[4].number);
            assert_int_equal(l.n2, at[5].number);
            assert_int_equal(l.items, at[7].number);
        } else {
            assert_int_equal(bly_rb_cuckoo_sub(f.cuckoo, i).buckets, at[0].number);
        }
        const blyt_buffer *bytes = &at[g->bloom ? 6 : 1].bytes;
        assert_int_equal(any_part(f, i).size, bytes->size);
        assert_memory_equal(any_part(f, i).data, bytes->data, bytes->size);
        at += g->bloom ? 8 : 2;
    }
}

static void check_golden(const golden *g) {
    any loaded, dumped;
    assert_ok(golden_load(g, UINT64_MAX, NULL, &loaded));
    assert_bytes(loaded, &g->header, &g->data);
    assert_fields(g, loaded);
    assert_holds(g, loaded, &g->before);

    assert_ok(any_parse(g->bloom, g->header.data, g->header.size, UINT64_MAX, NULL, &dumped));
    for (uint64_t at = 0; at < g->data.size;) {
        size_t some = any_read(dumped, at, 100).size;
        assert_ok(any_write(dumped, at, g->data.data + at, some));
        at += some;
    }
    assert_bytes(dumped, &g->header, &g->data);
    assert_true(any_equal(loaded, dumped));

    if (g->create[0]) {
        any made = create(g);
        run(g, made, &g->before);
        assert_bytes(made, &g->header, &g->data);
        assert_true(any_equal(loaded, made));
        any_destroy(made);
    }
    run(g, loaded, &g->after);
    assert_bytes(loaded, &g->after_header, &g->after_data);
    assert_holds(g, loaded, &g->after);
    bool same = g->data.size == g->after_data.size &&
                memcmp(g->data.data, g->after_data.data, g->data.size) == 0;
    assert_int_equal(any_equal(loaded, dumped), same);
    any_destroy(loaded);
    any_destroy(dumped);
}

static void test_files(void **state) {
    (void)state;
    assert_true(for_each_golden(check_golden) >= 29);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The verification values that the author of the functions published with SMHasher. */
static void test_murmur(void **state) {
    (void)state;
    uint8_t key[256], narrow[256 * 4], wide[256 * 8];
    for (unsigned i = 0; i < 256; i++) {
        uint64_t h = blyi_murmur64a(key, i, 256 - i);
        uint32_t s = blyi_murmur2(key, i, 256 - i);
        key[i] = (uint8_t)i;
        for (unsigned b = 0; b < 8; b++)
            wide[8 * i + b] = (uint8_t)(h >> 8 * b);
        for (unsigned b = 0; b < 4; b++)
            narrow[4 * i + b] = (uint8_t)(s >> 8 * b);
    }
    assert_int_equal(blyi_murmur2(narrow, sizeof narrow, 0), 0x27864C1E);
    assert_int_equal(blyi_murmur64a(wide, sizeof wide, 0) & UINT32_MAX, 0x1F0D3804);
}

static void test_modulus(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 200000 / BLYT_SLOW; i++) {
        uint64_t m = (blyt_next(&seed) >> (16 + blyt_next(&seed) % 48)) + (i < 9);
        uint64_t x = i % 5 == 0 ? UINT64_MAX - (uint64_t)(i % 7) : blyt_next(&seed);
        if (i % 11 == 0)
            m = (uint64_t)1 << i % 49;
        m = m ? m : 1;
        blyi_rb_bloom_layer l = {.modulus = m, .inverse = UINT64_MAX / m};
        assert_int_equal(blyi_rb_bloom_position(&l, x), x % m);
        if (i % 3 == 0) /* multiples of the modulus, and their neighbours */
            for (uint64_t d = 0; d < 3; d++)
                assert_int_equal(blyi_rb_bloom_position(&l, x / m * m + d - 1),
                                 (x / m * m + d - 1) % m);
    }
}

static void test_information(void **state) {
    (void)state;
    any f = any_bloom(0.01, 100, 2);
    char key[BLYT_KEY_MAX];
    bly_rb_bloom_info i = bly_rb_bloom_get_info(f.bloom);
    assert_int_equal(i.size, 32 + 64 + 144);
    assert_int_equal(i.capacity, 100);
    assert_int_equal(i.options, 5);
    for (uint64_t k = 0; k < 500; k++)
        assert_ok(any_add(f, key, blyt_key(KEYS_URL, k, key), NULL));
    i = bly_rb_bloom_get_info(f.bloom);
    assert_int_equal(i.links, 3);
    assert_int_equal(i.capacity, 700);
    assert_int_equal(i.growth, 2);
    assert_true(i.items > 490 && i.items <= 500);
    assert_int_equal(i.size, 32 + 3 * 64 + i.data_bytes);
    any_destroy(f);

    f = any_cuckoo(1000, 3, 20, 3);
    bly_rb_cuckoo_info c = bly_rb_cuckoo_get_info(f.cuckoo);
    assert_int_equal(c.buckets, 512);
    assert_int_equal(c.expansion, 4);
    assert_int_equal(c.size, 40 + 16 + 1536);
    assert_int_equal(c.data_bytes, 1536);
    any_destroy(f);
}

static void test_refusals(void **state) {
    (void)state;
    const struct {
        bly_rb_bloom_spec spec;
        bly_status status;
    } bloom[] = {
        {{0, 100, 2, false}, BLY_ERATE},   {{1, 100, 2, false}, BLY_ERATE},
        {{NAN, 100, 2, false}, BLY_ERATE}, {{0.01, 0, 2, false}, BLY_ECOUNT},
        {{0.01, 9, 0, false}, BLY_EINVAL}, {{0.01, UINT64_MAX, 2, false}, BLY_ETOOBIG},
        {{0.01, 9, 0, true}, BLY_OK},      {{0.01, (uint64_t)1 << 48, 2, true}, BLY_ETOOBIG},
        {{0.999999, 1, 1, false}, BLY_OK}, {{1e-300, 1, 1, false}, BLY_OK},
        {{5e-324, 1, 1, true}, BLY_OK},    {{5e-324, 1, 1, false}, BLY_ETOOBIG},
    };
    for (size_t i = 0; i < COUNT_OF(bloom); i++) {
        bly_rb_bloom *f = (bly_rb_bloom *)&f;
        assert_int_equal(bly_rb_bloom_create(&bloom[i].spec, NULL, &f), bloom[i].status);
        assert_true((f == NULL) == (bloom[i].status != BLY_OK));
        bly_rb_bloom_destroy(f);
    }
    const struct {
        bly_rb_cuckoo_spec spec;
        bly_status status;
    } cuckoo[] = {
        {{0, 2, 20, 1}, BLY_ECOUNT},    {{9, 0, 20, 1}, BLY_EINVAL},
        {{9, 256, 20, 1}, BLY_EINVAL},  {{9, 2, 0, 1}, BLY_EINVAL},
        {{9, 2, 65536, 1}, BLY_EINVAL}, {{9, 2, 20, 32769}, BLY_EINVAL},
        {{9, 2, 20, 32768}, BLY_OK},    {{UINT64_MAX, 2, 20, 1}, BLY_ETOOBIG},
        {{1, 255, 65535, 0}, BLY_OK},   {{((uint64_t)1 << 45) - 1, 3, 20, 1}, BLY_ETOOBIG},
    };
    for (size_t i = 0; i < COUNT_OF(cuckoo); i++) {
        bly_rb_cuckoo *f = (bly_rb_cuckoo *)&f;
        assert_int_equal(bly_rb_cuckoo_create(&cuckoo[i].spec, NULL, &f), cuckoo[i].status);
        assert_true((f == NULL) == (cuckoo[i].status != BLY_OK));
        bly_rb_cuckoo_destroy(f);
    }
}

/* ---- use ------------------------------------------------------------------------------------- */

/* Batches give the same answers as single calls in order, also if a key is repeated in the batch.
 * Tests small and large links, and filters of one link and of several. */
static void test_batches(void **state) {
    (void)state;
    const size_t n = 60000 / BLYT_SLOW, half = n / 2;
    const any makers[][2] = {
        {any_bloom(0.01, 100, 2), any_bloom(0.01, 100, 2)},
        {any_bloom(0.5, n, 1), any_bloom(0.5, n, 1)},
        {any_bloom(0.0001, n / 4, 4), any_bloom(0.0001, n / 4, 4)},
        {any_cuckoo(n, 4, 100, 1), any_cuckoo(n, 4, 100, 1)},
        {any_cuckoo(64, 2, 20, 4), any_cuckoo(64, 2, 20, 4)},
    };
    blyt_list l = blyt_list_of(KEYS_URL, 0, n);
    uint8_t *said = malloc(n);
    for (size_t i = 3; i < half; i += 7)
        l.keys[i] = l.keys[i - 3];
    for (size_t m = 0; m < COUNT_OF(makers); m++) {
        any one = makers[m][0], many = makers[m][1];
        size_t fresh = 0, there = 0;
        bly_batch_result tally;
        assert_ok(any_add_many(many, l.keys, half, said, &tally));
        for (size_t i = 0; i < half; i++) {
            bool added;
            assert_ok(any_add(one, l.keys[i].data, l.keys[i].size, &added));
            assert_int_equal(said[i], added);
            fresh += added;
        }
        assert_int_equal(tally.done, half);
        assert_int_equal(tally.changed, fresh);
        assert_true(any_equal(one, many));
        size_t found = any_contains_many(many, l.keys, n, said);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(said[i], any_contains(one, l.keys[i].data, l.keys[i].size));
            there += said[i];
        }
        assert_int_equal(found, there);
        assert_int_equal(any_contains_many(many, l.keys, n, NULL), there);
        assert_true(there >= half);
        any_destroy(one);
        any_destroy(many);
    }
    free(said);
    blyt_list_free(&l);
}

/* A full filter still finds its keys. It refuses to add other keys, and is not changed by that. */
static void test_full(void **state) {
    (void)state;
    any f = {NULL, NULL}, before;
    bly_batch_result tally;
    bool added;
    uint8_t said[200];
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 200);
    assert_ok(bly_rb_bloom_create(&(bly_rb_bloom_spec){0.001, 100, 0, true}, NULL, &f.bloom));
    assert_int_equal(any_add_many(f, l.keys, l.n, said, &tally), BLY_EFULL);
    assert_true(tally.done >= 100 && tally.done < 110);
    assert_int_equal(tally.changed, 100);
    assert_ok(any_clone(f, NULL, &before));
    assert_int_equal(any_add(f, l.keys[150].data, l.keys[150].size, &added), BLY_EFULL);
    assert_ok(any_add(f, l.keys[5].data, l.keys[5].size, &added));
    assert_false(added);
    assert_true(any_equal(f, before));
    any_destroy(f);
    any_destroy(before);

    /* Cuckoo: if evictions find no empty slot, they are undone. */
    for (uint32_t expansion = 0; expansion < 2; expansion++) {
        bly_rb_cuckoo_how how = {.max_filters = 2};
        unsigned refused = 0;
        f = any_cuckoo(64, expansion ? 4 : 3, 25, expansion);
        for (size_t i = 0; i < l.n; i++) {
            assert_ok(any_clone(f, NULL, &before));
            bly_status status =
                bly_rb_cuckoo_add(f.cuckoo, l.keys[i].data, l.keys[i].size, &how, &added);
            assert_true(status == BLY_OK || status == BLY_EFULL);
            assert_true(any_equal(f, before) == (status != BLY_OK));
            refused += status != BLY_OK;
            any_destroy(before);
        }
        assert_true(refused > 20);
        assert_int_equal(bly_rb_cuckoo_get_info(f.cuckoo).filters, 1 + expansion);
        assert_int_equal(bly_rb_cuckoo_get_info(f.cuckoo).items, l.n - refused);
        any_destroy(f);
    }
    blyt_list_free(&l);
}

/* In a filter of one bucket, both buckets of a key are the same, but each copy is counted once. */
static void test_copies(void **state) {
    (void)state;
    any f = any_cuckoo(4, 4, 20, 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(bly_rb_cuckoo_copies(f.cuckoo, "key", 3), i);
        assert_ok(any_add(f, "key", 3, NULL));
    }
    assert_int_equal(bly_rb_cuckoo_copies(f.cuckoo, "key", 3), 4);
    assert_int_equal(any_add(f, "key", 3, NULL), BLY_EFULL);
    any_destroy(f);
}

/* The error rate is halved from link to link until it is 0; then the filter cannot grow. */
static void test_last_link(void **state) {
    (void)state;
    any f = any_bloom(1e-300, 1, 1);
    char key[BLYT_KEY_MAX];
    bly_status status = BLY_OK;
    uint64_t k = 0;
    for (; status == BLY_OK && k < 1000; k++)
        status = any_add(f, key, blyt_key(KEYS_URL, k, key), NULL);
    assert_int_equal(status, BLY_ETOOBIG);
    assert_true(any_parts(f) > 70 && any_parts(f) < 90);
    for (uint64_t i = 0; i + 1 < k; i++)
        assert_true(any_contains(f, key, blyt_key(KEYS_URL, i, key)));
    any_destroy(f);
}

/* Random adds and removes in a single sub-filter. All members are found, and the number of items is
 * exact. */
static void test_programs(void **state) {
    (void)state;
    enum { KEYS = 400 };
    for (uint64_t seed = 0; seed < 60 / BLYT_SLOW + 2; seed++) {
        uint64_t random = seed;
        unsigned copies[KEYS] = {0}, total = 0;
        any f = any_cuckoo(1024, 1 + (uint32_t)seed % 4 * 3, 100, 0);
        char key[BLYT_KEY_MAX];
        for (int i = 0; i < 4000; i++) {
            size_t k = blyt_next(&random) % KEYS, len = blyt_key(KEYS_URL, k, key);
            if (blyt_next(&random) % 2 && total < 500) {
                bly_status status = any_add(f, key, len, NULL);
                assert_true(status == BLY_OK || status == BLY_EFULL);
                copies[k] += status == BLY_OK;
                total += status == BLY_OK;
            } else if (copies[k] > 0) {
                assert_true(bly_rb_cuckoo_remove(f.cuckoo, key, len));
                copies[k]--;
                total--;
            }
            k = blyt_next(&random) % KEYS;
            len = blyt_key(KEYS_URL, k, key);
            assert_true(bly_rb_cuckoo_copies(f.cuckoo, key, len) >= copies[k]);
            assert_true(copies[k] == 0 || any_contains(f, key, len));
        }
        assert_int_equal(bly_rb_cuckoo_get_info(f.cuckoo).items, total);
        for (size_t k = 0; k < KEYS; k++)
            for (; copies[k] > 0; copies[k]--)
                assert_true(bly_rb_cuckoo_remove(f.cuckoo, key, blyt_key(KEYS_URL, k, key)));
        bly_bytes slots = any_part(f, 0);
        for (size_t i = 0; i < slots.size; i++)
            assert_int_equal(((const uint8_t *)slots.data)[i], 0);
        any_destroy(f);
    }
}

/* Without removes, keys stay in the filter, however often it grows. */
static void test_growth(void **state) {
    (void)state;
    const size_t n = 30000 / BLYT_SLOW;
    blyt_list l = blyt_list_of(KEYS_LITTLE, 0, n);
    any grown[] = {any_bloom(0.01, 1, 2),         any_bloom(0.2, n / 20, 1),
                   any_bloom(0.01, 3, 300),       any_cuckoo(4, 2, 20, 2),
                   any_cuckoo(n / 20, 4, 500, 1), any_cuckoo(1, 1, 1, 1024)};
    for (size_t i = 0; i < COUNT_OF(grown); i++) {
        assert_ok(any_add_many(grown[i], l.keys, n, NULL, NULL));
        assert_true(any_parts(grown[i]) > 2);
        assert_int_equal(any_contains_many(grown[i], l.keys, n, NULL), n);
        any_destroy(grown[i]);
    }
    blyt_list_free(&l);
}

/* If the newest keys are removed, the filter shrinks to few sub-filters, and keeps the other
 * keys. */
static void test_compaction(void **state) {
    (void)state;
    char key[BLYT_KEY_MAX];
    any f = any_cuckoo(256, 4, 50, 2);
    bly_rb_cuckoo_info i;
    for (uint64_t k = 0; k < 3000; k++)
        assert_ok(any_add(f, key, blyt_key(KEYS_RANDOM, k, key), NULL));
    uint64_t filters = bly_rb_cuckoo_get_info(f.cuckoo).filters, missing = 0;
    assert_true(filters >= 4);
    for (uint64_t k = 2999; k >= 100; k--)
        bly_rb_cuckoo_remove(f.cuckoo, key, blyt_key(KEYS_RANDOM, k, key));
    i = bly_rb_cuckoo_get_info(f.cuckoo);
    assert_true(i.filters < filters);
    assert_true(i.items >= 100 && i.items < 110);
    assert_true(i.deletes <= i.items / 10 || i.filters == 1);
    /* At most 10 keys may be missing: some removes may have removed other keys (see
     * redisbloom.h). */
    for (uint64_t k = 0; k < 100; k++)
        missing += !any_contains(f, key, blyt_key(KEYS_RANDOM, k, key));
    assert_true(missing <= 10);
    any_destroy(f);

    /* bly_rb_cuckoo_compact moves fingerprints, but loses none. */
    blyt_list l = blyt_list_of(KEYS_URL, 0, 400);
    f = any_cuckoo(64, 2, 20, 2);
    assert_ok(any_add_many(f, l.keys, l.n, NULL, NULL));
    bly_rb_cuckoo_compact(f.cuckoo);
    assert_int_equal(any_contains_many(f, l.keys, l.n, NULL), l.n);
    assert_int_equal(bly_rb_cuckoo_get_info(f.cuckoo).items, l.n);
    any_destroy(f);
    blyt_list_free(&l);
}

static double rate(any f) {
    char key[BLYT_KEY_MAX];
    unsigned found = 0, n = 200000 / BLYT_SLOW;
    for (unsigned i = 0; i < n; i++)
        found += any_contains(f, key, blyt_key(KEYS_DECIMAL, 10000000 + i, key));
    return found / (double)n;
}

static void test_rates(void **state) {
    (void)state;
    const size_t n = 100000 / BLYT_SLOW;
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, n);
    any f = any_bloom(0.01, 100, 2);
    assert_ok(any_add_many(f, l.keys, n, NULL, NULL));
    assert_true(rate(f) <= 0.011 && rate(f) > 0.001);
    any_destroy(f);
    f = any_bloom(0.02, n, 2); /* one link, whose requested rate is half of 0.02 */
    assert_ok(any_add_many(f, l.keys, n, NULL, NULL));
    assert_true(rate(f) <= 0.0115 && rate(f) > 0.007);
    any_destroy(f);
    f = any_cuckoo(n, 4, 500, 1); /* a lookup compares 8 slots; a fingerprint has 255 values */
    assert_ok(any_add_many(f, l.keys, n, NULL, NULL));
    double full = (double)n / (double)any_data_bytes(f);
    assert_int_equal(any_parts(f), 1);
    assert_true(fabs(rate(f) - 8 * full / 255) < 0.004);
    any_destroy(f);
    blyt_list_free(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),     cmocka_unit_test(test_murmur),
        cmocka_unit_test(test_modulus),   cmocka_unit_test(test_information),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_batches),
        cmocka_unit_test(test_full),      cmocka_unit_test(test_copies),
        cmocka_unit_test(test_last_link), cmocka_unit_test(test_programs),
        cmocka_unit_test(test_growth),    cmocka_unit_test(test_compaction),
        cmocka_unit_test(test_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
