# The recommended filter, its size and its rate.

$ bloomery plan -n 1e8 -p 0.1%
split512: 187 MiB for 100,000,000 keys, FPR 0.1% (1 in 1,000)
\
  kind                  size  bits/key  cache lines        FPR
* split512           187 MiB     15.72            1       0.1%
    A lookup reads one cache line, and no kind that reads one is smaller.
  cuckoo             161 MiB     13.54            2    0.0941%
    Keys can be removed, and a lookup reads two cache lines; smaller than a
    Bloom filter at rates below about 0.1%.
  classic            171 MiB     14.38           10       0.1%
    The smallest kind to which several threads can add at once, but a lookup
    reads a cache line per bit.
  bb2x512            174 MiB     14.63            2       0.1%
    A lookup reads two cache lines; hardly larger than classic at rates down to
    0.01%.
  scalable           195 MiB     16.37            1      0.08%
    Grows with its keys and keeps its rate, but takes more space, and a lookup
    reads one or two cache lines per level.
14 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of split512 is 3.16%.
$ bloomery plan -n 1e8 -p 0.1% --all
split512: 187 MiB for 100,000,000 keys, FPR 0.1% (1 in 1,000)
\
  kind                  size  bits/key  cache lines        FPR
* split512           187 MiB     15.72            1       0.1%
    A lookup reads one cache line, and no kind that reads one is smaller.
  cuckoo             161 MiB     13.54            2    0.0941%
    Keys can be removed, and a lookup reads two cache lines; smaller than a
    Bloom filter at rates below about 0.1%.
  classic            171 MiB     14.38           10       0.1%
    The smallest kind to which several threads can add at once, but a lookup
    reads a cache line per bit.
  bb2x512            174 MiB     14.63            2       0.1%
    A lookup reads two cache lines; hardly larger than classic at rates down to
    0.01%.
  scalable           195 MiB     16.37            1      0.08%
    Grows with its keys and keeps its rate, but takes more space, and a lookup
    reads one or two cache lines per level.
  partitioned        171 MiB     14.38           10       0.1%
    As small as classic, with one of a key's bits in each slice.
  sbbf               201 MiB     16.89            1       0.1%
    The fastest: a lookup reads half a cache line and tests it with one vector
    instruction.
  counting           686 MiB     57.51           10       0.1%
    Counters instead of classic's bits: keys can be removed, and repeats are
    counted, with 4-bit counters up to 15.
  multilayer         360 MiB     30.21            1       0.1%
    Keys can be removed, a lookup reads one cache line, and it is never full; it
    grows when keys repeat.
  layered            805 MiB     67.56            1       0.1%
    Keys can be removed, and lookups are as fast as sbbf's; its front can be
    shared as an sbbf filter.
  hybrid             211 MiB     17.71            2    0.0941%
    Keys can be removed, and added any number of times: counts are exact, and
    only keys added fifteen times or more take more space.
  growable-cuckoo    286 MiB     23.96            2  9.19e-05%
    Keys can be removed, and it doubles when full; each time it can still double
    costs one bit per key.
  scalable-cuckoo    174 MiB     14.58            2     0.047%
    Keys can be removed, and it grows by adding levels, so no add has to wait
    for a rehash; a lookup reads two cache lines per level.
  window            it forgets old keys
  overlay           it needs another filter as its base: plan that one
  fuse              all its keys must be known when it is built
  ribbon            all its keys must be known when it is built
  counts            it is only for counting how often keys are added
  hll               it estimates the number of keys, and cannot look them up
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of split512 is 3.16%.
$ bloomery plan -n 1M -p 1%
sbbf: 1.26 MiB for 1,000,000 keys, FPR 1% (1 in 100)
\
  kind                  size  bits/key  cache lines        FPR
* sbbf              1.26 MiB     10.53            1         1%
    The fastest kind: a lookup reads one cache line and tests it in one step;
    classic would save a tenth of the space (at 10% a fifth), but reads a cache
    line per bit.
  classic           1.14 MiB      9.59            7         1%
    The smallest kind to which several threads can add at once, but a lookup
    reads a cache line per bit.
  bb2x512           1.15 MiB      9.67            2         1%
    A lookup reads two cache lines; hardly larger than classic at rates down to
    0.01%.
  split512          1.20 MiB     10.10            1         1%
    The smallest of the kinds whose lookups read one cache line.
  cuckoo            1.24 MiB     10.42            2      0.75%
    Keys can be removed, and a lookup reads two cache lines; smaller than a
    Bloom filter at rates below about 0.1%.
  scalable          1.26 MiB     10.57            1       0.8%
    Grows with its keys and keeps its rate, but takes more space, and a lookup
    reads one or two cache lines per level.
13 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of sbbf is 15.3%.
$ bloomery plan -n 1M -p 1/100000
bb2x512: 3.01 MiB for 1,000,000 keys, FPR 0.001% (1 in 100,002)
\
  kind                  size  bits/key  cache lines        FPR
* bb2x512           3.01 MiB     25.27            2     0.001%
    A lookup reads two cache lines; the kinds that read one need 7% more space
    at 0.1%, a fifth more at 0.001%, and still more below that.
  cuckoo            2.48 MiB     20.83            2  0.000735%
    Keys can be removed, and a lookup reads two cache lines; smaller than a
    Bloom filter at rates below about 0.1%.
  classic           2.86 MiB     23.97           17     0.001%
    The smallest kind to which several threads can add at once, but a lookup
    reads a cache line per bit.
  scalable          3.08 MiB     25.82            2    0.0008%
    Grows with its keys and keeps its rate, but takes more space, and a lookup
    reads one or two cache lines per level.
  split512          3.58 MiB     30.01            1     0.001%
    The smallest of the kinds whose lookups read one cache line.
14 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of bb2x512 is 0.57%.

# 0.1% is the default; 1e6, 1M and 1000k are the same number.
$ for n in 1e6 1M 1000k 1000000; do bloomery plan -n $n | md5sum; done | uniq | wc -l
1
$ bloomery plan -n 1M | head -1
split512: 1.87 MiB for 1,000,000 keys, FPR 0.1% (1 in 1,000)

