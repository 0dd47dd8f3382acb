"""Starts a plain server, without the module, and runs redis_plain.c on it.

Usage: redis_plain.py PROGRAM JSON [--quick]. Run by scripts/bench-redis. The connection is a Unix
socket, which has the lowest latency and so favours one key per command.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/module"))

from harness import Server, remove_all  # noqa: E402


def main():
    program, json = sys.argv[1:3]
    size = ["--keys", "300000", "--rounds", "3"] if "--quick" in sys.argv else []
    server = Server(module=False)
    try:
        return subprocess.run([program, "--json", json, *size, f"unix://{server.unix}"],
                              check=False).returncode
    finally:
        remove_all()


sys.exit(main())
