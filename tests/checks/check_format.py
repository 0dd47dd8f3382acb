#!/usr/bin/env python3
"""check_format.py - a second reader of Bloomery files, written from docs/format.md with Python's standard library alone.

It shares no code with the library: header, checksums, hash words and probe rules are written again from the
specification. format_hashes.py has the hash functions; format_tables.py and the files beside it have the kinds that are
not made of plain bits. For every file named in MANIFEST (next to the files) it checks each header field and both
checksums, and that the body is, bit for bit, the one that the listed keys give. Where the specification leaves a writer
choices, the body must be one that the keys can give.

    check_format.py [DIRECTORY]     checks the files of DIRECTORY/good, refuses those of DIRECTORY/bad (default:
                                    golden/v1), and checks the vectors of docs/format.md, section 22
    check_format.py --vectors       prints vectors of docs/format.md, section 8

It does not have the hash functions xxh3, xxh3-128, city64 and farm64, and does not check the bits of files with these.
"""

import math
import os
import struct
import sys

sys.dont_write_bytecode = True  # so that no file is left beside the sources

from format_hashes import (  # noqa: E402
    CUSTOM, CUSTOM_RAW, CUSTOM_TAG, GOLD, GOLDEN_SECRET, HASHES, KNOWN_HASHES, LCG, M64, SIPHASH, Bad,
    demand, fnv, mix128, mulhi, siphash128, xxh64,
)  # fmt: skip
from format_counting import COUNTERS  # noqa: E402
from format_overlay import OVERLAY, Overlay  # noqa: E402
from format_redis import check_redis  # noqa: E402
from format_sketches import SKETCHES  # noqa: E402
from format_tables import CHAIN, TABLES, Chain  # noqa: E402

CLASSIC, PARTITIONED, SBBF, SPLIT512, BB2X512, SCALABLE = 1, 2, 3, 4, 5, 6
PLAIN = (CLASSIC, PARTITIONED, SBBF, SPLIT512, BB2X512)
KEYED, APPROXIMATE, FOLDABLE = 1, 2, 4
KEY_RULES = (0, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12)  # assigned values of the upper five bits of the flags

# The kinds that are not made of plain bits.
ROWS = {**TABLES, **COUNTERS, **SKETCHES, OVERLAY: Overlay(), CHAIN: Chain()}

# How a file of MANIFEST is related to its keys:
#   exactly   it contains these keys and no others, one copy of each
#   twice     the same with two copies of each
#   often     the same with N % 20 + 1 copies of key N
#   halved    as often; then the counts were halved
#   spent     as often; then all copies were removed
#   atleast   an intersection: it contains these keys, and perhaps others
#   latest    all keys from 0 on were added in order, and it still contains these
#   repeated  as latest, but key N was added N % 4 + 1 times in a row
#   held      it contains these keys
#   kept      it contains these keys, and none of those before them
RELATIONS = ("exactly", "twice", "often", "halved", "spent", "atleast", "latest", "repeated", "held", "kept")
ROUNDS = 20


# ---- which bits a key owns ---------------------------------------------------------------------


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
    """Returns the numbers of the bits, counted from the start of the body, that the hash (lo, hi) sets."""
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


def total_bits(head):
    kind, k, size = head["kind"], head["k"], head["size"]
    if kind in ROWS:
        return ROWS[kind].used(head)
    units = {CLASSIC: 1, PARTITIONED: k, SBBF: 256, SPLIT512: 512, BB2X512: 512, SCALABLE: 8}
    return size * units[kind]


def check_plain_shape(head):
    kind, k, size = head["kind"], head["k"], head["size"]
    if kind == SCALABLE:
        demand(head["sub"] <= 32768 and head["sub"] != 2, "sub")
    else:
        demand(head["sub"] <= (1 if kind == CLASSIC else 0), "sub")
    demand(head["width"] == 1, "width")
    hashes = {SBBF: [8], SPLIT512: [8, 12, 16], BB2X512: range(2, 17, 2), SCALABLE: range(1, 49)}
    demand(k in hashes.get(kind, range(1, 65)), "k")
    demand(size >= (64 if kind == CLASSIC else 1), "size too small")
    demand(kind != PARTITIONED or size % 64 == 0, "slice not a multiple of 64")
    demand(kind != SCALABLE or (size % 64 == 0 and size >= 128 * k), "size of the levels")
    demand(kind != SCALABLE or head["flags"] & (APPROXIMATE | FOLDABLE) == 0, "flags")
    demand(total_bits(head) <= 1 << 48, "size too big")


