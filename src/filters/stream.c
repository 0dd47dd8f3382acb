/* Hash, locate, fetch, test.
 *
 * A large filter's time goes into waiting for one random cache line per key, and a core can have
 * about twenty such loads under way. So keys move through a window: a small group is hashed and
 * its lines requested, after the group that entered a window ago, whose lines have arrived, has
 * been tested. The window never drains, unlike "hash 32, then test 32", and small groups keep the
 * loads evenly spaced: bursts overflow the queue of outstanding misses.
 *
 * In a filter that fits the cache the same loop is a hash benchmark: more than half of its
 * instructions hash. So the default hash is compiled into it, and a group costs one call, to the
 * kernel; every other hash takes a second one, through the hasher, to the same spots.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../core/mix.h"
#include "batch.h"
#include "stream.h"

#define INLINE static inline __attribute__((always_inline))

/* Where a group's hashes come from. */
typedef enum source { XXH3_PLAIN, XXH3_SEEDED, ANY } source;

INLINE bly_hash hash_of(bly_bytes key, uint64_t seed, source from) {
    uint64_t h = from == XXH3_PLAIN ? XXH3_64bits(key.data, key.size)
                                    : XXH3_64bits_withSeed(key.data, key.size, seed);
    return blyi_hash_from_strong64(h);
}

/* Finds n spots, n <= BLYI_GROUP, and starts loading their blocks. */
INLINE void locate(const bly_filter *f, const bly_bytes *keys, size_t n, blyi_spot *out,
                   unsigned shift, source from) {
    const uint8_t *body = f->body;
    const uint64_t blocks = f->geometry.size, seed = f->hasher.seed;
    bly_hash any[BLYI_GROUP];
    if (from == ANY)
        f->hasher.many(&f->hasher, keys, n, any);
    for (size_t i = 0; i < n; i++) {
        bly_hash h = from == ANY ? any[i] : hash_of(keys[i], seed, from);
        blyi_spot s = blyi_spot_of(h, blocks, shift);
        __builtin_prefetch(body + s.at);
        out[i] = s;
    }
}

/* Adds or tests the spots of the keys from `at` on. */
INLINE size_t work(const bly_filter *f, bly_filter *writer, const blyi_spot *s, size_t n,
                   uint8_t *out, size_t at) {
    unsigned k = f->geometry.hashes;
    uint8_t *to = out ? out + at : NULL;
    return writer ? f->set(writer->body, s, n, k, to) : f->probe(f->body, s, n, k, to);
}

INLINE size_t stream(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                     uint8_t *out, unsigned shift, source from) {
    blyi_spot ring[BLYI_WINDOW];
    size_t whole = n - n % BLYI_GROUP, rest = n % BLYI_GROUP, sum = 0, tail = 0, head = 0;
    for (; head < whole && head < BLYI_WINDOW; head += BLYI_GROUP)
        locate(f, keys + head, BLYI_GROUP, ring + head, shift, from);
    for (; head < whole; head += BLYI_GROUP, tail += BLYI_GROUP) {
        blyi_spot *group = ring + tail % BLYI_WINDOW;
        sum += work(f, writer, group, BLYI_GROUP, out, tail);
        locate(f, keys + head, BLYI_GROUP, group, shift, from);
    }
    for (; tail < whole; tail += BLYI_GROUP)
        sum += work(f, writer, ring + tail % BLYI_WINDOW, BLYI_GROUP, out, tail);
    if (rest) {
        locate(f, keys + whole, rest, ring, shift, from);
        sum += work(f, writer, ring, rest, out, whole);
    }
    if (writer)
        blyi_filter_count_fresh(writer, sum, n ? ring[0].bits : 0);
    return sum;
}

static size_t plain_32(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                       uint8_t *out) {
    return stream(f, writer, keys, n, out, 5, XXH3_PLAIN);
}

static size_t plain_64(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                       uint8_t *out) {
    return stream(f, writer, keys, n, out, 6, XXH3_PLAIN);
}

static size_t seeded_32(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                        uint8_t *out) {
    return stream(f, writer, keys, n, out, 5, XXH3_SEEDED);
}

static size_t seeded_64(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                        uint8_t *out) {
    return stream(f, writer, keys, n, out, 6, XXH3_SEEDED);
}

static size_t any(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                  uint8_t *out) {
    return stream(f, writer, keys, n, out, f->ops->block_shift, ANY);
}

blyi_stream_fn *blyi_stream_for(const bly_hasher *hasher, unsigned shift) {
    if (hasher->id != BLY_HASH_XXH3)
        return any;
    if (hasher->seed == 0)
        return shift == 5 ? plain_32 : plain_64;
    return shift == 5 ? seeded_32 : seeded_64;
}

/* ---- one key ----------------------------------------------------------------------------------
 * The same in a straight line, ending in a jump to the kernel. Calls for single keys overlap only
 * as far as a processor looks ahead, a few hundred instructions, so each one saved counts: short
 * keys, whose hash needs few registers, are kept apart from those whose hash must save some. */

enum { SHORT_KEY = 16 };

INLINE bool ask(const bly_filter *f, bly_bytes key, unsigned shift, source from) {
    bly_hash h = hash_of(key, f->hasher.seed, from);
    blyi_spot s = blyi_spot_of(h, f->geometry.size, shift);
    return f->has(f->body + s.at, s.bits, f->geometry.hashes);
}

#define OUT_OF_LINE static __attribute__((noinline))

OUT_OF_LINE bool ask_long_32(const bly_filter *f, const void *key, size_t len) {
    return ask(f, (bly_bytes){key, len}, 5, XXH3_PLAIN);
}

static bool ask_plain_32(const bly_filter *f, const void *key, size_t len) {
    return len > SHORT_KEY ? ask_long_32(f, key, len)
                           : ask(f, (bly_bytes){key, len}, 5, XXH3_PLAIN);
}

OUT_OF_LINE bool ask_long_64(const bly_filter *f, const void *key, size_t len) {
    return ask(f, (bly_bytes){key, len}, 6, XXH3_PLAIN);
}

static bool ask_plain_64(const bly_filter *f, const void *key, size_t len) {
    return len > SHORT_KEY ? ask_long_64(f, key, len)
                           : ask(f, (bly_bytes){key, len}, 6, XXH3_PLAIN);
}

static bool ask_seeded_32(const bly_filter *f, const void *key, size_t len) {
    return ask(f, (bly_bytes){key, len}, 5, XXH3_SEEDED);
}

static bool ask_seeded_64(const bly_filter *f, const void *key, size_t len) {
    return ask(f, (bly_bytes){key, len}, 6, XXH3_SEEDED);
}

blyi_ask_fn *blyi_ask_for(const bly_hasher *hasher, unsigned shift) {
    if (hasher->id != BLY_HASH_XXH3 || shift == 0)
        return blyi_filter_ask;
    if (hasher->seed == 0)
        return shift == 5 ? ask_plain_32 : ask_plain_64;
    return shift == 5 ? ask_seeded_32 : ask_seeded_64;
}
