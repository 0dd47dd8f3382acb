/* make_golden.c - wrote the files in tests/golden/v1. The tests do not run it: the files show what
 * version 1 looks like, and must never change. The program shows how they were made, and adds the
 * files of new kinds.
 *
 *     make_golden DIRECTORY      writes DIRECTORY/good and DIRECTORY/bad, which must exist
 *
 * It does not change existing files, because today's library would write many of them differently.
 * So it can be run on tests/golden/v1: it adds the files that are missing, and their lines in
 * MANIFEST.
 */
/* Length: a list of files, with a few lines for each. */
#include <bloomery/bloomery.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { CUSTOM_TAG = 0x676f6c64, MAX_FILE = 4096 };

static void must(bool truth, const char *what) {
    if (truth)
        return;
    fprintf(stderr, "make_golden: %s failed\n", what);
    exit(1);
}

/* ---- good ------------------------------------------------------------------------------------ */

typedef struct sample {
    const char *name;
    bly_geometry geometry; /* size 0: planned for 60 keys at 1%. For scalable kinds the rate is
                              10^-hashes, and the capacity of the first level is size */
    bly_hash_id hash;
    uint64_t seed;
    int first, count; /* keys golden-key-N */
} sample;

static const sample samples[] = {
    {"classic-fnv1a", {BLY_CLASSIC, 7, 1000, 0}, BLY_HASH_FNV1A, 0, 0, 40},
    {"classic-empty-fnv1", {BLY_CLASSIC, 5, 777, 0}, BLY_HASH_FNV1, 0, 0, 0},
    {"classic-full-crc64", {BLY_CLASSIC, 1, 65, 0}, BLY_HASH_CRC64, 9, 0, 999},
    {"classic-k64-fnv1a-32", {BLY_CLASSIC, 64, 4001, 0}, BLY_HASH_FNV1A_32, 0, 3, 30},
    {"classic-planned-xxh3", {BLY_CLASSIC, 0, 0, 0}, BLY_HASH_XXH3, 0, 0, 60},
    {"classic-foldable-md5", {BLY_CLASSIC, 7, 1024, BLY_FOLDABLE}, BLY_HASH_MD5, 0, 0, 50},
    {"textbook-xxh64", {BLY_CLASSIC, 6, 1031, BLY_TEXTBOOK}, BLY_HASH_XXH64, 42, 0, 40},
    {"textbook-foldable-fnv1a", {BLY_CLASSIC, 3, 1280, 3}, BLY_HASH_FNV1A, 0, 0, 40},
    {"partitioned-murmur3", {BLY_PARTITIONED, 7, 192, 0}, BLY_HASH_MURMUR3, 0, 0, 40},
    {"partitioned-sha1", {BLY_PARTITIONED, 3, 64, 0}, BLY_HASH_SHA1, 77, 10, 12},
    {"sbbf-xxh3", {BLY_SBBF, 8, 8, 0}, BLY_HASH_XXH3, 1, 0, 50},
    {"sbbf-odd-fnv1a", {BLY_SBBF, 8, 5, 0}, BLY_HASH_FNV1A, UINT64_MAX, 0, 50},
    {"split512-8-fnv1", {BLY_SPLIT512, 8, 3, 0}, BLY_HASH_FNV1, 5, 0, 50},
    {"split512-12-xxh3-128", {BLY_SPLIT512, 12, 5, 0}, BLY_HASH_XXH3_128, 6, 0, 50},
    {"split512-12-md5", {BLY_SPLIT512, 12, 5, 0}, BLY_HASH_MD5, 6, 0, 50},
    {"split512-16-farm64", {BLY_SPLIT512, 16, 5, 0}, BLY_HASH_FARM64, 7, 0, 50},
    {"split512-16-murmur3", {BLY_SPLIT512, 16, 5, 0}, BLY_HASH_MURMUR3, 7, 0, 50},
    {"bb2x512-6-city64", {BLY_BB2X512, 6, 4, 0}, BLY_HASH_CITY64, 0, 0, 50},
    {"bb2x512-16-murmur64a", {BLY_BB2X512, 16, 7, 0}, BLY_HASH_MURMUR64A, 8, 0, 50},
    {"bb2x512-2-fnv1-32", {BLY_BB2X512, 2, 1, 0}, BLY_HASH_FNV1_32, 8, 0, 50},
    {"keyed-split512", {BLY_SPLIT512, 8, 4, 0}, BLY_HASH_SIPHASH, 0, 0, 50},
    {"keyed-classic", {BLY_CLASSIC, 7, 999, 0}, BLY_HASH_SIPHASH, 0, 0, 50},
    {"custom-bb2x512", {BLY_BB2X512, 8, 4, 0}, BLY_HASH_CUSTOM_RAW, CUSTOM_TAG, 0, 50},
    {"custom-mixed-sbbf", {BLY_SBBF, 8, 8, 0}, BLY_HASH_CUSTOM, CUSTOM_TAG, 0, 50},
    {"custom-mixed-cuckoo", {BLY_CUCKOO, 9, 20, 0}, BLY_HASH_CUSTOM, CUSTOM_TAG, 0, 60},
    {"custom-mixed-scalable", {BLY_SCALABLE, 2, 10, 0}, BLY_HASH_CUSTOM, CUSTOM_TAG, 0, 60},
    /* Created with a hasher that mixes; but a textbook filter records the raw form. */
    {"custom-textbook", {BLY_CLASSIC, 6, 1031, BLY_TEXTBOOK}, BLY_HASH_CUSTOM, CUSTOM_TAG, 0, 40},
    {"cuckoo-fnv1a", {BLY_CUCKOO, 9, 20, 0}, BLY_HASH_FNV1A, 0, 0, 60},
    {"cuckoo-odd-sha1", {BLY_CUCKOO, 6, 21, 0}, BLY_HASH_SHA1, 3, 0, 60},
    {"cuckoo-wide-md5", {BLY_CUCKOO, 55, 18, 0}, BLY_HASH_MD5, 0, 0, 50},
    {"cuckoo-empty-xxh64", {BLY_CUCKOO, 12, 1, 0}, BLY_HASH_XXH64, 0, 0, 0},
    {"growable-fnv1a", {BLY_GROWABLE_CUCKOO, 14, 4, 0, 7}, BLY_HASH_FNV1A, 4, 0, 60},
    {"growable-grown-crc64", {BLY_GROWABLE_CUCKOO, 10, 10, 0, 9}, BLY_HASH_CRC64, 4, 0, 60},
    {"scalable-one-level-fnv1a", {BLY_SCALABLE, 2, 60, 0}, BLY_HASH_FNV1A, 0, 0, 50},
    {"scalable-fnv1a", {BLY_SCALABLE, 2, 10, 0}, BLY_HASH_FNV1A, 11, 0, 60},
    {"scalable-fine-murmur3", {BLY_SCALABLE, 5, 16, 0}, BLY_HASH_MURMUR3, 0, 5, 100},
    {"scalable-empty-xxh3", {BLY_SCALABLE, 2, 1, 0}, BLY_HASH_XXH3, 0, 0, 0},
    {"keyed-scalable", {BLY_SCALABLE, 2, 5, 0}, BLY_HASH_SIPHASH, 0, 0, 50},
    {"scalable-growth-1-crc64", {BLY_SCALABLE, 2, 4, 0, 1}, BLY_HASH_CRC64, 0, 0, 100},
    {"scalable-growth-3-fnv1a", {BLY_SCALABLE, 2, 5, 0, 3}, BLY_HASH_FNV1A, 11, 0, 90},
    {"scalable-cuckoo-fnv1a", {BLY_SCALABLE_CUCKOO, 2, 10, 0}, BLY_HASH_FNV1A, 11, 0, 100},
    {"scalable-cuckoo-growth-8-murmur3",
     {BLY_SCALABLE_CUCKOO, 5, 9, 0, 8},
     BLY_HASH_MURMUR3,
     0,
     5,
     200},
    {"scalable-cuckoo-empty-xxh3", {BLY_SCALABLE_CUCKOO, 2, 1, 0}, BLY_HASH_XXH3, 0, 0, 0},
    {"keyed-scalable-cuckoo", {BLY_SCALABLE_CUCKOO, 2, 5, 0}, BLY_HASH_SIPHASH, 0, 0, 50},
};

