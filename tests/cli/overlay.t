# Overlays: keys can be removed from a list over any other list.
$ seq 1000 > numbers
$ for kind in fuse ribbon classic split512 scalable cuckoo; do
>     bloomery build -q --kind $kind -o $kind.bly numbers; cp $kind.bly before.bly
>     bloomery build --over $kind.bly -o over.bly -f
>     bloomery check -c over.bly numbers
>     seq 1 2 1000 | bloomery remove over.bly
>     echo $(seq 1 2 1000 | bloomery check -c over.bly) $(seq 2 2 1000 | bloomery check -c over.bly)
>     bloomery add over.bly <(printf 'new\n1\n'); printf 'new\n1\n2\n3\n' | bloomery check over.bly | tr '\n' ' '; echo
>     cmp before.bly $kind.bly
> done
1000
0 500
\new 1 2\s
1000
0 500
\new 1 2\s
1000
0 500
\new 1 2\s
1000
0 500
\new 1 2\s
1000
0 500
\new 1 2\s
1000
0 500
\new 1 2\s
! bloomery build: over.bly: overlay, 2.00 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: over.bly: 500 removed, 0 not found; now 500 keys
! bloomery add: over.bly: 2 of 2 keys new; now 502 keys (capacity: 1,000)
! bloomery build: over.bly: overlay, 1.94 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: over.bly: 500 removed, 0 not found; now 500 keys
! bloomery add: over.bly: 2 of 2 keys new; now 502 keys (capacity: 1,000)
! bloomery build: over.bly: overlay, 2.44 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: over.bly: 500 removed, 0 not found; now 500 keys
! bloomery add: over.bly: 2 of 2 keys new; now 502 keys (capacity: 1,000)
! bloomery build: over.bly: overlay, 2.56 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: over.bly: 500 removed, 0 not found; now 499 keys
! bloomery add: over.bly: 2 of 2 keys new; now 501 keys (capacity: 1,000)
! bloomery build: over.bly: overlay, 2.69 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: over.bly: 500 removed, 0 not found; now 500 keys
! bloomery add: over.bly: 2 of 2 keys new; now 502 keys (capacity: 3,000)
! bloomery build: over.bly: overlay, 2.31 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: over.bly: 500 removed, 0 not found; now 500 keys
! bloomery add: over.bly: 2 of 2 keys new; now 502 keys (capacity: 1,000)

