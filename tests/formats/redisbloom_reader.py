#!/usr/bin/env python3
"""redisbloom_reader.py - a second implementation of RedisBloom's two structures, written from the documented layout alone.

    redisbloom_reader.py [DIRECTORY]         checks the files in DIRECTORY (default: golden/redisbloom)
    redisbloom_reader.py --make DIRECTORY    writes them

It shares no code with the library (MurmurHash64A comes from format_hashes.py) and is not optimised. It checks every file
twice: the file must be equal to what CASES makes, and its bytes must be a filter that contains the keys that its text
lists.

A file is text, with one entry per line:

    type bloom|cuckoo
    encoding N             of the RDB fields
    settings I E           cuckoo below encoding 4: the host's max iterations and expansion
    prefix TEXT            key number i is TEXT followed by i in decimal
    create ...             only in encoding 4: the filter was created with these arguments: error capacity growth
                           nonscaling, or capacity bucketsize maxiterations expansion
    before OP FROM TO      an operation on the keys FROM .. TO - 1 that led to this filter: add, try (an add that
                           may fail because the filter is full), absent (an add unless the key is found),
                           del or compact
    U N, D HEX, S HEX      the RDB fields, in order: integer, double (its 64 bits), string
    header HEX             SCANDUMP's header; its data are the strings, one after the other
    after OP FROM TO       an operation on this filter
    after-header HEX, after-data HEX    SCANDUMP's header and data after these operations
"""

import copy
import hashlib
import math
import os
import struct
import sys

sys.dont_write_bytecode = True  # so that no file is left beside the sources

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)

from format_hashes import M64, murmur64a  # noqa: E402

NO_ROUNDING, SIZE_IS_BITS, HASH_64, NONSCALING = 1, 2, 4, 8


def murmur2(data, seed):
    mul, m32 = 0x5BD1E995, 0xFFFFFFFF
    h = (seed ^ len(data)) & m32
    while len(data) >= 4:
        k = int.from_bytes(data[:4], "little") * mul & m32
        k ^= k >> 24
        h = (h * mul & m32) ^ (k * mul & m32)
        data = data[4:]
    if data:
        h = (h ^ int.from_bytes(data, "little")) * mul & m32
    h = (h ^ h >> 13) * mul & m32
    return h ^ h >> 15


def smhasher(hash_fn, width):
    """Returns the verification value of a hash function, as SMHasher computes it."""
    sums = b"".join(
        hash_fn(bytes(range(i)), 256 - i).to_bytes(width, "little") for i in range(256)
    )
    return hash_fn(sums, 0) & 0xFFFFFFFF


class Full(Exception):
    pass


class Shared:
    """The operations of the lines `before` and `after`."""

    def run(self, program, prefix):
        for op, first, last in program:
            for i in range(first, last):
                self.do(op, (prefix + str(i)).encode())

    def do(self, op, key):
        if op == "add":
            self.add(key)
        elif op == "try":
            try:
                self.add(key)
            except Full:
                pass
        elif op == "absent":
            key in self or self.add(key)
        elif op == "del":
            assert self.remove(key)
        elif op == "compact":
            self.compact()
        else:
            raise ValueError(op)


# ---- Bloom -------------------------------------------------------------------------------------