/* Swaps the words of fnv1a. */
static bly_hash swapped(void *user, const void *key, size_t len) {
    bly_hash h = bly_hash_key(user, key, len);
    return (bly_hash){h.hi, h.lo};
}

static bly_hasher hasher_of(const sample *s) {
    static bly_hasher fnv1a;
    bly_hasher h;
    uint8_t key[16];
    bly_status status;
    for (int i = 0; i < 16; i++)
        key[i] = (uint8_t)i;
    must(bly_hasher_init(&fnv1a, BLY_HASH_FNV1A, 0) == BLY_OK, "fnv1a");
    if (s->hash == BLY_HASH_SIPHASH)
        status = bly_hasher_keyed(&h, key);
    else if (s->hash == BLY_HASH_CUSTOM)
        status = bly_hasher_custom(&h, swapped, &fnv1a, 64, s->seed);
    else if (s->hash == BLY_HASH_CUSTOM_RAW)
        status = bly_hasher_custom_raw(&h, swapped, &fnv1a, 64, s->seed);
    else
        status = bly_hasher_init(&h, s->hash, s->seed);
    must(status == BLY_OK, s->name);
    return h;
}

enum { MAX_KEYS = 2000 };

/* Returns `count` keys from number `first` on. They are valid until the next call. */
static const bly_bytes *key_list(int first, int count) {
    static char text[MAX_KEYS][32];
    static bly_bytes keys[MAX_KEYS];
    must(count <= MAX_KEYS, "count <= MAX_KEYS");
    for (int i = 0; i < count; i++) {
        int len = snprintf(text[i], sizeof text[i], "golden-key-%d", first + i);
        keys[i] = (bly_bytes){text[i], (size_t)len};
    }
    return keys;
}

static void add_keys(bly_filter *f, int first, int count) {
    const bly_bytes *keys = key_list(first, count);
    must(bly_filter_add_many(f, keys, (size_t)count, NULL, NULL) == BLY_OK, "add");
}

/* Makes a filter. Returns NULL for a table that today's planner refuses, because it has too little
 * room to spare; its file exists already, and stays. */
static bly_filter *make(const sample *s) {
    bly_filter *f;
    bly_spec spec = bly_spec_for(s->geometry.kind, 60, 0.01);
    spec.geometry = s->geometry;
    if (s->geometry.kind == BLY_SCALABLE || s->geometry.kind == BLY_SCALABLE_CUCKOO) {
        spec = bly_spec_for(s->geometry.kind, s->geometry.size, 0.01);
        spec.scalable.growth = s->geometry.detail;
        for (uint32_t e = 2; e < s->geometry.hashes; e++)
            spec.fpr /= 10;
    }
    spec.hasher = hasher_of(s);
    spec.allow_weak_hash = true;
    bly_status status = bly_filter_create(&spec, &f);
    if (status == BLY_EIMPOSSIBLE)
        return NULL;
    must(status == BLY_OK, s->name);
    add_keys(f, s->first, s->count);
    return f;
}

typedef struct output {
    const char *dir;
    FILE *manifest;
} output;

/* Writes the path of a file of DIRECTORY/folder to `path`. Returns whether it exists. */
static bool exists(const output *out, const char *folder, const char *name, char path[MAX_FILE]) {
    (void)snprintf(path, MAX_FILE, "%s/%s/%s.bly", out->dir, folder, name);
    return access(path, F_OK) == 0;
}

static void save(const output *out, const bly_filter *f, const char *name, int first, int count,
                 const char *relation) {
    char path[MAX_FILE];
    if (exists(out, "good", name, path))
        return;
    must(bly_filter_save(f, path) == BLY_OK, path);
    fprintf(out->manifest, "%s.bly %d %d %s\n", name, first, count, relation);
}

/* ---- good: kinds that are planned, or built ----------------------------------------------------
 */

typedef struct planned {
    const char *name;
    bly_kind kind;
    uint64_t capacity;
    double rate;
    bly_hash_id hash;
    uint64_t seed;
    int first, count;
    uint32_t generations; /* of a window */
    uint64_t span;
} planned;

