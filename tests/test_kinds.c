/* One list of properties, run over every kind and probe there is. A new kind adds a line to
 * blyt_cases (support.h) and is covered. */
#include "support.h"

#include "filters/ops.h"

#include <math.h>

static void empty_says_no(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 1000, 0.01, 0);
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 5000);
        assert_int_equal(bly_filter_contains_many(f, l.keys, l.n, NULL), 0);
        assert_false(bly_filter_contains(f, NULL, 0));
        assert_int_equal(bly_filter_count(f), 0);
        bly_stats s;
        bly_filter_stats(f, &s);
        assert_true(s.fill == 0 && s.current_fpr == 0 && s.predicted_fpr == 0 &&
                    s.estimated_keys == 0);
        blyt_list_free(&l);
        bly_filter_destroy(f);
    }
}

/* add says "new" for new keys, "not new" ever after; and nothing added is ever missed. */
static void adds_and_finds(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        for (int set = 0; set < KEYS_SETS; set++) {
            bly_filter *f = blyt_create(c, 3000, 1e-6, 11);
            size_t fresh = 0;
            for (uint64_t i = 0; i < 3000; i++) {
                char key[BLYT_KEY_MAX];
                size_t len = blyt_key((blyt_keys)set, i, key);
                bool added, before = bly_filter_contains(f, key, len);
                assert_ok(bly_filter_add(f, key, len, &added));
                assert_int_equal(added, !before);
                fresh += added;
                assert_ok(bly_filter_add(f, key, len, &added));
                assert_false(added);
                assert_true(bly_filter_contains(f, key, len));
            }
            assert_true(fresh >= 2990);
            assert_int_equal(bly_filter_count(f), fresh);
            bly_filter_destroy(f);
        }
    }
}

static void odd_keys(void **state) {
    size_t big = 1 << 20;
    char *mega = calloc(1, big);
    (void)state;
    assert_non_null(mega);
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 1000, 1e-6, 0);
        bool added;
        assert_ok(bly_filter_add(f, NULL, 0, &added));
        assert_true(added);
        assert_true(bly_filter_contains(f, "", 0));
        for (int b = 0; b < 256; b++) {
            uint8_t byte = (uint8_t)b;
            assert_ok(bly_filter_add(f, &byte, 1, &added));
            assert_true(added);
        }
        assert_ok(bly_filter_add(f, mega, big, &added));
        assert_true(added);
        assert_true(bly_filter_contains(f, mega, big));
        mega[big - 1] ^= 1;
        assert_false(bly_filter_contains(f, mega, big));
        mega[big - 1] ^= 1;
        bly_filter_destroy(f);
    }
    free(mega);
}

/* Batches of every size, by key and by hash, leave the same bits and give the same answers as
 * single calls. */
