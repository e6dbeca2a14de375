#!/usr/bin/env bash
# Builds the package, packs it, and runs its tests. Needs Rust, and Node.js 20 or newer.
#
#   bindings/node/test.sh [PROFILE]
#
# PROFILE: Cargo's (default: `dist`). BALER_FRAMEWORKS: a folder whose `node_modules` holds the frameworks that the tests of adapters
# need, which are skipped without it (`.ci/javascript` installs them).
set -euo pipefail
cd "$(dirname "$0")"
./build.sh "${1:-dist}"
node --test --test-timeout 600000 test/
