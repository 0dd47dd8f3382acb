#!/usr/bin/env python3
"""run_test.py BUILD NAME[:CASE]: builds and runs one test of ctest, or one case of it.

NAME is the test's name, its name without the first word (window for kinds_window, dedup for cli_dedup), its program
(test_window) or the path of its file. CASE is a case of a C program (with wildcards * and ?) or a function test_... of a
server test. Builds only what the test needs.
"""
import glob
import json
import os
import re
import subprocess
import sys


def known_tests(build):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                             capture_output=True).stdout
    tests = {test["name"]: test for test in json.loads(listing)["tests"]}
    programs = None
    for test in tests.values():
        if "command" not in test:  # its program has not been built yet
            programs = programs or unbuilt_programs(build)
            test["command"] = [programs[test["name"]]]
    return tests


def unbuilt_programs(build):
    """Returns {test: program}, from the files that ctest reads."""
    found = {}
    for path in glob.glob(os.path.join(build, "**", "CTestTestfile.cmake"), recursive=True):
        with open(path) as file:
            found.update(re.findall(r'^add_test\((?:\[=*\[)?(\w+)(?:\]=*\])? "([^"]+)"', file.read(), re.M))
    return found


def named(tests, name):
    """Returns the names of the tests that `name` stands for."""
    if name in tests:
        return [name]
    path = os.path.realpath(name)
    stem = os.path.splitext(os.path.basename(path))[0]
    found = [n for n, test in tests.items()
             if path in test["command"] or os.path.basename(test["command"][0]) == stem]
    return found or [n for n in tests if re.fullmatch(r"[a-z]+_" + re.escape(name), n)]


def properties(test):
    return {p["name"]: p["value"] for p in test.get("properties", [])}


def build_for(build, test):
    """Builds the test's program, or the programs that scripts need. Returns whether the test has a program."""
    program = test["command"][0]
    own = program.startswith(os.path.realpath(build) + os.sep)
    target = os.path.basename(program) if own else "tested_programs"
    done = subprocess.run(["cmake", "--build", build, "--target", target, "-j", str(os.cpu_count())],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return own


def run(build, test, case):
    own = build_for(build, test)
    test = known_tests(build)[test["name"]]
    command, settings = list(test["command"]), properties(test)
    environment = dict(os.environ)
    for setting in settings.get("ENVIRONMENT", []):
        key, _, value = setting.partition("=")
        environment[key] = value
    if case and own:
        environment["BLOOMERY_CASE"] = case
    elif case and len(command) == 2 and command[1].endswith(".py"):
        command.append(case)
    elif case:
        sys.exit(f"{test['name']} has no cases")
    done = subprocess.run(command, env=environment, cwd=settings.get("WORKING_DIRECTORY"),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    sys.stdout.buffer.write(done.stdout)
    sys.stdout.flush()
    if case and own and b"Running 0 test" in done.stdout:
        sys.exit(f"no case {case} in {test['name']}")
    return verdict(settings, done)


def verdict(settings, done):
    """Returns passed, failed or skipped, by those rules of ctest that our tests use."""
    def matches(name):
        return any(re.search(pattern.encode(), done.stdout) for pattern in settings.get(name, []))
    if matches("SKIP_REGULAR_EXPRESSION"):
        return "skipped"
    if "PASS_REGULAR_EXPRESSION" in settings:
        return "passed" if matches("PASS_REGULAR_EXPRESSION") else "failed"
    return "failed" if done.returncode else "passed"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, (name, _, case) = sys.argv[1], sys.argv[2].partition(":")
    tests = known_tests(build)
    found = named(tests, name)
    if not found:
        close = [n for n in tests if name in n]
        sys.exit(f"no test {name}" + (f"; did you mean: {' '.join(close)}?" if close else ""))
    if len(found) > 1 and case:
        sys.exit(f"{name} is the name of several tests: {' '.join(found)}")
    verdicts = [run(build, tests[n], case) for n in found]
    skipped = verdicts.count("skipped")
    print(f"{verdicts.count('passed')} passed, {verdicts.count('failed')} failed"
          + (f", {skipped} skipped" if skipped else ""))
    return 1 if "failed" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
