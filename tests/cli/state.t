# Lines are remembered across runs.
$ printf 'a\nb\n' | bloomery dedup --state seen.bly
a
b
$ printf 'b\nc\n' | bloomery dedup --state seen.bly
c
$ printf 'a\nb\nc\n' | bloomery dedup --state seen.bly
$ bloomery info seen.bly | grep -E 'kind|keys' | sed 's,MiB.*,MiB,'
  kind       scalable: a list of filters that grows with its keys
  keys       4 counted, 4 estimated
  capacity   2,000,000 keys, 20.9 bits per key
  levels     1: 4 of 2,000,000 keys, split512, 4.99 MiB

# A state of a fixed size.
$ printf 'a\nb\n' | bloomery dedup --state fixed.bly -n 1000 -p 1%
a
b
$ printf 'b\nc\n' | bloomery dedup --state fixed.bly
c
$ printf 'd\n' | bloomery dedup --state fixed.bly -n 1000 -p 0.01
d
$ bloomery info fixed.bly | grep -E 'kind|keys ' | sed 's,;.*,,'
  kind       sbbf: eight bits in one block of 32 bytes
  keys       5 counted, 5 estimated

# Options that contradict the state.
$ printf 'e\n' | bloomery dedup --state fixed.bly -p 0.5
! bloomery dedup: fixed.bly: was created for a false-positive rate of 1%, not 50%; leave out -p, or name another file
? 2
$ printf 'e\n' | bloomery dedup --state fixed.bly -n 5
! bloomery dedup: fixed.bly: was created for 1000 keys, not 5; leave out -n, or name another file
? 2
$ printf 'e\n' | bloomery dedup --state seen.bly --memory 64M
! bloomery dedup: seen.bly: grows as needed, so --memory cannot limit it; leave out --memory, or name another file
? 2
$ printf 'e\n' | bloomery dedup --state seen.bly --exact
! bloomery dedup: seen.bly: a filter that was created without --exact and --confirm; leave out these options, or name another file
? 2
$ printf 'e\n' | bloomery dedup -q --state fixed.bly --memory 64M
e
$ for seed in 7 8 7 0; do printf 'e\n' | bloomery dedup --state seed.bly --seed $seed; done
e
! bloomery dedup: seed.bly: was created with another seed; leave out --seed, or name another file

# Damaged, truncated, another format, a directory, no such directory: nothing is printed or changed.
$ head -c 100 seen.bly > cut.bly; printf 'x\n' | bloomery dedup --state cut.bly; wc -c < cut.bly
100
! bloomery dedup: cut.bly: is cut short: it has 100 of 5229440 bytes; copy it again
$ cp seen.bly flip.bly; printf 'X' | dd of=flip.bly bs=1 seek=200 conv=notrunc status=none; printf 'x\n' | bloomery dedup --state flip.bly
! bloomery dedup: flip.bly: is damaged (wrong checksum); copy it again from its source, or build it again
? 2
$ echo text > text.bly; printf 'x\n' | bloomery dedup --state text.bly; cat text.bly
text
! bloomery dedup: text.bly: is not a Bloomery filter
$ printf 'x\n' | bloomery dedup --state .
! bloomery dedup: .: Is a directory
? 2
$ printf 'x\n' | bloomery dedup --state missing/seen.bly
! bloomery dedup: missing/seen.bly: No such file or directory
? 2
$ ls -A missing 2>/dev/null
? 2

# A state cannot be standard output; - is not a file name here.
$ for o in --state=- --exact\ --state=- --confirm=-; do printf 'x\n' | bloomery dedup $o; done; test ! -e ./-
! bloomery dedup: standard output cannot be read again in the next run; name a file
! bloomery dedup: standard output cannot be read again in the next run; name a file
! bloomery dedup: standard output cannot be read again in the next run; name a file
$ printf 'x\n' | bloomery distinct --state=-
! bloomery distinct: standard output cannot be read again in the next run; name a file
? 2
$ printf 'x\n' | bloomery count --state=-
! bloomery count: standard output cannot be read again in the next run; name a file
? 2

