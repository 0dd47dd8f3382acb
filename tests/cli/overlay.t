# A list over another, from which keys can be removed, whatever the other is.
$ seq 1000 > numbers
$ for kind in fuse ribbon classic split512 scalable cuckoo; do
>     bloomery build -q --kind $kind -o $kind.bly numbers; cp $kind.bly before.bly
>     bloomery build --over $kind.bly -o over.bly -f
>     bloomery check -c over.bly numbers
>     seq 1 2 1000 | bloomery remove over.bly
>     echo $(seq 1 2 1000 | bloomery check -c over.bly) $(seq 2 2 1000 | bloomery check -c over.bly)
>     bloomery add over.bly <(printf 'new\n1\n'); printf 'new\n1\n2\n3\n' | bloomery check over.bly | tr '\n' ' '; echo
>     cmp before.bly $kind.bly
> done
\
\
\
\
\
\
\
\
\
\
\
\
! bash: line 2: bloomery: command not found
! cp: cannot stat 'fuse.bly': No such file or directory
! bash: line 3: bloomery: command not found
! bash: line 4: bloomery: command not found
! bash: line 5: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 7: bloomery: command not found
! bash: line 7: bloomery: command not found
! cmp: before.bly: No such file or directory
! bash: line 2: bloomery: command not found
! cp: cannot stat 'ribbon.bly': No such file or directory
! bash: line 3: bloomery: command not found
! bash: line 4: bloomery: command not found
! bash: line 5: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 7: bloomery: command not found
! bash: line 7: bloomery: command not found
! cmp: before.bly: No such file or directory
! bash: line 2: bloomery: command not found
! cp: cannot stat 'classic.bly': No such file or directory
! bash: line 3: bloomery: command not found
! bash: line 4: bloomery: command not found
! bash: line 5: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 7: bloomery: command not found
! bash: line 7: bloomery: command not found
! cmp: before.bly: No such file or directory
! bash: line 2: bloomery: command not found
! cp: cannot stat 'split512.bly': No such file or directory
! bash: line 3: bloomery: command not found
! bash: line 4: bloomery: command not found
! bash: line 5: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 7: bloomery: command not found
! bash: line 7: bloomery: command not found
! cmp: before.bly: No such file or directory
! bash: line 2: bloomery: command not found
! cp: cannot stat 'scalable.bly': No such file or directory
! bash: line 3: bloomery: command not found
! bash: line 4: bloomery: command not found
! bash: line 5: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 7: bloomery: command not found
! bash: line 7: bloomery: command not found
! cmp: before.bly: No such file or directory
! bash: line 2: bloomery: command not found
! cp: cannot stat 'cuckoo.bly': No such file or directory
! bash: line 3: bloomery: command not found
! bash: line 4: bloomery: command not found
! bash: line 5: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 6: bloomery: command not found
! bash: line 7: bloomery: command not found
! bash: line 7: bloomery: command not found
! cmp: before.bly: No such file or directory
? 2

# It says what it is over, and what has changed.
$ bloomery build -q --over fuse.bly -o over.bly -f; bloomery info over.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery remove -q over.bly <(seq 100); bloomery add -q over.bly <(seq 2001 2050); bloomery info over.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery remove -q over.bly <(seq 101 200); bloomery info over.bly | grep changes
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 1
$ bloomery info --json over.bly | sed -E 's/(\.0*[1-9][0-9]{2})[0-9]+/\1/g; s/(e-[0-9]+)/\1/' | grep -o '"overlay".*'
! bash: line 1: bloomery: command not found
? 1
$ bloomery info --header over.bly | grep -e kind -e shape
! bash: line 1: bloomery: command not found
? 1
$ bloomery verify over.bly
! bash: line 1: bloomery: command not found
? 127

# It is a set: what is added twice goes at once, and a key that never was added takes no other with it.
$ bloomery add over.bly --key twice; bloomery add over.bly --key twice; bloomery remove over.bly --key twice; bloomery check -q over.bly --key twice
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ seq 100001 103000 | bloomery remove over.bly; bloomery check -c over.bly <(seq 201 1000)
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery add --copies over.bly --key twice
! bash: line 1: bloomery: command not found
? 127
$ bloomery add --once over.bly --key once; bloomery add --once over.bly --key once
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery remove over.bly --key nowhere
! bash: line 1: bloomery: command not found
? 127

