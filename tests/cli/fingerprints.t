# The files of dedup --exact and --confirm are not filters, but every command recognises them.
$ seq 1000 | bloomery dedup --exact --state exact.fps | wc -l; seq 100000 | bloomery dedup -i --url --confirm confirm.fps | wc -l
1000
100000
$ seq -f %g,x 5 | bloomery dedup -q --field 1 -t , --exact --state field.fps > none

# Descriptions. The seed is random.
$ bloomery info exact.fps confirm.fps | sed -E 's/seed [0-9]+/seed N/'
exact.fps
  kind       fingerprints of lines, 64 bits each: a file of dedup --exact or --confirm
  shape      4 pages of 512 slots
  file       20.0 KiB (20,480 bytes)
  hash       xxh3, seed N
  rule       whole lines
  lines      1,000 fingerprints, and 1 that records the key rule
  rate       1 in 1.8e+16 new lines mistaken for repeats, per lookup and per line
  fill       ▕███████████▋            ▏ 49% of its slots in use
\
confirm.fps
  kind       fingerprints of lines, 64 bits each: a file of dedup --exact or --confirm
  shape      512 pages of 512 slots
  file       2.00 MiB (2,101,248 bytes)
  hash       xxh3, seed N
  rule       --url=standard --ignore-case
  lines      100,000 fingerprints, and 1 that records the key rule
  rate       1 in 184,465,596,081,135 new lines mistaken for repeats, per lookup and per line
  fill       ▕█████████▏              ▏ 38% of its slots in use
$ bloomery info field.fps | grep -e rule -e lines; bloomery info --header exact.fps | cut -c -60 | sed -E 's/seed [0-9]+/seed N/'
  kind       fingerprints of lines, 64 bits each: a file of dedup --exact or --confirm
  rule       --field 1 -t ','
  lines      5 fingerprints, and 1 that records the key rule
  rate       1 in 3.1e+18 new lines mistaken for repeats, per lookup and per line
exact.fps
\  kind       fingerprints of lines, 64 bits each: a file of\s
  shape      4 pages of 512 slots
  file       20.0 KiB (20,480 bytes)
  hash       xxh3, seed N
$ bloomery info --json exact.fps confirm.fps | sed -E 's/"seed":[0-9]+/"seed":N/'
{"file":"exact.fps","file_bytes":20480,"kind":"fingerprints","pages":4,"hash":"xxh3","keyed":false,"seed":N,"fingerprints":1001,"marks":1,"not_found":0,"rule":"","fill":0.48876953125,"rate_per_lookup":5.42643187328995e-17}
{"file":"confirm.fps","file_bytes":2101248,"kind":"fingerprints","pages":512,"hash":"xxh3","keyed":false,"seed":N,"fingerprints":100001,"marks":1,"not_found":0,"rule":"--url=standard --ignore-case","fill":0.3814735412597656,"rate_per_lookup":5.4210650725361464e-15}
$ bloomery info --header --json exact.fps | sed -E 's/"seed":[0-9]+/"seed":N/'
{"file":"exact.fps","file_bytes":20480,"kind":"fingerprints","pages":4,"hash":"xxh3","keyed":false,"seed":N}

# Damage that the format can show: a fingerprint in the wrong page.
$ bloomery verify exact.fps confirm.fps; bloomery verify --json --measure exact.fps
exact.fps: good; 1,000 fingerprints, and 1 that records the key rule
confirm.fps: good; 100,000 fingerprints, and 1 that records the key rule
{"file":"exact.fps","verdict":"good","kind":"fingerprints","fingerprints":1001,"marks":1,"not_found":0}
$ cp exact.fps moved.fps; dd if=exact.fps of=moved.fps bs=4096 skip=1 seek=2 count=1 conv=notrunc status=none; bloomery verify moved.fps; bloomery verify --json moved.fps
{"file":"moved.fps","verdict":"damaged","kind":"fingerprints"}
! bloomery verify: moved.fps: is damaged: page 1 has a fingerprint that does not belong there; remove the file and start again
! bloomery verify: moved.fps: is damaged: page 1 has a fingerprint that does not belong there; remove the file and start again
? 2
$ cp exact.fps headless.fps; printf x | dd of=headless.fps bs=1 seek=20 conv=notrunc status=none; bloomery verify headless.fps; bloomery info headless.fps
! bloomery verify: headless.fps: damaged; remove it to start a new state
! bloomery info: headless.fps: damaged; remove it to start a new state
? 2
$ head -c 5000 exact.fps > cut.fps; bloomery verify --json cut.fps
{"file":"cut.fps","verdict":"damaged","kind":"fingerprints"}
! bloomery verify: cut.fps: damaged; remove it to start a new state
? 2

