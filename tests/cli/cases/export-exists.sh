exec 2>&1
mkdir out
echo mine >out/test_batch.bin
run apldata export "$SHARED/store" out --format cifar-binary
ls -A out
cat out/test_batch.bin
run apldata export "$SHARED/store" out --format cifar-binary --force
ls -A out
cmp out/test_batch.bin "$SHARED/b/$B/test_batch.bin"
echo mine >file
run apldata export "$SHARED/store" file --format npy --force
cat file
run apldata export "$SHARED/store" no/such/folder --format npy
ls -A
