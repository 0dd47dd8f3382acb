/* gathered_keys.h - the keys of a list that is being built: 16 bytes of hash each and, where they
 * will be needed again, the keys themselves. */
#ifndef BLOOMERY_CLI_GATHERED_KEYS_H
#define BLOOMERY_CLI_GATHERED_KEYS_H

#include <bloomery/bloomery.h>

/* Byte strings one after the other, each behind its length in four bytes. Begins zeroed. */
typedef struct byte_strings {
    char *data;
    size_t used, room;
} byte_strings;

/* false: out of memory. The string is shorter than 2^32 bytes. */
bool byte_strings_put(byte_strings *b, bly_bytes string);
/* The string at *at (first 0), which moves to the next; false past the last. */
bool byte_strings_next(const byte_strings *b, size_t *at, bly_bytes *out);
void byte_strings_free(byte_strings *b);

/* Begins zeroed, but for `keep` and `copies`. */
typedef struct gathered_keys {
    bool keep;   /* the keys too, for gathered_keys_rehash and gathered_keys_hold */
    bool copies; /* a key that is there several times stays so */
    bly_hash *hashes;
    size_t count, room;
    size_t distinct; /* after settling: how many of them differ; all, unless there are copies */
    byte_strings kept;
} gathered_keys;

/* false: out of memory. A key is shorter than 2^32 bytes. */
bool gathered_keys_add(gathered_keys *k, bly_bytes key, bly_hash hash);

/* Sorts the hashes and, unless copies are wanted, drops those that are there twice; returns how
 * many such there were. */
size_t gathered_keys_settle(gathered_keys *k);

/* After settling: whether a key with this hash is there; and whether it is this key. */
bool gathered_keys_have(const gathered_keys *k, bly_hash hash);
bool gathered_keys_hold(const gathered_keys *k, bly_bytes key);

/* All kept keys again, under another hasher, and settled. */
void gathered_keys_rehash(gathered_keys *k, const bly_hasher *hasher);

void gathered_keys_free(gathered_keys *k);

#endif
