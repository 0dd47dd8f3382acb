"""Keyed filters: secret keys are only in the key file, and are never saved or sent."""
import os
import tempfile

from harness import ROOT, Server, as_dict, digests, eq, fails, main, ok, pair, rewrite_aof, wait_sync

FIRST, SECOND = "000102030405060708090a0b0c0d0e0f", "f0e0d0c0b0a090807060504030201000"


def key_file(*keys):
    """Creates a file of keys; returns its path."""
    handle, path = tempfile.mkstemp(prefix="bloomery-keys-")
    with os.fdopen(handle, "w") as f:
        f.write("# keys of a test\n\n" + "\n".join(keys) + "\n")
    return path


def with_keys(test):
    """Runs a test with the paths of two files: one with both keys, one with the first alone."""
    def run():
        both, first = key_file(FIRST, SECOND), key_file(FIRST)
        try:
            test(both, first)
        finally:
            os.unlink(both)
            os.unlink(first)
    return run


@with_keys
def test_reserve_and_use(both, _first):
    c = Server(args=f"key-file {both}").client(3)
    ids = c.must("BLY.KEYRING")
    eq(len(ids), 2)
    c.must("BLY.RESERVE", "a", "KIND", "sbbf", "CAPACITY", "1000", "KEYED")
    c.must("BLY.RESERVE", "b", "CAPACITY", "1000", "KEYED", ids[1].upper(), "KIND", "cuckoo")
    c.must("BLY.RESERVE", "plain", "KIND", "sbbf", "CAPACITY", "1000")
    fails(c("BLY.RESERVE", "x", "KIND", "sbbf", "KEYED", "0123456789abcdef"),
          "ERR could not create filter: this server lacks its secret key")
    for name, key_id in (("a", ids[0]), ("b", ids[1])):
        info = as_dict(c.must("BLY.INFO", name))
        eq((info["keyed"], info["key_id"], info["hash"], info["keyless"]),
           (True, key_id, b"siphash", False))
        c.must("BLY.ADD", name, *range(500))
        eq(c.must("BLY.CHECK", name, *range(500)), [True] * 500)
    c.must("BLY.ADD", "plain", *range(500))
    plain = c.must("BLY.DUMP", "plain", 0)[2]
    ok(c.must("BLY.DUMP", "a", 0)[2][64:] != plain[64:], "other bits than without a key")
    for name in ("a", "b"):
        data = c.must("BLY.DUMP", name, 0)[2]
        for key in (FIRST, SECOND):
            ok(bytes.fromhex(key) not in data and key.encode() not in data)
    fails(c("BLY.MERGE", "a", "plain"), "ERR 'plain' cannot be merged: they use different hash")
    eq(c.must("BLY.DEL", "b", 1), [True])


@with_keys
def test_kept_without_the_key(both, first):
    s = Server("appendonly yes", "aof-use-rdb-preamble no", args=f"key-file {both}")
    c = s.client(3)
    ids = c.must("BLY.KEYRING")
    c.must("BLY.RESERVE", "f", "KIND", "cuckoo", "CAPACITY", "1000", "KEYED", ids[1])
    c.must("BLY.ADD", "f", *range(500))
    before = digests(c)
    rewrite_aof(c)
    c.must("SAVE")
    for folder, _, names in os.walk(s.folder):
        for name in names:
            if name in ("socket", "server.conf"):
                continue
            with open(os.path.join(folder, name), "rb") as f:
                data = f.read()
            for key in (FIRST, SECOND):
                ok(bytes.fromhex(key) not in data and key.encode() not in data, name)
    s.loadmodule = s.loadmodule.replace(both, first)
    s.restart()
    with s.client(3) as c:
        eq(c.must("BLY.KEYRING"), ids[:1])
        eq(digests(c), before, "nothing is lost")
        eq(c("BLY.CHECK", "f", 1, 1000), [None, None])
        for command in ("BLY.ADD", "BLY.DEL", "BLY.COUNT"):
            fails(c(command, "f", 1), "ERR this server lacks the filter's secret key")
        info = as_dict(c.must("BLY.INFO", "f"))
        eq((info["keyless"], info["key_id"], info["count"]), (True, ids[1], 500))
        eq(c("BLY.CARD", "f"), 500)
        eq(as_dict(c.must("BLY.STATS", "f"))["count"], 500)
        data = c.must("BLY.DUMP", "f", 0)[2]
        eq(c.must("BLY.LOAD", "g", len(data), 0, data), len(data))
        eq(c("BLY.CHECK", "g", 1), [None])
        eq(c.must("BLY.DUMP", "g", 0)[2], data)
    s.loadmodule = s.loadmodule.replace(first, both)
    s.restart()
    with s.client(3) as c:
        eq(c("BLY.CHECK", "f", *range(500)), [True] * 500)
        eq(c("BLY.CHECK", "g", *range(500)), [True] * 500)


