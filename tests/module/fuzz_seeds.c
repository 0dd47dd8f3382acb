/* fuzz_seeds.c - makes valid payloads, small ones of every form that the module writes. */
#include "../support/store_support.h"
#include "fuzz.h"
#include "golden.h"
#include "types/value.h"

#include <bloomery/host/redisbloom.h>

enum { BLOOMERY1 = 1, HAS_FILTER = 1, HAS_STAGED_FILE = 2, HAS_STAGED_CHUNKS = 4 };

static fuzz_payload *seeds;
static size_t n_seeds;

static void keep(fuzz_payload p) {
    seeds = realloc(seeds, (n_seeds + 1) * sizeof *seeds);
    assert_non_null(seeds);
    seeds[n_seeds++] = p;
}

static void add_field(fuzz_payload *p, fuzz_field field) {
    fuzz_insert(p, p->n, field);
}

static void add_traits(fuzz_payload *p, bm_face face) {
    const bm_traits traits = {.face = (uint8_t)face, .expansion = 2, .bucket_size = 4};
    uint8_t bytes[BM_TRAITS_BYTES];
    bm_traits_encode(&traits, bytes);
    add_field(p, fuzz_string(bytes, sizeof bytes));
}

/* Returns a command family (face) that fits a filter of this kind. */
static bm_face face_of(const bly_filter *f) {
    bly_kind kind = bly_filter_geometry(f).kind;
    return kind == BLY_SCALABLE                                ? BM_FACE_BF
           : kind == BLY_CUCKOO || kind == BLY_SCALABLE_CUCKOO ? BM_FACE_CF
                                                               : BM_FACE_BLY;
}

static fuzz_payload begun(uint64_t has, bm_face face) {
    fuzz_payload p = fuzz_payload_new(fake_type("bloomery1"), BLOOMERY1);
    add_field(&p, fuzz_number(has));
    add_traits(&p, face);
    return p;
}

/* ---- filters of the library ------------------------------------------------------------------ */

static void add_filter(fuzz_payload *p, blyt_buffer im) {
    add_field(p, fuzz_number(im.size));
    add_field(p, fuzz_string(im.data, im.size));
}

static void add_staged_file(fuzz_payload *p, bm_face face, blyt_buffer im, size_t received) {
    add_traits(p, face);
    add_field(p, fuzz_number(im.size));
    add_field(p, fuzz_number(received));
    add_field(p, fuzz_string(im.data, received));
}

static void keep_filter(const bly_filter *f, bm_face face) {
    blyt_buffer im = blyt_write(f);
    fuzz_payload p = begun(HAS_FILTER, face);
    add_filter(&p, im);
    keep(p);
    free(im.data);
}

/* Keeps a seed with half of a file received; beside it a filter that is in use, unless that is
 * NULL. */
static void keep_staged_file(const bly_filter *f, const bly_filter *serving) {
    blyt_buffer im = blyt_write(f), old = serving ? blyt_write(serving) : (blyt_buffer){0};
    fuzz_payload p = begun(serving ? HAS_FILTER | HAS_STAGED_FILE : HAS_STAGED_FILE, BM_FACE_BLY);
    if (serving)
        add_filter(&p, old);
    add_staged_file(&p, face_of(f), im, HEADER + (im.size - HEADER) / 2);
    keep(p);
    free(im.data);
    free(old.data);
}

static void keep_shapes(void) {
    bly_filter *last = NULL;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 40);
        keep_filter(f, face_of(f));
        if (i % 4 == 0)
            keep_staged_file(f, i % 8 ? last : NULL);
        bly_filter_destroy(last);
        last = f;
    }
    bly_filter_destroy(last);
}

static void keep_made(bly_spec spec, int keys) {
    blyt_list l = list_keys("made", keys);
    bly_filter *f = blyt_filled(&spec, &l);
    if (spec.window.span)
        assert_ok(bly_window_advance(f, (uint64_t)fake_now - 1000));
    keep_filter(f, BM_FACE_BLY);
    bly_filter_destroy(f);
    blyt_list_free(&l);
}

