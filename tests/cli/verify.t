# verify: whether filter files are intact and keep their requested rate.

$ seq 10000 | bloomery build -q -p 1% -o list.bly; seq 100 | bloomery build -q -n 1000 -o other.bly
$ bloomery verify list.bly other.bly
list.bly: good; false-positive rate 1.01% per line and per lookup (requested 1%)
other.bly: good; false-positive rate 1.5e-07% per line and per lookup (requested 0.1%)
$ bloomery verify --json list.bly other.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"list.bly","verdict":"good","lookups_per_line":1,"rate_per_lookup_requested":0.01,"rate_per_line_requested":0.01,"rate_per_lookup_expected":0.00993,"rate_per_line_expected":0.00993,"rate_per_lookup_current":0.0100,"rate_per_line_current":0.0100,"capacity":10000,"estimated_keys":10005.492}
{"file":"other.bly","verdict":"good","lookups_per_line":1,"rate_per_lookup_requested":0.001,"rate_per_line_requested":0.001,"rate_per_lookup_expected":2.0227e-09,"rate_per_line_expected":2.0227e-09,"rate_per_lookup_current":1.495e-09,"rate_per_line_current":1.495e-09,"capacity":1000,"estimated_keys":100.0834}

# The golden files, of all versions.
$ cd $DATA/../golden/v1/good; bloomery verify -q $(ls *.bly | grep -v -e md5 -e sha1) 2>/dev/null | sed 's/; false-positive rate[^;]*//'; exit ${PIPESTATUS[0]}
bb2x512-16-murmur64a.bly: good
bb2x512-2-fnv1-32.bly: intact, but above its requested rate
bb2x512-6-city64.bly: good
classic-empty-fnv1.bly: good
classic-fnv1a.bly: good
classic-full-crc64.bly: intact, but too full
classic-k64-fnv1a-32.bly: good
classic-planned-xxh3.bly: good
counting-16-bits-fnv1a.bly: intact, but too full
counting-2-bits-crc64.bly: good
counting-empty-fnv1.bly: good
counting-fnv1a.bly: good
counting-intersection-fnv1a.bly: good
counting-k64-murmur3.bly: intact, but too full
counting-planned-murmur3.bly: good
counting-removed-fnv1a.bly: good
counting-spent-fnv1a.bly: good
counting-stuck-fnv1a.bly: intact, but too full
counting-union-fnv1a.bly: good
counts-aged-fnv1a.bly: intact, but too full
counts-empty-fnv1.bly: good
counts-fnv1a.bly: intact, but too full
counts-often-fnv1a.bly: intact, but too full
counts-planned-murmur3.bly: good
cuckoo-empty-xxh64.bly: good
cuckoo-fnv1a.bly: good
cuckoo-intersection-fnv1a.bly: good
cuckoo-planned-murmur3.bly: good
cuckoo-removed-fnv1a.bly: good
cuckoo-twice-fnv1a.bly: good
custom-bb2x512.bly: good
custom-mixed-cuckoo.bly: good
custom-mixed-sbbf.bly: good
custom-mixed-scalable.bly: good
custom-textbook.bly: good
folded-sbbf-fnv1a.bly: good
fuse-empty-fnv1.bly: good
fuse-fine-murmur3.bly: good
fuse-fnv1a.bly: good
fuse-one-key-fnv1a.bly: good
fuse-small-empty-fnv1.bly: good
fuse-small-fine-murmur3.bly: good
fuse-small-fnv1a.bly: good
fuse-small-one-key-fnv1a.bly: good
growable-fnv1a.bly: good
growable-grown-crc64.bly: good
growable-planned-murmur3.bly: good
hll-4-fnv1a.bly: good; it only counts keys, so it has no false-positive rate
hll-7-fnv1a-32.bly: good; it only counts keys, so it has no false-positive rate
hll-empty-fnv1.bly: good; it only counts keys, so it has no false-positive rate
hll-union-fnv1a.bly: good; it only counts keys, so it has no false-positive rate
hybrid-border-fnv1a.bly: good
hybrid-emptied-fnv1a.bly: good
hybrid-empty-xxh64.bly: good
hybrid-fnv1a.bly: good
hybrid-intersection-fnv1a.bly: good
hybrid-often-fnv1a.bly: good
hybrid-removed-fnv1a.bly: good
hybrid-spilled-fnv1a.bly: good
hybrid-union-fnv1a.bly: good
intersection-sbbf-fnv1a.bly: good
keyed-classic.bly: good
keyed-counting.bly: good
keyed-counts.bly: good
keyed-cuckoo.bly: good
keyed-fuse-small.bly: good
keyed-fuse.bly: good
keyed-hll.bly: good; it only counts keys, so it has no false-positive rate
keyed-hybrid.bly: good
keyed-layered.bly: good
keyed-multilayer.bly: good
keyed-overlay-bloom.bly: good
keyed-ribbon-cut.bly: good
keyed-ribbon.bly: good
keyed-scalable-cuckoo.bly: good
keyed-scalable.bly: good
keyed-split512.bly: good
keyed-window-small.bly: good
keyed-window.bly: good
layered-empty-fnv1.bly: good
layered-fnv1a.bly: good
layered-intersection-fnv1a.bly: good
layered-planned-murmur3.bly: good
layered-removed-fnv1a.bly: good
layered-spent-fnv1a.bly: good
layered-stuck-fnv1a.bly: good
layered-union-fnv1a.bly: good
multilayer-emptied-fnv1a.bly: good
multilayer-empty-fnv1.bly: good
multilayer-fnv1a.bly: good
multilayer-intersection-fnv1a.bly: good
multilayer-k32-murmur3.bly: good
multilayer-removed-fnv1a.bly: good
multilayer-returned-fnv1a.bly: good
multilayer-spilled-fnv1a.bly: good
multilayer-union-fnv1a.bly: good
overlay-again-fnv1a.bly: good
overlay-fnv1a.bly: good
overlay-grown-fnv1a.bly: good
overlay-hidden-empty-fnv1a.bly: good
overlay-hidden-fnv1a.bly: good
overlay-over-fuse-bloom-fnv1a.bly: good
overlay-over-fuse-fnv1a.bly: good
overlay-over-scalable-fnv1a.bly: good
overlay-removed-fnv1a.bly: good
partitioned-murmur3.bly: good
ribbon-cut-block-fnv1a.bly: good
ribbon-cut-empty-fnv1.bly: good
ribbon-cut-fnv1a.bly: good
ribbon-cut-low-rate-murmur3.bly: good
ribbon-cut-one-key-fnv1a.bly: good
ribbon-cut-seeded-fnv1a.bly: good
ribbon-empty-fnv1.bly: good
ribbon-fine-murmur3.bly: good
ribbon-fnv1a.bly: good
ribbon-one-key-fnv1a.bly: good
rule-domain-classic-fnv1a.bly: good
rule-ip-scalable-cuckoo-fnv1a.bly: good
rule-url-scalable-fnv1a.bly: good
sbbf-odd-fnv1a.bly: good
sbbf-xxh3.bly: good
scalable-cuckoo-empty-xxh3.bly: good
scalable-cuckoo-fnv1a.bly: good
scalable-cuckoo-growth-8-murmur3.bly: good
scalable-cuckoo-removed-fnv1a.bly: good
scalable-cuckoo-twice-fnv1a.bly: good
scalable-cuckoo-union-fnv1a.bly: good
scalable-empty-xxh3.bly: good
scalable-fine-murmur3.bly: good
scalable-fnv1a.bly: good
scalable-growth-1-crc64.bly: good
scalable-growth-3-fnv1a.bly: good
scalable-one-level-fnv1a.bly: good
split512-12-xxh3-128.bly: good
split512-16-farm64.bly: good
split512-16-murmur3.bly: good
split512-8-fnv1.bly: good
textbook-foldable-fnv1a.bly: good
textbook-xxh64.bly: good
union-sbbf-fnv1a.bly: good
window-1-generation-murmur3.bly: good
window-32-generations-crc64.bly: good
window-asleep-fnv1a.bly: good
window-clock-fnv1a.bly: intact, but too full
window-empty-fnv1.bly: good
window-fnv1a.bly: good
window-repeated-fnv1a.bly: good
window-small-1-generation-murmur3.bly: good
window-small-32-generations-crc64.bly: good
window-small-asleep-fnv1a.bly: good
window-small-clock-fnv1a.bly: intact, but too full
window-small-empty-fnv1.bly: good
window-small-fnv1a.bly: good
window-small-full-xxh64.bly: good
window-small-repeated-fnv1a.bly: good
window-small-turned-fnv1a.bly: good
window-small-union-fnv1a.bly: intact, but too full
window-turned-fnv1a.bly: good
window-union-fnv1a.bly: intact, but too full
? 1

