# Lists from which keys can be removed.

$ seq 1000 > numbers; bloomery build --kind cuckoo -n 2000 -o list.bly numbers
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: list.bly: cuckoo, 3.44 KiB, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery check -c list.bly numbers; seq 1001 3000 | bloomery check -c list.bly
1000
2
$ bloomery info list.bly
list.bly
  kind       cuckoo: fingerprints in buckets; keys can be removed
  shape      524 buckets of 4 slots, remainders of 12 bits
  file       3.44 KiB (3,520 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted, 1,000 estimated
  capacity   2,000 keys, 13.7 bits per key
  rate       0.1% requested, 0.0468% expected, 0.0467% current (1 in 2,142), per line and per lookup
  fill       ▕████████████            ▏ 50% of its capacity; 47.7% of its slots in use, 95.4% at its capacity
$ bloomery info --json list.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"list.bly","file_bytes":3520,"kind":"cuckoo","hashes":12,"size":524,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":0,"capacity":2000,"count":1000,"bits_per_key":13.656,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"approximate":false,"bits":27312,"set_bits":13000,"fill":0.477,"estimated_keys":1000,"rate_per_lookup_expected":0.000467,"rate_per_line_expected":0.000467,"rate_per_lookup_current":0.000466,"rate_per_line_current":0.000466,"within_requested_rate":true,"type":"line","marks":0}
$ bloomery info --header list.bly | grep -e shape -e capacity
  shape      524 buckets of 4 slots, remainders of 12 bits
  capacity   2,000 keys, 13.7 bits per key
$ bloomery verify list.bly
list.bly: good; false-positive rate 0.0467% per line and per lookup (requested 0.1%)

# Removed keys are not found any more, all others are; the exit status says whether a key was found.
$ seq 1 2 1000 | bloomery remove list.bly
! bloomery remove: list.bly: 500 removed, 0 not found; now 500 keys
$ seq 1 2 1000 | bloomery check -c list.bly; seq 2 2 1000 | bloomery check -c list.bly
0
500
$ bloomery remove list.bly --key 2
! bloomery remove: list.bly: 1 removed, 0 not found; now 499 keys
$ bloomery remove list.bly --key 2
! bloomery remove: list.bly: 0 removed, 1 not found; now 499 keys
? 1
$ bloomery check -q list.bly -k 2
? 1
$ bloomery remove -q list.bly --key 4 --json | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"list.bly","type":"line","keys":1,"repeated":0,"removed":1,"absent":0,"expected_wrongly_removed":0,"malformed":0,"count":498}

# Removing a key that was never added may remove another key.
$ bloomery build -q -f --kind cuckoo -p 10% -o often.bly numbers; seq 100001 101000 | bloomery remove often.bly; bloomery check -c often.bly numbers
974
! bloomery remove: often.bly: 26 removed, 974 not found; now 974 keys
! bloomery remove: warning: often.bly: 974 of these keys are not in the list, so some of the removed keys were probably false positives, too. Removing them has removed about 26 other keys from the list; remove only keys that were added
$ seq 100001 101000 | bloomery remove list.bly
! bloomery remove: list.bly: 0 removed, 1,000 not found; now 498 keys
? 1

# A line that occurs twice in the input is removed once, as it was added once.
$ printf 'a\nb\na\n' | bloomery add list.bly; printf 'b\na\na\n' | bloomery remove list.bly
! bloomery add: list.bly: 2 of 3 keys new, 1 repeated; now 500 keys (capacity: 2,000)
! bloomery remove: list.bly: 2 removed, 0 not found, 1 repeated; now 498 keys
$ printf 'a\nb\n' | bloomery check -c list.bly
0
? 1

