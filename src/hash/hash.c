/* hash.c - the hash functions by id and by name, and the hashers made of them.
 *
 * The table is the whole registry. Its index is the id stored in files: rows are only ever added.
 * The functions themselves are in hash_*.c.
 */
#include <bloomery/hash.h>

#include <string.h>

#include "base/bytes.h"
#include "hash/hash_algo.h"

typedef struct row {
    const char *name;
    const blyi_hash_algo *algo;
    uint16_t bits;
    bool keyed;
} row;

static const row table[] = {
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

enum { TABLE_ROWS = sizeof table / sizeof table[0] };

/* NULL for NONE, CUSTOM and anything a newer version may have added. */
static const row *find(bly_hash_id id) {
    size_t i = (size_t)id;
    return i < TABLE_ROWS && table[i].name ? &table[i] : NULL;
}

const char *bly_hash_name(bly_hash_id id) {
    if (id == BLY_HASH_CUSTOM)
        return "custom";
    const row *r = find(id);
    return r ? r->name : NULL;
}

bly_status bly_hash_by_name(const char *name, bly_hash_id *out) {
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        if (table[i].name && strcmp(name, table[i].name) == 0) {
            *out = (bly_hash_id)i;
            return BLY_OK;
        }
    }
    return BLY_EHASHER;
}

bool bly_hash_available(bly_hash_id id) {
    const row *r = find(id);
    return r && r->algo->many;
}

unsigned bly_hash_bits(bly_hash_id id) {
    const row *r = find(id);
    return r ? r->bits : 0;
}

static bly_hash one_of_many(const bly_hasher *self, const void *key, size_t len) {
    bly_hash hash;
    self->many(self, &(bly_bytes){key, len}, 1, &hash);
    return hash;
}

/* A hasher of a row that has its function; the seed or key is the caller's to add. */
static bly_hasher from_row(const row *r) {
    return (bly_hasher){
        .one = r->algo->one ? r->algo->one : one_of_many,
        .many = r->algo->many,
        .id = (uint16_t)(r - table),
        .bits = r->bits,
    };
}

bly_status bly_hasher_init(bly_hasher *out, bly_hash_id id, uint64_t seed) {
    const row *r = find(id);
    if (!r || !r->algo->many || r->keyed)
        return BLY_EHASHER;
    *out = from_row(r);
    out->seed = seed;
    return BLY_OK;
}

bly_status bly_hasher_keyed(bly_hasher *out, const uint8_t key[16]) {
    const row *r = find(BLY_HASH_SIPHASH);
    if (!r->algo->many)
        return BLY_EHASHER;
    bly_hasher made = from_row(r);
    memcpy(made.key, key, sizeof made.key);
    /* The key id lets a file name the key it was made with without giving it away: the first word
     * of the hash, under the key, of the two bytes "id", which tells nothing else about the key. */
    uint8_t digest[20];
    r->algo->digest(&made, "id", 2, digest);
    made.seed = blyi_load64le(digest);
    *out = made;
    return BLY_OK;
}

static bly_hash custom_one(const bly_hasher *self, const void *key, size_t len) {
    return self->custom(self->user, key, len);
}

static void custom_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    for (size_t i = 0; i < n; i++)
        out[i] = self->custom(self->user, keys[i].data, keys[i].size);
}

bly_status bly_hasher_custom(bly_hasher *out, bly_hash_fn fn, void *user, unsigned bits,
                             uint64_t tag) {
    if (!fn || bits < 32 || bits > 128)
        return BLY_EINVAL;
    *out = (bly_hasher){.one = custom_one,
                        .many = custom_many,
                        .custom = fn,
                        .user = user,
                        .seed = tag,
                        .id = BLY_HASH_CUSTOM,
                        .bits = (uint16_t)bits};
    return BLY_OK;
}

bly_status bly_hasher_default(bly_hasher *out, uint64_t keys, double fpr, uint64_t seed) {
    if (keys == 0)
        return BLY_ECOUNT;
    /* Written so that a NaN fails. */
    if (!(fpr >= 0x1p-40 && fpr < 1))
        return BLY_ERATE;
    /* Collisions of the hash itself, keys / 2^64, may cost a tenth of the rate, no more. */
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
    const row *r = find((bly_hash_id)hasher->id);
    return r && hasher->many && r->algo->digest ? r->algo->digest(hasher, key, len, out) : 0;
}
