#!/usr/bin/env -S python3 -S
"""Changes filter files to the old form, whose header does not record how keys were made from lines.

    unrecord.py FILE...

Sets the key rule (docs/format.md, section 1) to 0, in a scalable filter also for its levels, and
corrects the checksums.
"""
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "checks"))

from format_hashes import xxh64  # noqa: E402

SCALABLE, HEADER = 6, 64


def unrecorded(data):
    head, body = bytearray(data[:HEADER]), data[HEADER:]
    head[7] &= 7
    if head[5] == SCALABLE:
        levels = b""
        while body:
            (size,) = struct.unpack_from("<Q", body, 16)
            bits = size * {1: 1, 3: 256, 4: 512, 5: 512}[body[5]]
            end = HEADER + (bits + 511) // 512 * 64
            levels, body = levels + unrecorded(body[:end]), body[end:]
        body = levels
        struct.pack_into("<Q", head, 56, xxh64(body))
    head[12:16] = bytes(4)
    struct.pack_into("<I", head, 12, xxh64(bytes(head)) & 0xFFFFFFFF)
    return bytes(head) + body


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(unrecorded(content))
