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

static inline void fetch(const blyi_field *field, blyi_spot s) {
    __builtin_prefetch(field->at + (s.block << field->shift));
}

static void locate_xxh3(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                        const blyi_field *field, blyi_spot *out) {
    (void)hasher;
    const blyi_field to =
        *field; /* in registers: `out` might alias it for all the compiler knows */
    for (size_t i = 0; i < n; i++) {
        bly_hash h = blyi_hash_from_strong64(XXH3_64bits(keys[i].data, keys[i].size));
        out[i] = blyi_spot_of(&to, h);
        fetch(&to, out[i]);
    }
}

static void locate_xxh3_seeded(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                               const blyi_field *field, blyi_spot *out) {
    const blyi_field to = *field;
    const uint64_t seed = hasher->seed;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = XXH3_64bits_withSeed(keys[i].data, keys[i].size, seed);
        out[i] = blyi_spot_of(&to, blyi_hash_from_strong64(h));
        fetch(&to, out[i]);
    }
}

static void locate_any(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                       const blyi_field *field, blyi_spot *out) {
    enum { SOME = 8 };
    bly_hash h[SOME];
    for (size_t done = 0; done < n; done += SOME) {
        size_t some = n - done < SOME ? n - done : SOME;
        hasher->many(hasher, keys + done, some, h);
        for (size_t i = 0; i < some; i++) {
            out[done + i] = blyi_spot_of(field, h[i]);
            fetch(field, out[done + i]);
        }
    }
}

blyi_locate_fn *blyi_locate_for(const bly_hasher *hasher) {
    if (hasher->id != BLY_HASH_XXH3)
        return locate_any;
    return hasher->seed == 0 ? locate_xxh3 : locate_xxh3_seeded;
}
