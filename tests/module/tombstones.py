"""Tombstones: keys whose filter could not be replicated or loaded. They never deny an item.

Replicas and servers that read their AOF replace a filter by a tombstone when they lack what a write
needs: the secret key (these tests), or memory. The tombstone replies, is saved, copied and
replicated, and ends only when the key is deleted or replaced by a whole filter.
"""
import os

from harness import Server, as_dict, digests, eq, fails, main, ok, pair, rewrite_aof, wait_sync
from keyed import FIRST, key_file

LOST = "ERR the filter is lost"


def with_key(test):
    """Runs a test with the path of a file that has a key."""
    def run():
        path = key_file(FIRST)
        try:
            test(path)
        finally:
            os.unlink(path)
    run.__doc__ = test.__doc__
    return run


def check_lost(c, name):
    """Checks every command on a lost filter, from a client that may write."""
    eq(c("BLY.CHECK", name, "a", "never"), [None, None])
    eq((c("BF.EXISTS", name, "a"), c("CF.EXISTS", name, "never")), (1, 1))
    eq((c("BF.MEXISTS", name, "a", "b"), c("CF.MEXISTS", name, "a", "b")), ([1, 1], [1, 1]))
    info = as_dict(c.must("BLY.INFO", name))
    eq((info["kind"], info["lost"], info["loading"]), (None, 1, 0))
    for words in (("BLY.ADD", name, "x"), ("BF.ADD", name, "x"), ("BF.MADD", name, "x", "y"),
                  ("BF.INSERT", name, "ITEMS", "x"), ("CF.ADD", name, "x"), ("CF.ADDNX", name, "x"),
                  ("CF.INSERT", name, "ITEMS", "x"), ("CF.DEL", name, "x"), ("CF.COMPACT", name),
                  ("BLY.DEL", name, "x"), ("BLY.CLEAR", name), ("BLY.COUNT", name, "x"),
                  ("BLY.CARD", name), ("BF.CARD", name), ("BLY.STATS", name),
                  ("BLY.AGE", name, "x"), ("BLY.DUMP", name, 0), ("BF.SCANDUMP", name, 0),
                  ("BF.INFO", name), ("CF.INFO", name), ("BF.LOADCHUNK", name, 1, "x"),
                  ("BF.LOADCHUNK", name, 9, "x"),
                  ("BLY.RESERVE", name, "KIND", "sbbf"), ("BLY.MERGE", name, name),
                  ("BLY.RESERVE", "over", "KIND", "overlay", "BASE", name)):
        fails(c(*words), LOST)
    for words in (("BF.RESERVE", name, "0.01", "100"), ("CF.RESERVE", name, "100")):
        fails(c(*words), "ERR item exists")
    eq(c("BLY.CHECK", name, "a", "never"), [None, None], "and the answer is still unknown")


def dump(c, name):
    return c.must("BLY.DUMP", name, 0)[2]


def lost_count(c):
    return int(c.info("bf_filters")["bf_lost_filters"])


@with_key
def test_replica_never_says_no(path):
    """A replica without the key: filters from the synchronization, and filters created later."""
    master = Server(args=f"key-file {path}")
    c = master.client()
    for name in ("synced", "cuckoo"):
        kind = "scalable-cuckoo" if name == "cuckoo" else "scalable"
        c.must("BLY.RESERVE", name, "KIND", kind, "CAPACITY", 1000, "KEYED")
        c.must("BLY.ADD", name, *range(100))
    replica = Server()
    r = replica.client()
    r.must("REPLICAOF", "127.0.0.1", master.port)
    wait_sync(master, replica)
    eq((r("BLY.CHECK", "synced", 5), r("BF.EXISTS", "synced", 5)), ([None], 1))
    for word in ("new1", "new2"):
        c.must("BF.ADD", "synced", word)
        c.must("CF.ADD", "cuckoo", word)
    c.must("BLY.RESERVE", "later", "KIND", "scalable", "KEYED")
    c.must("BF.ADD", "later", "a")
    c.must("BF.MADD", "later", "b", "c")
    c.must("BF.INSERT", "later", "CAPACITY", "10", "ITEMS", "d")
    c.must("BLY.RESERVE", "over", "KIND", "overlay", "BASE", "synced")
    c.must("BF.ADD", "over", "x")
    c.must("BLY.RESERVE", "plain", "KIND", "scalable")
    wait_sync(master, replica)
    for name in ("synced", "cuckoo", "later", "over"):
        eq(r("BLY.CHECK", name, 5, "new1", "new2", "a", "b", "d"), [None] * 6, name)
        eq(r("BF.EXISTS", name, "new1"), 1, name)
        ok(as_dict(r.must("BLY.INFO", name))["lost"], name)
    eq(lost_count(r), 4)
    ok("is lost on this server" in replica.read_log(), "it is in the log")
    ok("CRITICAL" not in replica.read_log(), "and no error was sent to the master")
    eq(r("BLY.CHECK", "plain", "a"), [0], "others are as they were")
    r.must("REPLICAOF", "NO", "ONE")
    check_lost(r, "synced")
    check_lost(r, "later")


