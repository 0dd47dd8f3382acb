"""Windows, by number and by time: they forget when they should, everywhere alike, and no turn of a
large one holds the server up.

BLOOMERY_WINDOW_MIB sets the size of that one (128).
"""
import os
import re
import time

from harness import Server, as_dict, digests, eq, fails, main, ok, pair, wait_for, wait_sync


def info(c, key):
    return as_dict(c.must("BLY.INFO", key))


def quiet(c, key):
    """Until a timed window has forgotten all: then its clock stands still."""
    wait_for(lambda: c.must("BLY.CARD", key) == 0, 30, f"{key} to be empty")


def test_by_number():
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "CAPACITY", "1000", "ERROR", "0.001",
           "GENERATIONS", "4")
    for i in range(0, 5000, 50):
        c.must("BLY.ADD", "w", *range(i, i + 50))
    eq(c.must("BLY.CHECK", "w", *range(4000, 5000)), [1] * 1000)
    ok(sum(c.must("BLY.CHECK", "w", *range(3000))) < 20, "old keys are forgotten")
    ages = c.must("BLY.AGE", "w", 4999, 4100, 10)
    ok(ages[0] <= 250 and 900 <= ages[1] <= 1250, ages)
    eq(ages[2], None)
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    eq(r.must("BLY.AGE", "w", 4999, 4100, 10), ages)


def add_repeats(c):
    """A window by number of which most arrivals are repeats, by every command that adds."""
    c.must("BLY.RESERVE", "w", "KIND", "window", "CAPACITY", "1000", "ERROR", "0.000001",
           "GENERATIONS", "4")
    eq(c.must("BLY.ADD", "w", "old"), [1])
    for i in range(100):
        c.must("BLY.ADD", "w", "same")
        c.must("BLY.ADD", "w", "same", "same", "other")
        c.must("BF.ADD", "w", "same")
        c.must("BF.MADD", "w", "same", "other")
        c.must("BF.INSERT", "w", "ITEMS", "same", "same")
    return info(c, "w")


def test_repeats_are_arrivals():
    """Each is an add that changes the window: it is replicated, written to the AOF, counted as a
    write, and told of by an event. A lookup is nothing of it."""
    aof = ("appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0")
    master, replica = pair(*aof)
    c, r = master.client(), replica.client()
    c.must("CONFIG", "SET", "notify-keyspace-events", "KA")
    said = add_repeats(c)
    eq(said["arrivals"], 901)
    eq(said["active_arrivals"], 151)  # generations are of 250
    eq(said["active_keys"], 2)
    eq(c.must("BLY.CARD", "w"), 9)
    events = master.client()
    events.must("SUBSCRIBE", "__keyspace@0__:w")
    dirty = int(c.info("persistence")["rdb_changes_since_last_save"])
    eq(c.must("BLY.ADD", "w", "same"), [0])
    eq(events.read(), [b"message", b"__keyspace@0__:w", b"bly.add"])
    eq(int(c.info("persistence")["rdb_changes_since_last_save"]), dirty + 1)
    offset = c.info("replication")["master_repl_offset"]
    eq(c.must("BLY.CHECK", "w", "same", "none"), [1, 0])
    eq(c.must("BF.EXISTS", "w", "same"), 1)
    eq(c.info("replication")["master_repl_offset"], offset)
    eq(c.must("BLY.CHECK", "w", "old"), [1])
    eq(c.must("BLY.ADD", "w", *(350 * ["same"])), 350 * [0])
    eq(c.must("BLY.CHECK", "w", "old", "same"), [0, 1], "1250 others have come")
    said = info(c, "w")
    eq(said["arrivals"], 1002)
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    eq(info(r, "w"), said)
    before = digests(c)
    master.restart(kill=True)
    with master.client() as c:
        eq(digests(c), before)
        eq(info(c, "w"), said)


def test_by_time_forgets_on_its_own():
    """Nobody adds, nobody asks; the master's timer turns it, and the replica follows."""
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "1000", "CAPACITY", "1000",
           "GENERATIONS", "4")
    begin = time.monotonic()
    c.must("BLY.ADD", "w", "a", "b")
    age = c.must("BLY.AGE", "w", "a", "x")
    ok(0 <= age[0] <= 600, age)
    eq(age[1], None)
    late = time.monotonic()
    while True:
        found = c.must("BLY.CHECK", "w", "a")
        now = time.monotonic()
        if now - begin < 0.99:
            eq(found, [1], "within the span")
        if found == [0]:
            break
        ok(now - late < 2.5, "after the span and a slice it is forgotten")
        time.sleep(0.02)
    quiet(c, "w")
    wait_for(lambda: r.must("BLY.CARD", "w") == 0, 5, "the replica to forget")
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    eq(info(r, "w")["clock"], info(c, "w")["clock"])