# Measured with random keys: none in an empty filter, all in a full one.
$ cp $DATA/../golden/v1/good/{classic-empty-fnv1,classic-full-crc64,keyed-classic,custom-bb2x512}.bly .
$ bloomery verify --measure=1000 classic-empty-fnv1.bly
classic-empty-fnv1.bly: good; measured false-positive rate 0% per line (1,000 random keys, 95% interval 0% to 0.383%), requested 1%
$ bloomery verify --measure=1000 --json classic-empty-fnv1.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"classic-empty-fnv1.bly","verdict":"good","lookups_per_line":1,"rate_per_lookup_requested":0.01,"rate_per_line_requested":0.01,"rate_per_lookup_expected":0,"rate_per_line_expected":0,"rate_per_lookup_current":0,"rate_per_line_current":0,"capacity":60,"estimated_keys":0,"measured":{"judged":"rate_per_line","with":"keys","lines":1000,"false_positive_lines":0,"rate_per_line":0,"lookups":1000,"false_positive_lookups":0,"rate_per_lookup":0,"interval_low":0,"interval_high":0.00382}}
$ bloomery verify --measure=1000 classic-full-crc64.bly
classic-full-crc64.bly: intact, but too full; measured false-positive rate 100% per lookup (1,000 random keys, 95% interval 99.6% to 100%), requested 1%
! bloomery verify: warning: classic-full-crc64.bly: too full: every bit is set (capacity: 60 keys), so every lookup matches; build a larger filter
? 1
$ bloomery verify --measure=1000 --json classic-full-crc64.bly 2>/dev/null | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"classic-full-crc64.bly","verdict":"overfull","lookups_per_line":null,"rate_per_lookup_requested":0.01,"rate_per_line_requested":null,"rate_per_lookup_expected":1,"rate_per_line_expected":null,"rate_per_lookup_current":1,"rate_per_line_current":null,"capacity":60,"estimated_keys":null,"measured":{"judged":"rate_per_lookup","with":"keys","lookups":1000,"false_positive_lookups":1000,"rate_per_lookup":1,"interval_low":0.996,"interval_high":1}}

