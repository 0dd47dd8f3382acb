#!/usr/bin/env python3
"""Kills `bloomery dedup` at random moments and looks whether a line was lost: kill.py PROGRAM.

The same lines are fed again and again, with something that remembers across runs; each run is
killed (SIGKILL) after a random time, until one is let through. Every line must then have been
printed whole by some run. Repeats are allowed, losses are not. The same with SIGINT, on which a
run must save and die of the signal.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

LINES = 60_000
FEED_SECONDS = 1.6  # longer than the time between two saves


def feed(child, lines):
    """Writes the lines in pieces, with pauses, as a slow crawl would."""
    pieces = 40
    try:
        for i in range(pieces):
            child.stdin.write(b"".join(lines[i * LINES // pieces:(i + 1) * LINES // pieces]))
            child.stdin.flush()
            time.sleep(FEED_SECONDS / pieces)
        child.stdin.close()
    except (BrokenPipeError, ValueError):
        pass


def run(program, options, lines, stop, out):
    """Exit status, with the output in the file `out`. stop: None, or (seconds, signal)."""
    with open(out, "wb") as stdout:
        child = subprocess.Popen([program, "dedup", "-q", "-p" + "1e-9"] + options
                                 if "--exact" not in options else
                                 [program, "dedup", "-q"] + options,
                                 stdin=subprocess.PIPE, stdout=stdout)
        feeder = threading.Thread(target=feed, args=(child, lines))
        feeder.start()
        if stop:
            try:
                child.wait(stop[0])
            except subprocess.TimeoutExpired:
                child.send_signal(stop[1])
        status = child.wait()
        feeder.join()
    return status


def whole_lines(path):
    with open(path, "rb") as f:
        return f.read().split(b"\n")[:-1]


def trial(program, name, options, lines, where, rng):
    printed, outputs = set(), 0
    for attempt in range(8):
        last = attempt == 7
        how = signal.SIGINT if attempt % 4 == 3 else signal.SIGKILL
        stop = None if last else (rng.uniform(0.01, FEED_SECONDS + 0.3), how)
        out = os.path.join(where, "out")
        status = run(program, options, lines, stop, out)
        if status not in (0, -how):
            sys.exit("%s: exit status %d" % (name, status))
        got = whole_lines(out)
        outputs += len(got)
        printed.update(got)
    lost = {line.rstrip(b"\n") for line in lines} - printed
    strange = printed - {line.rstrip(b"\n") for line in lines}
    print("%s: %d lines printed in 8 runs for %d, %d lost" %
          (name, outputs, len(set(lines)), len(lost)))
    if lost or strange:
        sys.exit("%s: lost %s, strange %s" % (name, sorted(lost)[:3], sorted(strange)[:3]))
    # What the state knows is not printed again: the last run, on the same lines, has nothing left.
    out = os.path.join(where, "out")
    run(program, options, lines[:2000], None, out)
    if whole_lines(out):
        sys.exit("%s: forgot what it had printed" % name)


def main():
    program = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print("seed %d" % seed)
    rng = random.Random(seed)
    lines = [b"http://site.test/%d\n" % rng.randrange(LINES) for _ in range(LINES)]
    for name, options in (("--state", ["--state", "S"]), ("--state -n", ["--state", "S", "-n1M"]),
                          ("--exact --state", ["--exact", "--state", "S"]),
                          ("--confirm", ["--confirm", "S"]),
                          ("--window N", ["--window", "1M", "--state", "S"]),
                          ("--window TIME", ["--window", "1h", "-n", "200k", "--state", "S"])):
        with tempfile.TemporaryDirectory() as where:
            state = os.path.join(where, "state")
            trial(program, name, [state if o == "S" else o for o in options], lines, where, rng)


if __name__ == "__main__":
    main()
