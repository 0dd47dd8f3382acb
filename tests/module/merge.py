"""BLY.MERGE: all or nothing, and its reply."""
from harness import (Cluster, Error, Server, as_dict, digests, eq, fails, main, ok, pair,
                     wait_sync)

UNITING = ("classic", "partitioned", "sbbf", "split512", "bb2x512", "scalable", "counting",
           "multilayer", "layered", "hybrid", "cuckoo", "counts", "hll", "growable-cuckoo",
           "scalable-cuckoo", "window")


def make(c, name, kind, keys, *options, capacity=1000):
    c.must("BLY.RESERVE", name, "KIND", kind, "CAPACITY", capacity, *options)
    got = c.must("BLY.ADD", name, *keys)
    eq(len(got), len(keys), kind)


def test_every_kind_that_can():
    master, replica = pair()
    c, r = master.client(3), replica.client()
    for kind in UNITING:
        for n in range(4):
            make(c, f"{kind} {n}", kind, range(100 * n, 100 * n + 100))
        before = c.must("BLY.CARD", f"{kind} 0")
        told = as_dict(c.must("BLY.MERGE", f"{kind} 0", f"{kind} 1"))
        eq((told["keys_before"], told["keys_after"]), (before, c.must("BLY.CARD", f"{kind} 0")),
           kind)
        told = as_dict(c.must("BLY.MERGE", f"{kind} 0", f"{kind} 2", f"{kind} 3"))
        eq(told["saturated"], kind == "window", kind)  # a generation is an eighth of a window
        ok(told["fill_before"] < told["fill_after"], f"{kind}: {told}")
        ok(told["rate_before"] <= told["rate_after"], f"{kind}: {told}")
        ok(told["rate_requested"] == 0.01 or kind == "hll", f"{kind}: {told}")
        eq(c.must("BLY.CHECK", f"{kind} 0", *range(400)), [True] * 400, kind)
        if kind != "window":
            ok(360 <= told["keys_after"] <= 440, f"{kind}: {told}")
    wait_sync(master, replica)
    eq(digests(r), digests(c))


def test_refused_with_the_reason():
    c = Server().client()
    make(c, "a", "sbbf", range(10))
    make(c, "seed", "sbbf", range(10), "SEED", "5")
    make(c, "size", "sbbf", range(10), capacity=5000)
    make(c, "kind", "classic", range(10))
    make(c, "overlay", "overlay", range(10))
    make(c, "overlay2", "overlay", range(10))
    make(c, "b", "sbbf", range(20))
    c.must("SET", "text", "x")
    before = digests(c, "a")
    cases = (("seed", "their seeds differ"), ("size", "they have different sizes"),
             ("kind", "they are of different kinds"), ("a", "it is the destination"))
    for name, why in cases:
        fails(c("BLY.MERGE", "a", name), f"ERR '{name}' cannot be merged: {why}")
        fails(c("BLY.MERGE", "a", "b", name), f"ERR '{name}' cannot be merged: {why}")
        eq(digests(c, "a"), before, "nothing changed")
    fails(c("BLY.MERGE", "overlay", "overlay2"), "ERR 'overlay2' cannot be merged: ")
    fails(c("BLY.MERGE", "a", "none"), "ERR not found")
    fails(c("BLY.MERGE", "a", "b", "text"), "WRONGTYPE")
    fails(c("BLY.MERGE", "text", "b"), "WRONGTYPE")
    fails(c("BLY.MERGE", "a"), "ERR wrong number of arguments")
    eq(digests(c, "a"), before, "nothing changed")


def test_no_room_leaves_it_alone():
    master, replica = pair()
    c, r = master.client(), replica.client()
    for n in range(3):
        make(c, f"c{n}", "cuckoo", range(60 * n, 60 * n + 60), capacity=140)
    before = digests(c, "c0")
    fails(c("BLY.MERGE", "c0", "c1", "c2"), "ERR the destination is too small")
    eq(digests(c, "c0"), before, "the first of two was not merged either")
    eq(as_dict(c("BLY.MERGE", "c0", "c1"))["keys_after"], 120)
    wait_sync(master, replica)
    eq(digests(r), digests(c))


def test_memory_limits():
    c = Server().client()
    for n in range(3):
        make(c, f"s{n}", "scalable", range(3000 * n, 3000 * n + 3000), capacity=100)
    bytes_before = as_dict(c.must("BLY.INFO", "s0"))["bytes"]
    before = digests(c, "s0")
    c.must("CONFIG", "SET", "bf.max-filter-memory", bytes_before + 100)
    eq(as_dict(c.must("BLY.MERGE", "s0", "s1", "s2"))["saturated"], 1, "levels stay as they are")
    ok(digests(c, "s0") != before)
    make(c, "small", "scalable", range(10), capacity=100)
    before = digests(c, "small")
    c.must("CONFIG", "SET", "bf.max-filter-memory", 4000)
    for sources in (("s1",), ("s1", "s2")):
        reply = c("BLY.MERGE", "small", *sources)
        fails(reply, "ERR ")
        eq(digests(c, "small"), before, reply.text)
    c.must("CONFIG", "SET", "bf.max-filter-memory", 0)
    c.must("BLY.MERGE", "small", "s1", "s2")
    eq(c.must("BLY.CHECK", "small", *range(3000, 9000)), [1] * 6000)


def test_saturation_is_told():
    c = Server().client(3)
    for n in range(8):
        make(c, f"f{n}", "sbbf", range(1000 * n, 1000 * n + 1000))
    eq(as_dict(c.must("BLY.MERGE", "f0", "f1"))["saturated"], True)
    told = as_dict(c.must("BLY.MERGE", "f2", *[f"f{n}" for n in (3, 4, 5, 6, 7)]))
    eq(told["saturated"], True)
    ok(told["rate_after"] > 1.5 * told["rate_requested"], told)
    ok(told["keys_before"] >= 990 and told["keys_after"] > 5000, told)


def test_timed_windows():
    master, replica = pair()
    c, r = master.client(), replica.client()
    for n in range(3):
        make(c, f"w{n}", "window", range(10 * n, 10 * n + 10), "SPAN", "3600000")
    c.must("BLY.MERGE", "w0", "w1", "w2")
    eq(c.must("BLY.CHECK", "w0", *range(30)), [1] * 30)
    make(c, "other", "window", range(10), "SPAN", "60000")
    fails(c("BLY.MERGE", "w0", "other"), "ERR 'other' cannot be merged: their clocks")
    wait_sync(master, replica)
    eq(digests(r, "w0"), digests(c, "w0"))


def test_keys_of_one_slot():
    """BLY.MERGE works on keys of one slot, and is refused across slots like any command."""
    cluster = Cluster(masters=1)
    with cluster.masters[0].client() as c:
        for key in ("{a}1", "{a}2", "{a}dst"):
            c.must("BLY.RESERVE", key, "KIND", "sbbf", "CAPACITY", 100)
            c.must("BLY.ADD", key, key)
        c.must("BLY.MERGE", "{a}dst", "{a}1", "{a}2")
        eq(c.must("BLY.CHECK", "{a}dst", "{a}1", "{a}2"), [1, 1])
        reply = c("BLY.MERGE", "{b}dst", "{a}1")
        ok(isinstance(reply, Error) and reply.code == "CROSSSLOT", f"{reply!r}")


if __name__ == "__main__":
    main(globals())
