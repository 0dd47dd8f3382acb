# Windows: lines that were seen recently.

# The last N lines are known. A line that is older than N + N/8 + 12 lines is printed again.
$ (seq 100; seq 100) | bloomery dedup --window 100 -p 1e-9 | cmp - <(seq 100)
$ (seq 100; seq 1001 1130; seq 100) | bloomery dedup --window 100 -p 1e-9 | cmp - <(seq 100; seq 1001 1130; seq 100)

# All lines count, not only different ones: a line that repeats makes others be forgotten.
$ (echo a; yes b | head -100000; echo a) | bloomery dedup --window 10
a
b
a
$ (echo a; yes b | head -100000; echo a; yes b | head -9; echo a) | bloomery dedup --window 10
a
b
a
$ (echo a; yes b | head -60; echo c) | bloomery dedup -q --window 1000 --seed 3 --state repeats.bly >/dev/null; bloomery info repeats.bly | grep -E '^  (keys|window)'
  keys       4 counted, 4 estimated
  window     8 generations of 126 arrivals; the current one has 63, of 4 keys

# A repeat renews a line: it is known as long as it is repeated.
$ (echo again; seq 100; echo again; seq 201 300; echo again) | bloomery dedup --window 110 -p 1e-9 | grep -c again
1

# Only the repeats, the totals, and a description.
$ printf 'a\nb\na\n' | bloomery dedup -d --window 10
a
$ printf 'a\nb\na\n' | bloomery dedup -c --window 10
3 lines, 2 unique, 1 repeated
$ printf 'a\nb\na\n' | bloomery dedup -c --json --window 10 | sed -E 's/"expected_dropped.*"method/"method/; s/,"peak.*//'
{"lines":3,"unique":2,"repeated":1,"window_lines":10,"method":"window","memory_bytes":320
$ printf 'a\nb\na\n' | bloomery dedup -c --json --window 24h -n 5000 -p 1% | sed -E 's/"expected_dropped.*"rate_requested/"rate_requested/; s/(\.0*[1-9][0-9]{2})[0-9]+/\1/g; s/"rate_worst.*"method/"method/; s/,"peak.*//'
{"lines":3,"unique":2,"repeated":1,"window_seconds":86400,"rate_requested":0.01,"method":"window","memory_bytes":31488
$ printf 'a\nb\na\n' | bloomery dedup -c --stats --window 1d 2>&1 | grep ^window
window     the last 24h
$ printf 'a\nb\na\n' | bloomery dedup -c --stats --window 1 2>&1 | grep ^window
window     the last 1 line

# By time: a line is not printed again within TIME, and is printed again after TIME and a quarter.
$ (seq 5; seq 5) | bloomery dedup --window 1h
1
2
3
4
5
# Three runs at the same time, because each waits: in one run, in another, and across two.
$ (seq 3; sleep 1.4; seq 4) | bloomery dedup --window 1s -p 1e-9 > forgotten &
> (echo x; for i in 1 2 3 4 5 6; do sleep 0.3; echo x; done) | bloomery dedup --window 2s > known &
> seq 3 | bloomery dedup --window 1s --state time.bly > runs; sleep 1.4; seq 3 | bloomery dedup --window 1s --state time.bly >> runs; wait
$ cat forgotten
1
2
3
1
2
3
4
$ cat known
x

# Across runs: the window continues, and time passes in between.
$ seq 5 | bloomery dedup --window 10 --state number.bly --seed 3 | tr '\n' ' '; seq 4 8 | bloomery dedup --window 10 --state number.bly | tr '\n' ' '; seq 100 130 | bloomery dedup -q --window 10 --state number.bly | wc -l; seq 5 | bloomery dedup --window 10 --state number.bly | tr '\n' ' '
1 2 3 4 5 6 7 8 31
\1 2 3 4 5\s
\c
$ cat runs
1
2
3
1
2
3
$ seq 3 | bloomery dedup --window 1h --state hour.bly | wc -l; seq 4 | bloomery dedup --window 1h --state hour.bly
3
4

# Options that contradict the state.
$ bloomery dedup --state number.bly /dev/null
! bloomery dedup: number.bly: was created with --window 10; give the same option, or name another file
? 2
$ bloomery dedup --window 11 --state number.bly /dev/null
! bloomery dedup: number.bly: was created with --window 10, not 11; give the same window, or name another file
? 2
$ bloomery dedup --window 1h --state number.bly /dev/null
! bloomery dedup: number.bly: was created with --window 10, not 1h; give the same window, or name another file
? 2
$ bloomery dedup --window 10 -p 1% --state number.bly /dev/null
! bloomery dedup: number.bly: was created for a false-positive rate of 0.1%, not 1%; leave out -p, or name another file
? 2
$ bloomery dedup --window 10 --seed 4 --state number.bly /dev/null
! bloomery dedup: number.bly: was created with another seed; leave out --seed, or name another file
? 2
$ bloomery dedup --window 10 -p 0.1% --seed 3 --state number.bly /dev/null
$ bloomery dedup --window 2h --state hour.bly /dev/null
! bloomery dedup: hour.bly: was created with --window 1h, not 2h; give the same window, or name another file
? 2
$ bloomery dedup --window 60m -n 100 --state hour.bly /dev/null
! bloomery dedup: hour.bly: was created for 1000000 keys, not 100; leave out -n, or name another file
? 2
$ bloomery dedup --window 60m -n 1M -p 1/1000 --state hour.bly /dev/null
$ bloomery dedup --state plain.bly /dev/null; bloomery dedup --window 10 --state plain.bly /dev/null
! bloomery dedup: plain.bly: was created without --window, and forgets nothing; leave out --window, or name another file
? 2
$ bloomery dedup --ignore-case --window 10 --state number.bly /dev/null
! bloomery dedup: number.bly: was created without --url, --field and --ignore-case, but this run is with --field or --ignore-case, so keys would not match; use the same options, or another state
? 2

# Only --count does not change it.
$ cp number.bly before.bly; seq 900 909 | bloomery dedup -c --window 10 --state number.bly; cmp before.bly number.bly
10 lines, 10 unique, 0 repeated

# More keys than planned: a warning at the end, and an error if most new lines are dropped.
$ seq 3000 > many; bloomery dedup --window 1h -n 1000 --seed 1 many > out; echo $?; awk 'END { print (NR > 2500) }' out
0
1
! bloomery dedup: warning: the window of 1h contained more keys than planned: about 107 new lines were mistaken for repeats and dropped, at a false-positive rate of up to 20.1%; give a larger -n
$ seq 30000 | bloomery dedup --window 1h -n 1000 --seed 1 2>&1 > out | sed 's/about [0-9,]* new/about N new/; s/up to [0-9.]*%/up to N%/'; seq 30000 | bloomery dedup -q --window 1h -n 1000 --seed 1 > out 2>/dev/null
bloomery dedup: warning: the window of 1h contained more keys than planned: most new lines were mistaken for repeats and dropped, at a false-positive rate of up to N%; give a larger -n
? 2
$ seq 1000 | bloomery dedup --window 1h -n 1000 --seed 1 | wc -l
1000

# Options that --window cannot be combined with.
$ bloomery dedup --window often a
! bloomery dedup: --window must be a number of lines, such as 1M, or a time in whole seconds, minutes, hours or days, such as 90s, 15m, 24h or 7d
? 2
$ bloomery dedup --window 0 a
! bloomery dedup: --window must be a number of lines, such as 1M, or a time in whole seconds, minutes, hours or days, such as 90s, 15m, 24h or 7d
? 2
$ bloomery dedup --window 10 --exact a
! bloomery dedup: --window cannot be combined with --exact or --confirm: it forgets old lines, and they remember every line
? 2
$ bloomery dedup --window 10 --confirm c a
! bloomery dedup: --window cannot be combined with --exact or --confirm: it forgets old lines, and they remember every line
? 2
$ bloomery dedup --window 10 --memory 64M a
! bloomery dedup: --memory and --window cannot be combined: the length of the window, -n and -p determine its memory (see bloomery plan --window)
? 2
$ bloomery dedup --window 10 -n 10 a
! bloomery dedup: -n cannot be combined with --window N, which is planned for N lines; leave out -n
? 2
$ bloomery dedup --window 10 -p 1e-13 /dev/null
! bloomery dedup: cannot create the filter: the false-positive rate must lie strictly between 0 and 1, and not below 2^-40
? 2

# The description of a window, and other commands.
$ bloomery info number.bly
number.bly
  kind       window: contains the last keys, or those of the last hours, and forgets older ones
  shape      8 generations and the one being filled, 128 columns, 3 bits per key
  file       384 B
  hash       xxh3, seed 3
  type       line
  keys       17 counted, 17 estimated
  capacity   the last 14 keys, 155 bits per key
  rate       0.1% requested, 0.0801% expected, 0.0793% current (1 in 1,261), per line and per lookup
  fill       ▕██████████████████████▋ ▏ 94% of its capacity; 2.3% of its bits set, 2.4% when full
  window     8 generations of 2 arrivals; the current one has 1, of 1 key
  note       old keys are forgotten: "no" means "not in the window"
$ bloomery info --json number.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"number.bly","file_bytes":384,"kind":"window","hashes":3,"size":128,"detail":72,"forgets":true,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":3,"capacity":14,"count":17,"bits_per_key":155.428,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"approximate":false,"bits":2176,"set_bits":50,"fill":0.0229,"estimated_keys":16.984,"rate_per_lookup_expected":0.000800,"rate_per_line_expected":0.000800,"rate_per_lookup_current":0.000793,"rate_per_line_current":0.000793,"within_requested_rate":true,"type":"line","marks":0,"window":{"generations":8,"generation_keys":2,"active_keys":1,"ordinal":25,"span":0,"slice":0,"now":0,"active_arrivals":1,"arrivals":17}}
$ bloomery info --header number.bly | grep -e shape -e capacity -e note
  shape      8 generations and the one being filled, 128 columns, 3 bits per key
  capacity   the last 14 keys, 155 bits per key
  note       old keys are forgotten: "no" means "not in the window"
$ bloomery info hour.bly | grep -e clock -e window | sed 's/clock .*;/clock N;/'
  kind       window: contains the last keys, or those of the last hours, and forgets older ones
  window     4 generations of 1,000,000 keys; the current one has 5
  clock N; the window spans 3,600,000 ticks, a generation 900,000 (in dedup, ticks are milliseconds)
  note       old keys are forgotten: "no" means "not in the window"
$ bloomery verify number.bly; bloomery verify --measure=100k number.bly | sed 's/;.*//'
number.bly: good; false-positive rate 0.0793% per line and per lookup (requested 0.1%)
number.bly: good
$ printf '5\n105\n' | bloomery check number.bly
5
$ bloomery add number.bly --key x
! bloomery add: number.bly: not a list, but a window filter, which forgets keys; add lines with bloomery dedup --window --state
? 2
$ bloomery remove number.bly --key 1
! bloomery remove: number.bly: keys cannot be removed from a window filter: it forgets them automatically; kinds that support removal: counting, multilayer, layered, overlay, hybrid, cuckoo, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery fold -o x.bly number.bly
! bloomery fold: number.bly: window filters cannot be folded; these kinds can: classic, partitioned, sbbf, split512 and bb2x512
? 2
$ bloomery intersect -o x.bly number.bly number.bly
! bloomery intersect: number.bly: window filters cannot be intersected: a common key may have a different age in each, and would be lost; these kinds can: classic, partitioned, sbbf, split512, bb2x512, counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
$ bloomery subtract -o x.bly number.bly number.bly
! bloomery subtract: number.bly: window filters cannot be subtracted: keys share bits in this kind, so removing some would lose others; these kinds can: counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
$ bloomery merge -o x.bly number.bly number.bly
! bloomery merge: x.bly: 2 filters merged, about 17 keys; false-positive rate per lookup 0.0793% (requested: 0.1%)
$ bloomery dedup -q --window 10 --state number.bly <(seq 5); bloomery merge -f -o x.bly number.bly before.bly
! bloomery merge: before.bly: cannot be merged with number.bly: their clocks or generations differ
? 2

# Every command names the replacement of a kind that was removed; damage is reported first.
$ cp $DATA/../golden/v1/removed/stable-planned-murmur3.bly seen.bly; cp $DATA/../golden/v1/removed/blocked-counting-fnv1a.bly counts.bly; cp $DATA/../golden/v1/removed/overlay-over-stable.bly over.bly
$ bloomery info seen.bly
! bloomery info: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery info --header counts.bly
! bloomery info: counts.bly: is a filter of kind blocked-counting, which is no longer supported; build it again as layered
? 2
$ bloomery info over.bly
! bloomery info: over.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery check seen.bly /dev/null
! bloomery check: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery verify seen.bly counts.bly over.bly
! bloomery verify: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
! bloomery verify: counts.bly: is a filter of kind blocked-counting, which is no longer supported; build it again as layered
! bloomery verify: over.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery add counts.bly --key x
! bloomery add: counts.bly: is a filter of kind blocked-counting, which is no longer supported; build it again as layered
? 2
$ bloomery remove counts.bly --key x
! bloomery remove: counts.bly: is a filter of kind blocked-counting, which is no longer supported; build it again as layered
? 2
$ bloomery count --query --state counts.bly /dev/null
! bloomery count: counts.bly: is a filter of kind blocked-counting, which is no longer supported; build it again as layered
? 2
$ bloomery merge -f -o x.bly seen.bly seen.bly
! bloomery merge: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery subtract -f -o x.bly counts.bly counts.bly
! bloomery subtract: counts.bly: is a filter of kind blocked-counting, which is no longer supported; build it again as layered
? 2
$ bloomery fold -f -o x.bly seen.bly
! bloomery fold: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery build -f --over seen.bly -o x.bly
! bloomery build: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery dedup --state seen.bly /dev/null
! bloomery dedup: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery dedup --window 10 --state seen.bly /dev/null
! bloomery dedup: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery distinct --state seen.bly /dev/null
! bloomery distinct: seen.bly: is a filter of kind stable, which is no longer supported; build it again as window
? 2
$ bloomery bench --kinds sbbf,stable
! bloomery bench: --kinds: kind stable was removed; use window instead
? 2
$ printf 'x' | dd of=seen.bly bs=1 seek=20 conv=notrunc 2>/dev/null; bloomery info seen.bly
! bloomery info: seen.bly: is damaged (invalid header); copy it again from its source, or build it again
? 2

# A state must be of a kind that dedup makes.
$ seq 9 | bloomery build -q --kind cuckoo -o cuckoo.bly; bloomery dedup --state cuckoo.bly /dev/null
! bloomery dedup: cuckoo.bly: cannot be used as a state file, because it is a cuckoo filter, which would store every repeat again; name another file
? 2

# A window of another program has no space for the marks of dedup.
$ seq 5 | bloomery dedup --window 9996 --seed 1 --state w.bly -c; seq 5 | bloomery dedup -q --window 9996 --seed 1 --state w.bly >/dev/null; seq 5 | bloomery dedup --window 10000 --state w.bly
5 lines, 5 unique, 0 repeated
! bloomery dedup: w.bly: is a window of 10,000 keys, of which dedup needs 4 for its own marks; give --window 9,996, or name another file
? 2
$ bloomery info w.bly | grep fill
  shape      8 generations and the one being filled, 113 lines a part, 12 bits per key
  fill       ▕▏                       ▏ less than 1% of its capacity; 0.0% of its bits set, 43.5% when full
