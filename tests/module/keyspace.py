"""Filters behave like other keys: COPY, MOVE, expiry, keyspace events, MEMORY USAGE, scripts,
transactions and access lists."""
import sys

sys.dont_write_bytecode = True

import threading  # noqa: E402
import time  # noqa: E402

from harness import (MODULE, Error, Map, Server, Simple, digests, eq, fails,  # noqa: E402
                     main, ok, text, wait_for)
from program import CASES, KINDS, LONG_SPAN, bly_dump  # noqa: E402
from windows import timed  # noqa: E402


def fill(c):
    """Creates a filter of every type and kind, and adds keys. Returns their names."""
    c.must("BF.MADD", "bf", *range(1000))
    c.must("BF.INSERT", "bf-fixed", "CAPACITY", 2000, "NONSCALING", "ITEMS", *range(1000))
    c.must("CF.INSERT", "cf", "ITEMS", *range(1000))
    c.must("CONFIG", "SET", "bf.compat-layout", "yes")
    c.must("BF.MADD", "rb", *range(1000))
    c.must("CF.INSERT", "rc", "ITEMS", *range(1000))
    c.must("BF.RESERVE", "rb-big", "0.001", 100000)
    c.must("CONFIG", "SET", "bf.compat-layout", "no")
    for kind in KINDS:
        c.must("BLY.RESERVE", kind, "KIND", kind, "CAPACITY", 2000, "ERROR", "0.01")
        c.must("BLY.ADD", kind, *range(1000))
    c.must("BF.RESERVE", "big", "0.01", 3 * 10 ** 6)
    c.must("BF.MADD", "big", *range(1000))
    c.must("BLY.RESERVE", "timed", "KIND", "window", "CAPACITY", 2000, "SPAN", LONG_SPAN)
    c.must("BLY.ADD", "timed", *range(1000))
    c.must("BF.LOADCHUNK", "arriving", *c.must("BF.SCANDUMP", "rb", 0))
    data = bly_dump(c, "sbbf")
    c.must("BLY.LOAD", "staged", len(data), 0, data[:len(data) - 10])
    c.must("BLY.RESERVE", "both", "KIND", "sbbf", "CAPACITY", 100)
    c.must("BLY.LOAD", "both", len(data), 0, data[:len(data) - 10], "REPLACE")
    return [text(k) for k in sorted(c.must("KEYS", "*"))]


def test_copy_dump_restore_rename():
    with Server() as server, server.client() as c:
        keys = fill(c)
        before = digests(c)
        eq(len(set(before.values())), len(before), "digests that tell filters apart")
        for key in keys:
            eq(c("COPY", key, "copy"), 1, f"COPY {key}")
            payload = c.must("DUMP", key)
            eq(c.must("RESTORE", "restored", 0, payload), Simple("OK"), f"RESTORE {key}")
            c.must("RENAME", "copy", "renamed")
            eq(c.must("COPY", key, "there", "DB", 3), 1)
            eq(c.must("MOVE", "restored", 4), 1)
            c.must("SELECT", 4)
            moved = digests(c, "restored")["restored"]
            c.must("DEL", "restored")
            c.must("SELECT", 3)
            there = digests(c, "there")["there"]
            c.must("DEL", "there")
            c.must("SELECT", 0)
            mine = before[key.encode()]
            eq([digests(c, "renamed")["renamed"], moved, there], [mine] * 3, key)
            fails(c("RESTORE", "bad", 0, payload[:20] + b"\xff" + payload[21:]), "ERR")
            c("BLY.ADD", "renamed", "something new")
            c.must("DEL", "renamed")
        eq(digests(c), before, "originals")


def test_migrate():
    with Server() as one, Server() as two, one.client() as c, two.client() as d:
        keys = fill(c)
        before = digests(c)
        c.must("MIGRATE", "127.0.0.1", two.port, "", 0, 20000, "KEYS", *keys)
        eq(c.must("DBSIZE"), 0)
        eq(digests(d), before)
        eq(d.must("BLY.CHECK", "timed", 1, 2, 3), [1, 1, 1])


