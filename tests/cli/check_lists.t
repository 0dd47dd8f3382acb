# bloomery check with several lists: which of them matched, options that go with that, and agreement with single runs.

$ printf '%s\n' ads.example shared.example | bloomery build -q --type domain -o ads.bly
$ printf '%s\n' evil.example shared.example | bloomery build -q --type domain -o evil.bly
$ printf '%s\n' 192.0.2.0/24 2001:db8::/32 | bloomery build -q --type ip -o drop.bly
$ printf '%s\n' x.ads.example shared.example evil.example 192.0.2.7 good.example 10.0.0.1/8 '!!' '' >hosts

# ---- what is printed ------------------------------------------------------------------------------
# A line is malformed only if no list can read it.
$ bloomery check -l ads.bly -l evil.bly -l drop.bly hosts
ads.bly:x.ads.example
ads.bly,evil.bly:shared.example
evil.bly:evil.example
drop.bly:192.0.2.7
! bloomery check: 2 lines are not of type domain or ip and so cannot match any list; use --strict to report them
$ bloomery check --list ads.bly --list=evil.bly -ldrop.bly <hosts | cmp - <(bloomery check -l ads.bly -l evil.bly -l drop.bly hosts 2>/dev/null)
! bloomery check: 2 lines are not of type domain or ip and so cannot match any list; use --strict to report them
$ bloomery check -nH -l evil.bly -l ads.bly hosts
hosts:1:ads.bly:x.ads.example
hosts:2:evil.bly,ads.bly:shared.example
hosts:3:evil.bly:evil.example
! bloomery check: 3 lines are not of type domain and so cannot match any list; use --strict to report them
$ bloomery check --list-names never -l ads.bly -l evil.bly hosts
x.ads.example
shared.example
evil.example
! bloomery check: 3 lines are not of type domain and so cannot match any list; use --strict to report them
$ bloomery check --list-names auto -l ads.bly hosts
x.ads.example
shared.example
! bloomery check: 3 lines are not of type domain and so cannot match the list; use --strict to report them
$ bloomery check --list-names always -l ads.bly hosts
ads.bly:x.ads.example
ads.bly:shared.example
! bloomery check: 3 lines are not of type domain and so cannot match the list; use --strict to report them
$ bloomery check --list-names always ads.bly hosts
ads.bly:x.ads.example
ads.bly:shared.example
! bloomery check: 3 lines are not of type domain and so cannot match the list; use --strict to report them
$ bloomery check -v -l ads.bly -l evil.bly -l drop.bly hosts
good.example
10.0.0.1/8
\!!
\
! bloomery check: 2 lines are not of type domain or ip and so cannot match any list; use --strict to report them
$ bloomery check -c -l ads.bly -l evil.bly -l drop.bly hosts
4
! bloomery check: 2 lines are not of type domain or ip and so cannot match any list; use --strict to report them
$ bloomery check -vc -l ads.bly -l evil.bly -l drop.bly hosts
4
! bloomery check: 2 lines are not of type domain or ip and so cannot match any list; use --strict to report them
$ bloomery check -c --list-names always -l ads.bly -l evil.bly -l drop.bly hosts
ads.bly:2
evil.bly:2
drop.bly:1
! bloomery check: 2 lines are not of type domain or ip and so cannot match any list; use --strict to report them
$ bloomery check -l ads.bly -l drop.bly -k a.ads.example
ads.bly:a.ads.example
$ bloomery check -l ads.bly -l drop.bly -k 2001:db8::1
drop.bly:2001:db8::1
$ printf 'a.ads.example\0b\0' | bloomery check -0 -l ads.bly -l evil.bly | od -c | head -2
0000000   a   d   s   .   b   l   y   :   a   .   a   d   s   .   e   x
0000020   a   m   p   l   e  \0
$ printf '1 192.0.2.9\n2 ads.example\n3\n' | bloomery check --field 2 -t ' ' -l ads.bly -l drop.bly
drop.bly:1 192.0.2.9
ads.bly:2 ads.example
! bloomery check: 1 line has no field 2 of type domain or ip and so cannot match any list; use --strict to report it