# Any two of keys, rate and memory determine the third, for every kind.
$ bloomery plan -m 64M -p 1%
sbbf: 64.0 MiB for 50,988,598 keys, FPR 1% (1 in 100)
\
  kind                   keys       size  bits/key  cache lines        FPR
* sbbf             50,988,598   64.0 MiB     10.53            1         1%
    The fastest kind: a lookup reads one cache line and tests it in one step;
    classic would save a tenth of the space (at 10% a fifth), but reads a cache
    line per bit.
  classic          55,965,125   64.0 MiB      9.59            7         1%
    The smallest kind to which several threads can add at once, but a lookup
    reads a cache line per bit.
  bb2x512          55,510,309   64.0 MiB      9.67            2         1%
    A lookup reads two cache lines; hardly larger than classic at rates down to
    0.01%.
  split512         53,159,181   64.0 MiB     10.10            1         1%
    The smallest of the kinds whose lookups read one cache line.
  cuckoo           51,539,590   64.0 MiB     10.42            2      0.75%
    Keys can be removed, and a lookup reads two cache lines; smaller than a
    Bloom filter at rates below about 0.1%.
  scalable         50,788,056   64.0 MiB     10.57            1       0.8%
    Grows with its keys and keeps its rate, but takes more space, and a lookup
    reads one or two cache lines per level.
13 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of sbbf is 15.3%.
$ bloomery plan -n 10M -m 16M
split512: 16.0 MiB for 10,000,000 keys, FPR 0.235% (1 in 425)
\
  kind                  size  bits/key  cache lines        FPR
* split512          16.0 MiB     13.42            1     0.235%
    A lookup reads one cache line, and no kind that reads one is smaller.
  classic           16.0 MiB     13.42            9     0.159%
    The smallest kind to which several threads can add at once, but a lookup
    reads a cache line per bit.
  bb2x512           16.0 MiB     13.42            2     0.177%
    A lookup reads two cache lines; hardly larger than classic at rates down to
    0.01%.
  cuckoo            14.9 MiB     12.50            2     0.188%
    Keys can be removed, and a lookup reads two cache lines; smaller than a
    Bloom filter at rates below about 0.1%.
  scalable          16.0 MiB     13.42            1     0.235%
    Grows with its keys and keeps its rate, but takes more space, and a lookup
    reads one or two cache lines per level.
14 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of split512 is 6.08%.
$ bloomery plan -n 1M -p 1% -m 1210K --all
bb2x512: 1.15 MiB for 1,000,000 keys, FPR 1% (1 in 100)
\
  kind                  size  bits/key  cache lines        FPR
* bb2x512           1.15 MiB      9.67            2         1%
    A lookup reads two cache lines; the kinds that read one need 7% more space
    at 0.1%, a fifth more at 0.001%, and still more below that.
  classic           1.14 MiB      9.59            7         1%
    The smallest kind to which several threads can add at once, but a lookup
    reads a cache line per bit.
  partitioned       1.14 MiB      9.59            7         1%
    As small as classic, with one of a key's bits in each slice.
  sbbf              it does not fit into --memory
  split512          it does not fit into --memory
  scalable          it does not fit into --memory
  window            it forgets old keys
  counting          it does not fit into --memory
  multilayer        it does not fit into --memory
  layered           it does not fit into --memory
  overlay           it needs another filter as its base: plan that one
  hybrid            it does not fit into --memory
  cuckoo            it does not fit into --memory
  fuse              all its keys must be known when it is built
  ribbon            all its keys must be known when it is built
  counts            it is only for counting how often keys are added
  hll               it estimates the number of keys, and cannot look them up
  growable-cuckoo   it does not fit into --memory
  scalable-cuckoo   it does not fit into --memory
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of bb2x512 is 12.9%.

# The needs determine the choice; for a kind that does not fit, the reason is printed.
$ bloomery plan -n 1M --grows
scalable: 3.94 MiB for 1,000,000 keys, FPR 0.0386% (1 in 2,594)
\
  kind                  size  bits/key  cache lines        FPR
* scalable          3.94 MiB     33.02            4    0.0386%
    More keys than expected can be added: it grows and keeps its rate, and
    adding a key again takes no space.
  scalable-cuckoo   3.13 MiB     26.25            8    0.0316%
    Keys can be removed, and it grows by adding levels, so no add has to wait
    for a rehash; a lookup reads two cache lines per level.
  growable-cuckoo   3.78 MiB     31.67            2  0.000919%
    Keys can be removed, and it doubles when full; each time it can still double
    costs one bit per key.
16 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
The figures are those after growing to 4 levels from a first level for 100,000
keys. A better first guess (--first) saves memory.
\
With twice as many keys as planned, the FPR of scalable is 0.0478%.
$ bloomery plan -n 1M --grows --first 1M | head -6
scalable: 2.49 MiB for 1,000,000 keys, FPR 0.015% (1 in 6,667)
\
  kind                  size  bits/key  cache lines        FPR
* scalable          2.49 MiB     20.92            1     0.015%
    More keys than expected can be added: it grows and keeps its rate, and
    adding a key again takes no space.
$ bloomery plan -n 1M -p 1% --smallest | head -6
classic: 1.14 MiB for 1,000,000 keys, FPR 1% (1 in 100)
\
  kind                  size  bits/key  cache lines        FPR
* classic           1.14 MiB      9.59            7         1%
    The smallest kind to which keys can be added one by one (cuckoo may be
    smaller if no key repeats), but a lookup reads a cache line per bit.
$ bloomery plan -n 1M -p 1% --shared --all | grep -e '^[* ] [a-z]'
  kind                  size  bits/key  cache lines        FPR
