"""Every command that writes has the same result on a replica, after loading an RDB file, and after
replaying an AOF, whatever the configuration there."""
import sys

sys.dont_write_bytecode = True

import os  # noqa: E402
import tempfile  # noqa: E402

from harness import (Error, Server, as_dict, digests, eq, fails, main, ok, pack, pair,  # noqa: E402
                     rewrite_aof, text, wait_for, wait_sync)
from program import CASES, KINDS, LONG_SPAN, Program, reserve_options  # noqa: E402
from windows import timed  # noqa: E402

KEY_FILE = tempfile.NamedTemporaryFile("w", prefix="bloomery-keys-")  # deleted at the end
KEY_FILE.write("00112233445566778899aabbccddeeff\n# a comment\n" + "0f" * 16 + "\n")
KEY_FILE.flush()
KEYS = f"key-file {KEY_FILE.name}"
# Settings of a replica that all differ from the master's defaults, and would create other filters.
OTHER = ("bf-error-rate 0.2 bf-initial-size 7 bf-expansion-factor 5 cf-bucket-size 4 "
         "cf-initial-size 48 cf-max-iterations 3 cf-expansion-factor 4 cf-max-expansions 2 "
         "cf-error-rate 0.2 ")
QUIET = ("repl-ping-replica-period 3600",)
ITEMS = [b"item\x00%d" % i for i in range(400)]
ALL_ITEMS = pack(ITEMS).split(b"\r\n", 1)[1]  # as arguments, without their number


def about_all(family, key):
    """Lookups of all ITEMS in the protocol's form, and the last bytes of the replies."""
    names = {"bf": ["BF.MEXISTS"], "cf": ["CF.MEXISTS"]}.get(family, []) + ["BLY.CHECK"]
    heads = [pack((name, key)).split(b"\r\n", 1)[1] for name in names]
    commands = [b"*%d\r\n%s%s" % (2 + len(ITEMS), head, ALL_ITEMS) for head in heads]
    end = b"end of " + key.encode()
    return b"".join(commands) + pack(("ECHO", end)), b"$%d\r\n%s\r\n" % (len(end), end)


def answers_of_all(client, asked):
    """The unparsed replies to these lookups: parsing 400 numbers per key takes long."""
    told = {}
    for i in range(0, len(asked), 50):
        part = [(key, *about_all(family, key)) for family, key in asked[i:i + 50]]
        client.send_raw(b"".join(commands for _, commands, _ in part))
        got = bytearray()
        while not got.endswith(part[-1][2]):
            data = client.socket.recv(1 << 20)
            ok(data, "the server closed the connection")
            got += data
        for key, _, end in part:
            reply, _, got = got.partition(end)
            told["lookups of all items", key] = bytes(reply)
    return told


def questions(family, key):
    """The commands that read a key."""
    few = ITEMS[::5]
    asked = [("TYPE", key), ("BLY.COUNT", key, *few), ("BLY.CARD", key), ("BLY.INFO", key)]
    if family == "bf":
        asked += [("BF.CARD", key), ("BF.INFO", key),
                  ("BF.DEBUG", key), ("BF.SCANDUMP", key, 0), ("BF.SCANDUMP", key, 1)]
    if family == "cf":
        asked += [("CF.INFO", key), ("CF.DEBUG", key),
                  ("CF.SCANDUMP", key, 0), ("CF.SCANDUMP", key, 1)]
        asked += [("CF.COUNT", key, item) for item in few[:10]]
    if family == "bly":
        asked += [("BLY.STATS", key), ("BLY.AGE", key, *few)]
    return asked


def settled(question, reply):
    """A reply without what may differ between copies: memory (the sizes of blocks) and ages."""
    if isinstance(reply, Error):
        return reply
    if question[0] in ("BLY.INFO", "BLY.STATS", "BF.INFO", "CF.INFO"):
        memory = ("bytes", "bits_per_key")
        return {k: v for k, v in as_dict(reply).items() if k not in memory}
    if question[0] == "BLY.AGE":
        return [age is not None for age in reply]
    return reply


