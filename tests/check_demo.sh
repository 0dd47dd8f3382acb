#!/usr/bin/env bash
# The README's first command does its job, from nothing, and its numbers are right.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(scripts/demo 2>&1)
printf '%s\n' "$out"
lines=$(wc -l <examples/data/crawl.txt)
distinct=$(LC_ALL=C sort -u examples/data/crawl.txt | wc -l)
kept=$(build/bin/dedup_urls examples/data/crawl.txt 2>/dev/null | wc -l)
printf '%s' "$out" | grep -q "$lines"
# At most one in a thousand new lines is dropped (five sigma above the mean); none is kept twice.
[ "$kept" -le "$distinct" ]
[ "$kept" -ge $((distinct - distinct / 1000 - 20)) ]
