#!/bin/sh
# check_readme.sh [LIBDIR]: the C program in README.md is examples/readme.c, and compiles and runs
# with plain cc against the library in LIBDIR (build/lib when not given).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
lib=$(cd "${1:-$root/build/lib}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md" >block.c
if ! diff -u "$root/examples/readme.c" block.c; then
    echo "README.md and examples/readme.c differ" >&2
    exit 1
fi
cc -I"$root/include" block.c -L"$lib" -lbloomery -Wl,-rpath,"$lib" -o block
./block >out
[ "$(grep -c '^new ' out)" -eq 2 ] && [ "$(grep -c '^seen ' out)" -eq 1 ] && grep -q maybe out || {
    echo "the README's program printed something else:" >&2
    cat out >&2
    exit 1
}
