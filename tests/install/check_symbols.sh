#!/bin/sh
# What the libraries export is what the headers declare APL_API and the export maps list; no more, no less.
. tests/lib.sh
BUILD=${BUILD:-build}
scratch

declared() # HEADER...
{
    cat "$@" | tr '\n' ' ' | sed 's|/\*|\n/*|g; s|\*/|*/\n|g' | sed '/^\/\*/d' | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*APL_API[^(]*[ *]\(apl_[a-z0-9_]*\) *(.*/\1/p' | sort
}

listed() # MAP
{
    sed -n 's/^ *\(apl_[a-z0-9_]*\);$/\1/p' "$1" | sort
}

of_shared() # FILE
{
    nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
}

of_static() # FILE
{
    nm -g --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort
}

for pair in apldata:apl.h:store aplingest:apl_ingest.h:ingest; do
    library=${pair%%:*} folder=${pair##*:} header=${pair#*:}
    header=${header%:*}
    parts=
    [ "$header" = apl_ingest.h ] || parts=$(ls include/apl/*.h)
    # shellcheck disable=SC2086
    declared "include/$header" $parts >"$scratch/declared"
    listed "$folder/$library.map" >"$scratch/listed"
    of_shared "$BUILD/lib$library.so" >"$scratch/shared"
    of_static "$BUILD/lib$library.a" >"$scratch/static"
    check "symbols: $header declares something" test -s "$scratch/declared"
    check "symbols: $folder/$library.map lists what $header declares" diff "$scratch/declared" "$scratch/listed"
    check "symbols: lib$library.so exports that" diff "$scratch/declared" "$scratch/shared"
    check "symbols: lib$library.a exports that" diff "$scratch/declared" "$scratch/static"
    check "symbols: lib$library.so has its soname" \
        sh -c "readelf -d $BUILD/lib$library.so | grep -q 'SONAME.*\[lib$library.so.0\]'"
done
check "symbols: no stack is executable, no text is relocated" \
    sh -c "! readelf -Wld $BUILD/aplingest $BUILD/apldata $BUILD/lib*.so | grep -E 'GNU_STACK.*RWE|TEXTREL'"
