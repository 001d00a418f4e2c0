exec 2>&1
need jq
cp -r "$SHARED/store" db
run apldata split db cv --folds 3 --stratify label
run apldata split db cv --folds 3
run apldata split db cv --folds 4 --force -q
run apldata split db cv --folds 3 --force
run apldata split db dev@train-cv-0 --folds 2 --seed 7
run apldata split db home --clients 3 --iid
run apldata split db farm --clients 3 --dirichlet 0.5
ls -A db
run apldata info db | sed -n '/^split  *records  *rest/,/^dots/p'
apldata verify -q db
apldata split db few@test --clients 2 --dirichlet 10 --json | jq -cS '[.ok, .parts[]]'
apldata split db home --clients 3 --iid --json 2>/dev/null | jq -cS .
apldata stream db --split train-cv-2 --fields label | wc -c
run apldata split db train --folds 2
run apldata split db x --folds 2 --stratify image
run apldata split db x@nothing --folds 2

echo every record in one fold
for fold in 0 1 2 3; do
    apldata info --json db | jq -c ".named_splits[] | select(.name == \"cv-$fold\") | .class_counts.label"
done

echo damaged
flip db/cv-1.split $(($(wc -c <db/cv-1.split) - 20))
run apldata verify -q db