# A key that the list seems to contain is stored again, and must be removed as often. --once skips it.
$ bloomery add list.bly --key again; bloomery add list.bly --key again; bloomery remove list.bly --key again; bloomery check -c list.bly --key again
1
! bloomery add: list.bly: 1 of 1 key new; now 499 keys (capacity: 2,000)
! bloomery add: list.bly: 0 of 1 key new, 1 apparently present and stored again; now 500 keys (capacity: 2,000)
! bloomery remove: list.bly: 1 removed, 0 not found; now 499 keys
$ bloomery remove -q list.bly --key again; bloomery check -c list.bly --key again
0
? 1
$ bloomery add -q list.bly --key again; bloomery add --once list.bly --key again; bloomery remove -q list.bly --key again; bloomery check -c list.bly --key again
0
! bloomery add: list.bly: 0 of 1 key new, 1 apparently present and skipped; now 499 keys (capacity: 2,000)
? 1
$ printf 'a\nb\na\n' | bloomery add --json list.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"list.bly","type":"line","keys":3,"new":2,"repeated":1,"copies":0,"malformed":0,"count":500,"marks":0,"capacity":2000,"rate_per_lookup_requested":0.001,"rate_per_lookup_current":0.000232,"within_requested_rate":true}

# At most eight copies.
$ cp list.bly before.bly; for i in 1 2 3 4 5 6 7 8; do bloomery add -q list.bly --key often; done; cp list.bly eight.bly; bloomery add list.bly --key often; echo $?; cmp eight.bly list.bly
2
! bloomery add: list.bly: one of these keys already has eight copies, the maximum; remove copies, or use --once; nothing was added
$ bloomery add --once list.bly --key often
! bloomery add: list.bly: 0 of 1 key new, 1 apparently present and skipped; now 508 keys (capacity: 2,000)
$ for i in 1 2 3 4 5 6 7 8; do bloomery remove -q list.bly --key often; done; bloomery check -c list.bly --key often
0
? 1

# A full list is an error and stays unchanged; a growable one doubles.
$ bloomery build -q --kind cuckoo -o full.bly numbers; cp full.bly before.bly; seq 1001 3000 | bloomery add full.bly; echo $?; cmp before.bly full.bly
2
! bloomery add: full.bly: full: it was created for 1,000 keys, and not all of the 2,000 keys fit; build it again with a larger -n, or as growable-cuckoo; nothing was added
$ bloomery build --kind growable-cuckoo -o grows.bly numbers; bloomery info grows.bly | grep -e shape -e capacity
  shape      262 buckets of 4 slots, remainders of 22 bits, can double 10 times
  capacity   1,000 keys, 24.2 bits per key
  fill       ▕████████████████████████▏ 100% of its capacity; 95.4% of its slots in use, 95.4% at its capacity
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: grows.bly: growable-cuckoo, 3.06 KiB, false positives: 1 in 1,000 lines (one lookup per line)
$ seq 1001 20000 | bloomery add grows.bly; bloomery info grows.bly | grep -e shape -e capacity
  shape      8,384 buckets of 4 slots, remainders of 17 bits, can double 5 times
  capacity   32,188 keys, 18.8 bits per key
  fill       ▕██████████████▉         ▏ 62% of its capacity; 59.6% of its slots in use, 96.0% at its capacity
! bloomery add: grows.bly: 19,000 of 19,000 keys new; now 20,000 keys (capacity: 32,188)
$ seq 20000 | bloomery check -c grows.bly; seq 10001 20000 | bloomery remove grows.bly; seq 10000 | bloomery check -c grows.bly
20000
10000
! bloomery remove: grows.bly: 10,000 removed, 0 not found; now 10,000 keys
$ bloomery verify --measure=100k grows.bly | sed 's/;.*//'
grows.bly: good
$ seq 3000 | bloomery build -q --kind growable-cuckoo -n 1000 -o more.bly; seq 3000 | bloomery check -c more.bly
3000
$ seq 3000 | bloomery build --kind cuckoo -n 1000 -o more.bly -f
! bloomery build: the input has 3,000 different keys, more than -n 1,000; give a larger -n, or leave it out
? 2

