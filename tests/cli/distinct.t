# The number of different lines. A few lines are counted exactly.
$ printf 'a\nb\na\n' | bloomery distinct
2 distinct of 3 lines
$ printf 'a\n' > one; bloomery distinct one; : > empty; bloomery distinct empty; printf '\n\n' | bloomery distinct
1 distinct of 1 line
0 distinct of 0 lines
1 distinct of 2 lines
$ printf 'a\nb' | bloomery distinct - one
2 distinct of 3 lines

# More are estimated, with a range, which never exceeds the number of lines.
$ seq 100000 > many; (cat many; cat many) | bloomery distinct
99239 distinct (97661 to 100818 with 95% certainty) of 200000 lines, in 12.0 KiB of memory
$ bloomery distinct many
99239 distinct (97661 to 100000 with 95% certainty) of 100000 lines, in 12.0 KiB of memory
$ bloomery distinct many | cut -d ' ' -f 1
99239
$ bloomery distinct --json many | sed -E 's/"seconds":[0-9.e-]+/"seconds":S/'
{"distinct":99239,"low":97661,"high":100000,"error":0.008116888761044447,"lines":100000,"precision":14,"memory_bytes":12288,"seconds":S}

# The range contains the true number, for this number and for others.
$ for n in 100 1000 10000 100000 1000000; do seq $n | bloomery distinct --json | python3 -c "
> import json, sys
> d = json.load(sys.stdin)
> print($n, d['low'] <= $n <= d['high'], abs(d['distinct'] / $n - 1) < 4 * d['error'])"; done
100 True True
1000 True True
10000 True True
100000 True True
1000000 True True

# Precision and memory.
$ for e in 26% 0.1 1/100 0.8% 0.2%; do bloomery distinct --error $e --json many | grep -o '"error":0.0*..\|"precision.*bytes":[0-9]*' | tr '\n' ' '; echo; done
\"error":0.25 "precision":4,"memory_bytes":64\s
\"error":0.091 "precision":7,"memory_bytes":128\s
\"error":0.0081 "precision":14,"memory_bytes":12288\s
\"error":0.0081 "precision":14,"memory_bytes":12288\s
\"error":0.0020 "precision":18,"memory_bytes":196608\s
$ bloomery distinct -e 0.1% many
! bloomery distinct: --error cannot be 0.1%: the smallest possible error is 0.2% (--precision 18)
? 2
$ bloomery distinct --precision 18 many; bloomery distinct --precision 4 one
99779 distinct (99382 to 100000 with 95% certainty) of 100000 lines, in 192 KiB of memory
1 distinct of 1 line
$ bloomery distinct --precision 3 many
! bloomery distinct: --precision must be from 4 to 18
? 2
$ bloomery distinct --precision 19 many
! bloomery distinct: --precision must be from 4 to 18
? 2
$ bloomery distinct --precision 12 --error 1% many
! bloomery distinct: --error and --precision do the same; give only one
? 2

# Each input, and the total.
$ seq 1 600 > low; seq 401 1000 > high; bloomery distinct --each low high
597 distinct (587 to 600 with 95% certainty) of 600 lines: low
598 distinct (588 to 600 with 95% certainty) of 600 lines: high
997 distinct (981 to 1013 with 95% certainty) of 1200 lines, in 12.0 KiB of memory: total
$ bloomery distinct --each --json low high | sed -E 's/"seconds":[0-9.e-]+/"seconds":S/'
{"file":"low","total":false,"distinct":597,"low":587,"high":600,"error":0.008116888761044447,"lines":600,"precision":14,"memory_bytes":12288}
{"file":"high","total":false,"distinct":598,"low":588,"high":600,"error":0.008116888761044447,"lines":600,"precision":14,"memory_bytes":12288}
{"total":true,"distinct":997,"low":981,"high":1013,"error":0.008116888761044447,"lines":1200,"precision":14,"memory_bytes":12288,"seconds":S}
$ seq 3 | bloomery distinct --each; seq 3 | bloomery distinct --each one - empty one
3 distinct of 3 lines: -
3 distinct of 3 lines: total
1 distinct of 1 line: one
3 distinct of 3 lines: -
0 distinct of 0 lines: empty
1 distinct of 1 line: one
4 distinct of 5 lines: total
$ bloomery distinct --each one missing one; echo $?
1 distinct of 1 line: one
1 distinct of 1 line: one
1 distinct of 2 lines: total
2
! bloomery distinct: missing: No such file or directory

