"""config.py - the settings: arguments of loadmodule, the configuration file, CONFIG SET and
REWRITE, MODULE LOADEX, the key file, and the installed bloomery.conf."""
import ctypes
import os
import re
import subprocess

from harness import (MODULE, ROOT, Error, Server, ServerFailed, Simple, Skip, eq, fails, main,
                     ok)

SNIPPET = os.path.join(ROOT, "module/bloomery.conf")
KEYS = ("00112233445566778899aabbccddeeff", "FFEEDDCCBBAA99887766554433221100")

# Name, default, minimum and maximum (None: not a whole number), whether RedisBloom has it.
SETTINGS = (
    ("bf-error-rate", "0.01", None, None, True),
    ("bf-initial-size", "100", 1, 2 ** 40, True),
    ("bf-expansion-factor", "2", 0, 32768, True),
    ("cf-error-rate", "0.01", None, None, False),
    ("cf-bucket-size", "2", 1, 255, True),
    ("cf-initial-size", "1024", 4, 2 ** 40, True),
    ("cf-max-iterations", "20", 1, 65535, True),
    ("cf-expansion-factor", "1", 0, 32768, True),
    ("cf-max-expansions", "32", 1, 65536, True),
    ("compat", "no", None, None, False),
    ("compat-layout", "no", None, None, False),
    ("max-filter-memory", "0", 0, 2 ** 63 - 1, False),
    ("max-total-memory", "0", 0, 2 ** 63 - 1, False),
    ("warn-ratio", "1.5", None, None, False),
    ("key-file", "", None, None, False),
)
SAID = "CONFIG SET failed"


def get(client, name):
    """The value of bf.NAME, or None if there is no such setting."""
    reply = client.must("CONFIG", "GET", "bf." + name)
    return reply[1].decode() if reply else None


def put(client, *pairs):
    words = [("bf." + word if i % 2 == 0 else word) for i, word in enumerate(pairs)]
    return client("CONFIG", "SET", *words)


def refused(client, name, value, why):
    """Checks that a change is refused with that reason, and the setting unchanged."""
    before = get(client, name)
    reply = put(client, name, value)
    fails(reply, "ERR " + SAID)
    ok(why in reply.text, f"{name} {value}: {reply.text}")
    eq(get(client, name), before)


def does_not_start(*config, args="", says=""):
    """Checks that the module does not load, and that the log has the reason."""
    server = Server(*config, args=args, start=False)
    try:
        server.start()
    except ServerFailed:
        server.expected_dead = True
        ok(says in server.read_log(), f"no {says!r} in\n{server.tail()}")
        server.remove()
        return
    raise AssertionError(f"it loaded: {args} {config}")


