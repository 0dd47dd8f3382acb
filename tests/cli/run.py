#!/usr/bin/env python3
"""Runs transcripts of the command line and compares output, errors and exit status exactly.

    run.py [--update] [--times] PROGRAM TRANSCRIPT.t...

A transcript is read from the top, each block in the same empty directory:

    # a comment
    $ a command for bash, in which `bloomery` is PROGRAM and $DATA the tests' folder, and which
    >     may use what functions.bash defines
    > a further line of the same command
    what it prints on standard output
    ! what it prints on standard error
    ? 2

No `?` line means exit status 0. A line of output that would look like one of these marks, or ends
in a space, is written with a leading backslash (and, for the latter, `\\s` for the last space); an
output without a newline at its end is followed by a line `\\c`. With --update the transcripts are
rewritten to what was seen: read the difference before you keep it. With --times the seconds of each
block are printed, slowest first: those that passed and those of CPU time. Where they differ, the
block waits for something.
"""
import os
import resource
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import scratch  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MARKS = ("$ ", "> ", "! ", "? ", "#", "\\", "!", "")


def escape(line):
    if line.endswith(" "):
        return "\\" + line[:-1] + "\\s"
    if line == "" or line.startswith(("$ ", "> ", "!", "? ", "#", "\\")):
        return "\\" + line
    return line


def render(data):
    text = data.decode("utf-8", "backslashreplace")
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        return [escape(line) for line in lines[:-1]]
    return [escape(line) for line in lines] + ["\\c"]


def blocks(lines):
    """Yields blocks: a comment or an empty line, or a command with its output."""
    block = []
    for line in lines:
        if line.startswith("$ ") or line.startswith("#") or line == "":
            if block:
                yield block
            block = [line]
            if not line.startswith("$ "):
                yield block
                block = []
        else:
            block.append(line)
    if block:
        yield block


def run_block(block, where, env):
    if not block[0].startswith("$ "):
        return block
    command = [block[0][2:]] + [line[2:] for line in block[1:] if line.startswith("> ")]
    done = subprocess.run(["bash", "-c", "\n".join(command)], cwd=where, env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    seen = [block[0]] + [line for line in block[1:] if line.startswith("> ")]
    seen += render(done.stdout)
    seen += ["! " + line if not line.startswith("\\") else "! " + line[1:]
             for line in render(done.stderr)]
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    if status:
        seen.append("? %d" % status)
    return seen


def cpu_seconds():
    """CPU time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_file(path, env, update, times):
    with open(path, encoding="utf-8") as f:
        wanted = f.read().split("\n")
    if wanted and wanted[-1] == "":
        wanted.pop()
    seen, bad = [], 0
    with scratch.directory() as where:
        for block in blocks(wanted):
            start, cpu = time.monotonic(), cpu_seconds()
            got = run_block(block, where, env)
            times.append((time.monotonic() - start, cpu_seconds() - cpu, path, block[0]))
            seen += got
            if got != block:
                bad += 1
                if not update:
                    print("%s: differs\n--- wanted\n%s\n--- got\n%s\n" %
                          (path, "\n".join(block), "\n".join(got)))
    if update and bad:
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(seen) + "\n")
    return bad


def main():
    args = [a for a in sys.argv[1:] if a not in ("--update", "--times")]
    update = "--update" in sys.argv
    times = []
    program = os.path.abspath(args[0])
    env = {"PATH": os.path.dirname(program) + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8",
           "DATA": HERE, "BASH_ENV": os.path.join(HERE, "functions.bash"), "HOME": "/nonexistent",
           "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
    bad = sum(run_file(path, env, update, times) for path in args[1:])
    if "--times" in sys.argv:
        print("seconds  of CPU  block")
        for seconds, cpu, path, command in sorted(times, reverse=True):
            if command.startswith("$ "):
                print("%7.3f %7.3f  %s: %.200s" % (seconds, cpu, os.path.basename(path), command))
    print("%d transcripts, %d blocks differ" % (len(args) - 1, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
