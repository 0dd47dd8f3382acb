"""transfer.py - moves whole filters between files and servers, reads their facts, and deletes them.

The blocks of the strings, one after the other, are the body of the file. So moving a filter to a
server and back changes no byte, with any number of shards. A filter that is sent appears completely
or not at all.
"""
import sys

sys.dont_write_bytecode = True

import os  # noqa: E402
import struct  # noqa: E402

from proxy import Cut, Proxy  # noqa: E402
from failures import Relay, Silence  # noqa: E402
from support import (HEAD, Cluster, Driver, eq, head, key_slot, main, ok, plain,  # noqa: E402
                     refused, shard_keys, url, wait_for)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "checks"))

from format_hashes import xxh64  # noqa: E402

MIB = 1 << 20
LARGE = {"n": 20 * 10 ** 6, "p": 0.01}  # 25 MB, several rounds of pieces
KEY = "000102030405060708090a0b0c0d0e0f"


def file_of(driver, name="one.bly"):
    return os.path.join(driver.files, name)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def make(driver, server, name, count=1000, n=20000, p=0.01, **more):
    driver.must("create", url(server, name), n=n, p=p, **more)
    return driver.must("add", "key:", 0, count)["yes"]


def blocks(client, name, shards):
    return b"".join(client.must("GETRANGE", key, HEAD, -1) for key in shard_keys(name, shards))


def names(client):
    return sorted(key.decode() for key in client.must("KEYS", "*"))


# ---- files to servers and back ------------------------------------------------------------------

def test_bytes_stay_the_same():
    """For each kind: from strings to a file, from there to strings with another number of shards, and
    back."""
    with plain() as server, Driver() as driver, server.client() as c:
        for kind, first, second in (("sbbf", 1, 3), ("sbbf", 3, 1), ("split512", 4, 7),
                                    ("split512", 2, 2)):
            fresh = make(driver, server, "a", kind=kind, shards=first, seed=5)
            size = driver.must("look")["bytes"] - first * HEAD
            answer = driver.must("fetch", file_of(driver))
            eq((answer["moved"], answer["total"], answer["count"]), (size, size, fresh))
            data = read(file_of(driver))
            body = blocks(c, "a", first)
            eq(data[64:64 + size], body)
            eq(data[64 + size:], b"\0" * (-size % 64), "the padding of the file")
            answer = driver.must("send", file_of(driver), url(server, "b"), shards=second)
            eq((answer["moved"], answer["total"], answer["shards"]), (size, size, second))
            eq((answer["kind"], answer["seed"]), (kind, 5))
            ok(answer["stamp"] != head(c, "a").stamp, "the new filter has the same stamp")
            eq(blocks(c, "b", second), body)
            eq(driver.must("look")["count"], fresh)
            eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)
            driver.must("fetch", file_of(driver, "two.bly"))
            ok(read(file_of(driver, "two.bly")) == data, "the file has changed")
            c.must("FLUSHALL")


