for threads in 1 2 3 4 5 6 7 8 10 12 14 16 18 20 22 24 26 28 30 32; do
    aplingest -q --partial -j $threads "$SHARED/p.tar" db --force
    cmp db/data.mdb "$SHARED/pstore/data.mdb" && echo same
done
for threads in 1 4; do
    aplingest -q --partial -j $threads --shuffle=7 -b 16 "$SHARED/p.tar" db$threads
done
cmp db1/data.mdb db4/data.mdb && echo same
