#!/usr/bin/env python3
"""Measures `bloomery distinct` beside the least that can be done and beside sort, in one run:
distinct.py BIN FOLDER [LINES].

CPU seconds (user and system), which a busy machine disturbs less than the clock. Ours and the bare
loop, which finds line ends and hashes every line with XXH3 in 64 bits, run in turns; the medians of
five rounds are shown, and the median of the ratios is judged. sort runs once. The input is in the
page cache.
"""
import json
import os
import statistics
import subprocess
import sys
import time

ROUNDS = 5
MOST = 1.6  # times the bare loop


def cpu(command, stdin=None):
    """CPU seconds, and what it printed."""
    child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit("%s failed" % command)
    return used.ru_utime + used.ru_stime, out


def make(path, command):
    if not os.path.exists(path):
        with open(path + ".tmp", "wb") as f:
            subprocess.run(command, stdout=f, check=True)
        os.rename(path + ".tmp", path)


def compare(folder, path):
    """The median CPU of the bare loop and of ours, their ratio, and our answer."""
    bare, ours, answer = [], [], {}
    for _ in range(ROUNDS):
        bare.append(cpu([folder + "/scan", path, "64"])[0])
        used, out = cpu([folder + "/bloomery", "distinct", "--json", path])
        ours.append(used)
        answer = json.loads(out)
    return (statistics.median(bare), statistics.median(ours),
            statistics.median(b / a for a, b in zip(bare, ours)), answer)


def truth(path):
    """How many different lines there are by sort, its CPU seconds and its time."""
    begun = time.monotonic()
    before = os.times()
    out = subprocess.run("LC_ALL=C sort -u -S1G --parallel=2 '%s' | wc -l" % path, shell=True,
                         stdout=subprocess.PIPE, check=True).stdout
    after = os.times()
    used = (after.children_user + after.children_system -
            before.children_user - before.children_system)
    return int(out), used, time.monotonic() - begun


def main():
    folder, work = sys.argv[1], sys.argv[2]
    lines = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000_000
    urls, numbers = "%s/urls-%d.txt" % (work, lines), "%s/numbers-%d.txt" % (work, lines)
    make(urls, [folder + "/make_urls", str(lines)])
    make(numbers, ["seq", str(lines)])
    held = True
    for name, path, judged in (("URLs", urls, True), ("numbers", numbers, False)):
        bare, ours, ratio, answer = compare(folder, path)
        exact, used, clock = truth(path)
        off = (answer["distinct"] - exact) / exact
        inside = answer["low"] <= exact <= answer["high"]
        held &= ratio <= MOST or not judged
        print("%d %s, %d bytes a line" % (lines, name, os.path.getsize(path) // lines))
        print("  find line ends, hash    %7.3f s CPU" % bare)
        print("  bloomery distinct       %7.3f s CPU, %.2f times that%s" % (
            ours, ratio, "" if not judged else ", at most %.1f: %s" % (
                MOST, "ok" if ratio <= MOST else "MISSED")))
        print("  sort -u | wc -l         %7.3f s CPU, %.1f s, %.0f times ours" % (
            used, clock, used / ours))
        print("  %d by sort; %d, off by %.2f%%, %s its range (%d to %d), in %d bytes\n" % (
            exact, answer["distinct"], 100 * off, "in" if inside else "outside",
            answer["low"], answer["high"], answer["memory_bytes"]))
    print("all held" if held else "missed")


if __name__ == "__main__":
    main()
