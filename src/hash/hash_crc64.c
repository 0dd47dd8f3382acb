/* CRC-64/XZ: ECMA-182's polynomial, bits reflected, start and end complemented.
 * Go calls it crc64.ECMA.
 *
 * It processes eight bytes per step by "slicing" (Kounavis and Berry, 2005): table[k][b] is the
 * state of the CRC register after byte b and k zero bytes. So a step needs eight table accesses,
 * one per byte, none of which waits for another.
 *
 * A CRC is linear over xor, so a table of 256 entries follows from those of its eight one-bit
 * bytes. In all eight tables together these are 64 consecutive states of the register: the
 * polynomial, shifted once more each time. The macros compute the other entries from them, so the
 * 16 KiB of constants are made at compile time, and no thread can see an incomplete table.
 */
#include "base/little_endian.h"
#include "hash/hash_algo.h"

/* CRC64_Tn lists 2^n entries: x, xor each combination of b0 to b(n-1). b0 to b7 are the entries of
 * the bytes 1, 2, 4, ... 128. */
#define CRC64_T1(x, b0)             (x), (x) ^ (b0)
#define CRC64_T2(x, b0, b1)         CRC64_T1(x, b0), CRC64_T1((x) ^ (b1), b0)
#define CRC64_T3(x, b0, b1, b2)     CRC64_T2(x, b0, b1), CRC64_T2((x) ^ (b2), b0, b1)
#define CRC64_T4(x, b0, b1, b2, b3) CRC64_T3(x, b0, b1, b2), CRC64_T3((x) ^ (b3), b0, b1, b2)
#define CRC64_T5(x, b0, b1, b2, b3, b4)                                                            \
    CRC64_T4(x, b0, b1, b2, b3), CRC64_T4((x) ^ (b4), b0, b1, b2, b3)
#define CRC64_T6(x, b0, b1, b2, b3, b4, b5)                                                        \
    CRC64_T5(x, b0, b1, b2, b3, b4), CRC64_T5((x) ^ (b5), b0, b1, b2, b3, b4)
#define CRC64_T7(x, b0, b1, b2, b3, b4, b5, b6)                                                    \
    CRC64_T6(x, b0, b1, b2, b3, b4, b5), CRC64_T6((x) ^ (b6), b0, b1, b2, b3, b4, b5)
#define CRC64_T8(x, b0, b1, b2, b3, b4, b5, b6, b7)                                                \
    CRC64_T7(x, b0, b1, b2, b3, b4, b5, b6), CRC64_T7((x) ^ (b7), b0, b1, b2, b3, b4, b5, b6)

static const uint64_t crc64_table[8][256] = {
    {CRC64_T8(UINT64_C(0), 0xb32e4cbe03a75f6f, 0xf4843657a840a05b, 0x7bd0c384ff8f5e33,
              0xf7a18709ff1ebc66, 0x7d9ba13851336649, 0xfb374270a266cc92, 0x64b62bcaebc387a1,
              0xc96c5795d7870f42)},
    {CRC64_T8(UINT64_C(0), 0x54e979925cd0f10d, 0xa9d2f324b9a1e21a, 0xc17d4962dc4ddab1,
              0x10223dee1795abe7, 0x20447bdc2f2b57ce, 0x4088f7b85e56af9c, 0x8111ef70bcad5f38,
              0x90fb71cad654a0f5)},
    {CRC64_T8(UINT64_C(0), 0x3f0be14a916a6dcb, 0x7e17c29522d4db96, 0xfc2f852a45a9b72c,
              0x6a87a57f245d70dd, 0xd50f4afe48bae1ba, 0x38c63ad73e7bddf1, 0x718c75ae7cf7bbe2,
              0xe318eb5cf9ef77c4)},
    {CRC64_T8(UINT64_C(0), 0x1dee8a5e222ca1dc, 0x3bdd14bc445943b8, 0x77ba297888b28770,
              0xef7452f111650ee0, 0x4c300ac98dc40345, 0x986015931b88068a, 0xa218840d981e1391,
              0xd6e9a7309f3239a7)},
    {CRC64_T8(UINT64_C(0), 0x5c2d776033c4205e, 0xb85aeec0678840bc, 0xe26d72ab601e9ffd,
              0x56024a7d6f33217f, 0xac0494fade6642fe, 0xcad186de13c29b79, 0x077ba297888b2877,
              0x0ef7452f111650ee)},
    {CRC64_T8(UINT64_C(0), 0x6184d55f721267c6, 0xc309aabee424cf8c, 0x14cbfa566747819d,
              0x2997f4acce8f033a, 0x532fe9599d1e0674, 0xa65fd2b33a3c0ce8, 0xde670a4ddb760755,
              0x2e16bbb019e2102f)},
    {CRC64_T8(UINT64_C(0), 0x22ef0d5934f964ec, 0x45de1ab269f2c9d8, 0x8bbc3564d3e593b0,
              0x85a0c5e208c539e5, 0x999924efbe846d4f, 0xa1eae6f4d206c41b, 0xd10d62c20b0396b3,
              0x30c26aafb90933e3)},
    {CRC64_T8(UINT64_C(0), 0xdabe95afc7875f40, 0x27a584742000a005, 0x4f4b08e84001400a,
              0x9e9611d080028014, 0xaff48c8aaf0b1ead, 0xcd31b63ef11823df, 0x08bbc3564d3e593b,
              0x117786ac9a7cb276)},
};

/* The seed is not used here. Another start value would only xor the result with a constant that
 * depends on the length, and the caller xors the hasher's seed into the result anyway. */
static uint64_t crc64(const void *key, size_t len, uint64_t seed) {
    (void)seed;
    const uint8_t *p = key;
    uint64_t crc = UINT64_MAX;
    for (; len >= 8; len -= 8, p += 8) {
        uint64_t x = crc ^ blyi_load64le(p);
        crc = crc64_table[7][x & 255] ^ crc64_table[6][x >> 8 & 255] ^
              crc64_table[5][x >> 16 & 255] ^ crc64_table[4][x >> 24 & 255] ^
              crc64_table[3][x >> 32 & 255] ^ crc64_table[2][x >> 40 & 255] ^
              crc64_table[1][x >> 48 & 255] ^ crc64_table[0][x >> 56];
    }
    for (size_t i = 0; i < len; i++)
        crc = crc >> 8 ^ crc64_table[0][(crc ^ p[i]) & 255];
    return ~crc;
}

static void crc64_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many64(self, keys, n, out, crc64);
}

static size_t crc64_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, crc64(key, len, self->seed), 8);
}

const blyi_hash_algo blyi_algo_crc64 = {.many = crc64_many, .digest = crc64_digest};
