/* test_pages.c - fingerprints in a file: all that were added are found, however often the file was
 * rewritten. Invalid files are refused. */
#include "store_support.h"

#include "io/fingerprint_file.h"

#include <errno.h>
#include <fcntl.h>

/* ---- another process ------------------------------------------------------------------------- */

/* A file that another process creates just before this one creates it. */
static const char *make_meanwhile;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    if (!(flags & O_CREAT))
        return __real_open(path, flags);
    va_list args;
    va_start(args, flags);
    unsigned mode = va_arg(args, unsigned);
    va_end(args);
    if (make_meanwhile)
        spill(make_meanwhile, "theirs", 6);
    make_meanwhile = NULL;
    return __real_open(path, flags, mode);
}

/* The name of open on systems where 64-bit offsets must be requested. */
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));

/* ---- helpers --------------------------------------------------------------------------------- */

enum { SUMMED = 56 };

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* n distinct fingerprints in ascending order. */
static uint64_t *numbers(uint64_t seed, size_t n) {
    uint64_t *x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = blyt_next(&seed);
    qsort(x, n, sizeof *x, compare);
    return x;
}

typedef struct collected {
    uint64_t *at;
    size_t n;
} collected;

static bly_status collect(void *ctx, const uint64_t *x, size_t n) {
    collected *c = ctx;
    c->at = realloc(c->at, (c->n + n + 1) * sizeof *c->at);
    assert_non_null(c->at);
    memcpy(c->at + c->n, x, n * sizeof *x);
    c->n += n;
    return BLY_OK;
}

/* Checks that the file contains exactly these fingerprints (in ascending order, without 0). */
static void assert_holds(pages *p, const uint64_t *x, size_t n) {
    collected c = {0};
    bool found;
    uint64_t rng = 77;
    assert_true(pages_scan(p, collect, &c));
    assert_int_equal(p->count, n + p->shape.zero);
    assert_int_equal(c.n, n);
    if (n > 0) {
        qsort(c.at, n, sizeof *c.at, compare);
        assert_memory_equal(c.at, x, n * sizeof *x);
    }
    for (size_t i = 0; i < n; i++) {
        assert_ok(pages_has(p, x[i], &found));
        assert_true(found);
    }
    for (int i = 0; i < 1000; i++) {
        uint64_t other = blyt_next(&rng);
        assert_ok(pages_has(p, other, &found));
        assert_int_equal(found, n > 0 && bsearch(&other, x, n, sizeof *x, compare) != NULL);
    }
    free(c.at);
}

static pages opened(const char *name) {
    pages p;
    assert_true(pages_open(&p, at(name)));
    return p;
}

/* A new file without any fingerprint. */
static pages fresh_file(const char *name) {
    pages p = opened(name);
    assert_false(p.whole);
    assert_true(pages_replace(&p, p.shape, 0, NULL, NULL));
    assert_true(p.whole);
    return p;
}

static void insert(pages *p, const uint64_t *x, size_t n) {
    size_t done = 0;
    assert_true(pages_insert(p, x, n, &done));
    assert_int_equal(done, n);
}

/* Whether the file can be opened and read completely. Hides the messages, because tests refuse a
 * thousand files. */
static bool accepted(const char *name) {
    pages p;
    int saved = dup(2), nowhere = open("/dev/null", O_WRONLY);
    assert_true(saved >= 0 && nowhere >= 0 && dup2(nowhere, 2) == 2);
    bool good = pages_open(&p, at(name));
    if (good) {
        good = pages_scan(&p, NULL, NULL);
        pages_close(&p);
    }
    assert_int_equal(dup2(saved, 2), 2);
    assert_int_equal(close(saved) | close(nowhere), 0);
    return good;
}

/* ---- in and out ------------------------------------------------------------------------------ */

static void test_round_trip(void **state) {
    (void)state;
    const size_t large = (blyt_large() ? 300000U : 100000U) / BLYT_SLOW;
    const size_t sizes[] = {0, 1, 2, 512, 513, 10000, large};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        uint64_t *x = numbers(i, sizes[i]);
        (void)unlink(at("f"));
        pages p = fresh_file("f");
        uint64_t seed = p.shape.seed;
        insert(&p, x, sizes[i]);
        assert_holds(&p, x, sizes[i]);
        pages_close(&p);
        p = opened("f");
        assert_int_equal(p.shape.seed, seed);
        assert_holds(&p, x, sizes[i]);
        pages_close(&p);
        free(x);
    }
}

/* Adds fingerprints in many small pieces. The file doubles step by step, and no fingerprint is
 * lost. */
