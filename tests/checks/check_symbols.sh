#!/usr/bin/env bash
# The shared library exports exactly tests/checks/symbols.txt: check_symbols.sh LIBRARY
set -euo pipefail
list=$(dirname "$0")/symbols.txt
diff -u "$list" <(nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ {print $3}' | LC_ALL=C sort) || {
    echo "the exported symbols differ from tests/checks/symbols.txt" >&2
    exit 1
}
