/* little_endian.h - loads and stores little-endian words at any address.
 *
 * Everything Bloomery hashes or stores is little-endian, whatever the host. Words are assembled
 * from bytes by shifts, without a loop. gcc and clang compile this form to one load or store (with
 * a byte swap on a big-endian host), so no #if is needed.
 */
#ifndef BLYI_BASE_LITTLE_ENDIAN_H
#define BLYI_BASE_LITTLE_ENDIAN_H

#include <stdint.h>
#include <string.h>

static inline uint32_t blyi_load32le(const void *from) {
    uint8_t b[4];
    memcpy(b, from, sizeof b);
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t blyi_load64le(const void *from) {
    uint8_t b[8];
    memcpy(b, from, sizeof b);
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
           (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
           (uint64_t)b[7] << 56;
}

static inline void blyi_store32le(void *to, uint32_t value) {
    uint8_t *b = to;
    b[0] = (uint8_t)value;
    b[1] = (uint8_t)(value >> 8);
    b[2] = (uint8_t)(value >> 16);
    b[3] = (uint8_t)(value >> 24);
}

static inline void blyi_store64le(void *to, uint64_t value) {
    uint8_t *b = to;
    b[0] = (uint8_t)value;
    b[1] = (uint8_t)(value >> 8);
    b[2] = (uint8_t)(value >> 16);
    b[3] = (uint8_t)(value >> 24);
    b[4] = (uint8_t)(value >> 32);
    b[5] = (uint8_t)(value >> 40);
    b[6] = (uint8_t)(value >> 48);
    b[7] = (uint8_t)(value >> 56);
}

#endif
