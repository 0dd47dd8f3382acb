/* Bloom filters in the caller's bytes (bloomery/bytes.h).
 *
 * Layout: size - 1 bytes of bits, then one byte, the number of probes k. With m = 8 (size - 1), bit
 * i is byte i>>3, mask 1<<(i&7), and a key's bits are those of a classic filter of m bits
 * (probe_sequence.h). Bits are accessed by byte, so neither alignment nor byte order matters.
 *
 * Why a byte for k: a reader cannot derive k from the size, because it does not know the number of
 * keys. LevelDB stores it the same way. Values of the byte that are not a valid k are reserved for
 * other layouts. Readers that do not know such a layout answer "maybe".
 *
 * Why this probe sequence: buffers are small. Double hashing (h1 + i*h2 mod m), which LevelDB uses
 * with 32 bits of hash, gives keys with related steps most of their bits in common. In 200 bits
 * this happens often. The sequence of classic filters is as good as independent probes down to
 * eight bits (tests/unit/test_buffer.c).
 *
 * Why k follows from m and n alone, in integers: the builder then needs no FPR and no logarithm,
 * and cannot choose differently on a machine that rounds differently.
 */
#include "filter/kind.h"
#include "filter/probe_sequence.h"
#include "filter/rate.h"
#include "filter/size_search.h"
#include "hash/xxh3.h"

#include <bloomery/bytes.h>
#include <bloomery/plan.h>
#include <math.h>
#include <string.h>

enum { BUFFER_GROUP = 64 }; /* keys hashed at a time */

/* The number of bits in a buffer of `size` bytes; 0 if no buffer has that size. */
static inline uint64_t buffer_bits(size_t size) {
    uint64_t bytes = (uint64_t)size - 1;
    return size < BLY_BUFFER_MIN_SIZE || bytes > BLYI_MAX_BITS / 8 ? 0 : bytes * 8;
}

/* The number of probes for n keys in m bits: (m / (n + 1/4)) ln 2, rounded, with 61/88 for ln 2.
 * The 1/4 matters only if n is small. Then the best k is smaller than the textbook's (m/n) ln 2,
 * because the fill varies most, and more probes suffer more from that. */
