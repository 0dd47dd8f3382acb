"""clusters.py - a cluster on the loopback: masters with one replica each, and a client that follows
redirections."""
import contextlib
import os
import time

from resp import Client, Error, to_bytes
from servers import Server, ServerFailed, wait_for

SLOTS = 16384
STEP = 0.005  # seconds between two checks of the state of a node


def _crc16_table():
    table = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
        table.append(crc)
    return table


_CRC16 = _crc16_table()


def key_slot(key):
    """The slot of a key, or of its hash tag: the text between the first braces, unless it is
    empty."""
    data = to_bytes(key)
    begin = data.find(b"{")
    if begin >= 0:
        end = data.find(b"}", begin + 1)
        if end > begin + 1:
            data = data[begin + 1:end]
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xffff) ^ _CRC16[crc >> 8 ^ byte]
    return crc % SLOTS


def _calls_it_ok(client):
    """Whether the node reports that the cluster is ok. A node that is loading may not reply."""
    reply = client("CLUSTER", "INFO")
    return not isinstance(reply, Error) and b"cluster_state:ok" in reply


class Cluster:
    """`masters` masters that share the slots, each with a replica: .masters and .replicas are the
    nodes with these roles at the start, .nodes all of them."""

    # Nodes start with a file that names them all. Without it CLUSTER MEET introduces them.
    prepared = True

    def __init__(self, *config, masters=3, args="", module=True, node_timeout=1500):
        lines = (f"cluster-node-timeout {node_timeout}", "cluster-replica-validity-factor 0",
                 "cluster-require-full-coverage no", "cluster-allow-replica-migration no",
                 "repl-ping-replica-period 1") + config

        def make(i):
            return Server(*lines, args=args, module=module, name=f"node{i}", cluster=True,
                          start=not self.prepared)
        for attempt in range(5):
            self.nodes = [make(i) for i in range(2 * masters)]
            self.masters, self.replicas = self.nodes[:masters], self.nodes[masters:]
            try:
                if self.prepared:
                    self._start()
                else:
                    self._introduce()
                break
            except ServerFailed as why:
                if "in use" not in str(why) or attempt == 4:
                    raise
                for node in self.nodes:  # a port was taken: use others
                    node.remove()

    def _start(self):
        """Starts all nodes at once, with the file that each would have written. A master that
        starts refuses commands for two seconds, in case it was replaced meanwhile. A replica does
        not, not even when it takes over. So the nodes that are to be masters start as replicas of
        the others."""
        for node in self.nodes:
            node.claim_ports()
        self.ids = {node.port: os.urandom(20).hex() for node in self.nodes}
        for node in self.nodes:
            with open(node.path("nodes.conf"), "w", encoding="ascii") as file:
                file.write(self._nodes_file(node))
            node.start(wait=False)
        for node in self.nodes:
            node.wait_ready()
        epoch = 0
        for node in self.masters:
            with node.client() as c:
                wait_for(lambda c=c: self._can_take_over(c, epoch), 60, "nodes to connect", STEP)
                self._take_over(c)
                epoch = int(c.cluster_info()["cluster_my_epoch"])
        self.wait_ok()
        self._announce_replicas()
        self._wait_roles()

    def _nodes_file(self, own):
        count = len(self.masters)
        rows = []
        for i, node in enumerate(self.replicas + self.masters):
            me = "myself," if node is own else ""
            place = f"{self.ids[node.port]} 127.0.0.1:{node.port}@{node.bus}"
            if i < count:
                slots = f"{i * SLOTS // count}-{(i + 1) * SLOTS // count - 1}"
                rows.append(f"{place} {me}master - 0 0 {i + 1} connected {slots}")
            else:
                above = self.ids[self.replicas[i - count].port]
                rows.append(f"{place} {me}slave {above} 0 0 {i + 1 - count} connected")
        return "\n".join(rows) + f"\nvars currentEpoch {count} lastVoteEpoch 0\n"

    @staticmethod
    def _take_over(client):
        """Makes a replica take over. On a slow machine it may have done so already, because its
        master seemed dead."""
        reply = client("CLUSTER", "FAILOVER", "TAKEOVER")
        if isinstance(reply, Error) and client.must("ROLE")[0] != b"master":
            raise ServerFailed(f"CLUSTER FAILOVER TAKEOVER: {reply.text}")

    @staticmethod
    def _can_take_over(client, epoch):
        """Whether all other nodes will learn of a takeover at once, and this node knows the
        previous one."""
        return (_calls_it_ok(client) and b"disconnected" not in client.must("CLUSTER", "NODES")
                and int(client.cluster_info()["cluster_current_epoch"]) >= epoch)

    def _announce_replicas(self):
        """A node announces its role with its next ping, which may take half the node timeout. This
        makes it send one soon."""
        for replica in self.replicas:
            with replica.client() as c:
                for node in self.nodes:
                    if node is not replica:
                        c.must("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus)

    def _wait_roles(self):
        """Waits until every node knows the role of every other."""
        wanted = {self.ids[m.port]: "-" for m in self.masters}
        wanted.update((self.ids[r.port], self.ids[m.port])
                      for m, r in zip(self.masters, self.replicas))

        def agreed(client):
            rows = [row.split() for row in client.must("CLUSTER", "NODES").decode().splitlines()]
            return ({row[0]: row[3] for row in rows} == wanted
                    and all(row[7] == "connected" for row in rows))
        for node in self.nodes:
            with node.client() as c:
                wait_for(lambda c=c: agreed(c), 60, "the nodes to agree", STEP)

    def _introduce(self):
        """Creates the cluster with the commands that administrators use."""
        count = len(self.masters)
        for i, node in enumerate(self.masters):
            with node.client() as c:
                c.must("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
                c.must("CLUSTER", "ADDSLOTSRANGE", i * SLOTS // count,
                       (i + 1) * SLOTS // count - 1)
        self._meet()
        self.ids = {node.port: self._id(node) for node in self.nodes}
        for master, replica in zip(self.masters, self.replicas):
            with replica.client() as c:
                c.must("CLUSTER", "REPLICATE", self.ids[master.port])
        self.wait_ok()

    def _meet(self):
        first = self.nodes[0]
        with first.client() as c:
            for node in self.nodes[1:]:
                c.must("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus)
        for node in self.nodes:
            with node.client() as c:
                wait_for(lambda c=c: int(c.cluster_info()["cluster_known_nodes"])
                         == len(self.nodes) and b"handshake" not in c.must("CLUSTER", "NODES"),
                         30, "the nodes to meet")

    @staticmethod
    def _id(node):
        with node.client() as c:
            return c.must("CLUSTER", "MYID").decode()

    def role(self, node):
        with node.client() as c:
            return c.must("ROLE")[0].decode()

    def alive(self):
        return [n for n in self.nodes if n.alive()]

    def wait_ok(self, timeout=60):
        """Waits until all living nodes report that the cluster is ok, and living replicas are in
        sync."""
        def fine():
            for node in self.alive():
                with node.client() as c:
                    if not _calls_it_ok(c):
                        return False
                    role = c.must("ROLE")
                    if role[0] == b"slave" and role[3] != b"connected":
                        return False
            return True
        wait_for(fine, timeout, "the cluster to be ok", STEP)

    def owner(self, slot):
        """The living master that serves a slot."""
        for node in self.alive():
            with node.client() as c:
                if c.must("ROLE")[0] != b"master":
                    continue
                for line in c.must("CLUSTER", "NODES").decode().split("\n"):
                    words = line.split()
                    if len(words) > 8 and "myself" in words[2] and _has_slot(words[8:], slot):
                        return node
        return None

    def replicas_of(self, master):
        own = self.ids[master.port]
        with master.client() as c:
            rows = [r.split() for r in c.must("CLUSTER", "NODES").decode().split("\n") if r]
        wanted = {r[0] for r in rows if r[3] == own}
        return [n for n in self.alive() if self.ids[n.port] in wanted]

    def migrate(self, slot, target, pause=0.0):
        """Moves a slot and its keys to another master while clients continue."""
        source = self.owner(slot)
        with source.client() as s, target.client() as t:
            t.must("CLUSTER", "SETSLOT", slot, "IMPORTING", self.ids[source.port])
            s.must("CLUSTER", "SETSLOT", slot, "MIGRATING", self.ids[target.port])
            while True:
                keys = s.must("CLUSTER", "GETKEYSINSLOT", slot, 10)
                if not keys:
                    break
                time.sleep(pause)
                s.must("MIGRATE", "127.0.0.1", target.port, "", 0, 60000, "KEYS", *keys)
            t.must("CLUSTER", "SETSLOT", slot, "NODE", self.ids[target.port])
            s.must("CLUSTER", "SETSLOT", slot, "NODE", self.ids[target.port])
        return source

    def failover(self, replica, option=None, timeout=30):
        """Sends CLUSTER FAILOVER to a replica until it is a master."""
        with replica.client() as c:
            c.must("CLUSTER", "FAILOVER", *([option] if option else []))
            wait_for(lambda: c.must("ROLE")[0] == b"master", timeout, "the failover", STEP)

    @contextlib.contextmanager
    def impatient(self, node_timeout=500):
        """A context in which living nodes declare others dead after a short time."""
        with contextlib.ExitStack() as stack:
            links = {n: stack.enter_context(n.client()) for n in self.alive()}
            before = next(iter(links.values())).must("CONFIG", "GET", "cluster-node-timeout")[1]
            for link in links.values():
                link.must("CONFIG", "SET", "cluster-node-timeout", node_timeout)
            yield
            for node, link in links.items():
                if node.alive():
                    link.must("CONFIG", "SET", "cluster-node-timeout", before)

    def kill_master(self, dead):
        """Kills a master, and waits until a replica serves its slots."""
        with self.impatient():
            dead.kill()
            self.wait_promoted(dead)

    def wait_promoted(self, dead, timeout=60):
        """After a master died: waits until a replica serves its slots and the cluster is ok."""
        def promoted():
            for node in self.alive():
                with node.client() as c:
                    if not _calls_it_ok(c):
                        return False
                    slots = c.must("CLUSTER", "SLOTS")
                    if any(row[2][1] == dead.port for row in slots):
                        return False
                    if sum(row[1] - row[0] + 1 for row in slots) != SLOTS:
                        return False
            return True
        wait_for(promoted, timeout, "a replica to take over", 0.02)

    def wait_replicas(self, timeout=60):
        """Waits until every living replica has all writes of its master."""
        for node in self.alive():
            with node.client() as c:
                role = c.must("ROLE")
                if role[0] != b"slave":
                    continue
                with Client(role[2]) as m:
                    offset = int(m.info("replication")["master_repl_offset"])
                wait_for(lambda c=c, offset=offset: c.must("ROLE")[4] >= offset, timeout,
                         "replicas to catch up")


def _has_slot(words, slot):
    for word in words:
        if word.startswith("["):
            continue
        low, _, high = word.partition("-")
        if int(low) <= slot <= int(high or low):
            return True
    return False


class ClusterClient:
    """Sends a command to the node of its key (the first argument after the name), and follows
    MOVED and ASK. Retries after TRYAGAIN, while the cluster is down, and after lost connections,
    until `patience` seconds have passed. So a command may be executed twice."""

    def __init__(self, ports, resp=2, patience=30):
        self.ports = list(ports)
        self.resp = resp
        self.patience = patience
        self.links = {}
        self.slots = {}

    def link(self, port):
        if port not in self.links:
            self.links[port] = Client(port, self.resp)
        return self.links[port]

    def drop(self, port):
        link = self.links.pop(port, None)
        if link:
            link.close()

    def refresh(self):
        for port in self.ports:
            try:
                rows = self.link(port).must("CLUSTER", "SLOTS")
            except Exception:  # noqa: BLE001 - a dead node: ask the next
                self.drop(port)
                continue
            for row in rows:
                for slot in range(row[0], row[1] + 1):
                    self.slots[slot] = row[2][1]
            return

    def __call__(self, *args):
        return self.at(*args)[0]

    def at(self, *args):
        """The reply, and the port of the node that gave it."""
        slot = key_slot(args[1])
        end = time.monotonic() + self.patience
        port, asking = self.slots.get(slot), False
        while True:
            try:
                if port is None:
                    raise ConnectionError("no node known")
                link = self.link(port)
                if asking:
                    link("ASKING")
                reply = link(*args)
            except (OSError, ConnectionError) as why:
                if port is not None:
                    self.drop(port)
                if time.monotonic() > end:
                    raise TimeoutError(f"no answer for {args[:2]}: {why}") from why
                time.sleep(0.05)
                self.refresh()
                port, asking = self.slots.get(slot), False
                continue
            if not isinstance(reply, Error):
                return reply, port
            if reply.code in ("MOVED", "ASK"):
                asking = reply.code == "ASK"
                port = int(reply.text.rsplit(":", 1)[1])
                if not asking:
                    self.slots[slot] = port
            elif reply.code in ("TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN"):
                time.sleep(0.02)
                asking = False
                if reply.code != "TRYAGAIN":
                    self.refresh()
                port = self.slots.get(slot)
            else:
                return reply, port
            if time.monotonic() > end:
                raise TimeoutError(f"no answer for {args[:2]}: {reply.text}")

    def close(self):
        for link in self.links.values():
            link.close()
        self.links = {}
