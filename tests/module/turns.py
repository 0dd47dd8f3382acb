"""No turn of a large window by time holds the server up.

BLOOMERY_WINDOW_MIB sets the size of the window (128). A turn of that in one go takes about 16 ms of
processor time once its pages are in memory, and several times as long before: the bound is 5 ms.
"""
import os
import re
import time

from harness import Server, as_dict, eq, main, ok


def worked(server):
    """Nanoseconds of processor time that the server's main thread has had."""
    with open(f"/proc/{server.pid}/task/{server.pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


def slept(server):
    """How often it has gone to sleep because there was nothing to do."""
    with open(f"/proc/{server.pid}/task/{server.pid}/status", encoding="ascii") as f:
        return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", f.read()).group(1))


def pauses(server, c, seconds):
    """The work, in nanoseconds, that the server did at a time, as seen between each two replies to
    PING. Not the time that passed: other programs have the processor too, and if they kept this one
    waiting, the server may have worked and slept many times in between."""
    works, end = [], time.monotonic() + seconds
    before, sleeps = worked(server), slept(server)
    while time.monotonic() < end:
        c.must("PING")
        now, naps = worked(server), slept(server)
        works.append((now - before) // max(1, naps - sleeps))
        before, sleeps = now, naps
    return works


def test_no_turn_is_a_long_pause():
    """Three slices of a large window, in each of which something is added and then nothing. A turn
    in one go would be a long pause in each; one or two may be the system's own."""
    size = int(os.environ.get("BLOOMERY_WINDOW_MIB", "128")) << 20
    seconds = max(1, size >> 27)  # of a slice: the larger, the longer
    s = Server()
    c = s.client(unix=True)
    c.must("BLY.RESERVE", "w", "KIND", "window", "SPAN", seconds * 8000, "CAPACITY",
           size * 8 // 17, "ERROR", "0.01")
    told = as_dict(c.must("BLY.INFO", "w"))
    ok(told["bytes"] > 0.9 * size, told)
    idle, adds = [], []
    for i in range(3):
        before = worked(s)
        c.must("BLY.ADD", "w", *range(10 * i, 10 * i + 10))
        adds.append(worked(s) - before)
        idle += pauses(s, c, 1.1 * seconds)
    ok(s.rss() > 0.9 * size, "the window was swept")
    eq(c.must("BLY.CHECK", "w", *range(30)), [1] * 30)
    idle.sort(reverse=True)
    adds.sort(reverse=True)
    print(f"  {size >> 20} MiB: {[round(n / 1e6, 1) for n in idle[:4]]} ms at once, adds after a "
          f"slice {[round(n / 1e6, 1) for n in adds]} ms", flush=True)
    ok(idle[2] < 5e6 and adds[1] < 5e6, "a pause of more than 5 ms")


if __name__ == "__main__":
    main(globals())
