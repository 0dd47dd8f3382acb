#!/usr/bin/env python3
"""check_documents.py BUILD_DIR [DOCUMENT...]: runs the shell commands that the documents show.

Without a DOCUMENT: README.md, README.zh.md, CONTRIBUTING.md, SECURITY.md and every document below docs/ and examples/.
Each document has its own folder, in which its blocks are run in order:

  ```sh                  run with `bash -eu -o pipefail`; the status must be 0
  ```sh endless          the last command never ends; the block must print something, and is then stopped
  ```sh no-run: REASON   not run; at most MAX_NO_RUN in all documents
  ```console             lines that begin with "$ " are run like sh; the lines after each are the expected output. A line
                         "..." stands for any number of lines
  <!-- sh                commands up to --> are run but not displayed

Each folder contains the files of make_files(). The programs of BUILD_DIR are in PATH, and so is a redis-cli that reaches
the servers below; pkg-config and CMake find an installed copy. redis://localhost/ is a server on loopback with the module,
or one without it if the document contains the line <!-- sh: plain server -->.

Indented code must not contain commands, and every `plan ...` quoted in the text must succeed.
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

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "module"))

MAX_NO_RUN = 15
DEADLINE = 60  # seconds for one block
PLAIN = "<!-- sh: plain server -->"
# A fenced block, or a hidden one.
BLOCK = re.compile(r"(?ms)^(?P<fence>```+)(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$|^<!-- sh\n(?P<hidden>.*?)^-->$")
# The beginning of an indented line that is a command.
COMMAND = re.compile(r"^(?: {4}|\t)(?:\$ |sudo |cmake |cc |scripts/|bloomery [\w-]|redis-|build/|\./|git |ctest )", re.M)


class Block:
    """A block: `how` is sh, endless, console or no-run; `line` is the number of its first line of text."""

    def __init__(self, document, line, how, text, reason=""):
        self.document, self.line, self.how, self.text, self.reason = document, line, how, text, reason

    @property
    def place(self):
        return f"{self.document}:{self.line}"


class BadDocument(Exception):
    """A block has a form that is not allowed."""


def how_of(info, place):
    """Returns (how, reason) for the info string of a fenced block; how is None for blocks in other languages."""
    words = info.split()
    if not words or words[0] not in ("sh", "console", "bash", "shell"):
        return None, ""
    if info == "sh" or info == "console":
        return info, ""
    if info == "sh endless":
        return "endless", ""
    reason = re.fullmatch(r"sh no-run: (\S.{5,})", info)
    if not reason:
        raise BadDocument(f"{place}: unknown form ```{info}")
    return "no-run", reason[1]


def blocks_of(document, text):
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        if match["hidden"] is not None:
            found.append(Block(document, line, "sh", match["hidden"]))
            continue
        how, reason = how_of(match["info"].strip(), f"{document}:{line - 1}")
        if how:
            found.append(Block(document, line, how, match["body"], reason))
    rest = BLOCK.sub(lambda m: re.sub(r"[^\n]", "", m[0]), text)
    command = COMMAND.search(rest)
    if command:
        raise BadDocument(f"{document}:{rest.count(chr(10), 0, command.start()) + 1}: put this command into a block ```sh")
    return found


def quoted_plans(text):
    """Returns every `plan ...` in the text, except for patterns such as `plan -n N`."""
    rest = BLOCK.sub("", text)
    plans = re.findall(r"`(?:bloomery )?(plan -[^`]*)`", rest)
    return ["bloomery " + " ".join(p.split()) for p in plans if not re.search(r" [A-Z]+\b|\.\.\.", p)]


def documents():
    names = [n for n in ("README.md", "README.zh.md", "CONTRIBUTING.md", "SECURITY.md") if os.path.exists(os.path.join(ROOT, n))]
    for top in ("docs", "examples"):
        for folder, folders, files in os.walk(os.path.join(ROOT, top)):
            folders[:] = [f for f in folders if f != "node_modules"]
            names += [os.path.relpath(os.path.join(folder, n), ROOT) for n in files if n.endswith(".md")]
    return sorted(names)


def make_files(folder):
    urls = [f"https://example.com/page/{i % 700}" for i in range(1000)]
    lines = [f"192.0.2.{i % 90} - - [19/Nov/2026:10:{i % 60:02}:00 +0000] \"GET /page/{i % 700} HTTP/1.1\" 200 512" for i in range(1000)]

    def write(name, text):
        path = os.path.join(folder, name)
        with (gzip.open(path, "wt") if name.endswith(".gz") else open(path, "w")) as file:
            file.write("\n".join(text) + "\n")

    write("urls.txt", urls)
    write("more.txt.gz", [u.replace("/page/", "/post/") for u in urls])
    write("app.log", lines)
    write("access.log.gz", lines)
    write("hosts.log", ["a.test", "login.paypa1-login.example"])
    for name in ("crawl.txt", "phishing.txt", "visited.txt"):
        shutil.copy(os.path.join(ROOT, "examples/data", name), folder)
    shutil.copy(os.path.join(ROOT, "examples/readme.c"), os.path.join(folder, "program.c"))
    return folder


class Place:
    """What commands need: PATH, an installed copy, and servers, which start when a block first names one."""

    def __init__(self, build):
        self.scratch = tempfile.mkdtemp(prefix="bloomery-")
        self.servers = {}
        prefix = os.path.join(self.scratch, "prefix")
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        pc = next(os.path.join(f, "pkgconfig") for f, names, _ in os.walk(prefix) if "pkgconfig" in names)
        self.cli = shutil.which("redis-cli")
        self.environment = dict(os.environ, PKG_CONFIG_PATH=pc, LD_LIBRARY_PATH=os.path.dirname(pc), CMAKE_PREFIX_PATH=prefix,
                                PATH=f"{self.scratch}/bin:{prefix}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8", HOME=self.scratch)
        self.environment.pop("NO_COLOR", None)
        os.mkdir(os.path.join(self.scratch, "bin"))

    def port(self, plain):
        from servers import Server  # not at the top: it needs the loopback, which documents without a server do not
        if plain not in self.servers:
            self.servers[plain] = Server(module=not plain)
        return self.servers[plain].port

    def prepare(self, text, plain):
        """Returns the commands with the addresses of our servers. A script in PATH gives redis-cli the port."""
        if not re.search(r"redis://|redis-cli|:6379\b", text):
            return text
        port = self.port(plain)
        program = os.path.join(self.scratch, "bin", "redis-cli")
        with open(program, "w") as file:
            file.write(f'#!/bin/sh\nexec {self.cli} -h 127.0.0.1 -p {port} "$@"\n')
        os.chmod(program, 0o755)
        text = re.sub(r"redis://(localhost|127\.0\.0\.1)(:6379)?/", f"redis://127.0.0.1:{port}/", text)
        return re.sub(r"\b(localhost|127\.0\.0\.1):6379\b", f"127.0.0.1:{port}", text)

    def close(self):
        for server in self.servers.values():
            server.stop()
        shutil.rmtree(self.scratch, ignore_errors=True)


def run(commands, folder, place, endless=False):
    """Returns (whether the commands did what the block requires, their output on both streams)."""
    with tempfile.TemporaryFile() as out:
        job = subprocess.Popen(["bash", "-eu", "-o", "pipefail", "-c", commands], cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=out, stderr=subprocess.STDOUT, start_new_session=True, env=place.environment)
        until = time.monotonic() + DEADLINE
        while job.poll() is None and time.monotonic() < until:
            if endless and os.fstat(out.fileno()).st_size > 0:
                break
            time.sleep(0.02)
        status = job.poll()
        try:
            os.killpg(job.pid, signal.SIGKILL)  # and its background processes
        except ProcessLookupError:
            pass
        job.wait()
        out.seek(0)
        printed = out.read().decode("utf-8", "replace")
    if endless:
        return status is None and bool(printed), printed
    return status == 0, printed if status is not None else printed + f"\n(ended after {DEADLINE} s)"


def transcript_of(text):
    """Returns [[command, expected lines]] of a console block."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif not found:
            raise BadDocument("a console block begins without a command")
        elif line.startswith("> ") and not found[-1][1] and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + line[2:]
        else:
            found[-1][1].append(line)
    return found


