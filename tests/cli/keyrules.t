# How lines become keys: the same rule in every command, recorded in the header of each file.

# ---- the carriage return ----

# Files with both kinds of line ends have the same keys. Lines are printed unchanged.
$ printf 'a\r\n\r\nb c\r\n' >dos; printf 'a\n\nb c\n' >unix; printf 'a\0\0b c\0' >nul; cat dos unix | bloomery dedup | od -An -c
   a  \r  \n  \r  \n   b       c  \r  \n
$ cat dos unix | dedup_urls 2>/dev/null | od -An -c
   a  \r  \n  \r  \n   b       c  \r  \n
$ cat dos unix | bloomery dedup -d -c; cat dos unix | bloomery distinct; cat dos unix | bloomery count --top 3 --exact | sort
6 lines, 3 unique, 3 repeated
3 distinct of 6 lines
2	
2	a
2	b c
$ cat dos unix | bloomery dedup --field 2 -t ' ' | od -An -c
   a  \r  \n  \r  \n   b       c  \r  \n
# Only one carriage return is dropped, and none with -0.
$ printf 'a\r\r\na\r\na\n' | bloomery dedup | od -An -c
   a  \r  \r  \n   a  \r  \n
$ printf 'a\r\0a\0' | bloomery dedup -0 | od -An -c; printf 'a\r\0a\0' | bloomery distinct -0 | cut -d ' ' -f 1
   a  \r  \0   a  \0
2
# Every command that stores keys, and every command that looks them up.
$ bloomery dedup -q --state dedup.bly dos >/dev/null; bloomery build -q -o build.bly dos; bloomery build -q -0 -o nul.bly nul; : | bloomery build -q -n 100 -o add.bly; bloomery add -q add.bly dos; bloomery count -q --exact --state count.bly dos >/dev/null
! bloomery build: warning: the input has no keys; the list will match nothing
$ for list in dedup build nul add count; do for file in dos unix; do echo "$list $file: $(bloomery check -c $list.bly $file)"; done; bloomery check -c -0 $list.bly nul; done
dedup dos: 3
dedup unix: 3
3
build dos: 2
build unix: 2
2
nul dos: 2
nul unix: 2
2
add dos: 2
add unix: 2
2
count dos: 3
count unix: 3
3
$ for file in dos unix; do bloomery count --query --state count.bly $file | tr '\r' '^'; bloomery dedup -c --state dedup.bly $file; done
1	a^
1	^
1	b c^
3 lines, 0 unique, 3 repeated
1	a
1	
1	b c
3 lines, 0 unique, 3 repeated
$ bloomery distinct --state seen.hll dos; bloomery distinct --state seen.hll unix
3 distinct of 3 lines
3 distinct of 3 lines and earlier runs
# The same with fingerprints.
$ bloomery dedup --exact --state exact.fps dos | wc -l; bloomery dedup --exact --state exact.fps unix; bloomery dedup --confirm confirm.fps unix | wc -l; bloomery dedup --confirm confirm.fps dos
3
3

# ---- states from before ----

# Old states keep the carriage return as part of the key, with one warning.
$ printf 'a\r\n' > return; bloomery dedup -q --state new.bly return >/dev/null; cp new.bly old.bly; $DATA/unrecord.py old.bly; printf 'x\n' | bloomery dedup --state old.bly
x
$ printf 'a\r\nb\r\n' | bloomery dedup --state old.bly | od -An -c
   a  \r  \n   b  \r  \n
! bloomery dedup: warning: old.bly: a line ends in a carriage return, which is part of the key in this state; the same line without it is a different key. A new state ignores carriage returns at the end of lines
$ printf 'a\nb\nc\r\0' | bloomery dedup -0 --state old.bly | od -An -c
   a  \n   b  \n   c  \r  \0
# check looks up each line in an old state with and without it.
$ printf 'a\r\nb\r\nx\r\ny\r\n' | bloomery check old.bly | od -An -c
   a  \r  \n   b  \r  \n   x  \r  \n
