# How many different lines there are. A few are counted exactly.
$ printf 'a\nb\na\n' | bloomery distinct
! bash: line 1: bloomery: command not found
? 127
$ printf 'a\n' > one; bloomery distinct one; : > empty; bloomery distinct empty; printf '\n\n' | bloomery distinct
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ printf 'a\nb' | bloomery distinct - one
! bash: line 1: bloomery: command not found
? 127

# More are estimated, and the range is told; it never says more than there are lines.
$ seq 100000 > many; (cat many; cat many) | bloomery distinct
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct many
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct many | cut -d ' ' -f 1
! bash: line 1: bloomery: command not found
$ bloomery distinct --json many | sed -E 's/"seconds":[0-9.e-]+/"seconds":S/'
! bash: line 1: bloomery: command not found

# The truth is in the range, for this many and for others.
$ for n in 100 1000 10000 100000 1000000; do seq $n | bloomery distinct --json | python3 -c "
> import json, sys
> d = json.load(sys.stdin)
> print($n, d['low'] <= $n <= d['high'], abs(d['distinct'] / $n - 1) < 4 * d['error'])"; done
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

# How exactly, and what it costs.
$ for e in 26% 0.1 1/100 0.8% 0.2%; do bloomery distinct --error $e --json many | grep -o '"error":0.0*..\|"precision.*bytes":[0-9]*' | tr '\n' ' '; echo; done
\
\
\
\
\
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
$ bloomery distinct -e 0.1% many
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --precision 18 many; bloomery distinct --precision 4 one
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --precision 3 many
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --precision 19 many
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --precision 12 --error 1% many
! bash: line 1: bloomery: command not found
? 127

# Each input, and all of them.
$ seq 1 600 > low; seq 401 1000 > high; bloomery distinct --each low high
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --each --json low high | sed -E 's/"seconds":[0-9.e-]+/"seconds":S/'
! bash: line 1: bloomery: command not found
$ seq 3 | bloomery distinct --each; seq 3 | bloomery distinct --each one - empty one
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --each one missing one; echo $?
127
! bash: line 1: bloomery: command not found

# An input that cannot be read is left out, and told by the exit status.
$ bloomery distinct one missing; echo $?
127
! bash: line 1: bloomery: command not found

# What a line is.
$ printf 'HTTP://A.test/%%7Ex#f\nhttp://a.test/~x\nno url\n' > urls; bloomery distinct urls; bloomery distinct --url urls
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ printf 'http://a.test/?utm_source=x&b=1&a=2\nhttp://a.test/?a=2&b=1\n' | bloomery distinct --url=crawl
! bash: line 1: bloomery: command not found
? 127
$ printf 'x http://a.test/1 y\nhttp://a.test/1 http://a.test/2\n' | bloomery distinct -x
! bash: line 1: bloomery: command not found
? 127
$ printf 'a\t1\nb\t1\nc\n' > fields; bloomery distinct --field 2 fields; printf 'a 1\nb 1\n' | bloomery distinct --field 2 -t ' '
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --field 2 --json fields | grep -o '"no_field":.'
! bash: line 1: bloomery: command not found
? 1
$ printf 'a\nA\n' | bloomery distinct -i; printf 'a\n\0b\0a\n\0' | bloomery distinct -0
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --url crawl
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -x --field 1 urls
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -t x urls
! bash: line 1: bloomery: command not found
? 127

# Compressed files are read as they are.
$ seq 20 | gzip > z.gz; seq 15 25 | zstd -q > z.zst; bloomery distinct z.gz z.zst
! bash: line 1: bloomery: command not found
? 127

# Across runs: a line that was counted is not counted again.
$ bloomery distinct --state days.bly low; bloomery distinct --state days.bly high; bloomery distinct -s days.bly empty
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -q --each -s both.bly low high | tail -1; cmp both.bly days.bly
! bash: line 1: bloomery: command not found
! cmp: both.bly: No such file or directory
? 2
$ bloomery info days.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery info --header days.bly | grep -e error -e distinct; bloomery info --json days.bly | grep -o '"distinct".*'
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 1
$ bloomery distinct -s days.bly --json one | grep -o '"lines":.*"before":[0-9]*'
! bash: line 1: bloomery: command not found
? 1
$ bloomery verify --measure days.bly
! bash: line 1: bloomery: command not found
? 127
$ : > begun; bloomery distinct -s begun one; bloomery distinct -s begun one
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127

# And across machines.
$ bloomery distinct -s a.bly low; bloomery distinct -s b.bly high; bloomery merge -o c.bly a.bly b.bly; bloomery distinct -s c.bly empty
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery intersect --estimate a.bly b.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery intersect -o x.bly a.bly b.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -s coarse.bly --precision 10 high > /dev/null; bloomery merge -o x.bly a.bly coarse.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -s seven.bly --seed 7 high > /dev/null; bloomery merge -o x.bly a.bly seven.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127

# What is asked must be what the state is.
$ bloomery distinct -s a.bly --precision 12 one
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -s a.bly --error 0.2% one
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -s a.bly --error 1% --precision 14 one
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -s a.bly --error 1% one
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -s a.bly --seed 5 one
! bash: line 1: bloomery: command not found
? 127
$ bloomery build -q -o list.bly low; bloomery distinct -s list.bly one
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ head -c 100 a.bly > cut.bly; bloomery distinct -s cut.bly one; wc -c < cut.bly
0
! head: cannot open 'a.bly' for reading: No such file or directory
! bash: line 1: bloomery: command not found
$ bloomery distinct -s missing/x.bly one
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -s . one
! bash: line 1: bloomery: command not found
? 127

# One run at a time.
$ (echo x; sleep 1) | bloomery distinct -s a.bly > /dev/null & sleep 0.3; bloomery distinct -s a.bly one; echo $?; wait; ls -A | grep lock
127
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 1

# It is no list, and says so.
$ bloomery check a.bly one
! bash: line 1: bloomery: command not found
? 127
$ bloomery dedup --state a.bly one
! bash: line 1: bloomery: command not found
? 127
$ bloomery add a.bly one
! bash: line 1: bloomery: command not found
? 127
$ bloomery remove a.bly one
! bash: line 1: bloomery: command not found
? 127
$ bloomery fold -o x.bly a.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery count --query --state a.bly one
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1000 --kind hll
! bash: line 1: bloomery: command not found
? 127
$ bloomery bench --kinds hll
! bash: line 1: bloomery: command not found
? 127

# A secret, where strangers choose the lines.
$ echo 000102030405060708090a0b0c0d0e0f > key; bloomery distinct --key-file key -s keyed.bly low; bloomery distinct -s keyed.bly low
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --key-file key -s keyed.bly low; bloomery distinct --key-file key --seed 3 low
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct --key-file key -s a.bly low
! bash: line 1: bloomery: command not found
? 127
$ bloomery info keyed.bly | grep -v file
! bash: line 1: bloomery: command not found
? 1

# A signal ends the reading; what was read is told and saved.
$ rm -f sig.bly; (seq 50; sleep 1) | (bloomery distinct -s sig.bly & p=$!; sleep 0.3; kill -TERM $p; wait $p; echo $?); bloomery distinct -s sig.bly empty
127
! bash: line 1: bloomery: command not found
! bash: line 1: kill: (23254) - No such process
! bash: line 1: bloomery: command not found
? 127

# Nothing is said to be counted that could not be saved, or printed.
$ (ulimit -f 1; bloomery distinct -s big.bly --precision 18 many); ls -A | grep big
! bash: line 1: bloomery: command not found
? 1
$ bloomery distinct many > /dev/full
! bash: line 1: bloomery: command not found
? 127
