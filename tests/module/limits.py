"""Memory limits: allocations that would exceed them are refused before they are made, except those
for writes from a master or the disk."""
import sys

sys.dont_write_bytecode = True

import os  # noqa: E402
import re  # noqa: E402
import struct  # noqa: E402
from itertools import islice  # noqa: E402

from harness import (Error, Server, digests, eq, fails, main, ok, pair, rewrite_aof,  # noqa: E402
                     text, wait_for, wait_sync)
from program import bly_dump  # noqa: E402

MB = 1 << 20
TOO_BIG = 10 ** 9  # keys; more than 1 GB at 1%
FILTER_LIMIT = "ERR the filter would take more memory than max-filter-memory allows"
SERVER_LIMIT = "ERR the filter would take more memory than the server may use"
TOTAL_LIMIT = "ERR all filters together would take more memory than max-total-memory allows"


def used(client):
    return int(client.info("memory")["used_memory"])


def refused(server, client, wanted, *command):
    """Checks that the command is refused, and that neither used_memory nor the process grew, not
    even temporarily."""
    memory, rss = used(client), server.rss()
    client.must("CONFIG", "RESETSTAT")
    fails(client(*command), wanted)
    peak = int(client.info("memory")["used_memory_peak"])
    ok(used(client) - memory < MB // 2, f"{command[:3]}: {used(client) - memory} bytes more")
    ok(peak - memory < 16 * MB, f"{command[:3]}: {peak - memory} bytes more at its peak")
    ok(server.rss() - rss < 16 * MB, f"{command[:3]}: {server.rss() - rss} bytes resident more")


def big_bf_header():
    """The SCANDUMP header of a RedisBloom filter of 1 GB."""
    size = 1 << 30
    bpe = 9.585058372
    capacity = int(size * 8 / bpe)
    return (struct.pack("<QIII", 0, 1, 5, 2)
            + struct.pack("<QQQddIQB", size, size * 8, 0, 0.01, bpe, 7, capacity, 0))


def creations():
    yield "BF.RESERVE", "key", "0.01", TOO_BIG
    yield "BF.RESERVE", "key", "0.01", TOO_BIG, "NONSCALING"
    yield "BF.INSERT", "key", "CAPACITY", TOO_BIG, "ITEMS", "a"
    yield "CF.RESERVE", "key", TOO_BIG
    yield "CF.RESERVE", "key", TOO_BIG, "EXPANSION", 0
    yield "CF.INSERT", "key", "CAPACITY", TOO_BIG, "ITEMS", "a"
    yield ("BLY.RESERVE", "key", "LAYOUT", "redisbloom", "CAPACITY", TOO_BIG, "ERROR", "0.01",
           "EXPANSION", 2)
    yield ("BLY.RESERVE", "key", "LAYOUT", "redisbloom-cuckoo", "CAPACITY", TOO_BIG, "BUCKETSIZE",
           2, "MAXITERATIONS", 20, "EXPANSION", 2)
    for kind in ("classic", "sbbf", "scalable", "window", "counting", "multilayer",
                 "layered", "hybrid", "cuckoo", "counts", "growable-cuckoo",
                 "scalable-cuckoo"):
        yield "BLY.RESERVE", "key", "KIND", kind, "CAPACITY", TOO_BIG, "ERROR", "0.01"


def test_creation_refused():
    with Server() as server, server.client() as c:
        for name, wanted in (("max-filter-memory", FILTER_LIMIT), ("max-total-memory",
                                                                    TOTAL_LIMIT)):
            c.must("CONFIG", "SET", "bf." + name, "10mb")
            for command in creations():
                refused(server, c, wanted, *command)
                eq(c("EXISTS", "key"), 0, f"{command[:3]} left a key")
            c.must("CONFIG", "SET", "bf." + name, 0)


def test_arrivals_refused():
    """The size that a header announces is checked before the other chunks."""
    with Server(args="max-filter-memory 10mb") as server, server.client() as c:
        c.must("BLY.RESERVE", "small", "KIND", "sbbf", "CAPACITY", 1000)
        data = bly_dump(c, "small")
        refused(server, c, "ERR", "BLY.LOAD", "key", 1 << 30, 0, data)
        refused(server, c, "ERR", "BF.LOADCHUNK", "key", 1, big_bf_header())
        cuckoo = struct.pack("<QQQQHHH", 0, 1 << 29, 0, 1, 2, 20, 1)
        reply = c("CF.LOADCHUNK", "key", 1, cuckoo)
        ok(isinstance(reply, Error), f"{reply!r}")
        refused(server, c, reply.text, "CF.LOADCHUNK", "key", 1, cuckoo)
        eq(c("EXISTS", "key"), 0)


def add_until_refused(c, command):
    """Adds items until one is refused; returns the added items and the error."""
    added = []
    for i in range(0, 10 ** 6, 100):
        items = [b"%d" % j for j in range(i, i + 100)]
        reply = c(*command, *items)
        if isinstance(reply, Error):
            return added, reply
        for item, answer in zip(items, reply):
            if isinstance(answer, Error) or answer == -1:
                return added, answer
            added.append(item)
    raise AssertionError(f"{command}: never refused")


def test_growth_refused():
    cases = {
        "bf": (("BF.RESERVE", "bf", "0.01", 100), ("BF.MADD", "bf")),
        "rb": (("BLY.RESERVE", "rb", "LAYOUT", "redisbloom", "CAPACITY", 100, "ERROR", "0.01",
                "EXPANSION", 2), ("BF.MADD", "rb")),
        "cf": (("CF.RESERVE", "cf", 100), ("CF.INSERT", "cf", "ITEMS")),
        "rc": (("BLY.RESERVE", "rc", "LAYOUT", "redisbloom-cuckoo", "CAPACITY", 100, "BUCKETSIZE",
                2, "MAXITERATIONS", 20, "EXPANSION", 2), ("CF.INSERT", "rc", "ITEMS")),
        "bly": (("BLY.RESERVE", "bly", "KIND", "scalable", "CAPACITY", 100), ("BLY.ADD", "bly")),
        "gro": (("BLY.RESERVE", "gro", "KIND", "growable-cuckoo", "CAPACITY", 100, "HORIZON",
                 10 ** 6), ("BLY.ADD", "gro")),
    }
    with Server(args="max-filter-memory 100kb") as server, server.client() as c:
        for name, (maker, add) in cases.items():
            c.must(*maker)
            before = used(c)
            added, answer = add_until_refused(c, add)
            ok(len(added) > 1000, f"{name}: refused after {len(added)}")
            ok(used(c) - before < 160 * 1024, f"{name}: {used(c) - before} bytes")
            eq(c.must("BLY.CHECK", name, *added), [1] * len(added), name)
            count = c.must("BLY.CARD", name)
            again = c(*add, b"one more")
            eq(c.must("BLY.CARD", name), count + (again == [1]), f"{name}: {again!r}")
            print(f"  {name}: {len(added)} keys in 100 kB, then {answer!r}")
        c.must("CONFIG", "SET", "bf.max-filter-memory", 0)
        for name, (_, add) in cases.items():
            reply = c.must(*add, *(b"more%d" % i for i in range(100)))
            ok(all(x in (0, 1) for x in reply), f"{name}, without the limit: {reply}")


def test_total():
    """The limit of all filters: deleting filters makes room."""
    with Server(args="max-total-memory 5mb") as server, server.client() as c:
        for i in range(100):
            reply = c("BF.RESERVE", f"f{i}", "0.01", 800000)
            if isinstance(reply, Error):
                break
        fails(reply, TOTAL_LIMIT)
        ok(2 <= i <= 5, f"{i} filters of 1 MB in 5 MB")
        refused(server, c, TOTAL_LIMIT, "BF.RESERVE", "more", "0.01", 4000000)
        c.must("DEL", "f0")
        wait_for(lambda: not isinstance(c("BF.RESERVE", "again", "0.01", 800000), Error), 10,
                 "room after DEL")


def counted(c):
    return int(c.info("bf_filters")["bf_memory_bytes"])


def run_counting(c, limit, what, commands):
    """Runs commands in batches, and yields for each batch a list of replies, each with the bytes of
    all filters after the command. The sum never exceeds the limit."""
    commands = iter(commands)
    while part := list(islice(commands, 10)):
        replies = c.pipeline(x for command in part for x in (command, ("INFO", "bf_filters")))
        totals = [int(re.search(rb"bf_memory_bytes:(\d+)", told)[1]) for told in replies[1::2]]
        for command, total in zip(part, totals):
            ok(total <= limit, f"{what}: {total} bytes of filters after {command[:3]}, and {limit} "
               "are allowed")
        yield list(zip(replies[::2], totals))


def fill_total(c, limit, name, commands):
    """Runs commands until one is refused for max-total-memory, and to the end of its batch."""
    for batch in run_counting(c, limit, name, commands):
        for reply, total in batch:
            answers = reply if isinstance(reply, list) else [reply]
            wrong = [x for x in answers if isinstance(x, Error)]
            if wrong:
                ok("max-total-memory" in wrong[0].text, f"{name}: {wrong[0]}")
                ok(total > limit // 3, f"{name}: refused at {total} of {limit} bytes")
                return
    raise AssertionError(f"{name}: never refused")


def copy_until_refused(c, limit, payload):
    """Alternates RESTORE and COPY until one is refused. COPY has no error for that, and replies
    0."""
    copies = (command for i in range(10 ** 4) for command in (
        ("RESTORE", f"p{i}", 0, payload), ("COPY", "tiny", f"q{i}")))
    for batch in run_counting(c, limit, "copies", copies):
        if any(isinstance(reply, Error) or reply == 0 for reply, _ in batch):
            return
    raise AssertionError("copies are never refused")


def test_total_is_never_passed():
    """Filters of all sizes that are created, grown, copied, loaded in pieces and dumped never
    exceed the limit, not by one byte."""
    limit = 96 * 1024
    with Server(args=f"max-total-memory {limit}") as server, server.client() as c:
        c.must("BLY.RESERVE", "tiny", "KIND", "scalable", "CAPACITY", 10)
        c.must("BF.RESERVE", "rb", "0.01", 10)
        tiny, payload = bly_dump(c, "tiny"), c.must("DUMP", "tiny")
        rows = {
            "small": (("BF.RESERVE", f"s{i}", "0.01", 10) for i in range(10 ** 4)),
            "cuckoo": (("CF.RESERVE", f"c{i}", 10) for i in range(10 ** 4)),
            "larger": (("BF.RESERVE", f"l{i}", "0.01", 1000 + 37 * i) for i in range(10 ** 4)),
            "redisbloom": (("BLY.RESERVE", f"r{i}", "LAYOUT", "redisbloom", "CAPACITY", 50,
                            "ERROR", "0.01", "EXPANSION", 2) for i in range(10 ** 4)),
            "loaded": (("BLY.LOAD", f"b{i}", len(tiny), 0, tiny) for i in range(10 ** 4)),
            "restored": None,
            "grown": (("BLY.ADD", "tiny", *range(i, i + 10)) for i in range(0, 10 ** 6, 10)),
        }
        for name, commands in rows.items():
            if commands:
                fill_total(c, limit, name, commands)
            else:
                copy_until_refused(c, limit, payload)
            keys = c.must("KEYS", "*")
            types = c.pipeline(("TYPE", key) for key in keys)
            dumps = [("BLY.DUMP", key, 0) for key, kind in zip(keys, types) if kind == "bloomery1"]
            for batch in run_counting(c, limit, "dumps", dumps):
                ok(not any(isinstance(reply, Error) for reply, _ in batch), batch)
            c.must("DEL", "none", *(key for key in keys if key not in (b"tiny", b"rb")))
        eq(counted(c) <= limit, True)


def test_total_of_any_number():
    """A limit between the size classes of the allocator: the memory that it adds to a block
    counts."""
    with Server() as server, server.client() as c:
        c.must("BLY.RESERVE", "small", "KIND", "sbbf", "CAPACITY", 700)
        data = bly_dump(c, "small")
        rows = {
            "made": lambda i: ("BF.RESERVE", f"k{i}", "0.01", 500 + 77 * i),
            "cuckoo": lambda i: ("CF.RESERVE", f"k{i}", 500 + 77 * i),
            "loaded": lambda i: ("BLY.LOAD", f"k{i}", len(data), 0, data),
            "pieces": lambda i: ("BLY.LOAD", f"k{i}", len(data), 0, data[:100]),
            "classic": lambda i: ("BLY.RESERVE", f"k{i}", "KIND", "classic", "CAPACITY", 300 + i),
        }
        for name, row in rows.items():
            for limit in range(12000, 16000, 97):
                c.must("FLUSHALL")
                c.must("CONFIG", "SET", "bf.max-total-memory", limit)
                fill_total(c, limit, f"{name}, {limit}", (row(i) for i in range(1000)))


def test_copies_refused():
    """COPY and RESTORE beyond a limit are refused."""
    with Server("latency-tracking no") as server, server.client() as c:
        for key in ("a", "b"):
            c.must("BLY.RESERVE", key, "KIND", "scalable", "CAPACITY", 10 ** 6)
            c.must("BLY.ADD", key, key)
        before, payload = digests(c), c.must("DUMP", "a")
        c.must("CONFIG", "SET", "bf.max-total-memory", "3mb")
        refused(server, c, "ERR", "COPY", "a", "c")
        refused(server, c, "ERR", "RESTORE", "c", 0, payload)
        eq(digests(c), before)
        c.must("CONFIG", "SET", "bf.max-total-memory", "20mb")
        c.must("RESTORE", "c", 0, payload, "REPLACE")
        c.must("DEL", "c")
        eq(c("COPY", "a", "c"), 1)
        eq(c("COPY", "a", "d"), 1)


def test_replicas_and_files_are_not_limited():
    tight = "max-filter-memory 1kb max-total-memory 2kb"
    master, replica = pair(replica_args=tight)
    with master.client() as m, replica.client() as r:
        m.must("BF.RESERVE", "bf", "0.01", 10000)
        m.must("CF.RESERVE", "cf", 10000)
        m.must("CONFIG", "SET", "bf.compat-layout", "yes")
        m.must("BF.RESERVE", "rb", "0.01", 100)
        m.must("CONFIG", "SET", "bf.compat-layout", "no")
        for i in range(0, 5000, 500):
            items = [b"%d" % j for j in range(i, i + 500)]
            for command in (("BF.MADD", "bf"), ("CF.INSERT", "cf", "ITEMS"), ("BF.MADD", "rb"),
                            ("BF.MADD", "auto"), ("CF.INSERT", "autocf", "ITEMS")):
                m.must(*command, *items)
        data = bly_dump(m, "bf")
        for at in range(0, len(data), 5000):
            m.must("BLY.LOAD", "loaded", len(data), at, data[at:at + 5000])
        m.must("BLY.RESERVE", "merged", "KIND", "sbbf", "CAPACITY", 5000)
        m.must("COPY", "merged", "other")
        m.must("BLY.ADD", "other", *range(1000))
        m.must("BLY.MERGE", "merged", "other")
        wait_sync(master, replica)
        wanted = digests(m)
        eq(len(wanted), 8)
        eq(digests(r), wanted, "replica")
        rewrite_aof(m, "CONFIG", "SET", "appendonly", "yes")
        m.must("SAVE")
    for config in ("appendonly yes", "appendonly no"):
        master.configure(config)
        master.loadmodule = master.loadmodule.split(" max-")[0] + " " + tight
        master.restart(kill=True)
        with master.client() as m:
            eq(digests(m), wanted, config)
            fails(m("BF.RESERVE", "new", "0.01", 10000), TOTAL_LIMIT)
            m.must("CONFIG", "SET", "bf.max-total-memory", 0)
            fails(m("BF.RESERVE", "new", "0.01", 10000), FILTER_LIMIT)


def regression(name):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "golden", "regressions", name), "rb") as file:
        return file.read()


