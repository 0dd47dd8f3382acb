#!/usr/bin/env python3
"""report.py RESULTS [--update DOCUMENT]: reports what a run of scripts/test skipped, or how long it took.

RESULTS is the folder that scripts/test writes: NAME.xml and NAME.json by ctest for each build, and stages.txt. Without
--update it lists the tests and cases that did not run, with the reasons. With --update it writes tables of durations into
the document, between the lines <!-- durations --> and <!-- end -->.
"""
import collections
import glob
import json
import os
import re
import sys
import xml.etree.ElementTree as xml

BEGIN, END = "<!-- durations -->\n", "<!-- end -->\n"
LABELS = ("fast", "medium", "server", "slow")
SLOWEST = 20


class Test:
    """One test of one build."""

    def __init__(self, build, case, labels):
        self.build, self.name = build, case.get("name")
        self.seconds = float(case.get("time") or 0)
        self.output = case.findtext("system-out") or ""
        self.ran = case.find("skipped") is None
        self.label = next((label for label in LABELS if label in labels.get(self.name, [])), "-")

    @property
    def folder(self):
        return self.name.split("_")[0]

    def skipped(self):
        """Returns [(case, reason)] of what was skipped; case is None for the whole test."""
        if not self.ran:
            reason = re.search(r"skipped: (.*)", self.output)
            return [(None, reason[1] if reason else "no reason given")]
        of_scripts = re.findall(r"^(\w+): skipped: (.*?)(?: \([0-9.]+ s\))?$", self.output, re.M)
        of_programs = re.findall(r"^\[  SKIPPED \] (\w+)$", self.output, re.M)
        return of_scripts + [(case, "not possible in this build or on this machine") for case in sorted(set(of_programs))]


def read_labels(path):
    """Returns {test: labels}. Only since CMake 3.26 does ctest write them into its XML files."""
    with open(path) as file:
        tests = json.load(file)["tests"]
    return {test["name"]: p["value"] for test in tests for p in test["properties"] if p["name"] == "LABELS"}


def read(results):
    tests = []
    for path in sorted(glob.glob(os.path.join(results, "*.xml"))):
        build = os.path.splitext(os.path.basename(path))[0]
        labels = read_labels(os.path.join(results, build + ".json"))
        tests += [Test(build, case, labels) for case in xml.parse(path).getroot().iter("testcase")]
    return tests


def print_skipped(tests):
    reasons = collections.defaultdict(list)
    for test in tests:
        for case, reason in test.skipped():
            reasons[test.build, test.name, reason].append(case)
    if reasons:
        print("== skipped")
    for (build, name, reason), cases in reasons.items():
        named = "" if cases == [None] else f":{','.join(cases)}"
        print(f"{name}{named}{'' if build == 'dev' else f' ({build})'}: {reason}")


def groups(tests):
    """Yields a row for each folder and label: the number of tests and the sum of their seconds."""
    rows = collections.defaultdict(list)
    for test in tests:
        if test.build == "dev" and test.ran:
            rows[test.folder, test.label].append(test.seconds)
    for (folder, label), seconds in sorted(rows.items(), key=lambda row: -sum(row[1])):
        yield f"| `{folder}_*` | {label} | {len(seconds)} | {sum(seconds):.0f} |"


def tables(results, tests):
    with open(os.path.join(results, "stages.txt")) as file:
        stages = [line.rstrip("\n").split("\t") for line in file]
    yield "| stage of `scripts/test --full` | seconds |\n|---|---|"
    for seconds, name in stages:
        yield f"| {name} | {seconds} |"
    yield f"| together | {sum(int(seconds) for seconds, _ in stages)} |"
    yield "\n| tests | label | number | seconds, added up |\n|---|---|---|---|"
    yield from groups(tests)
    slowest = sorted((t for t in tests if t.build == "dev"), key=lambda t: -t.seconds)[:SLOWEST]
    yield "\n| the slowest | label | seconds |\n|---|---|---|"
    for test in slowest:
        yield f"| `{test.name}` | {test.label} | {test.seconds:.1f} |"


def update(document, text):
    with open(document) as file:
        before, _, rest = file.read().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        sys.exit(f"{document} has no line {BEGIN.strip()} with {END.strip()} below it")
    with open(document, "w") as file:
        file.write(before + BEGIN + text + END + after)


def main():
    arguments = sys.argv[1:]
    if len(arguments) not in (1, 3) or arguments[1:2] not in ([], ["--update"]):
        sys.exit(__doc__)
    tests = read(arguments[0])
    if not tests:
        sys.exit(f"no results in {arguments[0]}; run scripts/test first")
    if len(arguments) == 1:
        print_skipped(tests)
    else:
        update(arguments[2], "\n".join(tables(arguments[0], tests)) + "\n")


if __name__ == "__main__":
    main()
