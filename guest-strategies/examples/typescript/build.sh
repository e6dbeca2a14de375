#!/bin/sh
# Builds keep-newest.wasm from keep-newest.ts.
set -eu
cd "$(dirname "$0")"

command -v npm >/dev/null || { echo "build.sh: \`npm\` is missing; install Node.js 20 or later" >&2; exit 1; }
export WIT="${WIT:-../../../wit/v0.1}"
[ -d "$WIT" ] || { echo "build.sh: \`$WIT\` is missing; set WIT to the folder wit/v0.1 of a release of baler" >&2; exit 1; }
npm ci --no-audit --no-fund --silent
npm run --silent build
