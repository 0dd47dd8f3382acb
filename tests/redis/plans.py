"""plans.py - computes the false-positive rate of a blocked filter without the library.

Keys choose blocks independently, and within a block the bits of each lane. Given the number of keys
in a block, its lanes are independent. The probability that m random bits of a lane are all set after
b random bits were set is a sum over the ways in which the m bits coincide (`all_set`). The rate is
the mean over the number of keys in a block. The rate of a single filter, whose bits are fixed,
deviates from this mean. `spread` is the variance, which matters for filters with few blocks.
"""
import functools
import math

SBBF, SPLIT512 = 3, 4


@functools.lru_cache(maxsize=None)
def _stirling(m, d):
    """Returns the number of ways to divide m things into d groups."""
    if m == d:
        return 1
    if d == 0 or d > m:
        return 0
    return d * _stirling(m - 1, d) + _stirling(m - 1, d - 1)


@functools.lru_cache(maxsize=None)
def all_set(bits, balls, m):
    """Returns the probability that m random bits of a lane are set after `balls` random ones were."""
    total = 0.0
    for d in range(1, m + 1):
        ways = _stirling(m, d) * math.perm(bits, d) / bits ** m
        hit = sum((-1) ** i * math.comb(d, i) * (1 - i / bits) ** balls for i in range(d + 1))
        total += ways * hit
    return max(total, 0.0)


def _block(kind, k, keys, power):
    """Returns the mean of rate**power for a block with this number of keys."""
    if kind == SBBF:
        return all_set(32, keys, power) ** 8
    if k in (8, 16):
        return all_set(64, keys * (k // 8), power * (k // 8)) ** 8
    # k = 12: a key has two bits in each of the first four or the last four lanes.
    total = 0.0
    for these in range(keys + 1):
        here, there = keys + these, 2 * keys - these
        mine = all_set(64, here, 2 * power) ** 4 * all_set(64, there, power) ** 4
        total += math.comb(keys, these) / 2 ** keys * mine
    return total


class Rate:
    """The rate of a filter with `keys` distinct keys: .mean, and .spread, the variance between filters."""

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
        # The total number of keys is fixed. That removes the variance which the keys in a block explain.
        self.spread = max(0.0, square - mean ** 2 - (cross ** 2 / load if load else 0)) / blocks

    @staticmethod
    def of(head, keys):
        """Returns the rate of the filter with this head (support.Head)."""
        return Rate(head.kind, head.k, head.blocks, keys)

    def bounds(self, absent, sigmas=5):
        """Returns the lowest and highest plausible number of false positives in `absent` lookups."""
        deviation = sigmas * math.sqrt(absent * self.mean + absent ** 2 * self.spread)
        wanted = absent * self.mean
        return wanted - deviation, wanted + deviation


def losses(kind, k, blocks, keys, sigmas=5, points=64):
    """Returns the lowest and highest plausible number of keys that are already false positives when
    they are added, so that no process is told that they are new."""
    step = keys / points
    mean = sum(Rate(kind, k, blocks, (i + 0.5) * step).mean for i in range(points)) * step
    # These rates are of one filter, so they are correlated. None deviates more than the last.
    spread = Rate(kind, k, blocks, keys).spread
    deviation = sigmas * math.sqrt(mean + keys ** 2 * spread)
    return mean - deviation, mean + deviation
