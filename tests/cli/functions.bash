# Functions for the commands of transcripts. run.py makes bash read this file.

# until_true COMMAND...: tries COMMAND until it succeeds, for 60 seconds at most.
until_true() {
    local begin=$SECONDS
    until "$@" 2>/dev/null; do
        [ $((SECONDS - begin)) -lt 60 ] || {
            echo "never true: $*"
            return 1
        }
        sleep 0.01
    done
}

# waits PID: succeeds if the process is bloomery and is waiting for input, a lock or a slow reader.
waits() {
    local name state
    read -r _ name state _ <"/proc/$1/stat" && [ "$name $state" = "(bloomery) S" ]
}
