/* test_custom_filters.c - filters with custom hash functions: measured rates with weak functions,
 * and files: the form recorded in the file (mixed or raw) applies, whichever form the caller
 * passes. */
#include "store_support.h"

#include <bloomery/host/chunks.h>

enum { TAG = 0x676f6c64 }; /* also the tag of the golden files */

/* ---- custom hash functions ------------------------------------------------------------------- */

static uint64_t fnv1a_64(const void *key, size_t len) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t fnv1_64(const void *key, size_t len) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        h = h * UINT64_C(0x100000001b3) ^ ((const uint8_t *)key)[i];
    return h;
}

static uint32_t fnv1a_32(const void *key, size_t len) {
    uint32_t h = UINT32_C(0x811c9dc5);
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * UINT32_C(0x01000193);
    return h;
}

static uint32_t fnv1_32(const void *key, size_t len) {
    uint32_t h = UINT32_C(0x811c9dc5);
    for (size_t i = 0; i < len; i++)
        h = h * UINT32_C(0x01000193) ^ ((const uint8_t *)key)[i];
    return h;
}

static bly_hash double_fnv(void *user, const void *key, size_t len) {
    (void)user;
    return (bly_hash){fnv1a_64(key, len), fnv1_64(key, len)};
}

static bly_hash halves_of_32_bits(void *user, const void *key, size_t len) {
    (void)user;
    return (bly_hash){fnv1a_32(key, len), fnv1_32(key, len)};
}

static bly_hash same_word_twice(void *user, const void *key, size_t len) {
    (void)user;
    return (bly_hash){fnv1a_64(key, len), fnv1a_64(key, len)};
}

static bly_hash only_hi(void *user, const void *key, size_t len) {
    (void)user;
    return (bly_hash){0, fnv1a_64(key, len)};
}

static bly_hash single_32_bits(void *user, const void *key, size_t len) {
    (void)user;
    return (bly_hash){XXH64(key, len, 0) & UINT32_MAX, 0};
}

typedef struct function {
    const char *name;
    bly_hash_fn fn;
    unsigned bits;
} function;

static const function functions[] = {
    {"double FNV", double_fnv, 64},           {"32-bit halves", halves_of_32_bits, 64},
    {"same word twice", same_word_twice, 64}, {"lo is 0", only_hi, 64},
    {"32 bits", single_32_bits, 32},
};

/* ---- rates ----------------------------------------------------------------------------------- */

/* Asserts that single lookups answer like a batch. Returns how many keys are found. */
static size_t look_up(const bly_filter *f, const blyt_list *l) {
    uint8_t *found = malloc(l->n);
    assert_non_null(found);
    size_t hits = bly_filter_contains_many(f, l->keys, l->n, found);
    for (size_t i = 0; i < l->n; i++)
        assert_int_equal(bly_filter_contains(f, l->keys[i].data, l->keys[i].size), found[i]);
    free(found);
    return hits;
}

static void judge_rate(const char *what, const char *kind, blyt_keys keys, double hits, double n,
                       double fpr) {
    double sigma = sqrt(n * fpr * (1 - fpr));
    if (fabs(hits - n * fpr) > 5 * sigma)
        fail_msg("%s, %s, key set %d: measured %.4f%%, not %.4f%%: %.1f sigma", what, kind, keys,
                 100 * hits / n, 100 * fpr, (hits - n * fpr) / sigma);
}

/* Asserts that the measured rate is the expected one, and not significantly above the requested
 * one. */
static void check_rate(const function *by, bly_kind kind, blyt_keys set, size_t keys, double fpr,
                       size_t lookups) {
    bly_spec spec = bly_spec_for(kind, keys, fpr);
    assert_ok(bly_hasher_custom(&spec.hasher, by->fn, NULL, by->bits, 1));
    blyt_list members = blyt_list_of(set, 0, keys), others = blyt_list_of(set, keys, lookups);
    bly_filter *f = blyt_filled(&spec, &members);
    bly_geometry g = bly_filter_geometry(f);
    double expected = bly_plan_fpr(&g, keys, by->bits), n = (double)lookups;
    assert_true(expected <= fpr);
    assert_int_equal(look_up(f, &members), keys);
    double hits = (double)look_up(f, &others);
    judge_rate(by->name, bly_kind_name(kind), set, hits, n, expected);
    if (hits > n * fpr)
        judge_rate(by->name, bly_kind_name(kind), set, hits, n, fpr);
    blyt_list_free(&members);
    blyt_list_free(&others);
    bly_filter_destroy(f);
}

