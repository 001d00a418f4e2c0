aplingest -q --partial "$SHARED/b.tar" db
ls -A db