/* Keeps a tombstone alone, and one with the staged file that will replace it. */
static void keep_tombstone(void) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE, 20, 0.02);
    blyt_list l = list_keys("lost", 30);
    bly_filter *f = blyt_filled(&spec, &l);
    blyt_buffer im = blyt_write(f);
    uint8_t bytes[BM_TRAITS_BYTES];
    bm_traits_encode(&(bm_traits){.tombstone = true}, bytes);
    for (int replaced = 0; replaced < 2; replaced++) {
        fuzz_payload p = fuzz_payload_new(fake_type("bloomery1"), BLOOMERY1);
        add_field(&p, fuzz_number(replaced ? HAS_STAGED_FILE : 0));
        add_field(&p, fuzz_string(bytes, sizeof bytes));
        if (replaced)
            add_staged_file(&p, BM_FACE_BF, im, HEADER + 5);
        keep(p);
    }
    free(im.data);
    bly_filter_destroy(f);
    blyt_list_free(&l);
}

/* Keeps timed windows, filters whose key is or is not in the keyring, a filter with a custom hash,
 * and one with many levels. */
static void keep_others(void) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, 60, 0.02);
    spec.window.span = 60000;
    keep_made(spec, 40);
    spec.window.span = 7;
    spec.window.generations = 2;
    keep_made(spec, 40);
    for (uint8_t i = 0; i < 2 && bly_hash_available(BLY_HASH_SIPHASH); i++) {
        const uint8_t key[16] = {i};
        spec = bly_spec_for(BLY_SCALABLE, 20, 0.02);
        assert_ok(bly_hasher_keyed(&spec.hasher, key));
        keep_made(spec, 40);
    }
    spec = bly_spec_for(BLY_CUCKOO, 50, 0.02);
    spec.hasher = custom_hasher(7);
    keep_made(spec, 40);
    spec = bly_spec_for(BLY_SCALABLE, 2, 0.1);
    keep_made(spec, 300); /* many levels */
    keep_tombstone();
}

/* ---- RedisBloom's ---------------------------------------------------------------------------- */

/* Keeps a staged load of that filter, of which `ranges` ranges of 3 bytes have been received. */
static void keep_staged_chunks(const fuzz_payload *whole, bool cuckoo, size_t ranges) {
    fuzz_payload p = begun(HAS_STAGED_CHUNKS, cuckoo ? BM_FACE_CF : BM_FACE_BF);
    add_field(&p, fuzz_number(cuckoo ? BM_RB_CUCKOO : BM_RB_BLOOM));
    for (size_t i = 0; i < whole->n; i++)
        add_field(&p, fuzz_field_copy(&whole->fields[i]));
    add_field(&p, fuzz_number(ranges));
    for (size_t i = 0; i < ranges; i++) {
        add_field(&p, fuzz_number(5 * i + 1));
        add_field(&p, fuzz_number(5 * i + 4));
    }
    keep(p);
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

static void keep_golden(const char *name) {
    golden g = read_golden(name);
    fuzz_payload p = fuzz_payload_new(g.type, g.encoding);
    fuzz_read(&p, g.io);
    fake_io_free(g.io);
    keep(p);
    if (g.encoding == BLY_RB_ENCODING)
        keep_staged_chunks(&p, g.type == fake_type("MBbloomCF"), n_seeds % 4);
}

/* Sorts the files by name, so that a case has the same seed on every machine. */
static void keep_all_golden(void) {
    char names[64][256];
    size_t n = 0;
    DIR *folder = opendir(BLYT_RB_GOLDEN);
    assert_non_null(folder);
    for (const struct dirent *e; (e = readdir(folder));)
        if (strstr(e->d_name, ".txt") && n < COUNT_OF(names))
            snprintf(names[n++], sizeof *names, "%s", e->d_name);
    closedir(folder);
    assert_true(n > 20);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++)
        keep_golden(names[i]);
}

size_t fuzz_seeds(fuzz_payload **out) {
    keep_shapes();
    keep_others();
    keep_all_golden();
    *out = seeds;
    return n_seeds;
}

void fuzz_seeds_free(void) {
    for (size_t i = 0; i < n_seeds; i++)
        fuzz_payload_free(&seeds[i]);
    free(seeds);
}
