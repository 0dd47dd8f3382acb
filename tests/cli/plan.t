# Which filter, how large, how often wrong.

$ bloomery plan -n 1e8 -p 0.1%
split512: 187 MiB for 100,000,000 keys at a rate of 0.1% (1 in 1,000)
\
A query reads one cache line, as sbbf's does, but sbbf needs 5% more space at
0.4%, and ever more below.
\
  kind                    bytes             bits/key lines      rate
  classic           179,720,512    171 MiB     14.38    10      0.1%
  partitioned       179,720,576    171 MiB     14.38    10      0.1%
  sbbf              211,122,816    201 MiB     16.89     1      0.1%
* split512          196,557,568    187 MiB     15.72     1      0.1%
  bb2x512           182,838,272    174 MiB     14.63     2      0.1%
  scalable          204,673,472    195 MiB     16.37     1     0.08%
  counting          718,881,984    686 MiB     57.51    10      0.1%
  multilayer        377,565,568    360 MiB     30.21     1      0.1%
  layered           844,491,200    805 MiB     67.56     1      0.1%
  hybrid            221,354,304    211 MiB     17.71     2   0.0941%
  cuckoo            169,270,912    161 MiB     13.54     2   0.0941%
  growable-cuckoo   299,479,232    286 MiB     23.96     2 9.19e-05%
  scalable-cuckoo   182,291,712    174 MiB     14.58     2    0.047%
  window            it forgets old keys
  overlay           it lies over another filter: plan that one
  fuse              all its keys must be known when it is made
  ribbon            all its keys must be known when it is made
  counts            it is for counting how often keys come
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, split512 answers wrongly at 3.16%.
$ bloomery plan -n 1M -p 1%
sbbf: 1.26 MiB for 1,000,000 keys at a rate of 1% (1 in 100)
\
The fastest kind: a query reads one cache line and tests it at one stroke; the
smallest kind would save a tenth of the space, at high rates a fifth, and read a
line for each bit.
\
  kind                  bytes             bits/key lines      rate
  classic           1,199,168   1.14 MiB      9.59     7        1%
  partitioned       1,199,168   1.14 MiB      9.59     7        1%
* sbbf              1,316,160   1.26 MiB     10.53     1        1%
  split512          1,262,464   1.20 MiB     10.10     1        1%
  bb2x512           1,208,960   1.15 MiB      9.67     2        1%
  scalable          1,321,408   1.26 MiB     10.57     1      0.8%
  counting          4,796,480   4.57 MiB     38.37     7        1%
  multilayer        2,269,696   2.16 MiB     18.16     1    0.928%
  layered           5,264,640   5.02 MiB     42.12     1        1%
  hybrid            1,823,040   1.74 MiB     14.58     2     0.75%
  cuckoo            1,302,144   1.24 MiB     10.42     2     0.75%
  growable-cuckoo   2,604,224   2.48 MiB     20.83     2 0.000735%
  scalable-cuckoo   1,302,144   1.24 MiB     10.42     2     0.75%
  window            it forgets old keys
  overlay           it lies over another filter: plan that one
  fuse              all its keys must be known when it is made
  ribbon            all its keys must be known when it is made
  counts            it is for counting how often keys come
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, sbbf answers wrongly at 15.3%.
$ bloomery plan -n 1M -p 1/100000
bb2x512: 3.01 MiB for 1,000,000 keys at a rate of 0.001% (1 in 100,002)
\
A query reads two cache lines; the kinds that read one need 7% more space at
0.1%, a fifth more at 0.001%, and ever more below.
\
  kind                   bytes             bits/key lines      rate
  classic            2,995,840   2.86 MiB     23.97    17    0.001%
  partitioned        2,995,968   2.86 MiB     23.97    17    0.001%
  sbbf               5,123,328   4.89 MiB     40.99     1    0.001%
  split512           3,750,656   3.58 MiB     30.01     1    0.001%
* bb2x512            3,159,168   3.01 MiB     25.27     2    0.001%
  scalable           3,227,200   3.08 MiB     25.82     2   0.0008%
  counting          11,983,296   11.4 MiB     95.87    17    0.001%
  multilayer         7,233,024   6.90 MiB     57.86     1    0.001%
  layered           20,493,312   19.5 MiB    163.95     1    0.001%
  hybrid             3,125,120   2.98 MiB     25.00     2 0.000735%
  cuckoo             2,604,224   2.48 MiB     20.83     2 0.000735%
  growable-cuckoo    3,906,368   3.73 MiB     31.25     2 7.18e-07%
  scalable-cuckoo    2,604,224   2.48 MiB     20.83     2 0.000735%
  window            it forgets old keys
  overlay           it lies over another filter: plan that one
  fuse              all its keys must be known when it is made
  ribbon            all its keys must be known when it is made
  counts            it is for counting how often keys come
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, bb2x512 answers wrongly at 0.57%.

# 0.1% is the default; 1e6, 1M and 1000k are the same number.
$ for n in 1e6 1M 1000k 1000000; do bloomery plan -n $n | md5sum; done | uniq | wc -l
1
$ bloomery plan -n 1M | head -1
split512: 1.87 MiB for 1,000,000 keys at a rate of 0.1% (1 in 1,000)

# Any two give the third, for every kind.
$ bloomery plan -m 64M -p 1%
sbbf: 64.0 MiB for 50,988,598 keys at a rate of 1% (1 in 100)
\
The fastest kind: a query reads one cache line and tests it at one stroke; the
smallest kind would save a tenth of the space, at high rates a fifth, and read a
line for each bit.
\
  kind                    keys        bytes             bits/key lines      rate
  classic           55,965,125   67,108,864   64.0 MiB      9.59     7        1%
  partitioned       55,965,098   67,108,864   64.0 MiB      9.59     7        1%
