# A build without hiredis reports that before it does anything.

$ bloomery push list.bly redis://127.0.0.1/key
! bloomery push: this build of bloomery has no support for servers, because hiredis was not found; build it with hiredis
? 2
$ bloomery pull redis://127.0.0.1/key list.bly
! bloomery pull: this build of bloomery has no support for servers, because hiredis was not found; build it with hiredis
? 2
$ bloomery build -o redis://127.0.0.1/key list.txt
! bloomery build: this build of bloomery has no support for servers, because hiredis was not found; build it with hiredis
? 2
$ bloomery check redis://127.0.0.1/key list.txt
! bloomery check: this build of bloomery has no support for servers, because hiredis was not found; build it with hiredis
? 2
$ bloomery add redis://127.0.0.1/key list.txt
! bloomery add: this build of bloomery has no support for servers, because hiredis was not found; build it with hiredis
? 2
$ bloomery info redis://127.0.0.1/key
! bloomery info: this build of bloomery has no support for servers, because hiredis was not found; build it with hiredis
? 2
$ ls