# A full disk: the lines were printed, but the state is not saved, and an error says so.
$ (ulimit -f 8; printf 'x\n' | bloomery dedup --state big.bly -n 1M; ls -A | grep big; printf 'x\n' | bloomery dedup --exact --state big.fps; ls -A | grep big)
x
x
big.fps
! bloomery dedup: big.bly: File too large

# When the output cannot be written, nothing is remembered.
$ printf 'new\n' | bloomery dedup --state seen.bly > /dev/full
! bloomery dedup: standard output: No space left on device
? 2
$ printf 'new\n' | bloomery dedup --state seen.bly -o missing/out
! bloomery dedup: missing/out: No such file or directory
? 2
$ printf 'new\n' | bloomery dedup --state seen.bly
new

# The same if writing fails while the input is idle.
$ mkfifo idle; exec 9<> idle; printf 'newer\n' >&9; timeout 60 bloomery dedup --state seen.bly < idle > /dev/full
! bloomery dedup: standard output: No space left on device
? 2
$ printf 'newer\n' | bloomery dedup --state seen.bly
newer

# Two names for one file.
$ printf 'x\n' | bloomery dedup --state both.bly -o ./both.bly; ls both.bly 2>/dev/null
! bloomery dedup: -o and --state name the same file; name different files
? 2
$ ln -s gone dangling; for how in --state '--exact --state' --confirm '-f -o'; do printf 'x\n' | bloomery dedup $how dangling; done; bloomery build -f -o dangling /dev/null; ls gone 2>/dev/null
! bloomery dedup: dangling: this link points to a file that does not exist; name the file itself
! bloomery dedup: dangling: this link points to a file that does not exist; name the file itself
! bloomery dedup: dangling: this link points to a file that does not exist; name the file itself
! bloomery dedup: dangling: this link points to a file that does not exist; name the file itself
! bloomery build: dangling: this link points to a file that does not exist; name the file itself
? 2

# A state has one rule for making keys from lines.
$ printf 'http://a.test/#x\n' | bloomery dedup --url --state rule.bly; printf 'http://a.test/#x\n' | bloomery dedup --state rule.bly
http://a.test/#x
! bloomery dedup: rule.bly: was created with --url, but this run is without --url, --field and --ignore-case, so keys would not match; use the same options, or another state
? 2
$ printf 'http://a.test/#x\n' | bloomery dedup --url --exact --state rule.fps; printf 'http://a.test/#x\n' | bloomery dedup -i --url --exact --state rule.fps
http://a.test/#x
! bloomery dedup: rule.fps: was created with --url, but this run is with --field or --ignore-case, so keys would not match; use the same options, or another state
? 2

# An empty file is a state without lines.
$ : > empty.bly; printf 'x\n' | bloomery dedup --state empty.bly; printf 'x\n' | bloomery dedup --state empty.bly
x

# --count prints no lines, so it remembers none.
$ printf 'p\nq\n' | bloomery dedup -c --state seen.bly; printf 'p\n' | bloomery dedup --state seen.bly
2 lines, 2 unique, 0 repeated
p

# The same command twice, with a limit on memory.
$ for i in 1 2; do printf 'x\n' | bloomery dedup -q -m 32M -p 0.01 --state m.bly; printf 'x\n' | bloomery dedup -q -m 32M -p 0.01 -n 1M --state mn.bly; done
x
x

# One at a time.
$ rm -f out; mkfifo feed; exec 9<> feed; printf 'x\n' >&9; bloomery dedup --state lock.bly < feed > out 9>&- & until_true [ -s out ]
> printf 'y\n' | bloomery dedup --state lock.bly; echo $?; exec 9>&-; wait; ls -A | grep lock
2
lock.bly
! bloomery dedup: lock.bly: another process is using this file; try again when it has finished

# If the reader of the output ends, the run ends, and no file is left behind: nothing was saved yet.
$ for how in '--state pipe.bly' '--exact --state pipe.fps' '--exact'; do seq 300000 | bloomery dedup $how | head -1; echo ${PIPESTATUS[1]}; done; ls -A | grep pipe
1
141
1
141
1
141
? 1

