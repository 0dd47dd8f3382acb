"""dedup_support.py - runs `bloomery dedup --redis` as a process.

BLOOMERY_PROGRAM names the program (default: build/dev/bin/bloomery of this repository).
"""
import collections
import os
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True

from support import ROOT, eq, ok, url, wait_for  # noqa: E402
from servers import _die_with_parent  # noqa: E402

PROGRAM = os.environ.get("BLOOMERY_PROGRAM", os.path.join(ROOT, "build/dev/bin/bloomery"))
SURE = ("-p", "1e-9")  # so low that these few lines have no false positive


def lines(count, prefix="https://example.org/page/"):
    return [f"{prefix}{i}".encode() for i in range(count)]


def joined(items):
    return b"".join(item + b"\n" for item in items)


class Run:
    """A process. Threads read its output all the time. If `data` is not None, another thread writes
    it in pieces of `piece` bytes, with a pause of `pause` seconds after each, and then closes the
    input unless `more` is set. If `data` is None, the test writes the input."""

    def __init__(self, *args, data=None, piece=1 << 16, pause=0.0, more=False, **environment):
        self.process = subprocess.Popen([PROGRAM, "dedup", *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=_die_with_parent,
                                        env={**os.environ, **environment})
        self.out, self.err = bytearray(), bytearray()
        self.threads = [threading.Thread(target=self._read, args=("stdout", self.out)),
                        threading.Thread(target=self._read, args=("stderr", self.err))]
        if data is not None:
            self.threads.append(threading.Thread(target=self._write, args=(data, piece, pause, more)))
        for thread in self.threads:
            thread.daemon = True
            thread.start()

    def _read(self, name, to):
        stream = getattr(self.process, name)
        while data := stream.read1(1 << 16):
            to += data

    def _write(self, data, piece, pause, more):
        try:
            for at in range(0, len(data), piece):
                self.say(data[at:at + piece])
                time.sleep(pause)
            if not more:
                self.process.stdin.close()
        except OSError:
            pass  # the process has ended, and has printed why

    def say(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def say_last(self, data):
        """Waits until the thread has written its data (`more`), writes this and closes the input."""
        self.threads[2].join(60)
        try:
            self.say(data)
            self.process.stdin.close()
        except OSError:
            pass

    def printed(self):
        """Returns the whole lines printed so far."""
        return bytes(self.out).split(b"\n")[:-1]

    def wait(self, condition, what, timeout=30):
        """Waits until the condition holds. Fails if the process ends first."""
        def come():
            ok(condition() or self.process.poll() is None, f"the process ended: {self.err.decode()}")
            return condition()
        wait_for(come, timeout, what)

    def wait_lines(self, count):
        self.wait(lambda: len(self.printed()) > count, f"{count} lines")

    def end(self, status=0, timeout=120):
        """Waits for the end. Returns the lines of standard output, and standard error."""
        if not self.process.stdin.closed and len(self.threads) == 2:
            self.process.stdin.close()
        self.process.wait(timeout)
        for thread in self.threads:
            thread.join(timeout)
        said = self.err.decode()
        if status is not None:
            eq(self.process.returncode, status, said)
        return self.printed(), said


def dedup(server, key, *args, data=b"", status=0, login="", **environment):
    return Run("--redis", url(server, key, login), *args, data=data, **environment).end(status)


def refused(words, *args, data=b"a\n", **environment):
    printed, said = Run(*args, data=data, **environment).end(2)
    ok(not printed and words in said and said.count("\n") == 1, f"wanted '{words}', got {said}")


def once(wanted, *outputs):
    """Checks that the outputs together contain every line exactly once."""
    count = collections.Counter(line for output in outputs for line in output)
    twice = [line for line, n in count.items() if n > 1]
    ok(not twice, f"{len(twice)} lines were printed twice: {twice[:3]}")
    eq(len(wanted - count.keys()), 0, "lines that were not printed")
    eq(len(count.keys() - wanted), 0, "printed lines that were not in the input")
