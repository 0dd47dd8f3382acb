"""format_counting.py - the kinds that count copies of keys (counting, multilayer, layered, hybrid), written again from
docs/format.md, sections 14 to 16 and 18.

Each kind is a class as in format_tables.py, but has check_multiset(head, body, keys, relation) instead of check_keys.
`keys` are pairs of a hash (two words) and the number of copies that were added. They determine the body bit for bit or,
where a writer has choices, count for count.
"""

from collections import Counter

from format_hashes import GOLD, LCG, M64, demand, fmix64, mulhi
from format_tables import MAX_BITS, Cuckoo, bits_at

COUNTING, MULTILAYER, LAYERED, HYBRID = 9, 10, 11, 13


def step_size(step):
    """Returns the size of size class `step`: 0, 4, 5, 6, 7, 8, 10, 12, 14, 16, ..."""
    return (4 + (step - 1) % 4) << (step - 1) // 4 if step else 0


def check_items(head, keys, relation):
    copies = 0 if relation == "spent" else sum(n for _, n in keys)
    demand(relation == "atleast" or head["items"] == copies, "items")


def check_counts(have, want, limit, relation):
    """Compares the counts by cell with those that the keys give. A counter that reaches its limit stays there."""
    for cell in set(have) | set(want):
        owed = min(want.get(cell, 0), limit)
        if relation == "spent" and owed < limit:
            owed = 0
        if relation == "atleast":
            demand(have.get(cell, 0) >= owed, "a count too low")
        else:
            demand(have.get(cell, 0) == owed, "the counts are not those of the keys")


