/* store_support.h - shared by the tests of files and their parsing: filters of every shape, a
 * scratch directory, reading and writing files, and the ways to open a file, which must all refuse
 * the same bytes. */
#ifndef BLYT_STORE_SUPPORT_H
#define BLYT_STORE_SUPPORT_H

#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { HEADER = 64, PAGE = 4096 };

enum { BLYT_WINDOW_SMALL = 64 }; /* the bit of `detail` that marks a small window */

/* Shapes that fill, or do not fill, their last 64 bytes. If `hashes` is 0, the shape is planned:
 * `size` is the number of keys, and a `detail` of 1 means special contents, which are many copies
 * of one key, or an overlay with all parts. The smaller scalable filter grows with the keys that
 * tests add, and the smaller window forgets some. Kinds that are not listed get a planned shape
 * (shape_at). */
static const bly_geometry listed_shapes[] = {
    {BLY_CLASSIC, 7, 1000, 0, 0},
    {BLY_CLASSIC, 3, 64, 0, 0},
    {BLY_CLASSIC, 2, 67, BLY_FOLDABLE, 0},
    {BLY_CLASSIC, 5, 1031, BLY_TEXTBOOK, 0},
    {BLY_PARTITIONED, 5, 64, 0, 0},
    {BLY_PARTITIONED, 4, 128, BLY_FOLDABLE, 0},
    {BLY_SBBF, 8, 3, 0, 0},
    {BLY_SBBF, 8, 4, BLY_FOLDABLE, 0},
    {BLY_SPLIT512, 8, 2, 0, 0},
    {BLY_SPLIT512, 12, 3, 0, 0},
    {BLY_SPLIT512, 16, 1, 0, 0},
    {BLY_BB2X512, 6, 2, 0, 0},
    {BLY_BB2X512, 16, 1, 0, 0},
    {BLY_SCALABLE, 0, 123, 0, 0},
    {BLY_SCALABLE, 0, 10, 0, 0},
    {BLY_WINDOW, 0, 150, 0, 0},
    {BLY_WINDOW, 9, 1, 0, 2},
    {BLY_WINDOW, 9, 4, 0, 8},
    {BLY_WINDOW, 5, 130, 0, 64 + 2},
    {BLY_CUCKOO, 0, 200, 0, 0},
    {BLY_CUCKOO, 11, 51, 0, 0},
    {BLY_GROWABLE_CUCKOO, 0, 200, 0, 0},
    {BLY_GROWABLE_CUCKOO, 0, 10, 0, 0},
    {BLY_SCALABLE_CUCKOO, 0, 123, 0, 0},
    {BLY_SCALABLE_CUCKOO, 0, 10, 0, 0},
    {BLY_FUSE, 0, 60, 0, 0},
    {BLY_RIBBON, 0, 60, 0, 0},
    {BLY_COUNTING, 3, 300, 0, 2},
    {BLY_COUNTING, 4, 129, 0, 4},
    {BLY_COUNTING, 2, 67, 0, 8},
    {BLY_COUNTING, 5, 70, 0, 16},
    {BLY_COUNTING, 0, 60, 0, 1},
    {BLY_MULTILAYER, 0, 90, 0, 0},
    {BLY_MULTILAYER, 0, 5, 0, 1},
    {BLY_MULTILAYER, 3, 5, 0, 0},
    {BLY_LAYERED, 8, 3, 0, 0},
    {BLY_LAYERED, 0, 30, 0, 1},
    {BLY_OVERLAY, 0, 60, 0, 0},
    {BLY_OVERLAY, 0, 60, 0, 1},
    {BLY_HYBRID, 0, 200, 0, 0},
    {BLY_HYBRID, 0, 100, 0, 1},
    {BLY_HYBRID, 11, 41, 0, 3},
    {BLY_COUNTS, 0, 30, 0, 1},
    {BLY_COUNTS, 4, 2, 0, 1},
    {BLY_HLL, 4, 16, 0, 0},
    {BLY_HLL, 7, 128, 0, 0},
};

enum { UNLISTED_KEYS = 60 };

static inline bool shape_is_listed(bly_kind kind) {
    for (size_t i = 0; i < COUNT_OF(listed_shapes); i++)
        if (listed_shapes[i].kind == kind)
            return true;
    return false;
}

/* Shape number i; its kind is BLY_KIND_NONE past the last. Every kind of the library has one or
 * more shapes. */
static inline bly_geometry shape_at(size_t i) {
    if (i < COUNT_OF(listed_shapes))
        return listed_shapes[i];
    i -= COUNT_OF(listed_shapes);
    bly_kind kind = BLY_KIND_NONE;
    while ((kind = bly_kind_next(kind)) != BLY_KIND_NONE)
        if (!shape_is_listed(kind) && i-- == 0)
            break;
    return (bly_geometry){.kind = kind, .size = UNLISTED_KEYS};
}

