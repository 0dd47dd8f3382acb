# Each line the first time, in order.
$ printf 'b\na\nb\nc\na\n' | bloomery dedup
b
a
c

# The documents' example: three links, one of them repeated. 3 read, 2 kept.
$ printf '%s\n' https://blog.csdn.net/tanyun_sunshine/article/details/80087718 https://blog.csdn.net/tanyun_sunshine/article/details/80087718 https://www.baidu.comhttps://bbs.csdn.net/topics/380233284 > url.txt
$ bloomery dedup url.txt
https://blog.csdn.net/tanyun_sunshine/article/details/80087718
https://www.baidu.comhttps://bbs.csdn.net/topics/380233284
$ bloomery dedup --count url.txt
3 lines, 2 unique, 1 repeated
$ bloomery dedup --count --exact url.txt
3 lines, 2 unique, 1 repeated

# Files, standard input and both.
$ printf 'one\ntwo\n' > a; printf 'two\nthree\n' > b
$ bloomery dedup a b
one
two
three
$ printf 'zero\none\n' | bloomery dedup a - b
one
two
zero
three
$ bloomery dedup < a
one
two
$ bloomery dedup -- a
one
two

# The last line may lack its newline. Empty lines are lines. Without input there is no output.
$ printf 'x\ny' | bloomery dedup
x
y
$ printf '\n\nx\n\n' | bloomery dedup | od -An -c
  \n   x  \n
$ : > empty; bloomery dedup empty
$ bloomery dedup --count empty
0 lines, 0 unique, 0 repeated
$ printf '\n' | bloomery dedup -c
1 line, 1 unique, 0 repeated

# Any bytes: NUL, bytes that are not UTF-8, carriage returns.
$ printf 'a\0b\na\0c\na\0b\n' | bloomery dedup | od -An -c
   a  \0   b  \n   a  \0   c  \n
$ printf '\377\376\n\377\n\377\376\n' | bloomery dedup | od -An -tx1
 ff fe 0a ff 0a
$ printf 'a\r\na\na\r\n' | bloomery dedup | od -An -c
   a  \r  \n

# Records that end in NUL.
$ printf 'x\ny\0z\0x\ny\0' | bloomery dedup -0 | od -An -c
   x  \n   y  \0   z  \0
$ printf 'x\0x' | bloomery dedup -0 | od -An -c
   x  \0

# Only the repeats, and only the counts.
$ printf 'a\nb\na\na\n' | bloomery dedup -d
a
a
$ printf 'a\nb\na\na\n' | bloomery dedup -dc
4 lines, 2 unique, 2 repeated
$ printf 'a\nb\na\na\n' | bloomery dedup -c --json | sed -E 's/"(peak_bytes|seconds|lines_per_second)":[0-9.e+-]+/"\1":N/g'
{"lines":4,"unique":2,"repeated":2,"expected_dropped":0,"rate_current":0,"rate_requested":0.001,"method":"scalable","memory_bytes":5229312,"peak_bytes":N,"seconds":N,"lines_per_second":N}
$ printf 'a\nb\na\n' | bloomery dedup --json 2>&1 >/dev/null | sed -E 's/"(peak_bytes|seconds|lines_per_second)":[0-9.e+-]+/"\1":N/g'
{"lines":3,"unique":2,"repeated":1,"expected_dropped":0,"rate_current":0,"rate_requested":0.001,"method":"scalable","memory_bytes":5229312,"peak_bytes":N,"seconds":N,"lines_per_second":N}
$ printf 'a\nb\na\n' | bloomery dedup --stats -n 1000 -p 1% 2>&1 >/dev/null | sed -E '/^time/d; s/, [0-9.]+ MiB in all/, N MiB in all/'
lines      3
unique     2
repeated   1
dropped    about 0 new lines, mistaken for repeats
rate       1.12e-09% current, 1% requested
memory     1.31 KiB (sbbf), N MiB in all

# One field; the case of letters ignored.
$ printf 'x\t1\ny\t1\nx\t2\n' | bloomery dedup --field 2
x	1
x	2
$ printf 'a,b\nc,b\nd\nd\n' | bloomery dedup --field 2 --delimiter ,
a,b
d
$ printf 'a,b\nc,b\nd\nd\n' | bloomery dedup --field 2 -t, --stats 2>&1 >/dev/null | grep field
no field   2
$ printf 'a,,x\nb,,x\n' | bloomery dedup --field 2 -t ,
a,,x
$ printf 'A\na\nb;C\nd;c\n' | bloomery dedup -i --field 2 -t ';'
A
b;C
$ printf '\nfoo\n\nFoo\n' | bloomery dedup -i
\
foo
$ printf 'Word\nword\nWORD\n' | bloomery dedup -i
Word

