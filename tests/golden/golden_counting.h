/* golden_counting.h - the part of make_golden.c that makes counting filters, sketches and overlays.
 * Included only there. */
#ifndef BLYT_GOLDEN_COUNTING_H
#define BLYT_GOLDEN_COUNTING_H

enum { ROUNDS = 20 };

/* A filter to which keys are added as `relation` says: every key once, or twice, or (often) key N
 * in the first N % 20 + 1 of 20 rounds. */
typedef struct counted {
    const char *name;
    bly_geometry geometry; /* hashes 0: planned for size keys at 1%, with counters of detail bits */
    bly_hash_id hash;
    uint64_t seed;
    int first, count;
    const char *relation; /* exactly, twice or often */
} counted;

static const counted counteds[] = {
    {"counting-fnv1a", {BLY_COUNTING, 4, 300, 0, 4}, BLY_HASH_FNV1A, 0, 0, 40, "exactly"},
    {"counting-2-bits-crc64", {BLY_COUNTING, 3, 333, 0, 2}, BLY_HASH_CRC64, 9, 0, 40, "twice"},
    {"counting-8-bits-md5", {BLY_COUNTING, 7, 200, 0, 8}, BLY_HASH_MD5, 0, 5, 25, "often"},
    {"counting-16-bits-fnv1a", {BLY_COUNTING, 2, 67, 0, 16}, BLY_HASH_FNV1A, 1, 0, 40, "often"},
    {"counting-stuck-fnv1a", {BLY_COUNTING, 5, 160, 0, 4}, BLY_HASH_FNV1A, 2, 0, 30, "often"},
    {"counting-k64-murmur3", {BLY_COUNTING, 64, 200, 0, 4}, BLY_HASH_MURMUR3, 0, 0, 6, "twice"},
    {"counting-empty-fnv1", {BLY_COUNTING, 1, 64, 0, 2}, BLY_HASH_FNV1, 0, 0, 0, "exactly"},
    {"counting-planned-murmur3",
     {BLY_COUNTING, 0, 60, 0, 0},
     BLY_HASH_MURMUR3,
     0,
     0,
     60,
     "exactly"},
    {"keyed-counting", {BLY_COUNTING, 0, 30, 0, 0}, BLY_HASH_SIPHASH, 0, 0, 30, "exactly"},
    {"multilayer-fnv1a", {BLY_MULTILAYER, 4, 5, 0, 0}, BLY_HASH_FNV1A, 0, 0, 60, "exactly"},
    {"multilayer-twice-sha1", {BLY_MULTILAYER, 6, 9, 0, 0}, BLY_HASH_SHA1, 0, 0, 60, "twice"},
    {"multilayer-spilled-fnv1a", {BLY_MULTILAYER, 0, 60, 0, 0}, BLY_HASH_FNV1A, 3, 0, 30, "often"},
    {"multilayer-k32-murmur3",
     {BLY_MULTILAYER, 32, 20, 0, 1},
     BLY_HASH_MURMUR3,
     0,
     0,
     30,
     "exactly"},
    {"multilayer-empty-fnv1", {BLY_MULTILAYER, 3, 1, 0, 0}, BLY_HASH_FNV1, 0, 0, 0, "exactly"},
    {"multilayer-planned-md5", {BLY_MULTILAYER, 0, 100, 0, 0}, BLY_HASH_MD5, 1, 0, 100, "exactly"},
    {"keyed-multilayer", {BLY_MULTILAYER, 0, 50, 0, 0}, BLY_HASH_SIPHASH, 0, 0, 50, "twice"},
    {"layered-fnv1a", {BLY_LAYERED, 8, 4, 0, 0}, BLY_HASH_FNV1A, 0, 0, 50, "exactly"},
    {"layered-odd-md5", {BLY_LAYERED, 8, 3, 0, 0}, BLY_HASH_MD5, 0, 0, 40, "twice"},
    {"layered-stuck-fnv1a", {BLY_LAYERED, 8, 5, 0, 0}, BLY_HASH_FNV1A, 8, 0, 40, "often"},
    {"layered-empty-fnv1", {BLY_LAYERED, 8, 1, 0, 0}, BLY_HASH_FNV1, 0, 0, 0, "exactly"},
    {"layered-planned-murmur3", {BLY_LAYERED, 0, 60, 0, 0}, BLY_HASH_MURMUR3, 0, 0, 60, "exactly"},
    {"keyed-layered", {BLY_LAYERED, 0, 40, 0, 0}, BLY_HASH_SIPHASH, 0, 0, 40, "exactly"},
    {"hybrid-fnv1a", {BLY_HYBRID, 9, 20, 0, 0}, BLY_HASH_FNV1A, 0, 0, 60, "exactly"},
    {"hybrid-odd-sha1", {BLY_HYBRID, 6, 21, 0, 0}, BLY_HASH_SHA1, 3, 0, 60, "twice"},
    {"hybrid-spilled-fnv1a", {BLY_HYBRID, 0, 60, 0, 0}, BLY_HASH_FNV1A, 4, 0, 60, "often"},
    {"hybrid-often-fnv1a", {BLY_HYBRID, 7, 14, 0, 0}, BLY_HASH_FNV1A, 4, 0, 30, "often"},
    {"hybrid-wide-md5", {BLY_HYBRID, 55, 40, 0, 0}, BLY_HASH_MD5, 0, 0, 100, "often"},
    {"hybrid-empty-xxh64", {BLY_HYBRID, 12, 1, 0, 2}, BLY_HASH_XXH64, 0, 0, 0, "exactly"},
    {"keyed-hybrid", {BLY_HYBRID, 0, 60, 0, 0}, BLY_HASH_SIPHASH, 0, 0, 60, "often"},
    {"counts-fnv1a", {BLY_COUNTS, 4, 3, 0, 0}, BLY_HASH_FNV1A, 0, 0, 40, "exactly"},
    {"counts-often-fnv1a", {BLY_COUNTS, 4, 2, 0, 0}, BLY_HASH_FNV1A, 1, 0, 500, "often"},
    {"counts-slow-md5", {BLY_COUNTS, 4, 1, 0, 1}, BLY_HASH_MD5, 1, 0, 400, "often"},
    {"counts-empty-fnv1", {BLY_COUNTS, 4, 1, 0, 0}, BLY_HASH_FNV1, 0, 0, 0, "exactly"},
    {"counts-planned-murmur3", {BLY_COUNTS, 0, 60, 0, 0}, BLY_HASH_MURMUR3, 0, 0, 60, "exactly"},
    {"keyed-counts", {BLY_COUNTS, 0, 30, 0, 0}, BLY_HASH_SIPHASH, 0, 0, 30, "twice"},
    {"hll-4-fnv1a", {BLY_HLL, 4, 16, 0, 0}, BLY_HASH_FNV1A, 0, 0, 100, "exactly"},
    {"hll-10-md5", {BLY_HLL, 10, 1024, 0, 0}, BLY_HASH_MD5, 5, 0, 2000, "exactly"},
    {"hll-7-fnv1a-32", {BLY_HLL, 7, 128, 0, 0}, BLY_HASH_FNV1A_32, 0, 0, 500, "twice"},
    {"hll-empty-fnv1", {BLY_HLL, 5, 32, 0, 0}, BLY_HASH_FNV1, 0, 0, 0, "exactly"},
    {"keyed-hll", {BLY_HLL, 8, 256, 0, 0}, BLY_HASH_SIPHASH, 0, 0, 900, "exactly"},
};
enum { COUNTEDS = sizeof counteds / sizeof *counteds };