def test_small_file_that_grows():
    """A file of 768 bytes that would grow to 2 GB with the next item: the module's limit applies,
    however the file was loaded, and a failed add changes nothing."""
    data = regression("amplify-768B.bly")
    with Server(args="max-filter-memory 100mb") as server:
        with server.client() as c:
            c.must("BLY.LOAD", "loaded", len(data), 0, data)
            c.must("RESTORE", "restored", 0, c.must("DUMP", "loaded"))
            wanted = digests(c)
            c.must("SAVE")
        for _ in range(2):
            with server.client() as c:
                for key in ("loaded", "restored"):
                    fails(c("BLY.ADD", key, "new")[0], FILTER_LIMIT)
                    eq(c.must("BLY.CARD", key), 5120)
                eq(digests(c), wanted)
            server.restart(kill=True)


def full_filter(c, key):
    """A filter of 2 kB whose next level takes more than 64 MiB, which is more than the library
    allows a file."""
    c.must("BLY.RESERVE", key, "KIND", "scalable", "CAPACITY", 1000, "ERROR", "0.0001", "GROWTH",
           32768)
    for i in range(10 ** 4):
        if c.must("BLY.CARD", key) == 1000:
            return bly_dump(c, key)
        c.must("BLY.ADD", key, i)
    raise AssertionError("it did not get full")


