# Adding keys to a filter file, and changes that are refused.

$ seq 100 | bloomery build -q -p 1e-6 -n 1000 -o list.bly
$ seq 91 110 | bloomery add list.bly
! bloomery add: list.bly: 10 of 20 keys new; now 110 keys (capacity: 1,000)
$ seq 110 | bloomery add list.bly
! bloomery add: list.bly: 0 of 110 keys new; now 110 keys (capacity: 1,000)

# Several files, and standard input by name.
$ seq 111 120 > a.txt; seq 121 130 | gzip > b.txt.gz; seq 131 140 | bloomery add list.bly a.txt b.txt.gz -
! bloomery add: list.bly: 30 of 30 keys new; now 140 keys (capacity: 1,000)

# A single key; with files, the key and their lines.
$ bloomery add list.bly --key 'a key of several words'
! bloomery add: list.bly: 1 of 1 key new; now 141 keys (capacity: 1,000)
$ bloomery add list.bly --key 'a key of several words' a.txt
! bloomery add: list.bly: 0 of 11 keys new; now 141 keys (capacity: 1,000)
$ echo 'never read' | bloomery add list.bly --key 1
! bloomery add: list.bly: 0 of 1 key new; now 141 keys (capacity: 1,000)

# NUL-separated records may contain newlines; blank lines are not keys.
$ printf 'two\nlines\0one\0' | bloomery add -0 list.bly
! bloomery add: list.bly: 2 of 2 keys new; now 143 keys (capacity: 1,000)
$ printf 'two\nlines\0' | bloomery add -0 list.bly
! bloomery add: list.bly: 0 of 1 key new; now 143 keys (capacity: 1,000)
$ printf '\n\nlast without an end' | bloomery add list.bly
! bloomery add: list.bly: 1 of 1 key new; now 144 keys (capacity: 1,000)

# As JSON, and quietly.
$ seq 200 201 | bloomery add --json list.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"list.bly","type":"line","keys":2,"new":2,"malformed":0,"count":146,"marks":0,"capacity":1000,"rate_per_lookup_requested":1e-06,"rate_per_lookup_current":9.722e-16,"within_requested_rate":true}
$ seq 200 203 | bloomery add -q list.bly

# Adding only known keys does not change the file.
$ touch -d 2001-01-01 list.bly; seq 10 | bloomery add -q list.bly; date -r list.bly +%Y
2001

# Links and permissions are preserved.
$ ln -s list.bly link.bly; chmod 640 list.bly; bloomery add link.bly --key more; stat -c '%A %F' list.bly link.bly
-rw-r----- regular file
lrwxrwxrwx symbolic link
! bloomery add: link.bly: 1 of 1 key new; now 149 keys (capacity: 1,000)

# Programs that add to a file at the same time wait for each other: no key is lost.
$ for i in 1 2 3 4 5 6 7 8; do seq ${i}00001 ${i}00050 | bloomery add -q list.bly & done; wait
> for i in 1 2 3 4 5 6 7 8; do seq ${i}00001 ${i}00050; done | bloomery add list.bly
! bloomery add: list.bly: 0 of 400 keys new; now 549 keys (capacity: 1,000)

# Beyond the capacity there is a warning if the rate is above the requested one, even with -q, and
# a stronger one later.
$ seq 1000 | bloomery build -q -o full.bly
$ seq 1001 1020 | bloomery add full.bly
! bloomery add: full.bly: 20 of 20 keys new; now 1,019 keys (capacity: 1,000)
$ seq 1021 1040 | bloomery add full.bly
! bloomery add: full.bly: 20 of 20 keys new; now 1,039 keys (capacity: 1,000)
! bloomery add: warning: full.bly: above its capacity: about 1,040 keys (capacity: 1,000); false-positive rate per lookup is now 0.102% (requested: 0.1%)
$ seq 1021 1040 | bloomery add -q full.bly
! bloomery add: warning: full.bly: above its capacity: about 1,040 keys (capacity: 1,000); false-positive rate per lookup is now 0.102% (requested: 0.1%)
$ seq 2000 | bloomery add -q full.bly
! bloomery add: warning: full.bly: too full: about 1,995 keys (capacity: 1,000); false-positive rate per lookup is now 2.85% (requested: 0.1%); build a larger filter

# A scalable filter grows instead.
$ seq 100 | bloomery build -q --kind scalable -o grows.bly
$ seq 1000 | bloomery add grows.bly
! bloomery add: grows.bly: 899 of 1,000 keys new; now 999 keys (capacity: 1,500)