def test_memory_usage():
    """MEMORY USAGE equals the growth of used_memory."""
    with Server("latency-tracking no") as server, server.client() as c:
        def used():
            return int(c.info("memory")["used_memory"])
        c.must("BF.RESERVE", "warm", "0.01", 1000)
        c.must("DEL", "warm")
        used()
        for size in (1000, 100000, 10 ** 6, 10 ** 7):
            cases = [("BF.RESERVE", "bf", "0.01", size), ("CF.RESERVE", "cf", size),
                     ("BLY.RESERVE", "rb", "LAYOUT", "redisbloom", "CAPACITY", size, "ERROR",
                      "0.01", "EXPANSION", 2)]
            cases += [("BLY.RESERVE", kind, "KIND", kind, "CAPACITY", size, "ERROR", "0.01")
                      for kind in KINDS]
            for command in cases:
                wait_for(lambda command=command: _usage_is_right(c, used, command), 5,
                         f"{command[:4]}: MEMORY USAGE to be what used_memory grew by")
        info = c.info("everything")
        total = [v for k, v in info.items() if k.endswith("filters_memory_bytes")
                 or k.endswith("memory_bytes") and k.startswith("bf_")]
        eq(total, ["0"], "memory of filters in INFO, without filters")


def _usage_is_right(c, used, command):
    """Creates a filter and deletes it. The engine's own buffers vary, so False may be noise."""
    before = used()
    c.must(*command)
    grown = used() - before
    said = c.must("MEMORY", "USAGE", command[1])
    c.must("DEL", command[1])
    wait_for(lambda: used() < before + (100 << 10), 10, f"{command[:4]}: memory to come back")
    return abs(grown - said) < 1000 + 0.01 * grown


def test_harmless_questions():
    with Server("maxmemory-policy allkeys-lfu") as server, server.client() as c:
        keys = fill(c)
        before = digests(c)
        for key in keys:
            ok(isinstance(c.must("OBJECT", "FREQ", key), int), key)
            eq(c.must("OBJECT", "ENCODING", key), b"raw")
            eq(c.must("OBJECT", "REFCOUNT", key), 1)
            ok(text(c.must("TYPE", key)) in ("bloomery1", "MBbloom--", "MBbloomCF"), key)
            c.must("DEBUG", "OBJECT", key)
            c.must("TOUCH", key)
            fails(c("GET", key), "WRONGTYPE")
            fails(c("SADD", key, 1), "WRONGTYPE")
        c.must("CLIENT", "NO-EVICT", "on")
        c.must("MEMORY", "DOCTOR")
        c.must("MEMORY", "PURGE")
        c.must("SCAN", 0, "COUNT", 1000, "TYPE", "MBbloom--")
        eq(digests(c), before)
        c.must("SET", "string", "x")
        for command in (("BF.ADD", "string", 1), ("CF.ADD", "string", 1), ("BF.INFO", "string"),
                        ("BLY.ADD", "string", 1), ("BLY.INFO", "string"), ("CF.ADD", "rb", 1),
                        ("BF.ADD", "rc", 1), ("BF.RESERVE", "string", ".1", 9),
                        ("BLY.CLEAR", "string"), ("BLY.DUMP", "string", 0)):
            fails(c(*command), "WRONGTYPE")


def test_expiry_is_kept():
    with Server("set-proc-title no", args="compat-layout yes") as server, server.client() as c:
        c.must("BF.MADD", "rb", *range(1000))
        c.must("CF.INSERT", "rc", "ITEMS", *range(1000))
        for prefix, source in (("BF", "rb"), ("CF", "rc")):
            at, target = 0, source + "2"
            while True:
                at, data = c.must(f"{prefix}.SCANDUMP", source, at)
                if at == 0:
                    break
                c.must(f"{prefix}.LOADCHUNK", target, at, data)
                if at == 1:
                    c.must("EXPIRE", target, 1000)
            eq(text(c.must("TYPE", target)), "MBbloom--" if prefix == "BF" else "MBbloomCF")
            ok(900 < c.must("TTL", target) <= 1000, f"{target}: {c.must('TTL', target)}")
        c.must("CONFIG", "SET", "bf.compat-layout", "no")
        c.must("BLY.RESERVE", "f", "KIND", "sbbf", "CAPACITY", 100)
        c.must("EXPIRE", "f", 1000)
        data = bly_dump(c, "f")
        c.must("BLY.LOAD", "f", len(data), 0, data, "REPLACE")
        c.must("BLY.CLEAR", "f")
        c.must("BLY.RESERVE", "g", "KIND", "sbbf", "CAPACITY", 100)
        c.must("BLY.ADD", "g", 1)
        c.must("BLY.MERGE", "f", "g")
        ok(900 < c.must("TTL", "f") <= 1000, "TTL after BLY.LOAD")
        c.must("PEXPIRE", "f", 20)
        wait_for(lambda: c.must("BLY.CHECK", "f", "x") == [None], 5, "expiry")