def test_replica_takes_what_its_master_took():
    master, replica = pair(replica_args="max-filter-memory 1mb max-total-memory 2mb")
    with master.client() as m, replica.client() as r:
        data = full_filter(m, "source")
        ok(len(data) < 8192, f"{len(data)} bytes")
        m.must("BLY.LOAD", "loaded", len(data), 0, data)
        m.must("RESTORE", "restored", 0, m.must("DUMP", "source"))
        wait_sync(master, replica)
        for key in ("loaded", "restored"):
            before = counted(m)
            eq(m.must("BLY.ADD", key, "new"), [1])
            ok(counted(m) - before > 64 * MB, f"{counted(m) - before} bytes")
        wait_sync(master, replica)
        for key in ("source", "loaded", "restored"):
            eq(r.must("BLY.CARD", key), m.must("BLY.CARD", key), key)
            eq(r.must("BLY.CHECK", key, "new"), m.must("BLY.CHECK", key, "new"), key)
        ok(counted(r) > 128 * MB, f"{counted(r)} bytes")
        r.must("REPLICAOF", "NO", "ONE")
        fails(r("BLY.ADD", "source", "new")[0], TOTAL_LIMIT)  # now it is a master


def test_maxmemory():
    """The engine's own limit without eviction: adds are refused, lookups and deletions are not."""
    with Server("maxmemory-policy noeviction") as server, server.client() as c:
        c.must("BF.RESERVE", "bf", "0.01", 10 ** 6)
        c.must("BF.ADD", "bf", "a")
        c.must("CF.ADD", "cf", "a")
        c.must("BLY.RESERVE", "bly", "KIND", "cuckoo", "CAPACITY", 100)
        c.must("BLY.ADD", "bly", "a")
        c.must("CONFIG", "SET", "maxmemory", used(c) - 1000)
        for command in (("BF.ADD", "bf", "b"), ("BF.MADD", "new", "b"), ("CF.ADD", "cf", "b"),
                        ("BF.RESERVE", "new", "0.01", 100), ("CF.INSERT", "cf", "ITEMS", "b"),
                        ("BLY.ADD", "bly", "b"), ("BLY.RESERVE", "new", "KIND", "sbbf"),
                        ("BLY.MERGE", "new", "bly"), ("BLY.LOAD", "new", 100, 0, "x")):
            fails(c(*command), "OOM")
        eq(c("BF.EXISTS", "bf", "a"), 1)
        eq(c("BLY.CHECK", "bly", "a", "b"), [1, 0])
        eq(c("CF.DEL", "cf", "a"), 1)
        eq(c("BLY.DEL", "bly", "a"), [1])
        eq(text(c("CF.COMPACT", "cf")), "OK")
        c.must("DEL", "bf")
        wait_for(lambda: c("CF.ADD", "cf", "b") == 1, 10, "room after DEL")


