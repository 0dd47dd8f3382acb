"""commands.py - COMMAND INFO, COMMAND DOCS, GETKEYS and ACLs of every command."""
import os
import re

from harness import ROOT, Error, Server, Simple, as_dict, eq, fails, main, ok

# Name: arity, flags, key access, categories, tips. Those of BF.* and CF.* are RedisBloom's, except
# that the key of SCANDUMP is read-only, and that CF.COMPACT is a write.
COMMANDS = {
    "bf.reserve": (-4, "write denyoom", "insert", "bloom write fast", ""),
    "bf.add": (3, "write denyoom", "insert", "bloom write", ""),
    "bf.madd": (-3, "write denyoom", "insert", "bloom write", ""),
    "bf.insert": (-4, "write denyoom", "insert", "bloom write", ""),
    "bf.exists": (3, "readonly fast", "read", "bloom read", ""),
    "bf.mexists": (-3, "readonly fast", "read", "bloom read", ""),
    "bf.info": (-2, "readonly fast", "read", "bloom read fast", "dont_cache"),
    "bf.card": (2, "readonly fast", "read", "bloom read fast", ""),
    "bf.debug": (2, "readonly fast", "read", "bloom read", "dont_cache"),
    "bf.scandump": (3, "readonly fast", "read", "bloom read", "dont_cache"),
    "bf.loadchunk": (4, "write denyoom", "update", "bloom write", ""),
    "cf.reserve": (-3, "write denyoom", "insert", "cuckoo write fast", ""),
    "cf.add": (3, "write denyoom", "insert", "cuckoo write", ""),
    "cf.addnx": (3, "write denyoom", "insert", "cuckoo write", ""),
    "cf.insert": (-4, "write denyoom", "insert", "cuckoo write", ""),
    "cf.insertnx": (-4, "write denyoom", "insert", "cuckoo write", ""),
    "cf.exists": (3, "readonly fast", "read", "cuckoo read", ""),
    "cf.mexists": (-3, "readonly fast", "read", "cuckoo read", ""),
    "cf.count": (3, "readonly fast", "read", "cuckoo read", ""),
    "cf.del": (3, "write fast", "delete", "cuckoo write", ""),
    "cf.compact": (2, "write", "update", "cuckoo write", ""),
    "cf.info": (2, "readonly fast", "read", "cuckoo read fast", "dont_cache"),
    "cf.debug": (2, "readonly fast", "read", "cuckoo read", "dont_cache"),
    "cf.scandump": (3, "readonly fast", "read", "cuckoo read", "dont_cache"),
    "cf.loadchunk": (4, "write denyoom", "update", "cuckoo write", ""),
    "bly.reserve": (-4, "write denyoom movablekeys", "reserve", "bloomery write slow", ""),
    "bly.add": (-3, "write denyoom", "insert", "bloomery write slow", ""),
    "bly.check": (-3, "readonly fast loading stale", "read", "bloomery read fast", ""),
    "bly.del": (-3, "write", "delete", "bloomery write slow", ""),
    "bly.count": (-3, "readonly fast", "read", "bloomery read fast", ""),
    "bly.card": (2, "readonly fast", "read", "bloomery read fast", ""),
    "bly.age": (-3, "readonly fast", "read", "bloomery read fast", ""),
    "bly.info": (2, "readonly fast", "read", "bloomery read fast", "dont_cache"),
    "bly.stats": (2, "readonly", "read", "bloomery read slow", "dont_cache"),
    "bly.merge": (-3, "write denyoom", "merge", "bloomery write slow", ""),
    "bly.clear": (2, "write", "delete", "bloomery write slow", ""),
    "bly.dump": (-3, "readonly", "read", "bloomery read slow", "dont_cache"),
    "bly.load": (-5, "write denyoom", "update", "bloomery write slow", ""),
    "bly.tick": (3, "write", "update", "bloomery write slow", ""),
    "bly.noop": (-3, "readonly fast", "read", "bloomery read fast", "dont_cache"),
    "bly.keyring": (1, "readonly fast loading stale", "none", "bloomery read fast", "dont_cache"),
}

READ = (1, 0, "RO access")
KEYS = {
    "none": [],
    "read": [READ],
    "insert": [(1, 0, "RW insert")],
    "update": [(1, 0, "RW update")],
    "delete": [(1, 0, "RW delete")],
    "merge": [(1, 0, "RW access insert"), (2, -1, "RO access")],
    "reserve": [(1, 0, "RW insert"), ("BASE", 0, "RO access")],
}

