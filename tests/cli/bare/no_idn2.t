# A build without libidn2 refuses a host name in other letters than ASCII, and says what to do.

$ printf 'bücher.example\n' | bloomery build --type domain -o list.bly
$ printf 'bob@bücher.example\n' | bloomery build --type email -o list.bly
$ printf 'http://bücher.example/\n' | bloomery build --type url -o list.bly
$ printf 'xn--bcher-kva.example\n' | bloomery build --quiet --type domain -o list.bly
$ printf 'www.bücher.example\nwww.xn--bcher-kva.example\n' | bloomery check --strict list.bly
$ printf 'HTTP://bücher.example/\nHTTP://bücher.example/\nHTTP://a.example/\n' | bloomery dedup --url
