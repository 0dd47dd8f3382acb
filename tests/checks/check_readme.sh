#!/bin/sh
# check_readme.sh [LIBDIR]: the C program in README.md and README.zh.md is examples/readme.c; it compiles and runs with
# plain cc and the library in LIBDIR (default: that of the dev preset, else of the release preset). The functions,
# options and files that the documents name exist. (check_links.py checks links.)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
lib=${1:-$root/build/dev/lib}
[ $# -gt 0 ] || [ -e "$lib/libbloomery.so" ] || lib=$root/build/lib
[ -e "$lib/libbloomery.so" ] || {
    echo "no libbloomery.so in $lib: build it first (cmake --preset dev && cmake --build --preset dev)" >&2
    exit 2
}
lib=$(cd "$lib" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for readme in README.md README.zh.md; do
    awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/$readme" >block.c
    if ! diff -u "$root/examples/readme.c" block.c; then
        echo "$readme and examples/readme.c differ" >&2
        exit 1
    fi
done
cc -I"$root/include" block.c -L"$lib" -lbloomery -Wl,-rpath,"$lib" -o block
./block >out
if [ "$(grep -c '^new ' out)" -ne 2 ] || [ "$(grep -c '^seen ' out)" -ne 1 ] ||
    ! grep -qx 'no' out; then
    echo "unexpected output of the program in the README:" >&2
    cat out >&2
    exit 1
fi

# Functions, options and files that the documents name must exist. Names that the changelog lists under Removed must
# not, except for statuses (BLY_E...).
cd "$root"
set -- README.md README.zh.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs/*.md docs/kinds/*.md
names='\b(bly|blyi|BLY|BLYI)_[A-Za-z0-9_]*[A-Za-z0-9]'
awk '/^##/ { removed = /^### Removed/ } removed' CHANGELOG.md >"$work/removed"
awk '/^##/ { removed = /^### Removed/ } !removed' CHANGELOG.md >"$work/changelog"
{
    # The first column of the tables in upgrading.md has names that were removed.
    sed -E 's/^\|[^|]*\|/|/' docs/upgrading.md >"$work/upgrading"
    sed -nE 's/^\| (`(bly|BLY)_[a-zA-Z_]+`) \|.*/\1/p' docs/upgrading.md | tr -d '`' |
        while read -r name; do
            ! grep -rqw "$name" include || echo "upgrading.md: $name is listed as removed, but is in include/"
        done
    ls docs/*.md docs/kinds/*.md | grep -v '/upgrading.md$' | xargs cat "$work/upgrading" >"$work/docs"
    grep -ohE "$names" README.md README.zh.md CONTRIBUTING.md SECURITY.md "$work/changelog" "$work/docs" | sort -u |
        while read -r name; do
            grep -rqE "\b$name" include src || echo "no $name in include/ or src/"
        done
    { grep -ohE '`(bly|BLY)_[A-Za-z0-9_]+`' "$work/removed" || true; } | tr -d '`' | sort -u |
        grep -v '^BLY_E' |
        while read -r name; do
            ! grep -rqw "$name" include src || echo "CHANGELOG.md: $name is listed as removed, but is in include/ or src/"
        done
    grep -ohE '\bBLOOMERY_[A-Z]+' "$@" | sort -u |
        while read -r name; do
            grep -rq "$name" CMakeLists.txt src || echo "no $name in CMakeLists.txt or src/"
        done
    # Files named in code spans.
    grep -ohE '`(src|base|hash|simd|filter|kinds|file|lists|formats|tests|bench|scripts|examples|cmake)/[A-Za-z0-9_./-]+`' "$@" |
        tr -d '`' | sort -u |
        while read -r file; do
            [ -e "$file" ] || [ -e "src/$file" ] || echo "no file $file"
        done
} >"$work/missing"
cat "$work/missing" >&2
! [ -s "$work/missing" ]
