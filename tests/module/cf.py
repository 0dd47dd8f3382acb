"""cf.py - every reply and every error of CF.*, in both protocols."""
import struct

from harness import Error, Server, Simple, as_dict, digests, eq, main, ok, pair, wait_sync
from protocols import OK, WRONGTYPE, both, dump, events, load

MAX_CAPACITY, RB_MAX_CAPACITY = 1 << 40, 1 << 30
FULL = Error("Filter is full")
TOO_MANY = Error("Maximum expansions reached")
LOADING = Error("ERR filter is being loaded; send its other chunks, or DEL the key")
RB = "compat-layout yes"


def numbers(first, last):
    return " ".join(f"n{i}" for i in range(first, last))


def info(t, key):
    return as_dict(t(f"CF.INFO {key}"))


def test_reserve():
    def exchange(t):
        t.says("CF.RESERVE a 1000", OK)
        t.says("cf.reserve b 1000 bucketsize 4 maxiterations 50 expansion 3", OK)
        t.says("CF.RESERVE c 1000 EXPANSION 0", OK)
        t.says("CF.RESERVE d 4 MAXITERATIONS 65535", OK)
        t.says("CF.RESERVE e 510 BUCKETSIZE 255", OK)
        t("SET s x")
        t("BF.ADD bf x")
        t.refuses(["CF.RESERVE a 1000", "CF.RESERVE c 1000"], "ERR item exists")
        t.says("CF.RESERVE s 1000", WRONGTYPE)
        t.says("CF.RESERVE bf 1000", WRONGTYPE)
        t.arity("CF.RESERVE", "CF.RESERVE x", "CF.RESERVE x 10 EXPANSION",
                "CF.RESERVE x 10 EXPANSION 2 FOO")
        t.refuses(["CF.RESERVE x ten", "CF.RESERVE x 1.5", "CF.RESERVE x ''"], "Bad capacity")
        t.refuses(["CF.RESERVE x 3", "CF.RESERVE x 0", "CF.RESERVE x -5",
                   "CF.RESERVE x 509 BUCKETSIZE 255", f"CF.RESERVE x {MAX_CAPACITY + 1}"],
                  f"Capacity must be in the range [2 * BUCKETSIZE, {MAX_CAPACITY}]")
        for word, low, high in (("MAXITERATIONS", 1, 65535), ("BUCKETSIZE", 1, 255),
                                ("EXPANSION", 0, 32768)):
            t.refuses([f"CF.RESERVE x 1000 {word} y", f"CF.RESERVE x 1000 {word} 1.5"],
                      f"Couldn't parse {word}")
            t.refuses([f"CF.RESERVE x 1000 {word} {low - 1}",
                       f"CF.RESERVE x 1000 {word} {high + 1}"],
                      f"{word}: value must be in the range [{low}, {high}]")
        t.refuses("CF.RESERVE x 1000 FOO 1", "ERR unknown argument 'FOO'")
        t.refuses("CF.RESERVE s x EXPANSION y", "Bad capacity")
        t.refuses("CF.RESERVE s 1 EXPANSION y", "Couldn't parse EXPANSION")
        t.says("EXISTS x", 0)
    both(exchange)
    both(exchange, args=RB)


def test_error_option():
    def exchange(t):
        t.says("CF.RESERVE loose 10000 ERROR 0.05", OK)
        t.says("CF.RESERVE tight 10000 error 0.0001 EXPANSION 2", OK)
        ok(info(t, "tight")["Size"] > 1.5 * info(t, "loose")["Size"])
        for key in ("loose", "tight"):
            t(f"CF.INSERT {key} ITEMS {numbers(0, 10000)}")
        others = " ".join(f"s{i}" for i in range(20000))
        ok(sum(t(f"CF.MEXISTS tight {others}")) <= 10)
        ok(10 < sum(t(f"CF.MEXISTS loose {others}")) <= 1100)
        t.refuses(["CF.RESERVE x 1000 ERROR y", "CF.RESERVE x 1000 ERROR nan"],
                  "Couldn't parse ERROR")
        t.refuses(["CF.RESERVE x 1000 ERROR 0", "CF.RESERVE x 1000 ERROR 1",
                   "CF.RESERVE x 1000 ERROR -1"], "ERROR: value must be in the range (0, 1)")
    both(exchange)