* sbbf              1.26 MiB     10.53            1         1%
  classic           1.14 MiB      9.59            7         1%
  partitioned       1.14 MiB      9.59            7         1%
  bb2x512           1.15 MiB      9.67            2         1%
  split512          1.20 MiB     10.10            1         1%
  scalable          several threads cannot add to it at once
  window            several threads cannot add to it at once
  counting          several threads cannot add to it at once
  multilayer        several threads cannot add to it at once
  layered           several threads cannot add to it at once
  overlay           it needs another filter as its base: plan that one
  hybrid            several threads cannot add to it at once
  cuckoo            several threads cannot add to it at once
  fuse              several threads cannot add to it at once
  ribbon            several threads cannot add to it at once
  counts            several threads cannot add to it at once
  hll               it estimates the number of keys, and cannot look them up
  growable-cuckoo   several threads cannot add to it at once
  scalable-cuckoo   several threads cannot add to it at once
$ bloomery plan -n 1M -p 1% --static | head -1
fuse: 973 KiB for 1,000,000 keys, FPR 0.781% (1 in 128)
$ bloomery plan -n 1M -p 1% --hostile-keys 2>/dev/null | tail -3
\
Untrusted keys must be hashed with siphash and a secret key. Otherwise an
attacker can find keys that are false positives.
$ bloomery plan -n 1M -p 1% --kind bb2x512 | grep -e recommends -e '^[* ] [a-z]'
  kind                  size  bits/key  cache lines        FPR
* bb2x512           1.15 MiB      9.67            2         1%
  classic           1.14 MiB      9.59            7         1%
  split512          1.20 MiB     10.10            1         1%
  cuckoo            1.24 MiB     10.42            2      0.75%
  sbbf              1.26 MiB     10.53            1         1%
  scalable          1.26 MiB     10.57            1       0.8%
Without --kind, the planner recommends sbbf.

# Keys are added and removed: fingerprint filters, with and without room to grow.
$ bloomery plan -n 1M --deletes --all
cuckoo: 1.61 MiB for 1,000,000 keys, FPR 0.0941% (1 in 1,063)
\
  kind                  size  bits/key  cache lines        FPR
* cuckoo            1.61 MiB     13.54            2    0.0941%
    Keys can be removed: it stores a fingerprint of each, so a remove does not
    affect other keys.
  scalable-cuckoo   1.74 MiB     14.58            2     0.047%
    Keys can be removed, and it grows by adding levels, so no add has to wait
    for a rehash; a lookup reads two cache lines per level.
  hybrid            2.11 MiB     17.71            2    0.0941%
    Keys can be removed, and added any number of times: counts are exact, and
    only keys added fifteen times or more take more space.
  growable-cuckoo   2.86 MiB     23.96            2  9.19e-05%
    Keys can be removed, and it doubles when full; each time it can still double
    costs one bit per key.
  multilayer        3.60 MiB     30.22            1       0.1%
    Keys can be removed, a lookup reads one cache line, and it is never full; it
    grows when keys repeat.
  counting          6.86 MiB     57.51           10       0.1%
    Counters instead of classic's bits: keys can be removed, and repeats are
    counted, with 4-bit counters up to 15.
  layered           8.05 MiB     67.56            1       0.1%
    Keys can be removed, and lookups are as fast as sbbf's; its front can be
    shared as an sbbf filter.
  classic           it cannot remove keys
  partitioned       it cannot remove keys
  sbbf              it cannot remove keys
  split512          it cannot remove keys
  bb2x512           it cannot remove keys
  scalable          it cannot remove keys
  window            it cannot remove keys
  overlay           it needs another filter as its base: plan that one
  fuse              it cannot remove keys
  ribbon            it cannot remove keys
  counts            it cannot remove keys
  hll               it estimates the number of keys, and cannot look them up
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
1,000,006 keys certainly fit. Soon after that the filter is full, and refuses
further keys.
$ bloomery plan -n 1M --deletes --grows
growable-cuckoo: 3.78 MiB for 1,000,000 keys, FPR 0.000919% (1 in 108,812)
\
  kind                  size  bits/key  cache lines        FPR
* growable-cuckoo   3.78 MiB     31.67            2  0.000919%
    Keys can be removed, and it doubles when full, so more keys than expected
    can be added.
  scalable-cuckoo   3.13 MiB     26.25            8    0.0316%
    Keys can be removed, and it grows by adding levels, so no add has to wait
    for a rehash; a lookup reads two cache lines per level.
17 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
The figures are those after growing from a capacity of 100,000 keys. The filter
can double 6 more times; each of these costs one bit per key until then.
\
With twice as many keys as planned, the FPR of growable-cuckoo is 0.00184%.
$ bloomery plan -n 1M --deletes --grows --first 1M | head -1
growable-cuckoo: 2.86 MiB for 1,000,000 keys, FPR 9.19e-05% (1 in 1,088,031)

# All keys are known in advance: kinds that are built from them.
$ bloomery plan -n 1M -p 1% --static
fuse: 973 KiB for 1,000,000 keys, FPR 0.781% (1 in 128)
\
  kind                  size  bits/key  cache lines        FPR
* fuse               973 KiB      7.97            3     0.781%
    All keys are known, so it is built from all of them at once: smaller than
    any Bloom filter (for many keys at 1% by a sixth), and a lookup reads three
    cache lines.
  ribbon             863 KiB      7.07            5     0.992%
    Built from all keys at once; for many keys the smallest kind: 5 to 7% above
    the lower bound for a million.
  bb2x512           1.15 MiB      9.67            2         1%
    A lookup reads two cache lines; hardly larger than classic at rates down to
    0.01%.
  split512          1.20 MiB     10.10            1         1%
    The smallest of the kinds whose lookups read one cache line.
15 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
Once the filter is built, no key can be added. To add keys, build it again from
all of them.
$ bloomery plan -n 1M -p 1% --static --smallest | head -6
ribbon: 863 KiB for 1,000,000 keys, FPR 0.992% (1 in 101)
\
  kind                  size  bits/key  cache lines        FPR
* ribbon             863 KiB      7.07            5     0.992%
    All keys are known, and no kind is smaller: 5 to 7% above the lower bound
    for a million keys.
