"""BLY.*: the replies of each command in both protocols, and what is replicated."""
import struct

from harness import (Error, Map, Server, Simple, as_dict, digests, eq, fails, main, ok, pair,
                     rewrite_aof, wait_for, wait_sync)


def test_reserve_refuses_with_reasons():
    c = Server().client()
    cases = [
        (("KIND", "fancy"), "ERR unsupported kind 'fancy'; choose one of: classic partitioned"),
        (("KIND", "a\r\nb"), "ERR unsupported kind 'a??b'"),
        (("KIND", "fuse"), "ERR a fuse filter is built from all its keys at once"),
        (("KIND", "ribbon"), "ERR a ribbon filter is built from all its keys at once"),
        (("KIND", "scalable", "COLOUR", "red"), "ERR unknown option 'COLOUR'; BLY.RESERVE has"),
        (("CAPACITY", "10"), "ERR missing KIND"),
        (("KIND", "scalable", "CAPACITY"), "ERR CAPACITY needs a value"),
        (("KIND", "scalable", "CAPACITY", "0"), "ERR CAPACITY must be a whole number from 1 to"),
        (("KIND", "scalable", "CAPACITY", "ten"), "ERR CAPACITY must be a whole number from 1 to"),
        (("KIND", "scalable", "CAPACITY", "-1"), "ERR CAPACITY must be a whole number from 1 to"),
        (("KIND", "scalable", "ERROR", "1"), "ERR ERROR must be a number above 0 and below 1"),
        (("KIND", "scalable", "ERROR", "nan"), "ERR ERROR must be a number above 0 and below 1"),
        (("KIND", "scalable", "ERROR", "1e-300"), "ERR could not create filter: the false-pos"),
        (("KIND", "scalable", "KIND", "window"), "ERR KIND is given twice"),
        (("KIND", "scalable", "SPAN", "10"), "ERR SPAN is for the kind window, not for scalable"),
        (("KIND", "cuckoo", "GROWTH", "2"),
         "ERR GROWTH is for the kind scalable or scalable-cuckoo, not for cuckoo"),
        (("KIND", "sbbf", "TEXTBOOK"), "ERR TEXTBOOK is for the kind classic, not for sbbf"),
        (("KIND", "counting", "COUNTERBITS", "3"), "ERR COUNTERBITS must be 2, 4, 8 or 16"),
        (("KIND", "classic", "SIZE", "64"), "ERR an exact geometry needs SIZE n and HASHES k"),
        (("KIND", "classic", "HASHES", "4"), "ERR an exact geometry needs SIZE n and HASHES k"),
        (("KIND", "classic", "SEED", "-1"), "ERR SEED must be RANDOM or a whole number"),
        (("KIND", "classic", "HASH", "md6"), "ERR unsupported hash function 'md6'; choose one of:"),
        (("KIND", "classic", "HASH", "siphash"), "ERR siphash needs a secret key; use KEYED"),
        (("KIND", "classic", "KEYED"), "ERR could not create filter: this server lacks its"),
        (("KIND", "classic", "KEYED", "SEED", "1"), "ERR KEYED and SEED cannot both be given"),
        (("KIND", "classic", "HASH", "fnv1a-32", "CAPACITY", "1000000000"),
         "ERR could not create filter: the hash has too few bits"),
        (("KIND", "overlay", "MARKER", "sbbf"), "ERR unsupported marker 'sbbf'; choose one of:"),
        (("KIND", "overlay", "BASE", "nothing"), "ERR not found"),
        (("KIND", "overlay", "BASE", "x", "ERROR", "0.1"), "ERR BASE and ERROR cannot both"),
        (("LAYOUT", "valkey"), "ERR LAYOUT must be redisbloom or redisbloom-cuckoo"),
        (("LAYOUT", "redisbloom", "KIND", "scalable"), "ERR KIND is not an option of RedisBloom's"),
        (("FACE", "left", "KIND", "scalable"), "ERR FACE must be bf, cf or bly"),
        (("KIND", "window", "SPAN", "1", "CAPACITY", "10000000"), "ERR SPAN is too short for a"),
        (("KIND", "classic", "KEYED", "0" * 16), "ERR could not create filter: this server lacks"),
    ]
    for face, kind, more in (
            ("cf", "split512", ()), ("cf", "scalable", ()), ("cf", "counting", ()),
            ("cf", "scalable-cuckoo", ("NONSCALING",)), ("bf", "counting", ()),
            ("bf", "cuckoo", ()), ("bf", "window", ()), ("bf", "split512", ()),
            ("bf", "scalable", ("NONSCALING",)), ("bf", "window", ("NONSCALING",)),
            ("bly", "split512", ("NONSCALING",)), ("bly", "scalable", ("EXPANSION", "2")),
            ("bly", "cuckoo", ("BUCKETSIZE", "2")), ("bf", "overlay", ())):
        cases.append((("FACE", face, "KIND", kind, *more), "ERR FACE bf is for the kind scalable"))
    for words, wanted in cases:
        fails(c("BLY.RESERVE", "f", *words), wanted)
        eq(c("EXISTS", "f"), 0, str(words))
    fails(c("BLY.RESERVE", "f"), "ERR wrong number of arguments")
    c.must("SET", "s", "text")
    fails(c("BLY.RESERVE", "s", "KIND", "scalable"), "WRONGTYPE")
    c.must("BLY.RESERVE", "f", "kind", "ScalaBLE")
    fails(c("BLY.RESERVE", "f", "KIND", "scalable"), "ERR item exists")


