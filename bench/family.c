/* Compares the other kinds with the fastest one, sbbf, in the same run.
 *
 * The kinds look up each chunk of keys in turn, as in measure.c, so that a ratio compares times on
 * the same chunk. They are filled one after the other, and the times of adding the same chunk are
 * compared. A built kind needs all keys at once: the total time of building it in a round, on one
 * thread and including hashing, is compared with the total time of sbbf's adds.
 */
#include "bench.h"

#include <string.h>

/* The kinds. The window is large enough to contain all keys. */
static const bly_kind kinds[FAMILY] = {BLY_SBBF,   BLY_CUCKOO, BLY_GROWABLE_CUCKOO,
                                       BLY_WINDOW, BLY_FUSE,   BLY_RIBBON};

static bool is_built(bly_kind kind) {
    return bly_kind_capabilities(kind) & BLY_CAN_BUILD;
}

static void record(member *m, family_op what, double seconds, uint64_t n, bool calm) {
    size_t i = m->taken[what];
    if (i == MAX_SAMPLES)
        return;
    m->ns[what][i] = 1e9 * seconds / (double)n;
    m->calm[what][i] = calm;
    m->taken[what]++;
    if (what != FAMILY_ADD || !is_built(m->kind))
        calm_count(calm);
}

static uint64_t add(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t added[BATCH];
    uint64_t added_keys = 0;
    for (size_t at = 0; at < n; at += BATCH) {
        bly_batch_result result;
        size_t some = n - at < BATCH ? n - at : BATCH;
        must(bly_filter_add_many(f, keys + at, some, added, &result) == BLY_OK, "a batched add");
        added_keys += result.changed;
    }
    return added_keys;
}

static uint64_t look_up(const bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t found[BATCH];
    uint64_t sum = 0;
    for (size_t at = 0; at < n; at += BATCH)
        sum += bly_filter_contains_many(f, keys + at, n - at < BATCH ? n - at : BATCH, found);
    return sum;
}

static size_t chunk_at(const family *f, uint64_t at) {
    return f->n - at < CHUNK ? (size_t)(f->n - at) : CHUNK;
}

/* ---- filling --------------------------------------------------------------------------------- */

static void open_members(family *f) {
    for (size_t i = 0; i < FAMILY; i++) {
        member *m = &f->members[i];
        bly_spec spec = bly_spec_for(kinds[i], f->n, f->p);
        m->kind = kinds[i];
        m->fill_ns = 0;
        if (m->kind == BLY_GROWABLE_CUCKOO) /* so the filter can double once after it is full */
            spec.cuckoo.horizon = 2 * f->n;
        if (is_built(m->kind)) {
            const bly_build_options alone = {.struct_size = sizeof alone, .threads = 1};
            must(bly_builder_create(&spec, &alone, &m->builder) == BLY_OK, "a builder");
        } else {
            must(bly_filter_create(&spec, &m->filter) == BLY_OK, "creating a filter");
            bly_filter_clear(m->filter); /* writes to all memory, so that it is mapped */
        }
    }
}

/* Fills one kind. The kinds are filled one after the other, so that they do not share the
 * caches. */
static void fill(family *f, const keyset *set, member *m) {
    for (uint64_t at = 0; at < f->n; at += CHUNK) {
        size_t n = chunk_at(f, at);
        keys_make(set, at, n);
        bool calm = calm_now(false);
        double start = seconds_now();
        if (m->builder)
            must(bly_builder_add(m->builder, set->keys, n) == BLY_OK, "collecting keys");
        else
            fold(add(m->filter, set->keys, n));
        double took = seconds_now() - start;
        m->fill_ns += 1e9 * took;
        if (!m->builder)
            record(m, FAMILY_ADD, took, n, calm & calm_now(false));
    }
    if (!m->builder)
        return;
    double start = seconds_now();
    must(bly_builder_finish(m->builder, &m->filter) == BLY_OK, "building a filter");
    m->fill_ns += 1e9 * (seconds_now() - start);
    bly_builder_destroy(m->builder);
    m->builder = NULL;
    record(m, FAMILY_ADD, 1e-9 * m->fill_ns, f->n, true);
    f->fill_ratio[m - f->members][f->rounds] = m->fill_ns / f->members[0].fill_ns;
}

/* ---- lookups --------------------------------------------------------------------------------- */

static void query(family *f, const keyset *set, uint64_t first, family_op what, size_t rotation) {
    size_t n = f->n < CHUNK ? (size_t)f->n : CHUNK;
    keys_make(set, first, n);
    for (size_t i = 0; i < FAMILY; i++) {
        member *m = &f->members[(rotation + i) % FAMILY];
        keys_cut(set->keys, set->len - 1, n); /* other keys, to warm the filter */
        fold(look_up(m->filter, set->keys, n));
        keys_cut(set->keys, set->len, n);
        bool calm = calm_now(false);
        double start = seconds_now();
        uint64_t found = look_up(m->filter, set->keys, n);
        double took = seconds_now() - start;
        record(m, what, took, n, calm & calm_now(false));
        must(what != FAMILY_HIT || found == n, "finding every key that was added");
    }
}

static void close_members(family *f) {
    for (size_t i = 0; i < FAMILY; i++) {
        member *m = &f->members[i];
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(m->filter, &s);
        m->bytes = s.bytes;
        bly_filter_destroy(m->filter);
        m->filter = NULL;
    }
}

void family_measure(family *f, const options *opt) {
    keyset set = keys_open(16);
    memset(f, 0, sizeof *f);
    f->n = opt->family_keys;
    f->p = 0.01;
    for (; f->rounds < opt->rounds; f->rounds++) {
        open_members(f);
        for (size_t i = 0; i < FAMILY; i++)
            fill(f, &set, &f->members[i]);
        uint64_t places = f->n / CHUNK ? f->n / CHUNK : 1;
        for (uint64_t done = 0, i = 0; done < opt->work; done += CHUNK, i++) {
            query(f, &set, MISS_KEYS + done, FAMILY_MISS, i);
            query(f, &set, f->n < CHUNK ? 0 : (i * 7 + f->rounds) % places * CHUNK, FAMILY_HIT, i);
        }
        close_members(f);
    }
    keys_close(&set);
}
