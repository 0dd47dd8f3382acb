#!/usr/bin/env python3
"""check_kinds.py [ROOT]: every kind of include/bloomery/kinds.h is described in the documents.

A kind has a row with its code in the table of kinds in docs/format.md, and docs/choosing.md names it in a code span.
(The test kinds_golden checks that it has golden files.)
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def missing(root):
    """Returns [(document, what it lacks)]."""
    def text(path):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            return file.read()

    header = "include/bloomery/kinds.h"
    listed = re.search(r"enum bly_kind \{\s*BLY_KIND_NONE = 0,(.*?)\}", text(header), re.S)
    if not listed:
        return [(header, "the list of kinds")]
    kinds = re.findall(r'BLY_\w+ = (\d+),?\s+/\* "([\w-]+)" \*/', listed[1])
    found = []
    if len(kinds) != listed[1].count("BLY_"):
        found.append((header, 'the name of a kind in a comment: BLY_SBBF = 3, /* "sbbf" */'))
    documents = {name: text("docs/" + name) for name in ("format.md", "choosing.md")}
    for code, name in kinds:
        if not re.search(rf"(?m)^\| {code} \| {re.escape(name)} \|", documents["format.md"]):
            found.append(("docs/format.md", f"a row '| {code} | {name}' in the table of kinds"))
        if not re.search(rf"`{re.escape(name)}`", documents["choosing.md"]):
            found.append(("docs/choosing.md", f"`{name}`"))
    return found


def main():
    found = missing(sys.argv[1] if len(sys.argv) > 1 else ROOT)
    for document, what in found:
        print(f"{document}:1: kinds: lacks {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
