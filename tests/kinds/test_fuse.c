/* Binary fuse filters: every set of keys can be built, no key is missed, and rate and size are as
 * planned. The solver agrees with plain Gaussian elimination. BLOOMERY_LONG in the environment runs
 * the whole range of sizes. */
#include "store_support.h"
#include "support.h"

#include "base/memory.h"
#include "filter/filter.h"
#include "filter/kind.h"
#include "kinds/fuse/fuse_layout.h"

#include <math.h>

static bly_filter *fuse(const blyt_list *l, size_t n, double p, uint64_t seed) {
    bly_spec spec = bly_spec_for(BLY_FUSE, 0, p);
    bly_filter *f = NULL;
    spec.seed = seed;
    assert_ok(bly_filter_build(&spec, l->keys, n, &f));
    return f;
}

static double slots_per_key(const bly_filter *f) {
    return (double)bly_filter_geometry(f).size / (double)bly_filter_count(f);
}

/* ---- every set can be built ------------------------------------------------------------------ */

/* Builds a filter of the first n keys; with `repeats`, half of them are added twice. */
static void build_one(const blyt_list *l, size_t n, bool repeats, uint64_t seed) {
    bly_spec spec = bly_spec_for(BLY_FUSE, 0, 0.01);
    bly_builder *b;
    bly_filter *f;
    spec.seed = seed;
    assert_ok(bly_builder_create(
        &spec, &(bly_build_options){.struct_size = sizeof(bly_build_options), .threads = 1}, &b));
    assert_ok(bly_builder_add(b, l->keys, n));
    if (repeats)
        assert_ok(bly_builder_add(b, l->keys, n / 2));
    assert_ok(bly_builder_finish(b, &f));
    bly_builder_destroy(b);
    assert_int_equal(bly_filter_count(f), n);
    assert_int_equal(bly_filter_contains_many(f, l->keys, n, NULL), n);
    assert_true(n < 64 || slots_per_key(f) < 3);
    bly_filter_destroy(f);
}

static void every_size(void **state) {
    static const blyt_keys sets[] = {KEYS_RANDOM, KEYS_SHIFTED};
    const size_t to = blyt_long() ? 2000 : 300, most = blyt_long() ? (1 << 20) + 1 : (1 << 17) + 1;
    (void)state;
    for (size_t k = 0; k < COUNT_OF(sets); k++) {
        const size_t last = blyt_large() || k == 0 ? most : (1 << 14) + 1;
        blyt_list l = blyt_list_of(sets[k], 1, last);
        for (size_t n = 1; n <= to; n++)
            build_one(&l, n, n % 2, n);
        for (size_t n = to; n <= 2000; n += 37)
            build_one(&l, n, true, n);
        for (size_t n = 11400; n <= 11600; n += blyt_long() ? 1 : k == 0 || blyt_large() ? 10 : 50)
            build_one(&l, n, n % 2, n);
        for (size_t n = 4; n < last; n *= 2) {
            build_one(&l, n - 1, false, 1);
            build_one(&l, n, true, 2);
            build_one(&l, n + 1, false, 3);
        }
        blyt_list_free(&l);
    }
}

/* Sizes at which other builders are known to fail for a quarter of all sets of keys. */
static void many_seeds(void **state) {
    static const size_t sizes[] = {2, 5, 17, 100, 1000, 11500};
    blyt_list l = blyt_list_of(KEYS_LITTLE, 0, 11500);
    const uint64_t seeds = (blyt_long() ? 1000U : blyt_large() ? 100U : 40U) / BLYT_SLOW;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (uint64_t seed = 1; seed <= seeds; seed++)
            build_one(&l, sizes[i], false, seed);
    blyt_list_free(&l);
}

static void in_shards(void **state) {
    const size_t n = blyt_long() ? 20000000 : (blyt_large() ? 3000000U : 2100000U) / BLYT_SLOW;
    blyt_list l = {calloc(n, sizeof *l.keys), malloc(n * 8), n};
    (void)state;
    assert_non_null(l.keys);
    assert_non_null(l.bytes);
    for (size_t i = 0; i < n; i++) {
        char key[BLYT_KEY_MAX];
        (void)blyt_key(KEYS_SHIFTED, i, key);
        memcpy(l.bytes + 8 * i, key, 8);
        l.keys[i] = (bly_bytes){l.bytes + 8 * i, 8};
    }
    bly_filter *f = fuse(&l, n, 0.01, 0);
    bly_geometry g = bly_filter_geometry(f);
    if (n > 2000000)
        assert_true(blyi_fuse_shards(&g) >= n / 2000000);
    assert_int_equal(bly_filter_count(f), n);
    assert_int_equal(bly_filter_contains_many(f, l.keys, n, NULL), n);
    bly_filter_destroy(f);
    blyt_list_free(&l);
}

