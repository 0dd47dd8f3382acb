/* exact_counts.c - exact counts: hybrid filters as the levels of a growing table. */
#include "count/exact_counts.h"

#include <math.h>
#include <string.h>

/* The lowest planned capacity of a further level; it is lower only if memory is short. */
enum { MIN_KEYS = 65536 };

/* The levels together take three quarters of the memory; the rest is for counts of 15 and more. No
 * level takes more than a quarter, because it is copied when it grows for such counts. */
enum { SHARE = 4 };

static const double level_share = 1.0 / 16, min_rate = 0x1p-40;

uint64_t exact_counts_within(bly_kind kind, double rate, unsigned hash_bits, uint64_t bytes) {
    const bly_needs needs = {
        .fpr = rate, .bytes = bytes, .flags = BLY_NEED_COUNTS, .hash_bits = hash_bits};
    bly_advice advice = {.struct_size = sizeof advice};
    return bly_advise_kind(kind, &needs, &advice) == BLY_OK ? advice.needs.keys : 0;
}

static uint64_t bytes_of(const bly_filter *f) {
    const bly_geometry g = bly_filter_geometry(f);
    return bly_plan_bytes(&g);
}

uint64_t exact_counts_bytes(const exact_counts *e) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < e->levels; i++)
        bytes += bytes_of(e->level[i].filter);
    return bytes;
}

uint64_t exact_counts_keys(const exact_counts *e) {
    uint64_t keys = 0;
    for (size_t i = 0; i < e->levels; i++)
        keys += e->level[i].keys;
    return keys;
}

static uint64_t lower(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Adds a level for `keys` keys, or for as many as there is memory for. */
static bly_status add_level(exact_counts *e, uint64_t keys) {
    const uint64_t used = exact_counts_bytes(e), most = e->max_bytes - e->max_bytes / SHARE;
    const uint64_t bytes = lower(most - lower(used, most), e->max_bytes / SHARE);
    bly_spec spec = bly_spec_for(BLY_HYBRID, keys, e->rate);
    bly_geometry g;
    if (e->levels == EXACT_COUNTS_LEVELS)
        return BLY_EFULL;
    bly_status status = bly_plan(BLY_HYBRID, keys, e->rate, 0, e->hasher.bits, &g);
    if (status == BLY_OK && bly_plan_bytes(&g) > bytes)
        spec.capacity = exact_counts_within(BLY_HYBRID, e->rate, e->hasher.bits, bytes);
    if (status == BLY_OK && spec.capacity == 0)
        status = BLY_EFULL;
    spec.hasher = e->hasher;
    bly_filter *f = NULL;
    if (status == BLY_OK)
        status = bly_filter_create(&spec, &f);
    if (status == BLY_OK)
        e->level[e->levels++] = (struct exact_level){.filter = f, .room = spec.capacity};
    return status;
}

bly_status exact_counts_open(exact_counts *e, const bly_hasher *hasher, double rate, uint64_t keys,
                             uint64_t max_bytes) {
    memset(e, 0, sizeof *e);
    e->hasher = *hasher;
    e->rate = fmin(fmax(rate * level_share, min_rate), rate);
    e->max_bytes = max_bytes;
    return add_level(e, keys);
}

void exact_counts_close(exact_counts *e) {
    while (e->levels > 0)
        bly_filter_destroy(e->level[--e->levels].filter);
}

/* Finds the level that each key was in before the batch. This also fetches the memory that adding
 * will touch. */
static void find_levels(exact_counts *e, const bly_hash *hashes, size_t n) {
    memset(e->level_of, 0, n);
    for (size_t l = e->levels; l-- > 0;) {
        (void)bly_filter_contains_hashes(e->level[l].filter, hashes, n, e->found);
        for (size_t i = 0; i < n; i++)
            if (e->found[i])
                e->level_of[i] = (uint8_t)(l + 1);
    }
}

/* Counts a key that no level had before the batch. If the same key occurred earlier in the batch,
 * it is in a level from `from` on; otherwise it is added to the last level. */
static bly_status add_new(exact_counts *e, bly_hash h, size_t from, struct exact_level **at,
                          uint64_t *fresh) {
    for (size_t l = from; l < e->levels; l++)
        if (bly_filter_contains_hash(e->level[l].filter, h)) {
            *at = &e->level[l];
            return bly_filter_add_hash((*at)->filter, h, NULL);
        }
    *at = &e->level[e->levels - 1];
    bly_status status =
        (*at)->keys < (*at)->room ? bly_filter_add_hash((*at)->filter, h, NULL) : BLY_EFULL;
    if (status == BLY_EFULL) {
        const uint64_t keys = exact_counts_keys(e);
        status = add_level(e, keys > MIN_KEYS ? keys : MIN_KEYS);
        *at = &e->level[e->levels - 1];
        if (status == BLY_OK)
            status = bly_filter_add_hash((*at)->filter, h, NULL);
    }
    if (status == BLY_OK) {
        (*at)->keys++;
        ++*fresh;
    }
    return status;
}

size_t exact_counts_take(exact_counts *e, const bly_hash *hashes, size_t n, uint64_t *times,
                         uint64_t *fresh, bly_status *status) {
    const size_t from = e->levels - 1;
    *status = exact_counts_bytes(e) > e->max_bytes ? BLY_EFULL : BLY_OK;
    if (*status != BLY_OK)
        return 0;
    find_levels(e, hashes, n);
    for (size_t i = 0; i < n; i++) {
        struct exact_level *at = e->level_of[i] ? &e->level[e->level_of[i] - 1] : NULL;
        *status = at ? bly_filter_add_hash(at->filter, hashes[i], NULL)
                     : add_new(e, hashes[i], from, &at, fresh);
        if (*status != BLY_OK)
            return i;
        times[i] = bly_filter_copies_hash(at->filter, hashes[i]);
    }
    return n;
}
