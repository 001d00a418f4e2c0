# The seed of a split divides the records of one of its sides no further, also where these have become a store.
exec 2>&1
awk 'BEGIN { print "a,b"; for (i = 0; i < 400; i++) print i "," i % 7 }' >t.csv
aplingest -q t.csv db
apldata split -q db val=0.3
apldata extract -q db rest --split train-val
run apldata split -q rest part=0.2
run apldata split -q --folds 5 rest fold
run apldata split -q --seed 1 rest part=0.2
awk 'BEGIN { print "a,b"; for (i = 0; i < 90; i++) print "1,2" }' >same.csv
aplingest -q same.csv same
run apldata split -q same part=0.5
echo "# and where the ratio is a larger one: the share would be far from it"
run apldata split -q rest part=0.4 --force
run apldata split -q --folds 3 rest third --overlap
run apldata split -q --by id rest part=0.4 --force --overlap
awk 'BEGIN { print "a,g"; for (i = 0; i < 3000; i++) print i "," int(i / 3) }' >g.csv
aplingest -q g.csv groups
apldata split -q groups val=0.5 --group g
apldata extract -q groups some --split train-val
run apldata split -q some part=0.7 --group g
run apldata split -q some part=0.7
run apldata split -q some part=0.7 --group g --seed 2 --force
