"""resp.py - a client of Redis's protocol, RESP2 and RESP3, that preserves the type of every reply.

Bulk strings are bytes, simple strings Simple, errors Error (returned, not raised, since an array
may contain an error), integers int, nulls None. Booleans, doubles, maps (pairs in order), sets and
pushes exist only in RESP3.
"""
import select
import socket


class Simple(str):
    """A simple string: +OK."""


class Verbatim(bytes):
    """RESP3's verbatim string, without its format word."""


class Error:
    """An error reply; .text is all of it, .code its first word."""

    def __init__(self, text):
        self.text = text

    @property
    def code(self):
        return self.text.split(" ", 1)[0]

    def __eq__(self, other):
        return isinstance(other, Error) and other.text == self.text

    def __hash__(self):
        return hash(self.text)

    def __repr__(self):
        return f"Error({self.text!r})"


class Map(list):
    """RESP3's map: a list of pairs, in the order they came."""

    def dict(self):
        return dict(self)


class Set(list):
    """RESP3's set."""


class Push(list):
    """A message that is not a reply: from a subscription or tracking."""


class ReplyError(Exception):
    """Raised by must() for an error reply."""


class Closed(ConnectionError):
    """The server closed the connection."""


def to_bytes(arg):
    if isinstance(arg, bytes):
        return arg
    if isinstance(arg, (bytearray, memoryview)):
        return bytes(arg)
    if isinstance(arg, str):
        return arg.encode()
    if isinstance(arg, float):
        return repr(arg).encode()
    if isinstance(arg, int) and not isinstance(arg, bool):
        return b"%d" % arg
    raise TypeError(f"cannot send {arg!r}")


def pack(args):
    """A command in the protocol's form."""
    out = [b"*%d\r\n" % len(args)]
    for arg in args:
        data = to_bytes(arg)
        out += (b"$%d\r\n" % len(data), data, b"\r\n")
    return b"".join(out)


def as_dict(reply):
    """The contents of a map in either protocol: a Map, or an array of names and values."""
    if isinstance(reply, Map):
        return {text(k): v for k, v in reply}
    return {text(reply[i]): reply[i + 1] for i in range(0, len(reply), 2)}


def _fields(reply):
    lines = reply.decode().split("\r\n")
    return dict(line.split(":", 1) for line in lines if ":" in line and line[0] != "#")


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class Client:
    """One connection. `at` is a port on the loopback, or the path of a unix socket."""

    def __init__(self, at, resp=2, timeout=60, host="127.0.0.1"):
        if isinstance(at, int):
            self.socket = socket.create_connection((host, at), timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(at)
        self.buffer = bytearray()
        self.pos = 0
        self.pushes = []
        if resp == 3:
            self.must("HELLO", "3")

    def __call__(self, *args):
        """Sends a command and returns its reply, errors included."""
        self.send(*args)
        return self.read()

    def must(self, *args):
        """The same, but an error reply is raised."""
        reply = self(*args)
        if isinstance(reply, Error):
            shown = b" ".join(to_bytes(a)[:40] for a in args[:8])
            raise ReplyError(f"{shown!r}: {reply.text}")
        return reply

    def must_read(self):
        """The next reply, which must not be an error."""
        reply = self.read()
        if isinstance(reply, Error):
            raise ReplyError(reply.text)
        return reply

    def send(self, *args):
        self.socket.sendall(pack(args))

    def send_raw(self, data):
        self.socket.sendall(data)

    def pipeline(self, commands, batch=500):
        """Sends many commands, `batch` at a time, and returns all replies."""
        replies = []
        commands = list(commands)
        for i in range(0, len(commands), batch):
            part = commands[i:i + batch]
            self.socket.sendall(b"".join(pack(c) for c in part))
            replies += [self.read() for _ in part]
        return replies

    def read(self):
        """The next reply. Pushes before it are appended to .pushes."""
        while True:
            value = self._value()
            if not isinstance(value, Push):
                return value
            self.pushes.append(value)

    def read_any(self, timeout=None):
        """The next reply or push; None if nothing arrives in time, or for a null."""
        if self.pos == len(self.buffer) and timeout is not None:
            if not select.select([self.socket], [], [], timeout)[0]:
                return None
        return self._value()

    def info(self, *sections):
        """INFO as a dict of strings."""
        return _fields(self.must("INFO", *sections))

    def cluster_info(self):
        """CLUSTER INFO as a dict of strings."""
        return _fields(self.must("CLUSTER", "INFO"))

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _more(self):
        if self.pos > 1 << 20 or self.pos == len(self.buffer):
            del self.buffer[:self.pos]
            self.pos = 0
        data = self.socket.recv(1 << 20)
        if not data:
            raise Closed("the server closed the connection")
        self.buffer += data

    def _line(self):
        start = 0
        while True:
            end = self.buffer.find(b"\r\n", self.pos + start)
            if end >= 0:
                line = bytes(self.buffer[self.pos:end])
                self.pos = end + 2
                return line
            start = max(0, len(self.buffer) - self.pos - 1)
            self._more()

    def _bytes(self, n):
        while len(self.buffer) - self.pos < n + 2:
            self._more()
        data = bytes(self.buffer[self.pos:self.pos + n])
        self.pos += n + 2
        return data

    def _value(self):
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return Simple(rest.decode())
        if kind == b"-":
            return Error(rest.decode())
        if kind in (b":", b"("):
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self._bytes(int(rest))
        if kind == b"!":
            return Error(self._bytes(int(rest)).decode())
        if kind == b"=":
            return Verbatim(self._bytes(int(rest))[4:])
        if kind == b"_":
            return None
        if kind == b"#":
            return rest == b"t"
        if kind == b",":
            return float(rest)
        return self._aggregate(kind, rest)

    def _aggregate(self, kind, rest):
        if rest == b"-1":
            return None
        n = int(rest)
        if kind == b"%":
            return Map((self._value(), self._value()) for _ in range(n))
        if kind == b"|":
            for _ in range(2 * n):
                self._value()
            return self._value()
        types = {b"*": list, b"~": Set, b">": Push}
        if kind not in types:
            raise ValueError(f"not a reply: {kind + rest!r}")
        return types[kind](self._value() for _ in range(n))
