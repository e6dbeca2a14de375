#!/bin/sh
# Tests the strategy in this machine's Python. Needs the bindings that `build.sh` makes.
set -eu
cd "$(dirname "$0")"
PYTHONPATH=build/bindings python3 -m unittest -v test_keep_newest.py
