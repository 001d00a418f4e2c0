#!/bin/bash
# What it costs that a reader can be watched: the CPU time of `apldata bench` with APL_MONITOR and without it, in turns; of each the least
# of all rounds. OTHER is another apldata, such as an earlier one, that is measured without it too.
#
#   ROUNDS=10 EPOCHS=60 OTHER=apldata bench/monitor.sh DB
set -euo pipefail
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-10}
EPOCHS=${EPOCHS:-60}
db=$1
watched=$(mktemp -d)
trap 'rm -rf "$watched"' EXIT
TIMEFORMAT='%U %S'

# Milliseconds of CPU time of a run: cost APLDATA DIRECTORY
cost()
{
    { time APL_MONITOR=$2 "$1" bench "$db" --epochs "$EPOCHS" --threads 2 >/dev/null; } 2>&1 | awk '{ printf "%.0f\n", 1000 * ($1 + $2) }'
}

# The least of two numbers, of which the first may not be there yet.
least()
{
    [ -n "$1" ] && [ "$1" -lt "$2" ] && echo "$1" || echo "$2"
}

off='' on='' other=''
echo "load of this machine: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
for _ in $(seq "$ROUNDS"); do
    off=$(least "$off" "$(cost "$BUILD/apldata" '')")
    on=$(least "$on" "$(cost "$BUILD/apldata" "$watched")")
    [ -z "${OTHER:-}" ] || other=$(least "$other" "$(cost "$OTHER" '')")
done
ratio()
{
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a / b }'
}
echo "CPU time of $EPOCHS epochs, the least of $ROUNDS rounds: not watched $off ms, watched $on ms: $(ratio "$on" "$off") of it"
[ -z "${OTHER:-}" ] || echo "$OTHER: $other ms; the other, not watched, takes $(ratio "$off" "$other") of it"
