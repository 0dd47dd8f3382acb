#!/usr/bin/env bash
# The manual pages are clean roff and show what is to be typed: check_man.sh PROGRAM
#
# mandoc and groff judge them, where they are installed. The pages carry no date, so that they are
# the same on every day; mandoc's warning about that is the one that is allowed.
set -euo pipefail
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

complain() {
    printf '%s\n' "$*" >&2
    bad=1
}

for tool in mandoc groff; do
    command -v $tool >/dev/null || echo "check_man: $tool is not installed; its half is skipped" >&2
done

check_page() { # NAME [COMMAND]
    local name=$1 page=$scratch/$1.1 warnings text want
    "$program" help --man "${@:2}" >"$page"
    "$program" help --man "${@:2}" | cmp -s - "$page" || complain "$name: differs from run to run"
    grep -q '[^ -~]' "$page" && complain "$name: a character that is not ASCII"
    want="$name(1)"
    # A bare '-' in what is to be typed may be shown as another character.
    sed -n '/^\.EX$/,/^\.EE$/p; /^\\fB\\-/p' "$page" | grep -n '\(^\|[^\]\)-' &&
        complain "$name: these have a '-' that is not \\-"
    if command -v mandoc >/dev/null; then
        warnings=$(mandoc -Tlint -Wwarning "$page" | grep -v 'missing date, using "": TH' || true)
        [ -z "$warnings" ] || complain "$warnings"
        text=$(mandoc -Tascii "$page" | sed 's/.\x08//g')
        grep -qiF -- "$want" <<<"$text" || complain "$name: mandoc shows no title"
        show_examples "$name" "$text" "${@:2}"
    fi
    if command -v groff >/dev/null; then
        warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
        [ -z "$warnings" ] || complain "$warnings"
        text=$(groff -man -Tutf8 -P-cbou "$page")
        grep -qiF -- "$want" <<<"$text" || complain "$name: groff shows no title"
        show_examples "$name" "$text" "${@:2}"
    fi
}

# Every line of the help's examples stands on the page as it would be typed.
show_examples() { # NAME TEXT [COMMAND]
    local line
    [ $# -eq 3 ] || return 0
    while IFS= read -r line; do
        grep -qF -- "$line" <<<"$2" || complain "$1: the page does not show: $line"
    done < <("$program" help "$3" | sed -n '/^Examples:$/,/^Exit status:$/s/^  \([^#].*\)/\1/p')
}

check_page bloomery
for command in $("$program" help --list); do
    check_page "bloomery-$command" "$command"
    grep -q "bloomery\\\\-$command" "$scratch/bloomery.1" || complain "bloomery(1) lacks $command"
done
exit $bad