def answers(client, keys):
    """All replies of a server, by command."""
    asked = [q for family, names in keys.items() for key in names for q in questions(family, key)]
    replies = client.pipeline(asked, batch=50)
    told = {question: settled(question, reply) for question, reply in zip(asked, replies)}
    return told | answers_of_all(client, [(f, key) for f, names in keys.items() for key in names])


def same(got, wanted, what):
    """Checks that two dicts are equal; reports the first difference."""
    eq(sorted(got), sorted(wanted), what + ": keys")
    wrong = [k for k in wanted if got[k] != wanted[k]]
    if wrong:
        k = wrong[0]
        names = ", ".join(text(w) if isinstance(w, bytes) else f"{w[0]} {w[1]}" for w in wrong[:9])
        raise AssertionError(f"{what}: {len(wrong)} of {len(wanted)} differ: {names}; the first: "
                             f"{got[k]!r} and not {wanted[k]!r}")


def described(client, key):
    """A description of a key, for messages."""
    reply = client("BLY.INFO", key)
    return reply.text if isinstance(reply, Error) else as_dict(reply)


def same_digests(got_by, wanted_by, what):
    got, wanted = digests(got_by), digests(wanted_by)
    wrong = [k for k in wanted if got.get(k) != wanted[k]]
    if wrong:
        print(what, *(f"{text(k)}: {described(wanted_by, k)}" for k in wrong[:5]), sep="\n  ",
              file=sys.stderr)
    same(got, wanted, what)


def test_every_write_command_has_a_case():
    with Server() as s, s.client() as c:
        names = [text(n).upper() for n in c.must("COMMAND", "LIST", "FILTERBY", "MODULE", "bf")]
        ok(len(names) > 30, f"only {len(names)} commands")
        writers = {n for n, info in zip(names, c.must("COMMAND", "INFO", *names))
                   if "write" in [text(flag) for flag in info[2]]}
        eq(writers, set(CASES), "commands that write")


def nothing_left(client):
    """Checks that the module has no filter and no byte left when all keys are deleted."""
    def left():
        section = client.info("bf_filters")
        return {k: v for k, v in section.items() if v != "0" and k in (
            "bf_filters", "bf_own_filters", "bf_redisbloom_bloom_filters", "bf_overfull_filters",
            "bf_redisbloom_cuckoo_filters", "bf_loading_filters", "bf_memory_bytes",
            "bf_memory_pending_free_bytes")}
    ok("bf_memory_bytes" in client.info("bf_filters"), "no INFO section")
    try:
        wait_for(lambda: not left(), 5)
    except TimeoutError:
        raise AssertionError(f"left without a key: {left()}") from None


def replica_holds_the_same(seed, steps):
    master, replica = pair(*QUIET, master_args=KEYS,
                           replica_args=OTHER + "compat-layout yes " + KEYS)
    late = Server(*QUIET, "repl-diskless-load swapdb", args=OTHER + KEYS, name="late")
    with master.client() as m, replica.client() as r, late.client() as lt:
        Program(lt, -seed).steps(1)  # its previous data is dropped
        program = Program(m, seed, keyed=True)
        for part in range(3):
            program.steps(steps)
            wait_sync(master, replica)
            same_digests(r, m, f"replica, seed {seed}, part {part}")
        missing = set(CASES) - set(program.changed) - {"BLY.TICK"}
        ok(not missing, f"never worked: {missing}")
        ok("cmdstat_bly.tick" in r.info("commandstats"), "BLY.TICK was never replicated")
        same(answers(r, program.keys), answers(m, program.keys), "answers of the replica")
        lt.must("REPLICAOF", "127.0.0.1", replica.port)
        wait_sync(master, late)
        same_digests(lt, m, "replica that came late")
        program.steps(steps)
        wait_sync(master, replica)
        wait_sync(master, late)
        same_digests(r, m, "replica at the end")
        same_digests(lt, m, "replica that came late, at the end")
        same(answers(lt, program.keys), answers(m, program.keys), "answers of the late one")
        m.must("FLUSHALL")
        wait_sync(master, replica)
        wait_sync(master, late)
        for client in (m, r, lt):
            nothing_left(client)


