"""dedup_failures.py - `bloomery dedup --redis` with servers that die, come back or lose replies, and
with runs that are interrupted."""
import json
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True

from clocks import Clock  # noqa: E402
from dedup_support import PROGRAM, SURE, Run, dedup, joined, lines, once  # noqa: E402
from proxy import Cut, Proxy  # noqa: E402
from support import eq, head, main, ok, plain, url, wait_for, wait_sync  # noqa: E402

BATCH = 4096
KEPT = ("appendonly yes", "appendfsync no")  # answered adds survive when the server is killed
DOUBT = re.compile(r"(\d[\d,]*) of the lines (\d+) to (\d+) of standard input got no answer")


def test_stop_and_go_on():
    """The server dies. The message says which lines were printed and where to go on; no line is lost."""
    items = lines(30000)
    with plain(*KEPT) as server, Clock() as clock:
        at = ("--redis", url(server, "seen"), "-n", "100000", *SURE)
        run = Run(*at, data=joined(items[:25000]), piece=1 << 14, pause=0.01, more=True,
                  **clock.environment)
        run.wait_lines(10000)
        server.kill()
        with clock.racing():
            run.say_last(joined(items[25000:]))
            first, said = run.end(2)
        doubt = DOUBT.search(said)
        ok(doubt and said.count("\n") == 1, said)
        begin, end = int(doubt.group(2)), int(doubt.group(3))
        eq(first, items[:begin - 1], "exactly the answered lines are printed")
        eq(int(doubt.group(1).replace(",", "")), end - begin + 1, said)
        ok(begin <= end < begin + BATCH, said)
        ok(f"run dedup again from line {end + 1}" in said and "--on-error print" in said, said)
        server.start()
        rest, _ = dedup(server, "seen", data=joined(items[end:]))
        once(set(items), first, items[begin - 1:end], rest)


def restart_meanwhile(server, policy, count, *args):
    """Runs dedup on a server that is killed and comes back. Returns the input lines, the printed
    lines, the warnings and the report."""
    items = lines(count)
    run = Run("--redis", url(server, "seen"), "-n", str(count), *SURE, "--on-error", policy,
              "--json", *args, data=joined(items), piece=1 << 14, pause=0.01)
    for share in (0.2, 0.6):
        run.wait_lines(share * count)
        server.restart(kill=True)
    printed, said = run.end()
    return (items, printed, *told(said))


def told(said):
    """Returns the warnings and the report."""
    warnings = [line for line in said.splitlines() if not line.startswith("{")]
    report, = (line for line in said.splitlines() if line.startswith("{"))
    return warnings, json.loads(report)


def check_doubts(report, printed, policy):
    eq(report["unique"] + report["repeated"] + report["unsure"] + report["unknown"],
       report["lines"])
    doubtful = report["unsure"] + report["unknown"]
    eq(len(printed), report["unique"] + (doubtful if policy == "print" else 0))
    return doubtful


def test_print():
    """With --on-error print no line is lost. Lines that may be printed twice are counted."""
    with plain(*KEPT) as server:
        items, printed, warnings, report = restart_meanwhile(server, "print", 30000)
        eq(set(printed), set(items), "lines are lost")
        doubtful = check_doubts(report, printed, "print")
        ok(doubtful == 0 or any("printed, although some may be repeats" in w for w in warnings),
           f"{doubtful} lines in doubt: {warnings}")
        eq(dedup(server, "seen", data=joined(items))[0], [], "everything has been seen")


def test_drop():
    """With --on-error drop no line is printed twice. Lines that may be lost are counted."""
    with plain(*KEPT) as server:
        items, printed, warnings, report = restart_meanwhile(server, "drop", 30000)
        doubtful = check_doubts(report, printed, "drop")
        eq(len(set(printed)), len(printed), "lines that were printed once")
        ok(len(items) - len(printed) <= doubtful, "more lines are lost than are in doubt")


def test_away():
    """The server does not come back: every further line is counted as unknown."""
    with plain() as server, Clock() as clock:
        runs = []
        for number, policy in enumerate(("print", "drop")):
            runs.append(Run("--redis", url(server, "seen"), "-n", "1000", "--json", "--on-error",
                            policy, **clock.environment))
            runs[-1].say(b"a%d\n" % number)
            runs[-1].wait_lines(0)
        server.kill()
        for run in runs:
            run.say(b"b\na1\nb\n")
        with clock.racing():
            runs[0].wait_lines(3)
            ends = [run.end() for run in runs]
        for run, (printed, said), wanted in zip(runs, ends, ([b"b", b"a1", b"b"], [])):
            warnings, report = told(said)
            eq(printed[1:], wanted)
            eq((report["unique"], report["unsure"], report["unknown"]), (1, 0, 3))
            eq(len(warnings), 2, said)  # one immediately, one at the end
            eq(report["keys"], 2 if run is runs[0] else 3)