def test_sent_is_used():
    """A filter that was sent is like one that was created: clients can join it and add keys."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        make(driver, server, "a", shards=3)
        driver.must("fetch", file_of(driver))
        driver.must("send", file_of(driver), url(server, "b"), shards=3, expire=600000)
        times = {c.must("PEXPIRETIME", key) for key in shard_keys("b", 3)}
        eq(len(times), 1, f"expiry times: {times}")
        ok(590000 < driver.must("look")["expires_ms"] <= 600000, "the expiry time")
        other.must("create", url(server, "b"), n=20000, p=0.01, shards=3)
        count = other.must("look")["count"]
        more = other.must("add", "more:", 0, 1000)["yes"]
        eq(driver.must("contains", "more:", 0, 1000)["yes"], 1000)
        eq(driver.must("look")["count"], count + more)
        eq([head(c, key).state for key in shard_keys("b", 3)], [1, 1, 1])


def test_large():
    """A large filter is moved in many pieces. Keys that are added meanwhile do not affect others."""
    with plain() as server, Driver() as driver, Driver() as other:
        make(driver, server, "a", count=50000, shards=3, **LARGE)
        other.must("open", url(server, "a"))
        other.say("add", "more:", 0, 100000)
        answer = driver.must("fetch", file_of(driver))
        other.hear()
        ok(answer["total"] > 24 * MIB, f"{answer}")
        driver.must("send", file_of(driver), url(server, "b"), shards=2)
        eq(driver.must("contains", "key:", 0, 50000)["yes"], 50000)


def test_cluster():
    """The shards arrive on the nodes of their slots."""
    cluster = Cluster()
    with Driver() as driver:
        node = cluster.nodes[0]
        make(driver, node, "a", count=50000, shards=9, n=10 ** 6)
        eq(driver.must("look")["nodes"], 3)
        driver.must("fetch", file_of(driver))
        eq(driver.must("send", file_of(driver), url(cluster.nodes[2], "b"), shards=6)["shards"], 6)
        eq(driver.must("look")["nodes"], 3)
        driver.must("fetch", file_of(driver, "two.bly"))
        ok(read(file_of(driver)) == read(file_of(driver, "two.bly")), "the file has changed")
        driver.must("send", file_of(driver), url(node, "b"), shards=4, replace=1)
        eq(driver.must("contains", "key:", 0, 50000)["yes"], 50000)
        kept = set(shard_keys("a", 9) + shard_keys("b", 4))
        found = set()
        for master in cluster.masters:
            with master.client() as c:
                mine = names(c)
                ok(all(cluster.owner(key_slot(key)) is master for key in mine), f"{mine}")
                found |= set(mine)
        eq(found, kept)
        driver.must("drop")
        refused(driver("open", url(node, "b")), "BLY_EMISSING")


# ---- existing keys ------------------------------------------------------------------------------

def test_nothing_is_overwritten():
    with plain() as server, Driver() as driver, server.client() as c:
        make(driver, server, "a", shards=2)
        driver.must("fetch", file_of(driver))
        before = names(c)
        refused(driver("send", file_of(driver), url(server, "a"), shards=2), "BLY_EEXISTS")
        c.must("RPUSH", "list", "x")
        refused(driver("send", file_of(driver), url(server, "list")), "BLY_EEXISTS")
        # The same for a shard other than the first.
        other = shard_keys("b", 3)[2]
        c.must("SET", other, "x")
        refused(driver("send", file_of(driver), url(server, "b"), shards=3), "BLY_EEXISTS", other)
        eq(names(c), sorted(before + ["list", other]))


def test_replacing():
    """The old filter is deleted completely. Its users get an error."""
    with plain() as server, Driver() as driver, Driver() as old, server.client() as c:
        make(driver, server, "new", count=500)
        driver.must("fetch", file_of(driver))
        c.must("DEL", "new")
        for shards in (1, 3, 5):
            make(old, server, "a", shards=4, p=0.001)
            driver.must("send", file_of(driver), url(server, "a"), shards=shards, replace=1)
            eq(names(c), sorted(shard_keys("a", shards)))
            refused(old("contains", "key:", 0, 10), "BLY_EMISMATCH")
            refused(old("look"), "BLY_EMISMATCH")
            refused(old("fetch", file_of(old)), "BLY_EMISMATCH")
            refused(old("drop"), "BLY_EMISSING")
            eq(driver.must("contains", "key:", 0, 500)["yes"], 500)
            driver.must("drop")
            eq(names(c), [])
        c.must("RPUSH", "a", "x")
        driver.must("send", file_of(driver), url(server, "a"), replace=1)
        eq(driver.must("contains", "key:", 0, 500)["yes"], 500)


def is_landing(command, key):
    return command[0] in (b"EVAL", b"EVALSHA") and command[2:3] in ([b"2"], [b"3"]) \
        and command[4] == key.encode() and len(command) in (10, 11)


def refusing(key, words=b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"):
    return lambda command, _: words if is_landing(command, key) else None


def test_replacing_fails_at_the_end():
    """If the last step or an earlier one is refused, the old filter is unchanged."""
    with plain() as server, Driver() as driver, Driver() as old, server.client() as c:
        make(driver, server, "new", count=500)
        driver.must("fetch", file_of(driver))
        c.must("DEL", "new")
        for shards in (1, 3, 4):
            make(old, server, "a", shards=3)
            for expire in (0, 600000, 90000000):
                old.must("expire", expire)
                before = {key: (c.must("DUMP", key), c.must("PEXPIRETIME", key))
                          for key in names(c)}
                for failing in shard_keys("a", shards):
                    with Relay(server, refusing(failing)) as relay:
                        refused(driver("send", file_of(driver), url(relay, "a"), shards=shards,
                                       replace=1), "BLY_EREFUSED", "OOM")
                    eq({key: (c.must("DUMP", key), c.must("PEXPIRETIME", key))
                        for key in names(c)}, before)
                eq(old.must("contains", "key:", 0, 1000)["yes"], 1000)
            old.must("drop")
        # Without an old filter, nothing is left.
        with Relay(server, refusing("a")) as relay:
            refused(driver("send", file_of(driver), url(relay, "a"), shards=3, replace=1),
                    "BLY_EREFUSED")
        eq(names(c), [])


def test_death_while_replacing():
    """If a client dies between two commits, lookups are errors, never wrong answers. Sending again
    repairs the filter. If that fails, too, the old filter is restored."""
    with plain() as server, Driver() as driver, Driver() as old, server.client() as c:
        make(driver, server, "new", count=500)
        driver.must("fetch", file_of(driver))
        c.must("DEL", "new")
        for again in ("fails", "is done"):
            make(old, server, "a", shards=3)
            dying = Driver()
            reached = []

            def hook(command, _):
                if not is_landing(command, "a"):
                    return None
                reached.append(command)
                return Silence

            with Relay(server, hook) as relay:
                dying.say("send", file_of(driver), url(relay, "a"), shards=3, replace=1)
                wait_for(lambda: reached, what="the last commit")
                dying.kill()
            refused(old("contains", "key:", 0, 1000), "BLY_EMISMATCH")
            refused(driver("open", url(server, "a")), "BLY_EMISMATCH")
            parked = [key for key in names(c) if key.endswith(":parked")]
            eq(len(parked), 2)
            ok(all(0 < c.must("PTTL", key) <= 3600000 for key in parked), "they do not expire")
            if again == "fails":
                with Relay(server, refusing("a")) as relay:
                    refused(driver("send", file_of(driver), url(relay, "a"), shards=3, replace=1),
                            "BLY_EREFUSED")
                eq(old.must("contains", "key:", 0, 1000)["yes"], 1000)
                eq(old.must("look")["expires_ms"], -1)
            else:
                driver.must("send", file_of(driver), url(server, "a"), shards=3, replace=1)
                eq(driver.must("contains", "key:", 0, 500)["yes"], 500)
            eq(names(c), sorted(shard_keys("a", 3)))
            c.must("FLUSHALL")


# ---- failures during a transfer -----------------------------------------------------------------

def test_stopped():
    """The progress callback may stop a transfer. Then nothing is left on either side."""
    with plain() as server, Driver() as driver, server.client() as c:
        make(driver, server, "a", shards=3, **LARGE)
        answer = driver("fetch", file_of(driver), stop=MIB)
        refused(answer, "BLY_EIO", "stopped")
        eq((answer["moved"], answer["total"] > 24 * MIB), (8 * MIB, True))
        ok(not os.path.exists(file_of(driver)), "a file is left")
        driver.must("fetch", file_of(driver))
        before = names(c)
        for replace in (0, 1):
            answer = driver("send", file_of(driver), url(server, "b"), shards=3, stop=10 * MIB,
                            replace=replace)
            refused(answer, "BLY_EIO", "stopped")
            ok(10 * MIB <= answer["moved"] < answer["total"], f"{answer}")
            eq(names(c), before)


def test_cut():
    """After a lost connection the transfer continues on a new one, and the bytes are correct."""
    with plain() as server, Proxy(server.port) as proxy, Driver() as driver, \
            server.client() as c:
        make(driver, proxy, "a", shards=3, **LARGE)
        for direction, after in (("down", 5 * MIB), ("down", 20 * MIB), ("up", 500)):
            proxy.arm(Cut(direction, after))
            driver.must("fetch", file_of(driver))
            body = blocks(c, "a", 3)
            ok(read(file_of(driver))[64:64 + len(body)] == body, "the bytes differ")
        cuts = proxy.cuts
        for number, (direction, after) in enumerate((("up", MIB), ("up", 20 * MIB), ("down", 10),
                                                     ("up", 25 * MIB))):
            proxy.plan = iter([Cut(direction, after)])
            driver.must("send", file_of(driver), url(proxy, f"b{number}"), shards=2)
            ok(blocks(c, f"b{number}", 2) == blocks(c, "a", 3), "the bytes differ")
        eq((cuts, proxy.cuts), (3, 7))


def test_lost_on_the_way():
    """If the server does not come back, the call fails and leaves no half filter."""
    with plain() as server, Proxy(server.port) as proxy, Driver() as driver, \
            server.client() as c:
        make(driver, server, "a", **LARGE)
        driver.must("fetch", file_of(driver))
        proxy.plan = iter([Cut("up", 10 * MIB)])
        refused(driver("send", file_of(driver), url(proxy, "b"), shards=3, no_retry=1), "BLY_EIO")
        ok("b" not in names(c), "half a filter")
        left = [key for key in names(c) if key != "a"]
        eq(len(left), 3, f"{left}")
        ok(all(0 < c.must("PTTL", key) <= 3600000 for key in left), "the rest does not expire")
        # The next attempt replaces them.
        driver.must("send", file_of(driver), url(server, "b"), shards=3)
        eq(names(c), sorted(["a"] + shard_keys("b", 3)))
        driver.must("open", url(proxy, "a"), no_retry=1)
        proxy.arm(Cut("down", 10 * MIB))
        refused(driver("fetch", file_of(driver, "two.bly")), "BLY_EIO")
        ok(not os.path.exists(file_of(driver, "two.bly")), "half a file")


def test_arrives_late():
    """A command that is delayed, repeated, and then arrives late destroys nothing."""
    with plain() as server, Driver() as driver, server.client() as c:
        make(driver, server, "a", count=10000, n=200000)
        driver.must("fetch", file_of(driver))
        held, late = [], []

        def hook(command, connection):
            script = command[0] in (b"EVAL", b"EVALSHA")
            if script and len(command) == 7 and len(command[4]) == HEAD and connection == 1:
                held.append(command)
                return Silence
            if script and is_landing(command, "b") and held:
                late.append(c(*held.pop()))
            return None

        with Relay(server, hook) as relay:
            driver.must("send", file_of(driver), url(relay, "b"), command_ms=300)
        ok(late, "the late command was not sent")
        eq(driver.must("contains", "key:", 0, 10000)["yes"], 10000)


def test_answers_that_are_none():
    """Any reply other than 1 is a failure."""
    with plain() as server, Driver() as driver, server.client() as c:
        make(driver, server, "a")
        driver.must("fetch", file_of(driver))
        before = names(c)
        for answer in (b":0\r\n", b"$-1\r\n", b"+QUEUED\r\n", b"*1\r\n:1\r\n"):
            for size in (7, 10):  # writes and stagings; commits
                def hook(command, _):
                    return answer if command[0] in (b"EVAL", b"EVALSHA") \
                        and len(command) == size else None

                with Relay(server, hook) as relay:
                    refused(driver("send", file_of(driver), url(relay, "b")), "BLY_ECORRUPT")
                eq(names(c), before)


def test_vanishes_at_once():
    """A filter that expires after a millisecond is still sent."""
    with plain() as server, Driver() as driver, server.client() as c:
        make(driver, server, "a")
        driver.must("fetch", file_of(driver))
        driver.must("send", file_of(driver), url(server, "b"), shards=3, expire=1)
        wait_for(lambda: names(c) == ["a"], what="the expiry")


def test_no_room():
    """A filter that does not fit is refused before any part of it is sent."""
    with plain() as server, Driver() as driver, server.client() as c:
        make(driver, server, "a", **LARGE)
        driver.must("fetch", file_of(driver))
        c.must("CONFIG", "SET", "maxmemory", "40mb")
        for shards in (1, 3):
            answer = driver("send", file_of(driver), url(server, "b"), shards=shards)
            refused(answer, "BLY_EREFUSED", "OOM", "room for")
            ok(answer["why"].startswith("OOM"), answer["why"])
            eq((answer["moved"], names(c)), (0, ["a"]))


def test_two_senders():
    """Two clients send to one name. One of them succeeds, or with `replace` both in turn, and the
    filter is whole. Or each blocks shards of the other: then both get an error, and nothing is left."""
    with plain() as server, Driver() as one, Driver() as two, server.client() as c:
        for driver, name, count in ((one, "a", 1000), (two, "b", 2000)):
            make(driver, server, name, count=count, **LARGE)
            driver.must("fetch", file_of(driver))
        for replace in (0, 1):
            for driver in (one, two):
                driver.say("send", file_of(driver), url(server, "x"), shards=3, replace=replace)
            answers = [driver.hear() for driver in (one, two)]
            good = [a for a in answers if a["status"] == "BLY_OK"]
            for answer in answers:
                if answer not in good:
                    ok(answer["status"] in ("BLY_EEXISTS", "BLY_EMISMATCH", "BLY_EMISSING"),
                       f"{answers}")
            if not good:
                eq(names(c), ["a", "b"])
                good = [one.must("send", file_of(one), url(server, "x"), shards=3)]
            if head(c, "x").stamp not in [a["stamp"] for a in good]:
                raise AssertionError(f"the stamp is in no answer: {answers}")
            eq(len({head(c, key).stamp for key in shard_keys("x", 3)}), 1, "stamps of the shards")
            eq(names(c), sorted(["a", "b"] + shard_keys("x", 3)))
            with Driver() as reader:
                reader.must("open", url(server, "x"))
                count = reader.must("look")["count"]
                eq(reader.must("contains", "key:", 0, count)["yes"], count)
                reader.must("drop")


def test_damaged():
    """Strings that are shorter or longer than they should be, or missing."""
    with plain() as server, Driver() as driver, server.client() as c:
        for shards in (1, 3):
            make(driver, server, "a", shards=shards)
            last = shard_keys("a", shards)[-1]
            whole = c.must("GET", last)
            for data in (whole[:-1], whole + b"\0"):
                c.must("SET", last, data)
                refused(driver("fetch", file_of(driver)), "BLY_ECORRUPT", last)
            c.must("SET", last, whole[:60])
            refused(driver("fetch", file_of(driver)), "BLY_EMISMATCH")
            c.must("DEL", last)
            refused(driver("fetch", file_of(driver)), "BLY_EMISSING", last)
            c.must("FLUSHALL")
        # A head with a larger size than the string: no memory is allocated for that size.
        driver.must("create", url(server, "a"), n=20000, p=0.01)
        driver.must("create", url(server, "big"), n=3 * 10 ** 8, p=0.01)
        c.must("SETRANGE", "a", 0, c.must("GETRANGE", "big", 0, HEAD - 1))
        driver.must("open", url(server, "a"))
        refused(driver("fetch", file_of(driver)), "BLY_ECORRUPT", "a")


def test_approximate():
    """An intersection keeps its flag on its way to a server and back, also for clients that join it."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        make(driver, server, "a", shards=2)
        driver.must("fetch", file_of(driver))
        data = bytearray(read(file_of(driver)))
        data[7] |= 2  # docs/format.md, section 1
        data[12:16] = bytes(4)
        data[12:16] = struct.pack("<I", xxh64(bytes(data[:64])) & 0xFFFFFFFF)
        with open(file_of(driver, "marked.bly"), "wb") as file:
            file.write(data)
        driver.must("send", file_of(driver, "marked.bly"), url(server, "b"), shards=2)
        eq(c.must("GETRANGE", "b", 24 + 7, 24 + 7)[0] & 2, 2)
        other.must("create", url(server, "b"), n=20000, p=0.01, shards=2)
        eq(other.must("contains", "key:", 0, 1000)["yes"], 1000)
        other.must("open", url(server, "b"))
        other.must("fetch", file_of(other, "back.bly"))
        ok(read(file_of(other, "back.bly")) == bytes(data), "the file has changed")