static void test_doubling(void **state) {
    (void)state;
    enum { PIECE = 700 };
    size_t pieces = 120 / (BLYT_SLOW > 1 ? 4 : 1), n = 0;
    unsigned bits = 0, doublings = 0;
    uint64_t *all = NULL;
    pages p = fresh_file("f");
    for (size_t i = 0; i < pieces; i++) {
        uint64_t *x = numbers(1000 + i, PIECE);
        insert(&p, x, PIECE);
        all = realloc(all, (n + PIECE) * sizeof *all);
        memcpy(all + n, x, PIECE * sizeof *x);
        n += PIECE;
        assert_int_equal(p.count, n);
        assert_true(p.shape.bits == bits || p.shape.bits == bits + 1);
        doublings += p.shape.bits - bits;
        bits = p.shape.bits;
        if (i % (blyt_large() ? 10 : 25) == 0) {
            qsort(all, n, sizeof *all, compare);
            assert_holds(&p, all, n);
        }
        free(x);
    }
    qsort(all, n, sizeof *all, compare);
    assert_holds(&p, all, n);
    assert_true(doublings >= 5);
    struct stat st;
    assert_int_equal(stat(at("f"), &st), 0);
    assert_int_equal(st.st_size, ((off_t)1 + (1 << bits)) * PAGE);
    assert_true(n >= (size_t)180 << bits); /* never fewer than 180 fingerprints per page */
    pages_close(&p);
    p = opened("f");
    assert_holds(&p, all, n);
    pages_close(&p);
    free(all);
}

/* Adds a few fingerprints to a large file: only their pages change. */
static void test_a_few(void **state) {
    (void)state;
    size_t n = 100000;
    uint64_t *x = numbers(5, n), *few = numbers(6, 50);
    pages p = fresh_file("f");
    insert(&p, x, n);
    blyt_buffer before = slurp(at("f"));
    insert(&p, few, 50);
    blyt_buffer after = slurp(at("f"));
    assert_int_equal(before.size, after.size);
    for (size_t i = 0, k = 0; i < before.size; i += PAGE) {
        bool touched = false;
        for (; k < 50 && few[k] >> (64 - p.shape.bits) == i / PAGE - 1 && i > 0; k++)
            touched = true;
        assert_int_equal(memcmp(before.data + i, after.data + i, PAGE) != 0, touched);
        for (size_t b = i; b < i + PAGE; b += 8) /* existing fingerprints have not moved */
            if (memcmp(before.data + b, "\0\0\0\0\0\0\0\0", 8) != 0)
                assert_memory_equal(before.data + b, after.data + b, 8);
    }
    insert(&p, few, 50); /* adding them again changes nothing */
    assert_file_is(at("f"), after);
    assert_int_equal(p.count, n + 50);
    pages_close(&p);
    free(before.data);
    free(after.data);
    free(few);
    free(x);
}

static void test_zero(void **state) {
    (void)state;
    const uint64_t x[] = {0, 1, 2, UINT64_MAX};
    bool found;
    pages p = fresh_file("f");
    assert_ok(pages_has(&p, 0, &found));
    assert_false(found);
    for (int round = 0; round < 2; round++) {
        insert(&p, x, 4);
        assert_int_equal(p.count, 4);
        assert_holds(&p, x + 1, 3);
        assert_ok(pages_has(&p, 0, &found));
        assert_true(found);
        pages_close(&p);
        p = opened("f");
        assert_true(pages_scan(&p, NULL, NULL));
        assert_true(p.shape.zero);
    }
    uint64_t *more = numbers(8, 5000); /* the file is rewritten, and keeps its fingerprints */
    assert_holds(&p, x + 1, 3);
    insert(&p, more, 5000);
    assert_ok(pages_has(&p, 0, &found));
    assert_true(found);
    assert_int_equal(p.count, 5004);
    pages_close(&p);
    free(more);
}

