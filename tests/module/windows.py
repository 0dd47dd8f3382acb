"""Windows, by number and by time: keys expire when they should, equally on every server.

Spans are short. Whether a check is within the span or after it is determined by the server's clock,
read in the same transaction, so that a slow machine does not change results.
"""
import time

from harness import Error, Server, as_dict, digests, eq, fails, main, ok, pair, wait_for, wait_sync


def info(c, key):
    return as_dict(c.must("BLY.INFO", key))


IDLE_MS = 100  # the longest time between two runs of the module's timer, on an idle server


def quiet(c, key):
    """Waits until a timed window has forgotten all items: then its clock stands still."""
    wait_for(lambda: c.must("BLY.CARD", key) == 0, 60, f"{key} to be empty")


def timed(c, *commands):
    """Runs the commands in one transaction. Returns the server's time, in milliseconds, and the
    replies."""
    c.must("MULTI")
    for command in (("TIME",), *commands):
        c.must(*command)
    (seconds, micros), *replies = c.must("EXEC")
    return int(seconds) * 1000 + int(micros) // 1000, *replies


def forgets(c, key, item, added, span, slice_ms):
    """Waits until the item, added at that time, is forgotten: not within the span, and then at the
    end of a slice. The server runs due timers after each round of commands, however late it is, so
    the third round after that must not find the item."""
    late = 0
    while True:
        now, found = timed(c, ("BLY.CHECK", key, item))
        if now - added < span:
            eq(found, [1], "within the span")
        if found == [0]:
            return
        late += now - added > span + slice_ms + IDLE_MS
        ok(late < 3, f"{now - added} ms after the add it is not forgotten")
        time.sleep(0.01)


def stored_count(c, key):
    """The number of keys of a filter, from the engine's DUMP. This runs no command of the module,
    so it does not add the window to the module's timer. The server must be started with
    UNPACKED."""
    payload = c.must("DUMP", key)
    at = payload.index(b"BLY1") + 32
    return int.from_bytes(payload[at:at + 8], "little")


UNPACKED = "rdbcompression no"


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
    """A window by number with mostly repeated adds, by every command that adds."""
    c.must("BLY.RESERVE", "w", "KIND", "window", "CAPACITY", "1000", "ERROR", "0.000001",
           "GENERATIONS", "4")
    eq(c.must("BLY.ADD", "w", "old"), [1])
    adds = (("BLY.ADD", "w", "same"), ("BLY.ADD", "w", "same", "same", "other"),
            ("BF.ADD", "w", "same"), ("BF.MADD", "w", "same", "other"),
            ("BF.INSERT", "w", "ITEMS", "same", "same"))
    for reply in c.pipeline(100 * adds):
        ok(not isinstance(reply, Error), reply)
    return info(c, "w")


def test_repeats_are_arrivals():
    """A repeat changes the window: it is replicated, written to the AOF, counted as a write, and
    causes an event. A lookup does none of these."""
    aof = ("appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0")
    master, replica = pair(*aof)
    c, r = master.client(), replica.client()
    c.must("CONFIG", "SET", "notify-keyspace-events", "KA")
    said = add_repeats(c)
    eq(said["arrivals"], 901)
    eq(said["active_arrivals"], 151)  # generations have 250 adds
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
    """Without commands, the master's timer advances the window, and the replica follows."""
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "300", "CAPACITY", "1000",
           "GENERATIONS", "4")
    slice_ms = info(c, "w")["slice"]
    added, _, age = timed(c, ("BLY.ADD", "w", "a", "b"), ("BLY.AGE", "w", "a", "x"))
    ok(0 <= age[0] <= slice_ms, age)
    eq(age[1], None)
    forgets(c, "w", "a", added, 300, slice_ms)
    quiet(c, "w")
    wait_for(lambda: r.must("BLY.CARD", "w") == 0, 60, "the replica to forget")
    wait_sync(master, replica)
    eq(digests(r), digests(c))
    eq(info(r, "w")["clock"], info(c, "w")["clock"])


def test_adds_refresh():
    """An item that is added repeatedly stays for longer than the span and a slice."""
    c = Server().client()
    span = 200
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", span, "CAPACITY", "1000")
    begin, _ = timed(c, ("BLY.ADD", "w", "kept"))
    last, kept = begin, 0
    while kept < 5:
        now, found, _ = timed(c, ("BLY.CHECK", "w", "kept"), ("BLY.ADD", "w", "kept"))
        if now - last < span:
            eq(found, [1], "added within the span")
            kept += now - begin > 2 * span
        last = now
        time.sleep(0.02)
    quiet(c, "w")
    eq(c.must("BLY.ADD", "w", "kept"), [1], "it is new again")


def test_ticks_are_few():
    """A small window advances once per slice, an empty one not at all."""
    master, replica = pair()
    c, r = master.client(), replica.client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "200", "CAPACITY", "1000",
           "GENERATIONS", "4")
    c.must("BLY.ADD", "w", "a")
    quiet(c, "w")
    wait_sync(master, replica)
    calls = r.info("commandstats")["cmdstat_bly.tick"].split(",")[0]
    ok(1 <= int(calls.split("=")[1]) <= 9, calls)
    time.sleep(0.3)  # six slices
    wait_sync(master, replica)
    eq(r.info("commandstats")["cmdstat_bly.tick"].split(",")[0], calls)


