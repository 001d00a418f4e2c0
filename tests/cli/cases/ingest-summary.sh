aplingest -j 2 --partial "$SHARED/b.tar" db
ls -A db
