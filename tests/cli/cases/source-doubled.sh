exec 2>&1
unpacked b
mkdir -p x/$B/again
cp x/$B/data_batch_2.bin x/$B/again
pack x.tar x
run refused x.tar
mkdir -p mixed/m
cp "$SHARED/b/$B/data_batch_1.bin" "$SHARED/p/$P/data_batch_2" mixed/m
pack mixed.tar mixed
run refused mixed.tar