def test_more_than_maxmemory():
    """A filter that can never fit is refused before all other keys are evicted for it."""
    with Server("maxmemory 100mb", "maxmemory-policy allkeys-lru") as server, \
            server.client() as c:
        for i in range(1000):
            c.must("SET", f"s{i}", "x")
        for command in creations():
            refused(server, c, SERVER_LIMIT, *command)
        refused(server, c, SERVER_LIMIT, "BF.LOADCHUNK", "key", 1, big_bf_header())
        cuckoo = struct.pack("<QQQQHHH", 0, 1 << 29, 0, 1, 2, 20, 1)
        refused(server, c, SERVER_LIMIT, "CF.LOADCHUNK", "key", 1, cuckoo)
        eq(c.must("DBSIZE"), 1000)
        c.must("BF.RESERVE", "a", "0.01", 6 * 10 ** 7)
        c.must("BF.RESERVE", "b", "0.01", 6 * 10 ** 7)  # evicts the first
        wait_for(lambda: c.must("SET", "one", "more") and c.must("EXISTS", "a", "b") < 2, 10,
                 "eviction")
        c.must("FLUSHALL")
        c.must("CONFIG", "SET", "maxmemory-policy", "noeviction")
        c.must("BF.RESERVE", "a", "0.01", 6 * 10 ** 7)
        fails(c("BF.RESERVE", "b", "0.01", 6 * 10 ** 7), SERVER_LIMIT)
        fails(c("COPY", "a", "b"), "ERR")
        ok(used(c) < 90 * MB, f"{used(c)} bytes")
        c.must("SET", "still", "there")
        c.must("CONFIG", "SET", "maxmemory", 0)
        c.must("BF.RESERVE", "b", "0.01", 6 * 10 ** 7)