$ bloomery plan -n 1M -p 1e-9 --static | head -1
ribbon: 3.81 MiB for 1,000,000 keys, FPR 9.9e-08% (1 in 1,010,571,248)
$ bloomery plan -n 1M -p 1e-9 --static --kind fuse
! bloomery plan: a false-positive rate of 1e-09 is too low for fuse; leave out --kind to see which kinds can reach it
? 2
$ bloomery plan -n 1M -p 1e-9 --static --all | grep -e fuse -e ribbon
ribbon: 3.81 MiB for 1,000,000 keys, FPR 9.9e-08% (1 in 1,010,571,248)
* ribbon            3.81 MiB     31.99           16   9.9e-08%
  fuse              it cannot reach so low a rate

# Old keys are forgotten: windows by number, and by time with the number of keys within it.
$ bloomery plan -p 1% --window=1M
window: 2.06 MiB for 1,000,000 keys, FPR 1% (1 in 100)
\
  kind                  size  bits/key  cache lines        FPR
* window            2.06 MiB     17.25            3         1%
    It forgets old keys automatically, and never a key that is still in the
    window.
18 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
The FPR is that of a full window, which never contains more keys.
$ bloomery plan -n 1M -p 1% --window | diff - <(bloomery plan -n 1M -p 1% --window=24h)
1c1,4
< window: 2.06 MiB for 1,000,000 keys, FPR 1% (1 in 100)
---
\> window: 2.06 MiB for 1,000,000 keys within 24h, FPR 1% (1 in 100)
\> bloomery dedup --window 24h needs about 5.96 MiB for as many lines: they may all
\> arrive at once, so each generation has room for all of them. This plan assumes
\> that keys arrive evenly.
12c15,16
< The FPR is that of a full window, which never contains more keys.
---
\> The FPR is that of a full window. If twice as many keys as planned come within
\> 24h, it is 32.7%.
? 1
$ bloomery plan -m 1M -p 1% --window | head -1
window: 1.00 MiB for 486,160 keys, FPR 1% (1 in 100)

# Plans that are not possible are refused, with what to do instead.
$ bloomery plan -n 1M --counts
hybrid: 2.11 MiB for 1,000,000 keys, FPR 0.0941% (1 in 1,063)
\
  kind                  size  bits/key  cache lines        FPR
* hybrid            2.11 MiB     17.71            2    0.0941%
    It counts exactly, however often a key is added, and at rates below 5% takes
    less than half the space of 4-bit counters.
  multilayer        3.60 MiB     30.22            1       0.1%
    Keys can be removed, a lookup reads one cache line, and it is never full; it
    grows when keys repeat.
  counting          6.86 MiB     57.51           10       0.1%
    Counters instead of classic's bits: keys can be removed, and repeats are
    counted, with 4-bit counters up to 15.
  counts            26.3 MiB    220.92            1       0.1%
    Estimates how often a key was added, for any number of keys.
15 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
1,000,006 keys certainly fit. Soon after that the filter is full, and refuses
further keys.
$ bloomery plan -n 1M --grows --shared
! bloomery plan: no kind of this version meets all of these needs; let one thread add all keys, or leave out --shared
? 2
$ bloomery plan -n 1M --deletes --shared
! bloomery plan: no kind of this version meets all of these needs; let one thread add all keys, or leave out --shared
? 2
$ bloomery plan -n 1M --window --grows
! bloomery plan: no kind of this version meets all of these needs; leave out --window, or the other needs
? 2
$ bloomery plan -n 1M --grows --kind sbbf
! bloomery plan: sbbf does not meet these needs: it does not grow; leave out --kind to see which kinds do
? 2
$ bloomery plan -n 1M --deletes --kind sbbf
! bloomery plan: sbbf does not meet these needs: it cannot remove keys; leave out --kind to see which kinds do
? 2
$ bloomery plan -n 1M --kind fuse --grows
! bloomery plan: fuse does not meet these needs: it does not grow; leave out --kind to see which kinds do
? 2
$ bloomery plan -n 1M --kind window --window --shared
! bloomery plan: no kind of this version meets all of these needs; let one thread add all keys, or leave out --shared
? 2
$ bloomery plan -n 1M --static --grows
! bloomery plan: --static cannot be combined with --grows, --window or --deletes: no key of a static filter is added or removed later
? 2
$ bloomery plan -n 1M --static --deletes
! bloomery plan: --static cannot be combined with --grows, --window or --deletes: no key of a static filter is added or removed later
? 2
$ bloomery plan -n 1M --kind stable
! bloomery plan: --kind: filter kind stable is no longer supported; use window instead
? 2
$ bloomery plan -n 1M --kind pigeon
! bloomery plan: --kind cannot be 'pigeon': it must be one of classic, partitioned, sbbf, split512, bb2x512, scalable, window, counting, multilayer, layered, overlay, hybrid, cuckoo, fuse, ribbon, counts, hll, growable-cuckoo, scalable-cuckoo
? 2
$ bloomery plan -n 1M --window=1M
! bloomery plan: --window=1M and --expect both give the number of keys; leave out --expect
? 2
$ bloomery plan -n 1M --window=often
! bloomery plan: --window cannot be 'often': it must be a number of keys, such as 1M, or a time: a whole number of seconds, minutes, hours or days, such as 90s, 15m, 24h, 7d
? 2
$ bloomery plan -p 1% --window=24h
! bloomery plan: give the number of keys (-n 1e8) or the memory (-m 64M)
? 2

