# How often each line has occurred so far.
$ printf 'a\nb\na\na\n' > letters; bloomery count letters
1	a
1	b
2	a
3	a
$ bloomery count < letters | tail -1; bloomery count letters letters | tail -1; : > empty; bloomery count empty
3	a
6	a
$ printf 'x\ny' | bloomery count | od -An -c; printf '\n\n' | bloomery count | od -An -c
   1  \t   x  \n   1  \t   y  \n
   1  \t  \n   2  \t  \n

# All counts are exact, from a file and from a pipe.
$ (for i in $(seq 12); do seq 1000; done) > twelve; bloomery count twelve | tail -1000 | cut -f 1 | sort | uniq -c
   1000 12
$ yes x | head -100000 > often; bloomery count < often | awk 'NR != $1 { bad++ } END { print bad + 0, $1 }'
0 100000
$ bloomery count --exact often | awk 'NR != $1 { bad++ } END { print bad + 0, $1 }'
0 100000

# The most frequent lines.
$ (seq 20; seq 10; seq 5; echo 3) > skewed; bloomery count --top 3 skewed
4	3
3	1
3	2
$ bloomery count --top 100 --min 2 skewed | cut -f 1 | uniq -c; bloomery count --exact --top 1 skewed
      1 4
      4 3
      5 2
4	3
$ bloomery count --top 2 --json skewed | sed -E 's/"seconds":[0-9.e-]+/"seconds":S/'
{"lines":36,"new_keys":20,"kind":"hybrid","estimates":false,"memory_bytes":350016,"seconds":S,"top":[{"count":4,"key":"3"},{"count":3,"key":"1"}]}
$ bloomery count --exact --top 1 --json -n 100 skewed | grep -o '"kind.*bytes":[0-9]*'
"kind":"hybrid","estimates":false,"memory_bytes":640
$ bloomery count --top 3 empty; bloomery count --top 0 skewed
! bloomery count: --top cannot be '0': it must be at least 1
? 2
$ bloomery count --top 1e12 skewed
! bloomery count: --top 1000000000000: out of memory
? 2

# Only lines that have occurred often enough.
$ bloomery count --min 2 letters; bloomery count --min 5 letters
2	a
3	a

# JSON.
$ printf 'a\n\377\na\n' | bloomery count --json
{"count":1,"line":"a"}
{"count":1,"line":"\ufffd","line_base64":"/w=="}
{"count":2,"line":"a"}
$ bloomery count --stats letters 2>&1 > /dev/null | sed -E 's/[0-9.]+ (s|MiB|KiB)/N \1/; s/, .* lines a second/, R/'
lines      4
new keys   2
memory     N KiB (hybrid)
time       N s, R
$ bloomery count --stats --url --field 1 letters 2>&1 > /dev/null | grep -e URL -e field
not URLs   4
no field   0

# What is compared. Lines are printed as they were read, but --top prints what was compared.
$ printf '10.0.0.1 GET /\n10.0.0.2 GET /\n10.0.0.1 POST /\n' > log; bloomery count --field 1 -t ' ' log; bloomery count --top 1 --field 1 -t ' ' log
1	10.0.0.1 GET /
1	10.0.0.2 GET /
2	10.0.0.1 POST /
2	10.0.0.1
$ printf 'HTTP://A.test/\nhttp://a.test\n' > urls; bloomery count --url urls; bloomery count --top 1 --url urls; bloomery count --url=crawl -i --top 5 urls
1	HTTP://A.test/
2	http://a.test
2	http://a.test/
2	http://a.test/
$ printf 'a\nA\n' | bloomery count -i; printf 'a\n\0a\n\0' | bloomery count -0 | od -An -c
1	a
2	A
   1  \t   a  \n  \0   2  \t   a  \n  \0
$ printf 'see http://a.test/x\nand http://a.test/x, http://b.test/\n' | bloomery count -x; printf 'http://a.test/x http://a.test/x\n' | bloomery count -x --top 1
1	http://a.test/x
2	http://a.test/x
1	http://b.test/
2	http://a.test/x
$ seq 5 | gzip > z.gz; seq 3 | zstd -q > z.zst; bloomery count --top 3 z.gz z.zst
2	1
2	2
2	3
$ bloomery count -k one; bloomery count -k one letters
1	one
! bloomery count: --key and a FILE cannot be combined; give only one
? 2
$ bloomery count --url crawl
! bloomery count: there is no file 'crawl'; write --url=crawl to choose the level
? 2
$ bloomery count -x --field 1 log
! bloomery count: --extract-urls and --field cannot be combined: links are extracted from the whole line
? 2
$ bloomery count -t x log
! bloomery count: --delimiter needs --field
? 2

