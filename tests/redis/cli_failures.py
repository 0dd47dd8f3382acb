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
from harness import eq, main, ok, wait_for, wait_sync  # noqa: E402


def test_errors_are_no_answers():
    server = plain()
    at = address(server, "k")
    refused(server, "no such key", "check", at, "-k", "x")
    refused(server, "no such key", "check", "-v", at, "-k", "x")
    refused(server, "no such key", "check", "-c", at, lines=keys(3))
    bloomery(server, "build", "-q", "--shards", "3", "-n", "10000", "-o", at, lines=keys(100))
    refused(server, "redis://127.0.0.1:1/k: verify works only on files", "verify", "--json",
            "redis://:secret@127.0.0.1:1/k")
    with server.client() as c:
        others = [key for key in c.must("KEYS", "*") if key != b"k"]
        c.must("DEL", others[0])
    refused(server, "missing", "check", "-v", at, lines=keys(100))
    refused(server, "missing", "add", at, lines=keys(100))
    refused(server, "Connection refused", "check", "redis://127.0.0.1:1/k", "-k", "x")
    refused(server, "--on-error", "check", "--on-error", "yes", "file.bly", "-k", "x")
    refused(server, "--verify", "check", "--verify", at, "-k", "x")
    for command in ("info", "add"):
        refused(server, "on server", command, "--gozero", "100", "file.bly")


class Pipe:
    """A `bloomery check` whose input the test writes line by line."""

    def __init__(self, server, *args, **environment):
        self.process = subprocess.Popen([PROGRAM, "check", *args], cwd=server.folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE,
                                        env={**os.environ, **environment})

    def ask(self, line):
        """Writes a line and returns the answer, an object of --json."""
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
        # An added key is found immediately.
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
    """--follow finds added keys, also address blocks of a width that the list did not have."""
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "--type", "ip", "-n", "1000", "-o", at, lines=b"10.0.0.0/8\n")
    pipe = Pipe(server, "--json", "--follow", at)
    ok(pipe.ask("10.1.2.3")["match"] and not pipe.ask("192.0.2.9")["match"])
    bloomery(server, "add", "-q", at, lines=b"192.0.2.0/24\n")
    wait_for(lambda: pipe.ask("192.0.2.9")["match"], timeout=10, step=0.2, what="the new block")
    pipe.end(0)


def test_follow_finds_new_type():
    """A list of another type replaces the list: lines that the old type could not read are found."""
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "--type", "ip", "-n", "1000", "-o", at, lines=b"10.0.0.0/8\n")
    pipe = Pipe(server, "--json", "--follow", at)
    ok(pipe.ask("10.1.2.3")["match"] and not pipe.ask("foo")["match"])
    bloomery(server, "build", "-q", "-f", "-n", "1000", "-o", at, lines=b"foo\n")
    wait_for(lambda: pipe.ask("foo")["match"], timeout=10, step=0.2, what="the new list")
    ok(not pipe.ask("10.1.2.3")["match"])
    bloomery(server, "build", "-q", "-f", "--type", "domain", "-n", "1000", "-o", at, lines=b"example.org\n")
    # A line that the old type can also read finds the new list immediately.
    ok(pipe.ask("a.example.org")["match"])
    err = pipe.end(0)
    eq(err.count("was replaced"), 2, err)


