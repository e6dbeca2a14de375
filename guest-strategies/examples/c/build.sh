#!/bin/sh
# Builds keep-newest.wasm from keep-newest.c. `BALER` names the program `baler` if it is not on the PATH.
set -eu
cd "$(dirname "$0")"

need() {
    command -v "$1" >/dev/null || { echo "build.sh: \`$1\` is missing; $2" >&2; exit 1; }
}
baler=${BALER:-baler}
wit=${WIT:-../../../wit/v0.1}
[ -d "$wit" ] || { echo "build.sh: \`$wit\` is missing; set WIT to the folder wit/v0.1 of a release of baler" >&2; exit 1; }
need clang-19 "on Debian or Ubuntu: apt-get install clang-19 lld-19"
need wit-bindgen "cargo install --locked wit-bindgen-cli --version 0.63.0 --no-default-features --features c,go"
need "$baler" "build it with \`cargo install --path .\` in baler's folder"

said=$(wit-bindgen c "$wit" --world pure-strategy --out-dir build 2>&1) || { echo "$said" >&2; exit 1; }
clang-19 --target=wasm32-unknown-unknown -mbulk-memory -nostdlib -ffreestanding -O2 -Wall -Wextra -Ilibc -Ibuild \
    -Wl,--no-entry -Wl,--strip-all -o build/core.wasm \
    keep-newest.c libc/libc.c build/pure_strategy.c build/pure_strategy_component_type.o
"$baler" wrap --quiet build/core.wasm -o keep-newest.wasm
