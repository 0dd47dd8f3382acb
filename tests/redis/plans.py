"""plans.py - the false-positive rate that a blocked filter must have, computed without the library.

Keys fall into blocks independently, and in a block into the bits of each lane. Given how many keys
are in a block, its lanes are independent, and the chance that m random bits of a lane are all set
after b were set at random is a sum over which of them coincide (`all_set`). The rate is the mean
over the keys in a block. The rate of one filter, whose bits are fixed, deviates from that: `spread`
is its variance, which matters where blocks are few.
"""
import functools
import math

SBBF, SPLIT512 = 3, 4


@functools.lru_cache(maxsize=None)
def _stirling(m, d):
    """Ways to make d groups of m things."""
    if m == d:
        return 1
    if d == 0 or d > m:
        return 0
    return d * _stirling(m - 1, d) + _stirling(m - 1, d - 1)


@functools.lru_cache(maxsize=None)
def all_set(bits, balls, m):
    """Of a lane in which `balls` random bits were set: that m random ones are."""
    total = 0.0
    for d in range(1, m + 1):
        ways = _stirling(m, d) * math.perm(bits, d) / bits ** m
        hit = sum((-1) ** i * math.comb(d, i) * (1 - i / bits) ** balls for i in range(d + 1))
        total += ways * hit
    return max(total, 0.0)


def _block(kind, k, keys, power):
    """The mean of the power of the rate of a block with so many keys."""
    if kind == SBBF:
        return all_set(32, keys, power) ** 8
    if k in (8, 16):
        return all_set(64, keys * (k // 8), power * (k // 8)) ** 8
    # k = 12: a key has two bits in four of the lanes, these or those.
    total = 0.0
    for these in range(keys + 1):
        here, there = keys + these, 2 * keys - these
        mine = all_set(64, here, 2 * power) ** 4 * all_set(64, there, power) ** 4
        total += math.comb(keys, these) / 2 ** keys * mine
    return total


class Rate:
    """Of a filter with `keys` distinct keys: .mean, and .spread, the variance among filters."""

    def __init__(self, kind, k, blocks, keys):
        load = keys / blocks
        most = int(load + 12 * math.sqrt(load) + 30)
        mean = square = cross = 0.0
        for j in range(most):
            p = math.exp(j * math.log(load) - load - math.lgamma(j + 1)) if load else float(j == 0)
            if p < 1e-18:
                continue
            rate = _block(kind, k, j, 1)
            mean += p * rate
            square += p * _block(kind, k, j, 2)
            cross += p * rate * (j - load)
        self.mean = mean
        # Keys in all blocks add up to what they are: that takes away what the number explains.
        self.spread = max(0.0, square - mean ** 2 - (cross ** 2 / load if load else 0)) / blocks

    @staticmethod
    def of(head, keys):
        """`head` is a string's head (support.Head)."""
        return Rate(head.kind, head.k, head.blocks, keys)

    def bounds(self, absent, sigmas=5):
        """How many of so many absent keys may be found."""
        deviation = sigmas * math.sqrt(absent * self.mean + absent ** 2 * self.spread)
        wanted = absent * self.mean
        return wanted - deviation, wanted + deviation


def losses(kind, k, blocks, keys, sigmas=5, points=64):
    """Of keys added one after the other: how many may be false positives when they are, and so
    nobody's."""
    step = keys / points
    mean = sum(Rate(kind, k, blocks, (i + 0.5) * step).mean for i in range(points)) * step
    # The rates on the way go together, being of one filter, and deviate at most as the last does.
    spread = Rate(kind, k, blocks, keys).spread
    deviation = sigmas * math.sqrt(mean + keys ** 2 * spread)
    return mean - deviation, mean + deviation