def test_add():
    def exchange(t):
        t.says("CF.ADD k a", t.yes)
        t.says("CF.ADD k a", t.yes)
        t.says("CF.ADDNX k a", t.no)
        t.says("CF.ADDNX k b", t.yes)
        t.says("CF.ADDNX new b", t.yes)
        t.says("CF.COUNT k a", 2)
        t.says("CF.COUNT k b", 1)
        t.says("CF.COUNT k absent", 0)
        t.says("CF.EXISTS k a", t.yes)
        t.says("CF.EXISTS k absent", t.no)
        t.says("CF.MEXISTS k a absent b", [t.yes, t.no, t.yes])
        t.says("CF.DEL k a", t.yes)
        t.says("CF.COUNT k a", 1)
        t.says("CF.DEL k a", t.yes)
        t.says("CF.DEL k a", t.no)
        t.says("CF.EXISTS k a", t.no)
        t.says("CF.EXISTS none a", t.no)
        t.says("CF.MEXISTS none a b", [t.no, t.no])
        t.says("CF.COUNT none a", 0)
        t.refuses("CF.DEL none a", "Not found")
        t.refuses("CF.COMPACT none", "Cuckoo filter was not found")
        t.says("CF.COMPACT k", OK)
        t.says("CF.ADD k", t.yes, b"\x00\xff\r\n")
        t.says("CF.EXISTS k", t.yes, b"\x00\xff\r\n")
        t.says("CF.ADD k ''", t.yes)
        t.says("CF.EXISTS k ''", t.yes)
        t("SET s x")
        t("BF.ADD bf x")
        for key in ("s", "bf"):
            for command in ("ADD", "ADDNX", "EXISTS", "MEXISTS", "COUNT", "DEL"):
                t.says(f"CF.{command} {key} a", WRONGTYPE)
            for command in ("COMPACT", "INFO", "DEBUG"):
                t.says(f"CF.{command} {key}", WRONGTYPE)
            t.says(f"CF.INSERT {key} ITEMS a", WRONGTYPE)
            t.says(f"CF.SCANDUMP {key} 0", WRONGTYPE)
            t.says(f"CF.LOADCHUNK {key} 1 x", WRONGTYPE)
        t.arity("CF.ADD k", "CF.ADD k a b", "CF.ADDNX k", "CF.EXISTS k", "CF.EXISTS k a b",
                "CF.MEXISTS k", "CF.COUNT k", "CF.DEL k", "CF.DEL k a b", "CF.COMPACT",
                "CF.COMPACT k k", "CF.INFO", "CF.INFO k k", "CF.DEBUG", "CF.SCANDUMP k",
                "CF.LOADCHUNK k 1")
    both(exchange)
    both(exchange, args=RB)


def test_insert():
    def exchange(t):
        # INSERTNX replies with numbers in both protocols.
        t.says("CF.INSERT a ITEMS x y x", [t.yes] * 3)
        t.says("CF.COUNT a x", 2)
        t.says("CF.INSERTNX a ITEMS x z z", [0, 1, 0])
        t.says("CF.COUNT a z", 1)
        t.says("CF.INSERTNX nx ITEMS x x", [1, 0])
        t.says("cf.insert b capacity 5000 items x", [t.yes])
        t.says("CF.INSERT a NOCREATE CAPACITY 10 ITEMS items", [t.yes])
        t.says(f"CF.INSERT many ITEMS {numbers(0, 3000)}", [t.yes] * 3000)
        t.says(f"CF.INSERTNX many ITEMS {numbers(0, 1000)}", [0] * 1000)
        t.says(f"CF.MEXISTS many {numbers(0, 3000)}", [t.yes] * 3000)
        for command in ("INSERT", "INSERTNX"):
            t.refuses(f"CF.{command} n NOCREATE ITEMS x", "ERR not found")
            t.refuses([f"CF.{command} n CAPACITY x ITEMS x",
                       f"CF.{command} n CAPACITY 1.5 ITEMS x"],
                      "Bad capacity")
            t.refuses([f"CF.{command} n CAPACITY 3 ITEMS x",
                       f"CF.{command} n CAPACITY {MAX_CAPACITY + 1} ITEMS x"],
                      f"Capacity must be in the range [cf-bucket-size * 2, {MAX_CAPACITY}]")
            t.refuses([f"CF.{command} n FOO ITEMS x", f"CF.{command} n CAP 10 ITEMS x",
                       f"CF.{command} n I x"], "Unknown argument received")
            t.arity(f"CF.{command} n ITEMS", f"CF.{command} n NOCREATE ITEMS",
                    f"CF.{command} n CAPACITY 10", f"CF.{command} n NOCREATE CAPACITY")
        t.says("EXISTS n", 0)
    both(exchange)
    both(exchange, args=RB)


