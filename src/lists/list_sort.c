/* list_sort.c - sorts hashes of keys in place.
 *
 * The sort is McIlroy, Bostic and McIlroy's "American flag" (1993): count how many hashes have each
 * value of a byte, then move every hash to the range of its value by following the cycles, then
 * sort each range by the next byte. It needs no second array, so a list takes only 16 bytes per
 * key. Hashes are spread evenly, so the first few bytes usually decide.
 */
#include <bloomery/host/lists.h>

enum { SORT_VALUES = 256, SORT_BYTES = 16, SORT_FEW = 32 };

static bool hash_is_less(bly_hash a, bly_hash b) {
    return a.lo != b.lo ? a.lo < b.lo : a.hi < b.hi;
}

/* Returns a byte of a hash. Byte 0 is the most significant one for the order. */
static unsigned hash_byte(bly_hash h, unsigned byte) {
    uint64_t word = byte < 8 ? h.lo : h.hi;
    return word >> (56 - 8 * (byte % 8)) & 0xFF;
}

static void hash_sort_few(bly_hash *at, size_t n) {
    for (size_t i = 1; i < n; i++) {
        bly_hash h = at[i];
        size_t j = i;
        for (; j > 0 && hash_is_less(h, at[j - 1]); j--)
            at[j] = at[j - 1];
        at[j] = h;
    }
}

static void hash_sort(bly_hash *at, size_t n, unsigned byte) {
    size_t next[SORT_VALUES] = {0}, end[SORT_VALUES], sum = 0;
    if (n <= SORT_FEW || byte == SORT_BYTES) {
        hash_sort_few(at, byte == SORT_BYTES ? 0 : n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        next[hash_byte(at[i], byte)]++;
    for (unsigned v = 0; v < SORT_VALUES; v++) {
        size_t count = next[v];
        next[v] = sum;
        end[v] = sum += count;
    }
    for (unsigned v = 0; v < SORT_VALUES; v++) {
        while (next[v] < end[v]) {
            bly_hash h = at[next[v]];
            for (unsigned to; (to = hash_byte(h, byte)) != v;) {
                bly_hash other = at[next[to]];
                at[next[to]++] = h;
                h = other;
            }
            at[next[v]++] = h;
        }
    }
    for (unsigned v = 0; v < SORT_VALUES; v++) {
        size_t begin = v ? end[v - 1] : 0;
        hash_sort(at + begin, end[v] - begin, byte + 1);
    }
}

size_t bly_list_sort_hashes(bly_hash *hashes, size_t *n, bool copies) {
    size_t kept = 0, distinct = 0;
    hash_sort(hashes, *n, 0);
    for (size_t i = 0; i < *n; i++) {
        const bool fresh =
            kept == 0 || hashes[kept - 1].lo != hashes[i].lo || hashes[kept - 1].hi != hashes[i].hi;
        distinct += fresh;
        if (fresh || copies)
            hashes[kept++] = hashes[i];
    }
    *n = kept;
    return distinct;
}