class Link:
    def __init__(self, capacity, error):
        self.capacity, self.error, self.items, self.n2 = capacity, error, 0, 0
        self.bpe = -(math.log(error) / 0.480453013918201)
        self.hashes = math.ceil(0.693147180559945 * self.bpe)
        self.bits = (int(capacity * self.bpe) + 63) // 64 * 64
        self.data = bytearray(self.bits // 8)

    @staticmethod
    def rounded(capacity, error):
        """As before version 2.0: the number of bits is a power of two, and the capacity is what fits."""
        link = Link(capacity, error)
        link.n2 = int(capacity * link.bpe).bit_length()
        link.bits = 1 << link.n2
        link.capacity = int(link.bits / link.bpe)
        link.data = bytearray(link.bits // 8)
        return link

    @staticmethod
    def unaligned(capacity, error):
        """As in encoding 0: the number of bits is neither a power of two nor a multiple of 8."""
        link = Link(capacity, error)
        link.bits = int(capacity * link.bpe)
        link.data = bytearray((link.bits + 7) // 8)
        return link

    def places(self, a, b):
        modulus = 1 << self.n2 if self.n2 else self.bits
        return [((a + i * b) & M64) % modulus for i in range(self.hashes)]

    def has(self, a, b):
        return all(self.data[x >> 3] >> (x & 7) & 1 for x in self.places(a, b))

    def put(self, a, b):
        for x in self.places(a, b):
            self.data[x >> 3] |= 1 << (x & 7)
        self.items += 1


class Bloom(Shared):
    kind = "bloom"

    def __init__(self, links, options=NO_ROUNDING | HASH_64, growth=2):
        self.links, self.options, self.growth = links, options, growth

    @staticmethod
    def create(error, capacity, growth, nonscaling):
        options = NO_ROUNDING | HASH_64 | (NONSCALING if nonscaling else 0)
        return Bloom([Link(capacity, error if nonscaling else error * 0.5)], options, growth)

    def hash(self, key):
        if self.options & HASH_64:
            a = murmur64a(key, 0xC6A4A7935BD1E995)
            return a, murmur64a(key, a)
        a = murmur2(key, 0x9747B28C)
        return a, murmur2(key, a)

    def __contains__(self, key):
        return any(link.has(*self.hash(key)) for link in self.links)

    def add(self, key):
        if key in self:
            return
        last = self.links[-1]
        if last.items >= last.capacity:
            if self.options & NONSCALING:
                raise Full
            last = Link(last.capacity * self.growth, last.error * 0.5)
            self.links.append(last)
        last.put(*self.hash(key))

    def items(self):
        return sum(link.items for link in self.links)

    def header(self):
        out = struct.pack("<QIII", self.items(), len(self.links), self.options, self.growth)
        for k in self.links:
            numbers = (len(k.data), k.bits, k.items, k.error, k.bpe, k.hashes, k.capacity, k.n2)
            out += struct.pack("<QQQddIQB", *numbers)
        return out

    def data(self):
        return b"".join(bytes(link.data) for link in self.links)

    def fields(self, encoding):
        yield from (self.items(), len(self.links))
        if encoding >= 2:
            yield self.options
        if encoding >= 4:
            yield self.growth
        for k in self.links:
            yield from (k.capacity, k.error, k.hashes, k.bpe)
            if encoding >= 1:
                yield from (k.bits, k.n2)
            yield from (bytes(k.data), k.items)

    @staticmethod
    def read(header, data):
        items, n, options, growth = struct.unpack_from("<QIII", header)
        assert len(header) == 20 + 53 * n
        links = []
        for i in range(n):
            told = struct.unpack_from("<QQQddIQB", header, 20 + 53 * i)
            link = Link(told[6], told[3])
            assert (link.bpe, link.hashes) == (told[4], told[5])
            link.bits, link.items, link.n2 = told[1], told[2], told[7]
            link.data, data = bytearray(data[: told[0]]), data[told[0] :]
            assert len(link.data) == told[0] == (link.bits + 7) // 8
            links.append(link)
        f = Bloom(links, options, growth)
        assert not data and f.items() == items
        return f


# ---- cuckoo ------------------------------------------------------------------------------------


def power(x):
    return 1 << (x - 1).bit_length() if x > 1 else 1


class Cuckoo(Shared):
    kind = "cuckoo"

    def __init__(self, buckets, size, iterations, expansion):
        self.buckets, self.size, self.iterations, self.expansion = buckets, size, iterations, expansion
        self.items = self.deletes = self.evictions = self.compactions = 0
        self.subs = [bytearray(buckets * size)]

    @staticmethod
    def create(capacity, size, iterations, expansion):
        return Cuckoo(power(capacity // size), size, iterations, power(expansion) if expansion else 0)

    @staticmethod
    def hash(key):
        h = murmur64a(key, 0)
        return h, h % 255 + 1

    def find(self, sub, bucket, content):
        """Returns the position of the bucket's first slot with this content in the sub-filter, or None."""
        at = bucket % (len(sub) // self.size) * self.size
        where = sub.find(content, at, at + self.size)
        return None if where < 0 else where

    def search(self, h, print_, content):
        for sub in reversed(self.subs):
            for bucket in (h, h ^ print_ * 0x5BD1E995):
                where = self.find(sub, bucket, content)
                if where is not None:
                    return sub, where
        return None

    def __contains__(self, key):
        h, print_ = self.hash(key)
        return self.search(h, print_, print_) is not None

    def evict(self, h, print_):
        before, sub = bytes(self.subs[-1]), self.subs[-1]
        n, bucket, victim = len(sub) // self.size, h, 0
        for _ in range(self.iterations):
            at = bucket % n * self.size + victim
            print_, sub[at] = sub[at], print_
            bucket = bucket % n ^ print_ * 0x5BD1E995
            where = self.find(sub, bucket, 0)
            if where is not None:
                sub[where] = print_
                self.evictions += 1
                return True
            victim = (victim + 1) % self.size
        sub[:] = before
        return False

    def add(self, key):
        h, print_ = self.hash(key)
        free = self.search(h, print_, 0)
        if not free and self.evict(h, print_):
            self.items += 1
            return
        if not free:
            if self.expansion == 0:
                raise Full
            self.subs.append(bytearray(len(self.subs[-1]) * self.expansion))
            free = self.search(h, print_, 0)
        free[0][free[1]] = print_
        self.items += 1

    def remove(self, key):
        h, print_ = self.hash(key)
        there = self.search(h, print_, print_)
        if not there:
            return False
        there[0][there[1]] = 0
        self.items -= 1
        self.deletes += 1
        if len(self.subs) > 1 and self.deletes * 10 > self.items:
            self.compact()
        return True

    def compact(self):
        self.compactions += 1
        while len(self.subs) > 1:
            newest = self.subs[-1]
            for at, print_ in enumerate(newest):
                bucket = at // self.size
                for sub in self.subs[:-1] if print_ else ():
                    where = self.find(sub, bucket, 0)
                    if where is None:
                        where = self.find(sub, bucket ^ print_ * 0x5BD1E995, 0)
                    if where is not None:
                        sub[where], newest[at] = print_, 0
                        break
            if any(newest):
                break
            self.subs.pop()
        self.deletes = 0

    def header(self):
        numbers = (self.items, self.buckets, self.deletes, len(self.subs))
        return struct.pack("<QQQQHHH", *numbers, self.size, self.iterations, self.expansion)

    def data(self):
        return b"".join(map(bytes, self.subs))

    def fields(self, encoding):
        yield from (len(self.subs), self.buckets, self.items)
        if encoding >= 4:
            yield from (self.deletes, self.size, self.iterations, self.expansion)
        for sub in self.subs:
            if encoding >= 4:
                yield len(sub) // self.size
            yield bytes(sub)

    @staticmethod
    def read(header, data):
        assert len(header) == 38
        items, buckets, deletes, n, size, iterations, expansion = struct.unpack("<QQQQHHH", header)
        f = Cuckoo(buckets, size, iterations, expansion)
        f.items, f.deletes, f.subs = items, deletes, []
        for i in range(n):
            slots = buckets * expansion**i * size
            f.subs.append(bytearray(data[:slots]))
            data = data[slots:]
        assert not data and sum(map(len, f.subs)) - f.data().count(0) == items
        return f


# ---- the files ---------------------------------------------------------------------------------


def old_bloom(options, *links):
    return lambda: Bloom(copy.deepcopy(list(links)), options)


def old_cuckoo(*numbers):
    return lambda: Cuckoo.create(*numbers)


# Name: encoding, how the filter is created, the operations `before`, the operations `after`.
CASES = {
    "bloom-empty": (4, ("bloom", 0.01, 100, 2, 0), [], [("add", 0, 5)]),
    "bloom-small": (4, ("bloom", 0.01, 100, 2, 0), [("add", 1, 21)], [("add", 21, 60)]),
    "bloom-chain": (4, ("bloom", 0.01, 50, 2, 0), [("add", 0, 600)], [("add", 600, 900)]),
    "bloom-even": (4, ("bloom", 0.05, 40, 1, 0), [("add", 0, 300)], [("add", 200, 400)]),
    "bloom-steep": (4, ("bloom", 0.001, 10, 10, 0), [("add", 0, 100)], [("add", 100, 130)]),
    "bloom-full": (4, ("bloom", 0.02, 80, 2, 1), [("try", 0, 100)], [("try", 100, 110)]),
    "bloom-exact": (4, ("bloom", 1e-9, 30, 4, 0), [("add", 0, 45)], [("add", 45, 60)]),
    "bloom-3": (3, old_bloom(5, Link(40, 0.01)), [("add", 0, 100)], [("add", 100, 200)]),
    "bloom-2": (2, old_bloom(5, Link(64, 0.02)), [("add", 0, 60)], [("add", 60, 90)]),
    "bloom-2-rounded": (2, old_bloom(4, Link.rounded(50, 0.01)), [("add", 0, 50)], [("add", 50, 200)]),
    "bloom-2-narrow": (2, old_bloom(1, Link(70, 0.01)), [("add", 0, 70)], [("add", 70, 150)]),
    "bloom-2-bits": (2, old_bloom(7, Link(90, 0.03)), [("add", 0, 30)], [("add", 30, 60)]),
    "bloom-1": (1, old_bloom(0, Link.rounded(100, 0.01)), [("add", 0, 90)], [("add", 90, 250)]),
    "bloom-1-chain": (
        1, old_bloom(0, Link.rounded(30, 0.01), Link.rounded(60, 0.005)),
        [("add", 0, 60)], [("add", 60, 80)],
    ),
    "bloom-0": (0, old_bloom(0, Link.unaligned(77, 0.01)), [("add", 0, 77)], [("add", 77, 100)]),
    "cuckoo-empty": (4, ("cuckoo", 1024, 2, 20, 1), [], [("add", 0, 50)]),
    "cuckoo-small": (4, ("cuckoo", 64, 2, 20, 1), [("add", 1, 21)], [("absent", 1, 30)]),
    "cuckoo-evicted": (4, ("cuckoo", 256, 4, 200, 1), [("add", 0, 225)], [("add", 225, 240)]),
    "cuckoo-chain": (4, ("cuckoo", 64, 2, 20, 1), [("add", 0, 300)], [("add", 300, 360)]),
    "cuckoo-steep": (4, ("cuckoo", 16, 3, 20, 4), [("add", 0, 300)], [("add", 300, 800)]),
    "cuckoo-full": (4, ("cuckoo", 64, 2, 30, 0), [("try", 0, 80)], [("del", 0, 5), ("try", 80, 99)]),
    "cuckoo-deleted": (
        4, ("cuckoo", 256, 4, 50, 2), [("add", 0, 200), ("del", 0, 90)],
        [("add", 200, 260), ("del", 100, 120)],
    ),
    "cuckoo-thinned": (
        4, ("cuckoo", 64, 2, 20, 2), [("add", 0, 260), ("del", 250, 260)],
        [("compact", 0, 1), ("add", 260, 300)],
    ),
    "cuckoo-compacted": (
        4, ("cuckoo", 64, 4, 20, 1), [("add", 0, 180), ("del", 100, 180)], [("add", 180, 250)],
    ),
    "cuckoo-copies": (
        4, ("cuckoo", 512, 4, 20, 1), [("add", 0, 90), ("add", 0, 30), ("add", 0, 5)],
        [("del", 0, 5), ("absent", 0, 100)],
    ),
    "cuckoo-3": (3, old_cuckoo(128, 2, 20, 1), [("add", 0, 100)], [("add", 100, 300)]),
    "cuckoo-2": (2, old_cuckoo(128, 2, 20, 1), [("add", 0, 400)], [("add", 400, 500)]),
    "cuckoo-1": (1, old_cuckoo(64, 4, 20, 1), [("add", 0, 50)], [("del", 0, 10)]),
    "cuckoo-0": (0, old_cuckoo(32, 2, 20, 1), [("add", 0, 20)], [("add", 20, 40)]),
}

KINDS = {"bloom": Bloom, "cuckoo": Cuckoo}


def field(value):
    if isinstance(value, float):
        return "D " + struct.pack(">d", value).hex()
    if isinstance(value, bytes):
        return "S " + value.hex()
    return f"U {value}"


def make(name):
    """Returns the text of a file, and the filter after all operations."""
    encoding, how, before, after = CASES[name]
    # The keys of a dump made by RedisBloom: see check_self.
    prefix = "http://example.com/" if name in ("bloom-small", "cuckoo-small") else "key-"
    f = how() if callable(how) else KINDS[how[0]].create(*how[1:])
    lines = [f"type {f.kind}", f"encoding {encoding}"]
    if f.kind == "cuckoo" and encoding < 4:
        lines.append(f"settings {f.iterations} {f.expansion}")
    lines.append(f"prefix {prefix}")
    if not callable(how):
        lines.append("create " + " ".join(map(repr, how[1:])))
    lines += [f"before {op} {a} {b}" for op, a, b in before]
    f.run(before, prefix)
    lines += map(field, f.fields(encoding))
    lines.append("header " + f.header().hex())
    lines += [f"after {op} {a} {b}" for op, a, b in after]
    f.run(after, prefix)
    lines += ["after-header " + f.header().hex(), "after-data " + f.data().hex()]
    return "\n".join(lines) + "\n", f


def expected(programs):
    """Returns the numbers of the keys that a filter certainly contains after these operations."""
    there = set()
    for op, first, last in programs:
        if op == "add":
            there |= set(range(first, last))
        elif op == "del":
            there -= set(range(first, last))
    return there


def read(name, text):
    """Checks that the filter in the bytes of a file contains the keys that its text lists."""
    lines = [line.split(" ", 1) for line in text.splitlines()]
    one = {word: rest for word, rest in lines}
    strings = b"".join(bytes.fromhex(rest) for word, rest in lines if word == "S")
    before = [rest.split() for word, rest in lines if word == "before"]
    after = [rest.split() for word, rest in lines if word == "after"]
    kind = KINDS[one["type"]]
    states = (
        (one["header"], strings, before),
        (one["after-header"], bytes.fromhex(one["after-data"]), before + after),
    )
    for header, data, program in states:
        f = kind.read(bytes.fromhex(header), data)
        numbers = [(op, int(a), int(b)) for op, a, b in program]
        for i in expected(numbers):
            assert (one["prefix"] + str(i)).encode() in f, f"{name}: key {i} is missing"
        false_positives = sum(f"absent-{i}".encode() in f for i in range(500))
        assert false_positives < 150, f"{name}: {false_positives} false positives in 500 lookups"


def check_self():
    assert smhasher(murmur2, 4) == 0x27864C1E
    assert smhasher(murmur64a, 8) == 0x1F0D3804
    # The bits that RedisBloom set for these keys, with error 0.01 and capacity 100.
    f = Bloom.create(0.01, 100, 2, 0)
    f.run([("add", 1, 21)], "http://example.com/")
    assert hashlib.sha256(f.data()).hexdigest().startswith("8b56b4324124be54")
    assert len(f.data()) == 144 and f.links[0].hashes == 8


def check_cases(ends):
    """Checks that the cases cover what they are meant to test."""
    assert len(ends["bloom-chain"].links) >= 4 and len(ends["bloom-even"].links) >= 8
    assert ends["bloom-1"].links[0].n2 > 0 and len(ends["bloom-1"].links) >= 2
    assert ends["bloom-0"].links[0].bits % 8 != 0
    assert ends["bloom-full"].items() == ends["bloom-full"].links[0].capacity
    assert ends["cuckoo-evicted"].evictions > 5 and len(ends["cuckoo-evicted"].subs) == 1
    assert len(ends["cuckoo-chain"].subs) >= 4 and ends["cuckoo-chain"].evictions > 5
    assert len(ends["cuckoo-steep"].subs) >= 3
    assert ends["cuckoo-compacted"].compactions > 0 and ends["cuckoo-thinned"].compactions == 1


def main():
    check_self()
    if sys.argv[1:2] == ["--make"]:
        os.makedirs(sys.argv[2], exist_ok=True)
        for name in CASES:
            with open(os.path.join(sys.argv[2], name + ".txt"), "w") as out:
                out.write(make(name)[0])
        return
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.join(TESTS, "golden", "redisbloom")
    assert sorted(os.listdir(directory)) == sorted(name + ".txt" for name in CASES)
    ends = {}
    for name in CASES:
        with open(os.path.join(directory, name + ".txt")) as file:
            text = file.read()
        wanted, ends[name] = make(name)
        assert text == wanted, f"{name} differs from what its program makes"
        read(name, text)
    check_cases(ends)
    print(f"{len(CASES)} files of RedisBloom's structures are correct")


if __name__ == "__main__":
    main()
