exec 2>&1
mkdir -p x/$B
truncate -s 100G x/$B/data_batch_1.bin 2>/dev/null || skip "sparse files cannot be made"
tar --sparse --owner=0 --group=0 --mtime=@0 -cf x.tar -C x $B
run refused x.tar
run refused x
