"""creation.py - a filter is created once, however many clients race, and its absence is an error.

Racing clients end up with one filter. If its creator leaves it incomplete, the next client completes
it. If a complete filter or a part of it is deleted or replaced, the result is an error and never
"absent".
"""
import sys

sys.dont_write_bytecode = True

from support import (Driver, Error, eq, head, main, ok, plain, refused, shard_keys,  # noqa: E402
                     url, wait_for)
from failures import HangUp, Relay  # noqa: E402

SHARDS = 5
HEAD = 128


def heads(client, name, shards):
    return [head(client, key) for key in shard_keys(name, shards)]


def check_whole(client, name, shards, stamp):
    """Checks that every shard exists and has the right head, and that shard 0 is marked as complete."""
    eq(sorted(client.must("KEYS", f"{name}*")),
       sorted(key.encode() for key in shard_keys(name, shards)), "keys")
    for j, it in enumerate(heads(client, name, shards)):
        eq((it.shard, it.shards, it.stamp, it.state), (j, shards, stamp, 1), f"the head of {j}")


def known(driver, count=1000):
    """Adds `count` new keys."""
    answer = driver.must("add", "key:", 0, count)
    ok(answer["yes"] > 0.98 * count, f"{answer}")


def check_error(driver, status, *words, count=1000, some=False):
    """Checks that no added key is reported as absent. All are unknown or, with `some`, those in
    remaining shards are present. Adds are refused in the same way."""
    for command in ("contains", "add"):
        answer, digits = driver.range(command, "key:", 0, count)
        refused(answer, status, *words)
        allowed = ({"contains": "13", "add": "03"} if some else {"contains": "3", "add": "3"})
        eq(set(digits), set(allowed[command]), f"answers to {command}")
        eq(answer["tally"]["unknown"], digits.count("3"))
    for otherwise, digit in (("yes", "1"), ("no", "0")):
        answer, digits = driver.range("contains", "key:", 0, count, otherwise=otherwise)
        refused(answer, status, *words)
        ok(digits.count(digit) >= answer["tally"]["unknown"] > 0, f"{answer}")


# ---- races --------------------------------------------------------------------------------------

def race(server, drivers, name, options):
    """All drivers create the filter at once, each with its own options. Returns the answers."""
    for driver, own in zip(drivers, options):
        driver.say("create", url(server, name), **own)
    return [driver.hear() for driver in drivers]


def test_sixteen_racers():
    with plain() as server, server.client() as c:
        drivers = [Driver() for _ in range(16)]
        for turn in range(12):
            shards = SHARDS if turn % 2 else 1
            answers = race(server, drivers, f"r{turn}.", [{"n": 100000, "p": 0.01,
                                                           "shards": shards}] * 16)
            eq({a["status"] for a in answers}, {"BLY_OK"}, [a["why"] for a in answers])
            stamps = {a["stamp"] for a in answers}
            eq(len(stamps), 1, f"stamps {stamps}")
            check_whole(c, f"r{turn}.", shards, stamps.pop())
            # They share one filter: a key that one adds is found by the others.
            eq(drivers[turn].must("addkeys", "aa")["answers"], "1")
            eq({d.must("askkeys", "aa")["answers"] for d in drivers}, {"1"})
        for driver in drivers:
            driver.close()


def test_racers_that_disagree():
    """The first client decides. Clients that request another filter get an error."""
    shapes = ({"n": 100000, "p": 0.01}, {"n": 100001, "p": 0.01}, {"n": 100000, "p": 0.001},
              {"n": 100000, "p": 0.01, "seed": 7})
    with plain() as server, server.client() as c:
        drivers = [Driver() for _ in range(16)]
        for turn in range(8):
            shards = SHARDS if turn % 2 else 1
            options = [{**shapes[(i + turn) % 4], "shards": shards} for i in range(16)]
            answers = race(server, drivers, f"r{turn}.", options)
            winners = {(turn + i) % 4 for i, a in enumerate(answers) if a["status"] == "BLY_OK"}
            eq(len(winners), 1, "shapes that were created")
            for i, answer in enumerate(answers):
                if (turn + i) % 4 not in winners:
                    refused(answer, "BLY_EMISMATCH")
                else:
                    eq(answer["status"], "BLY_OK", answer["why"])
            stamps = {a["stamp"] for a in answers if a["status"] == "BLY_OK"}
            eq(len(stamps), 1)
            check_whole(c, f"r{turn}.", shards, stamps.pop())
        for driver in drivers:
            driver.close()