static void add_rounds(bly_filter *f, const counted *s) {
    int rounds = strcmp(s->relation, "often") == 0   ? ROUNDS
                 : strcmp(s->relation, "twice") == 0 ? 2
                                                     : 1;
    for (int round = 0; round < rounds; round++)
        for (int i = s->first; i < s->first + s->count; i++)
            if (rounds < ROUNDS || i % ROUNDS >= round)
                add_keys(f, i, 1);
}

static bly_filter *make_counted(const counted *s) {
    const sample like = {s->name, s->geometry, s->hash, s->seed, s->first, s->count};
    bly_spec spec = bly_spec_for(s->geometry.kind, s->geometry.size, 0.01);
    bly_filter *f;
    spec.hasher = hasher_of(&like);
    spec.allow_weak_hash = true;
    if (s->geometry.hashes) {
        spec.geometry = s->geometry;
        spec.capacity = 0;
        spec.fpr = 0;
    } else {
        spec.counting.counter_bits = s->geometry.detail;
    }
    must(bly_filter_create(&spec, &f) == BLY_OK, s->name);
    add_rounds(f, s);
    return f;
}

static bly_filter *make_counted_named(const char *name) {
    for (size_t i = 0; i < COUNTEDS; i++)
        if (strcmp(counteds[i].name, name) == 0)
            return make_counted(&counteds[i]);
    return NULL;
}