def test_faces_that_fit_and_forged_ones():
    """Accepted properties can be loaded again; properties that no filter can have are refused."""
    c = Server().client()
    for face, kind, more in (("bf", "scalable", ()), ("bf", "split512", ("NONSCALING",)),
                             ("bf", "bb2x512", ("NONSCALING",)), ("cf", "cuckoo", ()),
                             ("cf", "scalable-cuckoo", ("EXPANSION", "2", "BUCKETSIZE", "4"))):
        c.must("BLY.RESERVE", f"{face}-{kind}", "FACE", face, "KIND", kind, *more)
    before = digests(c)
    c.must("DEBUG", "RELOAD")
    eq(digests(c), before)
    c.must("BLY.RESERVE", "counting", "KIND", "counting", "CAPACITY", "1000")
    data = c.must("BLY.DUMP", "counting", 0)[2]
    for face, nonscaling in ((1, 0), (1, 1), (2, 0), (0, 1)):
        forged = bytes((1, face, nonscaling)) + bytes(21)  # version, face, flags
        fails(c("BLY.LOAD", "x", len(data), 0, data, "META", forged), "ERR META does not fit")
        header = b"BLYDUMP1" + len(data).to_bytes(8, "little") + forged + data[:64]
        ok(isinstance(c("BF.LOADCHUNK", "x", 1, header), Error))
        ok(isinstance(c("CF.LOADCHUNK", "x", 1, header), Error))
        eq(c("EXISTS", "x"), 0)


def info(c, key):
    return as_dict(c.must("BLY.INFO", key))


def test_reserve_takes_options_in_any_order():
    c = Server().client(3)
    c.must("BLY.RESERVE", "a", "ERROR", "0.001", "CAPACITY", "5000", "SEED", "7", "KIND", "sbbf",
           "HASH", "murmur3")
    got = info(c, "a")
    eq((got["capacity"], got["rate_requested"], got["seed"], got["hash"], got["kind"]),
       (5000, 0.001, b"7", b"murmur3", b"sbbf"))
    c.must("BLY.RESERVE", "b", "KIND", "scalable", "GROWTH", "4", "CAPACITY", "64")
    eq(info(c, "b")["growth"], 4)
    c.must("BLY.ADD", "b", *range(300))
    ok(info(c, "b")["levels"] > 1)
    c.must("BLY.RESERVE", "c", "KIND", "classic", "SIZE", "1024", "HASHES", "5", "TEXTBOOK")
    eq((info(c, "c")["size"], info(c, "c")["hashes"]), (1024, 5))
    c.must("BLY.RESERVE", "d", "KIND", "counting", "COUNTERBITS", "8")
    eq(info(c, "d")["counter_bits"], 8)
    c.must("BLY.RESERVE", "e", "KIND", "window", "GENERATIONS", "4", "SPAN", "60000")
    got = info(c, "e")
    eq((got["generations"], got["span"], got["slice"]), (4, 60000, 15000))
    c.must("BLY.RESERVE", "f", "KIND", "overlay", "MARKER", "classic", "CHANGES", "10")
    eq(info(c, "f")["deleted"], 0)
    for name in ("g", "h"):
        c.must("BLY.RESERVE", name, "KIND", "classic", "SEED", "random")
    ok(info(c, "g")["seed"] != info(c, "h")["seed"])
    c.must("BLY.RESERVE", "i", "KIND", "growable-cuckoo", "CAPACITY", "10", "HORIZON", "10000")
    c.must("CONFIG", "SET", "bf.bf-initial-size", "777", "bf.bf-error-rate", "0.02")
    c.must("BLY.RESERVE", "j", "KIND", "split512")
    eq((info(c, "j")["capacity"], info(c, "j")["rate_requested"]), (777, 0.02))


