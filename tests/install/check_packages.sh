#!/bin/sh
# What the packages say of the tree is so: versions, exported names, licences, sources; and `make dist` gives the same bytes twice.
. tests/lib.sh
BUILD=${BUILD:-build}
MAKE="${MAKE:-make} --no-print-directory"
scratch
version=$(sed -n 's/^#define APL_VERSION_STRING "\(.*\)"/\1/p' include/apl.h)

same_versions() # of the header, of its numbers, Debian's, CHANGELOG.md's
{
    numbers=$(sed -n 's/^#define APL_VERSION_\(MAJOR\|MINOR\|PATCH\) *\([0-9]*\).*/\2/p' include/apl.h | paste -sd.)
    debian=$(sed -n '1s/^apldata (\(.*\)).*/\1/p' debian/changelog)
    changelog=$(sed -n 's/^## \([0-9.]*\) .*/\1/p' CHANGELOG.md | head -n 1)
    echo "apl.h $version; its numbers $numbers; debian/changelog $debian; CHANGELOG.md $changelog"
    for other in "${numbers:-$version}" "$debian" "$changelog"; do
        [ "$other" = "$version" ] || return 1
    done
}

same_symbols() # LIBRARY MAP: each version of symbols in the export map is in Debian's list, which names versions, not symbols
{
    sed -n 's/^\([A-Z0-9_.]*\) {$/\1/p' "$2" | sort >"$scratch/exported"
    sed -n 's/^ (symver)\([A-Z0-9_.]*\) .*/\1/p' "debian/lib${1}0.symbols" | sort | diff "$scratch/exported" - &&
        [ -s "$scratch/exported" ]
}

soname() # the packages are named after it
{
    major=${version%%.*}
    [ -e "debian/libapldata$major.symbols" ] && grep -q "^Package: libapldata$major$" debian/control
}

same_licence()
{
    sed -n '/^Permission/,$p' LICENSE >"$scratch/licence"
    sed -n '/^License: MIT$/,$p' debian/copyright | sed -e '/^License:/d' -e 's/^ //' -e 's/^\.$//' |
        sed -n '/^Permission/,$p' | diff "$scratch/licence" -
}

pinned() # each source is named by its digest and a version that is in its address, and has a recipe
{
    python3 - <<'END'
import re, sys, tomllib
sys.path.insert(0, "tools/wheels")
sys.dont_write_bytecode = True
import libraries, recipes
table = tomllib.load(open("tools/wheels/sources.toml", "rb"))
table.pop("mirrors")
assert sorted(libraries.ORDER.split()) == sorted(table), "the order of libraries.py is not that of sources.toml"
for name, library in table.items():
    assert hasattr(recipes, name.replace("-", "_")), f"{name} has no recipe"
    assert library["version"] in library["pool"], f"{name}: version and address differ"
    for file in (library, library.get("patches", library)):
        assert re.fullmatch("[0-9a-f]{64}", file["sha256"]), f"{name} has no digest"
END
}

headers() # that a wheel's recipe picks out of a library: those of ISA-L that are included
{
    included=$(sed -n 's|^#include <isa-l/\([a-z_0-9]*\.h\)>.*|\1|p' store/*/*.c ingest/*.c ingest/*/*.c | sort -u)
    [ -n "$included" ] || return 1
    for header in $included; do
        grep -q "\"include/$header\"" tools/wheels/recipes.py || { echo "recipes.py leaves out $header"; return 1; }
    done
}

dist_twice()
{
    $MAKE -s dist BUILD="$scratch/1" || return 1
    (umask 077 && TZ=Asia/Tokyo $MAKE -s dist BUILD="$scratch/2") || return 1
    cmp "$scratch/1/apldata-$version.tar.gz" "$scratch/2/apldata-$version.tar.gz"
}

check "packages: one version everywhere" same_versions
check "packages: Debian's packages are named after the libraries" soname
for library in apldata:store aplingest:ingest; do
    check "packages: Debian's symbols of ${library%:*} have the versions exported" \
        same_symbols "${library%:*}" "${library#*:}/${library%:*}.map"
done
check "packages: Debian's copyright file has the licence" same_licence
check "packages: wheels are built with the headers that are included" headers
if python3 -c 'import tomllib' 2>/dev/null; then
    check "packages: the sources of wheels are pinned, and each is built" pinned
else
    skip "packages: the sources of wheels" "no python3 of 3.11 or later"
fi
if git rev-parse HEAD >/dev/null 2>&1; then
    check "packages: make dist gives the same bytes twice" dist_twice
else
    skip "packages: make dist" "no git repository"
fi