def test_replica():
    replica_holds_the_same(1, 6)


def test_replica_again():
    replica_holds_the_same(2, 6)


def test_every_kind_on_a_replica():
    """Each kind, filled beyond its capacity."""
    master, replica = pair(*QUIET, replica_args=OTHER)
    with master.client() as m, replica.client() as r:
        program = Program(m, 3)
        batches = [[b"%d" % k for k in range(j, j + 100)] for j in range(0, 3000, 100)]
        for kind in KINDS:
            for i in range(4):
                key = f"{kind}:{i}"
                m.must("BLY.RESERVE", key, *reserve_options(program, kind))
                m.pipeline(("BLY.ADD", key, *batch) for batch in batches)
                m("BLY.DEL", key, *(b"%d" % k for k in range(50)))
        wait_sync(master, replica)
        same_digests(r, m, "every kind")


def saved_and_loaded(config, seed, ways):
    server = Server(*config, args=KEYS)
    with server.client() as c:
        program = Program(c, seed, keyed=True)
        program.steps(8)
        before, told = digests(c), answers(c, program.keys)
    for what, way in ways:
        way(server)
        with server.client() as c:
            same(digests(c), before, what)
            same(answers(c, program.keys), told, what + ", answers")
    with server.client() as c:
        program.client = c
        program.steps(2)  # loaded filters continue to work
        c.must("FLUSHALL")
        nothing_left(c)


def _reload(server):
    with server.client() as c:
        c.must("DEBUG", "RELOAD")


def _save_and_kill(server):
    with server.client() as c:
        c.must("SAVE")
    server.restart(kill=True)


def _other_configs(server):
    server.loadmodule += " " + OTHER
    _save_and_kill(server)


def test_rdb():
    saved_and_loaded((), 4, (("DEBUG RELOAD", _reload), ("SAVE", _save_and_kill),
                             ("SAVE, other configs", _other_configs)))


def _rewrite_and_kill(server):
    with server.client() as c:
        rewrite_aof(c)
    server.loadmodule += " " + OTHER
    server.restart(kill=True)


def _aof_other_configs(server):
    server.loadmodule += " " + OTHER
    server.restart()


def aof(preamble, seed):
    saved_and_loaded(("appendonly yes", "appendfsync always", f"aof-use-rdb-preamble {preamble}",
                      "auto-aof-rewrite-percentage 0"), seed,
                     (("replay", _aof_other_configs), ("rewrite", _rewrite_and_kill),
                      ("DEBUG LOADAOF", lambda s: s.restart(kill=True))))


def test_aof_with_preamble():
    aof("yes", 5)


def test_aof_without_preamble():
    aof("no", 6)


class Between:
    """A client of a server that starts a postponed rewrite between two replies to INFO."""

    def __init__(self, client, other):
        self.must, self.client, self.other = client.must, client, other

    def info(self, section):
        reply = self.client.info(section)
        if reply["aof_rewrite_scheduled"] == "1":
            self.other.must("FLUSHALL")  # kills the process that saves, which the rewrite waits for
            self.other.must("BF.ADD", "kept", "x")
            wait_for(lambda: self.other.info(section)["aof_rewrite_in_progress"] == "1", 30,
                     "the rewrite to start")
        return reply


def test_a_late_rewrite_is_waited_for():
    """rewrite_aof returns when the rewrite is over, which the tests of the AOF rely on."""
    with Server("appendonly yes", "aof-use-rdb-preamble no") as s, s.client() as c, \
            s.client() as other:
        c.must("BF.ADD", "saved", "x")
        c.must("CONFIG", "SET", "rdb-key-save-delay", 60_000_000)
        c.must("BGSAVE")
        c.must("CONFIG", "SET", "rdb-key-save-delay", 500_000)
        rewrite_aof(Between(c, other))
        now = c.info("persistence")
        eq((now["aof_rewrite_in_progress"], now["aof_rewrites"]), ("0", "1"))
        with open(s.path("appendonlydir", "appendonly.aof.2.base.aof"), "rb") as f:
            ok(b"kept" in f.read(), "the new file lacks a filter")


