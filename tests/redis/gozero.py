"""gozero.py - a filter shared with go-zero, bit for bit.

The two scripts are copies of go-zero's. They run with offsets that this file computes. Each side
finds the keys that the other has added, and the strings are equal.
"""
import random
import sys

sys.dont_write_bytecode = True

from support import (Driver, eq, main, murmur3, murmur3_of_debian, ok, plain, refused,  # noqa: E402
                     url)

SET = """
for _, offset in ipairs(ARGV) do
	redis.call("setbit", KEYS[1], offset, 1)
end
"""
TEST = """
for _, offset in ipairs(ARGV) do
	if tonumber(redis.call("getbit", KEYS[1], offset)) == 0 then
		return false
	end
end
return true
"""
MAPS = 14


def sample():
    """Returns keys of all lengths that Murmur3 treats differently, binary and text, some very long."""
    draw = random.Random(14)
    keys = [b"", b"\0", b"\0" * 16, b"\xff" * 31, b"key", "Schlüssel".encode(), b"\r\n", b"a b",
            bytes(range(256)), b"x" * 1000, draw.randbytes(65537)]
    keys += [draw.randbytes(n) for n in range(1, 50)]
    keys += [b"user:%d" % i for i in range(20)]
    eq(len(set(keys)), len(keys), "keys that differ")
    return keys


KEYS = sample()


def offsets(key, bits):
    return [murmur3(key + bytes([i])) % bits for i in range(MAPS)]


class GoZero:
    """go-zero's filter: its key and its number of bits."""

    def __init__(self, client, key, bits):
        self.client, self.key, self.bits = client, key, bits

    def add(self, item):
        eq(self.client("EVAL", SET, 1, self.key, *offsets(item, self.bits)), None)

    def exists(self, item):
        reply = self.client("EVAL", TEST, 1, self.key, *offsets(item, self.bits))
        ok(reply in (1, None), f"{reply!r}")
        return reply == 1


def set_bits(client, key):
    """Returns the numbers of the set bits, in Redis's numbering."""
    data = client.must("GET", key) or b""
    return {8 * i + j for i, byte in enumerate(data) if byte for j in range(8)
            if byte & 0x80 >> j}


def test_offsets_of_every_key():
    """A filter with a single key has exactly that key's bits."""
    ok(len(KEYS) >= 50, "too few keys")
    for key in KEYS:
        for i in range(MAPS):
            theirs = murmur3_of_debian(key + bytes([i]))
            ok(theirs in (None, murmur3(key + bytes([i]))), "two Murmur3 that differ")
    with plain() as server, Driver() as driver, server.client() as c:
        for bits in (2 * 10 ** 6, 1009):
            for i, key in enumerate(KEYS):
                name = f"{bits}:{i}"
                driver.must("gozero", url(server, name), bits=bits)
                eq(driver.keys("addkeys", key)["answers"], "1")
                eq(set_bits(c, name), set(offsets(key, bits)), f"bits of {key[:40]!r}")


def test_ours_and_theirs():
    """Both sides give the same answer for every key, also false positives: the filters are small."""
    with plain() as server, Driver() as driver, server.client() as c:
        for bits in (300, 1000, 20 * len(KEYS)):
            theirs = GoZero(c, f"theirs{bits}", bits)
            for key in KEYS[::2]:
                theirs.add(key)
            driver.must("gozero", url(server, f"ours{bits}"), bits=bits)
            driver.keys("addkeys", *KEYS[::2])
            ours = GoZero(c, f"ours{bits}", bits)
            eq(c.must("GET", ours.key), c.must("GET", theirs.key), f"the strings of {bits} bits")
            wanted = "".join("01"[theirs.exists(key)] for key in KEYS)
            ok("0" in wanted[1::2] or bits == 300, "nothing is absent")
            eq("".join("01"[ours.exists(key)] for key in KEYS), wanted, "our filter, their lookups")
            eq(set(wanted[::2]), {"1"}, "what was added")
            driver.must("gozero", url(server, theirs.key), bits=bits)
            eq(driver.keys("askkeys", *KEYS)["answers"], wanted, "their filter, our lookups")