# The syntax after the key, as a client shows it from COMMAND DOCS.
SYNTAX = {
    "bf.reserve": "error_rate capacity [EXPANSION expansion] [NONSCALING]",
    "bf.add": "item",
    "bf.madd": "item...",
    "bf.insert": "[CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] "
                 "[NONSCALING] ITEMS item...",
    "bf.info": "[CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION]",
    "bf.scandump": "iterator",
    "bf.loadchunk": "iterator data",
    "cf.reserve": "capacity [BUCKETSIZE bucketsize] [MAXITERATIONS maxiterations] "
                  "[EXPANSION expansion] [ERROR error]",
    "cf.insert": "[CAPACITY capacity] [NOCREATE] ITEMS item...",
    "cf.insertnx": "[CAPACITY capacity] [NOCREATE] ITEMS item...",
    "cf.compact": "",
    "bly.reserve": "KIND kind [CAPACITY capacity] [ERROR error] [SEED number|RANDOM] "
                   "[HASH hash] [KEYED [id]] [GROWTH growth] [FIRSTSHARE first_share] "
                   "[HORIZON horizon] [SPAN span] [GENERATIONS generations] "
                   "[COUNTERBITS counter_bits] [CHANGES changes] [MARKER marker] [BASE base] "
                   "[SIZE size HASHES hashes [DETAIL detail]] [TEXTBOOK] [FOLDABLE] "
                   "[LAYOUT REDISBLOOM|REDISBLOOM-CUCKOO] [FACE BF|CF|BLY] [NONSCALING] "
                   "[EXPANSION expansion] [BUCKETSIZE bucketsize] [MAXITERATIONS maxiterations]",
    "bly.dump": "offset [COUNT bytes]",
    "bly.load": "total offset data [REPLACE] [META meta]",
    "bly.tick": "milliseconds",
    "bly.check": "item...",
    "bly.card": "",
}


def words(reply):
    """All byte strings of a reply as text."""
    if isinstance(reply, bytes):
        return reply.decode()
    if isinstance(reply, list):
        return [words(each) for each in reply]
    return reply


def told(client, name):
    """COMMAND INFO as a dict."""
    names = ("name", "arity", "flags", "first", "last", "step", "categories", "tips", "specs",
             "subcommands")
    return dict(zip(names, words(client.must("COMMAND", "INFO", name))[0]))


def spec_of(reply):
    spec = as_dict(reply)
    begin, find = as_dict(spec["begin_search"]), as_dict(spec["find_keys"])
    place, span = as_dict(begin["spec"]), as_dict(find["spec"])
    eq((find["type"], span["keystep"], span["limit"]), ("range", 1, 0))
    at = place["index"] if begin["type"] == "index" else place["keyword"]
    if begin["type"] == "keyword":
        eq(place["startfrom"], 2)
    return at, span["lastkey"], " ".join(spec["flags"])


def test_info():
    with Server() as server, server.client() as c:
        ours = words(c.must("COMMAND", "LIST", "FILTERBY", "MODULE", "bf"))
        eq(sorted(ours), sorted(COMMANDS))
        by_category = c("ACL", "CAT", "bloomery")
        for name, (arity, flags, access, categories, tips) in COMMANDS.items():
            about = told(c, name.upper())
            eq(about["name"], name)
            eq(about["arity"], arity, name)
            eq(sorted(about["flags"]), sorted(flags.split() + ["module"]), name)
            eq([spec_of(spec) for spec in about["specs"]], KEYS[access], name)
            last = {"none": 0, "merge": -1}.get(access, 1)
            first = 0 if access == "none" else 1
            eq((about["first"], about["last"], about["step"]), (first, last, first), name)
            eq(about["tips"], tips.split(), name)
            if not isinstance(by_category, Error):
                eq(sorted(about["categories"]), sorted("@" + w for w in categories.split()), name)


def syntax(arguments):
    """Arguments of COMMAND DOCS as a line."""
    return " ".join(one_word(as_dict(each)) for each in arguments)


def one_word(arg):
    kind, token, flags = arg["type"], arg.get("token", ""), arg.get("flags", [])
    if kind == "pure-token":
        shown = token
    elif kind == "oneof":
        shown = f"{token} " * bool(token) + "|".join(
            one_word(as_dict(each)) for each in arg["arguments"])
    elif kind == "block":
        shown = f"{token} " * bool(token) + syntax(arg["arguments"])
    else:
        shown = f"{token} " * bool(token) + arg["name"]
    shown += "..." if "multiple" in flags else ""
    return f"[{shown}]" if "optional" in flags else shown


