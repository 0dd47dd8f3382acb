#!/usr/bin/env python3
"""Files in directories that other users can write to, and files left by killed runs: files.py PROGRAM [NAME...].

Tests that need a second user are skipped, with a message, unless this runs as root.
"""
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

ALICE, BOB = 65533, 65534
PROGRAM = None
NEEDS_ROOT = "skipped: needs root"


def start(where, *words, user=None, umask=0o022, **more):
    if user is not None:
        more.update(user=user, group=user, extra_groups=[])
    return subprocess.Popen([PROGRAM] + list(words), cwd=where, umask=umask,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **more)


def run(where, *words, lines=b"", **more):
    """Returns the exit status, standard output and standard error."""
    child = start(where, *words, **more)
    out, err = child.communicate(lines, timeout=60)
    return child.returncode, out.decode(), err.decode()


def expect(seen, wanted, what=""):
    if seen != wanted:
        raise AssertionError("%s: %r instead of %r" % (what, seen, wanted))


def good(result):
    expect(result[0], 0, result[2])
    return result


def refused(result, words):
    expect(result[0], 2, "exit status")
    if words not in result[2]:
        raise AssertionError("%r is not in %r" % (words, result[2]))


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("nothing happened for a minute")
        time.sleep(0.005)


def kill(child):
    child.send_signal(signal.SIGKILL)
    child.communicate()
    expect(child.returncode, -signal.SIGKILL)


def describe(path):
    st = os.lstat(path)
    return st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)


def make(path, content=b"", user=0, mode=0o644):
    with open(path, "wb") as f:
        f.write(content)
    os.chmod(path, mode)
    if os.geteuid() == 0:
        os.chown(path, user, user)


def folder(where, name, mode):
    path = os.path.join(where, name)
    os.mkdir(path)
    os.chmod(path, mode)
    return path


def locked(path):
    """Whether a process has locked the file, which is then in use whatever its age."""
    inode = os.stat(path).st_ino
    with open("/proc/locks", encoding="ascii") as f:
        return any(":%d " % inode in line for line in f)


def temporaries(where):
    return sorted(n for n in os.listdir(where) if n.endswith(".tmp"))


def keys_in(where, name):
    out = good(run(where, "info", "--json", name))[1]
    return int(out.split('"count":')[1].split(",")[0])


def make_list(where, user=None):
    good(run(where, "build", "-q", "-n", "10000", "-o", "list.bly", lines=b"a\nb\n", user=user))


# ---- the lock file --------------------------------------------------------------------------------

def test_killed_run_leaves_a_lock(where):
    make_list(where)
    lock = os.path.join(where, ".list.bly.lock")
    child = start(where, "add", "list.bly")
    wait_for(lambda: os.path.exists(lock))
    kill(child)
    expect(os.path.exists(lock), True)
    good(run(where, "add", "-q", "list.bly", lines=b"c\n"))
    expect(os.path.exists(lock), False)
    expect(keys_in(where, "list.bly"), 3)


def test_lock_of_another_user(where):
    if os.geteuid() != 0:
        return NEEDS_ROOT
    for mode, counts in ((0o1777, False), (0o777, True)):
        place = folder(where, "%o" % mode, mode)
        make_list(place, user=ALICE)
        lock = os.path.join(place, ".list.bly.lock")
        make(lock, user=BOB)
        with open(lock) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            # The lock of a user who cannot replace the list delays nobody.
            refused(run(place, "dedup", "--state", "list.bly", user=ALICE),
                    "another process is using this file" if counts else
                    "belongs to a user who has no permission to replace list.bly")
        result = run(place, "add", "-q", "list.bly", lines=b"c\n", user=ALICE)
        expect(result[0], 0 if counts else 2, result[2])
        expect(describe(lock), (BOB, BOB, 0o644), "whose lock, and mode")
        expect(keys_in(place, "list.bly"), 3 if counts else 2)
    return None


def test_lock_that_cannot_be_opened(where):
    if os.geteuid() != 0:
        return NEEDS_ROOT
    place = folder(where, "shared", 0o777)
    make_list(place, user=ALICE)
    lock = os.path.join(place, ".list.bly.lock")
    child = start(place, "add", "-q", "list.bly", user=BOB, umask=0o077)
    wait_for(lambda: os.path.exists(lock))
    expect(describe(lock), (BOB, BOB, 0o600))
    refused(run(place, "add", "list.bly", lines=b"c\n", user=ALICE),
            "list.bly: another user is using this file, or has used it; try again later, or remove "
            ".list.bly.lock if nobody uses it")
    child.communicate(b"d\n")
    expect(child.returncode, 0)
    expect(os.path.exists(lock), False)
    good(run(place, "add", "-q", "list.bly", lines=b"c\n", user=ALICE))
    expect(keys_in(place, "list.bly"), 4)
    return None