def test_full():
    """A filter without expansion becomes full; a refused add changes nothing."""
    def exchange(t):
        t.says("CF.RESERVE k 64 EXPANSION 0", OK)
        reply = t(f"CF.INSERT k ITEMS {numbers(0, 200)}")
        failed = -1 if t.resp == 2 else False
        ok(reply[:40] == [t.yes] * 40 and reply.count(failed) > 50, repr(reply))
        ok(all(type(x) is type(t.yes) for x in reply))
        added = [f"n{i}" for i, x in enumerate(reply) if x == t.yes]
        eq(info(t, "k")["Number of items inserted"], len(added))
        t.says(f"CF.MEXISTS k {' '.join(added)}", [t.yes] * len(added))
        reply = t(f"CF.INSERTNX k ITEMS {added[0]} {numbers(500, 540)}")
        ok(reply[0] == 0 and -1 in reply and all(type(x) is int for x in reply), repr(reply))
        extra = 600
        while t(f"CF.ADD k n{extra}") != FULL:
            extra += 1
        t.says(f"CF.ADDNX k {added[0]}", t.no)
        t.says(f"CF.DEL k {added[0]}", t.yes)
    both(exchange)
    both(exchange, args=RB)


def test_copies():
    """The number of copies of a key is limited too, whatever the size of the filter."""
    def exchange(t, room, full=FULL):
        t.says("CF.RESERVE k 1024 EXPANSION 0", OK)
        t.says("CF.INSERT k ITEMS " + "x " * room, [t.yes] * room)
        t.says("CF.COUNT k x", room)
        t.says("CF.ADD k x", full)
        t.says("CF.COUNT k x", room)
        t.says("CF.ADD k y", t.yes)
        for _ in range(room):
            t.says("CF.DEL k x", t.yes)
        t.says("CF.EXISTS k x", t.no)
    why = Error("Filter is full for this item: it has 8 copies of it, and a larger filter would not "
                "help; remove copies with CF.DEL, or use CF.ADDNX, which adds an item only once")
    both(lambda t: exchange(t, 8, why))
    both(lambda t: exchange(t, 8), args="compat yes")
    both(lambda t: exchange(t, 4), args=RB)


def test_info():
    def exchange(t):
        t.says("CF.RESERVE k 1000 BUCKETSIZE 3 MAXITERATIONS 30 EXPANSION 4", OK)
        t.says("CF.INSERT k ITEMS a b c d", [t.yes] * 4)
        t.says("CF.DEL k a", t.yes)
        size, buckets = info(t, "k")["Size"], info(t, "k")["Number of buckets"]
        ok(1000 < size < 4000, f"Size {size}")
        ok(250 <= buckets < 400, f"buckets {buckets}")
        t.says("CF.INFO k", t.map(
            ("Size", size), ("Number of buckets", buckets), ("Number of filters", 1),
            ("Number of items inserted", 3), ("Number of items deleted", 1), ("Bucket size", 3),
            ("Expansion rate", 4), ("Max iterations", 30)))
        t.says("CF.DEBUG k", b"bktsize:3 buckets:%d items:3 deletes:1 filters:1 max_iterations:30 "
                             b"expansion:4" % buckets)
        t.refuses(["CF.INFO none", "CF.DEBUG none", "CF.SCANDUMP none 0"], "ERR not found")
        t.says("CF.COMPACT k", OK)
        eq(info(t, "k")["Number of items deleted"], 0)
        t(f"CF.INSERT k ITEMS {numbers(0, 4000)}")
        eq(info(t, "k")["Number of filters"], 2)
    both(exchange)