# How many changes there is room for, and how they are remembered.
$ bloomery build -q --over fuse.bly --changes 10 -o few.bly; bloomery build -q --over fuse.bly --changes 10000 -o lots.bly; ls -s --block-size=1 few.bly lots.bly > /dev/null; test $(wc -c < few.bly) -lt $(wc -c < lots.bly)
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! ls: cannot access 'few.bly': No such file or directory
! ls: cannot access 'lots.bly': No such file or directory
! bash: line 1: few.bly: No such file or directory
! bash: line 1: lots.bly: No such file or directory
$ bloomery build -q --over fuse.bly --marker classic --changes 50 -o bloom.bly; bloomery remove bloom.bly <(seq 50); bloomery info bloom.bly | grep -e changes -e misses; bloomery remove bloom.bly <(seq 51 200); echo $?
127
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
$ bloomery build -q --over fuse.bly --marker cuckoo --changes 10 -o grow.bly; bloomery remove grow.bly <(seq 500)
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ cp grow.bly before.bly; bloomery remove grow.bly <(seq 501 1000); bloomery check -c grow.bly numbers; bloomery info grow.bly | grep changes
! cp: cannot stat 'grow.bly': No such file or directory
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 1
$ bloomery build --over fuse.bly --marker sbbf -o x.bly
! bash: line 1: bloomery: command not found
? 127

# Made from lines, it has a filter of its own beneath.
$ bloomery build --kind overlay -o own.bly numbers; bloomery remove own.bly --key 5; bloomery check -c own.bly numbers; bloomery info own.bly | grep -e over -e changes
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 1
$ bloomery build --kind overlay --changes 5 --marker classic -o own2.bly numbers; bloomery remove own2.bly --key 5; bloomery check -c own2.bly numbers
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127

# What is told.
$ bloomery build --json -q --over ribbon.bly -o r.bly | sed -E 's/"bytes":[0-9]+/"bytes":B/'
! bash: line 1: bloomery: command not found
$ bloomery build -q --stats --over ribbon.bly -o r.bly -f 2>&1 | head -1
bash: line 1: bloomery: command not found
$ bloomery build --over ribbon.bly -o r.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over ribbon.bly -o - > piped.bly; bloomery check -c piped.bly numbers
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127

# Types and marks come from the list beneath, and a secret too.
$ printf 'example.com\nbad.test\n' | bloomery build -q --type domain --kind fuse -o domains.bly; bloomery build -q --over domains.bly -o d.bly; bloomery remove d.bly --key BAD.test; printf 'www.example.com\nbad.test\n' | bloomery check d.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery add d.bly --key deep.down.test; bloomery info d.bly | grep -e type -e changes; bloomery check d.bly -k x.deep.down.test; bloomery check d.bly -k down.test
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ echo 000102030405060708090a0b0c0d0e0f > key; bloomery build -q --key-file key --kind ribbon -o secret.bly numbers; bloomery build --over secret.bly -o s.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery build -q --key-file key --over secret.bly -o s.bly; bloomery remove --key-file key s.bly --key 7; bloomery check -c --key-file key s.bly numbers
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --key-file key --over fuse.bly -o x.bly
! bash: line 1: bloomery: command not found
? 127

# What cannot be.
$ bloomery build --over over.bly -o x.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery distinct -q -s h.bly numbers > /dev/null; bloomery build --over h.bly -o x.bly
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over missing.bly -o x.bly
! bash: line 1: bloomery: command not found
? 127
$ head -c 200 fuse.bly > cut.bly; bloomery build --over cut.bly -o x.bly
! head: cannot open 'fuse.bly' for reading: No such file or directory
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over fuse.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over fuse.bly -o fuse.bly -f
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over fuse.bly -o x.bly numbers
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over fuse.bly -o x.bly -n 5
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over fuse.bly -o x.bly --kind cuckoo
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over fuse.bly -o x.bly --counter-bits 4
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --changes 5 -o x.bly numbers
! bash: line 1: bloomery: command not found
? 127
$ bloomery build --over fuse.bly --kind overlay -q -o x.bly; bloomery check -c x.bly numbers
! bash: line 1: bloomery: command not found
! bash: line 1: bloomery: command not found
? 127
$ bloomery merge -o y.bly over.bly over.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery subtract -o y.bly over.bly over.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery fold -o y.bly over.bly
! bash: line 1: bloomery: command not found
? 127
$ bloomery dedup --state over.bly numbers
! bash: line 1: bloomery: command not found
? 127
$ bloomery count --query -s over.bly -k 1
! bash: line 1: bloomery: command not found
? 127
$ bloomery plan -n 1000 --kind overlay
! bash: line 1: bloomery: command not found
? 127

# The way is named where keys cannot be removed or added.
$ bloomery remove fuse.bly --key 1
! bash: line 1: bloomery: command not found
? 127
$ bloomery remove classic.bly --key 1
! bash: line 1: bloomery: command not found
? 127
$ bloomery add ribbon.bly --key 1
! bash: line 1: bloomery: command not found
? 127