# An unreadable input is left out, and the exit status says so.
$ bloomery distinct one missing; echo $?
1 distinct of 1 line
2
! bloomery distinct: missing: No such file or directory

# What is compared.
$ printf 'HTTP://A.test/%%7Ex#f\nhttp://a.test/~x\nno url\n' > urls; bloomery distinct urls; bloomery distinct --url urls
3 distinct of 3 lines
2 distinct of 3 lines, 1 not a URL
$ printf 'http://a.test/?utm_source=x&b=1&a=2\nhttp://a.test/?a=2&b=1\n' | bloomery distinct --url=crawl
1 distinct of 2 lines
$ printf 'x http://a.test/1 y\nhttp://a.test/1 http://a.test/2\n' | bloomery distinct -x
2 distinct of 3 links
$ printf 'a\t1\nb\t1\nc\n' > fields; bloomery distinct --field 2 fields; printf 'a 1\nb 1\n' | bloomery distinct --field 2 -t ' '
2 distinct of 3 lines
1 distinct of 2 lines
$ bloomery distinct --field 2 --json fields | grep -o '"no_field":.'
"no_field":1
$ printf 'a\nA\n' | bloomery distinct -i; printf 'a\n\0b\0a\n\0' | bloomery distinct -0
1 distinct of 2 lines
2 distinct of 3 lines
$ bloomery distinct --url crawl
! bloomery distinct: there is no file 'crawl'; write --url=crawl to choose the level
? 2
$ bloomery distinct -x --field 1 urls
! bloomery distinct: --extract-urls and --field cannot be combined: links are extracted from the whole line
? 2
$ bloomery distinct -t x urls
! bloomery distinct: --delimiter needs --field
? 2

# Compressed files are decompressed.
$ seq 20 | gzip > z.gz; seq 15 25 | zstd -q > z.zst; bloomery distinct z.gz z.zst
25 distinct of 31 lines

# Across runs: a line that was counted is not counted again.
$ bloomery distinct --state days.bly low; bloomery distinct --state days.bly high; bloomery distinct -s days.bly empty
597 distinct (587 to 600 with 95% certainty) of 600 lines, in 12.0 KiB of memory
997 distinct (981 to 1013 with 95% certainty) of 600 lines and earlier runs, in 12.0 KiB of memory
997 distinct (981 to 1013 with 95% certainty) of 0 lines and earlier runs, in 12.0 KiB of memory
$ bloomery distinct -q --each -s both.bly low high | tail -1; cmp both.bly days.bly
997 distinct (981 to 1013 with 95% certainty) of 1200 lines, in 12.0 KiB of memory: total
$ bloomery info days.bly
days.bly
  kind       hll: an estimate of the number of distinct keys, in a few kilobytes
  shape      16,384 registers of 6 bits
  file       12.1 KiB (12,352 bytes)
  hash       xxh3, seed 0
  distinct   997 (981 to 1013 with 95% certainty)
  error      0.812%, the standard error
  note       it counts different keys, and cannot look them up
$ bloomery info --header days.bly | grep -e error -e distinct; bloomery info --json days.bly | grep -o '"distinct".*'
  kind       hll: an estimate of the number of distinct keys, in a few kilobytes
  error      0.812%, the standard error
"distinct":{"keys":997,"low":981,"high":1013,"error":0.008116888761044447}}
$ bloomery distinct -s days.bly --json one | grep -o '"lines":.*"before":[0-9]*'
"lines":1,"before":997
$ bloomery verify --measure days.bly
days.bly: good; it only counts keys, so it has no false-positive rate
$ : > begun; bloomery distinct -s begun one; bloomery distinct -s begun one
1 distinct of 1 line
1 distinct of 1 line and earlier runs

