#!/usr/bin/env bash
# The shells themselves complete what the help lists: check_completions.sh PROGRAM
#
# bash by calling the function as readline would, fish by `complete -C`, zsh through a
# pseudo-terminal. A shell that is not installed is skipped, and that is said.
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
bad=0 collecting=

complain() {
    printf '%s\n' "$*" >&2
    bad=1
}

# The long options that a command's help lists.
listed() { # COMMAND
    "$program" "$1" -h | sed -nE 's/^  (-., |    )(--[a-z0-9-]+).*/\2/p'
}

# A long option of a command that takes a value by that name.
taking() { # COMMAND METAVAR
    "$program" "$1" -h | sed -nE "s/^  (-., |    )(--[a-z0-9-]+) $2( .*|\$)/\2/p" | head -1
}

# expect SHELL LINE WANTED...: these and no others are offered at the end of the line.
expect() {
    local shell=$1 line=$2 got want
    shift 2
    [ -z "$collecting" ] || {
        printf '%s\n' "$line" >>"$scratch/lines"
        return 0
    }
    got=$("offered_by_$shell" "$line" | sed 's/[ /=]$//' | grep . | sort -u || true)
    want=$(printf '%s\n' "$@" | grep . | sort -u || true)
    [ "$got" = "$want" ] ||
        complain "$shell: '$line' offers: ${got//$'\n'/ }; wanted: ${want//$'\n'/ }"
}

# ---- the shells ------------------------------------------------------------------------------

# The words as readline splits them: '=' stands alone, and nothing stands at the end of a line that
# ends in a blank. An empty answer with `-o default` in force means file names.
offered_by_bash() {
    bash --norc -c '
        source "$1"
        compopt() { [ "$*" != "+o default" ] || files=no; }
        line=${2//=/ = } files=yes
        read -ra COMP_WORDS <<<"$line"
        case $line in *"= ") ;; *" ") COMP_WORDS+=("") ;; esac
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _bloomery
        printf "%s\n" "${COMPREPLY[@]}"
        case $files$(complete -p bloomery) in
        yes*" -o default "*)
            [ ${#COMPREPLY[@]} -ne 0 ] || compgen -f -- "${COMP_WORDS[COMP_CWORD]}"
            ;;
        esac
    ' bash "$scratch/completion.bash" "$1"
}

offered_by_fish() {
    fish --no-config -c '
        source $argv[1]
        complete -C $argv[2] | string replace -r "\t.*" ""
    ' "$scratch/completion.fish" "$1" | sed 's/^--[a-z0-9-]*=\(.\)/\1/'
}

# The answers to all lines come from one session, which types each of them and a tab. What compadd
# is called for is noted, unless it only sorts matches into an array (-O, -A, -D).
offered_by_zsh() {
    sed 's/\\ / /g' "$scratch/zsh.$(grep -nxF -- "$1" "$scratch/lines" | head -1 | cut -d: -f1)"
}

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

check_shell() {
    local shell=$1 command option
    local commands=() files=(check plain.txt 'with space.txt')
    mapfile -t commands < <("$program" help --list)
    expect "$shell" 'bloomery ' "${commands[@]}"
    expect "$shell" 'bloomery de' dedup
    expect "$shell" 'bloomery --' --help --version
    expect "$shell" 'bloomery help ' "${commands[@]}"
    expect "$shell" 'bloomery help --completion ' bash zsh fish
    expect "$shell" 'bloomery help --completion=' bash zsh fish
    expect "$shell" 'bloomery help --completion=z' zsh
    expect "$shell" 'bloomery help --completion x'
    expect "$shell" 'bloomery help --color a' auto always
    expect "$shell" 'bloomery help --comp' --completion
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2046
        expect "$shell" "bloomery $command --" $(listed "$command")
    done
    # shellcheck disable=SC2046
    expect "$shell" 'bloomery dedup check --' $(listed dedup)
    expect "$shell" 'bloomery dedup ' "${files[@]}"
    expect "$shell" 'bloomery dedup -- p' plain.txt
    expect "$shell" 'bloomery dedup -- --'
    option=$(taking build FILE) && expect "$shell" "bloomery build $option " "${files[@]}"
    option=$(taking build RATE) && expect "$shell" "bloomery build $option "
}

for shell in bash zsh fish; do
    "$program" help --completion $shell >"$scratch/completion.$shell"
    command -v $shell >/dev/null || {
        echo "check_completions: $shell is not installed; skipped" >&2
        continue
    }
    $shell -n "$scratch/completion.$shell" || complain "$shell: the script does not parse"
    if [ $shell = zsh ]; then
        cp "$scratch/completion.zsh" "$scratch/zsh/_bloomery"
        collecting=yes
        check_shell zsh
        collecting=
        zsh_session
    fi
    check_shell $shell
done

# bash, when somebody has taken '=' out of COMP_WORDBREAKS.
[ "$(bash --norc -c 'source "$1"; COMP_WORDS=(bloomery help --completion=z) COMP_CWORD=2
    _bloomery; echo "${COMPREPLY[@]}"' bash "$scratch/completion.bash")" = --completion=zsh ] ||
    complain "bash: --completion=z as one word is not completed"
exit $bad
