#!/usr/bin/env python3
"""Prints results of the benchmark as Markdown tables: table.py JSON... [--update DOCUMENT].

JSON are files of scripts/bench --json, all from one version on one machine; the tables have the settings
of all files. --update replaces the text between <!-- bench:begin --> and <!-- bench:end --> in the
document. A value that misses its target is marked with †.
"""
import json
import re
import sys

COLUMNS = (("contains_miss", "contains, batched, miss: x libbloom"), ("add", "add, batched: x libbloom"),
           ("contains_one_miss", "contains, single, miss: x libbloom"), ("add_one", "add, single: x libbloom"))
LIMIT = "contains, batched, miss / (L + H)"
THREADS = ("add, two threads: x one", "contains, two threads: x one")


def count(n):
    return "%gM" % (n / 1e6) if n >= 1e6 else "%gK" % (n / 1e3)


def percent(p):
    return "%g%%" % (100 * p)


def marked(ratio, digits, unit=""):
    """Returns a ratio with its mark; an empty text if it was not measured."""
    if ratio is None or ratio["median"] is None:
        return ""
    return "%.*f%s%s" % (digits, ratio["median"], unit, "" if ratio.get("met", True) else " †")


def settings(results):
    yield ("| keys, bytes each | rate | filter | lookup, batched | / (L + H) | add, batched | lookup, single |"
           " add, single | two threads: add, lookup |")
    yield "|" + "---|" * 9
    for r in results:
        ours, ratios = r["ns"][0], {q["what"]: q for q in r["ratios"]}
        cells = ["%s, %d" % (count(r["n"]), r["key_bytes"]), percent(r["p"]),
                 "`%s`, %.1f MB" % (ours["name"], ours["bytes"] / 1e6)]
        for name, ratio in COLUMNS:
            cells.append(", ".join(filter(None, ("%.1f ns" % ours[name], marked(ratios.get(ratio), 1, "x")))))
            if name == "contains_miss":
                cells.append(marked(ratios[LIMIT], 2))
        cells.append(", ".join(filter(None, (marked(ratios.get(what), 2) for what in THREADS))))
        yield "| " + " | ".join(cells) + " |"


def family(kinds):
    yield ("The other kinds, %s keys of 16 bytes at 1%%, one thread; x: time over `sbbf`:" % count(kinds[0]["n"]))
    yield ""
    yield "| kind | bits per key | add or build, batched | lookup of non-members | lookup of members |"
    yield "|" + "---|" * 5
    for k in kinds:
        cells = ["`%s`" % k["kind"], "%.2f" % (8 * k["bytes"] / k["n"])]
        for what in ("add", "contains_miss", "contains_hit"):
            v = k[what]
            v["met"] = v["target"] is None or v["median"] <= v["target"]
            cells.append("%.1f ns, %s" % (v["ns"], marked(v, 2, "x")))
        yield "| " + " | ".join(cells) + " |"


def rates(rows):
    yield "Rates and space, 1M keys, filters filled to their capacity:"
    yield ""
    requested = sorted({r["asked"] for r in rows}, reverse=True)
    yield "| bits per key, measured / requested rate |" + "".join(" %s |" % percent(p) for p in requested)
    yield "|" + "---|" * (1 + len(requested))
    for kind in dict.fromkeys(r["kind"] for r in rows):
        cells = ["`%s`" % kind]
        for p in requested:
            r = next(r for r in rows if (r["kind"], r["asked"]) == (kind, p))
            cells.append("%.2f, %.3f" % (r["bits_per_key"], r["measured_over_asked"]))
        yield "| " + " | ".join(cells) + " |"


def tables(runs):
    for run in runs:
        if run["results"]:
            yield ("* %s keys: Bloomery %s, libbloom %s, %s; rounds: %d; calm: %.0f%%;"
                   " targets: %d met, %d missed" % (
                       ", ".join(dict.fromkeys(count(r["n"]) for r in run["results"])), run["version"],
                       run["libbloom"], run["cpu"], run["rounds"], 100 * run["calm"], run["met"], run["missed"]))
    yield ""
    yield from settings([r for run in runs for r in run["results"]])
    for name, table in (("family", family), ("rates", rates)):
        rows = [r for run in runs for r in run.get(name, [])]
        if rows:
            yield ""
            yield from table(rows)


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