@with_key
def test_comes_back_with_the_next_sync(path):
    master, replica = pair(master_args=f"key-file {path}")
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "f", "KIND", "scalable", "KEYED")
    c.must("BF.ADD", "f", "a")
    wait_sync(master, replica)
    eq(r("BLY.CHECK", "f", "a"), [None])
    eq(lost_count(r), 1)
    r.must("CONFIG", "SET", "bf.key-file", path)
    r.must("REPLICAOF", "NO", "ONE")
    r.must("FLUSHALL")
    r.must("REPLICAOF", "127.0.0.1", master.port)
    wait_sync(master, replica)
    eq((r("BLY.CHECK", "f", "a", "b"), lost_count(r)), ([1, 0], 0))
    eq(digests(r), digests(c))


@with_key
def test_kept_everywhere(path):
    """RDB, AOF, DUMP, COPY and a replica's replica preserve a tombstone like a filter."""
    master = Server("appendonly yes", "aof-use-rdb-preamble no", args=f"key-file {path}")
    with master.client() as c:
        c.must("BLY.RESERVE", "k", "KIND", "scalable", "KEYED")
        c.must("BLY.ADD", "k", "a", "b")
        c.must("BF.ADD", "k", "c")
        c.must("PEXPIRE", "k", 10**9)
    key_less = f"key-file {path}"
    master.loadmodule = master.loadmodule.replace(key_less, "")
    master.restart()
    with master.client() as c:
        eq(c("BLY.CHECK", "k", "a", "b", "c"), [None] * 3, "after its AOF")
        check_lost(c, "k")
        before = digests(c)
        ok(c("PTTL", "k") > 0)
        rewrite_aof(c)
    master.restart()
    with master.client() as c:
        eq(digests(c), before, "after a rewrite")
        check_lost(c, "k")
        ok(c("PTTL", "k") > 0)
        c.must("DEBUG", "RELOAD")
        eq(digests(c), before, "after an RDB file")
        check_lost(c, "k")
        eq(c.must("COPY", "k", "copy"), 1)
        check_lost(c, "copy")
        payload = c.must("DUMP", "k")
        c.must("RESTORE", "again", 0, payload)
        check_lost(c, "again")
        c.must("RENAME", "again", "renamed")
        check_lost(c, "renamed")
        eq(lost_count(c), 3)
        replica = Server()
        r = replica.client()
        r.must("REPLICAOF", "127.0.0.1", master.port)
        wait_sync(master, replica)
        eq(digests(r), digests(c))
        eq(r("BLY.CHECK", "copy", "a"), [None])
        for name in ("k", "copy", "renamed"):
            eq(c.must("DEL", name), 1)
        eq(lost_count(c), 0)


@with_key
def test_what_takes_its_place(path):
    master, replica = pair(master_args=f"key-file {path}")
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "f", "KIND", "sbbf", "CAPACITY", 100, "KEYED")
    c.must("BLY.ADD", "f", "a")
    c.must("BLY.RESERVE", "plain", "KIND", "sbbf", "CAPACITY", 100)
    c.must("BLY.ADD", "plain", "a")
    wait_sync(master, replica)
    r.must("REPLICAOF", "NO", "ONE")
    data = dump(r, "plain")
    fails(r("BLY.LOAD", "f", len(data), 0, data), LOST)
    eq(r.must("BLY.LOAD", "f", len(data), 0, data[:100], "REPLACE"), 100)
    eq((r("BLY.CHECK", "f", "a"), as_dict(r.must("BLY.INFO", "f"))["lost"]), ([None], 1))
    r.must("DEBUG", "RELOAD")
    eq(r.must("BLY.LOAD", "f", 0, 0, ""), 0)
    check_lost(r, "f")
    eq(r.must("BLY.LOAD", "f", len(data), 0, data[:100], "REPLACE"), 100)
    eq(r.must("BLY.LOAD", "f", len(data), 100, data[100:]), len(data))
    eq((r("BLY.CHECK", "f", "a", "b"), lost_count(r)), ([1, 0], 0))
    eq(as_dict(r.must("BLY.INFO", "f"))["lost"], 0)


