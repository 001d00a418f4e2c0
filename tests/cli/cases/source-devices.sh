exec 2>&1
unpacked b
rm x/$B/data_batch_5.bin
mknod x/$B/data_batch_5.bin c 1 5 2>/dev/null || skip "devices cannot be made"
pack x.tar x
run refused x.tar
run refused x
run refused /dev/zero
