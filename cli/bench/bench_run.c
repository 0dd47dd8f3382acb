#include "bench/bench_run.h"

#include "bench/bench_keys.h"
#include "filters/kind_words.h"
#include "text/message.h"
#include "text/progress.h"

#include <stdlib.h>

enum {
    BATCH = 4096,       /* keys in one batched call */
    MAX_ASKED = 2 << 20 /* keys that a round asks for, where not all are needed */
};

typedef struct bench {
    const bench_setting *setting;
    bench_keys keys;
    bly_spec spec;
    bool built;           /* from all keys at once: `many` and `one` are then the same */
    bly_builder *builder; /* of one that is built */
    bly_filter *many, *one;
    bench_times times[BENCH_OPS];
    const char *wrong; /* what should hold and did not; NULL while all is well */
    uint64_t missed;   /* wrong answers to keys that are not in it */
} bench;

static void expect(bench *b, bool truth, const char *else_what) {
    if (!truth && !b->wrong)
        b->wrong = else_what;
}

/* ---- operations on a chunk: how many keys were new, or found --------------------------------- */

static uint64_t add_many(bench *b, size_t n) {
    uint8_t added[BATCH];
    uint64_t fresh = 0;
    bool good = true;
    for (size_t at = 0; at < n; at += BATCH) {
        bly_batch_result tally = {0};
        size_t some = n - at < BATCH ? n - at : BATCH;
        good &= bly_filter_add_many(b->many, b->keys.keys + at, some, added, &tally) == BLY_OK;
        fresh += tally.changed;
    }
    expect(b, good, "a batch of keys could not be added");
    return fresh;
}

static uint64_t add_one(bench *b, size_t n) {
    uint64_t fresh = 0;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        bool added = false;
        good &=
            bly_filter_add(b->one, b->keys.keys[i].data, b->keys.keys[i].size, &added) == BLY_OK;
        fresh += added;
    }
    expect(b, good, "a key could not be added");
    return fresh;
}

static uint64_t collect_keys(bench *b, size_t n) {
    expect(b, bly_builder_add(b->builder, b->keys.keys, n) == BLY_OK, "keys could not be gathered");
    return n;
}

static uint64_t contains_many(bench *b, size_t n) {
    uint8_t found[BATCH];
    uint64_t sum = 0;
    for (size_t at = 0; at < n; at += BATCH)
        sum += bly_filter_contains_many(b->many, b->keys.keys + at, n - at < BATCH ? n - at : BATCH,
                                        found);
    return sum;
}

static uint64_t contains_one(bench *b, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bly_filter_contains(b->one, b->keys.keys[i].data, b->keys.keys[i].size);
    return sum;
}

/* ---- a round --------------------------------------------------------------------------------- */

/* One operation over the keys numbered from `first`, so that nothing else is in the cache
 * meanwhile. Returns the sum of its results. */
static uint64_t pass(bench *b, bench_op op, uint64_t first, uint64_t count) {
    static uint64_t (*const works[BENCH_OPS])(bench *, size_t) = {
        add_many, add_one, contains_many, contains_one, contains_many, contains_one};
    uint64_t sum = 0;
    for (uint64_t done = 0; done < count && !b->wrong; done += BENCH_CHUNK) {
        size_t n = count - done < BENCH_CHUNK ? (size_t)(count - done) : BENCH_CHUNK;
        bench_keys_make(&b->keys, first + done, n);
        double start = progress_clock();
        sum += works[op](b, n);
        bench_time(&b->times[op], start, n);
    }
    return sum;
}

static uint64_t asked_in_a_round(const bench_setting *s) {
    return s->keys < MAX_ASKED ? s->keys : MAX_ASKED;
}

/* Fills both filters. */
static void add_all(bench *b) {
    const uint64_t keys = b->setting->keys;
    bly_filter_clear(b->many);
    bly_filter_clear(b->one);
    uint64_t fresh = pass(b, BENCH_ADD_MANY, 0, keys);
    expect(b, pass(b, BENCH_ADD_ONE, 0, keys) == fresh,
           "batched and single adds disagree on which keys are new");
    expect(b, bly_filter_equal(b->many, b->one), "batched and single adds make different filters");
}

/* Builds the one there is, and times all of it but the making of the keys. */
static void build(bench *b) {
    const uint64_t keys = b->setting->keys;
    double spent = 0, start = progress_clock();
    bly_filter_destroy(b->many);
    b->many = b->one = NULL;
    expect(b, bly_builder_create(&b->spec, NULL, &b->builder) == BLY_OK, "no filter can be built");
    for (uint64_t done = 0; done < keys && !b->wrong; done += BENCH_CHUNK) {
        size_t n = keys - done < BENCH_CHUNK ? (size_t)(keys - done) : BENCH_CHUNK;
        spent += progress_clock() - start;
        bench_keys_make(&b->keys, done, n);
        start = progress_clock();
        (void)collect_keys(b, n);
    }
    if (!b->wrong)
        expect(b, bly_builder_finish(b->builder, &b->many) == BLY_OK, "it could not be built");
    bench_time(&b->times[BENCH_ADD_MANY], start - spent, (size_t)keys);
    bly_builder_destroy(b->builder);
    b->one = b->many;
}

