#!/usr/bin/env python3
"""Compares `bloomery dedup` with other ways to remove repeated lines: dedup.py BIN FOLDER [LINES].

Measures peak memory and CPU seconds (user and system), which other load affects less than elapsed
time. `bloomery` and the bare scan run in turn, and the result is the median of their ratios. The slow
programs run once. Output goes to /dev/null; the input is in the page cache.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys

PYTHON_SET = """
import sys
seen = set()
out = sys.stdout.buffer
for line in sys.stdin.buffer:
    if line not in seen:
        seen.add(line)
        out.write(line)
"""
ROUNDS = 7


def measure(command, source, stdout=subprocess.DEVNULL, shell=False):
    """Returns CPU seconds, peak bytes and the standard error output."""
    with open(source, "rb") as stdin:
        child = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
                                 shell=shell, env=dict(os.environ, LC_ALL="C"))
        errors = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit("%s failed: %s" % (command, errors.decode()))
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, errors


class Table:
    def __init__(self):
        self.missed = []

    def row(self, name, cpu, peak, ratio="", target="", held=True):
        print("%-34s %8.2f %9.1f  %-30s %-10s %s" %
              (name, cpu, peak / 2**20, ratio, target, "" if not target else
               "ok" if held else "MISS"), flush=True)
        if target and not held:
            self.missed.append(name)


def main():
    folder, work = sys.argv[1], sys.argv[2]
    lines = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000_000
    bloomery, scan = folder + "/bloomery", folder + "/scan"
    urls = "%s/urls-%d.txt" % (work, lines)
    if not os.path.exists(urls):
        with open(urls + ".tmp", "wb") as f:
            subprocess.run([folder + "/make_urls", str(lines)], stdout=f, check=True)
        os.rename(urls + ".tmp", urls)
    expected = str(max(1000, lines // 2))
    dedup = [bloomery, "dedup", "-q", "--json"]
    confirm = work + "/confirm.fps"
    ours = {
        "bloomery dedup -n %s" % expected: dedup + ["-n", expected, "-p", "0.001", urls],
        "bloomery dedup": dedup + [urls],
        "bloomery dedup -n, from a pipe": dedup + ["-n", expected, "-p", "0.001"],
        "bloomery dedup, from a pipe": dedup,
        "bloomery dedup -n --url": dedup + ["-n", expected, "--url", urls],
        "bloomery dedup -n --url=crawl": dedup + ["-n", expected, "--url=crawl", urls],
        "bloomery dedup --exact": dedup + ["--exact", urls],
        "bloomery dedup --confirm": dedup + ["--confirm", confirm, urls],
    }
    print("%s: %d lines, %d bytes\n" % (os.path.basename(urls), lines, os.path.getsize(urls)))
    print("%-34s %8s %9s" % ("", "CPU s", "peak MiB"))
    cpu = {name: [] for name in ["scan"] + list(ours)}
    peak, report = {}, {}
    for _ in range(ROUNDS):
        used, peak["scan"], _errors = measure([scan, urls], urls)
        cpu["scan"].append(used)
        for name, command in ours.items():
            if os.path.exists(confirm):
                os.unlink(confirm)
            if name.endswith("a pipe"):
                # `cat` feeds the pipe; its time is not measured.
                feeder = subprocess.Popen(["cat", urls], stdout=subprocess.PIPE)
                child = subprocess.Popen(command, stdin=feeder.stdout, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE)
                feeder.stdout.close()
                errors = child.stderr.read()
                _, _status, rusage = os.wait4(child.pid, 0)
                feeder.wait()
                used = rusage.ru_utime + rusage.ru_stime
            else:
                used, _top, errors = measure(command, urls)
            cpu[name].append(used)
            report[name] = json.loads(errors.decode().splitlines()[-1])
            # Not ru_maxrss: the kernel's number includes the memory of this program before exec.
            peak[name] = max(peak.get(name, 0), report[name]["peak_bytes"])
    show(Table(), ours, cpu, peak, report, urls)


def ratio(cpu, a, b):
    return statistics.median(x / y for x, y in zip(cpu[a], cpu[b]))


def show(table, ours, cpu, peak, report, urls):
    names = list(ours)
    first, grows = names[0], names[1]
    table.row("read, find line ends, XXH3-128", statistics.median(cpu["scan"]), peak["scan"])
    limits = {first: ("scan", 2.2, "x scan"), grows: (first, 1.6, "x with -n"),
              names[3]: (names[2], 1.6, "x with -n, pipe"), names[4]: (first, 4, "x with -n"),
              names[5]: (first, 4, "x with -n")}
    for name in names:
        against, most, unit = limits.get(name, (first, None, "x with -n"))
        r = ratio(cpu, name, against)
        table.row(name, statistics.median(cpu[name]), peak[name], "%.2f %s" % (r, unit),
                  "<= %.1f" % most if most else "", most is None or r <= most)
    base = statistics.median(cpu[first])
    peers = [("sort -u -S4G --parallel=2", "sort -u -S4G --parallel=2 %s" % urls, 20),
             ("mawk '!s[$0]++'", "mawk '!s[$0]++' %s" % urls, 20),
             ("python3 set", [sys.executable, "-c", PYTHON_SET], 12)]
    distinct = None
    for name, command, least in peers:
        if isinstance(command, str) and not shutil.which(command.split()[0]):
            print("%-34s not installed" % name)
            continue
        used, top, _ = measure(command, urls, shell=isinstance(command, str))
        table.row(name, used, top, "%.1f x with -n, %.1f x dedup" % (
            used / base, used / statistics.median(cpu[grows])), ">= %d" % least, used >= least * base)
    distinct = int(subprocess.run("LC_ALL=C sort -u -S1G %s | wc -l" % urls, shell=True,
                                  stdout=subprocess.PIPE, check=True).stdout)
    print("\n%-34s %10s %8s %10s" % ("", "unique", "lost", "expected"))
    print("%-34s %10d" % ("sort -u | wc -l", distinct))
    for name in names:
        if "--url" in name:
            continue
        lost = distinct - report[name]["unique"]
        wanted = report[name]["expected_dropped"]
        good = lost == 0 if wanted == 0 else 0 <= lost and abs(lost - wanted) <= 5 * wanted**0.5 + 5
        print("%-34s %10d %8d %10.1f  %s" % (name, report[name]["unique"], lost, wanted,
                                           "ok" if good else "MISS"))
        if not good:
            table.missed.append(name)
    for what, held in (("peak memory with -n under 24 MiB", peak[first] < 24 << 20),
                       ("peak without -n within 2.5 times", peak[grows] <= 2.5 * peak[first]),
                       ("the same from a pipe", peak[names[3]] <= 2.5 * peak[names[2]])):
        print("%-34s %s" % (what, "ok" if held else "MISS"))
        if not held:
            table.missed.append(what)
    print("\n%s" % ("missed targets: " + ", ".join(table.missed) if table.missed else "all targets met"))


if __name__ == "__main__":
    main()