def test_redisbloom_numbers():
    """With RedisBloom's layout the numbers are RedisBloom's."""
    def exchange(t):
        t.says("CF.RESERVE k 1000 BUCKETSIZE 4 EXPANSION 3", OK)
        t.says("CF.INSERT k ITEMS a b c d", [t.yes] * 4)
        t.says("CF.DEL k a", t.yes)
        t.says("CF.INFO k", t.map(
            ("Size", 40 + 16 + 1024), ("Number of buckets", 256), ("Number of filters", 1),
            ("Number of items inserted", 3), ("Number of items deleted", 1), ("Bucket size", 4),
            ("Expansion rate", 4), ("Max iterations", 20)))
        t.says("CF.DEBUG k", b"bktsize:4 buckets:256 items:3 deletes:1 filters:1 max_iterations:20 "
                             b"expansion:4")
        eq(t("TYPE k"), Simple("MBbloomCF"))
        t(f"CF.INSERT k ITEMS {numbers(0, 4000)}")
        eq(info(t, "k")["Number of filters"], 2)
    both(exchange, args=RB)


def grow_to_the_end(t):
    """Adds until CF.ADD is refused; returns the items that were added."""
    t.config(cf_max_expansions=3)
    t.says("CF.RESERVE k 64 MAXITERATIONS 100", OK)
    items = []
    while len(items) < 1000:
        item = f"n{len(items)}"
        reply = t(f"CF.ADD k {item}")
        if isinstance(reply, Error):
            eq(reply, TOO_MANY)
            return items
        items.append(item)
    raise AssertionError("no end")


def test_max_expansions():
    """RedisBloom's structure has a maximum number of sub-filters; adds succeed while slots are
    free."""
    def exchange(t):
        items = grow_to_the_end(t)
        eq(info(t, "k")["Number of filters"], 3)
        ok(len(items) > 3 * 64 * 0.7, f"{len(items)} items")
        failed = -1 if t.resp == 2 else False
        for item in items[:50]:
            t(f"CF.DEL k {item}")
        t.says("CF.ADD k again", t.yes)
        reply = t(f"CF.INSERT k ITEMS {numbers(2000, 2200)}")
        ok(reply[0] == t.yes and failed in reply, repr(reply))
    both(exchange, args=RB)


def test_compat():
    def exchange(t):
        t("SET s x")
        t("BF.ADD bf x")
        for key in ("s", "bf"):
            t.says(f"CF.EXISTS {key} x", t.no)
            t.says(f"CF.MEXISTS {key} x y", [t.no, t.no])
            t.says(f"CF.COUNT {key} x", 0)
            t.refuses(f"CF.DEL {key} x", "Not found")
            t.refuses(f"CF.COMPACT {key}", "Cuckoo filter was not found")
            t.says(f"CF.ADD {key} x", WRONGTYPE)
        t.says("CF.RESERVE a 1000 FOO 1", OK)
        t.refuses(f"CF.RESERVE x {RB_MAX_CAPACITY + 1}",
                  f"Capacity must be in the range [2 * BUCKETSIZE, {RB_MAX_CAPACITY}]")
        t.says("CF.INSERT b cap 50 i x", [t.yes])
        t.refuses("CF.INSERT x no items x", "ERR not found")
        t.refuses("CF.INSERT x what items x", "Unknown argument received")
        items = grow_to_the_end(t)
        full_at = info(t, "k")["Number of items inserted"]
        for item in items[:5]:
            t(f"CF.DEL k {item}")
        t.says("CF.ADD k again", TOO_MANY)
        t.says("CF.INSERT k ITEMS again", TOO_MANY)
        t.says("CF.ADDNX k again", TOO_MANY)
        ok(info(t, "k")["Number of items inserted"] < full_at)
    both(exchange, args=f"compat yes {RB}")


