#!/usr/bin/env bash
# Every public header compiles alone and pedantically: those of C as C11, C17 and C++17, those of C++ as
# C++17 and C++20, with exceptions and without. So do the examples, those in C as C11
# and C17, the README's as C++17 too, and that of docs/cpp.md. CC and CXX name other compilers than cc and c++.
set -euo pipefail
cd "$(dirname "$0")/../.."
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
export CC=${CC:-cc} CXX=${CXX:-c++} warnings

# A line is one compilation: LANGUAGE STANDARD FILE [OPTION...]. A file that begins with bloomery/ is a header.
compilations() {
    local name standard
    (cd include && find bloomery -name '*.h') | while read -r name; do
        printf '%s\n' "c c11 $name" "c c17 $name" "c++ c++17 $name"
    done
    (cd include && find bloomery -name '*.hpp') | while read -r name; do
        for standard in c++17 c++20; do
            printf '%s\n' "c++ $standard $name" "c++ $standard $name -fno-exceptions -fno-rtti"
        done
    done
    for name in examples/*.c; do
        # Some need packages that may be missing.
        sed -nE 's/^(#include <(hiredis|sqlite3).*)/\1/p' "$name" | "$CC" -E -x c - >/dev/null 2>&1 || continue
        printf '%s\n' "c c11 $name" "c c17 $name"
    done
    printf 'c++ c++17 %s\n' examples/readme.c examples/cpp/dedup.cpp docs/cpp.md
}

compile() {
    local language=$1 standard=$2 file=$3 compiler=$CC
    shift 3
    [ "$language" = c ] || compiler=$CXX
    case $file in
    bloomery/*) printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$file" "$file" ;;
    *.md) awk '/^```c/ { inside = 1; next } /^```/ { inside = 0 } inside' "$file" ;;
    *) printf '#include "%s"\n' "$file" ;;
    esac | "$compiler" -std="$standard" $warnings -Iinclude -I. -fsyntax-only -x "$language" "$@" - || {
        echo "$file does not compile as $standard $*" >&2
        return 1
    }
}
export -f compile
compilations | xargs -P "$(nproc)" -I{} bash -c 'compile {}'
