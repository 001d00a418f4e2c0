# Split files of a store that has been replaced: told, not used, no damage.
need jq
aplingest -q --partial "$SHARED/b.tar" db
apldata split -q db val=0.5
apldata split -q db dev=0.2@train-val
run aplingest -q --partial --force "$SHARED/p.tar" db # the same content: nothing to tell
run apldata verify -q db
run apldata verify db | tail -n 2 | head -n 1
run aplingest --partial --force --no-progress --split dev=0.1 "$SHARED/b100.tar" db 2>&1 | grep -v rows
run aplingest -q --partial --force "$SHARED/b100.tar" db # quiet
aplingest --json --partial --force "$SHARED/b100.tar" db 2>&1 >/dev/null | grep -v rows
run apldata verify --no-progress db 2>&1
run apldata verify -q db 2>&1
apldata verify --json db 2>/dev/null | jq -c '[.ok, .named_splits]'
echo "# a file that has been renamed is wrong"
cp -r "$SHARED/store" other
apldata split -q other val=0.5
mv other/val.split other/x.split
run apldata verify -q other 2>&1
apldata verify --json other 2>/dev/null | jq -c '[.ok, .named_splits]'
