#!/usr/bin/env bash
# Packages are installed only after it was said, never with --no-install, and no service is started,
# also when the installation fails. The programs of the system are replaced by ones that write down
# how they were called.
set -euo pipefail
unset BLOOMERY_NO_INSTALL # a script that runs this test may have been told so
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    printf '%s\n' "$*" >&2
    cat "$scratch/out" >&2
    exit 1
}

mkdir "$scratch/bin"
program() { # NAME: its text is read from standard input
    { printf '#!/bin/sh\n' && cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
program dpkg-query <<'S'
case $* in *present*) echo "present install ok installed" ;; esac
case $* in *removed*) echo "removed deinstall ok config-files" ;; esac
exit 1
S
program id <<'S'
echo 0
S
# What Debian's package scripts do: they start a service unless the policy says 101.
program apt-get <<'S'
exec >>"$BIN/../calls"
grep -q installing "$BIN/../out" || echo "not announced"
echo "apt-get $*"
[ ! -e "$BIN/../fail" ] || exit 100
"$BIN/../policy" redis-server start
[ $? -eq 101 ] || echo "a service was started"
S

# run ARGUMENT...: need_packages as a script with these arguments calls it. Its output goes to
# $scratch/out, what apt-get saw to $scratch/calls.
run() {
    rm -f "$scratch/calls" && touch "$scratch/calls"
    PATH=$scratch/bin:$PATH BIN=$scratch/bin ROOT=$root bash -c '
        set -euo pipefail
        . "$ROOT/scripts/lib.sh"
        service_policy=$BIN/../policy
        need_packages "$@"' script "$@" >"$scratch/out" 2>&1
}
run present
[ ! -s "$scratch/out" ] || fail "what is installed is not worth a word"

run present absent other removed
grep -q 'installing.*: absent other removed$' "$scratch/out" || fail "it is not said what is installed"
grep -q '^apt-get install.* absent other removed$' "$scratch/calls" || fail "nothing was installed"
! grep -q 'not announced' "$scratch/calls" || fail "it was not said before"
! grep -q 'a service was started' "$scratch/calls" || fail "a service was started"
[ ! -e "$scratch/policy" ] || fail "the policy was left behind"

run --no-install present absent
grep -q 'absent$' "$scratch/out" || fail "it is not said what is missing"
[ ! -s "$scratch/calls" ] || fail "something was installed in spite of --no-install"

touch "$scratch/fail"
! run absent || fail "a failed installation goes unnoticed"
[ ! -e "$scratch/policy" ] || fail "the policy was left behind by a failed installation"
rm "$scratch/fail"

# An administrator's policy stays. Where it lets services start, nothing is installed.
printf '#!/bin/sh\nexit 101\n' >"$scratch/policy"
chmod +x "$scratch/policy"
run absent
[ "$(tail -n1 "$scratch/policy")" = "exit 101" ] || fail "a policy of somebody else was changed"
printf '#!/bin/sh\nexit 0\n' >"$scratch/policy"
! run absent || fail "packages were installed although services would have started"
[ ! -s "$scratch/calls" ] || fail "packages were installed although services would have started"
[ -e "$scratch/policy" ] || fail "a policy of somebody else was removed"

# A policy that a killed script of ours left behind is replaced and removed; that of one at work is not.
printf '#!/bin/sh\n%s\nexit 101\n' "# Written by Bloomery's scripts while they install packages; it can be removed after process 4194305" \
    >"$scratch/policy"
chmod +x "$scratch/policy"
run absent
grep -q '^apt-get install' "$scratch/calls" || fail "a policy left behind keeps packages from being installed"
[ ! -e "$scratch/policy" ] || fail "a policy left behind stays"
printf '#!/bin/sh\n%s\nexit 101\n' "# Written by Bloomery's scripts while they install packages; it can be removed after process $$" \
    >"$scratch/policy"
chmod +x "$scratch/policy"
run absent
[ -e "$scratch/policy" ] || fail "the policy of a script that is at work was removed"
