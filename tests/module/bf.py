"""bf.py - every reply and every error of BF.*, in both protocols."""
import math
import struct

from harness import (Error, Server, Simple, as_dict, digests, eq, fails, main, ok, pair,
                     rewrite_aof, wait_sync)
from protocols import OK, WRONGTYPE, both, dump, events, load

RANGE = "[1, 1099511627776]"
OLD_RANGE = "[1, 1073741824]"
FULL = Error("ERR non scaling filter is full")
LOADING = Error("ERR filter is being loaded; send its other chunks, or DEL the key")


def numbers(first, last):
    return " ".join(f"n{i}" for i in range(first, last))


def test_reserve():
    def exchange(t):
        t.says("BF.RESERVE a 0.01 1000", OK)
        t.says("bf.reserve b 0.01 1000 expansion 4", OK)
        t.says("BF.RESERVE c 0.01 1000 nonScaling", OK)
        t.says("BF.RESERVE d 0.01 1000 EXPANSION 0", OK)
        t.says("BF.RESERVE e 0.9 1000", OK)
        t.says("BF.RESERVE f 0.01 1000 NONSCALING EXPANSION 0", OK)
        t.says("BF.RESERVE g 1e-3 1 EXPANSION 32768", OK)
        for key, expansion in (("a", 2), ("b", 4), ("c", None), ("d", None), ("f", None)):
            eq(as_dict(t(f"BF.INFO {key}"))["Expansion rate"], expansion)
        t("SET s x")
        t("CF.RESERVE cf 1000")
        t.refuses(["BF.RESERVE a 0.01 1000", "BF.RESERVE c 0.01 1000"], "ERR item exists")
        t.says("BF.RESERVE s 0.01 1000", WRONGTYPE)
        t.says("BF.RESERVE cf 0.01 1000", WRONGTYPE)
        t.arity("BF.RESERVE", "BF.RESERVE x", "BF.RESERVE x 0.1", "BF.RESERVE x .1 10 1 2 3 4")
        t.says("EXISTS x", 0)
    both(exchange)


def test_reserve_errors():
    def exchange(t):
        t.refuses(["BF.RESERVE x abc 10", "BF.RESERVE x nan 10", "BF.RESERVE x '' 10",
                   "BF.RESERVE x '0.1 ' 10"], "ERR bad error rate")
        t.refuses(["BF.RESERVE x 0 10", "BF.RESERVE x 1 10", "BF.RESERVE x -0.1 10",
                   "BF.RESERVE x 2 10", "BF.RESERVE x inf 10"],
                  "ERR error rate must be in the range (0.000000, 1.000000)")
        t.refuses(["BF.RESERVE x 0.1 ten", "BF.RESERVE x 0.1 1.5", "BF.RESERVE x 0.1 ''"],
                  "ERR bad capacity")
        t.refuses(["BF.RESERVE x 0.1 0", "BF.RESERVE x 0.1 -1", "BF.RESERVE x 0.1 1099511627777"],
                  f"ERR capacity must be in the range {RANGE}")
        t.refuses(["BF.RESERVE x 0.1 10 EXPANSION", "BF.RESERVE x 0.1 10 NONSCALING EXPANSION"],
                  "ERR no expansion")
        t.refuses(["BF.RESERVE x 0.1 10 EXPANSION two", "BF.RESERVE x 0.1 10 EXPANSION NONSCALING"],
                  "ERR bad expansion")
        t.refuses(["BF.RESERVE x 0.1 10 EXPANSION -1", "BF.RESERVE x 0.1 10 EXPANSION 32769"],
                  "ERR expansion must be in the range [0, 32768]")
        t.refuses(["BF.RESERVE x 0.1 10 NONSCALING EXPANSION 2",
                   "BF.RESERVE x 0.1 10 EXPANSION 2 NONSCALING"],
                  "Nonscaling filters cannot expand")
        t.refuses("BF.RESERVE x 0.1 10 FOO", "ERR unknown argument 'FOO'")
        t.refuses("BF.RESERVE x 0.1 10 NONSCALINGS", "ERR unknown argument 'NONSCALINGS'")
        t.says("BF.RESERVE x 0.1 10", Error("ERR unknown argument 'a??b'"), b"a\r\nb")
        # Arguments are checked in this order: rate, capacity, options, key.
        t("SET s x")
        t.refuses("BF.RESERVE s 7 0 EXPANSION -1",
                  "ERR error rate must be in the range (0.000000, 1.000000)")
        t.refuses("BF.RESERVE s 0.1 0 EXPANSION -1", f"ERR capacity must be in the range {RANGE}")
        t.refuses("BF.RESERVE s 0.1 1 EXPANSION -1",
                  "ERR expansion must be in the range [0, 32768]")
        t.says("EXISTS x", 0)
    both(exchange)


