"""winners_million.py - the tests of winners.py with a million keys, which measure the number of keys
without a winner and the false-positive rate precisely.

With n lookups at rate p, five sigma are 5 sqrt((1 - p) / (p n)) of the rate: 5% at 0.01 and 16% at
0.001. The expected numbers of keys without a winner are 1726 and 151; five sigma are 15% and 42% of
these.
"""
import sys

sys.dont_write_bytecode = True

from support import main, plain  # noqa: E402
from winners import contest  # noqa: E402


def test_two_at_a_million_sbbf():
    with plain() as server:
        contest(server, "sbbf", 10 ** 6, 2)


def test_two_at_a_million_split512():
    with plain() as server:
        contest(server, "split512", 10 ** 6, 2)


if __name__ == "__main__":
    main(globals())
