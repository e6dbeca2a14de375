#!/usr/bin/env bash
# Puts beside the page what it is built of: baler's package for browsers, and the transpiler of jco with the parts of WASI that it asks
# for. Then serve the folder as files, such as by `python3 -m http.server --directory examples/browser`. Needs Rust and Node.js 20.
set -euo pipefail
cd "$(dirname "$0")"
../../bindings/browser/build.sh "$PWD/baler"
modules=../../bindings/browser/node_modules
jco="$modules/@bytecodealliance/jco-transpile"
shim="$jco/node_modules/@bytecodealliance/preview2-shim"
test -d "$shim" || shim="$modules/@bytecodealliance/preview2-shim"

mkdir -p transpiler/preview2-shim
cp "$jco"/vendor/js-component-bindgen-component.core*.wasm "$jco/LICENSE" transpiler
# A worker has no import map: what the module imports by name it has to import by path.
sed "s|'@bytecodealliance/preview2-shim/\([a-z]*\)'|'./preview2-shim/\1.js'|" \
  "$jco/vendor/js-component-bindgen-component.js" > transpiler/js-component-bindgen-component.js
for name in cli common config environment filesystem in-memory-filesystem io opfs-filesystem random; do
  cp "$shim/dist/browser/$name.js" transpiler/preview2-shim
done
cp "$shim/LICENSE" transpiler/preview2-shim
