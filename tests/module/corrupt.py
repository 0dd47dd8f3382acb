"""corrupt.py - changes valid bytes at random: any bytes, container files, the fields of a DUMP."""
import math

from dumps import NUMBER, REAL, STRING
from format_hashes import xxh64

HEADER = 64
NESTED = (6, 12, 21)  # kinds of containers in containers
ODD = (0, 1, 2, 3, 7, 8, 63, 64, 65, 127, 255, 256, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1,
       2 ** 32, 2 ** 40, 2 ** 48, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1)
ODD_REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 5e-324, 1e308, math.inf, -math.inf, math.nan)
# Offset and width of a container's fields.
FIELDS = ((4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (9, 1), (10, 2), (16, 8), (24, 8), (32, 8),
          (40, 8), (48, 8))


def number(r, x):
    return r.choice((x + 1, x - 1, 2 * x, x // 2, x ^ 1 << r.randrange(64), r.getrandbits(64) >>
                     r.randrange(64), r.choice(ODD), r.choice(ODD))) % 2 ** 64


def real(r, x):
    return r.choice((x * 2, x / 2, -x, r.choice(ODD_REALS), r.choice(ODD_REALS)))


def _put(data, at, width, value):
    data[at:at + width] = (value % 256 ** width).to_bytes(width, "little")


def _get(data, at, width):
    return int.from_bytes(data[at:at + width], "little")


def some_bytes(r, data):
    """Changes a few bytes or words, repeats a piece, or removes or appends some."""
    data = bytearray(data)
    what = r.randrange(7)
    if not data or what == 0:
        return bytes(data) + bytes(r.randrange(1, 100))
    if what == 1:
        return bytes(data[:r.randrange(len(data))])
    if what == 2:
        a, b, n = r.randrange(len(data)), r.randrange(len(data)), r.randrange(len(data))
        n = min(n, len(data) - max(a, b))
        data[a:a + n] = data[b:b + n]
    elif what == 3:
        width = r.choice((1, 2, 4, 8))
        if len(data) >= width:
            at = r.randrange(len(data) - width + 1)
            _put(data, at, width, number(r, _get(data, at, width)))
    else:
        for _ in range(r.randrange(1, 5)):
            data[r.randrange(len(data))] ^= r.choice((1 << r.randrange(8), r.randrange(256)))
    return bytes(data)


# ---- containers -----------------------------------------------------------------------------

def _seal_header(data, at):
    data[at + 12:at + 16] = bytes(4)
    _put(data, at + 12, 4, xxh64(bytes(data[at:at + HEADER])))


def _seal(data, at, end):
    _put(data, at + 56, 8, xxh64(bytes(data[at + HEADER:end])))
    _seal_header(data, at)


def seal(data):
    """Corrects the checksums of a container, and of those in it as far as they can be found."""
    data = bytearray(data)
    if data[5] in NESTED:
        starts = [at for at in range(HEADER, len(data), HEADER) if data[at:at + 4] == b"BLY1"]
        for at, end in zip(starts, starts[1:] + [len(data)]):
            _seal(data, at, end)
    _seal(data, 0, len(data))
    return bytes(data)


def is_container(data):
    return len(data) >= HEADER and data[:3] == b"BLY"


def container(r, data):
    """Changes a container in its header, that of one in it, or its body; mostly seals it again."""
    data = bytearray(data)
    for _ in range(r.randrange(1, 4)):
        if r.random() < 0.4:
            headers = [at for at in range(0, len(data), HEADER) if data[at:at + 3] == b"BLY"]
            at, width = r.choice(FIELDS)
            at += r.choice(headers)
            kind = at % HEADER == 5
            _put(data, at, width, r.randrange(23) if kind else number(r, _get(data, at, width)))
        else:
            body = some_bytes(r, data[HEADER:])
            keep = len(data) - HEADER if r.random() < 0.9 else len(body)
            data[HEADER:] = body[:keep] + bytes(max(0, keep - len(body)))
    return seal(data) if r.random() < 0.85 else bytes(data)


# ---- fields ---------------------------------------------------------------------------------

def _string(r, fields, at):
    value = fields[at][1]
    if not is_container(value):
        fields[at] = (STRING, some_bytes(r, value))
        return
    fields[at] = (STRING, container(r, value))
    for i in range(max(0, at - 2), at):  # its length precedes it
        if fields[i] == (NUMBER, len(value)) and r.random() < 0.9:
            fields[i] = (NUMBER, len(fields[at][1]))


def dump(r, good, other):
    """A copy of a Dump with some fields changed, moved, or taken from another one."""
    bad = good.copy()
    fields = bad.fields
    for _ in range(r.randrange(1, 4)):
        if not fields:
            break
        at, to = r.randrange(len(fields)), r.randrange(len(fields))
        what = r.randrange(40)
        if what == 0:
            del fields[at]
        elif what == 1:
            fields.insert(to, fields[at])
        elif what == 2:
            fields[at], fields[to] = fields[to], fields[at]
        elif what == 3:
            fields[at:] = other.fields[r.randrange(len(other.fields)):]
        elif what == 4:
            bad.type = bad.type & ~1023 | r.randrange(6)
        elif fields[at][0] == NUMBER:
            fields[at] = (NUMBER, number(r, fields[at][1]))
        elif fields[at][0] == REAL:
            fields[at] = (REAL, real(r, fields[at][1]))
        else:
            _string(r, fields, at)
    return bad


def joined(fields):
    """Joins the pieces of each container into one string."""
    out = []
    for opcode, value in fields:
        if opcode == STRING and out and out[-1][0] == STRING and is_container(out[-1][1]):
            out[-1] = (STRING, out[-1][1] + value)
        else:
            out.append((opcode, value))
    return out


# ---- chunks ---------------------------------------------------------------------------------

def chunks(r, commands):
    """Changes, omits, doubles or moves commands that load a filter."""
    commands = [list(c) for c in commands]
    for _ in range(r.randrange(1, 5)):
        if not commands:
            break
        at, to = r.randrange(len(commands)), r.randrange(len(commands))
        what = r.randrange(10)
        if what == 0:
            del commands[at]
        elif what == 1:
            commands.insert(to, list(commands[at]))
        elif what == 2:
            commands[at], commands[to] = commands[to], commands[at]
        else:
            word = r.randrange(2, len(commands[at]))
            value = commands[at][word]
            if isinstance(value, int):
                commands[at][word] = r.choice((number(r, value), -value, value + 1))
            else:
                commands[at][word] = some_bytes(r, value)
    return commands
