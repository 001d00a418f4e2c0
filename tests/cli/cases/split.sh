exec 2>&1
need jq
cp -r "$SHARED/store" db
before=$(sha256sum <db/data.mdb)
run apldata split db val=0.2
run apldata split db dev=0.5@train-val --stratify label --seed 7
run apldata split db tiny=0.25@test --json
run apldata split db val=0.2
run apldata split db val=0.25 --force
run apldata info db | grep 'split dev'
run apldata verify db
apldata verify --json db | jq -cS '[.ok, .named_splits]'
run apldata stream db --split train-val-dev --fields label
run apldata split db dev=0.5@train-val --stratify label --seed 7 --force -q
run apldata split db train=0.2
run apldata split db val-dev=0.2@nothing
run apldata split db x=0.2 --stratify image
run apldata split nowhere x=0.2 --json
run apldata split db leak=0.1
run apldata split db leak=0.1 --json
run apldata split db cv --folds 2
run apldata split db leak=0.1 --seed 3
run apldata split -q db leak=0.2 --seed 3 --overlap --force
rm db/leak.split
same "$before" "$(sha256sum <db/data.mdb)"
ls -A db
stat -c '%a %n' db/val.split
run apldata info db
apldata info --json db | jq -cS '.named_splits[] | del(.class_counts, .rest_class_counts)'
apldata info --json db | jq -c '.named_splits[1] | [.class_counts.label, .rest_class_counts.label]'
run apldata verify db
apldata verify --json db | jq -cS '[.ok, .named_splits]'

echo damaged
flip db/val.split 80
printf junk >db/junk.split
run apldata info db | sed -n '/^split/,/^$/p'
run apldata verify -q db
apldata verify --json db 2>/dev/null | jq -cS '[.ok, .named_splits]'
apldata info --json db | jq -cS '.named_splits[] | select(.ok | not)'

echo of another store
cp -r "$SHARED/store100" other
cp db/dev.split other
run apldata verify -q other
run apldata stream other --split dev --fields fine_label