# ---- secret keys, and what cannot be moved ------------------------------------------------------

def test_secret_key():
    """Without its secret key a filter can be inspected, copied and deleted, but answers no lookups."""
    with plain() as server, Driver() as driver, Driver() as blind, server.client() as c:
        driver.must("create", url(server, "a"), n=20000, p=0.01, shards=2, key=KEY)
        driver.must("add", "key:", 0, 1000)
        driver.must("fetch", file_of(driver))
        refused(blind("open", url(server, "a")), "BLY_EKEY")
        refused(blind("open", url(server, "a"), key=KEY[::-1]), "BLY_EKEY")
        refused(blind("create", url(server, "a"), n=20000, p=0.01, shards=2, key=KEY[::-1]),
                "BLY_EKEY")
        refused(blind("create", url(server, "a"), n=20000, p=0.01, shards=2), "BLY_EMISMATCH",
                "siphash", "xxh3")
        blind.must("open", url(server, "a"), without_key=1)
        for command in ("add", "contains"):
            answer, digits = blind.range(command, "key:", 0, 10, otherwise="yes")
            refused(answer, "BLY_EKEY")
            eq((digits, answer["tally"]["unknown"]), ("1" * 10, 10))
        eq(blind.must("look")["count"], driver.must("look")["count"])
        blind.must("fetch", file_of(blind))
        ok(read(file_of(blind)) == read(file_of(driver)), "the files differ")
        refused(blind("send", file_of(blind), url(server, "b"), without_key=1), "BLY_EKEY")
        driver.must("send", file_of(driver), url(server, "b"), key=KEY)
        eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)
        driver.must("open", url(server, "b"), without_key=1, key=KEY)
        eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)
        blind.must("open", url(server, "a"), without_key=1)
        blind.must("drop")
        eq(names(c), ["b"])


