#!/bin/sh
# APL beside other loaders, the same work on CIFAR-10: run.sh [ARCHIVE] [--only NAME,...] (see run.py --help)
# Environments, stores and results are kept in $BUILD/peers; the tables are printed and written there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -B "$here/run.py" --build "${BUILD:-build}" "$@"
