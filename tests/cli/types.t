# Typed lines: the spelling does not matter, and addresses in a listed block and domains below a
# listed domain match.

# ---- never a false negative: every entry is found in another spelling ---------------------------
$ for type in ip phone email domain url line; do
>     python3 $DATA/lists/variants.py $type 2000 entries asked
>     bloomery build -q -f --type $type -p 0.01 -o list.bly entries
>     printf '%s: %s of %s\n' $type $(bloomery check -c list.bly asked) $(wc -l <asked)
>     bloomery check -v list.bly asked
> done
ip: 2000 of 2000
phone: 2000 of 2000
email: 2000 of 2000
domain: 2000 of 2000
url: 2000 of 2000
line: 2000 of 2000
? 1

# The same for every kind of filter, and under another hash function.
$ python3 $DATA/lists/variants.py domain 2000 entries asked
$ for kind in $(bloomery build --kind what -o x 2>&1 | sed 's/.*one of //; s/,//g; s/window //; s/hll //'); do
>     bloomery build -q -f --type domain --kind $kind --hash murmur3 --seed 7 -o list.bly entries ||
>         echo "$kind cannot be built"
>     printf '%s: %s\n' $kind $(bloomery check -c list.bly asked)
> done
classic: 2000
partitioned: 2000
sbbf: 2000
split512: 2000
bb2x512: 2000
scalable: 2000
counting: 2000
multilayer: 2000
layered: 2000
overlay: 2000
hybrid: 2000
cuckoo: 2000
fuse: 2000
ribbon: 2000
counts: 2000
growable-cuckoo: 2000
scalable-cuckoo: 2000

# ---- the rate holds per line, although each line needs several lookups ---------------------------
$ python3 $DATA/lists/variants.py domain 3000 entries asked
$ bloomery build -q -f --type domain -p 0.02 -o list.bly entries
$ for i in $(seq 20000); do echo "q$i.some$i.of$i.many$i.invalid$((i % 7))"; done >others
$ bloomery check -c list.bly others | awk '{ print ($1 > 100 && $1 < 480) ? "as requested" : $1 }'
as requested

# ---- addresses and blocks ------------------------------------------------------------------------
$ printf '%s\n' 10.1.0.0/16 192.0.2.1 2001:db8::/32 2001:db9::1 ::ffff:203.0.113.0/120 >blocks.txt
$ bloomery build --type ip -o ip.bly blocks.txt
! bloomery build: 5 lines: 5 keys, 0 repeated
! bloomery build: ip.bly: bb2x512, 192 B, false positives: 1 in 1,000 lines, 1 in 3,000 lookups (up to 3 per line)
$ printf '%s\n' 10.1.2.3 10.2.0.0 192.0.2.1 192.0.2.2 ::ffff:10.1.0.7 2001:DB8:1::9 2001:db9::1 \
>     2001:db9::2 203.0.113.77 10.1.128.0/17 10.0.0.0/8 '[2001:db8::1]' >asked
$ bloomery check -n ip.bly asked
1:10.1.2.3
3:192.0.2.1
5:::ffff:10.1.0.7
6:2001:DB8:1::9
7:2001:db9::1
9:203.0.113.77
10:10.1.128.0/17
12:[2001:db8::1]
$ bloomery check --json ip.bly -k 10.1.2.3
{"line":"10.1.2.3","match":true,"by":"10.1.0.0/16"}
$ bloomery check --json ip.bly -k 2001:db8:5::1
{"line":"2001:db8:5::1","match":true,"by":"2001:db8::/32"}
$ bloomery check --json ip.bly -k 10.2.0.1
{"line":"10.2.0.1","match":false,"by":null}
? 1
$ printf '%s\n' 10.0.0.5/24 300.1.1.1 2001:db8::1/32 10.0.0.0/33 fe80::1%eth0 '' 1.2.3.4:80 |
>     bloomery build --type ip -o bad.bly
! bloomery build: standard input:1: host bits are set (did you mean 10.0.0.0/24?): '10.0.0.5/24'
! bloomery build: standard input:2: not an IP address: '300.1.1.1'
! bloomery build: standard input:3: host bits are set (did you mean 2001:db8::/32?): '2001:db8::1/32'
! bloomery build: standard input:4: the prefix length of an IPv4 block is at most 32: '10.0.0.0/33'
! bloomery build: standard input:5: not an IP address: 'fe80::1%eth0'
! bloomery build: standard input:7: not an IP address: '1.2.3.4:80'
! bloomery build: 6 malformed lines, so nothing was written; most lines are not of type ip; check --type and the input
? 2
$ ls bad.bly
! ls: cannot access 'bad.bly': No such file or directory
? 2

