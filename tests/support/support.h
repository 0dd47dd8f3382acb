/* support.h - shared by the test programs: a random generator, key sets, filters of every case
 * (cases.h), and an allocator that can fail on demand. All is in the header, so that each test
 * stays one file. */
#ifndef BLYT_SUPPORT_H
#define BLYT_SUPPORT_H

#include "cases.h"

#include <bloomery/bloomery.h>
#include <bloomery/host/describe.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef BLYT_SLOW /* the build defines it for emulated programs */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BLYT_SLOW 10 /* with sanitizers, a tenth of the work */
#else
#define BLYT_SLOW 1
#endif
#endif

#define assert_ok(call) assert_int_equal(call, BLY_OK)

/* Whether there is time for larger samples: whether BLOOMERY_LARGE is set, as in the tests
 * NAME_large, which run the program NAME. */
static inline bool blyt_large(void) {
    return getenv("BLOOMERY_LARGE") != NULL;
}

/* Whether there is time for hours of work: whether somebody has set BLOOMERY_LONG. */
static inline bool blyt_long(void) {
    return getenv("BLOOMERY_LONG") != NULL;
}

static inline bly_bytes blyt_text(const char *s) {
    return (bly_bytes){s, strlen(s)};
}

/* splitmix64 */
static inline uint64_t blyt_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* The number of counters of a filter in which keys share counters. */
static inline double blyt_counters(const bly_filter *f) {
    const bly_geometry g = bly_filter_geometry(f);
    return (double)bly_geometry_counters(&g);
}

/* The spec of a case for n keys and the rate p, which is raised to the lowest rate that the case
 * allows. */
static inline bly_spec blyt_spec(const blyt_case *c, uint64_t n, double p) {
    bly_spec spec = bly_spec_for(c->kind, n, p != 0 && p < c->finest ? c->finest : p);
    spec.geometry.options = c->options;
    spec.counting.counter_bits = c->counter_bits;
    return spec;
}

/* As blyt_spec; the filter can be folded if its kind can. */
static inline bly_spec blyt_foldable(const blyt_case *c, uint64_t n, double p) {
    bly_spec spec = blyt_spec(c, n, p);
    if (blyt_can(c, BLY_CAN_FOLD))
        spec.geometry.options |= BLY_FOLDABLE;
    return spec;
}

/* Creates an empty filter of that kind, with every default. */
static inline bly_status blyt_new(bly_kind kind, uint64_t keys, double fpr, bly_filter **out) {
    const bly_spec spec = bly_spec_for(kind, keys, fpr);
    return bly_filter_create(&spec, out);
}

/* Creates a filter of exactly that size. */
static inline bly_status blyt_new_exact(bly_kind kind, uint64_t size, uint32_t hashes,
                                        bly_filter **out) {
    bly_spec spec = bly_spec_for(kind, 0, 0);
    spec.geometry.size = size;
    spec.geometry.hashes = hashes;
    return bly_filter_create(&spec, out);
}

/* Builds a filter of n keys, for a kind with BLY_CAN_BUILD. */
static inline bly_status blyt_build(bly_kind kind, const bly_bytes *keys, size_t n, double fpr,
                                    bly_filter **out) {
    const bly_spec spec = bly_spec_for(kind, 0, fpr);
    return bly_filter_build(&spec, keys, n, out);
}

static inline bly_filter_info blyt_info(const bly_filter *f) {
    bly_filter_info info = {.struct_size = sizeof info};
    assert_int_equal(bly_filter_get_info(f, &info), BLY_OK);
    return info;
}

static inline bly_overlay_info blyt_changes(const bly_filter *overlay) {
    bly_overlay_info info = {.struct_size = sizeof info};
    assert_int_equal(bly_overlay_get_info(overlay, &info), BLY_OK);
    return info;
}

static inline bly_status blyt_make(const bly_spec *spec, bly_filter **out) {
    if (bly_kind_capabilities(spec->geometry.kind) & BLY_CAN_BUILD)
        return bly_filter_build(spec, NULL, 0, out);
    return bly_filter_create(spec, out);
}

static inline bly_filter *blyt_create(const blyt_case *c, uint64_t n, double p, uint64_t seed) {
    bly_spec spec = blyt_spec(c, n, p);
    bly_filter *f = NULL;
    spec.seed = seed;
    assert_ok(blyt_make(&spec, &f));
    return f;
}

/* Kinds of keys with which filters have failed before. */
typedef enum blyt_keys {
    KEYS_RANDOM,  /* 8 random bytes */
    KEYS_LITTLE,  /* counters, least significant byte first */
    KEYS_BIG,     /* counters, most significant byte first */
    KEYS_DECIMAL, /* "1234" */
    KEYS_URL,     /* a long common prefix */
    KEYS_SHIFTED, /* counters in the top half of a word */
    KEYS_SETS
} blyt_keys;

enum { BLYT_KEY_MAX = 64 };

/* Writes the decimal digits of i, and a NUL. Returns the number of digits. (snprintf takes longer
 * than a lookup of the key.) */
