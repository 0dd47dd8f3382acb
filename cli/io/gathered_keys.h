/* build_keys.h - the keys of a list that is being built: 16 bytes of hash each and, where they will
 * be needed again, the keys themselves. */
#ifndef BLOOMERY_CLI_BUILD_KEYS_H
#define BLOOMERY_CLI_BUILD_KEYS_H

#include <bloomery/bloomery.h>

/* Byte strings one after the other, each behind its length in four bytes. Begins zeroed. */
typedef struct build_blob {
    char *data;
    size_t used, room;
} build_blob;

/* false: out of memory. The string is shorter than 2^32 bytes. */
bool build_blob_put(build_blob *b, bly_bytes string);
/* The string at *at (first 0), which moves to the next; false past the last. */
bool build_blob_next(const build_blob *b, size_t *at, bly_bytes *out);
void build_blob_free(build_blob *b);

/* Begins zeroed, but for `keep` and `copies`. */
typedef struct build_keys {
    bool keep;   /* the keys too, for build_keys_rehash and build_keys_hold */
    bool copies; /* a key that is there several times stays so */
    bly_hash *hashes;
    size_t count, room;
    size_t distinct; /* after settling: how many of them differ; all, unless there are copies */
    build_blob kept;
} build_keys;

/* false: out of memory. A key is shorter than 2^32 bytes. */
bool build_keys_add(build_keys *k, bly_bytes key, bly_hash hash);

/* Sorts the hashes and, unless copies are wanted, drops those that are there twice; returns how
 * many such there were. */
size_t build_keys_settle(build_keys *k);

/* After settling: whether a key with this hash is there; and whether it is this key. */
bool build_keys_have(const build_keys *k, bly_hash hash);
bool build_keys_hold(const build_keys *k, bly_bytes key);

/* All kept keys again, under another hasher, and settled. */
void build_keys_rehash(build_keys *k, const bly_hasher *hasher);

void build_keys_free(build_keys *k);

#endif
