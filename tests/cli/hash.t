# Hash values of keys.

$ bloomery hash hello
9555e8555c62dcfd  hello
$ bloomery hash hello '' world
9555e8555c62dcfd  hello
\2d06800538d394c2 \s
d6476c25083d69be  world
$ for h in xxh3 xxh3-128 xxh64 murmur3 murmur64a fnv1 fnv1a fnv1-32 fnv1a-32 crc64 city64 farm64; do
>     echo "$(bloomery hash --with $h 123456789) $h"
> done
72dcb18b67a17dff  123456789 xxh3
33119477ede5dcd5e9716427681d5860  123456789 xxh3-128
8cb841db40e6ae83  123456789 xxh64
a4cc66db5e64843c05a11e3ac7faf899  123456789 murmur3
4977490251674330  123456789 murmur64a
a72ffc362bf916d6  123456789 fnv1
06d5573923c6cdfc  123456789 fnv1a
24148816  123456789 fnv1-32
bb86b11c  123456789 fnv1a-32
995dc9bbdf1939fa  123456789 crc64
6290b5b99f49dc6a  123456789 city64
6290b5b99f49dc6a  123456789 farm64

# Known answers: CRC-64/XZ and FNV-1a by their publications.
$ bloomery hash --with crc64 123456789 | cut -c 1-16
995dc9bbdf1939fa
$ bloomery hash --with fnv1a foobar | cut -c 1-16
85944171f73967e8
$ bloomery hash --with fnv1a-32 foobar | cut -c 1-8
bf9cf968

# md5, sha1 and siphash need packages that a build may lack; then nothing is compared.
$ have() { ! bloomery hash --list | grep "^$1 " | grep -q 'not in this build'; }
> have md5 || { printf '5d41402abc4b2a76b9719d911017c592  hello\n'; exit; }
> bloomery hash --with md5 hello
5d41402abc4b2a76b9719d911017c592  hello
$ have() { ! bloomery hash --list | grep "^$1 " | grep -q 'not in this build'; }
> have sha1 || { printf 'aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d  hello\n'; exit; }
> bloomery hash --with sha1 hello
aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d  hello

# SipHash-2-4-128's first published vector: the key 00 01 .. 0f and the empty message.
$ have() { ! bloomery hash --list | grep "^$1 " | grep -q 'not in this build'; }
> printf '000102030405060708090a0b0c0d0e0f\n' >secret.key; chmod 600 secret.key
> have siphash || { printf 'a3817f04ba25a8e66df67214c7550293\n'; exit; }
> bloomery hash --with siphash --key-file secret.key '' | cut -c 1-32
a3817f04ba25a8e66df67214c7550293

# One carriage return before the newline is not part of a key, but is printed.
$ printf 'a\r\na\r\r\n' | bloomery hash | tr '\r' '^'; printf 'a\r\n' | bloomery hash --json --with fnv1a-32
e6c632b61e964e1f  a^
df797650d359c939  a^^
{"key":"a","hash":"fnv1a-32","digest":"e40c292c","low":"324f5863ae0f1959","high":"468a62af7b19fe10"}
$ printf 'a\r\0' | bloomery hash -0 | tr '\r\0' '^@'
df797650d359c939  a^@
\c

# Standard input, by lines or by NULs; the last record may lack its separator.
$ printf 'a\nb\n\nc' | bloomery hash
e6c632b61e964e1f  a
575a0b1c44d8843f  b
\2d06800538d394c2 \s
8c40219a46b9f81b  c
$ printf 'a\nb\0c\0' | bloomery hash -0 --with fnv1a-32 | tr '\0' '@'
28e4c710  a
b@e60c2c52  c@
\c
$ printf 'a\n' | bloomery hash -
e6c632b61e964e1f  a
$ printf '' | bloomery hash

# The two words that a filter uses, and the seed.
$ bloomery hash --words a b
e6c632b61e964e1f 8b6c21465ce3d700  a
575a0b1c44d8843f 2b5d070163439a66  b
$ bloomery hash --words --seed 7 a
9ed5888bc5a2a094 24dce6d2d1b452cd  a
$ bloomery hash --words --seed 0x7 a
9ed5888bc5a2a094 24dce6d2d1b452cd  a
$ bloomery hash --seed 7 --with fnv1a a
af63dc4c8601ec8c  a
$ bloomery hash --words --seed 7 --with fnv1a a
64caa8f1e8bb7009 005efab7690b770d  a

# JSON, with any bytes in the key.
$ printf 'plain\n\377\n"\n' | bloomery hash --json --with fnv1-32
{"key":"plain","hash":"fnv1-32","digest":"0dd5cf93","low":"536a1ad465488b74","high":"c532aa0f6123bf65"}
{"key":"\ufffd","key_base64":"/w==","hash":"fnv1-32","digest":"050c5de0","low":"d14703d39d866da6","high":"9928b66c5e48dc88"}
{"key":"\"","hash":"fnv1-32","digest":"050c5d3d","low":"bd078ce3ecf9c1db","high":"340c67fb29549f6e"}
$ bloomery hash --list | grep -vE '^(md5|sha1|siphash) '
xxh3         64 bits  the default
xxh3-128    128 bits
xxh64        64 bits
murmur3     128 bits
murmur64a    64 bits
fnv1         64 bits
fnv1a        64 bits
fnv1-32      32 bits
fnv1a-32     32 bits
crc64        64 bits
city64       64 bits
farm64       64 bits
$ bloomery hash --list --json | head -2
{"hash":"xxh3","bits":64,"available":true,"keyed":false}
{"hash":"xxh3-128","bits":128,"available":true,"keyed":false}

# Invalid options.
$ bloomery hash --with sha256 hello
! bloomery hash: --with cannot be 'sha256': it must be one of xxh3, xxh3-128, xxh64, murmur3, murmur64a, fnv1, fnv1a, fnv1-32, fnv1a-32, crc64, city64, farm64, md5, sha1, siphash
? 2
$ bloomery hash --key-file secret.key hello
! bloomery hash: xxh3 takes no secret key; use --with siphash, or leave out --key-file
? 2
$ bloomery hash --seed -1 hello
! bloomery hash: --seed cannot be '-1': it must be a whole number, decimal (42) or hexadecimal (0x2a)
? 2
$ bloomery hash --list hello
! bloomery hash: --list takes no keys; leave out 'hello'
? 2
$ bloomery hash --with
! bloomery hash: --with needs a value: --with HASH
? 2

# If the reader of the output ends, the command ends too, even if more input follows.
$ yes | bloomery hash | head -1; echo ${PIPESTATUS[1]}
272b57e6d7c0a9e5  y
141
