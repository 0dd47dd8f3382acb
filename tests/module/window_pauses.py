"""Advancing a large window by time does not block the server.

BLOOMERY_WINDOW_MIB sets the size of the window (256). Clearing a generation at once takes about
15 ms of processor time if its pages are resident, and several times as long if they are not: the
bound is 5 ms.
"""
import os
import re
import time

from harness import Server, as_dict, eq, main, ok
from windows import timed


def worked(server):
    """Processor time of the server's main thread, in nanoseconds."""
    with open(f"/proc/{server.pid}/task/{server.pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


def slept(server):
    """How often the main thread went to sleep because there was nothing to do."""
    with open(f"/proc/{server.pid}/task/{server.pid}/status", encoding="ascii") as f:
        return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", f.read()).group(1))


def pauses(server, c, seconds):
    """The processor time, in nanoseconds, that the server used between each two replies to PING.
    Not the elapsed time: other programs use the processor too, and while this one waited, the
    server may have worked and slept many times."""
    works, end = [], time.monotonic() + seconds
    before, sleeps = worked(server), slept(server)
    while time.monotonic() < end:
        c.must("PING")
        now, naps = worked(server), slept(server)
        works.append((now - before) // max(1, naps - sleeps))
        before, sleeps = now, naps
    return works


def until(part, slice_ms):
    """Seconds until that part of a slice has passed. Slices begin at multiples of their length."""
    return (part * slice_ms - time.time() * 1000 % slice_ms) % slice_ms / 1000


def test_no_turn_is_a_long_pause():
    """Each slice after one with adds has a generation to clear, from the second such slice on. Five
    adds come early in a slice: clearing three generations at once would be a long pause at the end
    of their slices. Three adds come late: if the timer had left the work to them, each would do
    four fifths of it. The system itself may cause one or two of the pauses, and one of the
    adds'."""
    size = int(os.environ.get("BLOOMERY_WINDOW_MIB", "256")) << 20
    slice_ms = max(500, size >> 19)  # the larger, the longer
    s = Server()
    c = s.client(unix=True)
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", 8 * slice_ms, "CAPACITY",
           size * 8 // 17, "ERROR", "0.01")
    told = as_dict(c.must("BLY.INFO", "w"))
    ok(told["bytes"] > 0.9 * size and told["slice"] == slice_ms, told)
    idle, adds = [], []
    for part in 5 * (0.1,) + 3 * (0.8,):
        idle += pauses(s, c, until(part, slice_ms))
        before = worked(s)
        added, _ = timed(c, ("BLY.ADD", "w", *range(10)))
        adds.append(worked(s) - before)
        idle += pauses(s, c, 0.15 * slice_ms / 1000)  # so that the next is in another slice
    ok(s.rss() > 0.9 * size, "the window was swept")
    now, found = timed(c, ("BLY.CHECK", "w", *range(10)))
    eq(found if now - added < 8 * slice_ms else [1] * 10, [1] * 10)
    idle.sort(reverse=True)
    adds.sort(reverse=True)
    print(f"  {size >> 20} MiB: {[round(n / 1e6, 1) for n in idle[:4]]} ms at once, adds "
          f"{[round(n / 1e6, 1) for n in adds[:4]]} ms", flush=True)
    ok(idle[2] < 5e6 and adds[1] < 5e6, "a pause of more than 5 ms")


if __name__ == "__main__":
    main(globals())
