#!/usr/bin/env python3
"""Reads Bloomery files with nothing but docs/format.md and Python's standard library.

A second implementation of the format, sharing no line with the first: header, checksums, hash
words and probe rules are all written out here again, from the specification. For every file named
in MANIFEST (next to the files) it checks each header field, both checksums, and that the body is,
bit for bit, the one the listed keys give.

    check_format.py [DIRECTORY]     check a directory of files (default: golden/v1/good)
    check_format.py --vectors       print the vectors of docs/format.md

Hash functions it does not know (xxh3, xxh3-128, city64, farm64) leave the bits unchecked.
"""

import hashlib
import math
import os
import struct
import sys

M64 = (1 << 64) - 1
GOLD = 0x9E3779B97F4A7C15
LCG = 0xF1357AEA2E62A9C5
GOLDEN_SECRET = bytes(range(16))  # the key of the keyed golden files
CUSTOM_TAG = 0x676F6C64  # the tag of the custom one: hash words are those of fnv1a, swapped

CLASSIC, PARTITIONED, SBBF, SPLIT512, BB2X512, SCALABLE = 1, 2, 3, 4, 5, 6
KINDS = (CLASSIC, PARTITIONED, SBBF, SPLIT512, BB2X512, SCALABLE)
KEYED, APPROXIMATE, FOLDABLE = 1, 2, 4
SIPHASH, CUSTOM = 15, 255


class Bad(Exception):
    pass


# ---- hash functions ---------------------------------------------------------------------------


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
    CUSTOM: lambda key, seed: words_from64(fnv(key, 64, False), 0)[::-1],
}
KNOWN_HASHES = set(range(1, 16)) | {CUSTOM}


# ---- which bits a key owns ---------------------------------------------------------------------


def mulhi(x, m):
    return x * m >> 64


def walk(lo, hi, k):
    x = lo
    for _ in range(k):
        yield x
        x = (x * LCG + (hi | 1)) & M64


SALTS = (
    0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
)  # fmt: skip


