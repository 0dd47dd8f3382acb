#!/usr/bin/env python3
"""The rates that build, info and verify print, per line and per lookup, are those of real lookups.

    rates.py PROGRAM

In lists whose lines need several lookups, and in overlays of them, lines are looked up that are not in
them. The shares that match must be the printed rates, within five standard deviations. All seeds are
fixed, so all runs are the same.
"""
import functools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
RATE = 1 / 1000
LOOKUPS = 3  # per line, of all lists here but one
LINES = 300000
# Lookups of random lines that `verify` makes. A deviation of a tenth of the rate p is five sigma when
# 0.1 p = 5 sqrt(p (1 - p) / n), so n = 2500 (1 - p) / p.
MEASURED = 2500 * 1000  # for RATE per line
MEASURED_LOOKUPS = LOOKUPS * MEASURED  # for RATE / LOOKUPS per lookup
failures = 0


def expect(truth, what):
    global failures
    if not truth:
        failures += 1
        print("FAILED: " + what)


def run(*args, stdin="", status=0):
    done = subprocess.run([PROGRAM, *args], input=stdin, capture_output=True, text=True, timeout=300)
    expect(done.returncode == status, "%r: exit status %d: %s" % (args, done.returncode, done.stderr))
    return done


def objects(*args, **more):
    return [json.loads(line) for line in run(*args, **more).stdout.splitlines()]


def addresses():
    """Blocks of two sizes, and single addresses of both families: an IPv6 line needs three lookups, an
    IPv4 line one."""
    lines = ["2001:%x::/32" % i for i in range(200)]
    lines += ["2002:0:%x::/48" % i for i in range(3000)]
    lines += ["2003::%x" % i for i in range(1, 20000)]
    return lines + ["12.0.%d.%d" % divmod(i, 256) for i in range(1000)]


def small_blocks():
    """A realistic list. It has so few /16 blocks that many lines share a lookup, so the share of matching
    lines is too uncertain to be measured."""
    lines = ["10.%d.0.0/16" % i for i in range(200)]
    lines += ["11.%d.%d.0/24" % divmod(i, 256) for i in range(3000)]
    return lines + ["12.%d.%d.%d" % (i >> 16, i >> 8 & 255, i & 255) for i in range(20000)]


def domains():
    lines = ["d%d.test" % i for i in range(8000)] + ["a.e%d.test" % i for i in range(8000)]
    return lines + ["b.a.f%d.test" % i for i in range(8000)]


def other_v4(r):
    first = r.choices(range(16, 240), k=LINES)
    return ["%d.%d.%d.%d" % part for part in zip(first, *[iter(r.randbytes(3 * LINES))] * 3)]


def other_v6(r):
    """Random words of 16 bits, each of four digits and a colon; seven of them follow the first."""
    first = r.choices(["%x:" % word for word in range(0x3000, 0xf000)], k=LINES)
    words = r.randbytes(14 * LINES).hex(":", -2)
    return [head + words[35 * i:35 * i + 34] for i, head in enumerate(first)]


def other_domain(r):
    digits = r.randbytes(20 * LINES).hex()
    return ["w%s.x%s.y%s.z%s.invalid" % (digits[i:i + 10], digits[i + 10:i + 20], digits[i + 20:i + 30],
                                         digits[i + 30:i + 40]) for i in range(0, 40 * LINES, 40)]


@functools.lru_cache()
def others(lines, seed):
    """Writes LINES lines that are in no list, and returns the name of the file."""
    path = "%s-%d" % (lines.__name__, seed)
    with open(path, "w") as f:
        f.write("\n".join(lines(random.Random(seed))) + "\n")
    return path


def share(path, lines, seed):
    """Returns how many of LINES lines that are not in the list match."""
    done = subprocess.run([PROGRAM, "check", "-c", path, others(lines, seed)], capture_output=True, text=True,
                          timeout=300)
    return int(done.stdout)


def agree(hits, rate, what):
    sigma = math.sqrt(LINES * rate * (1 - rate))
    expect(abs(hits - LINES * rate) <= 5 * sigma,
           "%s: %d of %d lines match, rate %g printed, which is %.1f deviations away"
           % (what, hits, LINES, rate, (hits - LINES * rate) / sigma))


def one_in(text):
    """The numbers N of the rates 1 in N LINES and 1 in N LOOKUPS of a message."""
    found = re.search(r"1 in ([\d,]+) lines, 1 in ([\d,]+) lookups \(up to (\d+) per line\)", text)
    expect(found, "no two rates in: " + text)
    return tuple(int(n.replace(",", "")) for n in found.groups()) if found else (0, 0, 0)


