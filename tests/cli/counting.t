# Lists with counters: keys can be removed, and how often they were added is known.

# Removed keys are not found any more; all other keys are.
$ seq 1000 > numbers
$ for kind in counting multilayer layered hybrid; do
>     bloomery build --kind $kind -n 2000 -o $kind.bly numbers
>     seq 1 2 1000 | bloomery remove $kind.bly
>     echo $(seq 1 2 1000 | bloomery check -c $kind.bly) $(seq 2 2 1000 | bloomery check -c $kind.bly)
>     bloomery remove $kind.bly --key 1; echo $?
>     bloomery remove -q $kind.bly <(seq 2 2 1000); bloomery check -c $kind.bly numbers
>     bloomery info $kind.bly | grep -e keys -e fill -e stuck
> done
0 500
1
0
  kind       counting: counters anywhere in one array; keys can be removed, and repeats are counted
  keys       0 counted, including copies; 0 different keys estimated
  capacity   2,000 keys, 57.6 bits per key
  fill       ▕                        ▏ 0% of its capacity; 0.0% of its counters in use, 50.1% when full
0 500
1
0
  kind       multilayer: counters of variable length in one block of 64 bytes; keys can be removed
  keys       0 counted, including copies; 0 different keys estimated
  capacity   2,000 keys, 30.2 bits per key
  fill       ▕                        ▏ 0% of its capacity; 0.0% of its counters in use, 23.1% when full
0 500
1
0
  kind       layered: an sbbf filter in front, its counters behind; keys can be removed
  keys       0 counted, including copies; 0 different keys estimated
  capacity   2,000 keys, 67.6 bits per key
  fill       ▕                        ▏ 0% of its capacity; 0.0% of its counters in use, 37.7% when full
0 500
1
0
  kind       hybrid: fingerprints with exact counts; keys can be removed, and added any number of times
  keys       0 counted, including copies; 0 different keys estimated
  capacity   2,000 keys, 18.2 bits per key
  fill       ▕                        ▏ 0% of its capacity; 0.0% of its slots in use, 95.4% at its capacity
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: counting.bly: counting, 14.1 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: counting.bly: 500 removed, 0 not found; now 500 keys
! bloomery remove: counting.bly: 0 removed, 1 not found; now 500 keys
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: multilayer.bly: multilayer, 7.44 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: multilayer.bly: 500 removed, 0 not found; now 500 keys
! bloomery remove: multilayer.bly: 0 removed, 1 not found; now 500 keys
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: layered.bly: layered, 16.6 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: layered.bly: 500 removed, 0 not found; now 500 keys
! bloomery remove: layered.bly: 0 removed, 1 not found; now 500 keys
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: hybrid.bly: hybrid, 4.50 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: hybrid.bly: 500 removed, 0 not found; now 500 keys
! bloomery remove: hybrid.bly: 0 removed, 1 not found; now 500 keys

