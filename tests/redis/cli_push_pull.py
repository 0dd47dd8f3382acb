"""cli_push_pull.py - `bloomery push` and `pull` between files and plain servers, and other commands that write a filter
there.
"""
import json
import os
import sys

sys.dont_write_bytecode = True

from cli_support import address, bloomery, contents, keys, plain, refused, report  # noqa: E402
from harness import Server, eq, main, ok, wait_sync  # noqa: E402


def test_push_and_pull():
    server = plain()
    for kind, shards in (("sbbf", 1), ("split512", 5)):
        bloomery(server, "build", "-q", "-f", "--kind", kind, "-o", "a.bly", lines=keys(30000))
        at = address(server, kind)
        out, err = bloomery(server, "push", "--json", "--shards", str(shards), "--expire", "1h",
                            "a.bly", at)
        sent = json.loads(out)
        ok("has no Bloomery module" in err, err)
        eq((sent["plain"], sent["shards"], sent["key"], sent["file"]), (True, shards, kind, "a.bly"))
        ok(0 < report(server, "info", at)["expires_ms"] <= 3600000)
        eq(bloomery(server, "check", "-c", at, lines=keys(30000))[0], "30000\n")
        refused(server, "use --replace to replace it", "push", "a.bly", at)
        fetched = report(server, "pull", "-f", at, "b.bly")
        eq((fetched["plain"], fetched["shards"]), (True, shards))
        ok(contents(server, "a.bly") == contents(server, "b.bly"), f"{kind}: the files differ")
        refused(server, "b.bly", "pull", at, "b.bly")
        # The next file contains keys that were added on the server.
        bloomery(server, "add", "-q", at, "-k", "added there")
        bloomery(server, "pull", "-q", "-f", at, "b.bly")
        eq(bloomery(server, "check", "b.bly", "-k", "added there")[0], "added there\n")
        bloomery(server, "verify", "-q", "b.bly")
        bloomery(server, "push", "-q", "--replace", "a.bly", at)
        bloomery(server, "check", "-q", at, "-k", "added there", status=1)
    for kind in ("bb2x512", "cuckoo", "fuse"):
        bloomery(server, "build", "-q", "-f", "--kind", kind, "-o", "a.bly", lines=keys(100))
        refused(server, "--kind split512", "push", "a.bly", address(server, "k"))
    bloomery(server, "build", "-q", "-f", "-o", "a.bly", lines=keys(100))
    refused(server, "leave out --resume", "push", "--resume", "a.bly", address(server, "k"))
    refused(server, "--chunk-size", "push", "--chunk-size", "1K", "a.bly", address(server, "k"))
    refused(server, "--chunk-size", "pull", "--chunk-size", "1K", address(server, "sbbf"), "x.bly")
    with server.client() as c:
        c.must("SET", "text", "x")
        refused(server, "so it is not replaced", "push", "--replace", "a.bly", address(server, "text"))
        refused(server, "not a Bloomery filter", "pull", address(server, "text"), "x.bly")
        c.must("RPUSH", "row", "x")
        refused(server, "is not a filter", "pull", address(server, "row"), "x.bly")
        eq(c.must("GET", "text"), b"x")
        eq(c.must("EXISTS", "k"), 0)
    refused(server, "no such key", "pull", address(server, "none"), "x.bly")
    ok(not os.path.exists(server.path("x.bly")), "a failed pull left a file")


def test_beside_the_module():
    server = Server()
    bloomery(server, "build", "-q", "-o", "a.bly", lines=keys(2000))
    bloomery(server, "push", "-q", "a.bly", address(server, "theirs"))
    bloomery(server, "push", "-q", "--plain", "a.bly", address(server, "ours"))
    with server.client() as c:
        eq(c.must("BLY.CHECK", "theirs", "key 7"), [1])
        eq(str(c.must("TYPE", "ours")), "string")
    eq(bloomery(server, "check", address(server, "ours"), "-k", "key 7")[0], "key 7\n")
    for key in ("theirs", "ours"):
        bloomery(server, "pull", "-q", "-f", address(server, key), "b.bly")
        ok(contents(server, "a.bly") == contents(server, "b.bly"), f"{key}: the files differ")
    refused(server, "add --plain", "push", "--shards", "2", "a.bly", address(server, "k"))
    refused(server, "add --plain", "push", "--expire", "1h", "a.bly", address(server, "k"))
    refused(server, "will not be replaced", "push", "--plain", "--replace", "a.bly",
            address(server, "theirs"))
    refused(server, "not a filter of the module", "push", "--replace", "a.bly", address(server, "ours"))


def test_pull_from_a_replica_with_the_module():
    """A filter of the module can be fetched from a replica with or without --allow-replica."""
    master = Server()
    replica = Server(f"replicaof 127.0.0.1 {master.port}")
    bloomery(master, "build", "-q", "-o", "a.bly", lines=keys(2000))
    bloomery(master, "push", "-q", "a.bly", address(master, "k"))
    bloomery(master, "push", "-q", "--plain", "a.bly", address(master, "plain"))
    wait_sync(master, replica)
    for more in ((), ("--allow-replica",)):
        bloomery(replica, "pull", "-q", "-f", *more, address(replica, "k"), "b.bly")
        ok(contents(master, "a.bly") == contents(replica, "b.bly"), "the files differ")
    refused(replica, "or use --allow-replica", "pull", "-f", address(replica, "plain"), "b.bly")
    bloomery(replica, "pull", "-q", "-f", "--allow-replica", address(replica, "plain"), "b.bly")
    ok(contents(master, "a.bly") == contents(replica, "b.bly"), "the files differ")


def test_push_typed():
    """push does not send a typed list to the module, which compares bytes, unless --as-is is given. A
    plain filter can have a type, which bloomery check reads."""
    server, module = plain(), Server()
    for place in (server, module):
        bloomery(place, "build", "-q", "--type", "ip", "-o", "ip.bly", lines=b"192.0.2.0/24\n")
    refused(module, "--as-is", "push", "ip.bly", address(module, "ip"))
    for place, more in ((server, ()), (module, ("--plain",))):
        _, err = bloomery(place, "push", *more, "ip.bly", address(place, "ip"))
        ok("has keys of type ip" in err, err)
        eq(bloomery(place, "check", address(place, "ip"), "-k", "192.0.2.9")[0], "192.0.2.9\n")
    bloomery(module, "push", "-q", "--as-is", "ip.bly", address(module, "other"))


def test_output_of_others():
    server = plain()
    at = address(server, "both")
    for name, first in (("a.bly", 0), ("b.bly", 500)):
        bloomery(server, "build", "-q", "-n", "2000", "-o", name, lines=keys(600, first=first))
    bloomery(server, "merge", "-q", "-o", at, "a.bly", "b.bly")
    eq(bloomery(server, "check", "-c", at, lines=keys(1100))[0], "1100\n")
    refused(server, "use --force to replace it", "intersect", "-o", at, "a.bly", "b.bly")
    bloomery(server, "intersect", "-q", "-f", "-o", at, "a.bly", "b.bly")
    out, _ = bloomery(server, "check", "-c", at, lines=keys(1100))
    ok(100 <= int(out) < 150, out)


if __name__ == "__main__":
    main(globals())
