"""tls.py - filters on servers that are reached over TLS (rediss://): which certificates are trusted,
client certificates, and filters that work as they do without TLS.

The openssl command makes the certificates, which are valid for a few days, in a temporary folder.
Every server also has a plain port, through which the test examines what TLS clients have done. With
BLOOMERY_TLS=1 in the environment, the test fails if TLS cannot be tested; otherwise it is skipped.
"""
import sys

sys.dont_write_bytecode = True

import atexit  # noqa: E402
import contextlib  # noqa: E402
import functools  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
import socket  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
from unittest import mock  # noqa: E402

# First: support.py puts the folder of the module's tests first, which also has a crash.py.
from crash import LOGGED, ROOMY, check_there, check_truth, killed  # noqa: E402
from support import (UNKNOWN, UNSURE, YES, Driver, Skip, eq, head, key_slot, main,  # noqa: E402
                     ok, refused, shard_keys, wait_for, wait_sync)
from proxy import Cut, Proxy  # noqa: E402
import clusters  # noqa: E402 - of the module's tests, like the next
from servers import SERVER, Server, ServerFailed, _Port  # noqa: E402

SMALL = {"n": 10000, "p": 0.0001, "seed": 7}
PATIENCE = 15  # seconds for which the library retries what might succeed later


# ---- certificates -------------------------------------------------------------------------------

class Papers:
    """Certificates NAME.pem and their private keys NAME.key.

    ca      an authority, which signed
      good      for localhost and 127.0.0.1
      named     for localhost only
      other     for cache.example
      stale     like good, but expired yesterday
      client    for a client, client.example
    rogue   an authority that is not trusted, which signed
      forged    like good
      intruder  like client
    self    like good, but self-signed
    locked.key is client.key, encrypted with a password; noise.pem is not a certificate.
    """

    HERE = "DNS:localhost,IP:127.0.0.1"

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="bloomery-")
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        for authority in ("ca", "rogue"):
            self._request(authority, "-x509", "-days", "3")
        self._request("self", "-x509", "-days", "3", "-addext", f"subjectAltName={self.HERE}")
        self._certify("good", "ca", self.HERE)
        self._certify("named", "ca", "DNS:localhost")
        self._certify("other", "ca", "DNS:cache.example")
        self._certify("stale", "ca", self.HERE, days=-1)
        self._certify("client", "ca", "DNS:client.example")
        self._certify("forged", "rogue", self.HERE)
        self._certify("intruder", "rogue", "DNS:client.example")
        self._openssl("ec", "-in", self["client.key"], "-aes128", "-passout", "pass:secret", "-out",
                      self["locked.key"])
        with open(self["noise.pem"], "w", encoding="ascii") as file:
            file.write("no certificate\n")

    def __getitem__(self, name):
        return os.path.join(self.folder, name)

    def _openssl(self, *words):
        done = subprocess.run(["openssl", *words], stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        ok(done.returncode == 0, f"openssl {words}: {done.stdout.decode()}")

    def _request(self, name, *more):
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                      "-subj", f"/CN={name}", "-keyout", self[f"{name}.key"], "-out",
                      self[f"{name}.pem"], *more)

    def _certify(self, name, authority, owners, days=3):
        self._request(name)
        with open(self["extensions"], "w", encoding="ascii") as file:
            file.write(f"subjectAltName={owners}\n")
        self._openssl("x509", "-req", "-in", self[f"{name}.pem"], "-CA", self[f"{authority}.pem"],
                      "-CAkey", self[f"{authority}.key"], "-CAcreateserial", "-days", str(days),
                      "-extfile", self["extensions"], "-out", self[f"{name}.crt"])
        os.replace(self[f"{name}.crt"], self[f"{name}.pem"])


@functools.lru_cache(None)
def papers():
    return Papers()


# ---- servers ------------------------------------------------------------------------------------

class Secure(Server):
    """A server with a plain port and one for TLS. `shows` names its certificate; `clients` says
    whether it asks clients for certificates."""

    def __init__(self, *config, shows="good", clients="no", **more):
        self._tls = _Port()
        lines = (f"tls-port {self.tls}", f"tls-cert-file {papers()[shows + '.pem']}",
                 f"tls-key-file {papers()[shows + '.key']}",
                 f"tls-ca-cert-file {papers()['ca.pem']}", f"tls-auth-clients {clients}")
        super().__init__(*lines, *config, **{**more, "module": False})

    @property
    def tls(self):
        return self._tls.number

    def remove(self):
        super().remove()
        self._tls.release()


