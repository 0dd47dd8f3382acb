# Making existing filters smaller.

$ cp $DATA/../golden/v1/good/{union-sbbf-fnv1a,folded-sbbf-fnv1a,partitioned-murmur3,classic-fnv1a,keyed-split512,classic-full-crc64,textbook-xxh64,split512-8-fnv1}.bly .

# By default the size is halved as often as the requested rate allows. The result is bit for bit a
# filter built at that size.
$ bloomery fold union-sbbf-fnv1a.bly -o small.bly; cmp small.bly folded-sbbf-fnv1a.bly
! bloomery fold: small.bly: folded by a factor of 4 from 384 B to 128 B; false-positive rate per lookup is 0.37% (before: 0.000199%)
$ bloomery fold --by 4 union-sbbf-fnv1a.bly -f -o small.bly; cmp small.bly folded-sbbf-fnv1a.bly
! bloomery fold: small.bly: folded by a factor of 4 from 384 B to 128 B; false-positive rate per lookup is 0.37% (before: 0.000199%)
$ bloomery fold --by 1 union-sbbf-fnv1a.bly -f -o small.bly; cmp small.bly union-sbbf-fnv1a.bly
! bloomery fold: union-sbbf-fnv1a.bly: copied unchanged, because of --by 1

# Every key is still there.
$ seq 1000 | bloomery build -q -n 17k --kind classic -o big.bly
$ bloomery fold big.bly -o little.bly
! bloomery fold: little.bly: folded by a factor of 16 from 29.9 KiB to 1.88 KiB; false-positive rate per lookup is 0.0631% (before: 1.07e-12%)
$ seq 1000 | bloomery add little.bly
! bloomery add: little.bly: 0 of 1,000 keys new; now 1,000 keys (capacity: 1,062)
$ bloomery fold little.bly -o less.bly; cmp little.bly less.bly
! bloomery fold: little.bly: copied unchanged, because a false-positive rate of 0.1% allows no smaller size; at half the size, it would be 4.21% per lookup

# Another rate, which becomes the requested one; --by goes further, and warns.
$ bloomery fold --rate 10% big.bly -f -o little.bly; bloomery info little.bly | grep -E 'shape|capacity  |rate'; bloomery verify little.bly
  shape      7,640 bits, 10 bits per key
  capacity   1,207 keys, 6.33 bits per key
  rate       10% requested, 4.25% expected, 4.24% current (1 in 24), per line and per lookup
little.bly: good; false-positive rate 4.24% per line and per lookup (requested 10%)
! bloomery fold: little.bly: folded by a factor of 32 from 29.9 KiB to 960 B; false-positive rate per lookup is 4.24% (before: 1.07e-12%)
$ seq 1000 | bloomery add -q little.bly
$ bloomery fold --rate 1e-6 big.bly -f -o little.bly; bloomery info little.bly | grep -E 'shape|capacity  |rate'
  shape      61,120 bits, 10 bits per key
  capacity   1,767 keys, 34.6 bits per key
  rate       0.0001% requested, 5.95e-07% expected, 5.95e-07% current (1 in 168,024,104), per line and per lookup
! bloomery fold: little.bly: folded by a factor of 4 from 29.9 KiB to 7.50 KiB; false-positive rate per lookup is 5.95e-07% (before: 1.07e-12%)
$ bloomery fold --by 64 big.bly -f -o little.bly
! bloomery fold: little.bly: folded by a factor of 64 from 29.9 KiB to 512 B; false-positive rate per lookup is 47.9% (before: 1.07e-12%)
! bloomery fold: warning: little.bly: too full: about 1,011 keys (capacity: 265); false-positive rate per lookup is now 47.9% (requested: 0.1%); build a larger filter

$ bloomery fold --by 3 folded-sbbf-fnv1a.bly -o third.bly
! bloomery fold: third.bly: folded by a factor of 3 from 128 B to 64 B; false-positive rate per lookup is 18.2% (before: 0.37%)
! bloomery fold: warning: third.bly: too full: about 52 keys (capacity: 26); false-positive rate per lookup is now 18.2% (requested: 1%); build a larger filter

# --by refuses a rate of 50% and more.
$ seq 1000 | bloomery build -q --foldable -n 17k -o foldable.bly; bloomery fold --by 176 foldable.bly -o least.bly
! bloomery fold: least.bly: was not written, because its false-positive rate per lookup would be 94.9%; fold it by a smaller factor
? 2
$ ls least.bly
! ls: cannot access 'least.bly': No such file or directory
? 2
$ bloomery fold foldable.bly -o least.bly; seq 1000 | bloomery check -c least.bly
1000
! bloomery fold: least.bly: folded by a factor of 16 from 33.0 KiB to 2.06 KiB; false-positive rate per lookup is 0.0578% (before: 1.61e-08%)

# As JSON, to standard output, and with --quiet.
$ bloomery fold --json -f big.bly -o little.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"little.bly","divisor":16,"size_before":244480,"size":15280,"bytes_before":30592,"bytes":1920,"capacity":1062,"rate_per_lookup_requested":0.001,"rate_per_lookup_before":1.0667e-14,"rate_per_lookup_current":0.000631,"within_requested_rate":true}
$ bloomery fold -q big.bly -o - | cmp - little.bly
$ bloomery fold --json big.bly -o -
! bloomery fold: --json and -o - both write to standard output; give only one
? 2

# A keyed filter is folded without its key, but then keeps its requested rate.
$ bloomery fold keyed-split512.bly -o keyed.bly --by 2; bloomery info keyed.bly | grep -E 'shape|hash'
  shape      2 blocks, 8 bits per key
  hash       siphash with a secret key, whose id is 09ab680398f0e1ae
