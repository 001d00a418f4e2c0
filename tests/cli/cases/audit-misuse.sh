apldata audit --help >/dev/null 2>&1 || skip "apldata was built without audit"
exec 2>&1
apldata audit --help
for bad in --level=0 --level=1 --level=x --level --epochs=0 --epochs=1,2 --json=1 --order=random --rank=1 --fields=image \
    --splits=val; do
    apldata audit "$bad" db 2>&1 | head -n 1
done
run apldata audit
run apldata audit a b
run apldata audit --world 3 --lanes 4 db
run apldata audit nowhere
aplingest -q --partial "$SHARED/b100.tar" db
run apldata audit db --split test
run apldata audit db --split none
run apldata audit db --splits | sed -E 's/, [0-9.]+ (s|ms)$/, TIME/'
