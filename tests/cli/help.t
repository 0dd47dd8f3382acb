# The overview, and messages about wrong commands.

$ bloomery --help
bloomery answers "have I seen this key?" in about ten bits per key. "No" is
always right; "yes" is wrong at a rate that you choose.
\
Usage: bloomery COMMAND [OPTION...] [OPERAND...]
\
Commands:
  dedup      Print each line the first time it is seen
  distinct   Count the different lines, in a few kilobytes
  count      Count how often each line occurs
  build      Build a list file that lines can be checked against
  check      Print the lines that may be in a list
  add        Add keys to a filter
  remove     Remove keys from a filter file
  merge      Merge filters into one
  intersect  Keep the keys that filters have in common
  subtract   Remove the keys of filters from another filter
  fold       Make a filter smaller
  info       Describe filters
  verify     Check filter files for damage and too many false positives
  push       Send a filter file to a Redis or Valkey server
  pull       Fetch a filter from a Redis or Valkey server to a file
  drop       Delete filters from a Redis or Valkey server
  plan       Choose a kind of filter and its size
  hash       Print hash values of keys
  bench      Measure the speed of filters on this machine
  help       Print help, manual pages and completion scripts
\
Examples:
  # The different lines of a log
  bloomery dedup access.log
  # A crawl's URLs, without those that differ only in spelling or tracking
  zcat urls-*.gz | bloomery dedup --url=crawl -n 50M > frontier.txt
  # The number of different visitors
  bloomery distinct --field 1 -t ' ' access.log
  # The ten most frequent addresses of a log
  bloomery count --top 10 --field 1 -t ' ' access.log
  # Two lists of address blocks; false positives: 1 in a million lines
  bloomery build --type ip --comments -p 1e-6 -o drop.bly drop.txt edrop.txt
  # Print the lines of a log whose first field is a listed address
  bloomery check --field 1 -t ' ' drop.bly access.log
  # A hundred million keys, one wrong answer in a thousand
  bloomery plan -n 1e8 -p 0.1%
\
More:
  bloomery COMMAND -h       a summary of its options
  bloomery COMMAND --help   everything about it, as in `man bloomery-COMMAND`
  bloomery --version        the version

$ bloomery help | diff - <(bloomery --help) && bloomery -h | diff - <(bloomery --help)

# Without a command the overview goes to standard error, and that is an error.
$ bloomery >out 2>err; echo "status $?"; wc -c <out; diff err <(bloomery --help)
status 2
0

$ bloomery --version | sed -E 's/[0-9]+/N/g' && bloomery -V | diff - <(bloomery --version)
bloomery N.N.N

$ bloomery deduplicate
! bloomery: unknown command 'deduplicate'; did you mean dedup?
? 2

$ bloomery --nonsense
! bloomery: unknown option '--nonsense'; see bloomery --help
? 2

# One command, in short and in full.
$ bloomery help -h
Usage: bloomery help [OPTION...] [COMMAND]
\
Without COMMAND, prints an overview. With COMMAND, prints everything about it,
as `bloomery COMMAND --help` does.
\
Options:
      --man               Print the manual page as roff: `bloomery help --man
                          dedup | man -l -`.
      --completion SHELL  Print the completion script for a shell: commands,
                          options and values. SHELL is bash, zsh or fish.
      --list              Print the names of the commands, one per line.
\
General options:
  -q, --quiet             Print no notes and no progress; errors and warnings
                          are still printed.
      --color WHEN        When to use colour: auto (the default) means on a
                          terminal, unless NO_COLOR is set or TERM is dumb. WHEN
                          is auto, always or never.
  -h, --help              Print help and exit: -h prints a summary, --help
                          everything.
\
See `bloomery help --help` for details and examples.

$ bloomery help --help
bloomery help: Print help, manual pages and completion scripts
\
Usage: bloomery help [OPTION...] [COMMAND]
\
Without COMMAND, prints an overview. With COMMAND, prints everything about it,
as `bloomery COMMAND --help` does.
\
Manual pages and completion scripts are installed with the program. If they are
not, this command prints them. They come from the same tables as the parser of
the options.
\
Options:
      --man               Print the manual page as roff: `bloomery help --man
                          dedup | man -l -`.
      --completion SHELL  Print the completion script for a shell: commands,
                          options and values. SHELL is bash, zsh or fish.
      --list              Print the names of the commands, one per line.