def test_on_error():
    server = plain()
    at = address(server, "k")
    for choice, match in (("yes", True), ("no", False)):
        # The filter is missing from the beginning.
        out, err = bloomery(server, "check", "--on-error", choice, at, lines=b"a\nb\n",
                            status=0 if match else 1)
        eq(out, "a\nb\n" if match else "")
        ok("no such key" in err and "no answer for 2 lines" in err, err)
        answer = json.loads(bloomery(server, "check", "--json", "--on-error", choice, at, "-k", "a",
                                     status=0 if match else 1)[0])
        eq(answer, {"line": "a", "match": match, "by": None, "assumed": True})
    out, _ = bloomery(server, "check", "-v", "--on-error", "no", at, lines=b"a\nb\n")
    eq(out, "a\nb\n")
    refused(server, "no such key", "check", "--on-error", "stop", at, "-k", "a")
    # A permanent error is still an error.
    with server.client() as c:
        c.must("RPUSH", "row", "x")
    refused(server, "not a filter", "check", "--on-error", "yes", address(server, "row"), "-k", "a")
    # The filter disappears and comes back.
    bloomery(server, "build", "-q", "-o", at, lines=b"a\n")
    with server.client() as c, Clock() as clock:
        pipe = Pipe(server, "--json", "--on-error", "yes", at, **clock.environment)
        ok(not pipe.ask("b")["match"])
        c.must("DEL", "k")
        answer = pipe.ask("b")
        ok(answer["match"] and answer["assumed"], str(answer))
        bloomery(server, "build", "-q", "-o", at, lines=b"a\n")

        def answered():
            clock.forward(1)  # between two lines, when no request is pending
            return "assumed" not in pipe.ask("a")
        wait_for(answered, timeout=20, step=0.02, what="an answer")
        ok(not pipe.ask("b")["match"])
    ok("all lines are treated as in the list" in pipe.end(0))


def test_comes_back_as_another_type():
    """Lines that only the new type can read are found, although the old one has no key to look up for them."""
    server = plain()
    for name, more in (("stays", ()), ("follows", ("--follow",))):
        at = address(server, name)
        bloomery(server, "build", "-q", "--type", "ip", "-n", "1000", "-o", at, lines=b"10.0.0.0/8\n")
        with server.client() as c, Clock() as clock:
            pipe = Pipe(server, "--json", "--on-error", "no", *more, at, **clock.environment)
            ok(pipe.ask("10.1.2.3")["match"] and "malformed" in pipe.ask("a.example.org"))
            c.must("DEL", name)
            with clock.racing():  # --follow waits before it gives up
                ok(pipe.ask("10.1.2.3")["assumed"])
            bloomery(server, "build", "-q", "--type", "domain", "-n", "1000", "-o", at, lines=b"example.org\n")

            def found():
                clock.forward(1)
                return pipe.ask("a.example.org")["match"]
            wait_for(found, timeout=20, step=0.02, what="the list of domains")
            pipe.end(0)


def test_something_else_takes_its_place():
    """If something else replaces the filter, that is not a temporary failure: --on-error does not apply."""
    server = plain()
    with server.client() as c, Clock() as clock:
        for fallback in ("yes", "no"):
            def overwritten(name, shards, replace, words, away_first=False, fallback=fallback):
                at = address(server, name)
                bloomery(server, "build", "-q", "-f", "--shards", shards, "-n", "9000", "-o", at, lines=b"x\n")
                pipe = Pipe(server, "--json", "--on-error", fallback, at, **clock.environment)
                ok(pipe.ask("x")["match"])
                if away_first:
                    c.must("DEL", name)
                    ok(pipe.ask("x")["assumed"])
                    clock.forward(6)
                replace(name)
                for line in keys(100).decode().split("\n")[:-1]:
                    try:
                        pipe.say(line)
                    except BrokenPipeError:
                        break
                err = pipe.end(2)
                ok(words in err, err)

            def become_list(key):
                c.must("DEL", key)
                c.must("RPUSH", key, "x")

            def become_text(key):
                c.must("SET", key, "junk")

            def parts_become_lists(name):
                for part in [key for key in c.must("KEYS", f"*{name}*") if key != name.encode()]:
                    become_list(part)

            overwritten("row", "1", become_list, "the key is not a string")
            overwritten("row2", "1", become_list, "is not a filter", away_first=True)
            overwritten("text", "1", become_text, "")
            overwritten("parts", "3", parts_become_lists, "the key is not a string")
            refused(server, "the key is not a string", "check", "--on-error", fallback, "--gozero", "64",
                    address(server, "row"), "-k", "x")
            c.must("FLUSHALL")


