"""proxy.py - a connection that breaks when a test says so: a proxy on the loopback between a client
and a server.

`plan` says, in order, what happens to each connection: None leaves it alone; Cut("up", 100) passes
100 bytes on from the client to the server and then breaks the connection in both directions,
Cut("down", 100) does the same with bytes of the server's replies. Both ends then get a reset or,
with `quiet`, an end of file. arm() does the same to existing connections. stall() holds all bytes
back without breaking anything, until flow().

With `step`, answers are kept back until the client has been silent for so many seconds: it says all
it can say without them. `turns` then counts how often it spoke and had to wait, of all connections:
round trips. With `client`, the number of its process, answers are kept back until that sleeps, too:
one that has more to say, but no processor, is not taken for one that waits.
"""
import selectors
import socket
import struct
import threading
import time

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
CHUNK = 1 << 16


def _has_unread(stream):
    """Whether the source has sent bytes that were not read yet."""
    if stream.ended:
        return False
    try:
        return bool(stream.source.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False


class Cut:
    """After `after` bytes in one direction: "up" to the server, "down" to the client. With a delay,
    the other direction lives on for so many seconds."""

    def __init__(self, direction, after, quiet=False, delay=0.0):
        self.direction, self.after, self.quiet, self.delay = direction, after, quiet, delay


class _Stream:
    """One direction of a connection: what has been read from one end and not yet written to the
    other."""

    def __init__(self, source, sink, limit):
        self.source, self.sink = source, sink
        self.limit = limit  # bytes it may pass on; None: any number
        self.waiting = bytearray()
        self.passed = 0
        self.ended = False

    def read(self):
        """What the source said; what is beyond the limit is lost. None: nothing more will come."""
        data = self.source.recv(CHUNK)
        if not data:
            self.ended = True
            return 0
        self.waiting += data
        return len(data)

    def write(self):
        room = len(self.waiting) if self.limit is None else self.limit - self.passed
        sent = self.sink.send(self.waiting[:min(room, CHUNK)]) if room and self.waiting else 0
        del self.waiting[:sent]
        self.passed += sent
        return sent

    def at_limit(self):
        return self.limit is not None and self.passed >= self.limit


class _Pair:
    """One connection."""

    def __init__(self, client, server, cut):
        limit = {cut.direction: cut.after} if cut else {}
        self.streams = {"up": _Stream(client, server, limit.get("up")),
                        "down": _Stream(server, client, limit.get("down"))}
        self.ends = (client, server)
        self.cut = cut
        self.full = None  # when the limit was reached
        self.spoke = 0.0  # when the client did last
        self.owed = False  # it spoke, and has been let hear nothing since

    def close(self, quiet):
        for end in self.ends:
            if not quiet:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()


def _sleeps(process):
    """Whether the process is waiting, according to the system."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "S"


class Proxy:
    """Connects its clients with `port`, in its own thread."""

    def __init__(self, port, plan=(), step=0.0, client=None):
        self.target = port
        self.step, self.client = step, client
        self.plan = iter(plan)
        self.turns = self.connections = self.cuts = 0
        self.passed = {"up": 0, "down": 0}
        self._stalled = self._over = False
        self._still = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, READ, None)
        self._pairs = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stall(self):
        """When it returns, nothing passes any more."""
        self._still.clear()
        self._stalled = True
        self._still.wait()

    def flow(self):
        self._stalled = False

    def bytes(self):
        """How many have passed, up and down, when nothing moves any more."""
        while True:
            before = dict(self.passed)
            time.sleep(0.1)
            if self.passed == before:
                return before["up"], before["down"]

    def arm(self, cut):
        """The connections there are: broken after so many more bytes."""
        with self._lock:
            for pair in self._pairs:
                pair.cut = cut
                stream = pair.streams[cut.direction]
                stream.limit = stream.passed + cut.after

    def cut_all(self, quiet=False):
        """Breaks what is connected now."""
        with self._lock:
            for pair in list(self._pairs):
                self.cuts += 1
                self._end(pair, quiet)

    def close(self):
        self._over = True
        self._thread.join()
        self.cut_all()
        self._listener.close()
        self._selector.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _run(self):
        while not self._over:
            if self._stalled:
                self._still.set()
                time.sleep(0.01)
                continue
            for key, _ in self._selector.select(0.02):
                with self._lock:
                    if key.data is None:
                        self._accept()
                    elif key.data in self._pairs:
                        self._serve(key.data)
            with self._lock:
                for pair in list(self._pairs):
                    if pair.full is not None or self.step and pair.streams["down"].waiting:
                        self._serve(pair)

    def _accept(self):
        client, _ = self._listener.accept()
        self.connections += 1
        try:
            server = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            client.close()
            return
        pair = _Pair(client, server, next(self.plan, None))
        self._pairs.add(pair)
        for end in pair.ends:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            end.setblocking(False)
            self._selector.register(end, READ, pair)

    def _serve(self, pair):
        """Reads and writes what can be, and listens for what is still to be done."""
        try:
            for direction, stream in pair.streams.items():
                self._move(pair, direction, stream)
        except OSError:
            self._end(pair, False)
            return
        if pair.full is None and any(s.at_limit() for s in pair.streams.values()):
            pair.full = time.monotonic()
        if pair.full is not None and time.monotonic() >= pair.full + pair.cut.delay:
            self.cuts += 1
            self._end(pair, pair.cut.quiet)
        elif any(s.ended and not s.waiting for s in pair.streams.values()):
            self._end(pair, True)
        else:
            for direction, stream in pair.streams.items():
                wanted = (stream.waiting and not stream.at_limit()
                          and not self._held(pair, direction))
                self._selector.modify(stream.sink, READ | (WRITE if wanted else 0), pair)

    def _held(self, pair, direction):
        return (self.step and direction == "down"
                and (time.monotonic() < pair.spoke + self.step
                     or bool(self.client) and not _sleeps(self.client)
                     # It may sleep because nobody has read what it said last.
                     or _has_unread(pair.streams["up"])))

    def _move(self, pair, direction, stream):
        try:
            if not stream.ended and stream.read() and direction == "up":
                pair.spoke, pair.owed = time.monotonic(), True
        except BlockingIOError:
            pass
        if self._held(pair, direction):
            return
        if direction == "down" and stream.waiting and pair.owed:
            self.turns += 1
            pair.owed = False
        try:
            self.passed[direction] += stream.write()
        except BlockingIOError:
            pass

    def _end(self, pair, quiet):
        self._pairs.discard(pair)
        for end in pair.ends:
            self._selector.unregister(end)
        pair.close(quiet)