def test_whether_a_key_was_new():
    """An add reports a key as new exactly if one of its bits was not set, also within a batch."""
    draw = random.Random(3)
    with plain() as server, Driver() as driver, server.client() as c:
        bits, known = 2000, set()
        theirs = GoZero(c, "k", bits)
        driver.must("gozero", url(server, "k"), bits=bits, batch=7)
        seen = set()
        for turn in range(12):
            if turn % 3 == 0:
                key = b"theirs%d" % turn
                theirs.add(key)
                known |= set(offsets(key, bits))
            batch = [draw.choice(KEYS) if draw.random() < 0.5 else b"%d" % draw.randrange(90)
                     for _ in range(20)]
            wanted = ""
            for key in batch:
                own = set(offsets(key, bits))
                wanted += "0" if own <= known else "1"
                known |= own
            answer = driver.keys("addkeys", *batch)
            eq(answer["status"], "BLY_OK", answer["why"])
            eq(answer["answers"], wanted, f"turn {turn}")
            seen |= set(wanted)
        eq(seen, {"0", "1"})
        eq(set_bits(c, "k"), known)


def test_strings_that_are_something_else():
    """A native filter is not overwritten, and a string that is too long is refused."""
    with plain() as server, Driver() as driver, server.client() as c:
        driver.must("create", url(server, "native"), n=1000, p=0.01)
        before = c.must("GET", "native")
        c.must("SETBIT", "long", 8 * 126, 1)
        for name, words in (("native", "not one of go-zero"), ("long", "more bits")):
            driver.must("gozero", url(server, name), bits=1001)  # 126 bytes
            for command in ("addkeys", "askkeys"):
                answer = driver.keys(command, b"x", b"y")
                eq((answer["status"], answer["answers"]), ("BLY_EMISMATCH", "33"))
                ok(words in answer["why"], answer["why"])
        eq(c.must("GET", "native"), before)
        eq(c.must("BITCOUNT", "long"), 1)
        c.must("SETRANGE", "fits", 125, b"\0")
        driver.must("gozero", url(server, "fits"), bits=1001)
        eq(driver.keys("addkeys", b"x")["answers"], "1")


def test_large_batches():
    """A call with thousands of keys sets the same bits as single adds."""
    with plain() as server, Driver() as driver, server.client() as c:
        bits = 400000
        driver.must("gozero", url(server, "k"), bits=bits)
        answer, digits = driver.range("add", "key", 0, 20000)
        eq(answer["status"], "BLY_OK", answer["why"])
        wanted = set()
        model = ""
        for i in range(20000):
            own = set(offsets(b"key%d" % i, bits))
            model += "0" if own <= wanted else "1"
            wanted |= own
        eq(set_bits(c, "k"), wanted)
        ok(digits == model, "keys that are wrongly new, or wrongly not")
        answer, digits = driver.range("contains", "key", 0, 20000)
        eq(digits, "1" * 20000)
        facts = driver.must("look")
        eq(facts["set_bits"], len(wanted))


def test_largest():
    """2^32 bits are the maximum of a string. A larger filter is an error, because an offset would be."""
    with plain() as server, Driver() as driver, server.client() as c:
        answer = driver("gozero", url(server, "k"), bits=2 ** 32 + 1)
        refused(answer, "BLY_ETOOBIG")
        refused(driver("gozero", url(server, "k"), bits=0), "BLY_EGEOMETRY")
        driver.must("gozero", url(server, "k"), bits=2 ** 32)
        eq(driver.keys("addkeys", *KEYS)["answers"], "1" * len(KEYS))
        eq(driver.keys("askkeys", *KEYS, b"absent")["answers"], "1" * len(KEYS) + "0")
        for key in KEYS:
            ok(all(c.must("GETBIT", "k", at) for at in offsets(key, 2 ** 32)), f"{key[:40]!r}")
        eq(c.must("BITCOUNT", "k"), len({at for key in KEYS for at in offsets(key, 2 ** 32)}))


def test_missing_is_no_answer():
    """If the filter is missing, go-zero answers "absent"; the library reports that it is missing."""
    with plain() as server, Driver() as driver, server.client() as c:
        driver.must("gozero", url(server, "k"), bits=1000)
        answer = driver.keys("askkeys", b"a", b"b")
        refused(answer, "BLY_EMISSING")
        eq(answer["answers"], "33")
        eq(driver.keys("askkeys", b"a", b"b", otherwise="yes")["answers"], "11")
        eq(driver.keys("askkeys", b"a", b"b", otherwise="no")["answers"], "00")
        eq(c.must("EXISTS", "k"), 0, "a lookup created it")
        eq(driver.keys("addkeys", b"a")["answers"], "1")
        eq(driver.keys("askkeys", b"a", b"b")["answers"], "10")
        c.must("DEL", "k")
        refused(driver.keys("askkeys", b"a"), "BLY_EMISSING")
        c.must("RPUSH", "k", "a list")
        for command in ("askkeys", "addkeys"):
            answer = driver.keys(command, b"a", b"b")
            refused(answer, "BLY_EREFUSED")
            eq(answer["answers"], "33")


if __name__ == "__main__":
    main(globals())
