#!/usr/bin/env python3
"""check_figures.py BLOOMERY: the figures and pictures in the documents are those that BLOOMERY computes.

scripts/figures writes them. First the check compares documents with planted errors, to see that it finds each of them.
"""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "docs", "figures"))

import update  # noqa: E402
from planner import Planner  # noqa: E402

GOOD = "Takes <!--f:bits fuse 12.5%-->{}<!--/f--> bits.\n\n<!-- figures: bits cuckoo -->\n{}<!-- end -->\nEnd.\n"
# (a text in the correct document, its replacement)
BAD = [("bits.", "bits <!--f:bits fuse 1%-->7<!--/f-->."), ("| `cuckoo`", "| cuckoo"), ("| `cuckoo`", "| more |\n| `cuckoo`"),
       ("fuse 12.5%", "juice 12.5%"), ("f:bits fuse", "f:bites fuse"), ("f:bits fuse 12.5%", "f:bits fuse 12.5"), ("f:bits fuse", "f:rate fuse 1% more="),
       ("<!--/f-->", ""), ("<!--f:bits fuse 12.5%-->", ""), ("<!-- end -->", ""), ("figures: bits cuckoo", "figures: bits"),
       ("figures: bits cuckoo", "figures: others"), ("Takes ", "")]


def finds_differences(planner):
    good, wrong = update.rewritten(planner, GOOD.format("", ""))
    assert not wrong and good.count("\n") == GOOD.count("\n") + 3, (good, wrong)
    root = tempfile.mkdtemp()
    try:
        os.makedirs(os.path.join(root, "docs", "pictures"))
        for path, lines in update.pictures(planner):
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        for old, new in [("", ""), *BAD]:
            assert old in good, old
            with open(os.path.join(root, "docs", "one.md"), "w", encoding="utf-8") as file:
                file.write(good.replace(old, new, 1) if old else good)
            found = [path for path, _, _ in update.outdated_documents(planner, root)]
            assert found == (["docs/one.md"] if old else []), f"{new} instead of {old}: {found}"
        with open(os.path.join(root, "docs", "pictures", "which-filter.svg"), "a", encoding="utf-8") as file:
            file.write("\n")
        assert [path for path, _, _ in update.outdated_pictures(planner, root)] == ["docs/pictures/which-filter.svg"]
    finally:
        shutil.rmtree(root)
    print(f"{len(BAD) + 1} planted differences found")


def main():
    planner = Planner(sys.argv[1])
    finds_differences(planner)
    found = [message for _, _, messages in update.outdated(planner, ROOT) for message in messages]
    if found:
        print("\n".join(found) + "\nrun scripts/figures to update them")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