def test_other_shapes_are_told_apart():
    """Any difference prevents joining a filter; without one, a client may join."""
    base = {"n": 100000, "p": 0.01, "kind": "sbbf", "seed": 1, "shards": 3}
    with plain() as server, Driver() as maker, Driver() as other:
        stamp = maker.must("create", url(server, "k"), **base)["stamp"]
        eq(other.must("create", url(server, "k"), **base)["stamp"], stamp)
        eq(other.must("open", url(server, "k"))["stamp"], stamp)
        for change in ({"n": 99999}, {"p": 0.02}, {"kind": "split512"}, {"seed": 2}, {"shards": 2},
                       {"shards": 4}, {"hash": "murmur3"}, {"key": "00" * 16}):
            answer = other("create", url(server, "k"), **{**base, **change})
            refused(answer, "BLY_EMISMATCH")
        known(maker)
        eq(maker.must("contains", "key:", 0, 1000)["yes"], 1000, "after all that")


# ---- incomplete filters -------------------------------------------------------------------------

def unfinish(client, name, shards, made):
    """Puts the filter into the state in which its creator died after `made` shards."""
    keys = shard_keys(name, shards)
    client.must("SETRANGE", name, 104, b"\0")
    for key in keys[made:]:
        client.must("DEL", key)


def test_half_made_is_completed():
    with plain() as server, Driver() as maker, Driver() as other, server.client() as c:
        for made in range(1, SHARDS + 1):
            name = f"h{made}"
            options = {"n": 50000, "p": 0.01, "shards": SHARDS}
            stamp = maker.must("create", url(server, name), **options)["stamp"]
            unfinish(c, name, SHARDS, made)
            refused(other("open", url(server, name)), "BLY_EMISSING")
            eq(c.must("EXISTS", *shard_keys(name, SHARDS)), made, "open created something")
            refused(other("create", url(server, name), **{**options, "n": 50001}), "BLY_EMISMATCH")
            eq(other.must("create", url(server, name), **options)["stamp"], stamp)
            check_whole(c, name, SHARDS, stamp)
            known(other)
            # The creator, if it was only slow, uses the same filter.
            eq(maker.must("contains", "key:", 0, 1000)["yes"], 1000)


def test_half_made_and_many_helpers():
    with plain() as server, server.client() as c:
        drivers = [Driver() for _ in range(8)]
        options = {"n": 50000, "p": 0.01, "shards": SHARDS}
        for made in range(1, SHARDS + 1):
            stamp = drivers[0].must("create", url(server, f"h{made}"), **options)["stamp"]
            unfinish(c, f"h{made}", SHARDS, made)
            answers = race(server, drivers, f"h{made}", [options] * 8)
            eq({(a["status"], a["stamp"]) for a in answers}, {("BLY_OK", stamp)})
            check_whole(c, f"h{made}", SHARDS, stamp)
        for driver in drivers:
            driver.close()


