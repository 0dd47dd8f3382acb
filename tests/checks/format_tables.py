"""format_tables.py - the kinds cuckoo, growable-cuckoo, scalable-cuckoo, fuse and ribbon, written again from
docs/format.md, sections 9 to 11 and 21.

Each kind is a class. check_shape(head) checks the fields of the header, and used(head) returns the bits of the body.
check_body(head, body) makes the checks of a loader. check_keys(head, body, keys, copies) checks that the body contains
exactly that many copies of each key (a pair of words); with copies None, that it contains at least these keys.
"""

from collections import Counter

from format_hashes import GOLD, LCG, M64, demand, fmix64, mulhi
from format_windows import Window

WINDOW, CUCKOO, FUSE, RIBBON, GROWABLE, CHAIN = 7, 14, 15, 16, 19, 21
MAX_BITS = 1 << 48


def bits_at(body, start, count):
    """Returns bits start .. start + count - 1 of the body, as a number."""
    first, last = start // 8, (start + count + 7) // 8
    return int.from_bytes(body[first:last], "little") >> start % 8 & ((1 << count) - 1)


def non_members(n):
    """Returns the words of n keys that were never added."""
    return [(fmix64(2 * i + 1), fmix64(2 * i + 2)) for i in range(1 << 40, (1 << 40) + n)]


def demand_rate(hits, lookups, rate):
    """Demands that the hits deviate from lookups * rate by at most five sigma, plus 4 for small numbers."""
    room = 5 * (lookups * rate * (1 - rate)) ** 0.5 + 4
    demand(abs(hits - lookups * rate) <= room, "%d of %d non-members, at %g" % (hits, lookups, rate))


def check_built(kind, head, body, keys, copies, rate):
    """Checks a built filter: it contains every key, and non-members at that rate; without keys it contains nothing."""
    demand(copies == 1, "a built filter has one copy of each key")
    demand(head["items"] == len(keys), "items")
    demand(all(kind.contains(head, body, lo, hi) for lo, hi in keys), "a key is missing")
    hits = sum(kind.contains(head, body, lo, hi) for lo, hi in non_members(2000))
    demand_rate(hits, 2000, rate if keys else 0)


class Cuckoo:
    def __init__(self, grows):
        self.grows = grows

    def check_shape(self, head):
        k, sub, size = head["k"], head["sub"], head["size"]
        demand(6 <= k <= 55, "k")
        demand(head["width"] == k + 1, "width")
        demand(size >= 1, "size")
        demand(self.used(head) <= MAX_BITS, "size too big")
        if not self.grows:
            demand(sub == 0, "sub")
            return
        demand(6 <= sub <= k and k - sub <= 24, "sub")
        last = 4 * (size << (k - sub)) * (sub + 1) + 64
        demand(last <= MAX_BITS, "size too big when grown")

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
        """Yields the class of every entry."""
        width = head["k"] + 1
        for slot in range(4 * head["size"]):
            entry = bits_at(body, slot * width, width)
            rest, bucket = entry & ((1 << head["k"]) - 1), slot // 4
            if entry:
                yield (bucket if entry == rest else self.other(head, bucket, rest)), rest

    def contains(self, head, body, lo, hi):
        return self.class_of(head, lo, hi) in self.entries(head, body)

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
            demand(have == Counter({c: n * copies for c, n in want.items()}), "the entries are not those of the keys")


