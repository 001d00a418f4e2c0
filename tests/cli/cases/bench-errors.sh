exec 2>&1
run apldata bench nowhere
run apldata bench nowhere --json
run apldata bench "$SHARED/store" --split nonsense
run apldata bench "$SHARED/store" --fields image,nonsense
run apldata bench "$SHARED/store" --loaders 1
run apldata bench "$SHARED/store" --sequential --order free
run apldata bench "$SHARED/store" --crop 40x40
run apldata bench "$SHARED/store" --rank 2 --world 2
run apldata bench "$SHARED/store" --scale normalise
run apldata bench "$SHARED/store" --window 1
run apldata bench "$SHARED/store" --memory-budget 1K --json 2>&1 | sed "s/needs [0-9]*/needs N/"