def matches(expected, printed):
    """Returns whether the output has the expected lines, where "..." stands for any number of lines."""
    pattern = "".join(r"(?:[^\n]*\n)*" if line.strip() == "..." else re.escape(line.rstrip()) + r"[ \t]*\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed.splitlines())) is not None


def check_console(block, folder, place, plain):
    for command, expected in transcript_of(block.text):
        _, printed = run("set +e\n" + place.prepare(command, plain), folder, place)
        if plain in place.servers:
            printed = printed.replace(f"127.0.0.1:{place.servers[plain].port}", "localhost")
        if not matches(expected, printed):
            yield f"{block.place}: {command}\n  expected:\n    " + "\n    ".join(expected) + "\n  printed:\n    " + "\n    ".join(printed.splitlines())


def check_block(block, folder, place, plain):
    if block.how == "console":
        yield from check_console(block, folder, place, plain)
        return
    good, printed = run(place.prepare(block.text, plain), folder, place, block.how == "endless")
    if not good:
        yield f"{block.place}: the block failed\n    " + "\n    ".join(block.text.splitlines() + ["printed:"] + printed.splitlines()[-20:])


def check_document(name, text, place):
    """Returns (number of blocks and commands run, [what is wrong])."""
    blocks = [b for b in blocks_of(name, text) if b.how != "no-run"]
    plans = quoted_plans(text)
    if not blocks and not plans:
        return 0, []
    folder, wrong, plain = make_files(tempfile.mkdtemp(prefix="bloomery-")), [], PLAIN in text
    try:
        if plain in place.servers and blocks:
            subprocess.run([place.cli, "-p", str(place.port(plain)), "flushall"], check=True, stdout=subprocess.DEVNULL)
        for block in blocks:
            wrong += check_block(block, folder, place, plain)
        for command in plans:
            good, printed = run(command, folder, place)
            if not good:
                wrong.append(f"{name}: {command}\n{printed}")
    finally:
        shutil.rmtree(folder)
    return len(blocks) + len(plans), wrong


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    names = sys.argv[2:] or documents()
    texts, no_run, number, wrong = {}, [], 0, []
    for name in names:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            texts[name] = file.read()
    try:
        no_run = [b for name in names for b in blocks_of(name, texts[name]) if b.how == "no-run"]
    except BadDocument as error:
        sys.exit(str(error))
    build = os.path.abspath(sys.argv[1])
    os.environ.setdefault("BLOOMERY_MODULE", os.path.join(build, "lib", "bloomery.so"))
    here = os.path.join(build, "servers", "redis-server")  # the build's link to it, where the system has none
    if os.path.exists(here):
        os.environ.setdefault("BLOOMERY_SERVER", here)
    place = Place(build)
    try:
        for name in names:
            done, found = check_document(name, texts[name], place)
            number, wrong = number + done, wrong + found
    finally:
        place.close()
    if len(no_run) > MAX_NO_RUN:
        wrong.append(f"{len(no_run)} blocks are marked no-run; at most {MAX_NO_RUN} may be: " + ", ".join(b.place for b in no_run))
    for text in wrong:
        print(text, file=sys.stderr)
    if number < 5 and not sys.argv[2:]:
        wrong.append("")
        print("the documents show fewer commands than this check expects", file=sys.stderr)
    print(f"{number} blocks and commands run, {len(no_run)} marked no-run, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
