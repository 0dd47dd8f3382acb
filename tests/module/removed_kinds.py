"""Keys of kinds that were removed: the server starts, keeps all other keys and names the
replacement.

tests/golden/v1/removed has the data of a server with a module before 0.2: keys of the kinds stable
and blocked-counting, an overlay over a stable one, and keys that are still supported.
"""
import os
import shutil

from harness import Server, as_dict, eq, fails, main, ok, pair, rewrite_aof, wait_sync

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "v1", "removed")
STABLE = "ERR kind stable was removed, so its filters cannot be used any more; use window instead"
BLOCKED = ("ERR kind blocked-counting was removed, so its filters cannot be used any more; "
           "use layered instead")
REMOVED = (("s", STABLE), ("b", BLOCKED), ("o", STABLE))


def golden(name):
    with open(os.path.join(GOLDEN, name), "rb") as file:
        return file.read()


def check_tombstone(c, name, error):
    for words in (("BLY.ADD", name, "x"), ("BF.ADD", name, "x"), ("BLY.CARD", name),
                  ("BLY.STATS", name), ("BLY.DUMP", name, 0), ("BF.INFO", name),
                  ("BLY.RESERVE", name, "KIND", "sbbf"),
                  ("BLY.RESERVE", "over", "KIND", "overlay", "BASE", name)):
        fails(c(*words), error)
    info = as_dict(c.must("BLY.INFO", name))
    eq((info["kind"], info["lost"], info["reason"]), (None, 1, error[4:].encode()))
    eq(c.must("BLY.CHECK", name, "1", "never"), [None, None], "neither yes nor no")


def check_others(c):
    for name in ("good", "window"):
        eq(c.must("BLY.CHECK", name, *range(1, 51)), [1] * 50, name)
    eq((c.must("GET", "text"), c.must("LRANGE", "list", 0, -1)), (b"hello", [b"a", b"b"]))
    eq(c.must("DBSIZE"), 7)


def check_all(c):
    check_others(c)
    for name, error in REMOVED:
        check_tombstone(c, name, error)


def start_with_rdb(*config):
    server = Server(*config, start=False)
    shutil.copy(os.path.join(GOLDEN, "removed.rdb"), server.path("dump.rdb"))
    server.start()
    return server


def test_server_starts_with_an_rdb():
    server = start_with_rdb()
    c = server.client()
    check_all(c)
    log = server.read_log()
    for name, error in REMOVED:
        ok(f"the contents of the key '{name}' were dropped: {error[4:]}" in log, name)
    eq(int(c.info("bf_filters")["bf_lost_filters"]), 3)


def test_the_reason_is_saved():
    """RDB files and the AOF contain the reason; the key exists until it is deleted."""
    server = start_with_rdb()
    server.restart(save=True)
    c = server.client()
    check_all(c)
    eq(c.must("COPY", "s", "copy"), 1)
    check_tombstone(c, "copy", STABLE)
    eq(c.must("DEL", "copy", "s"), 2)
    c.must("BLY.RESERVE", "s", "KIND", "window", "CAPACITY", 100)
    eq(c.must("BLY.ADD", "s", "x"), [1])


def test_rewritten_aof():
    server = start_with_rdb("aof-use-rdb-preamble no")
    c = server.client()
    rewrite_aof(c, "CONFIG", "SET", "appendonly", "yes")
    server.configure("appendonly yes")
    server.restart()
    check_all(server.client())


def test_replicas_get_the_tombstone():
    master, replica = pair()
    master.stop()
    shutil.copy(os.path.join(GOLDEN, "removed.rdb"), master.path("dump.rdb"))
    master.start()
    wait_sync(master, replica)
    c = replica.client()
    for name, error in REMOVED:
        eq(as_dict(c.must("BLY.INFO", name))["reason"], error[4:].encode())


def command(*words):
    parts = [w if isinstance(w, bytes) else str(w).encode() for w in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def test_server_starts_with_an_aof():
    """Filters that the AOF loads or reserves are lost; all other keys are kept."""
    file = golden("blocked-counting-fnv1a.bly")
    half = len(file) // 2
    server = Server("appendonly yes", start=False)
    with open(server.path("appendonly.aof"), "wb") as aof:
        aof.write(command("SELECT", 0) + command("SET", "text", "hello") +
                  command("BLY.LOAD", "b", len(file), 0, file[:half]) +
                  command("BLY.LOAD", "b", len(file), half, file[half:]) +
                  command("BLY.RESERVE", "s", "KIND", "stable", "CAPACITY", 100) +
                  command("BLY.ADD", "s", "x") + command("SET", "more", "there"))
    server.start()
    c = server.client()
    eq((c.must("GET", "text"), c.must("GET", "more")), (b"hello", b"there"))
    for name in ("b", "s"):
        eq(as_dict(c.must("BLY.INFO", name))["lost"], 1, name)
        eq(c.must("BLY.CHECK", name, "x"), [None], name)
        fails(c("BLY.ADD", name, "x"), "ERR")
    ok("kind blocked-counting was removed" in server.read_log(), "the log names the kind")


def test_clients_are_refused():
    c = Server().client()
    fails(c("BLY.RESERVE", "key", "KIND", "stable"), STABLE)
    fails(c("BLY.RESERVE", "key", "KIND", "BLOCKED-COUNTING"), BLOCKED)
    fails(c("RESTORE", "key", 0, golden("stable.dump")), "ERR Bad data format")
    for name, error in (("stable-planned-murmur3.bly", STABLE),
                        ("blocked-counting-fnv1a.bly", BLOCKED)):
        file = golden(name)
        fails(c("BLY.LOAD", "key", len(file), 0, file), error)
    file = golden("overlay-over-stable.bly")
    fails(c("BLY.LOAD", "key", len(file), 0, file), "ERR its kind was removed (window replaces")
    eq(c.must("EXISTS", "key"), 0)


if __name__ == "__main__":
    main(globals())
