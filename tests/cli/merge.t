# Union and intersection of filter files.

$ seq 1 600 | bloomery build -q -n 2000 -o a.bly; seq 401 1000 | bloomery build -q -n 2000 -o b.bly; seq 1 1000 | bloomery build -q -n 2000 -o all.bly
$ bloomery merge -o m.bly a.bly b.bly
! bloomery merge: m.bly: 2 filters merged, about 1,001 keys; false-positive rate per lookup 0.00163% (requested: 0.1%)

# The result is bit for bit the filter built from all keys at once.
$ tail -c +65 all.bly | sha256sum > bits; tail -c +65 m.bly | sha256sum | cmp - bits
$ seq 1000 | bloomery add m.bly
! bloomery add: m.bly: 0 of 1,000 keys new; now 1,001 keys (capacity: 2,000)

# One file is copied. A file may be given several times.
$ bloomery merge -f -o m.bly a.bly; cmp a.bly m.bly
! bloomery merge: m.bly: 1 filter merged, about 600 keys; false-positive rate per lookup 7.13e-05% (requested: 0.1%)
$ bloomery merge -f -o m.bly a.bly a.bly b.bly a.bly; tail -c +65 m.bly | sha256sum | cmp - bits
! bloomery merge: m.bly: 4 filters merged, about 1,001 keys; false-positive rate per lookup 0.00163% (requested: 0.1%)

# With -f, an input may be the output.
$ bloomery merge -o m.bly m.bly a.bly
! bloomery merge: m.bly: already exists; use -f to replace it
? 2
$ bloomery merge -f -q -o m.bly m.bly a.bly; tail -c +65 m.bly | sha256sum | cmp - bits

# To standard output, and as JSON.
$ bloomery merge -o - a.bly b.bly | tail -c +65 | sha256sum | cmp - bits
! bloomery merge: standard output: 2 filters merged, about 1,001 keys; false-positive rate per lookup 0.00163% (requested: 0.1%)
$ bloomery merge --json -o json.bly a.bly b.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"json.bly","from":["a.bly","b.bly"],"kind":"split512","size":62,"folded":false,"bytes":3968,"capacity":2000,"count":1001,"marks":0,"estimated_keys":1001.234,"rate_per_lookup_requested":0.001,"rate_per_lookup_current":1.632e-05,"approximate":false,"within_requested_rate":true}
$ bloomery merge --json -o - a.bly b.bly
! bloomery merge: --json and -o - both write to standard output; give only one
? 2

# The intersection contains every common key, and is reported as approximate.
$ bloomery intersect -o i.bly a.bly b.bly
! bloomery intersect: i.bly: 2 filters intersected, about 203 keys (approximate: a few of them may not be in all files); false-positive rate per lookup 4.3e-07% (requested: 0.1%)
$ seq 401 600 | bloomery add i.bly
! bloomery add: i.bly: 0 of 200 keys new; now 203 keys (capacity: 2,000)
$ bloomery info i.bly | grep note
  note       an intersection: it contains every common key, and perhaps some others
$ bloomery intersect --json -o json.bly -f a.bly b.bly all.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"json.bly","from":["a.bly","b.bly","all.bly"],"kind":"split512","size":62,"folded":false,"bytes":3968,"capacity":2000,"count":203,"marks":0,"estimated_keys":239.161,"rate_per_lookup_requested":0.001,"rate_per_lookup_current":4.296e-09,"approximate":true,"within_requested_rate":true}

# Only estimates.
$ bloomery intersect --estimate a.bly b.bly
a.bly    603
b.bly    601
both     203
either   1,001
jaccard  0.202
$ bloomery intersect --estimate --json a.bly b.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"files":["a.bly","b.bly"],"a":603.0198,"b":600.837,"both":202.623,"either":1001.234,"jaccard":0.202}
$ bloomery intersect --estimate $DATA/../golden/v1/good/classic-full-crc64.bly $DATA/../golden/v1/good/classic-full-crc64.bly | sed 's/.* //'
estimate
estimate
estimate
estimate
1.000

