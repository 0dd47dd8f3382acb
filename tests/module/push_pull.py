"""push_pull.py - `bloomery push` and `pull` with real servers.

BLOOMERY_PROGRAM names the program (build/dev/bin/bloomery of this repository).
tests/cli/push_pull.py tests what real servers seldom do.
"""
import json
import os
import signal
import subprocess
import threading
import time

from harness import (ROOT, Cluster, Server, digests, eq, fails, key_slot, main, ok, pair,
                     wait_for, wait_sync)

PROGRAM = os.environ.get("BLOOMERY_PROGRAM", os.path.join(ROOT, "build/dev/bin/bloomery"))


def bloomery(server, *args, status=0, lines=None, **environment):
    """Runs the program in the server's folder; returns both its outputs."""
    done = subprocess.run([PROGRAM, *args], cwd=server.folder, capture_output=True, timeout=120,
                          input=lines or b"", env={**os.environ, **environment})
    out, err = done.stdout.decode(), done.stderr.decode()
    eq(done.returncode, status, f"bloomery {' '.join(args)}: {err}")
    return out, err


def refused(server, words, *args, **environment):
    out, err = bloomery(server, *args, status=2, **environment)
    ok(out == "" and words in err and err.count("\n") == 1, f"wanted '{words}', got {err}")


def keys(count, prefix="key"):
    return "".join(f"{prefix} {i}\n" for i in range(count)).encode()


def build(server, name, count, *more, prefix="key"):
    bloomery(server, "build", "-q", "-f", "-o", name, *more, lines=keys(count, prefix))
    return contents(server, name)


def contents(server, name):
    with open(server.path(name), "rb") as file:
        return file.read()


def address(server, key, login=""):
    return f"redis://{login}127.0.0.1:{server.port}/{key}"


KINDS = ("classic", "split512", "bb2x512", "scalable", "cuckoo", "growable-cuckoo", "fuse",
         "ribbon", "counting", "multilayer", "layered", "hybrid")


def test_there_and_back():
    server = Server()
    with server.client() as c:
        for kind in KINDS:
            file = build(server, "a.bly", 3000, "--kind", kind)
            bloomery(server, "push", "-q", "a.bly", address(server, kind), "--chunk-size", "1K")
            eq(c.must("BLY.CHECK", kind, "key 0", "key 2999", "no key"), [1, 1, 0], kind)
            bloomery(server, "pull", "-q", "-f", address(server, kind), "b.bly")
            ok(contents(server, "b.bly") == file, f"{kind}: another file came back")
            bloomery(server, "verify", "-q", "b.bly")
        # Items that were added on the server are in the pulled file.
        c.must("BLY.ADD", "split512", "added there")
        bloomery(server, "pull", "-q", "-f", address(server, "split512"), "b.bly")
        out, _ = bloomery(server, "check", "b.bly", lines=b"added there\nnever added\n")
        eq(out, "added there\n")
        # A filter that the server created.
        c.must("BF.RESERVE", "made", "0.01", "1000")
        c.must("BF.MADD", "made", *[f"key {i}" for i in range(1000)])
        bloomery(server, "pull", "-q", "-f", address(server, "made"), "b.bly")
        out, _ = bloomery(server, "check", "b.bly", lines=keys(1000))
        eq(out.encode(), keys(1000))


def test_replace_serves_until_complete():
    server = Server()
    build(server, "a.bly", 1000, prefix="old")
    build(server, "b.bly", 200000, prefix="new")
    bloomery(server, "push", "-q", "a.bly", address(server, "k"))
    refused(server, "--replace", "push", "b.bly", address(server, "k"))
    with server.client() as c:
        seen, stop = set(), threading.Event()

        def watch():
            while not stop.is_set():
                seen.add(tuple(c.must("BLY.CHECK", "k", "old 1", "new 1")))
        watcher = threading.Thread(target=watch)
        watcher.start()
        bloomery(server, "push", "-q", "--replace", "b.bly", address(server, "k"),
                 "--chunk-size", "1K")
        stop.set()
        watcher.join()
        eq(c.must("BLY.CHECK", "k", "old 1", "new 1"), [0, 1])
    ok(seen <= {(1, 0), (0, 1)} and (1, 0) in seen, f"a watcher saw {seen}")