# info shows the base and the changes.
$ bloomery build -q --over fuse.bly -o over.bly -f; bloomery info over.bly
over.bly
  kind       overlay: another filter, and the keys that were removed from and added to it since
  shape      2 parts
  file       2.00 KiB (2,048 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted, 1,000 estimated
  capacity   1,000 keys, 15.9 bits per key
  rate       0.1% requested, 0.0977% expected, 0.0977% current (1 in 1,024), per line and per lookup
  fill       ▕████████████████████████▏ 100% of its capacity
  over       fuse with 1,000 keys
  changes    0 removed, 0 added
$ bloomery remove -q over.bly <(seq 100); bloomery add -q over.bly <(seq 2001 2050); bloomery info over.bly
over.bly
  kind       overlay: another filter, and the keys that were removed from and added to it since
  shape      3 parts
  file       2.81 KiB (2,880 bytes)
  hash       xxh3, seed 0
  type       line
  keys       950 counted, 950 estimated
  capacity   1,000 keys, 22.5 bits per key
  rate       0.1% requested, 0.0977% expected, 0.0977% current (1 in 1,024), per line and per lookup
  fill       ▕██████████████████████▊ ▏ 95% of its capacity
  over       fuse with 1,000 keys
  changes    100 removed, 50 added
  misses     at most 1 in 54,761,652,365 of its keys
$ bloomery remove -q over.bly <(seq 101 200); bloomery info over.bly | grep changes
  changes    200 removed, 50 added; more than a fifth of its keys: build the list again
$ bloomery info --json over.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g; s/(e-[0-9]+)/\1/' | grep -o '"overlay".*'
"overlay","hashes":3,"size":3584,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":0,"capacity":1000,"count":850,"bits_per_key":28.672,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"approximate":false,"bits":26352,"set_bits":20614,"fill":0.782,"estimated_keys":850,"rate_per_lookup_expected":0.000976,"rate_per_line_expected":0.000976,"rate_per_lookup_current":0.000976,"rate_per_line_current":0.000976,"within_requested_rate":true,"type":"line","marks":0,"overlay":{"base":"fuse","base_keys":1000,"removed":200,"added":50,"miss_bound":3.652e-11,"rebuild":true}}
$ bloomery info --header over.bly | grep -e kind -e shape
  kind       overlay: another filter, and the keys that were removed from and added to it since
  shape      3 parts
$ bloomery verify over.bly
over.bly: good; false-positive rate 0.0977% per line and per lookup (requested 0.1%)

# An overlay is a set: a key that was added twice is removed at once, and removing a key that was
# never added removes no other.
$ bloomery add over.bly --key twice; bloomery add over.bly --key twice; bloomery remove over.bly --key twice; bloomery check -q over.bly --key twice
! bloomery add: over.bly: 1 of 1 key new; now 851 keys (capacity: 1,000)
! bloomery add: over.bly: 0 of 1 key new; now 851 keys (capacity: 1,000)
! bloomery remove: over.bly: 1 removed, 0 not found; now 850 keys
? 1
$ seq 100001 103000 | bloomery remove over.bly; bloomery check -c over.bly <(seq 201 1000)
800
! bloomery remove: over.bly: 2 removed, 2,998 not found; now 848 keys
$ bloomery add --copies over.bly --key twice
! bloomery add: over.bly: an overlay list stores each key once; leave out --copies
? 2
$ bloomery add --once over.bly --key once; bloomery add --once over.bly --key once
! bloomery add: over.bly: 1 of 1 key new; now 849 keys (capacity: 1,000)
! bloomery add: over.bly: 0 of 1 key new; now 849 keys (capacity: 1,000)
$ bloomery remove over.bly --key nowhere
! bloomery remove: over.bly: 0 removed, 1 not found; now 849 keys
? 1

# The number of changes, and how they are stored.
$ bloomery build -q --over fuse.bly --changes 10 -o few.bly; bloomery build -q --over fuse.bly --changes 10000 -o lots.bly; ls -s --block-size=1 few.bly lots.bly > /dev/null; test $(wc -c < few.bly) -lt $(wc -c < lots.bly)
$ bloomery build -q --over fuse.bly --marker classic --changes 50 -o bloom.bly; bloomery remove bloom.bly <(seq 50); bloomery info bloom.bly | grep -e changes -e misses; bloomery remove bloom.bly <(seq 51 200); echo $?
  changes    50 removed, 0 added
  misses     at most 1 in 1,314 of its keys
2
! bloomery remove: bloom.bly: 50 removed, 0 not found; now 950 keys
! bloomery remove: bloom.bly: nothing was removed: the overlay has no space for more changes; build the list again without these keys
$ bloomery build -q --over fuse.bly --marker cuckoo --changes 10 -o grow.bly; bloomery remove grow.bly <(seq 500)
! bloomery remove: grow.bly: 500 removed, 0 not found; now 500 keys
$ cp grow.bly before.bly; bloomery remove grow.bly <(seq 501 1000); bloomery check -c grow.bly numbers; bloomery info grow.bly | grep changes
0
  changes    1,000 removed, 0 added; more than a fifth of its keys: build the list again
! bloomery remove: grow.bly: 500 removed, 0 not found; now 0 keys
$ bloomery build --over fuse.bly --marker sbbf -o x.bly
! bloomery build: --marker cannot be 'sbbf': it must be one of cuckoo, classic
? 2

# An overlay that is built from lines has its own base filter.
$ bloomery build --kind overlay -o own.bly numbers; bloomery remove own.bly --key 5; bloomery check -c own.bly numbers; bloomery info own.bly | grep -e over -e changes
999
  kind       overlay: another filter, and the keys that were removed from and added to it since
  over       split512 with 1,000 keys
  changes    1 removed, 0 added
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: own.bly: overlay, 2.56 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: own.bly: 1 removed, 0 not found; now 999 keys
$ bloomery build --kind overlay --changes 5 --marker classic -o own2.bly numbers; bloomery remove own2.bly --key 5; bloomery check -c own2.bly numbers
999
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: own2.bly: overlay, 2.19 KiB, false positives: 1 in 1,000 lines (one lookup per line)
! bloomery remove: own2.bly: 1 removed, 0 not found; now 999 keys

# Descriptions.
$ bloomery build --json -q --over ribbon.bly -o r.bly | sed -E 's/"bytes":[0-9]+/"bytes":B/'
{"list":"r.bly","over":"ribbon.bly","kind":"overlay","base":"ribbon","keys":1000,"capacity":1000,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"bytes":B}
$ bloomery build -q --stats --over ribbon.bly -o r.bly -f 2>stats; bloomery info r.bly | diff stats -
$ bloomery build --over ribbon.bly -o r.bly
! bloomery build: r.bly: already exists; use -f to replace it
? 2
$ bloomery build --over ribbon.bly -o - > piped.bly; bloomery check -c piped.bly numbers
1000
! bloomery build: standard output: overlay, 1.94 KiB, false positives: 1 in 1,000 lines (one lookup per line)

# Types, marks and the secret key come from the base.
$ printf 'example.com\nbad.test\n' | bloomery build -q --type domain --kind fuse -o domains.bly; bloomery build -q --over domains.bly -o d.bly; bloomery remove d.bly --key BAD.test; printf 'www.example.com\nbad.test\n' | bloomery check d.bly
www.example.com
! bloomery remove: d.bly: 1 removed, 0 not found; now 1 key
$ bloomery add -q d.bly --key more.test; bloomery add d.bly --key deep.down.test; bloomery info d.bly | grep -e type -e changes; bloomery check d.bly -k x.deep.down.test; bloomery check d.bly -k down.test
  type       domain
  changes    1 removed, 6 added; more than a fifth of its keys: build the list again
x.deep.down.test
! bloomery add: d.bly: 1 of 1 key new; now 3 keys (capacity: 26)
! bloomery add: warning: d.bly: a line now needs up to 2 lookups instead of 1, so the false-positive rate per line is up to 0.195%; build the list again
? 1
$ echo 000102030405060708090a0b0c0d0e0f > key; chmod 600 key; bloomery build -q --key-file key --kind ribbon -o secret.bly numbers; bloomery build --over secret.bly -o s.bly
! bloomery build: secret.bly: is keyed; pass its key file (key id 09ab680398f0e1ae) with --key-file
? 2
$ bloomery build -q --key-file key --over secret.bly -o s.bly; bloomery remove --key-file key s.bly --key 7; bloomery check -c --key-file key s.bly numbers
999
! bloomery remove: s.bly: 1 removed, 0 not found; now 999 keys
$ bloomery build --key-file key --over fuse.bly -o x.bly
! bloomery build: fuse.bly: is not keyed; leave out --key-file
? 2

# Combinations that are refused.
$ bloomery build --over over.bly -o x.bly
! bloomery build: over.bly: an overlay filter cannot be the base list of --over; use a list of another kind
? 2
$ bloomery distinct -q -s h.bly numbers > /dev/null; bloomery build --over h.bly -o x.bly
! bloomery build: h.bly: an hll filter cannot be the base list of --over; use a list of another kind
? 2
$ bloomery build --over missing.bly -o x.bly
! bloomery build: missing.bly: No such file or directory
? 2
$ head -c 200 fuse.bly > cut.bly; bloomery build --over cut.bly -o x.bly
! bloomery build: cut.bly: is cut short: it has 200 of 1472 bytes; copy it again
? 2
$ bloomery build --over fuse.bly
! bloomery build: no output file given; add -o LIST (- is standard output)
? 2
$ bloomery build --over fuse.bly -o fuse.bly -f
! bloomery build: fuse.bly: is also the base list of --over; name a different file with -o
? 2
$ bloomery build --over fuse.bly -o x.bly numbers
! bloomery build: --over reads no lines; remove the FILEs, and add them to the new list with bloomery add
? 2
$ bloomery build --over fuse.bly -o x.bly -n 5
! bloomery build: --over takes its settings from the base list; leave out --kind, --smallest, -n, -p, --type, --hash, --seed, --new-key, --must-not-match, --foldable and --copies
? 2
$ for option in -0 --comments --skip-malformed; do bloomery build --over fuse.bly -o x.bly $option; done
! bloomery build: --over reads no lines; leave out --null, --comments and --skip-malformed
! bloomery build: --over reads no lines; leave out --null, --comments and --skip-malformed
! bloomery build: --over reads no lines; leave out --null, --comments and --skip-malformed
? 2
$ bloomery build --over fuse.bly -o x.bly --kind cuckoo
! bloomery build: --over takes its settings from the base list; leave out --kind, --smallest, -n, -p, --type, --hash, --seed, --new-key, --must-not-match, --foldable and --copies
? 2
$ bloomery build --over fuse.bly -o x.bly --counter-bits 4
! bloomery build: --counter-bits needs --kind counting
? 2
$ bloomery build --changes 5 -o x.bly numbers
! bloomery build: --changes and --marker need --over or --kind overlay
? 2
$ bloomery build --over fuse.bly --kind overlay -q -o x.bly; bloomery check -c x.bly numbers
1000
$ bloomery merge -o y.bly over.bly over.bly
! bloomery merge: over.bly: overlay filters cannot be merged: overlays cannot be combined; build a new filter from the keys; these kinds can: classic, partitioned, sbbf, split512, bb2x512, scalable, window, counting, multilayer, layered, hybrid, cuckoo, counts, hll, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery subtract -o y.bly over.bly over.bly
! bloomery subtract: over.bly: overlay filters cannot be subtracted: overlays cannot be combined; build a new filter from the keys; these kinds can: counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
$ bloomery fold -o y.bly over.bly
! bloomery fold: over.bly: overlay filters cannot be folded; these kinds can: classic, partitioned, sbbf, split512 and bb2x512
? 2
$ bloomery dedup --state over.bly numbers
! bloomery dedup: over.bly: cannot be used as a state file, because it is an overlay filter, which only bloomery add and remove can change; name another file
? 2
$ bloomery count --query -s over.bly -k 1
! bloomery count: over.bly: overlay filters do not count how often a key was added; these kinds do: counting, multilayer, layered, hybrid, cuckoo, counts, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery plan -n 1000 --kind overlay
! bloomery plan: plan does not support kind overlay (it needs another filter as its base: plan that one); use bloomery build --over to create such a filter
? 2

# If keys cannot be added or removed, the error recommends an overlay.
$ bloomery remove fuse.bly --key 1
! bloomery remove: fuse.bly: keys cannot be removed from a fuse filter: it was built from all its keys at once; build an overlay over it, which supports removal: bloomery build --over fuse.bly -o NEW.bly
? 2
$ bloomery remove classic.bly --key 1
! bloomery remove: classic.bly: keys cannot be removed from a classic filter: keys share bits, so other keys would be removed too; build an overlay over it, which supports removal: bloomery build --over classic.bly -o NEW.bly
? 2
$ bloomery add ribbon.bly --key 1
! bloomery add: ribbon.bly: keys cannot be added to a ribbon filter; build it again with the new keys, or build an overlay over it, which accepts keys: bloomery build --over ribbon.bly -o NEW.bly
? 2