def test_add():
    def exchange(t):
        t.says("BF.ADD k a", t.yes)
        t.says("BF.ADD k a", t.no)
        t.says("BF.MADD k a b c b", [t.no, t.yes, t.yes, t.no])
        t.says("BF.MADD new a a", [t.yes, t.no])
        t.says("BF.EXISTS k b", t.yes)
        t.says("BF.EXISTS k absent", t.no)
        t.says("BF.MEXISTS k a absent c", [t.yes, t.no, t.yes])
        t.says("BF.EXISTS none a", t.no)
        t.says("BF.MEXISTS none a b", [t.no, t.no])
        t.says("BF.ADD k", t.yes, b"\x00\xff\r\n")
        t.says("BF.EXISTS k", t.yes, b"\x00\xff\r\n")
        t.says("BF.ADD k ''", t.yes)
        t.says("BF.EXISTS k ''", t.yes)
        t.says("BF.CARD k", 5)
        t.says("BF.CARD none", 0)
        t("SET s x")
        t.says("CF.ADD cf x", t.yes)
        for key in ("s", "cf"):
            for command in ("ADD", "MADD", "EXISTS", "MEXISTS"):
                t.says(f"BF.{command} {key} a", WRONGTYPE)
            t.says(f"BF.CARD {key}", WRONGTYPE)
            t.says(f"BF.INSERT {key} ITEMS a", WRONGTYPE)
        t.arity("BF.ADD k", "BF.ADD k a b", "BF.MADD k", "BF.EXISTS k", "BF.EXISTS k a b",
                "BF.MEXISTS k", "BF.CARD", "BF.CARD k a")
        # More items than a batch keeps on the stack.
        t.says(f"BF.MADD many {numbers(0, 1000)}", [t.yes] * 1000)
        t.says(f"BF.MEXISTS many {numbers(0, 1000)}", [t.yes] * 1000)
        t.says("BF.CARD many", 1000)
    both(exchange)


def test_full():
    def exchange(t):
        for key, make in (("f", "NONSCALING"), ("g", "EXPANSION 0")):
            t.says(f"BF.RESERVE {key} 0.0001 10 {make}", OK)
            t.says(f"BF.MADD {key} {numbers(0, 8)}", [t.yes] * 8)
            t.says(f"BF.MADD {key} n0 n8 n9 n1 n10 n11 n2", [t.no, t.yes, t.yes, t.no, FULL])
            t.says(f"BF.ADD {key} n12", FULL)
            t.says(f"BF.ADD {key} n3", t.no)
            t.says(f"BF.INSERT {key} ITEMS n3 n13 n3", [t.no, FULL])
            t.says(f"BF.CARD {key}", 10)
            t.says(f"BF.MEXISTS {key} n9 n10", [t.yes, t.no])
    both(exchange)
    both(exchange, args="compat-layout yes")