/* With 250,000 lookups, a rate of 1% that is off by a tenth is detected at five sigma. */
static void weak_functions_keep_the_rate(void **state) {
    (void)state;
    static const bly_kind kinds[] = {BLY_SBBF, BLY_SPLIT512, BLY_CUCKOO};
    static const blyt_keys sets[] = {KEYS_DECIMAL, KEYS_LITTLE, KEYS_BIG, KEYS_URL};
    for (size_t i = 0; i < COUNT_OF(functions); i++)
        for (size_t j = 0; j < COUNT_OF(kinds); j++)
            for (size_t k = 0; k < COUNT_OF(sets); k++)
                check_rate(&functions[i], kinds[j], sets[k], 100000, 0.01, 250000);
}

/* With the most keys that a 32-bit function allows at 0.1% (429,496), a tenth of the rate comes
 * from its collisions. One more key is refused. */
static void bits_are_counted_honestly(void **state) {
    (void)state;
    const function *by = &functions[COUNT_OF(functions) - 1];
    bly_filter *f;
    bly_spec spec = bly_spec_for(BLY_SPLIT512, 429497, 0.001);
    assert_ok(bly_hasher_custom(&spec.hasher, by->fn, NULL, 32, 1));
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
    check_rate(by, BLY_SPLIT512, KEYS_URL, 429496, 0.001, 2500000 / BLYT_SLOW);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Returns a hasher with the function of the golden files. Its hashes are good enough for every kind
 * also if they are not mixed (raw). */
static bly_hasher custom_of(bool raw, uint64_t tag) {
    bly_hasher h = custom_hasher(tag);
    if (raw)
        assert_ok(bly_hasher_custom_raw(&h, h.custom, h.user, 64, tag));
    return h;
}

static bly_status peek_buffer(void *ctx, uint64_t at_byte, void *to, size_t n) {
    const blyt_buffer *im = ctx;
    memcpy(to, im->data + at_byte, n);
    return BLY_OK;
}

/* Asserts that g uses the form in the file, answers like f, and writes the same bytes. */
static void assert_opened(const bly_filter *f, const bly_filter *g, blyt_buffer im) {
    assert_int_equal(bly_filter_hasher(g)->id, bly_filter_hasher(f)->id);
    assert_int_equal(bly_filter_hasher(g)->id, im.data[6]);
    assert_same(f, g);
    blyt_buffer again = blyt_write(g);
    assert_int_equal(again.size, im.size);
    assert_memory_equal(again.data, im.data, im.size);
    free(again.data);
}

/* Opens the file in every way with `given`, a hasher with the right tag in either form. */
static void check_opened_with(const bly_filter *f, blyt_buffer im, const bly_hasher *given) {
    const bly_open_options with = {.struct_size = sizeof with, .hasher = given};
    const bly_open_options without = {.struct_size = sizeof without, .flags = BLY_OPEN_WITHOUT_KEY};
    const bly_chunk_source source = {
        .size = im.size, .peek = peek_buffer, .read = peek_buffer, .ctx = &im};
    bly_filter *g;
    bly_map *map;
    assert_ok(bly_filter_parse(im.data, im.size, &with, &g));
    assert_opened(f, g, im);
    bly_filter_destroy(g);
    assert_ok(bly_filter_read_chunks(&source, &with, &g));
    assert_opened(f, g, im);
    bly_filter_destroy(g);
    assert_ok(bly_filter_save(f, at("custom.bly")));
    assert_ok(bly_filter_load(at("custom.bly"), &with, &g));
    assert_opened(f, g, im);
    bly_filter_destroy(g);
    assert_ok(bly_map_open(at("custom.bly"), &with, &map));
    assert_opened(f, bly_map_filter(map), im);
    bly_map_close(map);

    const bly_hasher wrong = custom_of(given->id == BLY_HASH_CUSTOM_RAW, TAG + 1);
    assert_refused(im,
                   &(bly_open_options){.struct_size = sizeof(bly_open_options), .hasher = &wrong},
                   BLY_EKEY);
    assert_ok(bly_filter_parse(im.data, im.size, &without, &g));
    assert_int_equal(bly_filter_set_hasher(g, &wrong), BLY_EKEY);
    assert_null(bly_filter_hasher(g));
    assert_ok(bly_filter_set_hasher(g, given));
    assert_opened(f, g, im);
    bly_filter_destroy(g);
}

static void files_decide_the_form(void **state) {
    (void)state;
    const bly_hasher hashers[] = {custom_of(false, TAG), custom_of(true, TAG)};
    for (size_t i = 0; i < shape_count(); i++)
        for (int made = 0; made < 2; made++) {
            bly_geometry shape = shape_at(i);
            bly_filter *f = filled(shape, &hashers[made], 40);
            blyt_buffer im = blyt_write(f);
            bool raw = made == 1 || shape.options & BLY_TEXTBOOK;
            assert_int_equal(im.data[6], raw ? BLY_HASH_CUSTOM_RAW : BLY_HASH_CUSTOM);
            assert_true(shape_can(shape, BLY_CARDINALITY_ONLY) || contains_all(f, 40));
            check_opened_with(f, im, &hashers[0]);
            check_opened_with(f, im, &hashers[1]);
            free(im.data);
            bly_filter_destroy(f);
        }
}

/* `found` is how many of the first 20,000 golden keys each file contains, computed with
 * check_format.py. The first file is from version 0.1. */
static void golden_files_with_either_form(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bly_hash_id id;
        int keys, found;
    } files[] = {
        {"custom-bb2x512.bly", BLY_HASH_CUSTOM_RAW, 50, 50},
        {"custom-textbook.bly", BLY_HASH_CUSTOM_RAW, 40, 42},
        {"custom-mixed-sbbf.bly", BLY_HASH_CUSTOM, 50, 50},
    };
    const bly_hasher given[] = {custom_of(false, TAG), custom_of(true, TAG)};
    for (size_t i = 0; i < 2 * COUNT_OF(files); i++) {
        const bly_open_options o = {.struct_size = sizeof o, .hasher = &given[i % 2]};
        char path[PATH_MAX], key[32];
        bly_filter *f;
        int found = 0;
        (void)snprintf(path, sizeof path, "%s/good/%s", BLYT_GOLDEN_DIR, files[i / 2].name);
        assert_ok(bly_filter_load(path, &o, &f));
        assert_int_equal(bly_filter_hasher(f)->id, files[i / 2].id);
        for (int j = 0; j < 20000; j++) {
            bool there = bly_filter_contains(f, key, (size_t)key_text(key, "golden", j));
            assert_true(there || j >= files[i / 2].keys);
            found += there;
        }
        assert_int_equal(found, files[i / 2].found);
        bly_filter_destroy(f);
    }
}

