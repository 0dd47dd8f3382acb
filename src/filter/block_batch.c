/* Batches for the kinds whose keys have one block each: hash, locate, prefetch, probe.
 *
 * With a large filter, the time is spent waiting for one random cache line per key, but a core can
 * load dozens of lines at once (base/bits.h). So keys move through a window, a ring of block
 * probes. The oldest probe, whose block has arrived by now, is tested, and is replaced by the probe
 * of the next key, whose block is prefetched. In contrast to "hash 32, then test 32", the window is
 * never empty, and loads are evenly spaced: bursts would overflow the queue of outstanding misses.
 *
 * In a filter that fits into the cache, most of the work is hashing, which takes more than half of
 * the loop's instructions. So kinds that have a kernel which hashes and tests in one loop
 * (simd/hash_probe.h) process the whole window at once, if the filter's hash is xxh3, the default.
 * Otherwise the window is processed in groups of keys: one call tests a group, another locates the
 * blocks of the next group.
 */
#include "filter/batch.h"
#include "hash/mix.h"
#include "hash/xxh3.h"

#define INLINE static inline __attribute__((always_inline))

/* How hashes are computed: by the inlined xxh3, or by any hasher. */
typedef enum source { XXH3, ANY } source;

/* Locates the blocks of n keys, n <= BLYI_BATCH_WINDOW, and starts loading them. */
INLINE void locate_blocks(const bly_filter *f, const bly_filter *writer, const bly_bytes *keys,
                          size_t n, blyi_block_probe *out, source from) {
    const uint8_t *body = f->body;
    const uint64_t blocks = f->geometry.size;
    const unsigned shift = f->ops->block_shift;
    const bool shared = writer && writer->sharing != BLY_EXCLUSIVE;
    bly_hash hashes[BLYI_BATCH_WINDOW];
    if (from == ANY)
        f->hasher.many(&f->hasher, keys, n, hashes);
    for (size_t i = 0; i < n; i++) {
        bly_hash h = hashes[i];
        if (from == XXH3)
            h = blyi_hash_from_strong64(blyi_xxh3(&f->secret, keys[i].data, keys[i].size));
        blyi_block_probe s = blyi_block_probe_of(h, blocks, shift);
        blyi_prefetch(body + s.at, shared);
        out[i] = s;
    }
}

/* Adds n block probes to `writer`, or looks them up in `f` if writer is NULL. */
INLINE size_t probe_blocks(const bly_filter *f, bly_filter *writer, const blyi_block_probe *s,
                           size_t n, uint8_t *out) {
    unsigned k = f->geometry.hashes;
    return writer ? f->add_blocks(writer->body, s, n, k, out)
                  : f->contains_blocks(f->body, s, n, k, out);
}

/* Returns the number of ones among n <= BLYI_BATCH_WINDOW bytes, each of which is 0 or 1. */
static size_t count_ones(const uint8_t *bytes, size_t n) {
    uint64_t sums = 0, word;
    size_t i = 0, rest = 0;
    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        sums += word; /* eight sums, one in each byte */
    }
    for (; i < n; i++)
        rest += bytes[i];
    return rest + (size_t)(sums * UINT64_C(0x0101010101010101) >> 56);
}

/* Returns the kernel that processes the whole window. NULL: the kind or the hash has no such
 * kernel. */
INLINE blyi_hash_probe_fn window_kernel(const bly_filter *f, const bly_filter *writer,
                                        source from) {
    if (from != XXH3)
        return NULL;
    return writer ? f->add_keys_xxh3 : f->contains_keys_xxh3;
}

/* Processes n block probes, and replaces them by the probes of keys[head] to keys[head + n - 1].
 * There are `count` keys in all. */
INLINE size_t process_window(const bly_filter *f, bly_filter *writer, const bly_bytes *keys,
                             size_t head, size_t n, size_t count, blyi_block_probe *s, uint8_t *out,
                             source from) {
    blyi_hash_probe_fn kernel = window_kernel(f, writer, from);
    if (!kernel) {
        size_t sum = probe_blocks(f, writer, s, n, out);
        locate_blocks(f, writer, keys + head, n, s, from);
        return sum;
    }
    uint8_t unseen[BLYI_BATCH_WINDOW], *to = out ? out : unseen;
    size_t ahead = count - head - n < BLYI_PREFETCH_DISTANCE ? head : head + BLYI_PREFETCH_DISTANCE;
    kernel(&f->kernel_view, keys + head, keys + ahead, n, s, to);
    return count_ones(to, n);
}

INLINE size_t batch_blocks(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                           uint8_t *out, source from) {
    blyi_block_probe ring[BLYI_BATCH_WINDOW];
    const size_t step = window_kernel(f, writer, from) ? BLYI_BATCH_WINDOW : BLYI_BATCH_GROUP;
    size_t head = blyi_min_size(n, BLYI_BATCH_WINDOW), tail = 0, sum = 0, some;
    for (size_t at = 0; at < head; at += BLYI_BATCH_GROUP)
        locate_blocks(f, writer, keys + at, blyi_min_size(head - at, BLYI_BATCH_GROUP), ring + at,
                      from);
    for (; head < n; head += some, tail += some) {
        some = blyi_min_size(n - head, step);
        sum += process_window(f, writer, keys, head, some, n, ring + tail % BLYI_BATCH_WINDOW,
                              out ? out + tail : NULL, from);
    }
    for (; tail < n; tail += some) {
        size_t at = tail % BLYI_BATCH_WINDOW;
        some = blyi_min_size(n - tail, BLYI_BATCH_WINDOW - at);
        sum += probe_blocks(f, writer, ring + at, some, out ? out + tail : NULL);
    }
    if (writer)
        blyi_filter_count_new(writer, sum, n ? ring[0].bits : 0);
    return sum;
}

static size_t batch_xxh3(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                         uint8_t *out) {
    return batch_blocks(f, writer, keys, n, out, XXH3);
}

static size_t batch_any_hash(const bly_filter *f, bly_filter *writer, const bly_bytes *keys,
                             size_t n, uint8_t *out) {
    return batch_blocks(f, writer, keys, n, out, ANY);
}

blyi_block_batch_fn *blyi_block_batch_for(const bly_hasher *hasher) {
    return hasher->id == BLY_HASH_XXH3 ? batch_xxh3 : batch_any_hash;
}

size_t blyi_blocks_contain_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    const uint64_t blocks = f->geometry.size;
    const unsigned shift = f->ops->block_shift;
    size_t hits = 0;
    for (size_t done = 0; done < n; done += BLYI_BATCH_GROUP) {
        size_t some = blyi_min_size(n - done, BLYI_BATCH_GROUP);
        blyi_block_probe probes[BLYI_BATCH_GROUP];
        for (size_t i = 0; i < some; i++)
            probes[i] = blyi_block_probe_of(h[done + i], blocks, shift);
        hits += f->contains_blocks(f->body, probes, some, f->geometry.hashes,
                                   found ? found + done : NULL);
    }
    return hits;
}