def test_blank_lines_while_it_is_away():
    """A state of dedup may contain blank lines, so a blank line is not certainly absent."""
    server, at = plain(), "redis://127.0.0.1:1/k"
    answer = json.loads(bloomery(server, "check", "--json", "--on-error", "yes", at, lines=b"\n")[0])
    ok(answer["match"] and answer["assumed"], str(answer))
    bloomery(server, "check", "-v", "--on-error", "yes", at, lines=b"\n", status=1)


def test_one_of_several_lists_is_away():
    """The other lists answer; for each line, the lists without an answer are named."""
    server = plain()
    at, gone = address(server, "k"), address(server, "gone")
    bloomery(server, "build", "-q", "--type", "ip", "-o", "file.bly", lines=b"192.0.2.0/24\n")
    bloomery(server, "build", "-q", "--type", "domain", "-o", at, lines=b"example.org\n")
    lines, lists = b"192.0.2.1\na.example.org\nb.example\n", ("-l", "file.bly", "-l", at)
    out, err = bloomery(server, "check", *lists, lines=lines)
    eq((out, err), (f"file.bly:192.0.2.1\n{at}:a.example.org\n", ""))
    refused(server, "no such key", "check", *lists, "-l", gone, lines=lines)
    out, err = bloomery(server, "check", *lists, "-l", gone, "--on-error", "no", lines=lines)
    eq(out, f"file.bly:192.0.2.1\n{at}:a.example.org\n")
    ok(f"{gone}: no answer for 3 lines" in err and f"{at}: no" not in err, err)
    out, _ = bloomery(server, "check", *lists, "-l", gone, "--on-error", "yes", lines=lines)
    eq(out, f"file.bly,{gone}:192.0.2.1\n{at},{gone}:a.example.org\n{gone}:b.example\n")
    out, _ = bloomery(server, "check", "--json", *lists, "-l", gone, "--on-error", "yes", "-k", "192.0.2.1")
    eq(json.loads(out), {"line": "192.0.2.1", "match": True, "unanswered": [gone],
                         "lists": [{"list": "file.bly", "by": "192.0.2.0/24"}, {"list": gone, "by": None}]})
    out, _ = bloomery(server, "check", "--json", *lists, "-l", gone, "--on-error", "no", "-k", "b.example", status=1)
    eq(json.loads(out), {"line": "b.example", "match": False, "unanswered": [gone], "lists": []})
    # The secret key is used for keyed lists only, also after a list was replaced.
    bloomery(server, "build", "-q", "--new-key", "secret", "-o", address(server, "keyed"), lines=b"x\n")
    keyed = (*lists, "-l", address(server, "keyed"), "--key-file", "secret")
    eq(bloomery(server, "check", *keyed, "--list-names=never", lines=lines + b"x\n")[0],
       "192.0.2.1\na.example.org\nx\n")
    pipe = Pipe(server, "--json", "--follow", *keyed)
    ok(pipe.ask("a.example.org")["match"])
    bloomery(server, "build", "-q", "-f", "--key-file", "secret", "--type", "domain", "-o", at,
             lines=b"example.net\n")
    ok(pipe.ask("a.example.net")["match"])
    bloomery(server, "build", "-q", "-f", "--type", "domain", "-o", at, lines=b"example.com\n")
    answer = pipe.ask("a.example.com")
    eq(answer["lists"], [{"list": at, "by": "example.com"}])
    ok(pipe.ask("192.0.2.77")["match"] and pipe.ask("x")["match"] and not pipe.ask("a.example.net")["match"])
    ok("was replaced" in pipe.end(0))


