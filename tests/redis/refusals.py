"""refusals.py - servers that do not reply, refuse, are busy or have no memory. The call ends with the
reason, keys without an answer are reported, and when the server works again, so does the handle.
"""
import sys

sys.dont_write_bytecode = True

import contextlib  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import time  # noqa: E402

from proxy import Proxy  # noqa: E402
from support import (NO, UNKNOWN, UNSURE, YES, Driver, eq, main, ok, plain, refused,  # noqa: E402
                     url, wait_for, wait_sync)

# A filter so large that false positives can be neglected: 1e-7 or less with all keys of a test.
ROOMY = {"n": 3 * 10 ** 6, "p": 0.0001, "kind": "split512"}


def test_silent_server():
    """If a server does not reply, the call ends with an error when its time is up. When the server
    replies again, the handle works again."""
    with plain() as server, contextlib.ExitStack() as stack:
        calls = []
        for options, most in (({"no_retry": 1, "command_ms": 400}, 1.5),
                              ({"command_ms": 400, "retry_ms": 1000}, 3.0)):
            for command in ("contains", "add"):
                driver = stack.enter_context(Driver())
                driver.must("create", url(server, "k"), **options, **ROOMY)
                calls.append((driver, command, most))
        for driver, _, _ in calls:
            driver.must("add", "key:", 0, 1000)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            for driver, command, _ in calls:
                driver.say_range(command, "key:", 0, 20000)
            for driver, command, most in calls:
                answer = driver.hear()
                refused(answer, "BLY_EIO")
                eq(driver.digits(), UNKNOWN * 20000)
                ok(0.3 < answer["seconds"] < most, f"{command} took {answer['seconds']:.2f} s")
        finally:
            os.kill(server.pid, signal.SIGCONT)
        for driver, _, _ in calls:
            eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)


def test_silent_network():
    """The same if the network delivers no bytes, also while connecting."""
    with plain() as server, Proxy(server.port) as proxy, Driver() as driver:
        driver.must("create", url(proxy, "k"), command_ms=300, connect_ms=300, retry_ms=900,
                    **ROOMY)
        driver.must("add", "key:", 0, 1000)
        proxy.stall()
        begin = time.monotonic()
        answer, digits = driver.range("add", "other:", 0, 1000)
        refused(answer, "BLY_EIO")
        eq(digits, UNKNOWN * 1000)
        ok(time.monotonic() - begin < 3, f"it took {time.monotonic() - begin:.1f} s")
        with Driver() as other:
            begin = time.monotonic()
            refused(other("open", url(proxy, "k"), command_ms=300, connect_ms=300, retry_ms=600),
                    "BLY_EIO")
            ok(time.monotonic() - begin < 3, f"it took {time.monotonic() - begin:.1f} s")
        proxy.flow()
        eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)


def test_slow_is_not_silent():
    """The limit is for silence: a batch may take longer if replies arrive meanwhile."""
    with plain() as server, Driver() as driver:
        driver.must("create", url(server, "k"), command_ms=250, no_retry=1, batch=256, **ROOMY)
        answer = driver.must("add", "key:", 0, 400000)
        ok(answer["seconds"] > 0.5, f"too fast to show anything: {answer['seconds']} s")


# ---- refusals -----------------------------------------------------------------------------------

def test_passwords_and_permissions():
    with plain("requirepass secret") as server, Driver() as driver, server.client() as c:
        c.must("AUTH", "secret")
        options = {"n": 1000, "p": 0.01, "retry_ms": 300}
        refused(driver("create", url(server, "k"), **options), "BLY_EREFUSED")
        refused(driver("create", url(server, "k", ":wrong@"), **options), "BLY_EREFUSED")
        eq(c.must("DBSIZE"), 0)
        driver.must("create", url(server, "k", ":secret@"), **options)
        driver.must("addkeys", "aa")
        c.must("ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all", "-@scripting")
        with Driver() as ann:
            answer = ann("create", url(server, "k2", "ann:pw@"), **options)
            refused(answer, "BLY_EREFUSED", "NOPERM")
        # A permission or the password is revoked while the filter is in use.
        c.must("ACL", "SETUSER", "bob", "on", ">pw", "~k", "+@all")
        with Driver() as bob:
            bob.must("open", url(server, "k", "bob:pw@"), **options)
            eq(bob.must("askkeys", "aa", "bb")["answers"], "10")
            for change in (("-evalsha", "-eval"), ("+@all", "resetkeys")):
                c.must("ACL", "SETUSER", "bob", *change)
                for command in ("askkeys", "addkeys"):
                    answer = bob(command, "aa", "bb")
                    refused(answer, "BLY_EREFUSED", "NOPERM")
                    eq(answer["answers"], "33")
            c.must("ACL", "DELUSER", "bob")  # also closes bob's connections
            answer = bob("askkeys", "aa")
            refused(answer, "BLY_EREFUSED")
            eq(answer["answers"], "3")
        eq(driver.must("askkeys", "aa", "bb")["answers"], "10", "other users can still use the filter")


