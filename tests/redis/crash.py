"""crash.py - servers that die, connections that break, scripts that are forgotten: what was
answered stays, and what was not answered is said to be so.

Of every key that several processes add, at most one is told that it was new, whatever happens in
between. A key whose answer was lost on the way is "unsure" (in the filter, but who added it is not
known) or "unknown" (nothing is known); every other answer is true.
"""
import sys

sys.dont_write_bytecode = True

import itertools  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

from proxy import Cut, Proxy  # noqa: E402
from support import (NO, UNKNOWN, UNSURE, YES, Driver, eq, main, ok, plain, refused,  # noqa: E402
                     url, wait_for, wait_sync)

ALWAYS = ("appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0")
# So many bits that false positives may be left out of account: 1e-7 or less for all of a test.
ROOMY = {"n": 3 * 10 ** 6, "p": 0.0001, "kind": "split512"}


def check_truth(digits, keys, old=0):
    """Answers of several processes to adds of the same keys, the first `old` of which were there
    before: none was new to two, and one that nobody was told of was lost on somebody's way."""
    strange = 0
    for i in range(keys):
        mine = [text[i] for text in digits]
        ok(mine.count(YES) <= 1, f"key {i} was new to several")
        if i < old:
            ok(YES not in mine, f"key {i} was there already")
        elif YES not in mine and set(mine) == {NO}:
            strange += 1
    ok(strange <= 3, f"{strange} new keys were new to nobody, and nobody is unsure")


def check_there(server, name, digits, keys):
    """Whatever was answered is in the filter."""
    with Driver() as driver:
        driver.must("open", url(server, name))
        answer, found = driver.range("contains", "key:", 0, keys)
        eq(answer["status"], "BLY_OK", answer["why"])
        lost = [i for i in range(keys) if found[i] == NO
                and any(text[i] != UNKNOWN for text in digits)]
        ok(not lost, f"{len(lost)} answered adds are lost, the first: {lost[:5]}")


def count(digits, digit):
    return sum(text.count(digit) for text in digits)


# ---- the server dies ----------------------------------------------------------------------------

def killed(server, drivers, keys, delays, step):
    """All drivers add all keys while the server is killed and started; their answers, digits."""
    for driver in drivers:
        driver.say_range("add", "key:", 0, keys, step=step)
    for delay in delays:
        time.sleep(delay)
        server.kill()
        server.start()
    answers = [driver.hear() for driver in drivers]
    return answers, [driver.digits() for driver in drivers]


def test_killed_and_restarted():
    """With its log on disk before the answer, a server that is killed loses nothing; who adds waits
    for it and goes on."""
    keys, old = 250000, 2000
    with plain(*ALWAYS) as server:
        drivers = [Driver(), Driver()]
        for driver in drivers:
            driver.must("create", url(server, "k"), shards=3, retry_ms=60000, **ROOMY)
        eq(drivers[0].must("add", "key:", 0, old)["yes"], old)
        answers, digits = killed(server, drivers, keys, (0.2, 0.35, 0.3), 30000)
        for answer in answers:
            eq(answer["status"], "BLY_OK", answer["why"])
        check_truth(digits, keys, old)
        check_there(server, "k", digits, keys)
        unsure = count(digits, UNSURE)
        ok(0 < unsure < keys, f"{unsure} keys are unsure: no batch was lost, or all were")
        eq(count(digits, UNKNOWN), 0)
        eq(sum(a["tally"]["unsure"] for a in answers), unsure)
        print(f"  {keys} keys twice, 3 kills: {count(digits, YES)} new, {unsure} unsure")
        for driver in drivers:
            driver.close()


def test_killed_without_retry():
    """One who does not want to wait gets what had been answered, and the rest as unknown."""
    keys = 120000
    with plain(*ALWAYS) as server, Driver() as driver:
        for turn in range(2):
            name = f"k{turn}"
            driver.must("create", url(server, name), no_retry=1, **ROOMY)
            answers, digits = killed(server, [driver], keys, (0.2 + 0.1 * turn,), 0)
            refused(answers[0], "BLY_EIO")
            eq(answers[0]["tally"]["unknown"], count(digits, UNKNOWN))
            ok(0 < count(digits, UNKNOWN) < keys, f"{count(digits, UNKNOWN)} unknown of {keys}")
            check_truth(digits, keys)
            check_there(server, name, digits, keys)
            # The handle serves again, and what was unknown is found out.
            answer, again = driver.range("add", "key:", 0, keys)
            eq(answer["status"], "BLY_OK", answer["why"])
            for i in range(keys):
                if again[i] == YES:
                    eq(digits[0][i], UNKNOWN, f"key {i} was answered, and is new again")


