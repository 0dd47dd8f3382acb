/* Properties that are tested for every kind of the library and its variants (cases.h). */
#include "support.h"

#include "filter/filter.h"

#include <bloomery/host/describe.h>
#include <math.h>

/* The list of cases has every kind, and every variant once. For kinds whose keys share counters and
 * can be removed, blyt_exceptions must state the limit of a counter. */
static void every_kind_is_a_case(void **state) {
    const blyt_case *c, *other;
    (void)state;
    for (int code = 0; code < 256; code++)
        assert_int_equal(blyt_case_of((bly_kind)code) != NULL,
                         bly_kind_name((bly_kind)code) != NULL);
    for (size_t i = 0; i < COUNT_OF(blyt_exceptions); i++)
        assert_non_null(blyt_case_of(blyt_exceptions[i].kind));
    for (size_t i = 0; (c = blyt_case_at(i)); i++) {
        for (size_t j = 0; j < i && (other = blyt_case_at(j)); j++)
            assert_string_not_equal(c->name, other->name);
        bly_filter *f = blyt_create(c, 100, 0.1, 0);
        bool limited = blyt_counters(f) > 0 && blyt_can(c, BLY_CAN_REMOVE);
        if ((c->limit != 0) != limited)
            fail_msg("%s: limit %llu in tests/support/cases.h, %g counters", c->name,
                     (unsigned long long)c->limit, blyt_counters(f));
        bly_filter_destroy(f);
    }
}

static void empty_says_no(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 1000, 0.01, 0);
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 5000);
        assert_int_equal(bly_filter_contains_many(f, l.keys, l.n, NULL), 0);
        assert_false(bly_filter_contains(f, NULL, 0));
        assert_int_equal(bly_filter_copies(f, "x", 1), 0);
        assert_int_equal(bly_filter_count(f), 0);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(f, &s);
        assert_true(s.fill == 0 && s.estimated_keys == 0 && s.stuck == 0 && s.miss_bound == 0);
        /* For kinds that only count, these are not rates, but the error of the estimate. */
        if (!blyt_can(c, BLY_CARDINALITY_ONLY))
            assert_true(s.current_fpr == 0 && s.expected_fpr == 0);
        blyt_list_free(&l);
        bly_filter_destroy(f);
    }
}

/* Asserts that bly_filter_count is right after `adds` adds of `distinct` keys, `fresh` of which
 * were reported as new. */
static void assert_counted(const blyt_case *c, const bly_filter *f, size_t adds, size_t fresh,
                           size_t distinct) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    if (blyt_can(c, BLY_CARDINALITY_ONLY))
        assert_true(fabs((double)s.count - (double)distinct) <=
                    5 * s.current_fpr * (double)distinct);
    else
        assert_int_equal(s.count, blyt_can(c, BLY_CAN_COUNT) ? adds : fresh);
}

/* The first add of a key reports it as new, later adds do not, and added keys are found. Kinds that
 * count copies count every add, the others count each key once. */
static void add_twice(const blyt_case *c, blyt_keys set) {
    bly_filter *f = blyt_create(c, 12000, 1e-6, 11); /* two copies of each key need more room */
    size_t fresh = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        char key[BLYT_KEY_MAX];
        size_t len = blyt_key(set, i, key);
        bool added, before = bly_filter_contains(f, key, len);
        assert_ok(bly_filter_add(f, key, len, &added));
        assert_int_equal(added, !before);
        fresh += added;
        assert_ok(bly_filter_add(f, key, len, &added));
        assert_false(added);
        assert_true(bly_filter_contains(f, key, len));
        assert_true(bly_filter_copies(f, key, len) >= 1U + blyt_can(c, BLY_CAN_COUNT));
    }
    assert_true(fresh >= 2990 || blyt_can(c, BLY_CARDINALITY_ONLY));
    assert_counted(c, f, 6000, fresh, 3000);
    bly_filter_destroy(f);
}