static void batch_equals_single(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        for (size_t n = 0; n < 200; n = n < 70 ? n + 1 : n + 43) {
            bly_filter *a = blyt_create(c, 60, 0.1, 3), *b = blyt_create(c, 60, 0.1, 3);
            bly_filter *h = blyt_create(c, 60, 0.1, 3);
            blyt_list l = blyt_list_of(n % 2 ? KEYS_URL : KEYS_DECIMAL, 0, n);
            uint8_t added[256], by_hash[256], found[256];
            bly_hash hashes[256];
            bly_tally tally, hash_tally;
            memset(added, 9, sizeof added);
            assert_ok(bly_filter_add_many(b, l.keys, n, added, &tally));
            bly_hash_keys(bly_filter_hasher(h), l.keys, n, hashes);
            assert_ok(bly_filter_add_hashes(h, hashes, n, by_hash, &hash_tally));
            size_t fresh = 0;
            for (size_t i = 0; i < n; i++) {
                bool one;
                assert_ok(bly_filter_add(a, l.keys[i].data, l.keys[i].size, &one));
                fresh += one;
                assert_int_equal(added[i], one);
                assert_int_equal(by_hash[i], one);
            }
            assert_int_equal(added[n], 9); /* nothing written past the end */
            assert_int_equal(tally.done, n);
            assert_int_equal(tally.fresh, fresh);
            assert_int_equal(hash_tally.fresh, fresh);
            assert_true(bly_filter_equal(a, b) && bly_filter_equal(a, h));
            assert_int_equal(bly_filter_count(a), bly_filter_count(b));
            blyt_list absent = blyt_list_of(KEYS_URL, 1000000, 200);
            size_t hits = bly_filter_contains_many(a, absent.keys, absent.n, found), sum = 0;
            bly_hash_keys(bly_filter_hasher(a), absent.keys, 200, hashes);
            assert_int_equal(bly_filter_contains_hashes(a, hashes, 200, NULL), hits);
            for (size_t i = 0; i < absent.n; i++) {
                sum += found[i];
                assert_int_equal(found[i], bly_filter_contains_hash(a, hashes[i]));
                assert_int_equal(found[i],
                                 bly_filter_contains(a, absent.keys[i].data, absent.keys[i].size));
            }
            assert_int_equal(sum, hits);
            assert_int_equal(bly_filter_contains_many(a, l.keys, n, NULL), n);
            blyt_list_free(&l);
            blyt_list_free(&absent);
            bly_filter_destroy(a);
            bly_filter_destroy(b);
            bly_filter_destroy(h);
        }
    }
}

static void clear_and_clone(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 1000, 0.01, 5), *fresh = blyt_create(c, 1000, 0.01, 5);
        bly_filter *copy = NULL;
        blyt_list l = blyt_list_of(KEYS_URL, 0, 1000);
        blyt_add_all(f, &l);
        assert_ok(bly_filter_clone(f, NULL, &copy));
        assert_true(bly_filter_equal(f, copy));
        assert_int_equal(bly_filter_count(f), bly_filter_count(copy));
        bly_filter_clear(f);
        assert_true(bly_filter_equal(f, fresh));
        assert_int_equal(bly_filter_count(f), 0);
        assert_false(bly_filter_equal(f, copy));
        assert_int_equal(bly_filter_contains_many(copy, l.keys, l.n, NULL), l.n);
        blyt_list_free(&l);
        bly_filter_destroy(f);
        bly_filter_destroy(fresh);
        bly_filter_destroy(copy);
    }
}

static void statistics(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        size_t n = 200000;
        bly_filter *f = blyt_create(c, n, 0.01, 9);
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, n);
        blyt_add_all(f, &l);
        bly_stats s;
        bly_filter_stats(f, &s);
        uint64_t set = 0;
        const bly_filter *only = bly_filter_level(f, 0);
        assert_int_equal(bly_filter_levels(f), 1);
        for (uint64_t i = 0; i < s.bytes; i++)
            for (uint8_t byte = only->body[i]; byte; byte &= (uint8_t)(byte - 1))
                set++;
        assert_int_equal(s.set_bits, set);
        assert_true(s.fill == (double)set / (double)s.bits);
        assert_true(fabs(s.estimated_keys / (double)n - 1) < 5 * 0.9 / sqrt((double)s.bits) + 1e-4);
        assert_true(fabs(s.expected_fill - s.fill) < 0.01);
        assert_true(s.target_fpr == 0.01 && s.capacity == n);
        assert_true(s.predicted_fpr < 0.0102 && s.current_fpr < 0.0102);
        char text[1024], small[10];
        size_t length = bly_stats_format(&s, text, sizeof text);
        assert_int_equal(strlen(text), length);
        assert_non_null(strstr(text, bly_kind_name(c->kind)));
        assert_int_equal(bly_stats_format(&s, small, sizeof small), length);
        assert_int_equal(strlen(small), 9);
        memset(only->body, 0xff, only->body_bytes); /* saturated */
        bly_filter_stats(f, &s);
        assert_true(isinf(s.estimated_keys) && s.current_fpr == 1 && s.predicted_fpr == 1);
        blyt_list_free(&l);
        bly_filter_destroy(f);
    }
}

