#!/bin/sh
# Holds README.md and the man pages against the tree: the program it shows is the one in examples/, which is compiled and
# run; files it names are there; options are those that --help tells of.
. tests/lib.sh
BUILD=${BUILD:-build}
CC=${CC:-cc}
build=$(cd "$BUILD" && pwd) || exit 1
scratch

quoted() # is the one C block of the README the example, byte for byte?
{
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' README.md | diff - examples/read.c
}

compiled() # warns of nothing, and uses nothing but the installed header
{
    cp include/apl.h "$scratch" &&
        $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$scratch" examples/read.c -o "$scratch/read" -L"$build" \
            -lapldata -Wl,-rpath,"$build"
}

runs() # on a store of CIFAR's shape: a line for each record asked for, and the classes that `get` tells
{
    "$build/mkshapes" --rows 20 "$scratch/shapes.tar" &&
        "$build/aplingest" -q --partial "$scratch/shapes.tar" "$scratch/db" &&
        "$scratch/read" "$scratch/db" >"$scratch/said" &&
        "$build/apldata" get "$scratch/db" 7 0 41 7 --field label --format text -o - >"$scratch/labels" &&
        [ "$(grep -c '^[0-9]*: [a-z]*, [0-9.]*$' "$scratch/said")" = 4 ] &&
        [ "$(head -n 1 "$scratch/said")" = "$(tail -n 1 "$scratch/said")" ]
}

fails() # politely where there is no store
{
    ! "$scratch/read" "$scratch/nothing" >"$scratch/out" 2>"$scratch/err" &&
        [ ! -s "$scratch/out" ] && [ "$(wc -l <"$scratch/err")" = 1 ]
}

links() # every file that a page links to
{
    for page in README.md CHANGELOG.md SECURITY.md CONTRIBUTING.md docs/FORMAT.md; do
        grep -o '](\([^):#]*\))' "$page" | tr -d '()]' | while read -r link; do
            [ -e "$(dirname "$page")/$link" ] || echo "$page: there is no $link"
        done
        sed -n 's/.*](#\([^)]*\)).*/\1/p' "$page" | while read -r anchor; do
            grep '^#' "$page" | tr 'A-Z ' 'a-z-' | tr -d '`,.:()' | sed 's/^#*-//' | grep -qx -e "$anchor" ||
                echo "$page: there is no #$anchor"
        done
    done | { ! grep .; }
}

# The long options in a text, one a line. In man pages, `.Fl -name` is --name.
options()
{
    sed '/^\..*Fl/s/ -\([a-z]\)/ --\1/g' | grep -oE -e '(^|[^a-z-])--[a-z][a-z-]+' | sed 's/^[^-]*//' | sort -u
}

help_of() # COMMAND: all that it and its subcommands say of themselves
{
    "$build/$1" --help
    if [ "$1" = apldata ]; then
        for sub in info verify get export bench stream; do "$build/apldata" $sub --help; done
    fi
}

readme_options() # none that no command has, but those of other programs' lines
{
    { help_of aplingest && help_of apldata; } | options >"$scratch/known"
    grep -v 'pkg-config' README.md | options | comm -23 - "$scratch/known" | { ! grep .; }
}

man_options() # COMMAND: the same options in its man page and in its help
{
    help_of "$1" | options >"$scratch/helped"
    options <"docs/man/$1.1" | diff "$scratch/helped" -
}

check "readme: its program is examples/read.c" quoted
check "readme: the example compiles" compiled
check "readme: the example runs" runs
check "readme: the example tells of failure" fails
check "readme: links lead somewhere" links
check "readme: options are those of the commands" readme_options
for command in aplingest apldata; do
    if [ -e "docs/man/$command.1" ]; then
        check "readme: $command.1 has the options of $command --help" man_options $command
    else
        skip "readme: $command.1" "there is none"
    fi
done
