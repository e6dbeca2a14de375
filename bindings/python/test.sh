#!/usr/bin/env bash
# Installs the wheel into a fresh virtual environment, checks its stubs and runs its tests.
#
#   bindings/python/test.sh [PROFILE]
#
# PROFILE: Cargo's (default: `release`).
set -euo pipefail
cd "$(dirname "$0")"
profile="${1:-release}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

python3 -m venv "$scratch/venv"
export PATH="$scratch/venv/bin:$PATH"
pip install --quiet 'maturin>=1.16,<2' pytest trio openai anthropic google-genai httpx2 mypy
./build.sh "$scratch/wheels" "$profile"
pip install --quiet "$scratch"/wheels/*.whl

# The stub is generated from the library; a copy that differs is out of date.
diff python/baler/_baler.pyi "$(python -c 'import baler, pathlib; print(pathlib.Path(baler.__file__).with_name("_baler.pyi"))')"
baler --version
# Not from this folder, whose `python/baler` has no library.
python -m pytest --quiet tests
