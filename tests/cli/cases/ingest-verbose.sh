aplingest -v --partial "$SHARED/p.tar" db