def test_replies_in_both_protocols():
    s = Server()
    old, new = s.client(2), s.client(3)
    old.must("BLY.RESERVE", "f", "KIND", "cuckoo", "CAPACITY", "100")
    eq(old("BLY.ADD", "f", "a", "b", "a"), [1, 1, 0])
    eq(new("BLY.ADD", "f", "c", "a"), [True, False])
    eq(old("BLY.CHECK", "f", "a", "x"), [1, 0])
    eq(new("BLY.CHECK", "f", "a", "x"), [True, False])
    eq(old("BLY.CHECK", "none", "a", "x"), [None, None])
    eq(new("BLY.CHECK", "none", "a", "x"), [None, None])
    for c in (old, new):
        eq(c("BLY.COUNT", "f", "a", "b", "x"), [3, 1, 0])
        eq(c("BLY.CARD", "f"), 5)
        eq(c("BLY.CARD", "none"), None)
    eq(old("BLY.DEL", "f", "a", "x"), [1, 0])
    eq(new("BLY.DEL", "f", "a", "x"), [True, False])
    eq(old("BLY.NOOP", "f", "a"), 0)
    eq(new("BLY.NOOP", "f", "a"), False)
    eq(old("BLY.NOOP", "f", "a", "b"), [0, 0])
    eq(new("BLY.NOOP", "f", "a", "b"), [False, False])
    eq(old("BLY.KEYRING"), [])
    eq(type(new("BLY.INFO", "f")), Map)
    eq(type(old("BLY.INFO", "f")), list)
    eq([k for k, _ in new("BLY.INFO", "f")], [str(k) for k in old("BLY.INFO", "f")[::2]])
    eq(as_dict(new("BLY.INFO", "f"))["keyless"], False)
    eq(as_dict(old("BLY.INFO", "f"))["keyless"], 0)
    stats = as_dict(new("BLY.STATS", "f"))
    eq((stats["count"], stats["warning"]), (3, None))
    ok(0 < stats["rate_current"] < stats["rate_requested"] == 0.01)
    eq(old.must("BLY.CLEAR", "f"), Simple("OK"))
    eq(new("BLY.CARD", "f"), 0)


def test_errors_of_every_command():
    c = Server().client()
    c.must("SET", "s", "text")
    one = ("BLY.ADD", "BLY.DEL", "BLY.COUNT", "BLY.AGE", "BLY.CHECK")
    for command in one:
        fails(c(command, "s", "x"), "WRONGTYPE")
        fails(c(command, "s"), "ERR wrong number of arguments")
    for command in one[:-1]:
        fails(c(command, "none", "x"), "ERR not found")
    for command in ("BLY.CARD", "BLY.INFO", "BLY.STATS", "BLY.CLEAR"):
        fails(c(command, "s"), "WRONGTYPE")
    for command in ("BLY.INFO", "BLY.STATS", "BLY.CLEAR"):
        fails(c(command, "none"), "ERR not found")
    fails(c("BLY.MERGE", "none", "s"), "ERR not found")
    fails(c("BLY.DUMP", "none", "0"), "ERR not found")
    fails(c("BLY.TICK", "none", "1"), "ERR BLY.TICK is only for replication")
    c.must("BLY.RESERVE", "f", "KIND", "sbbf")
    fails(c("BLY.AGE", "f", "x"), "ERR BLY.AGE needs a window")
    fails(c("BLY.DEL", "f", "x"), "ERR keys share bits in a sbbf filter")
    c.must("BLY.RESERVE", "w", "KIND", "window")
    fails(c("BLY.DEL", "w", "x"), "ERR keys of a window filter expire, and cannot")


def test_full_filter_ends_the_array():
    c = Server().client()
    c.must("BLY.RESERVE", "f", "KIND", "cuckoo", "CAPACITY", "20")
    got = c("BLY.ADD", "f", *range(200))
    ok(20 <= len(got) <= 60, len(got))
    eq(set(got[:-1]), {1})
    fails(got[-1], "ERR filter is full")
    eq(c("BLY.CARD", "f"), len(got) - 1)
    eq(c("BLY.CHECK", "f", *range(len(got) - 1)), [1] * (len(got) - 1))