def test_replica():
    """A replica is refused with a message that names --allow-replica; with the option, it answers. It may also be one of
    several lists."""
    master = plain()
    replica = plain(f"replicaof 127.0.0.1 {master.port}")
    at = address(replica, "k")
    bloomery(master, "build", "-q", "-p", "1e-6", "-o", address(master, "k"), lines=keys(1000))
    bloomery(replica, "build", "-q", "-o", "file.bly", lines=b"other\n")
    wait_sync(master, replica)
    for more in ((), ("--on-error", "stop"), ("--follow",)):
        refused(replica, f"is a replica; name its master, 127.0.0.1:{master.port}, or use --allow-replica",
                "check", *more, at, lines=keys(10))
    eq(bloomery(replica, "check", "-c", "--allow-replica", at, lines=keys(2000))[0], "1000\n")
    eq(bloomery(replica, "check", "--allow-replica", "-l", "file.bly", "-l", at, lines=b"other\nkey 7\n")[0],
       f"file.bly:other\n{at}:key 7\n")
    pipe = Pipe(replica, "--json", "--allow-replica", "--follow", at)
    ok(pipe.ask("key 1")["match"] and not pipe.ask("added")["match"])
    bloomery(master, "add", "-q", address(master, "k"), "-k", "added")
    wait_sync(master, replica)
    ok(pipe.ask("added")["match"])
    bloomery(master, "build", "-q", "-f", "-o", address(master, "k"), lines=b"new\n")
    wait_sync(master, replica)
    ok(pipe.ask("new")["match"])
    ok("was replaced" in pipe.end(0))
    refused(replica, "--allow-replica needs a list on a server", "check", "--allow-replica", "file.bly", lines=b"x\n")
    # The same for info and pull.
    at = address(replica, "other")
    bloomery(master, "build", "-q", "-o", address(master, "other"), lines=keys(1000))
    bloomery(master, "add", "-q", "--gozero", "10000", address(master, "gz"), lines=keys(100))
    wait_sync(master, replica)
    for command, *more in (("info",), ("pull", "copy.bly")):
        refused(replica, f"is a replica; name its master, 127.0.0.1:{master.port}, or use --allow-replica", command, at, *more)
    eq(report(replica, "info", "--allow-replica", at)["capacity"], 1000)
    ok(report(replica, "info", "--allow-replica", "--gozero", "10000", address(replica, "gz"))["estimated_keys"] > 90)
    out, _ = bloomery(replica, "info", "--json", "--allow-replica", at, "file.bly")
    eq(len(out.split("\n")), 3)
    bloomery(replica, "pull", "-q", "--allow-replica", at, "copy.bly")
    eq(bloomery(replica, "check", "-c", "copy.bly", lines=keys(1000))[0], "1000\n")
    refused(replica, "--allow-replica needs a list on a server", "info", "--allow-replica", "file.bly")
    # Commands that change the filter have no such option.
    _, err = bloomery(replica, "add", at, "-k", "x", status=2)
    ok("is a replica" in err and "--allow-replica" not in err, err)


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
    """The message has two numbers: keys that were certainly added, and keys for which this is unknown."""
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-n", "100000", "-o", at, lines=b"x\n")
    with Clock() as clock:
        adding = subprocess.Popen([PROGRAM, "add", at], stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**os.environ, **clock.environment})
        adding.stdin.write(keys(40000))
        adding.stdin.flush()
        wait_for(lambda: report(server, "info", at)["count"] > 32000, what="the first batch")
        report(server, "info", at)  # a server answers it after it has sent all answers of earlier rounds
        server.kill()
        server.expected_dead = True
        with clock.racing():
            _, err = adding.communicate(keys(40000, "more"), timeout=60)
    eq(adding.returncode, 2)
    err = err.decode()
    # The first 32,768 keys were answered; the others were sent to a dead server.
    told = re.search(r"([\d,]+) keys were added; it is unknown whether ([\d,]+) more were added", err)
    ok(told, err)
    certain, unknown = (int(number.replace(",", "")) for number in told.groups())
    ok(32000 <= certain <= 32768 <= certain + unknown <= 65536, err)


if __name__ == "__main__":
    main(globals())