def test_defaults():
    def exchange(t):
        t.config(cf_initial_size=5000, cf_bucket_size=4, cf_expansion_factor=0,
                 cf_max_iterations=77)
        t("CF.ADD k x")
        got = info(t, "k")
        eq((got["Bucket size"], got["Expansion rate"], got["Max iterations"]), (4, 0, 77))
        ok(got["Size"] > 5000)
        t.refuses("CF.INSERT x CAPACITY 7 ITEMS a",
                  f"Capacity must be in the range [cf-bucket-size * 2, {MAX_CAPACITY}]")
    both(exchange)


def test_growth_and_compaction():
    """Removed keys are gone, and all others present, after growth and compaction."""
    def exchange(t):
        t.says("CF.RESERVE k 1000 EXPANSION 2", OK)
        t(f"CF.INSERT k ITEMS {numbers(0, 20000)}")
        before = info(t, "k")
        ok(before["Number of filters"] >= 4, repr(before))
        t.client.pipeline([("CF.DEL", "k", f"n{i}") for i in range(18000)])
        t.says(f"CF.MEXISTS k {numbers(18000, 20000)}", [t.yes] * 2000)
        eq(info(t, "k")["Number of items inserted"], 2000)
        eq(info(t, "k")["Number of items deleted"], 18000)
        t.says("CF.COMPACT k", OK)
        t.says(f"CF.MEXISTS k {numbers(18000, 20000)}", [t.yes] * 2000)
        after = info(t, "k")
        ok(after["Size"] < before["Size"] / 2, f"{before} {after}")
        ok(sum(t(f"CF.MEXISTS k {numbers(0, 18000)}")) < 360)
    both(exchange)


# ---- dumps ----------------------------------------------------------------------------------

def test_scandump():
    def exchange(t):
        t.says("CF.RESERVE k 1000 EXPANSION 2", OK)
        t(f"CF.INSERT k ITEMS {numbers(0, 3000)}")
        t("CF.DEL k n0")
        t.refuses(["CF.SCANDUMP k x", "CF.SCANDUMP k -1"], "Invalid position")
        chunks, end = dump(t.client, "CF", "k")
        eq(end, None)
        eq(chunks[0][0], 1)
        for (before, _), (at, data) in zip(chunks, chunks[1:]):
            eq(at, before + len(data))
        t.says("CF.SCANDUMP k 1000000000", [0, None])
        t.refuses(["CF.LOADCHUNK x 0 data", "CF.LOADCHUNK x one data", "CF.LOADCHUNK x -1 data"],
                  "Invalid position")
        t.refuses("CF.LOADCHUNK x 2 data", "ERR not found")
        t.says("CF.LOADCHUNK k 1", Error("ERR item exists"), chunks[0][1])
        t.refuses("CF.LOADCHUNK x 1 data", "Invalid header")
        load(t.client, "CF", "copy", chunks[:1])
        t.says("CF.EXISTS copy absent", t.yes)
        t.says("CF.COUNT copy absent", 1)
        for command in ("CF.ADD copy x", "CF.INSERT copy ITEMS x", "CF.DEL copy x", "CF.INFO copy",
                        "CF.COMPACT copy", "CF.SCANDUMP copy 0"):
            t.says(command, LOADING)
        t.says("CF.LOADCHUNK copy 2", Error("Couldn't load chunk!"), b"xyz")
        load(t.client, "CF", "copy", chunks)
        eq(*digests(t.client, "k", "copy").values())
        t.says("CF.DEBUG copy", t("CF.DEBUG k"))
        t.says(f"CF.MEXISTS copy {numbers(1, 3000)}", [t.yes] * 2999)
        t.says("CF.DEL copy n7", t.yes)
    both(exchange)
    both(exchange, args=RB)


