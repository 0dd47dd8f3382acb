"""protocols.py - exchanges of commands and replies in RESP2 and RESP3, with the types of replies.

A test is a function of commands and expected replies. `both` runs it once in RESP2 and once in
RESP3, each time on an empty server. Where the protocols differ by rule, t.yes and t.no (1 and 0, or
true and false) and t.map(pairs) are the expected replies.
"""
import shlex

from harness import Error, Map, Server, Simple

OK = Simple("OK")
WRONGTYPE = Error("WRONGTYPE Operation against a key holding the wrong kind of value")


def same(got, wanted):
    """Whether both are equal, including the types of all elements: True is not 1."""
    if isinstance(wanted, type):
        return type(got) is wanted
    if type(got) is not type(wanted):
        return False
    if isinstance(wanted, (list, tuple)):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    return got == wanted


class Exchange:
    """A client, and the form of replies in its protocol."""

    def __init__(self, server, resp):
        self.server = server
        self.client = server.client(resp=resp)
        self.resp = resp
        self.yes, self.no = (1, 0) if resp == 2 else (True, False)

    def map(self, *pairs):
        """A map of names, sent as simple strings, and values."""
        named = [(Simple(name), value) for name, value in pairs]
        return Map(named) if self.resp == 3 else [x for pair in named for x in pair]

    def __call__(self, command, *more):
        """Sends a line of words (quoted as in a shell), followed by further arguments."""
        quoted = any(mark in command for mark in "'\"\\")  # shlex is slow with long lines
        return self.client(*(shlex.split(command) if quoted else command.split()), *more)

    def says(self, command, wanted, *more):
        got = self(command, *more)
        if not same(got, wanted):
            raise AssertionError(f"RESP{self.resp}, {command}: got {got!r}, wanted {wanted!r}")
        return got

    def refuses(self, commands, error):
        """Checks that each of these lines returns this error."""
        for command in commands if isinstance(commands, list) else [commands]:
            self.says(command, Error(error))

    def arity(self, *commands):
        for command in commands:
            name = command.split()[0].lower()
            self.says(command, Error(f"ERR wrong number of arguments for '{name}' command"))

    def config(self, **settings):
        for name, value in settings.items():
            self.says(f"CONFIG SET bf.{name.replace('_', '-')} {value}", OK)


def both(exchange, *config, args=""):
    for resp in (2, 3):
        with Server(*config, args=args, name=f"resp{resp}") as server:
            exchange(Exchange(server, resp))


def dump(client, family, key):
    """Runs SCANDUMP to its end; returns the arguments for LOADCHUNK."""
    chunks, at = [], 0
    while True:
        at, data = client.must(f"{family}.SCANDUMP", key, at)
        if at == 0:
            return chunks, data
        chunks.append((at, data))


def load(client, family, key, chunks):
    for at, data in chunks:
        client.must(f"{family}.LOADCHUNK", key, at, data)


def events(server, start, program):
    """The keyspace events with these prefixes that the program causes, as "event key"."""
    c, listener = server.client(), server.client()
    listener.must("PSUBSCRIBE", "__keyevent@0__:*")
    program(c)
    c.must("SET", "end", "x")
    seen = []
    while not seen or seen[-1] != "set end":
        _, _, channel, key = listener.read()
        seen.append(f"{channel.decode().split(':')[1]} {key.decode()}")
    return [event for event in seen if event.startswith(start)]
