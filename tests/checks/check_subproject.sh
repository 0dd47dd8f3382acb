#!/usr/bin/env bash
# check_subproject.sh: a parent project can add Bloomery with add_subdirectory and with FetchContent. It gets only the
# library: no other targets, tests or installed files, no options in its cache, no changed settings.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# Entries that may appear in the parent's cache. Those of CMake's own modules cannot be avoided.
allowed='
bloomery_(BINARY_DIR|SOURCE_DIR|IS_TOP_LEVEL):STATIC
BLOOMERY_(HAS_[A-Za-z0-9_]+|LIBCRYPTO_FITS):INTERNAL
(__pkg_config_(arguments|checked)_)?BLOOMERY_(LIBCRYPTO|LIBIDN2|LIBSODIUM|HIREDIS|HIREDIS_SSL)(_[A-Za-z0-9_.-]+)?:INTERNAL
pkgcfg_lib_BLOOMERY_[A-Za-z0-9_]+:FILEPATH
pkgcfg_lib_BLOOMERY_[A-Za-z0-9_]+-ADVANCED:INTERNAL
PKG_CONFIG_(EXECUTABLE:FILEPATH|ARGN:STRING)
PKG_CONFIG_(EXECUTABLE|ARGN)-ADVANCED:INTERNAL
prefix_result:INTERNAL
FIND_PACKAGE_MESSAGE_DETAILS_(Threads|PkgConfig):INTERNAL
(CMAKE_HAVE|THREADS|Threads)_[A-Za-z_]+:INTERNAL
'
# Entries of FetchContent.
allowed_fetch='FETCHCONTENT_[A-Z_]+:(PATH|BOOL)'
# Entries of GNUInstallDirs, for a parent that sets BLOOMERY_INSTALL.
allowed_install='CMAKE_INSTALL_[A-Z_]+(:PATH|-ADVANCED:INTERNAL)
_GNUInstallDirs_[A-Z_]+:INTERNAL'

# parent NAME: writes a project whose settings differ from Bloomery's. The lines that add Bloomery are standard input.
parent() {
    mkdir "$scratch/$1"
    cp "$root/tests/checks/user_program.c" "$scratch/$1/main.c"
    cat >"$scratch/$1/CMakeLists.txt" <<C
cmake_minimum_required(VERSION 3.16)
project(parent C)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY \${CMAKE_BINARY_DIR}/programs)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY \${CMAKE_BINARY_DIR}/libraries)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY \${CMAKE_BINARY_DIR}/libraries)
set(CMAKE_C_STANDARD 99)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
enable_testing()
add_library(m INTERFACE) # also the name of a system library
set(BLOOMERY_TESTS ON) # a variable of the parent: still only the library is built
# settings(FILE): writes every variable of this folder and the properties that its targets inherit.
function(settings file)
  get_directory_property(names VARIABLES)
  get_cmake_property(cached CACHE_VARIABLES)
  list(REMOVE_ITEM names \${cached})
  set(text "")
  foreach(name IN LISTS names)
    if(name MATCHES "^(CMAKE_|BUILD_|PROJECT_|BLOOMERY|bloomery)" AND NOT name MATCHES "CURRENT_(FUNCTION|LIST)")
      string(REPLACE "\n" " " value "\${\${name}}")
      string(APPEND text "\${name}=\${value}\n")
    endif()
  endforeach()
  foreach(name COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_DIRECTORIES LINK_OPTIONS)
    get_directory_property(value \${name})
    string(APPEND text "\${name}=\${value}\n")
  endforeach()
  file(WRITE \${CMAKE_BINARY_DIR}/\${file} "\${text}")
endfunction()
settings(before.txt)
C
    cat >>"$scratch/$1/CMakeLists.txt"
    cat >>"$scratch/$1/CMakeLists.txt" <<'C'
