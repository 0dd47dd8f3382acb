"""Data of RedisBloom in a real server: the hand-written files of tests/golden/redisbloom are loaded
by RESTORE (every encoding), by LOADCHUNK and from an RDB file, are used, and are dumped unchanged.
"""
import os
import struct

from dumps import NUMBER, REAL, STRING, Dump
from harness import ROOT, Server, digests, eq, main, ok, rewrite_aof

GOLDEN = os.path.join(ROOT, "tests/golden/redisbloom")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
TYPES = {"bloom": "MBbloom--", "cuckoo": "MBbloomCF"}


def type_id(name, encoding):
    """The id of a type: nine letters of six bits, and ten bits of encoding."""
    number = 0
    for letter in name:
        number = number << 6 | LETTERS.index(letter)
    return number << 10 | encoding


class Golden:
    """A file; tests/formats/redisbloom_reader.py describes its fields."""

    def __init__(self, path):
        self.name = os.path.basename(path)[:-4]
        self.fields, self.said = [], {"before": [], "after": []}
        with open(path, encoding="ascii") as file:
            for line in file:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "U":
                    self.fields.append((NUMBER, int(rest)))
                elif word == "D":
                    self.fields.append((REAL, struct.unpack("<d", struct.pack("<Q", int(rest, 16)))[0]))
                elif word == "S":
                    self.fields.append((STRING, bytes.fromhex(rest)))
                elif word in ("before", "after"):
                    op, first, last = (rest.split() + ["0", "0"])[:3]
                    self.said[word].append((op, int(first), int(last)))
                else:
                    self.said[word] = rest
        self.kind = self.said["type"]
        self.family = "BF" if self.kind == "bloom" else "CF"
        self.encoding = int(self.said["encoding"])
        self.data = b"".join(value for opcode, value in self.fields if opcode == STRING)
        self.header = bytes.fromhex(self.said["header"])

    def payload(self, version):
        return Dump(type_id(TYPES[self.kind], self.encoding), self.fields, version).pack()

    def keys(self, when="before"):
        """The keys that must be found: added, and not deleted since."""
        there = set()
        for op, first, last in self.said[when]:
            numbers = range(first, last)
            if op in ("add", "absent"):
                there.update(numbers)
            elif op == "del":
                there.difference_update(numbers)
        return [f"{self.said['prefix']}{i}" for i in sorted(there)]


def all_golden():
    return [Golden(os.path.join(GOLDEN, name)) for name in sorted(os.listdir(GOLDEN))
            if name.endswith(".txt")]


def dumped(c, family, key):
    """The header and the data that SCANDUMP returns."""
    at, parts = 0, []
    while True:
        at, chunk = c.must(f"{family}.SCANDUMP", key, at)
        if at == 0:
            return parts[0] if parts else b"", b"".join(parts[1:])
        parts.append(chunk)


def has_all(c, golden, key):
    names = golden.keys()
    for i in range(0, len(names), 500):
        answers = c.must(f"{golden.family}.MEXISTS", key, *names[i:i + 500])
        ok(all(answers), f"{golden.name}: a key is missing")


def server_for(*config):
    server = Server("rdbcompression no", *config)
    c = server.client()
    c.must("BF.RESERVE", "probe", "0.01", "10")
    version = c.must("DUMP", "probe")[-10:-8]
    c.must("DEL", "probe")
    return server, c, version


def test_restore_every_encoding():
    _, c, version = server_for()
    files = all_golden()
    eq({(g.kind, g.encoding) for g in files},
       {(kind, encoding) for kind in TYPES for encoding in range(5)}, "what the files cover")
    ok(sum(len(g.keys()) for g in files) > 2000, "the files have keys")
    for golden in files:
        c.must("RESTORE", golden.name, 0, golden.payload(version))
        eq(str(c.must("TYPE", golden.name)), TYPES[golden.kind], golden.name)
        has_all(c, golden, golden.name)
        if golden.encoding == 4:
            eq(c.must("DUMP", golden.name), golden.payload(version), f"{golden.name} goes back")


def test_chunks_there_and_back():
    _, c, _ = server_for()
    for golden in all_golden():
        if not golden.data.strip(b"\0") and golden.kind == "cuckoo":
            continue  # an empty cuckoo filter has no dump
        load = f"{golden.family}.LOADCHUNK"
        c.must(load, golden.name, 1, golden.header)
        number = 1
        for opcode, value in golden.fields:
            if opcode != STRING:
                continue
            for i in range(0, len(value), 300):
                piece = value[i:i + 300]
                number += len(piece)
                c.must(load, golden.name, number, piece)
        has_all(c, golden, golden.name)
        eq(dumped(c, golden.family, golden.name), (golden.header, golden.data), golden.name)


def test_goes_on_as_redisbloom_would():
    """The same operations result in the same bytes as in the independent program."""
    server, c, version = server_for()
    tried = 0
    for golden in all_golden():
        if "after-data" not in golden.said or any(op in ("try", "absent") for op, *_ in
                                                  golden.said["after"]):
            continue
        if golden.encoding != 4 and golden.kind == "cuckoo":
            continue  # the server's settings determine what such a file lacks
        c.must("RESTORE", golden.name, 0, golden.payload(version))
        for op, first, last in golden.said["after"]:
            names = [f"{golden.said['prefix']}{i}" for i in range(first, last)]
            if op == "add" and golden.kind == "bloom":
                c.must("BF.MADD", golden.name, *names)
            elif op == "add":
                c.must("CF.INSERT", golden.name, "ITEMS", *names)
            elif op == "del":
                for name in names:
                    c.must("CF.DEL", golden.name, name)
            else:
                c.must("CF.COMPACT", golden.name)
        header, data = dumped(c, golden.family, golden.name)
        eq(header.hex(), golden.said["after-header"], golden.name)
        eq(data.hex(), golden.said["after-data"], golden.name)
        tried += 1
    ok(tried >= 10, f"only {tried} files say what follows")
    before = digests(c)
    c.close()
    server.restart(save=True)
    with server.client() as c:
        eq(digests(c), before, "after a restart")


def test_rdb_and_aof_of_the_old_layout():
    server, c, version = server_for("appendonly yes", "aof-use-rdb-preamble no")
    for golden in all_golden():
        c.must("RESTORE", golden.name, 0, golden.payload(version))
    before = digests(c)
    c.must("DEBUG", "RELOAD")
    eq(digests(c), before, "after an RDB file")
    rewrite_aof(c)
    c.must("DEBUG", "LOADAOF")
    after = digests(c)
    eq(after, before, "after an AOF file")
    for golden in all_golden():
        has_all(c, golden, golden.name)
    c.close()
    server.stop()


if __name__ == "__main__":
    main(globals())
