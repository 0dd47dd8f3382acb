"""guard.py - examples/penetration_guard.c does what its comments promise."""
import contextlib
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True

from clocks import Clock  # noqa: E402
from example_support import program, refuses, run  # noqa: E402
from support import Server, eq, main, ok, wait_for  # noqa: E402
from servers import _die_with_parent  # noqa: E402


class Day:
    """One line of the report: the numbers of one day."""

    def __init__(self, line):
        numbers = map(int, re.findall(r" (\d+)", line))
        (self.served, self.rejected, self.hits, self.reads, self.false_positives,
         self.unchecked) = numbers


def test_guard():
    server = Server(module=False)
    code, output, errors = run("penetration_guard", f"redis://127.0.0.1:{server.port}/shop")
    eq((code, errors), (0, ""))
    lines = output.splitlines()
    without, guarded, evicted, reloaded = (Day(lines[i]) for i in (1, 2, 3, 5))
    eq(lines[6], "wrong answers: 0 of 40000")
    for day in (without, guarded, evicted, reloaded):
        eq(day.served, 2000, "customers are always served")
        eq(day.served + day.rejected + (day.reads - (day.served - day.hits)), 10000,
           "every request ends somewhere")
        eq(day.hits, without.hits)
    eq((without.rejected, without.unchecked), (0, 0))
    eq(without.reads, 8000 + 2000 - without.hits, "the whole attack reaches the database")
    for day in (guarded, reloaded):
        eq(day.unchecked, 0)
        ok(day.false_positives < 40, f"8 of 8000 are expected: {day.false_positives}")
        eq(day.rejected, 8000 - day.false_positives)
        eq(day.reads, 2000 - day.hits + day.false_positives)
    eq((evicted.rejected, evicted.unchecked), (0, 10000), "without its filter it fails open")
    eq(evicted.reads, without.reads)
    ok(len(lines[4]) > 10, f"no reason: {lines[4]}")
    with server.client() as c:
        eq(c("EXISTS", "shop"), 0, "it leaves no filter behind")


class Service:
    """A running guard, which the tests share. `clock` is its clock."""

    def __init__(self):
        self.server = Server(module=False, shared=True)
        self.path = self.server.path("guard")
        self.url = f"redis://127.0.0.1:{self.server.port}/shop"
        self.clock = Clock()
        with open(self.path, "wb") as output:
            self.process = subprocess.Popen(
                [program("penetration_guard"), self.url, "600"], stdout=output,
                preexec_fn=_die_with_parent, env={**os.environ, **self.clock.environment})

    def days(self):
        """Returns the days that the program has reported so far. It ends only after a wrong answer."""
        eq(self.process.poll(), None, "the guard ended")
        with open(self.path, encoding="utf-8") as file:
            return [Day(line) for line in re.findall(r"^another day.*\n", file.read(), re.M)]

    def wait(self, condition, what, whole=True):
        """Waits for a day that meets the condition; with `whole`, for one that begins after the call."""
        begun = len(self.days()) + whole
        wait_for(lambda: any(map(condition, self.days()[begun:])), 60, what)

    def check(self):
        for day in self.days():
            eq(day.served, 2000, "customers are always served")
            eq(day.served + day.rejected + (day.reads - (day.served - day.hits)), 10000)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.server.remove()
        self.clock.close()


_services = []  # the running service, if any


@contextlib.contextmanager
def working_guard():
    """A service that protects the database. The next test uses it, too, unless a test fails."""
    if not _services:
        _services.append(Service())
    service = _services[0]
    try:
        service.wait(protected, "the guard to be on", whole=False)
        yield service
        service.check()
    except BaseException:
        _services.clear()
        service.end()
        raise


def protected(day):
    return day.unchecked == 0 and day.rejected > 7900


def test_guard_server_dies():
    """Without a server the guard serves from the database; when the server is back, it protects again."""
    with working_guard() as service:
        service.server.kill()
        service.wait(lambda day: (day.unchecked, day.reads) == (10000, 10000),
                     "days without a server")
        service.server.start()
        service.clock.forward(1)  # it tries a server that was away once per second
        service.wait(protected, "the filter to be back")
        with service.server.client() as c:
            eq(c("UNLINK", "shop"), 1)
            service.wait(protected, "the filter to be back once more")


def test_guard_server_is_silent():
    """Few requests wait for a server that does not answer, and none for long."""
    with working_guard() as service:
        os.kill(service.server.pid, signal.SIGSTOP)
        service.wait(lambda day: (day.unchecked, day.reads) == (10000, 10000),
                     "days without answers")
        os.kill(service.server.pid, signal.SIGCONT)
        service.clock.forward(1)
        service.wait(protected, "answers")


def test_guard_filter_is_replaced():
    """While the filter is replaced, no request is unchecked."""
    with working_guard() as service, service.server.client() as c:
        begun = len(service.days())
        stamps = {c("GETRANGE", "shop", 16, 23)}
        for i in range(3):
            copy = service.server.path(f"copy{i}")
            eq(run("bloomery", "pull", "-q", service.url, copy)[0], 0)
            eq(run("bloomery", "push", "-q", "--replace", copy, service.url)[0], 0)
            stamps.add(c("GETRANGE", "shop", 16, 23))
            service.wait(protected, "a day after the replacement", whole=i == 2)
        eq(len(stamps), 4, "stamps of the filters")
        eq([day.unchecked for day in service.days()[begun:] if day.unchecked > 0], [])


def test_guard_refuses():
    server = Server(module=False)
    refuses("penetration_guard", "http://x/y", why="address")
    refuses("penetration_guard", f"redis://127.0.0.1:{server.port}", why="key")
    refuses("penetration_guard", f"redis://:wrong@127.0.0.1:{server.port}/shop", why="no server")
    port = server.port
    server.remove()
    refuses("penetration_guard", f"redis://127.0.0.1:{port}/shop", why="no server")


def test_guard_key_is_taken():
    server = Server(module=False)
    with server.client() as c:
        c.must("SET", "shop", "something else")
        code, _, errors = run("penetration_guard", f"redis://127.0.0.1:{server.port}/shop")
        eq(code, 2)
        ok("making the filter" in errors, errors)
        eq(c("GET", "shop"), b"something else")


if __name__ == "__main__":
    main(globals())
