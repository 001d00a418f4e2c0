exec 2>&1
mkdir -p x/$B
cp "$SHARED/b/$B/batches.meta.txt" x/$B
pack x.tar x
run refused x.tar
: >x/$B/data_batch_1.bin
pack x.tar x
run refused x.tar
