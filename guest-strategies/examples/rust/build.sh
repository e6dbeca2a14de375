#!/bin/sh
# Builds keep-newest.wasm with the target wasm32-unknown-unknown, which imports nothing but the contract. `build.sh wasi`
# builds keep-newest-wasi.wasm with wasm32-wasip2, which makes a component by itself; it imports WASI. `BALER` names the
# program `baler` if it is not on the PATH.
set -eu
cd "$(dirname "$0")"

baler=${BALER:-baler}
if [ "${1-}" = wasi ]; then
    rustup target add wasm32-wasip2
    cargo build --locked --release --target wasm32-wasip2
    cp target/wasm32-wasip2/release/keep_newest.wasm keep-newest-wasi.wasm
else
    command -v "$baler" >/dev/null || { echo "build.sh: \`$baler\` is missing; build it with \`cargo install --path .\` in baler's folder" >&2; exit 1; }
    rustup target add wasm32-unknown-unknown
    cargo build --locked --release --target wasm32-unknown-unknown
    "$baler" wrap --quiet target/wasm32-unknown-unknown/release/keep_newest.wasm -o keep-newest.wasm
fi
