exec 2>&1
cp -r "$SHARED/store" db
run aplingest -q --partial "$SHARED/p.tar" db
kept db
run aplingest -q --partial --force "$SHARED/p.tar" db
cmp db/data.mdb "$SHARED/pstore/data.mdb"
ls -A db
mkdir empty
run aplingest -q --partial "$SHARED/b.tar" empty
touch file
run aplingest -q --partial "$SHARED/b.tar" file
run aplingest -q --partial "$SHARED/b.tar" no/such/folder/db
[ ! -e no ]
