/* Compares the kinds that support removal or counts on one set of keys: the six forms in the order
 * of docs/choosing.md, and sbbf, which supports neither.
 *
 * First the filters are used as sets, with every key once. Each kind is filled, a tenth of the keys
 * is removed and added again, and the kinds look up each chunk of keys in turn, so that ratios
 * compare times on the same chunk. Then the filters are used as multisets. The key of rank r has
 * C/r^s copies, but at least one; C is chosen so that keys have five copies on average. The program
 * measures the space, the share of exact counts, and how many keys are still found after all copies
 * were removed.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    bly_kind kind;
    const char *form, *strength;
} kinds[] = {
    {BLY_COUNTING, "1 fixed width", "converts to a classic filter; the simplest to port"},
    {BLY_MULTILAYER, "2 variable length",
     "half the space of form 1; never full, few stuck counters"},
    {BLY_LAYERED, "3 layered", "its front is an sbbf file; others can map it during removals"},
    {BLY_OVERLAY, "4 subtraction", "over a read-only filter; removing non-members is safe"},
    {BLY_COUNTS, "5 probabilistic", "counts to billions in one byte, ages, never full"},
    {BLY_HYBRID, "6 hybrid", "exact counts of any size, no stuck counters"},
    {BLY_SBBF, "none", "(for comparison)"},
};
_Static_assert(sizeof kinds / sizeof *kinds == COUNTERS, "COUNTERS is the number of kinds");

static const double exponents[ZIPFS] = {0.8, 1.0, 1.2};
static const bly_kind zipf_kinds[ZIPF_KINDS] = {BLY_HYBRID, BLY_COUNTING, BLY_MULTILAYER,
                                                BLY_COUNTS};

static bool can(bly_kind kind, uint32_t what) {
    return bly_kind_capabilities(kind) & what;
}

static void record(counter *m, counter_op what, double seconds, size_t n) {
    if (m->taken[what] < MAX_SAMPLES)
        m->ns[what][m->taken[what]++] = 1e9 * seconds / (double)n;
}

/* ---- batches --------------------------------------------------------------------------------- */

static size_t batch_at(size_t n, size_t at) {
    return n - at < BATCH ? n - at : BATCH;
}

static void add(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t added[BATCH];
    for (size_t at = 0; at < n; at += BATCH) {
        bly_batch_result result;
        must(bly_filter_add_many(f, keys + at, batch_at(n, at), added, &result) == BLY_OK,
             "a batched add");
        fold(result.changed);
    }
}

/* Returns the number of keys removed. */
static uint64_t remove_keys(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t removed[BATCH];
    uint64_t sum = 0;
    for (size_t at = 0; at < n; at += BATCH) {
        bly_batch_result result;
        must(bly_filter_remove_many(f, keys + at, batch_at(n, at), removed, &result) == BLY_OK,
             "a batched remove");
        sum += result.changed;
    }
    return sum;
}

static uint64_t look_up(const bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t found[BATCH];
    uint64_t sum = 0;
    for (size_t at = 0; at < n; at += BATCH)
        sum += bly_filter_contains_many(f, keys + at, batch_at(n, at), found);
    return sum;
}

/* ---- every key once -------------------------------------------------------------------------- */

static bly_filter *open_filter(bly_kind kind, uint64_t n, double p) {
    bly_spec spec = bly_spec_for(kind, n, p);
    bly_filter *f;
    if (kind == BLY_OVERLAY)
        spec.overlay.changes = n / 10 + 1;
    must(bly_filter_create(&spec, &f) == BLY_OK, "creating a filter");
    bly_filter_clear(f); /* writes to all memory, so that it is mapped */
    return f;
}

static size_t chunk_at(uint64_t n, uint64_t at) {
    return n - at < CHUNK ? (size_t)(n - at) : CHUNK;
}

static void fill(counter *m, const counting *c, const keyset *set) {
    for (uint64_t at = 0; at < c->n; at += CHUNK) {
        size_t n = chunk_at(c->n, at);
        keys_make(set, at, n);
        double start = seconds_now();
        add(m->filter, set->keys, n);
        record(m, COUNTER_ADD, seconds_now() - start, n);
    }
}

static void remove_some(counter *m, const counting *c, const keyset *set) {
    for (uint64_t at = 0; at < c->n / 10; at += CHUNK) {
        size_t n = chunk_at(c->n / 10, at);
        keys_make(set, at, n);
        double start = seconds_now();
        uint64_t removed = remove_keys(m->filter, set->keys, n);
        record(m, COUNTER_REMOVE, seconds_now() - start, n);
        must(removed == n, "removing what was added");
    }
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(m->filter, &s);
    m->bytes = s.bytes; /* now, after the removals, an overlay is at its largest */
    for (uint64_t at = 0; at < c->n / 10; at += CHUNK) {
        size_t n = chunk_at(c->n / 10, at);
        keys_make(set, at, n);
        add(m->filter, set->keys, n);
    }
}

static void query(counting *c, const keyset *set, uint64_t first, counter_op what,
                  size_t rotation) {
    size_t n = c->n < CHUNK ? (size_t)c->n : CHUNK;
    keys_make(set, first, n);
    for (size_t i = 0; i < COUNTERS; i++) {
        counter *m = &c->counters[(rotation + i) % COUNTERS];
        keys_cut(set->keys, set->len - 1, n); /* other keys, to warm the filter */
        fold(look_up(m->filter, set->keys, n));
        keys_cut(set->keys, set->len, n);
        double start = seconds_now();
        uint64_t found = look_up(m->filter, set->keys, n);
        record(m, what, seconds_now() - start, n);
        must(what != COUNTER_HIT || found == n, "finding every key that was added");
        if (what == COUNTER_MISS) {
            m->non_members += n;
            m->false_positives += found;
        }
    }
}