def test_windows_by_time():
    """Windows advance with and without commands: replicas advance with them, and a restarted server
    continues where it was."""
    master, replica = pair(*QUIET, "appendonly yes")
    with master.client() as m, replica.client() as r:
        spans = (40, 200, 600)
        for span in spans:
            m.must("BLY.RESERVE", f"w{span}", "KIND", "window", "CAPACITY", 1000, "ERROR", "0.01",
                   "SPAN", span)
        for i in range(300):
            added, *_ = timed(m, *(("BLY.ADD", f"w{span}", f"item{i}") for span in spans))

        def equal():
            wait_sync(master, replica)
            return digests(m) == digests(r)
        wait_for(equal, 60, "equal windows on master and replica")
        now, last = timed(m, ("BLY.CHECK", "w600", "item299"))
        if now - added < 600:
            eq(last, [1], "added within the span")
        for span in spans[1:]:
            for client, what in ((m, "master"), (r, "replica")):
                wait_for(lambda: client.must("BLY.CHECK", f"w{span}", "item299") == [0], 60,
                         f"w{span} to forget on the {what}")
        eq(m.must("BLY.CARD", "w40"), 0, "keys of a window that is over")
        wait_for(equal, 60, "equal windows at the end")
    master.restart(kill=True)
    with master.client() as m, replica.client() as r:
        eq(m.must("BLY.CARD", "w40"), 0)
        _, _, found, told = timed(m, ("BLY.ADD", "w600", "again"), ("BLY.CHECK", "w600", "again"),
                                  ("BLY.INFO", "w600"))
        eq(found, [1])
        added = as_dict(told)["clock"]
        wait_sync(master, replica)
        master.kill()
        _, found, told = timed(r, ("BLY.CHECK", "w600", "again"), ("BLY.INFO", "w600"))
        if as_dict(told)["clock"] < added + 600:
            eq(found, [1], "a replica does not turn by itself")
        r.must("REPLICAOF", "NO", "ONE")
        wait_for(lambda: r.must("BLY.CHECK", "w600", "again") == [0], 60,
                 "windows to turn on a replica that became master")


# Options by RedisBloom's rules, which a replica without `compat` would refuse from a client.
LAX = [("BF.INSERT", "bf", "I", "a", "b"), ("BF.INSERT", "bf2", "CAP", 50, "ITE", "a"),
       ("BF.RESERVE", "bf3", "0.3", 10, "FOO"), ("BF.MADD", "bf3", "a", "b"),
       ("CF.INSERT", "cf", "ITEM", "a", "a"), ("CF.INSERTNX", "cf2", "C", 64, "I", "a", "b"),
       ("CF.RESERVE", "cf3", 100, "FOO", 1), ("CF.ADD", "cf3", "a")]


def test_compat_master():
    for layout in ("no", "yes"):
        # "always": an acknowledged write is in the file, and survives a kill.
        master, replica = pair(*QUIET, "appendonly yes", "appendfsync always",
                               "aof-use-rdb-preamble no",
                               master_args=f"compat yes compat-layout {layout}",
                               replica_args=OTHER)
        with master.client() as m, replica.client() as r:
            for command in LAX:
                m.must(*command)
            m.must("CONFIG", "SET", "bf.compat-layout", "yes")
            m.must("BF.MADD", "rb", "a", "b")
            at, header = m.must("BF.SCANDUMP", "rb", 0)
            m.must("BF.LOADCHUNK", "copy", at, header)
            at, data = m.must("BF.SCANDUMP", "rb", at)
            m.must("BF.LOADCHUNK", "copy", at, data)
            m.must("BF.ADD", "copy", "c")
            before = offset(m)
            m.must("BF.LOADCHUNK", "rb", at, data)
            eq(offset(m), before, "bytes replicated by a chunk that was there")
            m.must("BF.LOADCHUNK", "copy", at, data)  # overwrites a filter
            wait_sync(master, replica)
            same_digests(r, m, "replica without compat")
            eq(r.must("BLY.CHECK", "bf", "a", "b"), [1, 1])
            eq(r.must("CF.COUNT", "cf", "a"), 2)
            wanted = digests(m)
        master.loadmodule = master.loadmodule.split(" compat")[0]
        master.restart(kill=True)
        with master.client() as m:
            same(digests(m), wanted, "AOF without compat")


