"""cli.py - `bloomery build`, `add`, `check`, `info`, `drop` and `plan` on filters of plain servers."""
import json
import sys
import threading

sys.dont_write_bytecode = True

from cli_support import address, bloomery, contents, keys, plain, refused, report  # noqa: E402
from harness import Cluster, Server, eq, main, ok  # noqa: E402


# ---- drop --------------------------------------------------------------------------------------


def test_drop():
    """drop deletes all strings of a filter, and nothing else."""
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
        refused(server, "not a Bloomery filter; use another key", "drop", address(server, "text"))
        refused(server, "use rm", "drop", "list.bly")
        refused(server, "no address given", "drop")
        _, err = bloomery(server, "drop", address(server, "other"))
        ok("deleted" in err and "1 Redis string" in err, err)
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
    # All keys are found, in order, over several round trips; few other lines are.
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
    """A client that can write to the key can store any count. The count never wraps around to 0."""
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
    refused(server, "use --force to replace it", "build", "-o", at, lines=b"new\n")
    eq(bloomery(server, "check", at, lines=b"old\nnew\n")[0], "old\n")
    bloomery(server, "build", "-q", "-f", "--shards", "2", "-n", "1000", "-o", at, lines=b"new\n")
    eq(bloomery(server, "check", at, lines=b"old\nnew\n")[0], "new\n")
    eq(report(server, "info", at)["shards"], 2)
    with server.client() as c:
        c.must("SET", "text", "precious")
        c.must("RPUSH", "row", "precious")
        for key in ("text", "row"):
            refused(server, "so it is not replaced", "build", "-f", "-o", address(server, key), lines=b"x\n")
        eq(c.must("GET", "text"), b"precious")
        eq(c.must("LRANGE", "row", 0, -1), [b"precious"])


def test_build_refusals():
    server = plain()
    at = address(server, "k")
    for kind in ("cuckoo", "fuse", "bb2x512", "classic"):
        refused(server, "only sbbf and split512", "build", "--kind", kind, "-o", at, lines=b"x\n")
    refused(server, "--smallest", "build", "--smallest", "-o", at, lines=b"x\n")
    refused(server, "-o redis://", "build", "--shards", "3", "-o", "file.bly", lines=b"x\n")
    refused(server, "4096", "build", "--shards", "5000", "-o", at, lines=b"x\n")
    refused(server, "leave out --shards", "build", "--shards", "9", "-o", at, lines=b"x\n")
    refused(server, "has no key", "build", "-o", f"redis://127.0.0.1:{server.port}", lines=b"x\n")
    bloomery(server, "build", "-q", "-o", "f.bly", lines=b"x\n")
    refused(server, "--over", "build", "--over", "f.bly", "-o", at)
    refused(server, "malformed", "build", "--type", "ip", "-o", at, lines=b"1.2.3.4\nno address\n")
    with server.client() as c:
        eq(c.must("DBSIZE"), 0, "something was written")
    # The rate determines the kind.
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
    ok("1 of 1 key new; now 70," in err, err)
    eq(report(server, "add", at, "--key", "one more")["new"], 0)
    out, _ = bloomery(server, "check", "-c", at, lines=keys(70500))
    eq(out, "70500\n")
    refused(server, "--copies", "add", "--copies", at, lines=b"x\n")
    refused(server, "no such key", "add", address(server, "none"), lines=b"x\n")
    refused(server, "keys cannot be removed", "remove", at, "-k", "x")
    refused(server, "bloomery pull", "verify", at)
    # More keys than the capacity.
    small = address(server, "small")
    bloomery(server, "build", "-q", "-o", small, "-n", "1000", lines=b"x\n")
    _, err = bloomery(server, "add", small, lines=keys(5000))
    ok("warning" in err and "capacity: 1,000" in err, err)
    ok(not report(server, "info", small)["within_requested_rate"], "it is above its rate")


