"""prefetch_cache.py - commands on one item prefetch from the last known filter of a name
(module/runtime/prefetch_cache.h). The name may have another filter now, and no add may be lost."""
import random

from harness import Server, eq, main, ok
from protocols import OK, WRONGTYPE


def test_names_change_hands():
    """A name may have another filter than the one that was remembered for it."""
    with Server() as server, server.client() as c:
        def fresh(name, item=b"x"):
            eq(c("BF.EXISTS", name, item), 0, name)
            eq(c("BF.ADD", name, item), 1, name)
            eq(c("BF.EXISTS", name, item), 1, name)
            eq(c("BF.ADD", name, item), 0, name)

        sizes = (100, 100, 5000, 3_000_000, 100, 40_000_000)
        for gone in (("DEL", "a"), ("UNLINK", "a"), ("FLUSHALL", "ASYNC"), ("FLUSHDB", "SYNC"),
                     ("RENAME", "a", "b")):
            for size in sizes:
                c.must("BF.RESERVE", "a", "0.01", size)
                fresh("a")
                c.must(*gone)
                eq(c("BF.EXISTS", "a", "x"), 0)
        c.must("BF.RESERVE", "a", "0.001", 1000, "NONSCALING")
        fresh("a")
        eq(c("BF.EXISTS", "b", "x"), 1, "renamed")
        c.must("RENAME", "b", "a")
        eq(c("BF.EXISTS", "a", "x"), 1)
        eq(c("BF.EXISTS", "a", "y"), 0)
        c.must("SELECT", 1)
        fresh("a")
        c.must("SELECT", 0)
        c.must("DEL", "a")
        c.must("SWAPDB", 0, 1)
        eq(c("BF.EXISTS", "a", "x"), 1)
        c.must("SET", "a", "text")
        eq(c("BF.ADD", "a", "x"), WRONGTYPE)
        c.must("DEL", "a")
        c.must("CF.RESERVE", "a", 100_000)
        eq(c("CF.EXISTS", "a", "x"), 0)
        eq(c("CF.ADD", "a", "x"), 1)
        eq(c("CF.ADDNX", "a", "x"), 0)
        eq(c("CF.EXISTS", "a", "x"), 1)


def test_many_names():
    """More names than the cache has entries, of all lengths, each with its own items; and
    growth."""
    with Server() as server, server.client() as c:
        names = ["n" * length + end for length in (1, 7, 47, 48, 49, 300) for end in "abcdefgh"]
        for name in names:
            c.must("BLY.RESERVE", name, "KIND", "scalable", "CAPACITY", 20, "SEED", len(name))
        for i in range(120):
            eq(c.pipeline([("BF.ADD", name, f"{name}:{i}") for name in names]).count(None), 0)
        for name in names:
            eq(c("BF.MEXISTS", name, *(f"{name}:{i}" for i in range(120))), [1] * 120, name)
            eq([c("BF.EXISTS", name, f"{name}:{i}") for i in range(0, 120, 7)], [1] * 18, name)
            ok(sum(c("BF.EXISTS", name, f"other:{i}") for i in range(50)) < 8, name)


def test_other_hashes():
    """A filter with the same name, kind and size, often at the same address, but another hash."""
    with Server() as server, server.client() as c:
        hashes = ("murmur3", "city64", "fnv1a", "xxh64", "xxh3", "crc64")
        for kind, add, ask in (("scalable", "BF.ADD", "BF.MEXISTS"), ("cuckoo", "CF.ADD", "CF.MEXISTS"),
                               ("cuckoo", "CF.ADDNX", "CF.MEXISTS")):
            for i in range(60):
                eq(c("BLY.RESERVE", "a", "KIND", kind, "CAPACITY", 1000, "ERROR", "0.001",
                     "HASH", hashes[i % len(hashes)], "SEED", i % 4), OK)
                eq(c(add, "a", f"item{i}"), 1)
                eq(c(ask, "a", f"item{i}"), [1], f"{kind} {add} {i}")
                c.must("DEL", "a")


KINDS = ("scalable", "cuckoo", "scalable-cuckoo", "growable-cuckoo", "split512", "sbbf", "classic",
         "counting", "window")
HASHES = ("xxh3", "xxh3-128", "xxh64", "murmur3", "fnv1a", "crc64", "city64", "farm64")


class Names:
    """A model of the filters of a few names in two databases."""

    def __init__(self, c, seed):
        self.c, self.dice, self.here = c, random.Random(seed), 0
        self.there = [{}, {}]
        self.names = ["k", "kk", "a1", "b1", "a2", "q" * 48, "z" * 49]

    def move(self):
        """Changes the database, or the filter of a name."""
        c, dice, name = self.c, self.dice, self.dice.choice(self.names)
        d, what = self.there[self.here], dice.randrange(6)
        other = dice.choice([n for n in self.names if n != name])
        if what == 0:
            self.here = dice.randrange(2)
            c.must("SELECT", self.here)
        elif what == 1:
            c.must("SWAPDB", 0, 1)
            self.there.reverse()
        elif what == 2 and name in d:
            c.must("RENAME", name, other)
            d[other] = d.pop(name)
        elif what == 3 and name in d:
            to = dice.randrange(2)
            eq(c("COPY", name, other, "DB", to, "REPLACE"), 1)
            self.there[to][other] = (d[name][0], set(d[name][1]))
        else:
            c.must("DEL", name)
            kind = dice.choice(KINDS)
            eq(c("BLY.RESERVE", name, "KIND", kind, "CAPACITY", 500, "ERROR", "0.001", "SEED",
                 dice.randrange(3), "HASH", dice.choice(HASHES)), OK)
            d[name] = (kind, set())

    def use(self):
        """Adds a key with a command that prefetches, and looks up some of the added keys."""
        c, dice, d = self.c, self.dice, self.there[self.here]
        if not d:
            return 0
        name = dice.choice(sorted(d))
        kind, keys = d[name]
        family = "CF" if "cuckoo" in kind or kind == "counting" else "BF"
        key = f"i{dice.randrange(3000)}" if len(keys) < 40 else dice.choice(sorted(keys))
        verb = dice.choice(("ADD", "ADDNX")) if family == "CF" else "ADD"
        keys.add(key)
        some = dice.sample(sorted(keys), min(4, len(keys)))
        asked = [(f"{family}.{word}", name, key) for key in some for word in ("EXISTS", "MEXISTS")]
        added, *found = c.pipeline([(f"{family}.{verb}", name, key), *asked])
        ok(added in (0, 1), f"{family}.{verb} {kind}: {added!r}")
        eq(found, [1, [1]] * len(some), f"{kind} {some}")
        return len(some)


def test_any_names():
    """Moves, copies, swaps and recreates names at random: every added key is found."""
    with Server() as server, server.client() as c:
        for seed in range(3):
            c.must("FLUSHALL")
            c.must("SELECT", 0)
            n, asked = Names(c, seed), 0
            for _ in range(2000):
                if n.dice.random() < 0.15:
                    n.move()
                else:
                    asked += n.use()
            ok(asked > 3000, f"{asked} asked")


if __name__ == "__main__":
    main(globals())