/* A build counts repeated keys once, and a built filter accepts no more keys. */
static void build_twice(const blyt_case *c, blyt_keys set) {
    blyt_list l = blyt_list_of(set, 0, 6000);
    bly_filter *f, *copy = NULL;
    bool added = true;
    for (size_t i = 0; i < 3000; i++)
        l.keys[3000 + i] = l.keys[i];
    f = blyt_full(c, 1e-6, 11, &l);
    assert_ok(bly_filter_clone(f, NULL, &copy));
    blyt_assert_contains(f, &l);
    assert_int_equal(bly_filter_count(f), 3000);
    assert_int_equal(bly_filter_add(f, "x", 1, &added), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_add_many(f, l.keys, 9, NULL, NULL), BLY_EUNSUPPORTED);
    assert_true(added && bly_filter_equal(f, copy));
    blyt_list_free(&l);
    bly_filter_destroy(f);
    bly_filter_destroy(copy);
}

static void adds_and_finds(void **state) {
    (void)state;
    FOR_EACH_CASE(c)
    for (int set = 0; set < KEYS_SETS; set++) {
        if (blyt_can(c, BLY_CAN_ADD))
            add_twice(c, (blyt_keys)set);
        else
            build_twice(c, (blyt_keys)set);
    }
}

/* Tests keys of no bytes, of each single byte, and of a million bytes. */
static void odd_keys(void **state) {
    enum { N = 258, BIG = 1 << 20 };
    uint8_t bytes[256];
    bly_bytes keys[N];
    const blyt_list l = {keys, NULL, N};
    char *mega = calloc(1, BIG);
    (void)state;
    assert_non_null(mega);
    for (int b = 0; b < 256; b++) {
        bytes[b] = (uint8_t)b;
        keys[b] = (bly_bytes){&bytes[b], 1};
    }
    keys[256] = (bly_bytes){NULL, 0};
    keys[257] = (bly_bytes){mega, BIG};
    FOR_EACH_CASE(c) {
        bly_filter *f;
        if (blyt_can(c, BLY_CAN_ADD)) {
            f = blyt_create(c, 1000, 1e-6, 0);
            for (size_t i = 0; i < l.n; i++) {
                bool added;
                assert_ok(bly_filter_add(f, keys[i].data, keys[i].size, &added));
                assert_true(added || blyt_can(c, BLY_CARDINALITY_ONLY));
                assert_true(bly_filter_contains(f, keys[i].data, keys[i].size));
            }
        } else {
            f = blyt_full(c, 1e-6, 0, &l);
        }
        blyt_assert_contains(f, &l);
        assert_counted(c, f, N, N, N);
        mega[BIG - 1] ^= 1;
        assert_true(!bly_filter_contains(f, mega, BIG) || blyt_can(c, BLY_CARDINALITY_ONLY));
        mega[BIG - 1] ^= 1;
        bly_filter_destroy(f);
    }
    free(mega);
}

/* Batches of every size, by key and by hash, give the same bits and answers as single calls, up to
 * the first key that has no room. */
