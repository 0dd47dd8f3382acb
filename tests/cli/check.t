# bloomery check: its output, its exit status, and errors.

$ printf '%s\n' apple banana cherry >fruit
$ bloomery build -q -o f.bly fruit
$ printf '%s\n' apple car banana '' bus >words

# ---- what is printed ------------------------------------------------------------------------------
$ bloomery check f.bly words
apple
banana
$ bloomery check -v f.bly words
car
\
bus
$ bloomery check -c f.bly words
2
$ bloomery check -vc f.bly words
3
$ bloomery check -n f.bly <words
1:apple
3:banana
$ bloomery check -nH f.bly words fruit
words:1:apple
words:3:banana
fruit:1:apple
fruit:2:banana
fruit:3:cherry
$ bloomery check -q f.bly words
$ bloomery check -q f.bly -k car
? 1
$ bloomery check f.bly -k apple
apple
$ bloomery check f.bly -k car
? 1
$ bloomery check f.bly -k ''
? 1
$ bloomery check --json f.bly words
{"file":"words","number":1,"line":"apple","match":true,"by":"apple"}
{"file":"words","number":2,"line":"car","match":false,"by":null}
{"file":"words","number":3,"line":"banana","match":true,"by":"banana"}
{"file":"words","number":4,"line":"","match":false,"by":null}
{"file":"words","number":5,"line":"bus","match":false,"by":null}
$ bloomery check --json f.bly -k apple
{"line":"apple","match":true,"by":"apple"}
$ printf 'car\nbus' | bloomery check -v f.bly
car
bus
$ printf 'apple\r\n' | bloomery check f.bly | od -c | head -1
0000000   a   p   p   l   e  \r  \n
$ printf 'apple\0car\0' | bloomery check -0 f.bly | od -c | head -1
0000000   a   p   p   l   e  \0
$ printf 'a\377\033\n' | bloomery check --json f.bly
{"file":"standard input","number":1,"line":"a\ufffd\u001b","line_base64":"Yf8b","match":false,"by":null}
? 1
$ gzip -k words && bloomery check f.bly words.gz
apple
banana
$ cat words | bloomery check f.bly -
apple
banana
$ cat words | bloomery check f.bly fruit - | sort | uniq -c
      2 apple
      2 banana
      1 cherry

# One field of a line.
$ printf '1\tapple\tx\n2\tcar\tx\n3\n' >table
$ bloomery check --field 2 f.bly table
1	apple	x
! bloomery check: 1 line has no field 2 of type line and so cannot match the list; use --strict to report it
$ bloomery check --field 2 -v f.bly table
2	car	x
3
! bloomery check: 1 line has no field 2 of type line and so cannot match the list; use --strict to report it
$ tr '\t' ' ' <table | bloomery check --field 2 -t ' ' f.bly
1 apple x
! bloomery check: 1 line has no field 2 of type line and so cannot match the list; use --strict to report it
$ bloomery check --field 2 --strict f.bly table
1	apple	x
! bloomery check: table:3: there is no field 2: '3'
? 2

# ---- more lines than a batch holds ----------------------------------------------------------------
$ seq 100000 >many
$ bloomery build -q -p 1e-9 -o m.bly <(seq 2 2 100000)
$ bloomery check m.bly many | cmp - <(seq 2 2 100000)
$ bloomery check -v m.bly many | cmp - <(seq 1 2 100000)
$ bloomery check -n m.bly many | tail -1
100000:100000
$ yes | head -c 1000000 | tr -d '\n' >long && echo >>long
$ bloomery build -q -o l.bly long && bloomery check -c l.bly long
1
$ bloomery check m.bly many | head -1
2

