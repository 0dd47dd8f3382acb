#!/usr/bin/env bash
# check_run_test.sh BUILD_DIR: tests/run_test.py runs one test, or one case of it, by name; a wrong name is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
fail() {
    printf '%s\n%s\n' "$*" "$out" >&2
    exit 1
}
status=0
run() { # NAME
    out=$(python3 tests/run_test.py "$build" "$1" 2>&1) && status=0 || status=$?
}

for name in redis_bitmap_head bitmap_head test_bitmap_head tests/redis/test_bitmap_head.c; do
    run "$name:test_golden_head"
    [ $status -eq 0 ] || fail "$name:test_golden_head ended with status $status"
    [ "$(grep -c 'RUN' <<<"$out")" -eq 1 ] || fail "$name:test_golden_head does not run exactly one case"
done
run 'redis_bitmap_head:test_*'
[ "$(grep -c 'RUN' <<<"$out")" -gt 1 ] || fail "a pattern does not run several cases"
run redis_bitmap_head:no_such_case
{ [ $status -ne 0 ] && grep -q 'no case no_such_case' <<<"$out"; } || fail "an unknown case is not an error"
run unit_hush
{ [ $status -ne 0 ] && grep -q 'no test unit_hush' <<<"$out"; } || fail "an unknown test is not an error"
run window:test_golden_head
{ [ $status -ne 0 ] && grep -q 'several tests: ' <<<"$out"; } || fail "a case of several tests is not an error"
run cli_names
[ $status -eq 0 ] || fail "a transcript cannot be run by name"
run cli_names:case
{ [ $status -ne 0 ] && grep -q 'has no cases' <<<"$out"; } || fail "a case of a transcript is not an error"
