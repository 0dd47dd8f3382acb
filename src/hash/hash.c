/* The registry of hash functions, by id and by name, and the hashers made from it.
 *
 * The table is the whole registry. The index of a row is the id stored in files, so rows are added,
 * but never moved or removed. The functions themselves are in hash_*.c.
 */
#include <bloomery/hash.h>

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/little_endian.h"
#include "hash/hash_algo.h"

typedef struct hash_row {
    const char *name;
    const blyi_hash_algo *algo;
    uint16_t bits;
    bool keyed;
} hash_row;

static const hash_row hash_table[] = {
    [BLY_HASH_XXH3] = {"xxh3", &blyi_algo_xxh3, 64, false},
    [BLY_HASH_XXH3_128] = {"xxh3-128", &blyi_algo_xxh3_128, 128, false},
    [BLY_HASH_XXH64] = {"xxh64", &blyi_algo_xxh64, 64, false},
    [BLY_HASH_MURMUR3] = {"murmur3", &blyi_algo_murmur3, 128, false},
    [BLY_HASH_MURMUR64A] = {"murmur64a", &blyi_algo_murmur64a, 64, false},
    [BLY_HASH_FNV1] = {"fnv1", &blyi_algo_fnv1, 64, false},
    [BLY_HASH_FNV1A] = {"fnv1a", &blyi_algo_fnv1a, 64, false},
    [BLY_HASH_FNV1_32] = {"fnv1-32", &blyi_algo_fnv1_32, 32, false},
    [BLY_HASH_FNV1A_32] = {"fnv1a-32", &blyi_algo_fnv1a_32, 32, false},
    [BLY_HASH_CRC64] = {"crc64", &blyi_algo_crc64, 64, false},
    [BLY_HASH_CITY64] = {"city64", &blyi_algo_city64, 64, false},
    [BLY_HASH_FARM64] = {"farm64", &blyi_algo_farm64, 64, false},
    [BLY_HASH_MD5] = {"md5", &blyi_algo_md5, 128, false},
    [BLY_HASH_SHA1] = {"sha1", &blyi_algo_sha1, 128, false},
    [BLY_HASH_SIPHASH] = {"siphash", &blyi_algo_siphash, 128, true},
};

enum { HASH_ROWS = sizeof hash_table / sizeof hash_table[0] };

/* Returns NULL for BLY_HASH_NONE, for the custom ids, and for ids that only newer versions have. */
static const hash_row *hash_find(bly_hash_id id) {
    size_t i = (size_t)id;
    return i < HASH_ROWS && hash_table[i].name ? &hash_table[i] : NULL;
}

const char *bly_hash_name(bly_hash_id id) {
    if (id == BLY_HASH_CUSTOM)
        return "custom";
    if (id == BLY_HASH_CUSTOM_RAW)
        return "custom-raw";
    const hash_row *r = hash_find(id);
    return r ? r->name : NULL;
}

bly_status bly_hash_by_name(const char *name, bly_hash_id *out) {
    for (size_t i = 0; i < HASH_ROWS; i++) {
        if (hash_table[i].name && strcmp(name, hash_table[i].name) == 0) {
            *out = (bly_hash_id)i;
            return BLY_OK;
        }
    }
    return BLY_EHASHER;
}

bool bly_hash_available(bly_hash_id id) {
    const hash_row *r = hash_find(id);
    return r && r->algo->many;
}

unsigned bly_hash_bits(bly_hash_id id) {
    const hash_row *r = hash_find(id);
    return r ? r->bits : 0;
}

static bly_hash hash_one_of_many(const bly_hasher *self, const void *key, size_t len) {
    bly_hash hash;
    self->many(self, &(bly_bytes){key, len}, 1, &hash);
    return hash;
}

/* Returns a hasher for a row whose function is in this build. The caller adds the seed or key. */
static bly_hasher hasher_from_row(const hash_row *r) {
    return (bly_hasher){
        .one = r->algo->one ? r->algo->one : hash_one_of_many,
        .many = r->algo->many,
        .id = (uint16_t)(r - hash_table),
        .bits = r->bits,
    };
}

bly_status bly_hasher_init(bly_hasher *out, bly_hash_id id, uint64_t seed) {
    const hash_row *r = hash_find(id);
    if (!r || !r->algo->many || r->keyed)
        return BLY_EHASHER;
    *out = hasher_from_row(r);
    out->seed = seed;
    return BLY_OK;
}

bly_status bly_hasher_keyed(bly_hasher *out, const uint8_t key[16]) {
    const hash_row *r = hash_find(BLY_HASH_SIPHASH);
    if (!r->algo->many)
        return BLY_EHASHER;
    bly_hasher made = hasher_from_row(r);
    memcpy(made.key, key, sizeof made.key);
    /* Files identify the key by its key id, which does not reveal it: hash the two bytes "id" with
     * the key, and take the first word. */
    uint8_t digest[20];
    r->algo->digest(&made, "id", 2, digest);
    made.seed = blyi_load64le(digest);
    *out = made;
    return BLY_OK;
}

/* getentropy asks the kernel, blocks until its random generator has been seeded, and needs no file
 * descriptor. glibc, musl, the BSDs, macOS and Emscripten all have it, in one of two headers. */
bly_status bly_random_key(uint8_t key[16]) {
    uint8_t fresh[16];
    if (getentropy(fresh, sizeof fresh) != 0)
        return BLY_EIO;
    memcpy(key, fresh, sizeof fresh);
    return BLY_OK;
}

bly_status bly_hasher_default(bly_hasher *out, uint64_t keys, double fpr, uint64_t seed) {
    if (keys == 0)
        return BLY_ECOUNT;
    /* Written so that NaN fails. */
    if (!(fpr >= 0x1p-40 && fpr < 1))
        return BLY_ERATE;
    /* A 64-bit hash is enough if the rate of its own collisions, keys / 2^64, is at most a tenth of
     * the requested rate. */
    bool enough = (double)keys * 0x1p-64 <= fpr / 10;
    return bly_hasher_init(out, enough ? BLY_HASH_XXH3 : BLY_HASH_XXH3_128, seed);
}

bly_hash bly_hash_key(const bly_hasher *hasher, const void *key, size_t len) {
    return hasher->one(hasher, key, len);
}

void bly_hash_keys(const bly_hasher *hasher, const bly_bytes *keys, size_t n, bly_hash *out) {
    hasher->many(hasher, keys, n, out);
}

size_t bly_hash_digest(const bly_hasher *hasher, const void *key, size_t len, uint8_t out[20]) {
    const hash_row *r = hash_find((bly_hash_id)hasher->id);
    return r && hasher->many && r->algo->digest ? r->algo->digest(hasher, key, len, out) : 0;
}