/* The i-th allocation fails, for every i: an error, nothing leaked, nothing handed out. */
static void every_allocation_fails_in_turn(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        for (int sharing = BLY_EXCLUSIVE; sharing <= BLY_SHARED_ONCE; sharing++) {
            bly_spec spec = blyt_foldable(c, 10000, 0.01);
            bly_filter *source = NULL;
            /* A handle and a body; of a scalable filter, a handle, a list and a first level. */
            size_t needed = c->kind == BLY_SCALABLE ? 4 : 2;
            needed += sharing != BLY_EXCLUSIVE;
            spec.sharing = (bly_sharing)sharing;
            if (sharing != BLY_EXCLUSIVE && !blyt_can(c, BLY_CAN_SHARE)) {
                assert_int_equal(bly_filter_create(&spec, &source), BLY_EUNSUPPORTED);
                continue;
            }
            assert_ok(bly_filter_create(&spec, &source));
            blyt_buffer file = blyt_write(source);
            for (size_t fail_at = 1; fail_at < 6; fail_at++) {
                blyt_heap heap = {.fail_at = fail_at};
                bly_allocator a = blyt_heap_allocator(&heap);
                bly_open_options options = {.allocator = &a, .sharing = (bly_sharing)sharing};
                bly_filter *out[4] = {0};
                bly_status got[4];
                spec.allocator = &a;
                got[0] = bly_filter_create(&spec, &out[0]);
                heap.calls = 0;
                got[1] = bly_filter_clone(source, &a, &out[1]);
                heap.calls = 0;
                got[2] = bly_filter_fold(source, 2, &a, &out[2]);
                heap.calls = 0;
                got[3] = bly_filter_parse(file.data, file.size, &options, &out[3]);
                for (int i = 0; i < 4; i++) {
                    bool can = i != 2 || blyt_can(c, BLY_CAN_FOLD);
                    bly_status want = fail_at <= needed ? BLY_ENOMEM : BLY_OK;
                    assert_int_equal(got[i], can ? want : BLY_EUNSUPPORTED);
                    assert_int_equal(out[i] != NULL, got[i] == BLY_OK);
                    bly_filter_destroy(out[i]);
                }
                assert_int_equal(heap.live, 0);
            }
            free(file.data);
            bly_filter_destroy(source);
        }
    }
}

static void create_by_exact_geometry(void **state) {
    bly_filter *f = NULL;
    bly_stats s;
    (void)state;
    assert_ok(bly_bloom_create_exact(9586, 7, &f)); /* a thousand keys at 1%, by the book */
    bly_filter_stats(f, &s);
    assert_int_equal(s.bits, 9586);
    assert_true(s.capacity > 900 && s.capacity < 1000);
    assert_true(s.target_fpr > 0.007 && s.target_fpr < 0.011);
    bly_filter_destroy(f);
    assert_ok(bly_bloom_create_slices(1024, 10, &f));
    assert_int_equal(bly_plan_bits(&(bly_geometry){BLY_PARTITIONED, 10, 1024, 0}), 10240);
    bly_filter_destroy(f);
    assert_ok(bly_blocked_create_exact(BLY_SPLIT512, 33, 12, &f));
    assert_int_equal(bly_filter_geometry(f).size, 33);
    bly_filter_destroy(f);
    assert_int_equal(bly_bloom_create_exact(0, 7, &f), BLY_EGEOMETRY);
    assert_null(f);
    assert_int_equal(bly_bloom_create_exact(1000, 0, &f), BLY_EGEOMETRY);
    assert_int_equal(bly_bloom_create_slices(1000, 7, &f), BLY_EGEOMETRY);
    assert_int_equal(bly_blocked_create_exact(BLY_SBBF, 0, 8, &f), BLY_EGEOMETRY);
    assert_int_equal(bly_blocked_create_exact(BLY_CLASSIC, 10, 8, &f), BLY_EKIND);
    assert_int_equal(bly_bloom_create(0, 0.01, &f), BLY_ECOUNT);
    assert_int_equal(bly_bloom_create(10, 1, &f), BLY_ERATE);
    assert_int_equal(bly_blocked_create(10, NAN, &f), BLY_ERATE);
    assert_int_equal(bly_blocked_create(UINT64_MAX, 0.01, &f), BLY_ETOOBIG);
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000, 0);
    spec.geometry.size = 1; /* a thousand keys in 32 bytes: hopeless */
    spec.geometry.hashes = 8;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EIMPOSSIBLE);
    spec.capacity = 0;
    spec.fpr = 2;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_ERATE);
    spec = bly_spec_for((bly_kind)77, 10, 0.1);
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EKIND);
    spec = bly_spec_for(BLY_SBBF, 10, 0.1);
    spec.sharing = (bly_sharing)9;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    assert_null(f);
}

