#!/usr/bin/env bash
# Checks in real shells that they complete what the help lists: check_completions.sh PROGRAM
#
# bash by calling the function as readline would, fish by `complete -C`, zsh through a
# pseudo-terminal. A shell that is not installed is skipped, with a message.
set -euo pipefail
program=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_DATA_HOME=$scratch
mkdir "$scratch/bin" "$scratch/files" "$scratch/zsh"
ln -s "$program" "$scratch/bin/bloomery"
export PATH=$scratch/bin:$PATH
cd "$scratch/files"
touch plain.txt 'with space.txt' check
bad=0
lines=() wanted=() # what is typed, and the words to be offered, one per line

complain() {
    printf '%s\n' "$*" >&2
    bad=1
}

# The long options that a command's help lists.
listed() { # COMMAND
    "$program" "$1" -h | sed -nE 's/^  (-., |    )(--[a-z0-9-]+).*/\2/p'
}

# A long option of a command that takes a value of that name.
taking() { # COMMAND METAVAR
    "$program" "$1" -h | sed -nE "s/^  (-., |    )(--[a-z0-9-]+) $2( .*|\$)/\2/p" | head -1
}

# expect LINE WANTED...: exactly these words must be offered at the end of the line.
expect() {
    lines+=("$1")
    shift
    wanted+=("$(printf '%s\n' "$@")")
}

# ---- the shells ------------------------------------------------------------------------------
# One session of each shell completes all lines. Its answers for the first line are in the file SHELL.1.

# The words as readline splits them: '=' stands alone, and nothing stands at the end of a line that
# ends in a blank. An empty answer with `-o default` in force means file names.
bash_session() {
    bash --norc -c '
        source "$1/completion.bash"
        compopt() { [ "$*" != "+o default" ] || files=no; }
        defaults=$(complete -p bloomery) number=0
        while IFS= read -r line; do
            line=${line//=/ = } files=yes COMPREPLY=()
            read -ra COMP_WORDS <<<"$line"
            case $line in *"= ") ;; *" ") COMP_WORDS+=("") ;; esac
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _bloomery
            printf "%s\n" "${COMPREPLY[@]}" >"$1/bash.$((++number))"
            case $files$defaults in
            yes*" -o default "*)
                [ ${#COMPREPLY[@]} -ne 0 ] ||
                    compgen -f -- "${COMP_WORDS[COMP_CWORD]}" >>"$1/bash.$number"
                ;;
            esac
        done
        exit 0 # that no such file exists is not an error
    ' bash "$scratch" <"$scratch/lines"
}

fish_session() {
    fish --no-config -c '
        source $argv[1]/completion.fish
        set number 0
        for line in (cat $argv[1]/lines)
            set number (math $number + 1)
            complete -C $line | string replace -r "\t.*" "" |
                string replace -r "^--[a-z0-9-]*=(.)" "\$1" >$argv[1]/fish.$number
        end
        exit 0 # if nothing is to be replaced, the status is 1
    ' "$scratch"
}

# Each line is typed, followed by a tab. The arguments of compadd are recorded, unless it only sorts
# matches into an array (-O, -A, -D).
zsh_session() {
    zsh -f <<'ZSH'
zmodload zsh/zpty zsh/datetime
zpty shell "PS1= zsh -f -i"
zpty -w shell "fpath=($HOME/zsh \$fpath); cd $HOME/files"
zpty -w shell 'setopt extended_glob no_beep; LISTMAX=9999'
zpty -w shell 'autoload -Uz compinit && compinit -u -D'
zpty -w shell 'compadd() {
    case " ${@[1,(i)(-|--)]} " in
    (*" -"[a-zA-Z]#[OAD]" "*) ;;
    (*) local -a found; builtin compadd -A found "$@"; print -rl -- $found >>$HOME/found ;;
    esac
    builtin compadd "$@"
}'
zpty -w shell 'take() {
    : >$HOME/found
    zle complete-word
    mv $HOME/found $HOME/zsh.$number
    zle kill-whole-line
}'
zpty -w shell "zle -N take; bindkey '^I' take"
integer number=0
while IFS= read -r line; do
    (( ++number ))
    zpty -w shell "number=$number"
    zpty -w -n shell "$line"$'\t'
    float limit=$(( EPOCHREALTIME + 30 ))
    until [[ -e $HOME/zsh.$number ]] || (( EPOCHREALTIME > limit )); do
        zpty -r -t shell >/dev/null 2>&1
        sleep 0.01
    done
done <$HOME/lines
zpty -d shell
ZSH
}

# ---- what they must offer --------------------------------------------------------------------

expect_all() {
    local command option
    local commands=() files=(check plain.txt 'with space.txt')
    mapfile -t commands < <("$program" help --list)
    expect 'bloomery ' "${commands[@]}"
    expect 'bloomery de' dedup
    expect 'bloomery --' --help --version
    expect 'bloomery help ' "${commands[@]}"
    expect 'bloomery help --completion ' bash zsh fish
    expect 'bloomery help --completion=' bash zsh fish
    expect 'bloomery help --completion=z' zsh
    expect 'bloomery help --completion x'
    expect 'bloomery help --color a' auto always
    expect 'bloomery help --comp' --completion
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2046
        expect "bloomery $command --" $(listed "$command")
    done
    # shellcheck disable=SC2046
    expect 'bloomery dedup check --' $(listed dedup)
    expect 'bloomery dedup ' "${files[@]}"
    expect 'bloomery info ' "${files[@]}"
    expect 'bloomery dedup -- p' plain.txt
    expect 'bloomery dedup -- --'
    option=$(taking build FILE) && expect "bloomery build $option " "${files[@]}"
    option=$(taking build RATE) && expect "bloomery build $option "
    printf '%s\n' "${lines[@]}" >"$scratch/lines"
}

# The lines of a text as keys of an array, without the blank, '/' or '=' that a shell adds.
words() { # ARRAY TEXT
    local -n into=$1
    local word
    while IFS= read -r word; do
        word=${word%[ /=]}
        [ -z "$word" ] || into[$word]=1
    done <<<"$2"
}

check_shell() { # SHELL
    local number text word differs
    for number in "${!lines[@]}"; do
        local -A got=() want=()
        text=$(<"$scratch/$1.$((number + 1))") || complain "$1: no answer to '${lines[number]}'"
        [ "$1" != zsh ] || text=${text//\\ / }
        words got "$text"
        words want "${wanted[number]}"
        differs=
        [ ${#got[@]} -eq ${#want[@]} ] || differs=yes
        for word in "${!want[@]}"; do
            [ -n "${got[$word]-}" ] || differs=yes
        done
        [ -z "$differs" ] ||
            complain "$1: '${lines[number]}' offers: ${!got[*]}; wanted: ${!want[*]}"
    done
}

expect_all
for shell in bash zsh fish; do
    "$program" help --completion $shell >"$scratch/completion.$shell"
    command -v $shell >/dev/null || {
        echo "check_completions: $shell is not installed; skipped" >&2
        continue
    }
    $shell -n "$scratch/completion.$shell" || complain "$shell: the script does not parse"
    [ $shell != zsh ] || cp "$scratch/completion.zsh" "$scratch/zsh/_bloomery"
    ${shell}_session
    check_shell $shell
done

# bash, if the user has removed '=' from COMP_WORDBREAKS.
[ "$(bash --norc -c 'source "$1"; COMP_WORDS=(bloomery help --completion=z) COMP_CWORD=2
    _bloomery; echo "${COMPREPLY[@]}"' bash "$scratch/completion.bash")" = --completion=zsh ] ||
    complain "bash: --completion=z as one word is not completed"
exit $bad
