"""format_windows.py - windows, written again from docs/format.md, section 12.

The keys and their order determine the body, so the body is computed again and compared bit for bit. The class Window is
as format_tables.py describes.
"""

import struct

from format_hashes import GOLD, LCG, M64, demand, fmix64, mulhi

MAX_BITS = 1 << 48


def number_bits(numbers):
    return sum(1 << n for n in set(numbers))


def is_small(head):
    return head["sub"] & 64 != 0


class Window:
    def kept(self, head):
        """Returns the number of generations that are kept in addition to the one being filled."""
        return head["sub"] & 63

    def slots(self, head):
        return self.kept(head) + 1

    def lanes(self, head):
        """Returns [(first place, number of places)] of the lanes."""
        slots = self.slots(head)
        places, lanes = 511 // slots, 3 if slots <= 10 else 2
        edges = [t * places // lanes for t in range(lanes + 1)]
        return [(a, b - a) for a, b in zip(edges, edges[1:])]

    def parts(self, head):
        return head["k"] // len(self.lanes(head))

    def lines(self, head):
        return self.parts(head) * head["size"]

    def heading(self, head):
        if is_small(head):
            return 8 * (7 + self.slots(head))
        return 128 + (16 * self.slots(head) + 63) // 64 * 64

    def check_shape(self, head):
        demand(1 <= self.kept(head) <= 32 and head["sub"] < 128, "sub")
        demand(head["width"] == 1, "width")
        if is_small(head):
            demand(1 <= head["k"] <= 64, "k")
            demand(head["size"] >= 128 and self.used(head) <= 32768, "size")
            return
        demand(head["k"] % len(self.lanes(head)) == 0 and 1 <= self.parts(head) <= 16, "k")
        demand(head["size"] >= 1 and self.used(head) <= MAX_BITS, "size")

    def used(self, head):
        if is_small(head):
            return 8 * self.heading(head) + self.slots(head) * head["size"]
        return 8 * self.heading(head) + 512 * self.lines(head)

    def stencil(self, head, slot):
        slots = self.slots(head)
        return number_bits(p * slots + slot for p in range(511 // slots))

    def quota(self, head):
        return -(-head["capacity"] // self.kept(head))

    def step(self, head):
        return -(-self.lines(head) // self.quota(head))

    def places(self, head, lo, hi):
        """Yields (line, places) of a key for each part. Lines are counted through all parts."""
        x, y = lo, hi
        for part in range(self.parts(head)):
            line = part * head["size"] + mulhi(x, head["size"])
            yield line, [
                first + ((y >> (48 - 16 * t) & 0xFFFF) * n >> 16)
                for t, (first, n) in enumerate(self.lanes(head))
            ]
            x = (x * LCG + (hi | 1)) & M64
            y = y * LCG & M64
            y ^= y >> 32

    def columns(self, head, lo, hi):
        """Yields the columns of a key in a small window."""
        x = lo
        for _ in range(head["k"]):
            yield mulhi(x, head["size"])
            x = (x * LCG + (hi | 1)) & M64

    def read(self, head, body):
        return (SmallState if is_small(head) else LargeState)(self, head, body)

    def check_body(self, head, body):
        w = self.read(head, body)
        s, slots = self.kept(head), self.slots(head)
        demand(w.active < slots and w.state < 4, "heading")
        slice_ = -(-w.span // s)
        if w.state & 2:
            demand(w.span and w.ordinal == w.clock // slice_, "clock")
        elif w.span:
            demand(w.clock == 0 and w.ordinal == 0, "clock that was not set")
        elif w.repeats:
            demand(w.keys[w.active] and w.arrivals() <= self.quota(head), "repeats")
        demand(all(k < w.most_keys for k in w.keys) and sum(w.keys) == head["items"], "keys")
        demand(w.live == number_bits(i for i in range(slots) if w.keys[i]), "live slots")
        ordinals = [w.ordinals[i] for i in range(slots) if w.keys[i]]
        demand(len(set(ordinals)) == len(ordinals), "two slots of one generation")
        demand(all(w.ordinal - s <= o <= w.ordinal for o in ordinals), "ordinals")
        demand(not w.keys[w.active] or w.ordinals[w.active] == w.ordinal, "active ordinal")
        demand(not any(w.ordinals[i] for i in range(slots) if not w.keys[i]), "ordinals of slots that are not live")
        w.check_own(body)

    def check_keys(self, head, body, keys, copies, total=None):
        """Checks that the window contains `keys`. Unless copies is None, `total` are all arrivals, in order, since the
        window was empty, and the body must be the one that they give."""
        w = self.read(head, body)
        demand(all(w.find(lo, hi) for lo, hi in keys), "a key is missing")
        if copies is None:
            return
        fresh = self.read(head, bytes(len(body)))
        fresh.begin()
        fresh.span = w.span
        for lo, hi in total:
            fresh.add(lo, hi)
        demand(fresh.body() == body, "the body is not that of its keys")


class WindowState:
    """The body of a window: what both forms have. The class of each form adds begin, check_own, body, find, set_bits,
    sweep_all, sweep_on, and empty, which prepares the active slot."""

    def __init__(self, kind, head, body):
        self.kind, self.head = kind, head
        fields = struct.unpack_from("<7Q", body)
        self.ordinal, self.active, self.cursor, self.live = fields[:4]
        self.span, now, self.state = fields[4:]
        self.clock, self.repeats = (now, 0) if self.span else (0, now)

    def fields(self):
        now = self.clock if self.span else self.repeats
        fields = (self.ordinal, self.active, self.cursor, self.live)
        return struct.pack("<7Q", *fields, self.span, now, self.state)

    def arrivals(self):
        return self.keys[self.active] + self.repeats

    def turn(self, ordinal):
        slots, was_live = len(self.keys), self.live >> self.active & 1
        if was_live:
            self.sweep_all()
        for i in range(slots):
            if self.live >> i & 1 and self.ordinals[i] + slots - 1 < ordinal:
                self.keys[i] = self.ordinals[i] = 0
                self.live &= ~(1 << i)
        self.ordinal = ordinal
        self.repeats = 0
        if not was_live:
            return
        while self.live >> self.active & 1:
            self.active = (self.active + 1) % slots
        self.empty()

    def add(self, lo, hi):
        if self.span == 0 and self.arrivals() >= self.kind.quota(self.head):
            self.turn(self.ordinal + 1)
        if self.find(lo, hi) >> self.active & 1:
            if self.span:
                return
            self.repeats += 1
        else:
            self.set_bits(lo, hi)
            self.keys[self.active] += 1
            self.ordinals[self.active] = self.ordinal
            self.live |= 1 << self.active
        self.sweep_on()


class LargeState(WindowState):
    most_keys = 1 << 56

    def __init__(self, kind, head, body):
        super().__init__(kind, head, body)
        slots, start = kind.slots(head), kind.heading(head)
        self.step = struct.unpack_from("<Q", body, 56)[0]
        self.stencil = int.from_bytes(body[64:128], "little")
        pairs = struct.unpack_from("<%dQ" % (2 * slots), body, 128)
        self.keys, self.ordinals = list(pairs[::2]), list(pairs[1::2])
        self.lines = [
            int.from_bytes(body[at : at + 64], "little") for at in range(start, len(body), 64)
        ]

    def begin(self):
        self.cursor = self.kind.lines(self.head)
        self.stencil, self.step = self.kind.stencil(self.head, 0), self.kind.step(self.head)

    def check_own(self, body):
        slots = self.kind.slots(self.head)
        demand(self.cursor <= len(self.lines), "cursor")
        demand(self.stencil == self.kind.stencil(self.head, self.active), "stencil")
        demand(self.step == self.kind.step(self.head), "step")
        words = body[128 + 16 * slots : self.kind.heading(self.head)]
        demand(not any(words), "words after those of the last slot")
        none = ((1 << 511) - 1) >> 511 // slots * slots << 511 // slots * slots
        for i, line in enumerate(self.lines):
            demand(line & none == 0, "bits after the last place")
            demand(i >= self.cursor or line >> 511 == self.state & 1, "marks")

    def body(self):
        pairs = [x for pair in zip(self.keys, self.ordinals) for x in pair]
        heading = self.fields() + struct.pack("<Q", self.step) + self.stencil.to_bytes(64, "little")
        heading += struct.pack("<%dQ" % len(pairs), *pairs)
        heading += bytes(self.kind.heading(self.head) - len(heading))
        return heading + b"".join(line.to_bytes(64, "little") for line in self.lines)

    def is_swept(self, line):
        return self.lines[line] >> 511 == self.state & 1

    def find(self, lo, hi):
        """Returns the slots that have the key, as a bit mask."""
        slots, found = self.kind.slots(self.head), self.live
        for line, places in self.kind.places(self.head, lo, hi):
            for p in places:
                found &= self.lines[line] >> p * slots
            if not self.is_swept(line):
                found &= ~(1 << self.active)
        return found & ((1 << slots) - 1)

    def set_bits(self, lo, hi):
        slots = len(self.keys)
        for line, places in self.kind.places(self.head, lo, hi):
            self.sweep(line)
            for p in places:
                self.lines[line] |= 1 << p * slots + self.active

    def empty(self):
        self.stencil = self.kind.stencil(self.head, self.active)
        self.state ^= 1
        self.cursor = 0

    def sweep(self, line):
        if not self.is_swept(line):
            self.lines[line] = (self.lines[line] & ~self.stencil) ^ 1 << 511

    def sweep_to(self, end):
        while self.cursor < min(end, len(self.lines)):
            self.sweep(self.cursor)
            self.cursor += 1

    def sweep_all(self):
        self.sweep_to(len(self.lines))

    def sweep_on(self):
        self.sweep_to(self.cursor + self.step)


class SmallState(WindowState):
    most_keys = 1 << 55

    def __init__(self, kind, head, body):
        super().__init__(kind, head, body)
        words = struct.unpack_from("<%dQ" % kind.slots(head), body, 56)
        self.keys = [w & (1 << 56) - 1 for w in words]
        self.ordinals = [w and self.ordinal - ((self.ordinal - (w >> 56)) & 255) for w in words]
        self.table = int.from_bytes(body[kind.heading(head) :], "little")
        self.bytes = len(body)

    def begin(self):
        pass

    def mine(self):
        """Returns the bits of the active slot, as a mask of the table."""
        slots = len(self.keys)
        return number_bits(c * slots + self.active for c in range(self.head["size"]))

    def check_own(self, body):
        demand(self.cursor == 0 and self.state & 1 == 0, "cursor or phase")
        is_live = self.live >> self.active & 1
        demand(is_live or self.table & self.mine() == 0, "the active slot is not empty")

    def body(self):
        words = [o << 56 & M64 | k for o, k in zip(self.ordinals, self.keys)]
        heading = self.fields() + struct.pack("<%dQ" % len(words), *words)
        return heading + self.table.to_bytes(self.bytes - len(heading), "little")

    def find(self, lo, hi):
        slots, found = len(self.keys), self.live
        for c in self.kind.columns(self.head, lo, hi):
            found &= self.table >> c * slots
        return found

    def set_bits(self, lo, hi):
        for c in self.kind.columns(self.head, lo, hi):
            self.table |= 1 << c * len(self.keys) + self.active

    def empty(self):
        self.table &= ~self.mine()

    def sweep_all(self):
        pass

    def sweep_on(self):
        pass