static void nothing(void **state) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 1000);
    uint8_t found[1000];
    bly_hash h[1000];
    bly_filter *f, *some;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    assert_ok(blyt_build(BLY_FUSE, NULL, 0, 0.5, &f));
    some = fuse(&l, l.n, 0.5, 0);
    bly_filter_clear(some);
    for (int cleared = 0; cleared < 2; cleared++) {
        const bly_filter *empty = cleared ? some : f;
        memset(found, 1, sizeof found);
        assert_int_equal(bly_filter_contains_many(empty, l.keys, l.n, found), 0);
        for (size_t i = 0; i < l.n; i++)
            assert_true(found[i] == 0 && !bly_filter_contains(empty, l.keys[i].data, 8));
        bly_hash_keys(bly_filter_hasher(empty), l.keys, l.n, h);
        assert_int_equal(bly_filter_contains_hashes(empty, h, l.n, NULL), 0);
        bly_filter_get_info(empty, &s);
        assert_true(s.count == 0 && s.current_fpr == 0 && s.expected_fpr == 0);
    }
    assert_int_equal(bly_filter_capacity(f), 1);
    bly_filter_destroy(f);
    bly_filter_destroy(some);
    blyt_list_free(&l);
}

/* ---- size ------------------------------------------------------------------------------------ */

static void bits_per_key(void **state) {
    static const struct { double p, bits; } rates[] = {{0.01, 7.9}, {0.001, 11.3}, {0.0001, 15.8}};
    static const size_t sizes[] = {1000,    1500,    2000,    5000,    8192,    12288,
                                   30000,   100000,  200000,  400000,  740000,  1000000,
                                   1200000, 1500000, 2000000, 3100000, 10000000};
    const size_t some = blyt_long() ? 10000000 : 1000000;
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, some);
    bly_geometry g;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        const size_t most = blyt_long() || blyt_large() || i == 1 ? some : 100000;
        for (size_t j = 0; j < COUNT_OF(sizes) && sizes[j] <= most; j++) {
            bly_filter *f = fuse(&l, sizes[j], rates[i].p, 4);
            double bits = 8 * (double)(bly_filter_file_size(f) - HEADER) / (double)sizes[j];
            assert_true(bits < 1.02 * rates[i].bits && bits > 0.97 * rates[i].bits);
            bly_filter_destroy(f);
        }
        for (uint64_t n = 1000; n <= UINT64_C(1000000000); n *= 10) {
            assert_ok(bly_plan(BLY_FUSE, n, rates[i].p, 0, 128, &g));
            assert_true(8 * (double)bly_plan_bytes(&g) < 1.02 * rates[i].bits * (double)n);
        }
    }
    /* With few keys, the minimum size of a filter matters: 64 bytes. */
    for (size_t n = 1; n < 1000; n++) {
        bly_filter *f = fuse(&l, n, 0.01, 4);
        double bits = 8 * (double)(bly_filter_file_size(f) - HEADER);
        assert_true(bits <= 8.06 * (double)n + 512 + 64);
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
}

/* The built filter has the planned geometry. */
static void planned_as_built(void **state) {
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 300000);
    bly_geometry g, h;
    (void)state;
    for (size_t n = 1; n <= l.n; n = n * 3 + 1) {
        bly_filter *f = fuse(&l, n, 0.01, 9);
        assert_ok(bly_plan(BLY_FUSE, n, 0.01, 0, 64, &g));
        h = bly_filter_geometry(f);
        assert_true(h.hashes == g.hashes && h.size >= g.size && h.size <= 2 * g.size);
        bly_filter_destroy(f);
    }
    for (uint64_t n = 1; n < UINT64_C(1) << 40; n = n * 7 + 3) {
        bly_status status = bly_plan(BLY_FUSE, n, 1e-3, 0, 128, &g);
        assert_ok(status);
        assert_ok(bly_plan_check(&g));
        assert_true(g.hashes == 10 && bly_plan_capacity(&g, 1e-3, 128) >= n);
        assert_true(bly_plan_fpr(&g, n, 128) <= 1e-3 && bly_plan_bytes(&g) % 64 == 0);
        assert_true(n < 1000000 || (double)g.size < 1.15 * (double)n);
    }
    blyt_list_free(&l);
}

