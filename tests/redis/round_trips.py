"""round_trips.py - a batch of up to 32768 keys takes one round trip.

Round trips are counted by the library, and by a proxy that holds back every reply until the client
has sent all that it can send without it. The server counts commands.
"""
import sys

sys.dont_write_bytecode = True

import os  # noqa: E402

from proxy import Proxy  # noqa: E402
from support import Driver, eq, main, ok, plain, url  # noqa: E402

BATCH = 512  # keys per command
MAX_KEYS = 32768  # keys per round trip


def commands(client):
    """Returns how often each command was called."""
    stats = client.info("commandstats")
    return {name.split("_", 1)[1]: int(value.split(",")[0].split("=")[1])
            for name, value in stats.items()}


def ceil(a, b):
    return -(-a // b)


def measure(driver, proxy, client, command, keys):
    """Makes one call. Returns its count of round trips, that of the proxy, and the number of commands
    that the server executed."""
    client.must("CONFIG", "RESETSTAT")
    before = proxy.turns
    answer = driver.must(command, f"{command}:", 0, keys)
    eq(answer["calls"], 1)
    eq(answer["yes"] + answer["no"], keys)
    seen = commands(client)
    scripts = {n: seen.get(n, 0) for n in ("evalsha", "eval", "evalsha_ro", "eval_ro")}
    return answer["tally"]["trips"], proxy.turns - before, sum(scripts.values())


def watched(server, driver):
    """Returns a proxy that counts the driver's round trips."""
    if os.path.exists(f"/proc/{driver.process.pid}/stat"):
        return Proxy(server.port, step=0.05, client=driver.process.pid)
    return Proxy(server.port, step=0.25)


def check(server, kind, options, sizes, batch=BATCH):
    """Counts round trips of adds and lookups with these numbers of keys."""
    with Driver() as driver, watched(server, driver) as proxy, server.client() as c:
        driver.must(kind, url(proxy, f"{kind}{batch}"), batch=batch, command_ms=30000, **options)
        for command in ("add", "contains"):
            driver.must(command, "warm:", 0, 10)  # loads the script
            for keys in sizes:
                own, turns, scripts = measure(driver, proxy, c, command, keys)
                wanted = ceil(keys, MAX_KEYS)
                eq((own, turns), (wanted, wanted), f"{kind}, {command}, {keys} keys")
                eq(scripts, ceil(keys, batch) if keys <= MAX_KEYS else scripts, f"{keys} keys")
                ok(scripts <= ceil(keys, batch) + wanted, f"{scripts} commands for {keys} keys")


def test_native():
    with plain() as server:
        check(server, "create", {"n": 10 ** 6, "p": 0.01}, (1, 512, 10000, MAX_KEYS, 3 * MAX_KEYS + 1))


def test_native_large_blocks():
    with plain() as server:
        check(server, "create", {"n": 10 ** 6, "p": 0.001}, (1, 5000, MAX_KEYS))


def test_gozero():
    with plain() as server:
        check(server, "gozero", {"bits": 10 ** 7}, (1, 5000, MAX_KEYS))


def test_small_commands():
    """Many commands also take one round trip."""
    with plain() as server:
        check(server, "create", {"n": 10 ** 6, "p": 0.01}, (1000, 10000), batch=16)


def test_shards_on_one_server():
    """Shards on the same server share a round trip."""
    with plain() as server, Driver() as driver, watched(server, driver) as proxy, \
            server.client() as c:
        driver.must("create", url(proxy, "k"), n=10 ** 6, p=0.01, shards=9)
        for command in ("add", "contains"):
            driver.must(command, "warm:", 0, 2000)
            own, turns, scripts = measure(driver, proxy, c, command, 20000)
            eq((own, turns), (1, 1), command)
            ok(ceil(20000, BATCH) <= scripts <= ceil(20000, BATCH) + 9, f"{scripts} commands")


def test_scripts_that_are_new_to_the_server():
    """The first call takes one more round trip, because the server needs the script's text, once for
    all commands of the batch."""
    with plain() as server, Driver() as driver, watched(server, driver) as proxy, \
            server.client() as c:
        driver.must("create", url(proxy, "k"), n=10 ** 6, p=0.01)
        for command in ("add", "contains"):
            c.must("SCRIPT", "FLUSH")
            own, turns, _ = measure(driver, proxy, c, command, 20000)
            ok(own == turns and own <= 2, f"{command}: {own} trips, {turns} turns")
            own, turns, _ = measure(driver, proxy, c, command, 20000)
            eq((own, turns), (1, 1), command)


if __name__ == "__main__":
    main(globals())
