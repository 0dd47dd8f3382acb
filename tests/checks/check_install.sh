#!/usr/bin/env bash
# A program builds against an installed copy, by pkg-config and by CMake, shared and static. A server
# loads the installed module. The install honours DESTDIR, and its modes do not depend on the umask:
# check_install.sh BUILD_DIR
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

cmake --install "$build" --prefix "$scratch/usr" >/dev/null
DESTDIR=$scratch/dest cmake --install "$build" --prefix /opt/bloomery >/dev/null
test -f "$scratch/dest/opt/bloomery/include/bloomery/bloomery.h"
test -f "$scratch/dest/opt/bloomery/include/bloomery/cpp/types.hpp"

libdir=$(dirname "$(find "$scratch/usr" -name libbloomery.a)")
test -L "$libdir/libbloomery.so"
# Before 1.0 every minor version has a SONAME of its own, and satisfies no request for another one. The
# headers, pkg-config and CMake have the same version (docs/abi.md).
headers=$scratch/usr/include/bloomery
version=$(sed -n 's/^#define BLOOMERY_VERSION_STRING "\(.*\)"/\1/p' "$headers/base.h")
[ "$version" = "$(sed -n 's/^Version: //p' "$libdir/pkgconfig/bloomery.pc")" ] ||
    fail "bloomery.pc does not have version $version of base.h"
IFS=. read -r major minor _ <<<"$version"
soname=libbloomery.so.$major
[ "$major" -gt 0 ] || soname=$soname.$minor
readelf -d "$libdir/libbloomery.so" | grep -F "Library soname: [$soname]" >/dev/null ||
    fail "version $version does not have the SONAME $soname"
test -L "$libdir/$soname"
cat >"$scratch/accepts.cmake" <<'C'
set(CMAKE_SIZEOF_VOID_P 8)
include(${FILE})
if(NOT PACKAGE_VERSION_COMPATIBLE)
  message(FATAL_ERROR "not compatible")
endif()
C
accepts() { # VERSION: find_package accepts the installed copy for it
    cmake -DPACKAGE_FIND_VERSION="$1" -DPACKAGE_FIND_VERSION_MAJOR="${1%%.*}" \
        -DPACKAGE_FIND_VERSION_MINOR="${1#*.}" -DPACKAGE_FIND_VERSION_COUNT=2 \
        -DFILE="$libdir/cmake/bloomery/bloomeryConfigVersion.cmake" \
        -P "$scratch/accepts.cmake" 2>/dev/null
}
accepts "$major.$minor" || fail "find_package($major.$minor) does not accept version $version"
others=("$((major + 1)).$minor" "$major.$((minor + 1))")
[ "$major" -gt 0 ] || [ "$minor" -eq 0 ] || others+=("$major.$((minor - 1))")
for other in "${others[@]}"; do
    ! accepts "$other" || fail "find_package($other) accepts version $version"
done
# All public headers are there, those in folders too, and each compiles where it is now.
diff <(cd "$root/include/bloomery" && find . -name '*.h' -o -name '*.hpp' | sort) <(cd "$headers" && find . -type f | sort) ||
    fail "the installed headers are not those of include/bloomery"
for header in redis/filter.h host/chunks.h; do
    printf '#include <bloomery/%s>\n' "$header" | cc -std=c11 -I"$scratch/usr/include" -fsyntax-only -x c -
done
cp "$root/tests/checks/user_program.c" "$scratch/main.c"

export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
pc=pkg-config
flags=${BLYT_FLAGS:-}
# shellcheck disable=SC2046,SC2086
cc $flags "$scratch/main.c" -o "$scratch/shared" $($pc --cflags --libs bloomery)
"$scratch/shared"
# shellcheck disable=SC2046,SC2086
cc $flags "$scratch/main.c" -o "$scratch/static" $($pc --cflags bloomery) "$libdir/libbloomery.a" \
    $($pc --libs --static bloomery | sed 's/-lbloomery//')
"$scratch/static"

# The examples that need nothing else are compiled as their comments say.
for name in threads batches mapping keyed allocator; do
    # shellcheck disable=SC2046,SC2086
    cc $flags -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror "$root/examples/$name.c" -o "$scratch/example" \
        $($pc --cflags --libs bloomery) -pthread
done
"$scratch/example" >/dev/null # allocator

mkdir "$scratch/project"
cp "$scratch/main.c" "$scratch/project/"
cat >"$scratch/project/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(bloomery ${VERSION} REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared PRIVATE bloomery::bloomery)
add_executable(static main.c)
target_link_libraries(static PRIVATE bloomery::bloomery_static)
C
cmake -S "$scratch/project" -B "$scratch/project/build" -DCMAKE_PREFIX_PATH="$scratch/usr" \
    -DVERSION="$major.$minor" -DCMAKE_C_FLAGS="$flags" >/dev/null
! cmake -S "$scratch/project" -B "$scratch/project/older" -DCMAKE_PREFIX_PATH="$scratch/usr" -DVERSION=0.1 \
    >"$scratch/older.log" 2>&1 || fail "find_package(bloomery 0.1) accepts version $version"