def test_insert():
    def exchange(t):
        t.says("BF.INSERT a ITEMS x y x", [t.yes, t.yes, t.no])
        t.says("BF.INSERT b CAPACITY 5000 ERROR 0.001 EXPANSION 3 ITEMS x", [t.yes])
        t.says("BF.INFO b CAPACITY", [5000] if t.resp == 2 else t.map(("Capacity", 5000)))
        t.says("BF.INFO b EXPANSION", [3] if t.resp == 2 else t.map(("Expansion rate", 3)))
        t.says("bf.insert c nonscaling items items", [t.yes])
        t.says("BF.INFO c EXPANSION", [None] if t.resp == 2 else t.map(("Expansion rate", None)))
        t.says("BF.INSERT d NONSCALING EXPANSION 2 ITEMS x", [t.yes])
        t.says("BF.INFO d EXPANSION", [None] if t.resp == 2 else t.map(("Expansion rate", None)))
        t.says("BF.INSERT e EXPANSION 0 ITEMS x", [t.yes])
        t.says("BF.INFO e EXPANSION", [None] if t.resp == 2 else t.map(("Expansion rate", None)))
        t.says("BF.INSERT a NOCREATE CAPACITY 7 ITEMS x z", [t.no, t.yes])
        t.refuses("BF.INSERT none NOCREATE ITEMS x", "ERR not found")
        t.refuses(["BF.INSERT n ERROR 0 ITEMS x", "BF.INSERT n ERROR 1 ITEMS x",
                   "BF.INSERT n ERROR nan ITEMS x", "BF.INSERT n ERROR x ITEMS x"],
                  "Bad error rate")
        t.refuses(["BF.INSERT n CAPACITY 0 ITEMS x", "BF.INSERT n CAPACITY 1.5 ITEMS x",
                   "BF.INSERT n CAPACITY 1099511627777 ITEMS x"], "Bad capacity")
        t.refuses(["BF.INSERT n EXPANSION -1 ITEMS x", "BF.INSERT n EXPANSION 32769 ITEMS x",
                   "BF.INSERT n EXPANSION x ITEMS x"], "Bad expansion")
        t.refuses(["BF.INSERT n FOO ITEMS x", "BF.INSERT n CAP 10 ITEMS x", "BF.INSERT n I x",
                   "BF.INSERT n x y"], "Unknown argument received")
        t.arity("BF.INSERT n ITEMS", "BF.INSERT n NOCREATE ITEMS", "BF.INSERT n CAPACITY 10",
                "BF.INSERT n NOCREATE NONSCALING", "BF.INSERT n NOCREATE ERROR")
        t.says("EXISTS n none", 0)
    both(exchange)


def test_info():
    def exchange(t):
        t.says("BF.RESERVE k 0.01 1000", OK)
        t.says("BF.MADD k a b c", [t.yes] * 3)
        size = as_dict(t("BF.INFO k"))["Size"]
        ok(1000 < size < 4000, f"Size {size}")
        fields = [("Capacity", 1000), ("Size", size), ("Number of filters", 1),
                  ("Number of items inserted", 3), ("Expansion rate", 2)]
        t.says("BF.INFO k", t.map(*fields))
        for word, field in zip(("CAPACITY", "size", "Filters", "ITEMS", "EXPANSION"), fields):
            t.says(f"BF.INFO k {word}", [field[1]] if t.resp == 2 else t.map(field))
        t.refuses("BF.INFO k FOO", "Invalid information value")
        t.refuses(["BF.INFO none", "BF.INFO none SIZE", "BF.DEBUG none", "BF.SCANDUMP none 0",
                   "BF.SCANDUMP none x"], "ERR not found")
        t("SET s x")
        t("CF.ADD cf x")
        for key in ("s", "cf"):
            for command in (f"BF.INFO {key}", f"BF.DEBUG {key}", f"BF.SCANDUMP {key} 0"):
                t.says(command, WRONGTYPE)
        t.arity("BF.INFO", "BF.INFO k a b", "BF.DEBUG", "BF.DEBUG k k", "BF.SCANDUMP k",
                "BF.SCANDUMP k 0 0", "BF.LOADCHUNK k 1", "BF.LOADCHUNK k 1 a b")
        lines = t("BF.DEBUG k")
        eq(lines[0], b"size:3")
        fields = [word.split(b":")[0] for word in lines[1].split()]
        eq(fields, [b"bytes", b"bits", b"hashes", b"hashwidth", b"capacity", b"size", b"ratio"])
        t(f"BF.MADD k {numbers(0, 4000)}")
        eq(len(t("BF.DEBUG k")), 4, "three levels")
        eq(as_dict(t("BF.INFO k"))["Number of filters"], 3)
    both(exchange)