def test_empty_scandump():
    """RedisBloom does not dump an empty filter; our layout has a dump of it."""
    def old(t):
        t.says("CF.RESERVE k 100", OK)
        t.says("CF.SCANDUMP k 0", [0, None])

    def new(t):
        t.says("CF.RESERVE k 100", OK)
        t.refuses(["CF.SCANDUMP k 1", "CF.SCANDUMP k 7"],
                  "ERR no dump of this filter was started; start at 0")
        chunks, _ = dump(t.client, "CF", "k")
        load(t.client, "CF", "copy", chunks)
        eq(*digests(t.client, "k", "copy").values())
        t.says("BF.LOADCHUNK x 1", Error("ERR received bad data"), chunks[0][1])
    both(old, args=RB)
    both(new)


def header(items=2, buckets=8, deletes=0, filters=2, bucket=2, iterations=20, expansion=2):
    """A header of RedisBloom, from its fields."""
    return struct.pack("<QQQQHHH", items, buckets, deletes, filters, bucket, iterations, expansion)


def test_redisbloom_chunks():
    def exchange(t):
        slots = bytes([7, 0] * 8) + bytes([0, 9] * 16)
        t.says("CF.LOADCHUNK k 1", OK, header())
        t.says("CF.LOADCHUNK k 49", OK, slots[16:])
        t.says("CF.ADD k x", LOADING)
        t.says("CF.LOADCHUNK k 17", OK, slots[:16])
        eq(t("TYPE k"), Simple("MBbloomCF"))
        eq(info(t, "k")["Number of filters"], 2)
        eq(dump(t.client, "CF", "k"), ([(1, header()), (17, slots[:16]), (49, slots[16:])], None))
        t.says("CF.LOADCHUNK k 17", OK, slots[:16])
        ok(t("CF.LOADCHUNK k 2", b"\x05").text.startswith("ERR the filter is complete"))
        eq(t("CF.SCANDUMP k 1")[1], slots[:16])
        t.config(compat="yes")
        t.says("CF.LOADCHUNK k 2", OK, b"\x05")
        eq(t("CF.SCANDUMP k 1")[1][:1], b"\x05")
        t.config(compat="no")
        t.says("CF.LOADCHUNK k 1000", Error("Couldn't load chunk!"), b"\x05")
        t.says("CF.ADD k x", t.yes)
        bad = Error("Couldn't create filter!")
        for wrong in (header(filters=0), header(buckets=0), header(bucket=0), header(bucket=256),
                      header(filters=1 << 40), header(buckets=1 << 60), header(iterations=0)):
            t.says("CF.LOADCHUNK x 1", bad, wrong)
        t.says("EXISTS x", 0)
    both(exchange)


# ---- other filters, replicas, listeners, limits ---------------------------------------------

def test_other_filters():
    def exchange(t):
        t.says("BLY.RESERVE counting KIND counting CAPACITY 1000 ERROR 0.01", OK)
        t.says("CF.ADD counting a", t.yes)
        t.says("CF.COUNT counting a", 1)
        t.says("CF.DEL counting a", t.yes)
        t.says("CF.EXISTS counting a", t.no)
        t.says("BLY.RESERVE classic KIND classic CAPACITY 1000 ERROR 0.01", OK)
        t.says("CF.ADD classic a", WRONGTYPE)
        t.says("CF.EXISTS classic a", WRONGTYPE)
    both(exchange)