# Across runs.
$ bloomery count --sketch -n 1000 --state days.bly letters; bloomery count --state days.bly letters | tail -1; bloomery count -s days.bly --top 1 letters
1	a
1	b
2	a
3	a
~6	a
~9	a
! bloomery count: counts marked ~ are estimates, too high by at most 3
! bloomery count: counts marked ~ are estimates, too high by at most 6
$ bloomery count --query --state days.bly letters; printf 'never\n' | bloomery count --query -s days.bly; bloomery count --query -s days.bly -k b
~9	a
~3	b
~9	a
~9	a
0	never
~3	b
! bloomery count: counts marked ~ are estimates: about 1 in 22,449,952 keys have a count that is too high, and counts above 27 are typically off by 20%
! bloomery count: counts marked ~ are estimates: about 1 in 22,449,952 keys have a count that is too high, and counts above 27 are typically off by 20%
$ bloomery count --query -s days.bly --top 5 --min 4 letters
~9	a
! bloomery count: counts marked ~ are estimates: about 1 in 22,449,952 keys have a count that is too high, and counts above 27 are typically off by 20%
$ bloomery info days.bly
days.bly
  kind       counts: how often each key was added: exact for small counts, then estimated
  shape      106 lines of 64 counters, 4 counters per key
  file       6.69 KiB (6,848 bytes)
  hash       xxh3, seed 0
  type       line
  keys       13 counted, including copies; 3 different keys estimated
  capacity   1,000 keys, 54.3 bits per key
  rate       5% requested, 6.99e-06% expected, 4.45e-06% current (1 in 22,449,952), per line and per lookup
  fill       ▕▏                       ▏ less than 1% of its capacity; 0.2% of its counters in use, 44.6% when full
$ bloomery info --json days.bly | grep -o '"counters".*'
"counters":6784,"stuck":0,"rebuild":false}
$ bloomery count --age -s days.bly empty; bloomery count --query -s days.bly letters
~4	a
~1	b
~4	a
~4	a
! bloomery count: counts marked ~ are estimates: about 1 in 22,449,952 keys have a count that is too high, and counts above 27 are typically off by 20%
$ for i in 1 2 3 4; do bloomery count --age -s days.bly empty; done; bloomery count --query -s days.bly letters; bloomery count -s days.bly letters | tail -1
0	a
0	b
0	a
0	a
3	a
$ bloomery count -q -i -s days.bly empty; bloomery count -s days.bly empty
! bloomery count: days.bly: was created without --url, --field and --ignore-case, but this run is with --field or --ignore-case, so keys would not match; use the same options, or another state
$ bloomery count --field 1 -s days.bly empty
! bloomery count: days.bly: was created without --url, --field and --ignore-case, but this run is with --field or --ignore-case, so keys would not match; use the same options, or another state
? 2
$ bloomery count --age -s new.bly letters; ls new.bly 2>&1
ls: cannot access 'new.bly': No such file or directory
! bloomery count: new.bly: --age halves the counts of a sketch, not exact counts; add --sketch, or leave out --age
? 2
$ : > begun; bloomery count -n 100 -s begun letters | tail -1; bloomery count -s begun -k a
3	a
4	a
$ bloomery count --sketch -s two.bly -n 1000 letters > /dev/null; bloomery merge -o both.bly two.bly two.bly; bloomery count --query -s both.bly -k a
~6	a
! bloomery merge: both.bly: 2 filters merged, about 3 keys; false-positive rate per lookup 4.45e-06% (requested: 5%)
! bloomery count: counts marked ~ are estimates: about 1 in 22,449,952 keys have a count that is too high, and counts above 27 are typically off by 20%
$ bloomery count --exact -n 1000 -s exact.bly often | tail -1; bloomery count --query -s exact.bly -k x; bloomery count -s exact.bly -k x; bloomery info exact.bly | grep kind
100000	x
100000	x
100001	x
  kind       hybrid: fingerprints with exact counts; keys can be removed, and added any number of times
$ bloomery count --exact -s exact.bly -k x
100002	x

