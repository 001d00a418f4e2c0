#!/bin/sh
# Each allocation of a command fails once, those of the libraries that it uses too: it says "out of memory" and exits with 1, or what
# it prints is whole. A sample of them; with APL_LONG, all.
. tests/lib.sh
BUILD=$(cd "${BUILD:-build}" && pwd)
apldata=$BUILD/apldata
scratch
cp tests/faults/fail_at.c "$scratch"
cd "$scratch" || exit 1
"$BUILD/mkshapes" --rows 40 a.tar && "$BUILD/aplingest" -q --partial --split val=0.3 a.tar db 2>said || { cat said && exit 1; }
if ! ${CC:-cc} -O1 -shared -fPIC -o fail_at.so fail_at.c 2>said; then
    skip memory "no shared library could be made: $(head -n 1 said)"
    exit 0
fi

# Figures of time differ from run to run: of those, only that they are there is looked at.
whole() # COMMAND...
{
    case $1 in
    bench) tail -n 1 out | grep -q '^}$' && [ "$(wc -l <out)" -eq "$(wc -l <good)" ] ;;
    *) sed 's/"seconds": .*/"seconds"/' out >masked && sed 's/"seconds": .*/"seconds"/' good | cmp -s masked - ;;
    esac
}

sweep() # COMMAND...
{
    "$apldata" "$@" >good 2>said || { cat said && return 1; }
    FAIL_COUNT=count LD_PRELOAD=./fail_at.so "$apldata" "$@" >out || return 1
    n=$(cat count) k=1 step=7
    [ "$n" -gt 50 ] || { echo "only $n allocations were seen" && return 1; }
    [ -z "${APL_LONG:-}" ] || step=1
    while [ "$k" -le "$n" ]; do
        FAIL_AT=$k LD_PRELOAD=./fail_at.so timeout 60 "$apldata" "$@" >out 2>said
        code=$?
        if [ $code -eq 0 ]; then
            whole "$@" || { echo "allocation $k of $n fails: not all of it is printed" && return 1; }
        elif [ $code -ne 1 ] || ! grep -q 'memory' said; then
            echo "allocation $k of $n fails: exit status $code, $(head -n 2 said)"
            return 1
        fi
        k=$((k + step))
    done
}

# A store is made whole, or not at all.
makes() # COMMAND...
{
    FAIL_COUNT=count LD_PRELOAD=./fail_at.so "$apldata" "$@" -q -j 1 db new >out 2>said || { cat said && return 1; }
    n=$(cat count) k=1 step=31
    [ "$n" -gt 50 ] || { echo "only $n allocations were seen" && return 1; }
    [ -z "${APL_LONG:-}" ] || step=1
    while [ "$k" -le "$n" ]; do
        rm -rf new
        FAIL_AT=$k LD_PRELOAD=./fail_at.so timeout 60 "$apldata" "$@" -q -j 1 db new >out 2>said
        code=$?
        if [ $code -eq 0 ]; then
            "$apldata" verify -q new || { echo "allocation $k of $n fails: the store is not whole" && return 1; }
        elif [ $code -ne 1 ] || [ -e new ] || ! grep -Eq 'memory|cannot start a thread' said; then
            echo "allocation $k of $n fails: exit status $code, $(ls -A new 2>/dev/null) $(head -n 2 said)"
            return 1
        fi
        k=$((k + step))
    done
    rm -rf new
}

check "memory: info --json" sweep info --json db
check "memory: info" sweep info db
check "memory: bench --json" sweep bench --json --epochs 1 --threads none db
check "memory: verify --json" sweep verify --json db
cp -r db copy
check "memory: merge" makes merge copy
check "memory: extract" makes extract --split test