# Invalid values are errors.
$ bloomery plan
! bloomery plan: give the number of keys (-n 1e8) or the memory (-m 64M)
? 2
$ bloomery plan -p 1%
! bloomery plan: give the number of keys (-n 1e8) or the memory (-m 64M)
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
! bloomery plan: the filter would need more than 32 TiB (2^48 bits), which is the maximum; split the keys among several filters, or allow a higher rate
? 2
$ for p in 0 1 2 -1 0% 100% nan inf '' 1/0; do bloomery plan -n 1000 -p "$p"; done
! bloomery plan: --rate cannot be '0': it must be above 0 and below 1 (100%)
! bloomery plan: --rate cannot be '1': it must be above 0 and below 1 (100%)
! bloomery plan: --rate cannot be '2': it must be above 0 and below 1 (100%)
! bloomery plan: --rate cannot be '-1': it must be above 0 and below 1
! bloomery plan: --rate cannot be '0%': it must be above 0 and below 1 (100%)
! bloomery plan: --rate cannot be '100%': it must be above 0 and below 1 (100%)
! bloomery plan: --rate cannot be 'nan': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
! bloomery plan: --rate cannot be 'inf': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
! bloomery plan: --rate cannot be '': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
! bloomery plan: --rate cannot be '1/0': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
? 2
$ bloomery plan -n 1000 -p 1e-13
! bloomery plan: a false-positive rate of 1e-13 is too low: the lowest is 2^-40, about 9.1e-13
? 2
$ bloomery plan -n 1M -p 0.01% --hash fnv1-32
! bloomery plan: fnv1-32 has only 32 bits, too few for 1,000,000 keys at a false-positive rate of 0.01% (it allows 42,949 keys); choose another --hash, such as xxh3
? 2
$ bloomery plan -n 1M -p 1% --hostile-keys --hash md5
! bloomery plan: --hostile-keys needs --hash siphash: md5 has no secret key, so an attacker can compute it
? 2
$ bloomery plan -n 1M -m 64K
! bloomery plan: 64.0 KiB of memory is too little; the minimum for 1,000,000 keys even at a rate of 50% is 176 KiB (classic)
? 2
$ bloomery plan -n 1M -p 1% -m 64K
! bloomery plan: 64.0 KiB of memory is too little; the minimum for 1,000,000 keys at a rate of 1% is 1.14 MiB (classic)
? 2
# If the plan does not fit, the error names a kind that is smaller, or one for keys that never change.
$ bloomery plan -n 10M -p 0.1% -m 17M
! bloomery plan: 17.0 MiB of memory is too little; the minimum for 10,000,000 keys at a rate of 0.1% is 17.1 MiB (classic), or 16.1 MiB with --kind cuckoo
? 2
$ bloomery plan -n 10M -p 0.1% -m 17M --kind cuckoo | head -1
cuckoo: 16.1 MiB for 10,000,000 keys, FPR 0.0941% (1 in 1,063)
$ bloomery plan -n 10M -p 0.1% -m 17M --kind classic
! bloomery plan: 17.0 MiB of memory is too little; the minimum for 10,000,000 keys at a rate of 0.1% is 17.1 MiB (classic), or 16.1 MiB with --kind cuckoo
? 2
$ bloomery plan -n 10M -p 0.1% -m 15M
! bloomery plan: 15.0 MiB of memory is too little; the minimum for 10,000,000 keys at a rate of 0.1% is 17.1 MiB (classic), or 12.6 MiB with --static, if no key is added later
? 2
$ bloomery plan -n 10M -p 0.1% -m 15M --static | head -1
fuse: 13.5 MiB for 10,000,000 keys, FPR 0.0977% (1 in 1,024)
$ bloomery plan -n 10M -p 0.1% -m 15M --plain
! bloomery plan: 15.0 MiB of memory is too little; the minimum for 10,000,000 keys at a rate of 0.1% is 18.7 MiB (split512)
? 2
$ bloomery plan -n 10M -p 0.1% -m 20M --window
! bloomery plan: 20.0 MiB of memory is too little; the minimum for 10,000,000 keys at a rate of 0.1% is 27.6 MiB (window)
? 2
$ bloomery plan -p 1% -m 10
! bloomery plan: 10 B of memory is too little; the minimum for 1 key at a rate of 1% is 64 B (classic)
? 2
$ bloomery plan -n 1M --first 10
! bloomery plan: --first needs --grows
? 2
$ bloomery plan -n 1M --grows --first 2M
! bloomery plan: --first cannot be more than --expect
? 2
$ bloomery plan -n 1M surplus
! bloomery plan: unexpected argument 'surplus'; see --help
? 2

# The chart: without a terminal only on request; drawn with the characters of the locale.
$ bloomery plan -n 1M | grep -c Dashed
0
? 1
$ bloomery plan -n 1M --plot | tail -n 25
Expected false-positive rate per lookup, by keys added. Dashed: 0.1% requested
for 1,000,000 keys.
\
   100% ┤                       ┊
        │                       ┊
        │                       ┊
    10% ┤                       ┊                                  ⢀⣀⣀⡠⠤⠤⠒⠒⠒⠊⠉⠉
        │                       ┊                          ⣀⣀⠤⠤⠒⠒⠊⠉⠁
        │                       ┊                   ⣀⡠⠤⠒⠒⠉⠉
        │                       ┊             ⢀⡠⠤⠒⠊⠉
     1% ┤                       ┊         ⣀⠤⠒⠉⠁
        │                       ┊     ⣀⠤⠒⠉
        │                       ┊ ⢀⡠⠒⠉
   0.1% ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈○○⡠⠒⠁┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
        │           ○○○○○○○○○⢀⠔⠉×××××××××××××××××××××××××××××××××××××××××××××××
        │      ○○○○○○      ⡠⠒⠁  ┊
        │   ○○○          ⢠⠊×    ┊
  0.01% ┤  ○○          ⢀⠔⠁      ┊
        │ ○           ⡠⠃        ┊
        │○○         ⢀⠜×         ┊
 0.001% ┤○         ⢀⠎×          ┊
        └┴───────────┴──────────┴───────────┴──────────┴───────────┴──────────┴
         0         500k        1M         1.5M        2M         2.5M        3M
\
         ⠶⠶ split512, classic, bb2x512   ○ cuckoo   × scalable
