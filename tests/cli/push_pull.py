#!/usr/bin/env python3
"""`bloomery push` and `pull`, against a server of our own that can misbehave.

    push_pull.py PROGRAM

It implements the part of the protocol that the two commands need, stores what is pushed, and fails on
request. tests/module/push_pull.py does the same with real servers.
"""
import contextlib
import json
import os
import pty
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = os.path.abspath(sys.argv[1])
failures = []


def expect(truth, message):
    if not truth:
        failures.append(message)
        print("FAILED: " + message, file=sys.stderr)


class Fault(Exception):
    """Closes the connection."""


class Server:
    """`keys` contains complete filters as bytes, `staging` those that are still arriving."""

    def __init__(self, path=None, password=None):
        self.socket = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self.socket.bind(path or ("127.0.0.1", 0))
        self.socket.listen()
        self.port = None if path else self.socket.getsockname()[1]
        self.keys, self.staging, self.log = {}, {}, []
        self.password, self.stamp = password, 1
        self.before = None  # called with each command; may answer it, or raise
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, rest=""):
        return "redis://127.0.0.1:%d%s" % (self.port, rest)

    def accept(self):
        while True:
            link, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link):
        session = {"in": self.password is None, "db": 0}
        with link, link.makefile("rb") as lines:
            try:
                while head := lines.readline():
                    words = []
                    for _ in range(int(head[1:])):
                        size = int(lines.readline()[1:])
                        words.append(lines.read(size))
                        lines.read(2)
                    link.sendall(encode(self.answer(session, words)))
            except (Fault, OSError):
                pass

    def answer(self, session, words):
        name = words[0].decode().upper()
        self.log.append((name, words[1:]))
        if name == "AUTH":
            session["in"] = words[1:] == self.password
            return "OK" if session["in"] else ValueError("WRONGPASS invalid username-password pair")
        if not session["in"]:
            return ValueError("NOAUTH Authentication required.")
        if name == "SELECT":
            session["db"] = int(words[1])
            return "OK" if session["db"] < 16 else ValueError("ERR DB index is out of range")
        key = (session["db"], words[1])
        if name in ("GETRANGE", "TYPE"):  # the content of a key, which pull requests first
            self.log.pop()
            known = {"GETRANGE": ValueError("WRONGTYPE no string"), "TYPE": "bloomery1"}
            return known[name] if key in self.keys else b""
        special = self.before(name, words) if self.before else None
        if special is not None:
            return special
        return self.load(key, words[2:]) if name == "BLY.LOAD" else self.dump(key, words[2:])

    def load(self, key, words):
        total, offset, data = int(words[0]), int(words[1]), words[2]
        if key in self.keys and b"REPLACE" not in words[3:]:
            return ValueError("ERR the key exists")
        if offset == 0:
            self.staging[key] = b""
        if offset != len(self.staging.get(key, b"")):
            return ValueError("ERR expected offset %d" % len(self.staging.get(key, b"")))
        self.staging[key] += data
        have = len(self.staging[key])
        if have == total:
            self.keys[key] = self.staging.pop(key)
            self.stamp += 1
        return have

    def dump(self, key, words):
        if key not in self.keys:
            return None
        at, count = int(words[0]), int(words[2])
        return [len(self.keys[key]), self.stamp, self.keys[key][at:at + count]]


def encode(value):
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, ValueError):
        return b"-%s\r\n" % str(value).encode()
    if isinstance(value, str):
        return b"+%s\r\n" % value.encode()
    if isinstance(value, bytes):
        return b"$%d\r\n%s\r\n" % (len(value), value)
    return b"*%d\r\n" % len(value) + b"".join(map(encode, value))


def run(*args, status=0, environment=None):
    """Runs the program; returns standard output and standard error."""
    done = subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120, env={**os.environ, **(environment or {})})
    err = done.stderr.decode("utf-8", "replace")
    expect(done.returncode == status, "bloomery %s: status %d: %s" % (
        " ".join(args), done.returncode, err))
    return done.stdout.decode(), err