def undescribed(arguments):
    """Names of the arguments, and of the parts of arguments, that have no summary."""
    for each in map(as_dict, arguments):
        if not 5 < len(each.get("summary", "")) < 80 or each["summary"].endswith("."):
            yield each["name"]
        yield from undescribed(each.get("arguments", []))


def test_docs():
    with Server() as server, server.client() as c:
        for name, (_, _, access, _, _) in COMMANDS.items():
            docs = as_dict(words(c.must("COMMAND", "DOCS", name)))
            eq(list(docs), [name])
            about = as_dict(list(docs.values())[0])
            ok(20 < len(about["summary"]) < 100 and not about["summary"].endswith("."), name)
            ok(about["complexity"].startswith("O("), name)
            eq((about["since"], about["group"], about["module"]), ("0.1.0", "module", "bf"), name)
            arguments = about.get("arguments", [])
            eq(list(undescribed(arguments)), [], name)
            keys = {"none": 0, "merge": 2}.get(access, 1)
            for i, each in enumerate(arguments[:keys]):
                each = as_dict(each)
                eq((each["type"], each["key_spec_index"]), ("key", i), name)
            if name in SYNTAX:
                eq(syntax(arguments[keys:]), SYNTAX[name], name)


def test_manual():
    """docs/redis.md has every command, with the mandatory words that the arity requires."""
    with open(os.path.join(ROOT, "docs/redis.md"), encoding="utf-8") as f:
        section = re.search(r"^## Commands\n(.*?)\n### BLY.INFO", f.read(), re.M | re.S)[1]
    rows = re.findall(r"^\| (`(?:BF|CF|BLY)\..*?) \| ", section, re.M)
    shown = [line for row in rows for line in re.findall(r"`([A-Z.]+\b.*?)`", row)]
    eq(sorted(line.split()[0].lower() for line in shown), sorted(COMMANDS))
    for line in shown:
        mandatory = len(re.sub(r"\[[^]]*\]", "", line).split())
        arity = COMMANDS[line.split()[0].lower()][0]
        eq(-mandatory if "[" in line else mandatory, arity, line)


def test_keys():
    with Server() as server, server.client() as c:
        for line, keys in (("BF.ADD k a", "k"), ("BF.MADD k a b", "k"),
                           ("BF.INSERT k ITEMS a", "k"), ("CF.DEL k a", "k"),
                           ("BLY.MERGE d s1 s2 s3", "d s1 s2 s3"), ("BLY.LOAD k 1 0 x", "k"),
                           ("BLY.RESERVE k KIND scalable CAPACITY 9", "k"),
                           ("BLY.RESERVE k KIND overlay BASE other CHANGES 9", "k other"),
                           ("BLY.RESERVE BASE KIND scalable", "BASE")):
            eq(words(c.must("COMMAND", "GETKEYS", *line.split())), keys.split(), line)


def test_arity():
    with Server() as server, server.client() as c:
        for name, (arity, *_) in COMMANDS.items():
            given = abs(arity) - 1
            wrong = [given - 1] if given > 0 else []
            if arity > 0:
                wrong.append(given + 1)
            for n in wrong:
                for spelled in (name, name.upper()):
                    eq(c(spelled, *["x"] * n), Error(f"ERR wrong number of arguments for "
                                                     f"'{name}' command"), f"{spelled} {n}")
        for line in ("BF.INSERT k ITEMS", "BF.INFO k size x", "CF.INSERT k NOCREATE ITEMS"):
            eq(c(*line.split()), Error("ERR wrong number of arguments for "
                                       f"'{line.split()[0].lower()}' command"), line)


