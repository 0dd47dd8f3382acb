"""kill -9 at any time: with appendfsync always no acknowledged add is lost, and a filter that was
being loaded exists completely or not at all."""
import sys

sys.dont_write_bytecode = True

import glob  # noqa: E402
import os  # noqa: E402
import random  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

from harness import Error, Server, digests, eq, fails, main, ok, wait_for  # noqa: E402
from program import LONG_SPAN, bly_dump  # noqa: E402

ALWAYS = ("appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0")

# Filters for adds: the commands that create each, add to it, and look items up in it.
FILTERS = {
    "bf": ([], "BF.ADD", "BF.EXISTS"),
    "bf-reserved": ([("BF.RESERVE", "bf-reserved", "0.001", 50000)], "BF.ADD", "BF.EXISTS"),
    "bf-compat": ([("CONFIG", "SET", "bf.compat-layout", "yes"),
                   ("BF.RESERVE", "bf-compat", "0.01", 100),
                   ("CONFIG", "SET", "bf.compat-layout", "no")], "BF.ADD", "BF.EXISTS"),
    "cf": ([], "CF.ADD", "CF.EXISTS"),
    "cf-compat": ([("CONFIG", "SET", "bf.compat-layout", "yes"),
                   ("CF.RESERVE", "cf-compat", 5000, "EXPANSION", 2),
                   ("CONFIG", "SET", "bf.compat-layout", "no")], "CF.ADDNX", "CF.EXISTS"),
    "window": ([("BLY.RESERVE", "window", "KIND", "window", "CAPACITY", 10 ** 6)],
               "BLY.ADD", "BLY.CHECK"),
    "timed": ([("BLY.RESERVE", "timed", "KIND", "window", "CAPACITY", 10 ** 6, "SPAN",
                LONG_SPAN)], "BLY.ADD", "BLY.CHECK"),
    "growable": ([("BLY.RESERVE", "growable", "KIND", "growable-cuckoo", "CAPACITY", 100,
                   "HORIZON", 10 ** 6)], "BLY.ADD", "BLY.CHECK"),
}


class Adder(threading.Thread):
    """Adds new items to all filters, in pipelines, and remembers the acknowledged ones."""

    def __init__(self, server, round_number):
        super().__init__(daemon=True)
        self.link = server.client()
        self.round = round_number
        self.acknowledged = []  # (filter, item)
        self.wrong = None
        self.count = 0

    def run(self):
        try:
            while True:
                adds = [(name, b"%d:%d" % (self.round, self.count + i))
                        for i in range(20) for name in FILTERS]
                self.count += 20
                for name, item in adds:
                    self.link.send(FILTERS[name][1], name, item)
                for name, item in adds:
                    reply = self.link.read()
                    if isinstance(reply, Error):
                        self.wrong = f"{name}: {reply.text}"
                        return
                    self.acknowledged.append((name, item))
        except OSError:
            pass


def make_filters(server):
    with server.client() as c:
        for commands, _, _ in FILTERS.values():
            for command in commands:
                c.must(*command)


def check_found(server, acknowledged):
    with server.client() as c:
        replies = c.pipeline([(FILTERS[n][2], n, item) for n, item in acknowledged])
    lost = [a for a, reply in zip(acknowledged, replies) if reply not in (1, [1])]
    ok(not lost, f"{len(lost)} of {len(acknowledged)} lost, the first: {lost[:5]}")


def kill_while_adding(seconds, config=(), during=None):
    """Adds and kills the server repeatedly; `during` is sent during the adds."""
    server = Server(*ALWAYS, *config)
    make_filters(server)
    everything = []
    for number, pause in enumerate(seconds):
        adder = Adder(server, number)
        adder.start()
        wait_for(lambda a=adder: len(a.acknowledged) > 200 or a.wrong, 30, "adds")
        if during:
            with server.client() as c:
                c.must(*during)
        time.sleep(pause)
        server.kill()
        adder.join(30)
        ok(adder.wrong is None, adder.wrong)
        ok(adder.acknowledged, "no add was acknowledged")
        everything += adder.acknowledged
        server.start()
        check_found(server, everything)
    print(f"  {len(everything)} acknowledged adds, {len(seconds)} kills")


def test_no_acknowledged_add_is_lost():
    kill_while_adding((0.2, 0.013, 0.31))


def test_kill_during_rewrite():
    kill_while_adding((0.1, 0.2), ("rdb-key-save-delay 50000", "aof-use-rdb-preamble no"),
                      ("BGREWRITEAOF",))


def test_kill_during_rewrite_with_preamble():
    kill_while_adding((0.1, 0.2), ("rdb-key-save-delay 50000",), ("BGREWRITEAOF",))


def test_kill_during_bgsave():
    """The server restarts with the last complete save."""
    server = Server()
    make_filters(server)
    with server.client() as c:
        for name, (_, add, _) in FILTERS.items():
            c.pipeline([(add, name, f"old{i}") for i in range(500)])
        c.must("SAVE")
        before = digests(c)
        for name, (_, add, _) in FILTERS.items():
            c.pipeline([(add, name, f"new{i}") for i in range(500)])
        ok(all(digests(c)[k] != before[k] for k in before), "adds that change nothing")
        c.must("CONFIG", "SET", "rdb-key-save-delay", 60_000_000)  # a minute for each key
        c.must("BGSAVE")
        wait_for(lambda: glob.glob(server.path("temp-*.rdb")), what="a file that is being written")
        eq(c.info("persistence")["rdb_bgsave_in_progress"], "1", "BGSAVE is over too early")
    server.kill()
    server.start()
    with server.client() as c:
        eq(digests(c), before)


