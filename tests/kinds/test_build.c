/* The builder: the filter depends only on the set of keys, memory is bounded, and a failed call
 * changes nothing. unit/test_builder.c tests its parts; test_fuse.c and test_ribbon.c test the
 * kinds that it builds. */
#include "store_support.h"

#include "hash/mix.h"
#include "kinds/builder/builder.h"
#include "kinds/fuse/fuse_layout.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

/* Numbers of hashes that exceed the smallest memory limit, so that runs of them are written to the
 * file. Most hashes are repeats, which take less time than new ones. The distinct ones make two
 * shards, so that two threads have work. */
enum {
    SPILLS = (1 << 21) + 12345,       /* more hashes than fit 32 MiB */
    SPILLS_TWICE = (1 << 22) + 12345, /* twice as many */
};

static size_t distinct_spills(void) {
    return blyt_large() ? SPILLS : BLYI_FUSE_SHARD_KEYS + (1 << 16);
}

static bly_hash hash_at(uint64_t i) {
    uint64_t state = i;
    bly_hash h;
    h.lo = blyt_next(&state);
    h.hi = blyt_next(&state);
    return h;
}

/* Returns the hashes with the numbers from .. from + n - 1. */
static bly_hash *hashes(uint64_t from, size_t n) {
    bly_hash *h = malloc((n + 1) * sizeof *h);
    assert_non_null(h);
    for (size_t i = 0; i < n; i++)
        h[i] = hash_at(from + i);
    return h;
}

/* Returns n hashes, more than fit the memory limit: first the distinct ones, then repeats. */
static bly_hash *hashes_to_spill(size_t n) {
    bly_hash *h = malloc(n * sizeof *h);
    assert_non_null(h);
    const size_t distinct = distinct_spills();
    for (size_t i = 0; i < n; i++)
        h[i] = i < distinct ? hash_at(1 + i) : h[i - distinct];
    return h;
}

static bly_builder *builder(double p, const bly_build_options *o, const bly_allocator *a) {
    bly_spec spec = bly_spec_for(BLY_FUSE, 0, p);
    bly_builder *b = NULL;
    spec.allocator = a;
    assert_ok(bly_builder_create(&spec, o, &b));
    return b;
}

static bly_filter *finish(bly_builder *b) {
    bly_filter *f = NULL;
    assert_ok(bly_builder_finish(b, &f));
    bly_builder_destroy(b);
    return f;
}

/* Builds a filter from n hashes; each call adds `step` of them. */
static bly_filter *built(const bly_hash *h, size_t n, size_t step, const bly_build_options *o,
                         const bly_allocator *a) {
    bly_builder *b = builder(0.01, o, a);
    for (size_t i = 0; i < n; i += step)
        assert_ok(bly_builder_add_hashes(b, h + i, n - i < step ? n - i : step));
    assert_int_equal(bly_builder_count(b), n);
    return finish(b);
}

static void assert_equal_and_free(bly_filter *a, bly_filter *b) {
    assert_true(bly_filter_equal(a, b));
    assert_int_equal(bly_filter_count(a), bly_filter_count(b));
    assert_int_equal(bly_filter_capacity(a), bly_filter_capacity(b));
    bly_filter_destroy(b);
}

/* ---- an allocator that counts bytes, for one thread at a time -------------------------------- */

typedef struct meter {
    uint64_t now, peak;
    int inside; /* calls in progress */
} meter;

static void meter_enter(meter *m) {
    assert_int_equal(__atomic_fetch_add(&m->inside, 1, __ATOMIC_SEQ_CST), 0);
}

static void meter_leave(meter *m) {
    __atomic_fetch_sub(&m->inside, 1, __ATOMIC_SEQ_CST);
}

static void *meter_alloc(void *ctx, size_t size) {
    meter *m = ctx;
    meter_enter(m);
    uint64_t *block = calloc(1, size + 64);
    assert_non_null(block);
    block[0] = size;
    m->now += size;
    m->peak = m->now > m->peak ? m->now : m->peak;
    meter_leave(m);
    return block + 8;
}