# A list in the format of well-known blocklists.
$ printf '%s\n' '; a list of blocks' '192.0.2.0/24 ; SBL1' '198.51.100.0/25	# SBL2' '' '# end' \
>     >drop.txt
$ bloomery build --type ip --comments -o drop.bly drop.txt
! bloomery build: 5 lines: 2 keys, 0 repeated, 3 blank or comments
! bloomery build: drop.bly: bb2x512, 128 B, false positives: 1 in 1,000 lines, 1 in 2,000 lookups (up to 2 per line)
$ printf '%s\n' 192.0.2.200 198.51.100.127 198.51.100.128 | bloomery check drop.bly
192.0.2.200
198.51.100.127
$ bloomery build --type ip -o drop2.bly drop.txt
! bloomery build: drop.txt:1: not an IP address: '; a list of blocks'
! bloomery build: drop.txt:2: not an IP address or block: '192.0.2.0/24 ; SBL1'
! bloomery build: drop.txt:3: not an IP address or block: '198.51.100.0/25\x09# SBL2'
! bloomery build: drop.txt:5: not an IP address: '# end'
! bloomery build: 4 malformed lines, so nothing was written; use --comments to ignore comments, which begin with '#' or ';'
? 2

# ---- domains ------------------------------------------------------------------------------------
$ printf '%s\n' Example.COM. '*.tracker.example.org' zip | bloomery build --type domain -o d.bly
! bloomery build: 3 lines: 3 keys, 0 repeated
! bloomery build: d.bly: bb2x512, 192 B, false positives: 1 in 1,000 lines, 1 in 3,000 lookups (up to 3 per line)
$ printf '%s\n' www.example.com EXAMPLE.com notexample.com example.org a.b.tracker.example.org \
>     any.zip com tracker.example.org.evil.net >asked
$ bloomery check d.bly asked
www.example.com
EXAMPLE.com
a.b.tracker.example.org
any.zip
$ bloomery check --json d.bly -k a.b.c.Example.com
{"line":"a.b.c.Example.com","match":true,"by":"example.com"}
$ printf '%s\n' http://example.com/ 192.0.2.1 bob@example.com 'a b' |
>     bloomery build --type domain -o bad.bly
! bloomery build: standard input:1: a URL or path, not a domain (type url takes URLs): 'http://example.com/'
! bloomery build: standard input:2: an IP address, not a domain (type ip takes those): '192.0.2.1'
! bloomery build: standard input:3: an e-mail address, not a domain (type email takes those): 'bob@example.com'
! bloomery build: standard input:4: not a domain: 'a b'
! bloomery build: 4 malformed lines, so nothing was written; most lines are not of type domain; check --type and the input
? 2

# Top-level domains are looked up only if the list has one, so they add no false positives otherwise.
$ printf 'example.com\n' | bloomery build --json -q --type domain -o e.bly | tr , '\n' |
>     grep -E 'per_line|marks|keys'
"keys":1
"marks":24
"lookups_per_line":1
"rate_per_line_requested":0.001