def fails(words, *args, **more):
    """The program fails, and prints one line, which contains these words."""
    out, err = run(*args, status=2, **more)
    expect(out == "" and words in err and err.count("\n") == 1 and err.startswith("bloomery "),
           "bloomery %s: wanted '%s', got: %s%s" % (" ".join(args), words, out, err))


def read(path):
    with open(path, "rb") as f:
        return f.read()


def build(path, keys, *more):
    build_from("".join("key %d\n" % i for i in range(keys)), path, *more)
    return read(path)


def build_from(lines, path, *more):
    subprocess.run([PROGRAM, "build", "-q", "-f", "-o", path, *more], input=lines.encode(),
                   check=True)


# ---- push ------------------------------------------------------------------------------------

def test_push():
    body = build("a.bly", 20000)
    server = Server()
    out, err = run("push", "a.bly", server.url("/list"), "--chunk-size", "4K")
    expect(server.keys == {(0, b"list"): body}, "what was pushed is not the file")
    expect(out == "" and re.search(r"sent in", err), "push says: " + err)
    sizes = [len(words[3]) for name, words in server.log]
    expect(max(sizes) == 4096 and sum(sizes) == len(body), "pieces of %s" % sizes)
    expect(all(len(words) == 4 for _, words in server.log), "REPLACE without --replace")

    fails("use --replace to replace it", "push", "a.bly", server.url("/list"))
    other = build("b.bly", 500)
    out, err = run("push", "-q", "--replace", "--json", "b.bly", server.url("/list"))
    expect(server.keys == {(0, b"list"): other} and err == "", "--replace: " + err)
    report = json.loads(out)
    expect(report["bytes"] == len(other) and report["chunks"] == 1 and report["resumed_at"] == 0
           and report["key"] == "list" and report["file"] == "b.bly" and report["database"] == 0
           and report["server"] == "127.0.0.1:%d" % server.port, "--json: " + out)

    run("push", "-q", "b.bly", server.url("/7/a%20b%00/c"))
    expect(server.keys.get((7, b"a b\0/c")) == other, "database and key: %s" % list(server.keys))


def test_push_refuses():
    body = build("a.bly", 1000)
    server = Server()
    with open("damaged.bly", "wb") as f:
        f.write(body[:-9] + b"\xff" + body[-8:])
    fails("is damaged", "push", "damaged.bly", server.url("/k"))
    fails("No such file", "push", "missing.bly", server.url("/k"))
    fails("has no key", "push", "a.bly", server.url("/3"))
    fails("has no key; write unix", "push", "a.bly", "unix:///s")
    fails("must begin with", "push", "a.bly", "127.0.0.1:6379/k")
    fails("hexadecimal", "push", "a.bly", "redis://u:secret@h/%")
    fails("a filter file and an address are needed", "push", "a.bly")
    fails("from 1K to 64M", "push", "a.bly", server.url("/k"), "--chunk-size", "1023")
    fails("from 1K to 64M", "push", "a.bly", server.url("/k"), "--chunk-size", "65M")
    fails("tunnel", "push", "a.bly", "rediss://127.0.0.1/k")
    expect(server.log == [], "a bad push asked the server: %s" % server.log)
    fails("refused the database", "push", "a.bly", server.url("/77/k"))
    server.socket.close()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        fails("Connection refused", "push", "a.bly",
              "redis://:pw@127.0.0.1:%d/k" % unused.getsockname()[1])


