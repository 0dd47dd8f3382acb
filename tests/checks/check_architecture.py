#!/usr/bin/env python3
"""check_architecture.py [ROOT]: every file and folder that docs/architecture.md names exists.

Names are searched in code spans and in diagrams: file names with one of our endings, with or without folders, with *,
NAME or {a,b} as wildcards; folders, which end in a slash; test programs (`test_window`, `fuzz_load`). A name may omit
its first folders: `simd/select.c` is src/simd/select.c.
"""
import fnmatch
import os
import re
import sys

sys.dont_write_bytecode = True

from c_source import files_in  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENT = "docs/architecture.md"
FILE = re.compile(r"(?<![\w./<*{},-])<?([\w./*{},-]*[\w*}]\.(?:c|h|cc|py|sh|md|t|cmake|txt|conf|mjs|lua))>?(?![\w/*])")
FOLDER = re.compile(r"(?<![\w./<*{},-])([\w{},-]+(?:/[\w{},-]+)*/)(?![\w*{<.])")
PROGRAM = re.compile(r"(?:test|fuzz)_[a-z0-9_*]+")


def code_in(document):
    """Yields (line, text, is_diagram) for each code span and for each line that is indented or fenced."""
    fenced = False
    for number, line in enumerate(document.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield number, line, True
        else:
            for span in re.findall(r"`([^`]+)`", line):
                yield number, span, False


def expanded(name):
    """Returns the names that a name with braces stands for: ab.h and ac.h for a{b,c}.h."""
    found = re.search(r"\{([^{}]*)\}", name)
    if not found:
        return [name]
    return [n for part in found[1].split(",") for n in expanded(name[:found.start()] + part + name[found.end():])]


def names_in(text, is_diagram):
    for name in FILE.findall(text) + FOLDER.findall(text):
        yield from expanded(name.replace("NAME", "*"))
    if not is_diagram and PROGRAM.fullmatch(text):
        yield text + ".c"


def missing(root):
    """Returns [(line, name)] of the names that do not exist."""
    tops = [f for f in sorted(os.listdir(root)) if os.path.isdir(os.path.join(root, f)) and f[0] != "." and f != "build"]
    files = files_in(root, tops, "") + [f for f in os.listdir(root) if os.path.isfile(os.path.join(root, f))]
    folders = {os.path.dirname(f)[:i] + "/" for f in files
               for i in [m.start() for m in re.finditer(r"/|$", os.path.dirname(f))]}
    known = ["/" + name for name in set(files) | folders]
    exact = set()
    for name in known:  # every part of a path from after a slash to the end
        exact.update(name[m.end():] for m in re.finditer("/", name))
    with open(os.path.join(root, DOCUMENT), encoding="utf-8") as file:
        document = file.read()
    found = []
    for line, text, is_diagram in code_in(document):
        for name in names_in(text, is_diagram):
            there = name in exact if "*" not in name else any(fnmatch.fnmatch(k, "*/" + name) for k in known)
            if not there:
                found.append((line, name))
    return found


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    found = missing(sys.argv[1] if len(sys.argv) == 2 else ROOT)
    for line, name in found:
        print(f"{DOCUMENT}:{line}: architecture: {name} does not exist")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