def test_too_many_copies():
    """The number of copies of an item is limited before the filter is full; a larger filter does
    not help."""
    with Server() as server, server.client() as c:
        own = ("ERR no room for another copy of the item: the filter has 8, and a larger filter would "
               "not help; remove copies with BLY.DEL, or use KIND hybrid, which counts them")
        for kind in ("cuckoo", "growable-cuckoo", "scalable-cuckoo"):
            c.must("BLY.RESERVE", kind, "KIND", kind, "CAPACITY", 1000)
            eq(c("BLY.ADD", kind, *"x" * 8), [1] + [0] * 7, kind)
            eq(c("BLY.ADD", kind, "y", "x", "z"), [1, Error(own)], kind)
            eq(c("BLY.COUNT", kind, "x"), [8], kind)
        c.must("BLY.RESERVE", "hybrid", "KIND", "hybrid", "CAPACITY", 1000)
        eq(c("BLY.ADD", "hybrid", *"x" * 100), [1] + [0] * 99)
        eq(c("BLY.COUNT", "hybrid", "x"), [100])
        c.must("CONFIG", "SET", "bf.compat-layout", "yes")
        c.must("CF.RESERVE", "rb", 1000, "BUCKETSIZE", 3, "EXPANSION", 0)
        eq(c("BLY.ADD", "rb", *"x" * 6), [1] * 6)
        eq(c("BLY.ADD", "rb", "x"),
           [Error("ERR no room for another copy of the item: the filter has 6, and a larger CAPACITY "
                  "would not help; remove copies with BLY.DEL, or reserve a filter with a larger "
                  "BUCKETSIZE")])
        c.must("CF.RESERVE", "larger", 1000, "BUCKETSIZE", 4, "EXPANSION", 0)
        eq(c("BLY.ADD", "larger", *"x" * 8), [1] * 8)


def test_only_changes_are_replicated():
    master, replica = pair(replica_args="bf-initial-size 9 bf-error-rate 0.2")
    c, r = master.client(), replica.client()

    def grows(*command):
        wait_sync(master, replica)
        before = r.info("commandstats")
        c(*command)
        wait_sync(master, replica)
        return sum(1 for k, v in r.info("commandstats").items()
                   if "bly" in k.lower() and before.get(k) != v) > 0

    ok(grows("BLY.RESERVE", "s", "KIND", "scalable"))
    ok(grows("BLY.ADD", "s", "a"))
    ok(not grows("BLY.ADD", "s", "a"), "an add that changed nothing")
    ok(not grows("BLY.RESERVE", "s", "KIND", "scalable"), "a reserve that was refused")
    ok(grows("BLY.RESERVE", "c", "KIND", "cuckoo", "CAPACITY", "20"))
    ok(grows("BLY.ADD", "c", "a"))
    ok(grows("BLY.ADD", "c", "a"), "another copy")
    ok(not grows("BLY.DEL", "c", "x"), "a removal of nothing")
    ok(grows("BLY.ADD", "c", *range(100)), "a part was added")
    ok(grows("BLY.RESERVE", "h", "KIND", "hll"))
    ok(grows("BLY.ADD", "h", "a"))
    ok(not grows("BLY.ADD", "h", "a"))
    eq(digests(r), digests(c))


def dump(c, key, count=1000):
    data, total, stamp = b"", None, None
    while True:
        got = c.must("BLY.DUMP", key, len(data), "COUNT", count)
        total, stamp = total or got[0], stamp or got[1]
        eq(got[:2], [total, stamp])
        if not got[2]:
            eq(len(data), total)
            return data
        ok(len(got[2]) <= count)
        data += got[2]


def load(c, key, data, count=1000, *options):
    for at in range(0, len(data), count):
        eq(c.must("BLY.LOAD", key, len(data), at, data[at:at + count], *options),
           min(at + count, len(data)))


