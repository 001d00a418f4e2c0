# Several stores in one order, only some records, stores by weights.
apldata audit --help >/dev/null 2>&1 || skip "apldata was built without audit"
exec 2>&1
apldata audit "$SHARED/store" --no-splits --with "$SHARED/store:test" --with "$SHARED/store" --epochs 12 | sed "1,2d"
apldata audit "$SHARED/store" --no-splits --where label=1,2,3 --epochs 12 --batch-size 32 | sed "1,2d"
apldata audit "$SHARED/store" --no-splits --with "$SHARED/store:test=2" --epochs 12 | sed "1,2d"
apldata audit "$SHARED/store" --no-splits --with "$SHARED/store:test" --balance label --epochs 12 | sed "1,2d"
run apldata audit "$SHARED/store" --no-splits --where label=1 --epochs 12
run apldata audit "$SHARED/store" --no-splits --with nowhere
run apldata audit "$SHARED/store" --windows --with "$SHARED/store"
