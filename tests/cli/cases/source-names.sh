exec 2>&1
# Names that lead elsewhere, or would draw on the terminal.
unpacked b
tar --sort=name --owner=0 --group=0 --mtime=@0 --transform 's|.*/data_batch_1.bin|../../data_batch_1.bin|' -cf x.tar -C x $B 2>/dev/null
run refused x.tar
tar -P --sort=name --owner=0 --group=0 --mtime=@0 --transform 's|.*/data_batch_1.bin|/etc/data_batch_1.bin|' -cf x.tar -C x $B
run refused x.tar
evil=$(printf 'x/\033[31mred\r')
mkdir "$evil"
printf x >"$evil/data_batch_1.bin"
tar -cf x.tar "$evil"
run refused x.tar
mv "$evil/data_batch_1.bin" x
cp x.tar "$(printf 'evil\033[31m.tar')"
run refused "$(printf 'evil\033[31m.tar')"
[ ! -e /etc/data_batch_1.bin ]
# For images in folders and for raw files such names are errors too, not names of hidden files, which are left out.
mkdir cat
for name in cat/1.jpg cat/2.jpg; do printf x >"$name"; done
tar --sort=name --owner=0 --group=0 --mtime=@0 --transform 's|cat/1|../cat/1|' -cf out.tar cat 2>/dev/null
run aplingest out.tar db
run aplingest --format raw out.tar db
tar --sort=name --owner=0 --group=0 --mtime=@0 --transform 's|cat/1|cat/../1|' -cf out.tar cat 2>/dev/null
run aplingest out.tar db
[ ! -e db ]
