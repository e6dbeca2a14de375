#!/usr/bin/env bash
# Compares baler with the compaction of other Python packages. Installs them into an environment of its own.
#
#   benches/peers/run.sh [FOLDER] [--share 0.5] [--output FILE]
#
# FOLDER: recorded conversations (default: the project's examples). Needs Python 3.11 or newer, Rust, a package index.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet uv 'maturin>=1.16,<2'
export PATH="$scratch/venv/bin:$PATH" BALER_STATE="$scratch/state"
"$here/../../bindings/python/build.sh" "$scratch/wheels"
uv pip install --quiet "$scratch"/wheels/*.whl langchain==1.5.2 agent-framework-core==1.23.0 haystack-ai==3.4.1 \
  pydantic-ai-harness==0.62.0 autogen-core==0.7.5 strands-agents==1.62.0 headroom-ai==0.42.0 cliffcompaction==0.1.0
python "$here/compare.py" "$@"
