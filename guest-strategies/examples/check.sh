#!/bin/sh
# Builds the strategies of this folder, runs them on an example, and compares their results. Takes the program as
# its argument, or uses `baler` from the PATH.
set -eu
cd "$(dirname "$0")"

baler=${1:-baler}
command -v "$baler" >/dev/null || { echo "check.sh: \`$baler\` is missing; pass the path of the program" >&2; exit 1; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export XDG_STATE_HOME="$out/state"
conversation=../../examples/conversations/fix-a-bug.openai.json

for language in c javascript; do
    sh "$language/build.sh"
    wasm="$language/keep-newest.wasm"
    echo "$language: $(wc -c <"$wasm") bytes"
    "$baler" introspect "$wasm" >/dev/null
    "$baler" compact "$conversation" --strategy "$wasm" --budget 50% --config '{"units": 2}' \
        --output "$out/$language.json" 2>/dev/null
    if "$baler" compact "$conversation" --strategy "$wasm" --budget 50% --config '{"units": -1}' \
        --output "$out/refused.json" 2>"$out/error"; then
        echo "check.sh: a bad config was accepted" >&2
        exit 1
    fi
    grep -q '/units' "$out/error"
done
cmp "$out/c.json" "$out/javascript.json"
echo "both give the same result"