# A long line among short ones.
$ { echo a; head -c 10000000 /dev/zero | tr '\0' x; echo; echo a; head -c 10000000 /dev/zero | tr '\0' x; echo; echo b; } | bloomery dedup | wc -lc
      3 10000005

# URLs.
$ printf '%s\n' HTTP://Example.com:80/a/../b http://example.com/b 'http://example.com/b#part' http://example.com/%62 'not a url' > urls
$ bloomery dedup --url urls
HTTP://Example.com:80/a/../b
not a url
$ bloomery dedup --url --print-canonical urls
http://example.com/b
not a url
$ bloomery dedup --url --stats urls 2>&1 >/dev/null | grep 'not URLs'
not URLs   1
$ printf '%s\n' 'https://a.test/?b=2&a=1&utm_source=x' 'https://a.test/?a=1&b=2' | bloomery dedup --url
https://a.test/?b=2&a=1&utm_source=x
https://a.test/?a=1&b=2
$ printf '%s\n' 'https://a.test/?b=2&a=1&utm_source=x' 'https://a.test/?a=1&b=2' | bloomery dedup --url=crawl
https://a.test/?b=2&a=1&utm_source=x
$ printf '%s\n' 'https://a.test/?b=2&a=1&utm_source=x' | bloomery dedup --url=crawl --print-canonical
https://a.test/?a=1&b=2
$ printf '1 http://A.test/\n2 http://a.test/\n' | bloomery dedup --field 2 -t ' ' --url
1 http://A.test/

# Links in a text.
$ printf '<a href="http://a.test/x?p=1&amp;q=2">see</a> (https://b.test/y), http://a.test/x?p=1&q=2.\nnothing here\n' > page
$ bloomery dedup --extract-urls page
http://a.test/x?p=1&q=2
https://b.test/y
$ bloomery dedup -x -c page
3 links, 2 unique, 1 repeated
$ bloomery dedup -x --stats page 2>&1 >/dev/null | head -4
text lines 2
links      3
unique     2
repeated   1

# An output file appears only when it is complete.
$ bloomery dedup -o out a b; cat out
one
two
three
$ bloomery dedup -o out a
! bloomery dedup: out: already exists; use -f to replace it
? 2
$ bloomery dedup -f -o out a; cat out
one
two
$ bloomery dedup -f -o a a; cat a
one
two
$ bloomery dedup -o out2 a missing; ls out2 .out2* 2>/dev/null
! bloomery dedup: missing: No such file or directory
! bloomery dedup: out2: was not written, because not all of the input could be read
? 2
$ bloomery dedup -o /nonexistent/out a
! bloomery dedup: /nonexistent/out: No such file or directory
? 2
$ bloomery dedup -f -o . a
! bloomery dedup: .: Is a directory
? 2
$ ln -s out link; bloomery dedup -f -o link b; cat out; test -L link
two
three

# An unreadable input is reported, and the others are read.
$ bloomery dedup missing
! bloomery dedup: missing: No such file or directory
? 2
$ bloomery dedup a missing b
one
two
three
! bloomery dedup: missing: No such file or directory
? 2
$ bloomery dedup .
! bloomery dedup: .: Is a directory
? 2
$ printf 'x\n' > secret; chmod 0 secret; bloomery dedup secret 2>/dev/null; test $? -eq 2 -o "$(id -u)" -eq 0
x

# Compressed files, recognised by their first bytes.
$ gzip -c a > a.gz; cat a.gz b | head -c 0; bloomery dedup a.gz b
one
two
three
$ cat a.gz a.gz | bloomery dedup
one
two
$ zstd -qc b > b.zst; bloomery dedup b.zst - < a.gz
two
three
one
$ head -c 20 a.gz | bloomery dedup
one
! bloomery dedup: standard input: the gzip data is truncated
? 2
$ { cat a.gz; echo trailing; } > bad.gz; bloomery dedup bad.gz
one
two
! bloomery dedup: bad.gz: the gzip data is damaged
? 2
$ head -c 10 b.zst > cut.zst; bloomery dedup cut.zst
! bloomery dedup: cut.zst: the zstd data is truncated
? 2
$ cp a.gz sum.gz; printf 'X' | dd of=sum.gz bs=1 seek=$(($(stat -c %s sum.gz) - 6)) conv=notrunc status=none; bloomery dedup sum.gz
one
two
! bloomery dedup: sum.gz: the gzip data is damaged
? 2
$ { cat a.gz; head -c 100 /dev/zero; } | bloomery dedup
one
two
$ printf '\037' | bloomery dedup | od -An -tx1
 1f 0a