# Types: any spelling of a key is found; the marks stay, once each.
$ printf '192.0.2.1\n10.0.0.0/8\n' | bloomery build -q --type ip --kind cuckoo -n 1000 -o ip.bly
$ bloomery add ip.bly --key 198.51.100.7; bloomery add ip.bly --key 203.0.113.0/24; bloomery add -q ip.bly --key 203.0.112.0/24
! bloomery add: ip.bly: 1 of 1 key new; now 3 keys (capacity: 1,000)
! bloomery add: ip.bly: 1 of 1 key new; now 4 keys (capacity: 996)
$ printf '203.0.113.9\n10.1.2.3\n198.51.100.8\n' | bloomery check ip.bly
203.0.113.9
10.1.2.3
$ bloomery remove ip.bly --key ::ffff:198.51.100.7; bloomery check -c ip.bly -k 198.51.100.7
0
! bloomery remove: ip.bly: 1 removed, 0 not found; now 4 keys
? 1
$ bloomery info ip.bly | grep -e type -e keys
  kind       cuckoo: fingerprints in buckets; keys can be removed
  type       ip
  keys       4 counted, 4 estimated, and 32 marks
  capacity   996 keys and 32 marks, 14.8 bits per key
$ bloomery remove ip.bly --key 'not an address'
! bloomery remove: not an IP address: 'not an address'
! bloomery remove: ip.bly: was not changed
? 2
$ bloomery remove --type phone ip.bly --key 030123
! bloomery remove: ip.bly: has keys of type ip, so keys of type phone would not be found in it; leave out --type, or name another list
? 2
$ echo 000102030405060708090a0b0c0d0e0f > k; chmod 600 k; bloomery build -q --type email --kind cuckoo --key-file k -o keyed.bly <(echo a@b.example); bloomery remove keyed.bly -k a@b.example
! bloomery remove: keyed.bly: is keyed; pass its key file (key id 09ab680398f0e1ae) with --key-file
? 2
$ bloomery remove --key-file k keyed.bly -k '<A@B.EXAMPLE>'
! bloomery remove: keyed.bly: 1 removed, 0 not found; now 0 keys

# Two programs that remove keys at the same time wait for each other.
$ seq 2000 | bloomery build -q --kind cuckoo -o busy.bly; for i in 0 1 2 3 4 5 6 7; do seq ${i}01 ${i}50 | sed 's/^0*//' | bloomery remove -q busy.bly & done; wait; seq 2000 | bloomery check -c busy.bly
1600

# A list that must not match some lines.
$ seq 5001 7000 > allowed; bloomery build -q -p 1e-4 --kind cuckoo --must-not-match allowed -o clean.bly numbers; bloomery check -c clean.bly allowed
0
? 1

# Union, with copies; intersection; estimates.
$ seq 600 | bloomery build -q --kind cuckoo -n 2000 -o a.bly; seq 401 1000 | bloomery build -q --kind cuckoo -n 2000 -o b.bly
$ bloomery merge -o m.bly a.bly b.bly; seq 1000 | bloomery check -c m.bly
1000
! bloomery merge: m.bly: 2 filters merged, 1,200 keys; false-positive rate per lookup 0.0467% (requested: 0.1%)
$ bloomery remove -q m.bly --key 500; bloomery check -c m.bly -k 500; bloomery remove -q m.bly --key 500; bloomery check -c m.bly -k 500
1
0
? 1
$ bloomery intersect -o i.bly a.bly b.bly; seq 401 600 | bloomery check -c i.bly
200
! bloomery intersect: i.bly: 2 filters intersected, 200 keys (approximate: a few of them may not be in all files); false-positive rate per lookup 0.00936% (requested: 0.1%)
$ bloomery intersect --estimate a.bly b.bly
a.bly    600
b.bly    600
both     200
either   1,000
jaccard  0.200
$ bloomery merge -o x.bly full.bly full.bly
! bloomery merge: full.bly: its keys do not fit into the result: the files have 2,000 keys together, and there is space for 1,000; build each with -n for the keys of all
? 2
$ bloomery merge -o x.bly a.bly full.bly
! bloomery merge: full.bly: differs from a.bly in its size (262 buckets, not 524 buckets), and there is no size that both can be folded to; build both with the same -n and -p
? 2
$ bloomery merge --fold -o x.bly a.bly full.bly
! bloomery merge: full.bly: differs from a.bly in its size (262 buckets, not 524 buckets), and there is no size that both can be folded to; build both with the same -n and -p
? 2
$ bloomery merge -o x.bly a.bly grows.bly
! bloomery merge: grows.bly: differs from a.bly in its kind (growable-cuckoo, not cuckoo); only filters built with the same options can be merged
? 2
$ bloomery fold -o x.bly a.bly
! bloomery fold: a.bly: cuckoo filters cannot be folded; these kinds can: classic, partitioned, sbbf, split512 and bb2x512
? 2
$ bloomery build --kind cuckoo --foldable -o x.bly numbers
! bloomery build: a cuckoo list cannot be folded; leave out --foldable
? 2