def test_server_errors():
    build("a.bly", 1000)
    for error, advice in (
            ("WRONGTYPE Operation against a key holding the wrong kind", "use another"),
            ("NOPERM this user has no permissions", "ACL"),
            ("READONLY You can't write against a read only replica.", "master"),
            ("LOADING Redis is loading the dataset in memory", "try again"),
            ("OOM command not allowed when used memory > 'maxmemory'.", "OOM command"),
            ("ERR the filter needs 64 bytes, more than max-filter-bytes", "max-filter-bytes"),
            ("ERR expected offset 64", "another client"),
            ("ERR expected total 64", "leave out --resume"),
            ("ASK 12 127.0.0.1:1", "being moved"),
            ("MOVED 12 ?:1", "MOVED"),
            ("MOVED 12 127.0.0.1", "MOVED")):
        server = Server()
        server.before = lambda name, words, error=error: ValueError(error)
        fails(advice, "push", "a.bly", server.url("/k"))
        fails(advice, "pull", server.url("/k"), "x.bly")
    for nonsense in (3, "OK", [1, 2], b"data", [b"a", 1, b"x"], [1, 1, 1], [64, 1, b"x" * 2000]):
        server = Server()
        server.before = lambda name, words, nonsense=nonsense: nonsense
        fails("unexpected answer", "push", "a.bly", server.url("/k"))
        fails("unexpected answer", "pull", server.url("/k"), "x.bly", "--chunk-size", "1K")
    expect(not os.path.exists("x.bly"), "a failed pull left a file")


def test_no_module():
    """A server without the module that cannot run scripts either. (tests/redis/cli_push_pull.py has ones that can.)"""
    server = Server()
    server.before = lambda name, words: ValueError("ERR unknown command '%s', with args" % name)
    build("a.bly", 1000)
    fails("lacks a command", "push", "-q", "a.bly", server.url("/k"))
    fails("no such key", "pull", server.url("/k"), "x.bly")
    build("a.bly", 1000, "--kind", "cuckoo")
    fails("MODULE LOAD", "push", "a.bly", server.url("/k"))


def test_passwords():
    body = build("a.bly", 300)
    server = Server(password=[b"se:c/ret"])
    fails("NOAUTH", "push", "a.bly", server.url("/k"))
    wrong = server.url("/k").replace("//", "//:wrong@")
    fails("refused the password: WRONGPASS", "push", "a.bly", wrong)
    _, err = run("push", "a.bly", wrong, status=2)
    expect("wrong" not in err.replace("WRONGPASS", ""), "the password is shown: " + err)
    run("push", "-q", "a.bly", server.url("/1/k").replace("//", "//:se%3Ac%2Fret@"))
    run("push", "-q", "a.bly", server.url("/2/k"), environment={"REDISCLI_AUTH": "se:c/ret"})
    run("push", "-q", "a.bly", server.url("/3/k").replace("//", "//:se:c%2Fret@"),
        environment={"REDISCLI_AUTH": "another"})
    expect(sorted(server.keys) == [(db, b"k") for db in (1, 2, 3)], "%s" % sorted(server.keys))
    server = Server(password=[b"me", b"pw"])
    run("push", "-q", "a.bly", server.url("/k").replace("//", "//me:pw@"))
    expect(server.keys == {(0, b"k"): body}, "a user with a password")


def test_sockets():
    body = build("a.bly", 300)
    server = Server(path=os.path.abspath("s"))
    address = "unix://%s?db=2&key=k" % os.path.abspath("s")
    run("push", "-q", "a.bly", address)
    expect(server.keys == {(2, b"k"): body}, "a socket")
    run("pull", "-q", "redis+" + address, "b.bly")
    expect(read("b.bly") == body, "pulled from a socket")


def test_resume():
    body = build("a.bly", 20000)
    server = Server()
    seen = []

    def break_after_five(name, words):
        seen.append(words)
        if len(seen) > 5:
            raise Fault
    server.before = break_after_five
    out, err = run("push", "a.bly", server.url("/k"), "--chunk-size", "2K", status=2)
    expect("10,240 bytes have arrived" in err and "--resume" in err, "a broken push: " + err)
    server.before = None
    server.log.clear()
    out, err = run("push", "-q", "--json", "--resume", "a.bly", server.url("/k"))
    expect(server.keys == {(0, b"k"): body}, "a resumed push")
    expect(json.loads(out)["resumed_at"] == 10240, "resumed: " + out)
    expect([int(words[2]) for _, words in server.log] == [len(body), 10240],
           "asked for: %s" % [words[:3] for _, words in server.log])
    out, err = run("push", "--resume", "a.bly", server.url("/fresh"))
    expect("from the beginning" in err and (0, b"fresh") in server.keys,
           "nothing to resume: " + err)

    server.staging[0, b"mixed"] = b"?" * 2048
    server.before = lambda name, words: ValueError("ERR damaged") \
        if int(words[3]) == 2048 and len(words[4]) else None
    out, err = run("push", "--resume", "a.bly", server.url("/mixed"), status=2)
    expect("ERR damaged" in err and "without --resume" in err, "another file's beginning: " + err)


