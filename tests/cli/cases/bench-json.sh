need jq
apldata bench "$SHARED/store" --threads none,1 --batch-size 100 --fields image,label --drop-last --epochs 2 \
    --demand 1000000 --json >said
jq -c '[.ok, (.rows | length)], .rows[0].options, .rows[1].options, (.rows[0] | keys), (.rows[0].all | keys),
    .rows[1].epochs[1].epoch, .rows[0].all.records, .rows[0].epochs[0].records, .rows[0].all.batches,
    .rows[0].all.bytes, .rows[0].step, .rows[0].all.wait.max >= .rows[0].all.wait.p50, .rows[0].first_batch > 0,
    .rows[0].peak_anonymous > 0, .rows[0].stats.records' said
