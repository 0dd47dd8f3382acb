#!/usr/bin/env bash
# scripts/lib.sh prints which packages it installs before it installs them, installs nothing with --no-install, and lets
# no service start, even if the installation fails. Substitutes for the system's programs record how they were called.
set -euo pipefail
unset BLOOMERY_NO_INSTALL # a script that runs this test may have set it
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    printf '%s\n' "$*" >&2
    cat "$scratch/out" >&2
    exit 1
}

mkdir "$scratch/bin"
program() { # NAME: writes this program, whose text is standard input
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
# Does what Debian's package scripts do: they start a service unless the policy exits with status 101.
program apt-get <<'S'
exec >>"$BIN/../calls"
grep -q installing "$BIN/../out" || echo "not announced"
echo "apt-get $*"
[ ! -e "$BIN/../fail" ] || exit 100
"$BIN/../policy" redis-server start
[ $? -eq 101 ] || echo "a service was started"
S

# run ARGUMENT...: calls need_packages as a script with these arguments does. Its output goes to $scratch/out, the calls
# of apt-get to $scratch/calls.
run() {
    rm -f "$scratch/calls" && touch "$scratch/calls"
    PATH=$scratch/bin:$PATH BIN=$scratch/bin ROOT=$root bash -c '
        set -euo pipefail
        . "$ROOT/scripts/lib.sh"
        service_policy=$BIN/../policy
        need_packages "$@"' script "$@" >"$scratch/out" 2>&1
}
run present
[ ! -s "$scratch/out" ] || fail "installed packages are mentioned"

run present absent other removed
grep -q 'installing.*: absent other removed$' "$scratch/out" || fail "the packages to install are not printed"
grep -q '^apt-get install.* absent other removed$' "$scratch/calls" || fail "nothing was installed"
! grep -q 'not announced' "$scratch/calls" || fail "the packages are printed only after the installation began"
! grep -q 'a service was started' "$scratch/calls" || fail "a service was started"
[ ! -e "$scratch/policy" ] || fail "the policy was not removed"

run --no-install present absent
grep -q 'absent$' "$scratch/out" || fail "the missing package is not printed"
[ ! -s "$scratch/calls" ] || fail "a package was installed despite --no-install"

touch "$scratch/fail"
! run absent || fail "a failed installation is not reported"
[ ! -e "$scratch/policy" ] || fail "the policy was not removed after a failed installation"
rm "$scratch/fail"

# An administrator's policy stays. If it lets services start, nothing is installed.
printf '#!/bin/sh\nexit 101\n' >"$scratch/policy"
chmod +x "$scratch/policy"
run absent
[ "$(tail -n1 "$scratch/policy")" = "exit 101" ] || fail "the administrator's policy was changed"
printf '#!/bin/sh\nexit 0\n' >"$scratch/policy"
! run absent || fail "packages were installed although services would have started"
[ ! -s "$scratch/calls" ] || fail "packages were installed although services would have started"
[ -e "$scratch/policy" ] || fail "the administrator's policy was removed"

# A policy that a killed script has left behind is replaced and removed; the policy of a running script is not.
printf '#!/bin/sh\n%s\nexit 101\n' "# Written by Bloomery's scripts while they install packages; it can be removed after process 4194305" \
    >"$scratch/policy"
chmod +x "$scratch/policy"
run absent
grep -q '^apt-get install' "$scratch/calls" || fail "a stale policy prevents the installation"
[ ! -e "$scratch/policy" ] || fail "a stale policy was not removed"
printf '#!/bin/sh\n%s\nexit 101\n' "# Written by Bloomery's scripts while they install packages; it can be removed after process $$" \
    >"$scratch/policy"
chmod +x "$scratch/policy"
run absent
[ -e "$scratch/policy" ] || fail "the policy of a running script was removed"