* sbbf              50,988,598   67,108,864   64.0 MiB     10.53     1        1%
  split512          53,159,181   67,108,864   64.0 MiB     10.10     1        1%
  bb2x512           55,510,309   67,108,864   64.0 MiB      9.67     2        1%
  scalable          50,788,056   67,108,864   64.0 MiB     10.57     1      0.8%
  counting          13,991,281   67,108,864   64.0 MiB     38.37     7        1%
  multilayer        29,642,516   67,108,864   64.0 MiB     18.11     1    0.931%
  layered           12,747,150   67,108,864   64.0 MiB     42.12     1        1%
  hybrid            36,813,981   67,108,864   64.0 MiB     14.58     2     0.75%
  cuckoo            51,539,590   67,108,864   64.0 MiB     10.42     2     0.75%
  growable-cuckoo   25,769,788   67,108,864   64.0 MiB     20.83     2 0.000735%
  scalable-cuckoo   51,539,590   67,108,864   64.0 MiB     10.42     2     0.75%
  window            it forgets old keys
  overlay           it lies over another filter: plan that one
  fuse              all its keys must be known when it is made
  ribbon            all its keys must be known when it is made
  counts            it is for counting how often keys come
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, sbbf answers wrongly at 15.3%.
$ bloomery plan -n 10M -m 16M
split512: 16.0 MiB for 10,000,000 keys at a rate of 0.235% (1 in 425)
\
A query reads one cache line, as sbbf's does, but sbbf needs 5% more space at
0.4%, and ever more below.
\
  kind                   bytes             bits/key lines      rate
  classic           16,777,216   16.0 MiB     13.42     9    0.159%
  partitioned       16,777,152   16.0 MiB     13.42     9    0.159%
  sbbf              16,777,216   16.0 MiB     13.42     1    0.315%
* split512          16,777,216   16.0 MiB     13.42     1    0.235%
  bb2x512           16,777,216   16.0 MiB     13.42     2    0.177%
  scalable          16,777,216   16.0 MiB     13.42     1    0.235%
  counting          16,777,216   16.0 MiB     13.42     2     20.2%
  multilayer        16,777,216   16.0 MiB     13.42     1     2.88%
  layered           16,777,216   16.0 MiB     13.42     1     47.1%
  hybrid            15,625,088   14.9 MiB     12.50     2        3%
  cuckoo            15,625,088   14.9 MiB     12.50     2    0.188%
  scalable-cuckoo   15,625,088   14.9 MiB     12.50     2    0.188%
  window            it forgets old keys
  overlay           it lies over another filter: plan that one
  fuse              all its keys must be known when it is made
  ribbon            all its keys must be known when it is made
  counts            it is for counting how often keys come
  hll               it tells how many keys there are, not which
  growable-cuckoo   it does not fit into the memory
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, split512 answers wrongly at 6.08%.
$ bloomery plan -n 1M -p 1% -m 1210K
bb2x512: 1.15 MiB for 1,000,000 keys at a rate of 1% (1 in 100)
\
A query reads two cache lines; the kinds that read one need 7% more space at
0.1%, a fifth more at 0.001%, and ever more below.
\
  kind                  bytes             bits/key lines      rate
  classic           1,199,168   1.14 MiB      9.59     7        1%
  partitioned       1,199,168   1.14 MiB      9.59     7        1%
* bb2x512           1,208,960   1.15 MiB      9.67     2        1%
  sbbf              it does not fit into the memory
  split512          it does not fit into the memory
  scalable          it does not fit into the memory
  window            it forgets old keys
  counting          it does not fit into the memory
  multilayer        it does not fit into the memory
  layered           it does not fit into the memory
  overlay           it lies over another filter: plan that one
  hybrid            it does not fit into the memory
  cuckoo            it does not fit into the memory
  fuse              all its keys must be known when it is made
  ribbon            all its keys must be known when it is made
  counts            it is for counting how often keys come
  hll               it tells how many keys there are, not which
  growable-cuckoo   it does not fit into the memory
  scalable-cuckoo   it does not fit into the memory
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, bb2x512 answers wrongly at 12.9%.

# Needs: the choice follows them, and a kind that does not fit says why.
$ bloomery plan -n 1M --grows
scalable: 3.94 MiB for 1,000,000 keys at a rate of 0.0386% (1 in 2,594)
\
More keys may come than expected: it grows and keeps its rate, and adding a key
again costs nothing.
\
  kind                  bytes             bits/key lines      rate
* scalable          4,127,040   3.94 MiB     33.02     4   0.0386%
  growable-cuckoo   3,958,720   3.78 MiB     31.67     2 0.000919%
  scalable-cuckoo   3,281,664   3.13 MiB     26.25     8   0.0316%
  classic           it does not grow
  partitioned       it does not grow
  sbbf              it does not grow
  split512          it does not grow
  bb2x512           it does not grow
  window            it does not grow
  counting          it does not grow
  multilayer        it does not grow
  layered           it does not grow
  overlay           it lies over another filter: plan that one
  hybrid            it does not grow
  cuckoo            it does not grow
  fuse              it does not grow
  ribbon            it does not grow
  counts            it does not grow
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
It is shown as it is after growing from a first level for 100,000 keys to 4
levels. The better the first guess (--first), the less it takes.
\
With twice as many keys as planned, scalable answers wrongly at 0.0478%.
$ bloomery plan -n 1M --grows --first 1M | head -6
scalable: 2.49 MiB for 1,000,000 keys at a rate of 0.015% (1 in 6,667)
\
More keys may come than expected: it grows and keeps its rate, and adding a key
again costs nothing.
\
  kind                  bytes             bits/key lines      rate
