#!/usr/bin/env bash
# Every row of docs/vocabulary.md ends in a test of tests/unit/test_documents.c, and every test there
# has exactly one row.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The rows: lines of a table other than its head and the line of dashes below it.
rows=$(grep '^|' docs/vocabulary.md | grep -vE '^\|-|\| test \|$')
# shellcheck disable=SC2016
unnamed=$(printf '%s\n' "$rows" | grep -vE '\| `test_[A-Za-z_]+` \|$' || true)
if [ -n "$unnamed" ]; then
    printf 'rows that name no test:\n%s\n' "$unnamed" >&2
    exit 1
fi
diff -u --label docs/vocabulary.md --label tests/unit/test_documents.c \
    <(printf '%s\n' "$rows" | grep -oE 'test_[A-Za-z_]+` \|$' | cut -d'`' -f1 | sort) \
    <(grep -oE 'cmocka_unit_test\(test_[A-Za-z_]+' tests/unit/test_documents.c | cut -d'(' -f2 | sort) || {
    echo "rows and tests differ" >&2
    exit 1
}
