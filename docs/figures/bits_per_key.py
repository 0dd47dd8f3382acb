"""The picture of bits per key against the false-positive rate, as an SVG. update.py writes it."""
import math

from planner import KEYS

RATES = [10 ** (-e / 12) for e in range(12, 73)]  # 10% .. 1e-6
MAX_BITS = 40

# A kind, the keys that it grows from, the colour of its curve, its name.
CURVES = [
    ("hybrid", None, "#c2529d", "hybrid"),
    ("scalable", 1000, "#8c564b", "scalable, grown"),
    ("sbbf", None, "#d62728", "sbbf"),
    ("window", None, "#8250b8", "window"),
    ("split512", None, "#d9730d", "split512"),
    ("bb2x512", None, "#8f8d12", "bb2x512"),
    ("classic", None, "#6e6e6e", "classic"),
    ("cuckoo", None, "#1f77b4", "cuckoo"),
    ("fuse", None, "#2ca02c", "fuse"),
    ("ribbon", None, "#006400", "ribbon"),
]

WIDTH, HEIGHT = 640, 520
LEFT, RIGHT, TOP, BOTTOM = 48, 150, 42, 62


def values_of(planner, kind, first):
    """Bits per key at each rate, None where there is no such filter."""
    rows = [planner.kind(kind, KEYS, rate, first=first) for rate in RATES]
    return [row and row["bits_per_key"] for row in rows]


def x_of(rate):
    first, last = math.log10(RATES[0]), math.log10(RATES[-1])
    return LEFT + (math.log10(rate) - first) / (last - first) * (WIDTH - LEFT - RIGHT)


def y_of(bits):
    return HEIGHT - BOTTOM - bits / MAX_BITS * (HEIGHT - TOP - BOTTOM)


def axes():
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>'
    for bits in range(0, MAX_BITS + 1, 8):
        y = y_of(bits)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 5:.1f}" text-anchor="end">{bits}</text>'
    for exponent, label in enumerate(["10%", "1%", "0.1%", "0.01%", "0.001%", "0.0001%"], 1):
        x = x_of(10.0 ** -exponent)
        yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eeeeee"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 22}" text-anchor="middle">{label}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">false-positive rate</text>'
    yield f'<text x="{LEFT - 34}" y="{TOP - 18}">bits per key</text>'


def runs(values):
    """The parts of a curve inside the picture, the last point of each on its upper edge."""
    points = []
    for rate, bits in zip(RATES, values):
        if bits is None:
            if points:
                yield points
            points = []
            continue
        if bits > MAX_BITS:
            if points:
                (r0, b0) = points[-1]
                share = (MAX_BITS - b0) / (bits - b0)
                edge = 10 ** (math.log10(r0) + share * (math.log10(rate) - math.log10(r0)))
                yield points + [(edge, MAX_BITS)]
            return
        points.append((rate, bits))
    if points:
        yield points


def labels(ends):
    """Names at the ends of the curves, moved apart where they would overlap."""
    y = None
    for end, name, colour in sorted(ends, key=lambda e: y_of(e[0][1])):
        want = y_of(end[1]) + 5
        y = want if y is None else max(want, y + 19)
        yield (f'<path d="M{x_of(end[0]):.1f} {y_of(end[1]):.1f}L{WIDTH - RIGHT + 10} {y - 5:.1f}" '
               f'stroke="{colour}" stroke-dasharray="1 3" fill="none"/>')
        yield f'<text x="{WIDTH - RIGHT + 14}" y="{y:.1f}" fill="{colour}">{name}</text>'


def draw(planner):
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="16" fill="#24292f">')
    yield "<title>Bits per key against the false-positive rate, a million keys</title>"
    yield from axes()
    ends = []
    curves = [(values_of(planner, kind, first), colour, name, "") for kind, first, colour, name in CURVES]
    curves.append(([-math.log2(r) for r in RATES], "#000000", "lower bound", ' stroke-dasharray="6 4"'))
    for values, colour, name, dash in curves:
        parts = list(runs(values))
        for points in parts:
            path = "L".join(f"{x_of(r):.1f} {y_of(b):.1f}" for r, b in points)
            yield f'<path d="M{path}" stroke="{colour}" stroke-width="2.5" fill="none"{dash}/>'
        ends.append((parts[-1][-1], name, colour))
    yield from labels(ends)
    yield "</svg>"
