"""support.py - shared by the tests of filters on plain servers.

BLOOMERY_DRIVER names the program that calls the library; driver.c describes its commands. Servers,
clusters and a client come from harness.py of the module's tests.
"""
import ctypes
import ctypes.util
import itertools
import json
import os
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "module"))

from harness import (ROOT, Cluster, Error, Server, Skip, eq, key_slot, main, ok,  # noqa: E402,F401
                     wait_for, wait_sync)
from servers import _die_with_parent  # noqa: E402

DRIVER = os.environ.get("BLOOMERY_DRIVER", os.path.join(ROOT, "build/dev/bin/redis_driver"))
NO, YES, UNSURE, UNKNOWN = "0123"
HEAD = 128


def url(at, key, login="", database=None):
    """Returns the address of a key. `at` is a server, a proxy or a port."""
    port = at if isinstance(at, int) else at.port
    path = f"/{database}/{key}" if database is not None else f"/{key}"
    return f"redis://{login}127.0.0.1:{port}{path}"


def plain(*config, **more):
    """Starts a server without the module."""
    return Server(*config, module=False, **more)


class Refused(Exception):
    """Raised by must() when the library returns an error."""


class Driver:
    """A process that uses the library. A call sends a command with its words and options, and
    returns the answer. say() and hear() do this in two steps, so that several drivers can work at
    the same time."""

    def __init__(self):
        self.process = subprocess.Popen([DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=_die_with_parent)
        self.buffer = b""
        self.files = tempfile.mkdtemp(prefix="bloomery-")

    def say(self, *words, **options):
        line = " ".join([str(w) for w in words] + [f"{k}={v}" for k, v in options.items()])
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, timeout=120):
        end = time.monotonic() + timeout
        parts = [self.buffer]
        while b"\n" not in parts[-1]:
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no answer from the driver for {timeout} s")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise ConnectionError(f"the driver exited with status {self.process.wait()}")
            parts.append(data)
        line, _, self.buffer = b"".join(parts).partition(b"\n")
        answer = json.loads(line)
        if answer["status"] == "USAGE":
            raise ValueError(answer["why"])
        return answer

    def __call__(self, *words, **options):
        self.say(*words, **options)
        return self.hear()

    def must(self, *words, **options):
        answer = self(*words, **options)
        if answer["status"] != "BLY_OK":
            raise Refused(f"{words}: {answer['status']}, {answer['why']}")
        return answer

    def keys(self, command, *items, **options):
        """Runs addkeys or askkeys with these keys, which are bytes."""
        return self(command, *(item.hex() or "-" for item in items), **options)

    def say_range(self, command, prefix, first, last, **options):
        """Sends add or contains for keys prefix + first .. prefix + (last - 1). digits() returns the
        answers."""
        self.say(command, prefix, first, last, out=self._out(), **options)

    def digits(self):
        """Returns a digit for each key of the last say_range. Call hear() first."""
        with open(self._out(), "rb") as file:
            return file.read().decode()

    def range(self, command, prefix, first, last, **options):
        """Runs add or contains. Returns the answer and the digits."""
        self.say_range(command, prefix, first, last, **options)
        answer = self.hear()
        return answer, self.digits()

    def _out(self):
        return os.path.join(self.files, "out")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        status = self.process.wait(60)
        shutil.rmtree(self.files, ignore_errors=True)
        eq(status, 0, "the driver's exit status")

    def kill(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.files, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        else:
            self.kill()


def refused(answer, status, *words):
    """Checks that the answer is this error, and that its reason contains these words."""
    eq(answer["status"], status, answer["why"])
    for word in words:
        ok(word.lower() in answer["why"].lower(), f"no '{word}' in: {answer['why']}")
    ok(answer["why"], "an error without a reason")


# ---- strings of a native filter, read without the library ---------------------------------------

class Head:
    """The head of a string (docs/format.md, section 22)."""

    def __init__(self, data):
        eq(len(data), HEAD, "bytes of a head")
        eq(data[:5], b"BLYR\x01")
        self.shard, self.shards, self.stamp = struct.unpack_from("<IIQ", data, 8)
        self.kind, = struct.unpack_from("<B", data, 24 + 5)
        self.k, = struct.unpack_from("<B", data, 24 + 8)
        self.blocks, self.capacity = struct.unpack_from("<QQ", data, 24 + 16)
        self.seed, self.rate = struct.unpack_from("<Qd", data, 24 + 40)
        self.count, self.state = struct.unpack_from("<QB", data, 96)


def head(client, key):
    return Head(client.must("GETRANGE", key, 0, HEAD - 1))


def shard_key(name, shard, shards):
    """Returns the key of a shard, by the rule of docs/format.md."""
    if shard == 0:
        return name
    if "{" in name and name[name.index("{") + 1:].find("}") > 0:
        return f"{name}:{shard}"
    first = key_slot(name)
    step = 16384 // shards
    width = max(step // 16, min(step, 64))
    for tag in itertools.count():
        key = f"{name}:{{{shard}.{tag}}}"
        if (key_slot(key) - first - shard * 16384 // shards + width // 2) % 16384 < width:
            return key


def shard_keys(name, shards):
    return [shard_key(name, j, shards) for j in range(shards)]


# ---- Murmur3 ------------------------------------------------------------------------------------

MASK = (1 << 64) - 1
C1, C2 = 0x87c37b91114253d5, 0x4cf5ad432745937f


def _left(x, r):
    return (x << r | x >> (64 - r)) & MASK


def _mix(x):
    for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53):
        x = (x ^ x >> 33) * factor & MASK
    return x ^ x >> 33


def murmur3(data):
    """Returns the first word of MurmurHash3 x64-128 with seed 0."""
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for k1, k2 in struct.iter_unpack("<QQ", data[:whole]):
        h1 ^= _left(k1 * C1 & MASK, 31) * C2 & MASK
        h1 = ((_left(h1, 27) + h2) * 5 + 0x52dce729) & MASK
        h2 ^= _left(k2 * C2 & MASK, 33) * C1 & MASK
        h2 = ((_left(h2, 31) + h1) * 5 + 0x38495ab5) & MASK
    tail = data[whole:]
    h2 ^= _left(int.from_bytes(tail[8:], "little") * C2 & MASK, 33) * C1 & MASK
    h1 ^= _left(int.from_bytes(tail[:8], "little") * C1 & MASK, 31) * C2 & MASK
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = (h1 + h2) & MASK
    h2 = (h2 + h1) & MASK
    return (_mix(h1) + _mix(h2)) & MASK


def murmur3_of_debian(data):
    """Returns the same, computed by libmurmurhash, or None if that is not installed."""
    name = ctypes.util.find_library("murmurhash")
    if not name:
        return None
    out = (ctypes.c_uint64 * 2)()
    ctypes.CDLL(name).lmmh_x64_128(data, ctypes.c_uint(len(data)), ctypes.c_uint32(0), out)
    return out[0]
