"""examples/cache_guard.c behaves as documented."""
import os
import re
import subprocess

from harness import Server, Skip, eq, main, ok

PROGRAM = os.environ.get("BLOOMERY_CACHE_GUARD", "")


def run(server):
    if not os.path.exists(PROGRAM):
        raise Skip("built without hiredis")
    done = subprocess.run([PROGRAM, str(server.port)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def days(output):
    """[(served, rejected, database reads, let through unchecked)] of the three days."""
    return [tuple(map(int, re.findall(r"(\d+)(?:,|$)", line))) for line in output.splitlines()]


def test_guard():
    code, output, errors = run(Server())
    eq((code, errors), (0, ""))
    without, guarded, evicted = days(output)
    eq([without[0], guarded[0], evicted[0]], [2000, 2000, 2000], "customers are always served")
    eq(without[1:2] + without[3:], (0, 0))
    ok(without[2] >= 18000, "an attack reaches the database")
    ok(guarded[1] > 17900 and guarded[2] < 100 and guarded[3] == 0, f"the guard stops it: {guarded}")
    eq((evicted[1], evicted[3]), (0, 20000), "without its filter it fails open")
    ok(evicted[2] >= 18000, "and the database is read again")


def test_guard_without_module():
    code, _, errors = run(Server(module=False))
    eq(code, 2)
    ok("unknown command" in errors and "bloomery.so" in errors, errors)


if __name__ == "__main__":
    main(globals())
