exec 2>&1
# Files of a directory are kept as they are, whatever they begin with: gzip's bytes, zstd's, an archive's.
mkdir x
printf '\037\213\010\077' >x/1
printf '\050\265\057\375' >x/2
printf '\037\213' >x/3.gz
printf x | gzip -n >x/4.gz
tar --owner=0 --group=0 --mtime=@0 -cf x/5.tar -C x 1
run aplingest -q --format raw x db
for i in 0 1 2 3 4; do
    apldata get -o "$i" db "$i"
done
run cmp 0 x/1
run cmp 1 x/2
run cmp 2 x/3.gz
run cmp 3 x/4.gz
run cmp 4 x/5.tar