# Subtraction removes exactly the keys of the other list if all of them were in the first.
$ seq 101 200 | bloomery build -q --kind cuckoo -n 2000 -o gone.bly; bloomery subtract -o left.bly a.bly gone.bly
! bloomery subtract: left.bly: 1 filter subtracted, 500 keys; false-positive rate per lookup 0.0233% (requested: 0.1%)
$ seq 101 200 | bloomery check -c left.bly; (seq 100; seq 201 600) | bloomery check -c left.bly
0
500
$ seq 201 300 | bloomery build -q --kind cuckoo -n 2000 -o gone2.bly; bloomery subtract -q -f -o left.bly left.bly gone2.bly; seq 201 300 | bloomery check -c left.bly; (seq 100; seq 301 600) | bloomery check -c left.bly
0
400
$ bloomery subtract -o x.bly a.bly b.bly
! bloomery subtract: warning: b.bly: 400 of its 600 keys are not in a.bly. Others may be there only as false positives; subtracting such a key removed a different key. Subtract only lists whose keys are all in a.bly
! bloomery subtract: x.bly: 1 filter subtracted, 400 keys; false-positive rate per lookup 0.0186% (requested: 0.1%)
$ bloomery subtract --json -o - a.bly gone.bly
! bloomery subtract: --json and -o - both write to standard output; give only one
? 2
$ bloomery subtract --json -f -o x.bly a.bly gone.bly gone2.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"x.bly","from":["a.bly","gone.bly","gone2.bly"],"kind":"cuckoo","size":524,"folded":false,"bytes":3456,"capacity":2000,"count":400,"marks":0,"estimated_keys":400,"rate_per_lookup_requested":0.001,"rate_per_lookup_current":0.000186,"approximate":false,"within_requested_rate":true}

# The recorded type survives any number of merges and subtractions.
$ for i in 1 2 3; do printf '192.0.2.%d\n' $(seq $i 10) | bloomery build -q --type ip --kind cuckoo -n 1000 -o t$i.bly; done; printf '192.0.2.1\n192.0.2.2\n' | bloomery build -q --type ip --kind cuckoo -n 1000 -o two.bly
$ bloomery subtract -o s.bly t1.bly two.bly; bloomery info s.bly | grep -e type -e keys; printf '192.0.2.1\n::ffff:192.0.2.3\n' | bloomery check s.bly
  kind       cuckoo: fingerprints in buckets; keys can be removed
  type       ip
  keys       8 counted, 8 estimated, and 24 marks
  capacity   1,000 keys and 24 marks, 13.8 bits per key
::ffff:192.0.2.3
! bloomery subtract: s.bly: 1 filter subtracted, 8 keys and 24 marks that record its type; false-positive rate per lookup 0.00289% (requested: 0.1%)
$ bloomery merge -f -o s.bly t1.bly t2.bly t3.bly t1.bly t2.bly t3.bly; bloomery info s.bly | grep -e type -e keys
  kind       cuckoo: fingerprints in buckets; keys can be removed
  type       ip
  keys       54 counted, 54 estimated, and 24 marks
  capacity   1,000 keys and 24 marks, 13.8 bits per key