$ bloomery plan -n 1M -p 1% --smallest | head -3
classic: 1.14 MiB for 1,000,000 keys at a rate of 1% (1 in 100)
\
No kind that takes keys as they come is smaller, unless every key comes once
$ bloomery plan -n 1M -p 1% --shared | tail -n +5 | head -9
line for each bit.
\
  kind                  bytes             bits/key lines      rate
  classic           1,199,168   1.14 MiB      9.59     7        1%
  partitioned       1,199,168   1.14 MiB      9.59     7        1%
* sbbf              1,316,160   1.26 MiB     10.53     1        1%
  split512          1,262,464   1.20 MiB     10.10     1        1%
  bb2x512           1,208,960   1.15 MiB      9.67     2        1%
  scalable          several threads cannot add to it at once
$ bloomery plan -n 1M -p 1% --static | head -1
fuse: 973 KiB for 1,000,000 keys at a rate of 0.781% (1 in 128)
$ bloomery plan -n 1M -p 1% --hostile-keys 2>/dev/null | tail -3
\
Strangers choose the keys: they must be hashed with siphash under a secret key,
or a stranger can find keys that are always taken for added ones.
$ bloomery plan -n 1M -p 1% --kind bb2x512 | head -4
bb2x512: 1.15 MiB for 1,000,000 keys at a rate of 1% (1 in 100)
\
Two cache lines per key, and hardly larger than classic. Left to itself, the
planner takes sbbf.

# Keys that come and go: fingerprints, with room to grow or without.
$ bloomery plan -n 1M --deletes
cuckoo: 1.61 MiB for 1,000,000 keys at a rate of 0.0941% (1 in 1,063)
\
Keys are removed: it holds a fingerprint of each, so that taking one out leaves
the others.
\
  kind                  bytes             bits/key lines      rate
  counting          7,188,864   6.86 MiB     57.51    10      0.1%
  multilayer        3,777,472   3.60 MiB     30.22     1      0.1%
  layered           8,444,928   8.05 MiB     67.56     1      0.1%
  hybrid            2,213,696   2.11 MiB     17.71     2   0.0941%
* cuckoo            1,692,800   1.61 MiB     13.54     2   0.0941%
  growable-cuckoo   2,994,880   2.86 MiB     23.96     2 9.19e-05%
  scalable-cuckoo   1,822,976   1.74 MiB     14.58     2    0.047%
  classic           it cannot remove keys
  partitioned       it cannot remove keys
  sbbf              it cannot remove keys
  split512          it cannot remove keys
  bb2x512           it cannot remove keys
  scalable          it cannot remove keys
  window            it cannot remove keys
  overlay           it lies over another filter: plan that one
  fuse              it cannot remove keys
  ribbon            it cannot remove keys
  counts            it cannot remove keys
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
It is sure to take 1,000,006 keys, and takes few more: then an add says that it
is full.
$ bloomery plan -n 1M --deletes --grows
growable-cuckoo: 3.78 MiB for 1,000,000 keys at a rate of 0.000919% (1 in 108,812)
\
Keys are removed and more may come than expected: it doubles when full, and
removing still works.
\
  kind                  bytes             bits/key lines      rate
* growable-cuckoo   3,958,720   3.78 MiB     31.67     2 0.000919%
  scalable-cuckoo   3,281,664   3.13 MiB     26.25     8   0.0316%
  classic           it cannot remove keys
  partitioned       it cannot remove keys
  sbbf              it cannot remove keys
  split512          it cannot remove keys
  bb2x512           it cannot remove keys
  scalable          it cannot remove keys
  window            it cannot remove keys
  counting          it does not grow
  multilayer        it does not grow
  layered           it does not grow
  overlay           it lies over another filter: plan that one
  hybrid            it does not grow
  cuckoo            it does not grow
  fuse              it cannot remove keys
  ribbon            it cannot remove keys
  counts            it cannot remove keys
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
It is shown as it is after growing from 100,000 keys, with room to double 6
times more, each of which costs a bit per key until then.
\
With twice as many keys as planned, growable-cuckoo answers wrongly at 0.00184%.
$ bloomery plan -n 1M --deletes --grows --first 1M | head -1
growable-cuckoo: 2.86 MiB for 1,000,000 keys at a rate of 9.19e-05% (1 in 1,088,031)

# All keys known: kinds that are built from them.
$ bloomery plan -n 1M -p 1% --static
fuse: 973 KiB for 1,000,000 keys at a rate of 0.781% (1 in 128)
\
All keys are known, so it is built from them at once: smaller than any Bloom
filter, for many keys at 1% by a fifth, and a query reads three cache lines.
\
  kind                  bytes             bits/key lines      rate
  classic           1,199,168   1.14 MiB      9.59     7        1%
  partitioned       1,199,168   1.14 MiB      9.59     7        1%
  sbbf              1,316,160   1.26 MiB     10.53     1        1%
  split512          1,262,464   1.20 MiB     10.10     1        1%
  bb2x512           1,208,960   1.15 MiB      9.67     2        1%
  scalable          1,321,408   1.26 MiB     10.57     1      0.8%
  counting          4,796,480   4.57 MiB     38.37     7        1%
  multilayer        2,269,696   2.16 MiB     18.16     1    0.928%
  layered           5,264,640   5.02 MiB     42.12     1        1%
  hybrid            1,823,040   1.74 MiB     14.58     2     0.75%
  cuckoo            1,302,144   1.24 MiB     10.42     2     0.75%
