"""failures.py - servers that misbehave, and other programs in their place. Whatever they reply or do
not reply, a call ends in time, needs little memory, and returns a reason.

A relay forwards commands to a real server, except for those that the test answers instead.
"""
import sys

sys.dont_write_bytecode = True

import socket  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

from proxy import Proxy  # noqa: E402
from support import Driver, eq, main, ok, plain, refused, url, wait_for, wait_sync  # noqa: E402

SMALL = {"n": 100000, "p": 0.0001}
HASTY = {"command_ms": 300, "connect_ms": 300, "retry_ms": 600}
MB = 1 << 20


def bulk(text):
    return b"$%d\r\n%s\r\n" % (len(text), text)


class Silence:
    """A hook's result: send no reply."""


class HangUp:
    """A hook's result: close the connection."""


class Relay:
    """A relay between a client and a server. hook(command, connection) returns what to do with a
    command. None: forward it. Bytes: the reply. A function: call it with the socket. Or Silence or
    HangUp. Commands are lists of bytes. Connections are numbered from 1."""

    def __init__(self, server, hook):
        self.server, self.hook = server, hook
        self.log = []
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()

    def count(self, name):
        return sum(command[0] == name for command in self.log)

    def _accept(self):
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(link, self.connections),
                             daemon=True).start()

    def _serve(self, link, number):
        try:
            with link, link.makefile("rb") as said, \
                    socket.create_connection(("127.0.0.1", self.server.port)) as other, \
                    other.makefile("rb") as answers:
                for end in (link, other):  # send small replies immediately
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._relay(link, said, other, answers, number)
        except (OSError, ValueError):
            pass  # one side has closed the connection

    def _relay(self, link, said, other, answers, number):
        while True:
            line = said.readline()
            if not line:
                return
            command = [said.read(int(said.readline()[1:]) + 2)[:-2] for _ in range(int(line[1:]))]
            self.log.append(command)
            answer = self.hook(command, number)
            if answer is HangUp:
                return
            if answer is Silence:
                continue
            if callable(answer):
                answer(link)
                continue
            if answer is None:
                other.sendall(b"*%d\r\n" % len(command) + b"".join(map(bulk, command)))
                answer = self._read(answers)
            link.sendall(answer)

    def _read(self, answers):
        line = answers.readline()
        size = int(line[1:]) if line[:1] in (b"$", b"*") else -1
        if line[:1] == b"*":
            return line + b"".join(self._read(answers) for _ in range(size))
        return line + answers.read(size + 2) if size >= 0 else line


def is_add(command):
    return command[0] in (b"EVALSHA", b"EVAL") and len(command) == 6


def to_adds(answer):
    return lambda command, _: answer if is_add(command) else None


def to(name, answer):
    return lambda command, _: answer if command[0] == name else None


def timed(driver, most, *words, **options):
    begin = time.monotonic()
    driver.say(*words, **options)
    answer = driver.hear(most + 10)
    took = time.monotonic() - begin
    ok(took < most, f"{words} took {took:.1f} s")
    return answer


# ---- replicas that do not confirm ---------------------------------------------------------------

def test_wait_without_answer():
    """A server executes an add, but does not reply to WAIT."""
    with plain() as server, Relay(server, to(b"WAIT", Silence)) as relay, Driver() as driver:
        driver.must("create", url(server, "k"), **SMALL)
        driver.must("open", url(relay, "k"), replicas=1, replicas_ms=100, **HASTY)
        refused(timed(driver, 4, "add", "x", 0, 10), "BLY_EIO", "too long")


def test_wait_of_a_server_that_is_demoted():
    said = []

    def hook(command, _):
        if command[0] != b"WAIT":
            return None
        said.append(command)
        return b"-UNBLOCKED instance state changed (master -> replica?)\r\n" if len(said) == 1 \
            else b":1\r\n"
    with plain() as server, Relay(server, hook) as relay, Driver() as driver:
        driver.must("create", url(server, "k"), **SMALL)
        driver.must("open", url(relay, "k"), replicas=1)
        answer = timed(driver, 4, "add", "x", 0, 10)
        eq((answer["status"], answer["unsure"]), ("BLY_OK", 10), answer["why"])
        eq((len(said), relay.connections), (2, 2))


