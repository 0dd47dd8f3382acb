# The description of a filter file.

$ seq 1000 | bloomery build -q -n 2000 -o list.bly; bloomery info list.bly
list.bly
  kind       split512: all bits in one block of 64 bytes; fast
  shape      62 blocks, 8 bits per key
  file       3.94 KiB (4,032 bytes)
  hash       xxh3, seed 0
  type       line
  keys       1,000 counted, 1,001 estimated
  capacity   2,000 keys, 15.9 bits per key
  rate       0.1% requested, 0.00176% expected, 0.00163% current (1 in 61,241), per line and per lookup
  fill       ▕████████████            ▏ 50% of its capacity; 22.3% of its bits set, 39.6% when full

# From the header alone: no facts that need the bits.
$ bloomery info --header list.bly
list.bly
  kind       split512: all bits in one block of 64 bytes; fast
  shape      62 blocks, 8 bits per key
  file       3.94 KiB (4,032 bytes)
  hash       xxh3, seed 0
  keys       1,000 counted
  capacity   2,000 keys, 15.9 bits per key
  rate       0.1% requested (1 in 1,000), per lookup

# Kinds and hash functions; an empty line is between two descriptions.
$ cd $DATA/../golden/v1/good; bloomery info classic-empty-fnv1.bly textbook-foldable-fnv1a.bly partitioned-murmur3.bly sbbf-xxh3.bly split512-16-murmur3.bly bb2x512-6-city64.bly
classic-empty-fnv1.bly
  kind       classic: bits anywhere in one array; small, one cache miss per bit
  shape      777 bits, 5 bits per key
  file       192 B
  hash       fnv1, seed 0
  type       line
  keys       0 counted, 0 estimated
  capacity   60 keys, 12.9 bits per key
  rate       1% requested, no false positives while it is empty, per line and per lookup
  fill       ▕                        ▏ 0% of its capacity; 0.0% of its bits set, 32.0% when full
\
textbook-foldable-fnv1a.bly
  kind       classic: bits anywhere in one array; small, one cache miss per bit
  shape      1,280 bits, 3 bits per key, textbook double hashing, foldable
  file       256 B
  hash       fnv1a, seed 0
  type       line
  keys       40 counted, 41 estimated
  capacity   60 keys, 21.3 bits per key
  rate       1% requested, 0.0884% expected, 0.0883% current (1 in 1,132), per line and per lookup
  fill       ▕████████████████        ▏ 67% of its capacity; 9.1% of its bits set, 13.1% when full
\
partitioned-murmur3.bly
  kind       partitioned: one bit in each of several slices; small, one cache miss per bit
  shape      slices of 192 bits, 7 bits per key
  file       256 B
  hash       murmur3, seed 0
  type       line
  keys       40 counted, 41 estimated
  capacity   60 keys, 22.4 bits per key
  rate       1% requested, 0.00101% expected, 0.00101% current (1 in 99,015), per line and per lookup
  fill       ▕████████████████        ▏ 67% of its capacity; 19.3% of its bits set, 26.9% when full
\
sbbf-xxh3.bly
  kind       sbbf: eight bits in one block of 32 bytes; the fastest
  shape      8 blocks, 8 bits per key
  file       320 B
  hash       xxh3, seed 1
  type       line
  keys       50 counted, 52 estimated
  capacity   60 keys, 34.1 bits per key
  rate       1% requested, 0.000957% expected, 0.000397% current (1 in 252,116), per line and per lookup
  fill       ▕████████████████████    ▏ 83% of its capacity; 18.3% of its bits set, 20.9% when full
\
split512-16-murmur3.bly
  kind       split512: all bits in one block of 64 bytes; fast
  shape      5 blocks, 16 bits per key
  file       384 B
  hash       murmur3, seed 7
  type       line
  keys       50 counted, 50 estimated
  capacity   60 keys, 42.7 bits per key
  rate       1% requested, 4.65e-06% expected, 2.09e-07% current (1 in 478,462,412), per line and per lookup
  fill       ▕████████████████████    ▏ 83% of its capacity; 26.9% of its bits set, 31.1% when full
\
bb2x512-6-city64.bly
  kind       bb2x512: half the bits in each of two blocks of 64 bytes; fast and small
  shape      4 blocks, 6 bits per key
  file       320 B
  hash       city64, seed 0
  type       line
  keys       50 counted, 50 estimated
  capacity   60 keys, 34.1 bits per key
  rate       1% requested, 0.000718% expected, 0.000831% current (1 in 120,373), per line and per lookup
  fill       ▕████████████████████    ▏ 83% of its capacity; 13.5% of its bits set, 16.1% when full

