#!/bin/sh
# Runs the unit tests of the coverage build and tells, file by file, how many of its lines they reach.
set -u
objects=${BUILD:-build}/coverage
find "$objects" -name '*.gcda' -exec rm -f {} +
for test in tests/test_*.c; do
    "$objects/tests/$(basename "$test" .c)" --color=never >"$objects/test.log" 2>&1 || echo "fails: $test" >&2
done
for source in store/*.c ingest/*.c reader/*.c; do
    [ -e "$objects/${source%.c}.gcno" ] || continue
    gcov -n -o "$objects/$(dirname "$source")" "$source" 2>/dev/null |
        awk -v name="$source" '$1 == "File" { mine = $2 == "\047" name "\047" }
            mine && /^Lines executed/ { split($0, part, /[:% ]+/); printf "%6.1f %% of %4d  %s\n", part[3], part[5], name; exit }'
done
