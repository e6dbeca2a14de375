#!/bin/sh
# Builds keep-newest.wasm from keep_newest.py. `build.sh wasi` builds it as componentize-py does by itself: the
# component then imports WASI.
set -eu
cd "$(dirname "$0")"

command -v python3 >/dev/null || { echo "build.sh: \`python3\` is missing; install Python 3.10 or later" >&2; exit 1; }
python3 -m venv build/venv
build/venv/bin/pip install --quiet --requirement requirements.txt
folder=${WIT:-../../../wit/v0.1}
[ -d "$folder" ] || { echo "build.sh: \`$folder\` is missing; set WIT to the folder wit/v0.1 of a release of baler" >&2; exit 1; }
wit="-d $folder -w pure-strategy"
# For editors and for the tests.
rm -rf build/bindings
build/venv/bin/componentize-py $wit bindings build/bindings
case ${1-} in
wasi) build/venv/bin/componentize-py $wit componentize -p . keep_newest -o keep-newest-wasi.wasm ;;
*) build/venv/bin/componentize-py $wit componentize --stub-wasi -p . keep_newest -o keep-newest.wasm ;;
esac