def test_resume_after_kill():
    server = Server()
    file = build(server, "a.bly", 1000, "-n", "2000000")
    build(server, "b.bly", 1000, "-n", "3000000")
    with server.client() as c:
        child = subprocess.Popen([PROGRAM, "push", "-q", "a.bly", address(server, "k"),
                                  "--chunk-size", "1K"], cwd=server.folder)
        wait_for(lambda: c.must("EXISTS", "k"), what="the first chunk")
        child.send_signal(signal.SIGKILL)
        child.wait()
        eq(c.must("BLY.CHECK", "k", "key 1"), [None])
        refused(server, "of another file", "push", "--resume", "b.bly", address(server, "k"))
        out, _ = bloomery(server, "push", "-q", "--json", "--resume", "a.bly", address(server, "k"))
        report = json.loads(out)
        ok(report["bytes"] == len(file) and 0 < report["resumed_at"] < len(file), out)
        eq(c.must("BLY.CHECK", "k", "key 999"), [1])
        # A first part of another file: refused at the end, and dropped completely.
        c.must("BLY.LOAD", "m", len(file), 0, file[:64] + b"\xff" * 64)
        _, err = bloomery(server, "push", "--resume", "a.bly", address(server, "m"), status=2)
        ok("damaged" in err and "without --resume" in err, err)
        eq(c.must("EXISTS", "m"), 0)
        # An interrupted push leaves the old filter, and the received part can be dropped.
        c.must("BLY.LOAD", "k", len(file), 0, file[:1000], "REPLACE")
        eq(c.must("BLY.CHECK", "k", "key 1"), [1])
        c.must("BLY.LOAD", "k", 0, 0, "")
        fails(c("BLY.LOAD", "k", len(file), 1000, "x"), "ERR expected offset 0")


def test_refusals():
    server = Server(args="max-filter-memory 100000")
    build(server, "a.bly", 1000)
    build(server, "large.bly", 300000)
    with server.client() as c:
        c.must("SET", "text", "x")
        refused(server, "not a filter of the module; use another key", "push", "a.bly", address(server, "text"))
        refused(server, "not a filter of the module; use another key", "pull", address(server, "text"), "x.bly")
        refused(server, "no such key", "pull", address(server, "none"), "x.bly")
        refused(server, "max-filter-memory", "push", "large.bly", address(server, "k"))
        eq(c.must("EXISTS", "k"), 0)
    bare = Server(module=False)
    build(bare, "a.bly", 1000, "--kind", "cuckoo")
    refused(bare, "MODULE LOAD", "push", "a.bly", address(bare, "k"))
    refused(bare, "no such key", "pull", address(bare, "k"), "x.bly")
    ok(not [n for n in os.listdir(bare.folder) if n.endswith(".tmp")], "left a temporary file")


def test_typed_lists():
    """A server compares bytes, so a list of networks is refused."""
    server = Server()
    bloomery(server, "build", "-q", "--type", "ip", "-o", "ip.bly", lines=b"192.0.2.0/24\n10.1.2.3\n")
    refused(server, "has keys of type ip", "push", "ip.bly", address(server, "ip"))
    bloomery(server, "dedup", "-q", "-i", "--state", "state.bly", lines=b"a\n")
    refused(server, "keys of type lines (--field or --ignore-case)", "push", "state.bly", address(server, "state"))
    bloomery(server, "push", "-q", "--as-is", "ip.bly", address(server, "ip"))
    with server.client() as c:
        eq(c("EXISTS", "ip"), 1)