def test_out_of_memory():
    """With noeviction and no free memory, adds are refused, and keys in the filter are still found."""
    with plain("maxmemory-policy noeviction") as server, Driver() as driver, server.client() as c:
        driver.must("create", url(server, "k"), n=100000, p=0.01)
        driver.must("add", "key:", 0, 2000)
        c.must("CONFIG", "SET", "maxmemory", "1")
        answer, digits = driver.range("add", "new:", 0, 2000)
        refused(answer, "BLY_EREFUSED", "OOM")
        eq(digits, UNKNOWN * 2000)
        eq(driver.must("contains", "key:", 0, 2000)["yes"], 2000)
        with Driver() as other:
            refused(other("create", url(server, "k2"), n=100000, p=0.01), "BLY_EREFUSED", "OOM")
        c.must("CONFIG", "SET", "maxmemory", "0")
        ok(driver.must("add", "new:", 0, 2000)["yes"] > 1950, "the refused adds were executed")


def test_replica():
    """With allow_replica a replica answers lookups. It refuses adds, with a reason."""
    with plain(name="master") as master, Driver() as driver, Driver() as reader:
        with plain(f"replicaof 127.0.0.1 {master.port}", name="replica") as replica:
            driver.must("create", url(master, "k"), n=100000, p=0.01, replicas=1,
                        replicas_ms=5000)
            driver.must("add", "key:", 0, 2000)
            reader.must("open", url(replica, "k"), retry_ms=400, allow_replica=1)
            eq(reader.must("contains", "key:", 0, 2000)["yes"], 2000)
            answer, digits = reader.range("add", "new:", 0, 2000)
            ok(answer["status"] in ("BLY_EREFUSED", "BLY_EIO"), f"{answer}")
            ok("READONLY" in answer["why"] or "replica" in answer["why"], answer["why"])
            eq(digits, UNKNOWN * 2000)
            eq(driver.must("look")["count"], head_count(master, "k"))


def head_count(server, key):
    with server.client() as c:
        return int.from_bytes(c.must("GETRANGE", key, 96, 103), "little")


def test_address_that_changes_hands():
    """Behind one address, the replica becomes the master and the master its replica: a client that
    is still connected to the old one gets READONLY, and reconnects."""
    for replicas in (0, 1):
        with plain(name="a") as a, plain(f"replicaof 127.0.0.1 {a.port}", name="b") as b, \
                Proxy(a.port) as proxy, Driver() as driver:
            driver.must("create", url(proxy, "k"), replicas=replicas, replicas_ms=5000, **ROOMY)
            eq(driver.must("add", "key:", 0, 10000)["yes"], 10000)
            wait_sync(a, b)
            with a.client() as old, b.client() as new:
                new.must("REPLICAOF", "NO", "ONE")
                proxy.target = b.port
                old.must("REPLICAOF", "127.0.0.1", b.port)
                wait_for(lambda new=new: new.must("ROLE")[2], 30, "the old master to follow")
            answer, digits = driver.range("add", "key:", 0, 20000)
            eq(answer["status"], "BLY_OK", answer["why"])
            # Keys that are in the filter need no write, which a replica would refuse. But no replica
            # of that replica confirms them.
            ok(set(digits[:10000]) <= ({NO, UNSURE} if replicas else {NO}), "old keys")
            eq(digits[10000:], YES * 10000, "new keys")


