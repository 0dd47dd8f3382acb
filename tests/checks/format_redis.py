"""format_redis.py - filters on a plain Redis, written from docs/format.md, section 22, alone.

It computes the vectors of that section, and checks that the section contains them.
"""

import os
import re
import struct

from format_hashes import HASHES, demand, mulhi, murmur3, xxh64

SBBF, FNV1A, SLOTS = 3, 7, 16384


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def tag_of(key):
    match = re.match(rb"[^{]*\{([^}]*)\}", key, re.DOTALL)
    return match.group(1) if match and match.group(1) else None


def slot(key):
    return crc16(tag_of(key) or key) % SLOTS


def shard_key(name, shard, shards):
    if shard == 0:
        return name
    if tag_of(name):
        return name + b":%d" % shard
    step = SLOTS // shards
    width = max(step // 16, min(step, 64))
    number = 0
    while True:
        key = name + b":{%d.%d}" % (shard, number)
        if (slot(key) - slot(name) - shard * SLOTS // shards + width // 2) % SLOTS < width:
            return key
        number += 1


def marked_key(key, mark):
    if tag_of(key):
        return key + mark
    number = 0
    while slot(key + b":{%d}%s" % (number, mark)) != slot(key):
        number += 1
    return key + b":{%d}%s" % (number, mark)


def header(kind, k, size, capacity, rate):
    front = struct.pack("<4s6BH", b"BLY1", 1, kind, FNV1A, 0, k, 1, 0)
    rest = struct.pack("<QQQQdQ", size, capacity, 0, 0, rate, 0)
    return front + struct.pack("<I", xxh64(front + bytes(4) + rest) & 0xFFFFFFFF) + rest


def head(shard, shards, stamp, inner, count, state):
    front = struct.pack("<4sB3xIIQ", b"BLYR", 1, shard, shards, stamp) + inner
    identity = front + struct.pack("<II", xxh64(front) & 0xFFFFFFFF, 0)
    return identity + struct.pack("<QB23x", count, state)


def sbbf_entry(key, size, shards):
    """Returns the shard of a key, and its entry in an add command: the block in the shard and the mask."""
    low, high = HASHES[FNV1A](key, 0)
    salts = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
    block, stride = mulhi(low, size), -(-size // shards)
    words = [1 << ((high * salt & 0xFFFFFFFF) >> 27) for salt in salts]
    return block // stride, struct.pack("<I8I", block % stride, *words)


def rows(data):
    return ["%02x  %s" % (at, data[at : at + 16].hex(" ")) for at in range(0, len(data), 16)]


def vectors():
    """Yields the lines that the section must contain, in this order."""
    name = b"crawl:seen"
    yield "`%s`" % marked_key(shard_key(name, 1, 3), b":parked").decode()
    for shard, shards in ((0, 3), (1, 3), (2, 3), (24, 25)):
        key = shard_key(name, shard, shards)
        yield "| %d of %d | `%s` | %d | `%s` |" % (
            shard, shards, key.decode(), slot(key), marked_key(key, b":arriving").decode())
    yield from rows(head(1, 3, 0x0123456789ABCDEF, header(SBBF, 8, 1000, 20000, 0.01), 0, 1))
    shard, entry = sbbf_entry(b"bloomery", 1000, 3)
    yield "shard %d" % shard
    yield from rows(entry)
    yield " ".join(str(murmur3(b"bloomery" + bytes([i]), 0)[0] % 1000000) for i in range(14))


def check_redis():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "docs", "format.md"), encoding="utf-8") as file:
        section = file.read().split("\n## 22.")[1]
    at = 0
    for line in vectors():
        found = section.find(line, at)
        demand(found >= 0, "docs/format.md, section 22, lacks: " + line)
        at = found + len(line)
    print("the vectors of filters on a plain Redis are correct")


if __name__ == "__main__":
    print("\n".join(vectors()))
