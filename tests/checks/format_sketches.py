"""format_sketches.py - the kinds that estimate, counts and hll, written again from docs/format.md, sections 19 and 20.

The adds and their order determine the body, so the body is computed again and compared byte for byte.
check_adds(head, body, adds, relation) gets the hash of every add, in order.
"""

import math

from format_hashes import GOLD, M64, demand, fmix64, mulhi, rotl
from format_tables import MAX_BITS

COUNTS, HLL = 17, 18


class Counts:
    LINE, CODES = 64, 256

    def check_shape(self, head):
        demand(head["k"] == 4, "k")
        demand(head["width"] == 8, "width")
        demand(head["sub"] <= 1, "sub")
        demand(1 <= head["size"] and self.used(head) <= MAX_BITS, "size")

    def used(self, head):
        return 512 * head["size"]

    def check_body(self, head, body):
        pass

    def __init__(self):
        self.tables = [self.table(11), self.table(24)]

    def table(self, slow):
        values = [0]
        while len(values) < self.CODES:
            values.append(values[-1] + 1 + max(0, values[-1] - 16) // slow)
        return values

    def values(self, head):
        return self.tables[head["sub"]]

    def cells(self, head, lo, hi):
        line, taken = mulhi(lo, head["size"]), []
        for j in range(4):
            x = (hi >> 16 * j & 0xFFFF) * (61 + j) >> 16
            taken.append(60 + j if x in taken else x)
        return [line * self.LINE + x for x in taken]

    def add(self, head, body, items, lo, hi):
        values, cells = self.values(head), self.cells(head, lo, hi)
        code = min(body[c] for c in cells)
        if code == self.CODES - 1:
            return
        dice = fmix64(((lo ^ rotl(hi, 32)) + items * GOLD) & M64)
        if mulhi(dice, values[code + 1] - values[code]) == 0:
            for c in cells:
                body[c] += body[c] == code

    def halve(self, head, body, items):
        values = self.values(head)
        for line in range(head["size"]):
            dice = fmix64((fmix64(items + 1) + line * GOLD) & M64)
            for at in range(line * self.LINE, (line + 1) * self.LINE):
                v = values[body[at]]
                low = max(c for c in range(self.CODES) if 2 * values[c] <= v)
                more = v - 2 * values[low]
                exact = v == body[at]
                up = not exact and mulhi(dice, 2 * (values[low + 1] - values[low])) < more
                body[at] = low + up

    def check_adds(self, head, body, adds, relation):
        made, items = bytearray(len(body)), 0
        for lo, hi in adds:
            self.add(head, made, items, lo, hi)
            items += 1
        if relation == "halved":
            self.halve(head, made, items)
            items += 1
        demand(head["items"] == items, "items")
        demand(made == body, "the body is not that of its keys")


class Hll:
    def check_shape(self, head):
        demand(4 <= head["k"] <= 18, "k")
        demand(head["width"] == 6, "width")
        demand(head["sub"] == 0, "sub")
        demand(head["size"] == 1 << head["k"], "size")

    def used(self, head):
        return 6 * head["size"]

    def registers(self, head, body):
        bits = int.from_bytes(body, "little")
        return [bits >> 6 * i & 63 for i in range(head["size"])]

    def check_body(self, head, body):
        demand(max(self.registers(head, body)) <= 65 - head["k"], "a register too high")

    def estimate(self, head, registers):
        m, top = float(head["size"]), 65 - head["k"]
        count = [registers.count(v) for v in range(top + 1)]
        total = m * self.tau(1 - count[top] / m)
        for k in range(top - 1, 0, -1):
            total = (total + count[k]) / 2
        if count[0] == head["size"]:
            return 0.0
        return m * m / (2 * math.log(2)) / (total + m * self.sigma(count[0] / m))

    def sigma(self, x):
        total, before, weight = x, -1.0, 1.0
        while total != before:
            before, x = total, x * x
            total, weight = total + x * weight, weight * 2
        return total

    def tau(self, x):
        if x in (0.0, 1.0):
            return 0.0
        total, before, weight = 1 - x, -1.0, 1.0
        while total != before:
            before, x, weight = total, math.sqrt(x), weight / 2
            total -= (1 - x) ** 2 * weight
        return total / 3

    def check_adds(self, head, body, adds, relation):
        p = head["k"]
        want = [0] * head["size"]
        for _, hi in adds:
            index, rest = hi >> (64 - p), hi & ((1 << (64 - p)) - 1)
            rank = 65 - p - rest.bit_length()
            want[index] = max(want[index], rank)
        demand(self.registers(head, body) == want, "the registers are not those of its keys")
        demand(abs(head["items"] - self.estimate(head, want)) <= 0.5 + 1e-6, "items")


SKETCHES = {COUNTS: Counts(), HLL: Hll()}
