# Keyed lists: without the secret key, which is not in the list, no lookup is possible.

$ umask 077; printf '000102030405060708090a0b0c0d0e0f\n' >key
$ seq 1000 >numbers
$ bloomery build -q --key-file key -o k.bly numbers
$ bloomery check -c --key-file key k.bly numbers
1000
$ printf '\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17' >raw; chmod 600 raw
$ bloomery check -c --key-file raw k.bly numbers
1000
$ umask 077; tr a-f A-F <key >upper; bloomery check -c --key-file upper k.bly numbers
1000
$ bloomery check -c --key-file /dev/stdin k.bly numbers <key
1000
$ grep -c "$(printf '\1\2\3\4\5\6\7')" k.bly
0
? 1

# ---- without the key, or with another one ---------------------------------------------------------
$ bloomery check k.bly numbers
! bloomery check: k.bly: is keyed; pass its key file (key id 09ab680398f0e1ae) with --key-file
? 2
$ printf '100102030405060708090a0b0c0d0e0f\n' >other; chmod 600 other
$ bloomery check --key-file other k.bly numbers
! bloomery check: k.bly: needs the secret key with the id 09ab680398f0e1ae, but the id of the key in --key-file is 68977c85c458e015; pass the right key file
? 2
$ bloomery build -q -o plain.bly numbers
$ bloomery check --key-file key plain.bly numbers
! bloomery check: plain.bly: is not keyed; leave out --key-file
? 2
$ bloomery check --key-file missing k.bly numbers
! bloomery check: missing: No such file or directory
? 2
$ bloomery check --key-file . k.bly numbers
! bloomery check: .: Is a directory
? 2
$ printf '0001' >short; chmod 600 short
$ bloomery check --key-file short k.bly numbers
! bloomery check: short: not a key file; a key file has 16 bytes or 32 hexadecimal digits
? 2
$ printf '000102030405060708090a0b0c0d0e0g' >letters; chmod 600 letters
$ bloomery check --key-file letters k.bly numbers
! bloomery check: letters: not a key file; a key file has 16 bytes or 32 hexadecimal digits
? 2
$ printf '000102030405060708090a0b0c0d0e0f\n\n' >long; chmod 600 long
$ bloomery check --key-file long k.bly numbers
! bloomery check: long: not a key file; a key file has 16 bytes or 32 hexadecimal digits
? 2
$ : >nothing; chmod 600 nothing
$ bloomery check --key-file nothing k.bly numbers
! bloomery check: nothing: not a key file; a key file has 16 bytes or 32 hexadecimal digits
? 2

# A pipe as a key file is refused, not waited for.
$ mkfifo pipe; timeout 20 bloomery check --key-file pipe k.bly numbers
! bloomery check: pipe: not a regular file; store the key in a file that only you can read, and name that file
? 2
$ bloomery check --key-file <(cat key) k.bly numbers 2>&1 | sed 's,/dev/fd/[0-9]*,PIPE,'
bloomery check: PIPE: not a regular file; store the key in a file that only you can read, and name that file
$ bloomery build -q --key-file /dev/null -o x.bly numbers
! bloomery build: /dev/null: not a regular file; store the key in a file that only you can read, and name that file
? 2

# ---- who can read it ------------------------------------------------------------------------------
$ for mode in 644 604 602 640 660 400; do chmod $mode key; bloomery check -c --key-file key k.bly numbers; done; chmod 600 key
1000
1000
1000
1000
1000
1000
! bloomery check: warning: key: every user can read this key; protect it with chmod 600
! bloomery check: warning: key: every user can read this key; protect it with chmod 600
! bloomery check: warning: key: every user can replace this key; protect it with chmod 600

# ---- a new key ------------------------------------------------------------------------------------
$ bloomery build -q --type email --new-key new.key -o n.bly <<<'bob@example.com'
$ stat -c %a new.key
600
$ grep -cE '^[0-9a-f]{32}$' new.key
1
$ bloomery check --key-file new.key n.bly -k BOB@example.com
BOB@example.com
$ bloomery build -q --new-key new.key -o n2.bly numbers
! bloomery build: new.key: already exists, and bloomery never replaces a secret key; name another file
? 2
$ bloomery build -q --new-key key2 -o missing/n.bly numbers
! bloomery build: missing/n.bly: No such file or directory
? 2
$ ls key2
! ls: cannot access 'key2': No such file or directory
? 2

# ---- options that do not fit ----------------------------------------------------------------------
$ bloomery build --key-file key --new-key key2 -o n2.bly numbers
! bloomery build: --key-file and --new-key cannot be combined; give only one
? 2
$ bloomery build --key-file key --hash xxh3 -o n2.bly numbers
! bloomery build: --hash cannot be combined with --key-file or --new-key: a keyed list always uses siphash
? 2
$ bloomery build --key-file key --seed 3 -o n2.bly numbers
! bloomery build: --seed cannot be combined with --key-file or --new-key: a keyed list has a secret key instead of a seed
? 2

