# Which filter, how large, how often wrong.

$ bloomery plan -n 1e8 -p 0.1%
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1%
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1/100000
! bash: line 1: bloomery: command not found
? 127

# 0.1% is the default; 1e6, 1M and 1000k are the same number.
$ for n in 1e6 1M 1000k 1000000; do bloomery plan -n $n | md5sum; done | uniq | wc -l
1
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M | head -1
! bash: line 1: bloomery: command not found

# Any two give the third, for every kind.
$ bloomery plan -m 64M -p 1%
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 10M -m 16M
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1% -m 1210K
! bash: line 1: bloomery: command not found
? 127

# Needs: the choice follows them, and a kind that does not fit says why.
$ bloomery plan -n 1M --grows
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --grows --first 1M | head -6
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M -p 1% --smallest | head -3
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M -p 1% --shared | tail -n +5 | head -9
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M -p 1% --static | head -1
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M -p 1% --hostile-keys 2>/dev/null | tail -3
$ bloomery plan -n 1M -p 1% --kind bb2x512 | head -4
! bash: line 1: bloomery: command not found

# Keys that come and go: fingerprints, with room to grow or without.
$ bloomery plan -n 1M --deletes
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --deletes --grows
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --deletes --grows --first 1M | head -1
! bash: line 1: bloomery: command not found

# All keys known: kinds that are built from them.
$ bloomery plan -n 1M -p 1% --static
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1% --static --smallest | head -4
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M -p 1e-9 --static | head -1
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M -p 1e-9 --static --kind fuse
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1e-9 --static | grep -e fuse -e ribbon
! bash: line 1: bloomery: command not found
? 1

# Old keys forgotten: by number, or by time with the keys that come within it.
$ bloomery plan -p 1% --window=1M
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1% --window | diff - <(bloomery plan -n 1M -p 1% --window=24h)
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
$ bloomery plan -m 1M -p 1% --window | head -1
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M -p 1% --window --lossy | tail -n +5
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M -p 1% --window --lossy --kind stable | sed -n "1,4p;22,99p"
! bash: line 1: bloomery: command not found

# What this version cannot do is refused, with what to do instead.
$ bloomery plan -n 1M --counts
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --grows --shared
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --deletes --shared
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --window --grows
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --grows --kind sbbf
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --deletes --kind sbbf
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --kind fuse --grows
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --kind stable --window --shared
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --static --grows
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --static --deletes
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --kind pigeon
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --lossy
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --window=1M
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --window=often
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -p 1% --window=24h
! bash: line 1: bloomery: command not found
? 127

# Nonsense is refused in words.
$ bloomery plan
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -p 1%
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 0
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n -5
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n many
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1e15
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 2e14 -p 1%
! bash: line 1: bloomery: command not found
? 127
$ for p in 0 1 2 -1 0% 100% nan inf '' 1/0; do bloomery plan -n 1000 -p "$p"; done
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1000 -p 1e-13
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 0.01% --hash fnv1-32
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1% --hostile-keys --hash md5
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -m 64K
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1% -m 64K
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -p 1% -m 10
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --first 10
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --grows --first 2M
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M surplus
! bash: line 1: bloomery: command not found
? 127

# A drawing: none unless asked for when this is no terminal; in what the locale can show.
$ bloomery plan -n 1M | grep -c dashed
0
! bash: line 1: bloomery: command not found
? 1
$ bloomery plan -n 1M --plot | tail -n 20
! bash: line 1: bloomery: command not found
$ LC_ALL=C bloomery plan -n 1M -p 1% --plot | tail -n 20
! bash: line 1: bloomery: command not found
$ LC_ALL=C bloomery plan -n 1M -p 1% --grows --plot | tail -n 20
! bash: line 1: bloomery: command not found
# The curve of a kind that takes no more keys ends.
$ LC_ALL=C bloomery plan -n 1M -p 1% --kind cuckoo --plot | tail -n 20
! bash: line 1: bloomery: command not found
$ LC_ALL=C bloomery plan -n 1M -p 1% --static --plot | tail -n 20
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M --static --svg static.svg >/dev/null; python3 - <<'END'
> import re, xml.etree.ElementTree as tree
> root = tree.parse('static.svg').getroot()
> curves = [p for p in root if p.tag.endswith('path') and p.get('class') in ('curve', 'best') and 'h22' not in p.get('d')]
> for p in curves:
>     print(p.get('stroke'), p.get('stroke-dasharray'), 'ends at', round(float(re.split('[ML ]', p.get('d'))[-2])))
> END
! bash: line 1: bloomery: command not found
! Traceback (most recent call last):
!   File "<stdin>", line 2, in <module>
!   File "/root/.pyenv/versions/3.11.7/lib/python3.11/xml/etree/ElementTree.py", line 1218, in parse
!     tree.parse(source, parser)
!   File "/root/.pyenv/versions/3.11.7/lib/python3.11/xml/etree/ElementTree.py", line 569, in parse
!     source = open(source, "rb")
!              ^^^^^^^^^^^^^^^^^^
! FileNotFoundError: [Errno 2] No such file or directory: 'static.svg'
? 1
$ bloomery plan -n 1M --plot=never | grep -c dashed
0
! bash: line 1: bloomery: command not found
? 1
$ bloomery plan -n 1M --color=always | head -1 | cat -v
! bash: line 1: bloomery: command not found

