"""rates.py - filters that grow from a hundred keys to a million keep the requested rate.

The rate is measured through the server at five sizes: it must not exceed the requested one (with a
tolerance of four standard deviations), and at the end every key must be found.
"""
import math

from harness import Server, as_dict, main, ok, to_bytes

BATCH = 1000
AHEAD = 8  # batches: 160 kB of commands and 32 kB of replies in flight
KEYS = 1_000_000
STAGES = (100, 1000, 10_000, 100_000, KEYS)
NON_MEMBERS = 100_000


def encoded(prefix, n):
    """n arguments in the protocol's form, in batches. Numbers with the same number of digits are
    formatted at once."""
    def part(first, last):
        cuts = [first] + [c for c in (10, 100) if first < c < last] + [last]
        return b"".join(
            b"$%d\r\n%s%%d\r\n" % (len(prefix) + len(str(low)), prefix) * (high - low)
            % tuple(range(low, high)) for low, high in zip(cuts, cuts[1:]))
    return [(min(BATCH, n - i), part(i, min(i + BATCH, n))) for i in range(0, n, BATCH)]


def batch(first, last, batches):
    """The batches of the items from first to last, both multiples of a batch."""
    return batches[first // BATCH:last // BATCH]


class Asker:
    """Sends batches and counts the ones in the replies, without parsing each."""

    def __init__(self, client):
        self.client = client

    def count(self, words, batches):
        """Sends the next batches before it reads the replies to the last ones."""
        head = b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in map(to_bytes, words))
        total, sent = 0, 0
        for i, (n, _) in enumerate(batches):
            while sent < len(batches) and sent < i + AHEAD:
                more, body = batches[sent]
                self.client.send_raw(b"*%d\r\n%s%s" % (len(words) + more, head, body))
                sent += 1
            total += self.ones(n)
        return total

    def ones(self, n):
        """The number of ones among the n numbers of the next reply."""
        wanted = len(b"*%d\r\n" % n) + 4 * n
        got = bytearray()
        while len(got) < wanted:
            data = self.client.socket.recv(wanted - len(got))
            ok(data, "the server closed the connection")
            got += data
            ok(got[:1] == b"*", f"not an array: {bytes(got[:200])!r}")
        ones = got.count(b":1\r\n")
        ok(ones + got.count(b":0\r\n") == n, "not all of the answers are 0 or 1")
        return ones


KNOWN = encoded(b"key:", KEYS)
FIRST = encoded(b"key:", STAGES[0])
OTHERS = encoded(b"other:", NON_MEMBERS)


def grows(family, rate, *make):
    """Fills the key `k`, created by `make` or by its first add, and checks it."""
    add = ("BF.MADD", "k") if family == "BF" else ("CF.INSERT", "k", "ITEMS")
    ask = (f"{family}.MEXISTS", "k")
    with Server() as server:
        client = server.client(unix=True)
        client.must("CONFIG", "SET", f"bf.{family.lower()}-error-rate", str(rate))
        if make:
            client.must(*make)
        asker = Asker(client)
        # Cuckoo filters store a copy with every add, so the first hundred are from another batch.
        asker.count(add, FIRST)
        allowed = rate + 4 * math.sqrt(rate / NON_MEMBERS)
        seen, have = [], 0
        for stage in STAGES:
            if stage >= BATCH:
                asker.count(add, batch(have, stage, KNOWN))
                have = stage
            found = asker.count(ask, OTHERS) / NON_MEMBERS
            seen.append(f"{stage}: {found:.5f}")
            ok(found <= allowed, f"asked {rate}, found {found} after {stage} keys")
        ok(asker.count(ask, KNOWN) == KEYS, "keys are missing")
        info = as_dict(client.must(f"{family}.INFO", "k"))
        bits = 8 * info["Size"] / KEYS
        print(f"  {family} {rate}, {' '.join(map(str, make)) or 'by its first add'}: "
              f"{', '.join(seen)}; {info['Number of filters']} filters, {bits:.1f} bits per key")


def test_bloom_by_first_add():
    grows("BF", 0.01)


def test_bloom_by_first_add_stricter():
    grows("BF", 0.001)


def test_bloom_reserved():
    grows("BF", 0.01, "BF.RESERVE", "k", "0.01", 100)


def test_bloom_reserved_stricter():
    grows("BF", 0.001, "BF.RESERVE", "k", "0.001", 100)


def test_cuckoo_by_first_add():
    grows("CF", 0.01)


def test_cuckoo_reserved():
    grows("CF", 0.01, "CF.RESERVE", "k", 100)


def test_cuckoo_reserved_stricter():
    grows("CF", 0.001, "CF.RESERVE", "k", 100, "ERROR", "0.001")


if __name__ == "__main__":
    main(globals())
