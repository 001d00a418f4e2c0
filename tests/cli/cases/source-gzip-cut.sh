exec 2>&1
head -c -1000 "$SHARED/b.tar.gz" >cut.tar.gz
run without_offsets refused cut.tar.gz
head -c -4 "$SHARED/b.tar.gz" >cut.tar.gz
run without_offsets refused cut.tar.gz
head -c 5 "$SHARED/b.tar.gz" >cut.tar.gz
run without_offsets refused cut.tar.gz
