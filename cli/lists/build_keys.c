/* build_keys.c - an array of hashes, sorted in place.
 *
 * The sort is McIlroy, Bostic and McIlroy's "American flag" (1993): count how many hashes have each
 * value of a byte, then move every hash to its value's place by following the cycles, then do the
 * same with the next byte of each value. It needs no second array, so a list takes 16 bytes per key
 * and no more; and hashes are spread so evenly that a few bytes decide.
 */
#include "build_keys.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES = 256, BYTES = 16, FEW = 32 };

/* ---- sorting --------------------------------------------------------------------------------- */

static bool less(bly_hash a, bly_hash b) {
    return a.lo != b.lo ? a.lo < b.lo : a.hi < b.hi;
}

static bool same(bly_hash a, bly_hash b) {
    return a.lo == b.lo && a.hi == b.hi;
}

/* Byte 0 is the one that decides first. */
static unsigned byte_of(bly_hash h, unsigned byte) {
    uint64_t word = byte < 8 ? h.lo : h.hi;
    return word >> (56 - 8 * (byte % 8)) & 0xFF;
}

static void sort_few(bly_hash *at, size_t n) {
    for (size_t i = 1; i < n; i++) {
        bly_hash h = at[i];
        size_t j = i;
        for (; j > 0 && less(h, at[j - 1]); j--)
            at[j] = at[j - 1];
        at[j] = h;
    }
}

static void sort(bly_hash *at, size_t n, unsigned byte) {
    size_t next[VALUES] = {0}, end[VALUES], sum = 0;
    if (n <= FEW || byte == BYTES) {
        sort_few(at, byte == BYTES ? 0 : n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        next[byte_of(at[i], byte)]++;
    for (unsigned v = 0; v < VALUES; v++) {
        size_t count = next[v];
        next[v] = sum;
        end[v] = sum += count;
    }
    for (unsigned v = 0; v < VALUES; v++) {
        while (next[v] < end[v]) {
            bly_hash h = at[next[v]];
            for (unsigned to; (to = byte_of(h, byte)) != v;) {
                bly_hash other = at[next[to]];
                at[next[to]++] = h;
                h = other;
            }
            at[next[v]++] = h;
        }
    }
    for (unsigned v = 0; v < VALUES; v++) {
        size_t begin = v ? end[v - 1] : 0;
        sort(at + begin, end[v] - begin, byte + 1);
    }
}

size_t build_keys_settle(build_keys *k) {
    const size_t all = k->count;
    size_t kept = 0;
    k->distinct = 0;
    sort(k->hashes, k->count, 0);
    for (size_t i = 0; i < all; i++) {
        const bool fresh = kept == 0 || !same(k->hashes[kept - 1], k->hashes[i]);
        k->distinct += fresh;
        if (fresh || k->copies)
            k->hashes[kept++] = k->hashes[i];
    }
    k->count = kept;
    return all - k->distinct;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Room for `more` things of `size` bytes, of which `used` are there. */
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

bool build_blob_put(build_blob *b, bly_bytes string) {
    uint32_t size = (uint32_t)string.size;
    void *data = b->data;
    if (!grow(&data, &b->room, b->used, sizeof size + string.size, 1))
        return false;
    b->data = data;
    memcpy(b->data + b->used, &size, sizeof size);
    memcpy(b->data + b->used + sizeof size, string.data, string.size);
    b->used += sizeof size + string.size;
    return true;
}

bool build_blob_next(const build_blob *b, size_t *at, bly_bytes *out) {
    uint32_t size;
    if (*at == b->used)
        return false;
    memcpy(&size, b->data + *at, sizeof size);
    *out = (bly_bytes){b->data + *at + sizeof size, size};
    *at += sizeof size + size;
    return true;
}

void build_blob_free(build_blob *b) {
    free(b->data);
    *b = (build_blob){0};
}

bool build_keys_add(build_keys *k, bly_bytes key, bly_hash hash) {
    void *hashes = k->hashes;
    if (!grow(&hashes, &k->room, k->count, 1, sizeof hash))
        return false;
    k->hashes = hashes;
    if (k->keep && !build_blob_put(&k->kept, key))
        return false;
    k->hashes[k->count++] = hash;
    return true;
}

/* ---- asking ---------------------------------------------------------------------------------- */

bool build_keys_have(const build_keys *k, bly_hash hash) {
    size_t low = 0, high = k->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (less(k->hashes[middle], hash))
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->count && same(k->hashes[low], hash);
}

bool build_keys_hold(const build_keys *k, bly_bytes key) {
    size_t at = 0;
    for (bly_bytes other; build_blob_next(&k->kept, &at, &other);)
        if (other.size == key.size && memcmp(other.data, key.data, key.size) == 0)
            return true;
    return false;
}

void build_keys_rehash(build_keys *k, const bly_hasher *hasher) {
    size_t at = 0;
    k->count = 0; /* there was room for all of them before repeats were dropped */
    for (bly_bytes key; build_blob_next(&k->kept, &at, &key);)
        k->hashes[k->count++] = bly_hash_key(hasher, key.data, key.size);
    (void)build_keys_settle(k);
}

void build_keys_free(build_keys *k) {
    free(k->hashes);
    build_blob_free(&k->kept);
    *k = (build_keys){.keep = k->keep, .copies = k->copies};
}