/* The bytes of the file are those that fingerprint_file.h describes. */
static void test_layout(void **state) {
    (void)state;
    const uint64_t x[] = {0x0000000000000001, 0x0000000000000002, 0x80C0000000000003};
    pages p = fresh_file("f");
    p.shape.seed = 0x1122334455667788;
    assert_true(pages_replace(&p, p.shape, 0, NULL, NULL));
    insert(&p, x, 3);
    pages_close(&p);
    blyt_buffer im = slurp(at("f"));
    bly_hasher hasher;
    assert_ok(bly_hasher_init(&hasher, BLY_HASH_XXH3, 0));
    assert_int_equal(im.size, 2 * PAGE);
    uint8_t want[2 * PAGE] = "BLYFPS01\1\0\0\0\0\0\0\0\x88\x77\x66\x55\x44\x33\x22\x11";
    uint64_t sum = bly_hash_key(&hasher, want, SUMMED).lo;
    for (int i = 0; i < 8; i++)
        want[SUMMED + i] = (uint8_t)(sum >> 8 * i);
    want[PAGE] = 1;
    want[PAGE + 8] = 2; /* slot 0 of its page was taken */
    memcpy(want + PAGE + 8 * 0x101, "\3\0\0\0\0\0\xC0\x80", 8);
    assert_memory_equal(im.data, want, sizeof want);
    free(im.data);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static blyt_buffer small_file(void) {
    uint64_t *x = numbers(9, 1500);
    pages p = fresh_file("f");
    insert(&p, x, 1500);
    assert_int_equal(p.shape.bits, 2);
    pages_close(&p);
    free(x);
    return slurp(at("f"));
}

static void test_wrong_length(void **state) {
    (void)state;
    blyt_buffer im = small_file();
    const size_t cuts[] = {1,        8,        55,           63,           64,
                           65,       PAGE - 1, PAGE,         PAGE + 1,     2 * PAGE,
                           3 * PAGE, 4 * PAGE, 5 * PAGE - 8, 5 * PAGE - 1, 5 * PAGE};
    assert_int_equal(im.size, 5 * PAGE);
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        spill(at("cut"), im.data, cuts[i]);
        assert_int_equal(accepted("cut"), cuts[i] == im.size);
        assert_int_equal(access(at("cut"), F_OK), 0);
    }
    im.data = realloc(im.data, im.size + PAGE);
    memset(im.data + im.size, 0, PAGE);
    spill(at("cut"), im.data, im.size + 1);
    assert_false(accepted("cut"));
    spill(at("cut"), im.data, im.size + PAGE);
    assert_false(accepted("cut"));
    spill(at("cut"), im.data, 0);
    assert_true(accepted("cut")); /* an empty set */
    assert_int_equal(access(at("cut"), F_OK), 0);
    free(im.data);
}

static void test_header_flips(void **state) {
    (void)state;
    blyt_buffer im = small_file();
    for (size_t i = 0; i < PAGE; i++) {
        if (i >= 96 && i % 61 != 0 && i != PAGE - 1)
            continue;
        for (int bit = 0; bit < 8; bit++) {
            im.data[i] ^= (uint8_t)(1 << bit);
            spill(at("flip"), im.data, im.size);
            assert_false(accepted("flip"));
            im.data[i] ^= (uint8_t)(1 << bit);
        }
    }
    spill(at("flip"), im.data, im.size);
    assert_true(accepted("flip"));
    free(im.data);
}

/* Invalid header fields, with a correct checksum. */
static void test_header_fields(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
    } bad[] = {{8, 0},  {8, 2},  {11, 1},  {12, 1},  {12, 3}, {12, 41}, {12, 64}, {15, 0x80},
               {24, 2}, {25, 1}, {25, 16}, {25, 32}, {31, 1}, {32, 1},  {55, 1}};
    blyt_buffer im = small_file();
    bly_hasher hasher;
    assert_ok(bly_hasher_init(&hasher, BLY_HASH_XXH3, 0));
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        uint8_t head[64];
        memcpy(head, im.data, sizeof head);
        im.data[bad[i].at] = bad[i].value;
        uint64_t sum = bly_hash_key(&hasher, im.data, SUMMED).lo;
        for (int b = 0; b < 8; b++)
            im.data[SUMMED + b] = (uint8_t)(sum >> 8 * b);
        spill(at("field"), im.data, im.size);
        assert_false(accepted("field"));
        memcpy(im.data, head, sizeof head);
    }
    free(im.data);
}

static void test_misplaced(void **state) {
    (void)state;
    blyt_buffer im = small_file();
    for (size_t page = 1; page < 5; page++) {
        for (size_t slot = 0; slot < PAGES_SLOTS; slot += 73) {
            uint8_t *top = im.data + page * PAGE + slot * 8 + 7, was = *top;
            *top = (uint8_t)((page % 4) << 6 | 1); /* now it belongs to the next page */
            spill(at("bad"), im.data, im.size);
            assert_false(accepted("bad"));
            *top = was;
        }
    }
    spill(at("bad"), im.data, im.size);
    assert_true(accepted("bad"));
    free(im.data);
}

