"""cluster_changes.py - one filter on several nodes of a cluster, while slots move, masters die and
processes add keys.

When a master dies, adds that its replica has not received are lost. So the adds that must survive
this wait for a replica (replicas=1). The other tests need no replicas=1.
"""
import sys

sys.dont_write_bytecode = True

import collections  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

from support import (NO, UNKNOWN, UNSURE, YES, Cluster, Driver, Refused, eq, key_slot,  # noqa: E402
                     main, ok, shard_keys, url, wait_for)

SMALL = {"n": 3 * 10 ** 6, "p": 0.0001, "shards": 3}


def errors(nodes, code):
    """Returns how often the nodes have replied with this error."""
    total = 0
    for node in nodes:
        with node.client() as c:
            entry = c.info("errorstats").get(f"errorstat_{code}", "count=0")
            total += int(entry.split("=")[1])
    return total


class Adder(threading.Thread):
    """A process that adds the same keys as others, piece by piece, and stores all answers. After an
    error it repeats the piece until all of it is answered."""

    PIECE = 3000

    def __init__(self, node, name, **options):
        super().__init__(daemon=True)
        self.driver = Driver()
        self.driver.must("open", url(node, name), **options)
        self.answers = {}  # {piece: digits of each attempt}
        self.done = 0
        self.failed = []
        self.wrong = None
        self.over = False

    def run(self):
        try:
            while not self.over:
                self.add(self.done)
                self.done += 1
        except Exception as why:  # noqa: BLE001 - reported to the main thread
            self.wrong = repr(why)

    def add(self, piece):
        first = piece * self.PIECE
        while True:
            answer, digits = self.driver.range("add", "key:", first, first + self.PIECE)
            self.answers.setdefault(piece, []).append(digits)
            if answer["status"] == "BLY_OK":
                ok(UNKNOWN not in digits, "unknown keys without an error")
                return
            if answer["status"] != "BLY_EIO":
                raise Refused(f"{answer}")
            self.failed.append(answer["why"])

    def finish(self):
        self.over = True
        self.join(90)
        ok(not self.is_alive(), "an adder does not end")
        ok(self.wrong is None, self.wrong)
        self.driver.close()


def go_on(adders, pieces=3):
    """Waits until each adder has finished `pieces` more pieces. The first of these may have begun
    before the call."""
    wanted = [a.done + pieces for a in adders]
    wait_for(lambda: any(a.wrong for a in adders)
             or all(a.done >= w for a, w in zip(adders, wanted)), 90, "adds")
    for adder in adders:
        ok(adder.wrong is None, adder.wrong)


def check_adders(node, name, adders):
    """Checks that all answered keys are in the filter, and that exactly one adder was told that a key
    is new, or at most one if an answer was lost. Returns the number of keys with an unsure answer."""
    unsure = strange = 0
    pieces = max(max(a.answers) for a in adders) + 1
    with Driver() as driver:
        driver.must("open", url(node, name), retry_ms=30000)
        for piece in range(pieces):
            first = piece * Adder.PIECE
            answer, found = driver.range("contains", "key:", first, first + Adder.PIECE)
            eq(answer["status"], "BLY_OK", answer["why"])
            tries = [text for a in adders for text in a.answers.get(piece, ())]
            for (here, *mine), times in collections.Counter(zip(found, *tries)).items():
                what = f"of the keys {first} .. {first + Adder.PIECE - 1}, {times}"
                ok(here == YES or set(mine) <= {UNKNOWN}, f"{what} are lost: {mine}")
                ok(mine.count(YES) <= 1, f"{what} were new to several: {mine}")
                unsure += times if UNSURE in mine else 0
                strange += times if set(mine) == {NO} else 0
    ok(strange <= 3, f"{strange} keys were new in no answer, and unsure in none")
    return unsure


def start(cluster, name, count=2, **options):
    """Creates a filter and starts adders. Each adder connects to another node first."""
    with Driver() as driver:
        driver.must("create", url(cluster.masters[0], name), **SMALL)
    adders = [Adder(cluster.nodes[i], name, retry_ms=30000, **options) for i in range(count)]
    for adder in adders:
        adder.start()
    go_on(adders)
    return adders


