#!/usr/bin/env python3
"""check_symbol_order.py OBJECT...: checks the order of the folders of src/ by the symbols that their objects use.

Includes show which headers a file reads; symbols show which functions and tables it uses. An object may use symbols of
its own folder and of earlier ones (ORDER in check_tree.py). The objects are those of the library, with paths that
contain src/FOLDER/. Prints SOURCE:1: symbol-order: what it uses.
"""
import re
import subprocess
import sys

sys.dont_write_bytecode = True

from check_tree import KIND_TABLE, ORDER  # noqa: E402


def source_of(object_path):
    """Returns src/base/memory.c for .../src/base/memory.c.o, and None for other paths."""
    found = re.search(r"(?:^|/)(src/(\w+)/.*\.c)\.(?:o|obj)$", object_path)
    return found[1] if found else None


def symbols_of(objects):
    """Returns {source: (defined, used)}: the global symbols that each object defines, and those that it needs."""
    listing = subprocess.run(["nm", "-A", "-P", "-g", *objects], check=True, capture_output=True, text=True).stdout
    symbols = {source_of(path): (set(), set()) for path in objects}
    for path, name, kind in re.findall(r"(?m)^(.*): (\S+) (\w)\b", listing):
        symbols[source_of(path)][kind in "Uwv"].add(name)
    return symbols


def violations(objects):
    """Returns [(source, what is wrong)]."""
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
