# A set of several stores is read as the store of all of them.
exec 2>&1
db=$SHARED/store
mkdir set
apldata extract -q "$db" set/train --split train
apldata extract -q "$db" set/test --split test
run apldata join set/train set/test -o set
apldata merge -q set/train set/test whole
apldata verify -q set
apldata info set | sed -n '/^split/,/^$/p'
apldata info set --json | grep -c content_sha256
apldata get set 3 >a && apldata get whole 3 >b && same "$(cat a)" "$(cat b)"
apldata extract -q set again --split test
same "$(content again)" "$(content set/test)"
apldata split -q set val=0.1
run apldata check set >/dev/null
apldata bench set --epochs 1 >/dev/null

echo "# what is refused"
run apldata join set/train set/test -o set
run apldata join set/train -o set --add -q
run apldata join whole -o set --force
run apldata join set/train set/train -o set --force
run apldata join set/train
run apldata join -o set

echo "# links and copies"
mkdir more more/set
apldata extract -q "$db" more/set/train --split train
apldata extract -q "$db" more/elsewhere --split test
apldata join -q more/set/train -o more/set
ln -s train more/set/again
run apldata join --add more/set/again -o more/set
ln -s ../elsewhere more/set/out
run apldata join --add more/set/out -o more/set 2>&1 | sed 's|to /.*/more|to /more|'
cp -r more/set/train more/set/copy
run apldata join --add more/set/copy -o more/set
run apldata join -q more/set/train more/set/copy more/set/out -o more/set --force

echo "# a shard that is missing"
mv set/test gone
run apldata verify -q set | cut -c 1-120
run apldata get set 0 >/dev/null
