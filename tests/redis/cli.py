"""cli.py - `bloomery build`, `add`, `check`, `info`, `push`, `pull`, `drop` and `plan` on filters of
plain servers.

BLOOMERY_PROGRAM names the program (build/dev/bin/bloomery of this repository).
"""
import json
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "module"))

from clocks import Clock  # noqa: E402
from harness import ROOT, Cluster, Server, eq, main, ok, wait_for  # noqa: E402

PROGRAM = os.environ.get("BLOOMERY_PROGRAM", os.path.join(ROOT, "build/dev/bin/bloomery"))


def plain(*config):
    return Server(*config, module=False)


def bloomery(server, *args, status=0, lines=b"", **environment):
    """Runs it in the server's folder; what it says on both streams."""
    done = subprocess.run([PROGRAM, *args], cwd=server.folder, capture_output=True, timeout=120,
                          input=lines, env={**os.environ, **environment})
    out, err = done.stdout.decode(), done.stderr.decode()
    eq(done.returncode, status, f"bloomery {' '.join(args)}: {err}")
    return out, err


def refused(server, words, *args, lines=b"", **environment):
    """It fails with these words, and nothing is on standard output."""
    out, err = bloomery(server, *args, status=2, lines=lines, **environment)
    ok(out == "" and words in err, f"bloomery {' '.join(args)}: wanted '{words}', got {out}{err}")


def report(server, *args, **more):
    return json.loads(bloomery(server, *args, "--json", **more)[0])


def keys(count, prefix="key", first=0):
    return "".join(f"{prefix} {i}\n" for i in range(first, first + count)).encode()


def address(server, key, login=""):
    return f"redis://{login}127.0.0.1:{server.port}/{key}"


def contents(server, name):
    with open(server.path(name), "rb") as file:
        return file.read()


# ---- drop --------------------------------------------------------------------------------------


def test_drop():
    """All strings of a filter go, and nothing that is none."""
    server = plain()
    at = address(server, "list")
    bloomery(server, "build", "-q", "-n", "20000", "--shards", "3", "-o", at, lines=keys(5))
    bloomery(server, "build", "-q", "-n", "20000", "-o", address(server, "other"), lines=keys(5))
    with server.client() as c:
        eq(c.must("DBSIZE"), 4)
        c.must("SET", "text", "x")
        gone = report(server, "drop", at)
        eq((gone["address"], gone["shards"]), (at, 3))
        ok(gone["bytes"] > 20000, str(gone))
        eq(sorted(c.must("KEYS", "*")), [b"other", b"text"])
        refused(server, "no such", "drop", at)
        refused(server, "no filter of Bloomery", "drop", address(server, "text"))
        refused(server, "no address", "drop", "list.bly")
        refused(server, "name a filter", "drop")
        _, err = bloomery(server, "drop", address(server, "other"))
        ok("deleted" in err and "1 string" in err, err)
        eq(c.must("KEYS", "*"), [b"text"])


# ---- build, check, add, info -------------------------------------------------------------------


def test_build_and_check():
    server = plain()
    at = address(server, "list")
    made = report(server, "build", "-o", at, lines=keys(50000))
    eq((made["list"], made["kind"], made["keys"], made["shards"]), (at, "split512", 50000, 1))
    with server.client() as c:
        eq(c.must("STRLEN", "list"), made["bytes"])
        eq(c.must("GETRANGE", "list", 0, 3), b"BLYR")
    # All of them, in their order, over several trips; and hardly any other.
    out, err = bloomery(server, "check", at, lines=keys(50000))
    ok(out.encode() == keys(50000) and err == "", "not all lines were found: " + err)
    out, _ = bloomery(server, "check", "-c", at, lines=keys(100000, "other"))
    ok(40 < int(out) < 200, f"{out} of 100,000 wrong at 0.1%")
    out, _ = bloomery(server, "check", "-v", "-c", at, lines=keys(50000), status=1)
    eq(out, "0\n")
    out, _ = bloomery(server, "check", "-n", at, lines=b"no\nkey 7\n")
    eq(out, "2:key 7\n")
    out, _ = bloomery(server, "check", "--field", "2", "-t", ",", at, lines=b"a,key 7\nkey 7,b\nc\n")
    eq(out, "a,key 7\n")
    eq(bloomery(server, "check", at, "-k", "key 49999")[0], "key 49999\n")
    bloomery(server, "check", "-q", at, "-k", "surely not", status=1)
    # The same file as without a server.
    bloomery(server, "build", "-q", "-o", "here.bly", lines=keys(50000))
    bloomery(server, "pull", "-q", at, "there.bly")
    ok(contents(server, "here.bly") == contents(server, "there.bly"), "the files differ")


