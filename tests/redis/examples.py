"""examples/penetration_guard.c and examples/shared_frontier.c do what they say of themselves.

They are looked for beside BLOOMERY_PROGRAM; one that was not built (no hiredis, no SQLite) is
skipped.
"""
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../module"))

from harness import ROOT, Cluster, Server, Skip, eq, main, ok, wait_for  # noqa: E402

FOLDER = os.path.dirname(os.environ.get("BLOOMERY_PROGRAM", f"{ROOT}/build/dev/bin/bloomery"))
PAGES = 4000


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


# ---- the guard ----------------------------------------------------------------------------------

class Day:
    """A line of the report."""

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
    """The guard at work, for longer than the test takes."""

    def __init__(self, server):
        self.path = server.path("guard")
        with open(self.path, "wb") as output:
            self.process = subprocess.Popen(
                [program("penetration_guard"), f"redis://127.0.0.1:{server.port}/shop", "600"],
                stdout=output)

    def days(self):
        """Of those whose end nobody knows beforehand. It ends when an answer is wrong."""
        eq(self.process.poll(), None, "it goes on, whatever becomes of its server")
        with open(self.path, encoding="utf-8") as file:
            return [Day(line) for line in re.findall(r"^another day.*\n", file.read(), re.M)]

    def wait(self, condition, what):
        """For a whole day from now on of which that holds."""
        begun = len(self.days()) + 1
        wait_for(lambda: any(map(condition, self.days()[begun:])), 60, what)

    def end(self):
        for day in self.days():
            eq(day.served, 2000, "customers are always served")
            eq(day.served + day.rejected + (day.reads - (day.served - day.hits)), 10000)
        self.process.kill()
        self.process.wait()


def protected(day):
    return day.unchecked == 0 and day.rejected > 7900


def test_guard_server_dies():
    """It serves from the database, and is a guard again when there is a server again."""
    server = Server(module=False)
    service = Service(server)
    service.wait(protected, "the guard to be on")
    server.kill()
    service.wait(lambda day: (day.unchecked, day.reads) == (10000, 10000), "days without a server")
    server.start()
    service.wait(protected, "the filter to be back")
    with server.client() as c:
        eq(c("UNLINK", "shop"), 1)
        service.wait(protected, "the filter to be back once more")
    service.end()


def test_guard_server_is_silent():
    """Few requests wait for it, none for long."""
    server = Server(module=False)
    service = Service(server)
    service.wait(protected, "the guard to be on")
    os.kill(server.pid, signal.SIGSTOP)
    service.wait(lambda day: (day.unchecked, day.reads) == (10000, 10000), "days without answers")
    os.kill(server.pid, signal.SIGCONT)
    service.wait(protected, "answers")
    service.end()


def test_guard_filter_is_replaced():
    """Not one request goes unchecked."""
    server = Server(module=False)
    service = Service(server)
    url = f"redis://127.0.0.1:{server.port}/shop"
    service.wait(protected, "the guard to be on")
    begun = len(service.days())
    with server.client() as c:
        stamps = {c("GETRANGE", "shop", 16, 23)}
        for i in range(3):
            copy = server.path(f"copy{i}")
            eq(run("bloomery", "pull", "-q", url, copy)[0], 0)
            eq(run("bloomery", "push", "-q", "--replace", copy, url)[0], 0)
            stamps.add(c("GETRANGE", "shop", 16, 23))
            service.wait(protected, "the next day")
        eq(len(stamps), 4, "it was another filter each time")
    eq([day.unchecked for day in service.days()[begun:] if day.unchecked > 0], [])
    service.end()


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


# ---- the frontier -------------------------------------------------------------------------------

class Worker:
    """A process that takes part in a crawl; its output goes to a file."""

    def __init__(self, server, number, *words, key="crawl"):
        self.path = server.path(f"worker{number}")
        with open(self.path, "wb") as output:
            self.process = subprocess.Popen(
                [program("shared_frontier"), "-n", str(PAGES), *words,
                 f"redis://127.0.0.1:{server.port}/{key}"], stdout=output, stderr=subprocess.PIPE)

    def pages(self):
        with open(self.path, encoding="ascii") as file:
            return re.findall(r"https://site.test/page/(\d+)\n", file.read())

    def end(self, timeout=120):
        """It must end well: what it has to say of itself, as numbers."""
        _, errors = self.process.communicate(timeout=timeout)
        eq(self.process.returncode, 0, errors.decode())
        return [int(n) for n in re.findall(rb"\d+", errors)]