static void meter_free(void *ctx, void *ptr) {
    meter *m = ctx;
    uint64_t *block = (uint64_t *)ptr - 8;
    meter_enter(m);
    m->now -= block[0];
    free(block);
    meter_leave(m);
}

static bly_allocator metered(meter *m) {
    return (bly_allocator){meter_alloc, meter_free, m};
}

/* ---- the same filter from the same keys ------------------------------------------------------ */

static void order_and_repeats_do_not_matter(void **state) {
    (void)state;
    /* The last n, 117187, fills more than one run when all keys are added twice. */
    for (size_t n = 1; n < (blyt_large() ? 1000000 : 200000) / BLYT_SLOW; n = n * 5 + 2) {
        bly_hash *h = hashes(7, 2 * n);
        bly_filter *want = built(h, n, n, NULL, NULL), *f;
        assert_int_equal(bly_filter_count(want), n);
        for (size_t i = 0; i < n / 2; i++) { /* backwards */
            bly_hash swap = h[i];
            h[i] = h[n - 1 - i];
            h[n - 1 - i] = swap;
        }
        assert_equal_and_free(want, built(h, n, 1 + n / 7, NULL, NULL));
        memcpy(h + n, h, n * sizeof *h); /* twice */
        assert_equal_and_free(want, built(h, 2 * n, 100, NULL, NULL));
        bly_builder *b = builder(0.01, NULL, NULL); /* one hash very often */
        assert_ok(bly_builder_add_hashes(b, h, n));
        for (int i = 0; i < 10000; i++)
            assert_ok(bly_builder_add_hashes(b, h, 1));
        f = finish(b);
        assert_equal_and_free(want, f);
        bly_filter_destroy(want);
        free(h);
    }
}

/* Limits of memory, files and threads do not change the filter. The allocator is never called by
 * two threads at the same time, and nothing leaks. */
static void options_do_not_matter(void **state) {
    bly_hash *h = hashes_to_spill(SPILLS_TWICE);
    static const bly_build_options options[] = {
        {.struct_size = sizeof *options, .threads = 2},
        {.struct_size = sizeof *options, .threads = 1, .memory = 1},
        {.struct_size = sizeof *options, .threads = 2, .memory = 1},
        {.struct_size = sizeof *options, .threads = 99},
    };
    (void)state;
    bly_filter *want =
        built(h, distinct_spills(), distinct_spills(),
              &(bly_build_options){.struct_size = sizeof(bly_build_options), .threads = 1}, NULL);
    assert_int_equal(bly_filter_contains_hashes(want, h, distinct_spills(), NULL),
                     distinct_spills());
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        meter m = {0};
        bly_allocator a = metered(&m);
        bly_build_options o = options[i];
        const size_t n = !o.memory ? distinct_spills() : i % 2 ? SPILLS_TWICE : SPILLS;
        o.folder = scratch;
        assert_equal_and_free(want, built(h, n, i % 2 ? n : 99991, &o, &a));
        assert_int_equal(m.now, 0);
    }
    assert_int_equal(entries(scratch, ""), 2); /* . and .. */
    bly_filter_destroy(want);
    free(h);
}

static void keys_and_hashes(void **state) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 5000);
    bly_spec spec = bly_spec_for(BLY_FUSE, 0, 0.001);
    bly_filter *a, *b, *c;
    bly_hash h[5000];
    (void)state;
    spec.seed = 5;
    assert_ok(bly_filter_build(&spec, l.keys, l.n, &a));
    bly_hash_keys(bly_filter_hasher(a), l.keys, l.n, h);
    bly_builder *from_hashes;
    assert_ok(bly_builder_create(&spec, NULL, &from_hashes));
    assert_ok(bly_builder_add_hashes(from_hashes, h, l.n));
    b = finish(from_hashes);
    assert_equal_and_free(a, b);
    assert_int_equal(bly_filter_contains_many(a, l.keys, l.n, NULL), l.n);
    spec.seed = 6;
    assert_ok(bly_filter_build(&spec, l.keys, l.n, &c));
    assert_false(bly_filter_equal(a, c));
    bly_filter_destroy(a);
    bly_filter_destroy(c);
    blyt_list_free(&l);
}

