# Files of several MiB in a tar that is listed before it is read.
exec 2>&1
mkdir x
for key in 1 2 3; do
    head -c 6000000 "$SHARED/b.tar" >x/$key.bin
    truncate -s 6000000 x/$key.bin
    echo $key >x/$key.cls
done
tar -cf x.tar -C x 1.bin 1.cls 2.bin 2.cls 3.bin 3.cls
run aplingest -q x.tar db
apldata info db | head -n 1 | cut -d ' ' -f 2-3
apldata get db 2 --fields bin --format raw | cmp - x/3.bin
for i in 2 1; do run aplingest -q --part $i/2 x.tar set; done
apldata get set 2 --fields bin --format raw | cmp - x/3.bin