def check_printed(path, built, note, lookups, rate):
    """build, info and verify print the same facts about the list."""
    info, = objects("info", "--json", path)
    verify, = objects("verify", "--json", path)
    expect(one_in(note) == (round(1 / rate), round(lookups / rate), lookups), "%s: built: %s" % (path, note))
    for what, o in (("build", built), ("info", info), ("verify", verify)):
        expect(o.get("lookups_per_line") == lookups, "%s %s: lookups_per_line: %r" % (what, path, o))
        expect(o.get("rate_per_line_requested") == rate, "%s %s: per line: %r" % (what, path, o))
        expect(math.isclose(o.get("rate_per_lookup_requested", 0), rate / lookups), "%s %s: %r" % (what, path, o))
        for old in ("rate", "rate_asked", "rate_now", "rate_predicted", "questions"):
            expect(old not in o, "%s: a field named %s" % (what, old))
    text = run("info", path).stdout
    expect("  per line   %g%% requested" % (100 * rate) in text and "  per lookup " in text, text)
    text = run("verify", path).stdout
    expect("%% per line (requested %g%%)" % (100 * rate) in text and " per lookup (requested" in text, text)
    return info


def test_list(name, lines, kind, lookups, several, single):
    rate = RATE
    list_, over = name + ".bly", name + "-over.bly"
    done = run("build", "--json", "--type", "ip" if name == "ip" else "domain", "-p", "1/1000", "--kind", kind,
               "-o", list_, "-f", stdin="\n".join(lines) + "\n")
    laid = run("build", "--json", "--over", list_, "-o", over, "-f")
    for path, built in ((list_, done), (over, laid)):
        info = check_printed(path, json.loads(built.stdout), built.stderr, lookups, rate)
        if several:
            agree(share(path, several, 17), info["rate_per_line_current"], "%s of %s, per line" % (path, kind))
        if single:
            agree(share(path, single, 23), info["rate_per_lookup_current"], "%s of %s, per lookup" % (path, kind))
        judged, = objects("verify", "--json", "--measure=%d" % MEASURED, path)
        m = judged["measured"]
        expect(judged["verdict"] == "good" and m["judged"] == "rate_per_line", "%s: %r" % (path, judged))
        expect(m["lines"] == MEASURED and m["lookups"] == lookups * m["lines"], "%s: %r" % (path, m))
        text = run("verify", "--measure=10k", path).stdout
        expect("measured false-positive rate" in text and "per line" in text and "10,000 random lines of %d lookups each" % lookups in text and
               text.endswith("requested 0.1%\n"), text)


def test_one_lookup():
    """If a line needs one lookup, the two rates are equal. If the lookups are unknown, only one rate is printed."""
    with open("key", "w") as f:
        f.write("000102030405060708090a0b0c0d0e0f\n")
    built = run("build", "--json", "-o", "plain.bly", stdin="".join("%d\n" % i for i in range(1000)))
    expect("1 in 1,000 lines (one lookup per line)" in built.stderr, built.stderr)
    for o in [json.loads(built.stdout)] + objects("info", "--json", "plain.bly"):
        expect(o["rate_per_line_requested"] == o["rate_per_lookup_requested"] == 0.001, repr(o))
    if run("build", "-q", "--type", "ip", "-p", "1/1000", "--key-file", "key", "-o", "keyed.bly",
           stdin="\n".join(addresses())).returncode:
        return
    o, = objects("info", "--json", "keyed.bly")
    expect(o["lookups_per_line"] is None and o["rate_per_line_requested"] is None, repr(o))
    expect(o["rate_per_line_current"] is None and o["marks"] is None, repr(o))
    o, = objects("info", "--json", "--key-file", "key", "keyed.bly")
    expect(o["lookups_per_line"] > 1 and abs(o["rate_per_line_requested"] - 0.001) < 1e-9, repr(o))
    o, = objects("verify", "--json", "--measure=%d" % MEASURED_LOOKUPS, "keyed.bly")
    expect(o["measured"]["judged"] == "rate_per_lookup" and o["verdict"] == "good", repr(o))
    o, = objects("verify", "--json", "--measure=%d" % MEASURED, "--key-file", "key", "keyed.bly")
    expect(o["measured"]["judged"] == "rate_per_line" and o["verdict"] == "good", repr(o))


def test_new_widths():
    """Blocks of new sizes increase the lookups per line, and so the rate per line."""
    run("build", "-q", "--type", "ip", "-p", "1%", "-n", "20000", "-o", "few.bly",
        stdin="".join("2003::%x\n" % i for i in range(1, 19000)))
    done = run("add", "few.bly", stdin="2001:5::/32\n2002:0:7::/48\n")
    expect("a line now needs up to 3 lookups instead of 1" in done.stderr, done.stderr)
    info, = objects("info", "--json", "few.bly")
    expect(info["lookups_per_line"] == 3, repr(info))
    agree(share("few.bly", other_v6, 17), info["rate_per_line_current"], "new widths")


def main():
    test_list("ip", addresses(), "split512", 3, other_v6, other_v4)
    test_list("ip", addresses(), "fuse", 3, other_v6, other_v4)
    test_list("ip", small_blocks(), "bb2x512", 3, None, None)
    test_list("domain", domains(), "classic", 3, other_domain, None)
    test_one_lookup()
    test_new_widths()
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        sys.exit(main())