# The key rule, as options of dedup. The extra fingerprint that records it does not belong to a line.
$ printf 'a\tb\nc\tb\nd\te\n' | bloomery dedup -q --field 2 --exact --state tab.fps > none; bloomery info tab.fps | grep -e rule -e lines; bloomery verify tab.fps
  kind       fingerprints of lines, 64 bits each: a file of dedup --exact or --confirm
  rule       --field 2 -t $'\t'
  lines      2 fingerprints, and 1 that records the key rule
  rate       1 in 6.1e+18 new lines mistaken for repeats, per lookup and per line
tab.fps: good; 2 fingerprints, and 1 that records the key rule
$ seq -f "$(seq -s , 19),%g" 3 | bloomery dedup -q --field 20 -t , --exact --state far.fps > none; bloomery info far.fps | grep -e rule -e lines; bloomery verify far.fps
  kind       fingerprints of lines, 64 bits each: a file of dedup --exact or --confirm
  rule       --field 20 -t ','
  lines      3 fingerprints, and 1 that records the key rule
  rate       1 in 4.6e+18 new lines mistaken for repeats, per lookup and per line
far.fps: good; 3 fingerprints, and 1 that records the key rule
$ seq -f "$(seq -s + 19)+%g" 3 | bloomery dedup -q --field 20 -t + --exact --state odd.fps > none; bloomery info odd.fps | grep -e rule -e lines; bloomery verify odd.fps
  kind       fingerprints of lines, 64 bits each: a file of dedup --exact or --confirm
  rule       unknown, but with --field or --ignore-case
  lines      3 fingerprints, and 1 that records the key rule
  rate       1 in 4.6e+18 new lines mistaken for repeats, per lookup and per line
odd.fps: good; 3 fingerprints, and 1 that records the key rule
$ bloomery verify --measure exact.fps
exact.fps: good; 1,000 fingerprints, and 1 that records the key rule
! bloomery verify: exact.fps: --measure was ignored: the false-positive rate of a fingerprint file is too low to be measured

# Slots that an interrupted write has left empty: fingerprints after them are not found.
$ cp confirm.fps torn.fps; python3 -c 'f = open("torn.fps", "r+b"); [(f.seek(8 * (512 * page + 100)), f.write(bytes(8))) for page in range(1, 513)]'; bloomery verify torn.fps | sed -E 's/[0-9,]+ (fingerprints|of them)/N \1/g'; bloomery info torn.fps | grep -c 'note.*cannot be found'
torn.fps: good; N fingerprints, and 1 that records the key rule; N of them cannot be found because a write was interrupted; dedup will print their lines again
1

# Operations for filters are refused.
$ seq 10 | bloomery build -q -o list.bly; bloomery merge -o all.bly exact.fps confirm.fps; bloomery merge -o all.bly list.bly exact.fps; bloomery intersect --estimate exact.fps exact.fps; ls all.bly 2>&1
ls: cannot access 'all.bly': No such file or directory
! bloomery merge: exact.fps: is a fingerprint file of dedup --exact or --confirm. These cannot be merged, because each has its own random seed; run bloomery dedup once on all the lines instead
! bloomery merge: exact.fps: is a fingerprint file of dedup --exact or --confirm. These cannot be merged, because each has its own random seed; run bloomery dedup once on all the lines instead
! bloomery intersect: exact.fps: is a fingerprint file of dedup --exact or --confirm. These cannot be compared, because each has its own random seed; run bloomery dedup once on all the lines instead
? 2
$ bloomery check exact.fps none; bloomery add exact.fps none; bloomery fold --by 2 -o all.bly exact.fps; bloomery dedup --state exact.fps none
! bloomery check: exact.fps: contains fingerprints (of dedup --exact or --confirm), not a filter; use it with bloomery dedup, info or verify
! bloomery add: exact.fps: contains fingerprints (of dedup --exact or --confirm), not a filter; use it with bloomery dedup, info or verify
! bloomery fold: exact.fps: contains fingerprints (of dedup --exact or --confirm), not a filter; use it with bloomery dedup, info or verify
! bloomery dedup: exact.fps: contains fingerprints; use it with --exact or --confirm
? 2

# Filters, and files of other formats, are still recognised as such.
$ bloomery verify list.bly; echo something else > text; bloomery info text
list.bly: good; false-positive rate 2.59e-05% per line and per lookup (requested 0.1%)
! bloomery info: text: is not a Bloomery filter
? 2