def test_renamed_copied_and_moved():
    c = Server().client()
    for name in ("r", "o", "m"):
        c.must("BLY.RESERVE", name, "KIND", "window", "SPAN", "200", "CAPACITY", "100")
        c.must("BLY.ADD", name, "a")
    c.must("RENAME", "r", "renamed")
    eq(c.must("COPY", "o", "copied"), 1)
    eq(c.must("MOVE", "m", "1"), 1)
    for name in ("renamed", "copied"):
        wait_for(lambda: c.must("BLY.CHECK", name, "a") == [0], 60, f"{name} to forget")
    c.must("SELECT", "1")
    wait_for(lambda: c.must("BLY.CHECK", "m", "a") == [0], 60, "m to forget")


def test_any_reader_finds_it_again():
    """After a RENAME or a COPY, the window advances from the first command on, whichever it is."""
    c = Server(UNPACKED).client()
    readers = (("BF.EXISTS", "a"), ("BF.MEXISTS", "a", "b"), ("BF.CARD",), ("BF.INFO",),
               ("BF.DEBUG",), ("BF.SCANDUMP", "0"), ("BLY.STATS",), ("BLY.DUMP", "0"),
               ("BLY.COUNT", "a"), ("BLY.NOOP", "a"))
    for i, _ in enumerate(readers):
        c.must("BLY.RESERVE", f"from{i}", "KIND", "window", "SPAN", "300", "CAPACITY", "100")
        c.must("BLY.ADD", f"from{i}", "a")
        eq(c.must("COPY", f"from{i}", f"copied{i}"), 1)
        c.must("RENAME", f"from{i}", f"renamed{i}")
    # The timer handles windows in the order of time. So when a window with later adds is empty, the
    # timer has handled the others, and noticed that their names have changed.
    c.must("BLY.RESERVE", "later", "KIND", "window", "SPAN", "300", "CAPACITY", "100")
    c.must("BLY.ADD", "later", "a")
    quiet(c, "later")
    for name in ("copied", "renamed"):
        for i, reader in enumerate(readers):
            eq(stored_count(c, f"{name}{i}"), 1, f"{name}, before {reader[0]}")
            c.must(reader[0], f"{name}{i}", *reader[1:])
    for name in ("copied", "renamed"):
        for i, reader in enumerate(readers):
            wait_for(lambda: stored_count(c, f"{name}{i}") == 0, 60,
                     f"{name}, found by {reader[0]}")
            eq(c.must("BF.EXISTS", f"{name}{i}", "a"), 0, f"{name}, found by {reader[0]}")


def test_replaced_and_deleted_while_running():
    """Entries of the timer are removed with their values, whichever thread frees these."""
    c = Server("lazyfree-lazy-user-del yes", UNPACKED).client()
    made = []
    for i in range(300):
        made += [("BLY.RESERVE", f"w{i}", "KIND", "window", "SPAN", "50", "CAPACITY", "100"),
                 ("BLY.ADD", f"w{i}", "a")]
        if i % 3 == 0:
            made.append(("UNLINK", f"w{i}"))
        if i % 3 == 1:
            made.append(("SET", f"w{i}", "text"))
    for reply in c.pipeline(made, batch=10):
        ok(not isinstance(reply, Error), reply)
    for i in range(2, 300, 3):
        wait_for(lambda: stored_count(c, f"w{i}") == 0, 60, f"w{i} to forget")
        eq(c.must("BLY.CHECK", f"w{i}", "a"), [0])
    c.must("FLUSHALL", "ASYNC")
    time.sleep(0.2)
    eq(c.must("DBSIZE"), 0)


def test_nothing_is_sent_while_writes_are_paused():
    """As before a failover, when master and replica must reach the same offset."""
    master, replica = pair()
    c, r = master.client(), replica.client()
    span, rounds = 200, 0
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", span, "CAPACITY", "100")
    slice_ms = info(c, "w")["slice"]
    added = timed(c)[0]
    c.pipeline([("BLY.ADD", "w", "a"), ("CLIENT", "PAUSE", "60000", "WRITE")])  # in one round
    before = c.info("replication")["master_repl_offset"]
    while rounds < 3:  # with a due timer, as in `forgets`
        time.sleep(0.02)
        now, found = timed(c, ("BLY.CHECK", "w", "a"))
        eq(found, [1])
        rounds += now - added > span + 2 * slice_ms + IDLE_MS
    eq(c.info("replication")["master_repl_offset"], before)
    eq(c.must("BLY.CHECK", "w", "a"), [1])
    c.must("CLIENT", "UNPAUSE")
    wait_for(lambda: r.must("BLY.CHECK", "w", "a") == [0], 60, "both to forget")


def test_tick_is_not_for_clients():
    c = Server().client()
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", "1000")
    fails(c("BLY.TICK", "w", 1 << 50), "ERR BLY.TICK is only for replication")
    fails(c("EVAL", "return redis.call('BLY.TICK', 'w', '1')", 0), "ERR BLY.TICK is only")
    eq(info(c, "w")["clock"], 0)


if __name__ == "__main__":
    main(globals())
