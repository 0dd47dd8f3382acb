#!/usr/bin/env bash
# check_symbols.sh [--update] LIBRARY [LIST]: the shared library exports exactly the symbols in LIST (default:
# tests/checks/symbols.txt). --update writes LIST.
set -euo pipefail
update=
if [ "$1" = --update ]; then
    update=yes
    shift
fi
list=${2:-$(dirname "$0")/symbols.txt}
symbols=$(nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ {print $3}' | LC_ALL=C sort)
[ -z "$update" ] || printf '%s\n' "$symbols" >"$list"
diff -u "$list" - <<<"$symbols" || {
    echo "the exported symbols differ from $(basename "$list"); tests/checks/check_symbols.sh --update LIBRARY updates it" >&2
    exit 1
}