# Options that contradict the state.
$ bloomery count -s days.bly --exact empty
! bloomery count: days.bly: contains estimated counts; leave out --exact, or name another file
? 2
$ bloomery count -s exact.bly --sketch empty
! bloomery count: exact.bly: contains exact counts; leave out --sketch, or name another file
? 2
$ bloomery count --sketch --exact empty
! bloomery count: --exact and --sketch cannot be combined; give only one
? 2
$ bloomery count -s exact.bly --age empty
! bloomery count: exact.bly: contains exact counts, and --age halves only the counts of a sketch; leave out --age
? 2
$ bloomery count -s days.bly -n 5 empty
! bloomery count: days.bly: was created with a different -n; leave out -n, or name another file
? 2
$ bloomery count -s days.bly -p 1% empty
! bloomery count: days.bly: was created with a different -p; leave out -p, or name another file
? 2
$ bloomery count -s days.bly -m 1M empty
! bloomery count: days.bly: already has a fixed size; leave out --memory, or name another file
? 2
$ bloomery count -s days.bly --seed 4 empty
! bloomery count: days.bly: has a different seed; leave out --seed, or name another file
? 2
$ bloomery count -s days.bly -n 1000 -p 5% letters | tail -1
~6	a
! bloomery count: counts marked ~ are estimates, too high by at most 3
$ bloomery build -q -o list.bly letters; bloomery count -s list.bly letters
! bloomery count: list.bly: contains no counts; name another file
? 2
$ bloomery build -q --kind hybrid -o ok.bly letters; bloomery build -q --kind counting -o counting.bly letters; bloomery count -s counting.bly letters
! bloomery count: counting.bly: is a list, not a --state file of bloomery count; print its counts with --query, or change it with bloomery add and bloomery remove
? 2
$ head -c 100 days.bly > cut.bly; bloomery count -s cut.bly letters; wc -c < cut.bly
100
! bloomery count: cut.bly: is cut short: it has 100 of 6848 bytes; copy it again
$ bloomery count -s missing/x.bly letters
! bloomery count: missing/x.bly: No such file or directory
? 2
$ rm -f out; mkfifo feed; exec 9<> feed; echo x >&9; bloomery count -s two.bly < feed > out 9>&- & until_true [ -s out ]
> bloomery count -s two.bly letters; echo $?; exec 9>&-; wait; ls -A | grep lock
2
! bloomery count: two.bly: another process is using this file; try again when it has finished
? 1

# --query works with every list that stores copies.
$ for kind in counting multilayer layered hybrid cuckoo growable-cuckoo counts; do bloomery build -q -f --copies --kind $kind -n 100 -o l.bly letters; echo $kind $(printf 'a\nb\nc\n' | bloomery count --query -s l.bly | cut -f 1); done
counting 3 1 0
multilayer 3 1 0
layered 3 1 0
hybrid 3 1 0
cuckoo 3 1 0
growable-cuckoo 3 1 0
counts ~3 ~1 0
! bloomery count: counts marked ~ are estimates: about 1 in 3,494,568 keys have a count that is too high, and counts above 27 are typically off by 20%
$ printf 'Example.COM.\nexample.com\na.test\n' | bloomery build -q --copies --kind hybrid --type domain -o domains.bly; printf 'EXAMPLE.com\nb.test\na.test.\nnot a name\n' | bloomery count --query -s domains.bly
2	EXAMPLE.com
0	b.test
1	a.test.
0	not a name
$ bloomery count --query -s list.bly letters
! bloomery count: list.bly: split512 filters do not count how often a key was added; these kinds do: counting, multilayer, layered, hybrid, cuckoo, counts, growable-cuckoo and scalable-cuckoo
? 2
$ bloomery count --query letters
! bloomery count: --query needs --state FILE
? 2
$ bloomery count --query -s missing.bly letters
! bloomery count: missing.bly: No such file or directory
? 2
$ bloomery count --query -s days.bly --exact letters
! bloomery count: --query only reads counts; leave out --age, --exact, --sketch, -n, -p, -m and --seed
? 2
$ bloomery count --age letters
! bloomery count: --age needs --state FILE, whose counts it halves
? 2
$ bloomery count --age --exact -s days.bly letters
! bloomery count: --age and --exact cannot be combined: --age halves counts, which only a sketch supports; give only one
? 2
$ bloomery count --memory 1M -n 5 --sketch letters; bloomery count --memory 1M -n 5 -s new.bly letters; bloomery count --memory 1M -n 5 letters | tail -1
3	a
! bloomery count: with --sketch or --state, --memory and -n both set the size; give only one
! bloomery count: with --sketch or --state, --memory and -n both set the size; give only one
$ bloomery count --key-file key --seed 3 letters
! bloomery count: --key-file and --seed cannot be combined: the secret key replaces the seed
? 2

# Sizes.
$ bloomery count --sketch --memory 1M --top 1 --json letters | grep -o '"memory_bytes":[0-9]*'; bloomery count -m 1M --exact --top 1 --json letters | grep -o '"memory_bytes":[0-9]*'
"memory_bytes":1048512
"memory_bytes":262144
$ bloomery count --memory 10 letters
! bloomery count: --memory 10 B is too small to store any counts; give a larger one
? 2
$ bloomery count -p 1e-300 letters
! bloomery count: cannot create the table of counts: the false-positive rate must lie strictly between 0 and 1, and not below 2^-40
? 2
$ seq 2000 | bloomery count --sketch -n 100 | tail -1 | cut -f 2
2000
! bloomery count: counts marked ~ are estimates, too high by at most 6; without --sketch, counts are exact
! bloomery count: warning: more different keys than the 100 planned for: 100% of new keys are mistaken for others, so counts are too high; give a larger -n
$ seq 2000 | bloomery count --exact -n 100 | awk '$1 != 1' | wc -l
0
$ seq 20000 | bloomery count -m 64K | awk '$1 != 1' | wc -l; seq 20000 | bloomery count -m 64K --top 1
0
! bloomery count: exact counts of 9,174 different keys have used up 64.0 KiB; give a larger --memory, or use --sketch for estimates in fixed memory
! bloomery count: exact counts of 9,174 different keys have used up 64.0 KiB; give a larger --memory, or use --sketch for estimates in fixed memory
? 2
$ seq 2000 | bloomery count --exact -s full.bly -n 100 > /dev/null
! bloomery count: full.bly: full: it was created for 100 different keys; name another file, and give a larger -n or --sketch
? 2

