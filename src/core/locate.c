/* Hash, locate, fetch.
 *
 * In a filter that fits the cache a batched query is a hash benchmark: nine tenths of its
 * instructions hash. Calling the hasher for a group of keys, storing 16-byte hashes and reading
 * them back costs a third more than computing the spot while the hash is in registers. So the
 * default hash gets a loop of its own; every other one takes the general route to the same
 * spots. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "locate.h"
#include "mix.h"

static inline blyi_spot fetch(const blyi_field *field, bly_hash h) {
    blyi_spot s = blyi_spot_of(field, h);
    __builtin_prefetch(field->at + s.at);
    return s;
}

/* Always with a constant shift, and `seeded` too: each caller is a loop of its own. */
static inline __attribute__((always_inline)) void
locate_xxh3(const bly_hasher *hasher, const bly_bytes *keys, size_t n, const blyi_field *field,
            blyi_spot *out, unsigned shift, bool seeded) {
    const blyi_field to = {field->at, field->blocks, shift};
    const uint64_t seed = hasher->seed;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = seeded ? XXH3_64bits_withSeed(keys[i].data, keys[i].size, seed)
                            : XXH3_64bits(keys[i].data, keys[i].size);
        out[i] = fetch(&to, blyi_hash_from_strong64(h));
    }
}

static void locate_32(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                      const blyi_field *field, blyi_spot *out) {
    locate_xxh3(hasher, keys, n, field, out, 5, false);
}

static void locate_64(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                      const blyi_field *field, blyi_spot *out) {
    locate_xxh3(hasher, keys, n, field, out, 6, false);
}

static void locate_32_seeded(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                             const blyi_field *field, blyi_spot *out) {
    locate_xxh3(hasher, keys, n, field, out, 5, true);
}

static void locate_64_seeded(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                             const blyi_field *field, blyi_spot *out) {
    locate_xxh3(hasher, keys, n, field, out, 6, true);
}

static void locate_any(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                       const blyi_field *field, blyi_spot *out) {
    enum { SOME = 8 };
    bly_hash h[SOME];
    for (size_t done = 0; done < n; done += SOME) {
        size_t some = n - done < SOME ? n - done : SOME;
        hasher->many(hasher, keys + done, some, h);
        for (size_t i = 0; i < some; i++)
            out[done + i] = fetch(field, h[i]);
    }
}

blyi_locate_fn *blyi_locate_for(const bly_hasher *hasher, unsigned shift) {
    if (hasher->id != BLY_HASH_XXH3)
        return locate_any;
    if (hasher->seed == 0)
        return shift == 5 ? locate_32 : locate_64;
    return shift == 5 ? locate_32_seeded : locate_64_seeded;
}
