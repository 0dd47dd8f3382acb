"""proxy.py - a proxy on loopback between a client and a server, which breaks connections on demand.

`plan` says, in order, what happens to each connection. None changes nothing. Cut("up", 100) forwards
100 bytes from the client to the server and then breaks the connection in both directions;
Cut("down", 100) does the same after 100 bytes of the server's replies. Both ends then receive a
reset or, with `quiet`, an end of file. arm() does the same to existing connections. stall() holds
back all bytes without breaking anything, until flow().

With `step`, replies are held back until the client has been silent for `step` seconds, so that it
sends all that it can send without them. Then `turns` is the number of round trips of all
connections: how often the client sent something and waited. With `client`, its process id, replies
are also held back until that process sleeps, so that a process that still has something to send, but
gets no processor, is not mistaken for one that waits.
"""
import selectors
import socket
import struct
import threading
import time

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
CHUNK = 1 << 16


def _has_unread(stream):
    """Returns whether the source has sent bytes that were not read yet."""
    if stream.ended:
        return False
    try:
        return bool(stream.source.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False


class Cut:
    """Breaks a connection after `after` bytes in one direction: "up" is to the server, "down" to the
    client. The other direction goes on working for `delay` seconds."""

    def __init__(self, direction, after, quiet=False, delay=0.0):
        self.direction, self.after, self.quiet, self.delay = direction, after, quiet, delay


class _Stream:
    """One direction of a connection. `waiting` was read from one end and not yet written to the other."""

    def __init__(self, source, sink, limit):
        self.source, self.sink = source, sink
        self.limit = limit  # bytes that it may forward; None: any number
        self.waiting = bytearray()
        self.passed = 0
        self.ended = False

    def read(self):
        """Reads from the source, and returns the number of bytes. Bytes beyond the limit are never
        forwarded."""
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
        self.spoke = 0.0  # when the client last sent something
        self.owed = False  # the client has sent something, and received nothing since

    def close(self, quiet):
        for end in self.ends:
            if not quiet:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()


def _sleeps(process):
    """Returns whether the process sleeps, according to the system."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "S"


class Proxy:
    """Connects its clients with `port`. Runs in its own thread."""

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
        """Stops all forwarding. After it returns, no more bytes pass."""
        self._still.clear()
        self._stalled = True
        self._still.wait()

    def flow(self):
        self._stalled = False

    def bytes(self):
        """Waits until nothing moves, and returns the bytes that have passed up and down."""
        while True:
            before = dict(self.passed)
            time.sleep(0.1)
            if self.passed == before:
                return before["up"], before["down"]

    def arm(self, cut):
        """Breaks all existing connections after this number of further bytes."""
        with self._lock:
            for pair in self._pairs:
                pair.cut = cut
                stream = pair.streams[cut.direction]
                stream.limit = stream.passed + cut.after

    def cut_all(self, quiet=False):
        """Breaks all existing connections now."""
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
        """Reads and writes without blocking, and selects the events that the pair waits for."""
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
                     # It may sleep because its last bytes have not been read yet.
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