def hold(cluster, slot, target, during):
    """Moves a slot. Calls `during` before its keys are moved, and again after they were moved but
    before any node was told the new owner."""
    source = cluster.owner(slot)
    with source.client() as s, target.client() as t:
        t.must("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.ids[source.port])
        s.must("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.ids[target.port])
        during()
        keys = s.must("CLUSTER", "GETKEYSINSLOT", slot, 100)
        s.must("MIGRATE", "127.0.0.1", target.port, "", 0, 60000, "KEYS", *keys)
        during()
        for node in (t, s):
            node.must("CLUSTER", "SETSLOT", slot, "NODE", cluster.ids[target.port])
    return source


def test_resharding_while_adding():
    """Slots move away and back while keys are added. Nothing is lost. No answer is unsure, because a
    node without the slot does nothing."""
    cluster = Cluster(module=False)
    adders = start(cluster, "k")
    for turn in range(2):
        for key in shard_keys("k", 3):
            slot = key_slot(key)
            source = cluster.owner(slot)
            target = [m for m in cluster.masters if m is not source][turn]
            hold(cluster, slot, target, lambda: go_on(adders, 2))
            ok(cluster.owner(slot) is target, f"{key} did not move")
            go_on(adders, 2)
    for adder in adders:
        adder.finish()
    eq([a.failed for a in adders], [[], []])
    eq(check_adders(cluster.masters[1], "k", adders), 0, "unsure keys")
    ask, moved = errors(cluster.masters, "ASK"), errors(cluster.masters, "MOVED")
    ok(ask > 0 and moved > 0, f"{ask} ASK, {moved} MOVED")
    print(f"  {sum(a.done for a in adders) * Adder.PIECE} adds, {ask} ASK, {moved} MOVED")


def test_resharding_with_scripts_flushed():
    """ASK redirects to a node that does not know the script either."""
    cluster = Cluster(module=False)
    adders = start(cluster, "k", count=1)

    def flush():
        for node in cluster.masters:
            with node.client() as c:
                c.must("SCRIPT", "FLUSH")
        go_on(adders, 2)
    for key in shard_keys("k", 3):
        slot = key_slot(key)
        target = [m for m in cluster.masters if m is not cluster.owner(slot)][0]
        hold(cluster, slot, target, flush)
    for adder in adders:
        adder.finish()
    eq(adders[0].failed, [])
    eq(check_adders(cluster.masters[0], "k", adders), 0, "unsure keys")


def test_failover_by_order():
    """CLUSTER FAILOVER transfers all data: no add is lost, although no client waits for replicas."""
    cluster = Cluster(module=False)
    adders = start(cluster, "k")
    for key in shard_keys("k", 3)[:2]:
        master = cluster.owner(key_slot(key))
        cluster.wait_replicas()
        cluster.failover(cluster.replicas_of(master)[0])
        go_on(adders)
        ok(cluster.owner(key_slot(key)) is not master, "no failover")
    for adder in adders:
        adder.finish()
    eq([a.failed for a in adders], [[], []])
    unsure = check_adders(cluster.alive()[0], "k", adders)
    print(f"  {sum(a.done for a in adders) * Adder.PIECE} adds, {unsure} unsure")


def test_master_killed():
    """A master dies while two processes add keys and wait for a replica each time: the replica that
    takes over has all answered adds."""
    cluster = Cluster(module=False)
    adders = start(cluster, "k", replicas=1, replicas_ms=1000)
    for key in shard_keys("k", 3)[1:]:
        dead = cluster.owner(key_slot(key))
        cluster.kill_master(dead)
        ok(cluster.owner(key_slot(key)) is not dead, "no replica took over")
        dead.start()
        cluster.wait_ok()
        go_on(adders)
    for adder in adders:
        adder.finish()
    unsure = check_adders(cluster.alive()[0], "k", adders)
    failed = [why for a in adders for why in a.failed]
    print(f"  {sum(a.done for a in adders) * Adder.PIECE} adds, {unsure} unsure, "
          f"{len(failed)} calls with errors{': ' + failed[0] if failed else ''}")


def test_node_of_the_url_dies():
    """A client with a slot map does not need the node that its URL names."""
    cluster = Cluster(module=False)
    with Driver() as driver:
        door = cluster.masters[0]
        driver.must("create", url(door, "k"), retry_ms=30000, **SMALL)
        driver.must("add", "key:", 0, 20000)
        cluster.wait_replicas()
        with cluster.impatient():
            door.kill()
            begin = time.monotonic()
            eq(driver.must("contains", "key:", 0, 20000)["yes"], 20000)
            ok(driver.must("add", "new:", 0, 20000)["yes"] > 19990, "adds afterwards")
            print(f"  it took {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main(globals())