def two_filters(client):
    """Creates an old filter under `key`; returns its bytes and those of a new one."""
    client.must("BLY.RESERVE", "key", "KIND", "sbbf", "CAPACITY", 50000, "ERROR", "0.01")
    client.must("BLY.RESERVE", "other", "KIND", "scalable", "CAPACITY", 300000, "ERROR", "0.01")
    for name in ("key", "other"):
        client.must("BLY.ADD", name, *(f"{name}{i}" for i in range(5000)))
    return bly_dump(client, "key"), bly_dump(client, "other")


def received(client, total):
    """The number of received bytes, as the server reports it to a client that sends a wrong
    offset."""
    reply = client("BLY.LOAD", "key", total, total - 1, b"x", "REPLACE")
    if isinstance(reply, Error) and reply.text.startswith("ERR expected offset "):
        return int(reply.text.split()[-1])
    raise AssertionError(f"wanted the expected offset, got {reply!r}")


def test_kill_during_load():
    """The old filter remains in use until the new one is complete, also across crashes, and the
    load continues where it was."""
    server = Server(*ALWAYS)
    with server.client() as c:
        old, new = two_filters(c)
    draw = random.Random(7)
    states = set()
    for number in range(6):
        chunk = 8192
        with server.client() as c:
            at = 0 if number == 0 else received(c, len(new))
            ends = list(range(at, len(new), chunk))
            wanted = draw.randrange(1, len(ends) // 2) if number < 5 else len(ends)
            for i, begin in enumerate(ends):
                c.send("BLY.LOAD", "key", len(new), begin, new[begin:begin + chunk], "REPLACE")
                if i > wanted:
                    break
            for _ in range(wanted):
                at = c.must_read()
        server.kill()
        server.start()
        with server.client() as c:
            now = bly_dump(c, "key")
            ok(now in (old, new), "half a filter")
            eq(now == new, at == len(new), "visible exactly when complete")
            name = "other" if now == new else "key"
            states.add(name)
            eq(c.must("BLY.CHECK", "key", *(f"{name}{i}" for i in range(500))), [1] * 500)
            if now == old:
                ok(received(c, len(new)) >= at, "acknowledged chunks are lost")
    eq(states, {"key", "other"})


def test_kill_during_loadchunk():
    """An incomplete filter of RedisBloom denies nothing, and can be completed."""
    server = Server(*ALWAYS, args="compat-layout yes")
    with server.client() as c:
        c.must("BF.RESERVE", "source", "0.01", 1000)
        for i in range(0, 20000, 500):
            c.must("BF.MADD", "source", *(f"s{j}" for j in range(i, i + 500)))
        chunks, at = [], 0
        while True:
            at, data = c.must("BF.SCANDUMP", "source", at)
            if at == 0:
                break
            chunks.append((at, data))
        ok(len(chunks) > 3, f"{len(chunks)} chunks")
        items = [f"s{j}" for j in range(2000)]
        for i, (at, data) in enumerate(chunks):
            c.must("BF.LOADCHUNK", "target", at, data)
            if i in (0, len(chunks) // 2):
                c.close()
                server.restart(kill=True)
                c = server.client()
                eq(c.must("BLY.CHECK", "target", *items[:3]), [None] * 3)
                eq(c.must("BF.MEXISTS", "target", *items), [1] * len(items))
                fails(c("BF.ADD", "target", "x"), "ERR filter is being loaded")
        eq(c.must("BLY.CHECK", "target", *items), [1] * len(items))
        both = digests(c, "source", "target")
        eq(both["source"], both["target"], "loaded by chunks")
        c.close()
    server.restart(kill=True)
    with server.client() as c:
        eq(digests(c, "source", "target"), both)


def test_log_that_breaks_off():
    """An AOF that is cut anywhere loads to an earlier state: a filter and its first key appear
    together, and a command is replayed completely."""
    server = Server(*ALWAYS)
    path = server.path("appendonlydir", "appendonly.aof.1.incr.aof")
    states = []
    with server.client() as c:
        commands = [("BF.MADD", "bf", "a", "b", "c"), ("CF.INSERT", "cf", "ITEMS", "a", "a", "b"),
                    ("BF.INSERT", "full", "CAPACITY", 3, "NONSCALING", "ITEMS", *"abcdef"),
                    ("CF.DEL", "cf", "a"), ("BLY.RESERVE", "w", "KIND", "window", "CAPACITY", 100,
                                            "SPAN", LONG_SPAN), ("BLY.ADD", "w", "a", "b"),
                    ("BLY.CLEAR", "w"), ("BF.ADD", "bf", "d"), ("CF.ADDNX", "cf", "z")]
        for command in [None] + commands:
            if command:
                c.must(*command)
            states.append((os.path.getsize(path) if os.path.exists(path) else 0, digests(c)))
    draw = random.Random(11)
    with open(path, "rb") as f:
        whole = f.read()
    for _ in range(12):
        server.kill()
        size = draw.randrange(len(whole))
        with open(path, "wb") as f:
            f.write(whole[:size])
        server.start()
        with server.client() as c:
            wanted = [state for end, state in states if end <= size][-1]
            eq(digests(c), wanted, f"the log cut at {size} of {len(whole)} bytes")


if __name__ == "__main__":
    main(globals())
