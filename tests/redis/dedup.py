"""dedup.py - `bloomery dedup --redis`: machines that share one filter."""
import collections
import json
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True

from dedup_support import PROGRAM, SURE, Run, dedup, joined, lines, once, refused  # noqa: E402
from clocks import Clock  # noqa: E402
from plans import losses  # noqa: E402
from support import ROOT, Cluster, eq, head, main, ok, plain, shard_key, url, wait_for, wait_sync  # noqa: E402


# ---- many machines ------------------------------------------------------------------------------

def test_two_machines():
    """Each line is printed by at most one machine. As many lines are printed by none as the filter's
    rate predicts."""
    for rate, count in (("0.01", 200000), ("0.001", 200000)):
        with plain() as server:
            items = lines(count)
            at = ("--redis", url(server, "seen"), "-n", str(count), "-p", rate)
            runs = [Run(*at, data=joined(items)), Run(*at, data=joined(reversed(items)))]
            shares = [run.end()[0] for run in runs]
            together = collections.Counter(shares[0] + shares[1])
            ok(max(together.values()) == 1, "a line was printed twice")
            ok(min(map(len, shares)) > count // 20, f"one machine printed too few lines: {[len(s) for s in shares]}")
            eq(len(together.keys() - set(items)), 0, "printed lines that were not in the input")
            with server.client() as c:
                shape = head(c, "seen")
            low, high = losses(shape.kind, shape.k, shape.blocks, count)
            lost = count - len(together)
            ok(low <= lost <= high, f"{lost} lines lost; planned: {low:.1f} .. {high:.1f}")
            eq(shape.count, len(together) + 1, "counted keys, including the mark")
            printed, _ = dedup(server, "seen", data=joined(items))
            eq(printed, [], "everything has been seen")


def test_all_start_at_once():
    """All machines use the same filter, whichever creates it, with any number of shards."""
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
    """The output is the same as without a server, whichever part of a line is compared."""
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
            ok(len(wanted) != len(data), "no line is repeated")
        process = Run("--redis", url(server, "nul"), "-n", "9", "-0", data=b"x\ny\0z\0x\ny\0")
        process.end()
        eq(bytes(process.out), b"x\ny\0z\0")


def test_stream():
    """Each line is answered when it arrives, not only when a batch is full."""
    with plain() as server:
        with server.client() as c:
            run = Run("--redis", url(server, "seen"), "-n", "1000")
            run.wait(lambda: c.must("EXISTS", "seen"), "the filter, before the first line")
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
        refused("use -n N to create a filter", *at)
        dedup(server, "seen", "-n", "5000", "-p", "1%", "--seed", "7", "--shards", "2", data=b"a\n")
        eq(dedup(server, "seen", data=b"a\nb\n")[0], [b"b"])
        same = ("-n", "5000", "-p", "0.01", "--seed", "7", "--shards", "2")
        eq(dedup(server, "seen", *same, data=b"b\nc\n")[0], [b"c"])
        refused("was created for 5,000 keys, not 6,000; leave out -n", *at, "-n", "6000")
        refused("was created for a false-positive rate of 1%, not 0.1%; leave out -p", *at, "-p", "0.001")
        refused("was created with another seed; leave out --seed", *at, "--seed", "8")
        refused("has 2 shards, not 3; leave out --shards", *at, "--shards", "3")
        with server.client() as c:
            eq(head(c, "seen").seed, 7)
            # A later run does not change the expiry.
            dedup(server, "brief", "-n", "100", "--expire", "1h", data=b"a\n")
            dedup(server, "brief", "-n", "100", "--expire", "9d", data=b"b\n")
            ok(3500 < c.must("TTL", "brief") <= 3600, "an hour to live")
            # Seeds are random, so false positives cannot be predicted.
            dedup(server, "other", "-n", "100", data=b"a\n")
            ok(head(c, "other").seed != head(c, "brief").seed, "equal seeds")


def test_unfinished():
    """If a machine dies while it creates the filter, another one can complete it."""
    with plain() as server, server.client() as c:
        at = ("-n", "1000", "--shards", "3")
        dedup(server, "seen", *at)
        second = shard_key("seen", 1, 3)
        c.must("SETRANGE", "seen", 104, b"\0")
        c.must("DEL", second)
        refused("still being created", "--redis", url(server, "seen"))
        eq(dedup(server, "seen", *at, data=b"a\n")[0], [b"a"])
        eq((head(c, "seen").state, c.must("EXISTS", second)), (1, 1))
        eq(dedup(server, "seen", data=b"a\nb\n")[0], [b"b"])
        # A string that is missing from a complete filter had keys.
        c.must("DEL", second)
        refused(f"{second}, one of the 3 strings", "--redis", url(server, "seen"), *at)
        eq(c.must("EXISTS", second), 0)


def test_rule():
    with plain() as server:
        dedup(server, "seen", "-n", "100", "--url", data=b"http://a.test\n")
        eq(dedup(server, "seen", "--url", data=b"http://A.test/\n"), ([], ""))
        refused("was created with --url", "--redis", url(server, "seen"))
        refused("was created with --url", "--redis", url(server, "seen"), "--url", "-i")
        # Rules without their own code are distinguished by a special key.
        dedup(server, "first", "-n", "100", "--field", "1", data=b"a\tb\n")
        printed, said = dedup(server, "first", "--field", "2", data=b"a\tb\n")
        eq(printed, [b"a\tb"])
        ok("warning" in said and "was created with other options" in said, said)


def test_carriage_returns():
    """Carriage returns are printed, but are not part of a key. In a filter without a recorded rule
    they are part of the key."""
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
            ("combined with --exact", "--exact"), ("or --confirm", "--confirm", "f"),
            ("--redis and --state cannot be combined", "--state", "f"), ("combined with --window", "--window", "10"),
            ("combined with --memory", "--memory", "64M"), ("combined with --count", "--count"),
            ("use > FILE instead", "-o", "f"), ("--expire needs -n", "--expire", "1h"),
            ("only reads the filter", "--allow-replica", "--shards", "2"),
            ("at most 4096", "--shards", "4097"), ("at most 1000", "--replicas", "1e6"),
            ("one of stop, print, drop", "--on-error", "ignore")):
        refused(words, *at, *options)
        ok(not os.path.exists("f"), "a file was made")
    for option, value in (("--shards", "2"), ("--expire", "1h"), ("--replicas", "1"),
                          ("--on-error", "print")):
        refused("need --redis", option, value)
    refused("need --redis", "--allow-replica")