# So it does in any other list that does not record the rule; --json shows which form matched.
$ cp build.bly lines.bly; $DATA/unrecord.py lines.bly; bloomery check lines.bly dos | od -An -c; printf 'b\r\nz\r\n' | bloomery check --json old.bly
   a  \r  \n   b       c  \r  \n
{"file":"standard input","number":1,"line":"b\u000d","match":true,"by":"b\u000d"}
{"file":"standard input","number":2,"line":"z\u000d","match":false,"by":null}
$ printf 'x\n' | bloomery count -q --exact --state old-count.bly >/dev/null; $DATA/unrecord.py old-count.bly; printf 'a\r\n\n' | bloomery count -q --state old-count.bly >/dev/null 2>&1; printf 'a\r\nx\r\n\ny\r\n' | bloomery check old-count.bly | od -An -c
   a  \r  \n   x  \r  \n  \n
# A line that is added to an old state is found by dedup with and without the carriage return.
$ printf 'k\r\nl\r\n\r\nm\n' | bloomery add old.bly; printf 'k\r\nl\r\n\r\nm\n' | bloomery dedup --state old.bly; printf 'k\nl\n\nm\n' | bloomery dedup --state old.bly
! bloomery add: warning: old.bly: does not record whether a carriage return at the end of a line is part of the key, so such lines are added both with and without it; build a new list to avoid this
! bloomery add: old.bly: 7 of 7 keys new; now 13 keys (capacity: 65,536)
! bloomery dedup: warning: old.bly: a line ends in a carriage return, which is part of the key in this state; the same line without it is a different key. A new state ignores carriage returns at the end of lines
$ printf 'n\n' | bloomery add -q old.bly; printf 'n\r\0' | bloomery add -q -0 old.bly
# If the list stores copies, a line is added in one form only.
$ printf 'k\r\n' | bloomery add old-count.bly; printf 'k\r\n' | bloomery remove old-count.bly; printf 'k\r\n' | bloomery add -q old-count.bly 2>&1 | wc -l
1
! bloomery add: warning: old-count.bly: does not record whether a carriage return at the end of a line is part of the key. In old states of bloomery count it is, but this command leaves it out. Use lines that end in a newline alone, or build a new list
! bloomery add: old-count.bly: 1 of 1 key new; now 5 keys (capacity: 1,000,000)
! bloomery remove: warning: old-count.bly: does not record whether a carriage return at the end of a line is part of the key. In old states of bloomery count it is, but this command leaves it out. Use lines that end in a newline alone, or build a new list
! bloomery remove: old-count.bly: 1 removed, 0 not found; now 4 keys
# The same for count and distinct.
$ printf 'a\n' | bloomery count -q --exact --state old.counts >/dev/null; $DATA/unrecord.py old.counts; printf 'a\r\na\r\nb\r\n' | bloomery count --state old.counts | tr '\r' '^'
1	a^
2	a^
1	b^
! bloomery count: warning: old.counts: a line ends in a carriage return, which is part of the key in this state; the same line without it is a different key. A new state ignores carriage returns at the end of lines
$ printf 'a\r\n' | bloomery count --query --state old.counts | tr '\r' '^'
2	a^
$ printf 'a\n' | bloomery distinct --state old.hll; $DATA/unrecord.py old.hll; printf 'a\r\n' | bloomery distinct --state old.hll
1 distinct of 1 line
2 distinct of 1 line and earlier runs
! bloomery distinct: warning: old.hll: a line ends in a carriage return, which is part of the key in this state; the same line without it is a different key. A new state ignores carriage returns at the end of lines

# ---- the type of a list ----

# An overfull list of lines stays a list of lines, however many bits are set.
$ seq -f bad%g.example 0 7999 >p; head -1000 p | bloomery build -q -o o.bly; bloomery add -q o.bly p 2>/dev/null; bloomery check -c o.bly p
8000
$ bloomery build -q -p 0.9 -o half.bly p; bloomery check -c half.bly p
8000
$ bloomery info o.bly | grep type; bloomery info --json o.bly | grep -o '"type":"[a-z]*"'
  type       line