# Descriptions.
$ for kind in counting multilayer layered hybrid; do bloomery build -q -f --kind $kind -n 2000 -o $kind.bly numbers; bloomery info $kind.bly | sed 1d; done
  kind       counting: counters anywhere in one array; keys can be removed, and repeats are counted
  shape      28,800 counters of 4 bits, 10 per key
  file       14.1 KiB (14,464 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted, including copies; 998 different keys estimated
  capacity   2,000 keys, 57.6 bits per key
  rate       0.1% requested, 0.000466% expected, 0.000466% current (1 in 214,805), per line and per lookup
  fill       ▕███████████▉            ▏ 50% of its capacity; 29.3% of its counters in use, 50.1% when full
  kind       multilayer: counters of variable length in one block of 64 bytes; keys can be removed
  shape      118 blocks of 320 counters, 5 counters per key
  file       7.44 KiB (7,616 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted, including copies; 1,002 different keys estimated
  capacity   2,000 keys, 30.2 bits per key
  rate       0.1% requested, 0.00656% expected, 0.00616% current (1 in 16,239), per line and per lookup
  fill       ▕████████████            ▏ 50% of its capacity; 12.4% of its counters in use, 23.1% when full
  kind       layered: an sbbf filter in front, its counters behind; keys can be removed
  shape      132 blocks of 256 counters, 8 counters per key
  file       16.6 KiB (16,960 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted, including copies; 993 different keys estimated
  capacity   2,000 keys, 67.6 bits per key
  rate       0.1% requested, 0.0026% expected, 0.00165% current (1 in 60,611), per line and per lookup
  fill       ▕███████████▉            ▏ 50% of its capacity; 21.0% of its counters in use, 37.7% when full
  kind       hybrid: fingerprints with exact counts; keys can be removed, and added any number of times
  shape      524 buckets of 4 slots, remainders of 12 bits
  file       4.50 KiB (4,608 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted, including copies; 1,000 different keys estimated
  capacity   2,000 keys, 18.2 bits per key
  rate       0.1% requested, 0.0468% expected, 0.0467% current (1 in 2,142), per line and per lookup
  fill       ▕████████████            ▏ 50% of its capacity; 47.7% of its slots in use, 95.4% at its capacity
$ bloomery info --json counting.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"counting.bly","file_bytes":14464,"kind":"counting","hashes":10,"size":28800,"detail":4,"forgets":false,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":0,"capacity":2000,"count":1000,"bits_per_key":57.6,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"approximate":false,"bits":115200,"set_bits":33748,"fill":0.292,"estimated_keys":998.351,"rate_per_lookup_expected":4.658e-06,"rate_per_line_expected":4.658e-06,"rate_per_lookup_current":4.655e-06,"rate_per_line_current":4.655e-06,"within_requested_rate":true,"type":"line","marks":0,"counters":28800,"stuck":0,"rebuild":false}
$ bloomery info --json hybrid.bly | grep -o '"type".*'; bloomery info --header layered.bly | grep -e shape -e keys
"type":"line","marks":0}
  kind       layered: an sbbf filter in front, its counters behind; keys can be removed
  shape      132 blocks of 256 counters, 8 counters per key
  keys       1,000 counted
  capacity   2,000 keys, 67.6 bits per key
$ bloomery verify --measure=200k counting.bly multilayer.bly layered.bly hybrid.bly | sed 's/;.*//'
counting.bly: good
multilayer.bly: good
layered.bly: good
hybrid.bly: good

# A small list without -n keeps its rate.
$ for kind in counting multilayer layered; do bloomery build -q -f --kind $kind -p 1% -o small.bly <(seq 300); bloomery info --json small.bly | python3 -c "
> import json, sys
> d = json.load(sys.stdin)
> print(d['kind'], d['rate_per_line_current'] <= 0.0102, d['within_requested_rate'], d['capacity'])"; done
counting True True 300
multilayer True True 300
layered True True 300

# The width of a counter.
$ for bits in 2 4 8 16; do bloomery build -q -f --kind counting --counter-bits $bits -n 1000 -o c.bly numbers; bloomery info c.bly | grep shape; done
  shape      14,400 counters of 2 bits, 10 per key
  shape      14,400 counters of 4 bits, 10 per key
  shape      14,400 counters of 8 bits, 10 per key
  shape      14,400 counters of 16 bits, 10 per key
$ bloomery build --kind counting --counter-bits 3 -o x.bly numbers
! bloomery build: --counter-bits cannot be '3': it must be one of 2, 4, 8, 16
? 2
$ bloomery build --kind hybrid --counter-bits 4 -o x.bly numbers
! bloomery build: --counter-bits needs --kind counting
? 2

# A line that occurs twice is one key; with --copies it is two.
$ printf 'a\nb\na\na\n' > letters
$ bloomery build --kind hybrid -n 100 -o once.bly letters; bloomery count --query -s once.bly -k a
1	a
! bloomery build: 4 lines: 2 keys, 2 repeated
! bloomery build: once.bly: hybrid, 384 B, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery build --copies --kind hybrid -n 100 -o thrice.bly letters; bloomery count --query -s thrice.bly -k a
3	a
! bloomery build: 4 lines: 2 keys, 2 repeated and stored as copies
! bloomery build: thrice.bly: hybrid, 384 B, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery build -q -f --copies --json --kind hybrid -n 100 -o thrice.bly letters
{"list":"thrice.bly","type":"line","kind":"hybrid","hash":"xxh3","keyed":false,"seed":0,"lines":4,"keys":2,"repeated":2,"copies":4,"malformed":0,"empty":0,"marks":0,"capacity":100,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"bytes":384,"tries":1}
$ bloomery info thrice.bly | grep keys
  kind       hybrid: fingerprints with exact counts; keys can be removed, and added any number of times
  keys       4 counted, including copies; 2 different keys estimated
  capacity   100 keys, 25.6 bits per key
$ bloomery add thrice.bly letters; bloomery count --query -s thrice.bly -k a
4	a
! bloomery add: thrice.bly: 0 of 4 keys new, 2 repeated, 2 apparently present and stored again; now 6 keys (capacity: 100)
$ bloomery add --copies thrice.bly letters; bloomery count --query -s thrice.bly -k a
7	a
! bloomery add: thrice.bly: 0 of 4 keys new, 4 apparently present and stored again; now 10 keys (capacity: 100)
$ bloomery remove --copies thrice.bly letters; bloomery remove thrice.bly letters; bloomery count --query -s thrice.bly -k a
3	a
! bloomery remove: thrice.bly: 4 removed, 0 not found; now 6 keys
! bloomery remove: thrice.bly: 2 removed, 0 not found, 2 repeated; now 4 keys
$ bloomery remove --copies thrice.bly letters; bloomery remove thrice.bly letters
! bloomery remove: thrice.bly: 4 removed, 0 not found; now 0 keys
! bloomery remove: thrice.bly: 0 removed, 2 not found, 2 repeated; now 0 keys
? 1
$ bloomery add --copies --once thrice.bly letters
! bloomery add: --once and --copies cannot be combined; give only one
? 2
$ bloomery build --copies -o x.bly letters
! bloomery build: --copies needs a --kind that can store a key several times, such as hybrid or counting
? 2
$ bloomery build --copies --kind sbbf -o x.bly letters
! bloomery build: an sbbf list stores each key once; leave out --copies
? 2
$ bloomery build -q -o plain.bly letters; bloomery add --copies plain.bly letters
! bloomery add: plain.bly: a split512 list stores each key once; leave out --copies
? 2
$ bloomery build --kind counts -n 100 -o counts.bly letters; bloomery count --query -s counts.bly -k a; bloomery add counts.bly letters; bloomery count --query -s counts.bly -k a
~3	a
~6	a
! bloomery build: 4 lines: 2 keys, 2 repeated and stored as copies
! bloomery build: counts.bly: counts, 768 B, false positives: 1 in 20 lines (one lookup per line)
! bloomery count: counts marked ~ are estimates: about 1 in 3,494,568 keys have a count that is too high, and counts above 27 are typically off by 20%
! bloomery add: counts.bly: 0 of 4 keys new; now 8 keys (capacity: 100)
! bloomery count: counts marked ~ are estimates: about 1 in 3,494,568 keys have a count that is too high, and counts above 27 are typically off by 20%
$ (yes a | head -9) > nine; bloomery build --copies --kind cuckoo -n 100 -o x.bly nine
! bloomery build: x.bly: not all keys and copies fit into a cuckoo list (distinct keys: 1); give a larger -n, or --kind hybrid if a key has many copies
? 2
$ bloomery build -q --copies --kind hybrid -n 100 -o nine.bly nine; bloomery count --query -s nine.bly -k a
9	a

# Counters that have reached their limit stay there; info shows them.
$ bloomery build -q -f --copies --kind counting -n 10 -o stuck.bly <(yes a | head -20); bloomery count --query -s stuck.bly -k a
15	a
$ bloomery info stuck.bly | grep -e stuck; bloomery info --json stuck.bly | grep -o '"counters.*'
stuck.bly
  stuck      8 counters have reached the limit and will stay there: keys added that often cannot be removed; build the list again
"counters":512,"stuck":8,"rebuild":true}
$ bloomery remove -q --copies stuck.bly <(yes a | head -20); bloomery check stuck.bly -k a
a
! bloomery remove: warning: stuck.bly: 8 counters are at their limit and are never decremented, so some removed keys stay in the list; build the list again to remove them
$ bloomery add -q stuck.bly <(seq 100); bloomery info stuck.bly | grep stuck
stuck.bly
  stuck      8 counters have reached the limit and will stay there: keys added that often cannot be removed
! bloomery add: warning: stuck.bly: too full: about 106 keys (capacity: 10); false-positive rate per lookup is now 18.6% (requested: 0.1%); build a larger filter
$ bloomery build -q -f --copies --kind counting --counter-bits 8 -n 10 -o wide.bly <(yes a | head -20); bloomery count --query -s wide.bly -k a; bloomery info wide.bly | grep stuck
20	a
? 1

# Removing a key that was never added may lower the counts of others; a warning says so.
$ bloomery build -q -f --kind counting -p 10% -o often.bly numbers; seq 100001 101000 | bloomery remove often.bly 2>&1 | sed -E 's/[0-9,]+/N/g'
bloomery remove: often.bly: N removedN N not found; now N keys
bloomery remove: warning: often.bly: N of these keys are not in the listN so some of the removed keys were probably false positivesN too. Removing them has removed up to N other keys from the list; remove only keys that were added
$ cp counting.bly before.bly; bloomery remove counting.bly --key nothing; cmp before.bly counting.bly
! bloomery remove: counting.bly: 0 removed, 1 not found; now 1,000 keys

# Set operations: counts are added, and can be subtracted again.
$ seq 500 1500 > more
$ for kind in counting multilayer layered hybrid; do
>     bloomery build -q -f --kind $kind -n 3000 -o a.bly numbers; bloomery build -q -f --kind $kind -n 3000 -o b.bly more
>     bloomery merge -q -f -o m.bly a.bly b.bly; bloomery subtract -q -f -o s.bly m.bly b.bly; bloomery intersect -q -f -o i.bly a.bly b.bly
>     echo $kind $(bloomery count --query -s m.bly -k 700) $(bloomery check -c s.bly numbers) $(seq 500 1000 | bloomery check -c i.bly) $(bloomery intersect --estimate a.bly b.bly | tail -1)
>     bloomery info s.bly | grep -o 'keys .*counted'
> done
counting 2 700 1000 501 jaccard 0.334
keys can be removed, and repeats are counted
keys       1,000 counted
multilayer 2 700 1000 501 jaccard 0.337
keys       1,000 counted
layered 2 700 1000 501 jaccard 0.335
keys       1,000 counted
hybrid 2 700 1000 501 jaccard 0.334
keys       1,000 counted
$ bloomery build -q -f --kind hybrid --copies -n 3000 -o h.bly <(yes 1 | head -100); bloomery merge -f -o m.bly a.bly h.bly; bloomery count --query -s m.bly -k 1
101	1
! bloomery merge: m.bly: 2 filters merged, 1,100 keys; false-positive rate per lookup 0.0313% (requested: 0.1%)
$ bloomery build -q -f --kind multilayer -n 3000 -o a.bly numbers; bloomery build -q -f --kind multilayer --copies -n 3000 -o h.bly <(for i in $(seq 60); do seq 200; done); bloomery merge -f -o m.bly a.bly h.bly; bloomery count --query -s m.bly -k 7; bloomery subtract -q -f -o s.bly m.bly h.bly; bloomery count --query -s s.bly -k 7; bloomery check -c s.bly numbers
61	7
1	7
1000
! bloomery merge: m.bly: 2 filters merged, 13,000 keys; false-positive rate per lookup 0.00134% (requested: 0.1%)
$ bloomery merge -f -o m.bly counting.bly hybrid.bly
! bloomery merge: hybrid.bly: differs from counting.bly in its kind (hybrid, not counting); only filters built with the same options can be merged
? 2
$ bloomery build -q -f --kind counting --counter-bits 8 -n 2000 -o wide.bly numbers; bloomery merge -f -o m.bly counting.bly wide.bly
! bloomery merge: wide.bly: differs from counting.bly in its shape (28,800 counters of 8 bits, 10 per key, not 28,800 counters of 4 bits, 10 per key); only filters built with the same options can be merged
? 2
$ bloomery fold -o x.bly counting.bly
! bloomery fold: counting.bly: counting filters cannot be folded; these kinds can: classic, partitioned, sbbf, split512 and bb2x512
? 2
$ bloomery build --foldable --kind counting -o x.bly numbers
! bloomery build: a counting list cannot be folded; leave out --foldable
? 2

# Types, marks and secret keys.
$ printf '10.0.0.0/8\n192.0.2.1\n' | bloomery build -q --type ip --kind multilayer -n 100 -o ips.bly; printf '10.1.2.3\n192.0.2.1\n192.0.2.2\n' | bloomery check ips.bly
10.1.2.3
192.0.2.1
$ bloomery remove ips.bly --key 10.0.0.0/8; printf '10.1.2.3\n192.0.2.1\n' | bloomery check ips.bly; bloomery info ips.bly | grep -e type -e keys
192.0.2.1
  kind       multilayer: counters of variable length in one block of 64 bytes; keys can be removed
  type       ip
  keys       1 counted, including copies; 1 different keys estimated, and 28 marks
  capacity   100 keys and 28 marks, 36.0 bits per key
! bloomery remove: ips.bly: 1 removed, 0 not found; now 1 key
$ printf '10.0.0.0/8\n192.0.2.3\n' | bloomery build -q --type ip --kind multilayer -n 100 -o ips2.bly; bloomery merge -o ips3.bly ips.bly ips2.bly; bloomery info ips3.bly | grep -e type -e keys
  kind       multilayer: counters of variable length in one block of 64 bytes; keys can be removed
  type       ip
  keys       3 counted, including copies; 3 different keys estimated, and 28 marks
  capacity   100 keys and 28 marks, 36.0 bits per key
! bloomery merge: ips3.bly: 2 filters merged, 3 keys and 28 marks that record its type; false-positive rate per lookup 0.000385% (requested: 0.05%)
$ echo 000102030405060708090a0b0c0d0e0f > key; chmod 600 key; bloomery build -q --key-file key --kind layered -o keyed.bly letters; bloomery remove --key-file key keyed.bly --key a; bloomery check --key-file key keyed.bly letters
b
! bloomery remove: keyed.bly: 1 removed, 0 not found; now 1 key
$ bloomery build -q --kind hybrid -p 5% --must-not-match <(seq 2000 2100) -o must.bly numbers; bloomery check -c must.bly <(seq 2000 2100)
0
? 1
$ bloomery build --kind hll --must-not-match letters -o x.bly numbers
! bloomery build: an hll filter only counts keys, so it has no lookups; leave out --must-not-match
? 2

# Full lists.
$ bloomery build -q -f --kind hybrid -n 100 -o h.bly <(seq 100); cp h.bly before.bly; bloomery add h.bly <(seq 101 1000); echo $?; cmp before.bly h.bly
2
! bloomery add: h.bly: full: it was created for 100 keys, and not all of the 900 keys fit; build it again with a larger -n; nothing was added
$ bloomery build -q -f --kind counting -n 100 -o c.bly <(seq 100); bloomery add c.bly <(seq 101 1000)
! bloomery add: c.bly: 403 of 900 keys new, 497 apparently present and stored again; now 1,000 keys (capacity: 100)
! bloomery add: warning: c.bly: too full: about 1,087 keys (capacity: 100); false-positive rate per lookup is now 97.8% (requested: 0.1%); build a larger filter

# A counter sketch and a cardinality sketch as files.
$ bloomery build --kind hll -o hll.bly numbers; bloomery info hll.bly | grep distinct
  kind       hll: an estimate of the number of distinct keys, in a few kilobytes
  distinct   997 (981 to 1013 with 95% certainty)
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: hll.bly: hll, 12.1 KiB, with a standard error of 0.812%
$ bloomery build --kind hll -p 2% --type ip -o hllips.bly <(printf '10.0.0.1\n010.0.0.1\n::ffff:10.0.0.1\n10.0.0.2\n') --skip-malformed -q; bloomery info hllips.bly | grep -e distinct -e error
  kind       hll: an estimate of the number of distinct keys, in a few kilobytes
  distinct   2
  error      1.62%, the standard error
$ bloomery build --kind hll -p 1e-6 -o x.bly numbers
! bloomery build: an hll list cannot have a false-positive rate as low as 1e-06; choose a higher -p, or another --kind
? 2
$ bloomery remove counts.bly --key a
! bloomery remove: counts.bly: keys cannot be removed from a counts filter: its counts are estimates; kinds that support removal: counting, multilayer, layered, overlay, hybrid, cuckoo, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery subtract -o x.bly counts.bly counts.bly
! bloomery subtract: counts.bly: counts filters cannot be subtracted: counters are raised at random, so adds cannot be undone; these kinds can: counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
