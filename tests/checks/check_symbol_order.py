#!/usr/bin/env python3
"""check_symbol_order.py OBJECT...: the order of src/'s folders, by what their object files refer to.

An include says which header a file knows; this says which functions and tables it uses. An object of a
folder may use symbols of its own folder and of those before it (ORDER in check_tree.py). The objects are
those of the library, with paths that contain src/FOLDER/. Prints OBJECT'S SOURCE:1: symbol-order: what it uses.
"""
import re
import subprocess
import sys

sys.dont_write_bytecode = True

from check_tree import KIND_TABLE, ORDER  # noqa: E402


def source_of(object_path):
    """src/base/memory.c of .../src/base/memory.c.o, or None."""
    found = re.search(r"(?:^|/)(src/(\w+)/.*\.c)\.(?:o|obj)$", object_path)
    return found[1] if found else None


def symbols_of(objects):
    """{source: (defined, used)}: names that other objects can see, and names that this one needs."""
    listing = subprocess.run(["nm", "-A", "-P", "-g", *objects], check=True, capture_output=True, text=True).stdout
    symbols = {source_of(path): (set(), set()) for path in objects}
    for path, name, kind in re.findall(r"(?m)^(.*): (\S+) (\w)\b", listing):
        symbols[source_of(path)][kind in "Uwv"].add(name)
    return symbols


def violations(objects):
    """[(source, text)]"""
    symbols = symbols_of([path for path in objects if source_of(path)])
    home = {name: source for source, (defined, _) in symbols.items() for name in defined}
    found, order = [], ORDER["src"]
    for source, (_, used) in sorted(symbols.items()):
        own = source.split("/")[1]
        for name in sorted(used & set(home)):
            other = home[name].split("/")[1]
            allowed = other == own or order.get(other, 99) < order.get(own, -1)
            if not allowed and not (source == KIND_TABLE and other == "kinds"):
                found.append((source, f"{own} uses {name} of {home[name]}"))
    return found


def main():
    if not any(map(source_of, sys.argv[1:])):
        sys.exit(__doc__)
    found = violations(sys.argv[1:])
    for source, text in found:
        print(f"{source}:1: symbol-order: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