static inline size_t blyt_digits(uint64_t i, char *out) {
    size_t n = 1;
    for (uint64_t rest = i / 10; rest > 0; rest /= 10)
        n++;
    out[n] = '\0';
    for (size_t at = n; at-- > 0; i /= 10)
        out[at] = (char)('0' + i % 10);
    return n;
}

/* Writes key i of a set; different i give different keys. Returns its length. */
static inline size_t blyt_key(blyt_keys set, uint64_t i, char out[BLYT_KEY_MAX]) {
    static const char url[] = "https://www.example.com/catalogue/item?id=";
    uint64_t word = i;
    switch (set) {
    case KEYS_RANDOM:
        word = blyt_next(&word);
        break;
    case KEYS_BIG:
        for (int b = 0; b < 8; b++)
            out[b] = (char)(i >> (56 - 8 * b));
        return 8;
    case KEYS_DECIMAL:
        return blyt_digits(i, out);
    case KEYS_URL:
        memcpy(out, url, sizeof url - 1);
        return sizeof url - 1 + blyt_digits(i, out + sizeof url - 1);
    case KEYS_SHIFTED:
        word = i << 32;
        break;
    default:
        break;
    }
    for (int b = 0; b < 8; b++) /* the same bytes on every host */
        out[b] = (char)(word >> 8 * b);
    return 8;
}

/* Keys of a set in an array, for batches. */
typedef struct blyt_list {
    bly_bytes *keys;
    char *bytes;
    size_t n;
} blyt_list;

static inline blyt_list blyt_list_of(blyt_keys set, uint64_t first, size_t n) {
    blyt_list l = {calloc(n + 1, sizeof *l.keys), malloc((n + 1) * BLYT_KEY_MAX), n};
    assert_non_null(l.keys);
    assert_non_null(l.bytes);
    char *at = l.bytes; /* keys are packed: fewer pages than with BLYT_KEY_MAX bytes for each */
    for (size_t i = 0; i < n; i++) {
        l.keys[i] = (bly_bytes){at, blyt_key(set, first + i, at)};
        at += l.keys[i].size;
    }
    return l;
}

static inline void blyt_list_free(blyt_list *l) {
    free(l->keys);
    free(l->bytes);
}

static inline void blyt_add_all(bly_filter *f, const blyt_list *l) {
    bly_batch_result tally;
    assert_ok(bly_filter_add_many(f, l->keys, l->n, NULL, &tally));
    assert_int_equal(tally.done, l->n);
}

/* Returns a filter of these keys. It is built if its kind can be, otherwise created and added to.
 */
static inline bly_filter *blyt_filled(const bly_spec *spec, const blyt_list *l) {
    bly_filter *f = NULL;
    if (bly_kind_capabilities(spec->geometry.kind) & BLY_CAN_BUILD) {
        assert_ok(bly_filter_build(spec, l->keys, l->n, &f));
        return f;
    }
    assert_ok(bly_filter_create(spec, &f));
    blyt_add_all(f, l);
    return f;
}

/* As blyt_filled, with a filter that is planned for exactly these keys. */
static inline bly_filter *blyt_full(const blyt_case *c, double p, uint64_t seed,
                                    const blyt_list *l) {
    bly_spec spec = blyt_spec(c, l->n ? l->n : 1, p);
    spec.seed = seed;
    return blyt_filled(&spec, l);
}

/* Asserts that the filter contains all keys of the list. */
static inline void blyt_assert_contains(const bly_filter *f, const blyt_list *l) {
    assert_int_equal(bly_filter_contains_many(f, l->keys, l->n, NULL), l->n);
}

/* An allocator that counts its calls and blocks, and fails at call number fail_at (0: never). */
typedef struct blyt_heap {
    size_t calls, live, largest, fail_at;
} blyt_heap;

static inline void *blyt_heap_alloc(void *ctx, size_t size) {
    blyt_heap *h = ctx;
    if (++h->calls == h->fail_at)
        return NULL;
    h->live++;
    if (size > h->largest)
        h->largest = size;
    return calloc(1, size ? size : 1);
}

static inline void blyt_heap_free(void *ctx, void *ptr) {
    blyt_heap *h = ctx;
    h->live--;
    free(ptr);
}

static inline bly_allocator blyt_heap_allocator(blyt_heap *h) {
    return (bly_allocator){blyt_heap_alloc, blyt_heap_free, h};
}

/* A filter written to memory. Free `data` with free(). */
typedef struct blyt_buffer {
    uint8_t *data;
    size_t size;
} blyt_buffer;

static inline bly_status blyt_sink(void *ctx, const void *data, size_t size) {
    blyt_buffer *b = ctx;
    uint8_t *more = realloc(b->data, b->size + size);
    if (!more)
        return BLY_ENOMEM;
    memcpy(more + b->size, data, size);
    b->data = more;
    b->size += size;
    return BLY_OK;
}

static inline blyt_buffer blyt_write(const bly_filter *f) {
    blyt_buffer b = {NULL, 0};
    assert_ok(bly_filter_write(f, blyt_sink, &b));
    assert_int_equal(b.size, bly_filter_file_size(f));
    return b;
}

#endif