class Listener:
    """Keyspace events of database 0, as (event, key)."""

    def __init__(self, server):
        self.client = server.client()
        self.client.must("PSUBSCRIBE", "__keyevent@0__:*")

    def events(self):
        found = []
        while True:
            message = self.client.read_any(0.05)
            if message is None:
                return found
            found.append((text(message[2]).split(":", 1)[1], text(message[3])))


def test_notifications():
    with Server("notify-keyspace-events KEAd") as server, server.client() as c:
        listener = Listener(server)

        def tells(wanted, *command):
            c.must(*command)
            eq(listener.events(), [(event, command[1]) for event in wanted], f"events of {command}")

        tells(["bloom.reserve"], "BF.RESERVE", "bf", "0.01", 100)
        tells(["bloom.add"], "BF.ADD", "bf", "a")
        tells([], "BF.ADD", "bf", "a")
        tells(["bloom.add"], "BF.MADD", "bf", "a", "b", "c")
        tells([], "BF.EXISTS", "bf", "a")
        tells(["bloom.reserve", "bloom.add"], "BF.INSERT", "bf2", "ITEMS", "a")
        tells(["cuckoo.reserve"], "CF.RESERVE", "cf", 100)
        tells(["cuckoo.add"], "CF.ADD", "cf", "a")
        tells([], "CF.ADDNX", "cf", "a")
        tells(["cuckoo.del"], "CF.DEL", "cf", "a")
        tells([], "CF.DEL", "cf", "a")
        c.must("BLY.RESERVE", "bly", "KIND", "counting", "CAPACITY", 100)
        made = listener.events()
        ok(len(made) == 1 and made[0][1] == "bly", f"events of BLY.RESERVE: {made}")
        c.must("BLY.ADD", "bly", "a")
        eq(len(listener.events()), 1, "events of BLY.ADD")
        c.must("BLY.DEL", "bly", "a")
        eq(len(listener.events()), 1, "events of BLY.DEL")
        c.must("BLY.DEL", "bly", "a")
        eq(listener.events(), [], "events of BLY.DEL of what is not there")
        tells(["del"], "DEL", "bly")


def test_watch():
    """A change aborts a transaction that watches the key; a command that changes nothing does
    not."""
    with Server() as server, server.client() as c, server.client() as other:
        c.must("BF.ADD", "bf", "a")

        def survives(*command):
            c.must("WATCH", "bf")
            other.must(*command)
            c.must("MULTI")
            c.must("BF.EXISTS", "bf", "a")
            return c("EXEC") is not None

        ok(survives("BF.ADD", "bf", "a"), "an add of what is there")
        ok(survives("BF.EXISTS", "bf", "z"), "a question")
        ok(not survives("BF.ADD", "bf", "b"), "an add")
        ok(not survives("DEL", "bf"), "a deletion")
        ok(not survives("BF.ADD", "bf", "c"), "a creation")


def test_info_section():
    with Server() as server, server.client() as c:
        def section():
            reply = c.info("bf_filters")
            return {k.split("bf_", 1)[-1]: v for k, v in reply.items()}
        eq(section()["filters"], "0")
        keys = fill(c)
        now = section()
        eq(int(now["filters"]), len(keys))
        eq(int(now["redisbloom_bloom_filters"]), 2)
        eq(int(now["redisbloom_cuckoo_filters"]), 1)
        eq(int(now["loading_filters"]), 3)
        total = int(now["memory_bytes"])
        said = sum(c.must("MEMORY", "USAGE", k) for k in keys)
        ok(0.8 * said < total <= said, f"memory_bytes {total}, MEMORY USAGE {said}")
        c.must("BF.RESERVE", "over", "0.01", 10, "EXPANSION", 1)
        c.must("BF.MADD", "over", *range(200))
        ok(int(section()["overfull_filters"]) >= 0, "overfull_filters")
        c.must("FLUSHALL")
        gone = ("filters", "memory_bytes", "memory_pending_free_bytes", "overfull_filters",
                "loading_filters")

        def empty():
            now = section()
            return all(now[name] == "0" for name in gone)
        wait_for(empty, 10, f"zeroes in {gone}")