# Too many keys for the size: the result is written, with a warning.
$ for i in 0 1 2 3; do seq ${i}0000 ${i}0999 | bloomery build -q -n 1000 -o part$i.bly; done; bloomery merge -o full.bly part?.bly
! bloomery merge: full.bly: 4 filters merged, about 3,974 keys; false-positive rate per lookup 32.2% (requested: 0.1%)
! bloomery merge: warning: full.bly: too full: about 3,974 keys (capacity: 1,000); false-positive rate per lookup is now 32.2% (requested: 0.1%); build a larger filter
$ bloomery verify full.bly
full.bly: intact, but too full; false-positive rate 32.2% per line and per lookup (requested 0.1%)
! bloomery verify: warning: full.bly: too full: about 3,974 keys (capacity: 1,000); false-positive rate per lookup is now 32.2% (requested: 0.1%); build a larger filter
? 1
$ bloomery merge -o full.bly -q -f --json part0.bly part1.bly | grep -o '"within_requested_rate".*'
"within_requested_rate":false}
! bloomery merge: warning: full.bly: too full: about 1,988 keys (capacity: 1,000); false-positive rate per lookup is now 2.98% (requested: 0.1%); build a larger filter

# The error names the difference: kind, hash function, seed, bits per key, size.
$ seq 10 | bloomery build -q -n 2000 --kind classic -o classic.bly; bloomery merge -o x.bly a.bly classic.bly
! bloomery merge: classic.bly: differs from a.bly in its kind (classic, not split512); only filters built with the same options can be merged
? 2
$ seq 10 | bloomery build -q -n 2000 --hash murmur3 -o murmur.bly; bloomery merge -o x.bly a.bly b.bly murmur.bly
! bloomery merge: murmur.bly: differs from a.bly in its hash function (murmur3, not xxh3); only filters built with the same options can be merged
? 2
$ seq 10 | bloomery build -q -n 2000 --seed 7 -o seed.bly; bloomery merge -o x.bly a.bly seed.bly
! bloomery merge: seed.bly: differs from a.bly in its seed (7, not 0); only filters built with the same options can be merged
? 2
$ seq 10 | bloomery build -q -n 2000 --kind bb2x512 -o k8.bly; seq 10 | bloomery build -q -n 2000 --kind bb2x512 -p 1e-6 -o k14.bly; bloomery merge -o x.bly k8.bly k14.bly
! bloomery merge: k14.bly: differs from k8.bly in its bits per key (16, not 8); only filters built with the same options can be merged
? 2
$ seq 10 | bloomery build -q -n 3000 -o larger.bly; bloomery merge -o x.bly a.bly larger.bly
! bloomery merge: larger.bly: differs from a.bly in its size (93 blocks, not 62 blocks); use --fold to fold them to 31 blocks, with a false-positive rate per lookup of at least 0.00504%
? 2
$ bloomery intersect -o x.bly a.bly larger.bly
! bloomery intersect: larger.bly: differs from a.bly in its size (93 blocks, not 62 blocks); use --fold to fold them to 31 blocks, with a false-positive rate per lookup of at least 0.00504%
? 2
$ bloomery intersect --estimate a.bly larger.bly
! bloomery intersect: larger.bly: differs from a.bly in its size (93 blocks, not 62 blocks); use --fold to fold them to 31 blocks, with a false-positive rate per lookup of at least 0.00504%
? 2
$ ls x.bly
! ls: cannot access 'x.bly': No such file or directory
? 2