# As a picture: a curve for each kind, in the legend and in the plot, and whole as XML.
$ bloomery plan -n 1M --svg rates.svg | head -1
! bash: line 1: bloomery: command not found
$ python3 - <<'END'
> import xml.etree.ElementTree as tree
> root = tree.parse('rates.svg').getroot()
> paths = [p for p in root if p.tag.endswith('path')]
> print(root.tag, sum(p.get('class') == 'curve' for p in paths), sum(p.get('class') == 'best' for p in paths))
> print(' '.join(t[0].text for t in root if t.tag.endswith('text') and len(t)))
> END
! Traceback (most recent call last):
!   File "<stdin>", line 2, in <module>
!   File "/root/.pyenv/versions/3.11.7/lib/python3.11/xml/etree/ElementTree.py", line 1218, in parse
!     tree.parse(source, parser)
!   File "/root/.pyenv/versions/3.11.7/lib/python3.11/xml/etree/ElementTree.py", line 569, in parse
!     source = open(source, "rb")
!              ^^^^^^^^^^^^^^^^^^
! FileNotFoundError: [Errno 2] No such file or directory: 'rates.svg'
? 1
$ bloomery plan -n 1M --svg rates.svg
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 2M --svg rates.svg -f | head -1
! bash: line 1: bloomery: command not found
$ grep -o 'planned for 2M' rates.svg
! grep: rates.svg: No such file or directory
? 2
$ bloomery plan -n 1M --svg - | sed -n '1p;$p'
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M --svg none/rates.svg
! bash: line 1: bloomery: command not found
? 127

# For programs.
$ bloomery plan -n 1000 -p 1% --json >plan.json
! bash: line 1: bloomery: command not found
? 127
$ python3 - <<'END'
> import json
> d = json.load(open('plan.json'))
> kinds = d.pop('kinds')
> print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in d.items()}, indent=1))
> for k in kinds:
>     print(k['kind'], k['fits'], k['chosen'], *([k['bytes'], k['cache_lines'], k['hashes'], '%.4f' % k['rate']] if k['fits'] else [k['reason']]))
> END
! Traceback (most recent call last):
!   File "<stdin>", line 2, in <module>
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
$ bloomery plan -n 1000 --deletes --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["kind"], d["most_keys"], d["rate_at_twice_the_keys"], d["asked"]["needs"])'
! bash: line 1: bloomery: command not found
! Traceback (most recent call last):
!   File "<string>", line 1, in <module>
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
$ bloomery plan -n 1000 --grows --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["kind"], d["first_keys"], [k["reason"] for k in d["kinds"] if not k["fits"]][0])'
! bash: line 1: bloomery: command not found
! Traceback (most recent call last):
!   File "<string>", line 1, in <module>
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
$ bloomery plan -m 1M -n 1M --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["asked"], d["bytes"] <= 1 << 20, d["rate"] < 0.03)'
! bash: line 1: bloomery: command not found
! Traceback (most recent call last):
!   File "<string>", line 1, in <module>
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

# --window takes its value either way, and says which values there are.
$ bloomery plan --window 2M --json | grep -o '^{"asked":{[^}]*}'
! bash: line 1: bloomery: command not found
? 1
$ bloomery plan --window 2M more
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan --window 3w -n 5
! bash: line 1: bloomery: command not found
? 127

# Of a window by time it is told what dedup makes of it.
$ bloomery plan --window 24h -n 1M | grep -v 'it does not'
! bash: line 1: bloomery: command not found
? 1
$ bloomery plan --window 24h -n 1M --json | grep -o '^{"asked":{[^}]*}'
! bash: line 1: bloomery: command not found
? 1

# What a kind is for goes without saying.
$ for kind in fuse ribbon window stable; do bloomery plan -n 1M --kind $kind | head -1; done
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
$ bloomery plan -n 1M --kind fuse --deletes
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --kind window --static
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --kind stable --window=24h | head -1
! bash: line 1: bloomery: command not found

# The least, at any rate.
$ bloomery plan -n 1M -m 1 --deletes
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1% --deletes --grows --first 1000 | tail -5
! bash: line 1: bloomery: command not found

# Counters: how wide, and how often one reaches its limit.
$ bloomery plan -n 1M -p 1% --kind counting --counter-bits 2 | sed -n '1p; /A counter/,$p'
! bash: line 1: bloomery: command not found
$ for bits in 2 4 8 16; do bloomery plan -n 1M -p 1% --kind blocked-counting --counter-bits $bits --json | python3 -c "
> import json, sys
> d = json.load(sys.stdin)
> print(d['counter_bits'], '%.1f %.1e' % (d['bits_per_key'], d['counter_overflow']), d['rate'] <= 0.01)"; done
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
$ bloomery plan -n 1M --kind counting --counter-bits 16 | grep -A 2 'A counter'
! bash: line 1: bloomery: command not found
? 1
$ bloomery plan -n 1M --kind hybrid --counter-bits 4
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -m 64M --kind counting --counter-bits 4
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M -p 1e-9 --kind blocked-counting --counter-bits 16
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1M --kind multilayer | tail -1
! bash: line 1: bloomery: command not found

# There is nothing to plan for a list over another, nor for a sketch that only counts.
$ bloomery plan -n 1000 --kind overlay
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1000 --kind hll
! bash: line 1: bloomery: command not found
? 127