def test_two_users_exclude_each_other(where):
    if os.geteuid() != 0:
        return NEEDS_ROOT
    place = folder(where, "shared", 0o777)
    make_list(place, user=ALICE)
    children = [start(place, "add", "-q", "list.bly", user=(ALICE, BOB, None)[i % 3])
                for i in range(12)]
    for i, child in enumerate(children):
        child.stdin.write(b"".join(b"%d-%d\n" % (i, j) for j in range(50)))
        child.stdin.close()
    for child in children:
        expect(child.wait(60), 0)
        expect(child.stderr.read(), b"")
    lines = b"".join(b"%d-%d\n" % (i, j) for i in range(12) for j in range(50))
    expect(good(run(place, "check", "-c", "list.bly", lines=lines))[1], "600\n")
    return None


# ---- what is replaced -----------------------------------------------------------------------------

def test_owner_is_kept(where):
    if os.geteuid() != 0:
        return NEEDS_ROOT
    for name, words in (("out", ["-f", "-o", "out"]), ("seen", ["--confirm", "seen"]),
                        ("exact", ["--exact", "--state", "exact"]), ("state", ["--state", "state"])):
        path = os.path.join(where, name)
        make(path, user=ALICE, mode=0o640)
        os.chown(path, ALICE, BOB)
        inode = os.stat(path).st_ino
        good(run(where, "dedup", "-q", *words, lines=b"a\nb\na\n"))
        expect(describe(path), (ALICE, BOB, 0o640), name)
        if os.stat(path).st_ino == inode or os.stat(path).st_size == 0:
            raise AssertionError("%s was not replaced" % name)
    return None


def test_link_of_another_user(where):
    if os.geteuid() != 0:
        return NEEDS_ROOT
    place, home = folder(where, "shared", 0o1777), folder(where, "home", 0o755)
    make_list(home)
    make(os.path.join(home, "text"), b"secret")
    for name in ("list.bly", "text"):
        os.symlink(os.path.join(home, name), os.path.join(place, name))
        os.lchown(os.path.join(place, name), BOB, BOB)
    before = sorted(os.listdir(home))
    for words in (["add", "list.bly"], ["build", "-f", "-o", "list.bly"],
                  ["dedup", "--state", "list.bly"], ["dedup", "-f", "-o", "text"],
                  ["dedup", "--confirm", "text"], ["merge", "-f", "-o", "list.bly", "list.bly"]):
        refused(run(place, *words, lines=b"x\n"), "not following a symbolic link that another user owns, "
                "in a directory that everyone can write to; give the path of the file itself")
        expect(sorted(os.listdir(home)), before)
    expect(keys_in(home, "list.bly"), 2)
    with open(os.path.join(home, "text"), "rb") as f:
        expect(f.read(), b"secret")
    return None


# ---- temporary files ------------------------------------------------------------------------------

def test_killed_run_leaves_a_temporary_file(where):
    for young in (True, False):
        child = start(where, "dedup", "-q", "-o", "out")
        child.stdin.write(b"x\n")
        child.stdin.flush()
        wait_for(lambda: temporaries(where))
        kill(child)
        left = temporaries(where)
        expect(len(left), 1)
        if not young:
            hour_ago = time.time() - 3600
            os.utime(os.path.join(where, left[0]), (hour_ago, hour_ago))
        good(run(where, "dedup", "-q", "-o", "out", lines=b"y\n"))
        expect(temporaries(where), left if young else [])
        os.unlink(os.path.join(where, "out"))
        for name in temporaries(where):
            os.unlink(os.path.join(where, name))


def test_temporary_file_in_use(where):
    child = start(where, "dedup", "-q", "-o", "out")
    wait_for(lambda: temporaries(where) and locked(os.path.join(where, temporaries(where)[0])))
    used = temporaries(where)
    hour_ago = time.time() - 3600
    os.utime(os.path.join(where, used[0]), (hour_ago, hour_ago))
    good(run(where, "dedup", "-q", "-o", "out", lines=b"y\n"))
    expect(temporaries(where), used)
    out = child.communicate(b"x\n")
    expect((child.returncode, b"out: already exists; use -f to replace it" in out[1]), (2, True))
    expect(temporaries(where), [])
    with open(os.path.join(where, "out"), "rb") as f:
        expect(f.read(), b"y\n")


def main():
    global PROGRAM
    tests = {n[5:]: f for n, f in sorted(globals().items()) if n.startswith("test_")}
    names = sys.argv[2:] or list(tests)
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        PROGRAM = os.path.join(place, "bloomery")  # where other users can reach it
        shutil.copy(sys.argv[1], PROGRAM)
        for name in names:
            where = folder(place, name, 0o755)
            try:
                print("%s: %s" % (name, tests[name](where) or "ok"), flush=True)
            except AssertionError as e:
                bad += 1
                print("%s: FAILED: %s" % (name, e), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
