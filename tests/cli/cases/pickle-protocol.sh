exec 2>&1
unpacked p
printf '(dp0\nVdata\np1\nI1\ns.' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
printf '\200\001}q\000.' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
printf '\200\006}q\000.' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
printf 'no pickle at all' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
: >x/$P/data_batch_1
pack x.tar x
run refused x.tar
