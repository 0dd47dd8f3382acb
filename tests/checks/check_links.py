#!/usr/bin/env python3
"""check_links.py [ROOT]: every link of a document to a file, a folder or a heading of ours has a target.

Reads every Markdown file that git tracks, and the headings by GitHub's rules for anchors. Links to other sites are left
alone. Prints DOCUMENT:LINE: what is wrong, and ends with status 1 if there is something.
"""
import functools
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r'\]\(\s*<?([^()\s>]+)>?[^()]*\)|<(?:img|a) [^>]*?(?:src|href)="([^"]+)"')  # nested ones, too


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def without_code(text):
    text = re.sub(r"(?ms)^(```+).*?^\1[ \t]*$", blank, text)
    return re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), text)


def anchor_of(heading):
    """Of a heading's text: GitHub's rule."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return heading.replace(" ", "-")


@functools.lru_cache(maxsize=None)
def anchors_of(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"(?ms)^(```+).*?^\1[ \t]*$", "", file.read())
    found, seen = set(), {}
    for heading in re.findall(r"(?m)^#{1,6} +(.*?) *#*$", text):
        name = anchor_of(heading)
        number = seen.get(name, 0)
        seen[name] = number + 1
        found.add(f"{name}-{number}" if number else name)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def documents(root):
    try:
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], cwd=root, check=True,
                               capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):  # a copy without git's data
        names = [os.path.relpath(os.path.join(d, f), root) for d, _, files in os.walk(root) for f in files if f.endswith(".md")]
    return sorted(n for n in names if n and os.path.exists(os.path.join(root, n)))


def wrong_target(root, document, link):
    """Why a link does not lead anywhere, or None."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(root, os.path.dirname(document), path)) if path else os.path.join(root, document)
    if not os.path.exists(target):
        return f"no file {path}"
    if anchor and target.endswith(".md") and anchor not in anchors_of(target):
        return f"no heading #{anchor} in {path or document}"
    return None


def violations(root):
    """[(document, line, what is wrong)]"""
    found = []
    for document in documents(root):
        with open(os.path.join(root, document), encoding="utf-8") as file:
            text = without_code(file.read())
        for match in LINK.finditer(text):
            wrong = wrong_target(root, document, match[1] or match[2])
            if wrong:
                found.append((document, text.count("\n", 0, match.start()) + 1, wrong))
    return found


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] and sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    found = violations(os.path.abspath(sys.argv[1]) if sys.argv[1:] else ROOT)
    for document, line, wrong in found:
        print(f"{document}:{line}: {wrong}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