# Keyed filters are merged without their key, if they have the same.
$ echo 000102030405060708090a0b0c0d0e0f > 1.key; echo 100102030405060708090a0b0c0d0e0f > 2.key; chmod 600 *.key
$ seq 1 100 | bloomery build -q -n 200 --key-file 1.key -o k1.bly; seq 101 200 | bloomery build -q -n 200 --key-file 1.key -o k2.bly; seq 10 | bloomery build -q -n 200 --key-file 2.key -o k3.bly
$ bloomery merge -o k.bly k1.bly k2.bly; seq 200 | bloomery add --key-file 1.key k.bly
! bloomery merge: k.bly: 2 filters merged, about 200 keys; false-positive rate per lookup 0.0405% (requested: 0.1%)
! bloomery add: k.bly: 0 of 200 keys new; now 200 keys (capacity: 200)
$ bloomery merge -o x.bly k1.bly k3.bly
! bloomery merge: k3.bly: differs from k1.bly in its secret key (id 68977c85c458e015, not id 09ab680398f0e1ae); only filters built with the same options can be merged
? 2

# With --fold, filters whose sizes have a common divisor are folded.
$ cp $DATA/../golden/v1/good/{union,folded}-sbbf-fnv1a.bly .
$ bloomery merge -o x.bly union-sbbf-fnv1a.bly folded-sbbf-fnv1a.bly
! bloomery merge: folded-sbbf-fnv1a.bly: differs from union-sbbf-fnv1a.bly in its size (3 blocks, not 12 blocks); use --fold to fold them to 3 blocks, with a false-positive rate per lookup of at least 0.341%
? 2
$ bloomery merge --fold -o f.bly union-sbbf-fnv1a.bly folded-sbbf-fnv1a.bly; tail -c +65 f.bly | cmp - <(tail -c +65 folded-sbbf-fnv1a.bly)
! bloomery merge: union-sbbf-fnv1a.bly: folded by a factor of 4 to 3 blocks
! bloomery merge: f.bly: 2 filters merged, about 60 keys; false-positive rate per lookup 0.37% (requested: 1%)
$ bloomery merge --fold -f -o f.bly folded-sbbf-fnv1a.bly union-sbbf-fnv1a.bly; cmp f.bly folded-sbbf-fnv1a.bly
! bloomery merge: union-sbbf-fnv1a.bly: folded by a factor of 4 to 3 blocks
! bloomery merge: f.bly: 2 filters merged, about 60 keys; false-positive rate per lookup 0.37% (requested: 1%)
$ bloomery intersect --fold --estimate folded-sbbf-fnv1a.bly union-sbbf-fnv1a.bly
folded-sbbf-fnv1a.bly  60
union-sbbf-fnv1a.bly   60
both                   60
either                 60
jaccard                1.000
! bloomery intersect: union-sbbf-fnv1a.bly: folded by a factor of 4 to 3 blocks
$ seq 900 | bloomery build -q -p 1% -n 1000 --kind sbbf -o s1.bly; seq 90 | bloomery build -q -p 1% -n 1100 --kind sbbf -o s2.bly; bloomery merge -o x.bly s1.bly s2.bly
! bloomery merge: s2.bly: differs from s1.bly in its size (46 blocks, not 42 blocks), and the largest size that both can be folded to (2 blocks) is too small for their keys; build both with the same -n and -p
? 2