def test_something_in_the_way():
    """If something else is at the key of a shard, the error names the key, which is not changed."""
    with plain() as server, Driver() as driver, server.client() as c:
        options = {"n": 50000, "p": 0.01, "shards": SHARDS}
        keys = shard_keys("w", SHARDS)
        driver.must("create", url(server, "w"), **options)
        # The first shard is missing; the others belong to an older filter.
        c.must("DEL", "w")
        before = c.must("GET", keys[1])
        answer = driver("create", url(server, "w"), **options)
        ok(answer["status"] in ("BLY_EMISMATCH", "BLY_EEXISTS"), f"{answer}")
        ok(any(key in answer["why"] for key in keys[1:]), answer["why"])
        eq(c.must("GET", keys[1]), before)
        refused(driver("open", url(server, "w")), "BLY_EMISSING")
        # Something that is not a filter.
        c.must("FLUSHALL")
        c.must("SET", keys[3], "text")
        answer = driver("create", url(server, "w"), **options)
        ok(answer["status"] in ("BLY_ECORRUPT", "BLY_EMISMATCH", "BLY_EEXISTS"), f"{answer}")
        ok(keys[3] in answer["why"], answer["why"])
        eq(c.must("GET", keys[3]), b"text")
        # Without that key, creation succeeds.
        c.must("DEL", keys[3])
        driver.must("create", url(server, "w"), **options)
        known(driver)


# ---- lost replies -------------------------------------------------------------------------------

def is_create(command, key):
    return command[0] in (b"EVAL", b"EVALSHA") and command[3:4] == [key.encode()] \
        and len(command) == 8 and len(command[4]) == HEAD


def losing_once(server, key, then):
    """Returns a hook that executes the first creation of `key`, calls `then`, and sends no reply."""
    left = [1]

    def hook(command, _):
        if not left or not is_create(command, key):
            return None
        with server.client() as c:
            if isinstance(c(*command), Error):  # the server does not know the script yet
                return None
        left.clear()
        then()
        return HangUp
    return hook


def test_lost_answer_of_the_first():
    """A creates the filter, but gets no reply. B joins it, adds keys and gets replies. Then the
    server loses all data. A tries again and creates another filter. B gets an error, not "absent"."""
    options = {"n": 20000, "p": 0.01}
    for shards in (1, 3):
        with plain() as server, Driver() as a, Driver() as b, server.client() as c:
            def then():
                b.must("create", url(server, "k"), shards=shards, **options)
                known(b)
                c.must("FLUSHALL")

            with Relay(server, losing_once(server, "k", then)) as relay:
                a.must("create", url(relay, "k"), shards=shards, **options)
            check_error(b, "BLY_EMISMATCH")
            known(a)


def test_lost_answer_joins():
    """If nothing else happens meanwhile, the second attempt finds what the first has created."""
    with plain() as server, Driver() as a, server.client() as c:
        for shards in (1, 3):
            for key in shard_keys(f"k{shards}", shards):
                with Relay(server, losing_once(server, key, lambda: None)) as relay:
                    answer = a.must("create", url(relay, f"k{shards}"), n=20000, p=0.01,
                                    shards=shards)
                    ok(relay.connections == 2, "no reply was lost")
                check_whole(c, f"k{shards}", shards, answer["stamp"])
                c.must("FLUSHALL")
        with Relay(server, losing_once(server, "k", lambda: None)) as relay:
            refused(a("create", url(relay, "k"), n=20000, p=0.01, no_retry=1), "BLY_EIO")


def test_lost_answer_of_another():
    """The same with another shard. Meanwhile another client completes the filter, and then the shard
    is lost. It had keys, so it is not created again."""
    options = {"n": 20000, "p": 0.01, "shards": 3}
    with plain() as server, Driver() as a, Driver() as b, server.client() as c:
        lost = shard_keys("k", 3)[1]

        def then():
            b.must("create", url(server, "k"), **options)
            known(b)
            c.must("DEL", lost)

        with Relay(server, losing_once(server, lost, then)) as relay:
            refused(a("create", url(relay, "k"), **options), "BLY_EMISSING", lost)
        eq(c.must("EXISTS", lost), 0)
        check_error(b, "BLY_EMISSING", some=True)


# ---- memory -------------------------------------------------------------------------------------