def key_file(server, text, mode=0o600, name="keys"):
    path = server.path(name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def test_defaults_and_list():
    with Server() as server, server.client() as c:
        flat = c.must("CONFIG", "GET", "bf.*")
        eq(sorted(w.decode() for w in flat[::2]), sorted("bf." + s[0] for s in SETTINGS))
        for name, default, *_ in SETTINGS:
            eq(get(c, name), default, name)


def test_ranges():
    with Server() as server, server.client() as c:
        for name, _, least, most, _ in SETTINGS:
            if least is None:
                continue
            for good in (least, most):
                if name == "cf-bucket-size":
                    put(c, "cf-initial-size", "1024")
                eq(put(c, name, str(good)), Simple("OK"), f"{name} {good}")
                eq(get(c, name), str(good))
            put(c, "cf-bucket-size", "2")
            if not name.startswith("max-"):
                said = f"Value for `{name}` must be in the range ["
                refused(c, name, str(most + 1), said)
                refused(c, name, str(least - 1), said)
                refused(c, name, "", "argument")
            refused(c, name, "many", "argument")


def test_rates():
    with Server() as server, server.client() as c:
        for name in ("bf-error-rate", "cf-error-rate"):
            for good in ("0.5", "1e-9", "0.99"):
                eq(put(c, name, good), Simple("OK"))
                eq(get(c, name), good)
            said = f"Value for `{name}` must be in the range (0.000000, 1.000000)"
            for bad in ("0", "1", "-0.1", "7"):
                refused(c, name, bad, said)
            for bad in ("", "x", "nan", "inf", "0.1 ", " 0.1", "0.1x"):
                refused(c, name, bad, f"Invalid value for `{name}`")
        eq(put(c, "warn-ratio", "2.25"), Simple("OK"))
        refused(c, "warn-ratio", "0", "Value for `warn-ratio` must be in the range (0.000000, ")
        refused(c, "compat", "maybe", "'yes' or 'no'")


def test_compat_caps_the_rate():
    """Rates are capped only while compat is on."""
    with Server() as server, server.client() as c:
        eq(put(c, "bf-error-rate", "0.4", "cf-error-rate", "0.4"), Simple("OK"))
        eq(put(c, "compat", "yes"), Simple("OK"))
        eq((get(c, "bf-error-rate"), get(c, "cf-error-rate")), ("0.25", "0.4"))
        eq(put(c, "compat", "no"), Simple("OK"))
        eq(get(c, "bf-error-rate"), "0.4")
        fails(put(c, "compat", "yes", "cf-max-iterations", "0"), "ERR " + SAID)
        eq((get(c, "compat"), get(c, "bf-error-rate")), ("no", "0.4"))
        put(c, "compat", "yes")
        eq(put(c, "bf-error-rate", "0.3"), Simple("OK"))
        eq(get(c, "bf-error-rate"), "0.25")


def test_sizes_that_depend_on_each_other():
    said = "Value for `cf-initial-size` must be in the range [2 * cf-bucket-size, 1099511627776]"
    with Server() as server, server.client() as c:
        refused(c, "cf-initial-size", "3", said)
        eq(put(c, "cf-bucket-size", "255", "cf-initial-size", "510"), Simple("OK"))
        refused(c, "cf-initial-size", "509", said)
        eq(put(c, "cf-initial-size", "4", "cf-bucket-size", "2"), Simple("OK"))
        refused(c, "cf-bucket-size", "3", said)
        fails(put(c, "cf-bucket-size", "9", "cf-initial-size", "8"), "ERR " + SAID)
        eq((get(c, "cf-bucket-size"), get(c, "cf-initial-size")), ("2", "4"))
    does_not_start("bf.cf-initial-size 8", args="cf-bucket-size 5", says=said)


def test_memory_has_units():
    with Server("bf.max-total-memory 1g", args="max-filter-memory 3mb") as server, \
            server.client() as c:
        eq(get(c, "max-filter-memory"), str(3 << 20))
        eq(get(c, "max-total-memory"), str(10 ** 9))
        eq(put(c, "max-filter-memory", "2gb"), Simple("OK"))
        eq(get(c, "max-filter-memory"), str(2 << 30))
        refused(c, "max-filter-memory", "-1", "memory value")
        info = c.info("bf_filters")
        eq((info["bf_max_filter_memory"], info["bf_max_total_memory"]), (str(2 << 30), str(10 ** 9)))


def test_arguments():
    """Our names, with and without the prefix, and RedisBloom's older ones, in any case."""
    args = ("ERROR_RATE 0.001 initial_size 500 Cf_Max_Expansions 7 BF-Expansion-Factor 4 "
            "bf.cf-max-iterations 33 cf-error-rate 0.002 compat YES compat-layout no")
    with Server(args=args) as server, server.client() as c:
        for name, value in (("bf-error-rate", "0.001"), ("bf-initial-size", "500"),
                            ("cf-max-expansions", "7"), ("bf-expansion-factor", "4"),
                            ("cf-max-iterations", "33"), ("cf-error-rate", "0.002"),
                            ("compat", "yes"), ("compat-layout", "no"), ("cf-bucket-size", "2")):
            eq(get(c, name), value, name)
    with Server(args='""') as server, server.client() as c:
        eq(get(c, "bf-error-rate"), "0.01")


def test_wrong_arguments():
    for args, says in (
            ("bf-error-rate", "argument 'bf-error-rate' needs a value"),
            ("bf-initial-size 5 compat", "argument 'compat' needs a value"),
            ("colour red", "unknown argument 'colour'"),
            ("colour", "unknown argument 'colour'"),
            ('"" ""', "unknown argument ''"),
            ("bf-error-rate 1", "argument 'bf-error-rate': Value for `bf-error-rate` must be in"),
            ("ERROR_RATE x", "argument 'ERROR_RATE': Invalid value for `bf-error-rate`"),
            ("cf-bucket-size 256", "Value for `cf-bucket-size` must be in the range [1, 255]"),
            ("cf-bucket-size 1x", "Invalid value for `cf-bucket-size`"),
            ("cf-bucket-size 1k", "Invalid value for `cf-bucket-size`"),
            ("bf-initial-size -1", "Invalid value for `bf-initial-size`"),
            ("max-filter-memory 1tb", "Invalid value for `max-filter-memory`"),
            ("max-filter-memory 99999999999g", "Invalid value for `max-filter-memory`"),
            ("compat maybe", "Invalid value for `compat`"),
            ("key-file /nonexistent/keys", "cannot open the key file")):
        does_not_start(args=args, says=says)
    for line, says in (("bf.bf-error-rate 1", "Value for `bf-error-rate` must be in the range"),
                       ("bf.cf-bucket-size 0", "must be in the range [1, 255]"),
                       ("bf.key-file /nonexistent/keys", "cannot open the key file"),
                       ("bf.colour red", "")):
        does_not_start(line, says=says)


def test_the_file_is_stronger_than_arguments():
    """The file overrides arguments, and a restarted server has the rewritten settings."""
    with Server("bf.bf-error-rate 0.002", args="bf-error-rate 0.001 bf-initial-size 500 "
                "compat yes") as server:
        with server.client() as c:
            eq(get(c, "bf-error-rate"), "0.002")
            eq(put(c, "bf-initial-size", "100", "compat", "no", "cf-error-rate", "0.003",
                   "max-total-memory", "64mb"), Simple("OK"))
            eq(c("CONFIG", "REWRITE"), Simple("OK"))
            before = {s[0]: get(c, s[0]) for s in SETTINGS}
        with open(server.path("server.conf"), encoding="utf-8") as f:
            rewritten = f.read().splitlines()
        ok(any(line.startswith("loadmodule ") and "bf-initial-size 500" in line
               for line in rewritten), "the arguments are gone")
        server.stop()
        # The harness rewrites the file at every start, including these lines.
        server.config = [line for line in rewritten
                         if line.startswith("bf.") or re.match(r"[bc]f-", line)]
        server.start()
        with server.client() as c:
            eq({s[0]: get(c, s[0]) for s in SETTINGS}, before)
            eq((get(c, "bf-initial-size"), get(c, "compat")), ("100", "no"))


def test_loadex_and_twice():
    """The module can be loaded after a failed attempt, but not twice."""
    with Server(module=False) as server, server.client() as c:
        fails(c("MODULE", "LOAD", MODULE, "bf-initial-size", "77", "colour", "red"), "ERR")
        fails(c("MODULE", "LOADEX", MODULE, "CONFIG", "bf.bf-error-rate", "3"), "ERR")
        eq(c("MODULE", "LOADEX", MODULE, "CONFIG", "bf.bf-error-rate", "0.003", "ARGS",
             "cf-error-rate", "0.004"), Simple("OK"))
        eq((get(c, "bf-error-rate"), get(c, "cf-error-rate")), ("0.003", "0.004"))
        eq(get(c, "bf-initial-size"), "100", "an argument of the load that failed")
        fails(c("MODULE", "LOAD", MODULE), "ERR")
        ok("a module named bf is already loaded" in server.read_log(), "nothing says why")
        eq(get(c, "bf-error-rate"), "0.003")
        fails(c("MODULE", "UNLOAD", "bf"), "ERR")


def test_plain_names():
    """Redis 8 also accepts the plain names of RedisBloom's settings; other servers do not."""
    with Server("bf.bf-error-rate 0.02") as server, server.client() as c:
        if not c.must("CONFIG", "GET", "bf-error-rate"):
            return
        for name, default, _, _, shared in SETTINGS:
            wanted = [name.encode(), b"0.02" if name == "bf-error-rate" else default.encode()]
            eq(c.must("CONFIG", "GET", name), wanted if shared else [], name)
        eq(c("CONFIG", "SET", "bf-initial-size", "7"), Simple("OK"))
        eq(get(c, "bf-initial-size"), "7")
    with Server("bf-initial-size 9") as server, server.client() as c:
        eq(get(c, "bf-initial-size"), "9")


def keyring(client):
    return int(client.info("bf_filters")["bf_keyring_keys"])


def test_key_file():
    with Server() as server, server.client() as c:
        good = key_file(server, "# two keys\n\n" + "\n".join(KEYS))
        reply = put(c, "key-file", good)
        if isinstance(reply, Error) and "libsodium" in reply.text:
            raise Skip("built without libsodium")
        eq(reply, Simple("OK"))
        eq((get(c, "key-file"), keyring(c)), (good, 2))
        for text, why in (
                ("", "contains no key"), ("# none\n", "contains no key"),
                (KEYS[0][:-1], "line 1 of the key file is not 32 hexadecimal digits"),
                (KEYS[0] + "0", "line 1 of the key file is not 32"),
                ("\n#\n" + KEYS[0] + "\n" + "g" * 32, "line 4 of the key file is not 32"),
                (KEYS[0] + " \n", "line 1 of the key file is not 32"),
                (KEYS[0] + "\r\n", "line 1 of the key file is not 32"),
                ("\n".join((*KEYS, KEYS[1].lower())), "line 3 of the key file repeats a key"),
                ("#" * (1 << 18), "the key file is too large")):
            refused(c, "key-file", key_file(server, text, name="bad"), why)
            eq(keyring(c), 2)
        refused(c, "key-file", server.folder, "not a regular file")
        refused(c, "key-file", server.path("none"), "cannot open the key file")
        eq(keyring(c), 2)
        ok("can read the key file" not in server.read_log(), "a warning without reason")
        eq(put(c, "key-file", key_file(server, KEYS[1], 0o644, "open")), Simple("OK"))
        ok("can read the key file" in server.read_log(), "no warning of a file open to all")
        eq(keyring(c), 1)
        eq(put(c, "key-file", ""), Simple("OK"))
        eq(keyring(c), 0)
        log = server.read_log().lower()
        ok(not any(key.lower() in log for key in KEYS), "a key is in the log")


def test_key_file_from_the_start():
    with Server() as server, server.client() as c:
        path = key_file(server, KEYS[0])
        if isinstance(put(c, "key-file", path), Error):
            does_not_start(f"bf.key-file {path}", says="libsodium")
            raise Skip("built without libsodium")
        with Server(f"bf.key-file {path}") as other, other.client() as o:
            eq((get(o, "key-file"), keyring(o)), (path, 1))
            eq(o("CONFIG", "REWRITE"), Simple("OK"))
            with open(other.path("server.conf"), encoding="utf-8") as f:
                conf = f.read()
            ok(path in conf and KEYS[0] not in conf.lower())
        with Server(args=f"key-file {path}") as other, other.client() as o:
            eq((get(o, "key-file"), keyring(o)), (path, 1))


def test_snippet():
    """bloomery.conf loads unchanged, and shows every setting with its default."""
    with open(SNIPPET, encoding="utf-8") as f:
        lines = f.read().splitlines()
    with Server(*lines) as server, server.client() as c:
        eq(get(c, "bf-error-rate"), "0.01")
    shown = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# bf."))
    eq(shown, {"bf." + s[0]: s[1] or '""' for s in SETTINGS})
    # With every line but the path of the module uncommented.
    with Server(*[line[2:] for line in lines if line.startswith("# bf.")]) as server, \
            server.client() as c:
        for name, default, *_ in SETTINGS:
            eq(get(c, name), default, name)
    ok("# loadmodule /usr/local/lib/bloomery/bloomery.so" in lines)


def test_manual():
    """docs/redis.md has every setting with its default."""
    with open(os.path.join(ROOT, "docs/redis.md"), encoding="utf-8") as f:
        table = re.search(r"## Settings\n(.*?)\n## ", f.read(), re.S)[1]
    shown = {}
    for names, default in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|", table, re.M):
        default = re.match(r"[^ ;]+", default)[0].replace('""', "")
        shown.update((name, default) for name in re.findall(r"`([^`]*)`", names))
    eq(shown, {name: default for name, default, *_ in SETTINGS})


def test_symbols():
    """The module exports only its entry point, and imports no symbol of the engine."""
    seen = subprocess.run(["nm", "-D", "--defined-only", MODULE], check=True, text=True,
                          capture_output=True).stdout.split()
    eq([word for word in seen if not re.fullmatch(r"[0-9a-f]+|[A-Z]", word)],
       ["RedisModule_OnLoad"])
    wanted = subprocess.run(["nm", "-D", "--undefined-only", MODULE], check=True, text=True,
                            capture_output=True).stdout
    ok("RedisModule" not in wanted and "ValkeyModule" not in wanted and "bly_" not in wanted)
    needed = subprocess.run(["readelf", "-d", MODULE], check=True, text=True,
                            capture_output=True).stdout
    libraries = re.findall(r"Shared library: \[(\S+?)\.so", needed)
    ok(set(libraries) <= {"libc", "libm", "libpthread", "libcrypto", "libsodium", "ld-linux-x86-64",
                          "ld-linux-aarch64"}, str(libraries))


def test_engine_that_lacks_a_call():
    """Loading fails if any needed call is missing, and names it. Uses no server, but a fake engine
    that has every call but one."""
    with open(os.path.join(ROOT, "module/engine_api.h"), encoding="utf-8") as f:
        needed = re.split(r"#define RM_OPTIONAL", f.read().split("#define RM_NEEDED")[1])[0]
    names = re.findall(r"X\([^,()]+, (\w+),", needed)
    eq(len(names), needed.count("X("))
    ok("TryAlloc" in names and "Log" in names, str(names))
    get_api_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
    log_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
                                ctypes.c_char_p)
    said, missing = [], None

    def log(_ctx, level, fmt, what):
        said.append((level, fmt, what.decode()))

    def get_api(name, out):
        word = name.decode().replace("RedisModule_", "")
        if word == missing:
            return 1
        out[0] = ctypes.cast(log_pointer, ctypes.c_void_p)
        return 0

    log_pointer, get_pointer = log_type(log), get_api_type(get_api)
    context = (ctypes.c_void_p * 8)(ctypes.cast(get_pointer, ctypes.c_void_p))
    on_load = ctypes.CDLL(MODULE).RedisModule_OnLoad
    for missing in names:
        del said[:]
        eq(on_load(context, None, 0), 1, missing)
        if missing != "Log":
            eq([(level, what) for level, _, what in said], [(b"warning", missing)], missing)
            ok(b"needs Redis 7.0" in said[0][1])


if __name__ == "__main__":
    main(globals())