static const planned plans[] = {
    {"window-fnv1a", BLY_WINDOW, 60, 0.01, BLY_HASH_FNV1A, 0, 0, 60, 0, 0},
    {"window-turned-fnv1a", BLY_WINDOW, 400, 0.01, BLY_HASH_FNV1A, 1, 0, 553, 0, 0},
    {"window-1-generation-murmur3", BLY_WINDOW, 20, 0.001, BLY_HASH_MURMUR3, 0, 0, 70, 1, 0},
    {"window-32-generations-crc64", BLY_WINDOW, 64, 0.01, BLY_HASH_CRC64, 7, 0, 200, 32, 0},
    {"window-empty-fnv1", BLY_WINDOW, 1, 0.01, BLY_HASH_FNV1, 0, 0, 0, 0, 0},
    {"window-no-clock-md5", BLY_WINDOW, 30, 0.01, BLY_HASH_MD5, 7, 0, 40, 3, 100},
    {"keyed-window", BLY_WINDOW, 50, 0.01, BLY_HASH_SIPHASH, 0, 0, 90, 0, 0},
    /* The windows above were written before there were small windows. Today all would be small. */
    {"window-small-fnv1a", BLY_WINDOW, 60, 0.01, BLY_HASH_FNV1A, 0, 0, 60, 0, 0},
    {"window-small-turned-fnv1a", BLY_WINDOW, 400, 0.01, BLY_HASH_FNV1A, 1, 0, 553, 0, 0},
    {"window-small-full-xxh64", BLY_WINDOW, 200, 0.001, BLY_HASH_XXH64, 1, 0, 999, 0, 0},
    {"window-small-1-generation-murmur3", BLY_WINDOW, 20, 0.001, BLY_HASH_MURMUR3, 0, 0, 70, 1, 0},
    {"window-small-32-generations-crc64", BLY_WINDOW, 64, 0.01, BLY_HASH_CRC64, 7, 0, 999, 32, 0},
    {"window-small-empty-fnv1", BLY_WINDOW, 1, 0.01, BLY_HASH_FNV1, 0, 0, 0, 0, 0},
    {"window-small-no-clock-md5", BLY_WINDOW, 30, 0.01, BLY_HASH_MD5, 7, 0, 40, 3, 100},
    {"keyed-window-small", BLY_WINDOW, 50, 0.01, BLY_HASH_SIPHASH, 0, 0, 90, 0, 0},
    {"cuckoo-planned-murmur3", BLY_CUCKOO, 60, 1e-6, BLY_HASH_MURMUR3, 7, 5, 60, 0, 0},
    {"keyed-cuckoo", BLY_CUCKOO, 60, 0.01, BLY_HASH_SIPHASH, 0, 0, 60, 0, 0},
    {"growable-planned-murmur3", BLY_GROWABLE_CUCKOO, 9, 0.01, BLY_HASH_MURMUR3, 7, 5, 99, 0, 0},
    {"fuse-fnv1a", BLY_FUSE, 0, 0.01, BLY_HASH_FNV1A, 0, 0, 400, 0, 0},
    {"fuse-one-key-fnv1a", BLY_FUSE, 0, 0.001, BLY_HASH_FNV1A, 1, 7, 1, 0, 0},
    {"fuse-empty-fnv1", BLY_FUSE, 0, 0.01, BLY_HASH_FNV1, 0, 0, 0, 0, 0},
    {"fuse-fine-murmur3", BLY_FUSE, 0, 1.0 / (1 << 28), BLY_HASH_MURMUR3, 0, 3, 700, 0, 0},
    {"fuse-half-md5", BLY_FUSE, 0, 0.5, BLY_HASH_MD5, 5, 0, 300, 0, 0},
    {"keyed-fuse", BLY_FUSE, 0, 0.02, BLY_HASH_SIPHASH, 0, 0, 100, 0, 0},
    /* The filters above were written before there were small filters. Today all would be small. */
    {"fuse-small-fnv1a", BLY_FUSE, 0, 0.01, BLY_HASH_FNV1A, 0, 0, 999, 0, 0},
    {"fuse-small-one-key-fnv1a", BLY_FUSE, 0, 0.001, BLY_HASH_FNV1A, 1, 7, 1, 0, 0},
    {"fuse-small-empty-fnv1", BLY_FUSE, 0, 0.01, BLY_HASH_FNV1, 0, 0, 0, 0, 0},
    {"fuse-small-fine-murmur3", BLY_FUSE, 0, 1.0 / (1 << 28), BLY_HASH_MURMUR3, 0, 3, 700, 0, 0},
    {"fuse-small-half-md5", BLY_FUSE, 0, 0.5, BLY_HASH_MD5, 5, 0, 300, 0, 0},
    {"keyed-fuse-small", BLY_FUSE, 0, 0.02, BLY_HASH_SIPHASH, 0, 0, 100, 0, 0},
    {"ribbon-fnv1a", BLY_RIBBON, 0, 0.01, BLY_HASH_FNV1A, 0, 0, 400, 0, 0},
    {"ribbon-one-key-fnv1a", BLY_RIBBON, 0, 0.001, BLY_HASH_FNV1A, 1, 7, 1, 0, 0},
    {"ribbon-empty-fnv1", BLY_RIBBON, 0, 0.01, BLY_HASH_FNV1, 0, 0, 0, 0, 0},
    {"ribbon-fine-murmur3", BLY_RIBBON, 0, 1e-5, BLY_HASH_MURMUR3, 0, 3, 1000, 0, 0},
    {"ribbon-half-md5", BLY_RIBBON, 0, 0.5, BLY_HASH_MD5, 5, 0, 300, 0, 0},
    {"keyed-ribbon", BLY_RIBBON, 0, 0.02, BLY_HASH_SIPHASH, 0, 0, 100, 0, 0},
    /* The filters above were written when all blocks were whole. Today the last block would be
     * cut. */
    {"ribbon-cut-fnv1a", BLY_RIBBON, 0, 0.01, BLY_HASH_FNV1A, 0, 0, 400, 0, 0},
    {"ribbon-cut-one-key-fnv1a", BLY_RIBBON, 0, 0.001, BLY_HASH_FNV1A, 1, 7, 1, 0, 0},
    {"ribbon-cut-empty-fnv1", BLY_RIBBON, 0, 0.01, BLY_HASH_FNV1, 0, 0, 0, 0, 0},
    {"ribbon-cut-block-fnv1a", BLY_RIBBON, 0, 0.004, BLY_HASH_FNV1A, 0, 5, 108, 0, 0},
    {"ribbon-cut-low-rate-murmur3", BLY_RIBBON, 0, 1e-5, BLY_HASH_MURMUR3, 0, 3, 1000, 0, 0},
    {"ribbon-cut-half-md5", BLY_RIBBON, 0, 0.5, BLY_HASH_MD5, 5, 0, 300, 0, 0},
    {"ribbon-cut-seeded-fnv1a", BLY_RIBBON, 0, 0.01, BLY_HASH_FNV1A, 144, 0, 1000, 0, 0},
    {"keyed-ribbon-cut", BLY_RIBBON, 0, 0.02, BLY_HASH_SIPHASH, 0, 0, 100, 0, 0},
};

static bly_filter *make_planned(const planned *s) {
    const sample like = {s->name, {s->kind, 0, 0, 0, 0}, s->hash, s->seed, s->first, s->count};
    bly_spec spec = bly_spec_for(s->kind, s->capacity, s->rate);
    bly_filter *f;
    spec.hasher = hasher_of(&like);
    spec.window.generations = s->generations;
    spec.window.span = s->span;
    if (bly_kind_capabilities(s->kind) & BLY_CAN_BUILD) {
        const bly_bytes *keys = key_list(s->first, s->count);
        must(bly_filter_build(&spec, keys, (size_t)s->count, &f) == BLY_OK, s->name);
        return f;
    }
    must(bly_filter_create(&spec, &f) == BLY_OK, s->name);
    add_keys(f, s->first, s->count);
    return f;
}

/* Saves a filter. In kinds that forget keys, only the latest keys are certain to be members. */
static void save_latest(const output *out, const bly_filter *f, const char *name, int first,
                        int count) {
    uint32_t can = bly_kind_capabilities(bly_filter_geometry(f).kind);
    int sure = (int)bly_filter_capacity(f);
    if (can & BLY_FORGETS && count > sure) {
        first += count - sure;
        count = sure;
    }
    save(out, f, name, first, count, can & BLY_FORGETS ? "latest" : "exactly");
}