def address(at, key="k", host="localhost", login="", database="", **options):
    """Returns an address. `at` is a server or a port. Options whose values are files take the names of
    papers. The address trusts the right authority unless `cacert` changes that."""
    port = at if isinstance(at, int) else at.tls
    options = {"cacert": "ca.pem", **options}
    words = [f"{name}={papers()[value] if name in ('cacert', 'cert', 'certkey') else value}"
             for name, value in options.items() if value]
    return f"rediss://{login}{host}:{port}/{database}{key}?{'&'.join(words)}"


@functools.lru_cache(None)
def speaks_tls():
    """Returns whether the driver's build has TLS. test_a_build_without_tls checks the error if not."""
    with Driver() as driver:
        return driver("open", "rediss://127.0.0.1:1/k", no_retry=1)["status"] != "BLY_EUNSUPPORTED"


@functools.lru_cache(None)
def lacking():
    """Returns why TLS cannot be tested, or an empty string."""
    if not speaks_tls():
        return "this build has no TLS: its hiredis lacks hiredis_ssl"
    if not shutil.which("openssl"):
        return "the openssl command, which makes the certificates, is not installed"
    try:
        Secure().remove()
    except ServerFailed as why:
        if "TLS support" in str(why) or "Bad directive" in str(why):
            return f"{SERVER} was built without TLS"
        raise
    return ""


def needs_tls(test):
    @functools.wraps(test)
    def wrapped():
        if lacking():
            raise (AssertionError if os.environ.get("BLOOMERY_TLS") == "1" else Skip)(lacking())
        test()
    return wrapped


def served(driver, server, where):
    """Checks that keys can be added to a filter and looked up, and that it is on that server."""
    driver.must("create", where, **SMALL)
    eq(driver.must("add", "key:", 0, 100)["yes"], 100)
    eq(driver.must("contains", "key:", 0, 100)["yes"], 100)
    with server.client() as c:
        eq(head(c, "k").count, 100)
    driver.must("drop")


@contextlib.contextmanager
def at_once():
    """Checks that a permanent error is reported without retries."""
    begin = time.monotonic()
    yield
    took = time.monotonic() - begin
    ok(took < PATIENCE / 3, f"the error took {took:.1f} s")


def turned_away(driver, where, *words, status="BLY_EIO"):
    """Checks that the connection is refused without retries and with these words."""
    with at_once():
        answer = driver("create", where, **SMALL)
    refused(answer, status, *words)


# ---- without TLS --------------------------------------------------------------------------------

def test_a_build_without_tls():
    """The error says what to do instead, and nothing is sent in the clear."""
    if speaks_tls():
        raise Skip("this build has TLS")
    with socket.create_server(("127.0.0.1", 0)) as listener, Driver() as driver:
        where = f"rediss://:secret@127.0.0.1:{listener.getsockname()[1]}/k"
        for more in ("", "?insecure=1", "?cacert=/nowhere&servername=a.example"):
            for command, options in (("create", SMALL), ("open", {}), ("gozero", {"bits": 1000})):
                refused(driver(command, where + more, **options), "BLY_EUNSUPPORTED",
                        "cannot speak TLS", "tunnel")
        listener.settimeout(0.2)
        try:
            listener.accept()
        except socket.timeout:
            return
        raise AssertionError("it connected")


# ---- server certificates ------------------------------------------------------------------------

@needs_tls
def test_authorities():
    with Secure() as good, Secure(shows="forged") as forged, Secure(shows="self") as alone, \
            Secure(shows="stale") as stale, Driver() as driver:
        served(driver, good, address(good))
        served(driver, good, address(good, host="127.0.0.1"))
        served(driver, forged, address(forged, cacert="rogue.pem"))
        served(driver, alone, address(alone, cacert="self.pem"))
        for server, trusted in ((good, "rogue.pem"), (good, "self.pem"), (good, None),
                                (forged, "ca.pem"), (forged, None)):
            turned_away(driver, address(server, cacert=trusted), "TLS:", "cacert=FILE",
                        f"localhost:{server.tls}")
        for trusted in ("ca.pem", None):
            turned_away(driver, address(alone, cacert=trusted), "self-signed", "cacert=FILE")
        turned_away(driver, address(stale), "TLS:", "expired")
        for server in (good, forged, alone, stale):
            with server.client() as c:
                eq(c.must("DBSIZE"), 0, "keys that are left")


