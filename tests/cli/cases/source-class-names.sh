exec 2>&1
unpacked b
seq 11 >x/$B/batches.meta.txt
pack x.tar x
run refused x.tar
printf 'a\n\nb\n' >x/$B/batches.meta.txt
pack x.tar x
run refused x.tar
printf 'caf\351\n' >x/$B/batches.meta.txt
pack x.tar x
run refused x.tar
