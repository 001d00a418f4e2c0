#!/bin/sh
# APL beside other loaders, the same work: run.sh [ARCHIVE] [--only NAME,...] on CIFAR-10 (see run.py --help), or, with PHOTOS=folder,
# run.sh [--only NAME,...] on photographs (see photographs/run.py --help).
# Environments, stores and results are kept in $BUILD/peers; the tables are printed and written there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -n "${PHOTOS:-}" ]; then
    exec python3 -B "$here/photographs/start.py" "$PHOTOS" --build "${BUILD:-build}" "$@"
fi
exec python3 -B "$here/run.py" --build "${BUILD:-build}" "$@"