static void test_what_is_no_file(void **state) {
    (void)state;
    pages p;
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    assert_false(pages_open(&p, at("pipe")));
    assert_false(pages_open(&p, scratch));
    assert_false(pages_open(&p, "/dev/null"));
    assert_false(pages_open(&p, at("none/f")));
    assert_false(pages_open(&p, ""));
    spill(at("text"), "not a file of fingerprints\n", 27);
    assert_false(pages_open(&p, at("text")));
}

/* Many fingerprints that were chosen to fall on one page are refused, so that the file does not
 * double until the disk is full. The file is unchanged. Random fingerprints never crowd like
 * this. */
static void test_crowded(void **state) {
    (void)state;
    enum { ALIKE = 600 };
    uint64_t x[ALIKE], *even = numbers(10, 3000);
    size_t done;
    for (uint64_t i = 0; i < ALIKE; i++)
        x[i] = UINT64_C(0xABCDEF0000000000) + i;
    pages p = fresh_file("f");
    insert(&p, even, 3000);
    blyt_buffer before = slurp(at("f"));
    assert_false(pages_insert(&p, x, ALIKE, &done));
    assert_int_equal(done, 0);
    assert_file_is(at("f"), before);
    assert_holds(&p, even, 3000);
    insert(&p, x, 100); /* that many fit */
    assert_int_equal(p.count, 3100);
    pages_close(&p);
    free(before.data);
    free(even);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_locked(void **state) {
    (void)state;
    pages p = fresh_file("f"), q;
    uint64_t *x = numbers(11, 5000);
    assert_false(pages_open(&q, at("f")));
    insert(&p, x, 5000); /* rewrites the file; the new file is locked, too */
    assert_false(pages_open(&q, at("f")));
    pages_close(&p);
    p = opened("f");
    assert_holds(&p, x, 5000);
    pages_close(&p);
    free(x);
}

/* A new file to which nothing was ever written is removed when it is closed. */
static void test_no_trace(void **state) {
    (void)state;
    pages p = opened("f"), q;
    assert_int_equal(access(at("f"), F_OK), 0);
    assert_false(pages_open(&q, at("f")));
    assert_int_equal(access(at("f"), F_OK), 0);
    pages_close(&p);
    assert_int_equal(access(at("f"), F_OK), -1);
    spill(at("f"), "", 0);
    p = opened("f");
    pages_close(&p);
    assert_int_equal(access(at("f"), F_OK), 0); /* this process did not create it */
}

/* If another process creates the file first, it is not removed: this process did not create it. */
static void test_made_meanwhile(void **state) {
    (void)state;
    pages p;
    char *path = strdup(at("f"));
    assert_non_null(path);
    make_meanwhile = path;
    assert_false(pages_open(&p, path));
    assert_null(make_meanwhile);
    assert_file_is(path, (blyt_buffer){(uint8_t *)(uintptr_t) "theirs", 6});
    free(path);
}

static void test_link_and_mode(void **state) {
    (void)state;
    struct stat st;
    uint64_t *x = numbers(12, 2000);
    spill(at("real"), "", 0);
    assert_int_equal(chmod(at("real"), 0640), 0);
    assert_int_equal(symlink("real", at("link")), 0);
    pages p = fresh_file("link");
    insert(&p, x, 2000);
    pages_close(&p);
    assert_int_equal(lstat(at("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(at("real"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    p = opened("real");
    assert_holds(&p, x, 2000);
    pages_close(&p);
    free(x);
}

/* Another process truncates the file while it is open. */
static void test_cut_while_open(void **state) {
    (void)state;
    bool found;
    size_t done;
    uint64_t *x = numbers(13, 2000);
    pages p = fresh_file("f");
    insert(&p, x, 2000);
    assert_int_equal(truncate(at("f"), PAGE + 100), 0);
    errno = 0;
    assert_int_equal(pages_has(&p, x[1999], &found), BLY_EIO);
    assert_int_equal(errno, EIO);
    assert_false(pages_scan(&p, NULL, NULL));
    assert_false(pages_insert(&p, x, 2000, &done));
    pages_close(&p);
    free(x);
}

#define FILED(test) cmocka_unit_test_setup_teardown(test, fresh_scratch, drop_scratch)

int main(void) {
    const struct CMUnitTest tests[] = {
        FILED(test_round_trip),     FILED(test_doubling),
        FILED(test_a_few),          FILED(test_zero),
        FILED(test_layout),         FILED(test_wrong_length),
        FILED(test_header_flips),   FILED(test_header_fields),
        FILED(test_misplaced),      FILED(test_what_is_no_file),
        FILED(test_crowded),        FILED(test_locked),
        FILED(test_no_trace),       FILED(test_link_and_mode),
        FILED(test_cut_while_open), FILED(test_made_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