! bloomery merge: s.bly: 6 filters merged, 54 keys and 24 marks that record its type; false-positive rate per lookup 0.00307% (requested: 0.1%)
$ bloomery merge -o x9.bly t3.bly t3.bly t3.bly t3.bly t3.bly t3.bly t3.bly t3.bly t3.bly
! bloomery merge: t3.bly: its keys do not fit into the result, although the files have only 120 keys together. A key that is in several files is stored several times, and there is space for at most eight copies of a key, or for fewer if many keys have several; build one list from the keys of all files
? 2
$ bloomery build -q --type email --kind cuckoo --key-file k -n 100 -o k1.bly <(printf 'a@b.example\nc@d.example\n'); bloomery build -q --type email --kind cuckoo --key-file k -n 100 -o k2.bly <(echo a@b.example)
$ bloomery subtract -o k3.bly k1.bly k2.bly
! bloomery subtract: k1.bly: is keyed; pass its key file (key id 09ab680398f0e1ae) with --key-file
? 2
$ bloomery subtract --key-file k -o k3.bly k1.bly k2.bly; bloomery info k3.bly | grep keys; bloomery check --key-file k k3.bly <(printf 'a@b.example\nC@D.example\n')
  kind       cuckoo: fingerprints in buckets; keys can be removed
  keys       17 counted, 17 estimated, including any marks
  capacity   116 keys, including any marks, 15.8 bits per key
C@D.example
! bloomery subtract: k3.bly: 1 filter subtracted, 1 key and 16 marks that record its type; false-positive rate per lookup 0.0129% (requested: 0.1%)

# Filters that cannot be subtracted.
$ bloomery build -q -o bloom.bly numbers; bloomery subtract -o y.bly bloom.bly bloom.bly
! bloomery subtract: bloom.bly: split512 filters cannot be subtracted: keys share bits in this kind, so removing some would lose others; these kinds can: counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
$ bloomery subtract -o y.bly a.bly bloom.bly
! bloomery subtract: bloom.bly: differs from a.bly in its kind (split512, not cuckoo); only filters built with the same options can be subtracted
? 2
$ seq 10 | bloomery build -q --kind cuckoo -n 2000 --seed 7 -o seven.bly; bloomery subtract -o y.bly a.bly seven.bly
! bloomery subtract: seven.bly: differs from a.bly in its seed (7, not 0); only filters built with the same options can be subtracted
? 2
$ bloomery subtract a.bly gone.bly
! bloomery subtract: no output file given; add -o LEFT.bly
? 2
$ bloomery subtract -o y.bly a.bly
! bloomery subtract: at least two filter files are needed: bloomery subtract -o LEFT.bly ALL.bly GONE.bly
? 2
$ bloomery subtract -o left.bly a.bly gone.bly
! bloomery subtract: left.bly: already exists; use -f to replace it
? 2
$ bloomery remove missing.bly --key x
! bloomery remove: missing.bly: No such file or directory
? 2

