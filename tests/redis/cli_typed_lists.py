"""cli_typed_lists.py - lists with a type, states of `bloomery dedup` and keyed filters on plain servers: `bloomery
check` and `add` turn lines into keys as the filter's head says.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True

from cli_support import address, bloomery, contents, keys, plain, refused, report  # noqa: E402
from harness import ROOT, eq, main, ok  # noqa: E402


def test_typed_lists():
    server = plain()
    at = address(server, "ip")
    made = report(server, "build", "--type", "ip", "-n", "1000", "-o", at,
                  lines=b"192.0.2.0/24\n10.1.2.3\n2001:db8::/32\n")
    eq((made["type"], made["marks"]), ("ip", 32))
    asked = b"192.0.2.77\n192.0.3.1\n010.1.2.3\n::ffff:10.1.2.3\n2001:DB8::1\n10.1.2.4\n"
    out, _ = bloomery(server, "check", at, lines=asked)
    eq(out, "192.0.2.77\n::ffff:10.1.2.3\n2001:DB8::1\n")
    answers = [json.loads(line) for line in bloomery(server, "check", "--json", at, lines=asked)[0]
               .splitlines()]
    eq([a["by"] for a in answers],
       ["192.0.2.0/24", None, None, "10.1.2.3", "2001:db8::/32", None])
    eq((report(server, "info", at)["type"], report(server, "info", at)["marks"]), ("ip", 32))
    # Address blocks of a new width are found, too.
    added = report(server, "add", at, lines=b"198.51.96.0/20\n192.0.2.0/24\n")
    eq((added["new"], added["marks"]), (1, 36))
    # A line now needs one more lookup than the rate was requested for.
    info = report(server, "info", at)
    eq((info["lookups_per_line"], info["rate_per_line_requested"]), (3, 0.001))
    eq(bloomery(server, "check", at, lines=b"198.51.97.9\n")[0], "198.51.97.9\n")
    # With a malformed line anywhere, nothing is added; with --skip-malformed it is left out.
    before = report(server, "info", at)["count"]
    refused(server, "malformed", "add", at, lines=b"203.0.113.7\nno address\n")
    eq(report(server, "info", at)["count"], before)
    eq(report(server, "add", "--skip-malformed", at, lines=b"203.0.113.7\nno address\n")["new"], 1)
    refused(server, "type ip", "add", "--type", "domain", at, lines=b"example.com\n")
    # The same lines match in a file that was pulled.
    bloomery(server, "pull", "-q", at, "ip.bly")
    eq(bloomery(server, "check", "ip.bly", lines=b"198.51.97.9\n192.0.2.1\n")[0],
       "198.51.97.9\n192.0.2.1\n")


def test_types_are_recorded():
    """The head of the strings records the type, even of an overfull filter. The type of an overfull
    list without a record is not guessed."""
    server = plain()
    at, old = address(server, "lines"), address(server, "old")
    lines = keys(8000)
    bloomery(server, "build", "-q", "-n", "1000", "-o", at, lines=keys(1000))
    bloomery(server, "add", "-q", at, lines=lines)
    eq(bloomery(server, "check", "-c", at, lines=lines)[0], "8000\n")
    eq(bloomery(server, "check", "-c", at, lines=lines.replace(b"\n", b"\r\n"))[0], "8000\n")
    eq(report(server, "info", at)["type"], "line")
    with server.client() as c:
        eq(c.must("GETRANGE", "lines", 31, 31), bytes([2 << 3]))
    refused(server, "of type line", "add", "--type", "ip", at, lines=b"192.0.2.1\n")
    bloomery(server, "pull", "-q", at, "lines.bly")
    eq(contents(server, "lines.bly")[7], 2 << 3)
    eq(bloomery(server, "check", "-c", "lines.bly", lines=lines)[0], "8000\n")
    subprocess.run([sys.executable, os.path.join(ROOT, "tests/cli/unrecord.py"),
                    server.path("lines.bly")], check=True)
    bloomery(server, "push", "-q", "lines.bly", old)
    refused(server, "too full to recognise", "check", old, lines=lines)
    eq(bloomery(server, "check", "-c", "--type", "line", old, lines=lines)[0], "8000\n")
    # The marks of a list that is far from full are trusted.
    bloomery(server, "build", "-q", "--type", "ip", "-n", "100", "-o", "ip.bly", lines=b"10.0.0.0/8\n")
    subprocess.run([sys.executable, os.path.join(ROOT, "tests/cli/unrecord.py"),
                    server.path("ip.bly")], check=True)
    bloomery(server, "push", "-q", "ip.bly", address(server, "ip"))
    eq(bloomery(server, "check", address(server, "ip"), "-k", "10.9.8.7")[0], "10.9.8.7\n")


def test_old_states_of_dedup():
    """In a state without a recorded type, each form of a line is looked up, and all forms are added."""
    server = plain()

    def push(name, *options):
        bloomery(server, "dedup", "-q", "-n", "1000", *options, "--state", name, lines=b"A b\n")
        subprocess.run([sys.executable, os.path.join(ROOT, "tests/cli/unrecord.py"),
                        server.path(name)], check=True)
        bloomery(server, "dedup", "-q", *options, "--state", name,
                 lines=b"c\r\nHTTP://example.org:80/d\n")
        bloomery(server, "push", "-q", name, address(server, name))
        return address(server, name)

    lines = push("lines")
    eq(bloomery(server, "check", "-c", lines, lines=b"c\r\nA b\r\n\ne\r\n")[0], "2\n")
    said = bloomery(server, "add", lines, lines=b"k\r\n\nl\r\n")[1]
    eq(said.count("added both with and without it"), 1)
    eq(bloomery(server, "dedup", "--redis", lines, lines=b"k\r\nk\n\nl\r\n")[0], "")
    urls = push("urls", "--url")
    eq(bloomery(server, "check", "-c", urls, lines=b"http://EXAMPLE.org/d\r\nc\r\ne\r\n")[0], "2\n")
    bloomery(server, "add", "-q", urls, lines=b"http://example.org:80/f\n")
    eq(bloomery(server, "dedup", "--redis", urls, "--url", lines=b"http://EXAMPLE.org/f\n")[0], "")
    field = push("field", "--field", "1", "-t", " ")
    refused(server, "its keys are fields or lines in lower case", "check", field, "-k", "A")
    refused(server, "only the command that created it can change it", "add", field, "-k", "A")


def test_states_of_dedup():
    """check and add turn lines into keys as dedup --redis did."""
    server = plain()
    at = address(server, "urls")
    seen = b"HTTP://Example.org/a\r\n\r\nno url\n"
    bloomery(server, "dedup", "--redis", at, "-n", "1000", "--url", lines=seen)
    eq(bloomery(server, "check", "-c", at, lines=b"http://example.ORG/a\n\nno url\r\nother\n")[0], "3\n")
    eq(report(server, "add", at, lines=b"http://EXAMPLE.org/b\n")["new"], 1)
    eq(bloomery(server, "dedup", "--redis", at, "--url", lines=b"http://example.org/b\n"), ("", ""))
    eq(report(server, "info", at)["type"], "URL lines (--url)")
    bloomery(server, "pull", "-q", at, "urls.bly")
    eq(bloomery(server, "check", "-c", "urls.bly", lines=b"http://example.ORG/a\n")[0], "1\n")
    bloomery(server, "dedup", "--redis", address(server, "f"), "-n", "10", "--field", "1", lines=b"x\n")
    refused(server, "--field or --ignore-case", "check", address(server, "f"), "-k", "x")
    # dedup can also use a list of lines; then blank lines that it adds are found.
    bloomery(server, "build", "-q", "-n", "1000", "-o", address(server, "list"), lines=b"a\nb\n")
    eq(bloomery(server, "dedup", "--redis", address(server, "list"), lines=b"a\r\nc\n\n")[0], "c\n\n")
    eq(bloomery(server, "check", address(server, "list"), lines=b"a\nc\n\nd\n")[0], "a\nc\n\n")


def test_typed_in_batches():
    """Every line needs several lookups, which do not fit into one round trip."""
    server = plain()
    at = address(server, "d")
    names = "".join(f"d{i}.example{i % 7}.org\n" for i in range(3000)).encode()
    bloomery(server, "build", "-q", "--type", "domain", "-o", at, "-n", "10000",
             lines=names + b"co.uk\nnet\n")
    out, _ = bloomery(server, "check", "-c", at,
                      lines="".join(f"a.b.D{i}.example{i % 7}.org.\n" for i in range(3000)).encode())
    eq(out, "3000\n")
    out, _ = bloomery(server, "check", "-c", at,
                      lines="".join(f"x{i}.y.net\n" for i in range(9000)).encode())
    eq(out, "9000\n")
    out, _ = bloomery(server, "check", "-v", "-c", at,
                      lines="".join(f"x{i}.y.example\n" for i in range(9000)).encode())
    ok(int(out) > 8950, f"only {out} of 9,000 right at 0.1%")


def test_keyed():
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "--new-key", "secret", "-o", at, lines=keys(1000))
    refused(server, "--key-file", "check", at, "-k", "key 1")
    refused(server, "--key-file", "add", at, "-k", "key 1")
    eq(bloomery(server, "check", "--key-file", "secret", at, "-k", "key 1")[0], "key 1\n")
    eq(report(server, "add", "--key-file", "secret", at, "-k", "new one")["new"], 1)
    info = report(server, "info", at)
    ok(info["keyed"] and info["hash"] == "siphash" and info["type"] == "line", str(info))
    eq(info["marks"], None)
    bloomery(server, "build", "-q", "--new-key", "other", "-o", "x.bly", lines=b"x\n")
    refused(server, "a different secret key", "check", "--key-file", "other", at, "-k", "key 1")
    bloomery(server, "build", "-q", "-o", address(server, "open"), lines=b"x\n")
    refused(server, "is not keyed; leave out --key-file", "check", "--key-file", "secret", address(server, "open"),
            "-k", "x")
    # push and pull, without the secret key and with it.
    bloomery(server, "pull", "-q", at, "k.bly")
    eq(bloomery(server, "check", "--key-file", "secret", "k.bly", "-k", "new one")[0], "new one\n")
    refused(server, "--key-file", "push", "k.bly", address(server, "again"))
    bloomery(server, "push", "-q", "--key-file", "secret", "k.bly", address(server, "again"))
    eq(report(server, "info", address(server, "again"))["key_id"], info["key_id"])
    # A build that fails leaves no key behind.
    refused(server, "already", "build", "--new-key", "third", "-o", at, lines=b"x\n")
    ok(not os.path.exists(server.path("third")), "a key without a list")


if __name__ == "__main__":
    main(globals())
