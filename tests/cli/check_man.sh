#!/usr/bin/env bash
# The manual pages are valid roff, and show commands as they must be typed: check_man.sh PROGRAM
#
# mandoc and groff check them, if they are installed. The pages have no date, so that they are the same
# on every day; mandoc's warning about that is the only one that is allowed.
set -euo pipefail
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

complain() {
    printf '%s\n' "$*" >&2
    bad=1
}

mandoc=$(command -v mandoc || true) groff=$(command -v groff || true)
for tool in mandoc groff; do
    [ -n "${!tool}" ] || echo "check_man: $tool is not installed; its half is skipped" >&2
done

check_page() { # NAME [COMMAND]
    local name=$1 page=$scratch/$1.1 warnings text want
    "$program" help --man "${@:2}" >"$page"
    "$program" help --man "${@:2}" | cmp -s - "$page" || complain "$name: differs from run to run"
    grep -q '[^ -~]' "$page" && complain "$name: a character that is not ASCII"
    want="$name(1)"
    # A bare '-' in a command may be displayed as another character.
    sed -n '/^\.EX$/,/^\.EE$/p; /^\\fB\\-/p' "$page" | grep -n '\(^\|[^\]\)-' &&
        complain "$name: these have a '-' that is not \\-"
    if [ -n "$mandoc" ]; then
        text=$(mandoc -Tascii -Wwarning "$page" 2>"$scratch/warnings" | sed 's/.\x08//g') || true
        warnings=$(grep -v -e 'missing date, using "": TH' -e 'see above the output' "$scratch/warnings" || true)
        [ -z "$warnings" ] || complain "$warnings"
        show "$name: mandoc" "$want" "$text" "${@:2}"
    fi
    if [ -n "$groff" ]; then
        text=$(groff -man -Tutf8 -ww -P-cbou "$page" 2>"$scratch/warnings")
        [ ! -s "$scratch/warnings" ] || complain "$(<"$scratch/warnings")"
        show "$name: groff" "$want" "$text" "${@:2}"
    fi
}

# The title is there, in small or capital letters, and every line of the help's examples as it must be
# typed.
show() { # WHERE TITLE TEXT [COMMAND]
    local line
    [[ ${3,,} == *"${2,,}"* ]] || complain "$1 shows no title"
    [ $# -eq 4 ] || return 0
    while IFS= read -r line; do
        [[ $3 == *"$line"* ]] || complain "$1 does not show: $line"
    done < <("$program" help "$4" | sed -n '/^Examples:$/,/^Exit status:$/s/^  \([^#].*\)/\1/p')
}

check_page bloomery
for command in $("$program" help --list); do
    check_page "bloomery-$command" "$command"
    grep -q "bloomery\\\\-$command" "$scratch/bloomery.1" || complain "bloomery(1) lacks $command"
done
exit $bad