def test_refusals():
    refused("has no key", "--redis", "redis://127.0.0.1:1")
    refused("127.0.0.1:1/seen: ", "--redis", "redis://:secret@127.0.0.1:1/seen", "-n", "10")
    with plain("requirepass pass:word", "user me on >secret ~mine:* +@all") as server:
        n = ("-n", "100")
        refused("the server requires a password", "--redis", url(server, "seen"), *n)
        refused("password", "--redis", url(server, "seen", ":wrong@"), *n)
        printed, said = Run("--redis", url(server, "seen", ":hidden@"), *n, data=b"a\n").end(2)
        ok("hidden" not in said, "a password is shown")
        # Nor if the address is the value of another option.
        for option in ("--state", "--confirm", "-o", "--shards"):
            _, said = Run(option, "redis://me:hid/den@127.0.0.1/k", data=b"a\n").end(2)
            ok("hid" not in said and "redis://127.0.0.1/k" in said, said)
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
            ok(c.must("DUMP", "text") == before, "the string was changed")


# ---- lookups without adds -----------------------------------------------------------------------

def test_lookups_on_a_replica():
    """With --allow-replica lines are looked up on a replica, and neither it nor its master changes."""
    items = lines(3000)
    with plain() as master, plain(f"replicaof 127.0.0.1 {master.port}") as replica, master.client() as c:
        dedup(master, "seen", "-n", "5000", *SURE, "--field", "1", data=joined(items[:1000]))
        before = c.must("GET", "seen")
        wait_sync(master, replica)
        at = ("--redis", url(replica, "seen"), "--field", "1")
        refused("is a replica; name its master", *at)
        refused("or use --allow-replica to look lines up", *at)
        at += ("--allow-replica",)
        # Lines that the filter does not contain are new: once in each run.
        for _ in range(2):
            eq(Run(*at, data=joined(items[500:2000] * 2)).end(), (items[1000:2000], ""))
        eq(Run(*at, "-d", data=joined(items[:1500])).end()[0], items[:1000])
        eq(Run(*at, "-c", data=joined(items * 2)).end()[0], [b"6000 lines, 2000 unique, 4000 repeated"])
        out = replica.path("out")
        Run(*at, "-q", "-o", out, data=joined(items)).end()
        with open(out, "rb") as file:
            eq(file.read(), joined(items[1000:]))
        report = json.loads(Run(*at, "--json", data=joined(items * 2)).end()[1])
        eq((report["unique"], report["repeated"], report["keys"], report["unknown"]), (2000, 4000, 1001, 0))
        ok(report["memory_bytes"] > 2000 * 8, "the lines of this run are in memory")
        ok(Run("--redis", url(replica, "seen"), "--allow-replica", data=b"a\n").end(2)[1].count("was created") == 1,
           "another rule is refused")
        refused("no such", "--redis", url(replica, "nothing"), "-n", "100", "--allow-replica")
        # A master may be named as well.
        eq(dedup(master, "seen", "--field", "1", "--allow-replica", data=joined(items[:1001]))[0], [items[1000]])
        ok(c.must("GET", "seen") == before, "the filter has changed")


