#!/usr/bin/env bash
# A parent project can add Bloomery with add_subdirectory and with FetchContent. It gets the library and
# nothing else: no other targets, tests or installed files, no options in its cache, no changed settings.
# check_subproject.sh
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
# FetchContent itself asks for these.
allowed_fetch='FETCHCONTENT_[A-Z_]+:(PATH|BOOL)'
# What is installed on request needs to know where.
allowed_install='CMAKE_INSTALL_[A-Z_]+(:PATH|-ADVANCED:INTERNAL)
_GNUInstallDirs_[A-Z_]+:INTERNAL'

# parent NAME: a project with settings that differ from Bloomery's, and a hole for the lines that add it.
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
add_library(m INTERFACE) # a name that is also a library's
set(BLOOMERY_TESTS ON) # the parent's affair: the library alone is built all the same
# settings(FILE): every variable of this folder, and the properties that its targets inherit.
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
entries() { # NAME: the cache, without what names the project's own folder or is true of any run
    grep -E '^[^#/].*:' "$scratch/$1/build/CMakeCache.txt" | sed "s|$scratch/$1|.|g" |
        grep -vE '^CMAKE_(NUMBER_OF_MAKEFILES|CACHE_|PROJECT_)|^parent_' | LC_ALL=C sort
}

# check NAME ALLOWED: the parent's settings and cache are those of one that does not add Bloomery.
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
                fail "$1: $key is shown to the parent's users" ;;
        esac
    done <<<"$added"
    [ "$(cat "$build/others.txt")" = "" ] || fail "$1: it adds folders or tests: $(cat "$build/others.txt")"
    for key in $(tr ';' ' ' <"$build/targets.txt"); do
        [[ $key == bloomery* ]] || fail "$1: the target $key may collide with one of the parent's"
    done
}

# Nothing of ours in how the parent's programs are compiled and linked.
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
        fail "$1: the parent's program is compiled with options of Bloomery's"
    fi
    ! grep -E -- '-Wl,-z|-pie|-fsanitize' "$build"/CMakeFiles/with_*/link.txt ||
        fail "$1: the parent's program is linked with options of Bloomery's"
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

# The library's own sources are compiled with this optimisation flag last. The parent has no build type.
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
[ -z "$(installed add)" ] || fail "Bloomery installs itself unasked: $(installed add)"
grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$scratch/add/build/CMakeCache.txt" || fail "the parent has got a build type"
check_optimised add -O2
configure add # once more, from the cache
check add ''
configure add -DCMAKE_C_FLAGS=-O1 # the parent's own choice
check_optimised add -O1

# Only what is linked is built, and a parent may choose.
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
! grep -E '^BLOOMERY_(HIREDIS|LIBCRYPTO)' "$scratch/part/build/CMakeCache.txt" || fail "packages are looked for that the parent does not want"

parent fetch <<C
include(FetchContent)
set(source $root)
set(BLOOMERY_INSTALL ON)
settings(before.txt)
FetchContent_Declare(bloomery SOURCE_DIR \${source})
FetchContent_MakeAvailable(bloomery)
C
# The variables that FetchContent sets itself are not ours.
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
