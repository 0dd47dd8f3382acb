"""cli_support.py - shared by the tests of the program `bloomery` on plain servers.

BLOOMERY_PROGRAM names the program (default: build/dev/bin/bloomery of this repository).
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "module"))

from harness import ROOT, Server, eq, ok  # noqa: E402

PROGRAM = os.environ.get("BLOOMERY_PROGRAM", os.path.join(ROOT, "build/dev/bin/bloomery"))


def plain(*config):
    return Server(*config, module=False)


def bloomery(server, *args, status=0, lines=b"", **environment):
    """Runs the program in the server's folder. Returns its standard output and standard error."""
    done = subprocess.run([PROGRAM, *args], cwd=server.folder, capture_output=True, timeout=120,
                          input=lines, env={**os.environ, **environment})
    out, err = done.stdout.decode(), done.stderr.decode()
    eq(done.returncode, status, f"bloomery {' '.join(args)}: {err}")
    return out, err


def refused(server, words, *args, lines=b"", **environment):
    """Checks that the program fails with these words and prints nothing on standard output."""
    out, err = bloomery(server, *args, status=2, lines=lines, **environment)
    ok(out == "" and words in err, f"bloomery {' '.join(args)}: wanted '{words}', got {out}{err}")


def report(server, *args, **more):
    return json.loads(bloomery(server, *args, "--json", **more)[0])


def keys(count, prefix="key", first=0):
    return "".join(f"{prefix} {i}\n" for i in range(first, first + count)).encode()


def address(server, key, login=""):
    return f"redis://{login}127.0.0.1:{server.port}/{key}"


def contents(server, name):
    with open(server.path(name), "rb") as file:
        return file.read()