# Across machines.
$ bloomery distinct -s a.bly low; bloomery distinct -s b.bly high; bloomery merge -o c.bly a.bly b.bly; bloomery distinct -s c.bly empty
597 distinct (587 to 600 with 95% certainty) of 600 lines, in 12.0 KiB of memory
598 distinct (588 to 600 with 95% certainty) of 600 lines, in 12.0 KiB of memory
997 distinct (981 to 1013 with 95% certainty) of 0 lines and earlier runs, in 12.0 KiB of memory
! bloomery merge: c.bly: 2 filters merged, about 997 keys; standard error 0.812% (requested: 0.812%)
$ bloomery intersect --estimate a.bly b.bly
a.bly    597
b.bly    598
both     198
either   997
jaccard  0.198
$ bloomery intersect -o x.bly a.bly b.bly
! bloomery intersect: a.bly: hll filters cannot be intersected: the registers only give the number of keys, not which; the overlap of two can be estimated; these kinds can: classic, partitioned, sbbf, split512, bb2x512, counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
$ bloomery distinct -s coarse.bly --precision 10 high > /dev/null; bloomery merge -o x.bly a.bly coarse.bly
! bloomery merge: coarse.bly: differs from a.bly in its precision (10, not 14); only filters built with the same options can be merged
? 2
$ bloomery distinct -s seven.bly --seed 7 high > /dev/null; bloomery merge -o x.bly a.bly seven.bly
! bloomery merge: seven.bly: differs from a.bly in its seed (7, not 0); only filters built with the same options can be merged
? 2

# Options that contradict the state.
$ bloomery distinct -s a.bly --precision 12 one
! bloomery distinct: a.bly: was created with --precision 14, not 12; leave out --precision, or name another file
? 2
$ bloomery distinct -s a.bly --error 0.2% one
! bloomery distinct: a.bly: has a standard error of 0.812%, more than --error allows; leave out --error, or name another file
? 2
$ cp a.bly kept.bly; bloomery distinct -s a.bly --error 0.1% one; cmp a.bly kept.bly
! bloomery distinct: --error cannot be 0.1%: the smallest possible error is 0.2% (--precision 18)
$ bloomery distinct -s a.bly --error 1% --precision 14 one
! bloomery distinct: --error and --precision do the same; give only one
? 2
$ bloomery distinct -s a.bly --error 1% one
598 distinct (588 to 607 with 95% certainty) of 1 line and earlier runs, in 12.0 KiB of memory
$ bloomery distinct -s a.bly --seed 5 one
! bloomery distinct: a.bly: has a different seed; leave out --seed, or name another file
? 2
$ bloomery build -q -o list.bly low; bloomery distinct -s list.bly one
! bloomery distinct: list.bly: this is a split512 filter, not a state of bloomery distinct; use bloomery info to estimate its number of keys
? 2
$ head -c 100 a.bly > cut.bly; bloomery distinct -s cut.bly one; wc -c < cut.bly
100
! bloomery distinct: cut.bly: is cut short: it has 100 of 12352 bytes; copy it again
$ bloomery distinct -s missing/x.bly one
! bloomery distinct: missing/x.bly: No such file or directory
? 2
$ bloomery distinct -s . one
! bloomery distinct: .: Is a directory
? 2

# One run at a time.
$ mkfifo feed; exec 9<> feed; echo x >&9; bloomery distinct -s a.bly < feed > /dev/null 9>&- & until_true waits $!
> bloomery distinct -s a.bly one; echo $?; exec 9>&-; wait; ls -A | grep lock
2
! bloomery distinct: a.bly: another process is using this file; try again when it has finished
? 1

# A state is not a list; an error says so.
$ bloomery check a.bly one
! bloomery check: a.bly: is an hll filter, which only counts different lines; use bloomery info to see the number, or bloomery distinct --state to continue counting
? 2
$ bloomery dedup --state a.bly one
! bloomery dedup: a.bly: cannot be used as a state file, because it is an hll filter, which stores no lines (bloomery distinct counts with it); name another file
? 2
$ bloomery add a.bly one
! bloomery add: a.bly: not a list, but an hll filter, which only counts keys; add lines with bloomery distinct --state
? 2
$ bloomery remove a.bly one
! bloomery remove: a.bly: keys cannot be removed from an hll filter: it only counts keys; kinds that support removal: counting, multilayer, layered, overlay, hybrid, cuckoo, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery fold -o x.bly a.bly
! bloomery fold: a.bly: hll filters cannot be folded; these kinds can: classic, partitioned, sbbf, split512 and bb2x512
? 2
$ bloomery count --query --state a.bly one
! bloomery count: a.bly: hll filters do not count how often a key was added; these kinds do: counting, multilayer, layered, hybrid, cuckoo, counts, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery plan -n 1000 --kind hll
! bloomery plan: plan does not support kind hll (it estimates the number of keys, and cannot look them up); use bloomery distinct --state to create such a filter
? 2
$ bloomery bench --kinds hll
! bloomery bench: hll: only counts keys, so it has no lookups to measure; leave it out of --kinds
? 2