static void save_window(const output *out, const bly_filter *f, const char *kind, const char *name,
                        int first, int count) {
    char whole[64];
    (void)snprintf(whole, sizeof whole, "%s-%s", kind, name);
    save(out, f, whole, first, count, "held");
}

/* Makes windows by time whose clock was set, and a union of windows by number. */
static void make_windows(const output *out, const char *kind) {
    const planned timed = {"clock", BLY_WINDOW, 60, 0.01, BLY_HASH_FNV1A, 9, 0, 20, 4, 100};
    bly_filter *f = make_planned(&timed), *other;
    for (int i = 1; i < 9; i++) {
        must(bly_window_advance(f, (uint64_t)(1000 + 17 * i)) == BLY_OK, "advance");
        add_keys(f, 20 * i, 10 + i);
    }
    save_window(out, f, kind, "clock-fnv1a", 160, 18);
    must(bly_window_advance(f, 1300) == BLY_OK, "advance");
    save_window(out, f, kind, "asleep-fnv1a", 0, 0);
    bly_filter_destroy(f);
    const planned by_number = {"union", BLY_WINDOW, 80, 0.01, BLY_HASH_FNV1A, 9, 0, 60, 4, 0};
    planned later = by_number;
    later.first = 40;
    f = make_planned(&by_number);
    other = make_planned(&later);
    must(bly_filter_union(f, other) == BLY_OK, "union");
    save_window(out, f, kind, "union-fnv1a", 0, 100);
    bly_filter_destroy(f);
    bly_filter_destroy(other);
}

/* Makes windows by number with repeats: key N is added N mod 4 + 1 times in a row. There is one of
 * each form, saved in the middle of a generation and of a sweep. */
static void make_repeated_windows(const output *out) {
    static const struct {
        const char *name;
        bly_geometry geometry;
    } windows[] = {
        {"window-repeated-fnv1a", {BLY_WINDOW, 9, 5, 0, 8}},
        {"window-small-repeated-fnv1a", {BLY_WINDOW, 8, 300, 0, 64 + 8}},
    };
    enum { KEYS = 75, SURE = 30 }; /* the last 75 of 186 arrivals are of the last 30 keys */
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        bly_spec spec = bly_spec_for(BLY_WINDOW, 80, 0.01);
        bly_window_info info = {.struct_size = sizeof info};
        bly_filter *f;
        must(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A, 9) == BLY_OK, "hasher");
        spec.geometry = windows[i].geometry;
        must(bly_filter_create(&spec, &f) == BLY_OK, windows[i].name);
        for (int key = 0; key < KEYS; key++)
            for (int times = 0; times <= key % 4; times++)
                add_keys(f, key, 1);
        must(bly_window_get_info(f, &info) == BLY_OK && info.active_arrivals > info.active_keys,
             "repeats");
        save(out, f, windows[i].name, KEYS - SURE, SURE, "repeated");
        bly_filter_destroy(f);
    }
}

/* Makes cuckoo filters with copies, after removes, and after an intersection. */
static void make_tables(const output *out) {
    const planned s = {"table", BLY_CUCKOO, 150, 0.01, BLY_HASH_FNV1A, 21, 0, 60, 0, 0};
    bly_filter *f = make_planned(&s), *other;
    add_keys(f, 0, 60);
    save(out, f, "cuckoo-twice-fnv1a", 0, 60, "twice");
    for (int i = 0; i < 2; i++)
        must(bly_filter_remove_many(f, key_list(0, 20), 20, NULL, NULL) == BLY_OK, "remove");
    must(bly_filter_remove_many(f, key_list(20, 40), 40, NULL, NULL) == BLY_OK, "remove");
    save(out, f, "cuckoo-removed-fnv1a", 20, 40, "exactly");
    other = make_planned(&s);
    must(bly_filter_intersect(other, f) == BLY_OK, "intersect");
    save(out, other, "cuckoo-intersection-fnv1a", 20, 40, "atleast");
    bly_filter_destroy(f);
    bly_filter_destroy(other);
}

/* Makes scalable cuckoo filters after a union, after removes, and with copies. */
static void make_chains(const output *out) {
    sample s = {"chain", {BLY_SCALABLE_CUCKOO, 2, 20, 0}, BLY_HASH_FNV1A, 21, 0, 100};
    bly_filter *f = make(&s), *other;
    s.first = 100;
    other = make(&s);
    must(bly_filter_union(f, other) == BLY_OK, "union");
    save(out, f, "scalable-cuckoo-union-fnv1a", 0, 200, "exactly");
    must(bly_filter_remove_many(f, key_list(0, 130), 130, NULL, NULL) == BLY_OK, "remove");
    save(out, f, "scalable-cuckoo-removed-fnv1a", 130, 70, "exactly");
    add_keys(other, 100, 100);
    save(out, other, "scalable-cuckoo-twice-fnv1a", 100, 100, "twice");
    bly_filter_destroy(f);
    bly_filter_destroy(other);
}

/* Makes files that record a key rule. */
static void make_ruled(const output *out) {
    static const struct {
        sample like;
        bly_key_rule rule;
    } ruled[] = {
        {{"rule-domain-classic-fnv1a", {BLY_CLASSIC, 7, 1000, 0}, BLY_HASH_FNV1A, 0, 0, 40},
         BLY_KEYS_DOMAIN},
        {{"rule-url-scalable-fnv1a", {BLY_SCALABLE, 2, 10, 0}, BLY_HASH_FNV1A, 11, 0, 60},
         BLY_KEYS_RECORD_URL},
        {{"rule-ip-scalable-cuckoo-fnv1a",
          {BLY_SCALABLE_CUCKOO, 2, 10, 0},
          BLY_HASH_FNV1A,
          11,
          0,
          100},
         BLY_KEYS_IP},
    };
    for (size_t i = 0; i < sizeof ruled / sizeof *ruled; i++) {
        const sample *s = &ruled[i].like;
        bly_filter *f = make(s);
        must(f && bly_filter_set_key_rule(f, ruled[i].rule) == BLY_OK, s->name);
        save(out, f, s->name, s->first, s->count, "exactly");
        bly_filter_destroy(f);
    }
}

static bly_filter *make_named(const char *name);

#include "golden_counting.h"

