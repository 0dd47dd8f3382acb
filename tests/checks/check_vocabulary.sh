#!/usr/bin/env bash
# Every row of docs/vocabulary.md ends in the name of a case of tests/unit/test_documents*.c, and every
# case there has exactly one row.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The rows: lines of tables, without the headings and the lines of dashes below them.
rows=$(grep '^|' docs/vocabulary.md | grep -vE '^\|-|\| test \|$')
# shellcheck disable=SC2016
unnamed=$(printf '%s\n' "$rows" | grep -vE '\| `test_[A-Za-z0-9_]+` \|$' || true)
if [ -n "$unnamed" ]; then
    printf 'rows without the name of a test:\n%s\n' "$unnamed" >&2
    exit 1
fi
diff -u --label docs/vocabulary.md --label "tests/unit/test_documents*.c" \
    <(printf '%s\n' "$rows" | grep -oE 'test_[A-Za-z0-9_]+` \|$' | cut -d'`' -f1 | sort) \
    <(grep -ohE 'cmocka_unit_test\(test_[A-Za-z0-9_]+' tests/unit/test_documents*.c | cut -d'(' -f2 | sort) || {
    echo "rows and tests differ: add the missing row or test" >&2
    exit 1
}
