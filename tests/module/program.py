"""program.py - random programs of every command that writes, for tests that two servers, or one
server at two times, have the same data.

A Program draws commands from a seeded generator and runs them on a connection. It remembers the
keys and their kinds, so that most commands are valid. It draws invalid ones too: adds to full
filters, deletions of absent items, loads that are never completed.
"""
import random

from resp import Error

KINDS = ("classic", "partitioned", "sbbf", "split512", "bb2x512", "scalable", "window",
         "counting", "multilayer", "layered", "overlay", "hybrid", "cuckoo", "counts", "hll",
         "growable-cuckoo", "scalable-cuckoo")
LONG_SPAN = 10 ** 12  # milliseconds; such a window does not advance during a test

CONFIGS = (("bf-error-rate", ("0.01", "0.2", "0.0003")), ("bf-initial-size", ("100", "3", "900")),
           ("bf-expansion-factor", ("2", "1", "4", "0")), ("cf-bucket-size", ("2", "4", "1")),
           ("cf-initial-size", ("1024", "16", "64")), ("cf-max-iterations", ("20", "3", "200")),
           ("cf-expansion-factor", ("1", "2", "0")), ("cf-max-expansions", ("32", "2", "5")),
           ("cf-error-rate", ("0.01", "0.1")), ("compat-layout", ("no", "yes")),
           ("compat", ("no", "yes")))


class Program:
    """Commands for one connection. With `keyed` the server has a key-file."""

    def __init__(self, client, seed, keyed=False):
        self.client = client
        self.random = random.Random(seed)
        self.keyed = keyed
        self.keys = {"bf": [], "cf": [], "bly": []}
        self.number = 0
        self.changed = {}  # command: number of replies that were not errors

    # ---- draws

    def items(self, most=12):
        return [b"item\x00%d" % self.random.randrange(400)
                for _ in range(self.random.randint(1, most))]

    def fresh(self, family):
        self.number += 1
        key = f"{family}:{self.number}"
        self.keys[family].append(key)
        return key

    def key(self, family, new=0.1):
        if not self.keys[family] or self.random.random() < new:
            return self.fresh(family)
        return self.random.choice(self.keys[family])

    def maybe(self, *words, chance=0.5):
        return list(words) if self.random.random() < chance else []

    def pick(self, *of):
        return self.random.choice(of)

    def shuffled(self, *options):
        options = list(options)
        self.random.shuffle(options)
        return [word for option in options for word in option]

    # ---- running

    def run(self, *args):
        """Runs a command: directly, from a script, or in a transaction."""
        way = self.random.random()
        if way < 0.1:
            reply = self.client("EVAL", "return redis.pcall(unpack(ARGV))", 0, *args)
        elif way < 0.2:
            self.client("MULTI")
            self.client(*args)
            reply = self.client("EXEC")[0]
        else:
            reply = self.client(*args)
        if not isinstance(reply, Error):
            name = args[0]
            self.changed[name] = self.changed.get(name, 0) + 1
        elif reply.code in ("NOPERM", "EXECABORT") or "unknown command" in reply.text:
            raise AssertionError(f"{args}: {reply.text}")
        return reply

    def steps(self, n):
        """Runs n commands of every kind, in random order."""
        names = list(CASES) * n
        self.random.shuffle(names)
        for name in names:
            if self.random.random() < 0.05:
                self.configure()
            if self.random.random() < 0.05:
                self.move_about()
            CASES[name](self)

    def move_about(self):
        """Runs the engine's own commands on our keys."""
        family = self.pick("bf", "cf", "bly")
        key = self.key(family, 0)
        self.client(*self.pick(("DEL", key), ("UNLINK", key), ("RENAME", key, self.fresh(family)),
                               ("COPY", key, self.fresh(family)), ("EXPIRE", key, 10000),
                               ("PERSIST", key)))

    def configure(self):
        name, values = self.random.choice(CONFIGS)
        self.client.must("CONFIG", "SET", "bf." + name, self.random.choice(values))


# ---- BF -------------------------------------------------------------------------------------

def bf_reserve(p):
    tail = p.pick([], ["EXPANSION", p.pick(1, 2, 4)], ["NONSCALING"], ["EXPANSION", 0])
    p.run("BF.RESERVE", p.key("bf", 0.9), p.pick("0.01", "0.001", "0.2"), p.pick(1, 10, 300),
          *tail)


def bf_add(p):
    p.run("BF.ADD", p.key("bf"), p.items(1)[0])


