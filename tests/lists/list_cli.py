#!/usr/bin/env python3
"""list_cli.py BLOOMERY LIST_TOOL: the command line agrees with programs that use <bloomery/list.h>.

Both build lists of every type from the same generated lines, and the files must be identical. Then both check other
lines, and must return the same answers, matching entries and reasons.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

BLOOMERY, TOOL = sys.argv[1:3]


def labels(r, n):
    return ".".join("".join(r.choices("abcdEFG019-_", k=r.randint(1, 6))) for _ in range(n))


def line_of(kind, r):
    if r.random() < 0.05:
        return r.choice(["", "  ", "#x", "no such thing!", "1.2.3", "http://", "a@", "..", "\t."])
    if kind == "ip":
        if r.random() < 0.3:
            return f"2001:db8:{r.randrange(64):x}::{r.randrange(4):x}" + r.choice(["", "/128", "/48", "/32"])
        return f"10.{r.randrange(4)}.{r.randrange(64)}.{r.randrange(4)}" + r.choice(["", "", "/32", "/24", "/16"])
    if kind == "phone":
        return r.choice(["+49 ", "0049 (0)", "030 "]) + str(r.randrange(10 ** 4))
    name = labels(r, r.randint(1, 4)) + r.choice([".com", ".EXAMPLE", ".co.uk."])
    if kind == "domain":
        return r.choice(["", "*.", "."]) + name
    if kind == "email":
        return r.choice(["Bob", "eve+x", '"a b"']) + "@" + name
    if kind == "url":
        return r.choice(["http://", "HTTPS://", ""]) + name + r.choice([":80", ""]) + r.choice(["/a/../b", "/%7ex", "/#f"])
    return r.choice(["line ", " ", ""]) + str(r.randrange(10 ** 4)) + r.choice(["", "\r", " "])


def run(*command, text):
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{command}: {done.stderr.decode()}")
    return done.stdout.decode()


def expected(answer):
    if "malformed" in answer:
        return "malformed " + answer["malformed"]
    return "maybe " + answer["by"] if answer["match"] else "no"


def compare(kind, rate, lines, r):
    entries = [line_of(kind, r) for _ in range(lines)]
    text = "".join(line + "\n" for line in entries)
    run(TOOL, "build", kind, rate, "own.bly", text=text)
    run(BLOOMERY, "build", "--quiet", "-f", "--skip-malformed", "--type", kind, "-p", rate, "-o", "cli.bly", text=text)
    with open("own.bly", "rb") as own, open("cli.bly", "rb") as cli:
        if own.read() != cli.read():
            sys.exit(f"{kind} -p {rate}: the files of {lines} lines differ")
    asked = [r.choice(entries) if r.random() < 0.5 else line_of(kind, r) for _ in range(500)]
    text = "".join(line + "\n" for line in asked)
    found = run(TOOL, "check", "own.bly", text=text)[:-1].split("\n")
    answers = run(BLOOMERY, "check", "--json", "cli.bly", text=text)
    wanted = [expected(json.loads(answer)) for answer in answers.splitlines()]
    if len(wanted) != len(asked):
        sys.exit(f"{kind}: {len(wanted)} answers to {len(asked)} lines")
    for line, one, other in zip(asked, found, wanted):
        if one != other:
            sys.exit(f"{kind}: {line!r}: the library answers {one!r}, the command line {other!r}")
    return found


def main():
    r = random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind in ("ip", "phone", "email", "domain", "url", "line"):
            for rate, lines in (("0.5", 40), ("0.01", 300), ("0.001", 3000), ("1e-6", 1000)):
                found = compare(kind, rate, lines, r)
                if not any(a == "no" for a in found) or not any(a.startswith("maybe") for a in found):
                    sys.exit(f"{kind}: the lines do not give both answers")


BLOOMERY, TOOL = map(os.path.abspath, (BLOOMERY, TOOL))
main()