static void remove_keys(bly_filter *f, int first, int count) {
    bly_batch_result tally;
    must(bly_filter_remove_many(f, key_list(first, count), (size_t)count, NULL, &tally) == BLY_OK &&
             tally.changed == (size_t)count,
         "remove");
}

/* Makes filters after removes, after an intersection, and after a union. */
static void make_changed(const output *out, const char *kind, const char *name) {
    char to[64];
    bly_filter *f = make_counted_named(name), *other = make_counted_named(name);
    add_keys(f, 0, 30);
    remove_keys(f, 0, 20);
    remove_keys(f, 0, 20);
    remove_keys(f, 20, 10);
    (void)snprintf(to, sizeof to, "%s-removed-fnv1a", kind);
    save(out, f, to, 20, (int)bly_filter_count(f), "exactly");
    must(bly_filter_intersect(f, other) == BLY_OK, "intersect");
    (void)snprintf(to, sizeof to, "%s-intersection-fnv1a", kind);
    save(out, f, to, 20, 20, "atleast");
    must(bly_filter_union(other, other) == BLY_OK, "union");
    (void)snprintf(to, sizeof to, "%s-union-fnv1a", kind);
    save(out, other, to, 0, (int)bly_filter_count(other) / 2, "twice");
    bly_filter_destroy(f);
    bly_filter_destroy(other);
}

/* Removes all but n copies of each key. Tables that have grown stay large. */
static void make_shrunk(const output *out, const char *from, const char *to, int n) {
    bly_filter *f = make_counted_named(from);
    for (int i = 0; i < 30; i++)
        for (int copies = i % ROUNDS + 1; copies > n; copies--)
            remove_keys(f, i, 1);
    save(out, f, to, 0, n ? 30 : 0, "exactly");
    bly_filter_destroy(f);
}

/* Removes all copies again, so that only stuck counters stay. */
static void make_spent(const output *out, const char *from, const char *to, int count) {
    bly_filter *f = make_counted_named(from);
    for (int i = 0; i < count; i++)
        for (int copies = i % ROUNDS + 1; copies > 0; copies--)
            remove_keys(f, i, 1);
    save(out, f, to, 0, count, "spent");
    bly_filter_destroy(f);
}

/* A class with 14 copies that once had 15: its count stays in the map. */
static void make_border(const output *out) {
    const counted s = {"border", {BLY_HYBRID, 9, 10, 0, 0}, BLY_HASH_FNV1A, 7, 13, 2, "often"};
    bly_filter *f = make_counted(&s);
    add_keys(f, 13, 1);
    remove_keys(f, 13, 1);
    save(out, f, "hybrid-border-fnv1a", 13, 2, "often");
    bly_filter_destroy(f);
}

static void make_sketches(const output *out) {
    bly_filter *f = make_counted_named("counts-often-fnv1a"), *other;
    must(bly_counts_age(f) == BLY_OK, "age");
    save(out, f, "counts-aged-fnv1a", 0, 500, "halved");
    bly_filter_destroy(f);
    f = make_counted_named("hll-4-fnv1a");
    const counted more = {"more", {BLY_HLL, 4, 16, 0, 0}, BLY_HASH_FNV1A, 0, 50, 100, "exactly"};
    other = make_counted(&more);
    must(bly_filter_union(f, other) == BLY_OK, "union");
    save(out, f, "hll-union-fnv1a", 0, 150, "exactly");
    bly_filter_destroy(f);
    bly_filter_destroy(other);
}

