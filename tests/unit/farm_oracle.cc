/* farm_oracle.cc - what Debian's libfarmhash says, for test_hash.c.
 *
 * Fingerprint64 is FarmHash's promise of one answer everywhere, and is farmhashna::Hash64; the
 * package's Hash64 is no oracle, since it changes with the CPU and with debug builds. The seeded
 * form is not exported, but is a composition of exported parts. */
#include <farmhash.h>

extern "C" uint64_t blyt_farm64(const void *key, size_t len, uint64_t seed) {
    const uint64_t k2 = 0x9ae16a3b2f90404fULL;
    uint64_t hash = util::Fingerprint64(static_cast<const char *>(key), len);
    return seed == 0 ? hash : util::Hash128to64(util::Uint128(hash - k2, seed));
}