class Chain:
    """Scalable-cuckoo: levels that are cuckoo filters, each a refinement or a twin of the one before it."""

    level = Cuckoo(False)

    def check_shape(self, head):
        k, sub, size = head["k"], head["sub"], head["size"]
        demand(1 <= k <= 48, "k")
        demand(head["width"] == 1, "width")
        demand(sub == 0 or (4 <= sub <= 32768 and sub & (sub - 1) == 0), "sub")
        demand(size % 64 == 0 and size >= 128 * k, "size of the levels")
        demand(self.used(head) <= MAX_BITS, "size too big")
        demand(head["flags"] & 2 == 0, "approximate")

    def used(self, head):
        return 8 * head["size"]

    def twins(self, a, b):
        return (a["size"], a["k"]) == (b["size"], b["k"])

    def refines(self, new, old):
        times, rest = divmod(new["size"], old["size"])
        wide = [level["size"] << level["k"] >= 1 << 56 for level in (new, old)]
        finer = times << new["k"] > 1 << old["k"]
        return rest == 0 and times & (times - 1) == 0 and finer and wide[0] == wide[1]

    def check_level(self, level, before):
        demand(level["kind"] == CUCKOO, "a level that is not a cuckoo filter")
        demand(level["capacity"] <= 4 * level["size"], "a level with more keys than slots")
        if before and self.twins(level, before):
            for field in ("capacity", "rate"):
                demand(level[field] == before[field], field + " of twins")
        elif before:
            demand(self.refines(level, before), "no refinement")

    def check_keys(self, levels, keys, copies):
        """Checks that copies of keys and entries correspond one to one.

        Keys that have the same class in a level have the same class in all older levels. So, beginning with the newest
        level, each entry may be assigned to any key of its class that has no entry yet."""
        left = [key for key in keys for _ in range(copies)]
        for head, body in reversed(levels):
            have = Counter(self.level.entries(head, body))
            rest = []
            for lo, hi in left:
                own = self.level.class_of(head, lo, hi)
                if have[own]:
                    have[own] -= 1
                else:
                    rest.append((lo, hi))
            demand(not any(have.values()), "an entry that belongs to no key")
            left = rest
        demand(not left, "a key is missing")


class Fuse:
    def shape(self, head):
        """Returns (shards, slots of a shard, slots of a segment, bytes of the heading, bytes of a shard)."""
        shards, slots = head["sub"] // 32 + 1, 1 << head["sub"] % 32
        m, r = head["size"] // shards, head["k"]
        if head["sub"] == 0:  # a small filter
            load = 2 if r <= 9 else 4 if r <= 25 else 8
            return 1, m, m // 3, 0, (m * r + max(8, 8 * load - r) + 511) // 512 * 64
        return shards, m, slots, (8 * shards + 63) // 64 * 64, (m * r + 575) // 512 * 64

    def check_shape(self, head):
        shards, log = head["sub"] // 32 + 1, head["sub"] % 32
        demand(1 <= head["k"] <= 28, "k")
        demand(head["width"] == head["k"], "width")
        demand(shards <= 2048 and shards & (shards - 1) == 0, "shards")
        if head["sub"] == 0:
            demand(3 <= head["size"] <= 3 << 14 and head["size"] % 3 == 0, "size")
            return
        demand(2 <= log <= 14, "segments")
        unit = shards << log
        demand(head["size"] >= 3 * unit and head["size"] % unit == 0, "size")
        demand(self.used(head) <= MAX_BITS, "size too big")

    def used(self, head):
        shards, _, _, heading, each = self.shape(head)
        return 8 * (heading + shards * each)

    def check_body(self, head, body):
        shards, m, _, heading, each = self.shape(head)
        demand(not any(body[8 * shards : heading]), "bytes after the seeds")
        end = each - 1 if head["sub"] == 0 else each
        for shard in range(shards):
            start, used = heading + shard * each, m * head["k"]
            slots = int.from_bytes(body[start : start + end], "little")
            demand(slots >> used == 0, "bits after the last slot")

    def contains(self, head, body, lo, hi):
        shards, m, slots, heading, each = self.shape(head)
        r, small = head["k"], head["sub"] == 0
        shard = lo * shards >> 64
        seed = fmix64(body[each - 1] * GOLD & M64)
        if not small:
            seed = int.from_bytes(body[8 * shard : 8 * shard + 8], "little")
        y = ((hi ^ seed) + lo) * LCG & M64
        x = y ^ y >> 32
        h0 = mulhi(lo * shards & M64, m - 2 * slots)
        h1 = h0 + slots ^ (x >> 42) % slots
        h2 = h0 + 2 * slots ^ (x >> 28) % slots
        if small:
            h1 = slots + ((x >> 42) % 2**14 * slots >> 14)
            h2 = 2 * slots + ((x >> 28) % 2**14 * slots >> 14)
        start, found = 8 * (heading + shard * each), 0
        for h in (h0, h1, h2):
            found ^= bits_at(body, start + h * r, r)
        return head["items"] > 0 and found == x % (1 << r)

    def check_keys(self, head, body, keys, copies):
        check_built(self, head, body, keys, copies, 2.0 ** -head["k"])