def test_replicas_that_do_not_follow():
    """An add that waits for a replica has no answer until the replica confirms it. So has an add that
    changes nothing, because the keys that it found may still be lost."""
    with plain(name="master") as master, Driver() as patient, Driver() as one, Driver() as two:
        replica = plain(f"replicaof 127.0.0.1 {master.port}", name="replica")
        with master.client() as c:
            c.must("SET", "other", "x")
            wait_for(lambda: c.must("WAIT", 1, 100) == 1, 30, "the replica")
        patient.must("create", url(master, "k"), replicas=1, replicas_ms=60000, **ROOMY)
        eq(patient.must("add", "key:", 0, 1000)["yes"], 1000)
        for driver in (one, two):
            driver.must("open", url(master, "k"), replicas=1, replicas_ms=300, retry_ms=500)
        os.kill(replica.pid, signal.SIGSTOP)
        try:
            for driver in (one, two):
                answer, digits = driver.range("add", "new:", 0, 1000)
                refused(answer, "BLY_EIO", "replica")
                eq(digits, UNKNOWN * 1000)
            # Lookups do not wait for replicas.
            eq(one.must("contains", "key:", 0, 1000)["yes"], 1000)
        finally:
            os.kill(replica.pid, signal.SIGCONT)
        wait_for(lambda: two("add", "new:", 0, 1000)["status"] == "BLY_OK", 30, "the replica")


def test_busy_server():
    """Another client's script does not end. A busy server executes nothing."""
    with plain("lua-time-limit 50") as server, Driver() as driver, server.client() as c, \
            server.client() as endless:
        driver.must("create", url(server, "k"), retry_ms=20000, **ROOMY)
        driver.must("add", "key:", 0, 1000)
        endless.send("EVAL", "while true do end", 0)
        wait_for(lambda: getattr(c("PING"), "code", "") == "BUSY", 10, "the server to be busy")
        driver.say_range("add", "new:", 0, 1000)
        time.sleep(0.4)
        c.must("SCRIPT", "KILL")
        answer = driver.hear()
        eq(answer["status"], "BLY_OK", answer["why"])
        eq(driver.digits(), YES * 1000)


def test_too_many_clients():
    """If a server accepts no more clients, its message is the reason."""
    with plain("maxclients 3") as server, Driver() as driver:
        links = [server.client() for _ in range(3)]
        for link in links:
            link.must("PING")
        answer = driver("create", url(server, "k"), n=1000, p=0.01, retry_ms=300)
        ok(answer["status"] in ("BLY_EIO", "BLY_EREFUSED"), f"{answer}")
        ok("max number of clients" in answer["why"], answer["why"])
        links.pop().close()
        wait_for(lambda: driver("create", url(server, "k"), n=1000, p=0.01,
                                retry_ms=300)["status"] == "BLY_OK", 10, "room")
        for link in links:
            link.close()


def test_loading_server():
    """A server that is loading its data executes nothing. A client that waits gets its answers, none
    of them unsure. For one that has no time to wait, that is the reason."""
    with plain() as server, Driver() as driver, Driver() as hasty:
        driver.must("create", url(server, "k"), retry_ms=30000, **ROOMY)
        hasty.must("open", url(server, "k"), retry_ms=300)
        driver.must("add", "key:", 0, 1000)
        with server.client() as c:
            c.pipeline(("SET", f"other{i}", "x" * 100) for i in range(4000))
        # Loading would take twenty seconds; the test shortens it below.
        server.configure("key-load-delay 5000", "loading-process-events-interval-bytes 1024")
        server.stop(save=True)
        server.start(wait=False)

        def loading():
            try:
                with server.client() as c:
                    return getattr(c("PING"), "code", "") == "LOADING"
            except OSError:
                return False
        wait_for(loading, 30, "the server to load", 0.005)
        refused(hasty("contains", "key:", 0, 1000), "BLY_EIO", "loading")
        with server.client() as c:
            before = c.info("errorstats")["errorstat_LOADING"]
            driver.say_range("add", "new:", 0, 1000)
            wait_for(lambda: c.info("errorstats")["errorstat_LOADING"] != before, 30, "a refusal")
            c.must("CONFIG", "SET", "key-load-delay", 0)
        answer = driver.hear()
        eq(answer["status"], "BLY_OK", answer["why"])
        eq(driver.digits(), YES * 1000)
        server.wait_ready()
        eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)


if __name__ == "__main__":
    main(globals())