static void geometries(void **state) {
    const bly_geometry right = {BLY_FUSE, 7, 2 * 5 * 64, 0, 32 * 1 + 6};
    bly_geometry g;
    (void)state;
    assert_ok(bly_plan_check(&right));
    assert_int_equal(blyi_planner_of(BLY_FUSE)->width(&right), 7);
#define REFUSED(change, want)                                                                      \
    do {                                                                                           \
        g = right;                                                                                 \
        change;                                                                                    \
        assert_int_equal(bly_plan_check(&g), want);                                                \
    } while (0)
    REFUSED(g.hashes = 0, BLY_EGEOMETRY);
    REFUSED(g.hashes = 29, BLY_EGEOMETRY);
    REFUSED(g.size += 1, BLY_EGEOMETRY);
    REFUSED(g.size += 64, BLY_EGEOMETRY);        /* 11 segments: not equal in two shards */
    REFUSED(g.size = 2 * 2 * 64, BLY_EGEOMETRY); /* two segments */
    REFUSED(g.size = 0, BLY_EGEOMETRY);
    REFUSED(g.detail = 32 * 1 + 1, BLY_EGEOMETRY);
    REFUSED(g.detail = 32 * 1 + 15, BLY_EGEOMETRY);
    REFUSED((g.detail = 32 * 2 + 6, g.size = 3 * 5 * 64), BLY_EGEOMETRY); /* three shards */
    REFUSED(g.detail = 65536, BLY_EGEOMETRY);
    REFUSED(g.options = BLY_FOLDABLE, BLY_EGEOMETRY);
    REFUSED((g.detail = 0, g.size = 3), BLY_OK); /* the small form */
    REFUSED((g.detail = 0, g.size = 3 << 14), BLY_OK);
    REFUSED((g.detail = 0, g.size = 3 * ((1 << 14) + 1)), BLY_EGEOMETRY);
    REFUSED((g.detail = 0, g.size = 100), BLY_EGEOMETRY);
    REFUSED((g.detail = 0, g.size = 0), BLY_EGEOMETRY);
    REFUSED((g.detail = 32, g.size = 6), BLY_EGEOMETRY); /* the small form has no shards */
    REFUSED(g.size = UINT64_C(1) << 63, BLY_ETOOBIG);
    REFUSED(g.size = UINT64_C(1) << 46, BLY_ETOOBIG);
    REFUSED((g.hashes = 1, g.size = UINT64_C(1) << 48), BLY_ETOOBIG);
#undef REFUSED
    assert_int_equal(bly_plan(BLY_FUSE, 10, 0x1p-29, 0, 128, &g), BLY_ERATE);
    assert_int_equal(bly_plan(BLY_FUSE, UINT64_C(1) << 47, 0.01, 0, 128, &g), BLY_ETOOBIG);
    for (unsigned r = 1; r <= 28; r++) { /* a rate of 2^-r needs exactly r bits */
        assert_ok(bly_plan(BLY_FUSE, 1000000, ldexp(1, -(int)r), 0, 128, &g));
        assert_int_equal(g.hashes, r);
        assert_ok(bly_plan(BLY_FUSE, 1000, ldexp(1.5, -(int)r), 0, 128, &g));
        assert_int_equal(g.hashes, r);
    }
}

/* ---- rate ------------------------------------------------------------------------------------ */

/* Asserts that the measured rate is within five sigma of 2^-r. At most 2500 * 2^r lookups are made,
 * with which five sigma are at most a tenth. */