# Keyed filters, and those with a program's own hash function, are shown without it.
$ cd $DATA/../golden/v1/good; bloomery info keyed-classic.bly custom-bb2x512.bly
keyed-classic.bly
  kind       classic: bits anywhere in one array; small, one cache miss per bit
  shape      999 bits, 7 bits per key
  file       192 B
  hash       siphash with a secret key, whose id is 09ab680398f0e1ae
  type       unknown without its key
  keys       50 counted, 50 estimated, including any marks
  capacity   60 keys, including any marks, 16.6 bits per key
  rate       1% requested, 0.0193% expected, 0.0191% current (1 in 5,230), per lookup
  fill       ▕████████████████████    ▏ 83% of its capacity; 29.4% of its bits set, 34.3% when full
  note       rate per line and number of marks: unknown without its key; use --key-file
\
custom-bb2x512.bly
  kind       bb2x512: half the bits in each of two blocks of 64 bytes; fast and small
  shape      4 blocks, 8 bits per key
  file       320 B
  hash       custom-raw, tag 00000000676f6c64
  type       unknown without its hash function
  keys       50 counted, 50 estimated, including any marks
  capacity   60 keys, including any marks, 34.1 bits per key
  rate       1% requested, 0.000137% expected, 0.000112% current (1 in 890,001), per lookup
  fill       ▕████████████████████    ▏ 83% of its capacity; 17.8% of its bits set, 20.9% when full
  note       rate per line and number of marks: unknown without its hash function

$ bloomery info $DATA/../golden/v1/good/custom-mixed-sbbf.bly | grep hash
  hash       custom, tag 00000000676f6c64
  type       unknown without its hash function
  note       rate per line and number of marks: unknown without its hash function


# An intersection is approximate; a full filter matches everything.
$ cd $DATA/../golden/v1/good; bloomery info intersection-sbbf-fnv1a.bly classic-full-crc64.bly
intersection-sbbf-fnv1a.bly
  kind       sbbf: eight bits in one block of 32 bytes; the fastest
  shape      12 blocks, 8 bits per key, foldable
  file       448 B
  hash       fnv1a, seed 3
  type       line
  keys       20 counted, 21 estimated
  capacity   60 keys, 51.2 bits per key
  rate       1% requested, 1.62e-06% expected, 5.81e-07% current (1 in 172,148,368), per line and per lookup
  fill       ▕████████                ▏ 33% of its capacity; 5.3% of its bits set, 14.5% when full
  note       an intersection: it contains every common key, and perhaps some others
\
classic-full-crc64.bly
  kind       classic: bits anywhere in one array; small, one cache miss per bit
  shape      65 bits, 1 bit per key
  file       128 B
  hash       crc64, seed 9
  type       unknown: keys of several types, or too many keys
  keys       65 counted, too many to estimate
  capacity   60 keys, 1.08 bits per key
  rate       1% requested, 100% expected, 100% current (1 in 1), per lookup
  fill       ▕████████████████████████▏ far more than its capacity; 100.0% of its bits set, 60.6% when full
  health     too full: every bit is set (capacity: 60 keys), so every lookup matches

# A filter with too many keys, and one that was created too small.
$ seq 1001 3000 | bloomery add -q list.bly; bloomery info list.bly | tail -n 4
  capacity   2,000 keys, 15.9 bits per key
  rate       0.1% requested, 0.794% expected, 0.832% current (1 in 120), per line and per lookup
  fill       ▕████████████████████████▏ 150% of its capacity; 53.1% of its bits set, 39.6% when full
  health     too full: about 3,000 keys (capacity: 2,000); false-positive rate per lookup is now 0.832% (requested: 0.1%)
! bloomery add: warning: list.bly: too full: about 3,000 keys (capacity: 2,000); false-positive rate per lookup is now 0.832% (requested: 0.1%); build a larger filter
$ cd $DATA/../golden/v1/good; bloomery info bb2x512-2-fnv1-32.bly | tail -n 3
  rate       1% requested, 3.16% expected, 3.16% current (1 in 32), per line and per lookup
  fill       ▕███████████████████▌    ▏ 82% of its capacity; 17.8% of its bits set, 20.9% when full
  health     too many false positives: about 50 keys (capacity: 60); false-positive rate per lookup is now 3.16% (requested: 1%)