def test_dump_and_load():
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "f", "KIND", "scalable", "CAPACITY", "50", "SEED", "3")
    c.must("BLY.ADD", "f", *range(3000))
    data = dump(c, "f")
    eq(data[:4], b"BLY1")
    load(c, "g", data)
    eq(dump(c, "g", 777), data)
    eq(c("BLY.CHECK", "g", *range(3000)), [1] * 3000)
    first = c.must("BLY.DUMP", "f", 0)
    eq(first[1], c.must("BLY.DUMP", "f", 10)[1], "the stamp of an unchanged filter")
    c.must("BLY.ADD", "f", "new one", "and another", "and a third")
    ok(first[1] != c.must("BLY.DUMP", "f", 0)[1], "a changed filter has another stamp")
    eq(c.must("BLY.DUMP", "f", 1 << 40)[2], b"")
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    fails(c("BLY.DUMP", "f", "-1"), "ERR the offset must be")
    fails(c("BLY.DUMP", "f", 0, "COUNT", 0), "ERR COUNT must be")
    fails(c("BLY.DUMP", "f", 0, "COUNT", 1 << 40), "ERR COUNT must be")


def test_load_is_visible_when_complete():
    master, replica = pair()
    c, r = master.client(3), replica.client(3)
    c.must("BLY.RESERVE", "f", "KIND", "sbbf", "CAPACITY", "3000")
    c.must("BLY.ADD", "f", *range(3000))
    data = dump(c, "f")
    half = len(data) // 2
    eq(c("BLY.LOAD", "g", len(data), 0, data[:half]), half)
    eq(c("BLY.CHECK", "g", 1), [None])
    for command in ("BLY.ADD", "BLY.DEL", "BLY.COUNT"):
        fails(c(command, "g", 1), "ERR filter is being loaded")
    fails(c("BLY.DUMP", "g", 0), "ERR filter is being loaded")
    got = info(c, "g")
    eq((got["loading"], got["received"], got["total"]), (True, half, len(data)))
    fails(c("BLY.RESERVE", "g", "KIND", "sbbf"), "ERR item exists")
    fails(c("BLY.LOAD", "g", len(data), 1, data[1:]), f"ERR expected offset {half}")
    fails(c("BLY.LOAD", "g", len(data) + 1, half, data[half:]), f"ERR expected total {len(data)}")
    fails(c("BLY.LOAD", "g", len(data), half, data[half:] + b"x"), "ERR there are more bytes")
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    eq(r("BLY.CHECK", "g", 1), [None])
    for reload in (("DEBUG", "RELOAD"), ("DEBUG", "LOADAOF")):
        if reload[1] == "LOADAOF":
            c.must("CONFIG", "SET", "aof-use-rdb-preamble", "no")
            rewrite_aof(c, "CONFIG", "SET", "appendonly", "yes")
        before = digests(c)
        c.must(*reload)
        eq(digests(c), before, str(reload))
        eq(info(c, "g")["received"], half)
    eq(c("BLY.LOAD", "g", len(data), half, data[half:]), len(data))
    eq(c("BLY.CHECK", "g", *range(100)), [True] * 100)
    eq(info(c, "g")["loading"], False)
    wait_sync(master, replica)
    eq(digests(r), digests(c))


def test_load_replaces_at_the_end():
    master, replica = pair()
    c, r = master.client(), replica.client()
    for name, keys in (("old", range(10)), ("new", range(10, 20))):
        c.must("BLY.RESERVE", name, "KIND", "cuckoo", "CAPACITY", "1000")
        c.must("BLY.ADD", name, *keys)
    data = dump(c, "new")
    c.must("PEXPIRE", "old", 1 << 40)
    fails(c("BLY.LOAD", "old", len(data), 0, data), "ERR item exists; send REPLACE")
    eq(c("BLY.LOAD", "old", len(data), 0, data[:500], "REPLACE"), 500)
    eq(c("BLY.CHECK", "old", 1, 11), [1, 0])
    eq(c("BLY.ADD", "old", "more"), [1])
    damaged = data[500:-1] + bytes([data[-1] ^ 1])
    got = c("BLY.LOAD", "old", len(data), 500, damaged)
    fails(got, "ERR the data is damaged")
    eq(c("BLY.CHECK", "old", 1, 11, "more"), [1, 0, 1], "the old one is untouched")
    fails(c("BLY.LOAD", "old", len(data), 500, data[500:]), "ERR expected offset 0")
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    eq(as_dict(r("BLY.INFO", "old"))["loading"], 0)
    eq(c("BLY.LOAD", "old", len(data), 0, data, "REPLACE"), len(data))
    eq(c("BLY.CHECK", "old", 1, 11), [0, 1])
    ok(c("PTTL", "old") > 0, "the expiry is kept")
    wait_sync(master, replica)
    eq(digests(r), digests(c))