grep -q 'compatible with' "$scratch/older.log" || fail "find_package(bloomery 0.1) fails otherwise: $(cat "$scratch/older.log")"
cmake --build "$scratch/project/build" >/dev/null
"$scratch/project/build/shared"
"$scratch/project/build/static"

# The shared library asks nothing of those who link with it.
PKG_CONFIG_LIBDIR=$libdir/pkgconfig $pc --cflags --libs bloomery >/dev/null
sed -i '/static/d' "$scratch/project/CMakeLists.txt"
PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=/nonexistent cmake -S "$scratch/project" \
    -B "$scratch/project/bare" -DCMAKE_PREFIX_PATH="$scratch/usr" -DVERSION="$major.$minor" >/dev/null

# The program, its manual pages and completions are there, and it runs.
"$scratch/usr/bin/bloomery" --version >/dev/null
test -f "$scratch/usr/share/man/man1/bloomery-dedup.1"
test -f "$scratch/usr/share/bash-completion/completions/bloomery"
# So are those of the functions: man finds the page of a function that shares it with others, too.
pages=$scratch/usr/share/man
for name in bly_filter_add bly_filter_contains_hash bly_redis_filter_push; do
    test -s "$pages/man3/$name.3" || fail "there is no manual page of $name"
    ! command -v man >/dev/null || man -M "$pages" -w 3 "$name" >/dev/null || fail "man 3 $name finds no page"
done

# The module for Redis and Valkey, and the lines for their configuration.
module=$libdir/bloomery/bloomery.so
test -f "$module"
test -f "$scratch/usr/share/doc/bloomery/bloomery.conf"
# load MODULE: a server loads it as it was installed. Redis 7 wants it to be executable.
load() {
    BLOOMERY_MODULE=$1 PYTHONPATH=$root/tests/module python3 - <<'P'
from servers import Server

with Server() as server, server.client() as client:
    assert client("BF.ADD", "f", "x") == 1
    assert client("BF.EXISTS", "f", "x") == 1
P
}
load "$module"

# Even under a strict umask everybody can read the files and the module's folder. The modes of the other
# folders follow the umask.
(umask 077 && cmake --install "$build" --prefix "$scratch/strict" >/dev/null)
strict=$scratch/strict/${module#"$scratch/usr/"}
closed=$(cd "$scratch/strict" && find . -type f ! -perm -444)
[ -z "$closed" ] || fail "installed under umask 077, these are not readable for everybody: $closed"
for path in "$strict" "$(dirname "$strict")" "$scratch/strict/bin/bloomery"; do
    [ "$(stat -c %a "$path")" = 755 ] || fail "installed under umask 077, $path does not have mode 755"
done
load "$strict"

# Installed files are hardened as far as compiler and linker of this machine can do it. Whether a whole
# file may run under CET also depends on the C library's start-up code, so only our objects are checked
# for that.
hardened() { # PROGRAM-OR-LIBRARY
    local headers dynamic symbols
    headers=$(readelf -lW "$1") dynamic=$(readelf -dW "$1") symbols=$(readelf -W --dyn-syms "$1")
    grep -q GNU_RELRO <<<"$headers" || fail "$1 has no RELRO segment"
    grep -qE 'BIND_NOW|FLAGS_1.* NOW' <<<"$dynamic" || fail "$1 is bound lazily"
    ! grep -qE 'GNU_STACK.* RWE' <<<"$headers" || fail "$1 has an executable stack"
    grep -q __stack_chk_fail <<<"$symbols" || fail "$1 has no stack protector"
    grep -qE '__[a-z]+_chk(@| |$)' <<<"${symbols//__stack_chk_fail/}" || fail "$1 is not fortified"
}
if grep -q 'BLOOMERY_HARDENING:BOOL=ON' "$build/CMakeCache.txt" && [ "$(uname)" = Linux ]; then
    hardened "$scratch/usr/bin/bloomery"
    hardened "$libdir/$soname"
    hardened "$module"
    readelf -h "$scratch/usr/bin/bloomery" | grep 'Type:.*DYN' >/dev/null ||
        fail "the program is not position-independent"
    if grep -q '^BLOOMERY_HAS_fcf_protection_full:INTERNAL=1' "$build/CMakeCache.txt"; then
        objects=$(ar t "$libdir/libbloomery.a" | wc -l)
        marked=$(readelf -n "$libdir/libbloomery.a" | grep -c 'x86 feature: IBT, SHSTK' || true)
        [ "$marked" -eq "$objects" ] || fail "$marked of $objects objects are made for CET"
    fi
fi

# Nothing but our own headers, libraries, program, module and their descriptions.
(cd "$scratch/usr" && find . -type f | grep -vE '/include/bloomery/|/libbloomery\.(a|so)|/bloomery/bloomery\.so$|/doc/bloomery/bloomery\.conf$|/pkgconfig/bloomery\.pc|/cmake/bloomery/|^\./bin/bloomery$|/man/man1/bloomery|/man/man3/bly_|/bash-completion/completions/bloomery$|/zsh/.*/_bloomery$|/vendor_completions\.d/bloomery\.fish$') &&
    fail "the install holds files that do not belong in it"
true