def redisbloom_stream():
    """Commands as RedisBloom logs and replicates them, and the resulting items by key."""
    numbers = [b"%d" % i for i in range(1100)]
    yield from LAX
    yield "BF.RESERVE", "fixed", "0.1", 1000, "NONSCALING"
    yield from (("BF.ADD", "fixed", n) for n in numbers)
    yield "CF.RESERVE", "cfixed", 500, "EXPANSION", 0
    yield from (("CF.ADD", "cfixed", n) for n in numbers[:450])
    yield ("BF.MADD", "auto", *numbers)
    yield ("CF.INSERT", "cauto", "ITEMS", *numbers)
    yield from (("CF.DEL", "cauto", n) for n in numbers[:100])


def test_stream_of_redisbloom():
    """An AOF of RedisBloom: its commands are accepted, by its rules and in its layout."""
    with Server(args="compat yes compat-layout yes") as like, like.client() as c:
        for command in redisbloom_stream():
            c(*command)
        wanted = digests(c)
        items = [b"%d" % i for i in range(1100)]
        told = {k: c.must("BLY.CHECK", k, *items) for k in ("fixed", "cfixed", "auto", "cauto")}
    with Server(start=False) as server:
        server.configure("appendonly yes")
        os.mkdir(server.path("appendonlydir"))
        with open(server.path("appendonlydir", "appendonly.aof.manifest"), "w") as out:
            out.write("file appendonly.aof.1.incr.aof seq 1 type i\n")
        with open(server.path("appendonlydir", "appendonly.aof.1.incr.aof"), "wb") as out:
            out.write(pack(("SELECT", 0)))
            for command in redisbloom_stream():
                out.write(pack(command))
        server.start()
        with server.client() as c:
            same(digests(c), wanted, "what was replayed")
            same({k: c.must("BLY.CHECK", k, *items) for k in told}, told, "answers")
            eq(text(c.must("TYPE", "auto")), "MBbloom--")
            fails(c("BF.INSERT", "bf", "I", "a"), "Unknown argument received")
            c.must("BF.ADD", "new", "a")
            eq(text(c.must("TYPE", "new")), "bloomery1")


def offset(client):
    return int(client.info("replication")["master_repl_offset"])