def test_count_that_cannot_be():
    """A client that may write to the key can claim any count: it does not start again from 0."""
    server = plain()
    at = address(server, "list")
    bloomery(server, "build", "-q", "-n", "1000", "--shards", "2", "-o", at, lines=keys(5))
    with server.client() as c:
        shards = [key for key in c.must("KEYS", "*")]
        eq(len(shards), 2)
        for count in (2 ** 64 - 1, 2 ** 64 - 5, 2 ** 63, 2 ** 53 - 3):
            for key in shards:
                c.must("SETRANGE", key, 96, count.to_bytes(8, "little"))
            before = report(server, "info", at)["count"]
            bloomery(server, "add", "--json", at, lines=keys(40, f"{count}"))
            told = report(server, "info", at)["count"]
            ok(told >= before >= 2 ** 53, f"{count}: {before}, then {told}")
            for key in shards:
                now = int.from_bytes(c.must("GETRANGE", key, 96, 103), "little")
                ok(now >= count, f"{count}: {now}")
            bloomery(server, "pull", "-q", "-f", at, "there.bly")
            bloomery(server, "verify", "there.bly")


def test_build_replaces_on_demand():
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-o", at, lines=b"old\n")
    refused(server, "--force replaces it", "build", "-o", at, lines=b"new\n")
    eq(bloomery(server, "check", at, lines=b"old\nnew\n")[0], "old\n")
    bloomery(server, "build", "-q", "-f", "--shards", "2", "-n", "1000", "-o", at, lines=b"new\n")
    eq(bloomery(server, "check", at, lines=b"old\nnew\n")[0], "new\n")
    eq(report(server, "info", at)["shards"], 2)
    with server.client() as c:
        c.must("SET", "text", "precious")
        c.must("RPUSH", "row", "precious")
        for key in ("text", "row"):
            refused(server, "is not replaced", "build", "-f", "-o", address(server, key), lines=b"x\n")
        eq(c.must("GET", "text"), b"precious")
        eq(c.must("LRANGE", "row", 0, -1), [b"precious"])


def test_build_refusals():
    server = plain()
    at = address(server, "k")
    for kind in ("cuckoo", "fuse", "bb2x512", "classic"):
        refused(server, "sbbf and split512 alone", "build", "--kind", kind, "-o", at, lines=b"x\n")
    refused(server, "--smallest", "build", "--smallest", "-o", at, lines=b"x\n")
    refused(server, "-o redis://", "build", "--shards", "3", "-o", "file.bly", lines=b"x\n")
    refused(server, "4096", "build", "--shards", "5000", "-o", at, lines=b"x\n")
    refused(server, "leave --shards out", "build", "--shards", "9", "-o", at, lines=b"x\n")
    refused(server, "names no key", "build", "-o", f"redis://127.0.0.1:{server.port}", lines=b"x\n")
    bloomery(server, "build", "-q", "-o", "f.bly", lines=b"x\n")
    refused(server, "--over", "build", "--over", "f.bly", "-o", at)
    refused(server, "malformed", "build", "--type", "ip", "-o", at, lines=b"1.2.3.4\nno address\n")
    with server.client() as c:
        eq(c.must("DBSIZE"), 0, "something was written")
    # Kinds by rate: what the layout for the rate would be, if it can be there.
    for rate, kind in (("1%", "sbbf"), ("0.1%", "split512"), ("1e-6", "split512")):
        eq(report(server, "build", "-f", "-p", rate, "-o", at, lines=keys(100))["kind"], kind)


def test_add():
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-o", at, "-n", "200000", lines=keys(1000))
    added = report(server, "add", at, lines=keys(70000, first=500))
    eq((added["keys"], added["unsure"], added["type"]), (70000, 0, "line"))
    ok(69480 < added["new"] <= 69500, f"{added['new']} of 69,500 new")
    eq(added["count"], report(server, "info", at)["count"])
    _, err = bloomery(server, "add", at, "--key", "one more")
    ok("1 of 1 new; it holds 70," in err, err)
    eq(report(server, "add", at, "--key", "one more")["new"], 0)
    out, _ = bloomery(server, "check", "-c", at, lines=keys(70500))
    eq(out, "70500\n")
    refused(server, "--copies", "add", "--copies", at, lines=b"x\n")
    refused(server, "no such key", "add", address(server, "none"), lines=b"x\n")
    refused(server, "nothing can be removed", "remove", at, "-k", "x")
    refused(server, "bloomery pull", "verify", at)
    # Past its capacity.
    small = address(server, "small")
    bloomery(server, "build", "-q", "-o", small, "-n", "1000", lines=b"x\n")
    _, err = bloomery(server, "add", small, lines=keys(5000))
    ok("warning" in err and "made for 1,000" in err, err)
    ok(not report(server, "info", small)["keeps_promise"], "it keeps no promise")


