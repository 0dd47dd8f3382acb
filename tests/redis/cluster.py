"""cluster.py - one filter on several nodes of a cluster of six, without failures."""
import sys

sys.dont_write_bytecode = True

from plans import Rate, losses  # noqa: E402
from support import Cluster, Driver, eq, head, key_slot, main, ok, shard_keys, url  # noqa: E402

SMALL = {"n": 3 * 10 ** 6, "p": 0.0001, "shards": 3}


def nodes_of(cluster, name, shards):
    """Returns the master of each shard, according to the cluster."""
    return [cluster.owner(key_slot(key)) for key in shard_keys(name, shards)]


def test_three_shards_of_1_2e9_bits():
    cluster = Cluster(module=False)
    keys = 300000  # ten rounds of 32768 keys, each to all nodes
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
        # Batches go to all nodes at once: one round trip for 32768 keys. There are a few more if a
        # server did not know the script or the slot map was outdated.
        ok(one["tally"]["trips"] <= keys // 2 // 32768 + 3, f"{one['tally']}")
        eq(other.must("contains", "key:", 0, keys)["yes"], keys, "false negatives")
        found = driver.must("contains", "absent:", 0, keys)["yes"]
        with nodes_of(cluster, "big", 3)[0].client() as c:
            shape = head(c, "big")
        low, high = Rate.of(shape, keys).bounds(keys)
        ok(low <= found <= max(high, 1), f"{found} false positives; planned: {low} .. {high}")
        facts = driver.must("look")
        eq((facts["nodes"], facts["bytes"]), (3, made["bytes"]))
        eq(facts["count"], one["yes"] + two["yes"])
        print(f"  {8 * made['bytes']} bits, {keys / (one['seconds'] + two['seconds']):.0f} adds/s")
        driver.must("drop")
        for node in cluster.masters:
            with node.client() as c:
                eq(c.must("DBSIZE"), 0)


def rate_over_many_shards(cluster):
    """A filter in many shards has the rate of a single filter."""
    keys = 200000
    with Driver() as driver:
        driver.must("create", url(cluster.masters[1], "rate"), n=keys, p=0.01, shards=11)
        answer = driver.must("add", "key:", 0, keys)
        with cluster.owner(key_slot("rate")).client() as c:
            shape = head(c, "rate")
        low, high = losses(shape.kind, shape.k, shape.blocks, keys)
        ok(low <= answer["no"] <= high, f"{answer['no']} lost; planned: {low:.0f} .. {high:.0f}")
        eq(driver.must("contains", "key:", 0, keys)["yes"], keys)
        # With n lookups at rate p, five sigma are 5 sqrt((1 - p) / (p n)) of the rate: 9%.
        absent = 300000
        low, high = Rate.of(shape, keys).bounds(absent)
        found = driver.must("contains", "absent:", 0, absent)["yes"]
        ok(low <= found <= high, f"{found} false positives; planned: {low:.0f} .. {high:.0f}")
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
                ok(head(c, key).count > 60000, "a shard with few keys")


def shards_under_one_tag(cluster):
    """All shards of a filter whose name has a hash tag are in one slot."""
    with Driver() as driver:
        driver.must("create", url(cluster.masters[0], "crawl:{eu}"), **SMALL)
        driver.must("add", "key:", 0, 20000)
        eq(driver.must("contains", "key:", 0, 20000)["yes"], 20000)
        eq(driver.must("look")["nodes"], 1)
        with cluster.owner(key_slot("{eu}")).client() as c:
            eq(sorted(c.must("KEYS", "*{eu}*")),
               sorted(k.encode() for k in shard_keys("crawl:{eu}", 3)))


def gozero(cluster):
    """A go-zero filter is one key. It can be reached through any node."""
    with Driver() as driver:
        for i in range(6):
            name = f"gozero{i}"
            driver.must("gozero", url(cluster.nodes[i], name), bits=10 ** 6)
            eq(driver.must("add", "key:", 0, 5000)["yes"], 5000)
            eq(driver.must("contains", "key:", 0, 5000)["yes"], 5000)
            with cluster.owner(key_slot(name)).client() as c:
                ok(c.must("BITCOUNT", name) > 5000, "no bits are set")


def test_in_peace():
    cluster = Cluster(module=False)
    for promise in (rate_over_many_shards, one_trip_to_all_nodes, shards_under_one_tag, gozero):
        promise(cluster)


if __name__ == "__main__":
    main(globals())
