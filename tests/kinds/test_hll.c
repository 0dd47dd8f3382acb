/* HyperLogLog: registers are as in docs/format.md, estimates have the stated error, a union equals
 * the sketch of all keys, and damaged files do no harm. */
#include "store_support.h"
#include "table_support.h"

#include "kinds/hll/hll_layout.h"

static bly_filter *hll(unsigned precision) {
    bly_filter *f = NULL;
    assert_ok(blyt_new_exact(BLY_HLL, (uint64_t)1 << precision, precision, &f));
    return f;
}

/* ---- plan ------------------------------------------------------------------------------------ */

static void precisions_have_their_size_and_error(void **state) {
    (void)state;
    for (unsigned p = 4; p <= 18; p++) {
        bly_filter *f = hll(p);
        bly_geometry g = bly_filter_geometry(f), planned;
        bly_filter_info s = {.struct_size = sizeof s};
        double error = sqrt((3 * log(2) - 1) / (double)((uint64_t)1 << p));
        assert_int_equal(g.hashes, p);
        assert_int_equal(g.size, (uint64_t)1 << p);
        assert_int_equal(bly_plan_bits(&g), 6 * g.size);
        assert_true(fabs(bly_hll_error(f) / error - 1) < 1e-12);
        assert_true(fabs(bly_plan_fpr(&g, 1000, 64) / error - 1) < 1e-9);
        bly_filter_get_info(f, &s);
        assert_true(s.requested_fpr == bly_hll_error(f) && s.current_fpr == s.requested_fpr);
        assert_true(s.estimated_keys == 0 && s.count == 0 && s.fill == 0 && s.expected_fill == 0);
        /* A plan for exactly this error has this precision. A plan for 0.94 of it has the next
         * one. */
        assert_ok(bly_plan(BLY_HLL, 1000, error, 0, 64, &planned));
        assert_int_equal(planned.hashes, p);
        /* The same error, rounded to two digits, gives the same precision. */
        char quoted[32];
        (void)snprintf(quoted, sizeof quoted, "%.1e", error);
        assert_ok(bly_plan(BLY_HLL, 1000, strtod(quoted, NULL), 0, 64, &planned));
        assert_int_equal(planned.hashes, p);
        bly_status status = bly_plan(BLY_HLL, 1000, 0.94 * error, 0, 64, &planned);
        assert_int_equal(status, p < 18 ? BLY_OK : BLY_ERATE);
        assert_true(p == 18 || planned.hashes == p + 1);
        bly_filter_destroy(f);
    }
}

static void errors_are_asked_as_they_are_quoted(void **state) {
    bly_spec spec = bly_spec_for(BLY_HLL, 5, 0.0081);
    bly_filter *f = NULL;
    (void)state;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_geometry(f).hashes, 14);
    assert_int_equal(bly_plan_bytes(&spec.geometry), 0);
    assert_int_equal(bly_filter_file_size(f), 64 + 12288);
    assert_int_equal(bly_filter_capacity(f), 5);
    assert_int_equal(bly_filter_hasher(f)->id, BLY_HASH_XXH3);
    bly_filter_destroy(f);
    spec.capacity = 0; /* the capacity does not matter */
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_hasher(f)->id, BLY_HASH_XXH3);
    bly_filter_destroy(f);
    spec.fpr = 0.9;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_geometry(f).hashes, 4);
    bly_filter_destroy(f);
}

