# Whether filter files are intact, and keep their promise.

$ seq 10000 | bloomery build -q -p 1% -o list.bly; seq 100 | bloomery build -q -n 1000 -o other.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify list.bly other.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --json list.bly other.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
! bash: line 1: bloomery: command not found

# Every file that any version has written.
$ cd $DATA/../golden/v1/good; bloomery verify -q $(ls *.bly | grep -v -e md5 -e sha1) 2>/dev/null
? 127

# Measured with random keys: none in an empty filter, all in a full one.
$ cp $DATA/../golden/v1/good/{classic-empty-fnv1,classic-full-crc64,keyed-classic,custom-bb2x512}.bly .
$ bloomery verify --measure=1000 classic-empty-fnv1.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --measure=1000 --json classic-empty-fnv1.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'
! bash: line 1: bloomery: command not found
$ bloomery verify --measure=1000 classic-full-crc64.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --measure=1000 --json classic-full-crc64.bly 2>/dev/null | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g'

# A million by default. The rate measured is the one that the bits give, and the promise is kept.
$ bloomery verify --measure list.bly | sed -E 's/[0-9.]+% wrong/P% wrong/; s/interval .* to .*,/interval A to B,/'
! bash: line 1: bloomery: command not found
$ bloomery verify --measure --json list.bly | python3 -c '
> import json, sys
> v = json.load(sys.stdin)
> m = v["measured"]
> print(v["verdict"], m["asked"], m["with"], m["rate"] == m["wrong"] / m["asked"])
> print(abs(m["rate"] / v["rate_now"] - 1) < 0.06, m["low"] < m["rate"] < m["high"], 0.03 < (m["high"] - m["low"]) / m["rate"] < 0.05)'
! bash: line 1: bloomery: command not found
! Traceback (most recent call last):
!   File "<string>", line 3, in <module>
!   File "/root/.pyenv/versions/3.11.7/lib/python3.11/json/__init__.py", line 293, in load
!     return loads(fp.read(),
!            ^^^^^^^^^^^^^^^^
!   File "/root/.pyenv/versions/3.11.7/lib/python3.11/json/__init__.py", line 346, in loads
!     return _default_decoder.decode(s)
!            ^^^^^^^^^^^^^^^^^^^^^^^^^^
!   File "/root/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py", line 337, in decode
!     obj, end = self.raw_decode(s, idx=_w(s, 0).end())
!                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
!   File "/root/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py", line 355, in raw_decode
!     raise JSONDecodeError("Expecting value", s, err.value) from None
! json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
? 1

# Two measurements ask for different keys.
$ for i in 1 2 3 4 5; do bloomery verify --measure --json list.bly | grep -o '"wrong":[0-9]*'; done | sort -u | wc -l | sed 's/[2-5]/several/'
0
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found

# A keyed filter is measured with random hashes, or with keys if its own is given.
$ printf '000102030405060708090a0b0c0d0e0f\n' > right.key; printf '100102030405060708090a0b0c0d0e0f\n' > wrong.key
$ bloomery verify keyed-classic.bly
! bash: line 1: bloomery: command not found
? 127
$ for option in '' '--key-file=right.key'; do bloomery verify --measure --json $option keyed-classic.bly | grep -o '"with":"[a-z]*"'; done
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 1
$ bloomery verify --key-file wrong.key keyed-classic.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --measure --json custom-bb2x512.bly | grep -o '"with":"[a-z]*"'
! bash: line 1: bloomery: command not found
? 1

# Intact, but too full: 1, and a warning.
$ seq 10001 15000 | bloomery add -q list.bly 2>/dev/null; bloomery verify list.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify -q list.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --json list.bly 2>/dev/null | grep -o '"verdict":"[a-z]*"'
? 1
$ bloomery verify --measure list.bly 2>/dev/null | sed -E 's/[0-9.]+% wrong/P% wrong/; s/interval .* to .*,/interval A to B,/'

# A small filter of fixed size may be worse than it was made to be, by chance. Measuring tells.
$ seq 48 | bloomery build -q -p 1% --seed 2 -n 48 -o small.bly; bloomery verify small.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --measure small.bly 2>&1 | sed -E 's/[0-9.]+% (wrong|of the)/P% \1/; s/interval .* to .*,/interval A to B,/'
bash: line 1: bloomery: command not found
$ bloomery verify --measure --json small.bly 2>/dev/null | grep -o '"verdict":"[a-z]*"'
? 1

# With more keys than it was made for it is not chance.
$ seq 60 | bloomery add -q small.bly 2>/dev/null; bloomery verify small.bly
! bash: line 1: bloomery: command not found
? 127

# Damaged or unreadable: 2, and the others are checked all the same.
$ head -c 1000 other.bly > cut.bly; cp other.bly flipped.bly; printf '\377' | dd of=flipped.bly bs=1 seek=1000 conv=notrunc status=none; cp other.bly header.bly; printf '\377' | dd of=header.bly bs=1 seek=20 conv=notrunc status=none; (cat other.bly; echo) > long.bly; head -c 20 other.bly > short.bly; : > empty.bly; seq 100 > text.bly; mkfifo pipe.bly
! head: cannot open 'other.bly' for reading: No such file or directory
! cp: cannot stat 'other.bly': No such file or directory
! cp: cannot stat 'other.bly': No such file or directory
! cat: other.bly: No such file or directory
! head: cannot open 'other.bly' for reading: No such file or directory
$ bloomery verify missing.bly . cut.bly flipped.bly header.bly long.bly short.bly empty.bly text.bly pipe.bly other.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --json missing.bly flipped.bly other.bly 2>/dev/null | cut -d, -f1-3
$ bloomery verify missing.bly list.bly 2>/dev/null
? 127
$ cd $DATA/../golden/v1/bad; bloomery verify --json $(ls | grep -v -e EKEY -e custom) 2>/dev/null | grep -o '"verdict":"[a-z]*"' | sort -u

$ bloomery verify
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --measure=0 other.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --measure=many other.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --key-file missing.key other.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery verify --key-file right.key other.bly
! bash: line 1: bloomery: command not found
? 127
