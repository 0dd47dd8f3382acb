/* support.h - what the test programs share: a generator, key sets, the list of cases, and an
 * allocator that can be made to fail. Header only, so that each test stays one file. */
#ifndef BLYT_SUPPORT_H
#define BLYT_SUPPORT_H

#include <bloomery/bloomery.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef BLYT_SLOW /* given by the build where programs are emulated */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BLYT_SLOW 10 /* sanitizers: a tenth of the work */
#else
#define BLYT_SLOW 1
#endif
#endif

#define COUNT_OF(a)     (sizeof(a) / sizeof *(a))
#define assert_ok(call) assert_int_equal(call, BLY_OK)

/* Whether there is time for larger samples: tests called NAME_large are NAME with this variable. */
static inline bool blyt_large(void) {
    return getenv("BLOOMERY_LARGE") != NULL;
}

/* Whether there is time for hours of work: by hand, with this variable. */
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

/* What a kind's capabilities do not say, and tests have to know. */
enum {
    BLYT_SLOTS = 1u << 0,    /* a slot for each copy of a key, and no other counts */
    BLYT_LEVELS = 1u << 1,   /* made of levels: bly_filter_level is not the filter itself */
    BLYT_NESTED = 1u << 2,   /* a file that contains files: of levels or of parts */
    BLYT_GROWS = 1u << 3,    /* from a small capacity to any number of keys */
    BLYT_BY_ORDER = 1u << 4, /* the same keys in another order may make another body */
};

/* Every layout and probe there is: one row at least for each kind of the library (test_kinds.c sees
 * that none is missing), and the only place where tests keep numbers of a kind. */
typedef struct blyt_case {
    const char *name;
    bly_kind kind;
    uint32_t options;
    uint32_t counter_bits; /* of counting; 0: the default */
    double finest;         /* the lowest rate it can be made for; 0: any */
    uint64_t limit;        /* where keys share counters, the count at which one is stuck */
    uint64_t counters;     /* and how many of them there are in each unit of the size */
    uint32_t traits;
} blyt_case;

enum { BLYT_SCALABLE = BLYT_LEVELS | BLYT_NESTED | BLYT_GROWS };

static const blyt_case blyt_cases[] = {
    {"classic", BLY_CLASSIC, 0},
    {"classic textbook", BLY_CLASSIC, BLY_TEXTBOOK},
    {"partitioned", BLY_PARTITIONED, 0},
    {"sbbf", BLY_SBBF, 0},
    {"split512", BLY_SPLIT512, 0},
    {"bb2x512", BLY_BB2X512, 0},
    {"scalable", BLY_SCALABLE, 0, .traits = BLYT_SCALABLE},
    {"window", BLY_WINDOW, 0},
    {"cuckoo", BLY_CUCKOO, 0, .traits = BLYT_SLOTS},
    {"growable-cuckoo", BLY_GROWABLE_CUCKOO, 0, .traits = BLYT_SLOTS | BLYT_GROWS | BLYT_BY_ORDER},
    {"fuse", BLY_FUSE, 0},
    {"ribbon", BLY_RIBBON, 0},
    {"counting", BLY_COUNTING, 0, .limit = 15, .counters = 1},
    {"counting of 2 bits", BLY_COUNTING, 0, 2, .limit = 3, .counters = 1},
    {"counting of 8 bits", BLY_COUNTING, 0, 8, .limit = 255, .counters = 1},
    {"counting of 16 bits", BLY_COUNTING, 0, 16, .limit = 65535, .counters = 1},
    {"multilayer", BLY_MULTILAYER, 0, .limit = 65535, .counters = 320},
    {"layered", BLY_LAYERED, 0, .limit = 8, .counters = 256},
    {"overlay", BLY_OVERLAY, 0, .traits = BLYT_NESTED | BLYT_BY_ORDER},
    {"hybrid", BLY_HYBRID, 0},
    {"counts", BLY_COUNTS, 0},
    {"hll", BLY_HLL, 0, 0, 0.003},
    {"scalable-cuckoo", BLY_SCALABLE_CUCKOO, 0,
     .traits = BLYT_SCALABLE | BLYT_SLOTS | BLYT_BY_ORDER},
};

/* The next case, or NULL. In the environment, BLYT_ONLY names the one case to look at, and
 * BLYT_VERBOSE has the cases named as they come. */
static inline const blyt_case *blyt_following(const blyt_case *c) {
    const char *only = getenv("BLYT_ONLY");
    do {
        c = c ? c + 1 : blyt_cases;
        if (c == blyt_cases + COUNT_OF(blyt_cases))
            return NULL;
    } while (only && strcmp(only, c->name) != 0);
    if (getenv("BLYT_VERBOSE"))
        print_message("           %s\n", c->name);
    return c;
}

#define FOR_EACH_CASE(c) for (const blyt_case *c = blyt_following(NULL); c; c = blyt_following(c))

/* Those with all of these abilities. */
static inline bool blyt_can(const blyt_case *c, uint32_t what) {
    return (bly_kind_capabilities(c->kind) & what) == what;
}

/* Those in which every add stores a copy, to be removed one by one. (An overlay that can remove is
 * a set; a sketch that tells copies cannot remove.) */
