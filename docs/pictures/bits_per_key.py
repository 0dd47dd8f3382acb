#!/usr/bin/env python3
"""Draws bits per key against the false-positive rate, for every kind, as an SVG on standard output.

    bits_per_key.py BLOOMERY

The figures are what `BLOOMERY plan --json` computes for a million keys: nothing is written down here.
scripts/pictures runs this."""
import json
import math
import subprocess
import sys

KEYS = 1_000_000
RATES = [10 ** (-e / 16) for e in range(16, 97)]  # 10% .. 1e-6
MOST_BITS = 48

# What a kind has to be asked for with, and how its curve is drawn.
CURVES = [
    ("counting", [], "#c7c7c7", "counting, 4 bits"),
    ("layered", [], "#ff9896", "layered"),
    ("multilayer", [], "#c5b0d5", "multilayer"),
    ("hybrid", [], "#e377c2", "hybrid"),
    ("scalable", ["--grows", "--first", "1000"], "#8c564b", "scalable (from 1,000 keys)"),
    ("sbbf", [], "#d62728", "sbbf"),
    ("window", ["--window"], "#9467bd", "window"),
    ("split512", [], "#ff7f0e", "split512"),
    ("growable-cuckoo", ["--grows", "--deletes", "--first", "1000"], "#17becf",
     "growable-cuckoo (from 1,000)"),
    ("bb2x512", [], "#bcbd22", "bb2x512"),
    ("classic", [], "#7f7f7f", "classic, partitioned"),
    ("cuckoo", [], "#1f77b4", "cuckoo"),
    ("fuse", ["--static"], "#2ca02c", "fuse"),
    ("ribbon", ["--static"], "#006400", "ribbon"),
]

WIDTH, HEIGHT = 860, 560
LEFT, RIGHT, TOP, BOTTOM = 56, 230, 36, 52


def figures(bloomery, flags):
    """{kind: [bits per key at each rate, or None]} under these flags."""
    out = {}
    for at, rate in enumerate(RATES):
        command = [bloomery, "plan", "-n", str(KEYS), "-p", repr(rate), "--json", *flags]
        plan = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for kind in plan["kinds"]:
            row = out.setdefault(kind["kind"], [None] * len(RATES))
            if kind["fits"]:
                row[at] = kind["bits_per_key"]
    return out


def x_of(rate):
    first, last = math.log10(RATES[0]), math.log10(RATES[-1])
    return LEFT + (math.log10(rate) - first) / (last - first) * (WIDTH - LEFT - RIGHT)


def y_of(bits):
    return HEIGHT - BOTTOM - bits / MOST_BITS * (HEIGHT - TOP - BOTTOM)


def axes():
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    for bits in range(0, MOST_BITS + 1, 8):
        y = y_of(bits)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{bits}</text>'
    for exponent, label in enumerate(["10%", "1%", "0.1%", "0.01%", "0.001%", "0.0001%"], 1):
        x = x_of(10.0 ** -exponent)
        yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eeeeee"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">false-positive rate</text>'
    yield f'<text x="{LEFT - 40}" y="{TOP - 16}">bits per key</text>'


def runs(values):
    """The parts of a curve inside the picture, the last point of each on its upper edge."""
    points = []
    for rate, bits in zip(RATES, values):
        if bits is None:
            if points:
                yield points
            points = []
            continue
        if bits > MOST_BITS:
            if points:
                (r0, b0) = points[-1]
                share = (MOST_BITS - b0) / (bits - b0)
                edge = 10 ** (math.log10(r0) + share * (math.log10(rate) - math.log10(r0)))
                yield points + [(edge, MOST_BITS)]
            return
        points.append((rate, bits))
    if points:
        yield points


def labels(ends):
    """Names at the ends of the curves, moved apart where they would overlap."""
    y = None
    for end, name, colour in sorted(ends, key=lambda e: y_of(e[0][1])):
        want = y_of(end[1]) + 4
        y = want if y is None else max(want, y + 15)
        yield (f'<path d="M{x_of(end[0]):.1f} {y_of(end[1]):.1f}L{WIDTH - RIGHT + 12} {y - 4:.1f}" '
               f'stroke="{colour}" stroke-dasharray="1 3" fill="none"/>')
        yield f'<text x="{WIDTH - RIGHT + 16}" y="{y:.1f}" fill="{colour}">{name}</text>'


def draw(bloomery):
    known = {}
    for _, flags, _, _ in CURVES:
        known.setdefault(tuple(flags), None)
    for flags in known:
        known[flags] = figures(bloomery, flags)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">')
    yield "<title>Bits per key against the false-positive rate, a million keys</title>"
    yield from axes()
    ends = []
    curves = [(known[tuple(flags)][kind], colour, name, "") for kind, flags, colour, name in CURVES]
    curves.append(([-math.log2(r) for r in RATES], "#000000", "the least possible", ' stroke-dasharray="6 4"'))
    for values, colour, name, dash in curves:
        parts = list(runs(values))
        for points in parts:
            path = "L".join(f"{x_of(r):.1f} {y_of(b):.1f}" for r, b in points)
            yield f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"{dash}/>'
        ends.append((parts[-1][-1], name, colour))
    yield from labels(ends)
    yield "</svg>"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("\n".join(draw(sys.argv[1])))
