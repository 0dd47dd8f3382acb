# Files that say more of themselves than is likely.

# A count near 2^64 ends there
$ cp $DATA/../golden/regressions/items-wrap.bly w.bly; bloomery verify w.bly
w.bly: good
$ seq 1 10 | bloomery add w.bly
! bloomery add: w.bly: 10 of 10 new; it holds 18,446,744,073,709,551,615 keys, its capacity is 15
$ bloomery verify w.bly; bloomery info --json w.bly | grep -o '"count": *[0-9]*'
w.bly: good
"count":18446744073709551615
"count":18446744073709551612
"count":10
$ seq 1 10 | bloomery check -c w.bly
10

# What is wrong with a file whose checksum is right
$ bloomery verify $DATA/../golden/regressions/items-contradict.bly 2>&1 | sed 's/.*regressions/REGRESSIONS/'
REGRESSIONS/items-contradict.bly: is not a valid filter: its checksum is right, but its contents contradict each other; build it again
$ bloomery info $DATA/../golden/regressions/items-contradict.bly 2>&1 | sed 's/.*regressions/REGRESSIONS/'
REGRESSIONS/items-contradict.bly: is not a valid filter: its checksum is right, but its contents contradict each other; build it again
$ cp $DATA/../golden/regressions/items-wrap.bly x.bly; printf x | dd of=x.bly bs=1 seek=190 conv=notrunc 2>/dev/null; bloomery verify x.bly
! bloomery verify: x.bly: is damaged: its checksum is wrong; copy it or build it again
? 2
