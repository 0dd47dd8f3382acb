#!/usr/bin/env python3
"""Compares `bloomery distinct` with a bare loop and with sort: distinct.py BIN FOLDER [LINES].

Measures CPU seconds (user and system), which other load affects less than elapsed time. The bare loop
finds line ends and hashes every line with XXH3 to 64 bits. `bloomery` and the bare loop run in turn for
five rounds. Medians are printed, and the median of the ratios has a target. sort runs once. The input
is in the page cache.
"""
import json
import os
import statistics
import subprocess
import sys
import time

ROUNDS = 5
LIMIT = 1.6  # times the bare loop


def cpu(command, stdin=None):
    """Returns CPU seconds and the output."""
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
    """Returns the median CPU seconds of the bare loop and of bloomery, their ratio, and the answer."""
    bare, ours, answer = [], [], {}
    for _ in range(ROUNDS):
        bare.append(cpu([folder + "/scan", path, "64"])[0])
        used, out = cpu([folder + "/bloomery", "distinct", "--json", path])
        ours.append(used)
        answer = json.loads(out)
    return (statistics.median(bare), statistics.median(ours),
            statistics.median(b / a for a, b in zip(bare, ours)), answer)


def truth(path):
    """Returns the number of distinct lines according to sort, its CPU seconds and its elapsed seconds."""
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
        held &= ratio <= LIMIT or not judged
        print("%d %s, %d bytes a line" % (lines, name, os.path.getsize(path) // lines))
        print("  find line ends, hash    %7.3f s CPU" % bare)
        print("  bloomery distinct       %7.3f s CPU, %.2f times that%s" % (
            ours, ratio, "" if not judged else ", at most %.1f: %s" % (
                LIMIT, "ok" if ratio <= LIMIT else "MISS")))
        print("  sort -u | wc -l         %7.3f s CPU, %.1f s, %.0f times ours" % (
            used, clock, used / ours))
        print("  exact %d; estimate %d, error %.2f%%, %s its range (%d to %d), memory %d bytes\n" % (
            exact, answer["distinct"], 100 * off, "within" if inside else "outside",
            answer["low"], answer["high"], answer["memory_bytes"]))
    print("all targets met" if held else "target missed")


if __name__ == "__main__":
    main()