def test_two_add_at_once():
    """Of each key exactly one is told that it was new."""
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-p", "1e-6", "-n", "100000", "-o", at, lines=b"x\n")
    news = []

    def add():
        news.append(report(server, "add", at, lines=keys(60000))["new"])
    threads = [threading.Thread(target=add) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ok(59990 <= sum(news) <= 60000, f"{news} of 60,000 were new")


def test_info():
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-n", "1e6", "-p", "1%", "--seed", "7", "--shards", "4",
             "--expire", "2h", "-o", at, lines=keys(1000))
    info = report(server, "info", at)
    eq((info["kind"], info["form"], info["capacity"], info["shards"], info["servers"]),
       ("sbbf", "native", 1000000, 4, 1))
    eq((info["hash"], info["seed"], info["type"], info["rate_per_line_requested"]), ("xxh3", 7, "line", 0.01))
    ok(990 < info["count"] <= 1000 and 0 < info["rate_per_line_current"] < 0.001, str(info))
    ok(7100000 < info["expires_ms"] <= 7200000, str(info))
    ok(len(info["stamp"]) == 16, str(info))
    with server.client() as c:
        strings = c.must("KEYS", "*")
        eq(len(strings), 4)
        eq(sum(c.must("STRLEN", key) for key in strings), info["bytes"])
        ok(all(0 < c.must("PTTL", key) <= 7200000 for key in strings), "a shard does not expire")
    text, _ = bloomery(server, "info", at)
    for words in ("4, of ", "all on one server", "expires    in ", "1,000,000 keys", info["stamp"]):
        ok(words in text, f"'{words}' is not in {text}")
    # Another under the same key has another stamp, and lives for ever.
    bloomery(server, "build", "-q", "-f", "-n", "1e6", "-p", "1%", "--seed", "7", "-o", at,
             lines=keys(1000))
    again = report(server, "info", at)
    ok(again["stamp"] != info["stamp"] and again["expires_ms"] is None, str(again))
    # One missing does not keep the others from being described.
    out, err = bloomery(server, "info", "--json", address(server, "no"), at, status=2)
    ok("no such key" in err and json.loads(out)["file"] == at, out + err)


def test_what_else_a_key_may_be():
    server = Server()
    with server.client() as c:
        c.must("BF.RESERVE", "bf", "0.01", "1000")
        c.must("BLY.RESERVE", "bly", "KIND", "sbbf", "CAPACITY", 1000)
        c.must("SET", "text", "x" * 200)
        c.must("HSET", "hash", "a", "b")
    for key, words in (("bf", "module"), ("bly", "BLY.INFO"), ("text", "--gozero"),
                       ("hash", "no filter"), ("none", "no such key")):
        for command in (("info",), ("check", "-k", "x"), ("add", "-k", "x")):
            refused(server, words, command[0], address(server, key), *command[1:])
    refused(server, "is not replaced", "build", "-f", "-o", address(server, "bly"), lines=b"x\n")


def test_logins():
    server = plain("requirepass pass:word")
    refused(server, "wants a password", "build", "-o", address(server, "k"), lines=b"x\n")
    at = address(server, "k", ":pass%3Aword@")
    _, err = bloomery(server, "build", "-o", at, lines=b"x\n")
    ok("word" not in err, "a message shows the password: " + err)
    eq(bloomery(server, "check", at, "-k", "x")[0], "x\n")
    eq(bloomery(server, "check", f"unix://{server.unix}?key=k", "-k", "x",
                REDISCLI_AUTH="pass:word")[0], "x\n")
    info = report(server, "info", at)
    ok("word" not in info["file"], info["file"])
    refused(server, "password", "check", address(server, "k", ":wrong@"), "-k", "x")