def test_nothing_changed_nothing_replicated():
    master, replica = pair(*QUIET)
    with master.client() as m:
        for layout in ("no", "yes"):
            m.must("CONFIG", "SET", "bf.compat-layout", layout)
            k = layout
            m.must("BF.MADD", f"bf{k}", "a", "b", "c")
            m.must("BF.RESERVE", f"full{k}", "0.0001", 3, "NONSCALING")
            m.must("BF.MADD", f"full{k}", "a", "b", "c")
            m.must("CF.INSERT", f"cf{k}", "ITEMS", "a", "b", "c")
            m.must("CF.RESERVE", f"cfull{k}", 8, "EXPANSION", 0, "MAXITERATIONS", 2)
            while not isinstance(m("CF.ADD", f"cfull{k}", "a"), Error):
                pass
            quiet = [("BF.ADD", f"bf{k}", "a"), ("BF.MADD", f"bf{k}", "a", "b"),
                     ("BF.INSERT", f"bf{k}", "ITEMS", "a", "c"),
                     ("BF.INSERT", f"bf{k}", "CAPACITY", 9, "ITEMS", "a"),
                     ("BF.INSERT", "missing", "NOCREATE", "ITEMS", "a"),
                     ("BF.RESERVE", f"bf{k}", ".01", 10), ("BF.ADD", f"full{k}", "d"),
                     ("BF.MADD", f"full{k}", "a", "d", "e"), ("CF.ADDNX", f"cf{k}", "a"),
                     ("CF.INSERTNX", f"cf{k}", "ITEMS", "a", "b"), ("CF.DEL", f"cf{k}", "zz"),
                     ("CF.DEL", "missing", "a"), ("CF.RESERVE", f"cf{k}", 100),
                     ("CF.INSERT", "missing", "NOCREATE", "ITEMS", "a"),
                     ("CF.ADD", f"cfull{k}", "a"), ("CF.INSERT", f"cfull{k}", "ITEMS", "a", "a"),
                     ("BLY.ADD", f"bf{k}", "a"), ("BLY.ADD", "missing", "a"),
                     ("BF.LOADCHUNK", f"bf{k}", 1, "rubbish"),
                     ("CF.LOADCHUNK", f"new{k}", 1, "rubbish"),
                     ("BF.EXISTS", f"bf{k}", "a"), ("BF.MEXISTS", f"bf{k}", "a", "q"),
                     ("CF.MEXISTS", f"cf{k}", "a", "q"), ("BLY.CHECK", f"cf{k}", "a", "q"),
                     ("BLY.STATS", f"bf{k}"), ("BF.SCANDUMP", f"bf{k}", 0)]
            check_quiet(m, quiet)
        m.must("BLY.RESERVE", "bly", "KIND", "cuckoo", "CAPACITY", 100)
        m.must("BLY.ADD", "bly", "a")
        m.must("BLY.RESERVE", "empty", "KIND", "sbbf", "CAPACITY", 100)
        m.must("BLY.RESERVE", "w", "KIND", "window", "CAPACITY", 100, "SPAN", LONG_SPAN)
        check_quiet(m, [
            ("BLY.DEL", "bly", "zz"), ("BLY.RESERVE", "bly", "KIND", "sbbf"),
            ("BLY.RESERVE", "new", "KIND", "nonsense"), ("BLY.CLEAR", "missing"),
            ("BLY.LOAD", "new", 1000, 0, b"rubbish" * 20), ("BLY.LOAD", "new", 0, 0, ""),
            ("BLY.LOAD", "bly", 1000, 5, b"rubbish"), ("BLY.MERGE", "new", "missing"),
            ("BLY.DUMP", "bly", 0), ("BLY.COUNT", "bly", "a"), ("BLY.TICK", "empty", 5),
            ("BLY.CHECK", "w", "a"), ("BLY.AGE", "w", "a")])
        wait_sync(master, replica)
        with replica.client() as r:
            same_digests(r, m, "replica")
            for command in (("BF.ADD", "bfno", "new"), ("CF.COMPACT", "cfno"),
                            ("BLY.CLEAR", "bly"), ("BLY.TICK", "w", 99)):
                ok(r(*command).code == "READONLY", f"{command} on a replica")


def check_quiet(client, commands):
    for command in commands:
        before = offset(client)
        reply = client(*command)
        eq(offset(client), before, f"bytes replicated by {command} ({reply!r})")


def test_full_in_the_middle():
    """A command that fails in the middle has the same partial effect on the master and the
    replica."""
    master, replica = pair(*QUIET, replica_args=OTHER)
    with master.client() as m, replica.client() as r:
        items = [b"i%d" % i for i in range(400)]
        for layout in ("no", "yes"):
            m.must("CONFIG", "SET", "bf.compat-layout", layout)
            reply = m.must("BF.INSERT", "bf" + layout, "CAPACITY", 10, "NONSCALING", "ITEMS",
                           *items)
            eq(reply[-1], Error("ERR non scaling filter is full"))
            ok(10 <= sum(1 for x in reply if x == 1) < 20, f"{reply}")
            m.must("CF.RESERVE", "cf" + layout, 16, "EXPANSION", 0)
            reply = m.must("CF.INSERT", "cf" + layout, "ITEMS", *items)
            ok(reply[0] == 1 and reply[-1] == -1, f"{reply}")
        m.must("BLY.RESERVE", "bly", "KIND", "cuckoo", "CAPACITY", 20)
        reply = m("BLY.ADD", "bly", *items)
        added = m.must("BLY.CARD", "bly")
        ok(15 < added < 400, f"{added} added to a full cuckoo filter: {reply!r}")
        wait_sync(master, replica)
        same_digests(r, m, "full filters")


if __name__ == "__main__":
    main(globals())