def test_adds_refresh():
    c = Server().client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "800", "CAPACITY", "1000")
    end = time.monotonic() + 2
    while time.monotonic() < end:
        c.must("BLY.ADD", "w", "kept")
        eq(c.must("BLY.CHECK", "w", "kept"), [1])
        time.sleep(0.1)
    quiet(c, "w")
    eq(c.must("BLY.ADD", "w", "kept"), [1], "it is new again")


def test_ticks_are_few():
    """A small window is turned once in a slice, an empty one not at all."""
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "800", "CAPACITY", "1000",
           "GENERATIONS", "4")
    c.must("BLY.ADD", "w", "a")
    quiet(c, "w")
    wait_sync(master, replica)
    calls = r.info("commandstats")["cmdstat_bly.tick"].split(",")[0]
    ok(1 <= int(calls.split("=")[1]) <= 9, calls)
    time.sleep(0.5)
    wait_sync(master, replica)
    eq(r.info("commandstats")["cmdstat_bly.tick"].split(",")[0], calls)


def test_after_a_restart():
    s = Server()
    c = s.client()
    for name in ("w", "v"):
        c.must("BLY.RESERVE", name, "KIND", "window", "SPAN", "1500", "CAPACITY", "100")
        c.must("BLY.ADD", name, "a")
    s.restart(save=True)
    with s.client() as c:
        eq(c.must("BLY.CHECK", "w", "a"), [1])
        wait_for(lambda: c.must("BLY.CHECK", "w", "a") == [0], 5, "it to be forgotten")
        clock = info(c, "w")["clock"]
        ok(abs(clock / 1000 - time.time()) < 3, clock)


def test_turned_without_any_command_after_a_restart():
    s = Server()
    c = s.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "600", "CAPACITY", "100")
    c.must("BLY.ADD", "w", "a")
    s.restart(save=True)
    time.sleep(1.5)
    with s.client() as c:
        eq(c.must("BLY.DUMP", "w", 0)[2][32:40], bytes(8), "the header says: no keys")


def test_renamed_copied_and_moved():
    c = Server().client()
    for name in ("r", "o", "m"):
        c.must("BLY.RESERVE", name, "KIND", "window", "SPAN", "600", "CAPACITY", "100")
        c.must("BLY.ADD", name, "a")
    c.must("RENAME", "r", "renamed")
    eq(c.must("COPY", "o", "copied"), 1)
    eq(c.must("MOVE", "m", "1"), 1)
    for name in ("renamed", "copied"):
        wait_for(lambda: c.must("BLY.CHECK", name, "a") == [0], 5, f"{name} to forget")
    c.must("SELECT", "1")
    wait_for(lambda: c.must("BLY.CHECK", "m", "a") == [0], 5, "m to forget")


def test_any_reader_finds_it_again():
    """Whatever command asks first after a RENAME or a COPY, the window is turned from then on."""
    c = Server().client()
    readers = (("BF.EXISTS", "a"), ("BF.MEXISTS", "a", "b"), ("BF.CARD",), ("BF.INFO",),
               ("BF.DEBUG",), ("BF.SCANDUMP", "0"), ("BLY.STATS",), ("BLY.DUMP", "0"),
               ("BLY.COUNT", "a"), ("BLY.NOOP", "a"))
    for i, _ in enumerate(readers):
        c.must("BLY.RESERVE", f"from{i}", "KIND", "window", "SPAN", "300", "CAPACITY", "100")
        c.must("BLY.ADD", f"from{i}", "a")
        eq(c.must("COPY", f"from{i}", f"copied{i}"), 1)
        c.must("RENAME", f"from{i}", f"renamed{i}")
    time.sleep(1)  # longer than the clock takes to see that the names have changed
    for name in ("copied", "renamed"):
        for i, reader in enumerate(readers):
            c.must(reader[0], f"{name}{i}", *reader[1:])
    time.sleep(1)
    for name in ("copied", "renamed"):
        for i, reader in enumerate(readers):
            eq(c.must("BF.EXISTS", f"{name}{i}", "a"), 0, f"{name}, found by {reader[0]}")


