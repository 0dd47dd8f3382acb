"""cli_failures.py - `bloomery check` and `add` while the filter is replaced, deleted or extended, and while the server
dies.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

from cli_support import PROGRAM, address, bloomery, keys, plain, refused, report  # noqa: E402
from clocks import Clock  # noqa: E402
from harness import eq, main, ok, wait_for  # noqa: E402


def test_errors_are_no_answers():
    server = plain()
    at = address(server, "k")
    refused(server, "no such key", "check", at, "-k", "x")
    refused(server, "no such key", "check", "-v", at, "-k", "x")
    refused(server, "no such key", "check", "-c", at, lines=keys(3))
    bloomery(server, "build", "-q", "--shards", "3", "-n", "10000", "-o", at, lines=keys(100))
    with server.client() as c:
        others = [key for key in c.must("KEYS", "*") if key != b"k"]
        c.must("DEL", others[0])
    refused(server, "not", "check", "-v", at, lines=keys(100))
    refused(server, "not", "add", at, lines=keys(100))
    refused(server, "Connection refused", "check", "redis://127.0.0.1:1/k", "-k", "x")
    refused(server, "--on-error", "check", "--on-error", "yes", "file.bly", "-k", "x")
    refused(server, "--verify", "check", "--verify", at, "-k", "x")
    for command in ("info", "add"):
        refused(server, "on server", command, "--gozero", "100", "file.bly")


class Pipe:
    """A check that is fed line by line."""

    def __init__(self, server, *args, **environment):
        self.process = subprocess.Popen([PROGRAM, "check", *args], cwd=server.folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE,
                                        env={**os.environ, **environment})

    def ask(self, line):
        """JSON's verdict on a line."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def end(self, status):
        _, err = self.process.communicate(timeout=60)
        eq(self.process.returncode, status, err.decode())
        return err.decode()


def test_replaced_meanwhile():
    server = plain()
    at = address(server, "k")
    for shards in ("1", "3"):
        bloomery(server, "build", "-q", "-f", "--shards", shards, "-n", "1000", "-o", at,
                 lines=b"old\n")
        stays, follows = Pipe(server, "--json", at), Pipe(server, "--json", "--follow", at)
        for pipe in (stays, follows):
            ok(pipe.ask("old")["match"] and not pipe.ask("new")["match"])
        # What is added is seen at once.
        bloomery(server, "add", "-q", at, "-k", "more")
        for pipe in (stays, follows):
            ok(pipe.ask("more")["match"])
        bloomery(server, "build", "-q", "-f", "--shards", shards, "-n", "1000", "-o", at,
                 lines=b"new\n")
        ok(follows.ask("new")["match"] and not follows.ask("old")["match"])
        ok("was replaced" in follows.end(0))
        stays.say("old")
        err = stays.end(2)
        ok("--follow" in err, err)


def test_follow_finds_new_levels():
    """Who follows a list finds what was added, also blocks of a width that the list had not."""
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "--type", "ip", "-n", "1000", "-o", at, lines=b"10.0.0.0/8\n")
    pipe = Pipe(server, "--json", "--follow", at)
    ok(pipe.ask("10.1.2.3")["match"] and not pipe.ask("192.0.2.9")["match"])
    bloomery(server, "add", "-q", at, lines=b"192.0.2.0/24\n")
    wait_for(lambda: pipe.ask("192.0.2.9")["match"], timeout=10, step=0.2, what="the new block")
    pipe.end(0)


def test_on_error():
    server = plain()
    at = address(server, "k")
    for choice, match in (("yes", True), ("no", False)):
        # None there from the beginning.
        out, err = bloomery(server, "check", "--on-error", choice, at, lines=b"a\nb\n",
                            status=0 if match else 1)
        eq(out, "a\nb\n" if match else "")
        ok("no such key" in err and "no answer about 2 lines" in err, err)
        answer = json.loads(bloomery(server, "check", "--json", "--on-error", choice, at, "-k", "a",
                                     status=0 if match else 1)[0])
        eq(answer, {"line": "a", "match": match, "by": None, "assumed": True})
    out, _ = bloomery(server, "check", "-v", "--on-error", "no", at, lines=b"a\nb\n")
    eq(out, "a\nb\n")
    refused(server, "no such key", "check", "--on-error", "stop", at, "-k", "a")
    # What will not pass is an error all the same.
    with server.client() as c:
        c.must("RPUSH", "row", "x")
    refused(server, "no filter", "check", "--on-error", "yes", address(server, "row"), "-k", "a")
    # It goes away, and comes back.
    bloomery(server, "build", "-q", "-o", at, lines=b"a\n")
    with server.client() as c, Clock() as clock:
        pipe = Pipe(server, "--json", "--on-error", "yes", at, **clock.environment)
        ok(not pipe.ask("b")["match"])
        c.must("DEL", "k")
        answer = pipe.ask("b")
        ok(answer["match"] and answer["assumed"], str(answer))
        bloomery(server, "build", "-q", "-o", at, lines=b"a\n")

        def answered():
            clock.forward(1)  # between two lines, when nothing is under way
            return "assumed" not in pipe.ask("a")
        wait_for(answered, timeout=20, step=0.02, what="an answer")
        ok(not pipe.ask("b")["match"])
    ok("all lines are taken for lines that are in the list" in pipe.end(0))


def test_server_dies():
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-o", at, lines=keys(1000))
    with Clock() as clock:
        pipe = Pipe(server, "--json", "--on-error", "no", at, **clock.environment)
        ok(pipe.ask("key 1")["match"])
        server.kill()
        server.expected_dead = True
        with clock.racing():
            answer = pipe.ask("key 1")
        eq((answer["match"], answer["assumed"]), (False, True))
        pipe.end(0)


def test_server_dies_while_adding():
    """What is in the filter for certain is told apart from what is not known."""
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-n", "100000", "-o", at, lines=b"x\n")
    with Clock() as clock:
        adding = subprocess.Popen([PROGRAM, "add", at], stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**os.environ, **clock.environment})
        adding.stdin.write(keys(40000))
        adding.stdin.flush()
        wait_for(lambda: report(server, "info", at)["count"] > 32000, what="the first batch")
        server.kill()
        server.expected_dead = True
        with clock.racing():
            _, err = adding.communicate(keys(40000, "more"), timeout=60)
    eq(adding.returncode, 2)
    err = err.decode()
    # The first 32,768 keys are sent in pieces, and the last answer may not have come when the server died.
    told = re.search(r"([\d,]+) keys are in it for certain; whether the next ([\d,]+) are is not known", err)
    ok(told, err)
    certain, unknown = (int(number.replace(",", "")) for number in told.groups())
    ok(32000 <= certain <= 32768 <= certain + unknown <= 65536, err)


if __name__ == "__main__":
    main(globals())
