/* hash_murmur.h - Murmur's older functions by themselves, with any seed: for data that others made
 * with them. Internal. */
#ifndef BLYI_CORE_HASH_MURMUR_H
#define BLYI_CORE_HASH_MURMUR_H

#include <stddef.h>
#include <stdint.h>

/* MurmurHash64A. */
uint64_t blyi_murmur64a(const void *key, size_t len, uint64_t seed);

/* MurmurHash2, 32 bits; of a length, as published, only the low 32 bits count. */
uint32_t blyi_murmur2(const void *key, size_t len, uint32_t seed);

#endif