# A million lines by default. The measured rate is the one that follows from the bits, and is not
# above the requested one.
$ bloomery verify --measure list.bly | sed -E 's/(measured( false-positive rate)?) [0-9.]+%/\1 P%/; s/interval [^)]*/interval A to B/'
list.bly: good; measured false-positive rate P% per line (1,000,000 random keys, 95% interval A to B), requested 1%
$ bloomery verify --measure --json list.bly | python3 -c '
> import json, sys
> v = json.load(sys.stdin)
> m = v["measured"]
> print(v["verdict"], m["judged"], m["lines"], m["with"], m["rate_per_line"] == m["false_positive_lines"] / m["lines"])
> print(abs(m["rate_per_line"] / v["rate_per_line_current"] - 1) < 0.06, m["interval_low"] < m["rate_per_line"] < m["interval_high"], 0.03 < (m["interval_high"] - m["interval_low"]) / m["rate_per_line"] < 0.05)'
good rate_per_line 1000000 keys True
True True True

# Two measurements look up different keys.
$ for i in 1 2 3 4 5; do bloomery verify --measure --json list.bly | grep -o '"false_positive_lines":[0-9]*'; done | sort -u | wc -l | sed 's/[2-5]/several/'
several

# A keyed filter is measured with random hashes, or with random keys if its secret key is given.
$ printf '000102030405060708090a0b0c0d0e0f\n' > right.key; printf '100102030405060708090a0b0c0d0e0f\n' > wrong.key; chmod 600 *.key
$ bloomery verify keyed-classic.bly
keyed-classic.bly: good; false-positive rate 0.0191% per lookup (requested 1%)
$ for option in '' '--key-file=right.key'; do bloomery verify --measure --json $option keyed-classic.bly | grep -o '"with":"[a-z]*"'; done
"with":"hashes"
"with":"keys"
$ bloomery verify --key-file wrong.key keyed-classic.bly
! bloomery verify: keyed-classic.bly: needs the secret key with the id 09ab680398f0e1ae, but the id of the key in --key-file is 68977c85c458e015; pass the right key file
? 2
$ bloomery verify --measure --json custom-bb2x512.bly | grep -o '"with":"[a-z]*"'
"with":"hashes"

# Intact, but too full: 1, and a warning.
$ seq 10001 15000 | bloomery add -q list.bly 2>/dev/null; bloomery verify list.bly
list.bly: intact, but too full; false-positive rate 5.57% per line and per lookup (requested 1%)
! bloomery verify: warning: list.bly: too full: about 15,057 keys (capacity: 10,000); false-positive rate per lookup is now 5.57% (requested: 1%); build a larger filter
? 1
$ bloomery verify -q list.bly
list.bly: intact, but too full; false-positive rate 5.57% per line and per lookup (requested 1%)
! bloomery verify: warning: list.bly: too full: about 15,057 keys (capacity: 10,000); false-positive rate per lookup is now 5.57% (requested: 1%); build a larger filter
? 1
$ bloomery verify --json list.bly 2>/dev/null | grep -o '"verdict":"[a-z]*"'
"verdict":"overfull"
$ bloomery verify --measure list.bly 2>/dev/null | sed -E 's/(measured( false-positive rate)?) [0-9.]+%/\1 P%/; s/interval [^)]*/interval A to B/'
list.bly: intact, but too full; measured false-positive rate P% per line (1,000,000 random keys, 95% interval A to B), requested 1%