@with_key
def test_replaced_by_the_master(path):
    """After DEL, a new filter, or a file from the master, the replica follows again."""
    master, replica = pair("appendonly yes", master_args=f"key-file {path}")
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "plain", "KIND", "scalable", "CAPACITY", 100)
    c.must("BLY.ADD", "plain", "a")
    data = dump(c, "plain")
    for name in ("deleted", "loaded", "restored"):
        c.must("BLY.RESERVE", name, "KIND", "scalable", "KEYED")
        c.must("BF.ADD", name, "x")
    wait_sync(master, replica)
    eq(lost_count(r), 3)
    c.must("DEL", "deleted")
    c.must("BF.ADD", "deleted", "a")
    c.must("BLY.LOAD", "loaded", len(data), 0, data[:70], "REPLACE")
    c.must("BLY.LOAD", "loaded", len(data), 70, data[70:])
    c.must("RESTORE", "restored", 0, c.must("DUMP", "plain"), "REPLACE")
    wait_sync(master, replica)
    eq((digests(r), lost_count(r)), (digests(c), 0))
    for name in ("deleted", "loaded", "restored"):
        eq(r("BLY.CHECK", name, "a", "b"), [1, 0], name)


@with_key
def test_merge_and_load_that_cannot_be_followed(path):
    master, replica = pair(master_args=f"key-file {path}")
    c, r = master.client(), replica.client()
    for name in ("to", "from"):
        c.must("BLY.RESERVE", name, "KIND", "sbbf", "CAPACITY", 100)
        c.must("BLY.ADD", name, name)
    wait_sync(master, replica)
    replica.client().must("REPLICAOF", "NO", "ONE")
    r.must("DEL", "from")  # so that it cannot apply the write
    blob = bytes.fromhex("010002" + "00" * 21)
    eq(r.must("BLY.LOAD", "from", 0, 0, "", "META", blob), 0)
    fails(r("BLY.LOAD", "to", 0, 0, "", "META", blob), "ERR item exists")
    fails(r("BLY.LOAD", "x", 200, 0, dump(c, "to")[:100], "META", blob), "ERR ")
    check_lost(r, "from")
    fails(r("BLY.MERGE", "to", "from"), LOST)
    eq(r("BLY.CHECK", "to", "to", "from"), [1, 0], "a client's merge changed nothing")


def test_replica_without_a_key_of_its_own():
    """A replicated write to a missing key: the filter was lost before, so the key becomes a
    tombstone."""
    s = Server("appendonly yes", "aof-use-rdb-preamble no")
    with s.client() as c:
        c.must("BLY.RESERVE", "f", "KIND", "scalable")
        c.must("BLY.RESERVE", "g", "KIND", "scalable")
        c.must("BLY.ADD", "g", "g")
        c.must("BLY.ADD", "f", "a")
        c.must("BLY.MERGE", "g", "f")
    changed = 0
    for folder, _, names in os.walk(s.folder):
        for name in names:
            if not name.endswith(".incr.aof"):
                continue
            file = os.path.join(folder, name)
            s.stop()
            with open(file, "rb") as f:
                data = f.read()
            # An unknown option, like one of a newer version.
            corrupted = data.replace(b"$4\r\nKIND\r\n", b"$4\r\nKINK\r\n", 1)
            changed += data != corrupted
            with open(file, "wb") as f:
                f.write(corrupted)
    eq(changed, 1)
    s.start()
    with s.client() as c:
        eq(c("BLY.CHECK", "f", "a"), [None])
        eq(c("BLY.CHECK", "g", "g", "a"), [None, None], "and what took it in")
        check_lost(c, "f")


if __name__ == "__main__":
    main(globals())