# A scalable filter, level by level.
$ seq 500 | bloomery build -q --kind scalable -n 500 -o grows.bly; seq 4000 | bloomery add -q grows.bly; bloomery info grows.bly
grows.bly
  kind       scalable: a list of filters that grows with its keys
  shape      4 levels
  file       21.2 KiB (21,696 bytes)
  hash       xxh3, seed 0
  type       line
  keys       3,994 counted, 3,996 estimated
  capacity   7,500 keys, 23.1 bits per key
  rate       0.1% requested, 0.0776% expected, 0.0598% current (1 in 1,672), per line and per lookup
  fill       ▕████████████▊           ▏ 53% of its capacity; 23.4% of its bits set
  levels     1: 500 of 500 keys, split512, 1.00 KiB, 0.0538% now
             2: 1,000 of 1,000 keys, bb2x512, 2.81 KiB, 0.00351% now
             3: 2,000 of 2,000 keys, bb2x512, 5.62 KiB, 0.00249% now
             4: 494 of 4,000 keys, bb2x512, 11.4 KiB, 5.92e-13% now
$ bloomery info --header grows.bly
grows.bly
  kind       scalable: a list of filters that grows with its keys
  shape      4 levels
  file       21.2 KiB (21,696 bytes)
  hash       xxh3, seed 0
  keys       3,994 counted
  capacity   7,500 keys, 23.1 bits per key
  rate       0.1% requested (1 in 1,000), per lookup

# The type of a list is recorded in its marks.
$ echo 030-123 | bloomery build -q --type phone -o phone.bly; bloomery info phone.bly | grep type; bloomery info --header phone.bly | grep type
  type       phone
? 1

# Marks are printed separately from keys.
$ printf '192.0.2.%d\n' 1 2 3 4 5 | bloomery build -q --type ip -o five.bly; bloomery info five.bly | grep -E 'keys|capacity'; bloomery info --json five.bly | grep -oE '"(capacity|count|marks)":[0-9]+'
  keys       5 counted, 6 estimated, and 24 marks
  capacity   5 keys and 24 marks, 17.7 bits per key
  fill       ▕████████████████████████▏ 100% of its capacity; 37.3% of its bits set, 36.7% when full
"capacity":29
"count":29
"marks":24
$ printf '192.0.2.%d\n' 1 2 3 4 5 | bloomery build -q -n 100 --type ip -f -o five.bly; bloomery info five.bly | grep -E 'keys|capacity'
  keys       5 counted, 5 estimated, and 24 marks
  capacity   100 keys and 24 marks, 16.5 bits per key
  fill       ▕█▏                      ▏ 5% of its capacity; 10.6% of its bits set, 38.5% when full
$ bloomery build -q --type ip -f -o five.bly </dev/null; bloomery info five.bly | grep -E 'keys|capacity'
  keys       0 counted, 0 estimated, and 20 marks
  capacity   none: it was built from no keys
! bloomery build: warning: the input has no keys; the list will match nothing

