#!/bin/bash
# Runs the unit tests of the coverage build and tells, file by file, how many branches they take. What reads foreign
# bytes must have all of its branches taken, the rest of the library nine in ten; else this fails.
#
# A branch that nothing here can make the code take is marked where it stands, by a comment that begins with
# `unreached:` and says why. Such branches are counted apart. MISSES=1 prints the lines of all the others.
set -u
objects=${BUILD:-build}/coverage
parsers=$(echo ' ' store/{lmdb_{read,page,walk},block{,_parse,_decode},manifest{,_code,_entry,_fields,_kind,_ranges},kind_text}.c \
               ingest/formats/pickle{,_keys,_lex,_array,_text}.c \
               ingest/formats/cifar{,_binary,_python}.c reader/state.c reader/photo/exif.c ' ')

run() # TEST: as it is called in tests/
{
    "$objects/tests/$1" --color=never >"$objects/$1.log" 2>&1 && return
    echo "fails: $1" | tee -a "$objects/failed"
    tail -n 20 "$objects/$1.log"
}
export objects
export -f run

find "$objects" -name '*.gcda' -exec rm -f {} +
rm -f "$objects/failed"
find tests -name 'test_*.c' -exec basename {} .c \; | xargs -P "$(nproc)" -I{} bash -c 'run {}'
# What the processor is asked for decides which kernels run.
for variant in scalar avx2 neon; do
    for test in test_hash test_random test_assemble test_filter; do APL_CPU=$variant run $test; done
done

printf '%8s %8s %8s %8s\n' taken of unreached ''
for source in store/*.c store/*/*.c ingest/*.c ingest/*/*.c reader/*.c reader/*/*.c serve/*.c; do
    [ -e "$objects/${source%.c}.gcno" ] || continue
    case $parsers in *" $source "*) target=100 ;; *) target=90 ;; esac
    gcov -t -b -c -o "$objects/$(dirname "$source")" "$source" 2>/dev/null |
        awk -v name="$source" -v target=$target -v misses="${MISSES-}" '
            /^ *-: *0:Source:/ { split($0, part, "Source:"); mine = part[2] == name; next }
            mine && /^(call|function|unconditional)/ { next }
            mine && /^branch/ {
                if ($0 !~ /never executed|taken 0/) taken++
                else if (line ~ /unreached:/) { apart++; next }
                else missed[++n] = line
                all++
                next
            }
            { line = $0 }
            END {
                share = all ? 100 * taken / all : 100
                printf "%8d %8d %8d %8.1f %%  %s%s\n", taken, all, apart, share, name,
                       share < target ? sprintf("   BELOW %d %%", target) : ""
                for (i = 1; i <= n && misses; i++) print "        " missed[i]
            }'
done | tee "$objects/table.txt"
awk '/ %  / { taken += $1; all += $2; apart += $3 }
     END { printf "%8d %8d %8d %8.1f %%  all\n", taken, all, apart, 100 * taken / all }' "$objects/table.txt"
[ ! -e "$objects/failed" ] && ! grep -q BELOW "$objects/table.txt"
