apldata audit --help >/dev/null 2>&1 || skip "apldata was built without audit"
exec 2>&1
aplingest -q --partial "$SHARED/b.tar" db
# 750 records take some epochs to tell a wrong order by.
run apldata audit db --controls --epochs 300
run apldata audit db --controls --epochs 300 -q
# So few cannot tell it.
run apldata audit db --controls --epochs 1 -q