static inline size_t shape_count(void) {
    size_t n = COUNT_OF(listed_shapes);
    while (shape_at(n).kind != BLY_KIND_NONE)
        n++;
    return n;
}

static inline bool shape_can(bly_geometry shape, uint32_t what) {
    return (bly_kind_capabilities(shape.kind) & what) == what;
}

/* Returns a shape of the same kind with room for many more keys. (A sketch has room for any
 * number.) */
static inline bly_geometry enlarged(bly_geometry shape) {
    if (shape.kind == BLY_WINDOW &&
        shape.detail & BLYT_WINDOW_SMALL) /* a small window has no room for more */
        shape = (bly_geometry){BLY_WINDOW, 9, 1, 0, shape.detail - BLYT_WINDOW_SMALL};
    if (!shape_can(shape, BLY_CARDINALITY_ONLY))
        shape.size *= 256;
    return shape;
}

static char scratch[PATH_MAX];

/* A path in the scratch directory; valid until the fourth call after this one. */
static inline const char *at(const char *name) {
    static char paths[4][PATH_MAX + 300];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

/* Removes a directory tree. Works relative to open directories, because paths may be too long. */
static inline void remove_tree(int parent, const char *name) {
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
static inline int entries(const char *path, const char *suffix) {
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

static inline int fresh_scratch(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    (void)snprintf(scratch, sizeof scratch, "%s/bloomery-store-XXXXXX", base ? base : "/tmp");
    return mkdtemp(scratch) && chmod(scratch, 0755) == 0 ? 0 : -1;
}

/* Removes the scratch directory. Fails if the test left a temporary file behind. */
static inline int drop_scratch(void **state) {
    (void)state;
    int left = entries(scratch, ".tmp");
    remove_tree(AT_FDCWD, scratch);
    return left == 0 ? 0 : -1;
}

static inline void spill(const char *path, const void *bytes, size_t size) {
    (void)unlink(path); /* faster: some file systems write a truncated file to disk at once */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline blyt_buffer slurp(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    blyt_buffer im = {malloc((size_t)st.st_size + 1), (size_t)st.st_size};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(im.data, 1, im.size + 1, file), im.size);
    assert_int_equal(fclose(file), 0);
    return im;
}

static inline void assert_file_is(const char *path, blyt_buffer want) {
    blyt_buffer have = slurp(path);
    assert_int_equal(have.size, want.size);
    assert_memory_equal(have.data, want.data, want.size);
    free(have.data);
}

static inline int key_text(char key[32], const char *prefix, int i) {
    size_t len = strlen(prefix);
    assert_true(i >= 0 && len < 16);
    memcpy(key, prefix, len);
    memcpy(key + len, "-key-", 5);
    return (int)(len + 5 + blyt_digits((uint64_t)i, key + len + 5));
}

static inline void add_keys(bly_filter *f, const char *prefix, int from, int count) {
    char key[32];
    for (int i = from; i < from + count; i++) {
        size_t len = (size_t)key_text(key, prefix, i);
        assert_ok(bly_filter_add(f, key, len, NULL));
    }
}

/* Returns the keys 0 to count - 1 as a list. Free it with blyt_list_free. */
static inline blyt_list list_keys(const char *prefix, int count) {
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, (size_t)count);
    char *to = l.bytes;
    for (int i = 0; i < count; i++) {
        l.keys[i] = (bly_bytes){to, (size_t)key_text(to, prefix, i)};
        to += l.keys[i].size;
    }
    return l;
}

static inline bool contains_keys(const bly_filter *f, const char *prefix, int from, int count) {
    char key[32];
    bool all = true;
    for (int i = from; i < from + count; i++) {
        size_t len = (size_t)key_text(key, prefix, i);
        all = all && bly_filter_contains(f, key, len);
    }
    return all;
}

/* An overlay that has all parts: a built base, added keys, and a Bloom filter of removed keys. Some
 * of its keys were removed and added again. */
static inline bly_filter *overlay_of_all_parts(const bly_spec *spec, const blyt_list *l) {
    const bly_overlay_options over = {.changes = l->n + 60, .marker = BLY_CLASSIC};
    bly_spec under = *spec;
    bly_filter *base = NULL, *f = NULL, *own = NULL;
    under.geometry.kind = BLY_FUSE;
    under.capacity = 0;
    assert_ok(bly_filter_build(&under, l->keys, l->n / 2, &base));
    assert_ok(bly_overlay_over(base, &over, NULL, &f));
    assert_ok(bly_filter_add_many(f, l->keys, l->n, NULL, NULL));
    assert_ok(bly_filter_remove_many(f, l->keys + l->n / 4, l->n / 2, NULL, NULL));
    assert_ok(bly_filter_add_many(f, l->keys, l->n, NULL, NULL));
    assert_ok(bly_filter_clone(f, NULL, &own));
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    return own;
}

/* A filter of that shape that contains the keys 0 to keys - 1. hasher NULL: the default. */
static inline bly_filter *filled(bly_geometry g, const bly_hasher *hasher, int keys) {
    bly_spec spec = bly_spec_for(g.kind, keys > 123 ? (uint64_t)keys : 123, 0.0125);
    bool planned = g.hashes == 0, more = planned && g.detail == 1;
    spec.geometry = g;
    if (planned) {
        spec.geometry = (bly_geometry){.kind = g.kind, .options = g.options};
        spec.capacity = g.size;
    }
    spec.seed = 0x5eed;
    if (hasher)
        spec.hasher = *hasher;
    blyt_list l = list_keys("store", keys);
    bly_filter *f =
        more && g.kind == BLY_OVERLAY ? overlay_of_all_parts(&spec, &l) : blyt_filled(&spec, &l);
    for (int i = 0; more && g.kind != BLY_OVERLAY && keys > 0 && i < 20; i++)
        assert_ok(bly_filter_add(f, l.keys[0].data, l.keys[0].size, NULL));
    blyt_list_free(&l);
    return f;
}

/* Whether the filter contains the keys 0 to keys - 1. */
static inline bool contains_all(const bly_filter *f, int keys) {
    return contains_keys(f, "store", 0, keys);
}

static inline void assert_same(const bly_filter *a, const bly_filter *b) {
    bly_filter_info x = {.struct_size = sizeof x};
    bly_filter_info y = {.struct_size = sizeof y};
    char key[32];
    assert_true(bly_filter_equal(a, b));
    assert_int_equal(bly_filter_geometry(a).options, bly_filter_geometry(b).options);
    assert_int_equal(bly_filter_hasher(a)->seed, bly_filter_hasher(b)->seed);
    bly_filter_get_info(a, &x);
    bly_filter_get_info(b, &y);
    assert_int_equal(x.count, y.count);
    assert_int_equal(x.capacity, y.capacity);
    assert_int_equal(x.approximate, y.approximate);
    assert_int_equal(x.stuck, y.stuck);
    assert_true(x.miss_bound == y.miss_bound && x.estimated_keys == y.estimated_keys);
    assert_memory_equal(&x.requested_fpr, &y.requested_fpr, sizeof x.requested_fpr);
    for (int i = 0; i < 500; i++) {
        size_t len = (size_t)key_text(key, "store", i);
        assert_int_equal(bly_filter_contains(a, key, len), bly_filter_contains(b, key, len));
        assert_int_equal(bly_filter_copies(a, key, len), bly_filter_copies(b, key, len));
    }
}

/* Asserts that parsing refuses these bytes with `want`, before it allocates anything. */
static inline void assert_parse_refused(blyt_buffer im, const bly_open_options *options,
                                        bly_status want) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_open_options o =
        options ? *options : (bly_open_options){.struct_size = sizeof(bly_open_options)};
    bly_filter *f = (bly_filter *)&heap; /* anything but NULL */
    o.allocator = &a;
    assert_int_equal(bly_filter_parse(im.data, im.size, &o, &f), want);
    assert_null(f);
    assert_int_equal(heap.calls, 0);
}

/* Asserts that loading refuses the file, which has `size` bytes, without allocating more than
 * that. */
static inline void assert_load_refused(const char *path, size_t size,
                                       const bly_open_options *options, bly_status want) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_open_options o =
        options ? *options : (bly_open_options){.struct_size = sizeof(bly_open_options)};
    bly_filter *f = (bly_filter *)&heap; /* anything but NULL */
    o.allocator = &a;
    assert_int_equal(bly_filter_load(path, &o, &f), want);
    assert_null(f);
    assert_int_equal(heap.live, 0);
    assert_true(heap.largest <= size + PAGE);
}