# A reader that ends is no error; an output that cannot be written is.
$ bloomery dedup a > /dev/full
! bloomery dedup: standard output: No space left on device
? 2
$ bloomery dedup a >&-
! bloomery dedup: standard output: Bad file descriptor
? 2
$ yes | head -100000 | cat -n | bloomery dedup | head -1; echo ${PIPESTATUS[3]}
     1	y
141
$ bloomery dedup -c a > /dev/full
! bloomery dedup: standard output: No space left on device
? 2

# A limit on memory.
$ printf 'a\nb\na\n' | bloomery dedup --memory 16M
a
b
! bloomery dedup: the filter uses 7.00 MiB (split512); at 3,734,293 keys, 0.1% of all new lines are mistaken for repeats and dropped
$ printf 'a\nb\na\n' | bloomery dedup -q --memory 16M -n 1M
a
b
$ bloomery dedup --memory 16M -n 1M a
one
two
! bloomery dedup: the filter uses 7.00 MiB (bb2x512); at 1,000,000 keys, 7.46e-08% of all new lines are mistaken for repeats and dropped
$ bloomery dedup --memory 10M -n 100M -p 0.001 a
! bloomery dedup: --memory is too small: with 100,000,000 keys, 100% of all new lines would be mistaken for repeats and dropped; give a larger one
? 2
$ bloomery dedup --memory 64M -n 1M -p 0.001 a
one
two
! bloomery dedup: the filter uses 1.87 MiB (split512); at 1,000,000 keys, 0.1% of all new lines are mistaken for repeats and dropped
$ bloomery dedup --memory 1M a
! bloomery dedup: --memory must be at least 10.0 MiB
? 2
$ head -c 200000 /dev/zero | bloomery dedup -q --memory 16M | wc -c
200001
$ { echo a; head -c 3000000 /dev/zero; echo; echo b; echo a; head -c 600000 /dev/zero; } | bloomery dedup -q --memory 16M
a
b
! bloomery dedup: standard input:2: skipped a line that is longer than 524286 bytes
! bloomery dedup: standard input:5: skipped a line that is longer than 524286 bytes
? 2
$ for n in 524286 524287; do head -c $n /dev/zero | bloomery dedup -q --memory 16M | wc -c; { head -c $n /dev/zero; echo; echo a; } | bloomery dedup -q --memory 16M | wc -c; done
524287
524289
0
2
! bloomery dedup: standard input:1: skipped a line that is longer than 524286 bytes
! bloomery dedup: standard input:1: skipped a line that is longer than 524286 bytes
$ bloomery dedup --memory 16M -p 1e-15 a
! bloomery dedup: cannot create the filter: the false-positive rate must lie strictly between 0 and 1, and not below 2^-40
? 2
$ bloomery dedup --memory 16M -n 1M -p 1e-15 a
! bloomery dedup: cannot create the filter: the false-positive rate must lie strictly between 0 and 1, and not below 2^-40
? 2

# More keys than the filter was planned for.
$ seq 3000 > s3; bloomery dedup -n 1000 --seed 1 s3 | wc -l
2914
! bloomery dedup: warning: the filter contains more keys than it was planned for: about 86 new lines were dropped, and the false-positive rate is now 13.7% (requested: 0.1%); use -n 3000, or leave out -n and let it grow
$ seq 100000 | bloomery dedup -n 1000 --seed 1 -c 2>&1 | sed -E 's/about [0-9,]+/about N/'; echo ${PIPESTATUS[1]}
bloomery dedup: warning: the filter contains more keys than it was planned for: most new lines were dropped, and the false-positive rate is now 100% (requested: 0.1%); use -n 100000, or leave out -n and let it grow
100000 lines, 5430 unique, 94570 repeated (most new lines among them)
2
$ seq 3000000 | bloomery dedup -q --memory 10M --seed 1 -c 2>&1 | sed -E 's/about [0-9,]+/about N/'; echo ${PIPESTATUS[1]}
bloomery dedup: warning: the filter contains more keys than it was planned for: about N new lines were dropped, and the false-positive rate is now 62.7% (planned: 0.1%); give a larger --memory, or use --confirm FILE
3000000 lines, 2402543 unique, 597457 repeated (about N of them new)
2
$ bloomery dedup -c -p 0.1 -n 3000 --seed 1 s3
3000 lines, 2944 unique, 56 repeated (about 56 of them new)