def test_killed_and_forgotten():
    """A server without persistence comes back empty. That is an error, and no filter is made in
    its place."""
    keys = 200000
    with plain() as server, Driver() as driver, server.client() as c:
        driver.must("create", url(server, "k"), retry_ms=30000, **ROOMY)
        c.close()
        answers, digits = killed(server, [driver], keys, (0.2,), 0)
        refused(answers[0], "BLY_EMISSING")
        ok(UNKNOWN in digits[0], "all was answered")
        answer, digits = driver.range("contains", "key:", 0, 100)
        refused(answer, "BLY_EMISSING")
        eq(digits, UNKNOWN * 100)
        with server.client() as again:
            eq(again.must("DBSIZE"), 0)


# ---- the connection breaks ----------------------------------------------------------------------

def test_cut_in_the_middle():
    """The connection breaks after n bytes of the request, or of the answer; n from nothing to
    all of it. Each key is in the filter once, and unsure exactly if its command had arrived."""
    each, batch = 240, 40  # six commands a call
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        with Proxy(server.port) as proxy:
            driver.must("create", url(proxy, "k"), batch=batch, **ROOMY)
            other.must("open", url(server, "k"))
            driver.must("add", "warm:", 0, each)
            before = proxy.bytes()
            driver.must("add", "warm2:", 0, each)
            sent, got = (b - a for a, b in zip(before, proxy.bytes()))
            total, unsure = 2 * each, 0
            cuts = [("up", sent * i // 23) for i in range(23)] + [("up", sent - 1)]
            cuts += [("down", got * i // 17) for i in range(17)] + [("down", got - 1)]
            for turn, (direction, after) in enumerate(cuts):
                before = proxy.cuts
                proxy.arm(Cut(direction, after, quiet=turn % 2 == 0))
                answer, digits = driver.range("add", "key:", turn * each, (turn + 1) * each)
                what = f"cut {direction} after {after} of {sent if direction == 'up' else got}"
                eq(answer["status"], "BLY_OK", f"{what}: {answer['why']}")
                eq(proxy.cuts, before + 1, what)
                ok(set(digits) <= {YES, UNSURE}, f"{what}: {set(digits)}")
                eq(digits.count(UNSURE) % batch, 0, f"{what}: {digits.count(UNSURE)} unsure")
                if direction == "up":
                    # What had arrived was carried out; what had been answered besides is known.
                    ok(digits.count(UNSURE) <= each * after // sent, f"{what}: too many unsure")
                else:
                    ok(digits.count(UNSURE) >= each * (got - after) // got // batch * batch,
                       f"{what}: {digits.count(UNSURE)} unsure")
                unsure += digits.count(UNSURE)
                total += each
                eq(other.must("contains", "key:", 0, (turn + 1) * each)["yes"], total - 2 * each)
            eq(other.must("look")["count"], total, "each key once")
            ok(unsure > 0, "nothing was ever unsure")
            eq(int(c.info("server")["process_id"]), server.pid)
        print(f"  {len(cuts)} cuts, {unsure} of {total} unsure")


def test_cut_again_and_again():
    """Every connection lasts for so many bytes only. The work gets done piece by piece."""
    with plain() as server:
        for number, cut in enumerate((("down", 1500), ("up", 120000))):
            with Proxy(server.port) as proxy, Driver() as driver, Driver() as rival:
                name, keys = f"k{number}", 12000
                for one, at in ((driver, proxy), (rival, server)):
                    one.must("create", url(at, name), batch=256, retry_ms=60000, **ROOMY)
                # What was sent in vain is sent again: answers to the rest must have their time.
                proxy.plan = (Cut(*cut, quiet=i % 2 == 0, delay=0.05) for i in itertools.count())
                proxy.cut_all()
                for one in (driver, rival):
                    one.say_range("add", "key:", 0, keys)
                answers = [one.hear() for one in (driver, rival)]
                digits = [one.digits() for one in (driver, rival)]
                for answer in answers:
                    eq(answer["status"], "BLY_OK", answer["why"])
                check_truth(digits, keys)
                check_there(server, name, digits, keys)
                eq(set(digits[1]) - {YES, NO}, set(), "one whose connection held")
                ok(proxy.cuts > 5, f"{proxy.cuts} cuts")
                # Answers to questions are longer: 64 bytes a key.
                proxy.plan = (Cut("down", 40000) for _ in itertools.count())
                proxy.cut_all()
                answer, _ = driver.range("contains", "key:", 0, keys)
                eq((answer["status"], answer["yes"]), ("BLY_OK", keys), answer["why"])


def test_cut_without_retry():
    """The first break ends the call; what had been answered is."""
    with plain() as server, Proxy(server.port) as proxy, Driver() as driver:
        driver.must("create", url(proxy, "k"), no_retry=1, batch=100, **ROOMY)
        driver.must("add", "warm:", 0, 1000)
        proxy.arm(Cut("down", 420))
        answer, digits = driver.range("add", "key:", 0, 1000)
        refused(answer, "BLY_EIO")
        eq(set(digits), {YES, UNKNOWN})
        eq(digits.count(YES) % 100, 0)
        check_there(server, "k", [digits], 1000)
        for otherwise, digit in (("yes", YES), ("no", NO)):
            driver.must("contains", "key:", 0, 1)
            proxy.arm(Cut("down", 0))
            answer, digits = driver.range("contains", "key:", 0, 1000, otherwise=otherwise)
            refused(answer, "BLY_EIO")
            eq(digits, digit * 1000)
            eq(answer["tally"]["unknown"], 1000)
        eq(driver.must("contains", "warm:", 0, 1000)["yes"], 1000, "the next call connects anew")


# ---- disturbances beside the work ---------------------------------------------------------------

class Disturber(threading.Thread):
    """Sends a command over and over."""

    def __init__(self, server, command, pause):
        super().__init__(daemon=True)
        self.link, self.command, self.pause = server.client(), command, pause
        self.times, self.over, self.wrong = 0, False, None

    def run(self):
        try:
            while not self.over:
                self.link.must(*self.command)
                self.times += 1
                time.sleep(self.pause)
        except Exception as why:  # noqa: BLE001 - told to the main thread
            self.wrong = repr(why)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join(30)
        self.link.close()
        ok(self.wrong is None, self.wrong)


def disturbed(server, name, keys, command, pause, step):
    """Two processes add the same keys meanwhile; the digits of both, and how often it was done."""
    drivers = [Driver(), Driver()]
    for driver in drivers:
        driver.must("create", url(server, name), retry_ms=60000, **ROOMY)
    with Disturber(server, command, pause) as disturber:
        for driver in drivers:
            driver.say_range("add", "key:", 0, keys, step=step)
        answers = [driver.hear() for driver in drivers]
    digits = [driver.digits() for driver in drivers]
    for driver, answer in zip(drivers, answers):
        eq(answer["status"], "BLY_OK", answer["why"])
        driver.close()
    check_truth(digits, keys)
    check_there(server, name, digits, keys)
    return digits, disturber.times


def test_scripts_flushed():
    """A server that forgets the scripts has done nothing: no answer is in doubt."""
    with plain() as server:
        digits, times = disturbed(server, "k", 100000, ("SCRIPT", "FLUSH"), 0.001, 4000)
        eq(count(digits, UNSURE) + count(digits, UNKNOWN), 0)
        ok(times > 20, f"only {times} flushes")
        with server.client() as c:
            ok("errorstat_NOSCRIPT" in c.info("errorstats"), "no script was missed")


def test_clients_killed():
    """CLIENT KILL, over and over."""
    with plain() as server:
        digits, times = disturbed(server, "k", 100000,
                                  ("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"), 0.05, 4000)
        ok(times > 3, f"only {times} kills")
        print(f"  {times} kills, {count(digits, UNSURE)} of 200000 unsure")


def test_silent_server():
    """A server that says nothing: the call ends when its time is up, with an error; and when the
    server speaks again, so does the handle."""
    with plain() as server, Driver() as driver:
        for options, most in (({"no_retry": 1, "command_ms": 400}, 1.5),
                              ({"command_ms": 400, "retry_ms": 1000}, 3.0)):
            driver.must("create", url(server, "k"), **options, **ROOMY)
            driver.must("add", "key:", 0, 1000)
            os.kill(server.pid, signal.SIGSTOP)
            try:
                for command in ("contains", "add"):
                    begin = time.monotonic()
                    answer, digits = driver.range(command, "key:", 0, 20000)
                    took = time.monotonic() - begin
                    refused(answer, "BLY_EIO")
                    eq(digits, UNKNOWN * 20000)
                    ok(0.3 < took < most, f"{command} took {took:.2f} s")
            finally:
                os.kill(server.pid, signal.SIGCONT)
            eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)


def test_silent_network():
    """Bytes that do not arrive are no different, connecting included."""
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
    """The limit is on silence: a batch that takes longer, answer by answer, is done."""
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
        # Taken away while it is in use, a right or the password.
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
            c.must("ACL", "DELUSER", "bob")  # which ends his connections, too
            answer = bob("askkeys", "aa")
            refused(answer, "BLY_EREFUSED")
            eq(answer["answers"], "3")
        eq(driver.must("askkeys", "aa", "bb")["answers"], "10", "others are not concerned")


def test_out_of_memory():
    """noeviction, and the memory is used up: adds are refused, what is there is still found."""
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
        ok(driver.must("add", "new:", 0, 2000)["yes"] > 1950, "nothing had been done")


def test_replica():
    """A replica that may be asked answers questions. It takes no adds, and says why."""
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
    """Behind one address, the replica becomes the master and the master its replica: who still
    talks to the old one is told READONLY, and connects anew."""
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
            # Those that are there already need no write, which a replica would refuse; but no
            # replica of its own confirms them.
            ok(set(digits[:10000]) <= ({NO, UNSURE} if replicas else {NO}), "old keys")
            eq(digits[10000:], YES * 10000, "new keys")


def test_replicas_that_do_not_follow():
    """An add that waits for a replica is no answer until it is there: also one that changes
    nothing, since what it found may be lost yet."""
    with plain(name="master") as master, Driver() as one, Driver() as two:
        replica = plain(f"replicaof 127.0.0.1 {master.port}", name="replica")
        options = {"replicas": 1, "replicas_ms": 300, "retry_ms": 500, **ROOMY}
        with master.client() as c:
            c.must("SET", "other", "x")
            wait_for(lambda: c.must("WAIT", 1, 100) == 1, 30, "the replica")
        for driver in (one, two):
            driver.must("create", url(master, "k"), **options)
        eq(one.must("add", "key:", 0, 1000)["yes"], 1000)
        os.kill(replica.pid, signal.SIGSTOP)
        try:
            for driver in (one, two):
                answer, digits = driver.range("add", "new:", 0, 1000)
                refused(answer, "BLY_EIO", "replica")
                eq(digits, UNKNOWN * 1000)
            # Nothing has to be waited for where nothing is added.
            eq(one.must("contains", "key:", 0, 1000)["yes"], 1000)
        finally:
            os.kill(replica.pid, signal.SIGCONT)
        wait_for(lambda: two("add", "new:", 0, 1000)["status"] == "BLY_OK", 30, "the replica")


def test_busy_server():
    """Somebody's script does not end. A server that is busy has done nothing."""
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
    """A server with no room for another client is an error with its own words."""
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
    """A server that is still reading its data has done nothing: waited for, it answers, and no
    answer is in doubt; where there is no time to wait, that is the reason."""
    with plain() as server, Driver() as driver, Driver() as hasty:
        driver.must("create", url(server, "k"), retry_ms=30000, **ROOMY)
        hasty.must("open", url(server, "k"), retry_ms=300)
        driver.must("add", "key:", 0, 1000)
        with server.client() as c:
            for i in range(1000):
                c.must("SET", f"other{i}", "x" * 100)
        server.configure("key-load-delay 2000", "loading-process-events-interval-bytes 1024")
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
        answer, digits = driver.range("add", "new:", 0, 1000)
        eq(answer["status"], "BLY_OK", answer["why"])
        eq(digits, YES * 1000)
        server.wait_ready()
        eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)


if __name__ == "__main__":
    main(globals())
