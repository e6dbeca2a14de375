#!/usr/bin/env bash
# Builds the package into `dist`: the host for browsers, the strategies as jco transpiles them, and the JavaScript around them.
# Needs Rust, and Node.js 20 or newer.
#
#   bindings/browser/build.sh [FOLDER]
#
# FOLDER: where it goes (default: `dist`).
set -euo pipefail
cd "$(dirname "$0")"
folder="${1:-dist}"
target="${CARGO_TARGET_DIR:-../../target}"

test -d node_modules || npm ci --silent --no-audit --no-fund
rustup target add wasm32-wasip1 2> /dev/null
cargo build --locked --quiet --package baler-browser --target wasm32-wasip1 --profile browser --manifest-path ../../Cargo.toml
rm -rf "$folder"
mkdir -p "$folder/strategies"
cp "$target/wasm32-wasip1/browser/baler_browser.wasm" "$folder/baler.wasm"
cp src/*.js "$folder"
cargo run --locked --quiet --package baler-strategies --example write-components --manifest-path ../../Cargo.toml -- "$folder/components"
for component in "$folder"/components/*.wasm; do
  name="$(basename "$component" .wasm)"
  npx jco transpile "$component" -o "$folder/strategies/$name" --instantiation async --no-nodejs-compat --minify --quiet
  # What it says of each call while it is debugged costs a third of a call's time.
  sed -i 's/_debugLog=(\.\.\.e)=>{[^}]*}/_debugLog=()=>{}/' "$folder/strategies/$name/$name.js"
  rm -r "$folder/strategies/$name/interfaces" "$folder/strategies/$name/$name.d.ts"
done
# The list of strategies, with the hash of each component. Later digests read what two of them write.
(cd "$folder/components" && sha256sum ./*.wasm) |
  sed -E 's|^([0-9a-f]+) +\./(.*)\.wasm$|"\2": { "hash": "\1", "writesDigests": false }|; /"tiered(-model)?"/ s/false/true/' |
  paste -sd, | sed 's/.*/{&}/' > "$folder/strategies/index.json"
rm -r "$folder/components"
npx tsc --project tsconfig.json --outDir "$folder"
