#!/bin/sh
# Does `apldata audit` find bugs? Each of tests/mutants/audit/*.sed plants one in a copy of a source file, which is compiled and linked
# with the objects of the release build; the audit of the same store by the same seeds must then fail, by the test that the mutant
# names, and pass without it. Those for long runs need APL_LONG=1.
. tests/lib.sh
BUILD=${BUILD:-build}
objects=$BUILD/release
scratch

if ! grep -q HAVE_AUDIT "$objects/flags" 2>/dev/null || [ ! -e "$objects/insides.a" ]; then
    skip mutations "needs the tests' build, with audit"
    exit 0
fi
# CC may be more than a word.
cc=$(sed -E 's/ [^ ]+ -std=.*//' "$objects/flags") flags=$(sed 's/.* -std=/-std=/' "$objects/flags")
libraries="$(pkg-config --libs lmdb libzstd libcrypto libjpeg jansson libpng) -lm -lstdc++ -pthread"

tools() # the objects of apldata that are not in insides.a
{
    for source in tools/*.c tools/lib/*.c audit/cmd_*.c view/cmd_*.c; do
        case $source in tools/aplingest*) ;; *) echo "$objects/${source%.c}.o" ;; esac
    done
    echo "$objects/audit/page_lines.o $objects/view/page_lines.o" # of what make has generated
}

linked() # OUT OBJECT...: apldata, where these objects come before their like
{
    out=$1
    shift
    $cc $flags -o "$scratch/$out" "$@" $(tools) "$objects/insides.a" $libraries
}

says() # MUTANT KEY: what its head says
{
    sed -n "s/^# $2: //p" "$1"
}

mutated() # MUTANT: apldata with that bug, as $scratch/apldata
{
    file=$(says "$1" file)
    sed -E -f "$1" "$file" >"$scratch/mutant.c"
    if cmp -s "$file" "$scratch/mutant.c"; then
        echo "the mutation changes nothing: $file no longer has the line that it is for"
        return 1
    fi
    # It may leave a variable unused.
    $cc $flags -w $(sees READER) -c "$scratch/mutant.c" -o "$scratch/mutant.o" &&
        linked apldata "$scratch/mutant.o"
}

orders() # OPTION...: 6,000 records in 50 blocks
{
    "$scratch/apldata" audit "$scratch/db" --no-splits --epochs 25 --batch-size 100 --level 1e-6 "$@"
}

epochs() # OPTION...: 50,000 records, 60 epochs, as anybody would ask for
{
    "$scratch/apldata" audit "$scratch/large" --no-splits --epochs 60 "$@"
}

splits() # a split that it makes
{
    rm -f "$scratch/db/val.split"
    "$scratch/apldata" split -q "$scratch/db" val=0.3 --seed 5 && "$scratch/apldata" audit "$scratch/db" --splits --level 1e-6
}

all_pass() # without a mutation
{
    linked apldata && orders && orders --world 3 --threads 2 && splits && epochs --pad 4 --crop 32x32 --flip random
}

caught() # MUTANT: is it rejected, by that test?
{
    by=$(says "$1" 'caught by')
    mutated "$1" || return
    # shellcheck disable=SC2046
    $(says "$1" audit) >"$scratch/said" 2>&1
    code=$?
    cat "$scratch/said"
    [ $code -eq 1 ] && grep -q "^$by .*REJECTED" "$scratch/said"
}

# Of every member's rows the first tenth comes again in the next member.
with_equal_inputs()
{
    "$BUILD/mkshapes" --rows 1200 "$scratch/shapes.tar" && tar -xf "$scratch/shapes.tar" -C "$scratch" &&
        for member in 2 3 4 5; do
            dd if="$scratch/cifar-10-batches-bin/data_batch_$((member - 1)).bin" bs=3073 count=120 conv=notrunc status=none \
                of="$scratch/cifar-10-batches-bin/data_batch_$member.bin" seek=$((member * 200)) || return
        done && "$BUILD/aplingest" -q --partial "$scratch/cifar-10-batches-bin" "$scratch/db"
}

as_large_as_cifar()
{
    "$BUILD/mkshapes" --rows 10000 "$scratch/large.tar" && "$BUILD/aplingest" -q --partial "$scratch/large.tar" "$scratch/large"
}

check "a store with equal inputs" with_equal_inputs
check "a store of 60,000 records" as_large_as_cifar
check "without a bug" all_pass
for mutant in tests/mutants/audit/*.sed; do
    [ -z "${APL_LONG:-}" ] && [ "$(says "$mutant" when)" = long ] && continue
    name=${mutant##*/}
    check "${name%.sed}: $(sed -n '1s/^# //p' "$mutant")" caught "$mutant"
done