# ---- JSON -----------------------------------------------------------------------------------------
$ bloomery check --json -l ads.bly -l evil.bly -l drop.bly hosts
{"file":"hosts","number":1,"line":"x.ads.example","match":true,"lists":[{"list":"ads.bly","by":"ads.example"}]}
{"file":"hosts","number":2,"line":"shared.example","match":true,"lists":[{"list":"ads.bly","by":"shared.example"},{"list":"evil.bly","by":"shared.example"}]}
{"file":"hosts","number":3,"line":"evil.example","match":true,"lists":[{"list":"evil.bly","by":"evil.example"}]}
{"file":"hosts","number":4,"line":"192.0.2.7","match":true,"lists":[{"list":"drop.bly","by":"192.0.2.0/24"}]}
{"file":"hosts","number":5,"line":"good.example","match":false,"lists":[]}
{"file":"hosts","number":6,"line":"10.0.0.1/8","match":false,"lists":[],"malformed":"malformed for every list; ads.bly: a URL or path, not a domain (type url takes URLs)"}
{"file":"hosts","number":7,"line":"!!","match":false,"lists":[],"malformed":"malformed for every list; ads.bly: not a domain"}
{"file":"hosts","number":8,"line":"","match":false,"lists":[]}
! bloomery check: 2 lines are not of type domain or ip and so cannot match any list; use --strict to report them
$ bloomery check --json -l ads.bly -k x.ads.example
{"line":"x.ads.example","match":true,"lists":[{"list":"ads.bly","by":"ads.example"}]}
$ bloomery check --json ads.bly -k x.ads.example
{"line":"x.ads.example","match":true,"by":"ads.example"}
$ bloomery check --json -l drop.bly -l drop.bly -k '!!'
{"line":"!!","match":false,"lists":[],"malformed":"not an IP address"}
! bloomery check: 1 line is not of type ip and so cannot match any list; use --strict to report it
? 1
$ cp ads.bly "$(printf 'a\377.bly')" && bloomery check --json -l "$(printf 'a\377.bly')" -k ads.example
{"line":"ads.example","match":true,"lists":[{"list":"a\ufffd.bly","list_base64":"Yf8uYmx5","by":"ads.example"}]}

# ---- lists of lines, states, and all kinds of types -----------------------------------------------
$ printf '%s\n' ads.example '!!' | bloomery build -q -o lines.bly
$ bloomery check -l lines.bly -l ads.bly -l drop.bly hosts
ads.bly:x.ads.example
ads.bly:shared.example
drop.bly:192.0.2.7
lines.bly:!!
$ printf 'http://a.example/%%7ex\n' | bloomery dedup -q --url --state urls.bly >/dev/null
$ printf 'HTTP://A.example/~x\n!!\n' | bloomery check -l lines.bly -l urls.bly
urls.bly:HTTP://A.example/~x
lines.bly:!!
$ bloomery check --type domain -l lines.bly -l ads.bly -k x.ads.example
lines.bly,ads.bly:x.ads.example

# ---- keys -----------------------------------------------------------------------------------------
# --key-file is for the lists that are keyed.
$ umask 077; printf '000102030405060708090a0b0c0d0e0f\n' >key; printf '100102030405060708090a0b0c0d0e0f\n' >other
$ printf '%s\n' secret.example ads.example | bloomery build -q --type domain --key-file key -o keyed.bly
$ bloomery check --key-file key -l ads.bly -l keyed.bly -k ads.example
ads.bly,keyed.bly:ads.example
$ bloomery check --key-file key -l keyed.bly -l drop.bly -k secret.example
keyed.bly:secret.example
$ bloomery check -l ads.bly -l keyed.bly -k ads.example
! bloomery check: keyed.bly: is keyed; pass its key file (key id 09ab680398f0e1ae) with --key-file
? 2
$ bloomery check --key-file other -l ads.bly -l keyed.bly -k ads.example
! bloomery check: keyed.bly: needs the secret key with the id 09ab680398f0e1ae, but the id of the key in --key-file is 68977c85c458e015; pass the right key file
? 2
$ bloomery check --key-file key -l ads.bly -l evil.bly -k ads.example
! bloomery check: none of the lists is keyed; leave out --key-file
? 2
$ bloomery check --key-file key -l ads.bly -k ads.example
! bloomery check: ads.bly: is not keyed; leave out --key-file
? 2
$ bloomery check --key-file key -l missing.bly -l keyed.bly -k ads.example
! bloomery check: missing.bly: No such file or directory
? 2