"type":"line"
# So does a list of any other type, and all its keys are found.
$ for i in $(seq 0 255); do echo 10.$i.0.0/16; echo 192.0.$i.1; done >ips; head -20 ips | bloomery build -q --type ip -o ips.bly; bloomery add -q ips.bly ips 2>/dev/null; sed 's,0/16,77,' ips | bloomery check -c ips.bly; bloomery info ips.bly | grep type
512
  type       ip
# A list whose header does not record the type and that is too full for its marks to be trusted: no type is guessed.
$ cp o.bly guess.bly; $DATA/unrecord.py guess.bly; bloomery check -c guess.bly p
! bloomery check: guess.bly: has keys of several types, or is too full to recognise the type; choose one with --type
? 2
$ bloomery check -c --type line guess.bly p
8000
# The marks of a list that is far from full are trusted, and adding to it records the type.
$ echo Example.COM | bloomery build -q --type domain -n 100 -o marked.bly; $DATA/unrecord.py marked.bly; bloomery check marked.bly -k www.example.com; echo example.org | bloomery add -q marked.bly; bloomery info marked.bly | grep type; seq -f n%g.test 1 5000 | bloomery add -q marked.bly 2>/dev/null; bloomery check -q marked.bly -k x.EXAMPLE.com
www.example.com
  type       domain
# An overlay has the type of its base, a folded list that of the original.
$ bloomery build -q --over ips.bly -o over.bly; bloomery info over.bly | grep type; echo 192.0.2.0/24 | bloomery add -q over.bly; bloomery check over.bly -k 192.0.2.200
  type       ip
192.0.2.200
! bloomery add: warning: over.bly: too full: about 572 keys (capacity: 48); false-positive rate per lookup is now 80.7% (requested: 0.05%); build a larger filter
$ seq 100 | bloomery build -q --type phone --foldable -n 1000 -o fold.bly --skip-malformed; bloomery fold -q -o small.bly fold.bly; bloomery info small.bly | grep type
  type       phone
# A recorded type does not change, unless the list has no keys.
$ bloomery add --type ip build.bly -k 192.0.2.1
! bloomery add: build.bly: has keys of type line, so keys of type ip would not be found in it; leave out --type, or name another list
? 2
$ : | bloomery build -q -n 100 -o empty.bly; bloomery add -q --type ip empty.bly -k 192.0.2.0/24; bloomery check empty.bly -k 192.0.2.5
192.0.2.5
! bloomery build: warning: the input has no keys; the list will match nothing
# A keyed list shows its type without its key.
$ printf '00112233445566778899aabbccddeeff' >secret; chmod 600 secret; echo 192.0.2.1 | bloomery build -q --type ip --key-file secret -o keyed.bly; bloomery info keyed.bly | grep type
  type       ip

# ---- combining ----

$ echo a | bloomery build -q -n 100 -o a.bly; echo 192.0.2.1 | bloomery build -q -n 80 --type ip -o ip.bly; bloomery merge -o m.bly a.bly ip.bly
! bloomery merge: ip.bly: differs from a.bly in its type of keys (ip, not line); only filters built with the same options can be merged
? 2
$ printf 'b\0' | bloomery build -q -0 -n 100 -o b.bly; bloomery merge -q -o m.bly a.bly b.bly; printf 'a\nb\n' | bloomery check -c m.bly
2
# Merged with a list that records nothing, the result records nothing, or the type that its marks show.
$ cp ip.bly old-ip.bly; $DATA/unrecord.py old-ip.bly; bloomery merge -q -f -o m.bly old-ip.bly ip.bly; bloomery info m.bly | grep type; od -An -tu1 -j7 -N1 m.bly
  type       ip
  24
$ cp a.bly old-a.bly; $DATA/unrecord.py old-a.bly; bloomery merge -q -f -o m.bly a.bly old-a.bly; bloomery check m.bly -k a; od -An -tu1 -j7 -N1 m.bly
a
   0

