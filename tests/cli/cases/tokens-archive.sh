# An archive's own bytes are no tokens, whatever it is called.
exec 2>&1
printf '%01000d' 0 >train.bin
tar cf train.tar train.bin
cp train.tar other.bin
run aplingest -q --tokens u16 train.tar db
run aplingest -q --tokens u16 other.bin db
run aplingest -q --tokens u16 train.bin db
