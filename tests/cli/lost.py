#!/usr/bin/env python3
"""Counts the new lines that `bloomery dedup` drops: lost.py PROGRAM GENERATOR [--large].

A repeat is never printed. The number of dropped lines is the one that the filter expects, within five sigma, and not
more than the requested rate allows. --exact and --confirm drop none. Then 3 million lines are read from a pipe, without
using more memory than allowed. With --large there are more lines (100 million in the pipe), and more memory is allowed.

Filters get a fixed seed and read files, so that a run repeats exactly. By default the seed is random, and the estimate
of a window by time is about 4% low at a rate of 5%: with random seeds one run in a hundred was off by five sigma.
Through a pipe the estimate of a window depends a little on how many lines arrive together.
"""
import json
import math
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import scratch  # noqa: E402

LARGE = "--large" in sys.argv
# If N lines are dropped, five sigma are 5 / sqrt(N) of N: a tenth if 2500 are expected. The small sizes
# are enough for that at a rate of 0.05 (about 2900 new lines are dropped while a filter fills), and
# in windows at 0.01 (2550). At lower rates they find a deviation of a quarter or a third.
LINES = 1_000_000 if LARGE else 600_000
WINDOW_KEYS = 2_000_000 if LARGE else 300_000
WINDOW = "100k" if LARGE else "10k"
MANY = 100_000_000 if LARGE else 3_000_000
MEMORY = 96 if LARGE else 32
SEED = ["--seed", "7"]


def report(program, options, stdin):
    """Returns the JSON report, and the printed lines."""
    child = subprocess.Popen([program, "dedup", "-q", "--json"] + options, stdin=stdin,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out = child.stdout.read()
    errors = child.stderr.read()
    if child.wait():
        sys.exit("dedup %s: %s" % (options, errors.decode()))
    return json.loads(errors.decode().splitlines()[-1]), out.split(b"\n")[:-1]


def check_lost(program, options, path, distinct, rate):
    with open(path, "rb") as f:
        said, lines = report(program, options, f)
    lost, wanted = len(distinct) - len(lines), said["expected_dropped"]
    print("dedup %-40s lost %6d, expected %8.1f" % (" ".join(options), lost, wanted))
    if len(set(lines)) != len(lines) or not set(lines) <= distinct:
        sys.exit("printed a repeat, or what was not there")
    if said["unique"] != len(lines) or said["lines"] != LINES:
        sys.exit("its own count is wrong: %s" % said)
    most = rate * len(distinct)
    if lost > most + 5 * math.sqrt(most) or abs(lost - wanted) > 5 * math.sqrt(wanted + 1):
        sys.exit("that is more, or less, than it should be")
    if rate == 0 and (lost or wanted):
        sys.exit("lost a line")


def check_window(program, path):
    """A stream much longer than the window: every key is new, so a missing line was dropped. If each key
    comes three times in a row, the window has fewer keys than lines, and drops fewer."""
    for window, rate, times in (("1000", 0.05, 1), (WINDOW, 0.01, 1), (WINDOW, 0.001, 1),
                                ("1000", 0.3, 3), (WINDOW, 0.2, 3)):
        keys = WINDOW_KEYS // times
        with open(path, "wb") as f:
            f.writelines(b"%d\n" % i * times for i in range(1, keys + 1))
        with open(path, "rb") as f:
            said, lines = report(program, ["--window", window, "-p", str(rate)] + SEED, f)
        lost, wanted = keys - len(lines), said["expected_dropped"]
        print("dedup --window %s -p %g, each %d times: lost %d, expected %.1f"
              % (window, rate, times, lost, wanted))
        most = rate * keys
        if lost > most + 5 * math.sqrt(most) or abs(lost - wanted) > 5 * math.sqrt(wanted):
            sys.exit("that is more, or less, than it should be")


def check_memory(program, generator):
    lines = subprocess.Popen([generator, str(MANY)], stdout=subprocess.PIPE)
    child = subprocess.Popen([program, "dedup", "-q", "-c", "--json", "--memory", "%dM" % MEMORY],
                             stdin=lines.stdout, stdout=subprocess.PIPE)
    lines.stdout.close()
    said = json.loads(child.stdout.read())
    _, status, used = os.wait4(child.pid, 0)
    lines.wait()
    print("--memory %dM: %d lines, %.1f MiB, %.1f by its own account" %
          (MEMORY, said["lines"], used.ru_maxrss / 1024, said["peak_bytes"] / 2**20))
    peak = max(used.ru_maxrss * 1024, said["peak_bytes"])
    if status or said["lines"] != MANY or peak > MEMORY << 20:
        sys.exit("that is more than it may take")


def main():
    program, generator = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    # This comes first, because the kernel counts the size of the parent process as memory of the child.
    check_memory(program, generator)
    with scratch.directory() as where:
        path = os.path.join(where, "lines")
        with open(path, "wb") as f:
            subprocess.run([generator, str(LINES)], stdout=f, check=True)
        with open(path, "rb") as f:
            distinct = set(f.read().split(b"\n")[:-1])
        n = str(len(distinct))
        for rate in ("0.05", "0.01", "0.001"):
            for options in (["-n", n], []):
                check_lost(program, ["-p", rate] + options + SEED, path, distinct, float(rate))
        check_lost(program, ["--memory", "10M"] + SEED, path, distinct, 0.01)
        check_lost(program, ["--exact"], path, distinct, 0)
        # Windows that cover the whole stream.
        for rate in ("0.05", "0.001"):
            for options in (["--window", str(LINES)], ["--window", "24h", "-n", n]):
                check_lost(program, ["-p", rate] + options + SEED, path, distinct, float(rate))
        check_window(program, os.path.join(where, "numbers"))
        for _ in range(2):
            store = os.path.join(where, "store")
            check_lost(program, ["--confirm", store, "-p", "0.3"], path, distinct, 0)
            os.unlink(store)


if __name__ == "__main__":
    main()