def test_no_room():
    """A filter that does not fit is refused before it takes memory. Other keys can still be set."""
    with plain("maxmemory 30mb", "maxmemory-policy noeviction") as server, Driver() as driver, \
            server.client() as c:
        for shards in (1, 3):
            answer = driver("create", url(server, "k"), n=40 * 10 ** 6, p=0.01, shards=shards)
            refused(answer, "BLY_EREFUSED", "OOM", "room for", "nothing was added")
            ok(not answer["why"].startswith("k"), answer["why"])
            eq(c.must("DBSIZE"), 0)
            c.must("SET", "other", "x")
            c.must("DEL", "other")
        driver.must("create", url(server, "k"), n=10 ** 7, p=0.01, shards=3)
        known(driver)
        refused(driver("create", url(server, "k2"), n=15 * 10 ** 6, p=0.01), "BLY_EREFUSED", "OOM")
        # An existing filter can be joined without free memory.
        with Driver() as other:
            other.must("create", url(server, "k"), n=10 ** 7, p=0.01, shards=3)


def test_room_by_eviction():
    """If other keys can be evicted, a full server does not prevent creation, but a filter must not
    take most of the memory."""
    with plain("maxmemory 20mb", "maxmemory-policy volatile-lru") as server, Driver() as driver, \
            server.client() as c:
        for number in range(400):
            c.must("SET", f"other{number}", b"x" * 50000, "EX", 1000)
        for shards in (1, 4):
            refused(driver("create", url(server, "k"), n=10 ** 7, p=0.01, shards=shards),
                    "BLY_EREFUSED", "OOM", "volatile-lru")
        driver.must("create", url(server, "k"), n=10 ** 6, p=0.01, shards=4)
        known(driver)


def test_memory_that_is_not_told():
    """A user without permission for INFO can still create filters."""
    with plain("maxmemory 1gb") as server, Driver() as driver, server.client() as c:
        c.must("ACL", "SETUSER", "bob", "on", ">pw", "~*", "+@all", "-info")
        driver.must("create", url(server, "k", login="bob:pw@"), n=20000, p=0.01, shards=2)
        known(driver)


def test_refused_half_way():
    """If a server refuses one of the shards, the creator deletes the others, unless another client
    has completed the filter."""
    options = {"n": 20000, "p": 0.01, "shards": SHARDS}
    keys = shard_keys("k", SHARDS)
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        for complete in (False, True):
            def hook(command, _):
                if not is_create(command, keys[3]):
                    return None
                if complete:
                    other.must("create", url(server, "k"), **options)
                return b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"

            with Relay(server, hook) as relay:
                refused(driver("create", url(relay, "k"), **options), "BLY_EREFUSED", "OOM", keys[3])
            eq(c.must("DBSIZE"), SHARDS if complete else 0)
        known(other)


# ---- missing filters ----------------------------------------------------------------------------

def make(driver, server, name, shards, **more):
    driver.must("create", url(server, name), n=20000, p=0.01, shards=shards, **more)
    known(driver)


def test_deleted_in_use():
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        for shards in (1, 3):
            for lost in range(shards):
                name = f"d{shards}{lost}"
                make(driver, server, name, shards)
                c.must("DEL", shard_keys(name, shards)[lost])
                check_error(driver, "BLY_EMISSING", some=shards > 1)
                refused(other("open", url(server, name)), "BLY_EMISSING")
                refused(driver("look"), "BLY_EMISSING")
                eq(c.must("EXISTS", shard_keys(name, shards)[lost]), 0, "an add created it")
            make(driver, server, f"f{shards}", shards)
            c.must("FLUSHALL")
            check_error(driver, "BLY_EMISSING")
            eq(c.must("DBSIZE"), 0)


