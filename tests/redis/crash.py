"""crash.py - servers that die, connections that break, scripts that servers forget: answered adds
are never lost, and keys without an answer are reported.

If several processes add a key, at most one is told that it was new, whatever happens meanwhile. A
key whose answer was lost is "unsure" (it is in the filter, but it is not known whether it was new)
or "unknown" (nothing is known). Every other answer is true.
"""
import sys

sys.dont_write_bytecode = True

import collections  # noqa: E402
import itertools  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

from proxy import Cut, Proxy  # noqa: E402
from support import (NO, UNKNOWN, UNSURE, YES, Driver, eq, head, main, ok, plain,  # noqa: E402
                     refused, url, wait_for)

# The server writes each change to its log before it answers, so answered adds survive when it is
# killed. Waiting for the disk would matter only if the whole machine failed.
LOGGED = ("appendonly yes", "appendfsync no", "auto-aof-rewrite-percentage 0")
# A filter so large that false positives can be neglected: 1e-7 or less with all keys of a test.
ROOMY = {"n": 3 * 10 ** 6, "p": 0.0001, "kind": "split512"}


def check_truth(digits, keys, old=0):
    """Checks the answers of several processes to adds of the same keys, the first `old` of which were
    added before. No key is new in two answers. A new key that is new in no answer has an unsure or
    unknown one."""
    strange = 0
    for begin, end in ((0, old), (old, keys)):
        outcomes = collections.Counter(zip(*(text[begin:end] for text in digits)))
        for mine, times in outcomes.items():
            ok(mine.count(YES) <= 1, f"{times} keys were new to several: {mine}")
            ok(end > old or YES not in mine, f"{times} old keys were new: {mine}")
            strange += times if end > old and set(mine) == {NO} else 0
    ok(strange <= 3, f"{strange} new keys were new in no answer, and unsure in none")


def check_there(server, name, digits, keys):
    """Checks that all answered keys are in the filter."""
    with Driver() as driver:
        driver.must("open", url(server, name))
        answer, found = driver.range("contains", "key:", 0, keys)
        eq(answer["status"], "BLY_OK", answer["why"])
        outcomes = collections.Counter(zip(found, *digits))
        lost = sum(times for (here, *mine), times in outcomes.items()
                   if here == NO and set(mine) != {UNKNOWN})
        eq(lost, 0, "answered adds that are lost")


def count(digits, digit):
    return sum(text.count(digit) for text in digits)


# ---- the server dies ----------------------------------------------------------------------------

def killed(server, drivers, keys, name, marks, step):
    """All drivers add all keys. The server is killed and started whenever the count of the string
    exceeds one of `marks`. Returns the drivers' answers and digits."""
    for driver in drivers:
        driver.say_range("add", "key:", 0, keys, step=step)
    for mark in marks:
        with server.client() as c:
            wait_for(lambda c=c, mark=mark: head(c, name).count > mark, 60, "adds", 0.002)
        server.kill()
        server.start()
    answers = [driver.hear() for driver in drivers]
    return answers, [driver.digits() for driver in drivers]


def test_killed_and_restarted():
    """A server that writes its log before it answers loses nothing when it is killed. Clients wait
    for it and go on."""
    keys, old = 150000, 2000
    with plain(*LOGGED) as server:
        drivers = [Driver(), Driver()]
        for driver in drivers:
            driver.must("create", url(server, "k"), shards=3, retry_ms=60000, **ROOMY)
        eq(drivers[0].must("add", "key:", 0, old)["yes"], old)
        # The first of three shards gets a third of the keys.
        answers, digits = killed(server, drivers, keys, "k", (5000, 15000, 30000), 30000)
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
    """A client that does not wait gets the answers that had arrived; the other keys are unknown."""
    keys = 100000
    with plain(*LOGGED) as server, Driver() as driver:
        for turn in range(2):
            name = f"k{turn}"
            driver.must("create", url(server, name), no_retry=1, **ROOMY)
            # More than one round trip answers.
            answers, digits = killed(server, [driver], keys, name, (40000 + 20000 * turn,), 0)
            refused(answers[0], "BLY_EIO")
            eq(answers[0]["tally"]["unknown"], count(digits, UNKNOWN))
            ok(0 < count(digits, UNKNOWN) < keys, f"{count(digits, UNKNOWN)} unknown of {keys}")
            check_truth(digits, keys)
            check_there(server, name, digits, keys)
            # The handle works again, and the unknown keys get answers.
            answer, again = driver.range("add", "key:", 0, keys)
            eq(answer["status"], "BLY_OK", answer["why"])
            pairs = set(zip(digits[0], again))
            ok(not pairs & {(NO, YES), (YES, YES), (UNSURE, YES)},
               "answered keys are new again")