$ LC_ALL=C bloomery plan -n 1M -p 1% --plot | tail -n 25
Expected false-positive rate per lookup, by keys added. Dashed: 1% requested
for 1,000,000 keys.
\
   100% +                       :
        |                       :
        |                       :                                **************
        |                       :                      **********
    10% +                       :               *******
        |                       :          *****
        |                       :      ****
        |                       :  ****
     1% +-----------------------+**--------------------------------------------
        |                  ooo***xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        |           ooooooo **x :
        |       oooo      **x   :
        |    ooo        **x     :
   0.1% +   o          *x       :
        |  o         **x        :
        | o         *xx         :
        | o        *x           :
  0.01% + o        *x           :
        ++-----------+----------+-----------+----------+-----------+----------+
         0         500k        1M         1.5M        2M         2.5M        3M
\
         * sbbf, classic, bb2x512, split512   o cuckoo   x scalable
$ LC_ALL=C bloomery plan -n 1M -p 1% --grows --plot | tail -n 25
Expected false-positive rate per lookup, by keys added. Dashed: 1% requested
for 1,000,000 keys.
\
    10% +                       :
        |                       :
        |                       :
     1% +-----------------------+----------------------------------------------
        |                       :           ***********************************
        |       ****************************
        |   ****                :
   0.1% +  *                    :
        |  *                    :
        |  *                    :                           ooooooooooooooooooo
  0.01% +  *                    :  ooooooooooooooooooooooooo
        |  *          ooooooooooooo
        |  *    oooooo          :
        | *  ooo                :
 0.001% + *oo                   :
        | *                     :
        | *                     :
0.0001% + *                     :
        ++-----------+----------+-----------+----------+-----------+----------+
         0         500k        1M         1.5M        2M         2.5M        3M
\
         * scalable, scalable-cuckoo   o growable-cuckoo
# The curve of a kind ends where it accepts no more keys.
$ LC_ALL=C bloomery plan -n 1M -p 1% --kind cuckoo --plot | tail -n 25
Expected false-positive rate per lookup, by keys added. Dashed: 1% requested
for 1,000,000 keys.
\
   100% +                       :
        |                       :
        |                       :                               ooooooooooooooo
        |                       :                      ooooooooo
    10% +                       :               ooooooo
        |                       :          ooooo
        |                       :      oooo
        |                       :  oooo
     1% +-----------------------+oo--------------------------------------------
        |                  ******xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        |           ******* oox :
        |       ****      oox   :
        |    ***         ox     :
   0.1% +   *          ox       :
        |  *          ox        :
        | *          ox         :
        | *         x           :
  0.01% + *        ox           :
        ++-----------+----------+-----------+----------+-----------+----------+
         0         500k        1M         1.5M        2M         2.5M        3M
\
         * cuckoo   o classic, bb2x512, split512, sbbf   x scalable
$ LC_ALL=C bloomery plan -n 1M -p 1% --static --plot | tail -n 25
Expected false-positive rate per lookup, by keys added. Dashed: 1% requested
for 1,000,000 keys.
\
   100% +                       :
        |                       :
        |                       :                                    oooooooooo
        |                       :                         ooooooooooo
    10% +                       :                 oooooooo
        |                       :           oooooo
        |                       :      ooooo
        |                       :   ooo
     1% +-----------------------+ooo-------------------------------------------
        | ***********************
        | *                 oo  :
        | *               oo    :
        | *             oo      :
   0.1% + *           oo        :
        | *          o          :
        | *         o           :
        | *        o            :
  0.01% + *       o             :
        ++-----------+----------+-----------+----------+-----------+----------+
         0         500k        1M         1.5M        2M         2.5M        3M
\
         * fuse, ribbon   o bb2x512, split512
# The chart of a window by number ends at its number of keys; --all shows the same curves.
$ LC_ALL=C bloomery plan --window=1M --plot | tail -n 24
0.1% requested for 1,000,000 keys.
\
     1% +                                                                     :
        |                                                                     :
        |                                                                     :
        |                                                                     :
        |                                                                     :
        |                                                                     :
   0.1% +-------------------------------------------------------------------***
        |                                                               ****  :
        |                                                            ***      :
        |                                                         ***         :
        |                                                       **            :
  0.01% +                                                    ***              :
        |                                                  **                 :
        |                                               ***                   :
        |                                             **                      :
        |                                           **                        :
        |                                         **                          :
 0.001% +                                        *                            :
        ++-------------+-------------+------------+-------------+-------------+
         0           200k          400k         600k          800k           1M
\
         * window
