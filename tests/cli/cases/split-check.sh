# Do splits leak?
apldata audit --help >/dev/null 2>&1 || skip "apldata was built without audit"
exec 2>&1
need jq
timeless() { sed -E '1s/, [0-9.]+ (s|ms)$/, TIME/'; }
cp -r "$SHARED/store" db
apldata split -q db val=0.2
apldata split -q db cv --folds 2 --stratify label
apldata split -q db shapes=0.4@test --group label
apldata split db --check | timeless
echo "= ${PIPESTATUS[0]}"
apldata split --check db val | timeless
apldata split --check db val --near none -v | timeless
apldata split --check --help | head -1
echo together
run apldata split --check -q db train-val val test
apldata split --check db --near 0 train val | timeless
apldata split --check db --near 0 train val --group label | grep label
apldata split --check db --json | jq -cS '.ok, .wrong, .near_bits, (.splits[] | [.name, .findings[].test]), (.balances[] | [.split, .whole, .outside, (.classes | length)]), (.pairs[] | [.other, .split, .in_both, .equal_inputs, .group, .grouped, (.near_duplicates | length)])'
apldata split --check db --json | jq -cS '.pairs[0].near_duplicates[:2], (.balances[0].classes[0] | keys)'
run apldata split --check db nothing
run apldata split --check db --group nothing --json
run apldata split --check nowhere
run apldata split --check
run apldata split --check db --near 32
run apldata split --check db --level 1
run apldata split --check db --folds 3
flip db/val.split 80
run apldata split --check -q db
run apldata split --check -q db val
apldata split --check db test | timeless
