exec 2>&1
need jq
run aplingest --partial --no-progress --split val=0.1 --split dev=0.5@val "$SHARED/b.tar" db 2>/dev/null
ls -A db
cp -r db strat
aplingest --partial -q --force --split val=0.1 --stratify label --json "$SHARED/b.tar" strat | jq -c '.named_splits'
run apldata verify -q strat
run apldata verify -q db

echo the same on every machine, in every order
aplingest -q --partial --shuffle=3 -b 17 -j 3 --split val=0.1 --split dev=0.5@val "$SHARED/b.tar" shuffled
for name in val dev val-dev train-val; do
    for store in db shuffled; do
        apldata stream $store --split $name --fields image | od -An -v -tx1 -w3072 | sort | sha256sum
    done | uniq -c | awk '{ print $1 " alike" }'
done

echo a split that fails leaves the store
run aplingest -q --partial --split val=0.1@none "$SHARED/b.tar" left
ls -A left
run aplingest -q --partial --split train=0.1 "$SHARED/b.tar" taken --json
