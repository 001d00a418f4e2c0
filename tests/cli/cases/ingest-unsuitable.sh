aplingest -q --partial --codec shuffle "$SHARED/b.tar" db
code=$?
[ ! -e db ]
exit $code