def test_replaced_and_deleted_while_running():
    """Places in the clock go with their values, in whatever thread these are freed."""
    c = Server("lazyfree-lazy-user-del yes").client()
    for i in range(300):
        c.must("BLY.RESERVE", f"w{i}", "KIND", "window", "SPAN", "50", "CAPACITY", "100")
        c.must("BLY.ADD", f"w{i}", "a")
        if i % 3 == 0:
            c.must("UNLINK", f"w{i}")
        if i % 3 == 1:
            c.must("SET", f"w{i}", "text")
    time.sleep(0.3)
    for i in range(2, 300, 3):
        eq(c.must("BLY.CHECK", f"w{i}", "a"), [0])
    c.must("FLUSHALL", "ASYNC")
    time.sleep(0.2)
    eq(c.must("DBSIZE"), 0)


def test_failover_goes_on_turning():
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "1200", "CAPACITY", "100")
    c.must("BLY.ADD", "w", "a")
    wait_sync(master, replica)
    master.kill()
    time.sleep(0.1)
    eq(r.must("BLY.CHECK", "w", "a"), [1])
    r.must("REPLICAOF", "NO", "ONE")
    wait_for(lambda: r.must("BLY.CHECK", "w", "a") == [0], 5, "the new master to turn it")


def test_aof_replay():
    s = Server("appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0")
    c = s.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "400", "CAPACITY", "100")
    for i in range(30):
        c.must("BLY.ADD", "w", i)
        time.sleep(0.02)
    quiet(c, "w")
    before = digests(c)
    s.restart(kill=True)
    with s.client() as c:
        eq(digests(c), before)


def test_nothing_is_sent_while_writes_are_paused():
    """As before a failover, when master and replica must come to the same point."""
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "400", "CAPACITY", "100")
    c.must("BLY.ADD", "w", "a")
    c.must("CLIENT", "PAUSE", "60000", "WRITE")
    before = c.info("replication")["master_repl_offset"]
    time.sleep(1)
    eq(c.info("replication")["master_repl_offset"], before)
    eq(c.must("BLY.CHECK", "w", "a"), [1])
    c.must("CLIENT", "UNPAUSE")
    wait_for(lambda: r.must("BLY.CHECK", "w", "a") == [0], 5, "both to forget")


def test_tick_is_not_for_clients():
    c = Server().client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "1000")
    fails(c("BLY.TICK", "w", 1 << 50), "ERR BLY.TICK is sent by a master to its replicas")
    fails(c("EVAL", "return redis.call('BLY.TICK', 'w', '1')", 0), "ERR BLY.TICK is sent")
    eq(info(c, "w")["clock"], 0)


def worked(server):
    """Nanoseconds of processor time that the server's main thread has had."""
    with open(f"/proc/{server.pid}/task/{server.pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


def slept(server):
    """How often it has gone to sleep because there was nothing to do."""
    with open(f"/proc/{server.pid}/task/{server.pid}/status", encoding="ascii") as f:
        return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", f.read()).group(1))


def pauses(server, c, seconds):
    """The work, in nanoseconds, that the server did at a time, as seen between each two replies to
    PING. Not the time that passed: other programs have the processor too, and if they kept this one
    waiting, the server may have worked and slept many times in between."""
    works, end = [], time.monotonic() + seconds
    before, sleeps = worked(server), slept(server)
    while time.monotonic() < end:
        c.must("PING")
        now, naps = worked(server), slept(server)
        works.append((now - before) // max(1, naps - sleeps))
        before, sleeps = now, naps
    return works


def test_no_turn_is_a_long_pause():
    """Four slices of a large window, in each of which something is added and then nothing. A turn
    in one go would be a long pause in each; one or two may be the system's own."""
    size = int(os.environ.get("BLOOMERY_WINDOW_MIB", "128")) << 20
    seconds = max(2, size >> 27)  # of a slice: the larger, the longer
    s = Server()
    c = s.client(unix=True)
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", seconds * 8000, "CAPACITY",
           size * 8 // 17, "ERROR", "0.01")
    ok(info(c, "w")["bytes"] > 0.9 * size, info(c, "w"))
    idle, adds = [], []
    for i in range(4):
        before = worked(s)
        c.must("BLY.ADD", "w", *range(10 * i, 10 * i + 10))
        adds.append(worked(s) - before)
        idle += pauses(s, c, 1.2 * seconds)
    ok(s.rss() > 0.9 * size, "the window was swept")
    eq(c.must("BLY.CHECK", "w", *range(40)), [1] * 40)
    idle.sort(reverse=True)
    adds.sort(reverse=True)
    print(f"  {size >> 20} MiB: {[round(n / 1e6, 1) for n in idle[:4]]} ms at once, adds after a "
          f"slice {[round(n / 1e6, 1) for n in adds]} ms", flush=True)
    ok(idle[2] < 5e6 and adds[1] < 5e6, "a pause of more than 5 ms")


if __name__ == "__main__":
    main(globals())
