#!/usr/bin/env bash
# The optional hook for commit messages accepts what CONTRIBUTING.md allows, and refuses the rest with a reason.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

judge() { # MESSAGE: runs the hook, whose output goes to $scratch/said
    printf '%b' "$1" >"$scratch/message"
    "$root/.githooks/commit-msg" "$scratch/message" 2>"$scratch/said"
}
accepted() {
    judge "$1" || {
        printf 'refused: %s\n%s\n' "$1" "$(cat "$scratch/said")" >&2
        exit 1
    }
}
refused() { # MESSAGE REASON
    ! judge "$1" || {
        printf 'accepted: %s\n' "$1" >&2
        exit 1
    }
    grep -qF "$2" "$scratch/said" || {
        printf '%s was refused for another reason than "%s":\n%s\n' "$1" "$2" "$(cat "$scratch/said")" >&2
        exit 1
    }
}

accepted 'cuckoo: refuse a horizon of 0\n'
accepted 'docs/redis: say what REPLACE does\n\nThe command replaced the key silently.\n'
accepted 'Merge branch "x"; anything\n'
accepted '# a comment\ncli: add --csv\n\n# ------------------------ >8 ------------------------\nan added line; of a diff.\n'
accepted "cli: $(printf 'x%.0s' {1..67})\n"
refused "cli: $(printf 'x%.0s' {1..68})\n" '73 characters'
refused 'add --csv\n' 'area: what changed'
refused 'cli: add --csv.\n' 'full stop'
refused 'cli: add --csv; fix --json\n' 'semicolon'
refused 'cli: added --csv\n' 'instead of "added"'
refused 'cli: add --csv\nIt was missing.\n' 'second line'
