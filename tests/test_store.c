/* test_store.c - files: what goes in comes out, and nothing damaged or hostile gets in.
 *
 * tests/golden/v1 holds the files that every later version must read; see make_golden.c.
 */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { HEADER = 64, PAGE = 4096, CUSTOM_TAG = 0x676f6c64, NOBODY = 65534 };

/* One or more of every kind; sizes that do and do not fill their last 64 bytes. */
static const bly_geometry shapes[] = {
    {BLY_CLASSIC, 7, 1000, 0},
    {BLY_CLASSIC, 3, 64, 0},
    {BLY_CLASSIC, 2, 67, BLY_FOLDABLE},
    {BLY_CLASSIC, 5, 1031, BLY_TEXTBOOK},
    {BLY_PARTITIONED, 5, 64, 0},
    {BLY_PARTITIONED, 4, 128, BLY_FOLDABLE},
    {BLY_SBBF, 8, 3, 0},
    {BLY_SBBF, 8, 4, BLY_FOLDABLE},
    {BLY_SPLIT512, 8, 2, 0},
    {BLY_SPLIT512, 12, 3, 0},
    {BLY_SPLIT512, 16, 1, 0},
    {BLY_BB2X512, 6, 2, 0},
    {BLY_BB2X512, 16, 1, 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- small tools ----------------------------------------------------------------------------- */

static char scratch[PATH_MAX];

/* A path in the scratch directory; good until the fourth call after this one. */
static const char *at(const char *name) {
    static char paths[4][PATH_MAX + 300];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

/* Relative to open directories, since a path in here may be too long to be spelled out. */
static void remove_tree(int parent, const char *name) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlinkat(fd, e->d_name, 0) != 0)
            remove_tree(fd, e->d_name);
    if (dir)
        (void)closedir(dir);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

/* How many entries of a directory end in `suffix`. */
static int entries(const char *path, const char *suffix) {
    int count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t len = strlen(e->d_name), tail = strlen(suffix);
        count += len >= tail && strcmp(e->d_name + len - tail, suffix) == 0;
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

static int fresh_scratch(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    (void)snprintf(scratch, sizeof scratch, "%s/bloomery-store-XXXXXX", base ? base : "/tmp");
    return mkdtemp(scratch) && chmod(scratch, 0755) == 0 ? 0 : -1;
}

/* No test may leave a temporary file behind. */
static int drop_scratch(void **state) {
    (void)state;
    int left = entries(scratch, ".tmp");
    remove_tree(AT_FDCWD, scratch);
    return left == 0 ? 0 : -1;
}

static void spill(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static blyt_buffer slurp(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    blyt_buffer im = {malloc((size_t)st.st_size + 1), (size_t)st.st_size};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(im.data, 1, im.size + 1, file), im.size);
    assert_int_equal(fclose(file), 0);
    return im;
}

static void assert_file_is(const char *path, blyt_buffer want) {
    blyt_buffer have = slurp(path);
    assert_int_equal(have.size, want.size);
    assert_memory_equal(have.data, want.data, want.size);
    free(have.data);
}

static void store(uint8_t *to, uint64_t value, int width) {
    for (int i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void fix_header_sum(uint8_t *header) {
    store(header + 12, 0, 4);
    store(header + 12, XXH64(header, HEADER, 0), 4);
}

static void fix_sums(blyt_buffer *im) {
    store(im->data + 56, XXH64(im->data + HEADER, im->size - HEADER, 0), 8);
    fix_header_sum(im->data);
}

static int key_text(char key[32], const char *prefix, int i) {
    return snprintf(key, 32, "%s-key-%d", prefix, i);
}

static void add_keys(bly_filter *f, const char *prefix, int from, int count) {
    char key[32];
    for (int i = from; i < from + count; i++) {
        size_t len = (size_t)key_text(key, prefix, i);
        assert_ok(bly_filter_add(f, key, len, NULL));
    }
}

static bool holds_keys(const bly_filter *f, const char *prefix, int from, int count) {
    char key[32];
    bool all = true;
    for (int i = from; i < from + count; i++) {
        size_t len = (size_t)key_text(key, prefix, i);
        all = all && bly_filter_contains(f, key, len);
    }
    return all;
}

/* hasher NULL: the default. */
static bly_filter *filled(bly_geometry g, const bly_hasher *hasher, int keys) {
    bly_spec spec = bly_spec_for(g.kind, 123, 0.0125);
    bly_filter *f;
    spec.geometry = g;
    spec.seed = 0x5eed;
    if (hasher)
        spec.hasher = *hasher;
    assert_ok(bly_filter_create(&spec, &f));
    add_keys(f, "store", 0, keys);
    return f;
}

static void assert_same(const bly_filter *a, const bly_filter *b) {
    bly_stats x, y;
    char key[32];
    assert_true(bly_filter_equal(a, b));
    assert_int_equal(bly_filter_geometry(a).options, bly_filter_geometry(b).options);
    assert_int_equal(bly_filter_hasher(a)->seed, bly_filter_hasher(b)->seed);
    bly_filter_stats(a, &x);
    bly_filter_stats(b, &y);
    assert_int_equal(x.count, y.count);
    assert_int_equal(x.capacity, y.capacity);
    assert_int_equal(x.approximate, y.approximate);
    assert_memory_equal(&x.target_fpr, &y.target_fpr, sizeof x.target_fpr);
    for (int i = 0; i < 500; i++) {
        size_t len = (size_t)key_text(key, "store", i);
        assert_int_equal(bly_filter_contains(a, key, len), bly_filter_contains(b, key, len));
    }
}

/* Every way in refuses these bytes with `want`, and allocates nothing on their word. */
static void assert_refused(blyt_buffer im, const bly_open_options *options, bly_status want) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_open_options o = options ? *options : (bly_open_options){0};
    bly_filter *f = (bly_filter *)&heap; /* anything but NULL */
    bly_map *map = (bly_map *)&heap;
    o.allocator = &a;
    assert_int_equal(bly_filter_parse(im.data, im.size, &o, &f), want);
    assert_null(f);
    assert_int_equal(heap.calls, 0);
    spill(at("refused.bly"), im.data, im.size);
    f = (bly_filter *)&heap;
    assert_int_equal(bly_filter_load(at("refused.bly"), &o, &f), want);
    assert_null(f);
    o.flags |= BLY_OPEN_VERIFY;
    assert_int_equal(bly_map_open(at("refused.bly"), &o, &map), want);
    assert_null(map);
    assert_int_equal(heap.live, 0);
    assert_true(heap.largest <= im.size + PAGE);
}

/* ---- there and back -------------------------------------------------------------------------- */

static void test_every_kind_is_listed(void **state) {
    (void)state;
    for (int code = 0; code < 256; code++) {
        bool listed = false;
        for (size_t i = 0; i < SHAPES; i++)
            listed = listed || (int)shapes[i].kind == code;
        assert_int_equal(listed, bly_kind_name((bly_kind)code) != NULL);
    }
}

static void round_trip(bly_filter *f) {
    bly_filter *g;
    bly_map *map;
    const bly_open_options verify = {.flags = BLY_OPEN_VERIFY};
    blyt_buffer im = blyt_write(f);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
    assert_same(f, g);
    assert_ok(bly_filter_save(g, at("a.bly")));
    bly_filter_destroy(g);
    assert_file_is(at("a.bly"), im);
    assert_ok(bly_filter_load(at("a.bly"), NULL, &g));
    assert_same(f, g);
    assert_ok(bly_map_open(at("a.bly"), &verify, &map));
    assert_same(f, bly_map_filter(map));
    bly_map_close(map);
    assert_ok(bly_map_open(at("a.bly"), NULL, &map));
    assert_same(f, bly_map_filter(map));
    assert_ok(bly_filter_save(bly_map_filter(map), at("a.bly")));
    assert_file_is(at("a.bly"), im);
    /* A loaded filter lives on: the same keys make the same filter. */
    add_keys(g, "store", 100, 20);
    add_keys(f, "store", 100, 20);
    assert_same(f, g);
    bly_filter_destroy(g);
    bly_map_close(map);
    free(im.data);
}

static void test_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        for (int keys = 0; keys <= 60; keys += 30) {
            bly_filter *f = filled(shapes[i], NULL, keys);
            round_trip(f);
            bly_filter *g = filled(shapes[i], NULL, 40);
            assert_ok(bly_filter_intersect(f, g));
            round_trip(f);
            bly_filter_destroy(f);
            bly_filter_destroy(g);
        }
    }
    bly_map_close(NULL);
}

static void test_every_hash(void **state) {
    (void)state;
    for (int id = 1; id < 255; id++) {
        bly_hasher hasher;
        if (bly_hasher_init(&hasher, (bly_hash_id)id, 0x1234567890abcdef) != BLY_OK)
            continue;
        bly_filter *f = filled(shapes[0], &hasher, 40);
        round_trip(f);
        bly_filter_destroy(f);
    }
}

static void test_sharing_is_chosen_when_opened(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], NULL, 30), *g;
        blyt_buffer im = blyt_write(f);
        for (int s = BLY_EXCLUSIVE; s <= BLY_SHARED_ONCE; s++) {
            const bly_open_options o = {.sharing = (bly_sharing)s};
            assert_ok(bly_filter_parse(im.data, im.size, &o, &g));
            assert_int_equal(bly_filter_sharing(g), s);
            assert_same(f, g);
            blyt_buffer again = blyt_write(g);
            assert_memory_equal(again.data, im.data, im.size);
            free(again.data);
            bly_filter_destroy(g);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_info(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], NULL, 30);
        blyt_buffer im = blyt_write(f);
        bly_file_info info;
        assert_int_equal(bly_file_info_parse(im.data, HEADER - 1, &info), BLY_ECORRUPT);
        assert_ok(bly_file_info_parse(im.data, HEADER, &info));
        assert_int_equal(info.geometry.kind, shapes[i].kind);
        assert_int_equal(info.geometry.hashes, shapes[i].hashes);
        assert_int_equal(info.geometry.size, shapes[i].size);
        assert_int_equal(info.geometry.options, shapes[i].options);
        assert_int_equal(info.capacity, 123);
        assert_int_equal(info.count, bly_filter_count(f));
        assert_true(info.fpr == 0.0125);
        assert_int_equal(info.hash, BLY_HASH_XXH3);
        assert_int_equal(info.seed, 0x5eed);
        assert_false(info.keyed || info.approximate);
        assert_int_equal(info.body_bytes, im.size - HEADER);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* ---- the specification's own examples -------------------------------------------------------- */

static const uint8_t example[] = {
    0x42, 0x4c, 0x59, 0x31, 0x01, 0x01, 0x07, 0x00, 0x07, 0x01, 0x00, 0x00, 0x9e, 0x23, 0x23, 0x8b,
    0xe8, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x64, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x7b, 0x14, 0xae, 0x47, 0xe1, 0x7a, 0x84, 0x3f, 0x37, 0x56, 0x95, 0xb8, 0xaf, 0x57, 0x63, 0xf6,
};

static const struct {
    bly_geometry geometry;
    int bits[17]; /* ended by -1; a bit may be named twice */
} vectors[] = {
    {{BLY_CLASSIC, 7, 1000, 0}, {837, 276, 1, 399, 298, 624, 936, -1}},
    {{BLY_CLASSIC, 7, 1000, BLY_TEXTBOOK}, {643, 796, 949, 102, 255, 408, 177, -1}},
    {{BLY_PARTITIONED, 7, 192, 0}, {160, 245, 384, 652, 825, 1079, 1331, -1}},
    {{BLY_SBBF, 8, 5, 0}, {1042, 1056, 1116, 1135, 1174, 1212, 1235, 1277, -1}},
    {{BLY_SPLIT512, 8, 5, 0}, {2105, 2143, 2222, 2241, 2326, 2390, 2454, 2520, -1}},
    {{BLY_SPLIT512, 12, 5, 0},
     {2105, 2143, 2222, 2241, 2326, 2390, 2454, 2520, 2361, 2370, 2472, 2536, -1}},
    {{BLY_SPLIT512, 16, 5, 0},
     {2105, 2143, 2222, 2241, 2326, 2390, 2454, 2520, 2105, 2114, 2216, 2280, 2339, 2384, 2482,
      2520, -1}},
    {{BLY_BB2X512, 8, 5, 0}, {2480, 2265, 2315, 2137, 935, 573, 648, 575, -1}},
    {{BLY_BB2X512, 16, 5, 0},
     {2480, 2265, 2315, 2137, 2240, 2489, 2556, 2396, 935, 573, 648, 575, 842, 810, 544, 680, -1}},
};

static void test_vectors(void **state) {
    (void)state;
    bly_hasher fnv1a;
    assert_ok(bly_hasher_init(&fnv1a, BLY_HASH_FNV1A, 0));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        bly_spec spec = bly_spec_for(vectors[i].geometry.kind, 100, 0.01);
        bly_filter *f;
        spec.geometry = vectors[i].geometry;
        spec.hasher = fnv1a;
        assert_ok(bly_filter_create(&spec, &f));
        assert_ok(bly_filter_add(f, "bloomery", 8, NULL));
        blyt_buffer im = blyt_write(f);
        if (i == 0)
            assert_memory_equal(im.data, example, sizeof example);
        uint8_t body[512] = {0};
        for (const int *bit = vectors[i].bits; *bit >= 0; bit++)
            body[*bit >> 3] |= (uint8_t)(1 << (*bit & 7));
        assert_memory_equal(im.data + HEADER, body, im.size - HEADER);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void test_truncations(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], NULL, 30);
        blyt_buffer im = blyt_write(f);
        for (size_t size = 0; size < im.size; size++)
            assert_refused((blyt_buffer){im.data, size}, NULL, BLY_ECORRUPT);
        assert_ok(blyt_sink(&im, "", 1)); /* and one byte too many */
        assert_refused(im, NULL, BLY_ECORRUPT);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* The file at `path` has the bytes of `im` but for one, at `where`. */
static void assert_flip_refused(blyt_buffer im, size_t where, const char *path) {
    bly_filter *f;
    bly_map *map;
    const bly_open_options verify = {.flags = BLY_OPEN_VERIFY};
    assert_int_not_equal(bly_filter_parse(im.data, im.size, NULL, &f), BLY_OK);
    assert_int_not_equal(bly_filter_load(path, NULL, &f), BLY_OK);
    assert_int_not_equal(bly_map_open(path, &verify, &map), BLY_OK);
    if (where >= HEADER)
        return;
    bly_file_info info;
    assert_int_not_equal(bly_map_open(path, NULL, &map), BLY_OK);
    assert_int_not_equal(bly_file_info_parse(im.data, im.size, &info), BLY_OK);
}

static void test_every_byte_counts(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], NULL, 30);
        blyt_buffer im = blyt_write(f);
        const char *path = at("flip.bly");
        spill(path, im.data, im.size);
        int fd = open(path, O_WRONLY);
        for (size_t where = 0; where < im.size; where++) {
            uint8_t right = im.data[where];
            for (int turn = 1; turn < 256; turn = where < HEADER ? turn + 1 : turn * 2) {
                im.data[where] = (uint8_t)(right ^ turn);
                assert_int_equal(pwrite(fd, &im.data[where], 1, (off_t)where), 1);
                assert_flip_refused(im, where, path);
            }
            im.data[where] = right;
            assert_int_equal(pwrite(fd, &right, 1, (off_t)where), 1);
        }
        assert_int_equal(close(fd), 0);
        assert_file_is(path, im);
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_padding_is_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], NULL, 30);
        blyt_buffer im = blyt_write(f);
        uint64_t used = bly_plan_bits(&shapes[i]);
        for (uint64_t bit = used; bit < 8 * (im.size - HEADER); bit++) {
            im.data[HEADER + bit / 8] ^= (uint8_t)(1 << bit % 8);
            fix_sums(&im);
            assert_refused(im, NULL, BLY_ECORRUPT);
            im.data[HEADER + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* A map trusts the header only, so no body may do harm. */
static void test_any_body_is_safe(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], NULL, 30), *folded;
        blyt_buffer im = blyt_write(f);
        for (int fill = 0; fill < 256; fill += 51) {
            bly_map *map;
            bly_stats stats;
            memset(im.data + HEADER, fill, im.size - HEADER);
            spill(at("body.bly"), im.data, im.size);
            assert_ok(bly_map_open(at("body.bly"), NULL, &map));
            const bly_filter *g = bly_map_filter(map);
            assert_int_equal(holds_keys(g, "any", 0, 100), fill == 255);
            bly_filter_stats(g, &stats);
            assert_ok(bly_filter_union(f, g));
            if (bly_filter_fold(g, 2, NULL, &folded) == BLY_OK)
                bly_filter_destroy(folded);
            bly_map_close(map);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* ---- hostile headers, with correct sums ------------------------------------------------------ */

typedef struct lie {
    int offset, width;
    uint64_t value;
    bly_status status;
} lie;

static const lie lies[] = {
    {4, 1, 0, BLY_ECORRUPT}, /* version */
    {4, 1, 2, BLY_EVERSION},
    {5, 1, 0, BLY_EKIND}, /* kind */
    {5, 1, 19, BLY_EKIND},
    {5, 1, 255, BLY_EKIND},
    {6, 1, 0, BLY_EHASHER}, /* hash */
    {6, 1, 16, BLY_EHASHER},
    {6, 1, 254, BLY_EHASHER},
    {6, 1, BLY_HASH_CUSTOM, BLY_EHASHER},
    {6, 1, BLY_HASH_SIPHASH, BLY_ECORRUPT},
    {7, 1, 1, BLY_ECORRUPT}, /* flags */
    {7, 1, 8, BLY_ECORRUPT},
    {7, 1, 0xf8, BLY_ECORRUPT},
    {8, 1, 0, BLY_ECORRUPT}, /* k */
    {8, 1, 255, BLY_ECORRUPT},
    {9, 1, 0, BLY_ECORRUPT}, /* width */
    {9, 1, 2, BLY_ECORRUPT},
    {10, 2, 2, BLY_ECORRUPT}, /* sub */
    {10, 2, 0x100, BLY_ECORRUPT},
    {16, 8, 0, BLY_ECORRUPT}, /* size */
    {16, 8, UINT64_C(1) << 40, BLY_ECORRUPT},
    {16, 8, UINT64_C(1) << 48, BLY_ECORRUPT},
    {16, 8, UINT64_C(1) << 55, BLY_ECORRUPT}, /* times 512 bits: 2^64 */
    {16, 8, UINT64_C(1) << 63, BLY_ECORRUPT},
    {16, 8, UINT64_MAX, BLY_ECORRUPT},
    {16, 8, UINT64_MAX - 63, BLY_ECORRUPT},
    {24, 8, 0, BLY_ECORRUPT}, /* capacity */
    {48, 8, 0, BLY_ECORRUPT}, /* rate: 0, -0, 1, inf, -inf, nan, -1% */
    {48, 8, UINT64_C(0x8000000000000000), BLY_ECORRUPT},
    {48, 8, UINT64_C(0x3ff0000000000000), BLY_ECORRUPT},
    {48, 8, UINT64_C(0x7ff0000000000000), BLY_ECORRUPT},
    {48, 8, UINT64_C(0xfff0000000000000), BLY_ECORRUPT},
    {48, 8, UINT64_C(0x7ff8000000000001), BLY_ECORRUPT},
    {48, 8, UINT64_C(0xbf847ae147ae147b), BLY_ECORRUPT},
};

static void test_hostile_headers(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], NULL, 30);
        blyt_buffer im = blyt_write(f);
        uint8_t right[HEADER];
        memcpy(right, im.data, HEADER);
        for (size_t j = 0; j < sizeof lies / sizeof *lies; j++) {
            store(im.data + lies[j].offset, lies[j].value, lies[j].width);
            fix_header_sum(im.data);
            assert_refused(im, NULL, lies[j].status);
            memcpy(im.data, right, HEADER);
        }
        for (int kind = 6; kind <= 18; kind++) {
            im.data[5] = (uint8_t)kind;
            fix_header_sum(im.data);
            assert_refused(im, NULL, BLY_EKIND);
        }
        memcpy(im.data, right, HEADER);
        if (shapes[i].kind != BLY_CLASSIC) {
            im.data[10] = 1;
            fix_header_sum(im.data);
            assert_refused(im, NULL, BLY_ECORRUPT);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* Sizes that need one line of the body more, or less, than is there. */
static void test_body_must_fit(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_geometry g = shapes[i], other = g;
        bly_filter *f = filled(g, NULL, 30);
        blyt_buffer im = blyt_write(f);
        for (uint64_t size = 1; size <= 2 * g.size + 64; size++) {
            other.size = size;
            if (bly_plan_check(&other) || bly_plan_bytes(&other) == im.size - HEADER)
                continue;
            store(im.data + 16, size, 8);
            fix_header_sum(im.data);
            assert_refused(im, NULL, BLY_ECORRUPT);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* Whatever the count says, the filter works. */
static void test_any_count(void **state) {
    (void)state;
    bly_filter *f = filled(shapes[0], NULL, 30), *g;
    blyt_buffer im = blyt_write(f);
    store(im.data + 32, UINT64_MAX, 8);
    store(im.data + 24, UINT64_MAX, 8);
    fix_header_sum(im.data);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
    assert_int_equal(bly_filter_count(g), UINT64_MAX);
    assert_int_equal(bly_filter_capacity(g), UINT64_MAX);
    assert_ok(bly_filter_union(g, f));
    assert_ok(bly_filter_intersect(g, f));
    assert_true(holds_keys(g, "store", 0, 30));
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    free(im.data);
}

/* ---- hashers and keys ------------------------------------------------------------------------ */

static const uint8_t secret[16] = {0xde, 0xad, 0xbe, 0xef, 7, 6, 5, 4, 3, 2, 1, 0, 9, 9, 9, 8};

/* A filter opened without its hasher: describes itself, combines, says maybe, writes back. */
static void check_keyless(blyt_buffer im, const bly_filter *original) {
    const bly_open_options without = {.flags = BLY_OPEN_WITHOUT_KEY};
    bly_filter *f, *g;
    bly_map *map;
    spill(at("keyless.bly"), im.data, im.size);
    assert_ok(bly_map_open(at("keyless.bly"), &without, &map));
    assert_true(bly_filter_contains(bly_map_filter(map), "stranger", 8));
    bly_map_close(map);
    assert_ok(bly_filter_load(at("keyless.bly"), &without, &g));
    bly_filter_destroy(g);
    assert_ok(bly_filter_parse(im.data, im.size, &without, &g));
    assert_true(bly_filter_equal(g, original));
    assert_true(bly_filter_contains(g, "stranger", 8));
    assert_int_equal(bly_filter_add(g, "stranger", 8, NULL), BLY_EKEY);
    assert_int_equal(bly_filter_hasher(g)->id, bly_filter_hasher(original)->id);
    assert_int_equal(bly_filter_hasher(g)->bits, 128);
    assert_int_equal(bly_filter_hasher(g)->seed, bly_filter_hasher(original)->seed);
    blyt_buffer again = blyt_write(g);
    assert_int_equal(again.size, im.size);
    assert_memory_equal(again.data, im.data, im.size);
    free(again.data);
    /* Its own hasher is a name without a function, and must not be taken for the real one. */
    const bly_open_options hollow = {.hasher = bly_filter_hasher(g)};
    assert_int_not_equal(bly_filter_parse(im.data, im.size, &hollow, &f), BLY_OK);
    bly_filter_destroy(g);
}

static void test_keyed(void **state) {
    (void)state;
    bly_hasher right, wrong, plain;
    uint8_t other[16] = {0};
    if (bly_hasher_keyed(&right, secret) != BLY_OK)
        skip();
    assert_ok(bly_hasher_keyed(&wrong, other));
    assert_ok(bly_hasher_init(&plain, BLY_HASH_XXH3, right.seed));
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], &right, 40), *g;
        bly_file_info info;
        blyt_buffer im = blyt_write(f);
        for (size_t from = 0; from + 8 <= im.size; from++) {
            assert_memory_not_equal(im.data + from, secret, 8);
            assert_memory_not_equal(im.data + from, secret + 8, 8);
        }
        assert_ok(bly_file_info_parse(im.data, im.size, &info));
        assert_true(info.keyed);
        assert_int_equal(info.seed, right.seed);
        assert_refused(im, NULL, BLY_EKEY);
        assert_refused(im, &(bly_open_options){.hasher = &wrong}, BLY_EKEY);
        assert_refused(im, &(bly_open_options){.hasher = &plain}, BLY_EKEY);
        const bly_open_options o = {.hasher = &right};
        assert_ok(bly_filter_parse(im.data, im.size, &o, &g));
        assert_same(f, g);
        bly_filter_destroy(g);
        check_keyless(im, f);
        /* Asked to do without, it does without a key that is not its own. */
        const bly_open_options both = {.flags = BLY_OPEN_WITHOUT_KEY, .hasher = &wrong};
        assert_ok(bly_filter_parse(im.data, im.size, &both, &g));
        assert_true(bly_filter_contains(g, "stranger", 8));
        bly_filter_destroy(g);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* fnv1a's words, swapped: the custom function of the golden files too. */
static bly_hash swapped(void *user, const void *key, size_t len) {
    bly_hash h = bly_hash_key(user, key, len);
    return (bly_hash){h.hi, h.lo};
}

static bly_hasher custom_hasher(uint64_t tag) {
    static bly_hasher fnv1a;
    bly_hasher h;
    assert_ok(bly_hasher_init(&fnv1a, BLY_HASH_FNV1A, 0));
    assert_ok(bly_hasher_custom(&h, swapped, &fnv1a, 64, tag));
    return h;
}

static void test_custom(void **state) {
    (void)state;
    bly_hasher right = custom_hasher(5), wrong = custom_hasher(6), plain;
    assert_ok(bly_hasher_init(&plain, BLY_HASH_FNV1A, 5));
    for (size_t i = 0; i < SHAPES; i++) {
        bly_filter *f = filled(shapes[i], &right, 40), *g;
        blyt_buffer im = blyt_write(f);
        assert_refused(im, NULL, BLY_EHASHER);
        assert_refused(im, &(bly_open_options){.hasher = &wrong}, BLY_EHASHER);
        assert_refused(im, &(bly_open_options){.hasher = &plain}, BLY_EHASHER);
        const bly_open_options o = {.hasher = &right};
        assert_ok(bly_filter_parse(im.data, im.size, &o, &g));
        assert_same(f, g);
        bly_filter_destroy(g);
        check_keyless(im, f);
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_expected_hasher(void **state) {
    (void)state;
    bly_hasher right, seed, id, custom = custom_hasher(0x5eed);
    assert_ok(bly_hasher_init(&right, BLY_HASH_XXH3, 0x5eed));
    assert_ok(bly_hasher_init(&seed, BLY_HASH_XXH3, 0));
    assert_ok(bly_hasher_init(&id, BLY_HASH_XXH64, 0x5eed));
    bly_filter *f = filled(shapes[0], NULL, 40), *g;
    blyt_buffer im = blyt_write(f);
    assert_refused(im, &(bly_open_options){.hasher = &seed}, BLY_EHASHER);
    assert_refused(im, &(bly_open_options){.hasher = &id}, BLY_EHASHER);
    assert_refused(im, &(bly_open_options){.hasher = &custom}, BLY_EHASHER);
    assert_refused(im, &(bly_open_options){.flags = 1u << 7}, BLY_EINVAL);
    const bly_open_options o = {.flags = BLY_OPEN_WITHOUT_KEY, .hasher = &right};
    assert_ok(bly_filter_parse(im.data, im.size, &o, &g));
    assert_same(f, g);
    bly_filter_destroy(g);
    bly_filter_destroy(f);
    free(im.data);
}

/* ---- memory and sinks ------------------------------------------------------------------------ */

static void test_out_of_memory(void **state) {
    (void)state;
    bly_filter *f = filled(shapes[0], NULL, 40), *g;
    bly_map *map;
    blyt_buffer im = blyt_write(f);
    spill(at("a.bly"), im.data, im.size);
    blyt_heap m = {0};
    bly_allocator a = blyt_heap_allocator(&m);
    const bly_open_options o = {.allocator = &a, .sharing = BLY_SHARED};
    for (unsigned fail = 1, failed = 1; failed; fail++) {
        failed = 0;
        for (int way = 0; way < 3; way++) {
            m = (blyt_heap){.fail_at = fail};
            g = NULL;
            map = NULL;
            bly_status status = way == 0   ? bly_filter_parse(im.data, im.size, &o, &g)
                                : way == 1 ? bly_filter_load(at("a.bly"), &o, &g)
                                           : bly_map_open(at("a.bly"), &o, &map);
            assert_int_equal(status, m.calls >= fail ? BLY_ENOMEM : BLY_OK);
            failed += status != BLY_OK;
            assert_int_equal(g || map, status == BLY_OK);
            bly_filter_destroy(g);
            bly_map_close(map);
            assert_int_equal(m.live, 0);
        }
        assert_true(fail < 20);
    }
    bly_filter_destroy(f);
    free(im.data);
}

typedef struct fussy_sink {
    size_t calls, stop_at, largest, total;
} fussy_sink;

static bly_status fussy(void *ctx, const void *data, size_t size) {
    fussy_sink *s = ctx;
    (void)data;
    if (++s->calls == s->stop_at)
        return BLY_EFULL;
    s->largest = size > s->largest ? size : s->largest;
    s->total += size;
    return BLY_OK;
}

static void test_sinks(void **state) {
    (void)state;
    bly_filter *f = filled((bly_geometry){BLY_SPLIT512, 8, 40001, 0}, NULL, 10);
    fussy_sink all = {0};
    assert_ok(bly_filter_write(f, fussy, &all));
    assert_int_equal(all.total, bly_filter_file_size(f));
    assert_true(all.largest <= 1 << 20);
    for (size_t stop = 1; stop <= all.calls; stop++) {
        fussy_sink s = {.stop_at = stop};
        assert_int_equal(bly_filter_write(f, fussy, &s), BLY_EFULL);
        assert_int_equal(s.calls, stop);
    }
    round_trip(f);
    bly_filter_destroy(f);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_load_wants_a_regular_file(void **state) {
    (void)state;
    bly_filter *f;
    bly_map *map;
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    const struct {
        const char *path;
        int error;
    } bad[] = {
        {scratch, EISDIR}, {at("pipe"), EINVAL}, {"/dev/null", EINVAL}, {at("none"), ENOENT}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        assert_int_equal(bly_filter_load(bad[i].path, NULL, &f), BLY_EIO);
        assert_int_equal(errno, bad[i].error);
        assert_null(f);
        errno = 0;
        assert_int_equal(bly_map_open(bad[i].path, NULL, &map), BLY_EIO);
        assert_int_equal(errno, bad[i].error);
        assert_null(map);
    }
}

/* Memory that comes at a price: the file named by ctx is cut short. */
static void *cutting_alloc(void *ctx, size_t size) {
    return truncate(ctx, HEADER + 1) == 0 ? calloc(1, size) : NULL;
}

static void cutting_free(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

static void test_file_that_shrinks_while_read(void **state) {
    (void)state;
    bly_filter *f = filled(shapes[0], NULL, 40), *g;
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", at("a.bly"));
    assert_ok(bly_filter_save(f, path));
    bly_allocator a = {cutting_alloc, cutting_free, path};
    const bly_open_options o = {.allocator = &a};
    assert_int_equal(bly_filter_load(path, &o, &g), BLY_ECORRUPT);
    assert_null(g);
    bly_filter_destroy(f);
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void test_save_keeps_the_mode(void **state) {
    (void)state;
    bly_filter *f = filled(shapes[0], NULL, 40);
    mode_t old = umask(027);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_int_equal(mode_of(at("a.bly")), 0640);
    assert_int_equal(chmod(at("a.bly"), 0604), 0);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_int_equal(mode_of(at("a.bly")), 0604);
    (void)umask(old);
    bly_filter_destroy(f);
}

static void test_save_follows_links(void **state) {
    (void)state;
    bly_filter *f = filled(shapes[0], NULL, 40);
    blyt_buffer im = blyt_write(f);
    struct stat st;
    assert_int_equal(mkdir(at("sub"), 0755), 0);
    assert_int_equal(symlink("sub/second", at("first")), 0); /* relative to the link */
    assert_int_equal(symlink("../real.bly", at("sub/second")), 0);
    for (int turn = 0; turn < 2; turn++) { /* dangling, then not */
        assert_ok(bly_filter_save(f, at("first")));
        assert_file_is(at("real.bly"), im);
        assert_int_equal(lstat(at("first"), &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        assert_int_equal(lstat(at("sub/second"), &st), 0);
        assert_true(S_ISLNK(st.st_mode));
    }
    assert_int_equal(symlink(at("real.bly"), at("absolute")), 0);
    assert_ok(bly_filter_save(f, at("absolute")));
    assert_int_equal(lstat(at("absolute"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("loop", at("loop")), 0);
    assert_int_equal(bly_filter_save(f, at("loop")), BLY_EIO);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(entries(at("sub"), ".tmp"), 0);
    free(im.data);
    bly_filter_destroy(f);
}

static void test_save_to_any_name(void **state) {
    (void)state;
    bly_filter *f = filled(shapes[0], NULL, 40);
    blyt_buffer im = blyt_write(f);
    char here[PATH_MAX], name[256], path[PATH_MAX];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch), 0);
    assert_ok(bly_filter_save(f, "plain")); /* no slash */
    assert_file_is("plain", im);
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_ok(bly_filter_save(f, name)); /* as long as names get */
    assert_file_is(name, im);
    memset(name, '\xbc', 255); /* no place to cut between characters */
    assert_ok(bly_filter_save(f, name));
    /* A path so long that the temporary one would be too long. */
    memset(path, 0, sizeof path);
    memset(name, 'd', 200);
    name[200] = '\0';
    for (int i = 0; i < 20; i++) {
        strcat(path, name);
        assert_int_equal(mkdir(path, 0755), 0);
        strcat(path, "/");
    }
    size_t used = strlen(path);
    memset(path + used, 'f', PATH_MAX - 1 - used);
    path[PATH_MAX - 1] = '\0';
    assert_ok(bly_filter_save(f, path));
    assert_file_is(path, im);
    path[used] = '\0';
    assert_int_equal(entries(path, ".tmp"), 0);
    assert_int_equal(chdir(here), 0);
    free(im.data);
    bly_filter_destroy(f);
}

static void assert_save_fails(const bly_filter *f, const char *path, int error) {
    errno = 0;
    assert_int_equal(bly_filter_save(f, path), BLY_EIO);
    assert_int_equal(errno, error);
}

static void test_save_refuses_what_is_no_file(void **state) {
    (void)state;
    bly_filter *f = filled(shapes[0], NULL, 40);
    assert_int_equal(mkdir(at("dir"), 0755), 0);
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    assert_save_fails(f, at("dir"), EISDIR);
    assert_save_fails(f, at("dir/"), EISDIR);
    assert_save_fails(f, at("dir/."), EISDIR);
    assert_save_fails(f, at("dir/.."), EISDIR);
    assert_save_fails(f, "/", EISDIR);
    assert_save_fails(f, "", ENOENT);
    assert_save_fails(f, at("none/file"), ENOENT);
    assert_save_fails(f, at("pipe/file"), ENOTDIR);
    assert_save_fails(f, at("pipe"), EINVAL);
    assert_int_equal(entries(at("dir"), ".tmp"), 0);
    bly_filter_destroy(f);
}

static void test_save_into_unwritable_directory(void **state) {
    (void)state;
    bly_filter *old = filled(shapes[0], NULL, 40), *new = filled(shapes[1], NULL, 3);
    blyt_buffer im = blyt_write(old);
    assert_int_equal(mkdir(at("locked"), 0755), 0);
    assert_ok(bly_filter_save(old, at("locked/a.bly")));
    assert_int_equal(chmod(at("locked"), 0555), 0);
    bool root = geteuid() == 0; /* to whom nothing is locked */
    if (!root || seteuid(NOBODY) == 0) {
        assert_save_fails(new, at("locked/a.bly"), EACCES);
        assert_save_fails(new, at("locked/b.bly"), EACCES);
        assert_int_equal(root ? seteuid(0) : 0, 0);
    }
    assert_file_is(at("locked/a.bly"), im);
    assert_int_equal(entries(at("locked"), ".tmp"), 0);
    assert_int_equal(entries(at("locked"), ".bly"), 1);
    assert_int_equal(chmod(at("locked"), 0755), 0);
    free(im.data);
    bly_filter_destroy(old);
    bly_filter_destroy(new);
}

static void test_save_without_room(void **state) {
    (void)state;
    bly_filter *old = filled(shapes[0], NULL, 40);
    bly_filter *new = filled((bly_geometry){BLY_SBBF, 8, 1 << 16, 0}, NULL, 40);
    blyt_buffer im = blyt_write(old);
    struct rlimit before, small;
    assert_ok(bly_filter_save(old, at("a.bly")));
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (rlim_t limit = 1; limit < 1 << 20; limit *= 7) { /* short writes, then none */
        small = (struct rlimit){limit, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        errno = 0;
        bly_status status = bly_filter_save(new, at("a.bly"));
        int error = errno;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, BLY_EIO);
        assert_int_equal(error, EFBIG);
        assert_file_is(at("a.bly"), im);
        assert_int_equal(entries(scratch, ".tmp"), 0);
    }
    (void)signal(SIGXFSZ, handler);
    free(im.data);
    bly_filter_destroy(old);
    bly_filter_destroy(new);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void test_saving_leaves_a_map_alone(void **state) {
    (void)state;
    bly_filter *old = filled(shapes[8], NULL, 40), *new = filled(shapes[0], NULL, 3), *now;
    bly_map *map;
    assert_ok(bly_filter_save(old, at("a.bly")));
    assert_ok(bly_map_open(at("a.bly"), NULL, &map));
    assert_ok(bly_filter_save(new, at("a.bly")));
    assert_same(bly_map_filter(map), old);
    assert_ok(bly_filter_load(at("a.bly"), NULL, &now));
    assert_same(now, new);
    bly_map_close(map);
    bly_filter_destroy(old);
    bly_filter_destroy(new);
    bly_filter_destroy(now);
}

/* In a child: maps the file, tells so, waits until the other has too, asks everything. */
static int map_and_ask(const char *path, int tell, int wait_for) {
    bly_map *map;
    char byte = 'm';
    if (bly_map_open(path, NULL, &map) != BLY_OK)
        return 1;
    if (write(tell, &byte, 1) != 1 || read(wait_for, &byte, 1) != 1)
        return 2;
    bool right = true;
    for (int turn = 0; turn < 20; turn++)
        right = right && holds_keys(bly_map_filter(map), "store", 0, 1000);
    right = right && !holds_keys(bly_map_filter(map), "other", 0, 1000);
    bly_map_close(map);
    return right ? 0 : 3;
}

static void test_two_processes_share_a_map(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        bly_geometry g = shapes[i];
        g.size *= 256;
        bly_filter *f = filled(g, NULL, 1000);
        int ready[2], go[2], status;
        pid_t child[2];
        char bytes[2];
        assert_ok(bly_filter_save(f, at("a.bly")));
        assert_int_equal(pipe(ready) | pipe(go), 0);
        for (int c = 0; c < 2; c++) {
            child[c] = fork();
            if (child[c] == 0)
                _exit(map_and_ask(at("a.bly"), ready[1], go[0]));
            assert_true(child[c] > 0);
        }
        (void)close(ready[1]);
        for (int c = 0; c < 2; c++)
            assert_int_equal(read(ready[0], bytes, 1), 1);
        assert_int_equal(write(go[1], "go", 2), 2);
        for (int c = 0; c < 2; c++) {
            assert_int_equal(waitpid(child[c], &status, 0), child[c]);
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        }
        (void)close(ready[0]);
        (void)close(go[0]);
        (void)close(go[1]);
        bly_filter_destroy(f);
    }
}

static void save_for_ever(const bly_filter *a, const bly_filter *b, const char *path, int tell) {
    if (write(tell, "r", 1) != 1)
        return;
    while (bly_filter_save(b, path) == BLY_OK && bly_filter_save(a, path) == BLY_OK)
        continue;
}

static int remove_stale(const char *dir_path) {
    int count = 0;
    DIR *dir = opendir(dir_path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strstr(e->d_name, ".tmp")) {
            assert_int_equal(unlink(at(e->d_name)), 0);
            count++;
        }
    }
    (void)closedir(dir);
    return count;
}

static void test_kill_while_saving(void **state) {
    (void)state;
    bly_filter *a = filled((bly_geometry){BLY_SPLIT512, 8, 4096, 0}, NULL, 100);
    bly_filter *b = filled((bly_geometry){BLY_CLASSIC, 5, 999999, 0}, NULL, 200);
    const char *path = at("a.bly");
    char copy[PATH_MAX], byte;
    int ready[2], status, was_a = 0, was_b = 0;
    unsigned random = 12345;
    (void)snprintf(copy, sizeof copy, "%s", path);
    assert_ok(bly_filter_save(a, copy));
    for (int turn = 0; turn < 200; turn++) {
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
            save_for_ever(a, b, copy, ready[1]);
            _exit(1);
        }
        assert_true(child > 0);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        random = random * 1103515245 + 12345;
        const struct timespec nap = {0, random / 65536 % 6000 * 1000};
        (void)nanosleep(&nap, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* no save failed before */
        (void)close(ready[0]);
        (void)close(ready[1]);
        bly_filter *f;
        assert_ok(bly_filter_load(copy, NULL, &f));
        was_a += bly_filter_equal(f, a);
        was_b += bly_filter_equal(f, b);
        assert_int_equal(was_a + was_b, turn + 1);
        assert_true(remove_stale(scratch) <= 1);
        bly_filter_destroy(f);
    }
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* ---- golden files ---------------------------------------------------------------------------- */

/* The hasher a golden file needs, or NULL. */
static const bly_hasher *golden_hasher(const bly_file_info *info) {
    static bly_hasher h;
    uint8_t key[16];
    for (int i = 0; i < 16; i++)
        key[i] = (uint8_t)i;
    if (info->hash == BLY_HASH_CUSTOM) {
        h = custom_hasher(CUSTOM_TAG);
        return &h;
    }
    return info->keyed && bly_hasher_keyed(&h, key) == BLY_OK ? &h : NULL;
}

static void check_golden(const char *path, int first, int count) {
    bly_filter *f;
    bly_map *map;
    bly_file_info info;
    blyt_buffer im = slurp(path);
    assert_ok(bly_file_info_parse(im.data, im.size, &info));
    bly_open_options o = {.flags = BLY_OPEN_VERIFY, .hasher = golden_hasher(&info)};
    if (info.hash != BLY_HASH_CUSTOM && !bly_hash_available(info.hash)) {
        assert_refused(im, &o, BLY_EHASHER);
        free(im.data);
        return;
    }
    assert_ok(bly_filter_load(path, &o, &f));
    assert_true(holds_keys(f, "golden", first, count));
    assert_int_equal(bly_filter_count(f), info.count);
    assert_ok(bly_map_open(path, &o, &map));
    assert_true(holds_keys(bly_map_filter(map), "golden", first, count));
    assert_true(bly_filter_equal(f, bly_map_filter(map)));
    assert_ok(bly_filter_save(f, at("again.bly")));
    assert_file_is(at("again.bly"), im);
    assert_ok(bly_filter_save(bly_map_filter(map), at("again.bly")));
    assert_file_is(at("again.bly"), im);
    bly_map_close(map);
    bly_filter_destroy(f);
    free(im.data);
}

static void test_golden_good(void **state) {
    (void)state;
    char line[300], name[200], path[PATH_MAX];
    int first, count, files = 0;
    FILE *manifest = fopen(BLYT_GOLDEN_DIR "/good/MANIFEST", "r");
    assert_non_null(manifest);
    while (fgets(line, sizeof line, manifest)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%199s %d %d", name, &first, &count), 3);
        (void)snprintf(path, sizeof path, "%s/good/%s", BLYT_GOLDEN_DIR, name);
        check_golden(path, first, count);
        files++;
    }
    assert_int_equal(fclose(manifest), 0);
    assert_true(files > 0);
    assert_int_equal(files, entries(BLYT_GOLDEN_DIR "/good", ".bly"));
}

/* From "name.ESTATUS.bly". */
static bly_status status_named(const char *file) {
#define NAME_OF(name, value, text) {#name, name},
    static const struct {
        const char *name;
        bly_status status;
    } all[] = {BLY_STATUS_MAP(NAME_OF)};
#undef NAME_OF
    const char *dot = strchr(file, '.');
    for (size_t i = 0; dot && i < sizeof all / sizeof *all; i++) {
        const char *wanted = all[i].name + strlen("BLY_");
        size_t len = strlen(wanted);
        if (strncmp(dot + 1, wanted, len) == 0 && dot[1 + len] == '.')
            return all[i].status;
    }
    return BLY_OK;
}

static void test_golden_bad(void **state) {
    (void)state;
    char path[PATH_MAX];
    int files = 0;
    DIR *dir = opendir(BLYT_GOLDEN_DIR "/bad");
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (!strstr(e->d_name, ".bly"))
            continue;
        bly_status want = status_named(e->d_name);
        assert_int_not_equal(want, BLY_OK);
        if (want == BLY_EKEY && !bly_hash_available(BLY_HASH_SIPHASH))
            want = BLY_EHASHER;
        (void)snprintf(path, sizeof path, "%s/bad/%s", BLYT_GOLDEN_DIR, e->d_name);
        blyt_buffer im = slurp(path);
        assert_refused(im, NULL, want);
        free(im.data);
        files++;
    }
    (void)closedir(dir);
    assert_true(files > 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, fresh_scratch, drop_scratch)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_every_kind_is_listed),
        IN_SCRATCH(test_round_trip),
        IN_SCRATCH(test_every_hash),
        IN_SCRATCH(test_sharing_is_chosen_when_opened),
        IN_SCRATCH(test_info),
        IN_SCRATCH(test_vectors),
        IN_SCRATCH(test_truncations),
        IN_SCRATCH(test_every_byte_counts),
        IN_SCRATCH(test_padding_is_zero),
        IN_SCRATCH(test_any_body_is_safe),
        IN_SCRATCH(test_hostile_headers),
        IN_SCRATCH(test_body_must_fit),
        IN_SCRATCH(test_any_count),
        IN_SCRATCH(test_keyed),
        IN_SCRATCH(test_custom),
        IN_SCRATCH(test_expected_hasher),
        IN_SCRATCH(test_out_of_memory),
        IN_SCRATCH(test_sinks),
        IN_SCRATCH(test_load_wants_a_regular_file),
        IN_SCRATCH(test_file_that_shrinks_while_read),
        IN_SCRATCH(test_save_keeps_the_mode),
        IN_SCRATCH(test_save_follows_links),
        IN_SCRATCH(test_save_to_any_name),
        IN_SCRATCH(test_save_refuses_what_is_no_file),
        IN_SCRATCH(test_save_into_unwritable_directory),
        IN_SCRATCH(test_save_without_room),
        IN_SCRATCH(test_saving_leaves_a_map_alone),
        IN_SCRATCH(test_two_processes_share_a_map),
        IN_SCRATCH(test_kill_while_saving),
        IN_SCRATCH(test_golden_good),
        IN_SCRATCH(test_golden_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