! bloomery fold: keyed.bly: folded by a factor of 2 from 256 B to 128 B; false-positive rate per lookup is 0.0119% (before: 0.000203%)
$ bloomery fold keyed-split512.bly -f -o keyed.bly --rate 2%; bloomery info keyed.bly | grep -E 'shape|rate'
  shape      1 block, 8 bits per key
  rate       1% requested, 0.693% expected, 0.68% current (1 in 147), per lookup
  note       rate per line and number of marks: unknown without its key; use --key-file
! bloomery fold: warning: keyed.bly: --rate could not be recorded, so the requested rate of the file is unchanged
! bloomery fold: keyed.bly: folded by a factor of 4 from 256 B to 64 B; false-positive rate per lookup is 0.68% (before: 0.000203%)

# Filters that cannot be folded.
$ bloomery fold textbook-xxh64.bly -o x.bly
! bloomery fold: textbook-xxh64.bly: cannot be folded by a factor of 2, which does not divide its size (1,031 bits); it was not built with --foldable; use bloomery build --foldable to build one that can
? 2
$ bloomery fold folded-sbbf-fnv1a.bly -o x.bly
! bloomery fold: folded-sbbf-fnv1a.bly: cannot be folded by a factor of 2, which does not divide its size (3 blocks); use --by 3 for a false-positive rate of 18.2% per lookup
? 2
$ bloomery fold classic-full-crc64.bly -o x.bly
! bloomery fold: classic-full-crc64.bly: cannot be folded by a factor of 2, which does not divide its size (65 bits); it was not built with --foldable; use bloomery build --foldable to build one that can
? 2
$ bloomery fold partitioned-murmur3.bly -o x.bly
! bloomery fold: partitioned-murmur3.bly: cannot be folded by a factor of 2, which would leave a size that its kind cannot have (slices of 192 bits); use --by 3 for a false-positive rate of 0.457% per lookup
? 2
$ bloomery fold classic-fnv1a.bly -o x.bly --by 3
! bloomery fold: classic-fnv1a.bly: cannot be folded by a factor of 3, which does not divide its size (1,000 bits); use --by 2 for a false-positive rate of 0.272% per lookup
? 2
$ bloomery fold classic-fnv1a.bly -o x.bly --by 20
! bloomery fold: classic-fnv1a.bly: cannot be folded by a factor of 20, which would leave a size that its kind cannot have (1,000 bits); use --by 2 for a false-positive rate of 0.272% per lookup
? 2
$ bloomery fold split512-8-fnv1.bly -o x.bly --by 1000000
! bloomery fold: split512-8-fnv1.bly: cannot be folded by a factor of 1000000, which does not divide its size (3 blocks); use --by 3 for a false-positive rate of 0.722% per lookup
? 2
# The message recommends only a factor that is accepted: with 7, every second key would match.
$ seq 200 | bloomery build -q -o seven.bly; bloomery fold seven.bly -o x.bly
! bloomery fold: seven.bly: cannot be folded by a factor of 2, which does not divide its size (7 blocks); it was not built with --foldable; use bloomery build --foldable to build one that can
? 2
$ bloomery fold seven.bly -o x.bly --by 7
! bloomery fold: x.bly: was not written, because its false-positive rate per lookup would be 65.8%; fold it by a smaller factor
? 2
$ seq 3 | bloomery build -q -o one.bly; bloomery fold one.bly -o x.bly --by 3
! bloomery fold: one.bly: cannot be folded by a factor of 3, which does not divide its size (1 block); it has the smallest size already
? 2
$ seq 10 | bloomery build -q --kind scalable -o grows.bly; bloomery fold grows.bly -o x.bly
! bloomery fold: grows.bly: scalable filters cannot be folded; these kinds can: classic, partitioned, sbbf, split512 and bb2x512
? 2

# Input and output files with errors.
$ bloomery fold missing.bly -o x.bly
! bloomery fold: missing.bly: No such file or directory
? 2
$ bloomery fold . -o x.bly
! bloomery fold: .: Is a directory
? 2
$ head -c 100 big.bly > cut.bly; bloomery fold cut.bly -o x.bly
! bloomery fold: cut.bly: is cut short: it has 100 of 30656 bytes; copy it again
? 2
$ cp big.bly flipped.bly; printf '\377' | dd of=flipped.bly bs=1 seek=1000 conv=notrunc status=none; bloomery fold flipped.bly -o x.bly
! bloomery fold: flipped.bly: is damaged (wrong checksum); copy it again from its source, or build it again
? 2
$ bloomery fold big.bly -o little.bly
! bloomery fold: little.bly: already exists; use -f to replace it
? 2
$ bloomery fold big.bly -o missing/x.bly
! bloomery fold: missing/x.bly: No such file or directory
? 2
$ (ulimit -f 1; bloomery fold --by 2 big.bly -o x.bly); echo $?; ls -A | grep -E 'x.bly|tmp'
2
! bloomery fold: x.bly: File too large
? 1

$ bloomery fold
! bloomery fold: exactly one filter file is needed: bloomery fold LIST.bly -o SMALLER.bly
? 2
$ bloomery fold a.bly b.bly -o x.bly
! bloomery fold: exactly one filter file is needed: bloomery fold LIST.bly -o SMALLER.bly
? 2
$ bloomery fold big.bly
! bloomery fold: no output file given; add -o SMALLER.bly
? 2
$ bloomery fold big.bly -o x.bly --by 2 --rate 1%
! bloomery fold: --by and --rate cannot be combined; give only one
? 2
$ bloomery fold big.bly -o x.bly --by 0
! bloomery fold: --by cannot be '0': it must be at least 1
? 2
$ bloomery fold big.bly -o x.bly --rate 2
! bloomery fold: --rate cannot be '2': it must be above 0 and below 1 (100%)
? 2