def bf_madd(p):
    p.run("BF.MADD", p.key("bf"), *p.items(40))


def bf_insert(p):
    options = p.shuffled(p.maybe("CAPACITY", p.pick(3, 50)), p.maybe("ERROR", p.pick(.1, .002)),
                         p.pick([], ["EXPANSION", p.pick(1, 3)], ["NONSCALING"]),
                         p.maybe("NOCREATE", chance=0.2))
    p.run("BF.INSERT", p.key("bf", 0.3), *options, "ITEMS", *p.items(30))


def _dump_rb(p, prefix, source):
    chunks, at = [], 0
    while True:
        reply = p.client(f"{prefix}.SCANDUMP", source, at)
        if isinstance(reply, Error) or reply[0] == 0:
            return chunks
        chunks.append(reply)
        at = reply[0]


def _load_rb(p, family):
    """Dumps a filter in RedisBloom's layout and loads it under another name: all of it, or only its
    header, so that it stays incomplete."""
    prefix = family.upper()
    p.client.must("CONFIG", "SET", "bf.compat-layout", "yes")
    source = p.fresh(family)
    p.run(f"{prefix}.INSERT", source, "CAPACITY", 20, "ITEMS", *p.items(60))
    chunks = _dump_rb(p, prefix, source)
    if len(chunks) < 2:
        raise AssertionError(f"{prefix}.SCANDUMP gave {len(chunks)} chunks")
    target = p.fresh(family)
    for at, data in chunks if p.random.random() < 0.7 else chunks[:1]:
        p.run(f"{prefix}.LOADCHUNK", target, at, data)
    p.client.must("CONFIG", "SET", "bf.compat-layout", p.pick("yes", "no"))


def bf_loadchunk(p):
    _load_rb(p, "bf")


# ---- CF -------------------------------------------------------------------------------------

def cf_reserve(p):
    options = p.shuffled(p.maybe("BUCKETSIZE", p.pick(1, 2, 4)), p.maybe("MAXITERATIONS", 5),
                         p.pick([], ["EXPANSION", p.pick(0, 1, 2, 4)]),
                         p.maybe("ERROR", p.pick(.1, .001), chance=0.3))
    p.run("CF.RESERVE", p.key("cf", 0.9), p.pick(8, 16, 300), *options)


def cf_add(p):
    p.run("CF.ADD", p.key("cf"), p.items(1)[0])


def cf_addnx(p):
    p.run("CF.ADDNX", p.key("cf"), p.items(1)[0])


def _cf_insert(p, name):
    options = p.shuffled(p.maybe("CAPACITY", p.pick(16, 100)), p.maybe("NOCREATE", chance=0.2))
    p.run(name, p.key("cf", 0.2), *options, "ITEMS", *p.items(40))


def cf_insert(p):
    _cf_insert(p, "CF.INSERT")


def cf_insertnx(p):
    _cf_insert(p, "CF.INSERTNX")


def cf_del(p):
    for item in p.items(10):
        p.run("CF.DEL", p.key("cf", 0), item)


def cf_compact(p):
    p.run("CF.COMPACT", p.key("cf", 0))


def cf_loadchunk(p):
    _load_rb(p, "cf")


# ---- BLY ------------------------------------------------------------------------------------

def reserve_options(p, kind):
    """All options of BLY.RESERVE for a kind."""
    own = {"scalable": [p.maybe("GROWTH", p.pick(1, 2, 5)), p.maybe("FIRSTSHARE", "0.6")],
           "scalable-cuckoo": [p.maybe("GROWTH", p.pick(2, 4)), p.maybe("FIRSTSHARE", "0.7")],
           "window": [p.maybe("SPAN", LONG_SPAN), p.maybe("GENERATIONS", p.pick(2, 7))],
           "growable-cuckoo": [p.maybe("HORIZON", 5000)],
           "counting": [p.maybe("COUNTERBITS", p.pick(2, 4, 8, 16))],
           "overlay": [p.maybe("CHANGES", 50), p.maybe("MARKER", p.pick("cuckoo", "classic"))],
           "classic": [p.maybe("TEXTBOOK", chance=0.3), p.maybe("FOLDABLE", chance=0.3)]}
    hashed = [p.pick([], ["SEED", p.pick(1, 2 ** 64 - 1)], ["SEED", "RANDOM"]),
              p.maybe("HASH", "xxh3-128", chance=0.2)]
    if p.keyed and p.random.random() < 0.2:
        hashed = [["KEYED"]]
    return p.shuffled(["KIND", kind], ["CAPACITY", p.pick(20, 100, 1000)],
                      ["ERROR", p.pick("0.05", "0.004")], *hashed, *own.get(kind, []))


