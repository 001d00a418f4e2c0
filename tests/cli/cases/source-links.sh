exec 2>&1
unpacked b
rm x/$B/data_batch_5.bin
ln -s data_batch_4.bin x/$B/data_batch_5.bin
pack x.tar x
run refused x.tar
run refused x
run aplingest -q --partial --follow-links x db
rm -r db
rm x/$B/data_batch_5.bin
ln x/$B/data_batch_4.bin x/$B/data_batch_5.bin
pack x.tar x
run refused x.tar
rm x/$B/data_batch_5.bin
mkfifo x/$B/data_batch_5.bin
pack x.tar x
run refused x.tar
run refused x
