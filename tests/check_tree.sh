#!/bin/sh
# Rules of the tree that a program can check.
. tests/lib.sh

# one_user HEADER WHERE...: one .c file at most includes it
one_user()
{
    users=$(grep -lE "#include <$1>" store/*.c ingest/*.c tools/*.c store/*.h ingest/*.h tools/*.h 2>/dev/null)
    [ "$(echo "$users" | grep -c .)" -le 1 ] || { echo "$users"; false; }
}

# no_include FOLDER PATTERN: nothing in the folder includes such a header
no_include()
{
    ! grep -nE "#include \"($2)\"" "$1"/*.c "$1"/*.h
}

names() # FOLDER: its headers, as a pattern
{
    ls "$1"/*.h 2>/dev/null | sed 's|.*/||; s|\.|\\.|' | tr '\n' '|' | sed 's/|$//'
}

for header in lmdb.h zstd.h archive.h zlib.h isa-l.h isa-l/igzip_lib.h; do
    check "tree: one file at most includes <$header>" one_user "$header"
done
check "tree: store does not include ingest" no_include store "$(names ingest)"
check "tree: tools include neither store nor ingest" no_include tools "$(names store)|$(names ingest)"
if [ -d reader ]; then
    check "tree: ingest does not include reader" no_include ingest "$(names reader)"
    check "tree: reader does not include ingest" no_include reader "$(names ingest)"
fi
check "tree: no unfinished business" \
    sh -c '! grep -rnwE "TODO|FIXME|XXX" --include="*.[ch]" --include="*.cpp" --include="*.py" --include="*.md" \
        store ingest reader audit tools include python bench examples tests docs'
