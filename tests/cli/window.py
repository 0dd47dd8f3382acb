#!/usr/bin/env python3
"""Holds `bloomery dedup --window N` to its word, line by line: window.py PROGRAM [SEED].

Of a random stream no line may be printed that was among the last N, and every line must be printed
that was not among the last N, an eighth more and a dozen. In one run, and in many short ones that
hand a state on. The rate is so low that no line is lost.
"""
import os
import random
import subprocess
import sys
import tempfile

RATE = "1e-9"


def run(program, options, lines):
    done = subprocess.run([program, "dedup", "-p", RATE, "--field", "1"] + options,
                          input="".join(lines).encode(), capture_output=True, timeout=300)
    if done.returncode or done.stderr:
        sys.exit("dedup %s: %s" % (options, done.stderr.decode()))
    return {int(line.split("\t")[1]) for line in done.stdout.decode().splitlines()}


def trial(program, size, keys, total, piece, rng, where):
    """A line is a key, and its number in the stream."""
    stream = [rng.randrange(keys) for _ in range(total)]
    lines = ["%d\t%d\n" % (key, i) for i, key in enumerate(stream)]
    options = ["--window", str(size)]
    if piece < total:
        options += ["--state", os.path.join(where, "%d.%d" % (size, piece))]
    printed = set()
    for i in range(0, total, piece):
        printed |= run(program, options, lines[i:i + piece])
    last, known, forgotten = {}, 0, 0
    for i, key in enumerate(stream):
        others = len(set(stream[last[key] + 1:i])) if key in last else None
        if key in last and i - last[key] <= size:
            known += 1
            if i in printed:
                sys.exit("--window %d, runs of %d: line %d was seen %d lines before, and is "
                         "printed" % (size, piece, i, i - last[key]))
        elif others is None or others > size + size / 8 + 13:
            forgotten += 1
            if i not in printed:
                sys.exit("--window %d, runs of %d: line %d is not printed" % (size, piece, i))
        last[key] = i
    return known, forgotten


def main():
    program = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as where:
        for size in (1, 2, 3, 5, 8, 30, 100, 1000):
            for keys in (int(size * 1.5) + 2, size * 4 + 40):
                known, forgotten = trial(program, size, keys, 6000, 6000, rng, where)
                print("--window %d: %d repeats known, %d forgotten" % (size, known, forgotten))
            for piece in (1, 3, 7):
                trial(program, size, int(size * 1.5) + 2, 60, piece, rng, where)
                os.unlink(os.path.join(where, "%d.%d" % (size, piece)))
    print("seed %d" % seed)


if __name__ == "__main__":
    main()