def test_wait_that_does_not_wait():
    """WAIT that returns at once is repeated, but not without pauses. Without replicas, the reason says
    what to do."""
    with plain() as server, Relay(server, to(b"WAIT", b":0\r\n")) as relay, Driver() as driver:
        driver.must("create", url(server, "k"), **SMALL)
        driver.must("open", url(relay, "k"), replicas=1, replicas_ms=400)
        refused(timed(driver, 3, "add", "x", 0, 10), "BLY_EIO", "0 of 1 replicas", "start replicas")
        ok(3 < relay.count(b"WAIT") < 60, f"{relay.count(b'WAIT')} times")


def test_mark_that_is_refused_for_now():
    def hook(command, _):
        return b"-LOADING so it says\r\n" if command[0] == b"EVAL" and b"APPEND" in command[1] \
            else None
    with plain() as server, Relay(server, hook) as relay, Driver() as driver:
        driver.must("create", url(server, "k"), **SMALL)
        driver.must("open", url(relay, "k"), replicas=1, replicas_ms=100, no_retry=1)
        refused(timed(driver, 3, "add", "x", 0, 10), "BLY_EIO", "LOADING")


# ---- answers without end ------------------------------------------------------------------------

def memory(driver):
    with open(f"/proc/{driver.process.pid}/status", encoding="ascii") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["VmPeak"].split()[0]) * 1024


def flood(link):
    link.sendall(b"*1000000\r\n")
    while True:
        link.sendall(b"*3\r\n:1\r\n:1\r\n:1\r\n" * 10000)


def test_arrays_without_end():
    with plain() as server, Driver() as driver:
        driver.must("create", url(server, "k"), **SMALL)
        before = memory(driver)
        for answer in (b"*2147483647\r\n", b"*3\r\n*2000000000\r\n:1\r\n", b"*1048577\r\n", flood):
            with Relay(server, to_adds(answer)) as relay:
                driver.must("open", url(relay, "k"), **HASTY)
                refused(timed(driver, 5, "add", "x", 0, 10), "BLY_EIO", "is too large")
        ok(memory(driver) - before < 200 * MB, f"{(memory(driver) - before) // MB} MB")


def test_drops():
    """For a filter, a reply that arrives byte by byte is not silence. A single command must have its
    whole reply in time."""
    def drop(link):
        for byte in bulk(b"1" * 10):
            link.sendall(bytes([byte]))
            time.sleep(0.08)

    def hook(command, _):
        return drop if is_add(command) or command[0] == b"GET" else None
    with plain() as server, Relay(server, hook) as relay, Driver() as driver:
        driver.must("create", url(server, "k"), **SMALL)
        driver.must("open", url(relay, "k"), command_ms=500)
        answer = timed(driver, 5, "add", "x", 0, 10)
        eq((answer["status"], answer["yes"]), ("BLY_OK", 10), answer["why"])
        ok(answer["seconds"] > 1, "too fast to show anything")
        refused(timed(driver, 1.2, "command", url(relay, "k"), "GET", "k", command_ms=500),
                "BLY_EIO", "too long")
        driver.must("command", url(relay, "k"), "GET", "k", command_ms=5000)


# ---- redirections -------------------------------------------------------------------------------

def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def test_redirections_have_reasons():
    with plain() as server, Driver() as driver:
        driver.must("create", url(server, "k"), **SMALL)
        for word in (b"ASK", b"MOVED"):
            port = closed_port()
            with Relay(server, to_adds(b"-%s 1 127.0.0.1:%d\r\n" % (word, port))) as relay:
                driver.must("open", url(relay, "k"), **HASTY)
                refused(timed(driver, 4, "add", "x", 0, 10), "BLY_EIO", f":{port}", "refused")
            at = []
            with Relay(server, lambda c, _, w=word, a=at: b"-%s 1 127.0.0.1:%d\r\n" % (w, a[0])
                       if is_add(c) else b"+OK\r\n" if c[0] == b"ASKING" else None) as relay:
                at.append(relay.port)
                driver.must("open", url(relay, "k"), **HASTY)
                refused(timed(driver, 4, "add", "x", 0, 10), "BLY_EIO", word.decode())


# ---- the first connection -----------------------------------------------------------------------

