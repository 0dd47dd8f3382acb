"""Every kind that can be reserved works the same after it was saved, loaded or replicated."""
from harness import (Error, Server, as_dict, digests, eq, fails, main, ok, pair, rewrite_aof,
                     wait_sync)

# For each kind: options, whether keys can be removed, whether it counts copies.
KINDS = {
    "classic": ((), False, False),
    "partitioned": ((), False, False),
    "sbbf": (("FOLDABLE",), False, False),
    "split512": (("HASH", "xxh3-128"), False, False),
    "bb2x512": (("SEED", "123456789012345678"), False, False),
    "scalable": (("GROWTH", "3", "FIRSTSHARE", "0.3"), False, False),
    "window": (("GENERATIONS", "5"), False, False),
    "counting": (("COUNTERBITS", "8"), True, True),
    "multilayer": ((), True, True),
    "layered": ((), True, True),
    "overlay": (("CHANGES", "100"), True, False),
    "hybrid": ((), True, True),
    "cuckoo": ((), True, True),
    "counts": ((), False, True),
    "hll": ((), False, False),
    "growable-cuckoo": (("HORIZON", "100000"), True, True),
    "scalable-cuckoo": (("GROWTH", "4"), True, True),
}
KEYS = [f"key {i}" for i in range(600)]
OTHERS = [f"other {i}" for i in range(400)]


def reserve_all(c):
    for kind, (options, _, _) in KINDS.items():
        capacity = "100" if kind.startswith("scalable") or kind.startswith("grow") else "2000"
        c.must("BLY.RESERVE", kind, "KIND", kind, "CAPACITY", capacity, "ERROR", "0.01", *options)


def fill_all(c):
    for kind in KINDS:
        got = c.must("BLY.ADD", kind, *KEYS)
        eq(len(got), len(KEYS), kind)
        ok(sum(got) > 590 or kind == "hll", f"{kind}: {sum(got)} new")
        c.must("BLY.ADD", kind, KEYS[0], KEYS[0])


def remove_some(c):
    for kind, (_, removes, _) in KINDS.items():
        if removes:
            eq(c.must("BLY.DEL", kind, *KEYS[500:]), [1] * 100, kind)
        else:
            fails(c("BLY.DEL", kind, KEYS[0]), "ERR ")


def check_all(c):
    for kind, (_, removes, copies) in KINDS.items():
        found = c.must("BLY.CHECK", kind, *KEYS[:500])
        ok(sum(found) == 500, f"{kind}: {sum(found)}")
        false_positives = sum(c.must("BLY.CHECK", kind, *OTHERS))
        ok(false_positives < 25 or kind == "hll",
           f"{kind}: {false_positives} false positives of 400")
        if removes:
            gone = sum(c.must("BLY.CHECK", kind, *KEYS[500:]))
            ok(gone < 12, f"{kind}: {gone} of 100 that were removed")
        count = c.must("BLY.COUNT", kind, KEYS[0], KEYS[1])
        eq(count[0] >= 3 and count[1] >= 1 if copies else count == [1, 1], True, f"{kind} {count}")


def look_at_all(c):
    for kind, (_, removes, _) in KINDS.items():
        info, stats = as_dict(c.must("BLY.INFO", kind)), as_dict(c.must("BLY.STATS", kind))
        count = c.must("BLY.CARD", kind)
        eq((info["kind"], stats["kind"]), (kind.encode(),) * 2)
        eq((info["count"], stats["count"]), (count, count), kind)
        eq((info["layout"], info["face"], info["hash"][:4]), (b"bloomery", b"bly", b"xxh3"), kind)
        ok(info["bytes"] > 0 and info["file_bytes"] >= 64, kind)
        low, high = (480, 520) if removes else (580, 620)
        ok(low <= count <= high, f"{kind}: {count} keys")
        if kind != "hll":
            rate = float(stats["rate_current"])
            ok(0 < rate < 0.02, f"{kind}: {rate}")
            eq(stats["warning"], None, kind)


def test_every_kind_on_master_replica_and_disk():
    master, replica = pair(replica_args="bf-initial-size 7 bf-error-rate 0.5",
                           replica_config=("appendonly yes", "aof-use-rdb-preamble no"))
    c, r = master.client(), replica.client()
    reserve_all(c)
    wait_sync(master, replica)
    eq(digests(r), digests(c), "after BLY.RESERVE")
    fill_all(c)
    remove_some(c)
    check_all(c)
    look_at_all(c)
    wait_sync(master, replica)
    before = digests(c)
    eq(len(set(before.values())), len(KINDS))
    eq(digests(r), before, "the replica")
    check_all(r)

    c.must("DEBUG", "RELOAD")
    eq(digests(c), before, "after DEBUG RELOAD")
    check_all(c)
    look_at_all(c)

    c.must("CONFIG", "SET", "aof-use-rdb-preamble", "no")
    rewrite_aof(c, "CONFIG", "SET", "appendonly", "yes")
    c.must("DEBUG", "LOADAOF")
    eq(digests(c), before, "after an AOF rewrite")
    check_all(c)

    for kind in KINDS:  # a loaded filter works like one that was not loaded
        c("BLY.ADD", kind, *OTHERS[:50])
    wait_sync(master, replica)
    eq(digests(r), digests(c), "more, on both")

    r.must("DEBUG", "LOADAOF")  # the commands that it wrote itself
    eq(digests(r), digests(c), "the replica's own AOF")


def test_commands_in_the_aof_make_the_same():
    s = Server("appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0")
    c = s.client()
    reserve_all(c)
    fill_all(c)
    remove_some(c)
    before = digests(c)
    s.configure("bf.bf-initial-size 5", "bf.bf-error-rate 0.3")
    s.restart(kill=True)
    with s.client() as again:
        eq(digests(again), before)
        check_all(again)


def test_clear_and_copy():
    master, replica = pair()
    c, r = master.client(), replica.client()
    reserve_all(c)
    empty = {kind: c.must("BLY.CARD", kind) for kind in KINDS}
    fill_all(c)
    for kind in KINDS:
        eq(c.must("COPY", kind, kind + " copy"), 1, kind)
        eq(digests(c, kind + " copy")[kind + " copy"], digests(c, kind)[kind], kind)
        c.must("BLY.CLEAR", kind)
        eq(c.must("BLY.CARD", kind), empty[kind], kind)
        eq(c.must("BLY.CHECK", kind, *KEYS), [0] * len(KEYS), kind)
        found = sum(c.must("BLY.CHECK", kind + " copy", *KEYS))
        ok(found == len(KEYS), f"{kind} copy: {found}")
    wait_sync(master, replica)
    eq(digests(r), digests(c))


def test_dump_and_load_every_kind():
    c = Server().client()
    reserve_all(c)
    fill_all(c)
    for kind in KINDS:
        total, _, data = c.must("BLY.DUMP", kind, 0, "COUNT", 64 << 20)
        eq(len(data), total, kind)
        eq(c.must("BLY.LOAD", kind + " again", total, 0, data), total)
        eq(c.must("BLY.DUMP", kind + " again", 0, "COUNT", 64 << 20)[2], data, kind)
        eq(c.must("BLY.CHECK", kind + " again", *KEYS + OTHERS),
           c.must("BLY.CHECK", kind, *KEYS + OTHERS), kind)
        bad = bytearray(data)
        bad[len(data) // 2] ^= 4
        ok(isinstance(c("BLY.LOAD", "bad", total, 0, bytes(bad)), Error), kind)
        eq(c("EXISTS", "bad"), 0)


if __name__ == "__main__":
    main(globals())