def test_lookups_are_dropped_at_the_rate():
    """As many new lines are dropped as the report expects, within five sigma of a Poisson variable."""
    count = 100000
    with plain() as server:
        dedup(server, "seen", "-n", str(count), "-p", "0.01", data=joined(lines(count)))
        new = lines(count, "https://example.org/other/")
        printed, said = dedup(server, "seen", "--allow-replica", "--json", data=joined(new))
        wanted, dropped = json.loads(said)["expected_dropped"], count - len(printed)
        ok(len(set(printed)) == len(printed) and 800 < wanted < 1200, said)
        ok(abs(dropped - wanted) <= 5 * wanted ** 0.5, f"{dropped} dropped, {wanted} expected")


def test_lookups_without_answers():
    """If the server is gone, the run stops and names the first line without an answer, or goes on by
    the policy."""
    for policy, status, wanted in (("stop", 2, []), ("print", 0, [b"b", b"a", b"b"]), ("drop", 0, [])):
        with plain() as server, Clock() as clock:
            dedup(server, "seen", "-n", "1000", *SURE, data=b"a\n")
            run = Run("--redis", url(server, "seen"), "--allow-replica", "--on-error", policy, **clock.environment)
            run.say(b"a\nc\n")
            run.wait_lines(0)
            server.kill()
            run.say(b"b\na\nb\n")
            with clock.racing():
                printed, said = run.end(status)
            eq(printed, [b"c"] + wanted)
            if policy == "stop":
                ok("lines 3 to 5 of standard input got no answer" in said
                   and "run dedup again from line 3" in said, said)


def ranges_read(client):
    return int(re.search(r"cmdstat_getrange:calls=(\d+)", client.must("INFO", "commandstats").decode()).group(1))


def test_lookups_without_answers_to_a_file():
    """With -o nothing was printed, so the message names no line at which to go on."""
    with plain() as server, Clock() as clock:
        dedup(server, "seen", "-n", "1000", *SURE, data=b"a\n")
        at = ("--redis", url(server, "seen"), "--allow-replica", "-o", server.path("out"))
        with server.client() as c:
            before = ranges_read(c)
            Run(*at, data=b"").end(0)
            empty = ranges_read(c) - before  # for opening the filter, without a batch
            os.remove(server.path("out"))
            run = Run(*at, **clock.environment)
            run.say(b"a\nc\n")
            wait_for(lambda: ranges_read(c) - before > 2 * empty, what="the first batch")
        server.kill()
        run.say(b"b\n")
        with clock.racing():
            _, said = run.end(2)
        ok("nothing was printed; run dedup again, or use" in said, said)
        ok(not os.path.exists(server.path("out")), "an incomplete file")


# ---- reports ------------------------------------------------------------------------------------

def test_report():
    with plain() as server:
        data = b"a\nb\na\n"
        _, said = dedup(server, "2/seen", "-n", "1000", "--json", "--shards", "2", data=data)
        report = json.loads(said)
        for name, value in (("lines", 3), ("unique", 2), ("repeated", 1), ("unsure", 0),
                            ("unknown", 0), ("method", "redis"), ("database", 2), ("key", "seen"),
                            ("server", f"127.0.0.1:{server.port}"), ("kind", "split512"),
                            ("capacity", 1000), ("keys", 3), ("shards", 2), ("servers", 1),
                            ("trips", 1), ("rate_requested", 0.001), ("expires_seconds", None)):
            eq(report[name], value, name)
        with server.client() as c:
            c.must("SELECT", 2)
            eq(report["filter_bytes"], sum(c.must("STRLEN", key) for key in c.must("KEYS", "*")))
        _, said = dedup(server, "2/seen", "--stats", data=data)
        for words in ("repeated   3", "no answer  0 unsure, 0 unknown", "3 of 1,000 keys",
                      "in 2 shards on 1 server", f"server     {url(server, '2/seen')}",
                      "dropped    about 0 new lines", "network    1 round trip"):
            ok(words in said, f"no '{words}' in:\n{said}")


def test_overfull():
    """With more keys than the capacity, the warning estimates how many new lines were dropped."""
    with plain() as server:
        for count, status in ((3000, 0), (50000, 2)):
            for half in (range(0, count, 2), range(1, count, 2)):
                data = joined(b"line %d" % i for i in half)
                printed, said = dedup(server, f"seen{count}", "-n", "1000", data=data,
                                      status=status if half.start else None)
            lost = len(half) - len(printed)
            words = re.search(r": (most|about ([\d,.]+)) new lines were dropped", said)
            ok(words and "larger -n" in said, said)
            eq(words.group(1) == "most", status == 2)
            about = float((words.group(2) or "0").replace(",", ""))
            ok(status or abs(about - lost) <= 0.3 * lost, f"{about} told, {lost} lost")


if __name__ == "__main__":
    main(globals())