/* ---- both forms ------------------------------------------------------------------------------ */

/* A textbook filter does not mix the custom function's hashes. A key that is added by its hash,
 * computed with the hasher of the filter, is found. */
static void textbook_filters_are_raw(void **state) {
    (void)state;
    bly_spec spec = bly_spec_for(BLY_CLASSIC, 1000, 0.01);
    bly_filter *f, *g;
    bly_filter_info stats = {.struct_size = sizeof stats};
    spec.hasher = custom_of(false, TAG);
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_hasher(f)->id, BLY_HASH_CUSTOM);
    bly_filter_get_info(f, &stats);
    assert_string_equal(stats.hash_name, "custom");
    spec.geometry.options = BLY_TEXTBOOK;
    assert_ok(bly_filter_create(&spec, &g));
    const bly_hasher *own = bly_filter_hasher(g);
    assert_int_equal(own->id, BLY_HASH_CUSTOM_RAW);
    bly_filter_get_info(g, &stats);
    assert_string_equal(stats.hash_name, "custom-raw");
    assert_ok(bly_filter_add_hash(g, bly_hash_key(own, "key", 3), NULL));
    assert_true(bly_filter_contains(g, "key", 3));
    const bly_hash h = bly_hash_key(own, "key", 3), want = own->custom(own->user, "key", 3);
    assert_true(h.lo == want.lo && h.hi == want.hi);
    bly_filter_destroy(f);
    bly_filter_destroy(g);
}

static void forms_do_not_combine(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_spec spec = blyt_spec(c, 100, 0.01);
        blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 1);
        spec.hasher = custom_of(false, TAG);
        bly_filter *mixed = blyt_filled(&spec, &l);
        spec.hasher = custom_of(true, TAG);
        bly_filter *raw = blyt_filled(&spec, &l);
        bly_status want = blyt_can(c, BLY_CAN_UNION) ? BLY_EMISMATCH : BLY_EUNSUPPORTED;
        bool textbook = spec.geometry.options & BLY_TEXTBOOK;
        if (!textbook) {
            assert_int_equal(bly_filter_compatible(mixed, raw), BLY_EMISMATCH);
            assert_int_equal(bly_filter_union(mixed, raw), want);
            assert_false(bly_filter_equal(mixed, raw));
        } else
            assert_true(bly_filter_equal(mixed, raw));
        blyt_list_free(&l);
        bly_filter_destroy(mixed);
        bly_filter_destroy(raw);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(weak_functions_keep_the_rate), IN_SCRATCH(bits_are_counted_honestly),
        IN_SCRATCH(files_decide_the_form),        IN_SCRATCH(golden_files_with_either_form),
        IN_SCRATCH(textbook_filters_are_raw),     IN_SCRATCH(forms_do_not_combine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