# The list's own type decides how lines are read.
$ echo 192.0.2.1 | bloomery build -q --type ip -n 1000 -o ip.bly
$ printf '::ffff:192.0.2.1\n' | bloomery add ip.bly
! bloomery add: ip.bly: 0 of 1 key new; now 1 key (capacity: 1,000)
$ bloomery add --type ip ip.bly --key 198.51.100.7
! bloomery add: ip.bly: 1 of 1 key new; now 2 keys (capacity: 1,000)

# A list that was built full accepts another key without a warning if its bits allow it.
$ printf '192.0.2.%d\n' 1 2 | bloomery build -q --type ip -o two.bly; bloomery add two.bly -k 192.0.2.3
! bloomery add: two.bly: 1 of 1 key new; now 3 keys (capacity: 2)

# A new prefix length is recorded, so that its blocks are looked up and found.
$ bloomery add ip.bly --key 203.0.113.0/24
! bloomery add: ip.bly: 1 of 1 key new; now 3 keys (capacity: 996)
$ bloomery add ip.bly --key 203.0.112.0/24
! bloomery add: ip.bly: 1 of 1 key new; now 4 keys (capacity: 996)
$ printf "203.0.113.9\n192.0.2.1\n203.0.114.1\n" | bloomery check ip.bly
203.0.113.9
192.0.2.1
$ bloomery info ip.bly | grep type
  type       ip

# A line then needs more lookups than the rate was requested for.
$ printf '192.0.2.1\n' | bloomery build -q --type ip -n 41 -o tight.bly
$ seq 1 34 | sed 's/^/198.51.100./' | bloomery add -q tight.bly
$ bloomery add -q tight.bly --key 10.40.0.0/16
! bloomery add: warning: tight.bly: a line now needs up to 2 lookups instead of 1, so the false-positive rate per line is up to 0.124%; build the list again

# A malformed line is named, and nothing is changed.
$ cp ip.bly before.bly; printf '192.0.2.2\nnot an address\n192.0.2.300\n' > bad.txt
$ bloomery add ip.bly bad.txt; echo $?; cmp before.bly ip.bly
2
! bloomery add: bad.txt:2: not an IP address: 'not an address'
! bloomery add: bad.txt:3: not an IP address: '192.0.2.300'
! bloomery add: 2 malformed lines, so nothing was written; use --skip-malformed to skip such lines
$ bloomery add --skip-malformed ip.bly bad.txt
! bloomery add: bad.txt:2: not an IP address: 'not an address'
! bloomery add: bad.txt:3: not an IP address: '192.0.2.300'
! bloomery add: ip.bly: 1 of 1 key new; now 5 keys (capacity: 996)
$ bloomery add --skip-malformed --json ip.bly bad.txt | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
{"file":"ip.bly","type":"ip","keys":1,"new":0,"malformed":2,"count":33,"marks":28,"capacity":1024,"rate_per_lookup_requested":0.001,"rate_per_lookup_current":4.703e-10,"within_requested_rate":true}
! bloomery add: bad.txt:2: not an IP address: 'not an address'
! bloomery add: bad.txt:3: not an IP address: '192.0.2.300'
$ bloomery add ip.bly --key 'not an address'
! bloomery add: not an IP address: 'not an address'
! bloomery add: ip.bly: was not changed
? 2
$ bloomery add --skip-malformed ip.bly bad.txt missing.txt
! bloomery add: bad.txt:2: not an IP address: 'not an address'
! bloomery add: bad.txt:3: not an IP address: '192.0.2.300'
! bloomery add: missing.txt: No such file or directory
! bloomery add: ip.bly: was not changed
? 2
$ bloomery add ip.bly --key ''
! bloomery add: --key must not be blank
! bloomery add: ip.bly: was not changed
? 2
$ printf '# a comment\n192.0.2.3 # and another\n' | bloomery add --comments ip.bly
! bloomery add: ip.bly: 1 of 1 key new; now 6 keys (capacity: 996)

# Keys of another type are refused.
$ bloomery add --type phone ip.bly --key 030123
! bloomery add: ip.bly: has keys of type ip, so keys of type phone would not be found in it; leave out --type, or name another list
? 2
$ bloomery add --type telephone ip.bly --key 030123
! bloomery add: --type cannot be 'telephone': it must be one of ip, phone, email, domain, url, line
? 2

# A list without marks, as of other programs, accepts any type, and gets no marks.
$ cp $DATA/../golden/v1/good/classic-fnv1a.bly plain.bly; bloomery add --type ip plain.bly --key 192.0.2.1; bloomery info plain.bly | grep type
  type       line