# Secret keys.
$ echo 000102030405060708090a0b0c0d0e0f > key; chmod 600 key; bloomery count --key-file key -n 10 -s keyed.bly letters | tail -1; bloomery count --query -s keyed.bly -k a
3	a
! bloomery count: keyed.bly: is keyed; pass its key file (key id 09ab680398f0e1ae) with --key-file
? 2
$ bloomery count --query --key-file key -s keyed.bly -k a; bloomery count --key-file key -s two.bly letters
3	a
! bloomery count: two.bly: is not keyed; leave out --key-file
? 2

# Inputs that cannot be read, outputs that cannot be written, signals.
$ bloomery count letters missing | tail -1; bloomery count --top 1 missing letters; echo $?
3	a
3	a
2
! bloomery count: missing: No such file or directory
! bloomery count: missing: No such file or directory
$ bloomery count letters > /dev/full
! bloomery count: standard output: No space left on device
? 2
$ bloomery count --top 1 --json letters > /dev/full
! bloomery count: standard output: No space left on device
? 2
$ bloomery count --json letters > /dev/full
! bloomery count: standard output: No space left on device
? 2
$ seq 100000 | bloomery count | head -1
1	1
$ exec 9<> feed; seq 5 >&9; bloomery count -n 100 -s sig.bly --top 1 < feed 9>&- & job=$!; until_true waits $job
> kill -TERM $job; wait $job; echo $?; bloomery count --query -s sig.bly -k 5
1	1
143
1	5
! bloomery count: stopped by a signal; the result covers the lines read so far
$ exec 9<> feed; echo a >&9; bloomery count < feed 9>&- | (read line; echo "$line at once"; echo b >&9; exec 9>&-; cat) & exec 9>&-; wait
1	a at once
1	b

# A list built from a DOS file has its lines without carriage returns, and they are looked up without them.
$ printf 'a\r\na\r\nb\r\n' >dos; bloomery build -q -f --kind hybrid --copies -o dos.bly dos; bloomery count --query --state dos.bly dos | tr -d '\r'
2	a
2	a
1	b

# Estimates are marked.
$ bloomery count --sketch -n 20 --top 3 twelve; bloomery count --sketch -n 20 --top 2 --json twelve | sed -E 's/.*"top"/"top"/'
~22	932
~22	965
~22	968
"top":[{"count":22,"estimate":true,"error":10,"key":"932"},{"count":22,"estimate":true,"error":10,"key":"965"}]}
! bloomery count: counts marked ~ are estimates, too high by at most 10; without --sketch, counts are exact
! bloomery count: warning: more different keys than the 20 planned for: 100% of new keys are mistaken for others, so counts are too high; give a larger -n
! bloomery count: warning: more different keys than the 20 planned for: 100% of new keys are mistaken for others, so counts are too high; give a larger -n
$ seq 300 | bloomery count --sketch -n 20 --min 2 --json | sed -n 1,2p; seq 300 | bloomery count -q --sketch -n 20 --min 2 | sed -n 1,2p
{"count":2,"estimate":true,"error":1,"line":"39"}
{"count":2,"estimate":true,"error":1,"line":"41"}
~2	39
~2	41
! bloomery count: warning: more different keys than the 20 planned for: 100% of new keys are mistaken for others, so counts are too high; give a larger -n
! bloomery count: warning: more different keys than the 20 planned for: 100% of new keys are mistaken for others, so counts are too high; give a larger -n
$ yes often | head -1000 | bloomery count --sketch --top 1 -n 100; (seq 2000; yes often | head -1000; seq 2000) | bloomery count --sketch --top 1 -m 1K
1000	often
~1006	often
! bloomery count: counts marked ~ are estimates, too high by at most 6; without --sketch, counts are exact
! bloomery count: warning: more different keys than the 114 planned for: 100% of new keys are mistaken for others, so counts are too high; give a larger --memory
$ yes often | head -1000 | bloomery count --top 1 -n 100 --exact
1000	often
