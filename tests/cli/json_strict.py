#!/usr/bin/env python3
"""Every command with --json prints strict JSON, whatever bytes are in its lines and file names.

    json_strict.py PROGRAM [NODE]

Strict means UTF-8 without lone surrogates, escaped or not, as RFC 8259 requires between programs. The
output is also lossless: a string that is not UTF-8 has a second field, NAME_base64. Python checks the
bytes and the values. If Node is installed, its parser must accept the output, too.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile

PROGRAM, NODE = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
BAD = b"caf\xe9 \xed\xa0\x80 \xff\xc3"  # Latin-1, a surrogate in UTF-8, bytes that never occur, a cut one
GOOD = "caf\u00e9 \U0001f680 \ufffd \" \\ \u0000\u001b\u2028".encode()
NAMES = [b"a\xff", b"b\xc3"]
STRICT = """
const fatal = new TextDecoder('utf-8', {fatal: true});
const text = fatal.decode(require('node:fs').readFileSync(0));
const check = (v) => {
    if (typeof v === 'string') encodeURIComponent(v); // refuses lone surrogates
    else if (v && typeof v === 'object') Object.entries(v).forEach((e) => e.forEach(check));
};
text.split('\\n').filter((line) => line).forEach((line) => check(JSON.parse(line)));
"""
failures = 0
everything = []


def expect(truth, what):
    global failures
    if not truth:
        failures += 1
        print("FAILED: " + what)


def unique(pairs):
    expect(len({name for name, _ in pairs}) == len(pairs), "a field is there twice: %r" % pairs)
    return dict(pairs)


def encodable(value):
    """Raises if a string at any depth has a lone surrogate."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, dict):
        for name, v in value.items():
            encodable(name)
            encodable(v)
    elif isinstance(value, list):
        for v in value:
            encodable(v)


def run(*args, stdin=b"", status=0, stream="stdout"):
    """The objects that a command prints."""
    done = subprocess.run([PROGRAM, *args], input=stdin, capture_output=True, timeout=120)
    expect(done.returncode == status, "%r: exit status %d: %r" % (args, done.returncode, done.stderr))
    lines = getattr(done, stream).split(b"\n")[:-1]
    if stream == "stderr":
        lines = [line for line in lines if line.startswith(b"{")]
    expect(lines, "%r prints nothing" % (args,))
    everything.extend(lines)
    objects = []
    for line in lines:
        try:
            objects.append(json.loads(line.decode("utf-8", "strict"), object_pairs_hook=unique))
            encodable(objects[-1])
        except ValueError as error:
            expect(False, "%r: %s: %r" % (args, error, line))
    return objects or [{}]


def field(o, name):
    """The bytes of a field, or of each member of an array."""
    text, exact = o.get(name), o.get(name + "_base64")
    if isinstance(text, list):
        both = zip(text, exact or [None] * len(text))
        return [e.encode() if x is None else base64.b64decode(x, validate=True) for e, x in both]
    if exact is None:
        return None if text is None else text.encode("utf-8", "surrogatepass")
    value = base64.b64decode(exact, validate=True)
    expect("\ufffd" in text, "%s: base64 beside %r" % (name, text))
    return value


def same(o, name, value, what):
    got = field(o, name)
    expect(got == value, "%s: %s is %r, not %r" % (what, name, got, value))


def test_lines():
    for text in (BAD, GOOD):
        lines = text + b"\n"
        for what, objects, name in (
                ("count", run("count", "--json", stdin=lines), "line"),
                ("check", run("check", "--json", "l.bly", stdin=lines), "line"),
                ("check", run("check", "--json", "l.bly", stdin=lines), "by"),
                ("hash", run("hash", "--json", stdin=lines), "key")):
            same(objects[0], name, text, what)
            expect((name + "_base64" in objects[0]) == (text == BAD), what + ": base64 where it is needed")
        top = run("count", "--top", "1", "--json", stdin=lines)[0]["top"]
        same(top[0], "key", text, "count --top")
    every = bytes(b for b in range(256) if b not in (10, 13))
    same(run("count", "--json", stdin=every + b"\n")[0], "line", every, "all bytes")
    for size in range(1, 8):  # base64 ends in 0, 1 or 2 signs of padding
        text = b"\xff" * size
        same(run("count", "--json", stdin=text + b"\n")[0], "line", text, "padding")


def test_names():
    a, b = NAMES
    build = [b"--json", b"-n", b"1000", b"--kind", b"counting", b"-o"]
    for name in NAMES:
        same(run("build", *build, name, "lines")[0], "list", name, "build")
    same(run("build", "--json", "--over", a, "-o", b"o\xff")[0], "over", a, "build --over")
    same(run("add", "--json", a, "lines")[0], "file", a, "add")
    same(run("remove", "--json", a, "lines")[0], "file", a, "remove")
    same(run("check", "--json", a, b"input\xff")[0], "file", b"input\xff", "check")
    for command in ("info", "verify"):
        same(run(command, "--json", a)[0], "file", a, command)
    for command in ("merge", "subtract", "intersect"):
        done = run(command, "--json", "-f", "-o", b"out\xff", a, b)[0]
        same(done, "file", b"out\xff", command)
        same(done, "from", NAMES, command)
    same(run("intersect", "--estimate", "--json", a, b)[0], "files", NAMES, "intersect --estimate")
    same(run("build", "--json", "--foldable", "-n", "100000", "-o", b"f\xff", "lines")[0], "list", b"f\xff", "build")
    run("fold", "--json", "--by", "2", "-o", b"g\xff", b"f\xff")
    same(run("distinct", "--json", "--each", b"input\xff", "lines")[0], "file", b"input\xff", "distinct")
    run("dedup", "--json", "-o", b"d\xff", "--state", b"s\xff", b"input\xff", stream="stderr")
    same(run("verify", "--json", b"input\xff", status=2)[0], "file", b"input\xff", "verify of no filter")


def main():
    os.chdir(tempfile.mkdtemp())
    for name in ("lines", b"input\xff"):
        with open(name, "wb") as f:
            f.write(BAD + b"\n" + GOOD + b"\n")
    run("build", "--json", "-o", "l.bly", "lines")
    test_lines()
    test_names()
    if NODE:
        done = subprocess.run([NODE, "-e", STRICT], input=b"\n".join(everything), capture_output=True)
        expect(done.returncode == 0, "node: " + done.stderr.decode("utf-8", "replace"))
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        tempfile.tempdir = room
        sys.exit(main())
