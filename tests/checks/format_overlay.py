"""format_overlay.py - overlays, written again from docs/format.md, section 17: a filter (the base), the keys that were
removed from it, and those that were added.

check_format.py reads the parts. This file checks that they fit together, and looks keys up in them.
"""

from format_hashes import LCG, demand, fmix64
from format_tables import GROWABLE

OVERLAY, HLL, CLASSIC = 12, 18, 1
TABLE_RATE, BLOOM_RATE = 1e-9, 1e-3
HIDDEN, APPROXIMATE, FOLDABLE = 1, 2, 4


def mix(lo, hi):
    return fmix64(lo ^ LCG), fmix64(hi ^ LCG)


class Overlay:
    def check_shape(self, head):
        demand(head["k"] in (2, 3), "k")
        demand(head["width"] == 1, "width")
        demand(head["sub"] <= HIDDEN, "sub")
        demand(head["size"] % 64 == 0 and head["size"] >= 128 * head["k"], "size")
        demand(8 * head["size"] <= 1 << 48, "size too big")

    def used(self, head):
        return 8 * head["size"]

    def is_table(self, part):
        k = part["k"]
        return (
            part["kind"] == GROWABLE
            and part["sub"] == 32
            and 32 <= k <= 38
            and part["size"] % (2 << (38 - k)) == 0
            and part["rate"] == TABLE_RATE
            and part["capacity"] <= 4 * part["size"]
        )

    def is_bloom(self, part):
        return (
            part["kind"] == CLASSIC
            and part["sub"] == 0
            and part["flags"] & FOLDABLE == 0
            and part["rate"] == BLOOM_RATE
            and part["capacity"] <= part["size"]
            and part["items"] <= part["capacity"]
        )

    def check_parts(self, head, parts):
        base, deleted = parts[0], parts[1]
        demand(base["kind"] not in (OVERLAY, HLL), "the kind of the base")
        demand(self.is_table(deleted) or self.is_bloom(deleted), "deleted keys")
        demand(len(parts) == 2 or self.is_table(parts[2]), "added keys")
        for part in parts[1:]:
            demand(not part["flags"] & APPROXIMATE, "an approximate part")
        for field in ("capacity", "rate"):
            demand(head[field] == base[field], field + " of the base")
        demand(head["flags"] & APPROXIMATE == base["flags"] & APPROXIMATE, "approximate flag")
        hidden = head["sub"] == HIDDEN
        demand(not (hidden and deleted["items"]), "deleted keys of a hidden base")
        left = 0 if hidden else max(0, base["items"] - deleted["items"])
        added = parts[2]["items"] if len(parts) == 3 else 0
        demand(head["items"] == min(left + added, (1 << 64) - 1), "items")

    def contains(self, head, parts, lo, hi, has):
        """Returns whether the overlay contains the key. `has` looks a key up in one part."""

        def part_has(i, words):
            return len(parts) > i and parts[i][0]["items"] > 0 and has(*parts[i], *words)

        mixed = mix(lo, hi)
        shows = head["sub"] != HIDDEN and has(*parts[0], lo, hi) and not part_has(1, mixed)
        return shows or part_has(2, mixed)