def test_closed_while_sending():
    """A connection that breaks while data is sent is an ordinary error; SIGPIPE does not end the program."""
    lines = random.Random(1).randbytes(8 * 700000).hex("\n", 8)
    build_from(lines, "a.bly", "-p", "1e-12")
    expect(os.path.getsize("a.bly") > 8 << 20, "the file is too small")
    server = Server()

    def close(name, words):
        raise Fault
    server.before = close
    for _ in range(5):
        fails("127.0.0.1", "push", "a.bly", server.url("/k"), "--chunk-size", "64M")


def test_cluster():
    body = build("a.bly", 3000)
    right, wrong = Server(), Server()
    wrong.before = lambda name, words: ValueError("MOVED 7 127.0.0.1:%d" % right.port)
    out, _ = run("push", "-q", "--json", "a.bly", wrong.url("/k"), "--chunk-size", "1K")
    expect(right.keys == {(0, b"k"): body}, "a key that is elsewhere")
    expect(len(wrong.log) == 1, "asked the wrong server %d times" % len(wrong.log))
    expect(json.loads(out)["server"].endswith(":%d" % right.port), out)
    run("pull", "-q", wrong.url("/k"), "b.bly", "-f")
    expect(read("b.bly") == body, "pulled from elsewhere")
    wrong.before = lambda name, words: ValueError("MOVED 7 :%d" % right.port)
    run("pull", "-q", wrong.url("/k"), "b.bly", "-f")
    right.before = lambda name, words: ValueError("MOVED 7 127.0.0.1:%d" % wrong.port)
    fails("MOVED", "pull", wrong.url("/k"), "c.bly")
    wrong.before = lambda name, words: ValueError("MOVED 7 127.0.0.1:1")
    fails("Connection refused", "pull", wrong.url("/k"), "c.bly")


# ---- pull ------------------------------------------------------------------------------------

def leftovers():
    return [name for name in os.listdir() if name.endswith(".tmp")]