def test_first_connection():
    """If no program listens, the error is immediate. A server that does not answer is tried again
    while there is time; one that refuses is not."""
    with plain("requirepass secret") as server, Driver() as driver:
        driver.must("create", url(server, "k", ":secret@"), **SMALL)
        refused(timed(driver, 1, "open", url(closed_port(), "k"), retry_ms=10000), "BLY_EIO",
                "refused")
        refused(timed(driver, 1, "open", "unix:///nowhere?key=k", retry_ms=10000), "BLY_EIO")
        for trouble in (Silence, HangUp, b"-LOADING not yet\r\n"):
            def hook(_, number, trouble=trouble):
                return trouble if number < 3 else None
            with Relay(server, hook) as relay:
                refused(timed(driver, 1, "open", url(relay, "k", ":secret@"), connect_ms=200,
                              no_retry=1), "BLY_EIO")
                answer = timed(driver, 3, "open", url(relay, "k", ":secret@"), connect_ms=200)
                eq((answer["status"], relay.connections), ("BLY_OK", 3), answer["why"])
        with Relay(server, to(b"AUTH", b"-WRONGPASS no\r\n")) as relay:
            refused(timed(driver, 1, "open", url(relay, "k", ":secret@")), "BLY_EREFUSED", "WRONG")
            eq(relay.connections, 1)


# ---- replicas -----------------------------------------------------------------------------------

def test_a_replica_is_not_used():
    """A replica may lack keys that its master has confirmed. When a filter is opened, a replica means
    that the address is wrong. Later the master may have moved, and is searched while there is time."""
    with plain(name="master") as master, Driver() as driver, Driver() as asker, \
            plain(f"replicaof 127.0.0.1 {master.port}", name="replica") as replica:
        driver.must("create", url(master, "k"), **SMALL)
        driver.must("add", "x", 0, 100)
        wait_sync(master, replica)
        for command, more in (("open", {}), ("create", SMALL)):
            refused(timed(asker, 1, command, url(replica, "k"), **more), "BLY_EREFUSED",
                    f":{replica.port} is a replica", f"master, 127.0.0.1:{master.port}")
        asker.must("gozero", url(replica, "z"), bits=1000)
        refused(timed(asker, 1, "add", "x", 0, 1), "BLY_EREFUSED", "is a replica")
        asker.must("open", url(replica, "k"), allow_replica=1)
        eq(asker.must("contains", "x", 0, 100)["yes"], 100)
        with Proxy(master.port) as proxy:
            asker.must("open", url(proxy, "k"), retry_ms=500)
            eq(asker.must("contains", "x", 0, 100)["yes"], 100)
            proxy.target = replica.port
            proxy.cut_all()
            for command in ("contains", "add"):
                answer = timed(asker, 3, command, "x", 0, 200)
                refused(answer, "BLY_EREFUSED", "is a replica")
                eq(answer["unknown"], 200)
            asker.must("close")
            proxy.target = master.port
            asker.must("open", url(proxy, "k"), retry_ms=10000)
            proxy.target = replica.port
            proxy.cut_all()
            asker.say("contains", "x", 0, 100)
            time.sleep(0.3)
            with replica.client() as c:
                c.must("REPLICAOF", "NO", "ONE")
            answer = asker.hear(15)
            eq((answer["status"], answer["yes"]), ("BLY_OK", 100), answer["why"])


def test_a_server_without_a_role():
    """ROLE is forbidden, or a proxy does not know it, or closes the connection after it."""
    for answer in (b"-NOPERM no\r\n", b"-ERR unknown command\r\n", b":1\r\n", b"*0\r\n", b"$-1\r\n",
                   HangUp):
        with plain() as server, Relay(server, to(b"ROLE", answer)) as relay, Driver() as driver:
            driver.must("create", url(relay, "k"), **SMALL)
            eq(driver.must("add", "x", 0, 100)["yes"], 100)
            eq(driver.must("contains", "x", 0, 200)["yes"], 100)


def test_turned_away():
    """If a server sends an error and closes the connection, the error is the reason."""
    def hook(command, _):
        if command[0] != b"ROLE":
            return HangUp
        return b"-DENIED running in protected mode\r\n"
    with plain() as server, Relay(server, hook) as relay, Driver() as driver:
        refused(timed(driver, 2, "open", url(relay, "k")), "BLY_EREFUSED", "protected mode")
        wait_for(lambda: relay.connections == 1, 5, "the connection")


if __name__ == "__main__":
    main(globals())
