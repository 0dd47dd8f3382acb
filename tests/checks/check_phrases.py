#!/usr/bin/env python3
"""check_phrases.py [ROOT]: no text of the tree contains a worn phrase or a private word that plain English replaces.

Searches comments, strings, documents and scripts in every text file that git tracks. Leaves out quotations: text between
backticks and, in Markdown, code blocks and text between double quotes. Prints FILE:LINE: 'PHRASE': write ..., for each
place, and exits with status 1 if there are any. PHRASES is the list; docs/architecture.md has the glossary.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENDINGS = (".c", ".h", ".hpp", ".cc", ".cpp", ".md", ".py", ".sh", ".cmake", ".conf", ".t", ".txt", ".yml", ".in")
# Data, lists of names, and the two files that contain the phrases: the list and its test.
LEFT_OUT = ("tests/golden/", "examples/data/", "third_party/", "docs/reference/", "tests/checks/check_phrases.py",
            "tests/checks/check_checks.py")

# (a phrase, what to write instead)
PHRASES = [
    (r"strangers?", "non-member, or attacker"),
    (r"anew", "again"),
    (r"so many(?! that)", "a number, or nothing"),
    (r"(is|are) none", "there is no ..., or is not"),
    (r"(to|can|could|cannot|not) be had", "is available"),
    (r"(takes?|taken|took|taking) [\w,'\s]{1,40} for (its|their) own", "gives a false positive for"),
    (r"(its|their|and) kin", "similar ones, by name"),
    (r"of which there", "a sentence of its own"),
    (r"whoever|whosoever", "anyone who, or the subject"),
    (r"nobody (knows|can know)", "is unknown"),
    (r"all the same(?=[.,;:)]|$)", "nevertheless, or nothing"),
    (r"(at|to) hand(?!s)", "available, given"),
    (r"beforehand", "before, in advance"),
    (r"(rate|rates|was|were|is|are|than|what) asked(?! for (input|a ))", "requested"),
    (r"asked rate|promised rate|rate promised", "requested rate"),
    (r"errs", "is wrong"),
    (r"but for", "except for"),
    (r"for ever", "forever"),
    (r"in vain", "without success"),
    (r"in (its|their) turn", "then, too"),
    (r"parted by", "separated by"),
    (r"without a word", "silently"),
    (r"(one|he) who", "the subject"),
    (r"(has|have|had) not (a|the|any)", "does not have"),
    (r"(lent|lends?|lending)", "borrowed, shared"),
    (r"set aside", "allocated"),
    (r"(there|where|here)(of|in|by|upon|withal)(?<!therein)(?<!wherein)|hitherto|henceforth", "plain words"),
    (r"in its stead|in their stead", "instead"),
    (r"of its own accord", "automatically"),
    (r"must needs|needs must", "must"),
    (r"gives? (it|them|him|keys) up again", "releases, removes"),
    (r"(is|are|was|were) to be told", "is told, is reported"),
]


def compiled(phrases):
    return re.compile(r"\b(?:" + "|".join(p.replace(" ", r"[\s*#/]+") for p in phrases) + r")(?!\w)", re.M)


SEARCH = [(compiled([phrase]), instead) for phrase, instead in PHRASES]
ANY = compiled([phrase for phrase, _ in PHRASES])  # one search for all, since most files have none


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def without_quotations(path, text):
    if path.endswith(".md"):
        text = re.sub(r"(?ms)^```.*?^```[ \t]*$", blank, text)
        text = re.sub(r'"[^"\n]{1,200}(?:\n[^"\n]{1,200})?"', blank, text)
    return re.sub(r"`[^`\n]*(?:\n[^`\n]*)?`", blank, text)


def files_of(root):
    try:
        names = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):  # a copy without git's data
        names = [os.path.relpath(os.path.join(d, f), root) for d, _, files in os.walk(root) if "/build" not in d for f in files]
    for name in sorted(filter(None, names)):
        known = name.endswith(ENDINGS) or name.startswith("scripts/")
        if known and not name.startswith(LEFT_OUT) and os.path.isfile(os.path.join(root, name)):
            yield name


def violations(root):
    """Returns [(file, line, phrase, what to write instead)]."""
    found = []
    for path in files_of(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = without_quotations(path, file.read().replace("None", "----")).lower()  # None: Python's
        for pattern, instead in SEARCH if ANY.search(text) else ():
            for match in pattern.finditer(text):
                words = " ".join(re.sub(r"[*#/]", " ", match[0]).split())
                found.append((path, text.count("\n", 0, match.start()) + 1, words, instead))
    return sorted(found)


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] and sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    found = violations(sys.argv[1] if sys.argv[1:] else ROOT)
    for path, line, words, instead in found:
        print(f"{path}:{line}: '{words}': write {instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
