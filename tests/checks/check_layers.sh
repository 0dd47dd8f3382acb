#!/usr/bin/env bash
# The layer rule: core <- simd <- filters <- store <- {formats, redis} <- {cli, module}. A folder
# may include from itself and from those before it; what ships outside src/ sees <bloomery/...>
# alone.
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
check() { # FOLDER ALLOWED...
    local folder=$1 includes
    shift
    [ -d "$folder" ] || return 0
    # In a subfolder, one more "../" leads to its own layer, two to the others.
    includes=$(grep -rnE '^ *# *include +"\.\./' "$folder" --include='*.[ch]' |
        grep -vE "^$folder/[a-z]+/[a-z_]+\.[ch]:.*\"\.\./[a-z_]+\.h\"" || true)
    for allowed in "$@"; do
        includes=$(printf '%s\n' "$includes" | grep -vE "^$folder/[a-z0-9_]+\.[ch]:.*\"\.\./$allowed/" |
            grep -vE "^$folder/[a-z]+/[a-z_]+\.[ch]:.*\"\.\./\.\./$allowed/" || true)
    done
    if [ -n "$includes" ]; then
        printf '%s includes from a layer above it:\n%s\n' "$folder" "$includes" >&2
        bad=1
    fi
}
check src/core
check src/simd core
check src/filters core simd
check src/store core simd filters
check src/formats core simd filters store
check src/redis core simd filters store

for folder in cli module examples bench; do
    [ -d $folder ] || continue
    if grep -rnE '^ *# *include +"(\.\./)*src/|^ *# *include +"\.\./' $folder --include='*.[ch]'; then
        echo "$folder may include only <bloomery/...>" >&2
        bad=1
    fi
done

# Preprocessor conditions only where a platform or an optional package is chosen.
conditions=$(grep -rnE '^ *# *if(def|ndef)? ' src include --include='*.[ch]' |
    grep -vE '#ifndef (BLYI|BLOOMERY)_[A-Z0-9_]+_H$|__cplusplus' |
    grep -vE '^(include/bloomery/base\.h|src/simd/[a-z0-9]+\.[ch]|src/store/(file_writer|spill)\.c|src/redis/link(_base|_dial)?\.c|src/core/(bits\.h|pages\.c|hash_crypto\.c|hash_siphash\.c)):' || true)
if [ -n "$conditions" ]; then
    printf 'conditional compilation outside its places:\n%s\n' "$conditions" >&2
    bad=1
fi
exit $bad