settings(after.txt)
get_property(targets DIRECTORY ${source} PROPERTY BUILDSYSTEM_TARGETS)
get_property(folders DIRECTORY ${source} PROPERTY SUBDIRECTORIES)
get_property(tests DIRECTORY ${source} PROPERTY TESTS)
file(WRITE ${CMAKE_BINARY_DIR}/targets.txt "${targets}")
file(WRITE ${CMAKE_BINARY_DIR}/others.txt "${folders}${tests}")
foreach(library bloomery bloomery_static)
  add_executable(with_${library} main.c)
  target_link_libraries(with_${library} PRIVATE bloomery::${library})
endforeach()
C
}

configure() { # NAME [ARGUMENT...]
    cmake -S "$scratch/$1" -B "$scratch/$1/build" -G "Unix Makefiles" "${@:2}" >"$scratch/$1/log" 2>&1 ||
        fail "$1: $(cat "$scratch/$1/log")"
}
entries() { # NAME: prints the cache without entries that depend on the project's name or on the run
    grep -E '^[^#/].*:' "$scratch/$1/build/CMakeCache.txt" | sed "s|$scratch/$1|.|g" |
        grep -vE '^CMAKE_(NUMBER_OF_MAKEFILES|CACHE_|PROJECT_)|^parent_' | LC_ALL=C sort
}

# check NAME ALLOWED: the parent's settings and cache are those of a project without Bloomery, plus allowed entries.
check() {
    local build=$scratch/$1/build added key
    diff "$build/before.txt" "$build/after.txt" >&2 || fail "$1: the parent's variables have changed"
    added=$(LC_ALL=C comm -13 "$scratch/none.txt" <(entries "$1"))
    [ -z "$(LC_ALL=C comm -23 "$scratch/none.txt" <(entries "$1"))" ] ||
        fail "$1: values in the parent's cache have changed: $(diff "$scratch/none.txt" <(entries "$1") | grep '^<')"
    while IFS='=' read -r key _; do
        grep -qxEf <(grep . <<<"$allowed
$2") <<<"$key" || fail "$1: $key does not belong in the parent's cache"
        case $key in
            FETCHCONTENT_* | *:INTERNAL | *:STATIC) ;;
            *) grep -q "^${key%%:*}-ADVANCED:INTERNAL=1" "$build/CMakeCache.txt" ||
                fail "$1: $key is in the parent's cache, but not marked as advanced" ;;
        esac
    done <<<"$added"
    [ "$(cat "$build/others.txt")" = "" ] || fail "$1: it adds folders or tests: $(cat "$build/others.txt")"
    for key in $(tr ';' ' ' <"$build/targets.txt"); do
        [[ $key == bloomery* ]] || fail "$1: the target $key may collide with one of the parent's"
    done
}

# The parent's programs are compiled and linked without Bloomery's options.
check_flags() { # NAME
    local build=$scratch/$1/build
    if python3 - "$build/compile_commands.json" <<'P'; then
import json
import sys

commands = [entry["command"] for entry in json.load(open(sys.argv[1])) if entry["file"].endswith("/main.c")]
sys.exit(any(word in command for command in commands for word in (" -W", "-std=c11", "-std=gnu11", "-fstack", "_FORTIFY", "_POSIX")))
P
        true
    else
        fail "$1: the parent's program is compiled with Bloomery's options"
    fi
    ! grep -E -- '-Wl,-z|-pie|-fsanitize' "$build"/CMakeFiles/with_*/link.txt ||
        fail "$1: the parent's program is linked with Bloomery's options"
}

build_and_run() { # NAME
    local build=$scratch/$1/build unwanted
    cmake --build "$build" -j2 >"$scratch/$1/log" 2>&1 || fail "$1: $(tail -50 "$scratch/$1/log")"
    "$build/programs/with_bloomery" || fail "$1: the program with the shared library fails"
    "$build/programs/with_bloomery_static" || fail "$1: the program with the static library fails"
    unwanted=$(find "$build" -type f -perm -100 ! -path '*/CMakeFiles/*' ! -name 'with_bloomery*' ! -name 'libbloomery.so*')
    [ -z "$unwanted" ] || fail "$1: it builds more than the library: $unwanted"
    [ -f "$build/libraries/libbloomery.so" ] && [ -f "$build/libraries/libbloomery.a" ] ||
        fail "$1: the libraries are not in the parent's output folder"
}

