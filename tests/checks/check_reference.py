#!/usr/bin/env python3
"""check_reference.py: docs/reference is what scripts/reference writes from the headers, every function, type and constant
is described in it, and every function has a manual page, which mandoc accepts where it is installed.

Violations are planted too, to see that they are found.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import c_headers  # noqa: E402

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HEADER = "include/bloomery/filter.h"
#: (what is replaced in filter.h, by what, what the complaint contains)
PLANTED = [  # (the function whose comment or name is changed, how, what must be reported)
    ("bly_filter_destroy", lambda comment: "\n", "undocumented: BLY_API void bly_filter_destroy"),
    ("bly_filter_hasher", lambda comment: "/* Returns something. */\n", "filter.md: not as"),
    ("bly_filter_set_key_rule", lambda comment: comment.replace("Errors:", "Perhaps"), 'bly_filter_set_key_rule: no "Errors:"'),
    ("bly_filter_count", None, "filter.md: not as"),
]


def run(root, *arguments):
    done = subprocess.run([sys.executable, os.path.join(root, "scripts/reference"), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def anchors(text):
    """The places of a page that links can name."""
    return set(re.findall(r'<a id="(\w+)"></a>', text)) | set(re.findall(r"(?m)^#+ (\w+)$", text))


def missing():
    """What no index entry names, and links that lead nowhere."""
    index = read(ROOT, "docs/reference/README.md")
    text = c_headers.own_text(ROOT, c_headers.headers_of(ROOT))
    names = set(c_headers.functions(text)) | set(c_headers.structs(text)) | set(c_headers.constants(ROOT))
    names |= {name for _, name in c_headers.enumerators(text)} | {tag for tag, _ in c_headers.enumerators(text) if tag}
    found = [f"the index lacks {name}" for name in sorted(names) if f"[`{name}`](" not in index]
    for page in sorted(os.listdir(os.path.join(ROOT, "docs/reference"))):
        for to, anchor in re.findall(r"\]\(([\w-]+\.md)?#(\w+)\)", read(ROOT, "docs/reference", page)):
            if anchor not in anchors(read(ROOT, "docs/reference", to or page)):
                found.append(f"docs/reference/{page}: no place {to}#{anchor}")
    return found


def wrong_manual_pages(folder):
    code, output = run(ROOT, "--man", folder)
    if code:
        return [output]
    text = c_headers.own_text(ROOT, c_headers.headers_of(ROOT))
    pages = set(os.listdir(folder))
    found = [f"no manual page of {name}" for name in c_headers.functions(text) if f"{name}.3" not in pages]
    full = []
    for page in sorted(pages):
        link = re.fullmatch(r"\.so man3/(\w+\.3)\n", read(folder, page))
        if link and link[1] not in pages:
            found.append(f"{page} refers to {link[1]}")
        elif not link:
            full.append(page)
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *full], cwd=folder, capture_output=True, text=True, check=False)
        # The pages have no date, so that they are the same on every day.
        found += [line for line in lint.stdout.splitlines() if 'missing date, using "": TH' not in line]
    else:
        print("mandoc is not installed: the manual pages are not checked by it", file=sys.stderr)
    return found


def not_found(folder):
    """The planted violations that are not reported."""
    for path in ("scripts/reference", "docs", "include"):
        copy = shutil.copytree if os.path.isdir(os.path.join(ROOT, path)) else shutil.copy
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        copy(os.path.join(ROOT, path), os.path.join(folder, path))
    header, found = read(ROOT, HEADER), []
    for name, change, complaint in PLANTED:
        # The comment stands before the declaration, which begins a line.
        place = re.search(rf"(?m)^(/\*(?:(?!\*/)[\s\S])*\*/\n)(BLY_(?:API|CHECKED) [^;]*?)\b{name}\(", header)
        bad = header[:place.start()] + (change(place[1]) if change else place[1]) + place[2] + (name if change else "bly_other") + header[place.end() - 1:]
        assert bad != header, name
        with open(os.path.join(folder, HEADER), "w", encoding="utf-8") as file:
            file.write(bad)
        code, output = run(folder, "--check")
        if code != 1 or complaint not in output:
            found.append(f"a change of {name} is not found: {output}")
    return found


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    _, output = run(ROOT, "--check")
    found = output.splitlines() + missing()
    with tempfile.TemporaryDirectory() as man, tempfile.TemporaryDirectory() as tree:
        found += wrong_manual_pages(man) + not_found(tree)
    if found:
        print(*found, "run scripts/reference to write docs/reference again", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