static void make_good(const output *out) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char path[MAX_FILE];
        bly_filter *f = make(&samples[i]);
        if (!f) {
            if (!exists(out, "good", samples[i].name, path))
                fprintf(stderr, "make_golden: %s can no longer be made\n", samples[i].name);
            continue;
        }
        save_latest(out, f, samples[i].name, samples[i].first, samples[i].count);
        bly_filter_destroy(f);
    }
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        bly_filter *f = make_planned(&plans[i]);
        save_latest(out, f, plans[i].name, plans[i].first, plans[i].count);
        bly_filter_destroy(f);
    }
    make_tables(out);
    make_chains(out);
    make_windows(out, "window");
    make_windows(out, "window-small");
    make_repeated_windows(out);
    sample half = {"half", {BLY_SBBF, 8, 12, BLY_FOLDABLE}, BLY_HASH_FNV1A, 3, 0, 40};
    bly_filter *a = make(&half), *folded;
    half.first = 20;
    bly_filter *b = make(&half), *both;
    must(bly_filter_clone(a, NULL, &both) == BLY_OK, "clone");
    must(bly_filter_intersect(both, b) == BLY_OK, "intersect");
    save(out, both, "intersection-sbbf-fnv1a", 20, 20, "atleast");
    must(bly_filter_union(a, b) == BLY_OK, "union");
    save(out, a, "union-sbbf-fnv1a", 0, 60, "exactly");
    must(bly_filter_fold(a, 4, NULL, &folded) == BLY_OK, "fold");
    save(out, folded, "folded-sbbf-fnv1a", 0, 60, "exactly");
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(both);
    bly_filter_destroy(folded);
}

/* ---- bad ------------------------------------------------------------------------------------- */

typedef struct image {
    uint8_t bytes[MAX_FILE];
    size_t size;
} image;

static bly_status append(void *ctx, const void *data, size_t size) {
    image *im = ctx;
    if (size > MAX_FILE - im->size)
        return BLY_EFULL;
    memcpy(im->bytes + im->size, data, size);
    im->size += size;
    return BLY_OK;
}

static image image_of(const sample *s) {
    image im = {{0}, 0};
    bly_filter *f = make(s);
    must(bly_filter_write(f, append, &im) == BLY_OK, "write");
    bly_filter_destroy(f);
    return im;
}