@needs_tls
def test_names():
    """A trusted authority's certificate for another host is refused."""
    with Secure(shows="other") as other, Secure(shows="named") as named, Secure() as good, \
            Driver() as driver:
        for host in ("localhost", "127.0.0.1"):
            turned_away(driver, address(other, host=host), "mismatch", "servername=NAME")
            served(driver, other, address(other, host=host, servername="cache.example"))
        for wrong in ("example", "a.cache.example", "cache.example.org", "127.0.0.1"):
            turned_away(driver, address(other, servername=wrong), "mismatch")
        served(driver, named, address(named))
        turned_away(driver, address(named, host="127.0.0.1"), "mismatch", "servername=NAME")
        served(driver, named, address(named, host="127.0.0.1", servername="localhost"))
        turned_away(driver, address(good, servername="cache.example"), "mismatch")


@needs_tls
def test_insecure():
    """With insecure=1 any certificate is accepted, but only for this address."""
    with Driver() as driver:
        for shows in ("good", "other", "stale", "forged", "self"):
            with Secure(shows=shows) as server:
                served(driver, server, address(server, cacert=None, insecure=1))
                served(driver, server, address(server, insecure=1, servername="a.example"))
                if shows != "good":
                    turned_away(driver, address(server), "TLS:")


# ---- client certificates ------------------------------------------------------------------------

@needs_tls
def test_client_certificates():
    ours = {"cert": "client.pem", "certkey": "client.key"}
    theirs = {"cert": "intruder.pem", "certkey": "intruder.key"}
    with Secure(clients="yes") as strict, Secure(clients="optional") as mild, \
            Secure(clients="no") as blind, Driver() as driver:
        for server in (strict, mild, blind):
            served(driver, server, address(server, **ours))
        for server in (mild, blind):
            served(driver, server, address(server))
        served(driver, blind, address(blind, **theirs))
        turned_away(driver, address(strict), "TLS:", "certificate required")
        for server in (strict, mild):
            turned_away(driver, address(server, **theirs), "TLS:", "alert")


@needs_tls
def test_files_that_cannot_be_used():
    """The error names the file, before anything is sent. No password is prompted for."""
    def connections():
        return int(c.info("stats")["total_connections_received"])

    with Secure() as server, Driver() as driver, server.client() as c:
        before = connections()
        for options, file in (
                ({"cacert": "nothing.pem"}, "nothing.pem"),
                ({"cacert": "noise.pem"}, "noise.pem"),
                ({"cacert": "ca.key"}, "ca.key"),
                ({"cert": "nothing.pem", "certkey": "client.key"}, "nothing.pem"),
                ({"cert": "noise.pem", "certkey": "client.key"}, "noise.pem"),
                ({"cert": "client.pem", "certkey": "nothing.key"}, "nothing.key"),
                ({"cert": "client.pem", "certkey": "good.key"}, "good.key"),
                ({"cert": "client.pem", "certkey": "locked.key"}, "locked.key")):
            turned_away(driver, address(server, **options), papers()[file], "cannot be used",
                        status="BLY_EINVAL")
        eq(connections(), before, "connections")
        served(driver, server, address(server))


# ---- servers without TLS ------------------------------------------------------------------------

class Stub:
    """A server that sends `words` to each client, nothing else, and then may close the connection."""

    def __init__(self, words=b"", hang_up=False):
        self.words, self.hang_up = words, hang_up
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.links = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        try:
            while True:
                link, _ = self.listener.accept()
                link.recv(1 << 16)
                link.sendall(self.words)
                if self.hang_up:
                    link.close()
                else:
                    self.links.append(link)
        except OSError:
            return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for link in self.links:
            link.close()


@needs_tls
def test_a_plain_port():
    """A server without TLS waits for the end of a line, or replies with an error."""
    quick = {"connect_ms": 400, "retry_ms": 500}
    with Secure() as server, Driver() as driver:
        refused(driver("create", address(server.port), **quick, **SMALL), "BLY_EIO",
                f"localhost:{server.port}", "TLS")
        served(driver, server, address(server))
    with Stub() as silent, Driver() as driver:
        refused(driver("create", address(silent.port), **quick, **SMALL), "BLY_EIO", "too long",
                "perhaps it does not speak TLS")
    with Stub(b"-ERR unknown command\r\n") as puzzled, Driver() as driver:
        turned_away(driver, address(puzzled.port), "TLS:")
    with Stub(hang_up=True) as gone, Driver() as driver:
        refused(driver("create", address(gone.port), **quick, **SMALL), "BLY_EIO",
                f"localhost:{gone.port}", "closed")


@needs_tls
def test_the_other_way_round():
    """redis:// to a port that requires TLS."""
    with Secure() as server, Driver() as driver:
        answer = driver("create", f"redis://localhost:{server.tls}/k", retry_ms=500, **SMALL)
        refused(answer, "BLY_EIO", f"localhost:{server.tls}")


