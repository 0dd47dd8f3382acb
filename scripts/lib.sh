# What the scripts share. Sourced, not run: moves to the repository's root.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Handles the two options that every script has, and removes them from the arguments.
arguments=()
for word in "$@"; do
    case $word in
        --no-install) export BLOOMERY_NO_INSTALL=1 ;; # for called scripts, too
        -h | --help)
            sed -n '2,/^[^#]/s/^# \{0,1\}//p' "scripts/${0##*/}"
            echo
            echo "With --no-install no package is installed; missing packages are listed."
            exit 0
            ;;
        *) arguments+=("$word") ;;
    esac
done
set -- "${arguments[@]}"
unset arguments word

say() {
    printf '== %s\n' "$*"
}

# need_packages PACKAGE...: prints which Debian packages are missing, and installs them. With --no-install
# (the variable BLOOMERY_NO_INSTALL) it only prints them.
need_packages() {
    local missing=() package run=() installed
    command -v dpkg-query >/dev/null || {
        say "this is not Debian, so nothing is installed; the contents of these packages are needed: $*"
        return 0
    }
    installed=$(dpkg-query -W -f='${Package} ${Status}\n' "$@" 2>/dev/null | sed -n 's/ .* ok installed$//p' || true)
    for package in "$@"; do
        grep -qxF "$package" <<<"$installed" || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ -n "${BLOOMERY_NO_INSTALL-}" ]; then
        say "not installed (--no-install): ${missing[*]}"
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "these packages are needed, and installing them needs root: ${missing[*]}" >&2
            exit 2
        }
        run=(sudo)
    fi
    say "installing Debian packages (--no-install forbids it; no service is started): ${missing[*]}"
    without_services apt-get update -qq
    without_services env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# without_services COMMAND...: runs the command (after the words of the array `run`, such as sudo) while a
# policy keeps Debian's package scripts from starting services. A policy of the administrator stays in force: if that
# allows services to start, nothing is installed.
service_policy=/usr/sbin/policy-rc.d
without_services() (
    mark="# Written by Bloomery's scripts while they install packages; it can be removed after process"
    owner=$(sed -n "s/^$mark //p" "$service_policy" 2>/dev/null || true)
    # The policy is not ours, or belongs to a script that is installing packages now.
    if [ -e "$service_policy" ] && { [ -z "$owner" ] || [ -e "/proc/$owner" ]; }; then
        status=0
        "$service_policy" bloomery start >/dev/null 2>&1 || status=$?
        [ $status -eq 101 ] || {
            echo "$service_policy lets packages start services: please install ${missing[*]} yourself" >&2
            exit 2
        }
    else
        trap '"${run[@]}" rm -f "$service_policy"' EXIT
        trap 'exit 1' HUP INT TERM
        printf '#!/bin/sh\n%s\nexit 101\n' "$mark $$" | "${run[@]}" tee "$service_policy" >/dev/null
        "${run[@]}" chmod 755 "$service_policy"
    fi
    "${run[@]}" "$@"
)

# find_server: sets BLOOMERY_SERVER, for tests and benchmarks, to a server program. Debian's package
# redis-tools contains it as redis-check-rdb; under the name redis-server the same file is the server.
find_server() {
    BLOOMERY_SERVER=${BLOOMERY_SERVER:-$(command -v redis-server || command -v valkey-server || true)}
    if [ -z "$BLOOMERY_SERVER" ] && command -v redis-check-rdb >/dev/null; then
        mkdir -p build/servers
        ln -sf "$(command -v redis-check-rdb)" build/servers/redis-server
        BLOOMERY_SERVER=$PWD/build/servers/redis-server
    fi
    [ -n "$BLOOMERY_SERVER" ] || {
        echo "neither redis-server nor valkey-server is installed" >&2
        exit 2
    }
    export BLOOMERY_SERVER
}

# install_npm_clients FOLDER: installs the clients of tests/module/clients/package-lock.json there, unless
# --no-install forbids it, they are installed already, or Node is missing or too old for them.
install_npm_clients() {
    local from=tests/module/clients mark=$1/node_modules/.installed
    cmp -s "$from/package-lock.json" "$mark" && return 0
    [ -z "${BLOOMERY_NO_INSTALL-}" ] && command -v npm >/dev/null && command -v node >/dev/null || return 0
    [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || return 0
    say "installing npm packages into $1 (--no-install forbids it): redis ioredis"
    mkdir -p "$1"
    cp "$from/package.json" "$from/package-lock.json" "$1"
    (cd "$1" && npm ci --no-audit --no-fund >/dev/null)
    cp "$from/package-lock.json" "$mark"
}

# fixed_addresses: sets at_fixed_addresses to the prefix that makes a command run without address
# randomisation, or to nothing where a container forbids that.
fixed_addresses() {
    at_fixed_addresses=(setarch "$(uname -m)" -R)
    "${at_fixed_addresses[@]}" true 2>/dev/null || at_fixed_addresses=()
}

build_packages=(cmake gcc libc6-dev make pkg-config libxxhash-dev libssl-dev libsodium-dev
    zlib1g-dev libzstd-dev libidn2-dev libhiredis-dev)

# Further packages for the tests. redis-tools contains the server program; the package redis-server
# would add a service that starts with the machine.
test_packages=("${build_packages[@]}" libcmocka-dev python3 redis-tools python3-redis libsqlite3-dev
    libmurmurhash-dev libisal-dev zstd xz-utils bzip2 mandoc groff-base zsh fish)

# build PRESET [TARGET...]: configures the preset if necessary, and builds it. If that fails, the
# compiler's messages are shown.
build() {
    local log=build/$1/build.log
    [ -e "build/$1/build.ninja" ] || [ -e "build/$1/Makefile" ] || configure "$1"
    cmake --build "build/$1" -j"$(nproc)" ${2:+--target "${@:2}"} >"$log" 2>&1 || {
        grep -E 'warning:|error:|undefined reference|FAILED|\*\*\*' "$log" >&2 || tail -n 50 "$log" >&2
        echo "building $1 failed; all of its output is in $log" >&2
        exit 1
    }
}

# configure PRESET: configures build/PRESET, and looks again for packages that were missing. The first
# time it selects Ninja and ccache where they are installed. (The build itself notices changes of
# CMakeLists.txt.)
configure() {
    local more=()
    if [ ! -e "build/$1/CMakeCache.txt" ]; then
        ! command -v ninja >/dev/null || more+=(-G Ninja)
        ! command -v ccache >/dev/null || more+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    fi
    cmake --preset "$1" "${more[@]}" >/dev/null
}