# Scalable filters are merged level by level, and cannot be intersected.
$ for i in 1 2; do seq ${i}0001 ${i}0500 | bloomery build -q --kind scalable -n 500 -o g$i.bly; done; seq 10501 11000 | bloomery add -q g1.bly
$ seq 10 | bloomery build -q --kind scalable -n 400 -o g3.bly; seq 10 | bloomery build -q --kind scalable -n 500 -p 1% -o g4.bly
$ bloomery merge -o g.bly g2.bly g1.bly; (seq 10001 11000; seq 20001 20500) | bloomery add g.bly
! bloomery merge: g.bly: 2 filters merged, about 1,500 keys; false-positive rate per lookup 2.51% (requested: 0.1%)
! bloomery merge: warning: g.bly: too full: about 1,505 keys (capacity: 1,500); false-positive rate per lookup is now 2.51% (requested: 0.1%); build a larger filter
! bloomery add: g.bly: 0 of 1,500 keys new; now 1,500 keys (capacity: 1,500)
! bloomery add: warning: g.bly: too full: about 1,505 keys (capacity: 1,500); false-positive rate per lookup is now 2.51% (requested: 0.1%); build a larger filter
$ bloomery merge -o x.bly g1.bly g3.bly
! bloomery merge: g3.bly: cannot be merged with g1.bly: their levels, growth or rates differ
? 2
$ bloomery merge -o x.bly g1.bly g4.bly
! bloomery merge: g4.bly: differs from g1.bly in its requested false-positive rate (1%, not 0.1%); only filters built with the same options can be merged
? 2
$ bloomery intersect -o x.bly g1.bly g2.bly
! bloomery intersect: g1.bly: scalable filters cannot be intersected: a common key may be in different levels of the two, and would be lost; these kinds can: classic, partitioned, sbbf, split512, bb2x512, counting, multilayer, layered, hybrid, cuckoo and growable-cuckoo
? 2
$ bloomery intersect --estimate g1.bly g2.bly
! bloomery intersect: g1.bly: scalable filters cannot be compared: the overlap of two filters of this kind cannot be estimated; these kinds can: classic, partitioned, sbbf, split512, bb2x512, counting, multilayer, layered, hybrid, cuckoo, counts, hll and growable-cuckoo
? 2

# Lists of different types.
$ echo 192.0.2.1 | bloomery build -q --type ip -n 200 -o ip.bly; echo 030123 | bloomery build -q --type phone -n 204 -o phone.bly; bloomery merge -o mixed.bly ip.bly phone.bly
! bloomery merge: phone.bly: differs from ip.bly in its type of keys (phone, not ip); only filters built with the same options can be merged
? 2
$ $DATA/unrecord.py ip.bly phone.bly; bloomery merge -o mixed.bly ip.bly phone.bly
! bloomery merge: warning: phone.bly: has keys of type phone, but ip.bly has keys of type ip, so no type fits all keys of the result; look lines up in it with bloomery check --type TYPE
! bloomery merge: mixed.bly: 2 filters merged, about 41 keys; false-positive rate per lookup 6.07e-06% (requested: 0.1%)
$ bloomery info mixed.bly | grep type
  type       unknown: keys of several types, or too many keys

# Input files with errors; the first error ends the command.
$ bloomery merge -o x.bly a.bly missing.bly
! bloomery merge: missing.bly: No such file or directory
? 2
$ bloomery merge -o x.bly a.bly .
! bloomery merge: .: Is a directory
? 2
$ bloomery merge -o x.bly a.bly 1.key
! bloomery merge: 1.key: is not a Bloomery filter
? 2
$ head -c 1000 b.bly > cut.bly; bloomery merge -o x.bly a.bly cut.bly
! bloomery merge: cut.bly: is cut short: it has 1000 of 4032 bytes; copy it again
? 2
$ cp b.bly flipped.bly; printf '\377' | dd of=flipped.bly bs=1 seek=1000 conv=notrunc status=none; bloomery merge -o x.bly a.bly flipped.bly
! bloomery merge: flipped.bly: is damaged (wrong checksum); copy it again from its source, or build it again
? 2
$ bloomery merge -o x.bly flipped.bly a.bly
! bloomery merge: flipped.bly: is damaged (wrong checksum); copy it again from its source, or build it again
? 2
$ ls x.bly
! ls: cannot access 'x.bly': No such file or directory
? 2

