"""The figures that documents contain, by name.

A name in a document is an expression: a function of this file and its words. `bits cuckoo 1% 0.1%` is "10.4 / 13.5".
Words of the form name=value are options. Figures per key are for a million keys unless keys= says otherwise.
"""
import math

from planner import KEYS, bits_text, number, rate_of, rounded, significant

TABLE_RATES = "10% 5% 3% 2% 1% 0.5% 0.4% 0.2% 0.1% 0.05% 0.01% 0.001% 0.0001%".split()
TABLE_KINDS = "classic sbbf split512 bb2x512 cuckoo fuse ribbon window".split()
USUAL_RATES = ["1%", "0.1%", "0.01%"]


def row_of(planner, kind, rate, **options):
    row = planner.kind(kind, number(options.get("keys", str(KEYS))), rate_of(rate),
                       first=number(options["first"]) if "first" in options else None,
                       width=int(options["width"]) if "width" in options else None)
    if row is None:
        raise ValueError(f"no {kind} filter has a rate of {rate}")
    return row


def each(rates, text_of):
    return " / ".join(text_of(rate) for rate in rates)


# ---- in the text: <!--f:NAME-->...<!--/f--> -----------------------------------------------------


def bits(planner, kind, *rates, digits="1", **options):
    """Bits per key. first=1000: grown from that many keys."""
    return each(rates, lambda r: bits_text(row_of(planner, kind, r, **options)["bits_per_key"], int(digits)))


def bytes_per_key(planner, kind, *rates):
    return each(rates, lambda r: rounded(row_of(planner, kind, r)["bits_per_key"] / 8, 0))


def memory(planner, kind, keys, *rates):
    """Returns the memory of a filter for that many keys, in MB or GB."""
    def text_of(requested):
        megabytes = row_of(planner, kind, requested, keys=keys)["bytes"] / 1e6
        return significant(megabytes, 3) + " MB" if megabytes < 1000 else significant(megabytes / 1000, 3) + " GB"

    return each(rates, text_of)


def few_keys(planner, keys, requested):
    """Bits per key of each kind of the large table."""
    return ", ".join(f"`{kind}` {bits(planner, kind, requested, keys=keys)}" for kind in TABLE_KINDS)


def lines(planner, kind, *rates, **options):
    """The most cache lines that a lookup of a member reads."""
    return each(rates, lambda r: str(row_of(planner, kind, r, **options)["cache_lines"]))


def hashes(planner, kind, *rates, **options):
    """k; of a kind with levels how many it has."""
    return each(rates, lambda r: str(row_of(planner, kind, r, **options)["hashes"]))


def rate(planner, kind, requested):
    """The expected FPR of a filter that is as full as planned."""
    return significant(100 * row_of(planner, kind, requested)["rate"], 2) + "%"


def overflow(planner, width, requested, keys=None):
    """The probability that a counter of that width gets stuck; with keys=, how many of a filter's counters do."""
    row = row_of(planner, "counting", requested, width=width, **({"keys": keys} if keys else {}))
    value = row["counter_overflow"] * (row["size"] if keys else 1)
    return significant(value, 2) if value >= 1e-3 else f"{value:.1e}".replace("e-0", "e-")


def least(_, *rates):
    """Bits per key that every filter needs."""
    return each(rates, lambda r: rounded(-math.log2(rate_of(r)), 1))


def above_least(planner, kind):
    """By how much a kind exceeds that, over the rates of the large table."""
    shares = [100 * (row_of(planner, kind, r)["bits_per_key"] / -math.log2(rate_of(r)) - 1) for r in TABLE_RATES]
    return f"{rounded(min(shares), 0)} to {rounded(max(shares), 0)}%"


def saves(planner, kind, other, *rates):
    """How much smaller a kind is than another."""
    return each(rates, lambda r: rounded(
        100 - 100 * row_of(planner, kind, r)["bits_per_key"] / row_of(planner, other, r)["bits_per_key"], 0) + "%")