class Ribbon:
    """Both forms. With k above 64, size counts groups of 8 slots, and there may be a seed."""

    def shape(self, head):
        """Returns (columns, shards, seed, slots of a shard, wide slots of a shard)."""
        k, sub, size = head["k"], head["sub"], head["size"]
        if k < 64:
            shards, seed, slots, unit = sub // 256 + 1, 0, 128 * size, 128
        else:
            shards, seed, slots = 1 << sub // 256 % 16, sub // 4096, 8 * size
            unit = 8 if shards == 1 else 128
        m = slots // shards
        return k % 64, shards, seed, m, unit * (m // unit * (sub % 256) // 256)

    def check_shape(self, head):
        demand(1 <= head["k"] % 64 <= 40 and head["k"] < 128, "k")
        demand(head["width"] == 1, "width")
        r, shards, _, m, _ = self.shape(head)
        demand(shards <= 256, "shards")
        unit = shards if head["k"] < 64 else 1 if shards == 1 else 16 * shards
        demand(head["size"] >= 1 and head["size"] % unit == 0, "size")
        demand(m * shards * (r + 1) <= MAX_BITS, "size too big")

    def used(self, head):
        r, shards, _, m, wide = self.shape(head)
        return shards * (m * r + wide)

    def check_body(self, head, body):
        pass

    def block(self, shape, body, shard, b, j):
        """Returns column j of block b of a shard, that is of its slots 128 b to 128 b + 127, as a number. Bits after the
        last slot have no meaning."""
        r, _, _, m, wide = shape
        start = shard * (m * r + wide) // 8
        if j == r and 128 * (b + 1) > wide:
            at = start + (m * r + wide - wide % 128) // 8
        else:
            at = start + 16 * (b * r + min(b, wide // 128)) + j * min(128, m - 128 * b) // 8
        return int.from_bytes(body[at : at + 16], "little")

    def contains(self, head, body, lo, hi):
        shape = r, shards, seed, m, wide = self.shape(head)
        shard, place = mulhi(lo, shards), lo * shards & M64
        if seed:
            place = fmix64(place + seed * GOLD & M64)
        start = mulhi(place, m - 127) if m >= 128 else 0
        c = hi + (fmix64(hi + GOLD & M64) << 64)
        first, i = divmod(start, 128)
        # Slot t counts if it is the first, or if bit t % 128 of c is 1. A mask for each of the window's two blocks.
        counting = [(first, (c | 1 << i) >> i << i), (first + 1, c & (1 << i) - 1)]
        counting = [(b, mask & (1 << max(0, min(128, m - 128 * b))) - 1) for b, mask in counting]
        for j in range(r + 1 if start + 128 <= wide else r):
            odd = [self.block(shape, body, shard, b, j) & mask for b, mask in counting if mask]
            if sum(bin(x).count("1") for x in odd) % 2:
                return False
        return head["items"] > 0

    def check_keys(self, head, body, keys, copies):
        r, _, _, m, wide = self.shape(head)
        share = (wide - 127) / (m - 127) if wide >= 128 else 0
        check_built(self, head, body, keys, copies, 2.0**-r * (1 - share / 2))


TABLES = {
    WINDOW: Window(),
    CUCKOO: Cuckoo(False),
    GROWABLE: Cuckoo(True),
    FUSE: Fuse(),
    RIBBON: Ribbon(),
}
