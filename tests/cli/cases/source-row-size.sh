exec 2>&1
unpacked b
printf x >>x/$B/data_batch_2.bin
pack x.tar x
run refused x.tar
rm -r x
unpacked b100
printf x >>x/$B100/test.bin
pack x.tar x
run refused x.tar