def test_two_add_at_once():
    """Exactly one of two commands is told that a key was new."""
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
    ok(990 < info["count"] <= 1000 and 0 < info["rate_per_line_expected"] < 0.001, str(info))
    # The bits were not counted.
    eq((info["rate_per_line_current"], info["rate_per_lookup_current"]), (None, None))
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
    ok(" expected (" in text and "current" not in text, text)
    # build --stats prints the same.
    _, err = bloomery(server, "build", "-q", "--stats", "-o", address(server, "s"), lines=keys(10))
    eq(err, bloomery(server, "info", address(server, "s"))[0])
    # A new filter under the same key has another stamp and no expiry.
    bloomery(server, "build", "-q", "-f", "-n", "1e6", "-p", "1%", "--seed", "7", "-o", at,
             lines=keys(1000))
    again = report(server, "info", at)
    ok(again["stamp"] != info["stamp"] and again["expires_ms"] is None, str(again))
    # A missing filter does not prevent the report on the others.
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
                       ("hash", "not a filter"), ("none", "no such key")):
        for command in (("info",), ("check", "-k", "x"), ("add", "-k", "x")):
            refused(server, words, command[0], address(server, key), *command[1:])
    refused(server, "will not be replaced", "build", "-f", "-o", address(server, "bly"), lines=b"x\n")


def test_logins():
    server = plain("requirepass pass:word")
    refused(server, "redis://:PASSWORD@HOST or in REDISCLI_AUTH", "build", "-o", address(server, "k"), lines=b"x\n")
    at = address(server, "k", ":pass%3Aword@")
    _, err = bloomery(server, "build", "-o", at, lines=b"x\n")
    ok("word" not in err, "a message shows the password: " + err)
    eq(bloomery(server, "check", at, "-k", "x")[0], "x\n")
    eq(bloomery(server, "check", f"unix://{server.unix}?key=k", "-k", "x",
                REDISCLI_AUTH="pass:word")[0], "x\n")
    info = report(server, "info", at)
    ok("word" not in info["file"], info["file"])
    refused(server, "password", "check", address(server, "k", ":wrong@"), "-k", "x")


# ---- go-zero -----------------------------------------------------------------------------------


def test_gozero():
    server = plain()
    at, bits = address(server, "gz"), "200000"
    bloomery(server, "build", "-q", "-o", address(server, "native"), lines=keys(10))
    refused(server, "is missing", "check", "--gozero", bits, at, "-k", "x")
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
    # With too few bits, every answer would be wrong: info refuses them like check.
    words = {command: bloomery(server, command, "--gozero", "100", at, *more, status=2)
             for command, *more in (("info",), ("check", "-k", "x"))}
    eq(words["info"][1].replace("bloomery info", "bloomery check"), words["check"][1])
    ok("more bits than a go-zero filter of that size" in words["check"][1] and "--follow" not in words["check"][1], str(words))
    refused(server, "is missing", "info", "--gozero", bits, address(server, "none"))
    refused(server, "open it without the number of bits", "info", "--gozero", bits, address(server, "native"))
    refused(server, "--gozero", "info", at)
    refused(server, "4294967296", "info", "--gozero", "5G", at)
    refused(server, "--key-file", "check", "--gozero", bits, "--key-file", "x", at, "-k", "x")
    refused(server, "--follow", "check", "--gozero", bits, "--follow", at)


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
    at = address(cluster.masters[2], "crawl")  # any node can be named
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
    refused(here, "--plain cannot be combined with --deletes", "plan", "--plain", "-n", "1M", "--deletes")
    refused(here, "sbbf and split512", "plan", "--plain", "-n", "1M", "--kind", "cuckoo")
    refused(here, "512 MiB", "plan", "--plain", "-n", "10G", "--shards", "3")
    refused(here, "4096 strings", "plan", "--plain", "-n", "1e13")
    # build makes what plan says.
    made = report(here, "build", "-n", "1e6", "-p", "1%", "-o", address(here, "k"), lines=b"x\n")
    plan = report(here, "plan", "--plain", "-n", "1e6", "-p", "1%")
    eq((made["bytes"], made["shards"]), (plan["redis"]["bytes"], plan["redis"]["shards"]))


if __name__ == "__main__":
    main(globals())
