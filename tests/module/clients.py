"""Published clients, unmodified: npm's redis and ioredis, Debian's python3-redis, hiredis.

scripts/test --full installs those from npm, in the versions of clients/package-lock.json, into
BLOOMERY_CLIENTS (a folder of the build tree).
"""
import os
import shutil
import subprocess

from harness import MODULE, Server, Skip, main, ok

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
FOLDER = os.environ.get("BLOOMERY_CLIENTS",
                        os.path.join(os.path.dirname(os.path.dirname(MODULE)), "clients"))


def run(*command, cwd=None):
    """Runs a client; when it fails, its output is the reason."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=240, check=False)
    ok(done.returncode == 0, f"{' '.join(command)}:\n{done.stdout.decode(errors='replace')}")
    return done.stdout.decode()


def npm_clients():
    """Checks for Node, and for the npm clients in FOLDER."""
    node = shutil.which("node")
    if not node:
        raise Skip("node is not installed")
    major = int(run(node, "--version").lstrip("v").split(".")[0])
    if major < 20:
        raise Skip(f"these clients need node 20, here is {major}")
    mark = os.path.join(FOLDER, "node_modules", ".installed")
    with open(os.path.join(HERE, "package-lock.json"), "rb") as file:
        wanted = file.read()
    if not os.path.exists(mark) or open(mark, "rb").read() != wanted:
        raise Skip("the clients are not installed; scripts/test --full installs them")
    return node


def test_npm_redis():
    node = npm_clients()
    for layout in ("no", "yes"):
        server = Server(args=f"compat-layout {layout}")
        for protocol in ("3", "2"):
            run(node, os.path.join(HERE, "node_redis.mjs"), str(server.port), protocol, cwd=FOLDER)
        server.stop()


def test_npm_ioredis():
    node = npm_clients()
    server = Server()
    run(node, os.path.join(HERE, "ioredis.mjs"), str(server.port), cwd=FOLDER)


def test_python_redis():
    try:
        run("/usr/bin/python3", "-c", "import redis.commands.bf.commands")
    except (AssertionError, FileNotFoundError):
        raise Skip("python3-redis is not installed") from None
    for layout in ("no", "yes"):
        server = Server(args=f"compat-layout {layout}")
        run("/usr/bin/python3", os.path.join(HERE, "python_redis.py"), str(server.port))
        server.stop()


def test_hiredis():
    program = os.environ.get("BLOOMERY_HIREDIS_CLIENT", "")
    if not os.path.exists(program):
        raise Skip("built without hiredis")
    for layout in ("no", "yes"):
        server = Server(args=f"compat-layout {layout}")
        run(program, str(server.port))
        server.stop()


if __name__ == "__main__":
    main(globals())