# Output files with errors.
$ bloomery merge -o a.bly b.bly all.bly
! bloomery merge: a.bly: already exists; use -f to replace it
? 2
$ bloomery merge -f -o . a.bly b.bly
! bloomery merge: .: Is a directory
? 2
$ bloomery merge -f -o /dev/full a.bly b.bly
! bloomery merge: /dev/full: is not a regular file
? 2
$ bloomery merge -o missing/x.bly a.bly b.bly
! bloomery merge: missing/x.bly: No such file or directory
? 2
$ bloomery merge -o /dev/null/x.bly a.bly b.bly
! bloomery merge: /dev/null/x.bly: Not a directory
? 2
$ bloomery merge -o /proc/x.bly a.bly b.bly
! bloomery merge: /proc/x.bly: No such file or directory
? 2
$ bloomery merge -o - a.bly b.bly > /dev/full
! bloomery merge: standard output: No space left on device
? 2
$ cp a.bly old.bly; (ulimit -f 1; bloomery merge -f -o old.bly a.bly b.bly); echo $?; cmp a.bly old.bly; ls -A | grep tmp
2
! bloomery merge: old.bly: File too large
? 1

$ bloomery merge
! bloomery merge: no filter files given; for example: bloomery merge -o ALL.bly A.bly B.bly
? 2
$ bloomery merge a.bly b.bly
! bloomery merge: no output file given; add -o ALL.bly
? 2
$ bloomery merge -o
! bloomery merge: --output needs a value: --output FILE
? 2
$ bloomery intersect a.bly b.bly
! bloomery intersect: no output file given; add -o BOTH.bly
? 2
$ bloomery intersect -o x.bly a.bly
! bloomery intersect: at least two filter files are needed: bloomery intersect -o BOTH.bly A.bly B.bly
? 2
$ bloomery intersect --estimate a.bly
! bloomery intersect: exactly two filter files are needed: bloomery intersect --estimate A.bly B.bly
? 2
$ bloomery intersect --estimate -o x.bly a.bly b.bly
! bloomery intersect: --estimate writes no filter; leave out -o
? 2

# A filter that matches nearly everything is not written.
$ for i in $(seq 9); do seq ${i}00001 ${i}01000 | bloomery build -q -n 1000 -o much$i.bly 2>/dev/null; done
$ bloomery merge -o much.bly much?.bly
! bloomery merge: much.bly: was not written, because its false-positive rate per lookup would be 91.2%; build each with -n for the keys of all files
? 2
$ seq 900 | bloomery build -q -p 1% -n 1000 --kind sbbf -o s1.bly -f; seq 90 | bloomery build -q -p 1% -n 1100 --kind sbbf -o s2.bly -f
$ bloomery merge --fold -o much.bly s1.bly s2.bly
! bloomery merge: s1.bly: folded by a factor of 21 to 2 blocks
! bloomery merge: s2.bly: folded by a factor of 23 to 2 blocks
! bloomery merge: much.bly: was not written, because its false-positive rate per lookup would be 100%; build each with -n for the keys of all files
? 2
$ cp $DATA/../golden/v1/good/classic-full-crc64.bly full-crc64.bly
$ bloomery intersect -o much.bly full-crc64.bly full-crc64.bly
! bloomery intersect: much.bly: was not written, because its false-positive rate per lookup would be 100%; build each with -n for the keys of all files
? 2
$ cp s1.bly kept.bly; bloomery merge --fold -f -o kept.bly s1.bly s2.bly; cmp kept.bly s1.bly
! bloomery merge: s1.bly: folded by a factor of 21 to 2 blocks
! bloomery merge: s2.bly: folded by a factor of 23 to 2 blocks
! bloomery merge: kept.bly: was not written, because its false-positive rate per lookup would be 100%; build each with -n for the keys of all files
$ ls much.bly
! ls: cannot access 'much.bly': No such file or directory
? 2

# If the reader has closed the pipe, nothing is reported; the process ends by SIGPIPE.
$ echo x | bloomery build -q -n 10 -o gone.bly; mkfifo gone; exec 8<> gone 9> gone 8<&-; bloomery merge -q -o - gone.bly gone.bly >&9; echo $?
141