# ---- phone numbers, mail addresses, URLs ---------------------------------------------------------
$ printf '%s\n' '+49 (0)30 901820' '0044 20 7946 0000' 110 | bloomery build --type phone -o p.bly
! bloomery build: 3 lines: 3 keys, 0 repeated
! bloomery build: p.bly: split512, 128 B, false positives: 1 in 1,000 lines (one lookup per line)
$ printf '%s\n' '004930/901820' '+44 (0) 20-7946.0000' 110 '030 901820' | bloomery check p.bly
004930/901820
+44 (0) 20-7946.0000
110
$ printf '%s\n' 12 1-800-FLOWERS +1234567890123456 | bloomery build --type phone -o bad.bly
! bloomery build: standard input:1: too few digits for a phone number: '12'
! bloomery build: standard input:2: not a phone number: '1-800-FLOWERS'
! bloomery build: standard input:3: too many digits for a phone number: '+1234567890123456'
! bloomery build: 3 malformed lines, so nothing was written; most lines are not of type phone; check --type and the input
? 2
$ printf '%s\n' Bob@Example.com | bloomery build --type email -o m.bly
! bloomery build: 1 line: 1 key, 0 repeated
! bloomery build: m.bly: split512, 128 B, false positives: 1 in 1,000 lines (one lookup per line)
$ printf '%s\n' '<bob@example.COM>' mailto:BOB@example.com alice@example.com | bloomery check m.bly
<bob@example.COM>
mailto:BOB@example.com
$ printf '%s\n' bob bob@ @example.com | bloomery build --type email -o bad.bly
! bloomery build: standard input:1: not an e-mail address: 'bob'
! bloomery build: standard input:2: no valid domain after the @ of an e-mail address: 'bob@'
! bloomery build: standard input:3: not an e-mail address: '@example.com'
! bloomery build: 3 malformed lines, so nothing was written; most lines are not of type email; check --type and the input
? 2
$ printf '%s\n' 'http://evil.example/a/../login' | bloomery build --type url -o u.bly
! bloomery build: 1 line: 1 key, 0 repeated
! bloomery build: u.bly: split512, 128 B, false positives: 1 in 1,000 lines (one lookup per line)
$ printf '%s\n' 'HTTP://EVIL.example:80/login#x' 'http://evil.example/' | bloomery check u.bly
HTTP://EVIL.example:80/login#x
$ printf '%s\n' evil.example/login | bloomery build --type url -o bad.bly
! bloomery build: standard input:1: not a URL: 'evil.example/login'
! bloomery build: 1 malformed line, so nothing was written; use --skip-malformed to skip such lines
? 2

# ---- what the list says of itself ---------------------------------------------------------------
$ bloomery check --type line d.bly asked
! bloomery check: warning: d.bly: has keys of type domain; with --type line, lines may not be found in it
? 1
$ bloomery check --type domain ip.bly -k 192.0.2.1
! bloomery check: warning: ip.bly: has keys of type ip; with --type domain, lines may not be found in it
! bloomery check: 1 line is not of type domain and so cannot match the list; use --strict to report it
? 1
# A filter without marks can be used with any --type; then every prefix length is looked up.
$ printf 'example.com\n' | bloomery build -o plain.bly
! bloomery build: 1 line: 1 key, 0 repeated
! bloomery build: plain.bly: split512, 128 B, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery check --type domain plain.bly -k www.EXAMPLE.com
www.EXAMPLE.com
$ bloomery check plain.bly -k www.EXAMPLE.com
? 1

# Two lists of different types cannot be merged, unless their types are recorded only in marks.
$ printf 'example.com\n' | bloomery build -q --kind classic -n 1000 --type domain -o one.bly
$ printf 'bob@example.org\n' | bloomery build -q --kind classic -n 1008 --type email -o two.bly
$ bloomery merge -q -o both.bly one.bly two.bly
! bloomery merge: two.bly: differs from one.bly in its type of keys (email, not domain); only filters built with the same options can be merged
? 2
$ $DATA/unrecord.py one.bly two.bly; bloomery merge -q -o both.bly one.bly two.bly 2>/dev/null
$ bloomery check both.bly -k www.example.com
! bloomery check: both.bly: has keys of several types, or is too full to recognise the type; choose one with --type
? 2
$ bloomery check --type domain both.bly -k www.example.com
www.example.com
$ bloomery check --type email both.bly -k BOB@example.org
BOB@example.org