# ---- lists that know their type ----------------------------------------------------------------


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
    # Blocks of a new width are found, too.
    added = report(server, "add", at, lines=b"198.51.96.0/20\n192.0.2.0/24\n")
    eq((added["new"], added["marks"]), (1, 36))
    # A line needs a lookup more than the rate was requested for.
    info = report(server, "info", at)
    eq((info["lookups_per_line"], info["rate_per_line_requested"]), (3, 0.001))
    eq(bloomery(server, "check", at, lines=b"198.51.97.9\n")[0], "198.51.97.9\n")
    # A malformed line changes nothing, wherever it stands; or is left out.
    before = report(server, "info", at)["count"]
    refused(server, "malformed", "add", at, lines=b"203.0.113.7\nno address\n")
    eq(report(server, "info", at)["count"], before)
    eq(report(server, "add", "--skip-malformed", at, lines=b"203.0.113.7\nno address\n")["new"], 1)
    refused(server, "type ip", "add", "--type", "domain", at, lines=b"example.com\n")
    # As the file that it was.
    bloomery(server, "pull", "-q", at, "ip.bly")
    eq(bloomery(server, "check", "ip.bly", lines=b"198.51.97.9\n192.0.2.1\n")[0],
       "198.51.97.9\n192.0.2.1\n")


def test_types_are_recorded():
    """The head of the strings says the type, however full the filter is; a list without a record
    is not guessed when it is overfull."""
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
    refused(server, "too full to tell", "check", old, lines=lines)
    eq(bloomery(server, "check", "-c", "--type", "line", old, lines=lines)[0], "8000\n")
    # Far from full its marks are believed.
    bloomery(server, "build", "-q", "--type", "ip", "-n", "100", "-o", "ip.bly", lines=b"10.0.0.0/8\n")
    subprocess.run([sys.executable, os.path.join(ROOT, "tests/cli/unrecord.py"),
                    server.path("ip.bly")], check=True)
    bloomery(server, "push", "-q", "ip.bly", address(server, "ip"))
    eq(bloomery(server, "check", address(server, "ip"), "-k", "10.9.8.7")[0], "10.9.8.7\n")


def test_old_states_of_dedup():
    """One that records nothing is asked in each form that its lines may have, and gets them all."""
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
    eq(said.count("in both forms"), 1)
    eq(bloomery(server, "dedup", "--redis", lines, lines=b"k\r\nk\n\nl\r\n")[0], "")
    urls = push("urls", "--url")
    eq(bloomery(server, "check", "-c", urls, lines=b"http://EXAMPLE.org/d\r\nc\r\ne\r\n")[0], "2\n")
    bloomery(server, "add", "-q", urls, lines=b"http://example.org:80/f\n")
    eq(bloomery(server, "dedup", "--redis", urls, "--url", lines=b"http://EXAMPLE.org/f\n")[0], "")
    field = push("field", "--field", "1", "-t", " ")
    refused(server, "its keys are parts of lines", "check", field, "-k", "A")
    refused(server, "its keys are parts of lines", "add", field, "-k", "A")


def test_states_of_dedup():
    """What dedup --redis has seen is looked up as it was made."""
    server = plain()
    at = address(server, "urls")
    seen = b"HTTP://Example.org/a\r\n\r\nno url\n"
    bloomery(server, "dedup", "--redis", at, "-n", "1000", "--url", lines=seen)
    eq(bloomery(server, "check", "-c", at, lines=b"http://example.ORG/a\n\nno url\r\nother\n")[0], "3\n")
    eq(report(server, "add", at, lines=b"http://EXAMPLE.org/b\n")["new"], 1)
    eq(bloomery(server, "dedup", "--redis", at, "--url", lines=b"http://example.org/b\n"), ("", ""))
    eq(report(server, "info", at)["type"], "dedup --url")
    bloomery(server, "pull", "-q", at, "urls.bly")
    eq(bloomery(server, "check", "-c", "urls.bly", lines=b"http://example.ORG/a\n")[0], "1\n")
    bloomery(server, "dedup", "--redis", address(server, "f"), "-n", "10", "--field", "1", lines=b"x\n")
    refused(server, "--field or --ignore-case", "check", address(server, "f"), "-k", "x")
    # A list of lines is shared, too; blank lines that it is given are found then.
    bloomery(server, "build", "-q", "-n", "1000", "-o", address(server, "list"), lines=b"a\nb\n")
    eq(bloomery(server, "dedup", "--redis", address(server, "list"), lines=b"a\r\nc\n\n")[0], "c\n\n")
    eq(bloomery(server, "check", address(server, "list"), lines=b"a\nc\n\nd\n")[0], "a\nc\n\n")


