"""Debian's python3-redis, unmodified: every typed command of its bf() and cf().

Usage: python_redis.py PORT
"""
import sys

import redis
from redis.commands.bf.commands import BFCommands, CFCommands

client = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]))
client.flushall()
called = set()


class Noting:
    """Records the called commands, so that none is forgotten."""

    def __init__(self, face, name):
        self.face, self.name = face, name

    def __getattr__(self, command):
        called.add((self.name, command))
        return getattr(self.face, command)


bf, cf = Noting(client.bf(), "bf"), Noting(client.cf(), "cf")


def same(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def copy(face, source, target):
    iterator, chunks = 0, 0
    while True:
        iterator, data = face.scandump(source, iterator)
        if iterator == 0:
            break
        assert face.loadchunk(target, iterator, data) in (True, b"OK")  # as the version has it
        chunks += 1
    assert chunks >= 2


same(bf.create("b", 0.01, 1000, expansion=4), True)
same(bf.create("fixed", 0.01, 100, noScale=True), True)
same(bf.add("b", "one"), 1)
same(bf.add("b", "one"), 0)
same(bf.madd("b", "one", "two", "three"), [0, 1, 1])
same(bf.insert("made", ["x", "y", "x"], capacity=500, error=0.005, expansion=2), [1, 1, 0])
same(bf.exists("b", "two"), 1)
same(bf.exists("b", "never"), 0)
same(bf.mexists("b", "one", "never", "three"), [1, 0, 1])
info = bf.info("b")
same((info.capacity, info.filterNum, info.insertedNum, info.expansionRate), (1000, 1, 3, 4))
assert info.size > 1000
same(bf.info("fixed").expansionRate, None)
copy(bf, "b", "b2")
same(bf.mexists("b2", "one", "two", "three", "never"), [1, 1, 1, 0])

same(cf.create("c", 1000, expansion=2, bucket_size=4, max_iterations=50), True)
same(cf.add("c", "one"), 1)
same(cf.add("c", "one"), 1)
same(cf.addnx("c", "one"), 0)
same(cf.addnx("c", "two"), 1)
same(cf.count("c", "one"), 2)
same(cf.insert("c2", ["x", "y"], capacity=2000), [1, 1])
same(cf.insertnx("c2", ["x", "z"]), [0, 1])
same(cf.exists("c", "one"), 1)
same(cf.mexists("c", "one", "never", "two"), [1, 0, 1])
same(cf.delete("c", "one"), 1)
same(cf.delete("c", "never"), 0)
table = cf.info("c")
same((table.insertedNum, table.deletedNum, table.bucketSize, table.expansionRate, table.maxIteration),
     (2, 1, 4, 2, 50))
copy(cf, "c", "c3")
same(cf.mexists("c3", "one", "two", "never"), [1, 1, 0])

for name, commands in (("bf", BFCommands), ("cf", CFCommands)):
    for command in dir(commands):
        if not command.startswith(("_", "append_")):
            assert (name, command) in called, f"{name}.{command} was not tried"
print(f"python3-redis: {len(called)} commands")
