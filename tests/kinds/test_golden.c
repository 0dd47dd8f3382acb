/* test_golden.c - every later version must read the files in tests/golden/v1/good, and refuse those
 * in tests/golden/v1/bad; make_golden.c made them. */
#include "store_support.h"

#include <bloomery/host/chunks.h>

enum { CUSTOM_TAG = 0x676f6c64 };

/* The hasher that a golden file needs, or NULL. */
static const bly_hasher *golden_hasher(const bly_file_info *info) {
    static bly_hasher h;
    uint8_t key[16];
    for (int i = 0; i < 16; i++)
        key[i] = (uint8_t)i;
    if (bly_hash_is_custom(info->hash)) {
        h = custom_hasher(CUSTOM_TAG);
        return &h;
    }
    return info->keyed && bly_hasher_keyed(&h, key) == BLY_OK ? &h : NULL;
}

/* Returns the minimum number of copies of key number i, by the relation in MANIFEST. */
static uint64_t copies_of(const char *relation, int i) {
    if (strcmp(relation, "often") == 0)
        return (uint64_t)i % 20 + 1;
    if (strcmp(relation, "halved") == 0)
        return ((uint64_t)i % 20 + 1) / 2;
    if (strcmp(relation, "spent") == 0)
        return 0;
    return strcmp(relation, "twice") == 0 ? 2 : 1;
}

/* Asserts that no key has fewer copies than were added (or than counters can hold), and that
 * removed keys are absent. */
static void check_keys(const bly_filter *f, int first, int count, const char *relation) {
    const bly_geometry g = bly_filter_geometry(f);
    const blyt_case *like = blyt_case_like(&g);
    uint64_t limit = blyt_limit(like);
    char key[32];
    if (!blyt_can(like, BLY_CAN_COUNT))
        limit = 1;
    for (int i = first; i < first + count; i++) {
        uint64_t copies = copies_of(relation, i);
        size_t len = (size_t)key_text(key, "golden", i);
        assert_true(bly_filter_copies(f, key, len) >= (copies < limit ? copies : limit));
        assert_true(copies == 0 || bly_filter_contains(f, key, len));
    }
    for (int i = 0; i < first && strcmp(relation, "kept") == 0; i++)
        assert_false(bly_filter_contains(f, key, (size_t)key_text(key, "golden", i)));
}

/* Checks a golden file. Returns its kind. */
static bly_kind check_golden(const char *path, int first, int count, const char *relation) {
    bly_filter *f;
    bly_map *map;
    bly_file_info info = {.struct_size = sizeof info};
    blyt_buffer im = slurp(path);
    assert_ok(bly_file_parse_info(im.data, im.size, &info));
    bly_open_options o = {
        .struct_size = sizeof o, .flags = BLY_OPEN_VERIFY, .hasher = golden_hasher(&info)};
    if (!bly_hash_is_custom(info.hash) && !bly_hash_available(info.hash)) {
        assert_refused(im, &o, BLY_EHASHER);
        free(im.data);
        return info.geometry.kind;
    }
    assert_ok(bly_filter_load(path, &o, &f));
    check_keys(f, first, count, relation);
    assert_int_equal(bly_filter_count(f), info.count);
    assert_ok(bly_map_open(path, &o, &map));
    check_keys(bly_map_filter(map), first, count, relation);
    assert_true(bly_filter_equal(f, bly_map_filter(map)));
    assert_ok(bly_filter_save(f, at("again.bly")));
    assert_file_is(at("again.bly"), im);
    assert_ok(bly_filter_save(bly_map_filter(map), at("again.bly")));
    assert_file_is(at("again.bly"), im);
    bly_map_close(map);
    bly_filter_destroy(f);
    free(im.data);
    return info.geometry.kind;
}

