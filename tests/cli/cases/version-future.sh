exec 2>&1
cp -r "$SHARED/store" db
chmod u+w db/data.mdb
# The manifest begins with APLM and the version.
at=$(grep -abo APLM db/data.mdb | head -n 1 | cut -d: -f1)
poke db/data.mdb $((at + 4)) '\143'
for command in "info db" "info --json db" "verify db" "get db 0" "export db out --format npy"; do
    run apldata $command
done
run aplingest -q --partial "$SHARED/b.tar" db
run aplingest -q --partial --force "$SHARED/b.tar" db
apldata verify -q db
ls -A
