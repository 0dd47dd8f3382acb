#!/usr/bin/env python3
"""check_links.py [ROOT]: every link in a document to a file, folder or heading of this repository has a target.

Reads every Markdown file that git does not ignore. Anchors follow GitHub's rules. Links to other sites are not checked.
Prints DOCUMENT:LINE: what is wrong, for each broken link, and exits with status 1 if there are any.
"""
import functools
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r'\]\(\s*<?([^()\s>]+)>?[^()]*\)|<(?:img|a) [^>]*?(?:src|href)="([^"]+)"')  # also nested


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def without_code(text):
    text = re.sub(r"(?ms)^(```+).*?^\1[ \t]*$", blank, text)
    return re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), text)


def anchor_of(heading):
    """Returns the anchor that GitHub makes from the text of a heading."""
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
    except (OSError, subprocess.CalledProcessError):  # a copy that is not a git repository
        names = [os.path.relpath(os.path.join(d, f), root) for d, _, files in os.walk(root) for f in files if f.endswith(".md")]
    return sorted(n for n in names if n and os.path.exists(os.path.join(root, n)))


def wrong_target(root, document, link):
    """Returns why a link has no target, or None if it has one."""
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
    """Returns [(document, line, what is wrong)]."""
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
