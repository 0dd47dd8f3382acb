# Files with implausible headers.

# A count near 2^64 does not overflow
$ cp $DATA/../golden/regressions/items-wrap.bly w.bly; bloomery verify w.bly
w.bly: good; false-positive rate 9.54e-18% per line and per lookup (requested 20%)
$ seq 1 10 | bloomery add w.bly
! bloomery add: w.bly: 10 of 10 keys new; now 18,446,744,073,709,551,615 keys (capacity: 15)
$ bloomery verify w.bly; bloomery info --json w.bly | grep -o '"count": *[0-9]*'
w.bly: good; false-positive rate 2.59e-05% per line and per lookup (requested 20%)
"count":18446744073709551615
"count":18446744073709551612
"count":10
$ seq 1 10 | bloomery check -c w.bly
10

# Errors in a file whose checksum is right
$ bloomery verify $DATA/../golden/regressions/items-contradict.bly 2>&1 | sed 's/.*regressions/REGRESSIONS/'
REGRESSIONS/items-contradict.bly: is not a valid filter: its checksum is right, but its contents contradict each other; build it again
$ bloomery info $DATA/../golden/regressions/items-contradict.bly 2>&1 | sed 's/.*regressions/REGRESSIONS/'
REGRESSIONS/items-contradict.bly: is not a valid filter: its checksum is right, but its contents contradict each other; build it again
$ cp $DATA/../golden/regressions/items-wrap.bly x.bly; printf x | dd of=x.bly bs=1 seek=190 conv=notrunc 2>/dev/null; bloomery verify x.bly
! bloomery verify: x.bly: is damaged (wrong checksum); copy it again from its source, or build it again
? 2

# A file of 768 bytes that would grow to 2 GB
$ cp $DATA/../golden/regressions/amplify-768B.bly a.bly; bloomery verify a.bly
a.bly: good; false-positive rate 0% per line and per lookup (requested 2e-09%)
$ seq 1 10 | bloomery add a.bly; cmp a.bly $DATA/../golden/regressions/amplify-768B.bly
! bloomery add: a.bly: full, and its file requests growth by more than 64 times its size and more than 64 MiB; if you trust the file, give --memory SIZE; nothing was added
$ seq 1 10 | bloomery add --memory 1G a.bly; cmp a.bly $DATA/../golden/regressions/amplify-768B.bly
! bloomery add: a.bly: needs to grow by more than --memory allows; give a larger --memory; nothing was added
$ seq 1 10 | bloomery dedup --state a.bly; cmp a.bly $DATA/../golden/regressions/amplify-768B.bly
! bloomery dedup: a.bly: is full, and its file requests growth by more than 64 times its size and more than 64 MiB, which is not allowed; name another file
$ bloomery add --memory 1G redis://localhost/x --key y
! bloomery add: --memory limits how much a filter may grow, but a filter on a server does not grow; leave out --memory
? 2

# Lists of this program grow, unless --memory is too small
$ seq 1 100 | bloomery build --kind scalable -o s.bly 2>/dev/null; seq 1 300000 | bloomery add s.bly 2>/dev/null; echo $?; seq 1 300000 | bloomery check -c s.bly
0
300000
$ seq 300001 600000 | bloomery add --memory 1M s.bly
! bloomery add: s.bly: needs to grow by more than --memory allows; give a larger --memory; nothing was added
? 2
$ seq 300001 600000 | bloomery add --memory 1G s.bly 2>/dev/null; echo $?; seq 1 600000 | bloomery check -c s.bly
0
600000
