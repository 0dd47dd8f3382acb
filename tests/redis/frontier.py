"""frontier.py - examples/shared_frontier.c does what its comments promise."""
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from example_support import program, refuses  # noqa: E402
from support import Cluster, Server, eq, main, ok, wait_for  # noqa: E402

PAGES = 4000


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
        """Waits for a successful end. Returns the numbers of its report."""
        _, errors = self.process.communicate(timeout=timeout)
        eq(self.process.returncode, 0, errors.decode())
        return [int(n) for n in re.findall(rb"\d+", errors)]


def crawled(*workers):
    """Returns the pages that the workers have fetched, and the number of repeated fetches."""
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
        ok(fetched > 0, "a worker fetched nothing")
        eq((fetched, taken_over, unsure), (len(worker.pages()), 0, 0))
    eq(sum(new for *_, new, _ in told), PAGES - 1, "each link, except to the first page, was new once")
    with server.client() as c:
        eq([c("LLEN", "{crawl}:frontier"), c("LLEN", "{crawl}:busy")], [0, 0])
    late = Worker(server, 2)
    _, errors = late.process.communicate(timeout=60)
    eq((late.process.returncode, late.pages()), (0, []), "a late worker finds nothing to do")
    ok(b"is over" in errors and b"{crawl}:started" in errors, f"no message about that: {errors}")
    with server.client() as c:
        eq(c("DEL", "crawl", "{crawl}:started", "{crawl}:frontier", "{crawl}:busy"), 2)
    second = Worker(server, 3)
    eq(second.end()[0], PAGES, "without those keys it starts from the first page")


def test_frontier_on_a_cluster():
    """Workers may connect to different nodes."""
    cluster = Cluster(module=False)
    workers = [Worker(node, i) for i, node in enumerate(cluster.masters)]
    for worker in workers:
        worker.end()
    eq(crawled(*workers), (ALL, 0))


def started(server, pages=300):
    """Waits until the crawl has begun."""
    with server.client() as c:
        wait_for(lambda: c("LLEN", "{crawl}:frontier") > pages, what="the crawl to begin")


def test_frontier_worker_dies():
    """Workers die at random moments: no page is lost, and few are fetched twice."""
    server = Server(module=False)
    steady = Worker(server, "steady", "-t", "0.3")
    doomed = []
    started(server)
    for i in range(4):
        victim = Worker(server, i, "-t", "0.3")
        doomed.append(victim)
        wait_for(lambda w=victim: len(w.pages()) > 20 or w.process.poll() is not None,
                 what="the worker to fetch pages")
        victim.process.send_signal(signal.SIGKILL)
        victim.process.wait()
        victim.process.stderr.close()
    steady.end()
    pages, twice = crawled(steady, *doomed)
    eq(pages, ALL)
    ok(twice <= 4 * 25, f"{twice} pages were fetched twice")


def test_frontier_connections_are_cut():
    """No page is lost. Pages that were being fetched are fetched again."""
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
    """Without the filter every link would be new forever, so the worker stops and reports it."""
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
