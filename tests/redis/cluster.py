"""cluster.py - one filter over several nodes of a cluster: six of them, slots that move, masters
that die, and processes that add all the time.

A master that dies takes with it what its replica has not got: so the adds that must survive that
wait for one (replicas=1). Each of the others' promises needs no such help.
"""
import sys

sys.dont_write_bytecode = True

import threading  # noqa: E402
import time  # noqa: E402

from plans import Rate, losses  # noqa: E402
from support import (NO, UNKNOWN, UNSURE, YES, Cluster, Driver, Refused, eq, head,  # noqa: E402
                     key_slot, main, ok, shard_keys, url, wait_for)

SMALL = {"n": 3 * 10 ** 6, "p": 0.0001, "shards": 3}


def nodes_of(cluster, name, shards):
    """The master of each shard, as the cluster has it."""
    return [cluster.owner(key_slot(key)) for key in shard_keys(name, shards)]


def errors(nodes, code):
    """How often the nodes have answered so."""
    total = 0
    for node in nodes:
        with node.client() as c:
            entry = c.info("errorstats").get(f"errorstat_{code}", "count=0")
            total += int(entry.split("=")[1])
    return total


class Adder(threading.Thread):
    """A process that adds the same keys as others, piece by piece, and keeps all answers. A piece
    with an error is tried again, until all of it is answered."""

    PIECE = 3000

    def __init__(self, node, name, **options):
        super().__init__(daemon=True)
        self.driver = Driver()
        self.driver.must("open", url(node, name), **options)
        self.answers = {}  # by the piece: the digits of every try
        self.done = 0
        self.failed = []
        self.wrong = None
        self.over = False

    def run(self):
        try:
            while not self.over:
                self.add(self.done)
                self.done += 1
        except Exception as why:  # noqa: BLE001 - told to the main thread
            self.wrong = repr(why)

    def add(self, piece):
        first = piece * self.PIECE
        while True:
            answer, digits = self.driver.range("add", "key:", first, first + self.PIECE)
            self.answers.setdefault(piece, []).append(digits)
            if answer["status"] == "BLY_OK":
                ok(UNKNOWN not in digits, "unknown, and no error")
                return
            if answer["status"] != "BLY_EIO":
                raise Refused(f"{answer}")
            self.failed.append(answer["why"])

    def finish(self):
        self.over = True
        self.join(90)
        ok(not self.is_alive(), "an adder hangs")
        ok(self.wrong is None, self.wrong)
        self.driver.close()


def go_on(adders, pieces=8):
    """Until everyone has done so many more."""
    wanted = [a.done + pieces for a in adders]
    wait_for(lambda: any(a.wrong for a in adders)
             or all(a.done >= w for a, w in zip(adders, wanted)), 90, "adds")
    for adder in adders:
        ok(adder.wrong is None, adder.wrong)


def check_adders(node, name, adders):
    """All that was answered is there; at most one was told that a key was new, and somebody was,
    unless an answer was lost. Returns how many keys were unsure to somebody."""
    unsure = strange = 0
    pieces = max(max(a.answers) for a in adders) + 1
    with Driver() as driver:
        driver.must("open", url(node, name), retry_ms=30000)
        for piece in range(pieces):
            first = piece * Adder.PIECE
            answer, found = driver.range("contains", "key:", first, first + Adder.PIECE)
            eq(answer["status"], "BLY_OK", answer["why"])
            tries = [text for a in adders for text in a.answers.get(piece, ())]
            for i, here in enumerate(found):
                mine = [text[i] for text in tries]
                ok(here == YES or set(mine) <= {UNKNOWN}, f"key {first + i} is lost: {mine}")
                ok(mine.count(YES) <= 1, f"key {first + i} was new to several: {mine}")
                unsure += UNSURE in mine
                strange += set(mine) == {NO}
    ok(strange <= 3, f"{strange} keys were new to nobody, and nobody is unsure")
    return unsure