@with_keys
def test_replica_with_the_same_keys(both, _first):
    master, replica = pair(master_args=f"key-file {both}", replica_args=f"key-file {both}")
    c, r = master.client(), replica.client()
    for kind in ("sbbf", "scalable", "scalable-cuckoo", "window", "hll"):
        c.must("BLY.RESERVE", kind, "KIND", kind, "CAPACITY", "100", "KEYED")
        c.must("BLY.ADD", kind, *range(300))
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    eq(r("BLY.CHECK", "scalable", *range(300)), [1] * 300)


@with_keys
def test_replica_without_the_key(both, first):
    """A replica without the key replies "unknown", never "no"."""
    master, replica = pair(master_args=f"key-file {both}", replica_args=f"key-file {first}")
    c, r = master.client(), replica.client()
    ids = c.must("BLY.KEYRING")
    c.must("BLY.RESERVE", "f", "KIND", "sbbf", "CAPACITY", "1000", "KEYED", ids[1])
    c.must("BLY.ADD", "f", "a")
    wait_sync(master, replica)
    eq(r("BLY.CHECK", "f", "a", "b"), [None, None])
    data = c.must("BLY.DUMP", "f", 0)[2]
    c.must("BLY.LOAD", "g", len(data), 0, data)
    c.must("BLY.LOAD", "h", len(data), 0, data)
    wait_sync(master, replica)
    eq((r("EXISTS", "g"), r("BLY.CHECK", "g", "a")), (1, [None]))
    eq(r("BLY.CHECK", "h", "a"), [None])
    c.must("BLY.ADD", "g", "more")
    wait_sync(master, replica)
    eq(r("BLY.CHECK", "g", "a", "more"), [None, None])
    replica.loadmodule = replica.loadmodule.replace(first, both)
    r.must("CONFIG", "SET", "bf.key-file", both)
    eq(r("BLY.CHECK", "g", "a", "more"), [None, None], "it lacks what was added meanwhile")
    eq(r("BLY.CHECK", "h", "a", "b"), [1, 0], "it lacks nothing but the key, which has come")
    c.must("BLY.ADD", "h", "b")
    wait_sync(master, replica)
    eq(r("BLY.CHECK", "h", "a", "b"), [1, 1])
    replica.restart()
    wait_sync(master, replica)
    with replica.client() as r:
        eq(r("BLY.CHECK", "g", "a", "more"), [1, 1])
        eq(digests(r), digests(c))


def test_custom_hash_functions():
    """The server lacks the function: it keeps the file, mixed or raw, and replies nil."""
    s = Server()
    files = {"custom-mixed-sbbf": "custom", "custom-mixed-scalable": "custom",
             "custom-bb2x512": "custom-raw"}
    data = {}
    with s.client(3) as c:
        for name in files:
            with open(os.path.join(ROOT, "tests/golden/v1/good", name + ".bly"), "rb") as file:
                data[name] = file.read()
            eq(c.must("BLY.LOAD", name, len(data[name]), 0, data[name]), len(data[name]))
        c.must("SAVE")
    s.restart()
    with s.client(3) as c:
        for name, form in files.items():
            info = as_dict(c.must("BLY.INFO", name))
            eq((info["hash"], info["keyless"], info["keyed"], info["tag"], "key_id" in info),
               (form.encode(), True, False, b"00000000676f6c64", False))
            fails(c("BLY.ADD", name, 1), "ERR this server lacks the filter's secret key")
            eq(c("BLY.CHECK", name, "golden-key-0"), [None])
            eq(c.must("BLY.DUMP", name, 0)[2], data[name])


if __name__ == "__main__":
    main(globals())