# A secret key, for untrusted input.
$ echo 000102030405060708090a0b0c0d0e0f > key; chmod 600 key; bloomery distinct --key-file key -s keyed.bly low; bloomery distinct -s keyed.bly low
596 distinct (586 to 600 with 95% certainty) of 600 lines, in 12.0 KiB of memory
! bloomery distinct: keyed.bly: is keyed; pass its key file (key id 09ab680398f0e1ae) with --key-file
? 2
$ bloomery distinct --key-file key -s keyed.bly low; bloomery distinct --key-file key --seed 3 low
596 distinct (586 to 605 with 95% certainty) of 600 lines and earlier runs, in 12.0 KiB of memory
! bloomery distinct: --key-file and --seed cannot be combined: the secret key replaces the seed
? 2
$ bloomery distinct --key-file key -s a.bly low
! bloomery distinct: a.bly: is not keyed; leave out --key-file
? 2
$ bloomery info keyed.bly | grep -v file
keyed.bly
  kind       hll: an estimate of the number of distinct keys, in a few kilobytes
  shape      16,384 registers of 6 bits
  hash       siphash with a secret key, whose id is 09ab680398f0e1ae
  distinct   596 (586 to 605 with 95% certainty)
  error      0.812%, the standard error
  note       it counts different keys, and cannot look them up

# A signal ends the reading; the result for the lines read so far is printed and saved.
$ rm -f sig.bly; exec 9<> feed; seq 50 >&9; bloomery distinct -s sig.bly < feed 9>&- & job=$!; until_true waits $job
> kill -TERM $job; wait $job; echo $?; bloomery distinct -s sig.bly empty
50 distinct (49 to 50 with 95% certainty) of 50 lines, in 12.0 KiB of memory
143
50 distinct (49 to 51 with 95% certainty) of 0 lines and earlier runs, in 12.0 KiB of memory
! bloomery distinct: stopped by a signal; the result covers the lines read so far

# If the result cannot be saved or printed, the run fails.
$ (ulimit -f 1; bloomery distinct -s big.bly --precision 18 many); ls -A | grep big
! bloomery distinct: big.bly: File too large
? 1
$ bloomery distinct many > /dev/full
! bloomery distinct: standard output: No space left on device
? 2

# User and password of an address are not printed, even if the address is given as a file; the rest is.
$ for name in redis://:pw@h/k redis://u:p/w@h/k 'redis://:p w@h/k' REDIS://:pw@h/k redis+unix://:pw@/s redis://h:1/k@x redis://u@h/k 'redis://[::1]:7/k@x' unix:///s@x redis://:PASSWORD@h/k; do seq 3 | bloomery distinct --state "$name"; done
! bloomery distinct: redis://h/k: No such file or directory
! bloomery distinct: redis://h/k: No such file or directory
! bloomery distinct: redis://h/k: No such file or directory
! bloomery distinct: REDIS://h/k: No such file or directory
! bloomery distinct: redis+unix:///s: No such file or directory
! bloomery distinct: redis://h:1/k@x: No such file or directory
! bloomery distinct: redis://u@h/k: No such file or directory
! bloomery distinct: redis://[::1]:7/k@x: No such file or directory
! bloomery distinct: unix:///s@x: No such file or directory
! bloomery distinct: redis://:PASSWORD@h/k: No such file or directory
? 2
$ seq 3 | bloomery distinct --state "redis://:$(head -c 5000 /dev/zero | tr '\0' x)@h/k"
! bloomery distinct: redis://
? 2
