exec 2>&1
(cat "$SHARED/b.tar.gz" && echo garbage) >garbage.tar.gz
run without_offsets refused garbage.tar.gz
(cat "$SHARED/b.tar" && echo garbage) >garbage.tar
run refused garbage.tar
# Zeros are padding.
(cat "$SHARED/b.tar.gz" && head -c 1000 /dev/zero) >padded.tar.gz
run aplingest -q --partial padded.tar.gz db