def costs(planner, kind, other, *rates):
    """How much larger."""
    return each(rates, lambda r: significant(
        100 * row_of(planner, kind, r)["bits_per_key"] / row_of(planner, other, r)["bits_per_key"] - 100, 2) + "%")


def overlay(planner, changes):
    """Bits per removed key when as many were removed as expected."""
    return rounded(planner.overlay_bits(number(changes)), 0)


def string_keys(planner, requested):
    """The most keys, in millions, of a filter on a plain server that is a single string."""
    low, high = 1, 1000  # one string is enough for low, not for high
    while high - low > 1:
        middle = (low + high) // 2
        one = planner.plan(middle * 10**6, rate_of(requested), "--plain")["redis"]["shards"] == 1
        low, high = (middle, high) if one else (low, middle)
    return str(low)


SPANS = {"string-keys": string_keys, "bits": bits, "bytes": bytes_per_key, "memory": memory, "few-keys": few_keys, "lines": lines, "hashes": hashes, "levels": hashes, "rate": rate,
         "overflow": overflow, "least": least, "above-least": above_least, "saves": saves, "costs": costs,
         "overlay": overlay}

# ---- blocks: <!-- figures: NAME --> ... <!-- end --> --------------------------------------------


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def with_hashes(planner, kind, requested):
    """Bits per key to two digits, in brackets k of the kinds that have one. In bold what bly_filter_new takes."""
    row = row_of(planner, kind, requested)
    text = rounded(row["bits_per_key"], 2)
    if kind in ("classic", "sbbf", "split512", "bb2x512"):
        text += f" ({row['hashes']})"
    return f"**{text}**" if planner.plan(KEYS, rate_of(requested))["kind"] == kind else text


def bits_per_key(planner):
    names = ["classic, partitioned" if kind == "classic" else kind for kind in TABLE_KINDS]
    return table(["FPR", *(f"`{n}`" if n in TABLE_KINDS else n for n in names)],
                 ([r, *(with_hashes(planner, kind, r) for kind in TABLE_KINDS)] for r in TABLE_RATES))


def kind_bits(planner, *kinds):
    """A row for each kind, a column for each usual rate."""
    return table(["bits per key", *USUAL_RATES],
                 ([f"`{kind}`", *(bits(planner, kind, r) for r in USUAL_RATES)] for kind in kinds))


def counter_widths(planner):
    widths = ["2", "4", "8", "16"]
    return table(["bits of a counter", *("bits per key at " + r for r in USUAL_RATES)],
                 ([w, *(bits(planner, "counting", r, width=w) for r in USUAL_RATES)] for w in widths))


def auto_memory(planner):
    counts = [("1 million", "1M"), ("10 million", "10M"), ("100 million", "100M"), ("1 billion", "1G")]
    return table(["keys", *USUAL_RATES],
                 ([text, *(memory(planner, "auto", n, r) for r in USUAL_RATES)] for text, n in counts))


def shards(planner):
    """Filters on a plain server: their memory, and in how many strings."""
    def cells(keys, requested):
        plan = planner.plan(number(keys), rate_of(requested), "--plain")["redis"]
        megabytes = plan["bytes"] / 1e6
        text = significant(megabytes, 2 if megabytes < 100 else 3) + " MB" if megabytes < 1000 else significant(megabytes / 1000, 2) + " GB"
        return [text, str(plan["shards"])]

    counts = [("1 million", "1M"), ("10 million", "10M"), ("100 million", "100M"), ("1 billion", "1G"), ("10 billion", "10G")]
    return table(["keys", "1% (`sbbf`)", "shards", "0.1% (`split512`)", "shards"],
                 ([text, *cells(n, "1%"), *cells(n, "0.1%")] for text, n in counts))


def hash_keys(_):
    """The most keys at which collisions of the hash itself stay below a tenth of the rate."""
    names = [("32 (`fnv1-32`, `fnv1a-32`)", 32), ("64", 64)]
    return table(["bits of the hash", *("most keys at " + r for r in USUAL_RATES)],
                 ([text, *(most_keys(rate_of(r) / 10 * 2**width) for r in USUAL_RATES)] for text, width in names))