# A small filter of fixed size may have a higher rate than requested, by chance. --measure shows it.
$ seq 48 | bloomery build -q -p 1% --seed 2 -n 48 -o small.bly; bloomery verify small.bly
small.bly: good; false-positive rate 1.62% per line and per lookup (requested 1%)
! bloomery build: warning: small.bly: false-positive rate per lookup is 1.62% (requested: 1%), because its keys are unevenly distributed; give a larger -n
$ bloomery verify --measure small.bly 2>&1 | sed -E 's/(measured( false-positive rate)?) [0-9.]+%/\1 P%/g; s/interval [^)]*/interval A to B/'
small.bly: intact, but above its requested rate; measured false-positive rate P% per line (1,000,000 random keys, 95% interval A to B), requested 1%
bloomery verify: warning: small.bly: above its requested rate: measured P% per line, requested 1%. By chance its keys set too many bits; build it larger, or with a different --seed
$ bloomery verify --measure --json small.bly 2>/dev/null | grep -o '"verdict":"[a-z]*"'
"verdict":"broken"

# With more keys than the capacity, it is not chance.
$ seq 60 | bloomery add -q small.bly 2>/dev/null; bloomery verify small.bly
small.bly: intact, but too full; false-positive rate 3.61% per line and per lookup (requested 1%)
! bloomery verify: warning: small.bly: too full: about 57 keys (capacity: 48); false-positive rate per lookup is now 3.61% (requested: 1%); build a larger filter
? 1

# Damaged or unreadable: 2; the other files are still checked.
$ head -c 1000 other.bly > cut.bly; cp other.bly flipped.bly; printf '\377' | dd of=flipped.bly bs=1 seek=1000 conv=notrunc status=none; cp other.bly header.bly; printf '\377' | dd of=header.bly bs=1 seek=20 conv=notrunc status=none; (cat other.bly; echo) > long.bly; head -c 20 other.bly > short.bly; : > empty.bly; seq 100 > text.bly; mkfifo pipe.bly
$ bloomery verify missing.bly . cut.bly flipped.bly header.bly long.bly short.bly empty.bly text.bly pipe.bly other.bly
other.bly: good; false-positive rate 1.5e-07% per line and per lookup (requested 0.1%)
! bloomery verify: missing.bly: No such file or directory
! bloomery verify: .: Is a directory
! bloomery verify: cut.bly: is cut short: it has 1000 of 2048 bytes; copy it again
! bloomery verify: flipped.bly: is damaged (wrong checksum); copy it again from its source, or build it again
! bloomery verify: header.bly: is damaged (invalid header); copy it again from its source, or build it again
! bloomery verify: long.bly: is damaged: it has 2049 bytes instead of 2048; copy it again
! bloomery verify: short.bly: is cut short: 20 bytes, less than a header; copy it again
! bloomery verify: empty.bly: is empty, so not a Bloomery filter
! bloomery verify: text.bly: is not a Bloomery filter
! bloomery verify: pipe.bly: is not a regular file
? 2
$ bloomery verify --json missing.bly flipped.bly other.bly 2>/dev/null | cut -d, -f1-3
{"file":"missing.bly","verdict":"unreadable","error":"No such file or directory"}
{"file":"flipped.bly","verdict":"damaged","error":"the data is damaged or is not a Bloomery filter"}
{"file":"other.bly","verdict":"good","lookups_per_line":1
$ bloomery verify missing.bly list.bly 2>/dev/null
list.bly: intact, but too full; false-positive rate 5.57% per line and per lookup (requested 1%)
? 2
$ cd $DATA/../golden/v1/bad; bloomery verify --json $(ls | grep -v -e EKEY -e custom) 2>/dev/null | grep -o '"verdict":"[a-z]*"' | sort -u
"verdict":"damaged"
"verdict":"unusable"

$ bloomery verify
! bloomery verify: no filter file given; for example: bloomery verify LIST.bly
? 2
$ bloomery verify --measure=0 other.bly
! bloomery verify: --measure cannot be '0': it must be at least 1
? 2
$ bloomery verify --measure=many other.bly
! bloomery verify: --measure cannot be 'many': it must be a number such as 1000, 1e8, 100k, 50M or 2G
? 2
$ bloomery verify --key-file missing.key other.bly
! bloomery verify: missing.key: No such file or directory
? 2
$ bloomery verify --key-file right.key other.bly
! bloomery verify: other.bly: is not keyed; leave out --key-file
? 2