def test_away_for_a_while():
    """The run waits for the server once. Then lines pass without waiting until the server is back."""
    with plain(*KEPT) as server, Clock() as clock:
        run = Run("--redis", url(server, "seen"), "-n", "200000", "--json", "--on-error", "print",
                  *SURE, **clock.environment)
        run.say(b"first\n")
        run.wait_lines(0)
        server.kill()
        items = lines(100000, "away")
        run.say(items[0] + b"\n")
        with clock.racing():
            run.wait_lines(1)
        run.say(joined(items[1:]))
        run.wait_lines(len(items))  # this would take minutes if each batch waited for the server
        server.start()
        count = 0

        def noticed():
            nonlocal count
            clock.forward(1)  # the run has answered all lines, and waits for the next
            run.say(b"back %d\n" % count)
            count += 1
            run.wait_lines(len(items) + count)
            return head(c, "seen").count > 2
        with server.client() as c:
            wait_for(noticed, 60, "the run to notice that the server is back", 0.02)
        printed, said = run.end()
        _, report = told(said)
        eq(printed[0], b"first")
        eq(set(printed[1:100001]), set(items))
        ok(100000 < report["unknown"] < 100000 + count and report["unsure"] == 0, said)


def test_no_room_for_the_output():
    """The message names the lines that could not be printed."""
    with plain() as server:
        done = subprocess.run([PROGRAM, "dedup", "--redis", url(server, "seen"), "-n", "1000"],
                              input=joined(lines(10)), stdout=open("/dev/full", "wb"),
                              stderr=subprocess.PIPE, timeout=60, check=False)
        eq(done.returncode, 2)
        ok(b"lines 1 to 10 of" in done.stderr, done.stderr.decode())


def cut_answers(policy, status=0, *args):
    """Runs dedup and cuts off one reply: the server has added the lines, but the run does not know."""
    items = lines(30000)
    with plain() as server, Proxy(server.port) as proxy:
        dedup(server, "seen", "-n", "30000", *SURE)
        run = Run("--redis", url(proxy, "seen"), "--on-error", policy, "--json", *args)
        run.say(joined(items[:10000]))
        run.wait_lines(9999)
        proxy.arm(Cut("down", 5))
        try:
            run.say(joined(items[10000:]))
        except BrokenPipeError:
            pass
        printed, said = run.end(status)
        ok(proxy.cuts == 1 and proxy.connections > 1, "the connection was not cut, or not renewed")
        return items, printed, said


def test_lost_answer_print():
    items, printed, said = cut_answers("print")
    warnings, report = told(said)
    eq(set(printed), set(items), "lines are lost")
    ok(0 < report["unsure"] <= BATCH and report["unknown"] == 0, said)
    ok(len(warnings) == 2 and "before the answer arrived" in warnings[0], said)
    check_doubts(report, printed, "print")


def test_lost_answer_drop():
    items, printed, said = cut_answers("drop")
    _, report = told(said)
    eq(len(items) - len(set(printed)), report["unsure"], "exactly the unsure lines are lost")
    check_doubts(report, printed, "drop")


def test_lost_answer_stop():
    items, printed, said = cut_answers("stop", 2)
    doubt = DOUBT.search(said)
    ok(doubt and "before the answer arrived" in said, said)
    begin, end = int(doubt.group(2)), int(doubt.group(3))
    eq(int(doubt.group(1).replace(",", "")), end - begin + 1, said)
    eq(printed[:begin - 1], items[:begin - 1], "all lines before the doubtful ones")
    ok(set(printed[begin - 1:]) <= set(items[end:end + BATCH]), "lines after them, at most one batch")


def test_vanished():
    """A missing filter ends the run; the policy decides about the lines that were sent."""
    for policy, wanted in (("stop", []), ("print", [b"b", b"a"]), ("drop", [])):
        with plain() as server, server.client() as c:
            run = Run("--redis", url(server, "seen"), "-n", "100", "--on-error", policy)
            run.say(b"a\n")
            run.wait_lines(0)
            c.must("DEL", "seen")
            run.say(b"b\na\n")
            run.process.wait(30)
            printed, said = run.end(2)
            eq(printed[1:], wanted)
            ok(said.count("\n") == 1 and "seen: " in said, said)


def test_interrupt():
    """A signal ends a run after the current batch: all lines in the filter were printed."""
    items = lines(30000)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with plain() as server:
            run = Run("--redis", url(server, "seen"), "-n", "30000", *SURE,
                      data=joined(items[:25000]), piece=1 << 14, pause=0.01, more=True)
            run.wait_lines(5000)
            run.process.send_signal(number)
            first, _ = run.end(-number)
            rest, _ = dedup(server, "seen", data=joined(items))
            once(set(items), first, rest)


def test_kill():
    """A run that is killed at any moment loses at most the new lines of one batch."""
    items = lines(20000)
    for turn in range(5):
        with plain() as server:
            run = Run("--redis", url(server, "seen"), "-n", "20000", *SURE, data=joined(items),
                      piece=1 << 14, pause=0.003, more=True)
            run.wait_lines(2500 * turn)
            run.process.kill()
            first, _ = run.end(-signal.SIGKILL)
            rest, _ = dedup(server, "seen", data=joined(items))
            both = first + rest
            eq(len(set(both)), len(both), "lines that were printed once")
            ok(len(items) - len(both) <= BATCH, f"{len(items) - len(both)} lines are lost")


def test_replicas():
    master = plain()
    wait_sync(master, plain(f"replicaof 127.0.0.1 {master.port}"))
    args = ("-n", "1000", "--on-error")
    eq(dedup(master, "seen", *args, "stop", "--replicas", "1", data=b"a\nb\na\n")[0], [b"a", b"b"])
    with plain() as alone:
        _, said = dedup(alone, "seen", *args, "stop", "--replicas", "1", data=b"a\n", status=2)
        ok("replica" in said, said)


if __name__ == "__main__":
    main(globals())
