exec 2>&1
# What --partial would take, and without it is refused.
run aplingest -q "$SHARED/b.tar" db
run aplingest -q "$SHARED/p.tar" db
unpacked b
rm x/$B/data_batch_3.bin
run aplingest -q x db
[ ! -e db ] || ls -A db
run aplingest --partial x db
mkdir -p y/$B
for i in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5; do
    head -c 30730000 /dev/zero >y/$B/$i.bin
done
run aplingest -q y db2
[ ! -e db2 ] || ls -A db2