def test_killed_and_forgotten():
    """A server without persistence comes back empty. That is an error, and no new filter is created."""
    keys = 200000
    with plain() as server, Driver() as driver, server.client() as c:
        driver.must("create", url(server, "k"), retry_ms=30000, **ROOMY)
        c.close()
        answers, digits = killed(server, [driver], keys, "k", (20000,), 0)
        refused(answers[0], "BLY_EMISSING")
        ok(UNKNOWN in digits[0], "all was answered")
        answer, digits = driver.range("contains", "key:", 0, 100)
        refused(answer, "BLY_EMISSING")
        eq(digits, UNKNOWN * 100)
        with server.client() as again:
            eq(again.must("DBSIZE"), 0)


# ---- the connection breaks ----------------------------------------------------------------------

def test_cut_in_the_middle():
    """The connection breaks after n bytes of the request or of the reply, for n from 0 to all bytes.
    Each key is added once. It is unsure exactly if the server had received its command."""
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
                    # Commands that had arrived were executed. If the reply arrived too, the answer is known.
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
    """Every connection breaks after a number of bytes. The work is completed piece by piece."""
    with plain() as server:
        for number, cut in enumerate((("down", 1500), ("up", 120000))):
            with Proxy(server.port) as proxy, Driver() as driver, Driver() as rival:
                name, keys = f"k{number}", 12000
                for one, at in ((driver, proxy), (rival, server)):
                    one.must("create", url(at, name), batch=256, retry_ms=60000, **ROOMY)
                # Requests without a reply are repeated, so some replies must have time to arrive.
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
                eq(set(digits[1]) - {YES, NO}, set(), "answers over the connection that did not break")
                ok(proxy.cuts > 5, f"{proxy.cuts} cuts")
                # Replies to lookups are longer: 64 bytes per key.
                proxy.plan = (Cut("down", 40000) for _ in itertools.count())
                proxy.cut_all()
                answer, _ = driver.range("contains", "key:", 0, keys)
                eq((answer["status"], answer["yes"]), ("BLY_OK", keys), answer["why"])


def test_cut_without_retry():
    """The first break ends the call. Answers that had arrived are returned."""
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
        eq(driver.must("contains", "warm:", 0, 1000)["yes"], 1000, "the next call connects again")


# ---- disturbances -------------------------------------------------------------------------------

class Disturber(threading.Thread):
    """Sends a command repeatedly."""

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
        except Exception as why:  # noqa: BLE001 - reported to the main thread
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
    """Two processes add the same keys while the command is sent repeatedly. Returns the digits of
    both, and how often it was sent."""
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
    """A server that has forgotten the scripts does nothing, so no answer is unsure."""
    with plain() as server:
        digits, times = disturbed(server, "k", 60000, ("SCRIPT", "FLUSH"), 0.001, 4000)
        eq(count(digits, UNSURE) + count(digits, UNKNOWN), 0)
        ok(times > 20, f"only {times} flushes")
        with server.client() as c:
            ok("errorstat_NOSCRIPT" in c.info("errorstats"), "the server never lacked a script")


def test_clients_killed():
    """CLIENT KILL, repeatedly."""
    with plain() as server:
        digits, times = disturbed(server, "k", 60000,
                                  ("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"), 0.05, 4000)
        ok(times > 3, f"only {times} kills")
        print(f"  {times} kills, {count(digits, UNSURE)} of 120000 unsure")


if __name__ == "__main__":
    main(globals())
