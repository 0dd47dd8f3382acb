/* test_chunks.c - host/chunks.h: reading parts of a filter's file, reading filters from chunks, and
 * moving the memory of filters. */
#include "store_support.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/defrag.h>
#include <errno.h>

/* How many filters `make` can make: one of every shape, and two overlays over scalable filters
 * (filters made of filters made of filters). */
static size_t made_count(void) {
    return shape_count() + 2;
}

static bly_filter *make(size_t i, int keys) {
    if (i < shape_count())
        return filled(shape_at(i), NULL, keys);
    bly_filter *base = filled((bly_geometry){BLY_SCALABLE, 0, 10, 0, 0}, NULL, keys);
    const bly_overlay_options over = {.changes = 50,
                                      .marker = i == shape_count() ? BLY_CLASSIC : BLY_CUCKOO};
    bly_filter *f, *own;
    assert_ok(bly_overlay_over(base, &over, NULL, &f));
    assert_ok(bly_filter_remove(f, "store-key-3", 11, NULL));
    assert_ok(bly_filter_add(f, "store-key-3", 11, NULL));
    assert_ok(bly_filter_clone(f, NULL, &own));
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    return own;
}

/* ---- images ---------------------------------------------------------------------------------- */

static void copy_everywhere(const bly_chunks *image, blyt_buffer im, size_t step) {
    const size_t sizes[] = {0, 1, 63, 64, 65, 200, im.size - 1, im.size, im.size + 9};
    uint8_t *to = malloc(im.size + 10);
    assert_non_null(to);
    for (size_t at = 0; at < im.size + 2; at += step)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            size_t left = at < im.size ? im.size - at : 0;
            size_t want = sizes[s] < left ? sizes[s] : left;
            to[want] = 0xA5;
            assert_int_equal(bly_chunks_read(image, at, to, sizes[s]), want);
            assert_memory_equal(to, im.data + (left ? at : 0), want);
            assert_int_equal(to[want], 0xA5);
        }
    assert_int_equal(bly_chunks_read(image, UINT64_MAX, to, 5), 0);
    free(to);
}

static void check_image(const bly_filter *f, size_t step) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    blyt_buffer im = blyt_write(f);
    bly_chunks *image;
    assert_ok(bly_chunks_open(f, &a, &image));
    assert_int_equal(heap.live, 1);
    assert_true(heap.largest < 16384);
    assert_int_equal(bly_chunks_size(image), im.size);
    copy_everywhere(image, im, step);
    bly_chunks_close(image);
    assert_int_equal(heap.live, 0);
    heap = (blyt_heap){.fail_at = 1};
    assert_int_equal(bly_chunks_open(f, &a, &image), BLY_ENOMEM);
    assert_null(image);
    free(im.data);
}

static void test_images(void **state) {
    (void)state;
    for (size_t i = 0; i < made_count(); i++)
        for (int keys = 0; keys <= 60; keys += 60) {
            bly_filter *f = make(i, keys);
            check_image(f, 7 * BLYT_SLOW);
            bly_filter_destroy(f);
        }
    bly_chunks_close(NULL);
}

