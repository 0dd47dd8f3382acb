"""dedup.py - `bloomery dedup --redis`: machines that share one filter, on servers that die, come
back and lose answers.

BLOOMERY_PROGRAM names the program (build/dev/bin/bloomery of this repository).
"""
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True

from plans import losses  # noqa: E402
from proxy import Cut, Proxy  # noqa: E402
from support import ROOT, Cluster, eq, head, main, ok, plain, shard_key, url, wait_for  # noqa: E402
from servers import _die_with_parent, wait_sync  # noqa: E402

PROGRAM = os.environ.get("BLOOMERY_PROGRAM", os.path.join(ROOT, "build/dev/bin/bloomery"))
BATCH = 4096
SURE = ("-p", "1e-9")  # of the few lines here none is lost by chance
KEPT = ("appendonly yes", "appendfsync always")  # what is answered outlives the server


def lines(count, prefix="https://example.org/page/"):
    return [f"{prefix}{i}".encode() for i in range(count)]


def joined(items):
    return b"".join(item + b"\n" for item in items)


class Run:
    """A process whose output is read all the time. `data` is written to it by a thread, in pieces
    of `piece` bytes, a moment between them; None: the test writes itself."""

    def __init__(self, *args, data=None, piece=1 << 16, pause=0.0, **environment):
        self.process = subprocess.Popen([PROGRAM, "dedup", *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=_die_with_parent,
                                        env={**os.environ, **environment})
        self.out, self.err = bytearray(), bytearray()
        self.threads = [threading.Thread(target=self._read, args=("stdout", self.out)),
                        threading.Thread(target=self._read, args=("stderr", self.err))]
        if data is not None:
            self.threads.append(threading.Thread(target=self._write, args=(data, piece, pause)))
        for thread in self.threads:
            thread.daemon = True
            thread.start()

    def _read(self, name, to):
        stream = getattr(self.process, name)
        while data := stream.read1(1 << 16):
            to += data

    def _write(self, data, piece, pause):
        try:
            for at in range(0, len(data), piece):
                self.say(data[at:at + piece])
                time.sleep(pause)
            self.process.stdin.close()
        except OSError:
            pass  # it has ended, and says why

    def say(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def printed(self):
        """The whole lines so far."""
        return bytes(self.out).split(b"\n")[:-1]

    def wait(self, condition, what, timeout=30):
        """Until it holds; not when the process has ended."""
        def come():
            ok(condition() or self.process.poll() is None, f"it ended: {self.err.decode()}")
            return condition()
        wait_for(come, timeout, what)

    def wait_lines(self, count):
        self.wait(lambda: len(self.printed()) > count, f"{count} lines")

    def end(self, status=0, timeout=120):
        """The lines it printed, and what it said."""
        if not self.process.stdin.closed and len(self.threads) == 2:
            self.process.stdin.close()
        self.process.wait(timeout)
        for thread in self.threads:
            thread.join(timeout)
        said = self.err.decode()
        if status is not None:
            eq(self.process.returncode, status, said)
        return self.printed(), said


def dedup(server, key, *args, data=b"", status=0, login="", **environment):
    return Run("--redis", url(server, key, login), *args, data=data, **environment).end(status)


def refused(words, *args, data=b"a\n", **environment):
    printed, said = Run(*args, data=data, **environment).end(2)
    ok(not printed and words in said and said.count("\n") == 1, f"wanted '{words}', got {said}")


def once(wanted, *outputs):
    """Every line was printed, by all of them together exactly once."""
    count = collections.Counter(line for output in outputs for line in output)
    twice = [line for line, n in count.items() if n > 1]
    ok(not twice, f"{len(twice)} lines were printed twice: {twice[:3]}")
    eq(len(wanted - count.keys()), 0, "lines that nobody printed")
    eq(len(count.keys() - wanted), 0, "lines that nobody brought")


# ---- many machines ------------------------------------------------------------------------------

def test_two_machines():
    """Each line by one of them at most; as many by none as the filter's rate has it."""
    for rate, count in (("0.01", 200000), ("0.001", 200000)):
        with plain() as server:
            items = lines(count)
            at = ("--redis", url(server, "seen"), "-n", str(count), "-p", rate)
            runs = [Run(*at, data=joined(items)), Run(*at, data=joined(reversed(items)))]
            shares = [run.end()[0] for run in runs]
            together = collections.Counter(shares[0] + shares[1])
            ok(max(together.values()) == 1, "a line was printed twice")
            ok(min(map(len, shares)) > count // 20, f"no contest: {[len(s) for s in shares]}")
            eq(len(together.keys() - set(items)), 0, "lines that nobody brought")
            with server.client() as c:
                shape = head(c, "seen")
            low, high = losses(shape.kind, shape.k, shape.blocks, count)
            lost = count - len(together)
            ok(low <= lost <= high, f"{lost} lines lost; planned: {low:.1f} .. {high:.1f}")
            eq(shape.count, len(together) + 1, "keys that were counted, with the mark")
            printed, _ = dedup(server, "seen", data=joined(items))
            eq(printed, [], "everything has been seen")


def test_all_start_at_once():
    """Whoever makes the filter, they end up with the same one, in however many pieces."""
    items = lines(20000)
    for shards in ("1", "5"):
        with plain() as server:
            runs = []
            for i in range(8):
                own = items[:]
                random.Random(i).shuffle(own)
                runs.append(Run("--redis", url(server, "seen"), "-n", "20000", *SURE, "--shards",
                                shards, data=joined(own)))
            once(set(items), *(run.end()[0] for run in runs))
            with server.client() as c:
                eq(len(c.must("KEYS", "*")), int(shards), "keys on the server")


def test_cluster():
    items = lines(30000)
    cluster = Cluster(module=False)
    at = [("--redis", url(node, "seen"), "-n", "30000", *SURE, "--shards", "6", "--json")
          for node in cluster.masters[:2]]
    runs = [Run(*at[0], data=joined(items)), Run(*at[1], data=joined(reversed(items)))]
    ends = [run.end() for run in runs]
    once(set(items), *(printed for printed, _ in ends))
    for _, said in ends:
        report = json.loads(said)
        eq((report["shards"], report["servers"], report["unsure"], report["unknown"]), (6, 3, 0, 0))


def test_in_order():
    """As without a server, whatever of a line is compared."""
    chance = random.Random(7)
    pages = [f"HTTP://Host{chance.randrange(40)}.test:80/a/../b?y={chance.randrange(9)}&utm_source="
             f"{chance.randrange(50)}&x=1#p" for _ in range(9000)]
    fields = [f"{chance.random()}\t{chance.choice('aAbB')}{chance.randrange(900)}\tz"
              for _ in range(9000)]
    texts = [f"<a href=\"{p.replace('&', '&amp;')}\">x</a> and {p}." for p in pages]
    with plain() as server:
        for number, (data, options) in enumerate((
                (pages, ()), (pages, ("--url",)), (pages, ("--url=crawl",)),
                (pages, ("--url=crawl", "--print-canonical")), (fields, ("--field", "2")),
                (fields, ("--field", "2", "-i")), (fields, ("-d", "--field", "2")),
                (texts, ("-x", "--url=crawl")), (texts, ("-x",)))):
            text = "".join(line + "\n" for line in data).encode()
            wanted, _ = Run(*options, "--exact", data=text).end()
            got, said = dedup(server, f"k{number}", "-n", "30000", *SURE, *options, data=text)
            ok(got == wanted and not said,
               f"{options}: {len(got)} lines, not {len(wanted)}; {said}")
            ok(len(wanted) != len(data), "there are repeats")
        process = Run("--redis", url(server, "nul"), "-n", "9", "-0", data=b"x\ny\0z\0x\ny\0")
        process.end()
        eq(bytes(process.out), b"x\ny\0z\0")


def test_stream():
    """A line is answered when it comes, not when there are many."""
    with plain() as server:
        with server.client() as c:
            run = Run("--redis", url(server, "seen"), "-n", "1000")
            run.wait(lambda: c.must("EXISTS", "seen"), "the filter, before a line has come")
            for i in range(20):
                run.say(b"a%d\na0\n" % i)
                run.wait(lambda: len(run.printed()) == i + 1, f"line {i}", 5)
            other, _ = dedup(server, "seen", data=b"a3\nb\na19\n")
            eq(other, [b"b"])
            eq(len(run.end()[0]), 20)


# ---- joining ------------------------------------------------------------------------------------

def test_joining():
    with plain() as server:
        at = ("--redis", url(server, "seen"))
        refused("-n N makes one", *at)
        dedup(server, "seen", "-n", "5000", "-p", "1%", "--seed", "7", "--shards", "2", data=b"a\n")
        eq(dedup(server, "seen", data=b"a\nb\n")[0], [b"b"])
        same = ("-n", "5000", "-p", "0.01", "--seed", "7", "--shards", "2")
        eq(dedup(server, "seen", *same, data=b"b\nc\n")[0], [b"c"])
        refused("was made for 5,000 keys, not 6,000; leave out -n", *at, "-n", "6000")
        refused("was made for a rate of 0.01, not 0.001; leave out -p", *at, "-p", "0.001")
        refused("has another seed; leave out --seed", *at, "--seed", "8")
        refused("has 2 shards, not 3; leave out --shards", *at, "--shards", "3")
        with server.client() as c:
            eq(head(c, "seen").seed, 7)
            # Whoever comes later does not change when it vanishes.
            dedup(server, "brief", "-n", "100", "--expire", "1h", data=b"a\n")
            dedup(server, "brief", "-n", "100", "--expire", "9d", data=b"b\n")
            ok(3500 < c.must("TTL", "brief") <= 3600, "an hour to live")
            # Nobody can foresee which lines look alike.
            dedup(server, "other", "-n", "100", data=b"a\n")
            ok(head(c, "other").seed != head(c, "brief").seed, "the seeds are random")


def test_unfinished():
    """A machine that died while it made the filter has left nothing that others cannot finish."""
    with plain() as server, server.client() as c:
        at = ("-n", "1000", "--shards", "3")
        dedup(server, "seen", *at)
        second = shard_key("seen", 1, 3)
        c.must("SETRANGE", "seen", 104, b"\0")
        c.must("DEL", second)
        refused("still being made", "--redis", url(server, "seen"))
        eq(dedup(server, "seen", *at, data=b"a\n")[0], [b"a"])
        eq((head(c, "seen").state, c.must("EXISTS", second)), (1, 1))
        eq(dedup(server, "seen", data=b"a\nb\n")[0], [b"b"])
        # What is missing when it was whole has taken lines with it.
        c.must("DEL", second)
        refused(f"{second}, one of the 3 strings", "--redis", url(server, "seen"), *at)
        eq(c.must("EXISTS", second), 0)


def test_rule():
    with plain() as server:
        dedup(server, "seen", "-n", "100", "--url", data=b"http://a.test\n")
        eq(dedup(server, "seen", "--url", data=b"http://A.test/\n"), ([], ""))
        refused("was made with --url", "--redis", url(server, "seen"))
        refused("was made with --url", "--redis", url(server, "seen"), "--url", "-i")
        # Of rules that have no code of their own a key tells them apart.
        dedup(server, "first", "-n", "100", "--field", "1", data=b"a\tb\n")
        printed, said = dedup(server, "first", "--field", "2", data=b"a\tb\n")
        eq(printed, [b"a\tb"])
        ok("warning" in said and "was not made with these options" in said, said)


def test_carriage_returns():
    """They are no part of a key, but printed. In a filter that does not record that, they are."""
    with plain() as server:
        eq(dedup(server, "seen", "-n", "100", data=b"a\r\nb\n")[0], [b"a\r", b"b"])
        eq(dedup(server, "seen", data=b"a\nb\r\nc\r\n")[0], [b"c\r"])
        subprocess.run([PROGRAM, "pull", "-q", url(server, "seen"), server.path("seen.bly")], check=True)
        subprocess.run([sys.executable, os.path.join(ROOT, "tests/cli/unrecord.py"),
                        server.path("seen.bly")], check=True)
        subprocess.run([PROGRAM, "push", "-q", server.path("seen.bly"), url(server, "old")], check=True)
        eq(dedup(server, "old", data=b"a\nb\n"), ([], ""))
        printed, said = dedup(server, "old", data=b"a\r\nb\r\n")
        eq(printed, [b"a\r", b"b\r"])
        ok(said.count("warning") == 1 and "ends in a carriage return" in said, said)
        eq(dedup(server, "old", "-0", data=b"c\r\0")[1], "")


def test_conflicts():
    at = ("--redis", "redis://127.0.0.1:1/seen")
    for words, *options in (
            ("give one", "--exact"), ("give one", "--confirm", "f"),
            ("leave out --state", "--state", "f"), ("leave out --window", "--window", "10"),
            ("leave out --memory", "--memory", "64M"), ("leave one out", "--count"),
            ("use > FILE instead of -o", "-o", "f"), ("give both or none", "--expire", "1h"),
            ("at most 4096", "--shards", "4097"), ("at most 1000", "--replicas", "1e6"),
            ("one of stop, print, drop", "--on-error", "ignore")):
        refused(words, *at, *options)
        ok(not os.path.exists("f"), "a file was made")
    for option, value in (("--shards", "2"), ("--expire", "1h"), ("--replicas", "1"),
                          ("--on-error", "print")):
        refused("need --redis", option, value)


def test_refusals():
    refused("names no key", "--redis", "redis://127.0.0.1:1")
    refused("127.0.0.1:1/seen: ", "--redis", "redis://:secret@127.0.0.1:1/seen", "-n", "10")
    with plain("requirepass pass:word", "user me on >secret ~mine:* +@all") as server:
        n = ("-n", "100")
        refused("the server wants a password", "--redis", url(server, "seen"), *n)
        refused("password", "--redis", url(server, "seen", ":wrong@"), *n)
        printed, said = Run("--redis", url(server, "seen", ":hidden@"), *n, data=b"a\n").end(2)
        ok("hidden" not in said, "a password is shown")
        refused("NOPERM", "--redis", url(server, "seen", "me:secret@"), *n)
        eq(dedup(server, "mine:seen", *n, login="me:secret@", data=b"a\n")[0], [b"a"])
        eq(dedup(server, "mine:seen", data=b"a\nb\n", REDISCLI_AUTH="pass:word")[0], [b"b"])
        with server.client() as c:
            c.must("AUTH", "pass:word")
            c.must("SET", "text", "x" * 1000)
            c.must("LPUSH", "list", "x")
            before = c.must("DUMP", "text")
            for key in ("text", "list"):
                refused(f"/{key}: ", "--redis", url(server, key, ":pass%3Aword@"), *n)
                refused(f"/{key}: ", "--redis", url(server, key, ":pass%3Aword@"))
            ok(c.must("DUMP", "text") == before, "somebody's string was changed")


# ---- what may go wrong --------------------------------------------------------------------------

DOUBT = re.compile(r"(\d[\d,]*) of the lines (\d+) to (\d+) of standard input got no answer")


def test_stop_and_go_on():
    """A server dies. What was printed is known, and with what the message says nothing is lost."""
    items = lines(60000)
    with plain(*KEPT) as server:
        at = ("--redis", url(server, "seen"), "-n", "100000", *SURE)
        run = Run(*at, data=joined(items), piece=1 << 14, pause=0.01)
        run.wait_lines(10000)
        server.kill()
        first, said = run.end(2)
        doubt = DOUBT.search(said)
        ok(doubt and said.count("\n") == 1, said)
        begin, end = int(doubt.group(2)), int(doubt.group(3))
        eq(first, items[:begin - 1], "what was answered is printed, and no more")
        eq(int(doubt.group(1).replace(",", "")), end - begin + 1, said)
        ok(begin <= end < begin + BATCH, said)
        ok(f"go on from line {end + 1}" in said and "--on-error print" in said, said)
        server.start()
        rest, _ = dedup(server, "seen", data=joined(items[end:]))
        once(set(items), first, items[begin - 1:end], rest)


def restart_meanwhile(server, policy, count, *args):
    """A run on a server that is killed and comes back: lines brought, lines printed, the report."""
    items = lines(count)
    run = Run("--redis", url(server, "seen"), "-n", str(count), *SURE, "--on-error", policy,
              "--json", *args, data=joined(items), piece=1 << 14, pause=0.01)
    for share in (0.2, 0.6):
        run.wait_lines(share * count)
        server.restart(kill=True)
    printed, said = run.end()
    return (items, printed, *told(said))


def told(said):
    """The warnings, and the report."""
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
    """No line is lost, whatever dies; and those that are printed twice are counted."""
    with plain(*KEPT) as server:
        items, printed, warnings, report = restart_meanwhile(server, "print", 60000)
        eq(set(printed), set(items), "lines are lost")
        doubtful = check_doubts(report, printed, "print")
        ok(doubtful == 0 or any("may have been printed a second time" in w for w in warnings),
           f"{doubtful} lines in doubt: {warnings}")
        eq(dedup(server, "seen", data=joined(items))[0], [], "everything has been seen")


def test_drop():
    """No line is printed twice; and those that may be lost are counted."""
    with plain(*KEPT) as server:
        items, printed, warnings, report = restart_meanwhile(server, "drop", 60000)
        doubtful = check_doubts(report, printed, "drop")
        eq(len(set(printed)), len(printed), "lines that were printed once")
        ok(len(items) - len(printed) <= doubtful, "more lines are lost than are in doubt")


def test_away():
    """A server that does not come back: of every line it is known that nothing is known."""
    with plain() as server:
        runs = []
        for number, policy in enumerate(("print", "drop")):
            runs.append(Run("--redis", url(server, "seen"), "-n", "1000", "--json", "--on-error",
                            policy))
            runs[-1].say(b"a%d\n" % number)
            runs[-1].wait_lines(0)
        server.kill()
        for run in runs:
            run.say(b"b\na1\nb\n")
        runs[0].wait_lines(3)
        for run, wanted in zip(runs, ([b"b", b"a1", b"b"], [])):
            printed, said = run.end()
            warnings, report = told(said)
            eq(printed[1:], wanted)
            eq((report["unique"], report["unsure"], report["unknown"]), (1, 0, 3))
            eq(len(warnings), 2, said)  # at once, and at the end
            eq(report["keys"], 2 if run is runs[0] else 3)


def test_away_for_a_while():
    """It is waited for once; then lines pass, however many, until it is back."""
    with plain("appendonly yes", "appendfsync always") as server:
        run = Run("--redis", url(server, "seen"), "-n", "200000", "--json", "--on-error", "print",
                  *SURE)
        run.say(b"first\n")
        run.wait_lines(0)
        server.kill()
        items = lines(100000, "away")
        run.say(joined(items))
        run.wait_lines(len(items))  # were each batch waited for, this would take minutes
        server.start()
        count = 0
        while True:  # a few seconds
            run.say(b"back %d\n" % count)
            count += 1
            time.sleep(0.5)
            with server.client() as c:
                if int.from_bytes(c.must("GETRANGE", "seen", 96, 103), "little") > 2:
                    break
            ok(count < 60, "it is back, and nobody notices")
        printed, said = run.end()
        _, report = told(said)
        eq(printed[0], b"first")
        eq(set(printed[1:100001]), set(items))
        ok(100000 < report["unknown"] < 100000 + count and report["unsure"] == 0, said)


def test_no_room_for_the_output():
    """Lines that nobody has printed are named."""
    with plain() as server:
        done = subprocess.run([PROGRAM, "dedup", "--redis", url(server, "seen"), "-n", "1000"],
                              input=joined(lines(10)), stdout=open("/dev/full", "wb"),
                              stderr=subprocess.PIPE, timeout=60, check=False)
        eq(done.returncode, 2)
        ok(b"lines 1 to 10 of" in done.stderr, done.stderr.decode())


def cut_answers(policy, status=0, *args):
    """A run one of whose answers is cut off: the server has the lines, and nobody was told."""
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
        ok(proxy.cuts == 1 and proxy.connections > 1, "the connection was cut, and made anew")
        return items, printed, said


def test_lost_answer_print():
    items, printed, said = cut_answers("print")
    warnings, report = told(said)
    eq(set(printed), set(items), "lines are lost")
    ok(0 < report["unsure"] <= BATCH and report["unknown"] == 0, said)
    ok(len(warnings) == 2 and "an answer was lost" in warnings[0], said)
    check_doubts(report, printed, "print")


def test_lost_answer_drop():
    items, printed, said = cut_answers("drop")
    _, report = told(said)
    eq(len(items) - len(set(printed)), report["unsure"], "what is lost is what is in doubt")
    check_doubts(report, printed, "drop")


def test_lost_answer_stop():
    items, printed, said = cut_answers("stop", 2)
    doubt = DOUBT.search(said)
    ok(doubt and "an answer was lost" in said, said)
    begin, end = int(doubt.group(2)), int(doubt.group(3))
    eq(int(doubt.group(1).replace(",", "")), end - begin + 1, said)
    eq(printed[:begin - 1], items[:begin - 1], "all before the lines in doubt")
    ok(set(printed[begin - 1:]) <= set(items[end:end + BATCH]), "some behind them")


def test_vanished():
    """A filter that is gone is the end, whatever becomes of the lines that were on their way."""
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
    """A signal ends a run behind a batch: what the filter has was printed."""
    items = lines(60000)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with plain() as server:
            run = Run("--redis", url(server, "seen"), "-n", "60000", *SURE, data=joined(items),
                      piece=1 << 14, pause=0.02)
            run.wait_lines(10000)
            run.process.send_signal(number)
            first, _ = run.end(-number)
            ok(len(first) < len(items), "it was interrupted")
            rest, _ = dedup(server, "seen", data=joined(items))
            once(set(items), first, rest)


def test_kill():
    """Killed at whatever moment, it has lost the new lines of one batch at most."""
    items = lines(40000)
    for turn in range(5):
        with plain() as server:
            run = Run("--redis", url(server, "seen"), "-n", "40000", *SURE, data=joined(items),
                      piece=1 << 14, pause=0.003)
            run.wait_lines(5000 * turn)
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


# ---- what is told -------------------------------------------------------------------------------

def test_report():
    with plain() as server:
        data = b"a\nb\na\n"
        _, said = dedup(server, "2/seen", "-n", "1000", "--json", "--shards", "2", data=data)
        report = json.loads(said)
        for name, value in (("lines", 3), ("unique", 2), ("repeated", 1), ("unsure", 0),
                            ("unknown", 0), ("method", "redis"), ("database", 2), ("key", "seen"),
                            ("server", f"127.0.0.1:{server.port}"), ("kind", "split512"),
                            ("capacity", 1000), ("keys", 3), ("shards", 2), ("servers", 1),
                            ("trips", 1), ("rate_promised", 0.001), ("expires_seconds", None)):
            eq(report[name], value, name)
        with server.client() as c:
            c.must("SELECT", 2)
            eq(report["filter_bytes"], sum(c.must("STRLEN", key) for key in c.must("KEYS", "*")))
        _, said = dedup(server, "2/seen", "--stats", data=data)
        for words in ("repeated   3", "no answer  0 unsure, 0 unknown", "3 keys of 1,000",
                      "in 2 shards on 1 server", f"server     {url(server, '2/seen')}",
                      "lost       about 0 new ones"):
            ok(words in said, f"no '{words}' in:\n{said}")


def test_overfull():
    """More keys than it was made for: how many lines were lost is told, about."""
    with plain() as server:
        for count, status in ((3000, 0), (50000, 2)):
            for half in (range(0, count, 2), range(1, count, 2)):
                data = joined(b"line %d" % i for i in half)
                printed, said = dedup(server, f"seen{count}", "-n", "1000", data=data,
                                      status=status if half.start else None)
            lost = len(half) - len(printed)
            words = re.search(r": (most|about ([\d,.]+)) new lines were lost", said)
            ok(words and "larger -n" in said, said)
            eq(words.group(1) == "most", status == 2)
            about = float((words.group(2) or "0").replace(",", ""))
            ok(status or abs(about - lost) <= 0.3 * lost, f"{about} told, {lost} lost")


if __name__ == "__main__":
    main(globals())
