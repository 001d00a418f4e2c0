# mpirun alone makes the set.
command -v mpirun >/dev/null || skip "there is no mpirun"
apldata export -q "$SHARED/store" npy --format npy
for i in 1 2 3 4; do aplingest -q --part $i/4 npy serial; done
mpirun --allow-run-as-root --oversubscribe -n 4 "$APLINGEST" -q npy set 2>err || cat err
diff -r serial set
mpirun --allow-run-as-root --oversubscribe -n 1 "$APLINGEST" -q npy one 2>err || cat err
ls one