/* What an exact geometry holds is judged by the hash it will really get. */
static void exact_geometries_and_their_hash(void **state) {
    bly_spec spec = bly_spec_for(BLY_CLASSIC, 0, 0x1p-40);
    bly_filter *f = NULL;
    (void)state;
    spec.geometry.size = (uint64_t)1 << 26;
    spec.geometry.hashes = 40;
    assert_ok(bly_filter_create(&spec, &f));
    assert_true(bly_filter_capacity(f) > 1000000); /* 64 bits would stop it at p * 2^64 / 10 */
    bly_filter_destroy(f);
    spec = bly_spec_for(BLY_CLASSIC, 0, 0.001);
    spec.geometry.size = (uint64_t)1 << 28;
    spec.geometry.hashes = 10;
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
    spec.allow_weak_hash = true;
    assert_ok(bly_filter_create(&spec, &f));
    assert_true(bly_filter_capacity(f) > 18000000);
    bly_filter_destroy(f);
}

/* A hasher that was never filled in is refused, not called. */
static void hollow_hashers_are_refused(void **state) {
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000, 0.01);
    bly_filter *f = NULL;
    uint8_t digest[20];
    (void)state;
    spec.hasher.id = BLY_HASH_FNV1A;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EHASHER);
    spec.allow_weak_hash = true;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EHASHER);
    spec.hasher.bits = 64;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EHASHER);
    assert_null(f);
    assert_int_equal(bly_hash_digest(&spec.hasher, "x", 1, digest), 0);
    spec = bly_spec_for(BLY_SBBF, 1000, 0.01);
    spec.geometry.hashes = 8; /* without a size */
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
}

/* No kind of this version can, and none changes when asked to. */
static void nothing_can_be_removed(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 100, 0.01, 0), *copy = NULL;
        bool removed = true;
        assert_false(blyt_can(c, BLY_CAN_REMOVE));
        assert_ok(bly_filter_add(f, "x", 1, NULL));
        assert_ok(bly_filter_clone(f, NULL, &copy));
        assert_int_equal(bly_filter_remove(f, "x", 1, &removed), BLY_EUNSUPPORTED);
        assert_int_equal(bly_filter_remove(f, "x", 1, NULL), BLY_EUNSUPPORTED);
        assert_true(removed && bly_filter_equal(f, copy) && bly_filter_contains(f, "x", 1));
        assert_int_equal(bly_filter_count(f), 1);
        bly_filter_destroy(f);
        bly_filter_destroy(copy);
    }
}

/* Only a scalable filter is made of others. */
static void levels_of_every_kind(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 100, 0.01, 0);
        assert_int_equal(bly_filter_levels(f), 1);
        assert_true((bly_filter_level(f, 0) == f) == (c->kind != BLY_SCALABLE));
        assert_null(bly_filter_level(f, 1));
        bly_filter_destroy(f);
        bly_spec spec = blyt_spec(c, 100, 0.01);
        spec.first_share = 0.5;
        bly_status want = c->kind == BLY_SCALABLE ? BLY_OK : BLY_EINVAL;
        assert_int_equal(bly_filter_create(&spec, &f), want);
        bly_filter_destroy(f);
    }
}