static void one_round(bench *b, unsigned round) {
    const uint64_t keys = b->setting->keys, asked = asked_in_a_round(b->setting);
    const uint64_t absent = BENCH_MISSING + round * asked;
    b->built ? build(b) : add_all(b);
    if (b->wrong)
        return;
    uint64_t wrong = pass(b, BENCH_MISS_MANY, absent, asked);
    expect(b, pass(b, BENCH_MISS_ONE, absent, asked) == wrong,
           "batched and single queries disagree");
    uint64_t found = pass(b, BENCH_HIT_MANY, 0, keys);
    expect(b, found == keys, "a key that was added is not found");
    found = pass(b, BENCH_HIT_ONE, 0, asked);
    expect(b, found == asked, "a key that was added is not found");
    b->missed += wrong;
}

/* ---- a kind ---------------------------------------------------------------------------------- */

/* Each kind does what it is for: growth, from a tenth of the keys; being built; forgetting. */
static bly_status plan(const bench_setting *s, bly_kind kind, bly_spec *out) {
    static const uint32_t uses[] = {BLY_NEED_GROW, 0, BLY_NEED_STATIC, BLY_NEED_WINDOW,
                                    BLY_NEED_COUNTS};
    bly_needs needs = {.keys = s->keys, .fpr = s->rate};
    size_t i = 0;
    do
        needs.flags = uses[i++];
    while (bly_advise_why_not(kind, &needs) && i < sizeof uses / sizeof *uses);
    bly_advice advice = {.struct_size = sizeof advice};
    bly_status status = bly_advise_kind(kind, &needs, &advice);
    *out = bly_spec_for(kind, s->keys, s->rate);
    if (status == BLY_OK)
        status = bly_advice_get_spec(&advice, out);
    /* An overlay over a filter of its own can be made, though there is nothing to advise. */
    return kind == BLY_OVERLAY ? BLY_OK : status;
}

bool bench_possible(const bench_setting *s, bly_kind kind) {
    bly_spec spec;
    if (kinds_can(kind, BLY_CARDINALITY_ONLY)) {
        (void)message_error("%s: it tells how many keys there are, not which, so it cannot be "
                            "measured by asking for them",
                            bly_kind_name(kind));
        return false;
    }
    bly_status status = plan(s, kind, &spec);
    if (status)
        (void)message_error("%s: %s", bly_kind_name(kind), bly_strerror(status));
    return status == BLY_OK;
}

static bool open_filters(bench *b) {
    const bly_kind kind = b->spec.geometry.kind;
    b->built = kinds_can(kind, BLY_CAN_BUILD);
    bly_status status = b->built ? BLY_OK : bly_filter_create(&b->spec, &b->many);
    if (status == BLY_OK && !b->built)
        status = bly_filter_create(&b->spec, &b->one);
    if (status)
        (void)message_error("%s: %s", bly_kind_name(kind), bly_strerror(status));
    return status == BLY_OK && bench_keys_open(&b->keys, b->setting->key_bytes);
}

static void collect(bench *b, bench_result *out) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter_get_info(b->many, &stats);
    out->bytes = stats.bytes;
    out->bits_per_key = 8 * (double)stats.bytes / (double)b->setting->keys;
    out->asked = asked_in_a_round(b->setting) * b->setting->rounds;
    out->wrong = b->missed;
    for (int op = 0; op < BENCH_OPS; op++)
        out->ns[op] = bench_median(&b->times[op]);
}

bool bench_kind(const bench_setting *s, bly_kind kind, bench_result *out) {
    bly_spec spec;
    bly_status status = plan(s, kind, &spec);
    bench *b = calloc(1, sizeof *b);
    bool good = false;
    *out = (bench_result){.kind = kind, .promised = s->rate};
    if (status)
        (void)message_error("%s: %s", bly_kind_name(kind), bly_strerror(status));
    else if (!b)
        (void)message_error("out of memory");
    else {
        b->setting = s;
        b->spec = spec;
        good = open_filters(b);
        for (unsigned round = 0; good && round < s->rounds && !b->wrong; round++)
            one_round(b, round);
        if (good && b->wrong) {
            (void)message_error("%s: %s; do not trust this build", bly_kind_name(kind), b->wrong);
            good = false;
        }
        if (good)
            collect(b, out);
        bly_filter_destroy(b->many);
        bly_filter_destroy(b->built ? NULL : b->one);
        bench_keys_close(&b->keys);
    }
    free(b);
    return good;
}
