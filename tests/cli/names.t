# Control characters in file names, which could control a terminal or forge a line of a log, are escaped.
$ bloomery info $'a\e[31mb' $'c\nbloomery info: all is well' $'d\x7f\x9b31m' $'e\u009b31m' $'gr\u00fc\u00dfe-\u65e5\u672c\U0001f600' $'bad\xe6\x97' 'back\x1bslash'
! bloomery info: a\x1b[31mb: No such file or directory
! bloomery info: c\x0abloomery info: all is well: No such file or directory
! bloomery info: d\x7f\x9b31m: No such file or directory
! bloomery info: e\xc2\x9b31m: No such file or directory
! bloomery info: grüße-日本😀: No such file or directory
! bloomery info: bad\xe6\x97: No such file or directory
! bloomery info: back\x1bslash: No such file or directory
? 2
$ bloomery $'no\e]0;title\a'
! bloomery: unknown command 'no\x1b]0;title\x07'; see bloomery --help
? 2
$ bloomery check $'--no\e[2J' x
! bloomery check: unknown option --no\x1b[2J; see --help
? 2
$ bloomery dedup --state $'no\tfolder/\rx'
! bloomery dedup: no\x09folder/\x0dx: No such file or directory
? 2
$ bloomery dedup -p $'1\e[8m'
! bloomery dedup: --rate cannot be '1\x1b[8m': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
? 2
$ seq 3 > $'lines\e[5m'; bloomery build -q -o $'l\eist.bly' $'lines\e[5m'; bloomery build -o $'l\eist.bly' $'lines\e[5m'
! bloomery build: l\x1bist.bly: already exists; use -f to replace it
? 2
$ bloomery info $'l\eist.bly' | head -1
l\x1bist.bly
$ bloomery verify $'l\eist.bly'
l\x1bist.bly: good; false-positive rate 2.33e-09% per line and per lookup (requested 0.1%)
$ bloomery distinct --each $'lines\e[5m'
3 distinct of 3 lines: lines\x1b[5m
3 distinct of 3 lines: total
$ bloomery intersect --estimate $'l\eist.bly' $'l\eist.bly'
l\x1bist.bly  3
l\x1bist.bly  3
both          3
either        3
jaccard       1.000
$ bloomery dedup -q --exact --state $'pr\eints' $'lines\e[5m' >/dev/null; bloomery verify $'pr\eints'; bloomery info $'pr\eints' | head -1
pr\x1bints: good; 3 fingerprints, and 1 that records the key rule
pr\x1bints

# In JSON, data and names follow the rules of JSON.
$ printf 'x\e[0m\n' > $'data\e'; bloomery dedup -q $'data\e' | od -An -c; bloomery info --json $'l\eist.bly' | grep -o '"file":"[^"]*"'
   x 033   [   0   m  \n
"file":"l\u001bist.bly"

# A long name is truncated, but the line end is not.
$ bloomery info $(printf '%05000d' 7) 2>&1 | wc -lc | tr -s ' '
 1 4111
$ bloomery info $(printf '\e%.0s' {1..3000}) 2>&1 | tail -c 20
x1b\x1b\x1b\x1b\x1b