static bly_hash twice_fnv(void *user, const void *key, size_t len) {
    const bly_hasher *h = user;
    return bly_hash_key(h, key, len);
}

/* A caller's own function is used, and its tag keeps its filters apart. */
static void custom_hashers(void **state) {
    bly_hasher fnv;
    (void)state;
    assert_ok(bly_hasher_init(&fnv, BLY_HASH_FNV1A, 0));
    FOR_EACH_CASE(c) {
        bly_spec spec = blyt_spec(c, 1000, 0.01);
        bly_filter *ours = NULL, *theirs = NULL, *tagged = NULL;
        spec.hasher = fnv;
        assert_ok(bly_filter_create(&spec, &ours));
        assert_ok(bly_hasher_custom(&spec.hasher, twice_fnv, &fnv, 64, 1));
        assert_ok(bly_filter_create(&spec, &theirs));
        assert_ok(bly_hasher_custom(&spec.hasher, twice_fnv, &fnv, 64, 2));
        assert_ok(bly_filter_create(&spec, &tagged));
        blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 1000);
        blyt_add_all(ours, &l);
        blyt_add_all(theirs, &l);
        assert_memory_equal(bly_filter_level(ours, 0)->body, bly_filter_level(theirs, 0)->body,
                            bly_filter_level(ours, 0)->body_bytes);
        assert_int_equal(bly_filter_union(ours, theirs), BLY_EMISMATCH);
        assert_int_equal(bly_filter_union(theirs, tagged), BLY_EMISMATCH);
        blyt_list_free(&l);
        bly_filter_destroy(ours);
        bly_filter_destroy(theirs);
        bly_filter_destroy(tagged);
    }
}

/* Planned for more than 2^32 keys, in more than 2^32 bits: indices past the old limit are used, in
 * a body that is mostly untouched zero pages. */
static void more_keys_and_bits_than_32_bits_count(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        blyt_heap heap = {0};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_spec spec = blyt_spec(c, 5000000000, 0.5);
        bly_filter *f = NULL;
        spec.allocator = &a;
        spec.first_share = c->kind == BLY_SCALABLE ? 0.9 : 0;
        assert_ok(bly_filter_create(&spec, &f));
        const bly_filter *only = bly_filter_level(f, 0);
        bly_geometry g = bly_filter_geometry(only);
        assert_true(bly_plan_bits(&g) > UINT32_MAX && bly_filter_capacity(f) > UINT32_MAX);
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 1000);
        blyt_list absent = blyt_list_of(KEYS_RANDOM, 1000, 1000);
        blyt_add_all(f, &l);
        assert_int_equal(bly_filter_count(f), 1000);
        assert_int_equal(bly_filter_contains_many(f, l.keys, l.n, NULL), l.n);
        assert_int_equal(bly_filter_contains_many(f, absent.keys, absent.n, NULL), 0);
        /* Evenly spread: a truncated index would leave the upper part empty. */
        uint64_t quarter = blyi_word_count(only) / 32 * 8, sum = 0;
        for (unsigned i = 0; i < 4; i++) {
            uint64_t set = f->kernels->popcount(blyi_words(only) + i * quarter, (size_t)quarter);
            assert_true(set > 200 * g.hashes && set < 300 * g.hashes);
            sum += set;
        }
        assert_true(sum <= 1000 * g.hashes);
        blyt_list_free(&l);
        blyt_list_free(&absent);
        bly_filter_destroy(f);
        assert_int_equal(heap.live, 0);
    }
}

/* A random program over two filters and exact sets of what went into them. */
enum { UNIVERSE = 400 };
typedef struct model {
    bly_filter *f;
    bool in[UNIVERSE];
} model;

static void check_model(const model *m, uint64_t seed, int step) {
    for (uint64_t i = 0; i < UNIVERSE; i++)
        if (m->in[i] && !bly_filter_contains(m->f, &i, 8))
            fail_msg("lost key %d at step %d, seed %llu", (int)i, step, (unsigned long long)seed);
}