static void refuses_what_it_cannot_be(void **state) {
    static const bly_geometry wrong[] = {
        {BLY_HLL, 3, 8, 0, 0},           {BLY_HLL, 19, 1 << 19, 0, 0},
        {BLY_HLL, 14, 16383, 0, 0},      {BLY_HLL, 14, 16384, 0, 1},
        {BLY_HLL, 0, 1, 0, 0},           {BLY_HLL, 64, 1, 0, 0},
        {BLY_HLL, 14, UINT64_MAX, 0, 0}, {BLY_HLL, 14, 16384, BLY_FOLDABLE, 0},
    };
    bly_filter *f = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        bly_spec spec = {.struct_size = sizeof spec, .geometry = wrong[i]};
        assert_int_equal(bly_plan_check(&wrong[i]), BLY_EGEOMETRY);
        assert_int_equal(bly_filter_create(&spec, &f), BLY_EGEOMETRY);
    }
    for (unsigned p = 0; p < 48; p++)
        if (p < 4 || p > 18)
            assert_int_equal(blyt_new_exact(BLY_HLL, (uint64_t)1 << p, p, &f), BLY_EGEOMETRY);
    bly_spec spec = bly_spec_for(BLY_HLL, 1000, 0.001);
    assert_int_equal(bly_filter_create(&spec, &f), BLY_ERATE);
    spec.fpr = 0.01;
    spec.sharing = BLY_SHARED;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EUNSUPPORTED);
    spec.sharing = BLY_EXCLUSIVE;
    /* Ten million keys have about ten thousand fewer distinct hashes of 32 bits, so this hash is
     * too weak. */
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    spec.capacity = 10000000;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
    assert_null(f);
    spec.allow_weak_hash = true;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_remove(f, "a", 1, NULL), BLY_EUNSUPPORTED);
    bly_filter_destroy(f);
    bly_filter *other = NULL;
    assert_ok(bly_filter_new(10, 0.01, &other));
    assert_true(isnan(bly_hll_estimate(other)) && isnan(bly_hll_error(other)));
    bly_filter_destroy(other);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* Computes the rank bit by bit, as docs/format.md does. */
static unsigned rank_by_hand(uint64_t hi, unsigned precision) {
    unsigned rank = 1;
    for (unsigned bit = 64 - precision; bit-- > 0 && !(hi >> bit & 1);)
        rank++;
    return rank;
}

/* Returns bit i of the body, numbered as in docs/format.md. */
static unsigned bit_of(const bly_filter *f, uint64_t i) {
    return f->body[i >> 3] >> (i & 7) & 1;
}

static void registers_are_as_in_the_format(void **state) {
    (void)state;
    for (unsigned p = 4; p <= 18; p++) {
        bly_filter *one = hll(p), *many = hll(p);
        uint8_t *want = calloc((size_t)1 << p, 1), *added = malloc(3000);
        bly_hash *h = malloc(3000 * sizeof *h);
        assert_true(want && added && h);
        for (unsigned i = 0; i < 3000; i++) {
            h[i] = hash_at(p, i);
            h[i].hi >>= i % 3 == 0 ? i % 64 : 0; /* high ranks too */
            if (i % 7 == 0)
                h[i].hi &= ~(UINT64_MAX >> p); /* the highest rank */
        }
        bly_batch_result done;
        size_t changes = 0;
        assert_ok(bly_filter_add_hashes(many, h, 3000, added, &done));
        for (unsigned i = 0; i < 3000; i++) {
            uint8_t *reg = &want[h[i].hi >> (64 - p)];
            unsigned rank = rank_by_hand(h[i].hi, p);
            bool changed;
            assert_true(bly_filter_contains_hash(one, h[i]) == (*reg >= rank));
            assert_ok(bly_filter_add_hash(one, h[i], &changed));
            assert_true(changed == (rank > *reg) && changed == added[i]);
            *reg = rank > *reg ? (uint8_t)rank : *reg;
            changes += changed;
        }
        assert_int_equal(done.changed, changes);
        assert_true(bly_filter_equal(one, many));
        for (uint64_t i = 0; i < (uint64_t)1 << p; i++) {
            unsigned value = 0;
            for (unsigned b = 0; b < 6; b++)
                value |= bit_of(one, 6 * i + b) << b;
            assert_int_equal(value, want[i]);
        }
        assert_int_equal(bly_filter_contains_hashes(one, h, 3000, NULL), 3000);
        free(want);
        free(added);
        free(h);
        bly_filter_destroy(one);
        bly_filter_destroy(many);
    }
}

