#!/usr/bin/env python3
"""Checks `bloomery dedup --window N` line by line: window_lines.py PROGRAM [SEED] [--large].

A line that was among the last N must not be printed. A line that has not occurred among the last
N + N/8 + 12 must be printed. Repeats count as lines, so three kinds of streams are tested: keys of equal
frequency, keys by Zipf's law, and one key that is most of the stream. Each is tested in one run, and in
many short runs with a state, some of them without input. The rate is so low that no new line is dropped.
With --large there are larger windows, longer streams and more short runs.
"""
import itertools
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
import scratch  # noqa: E402

RATE = "1e-9"


def run(program, options, lines):
    done = subprocess.run([program, "dedup", "-p", RATE, "--field", "1"] + options,
                          input="".join(lines).encode(), capture_output=True, timeout=300)
    if done.returncode or done.stderr:
        sys.exit("dedup %s: %s" % (options, done.stderr.decode()))
    return {int(line.split("\t")[1]) for line in done.stdout.decode().splitlines()}


def uniform(keys, total, rng):
    return [rng.randrange(keys) for _ in range(total)]


def zipf(keys, total, rng):
    weights = itertools.accumulate(1 / (i + 1) for i in range(keys))
    return rng.choices(range(keys), cum_weights=list(weights), k=total)


def one_key(keys, total, rng):
    """Ninety-nine lines of a hundred are the same."""
    return [rng.randrange(keys) if rng.randrange(100) == 0 else keys for _ in range(total)]


def judge(size, stream, printed, where):
    """Returns how many lines must be known, and how many must be forgotten."""
    last, known, forgotten = {}, 0, 0
    limit = size + -(-size // 8) + 12
    for i, key in enumerate(stream):
        others = i - last[key] - 1 if key in last else None
        if others is not None and others < size:
            known += 1
            if i in printed:
                sys.exit("%s: line %d came %d lines before, and is printed"
                         % (where, i, others + 1))
        elif others is None or others >= limit:
            forgotten += others is not None
            if i not in printed:
                sys.exit("%s: line %d, with %s others since it came last, is not printed"
                         % (where, i, others))
        last[key] = i
    return known, forgotten


def trial(program, size, stream, pieces, directory):
    """Each line consists of a key and its number in the stream. The runs read `pieces` lines each, in rotation."""
    lines = ["%d\t%d\n" % (key, i) for i, key in enumerate(stream)]
    where = "--window %d, runs of %s" % (size, pieces)
    options = ["--window", str(size)]
    state = os.path.join(directory, "state")
    if pieces:
        options += ["--state", state]
    printed, at = set(), 0
    for piece in itertools.cycle(pieces or [len(lines)]):
        printed |= run(program, options, lines[at:at + piece])
        at += piece
        if at >= len(lines):
            break
    if pieces:
        os.unlink(state)
    return judge(size, stream, printed, where)


def whole_streams(program, rng, directory, large):
    for size in (1, 2, 3, 5, 8, 10, 30, 100, 1000, 100000 if large else 10000):
        for make in (uniform, zipf, one_key):
            keys = {uniform: int(size * 1.5) + 2, zipf: size * 4 + 40, one_key: size // 50 + 10}
            stream = make(keys[make], max(6000 if large else 3000, 5 * size), rng)
            known, forgotten = trial(program, size, stream, None, directory)
            print("--window %d, %s: %d repeats known, %d forgotten"
                  % (size, make.__name__, known, forgotten))
            if not known or not forgotten:
                sys.exit("the stream tests nothing")


def many_runs(program, rng, directory, large):
    """Runs without input add nothing to the window, however many there are. If they did, lines would be
    forgotten too early; 12 lines, in runs of which most are empty, are enough to see that. Lines that are
    forgotten too late need 30. Every run is a process."""
    number = 0
    for size in (1, 2, 5, 13, 30) if large else (1, 5, 13):
        for pieces in ((1,), (3,), (7,), (1, 0, 0, 0), (0, 2, 1, 0)):
            number += 1
            total = 12 if sum(pieces) * 4 == len(pieces) and not large else 30
            for make in (uniform, zipf) if large else ((uniform, zipf)[number % 2],):
                trial(program, size, make(int(size * 1.5) + 2, total, rng), pieces, directory)
    # More empty runs than a window has generations.
    for size in (1, 2, 5) if large else (2,):
        runs = (size,) + (30 if large else 16) * (0,)
        trial(program, size, [i // 2 % (size + 1) for i in range(4 * size)], runs, directory)


def main():
    program = os.path.abspath(sys.argv[1])
    large = "--large" in sys.argv
    seeds = [arg for arg in sys.argv[2:] if arg != "--large"]
    seed = int(seeds[0]) if seeds else 1
    rng = random.Random(seed)
    with scratch.directory() as directory:
        whole_streams(program, rng, directory, large)
        many_runs(program, rng, directory, large)
    print("seed %d" % seed)


if __name__ == "__main__":
    main()
