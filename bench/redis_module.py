"""Measures the module in a real server: CPU time per command compared with a null command, throughput
compared with GET, bits per item, rates, and the longest pause of the event loop.

Usage: redis_module.py JSON [--quick] [speed|space|stalls ...]. Run by scripts/bench-redis. Times are CPU
nanoseconds of the server's main thread (/proc), which do not include the client and other programs.
Ratios are computed per round, and the result is the median of the rounds.
"""
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/module"))

from harness import Client, Server, as_dict, remove_all  # noqa: E402

QUICK = "--quick" in sys.argv
only = [word for word in sys.argv[2:] if not word.startswith("-")]
KEYS = 1_000_000 if QUICK else 10_000_000
ROUNDS = 3 if QUICK else 7
ITEMS = 100
rows = []


def show(what, value, bound, unit="x", at_most=True):
    """Prints one value with its target, and records both."""
    good = value <= bound if at_most else value >= bound
    rows.append({"what": what, "value": value, "bound": bound, "at_most": at_most, "held": good})
    sign = "<=" if at_most else ">="
    print(f"{what:<62} {value:9.3f}{unit:<6} {sign} {bound:<7g} {'ok' if good else 'MISS'}",
          flush=True)


def cpu_ns(server):
    with open(f"/proc/{server.pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


def drive(server, commands, depth, args):
    """Sends one command `commands` times. Returns (CPU ns per command, commands per second)."""
    begin = cpu_ns(server)
    out = subprocess.run(
        ["redis-benchmark", "-s", server.unix, "-n", str(commands), "-P", str(depth), "-c", "16",
         "-r", str(KEYS), "--csv", *args], check=True, stdout=subprocess.PIPE)
    spent = (cpu_ns(server) - begin) / commands
    rate = float(out.stdout.decode().strip().split("\n")[-1].split('","')[1].strip('"'))
    return spent, rate


def key(i):
    return b"key:%012d" % i


def fill(client, command, name, first, last, per=1000):
    batch = []
    for i in range(first, last, per):
        batch.append((command, name, *(key(j) for j in range(i, min(i + per, last)))))
        if len(batch) == 50:
            client.pipeline(batch)
            batch = []
    client.pipeline(batch)


def measured_rate(client, command, name, tries=200_000):
    hits = 0
    for i in range(0, tries, 1000):
        hits += sum(map(bool, client(command, name, *(b"never:%d" % j for j in range(i, i + 1000)))))
    return hits / tries


def compare(server, what, bound, command, depth, per_command, commands):
    """Shows the CPU time of `command` divided by that of the null command, BLY.NOOP."""
    items = ["key:__rand_int__"] * per_command
    ratios = []
    for _ in range(ROUNDS):
        floor, _ = drive(server, commands, depth, ["BLY.NOOP", "full", *items])
        cost, _ = drive(server, commands, depth, [command[0], command[1], *items])
        ratios.append(cost / floor)
    show(what, statistics.median(ratios), bound)


def speed(server):
    c = server.client()
    c.must("BF.RESERVE", "full", "0.01", KEYS)
    c.must("BF.RESERVE", "new", "0.01", KEYS)
    fill(c, "BF.MADD", "full", 0, KEYS)
    for i in range(0, KEYS, 1000):
        c.must("MSET", *(word for j in range(i, i + 1000) for word in (key(j), b"1")))
    single, many = (300_000, 20_000) if QUICK else (1_000_000, 60_000)
    compare(server, f"BF.EXISTS, P=64, {KEYS} keys: CPU over the null command", 1.25,
            ("BF.EXISTS", "full"), 64, 1, single)
    compare(server, f"BF.ADD, P=64, {KEYS} keys: CPU over the null command", 1.25,
            ("BF.ADD", "new"), 64, 1, single)
    compare(server, f"BF.MEXISTS of {ITEMS}, P=16, {KEYS} keys: CPU over the null command", 1.6,
            ("BF.MEXISTS", "full"), 16, ITEMS, many)
    compare(server, f"BF.MADD of {ITEMS}, P=16, {KEYS} keys: CPU over the null command", 1.6,
            ("BF.MADD", "new"), 16, ITEMS, many)
    for depth in (1, 16, 64):
        n = 100_000 if depth == 1 else single
        pairs = []
        for _ in range(ROUNDS):
            _, get = drive(server, n, depth, ["GET", "key:__rand_int__"])
            _, exists = drive(server, n, depth, ["BF.EXISTS", "full", "key:__rand_int__"])
            pairs.append(exists / get)
        show(f"BF.EXISTS throughput over GET's, P={depth}", statistics.median(pairs), 0.97,
             at_most=False)
    c.must("FLUSHALL")


def bits(client, command, name, items):
    return 8 * as_dict(client(command, name))["Size"] / items


def space(server):
    c, n = server.client(), 1_000_000
    c.must("BF.RESERVE", "reserved", "0.01", n)
    fill(c, "BF.MADD", "reserved", 0, n)
    show("BF bits per item at 1%: reserved and filled", bits(c, "BF.INFO", "reserved", n), 10.8, "")
    c.must("BF.RESERVE", "grown", "0.01", 1000)
    fill(c, "BF.MADD", "grown", 0, n)
    show("BF bits per item at 1%: grown from 1k to 1M", bits(c, "BF.INFO", "grown", n), 20, "")
    show("   measured rate", 100 * measured_rate(c, "BF.MEXISTS", "grown"), 1, "%")
    fill(c, "BF.MADD", "made", 0, n)
    show("BF bits per item at 1%: created by its first add, 1M", bits(c, "BF.INFO", "made", n), 34,
         "")
    show("   measured rate", 100 * measured_rate(c, "BF.MEXISTS", "made"), 1, "%")
    c.must("CF.RESERVE", "c", n, "ERROR", "0.01")
    fill_cf(c, "c", n)
    show("CF bits per item at 1%: reserved", bits(c, "CF.INFO", "c", n), 11.5, "")
    show("   measured rate", 100 * measured_rate(c, "CF.MEXISTS", "c"), 1, "%")
    c.must("CF.RESERVE", "cg", 1000, "ERROR", "0.01")
    fill_cf(c, "cg", n)
    show("CF bits per item at 1%: grown from 1k to 1M", bits(c, "CF.INFO", "cg", n), 20, "")
    show("   measured rate", 100 * measured_rate(c, "CF.MEXISTS", "cg"), 1, "%")
    c.must("FLUSHALL")


def fill_cf(client, name, n):
    for i in range(0, n, 1000):
        client.must("CF.INSERT", name, "ITEMS", *(key(j) for j in range(i, i + 1000)))


def watch(path, ready, running, longest):
    """A process that sends PING in a loop and records the longest time between two answers."""
    client = Client(path)
    last = time.perf_counter()
    while running.value:
        client("PING")
        now = time.perf_counter()
        longest.value, last = max(longest.value, now - last), now
        ready.set()


def pause(server, action, after=0.3):
    """Runs `action`. Returns the longest time in ms between two answers on another connection."""
    ready, running = multiprocessing.Event(), multiprocessing.Value("b", 1)
    longest = multiprocessing.Value("d", 0.0)
    watcher = multiprocessing.Process(target=watch, args=(server.unix, ready, running, longest))
    watcher.start()
    ready.wait()
    time.sleep(0.05)
    longest.value = 0.0
    action()
    time.sleep(after)
    running.value = 0
    watcher.join()
    return 1000 * longest.value


def stalls(server):
    c = server.client()
    few = 20_000
    cases = {name: [] for name in ("idle", "create", "delete", "grow BF", "grow CF", "rotate",
                                   "flush")}

    def measure(name, action, after=0.3):
        cases[name].append(pause(server, action, after))

    def drop(name):
        c.must("DEL", name)
        settle(c)

    for _ in range(5):
        measure("idle", lambda: None)
        measure("create", lambda: c.must("BF.RESERVE", "big", "0.01", "800000000"))
        touch(c, "BF.MADD", "big")
        measure("delete", lambda: c.must("DEL", "big"))
        settle(c)
        c.must("BF.RESERVE", "g", "0.01", few, "EXPANSION", "32768")
        fill(c, "BF.MADD", "g", 0, few - 200)
        measure("grow BF", lambda: adds(c, "BF.ADD", "g"))
        drop("g")
        c.must("CF.RESERVE", "h", few, "EXPANSION", "32768", "ERROR", "0.01")
        fill_cf(c, "h", few)
        measure("grow CF", lambda: adds(c, "CF.ADD", "h"))
        drop("h")
        c.must("BLY.RESERVE", "w", "KIND", "window", "CAPACITY", "400000000", "SPAN", "8000",
               "ERROR", "0.01")
        touch(c, "BLY.ADD", "w")
        measure("rotate", lambda: None, 2.5)
        measure("flush", lambda: c.must("FLUSHALL"))
        settle(c)
    for name, times in cases.items():
        if name != "idle":
            show(f"longest pause, best of 5: {name} (1 GB); idle {min(cases['idle']):.1f} ms",
                 min(times), 5, " ms")


def adds(client, command, name):
    """Adds enough items, in small pipelines, to make a filter grow."""
    client.pipeline([(command, name, b"more:%d" % i) for i in range(900)], batch=10)


def touch(client, command, name):
    """Adds items to a big filter, so that the system allocates its pages."""
    for i in range(0, 400_000, 1000):
        client.must(command, name, *(b"touch:%d" % j for j in range(i, i + 1000)))


def settle(client):
    """Waits until the background thread has freed everything."""
    for _ in range(600):
        text = client.must("INFO", "everything").decode()
        left = re.search(r"pending[a-z_]*:(\d+)", text)
        if not left or left.group(1) == "0":
            return
        time.sleep(0.05)


def main():
    server = Server('save ""')
    try:
        for part in (speed, space, stalls):
            if not only or part.__name__ in only:
                part(server)
    finally:
        remove_all()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(rows, out, indent=1)
    missed = [row["what"] for row in rows if not row["held"]]
    print(f"Targets: {len(rows) - len(missed)} met, {len(missed)} missed.")
    return 1 if missed else 0


sys.exit(main())
