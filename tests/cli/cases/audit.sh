# Orders and splits of a small store; everything is pinned by the seed.
apldata audit --help >/dev/null 2>&1 || skip "apldata was built without audit"
exec 2>&1
timeless() { sed -E 's/, [0-9.]+ (s|ms)$/, TIME/; s/"seconds": [0-9.e-]+/"seconds": TIME/'; }
cp -r "$SHARED/store" db
apldata audit db --epochs 20 | timeless
apldata audit db --epochs 20 --window 200 --split train -v | timeless
apldata split -q db val=0.2
apldata split -q db dev=0.25@train-val --stratify label
apldata audit db --splits | timeless
apldata audit db --splits -v | grep -A3 -e '^equal' -e '^classes by'
apldata audit db --epochs 10 | timeless | grep -v stands
run apldata audit db -q --epochs 10 --threads 2 --world 3
run apldata audit db -q --epochs 10 --order free --no-splits
apldata audit db --no-splits --epochs 3 --windows --split train | sed -n '/^windows/,/^$/p'
# Cut into lines of a terminal.
apldata audit db -v --epochs 20 | awk 'length > 100'
if command -v jq >/dev/null; then
    apldata audit db --epochs 10 --json | jq -cS '[keys, (.findings[0] | keys), (.splits[0] | keys)][]'
    apldata audit db --no-splits --epochs 3 --windows --json | jq -c '[.windows[].window]'
    apldata audit db --splits --json | jq -cS '.ok, .splits[].findings[].rejected, .equal_inputs'
fi
apldata split -q db cv@test --folds 3 --stratify label
apldata split -q db client@train-val-dev --clients 3 --dirichlet 0.5
apldata audit db --splits | grep -e '^split c'
# what is hashed
apldata split -q db places=0.4@test --by key --overlap
apldata split -q db both=0.4@test --by id --stratify label --overlap
apldata split -q db groups=0.4@test --group label --overlap
apldata audit db --splits | grep -A1 -E '^split (both|groups|places)'
echo "# a split file that is refused fails the audit, also where it is the only one"
rm db/*.split
apldata split -q db val=0.2
printf x >>db/val.split
run apldata audit db --splits | timeless
run apldata audit -q db --epochs 2
run apldata audit -q db --epochs 2 --no-splits
command -v jq >/dev/null && apldata audit db --splits --json | jq -c '[.ok, .unusable_split_files]'
