# What the scripts share. Sourced, not run: moves to the repository's root.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() {
    printf '== %s\n' "$*"
}

# need_packages PACKAGE...: installs the Debian packages that are missing, and says so.
need_packages() {
    local missing=() package run=()
    command -v dpkg-query >/dev/null || {
        say "no Debian here: make sure that you have what these packages hold: $*"
        return 0
    }
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "these packages are needed, and installing them needs root: ${missing[*]}" >&2
            exit 2
        }
        run=(sudo)
    fi
    say "installing ${missing[*]}"
    "${run[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" >/dev/null
}

# fixed_addresses: sets at_fixed_addresses to the words before a command that make it run without
# address randomisation; to none where a container forbids that.
fixed_addresses() {
    at_fixed_addresses=(setarch "$(uname -m)" -R)
    "${at_fixed_addresses[@]}" true 2>/dev/null || at_fixed_addresses=()
}

build_packages=(cmake gcc libc6-dev make pkg-config libxxhash-dev libssl-dev libsodium-dev
    zlib1g-dev libzstd-dev libidn2-dev libhiredis-dev)

# configure PRESET: configures build/PRESET where that is not done yet, with Ninja and ccache where
# they are installed. (Later changes of CMakeLists.txt are seen by the build itself.)
configure() {
    local more=()
    [ -e "build/$1/CMakeCache.txt" ] && return 0
    ! command -v ninja >/dev/null || more+=(-G Ninja)
    ! command -v ccache >/dev/null || more+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    cmake --preset "$1" "${more[@]}" >/dev/null
}