def test_load_refuses_at_once():
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "f", "KIND", "sbbf", "CAPACITY", "30000")
    data = dump(c, "f")
    fails(c("BLY.LOAD", "g", len(data), 0, data[:10]), "ERR the first chunk must contain the header")
    fails(c("BLY.LOAD", "g", len(data) - 64, 0, data[:100]), "ERR the header is damaged")
    fails(c("BLY.LOAD", "g", 1 << 60, 0, data[:100]), "ERR the header is damaged")
    bad = bytearray(data[:100])
    bad[20] ^= 1
    fails(c("BLY.LOAD", "g", len(data), 0, bytes(bad)), "ERR the header is damaged")
    fails(c("BLY.LOAD", "g", "many", 0, data), "ERR total and offset must be")
    fails(c("BLY.LOAD", "g", len(data), 0, data, "FAST"), "ERR the options are")
    fails(c("BLY.LOAD", "g", len(data), 0, data, "META", "xyz"), "ERR META is not")
    meta = struct.pack("<BBBBHHIIQ", 1, 2, 0, 0, 2, 20, 1, 0, 0)
    fails(c("BLY.LOAD", "g", len(data), 0, data, "META", meta), "ERR META does not fit a filter")
    fails(c("BLY.LOAD", "g", len(data), 100, data), "ERR expected offset 0")
    c.must("CONFIG", "SET", "bf.max-filter-memory", 10000)
    ok(c("BLY.LOAD", "g", len(data), 0, data[:100]).text.startswith("ERR"))
    eq(c("EXISTS", "g"), 0)
    c.must("CONFIG", "SET", "bf.max-filter-memory", 0)
    eq(c("BLY.LOAD", "g", len(data), 0, data[:100]), 100)
    eq(c("BLY.LOAD", "g", 0, 0, ""), 0)
    eq(c("EXISTS", "g"), 0, "dropped")
    eq(c("BLY.LOAD", "g", len(data), 0, data[:100]), 100)
    fails(c("BLY.LOAD", "g", len(data), 100, data[100:-1] + b"\x01"), "ERR the data is damaged")
    eq(c("EXISTS", "g"), 0)
    wait_sync(master, replica)
    eq(r("EXISTS", "g"), 0)
    eq(c("BLY.LOAD", "none", 0, 0, ""), 0)


def test_redisbloom_layouts():
    master, replica = pair(master_args="compat-layout yes")
    c, r = master.client(), replica.client()
    c.must("BF.RESERVE", "b", "0.01", "100")
    c.must("CF.RESERVE", "q", "1000")
    eq(c("BLY.ADD", "b", "x", "y", "x"), [1, 1, 0])
    eq(c("BLY.ADD", "q", "x", "y", "x"), [1, 1, 1])
    for key in ("b", "q"):
        eq(c("BLY.CHECK", key, "x", "nothing"), [1, 0])
    eq(c("BLY.COUNT", "q", "x", "y", "nothing"), [2, 1, 0])
    eq(c("BLY.COUNT", "b", "x", "nothing"), [1, 0])
    eq((c("BLY.CARD", "b"), c("BLY.CARD", "q")), (2, 3))
    eq(c("BLY.DEL", "q", "x"), [1])
    fails(c("BLY.DEL", "b", "x"), "ERR keys share bits in a redisbloom filter")
    eq(info(c, "b")["layout"], b"redisbloom")
    eq(info(c, "q")["layout"], b"redisbloom-cuckoo")
    c.must("BLY.ADD", "b", *range(1000))
    stats = as_dict(c.must("BLY.STATS", "b"))
    ok(900 < float(stats["estimated_keys"]) < 1100, stats)
    ok(0 < float(stats["rate_current"]) < 0.01, stats)
    ok(abs(float(stats["fill"]) - float(stats["expected_fill"])) < 0.05, stats)
    stats = as_dict(c.must("BLY.STATS", "q"))
    ok(0 < float(stats["rate_current"]) < 0.001, stats)
    fails(c("BLY.DUMP", "b", 0), "ERR this filter is in RedisBloom's layout: dump it with BF.SCAN")
    fails(c("BLY.DUMP", "q", 0), "ERR this filter is in RedisBloom's layout: dump it with CF.SCAN")
    fails(c("BLY.CLEAR", "b"), "ERR a filter in RedisBloom's layout cannot be cleared")
    fails(c("BLY.MERGE", "b", "b"), "ERR filters in RedisBloom's layout cannot be merged")
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    c.must("BLY.RESERVE", "b2", "LAYOUT", "redisbloom", "CAPACITY", "100", "EXPANSION", "3")
    c.must("BLY.RESERVE", "q2", "LAYOUT", "redisbloom-cuckoo", "CAPACITY", "100")
    eq(c("TYPE", "b2"), c("TYPE", "b"))
    eq(c("TYPE", "q2"), c("TYPE", "q"))


