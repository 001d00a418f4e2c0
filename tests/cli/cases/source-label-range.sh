exec 2>&1
unpacked b
poke x/$B/data_batch_4.bin $((7 * 3073)) '\012'
pack x.tar x
run refused x.tar
mv x x10
unpacked b100
poke x/$B100/train.bin $((9 * 3074 + 1)) '\144'
pack x.tar x
run refused x.tar
