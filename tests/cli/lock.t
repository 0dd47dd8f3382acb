# Only one process at a time changes a list. `plain` runs a program without root's right to ignore permissions.
$ printf '#!/bin/sh\n[ "$(id -u)" -eq 0 ] && exec setpriv --bounding-set=-dac_override,-dac_read_search -- "$@"\nexec "$@"\n' > plain; chmod +x plain
$ seq 10 | bloomery build -q -n 100 -o list.bly; seq 20 29 | bloomery build -q -n 100 -o other.bly

# A lock that cannot be taken is an error, and nothing is changed.
$ cp list.bly locked.bly; ln -s nowhere .locked.bly.lock; ln -s nowhere .new.bly.lock
$ echo x | bloomery add locked.bly 2>&1 | sed "s,$PWD/,,"
bloomery add: .locked.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
bloomery add: locked.bly: cannot be locked, so it is not written
$ bloomery merge -o new.bly list.bly other.bly
! bloomery merge: .new.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery merge: new.bly: cannot be locked, so it is not written
? 2
$ bloomery intersect -o new.bly list.bly other.bly
! bloomery intersect: .new.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery intersect: new.bly: cannot be locked, so it is not written
? 2
$ bloomery fold --by 1 -o new.bly list.bly
! bloomery fold: .new.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery fold: new.bly: cannot be locked, so it is not written
? 2
$ seq 10 | bloomery build -q --new-key new.key -o new.bly
! bloomery build: .new.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery build: new.bly: cannot be locked, so it is not written
? 2
$ seq 10 | bloomery dedup --state new.bly
! bloomery dedup: .new.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery dedup: new.bly: cannot be locked, so it is not written
? 2
$ cmp list.bly locked.bly; ls new.* nowhere 2>/dev/null
? 2
$ cp list.bly shut.bly; : > .shut.bly.lock; chmod 0 .shut.bly.lock; echo x | ./plain bloomery add shut.bly 2>&1 | sed "s,$PWD/,,"; cmp list.bly shut.bly
bloomery add: .shut.bly.lock: Permission denied
bloomery add: shut.bly: cannot be locked, so it is not written

# A file of that name that is not a lock file is not waited for, changed or removed.
$ cp list.bly odd.bly; mkfifo pipe; printf precious > full; : > empty; ln empty second; mkdir folder; chmod 600 full empty pipe; chmod 700 folder
> for kind in pipe full folder; do
>     mv $kind .odd.bly.lock; echo x | timeout 20 bloomery add odd.bly; echo $?; mv .odd.bly.lock $kind; stat -c '%F %a' $kind
> done; cat full; echo
2
fifo 600
2
regular file 600
2
directory 700
precious
! bloomery add: .odd.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery add: odd.bly: cannot be locked, so it is not written
! bloomery add: .odd.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery add: odd.bly: cannot be locked, so it is not written
! bloomery add: .odd.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery add: odd.bly: cannot be locked, so it is not written
$ ln empty .odd.bly.lock; echo x | bloomery add odd.bly; echo $?; stat -c '%h %a' .odd.bly.lock; rm .odd.bly.lock second; cmp list.bly odd.bly
2
3 600
! bloomery add: .odd.bly.lock: cannot be used as a lock file, which must be an empty regular file without other hard links; move it away
! bloomery add: odd.bly: cannot be locked, so it is not written

# The lock file of a killed program is used and removed. Its permissions are not changed.
$ : > .odd.bly.lock; chmod 600 .odd.bly.lock; echo x | bloomery add -q odd.bly; echo $?; ls .odd.bly.lock
0
! ls: cannot access '.odd.bly.lock': No such file or directory
? 2

# The umask decides who may open it.
$ mkfifo lines; for mask in 077 022; do
>     (umask $mask; exec bloomery add -q odd.bly < lines) & exec 9> lines
>     echo y >&9; until [ -e .odd.bly.lock ]; do :; done; stat -c %a .odd.bly.lock; exec 9>&-; wait
> done
600
644

# Where no file can be created, no lock is needed.
$ mkdir fixed; cp list.bly fixed; chmod 555 fixed; echo 5 | ./plain bloomery add -q fixed/list.bly; echo $?; chmod 755 fixed; ls -A fixed
0
list.bly
$ echo x | bloomery add nowhere/list.bly
! bloomery add: nowhere/list.bly: No such file or directory
? 2

# The lock of another user is respected, although its file is not writable.
$ cp list.bly theirs.bly; : > .theirs.bly.lock; chmod 444 .theirs.bly.lock
> exec 9< .theirs.bly.lock; flock 9; echo x | ./plain bloomery add theirs.bly 2> notes 9<&- & until_true grep -q waiting notes
> bloomery info --json theirs.bly | grep -o '"count":[0-9]*'; exec 9<&-; wait; cat notes >&2
"count":10
! bloomery add: theirs.bly: waiting for another process that is using this file
! bloomery add: theirs.bly: 1 of 1 key new; now 11 keys (capacity: 100)

# A list that appears while the command waits for the lock is not replaced, and no key file without
# a list is left behind.
$ for command in "merge list.bly other.bly" "intersect list.bly other.bly" "fold --by 1 list.bly" "build full --new-key late.key"; do
>     rm -f late.bly notes; : > .late.bly.lock
>     exec 9< .late.bly.lock; flock 9; bloomery $command -o late.bly 2> notes 9<&- & until_true grep -q waiting notes
>     cp other.bly late.bly; exec 9<&-; wait $!; echo $?; cat notes >&2; cmp other.bly late.bly
> done; ls -A | grep late
2
2
2
2
late.bly
! bloomery merge: late.bly: waiting for another process that is using this file
! bloomery merge: late.bly: already exists; use -f to replace it
! bloomery intersect: late.bly: waiting for another process that is using this file
! bloomery intersect: late.bly: already exists; use -f to replace it
! bloomery fold: late.bly: waiting for another process that is using this file
! bloomery fold: late.bly: already exists; use -f to replace it
! bloomery build: late.bly: waiting for another process that is using this file
! bloomery build: late.bly: already exists; use -f to replace it

# A signal leaves no lock behind and changes nothing, while keys are read and while the command waits.
$ cp list.bly int.bly; mkfifo feed; exec 9<> feed; echo x >&9; bloomery add int.bly < feed 9>&- & job=$!
> until_true waits $job; ls .int.bly.lock; kill -TERM $job; wait $job; echo $?; cmp list.bly int.bly; ls -A | grep int.bly
.int.bly.lock
143
int.bly
! bloomery add: int.bly: was not changed
$ rm notes; : > .int.bly.lock; exec 9< .int.bly.lock; flock 9; bloomery merge -f -o int.bly list.bly other.bly 2> notes 9<&- & job=$!
> until_true grep -q waiting notes; until_true waits $job; kill -TERM $job; wait $job; echo $?; cmp list.bly int.bly
143

# A signal during the reading of lines: no list is written.
$ exec 9<> feed; seq 5 >&9; bloomery build -o half.bly < feed 9>&- & job=$!; until_true waits $job; kill -TERM $job; wait $job; echo $?; ls -A | grep half
143
? 1
