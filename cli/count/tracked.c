#include "count/tracked.h"

#include <stdlib.h>

enum { BUCKET = 8 };

bool tracked_open(tracked *t, uint64_t bytes) {
    const uint64_t buckets = bytes / (BUCKET * sizeof *t->keys);
    t->buckets = buckets ? buckets : 1;
    t->keys = t->buckets <= SIZE_MAX / BUCKET ? calloc((size_t)t->buckets * BUCKET, sizeof *t->keys)
                                              : NULL;
    return t->keys != NULL;
}

void tracked_close(tracked *t) {
    free(t->keys);
    *t = (tracked){0};
}

uint64_t tracked_bytes(const tracked *t) {
    return t->keys ? t->buckets * BUCKET * sizeof *t->keys : 0;
}

static tracked_key *bucket_of(const tracked *t, uint64_t fingerprint) {
    return t->keys + fingerprint % t->buckets * BUCKET;
}

/* The key in its bucket, or else the place that it may take. */
static tracked_key *place_of(const tracked *t, uint64_t fingerprint) {
    tracked_key *bucket = bucket_of(t, fingerprint), *lowest = bucket;
    for (tracked_key *k = bucket; k < bucket + BUCKET; k++) {
        if (k->since && k->fingerprint == fingerprint)
            return k;
        if (k->before + k->since < lowest->before + lowest->since)
            lowest = k;
    }
    return lowest;
}

static bool is_there(const tracked_key *k, uint64_t fingerprint) {
    return k->since && k->fingerprint == fingerprint;
}

tracked_key tracked_count(tracked *t, const bly_filter *sketch, bly_hash h) {
    const uint64_t fingerprint = h.lo;
    tracked_key *k = place_of(t, fingerprint);
    if (!is_there(k, fingerprint))
        *k = (tracked_key){.fingerprint = fingerprint, .before = bly_filter_copies_hash(sketch, h)};
    k->since++;
    return *k;
}

tracked_key tracked_find(const tracked *t, bly_hash h) {
    const uint64_t fingerprint = h.lo;
    const tracked_key *k = place_of(t, fingerprint);
    return is_there(k, fingerprint) ? *k : (tracked_key){.fingerprint = fingerprint};
}
