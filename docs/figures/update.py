#!/usr/bin/env python3
"""update.py BLOOMERY: writes the figures of the documents, and the pictures, as BLOOMERY computes them.

In README.md, README.zh.md and every document below docs/, two forms are replaced; figures.py has the names:

    <!-- figures: NAME -->          lines up to            <!-- end -->
    <!--f:NAME-->                   text up to             <!--/f-->

docs/pictures/*.svg are drawn. Prints the files that have changed. scripts/figures runs this;
tests/checks/check_figures.py checks that nothing would change.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

import bits_per_key  # noqa: E402
import figures  # noqa: E402
import which_filter  # noqa: E402
from planner import Planner  # noqa: E402

BLOCK = re.compile(r"(?ms)^(<!-- figures: (?P<name>[^\n]+?) -->\n)(?P<text>.*?)(^<!-- end -->$)")
SPAN = re.compile(r"(<!--f:(?P<name>[^\n]+?)-->)(?P<text>[^\n]*?)(<!--/f-->)")
MARK = re.compile(r"<!-- figures:|<!--f:|<!--/f-->")


def documents(root):
    """README.md, README.zh.md and what lies below docs/."""
    found = [name for name in ("README.md", "README.zh.md") if os.path.exists(os.path.join(root, name))]
    for folder, _, names in os.walk(os.path.join(root, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names if name.endswith(".md")]
    return sorted(found)


def rewritten(planner, text):
    """The document with its figures, and [(line, what is wrong with a mark)]."""
    wrong = []

    def replace(functions, end):
        def one(match):
            try:
                return match[1] + figures.make(functions, planner, match["name"]) + end + match[4]
            except ValueError as error:
                wrong.append((match.string.count("\n", 0, match.start()) + 1, str(error)))
                return match[0]
        return one

    new = SPAN.sub(replace(figures.SPANS, ""), BLOCK.sub(replace(figures.BLOCKS, "\n"), text))
    for match in re.finditer(r"(?m)^[ \t>]*<!--f:", new):
        wrong.append((new.count("\n", 0, match.start()) + 1, "a line begins with a mark: Markdown takes all of it for HTML"))
    for match in MARK.finditer(SPAN.sub("", BLOCK.sub(lambda m: "\n" * m[0].count("\n"), new))):
        wrong.append((match.string.count("\n", 0, match.start()) + 1, "a mark without its end, or its beginning"))
    return new, wrong


def pictures(planner):
    """[(path, text)]"""
    folder = os.path.join("docs", "pictures")
    yield os.path.join(folder, "bits-per-key.svg"), bits_per_key.draw(planner)
    for language, name in (("en", "which-filter.svg"), ("zh", "which-filter.zh.svg")):
        yield os.path.join(folder, name), which_filter.draw(planner, language)


def differences(old, new):
    """Yields (line number, old line, new line) of the lines that differ; only the first if the number of lines differs."""
    before, after = old.splitlines(), new.splitlines()
    for at, (one, two) in enumerate(zip(before + [""] * len(after), after), 1):
        if one != two:
            yield at, one, two
            if len(before) != len(after):
                return
    if len(before) > len(after) and before[:len(after)] == after:
        yield len(after) + 1, before[len(after)], ""


def outdated_documents(planner, root):
    """Yields (path, new text or None, [message]) of each document that is out of date."""
    for path in documents(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            old = file.read()
        new, wrong = rewritten(planner, old)
        messages = [f"{path}:{line}: {what}" for line, what in wrong]
        messages += [f"{path}:{line}: figures have changed\n-{one}\n+{two}" for line, one, two in differences(old, new)]
        if messages:
            yield path, None if wrong else new, messages


def outdated_pictures(planner, root):
    """The same of the pictures."""
    for path, lines in pictures(planner):
        new = "\n".join(lines) + "\n"
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                old = file.read()
        except FileNotFoundError:
            old = ""
        if new != old:
            yield path, new, [f"{path}: the picture has changed"]


def outdated(planner, root):
    yield from outdated_documents(planner, root)
    yield from outdated_pictures(planner, root)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    status = 0
    for path, new, messages in outdated(Planner(sys.argv[1]), ROOT):
        if new is None:
            print("\n".join(messages), file=sys.stderr)
            status = 1
            continue
        with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
            file.write(new)
        print(path)
    return status


if __name__ == "__main__":
    sys.exit(main())