/* As long as the second word of every hash follows from its first, the builder stores one word per
 * hash. The first hash with two independent words ends that: while the hashes are in a buffer, in
 * runs, or in the file. */
static void one_word_or_two(void **state) {
    static const struct {
        size_t narrow, wide;
        uint64_t memory;
    } rows[] = {
        {200, 1, 0}, {0, 300, 0}, {BLYI_RUN_HASHES + 999, 5, 0}, {3000, 9000, 0}, {5000000, 3, 1}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const size_t adds = rows[i].memory ? rows[i].narrow / BLYT_SLOW : rows[i].narrow;
        const size_t narrow = adds < distinct_spills() ? adds : distinct_spills();
        const size_t n = narrow + rows[i].wide, last = n / 3;
        bly_hash *h = hashes(11, n);
        for (size_t j = 0; j < narrow; j++)
            h[j] = blyi_hash_from_strong64(h[j].lo);
        bly_build_options o = {
            .struct_size = sizeof o, .memory = rows[i].memory, .folder = scratch, .threads = 1};
        bly_builder *b = builder(0.01, &o, NULL);
        for (size_t j = 0, some; j < adds; j += some) {
            const size_t at = j % narrow, left = adds - j < narrow - at ? adds - j : narrow - at;
            some = left < 70000 ? left : 70000;
            assert_ok(bly_builder_add_hashes(b, h + at, some));
        }
        assert_ok(bly_builder_add_hashes(b, h + narrow, rows[i].wide));
        assert_ok(bly_builder_add_hashes(b, h, last)); /* again, as single words */
        assert_int_equal(bly_builder_count(b), adds + rows[i].wide + last);
        bly_filter *f = finish(b), *want;
        bly_hash swap = h[0]; /* begins with a hash of two words, so that all are stored whole */
        h[0] = h[n - 1];
        h[n - 1] = swap;
        want = built(h, n, n,
                     &(bly_build_options){.struct_size = sizeof(bly_build_options), .threads = 1},
                     NULL);
        assert_int_equal(bly_filter_count(f), n);
        assert_int_equal(bly_filter_contains_hashes(f, h, n, NULL), n);
        assert_equal_and_free(want, f);
        bly_filter_destroy(want);
        free(h);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* However many keys are added, the builder uses little more memory than the limit, apart from the
 * filter. */
static void memory_is_bounded(void **state) {
    const uint64_t n = blyt_long() ? UINT64_C(60000000) : UINT64_C(6000000) / BLYT_SLOW;
    const uint64_t allowed = UINT64_C(64) << 20; /* 6,000,000 hashes of 16 bytes are 92 MiB */
    const uint64_t distinct = blyt_large() || n < distinct_spills() ? n : distinct_spills();
    meter m = {0};
    bly_allocator a = metered(&m);
    bly_builder *b = builder(
        0.01,
        &(bly_build_options){.struct_size = sizeof(bly_build_options), .threads = 2, .memory = 1},
        &a);
    bly_hash h[1000];
    (void)state;
    for (uint64_t i = 0; i < n; i++) {
        h[i % 1000] = hash_at(i % distinct);
        if (i % 1000 == 999)
            assert_ok(bly_builder_add_hashes(b, h, 1000));
    }
    assert_true(m.peak <= allowed);
    bly_filter *f = finish(b);
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    assert_int_equal(s.count, distinct);
    assert_true(m.peak <= allowed * 5 / 4 + s.bytes);
    for (uint64_t i = 0; i < distinct; i += 97)
        assert_true(bly_filter_contains_hash(f, hash_at(i)));
    bly_filter_destroy(f);
    assert_int_equal(m.now, 0);
}

/* Without a limit, the builder uses 16 bytes per key, one run, and the memory to solve a shard:
 * less than 20 bytes per key. */
static void memory_without_bound(void **state) {
    const size_t n = (size_t)(blyt_large() ? 3 : 1) << 20;
    meter m = {0};
    bly_allocator a = metered(&m);
    bly_hash *h = hashes(3, n);
    (void)state;
    bly_filter *f =
        built(h, n, 4096,
              &(bly_build_options){.struct_size = sizeof(bly_build_options), .threads = 1}, &a);
    assert_true(m.peak < 16 * n + 20 * n);
    bly_filter_destroy(f);
    free(h);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Each allocation fails in turn. An add that failed has added nothing, and can be repeated. */
static void no_memory(size_t n, size_t step) {
    bly_hash *h = hashes(11, n);
    bly_build_options one = {.struct_size = sizeof one, .threads = 1};
    bly_filter *want = built(h, n, step, &one, NULL);
    size_t failures = 0;
    for (size_t fail_at = 1, failed = 1; failed; fail_at++) {
        blyt_heap heap = {.fail_at = fail_at};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_spec spec = bly_spec_for(BLY_FUSE, 0, 0.01);
        bly_builder *b = (bly_builder *)&heap;
        bly_filter *f = (bly_filter *)&heap;
        spec.allocator = &a;
        bly_status status = bly_builder_create(&spec, &one, &b);
        failed = status != BLY_OK;
        if (failed)
            assert_null(b);
        for (size_t i = 0; b && i < n; i += step) {
            size_t some = n - i < step ? n - i : step;
            status = bly_builder_add_hashes(b, h + i, some);
            if (status) {
                failed = 1;
                assert_int_equal(status, BLY_ENOMEM);
                assert_int_equal(bly_builder_count(b), i);
                assert_ok(bly_builder_add_hashes(b, h + i, some));
            }
        }
        status = b ? bly_builder_finish(b, &f) : BLY_ENOMEM;
        if (status) {
            failed = 1;
            assert_int_equal(status, BLY_ENOMEM);
            assert_true(!b || f == NULL);
        } else {
            assert_equal_and_free(want, f);
        }
        bly_builder_destroy(b);
        assert_int_equal(heap.live, 0);
        failures += failed;
    }
    assert_true(failures >= 8);
    bly_filter_destroy(want);
    free(h);
}

static void every_allocation_fails(void **state) {
    (void)state;
    no_memory(10, 1);
    no_memory(5000, 777);
    no_memory(2 * BLYI_RUN_HASHES + 1000, 2 * BLYI_RUN_HASHES + 1000);
    no_memory(BLYI_RUN_HASHES + 1000, BLYI_RUN_HASHES - 1);
}

/* If the folder does not exist, adds fail, and the keys that were added before stay. */
static void no_folder(void **state) {
    const size_t n = SPILLS, before = 1000;
    bly_hash *h = hashes_to_spill(SPILLS);
    bly_build_options o = {.struct_size = sizeof o, .memory = 1, .folder = at("no/such/folder")};
    (void)state;
    bly_builder *b = builder(0.01, &o, NULL);
    assert_ok(bly_builder_add_hashes(b, h, before));
    for (int twice = 0; twice < 2; twice++) {
        errno = 0;
        assert_int_equal(bly_builder_add_hashes(b, h, n), BLY_EIO);
        assert_int_equal(errno, ENOENT);
        assert_int_equal(bly_builder_count(b), before);
    }
    bly_filter *f = finish(b), *want = built(h, before, before, NULL, NULL);
    assert_equal_and_free(f, want);
    bly_filter_destroy(f);
    free(h);
}

/* The file reaches a size limit of 20 MiB: the add fails and adds nothing. Without the limit, it
 * succeeds. */
static void no_space(void **state) {
    bly_build_options o = {.struct_size = sizeof o, .memory = 1, .folder = scratch};
    bly_hash *h = hashes_to_spill(SPILLS);
    struct rlimit old, low;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = old;
    low.rlim_cur = 20 << 20;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    bly_builder *b = builder(0.01, &o, NULL);
    assert_ok(bly_builder_add_hashes(b, h, 1000));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    errno = 0;
    bly_status status = bly_builder_add_hashes(b, h, SPILLS);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(status, BLY_EIO);
    assert_int_equal(error, EFBIG);
    assert_int_equal(bly_builder_count(b), 1000);
    assert_ok(bly_builder_add_hashes(b, h, SPILLS)); /* without the limit */
    bly_filter *f = finish(b), *want = built(h, distinct_spills(), distinct_spills(), NULL, NULL);
    assert_equal_and_free(f, want);
    bly_filter_destroy(f);
    free(h);
}

static void refusals(void **state) {
    const bly_spec right = bly_spec_for(BLY_FUSE, 0, 0.01);
    bly_builder *b = (bly_builder *)&b;
    bly_spec spec;
    (void)state;
#define REFUSED(change, want)                                                                      \
    do {                                                                                           \
        spec = right;                                                                              \
        change;                                                                                    \
        assert_int_equal(bly_builder_create(&spec, NULL, &b), want);                               \
        assert_null(b);                                                                            \
    } while (0)
    REFUSED(spec.geometry.kind = BLY_SBBF, BLY_EUNSUPPORTED);
    REFUSED(spec.geometry.kind = BLY_CLASSIC, BLY_EUNSUPPORTED);
    REFUSED(spec.geometry.kind = BLY_SCALABLE, BLY_EUNSUPPORTED);
    REFUSED(spec.geometry.kind = BLY_KIND_NONE, BLY_EKIND);
    REFUSED(spec.geometry.kind = (bly_kind)250, BLY_EKIND);
    REFUSED(spec.geometry.size = 3 * 64, BLY_EINVAL);
    REFUSED(spec.geometry.hashes = 8, BLY_EINVAL);
    REFUSED(spec.geometry.options = BLY_FOLDABLE, BLY_EINVAL);
    REFUSED(spec.geometry.detail = 6, BLY_EINVAL);
    REFUSED(spec.sharing = BLY_SHARED, BLY_EINVAL);
    REFUSED(spec.scalable.first_share = 0.5, BLY_EINVAL);
    REFUSED(spec.window.span = 5, BLY_EINVAL);
    REFUSED(spec.fpr = 0, BLY_ERATE);
    REFUSED(spec.fpr = 1, BLY_ERATE);
    REFUSED(spec.fpr = 0x1p-29, BLY_ERATE);
    REFUSED(spec.hasher.id = BLY_HASH_XXH3, BLY_EHASHER);
#undef REFUSED
    spec = right;
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    spec.capacity = 100000000;
    assert_int_equal(bly_builder_create(&spec, NULL, &b), BLY_EWEAKHASH);
    bly_builder_destroy(NULL);
    /* Only the builder can make a fuse filter. */
    bly_filter *f;
    spec = bly_spec_for(BLY_FUSE, 100, 0.01);
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EUNSUPPORTED);
}

static void finished_is_finished(void **state) {
    bly_builder *b = builder(0.01, NULL, NULL);
    bly_hash h = hash_at(1);
    bly_filter *f, *again;
    (void)state;
    assert_ok(bly_builder_add_hashes(b, &h, 1));
    assert_ok(bly_builder_finish(b, &f));
    assert_int_equal(bly_builder_finish(b, &again), BLY_EINVAL);
    assert_null(again);
    assert_int_equal(bly_builder_add_hashes(b, &h, 1), BLY_EINVAL);
    assert_int_equal(bly_builder_add(b, &(bly_bytes){"x", 1}, 1), BLY_EINVAL);
    bly_builder_destroy(b);
    assert_true(bly_filter_contains_hash(f, h)); /* the filter does not need its builder */
    bly_filter_destroy(f);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static void the_default_hash(void **state) {
    static const struct {
        double p;
        uint64_t capacity;
        bly_hash_id want;
    } rows[] = {{0.01, 0, BLY_HASH_XXH3},
                {0.001, 0, BLY_HASH_XXH3},
                {1e-6, 0, BLY_HASH_XXH3_128},
                {1e-7, 1000, BLY_HASH_XXH3},
                {1e-7, UINT64_C(1) << 40, BLY_HASH_XXH3_128}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bly_spec spec = bly_spec_for(BLY_FUSE, rows[i].capacity, rows[i].p);
        bly_builder *b;
        assert_ok(bly_builder_create(&spec, NULL, &b));
        bly_filter *f = finish(b);
        assert_int_equal(bly_filter_hasher(f)->id, rows[i].want);
        bly_filter_destroy(f);
    }
}

/* A rate of 2^-r takes r bits per slot, down to the lowest rate, 2^-28. */
static void powers_of_two(void **state) {
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 100000);
    (void)state;
    for (int r = 1; r <= 28; r += 9) {
        bly_filter *f;
        assert_ok(blyt_build(BLY_FUSE, l.keys, l.n, ldexp(1, -r), &f));
        bly_geometry g = bly_filter_geometry(f);
        assert_int_equal(g.hashes, r);
        assert_true(bly_plan_capacity(&g, ldexp(1, -r), 128) >= l.n);
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
}

/* With more keys than the hash allows, the build fails, unless the spec allows a weak hash. */
static void weak_hashes(void **state) {
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 100000);
    bly_spec spec = bly_spec_for(BLY_FUSE, 0, 1e-4);
    bly_filter *f = (bly_filter *)&spec;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    spec.capacity = 1000;
    assert_int_equal(bly_filter_build(&spec, l.keys, l.n, &f), BLY_EWEAKHASH);
    assert_null(f);
    assert_ok(bly_filter_build(&spec, l.keys, 40000, &f));
    bly_filter_destroy(f);
    spec.allow_weak_hash = true;
    assert_ok(bly_filter_build(&spec, l.keys, l.n, &f));
    assert_int_equal(bly_filter_contains_many(f, l.keys, l.n, NULL), l.n);
    bly_filter_get_info(f, &s);
    assert_true(s.current_fpr > 0x1p-14 + 99000 / 0x1p32);
    bly_filter_destroy(f);
    blyt_list_free(&l);
}

/* Builds a filter of n keys whose hashes have few random bits (masks[kind]), and returns the
 * status. */
static bly_status poor_hash(unsigned kind, size_t n) {
    static const bly_hash masks[] = {
        {UINT64_MAX, 0}, {0, UINT64_MAX}, {0xffff, UINT64_MAX}, {0xffff, 0}, {7, 7}};
    bly_hash *h = hashes(0, n);
    bly_builder *b = builder(0.01, NULL, NULL);
    bly_filter *f;
    for (size_t i = 0; i < n; i++)
        h[i] = (bly_hash){h[i].lo & masks[kind].lo, h[i].lo & masks[kind].hi};
    assert_ok(bly_builder_add_hashes(b, h, n));
    bly_status status = bly_builder_finish(b, &f);
    if (status == BLY_OK) {
        assert_int_equal(bly_filter_contains_hashes(f, h, n, NULL), n);
        bly_filter_destroy(f);
    } else {
        assert_int_equal(status, BLY_EWEAKHASH);
        assert_null(f);
    }
    bly_builder_destroy(b);
    free(h);
    return status;
}

/* Hashes of a poor custom function cost space, or make the build fail after 0.15 s, but do no
 * harm. */
static void poor_hashes(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 5; kind++)
        (void)poor_hash(kind, 700);
    assert_ok(poor_hash(0, 3000));
    assert_ok(poor_hash(4, 3000));
    (void)poor_hash(1, 2000);
    for (unsigned kind = 1; blyt_large() && kind < 4; kind++)
        (void)poor_hash(kind, 3000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_repeats_do_not_matter),
        IN_SCRATCH(options_do_not_matter),
        cmocka_unit_test(keys_and_hashes),
        IN_SCRATCH(one_word_or_two),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(memory_without_bound),
        cmocka_unit_test(every_allocation_fails),
        IN_SCRATCH(no_folder),
        IN_SCRATCH(no_space),
        cmocka_unit_test(refusals),
        cmocka_unit_test(finished_is_finished),
        cmocka_unit_test(the_default_hash),
        cmocka_unit_test(powers_of_two),
        cmocka_unit_test(weak_hashes),
        cmocka_unit_test(poor_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