# ---- filters over TLS ---------------------------------------------------------------------------

@needs_tls
def test_batches():
    """Large batches of two clients with TLS and one without, with a password and a database."""
    keys = 120000
    with Secure("requirepass secret") as server:
        drivers = [Driver(), Driver(), Driver()]
        for driver, where in zip(drivers, (
                address(server, login=":secret@", database="2/"),
                address(server, login="default:secret@", database="2/", host="127.0.0.1"),
                f"redis://:secret@127.0.0.1:{server.port}/2/k")):
            driver.must("create", where, shards=3, **ROOMY)
            driver.say_range("add", "key:", 0, keys)
        for driver in drivers:
            answer = driver.hear()
            eq(answer["status"], "BLY_OK", answer["why"])
        digits = [driver.digits() for driver in drivers]
        check_truth(digits, keys)
        eq(sum(text.count(UNSURE) + text.count(UNKNOWN) for text in digits), 0)
        for driver in drivers:
            eq(driver.must("contains", "key:", 0, keys)["yes"], keys)
            ok(driver.must("contains", "absent:", 0, keys)["yes"] < 10, "false positives")
            driver.close()
        with Driver() as driver:
            refused(driver("open", address(server, login=":wrong@")), "BLY_EREFUSED", "password")


@needs_tls
def test_whole_filters():
    """Megabytes in both directions. A file fetched over TLS is equal to one over a plain connection."""
    with Secure() as server, Driver() as driver:
        names = [os.path.join(driver.files, name) for name in ("secure", "plain", "again")]
        driver.must("create", address(server), shards=2, **ROOMY)
        driver.must("add", "key:", 0, 5000)
        driver.must("fetch", names[0])
        driver.must("open", f"redis://127.0.0.1:{server.port}/k")
        driver.must("fetch", names[1])
        driver.must("send", names[0], address(server, "sent"), shards=3)
        driver.must("fetch", names[2])
        whole = []
        for name in names:
            with open(name, "rb") as file:
                whole.append(file.read())
        ok(len(whole[0]) > 5 << 20, f"{len(whole[0])} bytes")
        ok(whole[0] == whole[1] and whole[0] == whole[2], "the files differ")


# ---- failures -----------------------------------------------------------------------------------

@needs_tls
def test_restarts():
    """A server is killed and comes back while two clients add keys."""
    keys = 200000
    with Secure(*LOGGED) as server:
        drivers = [Driver(), Driver()]
        for driver in drivers:
            driver.must("create", address(server), shards=3, retry_ms=60000, **ROOMY)
        answers, digits = killed(server, drivers, keys, "k", (10000, 30000), 20000)
        for answer in answers:
            eq(answer["status"], "BLY_OK", answer["why"])
        check_truth(digits, keys)
        check_there(server, "k", digits, keys)
        eq(sum(text.count(UNKNOWN) for text in digits), 0)
        print(f"  {keys} keys twice, 2 kills: {sum(t.count(UNSURE) for t in digits)} unsure")
        for driver in drivers:
            driver.close()


@needs_tls
def test_cut_connections():
    """Connections break in the handshake, within a record and between records. The library recovers."""
    each = 200
    with Secure() as server, Driver() as driver, Driver() as other, server.client() as c:
        with Proxy(server.tls) as proxy:
            driver.must("create", address(proxy.port), batch=40, **ROOMY)
            other.must("open", f"redis://127.0.0.1:{server.port}/k")
            for turn, after in enumerate((0, 1, 5, 30, 400, 1000, 3000, 6000, 12000)):
                for quiet in (False, True):
                    prefix = f"{turn}.{quiet}:"
                    proxy.arm(Cut("up", after, quiet))
                    answer, digits = driver.range("add", prefix, 0, each)
                    eq(answer["status"], "BLY_OK", answer["why"])
                    ok(set(digits) <= {YES, UNSURE}, f"cut after {after}: {digits}")
                    proxy.arm(Cut("down", after, quiet))
                    answer, digits = driver.range("contains", prefix, 0, each)
                    eq((answer["status"], digits), ("BLY_OK", YES * each), answer["why"])
                    eq(other.must("contains", prefix, 0, each)["yes"], each)
        eq(head(c, "k").count, 18 * each)