static void check_rate(blyt_keys set, size_t n, unsigned r, uint64_t queries) {
    enum { SOME = 8192 };
    const uint64_t enough = UINT64_C(2500) << r;
    blyt_list l = blyt_list_of(set, 0, n);
    bly_filter *f = fuse(&l, n, ldexp(1, -(int)r), n + r);
    double p = ldexp(1, -(int)r), hits = 0;
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    assert_true(fabs(s.current_fpr / p - 1) < 1e-6 && s.current_fpr == s.expected_fpr);
    assert_true(s.set_bits == s.bits && s.fill == 1 && s.estimated_keys == (double)s.count);
    if (queries > enough)
        queries = enough;
    for (uint64_t done = 0; done < queries; done += SOME) {
        blyt_list q = blyt_list_of(set, (UINT64_C(1) << 24) + done, SOME);
        hits += (double)bly_filter_contains_many(f, q.keys, q.n, NULL);
        blyt_list_free(&q);
    }
    double asked = ceil((double)queries / SOME) * SOME;
    if (fabs(hits - asked * p) > 5 * sqrt(asked * p * (1 - p)))
        fail_msg("set %d n %zu r %u: %g hits of %g expected", (int)set, n, r, hits, asked * p);
    bly_filter_destroy(f);
    blyt_list_free(&l);
}

static void rates(void **state) {
    static const size_t sizes[] = {1, 2, 10, 100, 1000, 10000, 200000};
    const uint64_t queries = UINT64_C(2000000) / BLYT_SLOW;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        check_rate(KEYS_RANDOM, sizes[i], 7, queries / 2);
    for (blyt_keys set = KEYS_RANDOM; set < KEYS_SETS; set++)
        check_rate(set, 20000, 8, queries / 2);
    for (unsigned r = 1; r <= 28; r += r < 12 ? 1 : 4)
        check_rate(KEYS_LITTLE, 5000, r, queries / 2);
    check_rate(KEYS_URL, 5000, 14, blyt_large() ? 4 * queries : queries / 2);
    if (blyt_long())
        check_rate(KEYS_RANDOM, 3000000, 10, 10 * queries);
}