def test_complete_is_not_completed_again():
    """A shard that a complete filter has lost may have had keys: create does not create it again."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        make(driver, server, "k", 3)
        lost = shard_keys("k", 3)[1]
        c.must("DEL", lost)
        refused(other("create", url(server, "k"), n=20000, p=0.01, shards=3), "BLY_EMISSING")
        eq(c.must("EXISTS", lost), 0)


def test_expiry():
    """All shards expire at the same time; then the filter is missing, not empty."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        for shards in (1, 4):
            keys = shard_keys(f"e{shards}", shards)
            make(driver, server, f"e{shards}", shards, expire=600000)
            times = {c.must("PEXPIRETIME", key) for key in keys}
            eq(len(times), 1, f"expiry times: {times}")
            left = driver.must("look")["expires_ms"]
            ok(590000 < left <= 600000, f"{left} ms left")
            # A client that joins does not change the expiry.
            other.must("create", url(server, f"e{shards}"), n=20000, p=0.01, shards=shards,
                       expire=1000)
            eq({c.must("PEXPIRETIME", key) for key in keys}, times)
            driver.must("expire", 0)
            eq({c.must("PTTL", key) for key in keys}, {-1})
            eq(driver.must("look")["expires_ms"], -1)
            driver.must("expire", 600000)
            times = {c.must("PEXPIRETIME", key) for key in keys}
            ok(len(times) == 1 and times.pop() > 0, "expiry times differ")
            eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)
            driver.must("expire", 1)
            wait_for(lambda: c.must("EXISTS", *keys) == 0, what="the expiry")
            check_error(driver, "BLY_EMISSING")


def test_eviction():
    """A server that is short of memory evicts keys silently, also those of a filter."""
    with plain("maxmemory 6mb", "maxmemory-policy allkeys-random") as server, Driver() as driver, \
            server.client() as c:
        make(driver, server, "k", 8)
        keys = shard_keys("k", 8)
        number = 0
        while c.must("EXISTS", *keys) == 8:
            for _ in range(50):
                ok(not isinstance(c("SET", f"other{number}", b"x" * 50000), Error), "no memory")
                number += 1
        check_error(driver, "BLY_EMISSING", some=c.must("EXISTS", *keys) > 0)
        ok(int(c.info("stats")["evicted_keys"]) > 0, "nothing was evicted")


# ---- something else under the name --------------------------------------------------------------

def test_replaced():
    """Another filter is created under the name: old handles report this, whatever its shape."""
    with plain() as server, Driver() as old, Driver() as new, server.client() as c:
        changes = ({"seed": 9}, {}, {"n": 30000}, {"p": 0.001}, {"kind": "split512"})
        for i, change in enumerate(changes):
            for shards in (1, 3):
                name = f"r{i}.{shards}"
                make(old, server, name, shards)
                new.must("open", url(server, name))
                new.must("drop")
                eq(c.must("KEYS", f"{name}*"), [], "what drop left")
                new.must("create", url(server, name),
                         **{"n": 20000, "p": 0.01, "shards": shards, **change})
                check_error(old, "BLY_EMISMATCH")
                eq(new.must("look")["count"], 0, "an add reached another's filter")
                # A drop by an old handle does not delete another filter.
                old("drop")
                eq(c.must("EXISTS", *shard_keys(name, shards)), shards, "another filter was dropped")


def test_one_shard_replaced():
    """A shard of another filter of the same shape, as a restored backup might put there."""
    with plain() as server, Driver() as driver, server.client() as c:
        make(driver, server, "a", 3)
        make(driver, server, "b", 3)
        c.must("COPY", shard_keys("a", 3)[1], shard_keys("b", 3)[1], "REPLACE")
        check_error(driver, "BLY_EMISMATCH", some=True)


def test_wrong_type():
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        make(driver, server, "k", 1)
        c.must("DEL", "k")
        c.must("RPUSH", "k", "a list")
        refused(other("open", url(server, "k")), "BLY_EREFUSED")
        refused(other("create", url(server, "k"), n=20000, p=0.01), "BLY_EREFUSED")
        check_error(driver, "BLY_EREFUSED")
        eq(c.must("LRANGE", "k", 0, -1), [b"a list"])