# ---- lines that must not match: the rate is halved, as there is no seed ----------------------------
$ seq 2000 2400 >allow
$ bloomery build -p 0.01 --key-file key --must-not-match allow -o a.bly numbers
! bloomery build: 1,000 lines: 1,000 keys, 0 repeated
! bloomery build: a.bly: bb2x512, 2.00 KiB, false positives: 1 in 1,600 lines (one lookup per line)
! bloomery build: no line of allow matches the list after 5 tries; for this, the false-positive rate per line was lowered to 0.0625%
$ bloomery check -c --key-file key a.bly allow
0
? 1
$ seq 2000 99999 >allow
$ bloomery build -f -p 0.1 --key-file key --must-not-match allow -o a.bly numbers
! bloomery build: allow: 63 of its 98,000 lines are false positives after 8 tries; use -p 1e-05 to make that unlikely
? 2

# ---- described --------------------------------------------------------------------------------------
# With the key, a keyed list is described like any other; without it, what is unknown is named.
$ (umask 077; printf 0123456789abcdef > secret); printf '10.0.0.0/8\n192.0.2.1\n' | bloomery build -q --type ip --key-file secret -o keyed.bly; bloomery info keyed.bly; bloomery info --key-file secret keyed.bly
keyed.bly
  kind       bb2x512: half the bits in each of two blocks of 64 bytes; fast and small
  shape      1 block, 8 bits per key
  file       128 B
  hash       siphash with a secret key, whose id is 905e01a715f9a972
  type       ip
  keys       30 counted, 29 estimated, including any marks
  capacity   30 keys, including any marks, 17.1 bits per key
  rate       0.05% requested, 0.0296% expected, 0.0291% current (1 in 3,442), per lookup
  fill       ▕████████████████████████▏ 100% of its capacity; 36.1% of its bits set, 37.5% when full
  note       rate per line, prefix lengths and number of marks: unknown without its key; use --key-file
keyed.bly
  kind       bb2x512: half the bits in each of two blocks of 64 bytes; fast and small
  shape      1 block, 8 bits per key
  file       128 B
  hash       siphash with a secret key, whose id is 905e01a715f9a972
  type       ip
  prefixes   IPv4 /8, /32
  keys       2 counted, 1 estimated, and 28 marks
  capacity   2 keys and 28 marks, 17.1 bits per key
  per line   0.1% requested, 0.0593% expected, 0.0581% current (1 in 1,721), up to 2 lookups
  per lookup 0.05% requested, 0.0296% expected, 0.0291% current (1 in 3,442)
  fill       ▕████████████████████████▏ 100% of its capacity; 36.1% of its bits set, 37.5% when full
$ bloomery info --json keyed.bly | grep -oE '"(lookups_per_line|rate_per_line_[a-z]*|type|marks|prefixes[^]]*)":[^,]*'
"lookups_per_line":null
"rate_per_line_requested":null
"rate_per_line_expected":null
"rate_per_line_current":null
"type":"ip"
"marks":null
"prefixes_ipv4":null,"prefixes_ipv6":null}
$ bloomery info --json --key-file secret keyed.bly | grep -oE '"(lookups_per_line|type|marks)":[^,]*'
"lookups_per_line":2
"type":"ip"
"marks":28
$ echo a@b.example | bloomery build -q --type email --key-file secret -o mail.bly; bloomery info mail.bly | grep -e rate -e note
  rate       0.1% requested, 0.000604% expected, 0.000582% current (1 in 171,909), per line and per lookup
  note       number of marks: unknown without its key; use --key-file
$ seq 100 | bloomery build -q --key-file secret -o lines.bly; bloomery info lines.bly | grep -e keys -e rate -e note
  keys       100 counted, 100 estimated
  capacity   100 keys, 20.5 bits per key
  rate       0.1% requested, 0.0204% expected, 0.0172% current (1 in 5,811), per line and per lookup
$ (umask 077; printf 1123456789abcdef > other); bloomery info --key-file other keyed.bly
! bloomery info: keyed.bly: needs the secret key with the id 905e01a715f9a972, but the id of the key in --key-file is ce71d0839ba75a4f; pass the right key file
? 2
$ seq 9 | bloomery build -q -o unkeyed.bly; bloomery info --key-file secret unkeyed.bly
! bloomery info: unkeyed.bly: is not keyed; leave out --key-file
? 2
$ bloomery info --key-file missing list.bly
! bloomery info: missing: No such file or directory
? 2
$ bloomery info --allow-replica list.bly
! bloomery info: --allow-replica needs a list on a server: redis://HOST/KEY
? 2
# With several files, the key is used for those that need it; for a header it is not needed.
$ bloomery info --key-file secret keyed.bly unkeyed.bly | grep -e bly -e type; bloomery info --header --key-file secret keyed.bly
keyed.bly
  type       ip
unkeyed.bly
  type       line
! bloomery info: --header reads only the header, which needs no key; leave out --key-file
? 2