/* The filter works with every hash function. */
static void hash_functions(void **state) {
    blyt_list l = blyt_list_of(KEYS_LITTLE, 0, 20000),
              q = blyt_list_of(KEYS_LITTLE, 1 << 24, 160000); /* 64 * 2500: 5 sigma are a tenth */
    (void)state;
    for (unsigned id = 1; id < 64; id++) {
        bly_spec spec = bly_spec_for(BLY_FUSE, 0, 1.0 / 64);
        bly_filter *f;
        bly_filter_info s = {.struct_size = sizeof s};
        if (bly_hasher_init(&spec.hasher, (bly_hash_id)id, 77) != BLY_OK)
            continue;
        assert_ok(bly_filter_build(&spec, l.keys, l.n, &f));
        assert_int_equal(bly_filter_contains_many(f, l.keys, l.n, NULL), l.n);
        bly_filter_get_info(f, &s); /* a 32-bit hash collides: 7 bits are needed, not 6 */
        double hits = (double)bly_filter_contains_many(f, q.keys, q.n, NULL), p = s.current_fpr;
        assert_true(fabs(hits - (double)q.n * p) < 5 * sqrt((double)q.n * p * (1 - p)));
        assert_true(p < 1.0000001 / 64);
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
    blyt_list_free(&q);
}

/* ---- use ------------------------------------------------------------------------------------- */

/* Single lookups, batches and lookups by hash agree, for slots of every width. */
static void batches(void **state) {
    enum { SMALL = 1000, LONG = 15000, ALL = 16000 };
    static const unsigned widths[] = {1, 7, 9, 10, 16, 25, 26, 28};
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, ALL);
    static uint8_t one[ALL], many[ALL], hashed[ALL];
    static bly_hash h[ALL];
    (void)state;
    for (size_t w = 0; w < 2 * COUNT_OF(widths); w++) {
        const size_t held = w % 2 ? SMALL : LONG;
        bly_filter *f = fuse(&l, held, ldexp(1, -(int)widths[w / 2]), 3);
        assert_int_equal(bly_filter_geometry(f).detail == 0, held == SMALL);
        for (size_t i = 0; i < l.n; i++)
            one[i] = bly_filter_contains(f, l.keys[i].data, l.keys[i].size);
        bly_hash_keys(bly_filter_hasher(f), l.keys, l.n, h);
        for (size_t n = 0; n < 200; n++) {
            size_t from = held - 10;
            memset(many, 9, sizeof many);
            memset(hashed, 9, sizeof hashed);
            size_t hits = bly_filter_contains_many(f, l.keys + from, n, many);
            assert_int_equal(bly_filter_contains_hashes(f, h + from, n, hashed), hits);
            assert_memory_equal(many, one + from, n);
            assert_memory_equal(hashed, one + from, n);
            assert_true(many[n] == 9 && hashed[n] == 9);
        }
        assert_int_equal(bly_filter_contains_many(f, l.keys, held, NULL), held);
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
}

static void cannot_be_changed(void **state) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 100);
    bly_filter *f = fuse(&l, 100, 0.01, 0), *other = fuse(&l, 100, 0.01, 0), *folded;
    bly_overlap o;
    bool was = true;
    (void)state;
    assert_int_equal(bly_kind_capabilities(BLY_FUSE), BLY_CAN_MAP | BLY_CAN_BUILD);
    assert_int_equal(bly_filter_add(f, "x", 1, &was), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_add_many(f, l.keys, l.n, NULL, NULL), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_add_hash(f, (bly_hash){1, 2}, NULL), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_add_hashes(f, &(bly_hash){1, 2}, 1, NULL, NULL), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_remove(f, "x", 1, NULL), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_union(f, other), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_intersect(f, other), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_subtract(f, other), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_overlap(f, other, &o), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_fold(f, 2, NULL, &folded), BLY_EUNSUPPORTED);
    assert_non_null(bly_filter_why_not(BLY_OP_UNION, f, other));
    assert_true(was && bly_filter_equal(f, other));
    bly_filter_destroy(f);
    bly_filter_destroy(other);
    blyt_list_free(&l);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void saved_and_back(void **state) {
    static const size_t sizes[] = {0, 1, 10, 500};
    blyt_list l = blyt_list_of(KEYS_URL, 0, 500);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        bly_filter *f = fuse(&l, sizes[i], 0.001, 0x5eed), *back;
        blyt_buffer im = blyt_write(f);
        bly_file_info info = {.struct_size = sizeof info};
        bly_map *map;
        assert_ok(bly_filter_clone(f, NULL, &back));
        assert_same(f, back);
        bly_filter_destroy(back);
        assert_ok(bly_filter_save(f, at("fuse.bly")));
        assert_ok(bly_filter_load(at("fuse.bly"), NULL, &back));
        assert_same(f, back);
        assert_int_equal(bly_filter_contains_many(back, l.keys, sizes[i], NULL), sizes[i]);
        bly_filter_destroy(back);
        assert_ok(bly_map_open(at("fuse.bly"), NULL, &map));
        assert_same(f, bly_map_filter(map));
        assert_int_equal(bly_filter_contains_many(bly_map_filter(map), l.keys, sizes[i], NULL),
                         sizes[i]);
        bly_map_close(map);
        assert_ok(bly_file_parse_info(im.data, im.size, &info));
        assert_true(info.geometry.kind == BLY_FUSE && info.count == sizes[i] && im.data[9] == 10);
        for (size_t byte = 0; byte < im.size; byte++) { /* every bit is protected by a checksum */
            im.data[byte] ^= (uint8_t)(1 << byte % 8);
            assert_int_not_equal(bly_filter_parse(im.data, im.size, NULL, &back), BLY_OK);
            im.data[byte] ^= (uint8_t)(1 << byte % 8);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
}

/* Asserts that bits between seeds and slots, and after the slots of a shard, must be 0. */
static void check_padding(const bly_geometry *g) {
    blyi_shape shape = {.geometry = *g, .capacity = 1, .items = 1, .fpr = 0.01};
    bly_filter *f, *back;
    assert_ok(bly_hasher_init(&shape.hasher, BLY_HASH_XXH3, 0));
    assert_ok(blyi_filter_make(&shape, NULL, NULL, &f));
    uint64_t heading = blyi_fuse_heading_bytes(g), each = blyi_fuse_shard_bytes(g);
    uint64_t shards = blyi_fuse_shards(g), end = 8 * f->body_bytes;
    assert_int_equal(f->body_bytes, heading + shards * each);
    for (uint64_t bit = 0; bit < end; bit++) {
        uint64_t past = bit < 8 * heading ? bit : (bit - 8 * heading) % (8 * each);
        bool used =
            bit < 8 * heading ? past < shards * 64 : past < blyi_fuse_shard_slots(g) * g->hashes;
        used |= g->detail == 0 && bit >= end - 8; /* the number of the seed */
        f->body[bit / 8] = (uint8_t)(1 << bit % 8);
        blyt_buffer im = blyt_write(f);
        bly_status status = bly_filter_parse(im.data, im.size, NULL, &back);
        assert_int_equal(status, used ? BLY_OK : BLY_ECORRUPT);
        bly_filter_destroy(back);
        free(im.data);
        f->body[bit / 8] = 0;
    }
    bly_filter_destroy(f);
}

static void padding_is_zero(void **state) {
    (void)state;
    check_padding(&(bly_geometry){BLY_FUSE, 7, 2 * 5 * 64, 0, 32 * 1 + 6});
    check_padding(&(bly_geometry){BLY_FUSE, 7, 3 * 23, 0, 0});
    check_padding(&(bly_geometry){BLY_FUSE, 10, 3 * 50, 0, 0});
}

/* Lookups in any body are safe: a sanitizer would report reads outside. */
static void any_body(void **state) {
    uint64_t random = 1;
    (void)state;
    for (unsigned turn = 0; turn < 3000 / BLYT_SLOW; turn++) {
        unsigned segment_log = 2 + (unsigned)(blyt_next(&random) % 5);
        unsigned shards = 1U << blyt_next(&random) % 5;
        uint64_t segments = 3 + blyt_next(&random) % 4;
        blyi_shape shape = {.capacity = 1, .items = 1, .fpr = 0.5};
        shape.geometry =
            (bly_geometry){BLY_FUSE, (uint32_t)(1 + turn / 2 % 28),
                           (segments << segment_log) * shards, 0, 32 * (shards - 1) + segment_log};
        if (turn % 2 == 0) { /* the small form */
            shape.geometry.size = 3 * (1 + blyt_next(&random) % 200);
            shape.geometry.detail = 0;
        }
        bly_filter *f;
        bly_hash h[64];
        bly_filter_info s = {.struct_size = sizeof s};
        size_t hits = 0;
        assert_ok(bly_hasher_init(&shape.hasher, BLY_HASH_XXH3, 0));
        assert_ok(bly_plan_check(&shape.geometry));
        uint8_t *body = NULL, *exact = NULL; /* the allocation ends where the body ends */
        size_t bytes = (size_t)bly_plan_bytes(&shape.geometry);
        assert_int_equal(posix_memalign((void **)&exact, 64, bytes), 0);
        body = exact;
        for (size_t i = 0; i < bytes; i++)
            body[i] = (uint8_t)blyt_next(&random);
        assert_ok(blyi_filter_make(&shape, NULL, body, &f));
        for (size_t i = 0; i < 64; i++)
            h[i] = (bly_hash){i < 8 ? -(uint64_t)(i & 1) : blyt_next(&random),
                              i < 8 ? -(uint64_t)(i >> 1 & 1) : blyt_next(&random)};
        size_t batch = bly_filter_contains_hashes(f, h, 64, NULL);
        for (size_t i = 0; i < 64; i++)
            hits += bly_filter_contains_hash(f, h[i]);
        assert_int_equal(hits, batch);
        bly_filter_get_info(f, &s);
        bly_filter_destroy(f);
        free(exact);
    }
}

/* ---- equations of three slots ---------------------------------------------------------------- */

enum { MAX = 400 };

/* ---- plain elimination ----------------------------------------------------------------------- */

/* Whether n equations are independent: then they have a solution for any right side. */
static bool independent(const blyi_fuse_equation *t, size_t n, size_t slots) {
    static uint8_t row[MAX][MAX];
    size_t rank = 0;
    memset(row, 0, sizeof row);
    for (size_t i = 0; i < n; i++)
        for (unsigned j = 0; j < 3; j++)
            row[i][t[i].slot[j]] = 1;
    for (size_t column = 0; column < slots && rank < n; column++) {
        size_t with = rank;
        while (with < n && !row[with][column])
            with++;
        if (with == n)
            continue;
        for (size_t s = 0; s < slots; s++) {
            uint8_t swap = row[with][s];
            row[with][s] = row[rank][s];
            row[rank][s] = swap;
        }
        for (size_t i = rank + 1; i < n; i++)
            for (size_t s = 0; row[i][column] && s < slots; s++)
                if (s != column)
                    row[i][s] ^= row[rank][s];
        rank++;
    }
    return rank == n;
}

/* ---- equations ------------------------------------------------------------------------------- */

/* Random equations: one slot in each third or, with `near`, in three adjacent segments of 4. */
static void make(blyi_fuse_equation *t, size_t n, size_t slots, bool near, uint64_t *random) {
    for (size_t i = 0; i < n; i++) {
        for (unsigned j = 0; j < 3; j++)
            t[i].slot[j] = (uint32_t)(slots / 3 * j + blyt_next(random) % (slots / 3));
        if (near) {
            size_t first = blyt_next(random) % (slots / 4 - 2);
            for (unsigned j = 0; j < 3; j++)
                t[i].slot[j] = (uint32_t)(4 * (first + j) + blyt_next(random) % 4);
        }
        t[i].sum = (uint32_t)blyt_next(random);
    }
}

static void assert_solved(const blyi_fuse_equation *t, size_t n, const uint32_t *value) {
    for (size_t i = 0; i < n; i++)
        assert_int_equal(value[t[i].slot[0]] ^ value[t[i].slot[1]] ^ value[t[i].slot[2]], t[i].sum);
}

/* The solver must succeed if and only if the equations are independent, as found by elimination. */
static void as_elimination(void **state) {
    const bly_allocator a = blyi_allocator_or_default(NULL);
    static blyi_fuse_equation t[MAX];
    static uint32_t value[MAX];
    unsigned solved = 0, not_solved = 0;
    uint64_t random = 1;
    (void)state;
    for (unsigned turn = 0; turn < 6000 / BLYT_SLOW; turn++) {
        bool near = turn % 3 == 0;
        size_t slots = 12 * (1 + blyt_next(&random) % (turn % 50 ? 8 : 33));
        size_t n = slots / 2 + blyt_next(&random) % (slots / 2 + 2);
        make(t, n, slots, near, &random);
        memset(value, 0, sizeof value);
        bly_status status = blyi_fuse_solve_equations(t, n, slots, value, &a);
        assert_true(status == BLY_OK || status == BLY_EFULL);
        assert_int_equal(status == BLY_OK, independent(t, n, slots));
        if (status == BLY_OK)
            assert_solved(t, n, value);
        solved += status == BLY_OK;
        not_solved += status == BLY_EFULL;
    }
    assert_true(solved > 1000 / BLYT_SLOW && not_solved > 1000 / BLYT_SLOW);
}

/* With 1.12 slots per equation, most large systems are solved; peeling alone would need 1.22. */
static void large(void **state) {
    const bly_allocator a = blyi_allocator_or_default(NULL);
    static const size_t sizes[] = {300, 3000, 9000};
    uint64_t random = 2;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        size_t n = sizes[i], slots = n * 112 / 300 * 3;
        blyi_fuse_equation *t = malloc(n * sizeof *t);
        uint32_t *value = malloc(slots * sizeof *value);
        unsigned solved = 0;
        assert_non_null(t);
        assert_non_null(value);
        for (unsigned turn = 0; turn < 10; turn++) {
            make(t, n, slots, false, &random);
            memset(value, 0, slots * sizeof *value);
            if (blyi_fuse_solve_equations(t, n, slots, value, &a) != BLY_OK)
                continue;
            assert_solved(t, n, value);
            solved++;
        }
        assert_true(solved >= 5);
        free(t);
        free(value);
    }
}

/* The solver gives up on a system that would take too long. */
static void too_many(void **state) {
    const bly_allocator a = blyi_allocator_or_default(NULL);
    const size_t n = 60000, slots = 66000;
    blyi_fuse_equation *t = malloc(n * sizeof *t);
    uint32_t *value = calloc(slots, sizeof *value);
    uint64_t random = 3;
    (void)state;
    assert_non_null(t);
    assert_non_null(value);
    make(t, n, slots, false, &random);
    assert_int_equal(blyi_fuse_solve_equations(t, n, slots, value, &a), BLY_EFULL);
    free(t);
    free(value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),        cmocka_unit_test(many_seeds),
        cmocka_unit_test(in_shards),         cmocka_unit_test(nothing),
        cmocka_unit_test(bits_per_key),      cmocka_unit_test(planned_as_built),
        cmocka_unit_test(geometries),        cmocka_unit_test(rates),
        cmocka_unit_test(hash_functions),    cmocka_unit_test(batches),
        cmocka_unit_test(cannot_be_changed), IN_SCRATCH(saved_and_back),
        cmocka_unit_test(padding_is_zero),   cmocka_unit_test(any_body),
        cmocka_unit_test(as_elimination),    cmocka_unit_test(large),
        cmocka_unit_test(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