def test_more_than_the_machine():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    with Server() as server, server.client() as c:
        for n in (pages, 1 << 40):
            refused(server, c, SERVER_LIMIT, "BF.RESERVE", "key", "0.01", n)
        refused(server, c, SERVER_LIMIT, "BLY.RESERVE", "key", "KIND", "sbbf", "CAPACITY", pages)
        third = pages // 3 * 8 // 10 + 1  # keys: four filters of them exceed the machine's memory
        replies = [c("BLY.RESERVE", f"f{i}", "KIND", "classic", "CAPACITY", third) for i in range(4)]
        ok(not isinstance(replies[0], Error), f"{replies[0]!r}")
        fails(replies[3], SERVER_LIMIT)


def test_replica_of_a_larger_master():
    master, replica = pair(replica_config=("maxmemory 10mb", "maxmemory-policy allkeys-lru"))
    with master.client() as m, replica.client() as r:
        m.must("BF.RESERVE", "bf", "0.01", 2 * 10 ** 7)
        m.must("BLY.RESERVE", "grown", "KIND", "scalable", "CAPACITY", 10 ** 5, "GROWTH", 160)
        for i in range(0, 150000, 50000):  # the second level has 16 million keys
            m.must("BLY.ADD", "grown", *range(i, i + 50000))
        ok(counted(m) > 40 * MB, f"{counted(m)} bytes")
        wait_sync(master, replica)
        eq(digests(r), digests(m))