\
General options:
  -q, --quiet             Print no notes and no progress; errors and warnings
                          are still printed. bloomery check prints no lines,
                          either: its exit status is the answer.
      --color WHEN        When to use colour: auto (the default) means on a
                          terminal, unless NO_COLOR is set or TERM is dumb. WHEN
                          is auto, always or never.
  -h, --help              Print help and exit: -h prints a summary, --help
                          everything.
\
Examples:
  # Read about one command
  bloomery help dedup
\
  # Complete commands and options in this bash session
  source <(bloomery help --completion bash)
\
  # Complete them in fish, permanently
  bloomery help --completion fish >~/.config/fish/completions/bloomery.fish
\
  # Read a manual page that is not installed
  bloomery help --man check | man -l -
\
Exit status:
  0  Success.
  2  An error occurred; see the message on standard error.

$ bloomery help help | diff - <(bloomery help --help)

# -h and --help take precedence over all other options, and do not run the command.
$ bloomery dedup nonexistent.txt --quiet -h | head -1
Usage: bloomery dedup [OPTION...] [FILE...]

$ bloomery help --nonsense
! bloomery help: unknown option --nonsense; see --help
? 2

$ bloomery help --complation zsh
! bloomery help: unknown option --complation; did you mean --completion?
? 2

$ bloomery help --completion
! bloomery help: --completion needs a value: --completion SHELL
? 2

$ bloomery help --completion tcsh
! bloomery help: --completion cannot be 'tcsh': it must be one of bash, zsh, fish
? 2

$ bloomery help --man=dedup
! bloomery help: --man takes no value
? 2

$ bloomery help -qZ
! bloomery help: unknown option -Z; see --help
? 2

$ bloomery help deduplicate
! bloomery help: unknown command 'deduplicate'; did you mean dedup?
? 2

$ bloomery help dedup check
! bloomery help: unexpected argument 'check'; see --help
? 2

$ bloomery help --list dedup
! bloomery help: unexpected argument 'dedup'; see --help
? 2

$ bloomery help --man --list
! bloomery help: --man, --completion and --list cannot be combined; give only one
? 2

$ bloomery help --list
dedup
distinct
count
build
check
add
remove
merge
intersect
subtract
fold
info
verify
push
pull
drop
plan
hash
bench
help

# No formatting in a pipe; bold with --color always.
$ bloomery help -h | grep -c $'\033'
0
? 1

$ bloomery help -h --color=always | head -1 | cat -v
^[[1mUsage:^[[0m bloomery help [OPTION...] [COMMAND]

# A full disk is an error.
$ bloomery help >/dev/full
! bloomery help: standard output: No space left on device
? 2

# Manual pages and completion scripts: their first lines. check_man.sh and check_completions.sh check the rest.
$ bloomery help --man | sed -E '1s/[0-9]+\.[0-9.]+/N/' | head -5
.TH BLOOMERY 1 "" "bloomery N" "Bloomery"
.nh
.ad l
.SH NAME
bloomery \- sets of keys in about ten bits per key
$ bloomery help --man help | sed -n '4,7p'
.SH NAME
bloomery\-help \- print help, manual pages and completion scripts
.SH SYNOPSIS
\\fBbloomery help\fR [\fIOPTION\fR...] [\fICOMMAND\fR]
$ for shell in bash zsh fish; do bloomery help --completion $shell | head -2 | grep -v '[0-9]'; done
_bloomery() {
\#compdef bloomery
function __bloomery_first

# If the reader has closed the pipe, nothing is reported; the process ends by SIGPIPE.
$ mkfifo gone; exec 8<> gone 9> gone 8<&-; bloomery --help >&9; echo $?
141
$ exec 8<> gone 9> gone 8<&-; bloomery plan -n 1000 >&9; echo $?
141
