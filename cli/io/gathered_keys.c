/* gathered_keys.c - an array of hashes, and the keys themselves if they are needed again. */
#include "io/gathered_keys.h"

#include <bloomery/host/lists.h>

#include <stdlib.h>
#include <string.h>

size_t gathered_keys_settle(gathered_keys *k) {
    const size_t all = k->count;
    k->distinct = bly_list_sort_hashes(k->hashes, &k->count, k->copies);
    return all - k->distinct;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Makes room for `more` elements of `size` bytes after the first `used`. */
static bool grow(void **data, size_t *room, size_t used, size_t more, size_t size) {
    if (more <= *room - used)
        return true;
    if (more > SIZE_MAX / size / 2 - used)
        return false;
    size_t wanted = used + more > *room * 2 ? used + more : *room * 2;
    if (wanted > SIZE_MAX / size)
        return false;
    void *bigger = realloc(*data, wanted * size);
    if (!bigger)
        return false;
    *data = bigger;
    *room = wanted;
    return true;
}

bool byte_strings_put(byte_strings *b, bly_bytes string) {
    uint32_t size = (uint32_t)string.size;
    void *data = b->data;
    if (!grow(&data, &b->room, b->used, sizeof size + string.size, 1))
        return false;
    b->data = data;
    memcpy(b->data + b->used, &size, sizeof size);
    if (string.size > 0) /* an empty string may be NULL */
        memcpy(b->data + b->used + sizeof size, string.data, string.size);
    b->used += sizeof size + string.size;
    return true;
}

bool byte_strings_next(const byte_strings *b, size_t *at, bly_bytes *out) {
    uint32_t size;
    if (*at == b->used)
        return false;
    memcpy(&size, b->data + *at, sizeof size);
    *out = (bly_bytes){b->data + *at + sizeof size, size};
    *at += sizeof size + size;
    return true;
}

void byte_strings_free(byte_strings *b) {
    free(b->data);
    *b = (byte_strings){0};
}

bool gathered_keys_add(gathered_keys *k, bly_bytes key, bly_hash hash) {
    void *hashes = k->hashes;
    if (!grow(&hashes, &k->room, k->count, 1, sizeof hash))
        return false;
    k->hashes = hashes;
    if (k->keep && !byte_strings_put(&k->keys, key))
        return false;
    k->hashes[k->count++] = hash;
    return true;
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* In the order of bly_list_sort_hashes. */
static int compare(const void *one, const void *other) {
    const bly_hash *a = one, *b = other;
    return a->lo != b->lo ? (a->lo < b->lo ? -1 : 1) : (a->hi > b->hi) - (a->hi < b->hi);
}

bool gathered_keys_contain_hash(const gathered_keys *k, bly_hash hash) {
    return k->count > 0 && bsearch(&hash, k->hashes, k->count, sizeof hash, compare) != NULL;
}

bool gathered_keys_contain(const gathered_keys *k, bly_bytes key) {
    size_t at = 0;
    for (bly_bytes other; byte_strings_next(&k->keys, &at, &other);)
        if (other.size == key.size && memcmp(other.data, key.data, key.size) == 0)
            return true;
    return false;
}

void gathered_keys_rehash(gathered_keys *k, const bly_hasher *hasher) {
    size_t at = 0;
    k->count = 0; /* there was room for all of them before repeats were dropped */
    for (bly_bytes key; byte_strings_next(&k->keys, &at, &key);)
        k->hashes[k->count++] = bly_hash_key(hasher, key.data, key.size);
    (void)gathered_keys_settle(k);
}

void gathered_keys_free(gathered_keys *k) {
    free(k->hashes);
    byte_strings_free(&k->keys);
    *k = (gathered_keys){.keep = k->keep, .copies = k->copies};
}