static void keys_and_their_hashes_are_the_same(void **state) {
    bly_filter *a = hll(12), *b = hll(12);
    blyt_list l = blyt_list_of(KEYS_URL, 0, 5000);
    (void)state;
    blyt_add_all(a, &l);
    for (size_t i = l.n; i-- > 0;) {
        bly_hash h = bly_hash_key(bly_filter_hasher(b), l.keys[i].data, l.keys[i].size);
        assert_ok(bly_filter_add_hash(b, h, NULL));
    }
    assert_true(bly_filter_equal(a, b));
    assert_int_equal(bly_filter_contains_many(a, l.keys, l.n, NULL), l.n);
    blyt_add_all(a, &l); /* again: nothing changes */
    assert_true(bly_filter_equal(a, b));
    bly_filter_clear(a);
    assert_true(all_zero(a) && bly_filter_count(a) == 0);
    blyt_list_free(&l);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* Sums up the relative errors of many sketches. */
typedef struct errors {
    double sum, squares, worst;
    unsigned n;
} errors;

/* Adds the keys from .. until - 1 of a stream, like add_hashes, but with 0 as the low word.
 * Sketches do not read it, and drawing it takes as long as drawing the high word. */
static void add_high_words(bly_filter *f, uint64_t stream, uint64_t from, uint64_t until) {
    bly_hash h[SOME];
    uint64_t low = blyt_next(&stream);
    (void)blyt_next(&low); /* skips the low word */
    for (size_t n = 0; from < until; from += n) {
        for (n = 0; n < SOME && from + n < until; n++) {
            uint64_t word = low + (from + n) * UINT64_C(0x632be59bd9b4e019);
            h[n] = (bly_hash){0, blyt_next(&word)};
        }
        assert_ok(bly_filter_add_hashes(f, h, n, NULL, NULL));
    }
}

/* Measures the error at each of n ascending sizes: fills one sketch per seed up to the last
 * size. */
static void measure(unsigned precision, const uint64_t *sizes, size_t n, unsigned seeds,
                    errors *e) {
    bly_filter *f = hll(precision);
    for (unsigned seed = 1; seed <= seeds; seed++) {
        bly_filter_clear(f);
        for (size_t i = 0; i < n; i++) {
            add_high_words(f, seed * 1000003ULL + precision, i > 0 ? sizes[i - 1] : 0, sizes[i]);
            double off = bly_hll_estimate(f) / (double)sizes[i] - 1;
            e[i].sum += off;
            e[i].squares += off * off;
            e[i].worst = fmax(e[i].worst, fabs(off));
            e[i].n++;
        }
    }
    bly_filter_destroy(f);
}

/* The expected standard deviation. Below 2.5 keys per register it is that of linear counting, which
 * is more accurate; above, it is the stated one. */
static double spread(unsigned precision, uint64_t keys) {
    double m = (double)((uint64_t)1 << precision), t = (double)keys / m;
    double linear = sqrt(m * (exp(t) - t - 1)) / (double)keys, full = 1.03896 / sqrt(m);
    return fmin(linear, full);
}

static void judge_errors(unsigned precision, uint64_t keys, const errors *e) {
    double sigma = spread(precision, keys), m = (double)((uint64_t)1 << precision);
    double mean = e->sum / e->n, rms = sqrt(e->squares / e->n), sure = sqrt((double)e->n);
    /* With few registers, estimates are too high by 1.1 / m, and sometimes far too high: their
     * errors are skewed. With few keys, an estimate may be off by one key. */
    double bias = 1.7 / m, step = 1.1 / (double)keys;
    bool fits = (precision < 10 || e->worst <= 5 * sigma + bias + step) &&
                fabs(mean) <= 5 * sigma / sure + bias && rms <= sigma * (1 + 3.6 / sure) + bias;
    if (!fits || getenv("BLYT_VERBOSE"))
        print_message("precision %u, %g keys: mean %.5f, rms %.5f, worst %.5f, sigma %.5f\n",
                      precision, (double)keys, mean, rms, e->worst, sigma);
    assert_true(fits);
    /* The errors must not be too small either: then the keys would not be independent of each
     * other. */
    assert_true((double)keys < m || e->n < 40 || rms > sigma * (0.8 - 3.6 / sure));
}

static void estimates_are_within_five_sigma(void **state) {
    static const uint64_t few[] = {10,   30,   50,   70,   90,   100,   300,   500,   700,   900,
                                   1000, 3000, 5000, 7000, 9000, 10000, 30000, 50000, 70000, 90000};
    static const uint64_t many[] = {100000, 300000, 500000, 700000, 900000, 1000000};
    static const uint64_t most[] = {10000000, 100000000};
    errors e[COUNT_OF(few)] = {{0}}, m[COUNT_OF(many)] = {{0}}, l[COUNT_OF(most)] = {{0}};
    (void)state;
    measure(14, few, COUNT_OF(few), 300 / BLYT_SLOW + 1, e);
    measure(14, many, COUNT_OF(many), 40 / BLYT_SLOW + 1, m);
    for (size_t i = 0; i < COUNT_OF(few) + COUNT_OF(many); i++) {
        const errors *of = i < COUNT_OF(few) ? &e[i] : &m[i - COUNT_OF(few)];
        assert_true(of->worst <= 5 * 0.0081);
        judge_errors(14, i < COUNT_OF(few) ? few[i] : many[i - COUNT_OF(few)], of);
    }
    if (blyt_long())
        measure(14, most, COUNT_OF(most), 10, l);
    for (size_t i = 0; blyt_long() && i < COUNT_OF(most); i++) {
        print_message("%g keys: mean %.5f, worst %.5f of 10\n", (double)most[i], l[i].sum / l[i].n,
                      l[i].worst);
        assert_true(l[i].worst <= 5 * 0.0081);
    }
}

/* The root mean square of n errors has a relative sigma of 1 / sqrt(2n): with 1250 sketches, five
 * sigma are a tenth. At high precisions there are fewer sketches, and five sigma are a quarter
 * (200 sketches) or two thirds (30). (At precision 14, estimates_are_within_five_sigma adds more
 * keys.) */
static void every_precision_is_as_good_as_it_says(void **state) {
    (void)state;
    for (unsigned p = 4; p <= 18; p++) {
        uint64_t m = (uint64_t)1 << p;
        unsigned seeds = p <= 10 ? 1250 : p <= 14 ? 200 : 30;
        const uint64_t sizes[] = {m / 4, m, 4 * m, 16 * m};
        errors e[COUNT_OF(sizes)] = {{0}};
        size_t n = p < 14 ? 4 : 3;
        measure(p, sizes, n, seeds / BLYT_SLOW + 1, e);
        for (size_t i = 0; i < n; i++)
            judge_errors(p, sizes[i], &e[i]);
    }
}

static void few_keys_are_nearly_exact(void **state) {
    bly_filter *f = hll(14);
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        bly_filter_clear(f);
        for (unsigned n = 1; n <= 100; n++) {
            bool changed;
            assert_ok(bly_filter_add_hash(f, hash_at(seed + 999, n), &changed));
            if (n > 10 && (n + seed) % 5 != 0 && !blyt_large())
                continue; /* 40 sketches per number of keys: an estimate reads all registers */
            /* Two keys in one register count as one key, or a little more. */
            double off = bly_hll_estimate(f) - n, sigma = n * spread(14, n > 1 ? n : 2);
            assert_true(fabs(off) <= 5 * sigma + 1.1);
            assert_true(n > 10 || fabs(off) < 1.5);
            assert_int_equal(bly_filter_count(f), llround(off + n));
        }
    }
    bly_filter_clear(f);
    assert_true(bly_hll_estimate(f) == 0);
    add_hashes(f, 5, 0, 1);
    assert_true(fabs(bly_hll_estimate(f) - 1) < 1e-4);
    assert_int_equal(bly_filter_count(f), 1);
    bly_filter_destroy(f);
}