def test_redisbloom_numbers():
    """With RedisBloom's layout the numbers are RedisBloom's."""
    def exchange(t):
        t.says("BF.RESERVE k 0.01 100", OK)
        t.says("BF.MADD k a b c", [t.yes] * 3)
        # 100 keys at 0.005: 1102.8 bits, up to 1152; 8 hashes.
        t.says("BF.INFO k", t.map(("Capacity", 100), ("Size", 32 + 64 + 144),
                                  ("Number of filters", 1), ("Number of items inserted", 3),
                                  ("Expansion rate", 2)))
        t.says("BF.DEBUG k", [b"size:3", b"bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:100 "
                                         b"size:3 ratio:0.005"])
        t(f"BF.MADD k {numbers(0, 250)}")
        eq(len(t("BF.DEBUG k")), 3, "two links")
        t.says("BF.CARD k", int)
        eq(t("OBJECT ENCODING k"), b"raw")
        eq(t("TYPE k"), Simple("MBbloom--"))
        # RedisBloom's numbers: 32 bytes for the chain, 64 for each link, and the bits.
        for line, size in (("0.001 100", 296), ("0.01 100", 240), ("0.01 3 NONSCALING", 104),
                           ("0.0001 1000000", 2576704)):
            t.says(f"BF.RESERVE s {line}", OK)
            t.says("BF.INFO s size", [size] if t.resp == 2 else t.map(("Size", size)))
            t("DEL s")
        t.says("BF.RESERVE s 0.01 100", OK)
        t(f"BF.MADD s {numbers(0, 150)}")  # 200 keys at 0.0025: 2494 bits, up to 2496
        eq(as_dict(t("BF.INFO s"))["Size"], 32 + 2 * 64 + 144 + 312)
    both(exchange, args="compat-layout yes")


def test_compat():
    def exchange(t):
        t("SET s x")
        t("CF.ADD cf x")
        for key in ("s", "cf"):
            t.says(f"BF.EXISTS {key} x", t.no)
            t.says(f"BF.MEXISTS {key} x y", [t.no, t.no])
            t.says(f"BF.ADD {key} x", WRONGTYPE)
            t.says(f"BF.CARD {key}", WRONGTYPE)
        t.says("BF.RESERVE a 0.01 10 FOO", OK)
        t.says("BF.RESERVE b 0.9 100 NONSCALING", OK)
        t.says("BF.RESERVE c 0.25 100 NONSCALING", OK)
        eq(t("BF.INFO b SIZE"), t("BF.INFO c SIZE"), "capped at 0.25")
        t.refuses("BF.RESERVE x 0.1 1073741825", f"ERR capacity must be in the range {OLD_RANGE}")
        t.refuses("BF.INSERT x CAPACITY 1073741825 ITEMS a", "Bad capacity")
        t.says("BF.INSERT d cap 50 err 0.1 exp 4 i x", [t.yes])
        t.says("BF.INFO d EXPANSION", [4] if t.resp == 2 else t.map(("Expansion rate", 4)))
        t.says("BF.INFO d CAPACITY", [50] if t.resp == 2 else t.map(("Capacity", 50)))
        t.refuses("BF.INSERT none nocr items x", "ERR not found")
        t.says("BF.INSERT e nope items x", [t.yes])
        t.says("BF.INFO e EXPANSION", [None] if t.resp == 2 else t.map(("Expansion rate", None)))
        t.refuses("BF.INSERT e what items x", "Unknown argument received")
    both(exchange, args="compat yes")


def test_defaults():
    def exchange(t):
        t.config(bf_error_rate="0.001", bf_initial_size="500", bf_expansion_factor="3")
        t("BF.ADD k x")
        t.says("BF.INFO k CAPACITY", [500] if t.resp == 2 else t.map(("Capacity", 500)))
        t.says("BF.INFO k EXPANSION", [3] if t.resp == 2 else t.map(("Expansion rate", 3)))
        t.config(bf_expansion_factor="0", bf_initial_size="2")
        t.says("BF.MADD fixed a b c", [t.yes, t.yes, FULL])
        t.says("BF.INSERT grows EXPANSION 2 ITEMS a b c", [t.yes] * 3)
    both(exchange)


# ---- dumps ----------------------------------------------------------------------------------

def test_scandump():
    def exchange(t):
        t.says("BF.RESERVE k 0.01 1000", OK)
        t(f"BF.MADD k {numbers(0, 3000)}")
        t.refuses("BF.SCANDUMP k x", "Second argument must be numeric")
        t.says("BF.SCANDUMP k -1", [0, b""])
        chunks, end = dump(t.client, "BF", "k")
        eq(end, b"")
        eq(chunks[0][0], 1)
        for (before, _), (at, data) in zip(chunks, chunks[1:]):
            eq(at, before + len(data))
        t.says("BF.SCANDUMP k 1000000000", [0, b""])
        load(t.client, "BF", "copy", chunks)
        eq(*digests(t.client, "k", "copy").values())
        t.says("BF.CARD copy", t("BF.CARD k"))
        t.says("BF.INFO copy EXPANSION", t("BF.INFO k EXPANSION"))
        t.says("BF.INFO copy FILTERS", t("BF.INFO k FILTERS"))
        t.says(f"BF.MEXISTS copy {numbers(0, 3000)}", [t.yes] * 3000)
        t.says("BF.ADD copy more", t.yes)
    both(exchange)
    both(exchange, args="compat-layout yes")