# An interrupted run saves, and then ends by the signal. The state contains the lines that were printed.
$ rm out; exec 9<> feed; printf '1\n2\n3' >&9; bloomery dedup --state int.bly < feed > out 9>&- & job=$!
> until_true [ -s out ]; until_true waits $job; kill -TERM $job; wait $job; echo $?; cat out
> printf '1\n2\n3\n4\n' | bloomery dedup --state int.bly
143
1
2
3
4

# Fingerprints, in memory and on disk.
$ printf 'a\nb\n' | bloomery dedup --exact --state exact.fps
a
b
$ printf 'b\nc\n' | bloomery dedup --exact --state exact.fps
c
$ printf 'a\nb\nc\nd\n' | bloomery dedup --confirm exact.fps
d
$ printf 'd\ne\n' | bloomery dedup --exact --state exact.fps
e
$ printf 'd\ne\n' | bloomery dedup --state exact.fps
! bloomery dedup: exact.fps: contains fingerprints; use it with --exact or --confirm
? 2
$ printf 'd\ne\n' | bloomery dedup --confirm seen.bly
! bloomery dedup: seen.bly: a filter that was created without --exact and --confirm; leave out these options, or name another file
? 2
$ printf 'd\ne\n' | bloomery dedup --confirm .
! bloomery dedup: .: Is a directory
? 2
$ printf 'd\ne\n' | bloomery dedup --confirm missing/x
! bloomery dedup: missing/x: No such file or directory
? 2
$ printf 'a\nb\n' | bloomery dedup --confirm c.fps; printf 'b\nc\n' | bloomery dedup --confirm c.fps
a
b
c
$ printf 'b\n' | bloomery dedup --confirm c.fps -c
! bloomery dedup: --confirm cannot be combined with --count: it would remember lines in FILE without printing them
? 2
$ rm out; exec 9<> feed; printf 'x\n' >&9; bloomery dedup --confirm lock.fps < feed > out 9>&- & until_true [ -s out ]
> printf 'y\n' | bloomery dedup --confirm lock.fps; echo $?; exec 9>&-; wait
2
! bloomery dedup: lock.fps: another process is using this file; try again when it has finished

# Fingerprints on disk are settled every second or so, not only when many wait.
# The first command is for the test below: both have to wait for a second.
$ (mkfifo slow; exec 9<> slow; seq 200000 > lines; bloomery dedup --state slow.bly < lines > slow 9>&- & job=$!
>     until_true waits $job; kill -TERM $job; wait $job; echo $?) > slow.status 2> slow.notes &
> rm out; exec 9<> feed; printf 'x\n' >&9; bloomery dedup --confirm clock.fps < feed > out 9>&- & job=$!
> until_true grep -q x out; sleep 1.1; printf 'y\n' >&9; until_true grep -q y out; until_true waits $job
> kill -KILL $job; wait $job 2>/dev/null; cat out; echo; printf 'x\ny\nz\n' | bloomery dedup --confirm clock.fps; wait
x
y
\
z

# After a signal, a reader that does not read does not delay the end.
$ cat slow.status; cat slow.notes >&2
143
! bloomery dedup: standard output: Connection timed out

# With a limit on memory.
$ seq 100000 | bloomery dedup --exact --memory 16M -c
100000 lines, 100000 unique, 0 repeated
$ seq 1000000 | bloomery dedup --exact --memory 10M -c
! bloomery dedup: the limit of --memory is reached; give a larger one, or use --confirm FILE, which stores fingerprints on disk
? 2

# A short run with an overfull state reports how many lines it has dropped. (The estimate depends a little on the
# batches, which depend on luck where lines come from a pipe.)
$ seq 250000 >many; seq 9000001 9002000 >few
> bloomery dedup -q --state overfull.bly -n 100000 --seed 4 many >/dev/null
> bloomery dedup --state overfull.bly few | awk 'END { print 2000 - NR }'
162
! bloomery dedup: warning: the filter contains more keys than it was planned for: about 3,744 new lines were dropped, and the false-positive rate is now 7.83% (requested: 0.1%); name another file, and leave out -n
! bloomery dedup: warning: the filter contains more keys than it was planned for: about 161 new lines were dropped, and the false-positive rate is now 8.06% (requested: 0.1%); name another file, and leave out -n
