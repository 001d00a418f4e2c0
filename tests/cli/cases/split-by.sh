# What is hashed: contents, keys, ids, groups.
exec 2>&1
need jq
"$MKSHAPES" --rows 50 shapes.tar
aplingest -q --partial shapes.tar db
aplingest -q --partial --shuffle=3 shapes.tar shuffled
run apldata split db keyed=0.2 --by key
run apldata split shuffled keyed=0.2 --by key
run apldata split db one=0.5 --by id --stratify label --overlap
run apldata split db some=0.3 --group label --overlap
run apldata split db cv --folds 2 --group label --stratify label --overlap
run apldata split db home@test --clients 2 --dirichlet 0.5 --by id
apldata info db | sed -n '/^split .*rule/,/^$/p'
apldata info db --json | jq -c '.named_splits[] | [.name, .by, .group, .stratify]'
run apldata verify -q db
run apldata verify -q shuffled

echo refused
run apldata split db x=0.5 --by name
run apldata split db x=0.5 --by id --group label
run apldata split db x=0.5 --group nothing
run apldata split db x=0.5 --group ''