def test_scandump_in_pieces():
    """A load of several chunks may be interrupted and started again."""
    def exchange(t, capacity):
        t.says(f"BF.RESERVE k 0.001 {capacity} NONSCALING", OK)
        t(f"BF.MADD k {numbers(0, 3000)}")
        chunks, _ = dump(t.client, "BF", "k")
        ok(len(chunks) >= 3, "several chunks")
        load(t.client, "BF", "half", chunks[:-1])
        t.says("BF.EXISTS half n1", t.yes)
        t.says("BF.MEXISTS half n1 absent", [t.yes, t.yes])
        for command in ("BF.ADD half x", "BF.MADD half x", "BF.INSERT half ITEMS x", "BF.CARD half",
                        "BF.INFO half", "BF.DEBUG half", "BF.SCANDUMP half 0"):
            t.says(command, LOADING)
        t.refuses("BF.RESERVE half 0.1 10", "ERR item exists")
        load(t.client, "BF", "half", chunks[:2])
        load(t.client, "BF", "half", chunks[1:])
        eq(*digests(t.client, "k", "half").values())
        t.says("BF.MEXISTS half n1 absent", [t.yes, t.no])
        t.says("BF.INFO half EXPANSION", [None] if t.resp == 2 else t.map(("Expansion rate", None)))
    both(lambda t: exchange(t, 5000000))
    both(lambda t: exchange(t, 10000000), args="compat-layout yes")


def test_own_chunks():
    """Errors that only dumps of our own layout have."""
    def exchange(t):
        t.says("BF.RESERVE k 0.001 6000000 NONSCALING", OK)
        t(f"BF.MADD k {numbers(0, 3000)}")
        for never in (1, 7, 1 << 40):
            t.refuses(f"BF.SCANDUMP k {never}",
                      "ERR no dump of this filter was started; start at 0")
        chunks, _ = dump(t.client, "BF", "k")
        eq(chunks[0][1][:8], b"BLYDUMP1")
        t("BF.SCANDUMP k 0")
        t("BF.ADD k another")
        for old in (chunks[1][0], 1, 7):
            t.refuses(f"BF.SCANDUMP k {old}",
                      "ERR the filter changed during the dump; start again at 0, or dump a COPY")
        bad = Error("ERR received bad data")
        t.says("BF.LOADCHUNK x 1", bad, chunks[0][1][:-1])
        t.says("BF.LOADCHUNK x 1", bad, chunks[0][1][:50] + b"?" + chunks[0][1][51:])
        t.says("CF.LOADCHUNK x 1", Error("Couldn't create filter!"), chunks[0][1])
        t.says("EXISTS x", 0)
        load(t.client, "BF", "x", chunks[:1])
        t.says(f"BF.LOADCHUNK x {chunks[2][0]}",
               Error("ERR expected the chunk that SCANDUMP returns at 1"), chunks[2][1])
        t.says(f"BF.LOADCHUNK x {len(chunks[1][1])}", bad, chunks[1][1])
        load(t.client, "BF", "x", chunks[1:2])
        load(t.client, "BF", "x", chunks[1:2])
        t.says(f"BF.LOADCHUNK x {chunks[2][0]}",
               Error(f"ERR expected the chunk that SCANDUMP returns at {chunks[1][0]}"),
               chunks[2][1][1:])
        load(t.client, "BF", "x", chunks[2:])
        t.says("BF.CARD x", 3000)
        t.says("BF.LOADCHUNK x 1", bad, chunks[0][1])
        t.says(f"BF.LOADCHUNK x {chunks[1][0]}",
               Error("ERR the filter is complete; DEL the key to load another"), chunks[1][1])
        t("DEL x")
        load(t.client, "BF", "x", chunks[:-1])
        at, last = chunks[-1]
        damaged = bytes([last[0] ^ 1]) + last[1:]
        ok(t(f"BF.LOADCHUNK x {at}", damaged).text.startswith("ERR the filter could not be loaded"))
        t.says("EXISTS x", 0)
    both(exchange)


