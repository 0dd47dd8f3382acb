"""servers.py - real servers with the module loaded, each in its own folder, on the loopback.

BLOOMERY_SERVER names the server program (redis-server), BLOOMERY_MODULE the module
(build/dev/lib/bloomery.so of this repository). However a test ends, its servers end with it: they
are stopped at exit and on SIGTERM, and the kernel kills them if the test is killed.
"""
import atexit
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from resp import Client, Error

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULE = os.environ.get("BLOOMERY_MODULE", os.path.join(ROOT, "build/dev/lib/bloomery.so"))
SERVER = os.environ.get("BLOOMERY_SERVER", "redis-server")

DEFAULTS = ("bind 127.0.0.1", "daemonize no", 'save ""', "appendonly no", "databases 16",
            "enable-debug-command yes", "enable-module-command yes", "repl-diskless-sync no",
            "proto-max-bulk-len 1gb", "client-output-buffer-limit replica 0 0 0",
            "crash-memcheck-enabled no")
CRASHES = ("BUG REPORT START", "Sanitizer", "ASSERTION FAILED")

_servers = []  # all that are running, or whose folder exists


class ServerFailed(Exception):
    """A server did not start, or died unexpectedly."""


def wait_for(condition, timeout=30, what="condition", step=0.005):
    """Calls `condition` until its result is true, every `step` seconds, and returns the result."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise TimeoutError(f"waited {timeout} s for: {what}")
        time.sleep(step)


class _Port:
    """An unused port. A UDP socket on it keeps other tests of ours from choosing it."""

    def __init__(self):
        for _ in range(1000):
            number = random.SystemRandom().randrange(15000, 32000)
            self.claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                self.claim.bind(("127.0.0.1", number))
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", number))
                self.number = number
                return
            except OSError:
                self.claim.close()
        raise ServerFailed("no free port")

    def release(self):
        self.claim.close()


def _die_with_parent():
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        pass


class Server:
    """A server. `config` are lines of its configuration, `args` the arguments of the module. A
    `shared` server survives the test, for the next tests of the file.

    Start servers in the main thread: the kernel kills them when the thread that started them ends.
    """

    def __init__(self, *config, args="", module=True, name="server", start=True, cluster=False,
                 shared=False):
        self.name = name
        self.shared = shared
        self.folder = tempfile.mkdtemp(prefix="bloomery-")
        self.process = None
        self.expected_dead = False
        self.cluster = cluster
        self.config = list(config)
        self.loadmodule = f"loadmodule {MODULE} {args}".strip() if module else ""
        self._port = self._bus = None
        _servers.append(self)
        if module and not os.path.exists(MODULE):
            raise ServerFailed(f"no module at {MODULE}; set BLOOMERY_MODULE")
        if start:
            self.start()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    @property
    def log(self):
        return self.path("log")

    @property
    def unix(self):
        return self.path("socket")

    @property
    def port(self):
        return self._port.number

    @property
    def bus(self):
        return self._bus.number

    @property
    def pid(self):
        return self.process.pid

    def claim_ports(self):
        """Chooses the ports. False: it already has ports."""
        if self._port is not None:
            return False
        self._port = _Port()
        self._bus = _Port() if self.cluster else None
        return True

    def start(self, wait=True, timeout=60):
        """Starts the server; again, if it ran before, in the same folder and on the same port."""
        for attempt in range(5):
            fresh = self.claim_ports()
            self._launch()
            if not wait:
                return self
            try:
                self.wait_ready(timeout)
                return self
            except ServerFailed:
                if not fresh or "in use" not in self.tail() or attempt == 4:
                    raise
                self._release_ports()
        return self

    def _launch(self):
        lines = list(DEFAULTS)
        lines += [f"port {self.port}", f"unixsocket {self.unix}", f"dir {self.folder}",
                  f"logfile {self.log}"]
        if self.cluster:
            lines += ["cluster-enabled yes", f"cluster-port {self.bus}",
                      "cluster-config-file nodes.conf"]
        with open(self.path("server.conf"), "w", encoding="utf-8") as conf:
            conf.write("\n".join(lines + [self.loadmodule] + self.config) + "\n")
        self.expected_dead = False
        with open(self.path("output"), "ab") as output:
            self.process = subprocess.Popen(
                [SERVER, self.path("server.conf")], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, start_new_session=True, preexec_fn=_die_with_parent)

    def wait_ready(self, timeout=60):
        """Waits until it replies and has loaded its data."""
        def ready():
            if self.process.poll() is not None:
                raise ServerFailed(f"{self.name} ended with {self.process.returncode}:\n"
                                   + self.tail())
            try:
                with Client(self.unix, timeout=timeout) as c:
                    reply = c("PING")
                    return not (isinstance(reply, Error) and reply.code == "LOADING")
            except OSError:
                return False
        wait_for(ready, timeout, f"{self.name} to be ready", 0.002)

    def client(self, resp=2, unix=False, timeout=60):
        return Client(self.unix if unix else self.port, resp, timeout)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """kill -9 of the server and of its child processes."""
        self.expected_dead = True
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def stop(self, save=False, timeout=60):
        """Stops it cleanly: SHUTDOWN SAVE or NOSAVE."""
        if not self.alive():
            self.check()
            return
        self.expected_dead = True
        try:
            with self.client(unix=True) as c:
                c("SHUTDOWN", "SAVE" if save else "NOSAVE")
        except OSError:
            pass
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"{self.name} did not shut down:\n" + self.tail()) from None
        if self.process.returncode != 0:
            raise ServerFailed(f"{self.name} ended with {self.process.returncode}:\n" + self.tail())
        self.check()

    def restart(self, save=False, kill=False):
        """Stops or kills it, and starts it again with the files in its folder."""
        if kill:
            self.kill()
        else:
            self.stop(save)
        return self.start()

    def configure(self, *config):
        """Adds configuration lines, which take effect at the next start."""
        self.config += config

    def check(self):
        """Fails if the server crashed: it ended unexpectedly, or its log has a crash report."""
        died = self.process is not None and self.process.poll() is not None
        log = self.read_log()
        for mark in CRASHES:
            if mark in log:
                report = log[max(0, log.index(mark) - 300):].split("\n")[:80]
                raise ServerFailed(f"{self.name} crashed:\n" + "\n".join(report))
        if died and not self.expected_dead:
            raise ServerFailed(f"{self.name} died ({self.process.returncode}):\n" + self.tail())

    def read_log(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def tail(self, lines=40):
        out = self.read_log().split("\n")[-lines:]
        try:
            with open(self.path("output"), encoding="utf-8", errors="replace") as f:
                out += f.read().split("\n")[-lines:]
        except OSError:
            pass
        return "\n".join(out)

    def rss(self):
        """Resident bytes of the process (Linux); 0 if unknown."""
        try:
            with open(f"/proc/{self.pid}/statm", encoding="ascii") as f:
                return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return 0

    def _release_ports(self):
        for port in (self._port, self._bus):
            if port:
                port.release()
        self._port = self._bus = None

    def remove(self):
        """Kills it and deletes its folder."""
        self.kill()
        self._release_ports()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self in _servers:
            _servers.remove(self)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.check()
            self.remove()


def all_servers():
    return list(_servers)


def remove_all(shared=True):
    for server in all_servers():
        if shared or not server.shared:
            server.remove()


def _on_signal(number, _frame):
    remove_all()
    sys.exit(128 + number)


atexit.register(remove_all)
for _number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(_number, _on_signal)


# ---- pairs of servers -----------------------------------------------------------------------

def pair(*config, master_args="", replica_args="", master_config=(), replica_config=()):
    """A master and its replica, in sync. The configuration of each may differ."""
    master = Server(*config, *master_config, args=master_args, name="master")
    replica = Server(*config, *replica_config, f"replicaof 127.0.0.1 {master.port}",
                     args=replica_args, name="replica")
    wait_sync(master, replica)
    return master, replica


def wait_sync(master, replica, timeout=60):
    """Waits until the replica has all writes that the master had when this was called. The replica
    may not have noticed yet that its link to an earlier master is gone: then its replication id
    differs."""
    with master.client() as m, replica.client() as r:
        offset = int(m.info("replication")["master_repl_offset"])

        def caught_up():
            above, below = m.info("replication"), r.info("replication")
            return (below.get("master_link_status") == "up"
                    and below["master_replid"] == above["master_replid"]
                    and int(below["slave_repl_offset"]) >= offset)
        wait_for(caught_up, timeout, "the replica to catch up")


# ---- AOF ------------------------------------------------------------------------------------

def rewrite_aof(client, *command, timeout=60):
    """Sends BGREWRITEAOF, or another command that causes a rewrite, and waits for its end. The
    server may start the rewrite later, between two replies to INFO, so the number of rewrites
    counts."""
    before = int(client.info("persistence")["aof_rewrites"])
    client.must(*(command or ("BGREWRITEAOF",)))

    def ended():
        now = client.info("persistence")
        running = now["aof_rewrite_in_progress"] != "0" or now["aof_rewrite_scheduled"] != "0"
        return now if int(now["aof_rewrites"]) > before and not running else None
    status = wait_for(ended, timeout, "the end of the AOF rewrite")["aof_last_bgrewrite_status"]
    if status != "ok":
        raise ServerFailed(f"the AOF rewrite failed: {status}")


def digests(client, *keys):
    """DEBUG DIGEST-VALUE of the keys, as a dict."""
    if not keys:
        keys = sorted(client.must("KEYS", "*"))
    return dict(zip(keys, client.must("DEBUG", "DIGEST-VALUE", *keys))) if keys else {}