static void store(uint8_t *to, uint64_t value, int width) {
    for (int i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void fix_sums(image *im) {
    store(im->bytes + 56, XXH64(im->bytes + 64, im->size - 64, 0), 8);
    store(im->bytes + 12, 0, 4);
    store(im->bytes + 12, XXH64(im->bytes, 64, 0), 4);
}

static void put(const output *out, const image *im, const char *name) {
    char path[MAX_FILE];
    if (exists(out, "bad", name, path))
        return;
    FILE *file = fopen(path, "wb");
    must(file && fwrite(im->bytes, 1, im->size, file) == im->size && fclose(file) == 0, path);
}

/* A field of a valid file that is overwritten; then the checksums are corrected. */
typedef struct lie {
    const char *name;
    int offset, width;
    uint64_t value;
} lie;

static const lie lies[] = {
    {"version-0.ECORRUPT", 4, 1, 0},
    {"version-2.EVERSION", 4, 1, 2},
    {"version-255.EVERSION", 4, 1, 255},
    {"kind-0.EKIND", 5, 1, 0},
    {"kind-9-counting.EKIND", 5, 1, 9},
    {"kind-18-hll.EKIND", 5, 1, 18},
    {"kind-255.EKIND", 5, 1, 255},
    {"hash-0.EHASHER", 6, 1, 0},
    {"hash-16.EHASHER", 6, 1, 16},
    {"hash-custom.EHASHER", 6, 1, 255},
    {"hash-custom-mixed.EHASHER", 6, 1, 254},
    {"siphash-without-flag.ECORRUPT", 6, 1, 15},
    {"flag-without-siphash.ECORRUPT", 7, 1, 1},
    {"flags-8.ECORRUPT", 7, 1, 8},
    {"flags-128.ECORRUPT", 7, 1, 128},
    {"k-0.ECORRUPT", 8, 1, 0},
    {"k-65.ECORRUPT", 8, 1, 65},
    {"k-255.ECORRUPT", 8, 1, 255},
    {"width-0.ECORRUPT", 9, 1, 0},
    {"width-4.ECORRUPT", 9, 1, 4},
    {"sub-2.ECORRUPT", 10, 2, 2},
    {"sub-256.ECORRUPT", 10, 2, 256},
    {"size-0.ECORRUPT", 16, 8, 0},
    {"size-63.ECORRUPT", 16, 8, 63},
    {"size-one-block-more.ECORRUPT", 16, 8, 1025},
    {"size-one-block-less.ECORRUPT", 16, 8, 512},
    {"size-2-to-48.ECORRUPT", 16, 8, UINT64_C(1) << 48},
    {"size-2-to-63.ECORRUPT", 16, 8, UINT64_C(1) << 63},
    {"size-max.ECORRUPT", 16, 8, UINT64_MAX},
    {"capacity-0.ECORRUPT", 24, 8, 0},
    {"rate-0.ECORRUPT", 48, 8, 0},
    {"rate-1.ECORRUPT", 48, 8, UINT64_C(0x3ff0000000000000)},
    {"rate-negative.ECORRUPT", 48, 8, UINT64_C(0xbf847ae147ae147b)},
    {"rate-infinite.ECORRUPT", 48, 8, UINT64_C(0x7ff0000000000000)},
    {"rate-nan.ECORRUPT", 48, 8, UINT64_C(0x7ff8000000000000)},
    {"padding-bit.ECORRUPT", 64 + 125, 1, 1},
};

/* The same for a filter that consists of others: the field is in the outer header, or in that of a
 * part. */
typedef struct part_lie {
    lie lie;
    int part; /* 0: the outer header; from 1 on: that of a level or part */
} part_lie;

enum { MAX_PARTS = 5 };

/* For a scalable filter with three levels. */
static const part_lie level_lies[] = {
    {{"scalable-no-levels.ECORRUPT", 8, 1, 0}, 0},
    {{"scalable-a-level-more.ECORRUPT", 8, 1, 4}, 0},
    {{"scalable-a-level-less.ECORRUPT", 8, 1, 2}, 0},
    {{"scalable-49-levels.ECORRUPT", 8, 1, 49}, 0},
    {{"scalable-approximate.ECORRUPT", 7, 1, 2}, 0},
    {{"scalable-capacity.ECORRUPT", 24, 8, 10}, 0},
    {{"scalable-items.ECORRUPT", 32, 8, 1}, 0},
    {{"scalable-rate-below-its-levels.ECORRUPT", 48, 8, UINT64_C(0x3f60000000000000)}, 0},
    {{"scalable-other-seed.ECORRUPT", 40, 8, 12}, 2},
    {{"scalable-other-hash.ECORRUPT", 6, 1, 6}, 2},
    {{"scalable-in-scalable.ECORRUPT", 5, 1, 6}, 2},
    {{"scalable-level-kind-9.EKIND", 5, 1, 9}, 3},
    {{"scalable-level-version-2.EVERSION", 4, 1, 2}, 1},
    {{"scalable-level-magic.ECORRUPT", 0, 1, 'b'}, 2},
    {{"scalable-level-size-2-to-40.ECORRUPT", 16, 8, UINT64_C(1) << 39}, 3},
    {{"scalable-level-size-max.ECORRUPT", 16, 8, UINT64_MAX}, 1},
    {{"scalable-level-one-block-more.ECORRUPT", 16, 8, 2}, 1},
    {{"scalable-level-capacity.ECORRUPT", 24, 8, UINT64_C(1) << 40}, 3},
    {{"scalable-level-rate.ECORRUPT", 48, 8, UINT64_C(0x3f847ae147ae147b)}, 3},
    {{"scalable-level-body-sum.ECORRUPT", 56, 8, 0}, 2},
};

/* For a scalable-cuckoo filter with three levels. The last two do not change any length. */
static const part_lie chain_lies[] = {
    {{"scalable-cuckoo-sub-1.ECORRUPT", 10, 2, 1}, 0},
    {{"scalable-cuckoo-sub-2.ECORRUPT", 10, 2, 2}, 0},
    {{"scalable-cuckoo-sub-12.ECORRUPT", 10, 2, 12}, 0},
    {{"scalable-cuckoo-a-level-less.ECORRUPT", 8, 1, 2}, 0},
    {{"scalable-cuckoo-approximate.ECORRUPT", 7, 1, 2}, 0},
    {{"scalable-cuckoo-items.ECORRUPT", 32, 8, 59}, 0},
    {{"scalable-cuckoo-level-capacity.ECORRUPT", 24, 8, 1000}, 1},
    {{"scalable-cuckoo-level-kind-19.ECORRUPT", 5, 1, BLY_GROWABLE_CUCKOO}, 1},
    {{"scalable-cuckoo-level-15-buckets.ECORRUPT", 16, 8, 15}, 2},
    {{"scalable-cuckoo-level-coarser.ECORRUPT", 8, 2, 0x0a09}, 2},
};

static void fix_header_sum(uint8_t *header) {
    store(header + 12, 0, 4);
    store(header + 12, XXH64(header, 64, 0), 4);
}

/* Finds the offsets of the parts of a filter that consists of others. start[0] is that of the whole
 * filter. */
static void find_parts(const image *im, size_t start[MAX_PARTS]) {
    bly_file_info info = {.struct_size = sizeof info};
    start[0] = 0;
    start[1] = 64;
    for (int i = 2; i < MAX_PARTS && start[i - 1] < im->size; i++) {
        size_t before = start[i - 1];
        must(bly_file_parse_info(im->bytes + before, im->size - before, &info) == BLY_OK, "part");
        start[i] = before + 64 + (size_t)info.body_bytes;
    }
}

static void put_part_lie(const output *out, const image *right, const part_lie *l) {
    image im = *right;
    size_t start[MAX_PARTS] = {0};
    find_parts(right, start);
    uint8_t *header = im.bytes + start[l->part];
    store(header + l->lie.offset, l->lie.value, l->lie.width);
    fix_header_sum(header);
    fix_sums(&im);
    put(out, &im, l->lie.name);
}

static void make_bad_levels(const output *out) {
    const sample s = {"levels", {BLY_SCALABLE, 2, 10, 0}, BLY_HASH_FNV1A, 11, 0, 60};
    const image right = image_of(&s);
    size_t start[MAX_PARTS] = {0};
    find_parts(&right, start);
    for (size_t i = 0; i < sizeof level_lies / sizeof *level_lies; i++)
        put_part_lie(out, &right, &level_lies[i]);
    image im = right;
    im.size = start[3]; /* two of the three levels */
    store(im.bytes + 16, im.size - 64, 8);
    fix_sums(&im);
    put(out, &im, "scalable-last-level-cut.ECORRUPT");
    im = right;
    im.bytes[start[2] + 12] ^= 1;
    fix_sums(&im);
    put(out, &im, "scalable-level-header-sum.ECORRUPT");
}

/* Makes a file with a level that has another key rule than the whole. */
static void make_bad_rules(const output *out) {
    const sample s = {"levels", {BLY_SCALABLE, 2, 10, 0}, BLY_HASH_FNV1A, 11, 0, 60};
    const part_lie other = {
        {"scalable-level-of-another-rule.ECORRUPT", 7, 1, (uint64_t)BLY_KEYS_IP << 3}, 1};
    const image right = image_of(&s);
    put_part_lie(out, &right, &other);
}

static void make_bad_chains(const output *out) {
    const sample s = {"chain", {BLY_SCALABLE_CUCKOO, 2, 10, 0}, BLY_HASH_FNV1A, 11, 0, 60};
    const image right = image_of(&s);
    for (size_t i = 0; i < sizeof chain_lies / sizeof *chain_lies; i++)
        put_part_lie(out, &right, &chain_lies[i]);
}

static void make_bad_shapes(const output *out) {
    sample other = {"slices", {BLY_PARTITIONED, 7, 192, 0}, BLY_HASH_FNV1A, 0, 0, 9};
    image im = image_of(&other);
    store(im.bytes + 16, 100, 8);
    fix_sums(&im);
    put(out, &im, "slice-100.ECORRUPT");
    im = image_of(&other);
    store(im.bytes + 8, 64, 1);
    store(im.bytes + 16, UINT64_C(1) << 58, 8); /* 64 slices of 2^58 bits are 2^64 */
    fix_sums(&im);
    put(out, &im, "slices-overflow.ECORRUPT");
    other = (sample){"blocks", {BLY_SBBF, 8, 5, 0}, BLY_HASH_FNV1A, 0, 0, 9};
    im = image_of(&other);
    store(im.bytes + 10, 1, 2);
    fix_sums(&im);
    put(out, &im, "sbbf-textbook.ECORRUPT");
    im = image_of(&other);
    im.bytes[im.size - 1] = 0x80;
    fix_sums(&im);
    put(out, &im, "sbbf-padding.ECORRUPT");
    other.hash = BLY_HASH_SIPHASH;
    im = image_of(&other);
    put(out, &im, "keyed-no-key.EKEY");
}

static void make_bad(const output *out) {
    const image right = image_of(&samples[0]); /* 1000 bits in 128 bytes */
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        image im = right;
        store(im.bytes + lies[i].offset, lies[i].value, lies[i].width);
        fix_sums(&im);
        put(out, &im, lies[i].name);
    }
    image im = right;
    im.size = 0;
    put(out, &im, "empty.ECORRUPT");
    im.size = 63;
    put(out, &im, "header-cut.ECORRUPT");
    im.size = 64;
    put(out, &im, "no-body.ECORRUPT");
    im.size = right.size - 1;
    put(out, &im, "truncated.ECORRUPT");
    im.size = right.size + 1;
    put(out, &im, "trailing-byte.ECORRUPT");
    im = right;
    im.bytes[3] = '2';
    put(out, &im, "magic.ECORRUPT");
    im = right;
    im.bytes[32] ^= 1;
    put(out, &im, "header-sum.ECORRUPT");
    im = right;
    im.bytes[100] ^= 0x40;
    put(out, &im, "body-sum.ECORRUPT");
    make_bad_shapes(out);
}

/* The same for a named good file of another kind: the field is in the header or in the body. */
typedef struct kind_lie {
    const char *sample; /* a good file's name */
    lie lie;
} kind_lie;

static const kind_lie kind_lies[] = {
    {"window-fnv1a", {"window-k-0.ECORRUPT", 8, 1, 0}},
    {"window-fnv1a", {"window-k-7.ECORRUPT", 8, 1, 7}},
    {"window-fnv1a", {"window-k-51.ECORRUPT", 8, 1, 51}},
    {"window-fnv1a", {"window-width-2.ECORRUPT", 9, 1, 2}},
    {"window-fnv1a", {"window-no-generations.ECORRUPT", 10, 2, 0}},
    {"window-fnv1a", {"window-33-generations.ECORRUPT", 10, 2, 33}},
    {"window-fnv1a", {"window-size-0.ECORRUPT", 16, 8, 0}},
    {"window-fnv1a", {"window-size-2-to-40.ECORRUPT", 16, 8, UINT64_C(1) << 40}},
    {"window-fnv1a", {"window-items.ECORRUPT", 32, 8, 1}},
    {"window-fnv1a", {"window-ordinal.ECORRUPT", 64, 8, 99}},
    {"window-fnv1a", {"window-active-9.ECORRUPT", 64 + 8, 8, 9}},
    {"window-fnv1a", {"window-cursor.ECORRUPT", 64 + 16, 8, 1000}},
    {"window-fnv1a", {"window-live.ECORRUPT", 64 + 24, 8, 1}},
    {"window-fnv1a", {"window-clock-not-set.ECORRUPT", 64 + 40, 8, 5}},
    {"window-fnv1a", {"window-state-4.ECORRUPT", 64 + 48, 8, 4}},
    {"window-fnv1a", {"window-clock-without-span.ECORRUPT", 64 + 48, 8, 3}},
    {"window-fnv1a", {"window-step-0.ECORRUPT", 64 + 56, 8, 0}},
    {"window-fnv1a", {"window-stencil.ECORRUPT", 64 + 64, 8, 3}},
    {"window-fnv1a", {"window-keys.ECORRUPT", 64 + 128, 8, 1}},
    {"window-fnv1a", {"window-slot-ordinal.ECORRUPT", 64 + 136, 8, 50}},
    {"window-fnv1a", {"window-word-without-meaning.ECORRUPT", 64 + 312, 8, 1}},
    {"window-fnv1a", {"window-bit-without-meaning.ECORRUPT", 64 + 384 + 63, 1, 0x40}},
    {"window-turned-fnv1a", {"window-mark.ECORRUPT", 64 + 384 + 56, 8, UINT64_MAX >> 8}},
    {"window-small-fnv1a", {"window-small-k-0.ECORRUPT", 8, 1, 0}},
    {"window-small-fnv1a", {"window-small-k-65.ECORRUPT", 8, 1, 65}},
    {"window-small-fnv1a", {"window-small-width-2.ECORRUPT", 9, 1, 2}},
    {"window-small-fnv1a", {"window-small-no-generations.ECORRUPT", 10, 2, 64}},
    {"window-small-fnv1a", {"window-small-33-generations.ECORRUPT", 10, 2, 97}},
    {"window-small-fnv1a", {"window-small-sub-136.ECORRUPT", 10, 2, 136}},
    {"window-small-fnv1a", {"window-small-size-0.ECORRUPT", 16, 8, 0}},
    {"window-small-fnv1a", {"window-small-size-127.ECORRUPT", 16, 8, 127}},
    {"window-small-fnv1a", {"window-small-size-3528.ECORRUPT", 16, 8, 3528}},
    {"window-small-fnv1a", {"window-small-size-2-to-63.ECORRUPT", 16, 8, UINT64_C(1) << 63}},
    {"window-small-fnv1a", {"window-small-items.ECORRUPT", 32, 8, 1}},
    {"window-small-fnv1a", {"window-small-ordinal.ECORRUPT", 64, 8, 99}},
    {"window-small-fnv1a", {"window-small-active-9.ECORRUPT", 64 + 8, 8, 9}},
    {"window-small-fnv1a", {"window-small-cursor.ECORRUPT", 64 + 16, 8, 1}},
    {"window-small-fnv1a", {"window-small-live.ECORRUPT", 64 + 24, 8, 1}},
    {"window-small-fnv1a", {"window-small-clock-not-set.ECORRUPT", 64 + 40, 8, 5}},
    {"window-small-fnv1a", {"window-small-repeats-past-quota.ECORRUPT", 64 + 40, 8, UINT64_MAX}},
    {"window-small-empty-fnv1", {"window-small-repeats-of-no-key.ECORRUPT", 64 + 40, 8, 1}},
    {"window-small-fnv1a", {"window-small-phase.ECORRUPT", 64 + 48, 8, 1}},
    {"window-small-fnv1a", {"window-small-state-4.ECORRUPT", 64 + 48, 8, 4}},
    {"window-small-fnv1a", {"window-small-clock-without-span.ECORRUPT", 64 + 48, 8, 2}},
    {"window-small-fnv1a", {"window-small-keys.ECORRUPT", 64 + 56, 8, 1}},
    {"window-small-fnv1a", {"window-small-keys-2-to-55.ECORRUPT", 64 + 56, 8, UINT64_C(1) << 55}},
    {"window-small-fnv1a", {"window-small-slot-ordinal.ECORRUPT", 64 + 56 + 7, 1, 50}},
    {"window-small-fnv1a", {"window-small-dead-slot-ordinal.ECORRUPT", 64 + 120 + 7, 1, 1}},
    {"window-small-fnv1a", {"window-small-padding.ECORRUPT", -1, 1, 0x80}},
    {"window-small-empty-fnv1", {"window-small-active-not-empty.ECORRUPT", 64 + 128, 1, 1}},
    {"cuckoo-fnv1a", {"cuckoo-k-5.ECORRUPT", 8, 1, 5}},
    {"cuckoo-fnv1a", {"cuckoo-k-56.ECORRUPT", 8, 1, 56}},
    {"cuckoo-fnv1a", {"cuckoo-width.ECORRUPT", 9, 1, 9}},
    {"cuckoo-fnv1a", {"cuckoo-sub-1.ECORRUPT", 10, 2, 1}},
    {"cuckoo-fnv1a", {"cuckoo-foldable.ECORRUPT", 7, 1, 4}},
    {"cuckoo-fnv1a", {"cuckoo-size-0.ECORRUPT", 16, 8, 0}},
    {"cuckoo-fnv1a", {"cuckoo-size-2-to-46.ECORRUPT", 16, 8, UINT64_C(1) << 46}},
    {"cuckoo-fnv1a", {"cuckoo-size-2-to-60.ECORRUPT", 16, 8, UINT64_C(1) << 60}},
    {"cuckoo-fnv1a", {"cuckoo-items.ECORRUPT", 32, 8, 59}},
    {"cuckoo-empty-xxh64", {"cuckoo-entry-without-core.ECORRUPT", 64 + 1, 1, 0x10}},
    {"cuckoo-fnv1a", {"cuckoo-tail.ECORRUPT", 64 + 100, 1, 1}},
    {"growable-fnv1a", {"growable-sub-0.ECORRUPT", 10, 2, 0}},
    {"growable-fnv1a", {"growable-sub-5.ECORRUPT", 10, 2, 5}},
    {"growable-fnv1a", {"growable-sub-past-k.ECORRUPT", 10, 2, 15}},
    {"growable-fnv1a", {"growable-sub-256.ECORRUPT", 10, 2, 256}},
    {"fuse-fnv1a", {"fuse-k-0.ECORRUPT", 8, 2, 0}},
    {"fuse-fnv1a", {"fuse-k-29.ECORRUPT", 8, 2, 29 * 257}},
    {"fuse-fnv1a", {"fuse-width-1.ECORRUPT", 9, 1, 1}},
    {"fuse-fnv1a", {"fuse-segments-of-2.ECORRUPT", 10, 2, 1}},
    {"fuse-fnv1a", {"fuse-segments-of-2-to-15.ECORRUPT", 10, 2, 15}},
    {"fuse-fnv1a", {"fuse-three-shards.ECORRUPT", 10, 2, 64 + 2}},
    {"fuse-fnv1a", {"fuse-2048-shards.ECORRUPT", 10, 2, 65504 + 2}},
    {"fuse-fnv1a", {"fuse-size-0.ECORRUPT", 16, 8, 0}},
    {"fuse-fnv1a", {"fuse-two-segments.ECORRUPT", 16, 8, 128}},
    {"fuse-fnv1a", {"fuse-size-601.ECORRUPT", 16, 8, 601}},
    {"fuse-fnv1a", {"fuse-size-2-to-45.ECORRUPT", 16, 8, UINT64_C(1) << 45}},
    {"fuse-fnv1a", {"fuse-size-2-to-63.ECORRUPT", 16, 8, UINT64_C(1) << 63}},
    {"fuse-fnv1a", {"fuse-after-the-seeds.ECORRUPT", 64 + 8, 1, 1}},
    {"fuse-fnv1a", {"fuse-after-the-slots.ECORRUPT", -1, 1, 0x80}},
    {"fuse-small-fnv1a", {"fuse-small-two-shards.ECORRUPT", 10, 2, 32}},
    {"fuse-small-fnv1a", {"fuse-small-size-0.ECORRUPT", 16, 8, 0}},
    {"fuse-small-fnv1a", {"fuse-small-size-1096.ECORRUPT", 16, 8, 1096}},
    {"fuse-small-fnv1a", {"fuse-small-size-49155.ECORRUPT", 16, 8, 49155}},
    {"fuse-small-fnv1a", {"fuse-small-size-2-to-63.ECORRUPT", 16, 8, UINT64_C(1) << 63}},
    {"fuse-small-fnv1a", {"fuse-small-after-the-slots.ECORRUPT", -2, 1, 0x80}},
    {"ribbon-fnv1a", {"ribbon-k-0.ECORRUPT", 8, 1, 0}},
    {"ribbon-fnv1a", {"ribbon-k-41.ECORRUPT", 8, 1, 41}},
    {"ribbon-fnv1a", {"ribbon-width-2.ECORRUPT", 9, 1, 2}},
    {"ribbon-fnv1a", {"ribbon-shards-256.ECORRUPT", 11, 1, 255}},
    {"ribbon-fnv1a", {"ribbon-size-0.ECORRUPT", 16, 8, 0}},
    {"ribbon-fnv1a", {"ribbon-a-block-more.ECORRUPT", 16, 8, 5}},
    {"ribbon-fnv1a", {"ribbon-size-2-to-45.ECORRUPT", 16, 8, UINT64_C(1) << 45}},
    {"ribbon-one-key-fnv1a", {"ribbon-padding.ECORRUPT", -1, 1, 0x80}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-k-64.ECORRUPT", 8, 1, 64}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-k-105.ECORRUPT", 8, 1, 105}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-k-135.ECORRUPT", 8, 1, 135}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-width-2.ECORRUPT", 9, 1, 2}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-two-shards.ECORRUPT", 11, 1, 1}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-512-shards.ECORRUPT", 11, 1, 9}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-size-0.ECORRUPT", 16, 8, 0}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-block-more.ECORRUPT", 16, 8, 80}},
    {"ribbon-cut-fnv1a", {"ribbon-cut-size-2-to-45.ECORRUPT", 16, 8, UINT64_C(1) << 45}},
    {"ribbon-cut-one-key-fnv1a", {"ribbon-cut-padding.ECORRUPT", -1, 1, 0x80}},
};