/* For numbers of keys that no test can add, the registers are drawn from their distribution for n
 * keys. */
static void astronomic_numbers(void **state) {
    (void)state;
    for (unsigned p = 6; p <= 14; p += 4)
        for (int log2n = 30; log2n <= 56; log2n += 13) {
            double m = (double)((uint64_t)1 << p), n = ldexp(1, log2n), sum = 0;
            bly_filter *f = hll(p);
            uint64_t seed = p * 100 + (unsigned)log2n;
            double up_to[65] = {0}; /* up_to[r]: P(register <= r) = (1 - 2^-r)^(n/m) */
            for (unsigned r = 0; r < 65 - p; r++)
                up_to[r] = exp(n / m * log1p(-ldexp(1, -(int)r)));
            for (unsigned turn = 0; turn < 50; turn++) {
                for (uint64_t i = 0; i < (uint64_t)1 << p; i++) {
                    double u = ((double)(blyt_next(&seed) >> 11) + 0.5) * 0x1p-53;
                    unsigned r = 0;
                    while (r < 65 - p && up_to[r] < u)
                        r++;
                    blyi_hll_set(f->body, i, r);
                }
                sum += bly_hll_estimate(f) / n - 1;
            }
            assert_true(fabs(sum / 50) < 5 * 1.04 / sqrt(m) / sqrt(50) + 1.7 / m);
            bly_filter_destroy(f);
        }
}

