"""The kinds of docs/format.md that are not made of plain bits, written out again from its text.

A kind is a class: check_shape(head) and used(head) for the header, check_body(head, body) for what a
loader owes, check_keys(head, body, keys, copies) for what the body must be when it holds so many
copies of each of these keys (pairs of words), or, with None, at least these.
"""

from collections import Counter

from format_hashes import GOLD, M64, demand, fmix64, mulhi

WINDOW, STABLE, CUCKOO, FUSE, RIBBON, GROWABLE = 7, 8, 14, 15, 16, 19
MOST_BITS = 1 << 48


def bits_at(body, start, count):
    """Bits start .. start + count - 1 of the body, as a number."""
    first, last = start // 8, (start + count + 7) // 8
    return int.from_bytes(body[first:last], "little") >> start % 8 & ((1 << count) - 1)


def strangers(n):
    """Words of keys that were never added."""
    return [(fmix64(2 * i + 1), fmix64(2 * i + 2)) for i in range(1 << 40, (1 << 40) + n)]


def demand_rate(hits, asked, rate):
    """Two-sided, five sigma, and a little for small numbers."""
    room = 5 * (asked * rate * (1 - rate)) ** 0.5 + 4
    demand(abs(hits - asked * rate) <= room, "%d of %d strangers, at %g" % (hits, asked, rate))


class Cuckoo:
    def __init__(self, grows):
        self.grows = grows

    def check_shape(self, head):
        k, sub, size = head["k"], head["sub"], head["size"]
        demand(6 <= k <= 55, "k")
        demand(head["width"] == k + 1, "width")
        demand(size >= 1, "size")
        demand(self.used(head) <= MOST_BITS, "size too big")
        if not self.grows:
            demand(sub == 0, "sub")
            return
        demand(6 <= sub <= k and k - sub <= 24, "sub")
        last = 4 * (size << (k - sub)) * (sub + 1) + 64
        demand(last <= MOST_BITS, "size too big when grown")

    def used(self, head):
        return 4 * head["size"] * (head["k"] + 1) + 64

    def core_mask(self, head):
        return (1 << min(9, head["sub"] if self.grows else head["k"])) - 1

    def class_of(self, head, lo, hi):
        m, f = head["size"], head["k"]
        product = lo * m
        if m << f >= 1 << 56:
            product += mulhi(hi, m)
        bucket, rest = product >> 64, (product & M64) >> (64 - f)
        return bucket, rest | (rest & self.core_mask(head) == 0)

    def other(self, head, bucket, rest):
        m = head["size"]
        core = rest & self.core_mask(head)
        mixed = int.from_bytes((core * GOLD & M64).to_bytes(8, "little"), "big")
        s = mulhi(mixed, m) | (m % 2 == 0)
        return s - bucket if s >= bucket else s - bucket + m

    def entries(self, head, body):
        """The class of every entry."""
        width = head["k"] + 1
        for slot in range(4 * head["size"]):
            entry = bits_at(body, slot * width, width)
            rest, bucket = entry & ((1 << head["k"]) - 1), slot // 4
            if entry:
                yield (bucket if entry == rest else self.other(head, bucket, rest)), rest

    def check_body(self, head, body):
        entries = list(self.entries(head, body))
        demand(len(entries) == head["items"], "entries and items")
        demand(all(rest & self.core_mask(head) for _, rest in entries), "an entry without core")
        tail = 4 * head["size"] * (head["k"] + 1)
        demand(bits_at(body, tail, 64) == 0, "bits after the last slot")

    def check_keys(self, head, body, keys, copies):
        have = Counter(self.entries(head, body))
        want = Counter(self.class_of(head, lo, hi) for lo, hi in keys)
        if copies is None:
            demand(all(have[c] >= n for c, n in want.items()), "a key is missing")
        else:
            demand(have == Counter({c: n * copies for c, n in want.items()}), "other entries")


class Ribbon:
    def shape(self, head):
        shards, e = head["sub"] // 256 + 1, head["sub"] % 256
        blocks = head["size"] // shards
        return shards, blocks, blocks * e // 256

    def check_shape(self, head):
        demand(1 <= head["k"] <= 40, "k")
        demand(head["width"] == 1, "width")
        shards = head["sub"] // 256 + 1
        demand(head["size"] >= 1 and head["size"] % shards == 0, "size")
        demand(128 * head["size"] * (head["k"] + 1) <= MOST_BITS, "size too big")

    def used(self, head):
        shards, _, wide = self.shape(head)
        return 128 * (head["size"] * head["k"] + shards * wide)

    def check_body(self, head, body):
        pass

    def contains(self, head, body, lo, hi):
        shards, blocks, wide = self.shape(head)
        k = head["k"]
        shard = mulhi(lo, shards)
        start = mulhi(lo * shards & M64, 128 * blocks - 127)
        c = hi + (fmix64(hi + GOLD & M64) << 64)
        counting = [t for t in range(start, start + 128) if t == start or c >> t % 128 & 1]
        columns = k + 1 if (start + 127) // 128 < wide else k
        for j in range(columns):
            ones = 0
            for t in counting:
                b = t // 128
                at = 16 * (shard * (blocks * k + wide) + b * k + min(b, wide) + j)
                ones += body[at + t % 128 // 8] >> t % 8 & 1
            if ones % 2:
                return False
        return head["items"] > 0

    def check_keys(self, head, body, keys, copies):
        demand(copies == 1, "a ribbon holds keys once")
        demand(head["items"] == len(keys), "items")
        demand(all(self.contains(head, body, lo, hi) for lo, hi in keys), "a key is missing")
        _, blocks, wide = self.shape(head)
        share = (128 * wide - 127) / (128 * blocks - 127) if wide else 0
        rate = 2.0 ** -head["k"] * (1 - share / 2) if keys else 0
        hits = sum(self.contains(head, body, lo, hi) for lo, hi in strangers(2000))
        demand_rate(hits, 2000, rate)


TABLES = {
    CUCKOO: Cuckoo(False),
    GROWABLE: Cuckoo(True),
    RIBBON: Ribbon(),
}
