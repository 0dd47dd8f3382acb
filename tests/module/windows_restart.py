"""Windows by time continue after a restart, from an AOF, and on a new master."""
import time

from harness import Server, as_dict, digests, eq, main, ok, pair, wait_for, wait_sync
from windows import UNPACKED, forgets, info, quiet, stored_count, timed


def test_after_a_restart():
    """A window within its span is complete after a restart, and a window whose span ends after the
    restart forgets then."""
    s = Server()
    c = s.client()
    added, spans = {}, {"w": 500, "v": 10 ** 9}
    for name, span in spans.items():
        c.must("BLY.RESERVE", name, "KIND", "window", "SPAN", span, "CAPACITY", "100")
        added[name], _ = timed(c, ("BLY.ADD", name, "a"))
    slice_ms = info(c, "w")["slice"]
    s.restart(save=True)
    with s.client() as c:
        eq(c.must("BLY.CHECK", "v", "a"), [1])
        forgets(c, "w", "a", added["w"], spans["w"], slice_ms)
        now, told = timed(c, ("BLY.INFO", "w"))
        clock = as_dict(told)["clock"]
        ok(added["w"] + spans["w"] <= clock <= now, (added, clock, now))
        eq(c.must("BLY.CHECK", "v", "a"), [1])


def test_turned_without_any_command_after_a_restart():
    s = Server(UNPACKED)
    c = s.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "400", "CAPACITY", "100")
    c.must("BLY.ADD", "w", "a")
    s.restart(save=True)
    with s.client() as c:
        wait_for(lambda: stored_count(c, "w") == 0, 60, "it to be forgotten")
        eq(c.must("BLY.DUMP", "w", 0)[2][32:40], bytes(8), "the header says: no keys")


def test_failover_goes_on_turning():
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "400", "CAPACITY", "100")
    _, _, told = timed(c, ("BLY.ADD", "w", "a"), ("BLY.INFO", "w"))
    added = as_dict(told)["clock"]
    wait_sync(master, replica)
    master.kill()
    wait_for(lambda: r.info("replication")["master_link_status"] == "down", 60, "a lost master")
    _, found, told = timed(r, ("BLY.CHECK", "w", "a"), ("BLY.INFO", "w"))
    if as_dict(told)["clock"] < added + 400:
        eq(found, [1])
    r.must("REPLICAOF", "NO", "ONE")
    wait_for(lambda: r.must("BLY.CHECK", "w", "a") == [0], 60, "the new master to turn it")


def test_aof_replay():
    s = Server("appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0")
    c = s.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "200", "CAPACITY", "100")
    for i in range(30):  # over more than ten slices
        c.must("BLY.ADD", "w", i)
        time.sleep(0.01)
    quiet(c, "w")
    before = digests(c)
    s.restart(kill=True)
    with s.client() as c:
        eq(digests(c), before)


if __name__ == "__main__":
    main(globals())