def test_command_info_and_acl():
    with Server() as server, server.client() as c:
        names = [text(n) for n in c.must("COMMAND", "LIST", "FILTERBY", "MODULE", "bf")]
        rows = c.must("COMMAND", "INFO", *names)
        info = {text(row[0]).upper(): [text(flag) for flag in row[2]] for row in rows}
        arity = {text(row[0]).upper(): abs(row[1]) for row in rows}
        ok("write" in info["CF.COMPACT"] and "readonly" not in info["CF.COMPACT"], "CF.COMPACT")
        for name, flags in info.items():
            eq("write" in flags, name in CASES, f"{name}: {flags}")
            eq("readonly" in flags, name not in CASES, f"{name}: {flags}")
        for name in ("BLY.CHECK", "BLY.KEYRING"):
            ok("loading" in info[name] and "stale" in info[name], f"{name}: {info[name]}")
        eq(c.must("COMMAND", "GETKEYS", "BLY.MERGE", "a", "b", "c"), [b"a", b"b", b"c"])
        eq(c.must("COMMAND", "GETKEYS", "BF.INSERT", "a", "ITEMS", "c"), [b"a"])
        docs = c.must("COMMAND", "DOCS", "BF.ADD")
        ok(b"summary" in docs[1], f"{docs}")
        c.must("CF.INSERT", "cf", "ITEMS", "a", "b")
        # Engines before Redis 7.4 and Valkey 8 put commands of modules into no category.
        categories = [text(x) for x in c.must("COMMAND", "INFO", "CF.EXISTS")[0][6]]
        allowed = ["+@read"] if "@read" in categories else ["+@read", "+cf.exists", "+bly.check"]
        c.must("ACL", "SETUSER", "reader", "on", "nopass", "~*", *allowed)
        c.must("ACL", "SETUSER", "keys", "on", "nopass", "%R~r*", "%W~w*", "+@all")
        with server.client() as user:
            user.must("AUTH", "reader", "x")
            for name in sorted(CASES):
                fails(user(name, "cf", *["1"] * (arity[name] - 2)), "NOPERM")
            fails(user("CF.COMPACT", "cf"), "NOPERM")
            eq(user.must("CF.EXISTS", "cf", "a"), 1)
            eq(user.must("BLY.CHECK", "cf", "a"), [1])
        with server.client() as user:
            user.must("AUTH", "keys", "x")
            fails(user("BF.EXISTS", "x", "a"), "NOPERM")
            eq(user.must("BF.EXISTS", "r", "a"), 0)
            fails(user("BF.ADD", "r", "a"), "NOPERM")
            fails(user("BLY.MERGE", "w", "x"), "NOPERM")


