#!/bin/bash
# The libraries and the commands, then the Python package, which uses those commands.
set -eu
export CPPFLAGS="${CPPFLAGS-} -I$PREFIX/include" PKG_CONFIG_PATH="$PREFIX/lib/pkgconfig" WERROR=
make -j"${CPU_COUNT:-1}" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" PREFIX="$PREFIX" all
APL_SHARED=1 "$PYTHON" -m pip install . --no-deps --no-build-isolation -v
# Over the commands that pip made: these are the programs themselves.
rm -f "$PREFIX/bin/apldata" "$PREFIX/bin/aplingest"
make PREFIX="$PREFIX" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" install
mkdir -p "$SP_DIR/apldata/bin"
ln -s ../../../../../bin/apldata ../../../../../bin/aplingest "$SP_DIR/apldata/bin/"