def test_rules_of_keys_survive():
    """The key rule of a list is preserved by RDB, AOF, COPY and DUMP, and by a merge of lists with
    the same rule."""
    server = Server("appendonly yes", "aof-use-rdb-preamble no")
    kinds = ("split512", "scalable", "scalable-cuckoo", "fuse")
    for key, kind in [*zip(kinds, kinds), ("more", "split512")]:
        bloomery(server, "build", "-q", "-f", "--kind", kind, "--type", "domain", "-o", "d.bly",
                 lines=b"example.org\n" if key == "more" else b"example.com\n")
        eq(contents(server, "d.bly")[7], 4 << 3)
        bloomery(server, "push", "-q", "--as-is", "d.bly", address(server, key))
    with server.client() as c:
        c.must("COPY", "split512", "copy")
        c.must("BLY.MERGE", "copy", "more")
        c.must("RESTORE", "restored", 0, c.must("DUMP", "scalable"))

    def check(when):
        for key in (*kinds, "copy", "restored"):
            bloomery(server, "pull", "-q", "-f", address(server, key), "b.bly")
            eq(contents(server, "b.bly")[7], 4 << 3, f"{key} {when}")
            out, _ = bloomery(server, "check", "b.bly", lines=b"www.EXAMPLE.com\n")
            eq(out, "www.EXAMPLE.com\n", f"{key} {when}")

    def rewritten():
        info = c.info("persistence")
        return info["aof_rewrite_in_progress"] == info["aof_rewrite_scheduled"] == "0"

    check("at once")
    with server.client() as c:
        c.must("BGREWRITEAOF")
        wait_for(rewritten, what="the rewrite")
    server.restart()
    check("after an AOF file")
    with server.client() as c:
        c.must("DEBUG", "RELOAD")
    check("after an RDB file")


def test_logins_databases_sockets():
    server = Server("requirepass pass:word", "user me on >secret ~* +@all")
    build(server, "a.bly", 1000)
    refused(server, "NOAUTH", "push", "a.bly", address(server, "k"))
    refused(server, "refused the password", "push", "a.bly", address(server, "k", ":x@"))
    bloomery(server, "push", "-q", "a.bly", address(server, "k", ":pass%3Aword@"))
    bloomery(server, "push", "-q", "a.bly", address(server, "3/k", "me:secret@"))
    bloomery(server, "push", "-q", "a.bly", f"unix://{server.unix}?db=4&key=k",
             REDISCLI_AUTH="pass:word")
    refused(server, "refused the database", "push", "a.bly", address(server, "99/k", "me:secret@"))
    bloomery(server, "pull", "-q", address(server, "4/k", "me:secret@"), "b.bly")
    ok(contents(server, "a.bly") == contents(server, "b.bly"), "another file came back")


def test_replica():
    master, replica = pair()
    file = build(master, "a.bly", 50000)
    bloomery(master, "push", "-q", "a.bly", address(master, "k"), "--chunk-size", "4K")
    wait_sync(master, replica)
    with master.client() as m, replica.client() as r:
        eq(digests(m, "k"), digests(r, "k"))
    bloomery(replica, "pull", "-q", address(replica, "k"), "b.bly")
    ok(contents(replica, "b.bly") == file, "the replica's filter is another")
    refused(master, "name its master", "push", "a.bly", address(replica, "other"))


def test_changing_meanwhile():
    server = Server()
    build(server, "a.bly", 100000, "-n", "1000000")
    bloomery(server, "push", "-q", "a.bly", address(server, "k"))
    stop = threading.Event()

    def write():
        with server.client() as c:
            i = 0
            while not stop.is_set():
                c.must("BLY.ADD", "k", f"more {i}")
                i += 1
    writer = threading.Thread(target=write)
    writer.start()
    try:
        refused(server, "during each of 5 attempts", "pull", address(server, "k"), "b.bly", "--chunk-size",
                "1K")
    finally:
        stop.set()
        writer.join()
    bloomery(server, "pull", "-q", address(server, "k"), "b.bly", "--chunk-size", "1K")
    bloomery(server, "verify", "-q", "b.bly")


def test_cluster():
    cluster = Cluster()
    node = cluster.masters[0]
    file = build(node, "a.bly", 20000)
    for i in range(6):
        bloomery(node, "push", "-q", "a.bly", address(node, f"list:{i}"), "--chunk-size", "1K")
        bloomery(node, "pull", "-q", "-f", address(cluster.masters[i % 3], f"list:{i}"), "b.bly")
        ok(contents(node, "b.bly") == file, f"list:{i} came back as another file")
    ok(len({cluster.owner(key_slot(f"list:{i}")) for i in range(6)}) > 1, "all keys on one node")


if __name__ == "__main__":
    main(globals())
