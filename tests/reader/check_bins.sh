#!/bin/sh
# Every run goes through the bins: an abort() where they are filled, or where they are taken from, ends each kind of order but that in sequence,
# which has none. And a trace shows threads inside different bins at once.
. tests/lib.sh
BUILD=${BUILD:-build}
objects=$BUILD/release
scratch

if [ ! -e "$objects/insides.a" ]; then
    skip bins "needs the tests' build"
    exit 0
fi
cc=$(sed -E 's/ [^ ]+ -std=.*//' "$objects/flags") flags=$(sed 's/.* -std=/-std=/' "$objects/flags")
libraries="$(pkg-config --libs lmdb libzstd libcrypto libjpeg jansson libpng) -lm -lstdc++ -pthread"

tools() # the objects of apldata that are not in insides.a
{
    for source in tools/*.c tools/lib/*.c audit/cmd_*.c view/cmd_*.c; do
        object=$objects/${source%.c}.o
        case $source in tools/aplingest*) ;; *) [ ! -e "$object" ] || echo "$object" ;; esac
    done
    for page in audit view; do [ ! -e "$objects/$page/page_lines.o" ] || echo "$objects/$page/page_lines.o"; done
}

# planted NAME FILE FUNCTION...: apldata, as $scratch/NAME, in which these functions abort
planted()
{
    name=$1
    shift
    own=
    while [ $# -gt 0 ]; do
        awk -v name="$2" '{ print } $0 ~ "^[a-z].*[ *]" name "\\(" { head = 1 } head && /^{/ { print "    __builtin_abort();"; n++; head = 0 }
            END { exit n != 1 }' "reader/$1" >"$scratch/$1" &&
            $cc $flags -w $(sees READER) -c "$scratch/$1" -o "$scratch/$name-$1.o" || return
        own="$own $scratch/$name-$1.o"
        shift 2
    done
    # shellcheck disable=SC2086
    $cc $flags -o "$scratch/$name" $own $(tools) "$objects/insides.a" $libraries
}

store() # OUT ROWS
{
    "$BUILD/mkshapes" --rows "$2" "$scratch/shapes.tar" && "$BUILD/aplingest" -q --partial "$scratch/shapes.tar" "$1"
}

ends() # NAME OPTION...: by an abort, which no debugger is to see
{
    program=$scratch/$1
    shift
    (ulimit -c 0 && "$program" bench "$scratch/db" --epochs 1 "$@" >"$scratch/said" 2>&1)
    [ $? -eq 134 ]
}

runs() # NAME
{
    "$scratch/$1" bench "$scratch/db" --epochs 1 --sequential
}

# at_once TRACE: do two threads shuffle different bins, or fill, at the same time?
at_once()
{
    python3 - "$1" <<'END'
import json, sys
spans = []
for line in open(sys.argv[1]):
    line = line.strip().rstrip(",").lstrip("[")
    if '"fill"' in line or '"shuffle"' in line:
        e = json.loads(line)
        spans.append((e["ts"], e["ts"] + e["dur"], e["tid"], e["name"], tuple(e["args"].values())))
spans.sort()
found = any(a[2] != b[2] and (a[3], a[4]) != (b[3], b[4]) and b[0] < a[1] for a, b in zip(spans, spans[1:]))
print(len(spans), "spans")
sys.exit(not found)
END
}

traced()
{
    APL_TRACE=$scratch/trace "$BUILD/apldata" bench "$scratch/table" --epochs 3 --threads 4 >"$scratch/said" && at_once "$scratch/trace"
}

table() # of a million rows
{
    awk 'BEGIN { print "x"; for (i = 0; i < 1000000; i++) print i }' >"$scratch/table.csv" && "$BUILD/aplingest" -q "$scratch/table.csv" "$scratch/table"
}

check "bins: stores to read" eval 'store "$scratch/db" 300 && store "$scratch/other" 100'
check "bins: filling them aborts" planted fill bins_fill.c sort_chunk bins_ring.c bins_put_block bins_arrive.c put_into
check "bins: taking from them aborts" planted take bins.c take_drained bins_arrive.c bins_take_arrived
for name in fill take; do
    check "bins: $name, in sequence" runs $name
    check "bins: $name, strict" ends $name
    check "bins: $name, free" ends $name --order free
    check "bins: $name, a window" ends $name --window 256
    check "bins: $name, free, a window" ends $name --window 256 --order free
    check "bins: $name, lanes" ends $name --lanes 4 --rank 0 --world 2
    check "bins: $name, sampled" ends $name --balance label
    check "bins: $name, mixed" ends $name --with "$scratch/other"
done
if have python3; then
    check "bins: a table to read" table
    check "bins: threads are inside different bins at once" traced
else
    skip "bins: threads are inside different bins at once" "no python3"
fi
