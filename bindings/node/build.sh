#!/usr/bin/env bash
# Builds the package for this platform: the library, and what is written in TypeScript. Needs Rust, and Node.js 20 or newer.
#
#   bindings/node/build.sh [PROFILE]
#
# PROFILE: Cargo's (default: `dist`). BALER_PROGRAM: the program `baler` for `npx baler`, where it is built already (an absolute path).
# Else it is built here.
set -euo pipefail
cd "$(dirname "$0")"
profile="${1:-dist}"

test -d node_modules || npm ci --silent --no-audit --no-fund
rm -rf dist
case "$profile" in dev) chosen=() ;; *) chosen=(--profile "$profile") ;; esac
# `native.js` finds the library here, or in the package of the platform.
npx napi build --platform --esm "${chosen[@]}" --js native.js --dts native.d.ts --output-dir dist \
  --manifest-path Cargo.toml --target-dir "${CARGO_TARGET_DIR:-$PWD/../../target}" -- --locked
cp dist/native.d.ts src/native.d.ts
npx tsc

program="${BALER_PROGRAM:-}"
if [ -z "$program" ]; then
  cargo build --locked --quiet --profile "$profile" --manifest-path ../../Cargo.toml --package baler --bin baler
  case "$profile" in dev) built=debug ;; *) built="$profile" ;; esac
  program="${CARGO_TARGET_DIR:-../../target}/$built/baler"
fi
cp "$program" dist/baler
strip dist/baler 2> /dev/null || true
