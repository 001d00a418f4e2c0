#!/bin/sh
# What `make paper` does: run.sh [--quick] [OPTION of run.py]...
#
# Makes a store of CIFAR-10, the same records as CIFAR's own files and as LMDBs of records, and a Python environment for
# statistics and plots; runs the trials; prints the table. $DB is a store to use instead, $CIFAR an archive. All of it is kept
# in $BUILD/paper. With --quick, of what is built, a few drawn images and trials of a tenth of a second: does it work?
set -eu
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
program=$BUILD/release/bench/paper/paper
wanted=bench/peers/requirements/paper.txt
venv=$BUILD/paper/venv
. tools/cifar_archive.sh

step()
{
    printf '\n== %s\n' "$1" >&2
}

build()
{
    case ${MAKEFLAGS-} in
    *jobserver*) ;;
    *) MAKE="$MAKE -j$(nproc)" ;;
    esac
    step "Building"
    $MAKE -s --no-print-directory all "$BUILD/mkshapes" "$program"
}

# find_store: sets $DB and what it is, $data
find_store()
{
    data="the store $(basename "$DB")"
    [ -z "$DB" ] || return 0
    DB=$home/db
    find_archive >&2
    data="CIFAR-10"
    [ "$archive" != "$drawn" ] || data="60,000 drawn images in the layout of CIFAR-10"
    step "Making the store"
    "$BUILD/aplingest" -q --force "$archive" "$DB"
}

few_images()
{
    DB=$home/db data="a few drawn images"
    "$BUILD/mkshapes" --rows 100 "$home/shapes.tar"
    "$BUILD/aplingest" -q --force --partial "$home/shapes.tar" "$DB"
}

# What the other loaders read, made again if it is of another store.
make_records()
{
    content=$("$BUILD/apldata" info --json "$DB")
    content=$(echo "$content" | sed -n 's/.*"content_sha256": *"\([0-9a-f]*\)".*/\1/p')
    [ "$(cat "$home/lmdb/made" 2>/dev/null)" != "$content" ] || return 0
    step "Making what the other loaders read: CIFAR's own files, and LMDBs of records"
    rm -rf "$home/raw" "$home/lmdb"
    "$BUILD/apldata" export -q --format cifar-binary "$DB" "$home/raw"
    "$program" --write-lmdb --raw "$home/raw" --lmdb "$home/lmdb"
    sync
    echo "$content" >"$home/lmdb/made"
}

# Without SciPy, statsmodels and Matplotlib, means and deviations remain.
install_python()
{
    cmp -s $wanted "$venv/made" && return
    step "Installing SciPy, statsmodels and Matplotlib"
    python3 -m venv --clear "$venv" && "$venv/bin/python" -m pip -q --disable-pip-version-check install -r $wanted &&
        cp $wanted "$venv/made" ||
        step "They cannot be installed: there will be no tests of significance, and no plots"
}

home=$BUILD/paper DB=${DB:-}
if [ "${1-}" = --quick ]; then
    shift
    home=$BUILD/paper/quick
    mkdir -p "$home"
    few_images
    make_records
    set -- --trials 1 --overlap-trials 1 --seconds 0.1 "$@"
else
    python3 -B bench/paper/run.py --home "$home" --check "$@" # before anything is built
    build
    mkdir -p "$home"
    find_store
    make_records
    install_python
fi
python=$venv/bin/python
cmp -s $wanted "$venv/made" || python=${APL_PYTHON:-python3}
exec "$python" -B bench/paper/run.py --home "$home" --program "$program" --db "$DB" --data "$data" "$@"
