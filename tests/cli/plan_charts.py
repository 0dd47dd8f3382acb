#!/usr/bin/env python3
"""Checks the tables and charts of `plan` for many needs: plan_charts.py PROGRAM.

Without --all the table has at most six kinds, each with a sentence, and the number of the others; with
--all it has every kind. The chart has at most six curves, and no two coincide. In any common font, all
texts are inside the picture and none overlap. In a terminal, the chart fits into its columns.
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import xml.etree.ElementTree as tree

PROGRAM = sys.argv[1]
MAX = 6
NEEDS = """
-n 1
-n 100 -p 1%
-n 1M
-n 1M -p 20%
-n 1M -p 1%
-n 1M -p 1e-6
-n 1M -p 1e-11
-n 2e13 -p 1%
-n 123456789012 -p 0.1234%
-n 1M -p 1% --smallest
-n 1M -p 1% --shared
-n 1M --deletes
-n 1M -p 1e-6 --deletes
-n 1M --grows
-n 1M --deletes --grows
-n 1M --counts
-n 1M -p 1% --static
-n 1M -p 1e-6 --static --smallest
-n 1M --window
-n 1M --window=24h
--window=1M
--window=1M -p 90%
-m 64M -p 1%
-m 64M --deletes
-m 100 -p 1e-9
-n 10M -m 16M
-n 1M -p 1% -m 1210K
-n 1G --plain
-n 1M --plain -p 1%
-n 1M --kind growable-cuckoo
-n 1M --kind counting --counter-bits 8
-n 1M --kind ribbon
"""
SVG = "{http://www.w3.org/2000/svg}"


def plan(*words, **more):
    return subprocess.run([PROGRAM, "plan", *words], capture_output=True, check=True, timeout=60, **more).stdout.decode()


def expect(good, what):
    if not good:
        raise AssertionError(what)


# ---- the table -------------------------------------------------------------------------------------


def rows_of(text, names):
    """The kinds of the table, in its order, and the line after each."""
    lines = text.split("\n")
    start = lines.index("") + 1  # after the headline
    table = lines[start:lines.index("", start)]
    found = [(line[0] == "*", line[2:].split()[0], after) for line, after in zip(table[1:], table[2:] + [""])
             if line[:2] in ("* ", "  ") and line[2:].split()[:1] and line[2:].split()[0] in names and line[2] != " "]
    return found, table[-1]


def check_table(words, answer):
    names = [k["kind"] for k in answer["kinds"]]
    shown = {k["kind"] for k in answer["kinds"] if k["shown"]}
    rows, last = rows_of(plan(*words), names)
    expect(0 < len(rows) <= MAX, f"{len(rows)} rows")
    expect({name for _, name, _ in rows} == shown, f"rows {rows} are not those that JSON calls shown: {shown}")
    expect([chosen for chosen, _, _ in rows] == [True] + [False] * (len(rows) - 1), "the chosen kind is not the first")
    expect(rows[0][1] == answer["kind"], "another kind is marked")
    expect(all(after.startswith("    ") for _, _, after in rows), "a row without a sentence")
    more = len(names) - len(rows)
    expect(last == f"{more} more kind{'s' * (more != 1)}: --all" if more else "--all" not in last, f"the last line is {last}")
    all_rows, last = rows_of(plan(*words, "--all"), names)
    expect(sorted(name for _, name, _ in all_rows) == sorted(names), f"--all shows {all_rows}")
    expect([r[:2] for r in all_rows[:len(rows)]] == [r[:2] for r in rows], "--all begins with other rows")
    for text in (plan(*words), plan(*words, "--all")):
        wide = [line for line in text.split("\n") if len(line) > 80]
        expect(not wide or answer["requested"]["keys"] is None, f"wider than 80 columns: {wide}")
    return shown


# ---- the picture -----------------------------------------------------------------------------------


def text_width(element):
    """An upper bound of the width in common fonts."""
    size = 16 if element.get("class") == "title" else 13
    return size * sum(0.42 if c in "ijltf.,:;'|()- " else 0.95 if c in "mwMW%" else 0.68 for c in "".join(element.itertext()))


def box_of(element):
    """left, top, right, bottom"""
    width = text_width(element)
    back = {"middle": width / 2, "end": width}.get(element.get("text-anchor"), 0)
    moved = re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\) rotate\(-90\)", element.get("transform") or "")
    if moved:
        x, y = float(moved[1]), float(moved[2])
        return x - 11, y - width + back, x + 4, y + back
    x, y = float(element.get("x")) - back, float(element.get("y"))
    return x, y - 11, x + width, y + 4


def points_of(path):
    return [tuple(map(float, p.split())) for p in re.split("[ML]", path)[1:]]


def near_share(points, others):
    """The share of points that are nearer than 5 pixels to one of the others."""
    return sum(any((x - a) ** 2 + (y - b) ** 2 < 25 for a, b in others) for x, y in points) / len(points)


def check_svg(words, shown):
    text = plan(*words, "--svg", "-")
    expect(text == plan(*words, "--svg", "-"), "two pictures of one plan differ")
    root = tree.fromstring(text)
    left, top, width, height = map(float, root.get("viewBox").split())
    expect(all((root.find(SVG + name).text or "").strip() for name in ("title", "desc")), "no title, or no description")
    texts = list(root.iter(SVG + "text"))
    boxes = [(box_of(t), "".join(t.itertext())) for t in texts]
    for (x, y, right, bottom), words_of in boxes:
        expect(x >= left and y >= top and right <= left + width and bottom <= top + height, f"outside: {words_of}")
    for i, (a, one) in enumerate(boxes):
        for b, two in boxes[:i]:
            expect(a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], f"on each other: {one}, {two}")
    named = [t.find(SVG + "tspan").text for t in texts if t.find(SVG + "tspan") is not None]
    expect(sorted(named) == sorted(shown), f"the labels are {named}")
    groups = {}  # class: its paths, those of the plot first
    for group in root.iter(SVG + "g"):
        groups.setdefault(group.get("class"), []).extend(group.iter(SVG + "path"))
    expect(0 < len(groups) <= MAX, f"{len(groups)} curves")
    curves = {name: points_of(paths[0].get("d")) for name, paths in groups.items()}
    for name, points in curves.items():
        expect(all(104 <= x <= 704 and 92 <= y <= 452 for x, y in points), f"{name} leaves the plot")
    looks = [(p[0].get("stroke-dasharray"), [re.sub(r"^M[\d.]+ [\d.]+", "", m.get("d")) for m in p if m.get("class") == "mark"][:1])
             for p in groups.values()]
    expect(all(look not in looks[:i] for i, look in enumerate(looks)), f"equal looks in grey: {looks}")
    for i, one in enumerate(curves.values()):
        for two in list(curves.values())[:i]:
            expect(near_share(one, two) < 0.95 or near_share(two, one) < 0.95, "two curves lie on each other")


def check_window(words, answer):
    """A window by number never has more than N keys: chart and text end at N."""
    window, timed = "window" in answer["requested"]["needs"], "window_seconds" in answer["requested"]
    text = plan(*words, "--svg", "-")
    expect((">keys within the window<" in text) == window, "the axis has another name")
    expect(("twice as many" in text) == (not window or timed), "the description")
    numbers = [float(n) for n in re.findall(r'y="472" text-anchor="middle">([\d.]+)', text)]
    if window and not timed:
        expect(f"{numbers[-1]:g}M" == "1M" and answer["rate_at_twice_the_keys"] is None, f"the axis ends at {numbers}")
    expect(not window or ("twice as many" in plan(*words)) == timed, "the remark")


# ---- the terminal ----------------------------------------------------------------------------------


def on_terminal(columns, locale, *words):
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen([PROGRAM, "plan", *words], stdout=side, env=dict(os.environ, TERM="xterm", LC_ALL=locale))
    os.close(side)
    out = b""
    try:
        while piece := os.read(main, 65536):
            out += piece
    except OSError:  # the other side is closed
        pass
    os.close(main)
    expect(child.wait(60) == 0, "exit status")
    return re.sub("\x1b\\[[0-9;]*m", "", out.decode()).replace("\r", "")


def check_terminal(words, shown):
    for columns in (60, 80):
        for locale in ("C", "C.UTF-8"):
            text = on_terminal(columns, locale, *words)
            chart = text[text.index("\nExpected false-positive rate"):]
            expect(max(map(len, chart.split("\n"))) <= columns, f"wider than {columns} columns: {chart}")
            plot, legend = chart[:chart.rindex("\n\n")], chart[chart.rindex("\n\n"):]
            curves = re.findall(r"(\S+) ((?:[a-z][a-z0-9-]+(?:, )?)+)", legend)
            expect(0 < len(curves) <= MAX, f"the legend is {legend}")
            expect(sorted(", ".join(names for _, names in curves).split(", ")) == sorted(shown), f"the legend is {legend}")
            marks = [mark for mark, _ in curves]
            expect(len(set(marks)) == len(marks), f"equal marks: {marks}")
            area = "".join(line[9:] for line in plot.split("\n"))
            for mark in marks:
                seen = re.search("[\u2801-\u28ff]", area) if len(mark) == 2 else mark in area
                expect(seen, f"no {mark} in {chart}")


def main():
    cases = [line.split() for line in NEEDS.strip().split("\n")]
    failed = 0
    for words in cases:
        try:
            answer = json.loads(plan(*words, "--json"))
            shown = check_table(words, answer)
            check_svg(words, shown)
            check_window(words, answer)
            check_terminal(words, shown)
        except AssertionError as error:
            failed += 1
            print("plan", " ".join(words) + ":", error)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
