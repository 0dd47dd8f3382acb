"""format_hashes.py - how a key becomes two words, written again from docs/format.md, section 3."""

import hashlib
import struct

M64 = (1 << 64) - 1
GOLD = 0x9E3779B97F4A7C15
LCG = 0xF1357AEA2E62A9C5
GOLDEN_SECRET = bytes(range(16))  # the key of the keyed golden files
CUSTOM_TAG = 0x676F6C64  # the tag of those with a custom hash: the words of fnv1a, swapped, mixed or raw
SIPHASH, CUSTOM, CUSTOM_RAW = 15, 254, 255


class Bad(Exception):
    pass


def demand(truth, what):
    if not truth:
        raise Bad(what)


def mulhi(x, m):
    return x * m >> 64


def rotl(x, n):
    return ((x << n) | (x >> (64 - n))) & M64


def fmix64(x):
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & M64
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & M64
    return x ^ x >> 33


P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxh64_round(acc, lane):
    return rotl((acc + lane * P2) & M64, 31) * P1 & M64


def xxh64(data, seed=0):
    at, size = 0, len(data)
    if size >= 32:
        acc = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed & M64, (seed - P1) & M64]
        while at + 32 <= size:
            lanes = struct.unpack_from("<4Q", data, at)
            acc = [xxh64_round(a, lane) for a, lane in zip(acc, lanes)]
            at += 32
        h = sum(rotl(a, n) for a, n in zip(acc, (1, 7, 12, 18))) & M64
        for a in acc:
            h = ((h ^ xxh64_round(0, a)) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + size) & M64
    while at + 8 <= size:
        h ^= xxh64_round(0, struct.unpack_from("<Q", data, at)[0])
        h = (rotl(h, 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= size:
        h ^= struct.unpack_from("<I", data, at)[0] * P1 & M64
        h = (rotl(h, 23) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * P5 & M64, 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def fnv(data, bits, multiply_first):
    prime, h, mask = {
        64: (0x100000001B3, 0xCBF29CE484222325, M64),
        32: (0x01000193, 0x811C9DC5, 0xFFFFFFFF),
    }[bits]
    for byte in data:
        h = (h * prime & mask) ^ byte if multiply_first else (h ^ byte) * prime & mask
    return h


def crc64(data):
    crc = M64
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ M64


def murmur64a(data, seed):
    mul, size = 0xC6A4A7935BD1E995, len(data)
    h = seed ^ size * mul & M64
    whole = size - size % 8
    for (k,) in struct.iter_unpack("<Q", data[:whole]):
        k = k * mul & M64
        k = (k ^ k >> 47) * mul & M64
        h = (h ^ k) * mul & M64
    if size % 8:
        h = (h ^ int.from_bytes(data[whole:], "little")) * mul & M64
    h = (h ^ h >> 47) * mul & M64
    return h ^ h >> 47


def murmur3(data, seed):
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F

    def first(k):
        return rotl(k * c1 & M64, 31) * c2 & M64

    def second(k):
        return rotl(k * c2 & M64, 33) * c1 & M64

    a = b = seed
    whole = len(data) - len(data) % 16
    for k1, k2 in struct.iter_unpack("<2Q", data[:whole]):
        a = ((rotl(a ^ first(k1), 27) + b) * 5 + 0x52DCE729) & M64
        b = ((rotl(b ^ second(k2), 31) + a) * 5 + 0x38495AB5) & M64
    tail = data[whole:]
    b ^= second(int.from_bytes(tail[8:], "little"))
    a ^= first(int.from_bytes(tail[:8], "little"))
    a ^= len(data)
    b ^= len(data)
    a = (a + b) & M64
    b = (b + a) & M64
    a, b = fmix64(a), fmix64(b)
    a = (a + b) & M64
    return a, (b + a) & M64


def siphash128(data, secret):
    k0, k1 = struct.unpack("<2Q", secret)
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D ^ 0xEE,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M64
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & M64
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M64
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M64
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (m,) in struct.iter_unpack("<Q", padded):
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 0xEE
    rounds(4)
    lo = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return lo, v[0] ^ v[1] ^ v[2] ^ v[3]


def words_from64(output, seed):
    x = output ^ fmix64(seed)
    return fmix64(x), fmix64((x + GOLD) & M64)


def words_from_digest(digest, seed):
    lo, hi = struct.unpack_from("<2Q", digest)
    if seed:
        s = fmix64(seed)
        lo, hi = fmix64(lo ^ s), fmix64(((hi ^ s) + GOLD) & M64)
    return lo, hi


def custom_raw(key):
    return words_from64(fnv(key, 64, False), 0)[::-1]


def mix128(lo, hi):
    hi ^= fmix64((lo + GOLD) & M64)
    lo ^= fmix64((hi + 2 * GOLD) & M64)
    hi ^= fmix64((lo + 3 * GOLD) & M64)
    return lo, hi


HASHES = {
    3: lambda key, seed: words_from64(xxh64(key, seed), seed),
    4: lambda key, seed: murmur3(key, seed),
    5: lambda key, seed: words_from64(murmur64a(key, seed), seed),
    6: lambda key, seed: words_from64(fnv(key, 64, True), seed),
    7: lambda key, seed: words_from64(fnv(key, 64, False), seed),
    8: lambda key, seed: words_from64(fnv(key, 32, True), seed),
    9: lambda key, seed: words_from64(fnv(key, 32, False), seed),
    10: lambda key, seed: words_from64(crc64(key), seed),
    13: lambda key, seed: words_from_digest(hashlib.md5(key).digest(), seed),
    14: lambda key, seed: words_from_digest(hashlib.sha1(key).digest(), seed),
    SIPHASH: lambda key, seed: siphash128(key, GOLDEN_SECRET),
    CUSTOM: lambda key, seed: mix128(*custom_raw(key)),
    CUSTOM_RAW: lambda key, seed: custom_raw(key),
}
KNOWN_HASHES = set(range(1, 16)) | {CUSTOM, CUSTOM_RAW}