static void measure_round(counting *c, const options *opt, const keyset *set) {
    for (size_t i = 0; i < COUNTERS; i++) {
        counter *m = &c->counters[i];
        m->kind = kinds[i].kind;
        m->form = kinds[i].form;
        m->strength = kinds[i].strength;
        m->filter = open_filter(m->kind, c->n, c->p);
        fill(m, c, set);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(m->filter, &s);
        m->bytes = s.bytes;
        if (can(m->kind, BLY_CAN_REMOVE))
            remove_some(m, c, set);
    }
    uint64_t places = c->n / CHUNK ? c->n / CHUNK : 1;
    for (uint64_t done = 0, i = 0; done < opt->work; done += CHUNK, i++) {
        query(c, set, MISS_KEYS + done, COUNTER_MISS, i);
        query(c, set, c->n < CHUNK ? 0 : (i * 7 + c->rounds) % places * CHUNK, COUNTER_HIT, i);
    }
    for (size_t i = 0; i < COUNTERS; i++) {
        bly_filter_destroy(c->counters[i].filter);
        c->counters[i].filter = NULL;
    }
}

/* ---- repeated keys --------------------------------------------------------------------------- */

/* Returns the number of copies of the key with this rank. The first rank is 1. */
static uint64_t copies_of(double scale, double exponent, uint64_t rank) {
    double copies = floor(scale * pow((double)rank, -exponent));
    return copies > 1 ? (uint64_t)copies : 1;
}

static uint64_t total_copies(double scale, double exponent, uint64_t n) {
    uint64_t sum = 0, r = 1;
    for (; r <= n && copies_of(scale, exponent, r) > 1; r++)
        sum += copies_of(scale, exponent, r);
    return sum + (n + 1 - r);
}

/* Returns the scale for which keys have `mean` copies on average. */
static double scale_for(double exponent, uint64_t n, double mean) {
    double low = 1, high = mean * (double)n;
    for (int step = 0; step < 30; step++) {
        double mid = sqrt(low * high);
        if ((double)total_copies(mid, exponent, n) < mean * (double)n)
            low = mid;
        else
            high = mid;
    }
    return high;
}

/* Adds or removes all copies of a chunk of keys. The first key has rank at + 1. */
static void each_copy(bly_filter *f, const keyset *set, uint64_t at, size_t n, double scale,
                      double exponent, bool removing) {
    bly_bytes batch[BATCH];
    size_t filled = 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t left = copies_of(scale, exponent, at + i + 1); left > 0; left--) {
            batch[filled++] = set->keys[i];
            if (filled < BATCH && (left > 1 || i + 1 < n))
                continue;
            if (removing)
                must(remove_keys(f, batch, filled) == filled, "removing what was added");
            else
                add(f, batch, filled);
            filled = 0;
        }
}

static void zipf_empty(zipf *z, bly_filter *f, const counting *c, const keyset *set, double scale) {
    uint64_t left = 0;
    bly_filter_info s = {.struct_size = sizeof s};
    for (uint64_t at = 0; at < c->n; at += CHUNK) {
        keys_make(set, at, chunk_at(c->n, at));
        each_copy(f, set, at, chunk_at(c->n, at), scale, z->exponent, true);
    }
    for (uint64_t at = 0; at < c->n; at += CHUNK) {
        keys_make(set, at, chunk_at(c->n, at));
        left += look_up(f, set->keys, chunk_at(c->n, at));
    }
    bly_filter_get_info(f, &s);
    z->stuck = (double)s.stuck / (double)s.size;
    z->left = (double)left / (double)c->n;
}

static void zipf_measure(zipf *z, const counting *c, const keyset *set) {
    double scale = scale_for(z->exponent, c->n, 5);
    bly_filter *f = open_filter(z->kind, c->n, c->p);
    uint64_t exact = 0;
    bly_filter_info s = {.struct_size = sizeof s};
    z->adds = total_copies(scale, z->exponent, c->n);
    z->most = copies_of(scale, z->exponent, 1);
    for (uint64_t at = 0; at < c->n; at += CHUNK) {
        keys_make(set, at, chunk_at(c->n, at));
        each_copy(f, set, at, chunk_at(c->n, at), scale, z->exponent, false);
    }
    bly_filter_get_info(f, &s);
    z->bytes = s.bytes;
    for (uint64_t at = 0; at < c->n; at += CHUNK) {
        size_t n = chunk_at(c->n, at);
        keys_make(set, at, n);
        for (size_t i = 0; i < n; i++)
            exact += bly_filter_copies(f, set->keys[i].data, set->keys[i].size) ==
                     copies_of(scale, z->exponent, at + i + 1);
        must(look_up(f, set->keys, n) == n, "finding every key that was added");
    }
    z->exact = (double)exact / (double)c->n;
    z->stuck = z->left = NAN;
    if (can(z->kind, BLY_CAN_REMOVE))
        zipf_empty(z, f, c, set, scale);
    bly_filter_destroy(f);
}

void counting_measure(counting *c, const options *opt) {
    keyset set = keys_open(16);
    memset(c, 0, sizeof *c);
    c->n = opt->family_keys ? opt->family_keys : 10000000;
    c->p = 0.01;
    for (; c->rounds < opt->rounds; c->rounds++)
        measure_round(c, opt, &set);
    for (size_t i = 0; i < ZIPFS; i++)
        for (size_t j = 0; j < ZIPF_KINDS; j++) {
            zipf *z = &c->zipfs[i][j];
            z->kind = zipf_kinds[j];
            z->exponent = exponents[i];
            zipf_measure(z, c, &set);
        }
    keys_close(&set);
}