/* As assert_load_refused, for mapping the file. */
static inline void assert_map_refused(const char *path, size_t size,
                                      const bly_open_options *options, bly_status want) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_open_options o =
        options ? *options : (bly_open_options){.struct_size = sizeof(bly_open_options)};
    bly_map *map = (bly_map *)&heap; /* anything but NULL */
    o.allocator = &a;
    o.flags |= BLY_OPEN_VERIFY;
    assert_int_equal(bly_map_open(path, &o, &map), want);
    assert_null(map);
    assert_int_equal(heap.live, 0);
    assert_true(heap.largest <= size + PAGE);
}

/* Asserts that parsing and loading refuse these bytes. */
static inline void assert_refused_unmapped(blyt_buffer im, const bly_open_options *options,
                                           bly_status want) {
    assert_parse_refused(im, options, want);
    spill(at("refused.bly"), im.data, im.size);
    assert_load_refused(at("refused.bly"), im.size, options, want);
}

/* Asserts that parsing, loading and mapping refuse these bytes. */
static inline void assert_refused(blyt_buffer im, const bly_open_options *options,
                                  bly_status want) {
    assert_refused_unmapped(im, options, want);
    assert_map_refused(at("refused.bly"), im.size, options, want);
}

/* As assert_refused, but overwrites a file of the same size: it is at `path` and open for writing
 * as fd. For many images this is faster than a new file for each. */
