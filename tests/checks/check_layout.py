#!/usr/bin/env python3
"""check_layout.py [--update]: the public structs and constants are those of tests/checks/layout.txt.

The list has the size of every public struct and enum, the offset and size of every member, and the value of
every enumerator and constant, as a C compiler computes them on x86-64. `--update` replaces the list; docs/abi.md
says which differences a release may have. That document must also list every struct: those that begin with
`size_t struct_size` as growable, the others as fixed. And what the documents and the comments of the headers show to
readers must set struct_size. Every function that a header declares is in tests/checks/symbols.txt.
"""
import difflib
import glob
import os
import platform
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import c_headers  # noqa: E402

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LIST = "tests/checks/layout.txt"
SYMBOLS = "tests/checks/symbols.txt"
DOCUMENT = "docs/abi.md"


def program(root, text):
    """The C program that prints the list."""
    lines = [f"#include <{name}>" for name in c_headers.headers_of(root)]
    lines += ["#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for tag, members in sorted(c_headers.structs(text).items()):
        lines.append(f'printf("struct {tag}: %zu bytes\\n", sizeof(struct {tag}));')
        for _, name in members:
            lines.append(f'printf("    {name}: %zu, %zu bytes\\n", offsetof(struct {tag}, {name}), '
                         f"sizeof(((struct {tag} *)0)->{name}));")
    enumerators = c_headers.enumerators(text)
    for tag in sorted({tag for tag, _ in enumerators}):
        lines.append(f'printf("enum {tag}: %zu bytes\\n", sizeof(enum {tag}));' if tag else 'puts("enum without a name");')
        lines += [f'printf("    {name} = %lld\\n", (long long){name});' for owner, name in (enumerators if tag else sorted(enumerators)) if owner == tag]
    lines.append('puts("constants");')
    lines += [f'printf("    {name} = %llu\\n", (unsigned long long)({name}));' for name in c_headers.constants(root)]
    return "\n".join(lines + ["return 0;", "}", ""])


def layout(root, text):
    """The list's lines, by the compiler that is there."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program(root, text))
        subprocess.run([*c_headers.compiler(), "-std=c11", "-I", os.path.join(root, "include"), source, "-o", binary], check=True)
        return subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def listed(document, heading):
    """The names in backquotes of the document's section with that heading."""
    section = re.search(rf"(?ms)^## {heading}$(.*?)(?=^## |\Z)", document)
    return set(re.findall(r"`(bly_\w+)`", section[1])) if section else set()


def wrong_structs(structs, document):
    """[sentence] about structs that are not what docs/abi.md says."""
    growable = {tag for tag, members in structs.items() if members[0] == ("size_t", "struct_size")}
    found = [f"{tag} has a struct_size that is not its first member, of type size_t" for tag, members in sorted(structs.items())
             if tag not in growable and "struct_size" in [name for _, name in members]]
    for heading, want in (("Growable structs", growable), ("Fixed structs", set(structs) - growable)):
        have = listed(document, heading)
        found += [f"{DOCUMENT} does not list {tag} under {heading}" for tag in sorted(want - have)]
        found += [f"{DOCUMENT} lists {tag} under {heading}; it is not one" for tag in sorted(have - want)]
    return found


def wrong_initialisers(root, structs):
    """[sentence] about growable structs that readers see without their size."""
    growable = "|".join(tag for tag, members in structs.items() if members[0] == ("size_t", "struct_size"))
    without_size = re.compile(rf"\b({growable}) \w+ = \{{[\s*/]*(?!\.struct_size|[\s*/])")
    found = []
    for pattern in ("*.md", "docs/**/*.md", "include/**/*.h", "examples/**/*.[ch]"):
        for path in sorted(glob.glob(pattern, root_dir=root, recursive=True)):
            found += [f"{path}: {match[0]}: struct_size is not set" for match in without_size.finditer(read(root, path))]
    return found if growable else []


def violations(root):
    """[line of a difference, or sentence]"""
    text = c_headers.own_text(root, c_headers.headers_of(root))
    change = difflib.unified_diff(read(root, LIST).splitlines(), layout(root, text), LIST, "the headers", lineterm="", n=1)
    structs = c_headers.structs(text)
    declared = set(c_headers.functions(text)) - c_headers.inline_functions(text)
    hidden = [f"{name} is declared, and not in {SYMBOLS}" for name in sorted(declared - set(read(root, SYMBOLS).split()))]
    return list(change) + wrong_structs(structs, read(root, DOCUMENT)) + wrong_initialisers(root, structs) + hidden


def main():
    if platform.machine() not in ("x86_64", "AMD64") or sys.maxsize < 1 << 32:
        print("skipped: the list is for x86-64")
        return 0
    if sys.argv[1:] == ["--update"]:
        text = c_headers.own_text(ROOT, c_headers.headers_of(ROOT))
        with open(os.path.join(ROOT, LIST), "w", encoding="utf-8") as file:
            file.write("\n".join(layout(ROOT, text)) + "\n")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    found = violations(ROOT)
    if found:
        print(*found, sep="\n")
        print(f"see {DOCUMENT} for what may change; tests/checks/check_layout.py --update writes {LIST}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
