"""RESTORE, LOADCHUNK and BLY.LOAD of mutated payloads on a live server: each results in an error or
a working filter; never in a crash, a hang, or more memory than max-filter-memory allows.

BLOOMERY_FUZZ_LIVE is the number of payloads (default 20000), BLOOMERY_FUZZ_SEED the seed
(default 1).
"""
import sys

sys.dont_write_bytecode = True

import os  # noqa: E402
import random  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

from harness import ROOT, Error, Server, as_dict, digests, eq, main, ok  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "tests", "checks"))

import dumps  # noqa: E402
import corrupt  # noqa: E402
from program import KINDS  # noqa: E402
from protocols import dump as scandump  # noqa: E402

CASES = int(os.environ.get("BLOOMERY_FUZZ_LIVE", "20000"))
SEED = int(os.environ.get("BLOOMERY_FUZZ_SEED", "1"))
MB = 1 << 20
LIMIT = 8 * MB  # max-filter-memory
RESIDENT = 64 * MB  # maximum growth of the process: a batch of keys, and fragmentation
SLOW = 2.0  # maximum seconds for a command, on a busy machine too
BATCH = 250
KEPT = 300  # loaded keys, which must exist after a restart
ITEMS = [b"item %d" % i for i in range(40)]
GOOD = os.path.join(ROOT, "tests/golden/v1/good")


# ---- seeds ----------------------------------------------------------------------------------

def make_filters(c):
    """Creates small filters of every form, some of them partly loaded. Returns their keys."""
    for kind in KINDS:
        c.must("BLY.RESERVE", kind, "KIND", kind, "CAPACITY", 60, "ERROR", "0.02")
        c("BLY.ADD", kind, *ITEMS)
    c.must("BLY.RESERVE", "clock", "KIND", "window", "CAPACITY", 60, "SPAN", 60000)
    c.must("BLY.ADD", "clock", *ITEMS)
    c.must("BF.RESERVE", "bf", "0.02", 10)
    c.must("BF.MADD", "bf", *ITEMS)
    c.must("BF.RESERVE", "fixed", "0.02", 50, "NONSCALING")
    c.must("CF.RESERVE", "cf", 16)
    c.must("CF.INSERT", "cf", "ITEMS", *ITEMS)
    c.must("BLY.RESERVE", "rb", "LAYOUT", "redisbloom", "CAPACITY", 15, "ERROR", "0.02",
           "EXPANSION", 2)
    c.must("BF.MADD", "rb", *ITEMS)
    c.must("BLY.RESERVE", "rc", "LAYOUT", "redisbloom-cuckoo", "CAPACITY", 16, "BUCKETSIZE", 2,
           "MAXITERATIONS", 20, "EXPANSION", 2)
    c.must("CF.INSERT", "rc", "ITEMS", *ITEMS)
    for name in sorted(os.listdir(GOOD)):
        if name.endswith(".bly"):
            with open(os.path.join(GOOD, name), "rb") as file:
                data = file.read()
            if len(data) < 2000:
                c("BLY.LOAD", name, len(data), 0, data)
    for name, family in (("rb", "BF"), ("rc", "CF"), ("bf", "BF")):
        for at, data in scandump(c, family, name)[0][:2]:
            c.must(f"{family}.LOADCHUNK", f"part of {name}", at, data)
    keys = c.must("KEYS", "*")
    ok(len(keys) > 60, f"only {len(keys)} filters")
    return sorted(keys)


class Seeds:
    """Valid filters, dumped in every way."""

    def __init__(self, c):
        keys = make_filters(c)
        self.dumps, self.scripts, self.files = [], [], []
        for key in keys:
            good = dumps.parse(c.must("DUMP", key))
            good.fields = corrupt.joined(good.fields)
            c.must("RESTORE", "again", 0, good.pack(), "REPLACE")
            self.dumps.append(good)
        for key, family in (("rb", "BF"), ("rc", "CF"), ("bf", "BF"), ("cf", "CF"),
                            ("fixed", "BF"), ("cuckoo", "CF"), ("sbbf", "BF")):
            self.scripts.append([(f"{family}.LOADCHUNK", None, at, data)
                                 for at, data in scandump(c, family, key)[0]])
        for key in keys:
            reply = c("BLY.DUMP", key, 0)
            if not isinstance(reply, Error):
                self.files.append(reply[2])
        c.must("FLUSHALL")


def load_script(r, data):
    """The BLY.LOAD commands of a file, in pieces."""
    cuts = sorted(r.randrange(min(64, len(data)), len(data) + 1) for _ in range(r.randrange(4)))
    cuts = [0] + cuts + [len(data)]
    return [("BLY.LOAD", None, len(data), a, data[a:b]) for a, b in zip(cuts, cuts[1:]) if a < b]


def draw(r, seeds, key):
    """The commands of one case."""
    what = r.random()
    if what < 0.6:
        good = r.choice(seeds.dumps)
        bad = corrupt.dump(r, good, r.choice(seeds.dumps))
        if r.random() < 0.15:
            payload = dumps.sealed(corrupt.some_bytes(r, bad.body()), bad.version)
        else:
            payload = bad.pack()
        return [("RESTORE", key, 0, payload, "REPLACE")]
    if what < 0.8:
        script = corrupt.chunks(r, r.choice(seeds.scripts))
    else:
        script = load_script(r, corrupt.container(r, r.choice(seeds.files)))
        if r.random() < 0.5:
            script = corrupt.chunks(r, script)
    return [(c[0], key, *c[2:]) for c in script]