@needs_tls
def test_another_takes_its_place():
    """A new connection checks the certificate again, so an impostor receives nothing."""
    with Secure(*LOGGED) as server, Driver() as driver:
        driver.must("create", address(server), **SMALL)
        driver.must("add", "key:", 0, 100)
        server.configure(f"tls-cert-file {papers()['forged.pem']}",
                         f"tls-key-file {papers()['forged.key']}")
        server.restart(kill=True)
        with at_once():
            answer, digits = driver.range("contains", "key:", 0, 100)
        refused(answer, "BLY_EIO", "TLS:", "cacert=FILE")
        eq(digits, UNKNOWN * 100)
        server.configure(f"tls-cert-file {papers()['good.pem']}",
                         f"tls-key-file {papers()['good.key']}")
        server.restart(kill=True)
        eq(driver.must("contains", "key:", 0, 100)["yes"], 100)


# ---- a cluster ----------------------------------------------------------------------------------

class SecureCluster(clusters.Cluster):
    """A cluster in which clients, replication and the cluster bus use TLS."""

    prepared = False  # nodes have one more port than the prepared file names

    def __init__(self, *config, **more):
        with mock.patch.object(clusters, "Server", Secure):
            super().__init__("tls-cluster yes", "tls-replication yes", *config, **more)

    def _meet(self):
        with self.nodes[0].client() as c:
            for node in self.nodes[1:]:
                c.must("CLUSTER", "MEET", "127.0.0.1", node.tls, node.bus)
        for node in self.nodes:
            with node.client() as c:
                wait_for(lambda c=c: int(c.cluster_info()["cluster_known_nodes"])
                         == len(self.nodes) and b"handshake" not in c.must("CLUSTER", "NODES"),
                         30, "the nodes to meet")


@needs_tls
def test_cluster():
    """A filter on three masters. One of them fails over to its replica while keys are added, and
    another dies. Nodes have numeric addresses, and each presents its certificate."""
    keys = 150000
    cluster = SecureCluster()
    owners = [cluster.owner(key_slot(key)) for key in shard_keys("k", 3)]
    eq(len({node.port for node in owners}), 3, "nodes that hold it")
    with Driver() as driver, Driver() as other:
        turned_away(driver, address(cluster.nodes[0], cacert="rogue.pem"), "cacert=FILE")
        driver.must("create", address(cluster.nodes[0]), shards=3, retry_ms=30000, **ROOMY)
        other.must("open", address(cluster.nodes[4], host="127.0.0.1"), retry_ms=30000)
        eq(driver.must("look")["nodes"], 3)
        for each in (driver, other):
            each.say_range("add", "key:", 0, keys, step=3000)
        time.sleep(0.3)
        cluster.failover(cluster.replicas[cluster.masters.index(owners[1])])
        for each in (driver, other):
            answer = each.hear()
            eq(answer["status"], "BLY_OK", answer["why"])
        digits = [driver.digits(), other.digits()]
        check_truth(digits, keys)
        eq(sum(text.count(UNKNOWN) for text in digits), 0)
        cluster.wait_ok()
        dead = owners[2]
        # Not WAIT, which waits only for the writes of the client that sends it.
        wait_sync(dead, cluster.replicas[cluster.masters.index(dead)])
        dead.kill()
        for each in (driver, other):
            eq(each.must("contains", "key:", 0, keys)["yes"], keys)
        ok(driver.must("add", "new:", 0, 20000)["yes"] > 19990, "adds afterwards")


@needs_tls
def test_cluster_with_names():
    """Certificates for a name, in a cluster whose nodes have numeric addresses: servername= helps, or
    nodes that announce their names."""
    shown = (f"tls-cert-file {papers()['named.pem']}", f"tls-key-file {papers()['named.key']}")
    cluster = SecureCluster(*shown)
    shape = {"shards": 3, "connect_ms": 2000, **SMALL}
    with Driver() as driver:
        # The first node is reached by the right name, the others are not.
        refused(driver("create", address(cluster.nodes[0]), **shape), "BLY_EIO", "mismatch",
                "servername=NAME", "127.0.0.1:")
        driver.must("create", address(cluster.nodes[0], servername="localhost"), **shape)
        eq(driver.must("add", "key:", 0, 1000)["yes"], 1000)
        for node in cluster.nodes:
            with node.client() as c:
                c.must("CONFIG", "SET", "cluster-announce-hostname", "localhost")
                c.must("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname")
        with cluster.nodes[0].client() as c:
            wait_for(lambda: all(row[2][0] == b"localhost" for row in c.must("CLUSTER", "SLOTS")),
                     30, "the nodes to know each other's names")
        driver.must("open", address(cluster.nodes[0]))
        eq(driver.must("contains", "key:", 0, 1000)["yes"], 1000)
        eq(driver.must("look")["nodes"], 3)


if __name__ == "__main__":
    main(globals())
