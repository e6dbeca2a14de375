#!/usr/bin/env bash
# Holds the strategies of the gallery against their originals, in an environment of its own.
#
#   benches/peers/originals.sh [--generated 30]
#
# Needs Python 3.12 or newer, Rust with the target wasm32-unknown-unknown, a package index, and GitHub for SWE-agent, which is in
# no index. BALER_PROGRAM names the program if it is not built yet; without it, Cargo builds it.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$here/../.."
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
target="${CARGO_TARGET_DIR:-$root/target}"
if [ -z "${BALER_PROGRAM:-}" ]; then
  cargo build --quiet --locked --manifest-path "$root/Cargo.toml" --package baler
  export BALER_PROGRAM="$target/debug/baler"
fi
"${PYTHON:-python3}" "$root/xtask/gallery.py" --components "$scratch"
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet langchain==1.5.2 langchain-core==1.8.3 cliffcompaction==0.1.0
# Of OpenHands only the condensers are needed, and none of its dependencies.
"$scratch/venv/bin/pip" install --quiet --no-deps openhands-ai==1.6.0
if [ -z "${SWE_AGENT:-}" ]; then
  SWE_AGENT="$scratch/swe-agent"
  git clone --quiet --depth 1 --branch v1.1.0 https://github.com/SWE-agent/SWE-agent "$SWE_AGENT" || true
fi
"$scratch/venv/bin/python" "$here/originals.py" "$scratch" --swe-agent "$SWE_AGENT" "$@"
