"""winners.py - several processes add the same keys at once. For each new key exactly one process (the
winner) is told that it was new. Afterwards all keys are in the filter, and false positives occur at
the planned rate.

A key has no winner if other keys had already set all its bits: then it is a false positive when it
is first added. The number of such keys and of false positives follows from the plan; plans.py
computes both without the library.
"""
import random
import sys

sys.dont_write_bytecode = True

from plans import SBBF, SPLIT512, Rate, losses  # noqa: E402
from support import Driver, eq, head, main, ok, plain, url  # noqa: E402

TURNS = 50
FORMS = {"sbbf": 0.01, "split512": 0.001}


def pieces(keys, number):
    """Returns all keys as ranges, in another order for each process: ascending, descending, shuffled,
    and ascending again, which competes directly with the first."""
    piece = keys // TURNS
    ranges = [(at, at + piece) for at in range(0, keys, piece)]
    if number == 1:
        ranges.reverse()
    elif number == 2:
        random.Random(number).shuffle(ranges)
    return ranges


def add_all(drivers, keys, orders):
    """All drivers add all keys at once. Returns the digits of each driver, in the order of the keys."""
    digits = [bytearray(keys) for _ in drivers]
    for turn in range(TURNS):
        # The driver that gets its command first has an advantage, so they take turns.
        for driver, order in list(zip(drivers, orders))[::1 if turn % 2 else -1]:
            driver.say_range("add", "key:", *order[turn])
        for driver, order, to in zip(drivers, orders, digits):
            answer = driver.hear()
            eq(answer["status"], "BLY_OK", answer["why"])
            first, last = order[turn]
            to[first:last] = driver.digits().encode()
    for text in digits:
        ok(set(text) <= set(b"01"), "answers that are neither yes nor no")
    return digits


def check_winners(digits, keys, shape):
    """Checks that no key has several winners, and that as many keys have none as planned. Returns the
    number of keys with a winner."""
    wins = list(map(sum, zip(*digits)))
    base = 48 * len(digits)
    ok(max(wins) <= base + 1, f"{sum(w > base + 1 for w in wins)} keys with several winners")
    nobody = wins.count(base)
    low, high = losses(shape.kind, shape.k, shape.blocks, keys)
    ok(low <= nobody <= high, f"{nobody} keys without a winner; planned: {low:.1f} .. {high:.1f}")
    return keys - nobody


def check_rate(driver, shape, keys, absent, filled):
    """Checks the number of false positives, and the rate that the library predicts."""
    answer, _ = driver.range("contains", "absent:", 0, absent)
    eq(answer["status"], "BLY_OK", answer["why"])
    rate = Rate.of(shape, keys)
    low, high = rate.bounds(absent)
    found = answer["yes"]
    ok(low <= found <= high, f"{found} of {absent} absent keys found; planned: {low:.1f} .. {high:.1f}")
    ok(rate.mean <= shape.rate * 1.001, f"planned {rate.mean}, requested {shape.rate}")
    facts = driver.must("look")
    eq(facts["count"], filled, "the filter's own count")
    predicted = facts["expected_fpr"]
    ok(abs(predicted / rate.mean - 1) < 0.02, f"predicted {predicted}, planned {rate.mean}")
    return found / absent


def contest(server, kind, keys, processes, shards=1, absent=None):
    """Several processes add `keys` keys to a filter with this capacity."""
    drivers = [Driver() for _ in range(processes)]
    name = f"{kind}:{keys}:{processes}:{shards}"
    for driver in drivers:
        driver.must("create", url(server, name), n=keys, p=FORMS[kind], kind=kind, shards=shards)
    with server.client() as c:
        shape = head(c, name)
    eq(shape.capacity, keys)
    digits = add_all(drivers, keys, [pieces(keys, i) for i in range(processes)])
    filled = check_winners(digits, keys, shape)
    answer, _ = drivers[0].range("contains", "key:", 0, keys)
    eq((answer["status"], answer["yes"]), ("BLY_OK", keys), "false negatives")
    rate = check_rate(drivers[-1], shape, keys, absent or keys, filled)
    shares = [text.count(b"1") for text in digits]
    ok(min(shares) > 0, f"a process has no wins: {shares}")
    print(f"  {name}: wins {shares}, rate {rate:.6f}")
    for driver in drivers:
        driver.close()


def test_four_at_a_hundred_thousand():
    with plain() as server:
        contest(server, "sbbf", 10 ** 5, 4, absent=300000)
        contest(server, "split512", 10 ** 5, 4, shards=7, absent=300000)


def test_small():
    """A thousand keys, with the kind that the planner chooses. These filters have few blocks, so the
    test adds up the results of 20 filters."""
    with plain() as server, Driver() as one, Driver() as two, server.client() as c:
        for kind, p in FORMS.items():
            found = 0
            for i in range(20):
                for driver in (one, two):
                    driver.must("create", url(server, f"{kind}{i}"), n=1000, p=p, seed=i)
                for driver in (one, two):
                    driver.say_range("add", "key:", 0, 1000, step=100)
                digits = []
                for driver in (one, two):
                    eq(driver.hear()["status"], "BLY_OK")
                    digits.append(driver.digits().encode())
                shape = head(c, f"{kind}{i}")
                eq(shape.kind, {"sbbf": SBBF, "split512": SPLIT512}[kind])
                check_winners(digits, 1000, shape)
                eq(one.range("contains", "key:", 0, 1000)[0]["yes"], 1000, "false negatives")
                found += two.range("contains", "absent:", 0, 20000)[0]["yes"]
            rate = Rate.of(shape, 1000)
            rate.spread /= 20
            low, high = rate.bounds(20 * 20000)
            ok(low <= found <= high, f"{kind}: {found} false positives; planned: {low:.0f} .. {high:.0f}")
            print(f"  {kind}: {found / 400000:.6f}, planned {rate.mean:.6f}")


def test_duplicates_in_a_batch():
    """Only the first of several equal keys is new, in one command and across commands."""
    with plain() as server, Driver() as driver:
        for kind, shards in (("sbbf", 1), ("split512", 1), ("sbbf", 3)):
            driver.must("create", url(server, f"{kind}{shards}"), n=10 ** 6, p=FORMS[kind],
                        kind=kind, shards=shards, batch=16)
            keys = [b"%d" % (i % 50) for i in range(150)] + [b"same"] * 100
            answer = driver.keys("addkeys", *keys)
            eq(answer["answers"], "1" * 50 + "0" * 100 + "1" + "0" * 99, f"{kind}, {shards}")
            eq(driver.keys("askkeys", *keys)["yes"], 250)
            eq(driver.must("look")["count"], 51)


def test_empty_and_binary_keys():
    with plain() as server, Driver() as driver:
        for kind in FORMS:
            driver.must("create", url(server, kind), n=10 ** 6, p=FORMS[kind], kind=kind)
            draw = random.Random(5)
            keys = [b"", b"\0", b"\r\n", b"\xff" * 9] + [draw.randbytes(n) for n in range(5, 400)]
            eq(driver.keys("askkeys", *keys)["answers"], "0" * len(keys))
            eq(driver.keys("addkeys", *keys)["answers"], "1" * len(keys))
            eq(driver.keys("askkeys", *keys)["answers"], "1" * len(keys))
            eq(driver.keys("addkeys", *keys)["answers"], "0" * len(keys))


if __name__ == "__main__":
    main(globals())