/* ---- combine --------------------------------------------------------------------------------- */

static void union_is_that_of_the_keys(void **state) {
    (void)state;
    for (unsigned p = 4; p <= 18; p += 2) {
        bly_filter *a = hll(p), *b = hll(p), *both = hll(p);
        add_hashes(a, 3, 0, 6000);
        add_hashes(b, 3, 4000, 20000);
        add_hashes(both, 3, 0, 20000);
        assert_ok(bly_filter_union(a, b));
        /* The files are equal, too, because the count in the header is computed from the
         * registers. */
        blyt_buffer x = blyt_write(a), y = blyt_write(both);
        assert_int_equal(x.size, y.size);
        assert_memory_equal(x.data, y.data, x.size);
        assert_ok(bly_filter_union(a, a));
        assert_true(bly_filter_equal(a, both));
        assert_int_equal(bly_filter_count(a), bly_filter_count(both));
        free(x.data);
        free(y.data);
        bly_filter *other = hll(p == 18 ? 17 : p + 1);
        assert_int_equal(bly_filter_union(a, other), BLY_EMISMATCH);
        bly_filter_destroy(other);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(both);
    }
}

static void overlap_is_estimated(void **state) {
    bly_filter *a = hll(14), *b = hll(14);
    bly_overlap o;
    (void)state;
    assert_ok(bly_filter_overlap(a, b, &o));
    assert_true(o.a == 0 && o.b == 0 && o.both == 0 && o.either == 0 && o.jaccard == 1);
    for (uint64_t shared = 0; shared <= 100000; shared += 25000) {
        bly_filter_clear(a);
        bly_filter_clear(b);
        add_hashes(a, 8, 0, 100000);
        add_hashes(b, 8, 100000 - shared, 200000 - shared);
        assert_ok(bly_filter_overlap(a, b, &o));
        double either = 200000 - (double)shared;
        assert_true(fabs(o.either / either - 1) < 5 * 0.0081);
        assert_true(fabs(o.both - (double)shared) < 5 * 0.0081 * either);
        assert_true(fabs(o.jaccard - o.both / o.either) < 1e-12 && o.both <= fmin(o.a, o.b));
        assert_true(o.a == bly_hll_estimate(a) && o.b == bly_hll_estimate(b));
    }
    assert_int_equal(bly_filter_intersect(a, b), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_subtract(a, b), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_filter_why_not(BLY_OP_INTERSECT, a, b), "not which"));
    assert_non_null(strstr(bly_filter_why_not(BLY_OP_SUBTRACT, a, b), "not which"));
    assert_null(bly_filter_why_not(BLY_OP_UNION, a, b));
    assert_null(bly_filter_why_not(BLY_OP_OVERLAP, a, b));
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void files_come_back(void **state) {
    (void)state;
    for (unsigned p = 4; p <= 18; p += 7) {
        bly_filter *f = hll(p), *back = NULL, *copy = NULL;
        bly_map *map = NULL;
        bly_file_info info = {.struct_size = sizeof info};
        add_hashes(f, 4, 0, 50000);
        assert_ok(bly_filter_save(f, at("h.bly")));
        assert_ok(bly_file_get_info(at("h.bly"), &info));
        assert_int_equal(info.count, bly_filter_count(f));
        assert_true(info.fpr == bly_hll_error(f));
        assert_ok(bly_filter_load(at("h.bly"), NULL, &back));
        assert_same(f, back);
        assert_ok(bly_map_open(at("h.bly"), NULL, &map));
        assert_same(f, bly_map_filter(map));
        assert_ok(bly_filter_clone(bly_map_filter(map), NULL, &copy));
        assert_same(f, copy);
        add_hashes(f, 4, 50000, 90000);
        add_hashes(back, 4, 50000, 90000);
        add_hashes(copy, 4, 50000, 90000);
        assert_true(bly_filter_equal(f, back) && bly_filter_equal(f, copy));
        bly_map_close(map);
        bly_filter_destroy(f);
        bly_filter_destroy(back);
        bly_filter_destroy(copy);
    }
}