# JSON: one object per file.
$ bloomery info --json --header list.bly phone.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"list.bly","file_bytes":4032,"kind":"split512","hashes":8,"size":62,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":0,"capacity":2000,"count":2997,"bits_per_key":15.872,"lookups_per_line":null,"rate_per_lookup_requested":0.001,"rate_per_line_requested":null,"approximate":false}
{"file":"phone.bly","file_bytes":128,"kind":"split512","hashes":8,"size":1,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":0,"capacity":17,"count":17,"bits_per_key":30.117,"lookups_per_line":null,"rate_per_lookup_requested":0.001,"rate_per_line_requested":null,"approximate":false}
$ cd $DATA/../golden/v1/good; bloomery info --json sbbf-xxh3.bly keyed-classic.bly custom-bb2x512.bly classic-full-crc64.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"sbbf-xxh3.bly","file_bytes":320,"kind":"sbbf","hashes":8,"size":8,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":1,"capacity":60,"count":50,"bits_per_key":34.133,"lookups_per_line":1,"rate_per_lookup_requested":0.01,"rate_per_line_requested":0.01,"approximate":false,"bits":2048,"set_bits":375,"fill":0.183,"estimated_keys":51.673,"rate_per_lookup_expected":9.566e-06,"rate_per_line_expected":9.566e-06,"rate_per_lookup_current":3.966e-06,"rate_per_line_current":3.966e-06,"within_requested_rate":true,"type":"line","marks":0}
{"file":"keyed-classic.bly","file_bytes":192,"kind":"classic","hashes":7,"size":999,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"siphash","keyed":true,"key_id":"09ab680398f0e1ae","capacity":60,"count":50,"bits_per_key":16.65,"lookups_per_line":null,"rate_per_lookup_requested":0.01,"rate_per_line_requested":null,"approximate":false,"bits":999,"set_bits":294,"fill":0.294,"estimated_keys":49.719,"rate_per_lookup_expected":0.000192,"rate_per_line_expected":null,"rate_per_lookup_current":0.000191,"rate_per_line_current":null,"within_requested_rate":true,"type":null,"marks":null}
{"file":"custom-bb2x512.bly","file_bytes":320,"kind":"bb2x512","hashes":8,"size":4,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"custom-raw","keyed":false,"hash_tag":"00000000676f6c64","capacity":60,"count":50,"bits_per_key":34.133,"lookups_per_line":null,"rate_per_lookup_requested":0.01,"rate_per_line_requested":null,"approximate":false,"bits":2048,"set_bits":365,"fill":0.178,"estimated_keys":50.347,"rate_per_lookup_expected":1.367e-06,"rate_per_line_expected":null,"rate_per_lookup_current":1.123e-06,"rate_per_line_current":null,"within_requested_rate":true,"type":null,"marks":null}
{"file":"classic-full-crc64.bly","file_bytes":128,"kind":"classic","hashes":1,"size":65,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"crc64","keyed":false,"seed":9,"capacity":60,"count":65,"bits_per_key":1.0833,"lookups_per_line":null,"rate_per_lookup_requested":0.01,"rate_per_line_requested":null,"approximate":false,"bits":65,"set_bits":65,"fill":1,"estimated_keys":null,"rate_per_lookup_expected":1,"rate_per_line_expected":null,"rate_per_lookup_current":1,"rate_per_line_current":null,"within_requested_rate":false,"type":null,"marks":null}
$ bloomery info --json grows.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g; s/"levels":\[[{]/&\n/; s/\},/},\n/g'
{"file":"grows.bly","file_bytes":21696,"kind":"scalable","hashes":4,"size":21632,"detail":0,"forgets":false,"foldable":false,"textbook":false,"hash":"xxh3","keyed":false,"seed":0,"capacity":7500,"count":3994,"bits_per_key":23.0741,"lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"approximate":false,"bits":171008,"set_bits":40039,"fill":0.234,"estimated_keys":3996.0352,"rate_per_lookup_expected":0.000775,"rate_per_line_expected":0.000775,"rate_per_lookup_current":0.000597,"rate_per_line_current":0.000597,"within_requested_rate":true,"type":"line","marks":0,"levels":[{
"kind":"split512","hashes":8,"size":16,"bytes":1024,"capacity":500,"count":500,"estimated_keys":493.113,"fill":0.382,"rate_per_lookup_requested":0.0008,"rate_per_lookup_current":0.000537},
{"kind":"bb2x512","hashes":12,"size":45,"bytes":2880,"capacity":1000,"count":1000,"estimated_keys":1009.328,"fill":0.407,"rate_per_lookup_requested":2.999e-05,"rate_per_lookup_current":3.509e-05},
{"kind":"bb2x512","hashes":14,"size":90,"bytes":5760,"capacity":2000,"count":2000,"estimated_keys":1999.719,"fill":0.453,"rate_per_lookup_requested":2.549e-05,"rate_per_lookup_current":2.492e-05},
{"kind":"bb2x512","hashes":14,"size":183,"bytes":11712,"capacity":4000,"count":494,"estimated_keys":493.873,"fill":0.0707,"rate_per_lookup_requested":2.167e-05,"rate_per_lookup_current":5.921e-15}]}
$ cp phone.bly $'na\tme.bly'; bloomery info --json --header $'na\tme.bly' | cut -c 1-40
{"file":"na\u0009me.bly","file_bytes":12

# The bar where the locale is not UTF-8, and in colour: green, yellow, red.
$ LC_ALL=C bloomery info list.bly phone.bly | grep fill
  fill       [########################] 150% of its capacity; 53.1% of its bits set, 39.6% when full
  fill       [########################] 100% of its capacity; 22.7% of its bits set, 23.5% when full
$ seq 1000 | bloomery build -q -p 1% -o worn.bly; seq 1150 | bloomery add -q worn.bly; bloomery info --color=always phone.bly worn.bly list.bly | grep fill | sed 's/\x1b/^/g'
  ^[2mfill      ^[0m ^[32m▕████████████████████████▏^[0m 100% of its capacity; 22.7% of its bits set, 23.5% when full
  ^[2mfill      ^[0m ^[33m▕████████████████████████▏^[0m 114% of its capacity; 57.0% of its bits set, 52.5% when full
  ^[2mfill      ^[0m ^[31m▕████████████████████████▏^[0m 150% of its capacity; 53.1% of its bits set, 39.6% when full
! bloomery add: warning: worn.bly: too full: about 1,135 keys (capacity: 1,000); false-positive rate per lookup is now 1.45% (requested: 1%); build a larger filter
$ bloomery info --color=always worn.bly | head -n 2 | sed 's/\x1b/^/g'
^[1mworn.bly^[0m
  ^[2mkind      ^[0m sbbf: eight bits in one block of 32 bytes; the fastest
$ NO_COLOR=1 bloomery info worn.bly | head -n 1
worn.bly

# A file that cannot be described is an error; the others are still described.
$ head -c 100 list.bly > cut.bly; cp list.bly flipped.bly; printf '\377' | dd of=flipped.bly bs=1 seek=1000 conv=notrunc status=none; cp list.bly header.bly; printf '\377' | dd of=header.bly bs=1 seek=20 conv=notrunc status=none; : > empty.bly; seq 100 > text.bly; gzip -k list.bly
$ bloomery info --header list.bly missing.bly . cut.bly header.bly empty.bly text.bly list.bly.gz /dev/null phone.bly | grep -c kind
2
! bloomery info: missing.bly: No such file or directory
! bloomery info: .: Is a directory
! bloomery info: cut.bly: is cut short: it has 100 of 4032 bytes; copy it again
! bloomery info: header.bly: is damaged (invalid header); copy it again from its source, or build it again
! bloomery info: empty.bly: is empty, so not a Bloomery filter
! bloomery info: text.bly: is not a Bloomery filter
! bloomery info: list.bly.gz: is compressed; gunzip it first
! bloomery info: /dev/null: is not a regular file
$ bloomery info --header missing.bly; echo $?
2
! bloomery info: missing.bly: No such file or directory
$ bloomery info flipped.bly
! bloomery info: flipped.bly: is damaged (wrong checksum); copy it again from its source, or build it again
? 2

# With --header, damage to the body is not noticed.
$ bloomery info --header flipped.bly | head -n 1
flipped.bly

# Kinds and versions of the future.
$ cd $DATA/../golden/v1/bad; bloomery info kind-255.EKIND.bly version-2.EVERSION.bly hash-16.EHASHER.bly
! bloomery info: kind-255.EKIND.bly: contains a kind of filter that this version does not know; use a newer bloomery
! bloomery info: version-2.EVERSION.bly: was written by a newer version; use a newer bloomery
! bloomery info: hash-16.EHASHER.bly: uses a hash function that this version does not know; use a newer bloomery
? 2

$ bloomery info
! bloomery info: no list given; for example: bloomery info LIST.bly
? 2
$ bloomery info --jsn list.bly
! bloomery info: unknown option --jsn; did you mean --json?
? 2
$ bloomery info list.bly > /dev/full
! bloomery info: standard output: No space left on device
? 2

# ---- which prefixes and labels a list has -----------------------------------------------------------
$ printf '192.0.2.0/24\n10.0.0.1\n203.0.113.0/25\n198.51.100.0/26\n198.51.100.64/27\n2001:db8::/32\n' | bloomery build -q --type ip -o widths.bly; bloomery info widths.bly | grep -e type -e prefixes; bloomery info --json widths.bly | grep -o '"levels_by.*'
  type       ip
  prefixes   IPv4 /24 to /27, /32; IPv6 /32
"levels_by_chance":false,"prefixes_ipv4":[24,25,26,27,32],"prefixes_ipv6":[32]}
$ printf '10.0.0.0/8\n' | bloomery build -q --type ip -o v4.bly; printf '::1\n' | bloomery build -q --type ip -o v6.bly; bloomery info v4.bly v6.bly | grep prefixes
  prefixes   IPv4 /8
  prefixes   IPv6 /128
$ printf 'com\na.example.org\nb.a.example.org\nx.y.b.a.example.org\n' | bloomery build -q --type domain -o names.bly; bloomery info names.bly | grep -e type -e labels; bloomery info --json names.bly | grep -o '"levels_by.*'
  type       domain
  labels     1, 3, 4, 6 per domain
"levels_by_chance":false,"labels":[1,3,4,6]}
$ printf 'a\n' | bloomery build -q -o plain.bly; bloomery info plain.bly | grep -c -e prefixes -e labels
0
? 1
