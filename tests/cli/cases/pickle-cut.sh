exec 2>&1
unpacked p
head -c 100000 "$SHARED/p/$P/data_batch_1" >x/$P/data_batch_1
pack x.tar x
run refused x.tar
(cat "$SHARED/p/$P/data_batch_1" && echo more) >x/$P/data_batch_1
pack x.tar x
run refused x.tar
printf '\200\002}q\000.' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
