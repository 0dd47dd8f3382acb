# A build without libidn2 refuses a non-ASCII host name, and says what to do.

$ printf 'bücher.example\n' | bloomery build --type domain -o list.bly
! bloomery build: standard input:1: non-ASCII host name; this build has no libidn2: write it in ASCII (xn--...): 'bücher.example'
! bloomery build: 1 malformed line, so nothing was written; use --skip-malformed to skip such lines
? 2
$ printf 'bob@bücher.example\n' | bloomery build --type email -o list.bly
! bloomery build: standard input:1: non-ASCII host name; this build has no libidn2: write it in ASCII (xn--...): 'bob@bücher.example'
! bloomery build: 1 malformed line, so nothing was written; use --skip-malformed to skip such lines
? 2
$ printf 'http://bücher.example/\n' | bloomery build --type url -o list.bly
! bloomery build: standard input:1: non-ASCII host name; this build has no libidn2: write it in ASCII (xn--...): 'http://bücher.example/'
! bloomery build: 1 malformed line, so nothing was written; use --skip-malformed to skip such lines
? 2
$ printf 'xn--bcher-kva.example\n' | bloomery build --quiet --type domain -o list.bly
$ printf 'www.bücher.example\nwww.xn--bcher-kva.example\n' | bloomery check --strict list.bly
www.xn--bcher-kva.example
! bloomery check: standard input:1: non-ASCII host name; this build has no libidn2: write it in ASCII (xn--...): 'www.bücher.example'
? 2
$ printf 'HTTP://bücher.example/\nHTTP://bücher.example/\nHTTP://a.example/\n' | bloomery dedup --url
HTTP://bücher.example/
HTTP://a.example/
! bloomery dedup: warning: this build of bloomery has no support for international domain names (libidn2), so lines with such a host name are compared byte by byte; write the hosts in ASCII (xn--...)