static bly_filter *make_named(const char *name) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (strcmp(samples[i].name, name) == 0)
            return make(&samples[i]);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (strcmp(plans[i].name, name) == 0)
            return make_planned(&plans[i]);
    bly_filter *f = make_counted_named(name);
    must(f != NULL, name);
    return f;
}

static void put_kind_lie(const output *out, const kind_lie *k) {
    const lie *l = &k->lie;
    image im = {{0}, 0};
    bly_filter *f = make_named(k->sample);
    if (!f)
        return;
    must(bly_filter_write(f, append, &im) == BLY_OK, "write");
    bly_filter_destroy(f);
    size_t where = l->offset < 0 ? im.size - (size_t)-l->offset : (size_t)l->offset;
    store(im.bytes + where, l->value, l->width); /* offset < 0: from the end */
    fix_sums(&im);
    put(out, &im, l->name);
}

#include "golden_counting_bad.h"

static void make_bad_kinds(const output *out) {
    for (size_t i = 0; i < sizeof kind_lies / sizeof *kind_lies; i++)
        put_kind_lie(out, &kind_lies[i]);
}

int main(int argc, char **argv) {
    must(argc == 2, "make_golden DIRECTORY");
    char path[MAX_FILE];
    (void)snprintf(path, sizeof path, "%s/good/MANIFEST", argv[1]);
    bool is_new = access(path, F_OK) != 0;
    output out = {argv[1], fopen(path, "a")};
    must(out.manifest != NULL, path);
    if (is_new)
        fputs("# file, first key, number of keys, and whether the bits are exactly theirs\n",
              out.manifest);
    make_good(&out);
    make_good_counting(&out);
    make_ruled(&out);
    make_bad(&out);
    make_bad_levels(&out);
    make_bad_chains(&out);
    make_bad_rules(&out);
    make_bad_kinds(&out);
    make_bad_counting(&out);
    must(fclose(out.manifest) == 0, path);
    return 0;
}