def test_eviction_of_a_large_filter():
    """Evicting it makes room at once, so nothing else is evicted. (If the engine frees in a thread
    of its own, as Valkey does by default, there is room when that thread is done.)"""
    with Server("maxmemory-policy volatile-ttl", "maxmemory-samples 64",
                "lazyfree-lazy-eviction no") as server, server.client() as c:
        c.must("BLY.RESERVE", "made", "KIND", "classic", "SIZE", 150 << 23, "HASHES", 1)
        c.must("COPY", "made", "large")  # all pages of a copy are resident
        c.must("DEL", "made")
        ok(server.rss() > 140 * MB, f"{server.rss()} bytes")
        # Evicted first: it expires before the others, and a sample contains all keys with expiry.
        c.must("EXPIRE", "large", 10 ** 6)
        c.pipeline(("SET", f"s{i}", b"x" * 1000, *(("EX", 10 ** 7) if i < 10 else ())) for i in range(2000))
        c.must("CONFIG", "SET", "maxmemory", used(c) - 100000)
        wait_for(lambda: not c.must("EXISTS", "large"), 10, "eviction")
        for i in range(200):
            c.must("SET", "one", i, "EX", 10 ** 7)
        ok(used(c) < 30 * MB, f"{used(c)} bytes")
        eq(c.must("DBSIZE"), 2001)
        wait_for(lambda: c.info("bf_filters")["bf_memory_pending_free_bytes"] == "0"
                 and server.rss() < 60 * MB, 10, "memory given back")


def test_eviction():
    """BLY.CHECK replies nil, not 0, for an evicted filter."""
    with Server("maxmemory-policy allkeys-lru", "maxmemory-samples 64") as server, \
            server.client() as c:
        c.must("BF.RESERVE", "guard", "0.01", 10 ** 6)
        c.must("BF.ADD", "guard", "a")
        eq(c.must("BLY.CHECK", "guard", "a", "b"), [1, 0])
        limit = used(c) + 3 * MB
        c.must("CONFIG", "SET", "maxmemory", limit)
        count = 0
        while c.must("EXISTS", "guard"):
            c.must("SET", f"s{count}", b"x" * 10000)
            count += 1
            ok(count < 5000, "never evicted")
        eq(c.must("BLY.CHECK", "guard", "a", "b"), [None, None])
        eq(c.must("BF.EXISTS", "guard", "a"), 0)
        wait_for(lambda: c.must("SET", "one", "more") and used(c) <= limit, 10, "used_memory")
        ok(int(c.info("stats")["evicted_keys"]) > 0, "nothing evicted")


if __name__ == "__main__":
    main(globals())