# Lists that have grown to different sizes can be combined if they were created alike.
$ seq 50 | bloomery build -q --kind growable-cuckoo -n 1000 -o g1.bly; cp g1.bly g2.bly; seq 51 5000 | bloomery add g2.bly
! bloomery add: g2.bly: 4,950 of 4,950 keys new; now 5,000 keys (capacity: 8,042)
$ bloomery merge -o gm.bly g1.bly g2.bly; seq 5000 | bloomery check -c gm.bly; bloomery merge -q -o gn.bly g2.bly g1.bly; seq 5000 | bloomery check -c gn.bly
5000
5000
! bloomery merge: gm.bly: 2 filters merged, 5,050 keys; false-positive rate per lookup 0.000456% (requested: 0.1%)
$ bloomery subtract -o gs.bly g2.bly g1.bly; seq 51 5000 | bloomery check -c gs.bly; seq 50 | bloomery check -c gs.bly
4950
0
! bloomery subtract: gs.bly: 1 filter subtracted, 4,950 keys; false-positive rate per lookup 0.000452% (requested: 0.1%)
? 1
$ bloomery intersect -o gi.bly g2.bly g1.bly; seq 50 | bloomery check -c gi.bly
50
! bloomery intersect: gi.bly: 2 filters intersected, 50 keys (approximate: a few of them may not be in all files); false-positive rate per lookup 4.64e-06% (requested: 0.1%)
$ bloomery merge --json -f -o gm.bly g1.bly g2.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"gm.bly","from":["g1.bly","g2.bly"],"kind":"growable-cuckoo","size":2096,"folded":false,"bytes":20992,"capacity":8042,"count":5050,"marks":0,"estimated_keys":5050,"rate_per_lookup_requested":0.001,"rate_per_lookup_current":4.561e-06,"approximate":false,"within_requested_rate":true}
$ seq 50 | bloomery build -q --kind growable-cuckoo -n 1500 -o g3.bly; bloomery merge -o gx.bly g1.bly g3.bly
! bloomery merge: g3.bly: cannot be merged with g1.bly: they have different sizes or shapes
? 2
$ bloomery intersect --estimate g1.bly g2.bly; bloomery intersect --estimate g1.bly g3.bly
g1.bly   50
g2.bly   5,000
both     50
either   5,000
jaccard  0.010
! bloomery intersect: g3.bly: cannot be compared with g1.bly: they have different sizes or shapes
? 2
$ seq 50 | bloomery build -q --kind growable-cuckoo -p 1% -n 1000 -o g4.bly; bloomery merge -o gx.bly g1.bly g4.bly
! bloomery merge: g4.bly: differs from g1.bly in its requested false-positive rate (1%, not 0.1%); only filters built with the same options can be merged
? 2

# With many copies of many keys, adds fail long before the list is full or any key has eight copies.
$ seq 100 > hundred; bloomery build -q --kind cuckoo -n 10000 -o copies.bly hundred; for i in 2 3 4 5 6; do bloomery add -q copies.bly hundred; done; bloomery add copies.bly hundred
! bloomery add: copies.bly: no space for one of these keys (copies in the list: 6), although the list is only 6% full: all copies of a key must be in the same two buckets, which fill up soon if many keys have several copies; remove copies, or use --once; nothing was added
? 2
$ bloomery build -q --kind cuckoo -n 10000 -o ones.bly hundred; bloomery merge -o x7.bly ones.bly ones.bly ones.bly ones.bly ones.bly ones.bly ones.bly
! bloomery merge: ones.bly: its keys do not fit into the result, although the files have only 700 keys together. A key that is in several files is stored several times, and there is space for at most eight copies of a key, or for fewer if many keys have several; build one list from the keys of all files
? 2

# The marks of a type do not count as keys or as room for keys.
$ seq -f 192.0.2.%g 9 | bloomery build -q --type ip --kind cuckoo -n 9 -o few.bly; seq -f 198.51.100.%g 9 | bloomery add few.bly
! bloomery add: few.bly: 9 of 9 keys new; now 18 keys (capacity: 9)
$ for i in $(seq 30); do bloomery add -q few.bly -k 198.51.100.$i || break; done
! bloomery add: few.bly: full: it was created for 9 keys, and the new key does not fit; build it again with a larger -n, or as growable-cuckoo; nothing was added
$ bloomery subtract -f -o none.bly t1.bly t1.bly
! bloomery subtract: none.bly: 1 filter subtracted, 0 keys and 24 marks that record its type; false-positive rate per lookup 0.00217% (requested: 0.1%)

# If the keys do not fit into the table planned for their number, it is made a little larger, unless -n is given.
$ seq 1000 | bloomery build --kind cuckoo --seed 3243 -o crowded.bly; seq 1000 | bloomery check -c crowded.bly
1000
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: crowded.bly: cuckoo, 1.81 KiB, false positives: 1 in 1,000 lines (one lookup per line)
$ seq 1000 | bloomery build --kind cuckoo -n 1000 --seed 3243 -o fixed.bly
! bloomery build: fixed.bly: not all keys fit into a cuckoo list (distinct keys: 1,000); give a larger -n
? 2
