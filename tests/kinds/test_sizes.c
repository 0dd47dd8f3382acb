/* Large filters: more keys, bits and bytes than fit 32 bits. */
#include "support.h"

#include "filter/filter.h"

#include <sys/mman.h>
#include <unistd.h>

/* An allocator of large blocks, in which only used pages cost memory or time. (A sanitizer's calloc
 * would mark every byte.) The page after each block cannot be accessed. */
typedef struct pages {
    void *block[4], *mapped[4];
    size_t size[4], live;
} pages;

static void *pages_alloc(void *ctx, size_t size) {
    pages *p = ctx;
    size_t i = 0;
    while (i < COUNT_OF(p->block) && p->block[i])
        i++;
    p->live++;
    if (size < 1 << 20 || i == COUNT_OF(p->block))
        return calloc(1, size ? size : 1);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (size + page - 1) / page * page;
    char *at = mmap(NULL, used + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        p->live--;
        return NULL;
    }
    assert_int_equal(mprotect(at + used, page, PROT_NONE), 0);
    p->size[i] = used + page;
    p->mapped[i] = at;
    /* Aligned to 64 bytes, as the library expects. */
    return p->block[i] = at + (used - size) / 64 * 64;
}

static void pages_free(void *ctx, void *block) {
    pages *p = ctx;
    p->live -= block != NULL;
    for (size_t i = 0; block && i < COUNT_OF(p->block); i++)
        if (p->block[i] == block) {
            assert_int_equal(munmap(p->mapped[i], p->size[i]), 0);
            p->block[i] = NULL;
            return;
        }
    free(block);
}

/* Maps the pages of these bytes before they are read, if the system can do that in one call. */
static void expect_reads(const void *bytes, uint64_t size) {
#ifdef MADV_POPULATE_READ
    size_t page = (size_t)sysconf(_SC_PAGESIZE), skip = (page - (uintptr_t)bytes % page) % page;
    if (size > skip + page) /* if that fails, they are read one by one */
        (void)madvise((char *)(uintptr_t)bytes + skip, (size_t)(size - skip) / page * page,
                      MADV_POPULATE_READ);
#else
    (void)bytes;
    (void)size;
#endif
}

/* Asserts that bits are spread evenly. With a truncated index, the upper part would be empty. */
static void check_spread(const bly_filter *f) {
    uint32_t k = bly_filter_geometry(f).hashes;
    expect_reads(blyi_words(f), 8 * blyi_word_count(f));
    uint64_t quarter = blyi_word_count(f) / 32 * 8, sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t set = f->kernels->popcount(blyi_words(f) + i * quarter, (size_t)quarter);
        assert_true(set > 200 * k && set < 300 * k);
        sum += set;
    }
    assert_true(sum <= 1000 * k);
}

/* Filters with more bytes than size_t can represent are refused, also if the size modulo 2^32 is
 * small. If size_t has 64 bits, no such filter can be planned. */
static void more_bytes_than_size_t_counts(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_ADD) || blyt_can(c, BLY_CARDINALITY_ONLY))
            continue;
        for (uint64_t keys = 20000000000; SIZE_MAX == UINT32_MAX && keys < 40000000000;
             keys += 1000000000) {
            bly_spec spec = blyt_spec(c, keys, 0.1);
            bly_filter *f = NULL;
            spec.scalable.first_share = blyt_can(c, BLY_HAS_LEVELS) ? 0.9 : 0;
            assert_int_equal(bly_filter_create(&spec, &f), BLY_ENOMEM);
            assert_null(f);
        }
    }
}

/* Filters for more than 2^32 keys, with more than 2^32 bits: indices beyond 32 bits are used, in a
 * body whose pages are mostly never touched. (Building touches all pages; so for kinds that are
 * built, only test_plan.c checks the plans.) */
static void more_keys_and_bits_than_32_bits_count(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_ADD) || blyt_can(c, BLY_CARDINALITY_ONLY))
            continue;
        pages heap = {.live = 0};
        bly_allocator a = {pages_alloc, pages_free, &heap};
        bly_spec spec = blyt_spec(c, 5000000000, 0.5);
        bly_filter *f = NULL;
        spec.allocator = &a;
        spec.scalable.first_share = blyt_can(c, BLY_HAS_LEVELS) ? 0.9 : 0;
        bly_status status = bly_filter_create(&spec, &f);
        if (SIZE_MAX == UINT32_MAX && status == BLY_ENOMEM)
            continue; /* more bytes than a 32-bit machine can have */
        assert_ok(status);
        const bly_filter *only = bly_filter_level(f, 0);
        bly_geometry g = bly_filter_geometry(only);
        assert_true(bly_plan_bits(&g) > UINT32_MAX && bly_filter_capacity(f) > UINT32_MAX);
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 1000);
        blyt_list absent = blyt_list_of(KEYS_RANDOM, 1000, 1000);
        blyt_add_all(f, &l);
        assert_int_equal(bly_filter_count(f), 1000);
        blyt_assert_contains(f, &l);
        assert_int_equal(bly_filter_contains_many(f, absent.keys, absent.n, NULL), 0);
        if (blyt_sets_bits(c))
            check_spread(only);
        if (blyt_can(c, BLY_CAN_REMOVE)) {
            assert_ok(bly_filter_remove_many(f, l.keys, l.n, NULL, NULL));
            assert_int_equal(bly_filter_contains_many(f, l.keys, l.n, NULL), 0);
        }
        blyt_list_free(&l);
        blyt_list_free(&absent);
        bly_filter_destroy(f);
        assert_int_equal(heap.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_bytes_than_size_t_counts),
        cmocka_unit_test(more_keys_and_bits_than_32_bits_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