! bloomery add: warning: plain.bly: has keys whose type is not recorded, so the type of the new keys is not recorded either; look them up with bloomery check --type ip
! bloomery add: plain.bly: 1 of 1 key new; now 41 keys (capacity: 60)
$ cp $DATA/../golden/v1/good/classic-empty-fnv1.bly plain.bly; bloomery add --type ip plain.bly --key 192.0.2.1; bloomery info plain.bly | grep type
  type       ip
! bloomery add: plain.bly: 1 of 1 key new; now 1 key (capacity: 40)

# A list that is so full that every mark is a false positive has no type.
$ cp $DATA/../golden/v1/good/classic-full-crc64.bly full.bly; bloomery add full.bly --key x
! bloomery add: full.bly: has keys of several types, or too many keys to recognise their type; give the type of these lines with --type
? 2

# Keyed lists need their key.
$ cp $DATA/../golden/v1/good/keyed-classic.bly keyed.bly; printf '000102030405060708090a0b0c0d0e0f\n' > right.key; printf '100102030405060708090a0b0c0d0e0f\n' > wrong.key; chmod 600 *.key
$ bloomery add keyed.bly --key golden-key-3
! bloomery add: keyed.bly: is keyed; pass its key file (key id 09ab680398f0e1ae) with --key-file
? 2
$ bloomery add --key-file wrong.key keyed.bly --key golden-key-3
! bloomery add: keyed.bly: needs the secret key with the id 09ab680398f0e1ae, but the id of the key in --key-file is 68977c85c458e015; pass the right key file
? 2
$ bloomery add --key-file right.key keyed.bly --key golden-key-3
! bloomery add: keyed.bly: 0 of 1 key new; now 50 keys (capacity: 60)
$ bloomery add --key-file right.key keyed.bly --key golden-key-50
! bloomery add: keyed.bly: 1 of 1 key new; now 51 keys (capacity: 60)
$ bloomery add --key-file right.key list.bly --key x
! bloomery add: list.bly: is not keyed; leave out --key-file
? 2
$ bloomery add --key-file missing.key keyed.bly --key x
! bloomery add: missing.key: No such file or directory
? 2
$ cp $DATA/../golden/v1/good/custom-bb2x512.bly custom.bly; bloomery add custom.bly --key x
! bloomery add: custom.bly: uses a custom hash function, so only the program that created it can use it
? 2

# A file that is not a filter is refused, and an unreadable input changes nothing.
$ bloomery add missing.bly --key x
! bloomery add: missing.bly: No such file or directory
? 2
$ bloomery add . --key x
! bloomery add: .: Is a directory
? 2
$ bloomery add a.txt --key x
! bloomery add: a.txt: is not a Bloomery filter
? 2
$ bloomery add - --key x
! bloomery add: a filter cannot be read from standard input; name its file
? 2
$ bloomery add /dev/null --key x
! bloomery add: /dev/null: is not a regular file
? 2
$ cp list.bly before.bly; seq 9000 9010 > new.txt; bloomery add list.bly new.txt missing.txt; echo $?; cmp before.bly list.bly
2
! bloomery add: missing.txt: No such file or directory
! bloomery add: list.bly: was not changed
$ head -c 1000 b.txt.gz | head -c 30 > cut.gz; bloomery add list.bly new.txt cut.gz; echo $?; cmp before.bly list.bly
2
! bloomery add: cut.gz: the gzip data is truncated
! bloomery add: list.bly: was not changed

# If the disk is full, the list is unchanged, and no other file is left behind.
$ (ulimit -f 1; seq 9000 9010 | bloomery add list.bly); echo $?; cmp before.bly list.bly; ls -A | grep tmp
2
! bloomery add: list.bly: File too large
? 1

$ bloomery add
! bloomery add: no list given; for example: bloomery add LIST.bly FILE
? 2
$ bloomery add --frobnicate list.bly
! bloomery add: unknown option --frobnicate; see --help
? 2

# Kinds that do not support removal; cuckoo.t has those that do.
$ bloomery remove list.bly --key 1; echo $?; cmp before.bly list.bly
2
! bloomery remove: list.bly: keys cannot be removed from a bb2x512 filter: keys share bits, so other keys would be removed too; build an overlay over it, which supports removal: bloomery build --over list.bly -o NEW.bly
$ bloomery remove grows.bly a.txt
! bloomery remove: grows.bly: keys cannot be removed from a scalable filter: keys share bits, so other keys would be removed too; build an overlay over it, which supports removal: bloomery build --over grows.bly -o NEW.bly
? 2
$ bloomery remove missing.bly a.txt
! bloomery remove: missing.bly: No such file or directory
? 2
$ bloomery remove
! bloomery remove: no list given; for example: bloomery remove LIST.bly FILE
? 2