static unsigned buffer_probes(uint64_t m, uint64_t n) {
    if (n == 0 || n >= m)
        return 1;
    uint64_t quarters = 4 * n + 1, k = (61 * m + 11 * quarters) / (22 * quarters);
    if (k > BLY_BUFFER_MAX_PROBES)
        return BLY_BUFFER_MAX_PROBES;
    return k > 1 ? (unsigned)k : 1;
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* The exact value that blyi_cells_rate approximates, computed in t k steps: the probability that k
 * probes all hit occupied cells after t balls were thrown into m cells.
 *
 * First, all[j] is the probability that j given cells are occupied. A ball hits one of them with
 * probability j/m; then the other j - 1 are left for the other balls. Afterwards, all[j] is the
 * probability that the remaining probes all hit, when j different cells have been probed so far.
 * The next probe repeats one of these j cells with probability j/m. */
static double exact_cells_rate(double m, uint64_t t, unsigned k) {
    double all[BLY_BUFFER_MAX_PROBES + 1] = {1}, one = 1 / m;
    for (; t > 0; t--)
        for (unsigned j = k; j > 0; j--)
            all[j] += (all[j - 1] - all[j]) * (j * one);
    for (unsigned left = k; left-- > 0;)
        for (unsigned j = 0; j <= left; j++)
            all[j] += (all[j + 1] - all[j]) * (1 - j * one);
    return all[0];
}

/* The expected FPR after n keys. The approximation is 0.1% too low at n = 2k, and more accurate for
 * larger n. At n = 1 it would be off by a factor of 2, so for n < 2k the exact value is
 * computed. */
static double buffer_rate(uint64_t m, uint64_t n) {
    unsigned k = buffer_probes(m, n);
    if (n < 2 * k)
        return exact_cells_rate((double)m, n * k, k);
    return blyi_cells_rate((double)m, (double)n * k, k);
}

double bly_buffer_fpr(size_t size, uint64_t keys) {
    uint64_t m = buffer_bits(size);
    if (m == 0)
        return 1;
    return keys ? fmin(1, buffer_rate(m, keys) + blyi_hash_floor((double)keys, 64)) : 0;
}

typedef struct buffer_request {
    uint64_t keys;
    double fpr;
} buffer_request;

static double buffer_excess(void *ctx, uint64_t bytes) {
    const buffer_request *r = ctx;
    return blyi_excess(buffer_rate(bytes * 8, r->keys), r->fpr);
}

bly_status bly_buffer_size(uint64_t keys, double fpr, size_t *out) {
    bly_status status = blyi_check_request(keys, fpr, 64);
    if (status)
        return status;
    buffer_request r = {keys, fpr - blyi_hash_floor((double)keys, 64)};
    /* No Bloom filter is smaller than n log2(1/p) / ln 2 bits, and few are much larger. */
    double ln2 = log(2), steep = -log(r.fpr), least = floor((double)keys * steep / (8 * ln2 * ln2));
    uint64_t max = BLYI_MAX_BITS / 8;
    if (!(least < (double)max))
        return BLY_ETOOBIG;
    blyi_size_search s = {buffer_excess, &r, (uint64_t)least, (uint64_t)least + 1, max, steep};
    uint64_t bytes = blyi_smallest_size(&s);
    if (bytes == 0 || bytes >= SIZE_MAX)
        return BLY_ETOOBIG;
    *out = (size_t)bytes + 1;
    return BLY_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

/* Clears the bits of the buffer, and stores the number of probes for n keys. */
static bly_status buffer_clear(uint8_t *bytes, size_t size, size_t n) {
    uint64_t m = buffer_bits(size);
    if (m == 0)
        return size < BLY_BUFFER_MIN_SIZE ? BLY_EGEOMETRY : BLY_ETOOBIG;
    memset(bytes, 0, size - 1);
    bytes[size - 1] = (uint8_t)buffer_probes(m, n);
    return BLY_OK;
}

static void buffer_add_hashes(uint8_t *bytes, size_t size, const bly_hash *hashes, size_t n) {
    const uint64_t m = buffer_bits(size);
    const unsigned k = bytes[size - 1];
    for (size_t i = 0; i < n; i++) {
        blyi_probe_sequence w = blyi_probe_sequence_begin(hashes[i]);
        for (unsigned j = 0; j < k; j++) {
            uint64_t at = blyi_probe_sequence_next(&w, m);
            bytes[at >> 3] |= (uint8_t)(1u << (at & 7));
        }
    }
}

bly_status bly_buffer_build_hashes(void *buf, size_t size, const bly_hash *hashes, size_t n) {
    bly_status status = buffer_clear(buf, size, n);
    if (status == BLY_OK)
        buffer_add_hashes(buf, size, hashes, n);
    return status;
}

/* Hashes a key by the default function, xxh3, with seed 0. */
static inline bly_hash buffer_hash(bly_bytes key) {
    return blyi_hash_from_strong64(blyi_xxh3(&blyi_xxh3_seed0, key.data, key.size));
}

/* Hashes up to BUFFER_GROUP of n keys. Returns how many. */
static inline size_t buffer_hash_group(const bly_bytes *keys, size_t n, bly_hash *out) {
    size_t some = n < BUFFER_GROUP ? n : BUFFER_GROUP;
    for (size_t i = 0; i < some; i++)
        out[i] = buffer_hash(keys[i]);
    return some;
}

bly_status bly_buffer_build(void *buf, size_t size, const bly_bytes *keys, size_t n) {
    bly_hash group[BUFFER_GROUP];
    bly_status status = buffer_clear(buf, size, n);
    for (size_t at = 0, some; status == BLY_OK && at < n; at += some) {
        some = buffer_hash_group(keys + at, n - at, group);
        buffer_add_hashes(buf, size, group, some);
    }
    return status;
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* A buffer's bits, their number m, and the number k of bits that a lookup tests. If the size is
 * invalid or the layout is unknown, k is 0, so that the answer is always "maybe". */
typedef struct buffer_view {
    const uint8_t *bits;
    uint64_t m;
    unsigned k;
} buffer_view;

static inline buffer_view buffer_open(const void *buf, size_t size) {
    buffer_view v = {buf, buffer_bits(size), 0};
    if (v.m > 0 && v.bits[size - 1] <= BLY_BUFFER_MAX_PROBES)
        v.k = v.bits[size - 1];
    return v;
}

static inline bool buffer_probe_hits(buffer_view v, blyi_probe_sequence *w) {
    uint64_t at = blyi_probe_sequence_next(w, v.m);
    return v.bits[at >> 3] >> (at & 7) & 1;
}

/* Tests two bits per branch. When half of the bits are set, a branch per bit is unpredictable for
 * non-members, and a misprediction costs more than the second bit: 11 ns per lookup instead of 7
 * (Zen 4, 1,000 keys at 1%). */
static inline bool buffer_view_contains(buffer_view v, bly_hash hash) {
    blyi_probe_sequence w = blyi_probe_sequence_begin(hash);
    for (; v.k >= 2; v.k -= 2) {
        unsigned first = buffer_probe_hits(v, &w), second = buffer_probe_hits(v, &w);
        if (!(first & second))
            return false;
    }
    return v.k == 0 || buffer_probe_hits(v, &w);
}

static inline size_t buffer_view_contains_hashes(buffer_view v, const bly_hash *hashes, size_t n,
                                                 uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = buffer_view_contains(v, hashes[i]);
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

bool bly_buffer_contains_hash(const void *buf, size_t size, bly_hash hash) {
    return buffer_view_contains(buffer_open(buf, size), hash);
}

bool bly_buffer_contains(const void *buf, size_t size, const void *key, size_t len) {
    return buffer_view_contains(buffer_open(buf, size), buffer_hash((bly_bytes){key, len}));
}

size_t bly_buffer_contains_hashes(const void *buf, size_t size, const bly_hash *hashes, size_t n,
                                  uint8_t *found) {
    return buffer_view_contains_hashes(buffer_open(buf, size), hashes, n, found);
}

size_t bly_buffer_contains_many(const void *buf, size_t size, const bly_bytes *keys, size_t n,
                                uint8_t *found) {
    const buffer_view v = buffer_open(buf, size);
    bly_hash group[BUFFER_GROUP];
    size_t hits = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = buffer_hash_group(keys + at, n - at, group);
        hits += buffer_view_contains_hashes(v, group, some, found ? found + at : NULL);
    }
    return hits;
}