def test_typed_in_batches():
    """More questions than fit one trip: every line is several."""
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
    refused(server, "another key", "check", "--key-file", "other", at, "-k", "key 1")
    # Away and back, without the key and with it.
    bloomery(server, "pull", "-q", at, "k.bly")
    eq(bloomery(server, "check", "--key-file", "secret", "k.bly", "-k", "new one")[0], "new one\n")
    refused(server, "--key-file", "push", "k.bly", address(server, "again"))
    bloomery(server, "push", "-q", "--key-file", "secret", "k.bly", address(server, "again"))
    eq(report(server, "info", address(server, "again"))["key_id"], info["key_id"])
    # A build that fails leaves no key behind.
    refused(server, "already", "build", "--new-key", "third", "-o", at, lines=b"x\n")
    ok(not os.path.exists(server.path("third")), "a key without a list")


# ---- errors ------------------------------------------------------------------------------------


def test_errors_are_no_answers():
    server = plain()
    at = address(server, "k")
    refused(server, "no such key", "check", at, "-k", "x")
    refused(server, "no such key", "check", "-v", at, "-k", "x")
    refused(server, "no such key", "check", "-c", at, lines=keys(3))
    bloomery(server, "build", "-q", "--shards", "3", "-n", "10000", "-o", at, lines=keys(100))
    with server.client() as c:
        others = [key for key in c.must("KEYS", "*") if key != b"k"]
        c.must("DEL", others[0])
    refused(server, "not", "check", "-v", at, lines=keys(100))
    refused(server, "not", "add", at, lines=keys(100))
    refused(server, "Connection refused", "check", "redis://127.0.0.1:1/k", "-k", "x")
    refused(server, "--on-error", "check", "--on-error", "yes", "file.bly", "-k", "x")
    refused(server, "--verify", "check", "--verify", at, "-k", "x")
    for command in ("info", "add"):
        refused(server, "on server", command, "--gozero", "100", "file.bly")