static void add_in_batches(const blyt_case *c, size_t n) {
    bly_filter *a = blyt_create(c, 60, 0.1, 3), *b = blyt_create(c, 60, 0.1, 3);
    bly_filter *h = blyt_create(c, 60, 0.1, 3);
    blyt_list l = blyt_list_of(n % 2 ? KEYS_URL : KEYS_DECIMAL, 0, n);
    uint8_t added[256], by_hash[256];
    bly_hash hashes[256];
    bly_batch_result tally, hash_tally;
    memset(added, 9, sizeof added);
    bly_status status = bly_filter_add_many(b, l.keys, n, added, &tally), one_status = BLY_OK;
    bly_hash_keys(bly_filter_hasher(h), l.keys, n, hashes);
    assert_int_equal(bly_filter_add_hashes(h, hashes, n, by_hash, &hash_tally), status);
    size_t fresh = 0, done = 0;
    for (; done < n; done++) {
        bool one;
        one_status = bly_filter_add(a, l.keys[done].data, l.keys[done].size, &one);
        if (one_status)
            break;
        fresh += one;
        assert_int_equal(added[done], one);
        assert_int_equal(by_hash[done], one);
    }
    assert_int_equal(one_status, status);
    assert_true(status == BLY_OK || (status == BLY_EFULL && blyt_can(c, BLY_CAN_REMOVE)));
    assert_true(done == n || done >= 60);
    assert_int_equal(added[n], 9); /* nothing written past the end */
    assert_int_equal(tally.done, done);
    assert_int_equal(tally.changed, fresh);
    assert_int_equal(hash_tally.done, done);
    assert_int_equal(hash_tally.changed, fresh);
    assert_true(bly_filter_equal(a, b) && bly_filter_equal(a, h));
    assert_int_equal(bly_filter_count(a), bly_filter_count(b));
    assert_int_equal(bly_filter_count(a), bly_filter_count(h));
    size_t kept = blyt_can(c, BLY_FORGETS) && done > 60 ? 60 : done;
    const blyt_list latest = {l.keys + done - kept, NULL, kept};
    blyt_assert_contains(a, &latest);
    blyt_list_free(&l);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(h);
}

static void query_in_batches(const blyt_case *c, size_t n) {
    blyt_list l = blyt_list_of(n % 2 ? KEYS_URL : KEYS_DECIMAL, 0, n);
    blyt_list asked = blyt_list_of(KEYS_URL, 100, 200); /* some are members, most are not */
    bly_filter *f = blyt_full(c, 0.1, 3, &l);
    uint8_t found[256];
    bly_hash hashes[256];
    for (size_t m = 0; m <= asked.n; m += n % 7 + 13) {
        memset(found, 9, sizeof found);
        size_t hits = bly_filter_contains_many(f, asked.keys, m, found), sum = 0;
        bly_hash_keys(bly_filter_hasher(f), asked.keys, m, hashes);
        assert_int_equal(bly_filter_contains_many(f, asked.keys, m, NULL), hits);
        assert_int_equal(bly_filter_contains_hashes(f, hashes, m, NULL), hits);
        assert_int_equal(found[m], 9);
        for (size_t i = 0; i < m; i++) {
            sum += found[i];
            assert_int_equal(found[i], bly_filter_contains_hash(f, hashes[i]));
            assert_int_equal(found[i],
                             bly_filter_contains(f, asked.keys[i].data, asked.keys[i].size));
        }
        assert_int_equal(sum, hits);
    }
    blyt_list_free(&l);
    blyt_list_free(&asked);
    bly_filter_destroy(f);
}

static void batch_equals_single(void **state) {
    (void)state;
    FOR_EACH_CASE(c)
    for (size_t n = 0; n < 200; n = n < 70 ? n + 1 : n + 43) {
        query_in_batches(c, n);
        if (blyt_can(c, BLY_CAN_ADD))
            add_in_batches(c, n);
    }
}

static void clear_and_clone(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        blyt_list l = blyt_list_of(KEYS_URL, 0, 1000);
        bly_filter *f = blyt_full(c, 0.01, 5, &l), *copy = NULL, *fresh = NULL;
        assert_ok(bly_filter_clone(f, NULL, &copy));
        assert_true(bly_filter_equal(f, copy));
        assert_int_equal(bly_filter_count(f), bly_filter_count(copy));
        bly_filter_clear(f);
        assert_int_equal(bly_filter_count(f), 0);
        assert_false(bly_filter_equal(f, copy));
        assert_int_equal(bly_filter_contains_many(f, l.keys, l.n, NULL), 0);
        if (blyt_can(c, BLY_CAN_ADD)) {
            fresh = blyt_create(c, 1000, 0.01, 5);
            assert_true(bly_filter_equal(f, fresh));
            blyt_add_all(f, &l);
            assert_true(bly_filter_equal(f, copy));
        }
        blyt_assert_contains(copy, &l);
        blyt_list_free(&l);
        bly_filter_destroy(f);
        bly_filter_destroy(fresh);
        bly_filter_destroy(copy);
    }
}