def test_damaged_head():
    """If any byte of the identity changes, opening the filter and using an open handle are errors."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        make(driver, server, "k", 1)
        whole = c.must("GETRANGE", "k", 0, 127)
        for at in list(range(0, 32)) + [40, 48, 60, 70, 79, 87, 88, 91, 92, 95]:
            c.must("SETRANGE", "k", at, bytes([whole[at] ^ 0x41]))
            check_error(driver, "BLY_EMISMATCH", count=20)
            answer = other("open", url(server, "k"))
            ok(answer["status"] in ("BLY_ECORRUPT", "BLY_EVERSION"), f"byte {at}: {answer}")
            answer = other("create", url(server, "k"), n=20000, p=0.01)
            ok(answer["status"] in ("BLY_ECORRUPT", "BLY_EVERSION"), f"byte {at}: {answer}")
            c.must("SETRANGE", "k", 0, whole)
            eq(driver.must("contains", "key:", 0, 20)["yes"], 20)


def test_not_ours():
    """Strings that are not filters: short and long ones, empty bitmaps and text."""
    with plain() as server, Driver() as driver, server.client() as c:
        for data in (b"x", b"BLYR", b"BLYR\x01", b"\0" * 128, b"\0" * 5000, b"text " * 1000):
            c.must("SET", "k", data)
            answer = driver("open", url(server, "k"))
            refused(answer, "BLY_ECORRUPT")
            answer = driver("create", url(server, "k"), n=20000, p=0.01)
            refused(answer, "BLY_ECORRUPT")
            eq(c.must("GET", "k"), data, "it was changed")


def test_truncated():
    """If a string has lost its end, lookups in the missing part are errors. Missing bytes never lead
    to an answer."""
    with plain() as server, Driver() as driver, server.client() as c:
        for keep in (0.5, 0.999, 0.0):
            name = f"t{keep}"
            make(driver, server, name, 1)
            whole = c.must("GET", name)
            c.must("SET", name, whole[:128 + int(keep * (len(whole) - 128))])
            for command, never in (("contains", "0"), ("add", "1")):
                answer, digits = driver.range(command, "key:", 0, 1000)
                ok(never not in digits, f"{command}: {digits.count(never)} answers that are wrong")
                if "3" in digits:
                    refused(answer, "BLY_EMISMATCH")
            if keep < 0.9:
                ok("3" in digits, "the missing part was not noticed")
            eq(c.must("STRLEN", name), 128 + int(keep * (len(whole) - 128)), "it was changed")


def test_missing_and_refused_names():
    with plain() as server, Driver() as driver:
        refused(driver("open", url(server, "none")), "BLY_EMISSING")
        refused(driver("open", f"redis://127.0.0.1:{server.port}"), "BLY_EINVAL")
        refused(driver("open", url(server, "k" * 65537)), "BLY_EINVAL", "64 KiB")
        refused(driver("open", url(server, "k" * 65536)), "BLY_EMISSING")
        port = server.port
        server.stop()
        answer = driver("open", url(port, "k"), retry_ms=300)
        refused(answer, "BLY_EIO")


def test_keyed():
    """A filter with a secret key does not answer without the key or with another one."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        mine, wrong = "0f" * 16, "f0" * 16
        driver.must("create", url(server, "k"), n=20000, p=0.01, shards=2, key=mine)
        known(driver)
        eq(other.must("open", url(server, "k"), key=mine)["hash"], "siphash")
        eq(other.must("contains", "key:", 0, 1000)["yes"], 1000)
        for options in ({}, {"key": wrong}):
            refused(other("open", url(server, "k"), **options), "BLY_EKEY")
            answer = other("create", url(server, "k"), n=20000, p=0.01, shards=2, **options)
            ok(answer["status"] in ("BLY_EKEY", "BLY_EMISMATCH"), f"{answer}")
        other.must("open", url(server, "k"), without_key=1)
        eq(other.must("look")["count"], driver.must("look")["count"])
        check_error(other, "BLY_EKEY")
        other.must("drop")
        eq(c.must("DBSIZE"), 0)