class Pipe:
    """A check that is fed line by line."""

    def __init__(self, server, *args, **environment):
        self.process = subprocess.Popen([PROGRAM, "check", *args], cwd=server.folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE,
                                        env={**os.environ, **environment})

    def ask(self, line):
        """JSON's verdict on a line."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def end(self, status):
        _, err = self.process.communicate(timeout=60)
        eq(self.process.returncode, status, err.decode())
        return err.decode()


def test_replaced_meanwhile():
    server = plain()
    at = address(server, "k")
    for shards in ("1", "3"):
        bloomery(server, "build", "-q", "-f", "--shards", shards, "-n", "1000", "-o", at,
                 lines=b"old\n")
        stays, follows = Pipe(server, "--json", at), Pipe(server, "--json", "--follow", at)
        for pipe in (stays, follows):
            ok(pipe.ask("old")["match"] and not pipe.ask("new")["match"])
        # What is added is seen at once.
        bloomery(server, "add", "-q", at, "-k", "more")
        for pipe in (stays, follows):
            ok(pipe.ask("more")["match"])
        bloomery(server, "build", "-q", "-f", "--shards", shards, "-n", "1000", "-o", at,
                 lines=b"new\n")
        ok(follows.ask("new")["match"] and not follows.ask("old")["match"])
        ok("was replaced" in follows.end(0))
        stays.say("old")
        err = stays.end(2)
        ok("--follow" in err, err)


def test_follow_finds_new_levels():
    """Who follows a list finds what was added, also blocks of a width that the list had not."""
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "--type", "ip", "-n", "1000", "-o", at, lines=b"10.0.0.0/8\n")
    pipe = Pipe(server, "--json", "--follow", at)
    ok(pipe.ask("10.1.2.3")["match"] and not pipe.ask("192.0.2.9")["match"])
    bloomery(server, "add", "-q", at, lines=b"192.0.2.0/24\n")
    wait_for(lambda: pipe.ask("192.0.2.9")["match"], timeout=10, step=0.2, what="the new block")
    pipe.end(0)


def test_on_error():
    server = plain()
    at = address(server, "k")
    for choice, match in (("yes", True), ("no", False)):
        # None there from the beginning.
        out, err = bloomery(server, "check", "--on-error", choice, at, lines=b"a\nb\n",
                            status=0 if match else 1)
        eq(out, "a\nb\n" if match else "")
        ok("no such key" in err and "no answer about 2 lines" in err, err)
        answer = json.loads(bloomery(server, "check", "--json", "--on-error", choice, at, "-k", "a",
                                     status=0 if match else 1)[0])
        eq(answer, {"line": "a", "match": match, "by": None, "assumed": True})
    out, _ = bloomery(server, "check", "-v", "--on-error", "no", at, lines=b"a\nb\n")
    eq(out, "a\nb\n")
    refused(server, "no such key", "check", "--on-error", "stop", at, "-k", "a")
    # What will not pass is an error all the same.
    with server.client() as c:
        c.must("RPUSH", "row", "x")
    refused(server, "no filter", "check", "--on-error", "yes", address(server, "row"), "-k", "a")
    # It goes away, and comes back.
    bloomery(server, "build", "-q", "-o", at, lines=b"a\n")
    with server.client() as c, Clock() as clock:
        pipe = Pipe(server, "--json", "--on-error", "yes", at, **clock.environment)
        ok(not pipe.ask("b")["match"])
        c.must("DEL", "k")
        answer = pipe.ask("b")
        ok(answer["match"] and answer["assumed"], str(answer))
        bloomery(server, "build", "-q", "-o", at, lines=b"a\n")

        def answered():
            clock.forward(1)  # between two lines, when nothing is under way
            return "assumed" not in pipe.ask("a")
        wait_for(answered, timeout=20, step=0.02, what="an answer")
        ok(not pipe.ask("b")["match"])
    ok("all lines are taken for lines that are in the list" in pipe.end(0))


def test_server_dies():
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-o", at, lines=keys(1000))
    with Clock() as clock:
        pipe = Pipe(server, "--json", "--on-error", "no", at, **clock.environment)
        ok(pipe.ask("key 1")["match"])
        server.kill()
        server.expected_dead = True
        with clock.racing():
            answer = pipe.ask("key 1")
        eq((answer["match"], answer["assumed"]), (False, True))
        pipe.end(0)


def test_server_dies_while_adding():
    """What is in the filter for certain is told apart from what is not known."""
    server = plain()
    at = address(server, "k")
    bloomery(server, "build", "-q", "-n", "100000", "-o", at, lines=b"x\n")
    with Clock() as clock:
        adding = subprocess.Popen([PROGRAM, "add", at], stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**os.environ, **clock.environment})
        adding.stdin.write(keys(40000))
        adding.stdin.flush()
        wait_for(lambda: report(server, "info", at)["count"] > 32000, what="the first batch")
        server.kill()
        server.expected_dead = True
        with clock.racing():
            _, err = adding.communicate(keys(40000, "more"), timeout=60)
    eq(adding.returncode, 2)
    err = err.decode()
    # The first 32,768 keys are sent in pieces, and the last answer may not have come when the server died.
    told = re.search(r"([\d,]+) keys are in it for certain; whether the next ([\d,]+) are is not known", err)
    ok(told, err)
    certain, unknown = (int(number.replace(",", "")) for number in told.groups())
    ok(32000 <= certain <= 32768 <= certain + unknown <= 65536, err)


# ---- go-zero -----------------------------------------------------------------------------------


def test_gozero():
    server = plain()
    at, bits = address(server, "gz"), "200000"
    refused(server, "not there", "check", "--gozero", bits, at, "-k", "x")
    added = report(server, "add", "--gozero", bits, at, lines=keys(5000))
    ok(4990 < added["new"] <= 5000 and added["keys"] == 5000, str(added))
    eq(report(server, "add", "--gozero", bits, at, lines=keys(5000))["new"], 0)
    out, _ = bloomery(server, "check", "-c", "--gozero", bits, at, lines=keys(6000))
    ok(5000 <= int(out) < 5010, out)
    info = report(server, "info", "--gozero", bits, at)
    with server.client() as c:
        eq(info["set_bits"], c.must("BITCOUNT", "gz"))
    ok(4900 < info["estimated_keys"] < 5100 and info["form"] == "go-zero", str(info))
    text, _ = bloomery(server, "info", "--gozero", bits, at)
    ok("200,000, of which" in text and "estimated" in text, text)
    refused(server, "--gozero", "info", at)
    refused(server, "4294967296", "info", "--gozero", "5G", at)
    refused(server, "--key-file", "check", "--gozero", bits, "--key-file", "x", at, "-k", "x")
    refused(server, "--follow", "check", "--gozero", bits, "--follow", at)


# ---- push and pull -----------------------------------------------------------------------------


def test_push_and_pull():
    server = plain()
    for kind, shards in (("sbbf", 1), ("split512", 5)):
        bloomery(server, "build", "-q", "-f", "--kind", kind, "-o", "a.bly", lines=keys(30000))
        at = address(server, kind)
        out, err = bloomery(server, "push", "--json", "--shards", str(shards), "--expire", "1h",
                            "a.bly", at)
        sent = json.loads(out)
        ok("has no Bloomery module" in err, err)
        eq((sent["plain"], sent["shards"], sent["key"], sent["file"]), (True, shards, kind, "a.bly"))
        ok(0 < report(server, "info", at)["expires_ms"] <= 3600000)
        eq(bloomery(server, "check", "-c", at, lines=keys(30000))[0], "30000\n")
        refused(server, "--replace replaces it", "push", "a.bly", at)
        fetched = report(server, "pull", "-f", at, "b.bly")
        eq((fetched["plain"], fetched["shards"]), (True, shards))
        ok(contents(server, "a.bly") == contents(server, "b.bly"), f"{kind}: another came back")
        refused(server, "b.bly", "pull", at, "b.bly")
        # What is added there is in the next file.
        bloomery(server, "add", "-q", at, "-k", "added there")
        bloomery(server, "pull", "-q", "-f", at, "b.bly")
        eq(bloomery(server, "check", "b.bly", "-k", "added there")[0], "added there\n")
        bloomery(server, "verify", "-q", "b.bly")
        bloomery(server, "push", "-q", "--replace", "a.bly", at)
        bloomery(server, "check", "-q", at, "-k", "added there", status=1)
    for kind in ("bb2x512", "cuckoo", "fuse"):
        bloomery(server, "build", "-q", "-f", "--kind", kind, "-o", "a.bly", lines=keys(100))
        refused(server, "--kind split512", "push", "a.bly", address(server, "k"))
    bloomery(server, "build", "-q", "-f", "-o", "a.bly", lines=keys(100))
    refused(server, "leave --resume out", "push", "--resume", "a.bly", address(server, "k"))
    refused(server, "--chunk-size", "push", "--chunk-size", "1K", "a.bly", address(server, "k"))
    refused(server, "--chunk-size", "pull", "--chunk-size", "1K", address(server, "sbbf"), "x.bly")
    with server.client() as c:
        c.must("SET", "text", "x")
        refused(server, "is not replaced", "push", "--replace", "a.bly", address(server, "text"))
        refused(server, "no filter", "pull", address(server, "text"), "x.bly")
        c.must("RPUSH", "row", "x")
        refused(server, "no filter", "pull", address(server, "row"), "x.bly")
        eq(c.must("GET", "text"), b"x")
        eq(c.must("EXISTS", "k"), 0)
    refused(server, "no such key", "pull", address(server, "none"), "x.bly")
    ok(not os.path.exists(server.path("x.bly")), "a failed pull left a file")


def test_beside_the_module():
    server = Server()
    bloomery(server, "build", "-q", "-o", "a.bly", lines=keys(2000))
    bloomery(server, "push", "-q", "a.bly", address(server, "theirs"))
    bloomery(server, "push", "-q", "--plain", "a.bly", address(server, "ours"))
    with server.client() as c:
        eq(c.must("BLY.CHECK", "theirs", "key 7"), [1])
        eq(str(c.must("TYPE", "ours")), "string")
    eq(bloomery(server, "check", address(server, "ours"), "-k", "key 7")[0], "key 7\n")
    for key in ("theirs", "ours"):
        bloomery(server, "pull", "-q", "-f", address(server, key), "b.bly")
        ok(contents(server, "a.bly") == contents(server, "b.bly"), f"{key}: another came back")
    refused(server, "add --plain", "push", "--shards", "2", "a.bly", address(server, "k"))
    refused(server, "add --plain", "push", "--expire", "1h", "a.bly", address(server, "k"))
    refused(server, "is not replaced", "push", "--plain", "--replace", "a.bly",
            address(server, "theirs"))
    refused(server, "no filter", "push", "--replace", "a.bly", address(server, "ours"))


def test_push_typed():
    """The module compares bytes, and is sent no such list by mistake. Strings are asked by bloomery
    check, which knows the type."""
    server, module = plain(), Server()
    for place in (server, module):
        bloomery(place, "build", "-q", "--type", "ip", "-o", "ip.bly", lines=b"192.0.2.0/24\n")
    refused(module, "--as-is", "push", "ip.bly", address(module, "ip"))
    for place, more in ((server, ()), (module, ("--plain",))):
        _, err = bloomery(place, "push", *more, "ip.bly", address(place, "ip"))
        ok("a list of type ip" in err, err)
        eq(bloomery(place, "check", address(place, "ip"), "-k", "192.0.2.9")[0], "192.0.2.9\n")
    bloomery(module, "push", "-q", "--as-is", "ip.bly", address(module, "other"))


def test_output_of_others():
    server = plain()
    at = address(server, "both")
    for name, first in (("a.bly", 0), ("b.bly", 500)):
        bloomery(server, "build", "-q", "-n", "2000", "-o", name, lines=keys(600, first=first))
    bloomery(server, "merge", "-q", "-o", at, "a.bly", "b.bly")
    eq(bloomery(server, "check", "-c", at, lines=keys(1100))[0], "1100\n")
    refused(server, "--force replaces it", "intersect", "-o", at, "a.bly", "b.bly")
    bloomery(server, "intersect", "-q", "-f", "-o", at, "a.bly", "b.bly")
    out, _ = bloomery(server, "check", "-c", at, lines=keys(1100))
    ok(100 <= int(out) < 150, out)


# ---- clusters ----------------------------------------------------------------------------------


def test_cluster():
    cluster = Cluster(module=False)
    node = cluster.masters[0]
    at = address(node, "crawl")
    made = report(node, "build", "--shards", "6", "-n", "100000", "-o", at, lines=keys(20000))
    eq(made["shards"], 6)
    info = report(node, "info", at)
    eq((info["shards"], info["servers"]), (6, 3))
    ok("6, of" in bloomery(node, "info", at)[0] and "on 3 servers" in bloomery(node, "info", at)[0])
    at = address(cluster.masters[2], "crawl")  # any of them will do
    eq(bloomery(node, "check", "-c", at, lines=keys(20000))[0], "20000\n")
    ok(report(node, "add", at, lines=keys(30000, first=10000))["new"] > 19950)
    bloomery(node, "pull", "-q", at, "a.bly")
    eq(bloomery(node, "check", "-c", "a.bly", lines=keys(40000))[0], "40000\n")
    bloomery(node, "push", "-q", "--shards", "3", "a.bly", address(node, "copy"))
    bloomery(node, "pull", "-q", address(cluster.masters[1], "copy"), "b.bly")
    ok(contents(node, "a.bly") == contents(node, "b.bly"), "another file came back")


# ---- plan --------------------------------------------------------------------------------------


def test_plan():
    here = plain()
    for n, p, kind in (("10G", "1%", "sbbf"), ("1e6", "0.1%", "split512"), ("3e9", "0.1%", "split512")):
        plan = report(here, "plan", "--plain", "-n", n, "-p", p)
        strings = plan["redis"]
        eq(plan["kind"], kind)
        most = (1 << 29) - 128
        eq(strings["shards"], -(-plan["bytes"] // most), f"{n} at {p}")
        ok(strings["shard_bytes"] <= 1 << 29, str(strings))
        block = {"sbbf": 32, "split512": 64}[kind]
        eq(strings["bytes"], plan["size"] * block + 128 * strings["shards"])
        eq([row["kind"] for row in plan["kinds"]], ["sbbf", "split512"])
    eq(report(here, "plan", "--plain", "-n", "10G", "-p", "1%")["redis"]["shards"], 25)
    eq(report(here, "plan", "--plain", "-n", "1M", "--shards", "7")["redis"]["shards"], 7)
    eq(report(here, "plan", "--plain", "-m", "2G", "-p", "1%")["redis"]["shards"], 5)
    text, _ = bloomery(here, "plan", "--plain", "-n", "10G", "-p", "1%")
    ok("25 strings of 502 MiB each" in text, text)
    refused(here, "--plain", "plan", "-n", "1M", "--shards", "7")
    refused(here, "plain bits", "plan", "--plain", "-n", "1M", "--deletes")
    refused(here, "sbbf and split512", "plan", "--plain", "-n", "1M", "--kind", "cuckoo")
    refused(here, "512 MB", "plan", "--plain", "-n", "10G", "--shards", "3")
    refused(here, "4096 strings", "plan", "--plain", "-n", "1e13")
    # As planned, so made.
    made = report(here, "build", "-n", "1e6", "-p", "1%", "-o", address(here, "k"), lines=b"x\n")
    plan = report(here, "plan", "--plain", "-n", "1e6", "-p", "1%")
    eq((made["bytes"], made["shards"]), (plan["redis"]["bytes"], plan["redis"]["shards"]))


if __name__ == "__main__":
    main(globals())