# ---- the exit status ------------------------------------------------------------------------------
$ bloomery check -q -l ads.bly -l drop.bly -k good.example
? 1
$ bloomery check -q -l ads.bly -l drop.bly -k 192.0.2.1
$ bloomery check --strict -l ads.bly -l drop.bly hosts
ads.bly:x.ads.example
ads.bly:shared.example
drop.bly:192.0.2.7
! bloomery check: hosts:6: malformed for every list; ads.bly: a URL or path, not a domain (type url takes URLs): '10.0.0.1/8'
! bloomery check: hosts:7: malformed for every list; ads.bly: not a domain: '!!'
? 2
$ bloomery check --strict -l ads.bly -l evil.bly -k '!!'
! bloomery check: not a domain: '!!'
? 2
$ bloomery check -v -q -l ads.bly -l drop.bly -k 192.0.2.1
? 1
$ bloomery check -l ads.bly -l drop.bly hosts missing
ads.bly:x.ads.example
ads.bly:shared.example
drop.bly:192.0.2.7
! bloomery check: missing: No such file or directory
! bloomery check: 2 lines are not of type domain or ip and so cannot match any list; use --strict to report them
? 2

# ---- what is refused ------------------------------------------------------------------------------
$ bloomery check -l ads.bly -l missing.bly hosts
! bloomery check: missing.bly: No such file or directory
? 2
$ bloomery check -l ads.bly -l hosts hosts
! bloomery check: hosts: is not a Bloomery filter
? 2
$ bloomery check -l ads.bly -l '' hosts
! bloomery check: --list cannot be '': it must be a file name
? 2
$ bloomery check -v --list-names always -l ads.bly hosts
! bloomery check: -v prints lines that are not in any list; leave out --list-names
? 2
$ bloomery check --json --list-names never -l ads.bly hosts
! bloomery check: --json always names the lists of -l; leave out --list-names
? 2
$ bloomery check --list-names sometimes -l ads.bly hosts
! bloomery check: --list-names cannot be 'sometimes': it must be one of auto, always, never
? 2
$ bloomery check -l ads.bly -l drop.bly -k x hosts
! bloomery check: --key and a FILE cannot be combined; give only one
? 2
$ bloomery check --follow -l ads.bly hosts
! bloomery check: --follow reads standard input; leave out FILE, and use a pipe
? 2
$ bloomery check --allow-replica -l ads.bly -l drop.bly hosts
! bloomery check: --allow-replica needs a list on a server: redis://HOST/KEY
? 2
$ bloomery check --on-error yes -l ads.bly -l drop.bly hosts
! bloomery check: --on-error and --gozero need a list on a server: redis://HOST/KEY
? 2
$ bloomery check --gozero 100 -l redis://127.0.0.1:1/k -l ads.bly hosts
! bloomery check: --gozero gives the size of one filter; name only one list
? 2
$ bloomery check --verify -l redis://127.0.0.1:1/k -l ads.bly hosts
! bloomery check: --verify works only on files; fetch a list on a server with bloomery pull, and verify the copy
? 2

# ---- a list that is replaced ----------------------------------------------------------------------
$ cat >until <<'END'
> for i in $(seq 400); do
>     [ "$(grep -cF "$2" "$1")" -ge "$3" ] && exit 0
>     sleep 0.05
> done
> echo "$1 never said: $2"
> END
$ mkfifo pipe
$ bloomery check --follow -l ads.bly -l evil.bly <pipe >answers 2>notes &
> exec 3>pipe
> printf 'new.example\nshared.example\n' >&3
> bash until answers shared 1
> printf '%s\n' new.example | bloomery build -q -f --type domain -o evil.bly
> bash until notes 'the new list' 1
> printf 'new.example\nshared.example\n' >&3
> exec 3>&-
> wait $!
> echo "status $?"
> cat answers notes
status 0
ads.bly,evil.bly:shared.example
evil.bly:new.example
ads.bly:shared.example
bloomery check: evil.bly: was replaced; the new list is in use

