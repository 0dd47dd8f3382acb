#!/usr/bin/env python3
"""sample_texts.py messages|comments NUMBER SEED [ROOT]: draws distinct texts at random, for a reader to judge their English.

messages: what the command line prints on standard error: the formats of message_error, message_warn and message_note,
and the reasons that functions return or pass to refuse(). comments: the comments of all C files, tests included. Prints
FILE:LINE: TEXT. The same seed draws the same texts from the same tree.
"""
import os
import random
import re
import sys

sys.dont_write_bytecode = True

from c_source import COMMENT, LITERAL, files_in, line_of  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRINGS = r'"(?:\\.|[^"\\\n])*"(?:\s*(?:PRI\w+\s*)?"(?:\\.|[^"\\\n])*")*'
# The text is the first literal after the call, perhaps after a condition.
MESSAGE = re.compile(rf"\b(?:message_(?:error|warn|note)|refuse\w*|report\w*)\)?\s*\((?:[^;\"]*?)({STRINGS})|\breturn\s+(?:[^;\"]*?)({STRINGS})\s*[;:]")


def joined(literals):
    """Returns the text of adjacent string literals."""
    return re.sub(r'"\s*(?:PRI\w+\s*)?"', "", literals)[1:-1].replace('\\"', '"').replace("\\n", " ")


def messages(text):
    for match in MESSAGE.finditer(text):
        words = joined(match[1] or match[2])
        if " " in words.strip():
            yield line_of(text, match.start()), words


def comments(text):
    for match in re.finditer(f"{LITERAL}|{COMMENT}", text, re.S):
        if match[0][0] == "/":
            words = " ".join(re.sub(r"(?m)^\s*\*", "", match[0].strip("/*")).split())
            if len(words.split()) > 2:
                yield line_of(text, match.start()), words


def texts_of(root, what):
    folders = ("cli",) if what == "messages" else ("include", "src", "module", "cli", "bench", "examples", "fuzz", "tests")
    for path in files_in(root, folders, (".c", ".h")):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        for line, words in (messages if what == "messages" else comments)(text):
            yield f"{path}:{line}", words


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in ("messages", "comments"):
        sys.exit(__doc__)
    places = {}
    for place, words in texts_of(sys.argv[4] if len(sys.argv) == 5 else ROOT, sys.argv[1]):
        places.setdefault(words, place)
    found = sorted(places)
    number = min(int(sys.argv[2]), len(found))
    for words in random.Random(sys.argv[3]).sample(found, number):
        print(f"{places[words]}: {words}")
    print(f"{number} of {len(found)} {sys.argv[1]}", file=sys.stderr)


if __name__ == "__main__":
    main()
