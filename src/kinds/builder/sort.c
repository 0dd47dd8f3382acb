/* Sorting hashes.
 *
 * Hashes are spread evenly, so one distribution by about as many buckets as there are hashes leaves
 * each within a step or two of its place, and straight insertion finishes: two passes over the
 * data, no function calls, hardly any comparisons. Repeats meet then, and are dropped.
 *
 * What is not spread evenly (the same key a million times, a poor hash of the caller's own) leaves
 * large buckets. They are distributed again by the bits that follow, and after the third time
 * sorted as a heap, which takes n log n steps at worst, and n when all are equal.
 */
#include "kinds/builder/sort.h"

#include <string.h>

enum {
    SMALL = 24,    /* that insertion is good for */
    MAX_BITS = 12, /* of a distribution: its counters fit the first cache */
    MAX_DEPTH = 3,
};

static inline bool before(bly_hash a, bly_hash b) {
    return a.lo < b.lo || (a.lo == b.lo && a.hi < b.hi);
}

static inline bool same(bly_hash a, bly_hash b) {
    return a.lo == b.lo && a.hi == b.hi;
}

/* Sorts n hashes, of which few are far from their place, into `to`. */
static size_t insert_all(bly_hash *to, const bly_hash *from, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bly_hash h = from[i];
        size_t at = kept;
        while (at > 0 && !before(to[at - 1], h))
            at--;
        if (at < kept && same(to[at], h))
            continue;
        for (size_t j = kept++; j > at; j--)
            to[j] = to[j - 1];
        to[at] = h;
    }
    return kept;
}

static void sift(bly_hash *h, size_t at, size_t n) {
    bly_hash top = h[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(h[child], h[child + 1]))
            child++;
        if (!before(top, h[child]))
            break;
        h[at] = h[child];
    }
    h[at] = top;
}

static size_t heap_unique(bly_hash *h, size_t n) {
    for (size_t i = n / 2; i-- > 0;)
        sift(h, i, n);
    for (size_t end = n; end-- > 1;) {
        bly_hash top = h[0];
        h[0] = h[end];
        h[end] = top;
        sift(h, 0, end);
    }
    size_t kept = n > 0;
    for (size_t i = 1; i < n; i++)
        if (!same(h[i], h[kept - 1]))
            h[kept++] = h[i];
    return kept;
}

/* `bits` bits of lo, after the first `skip`. */
static inline size_t digit(bly_hash h, unsigned skip, unsigned bits) {
    return (size_t)(h.lo << skip >> (64 - bits));
}

static unsigned digit_bits(size_t n, unsigned skip) {
    unsigned bits = 0;
    while (bits < MAX_BITS && n >> (bits + 1) > 0)
        bits++;
    return bits < 64 - skip ? bits : 64 - skip;
}

static size_t sort_at(bly_hash *h, size_t n, bly_hash *scratch, unsigned skip, unsigned depth) {
    uint32_t end[(1 << MAX_BITS) + 1];
    if (n <= SMALL || n > UINT32_MAX || depth == MAX_DEPTH || skip >= 64) {
        if (n > SMALL)
            return heap_unique(h, n);
        memcpy(scratch, h, n * sizeof *h);
        return insert_all(h, scratch, n);
    }
    unsigned bits = digit_bits(n, skip);
    uint32_t largest = 0;
    size_t buckets = (size_t)1 << bits, kept = 0, from = 0;
    memset(end, 0, (buckets + 1) * sizeof *end);
    for (size_t i = 0; i < n; i++)
        end[digit(h[i], skip, bits) + 1]++;
    for (size_t b = 1; b <= buckets; b++) {
        largest = end[b] > largest ? end[b] : largest;
        end[b] += end[b - 1];
    }
    /* end[b] is where bucket b begins, and after this where it ends. */
    for (size_t i = 0; i < n; i++)
        scratch[end[digit(h[i], skip, bits)]++] = h[i];
    if (largest <= SMALL)
        return insert_all(h, scratch, n);
    for (size_t b = 0; b < buckets; from = end[b++]) {
        size_t some = end[b] - from;
        if (some <= SMALL) {
            kept += insert_all(h + kept, scratch + from, some);
            continue;
        }
        /* What is kept of h so far ends at or before `from`: the rest of it is free. */
        some = sort_at(scratch + from, some, h + from, skip + bits, depth + 1);
        memcpy(h + kept, scratch + from, some * sizeof *h);
        kept += some;
    }
    return kept;
}

size_t blyi_sort_unique(bly_hash *h, size_t n, bly_hash *scratch, unsigned common) {
    return sort_at(h, n, scratch, common, 0);
}