* fuse                996,544    973 KiB      7.97     3    0.781%
  ribbon              883,456    863 KiB      7.07     5    0.992%
  growable-cuckoo   2,604,224   2.48 MiB     20.83     2 0.000735%
  scalable-cuckoo   1,302,144   1.24 MiB     10.42     2     0.75%
  window            it forgets old keys
  overlay           it lies over another filter: plan that one
  counts            it is for counting how often keys come
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
It takes no other key once it is built; build it again from all of them.
$ bloomery plan -n 1M -p 1% --static --smallest | head -4
ribbon: 863 KiB for 1,000,000 keys at a rate of 0.992% (1 in 101)
\
All keys are known, and no kind is smaller: 6 to 9% above what is possible, for
many keys.
$ bloomery plan -n 1M -p 1e-9 --static | head -1
ribbon: 3.81 MiB for 1,000,000 keys at a rate of 9.9e-08% (1 in 1,010,571,248)
$ bloomery plan -n 1M -p 1e-9 --static --kind fuse
! bloomery plan: a rate of 1e-09 is too low for fuse; leave --kind out to see which kinds have it
? 2
$ bloomery plan -n 1M -p 1e-9 --static | grep -e fuse -e ribbon
ribbon: 3.81 MiB for 1,000,000 keys at a rate of 9.9e-08% (1 in 1,010,571,248)
* ribbon              3,998,592   3.81 MiB     31.99    16  9.9e-08%
  fuse              it cannot have so low a rate

# Old keys forgotten: by number, or by time with the keys that come within it.
$ bloomery plan -p 1% --window=1M
window: 2.06 MiB for 1,000,000 keys at a rate of 1% (1 in 100)
\
It forgets old keys by itself, and never one of the window.
\
  kind                  bytes             bits/key lines      rate
* window            2,156,288   2.06 MiB     17.25     3        1%
  classic           it does not forget old keys by itself
  partitioned       it does not forget old keys by itself
  sbbf              it does not forget old keys by itself
  split512          it does not forget old keys by itself
  bb2x512           it does not forget old keys by itself
  scalable          it does not forget old keys by itself
  counting          it does not forget old keys by itself
  multilayer        it does not forget old keys by itself
  layered           it does not forget old keys by itself
  overlay           it lies over another filter: plan that one
  hybrid            it does not forget old keys by itself
  cuckoo            it does not forget old keys by itself
  fuse              it does not forget old keys by itself
  ribbon            it does not forget old keys by itself
  counts            it does not forget old keys by itself
  hll               it tells how many keys there are, not which
  growable-cuckoo   it does not forget old keys by itself
  scalable-cuckoo   it does not forget old keys by itself
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
The rate is that of the window at its fullest. By time, with twice as many keys
within it as planned, window answers wrongly at 32.7%.
$ bloomery plan -n 1M -p 1% --window | diff - <(bloomery plan -n 1M -p 1% --window=24h)
1c1
< window: 2.06 MiB for 1,000,000 keys at a rate of 1% (1 in 100)
---
\> window: 2.06 MiB for 1,000,000 keys within 24h at a rate of 1% (1 in 100)
28a29,32
\>\s
\> The keys are taken to come evenly. bloomery dedup --window 24h, for 1,000,000
\> lines at 1%, takes about 5.96 MiB: lines may come all at once, and each of its
\> generations has room for all of them.
? 1
$ bloomery plan -m 1M -p 1% --window | head -1
window: 1.00 MiB for 486,160 keys at a rate of 1% (1 in 100)

# What this version cannot do is refused, with what to do instead.
$ bloomery plan -n 1M --counts
hybrid: 2.11 MiB for 1,000,000 keys at a rate of 0.0941% (1 in 1,063)
\
It counts exactly, however often a key comes, and in half of what counters of
four bits take.
\
  kind                   bytes             bits/key lines      rate
  counting           7,188,864   6.86 MiB     57.51    10      0.1%
  multilayer         3,777,472   3.60 MiB     30.22     1      0.1%
* hybrid             2,213,696   2.11 MiB     17.71     2   0.0941%
  counts            27,615,488   26.3 MiB    220.92     1      0.1%
  classic           it does not count how often a key was added
  partitioned       it does not count how often a key was added
  sbbf              it does not count how often a key was added
  split512          it does not count how often a key was added
  bb2x512           it does not count how often a key was added
  scalable          it does not count how often a key was added
  window            it does not count how often a key was added
  layered           it does not count how often a key was added
  overlay           it lies over another filter: plan that one
  cuckoo            it does not count how often a key was added
  fuse              it does not count how often a key was added
  ribbon            it does not count how often a key was added
  hll               it tells how many keys there are, not which
  growable-cuckoo   it does not count how often a key was added
  scalable-cuckoo   it does not count how often a key was added
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
It is sure to take 1,000,006 keys, and takes few more: then an add says that it
is full.
$ bloomery plan -n 1M --grows --shared
! bloomery plan: no kind of this version does all of that at once; let one thread add, or plan without --shared
? 2
$ bloomery plan -n 1M --deletes --shared
! bloomery plan: no kind of this version does all of that at once; let one thread add, or plan without --shared
? 2
$ bloomery plan -n 1M --window --grows
! bloomery plan: no kind of this version does all of that at once; plan without --window, or with it alone
? 2
$ bloomery plan -n 1M --grows --kind sbbf
! bloomery plan: sbbf does not do that: it does not grow; leave --kind out to see which kinds do
? 2
$ bloomery plan -n 1M --deletes --kind sbbf
! bloomery plan: sbbf does not do that: it cannot remove keys; leave --kind out to see which kinds do
? 2
$ bloomery plan -n 1M --kind fuse --grows
! bloomery plan: fuse does not do that: it does not grow; leave --kind out to see which kinds do
? 2
$ bloomery plan -n 1M --kind window --window --shared
! bloomery plan: no kind of this version does all of that at once; let one thread add, or plan without --shared
? 2
$ bloomery plan -n 1M --static --grows
! bloomery plan: --static says that no key is added or removed later; --grows, --window and --deletes say the opposite: choose one
? 2
$ bloomery plan -n 1M --static --deletes
! bloomery plan: --static says that no key is added or removed later; --grows, --window and --deletes say the opposite: choose one
? 2
$ bloomery plan -n 1M --kind stable
! bloomery plan: --kind: kind stable was removed; use window instead
? 2
$ bloomery plan -n 1M --kind pigeon
! bloomery plan: --kind cannot be 'pigeon': it must be one of classic, partitioned, sbbf, split512, bb2x512, scalable, window, counting, multilayer, layered, overlay, hybrid, cuckoo, fuse, ribbon, counts, hll, growable-cuckoo, scalable-cuckoo
? 2
$ bloomery plan -n 1M --window=1M
! bloomery plan: --window=1M says how many keys there are; leave out --expect, which goes with a time
? 2
$ bloomery plan -n 1M --window=often
! bloomery plan: --window cannot be 'often': it must be a number of keys, such as 1M, or a time: a whole number of seconds, minutes, hours or days, such as 90s, 15m, 24h, 7d
? 2
$ bloomery plan -p 1% --window=24h
! bloomery plan: say how many keys there will be (-n 1e8), or how much memory there is (-m 64M)
? 2