def test_what_cannot_be_moved():
    """go-zero's filters, addresses without a key, and too many shards."""
    with plain() as server, Driver() as driver:
        driver.must("gozero", url(server, "g"), bits=20000)
        driver.must("add", "key:", 0, 100)
        refused(driver("fetch", file_of(driver)), "BLY_EUNSUPPORTED", "go-zero")
        make(driver, server, "a")
        driver.must("fetch", file_of(driver))
        refused(driver("send", file_of(driver), f"redis://127.0.0.1:{server.port}"), "BLY_EINVAL",
                "key")
        refused(driver("send", file_of(driver), url(server, "b"), shards=5000), "BLY_ETOOBIG")


# ---- deletion, and facts ------------------------------------------------------------------------

def test_drop():
    """drop deletes the whole filter, and nothing else."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        make(other, server, "b", shards=3)
        for shards in (1, 4):
            make(driver, server, "a", shards=shards)
            driver.must("drop")
            eq(names(c), sorted(shard_keys("b", 3)))
            refused(driver("drop"), "BLY_EMISSING")
            refused(driver("add", "key:", 0, 1), "BLY_EMISSING")
        # It does not delete another filter of that name.
        make(driver, server, "a", shards=2)
        c.must("DEL", *shard_keys("a", 2))
        make(other, server, "a", shards=2)
        refused(driver("drop"), "BLY_EMISSING")
        eq(other.must("contains", "key:", 0, 1000)["yes"], 1000)


def test_gozero_facts():
    """The facts of a filter without a head."""
    with plain() as server, Driver() as driver, server.client() as c:
        driver.must("gozero", url(server, "g"), bits=20000)
        for command in (["look"], ["expire", 1000]):
            refused(driver(*command), "BLY_EMISSING")
        refused(driver("drop"), "BLY_EMISSING")
        driver.must("add", "key:", 0, 500)
        facts = driver.must("look")
        bits = c.must("BITCOUNT", "g")
        eq((facts["set_bits"], facts["count"], facts["bytes"], facts["expires_ms"],
            facts["nodes"]), (bits, 0, c.must("STRLEN", "g"), -1, 1))
        ok(abs(facts["expected_fpr"] / (bits / 20000) ** 14 - 1) < 1e-9, f"{facts}")
        driver.must("expire", 600000)
        ok(590000 < driver.must("look")["expires_ms"] <= 600000, "the expiry time")
        driver.must("expire", 0)
        eq(c.must("PTTL", "g"), -1)
        driver.must("drop")
        eq(names(c), [])


def test_facts_of_shards():
    """Facts are sums over the shards; the expiry is the earliest one."""
    with plain() as server, Driver() as driver, server.client() as c:
        fresh = make(driver, server, "a", count=5000, shards=3)
        keys = shard_keys("a", 3)
        counts = [struct.unpack("<Q", c.must("GETRANGE", key, 96, 103))[0] for key in keys]
        ok(all(count > 1000 for count in counts), f"{counts}")
        eq(sum(counts), fresh)
        driver.must("expire", 600000)
        c.must("PEXPIRE", keys[1], 5000)
        facts = driver.must("look")
        eq((facts["count"], facts["bytes"]),
           (fresh, sum(c.must("STRLEN", key) for key in keys)))
        ok(4000 < facts["expires_ms"] <= 5000, f"{facts}")
        ok(0 < facts["expected_fpr"] < 0.01, f"{facts}")


if __name__ == "__main__":
    main(globals())
