#!/usr/bin/env bash
# Every public header compiles alone, as C11, C17 and C++17, pedantically.
set -euo pipefail
cd "$(dirname "$0")/../.."
for name in $(cd include && find bloomery -name '*.h' | sort); do
    for standard in c11 c17; do
        printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$name" "$name" |
            cc -std=$standard -Wall -Wextra -Wpedantic -Wconversion -Werror -Iinclude -fsyntax-only -x c -
    done
    printf '#include <%s>\nint main() { return 0; }\n' "$name" |
        c++ -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Werror -Iinclude -fsyntax-only -x c++ -
done