# The last optimisation flag of the library's sources is FLAG. The parent has no build type.
check_optimised() { # NAME FLAG
    python3 - "$scratch/$1/build/compile_commands.json" "$2" <<'P' || fail "$1: the library is not compiled with $2"
import json
import re
import sys

commands = [entry["command"] for entry in json.load(open(sys.argv[1])) if "/src/" in entry["file"]]
last = {(re.findall(r" (-O\w*)", command) or ["none"])[-1] for command in commands}
sys.exit(last != {sys.argv[2]})
P
}

installed() { # NAME
    cmake --install "$scratch/$1/build" --prefix "$scratch/$1/usr" >/dev/null
    find "$scratch/$1/usr" -type f 2>/dev/null || true
}

parent none <<'C'
set(source ${CMAKE_SOURCE_DIR})
add_library(bloomery INTERFACE)
add_library(bloomery::bloomery ALIAS bloomery)
add_library(bloomery::bloomery_static ALIAS bloomery)
C
configure none
entries none >"$scratch/none.txt"

parent add <<C
set(source $root)
add_subdirectory(\${source} bloomery)
C
configure add
check add ''
check_flags add
build_and_run add
[ -z "$(installed add)" ] || fail "files are installed although BLOOMERY_INSTALL is not set: $(installed add)"
grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$scratch/add/build/CMakeCache.txt" || fail "the parent's build type was set"
check_optimised add -O2
configure add # again, now with a cache
check add ''
configure add -DCMAKE_C_FLAGS=-O1 # the parent's own choice
check_optimised add -O1

# A parent may disable packages, and with EXCLUDE_FROM_ALL build only what it links.
parent part <<C
set(source $root)
set(BLOOMERY_HIREDIS OFF)
set(BLOOMERY_OPENSSL OFF)
settings(before.txt)
add_subdirectory(\${source} bloomery EXCLUDE_FROM_ALL)
C
configure part
check part ''
check_optimised part -O2
! grep -E '^BLOOMERY_(HIREDIS|LIBCRYPTO)' "$scratch/part/build/CMakeCache.txt" || fail "packages that the parent has disabled are searched for"

parent fetch <<C
include(FetchContent)
set(source $root)
set(BLOOMERY_INSTALL ON)
settings(before.txt)
FetchContent_Declare(bloomery SOURCE_DIR \${source})
FetchContent_MakeAvailable(bloomery)
C
# Do not compare bloomery_* variables, which FetchContent sets.
sed -i 's/\^(CMAKE_|BUILD_|PROJECT_|BLOOMERY|bloomery)/^(CMAKE_|BUILD_|PROJECT_|BLOOMERY)/' "$scratch/fetch/CMakeLists.txt"
configure fetch
check fetch "$allowed_fetch
$allowed_install"
build_and_run fetch
files=$(installed fetch)
for file in /include/bloomery/bloomery.h /libbloomery.a /bloomeryConfig.cmake /pkgconfig/bloomery.pc; do
    grep -q "$file\$" <<<"$files" || fail "BLOOMERY_INSTALL=ON does not install $file"
done
mkdir "$scratch/user"
cp "$scratch/fetch/main.c" "$scratch/user/"
cat >"$scratch/user/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(bloomery REQUIRED)
add_executable(user main.c)
target_link_libraries(user PRIVATE bloomery::bloomery_static)
C
configure user -DCMAKE_PREFIX_PATH="$scratch/fetch/usr"
cmake --build "$scratch/user/build" >"$scratch/user/log" 2>&1 || fail "with the installed copy: $(cat "$scratch/user/log")"
"$scratch/user/build/user" || fail "the program with the installed static library fails"
! grep -vE '/include/bloomery/|/libbloomery\.|/cmake/bloomery/|/pkgconfig/bloomery\.pc$' <<<"$files" ||
    fail "BLOOMERY_INSTALL=ON installs more than the library"