def bly_reserve(p):
    way = p.random.random()
    if way < 0.1:
        p.run("BLY.RESERVE", p.fresh("bly"), "KIND", "classic", "SIZE", 4096, "HASHES", 5)
        return
    if way < 0.2 and p.keys["bly"]:
        p.run("BLY.RESERVE", p.fresh("bly"), "KIND", "overlay", "BASE", p.pick(*p.keys["bly"]),
              *p.maybe("CHANGES", 30))
        return
    p.run("BLY.RESERVE", p.key("bly", 0.9), *reserve_options(p, p.pick(*KINDS)))


def bly_add(p):
    p.run("BLY.ADD", p.key(p.pick("bf", "cf", "bly", "bly", "bly"), 0), *p.items(60))


def bly_del(p):
    p.run("BLY.DEL", p.key(p.pick("cf", "bly", "bly"), 0), *p.items(10))


def bly_merge(p):
    kind = p.pick("classic", "sbbf", "split512", "bb2x512", "counting", "hll", "counts",
                  "cuckoo", "scalable")
    options = ["KIND", kind, "CAPACITY", 200, "ERROR", "0.01"]
    keys = [p.fresh("bly") for _ in range(p.random.randint(2, 4))]
    for key in keys[:-1] if p.random.random() < 0.5 else keys:
        p.run("BLY.RESERVE", key, *options)
        p.run("BLY.ADD", key, *p.items(60))
    p.run("BLY.MERGE", keys[-1], *keys[:-1])


def bly_clear(p):
    if p.random.random() < 0.3:
        p.run("BLY.CLEAR", p.key("bly", 0))


def bly_dump(client, key):
    """The bytes of the filter's file, from BLY.DUMP; None if there is no filter."""
    data, at = b"", 0
    while True:
        reply = client("BLY.DUMP", key, at, "COUNT", 300000)
        if isinstance(reply, Error):
            return None
        if not reply[2]:
            return data
        data += reply[2]
        at += len(reply[2])


def bly_load(p):
    """Dumps a filter and loads it under another name: all of it, a part, or over an old one."""
    key = p.key("bly", 0)
    data = bly_dump(p.client, key)
    if not data:
        return
    target = p.fresh("bly")
    tail = []
    if p.random.random() < 0.5:
        p.run("BLY.RESERVE", target, "KIND", "sbbf", "CAPACITY", 40, "ERROR", "0.01")
        p.run("BLY.ADD", target, *p.items(20))
        tail = ["REPLACE"]
    step = p.random.randint(max(1024, len(data) // 5), len(data) + 1024)
    ends = [(at, min(at + step, len(data))) for at in range(0, len(data), step)]
    if p.random.random() < 0.3 and len(ends) > 1:
        ends = ends[:-1]
    for at, end in ends:
        p.run("BLY.LOAD", target, len(data), at, data[at:end], *tail)
    if len(ends) > 1 and p.random.random() < 0.1:
        p.run("BLY.LOAD", target, 0, 0, "")


def bly_tick(p):
    """Only a master sends BLY.TICK: here caused by an add to a window whose clock is not set."""
    key = p.fresh("bly")
    p.run("BLY.RESERVE", key, "KIND", "window", "CAPACITY", 100, "ERROR", "0.01", "SPAN",
          LONG_SPAN)
    p.run("BLY.ADD", key, *p.items(20))
    reply = p.client("BLY.TICK", key, LONG_SPAN // 3)
    if not isinstance(reply, Error):
        raise AssertionError(f"BLY.TICK by a client: {reply!r}")


CASES = {
    "BF.RESERVE": bf_reserve, "BF.ADD": bf_add, "BF.MADD": bf_madd, "BF.INSERT": bf_insert,
    "BF.LOADCHUNK": bf_loadchunk, "CF.RESERVE": cf_reserve, "CF.ADD": cf_add,
    "CF.ADDNX": cf_addnx, "CF.INSERT": cf_insert, "CF.INSERTNX": cf_insertnx, "CF.DEL": cf_del,
    "CF.COMPACT": cf_compact, "CF.LOADCHUNK": cf_loadchunk, "BLY.RESERVE": bly_reserve,
    "BLY.ADD": bly_add, "BLY.DEL": bly_del, "BLY.MERGE": bly_merge, "BLY.CLEAR": bly_clear,
    "BLY.LOAD": bly_load, "BLY.TICK": bly_tick,
}