def test_overlay_over_another_key():
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "{t}base", "KIND", "sbbf", "CAPACITY", "1000")
    c.must("BLY.ADD", "{t}base", "a", "b", "c")
    c.must("BLY.RESERVE", "{t}over", "KIND", "overlay", "BASE", "{t}base", "CHANGES", "50")
    eq(c("BLY.DEL", "{t}over", "a"), [1])
    eq(c("BLY.CHECK", "{t}over", "a", "b"), [0, 1])
    eq(c("BLY.CHECK", "{t}base", "a", "b"), [1, 1])
    eq(info(c, "{t}over")["deleted"], 1)
    eq(info(c, "{t}over")["base"], b"sbbf")
    eq(c.must("COMMAND", "GETKEYS", "BLY.RESERVE", "o", "KIND", "overlay", "BASE", "k"),
       [b"o", b"k"])
    c.must("DEL", "{t}base")
    eq(c("BLY.CHECK", "{t}over", "a", "b"), [0, 1])
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    c.must("SET", "{t}text", "x")
    fails(c("BLY.RESERVE", "n", "KIND", "overlay", "BASE", "{t}text"), "WRONGTYPE")
    fails(c("BLY.RESERVE", "n", "KIND", "overlay", "BASE", "{t}over"), "ERR could not create")


def test_warning_when_overfull():
    c = Server().client(3)
    c.must("BLY.RESERVE", "f", "KIND", "sbbf", "CAPACITY", "100")
    c.must("BLY.ADD", "f", *range(100))
    eq(as_dict(c("BLY.STATS", "f"))["warning"], None)
    c.must("BLY.ADD", "f", *range(100, 400))
    stats = as_dict(c("BLY.STATS", "f"))
    ok(stats["ratio"] > 1.5, stats)
    ok(b"times the requested one" in stats["warning"], stats)


def test_check_while_loading():
    s = Server("loading-process-events-interval-bytes 1024", "rdbcompression no")
    c = s.client()
    c.must("BLY.RESERVE", "f", "KIND", "sbbf", "CAPACITY", "100")
    c.must("BLY.ADD", "f", "a")
    c.pipeline(("SET", f"k{i}", "x" * 2000) for i in range(600))
    s.stop(save=True)
    s.configure("key-load-delay 50000")  # 30 s, until it is told otherwise
    s.start(wait=False)
    c = wait_for(lambda: connect(s), what="a connection")
    eq(c("BLY.CHECK", "f", "a", "b"), [None, None])
    fails(c("BLY.COUNT", "f", "a"), "LOADING")
    c.must("CONFIG", "SET", "key-load-delay", 0)
    s.wait_ready()
    eq(c("BLY.CHECK", "f", "a", "b"), [1, 0])


def connect(server):
    try:
        return server.client()
    except OSError:
        return None


def test_check_on_a_stale_replica():
    master, replica = pair(replica_config=("replica-serve-stale-data no",))
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "f", "KIND", "sbbf", "CAPACITY", "100")
    c.must("BLY.ADD", "f", "a")
    wait_sync(master, replica)
    eq(r("BLY.CHECK", "f", "a", "b"), [1, 0])
    master.kill()
    wait_for(lambda: r.info("replication")["master_link_status"] == "down")
    fails(r("BLY.COUNT", "f", "a"), "MASTERDOWN")
    eq(r("BLY.CHECK", "f", "a", "b"), [None, None])
    r.must("CONFIG", "SET", "replica-serve-stale-data", "yes")
    eq(r("BLY.CHECK", "f", "a", "b"), [1, 0])
    r.must("CONFIG", "SET", "replica-serve-stale-data", "no")
    eq(r("BLY.CHECK", "f", "a", "b"), [None, None])
    r.must("REPLICAOF", "NO", "ONE")
    eq(r("BLY.CHECK", "f", "a", "b"), [1, 0])


if __name__ == "__main__":
    main(globals())