static inline void assert_refused_over(const char *path, int fd, blyt_buffer im, bly_status want) {
    assert_parse_refused(im, NULL, want);
    assert_int_equal(pwrite(fd, im.data, im.size, 0), im.size);
    assert_load_refused(path, im.size, NULL, want);
    assert_map_refused(path, im.size, NULL, want);
}

/* Opens a file for assert_refused_over. */
static inline int open_over(const char *path, blyt_buffer im) {
    spill(path, im.data, im.size);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    return fd;
}

/* A custom hash function: fnv1a with its two words exchanged. The golden files use it, too. */
static inline bly_hash swapped(void *user, const void *key, size_t len) {
    bly_hash h = bly_hash_key(user, key, len);
    return (bly_hash){h.hi, h.lo};
}

static inline bly_hasher custom_hasher(uint64_t tag) {
    static bly_hasher fnv1a;
    bly_hasher h;
    assert_ok(bly_hasher_init(&fnv1a, BLY_HASH_FNV1A, 0));
    assert_ok(bly_hasher_custom(&h, swapped, &fnv1a, 64, tag));
    return h;
}

/* ---- files changed by hand ------------------------------------------------------------------- */

static inline void store(uint8_t *to, uint64_t value, int width) {
    for (int i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t load(const uint8_t *from, int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static inline void fix_header_sum(uint8_t *header) {
    store(header + 12, 0, 4);
    store(header + 12, XXH64(header, HEADER, 0), 4);
}

/* Corrects the checksums of a file: those of its body and header. */
static inline void fix_sums(blyt_buffer im) {
    store(im.data + 56, XXH64(im.data + HEADER, im.size - HEADER, 0), 8);
    fix_header_sum(im.data);
}

static inline bool file_is_nested(bly_kind kind) {
    const bly_spec spec = bly_spec_for(kind, 10, 0.1);
    bly_file_info info = {.struct_size = sizeof info};
    bly_filter *f = NULL;
    if (!bly_kind_name(kind))
        return false;
    assert_ok(blyt_make(&spec, &f));
    blyt_buffer im = blyt_write(f);
    bool nested = bly_file_parse_info(im.data + HEADER, im.size - HEADER, &info) == BLY_OK;
    free(im.data);
    bly_filter_destroy(f);
    return nested;
}

/* Whether files of this kind contain the files of levels or parts. */
static inline bool blyt_is_nested(bly_kind kind) {
    static int known[256]; /* 0: not known yet; 1: no; 2: yes */
    if ((unsigned)kind >= COUNT_OF(known))
        return false;
    if (known[kind] == 0)
        known[kind] = file_is_nested(kind) ? 2 : 1;
    return known[kind] == 2;
}

/* Corrects the checksums of a file and of its parts, up to the first part whose header is not
 * valid. */
static inline void fix_all_sums(blyt_buffer im) {
    bly_file_info info = {.struct_size = sizeof info};
    size_t start = HEADER;
    bool nested = blyt_is_nested((bly_kind)im.data[5]);
    while (nested && im.size - start >= HEADER) {
        blyt_buffer part = {im.data + start, im.size - start};
        fix_header_sum(part.data);
        if (bly_file_parse_info(part.data, part.size, &info) != BLY_OK ||
            info.body_bytes > part.size - HEADER)
            break;
        part.size = HEADER + (size_t)info.body_bytes;
        fix_sums(part);
        start += part.size;
    }
    fix_sums(im);
}

/* A header field that a test overwrites, and the status with which the file must then be
 * refused. */
typedef struct lie {
    int offset, width;
    uint64_t value;
    bly_status status;
} lie;

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, fresh_scratch, drop_scratch)

#endif
