#!/usr/bin/env bash
# Builds the wheel: the library, and the program `baler` beside it. Needs Rust and Python 3.11 or newer.
#
#   bindings/python/build.sh [FOLDER] [PROFILE]
#
# FOLDER: where the wheel goes (default: `target/wheels`). PROFILE: Cargo's (default: `dist`).
# BALER_PROGRAM: the program, where it is built already (an absolute path). Else it is built here.
set -euo pipefail
cd "$(dirname "$0")"
folder="${1:-../../target/wheels}"
profile="${2:-dist}"

python3 -m pip --version > /dev/null
if ! command -v maturin > /dev/null; then
  python3 -m pip install --quiet 'maturin>=1.16,<2'
fi
target="${CARGO_TARGET_DIR:-../../target}"
case "$profile" in dev) built=debug ;; *) built="$profile" ;; esac
program="${BALER_PROGRAM:-}"
if [ -z "$program" ]; then
  cargo build --locked --profile "$profile" --manifest-path ../../Cargo.toml --package baler --bin baler
  program="$target/$built/baler"
fi
mkdir -p data/scripts
cp "$program" data/scripts/baler
strip data/scripts/baler 2> /dev/null || true
# Beside the tests with their features, so that nothing is built twice.
case "$profile" in dev) features=(--features same-features) ;; *) features=() ;; esac
maturin build --locked --profile "$profile" "${features[@]}" --out "$folder"