$ diff <(bloomery plan -n 1M --plot | tail -n 23) <(bloomery plan -n 1M --plot --all | tail -n 23)
$ bloomery plan -n 1M --plot --all | grep -A1 Expected
Expected false-positive rate per lookup, by keys added. Dashed: 0.1% requested
for 1,000,000 keys. Only the kinds that are shown without --all have a curve.
$ bloomery plan -n 1M --plot=never | grep -c Dashed
0
? 1
$ bloomery plan -n 1M --color=always | head -1 | cat -v
^[[1msplit512^[[0m: 1.87 MiB for 1,000,000 keys, FPR 0.1% (1 in 1,000)

# As SVG; plan_charts.py checks the content.
$ bloomery plan -n 1M --svg rates.svg | head -1
split512: 1.87 MiB for 1,000,000 keys, FPR 0.1% (1 in 1,000)
$ bloomery plan -n 1M --svg rates.svg
! bloomery plan: rates.svg: already exists; use -f to replace it
? 2
$ bloomery plan -n 2M --svg rates.svg -f | head -1
split512: 3.75 MiB for 2,000,000 keys, FPR 0.1% (1 in 1,000)
$ grep -o 'planned for 2M keys' rates.svg
planned for 2M keys
$ bloomery plan -n 1M --svg - | sed -n '1p;$p'
<svg xmlns="http://www.w3.org/2000/svg" width="929" height="536" viewBox="0 0 929 536" role="img" aria-labelledby="title desc">
</svg>
$ bloomery plan -n 1M --svg none/rates.svg
! bloomery plan: none/rates.svg: No such file or directory
? 2

# JSON.
$ bloomery plan -n 1000 -p 1% --json >plan.json
$ python3 - <<'END'
> import json
> d = json.load(open('plan.json'))
> kinds = d.pop('kinds')
> print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in d.items()}, indent=1))
> for k in kinds:
>     print(k['kind'], k['fits'], k['shown'], k['chosen'], *([k['bytes'], k['cache_lines'], k['hashes'], '%.4f' % k['rate']] if k['fits'] else [k['reason']]))
> END
{
 "requested": {
  "keys": 1000,
  "rate": 0.01,
  "memory": null,
  "needs": []
 },
 "kind": "sbbf",
 "reason": "the fastest kind: a lookup reads one cache line and tests it in one step; classic would save a tenth of the space (at 10% a fifth), but reads a cache line per bit",
 "keyed": false,
 "keys": 1000,
 "bytes": 1344,
 "bits_per_key": 10.752,
 "cache_lines": 1,
 "hashes": 8,
 "size": 42,
 "hash_bits": 64,
 "rate": 0.009,
 "requested_rate": 0.01,
 "rate_at_twice_the_keys": 0.1431
}
classic True False False 1216 7 7 0.0100
partitioned True False False 1216 8 8 0.0098
sbbf True True True 1344 1 8 0.0090
split512 True True False 1280 1 8 0.0093
bb2x512 True True False 1216 2 6 0.0097
scalable True True False 1344 1 1 0.0073
window False False False it forgets old keys
counting True False False 4800 7 7 0.0100
multilayer True False False 2240 1 4 0.0092
layered True False False 5376 1 8 0.0090
overlay False False False it needs another filter as its base: plan that one
hybrid True False False 1920 2 9 0.0075
cuckoo True True False 1344 2 9 0.0075
fuse False False False all its keys must be known when it is built
ribbon False False False all its keys must be known when it is built
counts False False False it is only for counting how often keys are added
hll False False False it estimates the number of keys, and cannot look them up
growable-cuckoo True False False 2688 2 19 0.0000
scalable-cuckoo True False False 1344 2 1 0.0075
$ bloomery plan -n 1000 --deletes --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["kind"], d["max_keys"], d["rate_at_twice_the_keys"], d["requested"]["needs"])'
cuckoo 1000 None ['deletes']
$ bloomery plan -n 1000 --grows --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["kind"], d["first_keys"], [k["reason"] for k in d["kinds"] if not k["fits"]][0])'
scalable 100 it does not grow
$ bloomery plan -m 1M -n 1M --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["requested"], d["bytes"] <= 1 << 20, d["rate"] < 0.03)'
{'keys': 1000000, 'rate': None, 'memory': 1048576, 'needs': []} True True