def test_few_blocks():
    """Up to as many shards as there are blocks: some shards may have no block."""
    with plain() as server, Driver() as driver, server.client() as c:
        blocks = driver.must("create", url(server, "k"), n=300, p=0.01)["blocks"]
        ok(8 < blocks < 40, f"{blocks} blocks")
        for shards in range(2, blocks + 1):
            name = f"k{shards}"
            driver.must("create", url(server, name), n=300, p=0.01, shards=shards)
            keys = shard_keys(name, shards)
            each = -(-blocks // shards)
            eq([c.must("STRLEN", key) for key in keys],
               [128 + 32 * max(0, min(each, blocks - j * each)) for j in range(shards)], name)
            known(driver, 300)
            eq(driver.must("contains", "key:", 0, 300)["yes"], 300)
            c.must("DEL", keys[0])
            for key in keys[1:]:
                eq(c.must("UNLINK", key), 1)
        refused(driver("create", url(server, "x"), n=300, p=0.01, shards=blocks + 1), "BLY_ETOOBIG",
                f"at most {blocks}")


def test_largest_string():
    """A filter of up to 512 MiB is one string; a larger one has two."""
    with plain("proto-max-bulk-len 512mb") as server, Driver() as driver, server.client() as c:
        for n, shards in ((405 * 10 ** 6, 1), (450 * 10 ** 6, 2)):
            made = driver.must("create", url(server, "k"), n=n, p=0.01)
            eq(made["shards"], shards)
            sizes = [c.must("STRLEN", key) for key in shard_keys("k", shards)]
            eq(sum(sizes), made["bytes"])
            ok(max(sizes) <= 1 << 29 and sum(sizes) > 0.97 * (1 << 29), f"{sizes}")
            eq(driver.must("add", "key:", 0, 20000)["yes"], 20000)
            eq(driver.must("contains", "key:", 0, 20000)["yes"], 20000)
            # The keys are everywhere, up to the end of the last string.
            tail = c.must("GETRANGE", shard_keys("k", shards)[-1], sizes[-1] - (1 << 20), -1)
            ok(any(tail), "no bits at the end")
            driver.must("drop")
        refused(driver("create", url(server, "k"), n=450 * 10 ** 6, p=0.01, shards=1),
                "BLY_ETOOBIG", "needs at least 2")
        eq(c.must("DBSIZE"), 0)


def test_reasons_do_not_repeat_the_name():
    """Reasons do not begin with the filter's name, which the caller knows, but name other shards."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        answers = [other("open", url(server, "filter"))]
        make(driver, server, "filter", 3)
        answers.append(other("create", url(server, "filter"), n=30000, p=0.01, shards=3))
        c.must("SETRANGE", "filter", 104, b"\0")
        answers.append(other("open", url(server, "filter")))
        c.must("SETRANGE", "filter", 104, b"\1")
        c.must("DEL", "filter")
        answers += [driver("look"), driver("add", "key:", 0, 1000), driver("drop")]
        c.must("RPUSH", "filter", "x")
        answers += [driver("look"), other("open", url(server, "filter")),
                    other("create", url(server, "filter"), n=20000, p=0.01)]
        for answer in answers:
            ok(answer["status"] != "BLY_OK" and not answer["why"].startswith("filter"), f"{answer}")
        make(driver, server, "two", 3)
        c.must("DEL", shard_keys("two", 3)[1])
        refused(driver("look"), "BLY_EMISSING", shard_keys("two", 3)[1] + ": ")


def test_databases_and_names():
    """Numbered databases are separate. Names may be any bytes, and may contain hash tags."""
    with plain() as server, Driver() as driver, Driver() as other, server.client() as c:
        driver.must("create", url(server, "k", database=3), n=1000, p=0.01, shards=2)
        refused(other("open", url(server, "k")), "BLY_EMISSING")
        other.must("open", url(server, "k", database=3))
        eq(c.must("DBSIZE"), 0)
        driver.must("create", f"unix://{server.unix}?db=2&key=by%20socket", n=20000, p=0.01)
        known(driver)
        c.must("SELECT", 2)
        eq(c.must("KEYS", "*"), [b"by socket"])
        c.must("SELECT", 0)
        for name, escaped in (("a b/c:{x}", "a%20b/c:{x}"), ("{}k", "{}k"), ("{t}", "{t}"),
                              ("ü", "%C3%BC"), ("a{b", "a{b"), ("x}{", "x}{")):
            driver.must("create", url(server, escaped), n=20000, p=0.01, shards=3)
            known(driver)
            eq(c.must("EXISTS", *shard_keys(name, 3)), 3, name)


if __name__ == "__main__":
    main(globals())