# States that record how keys were made from lines cannot be combined with files that do not: the
# carriage return may be part of a key in one of them only.
$ printf 'a\n' | bloomery dedup -q -n 1000 --seed 7 --state o.state >/dev/null; $DATA/unrecord.py o.state; printf 'b\r\n' | bloomery dedup -q --state o.state >/dev/null 2>&1; printf 'c\r\n' | bloomery dedup -q -n 1000 --seed 7 --state n.state >/dev/null; bloomery merge -o m.state o.state n.state
! bloomery merge: o.state: does not record how its keys were made from lines, but n.state does. A line that ends in a carriage return may have a different key in each, and would not be found in the result. Build o.state again from its lines, or combine it only with files that do not record it either
? 2
$ bloomery merge -o m.state n.state o.state
! bloomery merge: o.state: does not record how its keys were made from lines, but n.state does. A line that ends in a carriage return may have a different key in each, and would not be found in the result. Build o.state again from its lines, or combine it only with files that do not record it either
? 2
$ bloomery intersect -o m.state n.state o.state
! bloomery intersect: o.state: does not record how its keys were made from lines, but n.state does. A line that ends in a carriage return may have a different key in each, and would not be found in the result. Build o.state again from its lines, or combine it only with files that do not record it either
? 2
$ bloomery count -q --exact --seed 7 --state n.counts unix >/dev/null; cp n.counts o.counts; $DATA/unrecord.py o.counts; bloomery subtract -o m.counts n.counts o.counts
! bloomery subtract: o.counts: does not record how its keys were made from lines, but n.counts does. A line that ends in a carriage return may have a different key in each, and would not be found in the result. Build o.counts again from its lines, or combine it only with files that do not record it either
? 2
$ bloomery intersect --estimate n.state o.state | head -1
n.state  2
$ cp o.state p.state; bloomery merge -q -o m.state o.state p.state; printf 'a\nb\r\n' | bloomery dedup -c --state m.state
2 lines, 0 unique, 2 repeated
! bloomery dedup: warning: m.state: a line ends in a carriage return, which is part of the key in this state; the same line without it is a different key. A new state ignores carriage returns at the end of lines
# An empty file has no keys that could be missed, so it can be combined.
$ : | bloomery build -q -n 1000 --seed 7 -o none.state; $DATA/unrecord.py none.state; bloomery merge -q -f -o m.state n.state none.state; printf 'c\r\n' | bloomery dedup --state m.state
! bloomery build: warning: the input has no keys; the list will match nothing
# The header does not distinguish --field from --ignore-case; the mark does.
$ for i in 1 2; do echo 'A b' | bloomery dedup -q -n 1000 --seed 7 --field $i -t ' ' --state field$i.state; echo 'a c' | bloomery dedup -q -n 1000 --seed 7 --field $i -t ' ' --state more$i.state; done | wc -l; echo 'A b' | bloomery dedup -q -n 1000 --seed 7 -i --state case.state
4
A b
$ bloomery merge -o m.fields field1.state field2.state
! bloomery merge: field2.state: was created with a different --field, --delimiter, --url or --ignore-case than field1.state, so a line has a different key in each. Only states created with the same options can be merged; create one of them again
? 2
$ bloomery merge -o m.fields case.state field2.state
! bloomery merge: field2.state: was created with a different --field, --delimiter, --url or --ignore-case than case.state, so a line has a different key in each. Only states created with the same options can be merged; create one of them again
? 2
$ bloomery merge -q -o m.fields field1.state more1.state; printf 'A\na\n' | bloomery dedup --field 1 -t ' ' --state m.fields

# ---- states of dedup, and lists ----