/* The count in a header is ignored: it is computed from the registers. */
static void the_count_of_a_header_is_not_believed(void **state) {
    bly_filter *f = hll(8), *back = NULL;
    (void)state;
    add_hashes(f, 4, 0, 1000);
    blyt_buffer im = blyt_write(f);
    store(im.data + 32, UINT64_MAX, 8);
    fix_header_sum(im.data);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &back));
    assert_int_equal(bly_filter_count(back), bly_filter_count(f));
    bly_filter_destroy(back);
    static const lie lies[] = {
        {8, 1, 9, BLY_ECORRUPT},  {8, 1, 3, BLY_ECORRUPT},    {9, 1, 5, BLY_ECORRUPT},
        {10, 2, 1, BLY_ECORRUPT}, {16, 8, 255, BLY_ECORRUPT},
    };
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

static void damaged_registers_are_found_or_bounded(void **state) {
    (void)state;
    for (unsigned p = 4; p <= 18; p++) {
        bly_filter *f = hll(p), *united = hll(p), *copy = NULL;
        bly_map *map = NULL;
        bly_filter_info s = {.struct_size = sizeof s};
        bly_overlap o;
        uint64_t seed = p;
        blyt_buffer im = blyt_write(f);
        for (uint64_t i = 0; i < 6 * ((uint64_t)1 << p) / 8; i++)
            im.data[HEADER + i] = (uint8_t)blyt_next(&seed);
        im.data[HEADER] |= 63; /* the first register is higher than every rank */
        fix_sums(im);
        assert_refused_unmapped(im, NULL, BLY_ECORRUPT);
        spill(at("d.bly"), im.data, im.size);
        assert_ok(bly_map_open(at("d.bly"), NULL, &map));
        const bly_filter *bad = bly_map_filter(map);
        assert_int_equal(bly_filter_clone(bad, NULL, &copy), BLY_ECORRUPT);
        bly_filter_get_info(bad, &s);
        assert_true(s.fill >= 0 && s.fill <= 1 && s.set_bits <= s.bits && s.estimated_keys > 0);
        assert_int_equal(s.count, bly_filter_count(bad));
        (void)count_hashes(bad, 1, 0, 1000);
        assert_true(bly_filter_contains_hash(bad, (bly_hash){0, 0}));
        assert_ok(bly_filter_overlap(bad, f, &o));
        assert_ok(bly_filter_union(united, bad));
        for (uint64_t i = 0; i < (uint64_t)1 << p; i++)
            assert_true(blyi_hll_get(united->body, i) <= 65 - p);
        memset(united->body, 255, 6 * ((size_t)1 << p) / 8);
        assert_true(isinf(bly_hll_estimate(united)) && bly_filter_count(united) == UINT64_MAX);
        bly_map_close(map);
        free(im.data);
        bly_filter_destroy(f);
        bly_filter_destroy(united);
    }
}

static void no_memory_is_said_so(void **state) {
    (void)state;
    for (size_t fail = 1; fail <= 3; fail++) {
        blyt_heap heap = {.fail_at = fail};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_spec spec = bly_spec_for(BLY_HLL, 0, 0.01);
        bly_filter *f = NULL;
        spec.allocator = &a;
        assert_int_equal(bly_filter_create(&spec, &f), fail <= 2 ? BLY_ENOMEM : BLY_OK);
        bly_filter_destroy(f);
        assert_int_equal(heap.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precisions_have_their_size_and_error),
        cmocka_unit_test(errors_are_asked_as_they_are_quoted),
        cmocka_unit_test(refuses_what_it_cannot_be),
        cmocka_unit_test(registers_are_as_in_the_format),
        cmocka_unit_test(keys_and_their_hashes_are_the_same),
        cmocka_unit_test(estimates_are_within_five_sigma),
        cmocka_unit_test(every_precision_is_as_good_as_it_says),
        cmocka_unit_test(few_keys_are_nearly_exact),
        cmocka_unit_test(astronomic_numbers),
        cmocka_unit_test(union_is_that_of_the_keys),
        cmocka_unit_test(overlap_is_estimated),
        IN_SCRATCH(files_come_back),
        IN_SCRATCH(the_count_of_a_header_is_not_believed),
        IN_SCRATCH(damaged_registers_are_found_or_bounded),
        cmocka_unit_test(no_memory_is_said_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