# On a terminal, the run ends with the expected number of dropped lines and the options that drop none.
$ cat > on-terminal <<'END'
> import pty, sys
> sys.exit(pty.spawn(["bash", "-c", sys.argv[1]]) >> 8)
> END
$ for run in '-n 3000 -p 0.1 s3' '-d -n 3000 -p 0.1 s3' 's3' '--window 5000 -p 0.1 s3' '--exact s3' '--confirm s3.fps s3' '-q s3' '-c s3' '-n 1000 s3' '-n 10 -p 0.95 s3' ; do NO_COLOR=1 python3 on-terminal "bloomery dedup --seed 0 $run > out" | tr -d '\r' | sed -E 's/^.*\x1b\[K//; s/about [0-9.,e-]+/about N/; s/number: [^)]+/number: N/; s/now [0-9.]+%/now N%/'; done
bloomery dedup: about N new lines were mistaken for repeats and dropped (estimated, not counted); to avoid this, use --exact or --confirm FILE
bloomery dedup: about N new lines were mistaken for repeats and printed (estimated, not counted); to avoid this, use --exact or --confirm FILE
bloomery dedup: probably no new line was mistaken for a repeat and dropped (expected number: N); to be certain, use --exact or --confirm FILE
bloomery dedup: about N new lines were mistaken for repeats and dropped (estimated, not counted); to avoid this, use --exact, which forgets no line
bloomery dedup: warning: the filter contains more keys than it was planned for: about N new lines were dropped, and the false-positive rate is now N% (requested: 0.1%); use -n 3000, or leave out -n and let it grow
bloomery dedup: most new lines were mistaken for repeats and dropped; to avoid this, use --exact or --confirm FILE
$ python3 on-terminal 'bloomery dedup --seed 1 -n 3000 -p 0.1 s3 > out' | tr -d '\r' | sed 's/^.*\x1b\[K//'; awk 'END { print 3000 - NR }' out
bloomery dedup: about 56 new lines were mistaken for repeats and dropped (estimated, not counted); to avoid this, use --exact or --confirm FILE
56

# With --seed, the same input gives the same output. By default, lines that were made to collide
# under a known seed do not collide.
$ seq 100000 | bloomery dedup -n 20000 --seed 7 2>/dev/null | cksum; seq 100000 | bloomery dedup -n 20000 --seed 7 2>/dev/null | cksum
2076884011 498415
2076884011 498415
$ for i in $(seq 10 99); do printf '\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe'; printf '000000%sfixed-tail-16byt\n' $i; done | bloomery dedup -c
90 lines, 90 unique, 0 repeated
$ bloomery dedup --exact --seed 1 a
! bloomery dedup: --seed cannot be combined with --exact or --confirm, which use a random seed
? 2

# Inputs that are not text.
$ xz -c a > a.xz; bloomery dedup a.xz
! bloomery dedup: a.xz: compressed with xz, and this build of bloomery lacks support for it; decompress it and pipe it in
? 2
$ bzip2 -c a > a.bz2; bloomery dedup a.bz2
! bloomery dedup: a.bz2: compressed with bzip2, and this build of bloomery lacks support for it; decompress it and pipe it in
? 2
$ for level in 1 2 5 8; do bzip2 -c -$level a | bloomery dedup; done
! bloomery dedup: standard input: compressed with bzip2, and this build of bloomery lacks support for it; decompress it and pipe it in
! bloomery dedup: standard input: compressed with bzip2, and this build of bloomery lacks support for it; decompress it and pipe it in
! bloomery dedup: standard input: compressed with bzip2, and this build of bloomery lacks support for it; decompress it and pipe it in
! bloomery dedup: standard input: compressed with bzip2, and this build of bloomery lacks support for it; decompress it and pipe it in
? 2
$ printf 'BZh01AY&SY\nBZh:1AY&SY\nBZh91A\n' | bloomery dedup; printf 'BZh91AY' | bloomery dedup
BZh01AY&SY
BZh:1AY&SY
BZh91A
BZh91AY
$ seq 100000 | zstd -q --long=27 --no-progress > big.zst; zstd -dc big.zst | wc -l; bloomery dedup -q --memory 16M big.zst
100000
! bloomery dedup: big.zst: the zstd data needs more memory than is allowed here; decompress it with zstd -dc --long=31, and pipe it in
? 2
$ seq 1000 | zstd -q > small.zst; bloomery dedup -q --memory 16M small.zst | wc -l
1000
$ seq 500 | bloomery dedup -q --memory 64M --state m.bly | wc -l; bloomery dedup -q --memory 64M --state m.bly small.zst | wc -l
500
500
$ bloomery dedup -q --memory 64M --state z.bly small.zst | wc -l; seq 2000 | bloomery dedup -q --memory 64M --state z.bly | wc -l
1000
1000