def most_keys(value):
    power = math.floor(math.log10(value))
    return f"{math.floor(value):,}" if power < 9 else f"{rounded(value / 10**power, 1)} * 10^{power}"


def needs(planner, words):
    """The README's table: five needs. `words` are the texts of the language."""
    def both(kind, **options):
        return bits(planner, kind, "1%", "0.1%", **options)

    window = lines(planner, "window", "1%") + " / " + lines(planner, "window", "0.1%")
    cells = [(both("auto"), lines(planner, "auto", "1%") + words["two"]),
             (both("scalable", first="1000") + words["grown"], words["per level"]),
             (both("cuckoo"), lines(planner, "cuckoo", "1%")),
             (both("growable-cuckoo", first="1000") + words["join"] + both("scalable-cuckoo", first="1000") + words["grown"],
              words["both levels"]),
             (both("hybrid"), lines(planner, "hybrid", "1%")),
             (both("window"), window),
             (both("fuse"), lines(planner, "fuse", "1%")),
             (both("ribbon"), words["adjacent"])]
    return table(words["head"], ([need, kind, *cell] for (need, kind), cell in zip(words["rows"], cells)))


NEEDS = {
    "kinds-needs": {
        "head": ["I need to ...", "kind", "bits per key at 1% / 0.1%", "cache lines per lookup"],
        "rows": [("add and look up keys, and know about how many", "`sbbf`, `split512`, `bb2x512`: chosen by the rate"),
                 ("add keys without knowing how many", "`scalable`"),
                 ("remove keys again", "`cuckoo`"), ("... without knowing how many", "`growable-cuckoo`, `scalable-cuckoo`"),
                 ("... and count them (exact except for false positives)", "`hybrid`"),
                 ("remember only recent keys", "`window`"),
                 ("store a set that never changes", "`fuse`"), ("... in the least memory", "`ribbon`")],
        "per level": "1 or 2 per level", "both levels": "2; 2 per level", "join": "; ", "adjacent": "a few adjacent ones", "two": "; `bb2x512` 2",
        "grown": ", grown from 1,000 keys to a million"},
    "kinds-needs-zh": {
        "head": ["需求", "种类", "误判率 1% / 0.1% 时每个键的比特数", "每次查询的缓存行数"],
        "rows": [("添加和查询，键的数量大致已知", "`sbbf`、`split512`、`bb2x512`：按误判率自动选择"),
                 ("键的数量未知，或无限增长", "`scalable`"),
                 ("需要删除键", "`cuckoo`"), ("……且键的数量未知", "`growable-cuckoo`、`scalable-cuckoo`"),
                 ("……并统计次数（除误判外精确）", "`hybrid`"),
                 ("只记住最近的键", "`window`"),
                 ("全部键预先已知、不再改变", "`fuse`"), ("……并且最省内存", "`ribbon`")],
        "per level": "每层 1 或 2", "both levels": "2；每层 2", "join": "；", "adjacent": "相邻的几个", "two": "；`bb2x512` 为 2", "grown": "（从一千个键增长到一百万个）"},
}

BLOCKS = {"bits-per-key": bits_per_key, "bits": kind_bits, "counter-widths": counter_widths, "memory": auto_memory, "shards": shards, "hash-keys": hash_keys,
          **{name: (lambda planner, words=words: needs(planner, words)) for name, words in NEEDS.items()}}


def make(functions, planner, expression):
    """The text of an expression. ValueError: there is no such figure."""
    name, *words = expression.split()
    if name not in functions:
        raise ValueError(f"there is no figure {name}; known are {', '.join(sorted(functions))}")
    options = dict(w.split("=", 1) for w in words if "=" in w)
    try:
        made = functions[name](planner, *(w for w in words if "=" not in w), **options)
    except (KeyError, TypeError) as error:
        raise ValueError(f"figure '{expression}': {error}") from error
    return made if isinstance(made, str) else "\n".join(made)
