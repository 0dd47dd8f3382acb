#!/usr/bin/env python3
"""check_kinds.py [ROOT]: every kind of include/bloomery/plan.h is described in the documents.

A kind's name occurs as a code span in docs/format.md (with its code in the table of kinds) and in
docs/choosing.md. (That it has golden files is checked by kinds_golden.)
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def missing(root):
    """[(document, what it lacks)]"""
    def text(path):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            return file.read()

    kinds = re.findall(r'BLY_\w+ = (\d+),? +/\* "([\w-]+)" \*/', text("include/bloomery/plan.h"))
    if not kinds:
        return [("include/bloomery/plan.h", "the list of kinds")]
    found = []
    documents = {name: text("docs/" + name) for name in ("format.md", "choosing.md")}
    for code, name in kinds:
        if not re.search(rf"(?m)^\| {code} \| `?{re.escape(name)}`?\b", documents["format.md"]):
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