def sbbf_bits(word):
    return [32 * j + ((word & 0xFFFFFFFF) * SALTS[j] & 0xFFFFFFFF) // (1 << 27) for j in range(8)]


def split_bits(word, k):
    bits = [64 * j + (word >> 6 * j & 63) for j in range(8)]
    more = word * LCG & M64
    more ^= more >> 32
    if k == 12:
        lane = 4 if word >> 63 else 0
        bits += [64 * (lane + j) + (more >> 6 * j & 63) for j in range(4)]
    if k == 16:
        bits += [64 * j + (more >> 6 * j & 63) for j in range(8)]
    return bits


def pair_bits(word, k):
    bits = []
    for i in range(k):
        if i and i % 7 == 0:
            word = word * LCG & M64
            word ^= word >> 32
        bits.append(word >> (55 - 9 * (i % 7)) & 511)
    return bits


def bits_of(kind, sub, k, size, lo, hi):
    """The bits, counted from the start of the body, that the hash (lo, hi) sets."""
    if kind == CLASSIC and sub == 1:
        return [((lo + i * (hi | 1)) & M64) % size for i in range(k)]
    if kind == CLASSIC:
        return [mulhi(x, size) for x in walk(lo, hi, k)]
    if kind == PARTITIONED:
        return [i * size + mulhi(x, size) for i, x in enumerate(walk(lo, hi, k))]
    block = mulhi(lo, size)
    if kind == SBBF:
        return [256 * block + b for b in sbbf_bits(hi)]
    if kind == SPLIT512:
        return [512 * block + b for b in split_bits(hi, k)]
    other = mulhi((lo * LCG + (hi | 1)) & M64, size)
    word = (hi * GOLD & M64) ^ hi >> 29
    return [512 * block + b for b in pair_bits(hi, k // 2)] + [
        512 * other + b for b in pair_bits(word, k // 2)
    ]


# ---- files ------------------------------------------------------------------------------------


def total_bits(kind, k, size):
    units = {CLASSIC: 1, PARTITIONED: k, SBBF: 256, SPLIT512: 512, BB2X512: 512, SCALABLE: 8}
    return size * units[kind]


def demand(truth, what):
    if not truth:
        raise Bad(what)


def parse_header(data):
    demand(len(data) >= 64, "shorter than a header")
    names = "magic version kind hash flags k width sub sum size capacity items seed rate body_sum"
    head = dict(zip(names.split(), struct.unpack("<4s6BHIQQQQdQ", data[:64])))
    demand(head["magic"] == b"BLY1", "magic")
    demand(head["version"] == 1, "version")
    sum32 = xxh64(data[:12] + bytes(4) + data[16:64]) & 0xFFFFFFFF
    demand(head["sum"] == sum32, "header checksum")
    kind, k, size = head["kind"], head["k"], head["size"]
    demand(kind in KINDS, "kind")
    demand(head["flags"] & ~7 == 0, "flags")
    demand(head["sub"] <= (1 if kind == CLASSIC else 0), "sub")
    demand(head["width"] == 1, "width")
    hashes = {SBBF: [8], SPLIT512: [8, 12, 16], BB2X512: range(2, 17, 2), SCALABLE: range(1, 49)}
    demand(k in hashes.get(kind, range(1, 65)), "k")
    demand(size >= (64 if kind == CLASSIC else 1), "size too small")
    demand(kind != PARTITIONED or size % 64 == 0, "slice not a multiple of 64")
    demand(kind != SCALABLE or (size % 64 == 0 and size >= 128 * k), "size of the levels")
    demand(kind != SCALABLE or head["flags"] & (APPROXIMATE | FOLDABLE) == 0, "flags")
    demand(total_bits(kind, k, size) <= 1 << 48, "size too big")
    demand(head["capacity"] >= 1, "capacity")
    demand(0 < head["rate"] < 1 and not math.isnan(head["rate"]), "rate")
    demand(head["hash"] in KNOWN_HASHES, "hash")
    demand((head["hash"] == SIPHASH) == bool(head["flags"] & KEYED), "keyed flag")
    return head


def parse_body(head, body):
    used = total_bits(head["kind"], head["k"], head["size"])
    demand(len(body) == (used + 511) // 512 * 64, "body length")
    demand(xxh64(body) == head["body_sum"], "body checksum")
    demand(int.from_bytes(body, "little") >> used == 0, "bits past the last")


def parse_levels(head, body):
    levels = []
    for _ in range(head["k"]):
        level = parse_header(body)
        used = total_bits(level["kind"], level["k"], level["size"])
        end = 64 + (used + 511) // 512 * 64
        demand(level["kind"] != SCALABLE, "a level made of levels")
        demand(level["flags"] & APPROXIMATE == 0, "an approximate level")
        demand(level["capacity"] <= used, "a level with more keys than bits")
        for field in ("hash", "seed"):
            demand(level[field] == head[field], "a level of another " + field)
        parse_body(level, body[64:end])
        levels.append((level, body[64:end]))
        body = body[end:]
    demand(not body, "bytes after the last level")
    for field in ("capacity", "items"):
        total = sum(level[field] for level, _ in levels)
        demand(min(total, M64) == head[field], field + " of the levels")
    rate = sum(level["rate"] for level, _ in levels)
    demand(rate <= head["rate"] * (1 + 1e-9), "rates of the levels")
    return levels


def parse(data):
    """The header, and the filters it is made of as pairs of header and body."""
    head, body = parse_header(data), data[64:]
    parse_body(head, body)
    return head, parse_levels(head, body) if head["kind"] == SCALABLE else [(head, body)]


def bodies_of(levels, keys):
    """The bodies, as numbers, after adding `keys` in turn to empty filters of these shapes."""
    bodies, last, held = [0] * len(levels), 0, 0
    for lo, hi in keys:
        masks = []
        for head, _ in levels:
            mask = 0
            for bit in bits_of(head["kind"], head["sub"], head["k"], head["size"], lo, hi):
                mask |= 1 << bit
            masks.append(mask)
        if any(body & mask == mask for body, mask in zip(bodies, masks)):
            continue
        if len(levels) > 1 and held == levels[last][0]["capacity"]:
            last, held = last + 1, 0
            demand(last < len(levels), "a level is missing")
        bodies[last] |= masks[last]
        held += 1
    demand(len(levels) == 1 or last == len(levels) - 1, "a level too many")
    return bodies


def check_file(path, first, count, relation):
    """Returns whether the bits could be checked too."""
    with open(path, "rb") as file:
        head, levels = parse(file.read())
    if head["hash"] == SIPHASH:
        demand(head["seed"] == siphash128(b"id", GOLDEN_SECRET)[0], "key id")
    if head["hash"] == CUSTOM:
        demand(head["seed"] == CUSTOM_TAG, "custom tag")
    if head["hash"] not in HASHES:
        return False
    words = HASHES[head["hash"]]
    keys = [words(b"golden-key-%d" % i, head["seed"]) for i in range(first, first + count)]
    for want, (_, body) in zip(bodies_of(levels, keys), levels):
        have = int.from_bytes(body, "little")
        if relation == "exactly":
            demand(have == want, "the body is not that of its keys")
        else:
            demand(have & want == want, "a key is missing")
    demand(relation != "exactly" or head["items"] <= count, "more items than keys")
    demand((relation == "exactly") == (not head["flags"] & APPROXIMATE), "approximate flag")
    return True


def read_manifest(directory):
    with open(os.path.join(directory, "MANIFEST"), encoding="ascii") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, first, count, relation = line.split()
                demand(relation in ("exactly", "atleast"), "MANIFEST: " + relation)
                yield name, int(first), int(count), relation


def check_directory(directory):
    listed, failed, partly = set(), 0, 0
    for name, first, count, relation in read_manifest(directory):
        listed.add(name)
        try:
            partly += not check_file(os.path.join(directory, name), first, count, relation)
        except (Bad, OSError) as problem:
            print("%s: %s" % (name, problem))
            failed += 1
    for name in sorted(os.listdir(directory)):
        if name.endswith(".bly") and name not in listed:
            print("%s: not in MANIFEST" % name)
            failed += 1
    print("%d files, %d wrong, %d with bits unchecked" % (len(listed), failed, partly))
    return 1 if failed or not listed else 0


# ---- vectors ----------------------------------------------------------------------------------

LAYOUTS = (
    ("classic", CLASSIC, 0, 7, 1000),
    ("classic, textbook", CLASSIC, 1, 7, 1000),
    ("partitioned", PARTITIONED, 0, 7, 192),
    ("sbbf", SBBF, 0, 8, 5),
    ("split512", SPLIT512, 0, 8, 5),
    ("split512", SPLIT512, 0, 12, 5),
    ("split512", SPLIT512, 0, 16, 5),
    ("bb2x512", BB2X512, 0, 8, 5),
    ("bb2x512", BB2X512, 0, 16, 5),
)


def make_file(kind, sub, k, size, seed, capacity, rate, keys):
    used = total_bits(kind, k, size)
    body = 0
    for key in keys:
        for bit in bits_of(kind, sub, k, size, *HASHES[7](key, seed)):
            body |= 1 << bit
    body = body.to_bytes((used + 511) // 512 * 64, "little")
    parts = struct.pack("<4s6BH", b"BLY1", 1, kind, 7, 0, k, 1, sub)
    rest = struct.pack("<QQQQdQ", size, capacity, len(keys), seed, rate, xxh64(body))
    sum32 = xxh64(parts + bytes(4) + rest) & 0xFFFFFFFF
    return parts + struct.pack("<I", sum32) + rest + body


def print_vectors():
    for seed in (0, 42):
        print("fnv1a, seed %d: lo %016x hi %016x" % (seed, *HASHES[7](b"bloomery", seed)))
    for number in sorted(HASHES):
        print("hash %d, seed 42: lo %016x hi %016x" % (number, *HASHES[number](b"bloomery", 42)))
    for name, kind, sub, k, size in LAYOUTS:
        bits = bits_of(kind, sub, k, size, *HASHES[7](b"bloomery", 0))
        print("| %s | %d | %d | %s |" % (name, k, size, " ".join(map(str, bits))))
    data = make_file(CLASSIC, 0, 7, 1000, 0, 100, 0.01, [b"bloomery"])
    for at in range(0, len(data), 16):
        print("%04x  %s" % (at, data[at : at + 16].hex(" ")))


def main(arguments):
    if arguments == ["--vectors"]:
        print_vectors()
        return 0
    here = os.path.dirname(os.path.abspath(__file__))
    default = os.path.join(here, "golden", "v1", "good")
    return check_directory(arguments[0] if arguments else default)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
