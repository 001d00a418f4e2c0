need jq
export APL_TRACE=trace.json
for again in 1 2; do # the second replaces the first
    apldata bench "$SHARED/store" --threads none,2 --batch-size 2 --epochs 1 >said
    jq -r '.[-1].name, (map(select(.name == "exit")) | length), (map(select(.name == "load")) | length > 0)' trace.json
done
