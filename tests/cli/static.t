# Lists that are built from all their keys at once.

$ seq 1000 > numbers
$ bloomery build --kind fuse -o fuse.bly numbers; bloomery check -c fuse.bly numbers
1000
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: fuse.bly: fuse, 1.44 KiB, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery build --kind ribbon -o ribbon.bly numbers; bloomery check -c ribbon.bly numbers
1000
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: ribbon.bly: ribbon, 1.38 KiB, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery info fuse.bly ribbon.bly
fuse.bly
  kind       fuse: built from all keys at once; small and fast, never changes
  shape      1,122 slots, fingerprints of 10 bits
  file       1.44 KiB (1,472 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted
  capacity   1,000 keys, 11.3 bits per key
  rate       0.1% requested, 0.0977% by construction (1 in 1,024), per line and per lookup
\
ribbon.bly
  kind       ribbon: built from all keys at once; the smallest, never changes
  shape      131 groups of 8 slots, 10 columns
  file       1.38 KiB (1,408 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted
  capacity   1,000 keys, 10.5 bits per key
  rate       0.1% requested, 0.0985% by construction (1 in 1,015), per line and per lookup
$ bloomery info --json ribbon.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"ribbon.bly","file_bytes":1408,"kind":"ribbon","hashes":73,"size":131,"detail":255,"forgets":false,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":0,"capacity":1000,"count":1000,"bits_per_key":10.472,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"approximate":false,"bits":10472,"set_bits":10472,"fill":1,"estimated_keys":1000,"rate_per_lookup_expected":0.000985,"rate_per_line_expected":0.000985,"rate_per_lookup_current":0.000985,"rate_per_line_current":0.000985,"within_requested_rate":true,"type":"line","marks":0}
$ bloomery info --header fuse.bly | grep -e shape -e rate
  shape      1,122 slots, fingerprints of 10 bits
  rate       0.1% requested (1 in 1,000), per lookup
$ bloomery verify fuse.bly ribbon.bly
fuse.bly: good; false-positive rate 0.0977% per line and per lookup (requested 0.1%)
ribbon.bly: good; false-positive rate 0.0985% per line and per lookup (requested 0.1%)
$ bloomery verify --measure=2M fuse.bly ribbon.bly | sed 's/;.*//'
fuse.bly: good
ribbon.bly: good

# The same lines in another order, and more often, make the same file.
$ (tac numbers; cat numbers) | bloomery build -q --kind fuse -o - | cmp - fuse.bly
$ (tac numbers; cat numbers) | bloomery build -q --kind ribbon -o - | cmp - ribbon.bly

# --smallest: the smallest kind; with more needs, the smallest kind that meets them.
$ bloomery build -q --smallest -o small.bly numbers; cmp -s small.bly ribbon.bly || cmp small.bly fuse.bly; for kind in fuse ribbon; do test $(wc -c < small.bly) -le $(wc -c < $kind.bly) || echo larger than $kind; done
$ bloomery build --smallest -n 2000 -o small.bly -f numbers
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: small.bly: classic, 3.62 KiB, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery build --smallest --foldable -o small.bly -f numbers
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: small.bly: classic, 1.88 KiB, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery build --smallest --kind fuse -o small.bly -f numbers
! bloomery build: --smallest and --kind cannot be combined; give only one
? 2

# No lines at all, and one.
$ for kind in fuse ribbon; do bloomery build -q -f --kind $kind -o none.bly /dev/null; bloomery check -c none.bly numbers; bloomery info none.bly | grep -e keys -e rate; done
0
  kind       fuse: built from all keys at once; small and fast, never changes
  keys       0 counted
  capacity   none: it was built from no keys
  rate       0.1% requested, no false positives while it is empty, per line and per lookup
0
  kind       ribbon: built from all keys at once; the smallest, never changes
  keys       0 counted
  capacity   none: it was built from no keys
  rate       0.1% requested, no false positives while it is empty, per line and per lookup
! bloomery build: warning: the input has no keys; the list will match nothing
! bloomery build: warning: the input has no keys; the list will match nothing
$ for kind in fuse ribbon; do echo one | bloomery build -q -f -p 1e-8 --kind $kind -o one.bly; (echo one; cat numbers) | bloomery check one.bly; bloomery verify one.bly; done
one
one.bly: good; false-positive rate 7.45e-07% per line and per lookup (requested 1e-06%)
one
one.bly: good; false-positive rate 7.45e-07% per line and per lookup (requested 1e-06%)

# Types and their marks, keyed lists, lines that must not match.
$ printf '192.0.2.1\n10.0.0.0/8\n' > addresses
$ for kind in fuse ribbon; do bloomery build -q -f --type ip --kind $kind -o ip.bly addresses; printf '10.1.2.3\n192.0.2.2\n::ffff:192.0.2.1\n' | bloomery check ip.bly; bloomery info ip.bly | grep -e type -e keys -e capacity; done
10.1.2.3
::ffff:192.0.2.1
  kind       fuse: built from all keys at once; small and fast, never changes
  type       ip
  keys       2 counted, and 28 marks
  capacity   2 keys and 28 marks, 17.1 bits per key
10.1.2.3
::ffff:192.0.2.1
  kind       ribbon: built from all keys at once; the smallest, never changes
  type       ip
  keys       2 counted, and 28 marks
  capacity   2 keys and 28 marks, 20.5 bits per key
$ for kind in fuse ribbon; do rm -f k; bloomery build -q -f --new-key k --kind $kind -o keyed.bly numbers; bloomery check -c --key-file k keyed.bly numbers; bloomery info keyed.bly | grep -c 'with a secret key'; done
1000
1
1000
1
$ seq 5001 7000 > allowed; for kind in fuse ribbon; do bloomery build -f --kind $kind --must-not-match allowed -q -o clean.bly numbers; bloomery check -c clean.bly allowed; bloomery check -c clean.bly numbers; done
0
1000
0
1000

# Such lists cannot be added to, removed from, merged or folded, and -n has no effect on the size.
$ bloomery add fuse.bly --key x
! bloomery add: fuse.bly: keys cannot be added to a fuse filter; build it again with the new keys, or build an overlay over it, which accepts keys: bloomery build --over fuse.bly -o NEW.bly
? 2
$ bloomery remove ribbon.bly --key 1
! bloomery remove: ribbon.bly: keys cannot be removed from a ribbon filter: it was built from all its keys at once; build an overlay over it, which supports removal: bloomery build --over ribbon.bly -o NEW.bly
? 2
$ bloomery merge -o x.bly fuse.bly fuse.bly
! bloomery merge: fuse.bly: fuse filters cannot be merged: a filter that is built from all keys at once cannot be changed; build a new one from the keys, or look keys up in both; these kinds can: classic, partitioned, sbbf, split512, bb2x512, scalable, window, counting, multilayer, layered, hybrid, cuckoo, counts, hll, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery intersect -o x.bly ribbon.bly ribbon.bly
! bloomery intersect: ribbon.bly: ribbon filters cannot be intersected: a filter that is built from all keys at once cannot be changed; build a new one from the keys, or look keys up in both; these kinds can: classic, partitioned, sbbf, split512, bb2x512, counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
$ bloomery intersect --estimate ribbon.bly ribbon.bly
! bloomery intersect: ribbon.bly: ribbon filters cannot be compared: the overlap of filters that are built from all keys at once cannot be estimated; these kinds can: classic, partitioned, sbbf, split512, bb2x512, counting, multilayer, layered, hybrid, cuckoo, counts, hll and growable-cuckoo
? 2
$ bloomery subtract -o x.bly ribbon.bly ribbon.bly
! bloomery subtract: ribbon.bly: ribbon filters cannot be subtracted: a filter that is built from all keys at once cannot be changed; build a new one from the keys, or look keys up in both; these kinds can: counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
$ bloomery fold -o x.bly ribbon.bly
! bloomery fold: ribbon.bly: ribbon filters cannot be folded; these kinds can: classic, partitioned, sbbf, split512 and bb2x512
? 2
# With kinds that are built from all their keys -n is a hint: too many or too few, the list is the same.
$ bloomery build -q --kind fuse -n 2000 -o more.bly numbers; bloomery check -c more.bly numbers
1000
$ bloomery build -q --kind fuse -n 20 -o fewer.bly numbers; cmp more.bly fewer.bly && bloomery build -q --kind fuse -o unhinted.bly numbers && cmp more.bly unhinted.bly
$ bloomery build --kind ribbon --foldable -o x.bly numbers
! bloomery build: a ribbon list cannot be folded; leave out --foldable
? 2
$ bloomery build --kind fuse -p 1e-9 -o x.bly numbers
! bloomery build: a fuse list cannot have a false-positive rate as low as 1e-09; choose a higher -p, or another --kind
? 2
$ bloomery build -q --kind ribbon -p 1e-9 -o exact.bly numbers; bloomery check -c exact.bly numbers
1000
$ bloomery build --kind window -o x.bly numbers
! bloomery build: a window filter forgets keys, so it cannot be a list; use bloomery dedup --window
? 2
$ bloomery build --kind window -o x.bly numbers
! bloomery build: a window filter forgets keys, so it cannot be a list; use bloomery dedup --window
? 2
$ bloomery build --kind stable -o x.bly numbers
! bloomery build: --kind: filter kind stable is no longer supported; use window instead
? 2
$ bloomery build --kind blocked-counting -o x.bly numbers
! bloomery build: --kind: filter kind blocked-counting is no longer supported; use layered instead
? 2
$ bloomery dedup --state fuse.bly numbers
! bloomery dedup: fuse.bly: cannot be used as a state file, because it is a fuse filter, to which nothing can be added; name another file
? 2

# The summary, and the kind's own words, as JSON.
$ bloomery build --json --kind ribbon -f -o ribbon.bly numbers 2>/dev/null
{"list":"ribbon.bly","type":"line","kind":"ribbon","hash":"xxh3","keyed":false,"seed":0,"lines":1000,"keys":1000,"repeated":0,"malformed":0,"empty":0,"marks":0,"capacity":1000,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"bytes":1408,"tries":1}
$ bloomery build --stats --kind fuse -f -o fuse.bly numbers
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: fuse.bly: fuse, 1.44 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! fuse.bly
!   kind       fuse: built from all keys at once; small and fast, never changes
!   shape      1,122 slots, fingerprints of 10 bits
!   file       1.44 KiB (1,472 bytes)
!   hash       xxh3, seed 0
!   type       line
!   keys       1,000 counted
!   capacity   1,000 keys, 11.3 bits per key
!   rate       0.1% requested, 0.0977% by construction (1 in 1,024), per line and per lookup

# One cut short or damaged is refused.
$ head -c 1000 ribbon.bly > cut.bly; bloomery check cut.bly numbers
! bloomery check: cut.bly: is cut short: it has 1000 of 1408 bytes; copy it again
? 2
$ cp fuse.bly bad.bly; printf 'X' | dd of=bad.bly bs=1 seek=200 conv=notrunc status=none; bloomery verify bad.bly
! bloomery verify: bad.bly: is damaged (wrong checksum); copy it again from its source, or build it again
? 2

# If a kind cannot be merged at all, the error says so before it names differences.
$ seq 100 | bloomery build -q --kind ribbon -o rib1.bly; seq 100 | bloomery build -q --kind ribbon -p 1% -o rib2.bly; bloomery merge -o ribs.bly rib1.bly rib2.bly
! bloomery merge: rib1.bly: ribbon filters cannot be merged: a filter that is built from all keys at once cannot be changed; build a new one from the keys, or look keys up in both; these kinds can: classic, partitioned, sbbf, split512, bb2x512, scalable, window, counting, multilayer, layered, hybrid, cuckoo, counts, hll, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery build -q --kind ribbon -o nothing.bly /dev/null; bloomery info nothing.bly | grep -e keys -e capacity
  kind       ribbon: built from all keys at once; the smallest, never changes
  keys       0 counted
  capacity   none: it was built from no keys
! bloomery build: warning: the input has no keys; the list will match nothing