static inline bool blyt_stores_copies(const blyt_case *c) {
    return blyt_can(c, BLY_CAN_REMOVE | BLY_TELLS_COPIES);
}

/* Those with all of these traits; an unknown kind, whose row is NULL, has none. */
static inline bool blyt_is(const blyt_case *c, uint32_t traits) {
    return c && (c->traits & traits) == traits;
}

/* The first row of a kind; NULL: there is none. */
static inline const blyt_case *blyt_case_of(bly_kind kind) {
    for (size_t i = 0; i < COUNT_OF(blyt_cases); i++)
        if (blyt_cases[i].kind == kind)
            return &blyt_cases[i];
    return NULL;
}

/* Where keys share counters, the count at which one is stuck; UINT64_MAX where each key has its
 * own. */
static inline uint64_t blyt_limit(const blyt_case *c) {
    return c->limit ? c->limit : UINT64_MAX;
}

/* How many counters keys share, in such a filter. */
static inline double blyt_counters(const blyt_case *c, const bly_filter *f) {
    return (double)(bly_filter_geometry(f).size * c->counters);
}

/* How many copies of a key can be added and then removed again. */
static inline uint64_t blyt_max_copies(const blyt_case *c) {
    return blyt_stores_copies(c) ? blyt_limit(c) - 1 : 1;
}

/* Those for which the same keys make an equal filter, whatever was done in between, if no counter
 * got stuck on the way. */
static inline bool blyt_is_canonical(const blyt_case *c) {
    return !blyt_can(c, BLY_FORGETS) && !blyt_is(c, BLYT_BY_ORDER) &&
           (!blyt_can(c, BLY_TELLS_COPIES) || blyt_stores_copies(c));
}

/* Those whose geometry is planned, and stays. */
static inline bool blyt_plans(const blyt_case *c) {
    bly_geometry g;
    return bly_plan(c->kind, 100, 0.1, c->options, 64, &g) == BLY_OK;
}

/* Those whose keys set bits at random, and for good, so that the bits tell how many there are. */
static inline bool blyt_sets_bits(const blyt_case *c) {
    bly_geometry g;
    if (blyt_can(c, BLY_CAN_REMOVE))
        return false;
    return bly_plan(c->kind, 100, 0.1, c->options, 64, &g) != BLY_OK || bly_plan_keys(&g, 0) == 0;
}

/* For that rate, or as exact as the case can be. */
static inline bly_spec blyt_spec(const blyt_case *c, uint64_t n, double p) {
    bly_spec spec = bly_spec_for(c->kind, n, p != 0 && p < c->finest ? c->finest : p);
    spec.geometry.options = c->options;
    spec.counter_bits = c->counter_bits;
    return spec;
}

/* The same, and ready to be folded if the kind can. */
static inline bly_spec blyt_foldable(const blyt_case *c, uint64_t n, double p) {
    bly_spec spec = blyt_spec(c, n, p);
    if (blyt_can(c, BLY_CAN_FOLD))
        spec.geometry.options |= BLY_FOLDABLE;
    return spec;
}

/* An empty filter, as a kind makes one: created, or built from nothing. */
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

/* Key sets that have broken filters before. */
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

/* The decimal digits of i, and a NUL. Returns how many digits. (Printing them with snprintf takes
 * longer than a lookup of the key.) */
static inline size_t blyt_digits(uint64_t i, char *out) {
    size_t n = 1;
    for (uint64_t rest = i / 10; rest > 0; rest /= 10)
        n++;
    out[n] = '\0';
    for (size_t at = n; at-- > 0; i /= 10)
        out[at] = (char)('0' + i % 10);
    return n;
}

/* Key i of a set: distinct for distinct i. Returns its length. */
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
    for (int b = 0; b < 8; b++) /* the same keys on every host */
        out[b] = (char)(word >> 8 * b);
    return 8;
}

/* The same keys in an array, as batches want them. */
typedef struct blyt_list {
    bly_bytes *keys;
    char *bytes;
    size_t n;
} blyt_list;

static inline blyt_list blyt_list_of(blyt_keys set, uint64_t first, size_t n) {
    blyt_list l = {calloc(n + 1, sizeof *l.keys), malloc((n + 1) * BLYT_KEY_MAX), n};
    assert_non_null(l.keys);
    assert_non_null(l.bytes);
    char *at = l.bytes; /* one key after the other: fewer pages than one in BLYT_KEY_MAX bytes */
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
    bly_tally tally;
    assert_ok(bly_filter_add_many(f, l->keys, l->n, NULL, &tally));
    assert_int_equal(tally.done, l->n);
}

/* A filter of these keys: created and added to, or built from them. */
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

/* The same, planned for as many keys as there are. */
static inline bly_filter *blyt_full(const blyt_case *c, double p, uint64_t seed,
                                    const blyt_list *l) {
    bly_spec spec = blyt_spec(c, l->n ? l->n : 1, p);
    spec.seed = seed;
    return blyt_filled(&spec, l);
}

/* No key is missing after adding the list to a filter made for as many. */
static inline void blyt_assert_contains(const bly_filter *f, const blyt_list *l) {
    assert_int_equal(bly_filter_contains_many(f, l->keys, l->n, NULL), l->n);
}

/* An allocator that counts, and fails at its fail_at-th call (0: never). */
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

/* A filter's container in memory; *size receives its length. Free with free. */
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