# --window accepts its value with and without '='; the error lists the valid forms.
$ bloomery plan --window 2M --json | grep -o '^{"requested":{[^}]*}'
{"requested":{"keys":2000000,"rate":0.001,"memory":null,"needs":["window"]}
$ bloomery plan --window 2M more
! bloomery plan: unexpected argument 'more'; see --help
? 2
$ bloomery plan --window 3w -n 5
! bloomery plan: --window cannot be '3w': it must be a number of keys, such as 1M, or a time: a whole number of seconds, minutes, hours or days, such as 90s, 15m, 24h, 7d
? 2

# For a window by time, the memory of dedup --window is also printed.
$ bloomery plan --window 24h -n 1M | grep -v 'it does not'
window: 2.76 MiB for 1,000,000 keys within 24h, FPR 0.1% (1 in 1,000)
bloomery dedup --window 24h needs about 8.93 MiB for as many lines: they may all
arrive at once, so each generation has room for all of them. This plan assumes
that keys arrive evenly.
\
  kind                  size  bits/key  cache lines        FPR
* window            2.76 MiB     23.12            4       0.1%
    It forgets old keys automatically, and never a key that is still in the
    window.
18 more kinds: --all
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
The FPR is that of a full window. If twice as many keys as planned come within
24h, it is 12.4%.
$ bloomery plan --window 24h -n 1M --json | grep -o '^{"requested":{[^}]*}'
{"requested":{"keys":1000000,"rate":0.001,"memory":null,"window_seconds":86400,"needs":["window"]}

# Some kinds imply a need.
$ for kind in fuse ribbon window; do bloomery plan -n 1M --kind $kind | head -1; done
fuse: 1.36 MiB for 1,000,000 keys, FPR 0.0977% (1 in 1,024)
ribbon: 1.26 MiB for 1,000,000 keys, FPR 0.0992% (1 in 1,008)
window: 2.76 MiB for 1,000,000 keys, FPR 0.1% (1 in 1,000)
$ bloomery plan -n 1M --kind fuse --deletes
! bloomery plan: fuse does not meet these needs: it cannot remove keys; leave out --kind to see which kinds do
? 2
$ bloomery plan -n 1M --kind window --static
! bloomery plan: window does not meet these needs: it forgets old keys; leave out --kind to see which kinds do
? 2

# The smallest memory, at any rate.
$ bloomery plan -n 1M -m 1 --deletes
! bloomery plan: 1 B of memory is too little; the minimum for 1,000,000 keys even at a rate of 50% is 1017 KiB (cuckoo), or 438 KiB with --kind multilayer
? 2
$ bloomery plan -n 1M -p 1% --deletes --grows --first 1000 | tail -5
The figures are those after growing from a capacity of 1,000 keys. The filter
cannot double again.
\
1,030,219 keys certainly fit. Soon after that the filter is full, and refuses
further keys.

# Counters: how wide, and how often one reaches its limit.
$ bloomery plan -n 1M -p 1% --kind counting --counter-bits 2 | sed -n '1p; /A counter/,$p'
counting: 2.29 MiB for 1,000,000 keys, FPR 1% (1 in 100)
A counter of 2 bits that has reached 3 is stuck: it never decreases again. If
every key is added once, 1 in 26 counters is stuck. If a key is added 3 times,
all its counters are.
\
With twice as many keys as planned, the FPR of counting is 15.7%.
$ for bits in 2 4 8 16; do bloomery plan -n 1M -p 1% --kind counting --counter-bits $bits --json | python3 -c "
> import json, sys
> d = json.load(sys.stdin)
> print(d['counter_bits'], '%.1f %.1e' % (d['bits_per_key'], d['counter_overflow']), d['rate'] <= 0.01)"; done
2 19.2 3.8e-02 True
4 38.4 3.4e-15 True
8 76.7 0.0e+00 True
16 153.5 0.0e+00 True
$ bloomery plan -n 1M --kind counting --counter-bits 16 | grep -A 2 'A counter'
A counter of 16 bits that has reached 65535 is stuck: it never decreases again.
If every key is added once, no counter is ever stuck. If a key is added 65535
times, all its counters are.
$ bloomery plan -n 1M --kind hybrid --counter-bits 4
! bloomery plan: --counter-bits needs --kind counting
? 2
$ bloomery plan -n 1M -m 64M --kind counting --counter-bits 4
! bloomery plan: --counter-bits and --memory cannot be combined; use --expect and --rate
? 2
$ bloomery plan -n 1M --kind multilayer | tail -1
With twice as many keys as planned, the FPR of multilayer is 1.36%.

# Overlays and sketches that only count cannot be planned.
$ bloomery plan -n 1000 --kind overlay
! bloomery plan: plan does not support kind overlay (it needs another filter as its base: plan that one); use bloomery build --over to create such a filter
? 2
$ bloomery plan -n 1000 --kind hll
! bloomery plan: plan does not support kind hll (it estimates the number of keys, and cannot look them up); use bloomery distinct --state to create such a filter
? 2

# On a server without the module.
$ bloomery plan -n 10G -p 1% --plain
sbbf: 12.3 GiB for 10,000,000,000 keys, FPR 1% (1 in 100)
\
  kind           size  bits/key  cache lines        FPR
* sbbf       12.3 GiB     10.53            1         1%
    The fastest: a lookup reads half a cache line and tests it with one vector
    instruction.
  split512   11.8 GiB     10.10            1         1%
    The smallest of the kinds whose lookups read one cache line.
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of sbbf is 15.3%.
\
On a server the filter is 25 strings of 502 MiB each, 12.3 GiB in all. It needs
no module. In a cluster the strings are spread evenly over 25 slots.
$ bloomery plan -n 1M --plain --shards 3 --json
{"requested":{"keys":1000000,"rate":0.001,"memory":null,"needs":[]},"kind":"split512","reason":"the smallest of the kinds whose lookups read one cache line","keyed":false,"keys":1000000,"bytes":1965632,"bits_per_key":15.725056,"cache_lines":1,"hashes":8,"size":30713,"hash_bits":64,"rate":0.000999830723254392,"requested_rate":0.001,"rate_at_twice_the_keys":0.0316031376706533,"redis":{"shards":3,"shard_bytes":655360,"bytes":1966016},"kinds":[{"kind":"sbbf","fits":true,"shown":true,"chosen":false,"reason":"the fastest: a lookup reads half a cache line and tests it with one vector instruction","keys":1000000,"bytes":2111232,"bits_per_key":16.889856,"cache_lines":1,"hashes":8,"size":65976,"hash_bits":64,"rate":0.0009999799931886706,"requested_rate":0.001,"rate_at_twice_the_keys":0.026497258847654383},{"kind":"split512","fits":true,"shown":true,"chosen":true,"reason":"the smallest of the kinds whose lookups read one cache line","keys":1000000,"bytes":1965632,"bits_per_key":15.725056,"cache_lines":1,"hashes":8,"size":30713,"hash_bits":64,"rate":0.000999830723254392,"requested_rate":0.001,"rate_at_twice_the_keys":0.0316031376706533}]}
$ bloomery plan -n 1M -m 1M --plain
split512: 1.00 MiB for 1,000,000 keys, FPR 2.38% (1 in 42)
\
  kind           size  bits/key  cache lines        FPR
* split512   1.00 MiB      8.39            1      2.38%
    The smallest of the kinds whose lookups read one cache line.
  sbbf       1.00 MiB      8.39            1      2.73%
    The fastest: a lookup reads half a cache line and tests it with one vector
    instruction.
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of split512 is 28.3%.
\
On a server the filter is one string of 1.00 MiB. It needs no module.
$ bloomery plan -m 1G -p 1e-6 --plain --smallest
split512: 1.00 GiB for 220,170,562 keys, FPR 0.0001% (1 in 1,000,000)
\
  kind             keys       size  bits/key  cache lines        FPR
* split512  220,170,562   1.00 GiB     39.01            1    0.0001%
    The smallest of the kinds whose lookups read one cache line.
  sbbf      132,816,528   1.00 GiB     64.68            1    0.0001%
    The fastest: a lookup reads half a cache line and tests it with one vector
    instruction.
\
Cache lines: how many of them a lookup of a member reads. FPR: the expected
false-positive rate per lookup, when all keys have been added.
\
With twice as many keys as planned, the FPR of split512 is 0.0366%.
\
On a server the filter is 3 strings of 341 MiB each, 1.00 GiB in all. It needs
no module. In a cluster the strings are spread evenly over 3 slots.
$ bloomery plan -n 1M --shards 3
! bloomery plan: --shards needs --plain
? 2
$ bloomery plan -n 10G --plain --shards 3
! bloomery plan: the filter cannot be split into that number of strings: each has at least one block, and at most 512 MiB; leave out --shards
? 2
$ bloomery plan -n 1e13 --plain
! bloomery plan: the filter would need more than 4096 strings of 512 MiB; split the keys among several filters, or allow a higher rate
? 2
$ bloomery plan -n 1M --plain --window
! bloomery plan: --plain cannot be combined with --deletes, --grows, --static, --window or --counts, which need the Bloomery module; leave out --plain or the others
? 2
$ bloomery plan -n 1M --plain --kind cuckoo
! bloomery plan: --plain: a cuckoo filter needs the Bloomery module; without it, a server supports only sbbf and split512. Build it with --kind split512 (a state of dedup: with -n), or load the module (MODULE LOAD /PATH/TO/bloomery.so) and push the file
? 2
