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
export BALER_STATE="$scratch/state"
pip install --quiet --requirement tests/requirements.txt
./build.sh "$scratch/wheels" "$profile"
pip install --quiet "$scratch"/wheels/*.whl

# The stub is generated from the library.
case "$profile" in dev) features=(--features same-features) ;; *) features=() ;; esac
maturin generate-stubs --quiet --profile "$profile" "${features[@]}" --out "$scratch/stubs"
if ! diff "$scratch/stubs/baler/_baler.pyi" python/baler/_baler.pyi; then
  echo "error: _baler.pyi is out of date: maturin generate-stubs --profile $profile --out python" >&2
  exit 1
fi
ruff check .
ruff format --check .
mypy
# Not from this folder, whose `python/baler` has no library.
(cd / && baler --version && python -m pytest --quiet -p no:cacheprovider "$OLDPWD/tests" --ignore "$OLDPWD/tests/frameworks")

# The reference, from the docstrings.
pdoc --output-directory ../../target/python-reference baler baler.aio baler.anthropic baler.httpx2 \
  '!baler.agent_framework' '!baler.google_adk' '!baler.httpx' '!baler.inspect_ai' '!baler.langchain' '!baler.litellm' \
  '!baler.openai_agents' '!baler.pydantic_ai' '!baler.ray' '!baler.strands'