# ---- use ------------------------------------------------------------------------------------

def uses(r, key):
    """Commands that use a key of any kind; the first two belong together."""
    yield "BLY.ADD", key, b"probe"
    yield "BLY.CHECK", key, b"probe"
    some = [("BF.MADD", key, *ITEMS), ("CF.INSERT", key, "ITEMS", *ITEMS), ("BF.EXISTS", key, "x"),
            ("CF.COUNT", key, "x"), ("CF.DEL", key, ITEMS[0]), ("BLY.DEL", key, *ITEMS[:5]),
            ("BF.INFO", key), ("CF.INFO", key), ("BLY.INFO", key), ("BLY.STATS", key),
            ("BF.DEBUG", key), ("CF.DEBUG", key), ("CF.COMPACT", key), ("BF.SCANDUMP", key, 0),
            ("CF.SCANDUMP", key, 0), ("BLY.DUMP", key, 0), ("BLY.COUNT", key, "x"), ("DUMP", key),
            ("BLY.CARD", key), ("BLY.AGE", key, "x"), ("COPY", key, "copy", "REPLACE"),
            ("BLY.MERGE", "sum", key), ("BLY.MERGE", key, "copy"), ("MEMORY", "USAGE", key),
            ("DEBUG", "DIGEST-VALUE", key), ("BLY.ADD", key, *[b"%d" % r.getrandbits(40)
                                                               for _ in range(100)]),
            ("BF.LOADCHUNK", key, 3, "ab"), ("CF.LOADCHUNK", key, 3, "ab"), ("BLY.CLEAR", key)]
    yield from r.sample(some, 8)


def check_use(key, replies):
    """Checks that an added item is found, unless the add failed or the reply is unknown."""
    added, found = replies[:2]
    if isinstance(added, list) and isinstance(added[0], int) and isinstance(found, list):
        ok(found[0] in (1, None), f"{key}: BLY.ADD {added}, BLY.CHECK {found}")


def forget_clocks(c):
    """Deletes timed windows, because they advance without commands."""
    for key in c.must("KEYS", "*"):
        info = c("BLY.INFO", key)
        if not isinstance(info, Error) and "span" in as_dict(info):
            c.must("DEL", key)


def peak(server):
    """The peak resident memory of the process."""
    with open(f"/proc/{server.pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


class Watch(threading.Thread):
    """A second client, which must get each reply at once."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.client, self.slowest, self.asked, self.ended = server.client(), 0, 0, False

    def run(self):
        while not self.ended:
            begin = time.monotonic()
            self.client.must("PING")
            self.slowest = max(self.slowest, time.monotonic() - begin)
            self.asked += 1
            time.sleep(0.01)

    def end(self):
        self.ended = True
        self.join(SLOW)
        ok(self.asked > 0 and self.slowest < SLOW, f"a PING took {self.slowest:.2f} s")


class Run:
    def __init__(self, server):
        self.server, self.client = server, server.client()
        self.random = random.Random(SEED)
        self.seeds = Seeds(self.client)
        self.begin = peak(server)
        self.loaded = self.refused = self.kept = 0

    def batch(self, first, n):
        c, r = self.client, self.random
        keys = [f"{i}" for i in range(first, first + n)]
        scripts = [draw(r, self.seeds, key) for key in keys]
        replies = c.pipeline([command for script in scripts for command in script], 100)
        self.refused += sum(isinstance(reply, Error) for reply in replies)
        there = [key for key, yes in zip(keys, c.pipeline([("EXISTS", k) for k in keys])) if yes]
        self.loaded += len(there)
        for key in there:
            commands = list(uses(r, key))
            check_use(key, c.pipeline(commands))
        grown = peak(self.server) - self.begin
        ok(grown < RESIDENT, f"the process grew by {grown >> 20} MB")
        keep = min(len(there), max(0, KEPT - self.kept), 5)
        self.kept += keep
        if there[keep:]:
            c.must("UNLINK", *there[keep:], "copy", "sum")


def test_payloads():
    with Server("rdbcompression no", f"slowlog-log-slower-than {int(SLOW * 1e6)}",
                args=f"max-filter-memory {LIMIT}") as server:
        run, watch = Run(server), Watch(server)
        watch.start()
        for first in range(0, CASES, BATCH):
            run.batch(first, min(BATCH, CASES - first))
        watch.end()
        c = run.client
        eq(c.must("SLOWLOG", "LEN"), 0, f"{c('SLOWLOG', 'GET')}")
        forget_clocks(c)
        before = digests(c)
        c.must("DEBUG", "RELOAD")
        eq(digests(c), before, "after a restart")
        print(f"{CASES} payloads, seed {SEED}: {run.loaded} keys there, {run.refused} commands "
              f"refused; slowest PING {watch.slowest * 1000:.0f} ms; "
              f"{(peak(server) - run.begin) >> 20} MB more at its peak; "
              f"{len(before)} keys reloaded")
        ok(run.loaded > CASES // 50 and run.refused > CASES // 20, "too wild, or too tame")


if __name__ == "__main__":
    main(globals())
