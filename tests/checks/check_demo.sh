#!/usr/bin/env bash
# check_demo.sh [--no-install]: scripts/demo works from a fresh clone, and prints the right numbers.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(scripts/demo "$@" 2>&1)
printf '%s\n' "$out"
crawl=examples/data/crawl.txt
kept=$(build/bin/bloomery dedup --url $crawl | wc -l)
distinct=$(build/bin/bloomery dedup --url --exact $crawl | wc -l)
printf '%s' "$out" | grep -q "$(wc -l <$crawl | sed 's/\(...\)$/,\1/')"
printf '%s' "$out" | grep -q "printed: $kept;"
# On average at most 1 in 1,000 new URLs is dropped; 20 more is above five sigma. None is printed twice.
[ "$kept" -le "$distinct" ]
[ "$kept" -ge $((distinct - distinct / 1000 - 20)) ]
# The exact count agrees with that of sort.
[ "$(build/bin/bloomery dedup --exact $crawl | wc -l)" -eq "$(LC_ALL=C sort -u $crawl | wc -l)" ]
# The blocklist reports the four listed names, and no other.
warned=$(printf '%s\n' "$out" | tail -4)
[ "$warned" = "login.paypa1-login.example
ACCOUNT-VERIFY.EXAMPLE
www.xn--bcher-gewinn-dlb.example
free-prizes.test." ]