# A list of lines can be a state, and remains a list.
$ bloomery build -q -n 100 -o list.bly unix; printf 'a\nd\n\n' | bloomery dedup --state list.bly; printf 'a\nd\ne\n\n' | bloomery check list.bly
d
\
a
d
\
# A list of another type cannot.
$ echo 192.0.2.9 | bloomery dedup --state ip.bly
! bloomery dedup: ip.bly: is a list of type ip, not a state, so lines would not match its keys; name another file, or look lines up in the list with bloomery check
? 2
$ echo 192.0.2.9 | bloomery dedup --state old-ip.bly
! bloomery dedup: old-ip.bly: is a list of type ip, not a state, so lines would not match its keys; name another file, or look lines up in the list with bloomery check
? 2
# In a state of dedup --url, URLs are looked up and added in any spelling.
$ echo 'HTTP://Example.com/a?utm_source=x' >url; bloomery dedup --url --state url.bly url; bloomery check url.bly -k http://EXAMPLE.com:80/a?utm_source=x; bloomery check url.bly -k http://example.com/a
HTTP://Example.com/a?utm_source=x
http://EXAMPLE.com:80/a?utm_source=x
? 1
$ bloomery dedup --url=crawl --state crawl.bly url; bloomery check crawl.bly -k http://example.com/a; bloomery add crawl.bly -k 'http://example.com/b?utm_source=y'; bloomery check crawl.bly -k http://example.com/b; bloomery info crawl.bly | grep type
HTTP://Example.com/a?utm_source=x
http://example.com/a
http://example.com/b
  type       URL lines (--url=crawl)
! bloomery add: crawl.bly: 1 of 1 key new; now 3 keys (capacity: 65,536)
$ printf 'no url\r\n\r\n' | bloomery dedup --url --state url.bly | od -An -c; printf 'no url\n\n' | bloomery check -c url.bly
   n   o       u   r   l  \r  \n  \r  \n
