#!/usr/bin/env python3
"""Compares bloomery count with Python's Counter: exact counts are exact, and estimates are too high by
at most the error that they state.

    count_truth.py PROGRAM [--large]

With --large the streams are four times as long, and contain enough URLs to make estimates too high.
Streams and hashes have fixed seeds, so all runs are the same.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
LARGE = "--large" in sys.argv
TIMES = 4 if LARGE else 1
failures = 0


def expect(truth, what):
    global failures
    if not truth:
        failures += 1
        print("FAILED: " + what[:2000])


def run(*args, stdin="", status=0):
    done = subprocess.run([PROGRAM, "count", *args], input=stdin, capture_output=True, text=True, timeout=300)
    expect(done.returncode == status, "%r: exit status %d: %s" % (args, done.returncode, done.stderr))
    return done


# ---- streams ----------------------------------------------------------------------------------------


def urls():
    """20,000 URLs, or ten times as many, 40 of them twice."""
    r = random.Random(18)
    n = 199960 if LARGE else 19960
    once = ["https://site%d.example/page/%d?id=%d" % (r.randrange(5000), r.randrange(10 ** 6), i) for i in range(n)]
    lines = once + r.sample(once, 40)
    r.shuffle(lines)
    return lines


def zipf(n, keys, exponent, seed):
    r = random.Random(seed)
    weights = [1 / (i + 1) ** exponent for i in range(keys)]
    return ["word%d" % i for i in r.choices(range(keys), weights, k=n)]


def streams():
    r = random.Random(4)
    yield "urls", urls()
    yield "zipf 1.0", zipf(TIMES * 20000, 50000, 1.0, 1)
    yield "zipf 1.5", zipf(TIMES * 15000, 50000, 1.5, 2)
    yield "all different", ["line %d" % i for i in range(TIMES * 22500)]
    yield "one line", ["again"] * 20000
    yield "any of many", ["n%d" % r.randrange(TIMES * 5000) for _ in range(TIMES * 15000)]
    # The most frequent lines come last, when every table is full of others.
    yield "late", ["early %d" % i for i in range(TIMES * 10000)] + zipf(TIMES * 10000, 2000, 1.0, 3)


# ---- what was printed -------------------------------------------------------------------------------


def pairs(text):
    """The printed lines as (count, marked, line)."""
    out = []
    for line in text.split("\n")[:-1]:
        count, key = line.split("\t", 1)
        out.append((int(count.lstrip("~")), count.startswith("~"), key))
    return out


def printed(counts):
    """The text that is printed for (count, line), and for (count, marked, line)."""
    return "".join("%s%d\t%s\n" % ("~" if mark and mark[0] else "", count, line) for count, *mark, line in counts)


def objects(text):
    """The JSON objects of all lines, parsed in one call, which is much faster than one call per line."""
    return json.loads("[" + ",".join(text.splitlines()) + "]")


def running(lines):
    """Each line, with the number of times that it has occurred so far."""
    seen = {}
    out = []
    for line in lines:
        seen[line] = count = seen.get(line, 0) + 1
        out.append((count, line))
    return out


def stated(stderr):
    found = re.search(r"counts marked ~ are estimates, too high by at most ([\d,]+)", stderr)
    return int(found.group(1).replace(",", "")) if found else None


# ---- exact ------------------------------------------------------------------------------------------


def check_top(listed, lines, n, what):
    """Checks the n highest counts. Of keys with equal counts any may be listed."""
    truth = collections.Counter(lines)
    expect([count for count, _, _ in listed] == sorted(truth.values(), reverse=True)[:n], what + ": other counts")
    for count, marked, key in listed:
        expect(count == truth[key] and not marked, "%s: %r counted %d times, not %d" % (what, key, count, truth[key]))
    expect(len({key for _, _, key in listed}) == len(listed), what + ": a key twice")


def test_exact(name, lines):
    text = "".join(line + "\n" for line in lines)
    with open("file", "w") as f:
        f.write(text)
    truth = running(lines)
    every, repeats = printed(truth), printed([t for t in truth if t[0] >= 2])
    # From a file; from a pipe, planned for far too few; and in little memory.
    for how in (["file"], ["-n", "10"], ["--exact", "-m", "2M" if LARGE else "256K", "--seed", "7"]):
        what = "%s, count %s" % (name, " ".join(how))
        stdin = "" if "file" in how else text
        expect(run(*how, stdin=stdin).stdout == every, what)
        expect(run("--min", "2", *how, stdin=stdin).stdout == repeats, what + " --min 2")
        check_top(pairs(run("--top", "20", *how, stdin=stdin).stdout), lines, 20, what + " --top 20")
    top = json.loads(run("--top", "20", "--json", "file").stdout)
    expect(top["estimates"] is False and top["new_keys"] == len(set(lines)), "%s: %r" % (name, top))
    check_top([(e["count"], "estimate" in e or "error" in e, e["key"]) for e in top["top"]], lines, 20, name + " JSON")


def test_example():
    """The example of the README: each of the 20 most frequent lines has occurred twice."""
    lines = urls()
    truth = collections.Counter(lines)
    with open("urls.txt", "w") as f:
        f.write("".join(line + "\n" for line in lines))
    listed = pairs(run("--top", "20", "urls.txt").stdout)
    expect(len(listed) == 20 and all(count == truth[key] == 2 for count, _, key in listed), "--top 20: %r" % listed)
    repeats = pairs(run("--min", "2", "urls.txt").stdout)
    expect(len(repeats) == 40 and {key for _, _, key in repeats} == {k for k, n in truth.items() if n == 2},
           "--min 2: %d lines" % len(repeats))


# ---- estimates --------------------------------------------------------------------------------------


def check_estimates(listed, what):
    """No count is above the truth by more than its error, and one without an error is the truth."""
    for count, error, key, times in listed:
        if count - times > error:
            expect(False, "%s: %r counted %d times, error %d, came %d times" % (what, key, count, error, times))
        if error <= 0 and count != times:
            expect(False, "%s: %r counted %d times, not %d, unmarked" % (what, key, count, times))
        if error >= count:
            expect(False, "%s: %r: error %d of %d" % (what, key, error, count))


def test_estimates(name, lines):
    text = "".join(line + "\n" for line in lines)
    truth, last = running(lines), collections.Counter(lines)
    # As planned, far too small, and with hardly any tracked keys.
    for how in ([], ["-n", str(TIMES * 500)], ["-m", "1K"]):
        what = "%s, count --sketch %s" % (name, " ".join(how))
        found = objects(run("--sketch", "--json", *how, stdin=text).stdout)
        expect([o["line"] for o in found] == lines, what + ": lines")
        check_estimates([(o["count"], o.get("error", 0), line, times) for o, (times, line) in zip(found, truth)], what)
        expect(all(o.get("estimate", False) == ("error" in o) for o in found), what + ": marks")
        counts = [(o["count"], "error" in o, o["line"]) for o in found]
        done = run("--sketch", *how, stdin=text)
        expect(done.stdout == printed(counts), what + ": text")
        most = max(o.get("error", 0) for o in found)
        expect(stated(done.stderr) == (most or None), "%s: %d: %s" % (what, most, done.stderr))
        few = run("--sketch", "--min", "3", *how, stdin=text).stdout
        expect(few == printed([c for c in counts if c[0] >= 3]), what + " --min")
        top = json.loads(run("--sketch", "--top", "20", "--json", *how, stdin=text).stdout)
        expect(top["estimates"] is True and len(top["top"]) == min(20, len(last)), what + " --top")
        check_estimates([(e["count"], e.get("error", 0), e["key"], last[e["key"]]) for e in top["top"]], what + " --top")
        done = run("--sketch", "--top", "20", *how, stdin=text)
        expect(pairs(done.stdout) == [(e["count"], "error" in e, e["key"]) for e in top["top"]], what + " --top text")


def test_heavy_hitters():
    """Frequent keys are found, with nearly exact counts, in a hundredth of the memory of all keys."""
    lines = zipf(TIMES * 75000, TIMES * 50000, 1.1, 9)
    truth = collections.Counter(lines)
    top = json.loads(run("--sketch", "-m", "%dK" % (TIMES * 16), "--top", "10", "--json", stdin="\n".join(lines) + "\n").stdout)["top"]
    expect({e["key"] for e in top} == {key for key, _ in truth.most_common(10)}, "heavy hitters: %r" % top)
    for e in top:
        expect(abs(e["count"] - truth[e["key"]]) <= 0.01 * truth[e["key"]], "%r, not %d" % (e, truth[e["key"]]))


# ---- limits, states ---------------------------------------------------------------------------------


def test_full():
    """Exact counts that would take more memory than allowed end with an error; the counts before it are right."""
    lines = ["line %d" % (i // 2) for i in range(TIMES * 100000)]
    done = run("-m", "%dK" % (TIMES * 256), stdin="".join(line + "\n" for line in lines), status=2)
    got = pairs(done.stdout)
    expect(done.stdout == printed(running(lines)[:len(got)]) and len(got) > TIMES * 50000, "%d lines are printed" % len(got))
    expect(("1.00 MiB" if LARGE else "256 KiB") in done.stderr and "--memory" in done.stderr and "--sketch" in done.stderr, done.stderr)
    # Counts of 15 and more take more memory than others.
    text = "".join("%d\n" % i for i in range(TIMES * 37500)) * 16
    done = run("-m", "%dK" % (TIMES * 256), "--min", "16", stdin=text, status=2)
    expect(all(count == 16 for count, _, _ in pairs(done.stdout)), done.stdout)


def test_states():
    """An existing state determines the method: exact counts, or a sketch, whose counts are marked."""
    lines = zipf(20000, 5000, 1.0, 5)
    text, truth = "".join(line + "\n" for line in lines), collections.Counter(lines)
    for _ in range(2):
        run("--state", "exact.bly", "--top", "1", stdin=text)
    for o in objects(run("--query", "--state", "exact.bly", "--json", stdin=text).stdout)[:1000]:
        expect(o == {"count": 2 * truth[o["line"]], "line": o["line"]}, "state: %r" % o)
    run("--sketch", "--state", "sketch.bly", "--top", "1", stdin=text)
    seen = collections.Counter(lines)
    for o in objects(run("--state", "sketch.bly", "--json", stdin=text).stdout):
        seen[o["line"]] += 1
        expect(o["count"] - seen[o["line"]] <= o.get("error", 0), "sketch: %r, came %d times" % (o, seen[o["line"]]))
        expect("error" in o, "an estimate is not marked: %r" % o)
    got = pairs(run("--query", "--state", "sketch.bly", "-k", lines[0]).stdout)
    expect(got[0][1], "--query of a sketch is not marked: %r" % got)
    for args, words in ((["--sketch", "--state", "exact.bly"], "--sketch"), (["--exact", "--state", "sketch.bly"], "--exact"),
                        (["--age", "--state", "new.bly"], "--sketch"), (["--exact", "--sketch"], "--exact")):
        expect(words in run(*args, stdin=text, status=2).stderr, "%r is not refused" % args)


def main():
    test_example()
    for name, lines in streams():
        test_exact(name, lines)
        test_estimates(name, lines)
    test_heavy_hitters()
    test_full()
    test_states()
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        sys.exit(main())