def parse_header(data):
    demand(len(data) >= 64, "shorter than a header")
    names = "magic version kind hash flags k width sub sum size capacity items seed rate body_sum"
    head = dict(zip(names.split(), struct.unpack("<4s6BHIQQQQdQ", data[:64])))
    demand(head["magic"] == b"BLY1", "magic")
    demand(head["version"] == 1, "version")
    sum32 = xxh64(data[:12] + bytes(4) + data[16:64]) & 0xFFFFFFFF
    demand(head["sum"] == sum32, "header checksum")
    kind = head["kind"]
    demand(kind in PLAIN or kind == SCALABLE or kind in ROWS, "kind")
    head["rule"] = head["flags"] >> 3
    demand(head["rule"] in KEY_RULES, "rule of the keys")
    if kind in ROWS:
        demand(head["flags"] & FOLDABLE == 0, "flags")
        ROWS[kind].check_shape(head)
    else:
        check_plain_shape(head)
    demand(head["capacity"] >= 1, "capacity")
    demand(0 < head["rate"] < 1 and not math.isnan(head["rate"]), "rate")
    demand(head["hash"] in KNOWN_HASHES, "hash")
    demand((head["hash"] == SIPHASH) == bool(head["flags"] & KEYED), "keyed flag")
    return head


def parse_body(head, body):
    used = total_bits(head)
    demand(len(body) == (used + 511) // 512 * 64, "body length")
    demand(xxh64(body) == head["body_sum"], "body checksum")
    demand(int.from_bytes(body, "little") >> used == 0, "bits past the last")
    if head["kind"] in ROWS and head["kind"] not in (OVERLAY, CHAIN):
        ROWS[head["kind"]].check_body(head, body)


def parse_parts(head, body):
    """Returns [(header, body)] of the parts or levels of a filter."""
    parts = []
    for _ in range(head["k"]):
        part = parse_header(body)
        end = 64 + (total_bits(part) + 511) // 512 * 64
        for field in ("hash", "seed", "rule"):
            demand(part[field] == head[field], "a part of another " + field)
        parse_body(part, body[64:end])
        parts.append((part, body[64:end]))
        body = body[end:]
    demand(not body, "bytes after the last part")
    return parts


def once_each(head, levels):
    """Returns the levels, and of twins only the first."""
    if head["kind"] != CHAIN:
        return levels
    return [b for a, b in zip([None, *levels], levels) if not (a and ROWS[CHAIN].twins(a, b))]


def parse_levels(head, body):
    levels = parse_parts(head, body)
    last = None
    for level, _ in levels:
        demand(level["flags"] & APPROXIMATE == 0, "an approximate level")
        if head["kind"] == CHAIN:
            ROWS[CHAIN].check_level(level, last)
            last = level
            continue
        demand(level["kind"] in PLAIN, "a level that is not made of plain bits")
        demand(level["capacity"] <= total_bits(level), "a level with more keys than bits")
    for field in ("capacity", "items"):
        total = sum(level[field] for level, _ in levels)
        demand(min(total, M64) == head[field], field + " of the levels")
    rate = sum(level["rate"] for level in once_each(head, [level for level, _ in levels]))
    demand(rate <= head["rate"] * (1 + 1e-9), "rates of the levels")
    return levels


def parse(data):
    """Returns (header, [(header, body)]): the filter's header, and its parts or levels, or the filter itself."""
    head, body = parse_header(data), data[64:]
    parse_body(head, body)
    if head["kind"] == OVERLAY:
        parts = parse_parts(head, body)
        ROWS[OVERLAY].check_parts(head, [part for part, _ in parts])
        if parts[0][0]["kind"] in (SCALABLE, CHAIN):
            parse_levels(*parts[0])
        return head, parts
    whole = head["kind"] in (SCALABLE, CHAIN)
    return head, parse_levels(head, body) if whole else [(head, body)]


def contains(head, body, lo, hi):
    """Returns whether a filter that may be part of another contains the key."""
    kind = head["kind"]
    if kind in (SCALABLE, CHAIN):
        return any(contains(*level, lo, hi) for level in parse_levels(head, body))
    if kind in ROWS:
        return ROWS[kind].contains(head, body, lo, hi)
    bits = bits_of(kind, head["sub"], head["k"], head["size"], lo, hi)
    return all(body[bit // 8] >> bit % 8 & 1 for bit in bits)


def bodies_of(levels, keys):
    """Returns the bodies, as numbers, after adding `keys` in order to empty levels of these shapes."""
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


def check_bits(levels, keys, relation):
    for want, (_, body) in zip(bodies_of(levels, keys), levels):
        have = int.from_bytes(body, "little")
        if relation == "exactly":
            demand(have == want, "the body is not that of its keys")
        else:
            demand(have & want == want, "a key is missing")


def copies_of(relation, number):
    """Returns how often key `number` was added."""
    if relation in ("often", "halved", "spent"):
        return number % ROUNDS + 1
    return 2 if relation == "twice" else 1


def check_table(head, body, words, first, count, relation):
    keys = [words(i) for i in range(first, first + count)]
    copies = {"exactly": 1, "latest": 1, "repeated": 1, "twice": 2}.get(relation)
    more = {}
    if relation in ("latest", "repeated", "held"):
        times = [i % 4 + 1 if relation == "repeated" else 1 for i in range(first + count)]
        more["total"] = [words(i) for i, n in enumerate(times) for _ in range(n)]
    TABLES[head["kind"]].check_keys(head, body, keys, copies, **more)


def check_counted(head, levels, words, first, count, relation):
    """Checks the kinds whose body depends on copies, on the order of adds or on removes."""
    kind, numbers = head["kind"], range(first, first + count)
    if kind in COUNTERS:
        keys = [(words(i), copies_of(relation, i)) for i in numbers]
        COUNTERS[kind].check_multiset(head, levels[0][1], keys, relation)
    elif kind in SKETCHES:
        rounds = range(max((copies_of(relation, i) for i in numbers), default=0))
        adds = [words(i) for r in rounds for i in numbers if copies_of(relation, i) > r]
        SKETCHES[kind].check_adds(head, levels[0][1], adds, relation)
    else:
        gone = range(first) if relation == "kept" else ()
        for number in [*gone, *numbers]:
            found = ROWS[OVERLAY].contains(head, levels, *words(number), contains)
            demand(found == (number >= first), "key %d" % number)


def check_file(path, first, count, relation):
    """Returns whether the bits could be checked too."""
    with open(path, "rb") as file:
        head, levels = parse(file.read())
    if head["hash"] == SIPHASH:
        demand(head["seed"] == siphash128(b"id", GOLDEN_SECRET)[0], "key id")
    if head["hash"] in (CUSTOM, CUSTOM_RAW):
        demand(head["seed"] == CUSTOM_TAG, "custom tag")
    if head["hash"] not in HASHES:
        return False

    def words(number):
        return HASHES[head["hash"]](b"golden-key-%d" % number, head["seed"])

    if head["kind"] == CHAIN:
        keys = [words(i) for i in range(first, first + count)]
        ROWS[CHAIN].check_keys(levels, keys, {"exactly": 1, "twice": 2}[relation])
    elif head["kind"] in TABLES:
        check_table(head, levels[0][1], words, first, count, relation)
    elif head["kind"] in ROWS:
        check_counted(head, levels, words, first, count, relation)
    else:
        check_bits(levels, [words(i) for i in range(first, first + count)], relation)
    if head["kind"] not in SKETCHES:
        demand(relation != "exactly" or head["items"] <= count, "more items than keys")
    demand((relation != "atleast") == (not head["flags"] & APPROXIMATE), "approximate flag")
    return True


def read_manifest(directory):
    with open(os.path.join(directory, "MANIFEST"), encoding="ascii") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, first, count, relation = line.split()
                demand(relation in RELATIONS, "MANIFEST: " + relation)
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


def check_refusals(directory):
    """Checks that all bad files are refused, except those that are refused only without a key or hash function."""
    accepted, asked = 0, 0
    for name in sorted(os.listdir(directory)):
        if name.split(".")[1] in ("EKEY", "EHASHER"):
            continue
        asked += 1
        with open(os.path.join(directory, name), "rb") as file:
            try:
                parse(file.read())
            except Bad:
                continue
        print("%s: accepted" % name)
        accepted += 1
    print("%d bad files, %d accepted" % (asked, accepted))
    return 1 if accepted or not asked else 0


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
    used = total_bits({"kind": kind, "k": k, "size": size})
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
    for words in (0, 0), (1, 0), (0, 1), [fnv(b"bloomery", 64, first) for first in (False, True)]:
        print("| `%016x` `%016x` | `%016x` `%016x` |" % (*words, *mix128(*words)))
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
    check_redis()
    here = os.path.dirname(os.path.abspath(__file__))
    directory = arguments[0] if arguments else os.path.join(here, "..", "golden", "v1")
    good = check_directory(os.path.join(directory, "good"))
    return check_refusals(os.path.join(directory, "bad")) or good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