def start(cluster, name, count=2, **options):
    """A filter, and adders that have begun; each knows another node at first."""
    with Driver() as driver:
        driver.must("create", url(cluster.masters[0], name), **SMALL)
    adders = [Adder(cluster.nodes[i], name, retry_ms=30000, **options) for i in range(count)]
    for adder in adders:
        adder.start()
    go_on(adders)
    return adders


def test_three_shards_of_1_2e9_bits():
    cluster = Cluster(module=False)
    keys = 10 ** 6
    with Driver() as driver, Driver() as other:
        made = driver.must("create", url(cluster.masters[0], "big"), n=115 * 10 ** 6, p=0.01,
                           shards=3)
        ok(8 * made["bytes"] >= 1.2e9, f"{8 * made['bytes']} bits")
        eq(len({n.port for n in nodes_of(cluster, "big", 3)}), 3, "nodes that hold it")
        sizes = []
        for node, key in zip(nodes_of(cluster, "big", 3), shard_keys("big", 3)):
            with node.client() as c:
                sizes.append(c.must("STRLEN", key))
        ok(sum(sizes) == made["bytes"] and max(sizes) - min(sizes) < 128, f"{sizes}")
        other.must("open", url(cluster.replicas[1], "big"))
        one = driver.must("add", "key:", 0, keys // 2)
        two = other.must("add", "key:", keys // 2, keys)
        for answer in (one, two):
            eq(answer["no"] + answer["yes"], keys // 2)
            ok(answer["yes"] > 0.9999 * keys / 2, f"{answer}")
        # Batches go to all nodes at once: as many waits as calls of 32768 keys, or one more where
        # a server did not know the script or the map was old.
        ok(one["tally"]["trips"] <= keys // 2 // 32768 + 3, f"{one['tally']}")
        eq(other.must("contains", "key:", 0, keys)["yes"], keys, "false negatives")
        found = driver.must("contains", "stranger:", 0, keys)["yes"]
        with nodes_of(cluster, "big", 3)[0].client() as c:
            shape = head(c, "big")
        low, high = Rate.of(shape, keys).bounds(keys)
        ok(low <= found <= max(high, 1), f"{found} strangers; planned: {low} .. {high}")
        facts = driver.must("look")
        eq((facts["nodes"], facts["bytes"]), (3, made["bytes"]))
        eq(facts["count"], one["yes"] + two["yes"])
        print(f"  {8 * made['bytes']} bits, {keys / (one['seconds'] + two['seconds']):.0f} adds/s")
        driver.must("drop")
        for node in cluster.masters:
            with node.client() as c:
                eq(c.must("DBSIZE"), 0)


def rate_over_many_shards(cluster):
    """Shards are parts of one filter: its rate is that of one."""
    keys = 200000
    with Driver() as driver:
        driver.must("create", url(cluster.masters[1], "rate"), n=keys, p=0.01, shards=11)
        answer = driver.must("add", "key:", 0, keys)
        with cluster.owner(key_slot("rate")).client() as c:
            shape = head(c, "rate")
        low, high = losses(shape.kind, shape.k, shape.blocks, keys)
        ok(low <= answer["no"] <= high, f"{answer['no']} lost; planned: {low:.0f} .. {high:.0f}")
        eq(driver.must("contains", "key:", 0, keys)["yes"], keys)
        low, high = Rate.of(shape, keys).bounds(500000)
        found = driver.must("contains", "stranger:", 0, 500000)["yes"]
        ok(low <= found <= high, f"{found} strangers; planned: {low:.0f} .. {high:.0f}")
        eq(len({n.port for n in nodes_of(cluster, "rate", 11)}), 3)
        eq(driver.must("look")["nodes"], 3)


def one_trip_to_all_nodes(cluster):
    with Driver() as driver:
        driver.must("create", url(cluster.masters[2], "trip"), **SMALL)
        driver.must("add", "warm:", 0, 5000)
        driver.must("contains", "warm:", 0, 5000)
        for turn in range(5):
            for command in ("add", "contains"):
                answer = driver.must(command, "key:", turn * 20000, (turn + 1) * 20000)
                eq(answer["tally"]["trips"], 1, f"{command}, turn {turn}")
        answer = driver.must("add", "more:", 0, 100000)
        eq(answer["tally"]["trips"], 4, "100000 keys")
        for node, key in zip(nodes_of(cluster, "trip", 3), shard_keys("trip", 3)):
            with node.client() as c:
                ok(head(c, key).count > 60000, "a shard that got little")


def shards_under_one_tag(cluster):
    """A name with a tag keeps all its shards in one slot."""
    with Driver() as driver:
        driver.must("create", url(cluster.masters[0], "crawl:{eu}"), **SMALL)
        driver.must("add", "key:", 0, 20000)
        eq(driver.must("contains", "key:", 0, 20000)["yes"], 20000)
        eq(driver.must("look")["nodes"], 1)
        with cluster.owner(key_slot("{eu}")).client() as c:
            eq(sorted(c.must("KEYS", "*{eu}*")),
               sorted(k.encode() for k in shard_keys("crawl:{eu}", 3)))


def gozero(cluster):
    """A filter that is one key, wherever one comes in."""
    with Driver() as driver:
        for i in range(6):
            name = f"gozero{i}"
            driver.must("gozero", url(cluster.nodes[i], name), bits=10 ** 6)
            eq(driver.must("add", "key:", 0, 5000)["yes"], 5000)
            eq(driver.must("contains", "key:", 0, 5000)["yes"], 5000)
            with cluster.owner(key_slot(name)).client() as c:
                ok(c.must("BITCOUNT", name) > 5000, "nothing there")


def test_in_peace():
    cluster = Cluster(module=False)
    for promise in (rate_over_many_shards, one_trip_to_all_nodes, shards_under_one_tag, gozero):
        promise(cluster)


def hold(cluster, slot, target, during):
    """Moves a slot; while its keys are on their way, and after they have gone but before anybody
    was told, waits for `during`."""
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
    """Slots move away under the adders, and back: nothing is lost, and since a node that has not
    the slot has done nothing, no answer is in doubt."""
    cluster = Cluster(module=False)
    adders = start(cluster, "k")
    for turn in range(2):
        for key in shard_keys("k", 3):
            slot = key_slot(key)
            source = cluster.owner(slot)
            target = [m for m in cluster.masters if m is not source][turn]
            hold(cluster, slot, target, lambda: go_on(adders, 3))
            ok(cluster.owner(slot) is target, f"{key} did not move")
            go_on(adders, 3)
    for adder in adders:
        adder.finish()
    eq([a.failed for a in adders], [[], []])
    eq(check_adders(cluster.masters[1], "k", adders), 0, "unsure keys")
    ask, moved = errors(cluster.masters, "ASK"), errors(cluster.masters, "MOVED")
    ok(ask > 0 and moved > 0, f"{ask} ASK, {moved} MOVED")
    print(f"  {sum(a.done for a in adders) * Adder.PIECE} adds, {ask} ASK, {moved} MOVED")


def test_resharding_with_scripts_flushed():
    """ASK leads to a node that does not know the script either."""
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
    """CLUSTER FAILOVER hands over everything: no add is lost, though nobody waits for replicas."""
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
    """A master dies while two add, and wait for a replica each time: what they were answered is
    with the replica that takes over."""
    cluster = Cluster(module=False, node_timeout=2000)
    adders = start(cluster, "k", replicas=1, replicas_ms=1000)
    for key in shard_keys("k", 3)[1:]:
        dead = cluster.owner(key_slot(key))
        dead.kill()
        cluster.wait_promoted(dead)
        ok(cluster.owner(key_slot(key)) is not dead, "nobody took over")
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
    """Who has the map does not need the node by which it came in."""
    cluster = Cluster(module=False, node_timeout=1500)
    with Driver() as driver:
        door = cluster.masters[0]
        driver.must("create", url(door, "k"), retry_ms=30000, **SMALL)
        driver.must("add", "key:", 0, 20000)
        cluster.wait_replicas()
        door.kill()
        begin = time.monotonic()
        eq(driver.must("contains", "key:", 0, 20000)["yes"], 20000)
        ok(driver.must("add", "new:", 0, 20000)["yes"] > 19990, "adds afterwards")
        print(f"  it took {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main(globals())