# Nonsense is refused in words.
$ bloomery plan
! bloomery plan: say how many keys there will be (-n 1e8), or how much memory there is (-m 64M)
? 2
$ bloomery plan -p 1%
! bloomery plan: say how many keys there will be (-n 1e8), or how much memory there is (-m 64M)
? 2
$ bloomery plan -n 0
! bloomery plan: --expect cannot be '0': it must be at least 1
? 2
$ bloomery plan -n -5
! bloomery plan: --expect cannot be '-5': it must be at least 1
? 2
$ bloomery plan -n many
! bloomery plan: --expect cannot be 'many': it must be a number such as 1000, 1e8, 100k, 50M or 2G
? 2
$ bloomery plan -n 1e15
! bloomery plan: --expect cannot be '1e15': it must be at most 2^48
? 2
$ bloomery plan -n 2e14 -p 1%
! bloomery plan: that would take more than 32 TiB (2^48 bits), which no filter can have; split the keys among several filters, or allow a higher rate
? 2
$ for p in 0 1 2 -1 0% 100% nan inf '' 1/0; do bloomery plan -n 1000 -p "$p"; done
! bloomery plan: --rate cannot be '0': it must lie strictly between 0 and 1 (0% and 100%)
! bloomery plan: --rate cannot be '1': it must lie strictly between 0 and 1 (0% and 100%)
! bloomery plan: --rate cannot be '2': it must lie strictly between 0 and 1 (0% and 100%)
! bloomery plan: --rate cannot be '-1': it must lie strictly between 0 and 1
! bloomery plan: --rate cannot be '0%': it must lie strictly between 0 and 1 (0% and 100%)
! bloomery plan: --rate cannot be '100%': it must lie strictly between 0 and 1 (0% and 100%)
! bloomery plan: --rate cannot be 'nan': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
! bloomery plan: --rate cannot be 'inf': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
! bloomery plan: --rate cannot be '': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
! bloomery plan: --rate cannot be '1/0': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
? 2
$ bloomery plan -n 1000 -p 1e-13
! bloomery plan: a rate of 1e-13 is too low: the lowest is 2^-40, about 9.1e-13
? 2
$ bloomery plan -n 1M -p 0.01% --hash fnv1-32
! bloomery plan: fnv1-32 has 32 bits, too few for 1,000,000 keys at a rate of 0.01%: it would do for 42,949 keys at most; choose a wider hash, such as xxh3
? 2
$ bloomery plan -n 1M -p 1% --hostile-keys --hash md5
! bloomery plan: --hostile-keys wants --hash siphash: md5 has no secret key, so anyone can compute it
? 2
$ bloomery plan -n 1M -m 64K
! bloomery plan: 64.0 KiB of memory is too little: for 1,000,000 keys, even at a rate of 50%, 176 KiB is the least (classic)
? 2
$ bloomery plan -n 1M -p 1% -m 64K
! bloomery plan: 64.0 KiB of memory is too little: for 1,000,000 keys at a rate of 1%, 1.14 MiB is the least (classic)
? 2
$ bloomery plan -p 1% -m 10
! bloomery plan: 10 B of memory is too little: for 1 key at a rate of 1%, 64 B is the least (classic)
? 2
$ bloomery plan -n 1M --first 10
! bloomery plan: --first goes with --grows
? 2
$ bloomery plan -n 1M --grows --first 2M
! bloomery plan: --first cannot be more than --expect
? 2
$ bloomery plan -n 1M surplus
! bloomery plan: 'surplus' is one word too many; try --help
? 2

# A drawing: none unless asked for when this is no terminal; in what the locale can show.
$ bloomery plan -n 1M | grep -c dashed
0
? 1
$ bloomery plan -n 1M --plot | tail -n 20
\
Rate of split512 by keys added; dashed: 0.1% promised for 1,000,000 keys
\
   100% ┤                       ┊
        │                       ┊
        │                       ┊                                       ⣀⣀⣀⣀⠤⠤⠤
    10% ┤                       ┊                           ⢀⣀⣀⠤⠤⠤⠒⠒⠒⠉⠉⠉
        │                       ┊                   ⣀⣀⠤⠤⠒⠒⠉⠉⠁
        │                       ┊            ⢀⣀⠤⠔⠒⠉⠉
     1% ┤                       ┊       ⣀⡠⠔⠒⠉⠁
        │                       ┊   ⣀⠤⠒⠉
   0.1% ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⢀⠤⠒⠉┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
        │                    ⢀⠤⠊⠁
        │                 ⢀⡠⠊⠁  ┊
  0.01% ┤               ⢀⠔⠁     ┊
        │             ⢀⠔⠁       ┊
        │            ⡠⠃         ┊
 0.001% ┤          ⢀⠎           ┊
        └┴───────────┴──────────┴───────────┴──────────┴───────────┴──────────┴
         0         500k        1M         1.5M        2M         2.5M        3M