def test_scripts_and_transactions():
    with Server() as server, server.client() as c, server.client(3) as c3:
        eq(c.must("EVAL", "return redis.call('BF.ADD', KEYS[1], 'a')", 1, "k"), 1)
        eq(c.must("EVAL", "return redis.call('BF.MEXISTS', KEYS[1], 'a', 'b')", 1, "k"), [1, 0])
        script = "redis.setresp(3); return redis.call('BF.EXISTS', KEYS[1], 'a')"
        eq(c.must("EVAL", script, 1, "k"), 1)
        eq(c3.must("EVAL", script, 1, "k"), True)
        kind = "redis.setresp({}); return type(redis.call('BF.EXISTS', KEYS[1], 'a'))"
        eq(c.must("EVAL", kind.format(3), 1, "k"), b"boolean", "RESP3 in a script of RESP2")
        eq(c3.must("EVAL", kind.format(2), 1, "k"), b"number", "RESP2 in a script of RESP3")
        length = "redis.setresp({}); return #redis.call('BF.INFO', KEYS[1])"
        eq(c.must("EVAL", length.format(2), 1, "k"), 10)
        maps = ("redis.setresp(3); for k, v in pairs(redis.call('BF.INFO', KEYS[1])['map']) do if "
                "(k.ok or k) == 'Number of items inserted' then return v end end")
        eq(c.must("EVAL", maps, 1, "k"), 1)
        eq(c.must("EVAL", "return redis.call('BLY.CHECK', 'missing', 'a')", 0), [None])
        eq(c3.must("BF.EXISTS", "k", "a"), True)
        ok(isinstance(c3.must("BF.INFO", "k"), Map), "BF.INFO in RESP3")
        c3.must("MULTI")
        for command in (("BF.ADD", "k", "b"), ("BF.EXISTS", "k", "b"), ("CF.ADD", "cf", "x"),
                        ("BLY.CHECK", "k", "b", "zz")):
            eq(c3(*command), Simple("QUEUED"))
        eq(c3.must("EXEC")[:3], [True, True, True])
        fails(c("EVAL", "#!lua flags=no-writes\nreturn redis.call('BF.ADD', KEYS[1], 'q')", 1,
                "k"), "ERR")
        fails(c("EVAL_RO", "return redis.call('CF.COMPACT', KEYS[1])", 1, "cf"), "ERR")


def test_databases_with_timed_windows():
    """Windows advance after SWAPDB, MOVE and RENAME, and stop with FLUSHDB."""
    with Server() as server, server.client() as c:
        for name in ("stays", "renamed", "moved", "swapped", "flushed"):
            c.must("BLY.RESERVE", name, "KIND", "window", "CAPACITY", 1000, "SPAN", 300)
        c.must("RENAME", "renamed", "renamed2")
        c.must("MOVE", "moved", 5)
        begin, *_ = timed(c)
        for name in ("stays", "renamed2", "swapped", "flushed"):
            c.must("BLY.ADD", name, "a")
        c.must("SWAPDB", 0, 7)
        c.must("SELECT", 5)
        c.must("BLY.ADD", "moved", "a")
        c.must("SELECT", 7)
        names = ("stays", "renamed2", "swapped")
        now, *found = timed(c, *(("BLY.CHECK", name, "a") for name in names))
        if now - begin < 300:
            eq(found, [[1]] * 3, "within the span")
        for name in names:
            wait_for(lambda name=name: c.must("BLY.CHECK", name, "a") == [0], 60,
                     f"{name} to forget, after SWAPDB")
        c.must("SELECT", 5)
        wait_for(lambda: c.must("BLY.CHECK", "moved", "a") == [0], 60, "moved to forget")
        c.must("SELECT", 7)
        c.must("BLY.ADD", "stays", "b")
        c.must("FLUSHDB")
        time.sleep(0.3)
        eq(c.must("BLY.CHECK", "stays", "b"), [None])
        c.must("BLY.RESERVE", "stays", "KIND", "window", "CAPACITY", 1000, "SPAN", 200)
        c.must("BLY.ADD", "stays", "c")
        wait_for(lambda: c.must("BLY.CHECK", "stays", "c") == [0], 60, "the new one to forget")


def test_check_while_loading():
    """While the server loads, BLY.CHECK replies nil, and its caller is not blocked."""
    server = Server("save ''")
    with server.client() as c:
        c.must("BF.ADD", "guard", "a")
        c.must("DEBUG", "POPULATE", 20000)
        c.must("SAVE")
    server.configure("key-load-delay 500", "loading-process-events-interval-bytes 1024")
    server.kill()
    server.start(wait=False)
    wait_for(lambda: _answers(server), 10, "the server to listen")
    with server.client() as c:
        fails(c("BF.EXISTS", "guard", "a"), "LOADING")
        eq(c.must("BLY.CHECK", "guard", "a", "b"), [None, None])
        eq(c.must("INFO", "persistence").count(b"loading:1"), 1)
        c("CONFIG", "SET", "key-load-delay", 0)
    server.wait_ready()
    with server.client() as c:
        eq(c.must("BLY.CHECK", "guard", "a", "b"), [1, 0])