def header(items=3, links=1, options=5, growth=2, bits=1152, nbytes=144, link_items=3, error=0.005,
           bpe=-math.log(0.005) / math.log(2) ** 2, hashes=8, capacity=100, n2=0):
    """A header of RedisBloom, from its fields."""
    head = struct.pack("<QIII", items, links, options, growth)
    return head + struct.pack("<QQQddIQB", nbytes, bits, link_items, error, bpe, hashes, capacity,
                              n2)


def test_redisbloom_chunks():
    """RedisBloom's chunks load into any server, and are dumped again byte for byte."""
    def exchange(t):
        bits = bytes(range(144))
        t.says("BF.LOADCHUNK k 1", OK, header())
        t.says("BF.EXISTS k x", t.yes)
        t.says("BF.ADD k x", LOADING)
        t.says("BF.LOADCHUNK k 45", OK, bits[:44])
        t.says("BF.LOADCHUNK k 145", OK, bits[100:])
        t.says("BF.CARD k", LOADING)
        t.says("BF.LOADCHUNK k 111", OK, bits[40:110])
        t.says("BF.CARD k", 3)
        eq(t("TYPE k"), Simple("MBbloom--"))
        eq(dump(t.client, "BF", "k"), ([(1, header()), (145, bits)], b""))
        t.says("BF.LOADCHUNK k 145", OK, bits)
        ok(t("BF.LOADCHUNK k 2", b"\xff").text.startswith("ERR the filter is complete"))
        eq(t("BF.SCANDUMP k 1")[1], bits)
        t.config(compat="yes")
        t.says("BF.LOADCHUNK k 2", OK, b"\xff")
        eq(t("BF.SCANDUMP k 1")[1][:2], b"\xff\x01")
        t.config(compat="no")
        t.says("BF.LOADCHUNK k 147", Error("ERR invalid chunk - Too big for current filter"),
               b"wxyz")
        t.says("BF.LOADCHUNK k 1000", Error("ERR invalid offset - no link found"), b"xy")
        bad = Error("ERR received bad data")
        t.says("BF.LOADCHUNK k 2", bad, b"xy")
        t.says("BF.LOADCHUNK k 0", bad, b"")
        t.says("BF.LOADCHUNK k -5", bad, b"")
        t.says("BF.LOADCHUNK k 1", bad, header())
        for wrong in (header()[:-1], header() + b"\0", header(links=2), header(nbytes=1 << 60),
                      header(hashes=0), header(error=0.0), header(n2=64), b"", b"x" * 38):
            t.says("BF.LOADCHUNK x 1", bad, wrong)
        t.refuses("BF.LOADCHUNK x one data", "ERR Second argument must be numeric")
        t.refuses("BF.LOADCHUNK x 2 data", "ERR not found")
        t("SET s x")
        t.says("BF.LOADCHUNK s 1", WRONGTYPE, header())
        t("CF.ADD cf x")
        t.says("BF.LOADCHUNK cf 1", WRONGTYPE, header())
        t.says("EXISTS x", 0)
    both(exchange)


def test_repeated_chunk():
    """A chunk that is sent again, because its reply was lost, removes nothing that was added
    since."""
    def exchange(t):
        t(f"BF.MADD a {numbers(0, 50)}")
        chunks, _ = dump(t.client, "BF", "a")
        load(t.client, "BF", "b", chunks)
        at, data = chunks[-1]
        t.says(f"BF.LOADCHUNK b {at}", OK, data)
        t.says("BF.ADD b fresh", t.yes)
        ok(isinstance(t(f"BF.LOADCHUNK b {at}", data), Error))
        t.says(f"BF.MEXISTS b fresh {numbers(0, 50)}", [t.yes] * 51)
        t.says("BF.CARD b", 51)
    both(exchange, args="compat-layout yes")


