"""dumps.py - parses and writes payloads of DUMP, with a correct checksum.

The payload of a module's value consists of the byte 7, the id of its type (54 bits of name, 10 of
encoding), fields that each follow an opcode, a zero, two bytes of the RDB version, and a CRC-64
(Jones, reflected) of everything before. Strings must not be compressed: `rdbcompression no`.
"""
import struct

MODULE, END, NUMBER, REAL, STRING = 7, 0, 2, 4, 5
FOOTER = 10


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x95AC9329AC4BC9B5 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc64(data):
    crc = 0
    table = _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def sealed(body, version):
    """The body (type, id, fields) with its footer; version is the two bytes."""
    data = body + version
    return data + struct.pack("<Q", crc64(data))


def length(value):
    """A number in the encoding of RDB files."""
    if value < 1 << 6:
        return bytes([value])
    if value < 1 << 14:
        return struct.pack(">H", value | 1 << 14)
    if value < 1 << 32:
        return b"\x80" + struct.pack(">I", value)
    return b"\x81" + struct.pack(">Q", value)


def _take_length(data, at):
    first = data[at]
    if first < 0x40:
        return first, at + 1
    if first < 0x80:
        return (first & 0x3F) << 8 | data[at + 1], at + 2
    if first == 0x80:
        return struct.unpack_from(">I", data, at + 1)[0], at + 5
    if first == 0x81:
        return struct.unpack_from(">Q", data, at + 1)[0], at + 9
    raise ValueError(f"a string in an encoding of its own, {first:#x}")


class Dump:
    """A payload: .type (the id), .fields (pairs of an opcode and a value), .version."""

    def __init__(self, kind, fields, version):
        self.type, self.fields, self.version = kind, fields, version

    def copy(self):
        return Dump(self.type, list(self.fields), self.version)

    def body(self):
        out = [bytes([MODULE]), length(self.type)]
        for opcode, value in self.fields:
            out.append(bytes([opcode]))
            if opcode == NUMBER:
                out.append(length(value))
            elif opcode == REAL:
                out.append(struct.pack("<d", value))
            else:
                out += [length(len(value)), value]
        return b"".join(out) + bytes([END])

    def pack(self):
        return sealed(self.body(), self.version)


def parse(payload):
    if payload[0] != MODULE or crc64(payload[:-8]) != struct.unpack("<Q", payload[-8:])[0]:
        raise ValueError("not the dump of a module's value")
    kind, at = _take_length(payload, 1)
    fields = []
    while payload[at] != END:
        opcode = payload[at]
        if opcode == NUMBER:
            value, at = _take_length(payload, at + 1)
        elif opcode == REAL:
            value, at = struct.unpack_from("<d", payload, at + 1)[0], at + 9
        else:
            size, at = _take_length(payload, at + 1)
            value, at = payload[at:at + size], at + size
        fields.append((opcode, value))
    return Dump(kind, fields, payload[-FOOTER:-8])
