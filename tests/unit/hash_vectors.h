/* hash_vectors.h - published outputs of the hash functions, for test_hash.c. Digests are written as
 * their publication prints them, which is the order of bytes of bly_hash_digest. */
#ifndef BLYT_HASH_VECTORS_H
#define BLYT_HASH_VECTORS_H

#include <bloomery/hash.h>

/* Sources. FNV: the vectors of draft-eastlake-fnv, and published short inputs whose hash is zero.
 * CRC: the "check" value of the RevEng catalogue. MD5: RFC 1321. SHA-1: RFC 3174, FIPS 180.
 * Murmur3: the tests of Guava and spaolacci/murmur3; "zy" is from libmurmurhash. Farm: Guava's
 * FarmHashFingerprint64Test. City: the tests of the Ruby binding. */
static const struct {
    bly_hash_id id;
    uint64_t seed;
    const char *key;
    const char *digest;
} text_vectors[] = {
    {BLY_HASH_FNV1, 0, "", "cbf29ce484222325"},
    {BLY_HASH_FNV1, 0, "a", "af63bd4c8601b7be"},
    {BLY_HASH_FNV1, 0, "foobar", "340d8765a4dda9c2"},
    {BLY_HASH_FNV1, 0, "\x92\x06\x77\x4c\xe0\x2f\x89\x2a\xd2", "0000000000000000"},
    {BLY_HASH_FNV1A, 0, "", "cbf29ce484222325"},
    {BLY_HASH_FNV1A, 0, "a", "af63dc4c8601ec8c"},
    {BLY_HASH_FNV1A, 0, "foobar", "85944171f73967e8"},
    {BLY_HASH_FNV1A, 0, "\xd5\x6b\xb9\x53\x42\x87\x08\x36", "0000000000000000"},
    {BLY_HASH_FNV1_32, 0, "", "811c9dc5"},
    {BLY_HASH_FNV1_32, 0, "a", "050c5d7e"},
    {BLY_HASH_FNV1_32, 0, "foobar", "31f0b262"},
    {BLY_HASH_FNV1_32, 0, "\x01\x47\x6c\x10\xf3", "00000000"},
    {BLY_HASH_FNV1A_32, 0, "", "811c9dc5"},
    {BLY_HASH_FNV1A_32, 0, "a", "e40c292c"},
    {BLY_HASH_FNV1A_32, 0, "foobar", "bf9cf968"},
    {BLY_HASH_FNV1A_32, 0, "\xcc\x24\x31\xc4", "00000000"},
    {BLY_HASH_CRC64, 0, "", "0000000000000000"},
    {BLY_HASH_CRC64, 0, "123456789", "995dc9bbdf1939fa"},
    {BLY_HASH_MD5, 0, "", "d41d8cd98f00b204e9800998ecf8427e"},
    {BLY_HASH_MD5, 0, "a", "0cc175b9c0f1b6a831c399e269772661"},
    {BLY_HASH_MD5, 0, "abc", "900150983cd24fb0d6963f7d28e17f72"},
    {BLY_HASH_MD5, 0, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
    {BLY_HASH_SHA1, 0, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {BLY_HASH_SHA1, 0, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {BLY_HASH_SHA1, 0, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
    {BLY_HASH_MURMUR3, 0, "", "00000000000000000000000000000000"},
    {BLY_HASH_MURMUR3, 0, "zy", "1960e1aeb80225830be0407f8ced9cdf"},
    {BLY_HASH_MURMUR3, 0, "hello", "029bbd41b3a7d8cb191dae486a901e5b"},
    {BLY_HASH_MURMUR3, 0, "hello, world", "8ebc5e3a62ac2f344d41429607bcdc4c"},
    {BLY_HASH_MURMUR3, 0, "The quick brown fox jumps over the lazy dog",
     "6c1b07bc7bbc4be347939ac4a93c437a"},
    {BLY_HASH_FARM64, 0, "test", "7717383daa85b5b2"},
    {BLY_HASH_FARM64, 0, "testtesttesttesttesttesttesttest", "c5c3f54cd962178a"},
    {BLY_HASH_CITY64, 0, "test", "7717383daa85b5b2"},
    {BLY_HASH_CITY64, 12345, "test", "7f0a9d52bd20cb1f"},
};

#define XXH_PRIME32 UINT64_C(2654435761)
#define XXH_PRIME64 UINT64_C(11400714785074694797)

/* From xxHash's cli/xsum_sanity_check.c: hashes of the first len bytes of a buffer in which byte i
 * is the top byte of PRIME32 * PRIME64^i. The lengths cover all length classes of XXH3. */
enum { XXH_BUFFER = 2367 };
static const struct {
    bly_hash_id id;
    size_t len;
    uint64_t seed;
    const char *digest;
} xxh_vectors[] = {
    {BLY_HASH_XXH3, 0, 0, "2d06800538d394c2"},
    {BLY_HASH_XXH3, 0, XXH_PRIME64, "a8a6b918b2f0364a"},
    {BLY_HASH_XXH3, 1, 0, "c44bdff4074eecdb"},
    {BLY_HASH_XXH3, 1, XXH_PRIME64, "032be332dd766ef8"},
    {BLY_HASH_XXH3, 6, 0, "27b56a84cd2d7325"},
    {BLY_HASH_XXH3, 6, XXH_PRIME64, "84589c116ab59ab9"},
    {BLY_HASH_XXH3, 12, 0, "a713daf0dfbb77e7"},
    {BLY_HASH_XXH3, 12, XXH_PRIME64, "e7303e1b2336de0e"},
    {BLY_HASH_XXH3, 24, 0, "a3fe70bf9d3510eb"},
    {BLY_HASH_XXH3, 24, XXH_PRIME64, "850e80fc35bdd690"},
    {BLY_HASH_XXH3, 48, 0, "397da259ecba1f11"},
    {BLY_HASH_XXH3, 48, XXH_PRIME64, "adc2cbaa44acc616"},
    {BLY_HASH_XXH3, 80, 0, "bcdefbbb2c47c90a"},
    {BLY_HASH_XXH3, 80, XXH_PRIME64, "c6dd0cb699532e73"},
    {BLY_HASH_XXH3, 195, 0, "cd94217ee362ec3a"},
    {BLY_HASH_XXH3, 195, XXH_PRIME64, "ba68003d370cb3d9"},
    {BLY_HASH_XXH3, 403, 0, "cdeb804d65c6dea4"},
    {BLY_HASH_XXH3, 403, XXH_PRIME64, "6259f6ecfd6443fd"},
    {BLY_HASH_XXH3, 512, 0, "617e49599013cb6b"},
    {BLY_HASH_XXH3, 512, XXH_PRIME64, "3ce457de14c27708"},
    {BLY_HASH_XXH3, 2048, 0, "dd59e2c3a5f038e0"},
    {BLY_HASH_XXH3, 2048, XXH_PRIME64, "66f81670669ababc"},
    {BLY_HASH_XXH3, 2240, 0, "6e73a90539cf2948"},
    {BLY_HASH_XXH3, 2240, XXH_PRIME64, "757ba8487d1b5247"},
    {BLY_HASH_XXH3, 2367, 0, "cb37aeb9e5d361ed"},
    {BLY_HASH_XXH3, 2367, XXH_PRIME64, "d2db3415b942b42a"},
    {BLY_HASH_XXH64, 0, 0, "ef46db3751d8e999"},
    {BLY_HASH_XXH64, 0, XXH_PRIME32, "ac75fda2929b17ef"},
    {BLY_HASH_XXH64, 1, 0, "e934a84adb052768"},
    {BLY_HASH_XXH64, 1, XXH_PRIME32, "5014607643a9b4c3"},
    {BLY_HASH_XXH64, 4, 0, "9136a0dca57457ee"},
    {BLY_HASH_XXH64, 14, 0, "8282dcc4994e35c8"},
    {BLY_HASH_XXH64, 14, XXH_PRIME32, "c3bd6bf63deb6df0"},
    {BLY_HASH_XXH64, 222, 0, "b641ae8cb691c174"},
    {BLY_HASH_XXH64, 222, XXH_PRIME32, "20cb8ab7ae10c14a"},
    {BLY_HASH_XXH3_128, 0, 0, "99aa06d3014798d86001c324468d497f"},
    {BLY_HASH_XXH3_128, 0, XXH_PRIME32, "92220ae55e14ab505444f7869c671ab0"},
    {BLY_HASH_XXH3_128, 1, 0, "a6cd5e9392000f6ac44bdff4074eecdb"},
    {BLY_HASH_XXH3_128, 1, XXH_PRIME32, "89b99554ba22467cb53d5557e7f76f8d"},
    {BLY_HASH_XXH3_128, 6, 0, "082afe0b8162d12a3e7039bdda43cfc6"},
    {BLY_HASH_XXH3_128, 6, XXH_PRIME32, "5a865b5389abd2b1269d8f70be98856e"},
    {BLY_HASH_XXH3_128, 12, 0, "6e3efd8fc7802b18061a192713f69ad9"},
    {BLY_HASH_XXH3_128, 12, XXH_PRIME32, "d7e09d518a3405d39be9f9a67f3c7dfb"},
    {BLY_HASH_XXH3_128, 24, 0, "0ce966e4678d37611e7044d28b1b901d"},
    {BLY_HASH_XXH3_128, 24, XXH_PRIME32, "3162026714a6a243d7304c54ebad40a9"},
    {BLY_HASH_XXH3_128, 48, 0, "a002ac4e5478227ef942219aed80f67b"},
    {BLY_HASH_XXH3_128, 48, XXH_PRIME32, "163adde36c0722957ba3c3e453a1934e"},
    {BLY_HASH_XXH3_128, 81, 0, "4952f58181ab00425e8bafb9f95fb803"},
    {BLY_HASH_XXH3_128, 81, XXH_PRIME32, "2724ec7adc750fb6703fbb3d7a5f755c"},
    {BLY_HASH_XXH3_128, 222, 0, "337e09641b948717f1aebd597cec6b3a"},
    {BLY_HASH_XXH3_128, 222, XXH_PRIME32, "91820016621e97f1ae995bb8af917a8d"},
    {BLY_HASH_XXH3_128, 403, 0, "1b6de21e332dd73dcdeb804d65c6dea4"},
    {BLY_HASH_XXH3_128, 403, XXH_PRIME64, "bed311971e0be8f26259f6ecfd6443fd"},
    {BLY_HASH_XXH3_128, 512, 0, "18d2d110dcc9bca1617e49599013cb6b"},
    {BLY_HASH_XXH3_128, 512, XXH_PRIME64, "925d06b8ec5b80403ce457de14c27708"},
    {BLY_HASH_XXH3_128, 2048, 0, "f736557fd47073a5dd59e2c3a5f038e0"},
    {BLY_HASH_XXH3_128, 2048, XXH_PRIME32, "7fb03f7e7186c3ea230d43f30206260b"},
    {BLY_HASH_XXH3_128, 2367, 0, "e89c0f6ff369b427cb37aeb9e5d361ed"},
    {BLY_HASH_XXH3_128, 2367, XXH_PRIME32, "d23aae4b76c31ecb6f5360ae69c2f406"},
};

/* From CityHash 1.1, city-test.cc: CityHash64 and CityHash64WithSeed(CITY_SEED) of the len bytes at
 * offset len^2 of its test data. The lengths are at the edges of each length class. */
#define CITY_SEED UINT64_C(1234567)
static const struct {
    size_t len;
    uint64_t plain, seeded;
} city_vectors[] = {
    {0, 0x9ae16a3b2f90404f, 0x75106db890237a4a},   {1, 0x541150e87f415e96, 0x1aef0d24b3148a1a},
    {2, 0x0f3786a4b25827c1, 0x34ee1a2bf767bd1c},   {3, 0xef923a7a1af78eab, 0x79163b1e1e9a9b18},
    {4, 0x11df592596f41d88, 0x843ec0bce9042f9c},   {7, 0x1b5a063fb4c7f9f1, 0x318dbc24af66dee9},
    {8, 0xa0f10149a0e538d6, 0x69d008c20f87419f},   {9, 0xfb8d9c70660b910b, 0xa45b0cc3476bff1b},
    {15, 0x44473e03be306c88, 0x30097761f872472a},  {16, 0x03ead5f21d344056, 0xfb6420393cfb05c3},
    {17, 0x6abbfde37ee03b5b, 0x83febf188d2cc113},  {31, 0x55bdb0e71e3edebd, 0xc7ab562bcf0568bc},
    {32, 0x0782fa1b08b475e7, 0xfb7138951c61b23b},  {33, 0xc5dc19b876d37a80, 0x15ffcff666cfd710},
    {48, 0x584f28543864844f, 0xd7cee9fc2d46f20d},  {63, 0x12807833c463737c, 0x58e927ea3b3776b4},
    {64, 0xe88419922b87176f, 0xbcf32f41a7ddbf6f},  {65, 0x105191e0ec8f7f60, 0x5918dbfcca971e79},
    {127, 0xcbaa3cb8f64f54e0, 0x76c3b48ee5c08417}, {128, 0xb2e23e8116c2ba9f, 0x7e4d9c0060101151},
    {129, 0x8aa77f52d7868eb9, 0x4d55bd587584e6e2}, {192, 0x0d3a2efec0f047e9, 0x1cabce58853e58ea},
    {193, 0x43c64d7484f7f9b2, 0x5da002b64aafaeb7}, {256, 0x2b67cdd38c307a5e, 0x0cb1d45bb5c9fe1c},
    {298, 0x74c0b8a6821faafe, 0xabac39d7491370e7},
};

/* CityHash64 and CityHash64WithSeed(CITY_SEED) of the whole test data. */
enum { CITY_DATA = 1 << 20 };
static const uint64_t CITY_ALL = 0x5fb5e48ac7b7fa4f, CITY_ALL_SEEDED = 0xa96170f08f5acbc7;

/* SipHash-2-4-128: from vectors_sip128 of the reference implementation. The key is 00 01 .. 0f, the
 * input is the len bytes 00 01 02 .. */
static const struct {
    size_t len;
    const char *digest;
} sip_vectors[] = {
    {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
    {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},  {8, "3b62a9ba6258f5610f83e264f31497b4"},
    {9, "264499060ad9baabc47f8b02bb6d71ed"},  {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
    {16, "6ee2a4ca67b054bbfd3315bf85230577"}, {17, "473d06e8738db89854c066c47ae47740"},
    {32, "7c3956ca5eeafc3e363e9d556546eb68"}, {62, "5853542321f567a005d547a4f04759bd"},
    {63, "5150d1772f50834a503e069a973fbd7c"},
};

/* Verification values of SMHasher and SMHasher3. They are computed like this: hash the bytes 00 01
 * .. of each length i < 256 under the seed 256 - i; hash the 256 results, as they are in the memory
 * of a little-endian host, under the seed 0; take the first four bytes of the result. `reversed`:
 * in that memory, a result has the bytes of our digest in reverse order. */
static const struct {
    bly_hash_id id;
    bool reversed;
    uint32_t value;
} smhasher_vectors[] = {
    {BLY_HASH_XXH3, true, 0x9A636405},      {BLY_HASH_XXH3_128, false, 0x288DAA94},
    {BLY_HASH_XXH64, true, 0x024B7CF4},     {BLY_HASH_MURMUR3, false, 0x6384BA69},
    {BLY_HASH_MURMUR64A, true, 0x1F0D3804}, {BLY_HASH_CITY64, true, 0x5FABC5C5},
    {BLY_HASH_FARM64, true, 0xEBC4A679},
};

#endif