class Counters:
    """Arrays of counters. A class adds `used`, and `cells`: which counters a key owns."""

    def check_shape(self, head):
        demand(head["sub"] in (2, 4, 8, 16), "sub")
        demand(head["width"] == head["sub"], "width")
        demand(1 <= head["k"] <= self.most_hashes, "k")
        demand(head["size"] >= self.least_size, "size")
        demand(self.used(head) <= MAX_BITS, "size too big")

    def check_body(self, head, body):
        pass

    def check_multiset(self, head, body, keys, relation):
        width = head["sub"]
        cells = int.from_bytes(body, "little")
        have, want = {}, Counter()
        for cell in range(self.used(head) // width):
            count = cells >> cell * width & ((1 << width) - 1)
            if count:
                have[cell] = count
        for (lo, hi), n in keys:
            for cell in set(self.cells(head, lo, hi)):
                want[cell] += n
        check_items(head, keys, relation)
        check_counts(have, want, (1 << width) - 1, relation)


class Counting(Counters):
    most_hashes, least_size = 64, 64

    def used(self, head):
        return head["size"] * head["sub"]

    def cells(self, head, lo, hi):
        x = lo
        for _ in range(head["k"]):
            yield mulhi(x, head["size"])
            x = (x * LCG + (hi | 1)) & M64


class Multilayer:
    CELLS, LAYERS, RECORD, LIMIT = 320, 184, 640, 65535

    def room(self, head):
        return step_size(head["sub"])

    def list_at(self, head):
        return 64 * head["size"]

    def records_at(self, head):
        room = self.room(head)
        return self.list_at(head) + (64 * ((room + 8) // 8) if room else 0)

    def used(self, head):
        return 8 * (self.records_at(head) + self.room(head) * self.RECORD)

    def check_shape(self, head):
        demand(1 <= head["k"] <= 32, "k")
        demand(head["width"] == 1, "width")
        demand(1 <= head["size"] <= MAX_BITS // 512, "size")
        demand(head["sub"] <= 180, "sub")
        demand(head["sub"] == 0 or step_size(head["sub"] - 1) < head["size"], "sub")
        demand(self.used(head) <= MAX_BITS, "size too big")

    def cells(self, head, hi):
        w = hi
        for j in range(head["k"]):
            if j and j % 4 == 0:
                w = w * GOLD & M64
                w ^= w >> 29
            yield (w >> 16 * (j % 4) & 0xFFFF) * self.CELLS >> 16

    def unpack(self, block):
        """Returns the counts of a block that is not spilled, which its layers give."""
        bits, used = int.from_bytes(block, "little"), block[63]
        layers = bits >> self.CELLS & ((1 << self.LAYERS) - 1)
        demand(used <= self.LAYERS and layers >> used == 0, "bits after the last layer")
        live = [cell for cell in range(self.CELLS) if bits >> cell & 1]
        counts, at = Counter(), 0
        while live:  # each of these cells has a bit in this layer: 1 if it has one in the next layer, too
            demand(at + len(live) <= used, "a layer is missing")
            counts.update(live)
            ones = [layers >> at + i & 1 for i in range(len(live))]
            at += len(live)
            live = [cell for cell, one in zip(live, ones) if one]
        demand(at == used, "bits after the last layer")
        return counts

    def counts(self, head, body, number):
        block = body[64 * number : 64 * number + 64]
        if block[63] != 255:
            return self.unpack(block)
        record = int.from_bytes(block[40:48], "little")
        total = int.from_bytes(block[48:56], "little")
        used = int.from_bytes(body[self.list_at(head) :][:8], "little")
        demand(self.room(head) and record < used, "record")
        owner = self.list_at(head) + 8 * (1 + record)
        demand(int.from_bytes(body[owner : owner + 8], "little") == number, "owner of a record")
        demand(not any(block[56:63]), "bits after the sum")
        at = self.records_at(head) + record * self.RECORD
        counts = {}
        for cell in range(self.CELLS):
            count = int.from_bytes(body[at + 2 * cell : at + 2 * cell + 2], "little")
            demand((count > 0) == bool(block[cell // 8] >> cell % 8 & 1), "base and record")
            if count:
                counts[cell] = count
        demand(sum(counts.values()) == total and total > 120, "sum of a record")
        return counts

    def check_body(self, head, body):
        room = self.room(head)
        start = self.list_at(head)
        used = int.from_bytes(body[start : start + 8], "little") if room else 0
        demand(used <= room, "records in use")
        spilled = sum(body[64 * i + 63] == 255 for i in range(head["size"]))
        demand(spilled == used, "records without a block")
        if room:
            demand(not any(body[start + 8 * (1 + used) : self.records_at(head)]), "list")
            end = self.records_at(head) + room * self.RECORD
            demand(not any(body[self.records_at(head) + used * self.RECORD : end]), "records")
        for number in range(head["size"]):
            self.counts(head, body, number)

    def check_multiset(self, head, body, keys, relation):
        have, want = {}, Counter()
        for number in range(head["size"]):
            for cell, count in self.counts(head, body, number).items():
                have[number, cell] = count
        for (lo, hi), n in keys:
            for cell in set(self.cells(head, hi)):
                want[mulhi(lo, head["size"]), cell] += n
        check_items(head, keys, relation)
        check_counts(have, want, self.LIMIT, relation)


class Layered:
    SALTS = (
        0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
        0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
    )  # fmt: skip

    def planes_at(self, head):
        return (head["size"] + 1) // 2 * 64

    def used(self, head):
        return 8 * (self.planes_at(head) + 96 * head["size"])

    def check_shape(self, head):
        demand(head["k"] == 8, "k")
        demand(head["width"] == 4, "width")
        demand(head["sub"] == 0, "sub")
        demand(head["size"] >= 1 and self.used(head) <= MAX_BITS, "size")

    def cells(self, hi):
        return [32 * j + ((hi & 0xFFFFFFFF) * s & 0xFFFFFFFF) // (1 << 27) for j, s in enumerate(self.SALTS)]

    def counts(self, head, body):
        counts = {}
        for block in range(head["size"]):
            front = int.from_bytes(body[32 * block : 32 * block + 32], "little")
            at = self.planes_at(head) + 96 * block
            planes = [int.from_bytes(body[at + 32 * p : at + 32 * p + 32], "little") for p in range(3)]
            for plane in planes:
                demand(plane & ~front == 0, "a count of a cell that is not in use")
            for cell in range(256):
                if front >> cell & 1:
                    counts[block, cell] = 1 + sum((plane >> cell & 1) << p for p, plane in enumerate(planes))
        return counts

    def check_body(self, head, body):
        demand(not any(body[32 * head["size"] : self.planes_at(head)]), "bytes after the front")
        self.counts(head, body)

    def check_multiset(self, head, body, keys, relation):
        want = Counter()
        for (lo, hi), n in keys:
            for cell in self.cells(hi):
                want[mulhi(lo, head["size"]), cell] += n
        check_items(head, keys, relation)
        check_counts(self.counts(head, body), want, 8, relation)


class Hybrid:
    def __init__(self):
        self.table = Cuckoo(False)

    def id_bytes(self, head):
        bits = head["k"] + (head["size"] - 1).bit_length()
        return max(2, (bits + 7) // 8)

    def counts_at(self, head):
        return (self.table.used(head) + 511) // 512 * 64

    def map_at(self, head):
        return self.counts_at(head) + (2 * head["size"] + 63) // 64 * 64

    def used(self, head):
        before, places = 8 * self.map_at(head), step_size(head["sub"])
        return before + (64 + places * 8 * (self.id_bytes(head) + 6) if places else 0)

    def check_shape(self, head):
        demand(6 <= head["k"] <= 55, "k")
        demand(head["width"] == head["k"] + 5, "width")
        demand(head["size"] >= 1 and self.table.used(head) <= MAX_BITS, "size")
        demand(head["sub"] <= 180, "sub")
        demand(self.used(head) <= MAX_BITS, "size too big")

    def places(self, head, body):
        """Returns ([(id, count)] of the map's places, the number of places in use that the map states)."""
        places = step_size(head["sub"])
        if not places:
            return [], 0
        at, size = self.map_at(head) + 8, self.id_bytes(head)
        out = []
        for i in range(places):
            entry = body[at + i * (size + 6) : at + (i + 1) * (size + 6)]
            out.append((int.from_bytes(entry[:size], "little"), int.from_bytes(entry[size:], "little")))
        return out, int.from_bytes(body[at - 8 : at], "little")

    def home(self, head, key, places):
        mixed = fmix64((key & M64) ^ (key >> 64) * GOLD & M64)
        return mulhi(mixed, places)

    def check_map(self, head, places, used):
        n = len(places)
        taken = [i for i in range(n) if places[i] != (0, 0)]
        demand(len(taken) == used and used <= n - (n + 7) // 8, "places in use")
        for i in taken:
            key, count = places[i]
            demand(count > 8, "a small count in the map")
            demand(key >> head["k"] < head["size"], "an id of no bucket")
            far = (i - self.home(head, key, n)) % n
            demand(far <= 255, "an entry too far from home")
            if far:  # not at home: the entry before it must come first in the order of the map
                before, its = places[i - 1]
                demand(its, "a gap before an entry")
                other = (i - 1 - self.home(head, before, n)) % n
                demand(other > far - 1 or (other == far - 1 and before < key), "order of the map")

    def counts(self, head, body):
        """Returns {(bucket, remainder): copies} of all classes."""
        width, k = head["k"] + 1, head["k"]
        places, used = self.places(head, body)
        self.check_map(head, places, used)
        spilled = {key: count for key, count in places if count}
        counts, large = {}, 0
        for slot in range(4 * head["size"]):
            entry = bits_at(body, slot * width, width)
            half = body[self.counts_at(head) + slot // 2] >> 4 * (slot % 2) & 15
            demand((entry != 0) == (half != 0), "an entry without a count")
            if not entry:
                continue
            rest, bucket = entry & ((1 << k) - 1), slot // 4
            if entry != rest:
                bucket = self.table.other(head, bucket, rest)
            demand(rest & self.table.core_mask(head), "an entry without core")
            demand((bucket, rest) not in counts, "a class twice")
            if half == 15:
                demand(bucket << k | rest in spilled, "a count that is not in the map")
                half = spilled[bucket << k | rest]
                large += 1
            counts[bucket, rest] = half
        demand(large == used, "a place without an entry")
        return counts

    def check_body(self, head, body):
        tail = 4 * head["size"] * (head["k"] + 1)
        end = self.counts_at(head) + 2 * head["size"]
        demand(bits_at(body, tail, 8 * self.counts_at(head) - tail) == 0, "bits after the table")
        demand(not any(body[end : self.map_at(head)]), "bytes after the counts")
        demand(sum(self.counts(head, body).values()) == head["items"], "counts and items")

    def check_multiset(self, head, body, keys, relation):
        want = Counter()
        for (lo, hi), n in keys:
            want[self.table.class_of(head, lo, hi)] += n
        check_items(head, keys, relation)
        check_counts(self.counts(head, body), want, (1 << 48) - 1, relation)


COUNTERS = {
    COUNTING: Counting(),
    MULTILAYER: Multilayer(),
    LAYERED: Layered(),
    HYBRID: Hybrid(),
}
