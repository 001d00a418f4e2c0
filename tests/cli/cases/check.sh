# Do splits leak?
exec 2>&1
need jq
timeless() { sed -E '1s/, [0-9.]+ (s|ms)$/, TIME/'; }
cp -r "$SHARED/store" db
apldata split -q db val=0.2
apldata split -q db cv@train-val --folds 2 --stratify label
apldata split -q db shapes=0.4@test --group label
apldata check db | timeless
echo "= ${PIPESTATUS[0]}"
apldata check db val | timeless
apldata check db val --near none -v | timeless
apldata check --help | head -1
echo "the old form"
apldata split db --check val | timeless | head -3
run apldata split --check -q db val
run apldata split --check db --folds 3
run apldata check db --check
echo "leaks alone"
apldata check db val --leaks | timeless
apldata check db val --leaks --json | jq -cS ".ok, .level, .balances, [.splits[].findings[].test]"
run apldata check db --leaks --level 0.1
echo together
run apldata check -q db train-val val test
apldata check db --near 0 train val | timeless
apldata check db --near 0 train val --group label | grep label
apldata check db --json | jq -cS '.ok, .wrong, .near_bits, (.splits[] | [.name, .findings[].test]), (.balances[] | [.split, .whole, .outside, (.classes | length)]), (.pairs[] | [.other, .split, .in_both, .equal_inputs, .group, .grouped, (.near_duplicates | length)])'
apldata check db --json | jq -cS '.pairs[0].near_duplicates[:2], (.balances[0].classes[0] | keys)'
run apldata check db nothing
run apldata check db --group nothing --json
run apldata check nowhere
run apldata check
run apldata check db --near 32
run apldata check db --level 1
run apldata check db --folds 3
echo "splits of one parent"
apldata split -q db dev=0.1 --overlap
apldata split -q db few=0.02@test-shapes --seed 1
apldata split -q db less=0.02@test-shapes --seed 2
check() { apldata check db --near none "$@" | sed -n '/^records of/,$p' | grep -B2 -A9 LEAK; }
check
check dev
run apldata check -q db cv-0
run apldata check -q db val dev
rm db/dev.split db/few.split db/less.split
apldata split -q db inner=0.2@train-val-cv-0
apldata split -q db of=0.5@val
run apldata check -q db --near none --leaks
rm db/val.split
run apldata check -q db --near none --leaks
apldata split -q db other=0.3 --seed 4 2>/dev/null
check | grep -B1 "in other"
rm db/*.split
apldata split -q db val=0.2
flip db/val.split 80
run apldata check -q db
run apldata check -q db val
apldata check db test | timeless
echo "what comes twice, and is no failure"
cp -r db copy
apldata merge -q db copy twice
apldata check twice train | timeless
echo "= ${PIPESTATUS[0]}"
apldata check twice train -v | grep -c has
apldata check twice --json | jq -c '.ok, (.repeated[] | [.split, .records, (.repeats | length), .repeats[0]])'