def test_gaps():
    """The number of gaps between chunks is limited."""
    with Server() as server, server.client() as c:
        size = 200000
        c.must("BF.LOADCHUNK", "k", 1, header(nbytes=size, bits=size * 8, capacity=145000, items=0,
                                              link_items=0))
        replies = c.pipeline([("BF.LOADCHUNK", "k", i + 2, b"x") for i in range(0, 140000, 2)])
        eq(len([r for r in replies if not isinstance(r, Error)]), 65536)
        fails(replies[-1], "ERR too many gaps")
        c.must("BF.LOADCHUNK", "k", 2 + 1, b"y")  # closes a gap
        c.must("BF.LOADCHUNK", "k", 2 + 139998, b"x")
        c.must("BF.LOADCHUNK", "k", 1 + size, bytes(size))
        eq(c.must("BF.CARD", "k"), 0)


def test_size_without_dump():
    """The size of a filter does not include a dump that was started."""
    with Server() as server, server.client() as c:
        c.must("BF.MADD", "k", *range(1000))
        c.must("CF.INSERT", "q", "ITEMS", *range(1000))
        before = [c.must("BF.INFO", "k"), c.must("CF.INFO", "q"), c.must("BLY.INFO", "k")]
        usage = c.must("MEMORY", "USAGE", "k")
        for family, key in (("BF", "k"), ("CF", "q")):
            c.must(family + ".SCANDUMP", key, 0)
        eq([c.must("BF.INFO", "k"), c.must("CF.INFO", "q"), c.must("BLY.INFO", "k")], before)
        ok(c.must("MEMORY", "USAGE", "k") > usage, "the memory of the dump is not told")


def test_words_in_errors():
    """Line breaks in arguments do not reach the lines of the protocol."""
    def exchange(t):
        t.says("BF.RESERVE k 0.01 10", Error("ERR unknown argument 'x??-y?'"), b"x\r\n-y\x07")
        t.says("CF.RESERVE k 10", Error("ERR unknown argument '??+OK'"), b"\r\n+OK", "1")
        ok(isinstance(t("BLY.RESERVE k KIND", b"a\r\n:1"), Error))
        ok(isinstance(t("BLY.MERGE k", b"a\r\n:1"), Error))
        eq(t("PING"), Simple("PONG"))
    both(exchange)


# ---- other filters, replicas, listeners, limits ---------------------------------------------

def test_other_filters():
    def exchange(t):
        t.says("BLY.RESERVE cuckoo KIND cuckoo CAPACITY 1000 ERROR 0.01", OK)
        t.says("BF.ADD cuckoo a", t.yes)
        t.says("BF.MEXISTS cuckoo a b", [t.yes, t.no])
        t.says("BF.CARD cuckoo", 1)
        t.says("BLY.RESERVE classic KIND classic CAPACITY 1000 ERROR 0.01", OK)
        t.says("BF.MADD classic a b", [t.yes, t.yes])
        t.says("BF.INFO classic EXPANSION",
               [None] if t.resp == 2 else t.map(("Expansion rate", None)))
    both(exchange)


def test_keyless():
    """A filter without its secret key replies "maybe" and refuses adds."""
    with Server("appendonly yes", "aof-use-rdb-preamble no", start=False) as server:
        with open(server.path("keys"), "w", encoding="ascii") as f:
            f.write("000102030405060708090a0b0c0d0e0f\n")
        keyed = server.loadmodule
        server.loadmodule += f" key-file {server.path('keys')}"
        c = server.start().client()
        c.must("BLY.RESERVE", "k", "KIND", "cuckoo", "CAPACITY", 1000, "KEYED")
        eq(c.must("BF.MADD", "k", "a", "b"), [1, 1])
        rewrite_aof(c)
        server.loadmodule = keyed
        c = server.restart().client()
        eq(c("BF.MEXISTS", "k", "a", "absent"), [1, 1])
        eq(c("CF.EXISTS", "k", "absent"), 1)
        for command in (("BF.ADD", "k", "c"), ("BF.MADD", "k", "c"), ("CF.ADD", "k", "c"),
                        ("CF.DEL", "k", "a"), ("CF.INSERT", "k", "ITEMS", "c")):
            fails(c(*command), "ERR this server lacks the filter's secret key")
        eq(c("BF.CARD", "k"), 2)