def test_replication():
    """A replica with other settings has the same filters; only changes are replicated."""
    for args, compat, limit in (("", "", 0), ("", " compat yes", 4096), (RB, "", 0),
                                (RB, " compat yes", 4096)):
        master, replica = pair(
            "repl-ping-replica-period 3600", master_args=args, replica_args=args + compat,
            replica_config=("bf.cf-initial-size 8", "bf.cf-error-rate 0.2", "bf.cf-bucket-size 4",
                            "bf.cf-expansion-factor 0", "bf.cf-max-expansions 1",
                            f"bf.max-filter-memory {limit}"))
        m, r = master.client(), replica.client()
        m.must("CF.ADD", "auto", "a")
        m.must("CF.ADDNX", "nx", "a")
        m.must("CF.INSERT", "many", "ITEMS", *range(3000))
        m.must("CF.INSERTNX", "many", "CAPACITY", 100, "ITEMS", *range(2500, 3500))
        m.must("CF.INSERT", "big", "CAPACITY", 1 << 22, "ITEMS", "a", "b")
        m.must("CF.RESERVE", "fixed", 128, "EXPANSION", 0)
        m.must("CF.INSERT", "fixed", "ITEMS", *range(300))
        m.must("CF.INSERTNX", "fixed", "NOCREATE", "ITEMS", *range(250, 400))
        m.must("CF.RESERVE", "exact", 1000, "ERROR", 0.001)
        m.must("CF.INSERT", "exact", "ITEMS", *range(2000))
        eq(m.pipeline(("CF.DEL", "exact", i) for i in range(0, 2000, 2)), [1] * 1000)
        m.must("CF.COMPACT", "exact")
        chunks, _ = dump(m, "CF", "many")
        load(m, "CF", "loaded", chunks)
        load(m, "CF", "half", chunks[:1])
        wait_sync(master, replica)
        eq(digests(r), digests(m))
        eq(len(digests(r)), 8)
        before = int(m.info("replication")["master_repl_offset"])
        for _ in range(3):
            m.must("CF.ADDNX", "auto", "a")
            m.must("CF.INSERTNX", "many", "ITEMS", *range(100))
            m.must("CF.DEL", "auto", "unheard")
            m("CF.RESERVE", "fixed", 100)
            m("CF.INSERT", "none", "NOCREATE", "ITEMS", 1)
        eq(int(m.info("replication")["master_repl_offset"]), before, "nothing was replicated")
        for server in (master, replica):
            server.check()
            server.remove()


def test_memory_limit():
    """An item without room is refused, and not replicated."""
    for args in ("", RB):
        master, replica = pair(master_args=args, master_config=("bf.max-filter-memory 8192",))
        m, r = master.client(), replica.client()
        replies = m.must("CF.INSERT", "k", "ITEMS", *(f"n{i}" for i in range(20000)))
        ok(replies[0] == 1 and replies.count(-1) > 10000)
        eq(as_dict(m.must("CF.INFO", "k"))["Number of items inserted"], replies.count(1))
        ok(as_dict(m.must("CF.INFO", "k"))["Size"] <= 8192)
        replies = [m("CF.ADD", "k", f"more{i}") for i in range(100)]
        refused = [x for x in replies if isinstance(x, Error)]
        ok(refused and all("max-filter-memory" in x.text for x in refused), repr(refused[:1]))
        replies = m.must("CF.INSERTNX", "k", "ITEMS", "n0", *(f"nx{i}" for i in range(100)))
        ok(replies[0] == 0 and -1 in replies, repr(replies))
        wait_sync(master, replica)
        eq(digests(r, "k"), digests(m, "k"))
        for server in (master, replica):
            server.check()
            server.remove()


def test_compact_is_a_writer():
    master, replica = pair()
    m, r = master.client(), replica.client()
    m.must("CF.ADD", "k", "a")
    wait_sync(master, replica)
    eq(r("CF.EXISTS", "k", "a"), 1)
    eq(r("CF.COMPACT", "k").code, "READONLY")


def test_notifications():
    with Server("notify-keyspace-events EA") as server:
        def program(c):
            c.must("CF.ADD", "k", "a")
            c.must("CF.ADDNX", "k", "a")
            c.must("CF.INSERT", "k", "ITEMS", "b")
            c.must("CF.RESERVE", "r", 100)
            c.must("CF.DEL", "k", "absent")
            c.must("CF.DEL", "k", "a")
            c.must("CF.COMPACT", "k")
            chunks, _ = dump(c, "CF", "k")
            load(c, "CF", "l", chunks)
        eq(events(server, "cuckoo.", program),
           ["cuckoo.reserve k", "cuckoo.add k", "cuckoo.add k", "cuckoo.reserve r", "cuckoo.del k",
            "cuckoo.compact k", "cuckoo.load l"])


if __name__ == "__main__":
    main(globals())