$ LC_ALL=C bloomery plan -n 1M -p 1% --plot | tail -n 20
\
Rate of sbbf by keys added; dashed: 1% promised for 1,000,000 keys
\
   100% +                       :
        |                       :                                         *****
        |                       :                          ***************
    10% +                       :                 *********
        |                       :          *******
        |                       :     *****
        |                       : ****
     1% +----------------------***---------------------------------------------
        |                   *** :
        |                 **    :
   0.1% +               **      :
        |             **        :
        |            *          :
        |          **           :
  0.01% +          *            :
        ++-----------+----------+-----------+----------+-----------+----------+
         0         500k        1M         1.5M        2M         2.5M        3M
$ LC_ALL=C bloomery plan -n 1M -p 1% --grows --plot | tail -n 20
\
Rate of scalable by keys added; dashed: 1% promised for 1,000,000 keys
\
    10% +                       :
        |                       :
        |                       :
     1% +-----------------------+----------------------------------------------
        |                       :                                            **
        |       *************************************************************
        |   ****                :
   0.1% +   *                   :
        |  *                    :
        |  *                    :
  0.01% +  *                    :
        |  *                    :
        |  *                    :
        |  *                    :
 0.001% + *                     :
        ++-----------+----------+-----------+----------+-----------+----------+
         0         500k        1M         1.5M        2M         2.5M        3M
# The curve of a kind that takes no more keys ends.
$ LC_ALL=C bloomery plan -n 1M -p 1% --kind cuckoo --plot | tail -n 20
\
Rate of cuckoo by keys added; dashed: 1% promised for 1,000,000 keys
\
    10% +                       :
        |                       :
        |                       :
     1% +-----------------------+----------------------------------------------
        |                ********
        |         *******       :
        |     ****              :
   0.1% +   **                  :
        |  *                    :
        | *                     :
  0.01% + *                     :
        | *                     :
        | *                     :
        | *                     :
 0.001% + *                     :
        ++-----------+----------+-----------+----------+-----------+----------+
         0         500k        1M         1.5M        2M         2.5M        3M
$ LC_ALL=C bloomery plan -n 1M -p 1% --static --plot | tail -n 20
\
Rate of fuse by keys added; dashed: 1% promised for 1,000,000 keys
\
    10% +                       :
        |                       :
        |                       :
     1% +-----------------------+----------------------------------------------
        | ***********************
        | *                     :
        | *                     :
   0.1% + *                     :
        | *                     :
        | *                     :
  0.01% + *                     :
        | *                     :
        | *                     :
        | *                     :
 0.001% + *                     :
        ++-----------+----------+-----------+----------+-----------+----------+
         0         500k        1M         1.5M        2M         2.5M        3M
$ bloomery plan -n 1M --static --svg static.svg >/dev/null; python3 - <<'END'
> import re, xml.etree.ElementTree as tree
> root = tree.parse('static.svg').getroot()
> curves = [p for p in root if p.tag.endswith('path') and p.get('class') in ('curve', 'best') and 'h22' not in p.get('d')]
> for p in curves:
>     print(p.get('stroke'), p.get('stroke-dasharray'), 'ends at', round(float(re.split('[ML ]', p.get('d'))[-2])))
> END
\#c0562f none ends at 752
\#8a63c9 7 6 ends at 752
\#2f86c8 none ends at 752
\#2a9d6e none ends at 752
\#c2932a none ends at 752
\#c8508f none ends at 752
\#6b3fa0 2 8 ends at 752
\#1f6f5c none ends at 752
\#9c2f6a 3 6 ends at 752
\#b8860b 4 5 ends at 315
\#4f5fd0 none ends at 315
\#0f9aa8 3 4 ends at 315
\#d0473f 2 5 ends at 752
\#7a2f8f none ends at 752
\#a0703c none ends at 315
$ bloomery plan -n 1M --plot=never | grep -c dashed
0
? 1
$ bloomery plan -n 1M --color=always | head -1 | cat -v
^[[1msplit512^[[0m: 1.87 MiB for 1,000,000 keys at a rate of 0.1% (1 in 1,000)

# As a picture: a curve for each kind, in the legend and in the plot, and whole as XML.
$ bloomery plan -n 1M --svg rates.svg | head -1
split512: 1.87 MiB for 1,000,000 keys at a rate of 0.1% (1 in 1,000)
$ python3 - <<'END'
> import xml.etree.ElementTree as tree
> root = tree.parse('rates.svg').getroot()
> paths = [p for p in root if p.tag.endswith('path')]
> print(root.tag, sum(p.get('class') == 'curve' for p in paths), sum(p.get('class') == 'best' for p in paths))
> print(' '.join(t[0].text for t in root if t.tag.endswith('text') and len(t)))
> END
{http://www.w3.org/2000/svg}svg 24 2
split512 classic partitioned sbbf bb2x512 scalable counting multilayer layered hybrid cuckoo growable-cuckoo scalable-cuckoo
$ bloomery plan -n 1M --svg rates.svg
! bloomery plan: rates.svg: exists already; -f replaces it
? 2
$ bloomery plan -n 2M --svg rates.svg -f | head -1
split512: 3.75 MiB for 2,000,000 keys at a rate of 0.1% (1 in 1,000)
$ grep -o 'planned for 2M' rates.svg
planned for 2M
$ bloomery plan -n 1M --svg - | sed -n '1p;$p'
<svg xmlns="http://www.w3.org/2000/svg" width="852" height="582" viewBox="0 0 852 582">
</svg>
$ bloomery plan -n 1M --svg none/rates.svg
! bloomery plan: none/rates.svg: No such file or directory
? 2

# For programs.
$ bloomery plan -n 1000 -p 1% --json >plan.json
$ python3 - <<'END'
> import json
> d = json.load(open('plan.json'))
> kinds = d.pop('kinds')
> print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in d.items()}, indent=1))
> for k in kinds:
>     print(k['kind'], k['fits'], k['chosen'], *([k['bytes'], k['cache_lines'], k['hashes'], '%.4f' % k['rate']] if k['fits'] else [k['reason']]))
> END
{
 "asked": {
  "keys": 1000,
  "rate": 0.01,
  "memory": null,
  "needs": []
 },
 "kind": "sbbf",
 "reason": "the fastest kind: a query reads one cache line and tests it at one stroke; the smallest kind would save a tenth of the space, at high rates a fifth, and read a line for each bit",
 "keyed": false,
 "keys": 1000,
 "bytes": 1344,
 "bits_per_key": 10.752,
 "cache_lines": 1,
 "hashes": 8,
 "size": 42,
 "hash_bits": 64,
 "rate": 0.009,
 "promised_rate": 0.01,
 "rate_at_twice_the_keys": 0.1431
}
classic True False 1216 7 7 0.0100
partitioned True False 1216 8 8 0.0098
sbbf True True 1344 1 8 0.0090
split512 True False 1280 1 8 0.0093
bb2x512 True False 1216 2 6 0.0097
scalable True False 1344 1 1 0.0073
window False False it forgets old keys
counting True False 4800 7 7 0.0100
multilayer True False 2240 1 4 0.0092
layered True False 5376 1 8 0.0090
overlay False False it lies over another filter: plan that one
hybrid True False 1920 2 9 0.0075
cuckoo True False 1344 2 9 0.0075
fuse False False all its keys must be known when it is made
ribbon False False all its keys must be known when it is made
counts False False it is for counting how often keys come
hll False False it tells how many keys there are, not which
growable-cuckoo True False 2688 2 19 0.0000
scalable-cuckoo True False 1344 2 1 0.0075
$ bloomery plan -n 1000 --deletes --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["kind"], d["most_keys"], d["rate_at_twice_the_keys"], d["asked"]["needs"])'
cuckoo 1000 None ['deletes']
$ bloomery plan -n 1000 --grows --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["kind"], d["first_keys"], [k["reason"] for k in d["kinds"] if not k["fits"]][0])'
scalable 100 it does not grow
$ bloomery plan -m 1M -n 1M --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["asked"], d["bytes"] <= 1 << 20, d["rate"] < 0.03)'
{'keys': 1000000, 'rate': None, 'memory': 1048576, 'needs': []} True True

