"""clocks.py - a clock for programs that wait; the test sets how much time has passed.

BLOOMERY_PRELOAD names the library built from clock.c. If it cannot be loaded, programs use the real
clock, and tests take longer.
"""
import contextlib
import mmap
import os
import struct
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRELOAD = os.environ.get("BLOOMERY_PRELOAD",
                         os.path.join(ROOT, "build/dev/lib/libredis_clock.so"))


class Clock:
    """The monotonic clock of all programs that run with .environment."""

    def __init__(self):
        with tempfile.TemporaryFile() as file:
            file.write(bytes(mmap.PAGESIZE))
            file.flush()
            self._file = os.dup(file.fileno())
        self._memory = mmap.mmap(self._file, mmap.PAGESIZE)
        self._ahead = 0
        self._lock = threading.Lock()
        path = f"/proc/{os.getpid()}/fd/{self._file}"
        self.environment = {}
        # A path in LD_PRELOAD cannot contain a blank or a colon. Then tests take longer.
        if os.path.exists(PRELOAD) and " " not in PRELOAD and ":" not in PRELOAD:
            self.environment = {"LD_PRELOAD": PRELOAD, "BLOOMERY_CLOCK": path}

    def forward(self, seconds):
        """Sets the clock forward. Not while a program waits for an answer of a running server, which
        would then have less time to answer than the test expects."""
        with self._lock:
            self._ahead += int(seconds * 1e9)
            struct.pack_into("=q", self._memory, 0, self._ahead)

    @contextlib.contextmanager
    def racing(self):
        """Makes time pass a hundred times as fast. Only while no server is running."""
        over = threading.Event()

        def race():
            while not over.wait(0.01):
                self.forward(1)
        thread = threading.Thread(target=race, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def close(self):
        self._memory.close()
        os.close(self._file)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