static void reopen(model *m) {
    blyt_buffer b = blyt_write(m->f);
    bly_filter *again = NULL;
    assert_ok(bly_filter_parse(b.data, b.size, NULL, &again));
    assert_true(bly_filter_equal(m->f, again));
    assert_int_equal(bly_filter_count(m->f), bly_filter_count(again));
    bly_filter_destroy(m->f);
    m->f = again;
    free(b.data);
}

static void fold_both(model m[2]) {
    for (int i = 0; i < 2; i++) {
        bly_filter *folded = NULL;
        if (bly_filter_fold(m[i].f, 2, NULL, &folded) != BLY_OK)
            return; /* both have one size, so the first refuses if any does */
        bly_filter_destroy(m[i].f);
        m[i].f = folded;
    }
}

static void intersect(model *a, const model *b) {
    bool can = bly_kind_capabilities(bly_filter_geometry(a->f).kind) & BLY_CAN_INTERSECT;
    assert_int_equal(bly_filter_intersect(a->f, b->f), can ? BLY_OK : BLY_EUNSUPPORTED);
    for (int i = 0; can && i < UNIVERSE; i++)
        a->in[i] &= b->in[i];
}

static void step(model m[2], uint64_t *rng) {
    model *a = &m[blyt_next(rng) % 2], *b = a == m ? m + 1 : m;
    uint64_t key = blyt_next(rng) % UNIVERSE, what = blyt_next(rng) % 100;
    if (what < 80) {
        bool before = bly_filter_contains(a->f, &key, 8), added;
        assert_ok(bly_filter_add(a->f, &key, 8, &added));
        assert_int_equal(added, !before);
        a->in[key] = true;
    } else if (what < 85) {
        assert_ok(bly_filter_union(a->f, b->f));
        for (int i = 0; i < UNIVERSE; i++)
            a->in[i] |= b->in[i];
    } else if (what < 88) {
        intersect(a, b);
    } else if (what < 94) {
        reopen(a);
    } else if (what < 95) {
        fold_both(m);
    } else if (what < 97) {
        bly_filter_clear(a->f);
        memset(a->in, 0, sizeof a->in);
    } else {
        bly_filter *copy = NULL;
        assert_ok(bly_filter_clone(b->f, NULL, &copy));
        bly_filter_destroy(a->f);
        a->f = copy;
        memcpy(a->in, b->in, sizeof a->in);
    }
}

static void random_programs(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        for (uint64_t seed = 1; seed <= 20 / BLYT_SLOW + 1; seed++) {
            uint64_t rng = seed;
            bly_spec spec = blyt_foldable(c, c->kind == BLY_SCALABLE ? 30 : 3000, 0.01);
            model m[2] = {0};
            assert_ok(bly_filter_create(&spec, &m[0].f));
            assert_ok(bly_filter_create(&spec, &m[1].f));
            for (int i = 0; i < 2000; i++) {
                step(m, &rng);
                if (i % 50 == 0) {
                    check_model(&m[0], seed, i);
                    check_model(&m[1], seed, i);
                }
            }
            bly_filter_destroy(m[0].f);
            bly_filter_destroy(m[1].f);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_says_no),
        cmocka_unit_test(adds_and_finds),
        cmocka_unit_test(odd_keys),
        cmocka_unit_test(batch_equals_single),
        cmocka_unit_test(clear_and_clone),
        cmocka_unit_test(statistics),
        cmocka_unit_test(every_allocation_fails_in_turn),
        cmocka_unit_test(create_by_exact_geometry),
        cmocka_unit_test(exact_geometries_and_their_hash),
        cmocka_unit_test(hollow_hashers_are_refused),
        cmocka_unit_test(nothing_can_be_removed),
        cmocka_unit_test(levels_of_every_kind),
        cmocka_unit_test(custom_hashers),
        cmocka_unit_test(more_keys_and_bits_than_32_bits_count),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
