"""example_support.py - runs the programs of examples/.

They are expected in the folder of BLOOMERY_PROGRAM. Tests of a program that was not built (because
hiredis or SQLite is missing) are skipped.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True

from support import ROOT, Skip, eq, ok  # noqa: E402

FOLDER = os.path.dirname(os.environ.get("BLOOMERY_PROGRAM", f"{ROOT}/build/dev/bin/bloomery"))


def program(name):
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        raise Skip(f"{name} was not built")
    return path


def run(name, *words, timeout=120):
    done = subprocess.run([program(name), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def refuses(name, *words, why):
    code, output, errors = run(name, *words)
    eq((code, output), (2, ""), f"{name} {words}")
    ok(why in errors, f"no '{why}' in: {errors}")