# --window takes its value either way, and says which values there are.
$ bloomery plan --window 2M --json | grep -o '^{"asked":{[^}]*}'
{"asked":{"keys":2000000,"rate":0.001,"memory":null,"needs":["window"]}
$ bloomery plan --window 2M more
! bloomery plan: 'more' is one word too many; try --help
? 2
$ bloomery plan --window 3w -n 5
! bloomery plan: --window cannot be '3w': it must be a number of keys, such as 1M, or a time: a whole number of seconds, minutes, hours or days, such as 90s, 15m, 24h, 7d
? 2

# Of a window by time it is told what dedup makes of it.
$ bloomery plan --window 24h -n 1M | grep -v 'it does not'
window: 2.76 MiB for 1,000,000 keys within 24h at a rate of 0.1% (1 in 1,000)
\
It forgets old keys by itself, and never one of the window.
\
  kind                  bytes             bits/key lines      rate
* window            2,889,792   2.76 MiB     23.12     4      0.1%
  overlay           it lies over another filter: plan that one
  hll               it tells how many keys there are, not which
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
The keys are taken to come evenly. bloomery dedup --window 24h, for 1,000,000
lines at 0.1%, takes about 8.93 MiB: lines may come all at once, and each of its
generations has room for all of them.
\
The rate is that of the window at its fullest. By time, with twice as many keys
within it as planned, window answers wrongly at 12.4%.
$ bloomery plan --window 24h -n 1M --json | grep -o '^{"asked":{[^}]*}'
{"asked":{"keys":1000000,"rate":0.001,"memory":null,"window_seconds":86400,"needs":["window"]}

# What a kind is for goes without saying.
$ for kind in fuse ribbon window; do bloomery plan -n 1M --kind $kind | head -1; done
fuse: 1.36 MiB for 1,000,000 keys at a rate of 0.0977% (1 in 1,024)
ribbon: 1.26 MiB for 1,000,000 keys at a rate of 0.0992% (1 in 1,008)
window: 2.76 MiB for 1,000,000 keys at a rate of 0.1% (1 in 1,000)
$ bloomery plan -n 1M --kind fuse --deletes
! bloomery plan: fuse does not do that: it cannot remove keys; leave --kind out to see which kinds do
? 2
$ bloomery plan -n 1M --kind window --static
! bloomery plan: window does not do that: it forgets old keys; leave --kind out to see which kinds do
? 2

# The least, at any rate.
$ bloomery plan -n 1M -m 1 --deletes
! bloomery plan: 1 B of memory is too little: for 1,000,000 keys, even at a rate of 50%, 1017 KiB is the least (cuckoo)
? 2
$ bloomery plan -n 1M -p 1% --deletes --grows --first 1000 | tail -5
\
It is shown as it is after growing from 1,000 keys, and cannot double any more.
\
It is sure to take 1,030,219 keys, and takes few more: then an add says that it
is full.

# Counters: how wide, and how often one reaches its limit.
$ bloomery plan -n 1M -p 1% --kind counting --counter-bits 2 | sed -n '1p; /A counter/,$p'
counting: 2.29 MiB for 1,000,000 keys at a rate of 1% (1 in 100)
A counter of 2 bits that has reached 3 stays there for good. With every key in
once, 1 in 26 counters does; a key that comes 3 times does it to all of its own.
\
With twice as many keys as planned, counting answers wrongly at 15.7%.
$ for bits in 2 4 8 16; do bloomery plan -n 1M -p 1% --kind counting --counter-bits $bits --json | python3 -c "
> import json, sys
> d = json.load(sys.stdin)
> print(d['counter_bits'], '%.1f %.1e' % (d['bits_per_key'], d['counter_overflow']), d['rate'] <= 0.01)"; done
2 19.2 3.8e-02 True
4 38.4 3.4e-15 True
8 76.7 0.0e+00 True
16 153.5 0.0e+00 True
$ bloomery plan -n 1M --kind counting --counter-bits 16 | grep -A 2 'A counter'
A counter of 16 bits that has reached 65535 stays there for good. With every key
in once, none does; a key that comes 65535 times does it to all of its own.
\
$ bloomery plan -n 1M --kind hybrid --counter-bits 4
! bloomery plan: --counter-bits goes with --kind counting
? 2
$ bloomery plan -n 1M -m 64M --kind counting --counter-bits 4
! bloomery plan: --counter-bits goes with a number of keys and a rate; leave out --memory
? 2
$ bloomery plan -n 1M --kind multilayer | tail -1
With twice as many keys as planned, multilayer answers wrongly at 1.36%.

# There is nothing to plan for a list over another, nor for a sketch that only counts.
$ bloomery plan -n 1000 --kind overlay
! bloomery plan: there is no plan for an overlay filter: it lies over another filter: plan that one; bloomery build --over makes one
? 2
$ bloomery plan -n 1000 --kind hll
! bloomery plan: there is no plan for an hll filter: it tells how many keys there are, not which; bloomery distinct --state makes one
? 2

# On a server that has no module.
$ bloomery plan -n 10G -p 1% --plain
sbbf: 12.3 GiB for 10,000,000,000 keys at a rate of 1% (1 in 100)
\
The fastest: half a cache line per key and one vector instruction to test it.
\
  kind                    bytes             bits/key lines      rate
* sbbf           13,161,543,680   12.3 GiB     10.53     1        1%
  split512       12,624,134,848   11.8 GiB     10.10     1        1%
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, sbbf answers wrongly at 15.3%.
\
On a server it is 25 strings of 502 MiB each, 12.3 GiB in all, which need no
module. In a cluster they lie in 25 slots, spread evenly.
$ bloomery plan -n 1M --plain --shards 3 --json
{"asked":{"keys":1000000,"rate":0.001,"memory":null,"needs":[]},"kind":"split512","reason":"one cache line per key, and smaller than sbbf","keyed":false,"keys":1000000,"bytes":1965632,"bits_per_key":15.725056,"cache_lines":1,"hashes":8,"size":30713,"hash_bits":64,"rate":0.000999830723254392,"promised_rate":0.001,"rate_at_twice_the_keys":0.0316031376706533,"redis":{"shards":3,"shard_bytes":655360,"bytes":1966016},"kinds":[{"kind":"sbbf","fits":true,"chosen":false,"reason":"the fastest: half a cache line per key and one vector instruction to test it","keys":1000000,"bytes":2111232,"bits_per_key":16.889856,"cache_lines":1,"hashes":8,"size":65976,"hash_bits":64,"rate":0.0009999799931886706,"promised_rate":0.001,"rate_at_twice_the_keys":0.026497258847654383},{"kind":"split512","fits":true,"chosen":true,"reason":"one cache line per key, and smaller than sbbf","keys":1000000,"bytes":1965632,"bits_per_key":15.725056,"cache_lines":1,"hashes":8,"size":30713,"hash_bits":64,"rate":0.000999830723254392,"promised_rate":0.001,"rate_at_twice_the_keys":0.0316031376706533}]}
$ bloomery plan -n 1M -m 1M --plain
split512: 1.00 MiB for 1,000,000 keys at a rate of 2.38% (1 in 42)
\
One cache line per key, and smaller than sbbf.
\
  kind               bytes             bits/key lines      rate
  sbbf           1,048,576   1.00 MiB      8.39     1     2.73%
* split512       1,048,576   1.00 MiB      8.39     1     2.38%
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, split512 answers wrongly at 28.3%.
\
On a server it is 1 string of 1.00 MiB, which needs no module.
$ bloomery plan -m 1G -p 1e-6 --plain --smallest
split512: 1.00 GiB for 220,170,562 keys at a rate of 0.0001% (1 in 1,000,000)
\
One cache line per key, and smaller than sbbf.
\
  kind                  keys           bytes             bits/key lines      rate
  sbbf           132,816,528   1,073,741,824   1.00 GiB     64.68     1   0.0001%
* split512       220,170,562   1,073,741,824   1.00 GiB     39.01     1   0.0001%
\
Lines are the cache lines that a query for a key that is there reads. The rate
is the share of keys never added that are taken for added ones, once all keys
are in.
\
With twice as many keys as planned, split512 answers wrongly at 0.0366%.
\
On a server it is 3 strings of 341 MiB each, 1.00 GiB in all, which need no
module. In a cluster they lie in 3 slots, spread evenly.
$ bloomery plan -n 1M --shards 3
! bloomery plan: --shards goes with --plain
? 2
$ bloomery plan -n 10G --plain --shards 3
! bloomery plan: it cannot be cut into that number of strings: one holds 512 MB at most, and a block at least; leave --shards out
? 2
$ bloomery plan -n 1e13 --plain
! bloomery plan: it would take more than 4096 strings of 512 MB; split the keys among several filters, or allow a higher rate
? 2
$ bloomery plan -n 1M --plain --window
! bloomery plan: on a server without a module a filter is plain bits: no key is removed, counted or forgotten, and it does not grow. Leave out --deletes, --grows, --static, --window and --counts; or leave out --plain, and use the module
? 2
$ bloomery plan -n 1M --plain --kind cuckoo
! bloomery plan: --plain: a cuckoo filter needs the Bloomery module; without it a server can hold sbbf and split512 alone. Build it with --kind split512; or load the module (MODULE LOAD /PATH/TO/bloomery.so), and push the file
? 2
