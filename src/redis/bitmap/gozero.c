/* The bit positions of a go-zero filter.
 *
 * The Go framework go-zero stores a Bloom filter in a Redis bitmap. Bit i of a key, i = 0 .. 13, is
 * at murmur3(key, i) mod bits, where murmur3 is the first word of MurmurHash3 x64-128 (seed 0) of
 * the key with the byte i appended, and bits are numbered as SETBIT numbers them. With 20 bits per
 * key its FPR is 6.7e-5. There is no head, so a client that uses another number of bits reads the
 * wrong bits and does not notice.
 */
#include "hash/hash_murmur.h"

#include <bloomery/redis/bitmap.h>

void bly_bitmap_gozero_offsets(uint64_t bits, const void *key, size_t len,
                               uint64_t out[BLY_BITMAP_HASHES]) {
    bly_hash h[BLY_BITMAP_HASHES];
    blyi_murmur3_numbered(key, len, BLY_BITMAP_HASHES, h);
    for (unsigned i = 0; i < BLY_BITMAP_HASHES; i++)
        out[i] = h[i].lo % bits;
}

bly_status bly_bitmap_gozero(uint64_t bits, bly_bitmap *out) {
    bly_bitmap made = {
        .form = BLY_BITMAP_GOZERO,
        .geometry = {.kind = BLY_CLASSIC, .hashes = BLY_BITMAP_HASHES, .size = bits},
        .shards = 1,
    };
    if (bits == 0)
        return BLY_EGEOMETRY;
    if (bits > (uint64_t)1 << 32)
        return BLY_ETOOBIG;
    bly_status status = bly_hasher_init(&made.hasher, BLY_HASH_MURMUR3, 0);
    if (status == BLY_OK)
        *out = made;
    return status;
}
