/* gathered_keys.h - collects the keys of a list that is being built: a 16-byte hash for each, and
 * the keys themselves if they are needed again. */
#ifndef BLOOMERY_CLI_GATHERED_KEYS_H
#define BLOOMERY_CLI_GATHERED_KEYS_H

#include <bloomery/bloomery.h>

/* Byte strings in one buffer, each after its length in four bytes. Must be zeroed at first. */
typedef struct byte_strings {
    char *data;
    size_t used, room;
} byte_strings;

/* Appends a string, which is shorter than 2^32 bytes. Returns false if memory runs out. */
bool byte_strings_put(byte_strings *b, bly_bytes string);
/* Gets the string at *at (0 for the first), and moves *at to the next one. Returns false at the
 * end. */
bool byte_strings_next(const byte_strings *b, size_t *at, bly_bytes *out);
void byte_strings_free(byte_strings *b);

/* Must be zeroed at first, except `keep` and `copies`. */
typedef struct gathered_keys {
    bool keep;   /* keep the keys too, for gathered_keys_rehash and gathered_keys_contain */
    bool copies; /* keep the hashes of repeated keys */
    bly_hash *hashes;
    size_t count, room;
    size_t distinct;   /* after settling: how many of them are different */
    byte_strings keys; /* if `keep` */
} gathered_keys;

/* Adds a key, which is shorter than 2^32 bytes. Returns false if memory runs out. */
bool gathered_keys_add(gathered_keys *k, bly_bytes key, bly_hash hash);

/* Sorts the hashes and, unless copies are wanted, drops repeats. Returns the number of repeats. */
size_t gathered_keys_settle(gathered_keys *k);

/* After settling: whether a gathered key has this hash. */
bool gathered_keys_contain_hash(const gathered_keys *k, bly_hash hash);
/* With `keep`: whether this key was gathered. Searches all keys. */
bool gathered_keys_contain(const gathered_keys *k, bly_bytes key);

/* Hashes all keys again with another hasher, and settles them. */
void gathered_keys_rehash(gathered_keys *k, const bly_hasher *hasher);

void gathered_keys_free(gathered_keys *k);

#endif
