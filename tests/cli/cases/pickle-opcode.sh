exec 2>&1
unpacked p
# A pickle that would run a command, had it its way.
printf '\200\002}q\000U\004datacos\nsystem\nU\015touch pwned;:\205R.' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
printf '\200\002cposix\nsystem\nU\013touch pwned\205R.' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
printf '\200\002}q\000U\004dataP0\n.' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
printf '\200\002}q\000U\004data\202\001.' >x/$P/data_batch_1
pack x.tar x
run refused x.tar
ls -A