# ---- agreement with single runs -------------------------------------------------------------------
# Among 20,000 lines each list has members and false positives: together the lists match each line
# that one of them matches.
$ for i in 1 2 3; do seq $i 7 20000 | bloomery build -q -p 0.01 -o n$i.bly; done
$ seq 20000 | sed 's/$/.example/' | bloomery build -q --type domain -n 30000 -o n4.bly
$ { seq 20000; seq 19000 21000 | sed 's/^/x./; s/$/.example/'; } >many
$ for i in 1 2 3 4; do bloomery check -q n$i.bly many; bloomery check n$i.bly many 2>/dev/null | sed "s/^/n$i.bly:/"; done >single
$ bloomery check -l n1.bly -l n2.bly -l n3.bly -l n4.bly many | tee all | awk -F: '{ n = split($1, list, ","); for (i = 1; i <= n; i++) print list[i] ":" $2 }' | sort | cmp - <(sort single)
$ cut -d: -f 2 all | cmp - <(bloomery check --list-names never -l n4.bly -l n3.bly -l n2.bly -l n1.bly many)
$ cut -d: -f 2 single | sort -u | cmp - <(cut -d: -f 2 all | sort -u)
$ [ "$(wc -l <all)" = "$(bloomery check -c -l n1.bly -l n2.bly -l n3.bly -l n4.bly many)" ]
$ bloomery check -c --list-names always -l n1.bly -l n2.bly -l n3.bly -l n4.bly many | cmp - <(cut -d: -f 1 single | sort | uniq -c | awk '{ print $2 ":" $1 }')
$ bloomery check -v -l n1.bly -l n2.bly -l n3.bly -l n4.bly many | cmp - <(bloomery check -v n1.bly many | bloomery check -v n2.bly | bloomery check -v n3.bly | bloomery check -v n4.bly 2>/dev/null)
$ bloomery check --json -l n1.bly -l n2.bly -l n3.bly -l n4.bly many | python3 -c 'import json, sys
> for line in map(json.loads, sys.stdin):
>     if line["match"] != bool(line["lists"]):
>         print(line)
>     if line["lists"]:
>         print(",".join(entry["list"] for entry in line["lists"]), line["line"], sep=":")' | cmp - all

# ---- a list instead of lines -----------------------------------------------------------------------
$ bloomery check ads.bly evil.bly hosts
! bloomery check: evil.bly: is a list, not a file of lines; to look lines up in several lists, give each with -l
? 2
$ bloomery check ads.bly < evil.bly; bloomery dedup evil.bly | wc -c; bloomery build -o new.bly evil.bly; ls new.bly
0
! bloomery check: standard input: is a Bloomery filter, not a file of lines
! bloomery dedup: evil.bly: is a Bloomery filter, not a file of lines
! bloomery build: evil.bly: is a Bloomery filter, not a file of lines
! ls: cannot access 'new.bly': No such file or directory
? 2
# - is standard input, also if there is a file of that name.
$ mkdir named; cp ads.bly named/-; cd named; bloomery check ../ads.bly - < ../hosts
x.ads.example
shared.example
! bloomery check: 3 lines are not of type domain and so cannot match the list; use --strict to report them
$ seq 3 | bloomery dedup -q --exact --state seen.fps >/dev/null; bloomery count seen.fps
! bloomery count: seen.fps: is a file of fingerprints, not a file of lines
? 2
# Recognised only with the byte that has followed the magic in every version so far.
$ printf 'BLY1\nBLY1 x\nBLY\nBLYFPS01\n' | bloomery dedup; printf 'BLY1' | bloomery dedup; printf BLYFPS01 | bloomery dedup -c
BLY1
BLY1 x
BLY
BLYFPS01
BLY1
1 line, 1 unique, 0 repeated

# ---- many malformed lines ---------------------------------------------------------------------------
$ seq -f 'no domain %g!' 12 >wrong; bloomery check --strict ads.bly wrong
! bloomery check: wrong:1: not a domain: 'no domain 1!'
! bloomery check: wrong:2: not a domain: 'no domain 2!'
! bloomery check: wrong:3: not a domain: 'no domain 3!'
! bloomery check: wrong:4: not a domain: 'no domain 4!'
! bloomery check: wrong:5: not a domain: 'no domain 5!'
! bloomery check: wrong:6: not a domain: 'no domain 6!'
! bloomery check: wrong:7: not a domain: 'no domain 7!'
! bloomery check: wrong:8: not a domain: 'no domain 8!'
! bloomery check: wrong:9: not a domain: 'no domain 9!'
! bloomery check: wrong:10: not a domain: 'no domain 10!'
! bloomery check: and 2 more malformed lines
? 2
$ head -10 wrong | bloomery check --strict -c ads.bly; head -11 wrong | bloomery check --strict -c ads.bly 2>&1 | tail -2
0
0
bloomery check: and 1 more malformed line
! bloomery check: standard input:1: not a domain: 'no domain 1!'
! bloomery check: standard input:2: not a domain: 'no domain 2!'
! bloomery check: standard input:3: not a domain: 'no domain 3!'
! bloomery check: standard input:4: not a domain: 'no domain 4!'
! bloomery check: standard input:5: not a domain: 'no domain 5!'
! bloomery check: standard input:6: not a domain: 'no domain 6!'
! bloomery check: standard input:7: not a domain: 'no domain 7!'
! bloomery check: standard input:8: not a domain: 'no domain 8!'
! bloomery check: standard input:9: not a domain: 'no domain 9!'
! bloomery check: standard input:10: not a domain: 'no domain 10!'