# ---- malformed lines ------------------------------------------------------------------------------
$ printf '%s\n' 192.0.2.0/24 | bloomery build -q --type ip -o ip.bly
$ printf '%s\n' 192.0.2.1 nonsense '' 10.0.0.1/8 >addresses
$ bloomery check ip.bly addresses
192.0.2.1
! bloomery check: 2 lines are not of type ip and so cannot match the list; use --strict to report them
$ bloomery check -v ip.bly addresses
nonsense
\
10.0.0.1/8
! bloomery check: 2 lines are not of type ip and so cannot match the list; use --strict to report them
$ bloomery check -q ip.bly addresses
$ bloomery check --strict ip.bly addresses
192.0.2.1
! bloomery check: addresses:2: not an IP address: 'nonsense'
! bloomery check: addresses:4: host bits are set (did you mean 10.0.0.0/8?): '10.0.0.1/8'
? 2
$ bloomery check --strict ip.bly -k nonsense
! bloomery check: not an IP address: 'nonsense'
? 2
$ bloomery check --json ip.bly addresses
{"file":"addresses","number":1,"line":"192.0.2.1","match":true,"by":"192.0.2.0/24"}
{"file":"addresses","number":2,"line":"nonsense","match":false,"by":null,"malformed":"not an IP address"}
{"file":"addresses","number":3,"line":"","match":false,"by":null}
{"file":"addresses","number":4,"line":"10.0.0.1/8","match":false,"by":null,"malformed":"host bits are set (did you mean 10.0.0.0/8?)"}
! bloomery check: 2 lines are not of type ip and so cannot match the list; use --strict to report them

# ---- exit status 2 --------------------------------------------------------------------------------
$ bloomery check
! bloomery check: no list given; usage: bloomery check LIST [FILE...]
? 2
$ bloomery check missing.bly words
! bloomery check: missing.bly: No such file or directory
? 2
$ bloomery check . words
! bloomery check: .: Is a directory
? 2
$ bloomery check /dev/null words
! bloomery check: /dev/null: is not a regular file
? 2
$ bloomery check - words
! bloomery check: a filter cannot be read from standard input; name its file
? 2
$ bloomery check words fruit
! bloomery check: words: is not a Bloomery filter
? 2
$ : >nothing && bloomery check nothing words
! bloomery check: nothing: is empty, so not a Bloomery filter
? 2
$ head -c 63 f.bly >cut && bloomery check cut words
! bloomery check: cut: is cut short: 63 bytes, less than a header; copy it again
? 2
$ head -c 100 f.bly >cut && bloomery check cut words
! bloomery check: cut: is cut short: it has 100 of 128 bytes; copy it again
? 2
$ { cat f.bly; echo; } >long.bly && bloomery check long.bly words
! bloomery check: long.bly: is damaged: it has 129 bytes instead of 128; copy it again
? 2
$ { head -c 20 f.bly; printf '\377'; tail -c +22 f.bly; } >header.bly && bloomery check header.bly words
! bloomery check: header.bly: is damaged (invalid header); copy it again from its source, or build it again
? 2
$ { head -c 70 f.bly; printf '\377\0\377'; tail -c +74 f.bly; } >body.bly
$ bloomery check --verify body.bly words
! bloomery check: body.bly: is damaged (wrong checksum); copy it again from its source, or build it again
? 2
$ bloomery check --verify f.bly words
apple
banana
$ bloomery check f.bly missing words
apple
banana
! bloomery check: missing: No such file or directory
? 2
$ bloomery check f.bly .
! bloomery check: .: Is a directory
? 2
$ bloomery check f.bly words >/dev/full
! bloomery check: standard output: No space left on device
? 2
$ bloomery check --json f.bly words >/dev/full
! bloomery check: standard output: No space left on device
? 2
$ seq 100000 | bloomery check --json f.bly >/dev/full
! bloomery check: standard output: No space left on device
? 2
$ bloomery check -c f.bly words >/dev/full
! bloomery check: standard output: No space left on device
? 2
$ bloomery check f.bly words -k apple
! bloomery check: --key and a FILE cannot be combined; give only one
? 2
$ bloomery check --json -v f.bly words
! bloomery check: --json prints every line with its number and file; leave out -v, -c, -n and -H
? 2
$ bloomery check -t , f.bly words
! bloomery check: --delimiter needs --field
? 2
$ bloomery check --follow f.bly words
! bloomery check: --follow reads standard input; leave out FILE, and use a pipe
? 2
$ bloomery check --follow f.bly -k apple
! bloomery check: --key and --follow cannot be combined: --follow reads standard input
? 2

