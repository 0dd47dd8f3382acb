#!/usr/bin/env python3
"""check_commands.py [BLOOMERY]: the commands that README.md shows can be run as they stand, one after
the other in one folder; and so can every `plan` that a document quotes.

The files that the commands name are made first, `phishing.txt` from the one in examples/data. A server
on loopback stands for redis://host. A command that never ends (tail -F) is stopped once it has
answered.
"""
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "module"))

from servers import Server  # noqa: E402

BLOOMERY = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else
                           os.path.join(ROOT, "build/dev/bin/bloomery"))
DEADLINE = 60  # seconds for one command


def readme_commands():
    """The lines of README's block about the command line, without their comments."""
    with open(os.path.join(ROOT, "README.md")) as file:
        section = file.read().split("## The command line\n")[1].split("\n## ")[0]
    lines = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    return [re.sub(r"\s+# .*", "", line) for line in lines]


def plan_commands():
    """Every `plan ...` in the documents, in their order."""
    found = []
    documents = [os.path.join(ROOT, "docs", name) for name in sorted(os.listdir(ROOT + "/docs"))]
    for path in [os.path.join(ROOT, "README.md")] + documents:
        if path.endswith(".md"):
            with open(path) as file:
                found += re.findall(r"`(?:bloomery )?(plan -[^`]*)`", file.read())
    found = [command for command in found if not re.search(r" [A-Z]+\b", command)]  # a pattern
    return ["bloomery " + re.sub(r"\s+", " ", command) for command in found]


def make_files(folder):
    urls = [f"https://example.com/{i % 700}" for i in range(1000)]
    for name in ("urls.txt", "u.txt", "app.log"):
        with open(os.path.join(folder, name), "w") as file:
            file.write("\n".join(urls) + "\n")
    for name in ("new.txt.gz", "access.log.gz"):
        with gzip.open(os.path.join(folder, name), "wt") as file:
            file.write("\n".join(urls) + "\n")
    with open(os.path.join(folder, "hosts.log"), "w") as file:
        file.write("a.test\nlogin.paypa1-login.example\n")
    shutil.copy(os.path.join(ROOT, "examples/data/phishing.txt"), folder)


def run(command, folder):
    """Runs it by a shell; returns whether it did its job."""
    endless = "tail -F" in command
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        job = subprocess.Popen(command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                               stderr=errors, start_new_session=True)
        until = time.monotonic() + DEADLINE
        while job.poll() is None and time.monotonic() < until:
            if endless and os.fstat(out.fileno()).st_size > 0:
                break
            time.sleep(0.02)
        answered = os.fstat(out.fileno()).st_size > 0
        status = job.poll()
        if status is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        good = answered and status is None if endless else status == 0
        if not good:
            errors.seek(0)
            print(f"{command}\n  ended with status {status}: {errors.read().decode()}", file=sys.stderr)
        return good


def main():
    folder = tempfile.mkdtemp(prefix="bloomery-")
    commands, plans = readme_commands(), plan_commands()
    try:
        if len(commands) < 5 or len(plans) < 2:
            raise SystemExit("README.md or docs/ show fewer commands than this check expects")
        os.symlink(BLOOMERY, os.path.join(folder, "bloomery"))
        os.environ["PATH"] = folder + ":" + os.environ["PATH"]
        make_files(folder)
        with Server(module=False) as server:
            here = [c.replace("redis://host/", f"redis://127.0.0.1:{server.port}/") for c in commands]
            failed = [c for c in here + plans if not run(c, folder)]
    finally:
        shutil.rmtree(folder)
    print(f"{len(commands) + len(plans) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
