"""A cluster of six nodes, with clients that add, slots that move and masters that die.

The guarantee is the engine's: when a master dies, writes that its replica has not received are
lost. So only adds that WAIT 1 confirmed count. Each of them must be found at the end, and every
copy of every key must be the same.
"""
import sys

sys.dont_write_bytecode = True

import threading  # noqa: E402
import time  # noqa: E402

from harness import (Cluster, ClusterClient, Error, digests, eq, key_slot, main, ok,  # noqa: E402
                     text, wait_for)
from program import LONG_SPAN  # noqa: E402

MAKERS = {
    "bf": ("BF.RESERVE", "0.01", 100),
    "bf2": ("BF.RESERVE", "0.001", 5000, "EXPANSION", 4),
    "cf": ("CF.RESERVE", 1000),
    "rb": ("BLY.RESERVE", "LAYOUT", "redisbloom", "CAPACITY", 100, "ERROR", "0.01", "EXPANSION", 2),
    "rc": ("BLY.RESERVE", "LAYOUT", "redisbloom-cuckoo", "CAPACITY", 1000, "BUCKETSIZE", 2,
           "MAXITERATIONS", 20, "EXPANSION", 2),
    "win": ("BLY.RESERVE", "KIND", "window", "CAPACITY", 10 ** 5, "SPAN", LONG_SPAN),
    "gro": ("BLY.RESERVE", "KIND", "growable-cuckoo", "CAPACITY", 100, "HORIZON", 10 ** 6),
    "cnt": ("BLY.RESERVE", "KIND", "counting", "CAPACITY", 20000),
}
ADD = {"bf": "BF.MADD", "bf2": "BF.MADD", "rb": "BF.MADD", "cf": "CF.INSERT", "rc": "CF.INSERT"}
BIG = "big:0"
BATCH = 10
PATIENT, HASTY = 30000, 500  # milliseconds until a node that does not answer counts as dead


class Adder(threading.Thread):
    """Adds to its own keys, and waits for a replica after each batch."""

    def __init__(self, cluster, number):
        super().__init__(daemon=True)
        self.client = ClusterClient([n.port for n in cluster.nodes], patience=60)
        self.keys = [f"{maker}:{number}:{i}" for maker in MAKERS for i in range(3)]
        if number == 0:
            self.keys.append(BIG)
        self.number = number
        self.confirmed = {key: [] for key in self.keys}
        self.unconfirmed = 0
        self.wrong = None
        self.over = False

    def make(self):
        for key in self.keys:
            maker = MAKERS.get(key.split(":")[0], ("BF.RESERVE", "0.01", 30 * 10 ** 6))
            reply = self.client(maker[0], key, *maker[1:])
            ok(not isinstance(reply, Error), f"{key}: {reply!r}")

    def add(self, key, items):
        name = ADD.get(key.split(":")[0], "BF.MADD" if key == BIG else "BLY.ADD")
        words = ["ITEMS"] if name == "CF.INSERT" else []
        reply, port = self.client.at(name, key, *words, *items)
        if isinstance(reply, Error) or any(x not in (0, 1) for x in reply):
            raise AssertionError(f"{name} {key}: {reply!r}")
        try:
            reached = self.client.link(port)("WAIT", 1, 2000)
        except OSError:
            self.client.drop(port)
            reached = 0
        if reached and not isinstance(reached, Error):
            self.confirmed[key] += items
        else:
            self.unconfirmed += len(items)

    def run(self):
        count = 0
        try:
            while not self.over:
                for key in self.keys:
                    self.add(key, [b"%d" % (count + i) for i in range(BATCH)])
                count += BATCH
        except Exception as why:  # noqa: BLE001 - reported to the main thread
            self.wrong = repr(why)


def total(adders):
    for adder in adders:
        ok(adder.wrong is None, adder.wrong)
    return sum(len(items) for a in adders for items in a.confirmed.values())


def go_on(adders, n=2000):
    """Waits until n more adds are confirmed."""
    begin = total(adders)
    wait_for(lambda: total(adders) >= begin + n, 90, "confirmed adds")


def check_found(cluster, adders):
    client = ClusterClient([n.port for n in cluster.alive()])
    for adder in adders:
        for key, items in adder.confirmed.items():
            for i in range(0, len(items), 500):
                part = items[i:i + 500]
                found = client("BLY.CHECK", key, *part)
                lost = [x for x, hit in zip(part, found) if hit != 1]
                ok(not lost, f"{key}: {len(lost)} confirmed adds lost of {len(items)}: {lost[:5]}")
    client.close()


def check_copies(cluster, adders):
    """Checks that each key has the same digest on its master and on its replica."""
    cluster.wait_ok()
    cluster.wait_replicas()
    seen = {}
    for node in cluster.alive():
        with node.client() as c:
            c.must("READONLY")
            for key, digest in digests(c).items():
                seen.setdefault(text(key), {})[node.name] = digest
    eq(sorted(seen), sorted(k for a in adders for k in a.keys), "keys")
    for key, by_node in seen.items():
        eq(len(by_node), 2, f"copies of {key} on {sorted(by_node)}")
        eq(len(set(by_node.values())), 1, f"digests of {key}: {by_node}")


def set_node_timeout(cluster, milliseconds):
    for node in cluster.alive():
        with node.client() as c:
            c.must("CONFIG", "SET", "cluster-node-timeout", milliseconds)


def move_slots(cluster, adders):
    keys = [adders[0].keys[i] for i in (0, 4, 8, 10, 13, 16, 19, 22)] + [BIG]
    for key in keys:
        slot = key_slot(key)
        source = cluster.owner(slot)
        target = [m for m in cluster.masters if m is not source][key_slot(key) % 2]
        cluster.migrate(slot, target, pause=0.02)
        ok(cluster.owner(slot) is target, f"{key} did not move")


def test_slots_move_and_masters_die():
    cluster = Cluster()
    set_node_timeout(cluster, PATIENT)
    adders = [Adder(cluster, i) for i in range(2)]
    for adder in adders:
        adder.make()
        adder.start()
    go_on(adders)
    begin = time.monotonic()
    move_slots(cluster, adders)
    move_slots(cluster, adders)
    go_on(adders)
    print(f"  slots moved, {time.monotonic() - begin:.1f} s")

    # Nothing has waited until the replicas have the keys that MIGRATE sent to their masters.
    cluster.wait_replicas()
    begin = time.monotonic()
    master = cluster.owner(key_slot(BIG))
    cluster.failover(cluster.replicas_of(master)[0])
    go_on(adders)
    print(f"  CLUSTER FAILOVER, {time.monotonic() - begin:.1f} s")

    begin = time.monotonic()
    dead = cluster.owner(key_slot(adders[0].keys[0]))
    dead.kill()
    # Two of three masters are left, so neither can be declared dead for being slow.
    set_node_timeout(cluster, HASTY)
    cluster.wait_promoted(dead)
    set_node_timeout(cluster, PATIENT)
    dead.start()
    cluster.wait_ok()
    go_on(adders)
    print(f"  kill -9 of a master, {time.monotonic() - begin:.1f} s")

    for adder in adders:
        adder.over = True
    for adder in adders:
        adder.join(60)
    check_copies(cluster, adders)
    check_found(cluster, adders)
    print(f"  {total(adders)} confirmed adds, {sum(a.unconfirmed for a in adders)} not confirmed")


if __name__ == "__main__":
    main(globals())