static void test_large_images(void **state) {
    (void)state;
    const bly_geometry large[] = {{BLY_SPLIT512, 8, 40001, 0, 0}, {BLY_SCALABLE, 0, 3000000, 0, 0}};
    for (size_t i = 0; i < COUNT_OF(large); i++) {
        bly_filter *f = filled(large[i], NULL, 50);
        check_image(f, 700001);
        bly_filter_destroy(f);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A file in memory as a chunk source. It asserts that bytes are read in order, and overwrites them
 * after they were read, so that they cannot be read twice. */
typedef struct holder {
    uint8_t *data;
    size_t size;
    uint64_t taken;
    size_t peeks, takes, fail_peek, fail_take;
    uint64_t
        change_at; /* offset of a byte that is wrong when it is taken, right when it is peeked */
} holder;

static bly_status holder_peek(void *ctx, uint64_t at, void *to, size_t n) {
    holder *h = ctx;
    assert_int_equal(h->taken, 0);
    assert_true(n <= HEADER && at + n <= h->size);
    memcpy(to, h->data + at, n);
    if (++h->peeks != h->fail_peek)
        return BLY_OK;
    errno = ENXIO;
    return BLY_EIO;
}

static bly_status holder_take(void *ctx, uint64_t at, void *to, size_t n) {
    holder *h = ctx;
    uint8_t *bytes = to;
    assert_int_equal(at, h->taken);
    assert_true(n > 0 && n <= 1 << 20 && at + n <= h->size);
    memcpy(to, h->data + at, n);
    memset(h->data + at, 0xDD, n);
    h->taken += n;
    if (h->change_at >= at && h->change_at < h->taken)
        bytes[h->change_at - at] ^= 0x10;
    if (++h->takes != h->fail_take)
        return BLY_OK;
    errno = ENXIO;
    return BLY_EIO;
}

/* Reads a filter from the first `size` bytes of a copy of `data`. */
static bly_status read_copy(holder *h, const uint8_t *data, size_t size,
                            const bly_open_options *options, bly_filter **out) {
    h->data = malloc(size ? size : 1);
    assert_non_null(h->data);
    memcpy(h->data, data, size);
    h->size = size;
    const bly_chunk_source source = {size, holder_peek, holder_take, h};
    *out = (bly_filter *)h; /* not NULL, to see that it is set */
    bly_status status = bly_filter_read_chunks(&source, options, out);
    free(h->data);
    return status;
}

static void check_read(const bly_filter *f) {
    holder h = {.change_at = UINT64_MAX};
    blyt_buffer im = blyt_write(f);
    bly_filter *g;
    assert_ok(read_copy(&h, im.data, im.size, NULL, &g));
    assert_int_equal(h.taken, im.size);
    assert_same(f, g);
    blyt_buffer again = blyt_write(g);
    assert_int_equal(again.size, im.size);
    assert_memory_equal(again.data, im.data, im.size);
    free(again.data);
    free(im.data);
    bly_filter_destroy(g);
}

static void test_reading(void **state) {
    (void)state;
    for (size_t i = 0; i < made_count(); i++)
        for (int keys = 0; keys <= 60; keys += 60) {
            bly_filter *f = make(i, keys);
            check_read(f);
            bly_filter_destroy(f);
        }
    bly_filter *f = filled((bly_geometry){BLY_SPLIT512, 8, 40001, 0, 0}, NULL, 50);
    check_read(f);
    bly_filter_destroy(f);
}

/* Asserts that these bytes are refused with the status that bly_filter_parse returns. If a header
 * is wrong, nothing is allocated, and nothing is read (only peeked at). */
static void assert_unread(blyt_buffer im) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    const bly_open_options o = {.struct_size = sizeof o, .allocator = &a};
    holder h = {.change_at = UINT64_MAX};
    bly_filter *f, *g;
    bly_status want = bly_filter_parse(im.data, im.size, NULL, &g);
    assert_int_not_equal(want, BLY_OK);
    assert_int_equal(read_copy(&h, im.data, im.size, &o, &f), want);
    assert_null(f);
    assert_int_equal(heap.live, 0);
    assert_true(heap.largest <= im.size + PAGE);
    assert_int_equal(heap.calls == 0, h.takes == 0);
    assert_true(im.size > HEADER || heap.calls == 0);
}

static void test_bytes_that_are_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < made_count(); i++) {
        bly_filter *f = make(i, 40);
        blyt_buffer im = blyt_write(f);
        for (size_t size = 0; size < im.size; size += size < 80 ? 1 : 61 * BLYT_SLOW)
            assert_unread((blyt_buffer){im.data, size});
        assert_unread((blyt_buffer){im.data, im.size - 1});
        uint8_t *longer = calloc(1, im.size + 1);
        assert_non_null(longer);
        memcpy(longer, im.data, im.size);
        assert_unread((blyt_buffer){longer, im.size + 1});
        free(longer);
        for (size_t at = 0; at < im.size; at += at < HEADER ? 1 : 13 * BLYT_SLOW)
            for (int bit = 0; bit < 8; bit += 1 + 6 * (at >= HEADER)) {
                im.data[at] ^= (uint8_t)(1 << bit);
                assert_unread(im);
                im.data[at] ^= (uint8_t)(1 << bit);
            }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* Finds the offsets of all headers in a file by following their sizes. */
static size_t headers_of(blyt_buffer im, size_t at[], size_t most) {
    size_t n = 0;
    bly_file_info info = {.struct_size = sizeof info};
    for (size_t next = 0; next < im.size && n < most; n++) {
        at[n] = next;
        assert_ok(bly_file_parse_info(im.data + next, im.size - next, &info));
        bool nested = blyt_is_nested(info.geometry.kind);
        next += HEADER + (nested ? 0 : (size_t)info.body_bytes);
    }
    return n;
}

/* A header that is damaged, or that differs between peeking and reading, is refused. */
static void test_headers_inside(void **state) {
    (void)state;
    for (size_t i = 0; i < made_count(); i++) {
        bly_filter *f = make(i, 60), *g;
        blyt_buffer im = blyt_write(f);
        size_t at[60], n = headers_of(im, at, 60);
        for (size_t j = 0; j < n; j++)
            for (size_t b = at[j]; b < at[j] + HEADER; b++) {
                holder h = {.change_at = b};
                assert_int_equal(read_copy(&h, im.data, im.size, NULL, &g), BLY_ECORRUPT);
                assert_int_equal(h.taken, b - b % HEADER + HEADER);
                im.data[b] ^= 4;
                assert_unread(im);
                im.data[b] ^= 4;
            }
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_sources_that_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < made_count(); i++) {
        bly_filter *f = make(i, 60), *g;
        blyt_buffer im = blyt_write(f);
        blyt_heap heap = {0};
        bly_allocator a = blyt_heap_allocator(&heap);
        const bly_open_options o = {.struct_size = sizeof o, .allocator = &a};
        holder all = {.change_at = UINT64_MAX};
        assert_ok(read_copy(&all, im.data, im.size, &o, &g));
        size_t calls = heap.calls;
        bly_filter_destroy(g);
        for (size_t stop = 1; stop <= all.peeks + all.takes; stop++) {
            holder h = {.change_at = UINT64_MAX, .fail_peek = stop};
            if (stop > all.peeks)
                h.fail_take = stop - all.peeks;
            errno = 0;
            assert_int_equal(read_copy(&h, im.data, im.size, &o, &g), BLY_EIO);
            assert_int_equal(errno, ENXIO);
            assert_null(g);
            assert_int_equal(h.peeks + h.takes, stop);
            assert_int_equal(heap.live, 0);
        }
        for (size_t fail = 1; fail <= calls; fail++) {
            holder h = {.change_at = UINT64_MAX};
            heap = (blyt_heap){.fail_at = fail};
            assert_int_equal(read_copy(&h, im.data, im.size, &o, &g), BLY_ENOMEM);
            assert_null(g);
            assert_int_equal(h.takes, 0);
            assert_int_equal(heap.live, 0);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_read_options(void **state) {
    (void)state;
    bly_hasher custom = custom_hasher(5);
    bly_filter *f = filled(shape_at(0), &custom, 40), *g;
    blyt_buffer im = blyt_write(f);
    holder h = {.change_at = UINT64_MAX};
    assert_int_equal(read_copy(&h, im.data, im.size, NULL, &g), BLY_EHASHER);
    const bly_open_options right = {
        .struct_size = sizeof right, .hasher = &custom, .sharing = BLY_SHARED};
    assert_ok(read_copy(&h, im.data, im.size, &right, &g));
    assert_int_equal(bly_filter_sharing(g), BLY_SHARED);
    assert_same(f, g);
    bly_filter_destroy(g);
    const bly_open_options without = {.struct_size = sizeof without, .flags = BLY_OPEN_WITHOUT_KEY};
    h = (holder){.change_at = UINT64_MAX};
    assert_ok(read_copy(&h, im.data, im.size, &without, &g));
    assert_null(bly_filter_hasher(g));
    bly_filter_destroy(g);
    h = (holder){.change_at = UINT64_MAX};
    const bly_open_options unknown = {.struct_size = sizeof unknown, .flags = 1u << 9};
    assert_int_equal(read_copy(&h, im.data, im.size, &unknown, &g), BLY_EINVAL);
    free(im.data);
    bly_filter_destroy(f);
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* An allocator whose blocks start at each of four 16-byte alignments in turn, end where malloc's
 * blocks end (so that a sanitizer reports accesses past them), and record their size. */
typedef struct yard {
    unsigned turn;
    size_t live, offered, moved, stay; /* if not 0: every `stay`-th block is not moved */
} yard;

typedef struct tag {
    void *raw;
    size_t size;
} tag;

static tag *tag_of(void *block) {
    return (tag *)block - 1;
}

static void *yard_alloc(void *ctx, size_t size) {
    yard *y = ctx;
    size_t before = sizeof(tag) + 16 * (size_t)(y->turn++ % 4);
    uint8_t *raw = calloc(1, before + size);
    assert_non_null(raw);
    *tag_of(raw + before) = (tag){raw, size};
    y->live++;
    return raw + before;
}

static void yard_free(void *ctx, void *ptr) {
    ((yard *)ctx)->live--;
    free(tag_of(ptr)->raw);
}

static void *yard_move(void *ctx, void *block, size_t size) {
    yard *y = ctx;
    assert_int_equal(tag_of(block)->size, size);
    if (y->stay && ++y->offered % y->stay == 0)
        return NULL;
    uint8_t *to = yard_alloc(y, size);
    memcpy(to, block, size);
    memset(block, 0xDD, size);
    yard_free(y, block);
    y->moved++;
    return to;
}

/* Returns a copy of the filter whose memory comes from the allocator y. */
static bly_filter *in_yard(const bly_filter *f, yard *y) {
    const bly_allocator a = {yard_alloc, yard_free, y};
    bly_filter *g;
    assert_ok(bly_filter_clone(f, &a, &g));
    return g;
}

static void move_all(bly_filter *f, yard *y, size_t most) {
    size_t before = y->moved, from = 0, steps = 0;
    do {
        size_t had = y->moved;
        from = bly_filter_defrag(f, from, most, yard_move, y);
        assert_true(y->moved - had <= most);
        assert_true(from == 0 || from == ++steps * most);
    } while (from);
    if (!y->stay)
        assert_int_equal(y->moved - before, y->live - 1); /* all but the handle */
}

/* Moves the memory of f several times and adds the same keys to both filters: f must behave like
 * `still`, which is not moved. */
static void check_moved(bly_filter *still, bly_filter *f, yard *y, size_t most) {
    uint32_t can = bly_kind_capabilities(bly_filter_geometry(f).kind);
    for (int round = 0; round < 5; round++) {
        move_all(f, y, most);
        assert_same(still, f);
        blyt_buffer a = blyt_write(still), b = blyt_write(f);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        free(a.data);
        free(b.data);
        for (int i = 0; can & BLY_CAN_ADD && i < 30; i++) {
            char key[32];
            size_t len = (size_t)key_text(key, "more", 30 * round + i);
            bly_status status = bly_filter_add(still, key, len, NULL); /* may be full */
            assert_int_equal(bly_filter_add(f, key, len, NULL), status);
        }
    }
    assert_same(still, f);
}

static void test_moving(void **state) {
    (void)state;
    for (size_t i = 0; i < made_count(); i++)
        for (size_t most = 1; most <= 4; most += 3) {
            yard y = {0};
            bly_filter *still = make(i, 20), *f = in_yard(still, &y);
            check_moved(still, f, &y, most);
            bly_filter_destroy(f);
            assert_int_equal(y.live, 0);
            f = in_yard(still, &y);
            y.stay = 2;
            check_moved(still, f, &y, most);
            bly_filter *handle = bly_filter_defrag_handle(f, yard_move, &y);
            bly_filter *stays = bly_filter_defrag_handle(handle, yard_move, &y);
            assert_true((handle == f) != (stays == handle));
            assert_same(still, stays);
            bly_filter_destroy(stays);
            assert_int_equal(y.live, 0);
            bly_filter_destroy(still);
        }
}

static void test_moving_shared(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        if (!shape_can(shape_at(i), BLY_CAN_SHARE))
            continue;
        yard y = {0};
        const bly_allocator a = {yard_alloc, yard_free, &y};
        const bly_open_options o = {
            .struct_size = sizeof o, .allocator = &a, .sharing = BLY_SHARED};
        bly_filter *still = make(i, 20), *f;
        blyt_buffer im = blyt_write(still);
        assert_ok(bly_filter_parse(im.data, im.size, &o, &f));
        check_moved(still, f, &y, 1);
        assert_int_equal(y.live, 3); /* handle, body, and counters of the sharing mode */
        free(im.data);
        bly_filter_destroy(f);
        bly_filter_destroy(still);
    }
}

/* Borrowed memory is not moved. */
static void test_moving_leaves_what_is_lent(void **state) {
    (void)state;
    yard y = {0}, others = {0};
    const bly_allocator a = {yard_alloc, yard_free, &y};
    bly_filter *still = filled((bly_geometry){BLY_SCALABLE, 0, 10, 0, 0}, NULL, 60);
    bly_filter *base = in_yard(still, &others), *f;
    assert_ok(bly_overlay_over(base, NULL, &a, &f));
    move_all(f, &y, 1);
    assert_true(contains_all(f, 60));
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    bly_filter_destroy(still);
    assert_int_equal(y.live + others.live, 0);
}

/* Moves a block to memory from calloc, which has a smaller alignment than the large arrays of the
 * default allocator. */
static void *move_plain(void *ctx, void *block, size_t size) {
    size_t *moved = ctx;
    uint8_t *to = calloc(1, size);
    assert_non_null(to);
    memcpy(to, block, size);
    free(block);
    *moved += 1;
    return to;
}

static void test_moving_large(void **state) {
    (void)state;
    size_t moved = 0;
    bly_filter *f = filled((bly_geometry){BLY_SPLIT512, 8, 70001, 0, 0}, NULL, 60);
    bly_filter *still = filled((bly_geometry){BLY_SPLIT512, 8, 70001, 0, 0}, NULL, 60);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bly_filter_defrag(f, 0, SIZE_MAX, move_plain, &moved), 0);
    assert_int_equal(moved, 3);
    add_keys(f, "store", 60, 30);
    add_keys(still, "store", 60, 30);
    assert_same(f, still);
    bly_filter_destroy(f);
    bly_filter_destroy(still);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),         cmocka_unit_test(test_large_images),
        cmocka_unit_test(test_reading),        cmocka_unit_test(test_bytes_that_are_wrong),
        cmocka_unit_test(test_headers_inside), cmocka_unit_test(test_sources_that_fail),
        cmocka_unit_test(test_read_options),   cmocka_unit_test(test_moving),
        cmocka_unit_test(test_moving_shared),  cmocka_unit_test(test_moving_leaves_what_is_lent),
        cmocka_unit_test(test_moving_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