def test_acl():
    """Users who may access only some keys, or some categories."""
    with Server() as server, server.client() as c, server.client() as u:
        eq(c("ACL", "SETUSER", "u", "on", "nopass", "+@all", "%R~in:*", "~own:*"), Simple("OK"))
        eq(u("AUTH", "u", "x"), Simple("OK"))
        denied = "NOPERM"
        for line in ("BF.ADD in:a x", "CF.DEL in:a x", "BLY.MERGE in:a own:b", "BF.EXISTS other x",
                     "BLY.MERGE own:a other", "BLY.RESERVE own:a KIND overlay BASE other",
                     "CF.COMPACT in:a", "BLY.CLEAR in:a", "BF.LOADCHUNK in:a 1 x"):
            fails(u(*line.split()), denied)
        for line in ("BF.ADD own:a x", "BF.EXISTS in:a x", "BLY.CHECK in:a x", "BF.CARD own:a"):
            ok(not isinstance(u(*line.split()), Error), line)
        reply = u("BLY.MERGE", "own:m", "own:a", "in:a")
        ok(not isinstance(reply, Error) or reply.code != denied, str(reply))
        if isinstance(c("ACL", "CAT", "bloom"), Error):
            return
        c.must("ACL", "SETUSER", "w", "on", "nopass", "+@bloom", "-@write", "+@cuckoo", "~*")
        eq(u("AUTH", "w", "x"), Simple("OK"))
        for line in ("BF.ADD k x", "BLY.CHECK k x", "BLY.RESERVE k KIND scalable"):
            fails(u(*line.split()), denied)
        ok(not isinstance(u("BF.EXISTS", "k", "x"), Error))
        ok(not isinstance(u("CF.ADD", "k2", "x"), Error))


def test_spelling():
    """Names are shown in lower case, like RedisBloom's, however a client spells them."""
    with Server() as server, server.client() as c, server.client() as u:
        c.must("BF.ADD", "k", "x")
        c.must("bf.add", "k", "y")
        c.must("Cf.AddNx", "q", "x")
        c.must("BLY.CHECK", "k", "x")
        for wrong in (("BF.ADD", "k"), ("BF.INFO", "k", "size", "x")):
            fails(c(*wrong), "ERR wrong number of arguments")
        stats = c.info("commandstats")
        eq(sorted(name for name in stats if "." in name),
           ["cmdstat_" + name for name in ("bf.add", "bf.info", "bly.check", "cf.addnx")])
        eq([field.split("=") for field in stats["cmdstat_bf.add"].split(",")][0], ["calls", "2"])

        c.must("ACL", "SETUSER", "u", "on", "nopass", "~*", "+BF.ADD", "+bly.check")
        listed = [line for line in words(c.must("ACL", "LIST")) if line.startswith("user u ")][0]
        eq(sorted(listed.split()[-2:]), ["+bf.add", "+bly.check"], "in any order")
        by_category = c("ACL", "CAT", "bloom")
        if not isinstance(by_category, Error):
            ok("bf.exists" in words(by_category), by_category)
        eq(u("AUTH", "u", "x"), Simple("OK"))
        for name in ("BF.EXISTS", "bf.exists"):
            reply = u(name, "k", "x")
            fails(reply, "NOPERM")
            ok("no permissions to run the 'bf.exists' command" in reply.text, reply.text)
        entry = as_dict(words(c.must("ACL", "LOG"))[0])
        eq((entry["reason"], entry["object"]), ("command", "bf.exists"))
        eq(u("bF.aDD", "k", "z"), 1)


def test_sections_of_info():
    wanted = ("version filters own_filters redisbloom_bloom_filters redisbloom_cuckoo_filters "
              "loading_filters overfull_filters lost_filters memory_bytes "
              "memory_pending_free_bytes max_filter_memory max_total_memory keyring_keys "
              "warn_ratio").split()
    with Server("bf.warn-ratio 2.5") as server, server.client() as c:
        info = c.info("bf_filters")
        eq([name for name in info if name.startswith("bf_")], ["bf_" + name for name in wanted])
        eq((info["bf_filters"], info["bf_memory_bytes"], float(info["bf_warn_ratio"])),
           ("0", "0", 2.5))
        c.must("BF.ADD", "a", "x")
        c.must("CF.ADD", "b", "x")
        info = c.info("bf_filters")
        eq((info["bf_filters"], info["bf_own_filters"]), ("2", "2"))
        ok(int(info["bf_memory_bytes"]) > 0)
        c.must("CONFIG", "SET", "bf.compat-layout", "yes")
        c.must("BF.ADD", "c", "x")
        c.must("CF.ADD", "d", "x")
        info = c.info("bf_filters")
        eq([info["bf_" + w] for w in ("filters", "own_filters", "redisbloom_bloom_filters",
                                      "redisbloom_cuckoo_filters")], ["4", "2", "1", "1"])
        c.must("DEL", "a", "b", "c", "d")
        info = c.info("bf_filters")
        eq((info["bf_filters"], info["bf_memory_bytes"]), ("0", "0"))
        listed = {m["name"]: m["ver"] for m in map(as_dict, words(c.must("MODULE", "LIST")))}
        eq(listed["bf"], 200)
        eq(info["bf_version"], "0.2.0")


if __name__ == "__main__":
    main(globals())