/* For kinds whose keys set random bits, the statistics follow from the bits. */
static void bits_and_statistics(bly_filter *f, bly_filter_info s, size_t n) {
    uint64_t set = 0;
    const bly_filter *only = bly_filter_level(f, 0);
    assert_int_equal(bly_filter_level_count(f), 1);
    for (uint64_t i = 0; i < s.bytes; i++)
        for (uint8_t byte = only->body[i]; byte; byte &= (uint8_t)(byte - 1))
            set++;
    assert_int_equal(s.set_bits, set);
    const double fill = (double)set / (double)s.bits;
    assert_true(s.fill == fill);
    assert_true(fabs(s.estimated_keys / (double)n - 1) < 5 * 0.9 / sqrt((double)s.bits) + 1e-4);
    memset(only->body, 0xff, only->body_bytes); /* saturated */
    bly_filter_get_info(f, &s);
    assert_true(isinf(s.estimated_keys) && s.current_fpr == 1 && s.expected_fpr == 1);
}

static void statistics(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        size_t n = 200000;
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, n);
        bly_filter *f = blyt_full(c, 0.01, 9, &l);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(f, &s);
        assert_true(s.kind == c->kind && s.set_bits <= s.bits && s.bits <= 8 * s.bytes);
        assert_true(s.count == bly_filter_count(f));
        assert_true(s.fill > 0 && s.fill <= 1 && fabs(s.expected_fill - s.fill) < 0.01);
        assert_true(fabs(s.estimated_keys / (double)n - 1) < 0.05);
        const double asked = 0.01; /* rounded to double, also with x87 registers */
        assert_true(s.requested_fpr == asked ||
                    (blyt_can(c, BLY_CARDINALITY_ONLY) && s.requested_fpr < asked));
        assert_true(s.capacity >= n && s.capacity < n + n / 20);
        assert_true(s.expected_fpr < 0.0102 && s.expected_fpr > 0);
        assert_true(s.current_fpr < 0.0102 && s.current_fpr > 0);
        char text[1024], small[10];
        size_t length = bly_filter_info_format(&s, text, sizeof text);
        assert_int_equal(strlen(text), length);
        assert_non_null(strstr(text, bly_kind_name(c->kind)));
        assert_int_equal(bly_filter_info_format(&s, small, sizeof small), length);
        assert_int_equal(strlen(small), 9);
        if (blyt_sets_bits(c))
            bits_and_statistics(f, s, n);
        blyt_list_free(&l);
        bly_filter_destroy(f);
    }
}

/* by_way knows this many ways to make a filter, from these sources. */
enum { WAYS = 5 };
typedef struct sources {
    bly_spec spec;
    const bly_filter *filter;
    blyt_buffer file;
    blyt_list keys;
} sources;

static bly_status by_way(int way, const sources *from, const bly_allocator *a, bly_filter **out) {
    bly_spec spec = from->spec;
    bly_open_options options = {
        .struct_size = sizeof options, .allocator = a, .sharing = spec.sharing};
    spec.allocator = a;
    switch (way) {
    case 0:
        return blyt_make(&spec, out);
    case 1:
        return bly_filter_clone(from->filter, a, out);
    case 2:
        return bly_filter_fold(from->filter, 2, a, out);
    case 3:
        return bly_filter_parse(from->file.data, from->file.size, &options, out);
    default:
        return bly_filter_build(&spec, from->keys.keys, from->keys.n, out);
    }
}