# ---- a byte order mark at the start of a file, as some editors write it ----------------------------
$ printf '\xef\xbb\xbf192.0.2.1\r\n192.0.2.2\r\n' >marked && bloomery build -f --type ip -o list.bly marked
! bloomery build: 2 lines: 2 keys, 0 repeated
! bloomery build: list.bly: split512, 128 B, false positives: 1 in 1,000 lines (one lookup per line)
$ bloomery check -c list.bly marked
2
$ bloomery check -c list.bly -k 192.0.2.1
1
$ printf '\xef\xbb\xbf# a comment\nexample.com\n' | bloomery build -f --comments --type domain -o list.bly
! bloomery build: 2 lines: 1 key, 0 repeated, 1 blank or comments
! bloomery build: list.bly: split512, 128 B, false positives: 1 in 1,000 lines (one lookup per line)
$ printf '\xef\xbb\xbfline\n' | bloomery build -q -f -o list.bly && bloomery check -c list.bly -k line
0
? 1

# ---- the rate per line is the one requested at build, whatever is added ---------------------------
$ for i in $(seq 0 19); do seq -f "10.0.$i.%g" 0 249; done >addresses
$ bloomery build -q -f --type ip -p 1/1000 -n 5010 -o list.bly addresses
$ bloomery verify list.bly
list.bly: good; false-positive rate 0.0946% per line and per lookup (requested 0.1%)
$ printf '1.0.0.0/16\n1.2.3.0/24\n' | bloomery add list.bly
! bloomery add: list.bly: 2 of 2 keys new; now 5,002 keys (capacity: 5,002)
! bloomery add: warning: list.bly: a line now needs up to 3 lookups instead of 1, so the false-positive rate per line is up to 0.287%; build the list again
$ bloomery verify list.bly
list.bly: intact, but above its requested rate; false-positive rate 0.286% per line (requested 0.1%), 0.0955% per lookup (requested 0.1%)
! bloomery verify: warning: list.bly: above its requested rate: a line now needs up to 3 lookups instead of 1, so the false-positive rate per line is 0.286% (requested: 0.1%); build it again
? 1
$ bloomery verify --json --measure list.bly 2>/dev/null | tr , '\n' | grep -e verdict -e lookups_per -e requested -e judged
"verdict":"broken"
"lookups_per_line":3
"rate_per_lookup_requested":0.001
"rate_per_line_requested":0.001
"measured":{"judged":"rate_per_line"
$ bloomery info list.bly | grep -e 'per l' -e health -e keys
  keys       5,002 counted, 5,009 estimated, and 32 marks
  capacity   5,002 keys and 32 marks, 15.8 bits per key
  per line   0.1% requested, 0.297% expected, 0.286% current (1 in 349), up to 3 lookups (requested for 1)
  per lookup 0.1% requested, 0.0991% expected, 0.0955% current (1 in 1,047)
  health     a line now needs up to 3 lookups instead of 1, so the false-positive rate per line is 0.286% (requested: 0.1%)
$ bloomery info --json list.bly | tr , '\n' | grep within
"within_requested_rate":false
# An overlay over it reports the same.
$ bloomery build -q -f --over list.bly -o over.bly; bloomery verify over.bly 2>&1 | grep -c 'above its requested rate: a line now needs up to 3 lookups instead of 1'
1
# A list that was built with all prefix lengths keeps the rate.
$ (cat addresses; printf '1.0.0.0/16\n1.2.3.0/24\n') | bloomery build -q -f --type ip -p 1/1000 -n 5010 -o list.bly; bloomery verify list.bly
list.bly: good; false-positive rate 0.101% per line (requested 0.1%), 0.0336% per lookup (requested 0.0333%)

# ---- a high rate does not make prefix lengths seem present -----------------------------------------
$ bloomery build -f --type ip -p 0.5 -o list.bly addresses
! bloomery build: 5,000 lines: 5,000 keys, 0 repeated
! bloomery build: list.bly: sbbf, 4.69 KiB, false positives: 1 in 20 lines (one lookup per line)
! bloomery build: the false-positive rate of a list of type ip is at most 5% per lookup, so this list has a lower rate than requested
$ bloomery info list.bly | grep -e rate -e marks; bloomery verify list.bly
  keys       4,962 counted, 5,040 estimated, and 24 marks
  capacity   5,000 keys and 24 marks, 7.49 bits per key
  rate       5% requested, 4.47% expected, 4.47% current (1 in 22), per line and per lookup
list.bly: good; false-positive rate 4.47% per line and per lookup (requested 5%)
$ seq -f 'd%g.test' 2000 | bloomery build --json -q -f --type domain -p 0.9 -o list.bly | tr , '\n' | grep -e lookup -e rate
"lookups_per_line":1
"rate_per_lookup_requested":0.05
"rate_per_line_requested":0.05
# A type of one lookup per line has no such limit.
$ seq 100000 100999 | bloomery build --json -q -f --type phone -p 0.5 -o list.bly | tr , '\n' | grep rate_per_line
"rate_per_line_requested":0.5

# ---- an overfull list counts the marks that are certain, and finds every key ---------------------
$ head -100 addresses | bloomery build -q -f --type ip -o list.bly; tail -n +101 addresses | bloomery add list.bly
! bloomery add: list.bly: 568 of 4,900 keys new; now 676 keys (capacity: 108)
! bloomery add: warning: list.bly: too full: every bit is set (capacity: 124 keys), so every lookup matches; build a larger filter
$ bloomery info list.bly | grep -e keys -e per -e health
  shape      4 blocks, 8 bits per key
  keys       676 counted, too many to estimate, and at least 16 marks
  capacity   108 keys and at least 16 marks, 16.5 bits per key
  per line   100% current (1 in 1), up to 129 lookups; too full: some prefix lengths are false positives
  per lookup 0.1% requested, 100% expected, 100% current (1 in 1)
  health     too full: every bit is set (capacity: 124 keys), so every lookup matches
$ bloomery info --json list.bly | tr , '\n' | grep -e '"marks' -e requested; bloomery verify list.bly
"rate_per_lookup_requested":0.001
"rate_per_line_requested":null
"within_requested_rate":false
"marks":16
list.bly: intact, but too full; false-positive rate 100% per lookup (requested 0.1%), 100% per line of up to 129 lookups
! bloomery verify: warning: list.bly: too full: every bit is set (capacity: 124 keys), so every lookup matches; build a larger filter
? 1
$ bloomery check -c list.bly addresses
5000

# In an overfull list of counters, the mark of a prefix length that is only a false positive is added
# nevertheless. Otherwise removing other keys could remove it, and keys of that length would not be found.
$ x=7; for i in $(seq 450); do x=$((x*1103515245%2147483648+12345)); echo 10.$((x>>20&255)).$((x>>12&255)).$((x>>4&255)); done >many; head -50 many | sed s/10/11/ | bloomery build -q --kind counting --counter-bits 16 --type ip -n 100 -o full.bly; bloomery add -q full.bly many 2>/dev/null; for p in $(seq 8 30); do bloomery add -q full.bly -k $((100+p)).0.0.0/$p 2>/dev/null; done; bloomery remove -q full.bly many 2>/dev/null; for p in $(seq 8 30); do bloomery check full.bly -k $((100+p)).0.0.1 >/dev/null || echo missed /$p; done
