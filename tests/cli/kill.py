#!/usr/bin/env python3
"""Kills `bloomery dedup` at random moments, and checks that no line is lost.

    kill.py PROGRAM [SEED] [--clock LIBRARY]

The same lines are read by many runs with the same state. Each run is killed (SIGKILL) after a random
time, except the last one. Then every line must have been printed completely by some run. Repeats are
allowed, missing lines are not. The same with SIGINT, after which a run must save its state and end by
the signal. The first run gets half of the lines, repeatedly, and is killed as soon as it has saved.

A run saves every second. LIBRARY, which is fast_clock.c, makes its clock run 16 times as fast; then
the lines are fed in a shorter time.
"""
import concurrent.futures
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import scratch  # noqa: E402

LINES = 60_000
PIECES = 40
FEED_SECONDS = 1.6  # longer than the time between two saves
FAST_FEED_SECONDS = 0.15  # the same with the fast clock, whose second lasts 0.0625 seconds
RUNS = 8


class Trial:
    def __init__(self, program, clock, name, options, lines, seed):
        self.name, self.lines = name, lines
        self.command = [program, "dedup", "-q"] + ([] if "--exact" in options else ["-p1e-9"])
        self.options = options
        self.env = dict(os.environ, LD_PRELOAD=clock) if clock else None
        self.seconds = FAST_FEED_SECONDS if clock else FEED_SECONDS
        self.rng = random.Random("%d %s" % (seed, name))

    def feed(self, child, lines, endless):
        """Writes the lines in pieces, with pauses, as a slow crawl would."""
        pieces = [b"".join(lines[i * len(lines) // PIECES:(i + 1) * len(lines) // PIECES])
                  for i in range(PIECES)]
        try:
            while True:
                for piece in pieces:
                    child.stdin.write(piece)
                    child.stdin.flush()
                    time.sleep(self.seconds / PIECES)
                if not endless:
                    break
            child.stdin.close()
        except (BrokenPipeError, ValueError):
            pass

    def wait_for_save(self, child):
        """Waits until the state is saved: a state file appears, a file of --confirm changes."""
        seen, limit = set(), time.monotonic() + 60
        while len(seen) <= ("--confirm" in self.options) and child.poll() is None:
            if time.monotonic() > limit:
                child.kill()
                sys.exit("%s: never saved" % self.name)
            try:
                now = os.stat(self.state)
                if now.st_size > 0:
                    seen.add((now.st_ino, now.st_mtime_ns))
            except FileNotFoundError:
                pass
            time.sleep(0.001)

    def run(self, lines, stop):
        """Returns the exit status; the output is in the file `out`. stop: None, a signal to send when the
        state has been saved, or (seconds, signal)."""
        with open(self.out, "wb") as stdout:
            child = subprocess.Popen(self.command + self.options, stdin=subprocess.PIPE,
                                     stdout=stdout, env=self.env)
            endless = isinstance(stop, signal.Signals)
            feeder = threading.Thread(target=self.feed, args=(child, lines, endless))
            feeder.start()
            if endless:
                self.wait_for_save(child)
                child.send_signal(stop)
            elif stop:
                try:
                    child.wait(stop[0])
                except subprocess.TimeoutExpired:
                    child.send_signal(stop[1])
            status = child.wait()
            feeder.join()
        return status

    def whole_lines(self):
        with open(self.out, "rb") as f:
            return f.read().split(b"\n")[:-1]

    def stop(self, attempt):
        how = signal.SIGINT if attempt % 4 == 3 else signal.SIGKILL
        if attempt == 0:
            return how, how
        if attempt == RUNS - 1:
            return how, None
        return how, (self.rng.uniform(0.01, 1.2 * self.seconds), how)

    def all_runs(self, where):
        self.out, self.state = os.path.join(where, "out"), os.path.join(where, "state")
        self.options = [self.state if o == "S" else o for o in self.options]
        printed, outputs = set(), 0
        for attempt in range(RUNS):
            how, stop = self.stop(attempt)
            status = self.run(self.lines[:LINES // 2] if attempt == 0 else self.lines, stop)
            if status not in (0, -how):
                sys.exit("%s: exit status %d" % (self.name, status))
            got = self.whole_lines()
            outputs += len(got)
            printed.update(got)
        wanted = {line.rstrip(b"\n") for line in self.lines}
        lost, unexpected = wanted - printed, printed - wanted
        print("%s: %d lines printed in %d runs for %d, %d lost" %
              (self.name, outputs, RUNS, len(wanted), len(lost)))
        if lost or unexpected:
            sys.exit("%s: lost %s, unexpected %s" % (self.name, sorted(lost)[:3], sorted(unexpected)[:3]))
        # Lines in the state are not printed again: a further run on the same lines prints nothing.
        self.run(self.lines[:2000], None)
        if self.whole_lines():
            sys.exit("%s: forgot what it had printed" % self.name)

    def __call__(self):
        with scratch.directory() as where:
            self.all_runs(where)


def main():
    args = sys.argv[1:]
    clock = None
    if "--clock" in args:
        at = args.index("--clock")
        clock = os.path.abspath(args[at + 1])
        if " " in clock or ":" in clock:
            clock = None  # LD_PRELOAD cannot express such a path
        del args[at:at + 2]
    program = os.path.abspath(args[0])
    seed = int(args[1]) if len(args) > 1 else 1
    print("seed %d" % seed)
    rng = random.Random(seed)
    lines = [b"http://site.test/%d\n" % rng.randrange(LINES) for _ in range(LINES)]
    trials = [Trial(program, clock, name, options, lines, seed) for name, options in (
        ("--state", ["--state", "S"]), ("--state -n", ["--state", "S", "-n1M"]),
        ("--exact --state", ["--exact", "--state", "S"]), ("--confirm", ["--confirm", "S"]),
        ("--window N", ["--window", "1M", "--state", "S"]),
        ("--window TIME", ["--window", "1h", "-n", "200k", "--state", "S"]))]
    # Concurrently, because they spend most of the time waiting.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(trial) for trial in trials]:
            done.result()


if __name__ == "__main__":
    main()