/* Each allocation fails in turn: the call fails, leaks nothing, and sets its result to NULL. */
static void fails_in_turn(const blyt_case *c, int way, const sources *from) {
    bool can = (way != 2 || blyt_can(c, BLY_CAN_FOLD)) && (way != 4 || blyt_can(c, BLY_CAN_BUILD));
    size_t fail_at = 1;
    for (bly_status got = BLY_ENOMEM; got == BLY_ENOMEM; fail_at++) {
        blyt_heap heap = {.fail_at = fail_at};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_filter *out = NULL;
        got = by_way(way, from, &a, &out);
        bly_status want = heap.calls >= fail_at ? BLY_ENOMEM : BLY_OK;
        assert_int_equal(got, can ? want : BLY_EUNSUPPORTED);
        assert_int_equal(out != NULL, got == BLY_OK);
        bly_filter_destroy(out);
        assert_int_equal(heap.live, 0);
    }
    assert_true(!can || fail_at > 3); /* at least a handle and a body were allocated */
}

static void every_allocation_fails_in_turn(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        for (int sharing = BLY_EXCLUSIVE; sharing <= BLY_SHARED_ONCE; sharing++) {
            sources from = {.spec = blyt_foldable(c, 10000, 0.01)};
            bly_filter *source = NULL;
            from.spec.sharing = (bly_sharing)sharing;
            if (sharing != BLY_EXCLUSIVE && !blyt_can(c, BLY_CAN_SHARE)) {
                bly_status want = blyt_can(c, BLY_CAN_BUILD) ? BLY_EINVAL : BLY_EUNSUPPORTED;
                assert_int_equal(blyt_make(&from.spec, &source), want);
                assert_null(source);
                continue;
            }
            from.keys = blyt_list_of(KEYS_RANDOM, 0, 500);
            from.filter = source = blyt_filled(&from.spec, &from.keys);
            from.file = blyt_write(source);
            for (int way = 0; way < WAYS; way++)
                fails_in_turn(c, way, &from);
            free(from.file.data);
            blyt_list_free(&from.keys);
            bly_filter_destroy(source);
        }
    }
}

/* Without memory to grow, an add fails and changes nothing. With memory, the same add succeeds. */
static void no_memory_to_grow(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_ADD))
            continue;
        blyt_heap heap = {0};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_spec spec = blyt_spec(c, 50, 0.01);
        bly_filter *f = NULL, *before = NULL;
        spec.allocator = &a;
        assert_ok(bly_filter_create(&spec, &f));
        size_t calls = heap.calls, refused = 0;
        for (uint64_t i = 0; i < 500; i++) {
            bly_status status = BLY_OK;
            heap.fail_at = heap.calls + 1;
            assert_ok(bly_filter_clone(f, NULL, &before));
            status = bly_filter_add(f, &i, 8, NULL);
            if (status != BLY_OK) {
                assert_true(bly_filter_equal(f, before));
                assert_int_equal(bly_filter_count(f), bly_filter_count(before));
                assert_true(status == BLY_EFULL || heap.calls == heap.fail_at);
                refused += status == BLY_ENOMEM;
                heap.fail_at = 0;
                status = bly_filter_add(f, &i, 8, NULL);
            }
            bly_filter_destroy(before);
            assert_true(status == BLY_OK || status == BLY_EFULL);
            assert_true(status == BLY_EFULL || bly_filter_contains(f, &i, 8));
        }
        assert_int_equal(refused > 0, heap.calls > calls);
        bly_filter_destroy(f);
        assert_int_equal(heap.live, 0);
    }
}

/* Only kinds with BLY_HAS_LEVELS, the scalable ones, have levels other than themselves. */
static void levels_of_every_kind(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 100, 0.01, 0);
        assert_int_equal(bly_filter_level_count(f), 1);
        assert_true((bly_filter_level(f, 0) == f) == !blyt_can(c, BLY_HAS_LEVELS));
        assert_null(bly_filter_level(f, 1));
        bly_filter_destroy(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_a_case), cmocka_unit_test(empty_says_no),
        cmocka_unit_test(adds_and_finds),       cmocka_unit_test(odd_keys),
        cmocka_unit_test(batch_equals_single),  cmocka_unit_test(clear_and_clone),
        cmocka_unit_test(statistics),           cmocka_unit_test(every_allocation_fails_in_turn),
        cmocka_unit_test(no_memory_to_grow),    cmocka_unit_test(levels_of_every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