# Invalid options.
$ bloomery dedup -n 5 -n 6 a
! bloomery dedup: --expect was given twice; give it only once
? 2
$ bloomery dedup --url crawl a
! bloomery dedup: there is no file 'crawl'; write --url=crawl to choose the level
? 2
$ bloomery dedup -n 0 a
! bloomery dedup: --expect cannot be '0': it must be at least 1
? 2
$ bloomery dedup -n -5 a
! bloomery dedup: --expect cannot be '-5': it must be at least 1
? 2
$ bloomery dedup -n many a
! bloomery dedup: --expect cannot be 'many': it must be a number such as 1000, 1e8, 100k, 50M or 2G
? 2
$ bloomery dedup -n 1e300 a
! bloomery dedup: --expect cannot be '1e300': it must be at most 2^48
? 2
$ bloomery dedup -n 1.5 a
! bloomery dedup: --expect cannot be '1.5': it must be a whole number
? 2
$ bloomery dedup -p 0 a
! bloomery dedup: --rate cannot be '0': it must be above 0 and below 1 (100%)
? 2
$ bloomery dedup -p 2 a
! bloomery dedup: --rate cannot be '2': it must be above 0 and below 1 (100%)
? 2
$ bloomery dedup -p 100% a
! bloomery dedup: --rate cannot be '100%': it must be above 0 and below 1 (100%)
? 2
$ bloomery dedup -p nan a
! bloomery dedup: --rate cannot be 'nan': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3
? 2
$ bloomery dedup -p 1e-300 a
! bloomery dedup: cannot create the filter: the false-positive rate must lie strictly between 0 and 1, and not below 2^-40
? 2
$ bloomery dedup --url=deep a
! bloomery dedup: --url cannot be 'deep': it must be one of standard, crawl
? 2
$ bloomery dedup --delimiter ab --field 1 a
! bloomery dedup: --delimiter cannot be 'ab': it must be one byte, or one of \t \n \r \0 \\
? 2
$ bloomery dedup --delimiter , a
! bloomery dedup: --delimiter needs --field
? 2
$ bloomery dedup --field 0 a
! bloomery dedup: --field cannot be '0': it must be at least 1
? 2
$ bloomery dedup --print-canonical a
! bloomery dedup: --print-canonical needs --url
? 2
$ bloomery dedup --exact --confirm x a
! bloomery dedup: --exact and --confirm do the same; give only one
? 2
$ bloomery dedup --exact -p 0.1 a
! bloomery dedup: -p cannot be combined with --exact, which has no false positives
? 2
$ bloomery dedup --confirm x --state y a
! bloomery dedup: --confirm and --state cannot be combined: --confirm FILE already remembers lines across runs; leave out --state
? 2
$ bloomery dedup --confirm x -o y a
! bloomery dedup: -o cannot be combined with --confirm: if the run failed, its lines would be in the file of --confirm, but FILE would not be written; use > FILE instead
? 2
$ bloomery dedup --window often a
! bloomery dedup: --window must be a number of lines, such as 1M, or a time in whole seconds, minutes, hours or days, such as 90s, 15m, 24h or 7d
? 2
$ cat a | bloomery dedup --memory 100000T
! bloomery dedup: cannot create the filter: the filter would need more than 2^48 bits
? 2
# The first lines mislead the estimate: 60 long lines, then many short ones.
$ { seq -f "$(printf '%9000s' x)%g" 60; seq 3000000; } > skew; bloomery dedup -q -c --memory 64M skew
3000060 lines, 3000060 unique, 0 repeated
$ bloomery dedup -n
! bloomery dedup: --expect needs a value: --expect N
? 2
$ bloomery dedup -o ''
! bloomery dedup: --output cannot be '': it must be a file name
? 2
$ bloomery dedup --colour a
! bloomery dedup: unknown option --colour; did you mean --color?
? 2
$ bloomery dedup --sate a; bloomery dedup --max-memory=1G a; bloomery build --bits 4; bloomery dedup --memory-max=1G a; bloomery dedup --xmemory
! bloomery dedup: unknown option --sate; did you mean --state?
! bloomery dedup: unknown option --max-memory; did you mean --memory?
! bloomery build: unknown option --bits; did you mean --counter-bits?
! bloomery dedup: unknown option --memory-max; did you mean --memory?
! bloomery dedup: unknown option --xmemory; did you mean --memory?
? 2