# ---- a list that is replaced while it is used -----------------------------------------------------
# `until FILE TEXT N` waits until N lines of FILE contain TEXT.
$ cat >until <<'END'
> for i in $(seq 400); do
>     [ "$(grep -cF "$2" "$1")" -ge "$3" ] && exit 0
>     sleep 0.05
> done
> echo "$1 never said: $2"
> END
$ printf 'old\nboth\n' | bloomery build -q -o list.bly
$ mkfifo pipe
$ bloomery check --follow list.bly <pipe >answers 2>notes &
> exec 3>pipe
> printf 'old\nnew\nboth\n' >&3
> bash until answers both 1
> printf 'new\nboth\n' | bloomery build -q -f -o list.bly
> bash until notes 'the new list' 1
> printf 'old\nnew\n' >&3
> bash until answers new 1
> cp list.bly whole.bly
> head -c 80 whole.bly >cut.bly && mv cut.bly list.bly
> bash until notes 'cut short' 1
> printf 'new\nold\n' >&3
> bash until answers new 2
> { head -c 90 whole.bly; printf '\377\377\377'; tail -c +94 whole.bly; } >hurt.bly && mv hurt.bly list.bly
> bash until notes checksum 1
> rm list.bly
> bash until notes 'No such file' 1
> printf 'new\n' >&3
> bash until answers new 3
> printf '1.2.3.4\n' | bloomery build -q -f --type ip -o list.bly
> bash until notes 'the new list' 2
> printf 'new\n::ffff:1.2.3.4\n' >&3
> exec 3>&-
> wait $!
> echo "status $?"
> cat answers notes
status 0
old
both
new
new
new
::ffff:1.2.3.4
bloomery check: list.bly: was replaced; the new list is in use
bloomery check: list.bly: is cut short: it has 80 of 128 bytes; copy it again
bloomery check: warning: list.bly: the old list stays in use
bloomery check: list.bly: is damaged (wrong checksum); copy it again from its source, or build it again
bloomery check: warning: list.bly: the old list stays in use
bloomery check: warning: list.bly: No such file or directory; the old list stays in use
bloomery check: list.bly: was replaced; the new list is in use
bloomery check: 1 line is not of type ip and so cannot match the list; use --strict to report it

# Overwritten in place: with --follow the list is a copy, and the new list is used when it is complete.
$ printf 'old\nboth\n' | bloomery build -q -f -o list.bly
$ printf 'new\nboth\n' | bloomery build -q -f -o next.bly
$ bloomery check --follow list.bly <pipe >answers 2>notes &
> exec 3>pipe
> printf 'old\nnew\n' >&3
> bash until answers old 1
> : >list.bly
> bash until notes 'is empty' 1
> printf 'old\nnew\n' >&3
> bash until answers old 2
> cp next.bly list.bly
> bash until notes 'the new list' 1
> printf 'old\nnew\n' >&3
> exec 3>&-
> wait $!
> echo "status $?"
> cat answers notes
status 0
old
old
new
bloomery check: list.bly: is empty, so not a Bloomery filter
bloomery check: warning: list.bly: the old list stays in use
bloomery check: list.bly: was replaced; the new list is in use

# Without --follow the file is mapped, so a file that was shortened ends the run.
$ printf 'old\n' | bloomery build -q -f -o list.bly
$ bloomery check list.bly <pipe >answers 2>notes &
> exec 3>pipe
> printf 'old\n' >&3
> bash until answers old 1
> : >list.bly
> printf 'old\n' >&3
> exec 3>&-
> wait $!
> echo "status $?"
> cat answers notes
status 2
old
bloomery check: the list was shortened while it was in use; replace lists by rename, as build -f does

# If the reader of the output ends, the command ends too, even if more input follows.
$ bloomery build -q -n 10 -o yes.bly <(echo y); for how in '' --json; do yes | bloomery check $how yes.bly | head -1; echo ${PIPESTATUS[1]}; done
y
141
{"file":"standard input","number":1,"line":"y","match":true,"by":"y"}
141