def test_pull():
    server = Server()
    for kind in ("split512", "scalable", "cuckoo", "classic", "counting"):
        body = build("a.bly", 3000, "--kind", kind)
        server.keys[0, b"k"] = body
        server.log.clear()
        out, err = run("pull", "-f", server.url("/k"), "b.bly", "--chunk-size", "1K")
        expect(read("b.bly") == body, "%s: what was pulled is not the filter" % kind)
        expect("fetched in" in err and out == "", "pull says: " + err)
        expect(len(server.log) == -(-len(body) // 1024), "%d questions" % len(server.log))
    fails("already exists; use -f to replace it", "pull", server.url("/k"), "b.bly")
    fails("give a file name", "pull", server.url("/k"), "-")
    fails("no such key", "pull", server.url("/none"), "c.bly")
    fails("No such file", "pull", server.url("/k"), "none/c.bly")
    out, err = run("pull", "-q", "--json", server.url("/k"), "c.bly")
    report = json.loads(out)
    expect(err == "" and report["bytes"] == len(body) and report["tries"] == 1
           and report["key"] == "k" and report["file"] == "c.bly", "--json: " + out + err)
    expect(not leftovers(), "left behind: %s" % leftovers())


def test_changes():
    body = build("a.bly", 20000)
    server = Server()
    server.keys[0, b"k"] = body
    asked = []

    def change(name, words):
        asked.append(int(words[2]))
        if int(words[2]) == 8192 and asked.count(8192) <= most:
            server.stamp += 1
    most = 4
    server.before = change
    out, _ = run("pull", "-q", "--json", server.url("/k"), "b.bly", "--chunk-size", "8K")
    expect(read("b.bly") == body and json.loads(out)["tries"] == 5, "four changes: " + out)
    most = 99
    asked.clear()
    fails("changed during each of 5 attempts", "pull", server.url("/k"), "c.bly",
          "--chunk-size", "8K")
    expect(asked.count(0) == 5, "%d tries" % asked.count(0))
    expect(not os.path.exists("c.bly") and not leftovers(), "a pull that failed left a file")


def test_what_is_no_filter():
    body = build("a.bly", 20000)
    server = Server()

    def sends(first, then):
        server.before = lambda name, words: first if words[2] == b"0" else then
    whole = len(body)
    for first, then, words in (
            ([whole, 1, b"x" * 1024], None, "is not a filter"),
            ([whole + 1, 1, body[:1024]], None, "is not a filter"),
            ([-1, 1, body[:1024]], None, "is not a filter"),
            ([whole, 1, b""], None, "is not a filter"),
            ([whole, 1, body[:63]], None, "is not a filter"),
            ([whole, 1, body[:4] + b"\x02" + body[5:1024]], None, "newer"),
            ([whole, 1, body[:1024]], [whole, 1, b""], "too few"),
            ([whole, 1, body[:1024]], ValueError("ERR no such filter"), "no such filter"),
            ([whole, 1, body[:1024]], [whole, 1, b"x" * 1000], "too many")):
        sends(first, then)
        fails(words, "pull", server.url("/k"), "x.bly", "--chunk-size", "1K")
        expect(not os.path.exists("x.bly") and not leftovers(), words + ": left a file")
    server.before = None
    server.keys[0, b"k"] = body[:-1] + b"\xff"
    fails("could not be verified", "pull", server.url("/k"), "x.bly")
    expect(not os.path.exists("x.bly") and not leftovers(), "a damaged filter left a file")


# ---- both ------------------------------------------------------------------------------------

def test_interrupt():
    """A signal ends push and pull at once, and leaves no incomplete file."""
    body = build("a.bly", 20000)
    server = Server()
    server.keys[0, b"k"] = body
    started = threading.Event()

    def slow(name, words):
        started.set()
        time.sleep(0.2)
    server.before = slow
    for args in (("pull", server.url("/k"), "x.bly"), ("push", "a.bly", server.url("/new"))):
        started.clear()
        child = subprocess.Popen([PROGRAM, *args, "--chunk-size", "1K"], stderr=subprocess.PIPE)
        started.wait(30)
        child.send_signal(signal.SIGINT)
        err = child.communicate(timeout=30)[1].decode()
        expect(child.returncode == -signal.SIGINT, "%s: ended with %d" % (args, child.returncode))
        expect(("--resume" in err) == (args[0] == "push"), "interrupted: " + err)
    expect(not os.path.exists("x.bly") and not leftovers(), "an interrupted pull left a file")


def test_progress():
    body = build("a.bly", 20000)
    server = Server()
    calls = []

    def slow_in_the_middle(name, words):
        calls.append(name)
        if len(calls) == 8:
            time.sleep(0.6)  # progress is shown when half a second has passed
    server.before = slow_in_the_middle
    for args in (("push", "a.bly", server.url("/k")), ("pull", server.url("/k"), "p.bly")):
        calls.clear()
        ours, theirs = pty.openpty()
        child = subprocess.Popen([PROGRAM, *args, "--chunk-size", str(len(body) // 15)],
                                 stderr=theirs, env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # on Linux, the other end is closed
            while chunk := os.read(ours, 65536):
                text += chunk
        os.close(ours)
        expect(child.wait() == 0 and re.search(rb"\d+%  \S+ KiB of \S+ KiB  \S+ KiB/s  .* left",
                                               text), "%s shows no progress: %r" % (args[0], text))


tests = [function for name, function in list(globals().items()) if name.startswith("test_")]
wanted = sys.argv[2:]
for test in tests:
    if wanted and test.__name__ not in wanted:
        continue
    with tempfile.TemporaryDirectory(prefix="bloomery-") as folder:
        os.chdir(folder)
        test()
        os.chdir("/")
print("%d tests, %d failures" % (len(tests), len(failures)))
sys.exit(1 if failures else 0)
