mkdir -p x/$B
head -c $((10001 * 3073)) /dev/zero >x/$B/data_batch_1.bin
pack x.tar x
refused x.tar