def _answers(server):
    try:
        with server.client() as c:
            return isinstance(c("PING"), (Error, Simple))
    except OSError:
        return False


def test_check_on_a_replica_without_master():
    """A replica that lost its master and may not serve stale data replies nil."""
    with Server("replica-serve-stale-data no") as server, server.client() as c:
        c.must("BF.ADD", "guard", "a")
        c.must("REPLICAOF", "127.0.0.1", 1)
        fails(c("BF.EXISTS", "guard", "a"), "MASTERDOWN")
        eq(c.must("BLY.CHECK", "guard", "a"), [None])
        c.must("REPLICAOF", "NO", "ONE")
        eq(c.must("BLY.CHECK", "guard", "a"), [1])


def test_defrag():
    """Active defragmentation, if the engine's allocator supports it, changes no filter."""
    with Server() as server, server.client() as c:
        if isinstance(c("CONFIG", "SET", "activedefrag", "yes"), Error):
            print("  this server cannot defragment")
            return
        c.must("CONFIG", "SET", "activedefrag", "no")
        for i in range(400):
            c.must("BF.MADD", f"bf{i}", *range(300))
            c.must("CF.INSERT", f"cf{i}", "ITEMS", *range(300))
            c.must("BLY.RESERVE", f"w{i}", "KIND", "window", "CAPACITY", 500)
            c.must("BLY.ADD", f"w{i}", *range(300))
            c.must("BLY.RESERVE", f"rb{i}", "LAYOUT", "redisbloom", "CAPACITY", 100, "ERROR",
                   "0.01", "EXPANSION", 2)
            c.must("BF.MADD", f"rb{i}", *range(300))
        fill(c)
        for i in range(0, 400, 1):
            if i % 4:
                c.must("DEL", f"bf{i}", f"cf{i}", f"w{i}", f"rb{i}")
        before = digests(c)
        c.pipeline([("CONFIG", "SET", "active-defrag-ignore-bytes", "1"),
                    ("CONFIG", "SET", "active-defrag-threshold-lower", "0"),
                    ("CONFIG", "SET", "active-defrag-cycle-min", "60"),
                    ("CONFIG", "SET", "active-defrag-cycle-max", "90")])
        c.must("CONFIG", "SET", "activedefrag", "yes")
        try:
            wait_for(lambda: int(c.info("stats")["active_defrag_key_hits"]) > 100, 8, "defrag")
        except TimeoutError:
            print(f"  only {c.info('stats')['active_defrag_key_hits']} keys were moved")
        eq(digests(c), before)
        eq(c.must("BF.MEXISTS", "bf0", *range(300)), [1] * 300)


def test_unload_is_refused():
    with Server() as server, server.client() as c:
        c.must("BF.ADD", "bf", "a")
        fails(c("MODULE", "UNLOAD", "bf"), "ERR")
        fails(c("MODULE", "LOAD", MODULE), "ERR")
        eq(c.must("BF.EXISTS", "bf", "a"), 1)


def test_filters_in_threads():
    """The engine's threads free keys while others are created."""
    with Server("lazyfree-lazy-user-del yes", "lazyfree-lazy-server-del yes") as server:
        wrong = []

        def churn(number):
            with server.client() as c:
                for i in range(700):
                    key = f"{number}:{i % 5}"
                    commands = (("DEL", key), ("BF.RESERVE", key, "0.01", 10 ** 6),
                                ("BF.ADD", key, "a"), ("BLY.RESERVE", key + "w", "KIND", "window",
                                                       "CAPACITY", 10 ** 5, "SPAN", 50),
                                ("BLY.ADD", key + "w", "x"), ("UNLINK", key + "w"))
                    for command, reply in zip(commands, c.pipeline(commands)):
                        if isinstance(reply, Error):
                            wrong.append((command, reply))
        threads = [threading.Thread(target=churn, args=(n,)) for n in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        ok(not wrong, f"{wrong[:3]}")
        with server.client() as c:
            c.must("FLUSHALL")
            wait_for(lambda: int(c.info("memory")["used_memory"]) < 12 << 20, 10, "memory")


if __name__ == "__main__":
    main(globals())