2
# If the state was made with other options, check refuses it.
$ echo 'A b' > fields; bloomery dedup --field 1 -t ' ' --state field.bly fields; bloomery check field.bly -k A
A b
! bloomery check: field.bly: was created by bloomery dedup or count with --field or --ignore-case, so its keys are fields or lines in lower case; use --type line if your lines have the same form
? 2
$ bloomery check --type line field.bly -k A
A
! bloomery check: warning: field.bly: has keys of type lines (--field or --ignore-case); with --type line, lines may not be found in it
$ bloomery add field.bly -k A
! bloomery add: field.bly: was created by bloomery dedup or count with --field or --ignore-case; only the command that created it can change it
? 2
$ bloomery remove url.bly -k A
! bloomery remove: url.bly: keys cannot be removed from a scalable filter: keys share bits, so other keys would be removed too; build an overlay over it, which supports removal: bloomery build --over url.bly -o NEW.bly
? 2
$ bloomery count -q --exact --url --state counts.bly url >/dev/null; bloomery remove counts.bly -k http://example.com/a?utm_source=x; bloomery count --query --state counts.bly url
0	HTTP://Example.com/a?utm_source=x
! bloomery remove: counts.bly: 1 removed, 0 not found; now 1 key
$ bloomery check --type line url.bly -k A
! bloomery check: warning: url.bly: has keys of type URL lines (--url); with --type line, lines may not be found in it
? 1
# A state is used with the options that it was made with.
$ bloomery dedup --state url.bly url
! bloomery dedup: url.bly: was created with --url, but this run is without --url, --field and --ignore-case, so keys would not match; use the same options, or another state
? 2
$ bloomery dedup -i --state new.bly unix
! bloomery dedup: new.bly: was created without --url, --field and --ignore-case, but this run is with --field or --ignore-case, so keys would not match; use the same options, or another state
? 2
$ bloomery dedup --url --confirm confirm.fps unix
! bloomery dedup: confirm.fps: was created without --url, --field and --ignore-case, but this run is with --url, so keys would not match; use the same options, or another state
? 2
$ bloomery dedup --url --exact --state exact.fps unix
! bloomery dedup: exact.fps: was created without --url, --field and --ignore-case, but this run is with --url, so keys would not match; use the same options, or another state
? 2
$ bloomery distinct -i --state seen.hll unix
! bloomery distinct: seen.hll: was created without --url, --field and --ignore-case, but this run is with --field or --ignore-case, so keys would not match; use the same options, or another state
? 2
# Blank lines are keys of a state.
$ echo x | bloomery dedup -q --state blank.bly; printf '\n \n' | bloomery add blank.bly; printf '\n \nx\n' | bloomery dedup --state blank.bly
x
! bloomery add: blank.bly: 2 of 2 keys new; now 4 keys (capacity: 2,000,000)
$ printf 'x\n\n\n' | bloomery count -q --exact --state blank.counts >/dev/null; bloomery remove blank.counts -k ''; echo | bloomery remove -q blank.counts; printf '\nx\n' | bloomery count --query --state blank.counts
0	
1	x
! bloomery remove: blank.counts: 1 removed, 0 not found; now 3 keys
$ bloomery add build.bly -k ''
! bloomery add: --key must not be blank
! bloomery add: build.bly: was not changed
? 2
# Old states, whose options are recorded only in a mark.
$ $DATA/unrecord.py url.bly; bloomery check url.bly -k HTTP://example.com/a
? 1
$ bloomery check --json url.bly -k HTTP://example.com:80/a?utm_source=x; printf 'no url\r\n\n' | bloomery check -c url.bly
{"line":"HTTP://example.com:80/a?utm_source=x","match":true,"by":"http://example.com/a?utm_source=x"}
2
$ bloomery add url.bly -k HTTP://example.com:80/b; echo http://example.com/b | bloomery dedup --url --state url.bly; bloomery check url.bly -k http://EXAMPLE.com/b
http://EXAMPLE.com/b
! bloomery add: url.bly: 2 of 2 keys new; now 6 keys (capacity: 65,536)
$ cp crawl.bly old-crawl.bly; $DATA/unrecord.py old-crawl.bly; printf 'http://example.com/b?utm_source=z\nhttp://example.com/c\n' | bloomery check old-crawl.bly
http://example.com/b?utm_source=z
$ cp field.bly old-field.bly; $DATA/unrecord.py old-field.bly; bloomery check old-field.bly -k A
! bloomery check: old-field.bly: was created by bloomery dedup or count with --field or --ignore-case, so its keys are fields or lines in lower case; use --type line if your lines have the same form
? 2
$ bloomery check --type line old-field.bly -k A
A
! bloomery check: warning: old-field.bly: has keys of type lines (--field or --ignore-case); with --type line, lines may not be found in it
$ bloomery add old-field.bly -k A
! bloomery add: old-field.bly: was created by bloomery dedup or count with --field or --ignore-case; only the command that created it can change it
? 2
$ echo A | bloomery count -q --exact -i --state case.counts >/dev/null; $DATA/unrecord.py case.counts; bloomery check case.counts -k A
! bloomery check: case.counts: was created by bloomery dedup or count with --field or --ignore-case, so its keys are fields or lines in lower case; use --type line if your lines have the same form
? 2
$ bloomery dedup -q --url --state url.bly url; bloomery dedup --state url.bly url
HTTP://Example.com/a?utm_source=x
! bloomery dedup: warning: url.bly: does not record how its keys were made from lines; this run compares whole lines
$ cp build.bly old-list.bly; $DATA/unrecord.py old-list.bly; bloomery dedup --state old-list.bly unix
\
! bloomery dedup: warning: old-list.bly: does not record how its keys were made from lines; this run compares whole lines

# ---- rates ----

$ bloomery dedup -p 1e-12 -n 10k p | wc -l
8000
$ bloomery dedup -p 1e-12 p
! bloomery dedup: the false-positive rate -p 1e-12 is too low for a filter that grows; give the number of different lines with -n (then -p can be as low as 9.1e-13), or use --exact
? 2
# With --confirm, a false positive costs a page read and no line, and the filter grows at any rate.
$ bloomery dedup --confirm low.fps -p 1e-12 -n 1000 p | wc -l; bloomery dedup --confirm low.fps -p 1e-12 p
8000
$ bloomery dedup -p 1e-13 -n 10k p
! bloomery dedup: cannot create the filter: the false-positive rate must lie strictly between 0 and 1, and not below 2^-40
? 2