def crawled(*workers):
    """The pages that all of them have fetched; how many of those more than once."""
    pages = [page for worker in workers for page in worker.pages()]
    return set(pages), len(pages) - len(set(pages))


ALL = {str(page) for page in range(PAGES)}


def test_frontier():
    server = Server(module=False)
    workers = [Worker(server, i) for i in range(2)]
    told = [worker.end() for worker in workers]
    pages, twice = crawled(*workers)
    eq((pages, twice), (ALL, 0), "every page exactly once")
    for (fetched, taken_over, _, _, unsure), worker in zip(told, workers):
        ok(fetched > 0, "both have worked")
        eq((fetched, taken_over, unsure), (len(worker.pages()), 0, 0))
    eq(sum(new for *_, new, _ in told), PAGES - 1, "each link but the first page was new once")
    with server.client() as c:
        eq([c("LLEN", "{crawl}:frontier"), c("LLEN", "{crawl}:busy")], [0, 0])
    late = Worker(server, 2)
    _, errors = late.process.communicate(timeout=60)
    eq((late.process.returncode, late.pages()), (0, []), "who comes late finds nothing to do")
    ok(b"is over" in errors and b"{crawl}:started" in errors, f"and is told so: {errors}")
    with server.client() as c:
        eq(c("DEL", "crawl", "{crawl}:started", "{crawl}:frontier", "{crawl}:busy"), 2)
    anew = Worker(server, 3)
    eq(anew.end()[0], PAGES, "without those keys it begins anew")


def test_frontier_on_a_cluster():
    """Whichever node they are told of."""
    cluster = Cluster(module=False)
    workers = [Worker(node, i) for i, node in enumerate(cluster.masters)]
    for worker in workers:
        worker.end()
    eq(crawled(*workers), (ALL, 0))


def started(server, pages=300):
    """Until the crawl is under way."""
    with server.client() as c:
        wait_for(lambda: c("LLEN", "{crawl}:frontier") > pages, what="the crawl to begin")


def test_frontier_worker_dies():
    """At a random moment, over and over: nothing is lost, and little is done twice."""
    server = Server(module=False)
    steady = Worker(server, "steady", "-t", "1")
    doomed = []
    started(server)
    for i in range(4):
        victim = Worker(server, i, "-t", "1")
        doomed.append(victim)
        wait_for(lambda w=victim: len(w.pages()) > 20 or w.process.poll() is not None,
                 what="it to work")
        victim.process.send_signal(signal.SIGKILL)
        victim.process.wait()
        victim.process.stderr.close()
    steady.end()
    pages, twice = crawled(steady, *doomed)
    eq(pages, ALL)
    ok(twice <= 4 * 25, f"{twice} pages were fetched twice")


def test_frontier_connections_are_cut():
    """Nothing is lost. What was under way is done again."""
    server = Server(module=False)
    workers = [Worker(server, i, "-t", "1") for i in range(2)]
    started(server, 50)
    with server.client() as c:
        for _ in range(8):
            c.must("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            time.sleep(0.05)
    for worker in workers:
        worker.end()
    pages, twice = crawled(*workers)
    eq(pages, ALL)
    ok(twice <= 8 * 2 * 30, f"{twice} pages were fetched twice")


def test_frontier_filter_is_gone():
    """Then every link would be new, for ever: it stops, and says so."""
    server = Server(module=False)
    worker = Worker(server, 0)
    started(server)
    with server.client() as c:
        c.must("UNLINK", "crawl")
    _, errors = worker.process.communicate(timeout=60)
    eq(worker.process.returncode, 2)
    ok(b"the filter" in errors, errors.decode())


def test_frontier_refuses():
    for words in (["-n", "0"], ["-n", "x"], ["-t", "0"], ["-x"], ["redis://a/b", "redis://a/b"]):
        refuses("shared_frontier", *words, why="usage")
    refuses("shared_frontier", "redis://127.0.0.1", why="key")
    refuses("shared_frontier", "redis://127.0.0.1/" + "k" * 240, why="too long")


if __name__ == "__main__":
    main(globals())
