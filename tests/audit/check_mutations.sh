#!/bin/sh
# Does `apldata audit` find bugs? Each mutation plants one in a copy of a source file, which is compiled and linked with the
# objects of the release build; the audit of the same store by the same seeds must then fail, and pass without it.
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

mutated() # FILE SED: apldata with that file changed, as $scratch/apldata
{
    sed -E "$2" "$1" >"$scratch/mutant.c"
    if cmp -s "$1" "$scratch/mutant.c"; then
        echo "the mutation changes nothing: $1 no longer has the line that it is for"
        return 1
    fi
    # It may leave a variable unused.
    $cc $flags -w $(sees READER) -c "$scratch/mutant.c" -o "$scratch/mutant.o" &&
        linked apldata "$scratch/mutant.o"
}

orders() # APLDATA OPTION...: 6,000 records in 50 blocks
{
    program=$1
    shift
    "$program" audit "$scratch/db" --no-splits --epochs 25 --batch-size 100 --level 1e-6 "$@"
}

splits() # APLDATA: a split that it makes
{
    rm -f "$scratch/db/val.split"
    "$1" split -q "$scratch/db" val=0.3 --seed 5 && "$1" audit "$scratch/db" --splits --level 1e-6
}

all_pass() # without a mutation
{
    linked apldata && orders "$scratch/apldata" && orders "$scratch/apldata" --world 3 --threads 2 &&
        splits "$scratch/apldata"
}

caught() # BY FILE SED COMMAND...: is it rejected, by that test?
{
    by=$1 file=$2 change=$3
    shift 3
    mutated "$file" "$change" || return
    "$@" >"$scratch/said" 2>&1
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

check "a store with equal inputs" with_equal_inputs
check "without a bug" all_pass
program=$scratch/apldata
check "the bin draw: always a bin's first record" caught "neighbours of one block" reader/order/plan.c \
    's/return (plan_bins_draw.*)/struct pick pick = \1 pick.place = 0; return pick;/' orders "$program"
check "the plan: seed and epoch added up" caught "one seed and the next" reader/order/plan.c \
    's/random_epoch_key\(p->options.seed, epoch,/random_epoch_key(p->options.seed + epoch, 0,/' orders "$program"
check "the plan: the order of blocks is drawn, records are not" caught "neighbours of one block" reader/order/plan.c \
    's/uint32_t r = random_below\(.*/uint32_t r = 0;/' orders "$program"
check "the split: by the id's hash" caught "equal inputs" store/split/split_unit.c \
    's/block_stored_hash\(view, record\)/(struct hash128){id, 0}/' splits "$program"
check "the split: the first ids" caught "places of the part" store/split/split_divide.c \
    's/split_part_drawn\(d->rule, hash\)/split_part_drawn(d->rule, (b.first + i) * (UINT64_MAX \/ 6000))/' splits "$program"
check "ranks: a position given twice, another to none" caught "exactly once" reader/planner.c \
    's/take_delivery\(job, position \+ k, drawn\[k\]\)/take_delivery(job, position + k, drawn[k - (rank == 1)])/' orders "$program" --world 3
check "lanes: a position given twice, another to none" caught "exactly once" reader/planner.c \
    's/(struct job \*job = )(outlets_planning\(r, )(rank\));/\1rank == 2 ? NULL : rank == 0 \&\& \22) ? \22) : \2\3;/' orders "$program" --world 3 --lanes 3
check "samples: records chosen more often the earlier they come" caught "records " reader/order/sampler.c \
    's/random_below\(stream, \*left\) < \*wanted/random_below(stream, *left) <= *wanted/' \
    orders "$program" --balance label --epoch-records 5000
check "samples: remainders of a random number" caught "records " reader/order/sampler.c \
    's/random_below\(stream, s->size\[g\]\)/random_u32(stream) % (5 * s->size[g] \/ 2) % s->size[g]/' \
    orders "$program" --balance label --replacement
check "samples: one for all epochs" caught "epochs" reader/order/sampler.c \
    's/random_epoch_key\(s->rule.seed, epoch,/random_epoch_key(s->rule.seed, 0,/' \
    orders "$program" --balance label --replacement --epoch-records 5000
check "crops: the last place is out of reach" caught "crops and flips" reader/image/augment.c \
    's/scaled\(x\[0\], a->height_room\)/scaled(x[0], a->height_room - 1)/' orders "$program" --pad 2 --crop 32x32
check "crops: the same in each epoch" caught "crops of epochs" reader/image/augment.c \
    's/random_epoch_key\(seed, epoch, RANDOM_AUGMENT\)/random_epoch_key(seed, 0, RANDOM_AUGMENT)/' \
    orders "$program" --pad 2 --crop 32x32 --flip random
check "crops: as far across as down" caught "across, down, flipped" reader/image/augment.c \
    's/scaled\(x\[1\], a->width_room\)/scaled(x[0], a->width_room)/' orders "$program" --pad 2 --crop 32x32
