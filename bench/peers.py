#!/usr/bin/env python3
"""Bloomery beside Guava's Bloom filter and DCSO's command `bloom`: peers.py BIN CLASSES JAR FOLDER
JSON [--quick] [guava] [dcso]. Run by scripts/bench-peers.

Guava: each side is one process for all rounds, so that the JIT compiler has done its work before the
measured rounds; the two sides run in turn, one round each. DCSO: both programs read the same files; CPU
seconds are the user and system time of all threads. In both comparisons a ratio is computed per round,
and the result is the median of the rounds.
"""
import json
import os
import statistics
import subprocess
import sys

P = 0.01
OPERATIONS = ("add", "contains, non-members", "contains, members")


class Peer:
    """One side of the comparison with Guava: a process that measures a round when told to."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.key = self.process.stdout.readline()
        if not self.key:
            sys.exit("%s did not start" % command[0])

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("%s failed" % self.process.args[0])
        return [float(word) for word in line.split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def median(values):
    return statistics.median(values)


def guava(tools, n, rounds):
    """Compares adds and lookups per second, by single calls and in batches, with Guava's put and mightContain."""
    theirs = Peer(["java", "-cp", tools["classes"] + ":" + tools["jar"], "GuavaBench", str(n), str(P)])
    ours = Peer([tools["bin"] + "/peers", str(n), str(P)])
    if theirs.key != ours.key:
        sys.exit("the two sides have different keys")
    a, b = [], []
    for i in range(rounds):
        for side, rows in ((theirs, a), (ours, b))[::1 if i % 2 else -1]:
            rows.append(side.round())
    theirs.close()
    ours.close()
    print("Guava, %d keys of 16 bytes, p = 1%%, one thread, %d rounds; million keys per second" % (n, rounds))
    print("%-24s %8s %14s %8s %14s %8s" % ("", "Guava", "ours, single", "x Guava", "ours, batched", "x Guava"))
    result = {"peer": "guava", "n": n, "rounds": rounds}
    for i, what in enumerate(OPERATIONS):
        single, batched = ([x[i] / y[j] for x, y in zip(a, b)] for j in (i, i + 3))
        print("%-24s %8.1f %14.1f %7.2fx %14.1f %7.2fx" % (
            what, 1e3 / median([x[i] for x in a]), 1e3 / median([y[i] for y in b]), median(single),
            1e3 / median([y[i + 3] for y in b]), median(batched)))
        result[what] = {"ns": median([x[i] for x in a]), "ours_single": median([y[i] for y in b]),
                        "ours_batched": median([y[i + 3] for y in b]), "ratio_single": median(single),
                        "ratio_batched": median(batched)}
    for name, row, false_positives in (("Guava", a[0][3], sum(x[4] for x in a)),
                                       ("ours", b[0][6], sum(y[7] for y in b))):
        rate = false_positives / (n * rounds)
        print("%-8s %.3f bits per key, measured rate %.3f%%" % (name, 8 * row / n, 100 * rate))
        result[name] = {"bytes": row, "rate": rate}
    print(flush=True)
    return result


def cpu(command, source=None, output=None):
    """Returns the CPU seconds of a command, user and system."""
    stdin = open(source, "rb") if source else subprocess.DEVNULL
    stdout = open(output, "wb") if output else subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit("%s failed" % " ".join(command))
    return used.ru_utime + used.ru_stime


def lines_of(path):
    with open(path, "rb") as f:
        return sum(1 for _ in f)


def dcso(tools, n, rounds):
    """Compares the CPU seconds to build a filter from a file, and to check two files, with those of `bloom`."""
    work, bloomery = tools["folder"], tools["bin"] + "/bloomery"
    files = {}
    for name, first in (("members", 0), ("non-members", 1 << 40)):
        files[name] = "%s/peers-%s-%d.txt" % (work, name, n)
        with open(files[name], "wb") as f:
            subprocess.run([tools["bin"] + "/peers", "lines", str(first), str(n)], stdout=f, check=True)
    theirs, ours, found = work + "/peers.bloom", work + "/peers.bly", work + "/peers.found"
    spent = {"build": [], "check, non-members": [], "check, members": []}
    hits = {}
    for i in range(rounds):
        row = {}
        for side in ("dcso", "ours")[::1 if i % 2 else -1]:
            if side == "dcso":
                if os.path.exists(theirs):
                    os.unlink(theirs)
                row[side] = [cpu(["bloom", "create", "-p", str(P), "-n", str(n), theirs]) +
                             cpu(["bloom", "insert", theirs], files["members"])]
            else:
                row[side] = [cpu([bloomery, "build", "-f", "-q", "-p", str(P), "-o", ours, files["members"]])]
            for what in ("non-members", "members"):
                row[side].append(cpu(["bloom", "check", theirs], files[what], found) if side == "dcso"
                                 else cpu([bloomery, "check", ours], files[what], found))
                hits[side, what] = lines_of(found)
        for j, what in enumerate(spent):
            spent[what].append((row["dcso"][j], row["ours"][j]))
    if hits["dcso", "members"] != n or hits["ours", "members"] != n:
        sys.exit("a member was not found")
    print("DCSO bloom, %d lines of 32 characters, p = 1%%, %d rounds; CPU seconds" % (n, rounds))
    print("%-24s %8s %8s %8s" % ("", "bloom", "bloomery", "ratio"))
    result = {"peer": "dcso", "n": n, "rounds": rounds}
    for what, pairs in spent.items():
        ratio = median([x / y for x, y in pairs])
        print("%-24s %8.3f %8.3f %7.1fx" % (what, median([x for x, _ in pairs]), median([y for _, y in pairs]),
                                            ratio))
        result[what] = {"cpu": median([x for x, _ in pairs]), "ours": median([y for _, y in pairs]), "ratio": ratio}
    for side, path in (("dcso", theirs), ("ours", ours)):
        rate = hits[side, "non-members"] / n
        print("%-8s file of %.3f bits per key, measured rate %.3f%%" % (
            side, 8 * os.path.getsize(path) / n, 100 * rate))
        result[side] = {"bytes": os.path.getsize(path), "rate": rate}
    print(flush=True)
    for path in [*files.values(), theirs, ours, found]:
        os.unlink(path)
    return result


def main():
    names = ("bin", "classes", "jar", "folder")
    tools = dict(zip(names, sys.argv[1:]))
    only = [word for word in sys.argv[6:] if not word.startswith("-")]
    quick = "--quick" in sys.argv
    sizes = [1_000_000] if quick else [1_000_000, 10_000_000]
    results = []
    for peer in (guava, dcso):
        for n in sizes:
            if not only or peer.__name__ in only:
                results.append(peer(tools, n, 3 if quick else 5))
    with open(sys.argv[5], "w", encoding="utf-8") as out:
        json.dump(results, out, indent=1)


main()
