"""harness.py - for tests of the module; see also resp.py, servers.py, clusters.py.

A test file has functions test_* and ends with

    if __name__ == "__main__":
        main(globals())

`/usr/bin/python3 FILE.py` runs all of them, or those that are named as arguments.
"""
import os
import shutil
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from resp import (Client, Closed, Error, Map, Push, ReplyError, Set,  # noqa: E402,F401
                  Simple, Verbatim, as_dict, pack, text, to_bytes)
from servers import (MODULE, ROOT, SERVER, Server, ServerFailed, all_servers,  # noqa: E402,F401
                     digests, pair, remove_all, rewrite_aof, wait_for, wait_sync)
from clusters import Cluster, ClusterClient, key_slot  # noqa: E402,F401


class Skip(Exception):
    """Raised by a test that cannot run here; its text is the reason."""


def eq(got, wanted, what=""):
    if got != wanted or type(got) is not type(wanted):
        raise AssertionError(f"{what + ': ' if what else ''}got {_short(got)}, "
                             f"wanted {_short(wanted)}")


def ok(condition, what="condition does not hold"):
    if not condition:
        raise AssertionError(what)


def fails(reply, start):
    """Checks that the reply is an error whose text begins with `start`."""
    if not isinstance(reply, Error) or not reply.text.startswith(start):
        raise AssertionError(f"got {_short(reply)}, wanted an error {start!r}")


def _short(value):
    shown = repr(value)
    return shown if len(shown) < 2000 else shown[:2000] + "..."


def _run(name, test):
    """Runs one test; returns whether it passed."""
    begin = time.monotonic()
    try:
        test()
        for server in all_servers():
            server.check()
        verdict, good = "ok", True
    except Skip as why:
        verdict, good = f"skipped: {why}", True
    except Exception:  # noqa: BLE001 - any exception fails the test
        verdict, good = "FAILED", False
        traceback.print_exc()
        for server in all_servers():
            print(f"---- {server.name}, {server.folder}:\n{server.tail(8)}", file=sys.stderr)
    remove_all(shared=False)
    print(f"{name}: {verdict} ({time.monotonic() - begin:.1f} s)", flush=True)
    return good


def main(names):
    begin = time.monotonic()
    tests = {n: f for n, f in names.items() if n.startswith("test_") and callable(f)}
    wanted = sys.argv[1:] or list(tests)
    unknown = [n for n in wanted if n not in tests]
    if unknown:
        sys.exit(f"no test {unknown[0]}; there are: {' '.join(tests)}")
    if not shutil.which(SERVER):
        sys.exit(f"no server {SERVER}; set BLOOMERY_SERVER")
    failed = [n for n in wanted if not _run(n, tests[n])]
    print(f"{len(wanted) - len(failed)} of {len(wanted)} hold, {time.monotonic() - begin:.1f} s")
    sys.exit(1 if failed else 0)