def test_replication():
    """A replica with other settings has the same filters; only changes are replicated."""
    for args in ("", "compat-layout yes"):
        master, replica = pair(
            "repl-ping-replica-period 3600", master_args=args, replica_args=args + " compat yes",
            replica_config=("bf.bf-initial-size 7", "bf.bf-error-rate 0.2",
                            "bf.bf-expansion-factor 0", "bf.max-filter-memory 4096"))
        m, r = master.client(), replica.client()
        m.must("BF.ADD", "auto", "a")
        m.must("BF.MADD", "many", *range(1000))
        m.must("BF.INSERT", "ins", "CAPACITY", 50, "ERROR", 0.5, "EXPANSION", 4, "ITEMS",
               *range(500))
        m.must("BF.INSERT", "big", "CAPACITY", 1 << 22, "ITEMS", "a", "b")
        m.must("BF.RESERVE", "fixed", 0.01, 20, "NONSCALING")
        m.must("BF.MADD", "fixed", *range(30))
        m.must("BF.INSERT", "fixed", "NOCREATE", "ITEMS", *range(10, 40))
        chunks, _ = dump(m, "BF", "many")
        load(m, "BF", "loaded", chunks)
        load(m, "BF", "half", chunks[:1])
        wait_sync(master, replica)
        eq(digests(r), digests(m))
        eq(len(digests(r)), 7)
        before = int(m.info("replication")["master_repl_offset"])
        for _ in range(3):
            m.must("BF.ADD", "auto", "a")
            m.must("BF.MADD", "many", *range(100))
            m.must("BF.INSERT", "ins", "ITEMS", *range(100))
            m("BF.ADD", "fixed", "unheard")
            m.must("BF.MADD", "fixed", 1, 2, 3)
            m("BF.RESERVE", "fixed", 0.1, 10)
            m.must("BF.EXISTS", "auto", "q")
        eq(int(m.info("replication")["master_repl_offset"]), before, "nothing was replicated")
        for server in (master, replica):
            server.check()
            server.remove()


def test_memory_limit():
    """Growth beyond a limit is refused item by item; the other items are replicated."""
    def grown(m):
        replies = m.must("BF.MADD", "k", *(f"n{i}" for i in range(5000)))
        refused = [i for i, x in enumerate(replies) if isinstance(x, Error)]
        eq(len(replies), 5000)
        ok(refused, "the limit was met")
        ok(all("max-filter-memory" in replies[i].text for i in refused), repr(replies[refused[0]]))
        ok(all(x in (0, 1) for x in replies[:refused[0]]))
        others = set(range(refused[0], 5000)) - set(refused)
        ok(all(replies[i] == 0 for i in others))
        return refused[0]
    for args in ("", "compat-layout yes"):
        master, replica = pair(master_args=args, master_config=("bf.max-filter-memory 4096",))
        m, r = master.client(), replica.client()
        first = grown(m)
        ok(int(m.must("BF.CARD", "k")) <= first)
        eq(m("BF.ADD", "k", "n0"), 0)
        wait_sync(master, replica)
        eq(digests(r, "k"), digests(m, "k"))
        ok(isinstance(m("BF.RESERVE", "big", 0.01, 1000000), Error))
        eq(m("EXISTS", "big"), 0)
        for server in (master, replica):
            server.check()
            server.remove()


def test_restart():
    """A restart from the AOF with settings other than those when it was written."""
    with Server("appendonly yes", "bf.bf-initial-size 300") as server:
        c = server.client()
        c.must("BF.ADD", "auto", "a")
        c.must("BF.INSERT", "ins", "ERROR", 0.3, "CAPACITY", 10, "ITEMS", *range(300))
        c.must("BF.RESERVE", "fixed", 0.01, 20, "NONSCALING")
        c.must("BF.MADD", "fixed", *range(30))
        before = digests(c)
        server.configure("bf.bf-initial-size 8", "bf.compat yes", "bf.max-filter-memory 100")
        server.restart()
        eq(digests(server.client()), before)


def test_notifications():
    with Server("notify-keyspace-events EA") as server:
        def program(c):
            c.must("BF.ADD", "k", "a")
            c.must("BF.ADD", "k", "a")
            c.must("BF.MADD", "k", "b")
            c.must("BF.RESERVE", "r", 0.1, 10)
            chunks, _ = dump(c, "BF", "k")
            load(c, "BF", "l", chunks)
        eq(events(server, "bloom.", program),
           ["bloom.reserve k", "bloom.add k", "bloom.add k", "bloom.reserve r", "bloom.load l"])


if __name__ == "__main__":
    main(globals())
