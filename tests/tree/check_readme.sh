#!/bin/sh
# Holds README.md and the man pages against the tree: the programs it shows are those in examples/, which are compiled and
# run; files it names are there; options are those that --help tells of.
. tests/lib.sh
BUILD=${BUILD:-build}
CC=${CC:-cc}
build=$(cd "$BUILD" && pwd) || exit 1
scratch

quoted() # PAGE NAME...: are the C blocks of the page these examples, byte for byte?
{
    page=$1
    shift
    for name in "$@"; do cat "examples/$name.c"; done >"$scratch/examples"
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" | diff - "$scratch/examples"
}

compiled() # OUT SOURCE...: warns of nothing, and uses nothing but the installed header
{
    out=$1
    shift
    cp -r include/apl.h include/apl "$scratch" &&
        $CC -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Wpedantic -Werror -I"$scratch" "$@" \
            -o "$scratch/$out" -L"$build" -lapldata -Wl,-rpath,"$build" -lm -pthread
}

runs() # on a store of CIFAR's shape: a line for each record asked for, and the classes that `get` tells
{
    "$build/mkshapes" --rows 20 "$scratch/shapes.tar" &&
        "$build/aplingest" -q --partial "$scratch/shapes.tar" "$scratch/db" &&
        "$scratch/read" "$scratch/db" >"$scratch/said" &&
        "$build/apldata" get "$scratch/db" 7 0 41 7 --fields label --format text -o - >"$scratch/labels" &&
        [ "$(grep -c '^[0-9]*: [a-z]*, [0-9.]*$' "$scratch/said")" = 4 ] &&
        [ "$(head -n 1 "$scratch/said")" = "$(tail -n 1 "$scratch/said")" ]
}

goes_round() # every image of the split, twice
{
    "$scratch/minimal" "$scratch/db" >"$scratch/said" && cat "$scratch/said" &&
        [ "$(grep -c '^epoch [01]: 100 images, mean -*[0-9]\.[0-9]*$' "$scratch/said")" = 2 ] &&
        [ "$(wc -l <"$scratch/said")" = 2 ]
}

resumes() # 100 batches of 50,000 records are half an epoch, and more than all of 100 records
{
    "$scratch/resume" "$scratch/db" "$scratch/position" >"$scratch/said" &&
        "$scratch/resume" "$scratch/db" "$scratch/position" >>"$scratch/said" && cat "$scratch/said" &&
        [ "$(cat "$scratch/said")" = "epoch 0, position 0
epoch 100, position 0" ]
}

writes() # a store that is as it was written, and is not written over
{
    "$scratch/write" "$scratch/points.db" && "$build/apldata" verify "$scratch/points.db" &&
        "$build/apldata" info "$scratch/points.db" | grep -q '^point ' && ! "$scratch/write" "$scratch/points.db"
}

learns() # drawn pictures: the loss falls, and those of the test are classified far better than by guessing
{
    "$build/mkshapes" --rows 400 "$scratch/more.tar" &&
        "$build/aplingest" -q --partial "$scratch/more.tar" "$scratch/more" &&
        "$scratch/train" --epochs 6 --threads 2 --batch-size 64 "$scratch/more" >"$scratch/said" &&
        cat "$scratch/said" &&
        awk 'NR == 3 { first = $2 } NR > 2 { loss = $2; test = $5; stall = $8 }
            END { exit !(NR == 8 && loss < 0.8 * first && test > 40 && stall < 100) }' "$scratch/said"
}

refuses() # what is no option
{
    for wrong in "--epochs 0" "--epochs x" "--nothing 1" "--seed" "a b"; do
        # shellcheck disable=SC2086
        "$scratch/train" $wrong >"$scratch/out" 2>&1 && return 1
        grep -q '^usage: ' "$scratch/out" || return 1
    done
}

fails() # EXAMPLE: politely where there is no store
{
    ! "$scratch/$1" "$scratch/nothing" >"$scratch/out" 2>"$scratch/err" &&
        [ ! -s "$scratch/out" ] && [ "$(wc -l <"$scratch/err")" = 1 ]
}

links() # every file and heading that a page links to
{
    git ls-files -co --exclude-standard -- '*.md' | while read -r page; do [ ! -e "$page" ] || echo "$page"; done >"$scratch/pages"
    [ -s "$scratch/pages" ] || ls ./*.md docs/*.md >"$scratch/pages"
    xargs "${APL_PYTHON:-python3}" tests/tree/links.py <"$scratch/pages"
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
        for sub in info verify get show view export join split check bench audit stream serve stage top; do
            "$build/apldata" $sub --help
        done
    fi
}

readme_options() # none that no command has, but those of other programs' lines
{
    { help_of aplingest && help_of apldata && ! "$scratch/train" --help 2>&1; } | options >"$scratch/known"
    grep -v 'pkg-config' README.md | options | comm -23 - "$scratch/known" | { ! grep .; }
}

man_options() # COMMAND: the same options in its man page and in its help
{
    help_of "$1" | options >"$scratch/helped"
    options <"docs/man/$1.1" | diff "$scratch/helped" -
}

check "readme: its program is that in examples/" quoted README.md minimal
check "readme: the programs of API.md are those in examples/" quoted docs/API.md read resume write
check "readme: read.c compiles" compiled read examples/read.c
check "readme: resume.c compiles" compiled resume examples/resume.c
check "readme: write.c compiles" compiled write examples/write.c
check "readme: minimal.c compiles" compiled minimal examples/minimal.c
check "readme: train.c compiles" compiled train examples/train.c examples/net.c examples/layers.c examples/matmul.c
check "readme: read.c runs" runs
check "readme: minimal.c runs" goes_round
check "readme: resume.c goes on where it stopped" resumes
check "readme: write.c makes a store" writes
check "readme: train.c learns" learns
check "readme: train.c refuses wrong use" refuses
for example in read minimal resume train; do
    check "readme: $example.c tells of failure" fails $example
done
check "readme: links lead somewhere" links
check "readme: options are those of the commands" readme_options
for command in aplingest apldata; do
    if [ -e "docs/man/$command.1" ]; then
        check "readme: $command.1 has the options of $command --help" man_options $command
    else
        skip "readme: $command.1" "no such page"
    fi
done