/* Returns an overlay that owns its base. */
static bly_filter *make_overlay(bly_hash_id hash, bly_kind marker) {
    const sample like = {"overlay", {BLY_OVERLAY, 0, 0, 0, 0}, hash, 0, 0, 0};
    bly_spec spec = bly_spec_for(BLY_OVERLAY, 60, 0.01);
    bly_filter *f;
    spec.hasher = hasher_of(&like);
    spec.overlay.marker = marker;
    must(bly_filter_create(&spec, &f) == BLY_OK, "overlay");
    add_keys(f, 0, 60);
    return f;
}

/* Returns an overlay over a borrowed filter that has the keys 0 to 399. */
static bly_filter *make_laid(const bly_filter *base, bly_kind marker) {
    const bly_overlay_options options = {.changes = 40, .marker = marker};
    bly_filter *f;
    must(bly_overlay_over(base, &options, NULL, &f) == BLY_OK, "overlay over");
    if (marker == BLY_CLASSIC) {
        remove_keys(f, 0, 30);
        add_keys(f, 0, 15);
    } else {
        add_keys(f, 400, 50);
        remove_keys(f, 0, 80);
    }
    return f;
}

static void make_overlays(const output *out) {
    bly_filter *base = make_named("fuse-fnv1a"), *f = make_overlay(BLY_HASH_FNV1A, BLY_KIND_NONE);
    save(out, f, "overlay-fnv1a", 0, 60, "exactly");
    remove_keys(f, 0, 25);
    save(out, f, "overlay-removed-fnv1a", 25, 35, "kept");
    add_keys(f, 0, 60);
    save(out, f, "overlay-again-fnv1a", 0, 60, "kept");
    bly_filter_destroy(f);
    f = make_overlay(BLY_HASH_SIPHASH, BLY_CLASSIC);
    remove_keys(f, 0, 25);
    save(out, f, "keyed-overlay-bloom", 26, 30, "held");
    bly_filter_destroy(f);
    f = make_laid(base, BLY_CUCKOO);
    save(out, f, "overlay-over-fuse-fnv1a", 80, 370, "kept");
    bly_filter_clear(f);
    save(out, f, "overlay-hidden-empty-fnv1a", 450, 0, "kept");
    add_keys(f, 500, 10);
    save(out, f, "overlay-hidden-fnv1a", 500, 10, "kept");
    bly_filter_destroy(f);
    f = make_laid(base, BLY_CLASSIC);
    save(out, f, "overlay-over-fuse-bloom-fnv1a", 0, 15, "held");
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    base = make_named("scalable-fnv1a"); /* has the keys 0 to 59 */
    must(bly_overlay_over(base, NULL, NULL, &f) == BLY_OK, "overlay over");
    remove_keys(f, 0, 12);
    save(out, f, "overlay-over-scalable-fnv1a", 12, 48, "kept");
    bly_filter_destroy(f);
    const bly_overlay_options few = {.changes = 4};
    must(bly_overlay_over(base, &few, NULL, &f) == BLY_OK, "overlay over");
    add_keys(f, 60, 60);
    remove_keys(f, 0, 50);
    save(out, f, "overlay-grown-fnv1a", 50, 70, "kept");
    bly_filter_destroy(f);
    bly_filter_destroy(base);
}

static void make_good_counting(const output *out) {
    for (size_t i = 0; i < COUNTEDS; i++) {
        const counted *s = &counteds[i];
        bly_filter *f = make_counted(s);
        save(out, f, s->name, s->first, s->count, s->relation);
        bly_filter_destroy(f);
    }
    make_changed(out, "counting", "counting-fnv1a");
    make_spent(out, "counting-stuck-fnv1a", "counting-spent-fnv1a", 30);
    make_changed(out, "multilayer", "multilayer-fnv1a");
    make_shrunk(out, "multilayer-spilled-fnv1a", "multilayer-returned-fnv1a", 1);
    make_shrunk(out, "multilayer-spilled-fnv1a", "multilayer-emptied-fnv1a", 0);
    make_changed(out, "layered", "layered-fnv1a");
    make_spent(out, "layered-stuck-fnv1a", "layered-spent-fnv1a", 40);
    make_changed(out, "hybrid", "hybrid-fnv1a");
    make_shrunk(out, "hybrid-often-fnv1a", "hybrid-emptied-fnv1a", 0);
    make_border(out);
    make_sketches(out);
    make_overlays(out);
}

#endif
