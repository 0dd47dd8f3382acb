# The form of the output; the times differ from run to run.

$ bloomery bench -n 3000 --rounds 2 | sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g'
N,N keys of N bytes, rate N%, N rounds; medians
\
ns per key add contains, absent contains, present
 batched single batched single batched single
classic N N N N N N
partitioned N N N N N N
sbbf N N N N N N
splitN N N N N N N
bbNxN N N N N N N
scalable N N N N N N
window N N N N N N
counting N N N N N N
multilayer N N N N N N
layered N N N N N N
overlay N N N N N N
hybrid N N N N N N
cuckoo N N N N N N
fuse N - N N N N
ribbon N - N N N N
counts N N N N N N
growable-cuckoo N N N N N N
scalable-cuckoo N N N N N N
\
M keys/s add contains, absent contains, present
 batched single batched single batched single
classic N N N N N N
partitioned N N N N N N
sbbf N N N N N N
splitN N N N N N N
bbNxN N N N N N N
scalable N N N N N N
window N N N N N N
counting N N N N N N
multilayer N N N N N N
layered N N N N N N
overlay N N N N N N
hybrid N N N N N N
cuckoo N N N N N N
fuse N - N N N N
ribbon N - N N N N
counts N N N N N N
growable-cuckoo N N N N N N
scalable-cuckoo N N N N N N
\
space and rate size bits/key requested measured ratio
classic N KiB N N% N% N +-N
partitioned N KiB N N% N% N +-N
sbbf N KiB N N% N% N +-N
splitN N KiB N N% N% N +-N
bbNxN N KiB N N% N% N +-N
scalable N KiB N N% N% N +-N
window N KiB N N% N% N +-N
counting N KiB N N% N% N +-N
multilayer N KiB N N% N% N +-N
layered N KiB N N% N% N +-N
overlay N KiB N N% N% N +-N
hybrid N KiB N N% N% N +-N
cuckoo N KiB N N% N% N +-N
fuse N KiB N N% N% N +-N
ribbon N KiB N N% N% N +-N
counts N KiB N N% N% N +-N
growable-cuckoo N KiB N N% N% N +-N
scalable-cuckoo N KiB N N% N% N +-N
\
Limits of this machine:
 to hash a key with xxhN and do nothing else: N ns batched (N M/s), N ns single
 to read a random cache line from N KiB: N ns (N M/s)
\
No key was missed; batched and single calls agree.
$ bloomery bench -n 3000 -p 1% --rounds 1 --kinds sbbf,classic | grep -cE '^(sbbf|classic) '
6

# No time is zero, the measured rates are near the requested ones, and the sizes are as planned.
$ bloomery bench -n 20000 -p 1% --rounds 3 --json >figures.json
$ python3 - <<'END'
> import json
> d = json.load(open('figures.json'))
> print(d['keys'], d['key_bytes'], d['rate'], d['rounds'])
> for k in d['kinds']:
>     times = [v for n, v in k.items() if n.endswith('_ns') and v is not None]
>     ratio = k['measured_rate'] / k['requested_rate']
>     print(k['kind'], len(times), min(times) > 0, k['lookups'], '%.1f' % k['bits_per_key'],
>           0.75 < ratio < 1.25 if k['kind'] not in ('scalable', 'growable-cuckoo') else ratio < 1)
> print(sorted(d['limits']), all(v > 0 for n, v in d['limits'].items() if n != 'hash'))
> END
20000 16 0.01 3
classic 6 True 60000 9.6 True
partitioned 6 True 60000 9.6 True
sbbf 6 True 60000 10.5 True
split512 6 True 60000 10.1 True
bb2x512 6 True 60000 9.7 True
scalable 6 True 60000 23.5 True
window 6 True 60000 17.4 True
counting 6 True 60000 38.4 True
multilayer 6 True 60000 18.9 True
layered 6 True 60000 42.2 True
overlay 6 True 60000 12.6 True
hybrid 6 True 60000 14.6 True
cuckoo 6 True 60000 10.4 True
fuse 5 True 60000 8.0 False
ribbon 5 True 60000 7.0 True
counts 6 True 60000 97.7 True
growable-cuckoo 6 True 60000 26.9 True
scalable-cuckoo 6 True 60000 20.5 False
['hash', 'hash_batched_ns', 'hash_single_ns', 'line_bytes', 'line_ns'] True

# Invalid options.
$ bloomery bench --kinds sbbf,pigeon
! bloomery bench: --kinds: unknown kind 'pigeon'; use bloomery plan -n 1000 --all to list the kinds
? 2
$ bloomery bench --kinds ''
! bloomery bench: --kinds: unknown kind ''; use bloomery plan -n 1000 --all to list the kinds
? 2
$ bloomery bench --kinds $(yes sbbf | head -33 | paste -sd ,)
! bloomery bench: --kinds: at most 32 kinds can be given
? 2
$ bloomery bench --key-bytes 7
! bloomery bench: --key-bytes must be from 8 to 4096
? 2
$ bloomery bench --rounds 1001
! bloomery bench: --rounds must be at most 1000
? 2
$ bloomery bench -n 1e14 -p 1% --kinds sbbf
! bloomery bench: sbbf: the filter would need more than 2^48 bits
? 2
$ bloomery bench -p 1e-13 --kinds sbbf
! bloomery bench: sbbf: the false-positive rate must lie strictly between 0 and 1, and not below 2^-40
? 2
$ bloomery bench surplus
! bloomery bench: unexpected argument 'surplus'; see --help
? 2
