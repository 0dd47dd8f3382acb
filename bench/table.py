#!/usr/bin/env python3
"""Prints results of the benchmark as Markdown tables: table.py JSON... [--update DOCUMENT].

The files are those of scripts/bench --json, from one version on one machine; each adds its settings.
--update replaces the text between <!-- bench:begin --> and <!-- bench:end --> in the document. A
value that misses its target is marked with †.
"""
import json
import re
import sys

COLUMNS = (("contains_miss", "contains, batched, miss: x libbloom", "contains, batched, miss / (L + H)"),
           ("add", "add, batched: x libbloom", None),
           ("contains_one_miss", "contains, single, miss: x libbloom", None),
           ("add_one", "add, single: x libbloom", None))
THREADS = ("add, two threads: x one", "contains, two threads: x one")


def count(n):
    return "%gM" % (n / 1e6) if n >= 1e6 else "%gK" % (n / 1e3)


def percent(p):
    return "%g%%" % (100 * p)


def marked(ratio, digits):
    """A ratio with its mark; empty if it was not measured."""
    if ratio is None or ratio["median"] is None:
        return ""
    return "%.*f%s" % (digits, ratio["median"], "" if ratio.get("met", True) else " †")


def settings(results):
    yield ("| keys | bytes | rate | filter | lookup, batched: ns | / (L + H) | x libbloom | add, batched: ns |"
           " x libbloom | lookup, single: ns | x libbloom | add, single: ns | x libbloom | two threads: add, lookup |")
    yield "|" + "---|" * 14
    for r in results:
        ours, ratios = r["ns"][0], {q["what"]: q for q in r["ratios"]}
        cells = [count(r["n"]), str(r["key_bytes"]), percent(r["p"]),
                 "`%s`, %.1f MB" % (ours["name"], ours["bytes"] / 1e6)]
        for name, peer, limit in COLUMNS:
            cells.append("%.1f" % ours[name])
            if limit:
                cells.append(marked(ratios[limit], 2))
            cells.append(marked(ratios.get(peer), 1))
        cells.append(", ".join(filter(None, (marked(ratios.get(what), 2) for what in THREADS))))
        yield "| " + " | ".join(cells) + " |"


def family(kinds):
    yield "| kind | bits per key | add or build, batched: ns | x sbbf | non-members: ns | x sbbf | members: ns | x sbbf |"
    yield "|" + "---|" * 8
    for k in kinds:
        cells = ["`%s`" % k["kind"], "%.2f" % (8 * k["bytes"] / FAMILY_KEYS)]
        for what in ("add", "contains_miss", "contains_hit"):
            v = k[what]
            v["met"] = v["target"] is None or v["median"] <= v["target"]
            cells += ["%.1f" % v["ns"], marked(v, 2)]
        yield "| " + " | ".join(cells) + " |"


def rates(rows):
    requested = sorted({r["asked"] for r in rows}, reverse=True)
    yield "| kind |" + "".join(" %s: bits per key | measured / requested |" % percent(p) for p in requested)
    yield "|" + "---|" * (1 + 2 * len(requested))
    for kind in dict.fromkeys(r["kind"] for r in rows):
        cells = ["`%s`" % kind]
        for p in requested:
            r = next(r for r in rows if (r["kind"], r["asked"]) == (kind, p))
            cells += ["%.2f" % r["bits_per_key"], "%.3f" % r["measured_over_asked"]]
        yield "| " + " | ".join(cells) + " |"


FAMILY_KEYS = 10_000_000  # what scripts/bench uses unless --family or --quick says otherwise


def tables(runs):
    for run in runs:
        if run["results"]:
            yield ("Bloomery %s, libbloom %s, %s; %s keys; %d rounds, %.0f%% of the measurements calm; %d targets met,"
                   " %d missed." % (run["version"], run["libbloom"], run["cpu"],
                                    ", ".join(dict.fromkeys(count(r["n"]) for r in run["results"])), run["rounds"],
                                    100 * run["calm"], run["met"], run["missed"]))
            yield ""
    yield from settings([r for run in runs for r in run["results"]])
    for name, title, rows in (
            ("family", "The other kinds, 10M keys of 16 bytes at 1%, one thread:", family),
            ("rates", "Rates and space, 1M keys, filters filled to their capacity:", rates)):
        found = [r for run in runs for r in run.get(name, [])]
        if found:
            yield ""
            yield title
            yield ""
            yield from rows(found)


def main():
    names = sys.argv[1:]
    document = None
    if "--update" in names:
        at = names.index("--update")
        document = names[at + 1]
        del names[at:at + 2]
    runs = []
    for name in names:
        with open(name, encoding="utf-8") as f:
            runs.append(json.load(f))
    text = "\n".join(tables(runs))
    if not document:
        print(text)
        return
    with open(document, encoding="utf-8") as f:
        old = f.read()
    new = re.sub(r"(<!-- bench:begin -->\n).*(<!-- bench:end -->)",
                 lambda m: m.group(1) + text + "\n" + m.group(2), old, flags=re.DOTALL)
    with open(document, "w", encoding="utf-8") as f:
        f.write(new)


main()
