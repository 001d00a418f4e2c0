figures()
{
    sed -E 's/ +$//; s/([^ ])  +/\1 | /g; s/[0-9][0-9.,]* (µs|ms|s|[kM]?B\/s|[kM]?B|%)/N \1/g' |
        sed -E '/^[0-9a].* \| /s/^([^|]*\|[^|]*\|) [0-9,]+ /\1 N /; s/N (µs|ms|s)( |$)/TIME\2/g; s/N [kM]?B/SIZE/g; s/p99.9 [0-9.]+ of/p99.9 N of/'
}
apldata bench "$SHARED/store" --batch-size 100 --threads 1 | figures
apldata bench "$SHARED/store" --split test --batch-size 64 --threads none --epochs 1 --callers 2 --demand 100000 | figures
# A row for each combination.
apldata bench "$SHARED/store" --threads none,1,2 --batch-size 128,512 --pad 4 --crop 32x32 --flip random \
    --dtype f32 --scale normalise --epochs 2 | figures | cut -d'|' -f1
apldata bench "$SHARED/store" --seconds 0.2 --loaders 1 --consumers 1 --order free >/dev/null