static void test_golden_good(void **state) {
    (void)state;
    bool has_file[256] = {false};
    char line[300], name[200], relation[20], path[PATH_MAX];
    int first, count, files = 0;
    FILE *manifest = fopen(BLYT_GOLDEN_DIR "/good/MANIFEST", "r");
    assert_non_null(manifest);
    while (fgets(line, sizeof line, manifest)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%199s %d %d %19s", name, &first, &count, relation), 4);
        (void)snprintf(path, sizeof path, "%s/good/%s", BLYT_GOLDEN_DIR, name);
        has_file[check_golden(path, first, count, relation)] = true;
        files++;
    }
    assert_int_equal(fclose(manifest), 0);
    assert_true(files > 0);
    assert_int_equal(files, entries(BLYT_GOLDEN_DIR "/good", ".bly"));
    for (bly_kind k = BLY_KIND_NONE; (k = bly_kind_next(k)) != BLY_KIND_NONE;)
        assert_true(has_file[k]);
}

/* The status in a file name like "name.ESTATUS.bly". */
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

/* Whether the kind in the name of a file was added to the library after the file was made as one of
 * an unknown kind. Then the file is refused as corrupt, because its geometry is not valid for the
 * kind. */
static bool is_known_by_now(const char *file) {
    const char *kind = strstr(file, "kind-");
    return kind && bly_kind_name((bly_kind)atoi(kind + strlen("kind-"))) != NULL;
}

/* Whether this build lacks the hash of the file. Then it reports that, and not an error after a
 * valid header. */
static bool lacks_its_hash(blyt_buffer im) {
    bly_file_info info = {.struct_size = sizeof info};
    return bly_file_parse_info(im.data, im.size, &info) == BLY_OK &&
           im.size == 64 + info.body_bytes && !bly_hash_is_custom(info.hash) &&
           !bly_hash_available(info.hash);
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
        if (want == BLY_EKIND && is_known_by_now(e->d_name))
            want = BLY_ECORRUPT;
        (void)snprintf(path, sizeof path, "%s/bad/%s", BLYT_GOLDEN_DIR, e->d_name);
        blyt_buffer im = slurp(path);
        if (lacks_its_hash(im))
            want = BLY_EHASHER;
        assert_refused(im, NULL, want);
        free(im.data);
        files++;
    }
    (void)closedir(dir);
    assert_true(files > 0);
}

static bly_status copy_out(void *ctx, uint64_t at, void *to, size_t n) {
    memcpy(to, (const uint8_t *)ctx + at, n);
    return BLY_OK;
}

/* A file of a kind that was removed is refused as unsupported in every way to open it; if it is
 * damaged, as corrupt. */
static void check_removed(const char *path, unsigned code) {
    blyt_buffer im = slurp(path);
    const bly_chunk_source source = {im.size, copy_out, copy_out, im.data};
    const bool over = im.data[5] == BLY_OVERLAY;
    bly_filter *f;
    bly_file_info info = {.struct_size = sizeof info};
    assert_int_equal(im.data[over ? 64 + 5 : 5], code);
    assert_null(bly_kind_name((bly_kind)code));
    assert_refused(im, NULL, BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_read_chunks(&source, NULL, &f), BLY_EUNSUPPORTED);
    assert_null(f);
    assert_int_equal(bly_file_parse_info(im.data, im.size, &info),
                     over ? BLY_OK : BLY_EUNSUPPORTED);
    im.data[over ? 64 + 16 : 16] ^= 1;
    assert_refused(im, NULL, BLY_ECORRUPT);
    free(im.data);
}

static void test_golden_removed(void **state) {
    (void)state;
    char line[300], name[200], kind[40], path[PATH_MAX];
    unsigned code;
    int files = 0;
    bly_kind none = BLY_KIND_NONE;
    FILE *manifest = fopen(BLYT_GOLDEN_DIR "/removed/MANIFEST", "r");
    assert_non_null(manifest);
    while (fgets(line, sizeof line, manifest)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%199s %39s %u", name, kind, &code), 3);
        assert_int_equal(bly_kind_by_name(kind, &none), BLY_EKIND);
        (void)snprintf(path, sizeof path, "%s/removed/%s", BLYT_GOLDEN_DIR, name);
        check_removed(path, code);
        files++;
    }
    assert_int_equal(fclose(manifest), 0);
    assert_true(files > 0);
    assert_int_equal(files, entries(BLYT_GOLDEN_DIR "/removed", ".bly"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_golden_good),
        IN_SCRATCH(test_golden_bad),
        IN_SCRATCH(test_golden_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
