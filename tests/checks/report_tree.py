#!/usr/bin/env python3
"""report_tree.py [--files] [ROOT]: counts the files of the tree, small files and small headers, and for each kind the
files outside its own folder whose code names it (--files lists these).

It also reads older trees, where the files of a kind are in src/core, src/filters and src/store.
"""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True

from c_source import Source, files_in  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SMALL_SOURCE, SMALL_HEADER = 100, 40
# Kinds whose folder has another name.
FAMILIES = {"classic": "bloom", "partitioned": "bloom", "sbbf": "blocked", "split512": "blocked", "bb2x512": "blocked",
            "growable_cuckoo": "cuckoo", "scalable_cuckoo": "cuckoo", "blocked_counting": "counting"}
FOLDERS = ("include", "src", "module", "cli")


def folder_of(path):
    """Returns the folder that a file counts for: include/bloomery, src/FOLDER, src/kinds/KIND, module/FOLDER ..."""
    parts = os.path.dirname(path).split("/")
    return "/".join(parts[:3 if parts[:2] == ["src", "kinds"] else 2])


def kinds_of(root):
    """Returns sbbf, scalable_cuckoo and so on, from the list in kinds.h or plan.h."""
    for name in ("kinds.h", "plan.h"):
        path = os.path.join(root, "include/bloomery", name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                listed = re.search(r"typedef enum bly_kind \{(.*?)\}", file.read(), re.S)
            if listed:
                names = re.findall(r"\b(BLY_[A-Z0-9_]+) *=", listed[1])
                return [n[4:].lower() for n in names if n != "BLY_KIND_NONE"]
    return []


def folder_of_kind(word):
    return FAMILIES.get(word, word)


def is_own(path, word):
    """Returns whether a file of src/ belongs to the kind: it is in the kind's folder or, in older trees, named after it."""
    parts = path.split("/")
    stem = parts[-1].rsplit(".", 1)[0]
    names = {word, folder_of_kind(word)}
    return parts[0] == "src" and (bool(names & set(parts[:-1])) or
                                  any(re.match(rf"(plan_)?{name}(_|$)", stem) for name in names))


def mentions(sources, word, words):
    """Yields the files whose code names the kind: in an identifier, or by including one of the kind's headers."""
    longer = [w for w in words if word in w and w != word]
    header = re.compile(rf"(^|/){folder_of_kind(word)}/|^bloomery/{word}\.h$")
    for path, source in sources.items():
        names = {n.lower() for n in re.findall(r"\b(?:bly|blyi|bm|cli)_\w+", source.code, re.I)} - {"bly_only_counts"}
        for other in longer:  # scalable_cuckoo is neither scalable nor cuckoo
            names = {n.replace(other, "") for n in names}
        if (any(re.search(rf"_{word}(_|$)", name) for name in names) or
                any(header.search(name) for _, _, name in source.includes)):
            yield path


def print_files(sources):
    for top in ("src", "module", "cli"):
        own = [s for p, s in sources.items() if p.startswith(top + "/")]
        small = [s for s in own if s.path.endswith(".c") and s.lines < SMALL_SOURCE]
        headers = [s for s in own if s.path.endswith(".h")]
        print(f"{top}/: {len(own)} files, {len(own) - len(headers)} .c, {len(headers)} .h, {sum(s.lines for s in own)} lines; "
              f"{len(small)} .c under {SMALL_SOURCE} lines; {sum(s.lines < SMALL_HEADER for s in headers)} .h under {SMALL_HEADER}")
        for source in sorted(small, key=lambda s: s.lines):
            print(f"    {source.lines:4} {source.path}")


def print_folders(sources):
    rows = collections.defaultdict(list)
    for path, source in sources.items():
        rows[folder_of(path)].append(source.lines)
    print("\nfolder: files, lines")
    for folder, lines in sorted(rows.items()):
        print(f"    {folder:28} {len(lines):4} {sum(lines):6}")


def print_kinds(root, sources):
    print("\nkind: its own files, files outside that name it in code (include, src, cli, module)")
    words = kinds_of(root)
    for word in words:
        outside = [p for p in mentions(sources, word, words) if not is_own(p, word)]
        own = [p for p in sources if is_own(p, word) and p.startswith("src/")]
        number = collections.Counter(p.split("/")[0] for p in outside)
        each = " ".join(f"{top} {number[top]}" for top in FOLDERS)
        print(f"    {word:18} {len(own):3} {len(outside):4}   ({each})")
        if "--files" in sys.argv:
            for path in outside:
                print(f"        {path}")


def main():
    folders = [a for a in sys.argv[1:] if a != "--files"]
    if len(folders) > 1:
        sys.exit(__doc__)
    root = folders[0] if folders else ROOT
    sources = {path: Source(root, path) for path in files_in(root, FOLDERS, (".c", ".h"))}
    print_files(sources)
    print_folders(sources)
    print_kinds(root, sources)


if __name__ == "__main__":
    main()
